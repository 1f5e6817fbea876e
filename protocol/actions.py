"""Actions as the protocol writes them: ``f``, ``c``, ``r``, and ``r300`` with a total for the hand in no-limit games.

Writing is strict. Reading is as lenient as the reference (ACPC protocol 2.0.0, and its server's reading of replies):
upper case counts, ``k`` is a check, ``b`` a bet, and what follows the action is ignored.
"""

from __future__ import annotations

from operator import index
from typing import Final

from engine import CALL, FOLD, RAISE, Action, ActionKind, raise_to
from protocol.numbers import scan_integer, wrap_int32

_KIND_OF_LETTER: Final = {
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
    """Write an action; a raise carries its size where it has one."""
    if action.hand_total and action.kind == ActionKind.RAISE:
        return f"r{index(action.hand_total)}"
    return _LETTERS[action.kind]


def scan_action(text: str, start: int, is_limit: bool) -> tuple[Action | None, int] | None:
    """Read an action at `start`: the action and the index after it.

    The action is None if no action begins with that character (or the text ends). The whole result is None when a
    no-limit raise has no size.
    """
    kind = _KIND_OF_LETTER.get(text[start : start + 1])
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
    return raise_to(wrap_int32(size[0])), size[1]
