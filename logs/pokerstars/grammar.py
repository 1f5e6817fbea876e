"""The lines of a PokerStars hand, read as what they say and not judged yet.

A hand is the lines from one header (``PokerStars Hand #...``) to the next. Lines that say nothing about the play are
ignored: chat, players who come and go, lost connections and time-outs, whatever clients add over the years. That
is safe because `logs.pokerstars.reader` plays the hand again by the rules and counts its money: a line that mattered
would be missed. A player's name may hold nearly anything, so an action belongs to the seated player whose name is all
that comes before the last colon.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine import CARD_TEXTS, BettingType, Card
from logs.errors import HandError
from logs.pokerstars.clock import eastern_us

__all__ = ["HEADER", "HandText", "Move", "Payment", "Post", "parse_hand"]

_NUMBER: Final = r"([0-9][0-9,]*(?:\.[0-9]{1,2})?)"
_AMOUNT: Final = rf"[^\w\s(]?{_NUMBER}"
"""A number behind the sign of a currency: in old files that is a byte which is not UTF-8."""

HEADER: Final = re.compile(
    r"\ufeff?PokerStars (?:Zoom |Home Game )?(?:Hand|Game) #([0-9]{1,19}): +(?:\{[^}]*\} +)?(.*)"
)
_GAME: Final = re.compile(rf"(.+?) \(([^\w\s]?){_NUMBER}/{_AMOUNT}([^)]*)\)")
_BETTING: Final = {
    "Hold'em Limit": BettingType.LIMIT,
    "Hold'em Pot Limit": BettingType.NO_LIMIT,
    "Hold'em No Limit": BettingType.NO_LIMIT,
}
_EASTERN: Final = re.compile(r"([0-9]{4})/([0-9]{2})/([0-9]{2}) ([0-9]{1,2}):([0-9]{2}):([0-9]{2}) ET")
_TABLE: Final = re.compile(r"Table '(.*)' .*Seat #([0-9]+) is the button")
_SEAT: Final = re.compile(rf"Seat ([0-9]+): (.+) \({_AMOUNT} in chips")
_STREET: Final = re.compile(r"\*\*\* ([A-Z ]+) \*\*\*(.*)")
_OTHER_GAME: Final = "the game is {!r}, and only hold'em is read"
_CARDS: Final = re.compile(r"\[([^\]]*)\]")
_BETS: Final = re.compile(rf"(calls|bets|raises) {_AMOUNT}(?: to {_AMOUNT})?( and is all-in)?$")
_POSTS: Final = re.compile(rf"posts ([a-z &]+?) {_AMOUNT}( and is all-in)?$")
_UNCALLED: Final = re.compile(rf"Uncalled bet \({_AMOUNT}\) returned to (.+)$")
_COLLECTED: Final = re.compile(rf"(.+) collected {_AMOUNT} from (?:main pot|pot|side pot(?:-([0-9]+))?)$")
_SIDE_POT: Final = " from side pot"
_TOTAL: Final = re.compile(rf"Total pot {_AMOUNT}")
_FEE: Final = re.compile(rf"[A-Za-z] {_AMOUNT}")
_RESULT_CARDS: Final = re.compile(r" (?:mucked|showed) \[([^\]]*)\]")
_CARD_OF_TEXT: Final = {text: card for card, text in enumerate(CARD_TEXTS)}
_STREETS: Final = {"FLOP": 1, "TURN": 2, "RIVER": 3}


class Post(NamedTuple):
    """Chips put in before the cards are dealt.

    Attributes:
        line: of the hand, 0-based.
        name: who posts.
        what: ``small blind``, ``big blind`` or whatever else the line says.
        cents: in hundredths of the money.
    """

    line: int
    name: str
    what: str
    cents: int


class Move(NamedTuple):
    """An action of a player.

    Attributes:
        line: of the hand, 0-based.
        street: 0-based.
        name: who acts.
        verb: ``folds``, ``checks``, ``calls``, ``bets`` or ``raises``.
        cents: hundredths of the money that a call or bet adds, or the total for the street that a raise is to.
    """

    line: int
    street: int
    name: str
    verb: str
    cents: int


class Payment(NamedTuple):
    """Money that a player gets.

    Attributes:
        line: of the hand, 0-based.
        name: who gets it.
        cents: in hundredths of the money.
        pot: 0 for the main pot; -1 for a bet that nobody called.
    """

    line: int
    name: str
    cents: int
    pot: int


@dataclass(slots=True)
class HandText:
    """What the lines of a hand say.

    Attributes:
        number: of the hand.
        betting: fixed limit, or no limit; a pot-limit hand is legal in a no-limit game.
        symbol: what precedes amounts; empty for play money.
        stakes_cents: both blinds, in limit games both bets, in hundredths of the money.
        begin_us: when it began, in microseconds of Unix time; None where the header gives no Eastern time.
        table: name of the table.
        button: number of its seat.
        seats: number and stack, in hundredths of the money, of each player by name.
        posts: blinds, in their order.
        moves: actions, in their order.
        board: the cards on the table.
        holes: hole cards by name, as far as they are known.
        payments: what players got.
        total_cents: the pot with its rake; -1 before the summary is read.
        rake_cents: with every other fee.
    """

    number: int
    betting: BettingType
    symbol: str
    stakes_cents: tuple[int, int]
    begin_us: int | None
    table: str = ""
    button: int = 0
    seats: dict[str, tuple[int, int]] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    board: tuple[Card, ...] = ()
    holes: dict[str, tuple[Card, ...]] = field(default_factory=dict)
    payments: list[Payment] = field(default_factory=list)
    total_cents: int = -1
    rake_cents: int = 0


def parse_hand(lines: list[str]) -> HandText:
    """What the lines of a hand say; the first is its header.

    Raises:
        HandError: it is not a cash hand of hold'em, or a line that matters cannot be read.
    """
    hand = _parse_header(lines[0])
    street = 0
    line = 0
    for line, text in enumerate(lines[1:], 1):
        if text.startswith("*** "):
            if text.startswith("*** SUMMARY"):
                break
            street = _begin_street(hand, line, text, street)
        elif not street and not hand.moves and _parse_seating(hand, line, text):
            continue
        else:
            _parse_play(hand, line, text, street)
    else:
        raise HandError("the hand has no summary: its end is missing", line)
    _parse_summary(hand, line, lines[line:])
    return hand


def _parse_header(text: str) -> HandText:
    header = HEADER.match(text)
    assert header is not None
    if header[2].startswith("Tournament"):
        raise HandError("this is a hand of a tournament, and only cash hands are read", 0)
    if header[2].startswith("6+ "):
        raise HandError(_OTHER_GAME.format(header[2].partition(" (")[0]), 0)
    found = _GAME.match(header[2])
    if found is None:
        raise HandError("the game and its stakes cannot be read in the header", 0)
    betting = _BETTING.get(found[1])
    if betting is None:
        raise HandError(_OTHER_GAME.format(found[1]), 0)
    if "Cap" in found[5]:
        raise HandError("bets are capped at this table, which no game definition can express", 0)
    return HandText(
        int(header[1]), betting, found[2], (_cents(found[3]), _cents(found[4])), _begin_us(header[2][found.end() :])
    )


def _begin_us(text: str) -> int | None:
    """The last Eastern time of a header."""
    times = _EASTERN.findall(text)
    try:
        return eastern_us(*map(int, times[-1])) if times else None
    except ValueError:
        return None


def _cents(text: str) -> int:
    """An amount in hundredths."""
    whole, _, fraction = text.replace(",", "").partition(".")
    return int(whole) * 100 + int(fraction.ljust(2, "0"))


def _begin_street(hand: HandText, line: int, text: str, street: int) -> int:
    """The street after a line of stars; the board grows with it."""
    found = _STREET.match(text)
    name = "" if found is None else found[1]
    if name.startswith(("FIRST", "SECOND", "THIRD")):
        raise HandError("the board was dealt more than once, and a game definition knows one board", line)
    if found is None or name not in _STREETS:
        return street
    board = tuple(card for run in _CARDS.findall(found[2]) for card in _cards(line, run))
    if len(board) != _STREETS[name] + 2 or board[: len(hand.board)] != hand.board:
        raise HandError(f"the board of the {name.lower()} does not continue the one before it", line)
    hand.board = board
    return _STREETS[name]


def _cards(line: int, text: str) -> tuple[Card, ...]:
    try:
        return tuple([_CARD_OF_TEXT[word] for word in text.split()])
    except KeyError as error:
        raise HandError(f"{error.args[0][:20]!r} is not a card", line) from None


def _learn_cards(hand: HandText, line: int, name: str, text: str) -> None:
    """Take note of a player's hole cards; of one card that is shown alone nothing follows."""
    hole = _cards(line, text)
    known = hand.holes.get(name)
    if len(hole) != 2:
        return
    if known is not None and set(known) != set(hole):
        raise HandError(f"{name} had other hole cards before", line)
    hand.holes[name] = known or hole


