"""Writing hands as PokerStars does, the text that every tracker reads.

    writer = PokerStarsWriter(game, "m1", ("Ann", "Bob"), ExportOptions(hero="Ann"))
    for record in read_log("m1.log"):
        file.write(writer.format(record))

`format_pokerstars_file` does the same with records of any number of matches. Hold'em only, limit and no-limit. Rules
that are easy to get wrong:

- A raise is written as what it adds to the bet and the player's total for the street; a call as the chips added.
- An uncalled bet is returned where it happened, and is in no pot: what the players put in, without it, is the
  pot; what they collect is the pot less the rake, to the cent. Pots are split in whole cents: the first winner left of
  the button gets the odd ones.
- Heads-up the button is the small blind. A game in which it is not cannot be written: trackers would report actions out
  of turn. Checks for which no table would ask are left out (`logs.pokerstars.plans`). What the ACPC allows beyond the
  rules of card rooms is written as it happened: a raise that no other player can afford to call, and one by a player
  who has called, after an all-in that was not a full raise.
- At the showdown every player shows, the losers too, so that trackers see all cards; only unknown hands are mucked.
  Players who folded show nothing, except the hero.
- Times are those of New York: importers take them for US Eastern time and convert them to their own. Trackers sort
  hands by these times and cut sessions by them, so the times of a match grow with every hand: a hand that comes too
  early for that, also because the clock was put back in autumn, is written one second after the hand before. So the
  times of several hands a second run ahead of the clock; hands that take longer let it catch up.
- A hand has the same number in every export (`logs.formats.hand_numbers`); names do not confuse importers
  (`logs.pokerstars.names`).
- Every hand ends in two empty lines. Some lines end in a space, as genuine ones do: one importer looks for it.
- Lines end in CR LF as in genuine files, for programs that could not be tried here; those that could take either. Write
  files with ``newline=""``, or it will be CR CR LF on Windows. There is no byte order mark, so files may be appended to
  and joined; only the signs of euro and pound are not ASCII.

The writer keeps what it made of the bettings it met last (`logs.pokerstars.plans`), so memory does not grow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from engine import CARD_TEXTS, BettingState, Card, Game, Position, Seat, rank_hand
from engine.holdem import Blinds
from logs.errors import LogsError, UnsupportedGameError
from logs.formats.card_room_games import usual_blinds
from logs.formats.export_format import ExportOptions, MatchWriter
from logs.formats.hand_numbers import HandNumbers, is_next_of_match
from logs.formats.settlement import check_values, hand_ranks
from logs.pokerstars.names import HandName, name_ending, name_hand, screen_names, table_name
from logs.pokerstars.plans import BettingPlan, PlannedEnding, Planner, TableText
from logs.pokerstars.stakes import CURRENCY_SYMBOLS, FORMAT_NAME, Money
from logs.record import HandRecord

_NEW_YORK: Final = ZoneInfo("America/New_York")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_US, _END_US = ((datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1) for year in (2, 9999))
_HOUR_S: Final = 3600


class HandClock:
    """The times of one match's hands, in texts that grow; `ahead_s` is how many seconds late the last hand is dated."""

    def __init__(self) -> None:
        self.ahead_s = 0
        self._last_s: int | None = None
        self._hour = self._offset_s = 0
        self._minute: int | None = None
        self._minute_text = ""

    def text(self, at_us: int) -> str:
        """The time of the next hand, ``2026/01/02 9:05:00``, given microseconds of Unix time.

        Raises:
            ValueError: the time is in no calendar.
        """
        utc_s = at_us // 1_000_000
        # The clock of a zone changes at full hours only.
        if utc_s // _HOUR_S != self._hour or self._last_s is None:
            offset = _eastern(at_us).utcoffset()
            assert offset is not None
            self._hour, self._offset_s = utc_s // _HOUR_S, int(offset.total_seconds())
        local_s = utc_s + self._offset_s
        self.ahead_s = 0
        if self._last_s is not None and local_s <= self._last_s:
            self.ahead_s = self._last_s + 1 - local_s
            local_s += self.ahead_s
        self._last_s = local_s
        minute, second = divmod(local_s, 60)
        if minute != self._minute:
            on = _EPOCH + timedelta(minutes=minute)
            self._minute = minute
            self._minute_text = f"{on.year:04}/{on.month:02}/{on.day:02} {on.hour}:{on.minute:02}:"
        return f"{self._minute_text}{second:02}"


