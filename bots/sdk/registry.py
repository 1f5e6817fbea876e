"""Registry of Python bots: find a bot by its name, read its options, make it.

A bot is named in one of four ways:

    random                     a bot that comes with the arena
    shark                      a bot that an installed distribution declares
    my_package.bots:Shark      a class in a module, also one in the current folder
    bots/shark.py:Shark        a class in a file, which may import its neighbours

Options follow a question mark: ``random?fold=0.1,call=0.5,raise=0.4``. They are the parameters of the constructor
(`bots.sdk.options`), without the underscore in names such as ``raise_``. If the default of a parameter is a dataclass,
its fields are options instead. A distribution declares bots by entry points:

    [project.entry-points."acpc_arena.bots"]
    shark = "my_package.bots:Shark"
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from bots.errors import SpecError, in_one_line, is_interrupt, located
from bots.sdk.bot import Bot
from bots.sdk.options import NO_DEFAULT, Option, options_of
from engine.errors import quoted

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_ENTRY_POINT_GROUP: Final = "acpc_arena.bots"
"""Group of the entry points by which distributions declare bots."""
SEED_VARIABLE: Final = "ARENA_SEED"
"""Environment variable with the seed of a bot's process, if no option sets it.

Not an argument, since all users of a machine can read command lines and the seed would reveal a bot's draws.
"""
EXCHANGES_VARIABLE: Final = "ARENA_EXCHANGES"
"""Environment variable with the path of `Bot.keep_exchanges`."""
RESPONSE_VARIABLE: Final = "ARENA_RESPONSE_S"
"""Environment variable with the dealer's limit for an answer, in seconds."""
OptionValue: TypeAlias = str | int | float | bool | None


class BotDescription(NamedTuple):
    """Name, summary and options of a bot.

    Attributes:
        origin: distribution that declares the bot, and its version; empty for a built-in bot.
    """

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
    "kuhn": ("bots.kuhn.bot:GenesBot", "plays genes from a file"),
    "kuhn-bluffer": ("bots.kuhn.bot:BlufferBot", "bets and raises with weak cards, too"),
    "kuhn-caller": ("bots.kuhn.bot:CallerBot", "bets and calls with every card"),
    "kuhn-folder": ("bots.kuhn.bot:FolderBot", "never puts in a chip"),
    "kuhn-rational": ("bots.kuhn.bot:RationalBot", "plays half of its middle cards"),
    "kuhn-safe": ("bots.kuhn.bot:SafeBot", "bets and calls only its best card"),
    "kuhn-shy": ("bots.kuhn.bot:ShyBot", "never bets, calls with its best card"),
    "learner": ("bots.learner.bot:LearnerBot", "learns which actions earn most"),
    "lbr": ("bots.evaluation.bot:LbrBot", "one-step answer to a given policy"),
    "llm": ("bots.llm.bot:LlmBot", "asks a language model"),
    "lp": ("bots.lp_mc.bot:LpBot", "plays the preflop equilibrium"),
    "lp-mc": ("bots.lp_mc.bot:LpMcBot", "preflop equilibrium, then simulation"),
    "mc": ("bots.lp_mc.bot:McBot", "simulates each hand to its end"),
    "mfs": ("bots.formula.bot:MfsBot", "weighs its chance against the price"),
    "raising": ("bots.baseline:RaisingBot", "raises whenever it can"),
    "random": ("bots.baseline:RandomBot", "draws its actions at fixed rates"),
    "rembrant": ("bots.rembrant.bot:RembrantBot", "plays the rule tables of Rembrant"),
    "rh": ("bots.formula.bot:RhBot", "weighs pot and price, not its cards"),
}
"""Class and summary of each built-in bot, by name.

The class is a text, so that a bot's module is imported only when the bot is made.
"""
_REFERENCE: Final = re.compile(r"(?P<place>.+\.py|[A-Za-z_]\w*(?:\.\w+)*):(?P<name>[A-Za-z_]\w*)", re.DOTALL)


def builtin_names() -> tuple[str, ...]:
    """Return the names of all built-in bots, without importing any."""
    return tuple(_ENTRIES)


def known_names() -> list[str]:
    """Return the sorted names of all built-in and declared bots, without importing any."""
    return sorted([*_ENTRIES, *_declared()])


def nearest_name(name: str) -> str | None:
    """Return the known name that a misspelt one probably means, or None."""
    from engine.text import closest_word

    return closest_word(name, known_names())


def is_builtin(spec: str) -> bool:
    """Return whether a text names a built-in bot, with or without options."""
    return spec.partition("?")[0] in _ENTRIES


