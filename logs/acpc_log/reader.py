"""Reading an ACPC log, hand by hand, from a file or from lines.

    for record in read_log("runs/x/match.log", on_problem=print):
        ...

Rules it obeys:

- A hand is accepted only if its whole line agrees with the game (see `logs.acpc_log.state_lines`); its values are
  those the rules give, to the last decimal.
- A damaged or foreign line is left out and reported; the rest is read. With `strict`, the first problem ends the
  reading.
- A last line without its end is what a killed match leaves: it is reported as such and does not count as damage. It is
  read like any other where only the line end is missing.
- The cards of a hand must be those that the seed in the header deals (see `logs.acpc_log.dealt_cards`).
- Every header begins a match of its own: one appended with ``-a``, or another log. Hands may begin at any number.
- Memory does not grow with the log.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final, TextIO

from engine import Deal, Game, Seed, deals, logged_seed
from logs.acpc_log.companions import HandNotes, companions
from logs.acpc_log.dealt_cards import DECIDING_HANDS, DealtCards, wrong_cards
from logs.acpc_log.header import HEADER_START, LogHeader, find_log_game, parse_header, read_log_header
from logs.acpc_log.parts import LogPart
from logs.acpc_log.seating import MatchSeats
from logs.acpc_log.state_lines import ScoreLine, StateLine, StateLines, is_same_score, parse_score, wrong_score
from logs.errors import LogError, LogProblem, NotALogError, ProblemKind, ProblemReporter
from logs.files import lines_of, opened, stem
from logs.record import HandRecord, PlayerComment, Times
from protocol import FormatError

MAX_LINE_CHARACTERS: Final = 1 << 14
"""Of a line; the longest betting of a hand has some 2,800."""
_MOST_FOREIGN_LINES: Final = 20
"""A file with more unknown lines than this before the first known one is not a log."""
_OLD_HAND: Final = re.compile(r"[^:]*\|[^:]*:[0-9]+:[^:]*:[^:]*:[^:]*")
"""The line of a hand in logs of 2012 and before: the names come first."""
OnProblem = Callable[[LogProblem], None]


def read_log(
    source: str | os.PathLike[str] | Iterable[str],
    *,
    game: Game | None = None,
    strict: bool = False,
    on_problem: OnProblem | None = None,
    times: bool = False,
    transcript: str | os.PathLike[str] | None = None,
    part: LogPart | None = None,
    left_out: Collection[int] = (),
) -> Iterator[HandRecord]:
    """The finished hands of a log, in its order, as they are read.

    A record's deal holds the board only as far as the log shows it, and no cards for a position whose cards it does
    not show.

    Args:
        source: the path of a log, or its lines, with or without their ends.
        game: the game, if the log does not name it (see `logs.acpc_log.header`).
        strict: stop at the first problem, except for a half-written last line.
        on_problem: called with every problem in order.
        times: take the times of the actions from the transaction log that goes with the log (``match.tlog`` with
            ``match.log``), if there is one.
        transcript: what the dealer wrote to standard error: comments are taken from it, and times where no
            transaction log gives them.
        part: read only this part of a file (see `logs.acpc_log.parts`), without times and transcript.
        left_out: numbers of lines whose hands are checked as all are, and not returned.

    Raises:
        LogError: it is not a log, its game cannot be found, or it is another than the one given.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        reader = _LogReader(path, game, strict, on_problem, path if times else None, transcript)
        reader.left_out = left_out
        if part is not None:
            reader.begin_in(part)
        yield from reader.read(
            lines_of(
                opened(path) if part is None else opened_part(path, part),
                MAX_LINE_CHARACTERS,
                ProblemReporter(path, strict, on_problem),
                lines_before=0 if part is None else part.lines_before,
            )
        )
    else:
        yield from _LogReader(None, game, strict, on_problem, None, transcript).read(iter(source))


def opened_part(path: str, part: LogPart) -> TextIO:
    """A part of a log, to be read as text."""
    file = io.BufferedReader(_Stretch(path, part.start, part.end), 1 << 16)
    return io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="\n")


class _Stretch(io.FileIO):
    """A file that ends early."""

    def __init__(self, path: str, start: int, end: int) -> None:
        super().__init__(path)
        self.seek(start)
        self._left = end - start

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")[: self._left]
        count = super().readinto(view) or 0
        self._left -= count
        return count


