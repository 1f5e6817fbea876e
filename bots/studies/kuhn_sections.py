"""Text for figures over seeds, and the sections on the models and on co-evolution."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median, stdev
from typing import Any, Final, NamedTuple

import numpy as np

from bots.kuhn.games import CARDS, Genes, KuhnGame, Variant, model, models, sequence_form_of
from bots.kuhn.runs import (
    BestAnswer,
    KuhnResult,
    best_answer,
    expected_value,
    exploitability_of,
    game_value,
    plan_of_genes,
    standard_deviation,
)
from bots.solving.equilibria import LinearProgram
from bots.solving.sequence_form import Entries
from bots.studies.kuhn_runs import FIXED, FOUR_MODELS, Experiment, ExperimentResults, experiments
from bots.studies.report import (
    Claim,
    Claims,
    Line,
    LineChart,
    Part,
    Section,
    Verdict,
    printed_figures,
    student_point,
)
from logs.document import CODE, NAME, TEXT, Column, Table

_PRINTED: Final = printed_figures("kuhn")
_COEVOLVED_GENES: Final = tuple(tuple(_PRINTED["coevolved_genes"][seat]) for seat in "12")
_MIXED_GENES: Final = tuple(_PRINTED["mixed_genes"])

_POSSIBLE: Final = Column("possible", ",", meaning="exact value of the best response")
RUN_SPREAD: Final = "± is the standard deviation from run to run."
_TAIL: Final = 0.00135
"""A printed figure counts as one of ours where it lies as near as 99.7 % of further runs would, both tails aside."""


_PRINT: Final = 0.005
"""Half a unit of the last digit that the thesis prints."""
_CONVERGED: Final = 0.05
_SMALL: Final = 0.25
_AGREES: Final = 0.2
"""How far from a printed 0 or 1 a mean gene may lie."""


def _spread_of(values: Sequence[float]) -> float | None:
    return stdev(values) if len(values) > 1 else None


def of_runs(values: Sequence[float], digits: int = 4) -> str:
    deviation = _spread_of(values)
    return f"{fmean(values):.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def over_runs(quantity: str, values: Sequence[float], digits: int = 4, **judged: Any) -> Claim:
    """A claim about the mean of some runs; the interval holds all of them."""
    span = f"{min(values):.{digits}f} to {max(values):.{digits}f}" if len(values) > 1 else ""
    return Claim(quantity, f"{fmean(values):.{digits}f}", span, **judged)


def symbols(genes: Sequence[float]) -> str:
    """Genes as the thesis writes them, three to a row; see `bots.studies.kuhn_runs`."""

    def symbol(gene: float) -> str:
        if gene < _CONVERGED or gene > 1 - _CONVERGED:
            return "01"[gene > 0.5]
        return "v" if gene < _SMALL else "^" if gene > 1 - _SMALL else "~"

    signs = "".join(map(symbol, genes))
    return " ".join(signs[at : at + len(CARDS)] for at in range(0, len(signs), len(CARDS)))


def differing(printed: str, genes: Sequence[float], names: Sequence[str]) -> list[str]:
    """The genes that are printed as 0 or 1 and lie elsewhere, with where they lie."""
    return [
        f"{name} {gene:.2f}"
        for name, sign, gene in zip(names, printed.replace(" ", ""), genes, strict=True)
        if sign in "01" and abs(gene - int(sign)) > _AGREES
    ]


def _further_run(runs: int) -> float:
    """How many standard deviations of so many runs, two or more, 99.7 % of further ones lie from their mean."""
    return student_point(runs - 1, _TAIL) * math.sqrt(1 + 1 / runs)


def range_verdict(printed: float, values: Sequence[float], possible: float = math.inf) -> tuple[Verdict, str]:
    """The verdict on a printed fitness, and its reason; no strategy exceeds `possible` on average."""
    standard_deviation = _spread_of(values)
    room = None if standard_deviation is None else _further_run(len(values)) * standard_deviation + _PRINT
    verdict = Verdict.within(printed, fmean(values), room)
    if verdict is Verdict.REPRODUCED and printed > possible + _PRINT:
        return Verdict.LUCKY, f"no strategy wins more than {possible:.4f}"
    if verdict is Verdict.REPRODUCED:
        return verdict, ""
    return verdict, f"{len(values)} runs range from {min(values):.2f} to {max(values):.2f}"


def mean_line(name: str, curves: Sequence[Sequence[float]]) -> Line:
    """The mean of some curves over the generations, and what lies within a standard deviation of it."""
    heights = np.array(curves)
    half = heights.std(axis=0, ddof=1) if len(heights) > 1 else None
    return Line.of(name, range(heights.shape[1]), heights.mean(axis=0), half)


def value_line(name: str, height: float, generations: int) -> Line:
    return Line.of(name, (0, generations), (height, height), is_dashed=True)


def generations_chart(title: str, lines: Iterable[Line], note: str = "") -> LineChart:
    """Chips per hand over the generations."""
    return LineChart(title, "generation", "chips per hand", tuple(lines), note)


LUCK: Final = 4.3
"""Standard errors by which the highest of about 101,000 means lies above what is possible."""
_OF_SEEDS: Final = "Ours is the mean over the seeds; the interval covers all of them, from the lowest to the highest."
_TITLES: Final = {
    Variant.CLASSIC: "Kuhn poker against the models",
    Variant.BREADTH: "Three sizes of bets against the models",
    Variant.DEPTH: "One raise against the models",
    Variant.BOTH: "Sizes and a raise against the models",
}
_SENTENCES: Final = {
    Variant.CLASSIC: (
        "The thesis evolves 1,010 strategies for 100 generations against each of its models, and reports the highest "
        "fitness of any strategy in any generation as its winnings. A fitness is the mean of 1,010 hands. The highest "
        "of about 101,000 such means is 4.3 standard errors above the highest possible value. The column «law» has "
        "this expected maximum, and the printed figures agree with it.",
    ),
    Variant.BREADTH: (
        "By the printed rules, no strategy wins 1.24 from Rational. If the second player answers a bet of 10 by its "
        "genes for a bet of 2, the printed figures for Rational and Bluffer and the printed genes result. The "
        "mistake must be in a part of the program that is not printed.",
    ),
    Variant.DEPTH: ("With one raise, the printed figures are again such maxima.",),
    Variant.BOTH: (
        "The printed answers to the Bluffer cannot have been evolved against the printed Bluffer: it always bets "
        "first, so the bets of the second seat could not converge. A cautious model with other answers to a bet of 10 "
        "gives the printed genes and figures near the printed ones. That model is a conjecture.",
    ),
}


def expected_maximum(experiment: Experiment) -> float:
    settings = experiment.settings
    answer = best_answer(settings.rules, settings.seat - 1, settings.model)
    players = (answer.genes, settings.model) if settings.seat == 1 else (settings.model, answer.genes)
    error: float = standard_deviation(settings.rules, *players) / settings.games**0.5
    return answer.value + LUCK * error


class _ModelRuns(NamedTuple):
    """An experiment against a model, its results, and the printed figure and genes that they are compared with."""

    experiment: Experiment
    answer: BestAnswer
    results: Sequence[KuhnResult]
    printed: float
    printed_genes: str

    @property
    def has_printed_rules(self) -> bool:
        return self.experiment.name.count("-") == 2

    @property
    def name(self) -> str:
        settings, is_classic = self.experiment.settings, self.experiment.settings.game is Variant.CLASSIC
        known = {
            genes: name.capitalize()
            for name, genes in models(settings.game).items()
            if is_classic or name in FOUR_MODELS
        }
        rule = ", tens answered as twos" if settings.tens_as_twos else ""
        return f"{known.get(settings.model, 'a conjectured Bluffer')}, seat {settings.seat}{rule}"

    @property
    def records(self) -> list[float]:
        return [result.record for result in self.results]


def model_sections(found: ExperimentResults) -> Iterator[Section]:
    for variant in Variant:
        mine = [
            _model_runs(one, found[one.name])
            for one in experiments()
            if one.settings.game is variant and _is_of_models(one)
        ]
        parts: list[Part] = [_comparisons([one for one in mine if one.has_printed_rules])]
        if others := [one for one in mine if not one.has_printed_rules]:
            parts.append(_under_other_rules(others))
        parts += [_exact(mine), _genes(KuhnGame(variant), mine)]
        charts = _charts(mine) if variant is Variant.CLASSIC else ()
        yield Section(_TITLES[variant], _SENTENCES[variant], (*parts, *charts))


def _is_of_models(experiment: Experiment) -> bool:
    about = experiment.name.split("-", 3)[3:]
    is_fixed = bool(experiment.settings.model) and experiment.generations == FIXED
    return is_fixed and (not about or about[0] in ("tens-as-twos", "conjectured"))


def _model_runs(experiment: Experiment, results: Sequence[KuhnResult]) -> _ModelRuns:
    settings = experiment.settings
    key = "-".join(experiment.name.split("-")[1:3])
    printed, genes = (_PRINTED[what][settings.game.value][key] for what in ("best", "genes"))
    answer = best_answer(settings.rules, settings.seat - 1, settings.model)
    return _ModelRuns(experiment, answer, results, printed, genes)


def _comparisons(mine: Sequence[_ModelRuns]) -> Claims:
    rows = []
    for one in mine:
        possible = one.answer.value
        verdict, why = range_verdict(one.printed, one.records, possible)
        if verdict is Verdict.NOT_REPRODUCED and one.printed > possible:
            why = f"no strategy wins more than {possible:.4f}; {why}"
        rows.append(over_runs(one.name, one.records, 3, printed=f"{one.printed:.2f}", verdict=verdict, why=why))
    return Claims("The highest fitness of all generations, chips per hand", tuple(rows), _OF_SEEDS)


def _under_other_rules(others: Sequence[_ModelRuns]) -> Table:
    """The printed figures that other rules or another model explain; each is judged once, by the printed rules."""
    rows = []
    for one in others:
        ours = over_runs("", one.records, 3)
        rows.append((one.name, f"{one.printed:.2f}", ours.ours, ours.interval, f"{one.answer.value:.4f}"))
    heads = (Column("", format=TEXT), "printed", "ours", "interval", _POSSIBLE)
    return Table.of("The highest fitness under other rules, chips per hand", heads, rows, _OF_SEEDS)


def _exact(mine: Sequence[_ModelRuns]) -> Table:
    rows = [
        (
            one.name,
            f"{one.answer.value:.4f}",
            of_runs([result.mean[-1] for result in one.results]),
            of_runs(one.records),
            f"{expected_maximum(one.experiment):.3f}",
            of_runs([result.record_value or 0.0 for result in one.results]),
            str(_converged_at(one.results)),
            str(len(one.results)),
        )
        for one in mine
    ]
    columns = (
        Column("", format=TEXT),
        _POSSIBLE,
        Column("mean", ",", meaning="fitness of the population in generation 100"),
        Column("best", ",", meaning="the highest fitness of all generations"),
        Column("law", ",", meaning="possible, plus 4.3 standard errors of 1,010 hands", rank=1),
        Column("its value", ",", meaning="exact value of the strategy with the highest fitness"),
        Column("95 % at", ",", meaning="the generation that reaches 95 % of the gain of the mean", rank=1),
        Column("seeds", ",", rank=2),
    )
    return Table.of("The highest possible value, and that of the best strategy", columns, rows, RUN_SPREAD)


def _converged_at(results: Sequence[KuhnResult]) -> int:
    mean = np.array([result.mean for result in results]).mean(axis=0)
    return int(np.argmax(mean >= mean[0] + 0.95 * (mean[-1] - mean[0])))


def _genes(game: KuhnGame, mine: Sequence[_ModelRuns]) -> Table:
    rows = []
    for one in mine:
        genes = tuple(map(fmean, zip(*[result.genes for result in one.results], strict=True)))
        others, answer = differing(one.printed_genes, genes, game.gene_names), one.answer.symbols()
        free = [name for name, sign in zip(game.gene_names, answer, strict=True) if sign in "~."]
        idle = "; they have no effect" if all(other.rsplit(" ", 1)[0] in free for other in others) else ""
        rows.append(
            (
                one.name,
                one.printed_genes,
                symbols(genes),
                " ".join(answer[at : at + 3] for at in range(0, len(answer), 3)),
                (Verdict.NOT_REPRODUCED if others else Verdict.REPRODUCED).value,
                "ours: " + ", ".join(others) + idle if others else "",
            )
        )
    note = (
        "By row of the chromosome, J Q K: 0 and 1 beyond 0.05 and 0.95, v below 0.25, ^ above 0.75, ~ between. Ours "
        "are the means of the last population, averaged over the seeds. In the exact best response, ~ is indifferent "
        "and . is never reached. Reproduced: every gene printed as 0 or 1 is within 0.2 of it."
    )
    heads = (
        Column("", format=TEXT),
        *(Column(head, format=CODE) for head in ("printed", "ours", "best response")),
        Column("verdict", format=NAME),
        Column("because", format=TEXT, rank=2),
    )
    return Table.of("Convergence of the genes", heads, rows, note)


def _charts(mine: Sequence[_ModelRuns]) -> tuple[LineChart, ...]:
    charts = []
    for one in mine:
        if one.experiment.settings.seat == 2 or one.experiment.name.split("-")[1] not in FOUR_MODELS:
            continue
        lines = (
            mean_line("best", [result.best for result in one.results]),
            mean_line("mean", [result.mean for result in one.results]),
            value_line("possible", one.answer.value, one.experiment.generations),
        )
        note = "Means over the seeds; bands are one standard deviation wide on each side."
        charts.append(generations_chart(f"Fitness against {one.name}", lines, note))
    return tuple(charts)


_SETTLED: Final = 200
"""The generation from which means are taken."""
_WINDOW: Final = 100
_NEAR: Final = 0.005
_STABLE: Final = 800
"""The generation after which the thesis calls its average stable."""
_EQUILIBRIUM: Final = 0.01
"""Chips per hand: a population with a larger mean exploitability is not in equilibrium."""
_TEST_HANDS: Final = 1000
"""Hands of each of the thesis's tests of its evolved strategies."""
_LEAST_LUCK: Final = 2.0
_MOST_LUCK: Final = 5.0
"""Standard errors above its value that the highest of many tests of a strategy reaches: at least, and at most."""
_LEVEL: Final = 0.004
"""How far from the printed average ours may lie."""
_CLASSIC: Final = KuhnGame(Variant.CLASSIC)


