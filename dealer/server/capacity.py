"""Limits on the runs of a server, and the share of them that a run takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What may go on at a time; None: without a bound.

    Attributes:
        runs_per_bot: how often one of the server's own bots sits at a table.
        runs_per_game: by game; a game that is missing has no limit.
    """

    bots: int | None = None
    runs_per_user: int | None = None
    runs_per_bot: int | None = None
    runs_per_game: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class CapacityShare:
    """What a run takes while it goes on.

    Attributes:
        bots: the server's own bots, by seat; one may sit twice.
        is_idle: whether it is played only while no request waits.
    """

    user: int
    game: str
    bots: tuple[str, ...]
    is_idle: bool = False
