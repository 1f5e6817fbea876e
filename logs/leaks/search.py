"""Leaks of players, from cells of similar decisions with simultaneous confidence intervals.

A cell is one question, such as the player's result with pairs on the turn. A leak is a cell whose interval lies below
zero, where the intervals of all cells hold together with 95 % confidence. They are valid for few deals and need no
assumption about the spread (see `simultaneous_intervals`).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine import Game
from engine.errors import quoted
from engine.holdem import is_holdem, position_names
from engine.text import count_of
from logs.errors import LeaksRefused
from logs.estimation import Estimate
from logs.hand_source import HandSource
from logs.leaks.divergences import BY_POSITION, DIMENSIONS, Divergence, divergence_of, first_difference
from logs.record import HandRecord

DRAWS: Final = 1999
"""Random assignments of the players. The real assignment counts as one more."""
_BATCH_DEALS: Final = 4096
_SEED: Final = 17


def simultaneous_intervals(
    values: NDArray[np.float64],
    cells: NDArray[np.int64],
    of_deal: NDArray[np.int64],
    count: int,
    deals: int,
    *,
    sides: NDArray[np.int64] | None = None,
    players: int = 2,
    tail: float = 0.05,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Compute the sums of cells for player 0, with intervals that hold for all cells at once.

    Under the null hypothesis that all players of a deal play alike, they are exchangeable. Each draw therefore picks a
    random player for every deal, and takes the largest studentised sum over all cells. The point that 95 % of the draws
    do not exceed bounds all cells at once (the one-step maximum statistic of Westfall & Young 1993, "Resampling-Based
    Multiple Testing", chapter 2). Between two players a draw keeps or changes the sign of a deal, as in Romano & Wolf
    (2005, "Exact and approximate stepdown methods for multiple hypothesis testing"). Cells may overlap, as the draws
    contain their dependence.

    Args:
        values: chips that one player won beyond another one, shape (n,).
        cells: cells of each value, shape (n, k), numbers below `count`, or `count` for no cell.
        of_deal: deal of each value, shape (n,), ascending; values of a deal are drawn together.
        count: number of cells.
        deals: number of deals, those without a value included; at least 2.
        sides: players of each value, shape (n, 2): the one who won it, and the one who lost it or -1 for none. By
            default 0 and 1.
        players: number of players of a deal.
        tail: 1 minus the confidence.

    Returns:
        Sums of the cells, shape (count,), half widths of their intervals, shape (count,), and the factor of the
        standard error in these half widths, in the place of 1.96.
    """
    if sides is None:
        sides = np.tile((0, 1), (len(values), 1))
    sums = np.zeros(count)
    squares = np.zeros(count)
    drawn_sums = np.zeros((DRAWS, count), dtype=np.float32)
    drawn_squares = np.zeros((DRAWS, count), dtype=np.float32)
    generator = np.random.default_rng(_SEED)
    # Index of the deal of each value among the deals that have values, shape (n,).
    valued_deals, deal_indices = np.unique(of_deal, return_inverse=True)
    for first in range(0, len(valued_deals), _BATCH_DEALS):
        size = min(_BATCH_DEALS, len(valued_deals) - first)
        batch = slice(*np.searchsorted(deal_indices, (first, first + size)))
        # Chips of each player by deal and cell. The last column collects the entries without a cell.
        tables = np.zeros((players, size, count + 1))
        for side, sign in enumerate((1.0, -1.0)):
            side_players = sides[batch, side]
            has_player = side_players >= 0
            index = (
                side_players[has_player, np.newaxis],
                (deal_indices[batch] - first)[has_player, np.newaxis],
                cells[batch][has_player],
            )
            # Several values of a deal can be in one cell, of which `+=` would add only one.
            np.add.at(tables, index, sign * values[batch][has_player, np.newaxis])
        cell_tables = tables[:, :, :count]
        sums += cell_tables[0].sum(axis=0)
        squares += (cell_tables[0] ** 2).sum(axis=0)
        # Player drawn for each deal, shape (draws, deals of the batch).
        drawn_players = generator.integers(0, players, (DRAWS, size), dtype=np.int8)
        for player, table in enumerate(cell_tables):
            is_drawn = (drawn_players == player).astype(np.float32)
            drawn_sums += is_drawn @ table.astype(np.float32)
            drawn_squares += is_drawn @ (table**2).astype(np.float32)
    drawn_maxima = _largest_normed(drawn_sums, drawn_squares)
    real_maximum = _largest_normed(sums[np.newaxis], squares[np.newaxis])
    # With the real assignment among the draws, the test is exact for a finite number of them.
    maxima = np.sort(np.append(drawn_maxima, real_maximum))
    rank = int(np.ceil((1 - tail) * (DRAWS + 1))) - 1
    # Monotonic, so it converts the quantile of the draws as it would convert each draw.
    bound = _studentised(float(maxima[rank]), deals)
    spread = np.sqrt(np.maximum(0.0, squares - sums**2 / deals) * deals / (deals - 1))
    return sums, bound * spread, bound


