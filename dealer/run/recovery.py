"""What an interrupted match has left on disk, and how to go on from there.

The files of a match are written line by line, so whatever ended the run (Ctrl-C, kill -9, a power cut), they hold
whole hands up to some point and perhaps a fragment: part of a line, or the NULs of blocks that were never written.
`recover_match` finds the last hand that is whole in both the log and the transaction log, cuts the files off after it,
and returns the state of the match there. Resumed from that hand, the match deals the same cards and leaves the same log
as if it had never been interrupted.

Nothing is guessed or believed: the cards of every hand of the log are dealt again from the seed, its values computed
again from its cards and actions, and its actions compared with the transaction log. A whole line that differs, or a
line that is damaged while others follow it, raises `RecoveryError`, and nothing is cut. `check_match` does the same for
the log of a match that is only shown.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from bots.errors import BotFileError
from bots.sdk.learning import cut_journal
from dealer.errors import RecoveryError, TrainingError
from dealer.match import MatchSetup
from dealer.match.writers import parse_fault
from dealer.run.folder import RESULT_NAME
from dealer.run.match_files import RecordPlan
from dealer.run.tally import ResponseTimes, Tally
from engine import BettingState, Deal, Seat, Seed, deals
from engine.text import count_of
from logs import format_score_line
from logs.acpc_log.state_lines import StateLines
from logs.transaction_log import parse_comment, parse_own_line
from logs.whole_file import write_whole
from protocol.actions import format_action
from protocol.errors import FormatError
from protocol.match_state import format_hole_cards

_HEADER_LINES = 4
_NO_END = 2**64
"""A hand number beyond all."""
_MOST_BYTES_OF_A_LINE = 1 << 20
"""Longer than any line of a match, so that a file without line ends does not fill the memory."""


def recover_match(setup: MatchSetup, plan: RecordPlan, journals: Mapping[Seat, str] = MappingProxyType({})) -> Tally:
    """Read what a match has left and cut it off at the last whole hand.

    Args:
        journals: of the players that learn. A match that ended before a journal was whole has not ended.

    Raises:
        RecoveryError: the files are not those of this match, or damaged before their end.
        TrainingError: a journal cannot be read, or its player is still there.
        OSError: they cannot be read or cut.
    """
    log_path, transactions_path, comments_path, faults_path = (
        plan.path(setup, kind) for kind in ("log", "tlog", "comments", "faults")
    )
    tally = Tally(setup.game.num_players)
    faults = list(_parsed(faults_path, "fault", partial(parse_fault, players=setup.game.num_players)))
    forfeits = {fault.seat: fault.hand_number for _, fault in faults if fault.is_final}
    transactions = _Transactions(transactions_path, setup, forfeits, tally.times)
    ends = _read_log(log_path, setup, plan.game_name, tally, transactions.read)
    tally.is_begun = bool(ends)
    if not ends:
        _cut_journals(journals, setup.first_hand)
        return tally
    hands = logged = len(ends) - 1
    if logged and not tally.is_closed and not transactions_path.exists():
        raise RecoveryError(
            transactions_path, 1, "the file is missing, and without it every hand would be played again"
        )
    learnt = _cut_journals({seat: path for seat, path in journals.items() if seat not in forfeits}, None)
    tally.is_closed = tally.is_closed and learnt >= setup.first_hand + logged
    if not tally.is_closed:
        hands = min(logged, len(transactions.ends) - 1, max(0, learnt - setup.first_hand))
    end_hand = setup.first_hand + hands
    comments = _parsed(comments_path, "comment", parse_comment)
    end_of_comments = sum(len(line) for line, _ in takewhile(lambda comment: comment[1][0] < end_hand, comments))
    _cut_journals(journals, end_hand)
    if not tally.is_closed:
        _cut(log_path, ends[hands])
        _cut(transactions_path, transactions.ends[hands])
    del tally.values[hands * setup.game.num_players :]
    tally.hands_before = hands
    _cut(comments_path, end_of_comments)
    standing = [
        (line, fault) for line, fault in faults if setup.first_hand <= fault.hand_number < end_hand + tally.is_closed
    ]
    text = b"".join(line for line, _ in standing)
    if not standing:
        faults_path.unlink(missing_ok=True)
    elif faults_path.stat().st_size != len(text):
        write_whole(faults_path, text)
    for _, fault in standing:
        tally.count_fault(fault)
    if hands < logged:
        tally.warnings.append(
            f"{setup.name}: replayed {count_of(logged - hands, 'hand')} at the end of its log, before which its "
            f"transaction log{' or a journal' if journals else ''} ended."
        )
    return tally


def check_match(setup: MatchSetup, plan: RecordPlan) -> None:
    """Compare the log of a match, if it exists, with the seed and the rules.

    Raises:
        RecoveryError: a line of it differs, or it is the log of another match.
        OSError: it cannot be read.
    """
    _read_log(plan.path(setup, "log"), setup, plan.game_name, Tally(setup.game.num_players))


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file up to its end, which may lack its line end or be NULs.

    Raises:
        RecoveryError: a line is damaged, and there is something after it.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(iter(partial(file.readline, _MOST_BYTES_OF_A_LINE), b""), 1):
            if b"\0" in line or not line.endswith(b"\n"):
                unwritten = line[len(line.partition(b"\0")[0]) :]
                while not unwritten.strip(b"\0\r\n") and (unwritten := file.read(_MOST_BYTES_OF_A_LINE)):
                    pass
                if unwritten:
                    raise _difference(path, number, f"the line is damaged: {_shown(line)}")
                return
            yield line


def _shown(line: bytes) -> str:
    return repr(line[:80].decode("latin-1").rstrip("\r\n"))


def _difference(path: Path, number: int, problem: str) -> RecoveryError:
    remedy = f"put the line right, or remove it with all lines after it, and {RESULT_NAME}"
    return RecoveryError(path, number, f"{problem}; {remedy}, and resume the run: it replays their hands")


# ---- the log
def _first_line(name: str, game_name: str, hands: int, seed: Seed) -> bytes:
    return f"# name/game/hands/seed {name} {game_name} {hands} {seed}\n".encode("utf-8", "surrogateescape")


def extend_log(path: Path, name: str, game_name: str, seed: Seed, hands: int, more: int) -> None:
    """Change the log of a match, ended or not, to one of more hands, without its score.

    Args:
        path: of the log; it may not exist yet, or have been changed already.
        hands: as in the log.
        more: as it is to say.

    Raises:
        RecoveryError: it is the log of another match.
        OSError: it cannot be read or written.
    """
    if not path.exists():
        return
    first, end, rest = path.read_bytes().partition(b"\n")
    new = _first_line(name, game_name, more, seed)
    if first + end == _first_line(name, game_name, hands, seed):
        score = rest.rfind(b"\nSCORE:")
        write_whole(path, new + (rest if score < 0 else rest[: score + 1]))
    elif first + end != new:
        raise RecoveryError(path, 1, f"this is the log of another match: {_shown(first)}")


def _read_log(
    path: Path,
    setup: MatchSetup,
    game_name: str,
    tally: Tally,
    on_hand: Callable[[int, BettingState], None] = lambda hand, betting: None,
) -> array[int]:
    """Read a log, if there is one, into a tally and check every line.

    Args:
        on_hand: called with each hand's number and betting.

    Returns:
        the offsets at which the header and then each hand end; empty if the header is not whole.
    """
    ends = array("Q")
    players, names = setup.game.num_players, setup.names
    header = _first_line(setup.name, game_name, setup.hands, setup.seed)
    read, dealt = StateLines(setup.game).read, deals(setup.game, setup.seed, setup.first_hand)
    lines = _whole_lines(path)
    head = list(islice(lines, _HEADER_LINES))
    left = head[0] if head else path.read_bytes()[: len(header)].rstrip(b"\0\r\n") if path.exists() else b""
    if not header.startswith(left):
        raise RecoveryError(path, 1, f"this is the log of another match: {_shown(left)}")
    if len(head) < _HEADER_LINES:
        return ends
    ends.append(sum(map(len, head)))
    for number, line in enumerate(lines, _HEADER_LINES + 1):
        if line.startswith(b"SCORE:"):
            score = format_score_line(tally.chips, names).encode("utf-8", "surrogateescape")
            if line != score:
                raise _difference(path, number, f"by the hands the score is {_shown(score)}, not {_shown(line)}")
            tally.is_closed = True
            break
        hand = setup.first_hand + len(ends) - 1
        shift = 0 if setup.fixed_seats else hand % players
        try:
            found, betting, deal, values, seated = read(line.decode("utf-8", "surrogateescape"))
        except FormatError as error:
            raise _difference(path, number, f"hand {hand} is expected, but {error.problem}") from None
        if found != hand or seated != names[shift:] + names[:shift]:
            raise _difference(path, number, f"hand {hand} of this match is expected, not {_shown(line)}")
        expected = next(dealt)
        expected = expected._replace(board=expected.board[: len(deal.board)])
        if deal != expected:
            problem = f"hand {hand} has the cards {_cards(deal)}, but its seed deals {_cards(expected)}"
            raise _difference(path, number, problem)
        on_hand(hand, betting)
        tally.values.extend(values[players - shift :] + values[: players - shift])
        ends.append(ends[-1] + len(line))
    return ends


def _cards(deal: Deal) -> str:
    return format_hole_cards((*deal.hole_cards, deal.board)).rstrip("|")


# ---- the transaction log
class _Transactions:
    """A transaction log, read hand by hand as the log is.

    Attributes:
        ends: 0, then the offsets at which the hands end that are whole here and in the log.
    """

    def __init__(
        self, path: Path, setup: MatchSetup, forfeits: Mapping[Seat, int], times: Sequence[ResponseTimes]
    ) -> None:
        """Open a transaction log, which may not exist.

        Args:
            forfeits: the hand since which a seat takes no part; it has given no answers there.
            times: by seat, gets how long answers took.
        """
        self.ends = array("Q", [0])
        self._times = times
        self._path = path
        self._setup = setup
        self._forfeits = forfeits
        self._lines = enumerate(_whole_lines(path), 1)

    def read(self, hand: int, betting: BettingState) -> None:
        """Read the actions of the next hand of the log, if the file has all of them."""
        is_limit, end, used_us = self._setup.game.is_limit, self.ends[-1], []
        actions = list(chain.from_iterable(betting.rounds))
        for (_, action), (number, line) in zip(actions, self._lines, strict=False):
            transaction = parse_own_line(line.decode("latin-1"), is_limit=is_limit)
            if transaction is None or transaction.action != action or transaction.hand_number != hand:
                problem = f"hand {hand} goes on with {format_action(action)!r} in the log, but here with {_shown(line)}"
                raise _difference(self._path, number, problem)
            sent_us, received_us = transaction.times
            used_us.append(received_us - sent_us)
            end += len(line)
        if len(used_us) < len(actions):
            return
        shift = 0 if self._setup.fixed_seats else hand
        for (position, _), time_us in zip(actions, used_us, strict=True):
            seat = Seat((position + shift) % len(self._times))
            if hand < self._forfeits.get(seat, hand + 1):
                self._times[seat].add(time_us)
        self.ends.append(end)


# ---- the other files
_Parsed = TypeVar("_Parsed")


def _parsed(path: Path, kind: str, parse: Callable[[str], _Parsed]) -> Iterator[tuple[bytes, _Parsed]]:
    """The lines of a file, each with its content."""
    for number, line in enumerate(_whole_lines(path), 1):
        try:
            yield line, parse(line.decode("utf-8"))
        except ValueError:
            raise RecoveryError(path, number, f"not a {kind} of this match: {_shown(line)}") from None


def _cut_journals(journals: Mapping[Seat, str], end_hand: int | None) -> int:
    """Cut journals off before a hand; returns the first hand that one of them lacks."""
    try:
        return min([cut_journal(path, end_hand) for path in journals.values()], default=_NO_END)
    except BotFileError as error:
        raise TrainingError(str(error)) from error


def _cut(path: Path, size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        os.truncate(path, size)
