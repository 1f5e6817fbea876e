"""The work's results of co-evolution, of its mixed approach, and of co-evolution in the larger games."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from bots.findings import Comparison, Comparisons, Line, LineChart, Section, TableView, Verdict
from bots.kuhn.evolution.results import KuhnResult
from bots.kuhn.evolution.runs import exploitability_of, game_value
from bots.kuhn.games import Genes, KuhnGame, Variant, sequence_form_of
from bots.kuhn.models import model
from bots.kuhn.values import best_answer, expected_value, plan_of_genes, spread
from bots.solving.equilibria import LinearProgram
from bots.solving.sequence_form import Entries
from bots.studies.kuhn.against_models import LUCK, RUN_SPREAD, mean_of, of_runs, symbols
from bots.studies.kuhn.printed import COEVOLVED, COEVOLVED_GENES, COEVOLVED_SYMBOLS, MIXED, MIXED_GENES, UP_TO, WON
from bots.studies.kuhn.runs import FOUR_MODELS, Gathered

__all__ = ["mixed_value", "rival_sections", "settled_from"]

SETTLED: Final = 200
"""The generation from which means are taken."""
_WINDOW: Final = 100
_NEAR: Final = 0.005
_STABLE: Final = 800
"""The generation after which the work calls its average stable."""
_EQUILIBRIUM: Final = 0.01
"""Chips per hand: who can be exploited by more on average plays no equilibrium."""
_TEST_HANDS: Final = 1000
"""Hands of each of the work's tests of its evolved strategies."""
_MOST_LUCK: Final = 5.0
"""Standard errors above what a strategy wins that hardly any number of tests reaches."""
_LEVEL: Final = 0.004
"""How far from the printed average ours may lie."""
_CLASSIC: Final = KuhnGame(Variant.CLASSIC)


def mixed_value(game: KuhnGame, second: Sequence[float]) -> float:
    """The most a first player can be sure of on average where half of its hands are against a known second player.

    Args:
        game: which.
        second: the genes of the known one; the other may do anything.
    """
    form = sequence_form_of(game)
    payoffs = form.payoffs().summed()
    plan = np.zeros(payoffs.shape[1])
    plan[form.numbers(1)] = plan_of_genes(game, 1, second)
    known = np.zeros(payoffs.shape[0])
    np.add.at(known, payoffs.rows, payoffs.values * plan[payoffs.columns])
    rows = np.flatnonzero(known)
    # The empty sequence, number 0, is always played: what does not depend on the second player stands there.
    both = Entries(
        np.concatenate([payoffs.rows, rows]),
        np.concatenate([payoffs.columns, np.zeros(len(rows), payoffs.columns.dtype)]),
        np.concatenate([payoffs.values, known[rows]]) / 2,
        payoffs.shape,
    ).summed()
    return LinearProgram(form, both).solve().value


def settled_from(means: Sequence[float], value: float) -> int | None:
    """The generation from which on the mean of 100 generations stays near a value; None if it does not at the end."""
    moving = np.convolve(means, np.full(_WINDOW, 1 / _WINDOW), mode="valid")
    far = np.flatnonzero(np.abs(moving - value) > _NEAR)
    first = int(far[-1]) + 1 if len(far) else 0
    return first if first < len(moving) else None


def rival_sections(found: Gathered) -> Iterator[Section]:
    """Sections of co-evolution, the mixed approach, and the larger games."""
    yield _coevolution(found["coevolution-classic"])
    yield _tests_of_the_fittest()
    yield _mixed(found["mixed-classic"])
    yield _larger(found)


def _later(result: KuhnResult) -> float:
    return mean_of(result.mean[SETTLED:] or result.mean)


def _judged(printed: float, values: Sequence[float]) -> tuple[Verdict, str]:
    if abs(printed - mean_of(values)) <= _LEVEL:
        return Verdict.REPRODUCED, ""
    return Verdict.NOT_REPRODUCED, f"{len(values)} runs lie from {min(values):.4f} to {max(values):.4f}"


def _as_equilibrium(exploitable_by: Sequence[float]) -> Verdict:
    return Verdict.REPRODUCED if mean_of(exploitable_by) <= _EQUILIBRIUM else Verdict.NOT_REPRODUCED