def mixed_value(game: KuhnGame, second: Sequence[float]) -> float:
    """The highest value that a first player can guarantee where half of its hands are against known genes."""
    form = sequence_form_of(game)
    payoffs = form.payoffs().summed()
    plan = np.zeros(payoffs.shape[1])
    plan[form.numbers(1)] = plan_of_genes(game, 1, second)
    known = np.zeros(payoffs.shape[0])
    np.add.at(known, payoffs.rows, payoffs.values * plan[payoffs.columns])
    rows = np.flatnonzero(known)
    # The empty sequence, number 0, is always played: it holds what does not depend on the second player.
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


def rival_sections(found: ExperimentResults) -> Iterator[Section]:
    yield _coevolution(found["coevolution-classic"])
    yield _tests_of_the_fittest()
    yield _mixed(found["mixed-classic"])
    yield _larger(found)


def _later(result: KuhnResult) -> float:
    return fmean(result.mean[_SETTLED:] or result.mean)


def _judged(printed: float, values: Sequence[float]) -> tuple[Verdict, str]:
    if abs(printed - fmean(values)) <= _LEVEL:
        return Verdict.REPRODUCED, ""
    return Verdict.NOT_REPRODUCED, f"{len(values)} runs range from {min(values):.4f} to {max(values):.4f}"


