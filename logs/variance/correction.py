"""Single hands without the luck of the cards: what they are worth chance-corrected, as they come.

The corrected value of a hand is the chips won less what the cards brought beyond their expectation: the pot terms of
`logs.variance.terms`, with no weights that would have to be fitted. Its expectation is that of the chips, hand by hand,
whatever was decided from hands before. So scores made of it may stop a match as scores of chips may, with bounds of
their own.
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
from logs.variance.cross_fitting import FEWEST_DEALS_A_FOLD
from logs.variance.terms import PotRow, Shares, chance_terms, term_values

_ROUNDING: Final = 1e-9
_MAX_BETTINGS: Final = 1 << 14
"""Betting lines whose terms are remembered."""


class ChanceCorrection:
    """Corrects hands of one game, all hole cards known."""

    def __init__(self, game: Game) -> None:
        self._rounds = game.num_rounds
        self._shares = Shares(game)
        self._terms = lru_cache(_MAX_BETTINGS)(chance_terms)
        if is_holdem(game):
            # Compiled now, not in the middle of a match, whose clocks would run meanwhile.
            cards = iter(game.deck)
            holes = tuple((next(cards), next(cards)) for _ in range(game.num_players))
            self._shares.of([Deal(holes, ())], np.zeros(1, np.int64), [PotRow(0b11, 0)], [0])

    def values(self, records: Sequence[HandRecord]) -> list[list[float]]:
        """The corrected chips of each hand, by position; one or more hands."""
        terms = [self._terms(record.betting) for record in records]
        streams = [record.hand_number for record in records]
        found = term_values(self._shares, [record.deal for record in records], terms, streams)
        corrections = found[:, :, : self._rounds].sum(axis=2).tolist()
        return [
            [value + added for value, added in zip(record.values, of_hand, strict=True)]
            for record, of_hand in zip(records, corrections, strict=True)
        ]


def fitted_scores(raw: NDArray[np.float64], corrected: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Scores with as much of a correction as takes the most luck out, judged by other scores.

    The deals are split in two halves. Each half takes the weight of the correction, one for every player, from the
    other half by least squares. A correction has mean 0, so the scores stay unbiased; what does not vary stays as
    it is.

    Args:
        raw: scores of deals, shape (deals, players).
        corrected: the same less the luck of the cards.

    Returns:
        None with too few deals to fit a weight, and where nothing is corrected, as in duplicates of Kuhn poker.
    """
    deals, players = raw.shape
    # As many deals as players in a row: each half has every position as often as the other one.
    halves = np.arange(deals) // players % 2
    if min(np.count_nonzero(halves == half) for half in (0, 1)) < FEWEST_DEALS_A_FOLD:
        return None
    added = corrected - raw
    if np.abs(added).max() <= _ROUNDING * max(1.0, np.abs(raw).max()):
        return None
    found = raw.copy()
    for half in (0, 1):
        others = halves != half
        centred = raw[others] - raw[others].mean(axis=0)
        squares = (added[others] ** 2).sum(axis=0)
        weights = -(centred * added[others]).sum(axis=0) / np.where(squares > 0, squares, 1.0)
        found[~others] += weights * added[~others]
    return found


def corrected_bounds(game: Game) -> Bounds:
    """The lowest and the highest corrected score of a hand, in mbb.

    What the cards of a round bring is a chip's change of expected share, times the chips in the pot. Between two
    players a chip's shares are followed from when it came in to the end, so all its changes together are a share less
    another: from -1 to 1, and the sum over all chips is at most the largest pot, either way. Among more players an
    expected share also grows where a player folds, which no round's cards account for, at most by 1 a round.
    """
    losses = possible_losses(game)
    pot = sum(losses)
    to_mbb = 1000 / game.big_blind
    over = pot if game.num_players == 2 else game.num_rounds * pot
    return -(max(losses) + pot) * to_mbb, (pot - min(losses) + over) * to_mbb
