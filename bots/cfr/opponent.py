"""Model an opponent of limit hold'em as a deviation from a strategy, and answer it.

For each situation (round, position and number of raises in the round) the model counts the opponent's actions, and the
actions that the strategy would have taken with the opponent's range. The ratios are factors of the strategy's folds,
calls and raises. A prior keeps the model near the strategy while observations are few, the idea of Johanson & Bowling
2009, "Data biased robust counter strategies".

The answer is a local best response to the model (`bots.evaluation.local_best_response`), given only while the
opponent's actions of the hand are at least as likely by the model as by the strategy. The bot plays it in a part of the
hands, which bounds the loss as in Johanson, Zinkevich & Bowling 2007, "Computing robust counter-strategies".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.artifact import FileKind, artifact_bytes, read_artifact
from bots.cfr.tree import raises_in_round
from bots.errors import BotFileError
from bots.evaluation.local_best_response import ActionSets, RangeOfPolicy, StatePolicy
from bots.evaluation.policies import Policy
from bots.sdk.learning import read_journal
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, Card, Game
from engine.errors import quoted
from engine.hand import decisions

_KIND: Final = FileKind("counts of an opponent's actions", 1, "cfr writes such files in a contest")
# Counts are integers, in thousandths of an action: sums do not depend on the order of the hands.
_UNIT: Final = 1000
_PRIOR: Final = 5 * _UNIT
"""Actions by the strategy that the model assumes before any observation, added to both counts."""
_MIN_CHANCE: Final = 0.05
"""Added to each probability of the strategy, because another player may do what the strategy never does."""
_SETS: Final = ActionSets("fcr", is_limit=True)
_KINDS: Final = (ActionKind.FOLD, ActionKind.CALL, ActionKind.RAISE)
_LEARNT: Final = re.compile(r"([0-3][01][0-9]):([0-2]):([0-9]{1,4}),([0-9]{1,4}),([0-9]{1,4})", re.ASCII)


class Occasion(NamedTuple):
    """Action of the opponent.

    Attributes:
        situation: digits of the round, the position and the number of raises in the round.
        kind: index in fold, call, raise.
        expected: probability of each kind by the strategy, in thousandths.
    """

    situation: str
    kind: int
    expected: tuple[int, int, int]

    @property
    def text(self) -> str:
        return f"{self.situation}:{self.kind}:{','.join(map(str, self.expected))}"


def _parse_occasion(text: str) -> Occasion | None:
    match = _LEARNT.fullmatch(text)
    if match is None:
        return None
    kind, fold, call, more = map(int, match.groups()[1:])
    return Occasion(match[1], kind, (fold, call, more))


class OpponentModel:
    """Counts of an opponent's actions and of the expected ones, by situation.

    Args:
        counts: six numbers per situation: actual folds, calls and raises, then expected ones.
    """

    def __init__(self, counts: Mapping[str, Sequence[int]] | None = None) -> None:
        self._counts = {situation: list(row) for situation, row in (counts or {}).items()}

    def learn(self, occasions: Sequence[Occasion]) -> None:
        for occasion in occasions:
            row = self._counts.setdefault(occasion.situation, [0] * 2 * len(_KINDS))
            row[occasion.kind] += _UNIT
            for kind, expected in enumerate(occasion.expected):
                row[len(_KINDS) + kind] += expected

    def learn_journal(self, path: str) -> None:
        """Learn from the journal of a match.

        Raises:
            BotFileError: an entry has another format.
        """
        for hand, entry in read_journal(path):
            occasions = []
            for text in entry.split():
                occasion = _parse_occasion(text)
                if occasion is None:
                    raise BotFileError(path, f"hand {hand}: {quoted(entry)} is not a record of cfr")
                occasions.append(occasion)
            self.learn(occasions)

    def content(self) -> bytes:
        """Return the content of a file that `read_model` reads."""
        return artifact_bytes(_KIND, {"counts": dict(sorted(self._counts.items()))}, b"")

    def of(self, state: BettingState, chances: Mapping[Action, Any]) -> dict[Action, NDArray[np.float64]]:
        """Return the model's probability of each action from those of the strategy, by holding."""
        legal = state.legal_actions()
        row = self._counts.get(_situation(state), [0] * 2 * len(_KINDS))
        weights: dict[Action, Any] = {}
        for number, action in enumerate((FOLD, CALL, RAISE)):
            if (action == FOLD and not legal.can_fold) or (action == RAISE and not legal.can_raise):
                continue
            factor = (row[number] + _PRIOR) / (row[len(_KINDS) + number] + _PRIOR)
            weights[action] = factor * (_MIN_CHANCE + np.asarray(chances.get(action, 0.0)))
        total = sum(weights.values())
        return {action: weight / total for action, weight in weights.items()}