def _as_equilibrium(exploitable_by: Sequence[float]) -> Verdict:
    return Verdict.REPRODUCED if fmean(exploitable_by) <= _EQUILIBRIUM else Verdict.NOT_REPRODUCED


def _coevolution(results: Sequence[KuhnResult]) -> Section:
    value = game_value(_CLASSIC)
    later = [_later(result) for result in results]
    verdict, why = _judged(_PRINTED["coevolved"], later)
    settled = [settled_from(result.mean, value) for result in results]
    known = [one for one in settled if one is not None]
    early = [one for one in known if one < _STABLE / 2]
    average = [exploitability_of(_CLASSIC, 0, result.average) for result in results]
    fittest = [exploitability_of(_CLASSIC, 0, result.fittest) for result in results]
    rivals = [exploitability_of(_CLASSIC, 1, result.fittest_rival) for result in results]
    rivals_average = [exploitability_of(_CLASSIC, 1, result.rival_average) for result in results]
    printed = [exploitability_of(_CLASSIC, seat, genes) for seat, genes in enumerate(_COEVOLVED_GENES)]
    rows = (
        over_runs(
            f"the first player's average fitness (ours: from generation {_SETTLED} on)",
            later,
            printed=f"{_PRINTED['coevolved']:.3f}",
            verdict=verdict,
            why=why or f"the game is worth {value:.4f}",
        ),
        Claim(
            f"generations until the average is stable (ours: until means of {_WINDOW} stay within {_NEAR})",
            f"{median(known):.0f}" if known else "never",
            f"{min(known)} to {max(known)}" if known else "",
            f"about {_STABLE}",
            Verdict.NOT_REPRODUCED if 2 * len(early) > len(results) else Verdict.REPRODUCED,
            f"{len(early)} of {len(results)} runs do so in less than half of that; "
            "single generations fluctuate throughout",
        ),
        over_runs(
            "populations reach a Nash equilibrium: exploitability of the fittest first player",
            fittest,
            3,
            printed=f"0 (its own fittest: {printed[0]:.3f})",
            verdict=_as_equilibrium(fittest),
            why="only averages over time approach an equilibrium; populations circle it",
        ),
        over_runs(
            "exploitability of the fittest second player",
            rivals,
            3,
            printed=f"0 (its own fittest: {printed[1]:.3f})",
            verdict=_as_equilibrium(rivals),
            why="as for the first player",
        ),
        over_runs("exploitability of the average first player of the later half", average),
        over_runs("exploitability of the average second player of the later half", rivals_average),
    )
    sentences = (
        "The fitness in both populations comes from one hand of each strategy against every rival. The average of the "
        "first player is the value of the game, as the thesis reports. This does not prove an equilibrium: a "
        "population that circles an equilibrium has the same average.",
        "The thesis states that co-evolved strategies do not bluff. Its own do: the second player of its table bets a "
        f"jack in {_COEVOLVED_GENES[1][0]:.0%} of all cases, the first in {_COEVOLVED_GENES[0][0]:.0%}; in equilibrium "
        "the second player does so in a third.",
    )
    note = f"The interval covers all runs, from the lowest to the highest ({len(results)} runs)."
    chart = _chart("Average fitness in co-evolution", results[0], value)
    return Section(
        "Co-evolution", sentences, (Claims("Co-evolution of both players", rows, note), _averages(results), chart)
    )


