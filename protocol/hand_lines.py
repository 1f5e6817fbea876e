"""The lines of one hand as the dealer writes them, for every position.

A line is four prepared pieces: position and hand number, the betting so far (of the node), the hole cards as the
position sees them, and the board of the round.
"""

from __future__ import annotations

from typing import Final

from engine import CARD_TEXTS, Deal, Game
from protocol.betting_nodes import BettingNode

__all__ = ["HandLines"]

_CARD_BYTES: Final = tuple(text.encode() for text in CARD_TEXTS)


class HandLines:
    """The lines of one hand."""

    __slots__ = ("_boards", "_heads", "_holes", "_views")

    def __init__(self, game: Game, deal: Deal, hand_number: int) -> None:
        texts = _CARD_BYTES
        number = b"%d:" % hand_number
        self._holes = holes = [b"".join([texts[card] for card in cards]) for cards in deal.hole_cards]
        last = len(holes) - 1
        self._heads = [b"MATCHSTATE:%d:%b" % (position, number) for position in range(last + 1)]
        self._views = [b":" + b"|" * at + hole + b"|" * (last - at) for at, hole in enumerate(holes)]
        board = b"".join([texts[card] for card in deal.board])
        boards: list[bytes] = []
        self._boards = boards
        text, start = b"", 0
        for end in game.board_cards_by_round:
            text += board[2 * start : 2 * end]
            boards.append(text + b"\r\n")
            text, start = text + b"/", end

    def line(self, position: int, node: BettingNode) -> bytes:
        """A state as a position sees it, CR LF included: at a showdown, with all hands that were not folded."""
        if node.is_showdown:
            folded = node.betting.folded
            seen = [hole if at == position or not folded >> at & 1 else b"" for at, hole in enumerate(self._holes)]
            return self._heads[position] + node.text + b":" + b"|".join(seen) + self._boards[node.round]
        return self._heads[position] + node.text + self._views[position] + self._boards[node.round]