def is_bot_name(name: str) -> bool:
    """Return whether a text without options names a Python bot, without importing the bot."""
    if name in _ENTRIES or _REFERENCE.fullmatch(name) is not None:
        return True
    # The cheap test first: `_declared` reads the metadata of all distributions.
    return name.replace("-", "_").isidentifier() and name in _declared()


def parse_spec(spec: str, directory: str | None = None) -> tuple[type[Bot], dict[str, OptionValue]]:
    """Parse ``NAME`` or ``NAME?OPTION=VALUE,OPTION=VALUE``, and import the bot's class.

    Args:
        directory: folder of files and modules; None for the current one.

    Returns:
        the class and the values of the options by name, converted to their types.

    Raises:
        SpecError: there is no such bot, it cannot be imported, or an option is unknown, repeated or of another type.
    """
    name, _, rest = spec.partition("?")
    bot_class = _find_class(name, spec, directory)
    valid = {option.name: option for option in _options(bot_class)}
    options: dict[str, OptionValue] = {}
    if not rest:
        return bot_class, options
    for item in rest.split(","):
        option, has_value, text = item.partition("=")
        option = option.strip()
        if option not in valid:
            raise SpecError(spec, f"{name} has no option {quoted(option)}; {_list_options(name, valid)}")
        if option in options:
            raise SpecError(spec, f"the option {quoted(option)} is given twice")
        if not has_value:
            problem = f"the option {quoted(option)} needs a value: {option}=VALUE"
            raise SpecError(spec, f"{problem}; {_list_options(name, valid)}")
        try:
            options[option] = valid[option].parse(text.strip())
        except ValueError:
            problem = f"{option} must be a {valid[option].type_name}, not {quoted(text)}"
            raise SpecError(spec, f"{problem}; {_list_options(name, valid)}") from None
    return bot_class, options


def make_bot(spec: str, seed: int | None = None, *, directory: str | None = None) -> Bot:
    """Make the bot that a text such as ``random?fold=0.1`` names.

    Args:
        seed: passed to bots with an option ``seed``, unless the text sets it.
        directory: folder of files and modules; None for the current one.

    Raises:
        SpecError: there is no such bot, it cannot be imported, it does not take such options, or its constructor
            raised. An exception of the bot's own code is the error's cause.
    """
    bot_class, values = parse_spec(spec, directory)
    for name in _file_options(bot_class) & values.keys():
        path = values[name]
        if isinstance(path, str) and path:
            values[name] = os.path.join(directory or "", path)
    if seed is not None and any(option.name == "seed" for option in _options(bot_class)):
        values.setdefault("seed", seed)
    try:
        arguments = _arguments(bot_class, values)
    except ValueError as error:
        # A dataclass of options raises it for a value out of bounds.
        raise SpecError(spec, str(error)) from error
    return _construct(bot_class, arguments, spec)


def make_bot_from(source: type[Bot] | Bot, seed: int | None = None) -> Bot:
    """Make a bot from a class, or copy a bot, so that matches share no object.

    Args:
        seed: passed to a class whose constructor has a parameter ``seed``.

    Raises:
        SpecError: the constructor raised, or the bot cannot be copied.
    """
    if isinstance(source, type):
        from inspect import signature

        arguments: dict[str, object] = {}
        if seed is not None and "seed" in signature(source).parameters:
            arguments["seed"] = seed
        return _construct(source, arguments, source.__name__)
    from copy import deepcopy

    name = type(source).__name__
    try:
        return deepcopy(source)
    except BaseException as error:
        if is_interrupt(error):
            raise
        problem = f"the object cannot be copied, and each match has its own: {in_one_line(error)}; pass the class"
        raise SpecError(name, problem) from error


def _construct(bot_class: type[Bot], arguments: Mapping[str, object], spec: str) -> Bot:
    try:
        return bot_class(**arguments)
    except ValueError as error:
        raise SpecError(spec, str(error)) from error
    except BaseException as error:
        if is_interrupt(error):
            raise
        raise SpecError(spec, f"{bot_class.__name__} cannot be made: {located(error)}") from error


def builtin_file_options(name: str) -> frozenset[str]:
    """Return the names of a built-in bot's options that are paths; empty for other bots."""
    # Another bot would have to be imported.
    if name not in _ENTRIES:
        return frozenset()
    return _file_options(_find_class(name, name))


