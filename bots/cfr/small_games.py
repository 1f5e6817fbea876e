"""Regret minimisation of games of one hole card and at most one board card, on their sequence form.

Such games are Kuhn and Leduc poker. Suits make no difference, so buckets are ranks, or pairs of ranks with a board
card, ordered by strength on each board. Every iteration covers all cards, and exploitability is exact.
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

_MAX_CARDS: Final = 12


class RankBuckets:
    """Buckets of a game by rank.

    Attributes:
        ranks: ranks of the deck, ascending.
        boards: number of boards.
        counts: number of buckets by round.
    """

    def __init__(self, game: Game) -> None:
        if game.num_hole_cards != 1 or sum(game.num_board_cards) > 1:
            raise SolvingError("it is neither hold'em nor a game of one hole card and at most one card on the board")
        if len(game.deck) > _MAX_CARDS:
            raise SolvingError(f"the game is too large: {len(game.deck)} cards")
        self.ranks = sorted({card >> 2 for card in game.deck})
        self.boards = 1
        if sum(game.num_board_cards):
            self.boards = len(game.deck)
        self.counts = tuple(len(self.ranks) ** (1 + cards) for cards in accumulate(game.num_board_cards))

    def order(self, board: Board) -> list[int]:
        """Return the indices of `ranks` in order of strength on a board, the weakest first."""
        if not board:
            return [*range(len(self.ranks))]
        # The hole card has suit 0 and the board card suit 1, so that they can form a pair.
        strengths = [rank_hand((4 * rank, board[0] & ~3 | 1)) for rank in self.ranks]
        return sorted(range(len(self.ranks)), key=strengths.__getitem__)

    def bucket(self, card: Card, board: Board) -> int:
        place = self.order(board).index(self.ranks.index(card >> 2))
        if board:
            return place + len(self.ranks) * self.ranks.index(board[0] >> 2)
        return place


class _Ranks:
    """Cards by rank, in the interface of `bots.solving.engine_games.betting_tree`.

    A board card represents all cards of its rank.

    Attributes:
        matrices: two per board, beginning with the empty one: the probability of each pair of ranks, for a fold, and
            the same times the sign of the result, for a showdown. Shape (ranks, ranks).
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
                # The board card is one of the cards of its rank that neither player holds.
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
    """Sequence form of a game of two players.

    Args:
        tree: betting of the game.
        raises: sizes with which the tree was made.
    """

    def __init__(self, tree: BettingTree, raises: Sizes | None) -> None:
        self.buckets = RankBuckets(tree.game)
        self._tree = tree
        self._cards = _Ranks(tree.game, self.buckets)
        root = betting_tree(tree.game, self._cards, raises=raises)
        ranks = tuple(format_cards([4 * rank]) for rank in self.buckets.ranks)
        self.form: SequenceForm = sequence_form(PublicGame(root, (ranks, ranks), np.array(self._cards.matrices)))

    def decisions(self) -> Iterator[tuple[int, list[tuple[Choice, list[int]]]]]:
        """Yield the player of each decision of the tree, with the choice and the order of ranks on each board."""
        game = self._tree.game
        tree = self._tree
        # Choices of the sequence form are named by betting and board: "{}" marks the place of the board card.
        choices = [{choice.name: choice for choice in of_player} for of_player in self.form.choices]
        dealt = ["{}" if cards else "" for cards in game.num_board_cards]
        names = [dealt[0]]
        for node in range(1, len(tree.parents)):
            parent = tree.parents[node]
            action = tree.actions[parent][tree.taken[node]]
            suffix = ""
            if tree.rounds[node] != tree.rounds[parent]:
                suffix = f"/{dealt[tree.rounds[node]]}"
            names.append(f"{names[parent]}{format_action(action)}{suffix}")
        for node in tree.decisions.tolist():
            player_choices = choices[tree.players[node]]
            boards: list[Board] = [()]
            if game.board_cards_by_round[tree.rounds[node]]:
                boards = self._cards.full_boards
            by_board = []
            for board in boards:
                name = names[node].format(format_cards(board))
                by_board.append((player_choices[name], self.buckets.order(board)))
            yield int(tree.players[node]), by_board

    def strategy(self, plans: Plans) -> NDArray[np.float64]:
        """Convert plans to probabilities in the layout of a strategy file: node, action, bucket."""
        parts = []
        for player, choices in self.decisions():
            by_board = []
            for choice, order in choices:
                by_board.append(in_proportion(plans[player][choice.sequences][:, order]))
            parts.append(np.hstack(by_board).ravel())
        return np.concatenate(parts)


class Solver(RegretMatching):
    """Regret minimisation of a small game, the counterpart of `bots.cfr.sampling.SampledSolver`."""

    def __init__(self, game: SmallGame, discounts: Discounts) -> None:
        super().__init__(game.form, discounts.factors)
        self.game = game
        self.per_iteration = game.buckets.boards

    def average_strategy(self) -> NDArray[np.float64]:
        """Return the average strategy, which converges, in the layout of a strategy file."""
        return self.game.strategy(self.plans())

    def gains(self) -> list[float]:
        """Return the exact winnings of each player's best response to the average strategy, in chips per hand.

        Their mean is the exploitability of the average strategy over both seats.
        """
        plans = self.plans()
        values = []
        for player in range(2):
            response = best_response(self.form, player, *others_of(plans, player))
            values.append(response.value)
        return values
