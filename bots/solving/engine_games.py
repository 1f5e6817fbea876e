"""Games of the engine as trees for the solvers: the betting is walked by the rule book, the cards come from elsewhere.

`betting_tree` walks the betting of any game of two players; what its cards are is a `Cards`. `small_game` deals every
card of a game that is small enough, such as Kuhn's and Leduc: there each holding is a class of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from bots.solving.tree import Chance, Decision, Leaf, Node, PublicGame
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, Card, Game, betting_start, format_cards
from engine.actions import raise_to
from engine.evaluator import rank_hand

__all__ = ["MOST_LEAVES", "Cards", "betting_tree", "small_game"]

MOST_LEAVES: Final = 20_000
"""A larger tree is refused: Leduc has 274 leaves for each of its deals of hole cards."""

Board = tuple[Card, ...]


class Cards(Protocol):
    """The cards of a game; matrices are told by their numbers in `PublicGame.matrices`."""

    def boards(self, round_: int, board: Board) -> Sequence[Board]:
        """What the board can be in a round, after that of the round before; the same board if no card is dealt."""

    def dealt(self, board: Board) -> int:
        """The matrix of the probabilities of each pair of classes together with a board."""

    def won(self, board: Board) -> int:
        """The matrix of what a showdown on a full board wins, in bets, times those probabilities."""


def betting_tree(game: Game, cards: Cards, *, first: int = 0, free_folds: bool = False) -> Node:
    """The tree of a game.

    Args:
        game: a game of two players.
        cards: its cards.
        first: the position that is player 0 of the tree.
        free_folds: whether players may fold where they owe nothing, which the rule book refuses.

    Raises:
        SolvingError: the game has more players, or too many ways to bet.
    """
    if game.num_players != 2:
        raise SolvingError(f"games of two players can be solved, not one of {game.num_players}")
    leaves = 0

    def leaf(name: str, matrix: int, chips: float) -> Leaf:
        nonlocal leaves
        leaves += 1
        if leaves > MOST_LEAVES:
            raise SolvingError(f"the game is too large to be solved: its tree has more than {MOST_LEAVES:,} leaves")
        return Leaf(name, matrix, chips)

    def folded(state: BettingState, position: int, board: Board, name: str) -> Leaf:
        lost = state.spent[position]
        return leaf(name, cards.dealt(board), -lost if position == first else lost)

    def after(state: BettingState, action: Action, board: Board, name: str) -> Node:
        position = state.acting_position
        if action == FOLD:
            return folded(state, position, board, name)
        return dealt(state.after(action), state.round, board, name)

    def dealt(state: BettingState, round_: int, board: Board, name: str) -> Node:
        """What follows once the cards up to the round of the state are dealt."""
        if round_ < state.round:
            boards = cards.boards(round_ + 1, board)
            if len(boards) > 1:
                return Chance(
                    tuple(dealt(state, round_ + 1, b, f"{name}/{format_cards(b[len(board) :])}") for b in boards)
                )
            return dealt(state, round_ + 1, boards[0], name + "/")
        if state.finished:
            return leaf(name, cards.won(board), min(state.spent))
        legal = state.legal_actions()
        actions = [FOLD] if legal.can_fold or free_folds else []
        actions.append(CALL)
        if legal.can_raise:
            sizes = range(legal.raise_min, legal.raise_max + 1)
            actions += [RAISE] if game.is_limit else map(raise_to, sizes)
        names = tuple(_letter(action) for action in actions)
        children = tuple(after(state, a, board, name + n) for a, n in zip(actions, names, strict=True))
        return Decision(name, int(state.acting_position != first), names, children)

    start = betting_start(game)
    boards = cards.boards(0, ())
    nodes = tuple(dealt(start, 0, board, format_cards(board)) for board in boards)
    return nodes[0] if len(nodes) == 1 else Chance(nodes)


def small_game(game: Game, *, first: int = 0) -> PublicGame:
    """A game of two players with all its cards; `first` is the position that is player 0.

    Raises:
        SolvingError: the game has more players, or is too large.
    """
    cards = _AllCards(game)
    tree = betting_tree(game, cards, first=first)
    names = tuple(map(format_cards, cards.holdings))
    return PublicGame(tree, (names, names), np.array(cards.matrices))


class _AllCards:
    """Every card of a game: a class is a holding."""

    def __init__(self, game: Game) -> None:
        self.matrices: list[NDArray[np.float64]] = []
        self._game = game
        self._numbers: dict[tuple[Board, bool], int] = {}
        deck, held = len(game.deck), game.num_hole_cards
        if comb(deck, held) > _MOST_HOLDINGS:
            raise SolvingError(f"the game is too large to be solved card by card: {comb(deck, held):,} holdings")
        self.holdings = list(combinations(sorted(game.deck), held))
        self._deals = comb(deck, held) * comb(deck - held, held)
        sets = list(map(set, self.holdings))
        self._disjoint = np.array([[one.isdisjoint(other) for other in sets] for one in sets])

    def boards(self, round_: int, board: Board) -> Sequence[Board]:
        """All boards of a round."""
        rest = sorted(self._game.deck_set.difference(board))
        return [board + dealt for dealt in combinations(rest, self._game.num_board_cards[round_])]

    def dealt(self, board: Board) -> int:
        """The matrix of the probabilities."""
        return self._number(board, won=False)

    def won(self, board: Board) -> int:
        """The matrix of what a showdown wins."""
        return self._number(board, won=True)

    def _number(self, board: Board, *, won: bool) -> int:
        key = (tuple(sorted(board)), won)
        if key not in self._numbers:
            self._numbers[key] = len(self.matrices)
            chances = self._chances(board)
            self.matrices.append(chances * self._signs(board) if won else chances)
        return self._numbers[key]

    def _chances(self, board: Board) -> NDArray[np.float64]:
        game = self._game
        deals, left, dealt = self._deals, len(game.deck) - 2 * game.num_hole_cards, 0
        for cards in game.num_board_cards:
            if dealt < len(board):
                deals, left, dealt = deals * comb(left, cards), left - cards, dealt + cards
        free = np.array([not {*holding} & {*board} for holding in self.holdings])
        chances: NDArray[np.float64] = (self._disjoint & free[:, None] & free) / deals
        return chances

    def _signs(self, board: Board) -> NDArray[np.float64]:
        ranks = np.array(
            [rank_hand((*holding, *board)) if not {*holding} & {*board} else 0 for holding in self.holdings]
        )
        signs: NDArray[np.float64] = np.sign(ranks[:, None] - ranks).astype(np.float64)
        return signs


_MOST_HOLDINGS: Final = 200


def _letter(action: Action) -> str:
    """An action as in a match state."""
    return "fcr"[action.kind] + (
        str(action.hand_total) if action.kind is ActionKind.RAISE and action.hand_total else ""
    )
