"""Options that commands share, and options made of the fields of settings.

A command takes the options of a dataclass as one object:

    @takes_options
    def play(words: ..., options: RunOptions) -> None: ...

The meaning, bounds and default of a setting of a run are those of `dealer.run.settings.RunSettings`. An option that is
not given is None: then the configuration file decides, and then the default. Other settings, dataclasses whose fields
have their meaning in the metadata ``decides``, become options by `setting_options`:

    Options = setting_options(TrainingSettings, panel="Training")

    @takes_options
    def train(options: Options) -> None:
        settings = TrainingSettings(**given(options))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import Field, dataclass, fields, is_dataclass, make_dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, get_type_hints

import typer

from dealer.errors import ConfigError
from dealer.match.faults import FaultPolicy
from dealer.run.settings import RunSettings, Score, Seating
from logs.formats import ExportWarning

_MATCH = "Match"
_FAULTS = "Clocks and faults"
_HISTORIES = "Hand histories"
_OUTPUT = "Output"
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="New or empty folder for logs and results.",
        show_default="a new one in runs/",
        rich_help_panel=_OUTPUT,
    ),
]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print the result as a sentence only.", rich_help_panel=_OUTPUT)
]
JsonOutput: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON and nothing else.", rich_help_panel=_OUTPUT)
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Junit: TypeAlias = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write a JUnit report for a build server.", rich_help_panel=_OUTPUT),
]
Verbose: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Log connections, faults and restarts to standard error.", rich_help_panel=_OUTPUT
    ),
]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Let a dask cluster play: each of its workers a contest at a time.",
        rich_help_panel=_MATCH,
    ),
]
_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("command", "games", "bots"), ""),
    "directory": "directory",
    "seating": "--permutations",
    "format": "--gauntlet",
    "name": "--name",
}
"""Names for users of the settings that have no option named after them."""


def option_of(setting: str) -> str:
    """The option of a setting; empty if it is an argument without a name."""
    if setting not in RunSettings.model_fields and setting not in _NAMES:
        return ""
    return _NAMES.get(setting, "--" + setting.removesuffix("_ms").removesuffix("_s").replace("_", "-"))


def setting_option(name: str, panel: str | None = None, *flags: str, **others: Any) -> Any:
    """The option of a setting, with its meaning, bounds and default; `others` override arguments of `typer.Option`."""
    about = RunSettings.model_fields[name]
    extra = about.json_schema_extra if isinstance(about.json_schema_extra, dict) else {}
    plain = getattr(about.default, "value", about.default)
    shown = extra.get("otherwise") or (f"{plain:g}" if isinstance(plain, float) else plain)
    values: dict[str, Any] = {
        "help": about.description,
        "min": next((bound.ge for bound in about.metadata if hasattr(bound, "ge")), None),
        "max": next((bound.le for bound in about.metadata if hasattr(bound, "le")), None),
        "show_default": str(shown) if shown not in (None, False, []) else False,
        "rich_help_panel": panel,
    }
    return typer.Option(option_of(name), *flags, **(values | others))


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run; those named like a setting are that setting."""

    deals: Annotated[int | None, setting_option("deals", _MATCH, "-n")] = None
    seed: Annotated[int | None, setting_option("seed", _MATCH)] = None
    duplicate: Annotated[
        bool | None,
        typer.Option(
            "--duplicate/--no-duplicate",
            help="Play the same cards again with the seats rotated: with fresh bots, so that the luck of the cards "
            "cancels.",
            show_default="on, unless a player is 'tcp'",
            rich_help_panel=_MATCH,
        ),
    ] = None
    permutations: Annotated[
        bool,
        typer.Option("--permutations", help="Play the cards in every order of the players.", rich_help_panel=_MATCH),
    ] = False
    stop: Annotated[str | None, setting_option("stop", _MATCH, metavar="RULE")] = None
    score: Annotated[Score | None, setting_option("score", _MATCH)] = None
    workers: Annotated[int | None, setting_option("workers", _MATCH)] = None
    in_process: Annotated[bool | None, setting_option("in_process", _MATCH)] = None
    fixed_seats: Annotated[bool | None, setting_option("fixed_seats", _MATCH)] = None
    on_fault: Annotated[FaultPolicy | None, setting_option("on_fault", _FAULTS)] = None
    t_response_s: Annotated[float | None, setting_option("t_response_s", _FAULTS)] = None
    t_hand_s: Annotated[float | None, setting_option("t_hand_s", _FAULTS)] = None
    t_per_hand_s: Annotated[float | None, setting_option("t_per_hand_s", _FAULTS)] = None
    start_timeout_s: Annotated[float | None, setting_option("start_timeout_s", _FAULTS)] = None
    coalesce_ms: Annotated[float | None, setting_option("coalesce_ms", _FAULTS)] = None
    host: Annotated[str | None, setting_option("host", _MATCH)] = None
    ports: Annotated[str | None, setting_option("ports", _MATCH, metavar="PORTS")] = None
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Settings as TOML: for example the run.toml of an earlier run; command-line options take precedence.",
            rich_help_panel=_MATCH,
        ),
    ] = None
    out: Out = None
    export: Annotated[str | None, setting_option("export", _HISTORIES, metavar="FORMATS")] = None
    histories: Annotated[str | None, setting_option("histories", _HISTORIES, metavar="DIR")] = None
    hero: Annotated[str | None, setting_option("hero", _HISTORIES, metavar="NAME")] = None
    observed: Annotated[bool | None, setting_option("observed", _HISTORIES)] = None
    stakes: Annotated[str | None, setting_option("stakes", _HISTORIES, metavar="SMALL/BIG")] = None
    currency: Annotated[str | None, setting_option("currency", _HISTORIES)] = None
    quiet: Quiet = False
    as_json: JsonOutput = False
    junit: Junit = None
    verbose: Verbose = False

    @property
    def settings(self) -> dict[str, Any]:
        """The given options, under the names of `dealer.run.settings.RunSettings`."""
        given = {option.name: getattr(self, option.name) for option in fields(self)}
        seating = {None: None, True: Seating.ROTATIONS, False: Seating.SINGLE}[self.duplicate]
        if self.permutations and self.duplicate is not None:
            raise ConfigError("--permutations plays every order of the players: leave out --[no-]duplicate")
        given["seating"] = Seating.PERMUTATIONS if self.permutations else seating
        return {name: given[name] for name in RunSettings.model_fields if given.get(name) is not None}


