"""Runs of the training in a folder, with checkpoints, checks and resulting chromosomes.

The runs of a folder are called ``trainer-1`` to ``trainer-9`` and ``player``. A run has a checkpoint, a file of checks
and, once it is finished, a chromosome. An existing run is resumed, and a resumed run ends exactly like an uninterrupted
one. Checks let the best individual play opponents outside the training, on deals of their own, every few generations.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np

from bots.errors import BotFileError, EvolutionError
from bots.evolution.breeding import Chromosomes, Evaluation
from bots.evolution.evolution import (
    Evolution,
    Generation,
    State,
    StopRule,
    load_checkpoint,
    save_checkpoint,
)
from bots.evolved.chromosome import GENES, Chromosome, read_chromosome, write_chromosome
from bots.evolved.training import GENOME, OPPONENTS, EvolvedSettings, player_evolution, trainer_evolution
from bots.long_run import (
    ResultJournal,
    ShowProgress,
    Words,
    locked_run,
    require_same_settings,
    result_journal,
    run_steps,
    settings_data,
    show_nothing,
    show_within,
)
from bots.sdk.options import Interval, Wording, check_options
from bots.workers import Workers
from engine.splitmix import MASK_64, mixed

_PLAYER: Final = "player"
_RANDOM: Final = 0x7261_6E64
_DEALS: Final = 0x6465_616C
"""Combined with the seed of the run for the checks, so that they share no random numbers with the training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    check_every: Annotated[
        int,
        "Generations between checks of the best individual. Its opponents in a check, random trainers and earlier "
        "champions, are outside the training; 0 means no checks.",
        Interval(0),
        Wording(group="Checks along the way"),
    ] = 10
    check_deals: Annotated[
        int, "Deals of such a check, each played 100 times; no training uses them.", Interval(1, 1_000_000)
    ] = 200

    def __post_init__(self) -> None:
        check_options(self, EvolutionError)


_CHECKS: Final = CheckSettings()


def check_best(
    journal: ResultJournal,
    settings: EvolvedSettings,
    deals: int,
    state: State,
    over: Callable[..., Iterable[Evaluation]] = map,
) -> None:
    """Let the best individual of a generation play nine random trainers and the latest earlier champions.

    Adds a row with its winnings and those of the best opponent at each table, in dollars over all hands, unless there
    is a row of this generation.

    Args:
        deals: number of deals, each played a hundred times.
        over: function like the built-in ``map`` that spreads the tables.
    """
    generation = state.history[-1]
    if journal.rows and journal.rows[-1]["generation"] >= generation.number:
        return
    seed = mixed((settings.seed ^ _DEALS << 32) & MASK_64)
    best = state.population[int(np.argmax(state.evaluation.fitness))]
    tables = [GENOME.random(OPPONENTS, np.random.default_rng([settings.seed, _RANDOM]))]
    earlier = [champion for champion in state.champions if not np.array_equal(champion, best)]
    if earlier:
        # Fewer champions than seats are repeated, the latest first.
        latest_first = earlier[: -OPPONENTS - 1 : -1]
        seats = itertools.islice(itertools.cycle(latest_first), OPPONENTS)
        tables.append(np.array(list(seats)))
    count = len(tables)
    evaluator = replace(settings.evaluator, deals=deals, seed=seed)
    evaluations = over(evaluator, [best[None]] * count, [np.zeros(1, np.uint64)] * count, tables)
    row: dict[str, float] = {"generation": generation.number, "renewals": generation.renewals}
    for name, evaluation in zip(("random", "earlier"), evaluations, strict=False):
        assert evaluation.against is not None
        row[name] = float(evaluation.fitness[0])
        row[f"best_{name}"] = float(evaluation.against.max())
    journal.add(row)


@contextmanager
def _checks(folder: Path, name: str, settings: CheckSettings) -> Iterator[ResultJournal | None]:
    """Open the journal of a run's checks, or yield None if checks are off."""
    if not settings.check_every:
        yield None
        return
    with result_journal(folder / f"{name}.checks.jsonl", {"check_deals": settings.check_deals}) as journal:
        for row in journal.rows:
            if not isinstance(row, dict) or not isinstance(row.get("generation"), int):
                raise journal.damaged()
        yield journal


