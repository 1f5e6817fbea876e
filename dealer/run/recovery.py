"""Recover the files of an interrupted match.

Files are written line by line. After any interruption, even a power cut, they hold whole hands and perhaps a fragment:
part of a line, or NULs of blocks that were never written. `recover_match` truncates them after the last hand that is
complete in all of them, and returns the state of the match. The resumed match deals the same cards and leaves the same
log as without the interruption.

Every hand is verified: its cards are dealt again from the seed, its values are computed from cards and actions, and
its actions are compared with the transaction log. A wrong line raises `RecoveryError`, and no file is changed.
`check_match` verifies the log alone.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
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
"""Greater than any hand number."""
_MAX_LINE_BYTES = 1 << 20
"""Longer than any line of a match. It keeps a file without line ends from filling the memory."""


def recover_match(setup: MatchSetup, plan: RecordPlan, journals: Mapping[Seat, str] = MappingProxyType({})) -> Tally:
    """Read the files of a match and truncate them after the last complete hand.

    Args:
        setup: setup of the match.
        plan: files of the contest.
        journals: journals of the players that learn. A match is not over before they are complete.

    Raises:
        RecoveryError: a file is not that of this match, or is damaged before its end.
        TrainingError: a journal cannot be read, or its player is still running.
        OSError: a file cannot be read or truncated.
    """
    log_path = plan.path(setup, "log")
    transactions_path = plan.path(setup, "tlog")
    comments_path = plan.path(setup, "comments")
    faults_path = plan.path(setup, "faults")
    tally = Tally(setup.game.num_players)
    faults = list(_parsed(faults_path, "fault", partial(parse_fault, players=setup.game.num_players)))
    forfeits = {fault.seat: fault.hand_number for _, fault in faults if fault.is_final}
    transactions = _Transactions(transactions_path, setup, forfeits, tally.times)
    ends = _read_log(log_path, setup, plan.game_name, tally, transactions.read)
    tally.is_begun = bool(ends)
    if not ends:
        # Without a whole header the match starts anew, and lessons of lost hands would be learned twice.
        _cut_journals(journals, setup.first_hand)
        return tally
    # The first offset is the end of the header.
    hands = logged = len(ends) - 1
    if logged and not tally.is_closed and not transactions_path.exists():
        raise RecoveryError(transactions_path, 1, "the file is missing; restore it, or every hand is played again")
    # A player that forfeited has not learned since. Its journal may be shorter.
    learnt = _cut_journals({seat: path for seat, path in journals.items() if seat not in forfeits}, None)
    # A learner may have been killed between the score and its last lesson.
    tally.is_closed = tally.is_closed and learnt >= setup.first_hand + logged
    if not tally.is_closed:
        # A journal without a hand ends at hand 0, which is before the first one of a later slice.
        hands = min(logged, len(transactions.ends) - 1, max(0, learnt - setup.first_hand))
    end_hand = setup.first_hand + hands
    end_of_comments = _end_of_comments(comments_path, end_hand)
    _cut_journals(journals, end_hand)
    if not tally.is_closed:
        _cut(log_path, ends[hands])
        _cut(transactions_path, transactions.ends[hands])
    del tally.values[hands * setup.game.num_players :]
    tally.hands_before = hands
    _cut(comments_path, end_of_comments)
    # A fault after the last hand belongs to a match that is over, and otherwise to a hand that is replayed.
    end_of_faults = end_hand + 1 if tally.is_closed else end_hand
    kept_faults = [(line, fault) for line, fault in faults if setup.first_hand <= fault.hand_number < end_of_faults]
    _rewrite_faults(faults_path, b"".join([line for line, _ in kept_faults]))
    for _, fault in kept_faults:
        tally.count_fault(fault)
    if hands < logged:
        shorter = "transaction log or a journal" if journals else "transaction log"
        replayed = count_of(logged - hands, "hand")
        tally.warnings.append(
            f"{setup.name}: replayed {replayed} at the end of its log, before which its {shorter} ended."
        )
    return tally


def check_match(setup: MatchSetup, plan: RecordPlan) -> None:
    """Compare the log of a match, if it exists, with the seed and the rules.

    Raises:
        RecoveryError: a line differs, or the log is that of another match.
        OSError: the log cannot be read.
    """
    _read_log(plan.path(setup, "log"), setup, plan.game_name, Tally(setup.game.num_players))


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the whole lines of a file. A fragment at its end is left out.

    Raises:
        RecoveryError: a line is damaged, and other lines follow it.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(iter(partial(file.readline, _MAX_LINE_BYTES), b""), 1):
            if b"\0" not in line and line.endswith(b"\n"):
                yield line
                continue
            # The blocks after the last written one may be NULs, with line ends in between.
            _, nul, rest = line.partition(b"\0")
            unwritten = nul + rest
            while not unwritten.strip(b"\0\r\n"):
                unwritten = file.read(_MAX_LINE_BYTES)
                if not unwritten:
                    return
            raise _difference(path, number, f"the line is damaged: {_shown(line)}")


def _shown(line: bytes) -> str:
    return repr(line[:80].decode("latin-1").rstrip("\r\n"))


def _difference(path: Path, number: int, problem: str) -> RecoveryError:
    remedy = f"correct the line, or remove it with all lines after it, and {RESULT_NAME}"
    return RecoveryError(path, number, f"{problem}; {remedy}, and resume the run to replay their hands")


# ---- the log
def _first_line(name: str, game_name: str, hands: int, seed: Seed) -> bytes:
    return f"# name/game/hands/seed {name} {game_name} {hands} {seed}\n".encode("utf-8", "surrogateescape")


def extend_log(path: Path, name: str, game_name: str, seed: Seed, hands: int, more: int) -> None:
    """Change the log of a match to a larger number of hands, and remove its score.

    Args:
        path: path of the log. It may not exist yet, or have been changed already.
        name: name of the match.
        game_name: name of the game.
        seed: seed of the match.
        hands: number of hands in the log.
        more: new number of hands.

    Raises:
        RecoveryError: the log is that of another match.
        OSError: the log cannot be read or written.
    """
    if not path.exists():
        return
    first, end, rest = path.read_bytes().partition(b"\n")
    new = _first_line(name, game_name, more, seed)
    if first + end == _first_line(name, game_name, hands, seed):
        score = rest.rfind(b"\nSCORE:")
        # The score of an extended match follows after its new last hand.
        if score >= 0:
            rest = rest[: score + 1]
        write_whole(path, new + rest)
    elif first + end != new:
        raise RecoveryError(path, 1, f"this is the log of another match: {_shown(first)}")


def _read_log(
    path: Path,
    setup: MatchSetup,
    game_name: str,
    tally: Tally,
    on_hand: Callable[[int, BettingState], None] = lambda hand, betting: None,
) -> array[int]:
    """Read a log, if it exists, into a tally, and verify every line.

    Args:
        on_hand: called with the number and the betting of each hand.

    Returns:
        Offsets at which the header and then each hand end. Empty if the header is incomplete.
    """
    ends = array("Q")
    players = setup.game.num_players
    names = setup.names
    header = _first_line(setup.name, game_name, setup.hands, setup.seed)
    read = StateLines(setup.game).read
    dealt = deals(setup.game, setup.seed, setup.first_hand)
    lines = _whole_lines(path)
    head = list(islice(lines, _HEADER_LINES))
    first_line = b""
    if head:
        first_line = head[0]
    elif path.exists():
        # A fragment of the first line, which must not be that of another match.
        first_line = path.read_bytes()[: len(header)].rstrip(b"\0\r\n")
    if not header.startswith(first_line):
        raise RecoveryError(path, 1, f"this is the log of another match: {_shown(first_line)}")
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
            hand_number, betting, deal, values, seated = read(line.decode("utf-8", "surrogateescape"))
        except FormatError as error:
            raise _difference(path, number, f"hand {hand} is expected, but {error.problem}") from None
        if hand_number != hand or seated != names[shift:] + names[:shift]:
            raise _difference(path, number, f"hand {hand} of this match is expected, not {_shown(line)}")
        expected = next(dealt)
        # The log has only the board cards that were dealt.
        expected = expected._replace(board=expected.board[: len(deal.board)])
        if deal != expected:
            problem = f"hand {hand} has the cards {_cards(deal)}, but its seed deals {_cards(expected)}"
            raise _difference(path, number, problem)
        on_hand(hand, betting)
        # Values are by position in the log, and by seat in the tally.
        tally.values.extend(values[players - shift :] + values[: players - shift])
        ends.append(ends[-1] + len(line))
    return ends


def _cards(deal: Deal) -> str:
    return format_hole_cards((*deal.hole_cards, deal.board)).rstrip("|")


# ---- the transaction log
class _Transactions:
    """Transaction log, read hand by hand together with the log.

    Attributes:
        ends: 0, then the offsets at which the hands end that are complete here and in the log.
    """

    def __init__(
        self, path: Path, setup: MatchSetup, forfeits: Mapping[Seat, int], times: Sequence[ResponseTimes]
    ) -> None:
        """Open a transaction log, which may not exist.

        Args:
            forfeits: hands in which seats forfeited, from which on their actions are not counted as answers.
            times: response times by seat, to be filled.
        """
        self.ends = array("Q", [0])
        self._times = times
        self._path = path
        self._setup = setup
        self._forfeits = forfeits
        self._lines = enumerate(_whole_lines(path), 1)

    def read(self, hand: int, betting: BettingState) -> None:
        """Read the actions of the next hand of the log. An incomplete hand is left out."""
        is_limit = self._setup.game.is_limit
        end = self.ends[-1]
        used_us = []
        actions = list(chain.from_iterable(betting.rounds))
        # The actions first: `zip` stops at their end without taking a line of the next hand.
        for (_, action), (number, line) in zip(actions, self._lines, strict=False):
            transaction = parse_own_line(line.decode("latin-1"), is_limit=is_limit)
            if transaction is None or transaction.action != action or transaction.hand_number != hand:
                problem = (
                    f"hand {hand} continues with {format_action(action)!r} in the log, but here with {_shown(line)}"
                )
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
    """Yield the lines of a file, each with its parsed content."""
    for number, line in enumerate(_whole_lines(path), 1):
        try:
            yield line, parse(line.decode("utf-8"))
        except ValueError:
            raise RecoveryError(path, number, f"not a {kind} of this match: {_shown(line)}") from None


def _cut_journals(journals: Mapping[Seat, str], end_hand: int | None) -> int:
    """Truncate journals before a hand, or only read them; return the first hand that one of them lacks."""
    try:
        return min([cut_journal(path, end_hand) for path in journals.values()], default=_NO_END)
    except BotFileError as error:
        raise TrainingError(str(error)) from error


def _end_of_comments(path: Path, end_hand: int) -> int:
    """Return the offset at which the comments on the hands before `end_hand` end."""
    end = 0
    for line, (hand, _) in _parsed(path, "comment", parse_comment):
        if hand >= end_hand:
            break
        end += len(line)
    return end


def _rewrite_faults(path: Path, text: bytes) -> None:
    """Write the faults that are kept. Without any, the match has no such file."""
    # Written anew, not truncated: a fault of an earlier start has no hand, and precedes those that are kept.
    if not text:
        path.unlink(missing_ok=True)
    elif path.stat().st_size != len(text):
        write_whole(path, text)


def _cut(path: Path, size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        os.truncate(path, size)
