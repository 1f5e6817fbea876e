"""Convert declared options (`bots.sdk.options`) to options of the command line.

A command declares options in its signature, or takes all options of a dataclass as one object:

    def train(
        terminal: Terminal,
        settings: TrainingSettings,
        hours: Annotated[float | None, "Stop after this many hours.", Interval(0)] = None,
    ) -> None: ...

`takes_options` converts both. A parameter of type `Annotated[TypedOptions, RunSettings]` receives only the options that
were typed, so that a configuration file can set the others. With a frozenset of names, it has only these options.
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
from dealer.run.choices import ShownInterval

if TYPE_CHECKING:
    from logs.formats.export_format import ExportWarning

TypedOptions: TypeAlias = dict[str, Any]
"""Values of the options on the command line, by name; options that were not typed are absent."""
_OUTPUT: Final = "Output"
Out: TypeAlias = Annotated[
    Path | None, "New or empty folder for logs and results.", Wording(group=_OUTPUT, otherwise="a new one in runs/")
]
IntervalOption: TypeAlias = Annotated[
    ShownInterval,
    "Interval behind ±: 95 (%), or guaranteed, which holds for any distribution of winnings.",
    Wording(group=_OUTPUT, is_rare=True),
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
    "Play on a dask cluster, one contest per worker at a time.",
    Wording("ADDRESS", group="Match", is_rare=True),
]
_NAMES: Final[Mapping[str, str]] = {
    "directory": "directory",
    "seating": "--permutations",
    "format": "--gauntlet",
    "name": "--name",
}
"""Option or phrase by which messages name a setting that has no option of its own name."""
_UNITS: Final = {"_s": "SECONDS", "_ms": "MS", "_mbb": "MBB", "_mb": "MB"}
_TEXTS: Final = {"game": "GAME", "games": "GAMES"}
"""Placeholders of the values of options that are texts, by option."""
_KINDS: Final = {int: "N", float: "X", str: "TEXT", Path: "PATH"}


def option_of(setting: str) -> str:
    """Return the option of a setting, such as ``--seed``; empty for a positional argument."""
    from dealer.run.run_settings import RunSettings

    for option in options_of(RunSettings):
        if option.name == setting and option.wording.is_flag:
            return _flag(setting)
    return _NAMES.get(setting, "")


def _flag(name: str) -> str:
    return "--" + name.removesuffix("_ms").removesuffix("_s").replace("_", "-")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run besides its settings."""

    duplicate: Annotated[
        bool | None,
        "Play the same cards again with the seats rotated. Each seating has fresh bots; the luck of the cards cancels.",
        Wording(flags="--duplicate/--no-duplicate", group="Match", otherwise="on, unless a player is 'tcp'"),
    ] = None
    permutations: Annotated[bool, "Play the cards in every order of the players.", Wording(is_rare=True)] = False
    config: Annotated[
        Path | None,
        "TOML file with settings. It can be the run.toml of an earlier run; command-line options take precedence.",
        Wording("FILE"),
    ] = None
    out: Out = None
    interval: IntervalOption = ShownInterval.USUAL
    quiet: Quiet = False
    as_json: JsonOutput = False
    junit: Junit = None
    verbose: Verbose = False

    @property
    def seating(self) -> TypedOptions:
        """Setting ``seating``; empty if neither option was typed.

        Raises:
            ConfigError: the options contradict each other.
        """
        from dealer.run.choices import Seating

        if self.permutations and self.duplicate is not None:
            raise ConfigError("--permutations plays every order of the players; leave out --[no-]duplicate")
        if self.permutations:
            return {"seating": Seating.PERMUTATIONS}
        if self.duplicate is None:
            return {}
        if self.duplicate:
            return {"seating": Seating.ROTATIONS}
        return {"seating": Seating.SINGLE}


