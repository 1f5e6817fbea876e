"""Write hands of hold'em as PokerStars does, the text that every tracker reads.

    writer = PokerStarsWriter(game, "m1", ("Ann", "Bob"), ExportOptions(hero="Ann"))
    with open("m1.txt", "w", encoding="utf-8", newline="") as file:
        for record in read_log("m1.log"):
            file.write(writer.format(record))

Lines end in CR LF, so files are opened with ``newline=""``. Files have no byte order mark, so they can be appended to
and joined. `format_pokerstars_file` writes records of any number of matches. Actions that the ACPC allows beyond the
rules of card rooms are written as they happened.
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
_FIRST_US: Final = (datetime(2, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_END_US: Final = (datetime(9999, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_HOUR_S: Final = 3600
_MAX_PLANS: Final = 1 << 14
"""Plans in a writer's cache: all bettings of heads-up limit that occur, in both seatings."""
_MAX_TABLES: Final = 64
"""Seatings in a writer's cache. A match has one, or as many as players."""
_DEFAULT_OPTIONS: Final = ExportOptions()
_ShownHand: TypeAlias = tuple[int, str, str, str]
"""Hand at the showdown: rank, hole cards, name in the summary, and name at the showdown with its ending."""


class HandClock:
    """Clock of New York for the hands of one match, in texts that grow.

    Attributes:
        ahead_s: seconds by which the last hand is dated late.
    """

    # Importers take times for US Eastern time and convert them to their own. Trackers sort hands by them and cut
    # sessions by them, so a hand that is not later than the one before, also because the clock was put back in autumn,
    # is dated one second after it. Hands that take longer let the clock catch up.

    def __init__(self) -> None:
        self.ahead_s = 0
        self._last_s: int | None = None
        self._hour = 0
        self._offset_s = 0
        self._minute: int | None = None
        self._minute_text = ""

    def text(self, time_us: int) -> str:
        """Format the time of the next hand, as ``2026/01/02 9:05:00``.

        Args:
            time_us: microseconds of Unix time.

        Raises:
            ValueError: the time is in no calendar.
        """
        utc_s = time_us // 1_000_000
        # The clock of a zone changes at full hours only.
        hour = utc_s // _HOUR_S
        if hour != self._hour or self._last_s is None:
            offset = _eastern(time_us).utcoffset()
            assert offset is not None
            self._hour = hour
            self._offset_s = int(offset.total_seconds())
        local_s = utc_s + self._offset_s
        self.ahead_s = 0
        if self._last_s is not None and local_s <= self._last_s:
            self.ahead_s = self._last_s + 1 - local_s
            local_s += self.ahead_s
        self._last_s = local_s
        minute, second = divmod(local_s, 60)
        if minute != self._minute:
            local = _EPOCH + timedelta(minutes=minute)
            self._minute = minute
            # The hour has no leading zero.
            self._minute_text = f"{local.year:04}/{local.month:02}/{local.day:02} {local.hour}:{local.minute:02}:"
        return f"{self._minute_text}{second:02}"


def eastern_date(time_us: int) -> date:
    """Return the date in New York at a moment in microseconds of Unix time.

    Raises:
        ValueError: the time is in no calendar.
    """
    return _eastern(time_us).date()


