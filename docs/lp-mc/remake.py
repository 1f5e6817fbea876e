"""Repeat the experiments of `docs/lp-mc-tables.md` and write their results into the page.

    python docs/lp-mc/remake.py FOLDER

plays the strategies before the flop and the whole bot against the three simple players of the thesis, both as published
and in equilibrium, and the whole bot with each of its assumptions changed. FOLDER keeps one file for each match, which
is not played again; the results go to `balances.csv` and `ablation.csv` next to this script, and from there into the
tables of the page. The tests compare the page with these files. Review the sentences of both pages when the figures
have changed.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from bots.lp_mc.preflop import BALANCES
from bots.lp_mc.simulation import SimulationOptions
from bots.lp_mc.strategy import preflop_strategy
from bots.studies import lp_mc as study
from bots.studies.report import with_blocks
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "lp-mc-tables.md"
CSV: Final = HERE / "balances.csv"
ABLATION_CSV: Final = HERE / "ablation.csv"

OPPONENTS: Final = ("RaiseBot", "RandomBot", "CallBot")
PREFLOP_HANDS: Final = 5_000_000
FULL_HANDS: Final = (4_000, 100_000)
ABLATION: Final[Mapping[str, Mapping[str, Any]]] = {
    "": {},
    "sunk=whole": {"sunk": "whole"},
    "weakest=round": {"weakest": "round"},
    "weakest=none": {"weakest": "none"},
    "prior=0.1": {"prior": 0.1},
    "prior=10": {"prior": 10.0},
    "batches=100": {"batches": 100},
    "sunk=whole,weakest=round": {"sunk": "whole", "weakest": "round"},
    "sunk=whole,weakest=none": {"sunk": "whole", "weakest": "none"},
    "sunk=whole,batches=100": {"sunk": "whole", "batches": 100},
}
"""The options of `lp-mc?preflop=published` that replace one assumption, or two."""
ABLATION_HANDS: Final = 20_000
_THIRDS: Final = (1 / 3, 1 / 3, 1 / 3)
_SIMPLE: Final = {"RaiseBot": (0.0, 0.0, 1.0), "RandomBot": _THIRDS, "CallBot": (0.0, 1.0, 0.0)}

_NAMES: Final = {"RaiseBot": "raising", "RandomBot": "random", "CallBot": "calling"}


class Row(NamedTuple):
    """Winnings of one strategy from one player, in small bets per hand.

    Attributes:
        game: ``preflop``, where hands end before the flop, or ``full``.
        strategy: one of `bots.studies.lp_mc.STRATEGIES`, or the options of an ablation.
        opponent: one of `OPPONENTS`.
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
        digits = 4 if self.game == "preflop" else 3
        return f"{self.mean:+.{digits}f} ± {self.half_width:.{digits}f}"


def play_full(strategy: str, opponent: str) -> list[Row]:
    """Play the whole bot; rows for the first hands and for all."""
    return [Row("full", strategy, opponent, *won) for won in study.play_full(strategy, _NAMES[opponent], FULL_HANDS)]


def play_ablation(options: str, opponent: str, hands: int = ABLATION_HANDS) -> list[Row]:
    """Play the whole bot as published with some options."""
    settings = SimulationOptions(**ABLATION[options])
    (won,) = study.play_full("published", _NAMES[opponent], [hands], settings)
    return [Row("ablation", options, opponent, *won)]


def play_preflop(strategy: str, opponent: str) -> list[Row]:
    """Play hands that end before the flop."""
    from balance import balance

    table = preflop_strategy(as_published=strategy == "published")
    found = balance(find_game("limit")[1], table, _SIMPLE[opponent], hands=PREFLOP_HANDS, seed=study.SEED)
    return [Row("preflop", strategy, opponent, found.hands, found.mean, found.half_width)]


_PLAYS: Final = {"preflop": play_preflop, "full": play_full, "ablation": play_ablation}


def _matches() -> Iterator[tuple[str, str, str]]:
    for game in _PLAYS:
        for strategy in ABLATION if game == "ablation" else study.STRATEGIES:
            for opponent in OPPONENTS:
                yield game, strategy, opponent


def play(folder: Path, game: str, strategy: str, opponent: str) -> list[Row]:
    """The results of a match, which is played unless the folder has them."""
    path = folder / f"{game}-{strategy or 'default'}-{opponent}.json"
    if not path.exists():
        rows = _PLAYS[game](strategy, opponent)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(rows), "utf-8")
        new.replace(path)
        print(path.name, *(row.text() for row in rows), flush=True)
    return [Row(*row) for row in json.loads(path.read_text("utf-8"))]


def stored() -> list[Row]:
    """The results in the files next to this script."""
    rows = []
    for path in (CSV, ABLATION_CSV):
        with path.open(encoding="utf-8", newline="") as file:
            rows += [Row(*one[:3], int(one[3]), float(one[4]), float(one[5])) for one in list(csv.reader(file))[1:]]
    return rows


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
    made["ablation"] = f"| options | {' | '.join(OPPONENTS)} |\n| --- | ---: | ---: | ---: |\n"
    made["ablation"] += f"| printed | {' | '.join(f'{study.PRINTED_FULL[_NAMES[one]]:+.4f}' for one in OPPONENTS)} |\n"
    for options in ABLATION:
        cells = [found["ablation", options, opponent, ABLATION_HANDS] for opponent in OPPONENTS]
        made["ablation"] += f"| {f'`{options}`' if options else 'default'} | {' | '.join(cells)} |\n"
    return made


def with_tables(text: str, rows: Sequence[Row]) -> str:
    """The text of the page with the tables of these results."""
    return with_blocks(text, tables(rows))


def main(folder: Path) -> None:
    """Play what is missing and write the files and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        played = [pool.submit(play, folder, *match) for match in _matches()]
        rows = [row for one in played for row in one.result()]
    for path, is_ablation in ((CSV, False), (ABLATION_CSV, True)):
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["game", "strategy", "opponent", "hands", "small_bets_per_hand", "half_width_95"])
            for row in rows:
                if (row.game == "ablation") is is_ablation:
                    writer.writerow([*row[:4], f"{row.mean:.6f}", f"{row.half_width:.6f}"])
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), stored()), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
