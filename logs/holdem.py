"""Hold'em as the formats of card rooms and trackers know it, and what of the arena's games is none.

The ACPC's games are any number of suits, ranks, rounds and cards; PHH and Open Hand History know hold'em: the whole
deck, two hole cards, a board of three, one and one, and after the first round the player behind the button first.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engine import Game, Position
from logs.errors import UnsupportedGameError

__all__ = ["Blinds", "check_holdem", "opening_position", "usual_blinds"]

_BOARD: Final = (0, 3, 1, 1)


class Blinds(NamedTuple):
    """Who posts what at a usual table.

    Attributes:
        button: the position that is last after the flop.
        small: the position of the small blind.
        big: the position of the big blind.
    """

    button: Position
    small: Position
    big: Position


def opening_position(blinds: tuple[int, ...]) -> Position:
    """Who acts first before the flop: the player behind the last of the largest blinds."""
    last = max(range(len(blinds)), key=lambda position: (blinds[position], position))
    return Position((last + 1) % len(blinds))


def check_holdem(game: Game, format_name: str) -> None:
    """Do nothing if the game is hold'em.

    Raises:
        UnsupportedGameError: it is not; the sentence says in what, and which format holds the game.
    """
    opening = opening_position(game.blinds)
    if (game.num_suits, game.num_ranks) != (4, 13):
        what = f"a deck of {game.num_suits * game.num_ranks} cards"
    elif game.num_hole_cards != 2:
        what = f"{game.num_hole_cards} hole card{'s' * (game.num_hole_cards > 1)} per player"
    elif game.num_board_cards != _BOARD:
        what = f"a board of {' + '.join(map(str, game.num_board_cards))} cards"
    elif game.first_players != (opening, 0, 0, 0):
        what = f"an order in which positions {', '.join(map(str, game.first_players))} begin the rounds"
    elif game.is_limit and (game.raise_sizes[0] != game.raise_sizes[1] or game.raise_sizes[2] != game.raise_sizes[3]):
        what = f"bets of {', '.join(map(str, game.raise_sizes))} chips in the four rounds"
    elif not any(game.blinds):
        what = "no blinds"
    else:
        return
    raise UnsupportedGameError(
        format_name, f"{format_name} holds hold'em only, and this game has {what}; an ACPC log holds it"
    )


def usual_blinds(game: Game, format_name: str) -> Blinds:
    """Who posts the blinds in a game of hold'em.

    Raises:
        UnsupportedGameError: the game is no hold'em, or has not just a small and a big blind in their usual places.
    """
    check_holdem(game, format_name)
    players = game.num_players
    blinds = Blinds(Position(players - 1), Position(0), Position(1))
    if players == 2:
        # Heads-up the button posts the small blind and is first before the flop.
        blinds = Blinds(Position(1), Position(1), Position(0))
    small, big = game.blinds[blinds.small], game.blinds[blinds.big]
    if not 0 < small <= big or sum(game.blinds) != small + big:
        raise UnsupportedGameError(
            format_name,
            f"{format_name} wants one small and one big blind, and the blinds by position are "
            f"{', '.join(map(str, game.blinds))}; PHH and an ACPC log hold the game",
        )
    return blinds
