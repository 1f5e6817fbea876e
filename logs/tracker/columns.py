"""Counting the hands of clean hold'em logs in columns: thousands of hands at a time, one array for each fact.

The result is that of `HandCounts.add`, except for the last digits of sums of fractions. A log in which anything is
unusual raises `UncleanLogError`, and its hands are counted one by one. A clean log is what a dealer writes: a header,
hands without a gap in their numbers, players with different names, all hole cards, the right values, a score that is
the sum of the hands, whole lines.

`StateLines` reads and checks each way to bet and each list of names when it first comes. Cards and values are checked
here for all hands at once. The values of a showdown follow from the betting and the order of the ranks, and the rules
compute them once for each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any, Final, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from engine import CARD_TEXTS, BettingState, Card, Deal, Game, Seat
from engine.cards import starting_hand_table
from engine.hand import hand_values
from engine.holdem import has_usual_blinds
from engine.kernels.cards import rank_sevens
from logs.acpc_log.header import HEADER_START, LogHeader, find_log_game, parse_header
from logs.acpc_log.parts import LogPart
from logs.acpc_log.reader import MOST_CHARACTERS, opened_part
from logs.acpc_log.seating import Seating
from logs.acpc_log.state_lines import NUMBER, Score, StateLines, is_same_score, parse_score
from logs.errors import LogError, UncleanLogError
from logs.estimation import Moments
from logs.files import opened, stem
from logs.record import HandRecord
from logs.tracker.hand_counts import BigPot, GameCounts, HandCounts, Table
from logs.tracker.hand_facts import BettingFacts
from logs.tracker.player_counts import CardCounts, DealMoments, Pairs, PlayerCurve, Sums, added_pairs
from protocol import FormatError

_HANDS: Final = 1 << 13
"""Of each log that are counted at a time."""
_MOST_WAYS: Final = 1 << 15
"""Ways to bet that are remembered."""
_MOST_TABLES: Final = 1 << 8
_TOLERANCE_CHIPS: Final = 1e-6
_NONE: Final = 255
"""In place of a card that was not dealt."""

_RANK_OF: Final = np.full(256, -52, np.int16)
_SUIT_OF: Final = np.full(256, -52, np.int16)
for _card, _text in enumerate(CARD_TEXTS):
    _RANK_OF[ord(_text[0])] = _card // 4
    _SUIT_OF[ord(_text[1])] = _card % 4
_BITS: Final = np.array([1 << card if card < 52 else 0 for card in range(256)], np.uint64)
_STARTING_HANDS: Final = np.array(starting_hand_table())


class _Way(NamedTuple):
    betting: BettingState
    facts: BettingFacts
    values: tuple[float, ...]
    """Without a showdown; zeros with one."""


class _Hands(NamedTuple):
    """Hands in columns; the first axis of every array is the hand, the second the position.

    Attributes:
        numbers: of the hands in their match.
        ways: the number of the way to bet, in `_Known.ways`.
        tables: the number of the players and their seats, in `_Known.tables`.
        cards: hole cards of all positions, then five board cards; `_NONE` where none was dealt.
        ranks: of the seven cards of each position; 0 where the river was not dealt.
        values: net chips.
    """

    numbers: NDArray[np.int64]
    ways: NDArray[np.int64]
    tables: NDArray[np.int64]
    cards: NDArray[np.uint8]
    ranks: NDArray[np.uint16]
    values: NDArray[np.float64]

    def holes(self) -> NDArray[np.uint8]:
        """The hole cards, two for each position."""
        return self.cards[:, :-5]


class _Known:
    """What several logs of one game have in common: ways to bet, values of showdowns, players at their seats."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.ways: list[_Way] = []
        self.numbers: dict[str, int] = {}
        """Of the ways, by betting text."""
        self.tables: dict[tuple[str, tuple[str, ...], tuple[Seat, ...]], int] = {}
        """By match, players by seat, and the seat of each position."""
        self.showdowns: dict[int, tuple[float, ...]] = {}
        self._weights = (game.num_players + 1) ** np.arange(game.num_players)

    def forget(self) -> None:
        """Make room, where hardly any betting comes again."""
        if len(self.ways) > _MOST_WAYS:
            self.ways.clear()
            self.numbers.clear()
            self.showdowns.clear()

    def learn(self, text: str, betting: BettingState) -> int:
        """Remember a way to bet; returns its number."""
        is_showdown = betting.is_showdown
        values = (0.0,) * self.game.num_players if is_showdown else tuple(hand_values(betting, Deal((), ())))
        self.ways.append(_Way(betting, BettingFacts(betting), values))
        self.numbers[text] = number = len(self.ways) - 1
        return number

    def values(
        self, ways: NDArray[np.int64], at: NDArray[np.intp], cards: NDArray[np.uint8], ranks: NDArray[np.uint16]
    ) -> NDArray[np.float64]:
        """What each position wins by the rules, in chips; hand `i` was bet in the way `ways[at[i]]`."""
        used = [self.ways[way] for way in ways.tolist()]
        values = np.array([way.values for way in used])[at]
        in_pot = np.array([_mask(way.facts.showdown, self.game) for way in used])[at]
        shown = np.flatnonzero(in_pot.any(axis=1))
        compared = np.where(in_pot[shown], ranks[shown], 0)
        # How many positions each one beats is all that the values of a showdown depend on.
        orders = (compared[:, :, None] > compared[:, None, :]).sum(axis=2) @ self._weights
        keys = ways[at[shown]] * (self.game.num_players + 1) ** self.game.num_players + orders
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        of_keys: list[tuple[float, ...]] = []
        for key, hand in zip(distinct.tolist(), shown[first].tolist(), strict=True):
            found = self.showdowns.get(key)
            if found is None:
                betting = used[at[hand]].betting
                found = self.showdowns[key] = tuple(hand_values(betting, _deal(cards[hand], betting)))
            of_keys.append(found)
        if of_keys:
            values[shown] = np.array(of_keys)[inverse]
        return values


