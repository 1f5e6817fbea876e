"""Simulate how often both intervals of `docs/results.md` hold the true mean, and write the table into the page.

    python docs/results/intervals.py

plays matches between built-in bots in this process, in every rotation. The deals of a match are a population, whose
mean is the true one; samples of few of them are drawn with replacement, each the result of a run. Counted is how often
the guaranteed interval and the normal one (1.96 standard errors) hold the true mean, of what was won and without the
luck of the cards. The figures go to `intervals.csv` beside this script, and from there into the page.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from logs.estimation import Z_95, RunningMean, score_bounds
from logs.record import HandRecord
from logs.variance.correction import ChanceCorrection, fitted_scores
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "results.md"
FIGURES: Final = HERE / "intervals.csv"
BEGIN, END = "<!-- intervals -->", "<!-- end of intervals -->"

SEED: Final = 5
RUNS: Final = 4_000
DEALS: Final = (30, 150, 1_000)
MATCHES: Final = (
    ("limit", 20_000, ("mfs?seed=1", "calling")),
    ("nolimit", 20_000, ("random?decisions=20/50/15/10/5,seed=1", "calling")),
    ("limit3", 6_000, ("random?seed=1", "calling", "rh?k=30")),
    ("limit10", 2_000, ("random?seed=1", *("calling",) * 4, *("raising",) * 3, *("folding",) * 2)),
)
"""Game, deals of the population, players; the intervals are the first player's."""

Floats = NDArray[np.float64]


class Row(NamedTuple):
    """Results of the samples of one size.

    Attributes:
        game: its name.
        players: how many.
        score: ``raw`` or ``corrected``.
        deals: of a sample.
        error: the mean standard error, in mbb/g.
        normal: how often 1.96 standard errors hold the true mean.
        guaranteed: how often the guaranteed interval does; empty where there is none.
        wider: how many times as wide the guaranteed one is, in the median.
    """

    game: str
    players: str
    score: str
    deals: str
    error: str
    normal: str
    guaranteed: str
    wider: str


def population(game: str, deals: int, players: Sequence[str]) -> tuple[Floats, Floats]:
    """The scores of deals by player in mbb/g, shape (deals, players): as won, and corrected."""
    rules = find_game(game)[1]
    names = [str(at) for at in range(len(players))]
    records = self_play(game, [make_bot(text) for text in players], deals=deals, seed=SEED, names=names)
    correction = ChanceCorrection(rules)
    won, corrected = np.zeros((deals, len(players))), np.zeros((deals, len(players)))
    some: list[HandRecord] = []

    def count() -> None:
        for record, values in zip(some, correction.values(some), strict=True):
            for position, (raw, value) in enumerate(zip(record.values, values, strict=True)):
                player = int(record.name_at(position))
                won[record.hand_number, player] += raw
                corrected[record.hand_number, player] += value
        some.clear()

    for record in records:
        some.append(record)
        if len(some) == 4096:
            count()
    count()
    scale = 1000 / rules.big_blind / len(players)
    return won * scale, corrected * scale


def simulated(game: str, deals: int, players: Sequence[str]) -> list[Row]:
    """The rows of a match."""
    bounds = score_bounds(find_game(game)[1])
    won, corrected = population(game, deals, players)
    truth = float(won[:, 0].mean())
    # A correction has mean 0; what is left of it in the population is not the samples' to find.
    corrected = corrected - (corrected - won).mean(axis=0)
    rng = np.random.default_rng(SEED)
    rows = []
    for size in DEALS:
        found: dict[str, list[tuple[float, float, float | None]]] = {"raw": [], "corrected": []}
        for _ in range(RUNS):
            drawn = rng.integers(0, deals, size)
            fitted = fitted_scores(won[drawn], corrected[drawn])
            for kind, scores in (("raw", won[drawn]), ("corrected", fitted)):
                if scores is not None:
                    mean = RunningMean(scores[:, 0].tolist(), bounds)
                    found[kind].append((mean.mean, mean.standard_error or 0.0, mean.guaranteed_half_width()))
        for kind, samples in found.items():
            if samples:
                rows.append(_row(game, len(players), kind, size, truth, samples))
    return rows


def _row(
    game: str, players: int, kind: str, size: int, truth: float, samples: Sequence[tuple[float, float, float | None]]
) -> Row:
    normal = np.mean([abs(mean - truth) <= Z_95 * error for mean, error, _ in samples])
    error = f"{np.mean([error for _, error, _ in samples]):.0f}"
    held = [(abs(mean - truth) <= half, half / error) for mean, error, half in samples if half is not None and error]
    if not held:
        return Row(game, str(players), kind, str(size), error, f"{normal:.3f}", "", "")
    wider = np.median([ratio for _, ratio in held]) / Z_95
    return Row(
        game,
        str(players),
        kind,
        str(size),
        error,
        f"{normal:.3f}",
        f"{np.mean([holds for holds, _ in held]):.3f}",
        f"{wider:.1f}",
    )


def stored() -> list[Row]:
    """Rows of the file beside this script."""
    with FIGURES.open(newline="") as file:
        return [Row(*row) for row in csv.reader(file)]


def with_table(text: str, rows: Sequence[Row]) -> str:
    """The page with these figures."""
    lines = [
        "| game | players | score | deals | standard error, mbb/g | normal holds | guaranteed holds | times as wide |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.game} | {row.players} | {row.score} | {int(row.deals):,} | {int(row.error):,} | {row.normal} | "
        f"{row.guaranteed or 'none'} | {row.wider} |"
        for row in rows
    ]
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Simulate, store, and write the page."""
    rows = [row for match in MATCHES for row in simulated(*match)]
    with FIGURES.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), rows), "utf-8")


if __name__ == "__main__":
    main()
