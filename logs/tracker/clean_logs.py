"""Reading clean hold'em logs into columns, without making records: thousands of hands at a time.

The columns are those of `logs.tracker.columns.record_columns`. A log in which anything is unusual raises
`UncleanLogError`, and its hands are read one by one. A clean log is what a dealer writes: a header, hands without a gap
in their numbers, players with different names, all hole cards, the right values, a score that is the sum of the hands,
whole lines.

`StateLines` reads and checks each way to bet and each list of names when it first comes. Cards and values are checked
here for all hands at once. The values of a showdown follow from the betting and the order of the ranks, and the rules
compute them once for each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from itertools import islice
from typing import Final, TextIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine import CARD_TEXTS, BettingState, Card, Deal, Game, Seat
from engine.dealing import reference_generator
from engine.hand import hand_values
from engine.holdem import has_usual_blinds
from logs.acpc_log.dealt_cards import MAX_HAND
from logs.acpc_log.header import HEADER_START, LogHeader, find_log_game, parse_header
from logs.acpc_log.parts import LogPart
from logs.acpc_log.reader import MAX_LINE_CHARACTERS, opened_part
from logs.acpc_log.seating import MatchSeats
from logs.acpc_log.state_lines import NUMBER, ScoreLine, StateLines, is_same_score, parse_score
from logs.errors import LogError, UncleanLogError
from logs.files import opened, stem
from logs.record import HandRecord
from logs.tracker.columns import NOT_DEALT, Columns, ranks_of
from logs.tracker.hand_facts import BettingFacts
from protocol import FormatError

_HANDS: Final = 1 << 13
"""Of each log that are counted at a time."""
_MOST_WAYS: Final = 1 << 15
"""Ways to bet that are remembered."""
_MOST_TABLES: Final = 1 << 8
_TOLERANCE_CHIPS: Final = 1e-6

_RANK_OF: Final = np.full(256, -52, np.int16)
_SUIT_OF: Final = np.full(256, -52, np.int16)
for _card, _text in enumerate(CARD_TEXTS):
    _RANK_OF[ord(_text[0])] = _card // 4
    _SUIT_OF[ord(_text[1])] = _card % 4
_BITS: Final = np.array([1 << card if card < 52 else 0 for card in range(256)], np.uint64)


_Taken: TypeAlias = tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], NDArray[np.float64]
]
"""Hands of a log: their numbers, places in `_Known.facts` and `_Known.tables`, cards and values as in `Columns`."""


class _Known:
    """What several logs of one game have in common: ways to bet, values of showdowns, players at their seats."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.facts: list[BettingFacts] = []
        self.ways: dict[str, int] = {}
        """Places in `facts`, by betting text."""
        self.unshown: list[tuple[float, ...]] = []
        """The values in each way without a showdown; zeros with one."""
        self.tables: dict[tuple[str, tuple[str, ...], tuple[Seat, ...]], int] = {}
        """By match, players by seat, and the seat of each position."""
        self.showdowns: dict[int, tuple[float, ...]] = {}
        self._weights = (game.num_players + 1) ** np.arange(game.num_players)

    def forget(self) -> None:
        """Make room, where hardly any betting comes again."""
        if len(self.facts) > _MOST_WAYS:
            for remembered in (self.facts, self.ways, self.unshown, self.showdowns):
                remembered.clear()

    def learn(self, text: str, betting: BettingState) -> None:
        """Remember a way to bet."""
        is_showdown = betting.is_showdown
        self.ways[text] = len(self.facts)
        self.facts.append(BettingFacts(betting))
        values = (0.0,) * self.game.num_players if is_showdown else tuple(hand_values(betting, Deal((), ())))
        self.unshown.append(values)

    def values(self, ways: NDArray[np.int64], cards: NDArray[np.uint8]) -> NDArray[np.float64]:
        """What each position wins by the rules, in chips."""
        used, at = np.unique(ways, return_inverse=True)
        values = np.array([self.unshown[way] for way in used.tolist()])[at]
        in_pot = np.array([self.facts[way].showdown for way in used.tolist()])[at]
        ranks = ranks_of(cards)
        shown = np.flatnonzero(in_pot.any(axis=1))
        compared = np.where(in_pot[shown], ranks[shown], 0)
        # How many positions each one beats is all that the values of a showdown depend on.
        orders = (compared[:, :, None] > compared[:, None, :]).sum(axis=2) @ self._weights
        keys = ways[shown] * (self.game.num_players + 1) ** self.game.num_players + orders
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        of_keys: list[tuple[float, ...]] = []
        for key, hand in zip(distinct.tolist(), shown[first].tolist(), strict=True):
            found = self.showdowns.get(key)
            if found is None:
                betting = self.facts[ways[hand]].betting
                found = self.showdowns[key] = tuple(hand_values(betting, _deal(cards[hand], betting)))
            of_keys.append(found)
        if of_keys:
            values[shown] = np.array(of_keys)[inverse]
        return values


