"""Counting hands as they come: what `logs.tracker.derive` makes figures of.

    counts = HandCounts()
    for record in read_hands(["runs/x"]):
        counts.add(record)

Rules it obeys:

- Memory does not grow with the number of hands: counters for each name, a bounded memory of betting facts, curves of a
  thousand points.
- Nothing is divided here, so counts can be added: two `HandCounts` of hands that followed each other, wherever they
  were counted, merge to what one would have counted.
- What follows from the betting alone is looked up (`logs.tracker.betting_facts`) and added later (see
  `logs.tracker.game_counts`); a hand itself only moves the counters that its cards and its values decide.
- Bots are known by their names. Whoever sits at a table twice is counted for both seats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from engine import Game
from logs.record import HandRecord
from logs.tracker.biggest_pots import BiggestPots, BigPot
from logs.tracker.counters import BotCounts, Follower, Timing
from logs.tracker.curve import Sums
from logs.tracker.game_counts import GameCounts, Table
from logs.tracker.starting_hands import CLASS_OF

__all__ = ["MOST_BIG_POTS", "HandCounts"]

MOST_BIG_POTS: Final = 10


class HandCounts:
    """Counts hands of any games and matches.

    Attributes:
        hands: how many.
        games: by game, in the order in which they came.
    """

    def __init__(self, *, big_pots: int = MOST_BIG_POTS) -> None:
        self.hands = 0
        self.games: list[GameCounts] = []
        self._followers: dict[str, Follower] = {}
        self._tables: dict[tuple[tuple[str, ...], tuple[int, ...]], Table] = {}
        """Of the game that is being counted, by names and seats."""
        self._current: GameCounts | None = None
        self._game: Game | None = None
        self._big_pots = BiggestPots(big_pots)

    def add(self, record: HandRecord) -> None:
        """Count a hand."""
        if record.game is not self._game:
            self._change_game(record.game)
        counts = self._current
        assert counts is not None
        names, seats = record.names, record.seats
        table = self._tables.get((names, seats)) or self._sit_down(counts, names, seats)
        betting, values = record.betting, record.values
        met = table.met.get(betting) or counts.meet(table, betting)
        met.hands += 1
        facts = met.facts
        if facts.pot_blinds > self._big_pots.threshold:
            self._big_pots.add(facts.pot_blinds, self.hands, record)
        self.hands += 1
        is_holdem = counts.is_holdem
        won_above, hole_cards = facts.won_above, record.deal.hole_cards
        for position, seat in enumerate(table.seats):
            value = values[position]
            seat.hands += 1
            seat.net += value
            seat.squares += value * value
            if is_holdem and (hole := hole_cards[position]):
                won = table.bots[position].starting_hands[CLASS_OF[hole[0]][hole[1]]]
                won.hands += 1
                won.net += value
                if value > won_above[position]:
                    won.won += 1
        if facts.showdown:
            for position in facts.showdown:
                seat = table.seats[position]
                seat.showdown_net += values[position]
                if values[position] > won_above[position]:
                    seat.showdowns_won += 1
                    seat.flops_won += facts.saw_flop >> position & 1
            if facts.board_cards >= 0 and counts.has_expectations:
                counts.adjust(table, facts, record)
        if facts.reached_end and is_holdem:
            counts.look_at_hands(table, facts, record.deal, values)
        if record.times or record.comments:
            self._note(record)
        for follower in table.followers:
            follower.due -= 1
            if not follower.due:
                self._add_point(follower)

    def add_all(self, records: Iterable[HandRecord]) -> HandCounts:
        """Count hands; returns itself."""
        for record in records:
            self.add(record)
        return self

    def merge(self, other: HandCounts) -> None:
        """Count in what another has counted, as hands that followed those of this one."""
        before = {name: self.sums(name) for name in other.names}
        for name, follower in other._followers.items():
            own = self._follower(name)
            own.curve.merge(before[name], follower.curve)
            own.timing.merge(follower.timing)
            own.due = own.curve.next_in(before[name].hands + other.sums(name).hands)
        other.settle()
        self.settle()
        for theirs in other.games:
            self._counts_of(theirs.game).merge(theirs)
        self._big_pots.merge(self.hands, other._big_pots)
        self.hands += other.hands

    # ---- what was counted

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bots, in the order in which they came."""
        return tuple(self._followers)

    def settle(self) -> None:
        """Complete the counters of all games; see `GameCounts.settle`."""
        for counts in self.games:
            counts.settle()

    def of_bot(self, name: str) -> Iterator[tuple[GameCounts, BotCounts]]:
        """What a bot did in each game."""
        for counts in self.games:
            if name in counts.bots:
                yield counts, counts.bots[name]

    def sums(self, name: str) -> Sums:
        """The winnings of a bot over all its hands."""
        found = Sums()
        for counts, bot in self.of_bot(name):
            blind = counts.game.big_blind
            for seat in bot.positions:
                net, squares = seat.net / blind, seat.squares / blind / blind
                luck, showdown = seat.luck / blind, seat.showdown_net / blind
                found = found.plus(Sums(seat.hands, net, squares, showdown, net - luck))
        return found

    def curve(self, name: str) -> list[Sums]:
        """How a bot's winnings grew, to the last hand."""
        points, end = self._followers[name].curve.points, self.sums(name)
        return points if points and points[-1].hands == end.hands else [*points, end]

    def timing(self, name: str) -> Timing:
        """How long a bot's answers took."""
        return self._followers[name].timing

    def big_pots(self) -> list[BigPot]:
        """The hands with the biggest pots, the biggest first."""
        return self._big_pots.in_order()

    # ---- while counting

    def _counts_of(self, game: Game) -> GameCounts:
        for counts in self.games:
            if counts.game == game:
                return counts
        self.games.append(GameCounts(game))
        return self.games[-1]

    def _change_game(self, game: Game) -> None:
        self._game = game
        counts = self._counts_of(game)
        if counts is not self._current:
            self._current = counts
            self._tables.clear()

    def _follower(self, name: str) -> Follower:
        follower = self._followers.get(name)
        if follower is None:
            follower = self._followers[name] = Follower(name)
        return follower

    def _sit_down(self, counts: GameCounts, names: tuple[str, ...], seats: tuple[int, ...]) -> Table:
        by_position = tuple([names[seat] for seat in seats])
        table = counts.table(by_position, [self._follower(name) for name in by_position])
        self._tables[names, seats] = table
        return table

    def _note(self, record: HandRecord) -> None:
        """Count times and comments."""
        if record.times:
            positions = [position for of_round in record.betting.rounds for position, _ in of_round]
            for position, (sent_us, received_us) in zip(positions, record.times, strict=False):
                timing = self._follower(record.name_at(position)).timing
                used_us = max(0, received_us - sent_us)
                timing.actions += 1
                timing.used_us += used_us
                timing.longest_us = max(timing.longest_us, used_us)
        for comment in record.comments:
            self._follower(record.names[comment.seat]).timing.comments += 1

    def _add_point(self, follower: Follower) -> None:
        sums = self.sums(follower.name)
        follower.curve.add(sums)
        follower.due = follower.curve.next_in(sums.hands)

    # ---- from process to process

    def __getstate__(self) -> dict[str, object]:
        names = ("hands", "games", "_followers", "_big_pots")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__()  # type: ignore[misc]
        for name, value in state.items():
            setattr(self, name, value)
