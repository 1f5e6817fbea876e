"""Parse the lines of a PokerStars hand into the facts that they state, before the rules are applied to them.

Lines that state nothing about the play are ignored, such as chat, players who come and go, and time-outs. GGPoker
writes the same lines below a header of its own, ``Poker Hand #HD...``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NamedTuple

from engine import CARD_TEXTS, BettingType, Card
from engine.errors import quoted
from logs.errors import HandError
from logs.pokerstars.amounts import AMOUNT, Amounts
from logs.pokerstars.stakes import CURRENCY_SYMBOLS
from logs.pokerstars.writer import eastern_us
from logs.record import PLAY_MONEY

# In hands of home games, the name of the club follows the number in braces.
HEADER: Final = re.compile(
    r"\ufeff?(?:PokerStars (?:Zoom |Home Game )?(?:Hand|Game) #|Poker Hand #([A-Z]{0,4}))([0-9]{1,19}): +"
    r"(?:\{[^}]*\} +)?(.*)"
)
FIRST_WORDS: Final = (
    "PokerStars Hand #",
    "PokerStars Game #",
    "PokerStars Zoom Hand #",
    "PokerStars Home Game Hand #",
    "Poker Hand #",
)
"""Beginnings of the first line of a hand."""
_GAME: Final = re.compile(rf"(.+?) +\({AMOUNT}/{AMOUNT}([^)]*)\)")
_GAME_WORDS: Final = frozenset({"hold'em", "texas", "limit", "no", "pot", "fixed"})
# Signs of currencies in the encodings of older clients. Such bytes are surrogates in text that is read as UTF-8.
_OLD_BYTES: Final = {0x80: "EUR", 0xA3: "GBP", 0xA4: "EUR"}
_CURRENCIES: Final = {
    **{symbol: code or PLAY_MONEY for code, symbol in CURRENCY_SYMBOLS.items()},
    **{chr(0xDC00 + byte): code for byte, code in _OLD_BYTES.items()},
}
"""Codes of currencies by their signs."""
_CODE: Final = re.compile(r" ([A-Z]{3})\b")
_EASTERN: Final = re.compile(r"([0-9]{4})/([0-9]{2})/([0-9]{2}) ([0-9]{1,2}):([0-9]{2}):([0-9]{2}) ET")
_ZONELESS: Final = re.compile(r"([0-9]{4})/([0-9]{2})/([0-9]{2}) ([0-9]{1,2}):([0-9]{2}):([0-9]{2})$")
_TABLE: Final = re.compile(r"Table '(.*)' (?:.*?\b([0-9]{1,2})-max\b)?.*Seat #([0-9]+) is the button")
_SEAT: Final = re.compile(rf"Seat ([0-9]+): (.+) \({AMOUNT} in chips")
_SEAT_START: Final = re.compile(r"Seat [0-9]+: ")
_STREET: Final = re.compile(r"\*\*\* ([A-Z ]+) \*\*\*(.*)")
_CARDS: Final = re.compile(r"\[([^\]]*)\]")
_BETS: Final = re.compile(rf"(calls|bets|raises) {AMOUNT}(?: to {AMOUNT})?( and is all-in)?$")
_POSTS: Final = re.compile(rf"posts ([a-z &]+?) {AMOUNT}( and is all-in)?$")
_UNCALLED: Final = re.compile(rf"Uncalled bet \({AMOUNT}\) returned to (.+)$")
_COLLECTED: Final = re.compile(rf"(.+) collected {AMOUNT} from (?:main pot|pot|side pot(?:-([0-9]+))?)$")
_SIDE_POT: Final = " from side pot"
_LINE_STARTS: Final = ("dealt to ", "uncalled bet")
"""Beginnings, in lower case, of lines about a player that do not begin with the player's name."""
# Lines of hands that are refused: cancelled, cashed out at PokerStars or GGPoker, or with money from the house.
_CANCELLED_WORDS: Final = "Hand cancel"
_CANCELLED: Final = ("Hand cancelled", "Hand canceled")
_CASHED_OUT: Final = "a player cashed out: what the pot paid is not in the hand"
_CASH_OUTS: Final = (
    "Chooses to EV Cashout",
    "Pays Cashout Risk",
    "Receives Cashout",
    "pay premium of all-in insurance",
)
_HOUSE_MONEY: Final = ("Cash Drop to Pot", "STP added")
# Lines of the summary.
_TOTAL: Final = re.compile(rf"Total pot {AMOUNT}")
_POT_PART: Final = re.compile(rf"(Main pot|Side pot(?:-([0-9]+))?) {AMOUNT}\.?")
# GGPoker states further fees after the rake, such as Jackpot and Tax.
_FEE: Final = re.compile(rf"[A-Za-z][A-Za-z ]* {AMOUNT}$")
_RESULT: Final = re.compile(r"((?: \((?:button|small blind|big blind)\))*) (.*)")
_RESULT_TAG: Final = re.compile(r"\(([a-z ]+)\)")
_RESULT_CARDS: Final = re.compile(r"(?:mucked|showed) \[([^\]]*)\]")
_RESULT_MONEY: Final = re.compile(rf"(?:collected|won) \({AMOUNT}\)")
_RESULT_FOLD: Final = re.compile(r"folded (before Flop|on the Flop|on the Turn|on the River)")
_CARD_OF_TEXT: Final = {text: card for card, text in enumerate(CARD_TEXTS)}
_STREET_LINES: Final = {"FLOP": 1, "TURN": 2, "RIVER": 3}
_FOLD_STREETS: Final = {"before Flop": 0, "on the Flop": 1, "on the Turn": 2, "on the River": 3}
_SILENT_VERBS: Final = frozenset({"shows", "mucks", "doesn't", "sits", "is", "has", "said"})
"""Verbs of lines about a player that state nothing about the betting."""
_ACTS: Final = re.compile(r"(?:folds|checks|calls|bets|raises|posts)\b")