def _deal(cards: NDArray[np.uint8], betting: BettingState) -> Deal:
    dealt: list[Card] = cards.tolist()
    holes = len(dealt) - 5
    hole_cards = tuple([(dealt[at], dealt[at + 1]) for at in range(0, holes, 2)])
    return Deal(hole_cards, tuple(dealt[holes : holes + betting.game.board_cards_by_round[betting.round]]))


# ---- reading


def _lines(file: TextIO) -> Iterator[str]:
    rest = ""
    while piece := file.read(1 << 18):
        *lines, rest = (rest + piece).split("\n")
        if max(map(len, lines), default=0) >= MAX_LINE_CHARACTERS or len(rest) >= MAX_LINE_CHARACTERS:
            raise UncleanLogError
        yield from lines
    if rest:
        raise UncleanLogError


class _SeededCards:
    """The cards that a seed deals, thousands of hands at a time."""

    def __init__(self, game: Game, seed: int, first_hand: int) -> None:
        self._deck = np.array(game.deck, np.uint8)
        self._width = game.cards_per_hand
        self._generator = reference_generator(seed)
        to_skip = first_hand * self._width
        while to_skip > 0:
            chunk = min(to_skip, 1 << 16)
            self._generator.getrandbits(32 * chunk)
            to_skip -= chunk

    def take(self, hands: int) -> NDArray[np.uint8]:
        """The cards of the next hands in the order dealt, shape (hands, cards)."""
        count = hands * self._width
        data = self._generator.getrandbits(32 * count).to_bytes(4 * count, "little")
        words = np.frombuffer(data, "<u4").reshape(hands, self._width)
        live = np.tile(self._deck, (hands, 1))
        cards = np.empty((hands, self._width), np.uint8)
        rows = np.arange(hands)
        for place in range(self._width):
            left = len(self._deck) - place
            at = words[:, place] % left
            cards[:, place] = live[rows, at]
            live[rows, at] = live[:, left - 1]
        return cards


