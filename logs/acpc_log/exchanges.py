"""Exchanges of a bot with a language model: ``match.seat1.llm.jsonl``, a JSON object per line.

A bot that asks a model writes a line for every answer and for every request that failed for good. A resumed match
appends, so the file has all requests that were sent, also those of hands that were played again.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from engine.text import clean
from logs.whole_file import LineFile

ACTION: Final = "action"
"""Kind of an exchange that decides an action."""
NOTES: Final = "notes"
"""Kind of an exchange after a hand, whose answer is the model's notes for later hands."""


class Exchange(NamedTuple):
    """A request to a model and its answer.

    Attributes:
        hand_number: 0-based number of the hand in the match.
        action_index: number of actions in the hand before the request.
        kind: `ACTION` or `NOTES`.
        attempt: 1, or 2 if the model was asked again because its first answer was not usable.
        prompt: last message sent; of a second attempt, the reason why the first answer was not usable.
        answer: text of the model; empty if the request failed.
        outcome: the action in words, such as ``raise to 300``; empty without one.
        problem: reason why the answer is not usable, or why there is no answer; empty if it is used.
        fell_back: whether the bot then checked or folded instead.
        tokens_in: tokens of the request, if the endpoint states them.
        tokens_out: tokens of the answer, if the endpoint states them.
        cost: price of the exchange, if the endpoint states it, in its currency.
        seconds: time from the request to the end of the answer, with repeated requests and waits.
        repeats: number of times that the request was repeated after a rate limit or a failure.
    """

    hand_number: int
    action_index: int
    kind: str
    attempt: int
    prompt: str
    answer: str
    outcome: str = ""
    problem: str = ""
    fell_back: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    repeats: int = 0


class ExchangeWriter:
    """Append exchanges to a file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the file, and create it if it does not exist.

        Raises:
            OSError: it cannot be opened.
        """
        self._file = LineFile(path, append=True)
        self.path = self._file.path

    def write(self, exchange: Exchange) -> None:
        """Append a line.

        Raises:
            OSError: it cannot be written.
        """
        self._file.write(clean(json.dumps(exchange._asdict(), ensure_ascii=False)) + "\n")

    def close(self) -> None:
        self._file.close()


def read_exchanges(path: str | os.PathLike[str], hand_number: int | None = None) -> Iterator[Exchange]:
    """Yield the exchanges of a file in order; nothing without a file. Damaged lines are left out.

    Args:
        hand_number: only exchanges of this hand; None for all.

    Raises:
        OSError: the file cannot be read.
    """
    if not os.path.exists(path):
        return
    # Most lines need not be parsed for one hand.
    number = None if hand_number is None else re.compile(rb'"hand_number" ?: ?%d\b' % hand_number)
    with open(path, "rb") as file:
        for line in file:
            if number is not None and number.search(line) is None:
                continue
            exchange = _parse(line)
            if exchange is not None:
                yield exchange


def _parse(line: bytes) -> Exchange | None:
    try:
        data = json.loads(line)
        exchange = Exchange(**data)
    except (ValueError, TypeError, RecursionError):
        return None
    for name, value in exchange._asdict().items():
        if isinstance(value, bool) is not (name == "fell_back") or not isinstance(value, _TYPES[name]):
            return None
        if isinstance(value, float) and not math.isfinite(value):
            return None
    return exchange


_TEXT: Final = (str,)
_NUMBER: Final = (int,)
_COUNT: Final = (int, type(None))
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "hand_number": _NUMBER,
    "action_index": _NUMBER,
    "kind": _TEXT,
    "attempt": _NUMBER,
    "prompt": _TEXT,
    "answer": _TEXT,
    "outcome": _TEXT,
    "problem": _TEXT,
    "fell_back": (bool,),
    "tokens_in": _COUNT,
    "tokens_out": _COUNT,
    "cost": (int, float, type(None)),
    "seconds": (int, float),
    "repeats": _NUMBER,
}


def latest_of_hand(exchanges: Iterable[Exchange], hand_number: int) -> list[Exchange]:
    """Return the exchanges of a hand; of a hand that was played again after an interruption, those of the last time."""
    latest: list[Exchange] = []
    for exchange in exchanges:
        if exchange.hand_number != hand_number:
            continue
        # Played again from an earlier or the same decision: what was asked there before led to no action of the log.
        while latest and _place(latest[-1]) >= _place(exchange):
            latest.pop()
        latest.append(exchange)
    return latest


def _place(exchange: Exchange) -> tuple[bool, int, int]:
    return exchange.kind == NOTES, exchange.action_index, exchange.attempt
