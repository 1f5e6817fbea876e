"""Reading PHH: ``.phh`` files of one hand and ``.phhs`` files of many.

A file is cut at its table headers, ``[1]`` alone in a line, and read hand by hand: it may be larger than memory, and
what is wrong with one hand does not touch the others. Every hand is played again by the rules, so what a record holds
is legal and its values are those the cards give. Defaults fill what PHH leaves open: a hand without a number counts as
its place in the file, players without seats sit in the order of the positions.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from engine import (
    CALL,
    FOLD,
    RAISE,
    Action,
    BettingState,
    BettingType,
    Card,
    CardError,
    Deal,
    Game,
    GameError,
    IllegalAction,
    Position,
    Seat,
    betting_start,
    parse_cards,
    raise_to,
    rank_hand,
)
from engine.errors import quoted
from engine.game import DEFAULT_STACK
from engine.hand import hand_values, showdown_values, side_pots, uncalled
from engine.holdem import NO_CAP, holdem_game
from engine.text import is_text
from logs.errors import HandError, LogError, ProblemKind, ProblemReporter
from logs.files import stem
from logs.formats.export_format import HandReader
from logs.formats.money import MAX_DECIMALS, Scale
from logs.pokerstars.stakes import CURRENCY_SYMBOLS
from logs.record import HandRecord, PlayerComment, Times

_VARIANTS: Final = {"FT": BettingType.LIMIT, "NT": BettingType.NO_LIMIT}
_MOST_DIGITS: Final = 15


class _Fields:
    """The fields of a table, read as what they should be; amounts of money in chips."""

    def __init__(self, table: dict[str, Any], scale: Scale) -> None:
        self.table = table
        self._scale = scale

    def text(self, key: str) -> str | None:
        value = self.table.get(key)
        if value is not None and not isinstance(value, str):
            raise HandError(f"{key} is not a text")
        return value

    def texts(self, key: str) -> list[str]:
        values = self.table.get(key)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise HandError(f"{key} is missing" if values is None else f"{key} is not a list of texts")
        return values

    def amounts(self, key: str) -> list[int]:
        values = self.table.get(key)
        if not isinstance(values, list):
            raise HandError(f"{key} is missing" if values is None else f"{key} is not a list")
        return [self._chips(key, value) for value in values]

    def amount(self, key: str) -> int:
        if key not in self.table:
            raise HandError(f"{key} is missing")
        return self._chips(key, self.table[key])

    def amount_of(self, text: str) -> int:
        whole, _, fraction = text.partition(".")
        if not (text.isascii() and (whole + fraction).isdigit() and len(text) <= _MOST_DIGITS):
            raise HandError(f"{quoted(text, 20)} is not an amount")
        return self._chips("it", Decimal(text))

    def _chips(self, key: str, value: object) -> int:
        if isinstance(value, Decimal) and value == Decimal("Infinity"):
            return DEFAULT_STACK
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise HandError(f"{key} holds {quoted(str(value), 20)}, which is not an amount")
        amount = Decimal(value)
        if not amount.is_finite() or (amount and not -_MOST_DIGITS < amount.adjusted() < _MOST_DIGITS):
            raise HandError(f"{key} holds {str(value)[:20]}, which is not an amount of chips")
        chips = self._scale.chips(amount)
        if chips is None:
            problem = f"{key} holds {value}, which is not a whole number of chips of {self._scale.chip_value:f}"
            raise HandError(f"{problem}: give a smaller chip value")
        if chips < 0:
            raise HandError(f"{key} holds {value}, which is below 0")
        return chips

    def money(self, key: str) -> list[float] | None:
        """A list of amounts that may be missing, in chips and parts of chips; None too where one is unknown."""
        values = self.table.get(key)
        if not isinstance(values, list):
            return None
        amounts = []
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | Decimal) or not Decimal(value).is_finite():
                return None
            amounts.append(float(Decimal(value) / self._scale.chip_value))
        return amounts


def _game_of(fields: _Fields) -> Game:
    variant = fields.text("variant")
    if variant not in _VARIANTS:
        what = "there is no variant" if variant is None else f"the variant is {variant!r}"
        raise HandError(f"{what}; FT and NT are read, limit and no-limit hold'em")
    stacks = fields.amounts("starting_stacks")
    blinds = fields.amounts("blinds_or_straddles")
    antes = fields.amounts("antes")
    if not 2 <= len(stacks) <= 10 or len(blinds) != len(stacks) or len(antes) != len(stacks):
        raise HandError(
            f"{len(stacks)} stacks, {len(blinds)} blinds and {len(antes)} antes do not make a table of 2 to 10 players"
        )
    if any(antes):
        raise HandError("there are antes, which no game of the ACPC has")
    if len(stacks) == 2:
        # Heads-up the specification lists the blinds the other way round than they are posted.
        blinds.reverse()
    raise_sizes: tuple[int, ...] = ()
    if variant == "FT":
        if fields.table.get("_has_stacks") is False:
            stacks = [DEFAULT_STACK] * len(stacks)
        small = fields.amount("small_bet")
        big = fields.amount("big_bet")
        raise_sizes = small, small, big, big
    max_raises = fields.table.get("_max_raises")
    if not isinstance(max_raises, list) or not all(type(cap) is int for cap in max_raises):
        max_raises = [NO_CAP] * 4
    try:
        game = holdem_game(_VARIANTS[variant], tuple(stacks), tuple(blinds), raise_sizes, tuple(max_raises))
    except GameError as error:
        raise HandError(f"this game cannot be played: {error}") from None
    # With a straddle it is the blind before it.
    if variant == "NT" and "min_bet" in fields.table and (min_bet := fields.amount("min_bet")) not in blinds:
        raise HandError(f"min_bet is {min_bet} chips, and the big blind is {game.big_blind}")
    return game


_NONE_KNOWN: Final = "????"


class _Replay:
    """A hand being played from its actions; hole cards are empty where unknown, and `mucked` are those thrown away at
    the showdown.
    """

    def __init__(self, game: Game, fields: _Fields) -> None:
        self.betting: BettingState = betting_start(game)
        self.holes: list[tuple[Card, ...]] = [()] * game.num_players
        self.board: list[Card] = []
        self.mucked: set[int] = set()
        self._game = game
        self._fields = fields

    def apply(self, text: str) -> None:
        match text.split("#", 1)[0].split():
            case []:
                pass
            case ["d", "dh", player, cards]:
                self._deal(self._position(player, text), cards, text)
            case ["d", "db", cards]:
                self.board += self._cards(cards, text)
            case [player, "f"]:
                self._act(player, FOLD, text)
            case [player, "cc"]:
                self._act(player, CALL, text)
            case [player, "cbr", amount]:
                self._raise(player, amount, text)
            case [player, "sm"]:
                self.mucked.add(self._position(player, text))
            case [player, "sm", "-"]:
                self._position(player, text)
            case [player, "sm", cards]:
                self._deal(self._position(player, text), cards, text)
            case _:
                raise HandError(f"{quoted(text, 60)} is not an action of hold'em")

    def conclude(self) -> None:
        if not self.betting.finished:
            raise HandError("the hand is not over after its last action")
        self._check_board("at the end of the hand")
        cards = [card for hole in self.holes for card in hole] + self.board
        if len(set(cards)) != len(cards):
            raise HandError("a card is dealt twice")

    def _position(self, player: str, text: str) -> Position:
        number = player[1:]
        if player[:1] != "p" or not (number.isascii() and number.isdigit()) or len(number) > 2:
            raise HandError(f"{quoted(text, 60)} names no player")
        if not 1 <= int(number) <= len(self.holes):
            raise HandError(f"{quoted(text, 60)} names a player who is not at the table")
        return Position(int(number) - 1)

    def _cards(self, cards: str, text: str) -> tuple[Card, ...]:
        try:
            return parse_cards(cards)
        except CardError as error:
            raise HandError(f"{quoted(text, 60)}: {error}") from None

    def _deal(self, position: Position, cards: str, text: str) -> None:
        """Note a player's cards, dealt or shown; two cards of which one is unknown count as unknown."""
        if "?" in cards and len(cards) == len(_NONE_KNOWN):
            return
        hole = self._cards(cards, text)
        if len(hole) != 2:
            raise HandError(f"{quoted(text, 60)}: hold'em has two hole cards")
        if self.holes[position] and sorted(self.holes[position]) != sorted(hole):
            raise HandError(f"{quoted(text, 60)}: these are not the cards that were dealt")
        self.holes[position] = self.holes[position] or hole

    def _check_board(self, when: str) -> None:
        wanted = self._game.board_cards_by_round[self.betting.round]
        if len(self.board) != wanted:
            raise HandError(f"the board has {len(self.board)} cards {when}, and should have {wanted}")

    def _raise(self, player: str, amount: str, text: str) -> None:
        position = self._position(player, text)
        before = self.betting.spent_before_round[position]
        total = before + self._fields.amount_of(amount)
        self._act(player, RAISE if self._game.is_limit else raise_to(total), text)
        if self.betting.spent[position] != total:
            wanted = self.betting.spent[position] - before
            raise HandError(f"{quoted(text, 60)}: the bets of the game make it {wanted} chips")

    def _act(self, player: str, action: Action, text: str) -> None:
        position = self._position(player, text)
        betting = self.betting
        if betting.finished:
            raise HandError(f"{quoted(text, 60)} comes after the end of the hand")
        if position != betting.acting_position:
            raise HandError(f"{quoted(text, 60)}: it is the turn of p{betting.acting_position + 1}")
        self._check_board(f"before {quoted(text, 60)}")
        try:
            self.betting = betting.after_played(action)
        except IllegalAction as error:
            raise HandError(f"{quoted(text, 60)}: {error.fact}") from None


