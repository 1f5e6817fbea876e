"""Documents about runs of the training, with the charts of the thesis for each run (chapter 5.4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.evolution.evolution import Generation
from bots.evolved.runs import EvolvedRun
from bots.evolved.training_hands import winnings_curve
from engine.text import count_of
from logs.document import TEXT, Axis, Chart, Column, Document, Section, Series, Table, Value

_MAX_POINTS: Final = 400
"""Points of a line over the hands of a generation, which are thousands."""
_GENERATION: Final = Axis("generation")
_DOLLARS: Final = Axis("winnings", "dollars")


def runs_document(runs: Sequence[EvolvedRun]) -> Document:
    """Build a document with the last generation of each finished run."""
    columns = (
        Column("run"),
        Column("generations", ",", rank=1),
        Column("best", "+,.0f", meaning="winnings of the best individual, in dollars over all hands"),
        Column("mean", "+,.0f", meaning="of all individuals", rank=2),
        Column("best trainer", "+,.0f", meaning="winnings of the best opponent of the best individual", rank=3),
        Column("genes used", ".0%", meaning="on average over the individuals", rank=4),
        Column("ended because", TEXT),
    )
    rows: list[tuple[Value, ...]] = []
    for run in runs:
        last = run.last
        best_opponent = last.best_opponent or 0.0
        rows.append((run.name, last.number, last.best, last.mean, best_opponent, last.used_share, run.reason))
    sentence = f"{count_of(len(runs), 'chromosome')} in {runs[0].path.parent}; gains are dollars over all hands."
    plays = [f"It plays as evolved?chromosome={run.path}" for run in runs if run.is_player]
    return Document("Agents evolved", (sentence, *plays), sections=(Section("", (Table("", columns, tuple(rows)),)),))


def runs_page(runs: Sequence[EvolvedRun]) -> Document:
    """Build the document with the charts of each run, for which the hands of its last generation are played again."""
    document = runs_document(runs)
    sections = [Section(run.name, tuple(_charts(run))) for run in runs]
    return Document(document.title, document.sentences, sections=(*document.sections, *sections))


def _charts(run: EvolvedRun) -> list[Chart]:
    history = run.state.history
    charts = [_winnings_chart(history), _hands_chart(run)]
    if run.checks:
        charts.append(_check_chart(run, "random", "Against random trainers", "other random chromosomes"))
        if any("earlier" in row for row in run.checks):
            others = "the latest individuals before it with a highest fitness"
            if not run.is_player:
                others = "the latest individuals before it that became trainers"
            charts.append(_check_chart(run, "earlier", "Against earlier champions", others))
    if history[-1].renewals:
        charts.append(_cost_chart(history))
    numbers = _numbers(history)
    used = Series("genes used", numbers, tuple([generation.used_share for generation in history]))
    diversity = Series("diversity", numbers, tuple([generation.diversity for generation in history]))
    note = "Share of the genes that an individual used, on average."
    charts.append(Chart("Use of the genes", _GENERATION, Axis("share of the genes"), (used,), note))
    note = "Standard deviation of a gene over the population, 1 if it is uniform over its range, 0 if all are equal."
    charts.append(Chart("Diversity", _GENERATION, Axis("relative to uniform"), (diversity,), note))
    return charts


def _numbers(history: Sequence[Generation]) -> tuple[float, ...]:
    return tuple([float(generation.number) for generation in history])


def _winnings_chart(history: Sequence[Generation]) -> Chart:
    numbers = _numbers(history)
    series = (
        Series("best individual", numbers, tuple([generation.best for generation in history])),
        Series("mean", numbers, tuple([generation.mean for generation in history])),
        Series("best trainer", numbers, tuple([generation.best_opponent or 0.0 for generation in history])),
    )
    note = "Over all hands of the training; the best trainer is that of the best individual's table."
    return Chart("Winnings by generation", _GENERATION, _DOLLARS, series, note)


def _hands_chart(run: EvolvedRun) -> Chart:
    """Return the chart of the winnings over the hands of the last generation."""
    settings = run.settings
    table = run.table
    curve = winnings_curve(settings.evaluator.deal_set, table[0], table[1:], settings.odds, settings.rake)
    count = len(curve.at_showdown)
    points = np.unique(np.linspace(0, count - 1, min(count, _MAX_POINTS)).astype(int))
    series = (
        _line("all", points, curve.at_showdown + curve.without_showdown),
        _line("at the showdown", points, curve.at_showdown),
        _line("without showdown", points, curve.without_showdown),
    )
    note = "Of the best individual in the hands with a flop, against the trainers at the end."
    return Chart("Winnings in the last generation", Axis("hands with a flop"), _DOLLARS, series, note)


def _line(name: str, points: NDArray[np.int64], values: NDArray[np.float64]) -> Series:
    return Series(name, tuple((points + 1.0).tolist()), tuple(values[points].tolist()))


def _check_chart(run: EvolvedRun, key: str, title: str, others: str) -> Chart:
    rows = [row for row in run.checks if key in row]
    numbers = tuple([float(row["generation"]) for row in rows])
    series = (
        Series("best individual", numbers, tuple([float(row[key]) for row in rows])),
        Series("best opponent", numbers, tuple([float(row[f"best_{key}"]) for row in rows])),
    )
    note = f"Over deals that no training uses, against {others}."
    return Chart(title, _GENERATION, _DOLLARS, series, note)


def _cost_chart(history: Sequence[Generation]) -> Chart:
    """Return the chart of the generations that each better trainer took."""
    renewed = [history[0].number]
    for before, generation in pairwise(history):
        if generation.renewals > before.renewals:
            renewed.append(generation.number)
    costs = tuple([float(after - before) for before, after in pairwise(renewed)])
    trainers = tuple(map(float, range(1, len(costs) + 1)))
    series = (Series("generations", trainers, costs),)
    return Chart("Cost of a better trainer", Axis("better trainer"), Axis("generations"), series)
