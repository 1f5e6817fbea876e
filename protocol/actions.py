"""Actions as the protocol writes them: ``f``, ``c``, ``r``, or ``r300`` in no-limit games.

The number after ``r`` is the player's total for the whole hand, not the size of the raise. Writing is strict, reading
as lenient as the reference dealer: upper case, ``k`` for a check and ``b`` for a bet are accepted, and any text after
the action is ignored.
"""

from __future__ import annotations

from operator import index
from typing import Final

from engine import CALL, FOLD, RAISE, Action, ActionKind, raise_to
from protocol.numbers import scan_integer, wrap_int32

_KIND_BY_LETTER: Final = {
    "f": ActionKind.FOLD,
    "F": ActionKind.FOLD,
    "c": ActionKind.CALL,
    "C": ActionKind.CALL,
    "k": ActionKind.CALL,
    "K": ActionKind.CALL,
    "r": ActionKind.RAISE,
    "R": ActionKind.RAISE,
    "b": ActionKind.RAISE,
    "B": ActionKind.RAISE,
}

_LETTERS: Final = ("f", "c", "r")


def format_action(action: Action) -> str:
    if action.hand_total and action.kind == ActionKind.RAISE:
        # index() refuses a float, which would be written as r300.0.
        return f"r{index(action.hand_total)}"
    return _LETTERS[action.kind]


def scan_action(text: str, start: int, is_limit: bool) -> tuple[Action | None, int] | None:
    """Read the action at `start`.

    Returns:
        The action and the index after it. Without an action at this index, None replaces the action. If a no-limit
        raise has no size, None replaces the whole result, because the reference counts the two as different faults.
    """
    kind = _KIND_BY_LETTER.get(text[start : start + 1])
    if kind is None:
        return None, start + 1
    if kind is ActionKind.FOLD:
        return FOLD, start + 1
    if kind is ActionKind.CALL:
        return CALL, start + 1
    if is_limit:
        return RAISE, start + 1
    size = scan_integer(text, start + 1)
    if size is None:
        return None
    hand_total, end = size
    return raise_to(wrap_int32(hand_total)), end
