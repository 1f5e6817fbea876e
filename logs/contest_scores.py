"""Scores of a contest, counted deal by deal from logs that may still grow, and notable hands.

    scores = ContestScores(game, [["match.a", "match.b"]])
    while scores.count({match.name: match for match in matches}):
        ...

A contest plays the same deals in several seatings, each a match with a log of its own. A deal counts once all its
seatings have it. The hands of a deal are read side by side, so that memory grows neither with the hands nor while one
seating waits for another.

`largest_losses` finds the hands of any files that a player lost most on, with the same deals in other seatings.
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

_MAX_NOTABLE: Final = 20
_MAX_POINTS: Final = 400
_BATCH_DEALS: Final = 5000


class Notable(NamedTuple):
    """A hand with a big pot, or a hand or deal that a player lost.

    Attributes:
        chips: chips in the pot without uncalled ones, or the player's net chips, below 0.
        number: number of the hand.
        player: player who lost; empty for a pot.
        hands: matches with the chips in each: one match, or those of all seatings of a deal.
    """

    chips: float
    number: int
    player: str
    hands: tuple[tuple[str, float], ...]


class Loss(NamedTuple):
    """Loss of a player on a deal, or on the first of some hands of a deal.

    Attributes:
        chips: net chips, below 0.
        hands: hands of the deal.
    """

    chips: float
    player: str
    hands: tuple[HandRecord, ...]


def called_pot(record: HandRecord) -> int:
    """Return the chips in the pot of a hand, without uncalled ones."""
    spent = record.betting.spent
    _, returned = uncalled(spent)
    return sum(spent) - returned


def _keep(
    notables: list[Notable], chips: float, number: int, player: str, hands: tuple[tuple[str, float], ...]
) -> None:
    """Add a notable to a list of those with the fewest chips; of equal ones the first is kept."""
    if len(notables) < _MAX_NOTABLE or chips < notables[-1].chips:
        insort(notables, Notable(chips, number, player, hands), key=attrgetter("chips"))
        del notables[_MAX_NOTABLE:]


class _Player:
    def __init__(self) -> None:
        self.chips = 0.0
        self.points: list[tuple[int, Estimate]] = []
        self.step = 1
        self.worst_hands: list[Notable] = []
        self.worst_deals: list[Notable] = []


class ContestScores:
    """Scores of a contest, over the deals that were played in every seating.

    Attributes:
        hands: number of hands counted.
        unread: number of hands left out, because their lines are damaged or other seatings do not have them.
    """

    def __init__(
        self, game: Game, seatings: Sequence[Sequence[str]], new_mean: Callable[[], RunningMean] | None = None
    ) -> None:
        """Start without a deal.

        Args:
            seatings: names of matches, in groups that play the same hands in different seatings.
            new_mean: constructor of a player's mean, for the interval that the result of the contest has. Scores beyond
                the bounds of the game are then left out. None for an interval over a fixed number of deals.
        """
        self.game = game
        self._bounds = score_bounds(game)
        self._leaves_out_impossible = new_mean is not None
        self._board = Scoreboard(partial(RunningMean, (), self._bounds) if new_mean is None else new_mean)
        self.hands = 0
        self.unread = 0
        self._groups = [tuple(names) for names in seatings]
        # By group, the number of deals counted.
        self._done = [0] * len(self._groups)
        self._players: dict[str, _Player] = {}
        # Pots have negative chips here, so that the biggest one comes first.
        self._pots: list[Notable] = []

    @property
    def deals(self) -> int:
        """Number of deals counted."""
        return self._board.deals

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players, in the order of the first hand."""
        return tuple(self._players)

    def waiting(self, matches: Mapping[str, MatchHands]) -> int:
        """Return the number of deals that could be counted now."""
        return sum(self._num_ready(group, matches) - done for group, done in enumerate(self._done))

    def _num_ready(self, group: int, matches: Mapping[str, MatchHands]) -> int:
        return min(matches[name].count if name in matches else 0 for name in self._groups[group])

    def count(self, matches: Mapping[str, MatchHands], max_deals: int = _BATCH_DEALS) -> bool:
        """Count some of the deals that every seating has; return whether more are waiting.

        Args:
            matches: matches by name, as far as they have begun.

        Raises:
            OSError: a log cannot be read.
        """
        for group, names in enumerate(self._groups):
            deals = min(max_deals, self._num_ready(group, matches) - self._done[group])
            if deals <= 0:
                continue
            seatings = [matches[name].summaries(self._done[group]) for name in names]
            for _, *hands in zip(range(deals), *seatings, strict=False):
                self._add(names, hands, matches)
            self._done[group] += deals
            max_deals -= deals
        return self.waiting(matches) > 0

    def _add(self, names: tuple[str, ...], hands: Sequence[HandSummary], matches: Mapping[str, MatchHands]) -> None:
        """Count a deal, given the matches of its seatings and the hand of each."""
        are_same_hand = len({hand.number for hand in hands}) == 1
        if not are_same_hand or not all(hand.names for hand in hands):
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
            self._add_hand(matches[name], name, hand)
        for player, values in won.items():
            self._add_deal(player, values, names, hands[0].number)

    def _add_hand(self, match: MatchHands, name: str, hand: HandSummary) -> None:
        for player, value in zip(hand.names, hand.values, strict=True):
            if value < 0:
                _keep(self._player(player).worst_hands, value, hand.number, player, ((name, value),))
        # `max_pot` includes uncalled chips. The hand is read only if its pot can be big enough.
        if len(self._pots) < _MAX_NOTABLE or -hand.max_pot < self._pots[-1].chips:
            self._add_pot(match, name, hand)

    def _add_deal(self, player: str, values: Sequence[float], names: tuple[str, ...], number: int) -> None:
        totals = self._player(player)
        chips = sum(values)
        totals.chips += chips
        if len(names) > 1 and chips < 0:
            _keep(totals.worst_deals, chips, number, player, tuple(zip(names, values, strict=False)))
        if self._board.mean(player).count % totals.step == 0:
            totals.points.append(self._point(player))
            # The memory of a curve is bounded: every other point goes, and the step doubles.
            if len(totals.points) > _MAX_POINTS:
                totals.points = totals.points[1::2]
                totals.step *= 2

    def _is_possible(self, score: float) -> bool:
        lowest, highest = self._bounds
        # Means over seatings may miss a bound by a rounding.
        slack = 1e-9 * (highest - lowest)
        return lowest - slack <= score <= highest + slack

    def _add_pot(self, match: MatchHands, name: str, hand: HandSummary) -> None:
        try:
            pot = called_pot(match.hand(hand.number))
        except LogsError:
            return
        _keep(self._pots, -pot, hand.number, "", ((name, pot),))

    def _player(self, name: str) -> _Player:
        player = self._players.get(name)
        if player is None:
            player = self._players[name] = _Player()
        return player

    def _point(self, player: str) -> tuple[int, Estimate]:
        mean = self._board.mean(player)
        hands = self.hands
        if mean.count != self.deals:
            # A player of some matches only; hands are not counted by player.
            hands = round(self.hands * mean.count / self.deals)
        half_width = mean.estimate.times(hands / 1000).half_width
        return hands, Estimate(self._players[player].chips / self.game.big_blind, half_width)

    # ---- results

    def rate(self, player: str) -> Rate | None:
        """Return the rate of a player with its 95 % interval over deals; None before its first deal."""
        return self._board.rate(player)

    def rate_of_best(self, player: str) -> Rate:
        """Return the rate of a player with the interval of a claim about the winner."""
        return self._board.rate_of_best(player)

    def chips(self, player: str) -> float:
        return self._players[player].chips

    def curve(self, player: str) -> tuple[tuple[int, Estimate], ...]:
        """Return hands and big blinds won along the way, at most 401 points up to the last hand."""
        points = self._players[player].points
        last_point = self._point(player)
        if points and points[-1] == last_point:
            return tuple(points)
        return (*points, last_point)

    @property
    def biggest_pots(self) -> tuple[Notable, ...]:
        return tuple(entry._replace(chips=-entry.chips) for entry in self._pots)

    def worst_hands(self, player: str) -> tuple[Notable, ...]:
        """Return the hands that a player lost most on, from the worst."""
        return tuple(self._players[player].worst_hands)

    @property
    def worst_deals(self) -> tuple[Notable, ...]:
        """Deals with the largest losses of a player over all seatings, from the worst."""
        deals: list[Notable] = []
        for player in self._players.values():
            deals += player.worst_deals
        return tuple(sorted(deals, key=attrgetter("chips"))[:_MAX_NOTABLE])


