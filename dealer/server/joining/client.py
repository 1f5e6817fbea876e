"""The client: it joins, plays the seats that it is offered, and comes back after every break.

    joining = Joining(settings, on_news)
    ending = await joining.run()

It connects out only, to one port of the server: once to learn what happens, and once more for every seat.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from dealer.errors import JoinError, ServerLostError
from dealer.server.joining.connection import (
    ALL_GAMES,
    BotFailed,
    ChallengeRefused,
    ConnectionLost,
    JoinedServer,
    JoinSettings,
    News,
    ServerLine,
)
from dealer.server.joining.seat import PlayedSeat
from logs.whole_file import write_whole
from protocol import GameDefinitionError, find_game
from protocol.joining import (
    Again,
    AskOutcome,
    ChallengeOver,
    GiveUp,
    Join,
    JoiningRequest,
    Refused,
    RunOver,
    RunStands,
    SeatOffer,
    SeatOver,
    ServerMessage,
)

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
        self._games: dict[str, Path] = {}
        self._challenges = {challenge.tag: challenge for challenge in settings.challenges}
        self._open = set(self._challenges)
        self._asked: set[str] = set()
        self._reported: set[tuple[str, int]] = set()
        self._played = 0

    async def run(self) -> JoinEnding:
        """Join and play until there is nothing left to wait for, or until cancelled; the server is notified then.

        Raises:
            JoinError: the server does not let the client in, or take the bot; or nobody answers at the first try.
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
        going = {seat.offer.match.partition(".")[2] for seat, _ in self._seats.values()}
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
            if name != ALL_GAMES and name not in self._games:
                await self._learn(line, name)
        games = () if ALL_GAMES in settings.games else tuple(dict.fromkeys(path.stem for path in self._games.values()))
        player = settings.player
        join = Join(player.name, self._session, settings.version, settings.at_once, settings.is_on_ladder, games)
        joined = await line.joined(join)
        for number in set(self._seats) - set(joined.seats):
            self._seats[number][0].over()
        self._on_news(JoinedServer(joined.bot, games, is_again))
        for number, (seat, _) in self._seats.items():
            if not seat.is_carried:
                line.send(Again(number))
        for tag in sorted(self._open):
            if tag in self._asked:
                # Its outcome may have been missed meanwhile.
                line.send(AskOutcome(tag))
            else:
                self._challenge(tag)

    async def _learn(self, line: ServerLine, name: str) -> None:
        names = [name]
        with contextlib.suppress(GameDefinitionError):
            names.append(find_game(name)[0])
        for one in dict.fromkeys(names):
            text = await line.game(one)
            if text is not None:
                path = self._settings.folder / f"{one}.game"
                write_whole(path, text)
                self._games[name] = self._games[one] = path
                return
        raise JoinError(f"{self._settings.address} has no game {name!r}")

    def _challenge(self, tag: str) -> None:
        wanted = self._challenges[tag]
        self._asked.add(tag)
        self._send(replace(wanted, game=self._games[wanted.game].stem))

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
        if settings.most_runs is not None and self._played >= settings.most_runs:
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

    def _refused(self, tag: str, reason: str) -> None:
        self._ending.refused += 1
        self._on_news(ChallengeRefused(tag, reason))

    def _end_run(self, run: RunOver) -> None:
        if run.match.partition(".")[2] in self._challenges:
            # What came before a break may come again after it.
            if (run.match, run.run) in self._reported:
                return
            self._reported.add((run.match, run.run))
        self._ending.runs[run.state] += 1
        self._played += 1
        self._on_news(run)

    async def _take(self, offer: SeatOffer) -> None:
        if offer.seat in self._seats:
            self._seats[offer.seat][0].offered(offer)
            return
        game = self._games.get(offer.game)
        if game is None and self._line is not None:
            await self._learn(self._line, offer.game)
            game = self._games[offer.game]
        assert game is not None
        folder = self._settings.folder / OUTPUT_FOLDER
        folder.mkdir(exist_ok=True)
        seed = self._settings.seed
        seat = PlayedSeat(
            self._settings,
            offer,
            game=game,
            output_path=folder / f"{offer.match}.{offer.player}.txt".replace("/", "_"),
            seed=secrets.randbits(32) if seed is None else seed,
            on_break=self._on_break,
            on_failed=self._on_failed,
        )
        task = asyncio.create_task(seat.play())
        self._seats[offer.seat] = (seat, task)
        task.add_done_callback(lambda _: self._seats.pop(offer.seat, None))
        self._on_news(offer)

    def _on_break(self, number: int) -> None:
        self._send(Again(number))

    def _on_failed(self, seat: PlayedSeat) -> None:
        self._ending.failures += 1
        self._send(GiveUp(seat.offer.seat, f"the bot has left: {seat.problem}"))
        self._on_news(BotFailed(seat.offer.match, seat.problem, seat.last_lines, seat.output_path))
