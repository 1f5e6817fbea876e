"""Figures over seeds, and how they are told."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from bots.findings import Comparison, Comparisons, Line, LineChart, Report, Section, TableView, Verdict
from bots.kuhn.evolution import KuhnSettings, OppositionKind
from bots.kuhn.games import CARDS, KuhnGame, Variant, models
from bots.kuhn.runs import KuhnResult
from bots.kuhn.values import best_answer, spread
from bots.studies.kuhn.printed import BEST, GENES
from bots.studies.kuhn.runs import FIXED, FOUR_MODELS, Experiment, Gathered, experiments

__all__ = [
    "LUCK",
    "RUN_SPREAD",
    "band",
    "differing",
    "fitness_report",
    "law",
    "level",
    "mean_of",
    "model_sections",
    "of_runs",
    "range_verdict",
    "symbols",
]

RUN_SPREAD: Final = "± is the standard deviation from run to run."
_WIDE: Final = 3.0
"""A printed figure counts as one of ours where it lies as near as 99.7 % of further runs would: this many standard
deviations, if those were known."""
_PRINT: Final = 0.005
"""Half a unit of the last digit that the work prints."""
_CONVERGED: Final = 0.05
_SMALL: Final = 0.25
_AGREES: Final = 0.2
"""How far from a printed 0 or 1 a mean gene may lie."""


def mean_of(values: Sequence[float]) -> float:
    """The mean."""
    return statistics.fmean(values)


def spread_of(values: Sequence[float]) -> float | None:
    """The standard deviation; None of a single value."""
    return statistics.stdev(values) if len(values) > 1 else None


def of_runs(values: Sequence[float], digits: int = 4) -> str:
    """Mean and standard deviation as text."""
    deviation = spread_of(values)
    return f"{mean_of(values):.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def mean_rows(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The mean of each column."""
    return tuple(map(statistics.fmean, zip(*rows, strict=True)))


def symbols(genes: Sequence[float]) -> str:
    """Genes as the work writes them, three to a row; see `bots.studies.kuhn.printed`."""

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
    """How many standard deviations of so many runs, two or more, a further one may lie from their mean.

    Student's distribution by the expansion of Cornish and Fisher, exact enough from five runs on.
    """
    z, n = _WIDE, runs - 1
    student = z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
    student += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    widened: float = student * (1 + 1 / runs) ** 0.5
    return widened


def range_verdict(printed: float, values: Sequence[float], possible: float) -> tuple[Verdict, str]:
    """What became of a printed best fitness.

    Args:
        printed: the figure.
        values: ours.
        possible: what nobody exceeds on average.
    """
    spread = spread_of(values)
    room = None if spread is None else _further_run(len(values)) * spread + _PRINT
    verdict = Verdict.within(printed, mean_of(values), room)
    if verdict is Verdict.REPRODUCED and printed > possible + _PRINT:
        return Verdict.LUCKY, f"nobody wins more than {possible:.4f}"
    if verdict is Verdict.REPRODUCED:
        return verdict, ""
    return verdict, f"{len(values)} runs lie from {min(values):.2f} to {max(values):.2f}"


def band(name: str, curves: Sequence[Sequence[float]]) -> Line:
    """The mean of some curves over the generations, and what lies within a standard deviation of it."""
    heights = np.array(curves)
    mean = heights.mean(axis=0)
    deviation = heights.std(axis=0, ddof=1) if len(heights) > 1 else np.zeros_like(mean)
    return Line(
        name=name,
        xs=tuple(range(heights.shape[1])),
        ys=tuple(mean.tolist()),
        low=tuple((mean - deviation).tolist()) if len(heights) > 1 else (),
        high=tuple((mean + deviation).tolist()) if len(heights) > 1 else (),
    )


def level(name: str, height: float, generations: int) -> Line:
    """An exact value as a dashed line."""
    return Line(name=name, xs=(0, generations), ys=(height, height), is_dashed=True)


