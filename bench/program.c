#include "bench/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

uint64_t program_number(const char *program, const char *text, uint64_t least, uint64_t most)
{
    char *rest;
    unsigned long long value = strtoull(text, &rest, 10);

    if (*text < '0' || *text > '9' || *rest != '\0' || value < least || value > most) {
        (void)fprintf(stderr, "%s: %s is no number from %llu to %llu\n", program, text,
                      (unsigned long long)least, (unsigned long long)most);
        exit(PROGRAM_USAGE);
    }
    return value;
}

void program_raise_file_limit(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}
