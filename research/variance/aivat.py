"""Measure AIVAT with the values of `cfr`, and write the table of `research/tables/benchmarks.md`.

    python research/variance/aivat.py                   # all matches that aivat.csv lacks
    python research/variance/aivat.py nolimit calling   # this match again
    python research/variance/aivat.py --table           # only the table of the page

`cfr` plays 1,000 deals in two seatings against each opponent in this process. Its policy is known, and in the match
against itself that of both players. The standard error of the chips is that of as many hands with new cards; that of
an estimate is over deals. A match takes some minutes; its row is kept in `aivat.csv` next to this script.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from bots.cfr.value_terms import ValuedHands, value_terms
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "tables" / "benchmarks.md"
FIGURES: Final = HERE / "aivat.csv"
MARKS: Final = ("<!-- aivat -->", "<!-- end of aivat -->")
DEALS: Final = 1_000
SEED: Final = 2018
MATCHES: Final = (
    ("nolimit", "cfr?seed=2"),
    ("nolimit", "mfs?seed=2"),
    ("nolimit", "rembrant?seed=2"),
    ("nolimit", "calling"),
    ("nolimit", "random?decisions=5/30/25/25/15,seed=2"),
    ("limit", "cfr?seed=2"),
    ("limit", "mfs?seed=2"),
    ("limit", "rembrant?seed=2"),
    ("limit", "lp-mc?seed=2"),
)
"""Games and opponents; the fifth one raises in two of three decisions."""
COLUMNS: Final = (
    "game",
    "opponent",
    "hands",
    "raw",
    "raw_error",
    "one",
    "one_error",
    "both",
    "both_error",
    "ms_per_hand",
)


def measure(game_name: str, opponent: str) -> dict[str, object]:
    """Play a match and estimate the winnings of cfr, in mbb/g with standard errors."""
    game = find_game(game_name)[1]
    cfr = make_bot("cfr?seed=1")
    other = make_bot(opponent)
    known = {"cfr": cfr}
    if opponent.startswith("cfr"):
        known["other"] = other
    for bot in (cfr, other):
        bot.prepare(game)
    terms = value_terms(game, known)
    assert terms is not None
    valued = ValuedHands(terms)
    # By hand: the chips won, and the estimate of each group of known players less these chips.
    rows = []
    seconds = 0.0
    for record in self_play(game, [cfr, other], deals=DEALS, seed=SEED, names=["cfr", "other"]):
        position = record.names.index("cfr")
        before = time.process_time()
        # Estimated at once, while the solved rivers of the hand are in the bot's cache.
        columns = valued.columns(record)
        seconds += time.process_time() - before
        rows.append((record.values[position], *columns[position]))
    values = np.array(rows) * 1000 / game.big_blind
    figures: dict[str, object] = {"game": game_name, "opponent": opponent, "hands": len(rows)}
    scores = {"raw": values[:, 0]}
    for name, group in (("one", ("cfr",)), ("both", ("cfr", "other"))):
        if group in valued.names:
            estimates = values[:, 0] + values[:, 1 + valued.names.index(group)]
            # The hands of a deal follow each other, one for each seating.
            scores[name] = estimates.reshape(DEALS, -1).mean(axis=1)
    for name, units in scores.items():
        figures[name] = round(float(units.mean()), 1)
        figures[f"{name}_error"] = round(float(units.std(ddof=1)) / len(units) ** 0.5, 1)
    figures["ms_per_hand"] = round(1000 * seconds / len(rows), 1)
    return figures


def read_figures() -> list[dict[str, str]]:
    if not FIGURES.exists():
        return []
    with FIGURES.open(newline="") as file:
        return list(csv.DictReader(file))


def write_figures(rows: Sequence[dict[str, object]]) -> None:
    with FIGURES.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table(rows: Sequence[dict[str, str]]) -> list[str]:
    """Format the figures as a table of the page."""
    lines = [
        "| game | opponent | hands | raw, mbb/g | AIVAT, mbb/g | times | both known | times | CPU, ms a hand |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        cells = [row["game"], f"`{row['opponent']}`", f"{int(row['hands']):,}", _rate(row, "raw")]
        for name in ("one", "both"):
            if row[name]:
                factor = (float(row["raw_error"]) / float(row[f"{name}_error"])) ** 2
                cells += [_rate(row, name), f"{factor:.1f}"]
            else:
                cells += ["", ""]
        lines.append(f"| {' | '.join(cells)} | {float(row['ms_per_hand']):.0f} |")
    return lines


def _rate(row: dict[str, str], name: str) -> str:
    return f"{float(row[name]):+,.0f} ({float(row[f'{name}_error']):,.0f})"


def write_table() -> None:
    text = PAGE.read_text("utf-8")
    first, last = MARKS
    before, _, rest = text.partition(first)
    _, _, after = rest.partition(last)
    lines = "\n".join(table(read_figures()))
    PAGE.write_text(f"{before}{first}\n\n{lines}\n\n{last}{after}", "utf-8")


def main(words: Sequence[str]) -> None:
    if words != ["--table"]:
        done = {(row["game"], row["opponent"]): dict[str, object](row) for row in read_figures()}
        for match in MATCHES:
            if (words and tuple(words) == match) or (not words and match not in done):
                done[match] = dict(measure(*match))
                write_figures([done[known] for known in MATCHES if known in done])
                print(*done[match].values(), flush=True)
    write_table()


if __name__ == "__main__":
    main(sys.argv[1:])
