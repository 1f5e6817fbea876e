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
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine import CALL, Action, ActionKind, BettingState, Game, IllegalAction, Rule, raise_to
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


class Kind(enum.StrEnum):
    """A fault; its value is its name in reports."""

    # Coming and going
    NO_CONNECTION = "no-connection"
    SILENT = "silent"
    LEFT = "left"
    CRASHED = "crashed"
    LINGERS = "lingers"
    EXIT_CODE = "exit-code"
    FLOOD = "flood"
    # The version line
    NO_VERSION = "no-version"
    VERSION_NUMBER = "version-number"
    VERSION_TEXT = "version-text"
    # Lines
    LINE_END = "line-end"
    LINE_UNFINISHED = "line-unfinished"
    LINE_TOO_LONG = "line-too-long"
    NUL_BYTE = "nul-byte"
    EMPTY_LINE = "empty-line"
    JUNK = "junk"
    # When to answer
    UNASKED = "unasked"
    UNASKED_FINAL = "unasked-final"
    TWICE = "twice"
    OLD_STATE = "old-state"
    EARLY = "early"
    # The echo of the state
    ECHO_MISSING = "echo-missing"
    ECHO_CUT = "echo-cut"
    ECHO_CR = "echo-cr"
    ECHO_CHANGED = "echo-changed"
    ECHO_REWRITTEN = "echo-rewritten"
    # The action
    ACTION_MISSING = "action-missing"
    ACTION_UNKNOWN = "action-unknown"
    ACTION_LETTER = "action-letter"
    ACTION_TAIL = "action-tail"
    LIMIT_SIZE = "limit-size"
    SIZE_MISSING = "size-missing"
    SIZE_UNREADABLE = "size-unreadable"
    SIZE_UNUSUAL = "size-unusual"
    SIZE_TOO_SMALL = "size-too-small"
    SIZE_TOO_LARGE = "size-too-large"
    FOLD_REFUSED = "fold-refused"
    RAISE_REFUSED = "raise-refused"

    @property
    def severity(self) -> Severity:
        """The usual severity; a mild situation lowers it."""
        return Severity.WARNING if self in _WARNINGS else Severity.ERROR


_WARNINGS: Final = (
    Kind.EXIT_CODE,
    Kind.VERSION_TEXT,
    Kind.LINE_END,
    Kind.ECHO_REWRITTEN,
    Kind.ACTION_LETTER,
    Kind.ACTION_TAIL,
    Kind.LIMIT_SIZE,
    Kind.SIZE_UNUSUAL,
)


class Problem(NamedTuple):
    """What is wrong with one line, in any situation.

    Attributes:
        byte: the first wrong byte of the line, counted from 1; one past the last if something is missing; 0 without a
            line.
        wrong, advice: in sentences.
        expected: what should be there or should have been done; if empty, the answer to the open question.
    """

    kind: Kind
    byte: int
    wrong: str
    advice: str
    expected: str = ""


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
        about: the state it belongs to; None if the dealer has sent none.
        action: what is played for it, if the match continues with it.
    """

    outcome: Outcome
    problems: tuple[Problem, ...] = ()
    about: SentState | None = None
    action: Action = CALL


def split_end(line: bytes) -> tuple[bytes, bytes]:
    """A line without its end, and the end: CR LF, LF, CR or nothing."""
    body = line.removesuffix(b"\n").removesuffix(b"\r")
    return body, line[len(body) :]


def first_difference(one: bytes, other: bytes) -> int:
    """Index of the first byte in which two texts differ; the shorter length if one begins with the other."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def describe_legal(betting: BettingState) -> str:
    """The legal answers in words, such as ``f, c, or r with a size from 400 to 20000 (the total for the hand)``."""
    legal = betting.legal_actions()
    letters = ["f"] * legal.can_fold + ["c"]
    if not legal.can_raise:
        return " or ".join(letters)
    if betting.game.is_limit:
        return f"{', '.join(letters)} or r"
    if legal.raise_min == legal.raise_max:
        return f"{', '.join(letters)} or r{legal.raise_min}"
    sizes = f"from {legal.raise_min} to {legal.raise_max} (the total for the hand)"
    return f"{', '.join(letters)}, or r with a size {sizes}"


# ---- the version line and the end of any line

EXPECTED_VERSION: Final = r"VERSION:2.0.0\r\n"


