"""Read an ACPC log, hand by hand, from a file or from lines.

    for record in read_log("runs/x/match.log", on_problem=print):
        ...

A hand is accepted only if its whole line agrees with the game (`logs.acpc_log.state_lines`) and its cards with the
seed in the header (`logs.acpc_log.dealt_cards`). A damaged or foreign line is reported and left out. Every header
begins a match of its own, whose hands may begin at any number. Memory does not grow with the log.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
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
"""Characters of a line; the longest betting of a hand has about 2,800."""
_MAX_FOREIGN_LINES: Final = 20
"""Unknown lines before the first known one, above which a file is not a log."""
# Logs of 2012 and before have the names first.
_OLD_HAND: Final = re.compile(r"[^:]*\|[^:]*:[0-9]+:[^:]*:[^:]*:[^:]*")
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
    """Yield the finished hands of a log, in its order, while reading.

    The deal of a record has the board only as far as the log shows it, and no cards for a position whose cards the log
    does not show.

    Args:
        source: path of a log, or its lines, with or without their ends.
        game: game of a log that does not name it (`logs.acpc_log.header`).
        strict: stop at the first problem, except for a half-written last line.
        on_problem: called with every problem in order.
        times: read the times of the actions from the transaction log next to the log (``match.tlog`` next to
            ``match.log``), if it exists.
        transcript: file with the dealer's standard error. Comments are read from it, and times if there is no
            transaction log.
        part: part of the file to read (`logs.acpc_log.parts`), without times and transcript.
        left_out: numbers of lines whose hands are checked but not yielded.

    Raises:
        LogError: it is not a log, its game cannot be found, or is another than the one given.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    if not isinstance(source, str | os.PathLike):
        yield from _LogReader(None, game, strict, on_problem, None, transcript).read(iter(source))
        return
    path = os.fspath(source)
    reader = _LogReader(path, game, strict, on_problem, path if times else None, transcript)
    reader.left_out = left_out
    problems = ProblemReporter(path, strict, on_problem)
    if part is None:
        file: AbstractContextManager[TextIO] = opened(path)
        lines_before = 0
    else:
        reader.begin_in(part)
        file = opened_part(path, part)
        lines_before = part.lines_before
    yield from reader.read(lines_of(file, MAX_LINE_CHARACTERS, problems, lines_before=lines_before))


def opened_part(path: str, part: LogPart) -> TextIO:
    """Open a part of a log as text."""
    file = io.BufferedReader(_FilePart(path, part.start, part.end), 1 << 16)
    return io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="\n")


