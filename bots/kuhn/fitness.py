"""Settings of the evolution of Kuhn strategies, and their fitness, sampled or exact.

The defaults are those of the thesis. Given the cards, the chance of an end of the betting is the product of a
contribution of each seat, as in a sequence form. So the payoffs of whole populations are products of matrices, and a
single random number decides a hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import permutations
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError
from bots.evolution.breeding import (
    Breeding,
    Chromosomes,
    Crossover,
    Evaluation,
    Evaluator,
    Floats,
    Genome,
    Seeds,
    Selection,
    one_point_crossover,
    rank_selection,
    reset_mutation,
    roulette_selection,
    signed_roulette_selection,
    tournament_selection,
    uniform_crossover,
)
from bots.evolution.evolution import Evolution, State
from bots.kuhn.games import CARDS, Genes, KuhnGame, Variant
from bots.sdk.options import Interval, Wording, check_options

_LISTED_FLOOR: Final = -1.0
"""Initial best fitness of a tournament in the listing of the thesis, which a participant has to exceed."""


OppositionKind: TypeAlias = Literal["model", "coevolution", "mixed", "hall-of-fame"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KuhnSettings:
    """Settings of a run. The defaults are those of the thesis.

    Raises:
        EvolutionError: a value is out of range, or settings contradict each other.
    """

    game: Annotated[Variant, "which game", Wording(group="Evolution")] = Variant.CLASSIC
    opposition: OppositionKind = "model"
    model: Genes = ()
    """Strategy of the opponent; with mixed opponents, of the first players' additional opponent."""
    seat: Annotated[int, "seat of those who evolve against a model: 1 acts first", Interval(1, 2)] = 1
    population: Annotated[int, "individuals of a generation, on each side"] = 1010
    games: Annotated[int, "hands of an individual against a model", Interval(1)] = 1010
    fitness: Annotated[
        Literal["sampled", "exact"], "definition of the fitness: the mean of the played hands, or the exact value"
    ] = "sampled"
    selection: Annotated[Literal["tournament", "rank", "roulette"], "selection of the parents"] = "tournament"
    tournament: Annotated[int, "participants of a tournament", Interval(1)] = 2
    offset: Annotated[
        float, "number that a roulette wheel adds to every fitness", Interval(-1e6, 1e6), Wording(is_rare=True)
    ] = 2.0
    crossover: Annotated[Literal["uniform", "one-point"], "part that a pair of children exchanges"] = "uniform"
    crossover_rate: Annotated[float, "chance that a pair exchanges anything", Interval(0, 1)] = 0.7
    share: Annotated[float, "chance that uniform crossover exchanges a gene", Interval(0, 1), Wording(is_rare=True)] = (
        0.5
    )
    mutation_rate: Annotated[float, "chance that a child gets a new value in a gene", Interval(0, 1)] = 0.01
    mutated: Annotated[int, "genes that a mutation changes", Interval(1)] = 1
    elite: Annotated[int, "best individuals that live on unchanged", Interval(0)] = 0
    unique: Annotated[bool, "a child equal to another is dropped"] = True
    start: Annotated[Literal["uniform", "random"], "values spread evenly, or all drawn"] = "uniform"
    alleles: Annotated[int, "values of a gene in a uniform start", Wording(is_rare=True)] = 101
    hall: Annotated[int, "places in each hall of fame", Interval(1)] = 100
    tens_as_twos: Annotated[
        bool,
        "in breadth, a bet of 10 looks like one of 2: the second seat answers both by the same genes",
        Wording(is_rare=True),
    ] = False
    as_published: Annotated[bool, "make the mistakes of the thesis's listing", Wording(is_rare=True)] = False
    seed: Annotated[int, "of everything that is drawn"] = 1

    def __post_init__(self) -> None:
        check_options(self, EvolutionError)
        if self.seat == 2 and self.opposition != "model":
            raise EvolutionError("only against a model there is one seat to evolve: both evolve against each other")
        if self.opposition in ("model", "mixed"):
            self.rules.require_genes(self.model)
        elif self.model:
            raise EvolutionError(f"with {self.opposition} there is no model to play against")

    @property
    def rules(self) -> KuhnGame:
        return KuhnGame(self.game, self.tens_as_twos)

    @property
    def genome(self) -> Genome:
        return Genome.alike(len(self.rules.rows) * len(CARDS), 0, 1)

    @property
    def breeding(self) -> Breeding:
        crossover: Crossover = one_point_crossover
        if self.crossover == "uniform":
            crossover = uniform_crossover(self.share)
        return Breeding(
            selection=self._selection(),
            crossover=crossover,
            crossover_rate=self.crossover_rate,
            mutation=reset_mutation(self.mutated),
            mutation_rate=self.mutation_rate,
            elite=self.elite,
            is_unique=self.unique,
        )

    @property
    def evaluator(self) -> Evaluator:
        games = None
        if self.fitness == "sampled":
            games = self.games
        match self.opposition:
            case "model":
                pays_model = self.as_published and self.seat == 2
                return partial(against_model, self.rules, self.seat - 1, self.model, games, pays_model)
            case "mixed":
                return partial(against_both, self.rules, self.model, games, self.as_published)
        return partial(against_rivals, self.rules, games is None)

    def first(self, side: int) -> Chromosomes:
        """Return the first population of a side: 0 for the individuals, 1 for their rivals."""
        random = np.random.default_rng([self.seed, side])
        if self.start == "uniform":
            return self.genome.spread(self.population, self.alleles, random)
        return self.genome.random(self.population, random)

    def _selection(self) -> Selection:
        match self.selection:
            case "tournament" if self.as_published:
                return tournament_selection(self.tournament, _LISTED_FLOOR)
            case "tournament":
                return tournament_selection(self.tournament, None)
            case "rank":
                return rank_selection(skips_best=self.as_published)
        if self.as_published:
            return signed_roulette_selection
        return roulette_selection(self.offset)