def judge_version(line: bytes, game: Game) -> tuple[Problem, ...]:
    """Judge the first line of a bot."""
    session = DealerSession(game)
    session.receive_data(line if line.endswith(b"\n") else line + b"\n")
    body, wanted = split_end(line)[0], VERSION_LINE.rstrip()
    byte = first_difference(body, wanted) + 1
    try:
        event = session.next_event()
    except RemoteProtocolError:
        what = "is a comment" if line[:1] in (b"#", b";") else "does not name the version"
        wrong = f"the first line {what}; a dealer refuses the bot and ends the match"
        advice = "Send this line first, right after connecting, without waiting for the dealer to speak."
        return (Problem(Kind.NO_VERSION, byte, wrong, advice, EXPECTED_VERSION), *_judge_end(line))
    assert isinstance(event, Handshake)
    problems = _judge_end(line)
    if not event.is_supported:
        named = ".".join(map(str, event.version))
        wrong = f"the bot names version {named}; the reference dealer complains and continues, others refuse it"
        advice = "Use version 2.0.0 of the protocol, and name it."
        problems.append(Problem(Kind.VERSION_NUMBER, byte, wrong, advice, EXPECTED_VERSION))
    elif body != wanted:
        numbers = ".".join(map(str, VERSION))
        wrong = f"the line is not exactly version {numbers}; the reference dealer accepts it, others may not"
        problems.append(Problem(Kind.VERSION_TEXT, byte, wrong, "Send exactly this line.", EXPECTED_VERSION))
    return tuple(problems)


def _judge_end(line: bytes) -> list[Problem]:
    end = split_end(line)[1]
    if end == b"\r\n":
        return []
    if end == b"\n":
        wrong = "the line ends with LF alone; the reference dealer takes it, the protocol asks for CR LF"
        return [Problem(Kind.LINE_END, len(line), wrong, r'End every line with "\r\n".', r"\r\n")]
    ends = "ends with CR alone" if end else "has no end"
    wrong = f"the line {ends}; a dealer waits for LF until the bot's time is up"
    advice = r'End every line with "\r\n", and flush it where your language buffers what it sends.'
    return [Problem(Kind.LINE_UNFINISHED, len(line) + 1, wrong, advice, r"\r\n")]


# ---- any other line

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
_ECHO: Final = "Keep the line you received, cut CR and LF off its end, and send it back byte for byte before ':'."
_FRAMING: Final = (
    "TCP delivers bytes, not lines: collect what you receive until LF, take that as one line, and keep what "
    "follows it for the next."
)
_NO_REPLIES: Final = (Kind.LINE_TOO_LONG, Kind.NUL_BYTE, Kind.EMPTY_LINE, Kind.JUNK)


def expected_answer(asked: SentState | None) -> str:
    """What a bot should send, in words."""
    return "nothing: no answer is due" if asked is None else f"the state, ':', and {describe_legal(asked.betting)}"


@dataclass(slots=True)
class Judge:
    """Judges every line after the first of one connection, by the states that were sent before it.

    Attributes:
        sent: all states by their texts.
        latest: the last of them.
        asked: the state whose answer is awaited, if any.
    """

    game: Game
    sent: dict[bytes, SentState] = field(default_factory=dict)
    latest: SentState | None = None
    asked: SentState | None = None

    def judge(self, line: bytes) -> Verdict:
        """Judge a line, given with its end."""
        verdict = self._judge_line(line)
        if verdict.outcome is not Outcome.OTHER or any(one.kind not in _NO_REPLIES for one in verdict.problems):
            # The end of a line that is no reply is not judged as well.
            verdict = verdict._replace(problems=(*verdict.problems, *_judge_end(line)))
        expected = expected_answer(self.asked)
        problems = [one if one.expected else one._replace(expected=expected) for one in verdict.problems]
        return verdict._replace(problems=tuple(problems), about=verdict.about or self.asked or self.latest)

    def _judge_line(self, line: bytes) -> Verdict:
        asked, about = self.asked, self.asked or self.latest
        is_comment = line[:1] in (b"#", b";")
        if len(line) >= MAX_LINE_BYTES and not line.endswith(b"\n"):
            what = f"the {'comment' if is_comment else 'line'} has more than {MAX_LINE_BYTES} bytes"
            wrong = f"{what}; a dealer cuts it there and takes the rest for a new line"
            expected = f"at most {MAX_LINE_BYTES} bytes, the line end included"
            advice = "Send shorter lines, each with its own end."
            return _other(Problem(Kind.LINE_TOO_LONG, MAX_LINE_BYTES, wrong, advice, expected))
        if is_comment:
            return Verdict(Outcome.OTHER)
        body = split_end(line)[0]
        nul = body.find(b"\0")
        if nul >= 0:
            wrong = "the line holds a NUL byte; a dealer reads the line only up to it"
            advice = "Send the characters of the text without the NUL that ends it: strlen() bytes in C."
            outcome = Outcome.ATTEMPT if asked is not None and asked.text in body else Outcome.OTHER
            return Verdict(outcome, (Problem(Kind.NUL_BYTE, nul + 1, wrong, advice),))
        if not body:
            wrong = "the line is empty; a dealer ignores it and keeps waiting"
            advice = "Send one line end after a reply, not two; nothing else needs an answer."
            return _other(Problem(Kind.EMPTY_LINE, 1, wrong, advice))
        fields = body.split(b":")
        head = b":".join(fields[:_FIELDS])
        known = self.sent.get(head)
        if known is not None and known is not asked:
            return _judge_stale(known)
        if asked is None:
            return _other(_judge_stray(body, about))
        if known is asked and len(fields) > _FIELDS:
            action, problems = judge_action(body[len(head) + 1 :], len(head) + 2, asked.betting)
            return Verdict(Outcome.ANSWER, problems, action=action)
        if body.startswith(asked.text):
            return Verdict(Outcome.ANSWER, (_judge_after_echo(body, len(asked.text)),))
        return _judge_other_echo(body, asked, self.game)


