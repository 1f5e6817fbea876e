"""What goes with a log: times from a transaction log, comments from a file of comments or the dealer's transcript.

    c 0 1795227485.694648 1795227485.694758                        match.tlog
    {"hand_number": 0, "seat": 1, "action_index": 0, "text": ...}  match.comments
    TO 2 at 1795227485.694648 MATCHSTATE:1:0::|9hQd                the dealer's standard error, without -q
    FROM 2 at 1795227485.694700 # I have queen high
    FROM 2 at 1795227485.694758 MATCHSTATE:1:0::|9hQd:c

All are read together with the log, hand by hand. They add to the hands and never stop the reading: where they are
damaged or have different actions, the hand stays without times, and that is reported.

`notes_of_hand` finds those of a single hand by halving: the lines of a hand are consecutive, the hands in the order of
the log.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, starmap
from operator import attrgetter, itemgetter
from typing import IO, Final

from engine import BettingState, Seat
from engine.text import clean
from logs.errors import LogProblem, ProblemKind
from logs.files import opened, stem
from logs.record import PlayerComment, Times
from logs.transaction_log import CompanionLines, parse_comment, parse_own_lines, parse_transactions
from protocol.actions import format_action
from protocol.match_state import HEADER

_MOST_CHARACTERS: Final = 1 << 14
"""Of a line."""
_BLOCK_CHARACTERS: Final = 1 << 16
_NOT_ACCEPTED: Final = ("WARNING: bad state format in response", "WARNING: ignoring un-requested response")
"""The dealer's words about a reply that it ignores."""
_Report = Callable[[LogProblem], None]


class HandNotes:
    """Times and comments of the hands of a log, asked for in the order of the log."""

    def __init__(
        self,
        transactions: _HandCursor | None,
        comments: _HandCursor | None,
        transcript: _HandCursor | None,
        report: _Report,
    ) -> None:
        self._transactions = transactions
        self._comments = comments
        self._transcript = transcript
        self._report = report

    def notes(
        self, hand_number: int, betting: BettingState, text: str = ""
    ) -> tuple[tuple[Times, ...], tuple[PlayerComment, ...]]:
        """The times of a hand's actions, none if unknown for all of them, and its comments.

        `text`, the betting as a dealer writes it, spares a walk through the betting to compare it.
        """
        times: tuple[Times, ...] = ()
        comments: tuple[PlayerComment, ...] = ()
        for cursor in filter(None, (self._transactions, self._comments, self._transcript)):
            hand = cursor.find(hand_number)
            if hand is not None:
                comments = comments or tuple([one for one in hand.comments if one.seat < betting.game.num_players])
                if not times and cursor is not self._comments:
                    times = self._checked(hand, betting, text, cursor.path)
        return times, comments

    def _checked(self, hand: CompanionLines, betting: BettingState, text: str, path: str) -> tuple[Times, ...]:
        if hand.actions is not None and "".join(hand.actions) == text.replace("/", ""):
            return tuple(hand.times)
        actions = tuple([format_action(action) for actions in betting.rounds for _, action in actions])
        if len(hand.times) == len(actions) and hand.actions in (None, actions):
            return tuple(hand.times)
        problem = f"hand {hand.hand_number} has different actions here and in the log, so it stays without times"
        self._report(LogProblem(path, hand.line, None, problem, ProblemKind.NOTED))
        return ()


class _HandCursor:
    """Walks through the hands of a companion file as the log continues."""

    def __init__(self, path: str, hands: Iterator[CompanionLines]) -> None:
        self.path = path
        self._hands = hands
        self._next = next(hands, None)

    def find(self, hand_number: int) -> CompanionLines | None:
        """The hand with this number, if it comes before one with a higher number."""
        while self._next is not None and self._next.hand_number < hand_number:
            self._next = next(self._hands, None)
        found = self._next
        if found is None or found.hand_number != hand_number:
            return None
        self._next = next(self._hands, None)
        return found


def companions(
    log_path: str | None, transcript_path: str | os.PathLike[str] | None, report: _Report, *, is_limit: bool
) -> HandNotes | None:
    """The times and comments next to a log and in a dealer's transcript; None when there are none.

    Raises:
        OSError: the transcript cannot be read.
    """
    transactions = comments = None
    if log_path is not None:
        path = f"{stem(log_path)}.tlog"
        if os.path.isfile(path):
            transactions = _HandCursor(path, _transaction_hands(_blocks(path), path, report, is_limit=is_limit))
        path = f"{stem(log_path)}.comments"
        if os.path.isfile(path):
            comments = _HandCursor(path, _commented_hands(_lines(path), path, report))
    transcript = None
    if transcript_path is not None:
        path = os.fspath(transcript_path)
        with opened(path):
            pass  # A wrong path is an error before the first hand, not in the middle.
        transcript = _HandCursor(path, _transcript_hands(path))
    if not (transactions or comments or transcript):
        return None
    return HandNotes(transactions, comments, transcript, report)


