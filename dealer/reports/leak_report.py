"""Leaks of a player as sentences, tables and a document.

`leaks_document` is the output of ``arena leaks`` and of the page of leaks. `leaks_section` is a part of the report.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from engine.text import count_of
from logs.document import CHIPS, CODE, TEXT, Axis, Bars, Column, Document, Fact, Section, Table, Value, text_of
from logs.estimation import Estimate
from logs.leaks import Cell, Divergence, Leaks

_MAX_LISTED: Final = 10
"""Leaks in the table of leaks."""
_DIMENSIONS: Final[tuple[tuple[str, str], ...]] = (
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
    """Actions of the player and of another one in the same situation.

    Attributes:
        chips_per_100_hands: cost of the choice per hundred of all hands.
    """

    player: str
    other: str
    deals: int
    chips_per_100_hands: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakCell:
    """Result in similar decisions, such as those with a pair on the turn.

    Attributes:
        half_width_simultaneous_95: half the interval; all intervals hold together at 95 %. None with too few deals.
        is_leak: the whole interval lies below 0.
        choices: choices from the worst.
    """

    dimension: str
    name: str
    deals: int
    chips_per_100_hands: float
    half_width_simultaneous_95: float | None
    is_leak: bool
    choices: list[LeakChoice]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstDeal(Divergence):
    """One of the most expensive decisions.

    Attributes:
        paths: files of its hands.
        command: command that shows both hands.
    """

    paths: list[str]
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaksData:
    """Leaks of a player as printed by ``arena leaks --json``.

    Attributes:
        parted: number of deals, or decisions, in which the player chose another action.
        unpaired_hands: number of hands whose deal was not played in all seatings.
        questions: number of cells with an interval.
        bound: half-width of the intervals in standard errors.
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


def sentences_of(analysis: Leaks) -> tuple[str, ...]:
    """Compose sentences about the leaks, the most important one first."""
    other = analysis.others[0] if len(analysis.others) == 1 else "the others"
    if analysis.leaks:
        leak = analysis.leaks[0]
        rate = f"{_rate(leak)} chips per hundred hands"
        first = f"{analysis.player} loses most here: {leak.name}, {rate}. {_worst_choice(leak, other)}"
    elif analysis.broader_leaks:
        wide = analysis.broader_leaks[0]
        first = (
            f"{analysis.player} loses ({wide.dimension}: {wide.name}, {_rate(wide)} chips per hundred hands), but the "
            "decision cannot be determined from these hands."
        )
    else:
        first = f"These hands do not show a leak of {analysis.player}."
    sentences = [first, _accounts(analysis, other), *_intervals(analysis)]
    if analysis.unpaired:
        sentences.append(
            f"{count_of(analysis.unpaired, 'hand')} without the other seatings of the deal were not counted."
        )
    return tuple(sentences)


def _policy_sentences(analysis: Leaks, policy: str) -> tuple[str, ...]:
    """Compose sentences about the comparison with a policy, the most important one first."""
    player = analysis.player
    if analysis.leaks:
        leak = analysis.leaks[0]
        did, others, decisions, chips = leak.choices[0]
        first = (
            f"{player} loses most by departing from {policy} here: {leak.name}, {_rate(leak)} chips per hundred hands. "
            f"It chose to {did} where {policy} chose to {others} in {count_of(decisions, 'decision')}: {chips:+,.1f}."
        )
    else:
        first = f"These hands do not show that departing from {policy} costs {player} anything."
    return (
        first,
        f"For each decision in {count_of(analysis.deals, 'hand')} an action was drawn from {policy}. In "
        f"{analysis.diverged:,} it differed from the player's. Both were then played to the end of the hand, with "
        f"the same cards and {policy} in every seat. The difference in winnings is assigned to the decision.",
        *_intervals(analysis),
    )


def _intervals(analysis: Leaks) -> tuple[str, ...]:
    if not analysis.questions:
        return ()
    questions = count_of(analysis.questions, "question")
    return (
        f"The intervals hold at 95 % for all {questions} together. Each extends {analysis.bound:.2f} standard "
        "errors to either side.",
    )


