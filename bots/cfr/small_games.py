"""Games of one hole card and at most one card on the board, such as Kuhn's and Leduc, learnt on their sequence form.

Buckets are ranks, and on the board pairs of ranks, those of a board in ascending order of strength: suits make no
difference. All cards are part of each iteration, so nothing is lost, and how far a strategy is from an equilibrium is
exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.cfr.tree import BettingTree, Sizes
from bots.errors import SolvingError
from bots.solving.engine_games import Board, betting_tree
from bots.solving.equilibria import Discounts, RegretMatching, in_proportion
from bots.solving.sequence_form import (
    Choice,
    Plans,
    PublicGame,
    SequenceForm,
    best_response,
    others_of,
    sequence_form,
)
from engine import Card, Game, format_cards
from engine.evaluator import rank_hand
from protocol import format_action

_MOST_CARDS: Final = 12


class RankBuckets:
    """The buckets of a game; `counts` says how many each round has, and `boards` how many boards there are."""

    def __init__(self, game: Game) -> None:
        if game.num_hole_cards != 1 or sum(game.num_board_cards) > 1:
            raise SolvingError("it is neither hold'em nor a game of one hole card and at most one card on the board")
        if len(game.deck) > _MOST_CARDS:
            raise SolvingError(f"the game is too large: {len(game.deck)} cards")
        self.ranks = sorted({card >> 2 for card in game.deck})
        self.boards = 1
        if sum(game.num_board_cards):
            self.boards = len(game.deck)
        self.counts = tuple(len(self.ranks) ** (1 + cards) for cards in accumulate(game.num_board_cards))

    def order(self, board: Board) -> list[int]:
        """The places among the ranks of what can be held with a board, the weakest first."""
        if not board:
            return [*range(len(self.ranks))]
        # Two suits are enough for every rank on every board.
        strengths = [rank_hand((4 * rank, board[0] & ~3 | 1)) for rank in self.ranks]
        return sorted(range(len(self.ranks)), key=lambda at: strengths[at])

    def bucket(self, card: Card, board: Board) -> int:
        place = self.order(board).index(self.ranks.index(card >> 2))
        if board:
            return place + len(self.ranks) * self.ranks.index(board[0] >> 2)
        return place


class _Ranks:
    """The cards of a game by rank, as `betting_tree` asks for them: one on the board stands for all of its rank.

    Of each board, of which that without a card is the first, there are two matrices: for a fold and for a showdown.
    """

    def __init__(self, game: Game, buckets: RankBuckets) -> None:
        self._game = game
        self.full_boards: list[Board] = [(4 * rank,) for rank in buckets.ranks]
        self._boards: list[Board] = [(), *self.full_boards]
        cards = len(game.deck)
        suits = game.num_suits
        same = np.eye(len(buckets.ranks))
        pairs = suits * (suits - same) / (cards * (cards - 1))
        self.matrices: list[NDArray[np.float64]] = []
        for number, board in enumerate(self._boards):
            chances = pairs
            if board:
                on_board = same[number - 1]
                chances = pairs * ((suits - on_board - on_board[:, None]) / (cards - 2))
            places = np.argsort(buckets.order(board))
            self.matrices += [chances, chances * np.sign(places[:, None] - places)]

    def boards(self, round_: int, board: Board) -> Sequence[Board]:
        if self._game.num_board_cards[round_]:
            return self.full_boards
        return [board]

    def payoff_at(self, spent: Sequence[int], folded: Collection[int], board: Board) -> tuple[int, float]:
        fold = 2 * self._boards.index(board)
        if not folded:
            return fold + 1, min(spent)
        if 1 in folded:
            return fold, spent[1]
        return fold, -spent[0]


class SmallGame:
    """A game of two players with the bets of a tree, and its sequence form; its decisions go by their betting."""

    def __init__(self, tree: BettingTree, raises: Sizes | None) -> None:
        """`raises` are those that the tree was made with."""
        self.buckets = RankBuckets(tree.game)
        self._tree = tree
        self._cards = _Ranks(tree.game, self.buckets)
        root = betting_tree(tree.game, self._cards, raises=raises)
        ranks = tuple(format_cards([4 * rank]) for rank in self.buckets.ranks)
        self.form: SequenceForm = sequence_form(PublicGame(root, (ranks, ranks), np.array(self._cards.matrices)))

    def decisions(self) -> Iterator[tuple[int, list[tuple[Choice, list[int]]]]]:
        """By decision of the tree its player, and for each board the choice there and the classes in their order."""
        game = self._tree.game
        tree = self._tree
        choices = [{choice.name: choice for choice in of_player} for of_player in self.form.choices]
        dealt = ["{}" if cards else "" for cards in game.num_board_cards]
        names = [dealt[0]]
        for node, (parent, at, round_) in enumerate(zip(tree.parents, tree.taken, tree.rounds, strict=True)):
            if node:
                after = ""
                if round_ != tree.rounds[parent]:
                    after = f"/{dealt[round_]}"
                names.append(f"{names[parent]}{format_action(tree.actions[parent][at])}{after}")
        for node in tree.decisions.tolist():
            of_player = choices[tree.players[node]]
            if game.board_cards_by_round[tree.rounds[node]]:
                boards = self._cards.full_boards
            else:
                boards = [()]
            of_boards = [(of_player[names[node].format(format_cards(b))], self.buckets.order(b)) for b in boards]
            yield int(tree.players[node]), of_boards

    def strategy(self, plans: Plans) -> NDArray[np.float64]:
        """Plans as probabilities in the order of a strategy file: node, action, bucket."""
        parts = []
        for player, of_boards in self.decisions():
            by_board = []
            for choice, order in of_boards:
                by_board.append(in_proportion(plans[player][choice.sequences][:, order]))
            parts.append(np.hstack(by_board).ravel())
        return np.concatenate(parts)


class Solver(RegretMatching):
    """Regret minimisation in a small game, as `bots.cfr.sampling.SampledSolver` has it for hold'em."""

    def __init__(self, game: SmallGame, discounts: Discounts) -> None:
        super().__init__(game.form, discounts.factors)
        self.game = game
        self.per_iteration = game.buckets.boards

    def average_strategy(self) -> NDArray[np.float64]:
        """What converges: how often each action was taken over all iterations; even chances where that is 0."""
        return self.game.strategy(self.plans())

    def gains(self) -> list[float]:
        """What each player wins by the best response to the other's average strategy, exactly, in chips per hand.

        The mean of both is the exploitability: how much the strategy loses per hand over both seats.
        """
        plans = self.plans()
        return [best_response(self.form, player, *others_of(plans, player)).value for player in range(2)]
