"""The client: it joins, plays the seats that it is offered, and comes back after every break.

    joining = Joining(settings, on_news)
    ending = await joining.run()

It connects out only, to one port of the server: once to learn what happens, and once more for every seat. A bot is
started as `arena play` starts it and connects to a port of this machine. Its seat is played over as many connections to
the server as it takes; the bot notices nothing of a break.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import secrets
import socket
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from bots.sdk.program import GameFile
from dealer.errors import JoinError, LaunchError, ListenError, ServerLostError
from dealer.match.faults import StrayProblem
from dealer.server.joining.connection import (
    ALL_GAMES,
    BotFailed,
    ChallengeRefused,
    ConnectionLost,
    JoinedServer,
    JoinSettings,
    News,
    ServerLine,
    connected,
)
from dealer.table.launcher import BotProcess, stop_all
from dealer.table.listener import Listener
from dealer.table.loop import Changes
from engine import Seat
from logs.whole_file import write_whole
from protocol import RemoteProtocolError
from protocol.joining import (
    TABLE_TAG,
    Again,
    AskOutcome,
    ChallengeOver,
    GiveUp,
    Join,
    JoiningRequest,
    Refused,
    RunOver,
    RunStands,
    SeatClaim,
    Seated,
    SeatOffer,
    SeatOver,
    SeatStream,
    ServerMessage,
    format_message,
    read_server_message,
)

_log = logging.getLogger(__name__)
_READ_BYTES = 1 << 14
_LAST_LINES_S = 5.0
"""How long to wait for the last lines of a match that is over."""
_DEATH_NOTICE_S = 0.5
_LEAVE_S = 0.5
_MOST_WAITING_BYTES = 1 << 20


class PlayedSeat:
    """A seat that a bot of this machine plays.

    Attributes:
        problem: why the bot has left; empty if it has not.
    """

    def __init__(
        self,
        settings: JoinSettings,
        offer: SeatOffer,
        *,
        game: Path,
        output_path: Path,
        seed: int,
        on_break: Callable[[int], None],
        on_failed: Callable[[PlayedSeat], None],
    ) -> None:
        """Prepare to play; see `play`.

        Args:
            on_break: called with the number of the seat when its connection has broken.
            on_failed: called when the bot has left the match, which goes on.
        """
        self.offer = offer
        self.output_path = output_path
        self.problem = ""
        self._settings = settings
        self._game = game
        self._seed = seed
        self._on_break = on_break
        self._on_failed = on_failed
        self._stream = SeatStream()
        self._changes = Changes()
        self._server: asyncio.StreamWriter | None = None
        self._bot: asyncio.StreamWriter | None = None
        self._for_bot = bytearray()
        self._carrying: set[asyncio.Task[None]] = set()
        self._forwarding: asyncio.Task[None] | None = None
        self._process: BotProcess | None = None
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """Whether the bot is awaited no more."""
        return self._is_over

    @property
    def is_carried(self) -> bool:
        """Whether there is a connection for it now."""
        return self._server is not None

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The last that the bot has printed."""
        return () if self._process is None else tuple(self._process.last_lines())

    async def play(self) -> None:
        """Start the bot, and carry the lines of both sides, until the match is over or the bot has left."""
        loop = asyncio.get_running_loop()
        listener = None
        try:
            listener = Listener("127.0.0.1", 0, Seat(0), is_version=lambda line: line.startswith(b"VERSION:"))
            listener.watch(loop, self._admit, _reject)
            self._process = BotProcess(
                self._settings.player,
                host="127.0.0.1",
                port=listener.port,
                game=GameFile(self._game, self.offer.game),
                seed=self._seed,
                output_path=self.output_path,
                append=True,
                on_exit=partial(_notify_from_thread, loop, self._changes),
            )
            self.offered(self.offer)
            await self._changes.wait_for(lambda: self._is_over or self._has_ended_early)
            if self._has_ended_early:
                self._fail(f"it ended with exit code {self._process.exit_code} before it connected")
        except (LaunchError, ListenError) as error:
            self._fail(str(error))
        finally:
            if listener is not None:
                listener.close()
            await self._close()

    @property
    def _has_ended_early(self) -> bool:
        return self._bot is None and self._process is not None and self._process.exit_code is not None

    async def _close(self) -> None:
        self._is_over = True
        if self._carrying and not self.problem:
            # The last lines of the match are still on their way.
            await asyncio.wait(self._carrying, timeout=_LAST_LINES_S)
        for task in (*self._carrying, *([] if self._forwarding is None else [self._forwarding])):
            task.cancel()
        for writer in (self._server, self._bot):
            if writer is not None:
                writer.close()
        if self._process is not None:
            leave_s = _LEAVE_S if not self.problem else 0.0
            await asyncio.shield(asyncio.to_thread(stop_all, [self._process], leave_s=leave_s))

    def over(self) -> None:
        """The bot is awaited no more."""
        self._is_over = True
        self._changes.notify()

    # ---- the bot

    def _admit(self, sock: socket.socket, address: tuple[str, int], received: bytes) -> None:
        if self._forwarding is not None:
            sock.close()
            return
        self._forwarding = asyncio.create_task(self._forward(sock, received))

    async def _forward(self, sock: socket.socket, received: bytes) -> None:
        reader, self._bot = await asyncio.open_connection(sock=sock)
        self._bot.write(bytes(self._for_bot))
        self._for_bot.clear()
        data = received
        with contextlib.suppress(OSError):
            while data:
                self._stream.send(data)
                server = self._server
                if server is not None:
                    with contextlib.suppress(OSError):
                        server.write(data)
                        await server.drain()
                else:
                    # There is no one to answer: what the bot sends without being asked waits in its socket.
                    await self._changes.wait_for(lambda: self._server is not None or self._is_over)
                data = await reader.read(_READ_BYTES)
        # A bot that counts its hands may find the match over before we do.
        if not await self._changes.wait_for(lambda: self._is_over, _DEATH_NOTICE_S):
            code = self._exit_code
            self._fail("it closed its connection" if code is None else f"it ended with exit code {code}")
            self.over()

    @property
    def _exit_code(self) -> int | None:
        return None if self._process is None else self._process.exit_code

    def _fail(self, problem: str) -> None:
        if not self.problem:
            self.problem = problem
            self._on_failed(self)

    # ---- the server

    def offered(self, offer: SeatOffer) -> None:
        """Take the seat, or take it again, with the secret of an offer."""
        self.offer = offer
        if not self._is_over:
            task = asyncio.create_task(self._carry(offer.secret))
            self._carrying.add(task)
            task.add_done_callback(self._carrying.discard)

    async def _carry(self, secret: str) -> None:
        writer, is_seated = None, False
        try:
            reader, writer = await connected(self._settings)
            writer.write(format_message(SeatClaim(secret, self._stream.received)).encode())
            async with asyncio.timeout(self._settings.answer_s):
                line = (await reader.readline()).decode("utf-8", "replace")
            seated = read_server_message(line)
            if not isinstance(seated, Seated):
                raise ServerLostError(f"the seat was not had: {line.strip()}")
            writer.write(self._stream.rest(seated.received))
            if self._server is not None:
                self._server.transport.abort()
            self._server, is_seated = writer, True
            self._changes.notify()
            while data := await reader.read(_READ_BYTES):
                if self._server is not writer:
                    break
                self._stream.received += len(data)
                self._tell_bot(data)
        except (OSError, ValueError, TimeoutError, JoinError, ServerLostError, RemoteProtocolError) as error:
            _log.info("seat %d: %s", self.offer.seat, error)
        finally:
            if writer is not None:
                writer.transport.abort()
        if self._server is writer:
            self._server = None
        if not is_seated:
            await asyncio.sleep(self._settings.retry_s)
        if not self.is_carried and not self._is_over:
            self._on_break(self.offer.seat)

    def _tell_bot(self, data: bytes) -> None:
        if self._bot is None:
            self._for_bot += data
        else:
            self._bot.write(data)
            if self._bot.transport.get_write_buffer_size() > _MOST_WAITING_BYTES:
                self._fail("it does not read its input")
                self.over()


