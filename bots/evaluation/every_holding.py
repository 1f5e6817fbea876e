"""All holdings of a player at once, and what a hand wins from each: in hold'em, and where every deal can be counted.

Arrays are indexed by the number of a holding: in hold'em as in `engine.ranges`, elsewhere in the order of the deck.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bots.errors import GameRefused
from engine import Card, Deal, Game
from engine.holdem import is_holdem
from engine.ranges import HOLDINGS, are_free, holding_number, shares_against
from logs.variance.shares import PotRow, Shares, shares_refusal

__all__ = ["EveryHolding", "every_holding"]

_BOTH = 0b11


class EveryHolding(Protocol):
    """The holdings of one game for two players."""

    @property
    def cards(self) -> Sequence[tuple[Card, ...]]:
        """The cards of each holding."""
        ...

    def number(self, cards: Sequence[Card]) -> int:
        """The number of a holding, its cards in any order."""
        ...

    def are_free(self, cards: Iterable[Card]) -> NDArray[np.bool_]:
        """Which holdings have none of some cards."""
        ...

    def shares(self, hole: Sequence[Card], board: Sequence[Card]) -> NDArray[np.float64]:
        """The expected share of the pot of a hand at a showdown against each holding; 0 where it cannot be."""
        ...


@cache
def every_holding(game: Game) -> EveryHolding:
    """The holdings of a game.

    Raises:
        GameRefused: they are too many, or there are not two players.
    """
    if game.num_players == 2 and is_holdem(game):
        return _Holdem()
    if game.num_players == 2 and shares_refusal(game) is None:
        return _FewCards(game)
    raise GameRefused(
        "a range of holdings is followed in hold'em of two players, and in games of two in which every deal can be "
        "counted; this game is neither"
    )


class _Holdem:
    cards = HOLDINGS

    def number(self, cards: Sequence[Card]) -> int:
        return holding_number(*cards)

    def are_free(self, cards: Iterable[Card]) -> NDArray[np.bool_]:
        return are_free(cards)

    def shares(self, hole: Sequence[Card], board: Sequence[Card]) -> NDArray[np.float64]:
        return shares_against(hole, board)


class _FewCards:
    def __init__(self, game: Game) -> None:
        self._game = game
        self._shares = Shares(game)
        self.cards = tuple(combinations(game.deck, game.num_hole_cards))
        self._numbers = {frozenset(cards): number for number, cards in enumerate(self.cards)}
        self._known: dict[tuple[tuple[Card, ...], tuple[Card, ...]], NDArray[np.float64]] = {}

    def number(self, cards: Sequence[Card]) -> int:
        return self._numbers[frozenset(cards)]

    def are_free(self, cards: Iterable[Card]) -> NDArray[np.bool_]:
        taken = {*cards}
        return np.array([taken.isdisjoint(one) for one in self.cards])

    def shares(self, hole: Sequence[Card], board: Sequence[Card]) -> NDArray[np.float64]:
        key = tuple(sorted(hole)), tuple(sorted(board))
        if (known := self._known.get(key)) is not None:
            return known
        found = np.zeros(len(self.cards))
        there = np.flatnonzero(self.are_free((*hole, *board)))
        deals = [Deal((tuple(hole), self.cards[at]), tuple(board)) for at in there.tolist()]
        rows = [PotRow(_BOTH, len(board))] * len(deals)
        found[there] = self._shares.of(deals, np.arange(len(deals)), rows, [0] * len(deals))[:, 0]
        found.setflags(write=False)
        self._known[key] = found
        return found
