"""Reading PokerStars hand histories: cash hands of hold'em, our own files and genuine ones.

    for record in read_pokerstars("HH20260103 m1 - $50-$100.txt", on_problem=print):
        ...

Rules it obeys:

- A hand is accepted only if all of it agrees: it is played again by the rules, every amount must be what the rules make
  it, the pots must be the chips put in, and the winners must have collected them, less the rake.
- A hand is the lines from one header (``PokerStars Hand #...``) to the next, first read as what they say. Lines that
  say nothing about the play are ignored: chat, players who come and go, lost connections and time-outs, whatever
  clients add over the years. That is safe because a line that mattered would be missed when the hand is played again
  and its money counted. A player's name may hold nearly anything, so an action belongs to the seated player whose name
  is all that comes before the last colon.
- A hand that a game definition cannot express is left out and reported, and the rest is read: antes, straddles, dead
  blinds, a big blind that is all-in for less, boards dealt twice, tournaments, games other than hold'em.
- Cards that were never shown are not in the record (`Deal.hole_cards` is empty there); who won what then follows from
  the lines that say who collected. Values are those before rake, as everywhere in this package.
- The players of a hand are those who posted or acted; position 0 is the first of them left of the button. Seats are
  counted without the empty ones.
- A pot-limit hand is a hand of the no-limit game in which no player raised too much.
- A chip is a cent, and a hundredth of a chip of play money, by default. Where a limit game of
  the ACPC has no stacks, the record has those that our writer shows for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from engine import (
    CALL,
    CARD_TEXTS,
    FOLD,
    RAISE,
    BettingType,
    Card,
    Deal,
    Game,
    GameError,
    IllegalAction,
    Position,
    Seat,
    betting_start,
)
from engine.betting_rules import raise_to
from engine.hand import Pot, hand_values, side_pots, uncalled
from engine.holdem import NO_CAP, holdem_game
from logs.errors import HandError, LogError, LogsError, ProblemKind, ProblemReporter
from logs.formats import HandReader, Scale, check_values, paid_values
from logs.pokerstars.writer import eastern_us
from logs.record import HandRecord

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
_STREET_LINES: Final = {"FLOP": 1, "TURN": 2, "RIVER": 3}


class ActionLine(NamedTuple):
    """An action of a player, or chips put in before the cards are dealt; `line` and `street` are 0-based.

    Attributes:
        verb: ``folds``, ``checks``, ``calls``, ``bets`` or ``raises``; or what is posted, as in the line: ``small
            blind``.
        cents: hundredths of the money that a call or bet adds, or the total for the street that a raise is to.
    """

    line: int
    street: int
    name: str
    verb: str
    cents: int


class Payment(NamedTuple):
    """Money, in hundredths, that a player gets from a pot: 0 is the main pot, -1 an uncalled bet; `line` is 0-based."""

    line: int
    name: str
    cents: int
    pot: int


@dataclass(slots=True)
class HandText:
    """The content of the lines of a hand. All amounts are in hundredths of the money.

    Attributes:
        betting: fixed limit, or no limit; a pot-limit hand is legal in a no-limit game.
        symbol: what precedes amounts; empty for play money.
        stakes_cents: both blinds, in limit games both bets.
        begin_us: in microseconds of Unix time; None where the header gives no Eastern time.
        button: number of its seat.
        seats: number and stack of each player by name.
        holes: hole cards by name, if known.
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
    posts: list[ActionLine] = field(default_factory=list)
    moves: list[ActionLine] = field(default_factory=list)
    board: tuple[Card, ...] = ()
    holes: dict[str, tuple[Card, ...]] = field(default_factory=dict)
    payments: list[Payment] = field(default_factory=list)
    total_cents: int = -1
    rake_cents: int = 0


def parse_hand(lines: list[str]) -> HandText:
    """The content of the lines of a hand; the first is its header.

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
        raise HandError("the board was dealt more than once, which a game definition cannot express", line)
    if found is None or name not in _STREET_LINES:
        return street
    board = tuple(card for run in _CARDS.findall(found[2]) for card in _cards(line, run))
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
    """Take note of a player's hole cards; of one card that is shown alone nothing follows."""
    hole = _cards(line, text)
    known = hand.holes.get(name)
    if len(hole) != 2:
        return
    if known is not None and set(known) != set(hole):
        raise HandError(f"{name} had other hole cards before", line)
    hand.holes[name] = known or hole