def _reject(address: str, problem: StrayProblem, received: bytes) -> None:
    _log.info("a connection from %s was rejected: it %s", address, problem.value)


def _notify_from_thread(loop: asyncio.AbstractEventLoop, changes: Changes) -> None:
    """Report that a process has ended; not once the loop is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(changes.notify)


OUTPUT_FOLDER: Final = "bots"
"""In the folder of a client: what its bots write, once a seat was played."""


@dataclass(slots=True)
class JoinEnding:
    """What has come of a client.

    Attributes:
        runs: in which the bot has played, by how they ended: ``finished``, ``failed`` or ``cancelled``.
        failures: how often the bot has left a match that went on.
    """

    runs: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    failures: int = 0

    @property
    def is_good(self) -> bool:
        """Whether everything was played to its end."""
        return not self.refused and not self.failures and set(self.runs) <= {"finished"}


class Joining:
    """A client that brings a bot."""

    def __init__(self, settings: JoinSettings, on_news: Callable[[News], None]) -> None:
        self._settings = settings
        self._on_news = on_news
        self._ending = JoinEnding()
        self._session = secrets.token_urlsafe(16)
        self._line: ServerLine | None = None
        self._seats: dict[int, tuple[PlayedSeat, asyncio.Task[None]]] = {}
        self._names: dict[str, str] = {}
        """The canonical names of games on this server, by what the settings call them."""
        self._games: dict[str, Path] = {}
        self._challenges = {challenge.tag: challenge for challenge in settings.challenges}
        self._open = set(self._challenges)
        self._asked: set[str] = set()
        self._reported: set[tuple[str, int]] = set()
        self._played = 0
        self._runs: set[str] = set()
        self._is_leaving = False

    async def run(self) -> JoinEnding:
        """Join and play until there is nothing left to wait for, or until cancelled; the server is notified then.

        Raises:
            JoinError: the server does not let the client in, or take the bot; or does not answer at the first try.
        """
        try:
            await self._stay()
        finally:
            await self._leave()
        return self._ending

    async def _stay(self) -> None:
        retry_s = self._settings.retry_s
        is_again = False
        while True:
            try:
                await self._connect(is_again=is_again)
                is_again, retry_s = True, self._settings.retry_s
                await self._follow()
                return
            except ServerLostError as error:
                self._drop_line()
                if not is_again:
                    raise JoinError(str(error)) from None
                self._on_news(ConnectionLost(str(error), retry_s))
                await asyncio.sleep(retry_s)
                retry_s = min(2 * retry_s, self._settings.most_retry_s)

    async def _leave(self) -> None:
        line, self._line = self._line, None
        going = {self._tag_of(seat.offer.match) for seat, _ in self._seats.values()}
        for _, task in self._seats.values():
            task.cancel()
        leaving = [task for _, task in self._seats.values()]
        if line is not None:
            # What is being played ends as when any bot leaves; what waits is not played any more.
            await asyncio.shield(line.quit(cancelling=sorted((self._open & self._asked) - going)))
        if leaving:
            await asyncio.wait(leaving)

    def _drop_line(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _send(self, request: JoiningRequest) -> None:
        if self._line is not None:
            self._line.send(request)

    # ---- joining

    async def _connect(self, *, is_again: bool) -> None:
        settings = self._settings
        line = await ServerLine.open(settings)
        self._line = line
        for name in dict.fromkeys((*settings.games, *(challenge.game for challenge in settings.challenges))):
            if name != ALL_GAMES and name not in self._names:
                self._names[name] = await self._learn(line, name)
        join = self._join()
        joined = await line.joined(join)
        for number in set(self._seats) - set(joined.seats):
            self._seats[number][0].over()
        # The end of a run may have been missed meanwhile.
        self._runs &= {seat.offer.match for seat, _ in self._seats.values() if not seat.is_over}
        self._on_news(JoinedServer(joined.bot, join.games, is_again))
        for number, (seat, _) in self._seats.items():
            if not seat.is_carried:
                line.send(Again(number))
        for tag in sorted(self._open):
            if tag in self._asked:
                # Its outcome may have been missed meanwhile.
                line.send(AskOutcome(tag))
            else:
                self._challenge(tag)

    def _join(self) -> Join:
        """The bot's offer: once it has begun as many runs as it is to play, it takes no further one next to them."""
        settings = self._settings
        games = () if ALL_GAMES in settings.games else tuple(self._games)
        at_once, is_on_ladder = (1, False) if self._is_leaving else (settings.at_once, settings.is_on_ladder)
        return Join(settings.player.name, self._session, settings.version, at_once, is_on_ladder, games)

    async def _learn(self, line: ServerLine, name: str) -> str:
        canonical, text = await line.game(name)
        path = self._settings.folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', canonical.removesuffix('.game'))}.game"
        write_whole(path, text)
        self._games[canonical] = path
        return canonical

    def _challenge(self, tag: str) -> None:
        wanted = self._challenges[tag]
        self._asked.add(tag)
        self._send(replace(wanted, game=self._names[wanted.game]))

    # ---- what the server sends

    async def _follow(self) -> None:
        if self._line is None:
            return
        async for message in self._line.messages():
            await self._note(message)
            if self._is_done:
                return

    @property
    def _is_done(self) -> bool:
        settings = self._settings
        if any(not seat.is_over for seat, _ in self._seats.values()):
            return False
        if settings.most_runs is not None and self._played >= settings.most_runs and not self._runs:
            return True
        return bool(settings.challenges) and not self._open

    async def _note(self, message: ServerMessage) -> None:
        match message:
            case SeatOffer():
                await self._take(message)
            case SeatOver(number):
                if number in self._seats:
                    self._seats[number][0].over()
            case RunStands():
                self._on_news(message)
            case RunOver():
                self._end_run(message)
            case ChallengeOver(tag, state):
                if tag in self._open:
                    self._open.discard(tag)
                    if state == "cancelled":
                        self._refused(tag, message.reason)
            case Refused("JOIN"):
                raise JoinError(message.reason)
            case Refused("ASK", str() as tag) if tag in self._open:
                # The connection broke before the server had it.
                self._challenge(tag)
            case Refused(tag=str() as tag) if tag in self._open:
                self._open.discard(tag)
                self._refused(tag, message.reason)

    def _tag_of(self, match: str) -> str:
        """The tag of a challenge of this user by the label of its runs; a user's name may have dots, too."""
        return match.removeprefix(f"{self._settings.user}.")

    def _refused(self, tag: str, reason: str) -> None:
        self._ending.refused += 1
        self._on_news(ChallengeRefused(tag, reason))

    def _end_run(self, run: RunOver) -> None:
        if self._tag_of(run.match) in self._challenges:
            # What came before a break may come again after it.
            if (run.match, run.run) in self._reported:
                return
            self._reported.add((run.match, run.run))
        self._ending.runs[run.state] += 1
        self._played += 1
        self._runs.discard(run.match)
        self._on_news(run)

    async def _take(self, offer: SeatOffer) -> None:
        if offer.seat in self._seats:
            self._seats[offer.seat][0].offered(offer)
            return
        if offer.game not in self._games and self._line is not None:
            await self._learn(self._line, offer.game)
        folder = self._settings.folder / OUTPUT_FOLDER
        folder.mkdir(exist_ok=True)
        seed = self._settings.seed
        seat = PlayedSeat(
            self._settings,
            offer,
            game=self._games[offer.game],
            output_path=folder / f"{offer.match}.{offer.player}.txt".replace("/", "_"),
            seed=secrets.randbits(32) if seed is None else seed,
            on_break=self._on_break,
            on_failed=self._on_failed,
        )
        task = asyncio.create_task(seat.play())
        self._seats[offer.seat] = (seat, task)
        task.add_done_callback(lambda _: self._seats.pop(offer.seat, None))
        self._on_news(offer)
        if not offer.match.endswith(f".{TABLE_TAG}"):
            # Its other seatings are offered one by one, until the server reports the end of the run.
            self._runs.add(offer.match)
        most = self._settings.most_runs
        if most is not None and self._played + len(self._runs) >= most and not self._is_leaving:
            self._is_leaving = True
            self._send(self._join())

    def _on_break(self, number: int) -> None:
        self._send(Again(number))

    def _on_failed(self, seat: PlayedSeat) -> None:
        self._ending.failures += 1
        self._send(GiveUp(seat.offer.seat, f"the bot has left: {seat.problem}"))
        self._on_news(BotFailed(seat.offer.match, seat.problem, seat.last_lines, seat.output_path))
