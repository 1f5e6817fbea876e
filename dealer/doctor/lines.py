"""What is wrong with one line of a bot: sans-I/O, one line at a time.

`judge_version` reads the first line, `judge_line` every other. The judgement of record is the reference dealer's, as
`protocol.DealerSession` has it: whether a line is a reply to the present state at all, and to which action it amounts.
What is done here is to find the first wrong byte and the name of the mistake.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from dealer.doctor.actions import describe_legal, judge_action
from dealer.doctor.findings import Kind, Problem
from engine import CALL, Action, BettingState, Game
from protocol import DealerSession, RemoteProtocolError
from protocol.actions import scan_action
from protocol.framing import MAX_LINE_BYTES
from protocol.match_state import scan_match_state
from protocol.session import VERSION, VERSION_LINE, BadState, Handshake, StaleReply

__all__ = [
    "Outcome",
    "Role",
    "SentState",
    "Verdict",
    "expected_answer",
    "first_difference",
    "judge_line",
    "judge_version",
    "split_end",
]

_HEADER: Final = b"MATCH"
"""A line that begins like this was meant as a state."""
_FIELDS: Final = 5
"""Fields of a state, separated by colons; an action is the sixth of a reply."""

_BARE_ACTION: Final = re.compile(rb"(?i):?[ \t]*(fold|call|check|raise|bet|all-?in|[fckrbx])[ \t:]*[0-9]*")
_LEAST_PART: Final = 8
"""Bytes needed to recognize part of a state if no action follows."""

_PART_NAMES: Final = ("the header", "the position", "the hand number", "the betting", "the cards")
_PART_ADVICE: Final = (
    "",
    " The position changes from hand to hand: read it off every state.",
    " The hand number is the dealer's: do not count yourself.",
    " Echo the betting of the state that asks, not the one you expect next, nor with your own action in it.",
    " Leave cards in the order and the case of letters in which they came, and every '|' and '/' in its place.",
)

_NO_REPLIES: Final = frozenset({Kind.NUL_BYTE, Kind.EMPTY_LINE, Kind.JUNK})
"""Such a line's end is not judged as well."""

_ECHO: Final = "Keep the line you received, cut CR and LF off its end, and send it back byte for byte before ':'."
_FRAMING: Final = (
    "TCP delivers bytes, not lines: collect what you receive until LF, take that as one line, and keep what stands "
    "after it for the next."
)


class Role(enum.Enum):
    """What a state asks for."""

    ASKS = "asks the bot"
    TELLS = "tells what somebody did"
    ENDS = "ends the hand"


@dataclass(slots=True)
class SentState:
    """A state that the dealer has sent.

    Attributes:
        text: the line without its end.
        hand: number of the hand.
        situation: name of the situation.
        role: what it asks for.
        betting: its betting.
        is_answered: whether a reply to it has been accepted.
        is_given_up: whether the dealer went on without a proper reply; a late one is no fault then.
    """

    text: bytes
    hand: int
    situation: str
    role: Role
    betting: BettingState
    is_answered: bool = False
    is_given_up: bool = False


class Outcome(enum.Enum):
    """What a line is to the question that is open."""

    ANSWER = "a dealer takes it for the answer"
    ATTEMPT = "it was meant as the answer, but a dealer ignores it and keeps waiting"
    FRAGMENT = "it answers a part of the state"
    REPEAT = "it answers a state that has been answered"
    OTHER = "it is not an answer"


class Verdict(NamedTuple):
    """What a line amounts to.

    Attributes:
        outcome: what it is to the open question.
        problems: what is wrong with it.
        about: the state it belongs to; None if the dealer has sent none.
        action: what is played for it, if the match goes on with it.
    """

    outcome: Outcome
    problems: tuple[Problem, ...]
    about: SentState | None
    action: Action = CALL


def split_end(line: bytes) -> tuple[bytes, bytes]:
    """A line without its end, and the end: CR LF, LF, CR or nothing."""
    body = line.removesuffix(b"\n")
    body = body.removesuffix(b"\r")
    return body, line[len(body) :]


