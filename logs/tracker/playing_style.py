"""Twelve ways to play, by VPIP, PFR and AF, with the reason.

The classes, their order from worst to best and their thresholds are those of a table known to players of limit hold'em
at full tables; it is printed in a thesis on evolved limit players (Universidad Carlos III de Madrid, 2012, section
5.5), which took it from G. García-Pelayo and others. Heads-up and at short tables everybody has to play more hands:
there the classes are a manner of speaking.

The printed table leaves three things open, which are settled here:

- VPIP is loose above 40 %, semi-loose between 25 and 40 %, tight below 25 %. The bounds themselves belong to no class;
  they are semi-loose here, since both other classes are printed with a strict sign.
- *Bomb* and *sad* are printed with the same three words, semi-loose, aggressive, passive, while semi-loose, passive,
  aggressive is missing. Sad, the later one, is taken to be the missing class: it stands between rock and cheerful,
  among the classes that are aggressive after the flop.
- The AF of a player who never calls is no number. It counts as aggressive if the player ever bet or raised.

By this table the thesis's own player (VPIP 21.91, PFR 9.07, AF 1.34) is *dangerous*, because 9.07 % is more than 7 %;
the thesis calls it a mouse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from logs.estimation import FEWEST_UNITS

__all__ = [
    "AGGRESSIVE_FROM_AF",
    "AGGRESSIVE_FROM_PFR",
    "CLASSES",
    "LOOSE_ABOVE_VPIP",
    "TIGHT_BELOW_VPIP",
    "PlayClass",
    "Verdict",
    "classify",
]

LOOSE_ABOVE_VPIP: Final = 40
"""Per cent; at most this is semi-loose."""
TIGHT_BELOW_VPIP: Final = 25
"""Per cent; at least this is semi-loose."""
AGGRESSIVE_FROM_PFR: Final = 7
"""Per cent; less is passive before the flop."""
AGGRESSIVE_FROM_AF: Final = 2
"""Less is passive after the flop."""


@dataclass(frozen=True, slots=True)
class PlayClass:
    """A class of players.

    Attributes:
        name: in English.
        original: in the source.
        looseness: loose, semi-loose or tight: how many hands it plays.
        before: aggressive or passive before the flop.
        after: aggressive or passive after it.
    """

    name: str
    original: str
    looseness: str
    before: str
    after: str


_WAYS: Final = tuple((before, after) for before in ("passive", "aggressive") for after in ("passive", "aggressive"))
_NAMES: Final = {
    "loose": (("fish", "pez"), ("elephant", "elefante"), ("dice", "dado"), ("maniac", "maníaco")),
    "semi-loose": (("telephone", "teléfono"), ("sad", "triste"), ("bomb", "bomba"), ("cheerful", "alegre")),
    "tight": (("mouse", "ratón"), ("rock", "roca"), ("dangerous", "peligroso"), ("shark", "tiburón")),
}
"""English and in the source, by looseness, then in the order of `_WAYS`: before the flop, after it."""
_ORDER: Final = (
    "fish",
    "telephone",
    "dice",
    "maniac",
    "mouse",
    "elephant",
    "bomb",
    "rock",
    "sad",
    "cheerful",
    "dangerous",
    "shark",
)

CLASSES: Final = tuple(
    sorted(
        (
            PlayClass(*names, looseness, *ways)
            for looseness, row in _NAMES.items()
            for names, ways in zip(row, _WAYS, strict=True)
        ),
        key=lambda play_class: _ORDER.index(play_class.name),
    )
)
"""From the worst to the best."""

_CLASS_OF: Final = {(found.looseness, found.before, found.after): found for found in CLASSES}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a player's style is called.

    Attributes:
        play_class: the class; None where too little was seen.
        explanation: the thresholds that decided, or what is missing; a sentence without its full stop.
    """

    play_class: PlayClass | None
    explanation: str


def classify(hands: int, vpip_percent: float | None, pfr_percent: float | None, raises: int, calls: int) -> Verdict:
    """The class of a player.

    Args:
        hands: dealt in.
        vpip_percent: its VPIP; None without a chance.
        pfr_percent: its PFR; None without a chance.
        raises: its bets and raises after the flop.
        calls: its calls after the flop.
    """
    if hands < FEWEST_UNITS:
        return Verdict(None, f"too few hands: {hands} of {FEWEST_UNITS}")
    if vpip_percent is None:
        return Verdict(None, "never had to decide before the flop")
    if pfr_percent is None:
        return Verdict(None, "could never raise before the flop")
    if not raises and not calls:
        return Verdict(None, "never bet, raised or called after the flop")
    looseness, vpip_reason = _looseness(vpip_percent)
    before, sign = _aggression(pfr_percent >= AGGRESSIVE_FROM_PFR)
    pfr_reason = f"PFR {pfr_percent:.4g} % {sign} {AGGRESSIVE_FROM_PFR} %: {before} before the flop"
    after, sign = _aggression(raises >= AGGRESSIVE_FROM_AF * calls)
    if calls:
        af_reason = f"AF {raises / calls:.4g} {sign} {AGGRESSIVE_FROM_AF}: {after} after it"
    else:
        af_reason = f"never calls, {raises} bets and raises: {after} after it"
    found = _CLASS_OF[looseness, before, after]
    return Verdict(found, f"{vpip_reason}; {pfr_reason}; {af_reason}: {found.name}")


def _aggression(is_aggressive: bool) -> tuple[str, str]:
    """The word and the sign of its threshold."""
    return ("aggressive", ">=") if is_aggressive else ("passive", "<")


def _looseness(vpip_percent: float) -> tuple[str, str]:
    """Loose, semi-loose or tight, and why."""
    shown = f"VPIP {vpip_percent:.4g} %"
    if vpip_percent > LOOSE_ABOVE_VPIP:
        return "loose", f"{shown} > {LOOSE_ABOVE_VPIP} %: loose"
    if vpip_percent < TIGHT_BELOW_VPIP:
        return "tight", f"{shown} < {TIGHT_BELOW_VPIP} %: tight"
    return "semi-loose", f"{shown} between {TIGHT_BELOW_VPIP} % and {LOOSE_ABOVE_VPIP} %: semi-loose"
