"""The lines of one hand as the dealer writes them, for every position, built up as the hand is played.

A state line is a prefix (position, hand number), the betting so far, and the cards as the position sees them. Prefixes
are made once per hand, the cards once per round, and each action adds its letters to the betting.
"""

from __future__ import annotations

from typing import Final

from engine import CALL, CARD_TEXTS, FOLD, RAISE, Action, ActionKind, BettingState, Deal
from protocol.actions import format_action
from protocol.match_state import betting_text, remember_betting_text

__all__ = ["HandLines"]

_CARD_BYTES: Final = tuple(text.encode() for text in CARD_TEXTS)


class HandLines:
    """The lines of one hand.

    Attributes:
        betting: the betting so far, as every line holds it.
        prefixes: by position, what a line begins with.
        tails: by position, what follows the betting in the present round, CR LF included.
    """

    __slots__ = ("_board", "_board_ends", "_deal", "_holes", "_round", "betting", "prefixes", "tails")

    def __init__(self, deal: Deal, hand_number: int, betting: BettingState) -> None:
        """Begin where `betting` stands: at the start of the hand, or after actions that were played elsewhere."""
        self._deal = deal
        self._board_ends = (0, *betting.game.board_cards_by_round)
        self._board = b""
        self._holes = [b"".join([_CARD_BYTES[card] for card in cards]) for cards in deal.hole_cards]
        self._round = -1
        self.betting = betting_text(betting).encode()
        self.prefixes = [b"MATCHSTATE:%d:%d:" % (position, hand_number) for position in range(len(self._holes))]
        self.tails: list[bytes] = []
        self._reach(betting.round)

    def line(self, position: int) -> bytes:
        """The present state as a position sees it, CR LF included."""
        return self.prefixes[position] + self.betting + self.tails[position]

    def play(self, action: Action, after: BettingState) -> None:
        """Go on by an action that leads to the state `after`; at a showdown, `show` makes the last lines."""
        if action is CALL:
            text = self.betting + b"c"
        elif action is FOLD:
            text = self.betting + b"f"
        elif action is RAISE or (action.kind == ActionKind.RAISE and after.game.is_limit):
            text = self.betting + b"r"
        else:
            text = self.betting + format_action(action).encode()
        if after.round != self._round:
            text += b"/" * (after.round - self._round)
            self._reach(after.round)
        self.betting = text
        if after.finished:
            remember_betting_text(after, text.decode())

    def _reach(self, round_: int) -> None:
        """Put the board of a later round on the lines."""
        ends = self._board_ends
        for reached in range(self._round + 1, round_ + 1):
            if reached:
                self._board += b"/"
            self._board += b"".join([_CARD_BYTES[card] for card in self._deal.board[ends[reached] : ends[reached + 1]]])
        self._round = round_
        last = len(self._holes) - 1
        board = self._board + b"\r\n"
        self.tails = [
            b":" + b"|" * position + hole + b"|" * (last - position) + board
            for position, hole in enumerate(self._holes)
        ]

    def show(self, folded: int) -> None:
        """The hand ended in a showdown: every position sees its own cards and all hands that were not folded.

        Args:
            folded: bit p is set when position p has folded.
        """
        board = self._board + b"\r\n"
        shown = [b"" if folded >> position & 1 else hole for position, hole in enumerate(self._holes)]
        self.tails = [
            b":" + b"|".join([*shown[:position], hole, *shown[position + 1 :]]) + board
            for position, hole in enumerate(self._holes)
        ]