class _Log:
    """A log, or a part of one, which is read hands by hands; `net` are the chips by player of those read."""

    def __init__(self, file: TextIO, path: str, part: LogPart | None, given: Game | None) -> None:
        self._lines = _lines(file)
        self.header: LogHeader | None = None
        self._seeded: _SeededCards | None = None
        self._score: ScoreLine | None = None
        self._has_hands = False
        self._next = None if part is None else part.next_hand
        self._is_part = part is not None and part.start > 0
        if part is not None and part.header:
            self.header = parse_header(part.header)
        self._waiting = list(islice(self._hands(), 1))
        self.game = find_log_game(self.header, path, given)
        self._match = os.path.basename(stem(path)) if self.header is None else self.header.match_name
        self._read = StateLines(self.game).read
        self._seating = MatchSeats(self.game.num_players)
        self._seats: dict[str, tuple[Seat, ...]] = {}
        self._values = lru_cache(_MOST_WAYS)(self._read_values)
        self._totals = np.zeros(self.game.num_players)
        players = self.game.num_players
        self._shapes = [_Shape(players, self.game.num_board_cards[: round_ + 1]) for round_ in range(4)]

    @property
    def net(self) -> dict[str, float]:
        return dict(zip(self._seating.names, self._totals.tolist(), strict=False))

    def _hands(self) -> Iterator[str]:
        """The lines of hands; all others are looked at on the way."""
        for line in self._lines:
            if line.startswith("STATE:") and self._score is None:
                self._has_hands = True
                yield line
            elif line.startswith(HEADER_START):
                self.header = parse_header(line)
                if self._has_hands or self._is_part or self.header is None:
                    raise UncleanLogError
            elif line.startswith("SCORE:") and self._score is None and (score := parse_score(line)) is not None:
                self._score = score
            elif not line.startswith(("#", ";")) and line.strip():
                raise UncleanLogError

    def take(self, hands: int, known: _Known) -> _Taken | None:
        """The next hands; None after the last.

        Raises:
            UncleanLogError: something is unusual in these hands, or after the last.
        """
        lines = self._waiting + list(islice(self._hands(), hands - len(self._waiting)))
        self._waiting = []
        if not lines:
            self._check_score()
            return None
        _, numbers, bettings, cards, values, names = zip(*[line.split(":") for line in lines], strict=True)
        first = int(numbers[0]) if self._next is None else self._next
        if numbers != tuple(map(str, range(first, first + len(lines)))):
            raise UncleanLogError
        self._next = first + len(lines)
        self._read(lines[-1])  # no hand number is higher
        if not self._seating.names:
            self._seat(lines)
        tables = self._tables(lines, names, known)
        for text, line in zip(bettings, lines, strict=True):
            if text not in known.ways:
                known.learn(text, self._read(line).betting)
        ways = np.array([known.ways[text] for text in bettings])
        dealt = self._cards(np.array([known.facts[way].betting.round for way in ways.tolist()]), cards)
        self._check_cards(first, dealt)
        won = known.values(ways, dealt)
        written = np.array([*map(self._values, values)])
        if np.abs(written - won).max() > _TOLERANCE_CHIPS:
            raise UncleanLogError
        for (_, _, seats), table in known.tables.items():
            of_table = won[tables == table]
            if len(of_table):
                self._totals[list(seats)] += of_table.sum(axis=0)
        return np.arange(first, self._next), ways, tables, dealt, won

    def _seat(self, lines: list[str]) -> None:
        for line in lines:
            state = self._read(line)
            if self._seating.collect(state.hand_number, state.names):
                return
        raise UncleanLogError

    def _tables(self, lines: list[str], names: tuple[str, ...], known: _Known) -> NDArray[np.int64]:
        numbers = {}
        for text in dict.fromkeys(names):
            seats = self._seats.get(text)
            if seats is None:
                state = self._read(lines[names.index(text)])
                if len(set(state.names)) < len(state.names) or len(self._seats) > _MOST_TABLES:
                    raise UncleanLogError
                seats = self._seats[text] = self._seating.seats(state.hand_number, state.names)
            numbers[text] = known.tables.setdefault((self._match, self._seating.names, seats), len(known.tables))
        return np.array([numbers[text] for text in names])

    def _read_values(self, text: str) -> tuple[float, ...]:
        texts = text.split("|")
        if len(texts) != self.game.num_players or not all(map(NUMBER.fullmatch, texts)):
            raise UncleanLogError
        return tuple(map(float, texts))

    def _cards(self, rounds: NDArray[np.int64], texts: tuple[str, ...]) -> NDArray[np.uint8]:
        """The cards of hands that ended in these rounds."""
        cards = np.full((len(rounds), 2 * self.game.num_players + 5), NOT_DEALT, np.uint8)
        for round_, shape in enumerate(self._shapes):
            hands = np.flatnonzero(rounds == round_)
            if len(hands):
                cards[hands, : shape.num_cards] = shape.cards([texts[hand] for hand in hands.tolist()])
        sets = _BITS[cards]
        if (sets.sum(axis=1) != np.bitwise_or.reduce(sets, axis=1)).any():
            raise UncleanLogError
        return cards

    def _check_cards(self, first_hand: int, cards: NDArray[np.uint8]) -> None:
        seed = None if self.header is None else self.header.seed
        if not isinstance(seed, int) or first_hand + len(cards) > MAX_HAND:
            return
        if self._seeded is None:
            self._seeded = _SeededCards(self.game, seed, first_hand)
        if ((cards != self._seeded.take(len(cards))) & (cards != NOT_DEALT)).any():
            raise UncleanLogError

    def _check_score(self) -> None:
        if self._score is not None:
            is_sum = self._is_part or is_same_score(self._totals.tolist(), self._score.totals)
            if self._score.names != self._seating.names or not is_sum:
                raise UncleanLogError


