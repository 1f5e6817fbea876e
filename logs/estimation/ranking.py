"""Who is first in a tournament: the two orders of the Annual Computer Poker Competition, and how sure each place is.

*Total bankroll* rewards winning the most from all: a player's bankroll is the mean of its winnings per hand over its
contests, each contest counting alike, however long it was.

*Instant run-off* over the bankrolls rewards being hard to beat: the player with the lowest bankroll is removed with all
its contests, the bankrolls are recomputed from the contests among the remaining players, and so on. The players take
their places as they go, from the last to the first. A player without a contest among those that remain (tables of three
when two are left, or a contest that failed) keeps its previous bankroll; so what happened at the last table orders the
players who sat there.

Players whose bankrolls are equal share the best of their places (1, 1, 3), and are removed together.

All contests of a tournament play the same deals: unit 0 of each is deal 0, and so on. What a player wins in one contest
therefore predicts something of what it wins in another, and neither intervals nor samples may take contests for
independent. The interval of a mean over contests (`mean_of_contests`) adds up, deal by deal, what the player won in all
of them.

The bootstrap gives the confidence of a place: every deal gets a random weight, the same in all contests, players are
ranked again, many times (the weights of Rubin 1981, "The Bayesian bootstrap", Annals of Statistics 9, which never leave
a contest without a unit; the competition drew units). Who came out first was probably lucky, so the samples do not vary
around what was observed, but around observed scores shrunk by the root of their reliability: the part of the
differences between bankrolls that the samples' own variation does not explain (Efron & Morris 1973, "Stein's estimation
rule and its competitors", Journal of the American Statistical Association 68). Between equal players all shares come
near 1 / n; where differences are clear nothing changes.

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

from logs.estimation.mean import MIN_UNITS, TAIL_95, AnyTimeMean, Bounds, Estimate, interval_half_width

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Floats: TypeAlias = NDArray[np.float64]
    _Places: TypeAlias = NDArray[np.intp]

MAX_BLOCKS = 1000
"""Longer contests are weighted in blocks of consecutive units, about this many per contest. That is fair because only
the mean of a contest counts: the mean of blocks varies just as the mean of their units does (units that depend on their
neighbours, say of a bot that learns, are even drawn more faithfully: Künsch 1989). And a thousand weights are as
informative as a million about how the mean varies, to 2 % of its standard deviation, in a thousandth of the time."""

_EQUAL = 1e-9
"""Bankrolls that differ by less than this part of the largest are equal: the order of additions is not chance."""


class Ranking(enum.Enum):
    """How a tournament is ranked."""

    TOTAL_BANKROLL = "bankroll"
    INSTANT_RUNOFF = "runoff"


@dataclass(frozen=True, eq=False)
class RankedContest:
    """The scores of one contest (a match, or a match in all its seatings), in mbb per hand.

    Attributes:
        players: indices into the list of bots.
        scores: shape (units, players); the same row is the same deal in all contests.

    Raises:
        ValueError: the shapes do not match, a player plays twice, a score is not finite, or there is no unit (leave
            such a contest out).
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
        """Mean mbb per hand of each player, in the order of `players`."""
        means: _Floats = self.scores.mean(axis=0)
        return means


_Means: TypeAlias = "Sequence[tuple[tuple[int, ...], _Floats]]"
"""The contests of many tournaments at once: players, and means of shape (tournaments, players)."""


def ranked(contests: Sequence[RankedContest], n: int, ranking: Ranking) -> list[tuple[int, int]]:
    """The players from the first place to the last, each as its place (from 1; equals share one) and its index.

    Those without a contest are left out.
    """
    if not contests:
        return []
    places = _places(_observed(contests), n, ranking)[0].tolist()
    return sorted((places[player], player) for player in {one for contest in contests for one in contest.players})


def mean_of_contests(
    contests: Sequence[RankedContest], player: int, bounds: Bounds, *, is_sequential: bool = False
) -> Estimate:
    """A player's mean over contests (at least one, all with the player), each counting alike, however long it was.

    It has no interval if a contest is too short for one, and no standard error if a contest has one unit.

    With `is_sequential`, when a test that looked at the scores ended the contests, the interval is the mean of the
    contests' any-time intervals, which all hold at once.
    """
    import numpy as np

    columns = [contest.scores[:, contest.players.index(player)] for contest in contests]
    means = [float(column.mean()) for column in columns]
    mean = math.fsum(means) / len(means)
    fewest = min(map(len, columns))
    if fewest < 2:
        return Estimate(mean)
    # By deal, by how much it moved the mean; deals are independent of each other.
    moved = np.zeros(max(map(len, columns)))
    for column, own in zip(columns, means, strict=True):
        units = len(column)
        moved[:units] += (column - own) / (units * len(columns)) * math.sqrt(units / (units - 1))
    error = math.sqrt(float(moved @ moved))
    if fewest < MIN_UNITS:
        return Estimate(mean, None, error)
    if is_sequential:
        tail = TAIL_95 / len(columns)
        widths = [AnyTimeMean(column.tolist(), bounds).half_width(tail) or math.inf for column in columns]
        return Estimate(mean, math.fsum(widths) / len(widths), error)
    farther = max(mean - bounds[0], bounds[1] - mean)
    unseen = farther * math.fsum(1 / len(column) for column in columns) / len(columns)
    return Estimate(mean, min(farther, interval_half_width(error, unseen)), error)


