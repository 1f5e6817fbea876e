"""Breed nine trainers by the rule of the thesis on the evolved agent, and compare its tables of them with ours.

    python research/studies/trainers.py FOLDER [SEED ...]

For each seed, by default 1, FOLDER/seed-SEED gets nine trainers. Each is bred until 200 generations yield no better
one, or 500 better ones have been bred, which takes hours; the same command resumes it. `trainers.csv` beside this
script has the 18 tables of the thesis: the 20 best starting hands and the hands at the end of each trainer, over the
20,000 hands of the last generation. The script prints for each finished seed

- the frequency, wins and earnings of each hand at the end, as means of nine trainers, with the verdicts of
  `bots.studies.claims`,
- how many of the 20 best starting hands two trainers share, both of the thesis, or one of the thesis and one of ours.

FOLDER/seed-SEED with nine chromosomes and checkpoints that were bred otherwise is compared unchanged.

"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np

from bots.evolution.evolution import load_checkpoint
from bots.evolved.runs import run_names
from bots.evolved.training import OPPONENTS
from bots.studies.claims import Claim, Verdict, judged
from bots.studies.evolved_hands import play_hands
from bots.studies.measure_evolved import read_player
from bots.studies.measured import Measured
from engine import Category
from engine.cards import STARTING_HANDS
from logs.document import Column, Table
from logs.document.plain import markdown_table

_PRINTED: Final = Path(__file__).with_suffix(".csv")
_FINAL_HANDS: Final = tuple(category.name.replace("_", " ").lower() for category in Category)
_BEST: Final = 20
_THOUSANDS: Final = 20
"""Thousands of hands behind a printed table."""


class Row(NamedTuple):
    """A hand of one trainer, per 1,000 hands dealt."""

    times: float
    won_per_cent: float
    dollars: float


class Trainer(NamedTuple):
    """The tables of one trainer: its best starting hands, and its hands at the end by their name."""

    best: frozenset[str]
    final: Mapping[str, Row]


def printed_trainers() -> list[Trainer]:
    """Read the tables of the thesis."""
    best: dict[str, set[str]] = {}
    final: dict[str, dict[str, Row]] = {}
    with _PRINTED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["table"] == "starting":
                best.setdefault(row["trainer"], set()).add(row["hand"])
            else:
                per_thousand = Row(
                    float(row["times"]) / _THOUSANDS, float(row["won_per_cent"]), float(row["dollars"]) / _THOUSANDS
                )
                final.setdefault(row["trainer"], {})[row["hand"]] = per_thousand
    return [Trainer(frozenset(best[number]), final[number]) for number in best]


def bred_trainer(folder: Path, name: str) -> Trainer:
    """Play the deals of a trainer's training against the trainers of its end."""
    player = read_player(folder / f"{name}.chromosome")
    opponents = load_checkpoint(folder / f"{name}.checkpoint")[0].opponents
    assert opponents is not None
    settings = player.settings
    odds = (settings.odds,) * (OPPONENTS + 1)
    hands = play_hands(settings.evaluator.deal_set, player.chromosome, opponents, odds, settings.rake)
    thousands = hands.deals / 10
    final = {}
    for category, name_of_hand in enumerate(_FINAL_HANDS):
        chosen = hands.saw_flop & (hands.category == category)
        if chosen.any():
            won = 100 * float(hands.won[chosen].mean())
            final[name_of_hand] = Row(chosen.sum() / thousands, won, float(hands.dollars[chosen].sum()) / thousands)
    seen = hands.saw_flop
    dollars = np.bincount(hands.hand[seen], hands.dollars[seen], len(STARTING_HANDS))
    best = np.argsort(-dollars, kind="stable")[:_BEST]
    return Trainer(frozenset(STARTING_HANDS[index] for index in best.tolist()), final)


def compared(ours: Sequence[Trainer]) -> Table:
    """Compare hands at the end, as means over the trainers that have them."""
    printed = printed_trainers()
    rows = []
    for hand, field in product(_FINAL_HANDS, Row._fields):
        figures = []
        for trainers in (printed, ours):
            values = [getattr(trainer.final[hand], field) for trainer in trainers if hand in trainer.final]
            if field != "won_per_cent":
                # A hand that a trainer never had is missing from its tables.
                values += [0.0] * (len(trainers) - len(values))
            figures.append(Measured.over(values) if len(values) > 1 else None)
        print_, own = figures
        if print_ is None or own is None:
            continue
        claim = Claim(
            key=f"{hand} {field}", quantity=f"{hand}: {field}", printed=f"{print_.mean:.1f}", source="", format=".1f"
        )
        judgement = judged(claim, own, print_.half_width)
        rows.append((hand, field.replace("_", " "), judgement.printed, judgement.ours, judgement.verdict))
    return Table.of("Hands at the end", ("hand", "", "printed", "ours", Column("verdict")), rows)


def shared_best(printed: Sequence[Trainer], ours: Sequence[Trainer]) -> tuple[float, float, float]:
    """Return the mean number of best hands that two trainers share: of the thesis, of both works, and ours."""
    among_printed = [len(one.best & other.best) for one, other in combinations(printed, 2)]
    across = [len(one.best & other.best) for one, other in product(printed, ours)]
    among_ours = [len(one.best & other.best) for one, other in combinations(ours, 2)]
    return fmean(among_printed), fmean(across), fmean(among_ours)


def main(folder: str = "", *seeds: str) -> None:
    if not folder:
        raise SystemExit("usage: python research/studies/trainers.py FOLDER [SEED ...]")
    for seed in seeds or ("1",):
        run = Path(folder) / f"seed-{seed}"
        names = run_names(OPPONENTS)
        if not all((run / f"{name}.chromosome").exists() for name in names):
            words = ["evolve", "trainers", str(run), "--seed", seed]
            subprocess.run([sys.executable, "-c", "from dealer.cli import main; main()", *words], check=True)
        ours = [bred_trainer(run, name) for name in names]
        table = compared(ours)
        counts = [verdict for *_, verdict in table.rows]
        print(f"Seed {seed}: " + ", ".join(f"{counts.count(verdict)} {verdict}" for verdict in Verdict) + ".\n")
        print(markdown_table(table))
        of_thesis, across, among_ours = shared_best(printed_trainers(), ours)
        print(
            f"Of {_BEST} best starting hands, two trainers of the thesis share {of_thesis:.1f}, one of the thesis and "
            f"one of ours {across:.1f}, two of ours {among_ours:.1f}."
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
