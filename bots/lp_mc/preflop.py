"""Limit hold'em of two players that ends before the flop, as a game for `bots.solving`.

The betting before the flop is played as the rules have it; whoever is left then shows down, on all boards. It is the
model of Selby (1999), and of Vytrísal (2013). Player 0 is the small blind, a class is one of the 169 starting hands.
With blinds 1/2, bets of 2 and at most four bets the tree has 15 leaves; each player has 11 sequences and 4 information
sets for each class. As in the work, one of the sequences is a fold that owes nothing, which the rules refuse: `solve`
never takes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from bots.solving.engine_games import Board, betting_tree
from bots.solving.equilibria import Equilibrium, LinearProgram, Step
from bots.solving.sequence_form import (
    Chances,
    Choice,
    Plan,
    Plans,
    PublicGame,
    SequenceForm,
    expected_value,
    plan_of,
    sequence_form,
)
from engine import STARTING_HANDS, BettingType, Game, matchups
from engine.game import DEFAULT_STACK, Position

__all__ = [
    "MOST_BETS",
    "OPPONENTS",
    "PreflopRules",
    "balance",
    "preflop_form",
    "simple_plan",
    "solve",
    "without_free_folds",
]

MOST_BETS: Final = 12
"""The largest cap; beyond it no hand raises more often."""
_MOST_CHIPS: Final = 1_000_000

OPPONENTS: Final[Mapping[str, tuple[float, float, float]]] = {
    "raising": (0.0, 0.0, 1.0),
    "random": (1 / 3, 1 / 3, 1 / 3),
    "calling": (0.0, 1.0, 0.0),
}
"""The simple players of the work: how often they fold, call and raise; where a raise is refused they call instead."""

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
    """The cards: no board is seen while there is betting."""

    def boards(self, round_: int, board: Board) -> Sequence[Board]:
        """Nothing is dealt."""
        return [board]

    def end(self, spent: Sequence[int], folded: Collection[int], board: Board) -> tuple[int, float]:
        """The chances of two classes are matrix 0, what a showdown of them wins on average is matrix 1."""
        if folded:
            return 0, spent[1] if 1 in folded else -spent[0]
        return 1, min(spent)


def preflop_form(rules: PreflopRules, counts: NDArray[np.int64] | None = None) -> SequenceForm:
    """The sequence form of the game.

    Args:
        rules: the betting.
        counts: wins, ties and losses of each class against each, by default those of `engine.matchups`.

    Raises:
        OSError: the table of `engine.matchups` is missing from the installation.
        TableError: it is damaged.
    """
    if counts is None:
        counts = matchups.counts()
    root = betting_tree(rules.game, _Matchups(), first=_SMALL_BLIND, free_folds=True)
    showdowns = counts.sum()
    matrices = np.stack([counts.sum(2) / showdowns, (counts[:, :, 0] - counts[:, :, 2]) / showdowns])
    return sequence_form(PublicGame(root, (STARTING_HANDS, STARTING_HANDS), matrices))


def solve(form: SequenceForm, on_step: Step | None = None) -> Equilibrium:
    """An equilibrium by linear programming, without free folds; `on_step` is called now and then.

    Raises:
        SolvingError: the solver ends without an optimum.
    """
    # The simplex method solves the program of the big blind in a third of the time.
    value, plans = LinearProgram(form, player=1).solve(on_step)
    return Equilibrium(value, (plans[0], without_free_folds(form, plans[1])))


def without_free_folds(form: SequenceForm, plan: Plan) -> Plan:
    """A plan of the big blind that checks where it folded without a bet to call.

    It is never worse: a check ends the betting, and who folds loses what the worst showdown costs.
    """
    (limped,) = (choice for choice in form.choices[1] if choice.name == "c")
    better = plan.copy()
    better[limped.first + 1] += better[limped.first]
    better[limped.first] = 0
    return better


def simple_plan(form: SequenceForm, player: int, opponent: str) -> Plan:
    """The plan of one of `OPPONENTS`."""
    fold, call, raise_ = OPPONENTS[opponent]

    def chances(choice: Choice) -> Chances:
        of_actions = (fold, call, raise_) if "r" in choice.actions else (fold, call + raise_)
        return np.tile(np.array(of_actions)[:, None], (1, len(STARTING_HANDS)))

    return plan_of(form, player, chances)


def balance(form: SequenceForm, plans: Plans, opponent: str) -> float:
    """What two plans win on average against one of `OPPONENTS`, half of the hands in each seat, in chips per hand."""
    as_small_blind = expected_value(form, (plans[0], simple_plan(form, 1, opponent)))
    as_big_blind = -expected_value(form, (simple_plan(form, 0, opponent), plans[1]))
    return (as_small_blind + as_big_blind) / 2
