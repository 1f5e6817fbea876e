"""The sentences of the reference dealer, byte for byte: its course, lines, warnings, and why a match ended."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.errors import Cause
from dealer.match import causes
from dealer.match.events import (
    Event,
    FaultSeen,
    HandClosed,
    LineReceived,
    LineSent,
    MatchEnded,
    MatchStarted,
    VersionDiffers,
)
from dealer.match.faults import ReplyProblem
from dealer.match.sentences import sentence_of
from dealer.table.listener import LOOPBACK
from engine import Seat
from engine.game import MAX_PLAYERS
from logs import format_score_line
from logs.transaction_log import format_time

_SECONDS_EVERY_HANDS = 100
"""How often the time that the players have used is printed."""

_WARNINGS = {
    ReplyProblem.NO_REPLY: "bad state format in response",
    ReplyProblem.OTHER_STATE: "ignoring un-requested response",
    ReplyProblem.UNREADABLE_SIZE: "bad action format in response, changed to call",
    ReplyProblem.UNKNOWN_ACTION: "invalid action, changed to call",
    ReplyProblem.ILLEGAL_ACTION: "invalid action, changed to call",
    ReplyProblem.ACTION_LIMIT: (
        "#actions in round is too close to MAX_NUM_ACTIONS, forcing call/fold\nWARNING: invalid action, changed to call"
    ),
}

_START_PROBLEMS = {
    causes.StartProblem.NOT_CONNECTED: "timed out waiting for seat {} to connect",
    causes.StartProblem.VERSION_LATE: "timed out waiting for seat {} to name its version",
    causes.StartProblem.LEFT: "could not read version string from seat {}",
}
_TRANSACTION_PROBLEMS = {
    causes.TransactionProblem.UNREADABLE: "could not parse transaction stamp",
    causes.TransactionProblem.WRONG_HAND: "handId mismatch in transaction log:",
    causes.TransactionProblem.INVALID_ACTION: "invalid action in transaction log:",
}


def event_text(event: Event, names: Sequence[str], *, is_quiet: bool = False) -> bytes:
    """What is printed to standard error when something happens; nothing for events the reference does not know.

    Args:
        event: what happened.
        names: the players, by seat.
        is_quiet: leave out when the match finished.
    """
    match event:
        case LineSent(seat, at_us, line):
            return b"TO %d at %s %s" % (seat + 1, format_time(at_us).encode(), line)
        case LineReceived(seat, at_us, line):
            # Up to a NUL, as C prints it.
            return b"FROM %d at %s %s" % (seat + 1, format_time(at_us).encode(), line.split(b"\0")[0])
        case FaultSeen() | VersionDiffers():
            text = warning_text(event)
        case MatchStarted(at_us=at_us):
            text = f"STARTED at {format_time(at_us)}\n"
        case HandClosed(hand_number, used_us) if hand_number % _SECONDS_EVERY_HANDS == 0:
            text = "".join(
                f"Seconds cumulatively spent in match for seat {seat}: {used // 1000000}\n"
                for seat, used in enumerate(used_us)
            )
        case MatchEnded(cause=None):
            finished = "" if is_quiet else f"FINISHED at {format_time(event.asked_us)}\n"
            text = finished + format_score_line(event.totals, names)
        case MatchEnded():
            text = "" if event.cause is None else failure_text(event.cause)
        case _:
            return b""
    return text.encode("utf-8", "surrogateescape")


def warning_text(event: FaultSeen | VersionDiffers) -> str:
    """What is printed about a player that did something wrong, with its line end; empty where it is not a reply."""
    if isinstance(event, VersionDiffers):
        return "ERROR: this server is currently using version 2.0.0\n"
    if event.problem is None:
        return ""
    if event.problem in _WARNINGS:
        return f"WARNING: {_WARNINGS[event.problem]}\n"
    played, sent = event.fault.played, event.sent
    if played is None or sent is None:
        raise TypeError(f"no raise in {event!r}")
    change = "increased" if sent.hand_total < played.hand_total else "decreased"
    return f"WARNING: raise of {sent.hand_total} {change} to {played.hand_total}\n"


def failure_text(cause: Cause) -> str:
    """The text on standard error, with its line end."""
    match cause:
        # These two print a line as it came, with its end or without one, up to a NUL.
        case causes.NotStarted(problem=causes.StartProblem.UNREADABLE_VERSION):
            line = cause.line.split(b"\0")[0].decode("utf-8", "surrogateescape")
            return f"ERROR: invalid version string {line}"
        case causes.BadTransaction(problem, line):
            return f"ERROR: {_TRANSACTION_PROBLEMS[problem]} {line.split(chr(0), 1)[0]}"
        case _:
            return f"ERROR: {_sentence(cause)}\n"


def lonely_text(hosts: Sequence[str], ports: Sequence[tuple[Seat, int]], seconds: float) -> str:
    """What is said, once, when players stay away; the reference keeps silent.

    Args:
        hosts: the addresses listened on.
        ports: the seats that nobody has come to, with their ports.
        seconds: for how long.
    """
    where = " and ".join(f"seat {seat + 1} at port {port}" for seat, port in ports)
    said = f"# nobody has come for {where} in {seconds:g} s; listening on"
    if set(hosts) & {"0.0.0.0", "::"}:
        return f"{said} every address: a wrong address or port, or a firewall, may keep a player away.\n"
    listening = "every address of this machine, for this machine alone" if LOOPBACK in hosts else " and ".join(hosts)
    hint = "a player with another address does not get here; --host 0.0.0.0 or ACPC_DEALER_HOST=0.0.0.0 admits all"
    return f"{said} {listening}: {hint}.\n"


def _sentence(cause: Cause) -> str:
    match cause:
        case causes.NotStarted(seat, problem) if problem in _START_PROBLEMS:
            return _START_PROBLEMS[problem].format(seat + 1)
        case causes.OutOfTime(seat, is_replayed=is_replayed):
            return f"seat {seat + 1} ran out of time" + (" in transaction file" if is_replayed else "")
        case causes.NoAnswer(seat, waited_us, limit_us):
            return (
                f"could not get action from seat {seat + 1}\n"
                f"{waited_us / 1e6:.1f} seconds spent waiting; timeout {limit_us / 1e6:.1f}"
            )
        case causes.Unreachable(seat):
            return f"could not send state to seat {seat + 1}"
        case _:
            # The reference knows no such thing.
            seats = [f"seat {seat + 1}" for seat in range(MAX_PLAYERS)]
            return sentence_of(cause, seats, getattr(cause, "hand_number", 0)).removesuffix(".")