def _parse_seating(hand: HandText, line: int, text: str) -> bool:
    """Read a line with the seat of a player; returns whether it is one."""
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
        hand.moves.append(ActionLine(line, street, name, verb, 0))
    elif verb in ("calls", "bets", "raises"):
        found = _BETS.match(text)
        if found is None or (verb == "raises") != bool(found[3]):
            raise HandError(f"{text[:60]!r} cannot be read", line)
        hand.moves.append(ActionLine(line, street, name, verb, _cents(found[3] or found[2])))
    elif verb == "posts":
        found = _POSTS.match(text)
        if found is None:
            raise HandError(f"{text[:60]!r} cannot be read", line)
        hand.posts.append(ActionLine(line, 0, name, found[1], _cents(found[2])))
    if verb in ("shows", "folds") and (found := _CARDS.search(text)):
        _learn_cards(hand, line, name, found[1])


def _parse_summary(hand: HandText, start: int, lines: list[str]) -> None:
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


_MOST_CHARACTERS: Final = 1 << 16
"""Of a hand."""
_LIMIT_CAPS: Final = (3, 4, 4, 4)
"""A bet and three raises; before the flop the big blind is the bet."""
_STREETS: Final = ("deal", "flop", "turn", "river")


def _read(lines: Iterator[str], problems: ProblemReporter, scale: Scale) -> Iterator[HandRecord]:
    chip_cents = 100 * Fraction(scale.chip_value)
    count = 0
    for start, hand_lines, is_last in _hands(lines):
        count += 1
        try:
            text = parse_hand(hand_lines)
            record = _Replay(text, chip_cents).record()
        except HandError as error:
            # Cut off in or before the line of the pot: what comes after it is not needed.
            is_cut = is_last and not any(line.startswith("Total pot ") for line in hand_lines[:-1])
            kind = ProblemKind.HALF_WRITTEN if is_cut else ProblemKind.SKIPPED
            problems.report(start + error.line, None, f"hand #{_number(hand_lines[0])}: {error.problem}", kind)
            continue
        yield record
    if not count:
        raise LogError(problems.path, "there is no hand in it: a PokerStars hand begins with 'PokerStars Hand #'")


def _number(header: str) -> str:
    found = HEADER.match(header)
    return "" if found is None else found[1]


def _hands(lines: Iterator[str]) -> Iterator[tuple[int, list[str], bool]]:
    """The lines of each hand without their ends, the number of the first, and whether it is the file's last hand."""
    start, held, size, margin = 0, list[str](), 0, ""
    for line_number, line in enumerate(lines, 1):
        if line.startswith(("PokerStars", " PokerStars", "\ufeff")) and HEADER.match(line.lstrip(" ")):
            if held:
                yield start, held, False
            # In old archives every line begins with a blank.
            margin = " " if line.startswith(" ") else ""
            start, held, size = line_number, [line.removeprefix(margin).rstrip("\r\n")], 0
        elif held and size <= _MOST_CHARACTERS:
            # What a hand has beyond the bound is cut off: its summary is missing then.
            held.append(line.removeprefix(margin).rstrip("\r\n"))
            size += len(line)
    if held:
        yield start, held, True


def _shown(cents: int | Fraction) -> str:
    return f"{float(cents) / 100:g}"


