"""What a person may do, and what it types for it.

`read_entry` takes what is typed; what is unclear or illegal is refused with one sentence that says what is possible:

    f fold        c, k call or check        r raise, in limit games        m the minimum        a all-in
    300, r 300, raise to 300                a size: the total for the street
    p, p/2, 2p, 3/4p, r p/2, 75%            call, then raise by that part of the pot as it is after the call
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NoReturn

from bots.errors import UnclearEntry
from dealer.person.seat import Scene
from engine import CALL, FOLD, RAISE, Action, raise_to
from engine.errors import quoted


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that a person may do.

    Attributes:
        entry: what stands for it, as `read_entry` takes it.
        key: the key for it; empty without one.
        label: such as ``Call 20``.
        size: the player's total for the round after it, for a size that may be changed before it is sent.
    """

    entry: str
    key: str
    label: str
    size: int | None = None


POT_PARTS: Final = (("p/2", "½ pot"), ("2/3p", "⅔ pot"), ("p", "pot"), ("2p", "2 × pot"))
"""Parts of the pot as it is after a call, as entries and as a person calls them."""


def verb_of(scene: Scene) -> str:
    """What a raise is called here: a bet where there is no bet or blind in the round."""
    return "Raise to" if any(scene.view.street_committed) else "Bet"


def has_sizes(scene: Scene) -> bool:
    """Whether the person may choose among several sizes."""
    view = scene.view
    return scene.is_your_turn and view.can_raise and view.min_raise_street_total < view.max_raise_street_total


def offers(scene: Scene) -> tuple[Offer, ...]:
    """What the person may do without naming a size; nothing unless it is asked."""
    if not scene.is_your_turn:
        return ()
    view = scene.view
    found = [Offer("f", "f", "Fold")] if view.can_fold else []
    all_in = ", all-in" if view.to_call == view.stack_left else ""
    found.append(Offer("c", "c", f"Call {view.to_call:,}{all_in}" if view.to_call else "Check"))
    if view.can_raise and not has_sizes(scene):
        all_in = "" if scene.game.is_limit else ", all-in"
        found.append(Offer("r", "r", f"{verb_of(scene)} {view.min_raise_street_total:,}{all_in}"))
    return tuple(found)


def size_offers(scene: Scene) -> tuple[Offer, ...]:
    """Sizes of a bet or raise that the person may choose; none where the game fixes it."""
    if not has_sizes(scene):
        return ()
    least, most = scene.view.min_raise_street_total, scene.view.max_raise_street_total
    totals = {least: Offer("m", "", f"smallest ({least:,})", least)}
    for entry, name in POT_PARTS:
        try:
            action = read_entry(entry, scene)
        except UnclearEntry:
            continue
        total = scene.view.to_street_total(action.hand_total)
        totals.setdefault(total, Offer(entry, "", f"{name} ({total:,})", total))
    totals[most] = Offer("a", "", f"all-in ({most:,})", most)
    return tuple(totals[total] for total in sorted(totals))


def possible(scene: Scene) -> list[tuple[str, str]]:
    """What may be typed, and what it does: ``("c", "call 20")``."""
    found = [(offer.key, offer.label[0].lower() + offer.label[1:]) for offer in offers(scene)]
    if has_sizes(scene):
        least, most = scene.view.min_raise_street_total, scene.view.max_raise_street_total
        does = f"{verb_of(scene).lower()} N, from {least:,} (m) to {most:,} (a), or by p/2, p, 2p"
        found.append(("r N", does))
    return found


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
    """The legal action that a person, whose turn it is, has typed; else an `UnclearEntry` with what is possible."""
    if not scene.is_your_turn:
        raise ValueError("it is not the person's turn")
    view, entry = scene.view, " ".join(text.lower().split())
    if entry in _FOLD:
        if not view.can_fold:
            _refuse("There is nothing to fold to", scene)
        return FOLD
    if entry in _CHECK and view.to_call:
        _refuse(f"You cannot check, there are {view.to_call:,} to call", scene)
    if entry in (*_CALL, *_CHECK):
        return CALL
    found = _RAISE.fullmatch(entry)
    size = found["size"] if found is not None else entry
    if found is None and not _is_size(size):
        _refuse(f"{quoted(entry, _MOST_LETTERS)} is not clear" if entry else "Nothing was entered", scene)
    if not view.can_raise:
        if size in _ALL_IN and view.to_call == view.stack_left:
            return CALL
        _refuse("You cannot raise here", scene)
    return _raise_of(size, scene)


def _is_size(text: str) -> bool:
    patterns = (_CHIPS, _POT, _PERCENT)
    return text in (*_MINIMUM, *_ALL_IN) or any(pattern.fullmatch(text) for pattern in patterns)


def _raise_of(size: str, scene: Scene) -> Action:
    view, is_fixed = scene.view, scene.game.is_limit
    least, most = view.min_raise_street_total, view.max_raise_street_total
    if not size and not is_fixed and least < most:
        _refuse("How much?", scene)
    if size and not _is_size(size):
        _refuse(f"{quoted(size, _MOST_LETTERS)} is not a size", scene)
    if not size or size in _MINIMUM:
        street_total = least
    elif size in _ALL_IN:
        if is_fixed and most < view.stack_left + view.street_committed[scene.position]:
            _refuse("There is no all-in: the game fixes the size", scene)
        street_total = most
    elif _CHIPS.fullmatch(size):
        street_total = int(size.replace(",", ""))
    else:
        try:
            part = _part_of_pot(size)
        except ZeroDivisionError:
            _refuse(f"{quoted(size, _MOST_LETTERS)} is not a size", scene)
        betting = scene.betting
        street_total = view.to_street_total(betting.max_spent + int(part * (betting.pot + betting.to_call)))
    if not least <= street_total <= most:
        _refuse(f"{street_total:,} is not possible here", scene)
    return RAISE if is_fixed else raise_to(view.to_hand_total(street_total))


def _part_of_pot(size: str) -> Fraction:
    if (percent := _PERCENT.fullmatch(size)) is not None:
        return Fraction(percent["number"]) / 100
    found = _POT.fullmatch(size)
    assert found is not None
    return Fraction(found["number"] or 1) / Fraction(found["under"] or 1) / Fraction(found["part"] or 1)


def _refuse(problem: str, scene: Scene) -> NoReturn:
    *ways, last = (f"{keys} to {does}" for keys, does in possible(scene))
    said = f"{', '.join(ways)} or {last}" if ways else last
    raise UnclearEntry(f"{problem}{'' if problem.endswith('?') else ':'} {said}.")
