"""Answers of a model: the JSON schema that it is asked for, and the action in the text that it sends.

An answer is a JSON object, ``{"reason": "...", "action": "raise", "amount": 300}``, also within a fence of three
backquotes, or any text whose last line is ``ACTION: raise 300``. Amounts are street totals in chips.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from bots.sdk.view import View
from engine import CALL, FOLD, Action, raise_to

MAX_SHOWN_CHARS: Final = 60
_MAX_LINE_CHARS: Final = 200
"""Length above which a line is not searched for an action."""
_LINE: Final = re.compile(r"[\s*_`#>-]*ACTION\s*[:=]\s*(?P<words>.*?)[\s*_`.]*", re.IGNORECASE)
_WORDS: Final = re.compile(
    r"(?P<action>fold|check|call|bet|raise|all[ -]?in)s?\b(?:\s+to)?"
    r"(?:\s+(?:of\s+)?\$?(?P<amount>\d[\d,]*(?:\.\d+)?))?(?:\s*chips?)?",
    re.IGNORECASE,
)


class _Unusable(Exception):
    """An answer has no legal action. The text is a sentence for the model."""


def action_names(view: View) -> list[str]:
    """Return the names of the legal actions: ``fold``, ``check`` or ``call``, ``bet`` or ``raise``."""
    names = []
    if view.can_fold:
        names.append("fold")
    names.append("call" if view.to_call else "check")
    if view.can_raise:
        names.append(raise_name(view))
    return names


def raise_name(view: View) -> str:
    """Return ``raise`` if another player has put in chips in this round, else ``bet``."""
    return "raise" if max(view.street_committed) else "bet"


def answer_schema(view: View) -> dict[str, Any]:
    """Return the JSON schema of an answer, with the legal actions as the choices of ``action``."""
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "action": {"type": "string", "enum": action_names(view)},
            "amount": {"type": ["integer", "null"]},
        },
        "required": ["reason", "action", "amount"],
        "additionalProperties": False,
    }


def read_answer(text: str, view: View) -> tuple[Action | None, str]:
    """Read the action of an answer.

    Returns:
        the action and an empty text, or None and a sentence with the problem for the model.
    """
    try:
        name, amount = _parse(text)
        return _legal(name, amount, view), ""
    except _Unusable as unusable:
        return None, str(unusable)


def _parse(text: str) -> tuple[str, float | None]:
    """Return the name of the action in an answer and its amount, without a check of the rules."""
    # Models that reason in the open put their reasoning before this mark.
    stripped = text.rpartition("</think>")[2].strip()
    if not stripped:
        raise _Unusable("The answer was empty.")
    # Between fences is every second part.
    for part in [stripped, *reversed(stripped.split("```")[1::2])]:
        content = part.removeprefix("json").strip()
        if content.startswith("{"):
            return _parse_json(content)
    for line in reversed(stripped.splitlines()):
        match = _LINE.fullmatch(line[:_MAX_LINE_CHARS])
        if match is not None:
            return _parse_words(match["words"])
    raise _Unusable("The answer is neither a JSON object nor ends with a line ACTION: ...")


def _parse_json(text: str) -> tuple[str, float | None]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise _Unusable("The answer is not valid JSON.") from None
    name = data.get("action")
    amount = data.get("amount")
    if not isinstance(name, str):
        raise _Unusable('The JSON object has no text "action".')
    words_name, words_amount = _parse_words(name)
    if amount is None:
        return words_name, words_amount
    if isinstance(amount, str) and re.fullmatch(r"\d[\d,]*", amount.strip()):
        amount = int(amount.replace(",", ""))
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise _Unusable("The amount must be a whole number of chips.")
    return words_name, amount


def _parse_words(words: str) -> tuple[str, float | None]:
    match = _WORDS.fullmatch(words.strip())
    if match is None:
        raise _Unusable(f"{_quoted(words)} is not an action.")
    name = re.sub("[ -]", "", match["action"].lower())
    amount = match["amount"]
    if amount is None:
        return name, None
    return name, float(amount.replace(",", ""))


def _quoted(words: str) -> str:
    line = " ".join(words.split())
    if len(line) > MAX_SHOWN_CHARS:
        line = f"{line[:MAX_SHOWN_CHARS]}..."
    return f'"{line}"'


def _legal(name: str, amount: float | None, view: View) -> Action:
    if name == "fold":
        if not view.can_fold:
            raise _Unusable("Folding is not allowed, because there is no bet to call.")
        return FOLD
    if name == "check":
        if view.to_call:
            raise _Unusable(f"Checking is not allowed, because there is a bet of {view.to_call:,} chips to call.")
        return CALL
    if name == "call":
        return CALL
    if not view.can_raise:
        raise _Unusable("No bet or raise is allowed now.")
    if name == "allin":
        return raise_to(view.max_raise_hand_total)
    if view.game.is_limit:
        # The rules fix the size, so a wrong amount cannot change the action.
        return raise_to(view.min_raise_hand_total)
    return _raise(name, amount, view)


def _raise(name: str, amount: float | None, view: View) -> Action:
    low = view.min_raise_street_total
    high = view.max_raise_street_total
    bounds = f"from {low:,} to {high:,} chips"
    if amount is None:
        raise _Unusable(f"A {name} needs an amount {bounds}.")
    # Also false for NaN and infinity.
    if not low <= amount <= high:
        raise _Unusable(f"That amount is not allowed: the amount of a {name} must be {bounds}.")
    if amount != int(amount):
        raise _Unusable("The amount must be a whole number of chips.")
    return raise_to(view.to_hand_total(int(amount)))
