"""CHANCE: how likely a player is to win against all who are still in, in per cent.

It is the share of the pot that his cards win on average when everybody stays to the end and the others may hold
anything: a tie counts as the part of it that he gets. Against one it is exact, against more sampled (`engine.equity`,
which tells what each costs); before the flop it comes from the shipped table whoever is in.

The work says "CHANCE in per cent" and not how it was found.
"""

from __future__ import annotations

import random
from typing import Final

from bots.errors import BotsError
from bots.view import View
from engine import Game
from engine.equity import DEFAULT_TRIALS, equity, preflop_equity

__all__ = ["Chance"]

_BOARD: Final = (0, 3, 1, 1)
_DECK_CARDS: Final = 52


class Chance:
    """Finds CHANCE in states of hold'em, and remembers the last one: most players act more than once in a round.

    What is sampled follows from the seed, the hand's number, the cards seen and how many are in, and from nothing that
    was asked before: a match that is resumed or cut between hands gives the same numbers.
    """

    def __init__(self, *, trials: int = DEFAULT_TRIALS, seed: int | None = None) -> None:
        """Choose how to sample.

        Args:
            trials: showdowns drawn where there are two or more others.
            seed: of the draws; any, where none is given.

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
        """The chance of the player who looks, 0 to 100.

        Raises:
            BotsError: the game is not hold'em as this can count it.
        """
        if view.game is not self._game:
            _require_holdem(view.game)
            self._game = view.game
        hole, board, opponents = view.hole_cards, view.board, len(view.active_positions) - 1
        if not board:
            return 100 * preflop_equity(hole, opponents).equity
        state = (view.hand_number, hole, board, opponents)
        if self._known[0] != state:
            seed = random.Random(f"{self._seed}:{state}").getrandbits(64) if opponents > 1 else 0
            self._known = (state, 100 * equity(hole, board, opponents, trials=self._trials, seed=seed).equity)
        return self._known[1]


def _require_holdem(game: Game) -> None:
    """Check that hands end as in hold'em.

    Raises:
        BotsError: they do not.
    """
    if game.num_hole_cards != 2 or game.num_board_cards != _BOARD or len(game.deck) != _DECK_CARDS:
        raise BotsError(
            "the chance to win is counted for hold'em only: limit or no-limit, two hole cards from a deck of 52, a "
            "board of three, one and one, such as in the games nolimit, limit, nolimit3 and limit10; this game is none"
        )