def begin_us(log_path: str) -> int | None:
    """When the first question of a match was asked, in microseconds of Unix time; None without a transaction log.

    Raises:
        LogError: the transaction log's compression is damaged.
        OSError: it cannot be read.
    """
    path = f"{stem(log_path)}.tlog"
    if not os.path.isfile(path):
        return None
    _, line = next(_lines(path), (1, ""))
    # The times are written alike whatever the action is.
    (transaction,) = parse_transactions([line], is_limit=False)
    if transaction.is_readable:
        return transaction.times.sent_us
    return None


def _blocks(path: str) -> Iterator[tuple[int, str]]:
    """A file in blocks of whole lines, each with the number of its first line, from 1.

    What a line has beyond a bound may be dropped.
    """
    with opened(path) as file:
        line_number = 1
        while block := file.read(_BLOCK_CHARACTERS):
            block += file.readline(_MOST_CHARACTERS)
            yield line_number, block
            line_number += block.count("\n")
            rest = block
            while not rest.endswith("\n") and (rest := file.readline(_MOST_CHARACTERS)):
                line_number += rest.endswith("\n")


def _lines_of(line_number: int, block: str) -> Iterator[tuple[int, str]]:
    """The lines of a block, each with its number; what a line has beyond a bound is dropped."""
    for number, line in enumerate(io.StringIO(block, newline="\n"), line_number):
        yield number, line[:_MOST_CHARACTERS]


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a file, numbered from 1; what a line has beyond a bound is dropped."""
    return chain.from_iterable(starmap(_lines_of, _blocks(path)))


def _transaction_hands(
    blocks: Iterable[tuple[int, str]], path: str, report: _Report, *, is_limit: bool
) -> Iterator[CompanionLines]:
    for _, parts in groupby(_transactions(blocks, path, report, is_limit=is_limit), attrgetter("hand_number")):
        hand, *others = parts
        for part in others:
            hand = hand._replace(actions=(*(hand.actions or ()), *(part.actions or ())), times=hand.times + part.times)
        yield hand


def _transactions(
    blocks: Iterable[tuple[int, str]], path: str, report: _Report, *, is_limit: bool
) -> Iterator[CompanionLines]:
    """The lines in blocks of hands; a hand may be in several."""
    for line_number, block in blocks:
        own = parse_own_lines(block, line_number, is_limit=is_limit)
        yield from _other_transactions(path, line_number, block, report, is_limit=is_limit) if own is None else own


def _other_transactions(
    path: str, line_number: int, block: str, report: _Report, *, is_limit: bool
) -> Iterator[CompanionLines]:
    for number, line in _lines_of(line_number, block):
        (transaction,) = parse_transactions([line], is_limit=is_limit)
        if transaction.action is None or transaction.hand_number < 0:
            kind = ProblemKind.SKIPPED if line.endswith("\n") else ProblemKind.HALF_WRITTEN
            report(LogProblem(path, number, None, f"{line.rstrip()[:60]!r} is not a transaction", kind))
            continue
        action = (format_action(transaction.action),)
        yield CompanionLines(number, transaction.hand_number, action, [transaction.times], [])


def _commented_hands(lines: Iterable[tuple[int, str]], path: str, report: _Report) -> Iterator[CompanionLines]:
    for number, found in groupby(_comments(lines, path, report), itemgetter(1)):
        numbers, _, comments = zip(*found, strict=True)
        yield CompanionLines(numbers[0], number, None, [], list(comments))


def _comments(lines: Iterable[tuple[int, str]], path: str, report: _Report) -> Iterator[tuple[int, int, PlayerComment]]:
    """The numbers of lines and hands, and the comments."""
    for line_number, line in lines:
        try:
            yield line_number, *parse_comment(line)
        except ValueError:
            kind = ProblemKind.SKIPPED if line.endswith("\n") else ProblemKind.HALF_WRITTEN
            report(LogProblem(path, line_number, None, f"{line.rstrip()[:60]!r} is not a comment", kind))


def _transcript_hands(path: str) -> Iterator[CompanionLines]:
    """The hands of a transcript: when each player was sent which state, and what it answered."""
    hand: CompanionLines | None = None
    asked: dict[int, tuple[int, int]] = {}
    """By seat, when the present state was sent, and how many actions it had."""
    reply: Times | None = None
    """The last reply, until the next line shows whether the dealer took it."""
    for line_number, line in _lines(path):
        if reply is not None and hand is not None and not line.startswith(_NOT_ACCEPTED):
            hand.times.append(reply)
        reply = None
        words = line.split(" ", 4)
        if len(words) < 5 or words[0] not in ("TO", "FROM") or words[2] != "at" or not words[1].isdecimal():
            continue
        seat = int(words[1]) - 1
        at_us = _time_us(words[3])
        text = words[4]
        if at_us is None:
            continue
        if words[0] == "TO":
            fields = text.split(":")
            if not text.startswith(HEADER) or len(fields) < 4 or not fields[2].isdecimal():
                continue
            if hand is None or hand.hand_number != int(fields[2]):
                if hand is not None:
                    yield hand
                hand = CompanionLines(line_number, int(fields[2]), None, [], [])
            asked[seat] = at_us, sum(map(fields[3].count, "fcr"))
        elif hand is not None and seat in asked:
            if text.startswith(("#", ";")):
                hand.comments.append(PlayerComment(Seat(seat), asked[seat][1], clean(text.rstrip("\r\n"))))
            else:
                reply = Times(asked[seat][0], at_us)
    if hand is not None:
        if reply is not None:
            hand.times.append(reply)
        yield hand


def _time_us(text: str) -> int | None:
    """Seconds with six decimals as microseconds."""
    seconds, _, fraction = text.partition(".")
    if len(fraction) != 6 or not (text.isascii() and seconds.isdecimal() and fraction.isdecimal()):
        return None
    return int(seconds) * 1000000 + int(fraction)


_MOST_DIGITS: Final = 18
"""Of the number of a hand."""


def notes_of_hand(path: str, number: int, betting: BettingState) -> tuple[tuple[Times, ...], tuple[PlayerComment, ...]]:
    """The times and the comments of a hand, as far as there are any next to its log."""
    tlog = f"{stem(path)}.tlog"
    comments = f"{stem(path)}.comments"
    block = "".join(_lines_at(tlog, number, _number_of_transaction))
    hands = _transaction_hands([(1, block)], tlog, _ignore, is_limit=betting.game.is_limit)
    commented = _commented_hands(enumerate(_lines_at(comments, number, _number_of_comment), 1), comments, _ignore)
    notes = HandNotes(_HandCursor(tlog, hands), _HandCursor(comments, commented), None, _ignore)
    return notes.notes(number, betting)


def _ignore(problem: LogProblem) -> None: ...


def _number_of_transaction(line: str) -> int | None:
    fields = line.split(" ", 2)
    number = fields[1] if len(fields) > 2 else ""
    if number.isascii() and number.isdigit() and len(number) < _MOST_DIGITS:
        return int(number)
    return None


def _number_of_comment(line: str) -> int | None:
    try:
        return parse_comment(line)[0]
    except ValueError:
        return None


def _lines_at(path: str, number: int, number_of: Callable[[str], int | None]) -> list[str]:
    """The whole lines of a hand in a file whose hands are in order; none where there is no such file."""
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed below; only that it is absent is no error)
    except FileNotFoundError:
        return []
    with file:
        low = 0
        high = file.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            found, end = _first_number(file, middle, high, number_of)
            if found is not None and found < number:
                low = end
            else:
                high = middle
        return _following(file, low, number, number_of)


def _first_number(
    file: IO[bytes], start: int, end: int, number_of: Callable[[str], int | None]
) -> tuple[int | None, int]:
    """The number of the first line that begins at a place or after it, and before another; and where that line ends."""
    _seek_line(file, start)
    while (at := file.tell()) < end and (line := file.readline()):
        found = number_of(_text_of(line))
        if found is not None:
            return found, at + len(line)
    return None, end


def _following(file: IO[bytes], start: int, number: int, number_of: Callable[[str], int | None]) -> list[str]:
    """The lines of a hand, the first of which begins at a place or is the first of a number after it."""
    _seek_line(file, start)
    lines: list[str] = []
    for text in map(_text_of, file):
        found = number_of(text) if text.endswith("\n") else None
        if found is not None and found > number:
            break
        if found == number:
            lines.append(text)
    return lines


def _seek_line(file: IO[bytes], start: int) -> None:
    """Go to the first line that begins at a place or after it."""
    file.seek(max(0, start - 1))
    if start:
        file.readline()


def _text_of(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")
