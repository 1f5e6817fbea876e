"""Sums over deals, from which all estimators follow: means, errors, and weights fitted on other deals.

A deal is a row of numbers: 1, the hands played of it, and for each column the sum over these hands. All that is kept
are the products of the rows with themselves, added up in two folds. Any estimator is a set of weights of the columns:
its mean and its error follow from the products.

Columns whose mean is 0 may be added with any weights, as long as these do not come from the same deals. So weights are
fitted by least squares on one fold and used on the other one, and the other way round: the estimate stays unbiased.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["DEALS_PER_WEIGHT", "HANDS", "ONE", "CrossSums", "Mean"]

ONE: Final = 0
HANDS: Final = 1
"""The first two columns."""

DEALS_PER_WEIGHT: Final = 20
"""Deals of a fold for each weight that is fitted on them: with fewer, the fit would add noise of its own."""

_FOLDS: Final = 2
_RELATIVE_ZERO: Final = 1e-9
"""Columns that are 0, or combinations of others, to this part of their size get no weight of their own: what is left of
them is rounding, whose mean is not 0."""


class Mean(NamedTuple):
    """A mean over hands.

    Attributes:
        mean: per hand.
        variance: of the linearised score of a deal (Cochran 1977, "Sampling Techniques", chapter 6), whose mean is the
            same: the square of the standard error is this over the number of deals.
        deals: how many.
        hands: how many.
    """

    mean: float
    variance: float
    deals: int
    hands: int


class CrossSums:
    """The sums over deals in two folds."""

    def __init__(self, columns: int) -> None:
        self._products = np.zeros((_FOLDS, columns, columns))

    def add(self, rows: NDArray[np.float64], folds: NDArray[np.int64]) -> None:
        """Count deals.

        Args:
            rows: shape (deals, columns): 1, the hands, then the sums over these.
            folds: of each deal, 0 or 1; must not depend on its cards.
        """
        for fold in range(_FOLDS):
            of_fold = rows[folds == fold]
            self._products[fold] += of_fold.T @ of_fold

    @property
    def deals(self) -> int:
        """How many deals have been counted."""
        return round(float(self._products[:, ONE, ONE].sum()))

    @property
    def hands(self) -> int:
        """How many hands have been counted."""
        return round(float(self._products[:, ONE, HANDS].sum()))

    def mean(self, column: int, added: Sequence[int] = ()) -> Mean:
        """The mean of the sum of some columns."""
        weights = np.zeros(self._products.shape[1])
        weights[[column, *added]] = 1.0
        return self._mean([weights] * _FOLDS)

    def may_fit(self, columns: Sequence[int]) -> bool:
        """Whether there are deals enough to fit weights of columns."""
        used = sum([bool(self._products[:, column, column].any()) for column in columns])
        fewest = min([float(fold[ONE, ONE]) for fold in self._products])
        return fewest >= DEALS_PER_WEIGHT * (used + 1)

    def fitted_mean(self, column: int, columns: Sequence[int]) -> Mean:
        """The mean of a column with others added, whose weights were fitted on the deals of the other fold."""
        return self._mean([self._fitted(1 - fold, column, list(columns)) for fold in range(_FOLDS)])

    def _fitted(self, fold: int, column: int, columns: list[int]) -> NDArray[np.float64]:
        """The weights with which least is left of a column's spread."""
        products = self._products[fold]
        used = [HANDS, *columns]
        squares = products[np.ix_(used, used)]
        scale = np.sqrt(np.diag(squares))
        is_rounding = scale <= _RELATIVE_ZERO * np.sqrt(products[column, column])
        squares = np.where(is_rounding | is_rounding[:, np.newaxis], 0.0, squares)
        scale[is_rounding] = np.inf
        solved = np.linalg.lstsq(squares / np.outer(scale, scale), products[used, column] / scale, rcond=_RELATIVE_ZERO)
        weights = np.zeros(len(products))
        weights[column] = 1.0
        weights[columns] -= (solved[0] / scale)[1:]
        return weights

    def _mean(self, weights: Sequence[NDArray[np.float64]]) -> Mean:
        deals, hands = self.deals, self.hands
        total = sum([float(products[ONE] @ one) for products, one in zip(self._products, weights, strict=True)])
        mean = total / hands
        spread = left = 0.0
        for products, one in zip(self._products, weights, strict=True):
            residual = one.copy()
            residual[HANDS] -= mean
            spread += float(residual @ products @ residual)
            left += float(products[ONE] @ residual)
        variance = max(0.0, spread - left * left / deals) / (deals - 1) if deals > 1 else 0.0
        return Mean(mean, variance * (deals / hands) ** 2, deals, hands)
