"""The tables at which people sit: opened, woken when a visitor looks, put to sleep without visitors, closed at last.

A table whose person is away costs nothing: after a while its run is stopped, its bots leave, and its folder holds
everything. A person who comes back wakes it and is at the same decision. What is kept of tables is kept by a
`TableStore`.

Bots of users are called to their seats while a table is awake, and are busy for as long.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from dealer.errors import DealerError, WebError
from dealer.library import Run, new_run, reopen
from dealer.person.table_session import TableSession
from dealer.person.table_settings import table_config
from dealer.run.folder import CONFIG_NAME
from dealer.run.results import read_result
from dealer.run.run_settings import RunSettings
from dealer.server.accounts import User
from dealer.server.db import records
from dealer.server.db.records import RunState
from dealer.server.db.run_changes import GUEST_NAME, RunReport, TableRow, add_table, close_table, open_tables, see_table
from dealer.server.queue.playing import SeatCaller, report_of
from dealer.server.server import ServerParts
from dealer.server.server_bots import process_environment, readjust, seated_bots
from dealer.server.server_settings import ServerGame, WebSettings, player_name
from engine import Seed
from engine.text import count_of
from protocol.benchmark import OWN_SEAT
from protocol.joining import TABLE_TAG

_log = logging.getLogger(__name__)
_TIDY_EVERY_S: Final = 5.0
_NOTE_SEEN_S: Final = 60.0
_MOST_TABLES: Final = 500
"""Open ones, awake or asleep."""


class TableStore:
    """What is known of tables: of one of this machine, as long as it is played; `ServerTableStore` of more.

    Attributes:
        closed: set when a table of this machine is closed.
    """

    def __init__(self, tables: Iterable[TableRow]) -> None:
        self.closed = asyncio.Event()
        self._tables = {table.id: table for table in tables}

    async def add(self, owner: str, game: str, players: tuple[str, ...], user: int | None, seed: Seed) -> TableRow:
        """Enter a table; its folder is not made."""
        raise WebError(403, "This program has one table; end it and start another with 'arena table'.")

    async def see(self, table: TableRow) -> None:
        """A visitor looks at a table."""

    async def close(self, table: TableRow, reason: str) -> None:
        """There will be no more play, or there was none."""
        self.closed.set()

    def reopened(self, table: TableRow) -> Run[Any]:
        """The run of a table, to be played on."""
        return reopen(table.folder)

    def seat(self, table: TableRow, table_session: TableSession) -> None:
        """A table is about to be played at."""

    def stand_up(self, table: TableRow) -> None:
        """Nothing is played at a table any more, or for a while."""

    def find(self, number: str) -> TableRow | None:
        """An open table."""
        return self._tables.get(number)

    def of(self, owner: str | None) -> list[TableRow]:
        """The open tables of a person, or all, the oldest first."""
        return [table for table in self._tables.values() if owner is None or table.owner == owner]


@dataclass(slots=True)
class _Awake:
    """A table at which bots sit."""

    table: TableRow
    table_session: TableSession
    task: asyncio.Task[None]
    looks: int = 0
    seen_s: float = field(default_factory=time.monotonic)
    noted_s: float = 0.0


@dataclass(slots=True)
class _Coming:
    """A table that is being opened or woken: it counts from the moment that it was admitted.

    Attributes:
        owner: who sits down. address: of a guest; None for a user.
        is_guests: whether a guest sits down.
        is_new: whether the store does not have it yet.
    """

    owner: str
    is_guests: bool
    address: str | None = None
    is_new: bool = False


class TableManager:
    """The tables of a server or of this machine; an asynchronous context manager, at whose end all are asleep."""

    def __init__(
        self,
        table_store: TableStore,
        web: WebSettings | None = None,
        *,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        """Open the doors.

        Args:
            table_store: of the tables.
            web: how many there may be, and for how long; None for the usual numbers.
            clock_s: the time, in seconds since 1970.
        """
        self._web = web or WebSettings()
        self.table_store = table_store
        self._clock_s = clock_s
        self._awake: dict[str, _Awake] = {}
        self._coming: list[_Coming] = []
        self._addresses: dict[str, str] = {}
        # A table wakes, or falls asleep, for one visitor at a time.
        self._turning: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._keeper: asyncio.Task[None] | None = None
        self._is_closing = False

    async def __aenter__(self) -> TableManager:
        self._keeper = asyncio.create_task(self._tidy_regularly())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.turn_away()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        await asyncio.gather(*(self.put_to_sleep(awake.table) for awake in list(self._awake.values())))

    # ---- what pages ask for

    async def open(
        self,
        owner: str,
        make_config: Callable[[], RunSettings],
        *,
        game: str,
        players: tuple[str, ...],
        user: int | None = None,
        address: str = "",
        seed: Seed = 0,
        decision_s: float | None = None,
    ) -> TableRow:
        """A new table.

        Args:
            owner: who sits down.
            make_config: the settings of its run; may take a while.
            game: the name of the game.
            players: the names of the bots, by seat.
            user: the number of the user on a server; None for a guest.
            address: from which the person has come.
            seed: of the cards, a number or a key.
            decision_s: how long a decision may take; None without limit.

        Raises:
            WebError: there are too many.
            DealerError: it cannot be played.
        """
        coming = _Coming(owner, user is None, address if user is None else None, is_new=True)
        self._check_open_tables(coming)
        with self._admitted(coming):
            config = await asyncio.to_thread(make_config)
            table = await self.table_store.add(owner, game, players, user, seed)
            coming.is_new = False
            if coming.address is not None:
                self._addresses[table.id] = coming.address
            try:
                run = await asyncio.to_thread(new_run, config, table.folder)
                table_session = await asyncio.to_thread(TableSession, run, decision_s=decision_s)
            except BaseException:
                await self.end(table, "it could not begin")
                raise
            self._seat(table, table_session)
            return table

    async def table_session(self, table: TableRow) -> TableSession:
        """What goes on at a table, which is woken if it sleeps.

        Raises:
            WebError: too many are awake, it cannot be resumed, or it was closed meanwhile.
        """
        async with self._turning[table.id]:
            if self.table_store.find(table.id) is None:
                raise WebError(404, "This table has just been ended.")
            awake = self._awake.get(table.id)
            if awake is None:
                with self._admitted(_Coming(table.owner, table.is_guests)):
                    try:
                        run = await asyncio.to_thread(self.table_store.reopened, table)
                        table_session = await asyncio.to_thread(TableSession, run)
                    except (DealerError, OSError) as error:
                        raise WebError(409, f"This table cannot be resumed: {error}.") from None
                    awake = self._seat(table, table_session)
        awake.seen_s = time.monotonic()
        if awake.seen_s - awake.noted_s > _NOTE_SEEN_S:
            awake.noted_s = awake.seen_s
            await self.table_store.see(table)
        return awake.table_session

    @contextlib.contextmanager
    def looking(self, table: TableRow) -> Any:
        """A visitor looks at a table for a while: it stays awake."""
        awake = self._awake.get(table.id)
        if awake is not None:
            awake.looks += 1
        try:
            yield
        finally:
            if awake is not None:
                awake.looks -= 1
                awake.seen_s = time.monotonic()

    async def put_to_sleep(self, table: TableRow) -> None:
        """Stop the play at a table; it goes on when somebody looks at it."""
        async with self._turning[table.id]:
            awake = self._awake.get(table.id)
            if awake is not None:
                # Before the connection is closed: a player that leaves a match is at fault.
                awake.table_session.run.interrupt()
                await asyncio.wait([awake.task])
                del self._awake[table.id]

    async def end(self, table: TableRow, reason: str = "it was ended") -> None:
        """Close a table for good."""
        await self.put_to_sleep(table)
        await self.table_store.close(table, reason)
        self._turning.pop(table.id, None)
        self._addresses.pop(table.id, None)

    def turn_away(self) -> None:
        """Make those who wait for something new come back later: the server is being ended."""
        self._is_closing = True
        for awake in self._awake.values():
            awake.table_session.wake()

    def check_open(self) -> None:
        """Refuse all while the server is being ended.

        Raises:
            WebError: it is.
        """
        if self._is_closing:
            raise WebError(503, "The server is being ended; come back in a moment.", wait_s=5)

    # ---- inside

    def _check_open_tables(self, coming: _Coming) -> None:
        new = [one for one in self._coming if one.is_new]
        most = self._web.max_tables_per_person
        if len(self.table_store.of(coming.owner)) + sum(one.owner == coming.owner for one in new) >= most:
            raise WebError(
                429, f"You sit at {count_of(most, 'table')} already, the limit: end one first.", "tables.person"
            )
        most, address = self._web.max_tables_per_address, coming.address
        if address and [*self._addresses.values(), *(one.address for one in new)].count(address) >= most:
            sentence = f"The limit is {count_of(most, 'guest table')} from your address: end one, or log in."
            raise WebError(429, sentence, "tables.address")
        there = [table.is_guests for table in self.table_store.of(None)] + [one.is_guests for one in new]
        self._check_share(there, coming, _MOST_TABLES)

    @contextlib.contextmanager
    def _admitted(self, coming: _Coming) -> Iterator[None]:
        """A table takes one of the places of those at which bots sit.

        Raises:
            WebError: none is free.
        """
        self.check_open()
        there = [one.table.is_guests for one in self._awake.values()] + [one.is_guests for one in self._coming]
        self._check_share(there, coming, self._web.max_tables)
        self._coming.append(coming)
        try:
            yield
        finally:
            self._coming.remove(coming)

    def _check_share(self, are_guests: Sequence[bool], coming: _Coming, most: int) -> None:
        """Refuse a table beyond the most there may be, or a guest's beyond the part that is open to guests."""
        if len(are_guests) >= most:
            raise WebError(503, "So many people play just now that no table is free; try again later.", "tables", 60)
        if coming.is_guests and sum(are_guests) >= math.ceil(most * (1 - self._web.tables_for_users_percent / 100)):
            raise WebError(503, "All tables for guests are taken: log in, or try again later.", "tables.guests", 60)

    def _seat(self, table: TableRow, table_session: TableSession) -> _Awake:
        self.table_store.seat(table, table_session)
        awake = _Awake(table, table_session, asyncio.create_task(self._play(table, table_session)))
        self._awake[table.id] = awake
        return awake

    async def _play(self, table: TableRow, table_session: TableSession) -> None:
        try:
            await table_session.play()
        except Exception:
            _log.exception("the table in %s", table.folder)
        finally:
            self.table_store.stand_up(table)

    async def _tidy_regularly(self) -> None:
        """Put to sleep, and close, what has not been looked at for long."""
        while True:
            await asyncio.sleep(_TIDY_EVERY_S)
            try:
                await self._tidy_up()
            except Exception:
                # A full disk, say: the other tables, and the next round, do not suffer.
                _log.exception("tables without a viewer")

    async def _tidy_up(self) -> None:
        now_s = time.monotonic()
        for awake in list(self._awake.values()):
            if not awake.looks and now_s - awake.seen_s > 60 * self._web.table_asleep_minutes:
                await self.put_to_sleep(awake.table)
        for table in self.table_store.of(None):
            if table.id not in self._awake and self._clock_s() - table.seen_s > 86_400 * self._web.table_closed_days:
                await self.end(table, "no player has returned to it")


