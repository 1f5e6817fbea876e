"""What the players of a contest have won, deal by deal, and its notable hands; follows logs that grow.

    scores = ContestScores(game, [["match.a", "match.b"]])
    while scores.count({match.name: match for match in matches}):
        ...

A contest plays the same deals in several seatings, each a match with a log of its own. A deal counts once all its
seatings have it; the hands of a deal are read side by side, so memory grows neither with the hands nor while one
seating waits for another.

`largest_losses` finds the hands of any files that a player lost most on, each with the hands in which others held the
same cards.

    for worst in largest_losses(find(["runs/x"]), "New", count=10):
        print(worst.chips, worst.hands[0].match_name, worst.hands[0].hand_number)
        for other in worst.hands[1:]:
            print("  the same deal:", other.names, other.values)

In a duplicate match the same deal is played in every seating: next to a lost hand it shows what the others made of it.
"""

from __future__ import annotations

import os
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple, TypeAlias

from engine import Game, uncalled
from engine.errors import quoted
from logs.errors import LogsError
from logs.estimation import Estimate, Rate, RunningMean, Scoreboard, score_bounds
from logs.hand_index import HandSummary, MatchHands
from logs.hand_source import HandSource
from logs.record import HandRecord

_KEPT: Final = 20
_MAX_POINTS: Final = 400
_AT_A_TIME: Final = 5000


class Notable(NamedTuple):
    """A hand with a big pot, or a hand or deal that a player lost.

    Attributes:
        chips: how many are in its pot, without uncalled ones; or what the player lost, below 0.
        player: who lost; empty for a pot.
        hands: each match with the chips there: one, or those of all seatings of a deal.
    """

    chips: float
    number: int
    player: str
    hands: tuple[tuple[str, float], ...]


class Loss(NamedTuple):
    """What a player lost (`chips` below 0) on some hands: those of a deal, or the first of them."""

    chips: float
    player: str
    hands: tuple[HandRecord, ...]


def called_pot(record: HandRecord) -> int:
    """Chips in the pot of a hand, without uncalled ones."""
    spent = record.betting.spent
    return sum(spent) - uncalled(spent)[1]


def _keep(kept: list[Notable], chips: float, number: int, player: str, hands: tuple[tuple[str, float], ...]) -> None:
    """Keep what has the fewest chips, the first of equal ones."""
    if len(kept) < _KEPT or chips < kept[-1].chips:
        insort(kept, Notable(chips, number, player, hands), key=attrgetter("chips"))
        del kept[_KEPT:]


class _Player:
    def __init__(self) -> None:
        self.chips = 0.0
        self.points: list[tuple[int, Estimate]] = []
        self.step = 1
        self.worst_hands: list[Notable] = []
        self.worst_deals: list[Notable] = []


