"""Where things lie in the checkout: the tests read pages, examples and golden files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
TESTS: Final = ROOT / "tests"
GOLDEN: Final = TESTS / "golden"
