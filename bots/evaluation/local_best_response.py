"""Local best response: a player that knows its opponent's policy, and what it wins from it is a loss that is proven.

At its turn it knows how likely each holding of the opponent is, w(h): 1 for every one that its own cards and the board
leave, times the probability with which the policy does each thing that the opponent did. Then, with `pot` in the middle
and `call` to pay, it compares what it wins from here on if nobody bets any more after its own action:

    fold               0
    call               share * pot - (1 - share) * call
    raise by s more    f * pot + (1 - f) * (share' * (pot + s) - (1 - share') * (call + s))

where `share` is its share of the pot against the range w at a showdown, f the chance that the opponent folds to the
raise, and share' the share against those holdings that do not. It takes the largest. So it looks one action ahead, and
is a lower bound of what a best answer wins. Fewer actions may win more, because it does not plan: it should be asked
with several sets of actions (`ActionSets`), and the best of them counts.

V. Lisy & M. Bowling, "Equilibrium approximation quality of current no-limit poker bots", 2017, arXiv 1612.07547.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from bots.errors import PolicyError
from bots.evaluation.every_holding import every_holding
from bots.evaluation.policies import Policy, policy_by_holding_in, policy_in
from bots.sdk.bot import drawn_action
from bots.sdk.holdings import HoldingChances, view_with
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, Card, Game, Position, betting_start, raise_to
from engine.errors import quoted
from engine.holdem import is_holdem

__all__ = ["ActionSets", "RangeOfPolicy", "Told", "local_refusal"]

_Floats = NDArray[np.float64]

_ROUNDS: Final = 4
_MOST_SIZES: Final = 200
_KEPT: Final = 64
"""States before the flop of which it is remembered what the policy does there."""
_STREET: Final = re.compile(r"(f?)c([mhpar]*)([1-9][0-9]{0,2})?", re.ASCII)
_GRAMMAR: Final = (
    "actions are those of all streets, or of four with strokes between them, such as c/c/fcpa/fcpa: f fold, c call, "
    "and in limit games r raise; in no-limit games m the smallest raise, h half the pot, p the pot, a all-in, or a "
    "number of sizes such as 56"
)


def local_refusal(game: Game) -> str | None:
    """Why local best response does not play a game; None where it does."""
    if is_holdem(game) and game.num_players == 2:
        return None
    return "local best response is for hold'em of two players, such as the games limit and nolimit; this game is none"


@dataclass(frozen=True)
class ActionSets:
    """Which actions are tried on each street.

    Attributes:
        text: as people write it: ``fcpa``, or ``c/c/fcpa/fcpa``.
        is_limit: of what kind of game.
    """

    text: str
    is_limit: bool

    def __post_init__(self) -> None:
        """Check the text.

        Raises:
            ValueError: it cannot be read.
        """
        streets = self.text.split("/")
        if len(streets) not in (1, _ROUNDS):
            raise ValueError(f"{quoted(self.text)}: {_GRAMMAR}")
        for street in streets:
            match = _STREET.fullmatch(street)
            if match is None or len({*match[2]}) != len(match[2]) or int(match[3] or 0) > _MOST_SIZES:
                raise ValueError(f"{quoted(self.text)}: {_GRAMMAR}")
            if ("r" in match[2] and not self.is_limit) or ({*match[2]} - {"r"} and self.is_limit):
                kind = "limit" if self.is_limit else "no-limit"
                raise ValueError(f"{quoted(self.text)} is not for a {kind} game: {_GRAMMAR}")
            if match[3] and self.is_limit:
                raise ValueError(f"{quoted(self.text)} is not for a limit game, which has one size: {_GRAMMAR}")

    def of(self, betting: BettingState) -> list[Action]:
        """The actions tried by the player in turn, raises from the smallest; where folding is not among them, or not
        allowed, a call comes first."""
        streets = self.text.split("/")
        match = _STREET.fullmatch(streets[betting.round if len(streets) > 1 else 0])
        assert match is not None
        legal = betting.legal_actions()
        found = [FOLD] if match[1] and legal.can_fold else []
        found.append(CALL)
        if not legal.can_raise:
            return found
        if self.is_limit:
            return found + [RAISE] * bool(match[2])
        pot = betting.pot + betting.to_call
        sizes = {
            "m": legal.raise_min,
            "h": betting.max_spent + pot // 2,
            "p": betting.max_spent + pot,
            "a": legal.raise_max,
        }
        wanted = [min(max(sizes[letter], legal.raise_min), legal.raise_max) for letter in match[2]]
        if match[3]:
            # As many as asked for, each larger than the one before by the same factor.
            wanted += np.rint(np.geomspace(legal.raise_min, legal.raise_max, int(match[3]))).astype(int).tolist()
        return found + [raise_to(size) for size in sorted({*wanted})]


@dataclass(frozen=True)
class Told:
    """What a policy does in a state.

    Attributes:
        betting: the state.
        chances: the probability of each action, a number or by holding.
    """

    betting: BettingState
    chances: HoldingChances

    def of(self, action: Action) -> float | _Floats:
        """The probability of an action; raises of limit games may be written with a size or without."""
        if not self.betting.game.is_limit:
            return self.chances.get(action, 0.0)
        return _sum([chance for one, chance in self.chances.items() if one.kind == action.kind])

    @property
    def fold(self) -> float | _Floats:
        """The probability of a fold."""
        return self.chances.get(FOLD, 0.0)

    @cached_property
    def is_blind(self) -> bool:
        """Whether it is the same with all cards."""
        return not any(isinstance(chance, np.ndarray) for chance in self.others.values())

    @cached_property
    def blind_raises(self) -> tuple[_Floats, _Floats]:
        """Of a no-limit game, hand totals and probabilities of the raises that are as likely with all cards.

        A policy may name thousands of them.
        """
        if self.betting.game.is_limit:
            return np.zeros(0), np.zeros(0)
        others = self.others
        found = [(one.hand_total, chance) for one, chance in self.chances.items() if one not in others]
        totals, chances = np.array(found, np.float64).reshape(-1, 2).T
        return totals, chances

    @cached_property
    def others(self) -> HoldingChances:
        """The probabilities of all actions but `blind_raises`."""
        if self.betting.game.is_limit:
            return self.chances
        return {
            one: chance
            for one, chance in self.chances.items()
            if one.kind != ActionKind.RAISE or isinstance(chance, np.ndarray)
        }

    def with_holding(self, number: int) -> Mapping[Action, float]:
        """The probabilities with one holding."""
        if self.is_blind:
            return cast("Mapping[Action, float]", self.chances)
        return {
            action: float(chance[number]) if isinstance(chance, np.ndarray) else chance
            for action, chance in self.chances.items()
        }


class RangeOfPolicy:
    """A policy in a game for two, seen by an opponent who knows it: its range, and the best answer for one action."""

    def __init__(self, game: Game, policy: Policy, name: str) -> None:
        """Prepare.

        Args:
            game: hold'em of two players, or a game of two in which every deal can be counted.
            policy: that of the opponent.
            name: what errors call it.

        Raises:
            GameRefused: another game.
        """
        self.game = game
        self.holdings = every_holding(game)
        self._policy, self._name = policy, name
        self._told: dict[tuple[BettingState, tuple[Card, ...]], Told] = {}
        self._told_first: dict[BettingState, Told] = {}

    def forget(self) -> None:
        """Forget what the policy was asked; done between hands, it bounds the memory.

        What it told before there was a board is kept: it holds for the next hand, too.
        """
        self._told.clear()
        if len(self._told_first) > _KEPT:
            self._told_first.clear()

    # ---- the policy

    def told(self, betting: BettingState, board: tuple[Card, ...]) -> Told:
        """What the policy does when it is in turn, with every holding; asked once in each state.

        Raises:
            PolicyError: it does not tell, or tells what cannot be played.
        """
        found = self._told.get((betting, board)) if board else self._told_first.get(betting)
        if found is None:
            found = Told(betting, self._ask(betting, board))
            if board:
                self._told[betting, board] = found
            else:
                self._told_first[betting] = found
        return found

    def _ask(self, betting: BettingState, board: tuple[Card, ...]) -> HoldingChances:
        view = View(betting, betting.acting_position, 0, ((),) * self.game.num_players, board)
        try:
            told = policy_by_holding_in(self._policy, view)
        except PolicyError as error:
            raise PolicyError(f"{self._name}: {error}") from error
        if told is not None:
            return told
        found: dict[Action, _Floats] = {}
        cards = self.holdings.cards
        for number in np.flatnonzero(self.holdings.are_free(board)).tolist():
            for action, chance in self._one(view_with(view, cards[number])).items():
                found.setdefault(action, np.zeros(len(cards)))[number] = chance
        return found

    def _one(self, view: View) -> Mapping[Action, float]:
        try:
            found = policy_in(self._policy, view)
        except PolicyError as error:
            raise PolicyError(f"{self._name}: {error}") from error
        if found is None:
            raise PolicyError(
                f"{self._name} does not tell what it would do in {view.match_state.format()}: its range cannot be "
                "followed"
            )
        return found

    def drawn(self, betting: BettingState, hole: Sequence[Card], board: tuple[Card, ...], number: float) -> Action:
        """The action of the policy with a holding, by a number drawn from 0 up to 1."""
        return drawn_action(self.told(betting, board).with_holding(self.holdings.number(hole)), number)

    # ---- the range

    def weights(
        self, betting: BettingState, position: Position, hole: Sequence[Card], board: tuple[Card, ...]
    ) -> _Floats:
        """How likely each holding of the opponent is, up to a factor, shape (holdings,).

        An action to which the policy gives no chance with any holding that is left tells nothing: somebody else plays.

        Args:
            betting: the betting so far; it may have ended.
            position: of the player who looks.
            hole: its cards.
            board: the cards on the table.
        """
        found = self.holdings.are_free((*hole, *board)).astype(np.float64)
        state = betting_start(self.game)
        for actor, action in (one for actions in betting.rounds for one in actions):
            if actor != position:
                seen = board[: self.game.board_cards_by_round[state.round]]
                narrowed = found * self.told(state, seen).of(action)
                if narrowed.any():
                    found = narrowed
            state = state.after(action)
        return found

    def share(self, weights: _Floats, hole: Sequence[Card], board: tuple[Card, ...]) -> float:
        """The expected share of the pot of two cards at a showdown against a range."""
        return float(weights @ self.holdings.shares(hole, board) / weights.sum())

    # ---- the answer

    def choose(self, betting: BettingState, hole: Sequence[Card], board: tuple[Card, ...], sets: ActionSets) -> Action:
        """What local best response plays for the player in turn; of several equal actions the first, a fold before all.

        Args:
            betting: the state.
            hole: the player's cards.
            board: the cards on the table.
            sets: the actions to try.
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
        """What an action wins from here on if nobody bets after it, in chips."""
        if action.kind == ActionKind.FOLD:
            return 0.0
        pot, call = betting.pot, betting.to_call
        if action.kind == ActionKind.CALL:
            share = self.share(weights, hole, board)
            return share * pot - (1 - share) * call
        after = betting.after(action)
        own, opponent = betting.acting_position, 1 - betting.acting_position
        # What the opponent cannot match comes back.
        more = min(after.spent[own], self.game.stacks[opponent]) - betting.max_spent
        stays = weights * (1 - np.asarray(self.told(after, board).fold))
        staying = float(stays.sum() / weights.sum())
        if staying <= 0:
            return float(pot)
        share = self.share(stays, hole, board)
        return (1 - staying) * pot + staying * (share * (pot + more) - (1 - share) * (call + more))


def _sum(chances: Sequence[float | _Floats]) -> float | _Floats:
    total: float | _Floats = 0.0
    for one in chances:
        total = total + one
    return total
