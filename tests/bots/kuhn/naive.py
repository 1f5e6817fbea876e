"""Slow, obvious twin of the four games: questions to two strategies in turn, in exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import TypeAlias

from bots.kuhn.games import KuhnGame, Variant, sequence_form_of
from bots.kuhn.runs import plan_of_genes
from bots.solving import sequence_form as of_plans

Strategy: TypeAlias = Mapping[str, Sequence[Fraction]]
"""Probability of yes by row and card."""


def exploitability(game: KuhnGame, first: Sequence[float], second: Sequence[float]) -> float:
    """Return the mean loss of both players to their best responses; 0 in an equilibrium."""
    plans = plan_of_genes(game, 0, first), plan_of_genes(game, 1, second)
    return of_plans.exploitability(sequence_form_of(game), plans)


def strategy(game: KuhnGame, genes: Sequence[float]) -> Strategy:
    exact = [Fraction(gene).limit_denominator(10**9) for gene in genes]
    return {row: exact[3 * at : 3 * at + 3] for at, row in enumerate(game.rows)}


def hand(game: KuhnGame, strategies: Sequence[Strategy], cards: Sequence[int]) -> Fraction:
    """Return the mean winnings of player 0 with these cards."""
    sizes = game.variant in (Variant.BREADTH, Variant.BOTH)
    raises = game.variant in (Variant.DEPTH, Variant.BOTH)

    def asked(row: str, player: int, yes: Callable[[], Fraction], no: Callable[[], Fraction]) -> Fraction:
        chance = strategies[player][row][cards[player]]
        return (chance * yes() if chance else Fraction()) + ((1 - chance) * no() if chance < 1 else Fraction())

    def lost(player: int, chips: int) -> Fraction:
        return Fraction(chips if player == 1 else -chips)

    def shown(chips: int) -> Fraction:
        return lost(0 if cards[0] < cards[1] else 1, chips)

    def bet_of(player: int, size: int) -> Fraction:
        other = 1 - player
        about = str(size) if sizes else ""
        if game.tens_as_twos and size == 10 and other == 1:
            about = "2"
        if not raises:
            return asked("C" + about, other, lambda: shown(1 + size), lambda: lost(other, 1))

        def raised() -> Fraction:
            return asked("C" + about, player, lambda: shown(1 + 2 * size), lambda: lost(player, 1 + size))

        def stays() -> Fraction:
            return asked("R" + about, other, raised, lambda: shown(1 + size))

        return asked("NF" + about, other, stays, lambda: lost(other, 1))

    def bets(player: int) -> Fraction:
        if not sizes:
            return bet_of(player, 1)

        def more() -> Fraction:
            return asked("B10", player, lambda: bet_of(player, 10), lambda: bet_of(player, 2))

        return asked("B>1", player, more, lambda: bet_of(player, 1))

    return asked("B", 0, lambda: bets(0), lambda: asked("B", 1, lambda: bets(1), lambda: shown(1)))


def expected_value(game: KuhnGame, first: Sequence[float], second: Sequence[float]) -> Fraction:
    strategies = strategy(game, first), strategy(game, second)
    deals = list(permutations(range(3), 2))
    return sum((hand(game, strategies, deal) for deal in deals), Fraction()) / len(deals)


def best_value(game: KuhnGame, seat: int, opponent: Sequence[float]) -> Fraction:
    """Return the best mean winnings of a seat over all pure answers of each card."""
    other = strategy(game, opponent)
    total = Fraction()
    for card in range(3):
        values = []
        for answers in product((Fraction(0), Fraction(1)), repeat=len(game.rows)):
            own = {row: [answer] * 3 for row, answer in zip(game.rows, answers, strict=True)}
            won = Fraction()
            for held in {0, 1, 2} - {card}:
                cards = (card, held) if seat == 0 else (held, card)
                won += hand(game, (own, other) if seat == 0 else (other, own), cards) * (-1) ** seat
            values.append(won)
        total += max(values)
    return total / 6
