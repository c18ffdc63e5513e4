#include "sluicectl/commands.h"

#include <string.h>

static const struct command COMMANDS[] = {
#define ALIAS(words, meant)
#define COMMAND(words, arguments, least, most, options, function, summary, examples)               \
    {words, arguments, least, most, options, function, summary, examples},
#include "sluicectl/commands.tbl"
#undef COMMAND
#undef ALIAS
};

static const struct {
    const char *words;
    const char *meant;
} ALIASES[] = {
#define ALIAS(words, meant) {words, meant},
#define COMMAND(words, arguments, least, most, options, function, summary, examples)
#include "sluicectl/commands.tbl"
#undef COMMAND
#undef ALIAS
};

const struct command *command_rows(size_t *count)
{
    *count = sizeof(COMMANDS) / sizeof(COMMANDS[0]);
    return COMMANDS;
}

/** How many of `words` match `name`, 0 if they do not. */
static int count_matching(const char *name, char *const *words, int count)
{
    struct str rest = str_of(name);
    int used = 0;

    while (rest.n > 0) {
        struct str word;
        (void)str_split(rest, ' ', &word, &rest);
        if (used == count || !str_equal(word, str_of(words[used]))) {
            return 0;
        }
        used++;
    }
    return used;
}

static const struct command *command_called(const char *name)
{
    for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
        if (strcmp(COMMANDS[i].words, name) == 0) {
            return &COMMANDS[i];
        }
    }
    return NULL;
}

const struct command *command_find(char *const *words, int count, int *used)
{
    for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
        *used = count_matching(COMMANDS[i].words, words, count);
        if (*used > 0) {
            return &COMMANDS[i];
        }
    }
    for (size_t i = 0; i < sizeof(ALIASES) / sizeof(ALIASES[0]); i++) {
        *used = count_matching(ALIASES[i].words, words, count);
        if (*used > 0) {
            return command_called(ALIASES[i].meant);
        }
    }
    return NULL;
}

const char *command_verb(const struct command *command)
{
    const char *space = strchr(command->words, ' ');

    return space == NULL ? command->words : space + 1;
}
