"""Read the files that accompany a log: times of actions, and comments of players.

    c 0 1795227485.694648 1795227485.694758                        match.tlog
    {"hand_number": 0, "seat": 1, "action_index": 0, "text": ...}  match.comments
    TO 2 at 1795227485.694648 MATCHSTATE:1:0::|9hQd                transcript, the dealer's standard error without -q
    FROM 2 at 1795227485.694700 # I have queen high
    FROM 2 at 1795227485.694758 MATCHSTATE:1:0::|9hQd:c

They are read along with the log, hand by hand, and never end the reading. If lines are damaged or have other actions
than the log, the hand has no times, and that is reported.
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

_MAX_LINE_CHARACTERS: Final = 1 << 14
_MAX_DIGITS: Final = 17
"""Digits of the number of a hand."""
_BLOCK_CHARACTERS: Final = 1 << 16
_NOT_ACCEPTED: Final = ("WARNING: bad state format in response", "WARNING: ignoring un-requested response")
"""Beginnings of the reference dealer's messages about a reply that it ignores."""
_Report = Callable[[LogProblem], None]


class HandNotes:
    """Times and comments of the hands of a log, to be looked up in the order of the log."""

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
        """Return the times of a hand's actions, empty unless known for all of them, and its comments.

        Args:
            text: the betting as a dealer writes it. Times are compared faster with it than with `betting`.
        """
        times: tuple[Times, ...] = ()
        comments: tuple[PlayerComment, ...] = ()
        # A transcript is only used for what the files next to the log do not have.
        for cursor in (self._transactions, self._comments, self._transcript):
            if cursor is None:
                continue
            hand = cursor.find(hand_number)
            if hand is None:
                continue
            if not comments:
                comments = tuple([comment for comment in hand.comments if comment.seat < betting.game.num_players])
            if not times and cursor is not self._comments:
                times = self._checked_times(hand, betting, text, cursor.path)
        return times, comments

    def _checked_times(self, hand: CompanionLines, betting: BettingState, text: str, path: str) -> tuple[Times, ...]:
        if hand.actions is not None and "".join(hand.actions) == text.replace("/", ""):
            return tuple(hand.times)
        actions: list[str] = []
        for round_actions in betting.rounds:
            actions += [format_action(action) for _, action in round_actions]
        if len(hand.times) == len(actions) and hand.actions in (None, tuple(actions)):
            return tuple(hand.times)
        problem = f"hand {hand.hand_number} has different actions here and in the log, so it stays without times"
        self._report(LogProblem(path, hand.line, None, problem, ProblemKind.NOTED))
        return ()


class _HandCursor:
    """Cursor over the hands of a file, which moves along with the log."""

    def __init__(self, path: str, hands: Iterator[CompanionLines]) -> None:
        self.path = path
        self._hands = hands
        self._next = next(hands, None)

    def find(self, hand_number: int) -> CompanionLines | None:
        """Return the next hand with this number, or None if one with a higher number comes first."""
        while self._next is not None and self._next.hand_number < hand_number:
            self._next = next(self._hands, None)
        hand = self._next
        if hand is None or hand.hand_number != hand_number:
            return None
        self._next = next(self._hands, None)
        return hand


def companions(
    log_path: str | None, transcript_path: str | os.PathLike[str] | None, report: _Report, *, is_limit: bool
) -> HandNotes | None:
    """Return the times and comments next to a log and in a dealer's transcript, or None.

    Raises:
        OSError: the transcript cannot be read.
    """
    transactions: _HandCursor | None = None
    comments: _HandCursor | None = None
    transcript: _HandCursor | None = None
    if log_path is not None:
        path = f"{stem(log_path)}.tlog"
        if os.path.isfile(path):
            transactions = _HandCursor(path, _transaction_hands(_blocks(path), path, report, is_limit=is_limit))
        path = f"{stem(log_path)}.comments"
        if os.path.isfile(path):
            comments = _HandCursor(path, _commented_hands(_lines(path), path, report))
    if transcript_path is not None:
        path = os.fspath(transcript_path)
        with opened(path):
            pass  # A wrong path is an error before the first hand, not in the middle.
        transcript = _HandCursor(path, _transcript_hands(path))
    if not (transactions or comments or transcript):
        return None
    return HandNotes(transactions, comments, transcript, report)