def warning_text(warning: ExportWarning) -> str:
    """A warning with the option that helps."""
    if warning.lacks_begin:
        return f"{warning.problem}; --begin sets when the match began."
    return warning.problem + ("." if warning.better is None else f": --stakes {warning.better} would help.")


def takes_options(command: Callable[..., None], defaults: Mapping[str, str] | None = None) -> Callable[..., None]:
    """Make the fields of a command's dataclasses its options; the help shows `defaults` in place of theirs."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        types = get_type_hints(groups[name], include_extras=True)
        for option, shown in (defaults or {}).items():
            about = copy(types[option].__metadata__[0])
            about.show_default = shown
            types[option] = Annotated[types[option].__origin__, about]
        parameters += [
            inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
            for one in fields(groups[name])
        ]

    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{option.name: values.pop(option.name) for option in fields(kind)})
        command(**values)

    run.__doc__ = command.__doc__
    run.__name__ = command.__name__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def setting_options(settings: type, panel: str | None = None, **defaults: Any) -> Any:
    """A dataclass for `takes_options`; `defaults` are those that differ."""
    return make_dataclass(
        f"{settings.__name__}Options",
        [
            (about.name, Annotated[type(about.default), _option(about, panel)], defaults.get(about.name, about.default))
            for about in fields(settings)
            if "decides" in about.metadata
        ],
        frozen=True,
    )


def given(options: Any) -> dict[str, Any]:
    """The values of such options, by the names of the settings."""
    return {about.name: getattr(options, about.name) for about in fields(options)}


def _option(about: Field[Any], panel: str | None) -> Any:
    flag = f"--{about.name.replace('_', '-')}"
    if about.default is True:
        flag += f"/--no-{flag.removeprefix('--')}"
    decides = about.metadata["decides"]
    return typer.Option(flag, help=f"{decides[0].upper()}{decides[1:]}.", rich_help_panel=panel)
