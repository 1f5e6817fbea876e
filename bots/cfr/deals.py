"""The arrays that a walk reads and writes: the tree, the boards of a small game, and the vectors over holdings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from engine import Game
from engine.evaluator import rank_hand

CARD_LANES: Final = 64
"""Columns of sums by card: 52, and what makes them a multiple of what a processor adds at once."""
Vector: TypeAlias = NDArray[Any]
"""Floats of four or of eight bytes, the same everywhere in a walk."""
FloatType: TypeAlias = type[np.float32] | type[np.float64]


class TreeArrays(NamedTuple):
    """A betting tree with the places of its information sets, by node unless said otherwise; see also `BettingTree`.

    Attributes:
        counts: of actions.
        offsets: of a decision, where its numbers begin: action by action, in each bucket by bucket.
        slots: shape (2, nodes), by player: how many actions of its opponent lead here.
        order: the nodes in preorder; ``~node`` where everything below a decision has been visited.
        buckets: shape (2, rounds), by player and round.
    """

    kinds: NDArray[np.int8]
    players: NDArray[np.int8]
    rounds: NDArray[np.int8]
    parents: NDArray[np.int32]
    taken: NDArray[np.int8]
    depths: NDArray[np.int32]
    chips: Vector
    counts: NDArray[np.int32]
    offsets: NDArray[np.int64]
    slots: NDArray[np.int32]
    order: NDArray[np.int32]
    buckets: NDArray[np.int64]


class BoardArrays(NamedTuple):
    """A board as the walk sees it: the holdings that it leaves, weakest first.

    Attributes:
        ones: a card of each, below 64.
        others: the other card; where holdings have one card, a number that no other holding has.
        ties: after the last holding of the same rank.
        buckets: shape (2, rounds, holdings), by player.
    """

    ones: NDArray[np.uint8]
    others: NDArray[np.uint8]
    ties: NDArray[np.uint16]
    buckets: NDArray[np.uint16]


class Work(NamedTuple):
    """Arrays that a walk writes; scratch space.

    Attributes:
        reach: shape (slots, holdings), how likely the opponent comes here.
        values: shape (depths, holdings), what holdings win below the nodes on the way here.
        by_card: shape (64,), sums by card.
    """

    reach: Vector
    values: Vector
    by_card: Vector


def new_work(tree: TreeArrays, holdings: int) -> Work:
    kind = tree.chips.dtype
    return Work(
        reach=np.zeros((int(tree.slots.max()) + 1, holdings), kind),
        values=np.zeros((int(tree.depths.max()) + 1, holdings), kind),
        by_card=np.zeros(CARD_LANES, kind),
    )


_MOST_BOARDS: Final = 1000


class AllBoards:
    """All boards of a game of one hole card and at most one board card, such as Kuhn's and Leduc: nothing is lost.

    Buckets are ranks, and on the board pairs of ranks: suits make no difference.

    Attributes:
        buckets: how many there are, by player and round.
        holdings: how many a board leaves.
        pairs: how many pairs of holdings without a common card a board leaves.
        count: how many boards there are.
        float_type: of the vectors.
    """

    def __init__(self, game: Game) -> None:
        if game.num_hole_cards != 1 or sum(game.num_board_cards) > 1:
            raise SolvingError("it is neither hold'em nor a game of one hole card and at most one card on the board")
        deck = sorted(game.deck)
        self._deck, self._ranks = deck, sorted({card >> 2 for card in deck})
        self._boards = list(combinations(deck, sum(game.num_board_cards)))
        if len(self._boards) > _MOST_BOARDS or max(deck) >= 52 or len(deck) > CARD_LANES - 52:
            raise SolvingError(f"the game is too large: {len(deck)} cards")
        ranks = len(self._ranks)
        board_cards = np.cumsum(game.num_board_cards)
        of_rounds = tuple(ranks * (ranks if cards else 1) for cards in board_cards.tolist())
        self.buckets = (of_rounds, of_rounds)
        self._board_cards: list[int] = board_cards.tolist()
        self.holdings = len(deck) - len(self._boards[0])
        self.pairs = self.holdings * (self.holdings - 1)
        self.count = len(self._boards)
        self.float_type: FloatType = np.float64
        # Two suits are enough for every rank on every board.
        self._by_strength = {
            board: sorted(self._ranks, key=lambda rank: rank_hand((4 * rank, 4 * board + 1))) for board in self._ranks
        }

    def deal(self, number: int) -> BoardArrays:
        board = self._boards[number]
        cards = sorted((card for card in self._deck if card not in board), key=lambda card: self.bucket(card, board))
        of_rounds = [[self.bucket(card, board[:count]) for card in cards] for count in self._board_cards]
        # Buckets of the last round ascend with strength, so holdings of one bucket tie, and no others.
        last = of_rounds[-1]
        return BoardArrays(
            np.array(cards, np.uint8),
            np.arange(52, 52 + len(cards), dtype=np.uint8),
            np.searchsorted(last, last, "right").astype(np.uint16),
            np.array([of_rounds, of_rounds], np.uint16),
        )

    def bucket(self, card: int, board: Sequence[int]) -> int:
        """The bucket of a card with a board: by the rank of the board, then by strength."""
        if not board:
            return self._ranks.index(card >> 2)
        on_board = board[0] >> 2
        place = self._by_strength[on_board].index(card >> 2)
        return len(self._ranks) * self._ranks.index(on_board) + place
