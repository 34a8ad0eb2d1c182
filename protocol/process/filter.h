/* What an engine in a sandbox may not ask of the kernel: a filter of system calls (seccomp, in classic BPF).
 *
 * A sandbox shuts an engine off from what has a name: files, processes, networks. This is for what is left: places in the
 * kernel where a process can put something that another one finds later or elsewhere, and memory that no limit counts.
 * docs/guides/untrusted.md has the list. All else is allowed: it is no list of what is needed, which would be another one for
 * each language. */

#ifndef CABOOSE_FILTER_H
#define CABOOSE_FILTER_H

#include <stddef.h>

#ifdef __linux__
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined __x86_64__ && !defined __ILP32__
#define FILTER_MACHINE AUDIT_ARCH_X86_64
#elif defined __aarch64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FILTER_MACHINE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define FILTER_MACHINE AUDIT_ARCH_RISCV64
#endif
#endif

#ifdef FILTER_MACHINE

/* Calls that are younger than the headers of some systems; their numbers are the same everywhere. */
enum {
    CALL_IO_URING_SETUP = 425, CALL_IO_URING_ENTER = 426, CALL_IO_URING_REGISTER = 427, CALL_OPEN_TREE = 428,
    CALL_MOVE_MOUNT = 429, CALL_FSOPEN = 430, CALL_FSCONFIG = 431, CALL_FSMOUNT = 432, CALL_FSPICK = 433,
    CALL_CLONE3 = 435, CALL_PIDFD_GETFD = 438, CALL_PROCESS_MADVISE = 440, CALL_MOUNT_SETATTR = 442,
    CALL_MEMFD_SECRET = 447, CALL_CACHESTAT = 451, CALL_OPEN_TREE_ATTR = 467,
};

enum test { ALWAYS, EQUAL, ANY_BIT };

/* What becomes of a call, if the low half of its argument passes the test; the first line that fits decides. */
struct line {
    uint32_t call;
    enum test test;
    int argument;
    uint32_t value;
    uint32_t verdict;
};

#define NO(number) (SECCOMP_RET_ERRNO | (number))
#define YES SECCOMP_RET_ALLOW

