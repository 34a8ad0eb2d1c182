"""The help page of the viewer."""

from __future__ import annotations

from caboose.arena.console.console import Text
from caboose.arena.viewer.draw import Pen


def help_lines(pen: Pen, height: int) -> list[Text]:
    """The keys, and what the signs of a picture mean, in ``height`` lines."""
    glyphs, styles = pen.glyphs, pen.styles
    keys = (
        ("right left   l h", "an event on, back"),
        ("down up   j k", "a turn"),
        ("PgDn PgUp   r R", "a round"),
        ("n p   > <", "a game of the file"),
        ("Home End   g G", "start, end of the round; again: of the game"),
        ("space   + -", "play by itself, pause; faster, slower"),
        ("a", "all hands, or that of the seat in turn"),
        ("s S   1 to 9", "the hand of one seat"),
        ("x", "no hands, or that of the seat in turn"),
        ("?   q Esc", "this page; quit"),
    )
    side = glyphs.side
    held = Text(f"3{side}4", styles.held).append(" ", "none").append(f"5{side}6", styles.end)
    signs = (
        (Text(glyphs.turn, styles.turn), "whose turn it is"),
        (Text(glyphs.marker, styles.marker), "a marker: everybody may play on this train"),
        (Text(f"12{side}", styles.tile).append("5", styles.end), "a tile on a train, the hub's side first; 5 is open"),
        (Text(f"12{side}5", styles.newest), "the tile that was just played"),
        (Text(f"5{side}5!", styles.double), "an open double; with a number, how many tiles it wants"),
        (Text("( )"), "a branch: a chickenfoot double splits a train"),
        (Text(f"{glyphs.cut}7{glyphs.cut}", styles.quiet), "seven tiles are left out"),
        (held, "tiles in a hand; one that may be played"),
        (Text("ends").append(" 5", styles.end), "what is open on each train; where the seat in turn may play"),
    )
    lines = [Text(" Keys", styles.strong)]
    lines += [Text(f"   {names:<17} {what}") for names, what in keys]
    lines.append(Text(" Signs", styles.strong))
    for sign, what in signs:
        lines.append(Text("   ").append_text(sign).append(" " * (18 - sign.cell_len)).append(what))
    for line in lines:
        line.truncate(pen.width)
    return (lines + [Text()] * height)[:height]