class ActionLine(NamedTuple):
    """Action of a player, or chips posted before the cards are dealt.

    Attributes:
        line: line of the hand, 0-based.
        street: 0-based.
        verb: ``folds``, ``checks``, ``calls``, ``bets`` or ``raises``, or the name of a post such as ``small blind``.
        cents: hundredths that a call, bet or post adds, or the street total of a raise.
        raised_by_cents: hundredths by which a raise is above the bet before it.
        is_all_in: whether the line calls the player all-in.
    """

    line: int
    street: int
    name: str
    verb: str
    cents: int
    raised_by_cents: int = 0
    is_all_in: bool = False


class Payment(NamedTuple):
    """Money that a player gets from a pot.

    Attributes:
        line: line of the hand, 0-based.
        cents: in hundredths.
        pot: 0 is the main pot, -1 an uncalled bet.
    """

    line: int
    name: str
    cents: int
    pot: int


class Result(NamedTuple):
    """Line of a player in the summary.

    Attributes:
        line: line of the hand, 0-based.
        tags: some of ``button``, ``small blind`` and ``big blind``.
        fold_street: 0-based; None if the line names none.
        has_bet: False only if the line says so.
        won_cents: 0 if the player folded, mucked or lost; None if the line does not say.
    """

    line: int
    name: str
    tags: tuple[str, ...]
    fold_street: int | None
    has_bet: bool
    won_cents: int | None


@dataclass(slots=True)
class HandText:
    """Facts stated by the lines of a hand, with amounts in hundredths.

    Attributes:
        number_prefix: as in a `HandRecord`.
        betting: limit or no limit; a pot-limit hand is one of no limit.
        amounts: parser of the hand's amounts.
        currency: as in a `HandRecord`.
        stakes_cents: both blinds, in limit games both bets.
        begin_us: microseconds of Unix time; None if the header has no time in a known zone.
        button: number of the button's seat; -1 before its line is parsed.
        max_seats: size of the table; None if its line does not state it.
        seats: seat number and stack of each player, by name.
        holes: known hole cards, by name.
        summary_board: line and cards of the board in the summary; None without that line.
        total_cents: the pot, including rake; -1 before the summary is parsed.
        rake_cents: rake and all other fees.
        parts_cents: payout of each pot in the line of the total, by pot; empty for a single pot.
        puzzle: the first line about a player that is not understood, and its text.
    """

    number: int
    number_prefix: str
    betting: BettingType
    amounts: Amounts
    currency: str | None
    stakes_cents: tuple[int, int]
    begin_us: int | None
    table: str = ""
    button: int = -1
    max_seats: int | None = None
    seats: dict[str, tuple[int, int]] = field(default_factory=dict)
    posts: list[ActionLine] = field(default_factory=list)
    moves: list[ActionLine] = field(default_factory=list)
    board: tuple[Card, ...] = ()
    holes: dict[str, tuple[Card, ...]] = field(default_factory=dict)
    payments: list[Payment] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    summary_board: tuple[int, tuple[Card, ...]] | None = None
    total_line: int = 0
    total_cents: int = -1
    rake_cents: int = 0
    parts_cents: dict[int, int] = field(default_factory=dict)
    puzzle: tuple[int, str] | None = None


