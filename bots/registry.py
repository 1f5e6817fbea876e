"""The bots that come with the arena, by name, and how to ask for one: ``random?fold=0.1,call=0.5,raise=0.4``.

A bot's options are the keyword-only parameters of its constructor: their names (less the underscore that keeps
``raise_`` from being a Python word), types and defaults are read off the constructor, so they are written down in one
place only. The module of a bot is imported when the bot is asked for, never before: a playing bot pays for no other's
imports.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from bots.bot import Bot
from bots.errors import SpecError

__all__ = [
    "BotDescription",
    "BotSpec",
    "OptionDescription",
    "builtin_names",
    "describe_all",
    "make_bot",
    "parse_spec",
]

OptionValue: TypeAlias = str | int | float | bool | None


class BotSpec(NamedTuple):
    """A bot asked for: its name, and its options by name, each of the type that the bot takes."""

    name: str
    options: Mapping[str, OptionValue]


class OptionDescription(NamedTuple):
    """One option of a bot: its name, the word for its type, its default."""

    name: str
    type_name: str
    default: OptionValue


class BotDescription(NamedTuple):
    """One bot: its name, one line on what it does, its options."""

    name: str
    summary: str
    options: tuple[OptionDescription, ...]


class _Entry(NamedTuple):
    module: str
    class_name: str
    summary: str


_ENTRIES: Final[Mapping[str, _Entry]] = {
    "calling": _Entry("bots.baseline", "CallingBot", "calls every bet and never makes one"),
    "constant": _Entry("bots.baseline", "ConstantBot", "takes one and the same action always"),
    "folding": _Entry("bots.baseline", "FoldingBot", "folds to every bet"),
    "mfs": _Entry("bots.formula.bot", "MfsBot", "weighs its chance to win against the price, in hold'em games"),
    "raising": _Entry("bots.baseline", "RaisingBot", "raises whenever it may"),
    "random": _Entry("bots.baseline", "RandomBot", "draws fold, call or raise with fixed probabilities"),
    "rembrant": _Entry("bots.rembrant.bot", "RembrantBot", "plays the rule tables of Rembrant in hold'em games"),
    "rh": _Entry("bots.formula.bot", "RhBot", "weighs the pot against raises, players and price, blind to its cards"),
}


class _Type(NamedTuple):
    word: str
    read: Callable[[str], OptionValue]


def _read_bool(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


_TYPES: Final[Mapping[str, _Type]] = {
    "int": _Type("whole number", int),
    "int | None": _Type("whole number", int),
    "float": _Type("number", float),
    "str": _Type("text", str),
    "str | None": _Type("text", str),
    "bool": _Type("true or false", _read_bool),
}
"""How to read the text of an option, by the annotation of its parameter."""


def builtin_names() -> tuple[str, ...]:
    """The names of all built-in bots; imports none of them."""
    return tuple(_ENTRIES)


def parse_spec(spec: str) -> BotSpec:
    """Read ``NAME`` or ``NAME?OPTION=VALUE,OPTION=VALUE``.

    Raises:
        SpecError: no such bot, no such option, or not a value of that option; the sentence lists what there is.
    """
    name, _, rest = spec.partition("?")
    valid = {option.name: option for option in _options(_find_class(name, spec))}
    options: dict[str, OptionValue] = {}
    for item in rest.split(",") if rest else ():
        option, is_given, text = item.partition("=")
        option = option.strip()
        if option not in valid:
            raise SpecError(spec, f"{name} has no option {option!r}; {_list_options(name, valid)}")
        if option in options:
            raise SpecError(spec, f"the option {option!r} is given twice")
        if not is_given:
            raise SpecError(spec, f"the option {option!r} needs a value: {option}=VALUE; {_list_options(name, valid)}")
        word, read = valid[option].type_name, _READ_BY_WORD[valid[option].type_name]
        try:
            options[option] = read(text.strip())
        except (ValueError, KeyError):
            problem = f"{option} must be a {word}, not {text!r}; {_list_options(name, valid)}"
            raise SpecError(spec, problem) from None
    return BotSpec(name, options)


def make_bot(spec: str, seed: int | None = None) -> Bot:
    """The bot that a text like ``random?fold=0.1`` asks for.

    Args:
        spec: the bot's name and options.
        seed: start of its random numbers, for bots that draw any; a seed among the options goes first.

    Raises:
        SpecError: no such bot, or options it does not take.
    """
    name, options = parse_spec(spec)
    found = _find_class(name, spec)
    valid = {option.name for option in _options(found)}
    given = dict(options)
    if seed is not None and "seed" in valid:
        given.setdefault("seed", seed)
    try:
        return found(**{_parameter(found, option): value for option, value in given.items()})
    except ValueError as error:
        raise SpecError(spec, str(error)) from None


def describe_all() -> list[BotDescription]:
    """Every bot there is, by name. Imports all of them."""
    return [
        BotDescription(name, entry.summary, _options(_find_class(name, name)))
        for name, entry in sorted(_ENTRIES.items())
    ]


_READ_BY_WORD: Final = {kind.word: kind.read for kind in _TYPES.values()}


def _find_class(name: str, spec: str) -> type[Bot]:
    entry = _ENTRIES.get(name)
    if entry is None:
        raise SpecError(spec, f"there is no bot {name!r}; there are: {', '.join(sorted(_ENTRIES))}")
    found = getattr(importlib.import_module(entry.module), entry.class_name)
    assert isinstance(found, type)
    assert issubclass(found, Bot)
    return found


def _parameters(bot: type[Bot]) -> dict[str, OptionValue]:
    """The keyword-only parameters of a constructor and their defaults; none for a bot without a constructor."""
    return dict(getattr(bot.__init__, "__kwdefaults__", None) or {})


def _parameter(bot: type[Bot], option: str) -> str:
    return option if option in _parameters(bot) else f"{option}_"


def _options(bot: type[Bot]) -> tuple[OptionDescription, ...]:
    annotations = getattr(bot.__init__, "__annotations__", {})
    return tuple(
        OptionDescription(name.removesuffix("_"), _TYPES[annotations[name]].word, default)
        for name, default in _parameters(bot).items()
    )


def _list_options(name: str, valid: Mapping[str, OptionDescription]) -> str:
    if not valid:
        return f"{name} takes no options"
    listed = [f"{o.name} ({o.type_name}, default {'none' if o.default is None else o.default})" for o in valid.values()]
    return f"its options: {', '.join(listed)}"
