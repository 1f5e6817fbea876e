"""Python bots by name, and how to ask for one. A bot is named in one of four ways:

    random                     a bot that comes with the arena
    shark                      a bot that an installed distribution declares, see below
    my_package.bots:Shark      a class in a module, also one in the current folder
    bots/shark.py:Shark        a class in a file; the file can import its neighbours

and takes options after a question mark: ``random?fold=0.1,call=0.5,raise=0.4``. The options are the parameters of the
class's constructor: their names (without the underscore that keeps ``raise_`` from being a Python keyword), types and
defaults are read from it, so they are written in one place only. One of the type `FilePath` is a file: its path is
relative to the folder in which the bot is looked for. A parameter whose default is a dataclass is replaced by
the fields of that dataclass.

A distribution declares bots by entry points:

    [project.entry-points."acpc_arena.bots"]
    shark = "my_package.bots:Shark"

A bot's module is imported when the bot is made, never before, and so are the declarations of other distributions: a
playing bot pays for no other's imports.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Mapping
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from bots.errors import SpecError, in_one_line, is_interrupt, located
from bots.sdk.bot import Bot
from bots.sdk.options import NO_DEFAULT, Option, options_of
from engine.errors import quoted

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP: Final = "acpc_arena.bots"
"""The entry points by which other distributions declare bots."""
SEED_VARIABLE: Final = "ARENA_SEED"
"""Holds the seed of a bot's process, where no option does: a command line can be read by all users of a machine."""
OptionValue: TypeAlias = str | int | float | bool | None


class BotDescription(NamedTuple):
    """One bot; its origin is the distribution that declares it and its version, empty for a built-in bot."""

    name: str
    summary: str
    options: tuple[Option, ...]
    origin: str


_ENTRIES: Final[Mapping[str, tuple[str, str]]] = {
    "calling": ("bots.baseline:CallingBot", "calls every bet, never bets"),
    "cfr": ("bots.cfr.bot:CfrBot", "plays an approximate equilibrium"),
    "constant": ("bots.baseline:ConstantBot", "always takes the same action"),
    "equilibrium": ("bots.equilibrium.bot:EquilibriumBot", "plays an exact equilibrium"),
    "evolved": ("bots.evolved.bot:EvolvedBot", "preflop charts, then evolved genes"),
    "folding": ("bots.baseline:FoldingBot", "folds to every bet"),
    "kuhn-bluffer": ("bots.kuhn.bot:BlufferBot", "bets and raises with weak cards, too"),
    "kuhn-caller": ("bots.kuhn.bot:CallerBot", "bets and calls with every card"),
    "kuhn-folder": ("bots.kuhn.bot:FolderBot", "never puts in a chip"),
    "kuhn-rational": ("bots.kuhn.bot:RationalBot", "plays half of its middle cards"),
    "kuhn-safe": ("bots.kuhn.bot:SafeBot", "bets and calls only its best card"),
    "kuhn-shy": ("bots.kuhn.bot:ShyBot", "never bets, calls with its best card"),
    "learner": ("bots.learner.bot:LearnerBot", "plays what earned most, and learns"),
    "lbr": ("bots.evaluation.bot:LbrBot", "one-step answer to a given policy"),
    "lp": ("bots.lp_mc.bot:LpBot", "plays the preflop equilibrium"),
    "lp-mc": ("bots.lp_mc.bot:LpMcBot", "preflop equilibrium, then simulation"),
    "mc": ("bots.lp_mc.bot:McBot", "simulates each hand to its end"),
    "mfs": ("bots.formula.bot:MfsBot", "weighs its chance against the price"),
    "raising": ("bots.baseline:RaisingBot", "raises whenever it can"),
    "random": ("bots.baseline:RandomBot", "draws its actions at fixed rates"),
    "rembrant": ("bots.rembrant.bot:RembrantBot", "plays the rule tables of Rembrant"),
    "rh": ("bots.formula.bot:RhBot", "weighs pot and price, not its cards"),
}
"""By name, the class and what it does in a few words."""
_REFERENCE: Final = re.compile(r"(?P<place>.+\.py|[A-Za-z_]\w*(?:\.\w+)*):(?P<name>[A-Za-z_]\w*)", re.DOTALL)


def builtin_names() -> tuple[str, ...]:
    """The names of all built-in bots; imports none of them."""
    return tuple(_ENTRIES)


def known_names() -> list[str]:
    """The names of all bots, built in or declared by installed packages, sorted; imports none of them."""
    return sorted([*_ENTRIES, *_declared()])


