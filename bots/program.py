"""A program as a process: started, watched, and ended together with everything it started.

A bot may be a script that starts the real player, and that player may outlive the script. So whatever belongs to a
program is found in four ways: its process group (POSIX), its descendants, a variable in the environment
(``ARENA_BOT``), and, on Linux, a number in a resource limit. A process that forks twice, calls ``setsid`` and clears
its environment has left the first three; a hard limit it inherits all the same, and only root can raise it again. The
limit is ``RLIMIT_RTTIME``, which concerns real-time scheduling only, and the numbers are too large to bound even that.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import psutil

__all__ = ["SERVER_VARIABLE", "Program", "end_programs_of", "split_command"]

_LAST_LINES = 5
_LAST_BYTES = 1 << 14
_MOST_LINE_LETTERS = 4096
_BOT_VARIABLE = "ARENA_BOT"
SERVER_VARIABLE = "ARENA_SERVER"
"""Set in the environment of every process of a server; its value names the server's folder, the same at every start."""
_BOT_BITS = 32
_LEAST_MARK = 1 << 61
"""Above any time that somebody sets: 73,000 years, in microseconds."""
_REALTIME_LIMIT = re.compile(rb"(?m)^Max realtime timeout +\S+ +([0-9]+) ")
_MOST_ROUNDS = 10
"""How often what is left is looked for: a process may start another while it is being ended."""
_ROUND_S = 0.05
IS_WINDOWS = os.name == "nt"


