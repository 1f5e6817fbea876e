"""Counting hands as they come; `logs.tracker.statistics` makes figures of the counts.

    counts = HandCounts()
    for record in find(["runs/x"]).hands():
        counts.add(record)

Rules it obeys:

- Memory does not grow with the number of hands: counters for each name, a bounded memory of bettings, curves of a
  thousand points.
- Nothing is divided here, so counts can be added: two `HandCounts` of hands that followed each other, wherever they
  were counted, merge to what one would have counted.
- Players are known by their names. A name that sits at a table twice is counted for both seats.
- Hands that were dealt the same cards are one unit of the intervals where they come one after the other, as
  `logs.tracker.many_files` reads them; a merge takes the deals of both sides for different ones.

Most of a hand follows from its betting, and is worked out once for each way to bet (`BettingFacts`). Big clean logs are
counted by `logs.tracker.columns`, thousands of hands at a time; what is here is the rule for it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from engine import BettingState, Card, Deal, Game, rank_hand
from engine.cards import starting_hand_table
from engine.game import DEFAULT_STACK
from engine.holdem import has_usual_blinds
from logs.estimation import Bounds, score_bounds
from logs.record import HandRecord
from logs.tracker.all_in import AllInExpectations
from logs.tracker.hand_facts import WIDTH, BettingFacts
from logs.tracker.player_counts import AnswerCounts, PlayerCounts, PlayerCurve, Sums, winnings

MOST_BIG_POTS: Final = 10

_STARTING_HANDS: Final = starting_hand_table()
_MOST_BETTINGS: Final = 1 << 12
"""Ways to bet that are remembered."""


def widest(bounds: Iterable[Bounds]) -> Bounds:
    """What holds all of some bounds."""
    lowest, highest = zip(*bounds, strict=True)
    return min(lowest), max(highest)


class Table:
    """The players of a hand, by position: their counters in the game and in the position, and the curves of their
    winnings over all games.

    `blind` is in chips; `is_shared` if a player has two seats.
    """

    __slots__ = ("blind", "curves", "is_shared", "players", "seats")

    def __init__(self, players: list[PlayerCounts], curves: list[PlayerCurve], blind: int) -> None:
        self.players = players
        self.blind = blind
        self.is_shared = len(set(map(id, curves))) < len(curves)
        self.seats = [player.positions[position] for position, player in enumerate(players)]
        self.curves = curves


class GameCounts:
    """The hands of one game.

    Attributes:
        is_holdem: with the usual blinds.
        bounds: the lowest and the highest possible score of a hand, in mbb, with the stacks met so far.
        players: by name.
        tables: by names and seats; those at which the same players sit in the same positions are one.
    """

    def __init__(
        self, game: Game, players: dict[str, PlayerCounts] | None = None, bounds: Bounds | None = None
    ) -> None:
        self.game = game
        self.bounds = bounds or score_bounds(game)
        self.is_holdem = has_usual_blinds(game)
        self.has_expectations = AllInExpectations.exist_for(game)
        self.players = {} if players is None else players
        self.tables: dict[tuple[tuple[str, ...], tuple[int, ...]], Table] = {}
        self._tables_by_position: dict[tuple[str, ...], Table] = {}
        self._expectations = AllInExpectations(game)
        self._facts: dict[int, BettingFacts] = {}
        """By the identity of the betting, which they hold: hands share the object where betting comes again."""

    def player(self, name: str) -> PlayerCounts:
        found = self.players.get(name)
        if found is None:
            found = self.players[name] = PlayerCounts(self.game)
        return found

    def seat(self, names: tuple[str, ...], seats: tuple[int, ...], curves: list[PlayerCurve]) -> Table:
        """The table of some players, given names by seat, and seats and curves by position."""
        by_position = tuple([curve.name for curve in curves])
        table = self._tables_by_position.get(by_position)
        if table is None:
            table = self._tables_by_position[by_position] = Table(
                [self.player(name) for name in by_position], curves, self.game.big_blind
            )
        self.tables[names, seats] = table
        return table

    def add(self, table: Table, record: HandRecord) -> tuple[BettingFacts, Sequence[float]]:
        """Count a hand; returns the facts of its betting, and its values, an all-in hand's at their expectation."""
        values = record.values
        expected: Sequence[float] = values
        betting = record.betting
        facts = self._facts.get(id(betting)) or self._remember(betting)
        self.count_betting(table, facts, 1)
        holdem = self.is_holdem
        won_above, hole_cards = facts.won_above, record.deal.hole_cards
        for position, seat in enumerate(table.seats):
            value = values[position]
            seat.hands += 1
            seat.net += value
            seat.squares += value * value
            if holdem and (hole := hole_cards[position]):
                starting_hand = table.players[position].starting_hands[_STARTING_HANDS[hole[0]][hole[1]]]
                starting_hand.hands += 1
                starting_hand.net += value
                if value > won_above[position]:
                    starting_hand.won += 1
        if facts.showdown:
            for position in facts.showdown:
                seat = table.seats[position]
                seat.showdown_net += values[position]
                if values[position] > won_above[position]:
                    seat.showdowns_won += 1
                    seat.flops_won += facts.saw_flop >> position & 1
            if facts.board_cards >= 0 and self.has_expectations:
                expected = self.adjust(table, facts, record.deal, values)
        if facts.reached_end and holdem:
            self._count_final_hands(table, facts, record.deal, values)
        return facts, expected

    def count_betting(self, table: Table, facts: BettingFacts, hands: int) -> None:
        """Count what follows from the betting of hands that were bet in one way."""
        seats = table.seats
        for place in facts.increments:
            seats[place // WIDTH].row[place % WIDTH] += hands

    def merge(self, other: GameCounts) -> None:
        self.bounds = widest([self.bounds, other.bounds])
        for name, player in other.players.items():
            self.player(name).merge(player)

    def _remember(self, betting: BettingState) -> BettingFacts:
        if len(self._facts) >= _MOST_BETTINGS:
            self._facts.clear()
        facts = self._facts[id(betting)] = BettingFacts(betting)
        return facts

    def adjust(self, table: Table, facts: BettingFacts, deal: Deal, values: Sequence[float]) -> Sequence[float]:
        """Count an all-in hand at its expectation; returns its values, expected where the cards are known."""
        expected = self._expectations.values(facts.betting, deal, facts.board_cards)
        if expected is None:
            return values
        for seat, value, expectation in zip(table.seats, values, expected, strict=True):
            seat.luck += value - expectation
            seat.luck_squares += value * value - expectation * expectation
        for position in facts.showdown:
            table.seats[position].adjusted_hands += 1
        return expected

    def _count_final_hands(self, table: Table, facts: BettingFacts, deal: Deal, values: tuple[float, ...]) -> None:
        for position in facts.reached_end:
            hole_cards = deal.hole_cards[position]
            if hole_cards:
                player, value = table.players[position], values[position]
                category = rank_hand(hole_cards + deal.board) >> 12
                has_won = value > facts.won_above[position]
                player.river_hands[category].add(value, has_won)
                if position in facts.showdown:
                    player.final_hands[category].add(value, has_won)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the counters; what only helps to count is rebuilt."""
        return GameCounts, (self.game, self.players, self.bounds)


class _Deal:
    """The hands so far that were dealt the cards of the last one: the same cards in several seatings, one by one."""

    __slots__ = ("_first", "_hole_cards", "_number", "_won")

    def __init__(self) -> None:
        self._number = -1
        self._hole_cards: tuple[tuple[Card, ...], ...] = ()
        self._first: tuple[Table, Sequence[float], Sequence[float]] | None = None
        """The first of them, as long as it is the only one."""
        self._won: dict[int, tuple[int, float, float]] = {}
        """Hands, winnings and expected winnings in big blinds, by the identity of a player's pairs."""

    def add(self, table: Table, record: HandRecord, expected: Sequence[float]) -> None:
        """Count the pairs that a hand makes with those before it."""
        hole_cards = record.deal.hole_cards
        hand = table, record.values, expected
        if record.hand_number != self._number or hole_cards != self._hole_cards or not all(hole_cards):
            self._number, self._hole_cards, self._first = record.hand_number, hole_cards, hand
            self._won.clear()
            if not table.is_shared:
                return
        elif self._first is not None:
            self._count(*self._first)
        self._first = None
        self._count(*hand)

    def _count(self, table: Table, values: Sequence[float], expected: Sequence[float]) -> None:
        for position, seat in enumerate(table.seats):
            value, expectation = values[position] / table.blind, expected[position] / table.blind
            for counts in (seat, table.curves[position]):
                before = self._won.get(id(counts))
                if before is not None:
                    hands, won, due = before
                    all_, adjusted = counts.pairs
                    pairs = all_.with_hand(hands, won, value), adjusted.with_hand(hands, due, expectation)
                    counts.pairs = pairs
                    self._won[id(counts)] = hands + 1, won + value, due + expectation
                else:
                    self._won[id(counts)] = 1, value, expectation


class BigPot(NamedTuple):
    """A hand by its pot, in big blinds without uncalled chips: the bigger one is the greater, of equal ones the earlier
    (`order` is minus the number of hands before it).
    """

    blinds: float
    order: int
    record: HandRecord


class HandCounts:
    """Counts hands of any games and matches."""

    def __init__(self, *, big_pots: int = MOST_BIG_POTS) -> None:
        """Start without a hand; `big_pots` is how many of the hands with the biggest pots are kept."""
        self.hands = 0
        self._games: dict[Game, GameCounts] = {}
        """By the game without its stacks: in card rooms these change with every hand."""
        self._last: tuple[Game, GameCounts] | None = None
        """The game of the last hand; most often it is that of the next."""
        self._curves: dict[str, PlayerCurve] = {}
        self._answers: dict[str, AnswerCounts] = {}
        self._deal = _Deal()
        self._most_pots = big_pots
        self._pots: list[BigPot] = []
        """A heap."""
        self.least_pot = -1.0 if big_pots else float("inf")
        """Only a pot of more big blinds than this is kept."""

    def add(self, record: HandRecord) -> None:
        """Count a hand."""
        last = self._last
        if last is None or last[0] is not record.game:
            last = self._last = record.game, self.game_counts(record.game)
        game = last[1]
        table = game.tables.get((record.names_by_seat, record.seats)) or game.seat(
            record.names_by_seat, record.seats, [self.player_curve(record.names_by_seat[seat]) for seat in record.seats]
        )
        facts, expected = game.add(table, record)
        self._deal.add(table, record, expected)
        if facts.pot_blinds > self.least_pot:
            self.keep(BigPot(facts.pot_blinds, -self.hands, record))
        self.hands += 1
        if record.times or record.comments:
            self._count_answers(record)
        for curve in table.curves:
            curve.due -= 1
            if not curve.due:
                curve.add(self.sums(curve.name))

    def add_all(self, records: Iterable[HandRecord]) -> HandCounts:
        """Count hands; returns itself."""
        for record in records:
            self.add(record)
        return self

    def merge(self, other: HandCounts) -> None:
        """Count in what another has counted, as hands that followed those of this one."""
        for name in other.names:
            curve = self.player_curve(name)
            before = self.sums(name)
            curve.merge(before, other._curves[name], before.hands + other.sums(name).hands)
            self._answers[name].merge(other._answers[name])
        for theirs in other._games.values():
            self.game_counts(theirs.game).merge(theirs)
        for pot in other._pots:
            self.keep(pot._replace(order=pot.order - self.hands))
        self.hands += other.hands

    # ---- what was counted

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the players, in the order in which they came."""
        return tuple(self._curves)

    @property
    def games(self) -> tuple[Game, ...]:
        """The games, in the order in which they came."""
        return tuple([counts.game for counts in self._games.values()])

    def by_game(self, name: str) -> Iterator[tuple[GameCounts, PlayerCounts]]:
        """A player's counters in each game."""
        for game in self._games.values():
            if name in game.players:
                yield game, game.players[name]

    def sums(self, name: str) -> Sums:
        """The winnings of a player over all its hands."""
        positions = [(game.game.big_blind, seat) for game, player in self.by_game(name) for seat in player.positions]
        return winnings(positions, self._curves[name].pairs)

    def net(self, name: str) -> float:
        """The chips that a player has won."""
        return sum(seat.net for _, player in self.by_game(name) for seat in player.positions)

    def curve(self, name: str) -> list[Sums]:
        """How a player's winnings grew, to the last hand."""
        points, end = self._curves[name].points, self.sums(name)
        return points if points and points[-1].hands == end.hands else [*points, end]

    def answers(self, name: str) -> AnswerCounts:
        """How long a player's answers took."""
        return self._answers[name]

    def big_pots(self) -> list[BigPot]:
        """The hands with the biggest pots, the biggest first."""
        return sorted(self._pots, key=lambda pot: pot[:2], reverse=True)

    # ---- while counting

    def game_counts(self, game: Game) -> GameCounts:
        """The counters of a game, whatever its stacks, new ones where there are none yet."""
        without_stacks = replace(game, stacks=(DEFAULT_STACK,) * game.num_players)
        found = self._games.get(without_stacks)
        if found is None:
            found = self._games[without_stacks] = GameCounts(game)
        found.bounds = widest([found.bounds, score_bounds(game)])
        return found

    def player_curve(self, name: str) -> PlayerCurve:
        """What keeps the curve of a player, a new one where there is none yet."""
        found = self._curves.get(name)
        if found is None:
            found = self._curves[name] = PlayerCurve(name)
            self._answers[name] = AnswerCounts()
        return found

    def _count_answers(self, record: HandRecord) -> None:
        if record.times:
            positions = [position for actions in record.betting.rounds for position, _ in actions]
            for position, (sent_us, received_us) in zip(positions, record.times, strict=False):
                answers = self._answers[record.name_at(position)]
                used_us = max(0, received_us - sent_us)
                answers.actions += 1
                answers.used_us += used_us
                answers.longest_us = max(answers.longest_us, used_us)
        for comment in record.comments:
            self._answers[record.names_by_seat[comment.seat]].comments += 1

    def keep(self, pot: BigPot) -> None:
        """Keep a hand if its pot is among the biggest."""
        if len(self._pots) < self._most_pots:
            heapq.heappush(self._pots, pot)
        elif self._pots and pot[:2] > self._pots[0][:2]:
            heapq.heapreplace(self._pots, pot)
        if len(self._pots) == self._most_pots and self._pots:
            self.least_pot = self._pots[0].blinds
