"""What the reference dealer prints about what ends a match, byte for byte."""

from __future__ import annotations

from dealer.match.causes import (
    BadTransaction,
    BotFailed,
    Cause,
    ConnectionClosed,
    EndedBeforeConnecting,
    InternalError,
    LeftBeforeVersion,
    NobodyLeft,
    NotConnected,
    NotReading,
    NotSent,
    NotWritten,
    OutOfTime,
    Silent,
    TooManyIdleLines,
    TransactionProblem,
    UnreadableVersion,
    VersionLate,
)

__all__ = ["failure_text"]

_TRANSACTION_PROBLEMS = {
    TransactionProblem.UNREADABLE: "could not parse transaction stamp",
    TransactionProblem.WRONG_HAND: "handId mismatch in transaction log:",
    TransactionProblem.INVALID_ACTION: "invalid action in transaction log:",
}


def failure_text(cause: Cause) -> str:
    """The text on standard error, with its line end."""
    match cause:
        # These two print a line as it came, with its end or without one, up to a NUL.
        case UnreadableVersion():
            line = cause.line.split(b"\0")[0].decode("utf-8", "surrogateescape")
            return f"ERROR: invalid version string {line}"
        case BadTransaction(problem, line):
            return f"ERROR: {_TRANSACTION_PROBLEMS[problem]} {line.split(chr(0), 1)[0]}"
        case _:
            return f"ERROR: {_sentence(cause)}\n"


def _sentence(cause: Cause) -> str:
    match cause:
        case NotConnected(seat):
            return f"timed out waiting for seat {seat + 1} to connect"
        case VersionLate(seat):
            return f"timed out waiting for seat {seat + 1} to name its version"
        case EndedBeforeConnecting(seat):
            return f"seat {seat + 1} ended before it connected"
        case LeftBeforeVersion(seat):
            return f"could not read version string from seat {seat + 1}"
        case OutOfTime(seat, is_replayed=is_replayed):
            return f"seat {seat + 1} ran out of time" + (" in transaction file" if is_replayed else "")
        case Silent(seat, waited_us, limit_us) | ConnectionClosed(seat, waited_us, limit_us):
            return (
                f"could not get action from seat {seat + 1}\n"
                f"{waited_us / 1e6:.1f} seconds spent waiting; timeout {limit_us / 1e6:.1f}"
            )
        case TooManyIdleLines(seat, hand_number, most):
            return f"seat {seat + 1} sent more than {most} lines that are no answers in hand {hand_number}"
        case NotReading(seat) | NotSent(seat):
            return f"could not send state to seat {seat + 1}"
        case BotFailed(seat, problem):
            return f"seat {seat + 1}: {problem}"
        case NotWritten(path, reason):
            return f"could not write {path or 'a log'}: {reason}"
        case InternalError(error_type, text):
            return f"internal error: {error_type}: {text}"
        case NobodyLeft():
            return "no player is left to act"
        case _:
            raise TypeError(f"no sentence for {cause!r}")
