"""The command line's reader of declared options (`bots.sdk.options`), and the options that commands share.

A command declares its options in its signature, or takes all of a dataclass as one object:

    def train(
        terminal: Terminal,
        settings: TrainingSettings,
        hours: Annotated[float | None, "Stop after this many hours.", Interval(0)] = None,
    ) -> None: ...

`takes_options` makes parameters for typer of both. With `Annotated[Given, RunSettings]` a command takes those that were
typed, by name: then a configuration file decides about the others, and then their defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, get_args, get_origin, get_type_hints

import typer

from bots.sdk.options import NO_DEFAULT, Option, Wording, options_of
from dealer.cli.shell.completion import COMPLETERS
from dealer.cli.shell.console import Terminal, abort
from dealer.errors import ConfigError

if TYPE_CHECKING:
    from logs.formats.export_format import ExportWarning

Given: TypeAlias = dict[str, Any]
"""The options that were typed, by name."""
_OUTPUT: Final = "Output"
Out: TypeAlias = Annotated[
    Path | None, "New or empty folder for logs and results.", Wording(group=_OUTPUT, otherwise="a new one in runs/")
]
Quiet: TypeAlias = Annotated[bool, "Print the result as a sentence only.", Wording(flags="-q", group=_OUTPUT)]
JsonOutput: TypeAlias = Annotated[
    bool, "Print the result as JSON and nothing else.", Wording(flags="--json", group=_OUTPUT)
]
Json: TypeAlias = Annotated[bool, "Print everything as JSON.", Wording(flags="--json")]
Junit: TypeAlias = Annotated[
    Path | None, "Write a JUnit report for a build server.", Wording("FILE", group=_OUTPUT, is_rare=True)
]
Verbose: TypeAlias = Annotated[
    bool, "Log connections, faults and restarts to standard error.", Wording(flags="-v", group=_OUTPUT, is_rare=True)
]
Scheduler: TypeAlias = Annotated[
    str | None,
    "Let a dask cluster play: each of its workers a contest at a time.",
    Wording("ADDRESS", group="Match", is_rare=True),
]
_NAMES: Final[Mapping[str, str]] = {
    "directory": "directory",
    "seating": "--permutations",
    "format": "--gauntlet",
    "name": "--name",
}
"""Names for users of the settings that have no option named after them."""
_UNITS: Final = {"_s": "SECONDS", "_ms": "MS", "_mbb": "MBB", "_mb": "MB"}
_TEXTS: Final = {"game": "GAME", "games": "GAMES"}
"""The names of the values of some options that are texts."""
_KINDS: Final = {int: "N", float: "X", str: "TEXT", Path: "PATH"}


def option_of(setting: str) -> str:
    """The option of a setting; empty if it is an argument without a name."""
    from dealer.run.run_settings import RunSettings

    named = {option.name for option in options_of(RunSettings) if option.wording.is_flag}
    return _flag(setting) if setting in named else _NAMES.get(setting, "")


def _flag(name: str) -> str:
    return "--" + name.removesuffix("_ms").removesuffix("_s").replace("_", "-")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run that are not its settings."""

    duplicate: Annotated[
        bool | None,
        "Play the same cards again with the seats rotated: with fresh bots, so that the luck of the cards cancels.",
        Wording(flags="--duplicate/--no-duplicate", group="Match", otherwise="on, unless a player is 'tcp'"),
    ] = None
    permutations: Annotated[bool, "Play the cards in every order of the players.", Wording(is_rare=True)] = False
    config: Annotated[
        Path | None,
        "Settings as TOML: for example the run.toml of an earlier run; command-line options take precedence.",
        Wording("FILE"),
    ] = None
    out: Out = None
    quiet: Quiet = False
    as_json: JsonOutput = False
    junit: Junit = None
    verbose: Verbose = False

    @property
    def seating(self) -> Given:
        """The setting, if an option decides it."""
        from dealer.run.choices import Seating

        if self.permutations and self.duplicate is not None:
            raise ConfigError("--permutations plays every order of the players: leave out --[no-]duplicate")
        if self.permutations:
            return {"seating": Seating.PERMUTATIONS}
        if self.duplicate is None:
            return {}
        return {"seating": Seating.ROTATIONS if self.duplicate else Seating.SINGLE}


