"""Leaks from files of hands: deals paired, partings counted, cells asked all at once."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, Unpack

from engine import Game
from engine.errors import quoted
from engine.holdem import is_holdem
from logs.errors import LeaksRefused
from logs.leaks.partings import DIMENSIONS, Parting, parting_of
from logs.reading import (
    ReadingOptions,
    by_deal,
    files_of_hands,
    group_by_cards,
    hands_of,
)
from logs.record import HandRecord

__all__ = ["FEWEST_DEALS", "Cell", "Leaks", "find_leaks", "leaks_of"]

FEWEST_DEALS: Final = 30
"""Deals a cell needs to be asked, and a match to be treated."""

_PROGRESS_HANDS: Final = 500
_DECISIONS: Final = DIMENSIONS[:2]
_Found: TypeAlias = tuple[str, HandRecord]
"""A hand and the path it comes from."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What was asked about some decisions together.

    Attributes:
        dimension: one of `logs.leaks.partings.DIMENSIONS`.
        name: what the decisions have in common.
        deals: how many there were.
        per_100_hands: chips per hundred of all hands of the player, against what the other player made of its cards.
        half_width: of the interval, which holds together with those of all other cells, 95 %; None for cells of
            fewer than `FEWEST_DEALS` deals, which are not asked.
        choices: what the player did, what the other did, in how many deals, and chips per hundred hands.
    """

    dimension: str
    name: str
    deals: int
    per_100_hands: float
    half_width: float | None
    choices: tuple[tuple[str, str, int, float], ...]

    @property
    def is_leak(self) -> bool:
        """Whether the whole interval lies below 0."""
        return self.half_width is not None and self.per_100_hands + self.half_width < 0

    @property
    def by_choice(self) -> float:
        """The part of `per_100_hands` that follows what was chosen; the rest came later, whoever chose what.

        Where the player chose a and the other b in n deals, at m chips each, and the other way round in n' deals at m',
        a skill that tells later adds the same to m and m', the choice itself as much to one as it takes from the other.
        So the choice has earned (n - n') (m - m') / 2. All of it is the choice's where one of the two ways has fewer
        than `FEWEST_DEALS` deals, too few to tell.
        """
        if len(self.choices) != 2 or min(deals for _, _, deals, _ in self.choices) < FEWEST_DEALS:
            return self.per_100_hands
        (*_, one, chips), (*_, other, others_chips) = self.choices
        return (one - other) * (chips / one - others_chips / other) / 2


@dataclass(frozen=True, slots=True)
class Leaks:
    """Where a player loses.

    Attributes:
        player: whose leaks.
        others: against whom, in the order met.
        deals: pairs of hands, each with the same cards in both seatings.
        unpaired: hands of the player whose deal was not played in the other seating; they do not count.
        parted: deals in which the two did not play alike.
        cells: by dimension, the worst first.
        asked: how many cells have an interval.
        bound: standard errors of each half-width.
        worst: the partings that cost most, each with the paths of its hands, the worst first.
    """

    player: str
    others: tuple[str, ...]
    deals: int
    unpaired: int
    parted: int
    cells: tuple[Cell, ...]
    asked: int
    bound: float
    worst: tuple[tuple[Parting, tuple[str, ...]], ...]

    @property
    def leaks(self) -> tuple[Cell, ...]:
        """Decisions that lose, at least half of it by what was chosen, the worst first.

        Cards that hold at least half of what a decision loses stand before it, in its place: they say more.
        """
        found = [cell for cell in self.cells if _is_choice(cell)]
        wide = {cell.name: cell.per_100_hands for cell in found if cell.dimension == "decision"}

        def place(cell: Cell) -> tuple[float, int, float]:
            at, _, choice = cell.name.partition(", with ")
            whole = wide.get(f"{at}: {choice.rpartition(': ')[2]}", 0.0) if choice else 0.0
            stands = whole if 2 * cell.per_100_hands <= whole else cell.per_100_hands
            return min(stands, cell.per_100_hands), DIMENSIONS.index(cell.dimension), cell.per_100_hands

        return tuple(sorted(found, key=place))

    @property
    def wider(self) -> tuple[Cell, ...]:
        """All other cells that lose, the worst first."""
        found = [cell for cell in self.cells if cell.is_leak and not _is_choice(cell)]
        return tuple(sorted(found, key=lambda cell: cell.per_100_hands))


def _is_choice(cell: Cell) -> bool:
    """Whether a cell is a leak of one decision rather than of what came behind it."""
    return cell.dimension in _DECISIONS and cell.is_leak and cell.by_choice <= cell.per_100_hands / 2


def find_leaks(
    paths: Iterable[str | os.PathLike[str]],
    player: str | None = None,
    *,
    worst: int = 10,
    on_hands: Callable[[int], None] | None = None,
    **options: Unpack[ReadingOptions],
) -> Leaks:
    """Where a player loses, from files and folders of duplicate matches of two players of hold'em.

    Args:
        paths: of files and folders; copies of files count once, and are reported as problems.
        player: whose leaks; None for the first player of the first hand.
        worst: how many of the dearest partings are kept.
        on_hands: is told now and then how many hands have been read.
        **options: how the files are read.

    Raises:
        LeaksRefused: leaks cannot be told from these hands; the sentence says why.
        LogsError: a file cannot be read.
        OSError: a file cannot be read.
    """
    files = files_of_hands(paths, options)

    def deals() -> Iterator[list[_Found]]:
        hands = 0
        for group in group_by_cards(files):
            known: dict[int, str] = {}

            def told(path: str, records: Iterator[HandRecord], known: dict[int, str] = known) -> Iterator[HandRecord]:
                for record in records:
                    known[id(record)] = path
                    yield record

            sources = [told(file.path, hands_of(file, has_others=len(files) > 1, **options)) for file in group]
            deal: list[_Found] = []
            for record in by_deal(sources):
                if deal and deal[0][1].hand_number != record.hand_number:
                    yield deal
                    deal = []
                deal.append((known.pop(id(record)), record))
                hands += 1
                if on_hands is not None and not hands % _PROGRESS_HANDS:
                    on_hands(hands)
            if deal:
                yield deal

    return leaks_of(deals(), player, worst=worst)


def leaks_of(deals: Iterable[Sequence[_Found]], player: str | None = None, *, worst: int = 10) -> Leaks:
    """Where a player loses.

    Args:
        deals: of each, all its hands with the paths they come from.
        player: whose leaks; None for the first player of the first hand.
        worst: how many of the dearest partings are kept.

    Raises:
        LeaksRefused: leaks cannot be told from these hands; the sentence says why.
    """
    names: dict[str, None] = {}
    game: Game | None = None
    count: _Count | None = None
    for hands in deals:
        for _, record in hands:
            names |= dict.fromkeys(record.names_by_seat)
            count = count or _Count(record.names_by_seat[0] if player is None else player, worst)
            if count.player in record.names_by_seat:
                game = game or record.game
                _check(record, game)
        if count is not None:
            count.add([one for one in hands if count.player in one[1].names_by_seat])
    if count is None:
        raise LeaksRefused("there is no finished hand")
    if count.player not in names:
        raise LeaksRefused(f"no player is called {quoted(count.player)}; there are {', '.join(names)}")
    return count.leaks()


class _Count:
    """Counts the deals of a player."""

    def __init__(self, player: str, worst: int) -> None:
        self.player = player
        self._worst = worst
        self._others: dict[str, None] = {}
        self._deals = self._pairs = self._unpaired = 0
        self._numbers: dict[tuple[int, str], int] = {}
        self._choices: list[dict[tuple[str, str], tuple[int, float]]] = []
        self._won: list[float] = []
        self._of_deal: list[int] = []
        self._cells: list[tuple[int, ...]] = []
        self._dearest: list[tuple[float, int, Parting, tuple[str, ...]]] = []

    def add(self, hands: Sequence[_Found]) -> None:
        """Count the hands of a deal."""
        pairs, alone = _pairs(hands)
        self._unpaired += alone
        for one, other in pairs:
            self._pairs += 1
            self._others |= dict.fromkeys(name for name in one[1].names_by_seat if name != self.player)
            parting = parting_of(one[1], other[1], self.player)
            if parting is not None:
                self._add(parting, tuple(sorted({one[0], other[0]})))
        self._deals += bool(pairs)

    def _add(self, parting: Parting, paths: tuple[str, ...]) -> None:
        chips = parting.lost_or_won
        numbers = tuple([self._numbers.setdefault(key, len(self._numbers)) for key in enumerate(parting.cells)])
        self._choices += [{} for _ in range(len(self._numbers) - len(self._choices))]
        choice = parting.did, parting.others
        for number in numbers:
            count, sum_ = self._choices[number].get(choice, (0, 0.0))
            self._choices[number][choice] = count + 1, sum_ + chips
        self._won.append(chips)
        self._of_deal.append(self._deals)
        self._cells.append(numbers)
        if chips < 0 and self._worst:
            push = heapq.heappush if len(self._dearest) < self._worst else heapq.heappushpop
            push(self._dearest, (-chips, -len(self._won), parting, paths))

    def leaks(self) -> Leaks:
        """What the deals show.

        Raises:
            LeaksRefused: they are too few, or none was played in both seatings.
        """
        self._check_deals()
        import numpy as np

        from logs.leaks.simultaneous import simultaneous

        sizes = [sum(count for count, _ in choices.values()) for choices in self._choices]
        asked = [number for number, size in enumerate(sizes) if size >= FEWEST_DEALS]
        place = np.full(len(sizes), len(asked), dtype=np.int64)
        place[asked] = range(len(asked))
        cells = place[np.array(self._cells, dtype=np.int64).reshape(-1, len(DIMENSIONS))]
        found = simultaneous(np.array(self._won), cells, np.array(self._of_deal), len(asked), self._deals)
        scale = 100 / (2 * self._pairs)
        halves = dict(zip(asked, found.half_widths * scale, strict=True))
        made = [
            _cell(DIMENSIONS[at], name, self._choices[number], scale, halves.get(number))
            for (at, name), number in self._numbers.items()
        ]
        made.sort(key=lambda cell: (DIMENSIONS.index(cell.dimension), cell.per_100_hands, cell.name))
        return Leaks(
            self.player,
            tuple(self._others),
            self._pairs,
            self._unpaired,
            len(self._won),
            tuple(made),
            len(asked),
            found.bound,
            tuple((parting, paths) for *_, parting, paths in sorted(self._dearest, reverse=True)),
        )

    def _check_deals(self) -> None:
        if not self._pairs:
            raise LeaksRefused(
                f"no deal of {self.player} was played in both seatings, and otherwise the luck of the cards hides "
                "leaks: play duplicates"
            )
        if self._deals < FEWEST_DEALS:
            raise LeaksRefused(
                f"{self.player} played {self._deals} deal{'s' * (self._deals != 1)} in both seatings; leaks take "
                f"{FEWEST_DEALS} at least"
            )


def _cell(
    dimension: str, name: str, choices: dict[tuple[str, str], tuple[int, float]], scale: float, half: float | None
) -> Cell:
    did = [(one, other, count, scale * chips) for (one, other), (count, chips) in choices.items()]
    did.sort(key=lambda choice: (choice[3], choice))
    count, total = sum(one[2] for one in did), sum(one[3] for one in did)
    return Cell(dimension, name, count, total, None if half is None else float(half), tuple(did))


def _check(record: HandRecord, game: Game) -> None:
    """Do nothing if leaks can be told from a hand.

    Raises:
        LeaksRefused: they cannot.
    """
    if record.game != game:
        raise LeaksRefused("the hands are of different games: give those of one")
    if game.num_players != 2:
        raise LeaksRefused(f"leaks are told from matches of two players, not of {game.num_players}")
    if not is_holdem(game):
        raise LeaksRefused("leaks are told in hold'em only: hands and boards of other games have no classes here")
    if not all(record.deal.hole_cards):
        raise LeaksRefused(
            f"hand {record.hand_number} of {record.match_name} does not show all hole cards, and leaks are told from "
            "the same cards played twice"
        )


def _pairs(hands: Sequence[_Found]) -> tuple[list[tuple[_Found, _Found]], int]:
    """The hands of a deal in pairs of the same two players who have changed seats, and how many are left."""
    waiting: dict[object, list[_Found]] = {}
    found = []
    for one in hands:
        record = one[1]
        holes = record.deal.hole_cards
        same = waiting.get((record.names[::-1], holes))
        if same:
            found.append((same.pop(0), one))
        else:
            waiting.setdefault((record.names, holes), []).append(one)
    return found, sum(map(len, waiting.values()))
