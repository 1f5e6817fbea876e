"""The shape of the house: five floors, imports only downwards, a header over every module."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = ("engine", "protocol", "logs", "bots", "dealer")
"""From the ground up; a package imports only from the floors below it."""

MODULES = [path for package in FLOORS for path in sorted((ROOT / package).rglob("*.py"))]
IDS = [path.relative_to(ROOT).as_posix() for path in MODULES]


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def imported(path: Path) -> Iterator[str]:
    """Full names of all modules a file imports, anywhere in it."""
    here = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(here[: -node.level]) + "." if node.level else ""
            yield above + (node.module or "")


def test_all_floors_have_modules() -> None:
    assert {package_of(path) for path in MODULES} == set(FLOORS)


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_imports_go_downwards(path: Path) -> None:
    floor = FLOORS.index(package_of(path))
    higher = {name for name in imported(path) if name.split(".")[0] in FLOORS[floor + 1 :]}
    assert not higher


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_the_dealer_knows_no_bot(path: Path) -> None:
    """It starts bots as processes: the names of the registry are all it needs. The command line may mount more."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "dealer" and parts[1] != "cli":
        known = {name for name in imported(path) if name.split(".")[0] == "bots"}
        assert known <= {"bots.registry", "bots.errors", "bots.table"}


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_the_lower_floors_talk_to_nobody(path: Path) -> None:
    if package_of(path) in ("engine", "protocol"):
        roots = {name.split(".")[0] for name in imported(path)}
        assert not roots & {"asyncio", "socket", "subprocess"}


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_every_module_opens_with_a_header(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_bytes()))


@pytest.mark.parametrize("package", FLOORS)
def test_every_package_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_nothing_heavy_is_imported_by_who_only_plays_or_deals() -> None:
    code = (
        "import sys, engine, protocol, logs\n"
        "heavy = {'numpy', 'numba', 'scipy', 'asyncio', 'socket', 'subprocess', 'pydantic', 'typer', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("[]\n", "")


@pytest.mark.parametrize("package", FLOORS)
def test_what_a_package_offers_exists_and_is_listed_in_order(package: str) -> None:
    tree = ast.parse((ROOT / package / "__init__.py").read_bytes())
    lists = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    ]
    if not lists:
        return
    (offered,) = lists
    assert len(set(offered)) == len(offered)
    bound = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(offered) <= bound
