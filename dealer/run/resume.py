"""What an interrupted match has left on disk, and how to go on from there.

The files of a match are written line by line, so whatever ended the run (Ctrl-C, kill -9, a power cut), they hold
whole hands up to some point and perhaps a fragment: part of a line, or the NULs of blocks that were never written.
`recover_match` finds the last hand that is whole in both the log and the transaction log, cuts the files off after it,
and returns the state of the match there. Resumed from that hand, the match deals the same cards and leaves the same log
as if it had never been interrupted.

Nothing is guessed: a whole line that does not belong to this match (another seed, other players, another game), or a
line that is damaged while others follow it, raises `RecoveryError`, and nothing is cut.
"""

from __future__ import annotations

import os
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from bots.errors import BotFileError
from bots.sdk.learning import cut_journal
from dealer.errors import RecoveryError, TrainingError
from dealer.match import EarlierHands, MatchSetup
from dealer.match.faults import Fault
from dealer.run.record import RecordPlan, ResponseTimes
from dealer.run.writers import parse_fault
from engine import Deal, Game, Seat, Seed, betting_start, deals
from engine.hand import hand_values
from logs.transaction_log import parse_comment, parse_own_line
from logs.whole_file import write_whole
from protocol.errors import FormatError
from protocol.match_state import betting_after, betting_text

_HEADER_LINES = 4
_NO_END = 2**64
"""A hand number beyond all."""
_MOST_BYTES_OF_A_LINE = 1 << 20
"""Longer than any line of a match, so that a file without line ends does not fill the memory."""


@dataclass(frozen=True)
class RecoveredMatch:
    """Where an interrupted match stands.

    Attributes:
        progress: for `Match` and `InProcessMatch`.
        is_closed: whether the match has ended with its score.
        values: net chips by seat, hand after hand.
        times: by seat, how long answers took.
        lost: the hands of the log that are played again because the transaction log ends before them.
    """

    progress: EarlierHands
    is_closed: bool
    values: array[float]
    faults: tuple[Fault, ...]
    times: tuple[ResponseTimes, ...]
    lost: int = 0


def recover_match(
    setup: MatchSetup, plan: RecordPlan, journals: Mapping[Seat, str] = MappingProxyType({})
) -> RecoveredMatch | None:
    """Read what a match has left and cut it off at the last whole hand; None if the match has not begun.

    Args:
        journals: of the players that learn. A match that ended before a journal was whole has not ended.

    Raises:
        RecoveryError: the files are not those of this match, or damaged before their end.
        TrainingError: a journal cannot be read, or its player is still there.
        OSError: they cannot be read or cut.
    """
    log_path, transactions_path = plan.path(setup, "log"), plan.path(setup, "tlog")
    faults_path = plan.path(setup, "faults")
    if not log_path.exists():
        _cut_journals(journals, setup.first_hand)
        return None
    players = setup.game.num_players
    log = _read_log(log_path, setup, plan.game_name)
    if not log.ends:
        begin = _first_line(setup.name, plan.game_name, setup.hands, setup.seed)
        left = log_path.read_bytes()[: len(begin)].rstrip(b"\0\r\n")
        if not begin.startswith(left):
            raise RecoveryError(log_path, 1, f"this is the log of another match: {_shown(left)}")
        _cut_journals(journals, setup.first_hand)
        return None
    faults = _read_faults(faults_path, players)
    forfeits = {fault.seat: fault.hand_number for fault, _ in faults if fault.is_final}
    if log.bettings and not log.is_closed and not transactions_path.exists():
        raise RecoveryError(
            transactions_path, 1, "the file is missing, and without it every hand would be played again"
        )
    transactions = _read_transactions(transactions_path, setup, forfeits, log.bettings)
    learnt = _cut_journals({seat: path for seat, path in journals.items() if seat not in forfeits}, None)
    is_closed = log.is_closed and learnt >= setup.first_hand + len(log.bettings)
    hands = len(log.bettings)
    if not is_closed:
        hands = min(hands, len(transactions.ends) - 1, max(0, learnt - setup.first_hand))
    end_of_comments = _end_of_comments(plan.path(setup, "comments"), setup.first_hand + hands)
    _cut_journals(journals, setup.first_hand + hands)
    if not is_closed:
        _cut(log_path, log.ends[hands])
        _cut(transactions_path, transactions.ends[hands])
    values = log.values[: hands * players]
    _cut(plan.path(setup, "comments"), end_of_comments)
    standing = _keep_standing(faults_path, faults, setup.first_hand, hands + is_closed)
    progress = EarlierHands(
        hands,
        tuple(_total(values, seat, players) for seat in range(players)),
        tuple(times.total_us for times in transactions.times),
        frozenset(fault.seat for fault in standing if fault.is_final),
    )
    lost = len(log.bettings) - hands
    return RecoveredMatch(progress, is_closed, values, standing, transactions.times, lost)


