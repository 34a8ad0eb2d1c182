"""Moves as Python sees them: one object for each, written and read here and nowhere else."""

from caboose.engine.rules.tile_sets cimport MEXICAN_TRAIN, u16
from caboose.engine.rules.state cimport STOP_CODE, code_tile, code_train, code_value, move_code

from caboose.engine.rules.tiles import TILES, parse_pips, parse_train, tile_of, train_name


cdef class Move:
    """A move: a tile laid on a train with the side ``match`` touching, or ``stop``, which ends a chain.

    Moves are values: immutable, hashable, one object for each. ``code`` orders and names them in the core.
    """

    def __init__(self):
        raise TypeError("moves are made by Move.of, Move.parse and legal_moves()")

    @staticmethod
    def of(tile, int train, int match):
        """The move that lays ``tile`` on ``train`` with ``match`` touching. Raises ``ValueError``."""
        a, b = tile
        tile = tile_of(a, b)
        if match not in tile:
            raise ValueError(f"tile {tile} has no side of {match} pips")
        if not 0 <= train <= MEXICAN_TRAIN:
            raise ValueError(f"train {train}: expected 0 to {MEXICAN_TRAIN}")
        return _MOVES[move_code(tile.id, train, match)]

    @staticmethod
    def parse(text):
        """The move that ``text`` writes: ``5-12@M``, ``12-12@3`` or ``stop``. Raises ``ValueError``."""
        if text == "stop":
            return STOP
        sides, at, where = text.partition("@")
        left, _, right = sides.partition("-")
        a, b = parse_pips(left), parse_pips(right)
        if not at or a is None or b is None:
            raise ValueError(
                f"{text[:40]!r} is not a move: expected the matching side, the open side and the train, "
                "such as 5-12@M or 12-12@3, or stop"
            )
        return Move.of((a, b), parse_train(where), a)

    def __str__(self):
        return self.text

    def __repr__(self):
        if self.tile is None:
            return "STOP"
        train = "MEXICAN" if self.train == MEXICAN_TRAIN else self.train
        return f"Move.of({tuple(self.tile)}, train={train}, match={self.match})"

    def __hash__(self):
        return self.code

    def __eq__(self, other):
        return self is other

    def __reduce__(self):
        return Move.parse, (self.text,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


cdef Move move_of_code(u16 code):
    return <Move>_MOVES[code]


cdef Move make_move(u16 code):
    cdef Move move = Move.__new__(Move)
    move.code = code
    if code == STOP_CODE:
        move.train = move.match = move.open = -1
        move.text = "stop"
        return move
    move.tile = TILES[code_tile(code)]
    move.train = code_train(code)
    move.match = code_value(code)
    move.open = move.tile.low + move.tile.high - move.match
    move.text = f"{move.match}-{move.open}@{train_name(move.train)}"
    return move


cdef list all_moves():
    cdef list moves = [None] * (STOP_CODE + 1)
    for tile in TILES:
        for train in range(MEXICAN_TRAIN + 1):
            for value in {tile.low, tile.high}:
                code = move_code(tile.id, train, value)
                moves[code] = make_move(code)
    moves[STOP_CODE] = make_move(STOP_CODE)
    return moves


cdef list _MOVES = all_moves()
STOP = _MOVES[STOP_CODE]
