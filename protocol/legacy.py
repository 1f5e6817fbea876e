"""The older text form of a match state, with blinds and call amounts in the betting.

    0:13:b1b2r6r18r30c30/r32r96:Ks2d|/5s2s6h

Servers before protocol 2.0.0 wrote it, and logs of those years hold it. Every amount is the acting player's total for
the hand in chips: ``b1`` posts 1, ``r18`` raises to 18, ``c30`` calls up to 30. Reading drops the blinds from the
actions and the amounts from calls, which gives the same `MatchState` as today's form.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from engine import CALL, FOLD, Action, CardError, Position, parse_cards, raise_to
from engine.errors import quoted
from protocol.errors import FormatError
from protocol.match_state import HEADER, MatchState

__all__ = ["LegacyState", "parse_legacy_state"]

_TOKEN = re.compile(r"([bcrf])([0-9]{0,18})")


class LegacyState(NamedTuple):
    """A state in the older form: today's state, and the blinds in the order they were posted, in chips."""

    state: MatchState
    blinds: tuple[int, ...]


def parse_legacy_state(text: str) -> LegacyState:
    """Read a state in the older form, with or without ``MATCHSTATE:`` before it.

    Raises:
        FormatError: it is not such a state; `column` is the first wrong byte.
    """
    offset = len(HEADER) if text.startswith(HEADER) else 0
    fields = text[offset:].split(":")
    if len(fields) != 4:
        raise FormatError(text, offset, f"a state has 4 fields separated by ':', this has {len(fields)}")
    starts = [offset]
    for field in fields[:-1]:
        starts.append(starts[-1] + len(field) + 1)
    for number, start in zip(fields[:2], starts, strict=False):
        if not (number.isascii() and number.isdigit() and len(number) <= 18):
            raise FormatError(text, start, f"{quoted(number, 20)} is not a number")
    blinds, rounds = _parse_betting(text, fields[2], starts[2])
    hole_text, *board_texts = fields[3].split("/")
    try:
        hole_cards = tuple(parse_cards(hole) for hole in hole_text.split("|"))
        board = ((), *(parse_cards(cards) for cards in board_texts))
    except CardError as error:
        raise FormatError(text, starts[3], str(error)) from None
    state = MatchState(Position(int(fields[0])), int(fields[1]), rounds, hole_cards, board)
    return LegacyState(state, blinds)


def _parse_betting(text: str, betting: str, start: int) -> tuple[tuple[int, ...], tuple[tuple[Action, ...], ...]]:
    blinds: list[int] = []
    rounds: list[tuple[Action, ...]] = []
    for round_text in betting.split("/"):
        actions: list[Action] = []
        at = 0
        while at < len(round_text):
            match = _TOKEN.match(round_text, at)
            if match is None:
                raise FormatError(text, start + at, f"{round_text[at]!r} is not an action: b, c, r or f")
            letter, amount = match.groups()
            if letter == "b":
                if actions or rounds or not amount:
                    raise FormatError(text, start + at, "blinds come first, each with its amount")
                blinds.append(int(amount))
            elif letter == "r":
                actions.append(raise_to(int(amount or 0)))
            else:
                actions.append(CALL if letter == "c" else FOLD)
            at = match.end()
        rounds.append(tuple(actions))
        start += len(round_text) + 1
    return tuple(blinds), tuple(rounds)
