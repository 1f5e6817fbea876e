"""The lines of one hand as the dealer writes them, for every position, built up as the hand goes.

A state line is a prefix (position, hand number), the betting so far, and the cards as the position sees them. The
betting text belongs to the betting state, so it is kept with it (`BettingNote`) and shared by all hands that pass
there; the rest is made once a hand, and the cards once a round.

The note also remembers the replies read in that state: the bytes behind the echoed state, with the action and the
state they lead to. A dealer meets the same few over and over, and need not read them again.
"""

from __future__ import annotations

from typing import Final

from engine import CARD_TEXTS, Action, BettingState, Deal, Game
from protocol.actions import format_action

__all__ = ["BettingNote", "HandLines", "note_of"]

_CARD_BYTES: Final = tuple(text.encode() for text in CARD_TEXTS)
_MOST_REPLIES: Final = 8


class BettingNote:
    """What the protocol knows about a betting state.

    Attributes:
        text: the betting as state lines hold it.
        replies: bytes behind an echoed state, CR LF included, and what they amount to in this state: a legal action
            and the state that follows. Holds a few only; add with `remember`.
    """

    __slots__ = ("replies", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.replies: dict[bytes, tuple[Action, BettingState]] = {}

    def remember(self, tail: bytes, action: Action, after: BettingState) -> None:
        """Keep a reply, unless there are enough already or it is no whole, short line."""
        if len(self.replies) < _MOST_REPLIES and len(tail) < 16 and tail.endswith(b"\n"):
            self.replies[tail] = action, after


def note_of(betting: BettingState) -> BettingNote:
    """The note of a betting state, made when it is first asked for."""
    note = betting.note
    if not isinstance(note, BettingNote):
        texts = [b"".join([format_action(action).encode() for _, action in actions]) for actions in betting.rounds]
        note = betting.note = BettingNote(b"/".join(texts))
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