def _accounts(analysis: Leaks, other: str) -> str:
    """Compose sentences that explain the figures."""
    player = analysis.player
    deals = count_of(analysis.deals, "deal")
    diverged = f"{analysis.diverged:,}"
    if not analysis.is_multiway:
        return (
            f"Both played the same cards in {deals}, and diverged in {diverged} of them. The difference between the "
            f"winnings of {player} and {other} in a deal is assigned to the decision in which they diverged."
        )
    return (
        f"All played the same cards in {deals}. In {diverged} of them {player} chose another action than a player in "
        "its seat after the same betting. The difference in winnings, averaged over the other players, is assigned to "
        "this decision."
    )


def _worst_choice(leak: Cell, other: str) -> str:
    did, others, deals, chips = leak.choices[0]
    return f"It chose to {did} where {other} chose to {others} in {count_of(deals, 'deal')}: {chips:+,.1f}."


def leaks_document(
    analysis: Leaks,
    sources: Sequence[Path] = (),
    *,
    policy: str = "",
    is_whole: bool = False,
    linked: Callable[[tuple[str, ...], int], Value] | None = None,
) -> Document:
    """Create the document of a player's leaks.

    Args:
        sources: files of the hands, as named by the user.
        policy: name of the policy that the player was compared with; empty for other players.
        is_whole: whether to include every decision and a chart.
        linked: returns links to the hands of a deal, from their files and number. None shows commands instead.
    """
    unit = "decisions" if policy else "deals"
    sections = []
    listed = analysis.leaks[:_MAX_LISTED]
    if listed:
        left_out = len(analysis.leaks) - len(listed)
        note = f"{left_out} more are in --json." if left_out else ""
        parts: list[Table | Bars] = [_leaks_table("Leaks", listed, note, unit=unit)]
        if is_whole:
            values = tuple([(cell.name, cell.won) for cell in listed])
            parts.append(Bars("Leaks", Axis("winnings", "chips per hundred hands"), values))
        sections.append(Section("Leaks", tuple(parts)))
    dimensions = _DIMENSIONS
    if is_whole:
        dimensions = (("decision", "All decisions"), *dimensions)
    for dimension, title in dimensions:
        cells = _cells_of(analysis, dimension)
        if cells:
            sections.append(Section(title, (_leaks_table(title, cells, unit=unit),)))
    if analysis.worst:
        title = "Most expensive deals"
        sections.append(Section(title, (_worst_table(analysis, sources, title, linked),)))
    facts = (
        Fact("player", analysis.player),
        Fact("against", ", ".join(analysis.others)),
        Fact("hands" if policy else "deals", analysis.deals),
        Fact("questions", analysis.questions),
    )
    sentences = _policy_sentences(analysis, policy) if policy else sentences_of(analysis)
    data = _leaks_data(analysis, sources)
    return Document(f"Leaks of {analysis.player}", sentences, facts, tuple(sections), data=data)


def leaks_section(analysis: Leaks, sources: Sequence[Path]) -> Section:
    """Create the section of a report, with the leaks and the most expensive deals."""
    title = f"Leaks of {analysis.player}"
    cells = analysis.leaks[:_MAX_LISTED] or _cells_of(analysis, "everything")
    parts: list[str | Table] = [sentences_of(analysis)[0], _leaks_table(title, cells)]
    if analysis.worst:
        parts.append(_worst_table(analysis, sources, f"Most expensive deals of {analysis.player}"))
    return Section(title, tuple(parts), is_open=False)


def divergence_in_words(divergence: Divergence) -> str:
    """Describe the cards, the decision and both actions."""
    cards = divergence.cards
    if divergence.cards_on_board:
        cards += f" on {divergence.cards_on_board}"
    return f"{cards}, {divergence.street}, {divergence.bets}: {divergence.did}, not {divergence.others}"


