"""The table as a picture for a terminal, of a given width and height: pure functions from a scene to lines.

Nothing is told by colour alone: what is coloured stands in a column, a bracket or a word of its own too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Group

from caboose.arena.console.console import Text
from caboose.arena.viewer.layout import MIN_WIDTH, Layout, least_height, plan
from caboose.engine.rules.tiles import MEXICAN, Tile
from caboose.table.state import Scene
from caboose.table.train_chain import Link, chain

_WIDE: Final = 100  # columns from which on there is room to spare

# --------------------------------------------------------------------------------------------- value types


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The signs of a picture: between the sides of a tile, for what is left out, and so on."""

    side: str = "│"
    cut: str = "⋯"
    marker: str = "●"
    turn: str = "▶"
    line: str = "─"
    done: str = "━"
    across: str = "←→"
    upright: str = "↑↓"


UNICODE: Final = Glyphs()
ASCII: Final = Glyphs("-", "..", "*", ">", "-", "=", "h l", "k j")


@dataclass(frozen=True, slots=True)
class Styles:
    """How the parts of a picture look, as styles of rich. Where there is a ground there is a colour on it, so that
    both can be read on dark and on light terminals; blue and yellow can be told apart by everybody."""

    tile: str = "black on white"
    newest: str = "black on bright_cyan"
    end: str = "bold bright_white on blue"  # where a tile may go, and tiles that may go somewhere
    double: str = "black on bright_yellow"  # an open double
    held: str = "bright_white on bright_black"
    marker: str = "bold magenta"
    turn: str = "bold"
    quiet: str = "dim"
    strong: str = "bold"


COLOURS: Final = Styles()
MONOCHROME: Final = Styles(
    tile="reverse",
    held="",
    newest="reverse bold underline",
    end="bold underline",
    double="bold underline",
    marker="bold",
)


@dataclass(frozen=True, slots=True)
class LogLine:
    """An event in words: its number, who, what, and what was noted of it."""

    number: int
    who: str
    what: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """All that a picture shows besides the table.

    ``names``, ``totals`` (the points of the rounds before) and ``callings`` (the names as the log has them) are by
    seat; ``shown`` are the seats whose hands are to be seen. ``title``/``corner`` and ``round``/``place`` stand at the
    left and right of the first two lines, ``progress`` (0 to 1) is how much of the round is over, ``log`` the last
    events, ``situation`` what is to be done, ``keys`` the last line. ``newest`` is the tile that was just played.
    """

    scene: Scene
    names: Sequence[str]
    totals: Sequence[int]
    callings: Sequence[str] = ()
    shown: frozenset[int] = frozenset()
    title: str = ""
    corner: str = ""
    round: str = ""
    place: str = ""
    progress: float = 0.0
    situation: str = ""
    log: Sequence[LogLine] = ()
    keys: str = ""
    newest: Tile | None = None


@dataclass(slots=True)
class Pen:
    """How to draw: signs, styles and the width of the picture."""

    width: int
    glyphs: Glyphs = UNICODE
    styles: Styles = field(default_factory=Styles)


# ------------------------------------------------------------------------------------------------- the picture


def draw(picture: Picture, pen: Pen, height: int | None = None) -> list[Text]:
    """The lines of ``picture``: none is wider than the pen's width, and there are exactly ``height`` of them, or as
    many as it takes where ``height`` is None. For a screen that is too small they say so."""
    scene = picture.scene
    players = scene.rules.players
    if height is not None and (height < least_height(players) or pen.width < MIN_WIDTH):
        return _too_small(players, pen, height)
    shown = [seat for seat in sorted(picture.shown) if seat in scene.hands]
    everything = len(shown) == players
    columns = _Columns.of(picture, pen.width)
    layout = plan(height, players, "all" if everything else "one" if picture.shown else "none", columns.train)
    lines = []
    if picture.title or layout.padded:
        lines.append(_ends_of_line(pen, f" {picture.title}", picture.corner, pen.styles.strong))
    lines.append(_ends_of_line(pen, f" {picture.round}", picture.place))
    if layout.rules or not layout.padded:
        lines.append(_rule(pen, picture.progress))
    lines += _table(picture, pen, layout, columns, shown if everything else [])
    if layout.rules == 2 or not layout.padded:
        lines.append(_rule(pen))
    lines += _situation(picture, pen, layout, [] if everything else shown)
    lines += _log(picture, pen, layout)
    if height is not None:
        lines += [Text()] * (height - len(lines) - 1)
        lines.append(Text(_fit(f" {picture.keys}", pen.width), pen.styles.quiet))
    return lines


