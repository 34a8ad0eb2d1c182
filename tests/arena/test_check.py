"""``caboose check``: what passes it, what each kind of mistake fails, and that no engine hangs it."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from caboose import bots
from caboose.arena.blocks.contestants import builtin_command
from caboose.arena.conformance.run import STEPS
from caboose.arena.conformance.steps import FAILED, Report, Result
from caboose.arena.conformance.text import told_results
from caboose.cli.main import run
from check_pool import Case, check_all, outcomes
from fault_engines import nothing_left, raw
from paths import DOCS

PAGE = DOCS / "reference" / "protocol.md"

# A whole engine in which one thing can be exchanged. It answers with the first legal move.
GOOD = {
    "caboose": 'say("id name good\\nid version 2\\ncabooseok 1")',
    "isready": 'say("readyok")',
    "legal": "move = rest[0]",
    "go": 'say(f"bestmove {rest[0]} {move}") if rest else None',
    "quit": "break",
    "": "",
}


def words_of(folder: Path, before: str = "", name: str = "good", **changed: str) -> tuple[str, ...]:
    """The words of the command of the good engine with some of its answers changed; ``before`` is done first. An
    ``other`` answer is given to all other words."""
    answers = {**GOOD, **changed}
    code = (
        f'{before}\nmove = "stop"\nfor line in iter(sys.stdin.readline, ""):\n    word, *rest = line.split() or [""]\n'
    )
    for word, answer in answers.items():
        if word != "other":
            code += f"    if word == {word!r}:\n        {answer or 'pass'}\n"
    if "other" in changed:
        code += f"    if word not in {sorted(GOOD)}:\n        {changed['other']}\n"
    return tuple(raw(folder, code, name))


def engine(folder: Path, before: str = "", **changed: str) -> str:
    """Its command line."""
    return shlex.join(words_of(folder, before, **changed))


def checked(capsys: pytest.CaptureFixture[str], command: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON report of a check."""
    with nothing_left():
        code = run(["check", command, "--json", *arguments])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (1 if report["failed"] else 0)
    return code, report


# --- the steps themselves ----------------------------------------------------------------------------------------


