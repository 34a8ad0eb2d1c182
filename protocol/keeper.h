/* The keeper of an engine: the process between us and it, so that nothing of an engine is ever left.
 *
 * It is a fork of this process that runs only what stands here, no Python, and nothing that is unsafe after a fork. It
 * starts the engine and then waits for one of two things: that the engine ends, or that the far end of its control
 * socket closes, which the death of its owner does too, in whatever way that comes. Then it kills all that descends
 * from it. On Linux that includes what has made itself a session of its own: the keeper is the reaper of all its
 * descendants, so that none can get away by losing its parent. Elsewhere it kills the engine's process group.
 *
 * On the socket the keeper says two numbers (int32): the engine's process number, or minus the errno of a failed start
 * (and minus KEEPER_OURS where that was not the engine's doing); and when the engine has ended, its status as wait() has it. It is told one byte, KEEPER_TERM, to pass on a SIGTERM.
 */

#ifndef CABOOSE_KEEPER_H
#define CABOOSE_KEEPER_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#define KEEPER_TERM 'T'

#define KEEPER_OURS 65536

enum { KEEPER_CONTROL = 3, KEEPER_NULL = 4, KEEPER_ASIDE = 16, KEEPER_PAUSE_MS = 20, KEEPER_LIMITS = 5 };

/* Which resources are limited, in the order of `keeper_job.limits`. */
static const int keeper_resources[KEEPER_LIMITS] = {RLIMIT_AS, RLIMIT_NPROC, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_CORE};

typedef struct {
    const char *path;               /* the program */
    char **argv;                    /* its name and arguments, and NULL; one more place before argv[0] is ours */
    int streams[3];                 /* what becomes its standard input, output and error */
    long long limits[KEEPER_LIMITS]; /* of each resource; -1 leaves it as it is */
} keeper_job;

static void keeper_wake(int number) { (void)number; }

static void keeper_close_from(int first) {
#if defined(__linux__) && defined(SYS_close_range)
    if (syscall(SYS_close_range, first, ~0U, 0) == 0)
        return;
#endif
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd < (most < 0 ? 65536 : most); fd++)
        close(fd);
}

static void keeper_say(int32_t number) {
    while (write(KEEPER_CONTROL, &number, sizeof number) < 0 && errno == EINTR)
        ;
}

/* The keeper's descriptors: the engine's streams as 0, 1 and 2, the socket, /dev/null, and nothing else. */
static int keeper_descriptors(const int streams[3], int control) {
    int aside[4];
    for (int i = 0; i < 4; i++)
        if ((aside[i] = fcntl(i < 3 ? streams[i] : control, F_DUPFD, KEEPER_ASIDE)) < 0)
            return errno;
    for (int i = 0; i < 4; i++)
        if (dup2(aside[i], i) < 0)
            return errno;
    keeper_close_from(KEEPER_NULL);
    int null = open("/dev/null", O_RDWR);
    if (null < 0)
        return errno;
    if (fcntl(KEEPER_CONTROL, F_SETFD, FD_CLOEXEC) < 0 || fcntl(null, F_SETFD, FD_CLOEXEC) < 0)
        return errno;
    return 0;
}

/* In the child that becomes the engine; returns the errno of what failed. It shares the keeper's memory. */
static int keeper_become_engine(const keeper_job *job, pid_t keeper) {
    sigset_t none;
    signal(SIGPIPE, SIG_DFL); /* Python ignores these two, and an engine would inherit that */
    signal(SIGXFSZ, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (setsid() < 0)
        return errno;
#ifdef __linux__
    /* The keeper has one thread, so this is the end of the keeper and not that of a thread. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return errno;
    if (getppid() != keeper)
        return ESRCH;
#endif
    for (int i = 0; i < KEEPER_LIMITS; i++) {
        struct rlimit limit;
        if (job->limits[i] < 0)
            continue;
        if (getrlimit(keeper_resources[i], &limit) < 0)
            return errno;
        if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > (rlim_t)job->limits[i])
            limit.rlim_max = (rlim_t)job->limits[i];
        limit.rlim_cur = limit.rlim_max;
        if (keeper_resources[i] == RLIMIT_CPU && limit.rlim_max != RLIM_INFINITY)
            limit.rlim_cur = limit.rlim_max++; /* so that it dies of SIGXCPU, which says why, and not of SIGKILL */
        if (setrlimit(keeper_resources[i], &limit) < 0)
            return errno;
    }
    execv(job->path, job->argv);
    if (errno != ENOEXEC)
        return errno;
    job->argv[0] = (char *)job->path; /* a script that does not say by what it is run */
    job->argv[-1] = (char *)"/bin/sh";
    execv("/bin/sh", job->argv - 1);
    return errno;
}