def warning_text(warning: ExportWarning) -> str:
    """A warning with the option that helps."""
    if warning.lacks_begin:
        return f"{warning.problem}; --begin sets when the match began."
    if warning.better is None:
        return f"{warning.problem}."
    return f"{warning.problem}: --stakes {warning.better} would help."


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Make typer's parameters of a command's options; those of a dataclass reach it as one object, or as `Given`.

    The result has the names of options that are rarely needed as `rare_options`.
    """
    hints = get_type_hints(command, include_extras=True)
    own = {option.name: option for option in options_of(command)}
    # The commands of a group come here again when the application is made twice in a process.
    rare = set(getattr(command, "rare_options", ()))
    rare.update(option.name for option in own.values() if option.wording.is_rare)
    groups: dict[str, tuple[Callable[..., Any], list[Option]]] = {}
    parameters = []
    terminals = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in own:
            parameters.append(_parameter(own[name], _required_or_default(own[name])))
            continue
        if hints[name] is Terminal:
            terminals.append(name)
            parameters.append(parameter.replace(annotation=typer.Context, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        declared, is_given, defaults = _declared_options(hints[name])
        if declared is None:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        options = [option for option in options_of(declared) if option.wording.is_flag]
        groups[name] = (dict if is_given else declared), options
        for option in options:
            parameters.append(_parameter(option, None, defaults.get(option.name, "")))
            if option.wording.is_rare:
                rare.add(option.name)

    def run(**values: Any) -> None:
        for name in terminals:
            values[name] = values[name].ensure_object(Terminal)
        for name, (make, options) in groups.items():
            typed = _typed(values, options)
            if make is not dict:
                _split_texts(typed, options)
            try:
                values[name] = make(**typed)
            except ValueError as error:
                abort(str(error))
        command(**values)

    run.__doc__ = command.__doc__
    run.__name__ = command.__name__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.rare_options = frozenset(rare)  # type: ignore[attr-defined]
    return run


def _required_or_default(option: Option) -> Any:
    return inspect.Parameter.empty if option.default is NO_DEFAULT else option.default


def _declared_options(hint: Any) -> tuple[Any, bool, Mapping[str, str]]:
    """The dataclass whose options a parameter takes, whether it takes them as `Given`, and defaults in other words.

    The dataclass is None for an argument of typer.
    """
    kind = hint
    about: list[Any] = []
    if get_origin(hint) is Annotated:
        kind, *about = get_args(hint)
    defaults: Mapping[str, str] = {}
    for item in about:
        if isinstance(item, dict):
            defaults = item
    for item in (kind, *about):
        if isinstance(item, type) and is_dataclass(item):
            return item, item is not kind, defaults
    return None, False, defaults


def _typed(values: dict[str, Any], options: Sequence[Option]) -> Given:
    """Remove the values of options, and return those that were typed."""
    typed = {}
    for option in options:
        value = values.pop(option.name)
        if value is not None:
            typed[option.name] = value
    return typed


def _split_texts(typed: Given, options: Sequence[Option]) -> None:
    """Split the texts of options that have several values."""
    for option in options:
        if get_origin(option.kind) is tuple and option.name in typed:
            typed[option.name] = tuple(typed[option.name].split())


def _parameter(option: Option, default: Any, shown: str = "") -> inspect.Parameter:
    """The parameter for typer; `shown` is the default in the help, where it is not the declared one."""
    wording = option.wording
    names = wording.flags.split()
    if not any(name.startswith("--") for name in names):
        names.insert(0, _flag(option.name))
    if option.kind is bool and option.default is True:
        names[0] += f"/--no-{names[0].removeprefix('--')}"
    # Several values are one text, as in 'a b' or in files; an option that is repeated has a list.
    kind = str if get_origin(option.kind) is tuple else option.kind
    unit = wording.unit or next((word for end, word in _UNITS.items() if option.name.endswith(end)), "")
    if not unit and kind is str:
        unit = _TEXTS.get(option.name, "")
    about = typer.Option(
        *names,
        help=option.sentence,
        metavar=unit or _KINDS.get(kind),
        min=option.bounds.low,
        max=option.bounds.high,
        show_default=shown or wording.otherwise or _text(option.default) or False,
        rich_help_panel=option.group or None,
        autocompletion=COMPLETERS.get(unit),
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind | None if default is None else kind, about],
    )


def _text(default: Any) -> str:
    """A default in words; empty for one that says nothing."""
    if default is True:
        return "on"
    if isinstance(default, float):
        return f"{default:g}"
    if isinstance(default, tuple):
        return " ".join(map(str, default))
    says_nothing = default is None or default is False or default is NO_DEFAULT
    return "" if says_nothing else str(getattr(default, "value", default))