def bootstrap(
    contests: Sequence[RankedContest], n: int, ranking: Ranking, *, samples: int = 1000, seed: int = 0
) -> _Floats:
    """The confidence of each place; the same seed gives the same result.

    Returns:
        the share of samples in which each player has each place: shape (n places, n players), the first place first.
            Its columns sum to 1. Players without a contest share the place after all others.
    """
    import numpy as np

    observed = _observed(contests)
    weighted = _weighted_means(contests, samples, np.random.default_rng(seed))
    luck = 1.0 - math.sqrt(_reliability(observed, weighted, n))
    means = [(players, mean - luck * own) for (players, mean), (_, own) in zip(weighted, observed, strict=True)]
    places = _places(means, n, ranking)
    return np.array([(places == place).mean(axis=0) for place in range(1, n + 1)])


def _weighted_means(contests: Sequence[RankedContest], samples: int, chance: np.random.Generator) -> _Means:
    import numpy as np

    sums = [np.zeros((samples, len(contest.players))) for contest in contests]
    sizes = [np.zeros((samples, 1)) for _ in contests]
    start = 0
    # Between the ends of two contests, blocks as long as the longer one asks for; contests end where blocks end.
    for end in sorted({len(contest.scores) for contest in contests}):
        blocks = -(-(end - start) // max(1, end // MAX_BLOCKS))
        edges = start + np.arange(blocks) * (end - start) // blocks
        weights = chance.standard_exponential((samples, blocks))
        sized = weights @ np.diff(edges, append=end)[:, None]
        for at, contest in enumerate(contests):
            if len(contest.scores) >= end:
                sums[at] += weights @ np.add.reduceat(contest.scores[:end], edges, axis=0)
                sizes[at] += sized
        start = end
    return [(contest.players, total / size) for contest, total, size in zip(contests, sums, sizes, strict=True)]


def _observed(contests: Sequence[RankedContest]) -> _Means:
    return [(contest.players, contest.means[None, :]) for contest in contests]


def _reliability(observed: _Means, weighted: _Means, n: int) -> float:
    """The part of the differences between the players' bankrolls that is not chance, from 0 to 1."""
    import numpy as np

    bankrolls, counts = _bankrolls(observed, np.ones((1, n), dtype=bool))
    samples, _ = _bankrolls(weighted, np.ones((len(weighted[0][1]), n), dtype=bool))
    played = counts[0] > 0
    total, noise = (
        float(((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=1).mean())
        for values in (bankrolls[:, played], (samples - bankrolls)[:, played])
    )
    if total > 0:
        return max(0.0, 1.0 - noise / total)
    return 0.0


def _places(means: _Means, n: int, ranking: Ranking) -> _Places:
    import numpy as np

    tournaments = len(means[0][1])
    remaining = np.ones((tournaments, n), dtype=bool)
    bankrolls = np.full((tournaments, n), -math.inf)
    places = np.zeros((tournaments, n), dtype=np.intp)
    slack = _EQUAL * max(float(abs(of_contest).max()) for _, of_contest in means)
    is_first = True
    while remaining.any():
        if is_first or ranking is Ranking.INSTANT_RUNOFF:
            now, counts = _bankrolls(means, remaining)
            bankrolls = np.where(counts > 0, now, bankrolls)
            is_first = False
        lowest = np.where(remaining, bankrolls, math.inf).min(axis=1, keepdims=True)
        removed = remaining & (bankrolls <= lowest + slack)
        remaining &= ~removed
        places = np.where(removed, remaining.sum(axis=1, keepdims=True) + 1, places)
    return places


def _bankrolls(means: _Means, remaining: NDArray[np.bool_]) -> tuple[_Floats, _Places]:
    """Bankrolls and numbers of contests, both of shape (tournaments, n), from contests among the remaining players."""
    import numpy as np

    sums = np.zeros(remaining.shape)
    counts = np.zeros(remaining.shape, dtype=np.intp)
    for players, of_contest in means:
        columns = list(players)
        is_counted = remaining[:, columns].all(axis=1, keepdims=True)
        sums[:, columns] += np.where(is_counted, of_contest, 0.0)
        counts[:, columns] += is_counted
    return sums / np.maximum(counts, 1), counts
