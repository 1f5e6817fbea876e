"""Base class of bots that learn between hands, and journals to merge their matches.

A learning bot plays differently in each hand, and matches that run in parallel cannot share one memory file. The
dealer therefore starts each learner of each match with the same memory and a journal of its own, and merges the
journals when all matches are over.

A journal has one line per hand, its number and the lesson of the bot, written when the hand ends. A journal
cut after any hand is the learner's state after that hand, so an interrupted match resumes without learning twice.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from bots.artifact import lock_file
from bots.errors import BotFileError
from bots.sdk.bot import Bot
from engine import Game
from logs.whole_file import LineFile

# The workers of a run that was killed end, and release their journals, shortly after the run itself.
LOCK_TIMEOUT_S = 10.0
_IN_USE = "the learner that writes it is still playing"


class LearningBot(Bot):
    """A bot whose decisions may depend on earlier hands.

    They must follow from the memory at the start, the hands since then, and the bot's seed.
    """

    @property
    @abstractmethod
    def is_learning(self) -> bool:
        """False if it plays alike in all hands, so that its matches need no journal."""

    @property
    @abstractmethod
    def memory_path(self) -> str | None:
        """Path of the memory file that it updates unless `train` is called; None without one."""

    @abstractmethod
    def start_memory(self, game: Game) -> bytes:
        """Return the content of a memory file with which the bot starts in a game."""

    @abstractmethod
    def train(self, start: str, journal: str) -> None:
        """Write a journal in the next match instead of updating the memory; called before `prepare`.

        Args:
            start: path of the memory file to start with, instead of the bot's own.
            journal: path of the journal. If it already has hands of this match, the bot learns from them first.

        Raises:
            BotFileError: a file is unreadable, not writable, or does not belong to this bot.
        """

    @abstractmethod
    def end_training(self) -> None:
        """Close the journal when the match ends or the bot leaves it; further calls do nothing."""

    @abstractmethod
    def merged(self, start: str, journals: Sequence[str]) -> bytes:
        """Return the content of a memory file with the memory at the start and all journals.

        The result must not depend on the order of the journals.

        Args:
            start: path of the memory file with which all matches started.
            journals: paths of the journals.
        """


class LearningJournal:
    """Journal open for writing. A lock keeps other processes from writing it at the same time."""

    def __init__(self, path: str) -> None:
        """Create a journal, or open one to continue after its last complete line.

        Raises:
            BotFileError: the file is not a journal, not writable, or another process still holds its lock.
        """
        self.path = path
        self._lock = lock_file(path, _IN_USE, patience_s=LOCK_TIMEOUT_S)
        try:
            _cut(path, None)
            self._file = LineFile(path, append=True)
        except OSError as error:
            self._lock.close()
            raise _unwritable(path, error) from error
        except BotFileError:
            self._lock.close()
            raise

    def write(self, hand_number: int, learnt: str) -> None:
        """Append a line for a hand.

        Args:
            hand_number: larger than that of the line before.
            learnt: ASCII text without line ends.

        Raises:
            BotFileError: the file cannot be written.
        """
        try:
            self._file.write(f"{hand_number} {learnt}\n")
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def close(self) -> None:
        self._file.close()
        self._lock.close()


def read_journal(path: str) -> Iterator[tuple[int, str]]:
    """Yield the number of each hand and its text from a journal; nothing if there is no file.

    Raises:
        BotFileError: the file is unreadable or not a journal.
    """
    return ((hand, learnt) for hand, learnt, _ in _read_lines(path))


def cut_journal(path: str, end_hand: int | None = None) -> int:
    """Remove the incomplete last line of a journal, and all hands from `end_hand` on.

    Returns:
        the number of the last remaining hand plus 1; 0 if no hand remains or there is no file.

    Raises:
        BotFileError: the file is not a journal, not writable, or another process still holds its lock.
    """
    if not os.path.exists(path):
        return 0
    lock = lock_file(path, _IN_USE, patience_s=LOCK_TIMEOUT_S)
    try:
        return _cut(path, end_hand)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        lock.close()


def _cut(path: str, end_hand: int | None) -> int:
    next_hand = 0
    size = 0
    for hand, _, line_end in _read_lines(path):
        if end_hand is not None and hand >= end_hand:
            break
        next_hand = hand + 1
        size = line_end
    if os.path.exists(path) and os.path.getsize(path) > size:
        os.truncate(path, size)
    return next_hand


def _read_lines(path: str) -> Iterator[tuple[int, str, int]]:
    """Yield hand number, text and end offset in bytes of each complete line."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise BotFileError(path, f"it cannot be read: {error.strerror or error}") from error
    # After a crash the file may end with part of a line, or with blocks that were allocated but never written.
    complete = data[: data.rfind(b"\n") + 1]
    offset = 0
    last_hand = -1
    for number, line in enumerate(complete.splitlines(keepends=True), 1):
        offset += len(line)
        digits, _, learnt = line.partition(b" ")
        is_number = digits.isdigit() and len(digits) < 20
        if not (is_number and line.isascii() and int(digits) > last_hand):
            raise BotFileError(path, f"line {number} does not begin with a hand number above {last_hand}")
        last_hand = int(digits)
        yield last_hand, learnt.decode("ascii").rstrip("\r\n"), offset


def _unwritable(path: str, error: OSError) -> BotFileError:
    return BotFileError(path, f"it cannot be written: {error.strerror or error}")