_ODD_CHIP: Final = 1.0
"""A winner's share may differ by this much from an exact split: card rooms give the odd chip to one player."""
_ROUNDING: Final = 1e-4


def read_hand(table: dict[str, Any], scale: Scale, *, match_name: str, place: int) -> tuple[HandRecord, str | None]:
    """The record of a hand, and a sentence about what is doubtful in it, or None.

    Args:
        table: the fields as TOML gives them, its floats as `Decimal`.
        match_name: for a hand without an event.
        place: for a hand without a number.

    Raises:
        HandError: it is not a hand of hold'em that can be read.
    """
    fields = _Fields(table, scale)
    game = _game_of(fields)
    play = _Replay(game, fields)
    for text in fields.texts("actions"):
        play.apply(text)
    play.conclude()
    values, doubt = _values(fields, play)
    names, seats = _seating(fields, game.num_players)
    number = table.get("hand")
    is_number = isinstance(number, int) and not isinstance(number, bool) and number >= 0
    times, comments = _own_fields(fields, play.betting)
    record = HandRecord(
        game=game,
        match_name=fields.text("event") or match_name,
        hand_number=number if is_number and isinstance(number, int) else place,
        names_by_seat=names,
        seats=seats,
        deal=Deal(tuple(play.holes), tuple(play.board)),
        betting=play.betting,
        values=values,
        times=times,
        comments=comments,
        currency=_currency(fields),
    )
    return record, doubt


