"""Evolution of a population, generation by generation, and its checkpoints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from bots.artifact import FileKind, as_arrays, read_artifact, write_artifact
from bots.errors import EvolutionError
from bots.evolution.breeding import (
    Breeding,
    Chromosomes,
    Evaluation,
    Evaluator,
    Floats,
    Genome,
    Map,
    best_first,
    evaluate_in_parts,
    joined,
)

Opposition: TypeAlias = Literal["fixed", "challengers", "rivals"]
"""Change of the opponents from one generation to the next.

- fixed: the opponents stay.
- challengers: the best individual replaces the opponent that won least from it, if its own winnings are above 0 and
  above those of every opponent.
- rivals: the opponents are a second population, which is bred like the first, with the mean winnings as fitness.
"""
_BREED: Final = 0
_BREED_RIVALS: Final = 1
_MEASURE: Final = 2
_MEASURE_PARENTS: Final = 3
_MEASURE_CHAMPIONS: Final = 4
"""Purposes of random numbers, each with a stream of its own in every generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """Conditions to stop, of which the first that holds ends an evolution. None is never met.

    Attributes:
        generations: number of generations after the first population.
        patience: number of generations in a row without a renewal of the opponents.
        opponents: number of generations with a renewal of the opponents.
    """

    generations: int | None = None
    patience: int | None = None
    opponents: int | None = None

    def reason(self, generation: Generation) -> str | None:
        """Return the reason to stop after a generation, or None to continue."""
        if self.generations is not None and generation.number >= self.generations:
            return "all generations were bred"
        if self.opponents is not None and generation.renewals >= self.opponents:
            return "all opponents were found"
        if self.patience is not None and generation.since_renewal >= self.patience:
            return "no better opponent was found"
        return None

    def max_remaining(self, generation: Generation) -> int | None:
        """Return the maximum number of generations after this one, or None without a bound."""
        bounds = []
        if self.generations is not None:
            bounds.append(self.generations - generation.number)
        if self.patience is not None and self.opponents is not None:
            # In the longest run, each renewal comes just before patience ends.
            bounds.append((self.opponents - generation.renewals) * self.patience - generation.since_renewal)
        if not bounds:
            return None
        return max(0, min(bounds))

    def part(self, generation: Generation) -> float | None:
        """Return a lower bound of the finished part after a generation, or None without a bound."""
        remaining = self.max_remaining(generation)
        if remaining is None:
            return None
        return generation.number / max(1, generation.number + remaining)


@dataclass(frozen=True, slots=True)
class Generation:
    """Statistics of a generation.

    Attributes:
        number: 0 for the first population.
        best: highest fitness.
        mean: mean fitness.
        best_opponent: winnings of the best opponent from the best individual; None without opponents.
        used_share: mean share of the genes that an individual used.
        diversity: standard deviation of a gene over the population, relative to a uniform distribution over its range,
            as the mean of all genes. It is about 1 at first, and 0 if all individuals are equal.
        renewals: number of generations with a renewal of the opponents, up to this one.
        since_renewal: number of generations since the last renewal, or since the first population.
        rivals_best: highest fitness of the rivals; None without rivals.
        rivals_mean: mean fitness of the rivals; None without rivals.
    """

    number: int
    best: float
    mean: float
    best_opponent: float | None
    used_share: float
    diversity: float
    renewals: int
    since_renewal: int
    rivals_best: float | None = None
    rivals_mean: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """State of an evolution between two generations.

    Attributes:
        population: chromosomes, shape (individuals, genes, values).
        evaluation: evaluation of the population against the opponents of its generation.
        opponents: opponents of the next generation, shape (opponents, genes, values), where the rivals' hall of fame
            follows the rivals; None without opponents.
        champions: chromosomes, shape (champions, genes, values). With fixed opponents they are the individuals with a
            new highest fitness, with challengers those that became opponents, and with rivals and a hall of fame the
            fittest of each generation.
        champion_generations: number of the generation of each champion.
        history: statistics of all generations.
    """

    seed: int
    population: Chromosomes
    evaluation: Evaluation
    opponents: Chromosomes | None
    champions: Chromosomes
    champion_generations: tuple[int, ...]
    history: tuple[Generation, ...]


