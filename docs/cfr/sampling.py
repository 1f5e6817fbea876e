"""Compare two ways to learn from drawn boards, and write the results into `docs/cfr-tables.md`.

    python docs/cfr/sampling.py FOLDER

trains limit hold'em with 50 buckets a round on one core, once as `arena train cfr` does (public chance sampling: a walk
has all holdings of a board) and once by external sampling (`external.py`: a walk has one pair of holdings), and
measures both after the same processor times with the same boards. FOLDER keeps finished measurements; an interrupted
training starts over. The results go to `sampling.csv` next to this script, and from there into the page. The tests
compare the page with the file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from rows import PAGE, between, read_rows, write_rows

from bots.cfr.abstraction import card_abstraction
from bots.cfr.deals import DrawnBoards, TreeArrays
from bots.cfr.solver import Discounts, Solver, exploitability, tree_arrays
from bots.cfr.strengths import all_strengths
from bots.cfr.tree import betting_tree
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
CSV: Final = HERE / "sampling.csv"
MARKS: Final = (4.0, 16.0)
"""Seconds of one core after which is measured."""
BUCKETS: Final = 50
BOARDS: Final = 2
PAIRS: Final = 64
"""Pairs of holdings that external sampling draws on each board."""
CHECK_BOARDS: Final = 128
SEED: Final = 1
NAMES: Final = {"public": "all holdings of a board", "external": "one pair of holdings"}


class Row(NamedTuple):
    """The state of a design after some processor time.

    Attributes:
        design: a key of `NAMES`.
        seconds: of one core, iterating.
        walks: over the tree.
        nodes: visited.
        holdings: per visited node.
        mbb_per_game: winnings of an answer, a lower bound.
        half_width_95: of its interval.
    """

    design: str
    seconds: float
    walks: int
    nodes: int
    holdings: int
    mbb_per_game: float
    half_width_95: float


class Design(Protocol):
    """A way to learn."""

    def step(self) -> None:
        """Train for some milliseconds."""

    def counts(self) -> tuple[int, int, int]:
        """Walks, nodes visited, and holdings at each."""

    def strategy(self) -> NDArray[np.float64]:
        """What it has come to."""


class Public:
    """What `arena train cfr` does."""

    def __init__(self, tree: TreeArrays, boards: DrawnBoards) -> None:
        self._solver = Solver(tree, boards, BOARDS, Discounts())

    def step(self) -> None:
        """Do an iteration."""
        self._solver.iterate()

    def counts(self) -> tuple[int, int, int]:
        """See `Design`."""
        walks = 2 * BOARDS * self._solver.iteration
        return walks, walks * len(self._solver.tree.kinds), self._solver.boards.holdings

    def strategy(self) -> NDArray[np.float64]:
        """See `Design`."""
        found: NDArray[np.float64] = self._solver.average_strategy()
        return found


class External:
    """External sampling."""

    def __init__(self, tree: TreeArrays, boards: DrawnBoards) -> None:
        sys.path.insert(0, str(HERE))
        from external import ExternalSampler

        self._sampler = ExternalSampler(tree, boards, pairs_per_board=PAIRS, seed=SEED)

    def step(self) -> None:
        """Walk with the pairs of a board."""
        self._sampler.walk_a_board()

    def counts(self) -> tuple[int, int, int]:
        """See `Design`."""
        return 2 * self._sampler.pairs, self._sampler.nodes, 1

    def strategy(self) -> NDArray[np.float64]:
        """See `Design`."""
        found: NDArray[np.float64] = self._sampler.average_strategy()
        return found


DESIGNS: Final[dict[str, Callable[[TreeArrays, DrawnBoards], Design]]] = {"public": Public, "external": External}


def trained(design: str, marks: Iterable[float], tree: TreeArrays, boards: DrawnBoards) -> Iterator[Row]:
    """Train, and measure at the marks."""
    unit = 1000 / find_game("limit")[1].big_blind
    DESIGNS[design](tree, boards).step()  # compiles
    learning, seconds = DESIGNS[design](tree, boards), 0.0
    for mark in marks:
        while seconds < mark:
            before = time.thread_time()
            learning.step()
            seconds += time.thread_time() - before
        found = exploitability(tree, boards, learning.strategy(), count=CHECK_BOARDS)
        won, half_width = found.value * unit, 1.96 * found.error * unit
        yield Row(design, round(seconds, 1), *learning.counts(), round(won, 1), round(half_width, 1))


def with_table(text: str, rows: Iterable[Row]) -> str:
    """The page with the table of these rows."""
    lines = [
        "| a walk has | processor time | walks | nodes/s | nodes times holdings/s | an answer wins, mbb/g |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {NAMES[row.design]} | {row.seconds:,.0f} s | {row.walks:,} | {row.nodes / row.seconds / 1e6:.1f} M | "
        f"{row.nodes * row.holdings / row.seconds / 1e6:,.0f} M | {row.mbb_per_game:+,.0f} ± {row.half_width_95:,.0f} |"
        for row in rows
    ]
    return between(text, "sampling", lines)


def main(folder: Path) -> None:
    """Measure what is missing and write the file and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    abstraction = None
    for design in DESIGNS:
        kept = folder / f"{design}.csv"
        if not kept.exists():
            abstraction = abstraction or card_abstraction(all_strengths(), BUCKETS, BUCKETS, BUCKETS)
            boards = DrawnBoards(abstraction, SEED)
            tree = tree_arrays(betting_tree(find_game("limit")[1]), boards.buckets, boards.float_type)
            found = []
            for row in trained(design, MARKS, tree, boards):
                print(*row, flush=True)
                found.append(row)
            write_rows(kept, Row, found)
        rows += read_rows(kept, Row)
    write_rows(CSV, Row, rows)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), rows), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