def test_there_are_many_steps_and_each_has_a_name_of_its_own() -> None:
    names = [step.name for step in STEPS]
    assert len(names) >= 40
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+\.[a-z0-9-]+", name) for name in names)
    groups = [step.group for step in STEPS]
    assert [group for n, group in enumerate(groups) if n == 0 or group != groups[n - 1]] == list(dict.fromkeys(groups))


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_what_a_step_quotes_stands_on_the_page_under_its_heading(step: Any) -> None:
    sections = re.split(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    texts = {"": sections[0]} | dict(zip(sections[1::2], sections[2::2], strict=True))
    assert " ".join(step.says.split()) in " ".join(texts[step.section].split())


# --- engines that pass -------------------------------------------------------------------------------------------


BUILT_IN = {
    "greedy": (),
    "mcts": ("start.move", "repeat", "lines", "output.info", "options", "time", "end.input", "players.14"),
    "planner": ("start.move", "rules", "options"),
    "random": ("start.move", "repeat", "options"),
}


def test_an_option_is_set_at_each_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    greeting = 'say("option name Seed type spin default 0 min 0 max 9\\ncapability deterministic\\ncabooseok 1")'
    told = 'sys.stderr.write(line) if word == "setoption" else None'
    command = engine(tmp_path, caboose=greeting, other=told)
    _, report = checked(capsys, command, "--option", "Seed=5", "--step", "repeat.restart", "--step", "options.default")
    by_name = {step["name"]: step for step in report["steps"]}
    assert by_name["repeat.restart"]["outcome"] == "passed"
    assert by_name["repeat.restart"]["stderr"].count("Seed value 5") == 3
    assert by_name["options.default"]["stderr"] == "setoption name Seed value 5\n"


# --- engines that do not -----------------------------------------------------------------------------------------

LATE = 'time.sleep(0.2 if " 1" in line[-3:] else 0), ' + GOOD["go"]
OPTION = "option name Size type spin default 5 min 1 max 9"

MISTAKES = {
    "answers-twice": (["play.once"], {"go": 'say(f"bestmove {rest[0]} {move}\\nbestmove {rest[0]} {move}")'}),
    "counts-by-itself": (
        ["play.number"],
        {"before": "count = 0", "go": 'count += 1; say(f"bestmove {count} {move}")'},
    ),
    "illegal": (["start.move"], {"go": 'say(f"bestmove {rest[0]} 18-18@M")'}),
    "unreadable-move": (["start.move"], {"go": 'say(f"bestmove {rest[0]} {move} please")'}),
    "refuses": (["start.move"], {"go": 'say(f"error go {rest[0]}: no")'}),
    "no-greeting": (["start.greeting"], {"caboose": 'say("uciok")'}),
    "bad-option-line": (["start.greeting"], {"caboose": 'say("option Size\\ncabooseok 1")'}),
    "later-version": (["start.version"], {"caboose": 'say(f"cabooseok {rest[0]}")'}),
    "forgets-to-flush": (["start.greeting"], {"caboose": 'sys.stdout.write("cabooseok 1\\n")'}),
    "late": (["time.tiny", "time.flag"], {"go": LATE}),
    "is-cold": (
        ["time.cold"],
        {"before": "cold = True", "go": "time.sleep(0.3 * cold); cold = False; " + GOOD["go"].partition(" if")[0]},
    ),
    "dies-of-a-word": (["lines.unknown"], {"other": 'sys.exit(3) if word == "fly" else None'}),
    "dies-of-a-setoption": (["options.unknown"], {"other": 'sys.exit(3) if word == "setoption" else None'}),
    "short-lines": (["lines.longest"], {"legal": "move = rest[0]; len(line) < 5000 or sys.exit(3)"}),
    "wants-one-blank": (["lines.blanks"], {"isready": 'say("readyok") if line == "isready\\n" else None'}),
    "chatters": (["output.words"], {"go": 'say(f"I think!\\nbestmove {rest[0]} {move}")'}),
    "bad-info": (["output.info"], {"go": 'say(f"info depth 3\\nbestmove {rest[0]} {move}")'}),
    "first-table-only": (
        ["play.two-tables", "lines.replaced"],
        {"before": "first = None", "legal": "first = first or rest[0]; move = first"},
    ),
    "no-last-line": (["end.quit"], {"quit": "pass"}),
    "ends-with-code": (["end.code"], {"quit": "sys.exit(2)"}),
    "outlives-its-input": (
        ["end.input", "end.referee-gone"],
        {"before": "import atexit; atexit.register(time.sleep, 60)"},
    ),
    "answers-quit-slowly": (
        ["end.quit-thinking"],
        {"caboose": 'say("capability stop\\ncabooseok 1")', "go": "time.sleep(60)"},
    ),
    "claims-to-be-deterministic": (
        ["repeat.new-game", "repeat.restart"],
        {
            # Another move in every game, also of other processes.
            "before": 'import os\nplayed = __file__ + ".played"',
            "caboose": 'say("capability deterministic\\ncabooseok 1")',
            "newgame": 'open(played, "ab").write(b"x")',
            "legal": "move = rest[os.path.getsize(played) % len(rest)]",
        },
    ),
    "takes-any-value": (["options.bounds", "options.values"], {"caboose": f'say("{OPTION}\\ncabooseok 1")'}),
    "refuses-its-own-default": (
        ["options.default", "options.spin"],
        {"caboose": f'say("{OPTION}\\ncabooseok 1")', "other": 'say("error no") if word == "setoption" else None'},
    ),
    "claims-to-stop": (
        ["time.stop"],
        {"caboose": 'say("capability stop\\ncabooseok 1")', "go": "time.sleep(0.5); " + GOOD["go"]},
    ),
    "answers-isready-while-thinking": (
        ["time.queue"],
        {
            "before": "waiting = []",
            "go": "waiting.append((rest[0], move))",
            "isready": 'say("readyok"); [say(f"bestmove {n} {m}") for n, m in waiting]; waiting = []',
        },
    ),
    "answers-stop-always": (["lines.idle-stop"], {"other": 'say(f"bestmove 1 {move}") if word == "stop" else None'}),
    "writes-too-long-a-line": (["start.ready"], {"isready": 'say("x" * 100000 + "\\nreadyok")'}),
    "writes-nul": (["start.ready"], {"isready": 'say("\\0\\nreadyok")'}),
}


MISSING = {
    "in-capitals": ({"go": "say(f'BestMove {rest[0]} {move}')"}, "expected bestmove in small letters"),
    "of-another-number": ({"go": "say(f'bestmove 999 {move}')"}, "number 999 where 1 was asked"),
    "to-standard-error": (
        {"go": "sys.stderr.write(f'bestmove {rest[0]} {move}\\n'); sys.stderr.flush()"},
        "to its standard error, expected on standard output",
    ),
    "with-a-mark": (
        {"go": "sys.stdout.buffer.write(b'\\xef\\xbb\\xbfbestmove 1 x\\n'); sys.stdout.flush()"},
        "a byte order mark stands before it",
    ),
    "none-ever": ({"go": "pass"}, "it has answered no go so far (does it flush its output?)"),
    "not-started": ({"before": "time.sleep(60)"}, "not read the question yet; --start-timeout SECONDS gives it longer"),
}


# --- engines that would hang it ----------------------------------------------------------------------------------

HANGING = {
    "from-the-start": "time.sleep(600)",
    "deaf-to-signals": "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)",
    "after-the-greeting": 'hear(); say("cabooseok 1")\ntime.sleep(600)',
    "endless": 'while True: say("info string " + "x" * 1000)',
    "endless-line": 'while True: sys.stdout.write("x" * 100000)',
    "reads-nothing-more": 'hear(); say("cabooseok 1\\nreadyok\\n" * 99)\ntime.sleep(600)',
}


FALLS_SILENT = {"before": "moves = 0", "go": "moves += 1; moves < 2 and " + GOOD["go"].partition(" if")[0]}


# --- what becomes of them ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The reports of all of them, checked at the same time. Nothing may be left of any."""
    folder = tmp_path_factory.mktemp("engines")
    cases = {name: Case(words=builtin_command(name), steps=steps) for name, steps in BUILT_IN.items()}
    for name, (steps, changed) in MISTAKES.items():
        words = words_of(folder, name=name, **changed)
        cases[name] = Case(words=words, steps=tuple(steps), patience=2, start=4, margin=50)
    for name, code in HANGING.items():  # they never answer
        cases[name] = Case(words=tuple(raw(folder, code, name)), patience=0.5, start=1)
    cases["falls-silent"] = Case(words=words_of(folder, name="silent", **FALLS_SILENT), patience=1)
    cases["good"] = Case(words=words_of(folder))
    for name, (changed, _) in MISSING.items():
        step = "start.greeting" if "before" in changed else "start.move"
        cases[name] = Case(words=words_of(folder, name=name, **changed), steps=(step,), patience=1, start=3)
    assert len(cases) == len(BUILT_IN) + len(MISTAKES) + len(HANGING) + len(MISSING) + 2
    with nothing_left():
        return check_all(cases, folder)


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_built_in_bots_pass(name: str, reports: dict[str, dict[str, Any]]) -> None:
    assert set(BUILT_IN) == set(bots.BOTS)
    report = reports[name]
    assert outcomes(report, "failed", "advice") == []
    assert report["engine"]["name"] == name
    assert BUILT_IN[name] or len(report["steps"]) == len(STEPS)
    assert len(report["steps"]) == report["passed"] + report["skipped"]
    for step in report["steps"]:
        assert step["outcome"] == "passed" or step["name"].startswith(("options.", "output.info"))


def test_the_good_engine_of_these_tests_passes(reports: dict[str, dict[str, Any]]) -> None:
    assert outcomes(reports["good"], "failed", "advice") == []
    assert reports["good"]["engine"] == {"name": "good", "version": "2", "options": [], "capabilities": []}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_fails_its_step(name: str, reports: dict[str, dict[str, Any]]) -> None:
    report = reports[name]
    assert outcomes(report, "failed", "advice") == MISTAKES[name][0]
    for step in report["steps"]:
        assert step["outcome"] == ("failed" if step["must"] else "advice")
        assert step["why"]
        assert any("sent" in said for said in step["exchange"]) or "note" in step["exchange"][0]


@pytest.mark.parametrize("name", HANGING)
def test_no_engine_hangs_the_check(name: str, reports: dict[str, dict[str, Any]]) -> None:
    """Here is nothing to wait for: it would have been in what made the reports."""
    assert outcomes(reports[name], "failed")[0].startswith("start.")
    assert len(reports[name]["steps"]) == len(STEPS)


def test_an_engine_that_falls_silent_is_given_up(reports: dict[str, dict[str, Any]]) -> None:
    report = reports["falls-silent"]
    assert report["failed"] and report["skipped"] > 50
    assert any(step["why"].startswith("nothing was answered in") for step in report["steps"])


def test_what_is_cold_is_told_with_its_figures(reports: dict[str, dict[str, Any]]) -> None:
    (step,) = reports["is-cold"]["steps"]
    told = r"the first moves of \d new processes took 3\d\d to [\d,]+ ms, and \d of them were late, .* --grace \d+0 in"
    assert not step["must"] and re.match(told, step["why"])


# --- what is printed ---------------------------------------------------------------------------------------------


def test_the_report_for_people_fits_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noise = "sys.stderr.write('wrong: ' + 'x' * 200 + chr(10))"
    bad = engine(tmp_path, other=f"({noise}, sys.exit(3)) if word == 'fly' else None", go=LATE)
    steps = [f"--step={name}" for name in ("start", "lines.unknown", "time.tiny")]
    assert run(["check", bad, *steps]) == 1
    verbose = capsys.readouterr().out
    assert run(["check", bad]) == 1
    told = capsys.readouterr().out
    for text in (told, verbose):
        assert max(map(len, text.splitlines())) <= 80
        assert text.isprintable() or text.replace("\n", "").isprintable()
        assert "FAILED  lines.unknown: lives on after words that it does not know" in text
        assert "    it is gone: it exited with code 3" in text
        assert " > fly me to the moon" in text
        assert "    stderr: wrong: xxx" in text
        assert "docs/reference/protocol.md, Errors: It never ends because of one" in text
        assert "took 2" in text
        assert text.endswith("It does not keep to the protocol.\n")
    assert "again: caboose check --step lines.unknown" in told
    assert re.search(r"^start     8 passed$", told, re.MULTILINE)
    assert "passed  start.greeting" in verbose


def test_failures_of_one_cause_are_shown_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = engine(
        tmp_path, legal="move = rest[0] if len(rest) < 5 else '1-1'", other="sys.exit(3) if word == 'fly' else 0"
    )
    assert run(["check", bad]) == 1
    told = capsys.readouterr().out
    found = re.search(r"(\d+) failed, (\d+) advice", told)
    assert found is not None
    amiss = int(found[1]) + int(found[2])
    assert told.count("FAILED  ") == 2 and told.count("advice  ") == 0 and amiss > 10
    (others,) = re.findall(r"^    (\d+) like it: [a-z., 0-9-]+\n", told, re.MULTILINE)
    assert int(others) == amiss - 2
    assert max(map(len, told.splitlines())) <= 80


def _report(*whys: str) -> Report:
    report = Report("x")
    report.results = [Result(step, FAILED, why) for step, why in zip(STEPS, whys, strict=False)]
    return report


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("took 212 ms, expected 1 ms", "took 1,040.5 ms, expected 0 ms", True),
        ("its move 3-4@1 is not legal, expected one of 1-1@M 2-3@4",
         "its move 12-12@M is not legal, expected one of 1-1@2", True),
        ("its move 3-4@1 is not legal, expected one of 1-1@M stop", "its move stop is not legal, expected one of 1-1@2",
         False),
        ("it exited with code 3", "it exited with code 4", False),
        ("'IndexError: x' (bot.py, line 14)", "'IndexError: x' (bot.py, line 15)", False),
        ("'IndexError: x 1' (bot.py, line 14)", "'IndexError: x 2' (bot.py, line 14)", True),
        ("it refuses to move: 'error go 1: no'", "it refuses to move: 'error go 2: why'", False),
        ("no readyok within 5 s", "no bestmove within 5 s", False),
    ],
)  # fmt: skip
def test_what_counts_as_one_cause(one: str, other: str, same: bool) -> None:
    assert len([*told_results(_report(one, other))]) == (1 if same else 2)


