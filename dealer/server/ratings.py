"""Ratings from margins: the winnings expected of each player against the average of its field.

Ratings are numbers r of mbb/g such that the mean score of a player at a table is its own r less the mean of the
others'. Between two players it is the difference of their ratings. A field is a set of players connected by results.
Its ratings are the least squares fit to all mean scores, each weighted by its precision (units / variance), with mean
0. Bots are frozen versions, so the order of results does not matter.

The fit is linear in the mean scores, so standard errors follow exactly from theirs; at a table of more than two, where
scores sum to 0, they are an upper bound. Poker is not transitive and no ratings predict every pair. The interval covers
the ratings of this fit under exact mean scores. The crosstable shows who beats whom.
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
"""Ratings from fewer units are provisional, whatever their interval."""

_MIN_DEVIATION: Final = 1e-6
"""Lower bound of a standard deviation, as a part of the range, so that equal scores do not get infinite weight."""


@dataclass(frozen=True, slots=True)
class TableScores:
    """Scores of the players of a table over all units that they played together.

    Attributes:
        players: numbers of at least two different players.
        scores: by player, in mbb/g; all of the same number of units, at least 1. Their means sum to 0.
    """

    players: tuple[int, ...]
    scores: tuple[RunningMean, ...]

    @property
    def units(self) -> int:
        return self.scores[0].count


@dataclass(frozen=True, slots=True)
class FittedRating:
    """Rating of a player.

    Attributes:
        won: against the average of its field, in mbb/g; without an interval below `MIN_UNITS` units.
        field: lowest number of a player in its field.
        units: number of units it has played.
    """

    player: int
    won: Estimate
    field: int
    units: int

    @property
    def is_provisional(self) -> bool:
        return self.units < MIN_UNITS_TO_RATE


def fit_ratings(tables: Sequence[TableScores], bounds: Bounds) -> list[FittedRating]:
    """Fit the ratings of all players, in the order of their numbers.

    Args:
        tables: all results; no two of the same players.
        bounds: lowest and highest possible score of a unit.
    """
    ratings = [rating for field in _fields(tables) for rating in _fit(field, bounds)]
    return sorted(ratings, key=lambda rating: rating.player)


def _fields(tables: Sequence[TableScores]) -> list[list[TableScores]]:
    """Split tables into fields, the connected components of the players, by union-find."""
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
    """Variance of a unit's score, by table and player; for few units, shrunk towards the median of all."""
    min_variance = (_MIN_DEVIATION * (bounds[1] - bounds[0])) ** 2
    observed = [score.squares / max(1, table.units - 1) for table in tables for score in table.scores]
    typical = statistics.median_low(observed)
    variances = []
    for table in tables:
        weight = table.units - 1 + MIN_UNITS
        shrunk = [(score.squares + MIN_UNITS * typical) / weight for score in table.scores]
        variances.append([max(min_variance, variance) for variance in shrunk])
    return variances


def _fit(tables: Sequence[TableScores], bounds: Bounds) -> list[FittedRating]:
    import numpy as np

    players = sorted({player for table in tables for player in table.players})
    columns = {player: column for column, player in enumerate(players)}
    variances = _variances(tables, bounds)
    # One equation for every player of every table: own rating less the mean of the others' is the mean score.
    num_rows = sum(len(table.players) for table in tables)
    design = np.zeros((num_rows, len(players)))
    weights = np.zeros(num_rows)
    means = np.zeros(num_rows)
    row = 0
    for table, table_variances in zip(tables, variances, strict=True):
        table_columns = [columns[player] for player in table.players]
        for column, score, variance in zip(table_columns, table.scores, table_variances, strict=True):
            design[row, table_columns] = -1.0 / (len(table.players) - 1)
            design[row, column] = 1.0
            weights[row] = table.units / variance
            means[row] = score.mean
            row += 1
    weighted = design.T * weights
    # The pseudo-inverse picks the solution whose ratings sum to 0. shares[p, row] is the derivative of the rating of
    # player p by the mean score of a row.
    shares = np.linalg.pinv(weighted @ design, hermitian=True) @ weighted
    ratings = shares @ means
    fitted = []
    for column, player in enumerate(players):
        units = sum(table.units for table in tables if player in table.players)
        half_width = None
        if units >= MIN_UNITS:
            half_width = _half_width(tables, variances, shares[column], bounds)
        fitted.append(FittedRating(player, Estimate(float(ratings[column]), half_width), players[0], units))
    return fitted


def _half_width(
    tables: Sequence[TableScores], variances: Sequence[Sequence[float]], shares: NDArray[np.float64], bounds: Bounds
) -> float:
    variance = 0.0
    # Largest effect of one more, unseen unit per table; see `logs.estimation.mean`.
    unseen = 0.0
    start = 0
    for table, table_variances in zip(tables, variances, strict=True):
        end = start + len(table_variances)
        deviations = [math.sqrt(score_variance) for score_variance in table_variances]
        table_shares = _min_variance_shares(shares[start:end].tolist(), deviations)
        start = end
        # Scores of a table are correlated: the sum of all deviations bounds the deviation of the sum.
        spread = math.fsum(abs(share) * deviation for share, deviation in zip(table_shares, deviations, strict=True))
        variance += spread * spread / table.units
        for share, score in zip(table_shares, table.scores, strict=True):
            max_distance = max(bounds[1] - score.mean, score.mean - bounds[0])
            unseen += abs(share) * max_distance / table.units
    return interval_half_width(math.sqrt(variance), unseen)


def _min_variance_shares(shares: Sequence[float], deviations: Sequence[float]) -> list[float]:
    """Subtract from the shares their median, weighted by the deviations.

    The scores of a table sum to 0, so a constant added to all shares does not change the weighted sum of the scores.
    With the median subtracted, the sum of all terms' deviations is as small as possible.
    """
    order = sorted(range(len(shares)), key=shares.__getitem__)
    half = math.fsum(deviations) / 2
    total = 0.0
    for index in order:
        total += deviations[index]
        if total >= half:
            return [share - shares[index] for share in shares]
    return list(shares)