def _leaks_table(title: str, cells: Sequence[Cell], note: str = "", *, unit: str = "deals") -> Table:
    """Create a table with a row per cell. Cells without an interval share the last row."""
    rows = []
    small = []
    for cell in cells:
        if cell.won.half_width is None:
            small.append(cell)
        else:
            rows.append((cell.name, cell.deals, cell.won, "leak" if cell.is_leak else "", _largest_loss(cell)))
    if small:
        deals = sum(cell.deals for cell in small)
        chips = Estimate(sum(cell.won.mean for cell in small))
        rows.append((f"{len(small)} with too few {unit} to judge", deals, chips, "", ""))
    columns = (
        Column("decision", TEXT, meaning="cards and betting at which the players diverged"),
        Column(unit, ",", meaning="in which the players diverged at this decision", rank=2),
        Column(
            "chips/100",
            "+,.1f",
            meaning="chips won per 100 hands, compared with the other player's result with the same cards",
        ),
        Column("", meaning="leak, if the whole interval lies below 0"),
        Column(
            "largest loss", TEXT, meaning="action of the player, action of the other, and chips per 100 hands", rank=1
        ),
    )
    return Table(title, columns, tuple(rows), note).without_empty()


def _largest_loss(cell: Cell) -> str:
    if not cell.choices:
        return ""
    did, others, deals, chips = cell.choices[0]
    if chips >= 0:
        return ""
    return f"{did}, not {others}: {chips:+,.1f} in {deals:,}"


def _cells_of(analysis: Leaks, dimension: str) -> list[Cell]:
    return [cell for cell in analysis.cells if cell.dimension == dimension]


def _rate(cell: Cell) -> str:
    return text_of(cell.won, "+,.1f")


def _worst_table(
    analysis: Leaks,
    sources: Sequence[Path],
    title: str,
    linked: Callable[[tuple[str, ...], int], Value] | None = None,
) -> Table:
    """Create the table of the most expensive divergences; for `linked` see `leaks_document`."""
    last = Column("both hands")
    if linked is None:
        last = Column("to see both hands", CODE, meaning="`arena replay` shows them in the browser", rank=1)
    columns = (
        Column("cards and decision", TEXT),
        Column(analysis.player, CHIPS, meaning="winnings of the player, in chips"),
        Column("other", CHIPS, meaning="winnings of the other player with the same cards", rank=2),
        last,
    )
    rows: list[tuple[Value, ...]] = []
    for divergence, paths in analysis.worst:
        number = divergence.hand_number
        hands: Value = _hands_command(paths, number, sources) if linked is None else linked(paths, number)
        rows.append((divergence_in_words(divergence), divergence.chips, divergence.others_chips, hands))
    return Table(title, columns, tuple(rows))


def _hands_command(paths: tuple[str, ...], number: int, sources: Sequence[Path]) -> str:
    """Return the command that shows both hands of a deal."""
    source_paths = {os.path.normpath(source) for source in sources}
    # A user who named files gets a command with files, otherwise the shorter one with folders.
    if any(os.path.normpath(path) in source_paths for path in paths):
        names = list(paths)
    else:
        names = sorted({os.path.dirname(path) or "." for path in paths})
    return shlex.join(["arena", "hands", *names, "--hand", str(number)])


def _leaks_data(analysis: Leaks, sources: Sequence[Path]) -> LeaksData:
    worst = []
    for divergence, paths in analysis.worst:
        command = _hands_command(paths, divergence.hand_number, sources)
        worst.append(WorstDeal(**asdict(divergence), paths=list(paths), command=command))
    return LeaksData(
        player=analysis.player,
        others=list(analysis.others),
        deals=analysis.deals,
        parted=analysis.diverged,
        unpaired_hands=analysis.unpaired,
        questions=analysis.questions,
        bound=analysis.bound,
        leaks=[_cell_data(cell) for cell in analysis.leaks],
        cells=[_cell_data(cell) for cell in analysis.cells],
        worst=worst,
    )


def _cell_data(cell: Cell) -> LeakCell:
    choices = [
        LeakChoice(player=did, other=other, deals=deals, chips_per_100_hands=chips)
        for did, other, deals, chips in cell.choices
    ]
    return LeakCell(
        dimension=cell.dimension,
        name=cell.name,
        deals=cell.deals,
        chips_per_100_hands=cell.won.mean,
        half_width_simultaneous_95=cell.won.half_width,
        is_leak=cell.is_leak,
        choices=choices,
    )
