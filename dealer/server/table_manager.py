"""Tables with human players: open, suspend when idle, resume, close.

An idle table is suspended: its run stops, its bots disconnect, and its folder keeps the state. A visitor of its page
resumes it at the same decision. A `TableStore` keeps the list of open tables. Users' bots are called to their seats
while a table is active, and count as busy for that time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final

from dealer.errors import DealerError, WebError
from dealer.person.table_session import TableSession
from dealer.run.run import Run, new_run, reopen
from dealer.run.run_settings import RunSettings
from dealer.server.db.run_changes import TableRow
from dealer.server.server_settings import WebSettings
from engine import Seed
from engine.text import count_of

_log = logging.getLogger(__name__)
_TIDY_EVERY_S: Final = 5.0
_VISIT_INTERVAL_S: Final = 60.0
_MAX_TABLES: Final = 500
"""Open tables, active or suspended."""


class TableStore:
    """Open tables, kept in memory; `ServerTableStore` keeps those of a server.

    Attributes:
        closed: set when a table of this machine is closed.
    """

    def __init__(self, tables: Iterable[TableRow]) -> None:
        self.closed = asyncio.Event()
        self._tables = {table.id: table for table in tables}

    async def add(self, owner: str, game: str, players: tuple[str, ...], user: int | None, seed: Seed) -> TableRow:
        """Add a table, without creating its folder."""
        raise WebError(403, "This program has one table; end it and start another with 'arena table'.")

    async def record_visit(self, table: TableRow) -> None:
        """Record that a visitor opened the table."""

    async def close(self, table: TableRow, reason: str) -> None:
        """Close the table."""
        self.closed.set()

    def reopened(self, table: TableRow) -> Run[Any]:
        """Open the run of a table to continue it."""
        return reopen(table.folder)

    def take_seats(self, table: TableRow, table_session: TableSession) -> None:
        """Call users' bots to a table that becomes active."""

    def release_seats(self, table: TableRow) -> None:
        """Release users' bots from a table that is suspended or closed."""

    def find(self, number: str) -> TableRow | None:
        """Return an open table, or None."""
        return self._tables.get(number)

    def of(self, owner: str | None) -> list[TableRow]:
        """Open tables of a person, or all, the oldest first."""
        return [table for table in self._tables.values() if owner is None or table.owner == owner]


@dataclass(slots=True)
class _ActiveTable:
    """A table with its running session."""

    table: TableRow
    table_session: TableSession
    task: asyncio.Task[None]
    visitors: int = 0
    seen_s: float = field(default_factory=time.monotonic)
    recorded_s: float = 0.0


@dataclass(slots=True)
class _PendingTable:
    """A table that is being opened or resumed. It counts towards the limits from its admission.

    Attributes:
        owner: as named by the opener.
        address: of a guest; None for a user.
        is_guests: whether its player is a guest.
        is_new: whether the store does not have it yet.
    """

    owner: str
    is_guests: bool
    address: str | None = None
    is_new: bool = False


