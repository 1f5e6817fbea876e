"""Sums over deals, and estimators from them whose weights are fitted on other deals.

A deal is a row of numbers: 1, the hands played of it, and for each column the sum over these hands. Only the products
of two and of three entries of a row are kept, added up in two folds. An estimator is a vector of weights of the
columns, and its mean, its standard error and its skewness follow from the products.

Columns of mean 0 can be added with any weights that do not depend on the same deal. Weights are therefore fitted by
least squares on one fold and applied to the other fold, and the estimate stays unbiased.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logs.estimation import RunningMean

ONE: Final = 0
HANDS: Final = 1
"""The first two columns of a row."""

_DEALS_PER_WEIGHT: Final = 20
"""Deals of a fold needed for each weight that is fitted on them. With fewer the fit would add noise of its own."""

MIN_DEALS_PER_FOLD: Final = 2 * _DEALS_PER_WEIGHT
"""Deals of a fold needed to fit the mean and one weight."""

_FOLDS: Final = 2
_RELATIVE_ZERO: Final = 1e-9
"""Relative size below which a column is rounding, and gets no weight of its own.

Such a column is 0 or a combination of others, and its remainder does not have mean 0.
"""


class CrossSums:
    """Products of the rows of deals, summed in two folds."""

    def __init__(self, columns: int) -> None:
        # Shape (folds, columns, columns).
        self._products = np.zeros((_FOLDS, columns, columns))
        # Shape (folds, columns, columns, columns).
        self._triple_products = np.zeros((_FOLDS, columns, columns, columns))

    def add(self, rows: NDArray[np.float64], folds: NDArray[np.int64]) -> None:
        """Count deals.

        Args:
            rows: shape (deals, columns): 1, the number of hands, then the sums over these hands.
            folds: fold of each deal, 0 or 1; must not depend on its cards.
        """
        for fold in range(_FOLDS):
            fold_rows = rows[folds == fold]
            self._products[fold] += fold_rows.T @ fold_rows
            for column in range(rows.shape[1]):
                self._triple_products[fold, column] += (fold_rows[:, column : column + 1] * fold_rows).T @ fold_rows

    @property
    def deals(self) -> int:
        """Number of deals counted."""
        return round(float(self._products[:, ONE, ONE].sum()))

    @property
    def hands(self) -> int:
        """Number of hands counted."""
        return round(float(self._products[:, ONE, HANDS].sum()))

    def mean(self, column: int, added: Sequence[int] = ()) -> RunningMean:
        """Return the mean over hands of the sum of some columns; its units are deals."""
        weights = np.zeros(self._products.shape[1])
        weights[[column, *added]] = 1.0
        return self._mean([weights] * _FOLDS)

    @property
    def may_fit(self) -> bool:
        return self._min_fold_deals >= MIN_DEALS_PER_FOLD

    @property
    def _min_fold_deals(self) -> float:
        return min([float(products[ONE, ONE]) for products in self._products])

    def fitted_mean(self, column: int, columns: Sequence[int], plain: Sequence[int]) -> RunningMean | None:
        """Return the mean of a column with others added, with weights fitted on the deals of the other fold.

        Args:
            columns: columns that get a weight each, if there are enough deals for that.
            plain: columns that get one weight together, if there are enough deals for one weight only.

        Returns:
            None with too few deals for any weight.
        """
        # The number of deals alone decides which weights are fitted. A choice by the results would cause a bias.
        used_columns = [index for index in columns if self._products[:, index, index].any()]
        unit_vectors = np.eye(self._products.shape[1])
        if self._min_fold_deals >= _DEALS_PER_WEIGHT * (len(used_columns) + 1):
            terms = unit_vectors[list(columns)]
        elif self.may_fit:
            terms = unit_vectors[list(plain)].sum(axis=0, keepdims=True)
        else:
            return None
        return self._mean([self._fit_weights(1 - fold, column, terms) for fold in range(_FOLDS)])

    def _fit_weights(self, fold: int, column: int, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights, shape (columns,), with the least variance of a column plus terms in a fold.

        Args:
            terms: shape (terms, columns), each a combination of columns that gets one weight.
        """
        products = self._products[fold]
        hands = np.zeros((1, len(products)))
        hands[0, HANDS] = 1.0
        # The number of hands is a regressor for the mean, since the mean is one over hands.
        regressors = np.concatenate([hands, terms])
        # Normal equations of the least squares, shape (regressors, regressors), scaled to a diagonal of ones.
        squares = regressors @ products @ regressors.T
        scale = np.sqrt(np.maximum(0.0, np.diag(squares)))
        is_rounding = scale <= _RELATIVE_ZERO * np.sqrt(products[column, column])
        squares = np.where(is_rounding | is_rounding[:, np.newaxis], 0.0, squares)
        scale[is_rounding] = np.inf
        scaled_squares = squares / np.outer(scale, scale)
        scaled_products = regressors @ products[column] / scale
        solution = np.linalg.lstsq(scaled_squares, scaled_products, rcond=_RELATIVE_ZERO)[0]
        weights: NDArray[np.float64] = -(solution / scale)[1:] @ terms
        weights[column] += 1.0
        return weights

    def _mean(self, weights: Sequence[NDArray[np.float64]]) -> RunningMean:
        """Return the mean over hands of the columns weighted by fold.

        The variance of this ratio of two sums is that of the linearised score of a deal, the weighted sum minus the
        mean times the hands, times deals / hands (Cochran 1977, "Sampling Techniques", chapter 6).
        """
        deals = self.deals
        hands = self.hands
        total = 0.0
        for products, fold_weights in zip(self._products, weights, strict=True):
            total += float(products[ONE] @ fold_weights)
        mean = total / hands
        residual_squares = 0.0
        residual_cubes = 0.0
        residual_sum = 0.0
        for products, triples, fold_weights in zip(self._products, self._triple_products, weights, strict=True):
            residual = fold_weights.copy()
            residual[HANDS] -= mean
            residual_squares += float(residual @ products @ residual)
            residual_cubes += float(residual @ (triples @ residual) @ residual)
            residual_sum += float(products[ONE] @ residual)
        # Sums of powers of the distances from the residuals' own mean, which is 0 but for fitted weights.
        own_mean = residual_sum / deals
        squares = residual_squares - residual_sum * own_mean
        cubes = residual_cubes - 3 * own_mean * residual_squares + 2 * residual_sum * own_mean**2
        scale = deals / hands
        return RunningMean.from_moments(deals, mean, squares * scale**2, cubes * scale**3)
