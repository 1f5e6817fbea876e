"""AIVAT for two players with the values of a strategy.

Source: Burch et al. 2018, "AIVAT: A new variance reduction technique for agent evaluation in imperfect information
games". A hand is valued from the seat of the player whose cards are held to be known, the *holder*. Its opponent, whose
policy is known, could have played the hand with many holdings. They are weighted by the probability that the policy
plays the hand with them, and all of them count.

The estimate is the mean result over these holdings, plus one term of mean 0 for each event whose probabilities are
known: the deal, the cards of the board, and the choices of the policy. A term is the expected value before the event
less the value after it. Any values leave the estimate unbiased; the better they foresee the result, the smaller its
variance.

A sequential test needs bounds of its scores. With `max_correction`, an event has no term if one of its outcomes could
take the sum of the terms beyond it. This is decided before the event, so that the mean of its term is 0 either way.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.bot import CfrBot
from bots.cfr.next_boards import HoldingBuckets, NextBoards
from bots.cfr.strategy_values import StrategyValues
from bots.cfr.tree import FOLDED, SHOWDOWN
from bots.errors import PolicyError
from bots.evaluation.hypothetical_hands import is_played, no_chance
from bots.evaluation.policies import Policy, certain_policy_at, policy_at, policy_by_holding_at, view_at
from bots.sdk.view import View
from engine import Action, BettingState, Card, Deal, Game, Position, betting_start, hand_values
from engine.holdem import is_holdem
from engine.ranges import HOLDINGS, are_free, classes, holding_number, shares_against
from logs.record import HandRecord

if TYPE_CHECKING:
    from bots.cfr.endgames import Endgame

_Floats = NDArray[np.float64]
_Chances: TypeAlias = Mapping[Action, "float | _Floats"]
_Hole: TypeAlias = tuple[Card, ...]
PairValues: TypeAlias = Callable[[BettingState, tuple[_Hole, _Hole], tuple[Card, ...]], float]
"""Returns the chips that position 0 is expected to win in a state, given both holdings and the cards shown."""
_RIVER: Final = 3
_MAX_BOARDS: Final = 512
"""Boards that are cached, each with the buckets of a holding: 20,000 numbers for a flop."""


class ExactValues:
    """`PairValues` of a policy against itself in a game of few cards, by enumeration."""

    def __init__(self, game: Game, policy: Policy) -> None:
        self._game = game
        self._policy = policy
        # A cache of each object: one of the class would keep all objects alive.
        self._cached_value = lru_cache(None)(self._value)

    def __call__(self, betting: BettingState, holes: tuple[_Hole, _Hole], board: tuple[Card, ...]) -> float:
        return self._cached_value(betting, holes, board)

    def _value(self, betting: BettingState, holes: tuple[_Hole, _Hole], board: tuple[Card, ...]) -> float:
        if betting.finished and not betting.is_showdown:
            return hand_values(betting, Deal(holes, board))[0]
        # After an all-in the whole board is dealt.
        shown = self._game.board_cards_by_round[-1 if betting.finished else betting.round]
        if len(board) < shown:
            free = [card for card in self._game.deck if card not in {*holes[0], *holes[1], *board}]
            later = [
                self._cached_value(betting, holes, board + cards) for cards in combinations(free, shown - len(board))
            ]
            return sum(later) / len(later)
        if betting.finished:
            return hand_values(betting, Deal(holes, board))[0]
        view = View.from_holding(betting, betting.acting_position, holes[betting.acting_position], board, 0)
        chances = certain_policy_at(self._policy, view, "the strategy of the values", "")
        return sum(
            [
                chance * self._cached_value(betting.after(option), holes, board)
                for option, chance in chances.items()
                if chance
            ]
        )


@dataclass(frozen=True, slots=True)
class HandEstimate:
    """Estimate of a hand in chips, with one known policy.

    Attributes:
        chips: what the known player wins, without the luck of cards and of its own choices.
        other_term: term of the holder's choices, of mean 0; 0 if its policy is not known.
        start: what the strategy expects from the holder's position before the deal.
        gains: what the holder's choices in each round win beyond the values of the strategy. With `start` they sum to
            minus `chips`.
    """

    chips: float
    other_term: float
    start: float
    gains: tuple[float, ...]


class ValueTerms:
    """Estimates of hands of two players by the values of a strategy.

    Args:
        policies: the known policies by name.
        values: values of hold'em, or of a game of few cards.
        solver: in hold'em, the bot that solves the rivers whose betting is valued.
        max_correction: largest sum of the terms of a hand, in chips.
    """

    def __init__(
        self,
        game: Game,
        policies: Mapping[str, Policy],
        values: StrategyValues | PairValues,
        solver: CfrBot | None = None,
        *,
        max_correction: float = math.inf,
    ) -> None:
        self.game = game
        self.policies = dict(policies)
        self.values = values
        self.solver = solver
        self.max_correction = max_correction
        if isinstance(values, StrategyValues):
            assert values.strategy.cards is not None
            self.boards_after = lru_cache(_MAX_BOARDS)(HoldingBuckets(values.strategy.cards).after)
            start = betting_start(game)
            self.start_values = [values.winnings(start, Position(player), classes()) for player in range(2)]

    def estimate(self, record: HandRecord, known: Position) -> HandEstimate:
        """Return the estimate of a hand with one known policy.

        Args:
            known: position of the known policy.

        Raises:
            PolicyError: a policy has no probabilities in a state, or probability 0 for a player's action.
        """
        if isinstance(self.values, StrategyValues):
            walk: _Walk = _HoldemWalk(self, self.values, record, known)
        else:
            walk = _SmallWalk(self, self.values, record, known)
        return walk.result()


class ValuedHands:
    """Estimates by values for every group of known players with a cfr, as columns of `ActionTerms`.

    Only cfr is known to report the probabilities of all holdings in every state, and fast. With two of them, the
    estimate is the mean of those from each seat.

    Args:
        on_estimate: called with each estimate and the position of its known player.

    Attributes:
        names: the groups, each in the order of the known players.
    """

    def __init__(
        self, terms: ValueTerms, on_estimate: Callable[[HandRecord, Position, HandEstimate], None] | None = None
    ) -> None:
        self._terms = terms
        self._on_estimate = on_estimate
        self._valued = [name for name, policy in terms.policies.items() if _is_valued(policy)]
        self.names: list[tuple[str, ...]] = []
        for size in range(1, len(terms.policies) + 1):
            for names in combinations(terms.policies, size):
                if any(name in self._valued for name in names):
                    self.names.append(names)

    def columns(self, record: HandRecord) -> _Floats:
        """Return the estimate of each group less the chips won, by position, shape (2, groups).

        Raises:
            PolicyError: see `ValueTerms.estimate`.
        """
        columns = np.zeros((2, len(self.names)))
        # By the name of the known player, with its position.
        estimates = {}
        for position, name in enumerate(record.names):
            if name in self._valued:
                estimate = self._terms.estimate(record, Position(position))
                estimates[name] = position, estimate
                if self._on_estimate is not None:
                    self._on_estimate(record, Position(position), estimate)
        for column, group in enumerate(self.names):
            won = []
            for name in group:
                if name not in estimates:
                    continue
                position, estimate = estimates[name]
                chips = estimate.chips
                if record.names[1 - position] in group:
                    chips += estimate.other_term
                # Chips of position 0: what one of two players wins the other loses.
                won.append(chips if position == 0 else -chips)
            if won:
                gain = sum(won) / len(won) - record.values[0]
                columns[:, column] = gain, -gain
        return columns


class _Walk(ABC):
    """One hand, valued from the seat of the holder.

    Attributes:
        weights: weight of each holding of the known player, up to a factor.
        shown: cards of the board so far.
    """

    weights: _Floats

    def __init__(self, terms: ValueTerms, record: HandRecord, known: Position) -> None:
        self.terms = terms
        self.record = record
        self.known = known
        self.holder = Position(1 - known)
        self.hole = record.deal.hole_cards[self.holder]
        self.shown: tuple[Card, ...] = ()
        self._policy = terms.policies[record.names[known]]
        self._holder_policy = terms.policies.get(record.names[self.holder])
        self._is_bounded = terms.max_correction < math.inf
        self._correction = 0.0

    def result(self) -> HandEstimate:
        record = self.record
        game = self.terms.game
        start, value = self.start_values()
        holder_chips = self._bounded(start - value, self._largest_of_deal)
        # A round gains its value at the end less that at its start, and the terms of the known player's choices.
        gains = [0.0] * len(record.betting.rounds)
        current = 0
        holder_terms = 0.0
        betting = betting_start(record.game)
        for round_, actions in enumerate(record.betting.rounds):
            board = record.deal.board[: game.board_cards_by_round[round_]]
            # The boards of an all-in are part of the value at its end.
            if len(board) > len(self.shown) and not betting.finished:
                end, next_start, largest = self.board_values(betting, board)
                holder_chips += self._bounded(end - next_start, largest)
                # The change up to the end of the betting belongs to the round before, the new cards' to none.
                gains[current] += end - value
                value = next_start
                current = round_
                self.shown = board
            for position, action in actions:
                if position == self.known:
                    term = self._known_action(betting, action)
                    holder_chips += term
                    gains[current] += term
                elif self._holder_policy is not None:
                    holder_terms += self._holder_action(self._holder_policy, betting, action)
                betting = betting.after(action)
        final = self.value(betting, betting, self.weights)
        holder_chips += final
        gains[current] += final - value
        return HandEstimate(-holder_chips, -holder_terms, start, tuple(gains))

    def _bounded(self, term: float, largest: Callable[[], float]) -> float:
        """Return the term of an event, or 0 if one of its outcomes could take the sum beyond `max_correction`.

        Args:
            largest: returns the largest absolute value of the term over all outcomes of the event.
        """
        if self._is_bounded:
            if abs(self._correction) + largest() > self.terms.max_correction:
                return 0.0
            self._correction += term
        return term

    @abstractmethod
    def start_values(self) -> tuple[float, float]:
        """Return the value before the deal as a mean over all holdings of the holder, and with its own."""

    @abstractmethod
    def _largest_of_deal(self) -> float:
        """Return the largest term of a deal of the holder's cards."""

    @abstractmethod
    def board_values(self, betting: BettingState, board: tuple[Card, ...]) -> tuple[float, float, Callable[[], float]]:
        """Return the mean value over the next cards, that with those that came, and the function of the largest term.

        Takes the cards that came from the range.
        """

    @abstractmethod
    def value(self, before: BettingState, after: BettingState, weights: _Floats) -> float:
        """Return the chips that the holder is expected to win, as a mean over a range of the known player.

        Args:
            before: state before the last action.
            after: state after it.
        """

    @abstractmethod
    def chances(self, policy: Policy, betting: BettingState) -> _Chances:
        """Return the probability of each action by holding of the known player."""

    def _known_action(self, betting: BettingState, action: Action) -> float:
        expected = 0.0
        came = 0.0
        total = self.weights.sum()
        played: _Floats = np.zeros(len(self.weights))
        values = []
        for option, chance in self.chances(self._policy, betting).items():
            weights = self.weights * chance
            # Options of probability 0 cannot occur, so their values are not needed, nor counted for the bound.
            share = float(weights.sum() / total)
            if share <= 0:
                continue
            value = self.value(betting, betting.after(option), weights)
            values.append(value)
            expected += share * value
            if is_played(option, action, betting.game):
                came = value
                played = played + weights
        if not played.any():
            raise no_chance(self.record, self.known, action)
        # Scaled, as the product over many actions could underflow.
        self.weights = played / played.max()
        return self._bounded(expected - came, lambda: _largest_distance(expected, values))

    def _holder_action(self, policy: Policy, betting: BettingState, action: Action) -> float:
        view = view_at(betting, self.record.deal, self.record.hand_number)
        chances = policy_at(policy, view)
        if chances is None:
            return 0.0
        expected = 0.0
        came = None
        values = []
        for option, chance in chances.items():
            if chance <= 0:
                continue
            value = self.value(betting, betting.after(option), self.weights)
            values.append(value)
            expected += chance * value
            if is_played(option, action, betting.game):
                came = value
        if came is None:
            raise no_chance(self.record, self.holder, action)
        return self._bounded(expected - came, lambda: _largest_distance(expected, values))

    def view(self, betting: BettingState) -> View:
        """Return what the player in turn sees, without its cards."""
        board = self.record.deal.board[: self.terms.game.board_cards_by_round[betting.round]]
        return View(betting, betting.acting_position, self.record.hand_number, ((),) * 2, board)