def split_command(text: str, *, is_windows: bool = IS_WINDOWS) -> tuple[str, ...]:
    """The words of a command line; quotes hold a word together, and on Windows a backslash is an ordinary character.

    Raises:
        ValueError: a quote is not closed.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if is_windows:
        lexer.escape = ""
        lexer.quotes = '"'
    return tuple(lexer)


class Program:
    """One running program; both its output streams go to a file, so that a silent one and a chatty one cost the same.

    Attributes:
        output_path: the file that holds what it writes.
        pid: the number of its process.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        output_path: Path,
        directory: str | None = None,
        append: bool = False,
        on_exit: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the program.

        Args:
            command: the program and its arguments.
            environment: all its environment variables.
            output_path: where its output goes; an earlier file is replaced.
            directory: the folder it is started in; None for the present one.
            append: keep what is in the output file.
            on_exit: called when the process has ended, in a thread of its own.

        Raises:
            OSError: it cannot be started.
            RuntimeError: no thread can be started to watch it.
        """
        self.output_path = output_path
        self._on_exit = on_exit
        self._ended = threading.Event()
        self._is_stopped = False
        self._name = uuid.uuid4().hex
        self._mark = _server_bits(environment.get(SERVER_VARIABLE, self._name)) | int(self._name[:8], 16)
        self._older_pids = frozenset(psutil.pids())
        with output_path.open("ab" if append else "wb") as output:
            self._output_start = os.fstat(output.fileno()).st_size
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**environment, _BOT_VARIABLE: self._name},
                cwd=directory,
                start_new_session=not IS_WINDOWS,
                # Ctrl-C reaches us, not the bots: we end them. Windows alone knows the flag.
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        self.pid = self._process.pid
        _set_mark(self.pid, self._mark)
        try:
            threading.Thread(target=self._await_exit, daemon=True).start()
        except RuntimeError:
            self._process.kill()
            self._process.wait()
            raise

    def _await_exit(self) -> None:
        self._process.wait()
        self._ended.set()
        self._on_exit()

    @property
    def exit_code(self) -> int | None:
        """Its exit code, None while it runs; a negative number is the signal that ended it."""
        return self._process.returncode if self._ended.is_set() else None

    def has_written(self, text: str) -> bool:
        """Whether the first of what it wrote holds a text."""
        try:
            with self.output_path.open("rb") as output:
                output.seek(self._output_start)
                return text.encode() in output.read(_LAST_BYTES)
        except OSError:
            return False

    def last_lines(self) -> list[str]:
        """The last lines it wrote, and where they are the end of an indented block, the line that heads it.

        Many languages (Ruby, Java, JavaScript) print what went wrong first and the calls that led there below it.
        """
        try:
            with self.output_path.open("rb") as output:
                output.seek(0, os.SEEK_END)
                output.seek(max(0, output.tell() - _LAST_BYTES))
                text = output.read().decode("utf-8", "replace")
        except OSError:
            return []
        lines = [line.rstrip()[-_MOST_LINE_LETTERS:] for line in text.splitlines() if line.strip()]
        last = [_printable(line) for line in lines[-_LAST_LINES:]]
        heads = [line for line in lines[:-_LAST_LINES] if not line[0].isspace()]
        if heads and last[0][0].isspace() and not heads[-1].startswith("Traceback"):
            return [_printable(heads[-1]), "...", *last]
        return last

    def wait(self, timeout_s: float) -> int | None:
        """Wait for it to end; its exit code, or None if it still runs."""
        self._ended.wait(timeout_s)
        return self.exit_code

    def stop(self, *, grace_s: float = 1.0) -> None:
        """End it and what it started: asked first, forced after the grace period; a second call does nothing."""
        if self._is_stopped:
            # By now the number of its group may belong to somebody else.
            return
        others = self._others()
        self._signal_group("SIGTERM")
        for process in others:
            with contextlib.suppress(psutil.Error):
                process.terminate()
        until = time.monotonic() + grace_s
        self.wait(grace_s)
        psutil.wait_procs(others, max(0.0, until - time.monotonic()))
        # Also when the bot itself has ended: what it started may still be there, or may have started more meanwhile.
        self._signal_group("SIGKILL")
        for _ in range(_MOST_ROUNDS):
            for process in others:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(others, _ROUND_S)
            if not (others := self._others()):
                break
        self.wait(grace_s)
        self._is_stopped = True

    def _signal_group(self, name: str) -> None:
        """Signal the bot and its process group; where there are no groups, end the bot."""
        try:
            if IS_WINDOWS:
                self._process.kill()
            elif self.exit_code is None or not psutil.pid_exists(self._process.pid):
                # Once the bot has ended, another process with its number means that its group was empty before.
                os.killpg(self._process.pid, getattr(signal, name))
        except (ProcessLookupError, PermissionError):
            return

    def _others(self) -> list[psutil.Process]:
        """The processes that the bot has started and that still run, wherever they have gone."""
        found = []
        with contextlib.suppress(psutil.Error):
            if self.exit_code is None:
                found = psutil.Process(self._process.pid).children(recursive=True)
        pids = set(psutil.pids()) - self._older_pids - {self._process.pid, *(process.pid for process in found)}
        return found + _marked(pids, _BOT_VARIABLE, self._name, lambda mark: mark == self._mark)


def end_programs_of(server: str) -> int:
    """End every process that an earlier start of a server has left behind; returns how many there were.

    Args:
        server: the value of `SERVER_VARIABLE`.
    """
    bits = _server_bits(server)
    found = _marked(psutil.pids(), SERVER_VARIABLE, server, lambda mark: mark >> _BOT_BITS == bits >> _BOT_BITS)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(found, 5.0)
    return len(found)


def _server_bits(server: str) -> int:
    """The upper bits of the marks of a server's programs."""
    digest = hashlib.blake2b(server.encode("utf-8", "surrogateescape"), digest_size=4).digest()
    return _LEAST_MARK | int.from_bytes(digest) >> 4 << _BOT_BITS


def _set_mark(pid: int, mark: int) -> None:
    """Mark a process and all that it will start, where the system can."""
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_RTTIME, (mark, mark))


def _marked(pids: Iterable[int], variable: str, value: str, has_mark: Callable[[int], bool]) -> list[psutil.Process]:
    """The processes that have a variable in their environment or a mark in their limits."""
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            is_marked = has_mark(_mark_of(pid)) or process.environ().get(variable) == value
            if is_marked and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _mark_of(pid: int) -> int:
    """The mark of a process; 0 where it has none."""
    if sys.platform != "linux":
        return 0
    limit = _REALTIME_LIMIT.search(Path(f"/proc/{pid}/limits").read_bytes())
    return 0 if limit is None else int(limit[1])


def _printable(line: str) -> str:
    """A line without control characters, safe to show in a terminal."""
    return "".join([char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in line])
