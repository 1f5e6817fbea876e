"""Bots that ignore their cards: yardsticks for other bots, and partners for tests of a dealer.

In place of an illegal action they take the nearest legal one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Final

from bots.formula.formulas import Decision, Proportions, action_of
from bots.sdk.bot import Bot, DrawSeed
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, LegalActions, raise_to
from engine.errors import quoted
from engine.splitmix import MASK_64, STEP, mixed

_EXAMPLE_WEIGHTS: Final = (0.06, 0.47, 0.47)
"""Probabilities with which the example player of the ACPC server folds, calls and raises."""


class _SteadyBot(Bot):
    """Bot with a pure strategy that does not depend on its cards."""

    def policy(self, view: View) -> Mapping[Action, float]:
        return {self.act(view): 1.0}

    def policy_by_holding(self, view: View) -> Mapping[Action, float]:
        return self.policy(view)


class CallingBot(_SteadyBot):
    """Calls every bet and never makes one.

    Algorithm: call, or check if there is nothing to call. Both are always legal.

    Strength: -94 ± 14 mbb/g in limit and -864 ± 176 in no-limit against the other built-in bots, two players,
        duplicates, 95 % (docs/built-in-bots.md).
    """

    def act(self, view: View) -> Action:
        return CALL


class FoldingBot(_SteadyBot):
    """Folds to every bet.

    Algorithm: fold; check if there is nothing to fold to, where a fold is illegal.

    Strength: -520 ± 9 mbb/g in limit and -520 ± 74 in no-limit against the other built-in bots, two players,
        duplicates, 95 % (docs/built-in-bots.md); -750, the blinds, against bots that always bet.
    """

    def act(self, view: View) -> Action:
        return view.nearest_legal(FOLD)


class RaisingBot(_SteadyBot):
    """Raises whenever a raise is legal.

    Algorithm: bet or raise, in a no-limit game by the smallest legal size; call if no raise is legal (the round has had
        all its raises, or no player has chips left to answer one).

    Strength: +528 ± 35 mbb/g in limit and +7,489 ± 374 in no-limit against the other built-in bots, two players,
        duplicates, 95 % (docs/built-in-bots.md), nearly all of it from bots that fold too much or act at random.
    """

    def act(self, view: View) -> Action:
        return view.raise_min()


class HandRandom:
    """Random numbers that restart with every hand: seed, hand number and index determine each number.

    The generator is SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators"), which
    mixes a counter that increases by a fixed odd step. A hand's counter starts at the mix of seed and hand number, so
    neighbouring hands and seeds are unrelated.
    """

    # Not random.Random: to seed a Mersenne Twister for each hand takes 3.6 us, to restart this generator 0.3 us.

    __slots__ = ("_counter", "seed")

    def __init__(self, seed: int | None) -> None:
        if seed is None:
            seed = int.from_bytes(os.urandom(8))
        self.seed = mixed(seed & MASK_64)
        self._counter = 0
        self.begin_hand(0)

    def begin_hand(self, number: int) -> None:
        self._counter = mixed(self.seed + number * STEP & MASK_64)

    def random(self) -> float:
        self._counter = counter = self._counter + STEP & MASK_64
        return (mixed(counter) >> 11) * 2.0**-53

    def integer(self, low: int, high: int) -> int:
        """Return a uniform integer from `low` to `high`, both included; its bias is below 2**-64 per number."""
        self._counter = counter = self._counter + STEP & MASK_64
        return low + (mixed(counter) * (high - low + 1) >> 64)


class RandomBot(Bot):
    """Draws fold, call or raise with fixed probabilities.

    Algorithm: the probabilities are renormalised over the legal actions; the size of a no-limit raise is uniform over
        all legal hand totals. If every legal action has probability 0, call. The defaults are those
        of the example player of the ACPC server, which plays the same way. Its draws depend on its seed, the
        hand number and its earlier draws in that hand; without a seed it draws one.

        With the option `decisions` it draws one of the five decisions of `bots.formula.formulas` instead, in five
        proportions: ``20/50/15/10/5`` folds 20 times in 100, calls 50 times, makes a small raise 15 times, a medium
        one 10 times and a large one 5 times. An illegal decision is played as the legal action nearest in
        meaning. This is the random player of Fazio (2008, table 3, whose numbers are lost; these are a proposal).

        With the option `free_folds` it draws from all three actions everywhere, also from illegal ones. An illegal
        raise is a call. A fold where a check is free gives up the hand: the bot checks there, and folds to the next
        bet. This is the nearest to a free fold, as the RandomBot of Vytrísal (2013) makes it, that a dealer accepts.

    Strength: -594 ± 39 mbb/g in limit and -7,148 ± 499 in no-limit against the other built-in bots, two players,
        duplicates, 95 % (docs/built-in-bots.md); with `decisions` as above -1,101 ± 33 and -3,816 ± 290.
    """

    def __init__(
        self,
        *,
        fold: Annotated[float, "weight of folding, relative to the other two"] = _EXAMPLE_WEIGHTS[0],
        call: Annotated[float, "weight of calling"] = _EXAMPLE_WEIGHTS[1],
        raise_: Annotated[float, "weight of raising"] = _EXAMPLE_WEIGHTS[2],
        decisions: Annotated[
            str | None,
            "five weights such as 20/50/15/10/5, in place of the other three: fold, call, small, medium and "
            "large raise",
        ] = None,
        free_folds: Annotated[
            bool, "whether to fold as often where a check is free: to check there and fold to the next bet"
        ] = False,
        seed: DrawSeed = None,
    ) -> None:
        if free_folds and decisions is not None:
            raise ValueError("free_folds is for fold, call and raise, not for decisions")
        if min(fold, call, raise_) < 0 or not 0 < fold + call + raise_ < float("inf"):
            raise ValueError(f"the probabilities must be 0 or more and not all 0, not {fold}, {call}, {raise_}")
        self.weights = (fold, call, raise_)
        self.proportions = None if decisions is None else Proportions(decisions)
        if decisions is not None and self.weights != _EXAMPLE_WEIGHTS:
            raise ValueError("give either decisions or fold, call and raise, not both")
        self.random = HandRandom(seed)
        self._folds_freely = free_folds
        self._has_given_up = False

    def hand_started(self, view: View) -> None:
        self.random.begin_hand(view.hand_number)
        self._has_given_up = False

    def act(self, view: View) -> Action:
        if self.proportions is not None:
            return action_of(self.proportions.draw(self.random.random()), view)
        if self._folds_freely:
            return self._act_from_all(view)
        legal = view.legal
        fold, call, raise_ = self._legal_weights(legal)
        number = self.random.random() * (fold + call + raise_)
        if number < fold:
            return FOLD
        # Rounding can leave the number at the very end; it must not choose a raise of weight 0.
        if number < fold + call or not raise_:
            return CALL
        if view.game.is_limit:
            return RAISE
        return raise_to(self.random.integer(legal.raise_min, legal.raise_max))

    def _act_from_all(self, view: View) -> Action:
        """Draw from all three actions; a free fold gives up the hand."""
        fold, call, raise_ = self.weights
        number = self.random.random() * (fold + call + raise_)
        if number < fold or self._has_given_up:
            self._has_given_up = True
            return view.nearest_legal(FOLD)
        if number < fold + call or not view.can_raise:
            return CALL
        if view.game.is_limit:
            return RAISE
        legal = view.legal
        return raise_to(self.random.integer(legal.raise_min, legal.raise_max))

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Return the distribution that `act` draws from, in a no-limit game with an entry for every legal size.

        With `free_folds` earlier draws decide, and there are no such probabilities.
        """
        if self._folds_freely:
            return None
        if self.proportions is not None:
            return self.proportions.policy(view)
        fold, call, raise_ = self._legal_weights(view.legal)
        total = fold + call + raise_
        chances: dict[Action, float] = {}
        if fold:
            chances[FOLD] = fold / total
        if call:
            chances[CALL] = call / total
        if not raise_:
            return chances
        if view.game.is_limit:
            return chances | {RAISE: raise_ / total}
        legal = view.legal
        sizes = _raises(legal.raise_max)[legal.raise_min :]
        return chances | dict.fromkeys(sizes, raise_ / total / len(sizes))

    def policy_by_holding(self, view: View) -> Mapping[Action, float] | None:
        return self.policy(view)

    def _legal_weights(self, legal: LegalActions) -> tuple[float, float, float]:
        """Return the weights of fold, call and raise. An illegal action has weight 0, and they are never all 0."""
        fold, call, raise_ = self.weights
        if not legal.can_fold:
            fold = 0.0
        if not legal.can_raise:
            raise_ = 0.0
        if not fold + call + raise_:
            call = 1.0
        return fold, call, raise_


