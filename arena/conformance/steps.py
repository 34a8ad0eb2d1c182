"""What a check is made of: named steps, and what came of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from caboose.arena.conformance.probe import Probe

PASSED: Final = "passed"
FAILED: Final = "failed"
ADVICE: Final = "advice"
SKIPPED: Final = "skipped"
OUTCOMES: Final = (PASSED, FAILED, ADVICE, SKIPPED)


class Broken(Exception):
    """The engine did not do what the page says. The text says what it did, and what was expected."""


class Skip(Exception):
    """The step asks for something that this engine does not offer. The text says what."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is tried.

    ``name`` is GROUP.WHAT; ``what`` is what the engine is expected to do, for people. ``says`` is the sentence of
    docs/reference/protocol.md from which that follows, as it stands there but for line ends, and ``section`` the
    heading above it (empty for the top of the page). A step that is not a ``must`` only advises. ``fresh`` steps get a
    process of their own from its very start; the others get one that has shaken hands. What fails a ``gate`` is asked
    nothing more.
    """

    name: str
    what: str
    says: str
    section: str
    run: Callable[[Probe], None]
    must: bool = True
    fresh: bool = False
    gate: bool = False

    @property
    def group(self) -> str:
        """The part of the name before the dot."""
        return self.name.partition(".")[0]


class Steps(list[Step]):
    """The steps of one kind, in the order in which they are run."""

    def step(
        self,
        name: str,
        what: str,
        says: str,
        section: str,
        *,
        must: bool = True,
        fresh: bool = False,
        gate: bool = False,
    ) -> Callable[[Callable[[Probe], None]], Callable[[Probe], None]]:
        """Makes a step of the function below; the arguments are those of ``Step``."""

        def keep(run: Callable[[Probe], None]) -> Callable[[Probe], None]:
            self.append(Step(name, what, says, section, run, must, fresh, gate))
            return run

        return keep


@dataclass(frozen=True, slots=True)
class Said:
    """A line of the exchange: seconds since the step began, whether it went ``to`` the engine, and the line itself.

    Where there is no line to show (the end of a pipe, a process that starts), ``line`` is empty and ``note`` says so.
    """

    at: float
    to: bool
    line: str
    note: str = ""


@dataclass(slots=True)
class Result:
    """What came of one step: ``outcome`` is one of ``OUTCOMES``, ``why`` is empty for what passed, ``seconds`` is how
    long it took. ``stderr`` is the end of what the engine wrote to its standard error meanwhile."""

    step: Step
    outcome: str
    why: str = ""
    seconds: float = 0.0
    exchange: list[Said] = field(default_factory=list)
    stderr: str = ""


@dataclass(slots=True)
class Report:
    """All results of a check, and what the engine said of itself. ``called`` is the name or command line given, and
    ``flags`` are the words of the call that say how it is started."""

    called: str
    flags: Sequence[str] = ()
    about: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)
    capabilities: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def add(self, result: Result, probe: Probe) -> None:
        """Notes a result, and what the engine has said of itself by now."""
        self.results.append(result)
        self.about, self.options = probe.about, probe.option_lines
        self.capabilities = sorted(probe.capabilities)

    def count(self, outcome: str) -> int:
        """How many steps came out so."""
        return sum(result.outcome == outcome for result in self.results)