def warning_text(warning: ExportWarning) -> str:
    """Format a warning of an export together with the option that avoids it."""
    if warning.lacks_begin:
        return f"{warning.problem}; --begin sets when the match began."
    if warning.better is None:
        return f"{warning.problem}."
    return f"{warning.problem}: --stakes {warning.better} would help."


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command in a function whose parameters are typer's.

    A parameter of type `Terminal` receives the terminal, one of a dataclass an object made of its options. The
    attribute `rare_options` of the result holds the names of options that the short help does not explain.
    """
    hints = get_type_hints(command, include_extras=True)
    own = {option.name: option for option in options_of(command)}
    # If the application is made twice in a process, the commands of a group are wrapped already.
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
        declared, takes_typed, defaults, chosen = _declared_options(hints[name])
        if declared is None:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        options = [
            option
            for option in options_of(declared)
            if option.wording.is_flag and (chosen is None or option.name in chosen)
        ]
        groups[name] = (dict if takes_typed else declared), options
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


def _declared_options(hint: Any) -> tuple[Any, bool, Mapping[str, str], frozenset[str] | None]:
    """Read the annotation of a parameter that takes the options of a dataclass.

    Returns:
        the dataclass, or None for a parameter of typer; whether the parameter takes them as `TypedOptions`; texts of
        the help that replace defaults, by option; names of the options that the command has, None for all.
    """
    kind = hint
    metadata: list[Any] = []
    if get_origin(hint) is Annotated:
        kind, *metadata = get_args(hint)
    defaults: Mapping[str, str] = {}
    chosen: frozenset[str] | None = None
    for item in metadata:
        if isinstance(item, dict):
            defaults = item
        elif isinstance(item, frozenset):
            chosen = item
    for item in (kind, *metadata):
        if isinstance(item, type) and is_dataclass(item):
            return item, item is not kind, defaults, chosen
    return None, False, defaults, chosen


def _typed(values: dict[str, Any], options: Sequence[Option]) -> TypedOptions:
    """Remove the values of options, and return those that were typed."""
    typed = {}
    for option in options:
        value = values.pop(option.name)
        if value is not None:
            typed[option.name] = value
    return typed


def _split_texts(typed: TypedOptions, options: Sequence[Option]) -> None:
    """Split the text of each option whose type is a tuple at blanks."""
    for option in options:
        if get_origin(option.kind) is tuple and option.name in typed:
            typed[option.name] = tuple(typed[option.name].split())


def _parameter(option: Option, default: Any, shown: str = "") -> inspect.Parameter:
    """Make typer's parameter of an option.

    Args:
        shown: text of the default in the help, in place of the declared default.
    """
    wording = option.wording
    names = wording.flags.split()
    if not any(name.startswith("--") for name in names):
        names.insert(0, _flag(option.name))
    if option.kind is bool and option.default is True:
        names[0] += f"/--no-{names[0].removeprefix('--')}"
    # A tuple is typed as one text, such as 'a b'. Only lists are options to repeat.
    kind = str if get_origin(option.kind) is tuple else option.kind
    unit = _placeholder(option, kind)
    metadata = typer.Option(
        *names,
        help=option.sentence,
        metavar=unit or _KINDS.get(kind),
        min=option.bounds.low,
        max=option.bounds.high,
        show_default=shown or wording.otherwise or _text(option.default) or False,
        rich_help_panel=option.group or None,
        autocompletion=COMPLETERS.get(unit),
    )
    annotation = kind | None if default is None else kind
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, metadata]
    )


def _placeholder(option: Option, kind: Any) -> str:
    """Return the name of an option's value in the help; empty to name it by its type."""
    if option.wording.unit:
        return option.wording.unit
    for ending, unit in _UNITS.items():
        if option.name.endswith(ending):
            return unit
    if kind is str:
        return _TEXTS.get(option.name, "")
    return ""


def _text(default: Any) -> str:
    """Format a default for the help; empty for none and for a flag that is off."""
    if default is None or default is False or default is NO_DEFAULT:
        return ""
    if default is True:
        return "on"
    if isinstance(default, float):
        return f"{default:g}"
    if isinstance(default, tuple):
        return " ".join(map(str, default))
    # The default of an enumeration is typed as its value.
    return str(getattr(default, "value", default))