def _averages(results: Sequence[KuhnResult]) -> Table:
    rows = [
        (name, *(of_runs(column, 2) for column in zip(*genes, strict=True)))
        for name, genes in (
            ("first player", [result.average for result in results]),
            ("second player", [result.rival_average for result in results]),
        )
    ]
    heads = ("", *_CLASSIC.gene_names)
    note = f"Averages of the populations over the later half of the generations. {RUN_SPREAD}"
    return Table.of("Genes on average", heads, rows, note)


def _chart(title: str, result: KuhnResult, value: float) -> LineChart:
    xs = range(len(result.mean))
    lines = (
        Line.of("first player", xs, result.mean),
        Line.of("second player", xs, result.rivals_mean),
        value_line("value of the game", value, xs[-1]),
    )
    note = f"One run, seed {result.seed}: a mean of several would hide the fluctuations."
    return generations_chart(title, lines, note)


def _tests_of_the_fittest() -> Section:
    rows = []
    strategies: tuple[tuple[str, int, Genes], ...] = (
        ("co-evolved first player", 0, _COEVOLVED_GENES[0]),
        ("co-evolved second player", 1, _COEVOLVED_GENES[1]),
        ("mixed first player", 0, _MIXED_GENES),
    )
    for at, (who, seat, genes) in enumerate(strategies):
        for name in FOUR_MODELS:
            other = model(name, Variant.CLASSIC)
            players = (other, genes) if seat else (genes, other)
            value = expected_value(_CLASSIC, *players) * (-1 if seat else 1)
            error = standard_deviation(_CLASSIC, *players) / _TEST_HANDS**0.5
            printed, up_to = _PRINTED["won"][name][at], _PRINTED["up_to"][name][at]
            luck = (up_to - value) / error
            reasons = {
                Verdict.NOT_REPRODUCED: f"{abs(printed - value) / error:.1f} standard errors away",
                Verdict.UNDECIDED: "1,000 hands cannot distinguish it from 0, or from twice as much",
            }
            figures = (printed, f"{printed:g}"), (value, f"{value:.4f}")
            about = f"the {who} wins from {name.capitalize()}"
            interval = f"± {1.96 * error:.3f} in 1,000 hands"
            rows.append(Claim.measured(about, *figures, 2 * error, interval, reasons))
            rows.append(
                Claim(
                    f"… and up to (exact value plus {LUCK} standard errors)",
                    f"{value + LUCK * error:.3f}",
                    printed=f"{up_to:g}",
                    verdict=Verdict.LUCKY if _LEAST_LUCK <= luck <= _MOST_LUCK else Verdict.NOT_REPRODUCED,
                    why=f"{luck:.1f} standard errors of 1,000 hands above its value",
                )
            )
    note = "Ours are exact; the interval contains 95 % of the averages of 1,000 hands."
    return Section(
        "Printed strategies",
        (
            "The exact values of the printed strategies against the models. «Up to» is the highest of many averages of "
            "1,000 hands each, and so again a lucky maximum.",
        ),
        (Claims("Printed strategies against the models, chips per hand", tuple(rows), note),),
    )


