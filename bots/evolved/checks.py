"""Test opponents: whom the best individual of a run is measured against along the way without learning from it.

Every few generations it plays two tables with deals of their own, which no training sees: nine random trainers, the
same ones throughout the run, and the nine latest champions before it (with fewer of them, some have several seats). It
decides nothing: a run bears the same chromosomes with and without checks. What they found stands in
``NAME.checks.json`` beside the run's checkpoint.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from bots.errors import CheckpointError, EvolutionError
from bots.evolution.evolution import State
from bots.evolution.genome import Chromosomes, Map
from bots.evolved.training import GENOME, OPPONENTS, TrainingSettings
from engine.splitmix import MASK_64, mixed
from logs.whole_file import write_whole

__all__ = ["Check", "CheckSettings", "Checker", "Checks", "read_checks"]

_VERSION: Final = 1
_RANDOM: Final = 0x7261_6E64
_DEALS: Final = 0x6465_616C
"""Told to the generators beside the run's seed, so that nothing is drawn that the training draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """When and how long it is checked.

    Attributes:
        every: so many generations, and after the last one; 0 never.
        deals: each played a hundred times.
    """

    every: int = 10
    deals: int = 200

    def __post_init__(self) -> None:
        """Check."""
        if self.every < 0 or self.deals < 1:
            raise EvolutionError(
                f"checks every {self.every} generations of {self.deals} deals are none: 0 and 1 are least"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What the best individual of a generation won, in dollars over all hands.

    Attributes:
        generation: its number.
        renewals: in how many generations so far the opponents were renewed.
        random: against nine random trainers.
        best_random: what the best of these won there.
        earlier: against the latest champions before it; None where there are none.
        best_earlier: what the best of these won there.
    """

    generation: int
    renewals: int
    random: float
    best_random: float
    earlier: float | None
    best_earlier: float | None


@dataclass(frozen=True, slots=True)
class Checks:
    """All checks of a run.

    Attributes:
        deals: of each, each deal played a hundred times.
        checks: in the order of their generations.
    """

    deals: int
    checks: tuple[Check, ...] = ()


class Checker:
    """Checks a run as it goes on, and keeps the file.

    Attributes:
        checks: so far.
    """

    def __init__(
        self, folder: Path, name: str, settings: TrainingSettings, asked: CheckSettings, over: Map | None = None
    ) -> None:
        """Prepare.

        Args:
            folder: of the run.
            name: of the run.
            settings: of its training.
            asked: when and how long to check.
            over: see `Evolution`.

        Raises:
            CheckpointError: the checks of a run that is gone on with cannot be read, or had other deals.
        """
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
        """Check the best individual after a generation, if it is its turn and has not been.

        Raises:
            CheckpointError: the file cannot be written.
            WorkersError: the workers are gone.
        """
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
        try:
            write_whole(self._path, json.dumps(data, indent=1) + "\n")
        except OSError as error:
            raise CheckpointError(str(self._path), f"it cannot be written: {error.strerror or error}") from error


def read_checks(folder: Path, name: str) -> Checks | None:
    """The checks of a run; None where it has none.

    Raises:
        CheckpointError: the file cannot be read, is damaged or of another version.
    """
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