class _Match:
    """What is known of the match whose hands are being read."""

    def __init__(self, num_players: int) -> None:
        self.seating = MatchSeats(num_players)
        self.waiting: list[tuple[int, str, StateLine]] = []
        """Hands whose seats are not decided yet, with their lines."""
        self.totals = [0.0] * num_players
        self.next_number: int | None = None
        self.is_complete = True
        """Whether no hand is known to be missing."""
        self.cards: DealtCards | None = None
        """None where the cards of the match are not compared with its seed."""
        self.undecided: list[tuple[int, bool, HandRecord]] = []
        """Hands from the first on that does not fit the seed, with their lines and whether they fit, until it is known
        whether the seed counts.
        """
        self.lost_lines = 0
        """Lines left out since the last hand: perhaps the hands that are missing there."""


class _LogReader:
    def __init__(
        self,
        path: str | None,
        game: Game | None,
        strict: bool,
        on_problem: OnProblem | None,
        tlog_of: str | None,
        transcript: str | os.PathLike[str] | None,
    ) -> None:
        self.left_out: Collection[int] = ()
        self._path = path
        self._tlog_of = tlog_of
        self._transcript = transcript
        self._notes: HandNotes | None = None
        self._shown_path = "<lines>" if path is None else path
        self._given_game = game
        self._problems = ProblemReporter(self._shown_path, strict, on_problem)
        self._match_name = "" if path is None else os.path.basename(stem(path))
        self._header: LogHeader | None = None
        self._read_line: Callable[[str], StateLine] | None = None
        self._match: _Match | None = None
        self._earlier: list[tuple[tuple[str, ...], list[float]]] = []
        """Names and totals of the matches before in the same log."""
        self._ready: list[HandRecord] = []
        self._is_log = False
        """Whether any line has shown that this is a log."""
        self._foreign_lines = 0
        self._held: list[tuple[int, int | None, str, ProblemKind]] = []
        """Problems met before anything has shown that this is a log."""
        self._lines_before = 0
        self._next_hand: int | None = None
        """Of the first match, where it began before what is read."""
        self._is_torn = False
        """Whether the first match began before what is read."""

    def begin_in(self, part: LogPart) -> None:
        if not part.start:
            return
        self._is_log = True
        self._is_torn = True
        self._lines_before = part.lines_before
        self._next_hand = part.next_hand
        header = parse_header(part.header)
        if header is not None:
            self._header = header
            self._match_name = header.match_name

    # ---- lines

    def read(self, lines: Iterator[str]) -> Iterator[HandRecord]:
        has_ends = self._path is not None
        line_number = self._lines_before
        for line in lines:
            line_number += 1
            if line.endswith("\n"):
                has_ends = True
                if line.startswith("STATE:"):
                    record = self._read_hand(line_number, line)
                    if record is not None:
                        yield record
                else:
                    self._read_other(line_number, line)
            elif len(line) >= MAX_LINE_CHARACTERS:
                self._leave_out(line_number, 1, f"the line has more than {MAX_LINE_CHARACTERS} characters")
            elif has_ends:
                self._read_unfinished(line_number, line)
            else:
                self._read_other(line_number, line)
            if self._held and self._is_log:
                self._report_held()
            if self._ready:
                yield from self._ready
                self._ready.clear()
        self._end_match()
        yield from self._ready
        self._ready.clear()
        if not line_number and self._path is not None:
            self._problems.report(1, None, "the file is empty", ProblemKind.HALF_WRITTEN)
        elif line_number and not self._is_log:
            raise NotALogError(self._shown_path, "not an ACPC log: it contains neither a header nor a hand")

    def _read_other(self, line_number: int, line: str) -> None:
        if line.startswith("#"):
            header = parse_header(line)
            if header is not None:
                self._begin_log(header)
        elif line.startswith("SCORE:"):
            self._read_score(line_number, line)
        elif not line.startswith(";") and line.strip():
            record = self._read_hand(line_number, line)
            if record is not None:
                self._ready.append(record)

    def _read_unfinished(self, line_number: int, line: str) -> None:
        """Read a last line without its end: it counts if nothing else is missing."""
        self._is_log |= HEADER_START.startswith(line[: len(HEADER_START)])
        is_whole = not line.strip()
        if line.startswith("SCORE:"):
            score = self._parse_score(line)
            is_whole = score is not None and self._are_players(score.names)
        elif self._read_line is not None and not line.startswith(("#", ";")):
            with contextlib.suppress(FormatError):
                is_whole |= self._are_players(self._read_line(line).names)
        if is_whole:
            self._read_other(line_number, line)
        else:
            problem = f"the last line has no end: {line[:60]!r}"
            self._report(line_number, None, problem, ProblemKind.HALF_WRITTEN)

    def _are_players(self, names: tuple[str, ...]) -> bool:
        """Whether these are the players of the match, in any order: then the last name is whole."""
        match = self._match
        if match is None:
            return False
        known = match.seating.names or (match.waiting[0][2].names if match.waiting else ())
        return sorted(names) == sorted(known)

    def _leave_out(self, line_number: int, column: int | None, problem: str) -> None:
        if self._match is not None:
            self._match.is_complete = False
            self._match.lost_lines += 1
        self._report(line_number, column, problem, ProblemKind.SKIPPED)

    def _report(self, line_number: int, column: int | None, problem: str, kind: ProblemKind) -> None:
        """Report a problem as soon as this is certainly a log."""
        self._held.append((line_number, column, problem, kind))
        if self._is_log:
            self._report_held()

    def _report_held(self) -> None:
        held = self._held
        self._held = []
        for problem in held:
            self._problems.report(*problem)

    # ---- matches

    def _begin_log(self, header: LogHeader) -> None:
        """A header: what follows is a match of its own."""
        self._is_log = True
        self._is_torn = False
        self._end_match()
        if self._header is not None and header.game_name != self._header.game_name:
            self._read_line = None
        self._header = header
        self._match_name = header.match_name

    def _begin_hands(self, line_number: int, line: str) -> Callable[[str], StateLine] | None:
        """Find the game; None for a line that cannot be a hand, before anything is known."""
        looks_like_a_hand = line.startswith("STATE:") or _OLD_HAND.fullmatch(line.rstrip("\r\n")) is not None
        if not self._is_log and not looks_like_a_hand:
            self._foreign_lines += 1
            if self._foreign_lines > _MOST_FOREIGN_LINES:
                problem = f"not an ACPC log: its first {line_number} lines do not belong in one"
                raise NotALogError(self._shown_path, problem)
            return None
        self._is_log = True
        game = find_log_game(self._header, self._path, self._given_game)
        if self._notes is None:
            self._notes = companions(self._tlog_of, self._transcript, self._problems.pass_on, is_limit=game.is_limit)
        self._read_line = StateLines(game).read
        return self._read_line

    def _end_match(self, score_names: tuple[str, ...] = ()) -> None:
        """End a match: hands that wait for their seats get them now."""
        match = self._match
        if match is None:
            return
        match.seating.conclude(score_names)
        self._seat_waiting(match)
        self._decide_cards(match)
        if not score_names:
            self._earlier.append((match.seating.names, match.totals))
            self._match = None

    # ---- hands

    def _read_hand(self, line_number: int, line: str) -> HandRecord | None:
        """Read a hand; None if it is left out, or has to wait for its seats."""
        read = self._read_line or self._begin_hands(line_number, line)
        try:
            if read is None:
                raise FormatError(line, 0, "the line does not belong in a log")
            hand = read(line)
        except FormatError as error:
            self._leave_out(line_number, error.column + 1, error.problem)
            return None
        match = self._match
        if match is None:
            match = self._match = _Match(len(hand.names))
            match.cards = DealtCards.by_header(hand.betting.game, self._header)
            if self._is_torn:
                match.is_complete, match.next_number = False, self._next_hand
                self._is_torn = False
        if match.seating.names:
            return self._record(match, line_number, line, hand)
        match.waiting.append((line_number, line, hand))
        if match.seating.collect(hand.hand_number, hand.names):
            self._seat_waiting(match)
        return None

    def _seat_waiting(self, match: _Match) -> None:
        for line_number, line, hand in match.waiting:
            record = self._record(match, line_number, line, hand)
            if record is not None:
                self._ready.append(record)
        match.waiting.clear()

    def _record(self, match: _Match, line_number: int, line: str, hand: StateLine) -> HandRecord | None:
        """The record of a hand; None if its players are not those of the match."""
        hand_number, betting, deal, values, names = hand
        try:
            seats = match.seating.seats(hand_number, names)
        except ValueError as error:
            self._leave_out(line_number, line.rfind(":") + 2, str(error))
            return None
        if hand_number != match.next_number:
            self._check_number(match, line_number, hand_number)
        match.next_number = hand_number + 1
        match.lost_lines = 0
        totals = match.totals
        for seat, value in zip(seats, values, strict=True):
            totals[seat] += value
        if line_number in self.left_out:
            return None
        times: tuple[Times, ...] = ()
        comments: tuple[PlayerComment, ...] = ()
        if self._notes is not None:
            text = line.split(":", 3)[2] if line.startswith("STATE:") else ""
            times, comments = self._notes.notes(hand_number, betting, text)
        record = HandRecord(
            game=betting.game,
            match_name=self._match_name,
            hand_number=hand_number,
            names_by_seat=match.seating.names,
            seats=seats,
            deal=deal,
            betting=betting,
            values=values,
            times=times,
            comments=comments,
        )
        if match.cards is None:
            return record
        return self._checked(match, match.cards, line_number, record)

    def _checked(self, match: _Match, cards: DealtCards, line_number: int, record: HandRecord) -> HandRecord | None:
        """The record, if its cards are those of the seed; None if they are not, or that is undecided."""
        fits = cards.fit(record.hand_number, record.deal)
        if fits and not match.undecided:
            return record
        if cards.is_certain and not match.undecided:
            self._leave_out(line_number, None, wrong_cards(record.hand_number, cards.seed))
            return None
        match.undecided.append((line_number, fits, record))
        if cards.is_certain or len(match.undecided) >= DECIDING_HANDS:
            self._decide_cards(match)
        return None

    def _decide_cards(self, match: _Match) -> None:
        """Decide by the first hands whether the cards follow from the seed."""
        cards = match.cards
        undecided = match.undecided
        if cards is None or not undecided:
            return
        if not cards.are_by_seed():
            match.cards = None
            if not self._lines_before:
                problem = f"its first hands do not have the cards that seed {cards.seed} deals"
                self._problems.report(undecided[0][0], None, problem, ProblemKind.UNCHECKED)
        for line_number, fits, record in undecided:
            if fits or match.cards is None:
                self._ready.append(record)
            else:
                self._leave_out(line_number, None, wrong_cards(record.hand_number, cards.seed))
        undecided.clear()

    def _check_number(self, match: _Match, line_number: int, hand_number: int) -> None:
        """Hands follow each other without a gap, but for the lines that were left out."""
        expected = match.next_number
        if expected is None or expected < hand_number <= expected + match.lost_lines:
            return
        match.is_complete = False
        if hand_number < expected:
            problem = f"hand {hand_number} comes after hand {expected - 1}"
        elif hand_number == expected + 1:
            problem = f"hand {expected} is missing before this one"
        else:
            problem = f"hands {expected} to {hand_number - 1} are missing before this one"
        self._problems.report(line_number, None, problem, ProblemKind.NOTED)

    # ---- the score

    def _read_score(self, line_number: int, line: str) -> None:
        self._is_log = True
        score = self._parse_score(line)
        if score is None:
            self._problems.report(line_number, None, "the score cannot be read", ProblemKind.SKIPPED)
            return
        totals, names = score
        match = self._match
        if match is None:
            return
        self._end_match(names)
        if names != match.seating.names:
            problem = f"the score names {' and '.join(names)}, by the hands it is {' and '.join(match.seating.names)}"
            self._problems.report(line_number, None, problem, ProblemKind.NOTED)
        elif match.is_complete and not self._is_sum(totals, match):
            self._problems.report(line_number, None, wrong_score(match.totals), ProblemKind.NOTED)

    def _parse_score(self, line: str) -> ScoreLine | None:
        score = parse_score(line)
        if score is not None and self._match is not None and len(score.names) != len(self._match.totals):
            return None
        return score

    def _is_sum(self, totals: tuple[float, ...], match: _Match) -> bool:
        """Whether totals are those of the match, alone or with what the same players played before in the log."""
        before = [earlier for names, earlier in self._earlier if names == match.seating.names]
        sums = match.totals, [sum(totals) for totals in zip(match.totals, *before, strict=True)]
        return any(is_same_score(totals, expected) for expected in sums)


def check_deals(path: str | os.PathLike[str], seed: Seed) -> int:
    """Compare all cards of a log with those that its seed, a number or a key, deals; returns the number of hands.

    Raises:
        LogError: the header names another seed, or a hand has other cards.
        DamagedLogError: a line is damaged.
        OSError: the file cannot be read.
    """
    header = read_log_header(path)
    shown = os.fspath(path)
    named = None if header is None else header.seed
    if named != logged_seed(seed):
        raise LogError(shown, f"its header names the seed {named}, not {logged_seed(seed)}")
    dealt: Iterator[Deal] = iter(())
    hands = 0
    for record in read_log(path, strict=True):
        if not hands:
            dealt = deals(record.game, seed, record.hand_number)
        deal, board = next(dealt), record.deal.board
        if (record.deal.hole_cards, board) != (deal.hole_cards, deal.board[: len(board)]):
            raise LogError(shown, f"hand {record.hand_number} has other cards than {logged_seed(seed)} deals")
        hands += 1
    return hands
