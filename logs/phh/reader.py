"""Read PHH, ``.phh`` files of one hand and ``.phhs`` files of many.

A file is split at its table headers, lines such as ``[1]``, and read hand by hand. So it may be larger than memory, and
an error in one hand does not affect the others. Every hand is played again by the rules: a record is legal, and its
values are those of the cards.
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
_MAX_DIGITS: Final = 15
_UNKNOWN_HOLE: Final = "????"
# Card rooms give the odd chip of a split pot to one player, so a share may differ by less than this from an exact one.
_ODD_CHIP: Final = 1.0
_ROUNDING: Final = 1e-4
_MAX_CHARACTERS: Final = 1 << 20
"""Characters of a hand that are kept."""
_TABLE: Final = re.compile(r"\[[^\[\]]+\][ \t]*(#.*)?")
_TOML_PLACE: Final = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")
_KEY: Final = re.compile(r"[ \t]*([A-Za-z_]+)[ \t]*=")
_FRACTION: Final = re.compile(r"[0-9]\.([0-9]+)")
# The final stacks are left out: a pot split into parts of a chip leaves amounts there that are no chips.
_AMOUNTS: Final = {
    **dict.fromkeys(("antes", "blinds_or_straddles", "min_bet", "small_bet", "big_bet", "starting_stacks"), _FRACTION),
    "actions": re.compile(r" cbr [0-9]*\.([0-9]+)"),
}
"""Patterns of the decimals of amounts of chips, by field."""


class _Fields:
    """Fields of a table, checked for their types; amounts of money are converted to chips."""

    def __init__(self, table: dict[str, Any], scale: Scale) -> None:
        self.table = table
        self._scale = scale

    def text(self, key: str) -> str | None:
        value = self.table.get(key)
        if value is not None and not isinstance(value, str):
            raise HandError(f"{key} is not a text")
        return value

    def texts(self, key: str) -> list[str]:
        values = self._list(key, "a list of texts")
        if not all(isinstance(value, str) for value in values):
            raise HandError(f"{key} is not a list of texts")
        return values

    def amounts(self, key: str) -> list[int]:
        return [self._chips(key, value) for value in self._list(key, "a list")]

    def amount(self, key: str) -> int:
        if key not in self.table:
            raise HandError(f"{key} is missing")
        return self._chips(key, self.table[key])

    def parse_amount(self, text: str) -> int:
        whole, _, fraction = text.partition(".")
        if not (text.isascii() and (whole + fraction).isdigit() and len(text) <= _MAX_DIGITS):
            raise HandError(f"{quoted(text, 20)} is not an amount")
        return self._chips("it", Decimal(text))

    def money(self, key: str) -> list[float] | None:
        """Return amounts in chips and parts of chips; None without any, or if one is unknown."""
        values = self.table.get(key)
        if not isinstance(values, list):
            return None
        amounts: list[float] = []
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | Decimal) or not Decimal(value).is_finite():
                return None
            amounts.append(float(Decimal(value) / self._scale.chip_value))
        return amounts

    def _list(self, key: str, wanted: str) -> list[Any]:
        values = self.table.get(key)
        if values is None:
            raise HandError(f"{key} is missing")
        if not isinstance(values, list):
            raise HandError(f"{key} is not {wanted}")
        return values

    def _chips(self, key: str, value: object) -> int:
        if isinstance(value, Decimal) and value == Decimal("Infinity"):
            return DEFAULT_STACK
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise HandError(f"{key} holds {quoted(str(value), 20)}, which is not an amount")
        amount = Decimal(value)
        if not amount.is_finite() or (amount and not -_MAX_DIGITS < amount.adjusted() < _MAX_DIGITS):
            raise HandError(f"{key} holds {str(value)[:20]}, which is not an amount of chips")
        chips = self._scale.chips(amount)
        if chips is None:
            problem = f"{key} holds {value}, which is not a whole number of chips of {self._scale.chip_value:f}"
            raise HandError(f"{problem}: give a smaller chip value")
        if chips < 0:
            raise HandError(f"{key} holds {value}, which is below 0")
        return chips


def _game_of(fields: _Fields) -> Game:
    variant = fields.text("variant")
    if variant not in _VARIANTS:
        problem = "there is no variant"
        if variant is not None:
            problem = f"the variant is {variant!r}"
        raise HandError(f"{problem}; FT and NT are read, limit and no-limit hold'em")
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
        # Heads-up the specification lists the blinds in reverse order.
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
    if variant == "NT" and "min_bet" in fields.table:
        # With a straddle, which is the largest blind, min_bet is the blind before it.
        min_bet = fields.amount("min_bet")
        if min_bet not in blinds:
            raise HandError(f"min_bet is {min_bet} chips, but the big blind is {game.big_blind}")
    return game


class _Replay:
    """Replay of a hand from its actions.

    Attributes:
        holes: hole cards by position; empty if unknown.
        mucked: positions that mucked at the showdown.
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
        cards = list(self.board)
        for hole in self.holes:
            cards += hole
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
        """Add a player's cards, dealt or shown."""
        # Two cards of which one is unknown count as unknown.
        if "?" in cards and len(cards) == len(_UNKNOWN_HOLE):
            return
        hole = self._cards(cards, text)
        if len(hole) != 2:
            raise HandError(f"{quoted(text, 60)}: hold'em has two hole cards")
        if self.holes[position] and sorted(self.holes[position]) != sorted(hole):
            raise HandError(f"{quoted(text, 60)}: these are not the cards that were dealt")
        self.holes[position] = self.holes[position] or hole

    def _check_board(self, when: str) -> None:
        expected = self._game.board_cards_by_round[self.betting.round]
        if len(self.board) != expected:
            raise HandError(f"the board has {len(self.board)} cards {when}, but should have {expected}")

    def _raise(self, player: str, amount: str, text: str) -> None:
        position = self._position(player, text)
        # PHH has street totals, the engine totals of the hand.
        before = self.betting.spent_before_round[position]
        total = before + self._fields.parse_amount(amount)
        action = RAISE
        if not self._game.is_limit:
            action = raise_to(total)
        self._act(player, action, text)
        if self.betting.spent[position] != total:
            street_total = self.betting.spent[position] - before
            raise HandError(f"{quoted(text, 60)}: the bets of the game make it {street_total} chips")

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


