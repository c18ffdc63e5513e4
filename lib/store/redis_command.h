/*
 * redis_command — one command for Redis: its words, each with its length. Built in an arena and
 * lives as long as it; the words themselves are borrowed, not copied, unless said otherwise.
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
    int *ends; /* of a transaction: behind which word each of its commands ends */
    int parts; /* how many commands that is; 0: one, the words are its own */
};

/** A plain command; `name` is its first word. */
struct redis_command *redis_command_new(struct arena *arena, const char *name);

/** A transaction, begun: the commands added next run between MULTI and EXEC, so as of one
 *  moment. Only the reply to EXEC counts: an array with the replies, or an error where one of
 *  the commands was refused. At most `commands`. */
struct redis_command *redis_command_transaction(struct arena *arena, int commands);

/** Begins the next command of a transaction; its words come after it. */
void redis_command_next(struct redis_command *transaction, const char *name);

/** Ends a transaction, which is then complete. */
void redis_command_exec(struct redis_command *transaction);

/** Appends `sluice:{queue}:NAME`, made in the arena. */
void redis_command_add_key(struct redis_command *command, struct str queue, struct str name);

/** How many replies come before the one that counts. */
int redis_command_replies_before(const struct redis_command *command);

/** An EVALSHA of `script` with the keys that the script declares, `sluice:{queue}:NAME` each (or
 *  `sluice:NAME` for a script with a global key: `queue` is then not looked at). */
struct redis_command *redis_command_script(struct arena *arena, enum script script,
                                           struct str queue);

/** As redis_command_script(), for a script that declares keys of a show:
 *  `sluice:{queue}:show:SHOW:NAME`. */
struct redis_command *redis_command_show_script(struct arena *arena, enum script script,
                                                struct str queue, struct str show);

/** The name of one key of a show, in the arena. `name` without "show:". */
struct str redis_command_show_key(struct arena *arena, struct str queue, struct str show,
                                  const char *name);

/** Appends a word, borrowed: it must live as long as the command. */
void redis_command_add(struct redis_command *command, struct str word);

/** Appends a number, written into the arena. */
void redis_command_add_int(struct redis_command *command, int64_t number);

/** The key that says which server of a cluster is to be asked, borrowed; empty where any server
 *  will do. */
struct str redis_command_key(const struct redis_command *command);

/** The command as it goes over the wire, in its arena. */
struct str redis_command_wire(const struct redis_command *command);

/** Turns an EVALSHA into the EVAL of the same script, for Redis does not know it (NOSCRIPT). */
void redis_command_send_text(struct redis_command *command);

#endif
