/* How fast uniformly random rounds of Mexican Train go on one core in a plain C loop, the deal included.

   This is what the core of Caboose is measured against: the rules written down once, for speed alone, with nothing to
   choose but the set, the players and the hand. The rules are those of the preset `family` (docs/rules.md) with
   extra_after_doubles=anywhere:

   - the hub, the set's highest double, lies in the middle before the deal; a random seat starts;
   - every turn is one tile on the own train, a marked train or the Mexican train; after a double the turn goes on,
     with the next tile on any of these;
   - who can play nothing draws one tile and plays it if it fits; otherwise the own train gets a marker, which comes
     off when its owner plays there;
   - a double that a turn leaves open must be satisfied before anything else, the oldest first; one whose value has no
     tiles left binds nobody;
   - the round ends when a hand is empty, or when the boneyard is empty and all have passed in turn on an unchanged
     table. Scores are not counted.

   Build it with the flags of what it is compared with. WORDS is how many 64-bit words hold the set: 2 up to double-12,
   3 above.

     cc -std=c11 -O3 -march=native -DWORDS=2 -o yardstick benchmarks/yardstick.c
     ./yardstick SET PLAYERS HAND [SECONDS | ROUNDSr]        such as 12 4 15 2.5, or 12 4 15 100000r

   It prints rounds, plays and seconds of processor time, as what other programs take of a machine says nothing about
   this one. The same rounds are played each time. */
#define _POSIX_C_SOURCE 199309L
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

#ifndef WORDS
#define WORDS 3
#endif

enum {
    VALUES = 19,
    TILES = 190,
    SEATS = 14,
    BETWEEN_LOOKS = 2048 /* rounds between two looks at the clock */
};

/* ---- the set ------------------------------------------------------------------------------------------------- */

static int top, players, hand_size;
static int tile_count;
static uint64_t with_value[VALUES][WORDS]; /* the tiles that have an end of that value */
static uint8_t other_end[TILES][VALUES];
static bool is_double[TILES];
static int hub;

static void make_set(void)
{
    for (int a = 0; a <= top; a++)
        for (int b = a; b <= top; b++) {
            int tile = tile_count++;
            with_value[a][tile >> 6] |= 1ULL << (tile & 63);
            with_value[b][tile >> 6] |= 1ULL << (tile & 63);
            other_end[tile][a] = b;
            other_end[tile][b] = a;
            is_double[tile] = a == b;
            hub = tile; /* the last tile is the highest double */
        }
}

/* ---- chance -------------------------------------------------------------------------------------------------- */

/* xoroshiro128+ of Blackman and Vigna. */
struct random {
    uint64_t a, b;
};

static inline uint64_t next_random(struct random *random)
{
    uint64_t x = random->a, y = random->b, result = x + y;
    y ^= x;
    random->a = (x << 24 | x >> 40) ^ y ^ y << 16;
    random->b = y << 37 | y >> 27;
    return result;
}

static inline uint32_t random_below(struct random *random, uint32_t n)
{
    return (uint32_t)((next_random(random) >> 32) * (uint64_t)n >> 32);
}

/* The tile of `tiles` that has `k` others before it. */
static inline int nth_tile(const uint64_t *tiles, int k)
{
    for (int i = 0; i < WORDS; i++) {
        int count = __builtin_popcountll(tiles[i]);
        if (k < count) {
#ifdef __BMI2__
            return i * 64 + __builtin_ctzll(_pdep_u64(1ULL << k, tiles[i]));
#else
            uint64_t rest = tiles[i];
            while (k--)
                rest &= rest - 1;
            return i * 64 + __builtin_ctzll(rest);
#endif
        }
        k -= count;
    }
    return -1;
}

/* ---- one round ----------------------------------------------------------------------------------------------- */

