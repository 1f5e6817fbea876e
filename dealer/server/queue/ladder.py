"""Ladder and ratings, which a server plays and computes while no request waits.

The ladder plays the pair of bots (or the line-up, in games of more players) with the widest interval, until all
intervals are narrow enough. Bots of the server take part, and connected bots whose owners allow it. `Ladder` only
chooses; the choice is played like a request, after those of users. `Rater` fits the ratings of a game after each run
that counts, one game at a time.
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
from dealer.server.queue.presence import ConnectedBot, Presence
from dealer.server.queue.unrated import has_one_owner_twice
from dealer.server.ratings import TableScores, fit_ratings
from dealer.server.server_settings import LadderSettings, ServerGame, capacity_share
from dealer.table.loop import Changes
from dealer.table.players import parse_player
from logs.estimation import RunningMean, score_bounds
from protocol.joining import ContestTerms, LadderState, LadderWait

_log = logging.getLogger(__name__)
_PAUSE_FACTOR: Final = 4
"""Pause after a fit of ratings, as a multiple of its duration."""
LADDER_USER: Final = "ladder"
"""Owner of the ladder's requests."""
_MAX_LINEUPS: Final = 20_000
"""Number of line-ups of a game to consider, so that a game of many bots does not block the ladder."""
MAX_TAG_LENGTH: Final = 120
_MAX_TRIES: Final = 3
"""Number of runs without a result after which a line-up is left out until the server restarts."""


def rated_terms(deals: int | None) -> ContestTerms:
    """Terms of contests of the ladder and of events: in every seating, with cards from a key of their own."""
    # With RESTART, a bot that crashes plays on, and cannot escape a loss by crashing.
    return ContestTerms(deals=deals, seating=Seating.ROTATIONS.value, on_fault=FaultPolicy.RESTART.value)


@dataclass(frozen=True, slots=True)
class _LineUp:
    """A line-up that the ladder may play.

    Attributes:
        players: names of the bots, in the order of `versions`.
        versions: numbers of their versions, in rising order.
        half_width_95: half of the widest interval of a player, in mbb/g; infinite before the first run.
    """

    game: str
    players: tuple[str, ...]
    versions: tuple[int, ...]
    duplicates: int
    half_width_95: float


def max_ladder_runs(settings: LadderSettings) -> int:
    """Limit on concurrent runs of the ladder."""
    return max(1, math.floor(settings.share * (os.cpu_count() or 1)))


