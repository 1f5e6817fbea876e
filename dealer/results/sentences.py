"""Results in words: who is better, by how much, how sure that is, and why the playing ended."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dealer.contest.ending import Outcome
from dealer.match.faults import QUOTED_BYTES, Fault
from dealer.record.writers import remedy_text
from dealer.results.schema import PlayerResult
from logs.estimation import FEWEST_UNITS

__all__ = ["contest_sentence", "count_of", "fault_phrase", "rounded_up"]

_LEVEL_CHIPS = 1e-6
"""Sums of split pots leave rests far smaller than this."""


def count_of(number: int, word: str) -> str:
    """A number and its word, in the plural where it belongs."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def contest_sentence(
    players: Sequence[PlayerResult],
    game: str,
    duplicates: int,
    seatings: int,
    hands_played: int,
    outcome: Outcome,
    reason: str,
    *,
    has_verdict: bool = False,
) -> str:
    """Who won, from whose point of view, by how much, how sure that is, and why it ended.

    Args:
        players: with their results.
        game: its name.
        duplicates: deals counted.
        seatings: in how many seatings each was played.
        hands_played: all finished hands, counted or not.
        outcome: how it ended.
        reason: the same in a sentence.
        has_verdict: a sequential test has decided; `reason` is its verdict on the first player.
    """
    if not duplicates:
        what = "No hand was finished" if not hands_played else "No deal was finished in every seating"
        return f"{what}: {reason}"
    deals = count_of(duplicates, "hand" if seatings == 1 else "deal") + f" of {game}"
    if seatings > 1:
        deals += f" in {seatings} seatings each"
    if has_verdict:
        first = players[0]
        over = players[1].name if len(players) == 2 else "the table"
        spread = "" if first.half_width_95 is None else f" ± {first.half_width_95:,.0f}"
        measured = f"{first.name} over {over} {first.mbb_per_game or 0.0:+,.0f}{spread} mbb/g (95 %)"
        return f"{reason[:1].upper()}{reason[1:].rstrip('.')}, known after {deals}: {measured}."
    endings = {
        "failed": f" It ended early: {reason}",
        "interrupted": f" It ended early: {reason}",
        "stopped": f" It stopped because {reason}",
    }
    return _standing(players, deals, duplicates, seatings) + endings.get(outcome, "")


def _standing(players: Sequence[PlayerResult], deals: str, duplicates: int, seatings: int) -> str:
    """Who is ahead of whom, and what that is worth."""
    ranked = sorted(players, key=lambda player: -player.chips)
    best = ranked[0]
    over = ranked[1].name if len(ranked) == 2 else "the table"
    if best.chips - ranked[-1].chips < _LEVEL_CHIPS:
        return f"{best.name} and {over} are level after {deals}."
    rate, half = best.mbb_per_game or 0.0, best.half_width_95
    if half is None:
        return (
            f"{best.name} is ahead of {over} by {rate:,.0f} mbb/g after {deals}, too few to say anything about "
            f"strength (at least {FEWEST_UNITS} are needed for an interval)."
        )
    measured = f"{rate:,.0f} ± {half:,.0f} mbb/g (95 %)"
    if rate > half:
        return f"{best.name} beats {over} by {measured} over {deals}."
    needed = rounded_up(duplicates * (half / rate) ** 2) if rate else 0
    more = f" If the lead is real, about {needed:,} would show it." if needed else ""
    return f"{best.name} is ahead of {over} by {measured} after {deals}: that may be luck.{more}"


def rounded_up(number: float) -> int:
    """Rounded up to two digits: an estimate should not look like a measurement."""
    if number < 1:
        return 1
    unit: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit


def fault_phrase(fault: Fault) -> str:
    """What a player did wrong, where, with the offending line, and what was done about it."""
    where = f" in hand {fault.hand_number}" if fault.hand_number >= 0 else ""
    line = fault.line[:QUOTED_BYTES].decode("latin-1").rstrip("\r\n")
    quoted = f": {line!r}" if fault.line else ""
    return f"{fault.kind.value}{where}{quoted}, {remedy_text(fault)}"
