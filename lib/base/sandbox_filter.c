#include "lib/base/sandbox_filter.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif

#if defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define OUR_ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#ifdef OUR_ARCHITECTURE

/* x32 system call numbers, which would mean other calls in the table below. */
#define FOREIGN_NUMBERS 0x40000000U

enum { STEPS_MAX = 600 };

struct filter {
    struct sock_filter steps[STEPS_MAX];
    unsigned short count;
};

/* The calls that are decided by their number alone. */
static const struct {
    uint32_t number;
    uint32_t action;
} CALLS[] = {
#define CALL(number)   {number, SECCOMP_RET_ALLOW},
#define DEADLY(number) {number, SECCOMP_RET_KILL_PROCESS},
#include "lib/base/sandbox_calls.tbl"
#undef CALL
#undef DEADLY
};

/* LeakSanitizer runs in a process of its own, which stops this one with ptrace and reads its
 * memory. Tests install a filter on top. */
static const uint32_t SANITIZERS[] = {
#ifdef __NR_getdents
    __NR_getdents,
#endif
    __NR_seccomp,  __NR_ptrace, __NR_clone,   __NR_prctl,     __NR_wait4,
    __NR_kill,     __NR_tgkill, __NR_getppid, __NR_prlimit64,
};

static void add(struct filter *filter, unsigned short code, uint32_t k, uint8_t yes, uint8_t no)
{
    if (filter->count == STEPS_MAX) {
        abort();
    }
    filter->steps[filter->count++] =
        (struct sock_filter){.code = code, .k = k, .jt = yes, .jf = no};
}

static void answer(struct filter *filter, uint32_t action)
{
    add(filter, BPF_RET | BPF_K, action, 0, 0);
}

static void load(struct filter *filter, size_t offset)
{
    add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Loads the lower half of an argument: enough for flags and small numbers. */
static void load_argument(struct filter *filter, size_t i)
{
    size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;

    load(filter, offsetof(struct seccomp_data, args) + i * sizeof(uint64_t) + low);
}

static void if_equal(struct filter *filter, uint32_t value, uint32_t action)
{
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(filter, action);
}

static void if_all_set(struct filter *filter, uint32_t bits, uint32_t action)
{
    /* Overwrites the accumulator: only for the last check of a value. */
    add(filter, BPF_ALU | BPF_AND | BPF_K, bits, 0, 0);
    if_equal(filter, bits, action);
}

/* What follows up to the matching end_call() applies to this call only. */
static unsigned short begin_call(struct filter *filter, uint32_t number)
{
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0);
    return (unsigned short)(filter->count - 1);
}

static void end_call(struct filter *filter, unsigned short begun, uint32_t action)
{
    answer(filter, action);
    size_t skipped = (size_t)filter->count - begun - 1;
    if (skipped > UINT8_MAX) {
        abort();
    }
    filter->steps[begun].jf = (uint8_t)skipped;
}

static void judge_socket(struct filter *filter, bool has_network)
{
    unsigned short call = begin_call(filter, __NR_socket);
    uint32_t ip = has_network ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EACCES;

    load_argument(filter, 0);
    if_equal(filter, AF_UNIX, SECCOMP_RET_ALLOW);
    if_equal(filter, AF_INET, ip);
    if_equal(filter, AF_INET6, ip);
    if_equal(filter, AF_NETLINK, ip); /* getaddrinfo() asks for the local addresses */
    end_call(filter, call, SECCOMP_RET_KILL_PROCESS);
    call = begin_call(filter, __NR_socketpair);
    load_argument(filter, 0);
    if_equal(filter, AF_UNIX, SECCOMP_RET_ALLOW);
    end_call(filter, call, SECCOMP_RET_KILL_PROCESS);
}

/* No memory is ever both writable and executable, and none is made executable later. */
static void judge_memory(struct filter *filter)
{
    unsigned short call = begin_call(filter, __NR_mmap);

    load_argument(filter, 2);
    if_all_set(filter, PROT_WRITE | PROT_EXEC, SECCOMP_RET_KILL_PROCESS);
    end_call(filter, call, SECCOMP_RET_ALLOW);
    call = begin_call(filter, __NR_mprotect);
    load_argument(filter, 2);
    if_all_set(filter, PROT_EXEC, SECCOMP_RET_KILL_PROCESS);
    end_call(filter, call, SECCOMP_RET_ALLOW);
}

