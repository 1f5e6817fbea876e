"""The search for a learner's constants: the work's genetic algorithm, and others under the same budget beside it.

What a set of constants is worth is measured: a learner that looks so finely starts from nothing, trains on the same
deals as all others, and plays unseen deals, frozen; its mean winnings are the fitness. As deals and draws are the same
for all, two sets differ by what they see; but the best of many is also the one that these deals favour. So at the end
the best of each search, and the default, are trained and tested anew on other deals and draws, several times.

A search is a program that follows from its seed and asks for measurements. These are kept in a file, so a search that
was stopped is run again from its start, finds what it asks for, and goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import CheckpointError, EvolutionError
from bots.evolution import Breeding, Evaluation, Evolution, GeneRange, Genome, NewValues, StopRule, Tournament, Uniform
from bots.learner.constants import RANGES, Constants
from bots.learner.memory import Memory
from bots.learner.tables import Pack, Style, Trainee, line_ups
from bots.learner.training import frozen_play, unseen_packs
from bots.workers import Workers
from logs.line_file import LineFile
from logs.whole_file import FileLock
from protocol import find_game

__all__ = ["GENOME", "SEARCHES", "Measured", "TuningSettings", "check", "measured_mbb", "search"]

GENOME: Final = Genome(tuple([GeneRange(low, high, name.endswith("_qty")) for name, (low, high) in RANGES.items()]))
"""The ten constants with the work's ranges."""

SEARCHES: Final = ("evolution", "random", "cma-es")
"""The genetic algorithm; constants drawn at random; the covariance matrix adaptation of Hansen (2016, arXiv
1604.00772) by the library cma, where it is installed."""

