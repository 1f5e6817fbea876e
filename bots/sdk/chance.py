"""Chances in hold'em to win a showdown against random cards of the remaining players.

A chance is exact against one opponent and sampled against more (`engine.equity` states the cost of each). Before the
flop it is read from the shipped table.
"""

from __future__ import annotations

from collections.abc import Sequence

from bots.errors import GameRefused
from bots.sdk.bot import fresh_seed
from bots.sdk.view import View
from engine import Game
from engine.equity import DEFAULT_TRIALS, Equity, equity, preflop_equity
from engine.holdem import is_holdem
from engine.splitmix import MASK_64, STEP, mixed


class EquityCounter:
    """Compute chances in states of hold'em.

    Samples follow from the seed, the hand number, the visible cards and the number of players in the hand. They do not
    depend on earlier calls, so a match that is resumed or split between hands gets the same numbers.

    Attributes:
        trials: showdowns drawn against two or more opponents.
        seed: seed of the samples.
    """

    def __init__(self, *, trials: int = DEFAULT_TRIALS, seed: int | None = None) -> None:
        """Set the number of trials, and a seed (modulo 2**64) or None for a random one.

        Raises:
            ValueError: `trials` is less than 1.
        """
        if trials < 1:
            raise ValueError(f"trials must be 1 or more, not {trials}")
        self.trials = trials
        self._has_fixed_seed = seed is not None
        self.seed = fresh_seed() if seed is None else seed
        self._game: Game | None = None
        # A player often acts twice in a round, with the same chance.
        self._last_state: object = None
        self._last_equity = Equity(0.0, 0.0, 0.0)

    def is_reproducible(self, view: View) -> bool:
        """Return whether a second player with the same options computes the same chance.

        Exact chances always are; samples are if the seed was not random.
        """
        return self._has_fixed_seed or not view.board or len(view.active_positions) == 2

    def equity(self, view: View) -> Equity:
        """Compute the player's chances to win and to tie, and its share of the pot.

        Raises:
            GameRefused: the game is not hold'em.
        """
        if view.game is not self._game:
            if (problem := holdem_refusal(view.game)) is not None:
                raise GameRefused(problem)
            self._game = view.game
        hole = view.hole_cards
        board = view.board
        opponents = len(view.active_positions) - 1
        if not board:
            return preflop_equity(hole, opponents)
        state = (view.hand_number, hole, board, opponents)
        if self._last_state != state:
            seed = chance_seed(self.seed, *state)
            self._last_state = state
            self._last_equity = equity(hole, board, opponents, trials=self.trials, seed=seed)
        return self._last_equity

    def percent(self, view: View) -> float:
        """Compute the expected share of the pot, 0 to 100."""
        return 100 * self.equity(view).equity


def chance_seed(seed: int, hand_number: int, hole: Sequence[int], board: Sequence[int], opponents: int) -> int:
    """Derive a 64-bit seed for the samples of one state; no two states of a hand share one.

    Args:
        hole: two cards.
        board: three to five cards.
        opponents: players besides this one who have not folded, 1 to 9.
    """
    # Six bits for each of at most seven cards and four for the opponents: 46 bits, so no two states are equal.
    state = 0
    for card in (*hole, *board):
        state = state << 6 | card + 1
    hand = mixed(mixed(seed & MASK_64) + hand_number * STEP & MASK_64)
    return mixed(hand + (state << 4 | opponents) * STEP & MASK_64)


def holdem_refusal(game: Game) -> str | None:
    """Return the reason why chances cannot be computed in a game, or None for hold'em."""
    if is_holdem(game):
        return None
    return (
        "the chance to win is counted for hold'em only: limit or no-limit, two hole cards from a deck of 52, a board "
        "of three, one and one, such as in the games nolimit, limit, nolimit3 and limit10; this game is not one of them"
    )
