"""Forecast the deals of sequential tests by kind of score, and write the table of `research/tables/intervals.md`.

    python research/variance/stops.py            # play the matches, some minutes
    python research/variance/stops.py --table    # only the table of the page

`cfr` plays 300 deals in two seatings against `mfs` in this process. The standard deviation of a deal's score gives the
number of deals that `better:` is likely to need, with the bounds that each kind of score has. The correction of AIVAT
has the limit of `ContestPlan.max_correction`, the largest loss of a hand.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from bots.cfr.value_terms import ValuedHands, value_terms
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from logs.estimation import Better, Monitor, largest_loss, score_bounds
from logs.variance.correction import ChanceCorrection, corrected_bounds
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "tables" / "intervals.md"
FIGURES: Final = HERE / "stops.csv"
MARKS: Final = ("<!-- stops -->", "<!-- end of stops -->")
DEALS: Final = 300
SEED: Final = 2020
MATCHES: Final = {"nolimit": (30, 300, 1000), "limit": (10, 30, 100)}
"""HIGH of the rules `better:0,HIGH`, by game."""
COLUMNS: Final = ("game", "score", "deviation", "limited_hands", "high", "deals")


def measure(game_name: str) -> list[dict[str, object]]:
    """Play a match, and return a row for each kind of score and rule."""
    game = find_game(game_name)[1]
    players = [make_bot("cfr?seed=1"), make_bot("mfs?seed=2")]
    for bot in players:
        bot.prepare(game)
    loss = float(largest_loss(game))
    to_mbb = 1000 / game.big_blind
    lowest, highest = score_bounds(game)
    valued = []
    for limit in (loss, np.inf):
        terms = value_terms(game, {"cfr": players[0]}, max_correction=limit)
        assert terms is not None
        valued.append(ValuedHands(terms))
    correction = ChanceCorrection(game)
    hands = []
    for record in self_play(game, players, deals=DEALS, seed=SEED, names=["cfr", "mfs"]):
        position = record.names.index("cfr")
        won = record.values[position]
        estimates = [won + estimator.columns(record)[position, 0] for estimator in valued]
        hands.append((won, correction.values([record])[0][position], *estimates))
    # The hands of a deal follow each other, one for each seating.
    values = np.array(hands) * to_mbb
    deviations = values.reshape(DEALS, 2, -1).mean(axis=1).std(axis=0, ddof=1)
    limited = int(np.sum(np.abs(values[:, 2] - values[:, 3]) > 1e-6))
    scores = {
        "raw": ((lowest, highest), 0),
        "corrected": (corrected_bounds(game), 0),
        "AIVAT": ((lowest - loss * to_mbb, highest + loss * to_mbb), limited),
    }
    rows: list[dict[str, object]] = []
    for (name, (bounds, limited_hands)), deviation in zip(scores.items(), deviations[:3].tolist(), strict=True):
        for high in MATCHES[game_name]:
            deals = Monitor(Better(0, high), bounds).likely_units(deviation)
            figures = (game_name, name, round(deviation, 1), limited_hands, high, deals)
            rows.append(dict(zip(COLUMNS, figures, strict=True)))
    return rows


def write_table() -> None:
    with FIGURES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [
        "| game | scores | sd of a deal, mbb | rule | deals |",
        "| --- | --- | ---: | --- | ---: |",
    ]
    for row in rows:
        deviation = float(row["deviation"])
        rule = f"`better:0,{row['high']}`"
        lines.append(f"| {row['game']} | {row['score']} | {deviation:,.0f} | {rule} | {int(row['deals']):,} |")
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    PAGE.write_text("\n".join([f"{before}{MARKS[0]}\n", *lines, f"\n{MARKS[1]}{after}"]), "utf-8")


def main(words: Sequence[str]) -> None:
    if words != ["--table"]:
        rows = [row for game in MATCHES for row in measure(game)]
        with FIGURES.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    write_table()


if __name__ == "__main__":
    main(sys.argv[1:])