def fitness_report(settings: KuhnSettings, results: Sequence[KuhnResult]) -> Report:
    """The fitness of some runs of the same settings, as a page."""
    lines = [band("mean", [result.mean for result in results])]
    if settings.opposition is OppositionKind.MODEL:
        possible = best_answer(settings.rules, settings.seat - 1, settings.model).value
        best = band("best", [result.best for result in results])
        lines = [best, *lines, level("best possible", possible, len(results[0].mean) - 1)]
    else:
        lines.append(band("mean of the rivals", [result.rivals_mean for result in results]))
    note = (
        "" if len(results) == 1 else f"Means over {len(results)} seeds; bands are a standard deviation wide each way."
    )
    chart = LineChart(title="Fitness", x_label="generation", y_label="chips per hand", lines=tuple(lines), note=note)
    facts = tuple((name, str(value)) for name, value in settings.as_data().items() if name not in ("seed", "model"))
    return Report("Strategies evolved", (), facts, (Section("Fitness by generation", (), (chart,)),))


LUCK: Final = 4.3
"""Standard errors by which the highest of about 101,000 means lies above what is possible."""
_TITLES: Final = {
    Variant.CLASSIC: "Kuhn poker against the models",
    Variant.BREADTH: "Three sizes of bets against the models",
    Variant.DEPTH: "One raise against the models",
    Variant.BOTH: "Sizes and a raise against the models",
}
_SENTENCES: Final = {
    Variant.CLASSIC: (
        "The work evolves 1,010 strategies for 100 generations against each of its models, and gives the highest "
        "fitness of any strategy in any generation as what the strategy wins. A fitness is the mean of 1,010 hands. "
        "The highest of about 101,000 such means lies 4.3 standard errors above what can be won at all: the column "
        "«law» is that, and the printed figures are it.",
    ),
    Variant.BREADTH: (
        "By the printed rules nobody can win 1.24 from Rational. If the second player answered a bet of 10 by its "
        "genes for a bet of 2, the printed figures for Rational and Bluffer and the printed genes come out: a "
        "mistake in a part of the program that is not printed.",
    ),
    Variant.DEPTH: ("The same law holds with one raise.",),
    Variant.BOTH: (
        "The printed answers to the Bluffer cannot have been evolved against the printed Bluffer, which always bets "
        "first: no row of bets could converge in the second seat. Against a cautious model with other answers to a "
        "bet of 10 the printed genes come out, and figures near the printed ones: that model is a conjecture.",
    ),
}


def law(experiment: Experiment) -> float:
    """What the highest fitness of a run comes to: the best possible, and so much luck."""
    settings = experiment.settings
    answer = best_answer(settings.rules, settings.seat - 1, settings.model)
    players = (answer.genes, settings.model) if settings.seat == 1 else (settings.model, answer.genes)
    error: float = spread(settings.rules, *players) / settings.games**0.5
    return answer.value + LUCK * error


def model_sections(found: Gathered) -> Iterator[Section]:
    """A section for each game."""
    for variant in Variant:
        mine = [one for one in experiments() if one.settings.game is variant and _is_of_models(one)]
        parts = (_comparisons(variant, mine, found), _exact(mine, found), _genes(variant, mine, found))
        charts = _charts(mine, found) if variant is Variant.CLASSIC else ()
        yield Section(_TITLES[variant], _SENTENCES[variant], (*parts, *charts))


def _is_of_models(experiment: Experiment) -> bool:
    about = experiment.name.split("-", 3)[3:]
    is_fixed = bool(experiment.settings.model) and experiment.generations == FIXED
    return is_fixed and (not about or about[0] in ("tens-as-twos", "conjectured"))


def _name(experiment: Experiment) -> str:
    """Opponent and seat in words."""
    settings = experiment.settings
    known = {genes: name.capitalize() for name, genes in models(settings.game).items() if name in FOUR_MODELS}
    if settings.game is Variant.CLASSIC:
        known |= {genes: name.capitalize() for name, genes in models(settings.game).items() if name not in FOUR_MODELS}
    name = known.get(settings.model, "a conjectured Bluffer")
    rule = ", tens answered as twos" if settings.tens_as_twos else ""
    return f"{name}, seat {settings.seat}{rule}"


def _key(experiment: Experiment) -> tuple[str, int]:
    _, name, seat, *_ = experiment.name.split("-")
    return name, int(seat)


