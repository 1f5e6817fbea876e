"""Judge the lines of a bot one at a time, without I/O.

`judge_version` reads the first line, `Judge` every other one, and `judge_action` the text after the echoed state.
`protocol.DealerSession` decides, like the reference dealer, whether a line is a reply and which action it means. This
module finds the first wrong byte and names the fault.

A fault is an error if the reference dealer refuses or ignores the line, waits for more, or plays another action. It is
a warning if the reference dealer understands a line that the protocol does not allow, because other dealers may not.
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
    """Severity of a finding, in ascending order."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


_ECHO: Final = "Keep the line as received, without CR and LF, and send it back byte for byte before ':'."
_TOTALS: Final = (
    "The number after r is your total for the whole hand, including earlier rounds and blinds. It is neither the total "
    "for the round nor the amount that you add."
)
_LETTERS: Final = (
    "Send f for fold, c for call and check, r for bet and raise, in lower case and with nothing before it."
)


class Kind(enum.StrEnum):
    """Kind of fault; its value is its name in reports.

    Attributes:
        advice: remedy, in sentences, unless a `Problem` has its own.
        severity: severity in most situations; a mild situation lowers it.
    """

    advice: str
    severity: Severity

    def __new__(cls, name: str, advice: str = "", severity: Severity = Severity.ERROR) -> Kind:
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.advice = advice
        kind.severity = severity
        return kind

    # Connection
    NO_CONNECTION = "no-connection"
    SILENT = "silent"
    LEFT = "left", "Stay connected until the dealer closes the connection. Find out why the bot left at this state."
    CRASHED = "crashed", "Look at the last output of the bot, and at what is special about the state."
    LINGERS = (
        "lingers",
        "When a read returns nothing, the match is over. Close the connection and exit.",
        Severity.WARNING,
    )
    EXIT_CODE = (
        "exit-code",
        "Exit with code 0 when the dealer closes the connection. Tools treat any other code as a failure.",
        Severity.WARNING,
    )
    FLOOD = "flood", "Send one reply to each question. Print your own messages to stderr."
    # The version line
    NO_VERSION = (
        "no-version",
        "Send this line first, right after connecting, without waiting for the dealer.",
    )
    VERSION_NUMBER = "version-number", "Use version 2.0.0 of the protocol and send its number.", Severity.WARNING
    VERSION_TEXT = "version-text", "Send exactly this line.", Severity.WARNING
    # Lines
    LINE_END = "line-end", r'End every line with "\r\n".', Severity.WARNING
    LINE_UNFINISHED = (
        "line-unfinished",
        r'End every line with "\r\n", and flush the output if your language buffers it.',
    )
    LINE_TOO_LONG = "line-too-long", "Send shorter lines, each with its own line end."
    NUL_BYTE = (
        "nul-byte",
        "Send the text without the NUL that terminates it, in C strlen() bytes.",
    )
    EMPTY_LINE = "empty-line", "Send one line end after a reply, not two, and reply only to questions."
    JUNK = (
        "junk",
        "Send nothing but replies. Print your own messages to stderr, or begin the line with '#'.",
    )
    # Turns
    UNASKED = (
        "unasked",
        "Answer only when it is your turn. Replay the betting of the state to find out whose turn it is.",
    )
    UNASKED_FINAL = (
        "unasked-final",
        "Do not answer when the hand is over, that is, when all but one have folded or the last round is complete. "
        "After an all-in, all remaining '/' come at once, as in r20000c///.",
    )
    TWICE = "twice", "Answer every question once, and make sure that nothing sends the reply again."
    OLD_STATE = "old-state", "Echo the state of the question, which is the last line received, not an earlier one."
    EARLY = (
        "early",
        "A line ends at LF, and the CR before it is part of the line end. A function that reads a whole line up to CR, "
        "such as Java's readLine(), is harmless.",
        Severity.NOTE,
    )
    TWO_PIECES = (
        "two-pieces",
        "Send the state, ':', the action and the line end in one call, or set TCP_NODELAY.",
        Severity.NOTE,
    )
    # The echo of the state
    ECHO_MISSING = "echo-missing", _ECHO
    ECHO_CUT = (
        "echo-cut",
        "TCP delivers bytes, not lines. Collect bytes until LF, treat them as one line, and keep the rest for the next "
        "line.",
    )
    ECHO_CR = "echo-cr", "Cut CR and LF off the state before you add ':'."
    ECHO_CHANGED = "echo-changed"
    ECHO_REWRITTEN = "echo-rewritten", "", Severity.WARNING
    # The action
    ACTION_MISSING = "action-missing", "Put the action after the colon: f, c, or r (in no-limit games with its size)."
    ACTION_UNKNOWN = "action-unknown", _LETTERS
    ACTION_LETTER = "action-letter", _LETTERS, Severity.WARNING
    ACTION_TAIL = "action-tail", "End the line right after the action.", Severity.WARNING
    LIMIT_SIZE = "limit-size", "Send r alone in limit games.", Severity.WARNING
    SIZE_MISSING = "size-missing", _TOTALS
    SIZE_UNREADABLE = (
        "size-unreadable",
        "Write the size as a whole number of chips in digits, without point or exponent.",
    )
    SIZE_UNUSUAL = (
        "size-unusual",
        "Write digits only, without sign, space, leading zero or point.",
        Severity.WARNING,
    )
    SIZE_TOO_SMALL = "size-too-small"
    SIZE_TOO_LARGE = "size-too-large"
    FOLD_REFUSED = (
        "fold-refused",
        "Send c when there is nothing to call. A check costs nothing.",
    )
    RAISE_REFUSED = "raise-refused"


