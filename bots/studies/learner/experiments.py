"""The experiments of the work: learners against constant, random, MFS and RH players and against all of them mixed.

Each is played with several seeds: a seed is a training of its own, on cards of its own, and a test on others. After
some hands of the training, twice as many each time, the learner plays the test, frozen; so the last stage is the result
and all stages are the graph of learning. Experiments of one game and seed have the same deals.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError
from bots.evolution.journal import Journal
from bots.learner.files import read_memory, write_memory
from bots.learner.memory import Constants, Memory
from bots.learner.tables import Pack, Style, Trainee, line_ups
from bots.learner.training import Earned, frozen_play, unseen_packs
from bots.sdk.registry import builtin_names, make_bot
from bots.workers import Workers
from engine import Game
from protocol import find_game

__all__ = ["FULL_TABLES", "MIXED", "TWO_PLAYERS", "Experiments", "Outcome", "ReportSettings", "Rival", "play_all"]

STAGES: Final = 6
MIXED: Final = "mixed"
TWO_PLAYERS: Final = ("limit", "nolimit")
FULL_TABLES: Final = ("limit10", "nolimit10")
_NAMES: Final[Mapping[str, str]] = {
    **{f"constant {decision}": f"constant?decision={decision}" for decision in range(1, 6)},
    "random": "random?decisions=20/50/15/10/5",
    **{f"MFS k={k}": f"mfs?k={k},trials={{trials}}" for k in ("0.5", "1", "2", "4")},
    **{f"RH k={k}": f"rh?k={k}" for k in ("2", "8", "64")},
}
"""The players of the work; it names no values of k."""
_MIXED_TWO: Final = ("constant 2", "random", "MFS k=2", "RH k=8")
_MIXED_TEN: Final = (
    "constant 2",
    "constant 3",
    "constant 5",
    "random",
    "MFS k=1",
    "MFS k=2",
    "MFS k=4",
    "RH k=8",
    "RH k=64",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """How much is played for the report."""

    hands: int = field(default=20_000, metadata={"decides": "hands of each training"})
    test: int = field(default=5_000, metadata={"decides": "hands of each test, frozen, on deals never learnt from"})
    seeds: int = field(default=20, metadata={"decides": "trainings of each experiment"})
    matches: int = field(default=1_000, metadata={"decides": "hands of each match against a built-in bot"})
    trials: int = field(default=200, metadata={"decides": "showdowns drawn for chances against several"})
    seed: int = field(default=1, metadata={"decides": "the first of the seeds"})

    def __post_init__(self) -> None:
        """Check.

        Raises:
            EvolutionError: a number is too small.
        """
        least = {"hands": 1 << STAGES, "test": 2, "seeds": 5, "matches": 2, "trials": 1}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise EvolutionError(f"{name} must be {value} or more, not {getattr(self, name)}")

    @property
    def wanted_seeds(self) -> range:
        """The seeds of the trainings."""
        return range(self.seed, self.seed + self.seeds)

    @property
    def match_seed(self) -> int:
        """The seed of the matches' deals."""
        return self.seed + self.seeds


class Outcome(NamedTuple):
    """What an experiment brought.

    Attributes:
        game: its name.
        opponents: the players learnt on, in a word.
        hands: learnt at each stage.
        mbb: frozen after each stage, by seed and stage, in mbb per hand.
        cells: met at the end, by seed.
    """

    game: str
    opponents: str
    hands: tuple[int, ...]
    mbb: NDArray[np.float64]
    cells: tuple[int, ...]


class Rival(NamedTuple):
    """A frozen match of the learner that learnt on the mixed field.

    Attributes:
        game: its name.
        name: of the built-in bot in all other seats.
        won: by the learner.
    """

    game: str
    name: str
    won: Earned


class Experiments(NamedTuple):
    """Everything that was played.

    Attributes:
        outcomes: of the experiments.
        rivals: matches against what is built in.
        counters: by game, what learners win that learnt against the learner of the mixed field, by seed.
    """

    outcomes: tuple[Outcome, ...]
    rivals: tuple[Rival, ...]
    counters: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class _Course:
    """What came of the experiments of a game and a seed.

    Attributes:
        hands: by field, learnt at each stage.
        mbb: by field, frozen after each stage, in mbb per hand.
        cells: by field, met at the end.
        counter: what a learner wins that learnt against the learner of the mixed field in all other seats.
    """

    hands: dict[str, Sequence[int]]
    mbb: dict[str, list[float]]
    cells: dict[str, int]
    counter: float