class ServerTableStore(TableStore):
    """The tables of a server: in the store, and for quick answers here; the bots of users at those that are awake."""

    def __init__(self, parts: ServerParts) -> None:
        """Read the store."""
        super().__init__(open_tables(parts.store, parts.folder))
        self._parts = parts
        self._seated: dict[str, frozenset[str]] = {}

    async def add(self, owner: str, game: str, players: tuple[str, ...], user: int | None, seed: Seed) -> TableRow:
        """Enter a table; its folder is not made."""
        versions = [None, *(self._parts.service.version(game, name) for name in players)]
        run = await self._parts.store.write(
            lambda db: add_table(db, owner, user, game, players=players, versions=versions, seed=seed)
        )
        folder = self._parts.folder / run.folder
        table = TableRow(str(run.id), owner, game, players, folder, time.time(), is_guests=user is None)
        self._tables[table.id] = table
        return table

    def reopened(self, table: TableRow) -> Run[Any]:
        """The run of a table, to be played on with the limits that are set now."""
        game = self._parts.settings.game(table.game)
        if game is not None:
            players, path = (OWN_SEAT, *table.players), table.folder / CONFIG_NAME
            readjust(self._parts.settings, game, players, path, process_environment(self._parts.folder))
        return super().reopened(table)

    async def see(self, table: TableRow) -> None:
        """A visitor looks at a table."""
        if table.id in self._tables:
            await self._parts.store.write(lambda db: see_table(db, int(table.id)))
            self._tables[table.id] = replace(table, seen_s=time.time())

    async def close(self, table: TableRow, reason: str) -> None:
        """There will be no more play: what was played is counted."""
        if self._tables.pop(table.id, None) is not None:
            report = await self._parts.service.computing.run(_report, table.folder, reason)
            await self._parts.store.write(lambda db: close_table(db, int(table.id), report))

    def seat(self, table: TableRow, table_session: TableSession) -> None:
        """A table is about to be played at: call the bots of users that sit there, whenever they are awaited."""
        game = self._parts.settings.game(table.game)
        is_called = any(player.is_linked for player in table_session.run.planned[0].players[1:])
        run = records.run(self._parts.store, int(table.id))
        if game is None or run is None or not is_called:
            return
        players = (OWN_SEAT, *table.players)
        table_session.caller = SeatCaller(
            table_session.run,
            run,
            players,
            game,
            self._parts.service.connected_bots,
            hands=table_session.hands,
            match=f"{table_session.names[0]}.{TABLE_TAG}",
        )
        self._seated[table.id] = game.users_bots(players)
        self._parts.service.sit_down(self._seated[table.id])

    def stand_up(self, table: TableRow) -> None:
        """Nothing is played at a table any more, or for a while."""
        self._parts.service.stand_up(self._seated.pop(table.id, frozenset()))


