"""Actions of an environment: fold, call and a few sizes of raises, numbered for a policy with discrete outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from engine import CALL, FOLD, RAISE, Action, BettingState, Game, nearest_legal, raise_to

NO_LIMIT_SIZES: Final = (0.5, 1.0, math.inf)
"""Default raises of no-limit games: half the pot, the pot, all-in."""
_LIMIT_SIZES: Final = (0.0,)


class ActionMenu:
    """Numbered actions: 0 folds, 1 calls or checks, each further number raises by one of the sizes.

    A size that comes out at the same total as an earlier one is masked, so that every legal number is another action.

    Attributes:
        raise_sizes: fractions of the pot after calling, as in `View.raise_by_pot`; 0 is the smallest raise and
            `math.inf` all-in. A limit game has one raise of its fixed size.
        size: number of actions.
    """

    def __init__(self, game: Game, raise_sizes: Sequence[float] | None = None) -> None:
        """Choose the sizes, by default `NO_LIMIT_SIZES` in a no-limit game.

        Raises:
            ValueError: a size is negative or not a number, a size is repeated, or the game has limit betting.
        """
        if raise_sizes is None:
            raise_sizes = _LIMIT_SIZES if game.is_limit else NO_LIMIT_SIZES
        elif game.is_limit:
            raise ValueError("raise_sizes are for no-limit games; a limit game fixes the size of its raises")
        sizes = tuple(map(float, raise_sizes))
        if not all(size >= 0 for size in sizes) or len(set(sizes)) != len(sizes):
            raise ValueError(f"raise_sizes must be different fractions of the pot, 0 or more, not {sizes}")
        self.game = game
        self.raise_sizes = sizes
        self.size = 2 + len(sizes)

    def legal_actions(self, betting: BettingState) -> tuple[Action | None, ...]:
        """Return the action of each number, None for the masked ones. At the end of a hand only the call is left."""
        if betting.finished:
            return (None, CALL, *[None] * len(self.raise_sizes))
        legal = betting.legal_actions()
        actions: list[Action | None] = [FOLD if legal.can_fold else None, CALL]
        for size in self.raise_sizes:
            action = self._raise(size, betting)
            actions.append(None if action in actions else action)
        return tuple(actions)

    def nearest_legal(self, number: int, betting: BettingState) -> Action:
        """Return the legal action nearest to a masked number."""
        if number < 2:
            return CALL
        return self._raise(self.raise_sizes[number - 2], betting)

    def _raise(self, size: float, betting: BettingState) -> Action:
        if self.game.is_limit:
            return nearest_legal(RAISE, betting)
        # A float until it is cut at the stack, since infinity has no integer.
        chips = min(size * (betting.pot + betting.to_call), float(max(self.game.stacks)))
        return nearest_legal(raise_to(betting.max_spent + int(chips)), betting)
