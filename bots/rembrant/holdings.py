"""The tables for all holdings at once: after the flop they ask for nothing but the kind of a hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.rembrant.kinds import Kind, read_kind
from bots.sdk.holdings import HoldingChances, view_with
from bots.sdk.view import View
from engine import Action, Card
from engine.ranges import HOLDINGS, are_free

__all__ = ["by_kind"]

_REMEMBERED: Final = 64
"""Boards whose kinds are kept: those of a few hands."""


def by_kind(view: View, policy: Callable[[View], Mapping[Action, float]]) -> HoldingChances:
    """A policy that depends on the kind of a hand alone, asked for each kind once."""
    found: dict[Action, NDArray[np.float64]] = {}
    for members in _members(view.board):
        for action, chance in policy(view_with(view, HOLDINGS[members[0]])).items():
            found.setdefault(action, np.zeros(len(HOLDINGS)))[members] = chance
    return found


@lru_cache(_REMEMBERED)
def _members(board: tuple[Card, ...]) -> tuple[NDArray[np.int64], ...]:
    """The holdings of each kind there is on a board."""
    kinds: dict[Kind, list[int]] = {}
    for number in np.flatnonzero(are_free(board)).tolist():
        kinds.setdefault(read_kind(HOLDINGS[number], board), []).append(number)
    return tuple(np.array(members) for members in kinds.values())
