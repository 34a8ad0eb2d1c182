# What a round's scores are worth for the game: the chance that a seat ends the game with the fewest pips.
#
# The rounds to come add to each total a sum that is about normal. Of totals with such sums, each seat's chance to have
# the lowest is close to a softmin of the totals, whose width is that of a Gumbel variable with the same deviation.

from libc.math cimport sqrt

from caboose.engine.rules.tile_sets cimport SEATS, falling

cdef struct Standing:
    int players
    int seat
    double totals[SEATS]  # of the rounds before this one
    double weight        # 0 to 1: how much the chance to win the game counts
    double scale         # pips that a certain win is worth against a certain loss
    double width         # of the softmin, in pips; 0 in the last round


# The chance of `seat` to win the game when the round ends with `scores`.
cdef inline double winning_chance(const Standing *standing, const int *scores) noexcept nogil:
    cdef int other
    cdef double least
    cdef double own = 0
    cdef double total = 0
    cdef double share
    least = standing.totals[0] + scores[0]
    for other in range(1, standing.players):
        least = min(least, standing.totals[other] + scores[other])
    for other in range(standing.players):
        share = standing.totals[other] + scores[other] - least
        if standing.width > 0:
            share = falling(share / standing.width)
        else:
            share = share == 0
        total += share
        if other == standing.seat:
            own = share
    return own / total


# `past` are the scores of the rounds before, a row for each.
cdef inline int make_standing(Standing *standing, object rules, object past, int seat, double weight) except -1:
    cdef int left = rules.rounds - len(past) - 1
    cdef int other
    # By how much a planner's score of a round deviates: measured for 2 to 8 players and double-9 to double-12.
    cdef double spread = (1.6 + 2.4 / <int>rules.players) * <int>rules.set
    standing.players = rules.players
    standing.seat = seat
    for other in range(standing.players):
        standing.totals[other] = sum([row[other] for row in past])
    # The standard deviation of a Gumbel variable of width 1 is pi / sqrt(6).
    standing.width = spread * sqrt(max(left, 0)) / 1.2825498301618641
    # A pip is worth about the same in both measures while totals are level and rounds are to come.
    standing.scale = 4 * max(standing.width, spread / 1.2825498301618641)
    # A game of one round is nothing but that round.
    standing.weight = weight / (1 + 0.5 * max(left, 0)) if rules.rounds > 1 else 0
    return 0
