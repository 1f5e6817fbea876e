"""The search for a learner's constants by the genetic algorithm of the thesis.

A set of constants is measured: a learner that looks so finely starts from nothing, trains on the same deals as all
others, and plays unseen deals, frozen; its mean winnings are the fitness. As deals and draws are the same for all, two
sets differ by what they distinguish; but the best of many is also the one that these deals favour. So at the end the
best found, and the default, are trained and tested again on other deals and draws, several times.

A search is a program that follows from its seed and asks for measurements. These are kept in a file, so a stopped
search is run again from its start, finds the measurements it asks for, and continues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError
from bots.evolution.breeding import Breeding, Evaluation, Genome, reset_mutation, tournament_selection
from bots.evolution.evolution import Evolution, StopRule
from bots.learner.memory import RANGES, Constants, Memory
from bots.learner.training import (
    DEFAULT_FIELD,
    DealBatch,
    FieldBots,
    Trainee,
    deal_packs,
    line_ups,
    play_tables,
    require_players,
    unseen_deals,
)
from bots.long_run import ShowProgress, result_journal, show_nothing
from bots.sdk.options import Interval, Wording, check_options
from bots.workers import Workers, each_result
from logs.document import NAME, TEXT, Axis, Chart, Column, Document, Fact, Section, Series, Table
from logs.estimation import RunningMean
from protocol import find_game

GENOME: Final = Genome(tuple([(low, high, name.endswith("_qty")) for name, (low, high) in RANGES.items()]))
"""The ten constants with the ranges of the thesis."""
_SURE: Final = 3.0
"""Standard errors that make a gain significant; chance exceeds them in 4 % of all cases with 5 seeds, in 1 % with 20
(Student's t).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningSettings:
    """The settings of the search; population, tournament and rates are ours, since the thesis prints none."""

    game: Annotated[str, "a game (see 'arena games'), or a .game file", Wording(group="Training")] = "limit"
    opponents: FieldBots = DEFAULT_FIELD
    hands: Annotated[int, "hands that each learner trains for", Interval(1)] = 20_000
    test: Annotated[int, "hands of frozen play that are its fitness", Interval(1)] = 10_000
    explore: Annotated[float, "which part of its decisions is drawn while it learns", Interval(0, 1)] = 0.1
    trials: Annotated[int, "showdowns drawn for its chance against several", Interval(1)] = 1000
    population: Annotated[int, "individuals of a generation"] = 20
    generations: Annotated[int, "generations bred after the first", Interval(1)] = 30
    tournament: Annotated[int, "participants in the tournament that selects a parent", Interval(1)] = 2
    crossover: Annotated[float, "chance that a pair of children exchanges constants", Interval(0, 1)] = 0.7
    mutation: Annotated[float, "chance that one constant of a child is drawn again", Interval(0, 1)] = 0.1
    seed: Annotated[int, "of deals and of the search"] = 1

    def __post_init__(self) -> None:
        check_options(self, EvolutionError)
        if not self.opponents:
            raise EvolutionError("the opponents are missing: name at least one player")
        self.breeding.require_population(self.population)

    @property
    def breeding(self) -> Breeding:
        return Breeding(
            selection=tournament_selection(self.tournament),
            crossover_rate=self.crossover,
            mutation=reset_mutation(),
            mutation_rate=self.mutation,
            elite=1,
        )

    @property
    def budget(self) -> int:
        return self.population + self.generations * (self.population - 1)


@dataclass(frozen=True, slots=True)
class MeasuredConstants:
    constants: Constants
    mbb: float


def measured_mbb(settings: TuningSettings, constants: Constants, seed: int) -> float:
    """Train a learner with these constants, and let it play unseen deals, frozen; what it won in mbb per hand."""
    tables, training, tests = _deals(settings.game, settings.opponents, settings.hands, settings.test, seed)
    trainee = Trainee(tests[0].game, Memory(constants), explore=settings.explore, trials=settings.trials, seed=seed)
    play_tables(trainee, tables, training, learns=True)
    return play_tables(trainee, tables, tests, learns=False).mean


@lru_cache(maxsize=2)
def _deals(
    name: str, opponents: tuple[str, ...], hands: int, test: int, seed: int
) -> tuple[list[tuple[str, ...]], list[DealBatch], list[DealBatch]]:
    game = find_game(name)[1]
    tables = line_ups(opponents, game.num_players - 1)
    part = max(1, round(hands / game.num_players / len(tables)))
    return tables, deal_packs(game, len(tables), part, seed), unseen_deals(game, len(tables), test, seed)


def search(
    settings: TuningSettings,
    folder: Path,
    *,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> tuple[MeasuredConstants, ...]:
    """Search, or resume a search; all measurements in the order in which they were asked for."""
    require_players(settings.opponents, find_game(settings.game)[1])
    asked: list[MeasuredConstants] = []
    with result_journal(folder / "evolution.jsonl", asdict(settings)) as kept:
        known: dict[tuple[float, ...], float] = {}
        for row in kept.rows:
            match row:
                case [[*genes], float(mbb)] if len(genes) == len(RANGES):
                    known[tuple(genes)] = mbb
                case _:
                    raise kept.damaged()

        def evaluate(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
            wanted = list(map(tuple, chromosomes[:, :, 0].tolist()))
            rest = [genes for genes in dict.fromkeys(wanted) if genes not in known]
            count = len(rest)
            arguments = [settings] * count, map(_constants, rest), [settings.seed] * count
            for number, mbb in each_result(workers, measured_mbb, *arguments):
                kept.add([rest[number], mbb])
                known[rest[number]] = mbb
            asked.extend(MeasuredConstants(_constants(genes), known[genes]) for genes in wanted)
            show(len(asked) / settings.budget, f"best {max(one.mbb for one in asked):+,.0f} mbb/g")
            return Evaluation(np.array([known[genes] for genes in wanted]))

        evolution = Evolution(GENOME, evaluate, settings.breeding, population=settings.population, seed=settings.seed)
        for _ in evolution.generations(StopRule(generations=settings.generations)):
            pass
    return tuple(asked)


def check(
    settings: TuningSettings,
    sets: Mapping[str, Constants],
    seeds: Sequence[int],
    folder: Path,
    *,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> Mapping[str, NDArray[np.float64]]:
    """The winnings of sets of constants on other deals and with other draws: by name, one number for each seed.

    A seed is the same deals for all sets.
    """
    with result_journal(folder / "anew.jsonl", asdict(settings)) as kept:
        known: dict[tuple[Constants, int], float] = {}
        for row in kept.rows:
            match row:
                case [[*values], int(seed), float(mbb)] if len(values) == len(RANGES):
                    known[Constants(*values), seed] = mbb
                case _:
                    raise kept.damaged()
        missing = {}
        for seed in seeds:
            lacking = [constants for constants in sets.values() if (constants, seed) not in known]
            if lacking:
                missing[seed] = lacking
        done = len(seeds) - len(missing)
        tasks = list(missing.items())
        arguments = [settings] * len(tasks), missing.values(), missing
        for number, found in each_result(workers, _check_seed, *arguments):
            seed, lacking = tasks[number]
            for constants, mbb in zip(lacking, found, strict=True):
                kept.add([astuple(constants), seed, mbb])
                known[constants, seed] = mbb
            done += 1
            show(done / len(seeds))
    return {name: np.array([known[constants, seed] for seed in seeds]) for name, constants in sets.items()}


def _check_seed(settings: TuningSettings, sets: Sequence[Constants], seed: int) -> list[float]:
    return [measured_mbb(settings, constants, seed) for constants in sets]


def _constants(genes: Sequence[float]) -> Constants:
    values = dict(zip(RANGES, genes, strict=True))
    return Constants(**{name: round(value) if name.endswith("_qty") else value for name, value in values.items()})  # type: ignore[arg-type]


def tuning_document(
    settings: TuningSettings, measured: Sequence[MeasuredConstants], checks: Mapping[str, NDArray[np.float64]]
) -> Document:
    """A search; `checks` are winnings of ``evolution``, its best, and of ``default`` on other deals, by seed."""
    best = max(measured, key=lambda one: one.mbb)
    gains = checks["evolution"] - checks["default"]
    default = RunningMean(checks["default"].tolist()).estimate
    evolution = RunningMean(checks["evolution"].tolist()).estimate
    gain = RunningMean(gains.tolist()).estimate
    seeds = len(checks["default"])
    error = gain.error or 0.0
    error_of = Column("SE", ",.0f", meaning="the standard error of the mean")
    table = Table(
        "Result of the search, mbb/g",
        (
            Column("constants", TEXT),
            Column("learners", ",", meaning="measured by the search", rank=2),
            Column("best measured", "+,.0f", meaning="on the deals of the search", rank=1),
            Column("on other deals", "+,.0f", meaning="the same constants, with other draws"),
            error_of,
            Column("above the default", "+,.0f", meaning="seed by seed"),
            error_of,
        ),
        (
            ("default", None, None, default, default.error, None, None),
            ("evolution", len(measured), best.mbb, evolution, evolution.error, gain, gain.error),
        ),
        f"On other deals: the mean over {seeds} seeds, each with its own training and test; the standard errors (SE), "
        "over the seeds, cover the luck of cards and training.",
    )
    constants = Table(
        "Its constants",
        (Column("constant"), Column("range", rank=2), Column("default", ".3g"), Column("evolution", ".3g")),
        tuple(
            (name, f"{low:g} to {high:g}", getattr(Constants(), name), getattr(best.constants, name))
            for name, (low, high) in RANGES.items()
        ),
    )
    curve = Chart(
        "The best so far",
        Axis("learners measured"),
        Axis("fitness", "mbb/g"),
        (
            Series(
                "evolution",
                tuple(map(float, range(1, len(measured) + 1))),
                tuple(accumulate((one.mbb for one in measured), max)),
            ),
        ),
        "On the deals of the search: the maximum of noisy measurements is above the true value.",
    )
    is_open = abs(gain.mean) <= _SURE * error
    verdict = "is a loss"
    if is_open:
        verdict = "is not significant"
    elif gain.mean > 0:
        verdict = "is significant"
    return Document(
        "The constants of the learner",
        (
            f"On other deals the gain of evolution over the default constants {verdict}: {gain.mean:+,.0f} mbb/g, with "
            f"a standard error of {error:,.0f} over {seeds} seeds.",
        ),
        (
            Fact("game", settings.game),
            Fact("opponents", " ".join(settings.opponents)),
            Fact("training", settings.hands, unit="hands"),
            Fact("test", settings.test, unit="hands"),
            Fact("budget", settings.budget, unit="learners"),
            Fact("seed", settings.seed, NAME),
        ),
        (Section("Search", (table, constants, curve)),),
    )
