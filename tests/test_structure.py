"""The shape of the project: which package and which room may import which, and what every module keeps.

Imports count wherever they stand: at the top, inside a function, under `TYPE_CHECKING`. Every module is parsed once;
each test looks at all of them and lists what breaks its rule.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.programs import loaded_by
from tests.style import PACKAGES, parse_module

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = "acpc_arena"
"""The module of the console scripts, above all packages."""

DEALER_ROOMS = (
    {"errors"},
    {"match"},
    {"table"},
    {"run"},
    {"reports"},
    {"library", "watching"},
    {"person"},
    {"reference", "doctor", "joining", "server"},
    {"uploads"},
    {"web", "bench"},
    {"agents"},
    {"cli"},
)
"""The dealer's rooms from the ground up; a room imports only from rows before its own, not from its neighbours."""

MAX_LINES = 800
MAX_MODULES = 24
"""Of a folder; the command line has a file for every command."""

ROLES = {"app", "bot", "errors", "kernel", "reader", "runs", "training", "warmup", "writer"}
"""Names of modules that play the same role in several packages; any other name belongs to one module."""

MAX_POSITIONAL = 6
WORDY = (
    "engine.kernels.betting",
    "engine.kernels.draw",
    "engine.kernels.matchups",
    "bots.kuhn.kernel",
    "bots.learner.kernel",
    "bots.studies.limit_hand",
)
"""Where calls have more positional arguments, still; the kernels' are inlined by position."""


class Import(NamedTuple):
    """One imported name: the module it stands in and, for `from module import name`, the name."""

    module: str
    name: str | None


class Source(NamedTuple):
    """A module as it is written."""

    name: str
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    imports: frozenset[Import]