def _map_here(*arguments: Any) -> Sequence[Evaluation]:
    return list(map(*arguments))


class Evolution:
    """Evolution of a population.

    The random numbers of a generation follow from the seed and the generation's number. So neither an interruption nor
    the number of processes changes a result.

    Args:
        population: number of individuals, 2 or more, or the first population itself.
        opponents: chromosomes to play against; None for an evaluator without opponents.
        hall: number of latest generations whose fittest individuals and rivals stay in a hall of fame, as additional
            opponents of the other side.
        is_noisy: the evaluation is random, so that surviving parents are evaluated again in every generation.
        state: state of an evolution to resume, in place of `population`, `seed` and `opponents`.
        over: function that spreads the tasks of an evaluation, by default in this process.
        parts: number of tasks of an evaluation.

    Raises:
        EvolutionError: sizes or shapes do not fit.
    """

    def __init__(
        self,
        genome: Genome,
        evaluator: Evaluator,
        breeding: Breeding,
        *,
        population: int | Chromosomes = 100,
        seed: int = 0,
        opponents: Chromosomes | None = None,
        opposition: Opposition = "fixed",
        hall: int = 0,
        is_noisy: bool = False,
        state: State | None = None,
        over: Map = _map_here,
        parts: int = 1,
    ) -> None:
        self._genome = genome
        self._evaluator = evaluator
        self._breeding = breeding
        self._opposition = opposition
        self._hall = hall
        self._is_noisy = is_noisy
        self._over = over
        self._parts = parts
        self._opponents = opponents
        self._seed = seed
        self._state = state
        if state is not None:
            self._opponents = state.opponents
            self._seed = state.seed
            population = state.population
        if self._seed < 0 or parts < 1:
            raise EvolutionError(f"a seed is 0 or more, and there is at least 1 task: {self._seed}, {parts}")
        if isinstance(population, int):
            breeding.require_population(population)
            self._first = genome.random(population, self._random(0, _BREED))
        else:
            breeding.require_population(len(population))
            self._first = population
        _require_shape("population", self._first, genome)
        if self._opponents is not None:
            _require_shape("opponents", self._opponents, genome)
        if self._opponents is None and opposition != "fixed":
            raise EvolutionError("there are no opponents that could change")
        if opposition == "rivals" and breeding.keeps_best:
            raise EvolutionError("rivals are judged by the children they meet, so their own children replace them all")

    @property
    def state(self) -> State:
        """State after the last generation.

        Raises:
            EvolutionError: there has been no generation.
        """
        if self._state is None:
            raise EvolutionError("there is no state before the first generation")
        return self._state

    @property
    def opponents(self) -> Chromosomes | None:
        """Opponents of the next generation."""
        if self._state is None:
            return self._opponents
        return self._state.opponents

    @property
    def champion(self) -> Chromosomes:
        """Best individual of the last generation, shape (genes, values)."""
        best: Chromosomes = self.state.population[int(np.argmax(self.state.evaluation.fitness))]
        return best

    def generations(self, rule: StopRule) -> Iterator[Generation]:
        """Breed generations until the rule ends the evolution, and yield their statistics."""
        while self._state is None or rule.reason(self._state.history[-1]) is None:
            yield self.step()

    def step(self) -> Generation:
        """Breed and evaluate the next generation, or evaluate the first population."""
        state = self._state
        if state is None:
            number = 0
            population = self._first
            evaluation = self._evaluate(population, number)
        else:
            number = state.history[-1].number + 1
            population, evaluation = self._next(state, number)
        rivals = self._rivals_fitness(evaluation, number)
        opponents = self._next_opponents(population, evaluation, rivals, number)
        self._state = self._remembered(state, number, population, evaluation, opponents, rivals)
        return self._state.history[-1]

    def _random(self, generation: int, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, generation, purpose])

    def _evaluate(self, chromosomes: Chromosomes, number: int, purpose: int = _MEASURE) -> Evaluation:
        seeds = self._random(number, purpose).integers(0, 1 << 64, len(chromosomes), np.uint64)
        opponents = self.opponents
        evaluation = evaluate_in_parts(self._evaluator, chromosomes, seeds, opponents, self._parts, self._over)
        fitness = evaluation.fitness
        if fitness.shape != (len(chromosomes),) or not np.isfinite(fitness).all():
            raise EvolutionError(f"the evaluation of {len(chromosomes)} individuals did not find a number for each")
        return evaluation

    def _next(self, state: State, number: int) -> tuple[Chromosomes, Evaluation]:
        breeding = self._breeding
        parents = state.evaluation
        renewals_before = 0
        if len(state.history) > 1:
            renewals_before = state.history[-2].renewals
        is_renewed = state.history[-1].renewals > renewals_before
        # Parents that may survive need a fitness that is comparable with that of the children.
        if breeding.survivors(len(state.population)) and (self._is_noisy or is_renewed):
            parents = self._evaluate(state.population, number, _MEASURE_PARENTS)
        random = self._random(number, _BREED)
        used = parents.used_genes(self._genome.genes)
        children = breeding.offspring(self._genome, state.population, used, parents.fitness, random)
        surviving = best_first(parents.fitness)[: breeding.survivors(len(state.population))]
        population = np.concatenate([state.population[surviving], children])
        survivors = parents.of(surviving)
        if surviving and parents.totals is not None:
            # Totals are known of all parents together only.
            survivors = self._evaluate(state.population[surviving], number, _MEASURE_PARENTS)
        evaluation = joined(survivors, self._evaluate(children, number))
        if breeding.keeps_best:
            best = best_first(evaluation.fitness)[: len(state.population)]
            population = population[best]
            evaluation = evaluation.of(best)
        return population, evaluation

    def _rivals_fitness(self, evaluation: Evaluation, number: int) -> Floats | None:
        """Return the fitness of each rival, without the hall of fame, or None without rivals."""
        if self._opposition != "rivals":
            return None
        fitness = _opponents_fitness(evaluation)
        in_hall = min(self._hall, number)
        if not in_hall:
            return fitness
        # Rivals also play the champions in the other side's hall of fame. Take the mean over all their opponents.
        champions = self._evaluate(self.state.champions[-in_hall:], number, _MEASURE_CHAMPIONS)
        individuals = len(evaluation.fitness)
        total = individuals * fitness + in_hall * _opponents_fitness(champions)
        mean = total / (individuals + in_hall)
        return mean[:-in_hall]

    def _next_opponents(
        self, population: Chromosomes, evaluation: Evaluation, fitness: Floats | None, number: int
    ) -> Chromosomes | None:
        opponents = self.opponents
        if opponents is None or self._opposition == "fixed":
            return opponents
        if fitness is None:
            return _challenged(opponents, population, evaluation)
        rivals, hall = np.split(opponents, [len(fitness)])
        used = np.ones(rivals.shape[:2], bool)
        order = best_first(fitness)
        random = self._random(number, _BREED_RIVALS)
        children = self._breeding.offspring(self._genome, rivals, used, fitness, random)
        if self._hall:
            hall = np.concatenate([hall, rivals[order[:1]]])[-self._hall :]
        return np.concatenate([rivals[order[: self._breeding.elite]], children, hall])

    def _remembered(
        self,
        state: State | None,
        number: int,
        population: Chromosomes,
        evaluation: Evaluation,
        opponents: Chromosomes | None,
        rivals: Floats | None,
    ) -> State:
        history: tuple[Generation, ...] = ()
        champions = np.empty((0, *population.shape[1:]), population.dtype)
        numbers: tuple[int, ...] = ()
        if state is not None:
            history = state.history
            champions = state.champions
            numbers = state.champion_generations
        best = int(np.argmax(evaluation.fitness))
        is_renewed = opponents is not self.opponents
        is_champion = is_renewed and (self._opposition != "rivals" or self._hall > 0)
        if self._opposition == "fixed":
            is_champion = evaluation.fitness[best] > max([generation.best for generation in history], default=-np.inf)
        if is_champion:
            champions = np.concatenate([champions, population[best][None]])
            numbers = (*numbers, number)
        best_opponent = None
        if evaluation.against is not None:
            best_opponent = float(evaluation.against[best].max())
        renewals = 0
        since_renewal = 0
        if history:
            renewals = history[-1].renewals
            since_renewal = history[-1].since_renewal + 1
        if is_renewed:
            renewals += 1
            since_renewal = 0
        rivals_best = None
        rivals_mean = None
        if rivals is not None:
            rivals_best = float(rivals.max())
            rivals_mean = float(rivals.mean())
        spread = population.std(axis=0) / (self._genome.width / np.sqrt(12))
        generation = Generation(
            number=number,
            best=float(evaluation.fitness[best]),
            mean=float(evaluation.fitness.mean()),
            best_opponent=best_opponent,
            used_share=float(evaluation.used_genes(self._genome.genes).mean()),
            diversity=float(spread.mean()),
            renewals=renewals,
            since_renewal=since_renewal,
            rivals_best=rivals_best,
            rivals_mean=rivals_mean,
        )
        return State(
            seed=self._seed,
            population=population,
            evaluation=evaluation,
            opponents=opponents,
            champions=champions,
            champion_generations=numbers,
            history=(*history, generation),
        )