def _mask(positions: Sequence[int], game: Game) -> list[bool]:
    return [position in positions for position in range(game.num_players)]


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
        if max(map(len, lines), default=0) >= MOST_CHARACTERS or len(rest) >= MOST_CHARACTERS:
            raise UncleanLogError
        yield from lines
    if rest:
        raise UncleanLogError


class _Log:
    """A log, or a part of one, which is read hands by hands; `net` are the chips by player of those read."""

    def __init__(self, file: TextIO, path: str, part: LogPart | None, given: Game | None) -> None:
        self._lines = _lines(file)
        self.header: LogHeader | None = None
        self._score: Score | None = None
        self._has_hands = False
        self._next = None if part is None else part.next_hand
        self._is_part = part is not None and part.start > 0
        if part is not None and part.header:
            self.header = parse_header(part.header)
        self._waiting = list(islice(self._hands(), 1))
        self.game = find_log_game(self.header, path, given)
        self._match = os.path.basename(stem(path)) if self.header is None else self.header.match_name
        self._read = StateLines(self.game).read
        self._seating = Seating(self.game.num_players)
        self._seats: dict[str, tuple[Seat, ...]] = {}
        self._written: dict[str, tuple[float, ...]] = {}
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

    def take(self, hands: int, known: _Known) -> _Hands | None:
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
        ways = [known.numbers.get(text, -1) for text in bettings]
        for at, way in enumerate(ways):
            if way < 0:
                text = bettings[at]
                found = known.numbers.get(text)
                ways[at] = known.learn(text, self._read(lines[at]).betting) if found is None else found
        read = self._columns(np.arange(first, self._next), np.array(ways), tables, cards, known)
        written = np.array([self._values(text) for text in values])
        if np.abs(written - read.values).max() > _TOLERANCE_CHIPS:
            raise UncleanLogError
        for (_, _, seats), table in known.tables.items():
            of_table = read.values[tables == table]
            if len(of_table):
                self._totals[list(seats)] += of_table.sum(axis=0)
        return read

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

    def _values(self, text: str) -> tuple[float, ...]:
        found = self._written.get(text)
        if found is None:
            texts = text.split("|")
            if len(texts) != self.game.num_players or not all(map(NUMBER.fullmatch, texts)):
                raise UncleanLogError
            if len(self._written) > _MOST_WAYS:
                self._written.clear()
            found = self._written[text] = tuple(map(float, texts))
        return found

    def _columns(
        self,
        numbers: NDArray[np.int64],
        ways: NDArray[np.int64],
        tables: NDArray[np.int64],
        texts: tuple[str, ...],
        known: _Known,
    ) -> _Hands:
        players = self.game.num_players
        cards = np.full((len(ways), 2 * players + 5), _NONE, np.uint8)
        used, at = np.unique(ways, return_inverse=True)
        rounds = np.array([known.ways[way].betting.round for way in used.tolist()])[at]
        for round_, shape in enumerate(self._shapes):
            hands = np.flatnonzero(rounds == round_)
            if len(hands):
                cards[hands, : shape.num_cards] = shape.cards([texts[hand] for hand in hands.tolist()])
        sets = _BITS[cards]
        if (sets.sum(axis=1) != np.bitwise_or.reduce(sets, axis=1)).any():
            raise UncleanLogError
        ranks = np.zeros((len(ways), players), np.uint16)
        full = np.flatnonzero(rounds == 3)
        for position in range(players):
            seven = [2 * position, 2 * position + 1, *range(2 * players, 2 * players + 5)]
            ranks[full, position] = rank_sevens(cards[full][:, seven])
        return _Hands(numbers, ways, tables, cards, ranks, known.values(used, at, cards, ranks))

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


