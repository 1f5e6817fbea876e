"""The equilibria of classic Kuhn poker: Kuhn (1950), "A simplified two-person poker"."""

from __future__ import annotations

from typing import Final

from bots.kuhn.games import Genes
from engine.errors import quoted

__all__ = ["MOST_BLUFFS", "VALUE", "kuhn_equilibrium"]

VALUE: Final = -1 / 18
"""What the first player wins on average, in chips."""
MOST_BLUFFS: Final = 1 / 3
"""The first player bets its worst card that often at most."""
_SECOND: Final[Genes] = (1 / 3, 0.0, 1.0, 0.0, 1 / 3, 1.0)


def kuhn_equilibrium(bluff: float) -> tuple[Genes, Genes]:
    """The strategies of both players.

    Args:
        bluff: how often the first player bets its worst card; it bets the best three times as often, and calls with the
            middle one more often by 1/3. The second player has one strategy.

    Raises:
        ValueError: no equilibrium bluffs that often.
    """
    if not 0 <= bluff <= MOST_BLUFFS:
        raise ValueError(f"bluff must be 0 to 1/3, not {quoted(f'{bluff:g}')}: in equilibrium nobody bluffs that often")
    return (bluff, 0.0, min(1.0, 3 * bluff), 0.0, min(1.0, bluff + 1 / 3), 1.0), _SECOND
