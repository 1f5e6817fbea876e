"""The run of an evolution: generation after generation, until a rule stops it.

A checkpoint is one file (`bots.artifact`), whole after any accident.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
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
"""The change of the opponents from one generation to the next.

- challengers: The best individual replaces the worst opponent when it wins, and wins more than the best opponent at its
  table. Opponents are judged by what they got against that individual, which must have more than 0.
- rivals: The opponents are a population of their own, bred as the first one, each as fit as it did on average.
"""
_BREED: Final = 0
_BREED_RIVALS: Final = 1
_MEASURE: Final = 2
_MEASURE_PARENTS: Final = 3
_MEASURE_CHAMPIONS: Final = 4
"""The purposes that numbers are drawn for: each has a stream of its own in every generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """When to stop: when the first of these holds; None never does.

    Attributes:
        generations: this many have been bred since the first.
        patience: for this many generations the opponents have not been renewed.
        opponents: they have been renewed in this many generations.
    """

    generations: int | None = None
    patience: int | None = None
    opponents: int | None = None

    def reason(self, generation: Generation) -> str | None:
        """Return the reason to stop after a generation; None to continue."""
        if self.generations is not None and generation.number >= self.generations:
            return "all generations were bred"
        if self.opponents is not None and generation.renewals >= self.opponents:
            return "all opponents were found"
        if self.patience is not None and generation.since_renewal >= self.patience:
            return "no better opponent was found"
        return None

    def most_left(self, generation: Generation) -> int | None:
        """The most generations that can follow after one; None where there is no bound.

        Where patience and the number of renewals bound it, each renewal may come just before patience ends.
        """
        bounds = []
        if self.generations is not None:
            bounds.append(self.generations - generation.number)
        if self.patience is not None and self.opponents is not None:
            bounds.append((self.opponents - generation.renewals) * self.patience - generation.since_renewal)
        if not bounds:
            return None
        return max(0, min(bounds))

    def part(self, generation: Generation) -> float | None:
        """The part that is done after a generation, at least; None where there is no bound."""
        left = self.most_left(generation)
        if left is None:
            return None
        return generation.number / max(1, generation.number + left)


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation in figures.

    Attributes:
        number: 0 for the first population.
        best_opponent: what the best opponent got against the best individual; None without opponents.
        used_share: the part of their genes that the individuals used, on average.
        diversity: the standard deviation of a gene's values over the population as a part of that of values spread
            evenly over the range, averaged over the genes: about 1 at first, 0 when all individuals are the same.
        renewals: in how many generations, this one included, the opponents were renewed.
        since_renewal: how many generations ago that was for the last time; the number of the generation, if never.
        rivals_best: the highest fitness of the opponents where they are rivals; None otherwise.
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
    """All that an evolution has to remember between two generations.

    Attributes:
        population: shape (individuals, genes, values).
        evaluation: of the population, against the opponents of its generation.
        opponents: those of the next generation, shape (opponents, genes, values); None without any. Rivals come
            first, then those in their hall of fame.
        champions: the individuals that became opponents, and the first to be better than all before it where opponents
            do not change; shape (champions, genes, values). With rivals, the fittest of each generation, if there is a
            hall of fame.
        champion_generations: the number of the generation of each.
    """

    seed: int
    population: Chromosomes
    evaluation: Evaluation
    opponents: Chromosomes | None
    champions: Chromosomes
    champion_generations: tuple[int, ...]
    history: tuple[Generation, ...]