@lru_cache(8)
def _raises(max_total: int) -> tuple[Action, ...]:
    """Return the raises to 0, 1, ... and `max_total` chips."""
    # Cached, because building them takes longer than the rest of a policy.
    return tuple(map(raise_to, range(max_total + 1)))


ALL_IN: Final = -1.0
"""Marks the size all-in, in place of a fraction of the pot."""
_SIZES: Final = {"pot": 1.0, "allin": ALL_IN}
_ACTIONS: Final = {"fold": Decision.FOLD, "call": Decision.CALL, "raise": Decision.SMALL_RAISE}


class ConstantBot(_SteadyBot):
    """Always takes the same action.

    Algorithm: the option `action` is ``fold``, ``call`` or ``raise``. The option `size` is the size of raises in
        no-limit games: ``min``, ``pot``, ``allin``, or a fraction of the pot after calling, which is added to the call
        and clamped to the legal bounds. An illegal fold becomes a check, an illegal raise a call.

        With the option `decision` it takes one of the five decisions of `bots.formula.formulas` instead: 1 fold,
        2 call, 3 small, 4 medium and 5 large raise. These are the constant players of Fazio (2008, section 3.4.2).

    Strength: with `decision=3` +535 ± 35 mbb/g in limit and +7,489 ± 373 in no-limit against the other built-in bots,
        two players, duplicates, 95 % (docs/built-in-bots.md).
    """

    def __init__(
        self,
        *,
        action: Annotated[str, "fold, call or raise"] = "call",
        size: Annotated[str, "size of raises in a no-limit game: min, pot, allin, or a fraction of the pot"] = "min",
        decision: Annotated[
            int | None, "1 to 5, in place of the other two: fold, call, small, medium or large raise"
        ] = None,
    ) -> None:
        if action not in _ACTIONS:
            raise ValueError(f"action must be fold, call or raise, not {action!r}")
        self.decision = _ACTIONS[action]
        self.fraction = 0.0
        self.is_sized = action == "raise" and size != "min"
        if self.is_sized:
            self.fraction = _fraction(size)
        if decision is not None:
            if (action, size) != ("call", "min"):
                raise ValueError("give either decision or action and size, not both")
            if decision not in list(Decision):
                raise ValueError(
                    f"decision must be 1 to 5, for fold, call, small, medium or large raise, not {decision}"
                )
            self.decision = Decision(decision)

    def act(self, view: View) -> Action:
        if not self.is_sized:
            return action_of(self.decision, view)
        if self.fraction == ALL_IN:
            return view.all_in()
        return view.raise_by_pot(self.fraction)


def _fraction(size: str) -> float:
    """Parse a size as a fraction of the pot, or as `ALL_IN`."""
    if size in _SIZES:
        return _SIZES[size]
    try:
        fraction = float(size)
    except ValueError:
        fraction = -1.0
    if not 0 <= fraction < 1e6:
        raise ValueError(f"size must be min, pot, allin or a fraction of the pot such as 0.5, not {quoted(size)}")
    return fraction
