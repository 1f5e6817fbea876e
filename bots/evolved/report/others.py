"""Players of several runs at the same tables, on deals that none of them was trained on: which settings help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bots.evolution.genome import Chromosomes
from bots.evolved.chromosome import GENES, THRESHOLD, Odds
from bots.evolved.deals import DealSet
from bots.evolved.finished import FinishedRuns
from bots.evolved.report.play import interval_text, per_thousand
from bots.evolved.report.progress import random_opponents
from bots.evolved.watching import Estimate, Watched, watch
from bots.findings import TableView
from logs.estimation.rate import signed

__all__ = ["Opposition", "Standing", "oppositions", "side_by_side", "standings", "winnings_at"]


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
