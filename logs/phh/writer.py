"""Write PHH, one hand as TOML text, many as numbered tables.

The specification is PHH 0.0.2 of the University of Toronto's computer poker group. Facts without a field in it are
fields of our own, which begin with an underscore as it demands:

    _has_stacks   false in limit games without stacks; `starting_stacks` are then 10,000 big blinds
    _max_raises   maximum of raises in each round
    _times        for each action, the times of question and reply, in microseconds of Unix time
    _comments     for each comment, its seat, the number of actions before it, and its text
    _seed         seed of the match's cards
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from engine import Card, Game, Move, Position, Step, format_cards
from engine.game import DEFAULT_STACK
from engine.holdem import NO_CAP
from engine.text import clean
from logs.acpc_log.writer import format_value
from logs.errors import LogsError
from logs.formats.card_room_games import check_holdem, shown_stacks
from logs.formats.export_format import DEFAULT_OPTIONS, ExportOptions, ExportWarning, MatchWriter, file_stem
from logs.formats.money import Scale
from logs.formats.settlement import showdown_order, street_actions
from logs.record import HandRecord

FORMAT_NAME: Final = "PHH"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNKNOWN_CARDS: Final = "????"


def check_game(game: Game) -> None:
    """Require a game that the format can express.

    Raises:
        UnsupportedGameError: it is not the hold'em of card rooms.
    """
    check_holdem(game, FORMAT_NAME)


def rake_warning(game: Game, options: ExportOptions) -> ExportWarning | None:
    """Return a warning if rake is taken."""
    if options.rake is None:
        return None
    return ExportWarning(f"{FORMAT_NAME} has no field for rake, so its files are written without it")


def start_match(first: HandRecord, options: ExportOptions) -> MatchWriter:
    def write(record: HandRecord, index: int) -> str:
        return next(format_phhs([record], options, first_table=index + 1))

    return MatchWriter(f"{file_stem(first.match_name)}.phhs", write)


def format_phh(record: HandRecord, options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """Format a hand as a ``.phh`` file.

    Raises:
        UnsupportedGameError: the game is not hold'em.
        LogsError: PHH cannot express the hand, or the hero is not at the table.
    """
    check_game(record.game)
    if options.hero is not None and options.hero not in record.names_by_seat:
        raise LogsError(f"no player of hand {record.hand_number} is called {options.hero!r}")
    return "".join(f"{key} = {value}\n" for key, value in _fields(record, options))


def format_phhs(
    records: Iterable[HandRecord], options: ExportOptions = DEFAULT_OPTIONS, *, first_table: int = 1
) -> Iterator[str]:
    """Yield the text of each hand of a ``.phhs`` file.

    Args:
        first_table: number of the first hand's table.

    Raises:
        UnsupportedGameError: a hand is not hold'em.
        LogsError: PHH cannot express it.
    """
    for table, record in enumerate(records, first_table):
        yield f"[{table}]\n{format_phh(record, options)}\n"


class _Amounts:
    """Format of chips as amounts of money."""

    def __init__(self, record: HandRecord, options: ExportOptions) -> None:
        self._scale = Scale(options.chip_value)
        # PokerKit splits pots into whole chips if amounts are whole numbers. So all amounts of a hand have decimals if
        # any of its pots is split into parts of a chip.
        self._has_decimals = any(value % 1 for value in record.values)

    def text(self, chips: int) -> str:
        amount = self._scale.amount(chips)
        if self._has_decimals:
            amount = float(amount)
        return str(amount)

    def fractional_text(self, chips: float) -> str:
        text = format_value(chips * float(self._scale.chip_value))
        if self._has_decimals and "." not in text:
            return f"{text}.0"
        return text


def _fields(record: HandRecord, options: ExportOptions) -> Iterator[tuple[str, str]]:
    game = record.game
    players = game.num_players
    amounts = _Amounts(record, options)
    amount = amounts.text
    stacks = shown_stacks(game)
    yield "variant", _string("FT" if game.is_limit else "NT")
    yield "antes", _array([amount(0)] * players)
    blinds = game.blinds
    if players == 2:
        # Heads-up the specification lists the blinds in reverse order.
        blinds = blinds[::-1]
    yield "blinds_or_straddles", _array([amount(blind) for blind in blinds])
    if game.is_limit:
        yield "small_bet", amount(game.raise_sizes[0])
        yield "big_bet", amount(game.raise_sizes[-1])
    else:
        yield "min_bet", amount(game.big_blind)
    yield "starting_stacks", _array(map(amount, stacks))
    actions = "".join(f'  "{action}",\n' for action in _actions(record, options, amounts))
    yield "actions", f"[\n{actions}]"
    yield "event", _string(record.match_name)
    yield from _time_fields(record)
    yield "hand", str(record.hand_number)
    yield "seats", _array([seat + 1 for seat in record.seats])
    yield "seat_count", str(players)
    yield "players", _array(map(_string, record.names))
    finishing = [stack + won for stack, won in zip(stacks, record.values, strict=True)]
    yield "finishing_stacks", _array(map(amounts.fractional_text, finishing))
    currency = options.currency_of(record)
    if currency is not None:
        yield "currency", _string(currency)
    yield from _own_fields(record, options)


def _actions(record: HandRecord, options: ExportOptions, amounts: _Amounts) -> Iterator[str]:
    actions = street_actions(record.betting)
    order = showdown_order(record, actions)
    for number, (name, hole) in enumerate(zip(record.names, record.deal.hole_cards, strict=True), 1):
        cards = _UNKNOWN_CARDS
        if hole and options.hero in (None, name):
            cards = format_cards(hole)
        yield f"d dh p{number} {cards}"
    last_round = actions[-1].round if actions else 0
    for round_, board in enumerate(record.board_by_round):
        if board:
            yield f"d db {format_cards(board)}"
        for action in actions:
            if action.round == round_:
                yield _action_text(action, amounts)
        if round_ == last_round:
            # Hands are shown as soon as no player can bet, which is before the rest of the board if all are all-in.
            for position in order:
                yield _showing_text(position, record.deal.hole_cards[position])


def _action_text(action: Step, amounts: _Amounts) -> str:
    """Format an action, such as ``p3 cbr 300``."""
    player = f"p{action.position + 1}"
    if action.move is Move.FOLD:
        return f"{player} f"
    if action.move in (Move.CHECK, Move.CALL):
        return f"{player} cc"
    return f"{player} cbr {amounts.text(action.street_total)}"


def _showing_text(position: Position, hole: tuple[Card, ...]) -> str:
    """Format a hand shown, such as ``p3 sm AhKs``."""
    return f"p{position + 1} sm {format_cards(hole) or _UNKNOWN_CARDS}"


def _time_fields(record: HandRecord) -> Iterator[tuple[str, str]]:
    if record.start_us is None:
        return
    try:
        start = _EPOCH + timedelta(microseconds=record.start_us)
    except OverflowError:
        return
    yield "time", start.time().isoformat()
    yield "time_zone", _string("UTC")
    yield "day", str(start.day)
    yield "month", str(start.month)
    yield "year", str(start.year)


def _own_fields(record: HandRecord, options: ExportOptions) -> Iterator[tuple[str, str]]:
    if DEFAULT_STACK in record.game.stacks and record.game.is_limit:
        yield "_has_stacks", "false"
    if record.game.is_limit or set(record.game.max_raises) != {NO_CAP}:
        yield "_max_raises", _array(record.game.max_raises)
    if isinstance(options.seed, str):
        yield "_seed", _string(options.seed)
    elif options.seed is not None:
        yield "_seed", str(options.seed)
    if record.times:
        yield "_times", _array([_array(times) for times in record.times])
    if record.comments:
        comments: list[str] = []
        for comment in record.comments:
            comments.append(_array([comment.seat, comment.action_index, _string(comment.text)]))
        yield "_comments", _array(comments)


def _array(values: Iterable[object]) -> str:
    return f"[{', '.join(map(str, values))}]"


def _string(text: str) -> str:
    """Format a basic string of TOML, which is that of JSON except for one character."""
    return json.dumps(clean(text), ensure_ascii=False).replace("\x7f", "\\u007f")
