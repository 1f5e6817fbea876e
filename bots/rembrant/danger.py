"""The threats on the board: flushes and straights that a hidden hand may have or draw to.

The work names three kinds of board. Two cards of a suit, or three ranks in a row, make the bot aggressive: a drawing
opponent has to pay. Four cards to a straight make it stop paying. `Danger` counts what decides which board it is; the
rest (three or more of a suit, three ranks within a straight) separates quiet boards from dry ones.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engine import Card
from engine.cards import rank_of, suit_of

__all__ = ["Danger", "read_danger"]

_RIVER_CARDS: Final = 5


class Danger(NamedTuple):
    """The threats of three to five board cards.

    Attributes:
        cards: how many cards the board has.
        suited: the largest number of cards in one suit.
        run: the longest run of consecutive ranks; the ace is above the king and below the deuce.
        within_straight: the largest number of ranks that fit into one straight.
    """

    cards: int
    suited: int
    run: int
    within_straight: int

    @property
    def is_flush_possible(self) -> bool:
        """Whether two hole cards can make a flush with the board."""
        return self.suited >= 3

    @property
    def is_straight_possible(self) -> bool:
        """Whether two hole cards can make a straight with the board."""
        return self.within_straight >= 3

    @property
    def is_four_to_flush(self) -> bool:
        """Whether one hole card makes a flush with the board."""
        return self.suited >= 4

    @property
    def is_four_to_straight(self) -> bool:
        """Whether one hole card makes a straight with the board, or the board is one."""
        return self.within_straight >= 4

    def invites_draws(self, *, on_river: bool = False) -> bool:
        """Whether the work plays aggressively on this board: two cards of a suit or three ranks in a row.

        Args:
            on_river: count two of a suit on the river too, where every board has them and no card is to come.
        """
        return self.run >= 3 or (self.suited >= 2 and (on_river or self.cards < _RIVER_CARDS))

    @property
    def is_dry(self) -> bool:
        """Whether nobody has a flush or a straight and nobody draws to a flush."""
        return not (self.invites_draws() or self.is_flush_possible or self.is_straight_possible)

    def describe(self) -> str:
        """The threats in words."""
        words = [word for word, is_so in zip(_WORDS, self._facts(), strict=True) if is_so]
        return ", ".join(words) if words else "dry"

    def _facts(self) -> tuple[bool, ...]:
        return (
            self.is_four_to_flush,
            self.suited == 3,
            self.suited == 2 and self.cards < _RIVER_CARDS,
            self.is_four_to_straight,
            self.run >= 3,
            self.within_straight == 3 and self.run < 3,
        )


_WORDS: Final = (
    "four to a flush",
    "three of a suit",
    "two of a suit",
    "four to a straight",
    "three in a row",
    "straight possible",
)

_STRAIGHTS: Final = tuple([0b11111 << low for low in range(10)])
"""Each straight as bits: bit 0 is the ace below the deuce, bit 13 the ace above the king."""


def read_danger(board: tuple[Card, ...]) -> Danger:
    """The threats of a board of three to five cards."""
    suits = [suit_of(card) for card in board]
    bits = 0
    for card in board:
        bits |= 2 << rank_of(card)
    bits |= bits >> 13
    row, run = bits, 0
    while row:
        row &= row >> 1
        run += 1
    return Danger(
        len(board),
        max([suits.count(suit) for suit in range(4)]),
        run,
        max([(bits & straight).bit_count() for straight in _STRAIGHTS]),
    )
