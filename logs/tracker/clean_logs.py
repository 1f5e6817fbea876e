"""Read clean hold'em logs into columns, thousands of hands at a time, without making records.

A clean log is a complete log of a dealer: a header, hands without a gap in their numbers, players with different names,
all hole cards, correct values, a score that is the sum of the hands, whole lines. Anything else raises
`UncleanLogError`, and the caller reads the hands one by one (`logs.tracker.columns.record_columns`).

`StateLines` reads and checks each betting line and each list of names when it first occurs. Cards and values are
checked here for all hands at once.
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

_BATCH_HANDS: Final = 1 << 13
"""Hands of each log in a batch."""
_MAX_WAYS: Final = 1 << 15
"""Betting lines in the cache."""
_MAX_TABLES: Final = 1 << 8
_TOLERANCE_CHIPS: Final = 1e-6

# Rank and suit by character. A card with another character becomes negative.
_RANK_OF: Final = np.full(256, -52, np.int16)
_SUIT_OF: Final = np.full(256, -52, np.int16)
for _card, _text in enumerate(CARD_TEXTS):
    _RANK_OF[ord(_text[0])] = _card // 4
    _SUIT_OF[ord(_text[1])] = _card % 4
# Bit of each card; none for NOT_DEALT.
_BITS: Final = np.array([1 << card if card < 52 else 0 for card in range(256)], np.uint64)


_Batch: TypeAlias = tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], NDArray[np.float64]
]
"""Hands of a log: numbers, indices into `_Cache.facts`, indices into `_Cache.tables`, cards and values as in
`Columns`."""


class _Cache:
    """Betting lines, values of showdowns and tables, shared by the logs of one game.

    Attributes:
        facts: facts of the betting lines.
        ways: index into `facts` by betting text.
        unshown: values of each betting line without a showdown, zeros for one with a showdown.
        tables: index by match, players by seat, and seats by position.
        showdowns: values by betting line and order of the hands.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.facts: list[BettingFacts] = []
        self.ways: dict[str, int] = {}
        self.unshown: list[tuple[float, ...]] = []
        self.tables: dict[tuple[str, tuple[str, ...], tuple[Seat, ...]], int] = {}
        self.showdowns: dict[int, tuple[float, ...]] = {}
        self._weights = (game.num_players + 1) ** np.arange(game.num_players)

    def shrink(self) -> None:
        """Forget all betting lines if there are too many, as in logs in which lines rarely recur."""
        if len(self.facts) > _MAX_WAYS:
            self.facts.clear()
            self.ways.clear()
            self.unshown.clear()
            self.showdowns.clear()

    def add(self, text: str, betting: BettingState) -> None:
        """Add a betting line."""
        self.ways[text] = len(self.facts)
        self.facts.append(BettingFacts(betting))
        if betting.is_showdown:
            values = (0.0,) * self.game.num_players
        else:
            values = tuple(hand_values(betting, Deal((), ())))
        self.unshown.append(values)

    def values(self, ways: NDArray[np.int64], cards: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the net chips by the rules, shape (hands, positions)."""
        used_ways, inverse = np.unique(ways, return_inverse=True)
        values = np.array([self.unshown[way] for way in used_ways.tolist()])[inverse]
        in_showdown = np.array([self.facts[way].showdown for way in used_ways.tolist()])[inverse]
        ranks = ranks_of(cards)
        shown = np.flatnonzero(in_showdown.any(axis=1))
        shown_ranks = np.where(in_showdown[shown], ranks[shown], 0)
        # The values of a showdown depend on the betting line and on the number of positions that each one beats. The
        # rules are applied once for each combination.
        beaten = (shown_ranks[:, :, None] > shown_ranks[:, None, :]).sum(axis=2)
        orders = beaten @ self._weights
        keys = ways[shown] * (self.game.num_players + 1) ** self.game.num_players + orders
        distinct_keys, first, key_inverse = np.unique(keys, return_index=True, return_inverse=True)
        distinct_values: list[tuple[float, ...]] = []
        for key, hand in zip(distinct_keys.tolist(), shown[first].tolist(), strict=True):
            showdown_values = self.showdowns.get(key)
            if showdown_values is None:
                betting = self.facts[ways[hand]].betting
                showdown_values = tuple(hand_values(betting, _deal(cards[hand], betting)))
                self.showdowns[key] = showdown_values
            distinct_values.append(showdown_values)
        if distinct_values:
            values[shown] = np.array(distinct_values)[key_inverse]
        return values


def _deal(cards: NDArray[np.uint8], betting: BettingState) -> Deal:
    cards_list: list[Card] = cards.tolist()
    num_holes = len(cards_list) - 5
    board_cards = betting.game.board_cards_by_round[betting.round]
    hole_cards = tuple([(cards_list[i], cards_list[i + 1]) for i in range(0, num_holes, 2)])
    return Deal(hole_cards, tuple(cards_list[num_holes : num_holes + board_cards]))


# ---- reading


def _lines(file: TextIO) -> Iterator[str]:
    rest = ""
    while chunk := file.read(1 << 18):
        *lines, rest = (rest + chunk).split("\n")
        if max(map(len, lines), default=0) >= MAX_LINE_CHARACTERS or len(rest) >= MAX_LINE_CHARACTERS:
            raise UncleanLogError
        yield from lines
    if rest:
        raise UncleanLogError


class _SeededCards:
    """Cards that a seed deals, thousands of hands at a time; equal to those of `engine.dealing`."""

    def __init__(self, game: Game, seed: int, first_hand: int) -> None:
        self._deck = np.array(game.deck, np.uint8)
        self._width = game.cards_per_hand
        self._generator = reference_generator(seed)
        # One word per card. Words of a part's earlier hands are drawn and dropped.
        words_to_skip = first_hand * self._width
        while words_to_skip > 0:
            words = min(words_to_skip, 1 << 16)
            self._generator.getrandbits(32 * words)
            words_to_skip -= words

    def take(self, hands: int) -> NDArray[np.uint8]:
        """Return the cards of the next hands in the order dealt, shape (hands, cards)."""
        count = hands * self._width
        # One long draw has the same words as many short ones, the first in the lowest bits.
        data = self._generator.getrandbits(32 * count).to_bytes(4 * count, "little")
        words = np.frombuffer(data, "<u4").reshape(hands, self._width)
        # A partial Fisher-Yates shuffle of all decks at once: the last card left replaces the one that was dealt.
        decks = np.tile(self._deck, (hands, 1))
        cards = np.empty((hands, self._width), np.uint8)
        rows = np.arange(hands)
        for index in range(self._width):
            left = len(self._deck) - index
            drawn = words[:, index] % left
            cards[:, index] = decks[rows, drawn]
            decks[rows, drawn] = decks[:, left - 1]
        return cards


class _Log:
    """A log, or a part of one, read in batches."""

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
        # The game is known from the header, which is before the first hand.
        self._waiting = list(islice(self._hands(), 1))
        self.game = find_log_game(self.header, path, given)
        self._match = os.path.basename(stem(path)) if self.header is None else self.header.match_name
        self._read = StateLines(self.game).read
        self._seating = MatchSeats(self.game.num_players)
        self._seats: dict[str, tuple[Seat, ...]] = {}
        self._values = lru_cache(_MAX_WAYS)(self._parse_values)
        self._totals = np.zeros(self.game.num_players)
        players = self.game.num_players
        self._shapes = [_CardShape(players, self.game.num_board_cards[: round_ + 1]) for round_ in range(4)]

    @property
    def net(self) -> dict[str, float]:
        """Net chips of each player in the hands read."""
        return dict(zip(self._seating.names, self._totals.tolist(), strict=False))

    def _hands(self) -> Iterator[str]:
        """Yield the lines of hands, and check all other lines on the way."""
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

    def take(self, hands: int, cache: _Cache) -> _Batch | None:
        """Read the next hands; None after the last one.

        Raises:
            UncleanLogError: something is unusual in these hands, or after the last one.
        """
        lines = self._waiting + list(islice(self._hands(), hands - len(self._waiting)))
        self._waiting = []
        if not lines:
            self._check_score()
            return None
        fields = [line.split(":") for line in lines]
        _, numbers, bettings, card_texts, value_texts, names = zip(*fields, strict=True)
        first = int(numbers[0]) if self._next is None else self._next
        if numbers != tuple(map(str, range(first, first + len(lines)))):
            raise UncleanLogError
        self._next = first + len(lines)
        # Checks the bound of hand numbers; the last number is the highest.
        self._read(lines[-1])
        if not self._seating.names:
            self._seat(lines)
        tables = self._tables(lines, names, cache)
        for text, line in zip(bettings, lines, strict=True):
            if text not in cache.ways:
                cache.add(text, self._read(line).betting)
        ways = np.array([cache.ways[text] for text in bettings])
        last_rounds = np.array([cache.facts[way].betting.round for way in ways.tolist()])
        cards = self._cards(last_rounds, card_texts)
        self._check_cards(first, cards)
        values = cache.values(ways, cards)
        written_values = np.array([*map(self._values, value_texts)])
        if np.abs(written_values - values).max() > _TOLERANCE_CHIPS:
            raise UncleanLogError
        for (_, _, seats), table in cache.tables.items():
            table_values = values[tables == table]
            if len(table_values):
                self._totals[list(seats)] += table_values.sum(axis=0)
        return np.arange(first, self._next), ways, tables, cards, values

    def _seat(self, lines: list[str]) -> None:
        """Find the seats from the first hands."""
        for line in lines:
            state = self._read(line)
            if self._seating.collect(state.hand_number, state.names):
                return
        raise UncleanLogError

    def _tables(self, lines: list[str], names: tuple[str, ...], cache: _Cache) -> NDArray[np.int64]:
        """Return the table of each hand, shape (hands,)."""
        indices = {}
        for text in dict.fromkeys(names):
            seats = self._seats.get(text)
            if seats is None:
                state = self._read(lines[names.index(text)])
                if len(set(state.names)) < len(state.names) or len(self._seats) > _MAX_TABLES:
                    raise UncleanLogError
                seats = self._seats[text] = self._seating.seats(state.hand_number, state.names)
            table = (self._match, self._seating.names, seats)
            indices[text] = cache.tables.setdefault(table, len(cache.tables))
        return np.array([indices[text] for text in names])

    def _parse_values(self, text: str) -> tuple[float, ...]:
        texts = text.split("|")
        if len(texts) != self.game.num_players or not all(map(NUMBER.fullmatch, texts)):
            raise UncleanLogError
        return tuple(map(float, texts))

    def _cards(self, last_rounds: NDArray[np.int64], texts: tuple[str, ...]) -> NDArray[np.uint8]:
        """Read the cards of hands, given the last round of each, as in `Columns`."""
        cards = np.full((len(last_rounds), 2 * self.game.num_players + 5), NOT_DEALT, np.uint8)
        for round_, shape in enumerate(self._shapes):
            hands = np.flatnonzero(last_rounds == round_)
            if len(hands):
                cards[hands, : shape.num_cards] = shape.parse([texts[hand] for hand in hands.tolist()])
        # The sum of the bits is equal to their union if no card occurs twice.
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


class _CardShape:
    """Layout of the cards of hands that ended in a certain round, with all hole cards.

    All texts of one layout have the same length, so that their characters form a rectangular array.
    """

    def __init__(self, players: int, boards: Sequence[int]) -> None:
        # "A" stands for a rank and "x" for a suit.
        text = "|".join(["AxAx"] * players)
        for count in boards[1:]:
            text += "/" + "Ax" * count
        shape = np.frombuffer(text.encode(), np.uint8)
        self._length = len(text)
        self._separators = np.flatnonzero((shape == ord("|")) | (shape == ord("/")))
        self._separator_characters = shape[self._separators]
        self._ranks = np.flatnonzero(shape == ord("A"))
        self.num_cards = len(self._ranks)

    def parse(self, texts: list[str]) -> NDArray[np.uint8]:
        """Return the cards of hands, shape (hands, cards)."""
        if list(map(len, texts)).count(self._length) < len(texts):
            raise UncleanLogError
        characters = np.frombuffer("".join(texts).encode("ascii"), np.uint8).reshape(-1, self._length)
        cards = 4 * _RANK_OF[characters[:, self._ranks]] + _SUIT_OF[characters[:, self._ranks + 1]]
        if (cards < 0).any() or (characters[:, self._separators] != self._separator_characters).any():
            raise UncleanLogError
        return cards.astype(np.uint8)


def clean_columns(
    paths: Sequence[str], parts: Sequence[LogPart], given: Game | None
) -> Iterator[tuple[Columns, list[dict[str, float]]]]:
    """Read logs with the same cards, or a part of each, side by side.

    Args:
        parts: the part of each log; empty for whole logs.
        given: game of logs that do not name one.

    Yields:
        At least once: some of the hands, and the net chips of each player in each log so far.

    Raises:
        UncleanLogError: there is something unusual in a log, or it cannot be read.
    """
    try:
        with ExitStack() as files:
            logs = []
            for index, path in enumerate(paths):
                part = parts[index] if parts else None
                file = files.enter_context(opened(path) if part is None else opened_part(path, part))
                logs.append(_Log(file, path, part, given))
            game = logs[0].game
            if not all(log.game == game for log in logs) or not _is_supported(game):
                raise UncleanLogError
            cache = _Cache(game)
            batches = _take_batches(logs, cache)
            if not batches:
                raise UncleanLogError
            while batches:
                first_numbers = {int(numbers[0]) for numbers, *_ in batches}
                if len(first_numbers) > 1:
                    raise UncleanLogError
                # Deal by deal: hands of the same number are consecutive, in the order of the logs.
                order = np.argsort(np.concatenate([numbers for numbers, *_ in batches]), kind="stable")
                columns = [np.concatenate(column)[order] for column in zip(*batches, strict=True)]
                yield _columns(cache, *columns), [log.net for log in logs]
                cache.shrink()
                batches = _take_batches(logs, cache)
    except (LogError, FormatError, ValueError, OSError):
        raise UncleanLogError from None


def _is_supported(game: Game) -> bool:
    return has_usual_blinds(game) and game.num_board_cards == (0, 3, 1, 1) and len(game.deck) == 52


def _take_batches(logs: Sequence[_Log], cache: _Cache) -> list[_Batch]:
    batches = [log.take(_BATCH_HANDS, cache) for log in logs]
    return [batch for batch in batches if batch is not None]


def _columns(
    cache: _Cache,
    numbers: NDArray[np.int64],
    ways: NDArray[np.int64],
    tables: NDArray[np.int64],
    cards: NDArray[np.uint8],
    values: NDArray[np.float64],
) -> Columns:
    table_list = list(cache.tables)

    def record(hand: int) -> HandRecord:
        match, names, seats = table_list[tables[hand]]
        betting = cache.facts[ways[hand]].betting
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
    is_new_deal = (numbers[1:] != numbers[:-1]) | (holes[1:] != holes[:-1]).any(axis=1)
    return Columns(
        game=cache.game,
        facts=cache.facts,
        names=[tuple([names[seat] for seat in seats]) for _, names, seats in table_list],
        order=np.arange(len(ways)),
        ways=ways,
        tables=tables,
        deals=np.cumsum(np.append(True, is_new_deal)),
        cards=cards,
        values=values,
        record=record,
    )