def _total(values: array[float], seat: int, players: int) -> float:
    """The sum in the order in which a match adds the values, so that its last digit is the same."""
    total = 0.0
    for value in values[seat::players]:
        total += value
    return total


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
                    problem = f"the line is damaged: {_shown(line)}; put it right, or cut the file off before it"
                    raise RecoveryError(path, number, f"{problem} to replay the hands from that line on")
                return
            yield line


def _shown(line: bytes) -> str:
    return repr(line[:80].decode("latin-1").rstrip("\r\n"))


# ---- the log
@dataclass
class _Log:
    """The content of a log.

    Attributes:
        ends: the offsets at which the header and then each hand end; empty if the header is not whole.
        bettings: a checksum of each hand's betting.
        values: net chips by seat, hand after hand.
    """

    ends: array[int] = field(default_factory=lambda: array("Q"))
    bettings: array[int] = field(default_factory=lambda: array("L"))
    values: array[float] = field(default_factory=lambda: array("d"))
    is_closed: bool = False


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


def _read_log(path: Path, setup: MatchSetup, game_name: str) -> _Log:
    log = _Log()
    players = setup.game.num_players
    header = _first_line(setup.name, game_name, setup.hands, setup.seed)
    names = [name.encode("utf-8", "surrogateescape") for name in setup.names]
    name_fields = [b"|".join(names[shift:] + names[:shift]) + b"\n" for shift in range(players)]
    cards = deals(setup.game, setup.seed, setup.first_hand)
    at = 0
    for number, line in enumerate(_whole_lines(path), 1):
        at += len(line)
        if number <= _HEADER_LINES:
            if number == 1 and line != header:
                raise RecoveryError(path, 1, f"this is the log of another match: {_shown(line)}")
            if number == _HEADER_LINES:
                log.ends.append(at)
            continue
        if line.startswith(b"SCORE:"):
            log.is_closed = True
            break
        hand = setup.first_hand + len(log.bettings)
        shift = 0 if setup.fixed_seats else hand % players
        parts = line.split(b":")
        values = None
        if len(parts) == 6 and parts[:2] == [b"STATE", b"%d" % hand] and parts[5] == name_fields[shift]:
            values = _values(parts, setup.game, cards)
        if values is None:
            raise RecoveryError(path, number, f"hand {hand} of this match is expected, not {_shown(line)}")
        log.values.extend(values[players - shift :] + values[: players - shift])
        log.bettings.append(zlib.crc32(parts[2]))
        log.ends.append(at)
    return log


def _values(parts: Sequence[bytes], game: Game, cards: Iterator[Deal]) -> list[float] | None:
    """The values of a STATE line, by position; None if they are not values of this game.

    Args:
        cards: the deals of the hands not read yet; only taken from with three or more players.
    """
    players = game.num_players
    try:
        values = [float(text) for text in parts[4].split(b"|")]
    except ValueError:
        return None
    if len(values) != players:
        return None
    if players < 3:
        return values
    deal = next(cards)
    if players - parts[2].count(b"f") < 3:
        return values
    # The log prints six digits, too few for a pot split three ways: settled again by the rules.
    try:
        betting = betting_after(game, parts[2].decode("latin-1"))
    except FormatError:
        return None
    return hand_values(betting, deal) if betting.finished else None


