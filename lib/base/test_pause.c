#include "lib/base/test_pause.h"

#ifdef SLUICE_TEST_HOOKS
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

void test_pause(const char *step)
{
    const char *directory = getenv("SLUICE_TEST_PAUSE_DIR");
    char armed[PATH_MAX];
    char hit[PATH_MAX];

    if (directory == NULL) {
        return;
    }
    int length = snprintf(armed, sizeof(armed), "%s/%s", directory, step);
    int hit_length = snprintf(hit, sizeof(hit), "%s/%s.hit", directory, step);
    if (length < 0 || hit_length < 0 || (size_t)hit_length >= sizeof(hit)) {
        return;
    }
    /* If several processes arrive, rename() lets exactly one of them stop. */
    if (rename(armed, hit) == 0) {
        (void)raise(SIGSTOP);
    }
}
#endif
