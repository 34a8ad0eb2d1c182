/* A whole bot in C with an idea: find the longest train in the hand, and get rid of everything else first.
   cc -O2 -o long_train examples/long_train.c && caboose match ./long_train greedy --rounds 1 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIPS = 18, SEATS = 14, MOVES = 2000, TURN = 6, TRIES = 300000 };

static int hand[PIPS + 1][PIPS + 1]; /* hand[a][b] and hand[b][a]: 1 if we hold this tile */
static int held;                     /* what all our tiles are worth together */
static int seat;                     /* ours, and so which train is ours */
static int ends[SEATS + 1];          /* what is open on each train */
static char moves[MOVES][16];        /* the legal ones */
static int count;                    /* how many these are */
static int tries;                    /* how many more tiles the search may try */

/* A tile is worth its pips, and something for the turn that it takes to play it. */
static int worth(int a, int b) {
    return a + b + TURN;
}

static void put(int a, int b, int here) {
    held += (here - hand[a][b]) * worth(a, b);
    hand[a][b] = hand[b][a] = here;
}

/* The worth of the best train that our hand can lay from an open end. */
static int best_train(int end) {
    int best = 0;
    for (int next = PIPS; next >= 0 && tries > 0; next--) {
        if (!hand[end][next]) continue;
        tries--;
        put(end, next, 0);
        int found = worth(end, next) + best_train(next);
        put(end, next, 1);
        if (found > best) best = found;
    }
    return best;
}

static int read_tile(const char *word, int *a, int *b) {
    return sscanf(word, "%d-%d", a, b) == 2 && *a >= 0 && *a <= PIPS && *b >= 0 && *b <= PIPS;
}

/* What we would be left with after a move; less is better. Tiles outside our best train weigh most. */
static int cost(const char *move) {
    int a, b, end = ends[seat], tile = read_tile(move, &a, &b);
    const char *train = strchr(move, '@');
    if (tile && train && atoi(train + 1) == seat) end = b;
    if (tile) put(a, b, 0);
    tries = TRIES / count;
    int left = 10 * (held - best_train(end)) + held;
    if (tile) put(a, b, 1);
    return left;
}

static const char *choose(void) {
    int best = 0, least = 0;
    for (int i = 0; i < count; i++) {
        int left = cost(moves[i]);
        if (i == 0 || left < least) best = i, least = left;
    }
    return moves[best];
}

static char *next_word(void) {
    return strtok(NULL, " \t\r\n");
}

static int next_number(int most) {
    char *word = next_word();
    int number = word ? atoi(word) : 0;
    return number >= 0 && number <= most ? number : 0;
}

int main(void) {
    char *line = NULL, *word;
    size_t size = 0;
    int a, b;
    while (getline(&line, &size, stdin) > 0) {
        if (!(word = strtok(line, " \t\r\n"))) continue;
        if (!strcmp(word, "caboose")) puts("id name long_train\ncabooseok 1");
        if (!strcmp(word, "isready")) puts("readyok");
        if (!strcmp(word, "seat")) seat = next_number(SEATS);
        if (!strcmp(word, "hand")) {
            held = 0;
            memset(hand, 0, sizeof hand);
            while ((word = next_word()))
                if (read_tile(word, &a, &b)) put(a, b, 1);
        } else if (!strcmp(word, "train")) {
            int train = next_number(SEATS); /* 0 for M */
            while ((word = next_word()) && strcmp(word, "ends")) continue;
            if (word) ends[train] = next_number(PIPS);
        } else if (!strcmp(word, "legal")) {
            for (count = 0; count < MOVES && (word = next_word()); count++)
                snprintf(moves[count], sizeof moves[count], "%s", word);
        } else if (!strcmp(word, "go")) {
            if ((word = next_word())) printf("bestmove %s %s\n", word, choose());
        } else if (!strcmp(word, "quit")) break;
        fflush(stdout);
    }
    free(line);
    return 0;
}
