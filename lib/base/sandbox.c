#include "lib/base/sandbox.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "lib/base/sandbox_files.h"
#include "lib/base/sandbox_filter.h"

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
static const bool HAS_SANITIZERS = true;
#else
static const bool HAS_SANITIZERS = false;
#endif

void sandbox_allow(struct sandbox *sandbox, const char *path, bool may_write)
{
    if (path == NULL || path[0] == '\0') {
        return;
    }
    if (sandbox->count == SANDBOX_PATHS_MAX) {
        abort();
    }
    sandbox->paths[sandbox->count].path = path;
    sandbox->paths[sandbox->count].may_write = may_write;
    sandbox->count++;
}

struct sandbox_state sandbox_enter(const struct sandbox *sandbox)
{
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    struct sandbox all = *sandbox;
    struct sandbox_state state = {.is_private = false};

    if (HAS_SANITIZERS) {
        sandbox_allow(&all, "/proc", false);
    }
    /* Not dumpable either, so that no core is piped to a program and no other process of the same
     * user can attach or read our memory. */
    state.is_private = setrlimit(RLIMIT_CORE, &none) == 0 &&
                       prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
                       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (state.is_private) {
        state.has_landlock = sandbox_files_enter(&all);
        state.has_seccomp = sandbox_filter_enter(all.has_network, HAS_SANITIZERS);
    }
    return state;
}

struct sandbox_state sandbox_possible(void)
{
    return (struct sandbox_state){.is_private = true,
                                  .has_seccomp = sandbox_filter_possible(),
                                  .has_landlock = sandbox_files_possible()};
}
