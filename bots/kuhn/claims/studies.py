"""Selections, starts and crossovers beside each other, the mistakes of the listing, exact fitness beside sampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bots.findings import Comparison, Comparisons, LineChart, Section, TableView, Verdict
from bots.kuhn.claims.charts import band, level
from bots.kuhn.claims.experiments import FIXED, FOUR_MODELS
from bots.kuhn.claims.figures import RUN_SPREAD, mean_of, of_runs
from bots.kuhn.claims.gathering import Gathered
from bots.kuhn.claims.printed import ROULETTE, SELECTION
from bots.kuhn.evolution.results import KuhnResult
from bots.kuhn.evolution.runs import exploitability_of
from bots.kuhn.evolution.settings import SelectionKind
from bots.kuhn.games import KuhnGame, Variant
from bots.kuhn.models import model
from bots.kuhn.values import best_answer

__all__ = ["study_sections"]

_SELECTIONS: Final = tuple(kind.value for kind in SelectionKind)
_PRINT: Final = 0.005
_SAME: Final = 2.0
"""Standard errors of a difference below which nothing can be said about it."""


def study_sections(found: Gathered) -> Iterator[Section]:
    """A section for each comparison."""
    yield _selections(found)
    yield _starts_and_crossovers(found)
    yield _listing(found)
    yield _exact(found)


def _means_at(results: Sequence[KuhnResult], generation: int) -> list[float]:
    return [result.mean[generation] for result in results]


def _interval(values: Sequence[float]) -> str:
    return f"{min(values):.4f} to {max(values):.4f}"


def _selections(found: Gathered) -> Section:
    rows = []
    for selection, generation, printed in (
        ("tournament", 100, SELECTION),
        ("rank", 100, SELECTION),
        ("roulette", 500, ROULETTE),
    ):
        values = _means_at(found[f"classic-rational-1-{selection}"], generation)
        lowest, highest = min(values) - _PRINT, max(values) + _PRINT
        is_same = lowest <= printed <= highest
        rows.append(
            Comparison(
                quantity=f"{selection}, mean fitness against Rational after {generation} generations",
                ours=f"{mean_of(values):.4f}",
                interval=_interval(values),
                printed=f"{printed:.2f}",
                verdict=Verdict.REPRODUCED if is_same else Verdict.NOT_REPRODUCED,
                why="" if is_same else "no run comes there",
            )
        )
    table = []
    charts = []
    for name in FOUR_MODELS:
        runs = {selection: found[f"classic-{name}-1-{selection}"] for selection in _SELECTIONS}
        for selection, results in runs.items():
            table.append(
                (
                    name.capitalize(),
                    selection,
                    *(of_runs(_means_at(results, generation), 3) for generation in (10, 50, 100, 200, 500)),
                    str(len(results)),
                )
            )
        possible = best_answer(KuhnGame(), 0, model(name, Variant.CLASSIC)).value
        for what in ("mean", "best"):
            curves = {selection: [getattr(result, what) for result in results] for selection, results in runs.items()}
            lines = tuple(band(selection, curve) for selection, curve in curves.items())
            charts.append(
                LineChart(
                    title=f"{what.capitalize()} fitness against {name.capitalize()}, by selection",
                    x_label="generation",
                    y_label="chips per hand",
                    lines=(*lines, level("possible", possible, 500)),
                )
            )
    heads = ("against", "selection", "10", "50", "100", "200", "500", "seeds")
    view = TableView(
        "Mean fitness by generation", tuple((head, "") for head in heads), tuple(table), RUN_SPREAD, is_grouped=True
    )
    note = "The interval holds all runs, from the lowest to the highest."
    return Section(
        "Selection",
        (
            "A tournament of two and the rank wheel have the same pressure; the roulette wheel, with 2 added to every "
            "fitness, hardly tells a good strategy from a bad one.",
        ),
        (Comparisons("Selection, chips per hand", tuple(rows), note), view, *charts),
    )


def _starts_and_crossovers(found: Gathered) -> Section:
    rows, charts = [], []
    ways = {"as published": "", "one-point crossover": "-one-point", "random start": "-random-start"}
    for name in FOUR_MODELS:
        runs = {way: found[f"classic-{name}-1{ending}"] for way, ending in ways.items()}
        base = _means_at(runs["as published"], FIXED)
        for way, results in runs.items():
            values = _means_at(results, FIXED)
            rows.append(
                (
                    name.capitalize(),
                    way,
                    of_runs(values),
                    of_runs(_means_at(results, 20)),
                    _difference(values, base) if way != "as published" else "",
                    str(len(results)),
                )
            )
        lines = tuple(band(way, [result.mean for result in results]) for way, results in runs.items())
        charts.append(
            LineChart(
                title=f"Mean fitness against {name.capitalize()}, by start and crossover",
                x_label="generation",
                y_label="chips per hand",
                lines=lines,
            )
        )
    heads = ("against", "", "generation 100", "generation 20", "difference at 100", "seeds")
    note = f"{RUN_SPREAD} A difference within 2 standard errors of nothing decides nothing."
    view = TableView("Mean fitness, chips per hand", tuple((head, "") for head in heads), tuple(rows), note)
    sentences = (
        "The work finds a uniform start and uniform crossover slightly better, from one run of each. The "
        "differences of means over several runs stand in the table, with their standard errors.",
    )
    return Section("Start and crossover", sentences, (view, *charts))


def _difference(values: Sequence[float], base: Sequence[float]) -> str:
    if len(values) < 2 or len(base) < 2:
        return ""
    error = sum(_variance(column) / len(column) for column in (values, base)) ** 0.5
    difference = mean_of(values) - mean_of(base)
    word = "" if abs(difference) > _SAME * error else ", undecided"
    return f"{round(difference, 4) + 0.0:+.4f} (standard error {error:.4f}{word})"


def _variance(values: Sequence[float]) -> float:
    mean = mean_of(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _listing(found: Gathered) -> Section:
    rank, listed = found["classic-rational-1-rank"], found["classic-rational-1-rank-as-listed"]
    second, wrong = found["classic-rational-2"], found["classic-rational-2-as-listed"]
    mixed, halved = found["mixed-classic"], found["mixed-classic-as-listed"]
    rows = (
        ("the second player is paid what the model wins", _at_end(second), _at_end(wrong), "it breeds losers"),
        (
            "the rank wheel never draws the fittest",
            of_runs(_means_at(rank, FIXED)),
            of_runs(_means_at(listed, FIXED)),
            "the next ones do as well",
        ),
        (
            "the mixed approach halves all sums after every hand",
            of_runs([_sure(result) for result in mixed]),
            of_runs([_sure(result) for result in halved]),
            "only the last hands count: nothing is learnt",
        ),
        ("the roulette wheel adds nothing to fitness", "", "it ends the run", "the sum of all is negative at first"),
        (
            "a tournament begins with a best of -1",
            "",
            "",
            "the first of the population wins among those at -1 or below",
        ),
    )
    heads = ("mistake", "corrected", "as listed", "what it does")
    note = (
        f"Mean fitness after {FIXED} generations against Rational in chips per hand; of the mixed approach, what the "
        f"average player of the later half is sure of. {RUN_SPREAD} The seat that is paid wrongly shows what it was "
        "paid."
    )
    view = TableView("The mistakes of the listing", tuple((head, "") for head in heads), rows, note)
    sentences = (
        "The printed program cannot have made the printed results: with a second player paid by the model's "
        "winnings there would be no good second players, and its mixed approach would learn nothing. The results "
        "are those of the text. --as-published switches all mistakes on.",
    )
    return Section("The listing", sentences, (view,))


def _at_end(results: Sequence[KuhnResult]) -> str:
    return of_runs([result.mean[-1] for result in results])


def _sure(result: KuhnResult) -> float:
    return -best_answer(KuhnGame(), 1, result.average).value


def _exact(found: Gathered) -> Section:
    possible = best_answer(KuhnGame(), 0, model("rational", Variant.CLASSIC)).value
    rows = []
    for way, results in (
        ("1,010 hands", found["classic-rational-1"]),
        ("exact", found["classic-rational-1-exact"]),
    ):
        rows.append(
            (
                f"against Rational, fitness {way}",
                of_runs([result.mean[-1] for result in results]),
                of_runs([result.record for result in results]),
                of_runs([result.record_value or 0.0 for result in results]),
                str(len(results)),
            )
        )
    rivals = []
    for way, name in (
        ("sampled", "coevolution-classic"),
        ("exact", "coevolution-classic-exact"),
        ("sampled, with halls of fame", "coevolution-classic-hall"),
    ):
        results = found[name]
        rivals.append(
            (
                way,
                of_runs([exploitability_of(KuhnGame(), 0, result.fittest) for result in results], 3),
                of_runs([exploitability_of(KuhnGame(), 0, result.average) for result in results], 3),
                of_runs([exploitability_of(KuhnGame(), 1, result.rival_average) for result in results], 3),
                str(len(results)),
            )
        )
    heads = ("", "mean", "best", "its value", "seeds")
    rival_heads = ("co-evolution", "fittest first player", "average first player", "average second player", "seeds")
    note = f"Nobody wins more than {possible:.4f} from Rational. {RUN_SPREAD}"
    tables = (
        TableView("Fitness sampled and exact", tuple((head, "") for head in heads), tuple(rows), note),
        TableView(
            "Exploitable by, chips per hand",
            tuple((head, "") for head in rival_heads),
            tuple(rivals),
            f"What the best answer wins more than in an equilibrium. {RUN_SPREAD}",
        ),
    )
    sentences = (
        "With exact fitness the best of all generations is worth what it claims. Sampling costs the population "
        "little, as selection averages over its members; what it spoils is the figure that was reported. The work "
        "describes halls of fame and never used them.",
    )
    return Section("Exact fitness, and halls of fame", sentences, tables)
