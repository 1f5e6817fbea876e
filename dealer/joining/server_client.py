"""Join a server with a bot: play the seats that the server offers, and reconnect after every break.

    joining = Joining(settings, on_news)
    ending = await joining.run()

The client only opens connections, one at a time, so it works behind a firewall. For each seat it starts the bot as
``arena play`` does, at a port of this machine. The bot does not notice when the connection to the server breaks.
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
from dealer.joining.connection import ALL_GAMES, JoinSettings, ServerConnection, connect_to_server
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
    Challenge,
    ChallengeState,
    Join,
    Joined,
    JoiningRequest,
    LadderState,
    LadderWait,
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
_RESULT_GRACE_S = 0.5
"""Time for the server to report the end of a match whose bot has exited."""
_LEAVE_S = 0.5
"""Time for a bot to exit by itself after its match."""
_MAX_UNSENT_BYTES = 1 << 20
"""Limit for bytes that a bot has not read."""
OUTPUT_FOLDER: Final = "bots"
"""Subfolder of a client's folder for the output of its bots."""


@dataclass(frozen=True, slots=True)
class JoinedServer:
    """The server has accepted the bot."""

    bot: str
    games: tuple[str, ...]
    is_reconnect: bool


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The connection to the server is lost. The client tries to reconnect in `retry_s` seconds."""

    problem: str
    retry_s: float


class PlayedSeat:
    """Seat that a bot of this machine plays.

    Attributes:
        offer: the server's offer.
        output_path: file for the output of the bot.
        problem: reason that the bot has left; empty otherwise.
        is_over: the match no longer needs the bot.
        stream: texts exchanged with the server.
    """

    def __init__(
        self,
        settings: JoinSettings,
        offer: SeatOffer,
        *,
        game: Path,
        send: Callable[[JoiningRequest], bool],
        on_failed: Callable[[PlayedSeat], None],
    ) -> None:
        """Initialise without starting the bot; `play` starts it.

        Args:
            settings: settings of the client.
            offer: the server's offer.
            game: file of the game definition.
            send: sends a message to the server; returns False without a connection.
            on_failed: called when the bot has left a match that continues.
        """
        name = f"{offer.match}.{offer.player}.txt".replace("/", "_")
        self.offer = offer
        self.output_path = settings.folder / OUTPUT_FOLDER / name
        self.problem = ""
        self.is_over = False
        self.stream = SeatStream()
        self._settings = settings
        self._game = game
        self._send = send
        self._on_failed = on_failed
        self._changes = Changes()
        self._bot: Connection | None = None
        self._for_bot = b""
        self._process: BotProcess | None = None

    @property
    def last_lines(self) -> tuple[str, ...]:
        """Last lines of the bot's output."""
        if self._process is None:
            return ()
        return tuple(self._process.last_lines())

    @property
    def cure(self) -> str:
        """Remedy for a bot that has left, as a sentence; empty if none is known."""
        return sdk_cure(self._settings.player, self.last_lines)

    async def play(self) -> None:
        """Start the bot and forward its lines until the match is over or the bot has left."""
        loop = asyncio.get_running_loop()
        seed = self._settings.seed
        if seed is None:
            seed = secrets.randbits(32)
        listener = None
        try:
            listener = Listener("127.0.0.1", 0, Seat(0), is_version=lambda line: line.startswith(b"VERSION:"))
            listener.watch(loop, self._admit, _log_stray)
            self._process = BotProcess(
                self._settings.player,
                host="127.0.0.1",
                port=listener.port,
                game=GameFile(self._game, self.offer.game),
                seed=seed,
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
        # A bot that counts its hands may leave before the server's message about the end of the match arrives.
        elif not await self._changes.wait_for(lambda: self.is_over, _RESULT_GRACE_S):
            if process.exit_code is None:
                self._fail("it closed its connection")
            else:
                self._fail(f"it ended with exit code {process.exit_code}")

    async def _close(self) -> None:
        self.is_over = True
        if self._bot is not None:
            self._bot.close()
        if self._process is not None:
            leave_s = 0.0 if self.problem else _LEAVE_S
            # Shielded: a cancelled client must not leave processes behind.
            await asyncio.shield(asyncio.to_thread(stop_all, [self._process], leave_s=leave_s))

    def end(self) -> None:
        """Stop the bot; the match no longer needs it."""
        self.is_over = True
        self._changes.notify()

    def _fail(self, problem: str) -> None:
        if not self.problem and not self.is_over:
            self.problem = problem
            self._on_failed(self)
            self.end()

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
            max_unsent_bytes=_MAX_UNSENT_BYTES,
            on_broken=lambda seat, error: None,
            on_drained=lambda: None,
        )
        # The dealer may have sent states while the bot was starting.
        for_bot = self._for_bot
        self._for_bot = b""
        if for_bot:
            self._write(for_bot)
        self._forward(self._bot, received)
        self.listen()

    def listen(self) -> None:
        """Start reading the bot's lines."""
        bot = self._bot
        if bot is not None:
            bot.start_reading(partial(self._on_readable, bot))

    def pause(self) -> None:
        """Stop reading the bot's lines, while there is no connection to the server."""
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
            # No line follows that would carry the acknowledgement.
            bot.acknowledge()
            self._forward(bot, data)
        else:
            bot.eof = True
            bot.stop_reading()
            self._changes.notify()

    def _forward(self, bot: Connection, data: bytes) -> None:
        # latin-1 maps every byte to a character and back, so any line survives the way through JSON.
        text = data.decode("latin-1")
        self.stream.send(text)
        if not self._send(SeatText(self.offer.seat, text)):
            bot.stop_reading()

    def _write(self, data: bytes) -> None:
        assert self._bot is not None
        try:
            self._bot.write(data, is_asked=True)
        except UnreadLinesError:
            self._fail("it does not read its input")
        except OSError as error:
            # Reading will notice that the bot has left.
            _log.info("seat %d: %s", self.offer.seat, error)

    # ---- the server

    def receive(self, text: str) -> None:
        """Forward a text of the dealer to the bot."""
        self.stream.received += 1
        data = text.encode("latin-1", "replace")
        if self._bot is None:
            self._for_bot += data
        else:
            self._write(data)

    def resume(self, received: int) -> None:
        """Send the texts that the server has not received, and read the bot's lines again.

        Args:
            received: number of texts that the server has received.
        """
        try:
            missing_texts = self.stream.texts_after(received)
        except RemoteProtocolError as error:
            self._fail(f"the seat cannot be resumed: {error}")
            return
        for text in missing_texts:
            self._send(SeatText(self.offer.seat, text))
        self.listen()


