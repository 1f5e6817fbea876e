"""Rankings of the Annual Computer Poker Competition and the confidence of each place.

Total bankroll rewards winning much from all opponents: a player's bankroll is the mean of its winnings per hand over
its contests. Each contest counts alike, however long it is. Instant run-off rewards being hard to beat: the player with
the lowest bankroll is removed with all its contests, the bankrolls are computed anew from the remaining contests, and
so on. Players with equal bankrolls share the best of their places (1, 1, 3) and are removed together.

Sources: computerpokercompetition.org, "Winner Determination: Total Bankroll", "Winner Determination: Instant Run-off",
and the statement on bootstrapping in the results of 2016.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from logs.estimation.mean import (
    MIN_UNITS,
    RELATIVE_ZERO,
    TAIL_95,
    AnyTimeMean,
    Bounds,
    Estimate,
    interval_half_width,
    skewed_half_width,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Floats: TypeAlias = NDArray[np.float64]
    _Places: TypeAlias = NDArray[np.intp]

_BLOCKS = 1000
"""Longer contests are weighted in this many to twice as many blocks of consecutive units.

Only the mean of a contest counts, and the mean of blocks varies as the mean of their units does. Units that depend on
their neighbours, such as those of a bot that learns, are sampled more faithfully (Künsch 1989). A thousand weights show
the variation of the mean as well as a million do, to 2 % of its standard deviation, in a thousandth of the time.
"""

_TOLERANCE = 1e-9
"""Bankrolls are equal if they differ by less than this part of the largest one, that is, by rounding."""


class Ranking(enum.Enum):
    """Order of the players of a tournament; see the module."""

    TOTAL_BANKROLL = "bankroll"
    INSTANT_RUNOFF = "runoff"


@dataclass(frozen=True, eq=False)
class RankedContest:
    """Scores of one contest (a match, or a match in all its seatings), in mbb per hand.

    Attributes:
        players: indices into the list of bots.
        scores: shape (units, players); a row belongs to the same deal in all contests of a tournament.

    Raises:
        ValueError: the shapes do not match, a player occurs twice, a score is not finite, or there is no unit.
    """

    players: tuple[int, ...]
    scores: _Floats

    def __post_init__(self) -> None:
        import numpy as np

        if len(set(self.players)) != len(self.players):
            raise ValueError(f"a player plays against itself: {self.players}")
        if self.scores.ndim != 2 or self.scores.shape[1] != len(self.players):
            raise ValueError(f"scores of shape {self.scores.shape} do not fit {len(self.players)} players")
        if not len(self.scores):
            raise ValueError("a contest without a unit has no mean: leave it out")
        if not np.isfinite(self.scores).all():
            raise ValueError("a score is not a finite number")

    @cached_property
    def means(self) -> _Floats:
        """Mean score of each player in mbb per hand, shape (players,), in the order of `players`."""
        means: _Floats = self.scores.mean(axis=0)
        return means


_Means: TypeAlias = "Sequence[tuple[tuple[int, ...], _Floats]]"
"""Players and means, shape (tournaments, players), of each contest in many tournaments."""


def ranked(contests: Sequence[RankedContest], n: int, ranking: Ranking) -> list[tuple[int, int]]:
    """Rank the players that have a contest.

    Args:
        n: number of players, with or without a contest.

    Returns:
        Pairs of a place (from 1; equal players share one) and a player's index, from the first place to the last.
    """
    if not contests:
        return []
    places = _places(_observed_means(contests), n, ranking)[0].tolist()
    players: set[int] = set()
    for contest in contests:
        players.update(contest.players)
    return sorted((places[player], player) for player in players)


def mean_of_contests(
    contests: Sequence[RankedContest], player: int, bounds: Bounds, *, is_sequential: bool = False
) -> Estimate:
    """Estimate a player's mean score over contests, each counting alike, however long it is.

    There is no interval if a contest is too short for one, and no standard error if a contest has one unit.

    Args:
        contests: at least one, all with the player.
        is_sequential: whether a test that looked at the scores ended the contests. The interval is then the mean of the
            contests' any-time intervals, all of which hold at once.
    """
    import numpy as np

    columns = [contest.scores[:, contest.players.index(player)] for contest in contests]
    means = [float(column.mean()) for column in columns]
    mean = math.fsum(means) / len(means)
    min_units = min(map(len, columns))
    if min_units < 2:
        return Estimate(mean)
    # All contests play the same deals, so that a player's scores in different contests are correlated. Deals are
    # independent: shifts[k] is the sum over contests by which deal k moved the mean, and the squares of the shifts add
    # up to the variance of the mean. The root turns the variance of each contest into an unbiased one.
    shifts = np.zeros(max(map(len, columns)))
    for column, contest_mean in zip(columns, means, strict=True):
        units = len(column)
        unbiased = math.sqrt(units / (units - 1))
        shifts[:units] += (column - contest_mean) / (units * len(columns)) * unbiased
    error = math.sqrt(float(shifts @ shifts))
    if min_units < MIN_UNITS:
        return Estimate(mean, None, error)
    if is_sequential:
        tail = TAIL_95 / len(columns)
        widths = [AnyTimeMean(column.tolist(), bounds).half_width(tail) or math.inf for column in columns]
        half_width = math.fsum(widths) / len(widths)
        return Estimate(mean, half_width, error, half_width)
    lowest, highest = bounds
    farther = max(mean - lowest, highest - mean)
    unseen = farther * math.fsum(1 / len(column) for column in columns) / len(columns)
    guaranteed = min(farther, interval_half_width(error, unseen))
    if error <= RELATIVE_ZERO * abs(mean):
        return Estimate(mean, None, error, guaranteed)
    half_width = skewed_half_width(error, float((shifts**3).sum()) / error**3, min_units)
    return Estimate(mean, min(half_width, guaranteed), error, guaranteed)


def bootstrap(
    contests: Sequence[RankedContest], n: int, ranking: Ranking, *, samples: int = 1000, seed: int = 0
) -> _Floats:
    """Estimate the confidence of each place by the Bayesian bootstrap.

    In each sample every deal gets a random weight, the same in all contests, and the players are ranked again (Rubin
    1981, "The Bayesian bootstrap", Annals of Statistics 9; the competition drew units with replacement).

    Returns:
        Share of samples in which each player has each place, shape (n places, n players), the first place first.
        Columns sum to 1. Players without a contest share the place after all others.
    """
    import numpy as np

    observed = _observed_means(contests)
    sampled = _sampled_means(contests, samples, np.random.default_rng(seed))
    # The player that is observed first was probably lucky. The samples are therefore centred on observed means shrunk
    # by the root of their reliability (Efron & Morris 1973, "Stein's estimation rule and its competitors", Journal of
    # the American Statistical Association 68). Equal players all get shares near 1 / n; clear differences stay.
    shrinkage = 1.0 - math.sqrt(_reliability(observed, sampled, n))
    centred = []
    for (players, sampled_means), (_, observed_means) in zip(sampled, observed, strict=True):
        centred.append((players, sampled_means - shrinkage * observed_means))
    places = _places(centred, n, ranking)
    return np.array([(places == place).mean(axis=0) for place in range(1, n + 1)])


def _sampled_means(contests: Sequence[RankedContest], samples: int, chance: np.random.Generator) -> _Means:
    """Draw weighted means of all contests, each of shape (samples, players)."""
    import numpy as np

    weighted_sums = [np.zeros((samples, len(contest.players))) for contest in contests]
    total_weights = [np.zeros((samples, 1)) for _ in contests]
    start = 0
    # Units from the end of one contest to the end of the next longer one are divided into blocks as long as those of
    # the longer contest, so that every contest ends at the end of a block.
    for end in sorted({len(contest.scores) for contest in contests}):
        # Rounded up, so that no block is longer.
        blocks = -(-(end - start) // max(1, end // _BLOCKS))
        starts = start + np.arange(blocks) * (end - start) // blocks
        lengths = np.diff(starts, append=end)[:, None]
        # Exponential weights never leave a contest without a unit, as drawing with replacement could.
        weights = chance.standard_exponential((samples, blocks))
        weight = weights @ lengths
        for index, contest in enumerate(contests):
            if len(contest.scores) >= end:
                weighted_sums[index] += weights @ np.add.reduceat(contest.scores[:end], starts, axis=0)
                total_weights[index] += weight
        start = end
    means = []
    for contest, weighted_sum, total_weight in zip(contests, weighted_sums, total_weights, strict=True):
        means.append((contest.players, weighted_sum / total_weight))
    return means


def _observed_means(contests: Sequence[RankedContest]) -> _Means:
    return [(contest.players, contest.means[None, :]) for contest in contests]


def _reliability(observed: _Means, sampled: _Means, n: int) -> float:
    """Return the part of the variance between the players' bankrolls that is not chance, from 0 to 1."""
    import numpy as np

    samples = len(sampled[0][1])
    bankrolls, counts = _bankrolls(observed, np.ones((1, n), dtype=bool))
    sampled_bankrolls, _ = _bankrolls(sampled, np.ones((samples, n), dtype=bool))
    has_played = counts[0] > 0
    total = _mean_square_spread(bankrolls[:, has_played])
    noise = _mean_square_spread((sampled_bankrolls - bankrolls)[:, has_played])
    if total > 0:
        return max(0.0, 1.0 - noise / total)
    return 0.0


