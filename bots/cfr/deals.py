"""The arrays that a walk reads and writes: the tree, the board, and the vectors over holdings and buckets.

Boards are drawn one by one in hold'em; in games of one hole card all of them are walked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import CardAbstraction, canonical_boards, suit_order
from bots.errors import SolvingError
from engine import Game
from engine.evaluator import rank_hand
from engine.splitmix import MASK_64, STEP, mixed

CARD_LANES: Final = 64
"""Columns of sums by card: 52, and what makes them a multiple of what a processor adds at once."""
Vector: TypeAlias = NDArray[Any]
"""Floats of four or of eight bytes, the same everywhere in a walk."""
FloatType: TypeAlias = type[np.float32] | type[np.float64]


class TreeArrays(NamedTuple):
    """A betting tree with the places of its information sets, by node unless said otherwise; see also `BettingTree`.

    Attributes:
        ends: the number after the last node below it.
        counts: of actions.
        offsets: of a decision, where its numbers begin: action by action, in each bucket by bucket.
        slots: shape (2, nodes), by player: how many actions of its opponent lead here.
        early: the nodes before the last round and the first nodes of last rounds in preorder; ``~node`` where
            everything below a decision has been visited.
        buckets: by round.
    """

    kinds: NDArray[np.int8]
    players: NDArray[np.int8]
    rounds: NDArray[np.int8]
    parents: NDArray[np.int32]
    taken: NDArray[np.int8]
    depths: NDArray[np.int32]
    chips: Vector
    ends: NDArray[np.int32]
    counts: NDArray[np.int32]
    offsets: NDArray[np.int64]
    slots: NDArray[np.int32]
    early: NDArray[np.int32]
    buckets: NDArray[np.int64]
    last_round: int


class Deal(NamedTuple):
    """A board as the walk sees it: the holdings that it leaves, weakest first.

    Attributes:
        ones: a card of each, below 64.
        others: the other card; where holdings have one card, a number that no other holding has.
        ties: after the last holding of the same rank.
        early: shape (rounds - 1, holdings), the buckets before the last round.
        parts: shape (buckets + 1,), where each bucket of the last round begins.
        in_bucket: shape (lanes,), how many holdings each has.
        with_card: shape (64, lanes), how many holdings with a card each bucket has.
    """

    ones: NDArray[np.uint8]
    others: NDArray[np.uint8]
    ties: NDArray[np.uint16]
    early: NDArray[np.uint8]
    parts: NDArray[np.int64]
    in_bucket: Vector
    with_card: Vector


class Work(NamedTuple):
    """Arrays that a walk writes; scratch space. Lanes are buckets, and what makes them a multiple of 16.

    Attributes:
        reach: shape (slots, holdings), how likely the opponent comes here.
        values: shape (depths, holdings), what holdings win below the nodes on the way here.
        within: shape (holdings,), w(h) of `bots.cfr.walk`.
        sums: shape (buckets,), reach by bucket.
        by_card: shape (buckets, 64), reach by bucket and card.
        against: shape (buckets, lanes), by bucket of the opponent, reach against all holdings of each of ours.
        standing: the same with the signs of a showdown.
        theirs: shape (nodes of a last round, buckets), f of `bots.cfr.walk`.
        ours: the same for our own actions.
        won: shape (nodes of a last round, lanes), what each bucket wins in all its holdings.
        plain: shape (buckets,), what the holdings of a bucket win before cards are taken out.
        less: shape (buckets, 64), what is taken out by card.
        of_within: shape (buckets,), the factor of w(h).
        of_reach: shape (buckets,), the factor of p(h).
        run: shape (64,), sums by card.
        total: shape (64,), sums by card.
    """

    reach: Vector
    values: Vector
    within: Vector
    sums: Vector
    by_card: Vector
    against: Vector
    standing: Vector
    theirs: Vector
    ours: Vector
    won: Vector
    plain: Vector
    less: Vector
    of_within: Vector
    of_reach: Vector
    run: Vector
    total: Vector


def _lanes_of(buckets: int) -> int:
    return -(-buckets // 16) * 16


def new_work(tree: TreeArrays, holdings: int) -> Work:
    """Arrays large enough for any walk of a tree."""
    kind = tree.chips.dtype
    buckets = int(tree.buckets[tree.last_round])
    lanes = _lanes_of(buckets)
    is_first = tree.early[(tree.early >= 0)]
    firsts = [node for node in is_first if tree.rounds[node] == tree.last_round]
    nodes = max(int(tree.ends[node]) - int(node) for node in firsts)

    def zeros(*shape: int) -> Vector:
        return np.zeros(shape, kind)

    return Work(
        reach=zeros(int(tree.slots.max()) + 1, holdings),
        values=zeros(int(tree.depths.max()) + 1, holdings),
        within=zeros(holdings),
        sums=zeros(buckets),
        by_card=zeros(buckets, CARD_LANES),
        against=zeros(buckets, lanes),
        standing=zeros(buckets, lanes),
        theirs=zeros(nodes, buckets),
        ours=zeros(nodes, buckets),
        won=zeros(nodes, lanes),
        plain=zeros(buckets),
        less=zeros(buckets, CARD_LANES),
        of_within=zeros(buckets),
        of_reach=zeros(buckets),
        run=zeros(CARD_LANES),
        total=zeros(CARD_LANES),
    )


_BOARD_CARDS: Final = 5
_MOST_BOARDS: Final = 1000


class Boards(Protocol):
    """Where boards come from.

    Attributes:
        buckets: how many there are by round.
        holdings: how many a board leaves.
        pairs: how many pairs of holdings without a common card a board leaves.
        count: how many boards there are; 0 where they are drawn.
        float_type: of the vectors.
    """

    buckets: tuple[int, ...]
    holdings: int
    pairs: int
    count: int
    float_type: FloatType

    def deal(self, stream: int, number: int) -> Deal:
        """A board by its number; drawn ones of different streams are independent."""


class DrawnBoards:
    """Boards of hold'em, drawn: each follows from the seed, the stream and its number."""

    def __init__(self, abstraction: CardAbstraction, seed: int) -> None:
        self.buckets = abstraction.buckets
        self.holdings, self.pairs, self.count = 1081, 1081 * 990, 0
        self.float_type: FloatType = np.float32
        self._abstraction, self._seed = abstraction, seed

    def cards(self, stream: int, number: int) -> tuple[int, ...]:
        """The five cards of a board in the order dealt."""
        counter = mixed(mixed(self._seed & MASK_64) + stream * STEP & MASK_64) + number * 8 * STEP & MASK_64
        deck, board = list(range(52)), []
        for _ in range(_BOARD_CARDS):
            counter = counter + STEP & MASK_64
            board.append(deck.pop(mixed(counter) * len(deck) >> 64))
        return tuple(board)

    def deal(self, stream: int, number: int) -> Deal:
        return self.on(self.cards(stream, number))

    def on(self, board: Sequence[int]) -> Deal:
        from bots.cfr.strengths import deal_board

        found = self._abstraction
        flop_key, flop_suits = suit_order(board[:3])
        turn_key, turn_suits = suit_order(board[:4])
        ones, others = np.empty(self.holdings, np.uint8), np.empty(self.holdings, np.uint8)
        ties = np.empty(self.holdings, np.uint16)
        early = np.empty((3, self.holdings), np.uint8)
        parts = np.empty(self.buckets[-1] + 1, np.int64)
        deal_board(
            np.array(board, np.uint8),
            found.flops[np.searchsorted(canonical_boards(3).keys, flop_key)],
            np.array(flop_suits, np.uint8),
            found.turns[np.searchsorted(canonical_boards(4).keys, turn_key)],
            np.array(turn_suits, np.uint8),
            cuts=found.river_cuts,
            ones=ones,
            others=others,
            ties=ties,
            early=early,
            parts=parts,
        )
        return _deal(ones, others, ties, early, parts, self.float_type)