_STEP: Final = 0.3
"""Of the covariance matrix adaptation: the first standard deviation, as a part of each range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningSettings:
    """What the searches are made of; population, tournament and rates are ours, since the work's are not printed.

    Attributes:
        game: its name or file.
        opponents: the field that learners train on and are tested against.
    """

    game: str = "limit"
    opponents: tuple[str, ...] = ("calling", "random?decisions=20/50/15/10/5", "mfs", "rh")
    hands: int = field(default=20_000, metadata={"decides": "hands that each learner trains for"})
    test: int = field(default=10_000, metadata={"decides": "hands of frozen play that are its fitness"})
    explore: float = field(default=0.1, metadata={"decides": "which part of its decisions is drawn while it learns"})
    trials: int = field(default=1000, metadata={"decides": "showdowns drawn for its chance against several"})
    population: int = field(default=20, metadata={"decides": "individuals of a generation"})
    generations: int = field(default=30, metadata={"decides": "generations bred after the first"})
    tournament: int = field(default=2, metadata={"decides": "participants in the tournament that selects a parent"})
    crossover: float = field(default=0.7, metadata={"decides": "chance that a pair of children exchanges constants"})
    mutation: float = field(default=0.1, metadata={"decides": "chance that one constant of a child is drawn anew"})
    seed: int = field(default=1, metadata={"decides": "of deals and of the searches"})

    def __post_init__(self) -> None:
        """Check.

        Raises:
            EvolutionError: a number is out of range, or nobody plays against the learner.
        """
        for name in ("hands", "test", "trials", "generations"):
            if getattr(self, name) < 1:
                raise EvolutionError(f"{name} must be 1 or more, not {getattr(self, name)}")
        if not 0 <= self.explore <= 1:
            raise EvolutionError(f"explore must be from 0 to 1, not {self.explore:g}")
        if not self.opponents:
            raise EvolutionError("the opponents are missing: name at least one player")
        self.breeding.require_population(self.population)

    @property
    def breeding(self) -> Breeding:
        """How a population renews itself."""
        return Breeding(
            selection=Tournament(self.tournament),
            crossover=Uniform(),
            crossover_rate=self.crossover,
            mutation=NewValues(1),
            mutation_rate=self.mutation,
            elite=1,
        )

    @property
    def budget(self) -> int:
        """How many learners each search may measure: as many as the evolution does."""
        return self.population + self.generations * (self.population - 1)


@dataclass(frozen=True, slots=True)
class Measured:
    """A set of constants and what it was worth.

    Attributes:
        constants: of the learner.
        mbb: what it won, mbb per hand.
    """

    constants: Constants
    mbb: float


def measured_mbb(settings: TuningSettings, constants: Constants, seed: int) -> float:
    """Train a learner with these constants, and let it play unseen deals, frozen; what it won in mbb per hand.

    Args:
        settings: of the search.
        constants: of the learner.
        seed: of cards and draws.
    """
    tables, training, tests = _deals(settings.game, settings.opponents, settings.hands, settings.test, seed)
    trainee = Trainee(tests[0].game, Memory(constants), Style(settings.explore, settings.trials, seed))
    for specs, pack in zip(tables, training, strict=True):
        trainee.play(specs, pack, learns=True)
    return frozen_play(trainee, tables, tests).mean


@lru_cache(maxsize=2)
def _deals(
    name: str, opponents: tuple[str, ...], hands: int, test: int, seed: int
) -> tuple[list[tuple[str, ...]], list[Pack], list[Pack]]:
    """Line-ups, and the deals for training and test of each; chances that one learner asked for are kept for all."""
    game = find_game(name)[1]
    tables = line_ups(opponents, game.num_players - 1)
    part = max(1, round(hands / game.num_players / len(tables)))
    training = [Pack.deal(game, seed, at * part, part) for at in range(len(tables))]
    return tables, training, unseen_packs(game, len(tables), test, seed)


def search(
    name: str,
    settings: TuningSettings,
    folder: Path,
    *,
    workers: Workers | None = None,
    show: Callable[[int, Measured], None] = lambda done, best: None,
) -> tuple[Measured, ...]:
    """Search, or go on with a search.

    Args:
        name: one of `SEARCHES`.
        settings: of the search.
        folder: where measurements are kept; made if it is not there.
        workers: who measures; this process by default.
        show: told after each batch how many have been measured, and the best so far.

    Returns:
        all measurements in the order in which they were asked for.

    Raises:
        CheckpointError: the measurements cannot be read or written, or stem from other settings.
        EvolutionError: settings that cannot be.
        WorkersError: the workers are gone.
        ImportError: the library of a search is not installed.
    """
    with _Measurements(folder / f"{name}.jsonl", settings, workers, show) as measurements:
        {"evolution": _evolve, "random": _draw, "cma-es": _adapt}[name](settings, measurements)
        return tuple(measurements.asked)


def check(
    settings: TuningSettings,
    sets: Mapping[str, Constants],
    seeds: Sequence[int],
    *,
    workers: Workers | None = None,
    show: Callable[[int], None] = lambda done: None,
) -> Mapping[str, NDArray[np.float64]]:
    """What sets of constants are worth on other deals and with other draws.

    Args:
        settings: of the search.
        sets: by name.
        seeds: of deals and draws; a seed is the same deals for all sets.
        workers: who measures; this process by default.
        show: told how many seeds are done.

    Returns:
        by name, one number for each seed.

    Raises:
        WorkersError: the workers are gone.
    """
    over: Any = map if workers is None else workers.map
    found = []
    for one in over(_check_seed, [settings] * len(seeds), [tuple(sets.values())] * len(seeds), seeds):
        found.append(one)
        show(len(found))
    return dict(zip(sets, np.array(found).T, strict=True))


def _check_seed(settings: TuningSettings, sets: Sequence[Constants], seed: int) -> list[float]:
    return [measured_mbb(settings, constants, seed) for constants in sets]


def _evolve(settings: TuningSettings, measurements: _Measurements) -> None:
    def evaluate(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
        return Evaluation(measurements.of(chromosomes[:, :, 0]))

    evolution = Evolution(GENOME, evaluate, settings.breeding, population=settings.population, seed=settings.seed)
    for _ in evolution.generations(StopRule(generations=settings.generations)):
        pass


def _draw(settings: TuningSettings, measurements: _Measurements) -> None:
    drawn = GENOME.random(settings.budget, np.random.default_rng([settings.seed, len(GENOME.ranges)]))
    for first in range(0, settings.budget, settings.population):
        measurements.of(drawn[first : first + settings.population, :, 0])


def _adapt(settings: TuningSettings, measurements: _Measurements) -> None:
    import cma

    low, width = GENOME.low[:, 0], GENOME.width[:, 0]
    options = {"bounds": [0, 1], "popsize": settings.population, "seed": settings.seed + 1, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(np.full(len(low), 0.5), _STEP, options)
    left = settings.budget
    while left > 0:
        asked = strategy.ask()
        points = GENOME.fitted((low + np.array(asked) * width)[:, :, None])[:, :, 0]
        found = measurements.of(points[:left])
        left -= len(found)
        if len(found) == len(asked):
            strategy.tell(asked, (-found).tolist())


def _constants(genes: NDArray[np.float64]) -> Constants:
    values = {name: float(gene) for name, gene in zip(RANGES, genes, strict=True)}
    return Constants(**{name: round(value) if name.endswith("_qty") else value for name, value in values.items()})  # type: ignore[arg-type]


class _Measurements:
    """Measurements of a search: a file of lines, the settings first, then genes and fitness in the order asked for."""

    def __init__(
        self, path: Path, settings: TuningSettings, workers: Workers | None, show: Callable[[int, Measured], None]
    ) -> None:
        self.asked: list[Measured] = []
        self._settings, self._show = settings, show
        self._over: Any = map if workers is None else workers.map
        self._path = path
        about = json.loads(json.dumps(asdict(settings)))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(path.with_name(f"{path.name}.lock"))
        except BlockingIOError:
            raise CheckpointError(str(path), "another search is writing it") from None
        except OSError as error:
            raise CheckpointError(str(path), f"it cannot be written: {error.strerror or error}") from error
        try:
            self._known = self._read(about)
            self._file = LineFile(path, append=True)
            if not path.stat().st_size:
                self._file.write(json.dumps(about) + "\n")
        except OSError as error:
            self._lock.close()
            raise CheckpointError(str(path), f"it cannot be read or written: {error.strerror or error}") from error
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> _Measurements:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.close()

    def of(self, genes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The fitness of some sets of constants, measured where the file does not have it."""
        found: list[float] = []
        for row in genes:
            if not self._known:
                break
            known, fitness = self._known.pop(0)
            if known != row.tolist():
                raise CheckpointError(
                    str(self._path), "its measurements are not those of this search: take another folder"
                )
            found.append(fitness)
        rest = genes[len(found) :]
        sets = [_constants(row) for row in rest]
        count = len(sets)
        seed = self._settings.seed
        for row, fitness in zip(
            rest, self._over(measured_mbb, [self._settings] * count, sets, [seed] * count), strict=True
        ):
            self._file.write(json.dumps([row.tolist(), fitness]) + "\n")
            found.append(fitness)
        self.asked += [Measured(_constants(row), fitness) for row, fitness in zip(genes, found, strict=True)]
        self._show(len(self.asked), max(self.asked, key=lambda one: one.mbb))
        return np.array(found)

    def _read(self, about: dict[str, Any]) -> list[tuple[list[float], float]]:
        if not self._path.exists():
            return []
        text = self._path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            with open(self._path, "r+b") as file:
                file.truncate(len(whole))
        try:
            first, *rest = [json.loads(line) for line in whole.splitlines()] or [about]
            known = [([float(gene) for gene in genes], float(fitness)) for genes, fitness in rest]
            if not isinstance(first, dict):
                raise ValueError("no settings")
        except (ValueError, TypeError, RecursionError) as error:
            raise CheckpointError(str(self._path), "it holds no measurements of a search, or damaged ones") from error
        if differing := [name for name, value in about.items() if first.get(name) != value]:
            theirs = ", ".join(f"{name} {first.get(name)}" for name in differing)
            ours = ", ".join(f"{name} {about[name]}" for name in differing)
            raise CheckpointError(str(self._path), f"it was made with {theirs}, not {ours}: take another folder")
        return known
