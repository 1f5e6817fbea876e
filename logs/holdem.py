"""Which games the formats of card rooms can hold, and the sentences about those that they cannot."""

from __future__ import annotations

from typing import Final

from engine import Game
from engine.game import DEFAULT_STACK
from engine.holdem import Blinds, card_room_difference, holdem_blinds
from logs.errors import UnsupportedGameError

__all__ = ["check_holdem", "shown_stacks", "usual_blinds"]

_DEEP_BIG_BLINDS: Final = 10_000


def check_holdem(game: Game, format_name: str) -> None:
    """Do nothing if the game is the hold'em of card rooms.

    Raises:
        UnsupportedGameError: it is not; the sentence says what is different, and which format holds the game.
    """
    difference = card_room_difference(game)
    if difference is not None:
        raise UnsupportedGameError(
            format_name, f"{format_name} holds hold'em only, and this game has {difference}; an ACPC log holds it"
        )


def usual_blinds(game: Game, format_name: str) -> Blinds:
    """Who posts the blinds in a game of hold'em.

    Raises:
        UnsupportedGameError: it is not hold'em, or has other blinds than a small and a big one in their usual places.
    """
    check_holdem(game, format_name)
    blinds = holdem_blinds(game)
    if blinds is None:
        raise UnsupportedGameError(
            format_name,
            f"{format_name} wants one small and one big blind, and the blinds by position are "
            f"{', '.join(map(str, game.blinds))}; PHH and an ACPC log hold the game",
        )
    return blinds


def shown_stacks(game: Game) -> tuple[int, ...]:
    """The stacks of a game of hold'em as hand histories have them, in chips by position.

    A limit game may give no stacks: they are then deeper than any pot, and as a number (2147483647) deeper than a
    tracker that counts cents in 32 bits can hold. Every format writes 10,000 big blinds for them, or more where the
    game's raises could use that up.
    """
    if not game.is_limit:
        return game.stacks
    raises = sum(most * size for most, size in zip(game.max_raises, game.raise_sizes, strict=True))
    deep = max(_DEEP_BIG_BLINDS, (max(game.blinds) + raises) // game.big_blind + 1) * game.big_blind
    return tuple([deep if stack == DEFAULT_STACK else stack for stack in game.stacks])
