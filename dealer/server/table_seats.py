"""Users' bots that sit at tables with people: each counts as a run of the bot, and the ladder makes room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from dealer.server.jobs import ActiveJob
from dealer.server.lobby import Lobby

__all__ = ["TableSeats"]


class TableSeats:
    """Who sits at tables."""

    def __init__(self, lobby: Lobby, active: Callable[[], Sequence[ActiveJob]], on_left: Callable[[], None]) -> None:
        """Start without anybody.

        Args:
            lobby: the bots of users.
            active: gives the jobs of which something is left.
            on_left: called when a bot may play something else.
        """
        self._lobby = lobby
        self._active = active
        self._on_left = on_left
        self._tables: Counter[str] = Counter()

    def count(self, name: str) -> int:
        """At how many tables a user's bot sits."""
        return self._tables[name]

    def has_room(self, name: str) -> bool:
        """Whether a user's bot is there and may play one run more."""
        guest = next((one for one in self._lobby.guests if one.offer.name == name), None)
        runs = sum(job.is_running and name in job.guests and not job.slot.is_idle for job in self._active())
        return guest is not None and runs + self._tables[name] < guest.offer.most_runs

    def take(self, names: Collection[str]) -> None:
        """Bots sit down, until `leave`."""
        self._tables.update(names)
        for job in self._active():
            if job.slot.is_idle and job.guests & set(names):
                job.make_room()

    def leave(self, names: Collection[str]) -> None:
        """Bots play other runs."""
        self._tables.subtract(names)
        self._on_left()
