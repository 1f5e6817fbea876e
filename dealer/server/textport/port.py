"""Text port: the ACPC's benchmark protocol (`protocol.benchmark`) over TCP, in front of a `Service`.

Every connection has a task and limits of its own: on the length of a line, on unread output, and on the times to log
in, to read and to be idle. If all connections are taken, the oldest that has not logged in is closed for a new one.
Lines that the reference does not send begin with ``# ``.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from dealer.errors import ConfigError, ListenError, RefusedError, SettingProblem, StoreError
from dealer.server import access
from dealer.server.access import Person
from dealer.server.accounts import Accounts
from dealer.server.db import records
from dealer.server.db.records import Job, JobState, Run, RunSeat, RunState
from dealer.server.db.teams import account_of
from dealer.server.db.users import User
from dealer.server.queue.fair_queue import Forecast
from dealer.server.queue.jobs import RunEnded, SeatOpen, ServiceEvent, parse_text_request
from dealer.server.service import Service, refusal_text
from dealer.table import listener
from dealer.table.listener import keep_alive, listen_patiently
from dealer.table.loop import Changes
from engine import Seat
from engine.text import count_of
from protocol.benchmark import (
    BAD_LOGIN,
    BAD_REQUEST,
    FINISHED,
    HELP,
    LOGGED_IN,
    NO_QUEUE,
    UNKNOWN,
    BenchmarkEvent,
    BenchmarkSession,
    ClientCommand,
    Errand,
    Login,
    Malformed,
    RequestRuns,
    Verb,
    games_text,
    queue_line,
    remark,
    run_text,
)
from protocol.game_definition import short_name

_log = logging.getLogger(__name__)
_READ_BYTES = 4096
MAX_UNSENT_BYTES = 1 << 20
_MAX_JOBS = 20
_LINES_PER_WRITE = 200
CLOSING_TIMEOUT_S = 1.0
"""Time that a client has to read why its connection is closed."""
MAX_CLOSING = 100
_FULL = "too many connections; try again later"
_GAMES_OF_ERRANDS = {"2pl": (2, True), "2pn": (2, False), "3pl": (3, True)}
"""Names of games in the one-shot client: number of players, and whether bets are fixed."""


class _Connection:
    """A connection; it is a `dealer.server.queue.jobs.Client`.

    Attributes:
        address: of the client.
    """

    def __init__(
        self,
        service: Service,
        address: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.address = address
        self._service = service
        self._reader = reader
        self._writer = writer
        self._session = BenchmarkSession()
        self._user = User(0, "")
        self._errand: Errand | None = None
        self._ended: set[int] = set()
        self._changes = Changes()

    async def login(self) -> Login | None:
        """Read the login; None if the client disconnects without."""
        event = await self._read_event(None)
        return event if isinstance(event, Login) else None

    async def _read_event(self, idle_s: float | None) -> BenchmarkEvent | None:
        """Read the next event; None if the client has disconnected or was idle for too long."""
        while (event := self._session.next_event()) is None:
            if self._session.at_eof:
                return None
            try:
                async with asyncio.timeout(idle_s):
                    data = await self._reader.read(_READ_BYTES)
            except TimeoutError:
                # A client that waits for its runs has nothing to send.
                if any(job.client is self for job in self._service.queue.active()):
                    continue
                self.write(remark("this connection has been idle for too long"))
                return None
            if data:
                self._session.receive_data(data)
            else:
                self._session.receive_eof()
        if isinstance(event, Login):
            self._errand = event.errand
        return event

    async def serve(self, user: User) -> None:
        self._user = user
        self._session.admit()
        self.write(LOGGED_IN)
        seats = self._service.queue.adopt(user, self)
        if seats:
            self.write(remark(f"the server was restarted: your agents resume {count_of(seats, 'request')}"))
        if self._errand is not None:
            await self._run_errand(self._errand)
            return
        while (event := await self._read_event(self._service.settings.idle_timeout_s)) is not None:
            if event == ClientCommand(Verb.QUIT):
                return
            await self._answer(event)
            await self._drain()
            # Lets other connections run between the lines of a batch.
            await asyncio.sleep(0)

    def write(self, text: str) -> None:
        """Send a text, and disconnect a client that leaves too much unread."""
        transport = self._writer.transport
        if transport.is_closing():
            return
        self._writer.write(text.encode("utf-8", "surrogateescape"))
        if transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            _log.info("%s does not read its input", self._user.name)
            # Not closed, which would wait for the unread bytes.
            transport.abort()

    async def _drain(self) -> None:
        async with asyncio.timeout(self._service.settings.write_timeout_s):
            await self._writer.drain()

    # ---- events of the service

    def notify(self, event: ServiceEvent) -> None:
        if isinstance(event, SeatOpen):
            # Otherwise the address at which this client has reached the server.
            address = self._service.settings.advertise or str(self._writer.get_extra_info("sockname")[0])
            self.write(run_text(event.match, address, event.port))
            return
        job = event.job
        if isinstance(event, RunEnded):
            self.write(remark(self._result_text(job, event.run)))
        else:
            if event.state is JobState.CANCELLED:
                self.write(remark(f"CANCELLED {job.label}: {event.reason}"))
            if self._errand is not None:
                self._ended.add(job.id)
                self._changes.notify()

    # ---- requests of the client

    async def _run_errand(self, errand: Errand) -> None:
        if isinstance(errand, RequestRuns):
            row = await self._submit(replace(errand, game=self._game_of_errand(errand.game)))
            if row is not None and not await self._has_ended(row.id):
                return
        else:
            await self._answer(errand)
        self.write(FINISHED)
        await self._drain()

    async def _has_ended(self, job: int) -> bool:
        """Wait for the end of a job; return False if the client disconnects first."""
        disconnect = asyncio.create_task(self._wait_for_disconnect())
        disconnect.add_done_callback(lambda _: self._changes.notify())
        try:
            await self._changes.wait_for(lambda: job in self._ended or disconnect.done())
            return job in self._ended
        finally:
            disconnect.cancel()
            await asyncio.gather(disconnect, return_exceptions=True)

    async def _wait_for_disconnect(self) -> None:
        while await self._read_event(None) is not None:
            # A one-shot client sends nothing after its errand.
            pass

    def _game_of_errand(self, name: str) -> str:
        """Resolve a game of the one-shot client: the game with this name, or the first of its kind."""
        games = self._service.settings.games
        kind = _GAMES_OF_ERRANDS.get(name)
        if any(game.name == name for game in games):
            return name
        return next((game.name for game in games if (game.game.num_players, game.game.is_limit) == kind), name)

    async def _answer(self, event: BenchmarkEvent) -> None:
        match event:
            case ClientCommand(Verb.HELP):
                self.write(HELP)
            case ClientCommand(Verb.GAMES):
                games = self._service.settings.games
                self.write(games_text([(game.name, list(game.bots)) for game in games]))
            case ClientCommand(Verb.QUEUE):
                self._show_queue()
            case RequestRuns():
                await self._submit(event)
            case Malformed(problem):
                self.write(BAD_REQUEST + remark(problem))
            case ClientCommand(Verb.CANCEL, str() as tag):
                await self._cancel(tag)
            case ClientCommand(Verb.RESULT, tag):
                self._show_result(tag)
            case ClientCommand(Verb.LOG, str() as tag, run):
                await self._send_logs(tag, run)
            case _:
                self.write(UNKNOWN)

    async def _submit(self, request: RequestRuns) -> Job | None:
        try:
            row, expected = await self._service.submit(self._user, parse_text_request(request), self)
        except (RefusedError, StoreError) as error:
            self.write(BAD_REQUEST + remark(refusal_text(error)))
            return None
        self.write(remark(_accepted_text(row, expected)))
        return row

    async def _cancel(self, tag: str) -> None:
        try:
            count = await self._service.queue.cancel(self._user, tag)
        except StoreError as error:
            self.write(remark(refusal_text(error)))
        else:
            self.write(remark(f"cancelled: {count_of(count, 'request')} with this tag"))

    def _show_queue(self) -> None:
        lines = [
            queue_line(job.row.user.name, job.row.tag, job.row.game, job.runs_left, is_running=job.is_running)
            for job in reversed(self._service.queue.active())
        ]
        self.write("".join(lines) or NO_QUEUE)

    def _show_result(self, tag: str | None) -> None:
        jobs = self._jobs(tag)
        for job in jobs:
            self.write(
                remark(
                    f"{job.label}: {short_name(job.game)}, {', '.join(job.players)}, {job.started} of "
                    f"{count_of(job.runs, 'run')}"
                )
            )
            for run in records.runs_of_job(self._service.store, job):
                self.write(remark(self._result_text(job, run)))
        if not jobs:
            self.write(remark("none of your requests has this tag" if tag else "you have made no request"))

    def _jobs(self, tag: str | None) -> tuple[Job, ...]:
        if tag is not None and not tag.isprintable():
            return ()
        return records.jobs(self._service.store, user=self._user.id, tag=tag, limit=_MAX_JOBS)[::-1]

    def _result_text(self, job: Job, run: Run) -> str:
        label = f"{job.label} run {run.number} of {job.runs}: {run.state}"
        if run.state in (RunState.FAILED, RunState.CANCELLED):
            return f"{label}: {access.reason(self._service.store, run, Person(self._user))}"
        return label + "".join(f", {_seat_text(seat)}" for seat in run.results)

    async def _send_logs(self, tag: str, number: int | None) -> None:
        """Send the logs of a user's runs in the format of the reference, each after a remark."""
        store = self._service.store
        jobs = self._jobs(tag)
        visible = [job for job in jobs if access.sees_cards(store, job, Person(self._user))]
        if len(visible) < len(jobs):
            self.write(remark("logs that reveal later cards are available when all runs of their request have ended"))
        has_log = False
        for job in visible:
            for run in records.runs_of_job(store, job):
                if number not in (None, run.number):
                    continue
                for path in self._service.log_paths(run):
                    has_log = True
                    await self._send_log(job, run, path)
        self.write(remark("END OF LOG" if has_log else "none of your runs has a log of this tag and number"))

    async def _send_log(self, job: Job, run: Run, path: Path) -> None:
        self.write(remark(f"LOG {job.label} {run.number} of {job.runs}"))
        for lines in _log_lines(job, path):
            self.write(lines)
            await self._drain()