class Ladder:
    """Choose the next contest to play while no request waits."""

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
        self._own_versions: dict[str, dict[str, int]] = {}
        for game in self._games:
            names = [name for name, bot in game.bots.items() if not learns(bot.bot)]
            self._own_versions[game.name] = {name: own_versions[game.name, name] for name in names}
        self._tries: dict[tuple[str, tuple[int, ...]], tuple[int, int]] = {}
        """By game and versions, the duplicates played before the last tries and the number of these tries."""

    async def run(
        self,
        changes: Changes,
        feed: Feed,
        *,
        is_idle: Callable[[], bool],
        current: Callable[[], Collection[tuple[str, frozenset[str]]]],
        submit: Callable[[JobRequest], Awaitable[object]],
    ) -> None:
        """Submit one contest after the other until cancelled.

        Args:
            changes: notified when `is_idle` may have changed.
            is_idle: returns whether a contest of the ladder could start.
            current: returns the game and players of each contest of the ladder in the queue.
            submit: adds a request to the queue.
        """
        while True:
            await changes.wait_for(is_idle)
            # Read before the choice, so that an event during the choice is not missed.
            last_event = feed.last
            try:
                request = self.next_request(current())
                if request is not None:
                    await submit(request)
                    continue
            except (RefusedError, StoreError) as error:
                _log.error("the ladder cannot continue: %s", error)
                await asyncio.sleep(RETRY_S)
            # Nothing is left to play until an event: a run is counted, or a bot connects.
            await changes.wait_for(lambda last=last_event: feed.last > last)  # type: ignore[misc]

    def next_request(self, current: Collection[tuple[str, frozenset[str]]]) -> JobRequest | None:
        """Choose the next contest; None if every interval is narrow enough, or nothing more can be played now.

        Args:
            current: game and players of each contest of the ladder in the queue.
        """
        candidates, _ = self._candidates(current)
        if not candidates:
            return None
        chosen = min(candidates, key=_priority)
        key = chosen.game, chosen.versions
        duplicates, tries = self._tries.get(key, (-1, 0))
        # A run that was counted adds duplicates. Then the tries without a result start again.
        if duplicates != chosen.duplicates:
            tries = 0
        self._tries[key] = chosen.duplicates, tries + 1
        return JobRequest(
            chosen.game,
            chosen.players,
            # Owners of bots see the tag, so it names the players.
            "-".join(chosen.players)[:MAX_TAG_LENGTH],
            kind=JobKind.LADDER,
            terms=rated_terms(self.settings.deals),
        )

    def _candidates(
        self, current: Collection[tuple[str, frozenset[str]]]
    ) -> tuple[list[_LineUp], set[tuple[str, str]]]:
        """Return the line-ups to play next, in no order, and the bots that have opponents, with their games."""
        candidates = []
        have_opponents = set()
        for game in self._games:
            for line_up in self.line_ups(game):
                have_opponents |= {(game.name, name) for name in line_up.players}
                if self._is_wanted(game, line_up) and (line_up.game, frozenset(line_up.players)) not in current:
                    candidates.append(line_up)
        return candidates, have_opponents

    def states(
        self,
        bots: Collection[ConnectedBot],
        *,
        running: Collection[tuple[str, frozenset[str]]],
        waiting: Sequence[tuple[str, frozenset[str]]],
        requests: int,
    ) -> dict[ConnectedBot, LadderState]:
        """State of each of the bots.

        Args:
            bots: connected bots that joined for the ladder and do not play.
            running: game and players of each contest of the ladder that is being played.
            waiting: the same of those in the queue, in its order.
            requests: number of users' unfinished requests.
        """
        candidates, have_opponents = self._candidates((*running, *waiting))
        line = [
            *waiting,
            *((line_up.game, frozenset(line_up.players)) for line_up in sorted(candidates, key=_priority)),
        ]
        positions: dict[str, int] = {}
        for position, (_, players) in enumerate(line, 1):
            for name in players:
                positions.setdefault(name, position)
        states = {}
        for bot in bots:
            games = [game.name for game in self._games if game.name in bot.versions]
            if bot.name in positions:
                states[bot] = LadderState(LadderWait.TURN, positions[bot.name], len(line), requests)
            elif not games:
                states[bot] = LadderState(LadderWait.GAME)
            elif any((game, bot.name) in have_opponents for game in games):
                states[bot] = LadderState(LadderWait.CHANGE)
            else:
                states[bot] = LadderState(LadderWait.OPPONENTS)
        return states

    def _is_wanted(self, game: ServerGame, line_up: _LineUp) -> bool:
        if line_up.half_width_95 <= self.settings.width:
            return False
        duplicates, tries = self._tries.get((line_up.game, line_up.versions), (-1, 0))
        if duplicates == line_up.duplicates and tries >= _MAX_TRIES:
            return False
        return not never_fits(capacity_share(game, line_up.players, user=0, at_once=1), self._limits)

    def line_ups(self, game: ServerGame) -> Iterator[_LineUp]:
        """Line-ups of the available bots of a game whose contests would count."""
        tables = {table.players: table for table in table_scores(self._store, game.name)}
        bounds = score_bounds(game.game)
        names = {version: name for name, version in self._own_versions.get(game.name, {}).items()}
        owners: dict[int, User] = {}
        for connected in self._presence.bots:
            if connected.offer.ladder and game.name in connected.versions:
                version = connected.versions[game.name]
                names[version] = connected.name
                owners[version] = connected.owner
        combinations = itertools.combinations(sorted(names), game.game.num_players)
        for versions in itertools.islice(combinations, _MAX_LINEUPS):
            if has_one_owner_twice(map(owners.get, versions)):
                continue
            players = tuple(names[version] for version in versions)
            table = tables.get(versions)
            if table is None:
                yield _LineUp(game.name, players, versions, duplicates=0, half_width_95=math.inf)
            else:
                yield _LineUp(game.name, players, versions, table.units, _widest(table, bounds))


def _priority(line_up: _LineUp) -> tuple[float, int, str, tuple[int, ...]]:
    return -line_up.half_width_95, line_up.duplicates, line_up.game, line_up.versions


def _widest(table: TableScores, bounds: tuple[float, float]) -> float:
    half_widths = []
    for score in table.scores:
        mean = RunningMean.from_moments(score.count, score.mean, score.squares, bounds=bounds)
        half_width = mean.guaranteed_half_width()
        half_widths.append(math.inf if half_width is None else half_width)
    return max(half_widths)


def learns(text: str) -> bool:
    """Return whether a bot of the server learns while it plays, so that no interval describes it."""
    return is_builtin(text) and parse_player(text).learns


class Rater:
    """Fit the ratings of games with newly counted runs."""

    def __init__(self, games: Sequence[ServerGame], store: Store, feed: Feed, computing: Computing) -> None:
        self._games = {game.name: game for game in games}
        self._store = store
        self._feed = feed
        self._computing = computing
        # All games at first: an earlier server may have ended between the last run and its ratings.
        self._stale = list(self._games)
        self._changes = Changes()

    def note(self, game: str) -> None:
        """Schedule a fit of the ratings of a game."""
        if game not in self._stale:
            self._stale.append(game)
            self._changes.notify()

    async def run(self) -> None:
        """Fit scheduled ratings until cancelled."""
        while True:
            await self._changes.wait_for(lambda: bool(self._stale))
            start_s = time.monotonic()
            await self.refit(self._stale.pop(0))
            # A fit of many versions takes seconds, during which the server answers more slowly.
            await asyncio.sleep(_PAUSE_FACTOR * (time.monotonic() - start_s))

    async def refit(self, name: str) -> None:
        """Fit and store the ratings of a game."""
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
            # The next run or the next start schedules them again.
            _log.error("the ratings of %s cannot be computed: %s", name, error)
        else:
            self._feed.publish("standings-changed", game=name)