class _FilePart(io.FileIO):
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
    """State of the match whose hands are being read.

    Attributes:
        waiting: hands whose seats are not decided yet, with their line numbers and lines.
        totals: chips won so far, by seat.
        next_number: number of the hand that should come next; None before the first.
        is_complete: no hand is known to be missing.
        cards: deals of the seed; None if cards are not compared.
        undecided: hands from the first on that does not fit the seed, until it is decided whether the cards follow
            from it: line number, whether it fits, and record.
        lost_lines: lines left out since the last hand, which may be the hands that are missing there.
    """

    def __init__(self, num_players: int) -> None:
        self.seating = MatchSeats(num_players)
        self.waiting: list[tuple[int, str, StateLine]] = []
        self.totals = [0.0] * num_players
        self.next_number: int | None = None
        self.is_complete = True
        self.cards: DealtCards | None = None
        self.undecided: list[tuple[int, bool, HandRecord]] = []
        self.lost_lines = 0


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
        # Names and totals of the matches before in the same log.
        self._earlier: list[tuple[tuple[str, ...], list[float]]] = []
        self._ready: list[HandRecord] = []
        # Problems are held until a line shows that this is a log. A file of another kind is one error.
        self._is_log = False
        self._foreign_lines = 0
        self._held: list[tuple[int, int | None, str, ProblemKind]] = []
        # Of a part that begins in the middle of a match, the lines before it and the number of its first hand.
        self._lines_before = 0
        self._is_torn = False
        self._next_hand: int | None = None

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

    def read(self, lines: Iterator[str]) -> Iterator[HandRecord]:
        # Lines of a caller may have no ends. If any has one, a last line without it is truncated.
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
        """Read a last line without its end, as a killed match leaves it, if nothing but the end is missing."""
        self._is_log |= HEADER_START.startswith(line[: len(HEADER_START)])
        is_whole = not line.strip()
        if line.startswith("SCORE:"):
            score = self._parse_score(line)
            is_whole = score is not None and self._are_players(score.names)
        elif self._read_line is not None and not line.startswith(("#", ";")):
            with suppress(FormatError):
                is_whole |= self._are_players(self._read_line(line).names)
        if is_whole:
            self._read_other(line_number, line)
        else:
            problem = f"the last line is truncated: {line[:60]!r}"
            self._report(line_number, None, problem, ProblemKind.HALF_WRITTEN)

    def _are_players(self, names: tuple[str, ...]) -> bool:
        """Return whether these are the players of the match in any order, so that the last name is not truncated."""
        match = self._match
        if match is None:
            return False
        players = match.seating.names
        if not players and match.waiting:
            _, _, first = match.waiting[0]
            players = first.names
        return sorted(names) == sorted(players)

    def _leave_out(self, line_number: int, column: int | None, problem: str) -> None:
        if self._match is not None:
            self._match.is_complete = False
            self._match.lost_lines += 1
        self._report(line_number, column, problem, ProblemKind.SKIPPED)

    def _report(self, line_number: int, column: int | None, problem: str, kind: ProblemKind) -> None:
        """Report a problem, once this is known to be a log."""
        self._held.append((line_number, column, problem, kind))
        if self._is_log:
            self._report_held()

    def _report_held(self) -> None:
        held = self._held
        self._held = []
        for problem in held:
            self._problems.report(*problem)

    def _begin_log(self, header: LogHeader) -> None:
        self._is_log = True
        self._is_torn = False
        self._end_match()
        if self._header is not None and header.game_name != self._header.game_name:
            self._read_line = None
        self._header = header
        self._match_name = header.match_name

    def _begin_hands(self, line_number: int, line: str) -> Callable[[str], StateLine] | None:
        """Return the reader of lines of the log's game; None for a line that does not show that this is a log."""
        looks_like_a_hand = line.startswith("STATE:") or _OLD_HAND.fullmatch(line.rstrip("\r\n")) is not None
        if not self._is_log and not looks_like_a_hand:
            self._foreign_lines += 1
            if self._foreign_lines > _MAX_FOREIGN_LINES:
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
        """Seat the hands that wait, and decide on their cards. Without a score, the next hand begins a match."""
        match = self._match
        if match is None:
            return
        match.seating.conclude(score_names)
        self._seat_waiting(match)
        self._decide_cards(match)
        if not score_names:
            self._earlier.append((match.seating.names, match.totals))
            self._match = None

    def _read_hand(self, line_number: int, line: str) -> HandRecord | None:
        """Read a hand; return None if it is left out, or waits for its seats."""
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
            match = _Match(len(hand.names))
            match.cards = DealtCards.by_header(hand.betting.game, self._header)
            if self._is_torn:
                match.is_complete = False
                match.next_number = self._next_hand
                self._is_torn = False
            self._match = match
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
        """Return the record of a hand; None if it is left out, or waits for a decision on its cards."""
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
            text = ""
            if line.startswith("STATE:"):
                text = line.split(":", 3)[2]
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
        """Return the record if its cards are those of the seed; None if they are not, or that is undecided."""
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
        """Decide by the hands so far whether the cards follow from the seed."""
        cards = match.cards
        undecided = match.undecided
        if cards is None or not undecided:
            return
        if not cards.are_by_seed():
            match.cards = None
            # Reported by the reader of the first part only.
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
        """Report a gap before a hand, unless the lines left out may be the missing hands."""
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
        """Return whether totals are those of the match, alone or with the same players' earlier matches in the log."""
        if is_same_score(totals, match.totals):
            return True
        earlier = [sums for names, sums in self._earlier if names == match.seating.names]
        sums = [sum(seat_totals) for seat_totals in zip(match.totals, *earlier, strict=True)]
        return is_same_score(totals, sums)


def check_deals(path: str | os.PathLike[str], seed: Seed) -> int:
    """Compare all cards of a log with those of its seed, and return the number of hands.

    Args:
        seed: a number, or the key whose fingerprint is in the header.

    Raises:
        LogError: the header names another seed, or a hand has other cards.
        DamagedLogError: a line is damaged.
        OSError: the file cannot be read.
    """
    header = read_log_header(path)
    shown_path = os.fspath(path)
    header_seed = None if header is None else header.seed
    if header_seed != logged_seed(seed):
        raise LogError(shown_path, f"its header names the seed {header_seed}, not {logged_seed(seed)}")
    dealt: Iterator[Deal] = iter(())
    hands = 0
    for record in read_log(path, strict=True):
        if not hands:
            dealt = deals(record.game, seed, record.hand_number)
        deal = next(dealt)
        board = record.deal.board
        if record.deal.hole_cards != deal.hole_cards or board != deal.board[: len(board)]:
            raise LogError(shown_path, f"hand {record.hand_number} has other cards than {logged_seed(seed)} deals")
        hands += 1
    return hands
