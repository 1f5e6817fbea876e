"""Sums over deals, from which all estimators follow: means, errors, and weights fitted on other deals.

A deal is a row of numbers: 1, the hands played of it, and for each column the sum over these hands. All that is kept
are the products of the rows with themselves, added up in two folds. Any estimator is a set of weights of the columns:
its mean and its error follow from the products.

Columns whose mean is 0 may be added with any weights, as long as these do not come from the same deals. So weights are
fitted by least squares on one fold and used on the other one, and the other way round: the estimate stays unbiased.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logs.estimation import RunningMean

ONE: Final = 0
HANDS: Final = 1
"""The first two columns."""

DEALS_PER_WEIGHT: Final = 20
"""Deals of a fold for each weight that is fitted on them: with fewer, the fit would add noise of its own."""

FEWEST_DEALS_A_FOLD: Final = 2 * DEALS_PER_WEIGHT
"""For one weight next to the mean."""

_FOLDS: Final = 2
_RELATIVE_ZERO: Final = 1e-9
"""Columns that are 0, or combinations of others, to this part of their size get no weight of their own: what is left of
them is rounding, whose mean is not 0."""


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

    def mean(self, column: int, added: Sequence[int] = ()) -> RunningMean:
        """The mean over hands of the sum of some columns, its units being deals.

        Its variance is that of the linearised score of a deal (Cochran 1977, "Sampling Techniques", chapter 6), whose
        mean is the same.
        """
        weights = np.zeros(self._products.shape[1])
        weights[[column, *added]] = 1.0
        return self._mean([weights] * _FOLDS)

    @property
    def may_fit(self) -> bool:
        """Whether there are deals enough to fit any weight."""
        return self._fewest >= FEWEST_DEALS_A_FOLD

    @property
    def _fewest(self) -> float:
        return min([float(fold[ONE, ONE]) for fold in self._products])

    def fitted_mean(self, column: int, columns: Sequence[int], plain: Sequence[int]) -> RunningMean | None:
        """The mean of a column with others added, whose weights were fitted on the deals of the other fold.

        Which weights are fitted follows from the number of deals alone, so that the mean stays unbiased.

        Args:
            columns: those that may be added, each with a weight of its own, if there are deals enough for all.
            plain: those that are added with one weight in common, if there are deals enough for that.

        Returns:
            None with too few deals for any weight.
        """
        fewest = self._fewest
        used = sum([bool(self._products[:, one, one].any()) for one in columns])
        every = np.eye(self._products.shape[1])
        if fewest >= DEALS_PER_WEIGHT * (used + 1):
            terms = every[list(columns)]
        elif self.may_fit:
            terms = every[list(plain)].sum(axis=0, keepdims=True)
        else:
            return None
        return self._mean([self._fitted(1 - fold, column, terms) for fold in range(_FOLDS)])

    def _fitted(self, fold: int, column: int, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weights with which least is left of a column's spread, each row of `terms` having one."""
        products = self._products[fold]
        hands = np.zeros((1, len(products)))
        hands[0, HANDS] = 1.0
        used = np.concatenate([hands, terms])
        squares = used @ products @ used.T
        scale = np.sqrt(np.maximum(0.0, np.diag(squares)))
        is_rounding = scale <= _RELATIVE_ZERO * np.sqrt(products[column, column])
        squares = np.where(is_rounding | is_rounding[:, np.newaxis], 0.0, squares)
        scale[is_rounding] = np.inf
        along = used @ products[column] / scale
        solved = np.linalg.lstsq(squares / np.outer(scale, scale), along, rcond=_RELATIVE_ZERO)
        weights: NDArray[np.float64] = -(solved[0] / scale)[1:] @ terms
        weights[column] += 1.0
        return weights

    def _mean(self, weights: Sequence[NDArray[np.float64]]) -> RunningMean:
        deals = self.deals
        hands = self.hands
        total = sum([float(products[ONE] @ one) for products, one in zip(self._products, weights, strict=True)])
        mean = total / hands
        spread = left = 0.0
        for products, one in zip(self._products, weights, strict=True):
            residual = one.copy()
            residual[HANDS] -= mean
            spread += float(residual @ products @ residual)
            left += float(products[ONE] @ residual)
        return RunningMean.from_moments(deals, mean, (spread - left * left / deals) * (deals / hands) ** 2)