def render(picture: Picture, width: int, height: int | None = None) -> Group:
    """``picture`` as something that rich can print."""
    return Group(*draw(picture, Pen(width), height))


def _too_small(players: int, pen: Pen, height: int) -> list[Text]:
    need = f"{MIN_WIDTH} columns and {least_height(players)} lines"
    words = f"The table needs {need}. Make the window larger, or press q to quit."
    return (wrapped(words, pen.width) + [Text()] * height)[:height]


def wrapped(text: str, width: int) -> list[Text]:
    """``text`` in lines of ``width``."""
    return _wrap([Text(word) for word in text.split()], width)


# --------------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True, slots=True)
class _Columns:
    """How wide the columns are: names, open ends, trains."""

    name: int
    ends: int
    train: int

    @staticmethod
    def of(picture: Picture, width: int) -> _Columns:
        name = _name_width(picture.names, width)
        ends = 4
        if picture.scene.rules.double_answer == "chickenfoot":
            ends = 14 if width >= _WIDE else 8
        return _Columns(name, ends, width - _BESIDE - name - ends)


def _name_width(names: Sequence[str], width: int) -> int:
    return min(max([7, *map(cell_len, names)]), 20 if width >= _WIDE else 10)


# turn, blank, seat (2), blank, [name], blank, hand (4), blank, score (5), two blanks, [ends], blank, marker, blank;
# and a blank behind the train
_BESIDE: Final = 5 + 1 + 4 + 1 + 5 + 2 + 3 + 1


def _table(picture: Picture, pen: Pen, layout: Layout, columns: _Columns, shown: Sequence[int]) -> list[Text]:
    """The heads of the columns and a row for each train, ``shown`` seats with their hands."""
    scene = picture.scene
    over = bool(scene.scores)
    heads = ["", "seat", "hand", "score", "pips" if over else "ends", "", "hands" if layout.in_place else "trains"]
    lines = [_row(columns, heads, pen.styles.quiet)]
    block = 1  # lines as far as the end of a train and a hand
    for train in (*range(scene.rules.players), MEXICAN):
        if layout.in_place and train in shown:
            body = _flow(_held(scene, train, pen), columns.train, 1, pen)
        else:
            body = _flow(_tiles(scene, train, picture.newest, pen), columns.train, layout.train, pen)
        ends = _ends(scene, train, columns.ends, layout.train, pen) if not over else []
        hand = layout.hand if train in shown else 0
        held = _flow(_held(scene, train, pen), pen.width - 6, hand, pen) if hand else []
        for number in range(max(1, len(body), len(ends))):
            line = _left(picture, train, columns, pen) if number == 0 else Text(" " * (columns.name + 18))
            if number == 0 and over and train != MEXICAN:
                line.append(f"{scene.scores[train]:{columns.ends}} ", pen.styles.strong)
            elif number < len(ends):
                line.append_text(ends[number]).append(" ")
            else:
                line.append(" " * (columns.ends + 1))
            marked = number == 0 and train != MEXICAN and scene.markers[train]
            line.append(f"{pen.glyphs.marker} " if marked else "  ", pen.styles.marker if marked else "")
            lines.append(line.append_text(body[number]) if number < len(body) else line)
        lines += [Text("     ").append_text(row) for row in held]
        block += layout.train + hand
        lines += [Text()] * (block - len(lines)) if layout.padded else []
    return lines


