"""Second, slow and obvious implementation of betting and side pots, as the oracle of the tests.

`Table` models a round as a person at the table does: a queue of players who still have to act, refilled by every raise.
It shares no code and no idea with `engine.betting`, which counts callers backwards instead.

"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from engine import Game


@dataclass(frozen=True)
class Table:
    """State of the betting; actions are texts: ``f``, ``c``, ``r`` in limit games, ``r<total>`` in no-limit games."""

    game: Game
    text: str
    round: int
    spent: tuple[int, ...]
    waiting: tuple[int, ...]
    """Players who still have to act in this round, in order."""
    folded: frozenset[int]
    highest: int
    """Total chips of a player after a call."""
    smallest: int
    """Smallest total of a no-limit raise."""
    raises: int = 0
    actions: int = 0
    """Raises and actions of this round."""

    @classmethod
    def start(cls, game: Game) -> Table:
        highest = max(game.blinds)
        table = cls(game, "", 0, game.blinds, (), frozenset(), highest, max(1, 2 * highest))
        table = replace(table, waiting=table.order_from(game.first_players[0]))
        if not table.waiting:
            skipped = game.num_rounds - 1
            return replace(table, round=skipped, text="/" * skipped)
        return table

    def has_chips(self, player: int) -> bool:
        return player not in self.folded and self.spent[player] < self.game.stacks[player]

    def order_from(self, first: int) -> tuple[int, ...]:
        players = self.game.num_players
        return tuple(p % players for p in range(first, first + players) if self.has_chips(p % players))

    @property
    def is_over(self) -> bool:
        return not self.waiting

    @property
    def can_fold(self) -> bool:
        return self.spent[self.waiting[0]] != self.highest

    def raise_range(self) -> tuple[int, int] | None:
        """Return the smallest and largest total of a raise, or None."""
        game, player = self.game, self.waiting[0]
        stack = game.stacks[player]
        opponents = [p for p in range(game.num_players) if p != player and self.has_chips(p)]
        if self.raises == game.max_raises[self.round] or not opponents or self.actions > 64 - game.num_players:
            return None
        if game.is_limit:
            total = min(self.highest + game.raise_sizes[self.round], stack)
            return total, total
        if stack <= self.highest:
            return None
        return min(self.smallest, stack), stack

    def options(self) -> Iterator[str]:
        """Return every legal action of every size."""
        if self.can_fold:
            yield "f"
        yield "c"
        sizes = self.raise_range()
        if sizes is not None and self.game.is_limit:
            yield "r"
        elif sizes is not None:
            yield from (f"r{total}" for total in range(sizes[0], sizes[1] + 1))

    def play(self, action: str) -> Table:
        player, *others = self.waiting
        after = replace(self, text=self.text + action, waiting=tuple(others), actions=self.actions + 1)
        spent = list(self.spent)
        if action == "f":
            after = replace(after, folded=self.folded | {player})
        elif action == "c":
            spent[player] = min(self.highest, self.game.stacks[player])
            after = replace(after, spent=tuple(spent))
        else:
            sizes = self.raise_range()
            assert sizes is not None
            total = int(action[1:] or sizes[0])
            spent[player] = total
            after = replace(
                after,
                spent=tuple(spent),
                highest=total,
                smallest=max(self.smallest, total + (total - self.highest)),
                raises=self.raises + 1,
            )
            after = replace(after, waiting=tuple(p for p in after.order_from(player + 1) if p != player))
        return after.close_round()

    def close_round(self) -> Table:
        game = self.game
        last = game.num_rounds - 1
        if len(self.folded) == game.num_players - 1:
            return replace(self, waiting=())
        if self.waiting:
            return self
        if sum(map(self.has_chips, range(game.num_players))) < 2:
            return replace(self, round=last, text=self.text + "/" * (last - self.round))
        if self.round == last:
            return self
        return replace(
            self,
            round=self.round + 1,
            text=self.text + "/",
            waiting=self.order_from(game.first_players[self.round + 1]),
            smallest=self.highest + max(1, *game.blinds),
            raises=0,
            actions=0,
        )


def all_tables(game: Game) -> Iterator[Table]:
    """Yield every state of the game's betting, depth first."""
    stack = [Table.start(game)]
    while stack:
        table = stack.pop()
        yield table
        if not table.is_over:
            stack.extend(table.play(action) for action in table.options())


def pots(spent: Sequence[int], ranks: Sequence[int | None]) -> list[Fraction]:
    """Return net chips by position.

    The main pot and the side pots are built one after the other, and each is split among its best hands. A pot that
    only folded players paid into is lost.

    """
    won = [Fraction(-chips) for chips in spent]
    below = 0
    for level in sorted(set(spent) - {0}):
        pot = sum(min(chips, level) - min(chips, below) for chips in spent)
        contenders = {p: rank for p, rank in enumerate(ranks) if rank is not None and spent[p] >= level}
        winners = [p for p, rank in contenders.items() if rank == max(contenders.values())]
        for p in winners:
            won[p] += Fraction(pot, len(winners))
        below = level
    return won
