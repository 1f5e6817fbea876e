"""What a person types at the table, as an action.

    f fold        c, k call or check        r raise, in limit games        m the minimum        a all-in
    300, r 300, raise to 300                a size: the total for the street
    p, p/2, 2p, 3/4p, r p/2, 75%            call, then raise by that part of the pot as it is after the call

Every entry that is unclear or illegal is refused with one sentence that says what is possible.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NoReturn

from bots.errors import UnclearEntry
from bots.human.scene import Choices, Raises, Scene
from engine import CALL, FOLD, RAISE, Action, raise_to
from engine.errors import quoted

__all__ = ["possible", "read_entry"]

_FOLD: Final = ("f", "fold")
_CHECK: Final = ("k", "x", "check")
_CALL: Final = ("c", "call")
_RAISE: Final = re.compile(r"(?:raise|r|bet|b)(?:\s*to)?\s*(?P<size>.*)")
_MINIMUM: Final = ("m", "min", "minimum")
_ALL_IN: Final = ("a", "all-in", "allin", "all in")
_CHIPS: Final = re.compile(r"[0-9]{1,18}|[0-9]{1,3}(?:,[0-9]{3}){1,5}")
_NUMBER: Final = r"(?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?)"
_POT: Final = re.compile(
    rf"(?:{_NUMBER}\s*(?:/\s*(?P<under>[0-9]{{1,9}})\s*)?)?p(?:ot)?(?:\s*/\s*(?P<part>[0-9]{{1,9}}))?"
)
_PERCENT: Final = re.compile(rf"{_NUMBER}\s*%(?:\s*p(?:ot)?)?")
_MOST_LETTERS: Final = 40


def read_entry(text: str, scene: Scene) -> Action:
    """The action that a person has typed; legal in the scene.

    Raises:
        UnclearEntry: it is none, or an illegal one; the sentence says what is possible.
        ValueError: it is not the person's turn.
    """
    choices = scene.choices
    if choices is None:
        raise ValueError("it is not the person's turn")
    entry = " ".join(text.lower().split())
    if entry in _FOLD:
        if not choices.can_fold:
            _refuse("There is nothing to fold to", choices)
        return FOLD
    if entry in _CALL:
        return CALL
    if entry in _CHECK:
        if choices.to_call:
            _refuse(f"You cannot check, there are {choices.to_call:,} to call", choices)
        return CALL
    found = _RAISE.fullmatch(entry)
    size = found["size"] if found is not None else entry
    if found is None and not _is_size(size):
        said = "Nothing was entered" if not entry else f"{quoted(entry, _MOST_LETTERS)} is not clear"
        _refuse(said, choices)
    raises = choices.raises
    if raises is None:
        if size in _ALL_IN and choices.is_call_all_in:
            return CALL
        _refuse("You cannot raise here", choices)
    return _raise_of(size, raises, choices, scene)


def _is_size(text: str) -> bool:
    patterns = (_CHIPS, _POT, _PERCENT)
    return text in (*_MINIMUM, *_ALL_IN) or any(pattern.fullmatch(text) for pattern in patterns)


def _raise_of(size: str, raises: Raises, choices: Choices, scene: Scene) -> Action:
    if not size:
        if not raises.is_fixed and raises.street_min < raises.street_max:
            _refuse("How much?", choices)
        return RAISE if raises.is_fixed else raise_to(raises.hand_min)
    if not _is_size(size):
        _refuse(f"{quoted(size, _MOST_LETTERS)} is not a size", choices)
    if size in _MINIMUM:
        street_total = raises.street_min
    elif size in _ALL_IN:
        if raises.is_fixed and raises.street_max < scene.view.stack_left + scene.view.street_committed[scene.position]:
            _refuse("Nobody can go all-in here, the game fixes the size", choices)
        street_total = raises.street_max
    elif _CHIPS.fullmatch(size):
        street_total = int(size.replace(",", ""))
    else:
        try:
            part = _part_of_pot(size)
        except ZeroDivisionError:
            _refuse(f"{quoted(size, _MOST_LETTERS)} is not a size", choices)
        betting = scene.betting
        hand_total = betting.max_spent + int(part * (betting.pot + betting.to_call))
        street_total = scene.view.to_street_total(hand_total)
    if not raises.street_min <= street_total <= raises.street_max:
        _refuse(f"{street_total:,} is not possible here", choices)
    return RAISE if raises.is_fixed else raise_to(scene.view.to_hand_total(street_total))


def _part_of_pot(size: str) -> Fraction:
    if (percent := _PERCENT.fullmatch(size)) is not None:
        return Fraction(percent["number"]) / 100
    found = _POT.fullmatch(size)
    assert found is not None
    return Fraction(found["number"] or 1) / Fraction(found["under"] or 1) / Fraction(found["part"] or 1)


def _refuse(problem: str, choices: Choices) -> NoReturn:
    ways = [f"{keys} to {does}" for keys, does in possible(choices)]
    said = " or ".join([", ".join(ways[:-1]), ways[-1]] if len(ways) > 1 else ways)
    raise UnclearEntry(f"{problem}{'' if problem.endswith('?') else ':'} {said}.")


def possible(choices: Choices) -> list[tuple[str, str]]:
    """What may be typed, and what it does: ``("c", "call 20")``."""
    found = [("f", "fold")] if choices.can_fold else []
    all_in = ", all-in" if choices.is_call_all_in else ""
    found.append(("c", f"call {choices.to_call:,}{all_in}" if choices.to_call else "check"))
    raises = choices.raises
    if raises is not None:
        does = "bet" if raises.is_bet else "raise to"
        if raises.street_min == raises.street_max:
            found.append(("r", f"{does} {raises.street_min:,}{'' if raises.is_fixed else ', all-in'}"))
        else:
            found.append(
                ("r N", f"{does} N, from {raises.street_min:,} (m) to {raises.street_max:,} (a), or by p/2, p, 2p")
            )
    return found
