"""How the opponent departs from a strategy of limit hold'em, and the answer to it.

It is counted, in each situation, what the opponent did, and what it would have done by the strategy with the range that
the model gives it there. A situation is the round, the position and how many bets the round has had. The model of the
opponent plays as the strategy, but for factors of its folds, calls and raises: the ratios of both counts. Few
observations leave nearly the strategy (the idea of data-biased responses: Johanson & Bowling 2009, "Data biased robust
counter strategies").

The answer is local best response to the model (`bots.evaluation.local_best_response`). How much it can lose to others
is limited in two ways: it is played in a part of the hands (of a mixture with an equilibrium, each part loses at most
its share: Johanson, Zinkevich & Bowling 2007, "Computing robust counter-strategies", mixes in a better way, which
would have to be trained), and only while the opponent's actions of the hand are at least as likely by the model as by
the strategy.

All counts are whole numbers and are added, so they do not depend on the order of hands.
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
_ONE: Final = 1000
"""An action in the counts of what is expected."""
_PRIOR: Final = 5 * _ONE
"""Added to both counts of an action: so much is believed of the strategy before anything has been seen."""
_ANY: Final = 0.05
"""Added to each probability of the strategy: what it never does with a holding, another player may do."""
_SETS: Final = ActionSets("fcr", is_limit=True)
_KINDS: Final = (ActionKind.FOLD, ActionKind.CALL, ActionKind.RAISE)
_LEARNT: Final = re.compile(r"([0-3][01][0-9]):([0-2]):([0-9]{1,4}),([0-9]{1,4}),([0-9]{1,4})", re.ASCII)


class Occasion(NamedTuple):
    """An action of the opponent: the situation, the number of its kind, and the chances of all kinds in 1,000ths."""

    situation: str
    kind: int
    expected: tuple[int, int, int]

    @property
    def text(self) -> str:
        return f"{self.situation}:{self.kind}:{','.join(map(str, self.expected))}"


def _occasion(found: re.Match[str]) -> Occasion:
    kind, fold, call, more = map(int, found.groups()[1:])
    return Occasion(found[1], kind, (fold, call, more))


class OpponentModel:
    """What the opponent did and was expected to do, by situation and kind of action."""

    def __init__(self, counts: Mapping[str, Sequence[int]] | None = None) -> None:
        self._counts = {situation: list(row) for situation, row in (counts or {}).items()}

    def learn(self, occasions: Sequence[Occasion]) -> None:
        for occasion in occasions:
            row = self._counts.setdefault(occasion.situation, [0] * 2 * len(_KINDS))
            row[occasion.kind] += _ONE
            for kind, expected in enumerate(occasion.expected):
                row[len(_KINDS) + kind] += expected

    def learn_journal(self, path: str) -> None:
        for hand, learnt in read_journal(path):
            found = [_LEARNT.fullmatch(text) for text in learnt.split()]
            if None in found:
                raise BotFileError(path, f"hand {hand}: {quoted(learnt)} is not what cfr learns from a hand")
            self.learn([_occasion(one) for one in found if one])

    def content(self) -> bytes:
        return artifact_bytes(_KIND, {"counts": dict(sorted(self._counts.items()))}, b"")

    def of(self, state: BettingState, chances: Mapping[Action, Any]) -> dict[Action, NDArray[np.float64]]:
        """What the model does where the strategy does something, by holding."""
        legal = state.legal_actions()
        row = self._counts.get(_situation(state), [0] * 2 * len(_KINDS))
        found: dict[Action, Any] = {}
        for number, action in enumerate((FOLD, CALL, RAISE)):
            if (action == FOLD and not legal.can_fold) or (action == RAISE and not legal.can_raise):
                continue
            factor = (row[number] + _PRIOR) / (row[len(_KINDS) + number] + _PRIOR)
            found[action] = factor * (_ANY + np.asarray(chances.get(action, 0.0)))
        total = sum(found.values())
        return {action: chance / total for action, chance in found.items()}


def read_model(path: str) -> OpponentModel:
    """Counts of a file; a `BotFileError` if it is not one, or damaged."""
    found = read_artifact(path, _KIND)
    with found.parsing():
        counts = found.header["counts"]
        if any(len(row) != 2 * len(_KINDS) or {*map(type, row)} != {int} for row in counts.values()):
            raise ValueError(f"{json.dumps(counts)[:40]} are no counts")
        return OpponentModel(counts)


def _situation(state: BettingState) -> str:
    return f"{state.round}{state.acting_position}{raises_in_round(state)}"


class _ModelledRange(RangeOfPolicy):
    """An opponent that plays as a strategy, with the factors of a model."""

    def __init__(self, strategy: RangeOfPolicy, policy: Policy, model: OpponentModel) -> None:
        super().__init__(strategy.game, policy, "the model")
        self._strategy = strategy
        self._model = model

    def at(self, betting: BettingState, board: tuple[Card, ...]) -> StatePolicy:
        return StatePolicy(betting, self._model.of(betting, self._strategy.at(betting, board).chances))


class Answerer:
    """Learns what an opponent does, beside a strategy that reports its policy by holding, and answers it."""

    def __init__(self, game: Game, strategy: Policy, model: OpponentModel) -> None:
        self.model = model
        self._strategy = RangeOfPolicy(game, strategy, "cfr")
        self._modelled = _ModelledRange(self._strategy, strategy, model)

    def forget(self) -> None:
        """Forget the states of a hand."""
        self._strategy.forget()

    def answer(self, view: View) -> Action | None:
        """What wins most from the model; None after actions that are likelier by the strategy."""
        ratio = 1.0
        by_model = self._seen(self._modelled, self._modelled, view)
        for (_, kind, here), (_, _, there) in zip(
            by_model, self._seen(self._strategy, self._strategy, view), strict=True
        ):
            ratio *= here[kind] / max(there[kind], 1 / _ONE)
        if ratio >= 1:
            return self._modelled.choose(view.betting, view.hole_cards, view.board, _SETS)
        return None

    def occasions(self, view: View) -> list[Occasion]:
        """What there is to learn from a hand."""
        found = []
        for state, kind, chances in self._seen(self._strategy, self._modelled, view):
            fold, call, more = (round(_ONE * chance) for chance in chances)
            found.append(Occasion(_situation(state), kind, (fold, call, more)))
        return found

    def _seen(
        self, player: RangeOfPolicy, ranged: RangeOfPolicy, view: View
    ) -> Iterator[tuple[BettingState, int, list[float]]]:
        """The opponent's actions, by the numbers of their kinds, and how likely a player does each kind there.

        Its range is that of the second one.
        """
        weights = player.holdings.are_free((*view.hole_cards, *view.board)).astype(np.float64)
        for state, action in decisions(view.betting):
            if state.acting_position != view.position:
                board = view.board[: player.game.board_cards_by_round[state.round]]
                policy = player.at(state, board)
                kind = _KINDS.index(action.kind)
                chances = [float((weights * policy.of(one)).sum() / weights.sum()) for one in (FOLD, CALL, RAISE)]
                yield state, kind, chances
                narrowed = weights * ranged.at(state, board).of((FOLD, CALL, RAISE)[kind])
                if narrowed.any():
                    weights = narrowed
