"""What hold'em is, and how card rooms play it.

The ACPC's games have any number of suits, ranks, rounds and cards. Hold'em is dealt from the whole deck, two hole cards
each and a board of three, one and one. Card rooms add where the blinds are posted and who acts first.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from engine.game import BettingType, Game, Position

ROUND_NAMES: Final = ("preflop", "flop", "turn", "river")
NO_CAP: Final = 255
"""What a game definition says where raises are not counted."""

_BOARD: Final = (0, 3, 1, 1)


class Blinds(NamedTuple):
    """Who posts the blinds. `button`: the position that is last after the flop."""

    button: Position
    small: Position
    big: Position


def is_dealt_as_holdem(game: Game) -> bool:
    """Whether players get two hole cards and the board comes as in hold'em, from any deck and in up to four rounds."""
    return game.num_hole_cards == 2 and game.num_board_cards == _BOARD[: game.num_rounds]


def is_holdem(game: Game) -> bool:
    """Whether the cards are those of hold'em: the whole deck, two hole cards, a board of three, one and one."""
    return is_dealt_as_holdem(game) and game.num_rounds == len(_BOARD) and len(game.deck) == 52


def opening_position(blinds: tuple[int, ...]) -> Position:
    """The position that acts first before the flop in card rooms: after the last of the largest blinds."""
    last = max(range(len(blinds)), key=lambda position: (blinds[position], position))
    return Position((last + 1) % len(blinds))


@lru_cache(maxsize=256)
def holdem_game(
    betting: BettingType,
    stacks: tuple[int, ...],
    blinds: tuple[int, ...],
    raise_sizes: tuple[int, ...] = (),
    max_raises: tuple[int, ...] = (NO_CAP,) * 4,
    first: Position | None = None,
) -> Game:
    """Hold'em with these stakes: one object for all its hands.

    Args:
        betting: how raises are sized.
        stacks: by position, in chips.
        blinds: by position, in chips.
        raise_sizes: of each round; none in no-limit games.
        first: who acts first before the flop; None is the player after the largest blinds.

    Raises:
        GameError: this game cannot be played.
    """
    return Game(
        betting=betting,
        num_players=len(stacks),
        num_rounds=4,
        stacks=stacks,
        blinds=blinds,
        raise_sizes=raise_sizes,
        first_players=(opening_position(blinds) if first is None else first, 0, 0, 0),
        max_raises=max_raises,
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        num_board_cards=_BOARD,
    )


def card_room_difference(game: Game) -> str | None:
    """What distinguishes a game from the hold'em of card rooms, as a noun phrase; None where nothing does."""
    opening = opening_position(game.blinds)
    if (game.num_suits, game.num_ranks) != (4, 13):
        return f"a deck of {game.num_suits * game.num_ranks} cards"
    if game.num_hole_cards != 2:
        return f"{game.num_hole_cards} hole card{'s' * (game.num_hole_cards > 1)} per player"
    if game.num_board_cards != _BOARD:
        return f"a board of {' + '.join(map(str, game.num_board_cards))} cards"
    if game.first_players != (opening, 0, 0, 0):
        return f"an order in which positions {', '.join(map(str, game.first_players))} begin the rounds"
    if game.is_limit and (game.raise_sizes[0] != game.raise_sizes[1] or game.raise_sizes[2] != game.raise_sizes[3]):
        return f"bets of {', '.join(map(str, game.raise_sizes))} chips in the four rounds"
    if not any(game.blinds):
        return "no blinds"
    return None


def holdem_blinds(game: Game) -> Blinds | None:
    """Who posts the blinds; None unless it is the hold'em of card rooms with one small and one big blind."""
    if card_room_difference(game) is not None:
        return None
    players = game.num_players
    # Heads-up the button posts the small blind and is first before the flop.
    blinds = (1, 1, 0) if players == 2 else (players - 1, 0, 1)
    button, small, big = map(Position, blinds)
    if not 0 < game.blinds[small] <= game.blinds[big] or sum(game.blinds) != game.blinds[small] + game.blinds[big]:
        return None
    return Blinds(button, small, big)