def describe(name: str) -> BotDescription:
    """Import a bot and describe it.

    Args:
        name: a bot's name without options.

    Raises:
        SpecError: there is no such bot, or it cannot be imported.
    """
    bot_class = _find_class(name, name)
    if name in _ENTRIES:
        return BotDescription(name, _ENTRIES[name][1], _options(bot_class), "")
    summary = (bot_class.__doc__ or "").strip().partition("\n")[0]
    return BotDescription(name, summary, _options(bot_class), _origin(name))


def describe_all() -> list[BotDescription]:
    """Import and describe all built-in and declared bots.

    If a declared bot cannot be imported, its summary is the reason.

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
    """Return the entry points of declared bots by name, without those named like a built-in bot."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=_ENTRY_POINT_GROUP) if point.name not in _ENTRIES}


def _origin(name: str) -> str:
    """Return name and version of the distribution that declares a bot; empty if none does."""
    point = _declared().get(name)
    distribution = None if point is None else point.dist
    if distribution is None:
        return ""
    return f"{distribution.name} {distribution.version}"


def _find_class(name: str, spec: str, directory: str | None = None) -> type[Bot]:
    if name in _ENTRIES:
        place, _, class_name = _ENTRIES[name][0].partition(":")
    elif (reference := _REFERENCE.fullmatch(name)) is not None:
        place = reference["place"]
        class_name = reference["name"]
    else:
        declared = _declared()
        if name not in declared:
            raise _unknown_bot(name, spec)
        place, _, class_name = declared[name].value.partition(":")
    module = _import(place, spec, directory)
    bot_class = getattr(module, class_name.strip(), None)
    if bot_class is None:
        names = ", ".join(_own_bots(module)) or "none"
        raise SpecError(spec, f"{place} has no class {quoted(class_name)}; its bots: {names}")
    if not (isinstance(bot_class, type) and issubclass(bot_class, Bot)):
        raise SpecError(spec, f"{class_name} in {place} is not a bot: derive it from bots.Bot")
    return bot_class


def _unknown_bot(name: str, spec: str) -> SpecError:
    problem = f"there is no bot {quoted(name)}"
    if (near := nearest_name(name)) is not None:
        return SpecError(spec, f"{problem}; did you mean {near!r}?")
    problem = f"{problem}; there are: {', '.join(known_names())}"
    return SpecError(spec, f"{problem}; a bot of your own is named file.py:Class or module:Class")


def _own_bots(module: ModuleType) -> list[str]:
    """Return the sorted names of the bots that a module defines itself."""
    names = []
    for name, value in vars(module).items():
        if isinstance(value, type) and issubclass(value, Bot) and value.__module__ == module.__name__:
            names.append(name)
    return sorted(names)


