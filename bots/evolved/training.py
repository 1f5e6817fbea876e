"""Sets of deals, settings and evaluation of the training (chapters 3.3 and 5.1 of the thesis).

Nine trainers are evolved first, each against random opponents that better individuals replace, and then a player
against these trainers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError
from bots.evolution.breeding import (
    Bools,
    Breeding,
    Chromosomes,
    Evaluation,
    Genome,
    Seeds,
    half_of_used_genes,
    one_of,
    one_point_crossover,
    shift_mutation,
    some_genes,
    tournament_selection,
)
from bots.evolution.evolution import Evolution, StopRule
from bots.evolved.chromosome import GENES, THRESHOLD, Odds
from bots.sdk.options import Interval, Wording, check_options
from engine import rank_hand
from engine.splitmix import MASK_64, mixed


@dataclass(frozen=True, slots=True, eq=False)
class DealSet:
    """Deals for ten players, each played a hundred times (see `bots.evolved.kernel`).

    Attributes:
        cards: pair by pair, then the board, shape (deals, 25).
        flops: hands that see a flop, shape (hands, 4), as deal, rotation of the pairs, bit set of the active positions,
            and raises before the flop.
        spent: chips of each position before the flop of these hands, shape (hands, 10).
        categories: category of each pair in each round after the first, 0 to 8, shape (deals, 10, 3).
        ranks: rank of each pair's seven cards, shape (deals, 10).
        weights: chance not to lose, shape (deals, 10 pairs, 3 rounds, 9), by opponents less one.
    """

    cards: NDArray[np.uint8]
    flops: NDArray[np.int64]
    spent: NDArray[np.int64]
    categories: NDArray[np.uint8]
    ranks: NDArray[np.uint16]
    weights: NDArray[np.float64]

    @property
    def hands(self) -> int:
        return 100 * len(self.cards)

    def play(
        self,
        table: Chromosomes,
        odds: Sequence[Odds],
        rake: bool,
        *,
        used: Bools,
        won: NDArray[np.float64],
        log: NDArray[np.float64] | None = None,
    ) -> None:
        """Play all hands, and write `used`, `won` and `log` (see `bots.evolved.kernel.play_table`)."""
        from bots.evolved.kernel import LOGGED, play_table

        by_price = np.array([player_odds == "price" for player_odds in odds])
        if log is None:
            log = np.empty((0, LOGGED))
        play_table(
            table,
            by_price,
            rake,
            self.flops,
            self.spent,
            categories=self.categories,
            ranks=self.ranks,
            weights=self.weights,
            used=used,
            won=won,
            log=log,
        )


def make_deals(count: int, seed: int, trials: int = 1000) -> DealSet:
    """Draw deals that see a flop in at least one rotation, and compute their weights.

    Args:
        count: number of deals.
        seed: seed of the cards and of the simulation, modulo 2**64.
        trials: simulations of each weight, whose standard error is at most 0.5 / sqrt(trials).
    """
    from bots.evolved import kernel

    cards = np.empty((count, 25), np.uint8)
    state = kernel.deal(np.uint64(mixed(seed & MASK_64)), cards)
    weights = np.empty((count, 10, 3, 9))
    kernel.weigh(cards, trials, np.uint64(state), weights)
    flops = []
    spent_before = []
    spent = np.empty(10, np.int64)
    for number, deal in enumerate(cards):
        for rotation in range(10):
            in_pot, raises, _ = kernel.preflop(deal, rotation, spent)
            # At least two players see the flop if more than one bit is set.
            if in_pot & (in_pot - 1):
                flops.append((number, rotation, in_pot, raises))
                spent_before.append(spent.copy())
    ranks = np.empty((count, 10), np.uint16)
    categories = np.empty((count, 10, 3), np.uint8)
    for number, deal_cards in enumerate(cards.tolist()):
        for pair in range(10):
            ranks[number, pair] = _rank(deal_cards, pair, 5)
            for street, board in enumerate((3, 4, 5)):
                categories[number, pair, street] = _rank(deal_cards, pair, board) >> 12
    return DealSet(cards, np.array(flops, np.int64), np.array(spent_before, np.int64), categories, ranks, weights)


def _rank(cards: list[int], pair: int, board: int) -> int:
    hole_cards = cards[2 * pair : 2 * pair + 2]
    board_cards = cards[20 : 20 + board]
    return rank_hand(hole_cards + board_cards)


GENOME: Final = Genome.alike(GENES, -THRESHOLD, THRESHOLD, is_whole=True, values=2)
OPPONENTS: Final = 9
"""Chromosomes at a table besides the evaluated one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolvedSettings:
    """Settings of a run. The defaults are those of the thesis for a trainer.

    Raises:
        EvolutionError: a value is out of range.
    """

    population: Annotated[int, "individuals of a generation", Wording(group="Training"), Interval(2, 1_000_000)] = 100
    deals: Annotated[int, "deals, each played 100 times", Interval(1, 1_000_000)] = 200
    trials: Annotated[int, "simulations behind the weight of a hand", Interval(1, 1_000_000)] = 1000
    tournament: Annotated[int, "participants in the tournament that selects a parent", Interval(1, 1_000_000)] = 3
    points: Annotated[int, "number of genes that two children exchange; only where it is fixed", Interval(1)] = 2520
    mutated: Annotated[int, "genes that a mutation changes", Interval(1)] = 504
    variance: Annotated[
        float, "part of the range by which a mutation changes a threshold", Interval(above=0, high=1)
    ] = 0.1
    odds: Annotated[Odds, "factor of the weight of a hand"] = "reward"
    rake: Annotated[bool, "a part of each pot that saw a flop is taken as rake"] = True
    seed: Annotated[int, "of deals, first population and operators", Interval(0, 2**63 - 1)] = 1

    def __post_init__(self) -> None:
        check_options(self, EvolutionError)

    @property
    def breeding(self) -> Breeding:
        """Operators of the thesis, with one of its four crossovers in each generation."""
        return Breeding(
            selection=tournament_selection(self.tournament),
            crossover=one_of(
                # The thesis's "half of the individual", read as a cut at a random point.
                one_point_crossover,
                half_of_used_genes,
                some_genes(self.points),
                some_genes(self.points, of_used=True),
            ),
            mutation=shift_mutation(self.mutated, self.variance),
            keeps_best=True,
        )

    @property
    def evaluator(self) -> TableEvaluator:
        return TableEvaluator(self.deals, self.seed, self.trials, self.odds, self.rake)


