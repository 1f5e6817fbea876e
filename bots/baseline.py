"""The simplest players: what every other player is measured against, and what tests of a dealer are played with.

None of them looks at a card. Where an action they would take is illegal they take the legal one nearest in meaning
(`bots.legality.nearest_legal`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

from bots.bot import Bot
from bots.view import View
from engine import CALL, FOLD, RAISE, Action, raise_to

__all__ = ["CallingBot", "ConstantBot", "FoldingBot", "RaisingBot", "RandomBot"]


class CallingBot(Bot):
    """Calls every bet and never makes one.

    Algorithm: call; check where there is nothing to call. Both are always legal.
    """

    def act(self, view: View) -> Action:
        """Call or check."""
        return CALL

    def policy(self, view: View) -> Mapping[Action, float]:
        """All on call."""
        return {CALL: 1.0}


class FoldingBot(Bot):
    """Folds to every bet.

    Algorithm: fold; where there is nothing to fold to, where a fold is illegal, check.
    """

    def act(self, view: View) -> Action:
        """Fold or check."""
        return view.nearest_legal(FOLD)

    def policy(self, view: View) -> Mapping[Action, float]:
        """All on the one action."""
        return {view.nearest_legal(FOLD): 1.0}


class RaisingBot(Bot):
    """Raises whenever it may.

    Algorithm: bet or raise, in a no-limit game by the smallest legal size; where no raise is legal (the round has had
        all its raises, or nobody has chips left to answer one), call.
    """

    def act(self, view: View) -> Action:
        """Raise or call."""
        return view.raise_min()

    def policy(self, view: View) -> Mapping[Action, float]:
        """All on the one action."""
        return {view.raise_min(): 1.0}


class RandomBot(Bot):
    """Draws fold, call or raise with fixed probabilities.

    Algorithm: the probabilities are renormalised over the actions that are legal; the size of a no-limit raise is
        uniform over all legal hand totals. Where every legal action has probability 0, call. The defaults are those
        of the example player of the ACPC server, which plays the same way.
    """

    def __init__(
        self, *, fold: float = 0.06, call: float = 0.47, raise_: float = 0.47, seed: int | None = None
    ) -> None:
        if min(fold, call, raise_) < 0 or not 0 < fold + call + raise_ < float("inf"):
            raise ValueError(f"the probabilities must be 0 or more and not all 0, not {fold}, {call}, {raise_}")
        self._weights = (fold, call, raise_)
        self._random = random.Random(seed)

    def act(self, view: View) -> Action:
        """Draw an action, then its size."""
        fold, call, raise_ = self._legal_weights(view)
        drawn = self._random.random() * (fold + call + raise_)
        if drawn < fold:
            return FOLD
        if drawn < fold + call or not raise_:
            return CALL
        if view.game.is_limit:
            return RAISE
        return raise_to(self._random.randint(view.min_raise_hand_total, view.max_raise_hand_total))

    def policy(self, view: View) -> Mapping[Action, float]:
        """The probabilities that `act` draws from; in a no-limit game one entry for every legal size."""
        fold, call, raise_ = self._legal_weights(view)
        total = fold + call + raise_
        chances = {action: weight / total for action, weight in ((FOLD, fold), (CALL, call)) if weight}
        if not raise_:
            return chances
        if view.game.is_limit:
            return chances | {RAISE: raise_ / total}
        sizes = range(view.min_raise_hand_total, view.max_raise_hand_total + 1)
        return chances | {raise_to(hand_total): raise_ / total / len(sizes) for hand_total in sizes}

    def _legal_weights(self, view: View) -> tuple[float, float, float]:
        """Weights of fold, call, raise with 0 for what is illegal; never all 0."""
        fold, call, raise_ = self._weights
        legal = view.legal
        fold, raise_ = fold * legal.can_fold, raise_ * legal.can_raise
        return (fold, call, raise_) if fold + call + raise_ else (0.0, 1.0, 0.0)


_SIZES: Final[Mapping[str, Callable[[View], Action]]] = {
    "min": View.raise_min,
    "pot": lambda view: view.raise_by_pot(1.0),
    "allin": View.all_in,
}


class ConstantBot(Bot):
    """Takes one and the same action always.

    Algorithm: the option `action` is ``fold``, ``call`` or ``raise``. The option `size` says by how much to raise in
        a no-limit game: ``min``, ``pot``, ``allin``, or a number, the fraction of the pot (after calling) that is
        added to the call, held within the legal bounds. Where the action is illegal: a fold becomes a check, a raise
        a call.
    """

    def __init__(self, *, action: str = "call", size: str = "min") -> None:
        if action not in ("fold", "call", "raise"):
            raise ValueError(f"action must be fold, call or raise, not {action!r}")
        self._choose = {"fold": _fold, "call": View.call}.get(action) or _raise_by(size)

    def act(self, view: View) -> Action:
        """Take the action."""
        return self._choose(view)

    def policy(self, view: View) -> Mapping[Action, float]:
        """All on the one action."""
        return {self._choose(view): 1.0}


def _fold(view: View) -> Action:
    return view.nearest_legal(FOLD)


def _raise_by(size: str) -> Callable[[View], Action]:
    if size in _SIZES:
        return _SIZES[size]
    try:
        fraction = float(size)
    except ValueError:
        fraction = -1.0
    if not 0 <= fraction < 1e6:
        raise ValueError(f"size must be min, pot, allin or a fraction of the pot such as 0.5, not {size!r}")
    return lambda view: view.raise_by_pot(fraction)