def parse_hand(lines: list[str]) -> HandText:
    """Parse the lines of a hand, of which the first is the header.

    Raises:
        HandError: the hand is not a cash hand of hold'em, or a line that matters cannot be parsed.
    """
    # Few hands contain the words, and one search costs less than a comparison for each line.
    if _CANCELLED_WORDS in "\n".join(lines):
        for line, text in enumerate(lines[1:], 1):
            if text.startswith(_CANCELLED):
                raise HandError("the hand was cancelled", line)
    hand = _parse_header(lines[0])
    street = 0
    line = 0
    for line, text in enumerate(lines[1:], 1):
        if text.startswith("*** "):
            if text.startswith("*** SUMMARY"):
                break
            if not text[4:].partition(" ***")[0].isupper():
                raise _unreadable(text, line, "the words between stars are capitals")
            street = _begin_street(hand, line, text, street)
        elif not street and not hand.moves and _parse_seating(hand, line, text):
            continue
        else:
            _parse_play(hand, line, text, street)
    else:
        raise HandError("the hand has no summary: its end is missing", line)
    _parse_summary(hand, line, lines[line:])
    return hand


def _unreadable(text: str, line: int, wanted: str = "") -> HandError:
    problem = f"{quoted(text.strip(), 60)} cannot be read"
    if wanted:
        problem += f": {wanted}"
    return HandError(problem, line)


def _parse_header(text: str) -> HandText:
    header = HEADER.match(text)
    assert header is not None
    kind, number, rest = header.groups()
    if rest.startswith("Tournament"):
        raise HandError("this is a hand of a tournament, and only cash hands are read", 0)
    game = _GAME.match(rest)
    if game is None:
        name, _, stakes = rest.partition(" (")
        if stakes and _betting(name) is None:
            raise _other_game(name)
        raise _unreadable(rest, 0, "a header has the game and its stakes, such as Hold'em No Limit ($0.50/$1.00 USD)")
    betting = _betting(game[1])
    if betting is None:
        raise _other_game(game[1])
    if "Cap" in game[4]:
        raise HandError("bets are capped at this table, which no game definition can express", 0)
    symbol = ""
    if not game[2][0].isdecimal():
        symbol = game[2][0]
    amounts = Amounts(symbol)
    code = _CODE.match(game[4])
    return HandText(
        number=int(number),
        number_prefix=kind or "",
        betting=betting,
        amounts=amounts,
        currency=_currency(symbol, None if code is None else code[1]),
        stakes_cents=(amounts.cents(game[2], 0), amounts.cents(game[3], 0)),
        begin_us=_begin_us(rest[game.end() :], is_utc=kind is not None),
    )


def _betting(game: str) -> BettingType | None:
    """Return the betting of a game of hold'em, given its name with the words in any order; None for other games."""
    words = game.casefold().replace("holdem", "hold'em").split()
    if not {"hold'em", "limit"} <= set(words) <= _GAME_WORDS:
        return None
    # A pot-limit hand is a hand of the no-limit game.
    if "no" in words or "pot" in words:
        return BettingType.NO_LIMIT
    return BettingType.LIMIT


def _other_game(game: str) -> HandError:
    return HandError(
        f"the game is {quoted(game)}; supported are Hold'em No Limit, Hold'em Pot Limit and Hold'em Limit", 0
    )


def _currency(symbol: str, code: str | None) -> str | None:
    by_symbol = _CURRENCIES.get(symbol)
    if code is None:
        return by_symbol
    if symbol and by_symbol is not None and code in CURRENCY_SYMBOLS and code != by_symbol:
        raise HandError(f"the stakes are in {symbol}, and the header calls their currency {code}", 0)
    return code


def _begin_us(text: str, *, is_utc: bool) -> int | None:
    times = _EASTERN.findall(text)
    try:
        if times:
            return eastern_us(*map(int, times[-1]))
        # GGPoker names no zone. Its times are UTC.
        zoneless = _ZONELESS.search(text.rstrip()) if is_utc else None
        if zoneless is not None:
            begin = datetime(*map(int, zoneless.groups()), tzinfo=UTC)  # type: ignore[arg-type, misc]
            return int(begin.timestamp()) * 1_000_000
    except ValueError:
        pass  # The time is in no calendar, and a hand without a time can be read.
    return None


