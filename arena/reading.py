"""Files that people name are read whole, but not without end: a device has none, a small packed file may be huge."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import IO, AnyStr, Final

MOST: Final = 1 << 28  # bytes or characters; what people write by hand or make a suite of is far smaller


def read_whole(file: IO[AnyStr], most: int = MOST) -> AnyStr:
    """What a file has, at most ``most`` bytes or characters. Raises ``OSError`` where it is more."""
    data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB")
    return data


def read_text(path: Path, most: int = MOST) -> str:
    """A text in UTF-8, without the byte order mark that some editors begin it with. Raises ``OSError`` and
    ``UnicodeDecodeError``."""
    with path.open(encoding="utf-8-sig") as file:
        return read_whole(file, most)
