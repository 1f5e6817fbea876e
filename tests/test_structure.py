"""Rules of structure: imports between packages and folders, sizes of modules, places of errors and sentences.

Imports inside functions and under `TYPE_CHECKING` count, too. Every module is parsed once; each test lists the modules
that break its rule.
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
"""Module of the console scripts, above all packages."""

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
"""Layers of the dealer's folders and single modules ("rooms"), lowest first; a room imports only lower layers."""

MAX_LINES = 800
MAX_MODULES = 24
"""Modules in a folder."""

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
"""Modules whose calls may have more positional arguments; the compiler inlines calls of kernels by position."""


class Import(NamedTuple):
    """An imported module and, for `from module import name`, the name."""

    module: str
    name: str | None


class Source(NamedTuple):
    """A module with its text, syntax tree and imports."""

    name: str
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    imports: frozenset[Import]


def parse_source(path: Path) -> Source:
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
    return {source.name: source for source in map(parse_source, [*paths, ROOT / f"{SCRIPTS}.py"])}


@cache
def own_imports() -> Mapping[str, frozenset[str]]:
    """Our modules that each module imports; `from package import module` counts for the module."""
    known = sources()
    targets = {}
    for source in known.values():
        modules = set()
        for item in source.imports:
            submodule = f"{item.module}.{item.name}"
            modules.add(submodule if submodule in known else item.module)
        targets[source.name] = frozenset((modules & known.keys()) - {source.name})
    return targets


def room(module: str) -> str:
    """Folder of a module inside its package, or the module itself if it is directly in its package."""
    parts = module.split(".")
    return ".".join(parts[:2]) if len(parts) > 1 and (ROOT / parts[0] / parts[1]).is_dir() else module


def find_cycle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """A cycle of imports, or an empty list."""
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
        for name, targets in own_imports().items()
        for target in targets
        if level[target.split(".")[0]] > level[name.split(".")[0]]
    ]
    assert not upward


def test_rooms_of_the_dealer_import_only_lower_layers() -> None:
    levels = {room: number for number, rooms in enumerate(DEALER_ROOMS) for room in rooms}
    upward = []
    for name, targets in own_imports().items():
        target_rooms = {target: target.split(".")[1] for target in targets if target.startswith("dealer.")}
        assert set(target_rooms.values()) <= levels.keys(), "add the new room to DEALER_ROOMS"
        if not name.startswith("dealer."):
            continue
        own_room = name.split(".")[1]
        if "dealer" in targets:
            upward.append(f"{name} -> dealer")
        for target, target_room in target_rooms.items():
            if target_room != own_room and levels[target_room] >= levels[own_room]:
                upward.append(f"{name} -> {target}")
    assert not upward


def test_runs_import_no_reports() -> None:
    presentation = ("dealer.reports", "logs.document")
    for name, targets in own_imports().items():
        if name.startswith("dealer.run."):
            assert not [target for target in targets if target.startswith(presentation)], name


def test_rows_of_the_database_are_plain_values() -> None:
    """Models of pydantic describe the interface for programs, which has fewer fields than the rows."""
    for name, source in sources().items():
        if name.startswith("dealer.server.db."):
            assert not [item.module for item in source.imports if item.module.startswith("pydantic")], name


BELOW_DATABASE = {
    "dealer.server.event_settings",
    "dealer.server.series_settings",
    "dealer.server.ratings",
    "dealer.server.server_settings",
}
"""Modules of the server that its database imports: the types of its values."""


def test_database_imports_only_settings_and_ratings_of_the_server() -> None:
    upward = [
        f"{name} -> {target}"
        for name, targets in own_imports().items()
        if name.startswith("dealer.server.db")
        for target in targets - BELOW_DATABASE
        if target.startswith("dealer.server.") and not target.startswith("dealer.server.db")
    ]
    assert not upward
    for name in BELOW_DATABASE:
        assert not [target for target in own_imports()[name] if target.startswith("dealer.server.db")], name


