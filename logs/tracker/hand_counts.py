"""Counting hands in columns; `logs.tracker.statistics` makes figures of the counts.

    counts = HandCounts().add_all(find(["runs/x"]).hands())

Rules it obeys:

- Memory does not grow with the number of hands: counters for each name, curves of a thousand points.
- Nothing is divided here, so counts can be added: two `HandCounts` of hands that followed each other, wherever they
  were counted, merge to what one would have counted.
- Players are known by their names. A name that sits at a table twice is counted for both seats.
- Hands that were dealt the same cards are one unit of the intervals where they come one after the other, as
  `logs.tracker.many_files` reads them; a merge takes the deals of both sides for different ones.
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
"""Where the categories of hands on the river begin in `PlayerCounts.cards`."""
FINAL_HANDS: Final = RIVER_HANDS + len(Category)
"""Where those of hands at showdowns begin."""

_STARTING_HANDS: Final = np.pad(np.array(starting_hand_table()), (0, 204), constant_values=-1)
"""By two cards; -1 where one is not known."""


def widest(bounds: Iterable[Bounds]) -> Bounds:
    """Return the narrowest bounds that contain all bounds."""
    lowest, highest = zip(*bounds, strict=True)
    return min(lowest), max(highest)


class Sum(IntEnum):
    """Columns of sums over hands.

    Winnings, and winnings with all-in hands at their expectation, have three columns each: the sum over hands, the sum
    over products of a deal's hands and winnings, the sum over squares of a deal's winnings.

    Attributes:
        SIZES: squares of the number of a deal's hands.
        SHOWDOWN: winnings of hands with a showdown that the player was in.
        FLOPS_WON: showdowns won after a flop.
        ADJUSTED_HANDS: all-in hands that have an expectation.
    """

    HANDS = 0
    DEALS = 1
    SIZES = 2
    NET = 3
    NET_SIZES = 4
    NET_SQUARES = 5
    EXPECTED = 6
    EXPECTED_SIZES = 7
    EXPECTED_SQUARES = 8
    SHOWDOWN = 9
    SHOWDOWNS_WON = 10
    FLOPS_WON = 11
    ADJUSTED_HANDS = 12


POWERS: Final = np.array([0, 0, 0, 1, 1, 2, 1, 1, 2, 1, 0, 0, 0])
"""The power of chips that each sum has, by `Sum`."""


class PlayerCounts(NamedTuple):
    """One player in one game; amounts are in chips.

    Attributes:
        sums: by position; a deal has hands in several, which only the sums of a `PlayerTotals` join.
        betting: by position, counters that follow from the betting; see `logs.tracker.hand_facts.Place`.
        cards: how often the player held some kind of hand, how often it won part of the pot with it, and the net chips:
            by starting hand, by category on the river, by category at showdowns; all 0 outside hold'em.
    """

    sums: NDArray[np.float64]
    betting: NDArray[np.int64]
    cards: NDArray[np.float64]

    def merge(self, other: PlayerCounts) -> None:
        for counts, other_counts in zip(self, other, strict=True):
            np.add(counts, other_counts, out=counts)


class GameCounts:
    """The hands of one game.

    Attributes:
        is_holdem: with the usual blinds.
        bounds: the lowest and the highest possible score of a hand, in mbb, with the stacks met so far.
        players: by name.
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
        """Pickle the counters; what only helps to count is rebuilt."""
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
            each player with the order of its hands, their deals and their amounts in big blinds.
        """
        used, way = np.unique(hands.ways, return_inverse=True)
        facts = [hands.facts[number] for number in used.tolist()]
        games = {betting_facts.betting.game for betting_facts in facts}
        self.widen(map(score_bounds, games))
        betting = np.array([line.rows for line in facts])
        showdown = np.array([line.showdown for line in facts])[way]
        reached_end = np.array([line.reached_end for line in facts])[way]
        saw_flop = np.array([line.saw_flop for line in facts])[way]
        won = hands.values > np.array([line.won_above for line in facts])[way]
        board_cards = np.array([line.board_cards for line in facts])[way]
        expected, is_adjusted = self._expected(hands, board_cards)
        amounts = np.stack(
            [
                hands.values,
                expected,
                np.where(showdown, hands.values, 0.0),
                showdown & won,
                showdown & won & saw_flop,
                showdown & is_adjusted[:, None],
            ],
            axis=2,
        )
        blinds = float(self.game.big_blind) ** np.array([1, 1, 1, 0, 0, 0])
        holes = hands.cards[:, :-5]
        ranks = ranks_of(hands.cards)
        categories = ranks.astype(np.int64) >> 12
        kinds = np.stack(
            [
                _STARTING_HANDS[holes[:, ::2], holes[:, 1::2]],
                np.where(reached_end & (ranks > 0), RIVER_HANDS + categories, -1),
                np.where(reached_end & showdown & (ranks > 0), FINAL_HANDS + categories, -1),
            ],
            axis=2,
        )
        players = dict.fromkeys(name for names in hands.names for name in names)
        places = {name: place for place, name in enumerate(players)}
        who = np.array([[places[name] for name in names] for names in hands.names])[hands.tables]
        for name, place in places.items():
            seats = np.nonzero(who == place)
            rows, positions = seats
            if not len(rows):
                continue
            player = self.player(name)
            for position in np.unique(positions).tolist():
                played = rows[positions == position]
                player.sums[position] += _sums(hands.deals[played], amounts[played, position]).sum(axis=0)
                player.betting[position] += np.bincount(way[played], minlength=len(facts)) @ betting[:, position]
            if self.is_holdem:
                weights = (np.ones(len(rows)), won[seats], hands.values[seats])
                for kind in kinds[seats].T:
                    known = kind >= 0
                    for column, weight in enumerate(weights):
                        player.cards[:, column] += np.bincount(kind[known], weight[known], len(player.cards))
            yield name, (hands.order[rows], hands.deals[rows], amounts[seats] / blinds)

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
    """Return the increment of each sum for each hand of a player, whose amounts are winnings, expected, all others."""
    hands = np.arange(len(deals))
    is_first = np.append(True, deals[1:] != deals[:-1])
    first = np.maximum.accumulate(np.where(is_first, hands, 0))
    before = hands - first
    columns = [np.ones(len(deals)), is_first, 2 * before + 1]
    for values in amounts[:, :2].T:
        total = np.cumsum(values) - values
        won = total - total[first]
        columns += [values, before * values + won + values, values * (2 * won + values)]
    return np.column_stack([*columns, amounts[:, 2:]])


class PlayerTotals:
    """A player's winnings over its hands of all games, and its answers, in memory that does not grow with the hands.

    The curve has the sums after each hand, then after every second, fourth, ... hand: when it has more than
    `MAX_POINTS` points, every other one goes and the step doubles.

    Attributes:
        sums: of all hands, in big blinds.
        points: the sums along the way.
        step: how many hands apart the points are, except where two curves meet.
        answers: actions with a known time, microseconds in all, comments.
        longest_us: of an answer.
    """

    def __init__(self) -> None:
        self.sums = np.zeros(len(POWERS))
        self.points = np.zeros((0, len(POWERS)))
        self.step = 1
        self.answers = np.zeros(3, np.int64)
        self.longest_us = 0

    @property
    def curve(self) -> NDArray[np.float64]:
        """The points, to the last hand."""
        hands = self.sums[Sum.HANDS]
        if not hands or (len(self.points) and self.points[-1, Sum.HANDS] == hands):
            return self.points
        return np.vstack([self.points, self.sums])

    def extend(self, order: NDArray[np.int64], deals: NDArray[np.int64], amounts: NDArray[np.float64]) -> None:
        """Count hands as `GameCounts.count` gives them; those of two seats have the same place in the order."""
        grown = self.sums + np.cumsum(_sums(deals, amounts), axis=0)
        is_last = np.append(order[1:] != order[:-1], True)
        self._append(grown[is_last & (grown[:, Sum.HANDS] % self.step == 0)])
        self.sums = grown[-1]

    def merge(self, other: PlayerTotals) -> None:
        """Count in hands that followed."""
        self.points = self.curve
        self.step = max(self.step, other.step)
        self._append(self.sums + other.points)
        self.sums = self.sums + other.sums
        self.answers += other.answers
        self.longest_us = max(self.longest_us, other.longest_us)

    def _append(self, points: NDArray[np.float64]) -> None:
        self.points = np.concatenate([self.points, points])
        while len(self.points) > MAX_POINTS:
            self.points = self.points[1::2]
            self.step *= 2


class BigPot(NamedTuple):
    """A hand by its pot, in big blinds without uncalled chips: the bigger one is the greater, of equal ones the earlier
    one; `order` is minus the number of hands counted before it.
    """

    blinds: float
    order: int
    record: HandRecord


class HandCounts:
    """What was counted of hands of any games and matches.

    Attributes:
        hands: how many there were.
        games: by game without its stacks, in the order in which they came: in card rooms stacks change with every hand.
        players: by name, in the order in which they came.
        big_pots: the hands with the biggest pots, the biggest first.
    """

    def __init__(self, *, big_pots: int = MAX_BIG_POTS) -> None:
        """Start without a hand; `big_pots` is how many of the hands with the biggest pots are kept."""
        self.hands = 0
        self.games: dict[Game, GameCounts] = {}
        self.players: dict[str, PlayerTotals] = defaultdict(PlayerTotals)
        self.big_pots: list[BigPot] = []
        self._max_pots = big_pots

    def add_all(
        self, records: Iterable[HandRecord], on_progress: Callable[[int], None] = lambda hands: None
    ) -> HandCounts:
        """Count hands; returns itself."""
        for batch, columns in record_columns(records):
            self.count(columns)
            for record in batch:
                if record.times or record.comments:
                    self._count_answers(record)
            on_progress(self.hands)
        return self

    def count(self, batch: Sequence[Columns]) -> None:
        """Count hands, those of each game in columns."""
        parts: dict[str, list[tuple[NDArray[Any], ...]]] = {}
        for hands in batch:
            for name, part in self._game(hands.game).count(hands):
                parts.setdefault(name, []).append(part)
            self._keep(self._biggest_pots(hands))
        for name, player_parts in parts.items():
            order, deals, amounts = map(np.concatenate, zip(*player_parts, strict=True))
            at = np.argsort(order, kind="stable")
            self.players[name].extend(order[at], deals[at], amounts[at])
        self.hands += sum(len(hands.order) for hands in batch)

    def _biggest_pots(self, hands: Columns) -> list[BigPot]:
        pots = np.array([line.pot_blinds for line in hands.facts])[hands.ways]
        biggest = np.argsort(-pots, kind="stable")[: self._max_pots]
        big_pots = []
        for hand in biggest.tolist():
            order = -self.hands - int(hands.order[hand])
            big_pots.append(BigPot(float(pots[hand]), order, hands.record(hand)))
        return big_pots

    def merge(self, other: HandCounts) -> None:
        """Count in what another has counted, as hands that followed those of this one."""
        for name, player in other.players.items():
            self.players[name].merge(player)
        for game in other.games.values():
            self._game(game.game).merge(game)
        self._keep(pot._replace(order=pot.order - self.hands) for pot in other.big_pots)
        self.hands += other.hands

    def by_game(self, name: str) -> Iterator[tuple[GameCounts, PlayerCounts]]:
        """A player's counters in each game."""
        for game in self.games.values():
            if name in game.players:
                yield game, game.players[name]

    def _game(self, game: Game) -> GameCounts:
        return self.games.setdefault(without_stacks(game), GameCounts(game))

    def _keep(self, pots: Iterable[BigPot]) -> None:
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
