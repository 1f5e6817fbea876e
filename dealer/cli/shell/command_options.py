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
from collections.abc import Callable, Mapping
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
Junit: TypeAlias = Annotated[Path | None, "Write a JUnit report for a build server.", Wording("FILE", group=_OUTPUT)]
Verbose: TypeAlias = Annotated[
    bool, "Log connections, faults and restarts to standard error.", Wording(flags="-v", group=_OUTPUT)
]
Scheduler: TypeAlias = Annotated[
    str | None, "Let a dask cluster play: each of its workers a contest at a time.", Wording("ADDRESS", group="Match")
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
    permutations: Annotated[bool, "Play the cards in every order of the players."] = False
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
        return {} if self.duplicate is None else {"seating": (Seating.SINGLE, Seating.ROTATIONS)[self.duplicate]}


def warning_text(warning: ExportWarning) -> str:
    """A warning with the option that helps."""
    if warning.lacks_begin:
        return f"{warning.problem}; --begin sets when the match began."
    return warning.problem + ("." if warning.better is None else f": --stakes {warning.better} would help.")


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Make typer's parameters of a command's options; those of a dataclass reach it as one object, or as `Given`."""
    hints = get_type_hints(command, include_extras=True)
    own = {option.name: option for option in options_of(command)}
    groups: dict[str, tuple[Callable[..., Any], list[Option]]] = {}
    parameters, terminals = [], []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in own:
            default = own[name].default
            parameters.append(_parameter(own[name], inspect.Parameter.empty if default is NO_DEFAULT else default))
            continue
        if hints[name] is Terminal:
            terminals.append(name)
            parameters.append(parameter.replace(annotation=typer.Context, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        kind, *about = get_args(hints[name]) if get_origin(hints[name]) is Annotated else [hints[name]]
        declared = next((one for one in (kind, *about) if isinstance(one, type) and is_dataclass(one)), None)
        if declared is None:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        otherwise: Mapping[str, str] = next((one for one in about if isinstance(one, dict)), {})
        options = [option for option in options_of(declared) if option.wording.is_flag]
        groups[name] = kind if kind is declared else dict, options
        parameters += [_parameter(option, None, otherwise.get(option.name, "")) for option in options]

    def run(**values: Any) -> None:
        for name in terminals:
            values[name] = values[name].ensure_object(Terminal)
        for name, (make, options) in groups.items():
            typed = {one.name: value for one in options if (value := values.pop(one.name)) is not None}
            for one in options if make is not dict else ():
                if get_origin(one.kind) is tuple and one.name in typed:
                    typed[one.name] = tuple(typed[one.name].split())
            try:
                values[name] = make(**typed)
            except ValueError as error:
                abort(str(error))
        command(**values)

    run.__doc__ = command.__doc__
    run.__name__ = command.__name__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(option: Option, default: Any, shown: str = "") -> inspect.Parameter:
    """The parameter for typer; `shown` is the default in the help, where it is not the declared one."""
    wording, names = option.wording, option.wording.flags.split()
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