def _values(fields: _Fields, play: _Replay) -> tuple[tuple[float, ...], str | None]:
    betting = play.betting
    deal = Deal(tuple(play.holes), tuple(play.board))
    won = _finishing_results(fields, betting)
    if not betting.is_showdown:
        values, doubt = _compared(hand_values(betting, deal), betting, won)
        _check_winnings(fields, betting, values)
        return values, doubt
    in_pot = betting.in_pot
    unknown = [position for position in in_pot if not play.holes[position] and position not in play.mucked]
    shown = [position for position in in_pot if play.holes[position] and position not in play.mucked]
    if unknown or not shown:
        if won is None:
            raise HandError("the showdown cannot be judged: hole cards are missing, and so are the finishing stacks")
        if abs(sum(won)) > _ROUNDING:
            raise HandError("the showdown cannot be judged: hole cards are missing, and the stacks do not add up")
        _check_range(betting, won)
        _check_winnings(fields, betting, tuple(won))
        return tuple(won), None
    ranks = [
        rank_hand((*hole, *deal.board)) if position in shown else None for position, hole in enumerate(deal.hole_cards)
    ]
    values, doubt = _compared(showdown_values(betting.spent, ranks), betting, won)
    _check_winnings(fields, betting, values)
    if all(play.holes[position] for position in in_pot) and list(values) != hand_values(betting, deal):
        doubt = "a better hand was mucked than the one that wins"
    return values, doubt


