"""Client of Slumbot's interface, written from public descriptions and independent of our code.

It follows every hand itself (turn, pot and legal bets) and raises `InterfaceError` where the server differs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import httpx2

BIG_BLIND = 100
SMALL_BLIND = 50
STACK = 20_000
STREET_CARDS = (0, 3, 4, 5)


class InterfaceError(Exception):
    """An answer contradicts the interface or the rules."""


@dataclass
class Betting:
    """State of the betting after an action text.

    Attributes:
        turn: next position to act, or None after the hand.
        total: chips that each position has put in, in the hand.
        before: the same before this street.
        acted: number of actions on this street.
        folded: position that has folded.
    """

    street: int = 0
    turn: int | None = 1
    total: list[int] = field(default_factory=lambda: [BIG_BLIND, SMALL_BLIND])
    before: list[int] = field(default_factory=lambda: [0, 0])
    last_raise: int = BIG_BLIND
    acted: int = 0
    folded: int | None = None

    def on_street(self, position: int) -> int:
        return self.total[position] - self.before[position]

    @property
    def to_call(self) -> int:
        assert self.turn is not None
        return self.total[1 - self.turn] - self.total[self.turn]

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Smallest and largest legal bet, as totals of this street; None if no bet is possible."""
        assert self.turn is not None
        if max(self.total) == STACK:
            return None
        largest = STACK - self.before[self.turn]
        highest = max(self.on_street(0), self.on_street(1))
        return min(largest, highest + max(self.last_raise, BIG_BLIND)), largest

    def end_street(self) -> None:
        if self.street == 3:
            self.turn = None
            return
        self.street += 1
        self.before = self.total.copy()
        self.turn = 0
        self.acted = 0
        self.last_raise = 0


def read_betting(text: str) -> Betting:
    """Parse an action text, and check it against all rules of betting."""
    betting = Betting()
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        turn = betting.turn
        if turn is None:
            raise InterfaceError(f"{text}: an action after the end of the hand")
        if char == "f":
            if not betting.to_call:
                raise InterfaceError(f"{text}: a fold without a bet")
            betting.folded = turn
            betting.turn = None
            continue
        if char in "kc":
            if (char == "c") != bool(betting.to_call):
                raise InterfaceError(f"{text}: {char} at {position}")
            betting.total[turn] += betting.to_call
            betting.acted += 1
            if max(betting.total) == STACK and char == "c":
                if text[position:] not in ("", "/" * (3 - betting.street)):
                    raise InterfaceError(f"{text}: an action after an all-in was called")
                betting.street = 3
                betting.turn = None
                return betting
            if betting.acted < 2:
                betting.turn = 1 - turn
                continue
            betting.end_street()
            if betting.turn is not None:
                if text[position : position + 1] not in ("/", ""):
                    raise InterfaceError(f"{text}: a street without its end")
                position += 1
            continue
        if char != "b":
            raise InterfaceError(f"{text}: {char!r}")
        start = position
        while position < len(text) and text[position].isdigit():
            position += 1
        size = int(text[start:position])
        sizes = betting.sizes
        if sizes is None or not sizes[0] <= size <= sizes[1]:
            raise InterfaceError(f"{text}: b{size} is not within {sizes}")
        betting.last_raise = size - max(betting.on_street(0), betting.on_street(1))
        betting.total[turn] = betting.before[turn] + size
        betting.acted += 1
        betting.turn = 1 - turn
    return betting


class Client:
    """Player of random actions, with a score of its own."""

    def __init__(self, browser: httpx2.AsyncClient, *, seed: int = 1, prefix: str = "/api") -> None:
        self.browser = browser
        self.prefix = prefix
        self.token: str | None = None
        self.hands = 0
        self.total = 0
        self.positions: list[int] = []
        self.ends = {"fold": 0, "showdown": 0, "all-in": 0}
        self.draws = random.Random(seed)

    async def call(self, name: str, **data: Any) -> dict[str, Any]:
        response = await self.browser.post(f"{self.prefix}/{name}", json=data)
        answer = response.json()
        if response.status_code != 200 or "error_msg" in answer:
            raise InterfaceError(f"{response.status_code} {answer}")
        self.token = answer.get("token", self.token)
        assert isinstance(answer, dict)
        return answer

    async def log_in(self, name: str, secret: str) -> None:
        await self.call("login", username=name, password=secret)

    async def deal(self) -> dict[str, Any]:
        return await self.call("new_hand", **({"token": self.token} if self.token else {}))

    def choice(self, betting: Betting) -> str:
        """Draw an action, most often a call or check."""
        draw = self.draws.random()
        if betting.to_call and draw < 0.15:
            return "f"
        sizes = betting.sizes
        if sizes is None or draw < 0.75:
            return "c" if betting.to_call else "k"
        smallest, largest = sizes
        size = largest if draw > 0.97 else min(largest, smallest + int(self.draws.expovariate(1 / 300)))
        return f"b{size}"

    async def play_hand(self) -> int:
        """Play one hand; return the winnings."""
        answer = await self.deal()
        cards = answer["hole_cards"]
        seat = answer["client_pos"]
        sent = ""
        previous = ""
        while True:
            action = answer["action"]
            betting = read_betting(action)
            if not action.startswith(previous + sent):
                raise InterfaceError(f"{previous} and {sent} became {action}")
            if answer["old_action"] != previous:
                raise InterfaceError(f"old_action is {answer['old_action']} after {previous}")
            if (answer["hole_cards"], answer["client_pos"]) != (cards, seat):
                raise InterfaceError("the cards or the position have changed during a hand")
            if "winnings" in answer:
                self.count(answer, betting)
                return int(answer["winnings"])
            if betting.turn != seat:
                raise InterfaceError(f"{action}: it is not the client's turn")
            if len(answer["board"]) != STREET_CARDS[betting.street] or "bot_hole_cards" in answer:
                raise InterfaceError(f"{action}: the cards are {answer}")
            previous = action
            sent = self.choice(betting)
            answer = await self.call("act", token=self.token, incr=sent)

    def count(self, answer: dict[str, Any], betting: Betting) -> None:
        """Check the last answer of a hand, and add its winnings to the score."""
        seat = answer["client_pos"]
        if betting.turn is not None:
            raise InterfaceError(f"{answer['action']}: the hand is not over")
        cards = answer["hole_cards"] + answer["bot_hole_cards"] + answer["board"]
        if len(set(cards)) != len(cards) or len(answer["hole_cards"]) != 2 or len(answer["bot_hole_cards"]) != 2:
            raise InterfaceError(f"cards {cards}")
        won = answer["winnings"]
        pot = sum(betting.total)
        stake = min(betting.total)
        if betting.folded is not None:
            self.ends["fold"] += 1
            if won != (-betting.total[seat] if betting.folded == seat else betting.total[1 - seat]):
                raise InterfaceError(f"{answer}: the fold is paid wrongly")
        else:
            self.ends["all-in" if stake == STACK else "showdown"] += 1
            if won not in (stake, -stake, 0) or len(answer["board"]) != 5:
                raise InterfaceError(f"{answer}: the showdown is paid wrongly")
        if answer["won_pot"] != (pot if won > 0 else -pot if won < 0 else 0):
            raise InterfaceError(f"{answer}: the pot is {pot}")
        self.hands += 1
        self.total += won
        self.positions.append(seat)
        if (answer["session_num_hands"], answer["session_total"]) != (self.hands, self.total):
            raise InterfaceError(f"{answer}: the client counts {self.hands} hands and {self.total} chips")
