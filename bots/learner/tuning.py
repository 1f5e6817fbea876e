"""Search for a learner's constants by the genetic algorithm of the thesis.

The fitness of a set of constants is the winnings of a learner that trains with them from an empty memory and then plays
unseen deals without learning. All sets have the same deals and random numbers, which favour the best of many sets. So
`check` trains and tests the best set and the default again, with other deals and random numbers. A journal has all
measurements. A stopped search runs again from its start and reads the measurements that it has made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter
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
from logs.document import NAME, TEXT, Axis, Chart, Column, Document, Fact, Section, Series, Table, Value
from logs.estimation import Estimate, RunningMean
from protocol import find_game

GENOME: Final = Genome(tuple([(low, high, name.endswith("_qty")) for name, (low, high) in RANGES.items()]))
"""Ten constants with the ranges of the thesis."""
_SURE: Final = 3.0
"""Number of standard errors of a significant gain. By Student's t, chance exceeds it in 4 % of all cases with 5 seeds,
and in 1 % with 20.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningSettings:
    """Settings of the search. Population, tournament and rates are ours, because the thesis prints none.

    Raises:
        EvolutionError: a value is out of range, or there are no opponents.
    """

    game: Annotated[str, "a game (see 'arena games'), or a .game file", Wording(group="Training")] = "limit"
    opponents: FieldBots = DEFAULT_FIELD
    hands: Annotated[int, "hands that each learner trains for", Interval(1)] = 20_000
    test: Annotated[int, "hands of frozen play that are its fitness", Interval(1)] = 10_000
    explore: Annotated[float, "share of its decisions drawn at random in training", Interval(0, 1)] = 0.1
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
        """Number of learners that the search measures."""
        return self.population + self.generations * (self.population - 1)


@dataclass(frozen=True, slots=True)
class MeasuredConstants:
    """Constants with the winnings of their learner, in mbb per hand."""

    constants: Constants
    mbb: float


