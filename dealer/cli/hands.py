"""``arena hands``: the hands a bot lost most on, or one by its number, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.sources import Problems, Sources, StrictHandOptions, no_such_hand
from engine.text import shown
from logs.acpc_log.writer import state_text
from logs.contest_scores import Loss, largest_losses
from logs.document import Document, Part, Replay, Section
from logs.record import HandRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentData:
    """A comment of a player."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandData:
    """A hand as the HTTP interface has it, with its match and comments.

    Attributes:
        names: the players by position.
        state: the match state at the end, with all cards.
        values: net chips by position.
    """

    match: str
    number: int
    names: tuple[str, ...]
    state: str
    values: tuple[float, ...]
    comments: tuple[CommentData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandsData:
    """Hands of a number, as ``arena hands --hand N --json`` prints them."""

    schema_version: int = 1
    hands: tuple[HandData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossData:
    """A hand that a player lost, and the same deal in the other seatings.

    Attributes:
        chips: net chips of the player, below 0.
    """

    player: str
    chips: float
    hand: HandData
    others: tuple[HandData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossesData:
    """The largest losses, as ``arena hands --json`` prints them."""

    schema_version: int = 1
    losses: tuple[LossData, ...]


def hands(
    terminal: Terminal,
    sources: Sources,
    worst: Annotated[int, "How many hands to show.", Interval(1)] = 10,
    player: Annotated[str | None, "Whose losses.", Wording(otherwise="the first player")] = None,
    number: Annotated[
        int | None, "Show the hands of this number instead.", Interval(0), Wording(flags="--hand")
    ] = None,
    as_json: Json = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Show the hands a bot lost most on: each with the same deal in the other seatings; or one hand by its number."""
    with Problems(terminal) as problems:
        find = reading.finder(strict=reading.strict)
        source = find(sources, on_problem=problems, times=number is not None)
        if number is not None:
            document = _numbered(source.hands(), number)
        else:
            document = _lost(largest_losses(source, player, count=worst))
    if not document.sections:
        abort("there is no hand that the player lost")
    show_document(terminal, document, as_json=as_json)


def _numbered(hands: Iterable[HandRecord], number: int) -> Document:
    found: list[HandRecord] = []
    count = lowest = highest = 0
    for record in hands:
        lowest = min(lowest, record.hand_number) if count else record.hand_number
        highest = max(highest, record.hand_number)
        count += 1
        if record.hand_number == number:
            found.append(record)
    if not found:
        abort(no_such_hand(number, count, lowest, highest))
    section = Section(f"Hand {number}", tuple(map(_replay, found)))
    return Document(f"Hand {number}", sections=(section,), data=HandsData(hands=tuple(map(_data, found))))


def _lost(losses: Sequence[Loss]) -> Document:
    sections = []
    for place, lost in enumerate(losses, 1):
        worst, *others = lost.hands
        parts: list[Part] = [_replay(worst)]
        for other in others:
            value = other.values[other.names.index(lost.player)] if lost.player in other.names else 0.0
            parts += [f"The same deal in another seating: {shown(lost.player)} {value:+,.10g}", _replay(other)]
        sections.append(Section(f"{place}. {shown(lost.player)} {lost.chips:+,.10g}", tuple(parts)))
    data = tuple(
        LossData(player=player, chips=chips, hand=_data(worst), others=tuple(map(_data, others)))
        for chips, player, (worst, *others) in losses
    )
    return Document("Hands with the largest losses", sections=tuple(sections), data=LossesData(losses=data))


def _replay(record: HandRecord) -> Replay:
    return Replay(f"{shown(record.match_name)}, hand {record.hand_number}", record)


def _data(record: HandRecord) -> HandData:
    return HandData(
        match=record.match_name,
        number=record.hand_number,
        names=record.names,
        state=state_text(record),
        values=record.values,
        comments=tuple(CommentData(name=record.names_by_seat[one.seat], text=one.text) for one in record.comments),
    )
