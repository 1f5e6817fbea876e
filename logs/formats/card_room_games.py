"""Games of card rooms, which are hold'em with one small and one big blind, and the stacks in their histories."""

from __future__ import annotations

from typing import Final

from engine import Game
from engine.game import DEFAULT_STACK
from engine.holdem import Blinds, card_room_difference, holdem_blinds
from logs.errors import UnsupportedGameError

_DEEP_BIG_BLINDS: Final = 10_000


def check_holdem(game: Game, format_name: str) -> None:
    """Require the hold'em of card rooms.

    Raises:
        UnsupportedGameError: the game differs; the message names the difference and a format that can express the game.
    """
    difference = card_room_difference(game)
    if difference is not None:
        raise UnsupportedGameError(format_name, f"{format_name} cannot hold a game with {difference}; an ACPC log can")


def usual_blinds(game: Game, format_name: str) -> Blinds:
    """Return the positions of the blinds in a game of hold'em.

    Raises:
        UnsupportedGameError: it is not hold'em, or its blinds are not a small and a big one in their usual places.
    """
    check_holdem(game, format_name)
    blinds = holdem_blinds(game)
    if blinds is None:
        amounts = ", ".join(map(str, game.blinds))
        problem = f"{format_name} needs one small and one big blind, but the blinds by position are {amounts}"
        raise UnsupportedGameError(format_name, f"{problem}; PHH and an ACPC log hold the game")
    return blinds


def shown_stacks(game: Game) -> tuple[int, ...]:
    """Return the stacks of a game of hold'em for hand histories, in chips by position."""
    if not game.is_limit:
        return game.stacks
    # A limit game may have no stacks. They are 2147483647 chips then, too many for a tracker that counts cents in 32
    # bits. Every format writes 10,000 big blinds instead, or more if the game's raises could use that up.
    max_spent = max(game.blinds)
    for max_raises, size in zip(game.max_raises, game.raise_sizes, strict=True):
        max_spent += max_raises * size
    big_blinds = max(_DEEP_BIG_BLINDS, max_spent // game.big_blind + 1)
    stacks = list(game.stacks)
    for position, stack in enumerate(stacks):
        if stack == DEFAULT_STACK:
            stacks[position] = big_blinds * game.big_blind
    return tuple(stacks)