def _begin_street(hand: HandText, line: int, text: str, street: int) -> int:
    """Add the cards of a line of stars to the board, and return the street that it begins."""
    match = _STREET.match(text)
    if match is None:
        return street
    name = match[1]
    if name.startswith(("FIRST", "SECOND", "THIRD")):
        raise HandError("the board was dealt more than once, which a game definition cannot express", line)
    if name not in _STREET_LINES:
        return street
    board: tuple[Card, ...] = ()
    for cards in _CARDS.findall(match[2]):
        board += _cards(line, cards)
    if len(board) != _STREET_LINES[name] + 2 or board[: len(hand.board)] != hand.board:
        raise HandError(f"the board of the {name.lower()} does not continue the one before it", line)
    hand.board = board
    return _STREET_LINES[name]


def _cards(line: int, text: str) -> tuple[Card, ...]:
    try:
        return tuple([_CARD_OF_TEXT[word] for word in text.split()])
    except KeyError as error:
        raise HandError(f"{error.args[0][:20]!r} is not a card", line) from None


def _learn_cards(hand: HandText, line: int, name: str, text: str) -> None:
    """Add a player's hole cards, unless only one of them is shown."""
    hole = _cards(line, text)
    known = hand.holes.get(name)
    if len(hole) != 2:
        return
    if known is not None and set(known) != set(hole):
        raise HandError(f"{name} had other hole cards before", line)
    hand.holes[name] = known or hole


def _parse_seating(hand: HandText, line: int, text: str) -> bool:
    """Parse a line with the seat of a player or the table; return whether it is one."""
    match = None
    if text.startswith("Seat "):
        match = _SEAT.match(text)
    if match is not None:
        number = int(match[1])
        name = match[2]
        numbers = [other for other, _ in hand.seats.values()]
        if name in hand.seats or number in numbers:
            raise HandError(f"seat {match[1]} or its player {name} is there twice", line)
        hand.seats[name] = number, hand.amounts.cents(match[3], line)
        return True
    if _SEAT_START.match(text):
        raise _unreadable(text, line, "a seat is written 'Seat 1: NAME ($100 in chips)'")
    if text.startswith("Table '"):
        match = _TABLE.match(text)
        if match is None:
            raise _unreadable(text, line, "a table is written \"Table 'NAME' 6-max Seat #1 is the button\"")
        hand.table = match[1]
        hand.button = int(match[3])
        if match[2] is not None:
            hand.max_seats = int(match[2])
        return True
    return False


def _parse_play(hand: HandText, line: int, text: str, street: int) -> None:
    # A player's name may contain nearly anything. An action belongs to the player whose name is all of the text before
    # the last colon. Most lines are actions, so they are looked at first.
    before, colon, rest = text.rpartition(": ")
    if before in hand.seats:
        _parse_action(hand, line, before, rest.rstrip(), street)
    elif text.startswith(_HOUSE_MONEY):
        raise HandError("the house added money to the pot, which a game definition cannot express", line)
    elif " cashed out the hand for " in text and text.partition(" cashed out ")[0] in hand.seats:
        raise HandError(_CASHED_OUT, line)
    elif " collected " in text and (match := _COLLECTED.match(text.rstrip())) and match[1] in hand.seats:
        _note_collected(hand, line, match[1], match)
    elif text.startswith("Dealt to "):
        cards = _CARDS.search(text)
        if cards is not None:
            name = text[len("Dealt to ") : cards.start()].rstrip()
            if name in hand.seats:
                _learn_cards(hand, line, name, cards[1])
    elif text.startswith("Uncalled bet"):
        match = _UNCALLED.match(text.rstrip())
        if match is None:
            raise _unreadable(text, line)
        hand.payments.append(Payment(line, match[2], hand.amounts.cents(match[1], line), -1))
    elif colon and _ACTS.match(rest) and " said, " not in before:
        hand.puzzle = hand.puzzle or (line, text)
    elif _begins_in_another_case(hand, text.casefold()):
        raise _unreadable(text, line)


def _begins_in_another_case(hand: HandText, text: str) -> bool:
    """Return whether a casefolded line, which was not understood, begins as one that is parsed."""
    if text.startswith(_LINE_STARTS):
        return True
    return any(text.startswith(f"{name} collected ".casefold()) for name in hand.seats)


def _note_collected(hand: HandText, line: int, name: str, match: re.Match[str]) -> None:
    pot = 0
    # Searched for behind the amount, because a name can contain the words.
    if _SIDE_POT in match[0][match.end(2) :]:
        pot = int(match[3] or 1)
    hand.payments.append(Payment(line, name, hand.amounts.cents(match[2], line), pot))


