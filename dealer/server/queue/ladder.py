"""Ratings and the ladder: what a server plays while no request waits, so that every pair is known equally well.

Among all pairs of bots that are there (the server's own, and those whose owners admit it; line-ups in games of more
players) the one with the widest interval comes next, until every interval is narrower than asked for. `Ladder` only
chooses; `dealer.server.service` plays the choice like any request, after all users' requests. After each run that
counts, `Rater` fits the ratings of its game once more, one game at a time.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import os
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bots.errors import WorkersError
from bots.sdk.registry import is_builtin
from dealer.errors import RefusedError, StoreError
from dealer.match.faults import FaultPolicy
from dealer.run.choices import Seating
from dealer.server.capacity import Limits
from dealer.server.computing import Computing
from dealer.server.db.counted_scores import table_scores, write_ratings
from dealer.server.db.records import JobKind, JobRequest
from dealer.server.db.store import RETRY_S, Store
from dealer.server.db.users import User
from dealer.server.queue.fair_queue import never_fits
from dealer.server.queue.feed import Feed
from dealer.server.queue.presence import Presence
from dealer.server.queue.unrated import has_one_owner_twice
from dealer.server.ratings import TableScores, fit_ratings
from dealer.server.server_settings import LadderSettings, ServerGame, capacity_share
from dealer.table.loop import Changes
from dealer.table.players import parse_player
from logs.estimation import RunningMean, score_bounds
from protocol.joining import ContestTerms

_log = logging.getLogger(__name__)
_REST: Final = 4
"""Between ratings, so many times as long as they took."""
LADDER_USER: Final = "ladder"
"""The user whose the ladder's requests are; no client can log in as it without a token of its."""
_MOST_LINEUPS: Final = 20_000
"""So many line-ups of a game are looked at; the ladder has more games to see to."""
MAX_TAG_LENGTH: Final = 120
_MOST_TRIES: Final = 3
"""A line-up whose runs so often came to nothing is left alone until the server starts again."""


def rated_terms(deals: int | None) -> ContestTerms:
    """Terms of the contests of the ladder and of events: every seating, with cards of a key of their own."""
    # A bot that fails does not escape what it would have lost.
    return ContestTerms(deals=deals, seating=Seating.ROTATIONS.value, on_fault=FaultPolicy.RESTART.value)


@dataclass(frozen=True, slots=True)
class _LineUp:
    """A line-up that the ladder may play.

    Attributes:
        players: the names of the bots. versions: their numbers, in rising order.
        half_width_95: half the interval, of the player with the widest; infinite while nothing is known.
    """

    game: str
    players: tuple[str, ...]
    versions: tuple[int, ...]
    duplicates: int
    half_width_95: float


def max_ladder_runs(settings: LadderSettings) -> int:
    """How many runs of the ladder may go on at a time."""
    return max(1, math.floor(settings.share * (os.cpu_count() or 1)))