def read_model(path: str) -> OpponentModel:
    """Read the counts of a file.

    Raises:
        BotFileError: the file has another kind, or is damaged.
    """
    artifact = read_artifact(path, _KIND)
    with artifact.parsing():
        counts = artifact.header["counts"]
        for row in counts.values():
            # Not isinstance: a bool of JSON is an int.
            if len(row) != 2 * len(_KINDS) or {*map(type, row)} != {int}:
                raise ValueError(f"{json.dumps(counts)[:40]} are no counts")
        return OpponentModel(counts)


def _situation(state: BettingState) -> str:
    return f"{state.round}{state.acting_position}{raises_in_round(state)}"


class _ModelledRange(RangeOfPolicy):
    """Policy of a strategy with the factors of a model."""

    def __init__(self, strategy: RangeOfPolicy, policy: Policy, model: OpponentModel) -> None:
        super().__init__(strategy.game, policy, "the model")
        self._strategy = strategy
        self._model = model

    def at(self, betting: BettingState, board: tuple[Card, ...]) -> StatePolicy:
        return StatePolicy(betting, self._model.of(betting, self._strategy.at(betting, board).chances))


class Answerer:
    """Observe an opponent and answer its deviations.

    Args:
        strategy: must report its policy by holding.
        model: counts so far; the caller adds to them what `occasions` returns.
    """

    def __init__(self, game: Game, strategy: Policy, model: OpponentModel) -> None:
        self.model = model
        self._strategy = RangeOfPolicy(game, strategy, "cfr")
        self._modelled = _ModelledRange(self._strategy, strategy, model)

    def forget(self) -> None:
        """Drop the cached states of a hand."""
        self._strategy.forget()

    def answer(self, view: View) -> Action | None:
        """Return the local best response to the model, or None if the strategy explains the hand better."""
        # Likelihood ratio of the opponent's actions of this hand, model against strategy.
        ratio = 1.0
        by_model = self._observe(self._modelled, self._modelled, view)
        by_strategy = self._observe(self._strategy, self._strategy, view)
        for (_, kind, model_chances), (_, _, strategy_chances) in zip(by_model, by_strategy, strict=True):
            # The strategy may never take an action that the opponent has taken.
            ratio *= model_chances[kind] / max(strategy_chances[kind], 1 / _UNIT)
        if ratio >= 1:
            return self._modelled.choose(view.betting, view.hole_cards, view.board, _SETS)
        return None

    def occasions(self, view: View) -> list[Occasion]:
        """Return the opponent's actions of a hand with the expected ones."""
        occasions = []
        for state, kind, chances in self._observe(self._strategy, self._modelled, view):
            fold, call, more = (round(_UNIT * chance) for chance in chances)
            occasions.append(Occasion(_situation(state), kind, (fold, call, more)))
        return occasions

    def _observe(
        self, player: RangeOfPolicy, ranged: RangeOfPolicy, view: View
    ) -> Iterator[tuple[BettingState, int, list[float]]]:
        """Yield the state and kind of each action of the opponent, with the probability of each kind by `player`.

        The opponent's range follows from the policy of `ranged`.
        """
        weights = player.holdings.are_free((*view.hole_cards, *view.board)).astype(np.float64)
        for state, action in decisions(view.betting):
            if state.acting_position != view.position:
                board = view.board[: player.game.board_cards_by_round[state.round]]
                policy = player.at(state, board)
                kind = _KINDS.index(action.kind)
                # Means over the range.
                chances = []
                for possible in (FOLD, CALL, RAISE):
                    played = weights * policy.of(possible)
                    chances.append(float(played.sum() / weights.sum()))
                yield state, kind, chances
                narrowed = weights * ranged.at(state, board).of((FOLD, CALL, RAISE)[kind])
                # An action that is impossible with every holding says nothing about the range.
                if narrowed.any():
                    weights = narrowed
