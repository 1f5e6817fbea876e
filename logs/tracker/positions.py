"""What the positions and the betting rounds of a game are called.

Hold'em has the names of the card table: small and big blind; button, cutoff and hijack; and the remaining ones counted
from the player who acts first before the flop. Heads-up the button posts the small blind and is called by that. Other
games have no such names: a position is called by the order in which cards are dealt, a round by its number.
"""

from __future__ import annotations

from typing import Final

from engine import Game
from engine.holdem import ROUND_NAMES, holdem_blinds

SMALL_BLIND: Final = "SB"

_BIG_BLIND: Final = "BB"
_EARLY: Final = ("UTG", "UTG+1", "UTG+2", "UTG+3", "UTG+4")
_LATE: Final = ("HJ", "CO", "BTN")
_ORDINALS: Final = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th")

POSITION_ORDER: Final = (SMALL_BLIND, _BIG_BLIND, *_EARLY, *_LATE, *_ORDINALS)
"""All names of positions, in the order in which they are shown."""


def is_holdem(game: Game) -> bool:
    """Whether a game is hold'em with the usual blinds: only there do all statistics make sense."""
    return holdem_blinds(game) is not None


def position_names(game: Game) -> tuple[str, ...]:
    """The name of each position.

    Six-handed these are SB, BB, UTG, HJ, CO and BTN, nine-handed SB, BB, UTG, UTG+1, UTG+2, UTG+3, HJ, CO and BTN.
    """
    players = game.num_players
    if not is_holdem(game):
        return _ORDINALS[:players]
    if players == 2:
        return _BIG_BLIND, SMALL_BLIND
    # UTG acts first before the flop, wherever there are enough players to distinguish it from the cutoff.
    others = players - 2
    late = min(others, 3 if others > 3 else 2)
    return (SMALL_BLIND, _BIG_BLIND, *_EARLY[: others - late], *_LATE[3 - late :])


def round_names(game: Game) -> tuple[str, ...]:
    """The name of each betting round."""
    return ROUND_NAMES if is_holdem(game) else tuple(f"round {number}" for number in range(1, game.num_rounds + 1))
