"""Counting hands as they come: what `logs.statistics.results` makes figures of.

    counts = HandCounts()
    for record in read_hands(["runs/x"]):
        counts.add(record)

Rules it obeys:

- Memory does not grow with the number of hands: counters for each name, a bounded memory of betting facts, curves of a
  thousand points.
- Nothing is divided here; counts can be added. Two `HandCounts` of hands that followed each other, wherever they were
  counted, join to what one would have counted (`join`).
- What follows from the betting alone is looked up (`logs.statistics.betting_facts`) and added when that memory is
  full, and at the end; a hand itself only moves the counters that its cards and its values decide.
- Bots are known by their names. Whoever sits at a table twice is counted for both seats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from engine import BettingState, Category, Deal, Game, rank_hand
from logs.record import HandRecord
from logs.statistics.all_in import AllInExpectations
from logs.statistics.betting_facts import WIDTH, BettingFacts
from logs.statistics.biggest_pots import BiggestPots, BigPot
from logs.statistics.curve import Curve, Sums
from logs.statistics.moments import Moments
from logs.statistics.places import is_holdem
from logs.statistics.starting_hands import CLASS_OF, CLASSES

__all__ = ["BotCounts", "GameCounts", "HandCounts", "PositionCounts", "Won"]

MOST_BIG_POTS: Final = 10
_MOST_FACTS: Final = 1 << 14
"""Ways to bet that the tables of a game remember in all, where they come again."""
_FEW_FACTS: Final = 1 << 9
"""Where they do not: more would only cost memory, and time of the garbage collector."""
_WORTHWHILE: Final = 1.2
"""Hands per way to bet that make it worth remembering more of them."""


class Won:
    """How often something came, and what it brought.

    Attributes:
        hands: how often.
        won: how often part of the pot was won.
        net: chips won or lost.
    """

    __slots__ = ("hands", "net", "won")

    def __init__(self) -> None:
        self.hands = 0
        self.won = 0
        self.net = 0.0

    def join(self, other: Won) -> None:
        """Count in what another has counted."""
        self.hands += other.hands
        self.won += other.won
        self.net += other.net


class PositionCounts:
    """One bot in one position of one game.

    Attributes:
        hands: dealt in.
        net: chips.
        squares: the sum of the squares of what each hand brought.
        luck: what all-in hands brought beyond their expectation, in chips.
        luck_squares: the sum of the squares of what each hand brought, less that of their expectations.
        adjusted_hands: hands at their expectation.
        showdown_net: chips from hands with a showdown the bot was in.
        showdowns_won: showdowns in which it won part of the pot.
        flops_won: those of them that came after a flop.
        row: what follows from the betting, by the places in `logs.statistics.betting_facts`.
    """

    __slots__ = (
        "adjusted_hands",
        "flops_won",
        "hands",
        "luck",
        "luck_squares",
        "net",
        "row",
        "showdown_net",
        "showdowns_won",
        "squares",
    )

    def __init__(self) -> None:
        self.hands = 0
        self.net = 0.0
        self.squares = 0.0
        self.luck = 0.0
        self.luck_squares = 0.0
        self.adjusted_hands = 0
        self.showdown_net = 0.0
        self.showdowns_won = 0
        self.flops_won = 0
        self.row = [0] * WIDTH

    def join(self, other: PositionCounts) -> None:
        """Count in what another has counted."""
        for name in PositionCounts.__slots__:
            if name != "row":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        self.row = [one + more for one, more in zip(self.row, other.row, strict=True)]

    @property
    def winnings(self) -> Moments:
        """Chips per hand."""
        return Moments(self.hands, self.net, self.squares)

    @property
    def adjusted(self) -> Moments:
        """Chips per hand, all-in hands at their expectation."""
        return Moments(self.hands, self.net - self.luck, self.squares - self.luck_squares)


class BotCounts:
    """One bot in one game.

    Attributes:
        positions: by position.
        starting_hands: by class of hole cards; empty outside hold'em.
        final_hands: by category, at showdowns.
        river_hands: by category, wherever the river was seen.
    """

    __slots__ = ("final_hands", "positions", "river_hands", "starting_hands")

    def __init__(self, game: Game) -> None:
        self.positions = [PositionCounts() for _ in range(game.num_players)]
        holdem = is_holdem(game)
        self.starting_hands = [Won() for _ in CLASSES] if holdem else []
        self.final_hands = [Won() for _ in Category] if holdem else []
        self.river_hands = [Won() for _ in Category] if holdem else []

    def join(self, other: BotCounts) -> None:
        """Count in what another has counted."""
        for position, more in zip(self.positions, other.positions, strict=True):
            position.join(more)
        for name in ("starting_hands", "final_hands", "river_hands"):
            for won, more_won in zip(getattr(self, name), getattr(other, name), strict=True):
                won.join(more_won)


class Timing:
    """How long answers took, and what was remarked.

    Attributes:
        actions: whose time is known.
        used_us: time, in all.
        longest_us: the longest.
        comments: lines sent.
    """

    __slots__ = ("actions", "comments", "longest_us", "used_us")

    def __init__(self) -> None:
        self.actions = 0
        self.used_us = 0
        self.longest_us = 0
        self.comments = 0

    def join(self, other: Timing) -> None:
        """Count in what another has counted."""
        self.actions += other.actions
        self.used_us += other.used_us
        self.longest_us = max(self.longest_us, other.longest_us)
        self.comments += other.comments


class _Follower:
    """A bot as its hands come: its curve, and when the next point is due."""

    __slots__ = ("curve", "due", "name", "timing")

    def __init__(self, name: str) -> None:
        self.name = name
        self.curve = Curve()
        self.timing = Timing()
        self.due = 1


class _Met:
    """A way to bet, and how many hands of a table have gone so since they were last added up."""

    __slots__ = ("facts", "hands")

    def __init__(self, facts: BettingFacts) -> None:
        self.facts = facts
        self.hands = 0


class _Table:
    """The players of a hand, by position."""

    __slots__ = ("bots", "followers", "met", "seats")

    def __init__(self, bots: list[BotCounts], followers: list[_Follower]) -> None:
        self.bots = bots
        self.seats = [bot.positions[position] for position, bot in enumerate(bots)]
        self.followers = followers
        self.met: dict[BettingState, _Met] = {}


class GameCounts:
    """The hands of one game.

    Attributes:
        game: the game.
        is_holdem: whether it is hold'em with the usual blinds.
        has_expectations: whether all-in hands count at their expectation.
        bots: by name.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.is_holdem = is_holdem(game)
        self.has_expectations = AllInExpectations.can_be_told(game)
        self.bots: dict[str, BotCounts] = {}
        self._expectations = AllInExpectations(game)
        self._tables: dict[tuple[str, ...], _Table] = {}
        self._facts: dict[BettingState, BettingFacts] = {}
        self._room = _FEW_FACTS
        self._held = 0
        """Ways to bet that the tables have met, each table for itself."""

    def table(self, names: tuple[str, ...], followers: list[_Follower]) -> _Table:
        """The table at which these sit, by position."""
        table = self._tables.get(names)
        if table is None:
            bots = [self._bot(name) for name in names]
            table = self._tables[names] = _Table(bots, followers)
        return table

    def _bot(self, name: str) -> BotCounts:
        bot = self.bots.get(name)
        if bot is None:
            bot = self.bots[name] = BotCounts(self.game)
        return bot

    def meet(self, table: _Table, betting: BettingState) -> _Met:
        """Take note of a betting that is new to a table."""
        if self._held >= self._room:
            self._forget()
        self._held += 1
        facts = self._facts.get(betting)
        if facts is None:
            facts = self._facts[betting] = BettingFacts(betting)
        met = table.met[betting] = _Met(facts)
        return met

    def _forget(self) -> None:
        """Begin the memory of bettings anew, a larger or a smaller one."""
        hands = self.settle()
        comes_again = hands > _WORTHWHILE * self._held
        self._room = min(2 * self._room, _MOST_FACTS) if comes_again else max(self._room // 2, _FEW_FACTS)
        self._facts.clear()
        for table in self._tables.values():
            table.met.clear()
        self._held = 0

    def settle(self) -> int:
        """Add what was only noted: the counters are complete afterwards, until another hand comes.

        Returns:
            how many hands there were to add.
        """
        added = 0
        for table in self._tables.values():
            rows = [seat.row for seat in table.seats]
            for met in table.met.values():
                hands = met.hands
                met.hands = 0
                added += hands
                for place in met.facts.increments:
                    rows[place // WIDTH][place % WIDTH] += hands
        return added

    def adjust(self, table: _Table, facts: BettingFacts, record: HandRecord) -> None:
        """Count an all-in hand at its expectation."""
        expected = self._expectations.of_hand(record.betting, record.deal, facts.board_cards)
        if expected is None:
            return
        for seat, value, expectation in zip(table.seats, record.values, expected, strict=True):
            seat.luck += value - expectation
            seat.luck_squares += value * value - expectation * expectation
        for position in facts.showdown:
            table.seats[position].adjusted_hands += 1

    def look_at_hands(self, table: _Table, facts: BettingFacts, deal: Deal, values: tuple[float, ...]) -> None:
        """Count what players held who saw the last card."""
        at_showdown = bool(facts.showdown)
        for position in facts.reached_end:
            hole_cards = deal.hole_cards[position]
            if hole_cards:
                bot, value = table.bots[position], values[position]
                category = rank_hand(hole_cards + deal.board) >> 12
                has_won = value > facts.won_above[position]
                for won in (bot.river_hands[category], bot.final_hands[category])[: 1 + at_showdown]:
                    won.hands += 1
                    won.won += has_won
                    won.net += value

    def join(self, other: GameCounts) -> None:
        """Count in what another has counted; both are settled."""
        for name, bot in other.bots.items():
            self._bot(name).join(bot)

    def __getstate__(self) -> tuple[Game, dict[str, BotCounts]]:
        self.settle()
        # A game remembers its hash, which is another in another process: a copy does not.
        return replace(self.game), self.bots

    def __setstate__(self, state: tuple[Game, dict[str, BotCounts]]) -> None:
        game, bots = state
        self.__init__(game)  # type: ignore[misc]
        self.bots = bots


class HandCounts:
    """Counts hands of any games and matches.

    Attributes:
        hands: how many.
        games: by game, in the order in which they came.
    """

    def __init__(self, *, big_pots: int = MOST_BIG_POTS) -> None:
        self.hands = 0
        self.games: list[GameCounts] = []
        self._followers: dict[str, _Follower] = {}
        self._tables: dict[tuple[tuple[str, ...], tuple[int, ...]], _Table] = {}
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

    def join(self, other: HandCounts) -> None:
        """Count in what another has counted, as hands that followed those of this one."""
        before = {name: self.sums(name) for name in other.names}
        for name, follower in other._followers.items():
            own = self._follower(name)
            own.curve.join(before[name], follower.curve)
            own.timing.join(follower.timing)
            own.due = own.curve.step
        other.settle()
        self.settle()
        for theirs in other.games:
            self._counts_of(theirs.game).join(theirs)
        self._big_pots.join(self.hands, other._big_pots)
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

    def _follower(self, name: str) -> _Follower:
        follower = self._followers.get(name)
        if follower is None:
            follower = self._followers[name] = _Follower(name)
        return follower

    def _sit_down(self, counts: GameCounts, names: tuple[str, ...], seats: tuple[int, ...]) -> _Table:
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

    def _add_point(self, follower: _Follower) -> None:
        follower.curve.add(self.sums(follower.name))
        follower.due = follower.curve.step

    # ---- from process to process

    def __getstate__(self) -> dict[str, object]:
        names = ("hands", "games", "_followers", "_big_pots")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__()  # type: ignore[misc]
        for name, value in state.items():
            setattr(self, name, value)