def _coevolution(results: Sequence[KuhnResult]) -> Section:
    value = game_value(_CLASSIC)
    later = [_later(result) for result in results]
    verdict, why = _judged(COEVOLVED, later)
    settled = [settled_from(result.mean, value) for result in results]
    known = [one for one in settled if one is not None]
    early = [one for one in known if one < _STABLE / 2]
    average = [exploitability_of(_CLASSIC, 0, result.average) for result in results]
    fittest = [exploitability_of(_CLASSIC, 0, result.fittest) for result in results]
    rivals = [exploitability_of(_CLASSIC, 1, result.fittest_rival) for result in results]
    rivals_average = [exploitability_of(_CLASSIC, 1, result.rival_average) for result in results]
    printed = [exploitability_of(_CLASSIC, seat - 1, genes) for seat, genes in COEVOLVED_GENES.items()]
    rows = (
        Comparison(
            quantity=f"the first player's average fitness (ours: from generation {SETTLED} on)",
            ours=f"{mean_of(later):.4f}",
            interval=_interval(later),
            printed=f"{COEVOLVED:.3f}",
            verdict=verdict,
            why=why or f"the game is worth {value:.4f}",
        ),
        Comparison(
            quantity=f"generations until the average is stable (ours: until means of {_WINDOW} stay within {_NEAR})",
            ours=f"{statistics.median(known):.0f}" if known else "never",
            interval=f"{min(known)} to {max(known)}" if known else "",
            printed=f"about {_STABLE}",
            verdict=Verdict.NOT_REPRODUCED if 2 * len(early) > len(results) else Verdict.REPRODUCED,
            why=f"{len(early)} of {len(results)} runs stay so near the game's value before half of that; "
            "single generations go up and down all the time",
        ),
        Comparison(
            quantity="populations reach a Nash equilibrium: the fittest first player can be exploited by",
            ours=f"{mean_of(fittest):.3f}",
            interval=_interval(fittest, 3),
            printed=f"0 (its own fittest: {printed[0]:.3f})",
            verdict=_as_equilibrium(fittest),
            why="only averages over time come near an equilibrium; populations go round it",
        ),
        Comparison(
            quantity="and the fittest second player by",
            ours=f"{mean_of(rivals):.3f}",
            interval=_interval(rivals, 3),
            printed=f"0 (its own fittest: {printed[1]:.3f})",
            verdict=_as_equilibrium(rivals),
            why="as the first",
        ),
        Comparison(
            quantity="the average first player of the later half can be exploited by",
            ours=f"{mean_of(average):.4f}",
            interval=_interval(average),
        ),
        Comparison(
            quantity="and the average second player by",
            ours=f"{mean_of(rivals_average):.4f}",
            interval=_interval(rivals_average),
        ),
    )
    sentences = (
        "Both populations are judged by one hand of everybody against everybody. The average of the first player is "
        "the value of the game, as the work says. That is no sign of an equilibrium: what one side loses the other "
        "wins, and a population that runs in circles around an equilibrium has the same average.",
        "The work says that co-evolved strategies do not bluff. Its own do: the second player of its table bets a "
        f"jack in {COEVOLVED_GENES[2][0]:.0%} of all cases, the first in {COEVOLVED_GENES[1][0]:.0%}; in equilibrium "
        "the second does so in a third.",
    )
    note = f"The interval holds all runs, from the lowest to the highest ({len(results)} runs)."
    chart = _chart("Average fitness in co-evolution", results[0], value)
    return Section(
        "Co-evolution", sentences, (Comparisons("Co-evolution of both players", rows, note), _averages(results), chart)
    )


def _interval(values: Sequence[float], digits: int = 4) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}" if len(values) > 1 else ""


def _averages(results: Sequence[KuhnResult]) -> TableView:
    rows = [
        (name, *(of_runs(column, 2) for column in zip(*genes, strict=True)))
        for name, genes in (
            ("first player", [result.average for result in results]),
            ("second player", [result.rival_average for result in results]),
        )
    ]
    heads = ("", *_CLASSIC.gene_names)
    note = f"Averages of the populations over the later half of the generations. {RUN_SPREAD}"
    return TableView("Genes on average", tuple((head, "") for head in heads), tuple(rows), note)


def _chart(title: str, result: KuhnResult, value: float) -> LineChart:
    xs = tuple(range(len(result.mean)))
    lines = (
        Line(name="first player", xs=xs, ys=result.mean),
        Line(name="second player", xs=xs, ys=result.rivals_mean),
        Line(name="value of the game", xs=(0, xs[-1]), ys=(value, value), is_dashed=True),
    )
    note = f"One run, seed {result.seed}: means of several would hide how it goes up and down."
    return LineChart(title=title, x_label="generation", y_label="chips per hand", lines=lines, note=note)


def _tests_of_the_fittest() -> Section:
    """Exact values of the printed strategies against the models; no run is needed."""
    rows = []
    strategies: tuple[tuple[str, int, Genes], ...] = (
        ("co-evolved first player", 0, COEVOLVED_GENES[1]),
        ("co-evolved second player", 1, COEVOLVED_GENES[2]),
        ("mixed first player", 0, MIXED_GENES),
    )
    for at, (who, seat, genes) in enumerate(strategies):
        for name in FOUR_MODELS:
            other = model(name, Variant.CLASSIC)
            players = (other, genes) if seat else (genes, other)
            value = expected_value(_CLASSIC, *players) * (-1 if seat else 1)
            error = spread(_CLASSIC, *players) / _TEST_HANDS**0.5
            printed, up_to = WON[name][at], UP_TO[name][at]
            off = (printed - value) / error
            rows.append(
                Comparison(
                    quantity=f"the {who} wins from {name.capitalize()}",
                    ours=f"{value:.4f}",
                    interval=f"± {1.96 * error:.3f} in 1,000 hands",
                    printed=f"{printed:g}",
                    verdict=Verdict.REPRODUCED if abs(off) <= 2 else Verdict.NOT_REPRODUCED,
                    why="" if abs(off) <= 2 else f"{abs(off):.1f} standard errors away",
                )
            )
            rows.append(
                Comparison(
                    quantity=f"… and up to (exact value, and {LUCK} standard errors)",
                    ours=f"{value + LUCK * error:.3f}",
                    printed=f"{up_to:g}",
                    verdict=Verdict.LUCKY if up_to <= value + _MOST_LUCK * error else Verdict.NOT_REPRODUCED,
                    why=f"{(up_to - value) / error:.1f} standard errors of 1,000 hands above what it wins",
                )
            )
    note = "Ours are exact; the interval is what 95 % of averages of 1,000 hands lie in."
    return Section(
        "The strategies that the work prints",
        (
            "What the printed strategies win from the models, exactly. «Up to» is the highest of many averages of "
            "1,000 hands each: luck again.",
        ),
        (Comparisons("Printed strategies against the models, chips per hand", tuple(rows), note),),
    )