class _Replay:
    """A hand played again by the rules."""

    def __init__(self, text: HandText, chip_cents: Fraction) -> None:
        self._text = text
        self._chip = chip_cents
        playing = {post.name for post in text.posts} | {move.name for move in text.moves}
        seated = sorted((number, name) for name, (number, _) in text.seats.items() if name in playing)
        if not 2 <= len(seated) <= 10:
            raise HandError(f"{len(seated)} players post or act, and a hand has 2 to 10", 0)
        self._by_seat = [name for _, name in seated]
        # The seats behind the button come first, the button last.
        turned = sorted(seated, key=lambda seat: (seat[0] <= text.button, seat[0]))
        self._names = [name for _, name in turned]
        self._position_of = {name: Position(position) for position, name in enumerate(self._names)}
        self._betting = betting_start(self._game())
        self._before: tuple[int, ...] = (0,) * len(turned)
        """Chips each position had put in before the present street."""

    def record(self) -> HandRecord:
        """The hand; raises `HandError` where the rules or the amounts contradict the text."""
        text = self._text
        for move in text.moves:
            self._play(move)
        last_line = text.moves[-1].line if text.moves else 0
        while not self._betting.finished:
            if not self._pass_idle():
                raise HandError("the hand is not over after its last action", last_line)
        betting = self._betting
        if len(text.board) != betting.game.board_cards_by_round[betting.round]:
            raise HandError(f"the board has {len(text.board)} cards at the end of the hand", last_line)
        deal = Deal(tuple([text.holes.get(name, ()) for name in self._names]), text.board)
        cards = [card for hole in deal.hole_cards for card in hole] + list(deal.board)
        if len(set(cards)) != len(cards):
            raise HandError("a card is dealt twice", last_line)
        pots = side_pots(betting.spent, betting.folded)
        winners = self._winners(pots)
        record = HandRecord(
            game=betting.game,
            match_name=text.table,
            hand_number=text.number,
            names_by_seat=tuple(self._by_seat),
            seats=tuple([Seat(self._by_seat.index(name)) for name in self._names]),
            deal=deal,
            betting=betting,
            values=self._values(deal, pots, winners),
            dealt_us=text.begin_us,
        )
        try:
            check_values(record, pots, winners)
        except LogsError:
            raise HandError("by their cards, other players should have won", last_line) from None
        return record

    # ---- the game

    def _game(self) -> Game:
        text = self._text
        stacks = [self._chips(0, text.seats[name][1]) for name in self._names]
        blinds = [0] * len(stacks)
        big: ActionLine | None = None
        has_small = False
        for post in text.posts:
            position = self._position_of[post.name]
            is_small = post.verb == "small blind"
            if not is_small and post.verb != "big blind":
                what = post.verb.removeprefix("the ")
                raise HandError(f"{post.name} posts {what}, which a game definition cannot express", post.line)
            if blinds[position] or (is_small and (has_small or big is not None)):
                dead = f"{post.name} posts a dead blind, which a game definition cannot express"
                raise HandError(dead, post.line)
            blinds[position] = self._chips(post.line, post.cents)
            has_small |= is_small
            if not is_small and big is None:
                big = post
        if big is None:
            raise HandError("the hand has no big blind", 0)
        big_position = self._position_of[big.name]
        is_limit = text.betting is BettingType.LIMIT
        is_all_in = blinds[big_position] == stacks[big_position]
        if big.cents < text.stakes_cents[1 - is_limit] and (is_all_in or not is_limit):
            problem = "the big blind is less than that of the stakes, which a game definition cannot express"
            raise HandError(problem, big.line)
        sizes = tuple([self._chips(0, stake) for stake in text.stakes_cents for _ in range(2)]) if is_limit else ()
        raises = Counter(move.street for move in text.moves if move.verb in ("bets", "raises"))
        is_capped = is_limit and all(raises[street] <= cap for street, cap in enumerate(_LIMIT_CAPS))
        caps = _LIMIT_CAPS if is_capped else (NO_CAP,) * 4
        first = Position((big_position + 1) % len(stacks))
        try:
            return holdem_game(text.betting, tuple(stacks), tuple(blinds), sizes, caps, first)
        except GameError as error:
            raise HandError(f"this game cannot be played: {error}", 0) from None

    def _chips(self, line: int, cents: int) -> int:
        chips, rest = divmod(cents * self._chip.denominator, self._chip.numerator)
        if rest:
            problem = (
                f"{_shown(cents)} is not a whole number of chips of {_shown(self._chip)}: give a smaller chip value"
            )
            raise HandError(problem, line)
        return chips

    # ---- the actions

    def _play(self, move: ActionLine) -> None:
        position = self._position_of[move.name]
        while self._betting.acting_position != position or self._betting.round != move.street:
            if not self._pass_idle():
                raise HandError(self._not_next(move), move.line)
        betting = self._betting
        chips = self._chips(move.line, move.cents)
        spent = betting.spent[position]
        if move.verb == "folds":
            action, total = FOLD, spent
        elif move.verb in ("checks", "calls"):
            action, total = CALL, spent + chips
        else:
            total = self._before[position] + chips
            action = RAISE if betting.game.is_limit else raise_to(total)
        try:
            after = betting.after_played(action)
        except IllegalAction as error:
            raise HandError(f"{move.name} {move.verb}: {error.fact}", move.line) from None
        if after.spent[position] != total:
            wanted = _shown((after.spent[position] - spent) * self._chip)
            raise HandError(f"{move.name} {move.verb}, which by the rules adds {wanted}", move.line)
        if after.round != betting.round:
            self._before = after.spent
        self._betting = after

    def _pass_idle(self) -> bool:
        """Check for a player whom a table does not ask: no other player can bet, and there is nothing to call.

        Returns whether there was one.
        """
        betting = self._betting
        able = sum(map(betting.is_able, range(len(self._names))))
        if betting.finished or able != 1 or betting.to_call:
            return False
        self._betting = betting.after(CALL)
        return True

    def _not_next(self, move: ActionLine) -> str:
        betting = self._betting
        if betting.finished:
            return f"{move.name} {move.verb} after the end of the betting"
        if betting.round != move.street:
            return f"{move.name} {move.verb} on the {_STREETS[move.street]}, where the betting is not yet or no more"
        return f"{move.name} {move.verb}, and it is the turn of {self._names[betting.acting_position]}"

    # ---- the money

    def _winners(self, pots: list[Pot]) -> list[tuple[Position, ...]]:
        """Who collected each pot; what they got is held against the chips put in."""
        text, betting = self._text, self._betting
        returned_to, returned = uncalled(betting.spent)
        collected: list[dict[Position, int]] = [{} for _ in pots]
        for payment in text.payments:
            position = self._position_of.get(payment.name)
            if position is None:
                raise HandError(f"{payment.name} gets money and is not in the hand", payment.line)
            if payment.pot < 0:
                if position != returned_to or payment.cents != returned * self._chip:
                    raise HandError(f"the uncalled bet is {_shown(returned * self._chip)}", payment.line)
                continue
            if payment.pot >= len(pots) or position not in pots[payment.pot].players:
                raise HandError(f"{payment.name} does not play for this pot", payment.line)
            shares = collected[payment.pot]
            shares[position] = shares.get(position, 0) + payment.cents
        last_line = text.payments[-1].line if text.payments else 0
        put_in = sum(pot.amount for pot in pots) * self._chip
        got = sum(cents for shares in collected for cents in shares.values())
        if text.total_cents != put_in or got + text.rake_cents != put_in:
            raise HandError(
                f"the players put in {_shown(put_in)}, and the pot is {_shown(text.total_cents)}: "
                f"{_shown(got)} collected and a rake of {_shown(text.rake_cents)}",
                last_line,
            )
        coin = 1 if text.symbol else self._chip
        for pot, shares in zip(pots, collected, strict=True):
            amounts = list(shares.values())
            taken = pot.amount * self._chip - sum(amounts)
            if not amounts or max(amounts) - min(amounts) > coin or not 0 <= taken <= text.rake_cents:
                money = _shown(pot.amount * self._chip)
                raise HandError(f"a pot of {money} is not shared equally by those who collect it", last_line)
        return [tuple(sorted(shares)) for shares in collected]

    def _values(self, deal: Deal, pots: list[Pot], winners: list[tuple[Position, ...]]) -> tuple[float, ...]:
        """Net chips of each position: by the cards where all that matter are known, else by who collected."""
        betting = self._betting
        if not betting.is_showdown or all(deal.hole_cards[position] for position in betting.in_pot):
            return tuple(hand_values(betting, deal))
        return paid_values(betting, pots, winners)


read_pokerstars: Final = HandReader(_read, _MOST_CHARACTERS, Decimal("0.01"))
"""Reads PokerStars hand histories. Hands keep the numbers of the file; their match is named after the table."""