def nearest_name(name: str) -> str | None:
    """The bot that a misspelt name is likely to mean."""
    from engine.text import meant

    return meant(name, known_names())


def is_builtin(spec: str) -> bool:
    """Whether a text, with or without options, asks for a built-in bot."""
    return spec.partition("?")[0] in _ENTRIES


def is_bot_name(name: str) -> bool:
    """Whether a text, without options, is one that names a Python bot; nothing of the bot's is imported."""
    is_plain = name.replace("-", "_").isidentifier()
    return name in _ENTRIES or _REFERENCE.fullmatch(name) is not None or (is_plain and name in _declared())


def parse_spec(spec: str, directory: str | None = None) -> tuple[type[Bot], dict[str, OptionValue]]:
    """Read ``NAME`` or ``NAME?OPTION=VALUE,OPTION=VALUE``: the class, and the options with their types."""
    name, _, rest = spec.partition("?")
    found = _find_class(name, spec, directory)
    valid = {option.name: option for option in _options(found)}
    options: dict[str, OptionValue] = {}
    for item in rest.split(",") if rest else ():
        option, is_given, text = item.partition("=")
        option = option.strip()
        if option not in valid:
            raise SpecError(spec, f"{name} has no option {quoted(option)}; {_list_options(name, valid)}")
        if option in options:
            raise SpecError(spec, f"the option {quoted(option)} is given twice")
        if not is_given:
            raise SpecError(
                spec, f"the option {quoted(option)} needs a value: {option}=VALUE; {_list_options(name, valid)}"
            )
        try:
            options[option] = valid[option].parse(text.strip())
        except ValueError:
            problem = f"{option} must be a {valid[option].type_name}, not {quoted(text)}; {_list_options(name, valid)}"
            raise SpecError(spec, problem) from None
    return found, options


def make_bot(spec: str, seed: int | None = None, *, directory: str | None = None) -> Bot:
    """The bot that a text like ``random?fold=0.1`` asks for.

    Args:
        seed: of its random numbers, for bots that draw any; a seed among the options takes precedence.
        directory: where files and modules are looked for; None for the current folder.

    Raises:
        SpecError: there is no such bot, module, file or class, it cannot be imported or is not a bot, it does not take
            such options, or its constructor refuses them. Where the bot's own code raised, that is the error's cause.
    """
    found, options = parse_spec(spec, directory)
    files = _file_options(found)
    given = {
        name: os.path.join(directory or "", value) if name in files and isinstance(value, str) and value else value
        for name, value in options.items()
    }
    if seed is not None and any(option.name == "seed" for option in _options(found)):
        given.setdefault("seed", seed)
    return _construct(found, _arguments(found, given), spec)


def make_bot_from(source: type[Bot] | Bot, seed: int | None = None) -> Bot:
    """A bot of a class, or a copy of an object: matches share nothing.

    Args:
        seed: for a class whose constructor has a parameter of that name.

    Raises:
        SpecError: it cannot be made or copied.
    """
    if isinstance(source, type):
        from inspect import signature

        takes_seed = seed is not None and "seed" in signature(source).parameters
        return _construct(source, {"seed": seed} if takes_seed else {}, source.__name__)
    from copy import deepcopy

    name = type(source).__name__
    try:
        return deepcopy(source)
    except BaseException as error:
        if is_interrupt(error):
            raise
        problem = f"the object cannot be copied, and each match has its own: {in_one_line(error)}; pass the class"
        raise SpecError(name, problem) from error


def _construct(found: type[Bot], arguments: Mapping[str, object], spec: str) -> Bot:
    try:
        return found(**arguments)
    except ValueError as error:
        raise SpecError(spec, str(error)) from error
    except BaseException as error:
        if is_interrupt(error):
            raise
        raise SpecError(spec, f"{found.__name__} cannot be made: {located(error)}") from error


def builtin_file_options(name: str) -> frozenset[str]:
    """The options of a built-in bot that are files; none of any other bot, which would have to be imported."""
    return _file_options(_find_class(name, name)) if name in _ENTRIES else frozenset()


def describe(name: str) -> BotDescription:
    """A bot that has a name, or a class; imports it."""
    found = _find_class(name, name)
    if name in _ENTRIES:
        return BotDescription(name, _ENTRIES[name][1], _options(found), "")
    summary = (found.__doc__ or "").strip().partition("\n")[0]
    return BotDescription(name, summary, _options(found), _origin(name))


