"""Local best response, whose winnings are a lower bound of the exploitability of a known policy.

The player follows the range w of its opponent: the weight of a holding is the probability with which the policy takes
the opponent's actions. It plays the action of the largest value if there is no bet after it (`RangeOfPolicy.choose`).
It does not plan ahead, so fewer actions can win more. Try several `ActionSets` and take the best.

Source: V. Lisy & M. Bowling, "Equilibrium approximation quality of current no-limit poker bots", 2017, arXiv
1612.07547. Arrays are indexed by holding, in hold'em as in `engine.ranges`, elsewhere in the order of the deck.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import GameRefused, PolicyError
from bots.evaluation.policies import Policy, certain_policy_at, policy_by_holding_at
from bots.sdk.bot import choose_action
from bots.sdk.holdings import HoldingChances, view_with
from bots.sdk.view import View
from engine import (
    CALL,
    FOLD,
    RAISE,
    Action,
    ActionKind,
    BettingState,
    Card,
    Deal,
    Game,
    Position,
    raise_to,
)
from engine.equity import shares_refusal
from engine.errors import quoted
from engine.hand import decisions
from engine.holdem import is_holdem
from engine.ranges import HOLDINGS, are_free, holding_number, shares_against
from engine.tables import read_only
from logs.variance.terms import PotRow, Shares

_BOTH = 0b11


@cache
def every_holding(game: Game) -> _Holdem | _FewCards:
    """Return the holdings of a game.

    Raises:
        GameRefused: the game is not for two players, or has too many deals.
    """
    if game.num_players == 2 and is_holdem(game):
        return _Holdem()
    if game.num_players == 2 and shares_refusal(game) is None:
        return _FewCards(game)
    raise GameRefused(
        "a range of holdings is followed in hold'em of two players, and in games of two in which every deal can be "
        "counted; this game is neither"
    )


class _Holdem:
    cards = HOLDINGS

    def number(self, cards: Sequence[Card]) -> int:
        return holding_number(*cards)

    def are_free(self, cards: Iterable[Card]) -> NDArray[np.bool_]:
        return are_free(cards)

    def shares(self, hole: Sequence[Card], board: Sequence[Card]) -> NDArray[np.float64]:
        """Return the expected share of the pot at a showdown against each holding, 0 if a card is taken."""
        return shares_against(hole, board)


class _FewCards:
    def __init__(self, game: Game) -> None:
        self._game = game
        self._shares = Shares(game)
        self.cards = tuple(combinations(game.deck, game.num_hole_cards))
        self._numbers = {frozenset(cards): number for number, cards in enumerate(self.cards)}
        self._known: dict[tuple[tuple[Card, ...], tuple[Card, ...]], NDArray[np.float64]] = {}

    def number(self, cards: Sequence[Card]) -> int:
        return self._numbers[frozenset(cards)]

    def are_free(self, cards: Iterable[Card]) -> NDArray[np.bool_]:
        taken = {*cards}
        return np.array([taken.isdisjoint(holding) for holding in self.cards])

    def shares(self, hole: Sequence[Card], board: Sequence[Card]) -> NDArray[np.float64]:
        key = tuple(sorted(hole)), tuple(sorted(board))
        if (known := self._known.get(key)) is not None:
            return known
        shares = np.zeros(len(self.cards))
        live = np.flatnonzero(self.are_free((*hole, *board)))
        deals = [Deal((tuple(hole), self.cards[at]), tuple(board)) for at in live.tolist()]
        rows = [PotRow(_BOTH, len(board))] * len(deals)
        # All boards are counted, so the stream of random numbers makes no difference.
        streams = [0] * len(deals)
        shares[live] = self._shares.of(deals, np.arange(len(deals)), rows, streams)[:, 0]
        self._known[key] = read_only(shares)
        return shares


_Floats = NDArray[np.float64]
_ROUNDS: Final = 4
_MAX_SIZES: Final = 200
_MAX_CACHED: Final = 64
"""Maximum number of states before the flop in the cache of policies."""
_REASON: Final = ": its range cannot be followed"
_STREET: Final = re.compile(r"(f?)c([mhpar]*)([1-9][0-9]{0,2})?", re.ASCII)
_GRAMMAR: Final = (
    "actions are those of all streets, or of four with slashes between them, such as c/c/fcpa/fcpa: f fold, c call, "
    "and in limit games r raise; in no-limit games m the smallest raise, h half the pot, p the pot, a all-in, or a "
    "number of sizes such as 56"
)


@dataclass(frozen=True)
class ActionSets:
    """Actions to try on each street, such as ``fcpa`` or ``c/c/fcpa/fcpa``.

    Raises:
        ValueError: the text has another format, or an action is not for the game.
    """

    text: str
    is_limit: bool

    def __post_init__(self) -> None:
        streets = self.text.split("/")
        if len(streets) not in (1, _ROUNDS):
            raise ValueError(f"{quoted(self.text)}: {_GRAMMAR}")
        for street in streets:
            match = _STREET.fullmatch(street)
            if match is None or len({*match[2]}) != len(match[2]) or int(match[3] or 0) > _MAX_SIZES:
                raise ValueError(f"{quoted(self.text)}: {_GRAMMAR}")
            if ("r" in match[2] and not self.is_limit) or ({*match[2]} - {"r"} and self.is_limit):
                kind = "limit" if self.is_limit else "no-limit"
                raise ValueError(f"{quoted(self.text)} is not for a {kind} game: {_GRAMMAR}")
            if match[3] and self.is_limit:
                raise ValueError(f"{quoted(self.text)} is not for a limit game, which has one size: {_GRAMMAR}")

    def of(self, betting: BettingState) -> list[Action]:
        """Return the actions to try in a state, a fold first, then a call and raises from the smallest."""
        streets = self.text.split("/")
        match = _STREET.fullmatch(streets[betting.round if len(streets) > 1 else 0])
        assert match is not None
        legal = betting.legal_actions()
        actions = [FOLD] if match[1] and legal.can_fold else []
        actions.append(CALL)
        if not legal.can_raise:
            return actions
        if self.is_limit:
            return actions + [RAISE] * bool(match[2])
        pot = betting.pot + betting.to_call
        sizes = {
            "m": legal.raise_min,
            "h": betting.max_spent + pot // 2,
            "p": betting.max_spent + pot,
            "a": legal.raise_max,
        }
        wanted = [min(max(sizes[letter], legal.raise_min), legal.raise_max) for letter in match[2]]
        if match[3]:
            # A geometric sequence from the smallest raise to all-in.
            geometric = np.geomspace(legal.raise_min, legal.raise_max, int(match[3]))
            wanted += np.rint(geometric).astype(int).tolist()
        return actions + [raise_to(size) for size in sorted({*wanted})]


@dataclass(frozen=True)
class StatePolicy:
    """Policy in a state: the probability of each action, a number or an array by holding."""

    betting: BettingState
    chances: HoldingChances

    def of(self, action: Action) -> float | _Floats:
        """Return the probability of an action. In limit games the size of a raise is ignored."""
        if not self.betting.game.is_limit:
            return self.chances.get(action, 0.0)
        return sum((chance for option, chance in self.chances.items() if option.kind == action.kind), start=0.0)

    @cached_property
    def blind_raises(self) -> tuple[_Floats, _Floats]:
        """Hand totals and probabilities of the no-limit raises that are equally likely with all holdings.

        They are arrays, because a policy may have thousands of them.
        """
        if self.betting.game.is_limit:
            return np.zeros(0), np.zeros(0)
        others = self.others
        raises = [(action.hand_total, chance) for action, chance in self.chances.items() if action not in others]
        totals, chances = np.array(raises, np.float64).reshape(-1, 2).T
        return totals, chances

    @cached_property
    def others(self) -> HoldingChances:
        if self.betting.game.is_limit:
            return self.chances
        others = {}
        for action, chance in self.chances.items():
            if action.kind != ActionKind.RAISE or isinstance(chance, np.ndarray):
                others[action] = chance
        return others

    def with_holding(self, number: int) -> Mapping[Action, float]:
        chances: dict[Action, float] = {}
        for action, chance in self.chances.items():
            chances[action] = float(chance[number]) if isinstance(chance, np.ndarray) else chance
        return chances


class RangeOfPolicy:
    """Range of a known policy in a game of two players, and the local best response to it.

    Args:
        name: name of the policy in errors.

    Raises:
        GameRefused: the game is not for two players, or has too many deals.
    """

    def __init__(self, game: Game, policy: Policy, name: str) -> None:
        self.game = game
        self.holdings = every_holding(game)
        self._policy = policy
        self._name = name
        self._known: dict[tuple[BettingState, tuple[Card, ...]], StatePolicy] = {}

    def forget(self) -> None:
        """Drop cached policies on boards. Called between hands, it bounds the memory."""
        before_the_flop = {state: policy for state, policy in self._known.items() if not state[1]}
        self._known = {}
        if len(before_the_flop) <= _MAX_CACHED:
            self._known = before_the_flop

    # ---- the policy

    def at(self, betting: BettingState, board: tuple[Card, ...]) -> StatePolicy:
        """Return the policy of the player in turn with every holding, from the cache if possible."""
        if (betting, board) not in self._known:
            self._known[betting, board] = StatePolicy(betting, self._ask(betting, board))
        return self._known[betting, board]

    def _ask(self, betting: BettingState, board: tuple[Card, ...]) -> HoldingChances:
        # The range is that of every hand, so the hand number is 0.
        view = View(betting, betting.acting_position, 0, ((),) * self.game.num_players, board)
        try:
            whole = policy_by_holding_at(self._policy, view)
        except PolicyError as error:
            raise PolicyError(f"{self._name}: {error}") from error
        if whole is not None:
            return whole
        chances: dict[Action, _Floats] = {}
        cards = self.holdings.cards
        for number in np.flatnonzero(self.holdings.are_free(board)).tolist():
            seen = view_with(view, cards[number])
            for action, chance in certain_policy_at(self._policy, seen, self._name, _REASON).items():
                chances.setdefault(action, np.zeros(len(cards)))[number] = chance
        return chances

    def drawn(self, betting: BettingState, hole: Sequence[Card], board: tuple[Card, ...], number: float) -> Action:
        return choose_action(self.at(betting, board).with_holding(self.holdings.number(hole)), number)

    # ---- the range

    def weights(
        self, betting: BettingState, position: Position, hole: Sequence[Card], board: tuple[Card, ...]
    ) -> _Floats:
        """Return the range of the opponent of `position`, up to a factor, shape (holdings,).

        An action that the policy takes with no holding of the range leaves the range unchanged. The betting may have
        ended.
        """
        weights = self.holdings.are_free((*hole, *board)).astype(np.float64)
        for state, action in decisions(betting):
            if state.acting_position != position:
                seen = board[: self.game.board_cards_by_round[state.round]]
                narrowed = weights * self.at(state, seen).of(action)
                if narrowed.any():
                    weights = narrowed
        return weights

    def share(self, weights: _Floats, hole: Sequence[Card], board: tuple[Card, ...]) -> float:
        """Return the expected share of the pot of a holding at a showdown against a range."""
        return float(weights @ self.holdings.shares(hole, board) / weights.sum())

    # ---- the answer

    def choose(self, betting: BettingState, hole: Sequence[Card], board: tuple[Card, ...], sets: ActionSets) -> Action:
        """Return the local best response of the player in turn, the first of several equally good actions.

        With the range w, `share` of the pot against it, the probability f of a fold and share' against holdings that do
        not fold, the values are

            fold               0
            call               share * pot - (1 - share) * call
            raise by s more    f * pot + (1 - f) * (share' * (pot + s) - (1 - share') * (call + s))
        """
        actions = sets.of(betting)
        if len(actions) == 1:
            return actions[0]
        weights = self.weights(betting, betting.acting_position, hole, board)
        values = [self._value(betting, action, weights, hole, board) for action in actions]
        return actions[int(np.argmax(values))]

    def _value(
        self,
        betting: BettingState,
        action: Action,
        weights: _Floats,
        hole: Sequence[Card],
        board: tuple[Card, ...],
    ) -> float:
        """Return the chips that an action wins from here on if there is no bet after it."""
        if action.kind == ActionKind.FOLD:
            return 0.0
        pot = betting.pot
        call = betting.to_call
        if action.kind == ActionKind.CALL:
            share = self.share(weights, hole, board)
            return share * pot - (1 - share) * call
        after = betting.after(action)
        own = betting.acting_position
        opponent = 1 - betting.acting_position
        # The part of a raise that the opponent cannot match is returned.
        more = min(after.spent[own], self.game.stacks[opponent]) - betting.max_spent
        stays = weights * (1 - np.asarray(self.at(after, board).of(FOLD)))
        staying = float(stays.sum() / weights.sum())
        if staying <= 0:
            return float(pot)
        share = self.share(stays, hole, board)
        called = share * (pot + more) - (1 - share) * (call + more)
        return (1 - staying) * pot + staying * called