def _report(folder: Path, reason: str) -> RunReport:
    """How the run of a table ended, from its folder."""
    try:
        run: Run[Any] = reopen(folder)
        # Nothing more will be played: the scores are those of its logs.
        run.finished = read_result(folder)
        (contest,) = run.contests()
        return report_of(contest.plan, contest.scores, run.finished, reason, "a person sat at the table")
    except (DealerError, OSError) as error:
        # Pages show the reason to all; a path of this machine is not public.
        _log.info("the table in %s has no result: %s", folder, error)
        return RunReport(RunState.CANCELLED, f"{reason}.")


def connected_bots_in(parts: ServerParts, game: ServerGame) -> tuple[tuple[str, str], ...]:
    """The bots of users that are connected and play a game: names, and those of their owners."""
    there = [guest for guest in parts.service.connected_bots.bots if game.name in guest.versions]
    return tuple(sorted((guest.name, guest.owner.name) for guest in there))


def table_settings(
    parts: ServerParts,
    game: ServerGame,
    bots: Sequence[str],
    user: User | None,
    seed: Seed,
    *,
    deals: int | None = None,
) -> RunSettings:
    """The settings of the run of a table.

    Args:
        bots: by seat, names of the server's own, or of users' bots, which are connected.
        user: who sits down; None for a guest.
        deals: to play; None until the person leaves.

    Raises:
        WebError: a user's bot plays as much as its owner lets it.
    """
    for bot in bots:
        if bot not in game.bots and not parts.service.may_sit(bot):
            raise WebError(409, f"{bot} plays elsewhere, as much as its owner lets it at a time; try again later.")
    others = seated_bots(parts.settings, game, bots, process_environment(parts.folder))
    name = player_name(GUEST_NAME if user is None else user.name)
    directory = parts.settings.directory
    return table_config(game.path, others, name=name, deals=deals, seed=seed, directory=directory, export=[])
