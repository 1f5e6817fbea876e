"""The runs from their first generation to the last: winnings, strength on unseen deals, the cost of each trainer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from bots.evolution.genome import Chromosomes
from bots.evolved.chromosome import GENES, THRESHOLD, Odds
from bots.evolved.runs import Check, FinishedRun, FinishedRuns
from bots.evolved.training import GENOME, OPPONENTS, DealSet
from bots.evolved.watching import Estimate, Watched, watch
from bots.findings import Line, LineChart, TableView
from bots.studies.evolved.play import interval_text, per_thousand
from logs.estimation.rate import signed

__all__ = [
    "against_chart",
    "along_the_run",
    "checks_charts",
    "cost_chart",
    "earlier_trainers",
    "progress_table",
    "random_opponents",
    "side_by_side",
    "standings",
]

_MOST_CHAMPIONS: Final = 12
"""Of each run, spread over it, that are measured on unseen deals."""


def along_the_run(run: FinishedRun) -> LineChart:
    """Gains in each generation: of the best individual, of the best opponent beside it, of all on average."""
    history = run.state.history
    xs = tuple(float(generation.number) for generation in history)
    scale = 1000 / (100 * run.settings.deals)
    return LineChart(
        title=run.name,
        x_label="generation",
        y_label="dollars per 1,000 hands",
        lines=(
            Line(name="best individual", xs=xs, ys=tuple(scale * one.best for one in history)),
            Line(name="best trainer", xs=xs, ys=tuple(scale * (one.best_opponent or 0.0) for one in history)),
            Line(name="mean", xs=xs, ys=tuple(scale * one.mean for one in history)),
        ),
    )


def cost_chart(runs: Sequence[FinishedRun]) -> LineChart:
    """How many generations it took until each new trainer was found."""
    lines = []
    for run in runs:
        found = run.state.champion_generations
        costs = [after - before for before, after in pairwise((0, *found))]
        lines.append(Line(name=run.name, xs=tuple(map(float, range(1, len(costs) + 1))), ys=tuple(map(float, costs))))
    return LineChart(
        title="Generations each trainer cost",
        x_label="trainers found in the run",
        y_label="generations",
        lines=tuple(lines),
        note="The work saw cycles: a much better individual soon fills the table with its like, which then rest.",
    )


def checks_charts(runs: Sequence[FinishedRun]) -> list[LineChart]:
    """What the checks along the runs have found, against each of the two tables; none where no run was checked."""
    tables: tuple[tuple[str, Callable[[Check], float | None]], ...] = (
        ("random trainers", lambda check: check.random),
        ("the champions before", lambda check: check.earlier),
    )
    charts = []
    for table, won in tables:
        lines = []
        for run in runs:
            if run.checks is None:
                continue
            points = [(check.generation, won(check)) for check in run.checks.checks]
            known = [
                (float(number), 1000 * value / (100 * run.checks.deals))
                for number, value in points
                if value is not None
            ]
            if known:
                xs, ys = zip(*known, strict=True)
                lines.append(Line(name=run.name, xs=xs, ys=ys, has_dots=True))
        if lines:
            charts.append(
                LineChart(
                    title=f"Checked along the way against {table}",
                    x_label="generation",
                    y_label="dollars per 1,000 hands",
                    lines=tuple(lines),
                    note="The best individual of a generation, on deals of the checks; these opponents decide nothing.",
                )
            )
    return charts


def random_opponents(seed: int) -> Chromosomes:
    """Nine chromosomes whose thresholds are drawn."""
    return GENOME.random(OPPONENTS, np.random.default_rng([seed, 99]))


def earlier_trainers(runs: FinishedRuns) -> Chromosomes:
    """The trainer that each of nine runs had found by its middle."""
    return np.array([run.bests[len(run.bests) // 2] for run in runs.trainers])


def against_chart(
    title: str, runs: Sequence[FinishedRun], opponents: Chromosomes, odds: Odds, rake: bool, deals: DealSet
) -> LineChart:
    """What some of the best individuals of each run, from the first to the last, win from nine others."""
    lines = []
    for run in runs:
        champions = run.bests
        chosen = np.unique(np.linspace(0, len(champions) - 1, min(_MOST_CHAMPIONS, len(champions))).astype(int))
        won = [per_thousand(watch(deals, champions[at], opponents, (odds,) * 10, rake)) for at in chosen.tolist()]
        has_band = len(runs) == 1 and won[0].half_width_95 is not None
        lines.append(
            Line(
                name=run.name,
                xs=tuple(float(at + 1) for at in chosen.tolist()),
                ys=tuple(one.value for one in won),
                low=tuple(one.low or 0.0 for one in won) if has_band else (),
                high=tuple(one.high or 0.0 for one in won) if has_band else (),
                has_dots=True,
            )
        )
    return LineChart(
        title=title,
        x_label="trainers found in the run" if len(runs) > 1 else "best individuals so far, in order",
        y_label="dollars per 1,000 hands",
        lines=tuple(lines),
        note="On deals that nothing was trained on, all lines on the same ones.",
    )


def progress_table(runs: FinishedRuns, others: Sequence[tuple[str, Chromosomes]], deals: DealSet) -> TableView:
    """The first and the last best individual of each run against some tables, on unseen deals."""
    rows = []
    for run in (*runs.trainers, runs.player):
        row = [run.name, f"{run.state.history[-1].number:,}", f"{len(run.state.champions):,}"]
        for _, opponents in others:
            for chromosome in (run.bests[0], run.chromosome):
                played = watch(deals, chromosome, opponents, (run.settings.odds,) * 10, run.settings.rake)
                won = per_thousand(played)
                row.append(f"{signed(won.value)} {interval_text(won, 0)}")
        rows.append(tuple(row))
    heads = [f"{when} against {name}" for name, _ in others for when in ("first", "last")]
    return TableView(
        "The first and the last of each run",
        tuple((head, "") for head in ("run", "generations", "bests", *heads)),
        tuple(rows),
        "Dollars per 1,000 hands on deals that nothing was trained on, with 95 % intervals of all deals.",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Opposition:
    """Nine players after the flop; before it everybody plays the charts.

    Attributes:
        name: what they are.
        chromosomes: of the nine.
        odds: by which they decide.
    """

    name: str
    chromosomes: Chromosomes
    odds: Odds


def oppositions(all_runs: Sequence[FinishedRuns], seed: int) -> list[Opposition]:
    """The trainers of each folder, those of several folders once, and players that are nobody's trainers."""

    def alike(raise_above: int, call_above: int) -> Chromosomes:
        return np.tile(np.array([raise_above, call_above], np.int16), (9, GENES, 1))

    reward: Final = Odds.REWARD
    trainers: list[Opposition] = []
    for runs in all_runs:
        nine = Opposition(f"trainers of {runs.folder.name}", runs.opponents, runs.player.settings.odds)
        if not any(np.array_equal(nine.chromosomes, other.chromosomes) for other in trainers):
            trainers.append(nine)
    return [
        *trainers,
        Opposition("random chromosomes", random_opponents(seed), reward),
        Opposition("callers", alike(THRESHOLD, -THRESHOLD), reward),
        Opposition("raisers", alike(-THRESHOLD, -THRESHOLD), reward),
    ]


