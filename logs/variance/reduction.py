"""Count hands for all estimators of win rates.

    reduction = Reduction()
    for record in find(["runs/x"]).by_deal():
        reduction.add(record)
    print(reduction.estimates())

Hands of the same deal must be consecutive, as `HandSource.by_deal` yields them, because a deal is a unit. Memory does
not grow with the number of hands. `HandCorrections` adds terms that need more than the hands, such as those of players
whose policy is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine import Card, Game
from engine.equity import shares_refusal
from logs.estimation import Bounds, RunningMean, score_bounds
from logs.files import is_plain
from logs.hand_source import HandFile, HandSource
from logs.record import HandRecord
from logs.tracker.all_in import AllInExpectations, board_before_showdown
from logs.tracker.columns import without_stacks
from logs.variance.cross_fitting import HANDS, ONE, CrossSums
from logs.variance.estimates import Estimates, Estimator, GameEstimates, Omission, PlayerEstimates, WinRateEstimate
from logs.variance.terms import Shares, Terms, chance_columns, chance_terms, term_values

# Columns of a row of `CrossSums`, after ONE and HANDS. The terms follow.
_RAW: Final = 2
_ADJUSTED: Final = 3
_FIRST_TERM: Final = 4
_BATCH_HANDS: Final = 4096
_MAX_BETTINGS: Final = 1 << 14
"""Betting lines whose terms are cached."""
_CHANCE_NAME: Final = "chance-corrected and AIVAT"


class HandCorrections(Protocol):
    """Terms of mean 0 of the actions of players whose policy is known."""

    @property
    def columns(self) -> Mapping[str, range]:
        """Columns of each player, first the term of the value function."""
        ...

    @property
    def doubts(self) -> Mapping[str, str]:
        """For a player whose policy may not be that of all its hands, the reason in words."""
        ...

    @property
    def ranges(self) -> Mapping[tuple[str, ...], range]:
        """Columns of the mean over the hole cards of some players, first the term of the value function."""
        ...

    @property
    def estimates(self) -> Mapping[tuple[str, ...], int]:
        """Column of the whole estimate of a hand less the chips won, by the known players."""
        ...

    def terms(self, record: HandRecord, stream: int) -> Terms:
        """Return the terms of a hand; the stream is as for `logs.variance.terms.Shares.of`."""
        ...


class _Correction(NamedTuple):
    """An estimator with corrections.

    Attributes:
        names: players whose policies are known.
        columns: terms that a fit can weight.
        values: terms that are added without a fit.
    """

    estimator: Estimator
    names: tuple[str, ...]
    columns: list[int]
    values: list[int]


class Reduction:
    """Count hands of any games for all estimators."""

    def __init__(self, corrections: Callable[[Game], HandCorrections] | None = None) -> None:
        """Start without a hand.

        Args:
            corrections: constructor of the corrections of a game, called with the first hand of the game.
        """
        self._corrections = corrections
        self._games: dict[Game, _GameSums] = {}
        # Consecutive hands mostly share a game object, for which no key has to be made.
        self._last_game: Game | None = None
        self._last_sums: _GameSums | None = None

    def add(self, record: HandRecord) -> None:
        sums = self._last_sums
        if sums is None or record.game is not self._last_game:
            sums = self._sums_for(record.game)
            self._last_game = record.game
            self._last_sums = sums
        sums.add(record)

    def _sums_for(self, game: Game) -> _GameSums:
        key = without_stacks(game)
        sums = self._games.get(key)
        if sums is None:
            corrections = None if self._corrections is None else self._corrections(game)
            sums = self._games[key] = _GameSums(key, corrections)
        return sums

    @property
    def players(self) -> tuple[str, ...]:
        """Players of all games in order of appearance, except for hands not yet added up."""
        names: dict[str, None] = {}
        for sums in self._games.values():
            names.update(dict.fromkeys(sums.players))
        return tuple(names)

    def estimates(self) -> Estimates:
        """Return all win rates by all estimators; more hands can be added later, beginning with a new deal."""
        return Estimates(games=[sums.estimates() for sums in self._games.values()])


class _GameSums:
    """Hands of one game, added up by player.

    Hands are collected in batches, so that expected shares and sums are computed for many hands at once.
    """

    def __init__(self, game: Game, corrections: HandCorrections | None) -> None:
        self._game = game
        self._corrections = corrections
        self._refusal = shares_refusal(game)
        self._shares = None if self._refusal else Shares(game)
        self._expectations = AllInExpectations(game) if AllInExpectations.exist_for(game) else None
        self._chance_columns = chance_columns(game)
        self._columns = _FIRST_TERM + self._chance_columns
        if corrections is not None:
            self._columns += sum(map(len, corrections.columns.values()))
            self._columns += sum(map(len, corrections.ranges.values()))
            self._columns += len(corrections.estimates)
        self._bounds: Bounds = score_bounds(game)
        self._stacks: set[tuple[int, ...]] = set()
        self._board_before_showdown = lru_cache(_MAX_BETTINGS)(board_before_showdown)
        self._chance_terms = lru_cache(_MAX_BETTINGS)(chance_terms)
        self._player_indices: dict[str, int] = {}
        # By player index.
        self._sums: list[CrossSums] = []
        self._raw: list[RunningMean] = []
        # The current batch: its hands, and the number of the deal of each.
        self._pending: list[HandRecord] = []
        self._deal_numbers: list[int] = []
        self._last_deal: tuple[int, tuple[tuple[Card, ...], ...]] = (-1, ())
        self._deals = 0
        self._hands = 0
        self._hidden_hands = 0

    # ---- counting

    def add(self, record: HandRecord) -> None:
        holes = record.deal.hole_cards
        shows_all = all(holes)
        deal = (record.hand_number, holes)
        # A hand with unknown cards is a deal of its own, as nothing shows that it has the cards of the one before.
        if deal != self._last_deal or not shows_all:
            self._last_deal = deal
            # A batch ends with a deal, so that the hands of a deal are added up within one batch.
            if len(self._pending) >= _BATCH_HANDS:
                self._flush()
            self._deals += 1
        self._hands += 1
        if not shows_all:
            self._hidden_hands += 1
        if record.game.stacks not in self._stacks:
            self._widen_bounds(record.game)
        self._pending.append(record)
        self._deal_numbers.append(self._deals - 1)

    def _widen_bounds(self, game: Game) -> None:
        lowest, highest = score_bounds(game)
        if self._stacks:
            lowest = min(lowest, self._bounds[0])
            highest = max(highest, self._bounds[1])
        self._bounds = (lowest, highest)
        self._stacks.add(game.stacks)

    def _flush(self) -> None:
        """Compute the rows of the current batch and add them up."""
        records = self._pending
        deal_numbers = np.array(self._deal_numbers, np.int64)
        self._pending = []
        self._deal_numbers = []
        if not records:
            return
        # Shape (hands, positions, columns). ONE is set when the hands of a deal are added up.
        rows = np.zeros((len(records), self._game.num_players, self._columns))
        rows[:, :, HANDS] = 1.0
        rows[:, :, _RAW] = [record.values for record in records]
        rows[:, :, _ADJUSTED] = rows[:, :, _RAW]
        if self._expectations is not None:
            for index, record in enumerate(records):
                board_cards = self._board_before_showdown(record.betting)
                if board_cards is None:
                    continue
                expected = self._expectations.values(record.betting, record.deal, board_cards)
                if expected is not None:
                    rows[index, :, _ADJUSTED] = expected
        if not self._hidden_hands and self._shares is not None:
            deals = [record.deal for record in records]
            streams = deal_numbers.tolist()
            end = _FIRST_TERM + self._chance_columns
            terms = [self._chance_terms(record.betting) for record in records]
            rows[:, :, _FIRST_TERM:end] = term_values(self._shares, deals, terms, streams)
            if self._corrections is not None:
                terms = []
                for record, stream in zip(records, streams, strict=True):
                    terms.append(self._corrections.terms(record, stream))
                rows[:, :, end:] = term_values(self._shares, deals, terms, streams)
        # From chips to mbb per hand.
        rows[:, :, _RAW:] *= 1000 / float(self._game.big_blind)
        self._add_rows(records, rows, deal_numbers)

    def _add_rows(
        self, records: Sequence[HandRecord], rows: NDArray[np.float64], deal_numbers: NDArray[np.int64]
    ) -> None:
        """Add up the rows of hands by deal and player."""
        # Player index by hand and position.
        indices = np.array([[self._player_index(name) for name in record.names] for record in records], np.int64)
        players = len(self._sums)
        keys = (deal_numbers[:, np.newaxis] * players + indices).ravel()
        flat_rows = rows.reshape(len(keys), -1)
        # One row for each deal and player, in order of deals.
        deal_keys, first_indices, inverse = np.unique(keys, return_index=True, return_inverse=True)
        deal_rows = np.zeros((len(deal_keys), flat_rows.shape[1]))
        np.add.at(deal_rows, inverse.ravel(), flat_rows)
        deal_rows[:, ONE] = 1.0
        # Runs of as many deals as players: both folds have every position equally often.
        folds = deal_keys // players // self._game.num_players % 2
        first_raw = flat_rows[first_indices, _RAW]
        for player, (sums, raw) in enumerate(zip(self._sums, self._raw, strict=True)):
            is_player = deal_keys % players == player
            sums.add(deal_rows[is_player], folds[is_player])
            for value in first_raw[is_player].tolist():
                raw.add(value)

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(self._player_indices)

    def _player_index(self, name: str) -> int:
        index = self._player_indices.get(name)
        if index is None:
            index = self._player_indices[name] = len(self._sums)
            self._sums.append(CrossSums(self._columns))
            self._raw.append(RunningMean())
        return index

    # ---- estimates

    def estimates(self) -> GameEstimates:
        self._flush()
        players = []
        for index, name in enumerate(self._player_indices):
            players.append(PlayerEstimates(player=name, estimates=self._player_estimates(index)))
        return GameEstimates(
            game=_describe(self._game),
            hands=self._hands,
            deals=self._deals,
            players=players,
            omitted=self._omissions(),
        )

    @property
    def _shares_problem(self) -> str | None:
        """Reason for which there are no expected shares, and so no corrections; None if there are."""
        if self._refusal is not None:
            return self._refusal
        if self._hidden_hands:
            return (
                f"in {self._hidden_hands:,} of {self._hands:,} hands some hole cards are unknown; "
                "ACPC logs have them all"
            )
        return None

    def _omissions(self) -> list[Omission]:
        omissions = []
        problem = self._shares_problem
        if self._deals == self._hands:
            reason = "every deal was played once; arena play --duplicate plays it in every seating"
            omissions.append(Omission(estimator=Estimator.DUPLICATE.value, reason=reason))
        if problem is not None:
            omissions.append(Omission(estimator=_CHANCE_NAME, reason=problem))
        if self._expectations is None:
            reason = "all-in hands of this game have too many boards to be counted"
            omissions.append(Omission(estimator=Estimator.ALL_IN.value, reason=reason))
        if problem is None and not all(sums.may_fit for sums in self._sums):
            omissions.append(Omission(estimator="fitted weights", reason="too few deals to fit any"))
        return omissions

    def _correction_estimators(self) -> list[_Correction]:
        chance = list(range(_FIRST_TERM, _FIRST_TERM + self._chance_columns))
        # The second half of the chance terms, the share terms, are for fitted weights only.
        pot_terms = chance[: self._chance_columns // 2]
        estimators = [_Correction(Estimator.CHANCE, (), chance, pot_terms)]
        if self._corrections is None:
            return estimators
        first = _FIRST_TERM + self._chance_columns
        player_columns = {
            name: [first + column for column in columns] for name, columns in self._corrections.columns.items()
        }
        for number in range(1, len(player_columns) + 1):
            for names in combinations(player_columns, number):
                if names in self._corrections.estimates:
                    column = first + self._corrections.estimates[names]
                    estimators.append(_Correction(Estimator.AIVAT, names, [*chance, column], [column]))
                    continue
                columns = list(chance)
                values = list(pot_terms)
                for name in names:
                    columns += player_columns[name]
                    # The term of the value function; the others are for fitted weights only.
                    values.append(player_columns[name][0])
                estimators.append(_Correction(Estimator.AIVAT, names, columns, values))
        for names, ranges in self._corrections.ranges.items():
            mean_columns = [first + column for column in ranges]
            columns = list(chance)
            for name in names:
                columns += player_columns[name]
            columns += mean_columns
            estimators.append(_Correction(Estimator.RANGES, names, columns, [*pot_terms, mean_columns[0]]))
        return estimators

    def _player_estimates(self, player: int) -> list[WinRateEstimate]:
        sums = self._sums[player]
        raw = self._raw[player]
        estimates = [self._estimate(Estimator.RAW, raw, raw, raw.count)]
        if self._deals < self._hands:
            estimates.append(self._estimate(Estimator.DUPLICATE, sums.mean(_RAW), raw, sums.hands))
        if self._expectations is not None:
            estimates.append(self._estimate(Estimator.ALL_IN, sums.mean(_ADJUSTED), raw, sums.hands))
        if self._shares_problem is not None:
            return estimates
        for correction in self._correction_estimators():
            mean = sums.mean(_RAW, correction.values)
            estimates.append(self._estimate(correction.estimator, mean, raw, sums.hands, correction.names))
            fitted = sums.fitted_mean(_RAW, correction.columns, correction.values)
            # Each deal's residual has weights from the other fold, so a smaller variance is one out of sample.
            if fitted is not None and (fitted.variance or 0.0) < (mean.variance or 0.0):
                estimates.append(
                    self._estimate(correction.estimator, fitted, raw, sums.hands, correction.names, is_fitted=True)
                )
        return estimates

    def _estimate(
        self,
        estimator: Estimator,
        mean: RunningMean,
        raw: RunningMean,
        hands: int,
        known: Sequence[str] = (),
        *,
        is_fitted: bool = False,
    ) -> WinRateEstimate:
        mean.bounds = self._bounds
        variance = mean.variance or 0.0
        raw_variance = raw.variance or 0.0
        # A variance of 0 is not exactly 0 after rounding.
        is_exact = variance <= 1e-12 * raw_variance
        worth_raw_hands = None
        if mean.count >= 2 and not is_exact:
            worth_raw_hands = raw_variance / variance * mean.count
        return WinRateEstimate(
            estimator=estimator,
            known=list(known),
            is_fitted=is_fitted,
            mbb_per_game=mean.mean,
            half_width_95=mean.half_width(),
            guaranteed_half_width=mean.guaranteed_half_width(),
            standard_error=mean.standard_error,
            hands=hands,
            deals=mean.count,
            worth_raw_hands=worth_raw_hands,
            warning=self._warning(estimator, known),
        )

    def _warning(self, estimator: Estimator, known: Sequence[str]) -> str | None:
        if known and self._corrections is not None:
            doubts = [doubt for name, doubt in self._corrections.doubts.items() if name in known]
            return "; ".join(doubts) or None
        if estimator is Estimator.ALL_IN and self._hidden_hands:
            return "folded cards that the hands do not show are left in the deck, which biases the estimate slightly"
        return None


def _describe(game: Game) -> str:
    kind = "limit" if game.is_limit else "no-limit"
    return f"{kind}, {game.num_players} players, blinds {'/'.join(map(str, game.blinds))}"


_PROGRESS_HANDS: Final = 500
_READ_BYTES: Final = 1 << 20


def reduce_hands(
    source: HandSource, reduction: Reduction, *, on_progress: Callable[[float | None], None] | None = None
) -> int:
    """Count hands, each once: copies of files are left out and reported as problems.

    Args:
        on_progress: called with the part of the hands that has been counted, or None if the files do not show how many
            they have.

    Returns:
        Number of hands counted.

    Raises:
        LogError: a file cannot be read at all.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    source = source.without_copies()
    total = None if on_progress is None else _count_states(source.files)
    hands = 0
    for hands, record in enumerate(source.by_deal(), 1):
        reduction.add(record)
        if on_progress is not None and hands % _PROGRESS_HANDS == 0:
            on_progress(min(1.0, hands / total) if total else None)
    return hands


def _count_states(files: Sequence[HandFile]) -> int | None:
    """Count the hands of files roughly, for the progress; None if a file is compressed or no ACPC log."""
    if not all(file.format is None and is_plain(file.path) for file in files):
        return None
    hands = 0
    for file in files:
        with open(file.path, "rb") as log:
            while chunk := log.read(_READ_BYTES):
                # A marker across two chunks is missed, which does not matter for a progress bar.
                hands += chunk.count(b"\nSTATE:")
    return hands
