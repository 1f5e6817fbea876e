"""What hold'em is, and how card rooms play it.

The ACPC's games have any number of suits, ranks, rounds and cards. Hold'em is dealt from the whole deck, two hole cards
each and a board of three, one and one. Card rooms add where the blinds are posted and who acts first. Their names of
positions are small and big blind; button, cutoff and hijack; and the remaining ones counted from the player who acts
first before the flop. Heads-up the button posts the small blind and is called by that. In other games a position is
called by the order in which cards are dealt, a round by its number.
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
    if game.first_players[1:] != (0, 0, 0):
        return "another first player after the flop than the one left of the button"
    first = game.first_players[0]
    if first != opening:
        if game.blinds.count(max(game.blinds)) > 1 and game.blinds[first] == max(game.blinds):
            return "a second big blind, of a player who joins the table and acts in turn"
        return "another first player before the flop than the one behind the blinds"
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


SMALL_BLIND: Final = "SB"

_BIG_BLIND: Final = "BB"
_EARLY: Final = ("UTG", "UTG+1", "UTG+2", "UTG+3", "UTG+4")
_LATE: Final = ("HJ", "CO", "BTN")
_ORDINALS: Final = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th")

POSITION_ORDER: Final = (SMALL_BLIND, _BIG_BLIND, *_EARLY, *_LATE, *_ORDINALS)
"""All names of positions, in the order in which they are shown."""


def has_usual_blinds(game: Game) -> bool:
    """Whether a game is hold'em with the usual blinds: only there do all statistics make sense."""
    return holdem_blinds(game) is not None


def position_names(game: Game) -> tuple[str, ...]:
    """The name of each position.

    Six-handed these are SB, BB, UTG, HJ, CO and BTN, nine-handed SB, BB, UTG, UTG+1, UTG+2, UTG+3, HJ, CO and BTN.
    """
    players = game.num_players
    if not has_usual_blinds(game):
        return _ORDINALS[:players]
    if players == 2:
        return _BIG_BLIND, SMALL_BLIND
    # UTG acts first before the flop, wherever there are enough players to distinguish it from the cutoff.
    others = players - 2
    late = min(others, 3 if others > 3 else 2)
    return (SMALL_BLIND, _BIG_BLIND, *_EARLY[: others - late], *_LATE[3 - late :])


def round_names(game: Game) -> tuple[str, ...]:
    if has_usual_blinds(game):
        return ROUND_NAMES
    return tuple(f"round {number}" for number in range(1, game.num_rounds + 1))
