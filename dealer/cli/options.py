"""The options that `arena play`, `arena deal` and `arena tournament` share.

A command takes them all as one object:

    @takes_run_options
    def play(words: ..., options: RunOptions) -> None: ...

What a setting means, its bounds and its default stand in `dealer.contest.config.RunConfig`; only how it is typed stands
here. An option that is not given is None: then the configuration file decides, and then the default.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, get_args, get_type_hints

import typer

from dealer.contest.config import RunConfig
from dealer.contest.schedule import Seating

__all__ = ["JsonOutput", "Junit", "Quiet", "RunOptions", "Verbose", "option_of", "takes_run_options"]

_MATCH = "Match"
_FAULTS = "Clocks and faults"
_OUTPUT = "Output"

Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print the closing sentence only.", rich_help_panel=_OUTPUT)
]
JsonOutput: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON and nothing else.", rich_help_panel=_OUTPUT)
]
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

_PANELS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("hands", "seed", "duplicate", "permutations", "stop", "workers", "in_process", "fixed_seats"), _MATCH
    ),
    **dict.fromkeys(
        ("on_fault", "t_response_s", "t_hand_s", "t_per_hand_s", "start_timeout_s", "coalesce_ms"), _FAULTS
    ),
    "export": _OUTPUT,
}
"""The options for settings, in the order of help, and where it lists them."""

_FLAGS: Final[Mapping[str, tuple[str, ...]]] = {"hands": ("-n",)}
_METAVARS: Final[Mapping[str, str]] = {"stop": "RULE", "export": "FORMATS"}
_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("command", "games", "bots"), ""),
    "directory": "directory",
    "seating": "--permutations",
    "format": "--gauntlet",
}
"""What people call the settings that have no option named after them."""


def option_of(setting: str) -> str:
    """What a person types for a setting; empty if it is an argument without a name."""
    if setting not in RunConfig.model_fields:
        return ""
    return _NAMES.get(setting, "--" + setting.removesuffix("_ms").removesuffix("_s").replace("_", "-"))


def _parameter_type(setting: str, panel: str) -> Any:
    """The type of the parameter that takes a setting, with its option."""
    about = RunConfig.model_fields[setting]
    extra = about.json_schema_extra if isinstance(about.json_schema_extra, dict) else {}
    plain = getattr(about.default, "value", about.default)
    shown = extra.get("otherwise") or (f"{plain:g}" if isinstance(plain, float) else plain)
    typed: Any = str if setting == "export" else about.annotation
    option = typer.Option(
        option_of(setting),
        *_FLAGS.get(setting, ()),
        metavar=_METAVARS.get(setting),
        help=about.description,
        min=next((bound.ge for bound in about.metadata if hasattr(bound, "ge")), None),
        max=next((bound.le for bound in about.metadata if hasattr(bound, "le")), None),
        show_default=str(shown) if shown not in (None, False) else False,
        rich_help_panel=panel,
    )
    return Annotated[typed if types.NoneType in get_args(typed) else typed | None, option]


@dataclass(frozen=True)
class RunOptions:
    """What was given on the command line.

    Attributes:
        given: the settings that have an option of their own, by name.
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    duplicate: Annotated[
        bool | None,
        typer.Option(
            "--duplicate/--no-duplicate",
            help="Play the same cards again with the seats rotated, with fresh bots, so that the luck of the cards "
            "cancels.",
            show_default="on, unless a player is 'tcp'",
            rich_help_panel=_MATCH,
        ),
    ] = None
    permutations: Annotated[
        bool,
        typer.Option("--permutations", help="Play the cards in every order of the players.", rich_help_panel=_MATCH),
    ] = False
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Settings as TOML, such as the run.toml of an earlier run; command-line options take precedence.",
            rich_help_panel=_MATCH,
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="New or empty folder for logs and results.",
            show_default="a new one in runs/",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    quiet: Quiet = False
    as_json: JsonOutput = False
    junit: Junit = None
    verbose: Verbose = False

    @property
    def settings(self) -> dict[str, Any]:
        """What was given, under the names of `dealer.contest.config.RunConfig`."""
        seating = {None: None, True: Seating.ROTATIONS, False: Seating.SINGLE}[self.duplicate]
        settings = {**self.given, "seating": Seating.PERMUTATIONS if self.permutations else seating}
        return {name: value for name, value in settings.items() if value is not None}


def takes_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command with a parameter `options` take all shared options."""
    hints = get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "options"
    ]
    hints = get_type_hints(RunOptions, include_extras=True)
    other = {option.name: option.default for option in fields(RunOptions) if option.name != "given"}
    hints |= {name: _parameter_type(name, panel) for name, panel in _PANELS.items() if name not in other}
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
        for name, default in (dict.fromkeys(_PANELS) | other).items()
    ]

    def run(**values: Any) -> None:
        options = {name: values.pop(name) for name in other}
        given = {name: values.pop(name) for name in _PANELS if name not in other}
        command(options=RunOptions(given, **options), **values)

    run.__doc__ = command.__doc__
    run.__name__ = command.__name__
    run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *shared)}
    return run