def test_shell_imports_no_command() -> None:
    for name, targets in own_imports().items():
        if name.startswith("dealer.cli.shell"):
            commands = [target for target in targets if target.startswith("dealer.cli.")]
            assert all(target.startswith("dealer.cli.shell") for target in commands), name


def test_imports_of_modules_have_no_cycle() -> None:
    assert not find_cycle(own_imports())


def test_imports_of_rooms_have_no_cycle() -> None:
    rooms: dict[str, set[str]] = {}
    for name, targets in own_imports().items():
        rooms.setdefault(room(name), set()).update({room(target) for target in targets} - {room(name)})
    assert not find_cycle(rooms)


def test_no_module_is_long() -> None:
    assert not [source.name for source in sources().values() if source.text.count("\n") > MAX_LINES]


def test_no_folder_holds_many_modules() -> None:
    sizes = Counter(name.rpartition(".")[0] for name in sources())
    assert {folder for folder, size in sizes.items() if size > MAX_MODULES} <= {"dealer.cli"}  # one module per command


def test_modules_of_one_name_play_one_role() -> None:
    """A module of a command has the command's name, and a kernel the name of the module that uses it."""
    folders = {name.rpartition(".")[0] for name in sources()}
    modules = [name.rpartition(".") for name in sources().keys() - folders]
    counts = Counter(name for folder, _, name in modules if folder not in ("dealer.cli", "engine.kernels"))
    assert {name for name, count in counts.items() if count > 1} <= ROLES


def test_no_call_has_many_positional_arguments() -> None:
    assert not [
        f"{source.name}:{node.lineno}"
        for source in sources().values()
        if not source.name.startswith(WORDY)
        for node in source.nodes
        if isinstance(node, ast.Call) and len(node.args) > MAX_POSITIONAL
    ]


def test_underscore_names_stay_in_their_module_and_underscore_modules_in_their_package() -> None:
    for source in sources().values():
        for item in source.imports:
            parts = item.module.split(".")
            if parts[0] not in PACKAGES:
                continue
            assert not (item.name or "").startswith("_"), f"{source.name} imports {item.name}"
            has_private_part = any(part.startswith("_") for part in parts)
            is_inside = item.module.startswith(f"{source.name}.")
            assert is_inside or not has_private_part, f"{source.name} imports {item.module}"


def test_public_errors_are_defined_in_the_errors_module_of_their_package() -> None:
    errors = {
        name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
    }
    classes = [
        (f"{source.name}.{node.name}", node)
        for source in sources().values()
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    ]
    # Repeat until no further subclass of an error is found.
    count = -1
    while count != len(errors):
        count = len(errors)
        for _, node in classes:
            bases = {ast.unparse(base).split(".")[-1] for base in node.bases}
            if bases & errors:
                errors.add(node.name)
    for full_name, node in classes:
        if node.name in errors and not node.name.startswith("_"):
            assert full_name.split(".")[1] == "errors", full_name


def test_dealer_imports_no_built_in_bot() -> None:
    """The dealer imports the interface and the registry of bots. Only its command line may import more."""
    allowed = {"bots.sdk.bot", "bots.sdk.program", "bots.sdk.registry", "bots.sdk.selfplay", "bots.sdk.learning"}
    allowed |= {"bots.errors", "bots.workers", "bots.sdk.options", "bots.hand_values"}
    for name, targets in own_imports().items():
        if not name.startswith("dealer.") or room(name) == "dealer.cli":
            continue
        imported_bots = {target for target in targets if target.split(".")[0] == "bots"} - allowed
        if room(name) == "dealer.person":
            # People see the same view as bots.
            imported_bots.discard("bots.sdk.view")
        assert not imported_bots, name


def test_lower_packages_import_no_sockets() -> None:
    assert not [
        f"{source.name} imports {item.module}"
        for source in sources().values()
        if source.name.split(".")[0] in ("engine", "protocol")
        for item in source.imports
        if item.module.split(".")[0] in ("asyncio", "socket", "subprocess")
    ]


