"""What a run is made of: the game, whom to play against, and the genetic algorithm; the defaults are the work's."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from bots.errors import EvolutionError
from bots.evolution.breeding import (
    Breeding,
    Crossover,
    NewValues,
    OnePoint,
    Rank,
    Roulette,
    Selection,
    SignedRoulette,
    Tournament,
    Uniform,
)
from bots.evolution.evolution import Evolution, Fixed, Opposition, Rivals, State
from bots.evolution.genome import Chromosomes, Evaluator, Genome
from bots.kuhn.evolution.evaluators import Mixed, OfModel, OfRivals
from bots.kuhn.games import CARDS, Genes, KuhnGame, Variant

__all__ = [
    "CrossoverKind",
    "Fitness",
    "KuhnSettings",
    "OppositionKind",
    "SelectionKind",
    "Start",
    "kuhn_evolution",
]

_LISTED_FLOOR: Final = -1.0
"""The listing of the work begins a tournament with a best fitness of this, which a participant has to exceed."""


class OppositionKind(enum.Enum):
    """Whom a population plays against."""

    MODEL = "model"
    COEVOLUTION = "coevolution"
    MIXED = "mixed"
    HALL_OF_FAME = "hall-of-fame"


class SelectionKind(enum.Enum):
    """How parents are drawn."""

    TOURNAMENT = "tournament"
    RANK = "rank"
    ROULETTE = "roulette"


class CrossoverKind(enum.Enum):
    """What a pair of children exchanges."""

    UNIFORM = "uniform"
    ONE_POINT = "one-point"


class Start(enum.Enum):
    """What the first population is."""

    UNIFORM = "uniform"
    """Every gene takes each of some equally spaced values equally often."""
    RANDOM = "random"
    """Every gene is drawn."""


class Fitness(enum.Enum):
    """What fitness is."""

    SAMPLED = "sampled"
    """The mean of hands that are played."""
    EXACT = "exact"
    """What they give on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KuhnSettings:
    """What one run of the evolution is made of; the defaults are the work's."""

    game: Variant = field(default=Variant.CLASSIC, metadata={"decides": "which game"})
    opposition: OppositionKind = OppositionKind.MODEL
    model: Genes = ()
    """The strategy that a population, or with mixed opponents its first players, play against."""
    seat: int = field(default=1, metadata={"decides": "seat of those who evolve against a model: 1 acts first"})
    population: int = field(default=1010, metadata={"decides": "individuals of a generation, on each side"})
    games: int = field(default=1010, metadata={"decides": "hands of an individual against a model"})
    fitness: Fitness = field(
        default=Fitness.SAMPLED, metadata={"decides": "fitness is the mean of hands played, or the exact value"}
    )
    selection: SelectionKind = field(default=SelectionKind.TOURNAMENT, metadata={"decides": "how parents are drawn"})
    tournament: int = field(default=2, metadata={"decides": "participants of a tournament"})
    offset: float = field(default=2.0, metadata={"decides": "what a roulette wheel adds to every fitness"})
    crossover: CrossoverKind = field(
        default=CrossoverKind.UNIFORM, metadata={"decides": "what a pair of children exchanges"}
    )
    crossover_rate: float = field(default=0.7, metadata={"decides": "chance that a pair exchanges anything"})
    share: float = field(default=0.5, metadata={"decides": "chance of each gene to be exchanged, uniform crossover"})
    mutation_rate: float = field(default=0.01, metadata={"decides": "chance that a child gets a new value in a gene"})
    mutated: int = field(default=1, metadata={"decides": "genes that a mutation changes"})
    elite: int = field(default=0, metadata={"decides": "best individuals that live on unchanged"})
    unique: bool = field(default=True, metadata={"decides": "a child equal to another is dropped"})
    start: Start = field(default=Start.UNIFORM, metadata={"decides": "values spread evenly, or all drawn"})
    alleles: int = field(default=101, metadata={"decides": "values of a gene in a uniform start"})
    hall: int = field(default=100, metadata={"decides": "places in each hall of fame"})
    tens_as_twos: bool = field(
        default=False, metadata={"decides": "in breadth, the second seat answers a bet of 10 by its genes for 2"}
    )
    as_published: bool = field(default=False, metadata={"decides": "make the mistakes of the work's listing"})
    seed: int = field(default=1, metadata={"decides": "of everything that is drawn"})

    def __post_init__(self) -> None:
        """Check what the operators do not check themselves."""
        for name in ("games", "hall"):
            if getattr(self, name) < 1:
                raise EvolutionError(f"{name} must be 1 or more, not {getattr(self, name)}")
        if self.seat not in (1, 2):
            raise EvolutionError(f"a seat is 1 or 2, not {self.seat}")
        if self.seat == 2 and self.opposition is not OppositionKind.MODEL:
            raise EvolutionError("only against a model there is one seat to evolve: both evolve against each other")
        if self.needs_model:
            self.rules.require_genes(self.model)
        elif self.model:
            raise EvolutionError(f"with {self.opposition.value} there is no model to play against")

    @property
    def needs_model(self) -> bool:
        """Whether somebody plays against a model."""
        return self.opposition in (OppositionKind.MODEL, OppositionKind.MIXED)

    @property
    def rules(self) -> KuhnGame:
        """The game."""
        return KuhnGame(self.game, self.tens_as_twos)

    @property
    def genome(self) -> Genome:
        """The genes of its strategies."""
        return Genome.alike(len(self.rules.rows) * len(CARDS), 0, 1)

    @property
    def breeding(self) -> Breeding:
        """How a population renews itself."""
        return Breeding(
            selection=self._selection(),
            crossover=self._crossover(),
            crossover_rate=self.crossover_rate,
            mutation=NewValues(self.mutated),
            mutation_rate=self.mutation_rate,
            elite=self.elite,
            is_unique=self.unique,
        )

    @property
    def evaluator(self) -> Evaluator:
        """How fit a population is."""
        games = self.games if self.fitness is Fitness.SAMPLED else None
        match self.opposition:
            case OppositionKind.MODEL:
                is_wrong = self.as_published and self.seat == 2
                return OfModel(self.rules, self.seat - 1, self.model, games, pays_model=is_wrong)
            case OppositionKind.MIXED:
                return Mixed(self.rules, self.model, games, is_halving=self.as_published)
        return OfRivals(self.rules, games is None)

    @property
    def opponents(self) -> Opposition:
        """How the opponents change."""
        match self.opposition:
            case OppositionKind.MODEL:
                return Fixed()
            case OppositionKind.HALL_OF_FAME:
                return Rivals(self.hall)
        return Rivals()

    def first(self, side: int) -> Chromosomes:
        """The first population of one side: 0 those who evolve, 1 their rivals."""
        random = np.random.default_rng([self.seed, side])
        if self.start is Start.UNIFORM:
            return self.genome.spread(self.population, self.alleles, random)
        return self.genome.random(self.population, random)

    def as_data(self) -> Mapping[str, Any]:
        """As JSON says it."""
        named = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: value.value if isinstance(value, enum.Enum) else list(value) if isinstance(value, tuple) else value
            for name, value in named.items()
        }

    def _selection(self) -> Selection:
        match self.selection:
            case SelectionKind.TOURNAMENT:
                return Tournament(self.tournament, _LISTED_FLOOR if self.as_published else None)
            case SelectionKind.RANK:
                return Rank(skips_best=self.as_published)
        return SignedRoulette() if self.as_published else Roulette(self.offset)

    def _crossover(self) -> Crossover:
        return OnePoint() if self.crossover is CrossoverKind.ONE_POINT else Uniform(self.share)


def kuhn_evolution(settings: KuhnSettings, *, state: State | None = None) -> Evolution:
    """The evolution of a run.

    Args:
        settings: of the run.
        state: of an interrupted run.

    Raises:
        EvolutionError: settings that cannot be.
    """
    has_rivals = settings.opposition is not OppositionKind.MODEL
    return Evolution(
        settings.genome,
        settings.evaluator,
        settings.breeding,
        population=settings.first(0),
        seed=settings.seed,
        opponents=settings.first(1) if has_rivals else None,
        opposition=settings.opponents,
        is_noisy=settings.fitness is Fitness.SAMPLED,
        state=state,
    )