def _finishing_results(fields: _Fields, betting: BettingState) -> list[float] | None:
    """Net chips of each position by the finishing stacks; None where the hand has none."""
    ended = fields.money("finishing_stacks")
    if ended is None:
        return None
    if len(ended) != betting.game.num_players:
        raise HandError(f"{len(ended)} finishing stacks at a table of {betting.game.num_players}")
    return [stack - start for stack, start in zip(ended, fields.amounts("starting_stacks"), strict=True)]


def _called(betting: BettingState) -> list[float]:
    """Chips that each position put into the pots, without an uncalled bet."""
    called = [float(chips) for chips in betting.spent]
    returned_to, returned = uncalled(betting.spent)
    called[returned_to] -= returned
    return called


def _most_collected(betting: BettingState) -> list[int]:
    """Chips of the pots for which each position plays."""
    pots = side_pots(betting.spent, betting.folded)
    return [sum(pot.amount for pot in pots if position in pot.players) for position in range(len(betting.spent))]


def _check_range(betting: BettingState, won: list[float]) -> None:
    """Raise `HandError` for a result that no winners of the pots could give a player."""
    for position, (put_in, most) in enumerate(zip(_called(betting), _most_collected(betting), strict=True)):
        start = betting.game.stacks[position]
        least_left = start - put_in
        most_left = start - put_in + most
        if not least_left - _ROUNDING <= start + won[position] <= most_left + _ROUNDING:
            raise HandError(
                f"p{position + 1} has {start + won[position]:g} chips at the end, and can have {least_left:g} to "
                f"{most_left:g}"
            )


def _compared(
    values: list[float], betting: BettingState, won: list[float] | None
) -> tuple[tuple[float, ...], str | None]:
    """The values, compared with the results by the finishing stacks: rake comes off who collects, at most the pot."""
    if won is None:
        return tuple(values), None
    called = _called(betting)
    rake = sum(values) - sum(won)
    if rake > sum(called) + _ROUNDING:
        raise HandError(f"the finishing stacks lack {rake:g} chips, and rake is at most the pot of {sum(called):g}")
    for position, (value, put_in) in enumerate(zip(values, called, strict=True)):
        lacks = value - won[position]
        collects = value > _ROUNDING - put_in
        odd_chip = _ODD_CHIP if collects else _ROUNDING
        most = max(rake, 0.0) if collects else 0.0
        if not -odd_chip < lacks < most + odd_chip or lacks > value + put_in + _ROUNDING:
            start = betting.game.stacks[position]
            raise HandError(
                f"p{position + 1} has {start + won[position]:g} chips at the end, and should have {start + value:g}"
            )
    if rake < -_ROUNDING:
        raise HandError(f"the finishing stacks have {-rake:g} chips more than the starting stacks")
    if rake > _ROUNDING:
        return tuple(values), f"the finishing stacks lack {rake:g} chips of the pot, as if rake was taken"
    return tuple(values), None