class Problem(NamedTuple):
    """Fault of one line.

    Attributes:
        byte: number of the first wrong byte, from 1; one past the last byte if something is missing; 0 without a line.
        wrong: description of the fault, a sentence without its full stop.
        expected: correct text or behaviour; if empty, the answer to the open question.
        advice: remedy, in place of the one of its kind.
    """

    kind: Kind
    byte: int
    wrong: str
    expected: str = ""
    advice: str = ""


@dataclass(slots=True)
class SentState:
    """State that the dealer has sent.

    Attributes:
        text: the state without its line end.
        asks: the bot is to act.
        is_given_up: the dealer continued without a valid reply, so that a late one is no fault.
    """

    text: bytes
    hand: int
    situation: str
    betting: BettingState
    asks: bool
    is_given_up: bool = False


class LineRole(enum.Enum):
    """Relation of a line to the open question."""

    ANSWER = "a dealer accepts it as the answer"
    ATTEMPT = "it is meant as the answer, but a dealer ignores it and keeps waiting"
    FRAGMENT = "it answers part of the state"
    REPEAT = "it answers a state that is answered already"
    OTHER = "it is not an answer"


class Judgement(NamedTuple):
    """Judgement of a line.

    Attributes:
        about: the state to which it belongs; None if the dealer has sent none.
        action: the action that is played if the match continues with this line.
    """

    role: LineRole
    problems: tuple[Problem, ...] = ()
    about: SentState | None = None
    action: Action = CALL


def split_end(line: bytes) -> tuple[bytes, bytes]:
    """Split a line into its text and its end, which is CR LF, LF, CR or empty."""
    body = line.removesuffix(b"\n").removesuffix(b"\r")
    return body, line[len(body) :]


def first_difference(first: bytes, second: bytes) -> int:
    """Return the index of the first differing byte, or the shorter length if one text begins with the other."""
    length = min(len(first), len(second))
    for index in range(length):
        if first[index] != second[index]:
            return index
    return length


def describe_legal(betting: BettingState) -> str:
    """Describe the legal answers, as in ``f, c, or r with a size from 400 to 20000 (the total for the hand)``."""
    legal = betting.legal_actions()
    if not legal.can_raise:
        return "f or c" if legal.can_fold else "c"
    passive = "f, c" if legal.can_fold else "c"
    if betting.game.is_limit:
        return f"{passive} or r"
    if legal.raise_min == legal.raise_max:
        return f"{passive} or r{legal.raise_min}"
    return f"{passive}, or r with a size from {legal.raise_min} to {legal.raise_max} (the total for the hand)"


