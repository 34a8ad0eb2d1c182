/* The least that an engine can be: plays the first legal move. For benchmarks/referee.py and benchmarks/stamps.py.
   With two words, `sleep MS` or `busy MS`, it sleeps or works that long before each answer, and says in an info line
   when it wrote it, in nanoseconds of the monotonic clock. */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char line[1 << 17], move[32] = "stop";

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void think(const char *how, double ms)
{
    long long end = now() + (long long)(ms * 1e6);
    struct timespec pause = {(time_t)(ms / 1000), (long)((long long)(ms * 1e6) % 1000000000LL)};
    if (strcmp(how, "sleep") == 0)
        nanosleep(&pause, NULL);
    else
        while (now() < end)
            ;
}

int main(int count, char **words)
{
    char number[32];
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "legal ", 6) == 0)
            sscanf(line + 6, "%31s", move);
        else if (strncmp(line, "go ", 3) == 0 && sscanf(line + 3, "%31s", number) == 1) {
            if (count == 3) {
                think(words[1], atof(words[2]));
                printf("info nodes %lld\n", now());
            }
            printf("bestmove %s %s\n", number, move);
        } else if (strncmp(line, "caboose ", 8) == 0)
            puts("cabooseok 1");
        else if (strncmp(line, "isready", 7) == 0)
            puts("readyok");
        else if (strncmp(line, "quit", 4) == 0)
            break;
        else
            continue;
        fflush(stdout);
    }
    return 0;
}