def _check_winnings(fields: _Fields, betting: BettingState, values: tuple[float, ...]) -> None:
    """Hold `winnings`, what each player collected after rake, against the values.

    Some writers count an uncalled bet of the winner with them.

    Raises:
        HandError: others collect, or one collects more than its pots.
    """
    winnings = fields.money("winnings")
    if winnings is None:
        return
    if len(winnings) != len(values):
        raise HandError(f"{len(winnings)} winnings at a table of {len(values)}")
    for position, (put_in, most) in enumerate(zip(_called(betting), _most_collected(betting), strict=True)):
        collected = winnings[position]
        returned = betting.spent[position] - put_in
        has_won = values[position] > _ROUNDING - put_in
        if not -_ROUNDING <= collected <= most + returned + _ROUNDING or (collected > _ROUNDING) != has_won:
            wanted = values[position] + put_in
            raise HandError(f"the winnings of p{position + 1} are {collected:g}, and should be {wanted:g} before rake")


def _currency(fields: _Fields) -> str | None:
    """The code of the money: by its symbol where the hand does not name it."""
    codes = {symbol: code for code, symbol in CURRENCY_SYMBOLS.items() if code is not None}
    code = fields.text("currency")
    symbol = fields.text("currency_symbol") or ""
    if code is None:
        return codes.get(symbol)
    if symbol in codes and codes[symbol] != code.upper() and code.upper() in codes.values():
        raise HandError(f"the currency is {quoted(code, 20)}, and its symbol is {symbol}")
    return code.upper()


def _seating(fields: _Fields, players: int) -> tuple[tuple[str, ...], tuple[Seat, ...]]:
    table = fields.table
    names = fields.texts("players") if "players" in table else [""] * players
    player_seats = table.get("seats", list(range(players)))
    if len(names) != players:
        raise HandError(f"{len(names)} players at a table of {players}")
    if (
        not isinstance(player_seats, list)
        or len(set(map(str, player_seats))) != players
        or not all(type(c) is int for c in player_seats)
    ):
        raise HandError(f"seats are not {players} different numbers")
    seat_count = table.get("seat_count")
    if seat_count is not None:
        if type(seat_count) is not int:
            raise HandError("seat_count is not a number")
        if seat_count < players:
            raise HandError(f"{players} players at a table of {seat_count} seats")
        if "seats" in table and not 1 <= min(player_seats) <= max(player_seats) <= seat_count:
            raise HandError(f"seats are not within 1 to {seat_count}, which is seat_count")
    order = sorted(player_seats)
    seats = tuple([Seat(order.index(player_seat)) for player_seat in player_seats])
    by_seat = {seat: name or f"p{position + 1}" for position, (seat, name) in enumerate(zip(seats, names, strict=True))}
    return tuple([by_seat[Seat(seat)] for seat in range(players)]), seats


def _own_fields(fields: _Fields, betting: BettingState) -> tuple[tuple[Times, ...], tuple[PlayerComment, ...]]:
    times = fields.table.get("_times")
    count = sum(map(len, betting.rounds))
    if not isinstance(times, list) or len(times) != count or not all(map(_is_pair_of_numbers, times)):
        times = []
    comments = fields.table.get("_comments")
    if not isinstance(comments, list):
        comments = []
    remarks = [
        PlayerComment(Seat(remark[0]), remark[1], remark[2])
        for remark in comments
        if isinstance(remark, list)
        and list(map(type, remark)) == [int, int, str]
        and 0 <= remark[0] < betting.game.num_players
    ]
    return tuple([Times(*pair) for pair in times]), tuple(remarks)


def _is_pair_of_numbers(value: object) -> bool:
    return isinstance(value, list) and list(map(type, value)) == [int, int]


