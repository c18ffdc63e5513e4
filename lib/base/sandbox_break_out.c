#include "lib/base/sandbox.h"

#ifdef SLUICE_TEST_HOOKS
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/sandbox_filter.h"

enum { PAGE = 4096, WAS_OPEN = 0, WAS_REFUSED = 3 };

static bool opens(const char *path, int flags)
{
    int fd = open(path, flags, 0600);

    return fd >= 0;
}

static bool try_exec(void)
{
    char *const words[] = {(char[]){"true"}, NULL};

    (void)execv("/bin/true", words);
    return false;
}

static bool try_fork(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        _exit(WAS_OPEN);
    }
    return pid > 0;
}

static bool try_ptrace(void)
{
    return ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0;
}

static bool try_memory(void)
{
    char there[PAGE];

    return syscall(__NR_process_vm_readv, getppid(), there, 1UL, there, 1UL, 0UL) >= 0;
}

static bool try_read(void)
{
    return opens("/etc/hostname", O_RDONLY) || opens("/etc/shadow", O_RDONLY) ||
           opens("/bin/true", O_RDONLY);
}

static bool try_named(void)
{
    const char *path = getenv("SLUICE_TEST_OPEN");

    return path != NULL && opens(path, O_RDONLY);
}

static bool try_write(void)
{
    const char *path = getenv("SLUICE_TEST_OPEN");

    return path != NULL && opens(path, O_WRONLY);
}

static bool try_create(void)
{
    const char *path = getenv("SLUICE_TEST_OPEN");

    return path != NULL && opens(path, O_WRONLY | O_CREAT | O_EXCL);
}

static bool try_connect(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(1)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* ECONNREFUSED (nobody listens there) also means that the sandbox let the attempt through. */
    return fd >= 0 &&
           (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == ECONNREFUSED);
}

static bool try_listen(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    return fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0 && listen(fd, 1) == 0;
}

/* An abstract socket name: only the system call filter can refuse it, not the file rules. */
static bool try_listen_by_name(void)
{
    struct sockaddr_un here = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)snprintf(here.sun_path + 1, sizeof(here.sun_path) - 1, "sluice-was-here-%d",
                   (int)getpid());
    return fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0 && listen(fd, 1) == 0;
}

static bool try_packets(void)
{
    return socket(AF_PACKET, SOCK_RAW, 0) >= 0;
}

static bool try_code(void)
{
    return mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0) != MAP_FAILED;
}

static bool try_turn_to_code(void)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return page != MAP_FAILED && mprotect(page, PAGE, PROT_READ | PROT_EXEC) == 0;
}

static bool try_kill(void)
{
    return kill(getppid(), 0) == 0;
}

static bool try_setuid(void)
{
    return setuid(getuid()) == 0;
}

static bool try_namespace(void)
{
    return unshare(CLONE_NEWUSER) == 0;
}

static bool try_undo(void)
{
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

#ifdef __x86_64__
/* A kernel without 32-bit system calls raises SIGSEGV. */
static void has_no_such_calls(__attribute__((unused)) int number)
{
    _exit(WAS_REFUSED);
}
#endif

static bool try_i386(void)
{
#ifdef __x86_64__
    (void)signal(SIGSEGV, has_no_such_calls);
    long got = 20; /* the 32-bit call number of getpid() */
    __asm__ volatile("int $0x80" : "+a"(got) : : "memory");
    return got > 0;
#else
    (void)raise(SIGSYS);
    return false;
#endif
}

static const struct {
    const char *name;
    bool (*is_open)(void);
} WAYS[] = {
    {"exec", try_exec},       {"fork", try_fork},     {"ptrace", try_ptrace},
    {"memory", try_memory},   {"read", try_read},     {"write", try_write},
    {"connect", try_connect}, {"listen", try_listen}, {"packets", try_packets},
    {"code", try_code},       {"kill", try_kill},     {"turn-to-code", try_turn_to_code},
    {"setuid", try_setuid},   {"undo", try_undo},     {"namespace", try_namespace},
    {"i386", try_i386},       {"named", try_named},   {"listen-by-name", try_listen_by_name},
    {"create", try_create},
};

void sandbox_break_out(void)
{
    const char *wanted = getenv("SLUICE_TEST_BREAK_OUT");

    for (size_t i = 0; wanted != NULL && i < sizeof(WAYS) / sizeof(WAYS[0]); i++) {
        if (strcmp(wanted, WAYS[i].name) == 0) {
            if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0) {
                /* The filter for sanitizer builds is laxer; what is tested is the one users get. */
                (void)sandbox_filter_enter(true, false);
            }
            _exit(WAYS[i].is_open() ? WAS_OPEN : WAS_REFUSED);
        }
    }
}
#endif