class _Deals:
    """The deals of a game and a seed: the stages of a training, and the test, an equal part for each line-up.

    Attributes:
        hands: learnt after each stage: each stage but the first is as long as all before it.
        training: by stage and line-up.
        test: by line-up.
    """

    def __init__(self, settings: ReportSettings, game: Game, seed: int, tables: int) -> None:
        share = game.num_players * tables
        ends = [max(1, (settings.hands >> STAGES - 1 - stage) // share) for stage in range(STAGES)]
        self.hands = tuple([end * share for end in ends])
        self.training, first = [], 0
        for before, end in zip([0, *ends], ends, strict=False):
            part = end - before
            self.training.append([Pack.deal(game, seed, first + at * part, part) for at in range(tables)])
            first += part * tables
        self.test = unseen_packs(game, tables, settings.test, seed)

    def run(self, trainee: Trainee, tables: Sequence[Sequence[str]]) -> list[float]:
        """Train; what is won after each stage, frozen, in mbb per hand."""
        won = []
        for packs in self.training:
            for specs, pack in zip(tables, packs, strict=True):
                trainee.play(specs, pack, learns=True)
            won.append(frozen_play(trainee, tables, self.test).mean)
        return won


def play_all(
    settings: ReportSettings,
    folder: Path,
    *,
    workers: Workers | None = None,
    show: Callable[[float], None] = lambda part: None,
) -> Experiments:
    """Play everything that a folder does not hold yet.

    Args:
        settings: how much.
        folder: where what is finished is kept; made if it is not there.
        workers: who plays; this process by default.
        show: told which part of what was missing is done, 0 to 1, after each seed of a game and each match.

    Raises:
        CheckpointError: the folder cannot be read or written, or is of other settings.
        LearnerFileError: a memory in the folder is damaged.
        WorkersError: the workers are gone.
    """
    over: Any = map if workers is None else workers.each
    games = (*TWO_PLAYERS, *FULL_TABLES)
    with Journal(folder / "experiments.jsonl", asdict(settings)) as kept:
        courses, matches = _finished(kept)
        rivals = {name: _rivals(name) for name in games}
        found = len(kept.rows)
        missing = len(games) * settings.seeds + sum(map(len, rivals.values())) - found

        def keep(row: Mapping[str, Any]) -> None:
            kept.add(row)
            show((len(kept.rows) - found) / missing)

        for name in games:
            memory = folder / f"{name}.memory"
            seeds = [seed for seed in settings.wanted_seeds if (name, seed) not in courses]
            if settings.seed in seeds:
                seeds.remove(settings.seed)
                course, learnt = _play_seed(settings, name, settings.seed, None)
                write_memory(memory, learnt)
                courses[name, settings.seed] = course
                keep({"game": name, "seed": settings.seed, **asdict(course)})
            best = read_memory(memory)
            count = len(seeds)
            played = over(_play_seed, [settings] * count, [name] * count, seeds, [best] * count)
            for seed, (course, _) in zip(seeds, played, strict=True):
                courses[name, seed] = course
                keep({"game": name, "seed": seed, **asdict(course)})
            left = [rival for rival in rivals[name] if (name, rival) not in matches]
            count = len(left)
            won = over(_play_match, [settings] * count, [name] * count, left, [best] * count)
            for rival, earned in zip(left, won, strict=True):
                matches[name, rival] = earned
                keep({"game": name, "rival": rival, "won": earned})
    return _gathered(settings, courses, matches)


def _fields(settings: ReportSettings, game: Game) -> dict[str, list[tuple[str, ...]]]:
    """The line-ups of each experiment of a game."""
    seats = game.num_players - 1
    specs = {name: spec.format(trials=settings.trials) for name, spec in _NAMES.items()}
    if seats > 1:
        return {MIXED: line_ups([specs[name] for name in _MIXED_TEN], seats)}
    alone = {name: line_ups([spec], seats) for name, spec in specs.items()}
    return {**alone, MIXED: line_ups([specs[name] for name in _MIXED_TWO], seats)}


def _finished(kept: Journal) -> tuple[dict[tuple[str, int], _Course], dict[tuple[str, str], Earned]]:
    """What is in a file: by game and seed, and by game and rival.

    Raises:
        CheckpointError: something else is.
    """
    courses: dict[tuple[str, int], _Course] = {}
    matches: dict[tuple[str, str], Earned] = {}
    for row in kept.rows:
        match row:
            case {
                "game": str(game),
                "seed": int(seed),
                "hands": dict(hands),
                "mbb": dict(mbb),
                "cells": dict(cells),
                "counter": float(counter),
            }:
                courses[game, seed] = _Course(hands, mbb, cells, counter)
            case {"game": str(game), "rival": str(rival), "won": [float(mean), float(half_width)]}:
                matches[game, rival] = Earned(mean, half_width)
            case _:
                raise kept.damaged()
    return courses, matches


def _gathered(
    settings: ReportSettings,
    courses: Mapping[tuple[str, int], _Course],
    matches: Mapping[tuple[str, str], Earned],
) -> Experiments:
    outcomes = []
    counters = {}
    games = (*TWO_PLAYERS, *FULL_TABLES)
    for name in games:
        of_game = [courses[name, seed] for seed in settings.wanted_seeds]
        for field_, hands in of_game[0].hands.items():
            mbb = np.array([one.mbb[field_] for one in of_game])
            cells = tuple([one.cells[field_] for one in of_game])
            outcomes.append(Outcome(name, field_, tuple(hands), mbb, cells))
        counters[name] = np.array([one.counter for one in of_game])
    rivals = [Rival(game, name, matches[game, name]) for game in games for name in _rivals(game)]
    return Experiments(tuple(outcomes), tuple(rivals), counters)


def _play_seed(settings: ReportSettings, name: str, seed: int, best: Memory | None) -> tuple[_Course, Memory]:
    """The experiments of a game and a seed.

    Args:
        settings: of the report.
        name: of the game.
        seed: of deals and draws.
        best: what the learner of the mixed field remembers, whom another one learns to beat; None for the one of this
            seed.

    Returns:
        what came of them, and what the learner of the mixed field remembers.
    """
    game = find_game(name)[1]
    fields = _fields(settings, game)
    style = Style(trials=settings.trials, seed=seed)
    deals: dict[int, _Deals] = {}
    course = _Course({}, {}, {}, 0.0)
    mixed = Memory(Constants())
    for field_, tables in fields.items():
        if len(tables) not in deals:
            deals[len(tables)] = _Deals(settings, game, seed, len(tables))
        trainee = Trainee(game, Memory(Constants()), style)
        course.mbb[field_] = deals[len(tables)].run(trainee, tables)
        course.cells[field_] = trainee.cells
        course.hands[field_] = deals[len(tables)].hands
        if field_ == MIXED:
            mixed = trainee.memory
    if 1 not in deals:
        deals[1] = _Deals(settings, game, seed, 1)
    with _frozen(best or mixed, settings) as spec:
        alike = [(spec,) * (game.num_players - 1)]
        counter = deals[1].run(Trainee(game, Memory(Constants()), style), alike)[-1]
    return replace(course, counter=counter), mixed


def _rivals(name: str) -> list[str]:
    """The built-in bots that play a game, the learner aside."""
    game = find_game(name)[1]
    return [one for one in builtin_names() if one != "learner" and make_bot(one, 0).refusal(game) is None]


def _play_match(settings: ReportSettings, name: str, rival: str, memory: Memory) -> Earned:
    """The learner, frozen, against a built-in bot in all other seats; `lbr` knows its policy."""
    game = find_game(name)[1]
    trainee = Trainee(game, memory, Style(trials=settings.trials, seed=settings.seed))
    packs = _match_packs(name, settings.matches, settings.match_seed)
    with _frozen(memory, settings) as learner:
        known = learner.replace(",", ";")
        spec = {"mfs": f"mfs?trials={settings.trials}", "lbr": f"lbr?against={known}"}.get(rival, rival)
        return frozen_play(trainee, [(spec,) * (game.num_players - 1)], packs)


@contextmanager
def _frozen(memory: Memory, settings: ReportSettings) -> Iterator[str]:
    """A learner that remembers this and learns nothing more, as a bot that can be named while the context lasts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner"
        write_memory(path, memory)
        yield f"learner?memory={path},learn=false,trials={settings.trials}"


@lru_cache(maxsize=1)
def _match_packs(name: str, hands: int, seed: int) -> list[Pack]:
    """The deals of all matches of a game; chances that were asked for in one are known in the next."""
    return unseen_packs(find_game(name)[1], 1, hands, seed)
