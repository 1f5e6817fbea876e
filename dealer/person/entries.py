"""Entries of a person at a table, and the actions that they mean.

`read_entry` accepts these forms and refuses any other with a sentence that lists the legal ones:

    f fold        c, k call or check        r raise, in limit games        m the minimum        a all-in
    300, r 300, raise to 300                a size: the total for the street
    p, p/2, 2p, 3/4p, r p/2, 75%            call, then raise by that part of the pot after the call
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
    """An action offered to a person.

    Attributes:
        entry: entry for `read_entry`.
        key: key that enters it, or empty.
        label: text for a button, such as ``Call 20``.
        size: the player's total for the round, if the person may change it before sending.
    """

    entry: str
    key: str
    label: str
    size: int | None = None


_POT_PARTS: Final = (("p/2", "½ pot"), ("2/3p", "⅔ pot"), ("p", "pot"), ("2p", "2 × pot"))
"""Entries for parts of the pot after a call, with their labels."""


def verb_of(scene: Scene) -> str:
    """Return the verb for a raise, which is a bet if the round has no bet or blind."""
    if any(scene.view.street_committed):
        return "Raise to"
    return "Bet"


def has_sizes(scene: Scene) -> bool:
    """Return whether it is the person's turn and there is more than one size for a raise."""
    view = scene.view
    return scene.is_your_turn and view.can_raise and view.min_raise_street_total < view.max_raise_street_total


def offers(scene: Scene) -> tuple[Offer, ...]:
    """Return the legal actions that need no size; empty unless it is the person's turn."""
    if not scene.is_your_turn:
        return ()
    view = scene.view
    actions = []
    if view.can_fold:
        actions.append(Offer("f", "f", "Fold"))
    label = "Check"
    if view.to_call:
        label = f"Call {view.to_call:,}"
        if view.to_call == view.stack_left:
            label += ", all-in"
    actions.append(Offer("c", "c", label))
    if view.can_raise and not has_sizes(scene):
        label = f"{verb_of(scene)} {view.min_raise_street_total:,}"
        if not scene.game.is_limit:
            # The only size of a no-limit game is the whole stack.
            label += ", all-in"
        actions.append(Offer("r", "r", label))
    return tuple(actions)


def size_offers(scene: Scene) -> tuple[Offer, ...]:
    """Return common sizes of a bet or raise; empty if the game fixes the size."""
    if not has_sizes(scene):
        return ()
    smallest = scene.view.min_raise_street_total
    largest = scene.view.max_raise_street_total
    totals = {smallest: Offer("m", "", f"smallest ({smallest:,})", smallest)}
    for entry, name in _POT_PARTS:
        try:
            action = read_entry(entry, scene)
        except UnclearEntry:
            continue
        total = scene.view.to_street_total(action.hand_total)
        totals.setdefault(total, Offer(entry, "", f"{name} ({total:,})", total))
    totals[largest] = Offer("a", "", f"all-in ({largest:,})", largest)
    return tuple(totals[total] for total in sorted(totals))


def possible(scene: Scene) -> list[tuple[str, str]]:
    """Return the possible entries with their effects, as in ``("c", "call 20")``."""
    entries = []
    for offer in offers(scene):
        effect = offer.label[0].lower() + offer.label[1:]
        entries.append((offer.key, effect))
    if has_sizes(scene):
        smallest = scene.view.min_raise_street_total
        largest = scene.view.max_raise_street_total
        effect = f"{verb_of(scene).lower()} N, from {smallest:,} (m) to {largest:,} (a), or by p/2, p, 2p"
        entries.append(("r N", effect))
    return entries


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
_MAX_QUOTED: Final = 40


def read_entry(text: str, scene: Scene) -> Action:
    """Parse the entry of a person whose turn it is.

    Raises:
        UnclearEntry: the entry is unclear or illegal; the message lists the possible ones.
    """
    if not scene.is_your_turn:
        raise ValueError("it is not the person's turn")
    view = scene.view
    entry = " ".join(text.lower().split())
    if entry in _FOLD:
        if not view.can_fold:
            _refuse("There is no bet to fold to", scene)
        return FOLD
    if entry in _CHECK and view.to_call:
        _refuse(f"You cannot check, because there are {view.to_call:,} to call", scene)
    if entry in (*_CALL, *_CHECK):
        return CALL
    if not entry:
        _refuse("Nothing was entered", scene)
    raise_entry = _RAISE.fullmatch(entry)
    if raise_entry is not None:
        size = raise_entry["size"]
    elif _is_size(entry):
        size = entry
    else:
        _refuse(f"{quoted(entry, _MAX_QUOTED)} is not clear", scene)
    if not view.can_raise:
        if size in _ALL_IN and view.to_call == view.stack_left:
            return CALL
        _refuse("You cannot raise here", scene)
    return _parse_raise(size, scene)


def _is_size(text: str) -> bool:
    if text in _MINIMUM or text in _ALL_IN:
        return True
    return any(pattern.fullmatch(text) for pattern in (_CHIPS, _POT, _PERCENT))


def _parse_raise(size: str, scene: Scene) -> Action:
    view = scene.view
    is_fixed = scene.game.is_limit
    smallest = view.min_raise_street_total
    largest = view.max_raise_street_total
    if not size and not is_fixed and smallest < largest:
        _refuse("How much?", scene)
    if size and not _is_size(size):
        _refuse(f"{quoted(size, _MAX_QUOTED)} is not a size", scene)
    if not size or size in _MINIMUM:
        street_total = smallest
    elif size in _ALL_IN:
        if is_fixed and largest < view.stack_left + view.street_committed[scene.position]:
            _refuse("There is no all-in, because the game fixes the size", scene)
        street_total = largest
    elif _CHIPS.fullmatch(size):
        street_total = int(size.replace(",", ""))
    else:
        try:
            part = _parse_pot_part(size)
        except ZeroDivisionError:
            _refuse(f"{quoted(size, _MAX_QUOTED)} is not a size", scene)
        betting = scene.betting
        pot_after_call = betting.pot + betting.to_call
        street_total = view.to_street_total(betting.max_spent + int(part * pot_after_call))
    if not smallest <= street_total <= largest:
        _refuse(f"{street_total:,} is not possible here", scene)
    if is_fixed:
        return RAISE
    return raise_to(view.to_hand_total(street_total))


def _parse_pot_part(size: str) -> Fraction:
    if (percent := _PERCENT.fullmatch(size)) is not None:
        return Fraction(percent["number"]) / 100
    pot = _POT.fullmatch(size)
    assert pot is not None
    number = Fraction(pot["number"] or 1)
    return number / Fraction(pot["under"] or 1) / Fraction(pot["part"] or 1)


def _refuse(problem: str, scene: Scene) -> NoReturn:
    *first, last = [f"{keys} to {effect}" for keys, effect in possible(scene)]
    advice = last
    if first:
        advice = f"{', '.join(first)} or {last}"
    if not problem.endswith("?"):
        problem += "."
    raise UnclearEntry(f"{problem} Enter {advice}.")
