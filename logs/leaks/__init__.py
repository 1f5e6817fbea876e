"""Where a player loses: the decisions in which it parts from the other player with the same cards.

    from logs.hand_source import find
    from logs.leaks import deals_in, leaks_of

    found = leaks_of(deals_in(find(["runs/x"])), "New")
    for leak in found.leaks:
        print(leak.name, leak.won.mean, leak.won.half_width)

In a duplicate match of two players each of the two sits once in every seat of a deal. Both hands run alike until one
decision: there the same cards, with the same betting behind them, are played in two ways. All that the player won or
lost over both hands is assigned to that decision, so the accounts add up to the result of the match.

Among more players, who sit once in every seat, each two hands of a deal run alike until one decision. Where the
player parts from another one in it, what it made of these cards beyond what that one made, at the mean over the others,
is assigned to the decision. What it won in each position beyond the others with the same cards is shown separately.

- `divergences`: the decision in which two hands of a deal part, and its situation in words
- `search`: files in, leaks as values with intervals that hold all together out
"""

from logs.errors import LeaksRefused
from logs.leaks.divergences import BY_POSITION, Divergence
from logs.leaks.search import FEWEST_DEALS, Cell, Leaks, all_leaks_of, deals_in, leaks_of

__all__ = [
    "BY_POSITION",
    "FEWEST_DEALS",
    "Cell",
    "Divergence",
    "Leaks",
    "LeaksRefused",
    "all_leaks_of",
    "deals_in",
    "leaks_of",
]
