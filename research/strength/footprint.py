"""Measure the memory and time of one `cfr`, for `research/tables/strength.md`.

    python research/strength/footprint.py

starts a process for each game, which prepares the bot and plays some hands with it, with kernels that another process
has compiled. The results go to `footprint.csv` next to this script.

"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX
from rows import between, read_rows, write_rows

from bots.cfr.bot import SHIPPED
from engine.kernels import disk

FOOTPRINT: Final = Path(__file__).resolve().parent / "footprint.csv"
PAGE: Final = APPENDIX / "strength.md"
GAMES: Final = ("limit", "nolimit", "limit3", "nolimit3", "nolimit6")
_PLAY: Final = """
import sys, time
from pathlib import Path
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from protocol import find_game
game = find_game(sys.argv[1])[1]
bots = [make_bot("cfr", seed=1), *[make_bot("calling") for _ in range(game.num_players - 1)]]
bots[0].prepare(game)
start = time.process_time()
list(self_play(game, bots, deals=20, names=[str(number) for number in range(game.num_players)]))
sizes = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
print(start, *(sizes[name].split()[0] for name in ("VmHWM", "RssAnon")))
"""


class Footprint(NamedTuple):
    """Memory and time of one `cfr`.

    Attributes:
        file_mb: of its strategy.
        start_s: of processor time, from the start of Python until it is prepared.
        memory_mb: resident at most, Python and all libraries included.
        own_mb: part at the end that other processes cannot share, without files such as libraries and the strategy.
    """

    game: str
    file_mb: float
    start_s: float
    memory_mb: float
    own_mb: float


def measured(game: str) -> Footprint:
    with tempfile.TemporaryDirectory() as folder:
        for _ in ("compiles", "measures"):
            output = subprocess.run(
                [sys.executable, "-c", _PLAY, game],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, disk.SHARED_VARIABLE: folder},
            )
    start, *kilobytes = map(float, output.stdout.split())
    size = Path(SHIPPED[game]).stat().st_size
    return Footprint(game, round(size / 1e6, 1), round(start, 2), *[round(size * 1024 / 1e6) for size in kilobytes])


def with_table(text: str, rows: Iterable[Footprint]) -> str:
    lines = ["| game | file, MB | start, s | memory, MB | not shared, MB |", "| --- |" + " ---: |" * 4]
    lines += [
        f"| {row.game} | {row.file_mb:.1f} | {row.start_s:.1f} | {row.memory_mb:.0f} | {row.own_mb:.0f} |"
        for row in rows
    ]
    return between(text, "footprint", lines)


def main() -> None:
    """Measure and write the file and the page."""
    write_rows(FOOTPRINT, Footprint, map(measured, GAMES))
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), read_rows(FOOTPRINT, Footprint)), "utf-8")


if __name__ == "__main__":
    main()