/* Kills what descends directly from this process; 0 where the system does not say what does. */
static int keeper_kill_children(void) {
#ifdef __linux__
    char text[4096];
    ssize_t size;
    int number = 0, file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    while ((size = read(file, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < size; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                number = 10 * number + text[i] - '0';
            } else {
                if (number > 0)
                    kill(number, SIGKILL);
                number = 0;
            }
        }
    close(file);
    return 1;
#else
    return 0;
#endif
}

/* Kills and reaps until nothing descends from this process any more: those whose parents die come to be its children.
 * Says the engine's status, unless it was said. */
static void keeper_end_all(pid_t engine, int said, const sigset_t *waiting) {
    const struct timespec pause = {0, KEEPER_PAUSE_MS * 1000000L};
    if (!said)
        kill(-engine, SIGKILL);
    for (;;) {
        int status;
        pid_t ended;
        keeper_kill_children();
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == engine && !said) {
                keeper_say(status);
                said = 1;
            }
        if (ended < 0 && errno == ECHILD)
            return;
        pselect(0, NULL, NULL, NULL, &pause, waiting);
    }
}

/* The life of the keeper. */
static void keeper_main(const keeper_job *job, int control) {
    pid_t self = getpid(), engine;
    sigset_t waiting;
    struct sigaction action;
    volatile int failed = keeper_descriptors(job->streams, control);
    if (failed) { /* the socket may stand anywhere yet */
        int32_t number = -KEEPER_OURS - failed;
        (void)!write(control, &number, sizeof number);
        _exit(1);
    }
    setsid();
#ifdef __linux__
    prctl(PR_SET_NAME, "caboose-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_DUMPABLE, 0); /* it has a copy of its owner's memory, which is nothing for an engine to read */
#endif
    memset(&action, 0, sizeof action);
    action.sa_handler = keeper_wake;
    sigaction(SIGCHLD, &action, NULL);
    sigfillset(&waiting);
    sigdelset(&waiting, SIGCHLD);

    engine = vfork();
    if (engine == 0) {
        failed = keeper_become_engine(job, self);
        _exit(127);
    }
    if (engine < 0)
        failed = KEEPER_OURS + errno;
    for (int i = 0; i < 3; i++)
        dup2(KEEPER_NULL, i);
    (void)!chdir("/");
    if (failed) {
        keeper_say(-failed);
        _exit(1);
    }
    keeper_say(engine);
    for (;;) {
        int status;
        pid_t ended;
        char byte;
        ssize_t size;
        fd_set ready;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == engine) {
                keeper_say(status);
                keeper_end_all(engine, 1, &waiting);
                _exit(0);
            }
        FD_ZERO(&ready);
        FD_SET(KEEPER_CONTROL, &ready);
        if (pselect(KEEPER_CONTROL + 1, &ready, NULL, NULL, NULL, &waiting) <= 0)
            continue;
        size = read(KEEPER_CONTROL, &byte, 1);
        if (size == 1 && byte == KEEPER_TERM)
            kill(-engine, SIGTERM);
        if (size == 0 || (size < 0 && errno != EINTR)) {
            keeper_end_all(engine, 0, &waiting);
            _exit(0);
        }
    }
}

/* Other processes of this user may not look into this one. */
static int keeper_hide(void) {
#ifdef __linux__
    return prctl(PR_SET_DUMPABLE, 0);
#else
    return 0;
#endif
}

/* Starts a keeper with its engine. Returns 0, or the errno of what failed; `*ours` then says that it was not the engine's
 * program but the means of this process that failed. `*control` is to be closed with the keeper's life, and `*keeper` to
 * be waited for. */
static int keeper_start(const keeper_job *job, pid_t *keeper, pid_t *engine, int *control, int *ours) {
    int pair[2], failed;
    int32_t number = 0;
    sigset_t all, before;
    ssize_t size;
    *ours = 1;
#ifdef SOCK_CLOEXEC
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return errno;
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return errno;
    fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    fcntl(pair[1], F_SETFD, FD_CLOEXEC);
#endif
    /* A signal must not reach the handlers of this process in the keeper, which never lets one through. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *keeper = fork();
    if (*keeper == 0) {
        keeper_main(job, pair[1]);
        _exit(1);
    }
    failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    if (*keeper < 0) {
        close(pair[0]);
        return failed;
    }
    do
        size = read(pair[0], &number, sizeof number);
    while (size < 0 && errno == EINTR);
    if (size == sizeof number && number > 0) {
        *engine = number;
        *control = pair[0];
        return 0;
    }
    close(pair[0]);
    while (waitpid(*keeper, NULL, 0) < 0 && errno == EINTR)
        ;
    if (size != sizeof number)
        return ECHILD; /* somebody killed the keeper */
    *ours = number < -KEEPER_OURS;
    return *ours ? -number - KEEPER_OURS : -number;
}

#endif
