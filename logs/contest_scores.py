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
        print(worst.chips, worst.hand.match_name, worst.hand.hand_number)
        for other in worst.others:
            print("  the same deal:", other.names, other.values)

In a duplicate match the same deal is played in every seating: next to a lost hand it shows what the others made of it.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from engine import Game, uncalled
from engine.errors import quoted
from logs.errors import LogsError
from logs.estimation import Rate, RunningMean, score_bounds
from logs.hand_index import HandSummary, MatchHands
from logs.hand_source import HandSource
from logs.record import HandRecord

_KEPT: Final = 20
_MOST_POINTS: Final = 400
_AT_A_TIME: Final = 5000


class NotableHand(NamedTuple):
    """A hand with a big pot or a big loss.

    Attributes:
        chips: how many are in its pot, without uncalled ones; or what a player lost, below 0.
        names: the players by position.
        player: who lost; empty for a pot.
    """

    chips: float
    match: str
    number: int
    names: tuple[str, ...]
    player: str = ""


class NotableDeal(NamedTuple):
    """A deal on which a player lost `chips` (below 0) in all its seatings together; `hands` are each match with the
    player's result there.
    """

    chips: float
    number: int
    player: str
    hands: tuple[tuple[str, float], ...]


class ScorePoint(NamedTuple):
    """A player's score after some deals; half the 95 % interval of the expected net is None with too few."""

    hands: int
    blinds: float
    half_width: float | None


class _Worst:
    def __init__(self) -> None:
        self._heap: list[tuple[float, int, NotableHand | NotableDeal]] = []
        self._added = 0

    def is_kept(self, chips: float) -> bool:
        return len(self._heap) < _KEPT or -chips > self._heap[0][0]

    def add(self, entry: NotableHand | NotableDeal) -> None:
        self._added += 1
        item = (-entry.chips, -self._added, entry)
        if len(self._heap) < _KEPT:
            heapq.heappush(self._heap, item)
        else:
            heapq.heappushpop(self._heap, item)

    def entries(self) -> list[NotableHand | NotableDeal]:
        return [entry for _, _, entry in sorted(self._heap, reverse=True)]


class _Player:
    def __init__(self, mean: RunningMean) -> None:
        self.mean = mean
        self.chips = 0.0
        self.points: list[ScorePoint] = []
        self.step = 1
        self.worst_hands = _Worst()
        self.worst_deals = _Worst()


class ContestScores:
    """The scores of a contest, over the deals that were played in every seating.

    `unread` hands were left out, because their lines are damaged or other seatings do not have them.
    """

    def __init__(self, game: Game, seatings: Sequence[Sequence[str]]) -> None:
        """Begin with nothing counted; each group of names is of matches of the same hands in different seatings."""
        self.game = game
        self.deals = 0
        self.hands = 0
        self.unread = 0
        self._groups = [tuple(names) for names in seatings]
        self._done = [0] * len(self._groups)
        self._players: dict[str, _Player] = {}
        self._pots = _Worst()
        self._bounds = score_bounds(game)

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
        self.hands += len(hands)
        self.deals += 1
        won: dict[str, list[float]] = {}
        for name, hand in zip(names, hands, strict=True):
            for player, value in zip(hand.names, hand.values, strict=True):
                won.setdefault(player, []).append(value)
                if value < 0 and (kept := self._player(player).worst_hands).is_kept(value):
                    kept.add(NotableHand(value, name, hand.number, hand.names, player))
            if self._pots.is_kept(-hand.most_pot):
                self._add_pot(matches[name], name, hand)
        to_mbb = 1000 / (self.game.big_blind * len(hands))
        for player, values in won.items():
            one, chips = self._player(player), sum(values)
            one.chips += chips
            one.mean.add(chips * to_mbb)
            if len(hands) > 1 and chips < 0 and one.worst_deals.is_kept(chips):
                sides = tuple(zip(names, values, strict=False))
                one.worst_deals.add(NotableDeal(chips, hands[0].number, player, sides))
            if not one.mean.count % one.step:
                one.points.append(self._point(one))
                if len(one.points) > _MOST_POINTS:
                    one.points, one.step = one.points[1::2], 2 * one.step

    def _add_pot(self, match: MatchHands, name: str, hand: HandSummary) -> None:
        try:
            spent = match.hand(hand.number).betting.spent
        except LogsError:
            return
        pot = sum(spent) - uncalled(spent)[1]
        if self._pots.is_kept(-pot):
            self._pots.add(NotableHand(-pot, name, hand.number, hand.names))

    def _player(self, name: str) -> _Player:
        found = self._players.get(name)
        if found is None:
            found = self._players[name] = _Player(RunningMean(bounds=self._bounds))
        return found

    def _point(self, one: _Player) -> ScorePoint:
        half = one.mean.half_width_95
        hands = self.hands if one.mean.count == self.deals else round(self.hands * one.mean.count / self.deals)
        blinds = one.chips / self.game.big_blind
        return ScorePoint(hands, blinds, None if half is None else half * hands / 1000)

    # ---- what was found

    def rate(self, player: str) -> Rate | None:
        """What a player won, with its 95 % interval over deals; None before the first."""
        found = self._players.get(player)
        if found is None or not found.mean.count:
            return None
        others = [name for name in self._players if name != player]
        return Rate(
            found.mean.mean,
            found.mean.half_width_95,
            player=player,
            opponent=others[0] if len(others) == 1 else "the table",
        )

    def chips(self, player: str) -> float:
        return self._players[player].chips

    def curve(self, player: str) -> tuple[ScorePoint, ...]:
        """A player's score along the way, at most 401 points, the last one now."""
        one = self._players[player]
        end = self._point(one)
        return (*one.points, *([end] if not one.points or one.points[-1] != end else []))

    @property
    def biggest_pots(self) -> tuple[NotableHand, ...]:
        entries = (entry for entry in self._pots.entries() if isinstance(entry, NotableHand))
        return tuple(entry._replace(chips=-entry.chips) for entry in entries)

    def worst_hands(self, player: str) -> tuple[NotableHand, ...]:
        """The hands a player lost most on, the worst first."""
        return tuple(one for one in self._players[player].worst_hands.entries() if isinstance(one, NotableHand))

    @property
    def worst_deals(self) -> tuple[NotableDeal, ...]:
        """The deals with the largest loss of a player over all seatings, the worst first."""
        found = [
            one
            for player in self._players.values()
            for one in player.worst_deals.entries()
            if isinstance(one, NotableDeal)
        ]
        return tuple(sorted(found, key=lambda one: one.chips)[:_KEPT])