def _other(problem: Problem) -> Verdict:
    return Verdict(Outcome.OTHER, (problem,))


def _judge_stale(known: SentState) -> Verdict:
    if known.is_given_up:
        return Verdict(Outcome.OTHER, about=known)
    if known.asks:
        return Verdict(Outcome.REPEAT, about=known)
    if known.betting.finished:
        kind, expected = Kind.UNASKED_FINAL, "nothing: the hand is over"
        wrong = "no answer is due to the last state of a hand; a dealer ignores the answer"
        advice = (
            "Do not answer when the hand is over: all but one have folded, or the last round is done and hands are "
            "shown. After an all-in every remaining '/' comes at once, as in r20000c///."
        )
    else:
        acting = known.betting.acting_position
        kind, expected = Kind.UNASKED, f"nothing: position {acting} is to act"
        wrong = f"in this state position {acting} is to act, not the bot; a dealer ignores the answer"
        advice = "Answer only when it is your turn: play the betting from its start and see whose turn follows."
    return Verdict(Outcome.OTHER, (Problem(kind, len(known.text) + 1, wrong, advice, expected),), known)


def _judge_after_echo(body: bytes, end: int) -> Problem:
    kind, rest = Kind.ACTION_MISSING, body[end:]
    if rest.startswith(b"\r"):
        kind = Kind.ECHO_CR
        wrong = "the echo holds the CR of the dealer's line; a dealer finds no action after the state and plays a call"
        advice = "Cut CR and LF off the state before you add ':'."
    elif not rest:
        wrong = "the state came back without an action; a dealer plays a call"
        advice = "Add ':' and the action. If they went out as a line of their own, cut LF off the state first."
    else:
        wrong = "':' must follow the state; a dealer finds no action there and plays a call"
        advice = "Put ':' and nothing else between the state and the action."
    return Problem(kind, end + 1, wrong, advice)


def _judge_other_echo(body: bytes, asked: SentState, game: Game) -> Verdict:
    session = DealerSession(game)
    session.receive_data(VERSION_LINE)
    session.next_event()
    session.send(asked.text + b"\r\n", is_question=True)
    session.receive_data(body + b"\r\n")
    is_read = not isinstance(session.next_event(), BadState | StaleReply)
    wanted = asked.text + b":"
    at = first_difference(body, wanted)
    part = min(asked.text[:at].count(b":"), _FIELDS - 1)
    found = f"{chr(body[at])!a} in place of" if at < len(body) else "the line ends before"
    differs = f"in {_PART_NAMES[part]}, {found} {chr(wanted[at])!a}"
    advice = _ECHO + _PART_ADVICE[part]
    if is_read:
        wrong = f"the echo differs from the state {differs}; the reference dealer takes it for the same state, "
        wrong += "others compare bytes"
        problem = Problem(Kind.ECHO_REWRITTEN, at + 1, wrong, advice)
        scanned = scan_match_state(body.decode("latin-1"), game)
        assert scanned is not None
        end = scanned[1]
        if body[end : end + 1] != b":":
            return Verdict(Outcome.ANSWER, (problem, _judge_after_echo(body, end)))
        action, problems = judge_action(body[end + 1 :], end + 2, asked.betting)
        return Verdict(Outcome.ANSWER, (problem, *problems), action=action)
    attempt = _attempted_action(body, asked.betting)
    if body.strip(b" \t")[:5].upper() == b"MATCH" and _judge_cut(body, asked) is None:
        wrong = f"the echo is not the state: it differs {differs}; a dealer ignores the line and keeps waiting"
        return Verdict(Outcome.ATTEMPT, (Problem(Kind.ECHO_CHANGED, at + 1, wrong, advice),), action=attempt)
    stray = _judge_stray(body, asked)
    if stray.kind is Kind.ECHO_CUT:
        outcome = Outcome.FRAGMENT
    else:
        # Behind a colon it is the rest of a reply whose first part has been taken for the answer already.
        is_attempt = stray.kind is Kind.ECHO_MISSING and not body.startswith(b":")
        outcome = Outcome.ATTEMPT if is_attempt else Outcome.OTHER
    return Verdict(outcome, (stray,), action=attempt)


