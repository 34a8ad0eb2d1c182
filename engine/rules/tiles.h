/* Sets of tiles as 64-bit words, and what is known of each tile.

   Tile a-b with a <= b is number b(b+1)/2 + a, so a smaller set is the beginning of each larger one: double-9 fits
   in one word, double-12 in two, double-18 in three. tests/engine/test_tiles.py computes these tables anew. */
#ifndef CABOOSE_TILES_H
#define CABOOSE_TILES_H
#include <stdint.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

/* The tiles that have an end of v pips. */
static const uint64_t caboose_with[19][3] = {
    {0x008020101020844bULL, 0x0100020008004004ULL, 0x0000080002000100ULL},
    {0x0100402020410896ULL, 0x0200040010008008ULL, 0x0000100004000200ULL},
    {0x0200804040821138ULL, 0x0400080020010010ULL, 0x0000200008000400ULL},
    {0x04010080810423c0ULL, 0x0800100040020020ULL, 0x0000400010000800ULL},
    {0x0802010102087c00ULL, 0x1000200080040040ULL, 0x0000800020001000ULL},
    {0x10040202041f8000ULL, 0x2000400100080080ULL, 0x0001000040002000ULL},
    {0x200804040fe00000ULL, 0x4000800200100100ULL, 0x0002000080004000ULL},
    {0x4010080ff0000000ULL, 0x8001000400200200ULL, 0x0004000100008000ULL},
    {0x80201ff000000000ULL, 0x0002000800400400ULL, 0x0008000200010001ULL},
    {0x007fe00000000000ULL, 0x0004001000800801ULL, 0x0010000400020002ULL},
    {0xff80000000000000ULL, 0x0008002001001003ULL, 0x0020000800040004ULL},
    {0x0000000000000000ULL, 0x0010004002003ffcULL, 0x0040001000080008ULL},
    {0x0000000000000000ULL, 0x0020008007ffc000ULL, 0x0080002000100010ULL},
    {0x0000000000000000ULL, 0x004001fff8000000ULL, 0x0100004000200020ULL},
    {0x0000000000000000ULL, 0x00fffe0000000000ULL, 0x0200008000400040ULL},
    {0x0000000000000000ULL, 0xff00000000000000ULL, 0x04000100008000ffULL},
    {0x0000000000000000ULL, 0x0000000000000000ULL, 0x0800020001ffff00ULL},
    {0x0000000000000000ULL, 0x0000000000000000ULL, 0x100007fffe000000ULL},
    {0x0000000000000000ULL, 0x0000000000000000ULL, 0x3ffff80000000000ULL}};

/* The doubles. */
static const uint64_t caboose_doubles[3] = {0x0040100808104225ULL, 0x0080010004002002ULL, 0x2000040001000080ULL};

/* The lower and the higher end of each tile. */
static const uint8_t caboose_low[190] = {
    0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 0, 1,
    2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4,
    5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    14, 15, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0, 1, 2, 3, 4, 5, 6, 7, 8,
    9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
static const uint8_t caboose_high[190] = {
    0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 7,
    7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10,
    10, 10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
    12, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
    16, 16, 16, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 18, 18, 18, 18, 18, 18, 18, 18, 18,
    18, 18, 18, 18, 18, 18, 18, 18, 18, 18};

static inline int caboose_popcount(uint64_t x) { return __builtin_popcountll(x); }
static inline int caboose_lowest(uint64_t x) { return __builtin_ctzll(x); }
/* The number of the n-th set bit, from 0 on; x has more than n. */
#ifdef __BMI2__
static inline int caboose_nth_bit(uint64_t x, int n) { return __builtin_ctzll(_pdep_u64((uint64_t)1 << n, x)); }
#else
static inline int caboose_nth_bit(uint64_t x, int n) {
    while (n--) x &= x - 1;
    return __builtin_ctzll(x);
}
#endif
static inline int caboose_lowest32(uint32_t x) { return __builtin_ctz(x); }

#endif