def _comparisons(variant: Variant, mine: Sequence[Experiment], found: Gathered) -> Comparisons:
    rows = []
    for experiment in mine:
        printed = BEST[variant][_key(experiment)]
        settings = experiment.settings
        possible = best_answer(settings.rules, settings.seat - 1, settings.model).value
        records = [result.record for result in found[experiment.name]]
        verdict, why = range_verdict(printed, records, possible)
        if verdict is Verdict.NOT_REPRODUCED and printed > possible:
            why = f"nobody wins more than {possible:.4f}; {why}"
        rows.append(
            Comparison(
                quantity=_name(experiment),
                ours=f"{mean_of(records):.3f}",
                interval=f"{min(records):.3f} to {max(records):.3f}",
                printed=f"{printed:.2f}",
                verdict=verdict,
                why=why,
            )
        )
    note = "Ours is the mean over the seeds; the interval holds all of them, from the lowest to the highest."
    return Comparisons("The highest fitness of all generations, chips per hand", tuple(rows), note)


def _exact(mine: Sequence[Experiment], found: Gathered) -> TableView:
    rows = []
    for experiment in mine:
        settings, results = experiment.settings, found[experiment.name]
        possible = best_answer(settings.rules, settings.seat - 1, settings.model).value
        rows.append(
            (
                _name(experiment),
                f"{possible:.4f}",
                of_runs([result.mean[-1] for result in results]),
                of_runs([result.record for result in results]),
                f"{law(experiment):.3f}",
                of_runs([_value(result) for result in results]),
                str(_converged_at(results)),
                str(len(results)),
            )
        )
    columns = (
        ("", ""),
        ("possible", "what the best answer wins, exactly"),
        ("mean", "fitness of the population in generation 100"),
        ("best", "the highest fitness of all generations"),
        ("law", "possible, and 4.3 standard errors of 1,010 hands"),
        ("its value", "what the strategy with the highest fitness wins, exactly"),
        ("95 % at", "the generation in which 95 % of the gain of the mean is reached"),
        ("seeds", ""),
    )
    return TableView("What can be won, and what the best strategy is worth", columns, tuple(rows), RUN_SPREAD)


def _value(result: KuhnResult) -> float:
    return result.record_value if result.record_value is not None else 0.0


def _converged_at(results: Sequence[KuhnResult]) -> int:
    mean = np.array([result.mean for result in results]).mean(axis=0)
    return int(np.argmax(mean >= mean[0] + 0.95 * (mean[-1] - mean[0])))


def _genes(variant: Variant, mine: Sequence[Experiment], found: Gathered) -> TableView:
    game = KuhnGame(variant)
    rows = []
    for experiment in mine:
        settings = experiment.settings
        printed = GENES[variant][_key(experiment)]
        genes = mean_rows([result.genes for result in found[experiment.name]])
        others = differing(printed, genes, game.gene_names)
        answer = best_answer(settings.rules, settings.seat - 1, settings.model).symbols()
        free = [name for name, sign in zip(game.gene_names, answer, strict=True) if sign in "~."]
        is_idle = all(other.rsplit(" ", 1)[0] in free for other in others)
        idle = "; nothing depends on them" if is_idle else ""
        rows.append(
            (
                _name(experiment),
                printed,
                symbols(genes),
                " ".join(answer[at : at + 3] for at in range(0, len(answer), 3)),
                (Verdict.NOT_REPRODUCED if others else Verdict.REPRODUCED).value,
                "here " + ", ".join(others) + idle if others else "",
            )
        )
    note = (
        "By row of the chromosome, J Q K: 0 and 1 beyond 0.05 and 0.95, v below 0.25, ^ above 0.75, ~ between; ours "
        "are the means of the last population and over the seeds. In the exact best answer ~ is indifferent and . "
        "is never asked. Reproduced: every gene printed as 0 or 1 lies within 0.2 of it."
    )
    heads = ("", "printed", "ours", "best answer", "verdict", "because")
    return TableView("What the genes converge to", tuple((head, "") for head in heads), tuple(rows), note)


def _charts(mine: Sequence[Experiment], found: Gathered) -> tuple[LineChart, ...]:
    charts = []
    for experiment in mine:
        settings, results = experiment.settings, found[experiment.name]
        if settings.seat == 2 or _key(experiment)[0] not in FOUR_MODELS:
            continue
        possible = best_answer(settings.rules, settings.seat - 1, settings.model).value
        charts.append(
            LineChart(
                title=f"Fitness against {_name(experiment)}",
                x_label="generation",
                y_label="chips per hand",
                lines=(
                    band("best", [result.best for result in results]),
                    band("mean", [result.mean for result in results]),
                    level("possible", possible, experiment.generations),
                ),
                note="Means over the seeds; bands are a standard deviation wide each way.",
            )
        )
    return tuple(charts)
