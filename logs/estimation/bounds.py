"""The most that can be won or lost in one hand of a game.

A test that must hold for scores of any shape (`logs.estimation.sequential`) needs to know how far they can reach: the
tighter the bounds, the sooner it ends. Cards do not matter here: the bounds follow from stacks, blinds and raises.

A position's largest loss is the most it can be made to put in for good:

- never more than its stack;
- in no-limit games never more than the deepest other stack: nobody can be raised beyond what somebody else has, and
  what nobody has matched comes back at the showdown;
- in limit games never more than the largest blind and all raises of all rounds. A raise that ends at a short stack can
  lower the bet there (see `engine.betting`), and then chips above it are lost, so the other stacks are no bound.

Winnings come from losses: a position's largest win is at most what all others can lose together.
"""

from __future__ import annotations

from engine import Game
from engine.game import MAX_ACTIONS_PER_ROUND


def largest_loss(game: Game) -> int:
    """The most chips that a player can lose in one hand."""
    return max(possible_losses(game))


def largest_value(game: Game) -> int:
    """A bound on the chips that a player can win in one hand; some games never pay quite as much."""
    losses = possible_losses(game)
    return sum(losses) - min(losses)


def score_bounds(game: Game) -> tuple[float, float]:
    """The lowest and the highest score in mbb per hand, of a hand and so of any mean over seatings."""
    to_mbb = 1000 / game.big_blind
    return -largest_loss(game) * to_mbb, largest_value(game) * to_mbb


def possible_losses(game: Game) -> list[int]:
    """The most chips that each position can lose in one hand."""
    if game.is_limit:
        # A raise leaves room for everybody to answer, so a round has fewer raises than actions.
        most_raises = MAX_ACTIONS_PER_ROUND - game.num_players + 1
        bets = sum(
            size * min(raises, most_raises) for size, raises in zip(game.raise_sizes, game.max_raises, strict=True)
        )
        highest_bet = max(game.blinds) + bets
        return [min(stack, highest_bet) for stack in game.stacks]
    return [
        min(stack, max(game.stacks[:position] + game.stacks[position + 1 :]))
        for position, stack in enumerate(game.stacks)
    ]
