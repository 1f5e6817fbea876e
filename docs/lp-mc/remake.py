"""Play the experiments of `docs/lp-mc.md` again and write what came out into the page.

    python docs/lp-mc/remake.py FOLDER

plays the strategies before the flop and the whole bot against the three simple players of the work, both as published
and in equilibrium. What has been played is kept in FOLDER, one file for each match, and not played again; the results
go to `balances.csv` beside this script, and from there into the tables of the page. The tests hold the page against
that file. The sentences around the tables are not written by a program: read them again when the figures have changed.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from bots.lp_mc.preflop import BALANCES
from bots.lp_mc.strategy import preflop_strategy
from bots.studies import lp_mc as study
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "lp-mc.md"
CSV: Final = HERE / "balances.csv"

OPPONENTS: Final = ("RaiseBot", "RandomBot", "CallBot")
PREFLOP_HANDS: Final = 5_000_000
FULL_HANDS: Final = (4_000, 100_000)
_THIRDS: Final = (1 / 3, 1 / 3, 1 / 3)
_SIMPLE: Final = {"RaiseBot": (0.0, 0.0, 1.0), "RandomBot": _THIRDS, "CallBot": (0.0, 1.0, 0.0)}

_NAMES: Final = {"RaiseBot": "raising", "RandomBot": "random", "CallBot": "calling"}


class Row(NamedTuple):
    """What one strategy won from one player, in small bets per hand.

    Attributes:
        game: ``preflop``, where hands end before the flop, or ``full``.
        strategy: one of `bots.studies.lp_mc.STRATEGIES`.
        opponent: one of `OPPONENTS`.
        hands: how many.
        mean: over both seats.
        half_width: of the 95 % interval.
    """

    game: str
    strategy: str
    opponent: str
    hands: int
    mean: float
    half_width: float

    def text(self) -> str:
        """As the page shows it."""
        digits = 4 if self.game == "preflop" else 3
        return f"{self.mean:+.{digits}f} ± {self.half_width:.{digits}f}"


def play_full(strategy: str, opponent: str) -> list[Row]:
    """Play the whole bot; rows for the first hands and for all."""
    return [Row("full", strategy, opponent, *won) for won in study.play_full(strategy, _NAMES[opponent], FULL_HANDS)]


def play_preflop(strategy: str, opponent: str) -> list[Row]:
    """Play hands that end before the flop."""
    from balance import balance

    table = preflop_strategy(as_published=strategy == "published")
    found = balance(find_game("limit")[1], table, _SIMPLE[opponent], hands=PREFLOP_HANDS, seed=study.SEED)
    return [Row("preflop", strategy, opponent, found.hands, found.mean, found.half_width)]


def _matches() -> Iterator[tuple[str, str, str]]:
    for game in ("preflop", "full"):
        for strategy in study.STRATEGIES:
            for opponent in OPPONENTS:
                yield game, strategy, opponent


def play(folder: Path, game: str, strategy: str, opponent: str) -> list[Row]:
    """What a match gave; it is played if the folder has not got it."""
    path = folder / f"{game}-{strategy}-{opponent}.json"
    if not path.exists():
        rows = (play_preflop if game == "preflop" else play_full)(strategy, opponent)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(rows), "utf-8")
        new.replace(path)
        print(path.name, *(row.text() for row in rows), flush=True)
    return [Row(*row) for row in json.loads(path.read_text("utf-8"))]


def stored() -> list[Row]:
    """The results beside this script."""
    with CSV.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                row["game"],
                row["strategy"],
                row["opponent"],
                int(row["hands"]),
                float(row["small_bets_per_hand"]),
                float(row["half_width_95"]),
            )
            for row in csv.DictReader(file)
        ]


def tables(rows: Sequence[Row]) -> Mapping[str, str]:
    """The tables of the page by the names of their markers."""
    found = {(row.game, row.strategy, row.opponent, row.hands): row.text() for row in rows}
    head = "| against | printed | as published | in equilibrium |\n| --- | ---: | ---: | ---: |\n"
    made = {"preflop": head, **{f"full {hands}": head for hands in FULL_HANDS}}
    for opponent in OPPONENTS:
        for name, game, hands, printed in (
            ("preflop", "preflop", PREFLOP_HANDS, f"{BALANCES[_NAMES[opponent]]:+.5f}"),
            *((f"full {hands}", "full", hands, f"{study.PRINTED_FULL[_NAMES[opponent]]:+.4f}") for hands in FULL_HANDS),
        ):
            cells = [found[game, strategy, opponent, hands] for strategy in study.STRATEGIES]
            made[name] += f"| {opponent} | {printed} | {' | '.join(cells)} |\n"
    return made


def with_tables(text: str, rows: Sequence[Row]) -> str:
    """The text of the page with the tables of these results."""
    for name, table in tables(rows).items():
        head, rest = text.split(f"<!-- {name} -->\n")
        text = f"{head}<!-- {name} -->\n{table}<!-- end of {name} -->" + rest.split(f"<!-- end of {name} -->")[1]
    return text


def main(folder: Path) -> None:
    """Play what has not been played, and write everything anew."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        played = [pool.submit(play, folder, *match) for match in _matches()]
        rows = [row for one in played for row in one.result()]
    with CSV.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["game", "strategy", "opponent", "hands", "small_bets_per_hand", "half_width_95"])
        writer.writerows([*row[:4], f"{row.mean:.6f}", f"{row.half_width:.6f}"] for row in rows)
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), stored()), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