# ---- the version line and the end of any line

EXPECTED_VERSION: Final = r"VERSION:2.0.0\r\n"


def judge_version(line: bytes, game: Game) -> tuple[Problem, ...]:
    """Judge the first line of a bot."""
    session = DealerSession(game)
    # With a line end, so that the session reads an unfinished line as well.
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
        wrong = f"the first line {what}, so a dealer refuses the bot and ends the match"
        return Problem(Kind.NO_VERSION, byte, wrong, EXPECTED_VERSION), *problems
    assert isinstance(event, Handshake)
    if not event.is_supported:
        named = ".".join(map(str, event.version))
        wrong = f"the bot sends version {named}; the reference dealer warns and continues, but others refuse it"
        return *problems, Problem(Kind.VERSION_NUMBER, byte, wrong, EXPECTED_VERSION)
    if body != wanted:
        numbers = ".".join(map(str, VERSION))
        wrong = f"the line is not exactly version {numbers}; the reference dealer accepts it, but others may not"
        return *problems, Problem(Kind.VERSION_TEXT, byte, wrong, EXPECTED_VERSION)
    return problems


def _judge_end(line: bytes) -> tuple[Problem, ...]:
    end = split_end(line)[1]
    if end == b"\r\n":
        return ()
    if end == b"\n":
        wrong = "the line ends with LF alone; the reference dealer accepts it, but the protocol requires CR LF"
        return (Problem(Kind.LINE_END, len(line), wrong, r"\r\n"),)
    what = "has no line end"
    if end:
        what = "ends with CR alone"
    wrong = f"the line {what}, so a dealer waits for LF until the bot's time is up"
    return (Problem(Kind.LINE_UNFINISHED, len(line) + 1, wrong, r"\r\n"),)


def _is_comment(line: bytes) -> bool:
    return line.startswith((b"#", b";"))


# ---- any other line

_FIELDS: Final = 5
"""Fields of a state, separated by colons; an action is the sixth of a reply."""
_BARE_ACTION: Final = re.compile(rb"(?i):?[ \t]*(fold|call|check|raise|bet|all-?in|[fckrbx])[ \t:]*[0-9]*")
_MIN_PART_BYTES: Final = 8
"""Bytes needed to recognise part of a state if no action follows."""
_PARTS: Final = (
    ("the header", ""),
    ("the position", " The position changes from hand to hand. Read it from every state."),
    ("the hand number", " The dealer chooses the hand number. Do not count hands yourself."),
    (
        "the betting",
        " Echo the betting of the question, not the betting after your own action.",
    ),
    (
        "the cards",
        " Leave the order and the case of the cards unchanged, and every '|' and '/' in its place.",
    ),
)
"""Fields of a state, each with advice for an echo that differs there."""
_NO_REPLIES: Final = (Kind.LINE_TOO_LONG, Kind.NUL_BYTE, Kind.EMPTY_LINE, Kind.JUNK)


def expected_answer(asked: SentState | None) -> str:
    """Describe the answer to the open question."""
    if asked is None:
        return "nothing, because no answer is due"
    return f"the state, ':', and {describe_legal(asked.betting)}"


