"""A player's chance to win against everyone still in the hand, when all stay to the end and hold random cards.

Against one opponent it is exact, against more it is sampled (`engine.equity` gives the cost of each); before the flop
it comes from the shipped table.
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
    """Counts chances in states of hold'em and remembers the last one, since players often act twice in a round.

    Samples depend on the seed, the hand number, the visible cards and the number of players in, and on nothing asked
    before: a match that is resumed or split between hands gives the same numbers.
    """

    def __init__(self, *, trials: int = DEFAULT_TRIALS, seed: int | None = None) -> None:
        """So many showdowns are drawn against two or more opponents; without a seed, which counts modulo 2**64, any."""
        if trials < 1:
            raise ValueError(f"trials must be 1 or more, not {trials}")
        self.trials = trials
        self._is_seed_given = seed is not None
        self.seed = fresh_seed() if seed is None else seed
        self._game: Game | None = None
        self._known: tuple[object, Equity] = (None, Equity(0.0, 0.0, 0.0))

    def is_reproducible(self, view: View) -> bool:
        """Whether another player with the same options finds the same chance: a sample needs a seed that was given."""
        return self._is_seed_given or not view.board or len(view.active_positions) == 2

    def equity(self, view: View) -> Equity:
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
        if self._known[0] != state:
            seed = chance_seed(self.seed, *state)
            self._known = (state, equity(hole, board, opponents, trials=self.trials, seed=seed))
        return self._known[1]

    def percent(self, view: View) -> float:
        """The expected share of the pot, 0 to 100."""
        return 100 * self.equity(view).equity


def chance_seed(seed: int, hand_number: int, hole: Sequence[int], board: Sequence[int], opponents: int) -> int:
    """The seed of the draws for a chance, 64 bits: within a hand, every other state has another one.

    The board has three to five cards, and 1 to 9 opponents have not folded.
    """
    state = 0
    for card in (*hole, *board):
        state = state << 6 | card + 1
    hand = mixed(mixed(seed & MASK_64) + hand_number * STEP & MASK_64)
    return mixed(hand + (state << 4 | opponents) * STEP & MASK_64)


def holdem_refusal(game: Game) -> str | None:
    """Why no chance can be counted in a game; None where hands end as in hold'em."""
    if is_holdem(game):
        return None
    return (
        "the chance to win is counted for hold'em only: limit or no-limit, two hole cards from a deck of 52, a board "
        "of three, one and one, such as in the games nolimit, limit, nolimit3 and limit10; this game is not one of them"
    )