def describe_all() -> list[BotDescription]:
    """Every bot that has a name, by name; imports all of them. A declared bot that fails has the reason for summary.

    Raises:
        SpecError: a built-in bot cannot be imported.
    """
    described = []
    for name in known_names():
        try:
            described.append(describe(name))
        except SpecError as error:
            if name in _ENTRIES:
                raise
            described.append(BotDescription(name, str(error), (), _origin(name)))
    return described


# ---- finding a bot's class
def _declared() -> dict[str, EntryPoint]:
    """The bots that installed distributions declare, by name; a built-in bot keeps its name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name not in _ENTRIES}


def _origin(name: str) -> str:
    """The distribution that declares a bot, and its version; empty where none does."""
    distribution = point.dist if (point := _declared().get(name)) else None
    return "" if distribution is None else f"{distribution.name} {distribution.version}"


def _find_class(name: str, spec: str, directory: str | None = None) -> type[Bot]:
    if name in _ENTRIES:
        place, _, class_name = _ENTRIES[name][0].partition(":")
    elif (reference := _REFERENCE.fullmatch(name)) is not None:
        place = reference["place"]
        class_name = reference["name"]
    else:
        declared = _declared()
        if name not in declared:
            problem = f"there is no bot {quoted(name)}"
            if (near := nearest_name(name)) is not None:
                raise SpecError(spec, f"{problem}; did you mean {near!r}?")
            problem = f"{problem}; there are: {', '.join(sorted([*_ENTRIES, *declared]))}"
            raise SpecError(spec, f"{problem}; a bot of your own is named file.py:Class or module:Class")
        place, _, class_name = declared[name].value.partition(":")
    module = _import(place, spec, directory)
    found = getattr(module, class_name.strip(), None)
    if found is None:
        here = sorted(
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, Bot) and value.__module__ == module.__name__
        )
        raise SpecError(spec, f"{place} has no class {quoted(class_name)}; its bots: {', '.join(here) or 'none'}")
    if not (isinstance(found, type) and issubclass(found, Bot)):
        raise SpecError(spec, f"{class_name} in {place} is not a bot: derive it from bots.Bot")
    return found


def source_problem(name: str, directory: str | None = None, python_path: str = "") -> str | None:
    """Why a bot named as a class in a file or module cannot be made, as far as its source shows; imports nothing.

    Args:
        python_path: the folders, as in ``PYTHONPATH``, in which its process looks for modules besides ours.
    """
    import ast
    import warnings

    reference = _REFERENCE.fullmatch(name)
    if reference is None:
        return None
    place = reference["place"]
    class_name = reference["name"]
    folder = directory or os.getcwd()
    path: str | None = os.path.join(folder, place)
    if not place.endswith(".py"):
        own = [os.path.join(folder, entry) for entry in python_path.split(os.pathsep) if entry]
        missing, path = _locate(place, [folder, *own, *sys.path])
        if missing:
            return f"there is no module {missing!r}"
    elif not os.path.isfile(path or ""):
        return f"there is no file {place}"
    if path is None:
        return None
    try:
        with open(path, "rb") as file, warnings.catch_warnings(action="ignore"):
            tree = ast.parse(file.read(), place)
    except (SyntaxError, ValueError) as error:
        return f"{place} cannot be imported: {in_one_line(error)}"
    except (OSError, RecursionError, MemoryError):
        return None
    # A class may also come from another module, from a function, or from a text.
    words = {"*", "__getattr__", class_name}
    for node in ast.walk(tree):
        for field in ("id", "name", "asname", "value"):
            if isinstance(word := getattr(node, field, None), str) and word in words:
                return None
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return f"{place} has no class {quoted(class_name)}; its classes: {', '.join(classes) or 'none'}"


def _locate(place: str, path: list[str]) -> tuple[str, str | None]:
    """The part of a module's name that is not found, and the module's source, if it has one; imports nothing."""
    importlib.invalidate_caches()
    parts = place.split(".")
    source = None
    for number in range(1, len(parts) + 1):
        name = ".".join(parts[:number])
        spec = next((spec for finder in sys.meta_path if (spec := finder.find_spec(name, path)) is not None), None)
        if spec is None:
            return name, None
        path = list(spec.submodule_search_locations or ())
        source = spec.origin
    return "", source if source is not None and source.endswith(".py") else None


def _import(place: str, spec: str, directory: str | None) -> ModuleType:
    folder = directory or os.getcwd()
    try:
        if place.endswith(".py"):
            path = os.path.abspath(os.path.join(folder, place))
            if not os.path.isfile(path):
                raise SpecError(spec, f"there is no file {place}")
            return _import_file(path)
        if folder not in sys.path:
            # Last, so that nothing in it hides an installed package.
            sys.path.append(folder)
        module = importlib.import_module(place)
    except SpecError:
        raise
    except BaseException as error:
        if is_interrupt(error):
            raise
        if isinstance(error, ModuleNotFoundError) and error.name and f"{place}.".startswith(f"{error.name}."):
            raise SpecError(spec, f"there is no module {error.name!r}") from None
        raise SpecError(spec, f"{place} cannot be imported: {located(error)}") from error
    meant = os.path.join(folder, *place.split("."))
    found = getattr(module, "__file__", None) or ""
    if os.path.isfile(f"{meant}.py") and not os.path.samefile(f"{meant}.py", found):
        if any(entry.startswith(f"{place}:") for entry, _ in _ENTRIES.values()):
            home = os.path.abspath(found).removesuffix(os.path.join(os.sep, *place.split(".")) + ".py")
            problem = f"acpc-arena runs from {home}, and this folder is another checkout"
            raise SpecError(spec, f"{problem}; to use this one: pip install -e {folder}")
        raise SpecError(spec, f"the module {place!r} is {found} here; name the file: {meant}.py:Class")
    return module


_FILES: Final[dict[str, ModuleType]] = {}
"""The files imported as bots, by path."""


def _import_file(path: str) -> ModuleType:
    """Import a file, with its folder first on the path; once, however often it is asked for.

    Where a bot from another folder has a helper of the same name (both have a ``strategy.py``), each gets its own: what
    this file imports stays with it, and the name still means the helper of the bot that was first. So a helper
    has to be imported at the top of a file, not inside a function.
    """
    from importlib.util import module_from_spec, spec_from_file_location

    for module in [*_FILES.values(), *sys.modules.values()]:
        if getattr(module, "__file__", None) == path:
            return module
    folder = os.path.dirname(path)
    stem = os.path.basename(path).removesuffix(".py")
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
    name = next(name for number in count(1) if (name := stem if number == 1 else f"{stem}_{number}") not in sys.modules)
    file_spec = spec_from_file_location(name, path)
    assert file_spec is not None
    assert file_spec.loader is not None
    neighbours = {neighbour.removesuffix(".py") for neighbour in os.listdir(folder)} - {stem}
    others = tuple({os.path.join(os.path.dirname(other), "") for other in _FILES} - {os.path.join(folder, "")})
    hidden = {
        known: module
        for known, module in sys.modules.items()
        if known.partition(".")[0] in neighbours and (getattr(module, "__file__", None) or "").startswith(others)
    }
    for known in hidden:
        del sys.modules[known]
    module = sys.modules[name] = module_from_spec(file_spec)
    try:
        file_spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        tops = {known.partition(".")[0] for known in hidden}
        for known in [known for known in sys.modules if known.partition(".")[0] in tops]:
            del sys.modules[known]
        sys.modules.update(hidden)
    _FILES[path] = module
    return module


# ---- options
def _options(bot: type[Bot]) -> tuple[Option, ...]:
    """The options of a bot by the names that people type, with their defaults; None where there is none."""
    found: list[Option] = []
    for option in options_of(bot, is_every=True):
        if hasattr(option.default, "__dataclass_fields__"):
            inner = options_of(type(option.default))
            found += [one._replace(default=getattr(option.default, one.name)) for one in inner]
        else:
            default = None if option.default is NO_DEFAULT else option.default
            found.append(option._replace(name=option.name.removesuffix("_"), default=default))
    return tuple(found)


def _file_options(bot: type[Bot]) -> frozenset[str]:
    return frozenset(option.name for option in _options(bot) if option.type_name == "file")


def _arguments(bot: type[Bot], given: Mapping[str, OptionValue]) -> dict[str, object]:
    arguments: dict[str, object] = {}
    for name, _, default, *_ in options_of(bot, is_every=True):
        if hasattr(default, "__dataclass_fields__") and not isinstance(default, type):
            from dataclasses import replace

            named = {one.name for one in options_of(type(default))}
            arguments[name] = replace(default, **{one: value for one, value in given.items() if one in named})
        elif name.removesuffix("_") in given:
            arguments[name] = given[name.removesuffix("_")]
    return arguments


def _list_options(name: str, valid: Mapping[str, Option]) -> str:
    if not valid:
        return f"{name} takes no options"
    listed = [f"{o.name} ({o.type_name}, default {'none' if o.default is None else o.default})" for o in valid.values()]
    return f"its options, separated by commas: {', '.join(listed)}"