static const struct line lines[] = {
    /* Keys of the user, and keyrings that outlive a process. */
    {SYS_keyctl, ALWAYS, 0, 0, NO(ENOSYS)},
    {SYS_add_key, ALWAYS, 0, 0, NO(ENOSYS)},
    {SYS_request_key, ALWAYS, 0, 0, NO(ENOSYS)},
    /* The log of the kernel: who crashes at an address of its choice writes that down there. */
    {SYS_syslog, ALWAYS, 0, 0, NO(EPERM)},
    /* Locks and watches, which others see on any file that both can read. */
    {SYS_flock, ALWAYS, 0, 0, NO(ENOLCK)},
    {SYS_fcntl, EQUAL, 1, 6, NO(ENOLCK)},    /* F_SETLK */
    {SYS_fcntl, EQUAL, 1, 7, NO(ENOLCK)},    /* F_SETLKW */
    {SYS_fcntl, EQUAL, 1, 37, NO(ENOLCK)},   /* F_OFD_SETLK */
    {SYS_fcntl, EQUAL, 1, 38, NO(ENOLCK)},   /* F_OFD_SETLKW */
    {SYS_fcntl, EQUAL, 1, 1024, NO(ENOLCK)}, /* F_SETLEASE */
    {SYS_fcntl, EQUAL, 1, 1026, NO(ENOSYS)}, /* F_NOTIFY */
#ifdef SYS_inotify_init
    {SYS_inotify_init, ALWAYS, 0, 0, NO(ENOSYS)},
#endif
    {SYS_inotify_init1, ALWAYS, 0, 0, NO(ENOSYS)},
    {SYS_fanotify_init, ALWAYS, 0, 0, NO(ENOSYS)},
    /* Which parts of a file are in memory, and putting them out of it. */
    {SYS_mincore, ALWAYS, 0, 0, NO(ENOSYS)},
    {CALL_CACHESTAT, ALWAYS, 0, 0, NO(ENOSYS)},
    {SYS_preadv2, ANY_BIT, 5, 0xffffffff, NO(EOPNOTSUPP)}, /* RWF_NOWAIT tells */
    {SYS_fadvise64, EQUAL, 3, 4, NO(ENOSYS)},              /* POSIX_FADV_DONTNEED */
    {SYS_madvise, EQUAL, 2, 20, NO(EINVAL)},               /* MADV_COLD */
    {SYS_madvise, EQUAL, 2, 21, NO(EINVAL)},               /* MADV_PAGEOUT */
    {CALL_PROCESS_MADVISE, ALWAYS, 0, 0, NO(ENOSYS)},
    /* Sockets that no namespace holds (AF_VSOCK, AF_ALG and others): local ones and IP remain, without a network. */
    {SYS_socket, EQUAL, 0, 1, YES},  /* AF_UNIX */
    {SYS_socket, EQUAL, 0, 2, YES},  /* AF_INET */
    {SYS_socket, EQUAL, 0, 10, YES}, /* AF_INET6 */
    {SYS_socket, ANY_BIT, 2, 0xffffffff, NO(EAFNOSUPPORT)},
    {SYS_socket, EQUAL, 0, 16, YES}, /* AF_NETLINK with NETLINK_ROUTE: what interfaces there are */
    {SYS_socket, ALWAYS, 0, 0, NO(EAFNOSUPPORT)},
    {SYS_socketpair, EQUAL, 0, 1, YES},
    {SYS_socketpair, ALWAYS, 0, 0, NO(EAFNOSUPPORT)},
    /* Memory that is in no address space, and so beyond its limit. */
    {SYS_memfd_create, ALWAYS, 0, 0, NO(ENOSYS)},
    {CALL_MEMFD_SECRET, ALWAYS, 0, 0, NO(ENOSYS)},
    {SYS_shmget, ALWAYS, 0, 0, NO(ENOSYS)},
    {SYS_msgget, ALWAYS, 0, 0, NO(ENOSYS)},
    {SYS_semget, ALWAYS, 0, 0, NO(ENOSYS)},
    /* The memory and files of others. */
    {SYS_ptrace, ALWAYS, 0, 0, NO(EPERM)},
    {SYS_process_vm_readv, ALWAYS, 0, 0, NO(EPERM)},
    {SYS_process_vm_writev, ALWAYS, 0, 0, NO(EPERM)},
    {CALL_PIDFD_GETFD, ALWAYS, 0, 0, NO(EPERM)},
    {SYS_kcmp, ALWAYS, 0, 0, NO(EPERM)},
    /* Large parts of the kernel that no engine needs; what is asked of a ring passes no filter. */
    {CALL_IO_URING_SETUP, ALWAYS, 0, 0, NO(ENOSYS)},
    {CALL_IO_URING_ENTER, ALWAYS, 0, 0, NO(ENOSYS)},
    {CALL_IO_URING_REGISTER, ALWAYS, 0, 0, NO(ENOSYS)},
    {SYS_bpf, ALWAYS, 0, 0, NO(EPERM)},
    {SYS_perf_event_open, ALWAYS, 0, 0, NO(EPERM)},
    {SYS_userfaultfd, ALWAYS, 0, 0, NO(EPERM)},
    /* Namespaces and mounts. What clone3() is told cannot be seen; libraries then take clone(). */
    {SYS_clone, ANY_BIT, 0, 0x7e020000, NO(EPERM)}, /* CLONE_NEW... */
    {CALL_CLONE3, ALWAYS, 0, 0, NO(ENOSYS)},
    {SYS_unshare, ALWAYS, 0, 0, NO(EPERM)},
    {SYS_setns, ALWAYS, 0, 0, NO(EPERM)},
    {SYS_mount, ALWAYS, 0, 0, NO(EPERM)},
    {SYS_umount2, ALWAYS, 0, 0, NO(EPERM)},
    {SYS_pivot_root, ALWAYS, 0, 0, NO(EPERM)},
    {CALL_OPEN_TREE, ALWAYS, 0, 0, NO(EPERM)},
    {CALL_OPEN_TREE_ATTR, ALWAYS, 0, 0, NO(EPERM)},
    {CALL_MOVE_MOUNT, ALWAYS, 0, 0, NO(EPERM)},
    {CALL_FSOPEN, ALWAYS, 0, 0, NO(EPERM)},
    {CALL_FSCONFIG, ALWAYS, 0, 0, NO(EPERM)},
    {CALL_FSMOUNT, ALWAYS, 0, 0, NO(EPERM)},
    {CALL_FSPICK, ALWAYS, 0, 0, NO(EPERM)},
    {CALL_MOUNT_SETATTR, ALWAYS, 0, 0, NO(EPERM)},
};

enum { LINES = sizeof lines / sizeof *lines, MOST_STEPS = 8 + 5 * LINES };

#define STEP(code, value) (struct sock_filter) BPF_STMT(code, value)
#define JUMP(code, value, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_K | (code), value, yes, no)
#define LOAD(place) STEP(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(place))
#define ANSWER(verdict) STEP(BPF_RET | BPF_K, verdict)

/* Writes the filter, which has MOST_STEPS steps at most; returns how many. */
static size_t write_filter(struct sock_filter *steps) {
    struct sock_filter *next = steps;
    *next++ = LOAD(offsetof(struct seccomp_data, arch));
    *next++ = JUMP(BPF_JEQ, FILTER_MACHINE, 1, 0);
    *next++ = ANSWER(SECCOMP_RET_KILL_PROCESS); /* programs of 32 bits have other numbers for their calls */
    *next++ = LOAD(offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    *next++ = JUMP(BPF_JGE, 0x40000000, 0, 1); /* and so have those of x32 */
    *next++ = ANSWER(NO(ENOSYS));
#endif
    for (const struct line *line = lines; line < lines + LINES; line++) {
        if (line->test == ALWAYS) {
            *next++ = JUMP(BPF_JEQ, line->call, 0, 1);
            *next++ = ANSWER(line->verdict);
        } else {
            *next++ = JUMP(BPF_JEQ, line->call, 0, 4);
            *next++ = LOAD(offsetof(struct seccomp_data, args) + 8 * (size_t)line->argument);
            *next++ = JUMP(line->test == EQUAL ? BPF_JEQ : BPF_JSET, line->value, 0, 1);
            *next++ = ANSWER(line->verdict);
            *next++ = LOAD(offsetof(struct seccomp_data, nr));
        }
    }
    *next++ = ANSWER(YES);
    return (size_t)(next - steps);
}

#endif
#endif