def _parse_action(hand: HandText, line: int, name: str, text: str, street: int) -> None:
    verb = text.partition(" ")[0]
    cents = hand.amounts.cents
    if verb in ("folds", "checks"):
        hand.moves.append(ActionLine(line, street, name, verb, 0))
    elif verb in ("calls", "bets", "raises"):
        match = _BETS.match(text)
        if match is None or (verb == "raises") != bool(match[3]):
            raise _unreadable(text, line)
        amount = cents(match[2], line)
        is_all_in = match[4] is not None
        if verb == "raises":
            total = cents(match[3], line)
            hand.moves.append(ActionLine(line, street, name, verb, total, amount, is_all_in=is_all_in))
        else:
            hand.moves.append(ActionLine(line, street, name, verb, amount, is_all_in=is_all_in))
    elif verb == "posts":
        match = _POSTS.match(text)
        if match is None:
            raise _unreadable(text, line)
        is_all_in = match[3] is not None
        hand.posts.append(ActionLine(line, 0, name, match[1], cents(match[2], line), is_all_in=is_all_in))
    elif verb == "collected":
        match = _COLLECTED.match(f"{name} {text}")
        if match is None:
            raise _unreadable(text, line)
        _note_collected(hand, line, name, match)
    elif text.startswith(_CASH_OUTS):
        raise HandError(_CASHED_OUT, line)
    elif verb == "straddle":
        raise HandError(f"{name} posts straddle, which a game definition cannot express", line)
    elif _ACTS.match(verb.casefold()):
        raise _unreadable(text, line, f"an action is written '{verb.casefold()}'")
    elif verb not in _SILENT_VERBS:
        hand.puzzle = hand.puzzle or (line, text)
    if verb in ("shows", "folds") and "[" in text and (cards := _CARDS.search(text)):
        _learn_cards(hand, line, name, cards[1])


def _parse_summary(hand: HandText, start: int, lines: list[str]) -> None:
    names: dict[int, str] = {}
    for name, (number, _) in hand.seats.items():
        names[number] = name
    for line, text in enumerate(lines, start):
        if text.casefold().startswith("total pot "):
            _parse_total(hand, line, text)
        elif text.startswith("Board [") and "]" in text:
            hand.summary_board = line, _cards(line, text[len("Board [") :].partition("]")[0])
        elif text.startswith("Seat ") and text[5:7].rstrip(":").isdecimal():
            player = names.get(int(text[5:7].rstrip(":")))
            name_start = text.find(": ") + 2
            if player is not None and text.startswith(player, name_start):
                _parse_result(hand, line, player, text[name_start + len(player) :])
    if hand.total_cents < 0:
        raise HandError("the summary does not give the pot: it has no line 'Total pot'", start + len(lines) - 1)


def _parse_total(hand: HandText, line: int, text: str) -> None:
    total, *fees = text.rstrip().split("|")
    match = _TOTAL.match(total)
    if match is None:
        raise _unreadable(text, line)
    hand.total_line = line
    hand.total_cents = hand.amounts.cents(match[1], line)
    hand.rake_cents = 0
    for fee in fees:
        amount = _FEE.match(fee.strip())
        if amount is None:
            raise _unreadable(fee, line)
        hand.rake_cents += hand.amounts.cents(amount[1], line)
    for part in _POT_PART.finditer(total, match.end()):
        pot = 0
        if part[1] != "Main pot":
            pot = int(part[2] or 1)
        hand.parts_cents[pot] = hand.amounts.cents(part[3], line)


def _parse_result(hand: HandText, line: int, name: str, text: str) -> None:
    match = _RESULT.match(text)
    if match is None:
        return
    words = match[2]
    if cards := _RESULT_CARDS.match(words):
        _learn_cards(hand, line, name, cards[1])
    fold = _RESULT_FOLD.match(words)
    amounts = [hand.amounts.cents(amount, line) for amount in _RESULT_MONEY.findall(words)]
    won: int | None = None
    if amounts:
        won = sum(amounts)
    elif fold is not None or words.startswith("mucked") or " lost " in words:
        won = 0
    tags = tuple(_RESULT_TAG.findall(match[1]))
    street: int | None = None
    if fold is not None:
        street = _FOLD_STREETS[fold[1]]
    has_bet = "(didn't bet)" not in words
    hand.results.append(Result(line, name, tags, street, has_bet, won))
