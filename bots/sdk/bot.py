"""Base class of all players: `Bot` answers a `View` with an action.

    class AlwaysCall(Bot):
        def act(self, view):
            return view.call()

The same object plays over TCP (`bots.run`), against a script (`bots.sdk.testing`), or in this process with views made
by `View.from_hand`. The helpers at the end draw random numbers that follow from a seed and the state of the hand, so
that a match can be resumed or split at any hand.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from bots.errors import GameRefused
from bots.sdk.view import View
from engine import Action, Game
from engine.splitmix import MASK_64, STEP, mixed

if TYPE_CHECKING:
    from bots.sdk.holdings import HoldingChances

DrawSeed: TypeAlias = Annotated[int | None, "seed of the random draws; random by default"]


class Bot(ABC):
    """Base class of players. Only `act` must be overridden; the other methods are hooks.

    A bot that draws random numbers should reseed them in `hand_started` from its seed and `view.hand_number`, as
    `bots.baseline.RandomBot` does. Its actions in a hand then do not depend on earlier hands, so a match that is
    resumed or split into parts has the same result as an uninterrupted one.

    The parameters of the constructor are the bot's options. ``arena bots NAME`` prints the text of their annotations:

        def __init__(self, depth: Annotated[int, "number of actions it looks ahead"] = 3) -> None: ...
    """

    answer_s: float | None = None
    """Longest time for an answer, in seconds. The dealer raises limits below it; None leaves them."""

    _accepted_game: Game | None = None

    def refusal(self, game: Game) -> str | None:
        """Return the reason why this bot does not play a game, as a sentence; None if it does.

        `bots.play`, `bots.self_play` and the dealer ask before the first hand and report this sentence. A server
        offers the bot only in games that it plays. The method may be a class method.
        """
        return None

    def require_game(self, game: Game) -> None:
        """Raise an error unless this bot plays a game.

        Raises:
            GameRefused: `refusal` returned a reason.
        """
        # Callers check before every hand; games are large to compare, and mostly the same object.
        if game is self._accepted_game:
            return
        if (problem := self.refusal(game)) is not None:
            raise GameRefused(problem)
        self._accepted_game = game

    def prepare(self, game: Game) -> None:  # noqa: B027 - a hook: doing nothing is right
        """Do slow set-up, such as compiling code, once before a match.

        The program connects to the dealer only afterwards, so none of this counts on the bot's clock. A program that
        calls `act` itself need not call this method.
        """

    @abstractmethod
    def act(self, view: View) -> Action:
        """Return the bot's action; called whenever it is its turn.

        An illegal action ends the program with an error. `View.can_raise` and the properties next to it show which
        actions are legal, and `View.nearest_legal` replaces an illegal action by a legal one.
        """

    def hand_started(self, view: View) -> None:  # noqa: B027
        """Receive the first state of a hand, before any `act`; others may have acted already."""

    def hand_finished(self, view: View) -> None:  # noqa: B027
        """Receive the last state of a hand, with all cards shown and `view.value`, the net chips."""

    def match_finished(self) -> None:  # noqa: B027
        """Clean up after the match; called once, when the dealer has closed the connection."""

    def keep_exchanges(self, path: str) -> None:  # noqa: B027
        """Append exchanges with a language model to a file of `logs.acpc_log.exchanges`; called before `prepare`.

        The dealer names a file per seat and match, and shows its exchanges beside the hands.
        """

    def prepare_for_many_hands(self) -> None:  # noqa: B027
        """Do set-up that pays off over thousands of hands in one process, such as compiling kernels.

        The bot's actions must not depend on this call.
        """

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Return the probability of each action in this state, or None if the bot has none.

        Exploitability and variance reduction evaluate a bot by these probabilities without playing it. They must be
        those from which `act` draws, of legal actions only, and sum to 1. They must follow from the bot's options and
        the view alone, since a second bot with the same options may be asked instead. A bot that learns, or that
        samples without a fixed seed, returns None. The call must not change the bot.
        """
        return None

    def policy_by_holding(self, view: View) -> HoldingChances | None:
        """Return `policy` for all holdings of hold'em, or None if `policy` is to be called for each.

        Computations over a player's range, such as local best response, call this at every decision. Override it if
        it is faster than 1,326 calls of `policy`.

        Args:
            view: the state, without the player's own cards.

        Returns:
            the probability of each action, either a number for all holdings or an array of shape (1326,) in the order
            of `engine.ranges.HOLDINGS`. Entries of holdings that share a card with the board are ignored.
        """
        return None


# More than a hand of any game has, so that no two positions share a number.
_MAX_ACTIONS: Final = 512


def fresh_seed() -> int:
    """Draw a seed of 64 bits from the operating system."""
    return int.from_bytes(os.urandom(8))


def bot_seed(match_seed: int, seating: int, player: int) -> int:
    """Return the seed that a match gives to a bot.

    Args:
        match_seed: seed of the cards.
        seating: 0-based number of the seating; 0 has the players in the order in which they were named.
        player: 0-based place of the bot in that order.
    """
    return (match_seed * 1000003 + seating * 1009 + player) % 2**32


def draw(seed: int, view: View, index: int | None = None) -> int:
    """Draw 64 random bits for a decision.

    They follow from the seed, the hand number, the player's position and the number of actions before the decision.

    Args:
        index: replaces the number of actions plus 1, for a second draw that all decisions of a hand share.
    """
    if index is None:
        index = 1 + sum(map(len, view.betting.rounds))
    hand = mixed(mixed(seed & MASK_64) + view.hand_number * STEP & MASK_64)
    return mixed(hand + (_MAX_ACTIONS * (1 + view.position) + index) * STEP & MASK_64)


def uniform(word: int) -> float:
    """Convert 64 random bits to a number in [0, 1)."""
    # The upper 53 bits, as many as the mantissa of a float has.
    return (word >> 11) * 2.0**-53


def choose_action(policy: Mapping[Action, float], number: float) -> Action:
    """Return the action that a random number selects; never one of probability 0.

    Args:
        policy: probabilities that sum to 1 within rounding.
        number: uniform in [0, 1).

    Raises:
        ValueError: no action has a positive probability.
    """
    chosen = None
    below = 0.0
    for action, chance in policy.items():
        if chance > 0:
            # If the sum stays below `number` by rounding, the last action is kept.
            chosen = action
            below = below + chance
            if number < below:
                break
    if chosen is None:
        raise ValueError("no action has any probability")
    return chosen