class _Shape:
    """How the cards of a hand are written that ended in a certain round, all hole cards shown."""

    def __init__(self, players: int, boards: Sequence[int]) -> None:
        text = "|".join(["AA"] * players).replace("A", "Ax") + "".join("/" + "Ax" * count for count in boards[1:])
        shape = np.frombuffer(text.encode(), np.uint8)
        self._length = len(text)
        self._marks = np.flatnonzero((shape == ord("|")) | (shape == ord("/")))
        self._marked = shape[self._marks]
        self._ranks = np.flatnonzero(shape == ord("A"))
        self.num_cards = len(self._ranks)

    def cards(self, texts: list[str]) -> NDArray[np.uint8]:
        """The cards of hands, shape (hands, cards)."""
        if list(map(len, texts)).count(self._length) < len(texts):
            raise UncleanLogError
        data = np.frombuffer("".join(texts).encode("ascii"), np.uint8).reshape(-1, self._length)
        cards = 4 * _RANK_OF[data[:, self._ranks]] + _SUIT_OF[data[:, self._ranks + 1]]
        if (cards < 0).any() or (data[:, self._marks] != self._marked).any():
            raise UncleanLogError
        return cards.astype(np.uint8)


def clean_columns(
    paths: Sequence[str], parts: Sequence[LogPart], given: Game | None
) -> Iterator[tuple[Columns, list[dict[str, float]]]]:
    """The hands of logs with the same cards, or of a part of each, side by side.

    `given` is the game of logs that do not name one.

    Yields:
        at least once: some of the hands, and the chips of each player in each log so far.

    Raises:
        UncleanLogError: there is something unusual in a log, or it cannot be read.
    """
    try:
        with ExitStack() as files:
            logs = []
            for at, path in enumerate(paths):
                part = parts[at] if parts else None
                file = files.enter_context(opened(path) if part is None else opened_part(path, part))
                logs.append(_Log(file, path, part, given))
            game = logs[0].game
            if not all(log.game == game for log in logs) or not _is_counted(game):
                raise UncleanLogError
            known = _Known(game)
            if not (found := _taken(logs, known)):
                raise UncleanLogError
            while found:
                if len({int(numbers[0]) for numbers, *_ in found}) > 1:
                    raise UncleanLogError
                order = np.argsort(np.concatenate([numbers for numbers, *_ in found]), kind="stable")
                columns = [np.concatenate(column)[order] for column in zip(*found, strict=True)]
                yield _columns(known, *columns), [log.net for log in logs]
                known.forget()
                found = _taken(logs, known)
    except (LogError, FormatError, ValueError, OSError):
        raise UncleanLogError from None


def _is_counted(game: Game) -> bool:
    return has_usual_blinds(game) and game.num_board_cards == (0, 3, 1, 1) and len(game.deck) == 52


def _taken(logs: Sequence[_Log], known: _Known) -> list[_Taken]:
    return [taken for log in logs if (taken := log.take(_HANDS, known)) is not None]


def _columns(
    known: _Known,
    numbers: NDArray[np.int64],
    ways: NDArray[np.int64],
    tables: NDArray[np.int64],
    cards: NDArray[np.uint8],
    values: NDArray[np.float64],
) -> Columns:
    seated = list(known.tables)

    def record(hand: int) -> HandRecord:
        match, names, seats = seated[tables[hand]]
        betting = known.facts[ways[hand]].betting
        return HandRecord(
            game=betting.game,
            match_name=match,
            hand_number=int(numbers[hand]),
            names_by_seat=names,
            seats=seats,
            deal=_deal(cards[hand], betting),
            betting=betting,
            values=tuple(values[hand].tolist()),
        )

    holes = cards[:, :-5]
    is_new = (numbers[1:] != numbers[:-1]) | (holes[1:] != holes[:-1]).any(axis=1)
    return Columns(
        game=known.game,
        facts=known.facts,
        names=[tuple([names[seat] for seat in seats]) for _, names, seats in seated],
        order=np.arange(len(ways)),
        ways=ways,
        tables=tables,
        deals=np.cumsum(np.append(True, is_new)),
        cards=cards,
        values=values,
        record=record,
    )
