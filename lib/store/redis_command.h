/*
 * redis_command — one Redis command: its words, each with its length. It is built and lives in an
 * arena; the words are borrowed, not copied, unless stated otherwise.
 */
#ifndef SLUICE_STORE_REDIS_COMMAND_H
#define SLUICE_STORE_REDIS_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/scripts.h"

struct redis_command {
    struct arena *arena;
    const struct script_text *script; /* NULL for a plain command */
    const char **words;
    size_t *lengths;
    int count;
    int capacity;
    int *ends; /* of a transaction: the index behind each of its commands' last word */
    int parts; /* number of these commands; 0: a single command */
};

/** A plain command; `name` is its first word. */
struct redis_command *redis_command_new(struct arena *arena, const char *name);

/** Begins a transaction: the commands added next run between MULTI and EXEC, at one moment. Only
 *  EXEC's reply counts: an array with the replies, or an error if one of the commands was
 *  refused. At most `commands`. */
struct redis_command *redis_command_transaction(struct arena *arena, int commands);

/** Begins the next command of a transaction; its words come after it. */
void redis_command_next(struct redis_command *transaction, const char *name);

/** Completes a transaction. */
void redis_command_exec(struct redis_command *transaction);

/** Appends the key `sluice:{queue}:NAME`, built in the arena. */
void redis_command_add_key(struct redis_command *command, struct str queue, struct str name);

/** The number of replies before the one that counts. */
int redis_command_replies_before(const struct redis_command *command);

/** An EVALSHA of `script` with the keys that the script declares, `sluice:{queue}:NAME` each (or
 *  `sluice:NAME` for a script with a global key; `queue` is then ignored). */
struct redis_command *redis_command_script(struct arena *arena, enum script script,
                                           struct str queue);

/** As redis_command_script(), for a script that declares keys of a show:
 *  `sluice:{queue}:show:SHOW:NAME`. */
struct redis_command *redis_command_show_script(struct arena *arena, enum script script,
                                                struct str queue, struct str show);

/** The name of one key of a show, in the arena. `name` is without "show:". */
struct str redis_command_show_key(struct arena *arena, struct str queue, struct str show,
                                  const char *name);

/** Appends a word, borrowed: it must live as long as the command. */
void redis_command_add(struct redis_command *command, struct str word);

/** Appends a number, formatted in the arena. */
void redis_command_add_int(struct redis_command *command, int64_t number);

/** The key that determines the cluster node, borrowed; empty if any node will do. */
struct str redis_command_key(const struct redis_command *command);

/** The command in wire format, in its arena. */
struct str redis_command_wire(const struct redis_command *command);

/** Turns an EVALSHA into an EVAL of the same script, after Redis replied NOSCRIPT. */
void redis_command_send_text(struct redis_command *command);

#endif