def first_difference(one: bytes, other: bytes) -> int:
    """Index of the first byte in which two texts differ; the shorter length if one begins with the other."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def judge_version(line: bytes, game: Game) -> tuple[Problem, ...]:
    """Judge the first line of a bot."""
    expected = r"VERSION:2.0.0\r\n"
    session = DealerSession(game)
    session.receive_data(line if line.endswith(b"\n") else line + b"\n")
    wanted = VERSION_LINE.rstrip()
    body, _ = split_end(line)
    byte = first_difference(body, wanted) + 1
    try:
        event = session.next_event()
    except RemoteProtocolError:
        if line[:1] in (b"#", b";"):
            wrong = "the first line is a comment; a dealer refuses the bot and ends the match"
        else:
            wrong = "the first line does not name the version; a dealer refuses the bot and ends the match"
        advice = "Send this line first, right after connecting, without waiting for the dealer to speak."
        return (Problem(Kind.NO_VERSION, byte, wrong, expected, advice), *_judge_end(line))
    assert isinstance(event, Handshake)
    problems = list(_judge_end(line))
    if not event.is_supported:
        named = ".".join(map(str, event.version))
        wrong = f"the bot speaks version {named}; the reference dealer complains and goes on, others refuse it"
        problems.append(Problem(Kind.VERSION_NUMBER, byte, wrong, expected, "Speak protocol 2.0.0 and say so."))
    elif body != wanted:
        numbers = ".".join(map(str, VERSION))
        wrong = f"the line says more or less than {numbers}; the reference dealer accepts it, others need not"
        problems.append(Problem(Kind.VERSION_TEXT, byte, wrong, expected, "Send exactly this line."))
    return tuple(problems)


def judge_line(
    line: bytes, asked: SentState | None, latest: SentState | None, sent: Mapping[bytes, SentState], game: Game
) -> Verdict:
    """Judge a line that arrived after the handshake.

    Args:
        line: the line as received, including its end.
        asked: the state whose answer is awaited, if any.
        latest: the last state that was sent.
        sent: all states of the match by their texts.
        game: the game played.
    """
    about = asked or latest
    too_long = _judge_length(line)
    if too_long is not None:
        return Verdict(Outcome.OTHER, (too_long,), about)
    body, _ = split_end(line)
    if body[:1] in (b"#", b";"):
        return Verdict(Outcome.OTHER, (), about)
    verdict = _judge_body(body, asked, latest, sent, game)
    if verdict.outcome is Outcome.OTHER and {problem.kind for problem in verdict.problems} <= _NO_REPLIES:
        return verdict
    return verdict._replace(problems=(*verdict.problems, *_judge_end(line)))


def _judge_length(line: bytes) -> Problem | None:
    if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
        return None
    what = "comment" if line[:1] in (b"#", b";") else "line"
    wrong = f"the {what} has more than {MAX_LINE_BYTES} bytes; a dealer cuts it there and takes the rest for a new line"
    expected = f"at most {MAX_LINE_BYTES} bytes, the line end included"
    return Problem(Kind.LINE_TOO_LONG, MAX_LINE_BYTES, wrong, expected, "Send shorter lines, each with its own end.")


def _judge_end(line: bytes) -> tuple[Problem, ...]:
    end = split_end(line)[1]
    if end == b"\n":
        wrong = "the line ends with LF alone; the reference dealer takes it, the protocol asks for CR LF"
        advice = r'End every line with "\r\n".'
        return (Problem(Kind.LINE_END, len(line), wrong, r"\r\n", advice),)
    if not end.endswith(b"\n"):
        lone = "ends with CR alone" if end else "has no end"
        wrong = f"the line {lone}; a dealer waits for LF until the bot's time is up"
        advice = r'End every line with "\r\n", and flush it where your language buffers what it sends.'
        return (Problem(Kind.LINE_UNFINISHED, len(line) + 1, wrong, r"\r\n", advice),)
    return ()


def _judge_body(
    body: bytes, asked: SentState | None, latest: SentState | None, sent: Mapping[bytes, SentState], game: Game
) -> Verdict:
    about = asked or latest
    expected = expected_answer(asked)
    nul = body.find(b"\0")
    if nul >= 0:
        wrong = "the line holds a NUL byte; a dealer reads the line only up to it"
        advice = "Send the characters of the text without the NUL that ends it: strlen() bytes in C."
        is_reply = asked is not None and asked.text in body
        outcome = Outcome.ATTEMPT if is_reply else Outcome.OTHER
        return Verdict(outcome, (Problem(Kind.NUL_BYTE, nul + 1, wrong, expected, advice),), about)
    if not body:
        wrong = "the line is empty; a dealer ignores it and keeps waiting"
        advice = "Send one line end after a reply, not two; nothing else needs an answer."
        return Verdict(Outcome.OTHER, (Problem(Kind.EMPTY_LINE, 1, wrong, expected, advice),), about)
    fields = body.split(b":")
    head = b":".join(fields[:_FIELDS])
    known = sent.get(head)
    if known is not None and known is not asked:
        return _judge_stale(body, known, asked)
    if asked is None:
        return Verdict(Outcome.OTHER, (_judge_stray(body, about, expected),), about)
    if known is asked and len(fields) > _FIELDS:
        action, problems = judge_action(body[len(head) + 1 :], len(head) + 2, asked.betting)
        return Verdict(Outcome.ANSWER, problems, asked, action)
    if body.startswith(asked.text):
        return Verdict(Outcome.ANSWER, (_judge_after_echo(body, len(asked.text), expected),), asked)
    return _judge_other_echo(body, asked, expected, game)


def expected_answer(asked: SentState | None) -> str:
    """What a bot should send, in words."""
    return "nothing: no answer is due" if asked is None else f"the state, ':', and {describe_legal(asked.betting)}"


def _judge_stale(body: bytes, known: SentState, asked: SentState | None) -> Verdict:
    """The echo of a state that is not the present one."""
    if known.is_given_up:
        return Verdict(Outcome.OTHER, (), known)
    if known.role is Role.ASKS:
        return Verdict(Outcome.REPEAT, (), known)
    byte = len(known.text) + 1
    if known.role is Role.ENDS:
        wrong = "this state ends its hand and asks nobody; a dealer ignores the answer"
        advice = (
            "Do not answer when the hand is over: all but one have folded, or the last round is done and hands are "
            "shown. After an all-in every remaining '/' comes at once, as in r20000c///."
        )
        problem = Problem(Kind.UNASKED_FINAL, byte, wrong, "nothing: the hand is over", advice)
    else:
        acting = known.betting.acting_position
        wrong = f"in this state position {acting} is to act, not the bot; a dealer ignores the answer"
        advice = "Answer only when it is your turn: play the betting from its start and see whose turn follows."
        problem = Problem(Kind.UNASKED, byte, wrong, f"nothing: position {acting} is to act", advice)
    return Verdict(Outcome.OTHER, (problem,), known)


def _judge_after_echo(body: bytes, end: int, expected: str) -> Problem:
    """The present state was echoed, but no ':' follows at its end."""
    byte = end + 1
    rest = body[end:]
    if rest.startswith(b"\r"):
        wrong = "the echo holds the CR of the dealer's line; a dealer finds no action after the state and plays a call"
        return Problem(Kind.ECHO_CR, byte, wrong, expected, "Cut CR and LF off the state before you add ':'.")
    if not rest:
        wrong = "the state came back without an action; a dealer plays a call"
        advice = "Add ':' and the action. If they went out as a line of their own, cut LF off the state first."
    else:
        wrong = "':' must follow the state; a dealer finds no action there and plays a call"
        advice = "Put ':' and nothing else between the state and the action."
    return Problem(Kind.ACTION_MISSING, byte, wrong, expected, advice)


def _judge_other_echo(body: bytes, asked: SentState, expected: str, game: Game) -> Verdict:
    """Neither the present state nor any other, byte for byte."""
    session = DealerSession(game)
    session.receive_data(VERSION_LINE)
    session.next_event()
    session.send(asked.text + b"\r\n", is_question=True)
    session.receive_data(body + b"\r\n")
    event = session.next_event()
    byte = first_difference(body, asked.text + b":") + 1
    attempt = _attempted_action(body, asked.betting)
    if not isinstance(event, BadState | StaleReply):
        return _judge_rewritten_echo(body, asked, expected, game)
    cut = _judge_cut(body, asked, expected)
    if cut is not None:
        return Verdict(Outcome.FRAGMENT, (cut,), asked, attempt)
    if body.strip(b" \t")[: len(_HEADER)].upper() == _HEADER:
        part = _part_of(asked.text, byte - 1)
        wrong = f"the echo is not the state: {_PART_NAMES[part]} differs, {_differing(body, asked.text, byte)}; "
        wrong += "a dealer ignores the line and keeps waiting"
        problem = Problem(Kind.ECHO_CHANGED, byte, wrong, expected, _ECHO + _PART_ADVICE[part])
        return Verdict(Outcome.ATTEMPT, (problem,), asked, attempt)
    stray = _judge_stray(body, asked, expected)
    # Behind a colon it is the rest of a reply whose first part has been taken for the answer already.
    is_attempt = stray.kind is Kind.ECHO_MISSING and not body.startswith(b":")
    return Verdict(Outcome.ATTEMPT if is_attempt else Outcome.OTHER, (stray,), asked, attempt)


def _judge_rewritten_echo(body: bytes, asked: SentState, expected: str, game: Game) -> Verdict:
    """The present state, but not byte for byte."""
    scanned = scan_match_state(body.decode("latin-1"), game)
    assert scanned is not None
    end = scanned[1]
    byte = first_difference(body, asked.text + b":") + 1
    part = _part_of(asked.text, byte - 1)
    wrong = f"the echo differs from the state in {_PART_NAMES[part]}, {_differing(body, asked.text, byte)}; the "
    wrong += "reference dealer takes it for the same state, others compare bytes"
    problem = Problem(Kind.ECHO_REWRITTEN, byte, wrong, expected, _ECHO + _PART_ADVICE[part])
    if body[end : end + 1] != b":":
        return Verdict(Outcome.ANSWER, (problem, _judge_after_echo(body, end, expected)), asked)
    action, problems = judge_action(body[end + 1 :], end + 2, asked.betting)
    return Verdict(Outcome.ANSWER, (problem, *problems), asked, action)


def _judge_stray(body: bytes, about: SentState | None, expected: str) -> Problem:
    """A line that replies to nothing."""
    cut = None if about is None else _judge_cut(body, about, expected)
    if cut is not None:
        return cut
    if _BARE_ACTION.fullmatch(body.strip()):
        wrong = "this is an action without its state; a dealer ignores the line"
        return Problem(Kind.ECHO_MISSING, 1, wrong, expected, _ECHO)
    wrong = "the line is neither a reply nor a comment; a dealer ignores it"
    advice = "Send nothing but replies; print what is meant for you to stderr, or begin the line with '#'."
    return Problem(Kind.JUNK, 1, wrong, expected, advice)


def _judge_cut(body: bytes, about: SentState, expected: str) -> Problem | None:
    """The echo of a part of a state, as a bot sends that takes what one read returns for a line."""
    head, _, action = body.rpartition(b":")
    if len(body) >= _LEAST_PART and (about.text.startswith(body) or not _BARE_ACTION.fullmatch(action)):
        head = body
    elif not _BARE_ACTION.fullmatch(action):
        return None
    start = about.text.find(head)
    if not head or start < 0 or head == about.text:
        return None
    whole = f"the state has {len(about.text)} bytes, and only"
    if start == 0:
        wrong = f"{whole} the first {len(head)} came back; a dealer ignores the line"
        return Problem(Kind.ECHO_CUT, len(head) + 1, wrong, expected, _FRAMING)
    wrong = f"{whole} those from {start + 1} to {start + len(head)} came back; a dealer ignores the line"
    return Problem(Kind.ECHO_CUT, 1, wrong, expected, _FRAMING)


def _attempted_action(body: bytes, betting: BettingState) -> Action:
    """What a bot meant whose line a dealer would not read: its action, where it is legal, else a call."""
    text = body.rpartition(b":")[2].strip().decode("latin-1")
    scanned = scan_action(text, 0, betting.game.is_limit)
    action = None if scanned is None else scanned[0]
    return CALL if action is None or betting.after_if_legal(action) is None else action


def _part_of(text: bytes, index: int) -> int:
    """Which field of a state the byte at `index` belongs to."""
    return min(text[:index].count(b":"), _FIELDS - 1)


def _differing(body: bytes, text: bytes, byte: int) -> str:
    """What stands at a byte, and what should."""
    found, wanted = body[byte - 1 : byte], (text + b":")[byte - 1 : byte]
    here = f"{found.decode('latin-1')!a} stands" if found else "the line ends"
    return f"{here} where {wanted.decode('latin-1')!a} should"
