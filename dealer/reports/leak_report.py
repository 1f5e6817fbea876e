"""Leaks as sentences, tables and a document, for the terminal, the report and the browser."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.text import count_of
from logs.document import CHIPS, CODE, TEXT, Axis, Bars, Column, Document, Fact, Section, Table, Value, text_of
from logs.estimation import Estimate

if TYPE_CHECKING:
    from logs.leaks import Cell, Divergence, Leaks

MOST_NAMED: Final = 10
"""Leaks that are listed."""
_BY: Final = (
    ("street", "By street"),
    ("position", "By position"),
    ("starting hand", "By starting hand"),
    ("hand on the street", "By what the cards made"),
    ("board", "By board"),
    ("price", "By price"),
    ("winnings by position", "Winnings by position"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakChoice:
    """What the player did where the other did something else, and the chips of it per hundred of all hands."""

    player: str
    other: str
    deals: int
    chips_per_100_hands: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakCell:
    """A question, such as the pairs on the turn, as JSON has it.

    Attributes:
        half_width_simultaneous_95: half an interval; the intervals of all questions hold together at 95 %. None with
            too few deals.
        is_leak: whether the whole interval lies below 0.
        choices: the worst first.
    """

    dimension: str
    name: str
    deals: int
    chips_per_100_hands: float
    half_width_simultaneous_95: float | None
    is_leak: bool
    choices: list[LeakChoice]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstDeal:
    """A decision that cost the player most, as of `logs.leaks.divergences.Divergence`.

    Attributes:
        paths: files of its hands.
        command: the command that shows both hands.
    """

    hand_number: int
    position: str
    street: str
    bets: str
    did: str
    others: str
    cards: str
    cards_on_board: str
    starting: str
    hand: str
    board: str
    price: str
    chips: float
    others_chips: float
    paths: list[str]
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaksData:
    """Leaks of a player, as ``arena leaks --json`` prints them.

    Attributes:
        parted: deals, or decisions, in which the player chose another action.
        questions: cells with an interval.
        bound: standard errors of each half-width.
    """

    schema_version: int = 1
    player: str
    others: list[str]
    deals: int
    parted: int
    unpaired_hands: int
    questions: int
    bound: float
    leaks: list[LeakCell]
    cells: list[LeakCell]
    worst: list[WorstDeal]


def sentences_of(found: Leaks) -> tuple[str, ...]:
    """What was found, the most important first."""
    other = found.others[0] if len(found.others) == 1 else "the others"
    if found.leaks:
        leak = found.leaks[0]
        rate = f"{_rate(leak)} chips per hundred hands"
        first = f"{found.player} loses most here: {leak.name}, {rate}. {_most(leak, other)}"
    elif found.broader_leaks:
        wide = found.broader_leaks[0]
        first = (
            f"{found.player} loses ({wide.dimension}: {wide.name}, {_rate(wide)} chips per hundred hands), but the "
            "decision cannot be determined from these hands."
        )
    else:
        first = f"Whether {found.player} has a leak cannot be determined from these hands."
    sentences = [first, _accounts(found, other), *_intervals(found)]
    if found.unpaired:
        sentences.append(f"{count_of(found.unpaired, 'hand')} without the other seatings of the deal did not count.")
    return tuple(sentences)


def sentences_beside(found: Leaks, policy: str) -> tuple[str, ...]:
    """What was found in the comparison with a policy, the most important first."""
    if found.leaks:
        leak = found.leaks[0]
        did, others, decisions, chips = leak.choices[0]
        first = (
            f"{found.player} loses most by departing from {policy} here: {leak.name}, {_rate(leak)} chips per hundred "
            f"hands. It chose to {did} where {policy} chose to {others} in {count_of(decisions, 'decision')}: "
            f"{chips:+,.1f}."
        )
    else:
        first = f"Whether departing from {policy} costs {found.player} anything cannot be determined from these hands."
    return (
        first,
        f"For each decision in {count_of(found.deals, 'hand')} an action was drawn from {policy}. In "
        f"{found.diverged:,} it differed from the player's: both were played out, with the same cards and {policy} "
        f"in every seat. The difference in winnings is assigned to the decision.",
        *_intervals(found),
    )


def _intervals(found: Leaks) -> tuple[str, ...]:
    if not found.questions:
        return ()
    return (
        f"The intervals hold together for {count_of(found.questions, 'question')}, at 95 %: each is {found.bound:.2f} "
        "standard errors wide to either side.",
    )


def _accounts(found: Leaks, other: str) -> str:
    """What is counted, as sentences."""
    if not found.is_multiway:
        return (
            f"Both played the same cards in {count_of(found.deals, 'deal')}, and diverged in {found.diverged:,} of "
            f"them. The difference between the winnings of {found.player} and {other} in a deal is assigned to the "
            "decision in which they diverged."
        )
    return (
        f"All played the same cards in {count_of(found.deals, 'deal')}. In {found.diverged:,} of them {found.player} "
        "chose another action than a player in its seat after the same betting. The difference in winnings, averaged "
        "over the other players, is assigned to this decision."
    )


def _most(leak: Cell, other: str) -> str:
    did, others, deals, chips = leak.choices[0]
    return f"It chose to {did} where {other} chose to {others} in {count_of(deals, 'deal')}: {chips:+,.1f}."


def leaks_document(
    found: Leaks,
    sources: Sequence[Path] = (),
    *,
    policy: str = "",
    is_whole: bool = False,
    linked: Callable[[tuple[str, ...], int], Value] | None = None,
) -> Document:
    """Leaks, those in the comparison with a policy if it is named; the whole with every decision and a chart.

    Args:
        sources: as the user named the files of the hands.
        linked: of the files and the number of a deal's hands, the links to them; without it there are commands.
    """
    unit = "decisions" if policy else "deals"
    listed = found.leaks[:MOST_NAMED]
    note = "" if len(listed) == len(found.leaks) else f"{len(found.leaks) - len(listed)} more are in --json."
    worst = [worst_table(found, sources, "Deals that cost most", linked)] if found.worst else []
    tables = [
        *([leaks_table("Leaks", listed, note, unit=unit)] if listed else []),
        *(
            leaks_table(title, cells, unit=unit)
            for dimension, title in (*([("decision", "All decisions")] if is_whole else []), *_BY)
            if (cells := of_dimension(found, dimension))
        ),
        *worst,
    ]
    bars = Bars("Leaks", Axis("winnings", "chips per hundred hands"), tuple((one.name, one.won) for one in listed))
    charts = {"Leaks": (bars,)} if is_whole else {}
    sections = [Section(table.title, (table, *charts.get(table.title, ()))) for table in tables]
    return Document(
        f"Leaks of {found.player}",
        sentences_beside(found, policy) if policy else sentences_of(found),
        (
            Fact("player", found.player),
            Fact("against", ", ".join(found.others)),
            Fact("hands" if policy else "deals", found.deals),
            Fact("questions", found.questions),
        ),
        tuple(sections),
        data=leaks_data(found, sources),
    )


def leaks_section(found: Leaks, sources: Sequence[Path]) -> Section:
    """What a page about more than leaks shows of them: the leaks, and the divergences that cost most."""
    title = f"Leaks of {found.player}"
    cells = found.leaks[:MOST_NAMED] or of_dimension(found, "everything")
    worst = [worst_table(found, sources, f"Deals that cost {found.player} most")] if found.worst else []
    return Section(title, (sentences_of(found)[0], leaks_table(title, cells), *worst), is_open=False)


def divergence_in_words(divergence: Divergence) -> str:
    """Cards, decision, and what was done."""
    board = f" on {divergence.cards_on_board}" if divergence.cards_on_board else ""
    at = f"{divergence.street}, {divergence.bets}"
    return f"{divergence.cards}{board}, {at}: {divergence.did}, not {divergence.others}"


def leaks_table(title: str, cells: Sequence[Cell], note: str = "", *, unit: str = "deals") -> Table:
    """Cells as a table: those asked by name, the others together in a row."""
    rows = [
        (one.name, one.deals, one.won, "leak" if one.is_leak else "", _loss(one))
        for one in cells
        if one.won.half_width is not None
    ]
    small = [one for one in cells if one.won.half_width is None]
    if small:
        chips = Estimate(sum(one.won.mean for one in small))
        rows.append((f"{len(small)} with too few {unit} to ask", sum(one.deals for one in small), chips, "", ""))
    columns = (
        Column("decision", TEXT, meaning="in which the two did different things with the same cards"),
        Column(unit, ",", meaning="in which they parted there", rank=2),
        Column(
            "chips/100",
            "+,.1f",
            meaning="chips per hundred of all hands, against what the other player made of the same cards",
        ),
        Column("", meaning="a leak: the whole interval lies below 0"),
        Column(
            "largest loss", TEXT, meaning="what the player did, what the other did, and chips per hundred hands", rank=1
        ),
    )
    return Table(title, columns, tuple(rows), note).without_empty()


def _loss(cell: Cell) -> str:
    if not cell.choices:
        return ""
    did, others, deals, chips = cell.choices[0]
    if chips >= 0:
        return ""
    return f"{did}, not {others}: {chips:+,.1f} in {deals:,}"


def of_dimension(found: Leaks, dimension: str) -> tuple[Cell, ...]:
    """The cells of what is asked."""
    return tuple(one for one in found.cells if one.dimension == dimension)


def _rate(cell: Cell) -> str:
    return text_of(cell.won, "+,.1f")


def worst_table(
    found: Leaks,
    sources: Sequence[Path],
    title: str,
    linked: Callable[[tuple[str, ...], int], Value] | None = None,
) -> Table:
    """The divergences that cost most, each with what shows its hands, see `leaks_document`."""
    rows = []
    for divergence, paths in found.worst:
        number = divergence.hand_number
        hands = command_for(paths, number, sources) if linked is None else linked(paths, number)
        rows.append((divergence_in_words(divergence), divergence.chips, divergence.others_chips, hands))
    command = Column("to see both hands", CODE, meaning="`arena replay` shows them in the browser", rank=1)
    columns = (
        Column("cards and decision", TEXT),
        Column(found.player, CHIPS, meaning="what it made of the cards, in chips"),
        Column("other", CHIPS, meaning="what the other player made of the same cards", rank=2),
        command if linked is None else Column("both hands"),
    )
    return Table(title, columns, tuple(rows))


def command_for(paths: tuple[str, ...], number: int, sources: Sequence[Path]) -> str:
    """The command that shows both hands of a deal: of their folder, or of the files where these were given."""
    given = {os.path.normpath(source) for source in sources}
    folders = {os.path.dirname(path) or "." for path in paths}
    named = paths if any(os.path.normpath(path) in given for path in paths) else sorted(folders)
    return shlex.join(["arena", "hands", *named, "--hand", str(number)])


def leaks_data(found: Leaks, sources: Sequence[Path]) -> LeaksData:
    """What was found as JSON has it."""
    worst = [
        WorstDeal(
            **asdict(divergence),
            paths=list(paths),
            command=command_for(paths, divergence.hand_number, sources),
        )
        for divergence, paths in found.worst
    ]
    return LeaksData(
        player=found.player,
        others=list(found.others),
        deals=found.deals,
        parted=found.diverged,
        unpaired_hands=found.unpaired,
        questions=found.questions,
        bound=found.bound,
        leaks=[_cell_data(cell) for cell in found.leaks],
        cells=[_cell_data(cell) for cell in found.cells],
        worst=worst,
    )


def _cell_data(cell: Cell) -> LeakCell:
    return LeakCell(
        dimension=cell.dimension,
        name=cell.name,
        deals=cell.deals,
        chips_per_100_hands=cell.won.mean,
        half_width_simultaneous_95=cell.won.half_width,
        is_leak=cell.is_leak,
        choices=[
            LeakChoice(player=did, other=other, deals=deals, chips_per_100_hands=chips)
            for did, other, deals, chips in cell.choices
        ],
    )
