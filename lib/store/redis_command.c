#include "lib/store/redis_command.h"

#include <string.h>

enum { FIRST_CAPACITY = 24 };

struct redis_command *redis_command_new(struct arena *arena, const char *name)
{
    struct redis_command *command = arena_alloc(arena, sizeof(*command));

    command->arena = arena;
    command->capacity = FIRST_CAPACITY;
    command->words = arena_alloc(arena, FIRST_CAPACITY * sizeof(*command->words));
    command->lengths = arena_alloc(arena, FIRST_CAPACITY * sizeof(*command->lengths));
    redis_command_add(command, str_of(name));
    return command;
}

static const char SHOW_PREFIX[] = "show:";

struct str redis_command_show_key(struct arena *arena, struct str queue, struct str show,
                                  const char *name)
{
    return str_of(
        arena_format(arena, "sluice:{%.*s}:show:%.*s:%s", STR_ARG(queue), STR_ARG(show), name));
}

static struct str key_of(struct arena *arena, struct str queue, struct str show, const char *name)
{
    if (str_starts(str_of(name), str_of(SHOW_PREFIX))) {
        return redis_command_show_key(arena, queue, show, name + sizeof(SHOW_PREFIX) - 1);
    }
    return str_of(arena_format(arena, "sluice:{%.*s}:%s", STR_ARG(queue), name));
}

struct redis_command *redis_command_script(struct arena *arena, enum script script,
                                           struct str queue)
{
    return redis_command_show_script(arena, script, queue, str_sized(NULL, 0));
}

struct redis_command *redis_command_show_script(struct arena *arena, enum script script,
                                                struct str queue, struct str show)
{
    const struct script_text *text = script_text(script);
    struct redis_command *command = redis_command_new(arena, "EVALSHA");
    int64_t keys = 0;

    command->script = text;
    redis_command_add(command, str_of(text->sha));
    while (text->keys[keys] != NULL) {
        keys++;
    }
    redis_command_add_int(command, text->global != NULL ? 1 : keys);
    if (text->global != NULL) {
        redis_command_add(command, str_of(arena_format(arena, "sluice:%s", text->global)));
    }
    for (int64_t i = 0; i < keys && text->global == NULL; i++) {
        redis_command_add(command, key_of(arena, queue, show, text->keys[i]));
    }
    return command;
}

void redis_command_add(struct redis_command *command, struct str word)
{
    if (command->count == command->capacity) {
        size_t old = (size_t)command->capacity;
        const char **words = arena_alloc(command->arena, 2 * old * sizeof(*words));
        size_t *lengths = arena_alloc(command->arena, 2 * old * sizeof(*lengths));
        memcpy(words, command->words, old * sizeof(*words));
        memcpy(lengths, command->lengths, old * sizeof(*lengths));
        command->words = words;
        command->lengths = lengths;
        command->capacity *= 2;
    }
    /* hiredis takes a NULL pointer for nothing even of length 0. */
    command->words[command->count] = word.p == NULL ? "" : word.p;
    command->lengths[command->count] = word.n;
    command->count++;
}

void redis_command_add_int(struct redis_command *command, int64_t number)
{
    redis_command_add(command, str_of(arena_format(command->arena, "%lld", (long long)number)));
}

void redis_command_send_text(struct redis_command *command)
{
    command->words[0] = "EVAL";
    command->lengths[0] = strlen("EVAL");
    command->words[1] = command->script->text;
    command->lengths[1] = strlen(command->script->text);
}
