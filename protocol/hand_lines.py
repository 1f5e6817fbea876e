"""The lines of one hand as the dealer writes them, for every position, built up as the hand goes.

A state line is a prefix (position, hand number), the betting so far, and the cards as the position sees them. The
betting text belongs to the betting state, so it is kept with it (`BettingNote`) and shared by all hands that pass
there; the rest is made once a hand, and the cards once a round.
"""

from __future__ import annotations

from typing import Final

from engine import CARD_TEXTS, Action, BettingState, Deal, Game
from protocol.actions import format_action

__all__ = ["BettingNote", "HandLines", "note_after", "note_of"]

_CARD_BYTES: Final = tuple(text.encode() for text in CARD_TEXTS)


class BettingNote:
    """What the protocol keeps with a betting state.

    Attributes:
        text: the betting as state lines hold it.
    """

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text


def note_of(betting: BettingState) -> BettingNote:
    """The note of a betting state, made when it is first asked for."""
    note = betting.note
    if not isinstance(note, BettingNote):
        texts = [b"".join([format_action(action).encode() for _, action in actions]) for actions in betting.rounds]
        note = betting.note = BettingNote(b"/".join(texts))
    return note


def note_after(before: BettingState, action: Action, after: BettingState) -> BettingNote:
    """The note of the state that follows an action, made from the note before."""
    note = after.note
    if not isinstance(note, BettingNote):
        text = note_of(before).text + format_action(action).encode() + b"/" * (after.round - before.round)
        note = after.note = BettingNote(text)
    return note


class HandLines:
    """The lines of one hand.

    Attributes:
        prefixes: by position, what a line begins with.
        tails: by position, what follows the betting in the present round, CR LF included.
    """

    __slots__ = ("_board", "_board_ends", "_deal", "_holes", "prefixes", "tails")

    def __init__(self, game: Game, deal: Deal, hand_number: int, first_round: int = 0) -> None:
        players = game.num_players
        self._deal = deal
        self._board_ends = (0, *game.board_cards_by_round)
        self._board = b""
        self._holes = [b"".join([_CARD_BYTES[card] for card in cards]) for cards in deal.hole_cards]
        self.prefixes = [b"MATCHSTATE:%d:%d:" % (position, hand_number) for position in range(players)]
        self.tails: list[bytes] = []
        self.reach(-1, first_round)

    def reach(self, before: int, round_: int) -> None:
        """The hand has gone on from one round to another."""
        ends = self._board_ends
        for reached in range(before + 1, round_ + 1):
            if reached:
                self._board += b"/"
            self._board += b"".join([_CARD_BYTES[card] for card in self._deal.board[ends[reached] : ends[reached + 1]]])
        last = len(self._holes) - 1
        board = self._board + b"\r\n"
        self.tails = [
            b":" + b"|" * position + hole + b"|" * (last - position) + board
            for position, hole in enumerate(self._holes)
        ]

    def show(self, folded: int) -> None:
        """The hand ended by showdown: everybody sees all hands that were not folded, and his own.

        Args:
            folded: bit p is set when position p has folded.
        """
        board = self._board + b"\r\n"
        shown = [b"" if folded >> position & 1 else hole for position, hole in enumerate(self._holes)]
        self.tails = [
            b":" + b"|".join([*shown[:position], hole, *shown[position + 1 :]]) + board
            for position, hole in enumerate(self._holes)
        ]