def _require_shape(name: str, chromosomes: Chromosomes, genome: Genome) -> None:
    if chromosomes.shape[1:] != (genome.genes, genome.values):
        sizes = " x ".join(map(str, chromosomes.shape[1:]))
        raise EvolutionError(
            f"the {name} have chromosomes of {sizes} values, the genome has {genome.genes} x {genome.values}"
        )


def _challenged(opponents: Chromosomes, population: Chromosomes, evaluation: Evaluation) -> Chromosomes:
    """Return the opponents after the challenge of the best individual, as the same object if none is replaced."""
    best = int(np.argmax(evaluation.fitness))
    against = _required(evaluation)[best]
    if not evaluation.fitness[best] > max(0.0, against.max()):
        return opponents
    renewed = opponents.copy()
    renewed[int(np.argmin(against))] = population[best]
    return renewed


def _opponents_fitness(evaluation: Evaluation) -> Floats:
    """Return the mean winnings of each opponent."""
    if evaluation.totals is not None:
        return evaluation.totals / len(evaluation.fitness)
    fitness: Floats = _required(evaluation).mean(axis=0)
    return fitness


def _required(evaluation: Evaluation) -> Floats:
    if evaluation.against is None:
        raise EvolutionError("the evaluation has no winnings of the opponents, so they cannot be renewed")
    return evaluation.against


