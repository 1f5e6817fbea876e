"""What is wrong with a line of a bot: sans-I/O, one line at a time.

`judge_version` reads the first line, `Judge` every other, `judge_action` what follows the echoed state and its colon.
The judgement of record is the reference dealer's, as `protocol.DealerSession` has it: whether a line is a reply to the
present state at all, and to which action it amounts. This module finds the first wrong byte and names the mistake.

One rule decides the severity: what the reference dealer refuses, ignores, waits for or plays as something else is an
error; what it understands although the protocol does not allow it is a warning, because other dealers may not.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine import CALL, Action, ActionKind, BettingState, Game, IllegalAction, Rule, nearest_legal
from protocol import DealerSession, RemoteProtocolError
from protocol.actions import format_action, scan_action
from protocol.framing import MAX_LINE_BYTES
from protocol.match_state import scan_match_state
from protocol.session import VERSION, VERSION_LINE, BadState, Handshake, StaleReply


class Severity(enum.StrEnum):
    """How bad a finding is, the least first."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


_ECHO: Final = "Keep the line you received, cut CR and LF off its end, and send it back byte for byte before ':'."
_TOTALS: Final = (
    "The number after r is the total you will have put in during the whole hand, earlier rounds and blinds included: "
    "not the total of the round, and not what you add."
)
_LETTERS: Final = (
    "Send f for fold, c for call and check, r for bet and raise, in lower case and with nothing before it."
)


class Kind(enum.StrEnum):
    """A fault; its value is its name in reports.

    Attributes:
        advice: what to do about it, in sentences, unless a `Problem` says more.
        severity: the usual one; a mild situation lowers it.
    """

    advice: str
    severity: Severity

    def __new__(cls, name: str, advice: str = "", severity: Severity = Severity.ERROR) -> Kind:
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.advice = advice
        kind.severity = severity
        return kind

    # Coming and going
    NO_CONNECTION = "no-connection"
    SILENT = "silent"
    LEFT = "left", "A bot stays until the dealer closes: find out what made it leave at this state."
    CRASHED = "crashed", "See what it wrote last, and what is special about the state it was looking at."
    LINGERS = (
        "lingers",
        "Take a read that returns nothing for the end of the match: close, and end the program.",
        Severity.WARNING,
    )
    EXIT_CODE = (
        "exit-code",
        "End with exit code 0 when the dealer closes: tools take anything else for a failure.",
        Severity.WARNING,
    )
    FLOOD = "flood", "Send one reply to each question; print what is meant for you to stderr."
    # The version line
    NO_VERSION = (
        "no-version",
        "Send this line first, right after connecting, without waiting for the dealer to speak.",
    )
    VERSION_NUMBER = "version-number", "Use version 2.0.0 of the protocol, and name it.", Severity.WARNING
    VERSION_TEXT = "version-text", "Send exactly this line.", Severity.WARNING
    # Lines
    LINE_END = "line-end", r'End every line with "\r\n".', Severity.WARNING
    LINE_UNFINISHED = (
        "line-unfinished",
        r'End every line with "\r\n", and flush it where your language buffers what it sends.',
    )
    LINE_TOO_LONG = "line-too-long", "Send shorter lines, each with its own end."
    NUL_BYTE = (
        "nul-byte",
        "Send the characters of the text without the NUL that ends it: strlen() bytes in C.",
    )
    EMPTY_LINE = "empty-line", "Send one line end after a reply, not two; nothing else needs an answer."
    JUNK = (
        "junk",
        "Send nothing but replies; print what is meant for you to stderr, or begin the line with '#'.",
    )
    # When to answer
    UNASKED = (
        "unasked",
        "Answer only when it is your turn: play the betting from its start and see whose turn follows.",
    )
    UNASKED_FINAL = (
        "unasked-final",
        "Do not answer when the hand is over: all but one have folded, or the last round is done and hands are shown. "
        "After an all-in every remaining '/' comes at once, as in r20000c///.",
    )
    TWICE = "twice", "Answer every question once; make sure that nothing sends the reply again."
    OLD_STATE = "old-state", "Echo the state that asks: the last line received, not one kept from before."
    EARLY = (
        "early",
        "A line ends at LF; the CR before it is part of the end, not the end. Reads of a whole line that end at CR, as "
        "of Java's readLine(), are harmless.",
        Severity.NOTE,
    )
    TWO_PIECES = (
        "two-pieces",
        "Put the state, ':', the action and the line end into one buffer and send it in one call, or set TCP_NODELAY.",
        Severity.NOTE,
    )
    # The echo of the state
    ECHO_MISSING = "echo-missing", _ECHO
    ECHO_CUT = (
        "echo-cut",
        "TCP delivers bytes, not lines: collect what you receive until LF, take that as one line, and keep what "
        "follows it for the next.",
    )
    ECHO_CR = "echo-cr", "Cut CR and LF off the state before you add ':'."
    ECHO_CHANGED = "echo-changed"
    ECHO_REWRITTEN = "echo-rewritten", "", Severity.WARNING
    # The action
    ACTION_MISSING = "action-missing", "Put the action there: f, c, or r (in no-limit games with its size)."
    ACTION_UNKNOWN = "action-unknown", _LETTERS
    ACTION_LETTER = "action-letter", _LETTERS, Severity.WARNING
    ACTION_TAIL = "action-tail", "End the line right after the action.", Severity.WARNING
    LIMIT_SIZE = "limit-size", "Send r alone in limit games.", Severity.WARNING
    SIZE_MISSING = "size-missing", _TOTALS
    SIZE_UNREADABLE = (
        "size-unreadable",
        "Write the size as a whole number of chips in digits, with nothing after it: no point, no exponent.",
    )
    SIZE_UNUSUAL = (
        "size-unusual",
        "Write digits alone: no sign, no blank, no zero before them, and no point.",
        Severity.WARNING,
    )
    SIZE_TOO_SMALL = "size-too-small"
    SIZE_TOO_LARGE = "size-too-large"
    FOLD_REFUSED = (
        "fold-refused",
        "Send c where you have put in as much as every other player: a check costs nothing.",
    )
    RAISE_REFUSED = "raise-refused"


