"""Count hands in columns; `logs.tracker.statistics` makes figures of the counts.

    counts = HandCounts().add_all(find(["runs/x"]).hands())

Memory does not grow with the number of hands. Nothing is divided here, so that two `HandCounts` of consecutive hands
can be merged into the count of all of them. Players are known by their names, and a name that sits at a table twice
counts for both seats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import Category, Game
from engine.cards import STARTING_HANDS, starting_hand_table
from engine.holdem import has_usual_blinds
from logs.estimation import Bounds, score_bounds
from logs.record import HandRecord
from logs.tracker.all_in import AllInExpectations
from logs.tracker.columns import Columns, ranks_of, record_columns, without_stacks
from logs.tracker.hand_facts import WIDTH

MAX_BIG_POTS: Final = 10
MAX_POINTS: Final = 1000
RIVER_HANDS: Final = len(STARTING_HANDS)
"""First row of the hand categories on the river in `PlayerCounts.cards`."""
FINAL_HANDS: Final = RIVER_HANDS + len(Category)
"""First row of the hand categories at showdowns in `PlayerCounts.cards`."""

_STARTING_HANDS: Final = np.pad(np.array(starting_hand_table()), (0, 204), constant_values=-1)
"""Number of the starting hand of two cards, padded to index `NOT_DEALT`; -1 if a card is unknown."""


def widest(bounds: Iterable[Bounds]) -> Bounds:
    """Return the narrowest bounds that contain all bounds."""
    lowest, highest = zip(*bounds, strict=True)
    return min(lowest), max(highest)


class Sum(IntEnum):
    """Columns of sums over hands.

    Winnings, and winnings with all-in hands at their expectation, have six columns each. With h hands and winnings w of
    a deal they are the sums over deals of w, h w, w**2, h**2 w, h w**2 and w**3.

    Attributes:
        SIZES: squares of the number of a deal's hands.
        CUBED_SIZES: cubes of it.
        SHOWDOWN: winnings of hands with a showdown that the player was in.
        FLOPS_WON: showdowns won after a flop.
        ADJUSTED_HANDS: all-in hands that have an expectation.
    """

    HANDS = 0
    DEALS = 1
    SIZES = 2
    CUBED_SIZES = 3
    NET = 4
    NET_SIZES = 5
    NET_SQUARES = 6
    NET_SQUARED_SIZES = 7
    NET_SQUARES_SIZES = 8
    NET_CUBES = 9
    EXPECTED = 10
    EXPECTED_SIZES = 11
    EXPECTED_SQUARES = 12
    EXPECTED_SQUARED_SIZES = 13
    EXPECTED_SQUARES_SIZES = 14
    EXPECTED_CUBES = 15
    SHOWDOWN = 16
    SHOWDOWNS_WON = 17
    FLOPS_WON = 18
    ADJUSTED_HANDS = 19


_WINNINGS_POWERS: Final = (1, 1, 2, 1, 2, 3)
POWERS: Final = np.array([0, 0, 0, 0, *_WINNINGS_POWERS, *_WINNINGS_POWERS, 1, 0, 0, 0])
"""Exponent of chips in each sum, by `Sum`."""


class PlayerCounts(NamedTuple):
    """Counters of one player in one game; amounts are in chips.

    Attributes:
        sums: `Sum` by position. A deal has hands in several positions; only `PlayerTotals` joins them.
        betting: counters that follow from the betting, by position; see `logs.tracker.hand_facts.Place`.
        cards: times that the player held a kind of hand, times that it won part of the pot with it, and net chips, by
            starting hand, then by category on the river, then by category at showdowns. All 0 outside hold'em.
    """

    sums: NDArray[np.float64]
    betting: NDArray[np.int64]
    cards: NDArray[np.float64]

    def merge(self, other: PlayerCounts) -> None:
        for counts, other_counts in zip(self, other, strict=True):
            np.add(counts, other_counts, out=counts)


class GameCounts:
    """Counters of the hands of one game.

    Attributes:
        is_holdem: whether it is hold'em with the usual blinds.
        bounds: lowest and highest possible score of a hand in mbb, with the stacks so far.
        players: counters by name.
    """

    def __init__(
        self, game: Game, players: dict[str, PlayerCounts] | None = None, bounds: Bounds | None = None
    ) -> None:
        self.game = game
        self.bounds = bounds or score_bounds(game)
        self.is_holdem = has_usual_blinds(game)
        self.has_expectations = AllInExpectations.exist_for(game)
        self.players = {} if players is None else players
        self._expectations = AllInExpectations(game)

    def __reduce__(self) -> tuple[object, ...]:
        # The cache of expectations is rebuilt, not pickled.
        return GameCounts, (self.game, self.players, self.bounds)

    def player(self, name: str) -> PlayerCounts:
        if name not in self.players:
            positions = self.game.num_players
            self.players[name] = PlayerCounts(
                np.zeros((positions, len(POWERS))),
                np.zeros((positions, WIDTH), np.int64),
                np.zeros((FINAL_HANDS + len(Category), 3)),
            )
        return self.players[name]

    def widen(self, bounds: Iterable[Bounds]) -> None:
        self.bounds = widest([self.bounds, *bounds])

    def merge(self, other: GameCounts) -> None:
        self.widen([other.bounds])
        for name, player in other.players.items():
            self.player(name).merge(player)

    def count(self, hands: Columns) -> Iterator[tuple[str, tuple[NDArray[Any], ...]]]:
        """Count hands.

        Yields:
            Each player with the order of its hands, their deals, and their amounts in big blinds.
        """
        # Betting lines that occur, and the index of each hand's line among them.
        used_ways, line_indices = np.unique(hands.ways, return_inverse=True)
        lines = [hands.facts[number] for number in used_ways.tolist()]
        games = {line.betting.game for line in lines}
        self.widen(map(score_bounds, games))
        # Shape (lines, positions, WIDTH).
        betting = np.array([line.rows for line in lines])
        # Shapes (hands, positions), and (hands,) for the board cards.
        showdown = np.array([line.showdown for line in lines])[line_indices]
        reached_end = np.array([line.reached_end for line in lines])[line_indices]
        saw_flop = np.array([line.saw_flop for line in lines])[line_indices]
        has_won = hands.values > np.array([line.won_above for line in lines])[line_indices]
        board_cards = np.array([line.board_cards for line in lines])[line_indices]
        expected, is_adjusted = self._expected(hands, board_cards)
        # Shape (hands, positions, 6), in the order of the last arguments of `_sums`.
        amounts = np.stack(
            [
                hands.values,
                expected,
                np.where(showdown, hands.values, 0.0),
                showdown & has_won,
                showdown & has_won & saw_flop,
                showdown & is_adjusted[:, None],
            ],
            axis=2,
        )
        blinds = float(self.game.big_blind) ** np.array([1, 1, 1, 0, 0, 0])
        kinds = self._kinds(hands, showdown, reached_end)
        names = list(dict.fromkeys(name for table in hands.names for name in table))
        name_indices = {name: index for index, name in enumerate(names)}
        # Index of the player's name by hand and position.
        table_players = np.array([[name_indices[name] for name in table] for table in hands.names])
        hand_players = table_players[hands.tables]
        for index, name in enumerate(names):
            seats = np.nonzero(hand_players == index)
            rows, positions = seats
            if not len(rows):
                continue
            player = self.player(name)
            for position in np.unique(positions).tolist():
                played = rows[positions == position]
                player.sums[position] += _sums(hands.deals[played], amounts[played, position]).sum(axis=0)
                line_counts = np.bincount(line_indices[played], minlength=len(lines))
                player.betting[position] += line_counts @ betting[:, position]
            if self.is_holdem:
                weights = (np.ones(len(rows)), has_won[seats], hands.values[seats])
                for kind in kinds[seats].T:
                    is_known = kind >= 0
                    for column, weight in enumerate(weights):
                        counts = np.bincount(kind[is_known], weight[is_known], len(player.cards))
                        player.cards[:, column] += counts
            yield name, (hands.order[rows], hands.deals[rows], amounts[seats] / blinds)

    def _kinds(self, hands: Columns, showdown: NDArray[np.bool_], reached_end: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return rows of `PlayerCounts.cards` or -1, shape (hands, positions, 3): start, river, showdown."""
        holes = hands.cards[:, :-5]
        ranks = ranks_of(hands.cards)
        categories = ranks.astype(np.int64) >> 12
        is_ranked = ranks > 0
        return np.stack(
            [
                _STARTING_HANDS[holes[:, ::2], holes[:, 1::2]],
                np.where(reached_end & is_ranked, RIVER_HANDS + categories, -1),
                np.where(reached_end & showdown & is_ranked, FINAL_HANDS + categories, -1),
            ],
            axis=2,
        )

    def _expected(self, hands: Columns, boards: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the values with all-in hands at their expectation, and a mask of these hands.

        `boards` are the board cards that were dealt when no more betting was possible, -1 for other hands.
        """
        expected = hands.values.copy()
        is_adjusted = np.zeros(len(boards), np.bool_)
        if not self.has_expectations:
            return expected, is_adjusted
        for hand in np.flatnonzero(boards >= 0).tolist():
            record = hands.record(hand)
            values = self._expectations.values(record.betting, record.deal, int(boards[hand]))
            if values is not None:
                expected[hand] = values
                is_adjusted[hand] = True
        return expected, is_adjusted


def _sums(deals: NDArray[np.int64], amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the increment of each `Sum` for each hand of a player, shape (hands, sums).

    Args:
        deals: deal of each hand, ascending, shape (hands,).
        amounts: winnings, winnings with all-in hands at their expectation, then the last four sums, shape (hands, 6).
    """
    # Increments of the products of a deal's hands and winnings with the hand that follows n hands with winnings w.
    hands = np.arange(len(deals))
    is_first = np.append(True, deals[1:] != deals[:-1])
    first = np.maximum.accumulate(np.where(is_first, hands, 0))
    before = hands - first
    after = before + 1
    columns = [np.ones(len(deals)), is_first, after**2 - before**2, after**3 - before**3]
    for values in amounts[:, :2].T:
        total_before = np.cumsum(values) - values
        won_before = total_before - total_before[first]
        won = won_before + values
        columns += [
            values,
            after * won - before * won_before,
            values * (won_before + won),
            after**2 * won - before**2 * won_before,
            after * won**2 - before * won_before**2,
            values * (won * won + won * won_before + won_before * won_before),
        ]
    return np.column_stack([*columns, amounts[:, 2:]])


class PlayerTotals:
    """Winnings of a player over its hands of all games, and the times of its answers.

    Attributes:
        sums: `Sum` over all hands, in big blinds.
        points: sums along the way, shape (points, sums).
        step: number of hands between points, except where two curves were merged.
        answers: actions with a known time, microseconds in all, comments.
        longest_us: longest answer in microseconds.
    """

    def __init__(self) -> None:
        self.sums = np.zeros(len(POWERS))
        self.points = np.zeros((0, len(POWERS)))
        self.step = 1
        self.answers = np.zeros(3, np.int64)
        self.longest_us = 0

    @property
    def curve(self) -> NDArray[np.float64]:
        """The points and, behind them, the sums after the last hand."""
        hands = self.sums[Sum.HANDS]
        if not hands or (len(self.points) and self.points[-1, Sum.HANDS] == hands):
            return self.points
        return np.vstack([self.points, self.sums])

    def extend(self, order: NDArray[np.int64], deals: NDArray[np.int64], amounts: NDArray[np.float64]) -> None:
        """Count hands as `GameCounts.count` yields them; a hand played in two seats occurs twice in the order."""
        running_sums = self.sums + np.cumsum(_sums(deals, amounts), axis=0)
        is_last_seat = np.append(order[1:] != order[:-1], True)
        self._append(running_sums[is_last_seat & (running_sums[:, Sum.HANDS] % self.step == 0)])
        self.sums = running_sums[-1]

    def merge(self, other: PlayerTotals) -> None:
        """Add the totals of later hands, whose deals count as different ones."""
        self.points = self.curve
        self.step = max(self.step, other.step)
        self._append(self.sums + other.points)
        self.sums = self.sums + other.sums
        self.answers += other.answers
        self.longest_us = max(self.longest_us, other.longest_us)

    def _append(self, points: NDArray[np.float64]) -> None:
        self.points = np.concatenate([self.points, points])
        # The memory of a curve is bounded: every other point goes, and the step doubles.
        while len(self.points) > MAX_POINTS:
            self.points = self.points[1::2]
            self.step *= 2


class _BigPot(NamedTuple):
    """A hand, ordered by its pot; of equal pots the earlier one is the greater.

    Attributes:
        blinds: pot in big blinds, without uncalled chips.
        order: minus the number of hands counted before it.
    """

    blinds: float
    order: int
    record: HandRecord


class HandCounts:
    """Counters of hands of any games and matches.

    Attributes:
        hands: number of hands.
        games: counters by game without its stacks, which change with every hand in card rooms; in order of appearance.
        players: totals by name, in order of appearance.
        big_pots: hands with the biggest pots, the biggest first.
    """

    def __init__(self, *, big_pots: int = MAX_BIG_POTS) -> None:
        """Start without a hand.

        Args:
            big_pots: number of hands with the biggest pots to keep.
        """
        self.hands = 0
        self.games: dict[Game, GameCounts] = {}
        self.players: dict[str, PlayerTotals] = defaultdict(PlayerTotals)
        self.big_pots: list[_BigPot] = []
        self._max_pots = big_pots

    def add_all(
        self, records: Iterable[HandRecord], on_progress: Callable[[int], None] = lambda hands: None
    ) -> HandCounts:
        """Count hands; return this object. `on_progress` gets the number of hands now and then."""
        for batch, columns in record_columns(records):
            self.count(columns)
            for record in batch:
                if record.times or record.comments:
                    self._count_answers(record)
            on_progress(self.hands)
        return self

    def count(self, batch: Sequence[Columns]) -> None:
        """Count the hands of a batch, which are in columns by game."""
        parts: dict[str, list[tuple[NDArray[Any], ...]]] = {}
        for hands in batch:
            for name, part in self._game(hands.game).count(hands):
                parts.setdefault(name, []).append(part)
            self._keep(self._biggest_pots(hands))
        for name, player_parts in parts.items():
            order, deals, amounts = map(np.concatenate, zip(*player_parts, strict=True))
            # The hands of several games, in the order in which they were played.
            by_order = np.argsort(order, kind="stable")
            self.players[name].extend(order[by_order], deals[by_order], amounts[by_order])
        self.hands += sum(len(hands.order) for hands in batch)

    def _biggest_pots(self, hands: Columns) -> list[_BigPot]:
        pots = np.array([line.pot_blinds for line in hands.facts])[hands.ways]
        biggest = np.argsort(-pots, kind="stable")[: self._max_pots]
        big_pots = []
        for hand in biggest.tolist():
            order = -self.hands - int(hands.order[hand])
            big_pots.append(_BigPot(float(pots[hand]), order, hands.record(hand)))
        return big_pots

    def merge(self, other: HandCounts) -> None:
        """Add counters of later hands."""
        for name, player in other.players.items():
            self.players[name].merge(player)
        for game in other.games.values():
            self._game(game.game).merge(game)
        self._keep(pot._replace(order=pot.order - self.hands) for pot in other.big_pots)
        self.hands += other.hands

    def by_game(self, name: str) -> Iterator[tuple[GameCounts, PlayerCounts]]:
        """Yield the counters of a player in each of its games."""
        for game in self.games.values():
            if name in game.players:
                yield game, game.players[name]

    def _game(self, game: Game) -> GameCounts:
        return self.games.setdefault(without_stacks(game), GameCounts(game))

    def _keep(self, pots: Iterable[_BigPot]) -> None:
        self.big_pots = sorted([*self.big_pots, *pots], key=lambda pot: pot[:2], reverse=True)[: self._max_pots]

    def _count_answers(self, record: HandRecord) -> None:
        positions = [position for actions in record.betting.rounds for position, _ in actions]
        for position, (sent_us, received_us) in zip(positions, record.times, strict=False):
            player = self.players[record.name_at(position)]
            used_us = max(0, received_us - sent_us)
            player.answers += (1, used_us, 0)
            player.longest_us = max(player.longest_us, used_us)
        for comment in record.comments:
            self.players[record.names_by_seat[comment.seat]].answers += (0, 0, 1)
