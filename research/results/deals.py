"""Measure the number of deals that an interval takes between built-in bots, for `research/tables/intervals.md`.

    python research/results/deals.py

plays matches in this process, keeps the standard deviation of a deal, raw and without the luck of the cards, in
`deals.csv` beside this script, and writes the table from it. The deals are those that `--stop ci=` takes with such a
deviation: the intervals are the program's.

"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from dealer import play
from dealer.run.results.result_sentences import rounded_up
from logs.document import Column, Table
from logs.document.plain import markdown_table
from logs.estimation import IntervalWidth, Monitor, score_bounds
from protocol import find_game

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "intervals.md"
FIGURES: Final = HERE / "deals.csv"
DEALS: Final = 5_000
SEED: Final = 5
MATCHES: Final = (
    ("kuhn", "equilibrium", "random"),
    ("leduc", "equilibrium", "random"),
    ("limit", "mfs", "rembrant"),
    ("limit", "cfr", "mfs"),
    ("limit", "raising", "random"),
    ("nolimit", "mfs", "rembrant"),
    ("nolimit", "calling", "random"),
)
WIDTHS_MBB: Final = (100.0, 20.0)


class Spread(NamedTuple):
    """Standard deviation of a deal in both seatings, in mbb/g."""

    game: str
    player: str
    opponent: str
    sd: float
    corrected_sd: float


def measured(game: str, player: str, opponent: str) -> Spread:
    result = play(game, [player, opponent], deals=DEALS, seed=SEED, in_process=True, score="corrected")
    first = result.players[0]
    assert first.standard_deviation is not None
    assert first.won is not None
    assert first.won.corrected is not None
    assert first.won.corrected.error is not None
    corrected_sd = first.won.corrected.error * math.sqrt(result.duplicates)
    return Spread(game, player, opponent, first.standard_deviation, corrected_sd)


def stored() -> list[Spread]:
    with FIGURES.open(newline="") as file:
        return [Spread(*row[:3], *map(float, row[3:])) for row in csv.reader(file)]


def deals_for(game: str, sd: float, width_mbb: float) -> int:
    return Monitor(IntervalWidth(width_mbb), score_bounds(find_game(game)[1])).likely_units(sd)


def with_table(text: str, spreads: Sequence[Spread]) -> str:
    """Return the page with these figures."""
    widths = [f"± {width:g} mbb/g" for width in WIDTHS_MBB]
    heads = ("sd of a deal", *widths, f"{widths[-1]}, `--score corrected`")
    columns = (Column("match"), *(Column(head, ",.0f") for head in heads))
    rows = tuple(
        (
            f"{one.game}: `{one.player}` against `{one.opponent}`",
            one.sd,
            *(rounded_up(deals_for(one.game, one.sd, width)) for width in WIDTHS_MBB),
            rounded_up(deals_for(one.game, one.corrected_sd, WIDTHS_MBB[-1])),
        )
        for one in spreads
    )
    return with_blocks(text, {"deals": markdown_table(Table("", columns, rows))})


def main() -> None:
    """Play, store, and write the page."""
    rows = [(*match, *(f"{sd:.1f}" for sd in measured(*match)[3:])) for match in MATCHES]
    with FIGURES.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), stored()), "utf-8")


if __name__ == "__main__":
    main()
