"""Which games the formats of card rooms can hold, and the sentences about those that they cannot."""

from __future__ import annotations

from engine import Game
from engine.holdem import Blinds, card_room_difference, holdem_blinds
from logs.errors import UnsupportedGameError

__all__ = ["check_holdem", "usual_blinds"]


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