class Ladder:
    """Chooses what is played next."""

    def __init__(
        self,
        settings: LadderSettings,
        games: Sequence[ServerGame],
        limits: Limits,
        store: Store,
        presence: Presence,
        *,
        own_versions: Mapping[tuple[str, str], int],
    ) -> None:
        self.settings = settings
        self._limits = limits
        self._games = [game for game in games if game.name in (settings.games or ()) and game.deals]
        self._store = store
        self._presence = presence
        self._own_versions = {
            game.name: {name: own_versions[game.name, name] for name, bot in game.bots.items() if not learns(bot.bot)}
            for game in self._games
        }
        self._tries: dict[tuple[str, tuple[int, ...]], tuple[int, int]] = {}

    async def run(
        self,
        changes: Changes,
        feed: Feed,
        *,
        is_idle: Callable[[], bool],
        going: Callable[[], Collection[tuple[str, frozenset[str]]]],
        submit: Callable[[JobRequest], Awaitable[object]],
    ) -> None:
        """Ask for one thing after the other, until cancelled.

        Args:
            changes: reports when to look again. feed: reports whether anything has happened.
            going: what the ladder plays already: games and players.
        """
        while True:
            await changes.wait_for(is_idle)
            at = feed.last
            try:
                request = self.next_request(going())
                if request is not None:
                    await submit(request)
                    continue
            except (RefusedError, StoreError) as error:
                _log.error("the ladder cannot continue: %s", error)
                await asyncio.sleep(RETRY_S)
            # Until something is counted, or a client comes.
            await changes.wait_for(lambda at=at: feed.last > at)  # type: ignore[misc]

    def next_request(self, going: Collection[tuple[str, frozenset[str]]]) -> JobRequest | None:
        """What to play next; None when every interval is narrow enough, or nothing more can be played now.

        Args:
            going: what the ladder plays already: games and players.
        """
        wanted = [
            line_up
            for game in self._games
            for line_up in self.line_ups(game)
            if line_up.half_width_95 > self.settings.width
            and (line_up.game, frozenset(line_up.players)) not in going
            and self._tries.get((line_up.game, line_up.versions), (-1, 0)) < (line_up.duplicates, _MOST_TRIES)
            and not never_fits(capacity_share(game, line_up.players, user=0, at_once=1), self._limits)
        ]
        if not wanted:
            return None
        first = min(
            wanted, key=lambda line_up: (-line_up.half_width_95, line_up.duplicates, line_up.game, line_up.versions)
        )
        key = first.game, first.versions
        duplicates, tries = self._tries.get(key, (-1, 0))
        self._tries[key] = first.duplicates, tries + 1 if duplicates == first.duplicates else 1
        return JobRequest(
            first.game,
            first.players,
            # Those who bring the bots read there who plays whom.
            "-".join(first.players)[:MAX_TAG_LENGTH],
            kind=JobKind.LADDER,
            terms=rated_terms(self.settings.deals),
        )

    def line_ups(self, game: ServerGame) -> Iterator[_LineUp]:
        """All line-ups of the bots of a game that are there whose contests count."""
        tables = {table.players: table for table in table_scores(self._store, game.name)}
        bounds = score_bounds(game.game)
        there = {version: name for name, version in self._own_versions.get(game.name, {}).items()}
        owners: dict[int, User] = {}
        for connected in self._presence.bots:
            if connected.offer.ladder and game.name in connected.versions:
                there[connected.versions[game.name]] = connected.name
                owners[connected.versions[game.name]] = connected.owner
        found = itertools.combinations(sorted(there), game.game.num_players)
        for versions in itertools.islice(found, _MOST_LINEUPS):
            if has_one_owner_twice(map(owners.get, versions)):
                continue
            table = tables.get(versions)
            width = math.inf if table is None else _width(table, bounds)
            names = tuple(there[version] for version in versions)
            yield _LineUp(game.name, names, versions, 0 if table is None else table.units, width)


def _width(table: TableScores, bounds: tuple[float, float]) -> float:
    widths = [RunningMean.from_moments(one.count, one.mean, one.squares, bounds).half_width() for one in table.scores]
    return max(math.inf if width is None else width for width in widths)


def learns(text: str) -> bool:
    """Whether a bot of the server is another player after every hand, which no interval is about."""
    return is_builtin(text) and parse_player(text).learns


class Rater:
    """Makes the ratings of games in which something has been counted."""

    def __init__(self, games: Sequence[ServerGame], store: Store, feed: Feed, computing: Computing) -> None:
        self._games = {game.name: game for game in games}
        self._store = store
        self._feed = feed
        self._computing = computing
        # What was counted last may have been counted in the moment when an earlier server ended.
        self._stale = list(self._games)
        self._changes = Changes()

    def note(self, game: str) -> None:
        """Something was counted in a game."""
        if game not in self._stale:
            self._stale.append(game)
            self._changes.notify()

    async def run(self) -> None:
        """Make ratings whenever something was counted, until cancelled."""
        while True:
            await self._changes.wait_for(lambda: bool(self._stale))
            began_s = time.monotonic()
            await self.refit(self._stale.pop(0))
            # Those of many versions take seconds, in which every answer of the server is slower.
            await asyncio.sleep(_REST * (time.monotonic() - began_s))

    async def refit(self, name: str) -> None:
        """Make the ratings of a game."""
        game = self._games.get(name)
        if game is None:
            return
        try:
            tables = await asyncio.to_thread(table_scores, self._store, name)
            if not tables:
                return
            ratings = await self._computing.run(fit_ratings, tables, score_bounds(game.game))
            await self._store.write(lambda db: write_ratings(db, name, ratings))
        except (StoreError, WorkersError) as error:
            # They are fitted again after the next run, or at the next start.
            _log.error("the ratings of %s cannot be kept: %s", name, error)
        else:
            self._feed.publish("standings-changed", game=name)
