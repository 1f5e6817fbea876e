"""The experiments of the work: learners against constant, random, MFS and RH players and against all of them mixed.

Each is played with several seeds: a seed is a training of its own, on cards of its own, and a test on others. After
some hands of the training, twice as many each time, the learner plays the test, frozen; so the last stage is the result
and all stages are the graph of learning. Experiments of one game and seed have the same deals.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError
from bots.learner.constants import Constants
from bots.learner.files import write_memory
from bots.learner.memory import Memory
from bots.learner.tables import Pack, Style, Trainee, line_ups
from bots.learner.training import Earned, frozen_play, unseen_packs
from bots.registry import builtin_names, make_bot
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


class _Course:
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


def play_all(settings: ReportSettings, show: Callable[[float], None] = lambda _: None) -> Experiments:
    """Play everything.

    Args:
        settings: how much.
        show: told which part of the work is done, 0 to 1.
    """
    outcomes: list[Outcome] = []
    rivals: list[Rival] = []
    counters: dict[str, NDArray[np.float64]] = {}
    games = (*TWO_PLAYERS, *FULL_TABLES)
    for number, name in enumerate(games):

        def tell(part: float, number: int = number) -> None:
            show((number + part) / len(games))

        found, best, counter = _play_game(settings, name, tell)
        outcomes += found
        rivals += _matches(settings, name, best)
        if counter is not None:
            counters[name] = counter
    show(1.0)
    return Experiments(tuple(outcomes), tuple(rivals), counters)


def _fields(settings: ReportSettings, game: Game) -> dict[str, list[tuple[str, ...]]]:
    """The line-ups of each experiment of a game."""
    seats = game.num_players - 1
    specs = {name: spec.format(trials=settings.trials) for name, spec in _NAMES.items()}
    if seats > 1:
        return {MIXED: line_ups([specs[name] for name in _MIXED_TEN], seats)}
    alone = {name: line_ups([spec], seats) for name, spec in specs.items()}
    return {**alone, MIXED: line_ups([specs[name] for name in _MIXED_TWO], seats)}


def _play_game(
    settings: ReportSettings, name: str, show: Callable[[float], None]
) -> tuple[list[Outcome], Memory, NDArray[np.float64] | None]:
    """The experiments of a game, what the first learner of the mixed field remembers, and what beats it."""
    game = find_game(name)[1]
    fields = _fields(settings, game)
    won: dict[str, list[list[float]]] = {field_: [] for field_ in fields}
    cells: dict[str, list[int]] = {field_: [] for field_ in fields}
    hands: dict[str, tuple[int, ...]] = {}
    against: list[float] = []
    best = Memory(Constants())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner"
        for turn in range(settings.seeds):
            seed = settings.seed + turn
            style = Style(trials=settings.trials, seed=seed)
            courses: dict[int, _Course] = {}
            for field_, tables in fields.items():
                if len(tables) not in courses:
                    courses[len(tables)] = _Course(settings, game, seed, len(tables))
                course = courses[len(tables)]
                trainee = Trainee(game, Memory(Constants()), style)
                won[field_].append(course.run(trainee, tables))
                cells[field_].append(trainee.cells)
                hands[field_] = course.hands
                if field_ == MIXED and turn == 0:
                    best = trainee.memory
                    write_memory(path, best)
            if game.num_players == 2:
                spec = f"learner?memory={path},learn=false,trials={settings.trials}"
                against.append(courses[1].run(Trainee(game, Memory(Constants()), style), [(spec,)])[-1])
            show((turn + 1) / settings.seeds)
    outcomes = [Outcome(name, field_, hands[field_], np.array(won[field_]), tuple(cells[field_])) for field_ in fields]
    return outcomes, best, np.array(against) if against else None


def _matches(settings: ReportSettings, name: str, memory: Memory) -> Iterator[Rival]:
    """The learner, frozen, against each built-in bot in all other seats."""
    game = find_game(name)[1]
    trainee = Trainee(game, memory, Style(trials=settings.trials, seed=settings.seed))
    packs = unseen_packs(game, 1, settings.matches, settings.seed + settings.seeds)
    for rival in builtin_names():
        if rival == "learner" or make_bot(rival, 0).refusal(game) is not None:
            continue
        spec = f"{rival}?trials={settings.trials}" if rival == "mfs" else rival
        yield Rival(name, rival, frozen_play(trainee, [(spec,) * (game.num_players - 1)], packs))
