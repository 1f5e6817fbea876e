"""Convert games of the engine to trees for the solvers.

`betting_tree` walks the betting of a game by the engine's rules, with cards from a `Cards`. `small_game` has every card
of a small game such as Kuhn or Leduc, with a class for each holding. `rank_game` merges the suits of a small game
without flushes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from bots.solving.sequence_form import ChanceNode, DecisionNode, Leaf, Node, PublicGame
from engine import (
    CALL,
    FOLD,
    RAISE,
    Action,
    BettingState,
    Card,
    Game,
    betting_start,
    format_cards,
    parse_cards,
)
from engine.betting_rules import raise_to
from engine.evaluator import rank_hand
from engine.hand import showdown_values
from protocol import format_action

_MAX_LEAVES: Final = 20_000
"""Maximum number of leaves. Leduc has 274 for each of its deals of hole cards."""
Board = tuple[Card, ...]


class Cards(Protocol):
    """Cards of a game with their payoff matrices."""

    def boards(self, round_: int, board: Board) -> Sequence[Board]:
        """Return the possible boards of a round after the board of the round before, which may be unchanged."""

    def payoff_at(self, spent: Sequence[int], folded: Collection[int], board: Board) -> tuple[int, float]:
        """Return the index of the matrix of an end of the betting, and the chips that multiply it.

        Args:
            spent: chips put in by each player of the tree.
            folded: players of the tree who have folded.
            board: the full board at a showdown.
        """


class DecisionPoint(NamedTuple):
    """Decision in terms of the engine, attached to a tree as `DecisionNode.point`."""

    betting: BettingState
    board: Board
    actions: tuple[Action, ...]


def betting_tree(
    game: Game,
    cards: Cards,
    *,
    first: int = 0,
    free_folds: bool = False,
    raises: Callable[[BettingState], Sequence[Action]] | None = None,
) -> Node:
    """Enumerate the betting of a game.

    Args:
        first: position of player 0 of the tree; the others follow in order.
        free_folds: whether the two players may fold when they can check, against the rules.
        raises: returns the raises in a state, without a bound of the tree's size; all legal ones by default.

    Raises:
        SolvingError: the tree has too many leaves.
    """
    walk = _BettingWalk(game, cards, first, free_folds, raises)
    start = betting_start(game)
    boards = cards.boards(0, ())
    nodes = tuple(walk.deal(start, 0, board, format_cards(board)) for board in boards)
    if len(nodes) == 1:
        return nodes[0]
    return ChanceNode(nodes)


@dataclass
class _BettingWalk:
    """Walk over the betting of a game, with the arguments of `betting_tree`.

    Attributes:
        leaves: number of leaves so far.
    """

    game: Game
    cards: Cards
    first: int
    free_folds: bool
    raises: Callable[[BettingState], Sequence[Action]] | None
    leaves: int = 0

    def deal(self, state: BettingState, round_: int, board: Board, name: str) -> Node:
        """Return the node of a state, after the cards up to its round have been dealt, one round per call."""
        if state.finished and not state.is_showdown:
            return self._leaf(state.spent, self._folded_in(state), board, name)
        if round_ < state.round:
            boards = self.cards.boards(round_ + 1, board)
            if len(boards) == 1:
                return self.deal(state, round_ + 1, boards[0], name + "/")
            nodes = []
            for grown in boards:
                new_cards = format_cards(grown[len(board) :])
                nodes.append(self.deal(state, round_ + 1, grown, f"{name}/{new_cards}"))
            return ChanceNode(tuple(nodes))
        if state.finished:
            return self._leaf(state.spent, self._folded_in(state), board, name)
        return self._decision(state, board, name)

    def _decision(self, state: BettingState, board: Board, name: str) -> DecisionNode:
        actions = self._actions_in(state)
        names = tuple(map(format_action, actions))
        children = []
        for action, action_name in zip(actions, names, strict=True):
            children.append(self._after(state, action, board, name + action_name))
        player = (state.acting_position - self.first) % self.game.num_players
        point = DecisionPoint(state, board, tuple(actions))
        return DecisionNode(name, player, names, tuple(children), point)

    def _actions_in(self, state: BettingState) -> list[Action]:
        legal = state.legal_actions()
        actions = [CALL]
        if legal.can_fold or self.free_folds:
            actions = [FOLD, CALL]
        if legal.can_raise and self.raises is not None:
            actions += self.raises(state)
        elif legal.can_raise and self.game.is_limit:
            actions.append(RAISE)
        elif legal.can_raise:
            actions += map(raise_to, range(legal.raise_min, legal.raise_max + 1))
        return actions

    def _after(self, state: BettingState, action: Action, board: Board, name: str) -> Node:
        # A free fold is against the rules of the engine, so the state after it is not asked for.
        if action == FOLD and self.game.num_players == 2:
            return self._leaf(state.spent, {state.acting_position}, board, name)
        return self.deal(state.after(action), state.round, board, name)

    def _leaf(self, spent: Sequence[int], folded: Collection[int], board: Board, name: str) -> Leaf:
        self.leaves += 1
        if self.raises is None and self.leaves > _MAX_LEAVES:
            raise SolvingError(f"the game is too large to be solved: its tree has more than {_MAX_LEAVES:,} leaves")
        players = self.game.num_players
        spent_by_player = [spent[(self.first + player) % players] for player in range(players)]
        folded_players = {(position - self.first) % players for position in folded}
        matrix, chips = self.cards.payoff_at(spent_by_player, folded_players, board)
        return Leaf(name, matrix, chips)

    def _folded_in(self, state: BettingState) -> set[int]:
        return {position for position in range(self.game.num_players) if state.folded >> position & 1}


def small_game(game: Game, *, first: int = 0) -> PublicGame:
    """Convert a game with all its cards; `first` is the position of player 0, the others follow in order.

    Raises:
        SolvingError: the game is too large.
    """
    cards = _AllCards(game)
    tree = betting_tree(game, cards, first=first)
    return PublicGame(tree, (cards.names,) * game.num_players, np.array(cards.matrices))


class _AllCards:
    """Cards of a game with a class for each holding."""

    def __init__(self, game: Game) -> None:
        self.matrices: list[NDArray[np.float64]] = []
        self._game = game
        self._numbers: dict[tuple[object, ...], int] = {}
        deck = len(game.deck)
        held = game.num_hole_cards
        players = game.num_players
        if comb(deck, held) > _MAX_HOLDINGS:
            raise SolvingError(
                f"the game is too large to be solved card by card: {comb(deck, held):,} holdings, of at most "
                f"{_MAX_HOLDINGS}"
            )
        if comb(deck, held) ** players > _MAX_HOLDINGS**2:
            raise SolvingError(
                f"the game is too large to be solved card by card: {comb(deck, held):,} holdings for each of "
                f"{players} players, of at most {_MAX_HOLDINGS**2:,} combinations"
            )
        self._holdings = list(combinations(sorted(game.deck), held))
        self.names = tuple(map(format_cards, self._holdings))
        self._deals = prod(comb(deck - held * player, held) for player in range(players))
        self._dealt = np.zeros((len(self._holdings),) * players, bool)
        for classes in product(range(len(self._holdings)), repeat=players):
            cards: set[Card] = set()
            for index in classes:
                cards.update(self._holdings[index])
            # A combination is possible if no card is in two holdings.
            self._dealt[classes] = len(cards) == held * players

    def boards(self, round_: int, board: Board) -> Sequence[Board]:
        rest = sorted(self._game.deck_set.difference(board))
        return [board + dealt for dealt in combinations(rest, self._game.num_board_cards[round_])]

    def payoff_at(self, spent: Sequence[int], folded: Collection[int], board: Board) -> tuple[int, float]:
        # The order of the board cards makes no difference to the payoffs.
        seen = tuple(sorted(board))
        if len(spent) > 2:
            key = (tuple(spent), frozenset(folded), seen)
            return self._number(key, lambda: self._chances(board) * self._shares(spent, folded, board)), 1
        if not folded:
            return self._number((seen, True), lambda: self._chances(board) * self._signs(board)), min(spent)
        fold = self._number((seen,), lambda: self._chances(board))
        if 1 in folded:
            return fold, spent[1]
        return fold, -spent[0]

    def _number(self, key: tuple[object, ...], matrix: Callable[[], NDArray[np.float64]]) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.matrices)
            self.matrices.append(matrix())
            if self.matrices[-1].size * len(self.matrices) > _MAX_ENTRIES:
                raise SolvingError(
                    f"the game is too large to be solved: its payoffs are more than {_MAX_ENTRIES:,} numbers"
                )
        return self._numbers[key]

    def _chances(self, board: Board) -> NDArray[np.float64]:
        """Return the probability of each combination of holdings together with the board."""
        game = self._game
        deals = self._deals
        left = len(game.deck) - game.num_players * game.num_hole_cards
        dealt = 0
        for cards in game.num_board_cards:
            if dealt < len(board):
                deals = deals * comb(left, cards)
                left = left - cards
                dealt = dealt + cards
        free = np.array([set(holding).isdisjoint(board) for holding in self._holdings])
        possible = self._dealt
        for player in range(game.num_players):
            shape = [1] * game.num_players
            shape[player] = -1
            possible = possible & free.reshape(shape)
        return possible / deals

    def _signs(self, board: Board) -> NDArray[np.float64]:
        ranks = np.array(self._ranks(board))
        signs: NDArray[np.float64] = np.sign(ranks[:, None] - ranks).astype(np.float64)
        return signs

    def _ranks(self, board: Board) -> list[int]:
        ranks = []
        for holding in self._holdings:
            is_free = set(holding).isdisjoint(board)
            ranks.append(rank_hand((*holding, *board)) if is_free else 0)
        return ranks

    def _shares(self, spent: Sequence[int], folded: Collection[int], board: Board) -> NDArray[np.float64]:
        """Return the winnings of each player by combination of holdings, in chips, shape (players, classes, ...)."""
        if len(folded) < len(spent) - 1:
            ranks = self._ranks(board)
        else:
            # A single player is left, and no cards are compared.
            ranks = [0] * len(self._holdings)
        shares = np.zeros((len(spent), *self._dealt.shape))
        for classes in zip(*np.nonzero(self._dealt), strict=True):
            shown = [None if player in folded else ranks[index] for player, index in enumerate(classes)]
            shares[(slice(None), *classes)] = showdown_values(spent, shown)
        return shares


_MAX_HOLDINGS: Final = 200
_MAX_ENTRIES: Final = 20_000_000
_FLUSH_CARDS: Final = 5


def has_flushes(game: Game) -> bool:
    """Return whether hands have enough cards for a flush."""
    return game.num_hole_cards + sum(game.num_board_cards) >= _FLUSH_CARDS


def rank_game(game: Game) -> PublicGame:
    """Convert a game without flushes like `small_game`, with suits merged.

    Classes and boards are named by ranks, such as ``crc/Qr``.

    Raises:
        SolvingError: suits matter in the game, or it is too large.
    """
    if has_flushes(game):
        raise SolvingError(f"suits matter where a player sees {_FLUSH_CARDS} cards")

    def ranks(cards: str) -> str:
        return "".join([card[0] for card in game.shown_cards(parse_cards(cards))])

    def renamed(name: str) -> str:
        first, *rounds = name.split("/")
        parts = [first]
        for cards, text in zip(game.num_board_cards[1:], rounds, strict=False):
            end = 2 * cards
            parts.append(ranks(text[:end]) + text[end:])
        return "/".join(parts)

    return _coarse(small_game(game), ranks, renamed)


def _coarse(game: PublicGame, class_name: Callable[[str], str], decision_name: Callable[[str], str]) -> PublicGame:
    """Merge classes, and decisions, that get the same name.

    If the merged ones are equivalent, as suits without flushes, an equilibrium of the smaller game is one of the whole
    game.
    """
    names = [tuple(dict.fromkeys(map(class_name, classes))) for classes in game.classes]
    matrices = game.matrices
    first_axis = matrices.ndim - game.players
    for player, (whole, merged) in enumerate(zip(game.classes, names, strict=True)):
        # A matrix of 0 and 1, shape (merged classes, classes), which adds the payoffs of merged classes.
        belongs = np.zeros((len(merged), len(whole)))
        for column, name in enumerate(map(class_name, whole)):
            belongs[merged.index(name), column] = 1
        axis = first_axis + player
        matrices = np.moveaxis(np.tensordot(belongs, matrices, (1, axis)), 0, axis)

    def renamed(node: Node) -> Node:
        match node:
            case Leaf():
                return node
            case ChanceNode(children):
                return ChanceNode(tuple(map(renamed, children)))
            case DecisionNode(name, player, actions, children):
                return DecisionNode(decision_name(name), player, actions, tuple(map(renamed, children)))

    return PublicGame(renamed(game.root), tuple(names), np.ascontiguousarray(matrices))