def _mixed(results: Sequence[KuhnResult]) -> Section:
    rational = model("rational", Variant.CLASSIC)
    best = mixed_value(_CLASSIC, rational)
    later = [_later(result) for result in results]
    verdict, why = _judged(MIXED, later)
    value = game_value(_CLASSIC)
    worst = -best_answer(_CLASSIC, 1, MIXED_GENES).value
    known = expected_value(_CLASSIC, MIXED_GENES, rational)
    average = [-best_answer(_CLASSIC, 1, result.average).value for result in results]
    rows = (
        Comparison(
            quantity=f"the first player's average fitness (ours: from generation {SETTLED} on)",
            ours=f"{mean_of(later):.4f}",
            interval=_interval(later),
            printed=f"{MIXED:.3f}",
            verdict=verdict,
            why=why or f"the most it can be sure of is {best:.4f}",
        ),
        Comparison(
            quantity="a considerable improvement on co-evolution: the average player of the later half is sure of",
            ours=f"{mean_of(average):.4f}",
            interval=_interval(average),
            printed=f"better than {value:.4f}",
            verdict=Verdict.REPRODUCED if mean_of(average) > value else Verdict.NOT_REPRODUCED,
            why=f"nobody can be sure of more than {value:.4f}; half of the average is against Rational, who loses more",
        ),
        Comparison(quantity="the printed strategy wins from Rational", ours=f"{known:.4f}"),
        Comparison(quantity="and is sure of, against anybody", ours=f"{worst:.4f}"),
    )
    sentences = (
        "The first player's fitness is the mean of its hands against the other population and of 1,010 hands "
        "against Rational. The average rises because Rational is a weaker opponent than an evolving one, not "
        "because the strategy is a stronger one.",
    )
    chart = _chart("Average fitness in the mixed approach", results[0], value)
    note = f"The interval holds all runs, from the lowest to the highest ({len(results)} runs)."
    return Section(
        "The mixed approach", sentences, (Comparisons("The mixed approach", rows, note), _averages(results), chart)
    )


def _larger(found: Gathered) -> Section:
    rows, genes, charts = [], [], []
    for variant in (Variant.BREADTH, Variant.DEPTH, Variant.BOTH):
        game, results = KuhnGame(variant), found[f"coevolution-{variant.value}"]
        value = game_value(game)
        later = [_later(result) for result in results]
        ahead = mean_of([float(np.mean(np.array(result.mean[SETTLED:]) < 0)) for result in results])
        lost = mean_of([exploitability_of(game, 0, result.fittest) for result in results])
        average = mean_of([exploitability_of(game, 0, result.average) for result in results])
        rows.append(
            (
                variant.value,
                f"{value:.4f}",
                of_runs(later),
                f"{ahead:.0%}",
                f"{lost:.3f}",
                f"{average:.3f}",
                str(len(results)),
            )
        )
        for seat, name, own in (
            (1, "first", [result.average for result in results]),
            (2, "second", [result.rival_average for result in results]),
        ):
            means = [mean_of(column) for column in zip(*own, strict=True)]
            genes.append((f"{variant.value}, {name} player", COEVOLVED_SYMBOLS[variant, seat], symbols(means)))
        charts.append(_chart(f"Average fitness in co-evolution, {variant.value}", results[0], value))
    columns = (
        ("game", ""),
        ("value", "what the first player wins in equilibrium, exactly"),
        ("mean", f"the first player's average fitness from generation {SETTLED} on"),
        ("second ahead", "generations in which the second player's average is above the first's"),
        ("fittest exploitable by", "the fittest first player of the last generation"),
        ("average exploitable by", "the average first player of the later half"),
        ("seeds", ""),
    )
    heads = (("", ""), ("printed", ""), ("ours", "on average over the later half"))
    sentences = (
        "The work finds no equilibrium in the larger games, and the second player ahead in general. The second "
        "player is ahead in all of them: their exact values are negative. That populations never come to rest is as "
        "true of the classic game.",
    )
    tables = (
        TableView("Co-evolution in the larger games, chips per hand", columns, tuple(rows), RUN_SPREAD),
        TableView("Genes of co-evolution in the larger games", heads, tuple(genes)),
    )
    return Section("Co-evolution in the larger games", sentences, (*tables, *charts))
