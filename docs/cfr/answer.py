"""Learn answers to the shipped strategies on several numbers of boards, for `docs/cfr-tables.md`.

    python docs/cfr/answer.py FOLDER [THREADS]

FOLDER keeps finished measurements; the results go to `answer.csv` next to this script. The
tests compare the page with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from rows import PAGE, between, read_rows, write_rows

from bots.cfr.abstraction import card_abstraction
from bots.cfr.bot import SHIPPED
from bots.cfr.deals import DrawnBoards
from bots.cfr.files import read_strategy
from bots.cfr.settings import CfrSettings
from bots.cfr.solver import exploitability
from bots.cfr.strengths import all_strengths
from bots.cfr.training import plan_training

HERE: Final = Path(__file__).resolve().parent
CSV: Final = HERE / "answer.csv"
SHIPPED_FOR: Final = {name: SHIPPED[name] for name in ("limit", "nolimit")}
BOARDS: Final = (256, 1024, 2048)


class Row(NamedTuple):
    """What an answer to a shipped strategy wins.

    Attributes:
        game: played.
        boards: on which each player's answer was learned, and as many others on which it was judged.
        mbb_per_game: won, in the mean of both seats.
        half_width_95: of the interval over boards.
    """

    game: str
    boards: int
    mbb_per_game: float
    half_width_95: float


def measured(game: str, boards: int, threads: int) -> Row:
    """Learn an answer, and judge it."""
    strategy = read_strategy(SHIPPED_FOR[game])
    settings = CfrSettings(**strategy.record["settings"])
    arrays = plan_training(settings).arrays
    drawn = DrawnBoards(card_abstraction(all_strengths(threads), *settings.bucket_counts), settings.seed)
    with ThreadPoolExecutor(threads) as pool:
        found = exploitability(arrays, drawn, strategy.numbers, count=boards, pool=pool)
    unit = 1000 / strategy.game.big_blind
    return Row(game, boards, round(found.value * unit, 1), round(1.96 * found.error * unit, 1))


def with_table(text: str, rows: Iterable[Row]) -> str:
    """The page with the table of these rows."""
    lines = ["| strategy | boards | an answer wins, mbb/g |", "| --- | ---: | ---: |"]
    lines += [f"| {row.game} | {row.boards:,} | {row.mbb_per_game:+,.0f} ± {row.half_width_95:,.0f} |" for row in rows]
    return between(text, "answers", lines)


def main(folder: Path, threads: int = 1) -> None:
    """Measure what is missing and write the files and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for game in SHIPPED_FOR:
        for boards in BOARDS:
            kept = folder / f"{game}-{boards}.csv"
            if not kept.exists():
                write_rows(kept, Row, [measured(game, boards, threads)])
            rows += read_rows(kept, Row)
            print(*rows[-1], flush=True)
    write_rows(CSV, Row, rows)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), rows), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
