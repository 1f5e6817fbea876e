"""Limit hold'em of two players that ends before the flop, as a game for `bots.solving`.

The betting before the flop is played as the rules have it; whoever is left then shows down, on all boards. It is the
model of Vytrísal (2013) and, before, of Selby (1999). Player 0 is the small blind, a class one of the 169 starting
hands. With blinds 1/2, bets of 2 and at most four bets it has 15 leaves; each player has 11 sequences and 4 information
sets for each class, one sequence being a fold that owes nothing, which the rules refuse: `solved` never takes it.

The model of the work had a mistake, which `published_payoffs` makes again. Where the small blind folds at once, the big
blind has done nothing: in the sequence form that leaf is one cell for all its 169 classes, and their payoffs have to be
summed. The work assigned each to the cell instead, so that only the class written last was left, and folding was
almost free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from bots.solving.engine_games import Board, betting_tree
from bots.solving.linear_program import Equilibrium, LinearProgram
from bots.solving.plans import Chances, expected_value, plan_of
from bots.solving.sequence_form import Choice, Entries, Plan, Plans, SequenceForm, sequence_form
from bots.solving.tree import PublicGame
from engine import STARTING_HANDS, BettingType, Game
from engine.game import DEFAULT_STACK, Position

__all__ = [
    "MOST_BETS",
    "PreflopRules",
    "preflop_form",
]

MOST_BETS: Final = 12
"""The largest cap; beyond it no hand raises more often."""
_MOST_CHIPS: Final = 1_000_000

_SMALL_BLIND: Final = Position(1)
"""Of the arena's game of two players; the big blind is position 0."""


@dataclass(frozen=True, slots=True)
class PreflopRules:
    """The betting before the flop.

    Attributes:
        blinds: the small and the big blind, in chips.
        bet: the size of a raise, in chips.
        cap: how many bets there may be, the big blind included.

    Raises:
        SolvingError: no game is played like that.
    """

    blinds: tuple[int, int] = (1, 2)
    bet: int = 2
    cap: int = 4

    def __post_init__(self) -> None:
        small, big = self.blinds
        if not 1 <= small < big <= _MOST_CHIPS:
            raise SolvingError(f"the blinds must be two numbers of chips, the small one first, not {small}/{big}")
        if not 1 <= self.bet <= _MOST_CHIPS:
            raise SolvingError(f"the bet must be 1 to {_MOST_CHIPS:,} chips, not {self.bet:,}")
        if not 1 <= self.cap <= MOST_BETS:
            raise SolvingError(f"the cap must be 1 to {MOST_BETS} bets, not {self.cap:,}")

    @property
    def game(self) -> Game:
        """The betting as a game of one round."""
        small, big = self.blinds
        return Game(
            betting=BettingType.LIMIT,
            num_players=2,
            num_rounds=1,
            stacks=(DEFAULT_STACK, DEFAULT_STACK),
            blinds=(big, small),
            raise_sizes=(self.bet,),
            first_players=(_SMALL_BLIND,),
            max_raises=(self.cap - 1,),
            num_suits=4,
            num_ranks=13,
            num_hole_cards=2,
            num_board_cards=(0,),
        )


class _Matchups:
    """The cards: the chances of two classes are matrix 0, what a showdown of them wins matrix 1."""

    def boards(self, round_: int, board: Board) -> Sequence[Board]:
        return [board]

    def dealt(self, board: Board) -> int:
        return 0

    def won(self, board: Board) -> int:
        return 1


def preflop_form(rules: PreflopRules, counts: NDArray[np.int64] | None = None) -> SequenceForm:
    """The sequence form of the game.

    Args:
        rules: the betting.
        counts: wins, ties and losses of each class against each, by default those of `engine.matchups`.
    """
    if counts is None:
        from engine.matchups import counts as shipped

        counts = shipped()
    root = betting_tree(rules.game, _Matchups(), first=_SMALL_BLIND, free_folds=True)
    showdowns = counts.sum()
    matrices = np.stack([counts.sum(2) / showdowns, (counts[:, :, 0] - counts[:, :, 2]) / showdowns])
    return sequence_form(PublicGame(root, (STARTING_HANDS, STARTING_HANDS), matrices))