def _mean_square_spread(values: _Floats) -> float:
    """Return the sum of squared distances from the row's mean, averaged over rows."""
    distances = values - values.mean(axis=1, keepdims=True)
    return float((distances**2).sum(axis=1).mean())


def _places(means: _Means, n: int, ranking: Ranking) -> _Places:
    """Rank the players of many tournaments at once; shape (tournaments, n), places from 1."""
    import numpy as np

    tournaments = len(means[0][1])
    remaining = np.ones((tournaments, n), dtype=bool)
    bankrolls = np.full((tournaments, n), -math.inf)
    places = np.zeros((tournaments, n), dtype=np.intp)
    tolerance = _TOLERANCE * max(float(abs(contest_means).max()) for _, contest_means in means)
    is_first = True
    while remaining.any():
        if is_first or ranking is Ranking.INSTANT_RUNOFF:
            new_bankrolls, counts = _bankrolls(means, remaining)
            # A player without a contest among the remaining players keeps its bankroll: at tables of three when two are
            # left, or if a contest failed. The last table thus orders the players who sat there.
            bankrolls = np.where(counts > 0, new_bankrolls, bankrolls)
            is_first = False
        lowest = np.where(remaining, bankrolls, math.inf).min(axis=1, keepdims=True)
        removed = remaining & (bankrolls <= lowest + tolerance)
        remaining &= ~removed
        # Players leave from the last place to the first. Those removed together share the best of their places.
        places = np.where(removed, remaining.sum(axis=1, keepdims=True) + 1, places)
    return places


def _bankrolls(means: _Means, remaining: NDArray[np.bool_]) -> tuple[_Floats, _Places]:
    """Compute bankrolls and numbers of contests of remaining players, shape (tournaments, n)."""
    import numpy as np

    sums = np.zeros(remaining.shape)
    counts = np.zeros(remaining.shape, dtype=np.intp)
    for players, contest_means in means:
        columns = list(players)
        is_counted = remaining[:, columns].all(axis=1, keepdims=True)
        sums[:, columns] += np.where(is_counted, contest_means, 0.0)
        counts[:, columns] += is_counted
    return sums / np.maximum(counts, 1), counts