def winnings_at(player: Chromosomes, odds: Odds, opposition: Opposition, rake: bool, deals: DealSet) -> Watched:
    """A player watched at a table."""
    return watch(deals, player, opposition.chromosomes, (odds, *[opposition.odds] * 9), rake)


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """The player of a folder at all tables.

    Attributes:
        runs: the folder's.
        at_tables: dollars per 1,000 hands at each.
    """

    runs: FinishedRuns
    at_tables: tuple[Estimate, ...]

    @property
    def mean(self) -> float:
        """Over the tables: what decides which of several players is shipped."""
        return sum(one.value for one in self.at_tables) / len(self.at_tables)


def standings(all_runs: Sequence[FinishedRuns], deals: DealSet, seed: int) -> list[Standing]:
    """What the player of each folder wins at every table, in the order given."""
    tables = oppositions(all_runs, seed)
    return [
        Standing(
            runs,
            tuple(
                per_thousand(
                    winnings_at(runs.player.chromosome, runs.player.settings.odds, table, rake=True, deals=deals)
                )
                for table in tables
            ),
        )
        for runs in all_runs
    ]


def side_by_side(all_runs: Sequence[FinishedRuns], deals: DealSet, seed: int) -> TableView:
    """What the player of each folder wins at every table."""
    return TableView(
        "Runs side by side",
        (
            *(("run", ""), ("settings", "")),
            *((f"against {table.name}", "") for table in oppositions(all_runs, seed)),
            ("mean", "over the tables"),
        ),
        tuple(
            (
                one.runs.folder.name,
                about_settings(one.runs),
                *(f"{signed(won.value)} {interval_text(won, 0)}" for won in one.at_tables),
                signed(one.mean),
            )
            for one in standings(all_runs, deals, seed)
        ),
        "Dollars per 1,000 hands against nine others, with rake, on the same deals for all, which nothing was trained "
        "on; 95 % intervals of all deals. Callers and raisers play the charts before the flop and always call or raise "
        "after it.",
    )


def about_settings(runs: FinishedRuns) -> str:
    """What tells a folder's runs from those of others, in words."""
    player, trainer = runs.player.settings, runs.trainers[0].settings
    generations = [run.state.history[-1].number for run in runs.trainers]
    span = f"{min(generations):,}" + (f" to {max(generations):,}" if len(set(generations)) > 1 else "")
    return (
        f"{player.odds.value}, {'rake' if player.rake else 'no rake'}; trainers {trainer.deals:,} deals x "
        f"{trainer.population} x {span} generations; player {player.deals:,} x {player.population} x "
        f"{runs.player.state.history[-1].number:,}"
    )
