"""A solution before the flop in words: what each hand does, hand by hand, and how many hands do what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from bots.solving.sequence_form import Choice, Plan, Plans, SequenceForm, strategy_of
from engine import STARTING_HANDS

__all__ = ["Chart", "DecisionCounts", "Lines", "charts", "decision_counts", "is_pure"]

Lines: TypeAlias = Mapping[str, float]
"""The lines of play of a hand, likeliest first, with their probabilities: ``rc`` raises and calls a raise."""

_CERTAIN: Final = 1 - 1e-9
_SEATS: Final = ("small blind", "big blind")
_AFTER: Final = {"": "", "c": " after a call", "r": " after a raise"}


class Chart(NamedTuple):
    """What a player does from its first decision on.

    Attributes:
        title: who, and after what.
        lines: of each starting hand.
    """

    title: str
    lines: tuple[Lines, ...]

    def counts(self) -> dict[str, int]:
        """How many hands always play each line, most first; those of several lines are ``mixed``."""
        names = [next(iter(lines)) if is_pure(lines) else "mixed" for lines in self.lines]
        return {name: names.count(name) for name in sorted(set(names), key=lambda name: (-names.count(name), name))}


class DecisionCounts(NamedTuple):
    """How many of the 169 hands do what at a decision.

    Attributes:
        seat: whose decision.
        betting: the actions before it, as in a match state.
        fold: hands that always fold.
        call: hands that always call, or check.
        raise_: hands that always raise.
        mixed: hands that do several of these.
        absent: hands that never get there, by their own choice.
    """

    seat: str
    betting: str
    fold: int
    call: int
    raise_: int
    mixed: int
    absent: int


def is_pure(lines: Lines) -> bool:
    """Whether a hand always plays the same line."""
    return max(lines.values()) > _CERTAIN


def charts(form: SequenceForm, plans: Plans) -> tuple[Chart, ...]:
    """The charts of both players: the small blind, the big blind after a call and after a raise."""
    found = []
    for player, plan in enumerate(plans):
        for choice in form.choices[player]:
            if choice.parent == 0:
                lines = tuple(_lines(form, player, plan, choice, hand) for hand in range(len(STARTING_HANDS)))
                found.append(Chart(_SEATS[player] + _AFTER[choice.name], lines))
    return tuple(found)


def _lines(form: SequenceForm, player: int, plan: Plan, start: Choice, hand: int) -> Lines:
    """All lines of a hand with a chance above rounding."""
    found: dict[str, float] = {}

    def walk(choice: Choice, before: str) -> None:
        for sequence, action in enumerate(choice.actions, start=choice.first):
            line = before + ("k" if action == "c" and choice.name == "c" else action)
            following = [later for later in form.choices[player] if later.parent == sequence]
            for later in following:
                walk(later, line)
            if not following and plan[sequence, hand] > 1 - _CERTAIN:
                found[line] = float(plan[sequence, hand])

    walk(start, "")
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def decision_counts(form: SequenceForm, plans: Plans) -> list[DecisionCounts]:
    """How many hands do what at each decision."""
    found = []
    for player, plan in enumerate(plans):
        for name, chances in strategy_of(form, player, plan).items():
            fold, call, *raises = (int((of_action > _CERTAIN).sum()) for of_action in chances)
            absent = int((~(chances[0] >= 0)).sum())
            raise_ = sum(raises)
            mixed = len(STARTING_HANDS) - fold - call - raise_ - absent
            found.append(DecisionCounts(_SEATS[player], name, fold, call, raise_, mixed, absent))
    return found
