"""Where a player loses: the decisions in which it parts from the other player with the same cards.

    from logs.leaks import find_leaks

    found = find_leaks(["runs/x"], "New")
    for leak in found.leaks:
        print(leak.name, leak.per_100_hands, leak.half_width)

In a duplicate match of two players each of the two sits once in every seat of a deal. Both hands run alike until one
decision: there the same cards, with the same betting behind them, are played in two ways. All that the player won or
lost over both hands stands to the account of that decision, so the accounts add up to the result of the match.

- `situations`: what a player is in: cards, board, bets before, price; all in words
- `partings`: two hands of a deal in, the decision in which they part out
- `simultaneous`: intervals of many means that hold all together
- `search`: files in, leaks out
"""

from logs.errors import LeaksRefused
from logs.leaks.partings import Parting
from logs.leaks.search import FEWEST_DEALS, Cell, Leaks, find_leaks, leaks_of

__all__ = ["FEWEST_DEALS", "Cell", "Leaks", "LeaksRefused", "Parting", "find_leaks", "leaks_of"]
