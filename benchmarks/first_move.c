/* The least that an engine can be: plays the first legal move. For benchmarks/referee.py. */

#include <stdio.h>
#include <string.h>

static char line[1 << 17], move[32] = "stop";

int main(void)
{
    char number[32];
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "legal ", 6) == 0)
            sscanf(line + 6, "%31s", move);
        else if (strncmp(line, "go ", 3) == 0 && sscanf(line + 3, "%31s", number) == 1)
            printf("bestmove %s %s\n", number, move);
        else if (strncmp(line, "caboose ", 8) == 0)
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
