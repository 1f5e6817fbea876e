"""Many matches in one process, for the dealer benchmark: prints the ports, a line per match, then deals.

python -m dealer.bench.many GAME_FILE MATCHES HANDS SEED [COALESCE_MS] [watched]

With the last word, every match is watched as by `arena play --watch`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence

from dealer.match import Match, MatchSetup, Phase
from dealer.match.events import Watcher
from dealer.run.contest import MatchWatcher
from dealer.run.writers import LogWriter
from dealer.table.collector import spare_collector
from dealer.table.connections import Connections
from dealer.table.loop import new_event_loop
from dealer.watching import LiveMatches
from logs.whole_file import LineFile
from protocol import find_game


async def _deal(
    game_file: str, matches: int, hands: int, seed: int, coalesce_s: float | None, *, is_watched: bool
) -> bool:
    game = find_game(game_file)[1]
    names = tuple(f"p{seat}" for seat in range(game.num_players))
    running = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(matches):
            setup = MatchSetup(game, f"m{i}", hands, seed + i, names)
            watchers: list[Watcher] = [LogWriter(LineFile(os.path.join(folder, f"m{i}.log")), names)]
            if is_watched:
                watchers.append(MatchWatcher(LiveMatches(), game_file, setup))
            running.append(Connections(Match(setup, watchers), coalesce_s=coalesce_s))
        for connections in running:
            sys.stdout.write(" ".join(map(str, connections.listen())) + "\n")
        sys.stdout.flush()
        spare_collector()
        await asyncio.gather(*(connections.run() for connections in running))
    return all(connections.match.phase is Phase.FINISHED for connections in running)


def main(arguments: Sequence[str]) -> int:
    """Deal; returns 0 when every match was finished."""
    game_file, matches, hands, seed = arguments[0], *map(int, arguments[1:4])
    is_watched = arguments[-1] == "watched"
    more = arguments[4 : len(arguments) - is_watched]
    coalesce_s = float(more[0]) / 1000 if more else None
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return 0 if runner.run(_deal(game_file, matches, hands, seed, coalesce_s, is_watched=is_watched)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