def _parse_seating(hand: HandText, line: int, text: str) -> bool:
    """Read a line that says who sits where; returns whether it is one."""
    if text.startswith("Seat ") and (found := _SEAT.match(text)):
        name = found[2]
        if name in hand.seats or any(number == int(found[1]) for number, _ in hand.seats.values()):
            raise HandError(f"seat {found[1]} or its player {name} is there twice", line)
        hand.seats[name] = int(found[1]), _cents(found[3])
        return True
    if text.startswith("Table '") and (found := _TABLE.match(text)):
        hand.table, hand.button = found[1], int(found[2])
        return True
    return False


def _parse_play(hand: HandText, line: int, text: str, street: int) -> None:
    """Read a line between the seats and the summary."""
    before, _, rest = text.rpartition(": ")
    if before in hand.seats:
        _parse_action(hand, line, before, rest.rstrip(), street)
    elif text.startswith("Dealt to ") and (found := _CARDS.search(text)):
        name = text[len("Dealt to ") : found.start()].rstrip()
        if name in hand.seats:
            _learn_cards(hand, line, name, found[1])
    elif text.startswith("Uncalled bet") and (found := _UNCALLED.match(text)):
        hand.payments.append(Payment(line, found[2], _cents(found[1]), -1))
    elif " collected " in text and (found := _COLLECTED.match(text.rstrip())) and found[1] in hand.seats:
        pot = int(found[3] or 1) if _SIDE_POT in text[found.end(2) :] else 0
        hand.payments.append(Payment(line, found[1], _cents(found[2]), pot))
    elif " cashed out the hand for " in text and text.partition(" cashed out ")[0] in hand.seats:
        raise HandError("a player cashed out: what the pot paid is not in the hand", line)


