"""Map a real hand to nodes of a strategy's tree, and return the policy and the ranges there."""

from __future__ import annotations

from bots.cfr.lookup.table_play import (
    decide_at,
    find_ranges,
    narrow_range,
    play,
    ranks_on,
    tree_positions,
)
from bots.cfr.lookup.translation import NO_BET, OFF_TREE, Chances, Reading, TreePosition, lower_chance, readings

__all__ = (
    "NO_BET",
    "OFF_TREE",
    "Chances",
    "Reading",
    "TreePosition",
    "decide_at",
    "find_ranges",
    "lower_chance",
    "narrow_range",
    "play",
    "ranks_on",
    "readings",
    "tree_positions",
)