class Problem(NamedTuple):
    """What is wrong with one line, in any situation.

    Attributes:
        byte: the first wrong byte of the line, counted from 1; one past the last if something is missing; 0 without a
            line.
        wrong: in a sentence.
        expected: what should be there or should have been done; if empty, the answer to the open question.
        advice: in place of that of its kind.
    """

    kind: Kind
    byte: int
    wrong: str
    expected: str = ""
    advice: str = ""


@dataclass(slots=True)
class SentState:
    """A state that the dealer has sent, without its line end.

    Attributes:
        asks: whether the bot is to act.
        is_given_up: whether the dealer continued without a proper reply; a late one is no fault then.
    """

    text: bytes
    hand: int
    situation: str
    betting: BettingState
    asks: bool
    is_given_up: bool = False


class LineRole(enum.Enum):
    """What a line is to the question that is open."""

    ANSWER = "a dealer takes it for the answer"
    ATTEMPT = "it was meant as the answer, but a dealer ignores it and keeps waiting"
    FRAGMENT = "it answers a part of the state"
    REPEAT = "it answers a state that has been answered"
    OTHER = "it is not an answer"


class Judgement(NamedTuple):
    """What a line amounts to.

    Attributes:
        about: the state it belongs to; None if the dealer has sent none.
        action: what is played for it, if the match continues with it.
    """

    role: LineRole
    problems: tuple[Problem, ...] = ()
    about: SentState | None = None
    action: Action = CALL


def split_end(line: bytes) -> tuple[bytes, bytes]:
    """A line without its end, and the end: CR LF, LF, CR or nothing."""
    body = line.removesuffix(b"\n").removesuffix(b"\r")
    return body, line[len(body) :]