def _parse_action(hand: HandText, line: int, name: str, text: str, street: int) -> None:
    verb = text.partition(" ")[0]
    if verb in ("folds", "checks"):
        hand.moves.append(Move(line, street, name, verb, 0))
    elif verb in ("calls", "bets", "raises"):
        found = _BETS.match(text)
        if found is None or (verb == "raises") != bool(found[3]):
            raise HandError(f"{text[:60]!r} cannot be read", line)
        hand.moves.append(Move(line, street, name, verb, _cents(found[3] or found[2])))
    elif verb == "posts":
        found = _POSTS.match(text)
        if found is None:
            raise HandError(f"{text[:60]!r} cannot be read", line)
        hand.posts.append(Post(line, name, found[1], _cents(found[2])))
    if verb in ("shows", "folds") and (found := _CARDS.search(text)):
        _learn_cards(hand, line, name, found[1])


def _parse_summary(hand: HandText, start: int, lines: list[str]) -> None:
    """Read the pot, the rake, and hole cards that appear nowhere else."""
    names = {number: name for name, (number, _) in hand.seats.items()}
    for line, text in enumerate(lines, start):
        if text.startswith("Total pot ") and (found := _TOTAL.match(text)):
            hand.total_cents = _cents(found[1])
            fees = text.partition("|")[2]
            hand.rake_cents = sum(map(_cents, _FEE.findall(fees)))
        elif text.startswith("Seat ") and text[5:7].rstrip(":").isdecimal():
            name = names.get(int(text[5:7].rstrip(":")))
            start_of_result = text.find(": ") + 2
            if name is not None and text.startswith(name, start_of_result):
                found = _RESULT_CARDS.search(text, start_of_result + len(name))
                if found is not None:
                    _learn_cards(hand, line, name, found[1])
    if hand.total_cents < 0:
        raise HandError("the summary does not give the pot: its end is missing", start + len(lines) - 1)
