"""Compute the winnings of strategies in training from a player who always raises, for `docs/cfr-tables.md`.

    python docs/cfr/raising.py FOLDER [THREADS]

trains with 50 buckets a round for several numbers of iterations (what `docs/cfr/remake.py` has trained in FOLDER is
taken from there) and walks drawn boards with all pairs of holdings, so that only the boards are left to luck. The
results go to `raising.csv` next to this script. The tests compare the page with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rows import PAGE, between, read_rows, write_rows

from bots.cfr.abstraction import card_abstraction
from bots.cfr.bot import SHIPPED
from bots.cfr.deals import DrawnBoards, TreeArrays, new_work
from bots.cfr.files import read_strategy
from bots.cfr.settings import CfrSettings
from bots.cfr.strengths import all_strengths
from bots.cfr.training import STRATEGY, TrainingLimit, plan_training, train
from bots.cfr.tree import BettingTree
from bots.cfr.walk import walk
from engine import ActionKind

HERE: Final = Path(__file__).resolve().parent
CSV: Final = HERE / "raising.csv"
OWN: Final = CfrSettings(buckets="50")
ITERATIONS: Final = (4, 16, 64, 256, 1024, 9412)
BOARDS: Final = 1000
STREAM: Final = 3
"""Of boards that neither a training nor an answer draws."""
_CHUNK: Final = 25


class Row(NamedTuple):
    """What a strategy wins.

    Attributes:
        strategy: shipped, or by how many iterations it was trained.
        boards: walked for each seat.
        mbb_per_game: won, in the mean of both seats.
        half_width_95: of the interval over boards.
    """

    strategy: str
    boards: int
    mbb_per_game: float
    half_width_95: float


def against_raising(
    tree: BettingTree, arrays: TreeArrays, numbers: NDArray[np.float64], player: int
) -> NDArray[np.float32]:
    """A player's part of a strategy; the other raises while it can, and calls then."""
    found = numbers.astype(np.float32)
    for node in tree.decisions.tolist():
        if tree.players[node] == player:
            continue
        buckets, kinds = int(arrays.buckets[tree.rounds[node]]), [action.kind for action in tree.actions[node]]
        chosen = kinds.index(ActionKind.RAISE if ActionKind.RAISE in kinds else ActionKind.CALL)
        first = int(arrays.offsets[node])
        found[first : first + len(kinds) * buckets] = 0
        found[first + chosen * buckets : first + (chosen + 1) * buckets] = 1
    return found


def measured(name: str, path: Path, threads: int) -> Row:
    """Walk with one strategy."""
    strategy = read_strategy(str(path))
    settings = CfrSettings(**strategy.record["settings"])
    plan = plan_training(settings)
    boards = DrawnBoards(card_abstraction(all_strengths(threads), *settings.bucket_counts), settings.seed)
    numbers = strategy.numbers
    won = np.zeros((2, BOARDS))

    def explore(first: int) -> None:
        work, found = new_work(plan.arrays, boards.holdings), np.zeros(len(numbers), np.float32)
        for number in range(first, first + _CHUNK):
            deal = boards.deal(STREAM, number)
            for player, played in enumerate(of_player):
                won[player, number] = walk(plan.arrays, deal, work, played, found, player)

    of_player = [against_raising(plan.tree, plan.arrays, numbers, player) for player in range(2)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(explore, range(0, BOARDS, _CHUNK)))
    of_boards = 1000 / strategy.game.big_blind * won.mean(axis=0) / boards.pairs
    half_width = 1.96 * of_boards.std(ddof=1) / np.sqrt(BOARDS)
    return Row(name, BOARDS, round(float(of_boards.mean()), 1), round(float(half_width), 1))


def with_table(text: str, rows: Iterable[Row]) -> str:
    """The page with the table of these rows."""
    lines = ["| iterations | wins from `raising`, mbb/g |", "| ---: | ---: |"]
    lines += [
        f"| {row.strategy if row.strategy == 'shipped' else f'{int(row.strategy):,}'} | "
        f"{row.mbb_per_game:+,.0f} ± {row.half_width_95:,.0f} |"
        for row in rows
    ]
    return between(text, "raising", lines)


def main(folder: Path, threads: int = 1) -> None:
    """Measure what is missing and write the files and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in (*map(str, ITERATIONS), "shipped"):
        path = Path(SHIPPED["limit"]) if name == "shipped" else folder / f"own-{name}" / STRATEGY
        kept = folder / f"raising-{name}.csv"
        if not kept.exists():
            if not path.exists():
                train(
                    plan_training(OWN),
                    path.parent,
                    TrainingLimit(iterations=int(name)),
                    threads=threads,
                    check_boards=0,
                )
            write_rows(kept, Row, [measured(name, path, threads)])
        rows += read_rows(kept, Row)
        print(*rows[-1], flush=True)
    write_rows(CSV, Row, rows)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), rows), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