def eastern_us(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int:
    """Return the moment, in microseconds of Unix time, of a time on the clock of New York.

    A time that occurs twice, when the clock is put back in autumn, is the first of the two.

    Raises:
        ValueError: the time is in no calendar.
    """
    local = datetime(year, month, day, hour, minute, second, tzinfo=_NEW_YORK)
    return (local.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)


def _eastern(time_us: int) -> datetime:
    # In the last year, a clock that runs ahead could leave the calendar.
    if not _FIRST_US <= time_us < _END_US:
        raise ValueError(f"an impossible time: {time_us} us")
    return (_EPOCH + timedelta(microseconds=time_us)).astimezone(_NEW_YORK)


def check_game(game: Game) -> Blinds:
    """Return the positions of the blinds of a game that the format can express.

    Raises:
        UnsupportedGameError: the game is not hold'em, or its blinds are not the usual two.
    """
    blinds = usual_blinds(game, FORMAT_NAME)
    # Trackers would report actions out of turn if the button were not the small blind heads-up.
    if game.first_players[0] != blinds.small and game.num_players == 2:
        raise UnsupportedGameError(
            FORMAT_NAME,
            f"{FORMAT_NAME} needs the button to be the small blind and to act first with two players, but here the "
            "other one acts first; PHH and an ACPC log hold the game",
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
    """Writer of the hands of one match, in their order.

    Caches are bounded, so its memory does not grow with the match.
    """

    def __init__(
        self,
        game: Game,
        match_name: str,
        names: tuple[str, ...],
        options: ExportOptions = _DEFAULT_OPTIONS,
    ) -> None:
        """Prepare the parts that all hands of the match share.

        Args:
            names: players by seat.

        Raises:
            UnsupportedGameError: the game is not hold'em, or its blinds are not the usual two.
            LogsError: the hero is not at the table.
            ValueError: the currency or the value of a chip is not one of PokerStars.
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
        # Genuine lines end in CR LF. Every importer that was tried takes either, others may not.
        self._line_end = "\r\n" if options.crlf else "\n"
        self._money = Money(options)
        self._table_name = table_name(match_name if options.table is None else options.table)
        game_words = "Hold'em Limit" if game.is_limit else "Hold'em No Limit"
        # FPDB finds the fields of the first line by their exact separators, such as the two blanks behind the number.
        self._first_line = f"PokerStars Hand #%s:  {game_words} ({self._money.header_stakes(game)}) - %s ET"
        self._numbers = HandNumbers(options.match_id)
        self._clock = HandClock()
        self._planner = Planner(self._money, options.rake, self._line_end)
        self._plans: dict[tuple[BettingState, tuple[Seat, ...]], BettingPlan] = {}
        self._table = lru_cache(_MAX_TABLES)(self._new_table)
        self._hand_names: dict[int, HandName] = {}

    def file_name(self, record: HandRecord) -> str:
        """Return the name of a file that begins with a hand, as ``HH20260102 m1 - $10-$20.txt``.

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
        """Seconds by which the last hand is dated late, see `HandClock`."""
        return self._clock.ahead_s

    def format(self, record: HandRecord) -> str:
        """Format a hand, with the two empty lines after it.

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
        shown: list[_ShownHand | None] = []
        if plan.showing:
            shown = self._shown_hands(record, plan)
        ending = self._ending(record, plan, table, shown)
        # In the order of `PlannedEnding.pieces`.
        gaps = [str(self._numbers.number(record)), self._time(record), self._hero_line(record)]
        board_texts: list[str] = []
        if plan.street:
            board_texts.append(f"{CARD_TEXTS[board[0]]} {CARD_TEXTS[board[1]]} {CARD_TEXTS[board[2]]}")
            # Each street's line repeats the cards before it.
            gaps += board_texts
            for card in board[3 : plan.street + 2]:
                board_texts.append(CARD_TEXTS[card])
                gaps += board_texts
        for hand in shown:
            if hand is not None:
                _, hole, _, shown_name = hand
                gaps += hole, shown_name
        gaps += board_texts
        for index in plan.shown_by_seat:
            hand = shown[index]
            if hand is not None:
                _, hole, summary_name, _ = hand
                gaps += hole, summary_name
        pieces = ending.pieces.copy()
        pieces[1::2] = gaps
        return "".join(pieces)

    def _new_plan(self, record: HandRecord, table: TableText) -> BettingPlan:
        if len(self._plans) >= _MAX_PLANS:
            self._plans.clear()
        plan = self._planner.plan(record, table)
        self._plans[record.betting, record.seats] = plan
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
        """Return the line of the hero's cards; empty without a hero, or if its cards are not known."""
        hero = self._hero_seat
        if hero is None:
            return ""
        hole = record.deal.hole_cards[record.seats.index(hero)]
        if not hole:
            return ""
        return f"Dealt to {self._screen_names[hero]} [{_hole_text(hole)}]{self._line_end}"

    def _shown_hands(self, record: HandRecord, plan: BettingPlan) -> list[_ShownHand | None]:
        """Return the hands at the showdown in the order of showing; None for unknown cards."""
        board = record.deal.board[:5]
        shown: list[_ShownHand | None] = []
        best: HandName | None = None
        best_rank = -1
        for position in plan.showing:
            hole = record.deal.hole_cards[position]
            if not hole:
                shown.append(None)
                continue
            rank = rank_hand(hole + board)
            name = self._hand_names.get(rank)
            if name is None:
                name = name_hand(hole + board, rank)
                self._hand_names[rank] = name
            shown_name = name.text
            if best is not None and name.text == best.text:
                shown_name += name_ending(name, rank, best, best_rank)
            shown.append((rank, _hole_text(hole), name.text, shown_name))
            if rank > best_rank:
                best = name
                best_rank = rank
        return shown

    def _ending(
        self, record: HandRecord, plan: BettingPlan, table: TableText, shown: Sequence[_ShownHand | None]
    ) -> PlannedEnding:
        ranks = [hand[0] for hand in shown if hand is not None]
        if len(ranks) == len(plan.showing):
            # The order of the hands alone decides the winners of every pot.
            in_order = sorted(ranks)
            order = tuple([in_order.index(rank) for rank in ranks])
            ending = plan.endings.get(order)
            if ending is None:
                winners = plan.alone
                if shown:
                    winners = _winners(plan, dict(zip(plan.showing, ranks, strict=True)))
                ending = plan.endings.get(winners) or self._planner.ending(plan, table, winners)
                plan.endings[order] = ending
                plan.endings[winners] = ending
        else:
            # Unknown hands are ranked by the values of the record.
            rank_by_position: dict[Position, int] = {}
            for position, rank_or_none in enumerate(hand_ranks(record)):
                if rank_or_none is not None:
                    rank_by_position[Position(position)] = rank_or_none
            unknown = {position for position, hand in zip(plan.showing, shown, strict=True) if hand is None}
            ending = self._planner.ending(plan, table, _winners(plan, rank_by_position), unknown)
        # Most hands with this ending have the same values.
        if record.values != ending.values:
            check_values(record, plan.pots, ending.winners)
            ending.values = record.values
        return ending


# All pairs of cards, in either order.
@lru_cache(maxsize=52 * 51)
def _hole_text(hole: tuple[Card, ...]) -> str:
    return f"{CARD_TEXTS[hole[0]]} {CARD_TEXTS[hole[1]]}"


def _winners(plan: BettingPlan, ranks: dict[Position, int]) -> tuple[tuple[Position, ...], ...]:
    winners: list[tuple[Position, ...]] = []
    for pot in plan.pots:
        best = max([ranks[position] for position in pot.players])
        winners.append(tuple([position for position in pot.players if ranks[position] == best]))
    return tuple(winners)


def format_pokerstars(record: HandRecord, options: ExportOptions = _DEFAULT_OPTIONS) -> str:
    """Format a single hand, with the two empty lines after it.

    Without a `match_id` the hand itself identifies its match; use `PokerStarsWriter` for the hands of a match.

    Raises:
        UnsupportedGameError: the game is not hold'em, or its blinds are not the usual two.
        LogsError: the format cannot express it, or the hero is not at the table.
    """
    return _writer(record, options).format(record)


def format_pokerstars_file(records: Iterable[HandRecord], options: ExportOptions = _DEFAULT_OPTIONS) -> Iterator[str]:
    """Yield the text of each hand of a file.

    Hands of several matches may follow each other. A hand number that does not grow begins another match too.

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
