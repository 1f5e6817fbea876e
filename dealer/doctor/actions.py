"""What is wrong with the action of a reply: the bytes after the echoed state and its colon.

`judge_action` says what the reference dealer plays for these bytes, and lists every difference from an action as the
protocol writes it: ``f``, ``c``, ``r``, and in no-limit games ``r300``, whose size is the total for the hand.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dealer.doctor.findings import Kind, Problem
from engine import CALL, Action, ActionKind, BettingState, IllegalAction, Rule, raise_to
from protocol.actions import format_action, scan_action

__all__ = ["JudgedAction", "describe_legal", "judge_action"]

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


class JudgedAction(NamedTuple):
    """What a dealer plays for an answer, and what is wrong with the answer."""

    action: Action
    problems: tuple[Problem, ...]


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
    return (
        f"{', '.join(letters)}, or r with a size from {legal.raise_min} to {legal.raise_max} (the total for the hand)"
    )


def judge_action(tail: bytes, start: int, betting: BettingState) -> JudgedAction:
    """Judge the bytes after the colon.

    Args:
        tail: these bytes, without the line end.
        start: number of the first of them in its line, counted from 1.
        betting: the betting of the state that asked.
    """
    text = tail.decode("latin-1")
    is_limit = betting.game.is_limit
    expected = describe_legal(betting)
    scanned = scan_action(text, 0, is_limit)
    if scanned is None:
        wrong = f"{_quote(text)} is a raise without a size; a dealer plays a call for it"
        return JudgedAction(CALL, (Problem(Kind.SIZE_MISSING, start + 1, wrong, expected, _TOTALS),))
    action, end = scanned
    if action is None:
        return JudgedAction(CALL, (_unknown_letter(text, start, expected),))
    problems = []
    if text[0] not in "fcr":
        meant = format_action(action)[0]
        wrong = (
            f"{text[0]!r} is not a letter of the protocol; the reference dealer takes it for {meant!r}, others need not"
        )
        problems.append(Problem(Kind.ACTION_LETTER, start, wrong, expected, _LETTERS))
    if action.kind is ActionKind.RAISE and not is_limit:
        odd = _judge_size_text(text, start, end, action, expected)
        problems += [odd] if odd is not None else []
    elif end < len(text):
        problems.append(_judge_rest(text, start, action, expected))
    played, refused = _judge_by_the_rules(action, start, betting, expected)
    return JudgedAction(played, (*problems, *refused))


def _unknown_letter(text: str, start: int, expected: str) -> Problem:
    if not text:
        wrong = "nothing follows the colon; a dealer plays a call"
        advice = "Put the action there: f, c, or r (in no-limit games with its size)."
        return Problem(Kind.ACTION_MISSING, start, wrong, expected, advice)
    if text[0] in " \t":
        wrong = "a blank precedes the action; a dealer plays a call for it"
    else:
        hint = {"x": " (check is c)", "a": " (all-in is r with the size of your stack)", "p": " (pass is f or c)"}
        wrong = f"{_quote(text)} begins no action{hint.get(text[0].lower(), '')}; a dealer plays a call for it"
    return Problem(Kind.ACTION_UNKNOWN, start, wrong, expected, _LETTERS)


def _judge_size_text(text: str, start: int, end: int, action: Action, expected: str) -> Problem | None:
    """What is unusual about the text of a no-limit size."""
    size = text[1:]
    if _PLAIN_SIZE.fullmatch(size) and int(size) <= _MOST_CHIPS:
        return None
    read = f"a dealer reads {action.hand_total}"
    if _SAME_SIZE.fullmatch(size) and int(size) <= _MOST_CHIPS:
        wrong = f"{_quote(size)} is not a plain number, though {read}, as is meant"
        advice = "Write digits alone: no sign, no blank, no zero before them."
        return Problem(Kind.SIZE_UNUSUAL, start + 1, wrong, expected, advice)
    plain = _PLAIN_SIZE.match(size)
    if plain and int(plain[0]) > _MOST_CHIPS:
        wrong = f"{_quote(size)} is beyond {_MOST_CHIPS}, the largest number a dealer can hold; {read}"
        return Problem(Kind.SIZE_UNREADABLE, start + 1, wrong, expected, _TOTALS)
    wrong = f"{_quote(size)} is not a whole number of chips; {read}"
    advice = "Write the size as a whole number of chips in digits, with nothing after it: no point, no exponent."
    first = end if plain and int(plain[0]) == action.hand_total else 1
    return Problem(Kind.SIZE_UNREADABLE, start + first, wrong, expected, advice)


def _judge_rest(text: str, start: int, action: Action, expected: str) -> Problem:
    rest = text[1:]
    if action.kind is ActionKind.RAISE and rest.strip().isdecimal():
        wrong = f"{_quote(rest)} follows r, but in a limit game the rules fix the size; a dealer ignores it"
        return Problem(Kind.LIMIT_SIZE, start + 1, wrong, expected, "Send r alone in limit games.")
    wrong = f"{_quote(rest)} follows the action; the reference dealer ignores it, others need not"
    return Problem(Kind.ACTION_TAIL, start + 1, wrong, expected, "End the line right after the action.")


def _judge_by_the_rules(
    action: Action, start: int, betting: BettingState, expected: str
) -> tuple[Action, tuple[Problem, ...]]:
    """What is played for a readable action, and which rules it breaks."""
    try:
        betting.check(action)
    except IllegalAction as error:
        rule = error.rule
    else:
        return action, ()
    legal = betting.legal_actions()
    if rule is Rule.NOTHING_TO_FOLD_TO:
        wrong = "there is nothing to call here, so nobody may fold; a dealer plays a check for it"
        advice = "Send c where you have put in as much as everybody else: a check costs nothing."
        return CALL, (Problem(Kind.FOLD_REFUSED, start, wrong, expected, advice),)
    if rule is Rule.BELOW_MINIMUM:
        wrong = f"the size {action.hand_total} is below the smallest legal one; a dealer plays r{legal.raise_min}"
        advice = f"{_TOTALS}{_guess_meaning(action.hand_total, betting)}"
        problem = Problem(Kind.SIZE_TOO_SMALL, start + 1, wrong, expected, advice)
        return raise_to(legal.raise_min), (problem,)
    if rule is Rule.ABOVE_MAXIMUM:
        wrong = f"the size {action.hand_total} is above the stack; a dealer plays r{legal.raise_max}"
        advice = f"All-in is r{legal.raise_max} here: the whole stack, including what is in the pot already."
        problem = Problem(Kind.SIZE_TOO_LARGE, start + 1, wrong, expected, advice)
        return raise_to(legal.raise_max), (problem,)
    wrong = f"no raise is allowed here: {rule.value}; a dealer plays a call for it"
    return CALL, (Problem(Kind.RAISE_REFUSED, start, wrong, expected, _REFUSED[rule]),)


_REFUSED: Final = {
    Rule.RAISE_CAP: "Count the raises after the last '/' (blinds do not count) and stop at the number the game allows "
    "for that round.",
    Rule.ACTION_LIMIT: "The protocol carries 64 actions a round: call where the actions of the round and the players "
    "together are more than that.",
    Rule.NOBODY_TO_RAISE: "Call or fold if everybody else has folded or is all-in.",
    Rule.STACK_TOO_SMALL: "Call: that puts your whole stack in.",
}


def _guess_meaning(size: int, betting: BettingState) -> str:
    """The hand total of a size that is too small, had the bot meant one of the usual other things."""
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
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return ascii(shown)
