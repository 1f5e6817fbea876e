"""What the work prints of its player and its nine trainers (chapters 5.4 and 5.5), as data.

Its graphs are lost; its tables are `printed.json`. Two of them have 21 rows and not the twenty of their heading.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["GENERATED_GENES_HANDS", "PLAYED", "PrintedPlayer", "PrintedRow", "printed_player", "printed_style"]

PLAYED: Final = {"player": 52_000, "trainer": 20_000}
"""Hands in a generation of the player and of a trainer: 520 and 200 deals, each played a hundred times."""

GENERATED_GENES_HANDS: Final = 5_179_648
"""Hands that would have to be played so that every gene is used, "in the best case" (chapter 4.6)."""


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """A row of one of its tables.

    Attributes:
        name: of the starting hand, or of the hand at the end.
        times: how often the player saw a flop with it, or ended with it.
        won_percent: how often it won.
        dollars: what these hands brought.
    """

    name: str
    times: int
    won_percent: float
    dollars: float


@dataclass(frozen=True, slots=True)
class PrintedPlayer:
    """The tables of one player.

    Attributes:
        hands: the starting hands that won most.
        finals: by the hand at the end, from the best to the worst.
    """

    hands: tuple[PrintedRow, ...]
    finals: tuple[PrintedRow, ...]

    @property
    def dollars(self) -> float:
        """What it won in all: the tables of the hands at the end add up to it."""
        return sum(row.dollars for row in self.finals)

    @property
    def flops(self) -> int:
        """How many flops it saw."""
        return sum(row.times for row in self.finals)


def printed_player(name: str) -> PrintedPlayer:
    """The tables of ``player`` or ``trainer-1`` to ``trainer-9``."""
    player = _data()["players"][name]
    return PrintedPlayer(*(tuple(PrintedRow(*row) for row in player[table]) for table in ("hands", "finals")))


def printed_style() -> dict[str, float]:
    """The figures of the final player's style, in per cent; AF is a factor."""
    return dict(_data()["style"])


@cache
def _data() -> dict[str, dict]:  # type: ignore[type-arg]
    found: dict[str, dict] = json.loads(files("bots.evolved.report").joinpath("printed.json").read_text("utf-8"))  # type: ignore[type-arg]
    return found
