"""Bots that learn from hand to hand, and the interface by which their matches are run.

Such a bot is another player in every hand, so hands between matches cannot be exchanged: two matches played at the same
time cannot both write one memory. The program that runs matches therefore gives each learner, in each match, the same
memory to start from and a journal of its own, and has the journals merged when all matches are over.

A journal is a file of one line per hand, its number and what was learnt from it, written as soon as the hand is over.
Lines are whole after any accident, and a journal cut off after any hand is what the bot had learnt by then. So an
interrupted match resumes exactly where it was, and nothing is learnt twice.
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

LOCK_TIMEOUT_S = 10.0
"""How long to wait for a journal: the workers of a run that was killed end a moment later than the run itself."""
_IN_USE = "the learner that writes it is still playing"


class LearningBot(Bot):
    """A bot whose decisions may depend on the hands before.

    What it plays must follow from the memory it started with, the hands since then and its seed.
    """

    @property
    @abstractmethod
    def is_learning(self) -> bool:
        """Whether it learns; if not, it is the same player in every hand."""

    @property
    @abstractmethod
    def memory_path(self) -> str | None:
        """The file that it writes unless `train` is called; None without one."""

    @abstractmethod
    def start_memory(self, game: Game) -> bytes:
        """The memory that it starts with in a game, as the content of a file."""

    @abstractmethod
    def train(self, start: str, journal: str) -> None:
        """Play a match whose journal is merged by the caller; called before `prepare`.

        Args:
            start: a file with the memory to start with, in place of its own.
            journal: the file for what it learns. It may hold hands of the match already: they are learnt first.

        Raises:
            BotFileError: a file cannot be read or written, or is not of this bot.
        """

    @abstractmethod
    def end_training(self) -> None:
        """Close the journal at the end of the match or of the bot's part in it; a second call does nothing."""

    @abstractmethod
    def merged(self, start: str, journals: Sequence[str]) -> bytes:
        """The memory at the start and what was learnt since, as the content of a file.

        The order of the journals changes nothing.
        """


class LearningJournal:
    """A journal that is being written, by one process at a time."""

    def __init__(self, path: str) -> None:
        """Open it, to continue after its whole lines; a `BotFileError` if it is not a journal, or in use."""
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
        try:
            self._file.write(f"{hand_number} {learnt}\n")
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def close(self) -> None:
        self._file.close()
        self._lock.close()


def read_journal(path: str) -> Iterator[tuple[int, str]]:
    """The hands of a journal in order, each with what was learnt; none where there is no file."""
    return ((hand, learnt) for hand, learnt, _ in _hands(path))


def cut_journal(path: str, end_hand: int | None = None) -> int:
    """Cut a journal, which may not exist, off after its last whole line, or before `end_hand`.

    Returns:
        the number after that of the last hand that is left; 0 where there is none.
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
    end = 0
    size = 0
    for hand, _, at in _hands(path):
        if end_hand is not None and hand >= end_hand:
            break
        end = hand + 1
        size = at
    if os.path.exists(path) and os.path.getsize(path) > size:
        os.truncate(path, size)
    return end


def _hands(path: str) -> Iterator[tuple[int, str, int]]:
    """The whole lines of a journal: the hand, what was learnt, and where the line ends.

    What follows the last line end, the part of a line or blocks that were never written, is not a line.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise BotFileError(path, f"it cannot be read: {error.strerror or error}") from error
    at = 0
    before = -1
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(keepends=True), 1):
        at += len(line)
        digits, _, learnt = line.partition(b" ")
        if not (digits.isdigit() and line.isascii() and len(digits) < 20 and int(digits) > before):
            raise BotFileError(path, f"line {number} is not that of a hand after hand {before}")
        before = int(digits)
        yield before, learnt.decode("ascii").rstrip("\r\n"), at


def _unwritable(path: str, error: OSError) -> BotFileError:
    return BotFileError(path, f"it cannot be written: {error.strerror or error}")
