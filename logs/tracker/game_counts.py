"""Counting the hands of one game.

Most of a hand follows from its betting. That is looked up, table by table, and only counted as having come once more;
what it means for the counters is added when the memory of bettings is full, and when somebody wants to see them
(`settle`). The memory is as large as is worthwhile: where hardly any betting comes again, a large one would only cost
memory, and time of the garbage collector.
"""

from __future__ import annotations

from typing import Final

from engine import BettingState, Deal, Game, rank_hand
from logs.record import HandRecord
from logs.tracker.all_in import AllInExpectations
from logs.tracker.betting_facts import WIDTH, BettingFacts
from logs.tracker.counters import BotCounts, Follower
from logs.tracker.places import is_holdem

__all__ = ["GameCounts", "Met", "Table"]

_MOST_FACTS: Final = 1 << 14
"""Ways to bet that the tables of a game remember in all, at most."""
_FEW_FACTS: Final = 1 << 9
"""Where they do not come again."""
_WORTHWHILE: Final = 1.2
"""Hands per way to bet that make it worth remembering more of them."""


class Met:
    """A way to bet that a table has met.

    Attributes:
        facts: what follows from it.
        hands: how many hands of the table have gone so since they were last added up.
    """

    __slots__ = ("facts", "hands")

    def __init__(self, facts: BettingFacts) -> None:
        self.facts = facts
        self.hands = 0


class Table:
    """The players of a hand, by position.

    Attributes:
        bots: their counters in the game.
        seats: those of the position each is in.
        followers: the bots over all games.
        met: ways to bet that the table has met.
    """

    __slots__ = ("bots", "followers", "met", "seats")

    def __init__(self, bots: list[BotCounts], followers: list[Follower]) -> None:
        self.bots = bots
        self.seats = [bot.positions[position] for position, bot in enumerate(bots)]
        self.followers = followers
        self.met: dict[BettingState, Met] = {}


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
        self._tables: dict[tuple[str, ...], Table] = {}
        self._facts: dict[BettingState, BettingFacts] = {}
        self._room = _FEW_FACTS
        self._held = 0
        """Ways to bet that the tables have met, each table for itself."""

    def table(self, names: tuple[str, ...], followers: list[Follower]) -> Table:
        """The table at which these sit, by position."""
        table = self._tables.get(names)
        if table is None:
            bots = [self._bot(name) for name in names]
            table = self._tables[names] = Table(bots, followers)
        return table

    def _bot(self, name: str) -> BotCounts:
        bot = self.bots.get(name)
        if bot is None:
            bot = self.bots[name] = BotCounts(self.game)
        return bot

    def meet(self, table: Table, betting: BettingState) -> Met:
        """Take note of a betting that is new to a table."""
        if self._held >= self._room:
            self._forget()
        self._held += 1
        facts = self._facts.get(betting)
        if facts is None:
            facts = self._facts[betting] = BettingFacts(betting)
        met = table.met[betting] = Met(facts)
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

    def adjust(self, table: Table, facts: BettingFacts, record: HandRecord) -> None:
        """Count an all-in hand at its expectation."""
        expected = self._expectations.of_hand(record.betting, record.deal, facts.board_cards)
        if expected is None:
            return
        for seat, value, expectation in zip(table.seats, record.values, expected, strict=True):
            seat.luck += value - expectation
            seat.luck_squares += value * value - expectation * expectation
        for position in facts.showdown:
            table.seats[position].adjusted_hands += 1

    def look_at_hands(self, table: Table, facts: BettingFacts, deal: Deal, values: tuple[float, ...]) -> None:
        """Count what players held who saw the last card."""
        for position in facts.reached_end:
            hole_cards = deal.hole_cards[position]
            if hole_cards:
                bot, value = table.bots[position], values[position]
                category = rank_hand(hole_cards + deal.board) >> 12
                has_won = value > facts.won_above[position]
                bot.river_hands[category].add(value, has_won)
                if position in facts.showdown:
                    bot.final_hands[category].add(value, has_won)

    def merge(self, other: GameCounts) -> None:
        """Count in what another has counted; both are settled."""
        for name, bot in other.bots.items():
            self._bot(name).merge(bot)

    def __getstate__(self) -> tuple[Game, dict[str, BotCounts]]:
        self.settle()
        return self.game, self.bots

    def __setstate__(self, state: tuple[Game, dict[str, BotCounts]]) -> None:
        game, bots = state
        self.__init__(game)  # type: ignore[misc]
        self.bots = bots
