"""One seat of a match: the bot as a process, and the connection that carries its lines to the server and back.

The bot is started as `arena play` starts it and connects to a port of this machine. The seat goes on over as many
connections to the server as it takes; the bot notices nothing of a break.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

from dealer.errors import JoinError, LaunchError, ListenError, ServerLostError
from dealer.match.faults import StrayProblem
from dealer.server.joining.connection import JoinSettings, connected
from dealer.table.launcher import BotProcess, stop_all
from dealer.table.listener import Listener
from dealer.table.loop import Changes
from engine import Seat
from protocol import RemoteProtocolError
from protocol.joining import SeatClaim, Seated, SeatOffer, SeatStream, format_message, read_server_message

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
        """Whether nobody awaits the bot any more."""
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
        door = None
        try:
            door = Listener("127.0.0.1", 0, Seat(0), is_version=lambda line: line.startswith(b"VERSION:"))
            door.watch(loop, self._admit, _turn_away)
            self._process = BotProcess(
                self._settings.player,
                host="127.0.0.1",
                port=door.port,
                game=str(self._game.absolute()),
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
            if door is not None:
                door.close()
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
        """Nobody awaits the bot any more."""
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
                    # Nobody can answer: what the bot sends without being asked waits in its socket.
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
                self._fail("it does not read what it is sent")
                self.over()


def _turn_away(address: str, problem: StrayProblem, received: bytes) -> None:
    _log.info("a connection from %s was turned away: it %s", address, problem.value)


def _notify_from_thread(loop: asyncio.AbstractEventLoop, changes: Changes) -> None:
    """Report that a process has ended; not once the loop is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(changes.notify)
