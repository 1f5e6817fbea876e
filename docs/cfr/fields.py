"""Measure `cfr` at tables of three, for `docs/cfr-tables.md`.

    python docs/cfr/fields.py FOLDER [WORKERS] [DEALS]

plays limit hold'em of three against two players of every built-in bot that plays it, every deal in three rotations and
without the luck of the cards. FOLDER keeps what has been played; the results go to `fields.csv` next to this script.
The tests compare the page with it.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Final

from rows import PAGE, Row, between, write_rows

from bots.cfr.bot import SHIPPED
from bots.cfr.strategy_files import read_strategy
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from logs.estimation import RunningMean
from logs.variance.correction import ChanceCorrection
from protocol import find_game

FIELDS: Final = Path(__file__).resolve().parent / "fields.csv"
GAME: Final = "limit3"
OPPONENTS: Final = {
    name: name for name in ("mfs", "rembrant", "evolved", "raising", "calling", "rh", "random", "folding")
} | {"learner": "learner?learn=false"}
DEALS: Final = 20_000
SEED: Final = 2011
_ROTATIONS: Final = 3
_AT_ONCE: Final = 100


def played(folder: Path, opponent: str, deals: int = DEALS) -> Row:
    """The winnings at one table; from the folder, if they have been played."""
    checksum = zlib.crc32(read_strategy(SHIPPED[GAME]).probabilities.tobytes())
    path = folder / f"{opponent}-{deals}-{checksum:08x}.json"
    if path.exists():
        return Row(*json.loads(path.read_text("utf-8")))
    game = find_game(GAME)[1]
    bots = [make_bot("cfr", seed=1), *[make_bot(OPPONENTS[opponent], seed=seed) for seed in (2, 3)]]
    correction, means = ChanceCorrection(game), RunningMean()
    hands = self_play(GAME, bots, deals=deals, seed=SEED, names=["cfr", "one", "other"])
    while some := list(islice(hands, _ROTATIONS * _AT_ONCE)):
        corrected = correction.values(some)
        won = [values[hand.names.index("cfr")] for hand, values in zip(some, corrected, strict=True)]
        for first in range(0, len(won), _ROTATIONS):
            means.add(1000 / game.big_blind * sum(won[first : first + _ROTATIONS]) / _ROTATIONS)
    row = Row.of(opponent, means)
    path.write_text(json.dumps(row), "utf-8")
    return row


def with_fields(text: str, rows: Iterable[Row]) -> str:
    """The page with the table of these rows, what wins least first."""
    lines = ["| against two of | deals, in three rotations | mbb/g |", "| --- | ---: | ---: |"]
    lines += [
        f"| `{row.opponent}` | {row.deals:,} | {row.mean:+,.0f} ± {row.half_width:,.0f} |"
        for row in sorted(rows, key=lambda row: row.mean)
    ]
    return between(text, "fields", lines)


def main(folder: Path, workers: int = 1, deals: int = DEALS) -> None:
    """Play what is missing and write the file and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers) as pool:
        rows = list(pool.map(played, [folder] * len(OPPONENTS), OPPONENTS, [deals] * len(OPPONENTS)))
    write_rows(FIELDS, Row, rows)
    PAGE.write_text(with_fields(PAGE.read_text("utf-8"), rows), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
