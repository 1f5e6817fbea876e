"""Bots of users at people's tables: called to their seats while a table is awake, and busy for as long."""

from __future__ import annotations

from dealer.contest.config import BotSettings
from dealer.errors import WebError
from dealer.seat.sitting import Sitting
from dealer.server.accounts import User
from dealer.server.db.runs import JobRow, RunRow, versions_of
from dealer.server.db.tables import TAG
from dealer.server.queue.jobs import ActiveJob
from dealer.server.queue.playing import summons
from dealer.server.server import ServerParts
from dealer.server.settings import ServerGame, player_name
from dealer.web.hall import TableRow
from protocol.benchmark import OWN_SEAT

__all__ = ["TableGuests", "guest_settings", "guests_in"]


def guests_in(parts: ServerParts, game: ServerGame) -> tuple[tuple[str, str], ...]:
    """The bots of users that are connected and play a game: names, and those of their owners."""
    there = [guest for guest in parts.service.lobby.guests if game.name in guest.versions]
    return tuple(sorted((guest.offer.name, guest.owner.name) for guest in there))


def guest_settings(parts: ServerParts, name: str, key: str) -> BotSettings:
    """What a table asks for to have a user's bot there.

    Args:
        parts: the server.
        name: of the bot, which is connected.
        key: that has to be said for its seat.

    Raises:
        WebError: it plays as much as its owner lets it.
    """
    if not parts.service.table_seats.has_room(name):
        raise WebError(409, f"{name} plays elsewhere, as much as its owner lets it at a time; try again later.")
    return BotSettings(bot=f"{player_name(name)}=tcp", key=key)


class TableGuests:
    """The bots of users at the tables of a server that are awake."""

    def __init__(self, parts: ServerParts) -> None:
        """Know the server."""
        self._parts = parts
        self._seated: dict[str, frozenset[str]] = {}

    def seat(self, table: TableRow, sitting: Sitting) -> None:
        """A table is about to be played at: call the bots of users that sit there, whenever they are awaited."""
        game = self._parts.settings.game(table.game)
        contest = sitting.run.plan.contests[0]
        keys = [player.key for player in contest.players[1:] if player.key]
        if game is None or table.run is None or not keys:
            return
        user = User(0, sitting.names[0])
        row = JobRow(0, user, TAG, table.game, (OWN_SEAT, *table.players), 1, 0, None, 0, hands=sitting.hands)
        job = ActiveJob(row, game)
        run = RunRow(table.run, 1, 0, "")
        versions = versions_of(self._parts.store, table.run)
        sitting.on_progress = summons(job, sitting.run, run, versions, self._parts.service.lobby, keys[0])
        self._seated[table.id] = job.guests
        self._parts.service.table_seats.take(job.guests)

    def leave(self, table: TableRow) -> None:
        """Nothing is played at a table any more, or for a while."""
        self._parts.service.table_seats.leave(self._seated.pop(table.id, frozenset()))
