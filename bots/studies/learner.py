"""The experiments on the learner: against constant, random, MFS and RH players and against all of them mixed.

Each is played with several seeds: a seed is a training of its own, on cards of its own, and a test on others. After
some hands of the training, twice as many each time, the learner plays the test, frozen; so the last stage is the result
and all stages are the graph of learning. Experiments of one game and seed have the same deals.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.artifact import Journal
from bots.errors import EvolutionError
from bots.learner.memory import RANGES, Constants, Memory, level, read_memory, write_memory
from bots.learner.training import (
    DealBatch,
    PlaySettings,
    Trainee,
    frozen_play,
    line_ups,
    unseen_deals,
)
from bots.sdk.bot import option
from bots.sdk.registry import builtin_names, make_bot
from bots.studies.report import Claim, Claims, Line, LineChart, Report, Section, student_point
from bots.workers import Workers
from engine import Game
from logs.document import ABSENT, Column, Table, text_of
from logs.estimation import Estimate
from protocol import find_game

_STAGES: Final = 6
MIXED: Final = "mixed"
_TWO_PLAYERS: Final = ("limit", "nolimit")
_FULL_TABLES: Final = ("limit10", "nolimit10")
_GAMES: Final = (*_TWO_PLAYERS, *_FULL_TABLES)
_NAMES: Final[Mapping[str, str]] = {
    **{f"constant {decision}": f"constant?decision={decision}" for decision in range(1, 6)},
    "random": "random?decisions=20/50/15/10/5",
    **{f"MFS k={k}": f"mfs?k={k},trials={{trials}}" for k in ("0.5", "1", "2", "4")},
    **{f"RH k={k}": f"rh?k={k}" for k in ("2", "8", "64")},
}
"""The players of the paper, which names no values of k."""
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
class LearnerStudySettings:
    hands: int = option(20_000, "hands of each training")
    test: int = option(5_000, "hands of each test, frozen, on deals never learnt from")
    seeds: int = option(20, "trainings of each experiment")
    matches: int = option(1_000, "hands of each match against a built-in bot")
    trials: int = option(200, "showdowns drawn for chances against several")
    seed: int = option(1, "the first of the seeds")

    def __post_init__(self) -> None:
        least = {"hands": 1 << _STAGES, "test": 2, "seeds": 5, "matches": 2, "trials": 1}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise EvolutionError(f"{name} must be {value} or more, not {getattr(self, name)}")

    @property
    def wanted_seeds(self) -> range:
        return range(self.seed, self.seed + self.seeds)

    @property
    def match_seed(self) -> int:
        return self.seed + self.seeds


@dataclass(frozen=True, slots=True)
class SeedResults:
    """The experiments of a game and a seed by the field that was learnt on.

    `hands` were learnt at each stage, `mbb` per hand won frozen after it; `counter` is won by a learner that trained
    against the learner of the mixed field.
    """

    hands: dict[str, Sequence[int]]
    mbb: dict[str, list[float]]
    cells: dict[str, int]
    counter: float


class PlayedExperiments(NamedTuple):
    """Results by game and seed, and the frozen matches of the learner of the mixed field by game and built-in bot."""

    seeds: Mapping[tuple[str, int], SeedResults]
    matches: Mapping[tuple[str, str], Estimate]

    def of_game(self, name: str) -> list[SeedResults]:
        return [one for (game, _), one in sorted(self.seeds.items()) if game == name]

    def winnings(self) -> dict[tuple[str, str], NDArray[np.float64]]:
        """The mbb per hand by game and field, as an array of seeds and stages."""
        return {
            (game, name): np.array([one.mbb[name] for one in of_game])
            for game in _GAMES
            if (of_game := self.of_game(game))
            for name in of_game[0].mbb
        }


class _Deals:
    """The deals of a game and a seed: the stages of a training, and the test, an equal part for each line-up.

    `hands` are those learnt after each stage: each stage but the first is as long as all before it.
    """

    def __init__(self, settings: LearnerStudySettings, game: Game, seed: int, tables: int) -> None:
        share = game.num_players * tables
        ends = [max(1, (settings.hands >> _STAGES - 1 - stage) // share) for stage in range(_STAGES)]
        self.hands = tuple([end * share for end in ends])
        self.training, first = [], 0
        for before, end in zip([0, *ends], ends, strict=False):
            part = end - before
            self.training.append([DealBatch.deal(game, seed, first + at * part, part) for at in range(tables)])
            first += part * tables
        self.test = unseen_deals(game, tables, settings.test, seed)

    def run(self, trainee: Trainee, tables: Sequence[Sequence[str]]) -> list[float]:
        """Train; what is won after each stage, frozen, in mbb per hand."""
        won = []
        for packs in self.training:
            for specs, pack in zip(tables, packs, strict=True):
                trainee.play(specs, pack, learns=True)
            won.append(frozen_play(trainee, tables, self.test).mean)
        return won


def play_all(
    settings: LearnerStudySettings,
    folder: Path,
    *,
    workers: Workers | None = None,
    show: Callable[[float], None] = lambda part: None,
) -> PlayedExperiments:
    """Play everything that a folder does not hold yet.

    Args:
        show: called with the part of what was missing that is done, 0 to 1, after each seed of a game and each match.
    """
    over: Any = map if workers is None else workers.each
    with Journal(folder / "experiments.jsonl", asdict(settings)) as kept:
        courses, matches = _finished(kept)
        rivals = {name: _rivals(name) for name in _GAMES}
        found = len(kept.rows)
        missing = len(_GAMES) * settings.seeds + sum(map(len, rivals.values())) - found

        def keep(row: Mapping[str, Any]) -> None:
            kept.add(row)
            show((len(kept.rows) - found) / missing)

        for name in _GAMES:
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
                keep({"game": name, "rival": rival, "won": [earned.mean, earned.half_width or 0.0]})
    return PlayedExperiments(courses, matches)


def _fields(settings: LearnerStudySettings, game: Game) -> dict[str, list[tuple[str, ...]]]:
    seats = game.num_players - 1
    specs = {name: spec.format(trials=settings.trials) for name, spec in _NAMES.items()}
    if seats > 1:
        return {MIXED: line_ups([specs[name] for name in _MIXED_TEN], seats)}
    alone = {name: line_ups([spec], seats) for name, spec in specs.items()}
    return {**alone, MIXED: line_ups([specs[name] for name in _MIXED_TWO], seats)}


def _finished(kept: Journal) -> tuple[dict[tuple[str, int], SeedResults], dict[tuple[str, str], Estimate]]:
    courses: dict[tuple[str, int], SeedResults] = {}
    matches: dict[tuple[str, str], Estimate] = {}
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
                courses[game, seed] = SeedResults(hands, mbb, cells, counter)
            case {"game": str(game), "rival": str(rival), "won": [float(mean), float(half_width)]}:
                matches[game, rival] = Estimate(mean, half_width or None)
            case _:
                raise kept.damaged()
    return courses, matches


def _play_seed(settings: LearnerStudySettings, name: str, seed: int, best: Memory | None) -> tuple[SeedResults, Memory]:
    """The experiments of a game and a seed, and what the learner of the mixed field remembers.

    Another learner learns to beat `best`, or the one of this seed if that is None.
    """
    game = find_game(name)[1]
    fields = _fields(settings, game)
    style = PlaySettings(trials=settings.trials, seed=seed)
    deals: dict[int, _Deals] = {}
    course = SeedResults({}, {}, {}, 0.0)
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
    game = find_game(name)[1]
    return [one for one in builtin_names() if one != "learner" and make_bot(one, 0).refusal(game) is None]


def _play_match(settings: LearnerStudySettings, name: str, rival: str, memory: Memory) -> Estimate:
    game = find_game(name)[1]
    trainee = Trainee(game, memory, PlaySettings(trials=settings.trials, seed=settings.seed))
    packs = _match_packs(name, settings.matches, settings.match_seed)
    with _frozen(memory, settings) as learner:
        known = learner.replace(",", ";")
        spec = {"mfs": f"mfs?trials={settings.trials}", "lbr": f"lbr?against={known}"}.get(rival, rival)
        return frozen_play(trainee, [(spec,) * (game.num_players - 1)], packs)


@contextmanager
def _frozen(memory: Memory, settings: LearnerStudySettings) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner"
        write_memory(path, memory)
        yield f"learner?memory={path},learn=false,trials={settings.trials}"


@lru_cache(maxsize=1)
def _match_packs(name: str, hands: int, seed: int) -> list[DealBatch]:
    return unseen_deals(find_game(name)[1], 1, hands, seed)


_VALUES: int = 5
_SOME = ("constant 2", "random", "MFS k=2", "RH k=8", MIXED)
_OVER_SEEDS = (
    "Each ± is half the 95 % interval of Student's t over the {seeds} seeds: it covers the luck of cards, training and "
    "test."
)


def learner_report(settings: LearnerStudySettings, played: PlayedExperiments) -> Report:
    last = {key: SeedMean.of(mbb[:, -1].tolist()) for key, mbb in played.winnings().items()}
    won = [key for key, mean in last.items() if mean.low > 0]
    lost = [f"{name} in {game}" for (game, name), mean in last.items() if mean.high < 0]
    return Report(
        "The learner",
        (
            "The available text of the thesis describes the player and its opponents and prints no results, so there "
            "are no printed figures to compare with.",
            f"The learner wins from {len(won)} of {len(last)} fields that it trained against"
            + (f", and loses to {', '.join(lost)}." if lost else ", and loses to none."),
            _matches_in_words(played.matches),
        ),
        (
            ("training", f"{settings.hands:,} hands"),
            ("test", f"{settings.test:,} hands"),
            ("seeds", str(settings.seeds)),
            ("matches", f"{settings.matches:,} hands"),
            ("trials", f"{settings.trials:,}"),
            ("first seed", str(settings.seed)),
        ),
        (
            Section("Statements of the text", (), (_claims(),)),
            *[_experiments(settings, played, games) for games in (_TWO_PLAYERS, _FULL_TABLES)],
            Section("Against the built-in bots", (_counter_words(played, settings),), (_crosstable(played.matches),)),
        ),
    )


def _claims() -> Claims:
    return Claims(
        "Statements",
        (
            _stated("the level of a POT of 29, of 7 levels of 13.3", level(29, 13.3, 7) + 1, 3),
            _stated("the level of a POT of 1,000, beyond all of these", level(1000, 13.3, 7) + 1, 7),
            _stated("constants of the player", len(RANGES), 10),
            Claim(
                f"tests of {_VALUES} values for each constant",
                f"{_VALUES ** len(RANGES):,}",
                why="the number is missing in the text",
            ),
            Claim("winnings of any player", "below", why="the pages with results are missing"),
        ),
    )


def _stated(quantity: str, ours: int, printed: int) -> Claim:
    return Claim.plain(quantity, str(printed), str(ours), ours == printed, "its rule gives another number")


def _experiments(settings: LearnerStudySettings, played: PlayedExperiments, games: Sequence[str]) -> Section:
    of_games = {game: of_game for game in games if (of_game := played.of_game(game))}
    names = list(dict.fromkeys(name for of_game in of_games.values() for name in of_game[0].mbb))
    winnings, note = played.winnings(), _OVER_SEEDS.format(seeds=settings.seeds)
    rows = []
    for name in names:
        row = [name]
        for game, of_game in of_games.items():
            cells = fmean(one.cells[name] for one in of_game)
            row += [SeedMean.of(winnings[game, name][:, -1].tolist()).words, f"{cells:,.0f}"]
        rows.append(row)
    heads = [
        column
        for game in games
        for column in (
            Column(game, ",", meaning="mbb/g, frozen"),
            Column("cells", ",", meaning="met, on average", rank=2),
        )
    ]
    charts = [
        LineChart(
            f"Learning curve: {game}",
            "hands learnt",
            "mbb/g, frozen, on unseen deals",
            tuple(_line(name, of_game[0].hands[name], winnings[game, name]) for name in names if name in _SOME),
            note,
            is_log=True,
        )
        for game, of_game in of_games.items()
    ]
    title = "Two players" if games is _TWO_PLAYERS else "Ten players, all kinds at one table"
    table = Table.of("Estimate from the training field, mbb/g", ("trained against", *heads), rows, note)
    return Section(title, (), (table, *charts))


def _line(name: str, hands: Sequence[int], mbb: NDArray[np.float64]) -> Line:
    means, halves = zip(*[SeedMean.of(column.tolist()) for column in mbb.T], strict=True)
    return Line.of(name, hands, means, halves, has_dots=True)


def _crosstable(matches: Mapping[tuple[str, str], Estimate]) -> Table:
    games = [game for game in _GAMES if any(key[0] == game for key in matches)]
    names = sorted({name for _, name in matches})
    cells = {key: text_of(won, "+,.0f") for key, won in matches.items()}
    return Table.of(
        "The learner of the mixed field, frozen, against one kind of bot in all other seats, mbb/g",
        ("against", *games),
        ((name, *[cells.get((game, name), ABSENT) for game in games]) for name in names),
        "Each ± is half the normal 95 % interval over deals, a deal with all its rotations counting once: it covers "
        "the cards of the match, not the luck of the one training. Too few deals have no interval. lbr is given the "
        "learner's policy, so its result is a lower bound on the exploitability.",
    )


def _matches_in_words(matches: Mapping[tuple[str, str], Estimate]) -> str:
    beaten = sorted({name for (_, name), won in matches.items() if won.mean > (won.half_width or 0) > 0})
    beating = [key for key, won in matches.items() if won.mean < -(won.half_width or 0) < 0]
    names = ", ".join(
        f"{name} in {game}" for game, name in sorted(beating, key=lambda key: (_GAMES.index(key[0]), key))
    )
    return (
        f"Trained once on the mixed field of each game, it beats {', '.join(beaten) or 'no built-in bot'} in at least "
        f"one game; {f'it loses to {names}' if beating else 'no built-in bot beats it'}."
    )


def _counter_words(played: PlayedExperiments, settings: LearnerStudySettings) -> str:
    won = {game: [one.counter for one in of_game] for game in _GAMES if (of_game := played.of_game(game))}
    parts = [f"{SeedMean.of(values).words} mbb/g in {game}" for game, values in won.items()]
    return (
        f"Another learner, trained for {settings.hands:,} hands with it in all other seats and then frozen, wins "
        f"{_joined(parts)} (means over {settings.seeds} seeds, 95 %), a lower bound on its exploitability."
    )


def _joined(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + parts[-1]


class SeedMean(NamedTuple):
    """A mean over seeds and half its 95 % interval by Student's t, which takes the means of the seeds as normal."""

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: Sequence[float]) -> SeedMean:
        """Of at least two values, one for each seed."""
        return cls(fmean(values), student_point(len(values) - 1) * stdev(values) / sqrt(len(values)))

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width

    @property
    def words(self) -> str:
        """The mean with its interval, in whole numbers."""
        return f"{self.mean:+,.0f} ± {self.half_width:,.0f}"