def _log_stray(address: str, problem: StrayProblem, received: bytes) -> None:
    _log.info("a connection from %s was rejected: it %s", address, problem.value)


@dataclass(frozen=True, slots=True)
class LadderNews:
    """State of the bot on the ladder.

    Attributes:
        is_new: the bot waited for something else before, or has not waited yet.
    """

    bot: str
    state: LadderState
    is_new: bool


News: TypeAlias = (
    JoinedServer | ConnectionLost | ChallengeState | LadderNews | PlayedSeat | SeatOffer | RunStanding | RunOver
)
"""Events of a client. A `ChallengeState` reports a challenge that is not played, a `PlayedSeat` a bot that has left."""


@dataclass(slots=True)
class JoinEnding:
    """Results of a client.

    Attributes:
        runs: number of runs of the bot by their end: ``finished``, ``failed`` or ``cancelled``.
        refused: number of challenges that were not played.
        failures: number of matches that the bot left before their end.
    """

    runs: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    failures: int = 0

    @property
    def is_good(self) -> bool:
        """Everything was played to its end."""
        return not self.refused and not self.failures and set(self.runs) <= {"finished"}


class Joining:
    """Client that joins a server with a bot."""

    def __init__(
        self, settings: JoinSettings, on_news: Callable[[News], None], make_seat: Callable[..., PlayedSeat] = PlayedSeat
    ) -> None:
        """Initialise without connecting; `run` connects.

        Args:
            settings: settings of the client.
            on_news: called with every event.
            make_seat: makes the player of a seat, with the arguments of `PlayedSeat`.
        """
        self._settings = settings
        self._make_seat = make_seat
        self._on_news = on_news
        self._ending = JoinEnding()
        self._session = secrets.token_urlsafe(16)
        self._connection: ServerConnection | None = None
        self._changes = Changes()
        self._user = ""
        """Owner of the bot; empty until the bot has joined for the first time."""
        self._is_joined = False
        """The server has answered over the current connection."""
        self._problem = ""
        """Reason that the server has rejected the client."""
        self._seats: dict[int, PlayedSeat] = {}
        self._seat_tasks: set[asyncio.Task[None]] = set()
        self._games: dict[str, Path] = {}
        self._challenges = {challenge.tag: challenge for challenge in settings.challenges}
        self._open_tags = set(self._challenges)
        """Tags of challenges that have not ended."""
        self._requested_tags: set[str] = set()
        """Tags of challenges that were sent to the server."""
        self._reported: set[tuple[str, int]] = set()
        """Ended runs of challenges, by match and number."""
        self._runs: set[str] = set()
        """Matches of runs in progress."""
        self._is_leaving = False
        self._waits_for: LadderWait | None = None
        """As in the last state of the ladder that the server has sent."""

    @property
    def user(self) -> str:
        """Owner of the bot; empty until the bot has joined."""
        return self._user

    @property
    def games(self) -> dict[str, Path]:
        """Files of the games that the bot plays, by their full names."""
        return dict(self._games)

    def challenge(self, challenge: Challenge) -> None:
        """Request a contest."""
        self._challenges[challenge.tag] = challenge
        self._open_tags.add(challenge.tag)
        if self._is_joined:
            self._challenge(challenge.tag)

    async def run(self) -> JoinEnding:
        """Join and play until everything requested has been played, or until cancelled.

        Raises:
            JoinError: the server rejects the client or the bot, or did not answer the first attempt.
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
                        # The connection worked, so start again with the shortest delay.
                        self._is_joined = False
                        retry_s = self._settings.retry_s
                    self._on_news(ConnectionLost(str(error), retry_s))
                    await asyncio.sleep(retry_s)
                    retry_s = min(2 * retry_s, self._settings.max_retry_s)
        finally:
            await self._leave()
        return self._ending

    async def _follow(self) -> None:
        """Join over a new connection, and stay until everything has been played.

        Raises:
            ServerLostError: the connection is lost.
            JoinError: the server has rejected the client.
        """
        settings = self._settings
        connection = self._connection = await connect_to_server(settings)
        connection.on_message = self._on_message
        ended = asyncio.create_task(connection.wait_closed())
        ended.add_done_callback(lambda _: self._changes.notify())
        connection.send_request(self._join())
        is_answered = await self._changes.wait_for(lambda: self._is_joined or ended.done(), settings.answer_timeout_s)
        if is_answered:
            await self._changes.wait_for(lambda: self._is_done or ended.done())
        if is_answered and not ended.done():
            return
        self._connection = None
        for seat in self._seats.values():
            seat.pause()
        connection.transport.abort()
        problem = self._problem or connection.problem
        if problem:
            raise JoinError(f"{settings.address}: {problem}")
        if is_answered:
            raise ServerLostError("the connection to the server is lost")
        raise ServerLostError(f"{settings.address} does not answer")

    async def _leave(self) -> None:
        connection = self._connection
        self._connection = None
        if connection is not None:
            # A seat that is offered from here on would be played without an end.
            connection.on_message = lambda message: None
        played_tags = {self._challenge_tag(seat.offer.match) for seat in self._seats.values()}
        for task in self._seat_tasks:
            task.cancel()
        if connection is not None:
            # Cancel waiting challenges. Those being played end like any match whose bot leaves.
            for tag in sorted((self._open_tags & self._requested_tags) - played_tags):
                connection.send_request(Cancel(tag))
            await asyncio.shield(connection.close())
        if self._seat_tasks:
            await asyncio.wait(self._seat_tasks)

    def _send(self, request: JoiningRequest) -> bool:
        # `PlayedSeat.resume` sends all texts that the server lacks, once the server has reported which it has. A text
        # sent before that would arrive twice.
        if self._connection is None or not self._is_joined:
            return False
        self._connection.send_request(request)
        return True

    # ---- joining

    def _join(self) -> Join:
        """Compose the bot's offer, with the state of its seats and challenges."""
        settings = self._settings
        games = dict.fromkeys((*settings.games, *(challenge.game for challenge in settings.challenges)))
        if ALL_GAMES in games:
            games = {}
        at_once = settings.at_once
        if self._is_leaving:
            # The runs in progress are the last ones, so offer no further place next to them.
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
            challenges=tuple(sorted(self._open_tags & self._requested_tags)),
        )

    def _on_joined(self, joined: Joined) -> None:
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
                seat.end()
        # Runs may have ended while the connection was down.
        self._runs &= {seat.offer.match for seat in self._seats.values() if not seat.is_over}
        self._update_offer()
        for tag in sorted(self._open_tags - self._requested_tags):
            self._challenge(tag)

    def _update_offer(self) -> None:
        """Notify the server when the bot begins or stops to accept further runs."""
        max_runs = self._settings.max_runs
        is_leaving = max_runs is not None and self._ending.runs.total() + len(self._runs) >= max_runs
        if is_leaving != self._is_leaving:
            self._is_leaving = is_leaving
            self._send(self._join())

    def _challenge(self, tag: str) -> None:
        self._requested_tags.add(tag)
        self._send(self._challenges[tag])

    # ---- what the server sends

    @property
    def _is_done(self) -> bool:
        settings = self._settings
        if not all(seat.is_over for seat in self._seats.values()):
            return False
        if settings.max_runs is not None and self._ending.runs.total() >= settings.max_runs and not self._runs:
            return True
        return bool(settings.challenges) and not self._open_tags

    def _on_message(self, message: ServerMessage) -> None:
        try:
            self._handle(message)
        except OSError as error:
            self._problem = f"{error.filename} cannot be written: {error.strerror}"
            if self._connection is not None:
                self._connection.transport.abort()

    def _handle(self, message: ServerMessage) -> None:
        match message:
            case SeatText(number, text):
                # The seat may be over already. No waiting task depends on a text, so none is woken.
                if number in self._seats:
                    self._seats[number].receive(text)
                return
            case SeatOver(number):
                if number in self._seats:
                    self._seats[number].end()
            case SeatOffer():
                self._play_offer(message)
            case Joined():
                self._on_joined(message)
            case Refused(reason):
                self._problem = reason
            case RunStanding():
                self._on_news(message)
            case LadderState(waits_for=waits_for):
                self._on_news(LadderNews(self._settings.player.name, message, waits_for is not self._waits_for))
                self._waits_for = waits_for
            case RunOver():
                self._end_run(message)
            case ChallengeState(tag, "unknown") if tag in self._open_tags:
                # The connection broke before the server received the challenge.
                self._challenge(tag)
            case ChallengeState(tag, "done" | "cancelled" | "refused") if tag in self._open_tags:
                self._open_tags.discard(tag)
                if message.state != "done":
                    self._ending.refused += 1
                    self._on_news(message)
        self._changes.notify()

    def _challenge_tag(self, match: str) -> str:
        """Tag of this user's challenge, from the label of its runs, ``user.tag``."""
        # Not split at a dot: names of users may contain dots.
        return match.removeprefix(f"{self._user}.")

    def _end_run(self, run: RunOver) -> None:
        if self._challenge_tag(run.match) in self._challenges:
            # After a break, the server repeats the ends of runs.
            if (run.match, run.run) in self._reported:
                return
            self._reported.add((run.match, run.run))
        self._ending.runs[run.state] += 1
        self._runs.discard(run.match)
        self._on_news(run)

    def _play_offer(self, offer: SeatOffer) -> None:
        if offer.game not in self._games:
            self._send(SeatOver(offer.seat, "its client does not know the game"))
            return
        (self._settings.folder / OUTPUT_FOLDER).mkdir(exist_ok=True)
        seat = self._make_seat(
            self._settings, offer, game=self._games[offer.game], send=self._send, on_failed=self._on_failed
        )
        self._seats[offer.seat] = seat
        task = asyncio.create_task(seat.play())
        self._seat_tasks.add(task)

        def on_played(task: asyncio.Task[None]) -> None:
            self._seat_tasks.discard(task)
            if self._seats.get(offer.seat) is seat:
                del self._seats[offer.seat]

        task.add_done_callback(on_played)
        self._on_news(offer)
        if not offer.match.endswith(f".{TABLE_TAG}"):
            # The other seatings of the run are offered one after the other, until `RunOver`.
            self._runs.add(offer.match)
        self._update_offer()

    def _on_failed(self, seat: PlayedSeat) -> None:
        self._ending.failures += 1
        self._send(SeatOver(seat.offer.seat, f"the bot has left: {seat.problem}"))
        self._on_news(seat)
