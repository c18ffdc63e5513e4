/*
 * commands — what sluicectl can do, by the rows of commands.tbl.
 */
#ifndef SLUICE_SLUICECTL_COMMANDS_H
#define SLUICE_SLUICECTL_COMMANDS_H

#include <stddef.h>

#include "sluicectl/invocation.h"

/** Options of single commands. */
enum command_option {
    OPTION_FORCE = 1,
    OPTION_WATCH = 2,
    OPTION_TTL = 4,
    OPTION_SAMPLES = 8,
    OPTION_LIMIT = 16,
    OPTION_TARGET = 32,
    OPTION_USES = 64,
    OPTION_EXPIRES = 128,
    OPTION_MEMBERS = 256,
    OPTION_COMMITMENT = 512
};

struct command;

/** Carries out `command`. */
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
};

#define COMMAND(words, arguments, least, most, options, function, summary) command_run function;
#include "sluicectl/commands.tbl"
#undef COMMAND

/** All commands in the table's order. */
const struct command *command_rows(size_t *count);

/** The command that `words` (`count` of them) begin with; NULL for none. `*used` gets how many words are the
 *  command's own. */
const struct command *command_find(char *const *words, int count, int *used);

/** Prints the manual; or, where `words` name something, just that: a command, or "settings". */
enum exit_code command_help(struct arena *arena, char *const *words, int count);

#endif