class _SmallWalk(_Walk):
    """A hand of a game of few cards, whose holdings are enumerated."""

    def __init__(self, terms: ValueTerms, values: PairValues, record: HandRecord, known: Position) -> None:
        super().__init__(terms, record, known)
        self._values = values
        game = terms.game
        free = [card for card in game.deck if card not in self.hole]
        self._holdings = [*combinations(free, game.num_hole_cards)]
        self.weights = np.ones(len(self._holdings))

    def start_values(self) -> tuple[float, float]:
        start = betting_start(self.record.game)
        means = self._start_means()
        return sum(means) / len(means), self.value(start, start, self.weights)

    def _start_means(self) -> list[float]:
        """Return the value before any action, as a mean over the known player's cards, by holding of the holder."""
        game = self.terms.game
        start = betting_start(self.record.game)
        means = []
        for hole in combinations(game.deck, game.num_hole_cards):
            free = [card for card in game.deck if card not in hole]
            others = [self._pair_value(start, hole, other, ()) for other in combinations(free, game.num_hole_cards)]
            means.append(sum(others) / len(others))
        return means

    def _largest_of_deal(self) -> float:
        means = self._start_means()
        return _largest_distance(sum(means) / len(means), means)

    def board_values(self, betting: BettingState, board: tuple[Card, ...]) -> tuple[float, float, Callable[[], float]]:
        before = self.value(betting, betting, self.weights)
        weights = self.weights.copy()
        shown = self.shown
        after, self.weights = self._value_on(betting, board, weights)

        def largest() -> float:
            free = [card for card in self.terms.game.deck if card not in {*self.hole, *shown}]
            values = []
            for cards in combinations(free, len(board) - len(shown)):
                value, left = self._value_on(betting, shown + cards, weights)
                if left.any():
                    values.append(value)
            return _largest_distance(before, values)

        return before, after, largest

    def _value_on(self, betting: BettingState, board: tuple[Card, ...], weights: _Floats) -> tuple[float, _Floats]:
        """Return the value on a board, and the weights of the holdings without its cards."""
        left = weights.copy()
        for index, holding in enumerate(self._holdings):
            if {*board} & {*holding}:
                left[index] = 0.0
        if not left.any():
            return 0.0, left
        shown = self.shown
        # `value` reads the board from `shown`.
        self.shown = board
        value = self.value(betting, betting, left)
        self.shown = shown
        return value, left

    def value(self, before: BettingState, after: BettingState, weights: _Floats) -> float:
        values = np.zeros(len(weights))
        for index in np.flatnonzero(weights).tolist():
            values[index] = self._pair_value(after, self.hole, self._holdings[index], self.shown)
        return float(weights @ values / weights.sum())

    def _pair_value(self, betting: BettingState, hole: _Hole, other: _Hole, board: tuple[Card, ...]) -> float:
        game = self.terms.game
        missing = 0 if betting.finished else game.board_cards_by_round[betting.round] - len(board)
        if missing:
            # The mean over the next cards: with any other value before them, their term would not have mean 0.
            free = [card for card in game.deck if card not in {*hole, *other, *board}]
            values = [self._pair_value(betting, hole, other, board + cards) for cards in combinations(free, missing)]
            return sum(values) / len(values)
        if self.holder == 0:
            return self._values(betting, (hole, other), board)
        return -self._values(betting, (other, hole), board)

    def chances(self, policy: Policy, betting: BettingState) -> _Chances:
        by_action: dict[Action, _Floats] = {}
        name = self.record.names[self.known]
        for index in np.flatnonzero(self.weights).tolist():
            view = View.from_holding(
                betting, self.known, self._holdings[index], self.view(betting).board, self.record.hand_number
            )
            for action, chance in certain_policy_at(policy, view, name, ": no average over holdings").items():
                by_action.setdefault(action, np.zeros(len(self._holdings)))[index] = chance
        return by_action


