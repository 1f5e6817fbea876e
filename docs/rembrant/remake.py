"""Repeat the measurements of `docs/rembrant-tables.md` and write them into the page.

    python docs/rembrant/remake.py FOLDER

plays each option of `rembrant` that fills a gap of the paper against the default and against `mfs`, in no-limit hold'em
for two. FOLDER keeps one file for each option; the results go to `options.csv` next to this script, and from there into
the page, together with the claims that `arena study rembrant` judges. The tests compare the page with both.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.studies.rembrant import rembrant_report
from bots.studies.report import markdown_table, with_blocks
from logs.estimation import RunningMean
from logs.estimation.mean import signed
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "rembrant-tables.md"
CSV: Final = HERE / "options.csv"
DEALS: Final = 3_000
"""Both seatings of each give the 6,000 hands of a match of 2011."""
SEED: Final = 2011
OPTIONS: Final = (
    "",
    "reading=probabilistic",
    "river_danger=true",
    "four_straight=slash",
    "complete=7",
    "complete=9",
    "open_bb=3",
    "open_bb=5",
    "reraise_times=3",
    "reraise_times=4",
    "bet_pot=0.5",
    "bet_pot=1",
    "bet_pot_danger=0.667",
    "raise_times=2.5",
)
OPPONENTS: Final = ("rembrant", "mfs")


class Row(NamedTuple):
    """Winnings in mbb/g, the mean of both seatings, and half the normal 95 % interval over deals."""

    options: str
    opponent: str
    deals: int
    mean: float
    half_width: float


def play(options: str, opponent: str, deals: int = DEALS) -> Row:
    game = find_game("nolimit")[1]
    bots = [make_bot("?".join(filter(None, ("rembrant", options))), seed=SEED), make_bot(opponent, seed=SEED + 1)]
    won, of_deal = RunningMean(), 0.0
    for number, hand in enumerate(self_play(game, bots, deals=deals, seed=SEED, names=("us", "them")), 1):
        of_deal += hand.values[hand.names.index("us")]
        if number % 2 == 0:
            won.add(500 * of_deal / game.big_blind)
            of_deal = 0.0
    return Row(options, opponent, won.count, round(won.mean, 1), round(won.half_width_95 or 0.0, 1))


def stored() -> list[Row]:
    """The results in the file next to this script."""
    with CSV.open(encoding="utf-8", newline="") as file:
        return [
            Row(row["options"], row["opponent"], int(row["deals"]), float(row["mean"]), float(row["half_width"]))
            for row in csv.DictReader(file)
        ]


def with_tables(page: str, rows: Sequence[Row]) -> str:
    """The text of the page with the claims and these results."""
    (section,) = rembrant_report().sections
    (claims,) = section.tables
    cells = {(row.options, row.opponent): f"{signed(row.mean)} ± {row.half_width:,.0f}" for row in rows}
    options = [
        (f"`{one}`" if one else "default", *(cells.get((one, opponent), "") for opponent in OPPONENTS))
        for one in OPTIONS
    ]
    heads = ("options, mbb/g", *(f"against `{opponent}`" for opponent in OPPONENTS))
    return with_blocks(
        page,
        {
            "claims": markdown_table([head for head, _ in claims.columns], claims.rows),
            "options": markdown_table(heads, options, align="---:"),
        },
    )


def main(folder: Path) -> None:
    """Play what is missing and write the file and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for options in OPTIONS:
        for opponent in OPPONENTS:
            if not options and opponent == "rembrant":
                continue
            path = folder / f"{options or 'default'}-{opponent}.json"
            if not path.exists():
                path.write_text(json.dumps(play(options, opponent)), "utf-8")
            rows.append(Row(*json.loads(path.read_text("utf-8"))))
            print(*rows[-1], flush=True)
    with CSV.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([Row._fields, *rows])
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), stored()), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