@pytest.mark.parametrize("name", MISSING)
def test_an_answer_that_is_missing_is_told_with_what_came_instead(
    name: str, reports: dict[str, dict[str, Any]]
) -> None:
    assert MISSING[name][1] in reports[name]["steps"][0]["why"]


def test_the_steps_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--list"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in told] == [step.name for step in STEPS]
    assert max(map(len, told)) <= 100
    assert run(["check", "--list", "--step", "players"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 13


def test_the_json_report_has_what_was_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, report = checked(capsys, engine(tmp_path), "--step", "play.number")
    (step,) = report["steps"]
    assert [said["came"] for said in step["exchange"] if "came" in said][-1] == "readyok"
    assert [said["ms"] for said in step["exchange"]] == sorted(said["ms"] for said in step["exchange"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("check", "the engine is missing: expected its command line, or --list"),
        ("check /gone/engine", "cannot run /gone/engine: No such file or directory"),
        ("check grmpf", "unknown bot 'grmpf'"),
        ("check greedy --step lines.blank", "there is no such step; did you mean lines.blanks?"),
        ("check greedy --step zzz", "`caboose check --list` shows them"),
        ("check greedy --patience 0", "'--patience'"),
        ("check greedy --margin 0", "'--margin'"),
        ("check greedy --option Seed", "expected NAME=VALUE"),
        ("check greedy --option Seed=1 --option Seed=2", "Seed is given twice"),
    ],
)
def test_a_wrong_call_is_told_in_one_line(call: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(shlex.split(call)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("caboose: ") and told.err.count("\n") == 1
    assert message in told.err


def test_a_file_that_is_no_program_is_a_wrong_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "text"
    file.write_text("hello\n", encoding="ascii")
    assert run(["check", str(file)]) == 2
    assert "Permission denied" in capsys.readouterr().err


def test_a_program_that_ends_at_once_is_told_with_its_last_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = shlex.join([sys.executable, "-c", "import sys; sys.exit('no such model')"])
    assert run(["check", command]) == 1
    told = capsys.readouterr().out
    assert "it is gone: it exited with code 1; last words: 'no such model'" in told
    assert "stderr: no such model" in told
    assert "1 failed" in told
