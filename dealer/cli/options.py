"""The options that `arena play`, `arena deal` and `arena tournament` share, written once.

A command takes them all as one object:

    @takes_run_options
    def play(words: ..., options: RunOptions) -> None: ...

An option that is not given is None, and then the configuration file speaks, and then the default of
`dealer.contest.config.RunConfig`.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

__all__ = ["JsonOutput", "Junit", "OnFault", "Quiet", "RunOptions", "takes_run_options"]

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


class OnFault(enum.StrEnum):
    """`dealer.match.faults.FaultPolicy`, as a word."""

    END = "end"
    FORFEIT = "forfeit"
    RESTART = "restart"


@dataclass(frozen=True)
class RunOptions:
    """What was given on the command line; None where nothing was."""

    hands: Annotated[
        int | None,
        typer.Option(
            "--hands",
            "-n",
            min=1,
            max=2**32 - 1,
            help="Hands to deal, each played once in every seating; with --stop, at most so many.",
            show_default="3000; with --stop 1000000",
            rich_help_panel=_MATCH,
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            max=2**32 - 1,
            help="Seed of the cards.",
            show_default="a new one",
            rich_help_panel=_MATCH,
        ),
    ] = None
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
    stop: Annotated[
        str | None,
        typer.Option(
            "--stop",
            metavar="RULE",
            help="When to stop: a number of hands; 'ci=20' when half the 95 % interval is 20 mbb/g; "
            "'better:0,30' when it is known whether the first player gains more than 0 or less than 30 mbb/g "
            "(error rates 'better:0,30,0.05,0.05').",
            rich_help_panel=_MATCH,
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            max=1000,
            help="Matches at a time; with more workers than seatings the hands are cut into slices.",
            show_default="one per seating, up to the number of cores",
            rich_help_panel=_MATCH,
        ),
    ] = None
    in_process: Annotated[
        bool | None,
        typer.Option(
            "--in-process",
            help="Play built-in bots inside this process: faster, the same log.",
            show_default=False,
            rich_help_panel=_MATCH,
        ),
    ] = None
    fixed_seats: Annotated[
        bool | None,
        typer.Option("--fixed-seats", help="The button does not move.", show_default=False, rich_help_panel=_MATCH),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Settings as TOML, such as the run.toml of an earlier run; options given here go first.",
            rich_help_panel=_MATCH,
        ),
    ] = None
    on_fault: Annotated[
        OnFault | None,
        typer.Option(
            "--on-fault",
            help="When a bot is late, gone or floods: end the contest; let it forfeit (check or fold from there on); "
            "restart it and go on.",
            show_default="end",
            rich_help_panel=_FAULTS,
        ),
    ] = None
    t_response: Annotated[
        float | None,
        typer.Option(min=0.001, max=1e9, help="Seconds for one answer.", show_default="600", rich_help_panel=_FAULTS),
    ] = None
    t_hand: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=1e9,
            help="Seconds a player has in one hand.",
            show_default="600",
            rich_help_panel=_FAULTS,
        ),
    ] = None
    t_per_hand: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=1e9,
            help="Seconds per hand a player may use on average over the match.",
            show_default="7",
            rich_help_panel=_FAULTS,
        ),
    ] = None
    start_timeout: Annotated[
        float | None,
        typer.Option(
            max=1e9,
            help="Seconds for everybody to connect and name the version; 0 waits for ever.",
            show_default="30; deal: 300",
            rich_help_panel=_FAULTS,
        ),
    ] = None
    coalesce: Annotated[
        float | None,
        typer.Option(
            "--coalesce",
            min=0.0,
            max=1000.0,
            help="Hold a line for a player who is not to act until his next question, at most so many milliseconds: "
            "faster, the same bytes; not for bots that think on others' time.",
            show_default="send at once",
            rich_help_panel=_FAULTS,
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="New or empty folder for logs and results.",
            show_default="below runs/",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    export: Annotated[
        str | None,
        typer.Option(
            "--export",
            metavar="FORMATS",
            help="Write hand histories as the hands end: pokerstars, phh, ohh, several with commas, or none.",
            show_default="pokerstars, in games that it has",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    quiet: Quiet = False
    as_json: JsonOutput = False
    junit: Junit = None

    def settings(self) -> dict[str, Any]:
        """What was given, under the names of `dealer.contest.config.RunConfig`."""
        seating = None if self.duplicate is None else "rotations" if self.duplicate else "single"
        given = {
            "hands": self.hands,
            "seed": self.seed,
            "seating": "permutations" if self.permutations else seating,
            "stop": self.stop,
            "workers": self.workers,
            "in_process": self.in_process,
            "fixed_seats": self.fixed_seats,
            "on_fault": None if self.on_fault is None else self.on_fault.value,
            "t_response_s": self.t_response,
            "t_hand_s": self.t_hand,
            "t_per_hand_s": self.t_per_hand,
            "start_timeout_s": self.start_timeout,
            "coalesce_ms": self.coalesce,
            "export": self.export,
        }
        return {name: value for name, value in given.items() if value is not None}


def takes_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command with a parameter `options` take every field of `RunOptions` as an option of its own."""
    hints = get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "options"
    ]
    option_hints = get_type_hints(RunOptions, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=option_hints[field.name]
        )
        for field in fields(RunOptions)
    ]

    def run(**values: Any) -> None:
        given = {parameter.name: values.pop(parameter.name) for parameter in shared}
        command(**values, options=RunOptions(**given))

    run.__doc__ = command.__doc__
    run.__name__ = command.__name__
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + shared
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