class _HoldemWalk(_Walk):
    """A hand of hold'em, with arrays over the 1,326 holdings of the known player."""

    def __init__(self, terms: ValueTerms, values: StrategyValues, record: HandRecord, known: Position) -> None:
        super().__init__(terms, record, known)
        self._values = values
        self._number = holding_number(*self.hole)
        self.weights = are_free(self.hole).astype(np.float64)

    def start_values(self) -> tuple[float, float]:
        values = self.terms.start_values[self.holder]
        return float(values.mean()), float(values[self._number])

    def _largest_of_deal(self) -> float:
        values = self.terms.start_values[self.holder]
        return _largest_distance(float(values.mean()), values)

    def board_values(self, betting: BettingState, board: tuple[Card, ...]) -> tuple[float, float, Callable[[], float]]:
        boards = self._next_boards()
        values = self._values.winnings(betting, self.holder, boards.buckets)
        chances = board_chances(self.weights, boards.cards)
        new = sorted(board[len(self.shown) :])
        is_new = (np.sort(boards.cards, axis=1) == new).all(axis=1)
        index = int(np.flatnonzero(is_new)[0])
        self.weights = self.weights * are_free(board)
        mean = float(chances @ values)
        return mean, float(values[index]), lambda: _largest_distance(mean, values[chances > 0])

    def value(self, before: BettingState, after: BettingState, weights: _Floats) -> float:
        if after.finished:
            return self._final_value(after, weights)
        if after.round > before.round:
            boards = self._next_boards()
            values = self._values.winnings(after, self.holder, boards.buckets)
            return float(board_chances(weights, boards.cards) @ values)
        if after.round == _RIVER:
            return self._river_value(before, after, weights)
        bucket = self._values.strategy.buckets_on(self.shown)[[self._number]]
        return float(self._values.winnings(after, self.holder, bucket)[0])

    def _final_value(self, betting: BettingState, weights: _Floats) -> float:
        if betting.is_showdown:
            share = float(weights @ shares_against(self.hole, self.shown) / weights.sum())
            # What one player has put in beyond the other one is returned.
            return min(betting.spent) * (2 * share - 1)
        if betting.folded >> self.holder & 1:
            return -float(betting.spent[self.holder])
        return float(betting.spent[self.known])

    def _next_boards(self) -> NextBoards:
        return self.terms.boards_after(tuple(sorted(self.hole)), self.shown)

    def _river_value(self, before: BettingState, after: BettingState, weights: _Floats) -> float:
        """Return the value within the betting of a river, played on by the solution of the solver."""
        assert self.terms.solver is not None
        solved = self.terms.solver.endgame_at(self.view(before))
        assert solved is not None
        endgame, node = solved
        following = endgame.after(node, after.rounds[_RIVER][-1][1])
        if following is None:
            # A raise that the solution lacks begins a new endgame.
            solved = self.terms.solver.endgame_at(self.view(after))
            assert solved is not None
            endgame, following = solved
        return self._walk_river(endgame, following, weights) / float(weights.sum())

    def _walk_river(self, endgame: Endgame, node: int, reach: _Floats) -> float:
        """Return the chips that the holder wins, summed over the known player's holdings by their reach."""
        tree = endgame.tree
        chips = float(tree.chips[node])
        if tree.kinds[node] == FOLDED:
            sign = -1 if tree.players[node] == self.holder else 1
            return sign * chips * float(reach.sum())
        if tree.kinds[node] == SHOWDOWN:
            return chips * float(reach @ (2 * shares_against(self.hole, endgame.board) - 1))
        total = 0.0
        for index, chance in enumerate(endgame.policy(node).values()):
            following = int(tree.children[node, index])
            if tree.players[node] == self.holder:
                own = float(chance[self._number])
                if own > 0:
                    total += own * self._walk_river(endgame, following, reach)
            elif chance.any():
                total += self._walk_river(endgame, following, reach * chance)
        return total

    def chances(self, policy: Policy, betting: BettingState) -> _Chances:
        chances = policy_by_holding_at(policy, self.view(betting))
        if chances is None:
            raise PolicyError(
                f"{self.record.names[self.known]} reports no probabilities for all holdings at once in hand "
                f"{self.record.hand_number}"
            )
        return chances