def _mixed(results: Sequence[KuhnResult]) -> Section:
    rational = model("rational", Variant.CLASSIC)
    best = mixed_value(_CLASSIC, rational)
    later = [_later(result) for result in results]
    verdict, why = _judged(_PRINTED["mixed"], later)
    value = game_value(_CLASSIC)
    worst = -best_answer(_CLASSIC, 1, _MIXED_GENES).value
    known = expected_value(_CLASSIC, _MIXED_GENES, rational)
    average = [-best_answer(_CLASSIC, 1, result.average).value for result in results]
    rows = (
        over_runs(
            f"the first player's average fitness (ours: from generation {_SETTLED} on)",
            later,
            printed=f"{_PRINTED['mixed']:.3f}",
            verdict=verdict,
            why=why or f"the highest value it can guarantee is {best:.4f}",
        ),
        over_runs(
            "a considerable improvement on co-evolution: the value that the average player of the later half "
            "guarantees",
            average,
            printed=f"better than {value:.4f}",
            verdict=Verdict.REPRODUCED if fmean(average) > value else Verdict.NOT_REPRODUCED,
            why=f"no strategy guarantees more than {value:.4f}; half of the average is against Rational, who "
            "loses more",
        ),
        Claim("the printed strategy wins from Rational", f"{known:.4f}"),
        Claim("and guarantees, against any opponent", f"{worst:.4f}"),
    )
    sentences = (
        "The first player's fitness is the mean of its hands against the other population and of 1,010 hands "
        "against Rational. The average rises because Rational is a weaker opponent than an evolving one, not because "
        "the strategy is stronger.",
    )
    chart = _chart("Average fitness in the mixed approach", results[0], value)
    note = f"The interval covers all runs, from the lowest to the highest ({len(results)} runs)."
    return Section(
        "The mixed approach", sentences, (Claims("The mixed approach", rows, note), _averages(results), chart)
    )