def eastern_date(at_us: int) -> date:
    """The day in New York at a moment given in microseconds of Unix time.

    Raises:
        ValueError: the time is in no calendar.
    """
    return _eastern(at_us).date()


def eastern_us(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int:
    """The moment, in microseconds of Unix time, at which the clock of New York shows a time.

    Of a time that it shows twice, when it is put back in autumn, the first.

    Raises:
        ValueError: the time is in no calendar.
    """
    shown = datetime(year, month, day, hour, minute, second, tzinfo=_NEW_YORK)
    return (shown.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)


def _eastern(at_us: int) -> datetime:
    # In the last year, a clock that runs ahead could leave the calendar.
    if not _FIRST_US <= at_us < _END_US:
        raise ValueError(f"an impossible time: {at_us} us")
    return (_EPOCH + timedelta(microseconds=at_us)).astimezone(_NEW_YORK)


_MOST_PLANS: Final = 1 << 14
"""Bettings a writer remembers with their seats: all that heads-up limit has in both seatings."""
_MOST_TABLES: Final = 64
"""Seatings remembered; a match has as many as players, or one."""
_DEFAULT_OPTIONS: Final = ExportOptions()
_ShownHand: TypeAlias = tuple[int, str, str, str]
"""A hand at the showdown: its rank, its hole cards, what it is called in the summary and at the showdown."""


def check_game(game: Game) -> Blinds:
    """Who posts the blinds of a game that the format has.

    Raises:
        UnsupportedGameError: the game is not hold'em, or its blinds are not the usual two.
    """
    blinds = usual_blinds(game, FORMAT_NAME)
    if game.first_players[0] != blinds.small and game.num_players == 2:
        raise UnsupportedGameError(
            FORMAT_NAME,
            f"{FORMAT_NAME} wants the button to be the small blind and to act first with two players, and here the "
            "other is first; PHH and an ACPC log hold the game",
        )
    return blinds


def start_match(first: HandRecord, options: ExportOptions) -> MatchWriter:
    writer = _writer(first, options)
    return MatchWriter(writer.file_name(first), lambda record, _: writer.format(record), lambda: writer.ahead_s)


def _writer(first: HandRecord, options: ExportOptions) -> PokerStarsWriter:
    currency = options.currency_of(first)
    if currency not in CURRENCY_SYMBOLS:
        raise LogsError(
            f"hand {first.hand_number} is played for {currency}, and a {FORMAT_NAME} is in USD, EUR, GBP or play money"
        )
    options = replace(options, currency=currency)
    return PokerStarsWriter(first.game, first.match_name, first.names_by_seat, options)


class PokerStarsWriter:
    """Writes the hands of one match, in their order."""

    def __init__(
        self,
        game: Game,
        match_name: str,
        names: tuple[str, ...],
        options: ExportOptions = _DEFAULT_OPTIONS,
    ) -> None:
        """Prepare what all hands of the match have in common; `names` are by seat.

        Raises:
            UnsupportedGameError: the game is not hold'em, or its blinds are not the usual two.
            LogsError: the hero is not at the table.
        """
        self._blinds = check_game(game)
        self._game = game
        self._match_name = match_name
        self._names = names
        self._options = options
        self._screen_names = screen_names(names)
        self._hero_seat: Seat | None = None
        if options.hero is not None:
            if options.hero not in names:
                raise LogsError(f"no player of the match is called {options.hero!r}")
            self._hero_seat = Seat(names.index(options.hero))
        self._line_end = "\r\n" if options.crlf else "\n"
        self._money = Money(options)
        self._table_name = table_name(match_name if options.table is None else options.table)
        game_words = "Hold'em Limit" if game.is_limit else "Hold'em No Limit"
        self._first_line = f"PokerStars Hand #%s:  {game_words} ({self._money.header_stakes(game)}) - %s ET"
        self._numbers = HandNumbers(options.match_id)
        self._clock = HandClock()
        self._planner = Planner(self._money, options.rake, self._line_end)
        self._plans: dict[tuple[BettingState, tuple[Seat, ...]], BettingPlan] = {}
        self._table = lru_cache(_MOST_TABLES)(self._new_table)
        self._hand_names: dict[int, HandName] = {}

    def file_name(self, record: HandRecord) -> str:
        """What a file that begins with a hand is called: ``HH20260102 m1 - $10-$20.txt``.

        Raises:
            LogsError: the time of the hand is in no calendar.
        """
        try:
            day = eastern_date(self._options.hand_time_us(record))
        except ValueError as error:
            raise LogsError(f"hand {record.hand_number} was played at {error}") from None
        return f"HH{day:%Y%m%d} {self._table_name} - {'-'.join(self._money.stakes(self._game))}.txt"

    @property
    def ahead_s(self) -> int:
        """How many seconds after its real time the last hand is dated; see `logs.pokerstars.writer`."""
        return self._clock.ahead_s

    def format(self, record: HandRecord) -> str:
        """A hand, with the two empty lines after it.

        Raises:
            LogsError: the format cannot express it, or it is not a hand of this match.
        """
        is_same_game = record.game is self._game or record.game == self._game
        if not is_same_game or record.names_by_seat != self._names or record.match_name != self._match_name:
            raise LogsError(f"hand {record.hand_number} is of another match, {record.match_name!r}, or another game")
        table = self._table(record.seats)
        plan = self._plans.get((record.betting, record.seats)) or self._new_plan(record, table)
        board = record.deal.board
        if plan.street and len(board) < plan.street + 2:
            raise LogsError(f"hand {record.hand_number}: cards of its board are missing")
        shown = self._shown_hands(record, plan) if plan.showing else []
        ending = self._ending(record, plan, table, shown)
        # Each street's line repeats the cards before it: see the templates in `logs.pokerstars.plans`.
        gaps = [str(self._numbers.number(record)), self._time(record), self._hero_line(record)]
        on_board: list[str] = []
        if plan.street:
            on_board.append(f"{CARD_TEXTS[board[0]]} {CARD_TEXTS[board[1]]} {CARD_TEXTS[board[2]]}")
            gaps += on_board
            for card in board[3 : plan.street + 2]:
                on_board.append(CARD_TEXTS[card])
                gaps += on_board
        for hand in shown:
            if hand is not None:
                gaps += hand[1], hand[3]
        gaps += on_board
        for place in plan.shown_by_seat:
            if (hand := shown[place]) is not None:
                gaps += hand[1:3]
        pieces = ending.pieces.copy()
        pieces[1::2] = gaps
        return "".join(pieces)

    def _new_plan(self, record: HandRecord, table: TableText) -> BettingPlan:
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        plan = self._plans[record.betting, record.seats] = self._planner.plan(record, table)
        return plan

    def _new_table(self, seats: tuple[Seat, ...]) -> TableText:
        return TableText(
            self._game,
            self._blinds,
            seats,
            self._screen_names,
            first_line=self._first_line,
            table_name=self._table_name,
            money=self._money,
            line_end=self._line_end,
        )

    def _time(self, record: HandRecord) -> str:
        try:
            return self._clock.text(self._options.hand_time_us(record))
        except ValueError as error:
            raise LogsError(f"hand {record.hand_number} was played at {error}") from None

    def _hero_line(self, record: HandRecord) -> str:
        """The hero's cards; nothing without a hero, or if its cards are not known."""
        hero = self._hero_seat
        if hero is None:
            return ""
        hole = record.deal.hole_cards[record.seats.index(hero)]
        if not hole:
            return ""
        return f"Dealt to {self._screen_names[hero]} [{_hole_text(hole)}]{self._line_end}"

    def _shown_hands(self, record: HandRecord, plan: BettingPlan) -> list[_ShownHand | None]:
        """The hands at the showdown in the order of showing; None for unknown cards."""
        holes = record.deal.hole_cards
        board = record.deal.board[:5]
        shown: list[_ShownHand | None] = []
        best: HandName | None = None
        best_rank = -1
        for position in plan.showing:
            hole = holes[position]
            if not hole:
                shown.append(None)
                continue
            rank = rank_hand(hole + board)
            name = self._hand_names.get(rank)
            if name is None:
                name = self._hand_names[rank] = name_hand(hole + board, rank)
            text = called = name.text
            if best is not None and text == best.text:
                called += name_ending(name, rank, best, best_rank)
            shown.append((rank, _hole_text(hole), text, called))
            if rank > best_rank:
                best = name
                best_rank = rank
        return shown

    def _ending(
        self, record: HandRecord, plan: BettingPlan, table: TableText, shown: Sequence[_ShownHand | None]
    ) -> PlannedEnding:
        ranks = [hand[0] for hand in shown if hand is not None]
        if len(ranks) == len(plan.showing):
            # Who wins what depends on the order of the hands alone.
            in_order = sorted(ranks)
            order = tuple([in_order.index(rank) for rank in ranks])
            ending = plan.endings.get(order)
            if ending is None:
                winners = _winners(plan, dict(zip(plan.showing, ranks, strict=True))) if shown else plan.alone
                ending = plan.endings.get(winners) or self._planner.ending(plan, table, winners)
                plan.endings[order] = plan.endings[winners] = ending
        else:
            by_values = {Position(p): rank for p, rank in enumerate(hand_ranks(record)) if rank is not None}
            unknown = {position for position, hand in zip(plan.showing, shown, strict=True) if hand is None}
            ending = self._planner.ending(plan, table, _winners(plan, by_values), unknown)
        if record.values != ending.values:
            check_values(record, plan.pots, ending.winners)
            ending.values = record.values
        return ending


@lru_cache(maxsize=52 * 51)
def _hole_text(hole: tuple[Card, ...]) -> str:
    return f"{CARD_TEXTS[hole[0]]} {CARD_TEXTS[hole[1]]}"


def _winners(plan: BettingPlan, ranks: dict[Position, int]) -> tuple[tuple[Position, ...], ...]:
    found = []
    for pot in plan.pots:
        best = max([ranks[position] for position in pot.players])
        found.append(tuple([position for position in pot.players if ranks[position] == best]))
    return tuple(found)


def format_pokerstars(record: HandRecord, options: ExportOptions = _DEFAULT_OPTIONS) -> str:
    """A single hand, with the two empty lines after it.

    Without a `match_id` its number is made of the hand itself; `PokerStarsWriter` is for matches.

    Raises:
        UnsupportedGameError: it is not hold'em, or its blinds are not the usual two.
        LogsError: the format cannot express it, or the hero is not at the table.
    """
    return _writer(record, options).format(record)


def format_pokerstars_file(records: Iterable[HandRecord], options: ExportOptions = _DEFAULT_OPTIONS) -> Iterator[str]:
    """Hands as the pieces of a file, one per hand.

    Hands of several matches may follow each other; a hand number that does not grow begins another match too.

    Raises:
        UnsupportedGameError: a hand is not hold'em, or its blinds are not the usual two.
        LogsError: the format cannot express a hand, or the hero is not at the table.
    """
    writer: PokerStarsWriter | None = None
    before: HandRecord | None = None
    for record in records:
        if writer is None or not is_next_of_match(record, before):
            writer = _writer(record, options)
        before = record
        yield writer.format(record)
