"""Environments for training: limit hold'em between random players, compared with RLCard and OpenSpiel.

All programs take turns in every repeat. Every player chooses uniformly among its legal actions, and an observation is
made for every decision, except where the row says so. Rates are by processor time. Imports, compiling and the first
hands, which fill our caches, are not timed: training takes millions of hands. In RLCard players also fold where a check
is free, so its hands are shorter: the notes have the number of decisions.
"""

from __future__ import annotations

import importlib
import random
import statistics
from collections.abc import Callable
from importlib import metadata
from time import process_time
from typing import Any, Final, NamedTuple

import numpy as np

from dealer.bench import Row

ONE_TABLE: Final = "environments, one table"
BATCH: Final = "environments, batches"
UNIT: Final = "hands/s"
GAME: Final = "limit"
ROWS: Final = 4096
WARM_HANDS: Final = 20_000
SEED: Final = 20_241
OPENSPIEL_GAME: Final = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=10 5,firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
    "numHoleCards=2,numBoardCards=0 3 1 1,raiseSize=10 10 20 20,maxRaises=3 4 4 4,stack=100000 100000)"
)


class _Played(NamedTuple):
    """Hands of a run, and the decisions in them that the caller made."""

    hands: int
    decisions: int


class _Program(NamedTuple):
    """Program that plays a number of hands, or more."""

    group: str
    who: str
    play: Callable[[int], _Played]
    hands: int
    is_ours: bool


def measure(repeats: int = 5, hands: int = 5000) -> list[Row]:
    """Measure our environments and the installed peers; others get a row of zeros with a note.

    Args:
        repeats: number of times that each program is timed.
        hands: hands of each program in a repeat; a hundred times as many in batches.

    Raises:
        ValueError: a number is too small.
    """
    if repeats < 1 or hands < 1:
        raise ValueError(f"repeats and hands must be 1 or more, not {repeats}, {hands}")
    programs = [
        _Program(ONE_TABLE, "TableEnv (PettingZoo), both seats", _table(), hands, True),
        _Program(ONE_TABLE, "SeatEnv (Gymnasium), against random", _seat(), hands, True),
        _Program(BATCH, f"HandBatch, {ROWS:,} rows, both seats", _batch(None), 100 * hands, True),
        _Program(BATCH, f"HandBatch, {ROWS:,} rows, against random", _batch("random"), 100 * hands, True),
    ]
    missing = []
    for name, module, add in (("rlcard", "rlcard", _rlcard), ("open_spiel", "pyspiel", _openspiel)):
        try:
            library = importlib.import_module(module)
        except ImportError:
            missing.append(name)
        else:
            programs += add(library, f"{name} {metadata.version(name)}", hands)
    for program in programs:
        if program.is_ours:
            program.play(max(WARM_HANDS, program.hands))
    rates: dict[str, list[float]] = {program.who: [] for program in programs}
    played: dict[str, _Played] = {}
    for _ in range(repeats):
        for program in programs:
            start_s = process_time()
            played[program.who] = program.play(program.hands)
            rates[program.who].append(played[program.who].hands / (process_time() - start_s))
    rows = []
    for group in (ONE_TABLE, BATCH):
        ours = next(program.who for program in programs if program.group == group)
        for program in programs:
            if program.group == group or not program.is_ours:
                decisions = played[program.who].decisions / played[program.who].hands
                rows.append(
                    _row(group, program.who, rates[program.who], rates[ours], f"{decisions:.1f} decisions a hand")
                )
        rows += [Row(group, name, 0.0, 0.0, 0.0, UNIT, None, "not installed") for name in missing]
    return rows


def _row(group: str, who: str, rates: list[float], ours: list[float], note: str) -> Row:
    ratio = None
    if rates is not ours:
        ratio = statistics.median(our_rate / rate for our_rate, rate in zip(ours, rates, strict=True))
    return Row(group, who, statistics.median(rates), min(rates), max(rates), UNIT, ratio, note)


# ---- ours


def _table() -> Callable[[int], _Played]:
    from bots.environments import TableEnv

    env = TableEnv(GAME)
    env.reset(seed=SEED)
    draw = random.Random(SEED).random

    def play(hands: int) -> _Played:
        decisions = 0
        for _ in range(hands):
            env.reset()
            for _agent in env.agent_iter():
                _, _, is_over, _, info = env.last()
                if is_over:
                    env.step(None)
                    continue
                legal = info["action_mask"].nonzero()[0]
                env.step(legal[int(draw() * len(legal))])
                decisions += 1
        return _Played(hands, decisions)

    return play


def _seat() -> Callable[[int], _Played]:
    from bots.environments import SeatEnv

    # The weights that RandomBot renormalises over the legal actions: uniform, as the other players.
    env = SeatEnv(GAME, "random?fold=1,call=1,raise=1")
    env.reset(seed=SEED)
    draw = random.Random(SEED).random

    def play(hands: int) -> _Played:
        decisions = 0
        for _ in range(hands):
            _, info = env.reset()
            is_over = False
            while not is_over:
                legal = info["action_mask"].nonzero()[0]
                _, _, is_over, _, info = env.step(legal[int(draw() * len(legal))])
                decisions += 1
        return _Played(hands, decisions)

    return play


def _batch(opponents: str | None) -> Callable[[int], _Played]:
    from bots.environments import HandBatch

    if opponents is not None:
        opponents = "random?fold=1,call=1,raise=1"
    batch = HandBatch(GAME, ROWS, opponents=opponents)
    batch.reset(SEED)
    generator = np.random.default_rng(SEED)

    def play(hands: int) -> _Played:
        finished = 0
        steps = 0
        while finished < hands:
            draws = generator.random(batch.action_masks.shape, np.float32)
            batch.step((draws * batch.action_masks).argmax(axis=1))
            finished += int(batch.finished.sum())
            steps += 1
        return _Played(finished, steps * ROWS)

    return play


# ---- peers


def _rlcard(library: Any, who: str, hands: int) -> list[_Program]:
    agents = importlib.import_module("rlcard.agents")
    env = library.make("limit-holdem", config={"seed": SEED})
    env.set_agents([agents.RandomAgent(num_actions=env.num_actions) for _ in range(2)])

    def play(hands: int) -> _Played:
        decisions = 0
        for _ in range(hands):
            trajectories, _ = env.run(is_training=False)
            # A trajectory alternates states and actions and ends with a state.
            decisions += sum(len(trajectory) // 2 for trajectory in trajectories)
        return _Played(hands, decisions)

    return [_Program(ONE_TABLE, who, play, hands, False)]


def _openspiel(library: Any, who: str, hands: int) -> list[_Program]:
    game = library.load_game(OPENSPIEL_GAME)
    draw = random.Random(SEED).random

    def player(is_observed: bool) -> Callable[[int], _Played]:
        def play(hands: int) -> _Played:
            decisions = 0
            for _ in range(hands):
                state = game.new_initial_state()
                while not state.is_terminal():
                    actions = state.legal_actions()
                    if not state.is_chance_node():
                        decisions += 1
                        if is_observed:
                            np.array(state.information_state_tensor(), np.float32)
                    state.apply_action(actions[int(draw() * len(actions))])
                state.returns()
            return _Played(hands, decisions)

        return play

    return [
        _Program(BATCH, f"{who} universal_poker", player(True), hands, False),
        _Program(BATCH, f"{who} universal_poker, no observations", player(False), hands, False),
    ]
