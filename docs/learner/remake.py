"""Play the memories that come with the arena against its bots, and write what they win into `docs/learner.md`.

    python docs/learner/remake.py GAME...

plays them frozen, each deal in both seats, beside a learner that has learnt nothing, on the same deals. The results go
to `GAME.csv` beside this script, and from there into the tables of the page. The tests hold the page against these
files, and the files against the memories.
"""

from __future__ import annotations

import csv
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from bots.learner.constants import Constants
from bots.learner.files import memory_bytes
from bots.learner.memory import Memory
from bots.learner.shipped import SHIPPED, shipped_memory
from bots.learner.tables import Pack, Style, Trainee
from logs.estimation import RunningMean, score_bounds
from logs.estimation.rate import signed
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "learner.md"
DEALS: Final = 400
SEED: Final = 2008
OPPONENTS: Final = (
    *("calling", "folding", "raising", "random", "random?decisions=20/50/15/10/5", "constant?decision=3", "mfs", "rh"),
    *("rembrant", "mfs?k=4", "rh?k=64"),
)
"""Those that the memories learnt on, then three that they never met."""


class Row(NamedTuple):
    """What a frozen learner wins from one opponent, in mbb/g, and half its 95 % interval over deals."""

    opponent: str
    memory: str
    trained_mbb: float
    trained_half_width: float
    empty_mbb: float
    empty_half_width: float


def checksum(game: str) -> str:
    """Of the memory that comes for a game."""
    return hashlib.sha256(memory_bytes(shipped_memory(find_game(game)[1], Constants()))).hexdigest()


def play(name: str) -> list[Row]:
    """Play all matches of a game."""
    game = find_game(name)[1]
    rows = []
    for at, opponent in enumerate(OPPONENTS):
        pack = Pack.deal(game, SEED, at * DEALS, DEALS)
        found: list[float] = []
        for memory in (shipped_memory(game, Constants()), Memory(Constants())):
            values = Trainee(game, memory, Style(seed=SEED)).play([opponent], pack, learns=False)
            scores = values[:, :, 0].mean(axis=1) * 1000 / game.big_blind
            mean = RunningMean(scores.tolist(), score_bounds(game))
            found += [mean.mean, mean.half_width_95 or float("inf")]
        rows.append(Row(opponent, checksum(name), *found))
    return rows


def stored(name: str) -> list[Row]:
    """What the file of a game holds."""
    with (HERE / f"{name}.csv").open(encoding="ascii", newline="") as file:
        return [
            Row(row["opponent"], row["memory"], *[float(row[field]) for field in Row._fields[2:]])
            for row in csv.DictReader(file)
        ]


def table(name: str) -> str:
    """The table of a game."""
    rows = [
        f"| `{row.opponent}` | {signed(row.trained_mbb)} ± {row.trained_half_width:,.0f} | "
        f"{signed(row.empty_mbb)} ± {row.empty_half_width:,.0f} |"
        for row in stored(name)
    ]
    return "\n".join([f"| `{name}`, against | trained | with nothing learnt |", "| --- | ---: | ---: |", *rows])


def with_tables(page: str) -> str:
    """The page with the tables of all games."""
    for name in SHIPPED:
        first, _, rest = page.partition(f"| `{name}`, against |")
        page = first + table(name) + "\n\n" + rest.partition("\n\n")[2]
    return page


def main(names: Sequence[str]) -> None:
    """Play some games and write the page."""
    for name in names:
        with (HERE / f"{name}.csv").open("w", encoding="ascii", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Row._fields)
            writer.writerows([(*row[:2], *[round(value, 1) for value in row[2:]]) for row in play(name)])
    if all((HERE / f"{name}.csv").exists() for name in SHIPPED):
        PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or SHIPPED)