_TABLE: Final = re.compile(r"\[[^\[\]]+\][ \t]*(#.*)?")
_TOML_PLACE: Final = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")
_KEY: Final = re.compile(r"[ \t]*([A-Za-z_]+)[ \t]*=")
_FRACTION: Final = re.compile(r"[0-9]\.([0-9]+)")
_AMOUNTS: Final = {
    **dict.fromkeys(("antes", "blinds_or_straddles", "min_bet", "small_bet", "big_bet", "starting_stacks"), _FRACTION),
    "actions": re.compile(r" cbr [0-9]*\.([0-9]+)"),
}
"""Finds the decimals of the amounts of chips in the lines of a field."""
_MOST_CHARACTERS: Final = 1 << 20
"""Of one hand."""


def _read(lines: Iterator[str], problems: ProblemReporter, scale: Scale) -> Iterator[HandRecord]:
    match_name = os.path.basename(stem(problems.path))
    count = 0
    for start, text in _hands(lines):
        count += 1
        try:
            record, doubt = read_hand(_parse(text), scale, match_name=match_name, place=count - 1)
        except HandError as error:
            if not is_text(text) and not any(map(_KEY.match, text.splitlines())):
                raise LogError(problems.path, "it is not text, and PHH is") from None
            # Only the last hand of a file can lack the end of its last line.
            is_cut = error.__cause__ is not None and not text.endswith("\n") and error.line == text.count("\n")
            kind = ProblemKind.UNFINISHED if is_cut else ProblemKind.SKIPPED
            problems.report(start + error.line, error.column, error.problem, kind)
            continue
        if doubt:
            problems.report(start, None, doubt, ProblemKind.NOTED)
        yield record
    if not count:
        raise LogError(problems.path, "there is no hand in it")


def _hands(lines: Iterator[str]) -> Iterator[tuple[int, str]]:
    start = 1
    held = list[str]()
    size = 0
    for line_number, line in enumerate(lines, 1):
        if _TABLE.fullmatch(line.rstrip("\r\n")):
            if any(map(_says_something, held)):
                yield start, "".join(held)
            start = line_number + 1
            held = []
            size = 0
        elif size <= _MOST_CHARACTERS:
            # A hand beyond the bound is cut there, and then no longer TOML.
            held.append(line)
            size += len(line)
    if any(map(_says_something, held)):
        yield start, "".join(held)


def _says_something(line: str) -> bool:
    line = line.strip()
    return bool(line) and not line.startswith("#")


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        message = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        where = _TOML_PLACE.search(message)
        plain = message[: where.start()] if where else message
        is_at_end = where is not None and not where.group(1)
        at_end = " at the end of the hand" if is_at_end else ""
        line = int(where.group(1)) - 1 if where and where.group(1) else 0
        if is_at_end:
            line = len(text.splitlines()) - 1
        column = int(where.group(2)) if where and where.group(2) else None
        raise HandError(f"this is not TOML: {plain[:1].lower()}{plain[1:]}{at_end}", line, column) from error


def _find_chip_value(lines: Iterator[str]) -> Decimal:
    """The smallest unit of all amounts: 1 where they are whole, a cent or less where they have decimals.

    What is left of a pot split into parts of a chip, in the stacks at the end, is no amount of chips.
    """
    decimals = 0
    key = ""
    for line in lines:
        if found := _KEY.match(line):
            key = found[1]
        if "." in line and key in _AMOUNTS:
            for fraction in _AMOUNTS[key].findall(line):
                decimals = max(decimals, len(fraction.rstrip("0")))
    if decimals:
        return Decimal(1).scaleb(-min(max(2, decimals), MAX_DECIMALS))
    return Decimal(1)


read_phh: Final = HandReader(_read, _MOST_CHARACTERS, Decimal(1), _find_chip_value)
"""Reads PHH. A deal has no hole cards of players who never showed them, and the board only as far as the hand went."""
