"""The lines of one hand as the dealer writes them, for every position, and its line in the log.

A line is three prepared pieces: position and hand number, the betting so far (of the node), and the cards as the
position sees them in the round.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from engine import CARD_TEXTS, Card, Deal, Game
from engine.game import MAX_PLAYERS
from protocol.betting_nodes import BettingNode

__all__ = ["HandLines"]

_CARD_BYTES: Final = tuple(text.encode() for text in CARD_TEXTS)
_HEADS: Final = tuple(b"MATCHSTATE:%d:" % position for position in range(MAX_PLAYERS))
_BARS: Final = tuple(b":" + b"|" * count for count in range(MAX_PLAYERS))


@lru_cache(maxsize=1 << 12)
def _card_bytes(cards: tuple[Card, ...]) -> bytes:
    """The text of hole cards."""
    return b"".join([_CARD_BYTES[card] for card in cards])


class HandLines:
    """The lines of one hand.

    Attributes:
        heads: by position, how its lines begin. tails: by position and round, how they end, without CR LF.
    """

    __slots__ = ("_boards", "_holes", "_number", "heads", "tails")

    def __init__(self, game: Game, deal: Deal, hand_number: int) -> None:
        self._holes = holes = [_card_bytes(cards) for cards in deal.hole_cards]
        self._number = number = b"%d:" % hand_number
        self.heads = [head + number for head in _HEADS[: len(holes)]]
        board = b"".join([_CARD_BYTES[card] for card in deal.board])
        text, start = b"", 0
        self._boards: list[bytes] = []
        boards = self._boards
        for end in game.board_cards_by_round:
            text += board[2 * start : 2 * end]
            boards.append(text)
            text += b"/"
            start = end
        last = len(holes) - 1
        self.tails = [
            [view + board for board in boards]
            for view in [_BARS[at] + hole + _BARS[last - at][1:] for at, hole in enumerate(holes)]
        ]

    def line(self, position: int, node: BettingNode) -> bytes:
        """A state as a position sees it, CR LF included: at a showdown, with all hands that were not folded."""
        if node.is_showdown:
            folded = node.point.folded
            seen = self._holes
            if folded:
                seen = [hole if at == position or not folded >> at & 1 else b"" for at, hole in enumerate(seen)]
            return self.heads[position] + node.text + b":" + b"|".join(seen) + self._boards[node.round] + b"\r\n"
        return self.heads[position] + node.text + self.tails[position][node.round] + b"\r\n"

    def state_line(self, node: BettingNode, ending: bytes) -> bytes:
        """The line of the finished hand in the log; `ending` is what stands after the cards."""
        cards = b"|".join(self._holes) + self._boards[node.round]
        return b"STATE:" + self._number + node.text + b":" + cards + ending
