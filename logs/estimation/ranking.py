"""Who is first in a tournament: the two orders of the Annual Computer Poker Competition, and how sure each place is.

*Total bankroll* rewards winning the most from everybody: a player's bankroll is the mean of its winnings per hand over
its contests, each contest counting alike, however long it was.

*Instant run-off* over the bankrolls rewards being hard to beat: the player with the lowest bankroll is removed with all
its contests, the bankrolls are computed anew from the contests among the remaining players, and so on. The players take
their places as they go, from the last to the first. A player without a contest among those that remain (tables of three
when two are left, or a contest that failed) keeps its previous bankroll; so what happened at the last table orders the
players who sat there.

Players whose bankrolls are equal to the last digit are placed in the order in which they are numbered. (The competition
removes and ranks them together.)

The bootstrap (Efron 1979, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7) tells how sure a
place is, as in the competition: the units of every contest are drawn anew, with replacement, and the players are ranked
again, many times. Contests are drawn independently of each other; that they may share cards is not used.

Sources: computerpokercompetition.org, "Winner Determination: Total Bankroll", "Winner Determination: Instant Run-off",
and the statement on bootstrapping in the results of 2016.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from logs.estimation.mean import RunningMean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Floats: TypeAlias = NDArray[np.float64]
    _Indices: TypeAlias = NDArray[np.intp]
    _Flags: TypeAlias = NDArray[np.bool_]

__all__ = ["RankedContest", "Ranking", "Standing", "bootstrap", "instant_runoff", "total_bankroll"]

MAX_BLOCKS = 1000
"""Longer contests are drawn in this number of blocks of consecutive units instead of unit by unit. That is fair because
only the mean of a contest counts: the mean of blocks varies just as the mean of their units does (units that depend on
their neighbours, say of a bot that learns, are even drawn more faithfully: Künsch 1989). And a thousand draws tell as
much as a million about how the mean varies, to 2 % of its standard deviation, in a thousandth of the time."""


class Ranking(enum.Enum):
    """How a tournament is ranked."""

    TOTAL_BANKROLL = "bankroll"
    INSTANT_RUNOFF = "runoff"


class Standing(NamedTuple):
    """A player's place in the order of bankrolls.

    Attributes:
        player: its index in the list of bots.
        mbb_per_game: its bankroll, in mbb per hand.
    """

    player: int
    mbb_per_game: float


@dataclass(frozen=True, eq=False)
class RankedContest:
    """What the players of one contest (a match, or a match in all its seatings) won.

    Attributes:
        players: who played, as indices into the list of bots.
        scores: in mbb per hand, an array of shape (units, players).

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

    def cell(self, player: int) -> RunningMean:
        """A player's mean in this contest with its interval: the cell of a crosstable.

        Args:
            player: its index in the list of bots.

        Raises:
            ValueError: it did not play here.
        """
        return RunningMean(self.scores[:, self.players.index(player)].tolist())


_Means: TypeAlias = "Sequence[tuple[tuple[int, ...], _Floats]]"
"""The contests of many tournaments at once: players, and means of shape (tournaments, players)."""


def total_bankroll(contests: Sequence[RankedContest], n: int) -> list[Standing]:
    """The players from the first place to the last by total bankroll; those without a contest are left out.

    Args:
        contests: all contests.
        n: the number of players.
    """
    bankrolls, _ = _bankrolls(_means_of(contests), n)
    return [
        Standing(player, float(bankrolls[0, player])) for player in _order_of_one(contests, n, Ranking.TOTAL_BANKROLL)
    ]


def instant_runoff(contests: Sequence[RankedContest], n: int) -> list[int]:
    """The players from the first place to the last by instant run-off; those without a contest are left out.

    Args:
        contests: all contests.
        n: the number of players.
    """
    return _order_of_one(contests, n, Ranking.INSTANT_RUNOFF)


