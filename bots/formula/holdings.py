"""The formula of `mfs` for all holdings at once, to the bit what `bots.formula.relations` says of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bots.formula.decisions import Decision
from bots.formula.observation import observe
from bots.sdk.view import View
from engine.ranges import HOLDINGS, chances_of_all

__all__ = ["mfs_decisions"]


def mfs_decisions(view: View, k: float) -> NDArray[np.int64]:
    """The decision with each holding against one opponent, shape (1326,); any for holdings with a card of the board."""
    seen = observe(view)
    if not seen.odds:
        return np.full(len(HOLDINGS), int(Decision.CALL))
    percent = 100 * chances_of_all(view.board).equity
    gain = percent * (seen.pot_chips - seen.own_chips)
    loss = (100 - percent) * (seen.own_chips + seen.raise_chips)
    with np.errstate(divide="ignore", invalid="ignore"):
        relation = np.where(loss == 0, np.where(gain > 0, np.inf, 0.0), gain / loss)
    clamped = np.clip(k * relation, Decision.FOLD, Decision.LARGE_RAISE)
    decisions: NDArray[np.int64] = np.floor(np.nan_to_num(clamped, nan=Decision.FOLD)).astype(np.int64)
    return decisions
