"""Run an uploaded bot on the server; to the rest of the server it is like any connected bot."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dealer.joining.connection import JoinSettings
from dealer.joining.server_client import OUTPUT_FOLDER, PlayedSeat
from dealer.server.queue.jobs import RunEnded, SeatOpen
from dealer.server.queue.presence import HostEvent
from dealer.server.server_settings import player_name
from dealer.table.links import PlayerLink
from dealer.table.players import Player
from protocol.joining import JoiningRequest, SeatOffer, SeatText

FAILURE_NAME: Final = "last-failure.txt"
"""File in a bot's output folder with the output of its last failure."""


class BoxedBot:
    """A `dealer.server.queue.presence.BotHost` that runs a sandboxed process for every seat."""

    def __init__(self, player: Player, folder: Path, games: Mapping[str, Path]) -> None:
        """Create the output folder.

        Args:
            folder: for the output of the bot.
            games: files with the definitions of the games, by name.
        """
        self._settings = JoinSettings("", "", player, folder)
        self._games = games
        self._seats: dict[int, tuple[int, PlayedSeat, asyncio.Task[None]]] = {}
        """Number of the run, seat, and the task that plays it."""
        self._numbers = itertools.count(1)
        (folder / OUTPUT_FOLDER).mkdir(parents=True, exist_ok=True)

    @property
    def is_playing(self) -> bool:
        return bool(self._seats)

    def notify(self, event: HostEvent) -> None:
        """Take a seat that opens, or leave the seats of a run that ends."""
        match event:
            case SeatOpen():
                self._take(event)
            case RunEnded():
                for run, played, _ in self._seats.values():
                    if run == event.run.id:
                        played.end()

    async def close(self) -> None:
        """Leave all seats and wait for the processes to end."""
        tasks = [task for _, _, task in self._seats.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _take(self, facts: SeatOpen) -> None:
        open_seat = facts.open_seat
        assert open_seat is not None
        number = next(self._numbers)
        links: list[PlayerLink] = []

        def send(request: JoiningRequest) -> bool:
            assert isinstance(request, SeatText)
            # The bot takes its seat with its first text, like any client that has joined.
            if not links:
                links.append(PlayerLink(lambda data: played.receive(data.decode("latin-1")), played.end))
                open_seat.take(links[0])
            links[0].receive(request.text.encode("latin-1"))
            return True

        def give_up(played: PlayedSeat) -> None:
            if links:
                links[0].receive(b"")
            else:
                open_seat.give_up()

        # Unique by the number, because a bot may have two seats in one run.
        name = f"{facts.run}.{number}"
        offer = SeatOffer(number, facts.game, name, player_name(facts.player), facts.hands)
        played = PlayedSeat(self._settings, offer, game=self._games[facts.game], send=send, on_failed=give_up)
        task = asyncio.create_task(played.play())
        self._seats[number] = facts.run, played, task

        def finish(task: asyncio.Task[None]) -> None:
            del self._seats[number]
            with contextlib.suppress(OSError):
                if played.problem:
                    played.output_path.replace(self._settings.folder / FAILURE_NAME)
                else:
                    played.output_path.unlink()

        task.add_done_callback(finish)
