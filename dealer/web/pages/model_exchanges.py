"""Exchanges of bots with language models, beside the hand in which they took place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dealer.run.match_files import exchanges_path
from dealer.watching import WatchedMatch
from engine import Seat
from engine.text import count_of, shown
from logs import HandRecord
from logs.acpc_log.exchanges import NOTES, Exchange, latest_of_hand, read_exchanges
from logs.record import PlayerComment

_MAX_EXCHANGES: Final = 100
"""Exchanges of a player that a page of a hand shows."""
_MAX_REMARK_CHARS: Final = 300
_MAX_TEXT_CHARS: Final = 40_000


@dataclass(frozen=True, slots=True)
class ShownExchange:
    """Exchange on a page, with texts that are safe to show.

    Attributes:
        title: player, decision and action, such as ``Ann, action 3: raise to 900``.
        figures: time, tokens and cost.
        remark: comment at the step of the hand.
    """

    seat: Seat
    action_index: int
    title: str
    figures: str
    prompt: str
    answer: str
    problem: str
    remark: str


def exchanges_of_hand(match: WatchedMatch, record: HandRecord) -> list[ShownExchange]:
    """Return the exchanges of a hand, by seat and in order; none if a file cannot be read."""
    log = Path(match.path)
    exchanges: list[ShownExchange] = []
    for seat, name in enumerate(record.names_by_seat):
        path = exchanges_path(log.parent, log.name.removesuffix(".log"), seat)
        with suppress(OSError):
            latest = latest_of_hand(read_exchanges(path, record.hand_number), record.hand_number)
            exchanges += [_shown(exchange, Seat(seat), name) for exchange in latest[:_MAX_EXCHANGES]]
    return exchanges


def as_comments(exchanges: Sequence[ShownExchange]) -> tuple[PlayerComment, ...]:
    """Return a comment for each exchange, so that the steps of a replay show them."""
    return tuple([PlayerComment(each.seat, each.action_index, each.remark) for each in exchanges])


def _shown(exchange: Exchange, seat: Seat, name: str) -> ShownExchange:
    if exchange.kind == NOTES:
        subject = "notes"
        remark = f"notes: {exchange.answer}"
    else:
        # Steps are counted from 1 for people.
        subject = f"action {exchange.action_index + 1}"
        remark = _reason(exchange.answer)
    title = f"{name}, {subject}"
    if exchange.attempt > 1:
        title += ", asked again"
    if exchange.outcome:
        title += f": {exchange.outcome}"
        remark = f"{exchange.outcome}. {remark}"
    if exchange.fell_back:
        title += " (fell back)"
    if exchange.problem:
        remark = exchange.problem
    return ShownExchange(
        seat=seat,
        action_index=exchange.action_index,
        title=shown(title),
        figures=_figures(exchange),
        prompt=_text(exchange.prompt),
        answer=_text(exchange.answer),
        problem=shown(exchange.problem),
        remark=remark[:_MAX_REMARK_CHARS],
    )


def _reason(answer: str) -> str:
    """Return the reason in an answer of JSON, or the answer itself."""
    with suppress(ValueError, RecursionError):
        data = json.loads(answer)
        if isinstance(data, dict) and isinstance(data.get("reason"), str):
            return str(data["reason"])
    return answer


def _text(text: str) -> str:
    return shown(text[:_MAX_TEXT_CHARS].replace("\r\n", "\n"), "\n\t")


def _figures(exchange: Exchange) -> str:
    parts = [f"{exchange.seconds:,.2f} s"]
    if exchange.tokens_in is not None:
        parts.append(f"{count_of(exchange.tokens_in, 'token')} in")
    if exchange.tokens_out is not None:
        parts.append(f"{count_of(exchange.tokens_out, 'token')} out")
    if exchange.cost is not None:
        parts.append(f"cost {exchange.cost:,.4g}")
    if exchange.repeats:
        parts.append(count_of(exchange.repeats, "repeated request"))
    return ", ".join(parts)
