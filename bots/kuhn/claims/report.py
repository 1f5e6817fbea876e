"""The report: every claim, table and figure of the work, with ours beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, permutations

from bots.findings import Comparison, Comparisons, Report, Section, TableView, Verdict
from bots.kuhn.claims.against_models import model_sections
from bots.kuhn.claims.against_rivals import rival_sections
from bots.kuhn.claims.experiments import FOUR_MODELS
from bots.kuhn.claims.figures import mean_of
from bots.kuhn.claims.gathering import Gathered
from bots.kuhn.claims.studies import study_sections
from bots.kuhn.games import CARDS, Genes, KuhnGame, Variant
from bots.kuhn.models import model
from bots.kuhn.values import best_answer, expected_value

__all__ = ["claims_report"]


def claims_report(found: Gathered) -> Report:
    """The report on the results of all experiments."""
    sections = (
        *model_sections(found),
        *study_sections(found),
        *rival_sections(found),
        _relations(),
        _hand_calculations(),
    )
    runs = sum(map(len, found.values()))
    most = max(map(len, found.values()))
    facts = (
        ("runs", f"{runs:,}"),
        ("seeds", f"{most} of 100 generations against a model; fewer of longer runs, as the tables say"),
        ("population", "1,010"),
        ("hands behind a fitness", "1,010"),
    )
    return Report(
        "Kuhn poker by genetic algorithms: what became of the claims", tuple(_lesson(found, sections)), facts, sections
    )


def _lesson(found: Gathered, sections: tuple[Section, ...]) -> Iterator[str]:
    """What one learns."""
    results = found["classic-rational-1"]
    possible = best_answer(KuhnGame(), 0, model("rational", Variant.CLASSIC)).value
    record, value = (
        mean_of([result.record for result in results]),
        mean_of([result.record_value or 0 for result in results]),
    )
    yield (
        "A fitness of 1,010 hands is a noisy one, and the best of 100,000 noisy figures is no measurement of "
        f"anything. Against Rational nobody can win more than {possible:.4f} chips per hand in the first seat; the "
        f"highest fitness of a run is {record:.4f} on average, {record / possible:.1f} times as much, and the "
        f"strategy that had it wins {value:.4f}. Nearly every «best» of the work is such a figure. What it can be "
        "told from beforehand is the luck: the best possible, and 4.3 standard errors. A champion has to be "
        "measured again, by hands that did not choose it, or exactly, which needs no hand "
        "at all."
    )
    rows = list(
        chain.from_iterable(part.rows for one in sections for part in one.parts if isinstance(part, Comparisons))
    )
    counts = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    yield (
        f"Of {sum(counts.values()) - counts[Verdict.NOT_PRINTED]} printed figures {counts[Verdict.REPRODUCED]} are "
        f"reproduced, {counts[Verdict.LUCKY]} only as lucky maxima, and {counts[Verdict.NOT_REPRODUCED]} are not. "
        "The genetic algorithm itself works as described: populations come near the best answers within ten to some "
        "thirty generations."
    )


def _relations() -> Section:
    """Figure 5.2: who beats whom, exactly."""
    game = KuhnGame()
    strategies = {name: model(name, Variant.CLASSIC) for name in FOUR_MODELS}
    rows = []
    for one in FOUR_MODELS:
        cells = []
        for other in FOUR_MODELS:
            first = expected_value(game, strategies[one], strategies[other])
            second = -expected_value(game, strategies[other], strategies[one])
            cells.append(f"{round((first + second) / 2, 9) + 0.0:+.4f}")
        rows.append((one.capitalize(), *cells))
    beaten = [
        (one, other)
        for one, other in permutations(FOUR_MODELS, 2)
        if rows[FOUR_MODELS.index(one)][1 + FOUR_MODELS.index(other)].startswith("+")
        and float(rows[FOUR_MODELS.index(one)][1 + FOUR_MODELS.index(other)]) > 0
    ]
    said = ", ".join(f"{one.capitalize()} beats {other.capitalize()}" for one, other in beaten)
    heads = (("wins from", ""), *((name.capitalize(), "") for name in FOUR_MODELS))
    return Section(
        "Who beats whom",
        (
            f"The work draws the relations of its models after 1,000 games in each seat. Exactly: {said}. The "
            "closest of these differences cannot be decided by so few games.",
        ),
        (TableView("Chips per hand, mean of both seats, exact", heads, tuple(rows)),),
    )


def _hand_calculations() -> Section:
    """What the work computes by hand in its text."""
    game = KuhnGame()
    bluffer, rational = model("bluffer", Variant.CLASSIC), model("rational", Variant.CLASSIC)

    queen_bets, queen_calls, queen_folds = ((0.0, 1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 1.0, 0.0), (0.0,) * 6)
    king_bets, king_calls, king_folds = ((0.0, 0.0, 1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (0.0,) * 6)
    rows = [
        _said("first player, queen against Rational: bets", -0.5, _with_card(game, rational, 1, queen_bets)),
        _said("checks and calls", -0.5, _with_card(game, rational, 1, queen_calls)),
        _said("checks and folds", 0.0, _with_card(game, rational, 1, queen_folds)),
        _said("first player, king against Bluffer: bets", 1.35, _with_card(game, bluffer, 2, king_bets)),
        _said("checks and folds", -0.2, _with_card(game, bluffer, 2, king_folds)),
        _said("checks and calls", 1.6, _with_card(game, bluffer, 2, king_calls)),
        _said("second player, king, Bluffer has checked: bets", 1.16, _king_behind_a_check(bluffer)),
    ]
    return Section(
        "Sums of the text",
        ("What the work computes by hand, beside the exact figures.",),
        (Comparisons("Average earnings, chips per hand", tuple(rows)),),
    )


def _said(quantity: str, printed: float, exact: float) -> Comparison:
    is_right = abs(printed - exact) < 1e-9
    return Comparison(
        quantity=quantity,
        ours=f"{exact:.4f}",
        printed=f"{printed:g}",
        verdict=Verdict.REPRODUCED if is_right else Verdict.NOT_REPRODUCED,
        why="" if is_right else "a slip of the pen or of the sum",
    )


def _with_card(game: KuhnGame, second: Genes, card: int, first: Genes) -> float:
    """What a first player wins with a card, on average over the two that the second may hold."""
    total = 0.0
    for other in range(len(CARDS)):
        if other != card:
            for _, answers, chips, is_showdown in game.lines():
                chance = _chance(first, answers[0], card) * _chance(second, answers[1], other)
                total += chance * (-chips if is_showdown and card < other else chips)
    return total / (len(CARDS) - 1)


def _chance(genes: Genes, answers: Sequence[tuple[int, bool]], card: int) -> float:
    chances = (genes[len(CARDS) * row + card] if yes else 1 - genes[len(CARDS) * row + card] for row, yes in answers)
    return math.prod(chances)


def _king_behind_a_check(bluffer: Genes) -> float:
    """What a bet of the second player's king wins after a check, which only a jack or a queen gives."""
    checks = [1 - bluffer[0], 1 - bluffer[1]]
    calls = [bluffer[3], bluffer[4]]
    return sum(check * (1 + call) for check, call in zip(checks, calls, strict=True)) / sum(checks)