def source_problem(name: str, directory: str | None = None, python_path: str = "") -> str | None:
    """Check by its source, without importing it, that a bot in a file or module can be made.

    Args:
        python_path: folders of modules besides those of this process, in the form of ``PYTHONPATH``.

    Returns:
        the problem, or None if the source shows none or cannot be read.
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
        more_folders = [os.path.join(folder, entry) for entry in python_path.split(os.pathsep) if entry]
        missing, path = _locate(place, [folder, *more_folders, *sys.path])
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
    # A module may also import its class, build it in a function, or hold its name in a text. So any mention of the name
    # will do, and so will a `*` import or a module `__getattr__`.
    accepted_words = {"*", "__getattr__", class_name}
    for node in ast.walk(tree):
        for field in ("id", "name", "asname", "value"):
            word = getattr(node, field, None)
            if isinstance(word, str) and word in accepted_words:
                return None
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return f"{place} has no class {quoted(class_name)}; its classes: {', '.join(classes) or 'none'}"


def _locate(place: str, path: list[str]) -> tuple[str, str | None]:
    """Search a module in folders, importing nothing.

    Returns:
        the first part of its name that does not exist, else empty, and the path of its source, if it has any.
    """
    importlib.invalidate_caches()
    parts = place.split(".")
    source = None
    for number in range(1, len(parts) + 1):
        name = ".".join(parts[:number])
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path)
            if spec is not None:
                break
        else:
            return name, None
        path = list(spec.submodule_search_locations or ())
        source = spec.origin
    if source is None or not source.endswith(".py"):
        return "", None
    return "", source


def _import(place: str, spec: str, directory: str | None) -> ModuleType:
    folder = directory or os.getcwd()
    try:
        if place.endswith(".py"):
            path = os.path.abspath(os.path.join(folder, place))
            if not os.path.isfile(path):
                raise SpecError(spec, f"there is no file {place}")
            return _import_file(path)
        if folder not in sys.path:
            # Last, so that no file in it shadows an installed package.
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
    relative = os.path.join(*place.split(".")) + ".py"
    own_path = os.path.join(folder, relative)
    path = getattr(module, "__file__", None) or ""
    if not os.path.isfile(own_path) or os.path.samefile(own_path, path):
        return module
    if any(entry.startswith(f"{place}:") for entry, _ in _ENTRIES.values()):
        home = os.path.abspath(path).removesuffix(os.sep + relative)
        problem = f"acpc-arena runs from {home}, and this folder is another checkout"
        raise SpecError(spec, f"{problem}; to use this one: pip install -e {folder}")
    raise SpecError(spec, f"the module {place!r} is {path} here; name the file: {own_path}:Class")


_FILES: Final[dict[str, ModuleType]] = {}
"""Bot files imported so far, by path."""


def _import_file(path: str) -> ModuleType:
    """Import a file once, with its folder first on the path.

    If bots in two folders each have a ``strategy.py``, each bot imports its own. Afterwards `sys.modules` holds that
    of the first bot again, so a bot must import such a helper at the top of its file, not inside a function.
    """
    from importlib.util import module_from_spec, spec_from_file_location

    for module in [*_FILES.values(), *sys.modules.values()]:
        if getattr(module, "__file__", None) == path:
            return module
    folder = os.path.dirname(path)
    stem = os.path.basename(path).removesuffix(".py")
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
    name = stem
    number = 1
    while name in sys.modules:
        number += 1
        name = f"{stem}_{number}"
    file_spec = spec_from_file_location(name, path)
    assert file_spec is not None
    assert file_spec.loader is not None
    hidden = _modules_of_other_bots(folder, stem)
    for hidden_name in hidden:
        del sys.modules[hidden_name]
    module = module_from_spec(file_spec)
    sys.modules[name] = module
    try:
        file_spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        # Put back the hidden modules in place of this bot's, together with their submodules.
        hidden_packages = {hidden_name.partition(".")[0] for hidden_name in hidden}
        for loaded_name in list(sys.modules):
            if loaded_name.partition(".")[0] in hidden_packages:
                del sys.modules[loaded_name]
        sys.modules.update(hidden)
    _FILES[path] = module
    return module


def _modules_of_other_bots(folder: str, stem: str) -> dict[str, ModuleType]:
    """Return modules of other bots' folders that are named like a file in this bot's folder."""
    neighbours = {entry.removesuffix(".py") for entry in os.listdir(folder)}
    neighbours.discard(stem)
    other_folders = {os.path.join(os.path.dirname(path), "") for path in _FILES}
    other_folders.discard(os.path.join(folder, ""))
    hidden = {}
    for name, module in sys.modules.items():
        path = getattr(module, "__file__", None) or ""
        if name.partition(".")[0] in neighbours and path.startswith(tuple(other_folders)):
            hidden[name] = module
    return hidden


# ---- options
def _options(bot: type[Bot]) -> tuple[Option, ...]:
    """Return a bot's options under the names that users type, with None for no default."""
    options: list[Option] = []
    for option in options_of(bot, all_parameters=True):
        if hasattr(option.default, "__dataclass_fields__"):
            for field in options_of(type(option.default)):
                options.append(field._replace(default=getattr(option.default, field.name)))
            continue
        default = option.default
        if default is NO_DEFAULT:
            default = None
        options.append(option._replace(name=option.name.removesuffix("_"), default=default))
    return tuple(options)


def _file_options(bot: type[Bot]) -> frozenset[str]:
    return frozenset(option.name for option in _options(bot) if option.type_name == "file")


def _arguments(bot: type[Bot], values: Mapping[str, OptionValue]) -> dict[str, object]:
    """Convert values under the names that users type to arguments of the constructor."""
    arguments: dict[str, object] = {}
    for option in options_of(bot, all_parameters=True):
        default = option.default
        typed_name = option.name.removesuffix("_")
        if hasattr(default, "__dataclass_fields__") and not isinstance(default, type):
            from dataclasses import replace

            changes: dict[str, OptionValue] = {}
            for field in options_of(type(default)):
                if field.name in values:
                    changes[field.name] = values[field.name]
            arguments[option.name] = replace(default, **changes)
        elif typed_name in values:
            arguments[option.name] = values[typed_name]
    return arguments


def _list_options(name: str, valid: Mapping[str, Option]) -> str:
    if not valid:
        return f"{name} takes no options"
    texts = []
    for option in valid.values():
        default = "none" if option.default is None else option.default
        if isinstance(default, bool):
            # As it is written in an option.
            default = str(default).lower()
        texts.append(f"{option.name} ({option.type_name}, default {default})")
    return f"its options, separated by commas: {', '.join(texts)}"