def _judge_stray(body: bytes, about: SentState | None) -> Problem:
    cut = None if about is None else _judge_cut(body, about)
    if cut is not None:
        return cut
    if _BARE_ACTION.fullmatch(body.strip()):
        return Problem(Kind.ECHO_MISSING, 1, "this is an action without its state; a dealer ignores the line", _ECHO)
    wrong = "the line is neither a reply nor a comment; a dealer ignores it"
    advice = "Send nothing but replies; print what is meant for you to stderr, or begin the line with '#'."
    return Problem(Kind.JUNK, 1, wrong, advice)


def _judge_cut(body: bytes, about: SentState) -> Problem | None:
    head, _, action = body.rpartition(b":")
    if len(body) >= _LEAST_PART and (about.text.startswith(body) or not _BARE_ACTION.fullmatch(action)):
        head = body
    elif not _BARE_ACTION.fullmatch(action):
        return None
    start = about.text.find(head)
    if not head or start < 0 or head == about.text:
        return None
    which = f"those from {start + 1} to {start + len(head)}" if start else f"the first {len(head)}"
    wrong = f"the state has {len(about.text)} bytes, and only {which} came back; a dealer ignores the line"
    return Problem(Kind.ECHO_CUT, 1 if start else len(head) + 1, wrong, _FRAMING)


def _attempted_action(body: bytes, betting: BettingState) -> Action:
    text = body.rpartition(b":")[2].strip().decode("latin-1")
    scanned = scan_action(text, 0, betting.game.is_limit)
    action = None if scanned is None else scanned[0]
    return CALL if action is None or betting.after_if_legal(action) is None else action


# ---- the action

_PLAIN_SIZE: Final = re.compile(r"0|[1-9][0-9]*")
_SAME_SIZE: Final = re.compile(r"[ \t]*\+?[0-9]+")
"""Texts that the reference dealer reads as the number that a person would read."""
_MOST_CHIPS: Final = 2**31 - 1
_SHOWN: Final = 20
_TOTALS: Final = (
    "The number after r is the total you will have put in during the whole hand, earlier rounds and blinds included: "
    "not the total of the round, and not what you add."
)
_LETTERS: Final = (
    "Send f for fold, c for call and check, r for bet and raise, in lower case and with nothing before it."
)
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
    action, problems = _judge_action_text(tail.decode("latin-1"), start, betting)
    if action is None:
        action = CALL
    else:
        action, refused = _judge_by_the_rules(action, start, betting)
        problems += refused
    return action, tuple([problem._replace(expected=describe_legal(betting)) for problem in problems])


def _judge_action_text(text: str, start: int, betting: BettingState) -> tuple[Action | None, list[Problem]]:
    scanned, is_limit = scan_action(text, 0, betting.game.is_limit), betting.game.is_limit
    if scanned is None:
        wrong = f"{_quote(text)} is a raise without a size; a dealer plays a call for it"
        return None, [Problem(Kind.SIZE_MISSING, start + 1, wrong, _TOTALS)]
    action, end = scanned
    if action is None:
        return None, [_unknown_letter(text, start)]
    problems = []
    if text[0] not in "fcr":
        meant = format_action(action)[0]
        wrong = f"{text[0]!r} is not a letter of the protocol; the reference dealer takes it for {meant!r}, "
        problems.append(Problem(Kind.ACTION_LETTER, start, f"{wrong}others may not", _LETTERS))
    rest = text[1:]
    if action.kind is ActionKind.RAISE and not is_limit:
        problems += _judge_size_text(rest, start, end, action)
    elif rest and action.kind is ActionKind.RAISE and rest.strip().isdecimal():
        wrong = f"{_quote(rest)} follows r, but in a limit game the rules fix the size; a dealer ignores it"
        problems.append(Problem(Kind.LIMIT_SIZE, start + 1, wrong, "Send r alone in limit games."))
    elif rest:
        wrong = f"{_quote(rest)} follows the action; the reference dealer ignores it, others may not"
        problems.append(Problem(Kind.ACTION_TAIL, start + 1, wrong, "End the line right after the action."))
    return action, problems


