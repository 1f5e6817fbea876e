"""The report on Kuhn poker: every claim, table and figure of the thesis compared with ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product
from statistics import fmean, variance
from typing import Final

from bots.kuhn.evolution import SelectionKind
from bots.kuhn.games import CARDS, Genes, KuhnGame, Variant, model
from bots.kuhn.runs import KuhnResult, answers_chance, best_answer, expected_value, exploitability_of
from bots.studies.kuhn_runs import FIXED, FOUR_MODELS, ExperimentResults
from bots.studies.kuhn_sections import (
    RUN_SPREAD,
    generations_chart,
    mean_line,
    model_sections,
    of_runs,
    over_runs,
    range_verdict,
    rival_sections,
    value_line,
)
from bots.studies.report import Claim, Claims, Report, Section, Verdict, printed_figures
from logs.document import NAME, TEXT, Column, Table
from logs.estimation.mean import signed


def kuhn_report(found: ExperimentResults) -> Report:
    sections = (
        *model_sections(found),
        *_study_sections(found),
        *rival_sections(found),
        _relations(),
        _hand_calculations(),
    )
    runs = sum(map(len, found.values()))
    most = max(map(len, found.values()))
    facts = (
        ("runs", f"{runs:,}"),
        ("seeds", f"{most} of 100 generations against a model; fewer of longer runs, see the tables"),
        ("population", "1,010"),
        ("hands behind a fitness", "1,010"),
    )
    return Report(
        "Kuhn poker by genetic algorithms: the claims of the thesis", tuple(_summary(found, sections)), facts, sections
    )


def _summary(found: ExperimentResults, sections: tuple[Section, ...]) -> Iterator[str]:
    results = found["classic-rational-1"]
    possible = best_answer(KuhnGame(), 0, model("rational", Variant.CLASSIC)).value
    record, value = (
        fmean([result.record for result in results]),
        fmean([result.record_value or 0 for result in results]),
    )
    yield (
        "A fitness is the noisy mean of 1,010 hands, and the highest of about 100,000 of them measures mostly luck. "
        f"Against Rational, no strategy wins more than {possible:.4f} chips per hand in the first seat. The highest "
        f"fitness of a run is {record:.4f} on average, {record / possible:.1f} times as much, and the strategy that "
        f"had it wins {value:.4f}. Nearly every best result of the thesis is such a maximum: the highest possible "
        "value plus 4.3 standard errors. A champion must be evaluated on hands that did not select it, or exactly."
    )
    rows = list(chain.from_iterable(part.rows for one in sections for part in one.parts if isinstance(part, Claims)))
    counts = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    printed = sum(counts.values()) - counts[Verdict.NOT_PRINTED]
    yield (
        f"Of {printed} printed figures, {counts[Verdict.REPRODUCED]} are reproduced, {counts[Verdict.LUCKY]} only as "
        f"lucky maxima, {counts[Verdict.NOT_REPRODUCED]} are not reproduced, and "
        f"{counts[Verdict.UNDECIDED]} are undecided. "
        "The genetic algorithm itself works as described: populations approach the best responses within about 10 to "
        "30 generations."
    )


def _relations() -> Section:
    game = KuhnGame()
    strategies = {name: model(name, Variant.CLASSIC) for name in FOUR_MODELS}
    won = {
        (one, other): (
            expected_value(game, strategies[one], strategies[other])
            - expected_value(game, strategies[other], strategies[one])
        )
        / 2
        for one, other in product(FOUR_MODELS, repeat=2)
    }
    rows = [(one.capitalize(), *(signed(won[one, other], 4) for other in FOUR_MODELS)) for one in FOUR_MODELS]
    beaten = [f"{one.capitalize()} beats {other.capitalize()}" for (one, other), chips in won.items() if chips > 1e-9]
    return Section(
        "Relations of the models",
        (
            f"The thesis compares its models by 1,000 games in each seat. Exactly: {', '.join(beaten)}. So few games "
            "cannot decide the closest of these differences.",
        ),
        (
            Table.of(
                "Chips per hand, mean of both seats, exact", ("wins from", *map(str.capitalize, FOUR_MODELS)), rows
            ),
        ),
    )


def _hand_calculations() -> Section:
    game = KuhnGame()
    bluffer, rational = model("bluffer", Variant.CLASSIC), model("rational", Variant.CLASSIC)
    bets, calls, folds = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 1.0, 0.0), (0.0,) * 6
    king_bets, king_calls = (0.0, 0.0, 1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    sums = (
        ("first player, queen against Rational: bets", -0.5, _with_card(game, rational, 1, bets)),
        ("checks and calls", -0.5, _with_card(game, rational, 1, calls)),
        ("checks and folds", 0.0, _with_card(game, rational, 1, folds)),
        ("first player, king against Bluffer: bets", 1.35, _with_card(game, bluffer, 2, king_bets)),
        ("checks and folds", -0.2, _with_card(game, bluffer, 2, folds)),
        ("checks and calls", 1.6, _with_card(game, bluffer, 2, king_calls)),
        ("second player, king, Bluffer has checked: bets", 1.16, _king_behind_a_check(bluffer)),
    )
    rows = [
        Claim.plain(quantity, f"{printed:g}", f"{exact:.4f}", abs(printed - exact) < 1e-9, "an arithmetic error")
        for quantity, printed, exact in sums
    ]
    return Section(
        "Sums of the text",
        ("Figures that the thesis computes by hand, compared with the exact ones.",),
        (Claims("Average earnings, chips per hand", tuple(rows)),),
    )


def _with_card(game: KuhnGame, second: Genes, card: int, first: Genes) -> float:
    total = 0.0
    for other in range(len(CARDS)):
        if other != card:
            for _, answers, chips, is_showdown in game.lines():
                chance = answers_chance(first, answers[0], card) * answers_chance(second, answers[1], other)
                total += chance * (-chips if is_showdown and card < other else chips)
    return total / (len(CARDS) - 1)


def _king_behind_a_check(bluffer: Genes) -> float:
    checks = [1 - bluffer[0], 1 - bluffer[1]]
    calls = [bluffer[3], bluffer[4]]
    return sum(check * (1 + call) for check, call in zip(checks, calls, strict=True)) / sum(checks)


_SELECTIONS: Final = tuple(kind.value for kind in SelectionKind)
_SAME: Final = 2.0
"""Standard errors of a difference below which nothing can be said about it."""


def _study_sections(found: ExperimentResults) -> Iterator[Section]:
    yield _selections(found)
    yield _starts_and_crossovers(found)
    yield _listing(found)
    yield _exact(found)


def _means_at(results: Sequence[KuhnResult], generation: int) -> list[float]:
    return [result.mean[generation] for result in results]


def _selections(found: ExperimentResults) -> Section:
    rows = []
    printed = printed_figures("kuhn")
    for selection, generation, figure in (
        ("tournament", 100, printed["selection"]),
        ("rank", 100, printed["selection"]),
        ("roulette", 500, printed["roulette"]),
    ):
        values = _means_at(found[f"classic-rational-1-{selection}"], generation)
        verdict, why = range_verdict(figure, values)
        about = f"{selection}, mean fitness against Rational after {generation} generations"
        rows.append(over_runs(about, values, printed=f"{figure:.2f}", verdict=verdict, why=why))
    table, charts, generations = [], [], (10, 50, 100, 200, 500)
    for name in FOUR_MODELS:
        runs = {selection: found[f"classic-{name}-1-{selection}"] for selection in _SELECTIONS}
        for selection, results in runs.items():
            table.append(
                (
                    name.capitalize(),
                    selection,
                    *(of_runs(_means_at(results, generation), 3) for generation in generations),
                    str(len(results)),
                )
            )
        possible = best_answer(KuhnGame(), 0, model(name, Variant.CLASSIC)).value
        for what in ("mean", "best"):
            curves = {selection: [getattr(result, what) for result in results] for selection, results in runs.items()}
            lines = tuple(mean_line(selection, curve) for selection, curve in curves.items())
            lines = (*map(mean_line, curves, curves.values()), value_line("possible", possible, 500))
            charts.append(
                generations_chart(f"{what.capitalize()} fitness against {name.capitalize()}, by selection", lines)
            )
    heads: tuple[str | Column, ...] = (
        "against",
        Column("selection", format=NAME),
        *map(str, generations),
        Column("seeds", ",", rank=2),
    )
    view = Table.of("Mean fitness by generation", heads, table, RUN_SPREAD, is_grouped=True)
    note = "The interval covers all runs, from the lowest to the highest."
    return Section(
        "Selection",
        (
            "A tournament of two and the rank wheel have the same selection pressure. The roulette wheel, with 2 "
            "added to every fitness, hardly separates good strategies from bad ones.",
        ),
        (Claims("Selection, chips per hand", tuple(rows), note), view, *charts),
    )


def _starts_and_crossovers(found: ExperimentResults) -> Section:
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
        lines = tuple(mean_line(way, [result.mean for result in results]) for way, results in runs.items())
        charts.append(generations_chart(f"Mean fitness against {name.capitalize()}, by start and crossover", lines))
    heads = (
        "against",
        Column("", format=NAME),
        "generation 100",
        Column("generation 20", ",", rank=1),
        Column("difference at 100", format=TEXT),
        Column("seeds", ",", rank=2),
    )
    note = f"{RUN_SPREAD} A difference of less than 2 standard errors is undecided."
    view = Table.of("Mean fitness, chips per hand", heads, rows, note)
    sentences = (
        "The thesis finds a uniform start and uniform crossover slightly better, from one run of each. The table has "
        "the differences of means over several runs, with their standard errors.",
    )
    return Section("Start and crossover", sentences, (view, *charts))


def _difference(values: Sequence[float], base: Sequence[float]) -> str:
    if len(values) < 2 or len(base) < 2:
        return ""
    error = sum(variance(column) / len(column) for column in (values, base)) ** 0.5
    difference = fmean(values) - fmean(base)
    word = "" if abs(difference) > _SAME * error else ", undecided"
    return f"{round(difference, 4) + 0.0:+.4f} (standard error {error:.4f}{word})"


def _listing(found: ExperimentResults) -> Section:
    rank, listed = found["classic-rational-1-rank"], found["classic-rational-1-rank-as-listed"]
    second, wrong = found["classic-rational-2"], found["classic-rational-2-as-listed"]
    mixed, halved = found["mixed-classic"], found["mixed-classic-as-listed"]
    rows = (
        (
            "the second player is paid what the model wins",
            _at_end(second),
            _at_end(wrong),
            "the worst strategies are selected",
        ),
        (
            "the rank wheel never draws the fittest",
            of_runs(_means_at(rank, FIXED)),
            of_runs(_means_at(listed, FIXED)),
            "the next fittest do as well",
        ),
        (
            "the mixed approach halves all sums after every hand",
            of_runs([_sure(result) for result in mixed]),
            of_runs([_sure(result) for result in halved]),
            "only the last hands count, so nothing is learnt",
        ),
        (
            "the roulette wheel adds nothing to fitness",
            "",
            "it ends the run",
            "the sum of all fitness values is negative at first",
        ),
        (
            "a tournament begins with a best of -1",
            "",
            "",
            "the first of the population wins among those at -1 or below",
        ),
    )
    heads = (
        Column("mistake", format=TEXT),
        Column("corrected", ",", rank=2),
        "as listed",
        Column("effect", format=TEXT),
    )
    note = (
        f"Mean fitness after {FIXED} generations against Rational in chips per hand; of the mixed approach, the value "
        f"that the average player of the later half guarantees. {RUN_SPREAD} The seat with wrong payoffs shows these "
        "payoffs."
    )
    view = Table.of("Mistakes in the listing", heads, rows, note)
    sentences = (
        "The printed program cannot have produced the printed results: it would select bad second players, and its "
        "mixed approach would learn nothing. The results agree with the text. --as-published enables all mistakes.",
    )
    return Section("The listing", sentences, (view,))


def _at_end(results: Sequence[KuhnResult]) -> str:
    return of_runs([result.mean[-1] for result in results])


def _sure(result: KuhnResult) -> float:
    return -best_answer(KuhnGame(), 1, result.average).value


def _exact(found: ExperimentResults) -> Section:
    possible = best_answer(KuhnGame(), 0, model("rational", Variant.CLASSIC)).value
    rows = []
    for way, results in (("1,010 hands", found["classic-rational-1"]), ("exact", found["classic-rational-1-exact"])):
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
    heads = (Column("", format=TEXT), "mean", "best", "its value", Column("seeds", ",", rank=2))
    rival_heads = (
        Column("co-evolution", format=TEXT),
        "fittest first player",
        "average first player",
        "average second player",
        Column("seeds", ",", rank=2),
    )
    note = f"No strategy wins more than {possible:.4f} from Rational. {RUN_SPREAD}"
    tables = (
        Table.of("Fitness sampled and exact", heads, rows, note),
        Table.of(
            "Exploitability, chips per hand",
            rival_heads,
            rivals,
            f"Gain of the best response over the value of the game. {RUN_SPREAD}",
        ),
    )
    sentences = (
        "With exact fitness, the best of all generations wins its reported value. Sampling costs the population "
        "little, because selection averages over its members, but it inflates the reported figure. The thesis "
        "describes halls of fame and never uses them.",
    )
    return Section("Exact fitness, and halls of fame", sentences, tables)
