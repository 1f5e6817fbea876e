"""The client of a bot that joins a server: it plays the seats that it is offered, and comes back after every break.

    joining = Joining(settings, on_news)
    ending = await joining.run()

It connects out only, over one connection to the server. A bot is started as `arena play` starts it and connects to a
port of this machine; it notices nothing of a break.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import socket
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from bots.sdk.program import GameFile
from dealer.errors import JoinError, LaunchError, ListenError, ServerLostError, UnreadLinesError
from dealer.joining.connection import ALL_GAMES, JoinSettings, ServerConnection, connected
from dealer.match.faults import StrayProblem
from dealer.table.connections import Connection
from dealer.table.launcher import BotProcess, sdk_cure, stop_all
from dealer.table.listener import WOULD_BLOCK, Listener
from dealer.table.loop import Changes, MatchLoop, notify_from_thread
from engine import Seat
from logs.whole_file import write_whole
from protocol import RemoteProtocolError
from protocol.joining import (
    TABLE_TAG,
    Cancel,
    ChallengeState,
    Join,
    Joined,
    JoiningRequest,
    Refused,
    RunOver,
    RunStanding,
    SeatOffer,
    SeatOver,
    SeatStream,
    SeatText,
    ServerMessage,
)

_log = logging.getLogger(__name__)
_READ_BYTES = 1 << 14
_DEATH_NOTICE_S = 0.5
_LEAVE_S = 0.5
_MOST_WAITING_BYTES = 1 << 20
OUTPUT_FOLDER: Final = "bots"
"""In the folder of a client: what its bots write, once a seat was played."""


@dataclass(frozen=True, slots=True)
class JoinedServer:
    """The server has taken the bot; `is_again` after a break."""

    bot: str
    games: tuple[str, ...]
    is_again: bool


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The server is away; the next try is in so many seconds."""

    problem: str
    retry_s: float