def _larger(found: ExperimentResults) -> Section:
    rows, genes, charts, symbols_of = [], [], [], _PRINTED["coevolved_symbols"]
    for variant in (Variant.BREADTH, Variant.DEPTH, Variant.BOTH):
        game, results = KuhnGame(variant), found[f"coevolution-{variant.value}"]
        value = game_value(game)
        later = [_later(result) for result in results]
        ahead = fmean([float(np.mean(np.array(result.mean[_SETTLED:]) < 0)) for result in results])
        lost = fmean([exploitability_of(game, 0, result.fittest) for result in results])
        average = fmean([exploitability_of(game, 0, result.average) for result in results])
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
            means = [fmean(column) for column in zip(*own, strict=True)]
            genes.append((f"{variant.value}, {name} player", symbols_of[f"{variant.value}-{seat}"], symbols(means)))
        charts.append(_chart(f"Average fitness in co-evolution, {variant.value}", results[0], value))
    columns = (
        "game",
        Column("value", ",", meaning="exact value of the game for the first player"),
        Column("mean", ",", meaning=f"the first player's average fitness from generation {_SETTLED} on"),
        Column("second ahead", ",", meaning="generations in which the second player's average is above the first's"),
        Column("exploitability, fittest", ",", meaning="of the fittest first player of the last generation"),
        Column("exploitability, average", ",", meaning="of the average first player of the later half"),
        Column("seeds", ",", rank=2),
    )
    heads = (
        Column("", format=TEXT),
        Column("printed", format=CODE),
        Column("ours", meaning="on average over the later half", format=CODE),
    )
    sentences = (
        "The thesis finds no equilibrium in the larger games, and the second player ahead in general. The second "
        "player is ahead in all of them: their exact values are negative. Populations never settle in the classic "
        "game either.",
    )
    tables = (
        Table.of("Co-evolution in the larger games, chips per hand", columns, rows, RUN_SPREAD),
        Table.of("Genes of co-evolution in the larger games", heads, genes),
    )
    return Section("Co-evolution in the larger games", sentences, (*tables, *charts))