class ContestScores:
    """The scores of a contest, over the deals that were played in every seating.

    `unread` hands were left out, because their lines are damaged or other seatings do not have them.
    """

    def __init__(
        self, game: Game, seatings: Sequence[Sequence[str]], new_mean: Callable[[], RunningMean] | None = None
    ) -> None:
        """Begin without a deal.

        Args:
            seatings: names of matches, in groups that play the same hands in different seatings.
            new_mean: makes the mean of a player, for the interval that the result of the contest has; scores that the
                game does not allow are left out. None for an interval over a fixed number of deals.
        """
        self.game = game
        self._bounds = score_bounds(game)
        self._leaves_out_impossible = new_mean is not None
        self._board = Scoreboard(partial(RunningMean, (), self._bounds) if new_mean is None else new_mean)
        self.hands = 0
        self.unread = 0
        self._groups = [tuple(names) for names in seatings]
        self._done = [0] * len(self._groups)
        self._players: dict[str, _Player] = {}
        self._pots: list[Notable] = []

    @property
    def deals(self) -> int:
        """Number of deals counted."""
        return self._board.deals

    @property
    def players(self) -> tuple[str, ...]:
        """Their names, in the order of the first hand."""
        return tuple(self._players)

    def waiting(self, matches: Mapping[str, MatchHands]) -> int:
        """How many deals are there to be counted."""
        return sum(self._ready(at, matches) - done for at, done in enumerate(self._done))

    def _ready(self, group: int, matches: Mapping[str, MatchHands]) -> int:
        return min(matches[name].count if name in matches else 0 for name in self._groups[group])

    def count(self, matches: Mapping[str, MatchHands], most: int = _AT_A_TIME) -> bool:
        """Count some of the deals that every seating has; whether there are more.

        Args:
            matches: by name, as far as there are any.

        Raises:
            OSError: a log cannot be read.
        """
        for at, names in enumerate(self._groups):
            todo = min(most, self._ready(at, matches) - self._done[at])
            if todo <= 0:
                continue
            sides = [matches[name].summaries(self._done[at]) for name in names]
            for _, *hands in zip(range(todo), *sides, strict=False):
                self._add(names, hands, matches)
            self._done[at] += todo
            most -= todo
        return self.waiting(matches) > 0

    def _add(self, names: tuple[str, ...], hands: Sequence[HandSummary], matches: Mapping[str, MatchHands]) -> None:
        if len({hand.number for hand in hands}) > 1 or not all(hand.names for hand in hands):
            self.unread += len(hands)
            return
        won: dict[str, list[float]] = {}
        for hand in hands:
            for player, value in zip(hand.names, hand.values, strict=True):
                won.setdefault(player, []).append(value)
        # The same order of operations as DealScores: page and result agree to the last bit.
        to_mbb = 1000.0 / self.game.big_blind / len(hands)
        scores = [(player, to_mbb * sum(values)) for player, values in won.items()]
        if self._leaves_out_impossible and not all(self._is_possible(score) for _, score in scores):
            self.unread += len(hands)
            return
        self.hands += len(hands)
        self._board.add(scores)
        for name, hand in zip(names, hands, strict=True):
            for player, value in zip(hand.names, hand.values, strict=True):
                if value < 0:
                    _keep(self._player(player).worst_hands, value, hand.number, player, ((name, value),))
            if len(self._pots) < _KEPT or -hand.most_pot < self._pots[-1].chips:
                self._add_pot(matches[name], name, hand)
        for player, values in won.items():
            one = self._player(player)
            chips = sum(values)
            one.chips += chips
            if len(hands) > 1 and chips < 0:
                sides = tuple(zip(names, values, strict=False))
                _keep(one.worst_deals, chips, hands[0].number, player, sides)
            if not self._board.mean(player).count % one.step:
                one.points.append(self._point(player))
                if len(one.points) > _MAX_POINTS:
                    one.points, one.step = one.points[1::2], 2 * one.step

    def _is_possible(self, score: float) -> bool:
        lowest, highest = self._bounds
        slack = 1e-9 * (highest - lowest)
        return lowest - slack <= score <= highest + slack

    def _add_pot(self, match: MatchHands, name: str, hand: HandSummary) -> None:
        try:
            pot = called_pot(match.hand(hand.number))
        except LogsError:
            return
        _keep(self._pots, -pot, hand.number, "", ((name, pot),))

    def _player(self, name: str) -> _Player:
        found = self._players.get(name)
        if found is None:
            found = self._players[name] = _Player()
        return found

    def _point(self, player: str) -> tuple[int, Estimate]:
        mean = self._board.mean(player)
        hands = self.hands if mean.count == self.deals else round(self.hands * mean.count / self.deals)
        half_width = mean.estimate.times(hands / 1000).half_width
        return hands, Estimate(self._players[player].chips / self.game.big_blind, half_width)

    # ---- what was found

    def rate(self, player: str) -> Rate | None:
        """What a player won, with its 95 % interval over deals; None before the first."""
        return self._board.rate(player)

    def rate_of_best(self, player: str) -> Rate:
        """What a player won, with the interval of a claim about the winner."""
        return self._board.rate_of_best(player)

    def chips(self, player: str) -> float:
        return self._players[player].chips

    def curve(self, player: str) -> tuple[tuple[int, Estimate], ...]:
        """Hands and big blinds won along the way, at most 401 points, the last one now."""
        one = self._players[player]
        end = self._point(player)
        return (*one.points, *([end] if not one.points or one.points[-1] != end else []))

    @property
    def biggest_pots(self) -> tuple[Notable, ...]:
        return tuple(entry._replace(chips=-entry.chips) for entry in self._pots)

    def worst_hands(self, player: str) -> tuple[Notable, ...]:
        """The hands a player lost most on, the worst first."""
        return tuple(self._players[player].worst_hands)

    @property
    def worst_deals(self) -> tuple[Notable, ...]:
        """The deals with the largest loss of a player over all seatings, the worst first."""
        found = [one for player in self._players.values() for one in player.worst_deals]
        return tuple(sorted(found, key=attrgetter("chips"))[:_KEPT])


