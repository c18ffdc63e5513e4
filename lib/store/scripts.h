/*
 * scripts — the Lua transitions of lua/, embedded at build time: text, SHA-1 and names of their
 * keys. The SHA is the version: two releases run side by side without sharing a script.
 */
#ifndef SLUICE_STORE_SCRIPTS_H
#define SLUICE_STORE_SCRIPTS_H

#include "lua/scripts.gen.h"

struct script_text {
    const char *name;     /* file name without .lua */
    const char *sha;      /* SHA-1 in hex, what SCRIPT LOAD would answer */
    const char *text;     /* what EVAL takes */
    const char *global;   /* name of a key outside of every queue, or NULL */
    const char *keys[48]; /* names of the queue's keys in the order of KEYS, those of a show as
                           * "show:NAME"; NULL at the end */
};

/** The script of that number; never NULL. */
const struct script_text *script_text(enum script script);

#endif
