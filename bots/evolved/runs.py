"""Runs of the training in a folder: checkpoints while they run, chromosomes when they end.

A folder holds ``trainer-1`` to ``trainer-9`` and ``player``, each with a checkpoint, what it was checked against and,
once it is finished, a chromosome. An existing run is resumed: with the same settings the end is the same to the bit,
whatever happened in between. A new run wins against opponents it does not learn from, or it does not learn to play; the
checks measure that, with deals of their own, every few generations.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from bots.artifact import write_file
from bots.errors import CheckpointError, ChromosomeError, EvolutionError
from bots.evolution.breeding import Chromosomes, Map
from bots.evolution.evolution import (
    Evolution,
    Generation,
    State,
    StopReason,
    StopRule,
    load_checkpoint,
    save_checkpoint,
)
from bots.evolved.chromosome import GENES, Chromosome, read_chromosome, write_chromosome
from bots.evolved.training import GENOME, OPPONENTS, EvolvedSettings, player_evolution, trainer_evolution
from bots.long_run import (
    ShowProgress,
    Words,
    locked_run,
    require_same_settings,
    run_steps,
    settings_data,
    show_nothing,
    show_within,
)
from bots.workers import Workers
from engine.splitmix import MASK_64, mixed
from engine.text import count_of
from logs.document import TEXT, Column, Document, Section, Table

_PLAYER: Final = "player"
_VERSION: Final = 1
_RANDOM: Final = 0x7261_6E64
_DEALS: Final = 0x6465_616C
"""Given to the generators together with the run's seed, so that nothing is drawn that the training draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """A check every so many generations, and after the last one; 0 never. Each deal is played a hundred times."""

    every: int = 10
    deals: int = 200

    def __post_init__(self) -> None:
        if self.every < 0 or self.deals < 1:
            raise EvolutionError(
                f"checks every {self.every} generations of {self.deals} deals are not valid: 0 and 1 are the minimum"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What the best individual of a generation won, in dollars over all hands.

    Attributes:
        renewals: in how many generations so far the opponents were renewed.
        random: against nine random trainers.
        best_random: what the best of these won there.
        earlier: against the latest champions before it; None where there are none.
    """

    generation: int
    renewals: int
    random: float
    best_random: float
    earlier: float | None
    best_earlier: float | None


@dataclass(frozen=True, slots=True)
class Checks:
    deals: int
    checks: tuple[Check, ...] = ()


class Checker:
    def __init__(
        self, folder: Path, name: str, settings: EvolvedSettings, asked: CheckSettings, over: Map | None = None
    ) -> None:
        """Read the checks that a resumed run has; a `CheckpointError` if they had other deals."""
        self._path = _path(folder, name)
        self.checks = read_checks(folder, name) or Checks(asked.deals)
        if asked.every and self.checks.deals != asked.deals:
            raise CheckpointError(
                str(self._path), f"it was made with {self.checks.deals} deals, not {asked.deals}: ask for the same"
            )
        self._every, self._over = asked.every, over or map
        seed = mixed((settings.seed ^ _DEALS << 32) & MASK_64)
        self._evaluator = replace(settings.evaluator, deals=asked.deals, seed=seed)
        self._random: Chromosomes = GENOME.random(OPPONENTS, np.random.default_rng([settings.seed, _RANDOM]))

    def check(self, state: State, *, is_last: bool = False) -> None:
        """Check the best individual after a generation, if it is its turn and has not been."""
        generation = state.history[-1]
        number, done = generation.number, self.checks.checks
        if not self._every or (number % self._every and not is_last) or (done and done[-1].generation >= number):
            return
        best = state.population[int(np.argmax(state.evaluation.fitness))]
        earlier = [champion for champion in state.champions if not np.array_equal(champion, best)][-OPPONENTS:]
        tables = [self._random]
        if earlier:
            tables.append(np.array([earlier[-1 - seat % len(earlier)] for seat in range(OPPONENTS)]))
        count = len(tables)
        found = list(self._over(self._evaluator, [best[None]] * count, [np.zeros(1, np.uint64)] * count, tables))
        won = [float(table.fitness[0]) for table in found]
        best_won = [float(np.max(table.against)) for table in found if table.against is not None]
        check = Check(
            generation=number,
            renewals=generation.renewals,
            random=won[0],
            best_random=best_won[0],
            earlier=won[1] if earlier else None,
            best_earlier=best_won[1] if earlier else None,
        )
        self.checks = Checks(self.checks.deals, (*done, check))
        data = {"version": _VERSION, **asdict(self.checks)}
        write_file(self._path, json.dumps(data, indent=1) + "\n", CheckpointError)


def read_checks(folder: Path, name: str) -> Checks | None:
    path = _path(folder, name)
    try:
        data: Any = json.loads(path.read_bytes())
        version = data["version"]
        checks = Checks(int(data["deals"]), tuple([Check(**check) for check in data["checks"]]))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(str(path), f"it cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CheckpointError(str(path), "these are no checks of a run, or damaged ones: remove the file") from error
    if version != _VERSION:
        raise CheckpointError(str(path), f"it is of version {version}; this program reads version {_VERSION}")
    return checks


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.checks.json"


CHECKS: Final = CheckSettings()


@dataclass(frozen=True, slots=True)
class EvolvedRun:
    name: str
    path: Path
    reason: StopReason
    last: Generation


def run_names(trainers: int) -> list[str]:
    return [f"trainer-{number}" for number in range(1, trainers + 1)]


def evolve_trainers(
    folder: Path,
    settings: EvolvedSettings,
    rule: StopRule,
    *,
    count: int = OPPONENTS,
    checks: CheckSettings = CHECKS,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> list[EvolvedRun]:
    """Evolve trainers one after another, each with deals, population and draws of its own.

    The seed of the settings is that of the first; each of the others has the next.
    """
    runs = []
    for number, name in enumerate(run_names(count)):
        own = replace(settings, seed=settings.seed + number)
        make, within = partial(trainer_evolution, own), show_within(show, number, count)
        runs.append(_run(folder / name, own, {}, make, rule=rule, checks=checks, workers=workers, show=within))
    return runs


def evolve_player(
    folder: Path,
    settings: EvolvedSettings,
    rule: StopRule,
    *,
    checks: CheckSettings = CHECKS,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> EvolvedRun:
    """Evolve a player against the nine trainers of a folder, or raise a `ChromosomeError`; see `evolve_trainers`."""
    paths = [folder / f"{name}.chromosome" for name in run_names(OPPONENTS)]
    for path in paths:
        if not path.is_file():
            raise ChromosomeError(str(path), f"the file does not exist; a player needs {OPPONENTS} trainers")
    trainers: Chromosomes = np.array([_thresholds(read_chromosome(str(path))) for path in paths])
    about = {"trainers": [sha256(trainer.astype(np.int8).tobytes()).hexdigest() for trainer in trainers]}
    path, make = folder / _PLAYER, partial(player_evolution, settings, trainers)
    return _run(path, settings, about, make, rule=rule, checks=checks, workers=workers, show=show)


def _run(
    start: Path,
    settings: EvolvedSettings,
    about: dict[str, Any],
    make: Callable[..., Evolution],
    *,
    rule: StopRule,
    checks: CheckSettings,
    workers: Workers | None,
    show: ShowProgress,
) -> EvolvedRun:
    folder, name = start.parent, start.name
    about = {"settings": settings_data(settings), **about}
    checkpoint = folder / f"{name}.checkpoint"
    over: dict[str, Any] = {} if workers is None else {"over": workers.map, "parts": 4 * workers.count}
    with locked_run(folder, name):
        state = None
        if checkpoint.exists():
            state, found = load_checkpoint(checkpoint)
            if about.get("trainers") != found.get("trainers"):
                raise CheckpointError(str(checkpoint), "it was made with other trainers; take another folder")
            require_same_settings(checkpoint, about["settings"], found.get("settings", {}))
        evolution = make(state=state, **over)
        checker = Checker(folder, name, settings, checks, over.get("over"))

        def generations() -> Iterator[tuple[float | None, Words]]:
            for generation in evolution.generations(rule):
                yield rule.part(generation), partial(_in_words, name, generation)
                assert evolution.state is not None
                checker.check(evolution.state, is_last=rule.reason(generation) is not None)

        run_steps(generations(), lambda: save_checkpoint(checkpoint, evolution.state, about), show)
    assert evolution.state is not None
    last = evolution.state.history[-1]
    reason = rule.reason(last)
    assert reason is not None
    path = folder / f"{name}.chromosome"
    thresholds = evolution.champion.astype(np.int8).tobytes()
    if not _holds(path, thresholds):
        record = {
            **about,
            "run": name,
            "date": datetime.now(UTC).date().isoformat(),
            "acpc-arena": version("acpc-arena"),
            "generations": last.number,
            "renewals": last.renewals,
            "dollars": last.best,
        }
        write_chromosome(str(path), thresholds, record)
    return EvolvedRun(name, path, reason, last)


def _in_words(name: str, generation: Generation) -> str:
    """A generation, the most important first; gains are dollars over all hands."""
    renewed = f"trainers renewed {generation.renewals}x, {generation.since_renewal} generations ago, "
    return (
        f"{name}: generation {generation.number}, best {generation.best:+,.0f}, mean {generation.mean:+,.0f}, best "
        f"trainer {generation.best_opponent or 0:+,.0f} dollars, {renewed if generation.renewals else ''}"
        f"genes used {generation.used_share:.0%}"
    )


def runs_document(runs: Sequence[EvolvedRun]) -> Document:
    """The last generations of finished runs."""
    columns = (
        Column("run"),
        Column("generations", ",", rank=1),
        Column("best", "+,.0f", meaning="what the best individual won, in dollars over all hands"),
        Column("mean", "+,.0f", meaning="of all individuals", rank=2),
        Column("best trainer", "+,.0f", meaning="what the best opponent of the best individual won", rank=3),
        Column("genes used", ".0%", meaning="on average over the individuals", rank=4),
        Column("ended because", TEXT),
    )
    rows = (
        (run.name, one.number, one.best, one.mean, one.best_opponent or 0.0, one.used_share, run.reason.value)
        for run in runs
        for one in [run.last]
    )
    sentence = f"{count_of(len(runs), 'chromosome')} in {runs[0].path.parent}; gains are dollars over all hands."
    plays = [f"It plays as evolved?chromosome={run.path}" for run in runs if run.name == _PLAYER]
    return Document("Agents evolved", (sentence, *plays), sections=(Section("", (Table("", columns, tuple(rows)),)),))


def _holds(path: Path, thresholds: bytes) -> bool:
    try:
        return array("b", read_chromosome(str(path)).thresholds).tobytes() == thresholds
    except ChromosomeError:
        return False


def _thresholds(chromosome: Chromosome) -> Chromosomes:
    return np.array(chromosome.thresholds, np.int16).reshape(GENES, 2)
