"""The cells and row heads of the tables: moves, and the opponent's last action.

A cell names one move; or two moves separated by a slash, between which the board decides (`bots.rembrant.choice`); or
a call with a limit on the size of the opponent's raise.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

__all__ = ["BIG_BLIND_OF_THE_WORK", "Cell", "Move", "Opponent", "parse_cell"]

BIG_BLIND_OF_THE_WORK: Final = 2
"""The big blind that the limits in the tables refer to: the work's example posts blinds of 1 and 2."""


class Move(enum.IntEnum):
    """The moves of the tables; a higher number is more aggressive."""

    FOLD = 0
    CHECK = 1
    CALL = 2
    RAISE = 3
    RE_RAISE = 4
    ALL_IN = 5

    @property
    def word(self) -> str:
        """The move as the tables write it."""
        return _WORDS[self]


_WORDS: Final = tuple([move.name.lower().replace("_", "-") for move in Move])
_MOVES: Final = dict(zip(_WORDS, Move, strict=True))


class Opponent(enum.Enum):
    """The opponent's last action in this round; the value is the head of its row in the tables after the flop."""

    NONE = "other"
    CHECK_OR_CALL = "check"
    RAISE = "raise"
    RE_RAISE = "re-raise"
    ALL_IN = "all-in"


class Cell(NamedTuple):
    """One cell.

    Attributes:
        text: as printed.
        passive: the less aggressive of its moves; a fold for a cell with a limit.
        aggressive: the other move, or the same one if there is only one.
        limit: the largest raise that is called, as a hand total in the work's chips; None for cells without a limit.
    """

    text: str
    passive: Move
    aggressive: Move
    limit: int | None = None

    @property
    def has_slash(self) -> bool:
        """Whether the board decides."""
        return self.limit is None and self.passive is not self.aggressive

    def limit_chips(self, big_blind: int) -> int | None:
        """The limit as a hand total in chips of a game with this big blind, rounded down."""
        return None if self.limit is None else self.limit * big_blind // BIG_BLIND_OF_THE_WORK


def parse_cell(text: str) -> Cell:
    """Read a cell: ``call``, ``call/re-raise`` in any order, or ``call <= 40``.

    Raises:
        ValueError: it is none of these.
    """
    words, is_limited, limit = text.partition(" <= ")
    moves = sorted([_MOVES[word] for word in words.split("/") if word in _MOVES])
    if len(moves) != len(words.split("/")) or len(moves) > 2 or (is_limited and moves != [Move.CALL]):
        raise ValueError(f"{text!r} is not a cell of a table")
    if is_limited:
        return Cell(text, Move.FOLD, Move.CALL, int(limit))
    return Cell(text, moves[0], moves[-1])