def first_difference(one: bytes, other: bytes) -> int:
    """Index of the first byte in which two texts differ; the shorter length if one begins with the other."""
    length = min(len(one), len(other))
    for index in range(length):
        if one[index] != other[index]:
            return index
    return length


def describe_legal(betting: BettingState) -> str:
    """The legal answers in words, such as ``f, c, or r with a size from 400 to 20000 (the total for the hand)``."""
    legal = betting.legal_actions()
    if not legal.can_raise:
        return "f or c" if legal.can_fold else "c"
    others = "f, c" if legal.can_fold else "c"
    if betting.game.is_limit:
        return f"{others} or r"
    if legal.raise_min == legal.raise_max:
        return f"{others} or r{legal.raise_min}"
    return f"{others}, or r with a size from {legal.raise_min} to {legal.raise_max} (the total for the hand)"


# ---- the version line and the end of any line

EXPECTED_VERSION: Final = r"VERSION:2.0.0\r\n"


def judge_version(line: bytes, game: Game) -> tuple[Problem, ...]:
    """Judge the first line of a bot."""
    session = DealerSession(game)
    session.receive_data(line.removesuffix(b"\n") + b"\n")
    body, _ = split_end(line)
    wanted = VERSION_LINE.rstrip()
    byte = first_difference(body, wanted) + 1
    problems = _judge_end(line)
    try:
        event = session.next_event()
    except RemoteProtocolError:
        what = "does not name the version"
        if _is_comment(line):
            what = "is a comment"
        wrong = f"the first line {what}; a dealer refuses the bot and ends the match"
        return Problem(Kind.NO_VERSION, byte, wrong, EXPECTED_VERSION), *problems
    assert isinstance(event, Handshake)
    if not event.is_supported:
        named = ".".join(map(str, event.version))
        wrong = f"the bot names version {named}; the reference dealer complains and continues, others refuse it"
        return *problems, Problem(Kind.VERSION_NUMBER, byte, wrong, EXPECTED_VERSION)
    if body != wanted:
        numbers = ".".join(map(str, VERSION))
        wrong = f"the line is not exactly version {numbers}; the reference dealer accepts it, others may not"
        return *problems, Problem(Kind.VERSION_TEXT, byte, wrong, EXPECTED_VERSION)
    return problems


def _judge_end(line: bytes) -> tuple[Problem, ...]:
    end = split_end(line)[1]
    if end == b"\r\n":
        return ()
    if end == b"\n":
        wrong = "the line ends with LF alone; the reference dealer takes it, the protocol asks for CR LF"
        return (Problem(Kind.LINE_END, len(line), wrong, r"\r\n"),)
    what = "has no end"
    if end:
        what = "ends with CR alone"
    wrong = f"the line {what}; a dealer waits for LF until the bot's time is up"
    return (Problem(Kind.LINE_UNFINISHED, len(line) + 1, wrong, r"\r\n"),)


def _is_comment(line: bytes) -> bool:
    return line.startswith((b"#", b";"))


# ---- any other line

_FIELDS: Final = 5
"""Fields of a state, separated by colons; an action is the sixth of a reply."""
_BARE_ACTION: Final = re.compile(rb"(?i):?[ \t]*(fold|call|check|raise|bet|all-?in|[fckrbx])[ \t:]*[0-9]*")
_LEAST_PART: Final = 8
"""Bytes needed to recognize part of a state if no action follows."""
_PARTS: Final = (
    ("the header", ""),
    ("the position", " The position changes from hand to hand: read it off every state."),
    ("the hand number", " The hand number is the dealer's: do not count yourself."),
    (
        "the betting",
        " Echo the betting of the state that asks, not the one you expect next, nor with your own action in it.",
    ),
    (
        "the cards",
        " Leave cards in the order and the case of letters in which they came, and every '|' and '/' in its place.",
    ),
)
"""The fields of a state, and what to do if they differ."""
_NO_REPLIES: Final = (Kind.LINE_TOO_LONG, Kind.NUL_BYTE, Kind.EMPTY_LINE, Kind.JUNK)