def _left(picture: Picture, train: int, columns: _Columns, pen: Pen) -> Text:
    """A row as far as the open ends: whose turn, seat, name, tiles in hand, score."""
    scene = picture.scene
    if train == MEXICAN:
        return Text(_fit("   M Mexican train", columns.name + 18))
    turn = train == scene.turn
    name = f"{pen.glyphs.turn if turn else ' '} {train + 1:2} {_fit(picture.names[train], columns.name)}"
    line = Text().append(name, pen.styles.turn if turn else "")
    size = scene.hand_sizes[train]
    line.append(f" {size:4}", pen.styles.strong if size <= 1 else "")
    total = picture.totals[train] + (scene.scores[train] if scene.scores else 0)
    return line.append(f" {total:5}  ")


def _row(columns: _Columns, words: Sequence[str], style: str) -> Text:
    turn, name, hand, score, ends, _, train = words
    left = f"{turn:5}{name:{columns.name}} {hand:>4} {score:>5}  {ends:>{columns.ends}}"
    return Text(f"{left}   {train}", style)


def _ends(scene: Scene, train: int, width: int, most: int, pen: Pen) -> list[Text]:
    """The open ends of a train in lines of ``width``, flush right; those where a legal move goes are coloured."""
    usable = {move.match for move in scene.moves if move.train == train}
    words = [Text(str(value), pen.styles.end if value in usable else "") for value in scene.ends[train]]
    lines = _wrap(words, width)
    while len(lines) > most:
        words = (
            [*words[:-2], Text(pen.glyphs.cut)] if words[-1].plain == pen.glyphs.cut else [*words, Text(pen.glyphs.cut)]
        )
        lines = _wrap(words, width)
    return [Text(" " * (width - line.cell_len)).append_text(line) for line in lines]


# ------------------------------------------------------------------------------------------------------- tiles


def _tiles(scene: Scene, train: int, newest: Tile | None, pen: Pen) -> list[Text]:
    """The tiles of a train, each with the brackets that stand at it."""
    words: list[Text] = []
    before = ""
    for piece in chain(scene, train):
        if piece == "(":
            before += piece
        elif piece == ")":
            words[-1].append(piece)
        else:
            assert isinstance(piece, Link)
            words.append(Text(before).append_text(_table_tile(piece, newest, pen)))
            before = ""
    return words


def _table_tile(link: Link, newest: Tile | None, pen: Pen) -> Text:
    """A tile as it lies: the side that touches the hub's side first."""
    move, styles = link.move, pen.styles
    face = styles.newest if move.tile == newest else styles.tile
    if link.need:
        return Text(f"{move.match}{pen.glyphs.side}{move.open}!", styles.double).append(
            str(link.need) if link.need > 1 else "", styles.double
        )
    text = Text(f"{move.match}{pen.glyphs.side}", face)
    return text.append(str(move.open), styles.end if link.open else face)


def _held(scene: Scene, seat: int, pen: Pen) -> list[Text]:
    """The tiles of a hand, those that may be played coloured."""
    playable = {move.tile for move in scene.moves} if seat == scene.turn else set()
    tiles = scene.hands.get(seat, ())
    return [
        Text(f"{tile.low}{pen.glyphs.side}{tile.high}", pen.styles.end if tile in playable else pen.styles.held)
        for tile in tiles
    ]