class PlayedSeat:
    """A seat that a bot of this machine plays.

    Attributes:
        problem: why the bot has left; empty if it has not.
        is_over: whether the bot is awaited no more.
    """

    def __init__(
        self,
        settings: JoinSettings,
        offer: SeatOffer,
        *,
        game: Path,
        tell: Callable[[JoiningRequest], bool],
        on_failed: Callable[[PlayedSeat], None],
    ) -> None:
        """Prepare to play; see `play`.

        Args:
            tell: sends to the server; returns whether there is a connection.
            on_failed: called when the bot has left the match, which goes on.
        """
        name = f"{offer.match}.{offer.player}.txt".replace("/", "_")
        self.offer = offer
        self.output_path = settings.folder / OUTPUT_FOLDER / name
        self.problem = ""
        self.is_over = False
        self.stream = SeatStream()
        self._settings = settings
        self._game = game
        self._tell = tell
        self._on_failed = on_failed
        self._changes = Changes()
        self._bot: Connection | None = None
        self._for_bot = b""
        self._process: BotProcess | None = None

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The last that the bot has printed."""
        return () if self._process is None else tuple(self._process.last_lines())

    @property
    def cure(self) -> str:
        """What to do about a bot that has left, in a sentence; empty if that is not known."""
        return sdk_cure(self._settings.player, self.last_lines)

    async def play(self) -> None:
        """Start the bot, and carry what both sides say, until the match is over or the bot has left."""
        loop = asyncio.get_running_loop()
        seed = self._settings.seed
        listener = None
        try:
            listener = Listener("127.0.0.1", 0, Seat(0), is_version=lambda line: line.startswith(b"VERSION:"))
            listener.watch(loop, self._admit, _reject)
            self._process = BotProcess(
                self._settings.player,
                host="127.0.0.1",
                port=listener.port,
                game=GameFile(self._game, self.offer.game),
                seed=secrets.randbits(32) if seed is None else seed,
                output_path=self.output_path,
                append=True,
                on_exit=partial(notify_from_thread, loop, self._changes),
            )
            await self._changes.wait_for(lambda: self.is_over or self._has_left)
            if not self.is_over:
                await self._explain_leaving(self._process)
        except (LaunchError, ListenError) as error:
            self._fail(str(error))
        finally:
            if listener is not None:
                listener.close()
            await self._close()

    @property
    def _has_left(self) -> bool:
        if self._bot is not None:
            return self._bot.eof
        return self._process is not None and self._process.exit_code is not None

    async def _explain_leaving(self, process: BotProcess) -> None:
        if self._bot is None:
            self._fail(f"it ended with exit code {process.exit_code} before it connected")
        # A bot that counts its hands may find the match over before we do.
        elif not await self._changes.wait_for(lambda: self.is_over, _DEATH_NOTICE_S):
            code = process.exit_code
            self._fail("it closed its connection" if code is None else f"it ended with exit code {code}")

    async def _close(self) -> None:
        self.is_over = True
        if self._bot is not None:
            self._bot.close()
        if self._process is not None:
            leave_s = _LEAVE_S if not self.problem else 0.0
            await asyncio.shield(asyncio.to_thread(stop_all, [self._process], leave_s=leave_s))

    def over(self) -> None:
        """The bot is awaited no more."""
        self.is_over = True
        self._changes.notify()

    def _fail(self, problem: str) -> None:
        if not self.problem and not self.is_over:
            self.problem = problem
            self._on_failed(self)
            self.over()

    # ---- the bot

    def _admit(self, sock: socket.socket, address: tuple[str, int], received: bytes) -> None:
        loop = asyncio.get_running_loop()
        if self._bot is not None or not isinstance(loop, MatchLoop):
            sock.close()
            return
        self._bot = Connection(
            Seat(0),
            sock,
            address[0],
            loop,
            coalesce_s=0,
            max_unsent_bytes=_MOST_WAITING_BYTES,
            on_broken=lambda seat, error: None,
            on_drained=lambda: None,
        )
        for_bot = self._for_bot
        self._for_bot = b""
        if for_bot:
            self._write(for_bot)
        self._hear(self._bot, received)
        self.listen()

    def listen(self) -> None:
        """Read what the bot says."""
        bot = self._bot
        if bot is not None:
            bot.start_reading(partial(self._on_readable, bot))

    def pause(self) -> None:
        """Leave what the bot says in its socket, as there is no connection to the server."""
        if self._bot is not None:
            self._bot.stop_reading()

    def _on_readable(self, bot: Connection) -> None:
        try:
            data = bot.recv(_READ_BYTES)
        except WOULD_BLOCK:
            return
        except OSError:
            data = b""
        if data:
            bot.acknowledge()
            self._hear(bot, data)
        else:
            bot.eof = True
            bot.stop_reading()
            self._changes.notify()

    def _hear(self, bot: Connection, data: bytes) -> None:
        text = data.decode("latin-1")
        self.stream.send(text)
        if not self._tell(SeatText(self.offer.seat, text)):
            bot.stop_reading()

    def _write(self, data: bytes) -> None:
        assert self._bot is not None
        try:
            self._bot.write(data, is_asked=True)
        except UnreadLinesError:
            self._fail("it does not read its input")
        except OSError as error:
            # A bot that has gone is noticed when it is read.
            _log.info("seat %d: %s", self.offer.seat, error)

    # ---- the server

    def receive(self, text: str) -> None:
        """Hand what the dealer says to the bot."""
        self.stream.received += 1
        data = text.encode("latin-1", "replace")
        if self._bot is None:
            self._for_bot += data
        else:
            self._write(data)

    def resume(self, received: int) -> None:
        """Send what the server lacks that has received so many texts, and go on."""
        try:
            lacking = self.stream.texts_after(received)
        except RemoteProtocolError as error:
            self._fail(f"the seat cannot be resumed: {error}")
            return
        for text in lacking:
            self._tell(SeatText(self.offer.seat, text))
        self.listen()


def _reject(address: str, problem: StrayProblem, received: bytes) -> None:
    _log.info("a connection from %s was rejected: it %s", address, problem.value)


News: TypeAlias = JoinedServer | ConnectionLost | ChallengeState | PlayedSeat | SeatOffer | RunStanding | RunOver
"""What happens to a client; of challenges, those that are not played; of seats, those that the bot has left."""


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
        self._connection: ServerConnection | None = None
        self._changes = Changes()
        self._user = ""
        """Whose bot it is; empty before it has joined."""
        self._is_joined = False
        """Whether the server has answered over the present connection."""
        self._problem = ""
        """Why the server has sent the client away."""
        self._seats: dict[int, PlayedSeat] = {}
        self._playing: set[asyncio.Task[None]] = set()
        self._games: dict[str, Path] = {}
        self._challenges = {challenge.tag: challenge for challenge in settings.challenges}
        self._open = set(self._challenges)
        self._asked: set[str] = set()
        self._reported: set[tuple[str, int]] = set()
        self._runs: set[str] = set()
        self._is_leaving = False

    async def run(self) -> JoinEnding:
        """Join and play until there is nothing left to wait for, or until cancelled; the server is notified then.

        Raises:
            JoinError: the server does not let the client in, or take the bot; or does not answer at the first try.
        """
        retry_s = self._settings.retry_s
        try:
            while not self._is_done:
                try:
                    await self._follow()
                except ServerLostError as error:
                    if not self._user:
                        raise JoinError(str(error)) from None
                    if self._is_joined:
                        self._is_joined = False
                        retry_s = self._settings.retry_s
                    self._on_news(ConnectionLost(str(error), retry_s))
                    await asyncio.sleep(retry_s)
                    retry_s = min(2 * retry_s, self._settings.max_retry_s)
        finally:
            await self._leave()
        return self._ending

    async def _follow(self) -> None:
        """Join over a new connection, and stay until nothing is left to wait for.

        Raises:
            ServerLostError: the connection has ended.
            JoinError: the server has closed it for good.
        """
        settings = self._settings
        connection = self._connection = await connected(settings)
        connection.on_message = self._note
        ended = asyncio.create_task(connection.wait_closed())
        ended.add_done_callback(lambda _: self._changes.notify())
        connection.tell(self._join())
        is_answered = await self._changes.wait_for(lambda: self._is_joined or ended.done(), settings.answer_s)
        if is_answered:
            await self._changes.wait_for(lambda: self._is_done or ended.done())
        if is_answered and not ended.done():
            return
        self._connection = None
        for seat in self._seats.values():
            seat.pause()
        connection.transport.abort()
        if problem := self._problem or connection.problem:
            raise JoinError(f"{settings.address}: {problem}")
        if is_answered:
            raise ServerLostError("the connection to the server is lost")
        raise ServerLostError(f"{settings.address} does not answer")

    async def _leave(self) -> None:
        connection = self._connection
        self._connection = None
        if connection is not None:
            # A seat that is offered meanwhile would be played with nobody to end it.
            connection.on_message = lambda message: None
        going = {self._tag_of(seat.offer.match) for seat in self._seats.values()}
        for task in self._playing:
            task.cancel()
        if connection is not None:
            # What is being played ends as when any bot leaves; what waits is not played any more.
            for tag in sorted((self._open & self._asked) - going):
                connection.tell(Cancel(tag))
            await asyncio.shield(connection.close())
        if self._playing:
            await asyncio.wait(self._playing)

    def _tell(self, request: JoiningRequest) -> bool:
        # Before the server has told what it has received, it would be sent twice.
        if self._connection is None or not self._is_joined:
            return False
        self._connection.tell(request)
        return True

    # ---- joining

    def _join(self) -> Join:
        """The bot's offer: once it has begun as many runs as it is to play, it takes no further one next to them."""
        settings = self._settings
        games = dict.fromkeys((*settings.games, *(challenge.game for challenge in settings.challenges)))
        if ALL_GAMES in games:
            games = {}
        at_once = settings.at_once
        if self._is_leaving:
            at_once = 1
        seats = {}
        for number, seat in self._seats.items():
            if not seat.is_over:
                seats[number] = seat.stream.received
        return Join(
            settings.player.name,
            self._session,
            settings.version,
            at_once,
            settings.is_on_ladder and not self._is_leaving,
            tuple(games),
            seats=seats,
            challenges=tuple(sorted(self._open & self._asked)),
        )

    def _joined(self, joined: Joined) -> None:
        for name, definition in joined.games.items():
            stem = re.sub(r"[^A-Za-z0-9_.-]", "_", name.removesuffix(".game"))
            self._games[name] = self._settings.folder / f"{stem}.game"
            write_whole(self._games[name], definition)
        games = tuple(joined.games)
        if ALL_GAMES in self._settings.games:
            games = ()
        self._on_news(JoinedServer(joined.bot, games, bool(self._user)))
        self._user = joined.user
        self._is_joined = True
        for number, seat in self._seats.items():
            if number in joined.seats:
                seat.resume(joined.seats[number])
            else:
                seat.over()
        # The end of a run may have been missed meanwhile.
        self._runs &= {seat.offer.match for seat in self._seats.values() if not seat.is_over}
        self._take_on()
        for tag in sorted(self._open - self._asked):
            self._challenge(tag)

    def _take_on(self) -> None:
        """Have the server know whether the bot takes further runs."""
        most = self._settings.max_runs
        is_leaving = most is not None and self._ending.runs.total() + len(self._runs) >= most
        if is_leaving != self._is_leaving:
            self._is_leaving = is_leaving
            self._tell(self._join())

    def _challenge(self, tag: str) -> None:
        self._asked.add(tag)
        self._tell(self._challenges[tag])

    # ---- what the server sends

    @property
    def _is_done(self) -> bool:
        settings = self._settings
        if any(not seat.is_over for seat in self._seats.values()):
            return False
        if settings.max_runs is not None and self._ending.runs.total() >= settings.max_runs and not self._runs:
            return True
        return bool(settings.challenges) and not self._open

    def _note(self, message: ServerMessage) -> None:
        try:
            self._heed(message)
        except OSError as error:
            self._problem = f"{error.filename} cannot be written: {error.strerror}"
            if self._connection is not None:
                self._connection.transport.abort()

    def _heed(self, message: ServerMessage) -> None:
        seat = self._seats.get(message.seat) if isinstance(message, SeatText | SeatOver) else None
        match message:
            case SeatText(text=text):
                if seat is not None:
                    seat.receive(text)
                return
            case SeatOver():
                if seat is not None:
                    seat.over()
            case SeatOffer():
                self._take(message)
            case Joined():
                self._joined(message)
            case Refused(reason):
                self._problem = reason
            case RunStanding():
                self._on_news(message)
            case RunOver():
                self._end_run(message)
            case ChallengeState(tag, "unknown") if tag in self._open:
                # The connection broke before the server had it.
                self._challenge(tag)
            case ChallengeState(tag, "done" | "cancelled" | "refused") if tag in self._open:
                self._open.discard(tag)
                if message.state != "done":
                    self._ending.refused += 1
                    self._on_news(message)
        self._changes.notify()

    def _tag_of(self, match: str) -> str:
        """The tag of a challenge of this user by the label of its runs; a user's name may have dots, too."""
        return match.removeprefix(f"{self._user}.")

    def _end_run(self, run: RunOver) -> None:
        if self._tag_of(run.match) in self._challenges:
            # What came before a break may come again after it.
            if (run.match, run.run) in self._reported:
                return
            self._reported.add((run.match, run.run))
        self._ending.runs[run.state] += 1
        self._runs.discard(run.match)
        self._on_news(run)

    def _take(self, offer: SeatOffer) -> None:
        if offer.game not in self._games:
            self._tell(SeatOver(offer.seat, "its client does not know the game"))
            return
        (self._settings.folder / OUTPUT_FOLDER).mkdir(exist_ok=True)
        seat = PlayedSeat(
            self._settings, offer, game=self._games[offer.game], tell=self._tell, on_failed=self._on_failed
        )
        self._seats[offer.seat] = seat
        task = asyncio.create_task(seat.play())
        self._playing.add(task)

        def on_played(task: asyncio.Task[None]) -> None:
            self._playing.discard(task)
            if self._seats.get(offer.seat) is seat:
                del self._seats[offer.seat]

        task.add_done_callback(on_played)
        self._on_news(offer)
        if not offer.match.endswith(f".{TABLE_TAG}"):
            # Its other seatings are offered one by one, until the server reports the end of the run.
            self._runs.add(offer.match)
        self._take_on()

    def _on_failed(self, seat: PlayedSeat) -> None:
        self._ending.failures += 1
        self._tell(SeatOver(seat.offer.seat, f"the bot has left: {seat.problem}"))
        self._on_news(seat)
