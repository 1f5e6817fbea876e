"""Compose sentences for people about the end of a match.

Text that players sent or wrote may show their cards. Every function that could quote it takes `shows_output`; callers
pass False for anybody who may not see all cards.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Final

from dealer.errors import Cause
from dealer.match import causes
from dealer.match.events import StrayConnection
from engine.errors import quoted

UNKNOWN_CAUSE: Final = "a player or an error ended it."
"""Public sentence for an old record that has no cause but a sentence, which may quote a player."""
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
    """Compose the cause of an early end, and how the failed player's process ended."""
    cause = failure.cause
    sentence = cause_sentence(cause, failure.names, failure.hand_number, shows_output=shows_output)
    if not isinstance(cause, causes.PlayerCause) or failure.last_lines is None:
        return sentence
    name = ""
    if isinstance(cause, causes.NotStarted) and cause.others:
        # The sentence names several players, so "it" would be ambiguous.
        name = failure.names[cause.seat]
    if failure.exit_code is not None:
        owner = f"{name}'s" if name else "Its"
        sentence += f" {owner} process ended with {exit_phrase(failure.exit_code)}."
    if failure.cure:
        sentence += f" {failure.cure}"
    if not failure.last_lines:
        return f"{sentence} {name or 'It'} wrote nothing."
    if not shows_output:
        return sentence
    lines = "\n".join(f"    {line}" for line in failure.last_lines)
    return f"{sentence} The last {name or 'it'} wrote:\n{lines}"


def cause_sentence(cause: Cause, names: Sequence[str], hand_number: int, *, shows_output: bool) -> str:
    """Compose a sentence; see `cause_clause`."""
    return f"{cause_clause(cause, names, hand_number, shows_output=shows_output)}."


def cause_clause(cause: Cause, names: Sequence[str], hand_number: int, *, shows_output: bool) -> str:
    """Compose a sentence without its full stop.

    Args:
        cause: cause of the end of the match, or of a player's part in it.
        names: the players, by seat.
        hand_number: the hand being played at the time.
        shows_output: quote the lines of players.
    """
    match cause:
        case causes.BotFailed(seat, problem):
            if not shows_output:
                return f"{names[seat]} failed in hand {hand_number}"
            # The text of an exception may end with a full stop of its own.
            return f"{names[seat]}: {problem.removesuffix('.')}"
        case causes.NotStarted(seat, others=others) if others:
            *first, last = [names[seat] for seat in (seat, *others)]
            return f"{', '.join(first)} and {last} have not connected within {cause.limit_us / 1e6:g} s"
        case causes.PlayerCause(seat):
            return f"{names[seat]} {_player_clause(cause, hand_number, shows_output=shows_output)}"
        case causes.InternalError(error_type, text):
            if text and shows_output:
                return f"internal error: {error_type}: {text}"
            return f"internal error: {error_type}"
        case causes.WorkerLost(losses):
            players = " and ".join(dict.fromkeys(names))
            return (
                f"the process of {players} ended unexpectedly in or soon after hand {hand_number}, {losses} times "
                "in a row; the code of a bot or the system ended it"
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
    """Compose a sentence, without its full stop, about a connection that was rejected at a player's port."""
    sentence = f"a connection from {event.host} to {name}'s port was closed: it {event.problem.value}"
    if not event.line:
        return sentence
    line = event.line.decode("utf-8", "backslashreplace").rstrip()
    return f"{sentence}: {quoted(line)}"


def exit_phrase(code: int) -> str:
    """Name an exit code, or the signal of a negative one."""
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
            # Up to a NUL, as the reference prints it, and without the prefix of a bytes literal.
            line = quoted(cause.line.split(b"\0")[0].rstrip(b"\r\n"))[1:]
            return f"does not speak the protocol: its first line was {line}, not 'VERSION:2.0.0'"
        case causes.NotStarted(problem=problem):
            return _START_CLAUSES[problem].format(cause.limit_us / 1e6)
        case causes.OutOfTime(limit=limit):
            return f"exceeded its time for {_SPANS[limit].format(hand)}"
        case causes.TooManyIdleLines():
            return f"sent more than {cause.most} lines other than answers in hand {hand}"
        case causes.NoAnswer(is_closed=is_closed):
            if is_closed:
                return f"closed the connection in hand {hand}"
            return f"did not answer within {cause.limit_us / 1e6:g} s in hand {hand}"
        case causes.Unreachable(is_full=is_full):
            verb = "did not read" if is_full else "no longer took"
            return f"{verb} its input in hand {hand}"
        case _:
            raise TypeError(f"no sentence for {cause!r}")
