"""Compute exact best responses to a strategy of hold'em for two from a turn or a river on.

Both players follow the strategy up to the start of the round. From there on one of them plays a best response. It knows
the strategy, and so the ranges, and sees all holdings apart. From a turn, the values of all 48 rivers are summed before
the best action of the turn is chosen. A response that deviates earlier, too, wins at least as much.

Boards are drawn, and on each of them one start of the round, with a probability in proportion to the ranges and the pot
there. Its winnings are divided by this probability, so the mean over boards is that over all starts. In both seats
together the play before the start wins nothing, hence only winnings after a start are counted.

Where the bot solves rivers or turns, the response is against the solutions, which follow from the strategy and the
betting (`bots.cfr.endgames`). To solve all 48 rivers after each betting of a turn takes long. With fewer rivers the
response of the turn is chosen first, by a solution with classes of holdings on rivers (`answer_turn`).
Then rivers are drawn and solved, and on them the response is best. So the mean has no bias, and is that of a response
which wins a little less than the best one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import NO_BUCKET
from bots.cfr.endgame_walk import (
    FULL_BOARD,
    NEVER,
    EndgameBetting,
    Holdings,
    Vector,
    answer,
    endgame_betting,
    evaluation_arrays,
    holdings_on,
    pair_weight,
)
from bots.cfr.endgames import RIVER, RIVERS, Endgames, answer_turn
from bots.cfr.expectation import load_raises, load_tree
from bots.cfr.strategy_files import StrategyFile
from bots.cfr.tree import DECISION, BettingTree, betting_tree
from bots.cfr.tree_walk import WalkedTree, walked_tree
from engine import RAISE, Action, BettingState, Card, Position, betting_start
from engine.kernels.jit import njit

_SHOWN: Final = (0, 3, 4, 5)
_ANSWER_ITERATIONS: Final = 50
"""By which the response of a turn is chosen, if its rivers are drawn."""
_MIN_PAIRS: Final = 1e-9
"""Part of the pairs of two ranges that must be possible for a response to be chosen; below it is rounding."""
_SOLVED: Final = -1
"""In place of a node of the strategy: an endgame decides."""


class Responses:
    """Best responses to a strategy from the start of a round on.

    Args:
        endgames: solved rounds, None if the strategy plays all rounds.
        round_: `TURN` or `RIVER`.
        rivers: drawn after a turn, if rivers are solved.

    Attributes:
        starts: first decisions of the round, as nodes of the strategy's tree.
    """

    def __init__(self, strategy: StrategyFile, endgames: Endgames | None, round_: int, rivers: int = RIVERS) -> None:
        self.rivers = rivers
        self.strategy = strategy
        self.endgames = endgames
        self.round = round_
        self.tree = load_tree(strategy)
        self.played = walked_tree(strategy, self.tree)
        self._raises = load_raises(strategy)
        self.states = {0: betting_start(strategy.game)}
        self.starts = list[int]()
        # Nodes are in preorder, so the state of a parent is known. Nodes after a start have none and are left out.
        for node in range(1, len(self.tree.kinds)):
            parent = int(self.tree.parents[node])
            if self.tree.rounds[parent] == round_ or parent not in self.states:
                continue
            action = self.tree.actions[parent][self.tree.taken[node]]
            self.states[node] = self.states[parent].after(action)
            if self.tree.kinds[node] == DECISION and self.tree.rounds[node] == round_:
                self.starts.append(node)

    def is_solved(self, round_: int) -> bool:
        return self.endgames is not None and self.endgames.solves(round_)

    def subgame(self, start: int) -> Subgame:
        """Return the play after a start: that of the strategy, with the raises of endgames in solved rounds."""
        state = self.states[start]
        tree = betting_tree(self.strategy.game, self._raises_in, state)
        nodes = np.full(len(tree.kinds), _SOLVED)
        if not self.is_solved(RIVER):
            # The tree is the strategy's own below the start, in the same preorder.
            nodes = start + np.arange(len(tree.kinds))
        elif not self.is_solved(self.round):
            # Only the raises of the river differ from those of the strategy, so the turn's decisions are in both trees.
            for node, source in same_nodes(tree, self.tree, start):
                nodes[node] = source
        return Subgame(state, tree, endgame_betting(tree), nodes)

    def _raises_in(self, state: BettingState) -> Sequence[Action]:
        if self.endgames is not None and self.endgames.solves(state.round):
            return self.endgames.raises_in(state)
        return [RAISE] if self._raises is None else self._raises(state)

    def draw(self, chance: np.random.Generator) -> float:
        """Draw a board and a start, and return an unbiased estimate of a response's winnings.

        Returns:
            Chips per hand, the mean over both seats.
        """
        deck = chance.permutation(52)
        rivers = None
        if self.rivers < RIVERS and self.round != RIVER and self.is_solved(RIVER):
            # Each river is as likely as any other, and high and low cards are among them.
            step = RIVERS / self.rivers
            rivers = (chance.uniform(0, step) + step * np.arange(self.rivers)).astype(int)
        on_board = BoardResponses(self, tuple(map(Card, deck[: _SHOWN[self.round]].tolist())), rivers)
        shares = on_board.start_shares
        index = int(chance.choice(len(shares), p=shares))
        return sum(on_board.winnings(self.starts[index])) / (2 * float(shares[index]))


class Subgame(NamedTuple):
    """Play from the start of a round on.

    Attributes:
        start: state of the first decision.
        tree: betting, with the first decision as node 0.
        nodes: node of the strategy that decides at each node, or `_SOLVED`.
    """

    start: BettingState
    tree: BettingTree
    betting: EndgameBetting
    nodes: NDArray[np.int64]


def same_nodes(tree: BettingTree, other: BettingTree, start: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal decisions in the first round of a tree and after a node of another one."""
    pairs = [(0, start)]
    while pairs:
        node, other_node = pairs.pop()
        if tree.rounds[node] == tree.rounds[0] and tree.kinds[node] == DECISION:
            yield node, other_node
            for index, action in enumerate(tree.actions[node]):
                other_index = other.actions[other_node].index(action)
                child = int(tree.children[node, index])
                other_child = int(other.children[other_node, other_index])
                pairs.append((child, other_child))


