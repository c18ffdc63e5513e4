#include "lib/store/redis_command.h"

#include <string.h>

enum { FIRST_CAPACITY = 48, KEY_FRAME = sizeof("sluice:{}:") - 1 };

/* The frame of a word on the wire: "$length\r\n" and "\r\n", plus the NUL that str_from_int64()
 * writes. */
enum { WORD_FRAME = STR_INT64_TEXT + 6 };

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

#define SHOW_PREFIX "show:"

struct str redis_command_show_key(struct arena *arena, struct str queue, struct str show,
                                  const char *name)
{
    return str_of(
        arena_format(arena, "sluice:{%.*s}:show:%.*s:%s", STR_ARG(queue), STR_ARG(show), name));
}

/* Writes "sluice:{queue}:" and returns its end. */
static char *begin_key(char *at, struct str queue)
{
    memcpy(at, "sluice:{", 8);
    at += 8;
    if (queue.n > 0) {
        memcpy(at, queue.p, queue.n);
    }
    at[queue.n] = '}';
    at[queue.n + 1] = ':';
    return at + queue.n + 2;
}

/* The queue's keys share one allocation: they are most of a poll's words. */
static void add_keys(struct redis_command *command, struct str queue, struct str show)
{
    const struct script_text *text = command->script;
    const struct str prefix = STR(SHOW_PREFIX);
    size_t room = 0;

    for (size_t i = 0; text->keys[i] != NULL; i++) {
        room += KEY_FRAME + queue.n + strlen(text->keys[i]);
    }
    char *memory = arena_alloc(command->arena, room);
    for (size_t i = 0; text->keys[i] != NULL; i++) {
        struct str name = str_of(text->keys[i]);
        if (str_starts(name, prefix)) {
            redis_command_add(
                command, redis_command_show_key(command->arena, queue, show, name.p + prefix.n));
            continue;
        }
        char *end = begin_key(memory, queue);
        memcpy(end, name.p, name.n);
        redis_command_add(command, str_sized(memory, (size_t)(end - memory) + name.n));
        memory = end + name.n;
    }
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
    if (text->global == NULL) {
        add_keys(command, queue, show);
    }
    return command;
}

enum { TRANSACTION_FRAME = 2 }; /* MULTI and EXEC */

struct redis_command *redis_command_transaction(struct arena *arena, int commands)
{
    struct redis_command *transaction = redis_command_new(arena, "MULTI");

    transaction->ends =
        arena_alloc(arena, (size_t)(commands + TRANSACTION_FRAME) * sizeof(*transaction->ends));
    return transaction;
}

void redis_command_next(struct redis_command *transaction, const char *name)
{
    transaction->ends[transaction->parts++] = transaction->count;
    redis_command_add(transaction, str_of(name));
}

void redis_command_exec(struct redis_command *transaction)
{
    redis_command_next(transaction, "EXEC");
    transaction->ends[transaction->parts++] = transaction->count;
}

int redis_command_replies_before(const struct redis_command *command)
{
    return command->parts == 0 ? 0 : command->parts - 1;
}

void redis_command_add_key(struct redis_command *command, struct str queue, struct str name)
{
    char *key = arena_alloc(command->arena, KEY_FRAME + queue.n + name.n);
    char *end = begin_key(key, queue);

    memcpy(end, name.p, name.n);
    redis_command_add(command, str_sized(key, (size_t)(end - key) + name.n));
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
    /* hiredis does not accept a NULL pointer, even of length 0. */
    command->words[command->count] = word.p == NULL ? "" : word.p;
    command->lengths[command->count] = word.n;
    command->count++;
}

void redis_command_add_int(struct redis_command *command, int64_t number)
{
    char *digits = arena_alloc(command->arena, STR_INT64_TEXT + 1);

    redis_command_add(command, str_sized(digits, str_from_int64(number, digits)));
}

struct str redis_command_key(const struct redis_command *command)
{
    /* EVALSHA sha number-of-keys key …; a plain command has its key after its name, a transaction
     * has that of its first command. */
    static const char *const KEYLESS[] = {"CONFIG", "INFO", "PING", "TIME", "CLUSTER"};
    int at = command->script != NULL ? 3 : command->parts > 0 ? 2 : 1;

    for (size_t i = 0; i < sizeof(KEYLESS) / sizeof(KEYLESS[0]); i++) {
        if (command->script == NULL && strcmp(command->words[0], KEYLESS[i]) == 0) {
            return str_sized(NULL, 0);
        }
    }
    return command->count > at ? str_sized(command->words[at], command->lengths[at])
                               : str_sized(NULL, 0);
}

void redis_command_send_text(struct redis_command *command)
{
    command->words[0] = "EVAL";
    command->lengths[0] = strlen("EVAL");
    command->words[1] = command->script->text;
    command->lengths[1] = strlen(command->script->text);
}

/* Writes "$length\r\n", with `kind` in place of '$'. */
static char *write_length(char *at, char kind, size_t length)
{
    *at++ = kind;
    at += str_from_int64((int64_t)length, at);
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

static char *write_words(char *at, const struct redis_command *command, int from, int to)
{
    at = write_length(at, '*', (size_t)(to - from));
    for (int i = from; i < to; i++) {
        at = write_length(at, '$', command->lengths[i]);
        memcpy(at, command->words[i], command->lengths[i]);
        at += command->lengths[i];
        *at++ = '\r';
        *at++ = '\n';
    }
    return at;
}

struct str redis_command_wire(const struct redis_command *command)
{
    size_t room = (size_t)(command->parts + 1) * WORD_FRAME;

    for (int i = 0; i < command->count; i++) {
        room += command->lengths[i] + WORD_FRAME;
    }
    char *wire = arena_alloc(command->arena, room);
    char *at = wire;
    int from = 0;
    for (int i = 0; i < command->parts; i++) {
        at = write_words(at, command, from, command->ends[i]);
        from = command->ends[i];
    }
    if (command->parts == 0) {
        at = write_words(at, command, 0, command->count);
    }
    return str_sized(wire, (size_t)(at - wire));
}