class WorstDeals:
    """Collect the deals with the largest losses of a player, over all seatings between the same players.

    Attributes:
        losses: the largest losses, from the worst.
    """

    def __init__(self, max_losses: int = 10) -> None:
        self.losses: list[Loss] = []
        self._max_losses = max_losses

    def add(self, hands: Sequence[tuple[str, HandRecord]]) -> None:
        """Add the hands of a deal, each with the path of its file."""
        seatings: dict[object, list[HandRecord]] = {}
        for path, record in hands:
            seatings.setdefault((_deal_of(path, record), frozenset(record.names)), []).append(record)
        for records in seatings.values():
            if len(records) > 1:
                for player in records[0].names:
                    self._add_loss(player, records)

    def _add_loss(self, player: str, records: Sequence[HandRecord]) -> None:
        chips = sum(record.values[record.names.index(player)] for record in records)
        is_full = len(self.losses) == self._max_losses
        if chips < (self.losses[-1].chips if is_full else 0):
            insort(self.losses, Loss(chips, player, tuple(records)), key=attrgetter("chips"))
            del self.losses[self._max_losses :]


_Deal: TypeAlias = tuple[str, Game, int, tuple[tuple[int, ...], ...]]


def largest_losses(source: HandSource, player: str | None = None, *, count: int = 10) -> list[Loss]:
    """Find the hands that a player lost most on, each followed by the same deal in the other seatings.

    The worst comes first, equal losses in the order of the files.

    Args:
        player: name of the player; None for the first player of the first hand.
        count: number of hands to find.

    Raises:
        LogsError: a file cannot be read.
        ValueError: no player has the name; the message lists the players.
        OSError: a file cannot be read.
    """
    losses: list[tuple[float, str, HandRecord]] = []
    names: dict[str, None] = {}
    for path, record in _with_paths(source):
        names |= dict.fromkeys(record.names_by_seat)
        if player is None:
            player = record.names_by_seat[0]
        if player not in record.names:
            continue
        chips = record.values[record.names.index(player)]
        if chips < 0:
            insort(losses, (chips, path, record), key=itemgetter(0))
            del losses[count:]
    if not names or player is None:
        return []
    if player not in names:
        raise ValueError(f"no player is called {quoted(player)}; there are {', '.join(names)}")
    # A second pass for the other hands of these deals. Problems were reported in the first one.
    hands_of_deals: dict[_Deal, list[HandRecord]] = {_deal_of(path, record): [] for _, path, record in losses}
    if hands_of_deals:
        for path, record in _with_paths(replace(source, on_problem=lambda problem: None)):
            hands_of_deals.get(_deal_of(path, record), []).append(record)
    results = []
    for chips, path, record in losses:
        same_deal = hands_of_deals[_deal_of(path, record)]
        other_hands = [hand for hand in same_deal if hand.names != record.names]
        results.append(Loss(chips, player, (record, *other_hands)))
    return results


def _with_paths(source: HandSource) -> Iterator[tuple[str, HandRecord]]:
    for file, hands in source.by_file():
        for record in hands:
            yield file.path, record


def _deal_of(path: str, record: HandRecord) -> _Deal:
    return os.path.dirname(path), record.game, record.hand_number, record.deal.hole_cards
