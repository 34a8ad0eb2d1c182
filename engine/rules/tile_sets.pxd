# Sets of tiles and the tables of the tiles, as C sees them.

from cpython.number cimport PyNumber_Index
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

ctypedef uint8_t u8
ctypedef uint16_t u16
ctypedef uint32_t u32
ctypedef uint64_t u64

cdef enum:
    WORDS = 3       # 64-bit words in a set of tiles
    TILE_COUNT = 190
    VALUES = 19     # 0 to 18 pips
    SEATS = 14
    MEXICAN_TRAIN = 14
    TRAINS = 15

cdef extern from "tiles.h" nogil:
    const u64 WITH "caboose_with"[VALUES][WORDS]
    const u64 DOUBLES "caboose_doubles"[WORDS]
    const u8 LOW "caboose_low"[TILE_COUNT]
    const u8 HIGH "caboose_high"[TILE_COUNT]
    int popcount "caboose_popcount"(u64 x) noexcept
    int lowest "caboose_lowest"(u64 x) noexcept
    int nth_bit "caboose_nth_bit"(u64 x, int n) noexcept
    int lowest32 "caboose_lowest32"(u32 x) noexcept


cdef inline int tile_number(int a, int b) noexcept nogil:
    if a > b:
        a, b = b, a
    return b * (b + 1) // 2 + a


# xoroshiro128+ of Blackman and Vigna (2018), seeded by splitmix64 as they advise.
cdef struct Rng:
    u64 a
    u64 b


cdef inline u64 mix(u64 x) noexcept nogil:
    x = (x ^ (x >> 30)) * <u64>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <u64>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline void rng_seed(Rng *rng, u64 seed) noexcept nogil:
    rng.a = mix(seed + <u64>0x9E3779B97F4A7C15)
    rng.b = mix(seed + 2 * <u64>0x9E3779B97F4A7C15)
    if rng.a == 0 and rng.b == 0:
        rng.a = 1


# The seed of a call, 0 to 2**63 - 1; `ValueError` for another.
cdef inline u64 checked_seed(object seed) except? 0:
    cdef object number = PyNumber_Index(seed)
    if not 0 <= number < <u64>1 << 63:
        raise ValueError(f"seed {number}: expected 0 to 2**63 - 1")
    return <u64>number


cdef inline u64 rng_next(Rng *rng) noexcept nogil:
    cdef u64 x = rng.a
    cdef u64 y = rng.b
    cdef u64 result = x + y
    y ^= x
    rng.a = ((x << 24) | (x >> 40)) ^ y ^ (y << 16)
    rng.b = (y << 37) | (y >> 27)
    return result


# 0 to n - 1; the bias of at most n / 2**32 does not matter for playouts.
cdef inline u32 rng_below(Rng *rng, u32 n) noexcept nogil:
    return <u32>(((rng_next(rng) >> 32) * <u64>n) >> 32)


# e to the power of -x, 0 <= x: (1 - x/1024)**1024, the same in every build, which libm is not.
cdef inline double falling(double x) noexcept nogil:
    cdef double y = 1 - x / 1024 if x < 1024 else 0
    cdef int _
    for _ in range(10):
        y *= y
    return y