/* Shuffles `deck`, `size` tiles without the hub, and plays a round from it. Returns how many tiles were played. */
static inline int play_round(uint8_t *deck, int size, struct random *random)
{
    uint64_t hand[SEATS][WORDS] = {{0}};
    int count[SEATS];
    uint8_t end[SEATS + 1]; /* the open end of each train; that of the Mexican train is end[players] */
    uint8_t left[VALUES];   /* tiles of each value that do not lie on the table */
    int open[VALUES];       /* trains that end in an open double, the oldest first */
    int open_count = 0;
    uint32_t markers = 0;
    int drawn = players * hand_size;
    int doubles = 0; /* played in this turn */
    bool drew = false; /* since the last tile of this turn */
    int passes = 0;  /* in a row on an unchanged table */
    int plays = 0;

    for (int i = 0; i < size; i++) {
        int j = i + random_below(random, size - i);
        uint8_t tile = deck[i];
        deck[i] = deck[j];
        deck[j] = tile;
    }
    for (int seat = 0; seat < players; seat++) {
        count[seat] = hand_size;
        for (int i = 0; i < hand_size; i++) {
            int tile = deck[seat * hand_size + i];
            hand[seat][tile >> 6] |= 1ULL << (tile & 63);
        }
    }
    for (int train = 0; train <= players; train++)
        end[train] = top;
    for (int value = 0; value <= top; value++)
        left[value] = top + 1;
    left[top]--;
    int turn = random_below(random, players);

    for (;;) {
        uint32_t usable = open_count && !doubles ? 1u << open[0] : markers | 1u << turn | 1u << players;
        uint64_t fits[SEATS + 1][WORDS];
        int train_of[SEATS + 1], moves_on[SEATS + 1];
        int places = 0, moves = 0;
        for (uint32_t rest = usable; rest; rest &= rest - 1) {
            int train = __builtin_ctz(rest);
            const uint64_t *wanted = with_value[end[train]];
            int here = 0;
            for (int i = 0; i < WORDS; i++) {
                fits[places][i] = hand[turn][i] & wanted[i];
                here += __builtin_popcountll(fits[places][i]);
            }
            if (here) {
                train_of[places] = train;
                moves_on[places] = here;
                moves += here;
                places++;
            }
        }

        if (!moves) {
            if (!drew && drawn < size) {
                int tile = deck[drawn++];
                hand[turn][tile >> 6] |= 1ULL << (tile & 63);
                count[turn]++;
                drew = true;
                passes = 0;
                continue;
            }
            if (!drew) {
                passes = markers >> turn & 1 ? passes + 1 : 1;
                if (passes >= players)
                    return plays;
            }
            markers |= 1u << turn;
            drew = false;
            doubles = 0;
            if (++turn == players)
                turn = 0;
            continue;
        }

        int pick = moves > 1 ? random_below(random, moves) : 0;
        int place = 0;
        while (pick >= moves_on[place])
            pick -= moves_on[place++];
        int tile = nth_tile(fits[place], pick);
        int train = train_of[place];
        int joined = end[train];
        int opened = other_end[tile][joined];

        hand[turn][tile >> 6] &= ~(1ULL << (tile & 63));
        plays++;
        drew = false;
        passes = 0;
        end[train] = opened;
        left[joined]--;
        if (opened != joined)
            left[opened]--;
        if (train == turn)
            markers &= ~(1u << turn);
        if (--count[turn] == 0)
            return plays;

        if (open_count) {
            /* A satisfied double is open no more, nor one that nobody can satisfy. */
            for (int i = 0; i < open_count; i++)
                if (open[i] == train) {
                    for (; i + 1 < open_count; i++)
                        open[i] = open[i + 1];
                    open_count--;
                    break;
                }
            for (int i = 0; i < open_count;)
                if (!left[end[open[i]]]) {
                    for (int k = i; k + 1 < open_count; k++)
                        open[k] = open[k + 1];
                    open_count--;
                } else
                    i++;
        }
        if (is_double[tile]) {
            doubles++;
            if (left[joined])
                open[open_count++] = train;
            continue;
        }
        doubles = 0;
        if (++turn == players)
            turn = 0;
    }
}

/* ---- the program --------------------------------------------------------------------------------------------- */

/* Seconds of processor time so far. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

/* A whole number from `low` to `high`, or the end of the program. */
static int number(const char *what, const char *text, int low, int high)
{
    char *rest;
    long value = strtol(text, &rest, 10);
    if (*text == 0 || *rest != 0 || value < low || value > high) {
        fprintf(stderr, "yardstick: %s %s: expected a whole number from %d to %d\n", what, text, low, high);
        exit(2);
    }
    return (int)value;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5) {
        fprintf(stderr, "usage: yardstick SET PLAYERS HAND [SECONDS | ROUNDSr]\n");
        return 2;
    }
    top = number("set", argv[1], 1, WORDS == 2 ? 14 : VALUES - 1);
    players = number("players", argv[2], 2, SEATS);
    make_set();
    hand_size = number("hand", argv[3], 1, (tile_count - 1) / players);
    double most_seconds = 3;
    long most_rounds = INT64_MAX;
    if (argc == 5) {
        char *rest;
        double value = strtod(argv[4], &rest);
        if (rest == argv[4] || !(value > 0) || (strcmp(rest, "") != 0 && strcmp(rest, "r") != 0)) {
            fprintf(stderr, "yardstick: %s: expected seconds such as 2.5, or rounds such as 100000r\n", argv[4]);
            return 2;
        }
        if (*rest) {
            most_rounds = (long)value;
            most_seconds = 1e9;
        } else
            most_seconds = value;
    }

    uint8_t deck[TILES];
    int size = 0;
    for (int tile = 0; tile < tile_count; tile++)
        if (tile != hub)
            deck[size++] = tile;
    struct random random = {88172645463325252ULL, 0x9E3779B97F4A7C15ULL};
    long rounds = 0, plays = 0;
    double start = now(), seconds = 0;
    while (rounds < most_rounds) {
        if (rounds % BETWEEN_LOOKS == 0) {
            seconds = now() - start;
            if (seconds > most_seconds)
                break;
        }
        plays += play_round(deck, size, &random);
        rounds++;
    }
    seconds = now() - start;
    printf("rounds %ld plays %ld seconds %.6f\n", rounds, plays, seconds);
    return 0;
}
