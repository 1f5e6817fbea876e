"""One hand: its betting and its cards.

`Hand` is the pair of an immutable betting state and an immutable deal, so a copy costs two references.
"""

from __future__ import annotations

from functools import lru_cache

from engine.actions import Action, LegalActions
from engine.betting import BettingState, betting_start
from engine.cards import Card
from engine.dealing import Deal
from engine.evaluator import rank_hand
from engine.game import Game, Position
from engine.showdown import showdown_values


class Hand:
    """A hand being played; `apply` advances it.

    Attributes:
        betting: the present betting state.
        deal: every card of the hand, seen or not.
    """

    __slots__ = ("betting", "deal")

    def __init__(self, game: Game, deal: Deal) -> None:
        self.betting: BettingState = betting_start(game)
        self.deal = deal

    def copy(self) -> Hand:
        """An independent hand at the same point."""
        twin = Hand.__new__(Hand)
        twin.betting = self.betting
        twin.deal = self.deal
        return twin

    @property
    def game(self) -> Game:
        """The game being played."""
        return self.betting.game

    @property
    def acting_position(self) -> Position:
        """Whose turn it is; -1 when the hand is over."""
        return self.betting.acting_position

    @property
    def finished(self) -> bool:
        """Whether the hand is over."""
        return self.betting.finished

    @property
    def board(self) -> tuple[Card, ...]:
        """The board cards on the table in the present round."""
        return self.deal.board[: self.game.board_cards_by_round[self.betting.round]]

    @property
    def is_showdown(self) -> bool:
        """Whether the hand ended with at least two players who did not fold."""
        return self.betting.is_showdown

    def legal_actions(self) -> LegalActions:
        """What the acting player may do.

        Raises:
            IllegalAction: the hand is over.
        """
        return self.betting.legal_actions()

    def apply(self, action: Action) -> None:
        """Play an action for the acting player.

        Raises:
            IllegalAction: the rules refuse it; the hand is unchanged.
        """
        self.betting = self.betting.after(action)

    def values(self) -> list[float]:
        """Net chips of every position; see `hand_values`.

        Raises:
            ValueError: the hand is not over.
        """
        return hand_values(self.betting, self.deal)


@lru_cache(maxsize=1 << 12)
def _values_by_order(spent: tuple[int, ...], order: tuple[int | None, ...]) -> tuple[float, ...]:
    return tuple(showdown_values(spent, order))


def hand_values(betting: BettingState, deal: Deal) -> list[float]:
    """Net chips of every position at the end of a hand, in chips, by position.

    They sum to zero, except in a limit game in which a short raiser lowered the bet (see `engine.betting_rules`): what
    the others had put in beyond it is lost, as in the reference. A pot to which nobody added a chip is worth 0 to
    everyone (the reference aborts on it).

    Raises:
        ValueError: the hand is not over.
    """
    if not betting.finished:
        raise ValueError("the hand is not over: it has no values yet")
    return list(end_values(betting.game, betting.round, betting.spent, betting.folded, deal))


def end_values(game: Game, round_: int, spent: tuple[int, ...], folded: int, deal: Deal) -> tuple[float, ...]:
    """`hand_values`, given the numbers of a betting that has ended in a certain round."""
    if folded.bit_count() + 1 >= len(spent):
        pot = sum(spent)
        return tuple([float(-chips) if folded >> p & 1 else float(pot - chips) for p, chips in enumerate(spent)])
    board = deal.board[: game.board_cards_by_round[round_]]
    if len(spent) == 2:
        first, second = deal.hole_cards
        a, b = rank_hand(first + board), rank_hand(second + board)
        return _values_by_order(spent, ((a > b) - (a < b), 0))
    ranks = [None if folded >> p & 1 else rank_hand(hole + board) for p, hole in enumerate(deal.hole_cards)]
    order = sorted([rank for rank in ranks if rank is not None])
    return _values_by_order(spent, tuple([None if rank is None else order.index(rank) for rank in ranks]))
