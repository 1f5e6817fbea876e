"""Results as files and as tables of `docs/cfr-tables.md`, shared by the scripts of this folder."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import with_blocks

PAGE: Final = Path(__file__).resolve().parent.parent / "cfr-tables.md"

_Row = TypeVar("_Row", bound=tuple[Any, ...])


def read_rows(path: Path, kind: type[_Row]) -> list[_Row]:
    """The results of a file as named tuples of texts and numbers."""
    makers = get_type_hints(kind)
    with path.open(encoding="utf-8", newline="") as file:
        return [kind(**{name: makers[name](cell) for name, cell in row.items()}) for row in csv.DictReader(file)]


def write_rows(path: Path, kind: type[_Row], rows: Iterable[_Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(kind.__annotations__)
        writer.writerows(rows)


def between(text: str, name: str, lines: Iterable[str]) -> str:
    """A page with other lines between its markers ``name`` and ``end of name``."""
    return with_blocks(text, {name: "".join(f"{line}\n" for line in lines)})