def parsed(path: Path) -> Source:
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    text, tree = parse_module(path)
    nodes = tuple(ast.walk(tree))
    imports = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            imports |= {Import(alias.name, None) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{name} has a relative import"
            assert not node.level, f"{name} has a relative import"
            imports |= {Import(node.module, alias.name) for alias in node.names}
    return Source(name, text, tree, nodes, frozenset(imports))


@cache
def sources() -> Mapping[str, Source]:
    """All modules by their names."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {source.name: source for source in map(parsed, [*paths, ROOT / f"{SCRIPTS}.py"])}


@cache
def arrows() -> Mapping[str, frozenset[str]]:
    """Our modules that each module imports; `from package import module` is an arrow to the module."""
    known = sources()
    targets = {}
    for source in known.values():
        full = {
            item.module if f"{item.module}.{item.name}" not in known else f"{item.module}.{item.name}"
            for item in source.imports
        }
        targets[source.name] = frozenset((full & known.keys()) - {source.name})
    return targets


def room(module: str) -> str:
    """The folder of its package that a module stands in; a module directly in its package is a room of its own."""
    parts = module.split(".")
    return ".".join(parts[:2]) if len(parts) > 1 and (ROOT / parts[0] / parts[1]).is_dir() else module


def circle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """One import circle of a graph, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_package_has_modules() -> None:
    assert {name.split(".")[0] for name in sources()} == {*PACKAGES, SCRIPTS}


def test_imports_go_downwards() -> None:
    level = {package: number for number, package in enumerate((*PACKAGES, SCRIPTS))}
    upward = [
        f"{name} -> {target}"
        for name, targets in arrows().items()
        for target in targets
        if level[target.split(".")[0]] > level[name.split(".")[0]]
    ]
    assert not upward


def test_the_dealers_rooms_import_downwards() -> None:
    level = {room: number for number, rooms in enumerate(DEALER_ROOMS) for room in rooms}
    upward = []
    for name, targets in arrows().items():
        inner = [target.split(".")[1] for target in targets if target.startswith("dealer.")]
        if name.startswith("dealer."):
            own = name.split(".")[1]
            upward += [f"{name} -> {t}" for t in targets if t == "dealer"]
            upward += [
                f"{name} -> {t}"
                for t in targets
                if t.startswith("dealer.") and t.split(".")[1] != own and level[t.split(".")[1]] >= level[own]
            ]
        assert set(inner) <= level.keys(), "a new room needs a place among the others"
    assert not upward


def test_runs_import_no_reports() -> None:
    presents = ("dealer.reports", "logs.document")
    for name, targets in arrows().items():
        if name.startswith("dealer.run."):
            assert not [target for target in targets if target.startswith(presents)], name


def test_rows_of_the_database_are_plain_values() -> None:
    """The models of pydantic describe the interface for programs, which shows less than the rows have."""
    for name, source in sources().items():
        if name.startswith("dealer.server.db."):
            assert not [item.module for item in source.imports if item.module.startswith("pydantic")], name


BELOW_DATABASE = {
    "dealer.server.event_settings",
    "dealer.server.series_settings",
    "dealer.server.ratings",
    "dealer.server.server_settings",
}
"""Modules of the server that its database imports: what is stored, without how it is stored."""


def test_database_imports_nothing_of_the_server_but_its_settings_and_ratings() -> None:
    upward = [
        f"{name} -> {target}"
        for name, targets in arrows().items()
        if name.startswith("dealer.server.db")
        for target in targets - BELOW_DATABASE
        if target.startswith("dealer.server.") and not target.startswith("dealer.server.db")
    ]
    assert not upward
    for name in BELOW_DATABASE:
        assert not [target for target in arrows()[name] if target.startswith("dealer.server.db")], name


def test_shell_imports_no_command() -> None:
    for name, targets in arrows().items():
        if name.startswith("dealer.cli.shell"):
            commands = [target for target in targets if target.startswith("dealer.cli.")]
            assert all(target.startswith("dealer.cli.shell") for target in commands), name


def test_modules_do_not_import_each_other_in_circles() -> None:
    assert not circle(arrows())


def test_rooms_do_not_import_each_other_in_circles() -> None:
    rooms: dict[str, set[str]] = {}
    for name, targets in arrows().items():
        rooms.setdefault(room(name), set()).update({room(target) for target in targets} - {room(name)})
    assert not circle(rooms)


def test_no_module_is_long() -> None:
    assert not [source.name for source in sources().values() if source.text.count("\n") > MAX_LINES]


def test_no_folder_holds_many_modules() -> None:
    sizes = Counter(name.rpartition(".")[0] for name in sources())
    assert {folder for folder, size in sizes.items() if size > MAX_MODULES} <= {"dealer.cli"}  # one module per command


def test_modules_of_one_name_play_one_role() -> None:
    """A command's module has the command's name, and a kernel's that of the module whose numbers it counts."""
    folders = {name.rpartition(".")[0] for name in sources()}
    modules = [name.rpartition(".") for name in sources().keys() - folders]
    named = Counter(name for folder, _, name in modules if folder not in ("dealer.cli", "engine.kernels"))
    assert {name for name, count in named.items() if count > 1} <= ROLES


def test_no_call_has_many_positional_arguments() -> None:
    """But for the kernels, whose compiler inlines calls by position, and the rooms in `WORDY`."""
    assert not [
        f"{source.name}:{node.lineno}"
        for source in sources().values()
        if not source.name.startswith(WORDY)
        for node in source.nodes
        if isinstance(node, ast.Call) and len(node.args) > MAX_POSITIONAL
    ]


def test_underscore_names_stay_in_their_module_and_underscore_modules_in_their_package() -> None:
    borrowed = {
        source.name
        for source in sources().values()
        for item in source.imports
        if item.module.split(".")[0] in PACKAGES
        if (item.name or "").startswith("_")
        or (
            any(part.startswith("_") for part in item.module.split("."))
            and not item.module.startswith(f"{source.name}.")
        )
    }
    assert not borrowed


def test_errors_stand_in_the_errors_module_of_their_package() -> None:
    """All but private ones, which nobody else may catch."""
    errors = {
        name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
    }
    classes = [
        (f"{source.name}.{node.name}", node)
        for source in sources().values()
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    ]
    before = -1
    while before != len(errors):
        before = len(errors)
        errors |= {
            node.name for _, node in classes if {ast.unparse(base).split(".")[-1] for base in node.bases} & errors
        }
    astray = {
        full
        for full, node in classes
        if node.name in errors and not node.name.startswith("_") and full.split(".")[1] != "errors"
    }
    assert not astray


def test_dealer_imports_no_agent() -> None:
    """The dealer imports what a bot is and how one is named, and no agent. The command line may import more, and seats
    of people what a bot sees."""
    known = {"bots.sdk.bot", "bots.sdk.program", "bots.sdk.registry", "bots.sdk.selfplay", "bots.sdk.learning"}
    known |= {"bots.errors", "bots.workers", "bots.sdk.options", "bots.hand_values"}
    assert not [
        f"{name} -> {target}"
        for name, targets in arrows().items()
        if room(name) not in ("bots", "dealer.cli") and name.startswith("dealer.")
        for target in targets
        if target.split(".")[0] == "bots" and target not in known
        if target != "bots.sdk.view" or room(name) != "dealer.person"
    ]


def test_lower_packages_import_no_sockets() -> None:
    assert not [
        f"{source.name} imports {item.module}"
        for source in sources().values()
        if source.name.split(".")[0] in ("engine", "protocol")
        for item in source.imports
        if item.module.split(".")[0] in ("asyncio", "socket", "subprocess")
    ]


def test_assertions_only_narrow_types() -> None:
    """`python -O` drops them, so nothing that comes from outside may depend on one."""
    assert not [
        f"{source.name}:{node.lineno}"
        for source in sources().values()
        for node in source.nodes
        if isinstance(node, ast.Assert)
        if not ast.unparse(node.test).startswith("isinstance(")
        if not ast.unparse(node.test).endswith(" is not None")
    ]


def test_every_module_opens_with_a_header() -> None:
    assert not [source.name for source in sources().values() if not ast.get_docstring(source.tree)]


def test_every_package_is_typed() -> None:
    assert not [package for package in PACKAGES if not (ROOT / package / "py.typed").is_file()]


def test_playing_and_dealing_import_nothing_heavy() -> None:
    heavy = ["numpy", "numba", "scipy", "asyncio", "subprocess", "pydantic", "typer", "rich", "dataclasses", "inspect"]
    assert loaded_by("import engine, protocol, bots; bots.Bot, bots.run", heavy) == []
    assert loaded_by("import logs, dealer.cli.play, dealer.run.results", ["numpy", "numba", "scipy"]) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_exported_names_exist_once(package: str) -> None:
    tree = sources()[package].tree
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


def test_sentences_get_their_capital_in_one_place() -> None:
    """A name at the start of a sentence must not get one."""
    assert [name for name, source in sources().items() if "[:1].upper()" in source.text] == ["engine.text"]


TEXTS_FOR_PEOPLE: Final = {"reason", "kept_reason", "sentence", "problem", "warning", "remedy", "cure", "note"}
"""Attributes and variables that hold what the program has composed for people."""
ERRORS: Final = {"error", "problem", "refused", "failure", "cause", "mistake"}
"""Variables that hold an error, whose text is composed by it."""
TAKES_APART: Final = {"partition", "rpartition", "removeprefix", "split", "rsplit", "find", "rfind", "index", "rindex"}
PATTERNS: Final = {"sub", "subn", "search", "match", "fullmatch", "split", "findall", "finditer"}
"""Functions of ``re`` and of its patterns."""


def composers() -> set[str]:
    """The names of our functions and properties that return sentences."""
    functions = [node for source in sources().values() for node in source.nodes]
    named = {
        node.name
        for node in functions
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id == "str"
        if node.name.endswith(("_sentence", "_clause", "_phrase", "_in_words"))
        or "sentence" in (ast.get_docstring(node) or "").partition("\n")[0].lower()
    }
    return named - {"text"}


def is_for_people(node: ast.expr, composed_by: Set[str]) -> bool:
    """Whether an expression is a text that the program has composed for people, as far as its names show."""
    if isinstance(node, ast.Attribute):
        return node.attr in TEXTS_FOR_PEOPLE | composed_by
    if isinstance(node, ast.Name):
        return node.id in TEXTS_FOR_PEOPLE
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        of = node.args[0]
        return isinstance(of, ast.Name) and of.id in ERRORS
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return called in composed_by or called == "text"


def taken_apart(source: Source, composed_by: Set[str]) -> Iterator[str]:
    """Each place of a module where a text for people is taken apart."""
    for node in source.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        # Without arguments it only counts as white space what is white space.
        is_split = node.func.attr in TAKES_APART and node.args and is_for_people(node.func.value, composed_by)
        is_matched = node.func.attr in PATTERNS and any(is_for_people(arg, composed_by) for arg in node.args)
        if is_split or is_matched:
            yield f"{source.name}, line {node.lineno}: {ast.unparse(node)}"


def test_no_text_for_people_is_taken_apart() -> None:
    """What a sentence is made of is a value that its composer takes; nothing is found out from its wording."""
    composed_by = composers()
    example = (
        "import re\nre.sub('The last .*', '', run.reason)\nstr(error).removeprefix('x: ')\ncause_sentence(x).split(':')"
    )
    tree = ast.parse(example)
    assert (
        len(list(taken_apart(Source("example", example, tree, tuple(ast.walk(tree)), frozenset()), composed_by))) == 3
    )
    assert [place for source in sources().values() for place in taken_apart(source, composed_by)] == []


def test_one_module_looks_for_programs() -> None:
    """A program that is missing is a reason to skip, in the same words everywhere."""
    tests = set((ROOT / "tests").rglob("*.py")) - {Path(__file__)}
    lookups = {path.relative_to(ROOT) for path in tests if b"shutil.which(" in path.read_bytes()}
    assert lookups == {Path("tests/outside.py")}
