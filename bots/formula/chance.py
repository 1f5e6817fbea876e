"""CHANCE: a player's chance to win against everyone still in the hand, in per cent.

It is the share of the pot that the hole cards win on average when everyone stays to the end and the others hold random
cards; a tie counts as the player's share of it. Against one opponent it is exact, against more it is sampled
(`engine.equity` gives the cost of each); before the flop it comes from the shipped table.

The work says "CHANCE in per cent" but not how it was computed.
"""

from __future__ import annotations

import random

from bots.errors import GameRefused
from bots.view import View
from engine import Game
from engine.equity import DEFAULT_TRIALS, equity, preflop_equity
from engine.holdem import is_holdem

__all__ = ["Chance", "holdem_refusal"]


class Chance:
    """Computes CHANCE for states of hold'em and remembers the last one, since players often act twice in a round.

    Samples depend on the seed, the hand number, the visible cards and the number of players in, and on nothing asked
    before: a match that is resumed or split between hands gives the same numbers.
    """

    def __init__(self, *, trials: int = DEFAULT_TRIALS, seed: int | None = None) -> None:
        """Set up the sampling.

        Args:
            trials: showdowns drawn against two or more opponents.
            seed: of the draws; random if not given.

        Raises:
            ValueError: fewer than one trial.
        """
        if trials < 1:
            raise ValueError(f"trials must be 1 or more, not {trials}")
        self._trials = trials
        self._seed = random.getrandbits(64) if seed is None else seed
        self._game: Game | None = None
        self._known: tuple[object, float] = (None, 0.0)

    def percent(self, view: View) -> float:
        """The chance of the player whose view it is, 0 to 100.

        Raises:
            GameRefused: the game is not hold'em.
        """
        if view.game is not self._game:
            if (problem := holdem_refusal(view.game)) is not None:
                raise GameRefused(problem)
            self._game = view.game
        hole, board, opponents = view.hole_cards, view.board, len(view.active_positions) - 1
        if not board:
            return 100 * preflop_equity(hole, opponents).equity
        state = (view.hand_number, hole, board, opponents)
        if self._known[0] != state:
            seed = random.Random(f"{self._seed}:{state}").getrandbits(64) if opponents > 1 else 0
            self._known = (state, 100 * equity(hole, board, opponents, trials=self._trials, seed=seed).equity)
        return self._known[1]


def holdem_refusal(game: Game) -> str | None:
    """Why there is no CHANCE in a game; None where hands end as in hold'em."""
    if is_holdem(game):
        return None
    return (
        "the chance to win is counted for hold'em only: limit or no-limit, two hole cards from a deck of 52, a board "
        "of three, one and one, such as in the games nolimit, limit, nolimit3 and limit10; this game is none"
    )