class TableManager:
    """Tables of a server or of this machine; leaving the context manager suspends them all."""

    def __init__(
        self,
        table_store: TableStore,
        web: WebSettings | None = None,
        *,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        """Manage the tables of a store.

        Args:
            web: limits on tables and times; None for the defaults.
            clock_s: the time, in seconds since 1970.
        """
        self._web = web or WebSettings()
        self.table_store = table_store
        self._clock_s = clock_s
        self._active: dict[str, _ActiveTable] = {}
        self._pending: list[_PendingTable] = []
        self._addresses: dict[str, str] = {}
        # Suspend and resume of a table are serialised.
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tidier: asyncio.Task[None] | None = None
        self._is_closing = False

    async def __aenter__(self) -> TableManager:
        self._tidier = asyncio.create_task(self._tidy_regularly())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.refuse_new()
        if self._tidier is not None:
            self._tidier.cancel()
            await asyncio.wait([self._tidier])
        await asyncio.gather(*(self.suspend(active.table) for active in list(self._active.values())))

    # ---- for pages

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
        """Open a table.

        Args:
            owner: name of the person for the table's lifetime.
            make_config: returns the settings of its run; called in a thread.
            game: full name of the game.
            players: names of the bots, by seat.
            user: number of the user on a server; None for a guest.
            address: of the person's client.
            seed: of the cards, a number or a key.
            decision_s: time limit of a decision; None for no limit.

        Raises:
            WebError: a limit on tables is reached.
            DealerError: the settings cannot be played.
        """
        pending = _PendingTable(owner, user is None, address if user is None else None, is_new=True)
        self._check_open_tables(pending)
        with self._admitted(pending):
            config = await asyncio.to_thread(make_config)
            table = await self.table_store.add(owner, game, players, user, seed)
            pending.is_new = False
            if pending.address is not None:
                self._addresses[table.id] = pending.address
            try:
                run = await asyncio.to_thread(new_run, config, table.folder)
                table_session = await asyncio.to_thread(TableSession, run, decision_s=decision_s)
            except BaseException:
                await self.end(table, "it could not begin")
                raise
            self._activate(table, table_session)
            return table

    async def table_session(self, table: TableRow) -> TableSession:
        """Return the session of a table, resuming it if it is suspended.

        Raises:
            WebError: too many tables are active, it cannot be resumed, or it has been closed.
        """
        async with self._locks[table.id]:
            if self.table_store.find(table.id) is None:
                raise WebError(404, "This table has been closed.")
            active = self._active.get(table.id)
            if active is None:
                with self._admitted(_PendingTable(table.owner, table.is_guests)):
                    try:
                        run = await asyncio.to_thread(self.table_store.reopened, table)
                        table_session = await asyncio.to_thread(TableSession, run)
                    except (DealerError, OSError) as error:
                        raise WebError(409, f"This table cannot be resumed: {error}.") from None
                    active = self._activate(table, table_session)
        active.seen_s = time.monotonic()
        if active.seen_s - active.recorded_s > _VISIT_INTERVAL_S:
            active.recorded_s = active.seen_s
            await self.table_store.record_visit(table)
        return active.table_session

    @contextlib.contextmanager
    def visiting(self, table: TableRow) -> Iterator[None]:
        """Keep a table active until the end of the block."""
        active = self._active.get(table.id)
        if active is not None:
            active.visitors += 1
        try:
            yield
        finally:
            if active is not None:
                active.visitors -= 1
                active.seen_s = time.monotonic()

    async def suspend(self, table: TableRow) -> None:
        """Stop the run of a table until its next visitor."""
        async with self._locks[table.id]:
            active = self._active.get(table.id)
            if active is not None:
                # Before the connection closes: leaving a match is a fault of the player.
                active.table_session.run.interrupt()
                await asyncio.wait([active.task])
                del self._active[table.id]

    async def end(self, table: TableRow, reason: str = "it was ended") -> None:
        """Close a table permanently."""
        await self.suspend(table)
        await self.table_store.close(table, reason)
        self._locks.pop(table.id, None)
        self._addresses.pop(table.id, None)

    def refuse_new(self) -> None:
        """Refuse tables and end the waits of visitors, because the server is stopping."""
        self._is_closing = True
        for active in self._active.values():
            active.table_session.wake()

    def check_open(self) -> None:
        """Check that the server is not stopping.

        Raises:
            WebError: it is.
        """
        if self._is_closing:
            raise WebError(503, "The server is stopping; try again in a moment.", wait_s=5)

    # ---- limits and clean-up

    def _check_open_tables(self, pending: _PendingTable) -> None:
        new = [table for table in self._pending if table.is_new]
        own = len(self.table_store.of(pending.owner)) + sum(table.owner == pending.owner for table in new)
        max_own = self._web.max_tables_per_person
        if own >= max_own:
            sentence = f"The limit is {count_of(max_own, 'open table')} per person; end one first."
            raise WebError(429, sentence, "tables.person")
        if pending.address:
            addresses = [*self._addresses.values(), *(table.address for table in new)]
            max_guests = self._web.max_tables_per_address
            if addresses.count(pending.address) >= max_guests:
                sentence = f"The limit is {count_of(max_guests, 'guest table')} per address; end one, or log in."
                raise WebError(429, sentence, "tables.address")
        are_guests = [table.is_guests for table in self.table_store.of(None)]
        are_guests += [table.is_guests for table in new]
        self._check_share(are_guests, pending, _MAX_TABLES)

    @contextlib.contextmanager
    def _admitted(self, pending: _PendingTable) -> Iterator[None]:
        """Count a table towards the limit of active tables until the end of the block.

        Raises:
            WebError: the limit is reached.
        """
        self.check_open()
        are_guests = [active.table.is_guests for active in self._active.values()]
        are_guests += [table.is_guests for table in self._pending]
        self._check_share(are_guests, pending, self._web.max_tables)
        self._pending.append(pending)
        try:
            yield
        finally:
            self._pending.remove(pending)

    def _check_share(self, are_guests: Sequence[bool], pending: _PendingTable, max_tables: int) -> None:
        """Refuse a table above the limit, or a guest's above the share of guests."""
        if len(are_guests) >= max_tables:
            raise WebError(503, "All tables are taken; try again later.", "tables", 60)
        max_guests = math.ceil(max_tables * (1 - self._web.tables_for_users_percent / 100))
        if pending.is_guests and sum(are_guests) >= max_guests:
            raise WebError(503, "All tables for guests are taken; log in, or try again later.", "tables.guests", 60)

    def _activate(self, table: TableRow, table_session: TableSession) -> _ActiveTable:
        self.table_store.take_seats(table, table_session)
        active = _ActiveTable(table, table_session, asyncio.create_task(self._play(table, table_session)))
        self._active[table.id] = active
        return active

    async def _play(self, table: TableRow, table_session: TableSession) -> None:
        try:
            await table_session.play()
        except Exception:
            _log.exception("the table in %s", table.folder)
        finally:
            self.table_store.release_seats(table)

    async def _tidy_regularly(self) -> None:
        """Suspend idle tables and close abandoned ones until cancelled."""
        while True:
            await asyncio.sleep(_TIDY_EVERY_S)
            try:
                await self._tidy_up()
            except Exception:
                # A full disk, for example, must not stop the next round.
                _log.exception("idle tables")

    async def _tidy_up(self) -> None:
        now_s = time.monotonic()
        for active in list(self._active.values()):
            if not active.visitors and now_s - active.seen_s > 60 * self._web.table_asleep_minutes:
                await self.suspend(active.table)
        for table in self.table_store.of(None):
            if table.id not in self._active and self._clock_s() - table.seen_s > 86_400 * self._web.table_closed_days:
                await self.end(table, "no player has returned to it")