def begin_us(log_path: str) -> int | None:
    """Return the time of the first question of a match, in microseconds of Unix time; None without a transaction log.

    Raises:
        LogError: the transaction log's compression is damaged.
        OSError: it cannot be read.
    """
    path = f"{stem(log_path)}.tlog"
    if not os.path.isfile(path):
        return None
    _, line = next(_lines(path), (1, ""))
    # Times do not depend on the game.
    (transaction,) = parse_transactions([line], is_limit=False)
    if transaction.is_readable:
        return transaction.times.sent_us
    return None


def _blocks(path: str) -> Iterator[tuple[int, str]]:
    """Yield the file in blocks of whole lines, each with the number of its first line, from 1.

    Lines may be cut at `_MAX_LINE_CHARACTERS`.
    """
    with opened(path) as file:
        line_number = 1
        while block := file.read(_BLOCK_CHARACTERS):
            block += file.readline(_MAX_LINE_CHARACTERS)
            yield line_number, block
            line_number += block.count("\n")
            # Skip the rest of a long line.
            rest = block
            while rest and not rest.endswith("\n"):
                rest = file.readline(_MAX_LINE_CHARACTERS)
                line_number += rest.endswith("\n")


def _lines_of(line_number: int, block: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a block with their numbers, cut at `_MAX_LINE_CHARACTERS`."""
    for number, line in enumerate(io.StringIO(block, newline="\n"), line_number):
        yield number, line[:_MAX_LINE_CHARACTERS]


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, numbered from 1 and cut at `_MAX_LINE_CHARACTERS`."""
    return chain.from_iterable(starmap(_lines_of, _blocks(path)))


def _transaction_hands(
    blocks: Iterable[tuple[int, str]], path: str, report: _Report, *, is_limit: bool
) -> Iterator[CompanionLines]:
    transactions = _transactions(blocks, path, report, is_limit=is_limit)
    for _, parts in groupby(transactions, attrgetter("hand_number")):
        hand, *more = parts
        for part in more:
            actions = (*(hand.actions or ()), *(part.actions or ()))
            hand = hand._replace(actions=actions, times=hand.times + part.times)
        yield hand


def _transactions(
    blocks: Iterable[tuple[int, str]], path: str, report: _Report, *, is_limit: bool
) -> Iterator[CompanionLines]:
    """Yield the lines as hands; a hand at the border of blocks is yielded in two."""
    for line_number, block in blocks:
        # Blocks that this dealer wrote are parsed as a whole, which is several times as fast as line by line.
        hands = parse_own_lines(block, line_number, is_limit=is_limit)
        if hands is None:
            yield from _other_transactions(path, line_number, block, report, is_limit=is_limit)
        else:
            yield from hands


def _other_transactions(
    path: str, line_number: int, block: str, report: _Report, *, is_limit: bool
) -> Iterator[CompanionLines]:
    for number, line in _lines_of(line_number, block):
        (transaction,) = parse_transactions([line], is_limit=is_limit)
        if transaction.action is None or transaction.hand_number < 0:
            report(_damaged_line(path, number, line, "a transaction"))
            continue
        action = (format_action(transaction.action),)
        yield CompanionLines(number, transaction.hand_number, action, [transaction.times], [])


def _damaged_line(path: str, line_number: int, line: str, wanted: str) -> LogProblem:
    kind = ProblemKind.SKIPPED
    if not line.endswith("\n"):
        kind = ProblemKind.HALF_WRITTEN
    return LogProblem(path, line_number, None, f"{line.rstrip()[:60]!r} is not {wanted}", kind)


def _commented_hands(lines: Iterable[tuple[int, str]], path: str, report: _Report) -> Iterator[CompanionLines]:
    for hand_number, group in groupby(_comments(lines, path, report), itemgetter(1)):
        line_numbers, _, comments = zip(*group, strict=True)
        yield CompanionLines(line_numbers[0], hand_number, None, [], list(comments))


def _comments(lines: Iterable[tuple[int, str]], path: str, report: _Report) -> Iterator[tuple[int, int, PlayerComment]]:
    """Yield the number of the line, the number of the hand, and the comment."""
    for line_number, line in lines:
        try:
            yield line_number, *parse_comment(line)
        except ValueError:
            report(_damaged_line(path, line_number, line, "a comment"))


def _transcript_hands(path: str) -> Iterator[CompanionLines]:
    """Yield the hands of a transcript, from the states that players were sent and their replies."""
    hand: CompanionLines | None = None
    # By seat, the time of the last state sent, and its number of actions.
    last_states: dict[int, tuple[int, int]] = {}
    # The last reply, until the next line shows whether the dealer accepted it.
    reply: Times | None = None
    for line_number, line in _lines(path):
        if reply is not None and hand is not None and not line.startswith(_NOT_ACCEPTED):
            hand.times.append(reply)
        reply = None
        words = line.split(" ", 4)
        if len(words) < 5 or words[0] not in ("TO", "FROM") or words[2] != "at" or not words[1].isdecimal():
            continue
        seat = int(words[1]) - 1
        time_us = _time_us(words[3])
        text = words[4]
        if time_us is None:
            continue
        if words[0] == "TO":
            fields = text.split(":")
            if not text.startswith(HEADER) or len(fields) < 4 or not fields[2].isdecimal():
                continue
            if hand is None or hand.hand_number != int(fields[2]):
                if hand is not None:
                    yield hand
                hand = CompanionLines(line_number, int(fields[2]), None, [], [])
            action_count = sum(map(fields[3].count, "fcr"))
            last_states[seat] = time_us, action_count
        elif hand is not None and seat in last_states:
            sent_us, action_count = last_states[seat]
            if text.startswith(("#", ";")):
                hand.comments.append(PlayerComment(Seat(seat), action_count, clean(text.rstrip("\r\n"))))
            else:
                reply = Times(sent_us, time_us)
    if hand is not None:
        if reply is not None:
            hand.times.append(reply)
        yield hand


def _time_us(text: str) -> int | None:
    """Convert seconds with six decimals to microseconds."""
    seconds, _, fraction = text.partition(".")
    if len(fraction) != 6 or not (text.isascii() and seconds.isdecimal() and fraction.isdecimal()):
        return None
    return int(seconds) * 1_000_000 + int(fraction)


def notes_of_hand(path: str, number: int, betting: BettingState) -> tuple[tuple[Times, ...], tuple[PlayerComment, ...]]:
    """Return the times and comments of a single hand, by bisection of the files next to its log."""
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
    if len(fields) < 3:
        return None
    number = fields[1]
    if number.isascii() and number.isdigit() and len(number) <= _MAX_DIGITS:
        return int(number)
    return None


def _number_of_comment(line: str) -> int | None:
    try:
        return parse_comment(line)[0]
    except ValueError:
        return None


def _lines_at(path: str, number: int, number_of: Callable[[str], int | None]) -> list[str]:
    """Return the whole lines of a hand in a file whose hands are in order; none if the file does not exist.

    Args:
        number_of: returns the hand number of a line; None for a damaged one.
    """
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed below; only that it is absent is no error)
    except FileNotFoundError:
        return []
    with file:
        low = 0
        high = file.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            first_number, line_end = _first_number(file, middle, high, number_of)
            if first_number is not None and first_number < number:
                low = line_end
            else:
                high = middle
        return _lines_from(file, low, number, number_of)


def _first_number(
    file: IO[bytes], start: int, end: int, number_of: Callable[[str], int | None]
) -> tuple[int | None, int]:
    """Return the number of the first undamaged line that begins in [start, end), and the end of that line."""
    _seek_line(file, start)
    position = file.tell()
    while position < end:
        line = file.readline()
        if not line:
            break
        number = number_of(_decode(line))
        if number is not None:
            return number, position + len(line)
        position = file.tell()
    return None, end


def _lines_from(file: IO[bytes], start: int, number: int, number_of: Callable[[str], int | None]) -> list[str]:
    """Return the whole lines of a hand, of which none begins before `start`."""
    _seek_line(file, start)
    lines: list[str] = []
    for text in map(_decode, file):
        line_number = None
        if text.endswith("\n"):
            line_number = number_of(text)
        if line_number is not None and line_number > number:
            break
        if line_number == number:
            lines.append(text)
    return lines


def _seek_line(file: IO[bytes], start: int) -> None:
    """Go to the first line that begins at `start` or after it."""
    file.seek(max(0, start - 1))
    if start:
        file.readline()


def _decode(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")
