"""Expectation of all-in hands over the board cards to come.

When no more betting is possible before the last board card, the rest of the hand is luck. The expectation over all
boards replaces the result, with less noise and the same mean. It is exact (see `engine.equity`) and uses all cards of
the record, folded ones too, given which every board is equally likely.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from engine import BettingState, Card, Deal, Game
from engine.equity import expected_values, odds_by_pot, shares_refusal
from engine.hand import side_pots

_MAX_CACHED: Final = 1 << 16

_Runs: TypeAlias = tuple[tuple[Card, ...], ...]
_Pots: TypeAlias = tuple[tuple[int, ...], ...]
_Equities: TypeAlias = tuple[tuple[float, ...], ...]


def board_before_showdown(betting: BettingState) -> int | None:
    """Return the number of board cards dealt when betting was over, for a showdown with cards to come.

    None for all other hands.
    """
    last = max([round_ for round_, actions in enumerate(betting.rounds) if actions], default=0)
    known = betting.game.board_cards_by_round[last]
    whole = betting.game.board_cards_by_round[-1]
    if betting.is_showdown and known < whole:
        return known
    return None


class AllInExpectations:
    """Expectations of the all-in hands of one game, with a cache."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._cache: dict[tuple[tuple[int, ...], _Pots], _Equities] = {}

    @staticmethod
    def exist_for(game: Game) -> bool:
        """Return whether there are expectations for a game: hold'em, and games with few boards."""
        has_holdem_cards = (len(game.deck), game.num_hole_cards, game.board_cards_by_round[-1]) == (52, 2, 5)
        return has_holdem_cards or shares_refusal(game) is None

    def values(self, betting: BettingState, deal: Deal, board_cards: int) -> list[float] | None:
        """Return the expected net chips of each position; None if cards of the showdown are unknown.

        Args:
            betting: final state of the hand.
            board_cards: number of board cards dealt when no more betting was possible.
        """
        holes = deal.hole_cards
        folded = betting.folded
        folded_cards: list[Card] = []
        for position, cards in enumerate(holes):
            if folded >> position & 1:
                folded_cards += cards
            elif not cards:
                return None
        board = deal.board[:board_cards]
        # The order of the players does not matter either. By ranks, it is the same for hands that differ in suits.
        in_pot = list(betting.in_pot)
        in_pot.sort(key=lambda position: sorted([card >> 2 for card in holes[position]]))
        pots = side_pots(betting.spent, folded)
        pot_members = []
        for pot in pots:
            pot_members.append(tuple([i for i, position in enumerate(in_pot) if position in pot.players]))
        contests = tuple(pot_members)
        runs = (board, tuple(folded_cards), *[holes[position] for position in in_pot])
        key = (_without_suit_names(runs), contests)
        equities = self._cache.get(key)
        if equities is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            equities = self._cache[key] = self._equities(runs, contests)
        shares = []
        for pot, pot_equities in zip(pots, equities, strict=True):
            shares.append([pot_equities[in_pot.index(position)] for position in pot.players])
        return expected_values(betting.spent, folded, pots, shares)

    def _equities(self, runs: _Runs, pots: _Pots) -> _Equities:
        board, dead, *holes = runs
        deck = self._game.deck
        board_cards = self._game.board_cards_by_round[-1]
        odds = odds_by_pot(holes, board, pots, dead=dead, deck=deck, board_cards=board_cards)
        return tuple([pot_odds.equities for pot_odds in odds])


def _without_suit_names(runs: _Runs) -> tuple[int, ...]:
    """Return a key that is equal for runs of cards that differ only in the names of the suits."""
    # For each suit one bit per run and rank. Sorting removes the names.
    suits = [0, 0, 0, 0]
    for run, cards in enumerate(runs):
        for card in cards:
            suits[card & 3] |= 1 << 13 * run + (card >> 2)
    suits.sort()
    return tuple(suits)