_KIND: Final = FileKind("a checkpoint of acpc-arena's evolution", 2, "take another folder, or delete it to begin again")


def save_checkpoint(path: str | Path, state: State, about: dict[str, Any]) -> None:
    """Write a state to a file.

    Args:
        about: further JSON values that a resumed run needs, such as settings.
    """
    facts = {
        "about": about,
        "seed": state.seed,
        "champion_generations": state.champion_generations,
        "history": [asdict(generation) for generation in state.history],
    }
    arrays = {
        "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8),
        "population": state.population,
        "opponents": state.opponents,
        "champions": state.champions,
        "fitness": state.evaluation.fitness,
        "used": state.evaluation.used,
        "against": state.evaluation.against,
        "totals": state.evaluation.totals,
    }
    write_artifact(path, _KIND, *as_arrays(arrays, is_compressed=True))


def load_checkpoint(path: str | Path) -> tuple[State, dict[str, Any]]:
    """Read a state and the further values that were written with it.

    Raises:
        BotFileError: the file is missing, damaged, or not a checkpoint.
    """
    artifact = read_artifact(path, _KIND)
    # The arrays of the file are read-only.
    arrays = {name: array.copy() for name, array in artifact.arrays().items()}
    with artifact.parsing():
        facts = json.loads(arrays["facts"].tobytes())
        evaluation = Evaluation(arrays["fitness"], arrays.get("used"), arrays.get("against"), arrays.get("totals"))
        state = State(
            seed=facts["seed"],
            population=arrays["population"],
            evaluation=evaluation,
            opponents=arrays.get("opponents"),
            champions=arrays["champions"],
            champion_generations=tuple(facts["champion_generations"]),
            history=tuple([Generation(**generation) for generation in facts["history"]]),
        )
        about: dict[str, Any] = facts["about"]
    return state, about