def _largest_normed(sums: NDArray[np.floating], squares: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the largest |sum| / sqrt(sum of squares) over the cells of each row."""
    norms = np.sqrt(np.where(squares > 0, squares, 1.0))
    largest: NDArray[np.floating] = np.abs(sums / norms).max(axis=1, initial=0.0)
    return largest


def _studentised(normed: float, deals: int) -> float:
    """Convert a sum over the root of its squares to Student's statistic, a monotonic function of it."""
    # With equal values in all deals, normed**2 is the number of deals, up to rounding.
    return normed * float(np.sqrt((deals - 1) / max(deals - normed**2, 1e-9)))


MIN_DEALS: Final = 30
"""Deals that a cell needs for an interval, and a player for a result."""
_DECISION_DIMENSIONS: Final = DIMENSIONS[:2]


@dataclass(frozen=True, slots=True)
class Cell:
    """Result of a player in similar decisions.

    Attributes:
        dimension: one of `logs.leaks.divergences.DIMENSIONS`, or `BY_POSITION`.
        deals: number of deals with such a decision.
        won: chips per hundred of all hands of the player, beyond the other player with the same cards. The 95 %
            interval holds together with those of all other cells; cells of fewer than `MIN_DEALS` deals have none.
        choices: action of the player, action of the other, number of deals, and chips per hundred hands; empty for
            winnings by position.
    """

    dimension: str
    name: str
    deals: int
    won: Estimate
    choices: tuple[tuple[str, str, int, float], ...]

    @property
    def is_leak(self) -> bool:
        return self.won.high is not None and self.won.high < 0

    @property
    def by_choice(self) -> float:
        """Part of `won` that the choice itself caused; later decisions of both players caused the rest."""
        if len(self.choices) != 2 or min(deals for _, _, deals, _ in self.choices) < MIN_DEALS:
            # One of the two choices is too rare for a result, so that all is ascribed to the choice.
            return self.won.mean
        # The player chose a and the other one b in n deals with a mean of m chips, and the other way round in n' deals
        # with a mean of m'. A skill in later decisions adds the same to m and to m', and the choice adds to one what it
        # subtracts from the other. The effect of the choice is therefore (m - m') / 2 a deal, in n - n' deals.
        (*_, deals, chips), (*_, reverse_deals, reverse_chips) = self.choices
        return (deals - reverse_deals) * (chips / deals - reverse_chips / reverse_deals) / 2


@dataclass(frozen=True, slots=True)
class Leaks:
    """Results of a player by kind of decision, and the leaks among them.

    Attributes:
        others: opponents, in order of appearance.
        deals: number of deals played in all seatings; between two players pairs of hands.
        unpaired: number of hands whose deal was not played in all seatings, and which do not count.
        diverged: number of deals in which the player chose another action than an opponent.
        cells: by dimension, then from the worst.
        questions: number of cells with an interval.
        bound: half width of the intervals in standard errors.
        worst: most expensive divergences, from the worst, with the paths of their hands.
        is_multiway: whether more than two players are at a table.
    """

    player: str
    others: tuple[str, ...]
    deals: int
    unpaired: int
    diverged: int
    cells: tuple[Cell, ...]
    questions: int
    bound: float
    worst: tuple[tuple[Divergence, tuple[str, ...]], ...]
    is_multiway: bool

    @property
    def leaks(self) -> tuple[Cell, ...]:
        """Decisions that lose, at least half of it by the choice itself, from the worst.

        A decision with one class of hands that has at least half of the decision's loss comes before the decision, as
        it says more.
        """
        leaks = [cell for cell in self.cells if _is_leak_by_choice(cell)]
        decision_losses = {cell.name: cell.won.mean for cell in leaks if cell.dimension == "decision"}

        def sort_key(cell: Cell) -> tuple[float, int, float]:
            mean = cell.won.mean
            spot, _, hand_and_choice = cell.name.partition(", with ")
            decision_loss = 0.0
            if hand_and_choice:
                choice = hand_and_choice.rpartition(": ")[2]
                decision_loss = decision_losses.get(f"{spot}: {choice}", 0.0)
            # Sorted as if it lost as much as its decision; its dimension puts it before the decision.
            key_loss = min(mean, decision_loss) if 2 * mean <= decision_loss else mean
            return key_loss, DIMENSIONS.index(cell.dimension), mean

        return tuple(sorted(leaks, key=sort_key))

    @property
    def broader_leaks(self) -> tuple[Cell, ...]:
        """All other cells that lose, from the worst."""
        cells = [cell for cell in self.cells if cell.is_leak and not _is_leak_by_choice(cell)]
        return tuple(sorted(cells, key=lambda cell: cell.won.mean))


def _is_leak_by_choice(cell: Cell) -> bool:
    return cell.dimension in _DECISION_DIMENSIONS and cell.is_leak and cell.by_choice <= cell.won.mean / 2


_HEADS_UP: Final = 2
_NO_CHOICE: Final = ("", "")
_ChoiceCount: TypeAlias = tuple[int, float, int]
"""Number of deals with a choice, its chips, and the last of these deals."""
LocatedHand: TypeAlias = tuple[str, HandRecord]
"""A hand and the path of its file."""


class _CellCounts:
    """Cells by number, with the choices in each of them."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, str], int] = {}
        self.choices: list[dict[tuple[str, str], _ChoiceCount]] = []

    def number(self, dimension: str, name: str) -> int:
        number = self.numbers.setdefault((dimension, name), len(self.numbers))
        if number == len(self.choices):
            self.choices.append({})
        return number

    def row(self, divergence: Divergence) -> tuple[int, ...]:
        """Return the number of the divergence's cell in each dimension."""
        cells = zip(DIMENSIONS, divergence.cells, strict=True)
        return tuple([self.number(dimension, name) for dimension, name in cells])

    def add(self, number: int, choice: tuple[str, str], deal: int, chips: float) -> None:
        deals, total, last_deal = self.choices[number].get(choice, (0, 0.0, -1))
        if deal != last_deal:
            deals += 1
        self.choices[number][choice] = (deals, total + chips, deal)


class PlayerCount:
    """Count the deals of a player."""

    def __init__(self, player: str, worst: int) -> None:
        self.player = player
        self._max_worst = worst
        self._others: dict[str, None] = {}
        self._players = _HEADS_UP
        self._deals = 0
        self._sets = 0
        self._hands = 0
        self._unpaired = 0
        self._diverged = 0
        self._last_diverged = -1
        self._cells = _CellCounts()
        # By cell, the number of its deals and the last of them.
        self._sizes: dict[int, tuple[int, int]] = {}
        # One entry for each value, as `simultaneous_intervals` takes them.
        self._values: list[float] = []
        self._sides: list[tuple[int, int]] = []
        self._of_deal: list[int] = []
        self._rows: list[tuple[int, ...]] = []
        # A heap with the least expensive of the worst divergences first. The second number decides between equals.
        self._worst: list[tuple[float, int, Divergence, tuple[str, ...]]] = []

    def add(self, hands: Sequence[LocatedHand]) -> None:
        """Count the hands of a deal in which the player took part."""
        own_hands = [hand for hand in hands if self.player in hand[1].names_by_seat]
        sets, unpaired = _complete_sets(own_hands)
        self._unpaired += unpaired
        for hand_set in sets:
            self._sets += 1
            self._hands += len(hand_set)
            _, record = hand_set[0]
            self._players = record.game.num_players
            for name in record.names_by_seat:
                if name != self.player:
                    self._others[name] = None
            # The player is number 0.
            names = sorted(record.names, key=lambda name: (name != self.player, name))
            self._count_set(hand_set, {name: number for number, name in enumerate(names)})
        if sets:
            self._deals += 1

    @property
    def units(self) -> int:
        """Number of deals counted, or of decisions that were counted one by one."""
        return self._deals

    def begin_hand(self, other: str) -> None:
        """Count a hand whose decisions are compared one by one with those of a player who did not play it."""
        self._others[other] = None
        self._sets += 1
        self._hands += 1

    def add_decision(self, divergence: Divergence | None, path: str) -> None:
        """Count a decision of the current hand; None if the other player chooses the same action."""
        if divergence is not None:
            row = self._cells.row(divergence)
            self._add_value(row, (0, 1), divergence.gain)
            self._diverged += 1
            self._count_divergence(row, divergence, divergence.gain, (path,))
        self._deals += 1

    def _count_set(self, hands: Sequence[LocatedHand], numbers: Mapping[str, int]) -> None:
        players = len(numbers)
        # Each hand of a player is compared with the hand of every other one in its seat. The comparisons add up to one.
        share = players / len(hands) / (players - 1)
        for (path, record), (other_path, other_record) in combinations(hands, 2):
            difference = first_difference(record, other_record)
            if difference is None:
                continue
            _, position = difference
            winner = record.name_at(position)
            loser = other_record.name_at(position)
            if winner == loser:
                continue
            # The gain of the first one is the loss of the second. The player is the first one if it is either.
            if loser == self.player:
                winner, loser = loser, winner
            divergence = divergence_of(record, other_record, winner)
            assert divergence is not None
            row = self._cells.row(divergence)
            chips = share * divergence.gain
            self._add_value(row, (numbers[winner], numbers[loser]), chips)
            if winner == self.player:
                # Heads-up each pair of hands counts, with more players each deal.
                if self._deals != self._last_diverged or players == _HEADS_UP:
                    self._diverged += 1
                self._last_diverged = self._deals
                self._count_divergence(row, divergence, chips, (path, other_path))
        if players > _HEADS_UP:
            self._count_positions(hands, numbers)

    def _add_value(self, row: tuple[int, ...], sides: tuple[int, int], chips: float) -> None:
        self._values.append(chips)
        self._sides.append(sides)
        self._of_deal.append(self._deals)
        self._rows.append(row)

    def _count_divergence(
        self, row: tuple[int, ...], divergence: Divergence, chips: float, paths: tuple[str, ...]
    ) -> None:
        for number in row:
            self._cells.add(number, (divergence.did, divergence.others), self._deals, chips)
            self._count_deal(number)
        if divergence.gain < 0 and self._max_worst:
            entry = (-divergence.gain, -len(self._values), divergence, tuple(sorted(set(paths))))
            if len(self._worst) < self._max_worst:
                heapq.heappush(self._worst, entry)
            else:
                heapq.heappushpop(self._worst, entry)

    def _count_deal(self, number: int) -> None:
        """Count the current deal once in a cell; heads-up, count each pair of its hands."""
        deals, last_deal = self._sizes.get(number, (0, -1))
        if last_deal != self._deals or self._players == _HEADS_UP:
            deals += 1
        self._sizes[number] = (deals, self._deals)

    def _count_positions(self, hands: Sequence[LocatedHand], numbers: Mapping[str, int]) -> None:
        """Count the chips of each player and position beyond the mean of others with the same cards."""
        players = len(numbers)
        position_labels = position_names(hands[0][1].game)
        # Shape (positions, players).
        won = np.zeros((players, players))
        for _, record in hands:
            for position, (name, value) in enumerate(zip(record.names, record.values, strict=True)):
                won[position, numbers[name]] += value
        gains = (players * won - won.sum(axis=1, keepdims=True)) / (players - 1)
        for position, player_gains in enumerate(gains.tolist()):
            number = self._cells.number(BY_POSITION, position_labels[position])
            # One cell only, in a row as long as those of divergences.
            row = (number,) * len(DIMENSIONS)
            self._cells.add(number, _NO_CHOICE, self._deals, player_gains[0])
            self._count_deal(number)
            for player, chips in enumerate(player_gains):
                self._add_value(row, (player, -1), chips)

    def leaks(self) -> Leaks:
        """Return the results of the deals counted.

        Raises:
            LeaksRefused: there are too few deals, or none was played in every seating.
        """
        self._check_deals()
        large_cells = [number for number, (deals, _) in sorted(self._sizes.items()) if deals >= MIN_DEALS]
        half_widths, bound = self._half_widths(large_cells)
        # From chips in all to chips per hundred hands.
        scale = 100 / self._hands
        scaled_half_widths = dict(zip(large_cells, (half_widths * scale).tolist(), strict=True))
        cells = []
        for (dimension, name), number in self._cells.numbers.items():
            if number in self._sizes:
                deals, _ = self._sizes[number]
                choices = self._cells.choices[number]
                cells.append(_cell(dimension, name, choices, deals, scale, scaled_half_widths.get(number)))
        dimensions = (*DIMENSIONS, BY_POSITION)
        cells.sort(key=lambda cell: (dimensions.index(cell.dimension), cell.won.mean, cell.name))
        return Leaks(
            player=self.player,
            others=tuple(self._others),
            deals=self._sets,
            unpaired=self._unpaired,
            diverged=self._diverged,
            cells=tuple(cells),
            questions=len(large_cells),
            bound=bound,
            worst=tuple((divergence, paths) for *_, divergence, paths in sorted(self._worst, reverse=True)),
            is_multiway=self._players > _HEADS_UP,
        )

    def _half_widths(self, large_cells: list[int]) -> tuple[NDArray[np.float64], float]:
        """Return the half widths of the intervals of some cells, in chips, and their factor."""
        count = len(large_cells)
        # Index of each cell among the large ones, or `count` for the others.
        indices = np.full(len(self._cells.choices), count, dtype=np.int64)
        indices[large_cells] = range(count)
        rows = indices[np.array(self._rows, dtype=np.int64).reshape(-1, len(DIMENSIONS))]
        # A cell that occurs in a row more than once counts once.
        for column in range(1, len(DIMENSIONS)):
            is_same = rows[:, :column] == rows[:, column : column + 1]
            is_repeated = is_same.any(axis=1)
            rows[is_repeated, column] = count
        _, half_widths, bound = simultaneous_intervals(
            np.array(self._values),
            rows,
            np.array(self._of_deal, dtype=np.int64),
            count,
            self._deals,
            sides=np.array(self._sides, dtype=np.int64).reshape(-1, 2),
            players=self._players,
        )
        return half_widths, bound

    def _check_deals(self) -> None:
        if not self._sets:
            raise LeaksRefused(
                f"no deal of {self.player} was played in every seating, and the luck of the cards hides leaks in all "
                "other deals; play duplicates"
            )
        if self._deals < MIN_DEALS:
            raise LeaksRefused(
                f"{self.player} played {count_of(self._deals, 'deal')} in every seating; "
                f"leaks need at least {MIN_DEALS}"
            )


def _cell(
    dimension: str,
    name: str,
    choice_counts: Mapping[tuple[str, str], _ChoiceCount],
    deals: int,
    scale: float,
    half_width: float | None,
) -> Cell:
    choices = []
    for (action, other_action), (choice_deals, chips, _) in choice_counts.items():
        choices.append((action, other_action, choice_deals, scale * chips))
    choices.sort(key=lambda choice: (choice[3], choice))
    mean = sum(chips for *_, chips in choices)
    shown_choices = tuple(choice for choice in choices if choice[:2] != _NO_CHOICE)
    return Cell(dimension, name, deals, Estimate(mean, half_width), shown_choices)


def _complete_sets(hands: Sequence[LocatedHand]) -> tuple[list[list[LocatedHand]], int]:
    """Divide the hands of a deal into sets in which every player has every position equally often.

    Heads-up a set is two hands. With more players it is all hands of the same players, if they are complete.

    Returns:
        The sets, and the number of hands in no set.
    """
    waiting: dict[object, list[LocatedHand]] = {}
    sets: list[list[LocatedHand]] = []
    for hand in hands:
        record = hand[1]
        holes = record.deal.hole_cards
        if record.game.num_players > _HEADS_UP:
            waiting.setdefault((frozenset(record.names), holes), []).append(hand)
            continue
        reversed_hands = waiting.get((record.names[::-1], holes))
        if reversed_hands:
            sets.append([reversed_hands.pop(0), hand])
        else:
            waiting.setdefault((record.names, holes), []).append(hand)
    for key, key_hands in list(waiting.items()):
        if _is_complete([record for _, record in key_hands]):
            sets.append(waiting.pop(key))
    return sets, sum(map(len, waiting.values()))


def _is_complete(records: Sequence[HandRecord]) -> bool:
    # Heads-up, hands that are still waiting have no counterpart.
    if not records or records[0].game.num_players == _HEADS_UP:
        return False
    times: Counter[tuple[str, int]] = Counter()
    for record in records:
        times.update((name, position) for position, name in enumerate(record.names))
    has_all_seats = len(times) == records[0].game.num_players ** 2
    return has_all_seats and len(set(times.values())) == 1


_PROGRESS_HANDS: Final = 500


def deals_in(source: HandSource, on_hands: Callable[[int], None] | None = None) -> Iterator[list[LocatedHand]]:
    """Yield the hands of a source deal by deal; copies of files are left out and reported as problems.

    Args:
        on_hands: called with the number of hands read, about every 500 hands.

    Raises:
        LogsError: a file cannot be read.
        OSError: a file cannot be read.
    """
    hands = 0
    for deal in source.without_copies().deals():
        yield deal
        hands_before = hands
        hands += len(deal)
        if on_hands is not None and hands_before // _PROGRESS_HANDS < hands // _PROGRESS_HANDS:
            on_hands(hands)


def deals_of_player(
    deals: Iterable[Sequence[LocatedHand]], player: str | None = None
) -> Iterator[tuple[str, Sequence[LocatedHand]]]:
    """Yield the player's name with its hands of each deal.

    Without a name, it is the first player of the first hand.

    Raises:
        LeaksRefused: there is no finished hand, or no player of this name.
    """
    names: dict[str, None] = {}
    for hands in deals:
        for _, record in hands:
            names |= dict.fromkeys(record.names_by_seat)
            if player is None:
                player = record.names_by_seat[0]
        own_hands = [hand for hand in hands if player in hand[1].names_by_seat]
        if own_hands:
            yield player or "", own_hands
    if not names:
        raise LeaksRefused("there is no finished hand")
    if player not in names:
        raise LeaksRefused(f"no player is called {quoted(player or '')}; there are {', '.join(names)}")


def leaks_of(deals: Iterable[Sequence[LocatedHand]], player: str | None = None, *, worst: int = 10) -> Leaks:
    """Find the leaks of a player.

    Args:
        deals: all hands of each deal, with their paths.
        player: name of the player; None for the first player of the first hand.
        worst: number of most expensive divergences to keep.

    Raises:
        LeaksRefused: leaks cannot be determined from these hands; the message has the reason.
    """
    game: Game | None = None
    count: PlayerCount | None = None
    for name, hands in deals_of_player(deals, player):
        count = count or PlayerCount(name, worst)
        for _, record in hands:
            game = game or record.game
            check_game(record, game)
        count.add(hands)
    assert count is not None
    return count.leaks()


def all_leaks_of(deals: Iterable[Sequence[LocatedHand]], *, worst: int = 10) -> tuple[Leaks, ...]:
    """Find the leaks of all players, as far as possible, in order of appearance.

    Raises:
        LeaksRefused: leaks can be determined for no player; the message has the reason for the first one.
    """
    counts: dict[str, PlayerCount] = {}
    game: Game | None = None
    for hands in deals:
        for _, record in hands:
            game = game or record.game
            check_game(record, game)
            for name in record.names_by_seat:
                counts.setdefault(name, PlayerCount(name, worst))
        for count in counts.values():
            count.add(hands)
    results = []
    refusals = []
    for count in counts.values():
        try:
            results.append(count.leaks())
        except LeaksRefused as error:
            refusals.append(error)
    if results:
        return tuple(results)
    if refusals:
        raise refusals[0]
    raise LeaksRefused("there is no finished hand")


def check_game(record: HandRecord, game: Game) -> None:
    """Check that leaks can be determined from a hand.

    Raises:
        LeaksRefused: it is a hand of another game, not of hold'em, or does not show all hole cards.
    """
    if record.game != game:
        raise LeaksRefused("the hands are of different games; leaks need the hands of one game")
    if not is_holdem(game):
        raise LeaksRefused("leaks are reported in hold'em only: hands and boards of other games are not classified")
    if not all(record.deal.hole_cards):
        raise LeaksRefused(
            f"hand {record.hand_number} of {record.match_name} does not show all hole cards, and leaks are found by "
            "comparing the same cards played twice"
        )
