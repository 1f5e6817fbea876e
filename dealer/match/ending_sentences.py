"""Why a match ended, in sentences for people."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from dealer.errors import Cause
from dealer.match import causes
from dealer.match.events import StrayConnection
from engine.errors import quoted

_START_CLAUSES = {
    causes.StartProblem.NOT_CONNECTED: "has not connected within {:g} s",
    causes.StartProblem.ENDED: "ended before it connected",
    causes.StartProblem.VERSION_LATE: "has not named its version within {:g} s",
    causes.StartProblem.LEFT: "closed the connection before it named its version",
}
_SPANS = {
    causes.Limit.RESPONSE: "an answer in hand {}",
    causes.Limit.HAND: "hand {}",
    causes.Limit.MATCH: "the match in hand {}",
}


def sentence_of(cause: Cause, names: Sequence[str], hand_number: int) -> str:
    """What happened, as one sentence.

    Args:
        cause: why the match, or a player's part in it, is over.
        names: the players, by seat.
        hand_number: the hand being played when it happened.
    """
    if not isinstance(cause, causes.PlayerCause):
        return f"{_match_clause(cause)}."
    if isinstance(cause, causes.BotFailed):
        return f"{names[cause.seat]}: {cause.problem.removesuffix('.')}."
    if isinstance(cause, causes.NotStarted) and cause.others:
        *first, last = (names[seat] for seat in (cause.seat, *cause.others))
        return f"{', '.join(first)} and {last} have not connected within {cause.limit_us / 1e6:g} s."
    return f"{names[cause.seat]} {_player_clause(cause, hand_number)}."


def stray_sentence(event: StrayConnection, name: str) -> str:
    """Who was turned away at a player's port, and why."""
    line = event.line.decode("utf-8", "backslashreplace").rstrip()
    shown = f": {quoted(line)}" if event.line else ""
    return f"a connection from {event.host} to {name}'s port was closed: it {event.problem.value}{shown}"


def process_sentences(
    exit_code: int | None, last_lines: Sequence[str] | None, name: str = "", *, cure: str = ""
) -> str:
    """What became of a failed player's process, to follow the sentence about its cause.

    Args:
        exit_code: negative for a signal; None if the process has not ended by itself.
        last_lines: what the process wrote last; None if there is no process of ours.
        name: the player's, where the sentence about the cause names several.
        cure: a sentence that says what to do, if that is known.
    """
    if last_lines is None:
        return ""
    whose = f"{name}'s" if name else "Its"
    ended = "" if exit_code is None else f" {whose} process ended with {exit_in_words(exit_code)}."
    if cure:
        ended += f" {cure}"
    if not last_lines:
        return f"{ended} {name or 'It'} wrote nothing."
    return f"{ended} The last {name or 'it'} wrote:\n" + "\n".join(f"    {line}" for line in last_lines)


def without_output(text: str) -> str:
    """A text that ends with `process_sentences`, without what the process wrote."""
    return re.sub(r" The last \S+ wrote:\n.*", "", text, count=1, flags=re.DOTALL)


def exit_in_words(code: int) -> str:
    """What a process ended with: an exit code, or a signal, which is a negative number."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"


def _match_clause(cause: Cause) -> str:
    match cause:
        case causes.NobodyLeft():
            return "no player is left to act"
        case causes.NotWritten(path, reason):
            return f"could not write {path or 'a log'}: {reason}"
        case causes.InternalError(error_type, text):
            return f"internal error: {error_type}: {text}"
        case _:
            return "the actions of an earlier run cannot be played again"


def _player_clause(cause: causes.PlayerCause, hand: int) -> str:
    match cause:
        case causes.NotStarted(problem=causes.StartProblem.UNREADABLE_VERSION):
            line = quoted(cause.line.split(b"\0")[0].rstrip(b"\r\n")).removeprefix("b")
            return f"does not speak the protocol: its first line was {line}, not 'VERSION:2.0.0'"
        case causes.NotStarted(problem=problem):
            return _START_CLAUSES[problem].format(cause.limit_us / 1e6)
        case causes.OutOfTime(limit=limit):
            return f"used more time than it had for {_SPANS[limit].format(hand)}"
        case causes.TooManyIdleLines():
            return f"sent more than {cause.most} lines that are no answers in hand {hand}"
        case causes.NoAnswer(is_closed=is_closed):
            clause = "closed the connection" if is_closed else f"did not answer within {cause.limit_us / 1e6:g} s"
            return f"{clause} in hand {hand}"
        case causes.Unreachable(is_full=is_full):
            return f"{'did not read' if is_full else 'no longer took'} its input in hand {hand}"
        case _:
            raise TypeError(f"no sentence for {cause!r}")