def _unknown_letter(text: str, start: int) -> Problem:
    if not text:
        advice = "Put the action there: f, c, or r (in no-limit games with its size)."
        return Problem(Kind.ACTION_MISSING, start, "nothing follows the colon; a dealer plays a call", advice)
    what = f"{_quote(text)} begins no action{_HINTS.get(text[0].lower(), '')}"
    what = "a blank precedes the action" if text[0] in " \t" else what
    return Problem(Kind.ACTION_UNKNOWN, start, f"{what}; a dealer plays a call for it", _LETTERS)


def _judge_size_text(size: str, start: int, end: int, action: Action) -> list[Problem]:
    read, plain = f"a dealer reads {action.hand_total}", _PLAIN_SIZE.match(size)
    if _SAME_SIZE.fullmatch(size) and int(size) <= _MOST_CHIPS:
        if _PLAIN_SIZE.fullmatch(size):
            return []
        wrong = f"{_quote(size)} is not a plain number, though {read}, as is meant"
        advice = "Write digits alone: no sign, no blank, no zero before them."
        return [Problem(Kind.SIZE_UNUSUAL, start + 1, wrong, advice)]
    if plain and int(plain[0]) > _MOST_CHIPS:
        wrong = f"{_quote(size)} is beyond {_MOST_CHIPS}, the largest number a dealer can hold; {read}"
        return [Problem(Kind.SIZE_UNREADABLE, start + 1, wrong, _TOTALS)]
    wrong = f"{_quote(size)} is not a whole number of chips; {read}"
    advice = "Write the size as a whole number of chips in digits, with nothing after it: no point, no exponent."
    first = end if plain and int(plain[0]) == action.hand_total else 1
    return [Problem(Kind.SIZE_UNREADABLE, start + first, wrong, advice)]


def _judge_by_the_rules(action: Action, start: int, betting: BettingState) -> tuple[Action, list[Problem]]:
    try:
        betting.check(action)
        return action, []
    except IllegalAction as error:
        rule = error.rule
    legal, size, byte = betting.legal_actions(), action.hand_total, start + 1
    if rule is Rule.NOTHING_TO_FOLD_TO:
        kind, byte, played = Kind.FOLD_REFUSED, start, CALL
        wrong = "there is nothing to call, so folding is not allowed; a dealer plays a check"
        advice = "Send c where you have put in as much as every other player: a check costs nothing."
    elif rule is Rule.BELOW_MINIMUM:
        kind, played = Kind.SIZE_TOO_SMALL, raise_to(legal.raise_min)
        wrong = f"the size {size} is below the smallest legal one; a dealer plays r{legal.raise_min}"
        advice = f"{_TOTALS}{_guess_meaning(size, betting)}"
    elif rule is Rule.ABOVE_MAXIMUM:
        kind, played = Kind.SIZE_TOO_LARGE, raise_to(legal.raise_max)
        wrong = f"the size {size} is above the stack; a dealer plays r{legal.raise_max}"
        advice = f"All-in is r{legal.raise_max} here: the whole stack, including what is in the pot already."
    else:
        kind, byte, played = Kind.RAISE_REFUSED, start, CALL
        wrong = f"no raise is allowed here: {rule.value}; a dealer plays a call for it"
        advice = _REFUSED[rule]
    return played, [Problem(kind, byte, wrong, advice)]


def _guess_meaning(size: int, betting: BettingState) -> str:
    legal = betting.legal_actions()
    before = betting.spent_before_round[betting.acting_position]
    meanings = [(betting.max_spent + size, "was to come on top of the bet to call")]
    if before:
        meanings.append((before + size, "was the total of this round"))
    guesses = [
        f"r{total} if {size} {meaning}" for total, meaning in meanings if legal.raise_min <= total <= legal.raise_max
    ]
    return f" Here that is {', or '.join(guesses)}." if guesses else ""


def _quote(text: str) -> str:
    return ascii(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