# ---- counting


def count_columns(
    paths: Sequence[str], parts: Sequence[LogPart], given: Game | None, counts: HandCounts
) -> Iterator[list[dict[str, float]]]:
    """Count the hands of logs with the same cards, or of a part of each, side by side.

    `given` is the game of logs that do not name one; `counts` is of no use after an error.

    Yields:
        at least once, and after the last hand: chips of each player in each log.

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
            while found := [taken for log in logs if (taken := log.take(_HANDS, known)) is not None]:
                if len({int(taken.numbers[0]) for taken in found}) > 1:
                    raise UncleanLogError
                order = np.argsort(np.concatenate([taken.numbers for taken in found]), kind="stable")
                hands = _Hands(*[np.concatenate(column)[order] for column in zip(*found, strict=True)])
                _Counting(counts, known, hands).count()
                known.forget()
                yield [log.net for log in logs]
            if not counts.hands:
                raise UncleanLogError
    except (LogError, FormatError, ValueError, OSError):
        raise UncleanLogError from None


def _is_counted(game: Game) -> bool:
    return has_usual_blinds(game) and game.num_board_cards == (0, 3, 1, 1) and len(game.deck) == 52


class _Counting:
    def __init__(self, counts: HandCounts, known: _Known, hands: _Hands) -> None:
        self._counts = counts
        self._known = known
        self._hands = hands
        self._game: GameCounts = counts.game_counts(known.game)
        self._tables = [self._table(*table) for table in known.tables]
        used, self._way = np.unique(hands.ways, return_inverse=True)
        self._ways = [known.ways[way] for way in used.tolist()]
        facts = [way.facts for way in self._ways]
        self._showdown = np.array([_mask(one.showdown, known.game) for one in facts])[self._way]
        self._at_end = np.array([_mask(one.reached_end, known.game) for one in facts])[self._way]
        self._saw_flop = np.array([_mask([p for p in range(16) if one.saw_flop >> p & 1], known.game) for one in facts])
        self._won = hands.values > np.array([one.won_above for one in facts])[self._way]

    def _table(self, _: str, names: tuple[str, ...], seats: tuple[Seat, ...]) -> Table:
        curves = [self._counts.player_curve(names[seat]) for seat in seats]
        return self._game.tables.get((names, seats)) or self._game.seat(names, seats, curves)

    def count(self) -> None:
        hands, game = self._hands, self._game
        for number, table in enumerate(self._tables):
            ways, times = np.unique(self._way[hands.tables == number], return_counts=True)
            for way, count in zip(ways.tolist(), times.tolist(), strict=True):
                game.count_betting(table, self._ways[way].facts, count)
        self._keep_big_pots()
        curves = {id(curve): curve for table in self._tables for curve in table.curves}
        before = {identity: self._counts.sums(curve.name) for identity, curve in curves.items()}
        expected = self._expected()
        new = np.ones(len(hands.numbers), np.bool_)
        holes = hands.holes()
        new[1:] = (hands.numbers[1:] != hands.numbers[:-1]) | (holes[1:] != holes[:-1]).any(axis=1)
        deals = np.cumsum(new, dtype=np.int64)
        whose = np.array([[id(curve) for curve in table.curves] for table in self._tables])[hands.tables]
        for identity, curve in curves.items():
            rows, positions = np.nonzero(whose == identity)
            if len(rows):
                self._count_player(curve, before[identity], rows, positions, expected[rows, positions], deals[rows])
        self._counts.hands += len(hands.numbers)

    def _expected(self) -> NDArray[np.float64]:
        """The values, those of all-in hands at their expectation, which is counted."""
        hands = self._hands
        expected = hands.values.copy()
        if self._game.has_expectations:
            boards = np.array([way.facts.board_cards for way in self._ways])[self._way]
            for hand in np.flatnonzero(boards >= 0).tolist():
                way = self._ways[self._way[hand]]
                expected[hand] = self._game.adjust(
                    self._tables[hands.tables[hand]],
                    way.facts,
                    _deal(hands.cards[hand], way.betting),
                    hands.values[hand].tolist(),
                )
        return expected

    def _count_player(
        self,
        curve: PlayerCurve,
        before: Sums,
        rows: NDArray[np.int64],
        positions: NDArray[np.int64],
        expected: NDArray[np.float64],
        deals: NDArray[np.int64],
    ) -> None:
        hands, blind = self._hands, self._known.game.big_blind
        player = self._game.player(curve.name)
        values, won = hands.values[rows, positions], self._won[rows, positions]
        showdown = self._showdown[rows, positions]
        saw_flop = self._saw_flop[self._way[rows], positions]
        pairs = _pairs(deals, values / blind), _pairs(deals, expected / blind)
        columns = values / blind, expected / blind, np.where(showdown, values, 0.0) / blind
        self._extend(curve, before, columns, pairs)
        for position in np.unique(positions).tolist():
            here = np.flatnonzero(positions == position)
            value, has_won, shown = values[here], won[here], showdown[here]
            seat = player.positions[position]
            seat.hands += len(here)
            seat.net += float(value.sum())
            seat.squares += float((value * value).sum())
            seat.showdown_net += float(value[shown].sum())
            seat.showdowns_won += int((shown & has_won).sum())
            seat.flops_won += int((shown & has_won & saw_flop[here]).sum())
            more = _pairs(deals[here], value / blind), _pairs(deals[here], expected[here] / blind)
            seat.pairs = added_pairs(seat.pairs, (_total(more[0]), _total(more[1])))
            holes = hands.cards[rows[here], 2 * position], hands.cards[rows[here], 2 * position + 1]
            _count_cards(player.starting_hands, _STARTING_HANDS[holes], value, has_won)
            at_end = self._at_end[rows[here], position]
            categories = hands.ranks[rows[here], position] >> 12
            _count_cards(player.river_hands, categories[at_end], value[at_end], has_won[at_end])
            both = at_end & shown
            _count_cards(player.final_hands, categories[both], value[both], has_won[both])

    def _extend(
        self,
        curve: PlayerCurve,
        before: Sums,
        columns: tuple[NDArray[np.float64], ...],
        pairs: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> None:
        """Continue the curve of a player, whose winnings these columns are: in big blinds, expected, at showdowns."""
        value, expected, _ = columns
        curve.pairs = added_pairs(curve.pairs, (_total(pairs[0]), _total(pairs[1])))
        if curve.due <= len(value):
            sums = np.cumsum([*columns, value * value, expected * expected], axis=1)
            paired = [np.cumsum(each, axis=0) for each in pairs]
        at = 0
        while curve.due <= len(value) - at:
            at += curve.due
            net, due, shown, squares, due_squares = sums[:, at - 1].tolist()
            of_all, of_due = (_made_pairs(each[at - 1]) for each in paired)
            so_far = Sums(
                DealMoments(Moments(at, net, squares), of_all),
                DealMoments(Moments(at, due, due_squares), of_due),
                shown,
            )
            curve.add(before.plus(so_far))
        curve.due -= len(value) - at

    def _keep_big_pots(self) -> None:
        counts, hands = self._counts, self._hands
        tables = list(self._known.tables)
        pots = np.array([way.facts.pot_blinds for way in self._ways])[self._way]
        for hand in np.flatnonzero(pots > counts.least_pot).tolist():
            blinds = float(pots[hand])
            if blinds > counts.least_pot:
                match, names, seats = tables[hands.tables[hand]]
                betting = self._ways[self._way[hand]].betting
                deal = _deal(hands.cards[hand], betting)
                values = tuple(hands.values[hand].tolist())
                record = HandRecord(
                    game=betting.game,
                    match_name=match,
                    hand_number=int(hands.numbers[hand]),
                    names_by_seat=names,
                    seats=seats,
                    deal=deal,
                    betting=betting,
                    values=values,
                )
                counts.keep(BigPot(blinds, -(counts.hands + hand), record))


def _count_cards(
    counts: list[CardCounts], kinds: NDArray[Any], values: NDArray[np.float64], won: NDArray[np.bool_]
) -> None:
    hands = np.bincount(kinds, minlength=len(counts))
    nets = np.bincount(kinds, values, len(counts))
    wins = np.bincount(kinds[won], minlength=len(counts))
    for kind in np.flatnonzero(hands).tolist():
        counts[kind].hands += int(hands[kind])
        counts[kind].net += float(nets[kind])
        counts[kind].won += int(wins[kind])


def _pairs(deals: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each hand adds to the sums over pairs of hands of one deal; see `Pairs.with_hand`. Shape (hands, 4)."""
    hands, net = np.zeros(len(values)), np.zeros(len(values))
    lag = 1
    while lag < len(values) and (same := deals[lag:] == deals[:-lag]).any():
        hands[lag:] += same
        net[lag:] += np.where(same, values[:-lag], 0.0)
        lag += 1
    return np.stack([hands > 0, hands, net + hands * values, net * values], axis=1)


def _total(pairs: NDArray[np.float64]) -> Pairs:
    return _made_pairs(pairs.sum(axis=0))


def _made_pairs(sums: NDArray[np.float64]) -> Pairs:
    repeats, number, total, products = sums.tolist()
    return Pairs(int(repeats), int(number), total, products)