class BoardResponses:
    """Best responses on a board of the first round, with all holdings of both players.

    Args:
        drawn: indices of the rivers after a turn on which the response is counted; all by default.

    Attributes:
        numbers: number of each holding, in the order of the board.
        pairs: number of pairs of holdings without a common card.
    """

    def __init__(self, responses: Responses, board: tuple[Card, ...], drawn: NDArray[np.int64] | None = None) -> None:
        self.board = board
        self.drawn = drawn
        self.numbers, self.holdings = holdings_on(board)
        if drawn is not None:
            boards = [0, *(drawn + 1).tolist()]
            first_cards, second_cards, ties, places = self.holdings
            self.holdings = Holdings(first_cards[boards], second_cards[boards], ties[boards], places[boards])
        self.pairs = pair_weight(self.holdings, np.ones((2, len(self.numbers))))
        self.responses = responses

    @cached_property
    def reach(self) -> dict[int, tuple[Vector, Vector]]:
        """Probability of each holding of both players to play to a node up to a start of the round."""
        tree = self.responses.tree
        played = self.responses.played
        buckets = []
        for shown in _SHOWN[: self.responses.round]:
            buckets.append(self._buckets_on(self.board[:shown]))
        ones = np.ones(len(self.numbers), np.float32)
        reach = {0: (ones, ones)}
        for node in self.responses.states:
            if not node:
                continue
            parent = int(tree.parents[node])
            first, second = reach[parent]
            of_round = buckets[tree.rounds[parent]]
            width = self.responses.strategy.buckets[tree.rounds[parent]]
            first_of_action = played.rows[parent] + width * int(tree.taken[node])
            chances = played.chances[first_of_action + of_round]
            if tree.players[parent] == 0:
                reach[node] = (first * chances, second)
            else:
                reach[node] = (first, second * chances)
        return reach

    @cached_property
    def start_shares(self) -> NDArray[np.float64]:
        """Probabilities with which starts are drawn, shape (starts,)."""
        shares = []
        for start in self.responses.starts:
            first, second = self.reach[start]
            pot = self.responses.states[start].pot
            # The cards that both holdings share are ignored: the probability has only to be above 0.
            pairs = first.sum(dtype=np.float64) * second.sum(dtype=np.float64)
            shares.append(float(pairs * pot))
        return np.array(shares) / sum(shares)

    def winnings(self, start: int, *, is_best: bool = True) -> tuple[float, float]:
        """Return the winnings of each player after a start, in chips per hand that is dealt.

        Args:
            is_best: whether the player plays a best response instead of the strategy.
        """
        subgame = self.responses.subgame(start)
        strategy = self.strategy_of(subgame)
        # Solutions and the chosen response replace the turn's probabilities. The other player's turn needs them as
        # before.
        of_turn = strategy[0].copy()
        weights = np.stack(self.reach[start])
        best_from = 0 if is_best else NEVER
        share = None
        won = []
        for player in range(2):
            self.write_solutions(subgame, Position(1 - player), strategy)
            if self.drawn is not None:
                # Each drawn river counts for several of the 48, of which a pair of holdings sees 44.
                share = RIVERS / len(self.drawn) / (RIVERS - 4)
                if is_best:
                    best_from = RIVER
                    self._answer_turn(subgame.betting, weights, strategy[0], player)
            arrays = evaluation_arrays(subgame.betting, self.holdings, weights, strategy, share)
            won.append(answer(arrays, player, best_from) / self.pairs)
            strategy[0] = of_turn
        return won[0], won[1]

    def _answer_turn(self, betting: EndgameBetting, weights: Vector, strategy: Vector, player: int) -> None:
        totals = weights.sum(axis=1, keepdims=True)
        if not totals.all():
            # With a range of weight 0 nothing can be won, whatever the response.
            return
        ranges = weights / totals
        # Nor without two holdings that can be dealt together, from which the solution could compute no factors.
        if pair_weight(self.holdings, ranges) > _MIN_PAIRS:
            answer_turn(betting, self.board, ranges, strategy, player, _ANSWER_ITERATIONS)

    def strategy_of(self, subgame: Subgame) -> Vector:
        """Return the probabilities of the strategy, shape (boards, actions, holdings); 0 in a solved round."""
        betting = subgame.betting
        boards = len(self.holdings.first_cards)
        strategy = np.zeros((boards, len(betting.leads_to), len(self.numbers)), np.float32)
        if subgame.nodes[0] != _SOLVED:
            _write_strategy(self.responses.played, betting, subgame.nodes, self.buckets, strategy)
        return strategy

    def write_solutions(self, subgame: Subgame, player: Position, strategy: Vector) -> None:
        """Write the probabilities of a player's endgames in solved rounds."""
        responses = self.responses
        endgames = responses.endgames
        if endgames is None:
            return
        betting = subgame.betting
        tree = subgame.tree
        if responses.is_solved(responses.round):
            endgame = endgames.from_start(subgame.start, self.board, player)
            for node, other in same_nodes(tree, endgame.tree, 0):
                chances = endgame.policy(other)
                for row, action in enumerate(tree.actions[node], betting.rows[node]):
                    strategy[0, row] = chances[action][self.numbers]
        if responses.round == RIVER or not responses.is_solved(RIVER):
            return
        states = {0: subgame.start}
        for node in range(1, len(tree.kinds)):
            parent = int(tree.parents[node])
            if tree.rounds[parent] != responses.round:
                continue
            states[node] = states[parent].after(tree.actions[parent][tree.taken[node]])
            if tree.rounds[node] == responses.round or tree.kinds[node] != DECISION:
                continue
            for board, cards in enumerate(self.rivers, 1):
                endgame = endgames.from_start(states[node], cards, player)
                solved = endgame.solution.chances
                first = int(betting.rows[node])
                numbers = self.numbers[self.holdings.places[board]]
                strategy[board, first : first + len(solved)] = solved[:, numbers]

    @property
    def rivers(self) -> list[tuple[Card, ...]]:
        """Full boards after the board of a turn, in the order of `Holdings`, only the drawn ones if some are."""
        rivers = [(*self.board, Card(card)) for card in range(52) if card not in self.board]
        if self.drawn is None:
            return rivers
        return [rivers[index] for index in self.drawn.tolist()]

    @cached_property
    def buckets(self) -> NDArray[np.uint16]:
        """Bucket of each holding on the board and on each river after it, shape (boards, holdings)."""
        buckets = [self._buckets_on(self.board)]
        if len(self.board) < FULL_BOARD:
            for cards, places in zip(self.rivers, self.holdings.places[1:], strict=True):
                buckets.append(self._buckets_on(cards)[places])
        return np.array(buckets)

    def _buckets_on(self, board: tuple[Card, ...]) -> NDArray[np.uint16]:
        buckets = self.responses.strategy.buckets_on(board)[self.numbers]
        # Holdings with the river card have reach 0, so any bucket does.
        buckets[buckets == NO_BUCKET] = 0
        return buckets


@njit
def _write_strategy(
    played: WalkedTree,
    betting: EndgameBetting,
    nodes: NDArray[np.int64],
    buckets: NDArray[np.uint16],
    strategy: Vector,
) -> None:
    """Write the probabilities of a strategy by board, action and holding.

    Args:
        nodes: node of the strategy for each node of the betting, below 0 for none.
        buckets: shape (boards, holdings). Board 0 is that of the first round, the others are those of the next one.
        strategy: output, shape (boards, actions, holdings).
    """
    for node in range(len(nodes)):
        source = nodes[node]
        count = betting.counts[node]
        if not count or source < 0:
            continue
        first = 0
        last = 1
        if betting.rounds[node] != betting.rounds[0]:
            first = 1
            last = len(buckets)
        width = (played.rows[source + 1] - played.rows[source]) // count
        for board in range(first, last):
            of_board = buckets[board]
            for action in range(count):
                chances = played.chances[played.rows[source] + width * action :]
                output = strategy[board, betting.rows[node] + action]
                for index in range(len(output)):
                    output[index] = chances[of_board[index]]
