"""All-in hands at their expectation.

When no more betting is possible and board cards are still to come, luck alone decides: what a hand brings on average
over all boards measures the players better than what it happened to bring. The expectation is exact (see
`engine.equity`) and takes everything that lies in the record into account, folded cards too; given these,
every board was equally likely, so over many hands the adjusted winnings are the winnings, only with less noise.

The cards are reduced to what matters, what each player has of each suit, and remembered: the suits themselves are all
alike, and so are the players. A preflop all-in of two players is looked up (`engine.duels`).
"""

from __future__ import annotations

from typing import Final, TypeAlias

from engine import BettingState, Card, Deal, Game
from engine.equity import expected_values, odds_by_pot, shares_refusal
from engine.hand import side_pots

_MOST_REMEMBERED: Final = 1 << 16

_Runs: TypeAlias = tuple[tuple[Card, ...], ...]
_Pots: TypeAlias = tuple[tuple[int, ...], ...]
_Equities: TypeAlias = tuple[tuple[float, ...], ...]


def board_before_showdown(betting: BettingState) -> int | None:
    """How many cards of the board lay there when all betting was over; None where none was to come, or all but one
    folded.
    """
    last = max([round_ for round_, actions in enumerate(betting.rounds) if actions], default=0)
    known = betting.game.board_cards_by_round[last]
    whole = betting.game.board_cards_by_round[-1]
    if betting.is_showdown and known < whole:
        return known
    return None


class AllInExpectations:
    def __init__(self, game: Game) -> None:
        self._game = game
        self._known: dict[tuple[tuple[int, ...], _Pots], _Equities] = {}

    @staticmethod
    def exist_for(game: Game) -> bool:
        """Whether there are expectations for a game: hold'em, and games with few boards."""
        has_holdem_cards = (len(game.deck), game.num_hole_cards, game.board_cards_by_round[-1]) == (52, 2, 5)
        return has_holdem_cards or shares_refusal(game) is None

    def values(self, betting: BettingState, deal: Deal, board_cards: int) -> list[float] | None:
        """The expected net chips of each position, given the final state and the number of board cards dealt when no
        more betting was possible; None where the cards of a player in the showdown are not known.
        """
        holes = deal.hole_cards
        folded = betting.folded
        if not all(cards or folded >> position & 1 for position, cards in enumerate(holes)):
            return None
        board = deal.board[:board_cards]
        dead = tuple([card for position, cards in enumerate(holes) if folded >> position & 1 for card in cards])
        in_pot = list(betting.in_pot)
        in_pot.sort(key=lambda position: sorted([card >> 2 for card in holes[position]]))
        pots = side_pots(betting.spent, folded)
        contests = tuple([tuple([i for i, position in enumerate(in_pot) if position in pot.players]) for pot in pots])
        runs = (board, dead, *[holes[position] for position in in_pot])
        key = _suits(runs), contests
        equities = self._known.get(key)
        if equities is None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            equities = self._known[key] = self._count(runs, contests)
        parts = [
            [of_pot[in_pot.index(position)] for position in pot.players]
            for pot, of_pot in zip(pots, equities, strict=True)
        ]
        return expected_values(betting.spent, folded, pots, parts)

    def _count(self, runs: _Runs, pots: _Pots) -> _Equities:
        board, dead, *holes = runs
        deck = self._game.deck
        board_cards = self._game.board_cards_by_round[-1]
        odds = odds_by_pot(holes, board, pots, dead=dead, deck=deck, board_cards=board_cards)
        return tuple([of_pot.equities for of_pot in odds])


def _suits(runs: _Runs) -> tuple[int, ...]:
    """What some runs of cards are but for the names of the suits: of each suit, the ranks in each run."""
    suits = [0, 0, 0, 0]
    for shift, cards in enumerate(runs):
        for card in cards:
            suits[card & 3] |= 1 << 13 * shift + (card >> 2)
    suits.sort()
    return tuple(suits)
