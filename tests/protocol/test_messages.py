"""The single lines of the protocol: what is written is read back; what cannot be read is refused with a reason."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caboose.engine.bot_api import Candidate, Info, Limits, Option
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Event
from caboose.engine.rules.tiles import MEXICAN, TILES, Tile
from caboose.protocol import messages
from caboose.protocol.notation import notation
from caboose.protocol.notation.lines import MAX_LINE, LineSplitter, ProtocolError, shown, text_of
from caboose.protocol.notation.observation import OBSERVATION_WORDS
from paths import DOCS

PROTOCOL_PAGE = DOCS / "reference" / "protocol.md"

# --- what there is to write --------------------------------------------------------------------------------------

tiles = st.sampled_from(TILES)
seats = st.integers(0, 13)
trains = st.integers(0, MEXICAN)
words = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=12)
texts = st.lists(words, min_size=1, max_size=5).map(" ".join)


@st.composite
def tile_moves(draw: st.DrawFn) -> Move:
    tile = draw(tiles)
    return Move.of(tile, draw(trains), draw(st.sampled_from(tile)))


moves = st.one_of(tile_moves(), st.just(STOP))
events = st.one_of(
    st.builds(Event, st.sampled_from(["mark", "pass", "stop", "hub", "draw"]), seats),
    st.builds(Event, st.just("draw"), seats, tiles),
    st.builds(lambda seat, move: Event("play", seat, move.tile, move), seats, tile_moves()),
)


@st.composite
def options(draw: st.DrawFn) -> Option:
    name, kind = draw(words), draw(st.sampled_from(["check", "spin", "combo", "string", "button"]))
    if kind == "check":
        return Option(name, kind, default=draw(st.booleans()))
    if kind == "spin":
        low, default, high = sorted(draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3)))
        return Option(name, kind, default=default, min=low, max=high)
    if kind == "combo":
        choices = tuple(draw(st.lists(words, min_size=1, max_size=4, unique=True)))
        return Option(name, kind, default=draw(st.sampled_from(choices)), choices=choices)
    return Option(name, kind, default=draw(st.one_of(st.just(""), texts)) if kind == "string" else None)


counts = st.integers(0, 10**15 - 1)
times = st.integers(0, 10**12).map(float)
scores = st.integers(-100_000, 100_000).map(lambda hundredths: hundredths / 100)


@st.composite
def some_limits(draw: st.DrawFn) -> Limits:
    limits = Limits(
        movetime=draw(st.none() | times),
        clock=draw(st.none() | times),
        roundcap=draw(st.none() | times),
        gamecap=draw(st.none() | times),
        nodes=draw(st.none() | st.integers(1, 10**15 - 1)),
        playouts=draw(st.none() | st.integers(1, 10**15 - 1)),
        infinite=draw(st.booleans()),
    )
    if limits.clock is not None:
        limits.increment = draw(times)
        limits.allowance = draw(times)
    given_limits = limits.movetime, limits.clock, limits.roundcap, limits.gamecap, limits.nodes, limits.playouts
    if all(limit is None for limit in given_limits):
        limits.infinite = True
    return limits


infos = st.builds(
    Info,
    time=times,
    nodes=counts,
    nps=counts,
    score=st.none() | scores,
    candidates=st.lists(st.builds(Candidate, moves, counts, scores), max_size=5).map(tuple),
)


# --- round trips -------------------------------------------------------------------------------------------------


@given(moves)
def test_a_move_is_read_back(move: Move) -> None:
    assert notation.parse_move(str(move)) is move


@given(events)
def test_an_event_is_read_back(event: Event) -> None:
    assert notation.parse_event(notation.event_text(event)) == event


@given(st.lists(tiles))
def test_tiles_are_read_back(hand: list[Tile]) -> None:
    assert notation.parse_tiles(notation.tiles_text(hand)) == hand


@given(options())
def test_an_option_is_read_back(option: Option) -> None:
    assert messages.parse_option_line(messages.option_line(option)) == option


@given(words, st.one_of(st.just(""), texts))
def test_a_setoption_is_read_back(name: str, value: str) -> None:
    assert messages.parse_setoption(messages.setoption_line(name, value)) == (name, value)


@given(st.integers(1, 10**15 - 1), some_limits())
def test_a_go_is_read_back(number: int, limits: Limits) -> None:
    assert messages.parse_go(messages.go_line(number, limits)) == (number, limits)


def test_limits_are_rounded_down_to_whole_milliseconds() -> None:
    assert messages.go_line(3, Limits(movetime=19.99)) == "go 3 movetime 19"
    overdrawn = Limits(clock=0, increment=0.5)
    overdrawn.clock = -2.5
    assert messages.go_line(3, overdrawn) == "go 3 clock 0 increment 0"
    assert messages.go_line(3, Limits(movetime=float("inf"))) == "go 3 movetime 999999999999999"


@given(st.integers(1, 10**15 - 1), moves)
def test_a_bestmove_is_read_back(number: int, move: Move) -> None:
    assert messages.parse_bestmove(messages.bestmove_line(number, move)) == (number, move)


@given(infos)
def test_an_info_is_read_back(info: Info) -> None:
    assert messages.parse_info_line(messages.info_line(info)) == info


def test_an_info_string_says_nothing_to_us() -> None:
    assert messages.parse_info_line("info string any thing: at all") is None


# --- what cannot be read -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("go", "go: number: the number is missing"),
        ("go x", "go: number: 'x'"),
        ("go -1", "go: number: '-1'"),
        ("go 0", "go: number: '0'"),
        ("go 1.5", "go: number: '1.5'"),
        ("go 1234567890123456", "at most 15 digits"),
        ("go 1 movetime", "movetime: the number is missing"),
        ("go 1 movetime fast", "movetime: 'fast'"),
        ("go 1 nodes 0", "nodes: '0'"),
        (
            "go 1 depth 5",
            "limit 'depth', expected movetime, clock, increment, allowance, roundcap, gamecap, nodes, playouts or",
        ),
        ("go 1 nodes 5 nodes 6", "nodes: expected only once"),
        ("go 1 increment 5", "increment: expected clock too"),
    ],
)
def test_a_go_that_cannot_be_read_is_refused(line: str, names: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        messages.parse_go(line)
    assert names in str(refused.value)


@pytest.mark.parametrize(
    "line",
    [
        "option",
        "option name Seed",
        "option name Seed type",
        "option name Seed type number default 1",
        "option name Seed type spin default 1",
        "option name Seed type spin default 1 min 2 max 3",
        "option name Seed type spin default one min 0 max 3",
        "option name Seed type spin min 0 max 3 default 1",
        "option name Loud type check",
        "option name Loud type check default yes",
        "option name Style type combo default calm",
        "option name Style type combo default calm var wild",
        "option name Style type combo default calm var calm var",
        "option name Forget type button default now",
        "option name Big name type check default true",
    ],
)
def test_an_option_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ProtocolError, match=r"expected|not|nothing"):
        messages.parse_option_line(line)


@pytest.mark.parametrize(
    "line",
    [
        "bestmove",
        "bestmove 1",
        "bestmove 1-2@M",
        "bestmove one 1-2@M",
        "bestmove 1 1-2",
        "bestmove 1 1-2@M 3-4@M",
        "bestmove 1 pass",
    ],
)
def test_a_bestmove_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ProtocolError, match=r"^bestmove: .*expected"):
        messages.parse_bestmove(line)


@pytest.mark.parametrize(
    "line",
    [
        "info depth 5",
        "info time",
        "info time -1",
        "info nps 1.5",
        "info score nan",
        "info score inf",
        "info score 1e5",
        "info score",
        "info candidates 1-2@M",
        "info candidates 1-2@M:5:1 1-2:5:1",
        "info candidates 1-2@M:five:1",
        "info candidates 1-2@M:5:",
    ],
)
def test_an_info_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ProtocolError, match=r"^info: "):
        messages.parse_info_line(line)


@pytest.mark.parametrize("line", ["caboose", "caboose one", "caboose 0", "caboose 1 1", "caboose -1"])
def test_a_greeting_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ProtocolError, match=r"^caboose: "):
        messages.parse_hello(line)


def test_the_version_is_the_highest_that_both_speak() -> None:
    assert messages.parse_hello("caboose 1") == 1
    assert messages.parse_hello("caboose 7") == 1
    assert messages.parse_cabooseok("cabooseok 1") == 1
    for line in ("cabooseok", "cabooseok 2", "cabooseok one"):
        with pytest.raises(ProtocolError, match="expected 1"):
            messages.parse_cabooseok(line)


@pytest.mark.parametrize("line", ["id", "id name", "id colour red", "name x"])
def test_an_id_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ProtocolError, match="expected id name"):
        messages.parse_id(line)


def test_what_an_engine_says_of_itself_is_kept_short() -> None:
    assert messages.parse_id("id  name  Some Bot  2 ") == ("name", "Some Bot  2")
    assert messages.parse_id(f"id author {'x' * 60_000}") == ("author", "x" * messages.MAX_ABOUT)


@pytest.mark.parametrize("line", ["setoption", "setoption Seed 3", "setoption name", "setoption name Seed to 3"])
def test_a_setoption_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ProtocolError, match=r"^setoption: expected"):
        messages.parse_setoption(line)


# --- bytes and lines ---------------------------------------------------------------------------------------------


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_lines_do_not_depend_on_the_pieces_in_which_they_come(data: bytes, cuts: list[int]) -> None:
    splitter = LineSplitter()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    lines = [line for a, b in itertools.pairwise(edges) for line in splitter.feed(data[a:b])]
    whole = data.split(b"\n")
    last = whole.pop().removesuffix(b"\r")
    assert lines == [line.removesuffix(b"\r") for line in whole]
    assert splitter.finish() == ([last] if last else [])


@pytest.mark.parametrize("piece", [1_000, 65_536, 10**6])
@pytest.mark.parametrize("size", [MAX_LINE - 1, MAX_LINE, MAX_LINE + 1, MAX_LINE + 2, 300_000])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_a_line_that_is_too_long_is_given_once_and_cut(piece: int, size: int, ending: bytes) -> None:
    data = b"before" + ending + b"x" * size + ending + b"after" + ending
    splitter = LineSplitter()
    lines = [line for at in range(0, len(data), piece) for line in splitter.feed(data[at : at + piece])]
    assert lines == [b"before", b"x" * min(size, MAX_LINE + 1), b"after"]


def test_text_is_printable_ascii() -> None:
    assert text_of(b"hand\t1-2 ~") == "hand\t1-2 ~"
    for line, names in [
        (b"ab\0c", "byte 3 is 0x00"),
        (b"ab\x1b", "byte 3 is 0x1b"),
        (b"\x7f", "byte 1 is 0x7f"),
        ("M\u00fcller".encode(), "byte 2 is 0xc3"),
        (b"x" * (MAX_LINE + 1), "too long, expected at most 65536 bytes"),
    ]:
        with pytest.raises(ProtocolError) as refused:
            text_of(line)
        assert names in str(refused.value)


@given(st.binary(max_size=60))
def test_whatever_is_shown_is_printable(raw: bytes) -> None:
    assert shown(raw).isascii()
    assert shown(raw).isprintable()
    assert len(shown(raw, 10)) <= 2 + 4 * 10 + 3


# --- the page ----------------------------------------------------------------------------------------------------


def test_the_page_has_every_line_and_every_word_of_the_grammar() -> None:
    grammar = PROTOCOL_PAGE.read_text(encoding="utf-8").partition("## The whole grammar")[2]
    quoted = set(re.findall(r'"([a-z]+)"', grammar))
    assert quoted >= OBSERVATION_WORDS
    known = {"caboose", "setoption", "isready", "newgame", "go", "stop", "quit", "id", "option", "capability"}
    known |= {
        "cabooseok",
        "readyok",
        "info",
        "bestmove",
        "error",
        "movetime",
        "clock",
        "increment",
        "nodes",
        "infinite",
    }
    assert quoted >= known