class AllBoards:
    """All boards of a game of one hole card and at most one board card, such as Kuhn's and Leduc: nothing is lost.

    Buckets are ranks, and on the board pairs of ranks: suits make no difference.
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
        self.buckets = tuple(ranks * (ranks if cards else 1) for cards in board_cards.tolist())
        self._board_cards: list[int] = board_cards.tolist()
        self.holdings = len(deck) - len(self._boards[0])
        self.pairs = self.holdings * (self.holdings - 1)
        self.count = len(self._boards)
        self.float_type: FloatType = np.float64
        # Two suits are enough for every rank on every board.
        self._by_strength = {
            board: sorted(self._ranks, key=lambda rank: rank_hand((4 * rank, 4 * board + 1))) for board in self._ranks
        }

    def deal(self, stream: int, number: int) -> Deal:
        board = self._boards[number % self.count]
        cards = sorted((card for card in self._deck if card not in board), key=lambda card: self.bucket(card, board))
        last = np.array([self.bucket(card, board) for card in cards])
        # Buckets of the last round ascend with strength, so holdings of one bucket tie, and no others.
        ties = np.searchsorted(last, last, "right").astype(np.uint16)
        early = [[self.bucket(card, board[:count]) for card in cards] for count in self._board_cards[:-1]]
        return _deal(
            np.array(cards, np.uint8),
            np.arange(52, 52 + len(cards), dtype=np.uint8),
            ties,
            np.array(early, np.uint8).reshape(-1, len(cards)),
            np.searchsorted(last, np.arange(self.buckets[-1] + 1)),
            self.float_type,
        )

    def bucket(self, card: int, board: Sequence[int]) -> int:
        """The bucket of a card with a board: by the rank of the board, then by strength."""
        if not board:
            return self._ranks.index(card >> 2)
        on_board = board[0] >> 2
        place = self._by_strength[on_board].index(card >> 2)
        return len(self._ranks) * self._ranks.index(on_board) + place


def _deal(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    ties: NDArray[np.uint16],
    early: NDArray[np.uint8],
    parts: NDArray[np.int64],
    kind: FloatType,
) -> Deal:
    buckets = len(parts) - 1
    in_bucket: Vector = np.zeros(_lanes_of(buckets), kind)
    in_bucket[:buckets] = np.diff(parts)
    of_holding = np.repeat(np.arange(buckets), np.diff(parts))
    with_card: Vector = np.zeros((CARD_LANES, _lanes_of(buckets)), kind)
    np.add.at(with_card, (ones, of_holding), 1)
    np.add.at(with_card, (others, of_holding), 1)
    return Deal(ones=ones, others=others, ties=ties, early=early, parts=parts, in_bucket=in_bucket, with_card=with_card)
