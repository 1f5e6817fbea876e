"""Hands in, win rates by all estimators out.

    reduction = Reduction()
    for record in find(["runs/x"]).by_deal():
        reduction.add(record)
    print(reduction.estimates())

Hands of the same deal must come one after the other, as `HandSource.by_deal` gives them: they are one unit. Memory
does not grow with the number of hands.

`HandCorrections` is how terms that need more than the hands are added, such as those of players whose policy is known.
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
from logs.variance.terms import (
    Shares,
    Terms,
    chance_columns,
    chance_terms,
    term_values,
)

_RAW = 2
_ADJUSTED = 3
_FIRST = 4
"""The columns behind `ONE` and `HANDS`; the terms follow."""
_BATCH: Final = 4096
_MAX_BETTINGS: Final = 1 << 14
"""Betting lines whose terms are remembered."""
_CHANCE_NAME: Final = "chance-corrected and AIVAT"


class HandCorrections(Protocol):
    """Terms of mean 0 of the actions of players whose policy is known."""

    @property
    def columns(self) -> Mapping[str, range]:
        """By player, its columns; the first one is the term of the value function."""
        ...

    @property
    def doubts(self) -> Mapping[str, str]:
        """By player, why its policy may not be that of all its hands, in words; nothing for the others."""
        ...

    @property
    def ranges(self) -> Mapping[tuple[str, ...], range]:
        """By players, the columns that make the mean over their holdings, the term of the value function first."""
        ...

    def terms(self, record: HandRecord, stream: int) -> Terms:
        """The terms of a hand; a stream as for `logs.variance.terms.Shares.of`."""
        ...


class _Correction(NamedTuple):
    """An estimator with corrections.

    Attributes:
        names: of the players whose policies are known.
        columns: all terms that it may weigh.
        values: those that it adds as they are.
    """

    estimator: Estimator
    names: tuple[str, ...]
    columns: list[int]
    values: list[int]


class Reduction:
    """Counts hands of any games for all estimators."""

    def __init__(self, corrections: Callable[[Game], HandCorrections] | None = None) -> None:
        """Start without a hand.

        Args:
            corrections: makes those of players whose policy is known, for a game that has come up.
        """
        self._corrections = corrections
        self._games: dict[Game, _GameSums] = {}
        self._last: tuple[Game | None, _GameSums | None] = None, None

    def add(self, record: HandRecord) -> None:
        """Count a hand."""
        last, sums = self._last
        if record.game is not last:
            game = without_stacks(record.game)
            sums = self._games.get(game)
            if sums is None:
                sums = self._games[game] = _GameSums(game, self._corrections and self._corrections(record.game))
            self._last = record.game, sums
        assert sums is not None
        sums.add(record)

    @property
    def players(self) -> tuple[str, ...]:
        """The players of all games, in the order in which they came, as far as hands have been counted up."""
        return tuple(dict.fromkeys([name for sums in self._games.values() for name in sums.players]))

    def estimates(self) -> Estimates:
        """All win rates by all estimators; counting may continue afterwards, with another deal."""
        return Estimates(games=[sums.estimates() for sums in self._games.values()])


class _GameSums:
    def __init__(self, game: Game, corrections: HandCorrections | None) -> None:
        self._game = game
        self._corrections = corrections
        self._refusal = shares_refusal(game)
        self._shares = None if self._refusal else Shares(game)
        self._expectations = AllInExpectations(game) if AllInExpectations.exist_for(game) else None
        self._chance = chance_columns(game)
        self._columns = _FIRST + self._chance
        if corrections is not None:
            self._columns += sum(map(len, (*corrections.columns.values(), *corrections.ranges.values())))
        self._bounds: Bounds = score_bounds(game)
        self._stacks: set[tuple[int, ...]] = set()
        self._board_before_showdown = lru_cache(_MAX_BETTINGS)(board_before_showdown)
        self._chance_terms = lru_cache(_MAX_BETTINGS)(chance_terms)
        self._players: dict[str, int] = {}
        self._sums: list[CrossSums] = []
        self._raw: list[RunningMean] = []
        self._pending: list[HandRecord] = []
        self._units: list[int] = []
        self._last: tuple[int, tuple[tuple[Card, ...], ...]] = (-1, ())
        self._deals = self._hands = self._hidden = 0

    # ---- counting

    def add(self, record: HandRecord) -> None:
        holes = record.deal.hole_cards
        key = record.hand_number, holes
        if key != self._last or not all(holes):
            self._last = key
            if len(self._pending) >= _BATCH:
                self._flush()
            self._deals += 1
        self._hands += 1
        self._hidden += not all(holes)
        if record.game.stacks not in self._stacks:
            low, high = score_bounds(record.game)
            first = not self._stacks
            self._bounds = (low, high) if first else (min(low, self._bounds[0]), max(high, self._bounds[1]))
            self._stacks.add(record.game.stacks)
        self._pending.append(record)
        self._units.append(self._deals - 1)

    def _flush(self) -> None:
        records = self._pending
        units = np.array(self._units, np.int64)
        self._pending = []
        self._units = []
        if not records:
            return
        players = self._game.num_players
        blind = float(self._game.big_blind)
        rows = np.zeros((len(records), players, self._columns))
        rows[:, :, ONE] = 0.0
        rows[:, :, HANDS] = 1.0
        rows[:, :, _RAW] = [record.values for record in records]
        rows[:, :, _ADJUSTED] = rows[:, :, _RAW]
        chance: list[Terms] = []
        for number, record in enumerate(records):
            board_cards = self._board_before_showdown(record.betting)
            if board_cards is not None and self._expectations is not None:
                expected = self._expectations.values(record.betting, record.deal, board_cards)
                if expected is not None:
                    rows[number, :, _ADJUSTED] = expected
            chance.append(self._chance_terms(record.betting))
        if not self._hidden and self._shares is not None:
            end = _FIRST + self._chance
            deals = [record.deal for record in records]
            streams = units.tolist()
            rows[:, :, _FIRST:end] = term_values(self._shares, deals, chance, streams)
            if self._corrections is not None:
                corrections = [self._corrections.terms(*one) for one in zip(records, streams, strict=True)]
                rows[:, :, end:] = term_values(self._shares, deals, corrections, streams)
        rows[:, :, _RAW:] *= 1000 / blind
        self._count(records, rows, units)

    def _count(self, records: Sequence[HandRecord], rows: NDArray[np.float64], units: NDArray[np.int64]) -> None:
        who = np.array([[self._player(name) for name in record.names] for record in records], np.int64)
        players = len(self._sums)
        keys = (units[:, np.newaxis] * players + who).ravel()
        flat = rows.reshape(len(keys), -1)
        found, first, place = np.unique(keys, return_index=True, return_inverse=True)
        by_deal = np.zeros((len(found), flat.shape[1]))
        np.add.at(by_deal, place.ravel(), flat)
        by_deal[:, ONE] = 1.0
        # As many deals as players in a row: each fold has every position as often as the other one.
        folds = found // players // self._game.num_players % 2
        raw = flat[first, _RAW]
        for player, (sums, mean) in enumerate(zip(self._sums, self._raw, strict=True)):
            of_player = found % players == player
            sums.add(by_deal[of_player], folds[of_player])
            for value in raw[of_player].tolist():
                mean.add(value)

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(self._players)

    def _player(self, name: str) -> int:
        found = self._players.get(name)
        if found is None:
            found = self._players[name] = len(self._sums)
            self._sums.append(CrossSums(self._columns))
            self._raw.append(RunningMean())
        return found

    # ---- estimates

    def estimates(self) -> GameEstimates:
        self._flush()
        omitted = list(self._omissions())
        return GameEstimates(
            game=_words(self._game),
            hands=self._hands,
            deals=self._deals,
            players=[PlayerEstimates(player=name, estimates=self._of(at)) for name, at in self._players.items()],
            omitted=omitted,
        )

    @property
    def _problem(self) -> str | None:
        if self._refusal is not None:
            return self._refusal
        if self._hidden:
            return f"in {self._hidden:,} of {self._hands:,} hands some hole cards are unknown; ACPC logs have them all"
        return None

    def _omissions(self) -> list[Omission]:
        found = []
        if self._deals == self._hands:
            reason = "every deal was played once; arena play --duplicate plays it in every seating"
            found.append(Omission(estimator=Estimator.DUPLICATE.value, reason=reason))
        if self._problem is not None:
            found.append(Omission(estimator=_CHANCE_NAME, reason=self._problem))
        if self._expectations is None:
            reason = "all-in hands of this game have too many boards to be counted"
            found.append(Omission(estimator=Estimator.ALL_IN.value, reason=reason))
        if self._problem is None and not all(sums.may_fit for sums in self._sums):
            found.append(Omission(estimator="fitted weights", reason="too few deals to fit any"))
        return found

    def _corrected(self) -> list[_Correction]:
        chance = list(range(_FIRST, _FIRST + self._chance))
        pots = chance[: self._chance // 2]
        found = [_Correction(Estimator.CHANCE, (), chance, pots)]
        if self._corrections is not None:
            known = self._corrections.columns
            first = _FIRST + self._chance
            for number in range(1, len(known) + 1):
                for names in combinations(known, number):
                    own = [[first + column for column in known[name]] for name in names]
                    columns = [column for one in own for column in one]
                    values = pots + [one[0] for one in own]
                    found.append(_Correction(Estimator.AIVAT, names, chance + columns, values))
            for names, ranges in self._corrections.ranges.items():
                columns = [first + column for name in names for column in known[name]]
                means = [first + column for column in ranges]
                found.append(_Correction(Estimator.RANGES, names, chance + columns + means, [*pots, means[0]]))
        return found

    def _of(self, player: int) -> list[WinRateEstimate]:
        sums = self._sums[player]
        raw = self._raw[player]
        found = [self._rate(Estimator.RAW, raw, raw, raw.count)]

        def add(estimator: Estimator, mean: RunningMean, *, known: Sequence[str] = (), is_fitted: bool = False) -> None:
            found.append(self._rate(estimator, mean, raw, sums.hands, known, is_fitted=is_fitted))

        if self._deals < self._hands:
            add(Estimator.DUPLICATE, sums.mean(_RAW))
        if self._expectations is not None:
            add(Estimator.ALL_IN, sums.mean(_ADJUSTED))
        if self._problem is None:
            for one in self._corrected():
                add(one.estimator, sums.mean(_RAW, one.values), known=one.names)
                if (fitted := sums.fitted_mean(_RAW, one.columns, one.values)) is not None:
                    add(one.estimator, fitted, known=one.names, is_fitted=True)
        return found

    def _rate(
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
        variance, raw_variance = mean.variance or 0.0, raw.variance or 0.0
        # What is left by rounding of a variance of 0 is no variance.
        is_exact = variance <= 1e-12 * raw_variance
        warning = None
        if estimator is Estimator.ALL_IN and self._hidden:
            warning = "folded cards that the hands do not show are left in the deck, which biases it a little"
        if known and self._corrections is not None:
            warning = "; ".join([text for name, text in self._corrections.doubts.items() if name in known]) or None
        return WinRateEstimate(
            estimator=estimator,
            known=list(known),
            is_fitted=is_fitted,
            mbb_per_game=mean.mean,
            half_width_95=mean.half_width(),
            standard_error=mean.standard_error,
            hands=hands,
            deals=mean.count,
            worth_raw_hands=None if mean.count < 2 or is_exact else raw_variance / variance * mean.count,
            warning=warning,
        )


def _words(game: Game) -> str:
    kind = "limit" if game.is_limit else "no-limit"
    return f"{kind}, {game.num_players} players, blinds {'/'.join(map(str, game.blinds))}"


_PROGRESS_HANDS: Final = 500
_BYTES: Final = 1 << 20


def reduce_hands(
    source: HandSource, reduction: Reduction, *, on_progress: Callable[[float | None], None] | None = None
) -> int:
    """Count hands, each once: copies of files are left out, and reported as problems.

    Args:
        on_progress: is called now and then with the part of the hands that has been counted; None where the files do
            not show how many there are.

    Returns:
        how many hands there were.

    Raises:
        LogError: a file cannot be read at all.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    source = source.without_copies()
    expected = _hands_in(source.files) if on_progress is not None else None
    hands = 0
    for hands, record in enumerate(source.by_deal(), 1):
        reduction.add(record)
        if on_progress is not None and not hands % _PROGRESS_HANDS:
            on_progress(min(1.0, hands / expected) if expected else None)
    return hands


def _hands_in(files: Sequence[HandFile]) -> int | None:
    if not all(file.format is None and is_plain(file.path) for file in files):
        return None
    found = 0
    for file in files:
        with open(file.path, "rb") as log:
            while part := log.read(_BYTES):
                found += part.count(b"\nSTATE:")
    return found
