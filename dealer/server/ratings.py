"""Ratings from margins: what each player would win from the average of its field.

A player's rating is a number r of mbb/g such that its mean score at a table is its own r less the mean of the others':
between two, the difference of their ratings. The ratings of a field, the players that results connect, are the least
squares fit to all mean scores, each weighted by its precision (units / variance), with mean 0. Bots are frozen
versions, so the order of the results does not matter, and nothing depends on who won a match.

The fit is linear in the mean scores, so the standard error of a rating follows from theirs exactly; a bootstrap of the
units gives the same (a test compares them). At a table of more than two, whose scores always sum to 0, it is an upper
bound. The interval allows for what was not seen, as that of every mean does (`logs.estimation.mean`).

Poker is not transitive: no set of ratings predicts every pair. The interval shows where the ratings of this fit would
be if every mean score were known exactly; the crosstable shows who beats whom.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from logs.estimation import MIN_UNITS, Bounds, Estimate, RunningMean, interval_half_width

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIN_UNITS_TO_RATE: Final = 1000
"""A rating made of fewer units is provisional: too little to go by, whatever its interval."""

_LEAST_DEVIATION: Final = 1e-6
"""Scores vary by at least this part of their range: where all were equal, they still weigh no more than anything."""


@dataclass(frozen=True, slots=True)
class TableScores:
    """What the players of a table won over all units that they played together.

    Attributes:
        players: who played, at least two, all different.
        scores: by player, in mbb per hand; all of the same number of units, at least 1, and of mean sum 0.
    """

    players: tuple[int, ...]
    scores: tuple[RunningMean, ...]

    @property
    def units(self) -> int:
        """How many units they have played."""
        return self.scores[0].count


@dataclass(frozen=True, slots=True)
class FittedRating:
    """A player's rating.

    Attributes:
        won: what it would win from the average of its field, in mbb per game; there is no interval while it has played
            fewer than `MIN_UNITS`.
        field: the lowest of the players with which results connect it.
        units: that it has played.
    """

    player: int
    won: Estimate
    field: int
    units: int

    @property
    def is_provisional(self) -> bool:
        """Whether it has played less than `MIN_UNITS_TO_RATE`."""
        return self.units < MIN_UNITS_TO_RATE


def fit_ratings(tables: Sequence[TableScores], bounds: Bounds) -> list[FittedRating]:
    """The ratings of all players, in the order of their numbers.

    Args:
        tables: all results; no two of the same players.
        bounds: the lowest and the highest possible score of a unit.
    """
    ratings = [rating for field in _fields(tables) for rating in _fit(field, bounds)]
    return sorted(ratings, key=lambda rating: rating.player)


def _fields(tables: Sequence[TableScores]) -> list[list[TableScores]]:
    """The tables, apart where no results connect them."""
    leader: dict[int, int] = {}

    def find(player: int) -> int:
        while leader.setdefault(player, player) != player:
            leader[player] = player = leader[leader[player]]
        return player

    for table in tables:
        first = find(table.players[0])
        for player in table.players[1:]:
            leader[find(player)] = first
    fields: dict[int, list[TableScores]] = {}
    for table in tables:
        fields.setdefault(find(table.players[0]), []).append(table)
    return list(fields.values())


def _variances(tables: Sequence[TableScores], bounds: Bounds) -> list[list[float]]:
    """By table and player, the variance of a score; that of few units is drawn towards that of most tables."""
    least = (_LEAST_DEVIATION * (bounds[1] - bounds[0])) ** 2
    observed = [one.squares / max(1, table.units - 1) for table in tables for one in table.scores]
    typical = statistics.median_low(observed)
    return [
        [max(least, (one.squares + MIN_UNITS * typical) / (table.units - 1 + MIN_UNITS)) for one in table.scores]
        for table in tables
    ]


def _fit(tables: Sequence[TableScores], bounds: Bounds) -> list[FittedRating]:
    import numpy as np

    players = sorted({player for table in tables for player in table.players})
    place = {player: number for number, player in enumerate(players)}
    variances = _variances(tables, bounds)
    rows = [(at, seat) for at, table in enumerate(tables) for seat in range(len(table.players))]
    design = np.zeros((len(rows), len(players)))
    weights, means = np.zeros(len(rows)), np.zeros(len(rows))
    for row, (at, seat) in enumerate(rows):
        table = tables[at]
        design[row, [place[player] for player in table.players]] = -1.0 / (len(table.players) - 1)
        design[row, place[table.players[seat]]] = 1.0
        weights[row] = table.units / variances[at][seat]
        means[row] = table.scores[seat].mean
    weighted = design.T * weights
    # What a mean score that is higher by 1 adds to every rating; the ratings of the field sum to 0.
    shares = np.linalg.pinv(weighted @ design, hermitian=True) @ weighted
    ratings = shares @ means
    found = []
    for number, player in enumerate(players):
        units = sum(table.units for table in tables if player in table.players)
        half_width = None
        if units >= MIN_UNITS:
            half_width = _half_width(tables, variances, shares[number], bounds)
        found.append(FittedRating(player, Estimate(float(ratings[number]), half_width), players[0], units))
    return found


def _half_width(
    tables: Sequence[TableScores], variances: Sequence[Sequence[float]], shares: NDArray[np.float64], bounds: Bounds
) -> float:
    variance, unseen, start = 0.0, 0.0, 0
    for table, of_table in zip(tables, variances, strict=True):
        deviations = [math.sqrt(one) for one in of_table]
        own = _least_shares(shares[start : start + len(deviations)].tolist(), deviations)
        start += len(deviations)
        spread = math.fsum(abs(share) * deviation for share, deviation in zip(own, deviations, strict=True))
        variance += spread * spread / table.units
        for share, score in zip(own, table.scores, strict=True):
            unseen += abs(share) * max(bounds[1] - score.mean, score.mean - bounds[0]) / table.units
    return interval_half_width(math.sqrt(variance), unseen)


def _least_shares(shares: Sequence[float], deviations: Sequence[float]) -> list[float]:
    """The same weighted sum of scores that sum to 0, with the weights whose terms vary least: less their median.

    A number added to all weights changes nothing. The median, by deviation, makes the sum of all terms' deviations
    least, and that is never less than the deviation of the sum.
    """
    order = sorted(range(len(shares)), key=shares.__getitem__)
    half, so_far = math.fsum(deviations) / 2, 0.0
    for at in order:
        so_far += deviations[at]
        if so_far >= half:
            return [share - shares[at] for share in shares]
    return list(shares)
