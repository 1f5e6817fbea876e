"""Leaks: decisions in which a player does worse than another player with the same cards.

    from logs.hand_source import find
    from logs.leaks import deals_in, leaks_of

    result = leaks_of(deals_in(find(["runs/x"])), "New")
    for leak in result.leaks:
        print(leak.name, leak.won.mean, leak.won.half_width)

- `divergences`: the first difference between two hands of a deal, and its situation in words
- `search`: cells of situations, their simultaneous intervals, and the leaks among them

docs/leaks.md explains the accounting.
"""

from logs.errors import LeaksRefused
from logs.leaks.divergences import BY_POSITION, Divergence
from logs.leaks.search import MIN_DEALS, Cell, Leaks, all_leaks_of, deals_in, leaks_of

__all__ = [
    "BY_POSITION",
    "MIN_DEALS",
    "Cell",
    "Divergence",
    "Leaks",
    "LeaksRefused",
    "all_leaks_of",
    "deals_in",
    "leaks_of",
]