class Judge:
    """Judges the lines after the first of a connection.

    Attributes:
        sent: all states that were sent, by text.
        latest: the last of them.
        asked: the state of the open question; None if no answer is due.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.sent: dict[bytes, SentState] = {}
        self.latest: SentState | None = None
        self.asked: SentState | None = None

    def judge(self, line: bytes) -> Judgement:
        """Judge a line with its end."""
        judgement = self._judge_line(line)
        problems = judgement.problems
        if judgement.role is not LineRole.OTHER or any(problem.kind not in _NO_REPLIES for problem in problems):
            # One fault is enough for a line that is no reply.
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
                "a dealer cuts it there and reads the rest as a new line"
            )
            expected = f"at most {MAX_LINE_BYTES} bytes, including the line end"
            return _other(Problem(Kind.LINE_TOO_LONG, MAX_LINE_BYTES, wrong, expected))
        if is_comment:
            return Judgement(LineRole.OTHER)
        body, _ = split_end(line)
        nul = body.find(b"\0")
        if asked is not None and nul > len(asked.text) + 1 and body.startswith(asked.text + b":"):
            start = len(asked.text) + 1
            action, problems = judge_action(body[start:nul], start + 1, asked.betting)
            wrong = "a NUL byte follows the action; the reference dealer reads the line up to it, but others may not"
            return Judgement(LineRole.ANSWER, (*problems, Problem(Kind.ACTION_TAIL, nul + 1, wrong)), action=action)
        if nul >= 0:
            role = LineRole.OTHER
            if asked is not None and asked.text in body:
                role = LineRole.ATTEMPT
            wrong = "the line contains a NUL byte; a dealer reads the line only up to it"
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
        problem = Problem(Kind.UNASKED_FINAL, byte, wrong, "nothing, because the hand is over")
    else:
        acting = known.betting.acting_position
        wrong = f"in this state position {acting} is to act, not the bot; a dealer ignores the answer"
        problem = Problem(Kind.UNASKED, byte, wrong, f"nothing, because position {acting} is to act")
    return Judgement(LineRole.OTHER, (problem,), known)


def _judge_after_echo(body: bytes, end: int) -> Problem:
    rest = body[end:]
    if rest.startswith(b"\r"):
        wrong = "the echo contains the CR of the dealer's line; a dealer finds no action after it and plays a call"
        return Problem(Kind.ECHO_CR, end + 1, wrong)
    if not rest:
        wrong = "the state came back without an action; a dealer plays a call"
        advice = "Add ':' and the action. If they are sent as a separate line, remove LF from the state first."
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
            f"the echo differs from the state {differs}; the reference dealer accepts it as the same state, "
            "but others compare bytes"
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
        wrong = f"the echo differs from the state {differs}; a dealer ignores the line and keeps waiting"
        problem = Problem(Kind.ECHO_CHANGED, at + 1, wrong, advice=_ECHO + advice)
    # After a colon, it is the rest of a reply whose first part was already accepted as the answer.
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
    if len(body) >= _MIN_PART_BYTES and (about.text.startswith(body) or not _BARE_ACTION.fullmatch(action)):
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
"""Texts of which the reference dealer reads the obvious number."""
_AFTER_SIZE: Final = re.compile(r"([ \t]++(?![0-9]).*)?", re.DOTALL)
"""Texts after a size that do not continue the number."""
_MAX_CHIPS: Final = 2**31 - 1
_MAX_QUOTED: Final = 20
_REFUSED: Final = {
    Rule.RAISE_CAP: "Count the raises after the last '/' (blinds do not count) and stop at the number the game allows "
    "for that round.",
    Rule.ACTION_LIMIT: "The protocol allows 64 actions per round. Call when the actions of the round and the players "
    "together exceed that.",
    Rule.NOBODY_TO_RAISE: "Call or fold if all others have folded or are all-in.",
    Rule.STACK_TOO_SMALL: "Call, which puts your whole stack in.",
}
_HINTS: Final = {"x": " (check is c)", "a": " (all-in is r with the size of your stack)", "p": " (pass is f or c)"}


def judge_action(tail: bytes, start: int, betting: BettingState) -> tuple[Action, tuple[Problem, ...]]:
    """Judge the text after the colon of a reply.

    Args:
        tail: the text without the line end.
        start: number of its first byte in the line, from 1.
        betting: betting of the question.

    Returns:
        The action that a dealer plays, and the faults of the text.
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
        wrong = f"{text[0]!r} is not a letter of the protocol; the reference dealer reads it as {meant!r}, "
        problems.append(Problem(Kind.ACTION_LETTER, start, f"{wrong}but others may not"))
    if action.kind is ActionKind.RAISE and not is_limit:
        problems += _judge_size_text(rest, start, end, action)
    elif rest and action.kind is ActionKind.RAISE and rest.strip().isdecimal():
        wrong = f"{_quote(rest)} follows r; a dealer ignores it, because the rules of a limit game fix the size"
        problems.append(Problem(Kind.LIMIT_SIZE, start + 1, wrong))
    elif rest:
        wrong = f"{_quote(rest)} follows the action; the reference dealer ignores it, but others may not"
        problems.append(Problem(Kind.ACTION_TAIL, start + 1, wrong))
    return action, problems


