"""Leaks from files of hands: deals put together, the deals of a player counted, and what was found as values.

A cell is one question, such as what a player made of pairs on the turn; a leak is a cell whose interval, which holds
for all questions asked together, lies below zero. These are intervals of many means that hold all together, from few
deals and without an assumption about their spread.

If all players of a deal play alike, it could as well have been any of them about whom is asked: to exchange their names
changes nothing else. So for each deal a player is drawn, and in each draw the cell that stands out most is taken. What
95 % of the draws stay below is the bound of all cells at once: the one-step maximum statistic of Westfall & Young
(1993, "Resampling-Based Multiple Testing", chapter 2). Between two players a draw changes the sign of a deal or leaves
it, as in Romano & Wolf (2005, "Exact and approximate stepdown methods for multiple hypothesis testing"). Cells may
overlap: their dependence is in the draws.
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
from logs.leaks.divergences import BY_POSITION, DIMENSIONS, Divergence, decision_apart, divergence_of
from logs.record import HandRecord

DRAWS: Final = 1999
"""Of players; the players as they are make one more."""
_DEALS_AT_A_TIME: Final = 4096
_SEED: Final = 17


def simultaneous(
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
    """The sums of cells of player 0, half widths such that, with the confidence asked for, all intervals hold at once,
    and what the statistic of no cell exceeds: that bound takes the place of 1.96.

    Args:
        values: shape (n,): what one player made beyond another one.
        cells: shape (n, k): the cells that each counts in, numbers below `count`, or `count` itself for none.
        of_deal: shape (n,), ascending: the deal of each; values of the same deal stay together.
        deals: how many deals, those without a value included; 2 or more.
        sides: shape (n, 2): whose value it is, and who has the same with the other sign, -1 for none; the player who is
            asked about is 0. By default 0 and 1.
        tail: 1 less the confidence.
    """
    if sides is None:
        sides = np.tile((0, 1), (len(values), 1))
    sums = np.zeros(count)
    squares = np.zeros(count)
    drawn = np.zeros((DRAWS, count), dtype=np.float32)
    drawn_squares = np.zeros((DRAWS, count), dtype=np.float32)
    generator = np.random.default_rng(_SEED)
    found, rows = np.unique(of_deal, return_inverse=True)
    for first in range(0, len(found), _DEALS_AT_A_TIME):
        size = min(_DEALS_AT_A_TIME, len(found) - first)
        part = slice(*np.searchsorted(rows, (first, first + size)))
        tables = np.zeros((players, size, count + 1))
        for side, sign in enumerate((1.0, -1.0)):
            who = sides[part, side]
            has = who >= 0
            at = who[has, np.newaxis], (rows[part] - first)[has, np.newaxis], cells[part][has]
            np.add.at(tables, at, sign * values[part][has, np.newaxis])
        of_cells = tables[:, :, :count]
        sums += of_cells[0].sum(axis=0)
        squares += (of_cells[0] ** 2).sum(axis=0)
        roles = generator.integers(0, players, (DRAWS, size), dtype=np.int8)
        for role, table in enumerate(of_cells):
            is_drawn = (roles == role).astype(np.float32)
            drawn += is_drawn @ table.astype(np.float32)
            drawn_squares += is_drawn @ (table**2).astype(np.float32)
    highest = np.append(_normed(drawn, drawn_squares), _normed(sums[np.newaxis], squares[np.newaxis]))
    # The players as they are belong to the draws: that makes the test exact with finitely many of them.
    place = int(np.ceil((1 - tail) * (DRAWS + 1))) - 1
    bound = _studentised(float(np.sort(highest)[place]), deals)
    spread = np.sqrt(np.maximum(0.0, squares - sums**2 / deals) * deals / (deals - 1))
    return sums, bound * spread, bound


def _normed(sums: NDArray[np.floating], squares: NDArray[np.floating]) -> NDArray[np.floating]:
    found: NDArray[np.floating] = np.abs(sums / np.sqrt(np.where(squares > 0, squares, 1.0))).max(axis=1, initial=0.0)
    return found


def _studentised(normed: float, deals: int) -> float:
    """A sum over the root of its squares as the statistic of Student with the same order."""
    return normed * float(np.sqrt((deals - 1) / max(deals - normed**2, 1e-9)))


FEWEST_DEALS: Final = 30
"""Deals a cell needs to be asked, and a match to be treated."""
_DECISIONS: Final = DIMENSIONS[:2]


@dataclass(frozen=True, slots=True)
class Cell:
    """What was asked about some decisions together.

    Attributes:
        dimension: one of `logs.leaks.divergences.DIMENSIONS`, or `BY_POSITION`.
        won: chips per hundred of all hands of the player, against what the other player made of its cards; the interval
            holds together with those of all other cells, 95 %. Cells of fewer than `FEWEST_DEALS` deals are not asked
            and have none.
        choices: what the player did, what the other did, in how many deals, and chips per hundred hands; none for
            winnings by position.
    """

    dimension: str
    name: str
    deals: int
    won: Estimate
    choices: tuple[tuple[str, str, int, float], ...]

    @property
    def is_leak(self) -> bool:
        """Whether the whole interval lies below 0."""
        return self.won.high is not None and self.won.high < 0

    @property
    def by_choice(self) -> float:
        """The part of `won` that follows what was chosen; the rest came later, from the choices of either.

        Where the player chose a and the other b in n deals, at m chips each, and the other way round in n' deals at m',
        a skill that shows later adds the same to m and m', the choice itself as much to one as it takes from the other.
        So the choice has earned (n - n') (m - m') / 2. All of it is the choice's where one of the two ways has fewer
        than `FEWEST_DEALS` deals, too few for a result.
        """
        if len(self.choices) != 2 or min(deals for _, _, deals, _ in self.choices) < FEWEST_DEALS:
            return self.won.mean
        (*_, one, chips), (*_, other, others_chips) = self.choices
        return (one - other) * (chips / one - others_chips / other) / 2


@dataclass(frozen=True, slots=True)
class Leaks:
    """Where a player loses.

    Attributes:
        others: against whom, in the order met.
        deals: played in all seatings: between two players pairs of hands.
        unpaired: hands of the player whose deal was not played in all seatings; they do not count.
        parted: deals in which the player did what another did not do.
        cells: by dimension, the worst first.
        asked: how many cells have an interval.
        bound: standard errors of each half-width.
        worst: the divergences that cost most, each with the paths of its hands, the worst first.
        is_of_many: whether more than two play at a table.
    """

    player: str
    others: tuple[str, ...]
    deals: int
    unpaired: int
    parted: int
    cells: tuple[Cell, ...]
    asked: int
    bound: float
    worst: tuple[tuple[Divergence, tuple[str, ...]], ...]
    is_of_many: bool

    @property
    def leaks(self) -> tuple[Cell, ...]:
        """Decisions that lose, at least half of it by what was chosen, the worst first.

        Cards that hold at least half of what a decision loses stand before it, in its place: they say more.
        """
        found = [cell for cell in self.cells if _is_choice(cell)]
        wide = {cell.name: cell.won.mean for cell in found if cell.dimension == "decision"}

        def place(cell: Cell) -> tuple[float, int, float]:
            at, _, choice = cell.name.partition(", with ")
            whole = wide.get(f"{at}: {choice.rpartition(': ')[2]}", 0.0) if choice else 0.0
            stands = whole if 2 * cell.won.mean <= whole else cell.won.mean
            return min(stands, cell.won.mean), DIMENSIONS.index(cell.dimension), cell.won.mean

        return tuple(sorted(found, key=place))

    @property
    def wider(self) -> tuple[Cell, ...]:
        """All other cells that lose, the worst first."""
        found = [cell for cell in self.cells if cell.is_leak and not _is_choice(cell)]
        return tuple(sorted(found, key=lambda cell: cell.won.mean))


def _is_choice(cell: Cell) -> bool:
    return cell.dimension in _DECISIONS and cell.is_leak and cell.by_choice <= cell.won.mean / 2


_TWO: Final = 2
_NO_CHOICE: Final = "", ""
_Choice: TypeAlias = tuple[int, float, int]
"""In how many deals it was made, the chips, and the last of these deals."""
LocatedHand: TypeAlias = tuple[str, HandRecord]
"""A hand and the path it comes from."""


class _Cells:
    def __init__(self) -> None:
        self.numbers: dict[tuple[str, str], int] = {}
        self.choices: list[dict[tuple[str, str], _Choice]] = []

    def number(self, dimension: str, name: str) -> int:
        found = self.numbers.setdefault((dimension, name), len(self.numbers))
        if found == len(self.choices):
            self.choices.append({})
        return found

    def add(self, number: int, choice: tuple[str, str], deal: int, chips: float) -> None:
        deals, sum_, last = self.choices[number].get(choice, (0, 0.0, -1))
        self.choices[number][choice] = deals + (deal != last), sum_ + chips, deal


class PlayerCount:
    """Counts the deals of a player."""

    def __init__(self, player: str, worst: int) -> None:
        self.player = player
        self._worst = worst
        self._others: dict[str, None] = {}
        self._players = 2
        self._deals = self._sets = self._hands = self._unpaired = self._parted = 0
        self._last_parted = -1
        self._cells = _Cells()
        self._sizes: dict[int, tuple[int, int]] = {}
        self._won: list[float] = []
        self._sides: list[tuple[int, int]] = []
        self._of_deal: list[int] = []
        self._rows: list[tuple[int, ...]] = []
        self._costliest: list[tuple[float, int, Divergence, tuple[str, ...]]] = []

    def add(self, hands: Sequence[LocatedHand]) -> None:
        """Count the hands of a deal in which the player sat."""
        sets, alone = _whole_sets([one for one in hands if self.player in one[1].names_by_seat])
        self._unpaired += alone
        for one in sets:
            self._sets += 1
            self._hands += len(one)
            self._players = one[0][1].game.num_players
            names = sorted(one[0][1].names, key=lambda name: (name != self.player, name))
            self._others |= dict.fromkeys(name for name in one[0][1].names_by_seat if name != self.player)
            self._count_set(one, {name: at for at, name in enumerate(names)})
        self._deals += bool(sets)

    @property
    def units(self) -> int:
        """How many deals have been counted, or decisions that were counted one by one."""
        return self._deals

    def begin_hand(self, other: str) -> None:
        """Count a hand whose decisions are compared one by one with those of a player who did not play it."""
        self._others[other] = None
        self._sets += 1
        self._hands += 1

    def add_decision(self, divergence: Divergence | None, path: str) -> None:
        """Count a decision of the hand begun last; None where the other would have done the same."""
        if divergence is not None:
            row = tuple([self._cells.number(*key) for key in zip(DIMENSIONS, divergence.cells, strict=True)])
            self._note(row, (0, 1), divergence.lost_or_won)
            self._parted += 1
            self._count_divergence(row, divergence, divergence.lost_or_won, (path,))
        self._deals += 1

    def _count_set(self, hands: Sequence[LocatedHand], roles: Mapping[str, int]) -> None:
        players = len(roles)
        # Each hand of a player is compared with that of every other one in its seat: together they count once.
        share = players / len(hands) / (players - 1)
        for (path, one), (other_path, other) in combinations(hands, 2):
            parted = decision_apart(one, other)
            if parted is None:
                continue
            position = parted[1]
            who = one.name_at(position)
            whom = other.name_at(position)
            if who == whom:
                continue
            if whom == self.player:
                who, whom = whom, who
            divergence = divergence_of(one, other, who)
            assert divergence is not None
            row = tuple([self._cells.number(*key) for key in zip(DIMENSIONS, divergence.cells, strict=True)])
            chips = share * divergence.lost_or_won
            self._note(row, (roles[who], roles[whom]), chips)
            if who == self.player:
                self._parted += self._deals != self._last_parted or players == _TWO
                self._last_parted = self._deals
                self._count_divergence(row, divergence, chips, (path, other_path))
        if players > _TWO:
            self._count_positions(hands, roles)

    def _note(self, row: tuple[int, ...], sides: tuple[int, int], chips: float) -> None:
        self._won.append(chips)
        self._sides.append(sides)
        self._of_deal.append(self._deals)
        self._rows.append(row)

    def _count_divergence(
        self, row: tuple[int, ...], divergence: Divergence, chips: float, paths: tuple[str, ...]
    ) -> None:
        for number in row:
            self._cells.add(number, (divergence.did, divergence.others), self._deals, chips)
            self._count_deal(number)
        if divergence.lost_or_won < 0 and self._worst:
            push = heapq.heappush if len(self._costliest) < self._worst else heapq.heappushpop
            push(self._costliest, (-divergence.lost_or_won, -len(self._won), divergence, tuple(sorted({*paths}))))

    def _count_deal(self, number: int) -> None:
        """Count a deal of a cell, once; between two players each comparison is one."""
        deals, last = self._sizes.get(number, (0, -1))
        self._sizes[number] = deals + (last != self._deals or self._players == _TWO), self._deals

    def _count_positions(self, hands: Sequence[LocatedHand], roles: Mapping[str, int]) -> None:
        """Count what each player made in each position beyond the mean of all others with the same cards."""
        players = len(roles)
        names = position_names(hands[0][1].game)
        won = np.zeros((players, players))
        for _, record in hands:
            for position, (name, value) in enumerate(zip(record.names, record.values, strict=True)):
                won[position, roles[name]] += value
        beyond = (players * won - won.sum(axis=1, keepdims=True)) / (players - 1)
        for position, of_player in enumerate(beyond.tolist()):
            number = self._cells.number(BY_POSITION, names[position])
            row = (number,) * len(DIMENSIONS)
            self._cells.add(number, _NO_CHOICE, self._deals, of_player[0])
            self._count_deal(number)
            for role, chips in enumerate(of_player):
                self._note(row, (role, -1), chips)

    def leaks(self) -> Leaks:
        """What the deals show.

        Raises:
            LeaksRefused: they are too few, or none was played in every seating.
        """
        self._check_deals()
        cells = self._cells
        asked = [number for number, (size, _) in sorted(self._sizes.items()) if size >= FEWEST_DEALS]
        place = np.full(len(cells.choices), len(asked), dtype=np.int64)
        place[asked] = range(len(asked))
        rows = place[np.array(self._rows, dtype=np.int64).reshape(-1, len(DIMENSIONS))]
        # An entry that is in a row more than once counts once.
        for column in range(1, len(DIMENSIONS)):
            rows[(rows[:, :column] == rows[:, column : column + 1]).any(axis=1), column] = len(asked)
        sides = np.array(self._sides, dtype=np.int64).reshape(-1, 2)
        values = np.array(self._won)
        of_deal = np.array(self._of_deal, dtype=np.int64)
        _, half_widths, bound = simultaneous(
            values, rows, of_deal, len(asked), self._deals, sides=sides, players=self._players
        )
        scale = 100 / self._hands
        halves = dict(zip(asked, (half_widths * scale).tolist(), strict=True))
        made = [
            _cell(dimension, name, cells.choices[number], self._sizes[number][0], scale, halves.get(number))
            for (dimension, name), number in cells.numbers.items()
            if number in self._sizes
        ]
        order = (*DIMENSIONS, BY_POSITION)
        made.sort(key=lambda cell: (order.index(cell.dimension), cell.won.mean, cell.name))
        return Leaks(
            player=self.player,
            others=tuple(self._others),
            deals=self._sets,
            unpaired=self._unpaired,
            parted=self._parted,
            cells=tuple(made),
            asked=len(asked),
            bound=bound,
            worst=tuple((divergence, paths) for *_, divergence, paths in sorted(self._costliest, reverse=True)),
            is_of_many=self._players > _TWO,
        )

    def _check_deals(self) -> None:
        if not self._sets:
            raise LeaksRefused(
                f"no deal of {self.player} was played in every seating, and otherwise the luck of the cards hides "
                "leaks: play duplicates"
            )
        if self._deals < FEWEST_DEALS:
            raise LeaksRefused(
                f"{self.player} played {count_of(self._deals, 'deal')} in every seating; leaks take "
                f"{FEWEST_DEALS} at least"
            )


def _cell(
    dimension: str,
    name: str,
    choices: Mapping[tuple[str, str], _Choice],
    deals: int,
    scale: float,
    half: float | None,
) -> Cell:
    did = [(one, other, count, scale * chips) for (one, other), (count, chips, _) in choices.items()]
    did.sort(key=lambda choice: (choice[3], choice))
    total = sum(one[3] for one in did)
    shown = tuple(one for one in did if one[:2] != _NO_CHOICE)
    return Cell(dimension, name, deals, Estimate(total, half), shown)


def _whole_sets(hands: Sequence[LocatedHand]) -> tuple[list[list[LocatedHand]], int]:
    """The hands of a deal in sets, in each of which every player sits in every position equally often, and how many
    hands are left.

    Between two players a set is two hands; among more, all hands of these players, or none.
    """
    waiting: dict[object, list[LocatedHand]] = {}
    found: list[list[LocatedHand]] = []
    for one in hands:
        record = one[1]
        holes = record.deal.hole_cards
        if record.game.num_players > _TWO:
            waiting.setdefault((frozenset(record.names), holes), []).append(one)
        elif same := waiting.get((record.names[::-1], holes)):
            found.append([same.pop(0), one])
        else:
            waiting.setdefault((record.names, holes), []).append(one)
    for key in [key for key, of_key in waiting.items() if _is_whole([record for _, record in of_key])]:
        found.append(waiting.pop(key))
    return found, sum(map(len, waiting.values()))


def _is_whole(records: Sequence[HandRecord]) -> bool:
    if not records or records[0].game.num_players == _TWO:
        return False
    times = Counter([(name, position) for record in records for position, name in enumerate(record.names)])
    return len(times) == records[0].game.num_players ** 2 and len({*times.values()}) == 1


_PROGRESS_HANDS: Final = 500


def deals_in(source: HandSource, on_hands: Callable[[int], None] | None = None) -> Iterator[list[LocatedHand]]:
    """The hands of a source deal by deal, each with its path; copies of files count once, and are reported as problems.

    `on_hands` is called now and then with the number of hands read.

    Raises:
        LogsError: a file cannot be read.
        OSError: a file cannot be read.
    """
    hands = 0
    for deal in source.without_copies().deals():
        yield deal
        before = hands
        hands = hands + len(deal)
        if on_hands is not None and before // _PROGRESS_HANDS < hands // _PROGRESS_HANDS:
            on_hands(hands)


def deals_of_player(
    deals: Iterable[Sequence[LocatedHand]], player: str | None = None
) -> Iterator[tuple[str, Sequence[LocatedHand]]]:
    """The player, by default the first one of the first hand, with the hands of each deal in which it sat.

    Raises:
        LeaksRefused: there is no finished hand, or nobody of this name.
    """
    names: dict[str, None] = {}
    for hands in deals:
        for _, record in hands:
            names |= dict.fromkeys(record.names_by_seat)
            player = record.names_by_seat[0] if player is None else player
        if own := [one for one in hands if player in one[1].names_by_seat]:
            yield player or "", own
    if not names:
        raise LeaksRefused("there is no finished hand")
    if player not in names:
        raise LeaksRefused(f"no player is called {quoted(player or '')}; there are {', '.join(names)}")


def leaks_of(deals: Iterable[Sequence[LocatedHand]], player: str | None = None, *, worst: int = 10) -> Leaks:
    """Where a player loses.

    Args:
        deals: of each, all its hands with the paths they come from.
        player: whose leaks; None for the first player of the first hand.
        worst: how many of the divergences that cost most are kept.

    Raises:
        LeaksRefused: leaks cannot be determined from these hands; the sentence gives the reason.
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
    """Where each player loses that leaks can be determined for, in the order met; the arguments are those of
    `leaks_of`.

    Raises:
        LeaksRefused: leaks of no player can be determined from these hands; the sentence gives the reason.
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
    found = []
    refusals = [LeaksRefused("there is no finished hand")]
    for count in reversed(counts.values()):
        try:
            found.append(count.leaks())
        except LeaksRefused as error:
            refusals.append(error)
    if not found:
        raise refusals[-1]
    return tuple(reversed(found))


def check_game(record: HandRecord, game: Game) -> None:
    """Raise `LeaksRefused` if leaks cannot be determined from a hand."""
    if record.game != game:
        raise LeaksRefused("the hands are of different games: give those of one")
    if not is_holdem(game):
        raise LeaksRefused("leaks are reported in hold'em only: hands and boards of other games are not classified")
    if not all(record.deal.hole_cards):
        raise LeaksRefused(
            f"hand {record.hand_number} of {record.match_name} does not show all hole cards, and leaks are found by "
            "comparing the same cards played twice"
        )
