"""Chance-corrected values of single hands, for scores of a match that is being played.

The corrected value of a hand is the chips won plus the pot terms of `logs.variance.terms`, which take out the luck of
the cards. There are no fitted weights, so that a hand's corrected value has the expectation of its chips, given any
hands before it. Scores made of it can therefore stop a match as scores of chips do, with bounds of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine import Deal, Game
from engine.holdem import is_holdem
from logs.estimation.mean import Bounds, possible_losses
from logs.record import HandRecord
from logs.variance.cross_fitting import MIN_DEALS_PER_FOLD
from logs.variance.terms import PotRow, Shares, chance_terms, term_values

_ROUNDING: Final = 1e-9
_MAX_BETTINGS: Final = 1 << 14
"""Betting lines whose terms are cached."""


class ChanceCorrection:
    """Correct hands of one game whose hole cards are all known."""

    def __init__(self, game: Game) -> None:
        self._rounds = game.num_rounds
        self._shares = Shares(game)
        self._terms = lru_cache(_MAX_BETTINGS)(chance_terms)
        if is_holdem(game):
            # Compile the kernel now. During a match it would be compiled while the players' clocks run.
            cards = iter(game.deck)
            holes = tuple((next(cards), next(cards)) for _ in range(game.num_players))
            self._shares.of([Deal(holes, ())], np.zeros(1, np.int64), [PotRow(0b11, 0)], [0])

    def values(self, records: Sequence[HandRecord]) -> list[list[float]]:
        """Return the corrected chips of one or more hands, by position."""
        terms = [self._terms(record.betting) for record in records]
        streams = [record.hand_number for record in records]
        deals = [record.deal for record in records]
        # Shape (hands, players): the sum of the pot terms, which are the first columns.
        corrections = term_values(self._shares, deals, terms, streams)[:, :, : self._rounds].sum(axis=2)
        corrected = []
        for record, hand_corrections in zip(records, corrections.tolist(), strict=True):
            pairs = zip(record.values, hand_corrections, strict=True)
            corrected.append([value + correction for value, correction in pairs])
        return corrected


def fitted_scores(raw: NDArray[np.float64], corrected: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Correct scores with the weights that remove most of the luck, each fitted on other deals.

    The deals are split in two halves. Each half takes the weight of the correction, one for every player, from the
    other half by least squares. As a correction has mean 0, the scores stay unbiased.

    Args:
        raw: scores of deals, shape (deals, players).
        corrected: chance-corrected scores of the same deals, of the same shape.

    Returns:
        Scores of shape (deals, players); None with too few deals to fit a weight, and if no score is corrected, as in
        duplicates of Kuhn poker.
    """
    deals, players = raw.shape
    # Runs of as many deals as players: both halves have every position equally often.
    halves = np.arange(deals) // players % 2
    if min(np.count_nonzero(halves == half) for half in (0, 1)) < MIN_DEALS_PER_FOLD:
        return None
    corrections = corrected - raw
    if np.abs(corrections).max() <= _ROUNDING * max(1.0, np.abs(raw).max()):
        return None
    scores = raw.copy()
    for half in (0, 1):
        is_other = halves != half
        # Slope of the regression of raw scores on corrections in the other half, by player. Corrections are not
        # centred, as their mean is known to be 0.
        centred = raw[is_other] - raw[is_other].mean(axis=0)
        squares = (corrections[is_other] ** 2).sum(axis=0)
        weights = -(centred * corrections[is_other]).sum(axis=0) / np.where(squares > 0, squares, 1.0)
        scores[~is_other] += weights * corrections[~is_other]
    return scores


def corrected_bounds(game: Game) -> Bounds:
    """Return the lowest and the highest corrected score of a hand, in mbb."""
    losses = possible_losses(game)
    pot = sum(losses)
    to_mbb = 1000 / game.big_blind
    # A correction is the sum over chips of the changes of a chip's expected share with the cards of each round.
    # Heads-up these changes form one path from the round in which the chip is bet to the end, a difference of two
    # shares between -1 and 1, so that the corrections of all chips add up to at most the largest pot. With more
    # players, an expected share also grows when a player folds, which no round's cards account for, by at most 1 a
    # round.
    max_correction = pot if game.num_players == 2 else game.num_rounds * pot
    return -(max(losses) + pot) * to_mbb, (pot - min(losses) + max_correction) * to_mbb
