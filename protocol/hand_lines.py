"""The lines of one hand as the dealer writes them, for every position.

A line is four prepared pieces: position and hand number, the betting so far (of the node), the hole cards as the
position sees them, and the board of the round.
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
    """The lines of one hand."""

    __slots__ = ("_boards", "_heads", "_holes", "_views")

    def __init__(self, game: Game, deal: Deal, hand_number: int) -> None:
        self._holes = holes = [_card_bytes(cards) for cards in deal.hole_cards]
        number = b"%d:" % hand_number
        self._heads = [head + number for head in _HEADS[: len(holes)]]
        last = len(holes) - 1
        self._views = [_BARS[at] + hole + _BARS[last - at][1:] for at, hole in enumerate(holes)]
        board = b"".join([_CARD_BYTES[card] for card in deal.board])
        text, start = b"", 0
        boards: list[bytes] = []
        for end in game.board_cards_by_round:
            text += board[2 * start : 2 * end]
            boards.append(text + b"\r\n")
            text += b"/"
            start = end
        self._boards = boards

    def line(self, position: int, node: BettingNode) -> bytes:
        """A state as a position sees it, CR LF included: at a showdown, with all hands that were not folded."""
        if node.is_showdown:
            folded = node.betting.folded
            seen = [hole if at == position or not folded >> at & 1 else b"" for at, hole in enumerate(self._holes)]
            return self._heads[position] + node.text + b":" + b"|".join(seen) + self._boards[node.round]
        return self._heads[position] + node.text + self._views[position] + self._boards[node.round]