def bootstrap(
    contests: Sequence[RankedContest], n: int, ranking: Ranking, *, samples: int = 1000, seed: int = 0
) -> _Floats:
    """How sure the places are.

    Players who come out equal in a sample share its places by lot, so that two players who cannot be told apart have
    the same chances. Players without a contest share the last places.

    Args:
        contests: all contests.
        n: the number of players.
        ranking: how they are ranked.
        samples: how often the players are ranked anew.
        seed: of the draws; the same seed gives the same result.

    Returns:
        the probability that each player takes each place: an array of shape (n places, n players), the first place
        first, whose rows and columns sum to 1.
    """
    import numpy as np

    chance = np.random.default_rng(seed)
    means = [(contest.players, _resampled_means(contest.scores, samples, chance)) for contest in contests]
    priority = chance.random((samples, n))
    order = _order(means, n, ranking, priority)
    matrix = np.zeros((n, n))
    for place in range(n):
        matrix[place] = np.bincount(order[:, place], minlength=n) / samples
    return matrix


def _resampled_means(scores: _Floats, samples: int, chance: np.random.Generator) -> _Floats:
    """Means of a contest whose units are drawn anew; an array of shape (samples, players)."""
    import numpy as np

    blocks = min(len(scores), MAX_BLOCKS)
    starts = np.arange(blocks) * len(scores) // blocks
    sums = np.add.reduceat(scores, starts, axis=0)
    sizes = np.diff(starts, append=len(scores))
    # How often each block is drawn in each sample; numpy's multinomial gives the same, nine times slower.
    drawn = chance.integers(0, blocks, (samples, blocks)) + blocks * np.arange(samples)[:, None]
    draws = np.bincount(drawn.ravel(), minlength=samples * blocks).reshape(samples, blocks).astype(np.float64)
    means: _Floats = (draws @ sums) / (draws @ sizes)[:, None]
    return means


def _means_of(contests: Sequence[RankedContest]) -> _Means:
    return [(contest.players, contest.means[None, :]) for contest in contests]


def _order_of_one(contests: Sequence[RankedContest], n: int, ranking: Ranking) -> list[int]:
    import numpy as np

    order = _order(_means_of(contests), n, ranking, np.arange(n)[None, :] / n)[0].tolist()
    seen = {player for contest in contests for player in contest.players}
    return [player for player in order if player in seen]


def _order(means: _Means, n: int, ranking: Ranking, priority: _Floats) -> _Indices:
    """The players of each tournament by place; of shape (tournaments, n).

    Args:
        means: the contests.
        n: the number of players.
        ranking: how they are ranked.
        priority: of shape (tournaments, n): among equals, the player with the least is placed first.
    """
    import numpy as np

    tournaments = np.arange(len(priority))
    remaining = np.ones(priority.shape, dtype=bool)
    bankrolls = np.full(priority.shape, -math.inf)
    order = np.zeros(priority.shape, dtype=np.intp)
    for place in reversed(range(n)):
        if place == n - 1 or ranking is Ranking.INSTANT_RUNOFF:
            now, counts = _bankrolls(means, n, remaining)
            bankrolls = np.where(counts > 0, now, bankrolls)
        lowest = np.where(remaining, bankrolls, math.inf).min(axis=1, keepdims=True)
        is_lowest = remaining & (bankrolls == lowest)
        removed = np.where(is_lowest, priority, -1.0).argmax(axis=1)
        order[:, place] = removed
        remaining[tournaments, removed] = False
    return order


def _bankrolls(means: _Means, n: int, remaining: _Flags | None = None) -> tuple[_Floats, _Indices]:
    """Bankrolls and numbers of contests, both of shape (tournaments, n), from contests among the remaining players.

    Args:
        means: the contests.
        n: the number of players.
        remaining: of shape (tournaments, n); None for one tournament in which all remain.
    """
    import numpy as np

    flags: _Flags = np.ones((1, n), dtype=np.bool_) if remaining is None else remaining
    sums = np.zeros(flags.shape)
    counts = np.zeros(flags.shape, dtype=np.intp)
    for players, of_contest in means:
        columns = list(players)
        is_counted = flags[:, columns].all(axis=1, keepdims=True)
        sums[:, columns] += np.where(is_counted, of_contest, 0.0)
        counts[:, columns] += is_counted
    return sums / np.maximum(counts, 1), counts
