"""Positions in a tree, compared with a slow twin that fixes a reading of each raise."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.cfr.bot import CfrBot
from bots.cfr.lookup import lower_chance
from bots.cfr.small_games import RankBuckets
from bots.cfr.strategy_files import write_strategy
from bots.cfr.tree import DECISION, ROUND_SIZES, BettingTree, betting_tree, read_sizes
from bots.sdk.view import View
from engine import CALL, Action, ActionKind, BettingState, betting_start
from engine.betting_rules import raise_to
from protocol import find_game
from protocol.match_state import betting_after

GAME = find_game("leduc-nolimit")[1]
TREE = betting_tree(GAME, read_sizes(ROUND_SIZES, 2))
DECK = sorted(GAME.deck)
HOLE, BOARD = (DECK[0], DECK[3]), (DECK[4],)


class Twin:
    """Slow twin: follow every reading of every raise separately."""

    def __init__(self, tree: BettingTree, chances: dict[int, NDArray[np.float64]], buckets: tuple[int, int]) -> None:
        self.tree, self.chances, self.buckets = tree, chances, buckets
        self.weights: dict[Action, float] = defaultdict(float)

    def policy(self, betting: BettingState) -> dict[Action, float]:
        steps = [step for actions in betting.rounds for step in actions]
        self.follow(0, betting_start(GAME), steps, betting.acting_position, 1.0, 100, False)
        total = sum(self.weights.values())
        return {action: weight / total for action, weight in self.weights.items() if weight}

    def of_table(self, node: int, state: BettingState, matched: int) -> list[Action]:
        """Map the actions of a node to the table."""
        outcome = []
        for action in self.tree.actions[node]:
            if action.kind is ActionKind.RAISE:
                pots = (action.hand_total - matched) / (2 * matched)
                real = 1200 if action.hand_total == 1200 else round(state.max_spent * (1 + 2 * pots))
                action = raise_to(min(real, 1200))
            outcome.append(action)
        return outcome

    def follow(
        self,
        node: int,
        state: BettingState,
        steps: list[tuple[int, Action]],
        ours: int,
        weight: float,
        matched: int,
        owes: bool,
    ) -> None:
        if not steps:
            if owes:
                self.weights[CALL] += weight
            elif self.tree.kinds[node] == DECISION:
                chances = self.chances[node][:, self.buckets[state.round]]
                for action, chance in zip(self.of_table(node, state, matched), chances, strict=True):
                    self.weights[action] += weight * chance
            return
        (position, action), rest = steps[0], steps[1:]
        after = state.after(action)
        if owes:
            if action == CALL:
                self.follow(node, after, rest, ours, weight, matched, False)
            return
        if self.tree.kinds[node] != DECISION:
            return
        of_table = self.of_table(node, state, matched)
        children = self.tree.children[node].tolist()
        if position == ours:
            for at, one in enumerate(of_table):
                if one == action:
                    chance = float(self.chances[node][at, self.buckets[state.round]])
                    total = self.tree.actions[node][at].hand_total or matched
                    self.follow(children[at], after, rest, ours, weight * chance, total, False)
            return
        if action.kind is not ActionKind.RAISE:
            self.follow(children[of_table.index(action)], after, rest, ours, weight, matched, False)
            return
        known = [(at, one.hand_total) for at, one in enumerate(of_table) if one.kind is ActionKind.RAISE]

        def pots(total: int) -> float:
            return (total - state.max_spent) / (2 * state.max_spent)

        below = [one for one in known if one[1] <= action.hand_total]
        above = [one for one in known if one[1] >= action.hand_total]
        if below and above and below[-1] == above[0]:
            readings = [(below[-1][0], 1.0)]
        elif not above:
            readings = [(below[-1][0] if below else -1, 1.0)]
        else:
            size = pots(below[-1][1]) if below else 0.0
            lower = lower_chance(pots(action.hand_total), size, pots(above[0][1]))
            readings = [(below[-1][0] if below else -1, lower), (above[0][0], 1 - lower)]
        for at, chance in readings:
            if at >= 0:
                total = self.tree.actions[node][at].hand_total
                self.follow(children[at], after, rest, ours, weight * chance, total, False)
            else:
                child = children[of_table.index(CALL)]
                is_next = self.tree.kinds[child] == DECISION and self.tree.rounds[child] == self.tree.rounds[node]
                self.follow(child, after, rest, ours, weight * chance, matched, not is_next)


def strategy_at(folder: Path, seed: int) -> tuple[str, dict[int, NDArray[np.float64]]]:
    """Return a random strategy in which some actions are never taken, as a file and by node."""
    numbers, buckets = np.random.default_rng(seed), RankBuckets(GAME).counts
    chances = {}
    for node in TREE.decisions.tolist():
        weights = numbers.exponential(size=(len(TREE.actions[node]), buckets[TREE.rounds[node]]))
        weights[numbers.integers(len(weights), size=weights.shape[1]), np.arange(weights.shape[1])] = 0
        chances[node] = weights / weights.sum(axis=0)
    path = folder / f"{seed}.strategy"
    write_strategy(path, TREE, buckets, None, np.concatenate([one.ravel() for one in chances.values()]), {})
    return str(path), chances


def view_of(betting: BettingState) -> View:
    position = betting.acting_position
    cards = tuple((HOLE[position],) if at == position else () for at in range(2))
    return View(betting, position, 0, cards, BOARD if betting.round else ())


@pytest.mark.parametrize(
    "text",
    [
        "r200",
        "r900",
        "r1200",
        "cr200r700",
        "cr300r900",
        "r250c/r400",
        "r250c/cr500r800",
        "cr250c/cr350",
        "cr250c/r500r900",
        "cr280c/cr400",
        "cc/cr350",
        "r900c/c",
        "r900c/r1000",
    ],
)
def test_policy_is_the_mean_over_all_readings(text: str, tmp_path: Path) -> None:
    view = view_of(betting_after(GAME, text))
    boards = RankBuckets(GAME)
    buckets = (boards.bucket(view.hole_cards[0], ()), boards.bucket(view.hole_cards[0], BOARD))
    compared = 0
    for seed in range(4):
        path, chances = strategy_at(tmp_path, seed)
        expected = Twin(TREE, chances, buckets).policy(view.betting)
        if not expected:
            # The strategy never plays this way.
            continue
        outcome = CfrBot(strategy=path).policy(view)
        for action in {*outcome, *expected}:
            assert outcome.get(action, 0) == pytest.approx(expected.get(action, 0), abs=1e-6)
        compared += 1
    assert compared
