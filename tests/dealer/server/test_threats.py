"""The tables of attacks.md: every row names tests, and each of them is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.dealer.helpers import ROOT

TESTS = ROOT / "tests" / "dealer"


def rows() -> Iterator[tuple[str, str, Path]]:
    """By row of the tables: what could be tried, the cell of the tests, and the usual file of the table."""
    text = (TESTS / "server" / "attacks.md").read_text("utf-8")
    usual = TESTS / "server" / "test_weaknesses.py"
    for line in text.splitlines():
        if match := re.search(r"with the tests of `(?:tests/dealer/)?([\w/]+)(\.py)?`", line):
            usual = TESTS / f"{match[1]}.py" if match[2] else TESTS / match[1] / "test_weaknesses.py"
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("attack", "---"):
            yield cells[0], cells[-1], usual


@cache
def names_in(path: Path) -> frozenset[str]:
    """The functions of a file."""
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def named(cell: str, usual: Path) -> tuple[list[str], list[Path]]:
    """The tests of a cell, and the files in which they may be: those that it names, and the usual one."""
    words = re.findall(r"`([^`]+)`", cell)
    files = [usual]
    for word in words:
        if word.endswith(".py"):
            places = [place / word for place in (usual.parent, TESTS, *TESTS.iterdir())]
            files.append(next(path for path in places if path.is_file()))
    return [word for word in words if not word.endswith(".py")], files


@pytest.mark.parametrize(("threat", "cell", "usual"), [pytest.param(*row, id=row[0][:60]) for row in rows()])
def test_threat_names_existing_tests(threat: str, cell: str, usual: Path) -> None:
    names, files = named(cell, usual)
    assert names, f"no test is named for: {threat}"
    for name in names:
        assert name.startswith("test_")
        assert any(name in names_in(path) for path in files), f"{threat}: there is no {name}"


def test_all_tables_are_read() -> None:
    folders = [usual.parent.name for _, _, usual in rows()]
    assert folders.count("server") > 20
    assert folders.count("table") > 10
    assert folders.count("web") > 15
