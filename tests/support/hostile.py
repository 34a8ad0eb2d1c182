"""Words of those who mean harm, and what must become of them wherever they are shown."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from rich.cells import cell_len

# What an engine can say: printable ASCII.
SAID: Final = {
    "closing": "1.0[/beta]",
    "markup": "[bold red]big[/] [link=http://x.example]here[/link] [/x][@click=f()]",
    "emoji": ":smile::skull:",
    "html": """<script>alert("1")</script><img src=x onerror='f()'>&amp;""",
    "formula": '=HYPERLINK("http://x.example?"&A1,"see")',
    "minus": "-1+cmd|' /C calc'!A0",
    "format": "{0} %s {task.description} $HOME `id` $(id)",
    "long": "x" * 10_000,
    "words": "word [/x] " * 1000,
}

# What else somebody else's file can hold.
WRITTEN: Final = {
    "title": "\x1b]0;title\x07",
    "clipboard": "\x1b]52;c;Zm9v\x1b\\",
    "screen": "\x1b[2J\x1b[1;1H\x1b[31m",
    "C1": "\x9b31m\x9d0;t\x9c\x90",
    "direction": "\u202eabc\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
    "unseen": "\u200b\u200c\u200d\u2060\ufeff\u3164\u115f\U000e0041",
    "lines": "one\r\ntwo\u2028three\u2029four\x85five\x0bsix\x0c",
    "controls": "".join(map(chr, range(32))) + "\x7f",
    "nul": "a\0b",
    "half": "\ud800x\udfff",
    "tower": "a" + "\u0301" * 200,
    "wide": "\u4e09" * 50,
    "at": "@SUM(1+1)",
    "tab": "\t=1+1",
    "blank": " =1+1",
    "wide equals": "\uff1d1+1",
    "quote": "'=1+1",
}
EVERY: Final = SAID | WRITTEN
_SHORT: Final = " ".join(words for words in SAID.values() if len(words) < 1000)
HEARD: Final = {"all": _SHORT, "long": SAID["long"]}
"""All that an engine can say, in few texts, for what takes its time."""
READ: Final = {"all": SAID["formula"] + "".join(WRITTEN.values()) + _SHORT, "long": SAID["long"]}
"""The same of what a file can hold."""

_BEGINNINGS: Final = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER: Final = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?")


def check_terminal(text: str, width: int | None = None) -> None:
    """Nothing in ``text`` harms a terminal, and no line is wider than ``width``."""
    assert "Traceback" not in text
    for line in text.split("\n"):
        assert line.replace("\t", " ").isprintable(), ascii(line)
        assert not re.search("[\u0300-\u036f]{4}", line), "a tower"
        if width is not None:
            assert cell_len(line) <= width, line


def check_page(html: str, words: str) -> None:
    """Nothing in a page is of an element, an attribute or a script that ``words`` made."""
    check_terminal(html)
    assert not re.search(r"<script|<img|onerror=|javascript:", html.replace("&lt;", ""), re.I) or "&lt;script" in html
    seen = _Tags()
    seen.feed(html)
    assert not {"script", "img", "iframe", "a "} & seen.tags
    assert not {name for name in seen.attributes if name.startswith("on") or name == "src"}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def check_table(text: str) -> list[list[str]]:
    """The rows of a CSV text, in which no cell is a formula."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    for row in rows:
        assert len(row) == len(rows[0])
        for cell in row:
            assert not cell.lstrip(" \u3000").startswith(_BEGINNINGS) or _NUMBER.fullmatch(cell), cell
    return rows


def uncell(cell: str) -> str:
    """The text of a cell, as docs/reference/records.md says."""
    return cell.removeprefix("'")


def check_json(text: str) -> object:
    """What a JSON text holds; nothing in the text harms a terminal."""
    check_terminal(text)
    return json.loads(text)


ENGINE: Final = """
import json, sys
said = json.loads(open({words!r}).read())
legal = []
def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
def complain(text):
    sys.stderr.buffer.write(text.encode("utf-8", "surrogatepass") + b"\\n")
    sys.stderr.flush()
for line in sys.stdin:
    words = line.split()
    if not words:
        continue
    if words[0] == "caboose":
        complain(said["stderr"])
        for name in ("name", "author", "version"):
            say("id " + name + " " + said["text"])
        say("option name Deep type spin default 1 min 0 max 9")
        say("option name Book type string default " + said["text"])
        say("option name Kind type combo default a" + said["word"] + " var a" + said["word"] + " var b" + said["word"])
        say("cabooseok 1")
    elif words[0] == "isready":
        say("readyok")
    elif words[0] == "legal":
        legal = words[1:]
    elif words[0] == "quit":
        break
    elif words[0] == "go":
        say("info string " + said["text"])
        say(said["answer"] or "bestmove " + words[1] + " " + legal[0])
"""


def engine_of(folder: Path, text: str, *, answer: str = "", stderr: str = "") -> list[str]:
    """The command of an engine that says ``text`` wherever it can say something of its own, ``stderr`` on standard
    error, and ``answer`` in place of its moves."""
    words = folder / "words.json"
    word = "".join(c for c in text if c not in " \t")[:200]
    words.write_text(json.dumps({"text": text, "word": word, "answer": answer, "stderr": stderr or text}))
    file = folder / "hostile.py"
    file.write_text(ENGINE.replace("{words!r}", repr(str(words))))
    return [sys.executable, "-I", "-S", str(file)]