def measured_mbb(settings: TuningSettings, constants: Constants, seed: int) -> float:
    """Train a learner with these constants, and return its winnings on unseen deals, in mbb per hand."""
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
    """Search, or resume a search.

    Returns:
        All measurements in their order, including repeated ones.

    Raises:
        BotFileError: the folder has a search with other settings, or a damaged file.
    """
    require_players(settings.opponents, find_game(settings.game)[1])
    measured: list[MeasuredConstants] = []
    with result_journal(folder / "evolution.jsonl", asdict(settings)) as journal:
        known: dict[tuple[float, ...], float] = {}
        for row in journal.rows:
            match row:
                case [[*genes], float(mbb)] if len(genes) == len(RANGES):
                    known[tuple(genes)] = mbb
                case _:
                    raise journal.damaged()

        def evaluate(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
            individuals = list(map(tuple, chromosomes[:, :, 0].tolist()))
            # Deals and random numbers are the same for all, so equal constants need no second measurement.
            new = [genes for genes in dict.fromkeys(individuals) if genes not in known]
            count = len(new)
            arguments = [settings] * count, map(_constants, new), [settings.seed] * count
            for number, mbb in each_result(workers, measured_mbb, *arguments):
                journal.add([new[number], mbb])
                known[new[number]] = mbb
            fitness = [known[genes] for genes in individuals]
            for genes, mbb in zip(individuals, fitness, strict=True):
                measured.append(MeasuredConstants(_constants(genes), mbb))
            best_mbb = max([measurement.mbb for measurement in measured])
            show(len(measured) / settings.budget, f"best {best_mbb:+,.0f} mbb/g")
            return Evaluation(np.array(fitness))

        evolution = Evolution(GENOME, evaluate, settings.breeding, population=settings.population, seed=settings.seed)
        for _ in evolution.generations(StopRule(generations=settings.generations)):
            pass
    return tuple(measured)


def check(
    settings: TuningSettings,
    sets: Mapping[str, Constants],
    seeds: Sequence[int],
    folder: Path,
    *,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> Mapping[str, NDArray[np.float64]]:
    """Measure sets of constants on other deals and with other random numbers.

    Args:
        seeds: seeds of the deals and the random numbers, the same for all sets.

    Returns:
        Winnings of each set by name, in mbb per hand, a number for each seed.

    Raises:
        BotFileError: the folder has checks with other settings, or a damaged file.
    """
    with result_journal(folder / "anew.jsonl", asdict(settings)) as journal:
        known: dict[tuple[Constants, int], float] = {}
        for row in journal.rows:
            match row:
                case [[*values], int(seed), float(mbb)] if len(values) == len(RANGES):
                    known[Constants(*values), seed] = mbb
                case _:
                    raise journal.damaged()
        missing = {}
        for seed in seeds:
            new = [constants for constants in sets.values() if (constants, seed) not in known]
            if new:
                missing[seed] = new
        done = len(seeds) - len(missing)
        tasks = list(missing.items())
        arguments = [settings] * len(tasks), missing.values(), missing
        for number, results in each_result(workers, _check_seed, *arguments):
            seed, new = tasks[number]
            for constants, mbb in zip(new, results, strict=True):
                journal.add([astuple(constants), seed, mbb])
                known[constants, seed] = mbb
            done += 1
            show(done / len(seeds))
    winnings = {}
    for name, constants in sets.items():
        winnings[name] = np.array([known[constants, seed] for seed in seeds])
    return winnings


def _check_seed(settings: TuningSettings, sets: Sequence[Constants], seed: int) -> list[float]:
    return [measured_mbb(settings, constants, seed) for constants in sets]


def _constants(genes: Sequence[float]) -> Constants:
    values: dict[str, Any] = {}
    for name, gene in zip(RANGES, genes, strict=True):
        values[name] = gene
        if name.endswith("_qty"):
            values[name] = round(gene)
    return Constants(**values)


def tuning_document(
    settings: TuningSettings, measured: Sequence[MeasuredConstants], checks: Mapping[str, NDArray[np.float64]]
) -> Document:
    """Build a document about a search.

    Args:
        checks: winnings by seed on other deals, of the best constants as ``evolution`` and of the ``default``.
    """
    best = max(measured, key=attrgetter("mbb"))
    seeds = len(checks["default"])
    # Seed by seed, because both learners of a seed play the same deals.
    gain = RunningMean((checks["evolution"] - checks["default"]).tolist()).estimate
    error = gain.error or 0.0
    verdict = "is a loss"
    if abs(gain.mean) <= _SURE * error:
        verdict = "is not significant"
    elif gain.mean > 0:
        verdict = "is significant"
    parts = (
        _result_table(measured, best, checks, gain),
        _constants_table(best.constants),
        _search_chart(measured),
    )
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
        (Section("Search", parts),),
    )


def _result_table(
    measured: Sequence[MeasuredConstants],
    best: MeasuredConstants,
    checks: Mapping[str, NDArray[np.float64]],
    gain: Estimate,
) -> Table:
    default = RunningMean(checks["default"].tolist()).estimate
    evolution = RunningMean(checks["evolution"].tolist()).estimate
    seeds = len(checks["default"])
    error_of = Column("SE", ",.0f", meaning="the standard error of the mean")
    return Table(
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


def _constants_table(best: Constants) -> Table:
    rows: list[tuple[Value, ...]] = []
    for name, (low, high) in RANGES.items():
        rows.append((name, f"{low:g} to {high:g}", getattr(Constants(), name), getattr(best, name)))
    return Table(
        "Its constants",
        (Column("constant"), Column("range", rank=2), Column("default", ".3g"), Column("evolution", ".3g")),
        tuple(rows),
    )


def _search_chart(measured: Sequence[MeasuredConstants]) -> Chart:
    best_so_far = accumulate([measurement.mbb for measurement in measured], max)
    return Chart(
        "The best so far",
        Axis("learners measured"),
        Axis("fitness", "mbb/g"),
        (
            Series(
                "evolution",
                tuple(map(float, range(1, len(measured) + 1))),
                tuple(best_so_far),
            ),
        ),
        "On the deals of the search: the maximum of noisy measurements is above the true value.",
    )
