"""Many clients that bring bots to a server, in one process: each joins as `arena join` does.

python -m dealer.bench.joiners PORT USER BOTS GAME BOT FOLDER

The token is read from the first line of the standard input. When all have joined a line is printed; they stay until
the process is ended, and their bots with them.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from dealer.bench.served import ANSWER_S
from dealer.server.joining.client import Joining
from dealer.server.joining.connection import JoinedServer, JoinSettings, News
from dealer.table.loop import new_event_loop
from dealer.table.players import parse_player


def bot_name(number: int) -> str:
    """What the bot of this number, from 0, is called."""
    return f"joined{number}"


async def _join(port: int, user: str, token: str, bots: int, game: str, bot: str, folder: Path) -> None:
    joined: set[str] = set()

    def note(news: News) -> None:
        if isinstance(news, JoinedServer):
            joined.add(news.bot)
            if len(joined) == bots and not news.is_again:
                print("joined", flush=True)

    clients = []
    for number in range(bots):
        own = folder / bot_name(number)
        own.mkdir()
        player = parse_player(f"{bot_name(number)}={bot}")
        settings = JoinSettings(
            "127.0.0.1", port, user, token, player, own, games=(game,), seed=number, answer_s=ANSWER_S
        )
        clients.append(asyncio.create_task(Joining(settings, note).run()))
    loop = asyncio.get_running_loop()
    if sys.platform != "win32":
        loop.add_signal_handler(signal.SIGTERM, _cancel_all, clients)
    await asyncio.gather(*clients)


def _cancel_all(tasks: Sequence[asyncio.Task[object]]) -> None:
    for task in tasks:
        task.cancel()


def main(arguments: Sequence[str]) -> int:
    """Join, and stay; returns 0 when told to leave."""
    port, user, bots, game, bot, folder = arguments
    token = sys.stdin.readline().strip()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        try:
            runner.run(_join(int(port), user, token, int(bots), game, bot, Path(folder)))
        except asyncio.CancelledError:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