class WorstDeals:
    """The deals with the largest losses of a player, over all seatings between the same players.

    `found` has the worst first.
    """

    def __init__(self, most: int = 10) -> None:
        self.found: list[Loss] = []
        self._most = most

    def add(self, hands: Sequence[tuple[str, HandRecord]]) -> None:
        """Look at the hands of a deal, each with the path of its file."""
        seatings: dict[object, list[HandRecord]] = {}
        for path, record in hands:
            seatings.setdefault((_deal_of(path, record), frozenset(record.names)), []).append(record)
        for records in seatings.values():
            for player in records[0].names if len(records) > 1 else ():
                chips = sum(record.values[record.names.index(player)] for record in records)
                if chips < (self.found[-1].chips if len(self.found) == self._most else 0):
                    insort(self.found, Loss(chips, player, tuple(records)), key=attrgetter("chips"))
                    del self.found[self._most :]


_Deal: TypeAlias = tuple[str, Game, int, tuple[tuple[int, ...], ...]]


def largest_losses(source: HandSource, player: str | None = None, *, count: int = 10) -> list[Loss]:
    """The hands a player lost most on, each followed by the same deal in the other seatings, the worst first; equal
    losses in the order of the files.

    Args:
        player: whose losses; None for the first player of the first hand.

    Raises:
        LogsError: a file cannot be read.
        ValueError: no player has the name; the sentence lists the players.
        OSError: a file cannot be read.
    """
    lost: list[tuple[float, str, HandRecord]] = []
    names: dict[str, None] = {}
    for path, record in _with_paths(source):
        names |= dict.fromkeys(record.names_by_seat)
        player = record.names_by_seat[0] if player is None else player
        chips = record.values[record.names.index(player)] if player in record.names else 0.0
        if chips < 0:
            insort(lost, (chips, path, record), key=itemgetter(0))
            del lost[count:]
    if names and player not in names:
        raise ValueError(f"no player is called {quoted(player)}; there are {', '.join(names)}")
    wanted: dict[_Deal, list[HandRecord]] = {_deal_of(path, record): [] for _, path, record in lost}
    again = replace(source, on_problem=lambda problem: None)
    for path, record in _with_paths(again) if wanted else ():
        wanted.get(_deal_of(path, record), []).append(record)
    return [
        Loss(chips, player or "", (one, *(hand for hand in wanted[_deal_of(path, one)] if hand.names != one.names)))
        for chips, path, one in lost
    ]


def _with_paths(source: HandSource) -> Iterator[tuple[str, HandRecord]]:
    for file, hands in source.by_file():
        for record in hands:
            yield file.path, record


def _deal_of(path: str, record: HandRecord) -> _Deal:
    return os.path.dirname(path), record.game, record.hand_number, record.deal.hole_cards