/* Threads may be created, processes may not. The flags of clone3() are behind a pointer and cannot
 * be inspected, so it is reported as missing; libc then uses clone(). */
static void judge_threads(struct filter *filter)
{
    unsigned short call = begin_call(filter, __NR_clone);

    load_argument(filter, 0);
    if_all_set(filter, CLONE_THREAD, SECCOMP_RET_ALLOW);
    end_call(filter, call, SECCOMP_RET_KILL_PROCESS);
#ifdef __NR_clone3
    if_equal(filter, __NR_clone3, SECCOMP_RET_ERRNO | ENOSYS);
#endif
}

static void judge_signals(struct filter *filter)
{
    unsigned short call = begin_call(filter, __NR_tgkill);

    load_argument(filter, 0);
    if_equal(filter, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
    end_call(filter, call, SECCOMP_RET_KILL_PROCESS);
    if_equal(filter, __NR_kill, SECCOMP_RET_KILL_PROCESS);
    if_equal(filter, __NR_tkill, SECCOMP_RET_KILL_PROCESS);
    if_equal(filter, __NR_ptrace, SECCOMP_RET_KILL_PROCESS);
}

static void judge_the_rest(struct filter *filter)
{
    unsigned short call = begin_call(filter, __NR_prctl);

    load_argument(filter, 0);
    if_equal(filter, PR_SET_NAME, SECCOMP_RET_ALLOW);
    end_call(filter, call, SECCOMP_RET_ERRNO | EPERM);
    call = begin_call(filter, __NR_ioctl);
    load_argument(filter, 1);
    if_equal(filter, FIONBIO, SECCOMP_RET_ALLOW);
    if_equal(filter, FIONREAD, SECCOMP_RET_ALLOW);
    end_call(filter, call, SECCOMP_RET_ERRNO | ENOTTY);
    call = begin_call(filter, __NR_prlimit64);
    load_argument(filter, 2); /* the lower half of the pointer to new limits; NULL only reads */
    if_equal(filter, 0, SECCOMP_RET_ALLOW);
    end_call(filter, call, SECCOMP_RET_ERRNO | EPERM);
}

static void build(struct filter *filter, bool has_network, bool has_sanitizers)
{
    load(filter, offsetof(struct seccomp_data, arch));
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCHITECTURE, 1, 0);
    answer(filter, SECCOMP_RET_KILL_PROCESS);
    load(filter, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    add(filter, BPF_JMP | BPF_JGE | BPF_K, FOREIGN_NUMBERS, 0, 1);
    answer(filter, SECCOMP_RET_KILL_PROCESS);
#endif
    for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++) {
        if_equal(filter, CALLS[i].number, CALLS[i].action);
    }
    for (size_t i = 0; has_sanitizers && i < sizeof(SANITIZERS) / sizeof(SANITIZERS[0]); i++) {
        if_equal(filter, SANITIZERS[i], SECCOMP_RET_ALLOW);
    }
    judge_socket(filter, has_network);
    judge_memory(filter);
    judge_threads(filter);
    judge_signals(filter);
    judge_the_rest(filter);
    answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

bool sandbox_filter_enter(bool has_network, bool has_sanitizers)
{
    static struct filter filter;

    filter.count = 0;
    build(&filter, has_network, has_sanitizers);
    struct sock_fprog program = {.len = filter.count, .filter = filter.steps};
    return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

bool sandbox_filter_possible(void)
{
    uint32_t action = SECCOMP_RET_KILL_PROCESS;

    return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

#else

bool sandbox_filter_enter(bool has_network, bool has_sanitizers)
{
    (void)has_network;
    (void)has_sanitizers;
    return false;
}

bool sandbox_filter_possible(void)
{
    return false;
}

#endif
