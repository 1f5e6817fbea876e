"""Limits on the runs of a server, and the share of them that a run occupies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on concurrent runs; None means no limit.

    Attributes:
        bots: seats of the server's own bots in all runs.
        runs_per_bot: seats of one of the server's own bots.
        runs_per_game: by game; a game that is missing has no limit.
    """

    bots: int | None = None
    runs_per_user: int | None = None
    runs_per_bot: int | None = None
    runs_per_game: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class CapacityShare:
    """Share of the limits that a run occupies.

    Attributes:
        user: number of the user who requested it.
        bots: the server's own bots by seat; one may have several seats.
        is_idle: whether it is played only while no request waits.
    """

    user: int
    game: str
    bots: tuple[str, ...]
    is_idle: bool = False