def _largest_distance(mean: float, values: Sequence[float] | _Floats) -> float:
    return float(np.abs(np.asarray(values) - mean).max(initial=0.0))


def _is_valued(policy: Policy) -> bool:
    return isinstance(policy, CfrBot) and not policy.is_learning


def board_chances(weights: _Floats, cards: NDArray[np.uint8]) -> _Floats:
    """Return the probability of each next board, given the weights of a player's holdings.

    Args:
        weights: shape (1326,).
        cards: one or three new cards of each board, shape (boards, cards).
    """
    pairs = np.zeros((52, 52))
    first, second = np.array(HOLDINGS).T
    pairs[first, second] = weights
    pairs[second, first] = weights
    by_card = pairs.sum(axis=1)
    # Inclusion and exclusion: holdings with two cards of a flop have been subtracted twice.
    free = weights.sum() - by_card[cards].sum(axis=1)
    for one, other in combinations(range(cards.shape[1]), 2):
        free += pairs[cards[:, one], cards[:, other]]
    chances: _Floats = free / free.sum()
    return chances


def value_terms(game: Game, policies: Mapping[str, Policy], *, max_correction: float = math.inf) -> ValueTerms | None:
    """Return the terms by the values of a strategy of a game, of a known cfr if it has some; None without values.

    Args:
        max_correction: see `ValueTerms`.

    Raises:
        BotFileError: a file of values is damaged or that of another strategy.
    """
    if game.num_players != 2:
        return None
    # A known cfr comes first, as it has solved the rivers that it played.
    solvers = [policy.river_solver() for policy in policies.values() if isinstance(policy, CfrBot)]
    for solver in [*solvers, CfrBot()]:
        if solver.refusal(game) is not None:
            continue
        if not is_holdem(game):
            return ValueTerms(game, policies, ExactValues(game, solver), max_correction=max_correction)
        values = solver.values(game)
        if values is not None:
            return ValueTerms(game, policies, values, solver, max_correction=max_correction)
    return None
