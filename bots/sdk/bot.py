"""What a player is: something that answers a `View` with an action. No socket in sight.

    class AlwaysCall(Bot):
        def act(self, view):
            return view.call()

The same object plays over TCP (`bots.run`), against a script (`bots.sdk.testing`), or in this process, where your
program shows it `View.from_hand(...)` and applies what it answers.

The random numbers of a decision follow from a seed and the state, so a match can be resumed or split anywhere.
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

DrawSeed: TypeAlias = Annotated[int | None, "where the draws start; random by default"]


class Bot(ABC):
    """A player. Only `act` has to be written; the rest is for bots that learn, count or clean up.

    A bot that draws random numbers should reseed them in `hand_started`, from its seed and
    `view.hand_number`: what it does in a hand then does not depend on the hands before, and a match that was broken
    off, or cut into slices, goes exactly as an undisturbed one. `bots.baseline.RandomBot` does it.

    The parameters of its constructor are its options. What one decides is part of its annotation, for
    ``arena bots NAME``: ``depth: Annotated[int, "how far it looks ahead"] = 3``.
    """

    _accepted_game: Game | None = None

    def refusal(self, game: Game) -> str | None:
        """Why this bot does not play a game, as a sentence; None where it does. A class method may answer it, too.

        Asked before anything is played: `bots.play`, `bots.self_play` and the dealer refuse with this sentence, and a
        server offers the bot only in games that it plays.
        """
        return None

    def require_game(self, game: Game) -> None:
        """Check that this bot plays a game; the game that was accepted last costs nothing.

        Raises:
            GameRefused: it does not.
        """
        if game is self._accepted_game:
            return
        if (problem := self.refusal(game)) is not None:
            raise GameRefused(problem)
        self._accepted_game = game

    def prepare(self, game: Game) -> None:  # noqa: B027 - a hook: doing nothing is right
        """Called once before a match: the time to do what no decision should wait for, such as compiling code.

        A dealer hears of the bot only afterwards, so none of its thinking time is used. A bot that plays in no
        match, because its program calls `act` itself, may not have been prepared.
        """

    @abstractmethod
    def act(self, view: View) -> Action:
        """What to do now; called whenever it is this player's turn.

        An illegal answer ends the program with a sentence that says why: see `View.can_raise` and its neighbours, or
        use `View.nearest_legal`.
        """

    def hand_started(self, view: View) -> None:  # noqa: B027
        """Called with the first state of each hand, before any `act` of that hand; others may have acted before."""

    def hand_finished(self, view: View) -> None:  # noqa: B027
        """Called with the last state of each hand: the cards shown, and `view.value`, the chips won or lost."""

    def match_finished(self) -> None:  # noqa: B027
        """Called once, when the dealer has closed the connection."""

    def prepare_for_many_hands(self) -> None:  # noqa: B027
        """Called before thousands of hands are played inside one process: the time to compile what pays off there.

        What the bot does must not depend on it.
        """

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """The probability of each action in this state, where a bot has them; None where it does not.

        Probabilities of legal actions only, summing to 1, and the same that `act` draws from: what evaluates a bot
        without playing it (exploitability, variance reduction) relies on both. They follow from the bot's options and
        the view alone, so a second bot with the same options can be asked in place of the one that played; a bot that
        learns, or that draws samples without a given seed, returns None. Asking must not change the bot.
        """
        return None

    def policy_by_holding(self, view: View) -> HoldingChances | None:
        """`policy` for all holdings of hold'em at once, where a bot finds it faster than one by one; None elsewhere.

        What follows a player's range, such as local best response, asks so at every decision.

        Args:
            view: the state, without the player's own cards.

        Returns:
            the probability of each action: a number, where it is the same with all cards, or an array over the holdings
            of `engine.ranges`, shape (1326,), of which those that have a card of the board count for nothing.
        """
        return None


# More than a hand of any game has, so that no two positions share a number.
_MAX_ACTIONS: Final = 512


def fresh_seed() -> int:
    """Draw a seed of 64 bits from the operating system."""
    return int.from_bytes(os.urandom(8))


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
    """A number from 0 up to 1, from 64 random bits."""
    return (word >> 11) * 2.0**-53


def choose_action(policy: Mapping[Action, float], number: float) -> Action:
    """The action of a number from 0 up to 1; one that has no probability is never taken.

    Args:
        policy: probabilities that sum to 1, to within rounding: the last one leaves no gap.
    """
    chosen = None
    below = 0.0
    for action, chance in policy.items():
        if chance > 0:
            chosen = action
            below = below + chance
            if number < below:
                break
    if chosen is None:
        raise ValueError("no action has any probability")
    return chosen
