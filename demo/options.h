/*
 * options — the command line of sluice-shoppers, checked.
 */
#ifndef SLUICE_DEMO_OPTIONS_H
#define SLUICE_DEMO_OPTIONS_H

#include <stdint.h>

enum { EXIT_USAGE = 64 };

struct options {
    const char *url;      /* http://127.0.0.1:N, without a slash at the end; this machine only */
    const char *data_dir; /* holds secrets/admin.key and secrets/member-jwt.key */
    const char *queue;    /* a slug */
    int64_t shoppers;     /* 1..5000 at any time */
    int64_t seconds;      /* 0: until stopped */
};

/** Fills `options` from the arguments. Prints help or version and exits with 0 on request; exits
 *  with 64 and one sentence on standard error if an argument is wrong. */
void options_read(int count, char **arguments, struct options *options);

#endif
