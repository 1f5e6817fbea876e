"""Hold'em among the games of the ACPC, and the conventions of card rooms for it.

Games of the ACPC can have any deck, rounds and hole cards. This module recognises those that are dealt like hold'em and
those that card rooms also play, with their blinds and their names of positions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from engine.game import BettingType, Game, Position
from engine.text import count_of

ROUND_NAMES: Final = ("preflop", "flop", "turn", "river")
NO_CAP: Final = 255
"""Number of raises in game definitions without a limit on raises."""

_BOARD: Final = (0, 3, 1, 1)


class Blinds(NamedTuple):
    """Positions of the button and the blinds. Heads-up the button posts the small blind."""

    button: Position
    small: Position
    big: Position


def is_dealt_as_holdem(game: Game) -> bool:
    """Return whether hole cards and board are those of hold'em, from any deck and for up to four rounds."""
    return game.num_hole_cards == 2 and game.num_board_cards == _BOARD[: game.num_rounds]


def is_holdem(game: Game) -> bool:
    """Return whether a game is dealt as hold'em from the whole deck. Stakes and blinds may be any."""
    return is_dealt_as_holdem(game) and game.num_rounds == len(_BOARD) and len(game.deck) == 52


def opening_position(blinds: tuple[int, ...]) -> Position:
    """Return the position that acts first before the flop in card rooms, after the last of the largest blinds."""
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
    """Return hold'em with these stakes, the same object for the same stakes.

    Args:
        stacks: chips by position.
        blinds: chips by position.
        raise_sizes: chips by round; empty in no-limit games.
        max_raises: number of raises allowed, by round.
        first: position that acts first before the flop; None for the one after the largest blinds.

    Raises:
        GameError: the game cannot be played.
    """
    if first is None:
        first = opening_position(blinds)
    return Game(
        betting=betting,
        num_players=len(stacks),
        num_rounds=4,
        stacks=stacks,
        blinds=blinds,
        raise_sizes=raise_sizes,
        first_players=(first, 0, 0, 0),
        max_raises=max_raises,
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        num_board_cards=_BOARD,
    )


def card_room_difference(game: Game) -> str | None:
    """Describe the first difference of a game from hold'em in card rooms as a noun phrase, or return None."""
    opening = opening_position(game.blinds)
    if (game.num_suits, game.num_ranks) != (4, 13):
        return f"a deck of {game.num_suits * game.num_ranks} cards"
    if game.num_hole_cards != 2:
        return f"{count_of(game.num_hole_cards, 'hole card')} per player"
    if game.num_board_cards != _BOARD:
        board = " + ".join(map(str, game.num_board_cards))
        return f"a board of {board} cards"
    if game.first_players[1:] != (0, 0, 0):
        return "another first player after the flop than the one left of the button"
    first = game.first_players[0]
    if first != opening:
        big_blind = max(game.blinds)
        if game.blinds.count(big_blind) > 1 and game.blinds[first] == big_blind:
            return "a second big blind, of a player who joins the table and acts in turn"
        return "another first player before the flop than the one behind the blinds"
    if game.is_limit:
        preflop, flop, turn, river = game.raise_sizes
        if preflop != flop or turn != river:
            return f"bets of {', '.join(map(str, game.raise_sizes))} chips in the four rounds"
    if not any(game.blinds):
        return "no blinds"
    return None


def holdem_blinds(game: Game) -> Blinds | None:
    """Return the positions of button and blinds; None unless this is hold'em of card rooms with two blinds."""
    if card_room_difference(game) is not None:
        return None
    if game.num_players == 2:
        # The last position is the button here as well, but it posts the small blind and acts first before the flop.
        positions = Blinds(button=Position(1), small=Position(1), big=Position(0))
    else:
        positions = Blinds(button=Position(game.num_players - 1), small=Position(0), big=Position(1))
    small = game.blinds[positions.small]
    big = game.blinds[positions.big]
    if not 0 < small <= big or sum(game.blinds) != small + big:
        return None
    return positions


SMALL_BLIND: Final = "SB"

_BIG_BLIND: Final = "BB"
_EARLY: Final = ("UTG", "UTG+1", "UTG+2", "UTG+3", "UTG+4")
_LATE: Final = ("HJ", "CO", "BTN")
_ORDINALS: Final = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th")

POSITION_ORDER: Final = (SMALL_BLIND, _BIG_BLIND, *_EARLY, *_LATE, *_ORDINALS)
"""All names of positions, in the order of tables."""


def has_usual_blinds(game: Game) -> bool:
    """Return whether card rooms play this hold'em with one small and one big blind. Some statistics need this."""
    return holdem_blinds(game) is not None


def position_names(game: Game) -> tuple[str, ...]:
    """Return the name of each position.

    Six-handed these are SB, BB, UTG, HJ, CO and BTN, nine-handed SB, BB, UTG, UTG+1, UTG+2, UTG+3, HJ, CO and BTN. In
    games without the usual blinds, positions are named by the order in which cards are dealt: 1st, 2nd, 3rd.
    """
    players = game.num_players
    if not has_usual_blinds(game):
        return _ORDINALS[:players]
    if players == 2:
        return _BIG_BLIND, SMALL_BLIND
    # The hijack gets its name only with six players and more: with five, the player who acts first is UTG.
    num_unnamed = players - 2
    max_late = 3 if num_unnamed > 3 else 2
    num_late = min(num_unnamed, max_late)
    return (SMALL_BLIND, _BIG_BLIND, *_EARLY[: num_unnamed - num_late], *_LATE[3 - num_late :])


def round_names(game: Game) -> tuple[str, ...]:
    if has_usual_blinds(game):
        return ROUND_NAMES
    return tuple(f"round {number}" for number in range(1, game.num_rounds + 1))