def test_assertions_only_narrow_types() -> None:
    """`python -O` drops assertions, so that they must not check input."""
    assert not [
        f"{source.name}:{node.lineno}"
        for source in sources().values()
        for node in source.nodes
        if isinstance(node, ast.Assert)
        if not ast.unparse(node.test).startswith("isinstance(")
        if not ast.unparse(node.test).endswith(" is not None")
    ]


def test_every_module_has_a_docstring() -> None:
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
    (exported,) = lists
    assert len(set(exported)) == len(exported)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(exported) <= imported


def test_one_function_capitalises_sentences() -> None:
    """It leaves names of bots at the start of a sentence alone."""
    assert [name for name, source in sources().items() if "[:1].upper()" in source.text] == ["engine.text"]


TEXTS_FOR_PEOPLE: Final = {"reason", "kept_reason", "sentence", "problem", "warning", "remedy", "cure", "note"}
"""Names of attributes and variables that hold messages for people."""
ERRORS: Final = {"error", "problem", "refused", "failure", "cause", "mistake"}
"""Names of variables that hold an error."""
SPLITTERS: Final = {"partition", "rpartition", "removeprefix", "split", "rsplit", "find", "rfind", "index", "rindex"}
"""Methods of ``str`` that search or split a text."""
PATTERNS: Final = {"sub", "subn", "search", "match", "fullmatch", "split", "findall", "finditer"}
"""Functions of ``re`` and of its patterns."""


def sentence_functions() -> set[str]:
    """Names of our functions and properties that return sentences."""
    names = set()
    for source in sources().values():
        for node in source.nodes:
            if not isinstance(node, ast.FunctionDef):
                continue
            returns_text = isinstance(node.returns, ast.Name) and node.returns.id == "str"
            first_line = (ast.get_docstring(node) or "").partition("\n")[0].lower()
            has_name = node.name.endswith(("_sentence", "_clause", "_phrase", "_in_words"))
            if returns_text and (has_name or "sentence" in first_line):
                names.add(node.name)
    return names - {"text"}


def is_message(node: ast.expr, functions: Set[str]) -> bool:
    """Return whether the names in an expression show that it is a message for people.

    Args:
        functions: names of functions that return sentences.
    """
    if isinstance(node, ast.Attribute):
        return node.attr in TEXTS_FOR_PEOPLE | functions
    if isinstance(node, ast.Name):
        return node.id in TEXTS_FOR_PEOPLE
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        argument = node.args[0]
        return isinstance(argument, ast.Name) and argument.id in ERRORS
    function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return function in functions or function == "text"


def parsed_messages(source: Source, functions: Set[str]) -> Iterator[str]:
    """Places of a module that split or search a message for people."""
    for node in source.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        # A split without arguments may count or wrap words.
        is_split = node.func.attr in SPLITTERS and node.args and is_message(node.func.value, functions)
        is_matched = node.func.attr in PATTERNS and any(is_message(arg, functions) for arg in node.args)
        if is_split or is_matched:
            yield f"{source.name}, line {node.lineno}: {ast.unparse(node)}"


def test_no_program_parses_messages_for_people() -> None:
    """Programs use the values of a sentence instead, so that its wording can change."""
    functions = sentence_functions()
    example = (
        "import re\nre.sub('The last .*', '', run.reason)\nstr(error).removeprefix('x: ')\ncause_sentence(x).split(':')"
    )
    tree = ast.parse(example)
    source = Source("example", example, tree, tuple(ast.walk(tree)), frozenset())
    assert len(list(parsed_messages(source, functions))) == 3
    assert [place for source in sources().values() for place in parsed_messages(source, functions)] == []


def test_one_module_looks_for_programs() -> None:
    """Skips for a missing program have the same wording everywhere."""
    tests = set((ROOT / "tests").rglob("*.py")) - {Path(__file__)}
    lookups = {path.relative_to(ROOT) for path in tests if b"shutil.which(" in path.read_bytes()}
    assert lookups == {Path("tests/outside.py")}
