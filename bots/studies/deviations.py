"""What a player gives away where an equilibrium is known, as a report."""

from __future__ import annotations

from typing import Final

from bots.equilibrium.deviations import ChosenAction, Deviations, Situation
from bots.studies.report import Report, Section
from engine.text import count_of
from logs.page.table import Column, ColumnKind, sheet

_MOST_NAMED: Final = 20


def deviations_report(found: Deviations) -> Report:
    """The report of what was given away, the most expensive decisions first."""
    costly = [one for one in found.situations if one.per_100_hands > 0]
    more = len(costly) - _MOST_NAMED
    table = sheet(
        "",
        (
            Column("decision", "position, card, betting", ColumnKind.TEXT),
            Column("deals", "in which it came up", rank=1),
            Column("chips/100", "chips given away per hundred of all hands, against an equilibrium"),
            Column(
                "what it did",
                "how often; how often an equilibrium does it; the exact cost of doing it once, in chips",
                ColumnKind.TEXT,
            ),
        ),
        (
            (one.name, f"{one.deals:,}", _rate(one), "; ".join(map(_in_words, one.choices)))
            for one in costly[:_MOST_NAMED]
        ),
        f"{more} more that cost something are in --json." if more > 0 else "",
    )
    facts = (
        ("player", found.player),
        ("hands", f"{found.hands:,}"),
        ("deals", f"{found.deals:,}"),
        ("decisions", f"{found.decisions:,}"),
    )
    sections = (Section("What costs most", (), (table,)),) if costly else ()
    return Report(f"What {found.player} gives away", _sentences(found, costly), facts, sections)


def _sentences(found: Deviations, costly: list[Situation]) -> tuple[str, ...]:
    if not costly:
        sentences = [f"None of the decisions of {found.player} in these hands costs anything against an equilibrium."]
    else:
        worst = costly[0]
        sentences = [
            f"{found.player} gives away most here: {worst.name}, {_rate(worst)} chips per hundred hands: "
            f"{_in_words(worst.choices[0])}.",
            f"Its decisions in these hands cost {found.per_100_hands:,.1f} ± {found.half_width:,.1f} chips per hundred "
            "hands in all, each counted as if an equilibrium had been the opponent. That cost is exact; the intervals "
            "are about how often it comes to a decision and what it then does, and hold together at 95 %.",
        ]
    if found.unmet:
        sentences.append(
            f"{count_of(found.unmet, 'decision')} came up that an equilibrium never reaches; these have no cost."
        )
    sentences.append("How much a better opponent could win from the player's policy is measured by arena exploit.")
    return tuple(sentences)


def _rate(one: Situation) -> str:
    half = "" if one.half_width is None else f" ± {one.half_width:,.1f}"
    return f"{one.per_100_hands:,.1f}{half}"


def _in_words(played: ChosenAction) -> str:
    cost = f"costs {played.cost:,.4g}" if played.cost else "costs nothing"
    return f"{played.did} {played.times:,} times ({100 * played.chance:.0f} % in an equilibrium, {cost})"
