"""Bots of users at people's tables: called to their seats while a table is awake, and busy for as long."""

from __future__ import annotations

from dealer.errors import WebError
from dealer.run.settings import BotSettings
from dealer.seat.sitting import Sitting
from dealer.server.db import records
from dealer.server.db.tables import TAG, TableRow
from dealer.server.queue.playing import seat_notifier
from dealer.server.server import ServerParts
from dealer.server.settings import ServerGame, player_name
from protocol.benchmark import OWN_SEAT

__all__ = ["TableGuests", "guest_settings", "guests_in"]


def guests_in(parts: ServerParts, game: ServerGame) -> tuple[tuple[str, str], ...]:
    """The bots of users that are connected and play a game: names, and those of their owners."""
    there = [guest for guest in parts.service.connected_bots.bots if game.name in guest.versions]
    return tuple(sorted((guest.name, guest.owner.name) for guest in there))


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
        run = None if table.run is None else records.run(self._parts.store, table.run)
        if game is None or run is None or not keys:
            return
        players = (OWN_SEAT, *table.players)
        sitting.on_progress = seat_notifier(
            sitting.run,
            game,
            players,
            self._parts.service.connected_bots,
            number=run.id,
            match=f"{sitting.names[0]}.{TAG}",
            hands=sitting.hands,
            versions=[seat.version for seat in run.seats],
            key=keys[0],
        )
        self._seated[table.id] = game.users_bots(players)
        self._parts.service.table_seats.take(self._seated[table.id])

    def leave(self, table: TableRow) -> None:
        """Nothing is played at a table any more, or for a while."""
        self._parts.service.table_seats.leave(self._seated.pop(table.id, frozenset()))