class Evolution:
    """A population that is evaluated and bred.

    All numbers drawn in a generation follow from the seed and the generation's number, so neither an interruption nor
    the number of processes changes a result.

    Args:
        population: how many individuals, 2 or more; or the first population itself.
        opponents: chromosomes to play against; None for an evaluator that needs none.
        hall: the number of latest generations whose fittest rivals, on either side, stay in a hall of fame, which the
            other side plays against as well.
        is_noisy: the evaluation has luck in it, so that parents who live on are evaluated again in every generation.
        state: of an evolution that is resumed, instead of `population`, `seed` and `opponents`.
        over: spreads the evaluation; by default it happens here.
        parts: the number of tasks into which an evaluation is divided.

    Raises:
        EvolutionError: sizes or shapes that do not fit.
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
        over: Map = lambda *arguments: list(map(*arguments)),
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
        """The state after the last generation."""
        if self._state is None:
            raise EvolutionError("there is no state before the first generation")
        return self._state

    @property
    def opponents(self) -> Chromosomes | None:
        """Those of the next generation."""
        if self._state is None:
            return self._opponents
        return self._state.opponents

    @property
    def champion(self) -> Chromosomes:
        """The best individual of the last generation, shape (genes, values)."""
        best: Chromosomes = self.state.population[int(np.argmax(self.state.evaluation.fitness))]
        return best

    def generations(self, rule: StopRule) -> Iterator[Generation]:
        """Breed until the rule holds, each generation when it is asked for."""
        while self._state is None or rule.reason(self._state.history[-1]) is None:
            yield self.step()

    def step(self) -> Generation:
        """Breed and evaluate one generation, the first population if there has been none."""
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
        found = evaluate_in_parts(self._evaluator, chromosomes, seeds, opponents, self._parts, self._over)
        if found.fitness.shape != (len(chromosomes),) or not np.isfinite(found.fitness).all():
            raise EvolutionError(f"the evaluation of {len(chromosomes)} individuals did not find a number for each")
        return found

    def _next(self, state: State, number: int) -> tuple[Chromosomes, Evaluation]:
        breeding = self._breeding
        parents = state.evaluation
        renewals_before = 0
        if len(state.history) > 1:
            renewals_before = state.history[-2].renewals
        is_renewed = state.history[-1].renewals > renewals_before
        if breeding.survivors(len(state.population)) and (self._is_noisy or is_renewed):
            parents = self._evaluate(state.population, number, _MEASURE_PARENTS)
        random = self._random(number, _BREED)
        used = parents.used_genes(self._genome.genes)
        children = breeding.offspring(self._genome, state.population, used, parents.fitness, random)
        alive = best_first(parents.fitness)[: breeding.survivors(len(state.population))]
        population = np.concatenate([state.population[alive], children])
        survivors = parents.of(alive)
        if alive and parents.totals is not None:
            # The totals were those of all parents.
            survivors = self._evaluate(state.population[alive], number, _MEASURE_PARENTS)
        evaluation = joined(survivors, self._evaluate(children, number))
        if breeding.keeps_best:
            best = best_first(evaluation.fitness)[: len(state.population)]
            population = population[best]
            evaluation = evaluation.of(best)
        return population, evaluation

    def _rivals_fitness(self, evaluation: Evaluation, number: int) -> Floats | None:
        """Of each rival, without those in their hall of fame; None where the opponents are not rivals."""
        if self._opposition != "rivals":
            return None
        fitness = _opponents_fitness(evaluation)
        in_hall = min(self._hall, number)
        if not in_hall:
            return fitness
        champions = self._evaluate(self.state.champions[-in_hall:], number, _MEASURE_CHAMPIONS)
        met = len(evaluation.fitness)
        mean = (met * fitness + in_hall * _opponents_fitness(champions)) / (met + in_hall)
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
    """The opponents, the same object where no individual replaces one of them."""
    best = int(np.argmax(evaluation.fitness))
    against = _required(evaluation)[best]
    if not evaluation.fitness[best] > max(0.0, against.max()):
        return opponents
    renewed = opponents.copy()
    renewed[int(np.argmin(against))] = population[best]
    return renewed


def _opponents_fitness(evaluation: Evaluation) -> Floats:
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
    """Write a state whole, with what else is needed to resume, such as settings, as JSON."""
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
    """The state and what else was written with it; a `BotFileError` if there is no such file, or it is damaged."""
    found = read_artifact(path, _KIND)
    arrays = {name: array.copy() for name, array in found.arrays().items()}
    with found.parsing():
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
