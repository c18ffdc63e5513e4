/*
 * commands — the commands of sluicectl, from the rows of commands.tbl and options.tbl.
 */
#ifndef SLUICE_SLUICECTL_COMMANDS_H
#define SLUICE_SLUICECTL_COMMANDS_H

#include <stddef.h>

#include "sluicectl/invocation.h"

#define GLOBAL(spelling, value, text)
enum option_number {
#define OPTION(name, field, spelling, kind, minimum, maximum, initial, value, text)                \
    OPTION_NUMBER_##name,
#include "sluicectl/options.tbl"
#undef OPTION
    OPTION_COUNT
};

/** Options of single commands, as a set of bits. */
enum command_option {
#define OPTION(name, field, spelling, kind, minimum, maximum, initial, value, text)                \
    OPTION_##name = 1U << OPTION_NUMBER_##name,
#include "sluicectl/options.tbl"
#undef OPTION
};
#undef GLOBAL

struct command;

/** Executes `command`. */
typedef enum exit_code command_run(const struct command *command,
                                   const struct invocation *invocation);

struct command {
    const char *words; /* one or two */
    const char *arguments;
    int least;
    int most;
    unsigned int options; /* enum command_option */
    command_run *run;
    const char *summary;
    const char *examples; /* one a line, without the program's name */
};

#define ALIAS(words, meant)
#define COMMAND(words, arguments, least, most, options, function, summary, examples)               \
    command_run function;
#include "sluicectl/commands.tbl"
#undef COMMAND
#undef ALIAS

/** All commands in the table's order. */
const struct command *command_rows(size_t *count);

/** The command, or alias of one, at the beginning of the `count` `words`; NULL for none. `*used`
 *  gets how many words are the command's own. */
const struct command *command_find(char *const *words, int count, int *used);

/** The second of a command's words, as in "queue pause"; the only word if there is one. */
const char *command_verb(const struct command *command);

/** Prints the manual, or only the part that `words` name: commands, or "settings". */
enum exit_code command_help(struct arena *arena, char *const *words, int count);

#endif