@dataclass(frozen=True, slots=True, eq=False)
class EvolvedRun:
    """Finished run.

    Attributes:
        path: file of the chromosome.
        reason: reason for the end.
        settings: settings of the run.
        state: state after the last generation.
        checks: results of its checks, as in its file.
    """

    name: str
    path: Path
    reason: str
    settings: EvolvedSettings
    state: State
    checks: Sequence[Mapping[str, float]] = ()

    @property
    def last(self) -> Generation:
        return self.state.history[-1]

    @property
    def is_player(self) -> bool:
        return self.name == _PLAYER

    @property
    def table(self) -> Chromosomes:
        """The best individual and the nine opponents at the end, shape (10, genes, 2)."""
        assert self.state.opponents is not None
        best = self.state.population[int(np.argmax(self.state.evaluation.fitness))]
        return np.concatenate([best[None], self.state.opponents]).astype(np.int16)


def run_names(trainers: int) -> list[str]:
    return [f"trainer-{number}" for number in range(1, trainers + 1)]


def evolve_trainers(
    folder: Path,
    settings: EvolvedSettings,
    rule: StopRule,
    *,
    count: int = OPPONENTS,
    checks: CheckSettings = _CHECKS,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> list[EvolvedRun]:
    """Evolve trainers one after another, with consecutive seeds from that of the settings on."""
    runs = []
    for number, name in enumerate(run_names(count)):
        trainer_settings = replace(settings, seed=settings.seed + number)
        make = partial(trainer_evolution, trainer_settings)
        show_part = show_within(show, number, count)
        run = _run(folder / name, trainer_settings, {}, make, rule=rule, checks=checks, workers=workers, show=show_part)
        runs.append(run)
    return runs


def evolve_player(
    folder: Path,
    settings: EvolvedSettings,
    rule: StopRule,
    *,
    checks: CheckSettings = _CHECKS,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> EvolvedRun:
    """Evolve a player against the nine trainers of a folder.

    Raises:
        BotFileError: a trainer is missing, or the run was made with other trainers or settings.
    """
    paths = [folder / f"{name}.chromosome" for name in run_names(OPPONENTS)]
    for path in paths:
        if not path.is_file():
            raise BotFileError(str(path), f"the file does not exist; a player needs {OPPONENTS} trainers")
    trainers: Chromosomes = np.array([_thresholds(read_chromosome(str(path))) for path in paths])
    digests = [sha256(trainer.astype(np.int8).tobytes()).hexdigest() for trainer in trainers]
    about = {"trainers": digests}
    path = folder / _PLAYER
    make = partial(player_evolution, settings, trainers)
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
    folder = start.parent
    name = start.name
    about = {"settings": settings_data(settings), **about}
    checkpoint = folder / f"{name}.checkpoint"
    over: dict[str, Any] = {}
    if workers is not None:
        # More parts than workers, because some individuals play longer hands than others.
        over = {"over": workers.map, "parts": 4 * workers.count}
    with locked_run(folder, name), _checks(folder, name, checks) as journal:
        state = None
        if checkpoint.exists():
            state, notes = load_checkpoint(checkpoint)
            if about.get("trainers") != notes.get("trainers"):
                raise BotFileError(str(checkpoint), "it was made with other trainers; take another folder")
            require_same_settings(checkpoint, about["settings"], notes.get("settings", {}))
        evolution = make(state=state, **over)

        def generations() -> Iterator[tuple[float | None, Words]]:
            for generation in evolution.generations(rule):
                yield rule.part(generation), partial(_in_words, name, generation)
                is_due = generation.number % (checks.check_every or 1) == 0 or rule.reason(generation) is not None
                if journal is not None and is_due:
                    check_best(journal, settings, checks.check_deals, evolution.state, over.get("over", map))

        run_steps(generations(), lambda: save_checkpoint(checkpoint, evolution.state, about), show)
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
    checked = tuple(journal.rows) if journal is not None else ()
    return EvolvedRun(name, path, reason, settings, evolution.state, checked)


def _in_words(name: str, generation: Generation) -> str:
    """Format a generation on one line, with winnings in dollars over all hands."""
    renewed = ""
    if generation.renewals:
        renewed = f"trainers renewed {generation.renewals}x, {generation.since_renewal} generations ago, "
    return (
        f"{name}: generation {generation.number}, best {generation.best:+,.0f}, mean {generation.mean:+,.0f}, best "
        f"trainer {generation.best_opponent or 0:+,.0f} dollars, {renewed}genes used {generation.used_share:.0%}"
    )


def _holds(path: Path, thresholds: bytes) -> bool:
    """Return whether a file already has these thresholds, so that its date is kept."""
    try:
        return array("b", read_chromosome(str(path)).thresholds).tobytes() == thresholds
    except BotFileError:
        return False


def _thresholds(chromosome: Chromosome) -> Chromosomes:
    return np.array(chromosome.thresholds, np.int16).reshape(GENES, 2)