def _unknown_letter(text: str, start: int) -> Problem:
    if not text:
        return Problem(Kind.ACTION_MISSING, start, "nothing follows the colon, so a dealer plays a call")
    what = f"{_quote(text)} does not begin with an action{_HINTS.get(text[0].lower(), '')}"
    if text[0] in " \t":
        what = "a space precedes the action"
    return Problem(Kind.ACTION_UNKNOWN, start, f"{what}; a dealer plays a call for it")


def _judge_size_text(size: str, start: int, end: int, action: Action) -> list[Problem]:
    read = f"a dealer reads {action.hand_total}"
    plain = _PLAIN_SIZE.match(size)
    same = _SAME_SIZE.match(size)
    if same is not None and int(same[1]) <= _MAX_CHIPS and _AFTER_SIZE.fullmatch(rest := size[same.end() :]):
        problems = []
        if not _PLAIN_SIZE.fullmatch(same[0]):
            first = 1
            if _PLAIN_SIZE.fullmatch(same[1]):
                first = end
            wrong = f"{_quote(same[0])} is not a plain number, although {read} as intended"
            problems.append(Problem(Kind.SIZE_UNUSUAL, start + first, wrong))
        if rest:
            wrong = f"{_quote(rest)} follows the action; the reference dealer ignores it, but others may not"
            problems.append(Problem(Kind.ACTION_TAIL, start + 1 + same.end(), wrong))
        return problems
    if plain and int(plain[0]) > _MAX_CHIPS:
        wrong = f"{_quote(size)} exceeds {_MAX_CHIPS}, the largest number of a dealer; {read}"
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
        wrong = "a fold is not allowed because there is nothing to call; a dealer plays a check"
        return Problem(Kind.FOLD_REFUSED, start, wrong)
    if rule is Rule.BELOW_MINIMUM:
        wrong = f"the size {size} is below the smallest legal one; a dealer plays r{legal.raise_min}"
        return Problem(Kind.SIZE_TOO_SMALL, start + 1, wrong, advice=f"{_TOTALS}{_guess_meaning(size, betting)}")
    if rule is Rule.ABOVE_MAXIMUM:
        wrong = f"the size {size} is above the stack; a dealer plays r{legal.raise_max}"
        advice = f"All-in is r{legal.raise_max} here, the whole stack including your chips in the pot."
        return Problem(Kind.SIZE_TOO_LARGE, start + 1, wrong, advice=advice)
    wrong = f"no raise is allowed here: {rule.value}; a dealer plays a call for it"
    return Problem(Kind.RAISE_REFUSED, start, wrong, advice=_REFUSED[rule])


def _guess_meaning(size: int, betting: BettingState) -> str:
    legal = betting.legal_actions()
    before = betting.spent_before_round[betting.acting_position]
    guesses = []
    on_top = betting.max_spent + size
    if legal.raise_min <= on_top <= legal.raise_max:
        guesses.append(f"r{on_top} if {size} was meant on top of the bet to call")
    total = before + size
    if before and legal.raise_min <= total <= legal.raise_max:
        guesses.append(f"r{total} if {size} was meant as the total for this round")
    if not guesses:
        return ""
    return f" Here that is {', or '.join(guesses)}."


def _quote(text: str) -> str:
    if len(text) > _MAX_QUOTED:
        text = text[:_MAX_QUOTED] + "..."
    return ascii(text)
