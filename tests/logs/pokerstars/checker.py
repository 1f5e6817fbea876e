"""Strict reader of PokerStars hand histories that uses only the text.

Every line must be one that the format allows at its place, letter by letter. The hand is played again from the lines,
and everything that trackers check is compared: whose turn it is, the amount of a raise, uncalled bets, the pots, their
winners and winning hands, collected amounts, and the summary. `check_file` returns the hands; the first violation
raises `WrongHand`.

"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import NoReturn

from tests.logs.pokerstars.judging import RANKS, Judged, JudgedPot, ending, judge, judge_pots

NAME = r"[A-Za-z0-9_.-]{1,12}"
SYMBOL = "[$€£]?"
AMOUNT = SYMBOL + r"(?:0|[1-9][0-9]*)(?:\.(?!00)[0-9]{2})?"
CARD = "[2-9TJQKA][cdhs]"
HEADER = re.compile(
    r"PokerStars Hand #([1-9][0-9]{11}):  Hold'em (No Limit|Limit) "
    rf"\(({SYMBOL})([0-9]+(?:\.[0-9]{{2}})?)/\3([0-9]+(?:\.[0-9]{{2}})?)( USD| EUR| GBP|)\)"
    r" - ([0-9]{4}/[0-9]{2}/[0-9]{2} (?:0|[1-9][0-9]?):[0-9]{2}:[0-9]{2}) ET"
)
TABLE = re.compile(r"Table '([A-Za-z0-9_. -]+)' (2|3|6|9|10)-max( \(Play Money\))? Seat #([1-9][0-9]?) is the button")
STREETS = ("Preflop", "Flop", "Turn", "River")
FORBIDDEN = re.compile(r"dealer|small blind|big blind|posts|[._](?:fr|it|es|pt|eu|de|com)", re.IGNORECASE)


class WrongHand(AssertionError):
    """Violation of the format in a hand history."""


@dataclass
class CheckedHand:
    """Content of a hand history.

    Amounts are in cents and by name; `names` are in the order of the seats.

    """

    number: int
    at: datetime
    is_limit: bool
    names: list[str] = field(default_factory=list)
    seats: dict[str, int] = field(default_factory=dict)
    stacks: dict[str, int] = field(default_factory=dict)
    button: str = ""
    put_in: dict[str, int] = field(default_factory=dict)
    collected: dict[str, int] = field(default_factory=dict)
    dealt: dict[str, tuple[str, ...]] = field(default_factory=dict)
    shown: dict[str, tuple[str, ...]] = field(default_factory=dict)
    board: list[str] = field(default_factory=list)
    pots: list[JudgedPot] = field(default_factory=list)
    rake: int = 0

    def net(self, name: str) -> int:
        """Chips won or lost by a player, in cents."""
        return self.collected.get(name, 0) - self.put_in[name]


def check_file(
    text: str, *, most_bets: int = 4, rake: Callable[[int, bool], int] | None = None, all_show: bool = True
) -> list[CheckedHand]:
    """Check a file and return its hands.

    Args:
        text: the whole file.
        most_bets: maximum bets of a street of a limit game, the big blind included.
        rake: maps a pot in cents and whether there was a flop to the rake; None trusts the summary.
        all_show: whether all players at a showdown must show.

    Raises:
        WrongHand: the text violates the format.

    """
    line_end = "\r\n" if "\r" in text else "\n"
    lines = text.split(line_end)
    if any("\r" in line or "\n" in line for line in lines):
        raise WrongHand("line ends of two kinds")
    if not all(character in "€£" or " " <= character <= "~" for character in set("".join(lines))):
        raise WrongHand("a character that no line has")
    if not text.endswith(3 * line_end):
        raise WrongHand("two empty lines have to end the file")
    hands = []
    for part in text[: -3 * len(line_end)].split(3 * line_end):
        hands.append(HandChecker(part.split(line_end), most_bets, rake, all_show).check())
    numbers = [hand.number for hand in hands]
    if len(set(numbers)) < len(numbers):
        raise WrongHand("a hand number comes twice")
    if any(one.at >= other.at for one, other in pairwise(hands)):
        raise WrongHand("times have to grow")
    return hands


class HandChecker:
    """Play one hand again from its lines."""

    def __init__(
        self, lines: Sequence[str], most_bets: int, rake: Callable[[int, bool], int] | None, all_show: bool
    ) -> None:
        self.lines = lines
        self.next_line = 0
        self.most_bets = most_bets
        self.rake = rake
        self.all_show = all_show
        self.folded: dict[str, str] = {}
        self.street_totals: dict[str, int] = {}
        self.aggressor: str | None = None
        self.first_actor: str | None = None
        self.symbol = ""

    # ---- lines

    def fail(self, problem: str) -> NoReturn:
        """Refuse the last line read."""
        line = self.lines[self.next_line - 1] if 0 < self.next_line <= len(self.lines) else ""
        raise WrongHand(f"line {self.next_line} {line!r}: {problem}")

    def need(self, is_right: bool, problem: str) -> None:
        """Refuse the last line read unless a condition holds."""
        if not is_right:
            self.fail(problem)

    def peek(self) -> str:
        return self.lines[self.next_line] if self.next_line < len(self.lines) else ""

    def take(self, pattern: str | re.Pattern[str]) -> re.Match[str]:
        """Read the next line, which must match in full."""
        line = self.peek()
        self.next_line += 1
        match = re.fullmatch(pattern, line)
        if match is None:
            self.fail(f"expected {pattern if isinstance(pattern, str) else pattern.pattern}")
        return match

    def take_text(self, text: str) -> None:
        """Read the next line, which must be `text`."""
        line = self.peek()
        self.next_line += 1
        self.need(line == text, f"expected {text}")

    def cents(self, text: str) -> int:
        """Parse an amount, which must have the table's symbol."""
        self.need(text.startswith(self.symbol) and text[len(self.symbol)].isdigit(), f"{text} has another symbol")
        whole, _, rest = text[len(self.symbol) :].partition(".")
        return 100 * int(whole) + int(rest or 0)

    def money(self, cents: int) -> str:
        """Format an amount as the history must write it."""
        return f"{self.symbol}{cents // 100}" + (f".{cents % 100:02}" if cents % 100 else "")

    # ---- the hand

    def check(self) -> CheckedHand:
        """Read and check all lines."""
        self.read_header()
        self.read_seats()
        self.read_blinds()
        self.take_text("*** HOLE CARDS ***")
        while self.peek().startswith("Dealt to "):
            match = self.take(rf"Dealt to ({NAME}) \[({CARD}) ({CARD})\]")
            self.need(not self.hand.dealt and match[1] in self.hand.seats, "one player of the table is the hero")
            self.hand.dealt[match[1]] = (match[2], match[3])
        self.read_streets()
        self.hand.pots = judge_pots(self.hand.put_in, self.folded)
        judged = self.read_showdown() if len(self.playing()) > 1 else {}
        self.read_collecting(judged)
        self.read_summary(judged)
        self.need(self.next_line == len(self.lines), "lines behind the summary")
        self.check_cards()
        hand = self.hand
        total = sum(hand.put_in.values())
        self.need(total == sum(hand.collected.values()) + hand.rake, "what is put in is not what is taken out")
        return hand

    def read_header(self) -> None:
        match = self.take(HEADER)
        at = datetime.strptime(match[7], "%Y/%m/%d %H:%M:%S")
        self.hand = CheckedHand(int(match[1]), at, match[2] == "Limit")
        self.symbol = match[3]
        self.need({"$": " USD", "€": " EUR", "£": " GBP", "": ""}[match[3]] == match[6], "symbol and code do not agree")
        self.need(("." in match[4]) == ("." in match[5]), "one of the stakes has cents, the other has not")
        small, big = (self.cents(self.symbol + text) for text in (match[4], match[5]))
        self.need(0 < small <= big, "stakes that are none")
        self.stakes = small, big
        match = self.take(TABLE)
        self.need(bool(match[3]) == (not self.symbol), "play money has no symbol, and says so")
        self.size, self.button_seat = int(match[2]), int(match[4])

    def read_seats(self) -> None:
        hand = self.hand
        while self.peek().startswith("Seat "):
            match = self.take(rf"Seat ([1-9][0-9]?): ({NAME}) \(({AMOUNT}) in chips\) ")
            seat, name, stack = int(match[1]), match[2], self.cents(match[3])
            self.need(seat <= self.size, "no such seat at this table")
            self.need(not hand.names or seat > hand.seats[hand.names[-1]], "seats are in order")
            self.need(name.casefold() not in map(str.casefold, hand.names), "two players of one name")
            self.need(FORBIDDEN.search(name) is None, "a name that importers stumble over")
            self.need(stack > 0, "a player without chips")
            hand.names.append(name)
            hand.seats[name], hand.stacks[name] = seat, stack
            if seat == self.button_seat:
                hand.button = name
        self.need(len(hand.names) >= 2, "too few players")
        self.need(bool(hand.button), "the button is at an empty seat")
        self.left = dict(hand.stacks)
        hand.put_in = dict.fromkeys(hand.names, 0)
        # Clockwise from the left of the button; the button is last.
        button = hand.names.index(hand.button)
        self.clockwise = hand.names[button + 1 :] + hand.names[: button + 1]

    def read_blinds(self) -> None:
        hand = self.hand
        self.street_totals = dict.fromkeys(hand.names, 0)
        heads_up = len(hand.names) == 2
        self.small = hand.button if heads_up else self.clockwise[0]
        self.big = self.clockwise[0] if heads_up else self.clockwise[1]
        posted = []
        for what, name in (("small", self.small), ("big", self.big)):
            match = self.take(rf"({NAME}): posts {what} blind ({AMOUNT})( and is all-in)?")
            self.need(match[1] == name, f"the {what} blind is {name}'s")
            posted.append(self.cents(match[2]))
            self.put(name, posted[-1], match[3])
        small, big = posted
        if hand.is_limit:
            self.need(small <= big <= self.stakes[0], "the blinds of a limit game are no more than the small bet")
        else:
            self.need((small, big) == self.stakes, "the blinds are not those of the header")
        self.big_blind = big

    def put(self, name: str, cents: int, all_in: str | None) -> None:
        """Move chips of a player to the pot."""
        hand = self.hand
        self.need(0 < cents <= self.left[name], f"{name} has {self.left[name]} cents")
        self.left[name] -= cents
        hand.put_in[name] += cents
        self.street_totals[name] += cents
        self.need((self.left[name] == 0) == bool(all_in), "all-in is who has no chips left")

    def playing(self) -> list[str]:
        """Players who have not folded, clockwise."""
        return [name for name in self.clockwise if name not in self.folded]

    def behind(self, name: str) -> list[str]:
        """Return the other players, clockwise from a player on."""
        at = self.clockwise.index(name)
        return self.clockwise[at + 1 :] + self.clockwise[:at]

    # ---- betting

    def read_streets(self) -> None:
        hand = self.hand
        for street, name in enumerate(STREETS):
            if street:
                if len(self.playing()) < 2:
                    return
                self.read_board(street)
                self.street_totals = dict.fromkeys(hand.names, 0)
            self.read_betting(street, name)

    def read_board(self, street: int) -> None:
        board = self.hand.board
        if street == 1:
            match = self.take(rf"\*\*\* FLOP \*\*\* \[({CARD}) ({CARD}) ({CARD})\]")
            board += match.groups()
        else:
            match = self.take(rf"\*\*\* (TURN|RIVER) \*\*\* \[([^]]*)\] \[({CARD})\]")
            street_name, before = STREETS[street].upper(), " ".join(board)
            self.need((match[1], match[2]) == (street_name, before), f"expected the {street_name} after {before}")
            board.append(match[3])

    def read_betting(self, street: int, street_name: str) -> None:
        """Read the actions of all players in turn, and the uncalled bet."""
        due = [name for name in self.playing() if self.left[name]]
        if street == 0:
            due = [name for name in self.behind(self.big) if self.left[name]] + [self.big] * bool(self.left[self.big])
        highest = max(self.street_totals.values())
        least = highest + self.big_blind
        bets = int(street == 0)
        aggressor = first = None
        while due and len(self.playing()) > 1:
            name = due.pop(0)
            owed = highest - self.street_totals[name]
            if not owed and not any(self.left[other] for other in self.playing() if other != name):
                break
            match = self.take(
                rf"({NAME}): (?:(folds |checks )|(calls|bets) ({AMOUNT})( and is all-in)?"
                rf"|raises ({AMOUNT}) to ({AMOUNT})( and is all-in)?)"
            )
            self.need(match[1] == name, f"{name} is due")
            first = first or name
            if match[2] == "folds ":
                self.folded[name] = street_name
            elif match[2] == "checks ":
                self.need(owed == 0, f"{owed} cents are to call")
            elif match[3] == "calls":
                self.need(owed > 0, "there is nothing to call")
                added = self.cents(match[4])
                self.need(added == min(owed, self.left[name]), f"{owed} cents are to call")
                self.put(name, added, match[5])
            else:
                if match[3] == "bets":
                    self.need(highest == 0, "there is a bet already: this is a raise")
                    size = total = self.cents(match[4])
                    all_in = match[5]
                else:
                    self.need(highest > 0, "there is no bet yet")
                    size, total, all_in = self.cents(match[6]), self.cents(match[7]), match[8]
                    self.need(size == total - highest, f"it raises by {total - highest} cents")
                self.need(size > 0, "a raise has to raise")
                self.put(name, total - self.street_totals[name], all_in)
                if self.hand.is_limit:
                    wanted = self.stakes[street > 1]
                    self.need(size == wanted or (size < wanted and bool(all_in)), f"a bet is {wanted} cents")
                    bets += 1
                    self.need(bets <= self.most_bets, "too many bets")
                else:
                    # ACPC rule: a short all-in neither raises nor lowers the minimum of the next raise.
                    self.need(total >= least or bool(all_in), f"a raise is to {least} cents at least")
                    least = max(least, total + size)
                highest, aggressor = total, name
                due = [other for other in self.behind(name) if other not in self.folded and self.left[other]]
        if first is not None:
            self.first_actor, self.aggressor = first, aggressor
        self.read_uncalled()

    def read_uncalled(self) -> None:
        hand = self.hand
        most = max(hand.put_in, key=lambda name: hand.put_in[name])
        returned = hand.put_in[most] - max(hand.put_in[name] for name in hand.names if name != most)
        if returned:
            self.take_text(f"Uncalled bet ({self.money(returned)}) returned to {most}")
            hand.put_in[most] -= returned
            self.left[most] += returned

    # ---- showdown and summary

    def read_showdown(self) -> dict[str, Judged]:
        """Read the hands shown, in order; return every known hand."""
        self.take_text("*** SHOW DOWN ***")
        first = self.aggressor or self.first_actor or self.clockwise[0]
        judged: dict[str, Judged] = {}
        for name in [first, *self.behind(first)]:
            if name in self.folded:
                continue
            if not self.all_show and not self.peek().startswith(f"{name}: shows"):
                if self.peek().startswith(f"{name}: mucks"):
                    self.take_text(f"{name}: mucks hand ")
                continue
            match = self.take(rf"{re.escape(name)}: shows \[({CARD}) ({CARD})\] \(([^()]+)\)")
            cards = (match[1], match[2])
            self.hand.shown[name] = cards
            self.need(self.hand.dealt.get(name, cards) == cards, "he was dealt other cards")
            hand = judge([*cards, *self.hand.board])
            self.need(match[3] == hand.name + ending(hand, judged.values()), f"this is {hand.name}")
            judged[name] = hand
        return judged

    def read_collecting(self, judged: dict[str, Judged]) -> None:
        """Read the winner of each pot, side pots first."""
        hand = self.hand
        self.after_rake: list[int] = []
        count = len(hand.pots)
        for index in reversed(range(count)):
            pot = hand.pots[index]
            what = "pot" if count == 1 else "main pot" if not index else "side pot" + f"-{index}" * (count > 2)
            won: dict[str, int] = {}
            while re.fullmatch(rf"{NAME} collected \S+ from {what}", self.peek()):
                match = self.take(rf"({NAME}) collected ({AMOUNT}) from {what}")
                self.need(match[1] not in won, "he has his share already")
                won[match[1]] = self.cents(match[2])
            self.next_line += not won
            self.need(bool(won), f"nobody collects the {what}")
            self.need(set(won) <= pot.players, f"somebody who does not play for the {what} collects it")
            if judged and set(judged) >= pot.players:
                best = max(judged[name] for name in pot.players)
                winners = {name for name in pot.players if judged[name] == best}
                self.need(set(won) == winners, f"the winners are {sorted(winners)}")
            share, odd = divmod(sum(won.values()), len(won))
            in_order = [name for name in self.clockwise if name in won]
            self.need(list(won) == in_order, "winners are told clockwise")
            self.need(
                [won[name] for name in in_order] == [share + (i < odd) for i in range(len(won))], "unequal shares"
            )
            self.need(0 <= sum(won.values()) <= pot.cents, f"the {what} is {pot.cents} cents")
            self.after_rake.insert(0, sum(won.values()))
            for name, cents in won.items():
                hand.collected[name] = hand.collected.get(name, 0) + cents
        if len(self.playing()) == 1:
            self.take_text(f"{self.playing()[0]}: doesn't show hand ")

    def read_summary(self, judged: dict[str, Judged]) -> None:
        hand = self.hand
        self.take_text("*** SUMMARY ***")
        total = sum(pot.cents for pot in hand.pots)
        hand.rake = total - sum(self.after_rake)
        if self.rake is not None:
            self.need(hand.rake == self.rake(total, bool(hand.board)), "another rake was agreed")
        parts = ""
        if len(self.after_rake) > 1:
            for index, cents in enumerate(self.after_rake):
                name = "Main pot" if not index else "Side pot" + f"-{index}" * (len(self.after_rake) > 2)
                parts += f"{name} {self.money(cents)}. "
        self.take_text(f"Total pot {self.money(total)} {parts}| Rake {self.money(hand.rake)} ")
        if hand.board:
            self.take_text(f"Board [{' '.join(hand.board)}]")
        for name in hand.names:
            tags = " (button)" * (name == hand.button)
            tags += " (small blind)" * (name == self.small) + " (big blind)" * (name == self.big)
            self.take_text(f"Seat {hand.seats[name]}: {name}{tags} {self.fate(name, judged)}")

    def fate(self, name: str, judged: dict[str, Judged]) -> str:
        """Return the text of a player in the summary."""
        hand = self.hand
        won = f"({self.money(hand.collected[name])})" if name in hand.collected else ""
        if name in self.folded:
            street = self.folded[name]
            if street == "Preflop":
                return "folded before Flop" + " (didn't bet)" * (hand.put_in[name] == 0)
            return f"folded on the {street}"
        if name in judged:
            result = f"won {won}" if won else "lost"
            return f"showed [{' '.join(hand.shown[name])}] and {result} with {judged[name].name}"
        return f"collected {won}" if won else "mucked"

    def check_cards(self) -> None:
        """Refuse a hand in which a card appears twice."""
        hand = self.hand
        cards = [*hand.board]
        for cards_of in (hand.dealt | hand.shown).values():
            cards += cards_of
        self.need(len(set(cards)) == len(cards), "a card comes twice")
        self.need(all(card[0] in RANKS for card in cards), "a card of no deck")