def _flow(words: list[Text], width: int, most: int, pen: Pen) -> list[Text]:
    """``words`` in at most ``most`` lines of ``width``. What is too much is left out behind the first ones: the end
    of a train matters more than its middle."""
    widths = [word.cell_len for word in words]
    needed = _count_lines(widths, width)
    if needed > most:
        head = max(1, len(words) * most // (4 * needed))
        for left_out in range(1, len(words) - head + 1):
            cut = f"{pen.glyphs.cut}{left_out}{pen.glyphs.cut}"
            if _count_lines([*widths[:head], cell_len(cut), *widths[head + left_out :]], width) <= most:
                break
        words = [*words[:head], Text(cut, pen.styles.quiet), *words[head + left_out :]]
    return _wrap(words, width)[:most]


def _count_lines(widths: Sequence[int], width: int) -> int:
    """How many lines ``_wrap`` makes of words that are so wide."""
    lines, used = 0, width
    for word in widths:
        used += 1 + word
        if used > width:
            lines += 1
            used = word
    return lines


def _wrap(words: Sequence[Text], width: int) -> list[Text]:
    """``words`` in lines of at most ``width``, with blanks between them; a longer word is cut."""
    lines: list[Text] = []
    for word in words:
        if lines and lines[-1].cell_len + 1 + word.cell_len <= width:
            lines[-1].append(" ").append_text(word)
            continue
        whole = Text().append_text(word)
        whole.truncate(width)
        lines.append(whole)
    return lines


# ------------------------------------------------------------------------------------------------ below the table


def _situation(picture: Picture, pen: Pen, layout: Layout, shown: Sequence[int]) -> list[Text]:
    """What is to be done, and the hand of one seat."""
    scene = picture.scene
    seat = shown[0] if shown else None
    right = ""
    if seat is not None:
        tiles = scene.hands[seat]
        pips = sum(tile.low + tile.high for tile in tiles)
        right = f"{len(tiles)} tiles, {pips} pips"
        if seat != scene.turn:
            right = f"{picture.names[seat]}: {right}"
    lines = [_ends_of_line(pen, f" {picture.situation}", right, pen.styles.strong)]
    if layout.hand and picture.shown and len(picture.shown) < scene.rules.players:
        words = [] if seat is None else _held(scene, seat, pen)
        held = _flow(words, pen.width - 2, layout.hand, pen)
        rows = layout.hand if layout.padded else len(held)
        lines += [Text("  ").append_text(row) for row in (held + [Text()] * rows)[:rows]]
    if scene.moves and not layout.padded:  # on paper nothing is coloured
        moves = wrapped(" ".join(["moves", *map(str, scene.moves)]), pen.width - 2)
        lines += [Text("  ").append_text(row) for row in moves]
    return lines


def _log(picture: Picture, pen: Pen, layout: Layout) -> list[Text]:
    """The last events, the newest at the bottom."""
    lines = log_lines(picture.log, picture.callings, pen)
    if not layout.padded:
        return lines
    return [Text()] * (layout.log - len(lines)) + lines[len(lines) - layout.log :]


def log_lines(entries: Sequence[LogLine], callings: Sequence[str], pen: Pen) -> list[Text]:
    """Events in words; what is too long for a line goes on in the next one."""
    name = _name_width(callings, pen.width)
    lines = []
    for entry in entries:
        newest = entry is entries[-1]
        style = pen.styles.strong if newest and len(entries) > 1 else ""
        note = f"{entry.note} " if entry.note else ""
        words = [Text(word) for word in entry.what.split()]
        left = f"{entry.number or '':>5} {_fit(entry.who, name)} "
        for number, part in enumerate(_wrap(words, pen.width - len(left) - cell_len(note) - 1) or [Text()]):
            start = left if number == 0 else " " * (name + 7)
            lines.append(_ends_of_line(pen, start + part.plain, "" if number else entry.note, style))
    return lines


def _rule(pen: Pen, progress: float = 0.0) -> Text:
    """A line across, drawn thicker as far as ``progress``."""
    done = round(progress * pen.width)
    return Text(pen.glyphs.done * done).append(pen.glyphs.line * (pen.width - done), pen.styles.quiet)


def _ends_of_line(pen: Pen, left: str, right: str, style: str = "") -> Text:
    """``left`` and ``right`` at the two ends of a line; ``left`` gives way."""
    right = _fit(f" {right} ", min(cell_len(right) + 2, pen.width // 2)) if right else ""
    room = pen.width - cell_len(right)
    if cell_len(left) > room:
        left = _fit(left, room - cell_len(pen.glyphs.cut)) + pen.glyphs.cut
    return Text().append(_fit(left, room), style).append(right)


def _fit(text: str, width: int) -> str:
    """``text`` cut or filled with blanks to ``width`` columns."""
    return set_cell_size(text, width)