def _read_hand(table: dict[str, Any], scale: Scale, *, match_name: str, index: int) -> tuple[HandRecord, str | None]:
    """Return the record of a hand, and a sentence about a doubtful fact in it, or None.

    Args:
        table: the fields as parsed from TOML, with floats as `Decimal`.
        match_name: match of a hand without an event.
        index: number of a hand without a number.

    Raises:
        HandError: it is not a legal hand of hold'em.
    """
    fields = _Fields(table, scale)
    game = _game_of(fields)
    play = _Replay(game, fields)
    for text in fields.texts("actions"):
        play.apply(text)
    play.conclude()
    values, doubt = _values(fields, play)
    names, seats = _seating(fields, game.num_players)
    hand_number = index
    number = table.get("hand")
    if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
        hand_number = number
    times, comments = _own_fields(fields, play.betting)
    record = HandRecord(
        game=game,
        match_name=fields.text("event") or match_name,
        hand_number=hand_number,
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
    """Return the net chips of each position, and a doubt or None."""
    betting = play.betting
    deal = Deal(tuple(play.holes), tuple(play.board))
    results = _finishing_results(fields, betting)
    if not betting.is_showdown:
        values = tuple(hand_values(betting, deal))
        doubt = _compare_results(values, betting, results)
        _check_winnings(fields, betting, values)
        return values, doubt
    showing = [position for position in betting.in_pot if position not in play.mucked]
    if not showing or not all(play.holes[position] for position in showing):
        values = _values_by_stacks(betting, results)
        _check_winnings(fields, betting, values)
        return values, None
    ranks: list[int | None] = [None] * len(deal.hole_cards)
    for position in showing:
        ranks[position] = rank_hand((*play.holes[position], *deal.board))
    values = tuple(showdown_values(betting.spent, ranks))
    doubt = _compare_results(values, betting, results)
    _check_winnings(fields, betting, values)
    if all(play.holes[position] for position in betting.in_pot) and list(values) != hand_values(betting, deal):
        doubt = "a better hand was mucked than the one that wins"
    return values, doubt


def _values_by_stacks(betting: BettingState, results: list[float] | None) -> tuple[float, ...]:
    """Return the results of a showdown with unknown cards, if any winners could have them."""
    if results is None:
        raise HandError("the showdown cannot be judged: hole cards are missing, and so are the finishing stacks")
    if abs(sum(results)) > _ROUNDING:
        raise HandError("the showdown cannot be judged: hole cards are missing, and the stacks do not add up")
    _check_range(betting, results)
    return tuple(results)


def _finishing_results(fields: _Fields, betting: BettingState) -> list[float] | None:
    """Return the net chips of each position by the finishing stacks; None without these."""
    finishing = fields.money("finishing_stacks")
    if finishing is None:
        return None
    if len(finishing) != betting.game.num_players:
        raise HandError(f"{len(finishing)} finishing stacks at a table of {betting.game.num_players}")
    return [stack - start for stack, start in zip(finishing, fields.amounts("starting_stacks"), strict=True)]


def _called_chips(betting: BettingState) -> list[float]:
    """Return the chips that each position put into the pots, without an uncalled bet."""
    called = [float(chips) for chips in betting.spent]
    returned_to, returned = uncalled(betting.spent)
    called[returned_to] -= returned
    return called


def _max_collected(betting: BettingState) -> list[int]:
    """Return the chips of the pots that each position can win."""
    max_collected = [0] * len(betting.spent)
    for pot in side_pots(betting.spent, betting.folded):
        for position in pot.players:
            max_collected[position] += pot.amount
    return max_collected


def _check_range(betting: BettingState, results: list[float]) -> None:
    """Require results that some winners of the pots could have."""
    for position, (put_in, collected) in enumerate(zip(_called_chips(betting), _max_collected(betting), strict=True)):
        start = betting.game.stacks[position]
        end = start + results[position]
        min_end = start - put_in
        max_end = start - put_in + collected
        if not min_end - _ROUNDING <= end <= max_end + _ROUNDING:
            raise HandError(f"p{position + 1} has {end:g} chips at the end, but can have {min_end:g} to {max_end:g}")


def _compare_results(values: tuple[float, ...], betting: BettingState, results: list[float] | None) -> str | None:
    """Compare values with the results by the finishing stacks; return a doubt if rake seems to be taken.

    Rake is at most the pot and comes off the players who collect.

    Raises:
        HandError: the results differ by more than rake and odd chips.
    """
    if results is None:
        return None
    called = _called_chips(betting)
    rake = sum(values) - sum(results)
    if rake > sum(called) + _ROUNDING:
        raise HandError(f"the finishing stacks lack {rake:g} chips, and rake is at most the pot of {sum(called):g}")
    for position, (value, put_in) in enumerate(zip(values, called, strict=True)):
        lacking = value - results[position]
        max_rake = 0.0
        tolerance = _ROUNDING
        if value > _ROUNDING - put_in:
            # The player collects something.
            max_rake = max(rake, 0.0)
            tolerance = _ODD_CHIP
        if not -tolerance < lacking < max_rake + tolerance or lacking > value + put_in + _ROUNDING:
            start = betting.game.stacks[position]
            raise HandError(
                f"p{position + 1} has {start + results[position]:g} chips at the end, but should have {start + value:g}"
            )
    if rake < -_ROUNDING:
        raise HandError(f"the finishing stacks have {-rake:g} chips more than the starting stacks")
    if rake > _ROUNDING:
        return f"the finishing stacks lack {rake:g} chips of the pot, as if rake had been taken"
    return None


def _check_winnings(fields: _Fields, betting: BettingState, values: tuple[float, ...]) -> None:
    """Compare the field `winnings`, the chips that each player collected after rake, with the values.

    Raises:
        HandError: other players collect, or one collects more than its pots.
    """
    winnings = fields.money("winnings")
    if winnings is None:
        return
    if len(winnings) != len(values):
        raise HandError(f"{len(winnings)} winnings at a table of {len(values)}")
    called = _called_chips(betting)
    max_collected = _max_collected(betting)
    for position, collected in enumerate(winnings):
        put_in = called[position]
        # Some writers include the uncalled bet of the winner.
        returned = betting.spent[position] - put_in
        is_possible = -_ROUNDING <= collected <= max_collected[position] + returned + _ROUNDING
        has_won = values[position] > _ROUNDING - put_in
        if not is_possible or (collected > _ROUNDING) != has_won:
            expected = values[position] + put_in
            raise HandError(
                f"the winnings of p{position + 1} are {collected:g}, but should be {expected:g} before rake"
            )


def _currency(fields: _Fields) -> str | None:
    """Return the code of the money, by its symbol if the hand does not name the code."""
    codes = {symbol: code for code, symbol in CURRENCY_SYMBOLS.items() if code is not None}
    code = fields.text("currency")
    symbol = fields.text("currency_symbol") or ""
    if code is None:
        return codes.get(symbol)
    if symbol in codes and codes[symbol] != code.upper() and code.upper() in codes.values():
        raise HandError(f"the currency is {quoted(code, 20)}, but its symbol is {symbol}")
    return code.upper()


def _seating(fields: _Fields, players: int) -> tuple[tuple[str, ...], tuple[Seat, ...]]:
    """Return the players by seat, and the seat of each position, counted from 0 without the empty ones."""
    table = fields.table
    names = [""] * players
    if "players" in table:
        names = fields.texts("players")
    if len(names) != players:
        raise HandError(f"{len(names)} players at a table of {players}")
    seat_numbers = table.get("seats", list(range(players)))
    if not isinstance(seat_numbers, list) or not all(type(number) is int for number in seat_numbers):
        raise HandError(f"seats are not {players} different numbers")
    if len(seat_numbers) != players or len(set(seat_numbers)) != players:
        raise HandError(f"seats are not {players} different numbers")
    seat_count = table.get("seat_count")
    if seat_count is not None:
        if type(seat_count) is not int:
            raise HandError("seat_count is not a number")
        if seat_count < players:
            raise HandError(f"{players} players at a table of {seat_count} seats")
        if "seats" in table and not 1 <= min(seat_numbers) <= max(seat_numbers) <= seat_count:
            raise HandError(f"seats are not within 1 to {seat_count}, which is seat_count")
    order = sorted(seat_numbers)
    seats = tuple([Seat(order.index(number)) for number in seat_numbers])
    name_by_seat: dict[Seat, str] = {}
    for position, (seat, name) in enumerate(zip(seats, names, strict=True)):
        name_by_seat[seat] = name or f"p{position + 1}"
    return tuple([name_by_seat[Seat(seat)] for seat in range(players)]), seats


def _own_fields(fields: _Fields, betting: BettingState) -> tuple[tuple[Times, ...], tuple[PlayerComment, ...]]:
    """Return the times and comments that our writer adds; none if they are not as it writes them."""
    times: list[Times] = []
    pairs = fields.table.get("_times")
    action_count = sum(map(len, betting.rounds))
    if isinstance(pairs, list) and len(pairs) == action_count and all(map(_is_pair_of_numbers, pairs)):
        times = [Times(*pair) for pair in pairs]
    comments: list[PlayerComment] = []
    items = fields.table.get("_comments")
    if not isinstance(items, list):
        items = []
    for item in items:
        if not isinstance(item, list) or list(map(type, item)) != [int, int, str]:
            continue
        seat, action_index, text = item
        if 0 <= seat < betting.game.num_players:
            comments.append(PlayerComment(Seat(seat), action_index, text))
    return tuple(times), tuple(comments)


def _is_pair_of_numbers(value: object) -> bool:
    return isinstance(value, list) and list(map(type, value)) == [int, int]


def _read(lines: Iterator[str], problems: ProblemReporter, scale: Scale) -> Iterator[HandRecord]:
    match_name = os.path.basename(stem(problems.path))
    count = 0
    for start, text in _hands(lines):
        count += 1
        try:
            record, doubt = _read_hand(_parse(text), scale, match_name=match_name, index=count - 1)
        except HandError as error:
            if not is_text(text) and not any(map(_KEY.match, text.splitlines())):
                raise LogError(problems.path, "it is not text, so it is not PHH") from None
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
    """Yield the number of the first line of each hand, and its text."""
    start = 1
    hand_lines: list[str] = []
    size = 0
    for line_number, line in enumerate(lines, 1):
        if _TABLE.fullmatch(line.rstrip("\r\n")):
            if any(map(_has_content, hand_lines)):
                yield start, "".join(hand_lines)
            start = line_number + 1
            hand_lines = []
            size = 0
        elif size <= _MAX_CHARACTERS:
            # A hand is cut at the bound, and then it is no longer TOML.
            hand_lines.append(line)
            size += len(line)
    if any(map(_has_content, hand_lines)):
        yield start, "".join(hand_lines)


def _has_content(line: str) -> bool:
    line = line.strip()
    return bool(line) and not line.startswith("#")


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except RecursionError as error:
        raise HandError("this is not TOML: it is nested too deeply", 0, None) from error
    except (ValueError, ArithmeticError) as error:
        raise _toml_error(str(error), text) from error


def _toml_error(message: str, text: str) -> HandError:
    """Move the place in a message of `tomllib` to the line and column of an error."""
    line = 0
    column: int | None = None
    ending = ""
    place = _TOML_PLACE.search(message)
    if place is not None:
        message = message[: place.start()]
        if place[1]:
            line = int(place[1]) - 1
            column = int(place[2])
        else:
            ending = " at the end of the hand"
            line = len(text.splitlines()) - 1
    return HandError(f"this is not TOML: {message[:1].lower()}{message[1:]}{ending}", line, column)


def _find_chip_value(lines: Iterator[str]) -> Decimal:
    """Return the smallest unit of all amounts, 1 if they are whole, else a cent or less."""
    decimals = 0
    key = ""
    for line in lines:
        key_match = _KEY.match(line)
        if key_match is not None:
            key = key_match[1]
        if "." in line and key in _AMOUNTS:
            for fraction in _AMOUNTS[key].findall(line):
                decimals = max(decimals, len(fraction.rstrip("0")))
    if decimals:
        return Decimal(1).scaleb(-min(max(2, decimals), MAX_DECIMALS))
    return Decimal(1)


read_phh: Final = HandReader(_read, _MAX_CHARACTERS, Decimal(1), _find_chip_value)
"""Reader of PHH.

A deal has no hole cards of players who never showed them, and the board only as far as the hand went. A hand without a
number gets its index in the file; players without seats are seated by position.
"""
