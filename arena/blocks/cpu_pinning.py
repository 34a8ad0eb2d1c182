"""Which cores the engines of a block are bound to, where a call wants that (``--pin``).

The cores are shared out among the blocks that are played at a time, and those of a block among its engines, so that no
two engines share one as long as there are enough. Blocks come first: of the engines of a block only one should think at
a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from caboose.protocol.process.affinity import CAN_BIND, Core


@dataclass(frozen=True, slots=True)
class Pinning:
    """The cores of a block."""

    cores: tuple[Core, ...]

    def cpus(self, seat: int) -> Core:
        """The processors for the engine of a seat of the line-up (from 0)."""
        return self.cores[seat % len(self.cores)] if self.cores else ()

    @property
    def all(self) -> Core:
        """The processors for all of the block."""
        return tuple(cpu for core in self.cores for cpu in core)


def share_cores(cores: Sequence[Core], blocks: int) -> list[Pinning]:
    """Shares out cores among blocks that are played at a time; where there are too few, some blocks share one."""
    if len(cores) < blocks:
        return [Pinning(tuple(cores[block % len(cores) :][:1]) if cores else ()) for block in range(blocks)]
    ends = [len(cores) * block // blocks for block in range(blocks + 1)]
    return [Pinning(tuple(cores[start:end])) for start, end in pairwise(ends)]


def pinning_problem(cores: Sequence[Core], blocks: int, engines: int) -> str:
    """What people should know who want ``engines`` engines of each of so many blocks on cores of their own; empty where
    that can be."""
    if not CAN_BIND:
        return "--pin: processes can be bound to cores on Linux only; nothing is bound"
    if len(cores) >= blocks * engines:
        return ""
    who = "engines of a block share cores" if len(cores) >= blocks else "blocks share cores"
    fewer = ", or a smaller --concurrency" if blocks > 1 else ""
    return (
        f"--pin: {_counted(len(cores), 'core')} will not do for {_counted(blocks, 'block')} of {engines} engines at a "
        f"time, so {who}; expected {blocks * engines} cores{fewer}"
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
