"""What luck brought in a hand of local best response, as numbers whose mean is 0: its cards, the board, the draws.

Of such a hand only the own cards, those of the board and the opponent's actions are left to luck: the opponent's
cards count at their mean, given what it did (`bots.evaluation.exploiting`). The probabilities of all three are known.
So for any function V of what is seen after one of them, its expectation less its value is 0 on average, and may be
added to what was won with any weight that does not come from the same hand (Burch et al. 2018, "AIVAT: A new variance
reduction technique for agent evaluation in imperfect information games", with everybody but the exploiter's own cards
averaged over).

V is what would be won if nobody put in another chip: with the share of the pot against the range, (2 share - 1) times
the chips that both have put in; after a raise at least what a fold loses. The columns are

- own cards, for each position: their share of the pot against random ones, and how far it lies above a half;
- the board, for each round after the first: V, and the share alone;
- the opponent's actions, for each round: V, and the events "does not fold" and "raises", times the pot in no-limit
  games.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.evaluation.hypothetical_hands import chips_of
from bots.evaluation.local_best_response import RangeOfPolicy, StatePolicy, every_holding
from engine import Action, ActionKind, BettingState, Card, Game, Position

_OWN: Final = 4
_BOARD: Final = 2
_DRAW: Final = 3
"""Columns of the own cards, and of the cards and of the opponent's actions in a round."""

_Floats = NDArray[np.float64]


def columns_of(game: Game) -> int:
    """How many columns there are."""
    return _OWN + _BOARD * (game.num_rounds - 1) + _DRAW * game.num_rounds


def values_of(game: Game) -> list[int]:
    """The columns that are V, which may be added as they are."""
    draws = _OWN + _BOARD * (game.num_rounds - 1)
    return [*range(_OWN, draws, _BOARD), *range(draws, columns_of(game), _DRAW)]


class Luck:
    """The terms of one hand; it is told of every card and action as they come.

    Attributes:
        terms: the columns, in chips, shape (columns,).
    """

    def __init__(self, opponent: RangeOfPolicy, position: Position, hole: Sequence[Card]) -> None:
        """Begin with the own cards.

        Args:
            opponent: the policy that is answered.
            position: of local best response.
            hole: its cards.
        """
        game = opponent.game
        self._opponent, self._position, self._hole = opponent, position, hole
        self._scale = float(game.big_blind)
        self._draws = _OWN + _BOARD * (game.num_rounds - 1)
        self.terms = np.zeros(columns_of(game))
        own, mean = _own_cards(game)
        first = _OWN // 2 * position
        self.terms[first : first + _OWN // 2] = self._scale * (mean - own[opponent.holdings.number(hole)])

    def board(self, betting: BettingState, before: tuple[Card, ...], after: tuple[Card, ...]) -> None:
        """The board has grown.

        Args:
            betting: the betting so far, whose round is the new one.
            before: the board until now.
            after: the board from now on.
        """
        opponent, hole = self._opponent, self._hole
        change = 0.0
        for sign, board in ((1, before), (-1, after)):
            change += sign * opponent.share(opponent.weights(betting, self._position, hole, board), hole, board)
        column = _OWN + _BOARD * (betting.round - 1)
        self.terms[column] += betting.pot * change
        self.terms[column + 1] += self._scale * change

    def draw(self, told: StatePolicy, board: tuple[Card, ...], action: Action) -> None:
        """The opponent has drawn an action.

        Args:
            told: what its policy does in its state.
            board: the cards on the table.
            action: the action.
        """
        betting, opponent = told.betting, self._opponent
        weights = opponent.weights(betting, self._position, self._hole, board)
        won = weights * opponent.holdings.shares(self._hole, board)
        total, all_won = float(weights.sum()), float(won.sum())

        def follows(one: Action, chance: float | _Floats) -> tuple[float, float]:
            if not isinstance(chance, np.ndarray):
                return chance, self._value(betting, one, all_won / total)
            there = float(weights @ chance)
            return there / total, self._value(betting, one, float(won @ chance) / there) if there else 0.0

        expected = 0.0
        kinds = [0.0] * len(ActionKind)
        sizes, chances = told.blind_raises
        if len(sizes):
            kinds[ActionKind.RAISE] = float(chances.sum())
            expected += float(chances @ self._after_raises(betting, sizes, all_won / total))
        for one, chance in told.others.items():
            probability, value = follows(one, chance)
            kinds[one.kind] += probability
            expected += probability * value
        column = self._draws + _DRAW * betting.round
        self.terms[column] += expected - follows(action, told.of(action))[1]
        scale = self._scale if betting.game.is_limit else float(betting.pot)
        self.terms[column + 1] += scale * ((action.kind == ActionKind.FOLD) - kinds[ActionKind.FOLD])
        self.terms[column + 2] += scale * (kinds[ActionKind.RAISE] - (action.kind == ActionKind.RAISE))

    def _value(self, betting: BettingState, action: Action, share: float) -> float:
        own, opponent = self._position, 1 - self._position
        if action.kind == ActionKind.FOLD:
            return float(betting.spent[opponent])
        if action.kind == ActionKind.CALL:
            return (2 * share - 1) * min(betting.max_spent, betting.game.stacks[opponent])
        hand_total = betting.spent[opponent] + chips_of(betting, action)
        return max(-float(betting.spent[own]), (2 * share - 1) * min(hand_total, betting.game.stacks[own]))

    def _after_raises(self, betting: BettingState, hand_totals: _Floats, share: float) -> _Floats:
        matched = np.minimum(hand_totals, betting.game.stacks[self._position])
        return np.maximum(-float(betting.spent[self._position]), (2 * share - 1) * matched)


@cache
def _own_cards(game: Game) -> tuple[_Floats, _Floats]:
    """By holding, the terms' values of one's own cards, shape (holdings, 2), and their mean over the holdings."""
    holdings = every_holding(game)
    shares = np.array([_share_of_random(game, cards) for cards in holdings.cards])
    found = np.column_stack([shares, np.maximum(shares - 1 / 2, 0.0)])
    return found, found.mean(axis=0)


def _share_of_random(game: Game, cards: tuple[Card, ...]) -> float:
    holdings = every_holding(game)
    return float(holdings.shares(cards, ()).sum() / holdings.are_free(cards).sum())