TRAINER: Final = StopRule(patience=200, opponents=500)
"""Rule of the thesis for a trainer, which ends after 500 better individuals, or 200 generations without any."""
PLAYER: Final = StopRule(generations=500)
"""Rule of the thesis for the player."""


@dataclass(frozen=True, slots=True)
class TableEvaluator:
    """Evaluate individuals by their winnings from nine opponents, in dollars over all hands.

    Attributes:
        deals: number of deals, each played a hundred times.
        seed: seed of the deals.
        trials: simulations of each weight.
        odds: odds of all players.
        rake: take a part of each pot.
    """

    deals: int
    seed: int
    trials: int
    odds: Odds
    rake: bool

    @property
    def deal_set(self) -> DealSet:
        """The deals, drawn once in a process."""
        return _deals(self.deals, self.seed, self.trials)

    def __call__(self, chromosomes: Chromosomes, seeds: Seeds, opponents: Chromosomes | None) -> Evaluation:
        # The seeds are unused: all individuals play the same deals, and nothing else is drawn.
        if opponents is None or len(opponents) != OPPONENTS:
            count = 0
            if opponents is not None:
                count = len(opponents)
            raise EvolutionError(f"a table needs {OPPONENTS} opponents, not {count}")
        deals = self.deal_set
        odds = (self.odds,) * (OPPONENTS + 1)
        table = np.empty((OPPONENTS + 1, *chromosomes.shape[1:]), np.int16)
        table[1:] = opponents
        used = np.zeros(chromosomes.shape[:2], bool)
        won = np.zeros((len(chromosomes), OPPONENTS + 1))
        for number, chromosome in enumerate(chromosomes):
            table[0] = chromosome
            deals.play(table, odds, self.rake, used=used[number], won=won[number])
        return Evaluation(won[:, 0], used, won[:, 1:])


_deals: Final = lru_cache(maxsize=4)(make_deals)


def trainer_evolution(settings: EvolvedSettings, **options: Any) -> Evolution:
    """Return the evolution of a trainer against nine random opponents, which better individuals replace.

    Args:
        options: further arguments of `Evolution`: `state`, `over` and `parts`.
    """
    opponents = GENOME.random(OPPONENTS, np.random.default_rng([settings.seed, OPPONENTS]))
    return player_evolution(settings, opponents, opposition="challengers", **options)


def player_evolution(settings: EvolvedSettings, trainers: Chromosomes, **options: Any) -> Evolution:
    """Return the evolution of a player against nine trainers, which do not change by default.

    Args:
        options: further arguments of `Evolution`.
    """
    size = settings.population
    seed = settings.seed
    evaluator = settings.evaluator
    return Evolution(GENOME, evaluator, settings.breeding, population=size, seed=seed, opponents=trainers, **options)
