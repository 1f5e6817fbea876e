"""Why a match ended, in sentences for people.

A sentence shows what players sent and wrote only if asked to: their cards may be in it (`shows_output`).
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Final

from dealer.errors import Cause
from dealer.match import causes
from dealer.match.events import StrayConnection
from engine.errors import quoted

UNKNOWN: Final = "a player or an error ended it."
"""For everybody, where only a sentence was kept that may quote a player."""
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


def failure_sentence(failure: causes.Failure, *, shows_output: bool) -> str:
    """Why a match ended early, and what became of the failed player's process."""
    cause = failure.cause
    sentence = f"{cause_clause(cause, failure.names, failure.hand_number, shows_output=shows_output)}."
    if not isinstance(cause, causes.PlayerCause) or failure.last_lines is None:
        return sentence
    # A sentence about several players names the one that is meant.
    name = failure.names[cause.seat] if isinstance(cause, causes.NotStarted) and cause.others else ""
    if failure.exit_code is not None:
        whose = f"{name}'s" if name else "Its"
        sentence += f" {whose} process ended with {exit_in_words(failure.exit_code)}."
    if failure.cure:
        sentence += f" {failure.cure}"
    if not failure.last_lines:
        return f"{sentence} {name or 'It'} wrote nothing."
    if not shows_output:
        return sentence
    lines = "\n".join(f"    {line}" for line in failure.last_lines)
    return f"{sentence} The last {name or 'it'} wrote:\n{lines}"


def sentence_of(cause: Cause, names: Sequence[str], hand_number: int) -> str:
    """What happened, as one sentence that quotes players; see `cause_clause`."""
    return f"{cause_clause(cause, names, hand_number)}."


def cause_clause(cause: Cause, names: Sequence[str], hand_number: int, *, shows_output: bool = True) -> str:
    """What happened, as a sentence without its full stop.

    Args:
        cause: why the match, or a player's part in it, is over.
        names: the players, by seat.
        hand_number: the hand being played when it happened.
        shows_output: whether what players sent or wrote is quoted.
    """
    match cause:
        case causes.BotFailed(seat, problem):
            # The text of an exception may end with a full stop.
            what = problem.removesuffix(".")
            return f"{names[seat]}: {what}" if shows_output else f"{names[seat]} failed in hand {hand_number}"
        case causes.NotStarted(seat, others=others) if others:
            *first, last = (names[seat] for seat in (seat, *others))
            return f"{', '.join(first)} and {last} have not connected within {cause.limit_us / 1e6:g} s"
        case causes.PlayerCause(seat):
            return f"{names[seat]} {_player_clause(cause, hand_number, shows_output=shows_output)}"
        case causes.InternalError(error_type, text):
            return f"internal error: {error_type}: {text}" if text and shows_output else f"internal error: {error_type}"
        case causes.WorkerLost(losses):
            players = " and ".join(dict.fromkeys(names))
            return (
                f"the process in which {players} play ended by itself in hand {hand_number} or soon after, "
                f"{losses} times in a row: the code of a bot ends it, or the system does"
            )
        case causes.NobodyLeft():
            return "no player is left to act"
        case causes.NotWritten(path, reason):
            return f"could not write {path or 'a log'}: {reason}"
        case causes.CannotPlay(problem):
            return problem
        case _:
            return "the actions of an earlier run cannot be played again"


def stray_sentence(event: StrayConnection, name: str) -> str:
    """Who was turned away at a player's port, and why."""
    line = event.line.decode("utf-8", "backslashreplace").rstrip()
    shown = f": {quoted(line)}" if event.line else ""
    return f"a connection from {event.host} to {name}'s port was closed: it {event.problem.value}{shown}"


def exit_in_words(code: int) -> str:
    """What a process ended with: an exit code, or a signal, which is a negative number."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"


def _player_clause(cause: causes.PlayerCause, hand: int, *, shows_output: bool) -> str:
    match cause:
        case causes.NotStarted(problem=causes.StartProblem.UNREADABLE_VERSION):
            if not shows_output:
                return "does not speak the protocol: its first line was not 'VERSION:2.0.0'"
            line = quoted(cause.line.split(b"\0")[0].rstrip(b"\r\n"))[1:]
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