def kuhn_evolution(settings: KuhnSettings, *, state: State | None = None) -> Evolution:
    opponents = None
    opposition: Literal["fixed", "rivals"] = "fixed"
    if settings.opposition != "model":
        opponents = settings.first(1)
        opposition = "rivals"
    hall = 0
    if settings.opposition == "hall-of-fame":
        hall = settings.hall
    return Evolution(
        settings.genome,
        settings.evaluator,
        settings.breeding,
        population=settings.first(0),
        seed=settings.seed,
        opponents=opponents,
        opposition=opposition,
        hall=hall,
        is_noisy=settings.fitness == "sampled",
        state=state,
    )


def against_model(
    game: KuhnGame,
    seat: int,
    model: Genes,
    games: int | None,
    pays_model: bool,
    chromosomes: Chromosomes,
    seeds: Seeds,
    opponents: Chromosomes | None = None,
) -> Evaluation:
    """Evaluate strategies in seat 0 or 1 against a model in the other seat.

    Args:
        games: number of hands of each strategy; None computes exact values.
        pays_model: pay the winnings of the model to the individuals, as the listing of the thesis does in the second
            seat.
    """
    payoffs, by_end = payoff_chances(game, seat, model)
    own = contributions(game, seat, chromosomes).reshape(len(by_end), -1)
    chances = own.T @ by_end
    if pays_model:
        payoffs = -payoffs
    if games is None:
        return Evaluation(chances @ payoffs)
    from bots.kuhn.kernel import sample_means

    # A hand has one of a few payoffs. Draw the number of hands with each payoff, not the hands.
    means = np.empty(len(chromosomes))
    sample_means(chances, payoffs, games, seeds, _log_factorials(games), means)
    return Evaluation(means)


def against_rivals(
    game: KuhnGame, is_exact: bool, chromosomes: Chromosomes, seeds: Seeds, opponents: Chromosomes | None
) -> Evaluation:
    """Evaluate first players by a hand against every second player, or by the exact value."""
    own, other = _both(game, chromosomes, opponents)
    if is_exact:
        values = own.reshape(-1, len(chromosomes)).T @ _value_matrix(game, other)
        return Evaluation(values.mean(axis=1), totals=-values.sum(axis=0))
    from bots.kuhn.kernel import play_population

    won = np.zeros(len(chromosomes), np.int64)
    lost = np.zeros(other.shape[2], np.int64)
    play_population(own[:-1], other[:-1], *payments(game), seeds, won, lost)
    return Evaluation(won / len(lost), totals=-lost.astype(float))


