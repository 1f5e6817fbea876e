"""A client of Slumbot's interface, written from what is publicly said of it; it knows nothing of our code.

It keeps its own book of every hand: whose turn it is, what is in the pot, what may be bet; and says where the server's
book is another.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import httpx2

BIG_BLIND, SMALL_BLIND, STACK = 100, 50, 20_000
STREET_CARDS = (0, 3, 4, 5)


class Wrong(Exception):
    """The server does not keep to the interface."""


@dataclass
class Betting:
    """What an action text says: `turn` is the next position, None when the hand is over."""

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
        """The smallest and the largest street total that may be bet."""
        assert self.turn is not None
        if max(self.total) == STACK:
            return None
        most = STACK - self.before[self.turn]
        highest = max(self.on_street(0), self.on_street(1))
        return min(most, highest + max(self.last_raise, BIG_BLIND)), most

    def end_street(self) -> None:
        if self.street == 3:
            self.turn = None
            return
        self.street += 1
        self.before = self.total.copy()
        self.turn, self.acted, self.last_raise = 0, 0, 0


def read(text: str) -> Betting:
    """An action text, every rule checked."""
    betting = Betting()
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        turn = betting.turn
        if turn is None:
            raise Wrong(f"{text}: goes on after its end")
        if char == "f":
            if not betting.to_call:
                raise Wrong(f"{text}: a fold to no bet")
            betting.folded, betting.turn = turn, None
            continue
        if char in "kc":
            if (char == "c") != bool(betting.to_call):
                raise Wrong(f"{text}: {char} at {at}")
            betting.total[turn] += betting.to_call
            betting.acted += 1
            if max(betting.total) == STACK and char == "c":
                if text[at:] not in ("", "/" * (3 - betting.street)):
                    raise Wrong(f"{text}: an all-in that was called goes on")
                betting.street, betting.turn = 3, None
                return betting
            if betting.acted < 2:
                betting.turn = 1 - turn
                continue
            betting.end_street()
            if betting.turn is not None:
                if text[at : at + 1] not in ("/", ""):
                    raise Wrong(f"{text}: a street without its end")
                at += 1
            continue
        if char != "b":
            raise Wrong(f"{text}: {char!r}")
        digits = at
        while at < len(text) and text[at].isdigit():
            at += 1
        size, sizes = int(text[digits:at]), betting.sizes
        if sizes is None or not sizes[0] <= size <= sizes[1]:
            raise Wrong(f"{text}: b{size} is not within {sizes}")
        betting.last_raise = size - max(betting.on_street(0), betting.on_street(1))
        betting.total[turn] = betting.before[turn] + size
        betting.acted += 1
        betting.turn = 1 - turn
    return betting


class Client:
    """Plays hands, at random or by a style, and keeps its own score."""

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
        answer = await self.browser.post(f"{self.prefix}/{name}", json=data)
        told = answer.json()
        if answer.status_code != 200 or "error_msg" in told:
            raise Wrong(f"{answer.status_code} {told}")
        self.token = told.get("token", self.token)
        assert isinstance(told, dict)
        return told

    async def log_in(self, name: str, secret: str) -> None:
        await self.call("login", username=name, password=secret)

    async def deal(self) -> dict[str, Any]:
        return await self.call("new_hand", **({"token": self.token} if self.token else {}))

    def choice(self, betting: Betting) -> str:
        """An action: often a call, sometimes anything."""
        draw = self.draws.random()
        if betting.to_call and draw < 0.15:
            return "f"
        sizes = betting.sizes
        if sizes is None or draw < 0.75:
            return "c" if betting.to_call else "k"
        small, most = sizes
        size = most if draw > 0.97 else min(most, small + int(self.draws.expovariate(1 / 300)))
        return f"b{size}"

    async def play_hand(self) -> int:
        """One hand from its deal to its end; returns what was won."""
        told = await self.deal()
        own, seat, sent = told["hole_cards"], told["client_pos"], ""
        so_far = ""
        while True:
            action = told["action"]
            betting = read(action)
            if not action.startswith(so_far + sent):
                raise Wrong(f"{so_far} and {sent} became {action}")
            if told["old_action"] != so_far:
                raise Wrong(f"old_action is {told['old_action']} after {so_far}")
            if (told["hole_cards"], told["client_pos"]) != (own, seat):
                raise Wrong("other cards, or another position, in the middle of a hand")
            if "winnings" in told:
                self.count(told, betting)
                return int(told["winnings"])
            if betting.turn != seat:
                raise Wrong(f"{action}: asked out of turn")
            if len(told["board"]) != STREET_CARDS[betting.street] or "bot_hole_cards" in told:
                raise Wrong(f"{action}: the cards are {told}")
            so_far, sent = action, self.choice(betting)
            told = await self.call("act", token=self.token, incr=sent)

    def count(self, told: dict[str, Any], betting: Betting) -> None:
        """The end of a hand."""
        seat = told["client_pos"]
        if betting.turn is not None:
            raise Wrong(f"{told['action']}: an end before its time")
        cards = told["hole_cards"] + told["bot_hole_cards"] + told["board"]
        if len(set(cards)) != len(cards) or len(told["hole_cards"]) != 2 or len(told["bot_hole_cards"]) != 2:
            raise Wrong(f"cards {cards}")
        won, pot = told["winnings"], sum(betting.total)
        stake = min(betting.total)
        if betting.folded is not None:
            self.ends["fold"] += 1
            if won != (-betting.total[seat] if betting.folded == seat else betting.total[1 - seat]):
                raise Wrong(f"{told}: the fold is paid wrongly")
        else:
            self.ends["all-in" if stake == STACK else "showdown"] += 1
            if won not in (stake, -stake, 0) or len(told["board"]) != 5:
                raise Wrong(f"{told}: the showdown is paid wrongly")
        if told["won_pot"] != (pot if won > 0 else -pot if won < 0 else 0):
            raise Wrong(f"{told}: the pot is {pot}")
        self.hands += 1
        self.total += won
        self.positions.append(seat)
        if (told["session_num_hands"], told["session_total"]) != (self.hands, self.total):
            raise Wrong(f"{told}: {self.hands} hands and {self.total} chips in our book")