def expected_answer(asked: SentState | None) -> str:
    """Describe the answer to the open question."""
    if asked is None:
        return "nothing: no answer is due"
    return f"the state, ':', and {describe_legal(asked.betting)}"


class Judge:
    """Judges every line after the first of one connection, by the states that were sent before it.

    Attributes:
        sent: all states by their texts.
        latest: the last of them.
        asked: the state whose answer is awaited, if any.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.sent: dict[bytes, SentState] = {}
        self.latest: SentState | None = None
        self.asked: SentState | None = None

    def judge(self, line: bytes) -> Judgement:
        """Judge a line, given with its end."""
        judgement = self._judge_line(line)
        problems = judgement.problems
        if judgement.role is not LineRole.OTHER or any(one.kind not in _NO_REPLIES for one in problems):
            # The end of a line that is no reply is not judged as well.
            problems += _judge_end(line)
        complete = []
        for problem in problems:
            if not problem.expected:
                problem = problem._replace(expected=expected_answer(self.asked))
            complete.append(problem)
        about = judgement.about or self.asked or self.latest
        return judgement._replace(problems=tuple(complete), about=about)

    def _judge_line(self, line: bytes) -> Judgement:
        asked = self.asked
        is_comment = _is_comment(line)
        if len(line) >= MAX_LINE_BYTES and not line.endswith(b"\n"):
            what = "comment" if is_comment else "line"
            wrong = (
                f"the {what} has more than {MAX_LINE_BYTES} bytes; "
                "a dealer cuts it there and takes the rest for a new line"
            )
            expected = f"at most {MAX_LINE_BYTES} bytes, the line end included"
            return _other(Problem(Kind.LINE_TOO_LONG, MAX_LINE_BYTES, wrong, expected))
        if is_comment:
            return Judgement(LineRole.OTHER)
        body, _ = split_end(line)
        nul = body.find(b"\0")
        if asked is not None and nul > len(asked.text) + 1 and body.startswith(asked.text + b":"):
            start = len(asked.text) + 1
            action, problems = judge_action(body[start:nul], start + 1, asked.betting)
            wrong = "a NUL byte follows the action; the reference dealer reads the line up to it, others may not"
            return Judgement(LineRole.ANSWER, (*problems, Problem(Kind.ACTION_TAIL, nul + 1, wrong)), action=action)
        if nul >= 0:
            role = LineRole.OTHER
            if asked is not None and asked.text in body:
                role = LineRole.ATTEMPT
            wrong = "the line holds a NUL byte; a dealer reads the line only up to it"
            return Judgement(role, (Problem(Kind.NUL_BYTE, nul + 1, wrong),))
        if not body:
            return _other(Problem(Kind.EMPTY_LINE, 1, "the line is empty; a dealer ignores it and keeps waiting"))
        fields = body.split(b":")
        head = b":".join(fields[:_FIELDS])
        known = self.sent.get(head)
        if known is not None and known is not asked:
            return _judge_stale(known)
        if asked is None:
            return _other(_judge_stray(body, self.latest))
        if known is asked and len(fields) > _FIELDS:
            action, problems = judge_action(body[len(head) + 1 :], len(head) + 2, asked.betting)
            return Judgement(LineRole.ANSWER, problems, action=action)
        if body.startswith(asked.text):
            return Judgement(LineRole.ANSWER, (_judge_after_echo(body, len(asked.text)),))
        return _judge_other_echo(body, asked, self.game)


def _other(problem: Problem) -> Judgement:
    return Judgement(LineRole.OTHER, (problem,))


def _judge_stale(known: SentState) -> Judgement:
    if known.is_given_up:
        return Judgement(LineRole.OTHER, about=known)
    if known.asks:
        return Judgement(LineRole.REPEAT, about=known)
    byte = len(known.text) + 1
    if known.betting.finished:
        wrong = "no answer is due to the last state of a hand; a dealer ignores the answer"
        problem = Problem(Kind.UNASKED_FINAL, byte, wrong, "nothing: the hand is over")
    else:
        acting = known.betting.acting_position
        wrong = f"in this state position {acting} is to act, not the bot; a dealer ignores the answer"
        problem = Problem(Kind.UNASKED, byte, wrong, f"nothing: position {acting} is to act")
    return Judgement(LineRole.OTHER, (problem,), known)


def _judge_after_echo(body: bytes, end: int) -> Problem:
    rest = body[end:]
    if rest.startswith(b"\r"):
        wrong = "the echo holds the CR of the dealer's line; a dealer finds no action after the state and plays a call"
        return Problem(Kind.ECHO_CR, end + 1, wrong)
    if not rest:
        wrong = "the state came back without an action; a dealer plays a call"
        advice = "Add ':' and the action. If they went out as a line of their own, cut LF off the state first."
    else:
        wrong = "':' must follow the state; a dealer finds no action there and plays a call"
        advice = "Put ':' and nothing else between the state and the action."
    return Problem(Kind.ACTION_MISSING, end + 1, wrong, advice=advice)


def _judge_other_echo(body: bytes, asked: SentState, game: Game) -> Judgement:
    session = DealerSession(game)
    session.receive_data(VERSION_LINE)
    session.next_event()
    session.send(asked.text + b"\r\n", is_question=True)
    session.receive_data(body + b"\r\n")
    is_read = not isinstance(session.next_event(), BadState | StaleReply)
    wanted = asked.text + b":"
    at = first_difference(body, wanted)
    field = min(asked.text[:at].count(b":"), _FIELDS - 1)
    part, advice = _PARTS[field]
    received = "the line ends before"
    if at < len(body):
        received = f"{chr(body[at])!a} in place of"
    differs = f"in {part}, {received} {chr(wanted[at])!a}"
    if is_read:
        wrong = (
            f"the echo differs from the state {differs}; the reference dealer takes it for the same state, "
            "others compare bytes"
        )
        problem = Problem(Kind.ECHO_REWRITTEN, at + 1, wrong, advice=_ECHO + advice)
        scanned = scan_match_state(body.decode("latin-1"), game)
        assert scanned is not None
        _, end = scanned
        if body[end : end + 1] != b":":
            return Judgement(LineRole.ANSWER, (problem, _judge_after_echo(body, end)))
        action, problems = judge_action(body[end + 1 :], end + 2, asked.betting)
        return Judgement(LineRole.ANSWER, (problem, *problems), action=action)
    problem = _judge_stray(body, asked)
    role = LineRole.OTHER
    if problem.kind is Kind.ECHO_CUT:
        role = LineRole.FRAGMENT
    elif body.strip(b" \t")[:5].upper() == b"MATCH":
        role = LineRole.ATTEMPT
        wrong = f"the echo is not the state: it differs {differs}; a dealer ignores the line and keeps waiting"
        problem = Problem(Kind.ECHO_CHANGED, at + 1, wrong, advice=_ECHO + advice)
    # Behind a colon it is the rest of a reply whose first part has been taken for the answer already.
    elif problem.kind is Kind.ECHO_MISSING and not body.startswith(b":"):
        role = LineRole.ATTEMPT
    return Judgement(role, (problem,), action=_attempted_action(body, asked.betting))


def _judge_stray(body: bytes, about: SentState | None) -> Problem:
    if about is not None and (cut := _judge_cut(body, about)) is not None:
        return cut
    if _BARE_ACTION.fullmatch(body.strip()):
        return Problem(Kind.ECHO_MISSING, 1, "this is an action without its state; a dealer ignores the line")
    return Problem(Kind.JUNK, 1, "the line is neither a reply nor a comment; a dealer ignores it")


def _judge_cut(body: bytes, about: SentState) -> Problem | None:
    head, _, action = body.rpartition(b":")
    if len(body) >= _LEAST_PART and (about.text.startswith(body) or not _BARE_ACTION.fullmatch(action)):
        head = body
    elif not _BARE_ACTION.fullmatch(action):
        return None
    start = about.text.find(head)
    if not head or start < 0 or head == about.text:
        return None
    if start:
        which = f"those from {start + 1} to {start + len(head)}"
        byte = 1
    else:
        which = f"the first {len(head)}"
        byte = len(head) + 1
    wrong = f"the state has {len(about.text)} bytes, and only {which} came back; a dealer ignores the line"
    return Problem(Kind.ECHO_CUT, byte, wrong)


def _attempted_action(body: bytes, betting: BettingState) -> Action:
    text = body.rpartition(b":")[2].strip().decode("latin-1")
    scanned = scan_action(text, 0, betting.game.is_limit)
    if scanned is None:
        return CALL
    action, _ = scanned
    if action is None or betting.after_if_legal(action) is None:
        return CALL
    return action


# ---- the action

_PLAIN_SIZE: Final = re.compile(r"0|[1-9][0-9]*")
_SAME_SIZE: Final = re.compile(r"([ \t]*\+?[0-9]+)(\.0*)?")
"""Texts that the reference dealer reads as the number that a person would read."""
_AFTER_SIZE: Final = re.compile(r"([ \t]++(?![0-9]).*)?", re.DOTALL)
"""Texts that belong to no number before them."""
_MOST_CHIPS: Final = 2**31 - 1
_SHOWN: Final = 20
_REFUSED: Final = {
    Rule.RAISE_CAP: "Count the raises after the last '/' (blinds do not count) and stop at the number the game allows "
    "for that round.",
    Rule.ACTION_LIMIT: "The protocol carries 64 actions a round: call where the actions of the round and the players "
    "together are more than that.",
    Rule.NOBODY_TO_RAISE: "Call or fold if all others have folded or are all-in.",
    Rule.STACK_TOO_SMALL: "Call: that puts your whole stack in.",
}
_HINTS: Final = {"x": " (check is c)", "a": " (all-in is r with the size of your stack)", "p": " (pass is f or c)"}


def judge_action(tail: bytes, start: int, betting: BettingState) -> tuple[Action, tuple[Problem, ...]]:
    """Judge the bytes after the colon: what a dealer plays for them, and what is wrong with them.

    Args:
        tail: these bytes, without the line end.
        start: number of the first of them in its line, counted from 1.
        betting: the betting of the state that asked.
    """
    action, problems = _judge_action_text(tail.decode("latin-1"), start, betting.game.is_limit)
    if action is not None and (refused := _judge_by_the_rules(action, start, betting)) is not None:
        problems.append(refused)
    played = CALL
    if action is not None:
        played = nearest_legal(action, betting)
    expected = describe_legal(betting)
    return played, tuple([problem._replace(expected=expected) for problem in problems])


def _judge_action_text(text: str, start: int, is_limit: bool) -> tuple[Action | None, list[Problem]]:
    scanned = scan_action(text, 0, is_limit)
    if scanned is None:
        wrong = f"{_quote(text)} is a raise without a size; a dealer plays a call for it"
        return None, [Problem(Kind.SIZE_MISSING, start + 1, wrong)]
    action, end = scanned
    if action is None:
        return None, [_unknown_letter(text, start)]
    problems = []
    rest = text[1:]
    if text[0] not in "fcr":
        meant = format_action(action)[0]
        wrong = f"{text[0]!r} is not a letter of the protocol; the reference dealer takes it for {meant!r}, "
        problems.append(Problem(Kind.ACTION_LETTER, start, f"{wrong}others may not"))
    if action.kind is ActionKind.RAISE and not is_limit:
        problems += _judge_size_text(rest, start, end, action)
    elif rest and action.kind is ActionKind.RAISE and rest.strip().isdecimal():
        wrong = f"{_quote(rest)} follows r, but in a limit game the rules fix the size; a dealer ignores it"
        problems.append(Problem(Kind.LIMIT_SIZE, start + 1, wrong))
    elif rest:
        wrong = f"{_quote(rest)} follows the action; the reference dealer ignores it, others may not"
        problems.append(Problem(Kind.ACTION_TAIL, start + 1, wrong))
    return action, problems


def _unknown_letter(text: str, start: int) -> Problem:
    if not text:
        return Problem(Kind.ACTION_MISSING, start, "nothing follows the colon; a dealer plays a call")
    what = f"{_quote(text)} begins no action{_HINTS.get(text[0].lower(), '')}"
    if text[0] in " \t":
        what = "a blank precedes the action"
    return Problem(Kind.ACTION_UNKNOWN, start, f"{what}; a dealer plays a call for it")


def _judge_size_text(size: str, start: int, end: int, action: Action) -> list[Problem]:
    read = f"a dealer reads {action.hand_total}"
    plain = _PLAIN_SIZE.match(size)
    same = _SAME_SIZE.match(size)
    if same is not None and int(same[1]) <= _MOST_CHIPS and _AFTER_SIZE.fullmatch(rest := size[same.end() :]):
        problems = []
        if not _PLAIN_SIZE.fullmatch(same[0]):
            first = 1
            if _PLAIN_SIZE.fullmatch(same[1]):
                first = end
            wrong = f"{_quote(same[0])} is not a plain number, though {read}, as is meant"
            problems.append(Problem(Kind.SIZE_UNUSUAL, start + first, wrong))
        if rest:
            wrong = f"{_quote(rest)} follows the action; the reference dealer ignores it, others may not"
            problems.append(Problem(Kind.ACTION_TAIL, start + 1 + same.end(), wrong))
        return problems
    if plain and int(plain[0]) > _MOST_CHIPS:
        wrong = f"{_quote(size)} is beyond {_MOST_CHIPS}, the largest number a dealer can hold; {read}"
        return [Problem(Kind.SIZE_UNREADABLE, start + 1, wrong, advice=_TOTALS)]
    first = 1
    if plain and int(plain[0]) == action.hand_total:
        first = end
    return [Problem(Kind.SIZE_UNREADABLE, start + first, f"{_quote(size)} is not a whole number of chips; {read}")]


def _judge_by_the_rules(action: Action, start: int, betting: BettingState) -> Problem | None:
    try:
        betting.check(action)
        return None
    except IllegalAction as error:
        rule = error.rule
    legal = betting.legal_actions()
    size = action.hand_total
    if rule is Rule.NOTHING_TO_FOLD_TO:
        wrong = "there is nothing to call, so folding is not allowed; a dealer plays a check"
        return Problem(Kind.FOLD_REFUSED, start, wrong)
    if rule is Rule.BELOW_MINIMUM:
        wrong = f"the size {size} is below the smallest legal one; a dealer plays r{legal.raise_min}"
        return Problem(Kind.SIZE_TOO_SMALL, start + 1, wrong, advice=f"{_TOTALS}{_guess_meaning(size, betting)}")
    if rule is Rule.ABOVE_MAXIMUM:
        wrong = f"the size {size} is above the stack; a dealer plays r{legal.raise_max}"
        advice = f"All-in is r{legal.raise_max} here: the whole stack, including what is in the pot already."
        return Problem(Kind.SIZE_TOO_LARGE, start + 1, wrong, advice=advice)
    wrong = f"no raise is allowed here: {rule.value}; a dealer plays a call for it"
    return Problem(Kind.RAISE_REFUSED, start, wrong, advice=_REFUSED[rule])


def _guess_meaning(size: int, betting: BettingState) -> str:
    legal = betting.legal_actions()
    before = betting.spent_before_round[betting.acting_position]
    guesses = []
    on_top = betting.max_spent + size
    if legal.raise_min <= on_top <= legal.raise_max:
        guesses.append(f"r{on_top} if {size} was to come on top of the bet to call")
    total = before + size
    if before and legal.raise_min <= total <= legal.raise_max:
        guesses.append(f"r{total} if {size} was the total of this round")
    if not guesses:
        return ""
    return f" Here that is {', or '.join(guesses)}."


def _quote(text: str) -> str:
    if len(text) > _SHOWN:
        text = text[:_SHOWN] + "..."
    return ascii(text)