class WorstDeals:
    """The deals with the largest losses of a player, over all seatings between the same players.

    `found` are the chips, the player and the hands, the worst first.
    """

    def __init__(self, most: int = 10) -> None:
        self.found: list[tuple[float, str, list[HandRecord]]] = []
        self._most = most

    def add(self, hands: Sequence[tuple[str, HandRecord]]) -> None:
        """Look at the hands of a deal, each with the path of its file."""
        seatings: dict[object, list[HandRecord]] = {}
        for path, record in hands:
            seatings.setdefault((_deal_of(path, record), frozenset(record.names)), []).append(record)
        for records in seatings.values():
            for player in records[0].names if len(records) > 1 else ():
                chips = sum(record.values[record.names.index(player)] for record in records)
                if chips < (self.found[-1][0] if len(self.found) == self._most else 0):
                    self.found = sorted([*self.found, (chips, player, records)], key=itemgetter(0))[: self._most]


_Deal: TypeAlias = tuple[str, Game, int, tuple[tuple[int, ...], ...]]


@dataclass(frozen=True, slots=True)
class LargestLoss:
    """A hand that a player lost, `chips` being below 0; `others` is the same deal in the other seatings, each as file
    and hand.
    """

    path: str
    player: str
    chips: float
    hand: HandRecord
    others: tuple[tuple[str, HandRecord], ...]


def largest_losses(source: HandSource, player: str | None = None, *, count: int = 10) -> list[LargestLoss]:
    """The hands a player lost most on, the worst first; equal losses in the order of the files.

    Args:
        player: whose losses; None for the first player of the first hand.

    Raises:
        LogsError: a file cannot be read.
        ValueError: no player has the name; the sentence lists the players.
        OSError: a file cannot be read.
    """
    lost: list[tuple[float, int, str, HandRecord]] = []
    names: dict[str, None] = {}
    for order, (path, record) in enumerate(_with_paths(source)):
        names |= dict.fromkeys(record.names_by_seat)
        player = record.names_by_seat[0] if player is None else player
        if player in record.names:
            chips = record.values[record.names.index(player)]
            if chips < 0:
                entry = (-chips, -order, path, record)
                if len(lost) < count:
                    heapq.heappush(lost, entry)
                else:
                    heapq.heappushpop(lost, entry)
    if names and player not in names:
        raise ValueError(f"no player is called {quoted(player)}; there are {', '.join(names)}")
    lost.sort(reverse=True)
    wanted: dict[_Deal, list[tuple[str, HandRecord]]] = {_deal_of(path, record): [] for _, _, path, record in lost}
    again = replace(source, on_problem=lambda problem: None)
    for path, record in _with_paths(again) if wanted else ():
        same = wanted.get(_deal_of(path, record))
        if same is not None:
            same.append((path, record))
    return [
        LargestLoss(
            path,
            player or "",
            -loss,
            record,
            tuple((other, hand) for other, hand in wanted[_deal_of(path, record)] if hand.names != record.names),
        )
        for loss, _, path, record in lost
    ]


def _with_paths(source: HandSource) -> Iterator[tuple[str, HandRecord]]:
    for file in source.files:
        for record in source.read(file):
            yield file.path, record


def _deal_of(path: str, record: HandRecord) -> _Deal:
    return os.path.dirname(path), record.game, record.hand_number, record.deal.hole_cards