def against_both(
    game: KuhnGame,
    model: Genes,
    games: int | None,
    is_halving: bool,
    chromosomes: Chromosomes,
    seeds: Seeds,
    opponents: Chromosomes | None,
) -> Evaluation:
    """Evaluate first players against all second players and a model, and second players against first players.

    Args:
        model: strategy of a second player, from which a first player wins half of its fitness.
        games: number of hands of each first player against the model; None computes exact values.
        is_halving: play as the listing of the thesis does. After every hand against a second player and a hand against
            the model it halves the sums of both players. It also charges the second player with the model's hand.
    """
    # The hands against the model are independent of those against rivals, so they need other seeds.
    model_seeds = ~seeds
    if not is_halving:
        rivals = against_rivals(game, games is None, chromosomes, seeds, opponents)
        models = against_model(game, 0, model, games, False, chromosomes=chromosomes, seeds=model_seeds)
        return Evaluation((rivals.fitness + models.fitness) / 2, totals=rivals.totals)
    from bots.kuhn.kernel import play_halving

    own, other = _both(game, chromosomes, opponents)
    second = contributions(game, 1, np.array(model)[None])
    second = np.ascontiguousarray(np.broadcast_to(second[:-1], other[:-1].shape))
    won = np.zeros(len(chromosomes))
    lost = np.zeros(other.shape[2])
    high, low = payments(game)
    play_halving(own[:-1], other[:-1], second, high, low, seeds=seeds, model_seeds=model_seeds, won=won, lost=lost)
    return Evaluation(won / len(lost), totals=-lost * len(won) / len(lost))


def _both(game: KuhnGame, chromosomes: Chromosomes, opponents: Chromosomes | None) -> tuple[Floats, Floats]:
    """Return the contributions of first and second players."""
    if opponents is None:
        raise EvolutionError("second players are missing: there are no opponents")
    return contributions(game, 0, chromosomes), contributions(game, 1, opponents)


@lru_cache(maxsize=4)
def _log_factorials(max_number: int) -> Floats:
    logarithms = np.log(np.arange(1, max_number + 1))
    return np.concatenate([[0.0], np.cumsum(logarithms)])


DEALS: Final = tuple(permutations(range(len(CARDS)), 2))
"""Cards of both seats, all equally likely."""


@lru_cache
def payments(game: KuhnGame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the payoff in chips of each of `KuhnGame.lines` to a first player with the higher and the lower card."""
    lines = game.lines()
    high = np.array([line.chips for line in lines], np.int64)
    is_showdown = np.array([line.is_showdown for line in lines])
    return high, np.where(is_showdown, -high, high)


@lru_cache
def _answers(game: KuhnGame, seat: int) -> tuple[tuple[tuple[int, bool], ...], ...]:
    return tuple(line.answers[seat] for line in game.lines())


def contributions(game: KuhnGame, seat: int, chromosomes: Chromosomes) -> Floats:
    """Return the contributions of strategies in seat 0 or 1 to the ends, shape (ends, cards, individuals).

    A contribution is the product of the probabilities of the seat's answers on the path to the end.
    """
    yes = chromosomes.reshape(len(chromosomes), -1).T.reshape(len(game.rows), len(CARDS), -1)
    no = 1 - yes
    answers = _answers(game, seat)
    products = np.empty((len(answers), len(CARDS), len(chromosomes)))
    # Ends share the beginnings of their paths, so each product is computed once.
    by_path: dict[tuple[tuple[int, bool], ...], Floats] = {(): np.ones(products.shape[1:])}
    for end, path in enumerate(answers):
        for length in range(1, len(path) + 1):
            if path[:length] in by_path:
                continue
            row, is_yes = path[length - 1]
            chance = yes[row]
            if not is_yes:
                chance = no[row]
            by_path[path[:length]] = by_path[path[: length - 1]] * chance
        products[end] = by_path[path]
    return products


@lru_cache(maxsize=16)
def payoff_chances(game: KuhnGame, seat: int, opponent: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return the payoffs of seat 0 or 1 against a strategy in the other seat, and the factors of their chances.

    Returns:
        The payoffs in chips, ascending, and a matrix of shape (ends * cards, payoffs). The contributions of the seat
        times this matrix are the chances of the payoffs.
    """
    other = contributions(game, 1 - seat, np.array(opponent)[None])[:, :, 0]
    high, low = payments(game)
    if seat == 1:
        high = -high
        low = -low
    payoffs = np.unique(np.concatenate([high, low]))
    chances = np.zeros((len(other), len(CARDS), len(payoffs)))
    for deal in DEALS:
        won = low
        if deal[0] > deal[1]:
            won = high
        chances[range(len(won)), deal[seat], np.searchsorted(payoffs, won)] += other[:, deal[1 - seat]] / len(DEALS)
    return payoffs.astype(float), chances.reshape(-1, len(payoffs))


def _value_matrix(game: KuhnGame, opponents: Floats) -> Floats:
    """Return the matrix from the first player's contributions to its mean winnings, shape (ends * cards, players).

    Args:
        opponents: contributions of the second players, shape (ends, cards, players).
    """
    high, low = payments(game)
    values = np.zeros_like(opponents)
    for own, other in DEALS:
        won = low
        if own > other:
            won = high
        values[:, own] += won[:, None] * opponents[:, other] / len(DEALS)
    return values.reshape(-1, opponents.shape[2])