def _log_lines(job: Job, path: Path) -> Iterator[str]:
    """Read the complete lines of a log in batches, with the header that the reference would have written."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as log:
            first = log.readline()
            if not first.endswith("\n"):
                return
            hands, seed = first.split()[-2:]
            lines = [f"# name/game/hands/seed logs/{job.label} {job.game} {hands} {seed}\n"]
            for line in log:
                if line.endswith("\n"):
                    lines.append(line)
                if len(lines) >= _LINES_PER_WRITE:
                    yield "".join(lines)
                    lines = []
            yield "".join(lines)
    except (OSError, ValueError):
        return


def _accepted_text(job: Job, expected: Forecast | None) -> str:
    text = f"QUEUED {job.label}: {count_of(job.runs, 'run')}, seed {job.seed}"
    if expected is None:
        return text
    if expected.starts_in_s == 0:
        return f"{text}, starts now"
    text += f", position {expected.position}"
    return text if expected.starts_in_s is None else f"{text}, starts in about {expected.starts_in_s:.0f} s"


def _seat_text(seat: RunSeat) -> str:
    won = "" if seat.won is None else f" ({seat.won.text()})"
    return f"{seat.name} {seat.chips:+,.10g}{won}"


class TextPort:
    """TCP server of the text protocol.

    Attributes:
        addresses: where it listens, as (address, port); empty before the start.
    """

    def __init__(self, service: Service, accounts: Accounts) -> None:
        self.addresses: list[tuple[str, int]] = []
        self._service = service
        self._accounts = accounts
        self._server: asyncio.Server | None = None
        self._tasks: dict[asyncio.Task[None], str] = {}
        """Of all connections, with the address of the client."""
        self._logging_in: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._is_closing = False

    async def start(self) -> None:
        """Start to listen.

        Raises:
            ListenError: the port is not free.
            ConfigError: the certificate is not valid.
        """
        settings = self._service.settings
        tls = None if not settings.certificate else _tls_context(settings.certificate, settings.key)
        listen = partial(
            asyncio.start_server,
            self._accept,
            settings.host,
            settings.port,
            limit=_READ_BYTES,
            backlog=100,
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else settings.login_timeout_s,
        )
        try:
            self._server = await listen_patiently(listen, settings.port, listener.BUSY_PORT_S)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ListenError(settings.host, settings.port, Seat(0), reason) from None
        self.addresses = [sock.getsockname()[:2] for sock in self._server.sockets]

    async def close(self) -> None:
        """Stop listening and close all connections, without waiting for unread output."""
        self._is_closing = True
        if self._server is not None:
            self._server.close()
        tasks = self._tasks.keys() | self._closing
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = str((writer.get_extra_info("peername") or ["?"])[0])
        settings = self._service.settings
        # Connections that were displaced are still in `_tasks`.
        is_full = len(self._tasks.keys() - self._closing) >= settings.max_connections
        from_address = list(self._tasks.values()).count(address)
        if from_address >= settings.max_connections_per_address or (is_full and not self._displace()):
            self._refuse(reader, writer)
            return
        with contextlib.suppress(OSError):
            keep_alive(cast(socket.socket, writer.get_extra_info("socket")))
        task = asyncio.create_task(self._serve(address, reader, writer))
        self._tasks[task] = address
        self._logging_in[task] = writer

        def on_done(task: asyncio.Task[None]) -> None:
            # Here, because a task that is cancelled before its first step runs no `finally`.
            writer.close()
            del self._tasks[task]
            self._closing.discard(task)
            self._logging_in.pop(task, None)
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.error("connection from %s", address, exc_info=error)

        task.add_done_callback(on_done)

    def _displace(self) -> bool:
        if not self._logging_in:
            return False
        task = next(iter(self._logging_in))
        self._logging_in.pop(task).write(remark(_FULL).encode())
        self._closing.add(task)
        task.cancel()
        return True

    def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._closing) >= MAX_CLOSING:
            writer.transport.abort()
            return

        async def close() -> None:
            try:
                async with asyncio.timeout(CLOSING_TIMEOUT_S):
                    writer.write(remark(_FULL).encode())
                    if writer.can_write_eof():
                        writer.write_eof()
                    # Closed now, the connection would be reset if the client sends more, and the text lost.
                    while await reader.read(_READ_BYTES):
                        pass
            except (OSError, TimeoutError):
                pass
            finally:
                writer.transport.abort()

        task = asyncio.create_task(close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _serve(self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(self._service, address, reader, writer)
        try:
            async with asyncio.timeout(self._service.settings.login_timeout_s):
                login = await connection.login()
            task = asyncio.current_task()
            assert task is not None
            # From here on, no new connection displaces this one.
            self._logging_in.pop(task, None)
            if login is not None and (user := await self._log_in(address, connection, login)) is not None:
                await connection.serve(user)
        except (OSError, TimeoutError):
            writer.transport.abort()
        finally:
            self._service.queue.leave(connection)
            writer.close()
            if not self._is_closing:
                with contextlib.suppress(OSError, TimeoutError):
                    is_displaced = asyncio.current_task() in self._closing
                    timeout_s = CLOSING_TIMEOUT_S if is_displaced else self._service.settings.write_timeout_s
                    async with asyncio.timeout(timeout_s):
                        await writer.wait_closed()
            writer.transport.abort()

    async def _log_in(self, address: str, connection: _Connection, login: Login) -> User | None:
        user, wait_s = await self._accounts.log_in(login.name, login.password, address)
        if user is not None:
            user = account_of(self._service.store, user)
        if user is None:
            _log.info("a connection from %s failed to log in", address)
            connection.write(BAD_LOGIN)
        if wait_s:
            connection.write(remark(f"too many failed logins; try again in {wait_s} s"))
        return user


def _tls_context(certificate: str, key: str) -> ssl.SSLContext:
    """Make the TLS context of a server.

    Args:
        certificate: a PEM file.
        key: file with the key; empty if it is in the same file.

    Raises:
        ConfigError: they are not valid.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key or None)
    except OSError as error:
        raise ConfigError(SettingProblem("certificate", f"{certificate}: {error.strerror or error}")) from None
    return context
