"""What strategies are worth, exactly, in chips per hand: no hand is played for any of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Final, NamedTuple

import numpy as np

from bots.kuhn.games import CARDS, Genes, KuhnGame, sequence_form_of
from bots.solving import sequence_form as of_plans
from bots.solving.sequence_form import Chances, Choice, Plan, plan_of


class BestAnswer(NamedTuple):
    """The best that a seat can do against a strategy.

    Attributes:
        value: what it wins on average, in chips per hand.
        genes: how: 0 or 1 each, 0 where both are as good.
        gaps: for each gene, what yes wins more than no, in chips times the probability that the cards and the opponent
            lead there, with the best play after it; None where they never do.
    """

    value: float
    genes: Genes
    gaps: tuple[float | None, ...]

    def symbols(self) -> str:
        """A symbol for each gene: 0, 1, ``~`` where both are as good, ``.`` where the opponent never lets it decide."""
        return "".join("." if gap is None else "~" if abs(gap) < _TIE else "01"[gap > 0] for gap in self.gaps)


_TIE: Final = 1e-9


def plan_of_genes(game: KuhnGame, seat: int, genes: Sequence[float]) -> Plan:
    """A strategy as a plan of the seat 0 or 1.

    Raises:
        EvolutionError: there are too few or too many genes, or one is no probability.
    """
    yes = np.array(game.require_genes(genes)).reshape(-1, len(CARDS))
    rows = game.rows

    def chances(choice: Choice) -> Chances:
        chance = yes[rows.index(choice.name)]
        return np.stack([1 - chance, chance])

    return plan_of(sequence_form_of(game), seat, chances)


def expected_value(game: KuhnGame, first: Sequence[float], second: Sequence[float]) -> float:
    """What the first player wins on average.

    Raises:
        EvolutionError: as `plan_of_genes`.
    """
    plans = plan_of_genes(game, 0, first), plan_of_genes(game, 1, second)
    return of_plans.expected_value(sequence_form_of(game), plans)


def exploitability(game: KuhnGame, first: Sequence[float], second: Sequence[float]) -> float:
    """What both lose on average to their best answers; 0 in an equilibrium.

    Raises:
        EvolutionError: as `plan_of_genes`.
    """
    plans = plan_of_genes(game, 0, first), plan_of_genes(game, 1, second)
    return of_plans.exploitability(sequence_form_of(game), plans)


def best_answer(game: KuhnGame, seat: int, opponent: Sequence[float]) -> BestAnswer:
    """The best that the seat 0 or 1 can do against a strategy in the other seat.

    Raises:
        EvolutionError: as `plan_of_genes`.
    """
    form = sequence_form_of(game)
    other = plan_of_genes(game, 1 - seat, opponent)
    values = of_plans.sequence_values(form, seat, other)
    reached = _reached(game, seat, opponent)
    rows = game.rows
    genes = np.zeros((len(rows), len(CARDS)))
    gaps: list[list[float | None]] = [[None] * len(CARDS) for _ in rows]
    for choice in reversed(form.choices[seat]):
        no, yes = values[choice.sequences]
        row = rows.index(choice.name)
        genes[row] = yes > no
        gaps[row] = [float(gap) if there else None for gap, there in zip(yes - no, reached[row], strict=True)]
        values[choice.parent] += np.maximum(no, yes)
    return BestAnswer(float(values[0].sum()), tuple(genes.ravel().tolist()), tuple(gap for row in gaps for gap in row))


def _reached(game: KuhnGame, seat: int, opponent: Sequence[float]) -> Sequence[Sequence[bool]]:
    reached = [[False] * len(CARDS) for _ in game.rows]
    for own, other in permutations(range(len(CARDS)), 2):
        for line in game.lines():
            if _chance(opponent, line.answers[1 - seat], other):
                for row, _ in line.answers[seat]:
                    reached[row][own] = True
    return reached


def _chance(genes: Sequence[float], answers: Sequence[tuple[int, bool]], card: int) -> float:
    chances = [genes[row * len(CARDS) + card] for row, _ in answers]
    return math.prod(chance if yes else 1 - chance for chance, (_, yes) in zip(chances, answers, strict=True))


def payoffs(game: KuhnGame, first: Sequence[float], second: Sequence[float]) -> Mapping[int, float]:
    """The probability of everything that the first player can win in a hand, in chips, by amount.

    Raises:
        EvolutionError: as `plan_of_genes`.
    """
    first, second = game.require_genes(first), game.require_genes(second)
    found: dict[int, float] = {}
    deals = list(permutations(range(len(CARDS)), 2))
    for _, answers, chips, is_showdown in game.lines():
        for one, other in deals:
            chance = _chance(first, answers[0], one) * _chance(second, answers[1], other) / len(deals)
            won = -chips if is_showdown and one < other else chips
            if chance:
                found[won] = found.get(won, 0.0) + chance
    return dict(sorted(found.items()))


def spread(game: KuhnGame, first: Sequence[float], second: Sequence[float]) -> float:
    """The standard deviation of what the first player wins in a hand.

    Raises:
        EvolutionError: as `plan_of_genes`.
    """
    chances = payoffs(game, first, second)
    mean = sum(won * chance for won, chance in chances.items())
    return math.sqrt(sum((won - mean) ** 2 * chance for won, chance in chances.items()))
