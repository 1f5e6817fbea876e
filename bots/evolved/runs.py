"""Runs of the training in a folder: checkpoints while they run, chromosomes when they end.

A folder holds ``trainer-1`` to ``trainer-9`` and ``player``, each with a checkpoint, what it was checked against and,
once it is finished, a chromosome. An existing run is resumed: with the same settings the end is the same to the bit,
whatever happened in between. A new run wins against opponents it does not learn from, or it does not learn to play; the
checks measure that, with deals of their own, every few generations.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from engine.text import count_of
from logs.document import TEXT, Column, Document, Section, Table

_PLAYER: Final = "player"
_RANDOM: Final = 0x7261_6E64
_DEALS: Final = 0x6465_616C
"""Given to the generators together with the run's seed, so that nothing is drawn that the training draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    check_every: Annotated[
        int,
        "Generations between checks of the best individual: against opponents outside the training, random "
        "trainers and earlier champions; 0: never.",
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
    kept: ResultJournal,
    settings: EvolvedSettings,
    deals: int,
    state: State,
    over: Callable[..., Iterable[Evaluation]] = map,
) -> None:
    """Let the best individual after a generation play against nine random trainers and the latest champions before it.

    What it and the best of each table won, in dollars over all hands, is one result; a generation has one at most.
    """
    generation = state.history[-1]
    if kept.rows and kept.rows[-1]["generation"] >= generation.number:
        return
    seed = mixed((settings.seed ^ _DEALS << 32) & MASK_64)
    best = state.population[int(np.argmax(state.evaluation.fitness))]
    tables = [GENOME.random(OPPONENTS, np.random.default_rng([settings.seed, _RANDOM]))]
    earlier = [champion for champion in state.champions if not np.array_equal(champion, best)][-OPPONENTS:]
    if earlier:
        tables.append(np.array([earlier[-1 - seat % len(earlier)] for seat in range(OPPONENTS)]))
    count = len(tables)
    evaluator = replace(settings.evaluator, deals=deals, seed=seed)
    found = over(evaluator, [best[None]] * count, [np.zeros(1, np.uint64)] * count, tables)
    row: dict[str, float] = {"generation": generation.number, "renewals": generation.renewals}
    for name, table in zip(("random", "earlier"), found, strict=False):
        assert table.against is not None
        row |= {name: float(table.fitness[0]), f"best_{name}": float(table.against.max())}
    kept.add(row)


@contextmanager
def _checks(folder: Path, name: str, asked: CheckSettings) -> Iterator[ResultJournal | None]:
    """The checks of a run; None if there are to be none."""
    if not asked.check_every:
        yield None
        return
    with result_journal(folder / f"{name}.checks.jsonl", {"check_deals": asked.check_deals}) as kept:
        if not all(isinstance(row, dict) and isinstance(row.get("generation"), int) for row in kept.rows):
            raise kept.damaged()
        yield kept


@dataclass(frozen=True, slots=True)
class EvolvedRun:
    name: str
    path: Path
    reason: str
    last: Generation


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
    """Evolve trainers one after another, each with deals, population and draws of its own.

    The seed of the settings is that of the first; each of the others has the next.
    """
    runs = []
    for number, name in enumerate(run_names(count)):
        own = replace(settings, seed=settings.seed + number)
        make = partial(trainer_evolution, own)
        within = show_within(show, number, count)
        runs.append(_run(folder / name, own, {}, make, rule=rule, checks=checks, workers=workers, show=within))
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
    """Evolve a player against the nine trainers of a folder, or raise a `BotFileError`; see `evolve_trainers`."""
    paths = [folder / f"{name}.chromosome" for name in run_names(OPPONENTS)]
    for path in paths:
        if not path.is_file():
            raise BotFileError(str(path), f"the file does not exist; a player needs {OPPONENTS} trainers")
    trainers: Chromosomes = np.array([_thresholds(read_chromosome(str(path))) for path in paths])
    about = {"trainers": [sha256(trainer.astype(np.int8).tobytes()).hexdigest() for trainer in trainers]}
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
    over: dict[str, Any] = {} if workers is None else {"over": workers.map, "parts": 4 * workers.count}
    with locked_run(folder, name), _checks(folder, name, checks) as kept:
        state = None
        if checkpoint.exists():
            state, found = load_checkpoint(checkpoint)
            if about.get("trainers") != found.get("trainers"):
                raise BotFileError(str(checkpoint), "it was made with other trainers; take another folder")
            require_same_settings(checkpoint, about["settings"], found.get("settings", {}))
        evolution = make(state=state, **over)

        def generations() -> Iterator[tuple[float | None, Words]]:
            for generation in evolution.generations(rule):
                yield rule.part(generation), partial(_in_words, name, generation)
                is_due = generation.number % (checks.check_every or 1) == 0 or rule.reason(generation) is not None
                if kept is not None and is_due:
                    check_best(kept, settings, checks.check_deals, evolution.state, over.get("over", map))

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
        (run.name, one.number, one.best, one.mean, one.best_opponent or 0.0, one.used_share, run.reason)
        for run in runs
        for one in [run.last]
    )
    sentence = f"{count_of(len(runs), 'chromosome')} in {runs[0].path.parent}; gains are dollars over all hands."
    plays = [f"It plays as evolved?chromosome={run.path}" for run in runs if run.name == _PLAYER]
    return Document("Agents evolved", (sentence, *plays), sections=(Section("", (Table("", columns, tuple(rows)),)),))


def _holds(path: Path, thresholds: bytes) -> bool:
    try:
        return array("b", read_chromosome(str(path)).thresholds).tobytes() == thresholds
    except BotFileError:
        return False


def _thresholds(chromosome: Chromosome) -> Chromosomes:
    return np.array(chromosome.thresholds, np.int16).reshape(GENES, 2)
