"""Measure the winnings of an answer with finer buckets from the shipped limit strategy.

    python docs/cfr/finer.py FOLDER [THREADS]

does as `arena exploit bound limit cfr --finer --run FOLDER`. FOLDER keeps what is learnt; the results go to `finer.csv`
next to this script, and from there into the table of `docs/cfr-tables.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))
from rows import between, read_rows, write_rows

from bots.cfr.answer import answer_settings, learn_answer
from bots.cfr.bot import SHIPPED
from bots.cfr.strategy_files import read_strategy
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
CSV: Final = HERE / "finer.csv"
PAGE: Final = HERE.parent / "cfr-tables.md"
MINUTES: Final = 10
BOARDS: Final = 1_500
SEED: Final = 0


class Answer(NamedTuple):
    """Winnings of an answer by minutes of processor time, in mbb/g, with half the 95 % interval over boards."""

    minutes: float
    deals: int
    mean: float
    half_width: float


def with_table(text: str, answers: Iterable[Answer]) -> str:
    """Fill the table of the page."""
    lines = ["| processor time | million deals | wins from the shipped strategy, mbb/g |", "| ---: | ---: | ---: |"]
    lines += [
        f"| {one.minutes:.0f} min | {one.deals / 1e6:.1f} | {one.mean:+,.0f} ± {one.half_width:,.0f} |"
        for one in answers
    ]
    return between(text, "finer", lines)


def main(folder: Path, threads: int = 1) -> None:
    """Finish the training and write the file and the page."""
    strategy = read_strategy(SHIPPED["limit"])
    settings = answer_settings(find_game("limit")[0], "cfr", strategy, None, BOARDS, SEED)
    learned = learn_answer(settings, 60 * MINUTES, folder, threads=threads)
    answers = [
        Answer(round(mark.cpu_seconds / 60, 1), mark.deals, round(mark.mean, 1), round(mark.half_width or 0.0, 1))
        for mark in learned.marks
    ]
    write_rows(CSV, Answer, answers)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), read_rows(CSV, Answer)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
