/* The keeper of an engine: the program that stands between us and it, so that nothing of an engine is ever left.
 *
 *     keeper SOCKET MEMORY PROCESSES CPU FILE CORE PROGRAM NAME [ARGUMENT...]
 *
 * It starts PROGRAM, with the streams that it was given itself, and then waits for one of two things: that the program
 * ends, or that the far end of SOCKET (a descriptor) closes, which the death of its owner does too, in whatever way that
 * comes. Then it kills all that descends from it. On Linux that includes what has made itself a session of its own: the
 * keeper is the reaper of all its descendants, so that none can get away by losing its parent. Elsewhere it kills the
 * process group. The limits are as in setrlimit(), each a number or -1.
 *
 * On the socket it says two numbers (int32 as the machine has them): the process number of the program, or minus the
 * errno of a failed start (and minus OURS where that was not the program's doing); and when the program has ended, its
 * status as wait() has it. It is told the byte 'T' to pass on a SIGTERM. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { OURS = 65536, CONTROL = 3, PAUSE_MS = 20, LIMITS = 5, FIRST_LIMIT = 2, PROGRAM = FIRST_LIMIT + LIMITS };

static const int resources[LIMITS] = {RLIMIT_AS, RLIMIT_NPROC, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_CORE};

static void say(int32_t number) {
    while (write(CONTROL, &number, sizeof number) < 0 && errno == EINTR)
        ;
}

static void wake(int number) { (void)number; }

static int limit_resource(int resource, long long most) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) < 0)
        return -1;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > (rlim_t)most)
        limit.rlim_max = (rlim_t)most;
    limit.rlim_cur = limit.rlim_max;
    if (resource == RLIMIT_CPU && limit.rlim_max != RLIM_INFINITY)
        limit.rlim_cur = limit.rlim_max++; /* so that it dies of SIGXCPU, which says why, and not of SIGKILL */
    return setrlimit(resource, &limit);
}

/* In the child that becomes the program; returns the errno of what failed. It shares the keeper's memory. */
static int become(char **argv, pid_t keeper) {
    sigset_t none;
    char **words = argv + PROGRAM + 1;
    signal(SIGPIPE, SIG_DFL); /* Python ignores these two, and a program would inherit that */
    signal(SIGXFSZ, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (setsid() < 0)
        return errno;
#ifdef __linux__
    /* The keeper has one thread, so the signal comes with the end of the keeper and not with that of a thread. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return errno;
    if (getppid() != keeper)
        return ESRCH;
#else
    (void)keeper;
#endif
    for (int i = 0; i < LIMITS; i++) {
        long long most = atoll(argv[FIRST_LIMIT + i]);
        if (most >= 0 && limit_resource(resources[i], most) < 0)
            return errno;
    }
    execv(argv[PROGRAM], words);
    if (errno != ENOEXEC)
        return errno;
    words[0] = argv[PROGRAM]; /* a script that does not say by what it is run */
    words[-1] = (char *)"sh";
    execv("/bin/sh", words - 1);
    return errno;
}

/* Kills the children of this process, where the system says which they are. */
static void kill_children(void) {
#ifdef __linux__
    char text[4096];
    ssize_t size;
    int number = 0, file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
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
#endif
}

/* Kills and reaps until nothing descends from this process any more: those whose parents die come to be its children.
 * `program` is its number while its status was not said, and then 0. */
static void end_all(pid_t program, const sigset_t *waiting) {
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    if (program)
        kill(-program, SIGKILL);
    for (;;) {
        int status;
        pid_t ended;
        kill_children();
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == program) {
                say(status);
                program = 0;
            }
        if (ended < 0 && errno == ECHILD)
            return;
        pselect(0, NULL, NULL, NULL, &pause, waiting);
    }
}

/* Waits for the end of the program or of the owner. */
static void keep(pid_t program, const sigset_t *waiting) {
    for (;;) {
        int status;
        pid_t ended;
        char byte;
        ssize_t size;
        fd_set ready;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == program) {
                say(status);
                end_all(0, waiting);
                return;
            }
        FD_ZERO(&ready);
        FD_SET(CONTROL, &ready);
        if (pselect(CONTROL + 1, &ready, NULL, NULL, NULL, waiting) <= 0)
            continue;
        size = read(CONTROL, &byte, 1);
        if (size == 1 && byte == 'T')
            kill(-program, SIGTERM);
        if (size == 0 || (size < 0 && errno != EINTR)) {
            end_all(program, waiting);
            return;
        }
    }
}

int main(int argc, char **argv) {
    sigset_t all, waiting;
    struct sigaction action;
    pid_t program, self = getpid();
    volatile int failed = 0; /* the child writes it */
    int null, control;
    if (argc < PROGRAM + 2)
        return 2;
    control = atoi(argv[1]);
    if (control != CONTROL && dup2(control, CONTROL) >= 0)
        close(control);
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fcntl(CONTROL, F_SETFD, FD_CLOEXEC) < 0)
        return 2;
    if (null < 0) {
        say(-OURS - errno);
        return 1;
    }
    sigfillset(&all); /* nothing but SIGKILL ends it before its time */
    sigprocmask(SIG_SETMASK, &all, NULL);
    memset(&action, 0, sizeof action);
    action.sa_handler = wake;
    sigaction(SIGCHLD, &action, NULL);
    sigfillset(&waiting);
    sigdelset(&waiting, SIGCHLD);
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif

    program = vfork();
    if (program == 0) {
        failed = become(argv, self);
        _exit(127);
    }
    if (program < 0)
        failed = OURS + errno;
    for (int i = 0; i < 3; i++) /* the pipes are the program's: who reads them must see when it closes them */
        dup2(null, i);
    if (chdir("/") < 0 && !failed)
        failed = OURS + errno;
    say(failed ? -failed : program);
    if (failed)
        return 1;
    keep(program, &waiting);
    return 0;
}
