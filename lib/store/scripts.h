/*
 * scripts — the Lua scripts of lua/, embedded at build time: text, SHA-1 and the names of their
 * keys. The SHA-1 is the version: two releases run side by side without sharing a script.
 */
#ifndef SLUICE_STORE_SCRIPTS_H
#define SLUICE_STORE_SCRIPTS_H

#include "lua/scripts.gen.h"

struct script_text {
    const char *name;     /* file name without .lua */
    const char *sha;      /* SHA-1 in hex, as SCRIPT LOAD returns it */
    const char *text;     /* for EVAL */
    const char *global;   /* name of a key outside of every queue, or NULL */
    const char *keys[48]; /* names of the queue's keys in the order of KEYS, those of a show as
                           * "show:NAME"; NULL-terminated */
};

/** The script `script`; never NULL. */
const struct script_text *script_text(enum script script);

#endif
