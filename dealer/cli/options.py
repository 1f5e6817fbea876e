"""Options that several commands share, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "Coalesce",
    "FixedSeats",
    "Hands",
    "JsonOutput",
    "Out",
    "Quiet",
    "SeedOption",
    "StartTimeout",
    "THand",
    "TPerHand",
    "TResponse",
]

_CLOCKS = "Clocks"

Hands: TypeAlias = Annotated[int, typer.Option("--hands", "-n", min=1, max=2**32 - 1, help="Hands to play.")]
SeedOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the cards.", show_default="a new one"),
]
Out: TypeAlias = Annotated[
    Path | None, typer.Option("--out", help="New or empty folder for logs and results.", show_default="below runs/")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print the closing sentence only.")]
JsonOutput: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]
FixedSeats: TypeAlias = Annotated[bool, typer.Option("--fixed-seats", help="The button does not move.")]
TResponse: TypeAlias = Annotated[
    float, typer.Option("--t-response", min=0.001, max=1e9, help="Seconds for one answer.", rich_help_panel=_CLOCKS)
]
THand: TypeAlias = Annotated[
    float,
    typer.Option("--t-hand", min=0.001, max=1e9, help="Seconds a player has in one hand.", rich_help_panel=_CLOCKS),
]
TPerHand: TypeAlias = Annotated[
    float,
    typer.Option(
        "--t-per-hand",
        min=0.001,
        max=1e9,
        help="Seconds per hand a player may use on average over the match.",
        rich_help_panel=_CLOCKS,
    ),
]
StartTimeout: TypeAlias = Annotated[
    float,
    typer.Option(
        "--start-timeout",
        max=1e9,
        help="Seconds for everybody to connect and name the version; 0 waits for ever.",
        rich_help_panel=_CLOCKS,
    ),
]
Coalesce: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--coalesce",
        min=0.0,
        max=1000.0,
        help="Hold a line for a player who is not to act until his next question, at most so many milliseconds: "
        "faster, the same bytes; not for bots that think on others' time.",
        show_default="send at once",
    ),
]
