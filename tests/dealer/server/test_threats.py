"""Tables of attacks.md: every row names tests that exist."""

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
    """Attack, cell of the tests, and default file of tests for each row of the tables."""
    text = (TESTS / "server" / "attacks.md").read_text("utf-8")
    default = TESTS / "server" / "test_weaknesses.py"
    for line in text.splitlines():
        if match := re.search(r"with the tests of `(?:tests/dealer/)?([\w/]+)(\.py)?`", line):
            default = TESTS / f"{match[1]}.py" if match[2] else TESTS / match[1] / "test_weaknesses.py"
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("attack", "---"):
            yield cells[0], cells[-1], default


@cache
def function_names(path: Path) -> frozenset[str]:
    """Names of the functions of a module."""
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def parse_cell(cell: str, default: Path) -> tuple[list[str], list[Path]]:
    """Tests that a cell names, and the files that may contain them: those it names, and the default."""
    words = re.findall(r"`([^`]+)`", cell)
    files = [default]
    for word in words:
        if word.endswith(".py"):
            candidates = [folder / word for folder in (default.parent, TESTS, *TESTS.iterdir())]
            files.append(next(path for path in candidates if path.is_file()))
    return [word for word in words if not word.endswith(".py")], files


@pytest.mark.parametrize(("attack", "cell", "default"), [pytest.param(*row, id=row[0][:60]) for row in rows()])
def test_attack_names_existing_tests(attack: str, cell: str, default: Path) -> None:
    names, files = parse_cell(cell, default)
    assert names, f"no test is named for: {attack}"
    for name in names:
        assert name.startswith("test_")
        assert any(name in function_names(path) for path in files), f"{attack}: there is no {name}"


def test_all_tables_are_read() -> None:
    folders = [default.parent.name for _, _, default in rows()]
    assert folders.count("server") > 20
    assert folders.count("table") > 10
    assert folders.count("web") > 15
