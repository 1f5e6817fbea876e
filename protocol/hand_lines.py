"""The lines of one hand as the dealer writes them, for every position, and its line in the log.

A line is five prepared pieces: position, hand number, the betting so far (of the node), the hole cards as the position
sees them, and the board of the round.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from engine import CARD_TEXTS, Card, Deal, Game
from engine.game import MAX_PLAYERS
from protocol.betting_nodes import BettingNode

_CARD_BYTES: Final = tuple(text.encode() for text in CARD_TEXTS)
HEADS: Final = tuple(b"MATCHSTATE:%d:" % position for position in range(MAX_PLAYERS))
"""How lines begin, by position."""
_BARS: Final = tuple(b":" + b"|" * count for count in range(MAX_PLAYERS))
_MORE_BARS: Final = tuple(b"|" * count for count in range(MAX_PLAYERS))


@lru_cache(maxsize=1 << 12)
def _card_bytes(cards: tuple[Card, ...]) -> bytes:
    return b"".join([_CARD_BYTES[card] for card in cards])


class HandLines:
    """The lines of one hand.

    Attributes:
        number: the text of the hand's number, with its colon. views: by position, the hole cards that it sees, before
        a showdown. boards: by round, all board cards on the table.
    """

    __slots__ = ("_holes", "boards", "number", "views")

    def __init__(self, game: Game, deal: Deal, hand_number: int) -> None:
        self._holes = holes = [_card_bytes(cards) for cards in deal.hole_cards]
        self.number = b"%d:" % hand_number
        last = len(holes) - 1
        self.views = [_BARS[at] + hole + _MORE_BARS[last - at] for at, hole in enumerate(holes)]
        board = b"".join([_CARD_BYTES[card] for card in deal.board])
        text, start = b"", 0
        self.boards: list[bytes] = []
        for end in game.board_cards_by_round:
            text += board[2 * start : 2 * end]
            self.boards.append(text)
            text += b"/"
            start = end

    def line(self, position: int, node: BettingNode) -> bytes:
        """A state as a position sees it, CR LF included: at a showdown, with all hands that were not folded."""
        cards = self.views[position]
        if node.is_showdown:
            folded, seen = node.point.folded, self._holes
            if folded:
                seen = [hole if at == position or not folded >> at & 1 else b"" for at, hole in enumerate(seen)]
            cards = b":" + b"|".join(seen)
        return b"".join((HEADS[position], self.number, node.text, cards, self.boards[node.round], b"\r\n"))

    def state_line(self, node: BettingNode, ending: bytes) -> bytes:
        """The line of the finished hand in the log; `ending` is what stands after the cards."""
        cards = b"|".join(self._holes)
        return b"".join((b"STATE:", self.number, node.text, b":", cards, self.boards[node.round], ending))
