"""``arena hands``: print the hands a bot lost most on, or one by its number."""

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
    """Comment of a player, for JSON."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandData:
    """Hand with its match and comments, for JSON.

    Attributes:
        names: name of each position's player.
        state: match state at the end, with all cards.
        values: net chips of each position.
    """

    match: str
    number: int
    names: tuple[str, ...]
    state: str
    values: tuple[float, ...]
    comments: tuple[CommentData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandsData:
    """Result of ``arena hands --hand N --json``."""

    schema_version: int = 1
    hands: tuple[HandData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossData:
    """Hand that a player lost, and the same deal in the other seatings, for JSON.

    Attributes:
        chips: net chips of the player, below 0.
    """

    player: str
    chips: float
    hand: HandData
    others: tuple[HandData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossesData:
    """Result of ``arena hands --json``."""

    schema_version: int = 1
    losses: tuple[LossData, ...]


def hands(
    terminal: Terminal,
    sources: Sources,
    worst: Annotated[int, "Number of hands to show.", Interval(1)] = 10,
    player: Annotated[str | None, "Player whose losses are shown.", Wording(otherwise="the first player")] = None,
    number: Annotated[
        int | None, "Show the hands of this number instead.", Interval(0), Wording(flags="--hand")
    ] = None,
    as_json: Json = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Show a bot's largest losses, or one hand by its number. Other seatings of the deal are shown next to it."""
    with Problems(terminal) as problems:
        find = reading.finder(strict=reading.strict)
        source = find(sources, on_problem=problems, times=number is not None)
        if number is not None:
            document = _numbered(source.hands(), number)
        else:
            document = _lost(largest_losses(source, player, count=worst))
    if not document.sections:
        abort("the player lost no hand")
    show_document(terminal, document, as_json=as_json)


def _numbered(hands: Iterable[HandRecord], number: int) -> Document:
    records: list[HandRecord] = []
    count = 0
    lowest = 0
    highest = 0
    for record in hands:
        lowest = min(lowest, record.hand_number) if count else record.hand_number
        highest = max(highest, record.hand_number)
        count += 1
        if record.hand_number == number:
            records.append(record)
    if not records:
        abort(no_such_hand(number, count, lowest, highest))
    title = f"Hand {number}"
    section = Section(title, tuple([_replay(record) for record in records]))
    data = HandsData(hands=tuple([_hand_data(record) for record in records]))
    return Document(title, sections=(section,), data=data)


def _lost(losses: Sequence[Loss]) -> Document:
    sections = []
    losses_data = []
    for place, loss in enumerate(losses, 1):
        lost_hand, *other_hands = loss.hands
        parts: list[Part] = [_replay(lost_hand)]
        for other in other_hands:
            value = 0.0
            if loss.player in other.names:
                value = other.values[other.names.index(loss.player)]
            parts.append(f"The same deal in another seating: {shown(loss.player)} {value:+,.10g}")
            parts.append(_replay(other))
        sections.append(Section(f"{place}. {shown(loss.player)} {loss.chips:+,.10g}", tuple(parts)))
        others = tuple([_hand_data(other) for other in other_hands])
        losses_data.append(LossData(player=loss.player, chips=loss.chips, hand=_hand_data(lost_hand), others=others))
    data = LossesData(losses=tuple(losses_data))
    return Document("Hands with the largest losses", sections=tuple(sections), data=data)


def _replay(record: HandRecord) -> Replay:
    return Replay(f"{shown(record.match_name)}, hand {record.hand_number}", record)


def _hand_data(record: HandRecord) -> HandData:
    comments = []
    for comment in record.comments:
        comments.append(CommentData(name=record.names_by_seat[comment.seat], text=comment.text))
    return HandData(
        match=record.match_name,
        number=record.hand_number,
        names=record.names,
        state=state_text(record),
        values=record.values,
        comments=tuple(comments),
    )