# ---- the transaction log
class _Transactions(NamedTuple):
    """The content of a transaction log.

    Attributes:
        ends: 0, then the offsets at which the hands end that are whole here and in the log.
        times: by seat, how long answers took.
    """

    ends: Sequence[int]
    times: tuple[ResponseTimes, ...]


def _read_transactions(
    path: Path, setup: MatchSetup, forfeits: Mapping[Seat, int], bettings: Sequence[int]
) -> _Transactions:
    """Read the hands that are whole in the log.

    Args:
        forfeits: the hand since which a seat takes no part; it has given no answers there.
        bettings: the checksums of the hands in the log.
    """
    game = setup.game
    start = betting_start(game)
    ends = array("Q", [0])
    transactions = _Transactions(ends, tuple(ResponseTimes() for _ in range(game.num_players)))
    if start.finished:
        # No player can ever act.
        ends.extend([0] * len(bettings))
        return transactions
    betting = start
    at = 0
    answers: list[tuple[Seat, int]] = []
    for number, line in enumerate(_whole_lines(path), 1):
        if len(ends) > len(bettings):
            break
        hand = setup.first_hand + len(ends) - 1
        transaction = parse_own_line(line.decode("latin-1"), is_limit=game.is_limit)
        after = None
        if transaction is not None and transaction.action is not None and transaction.hand_number == hand:
            after = betting.after_if_legal(transaction.action)
        if transaction is None or after is None:
            raise RecoveryError(path, number, f"an action of hand {hand} is expected, not {_shown(line)}")
        seat = Seat((betting.acting_position + (0 if setup.fixed_seats else hand)) % game.num_players)
        answers.append((seat, transaction.times.received_us - transaction.times.sent_us))
        at += len(line)
        betting = after
        if betting.finished:
            if zlib.crc32(betting_text(betting).encode()) != bettings[len(ends) - 1]:
                raise RecoveryError(path, number, f"hand {hand} has different actions in the log")
            for seat, used_us in answers:
                if hand < forfeits.get(seat, hand + 1):
                    transactions.times[seat].add(used_us)
            answers = []
            ends.append(at)
            betting = start
    return transactions


# ---- the faults
def _read_faults(path: Path, players: int) -> list[tuple[Fault, str]]:
    faults = []
    for number, raw in enumerate(_whole_lines(path), 1):
        try:
            line = raw.decode("utf-8")
            fault = parse_fault(line)
        except ValueError:
            raise RecoveryError(path, number, f"not a fault of this match: {_shown(raw)}") from None
        if not 0 <= fault.seat < players:
            raise RecoveryError(path, number, f"there is no seat {fault.seat + 1} in this match")
        faults.append((fault, line))
    return faults


def _keep_standing(path: Path, faults: Sequence[tuple[Fault, str]], first_hand: int, hands: int) -> tuple[Fault, ...]:
    """The faults of the hands that stand; those of hands to be replayed are removed from the file."""
    standing = [(fault, line) for fault, line in faults if first_hand <= fault.hand_number < first_hand + hands]
    text = "".join(line for _, line in standing)
    if not standing:
        path.unlink(missing_ok=True)
    elif path.stat().st_size != len(text.encode("utf-8")):
        write_whole(path, text)
    return tuple(fault for fault, _ in standing)


def _end_of_comments(path: Path, end_hand: int) -> int:
    """The offset at which the comments of hands to be replayed begin."""
    at = 0
    for number, line in enumerate(_whole_lines(path), 1):
        try:
            if parse_comment(line.decode("ascii"))[0] >= end_hand:
                break
        except ValueError:
            raise RecoveryError(path, number, f"not a comment of this match: {_shown(line)}") from None
        at += len(line)
    return at


def _cut_journals(journals: Mapping[Seat, str], end_hand: int | None) -> int:
    """Cut journals off before a hand; returns the first hand that one of them lacks."""
    try:
        return min([cut_journal(path, end_hand) for path in journals.values()], default=_NO_END)
    except BotFileError as error:
        raise TrainingError(str(error)) from error


def _cut(path: Path, size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        os.truncate(path, size)
