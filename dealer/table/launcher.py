"""Starting bots as processes, finding out what became of them, and ending them with everything they started.

A bot is started with host and port as its last two arguments, the game in the environment variable ``ARENA_GAME``,
and both output streams in a file, so that a silent bot and a chatty one cost the same and the last lines of a bot
that died can be shown. Python is told not to put the bot's folder before the installed packages (``PYTHONSAFEPATH``).

A bot may be a script that starts the real player, and that player may outlive the script. So whatever belongs to a
bot is found in three ways: its process group (POSIX), its descendants, and a variable in the environment that every
process it starts inherits (``ARENA_BOT``), wherever that process has gone since.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from dealer.errors import LaunchError
from dealer.table.players import Player, PlayerKind

__all__ = ["BotProcess", "command_of", "stop_all"]

_log = logging.getLogger(__name__)

_LAST_LINES = 5
_START_PYTHON = "import sys; from bots.builtin import main; sys.exit(main())"
_LAST_BYTES = 4096
_MARK = "ARENA_BOT"


class BotProcess:
    """One running bot.

    Attributes:
        output_path: the file that holds what it writes.
    """

    def __init__(
        self,
        player: Player,
        *,
        host: str,
        port: int,
        game: str,
        seed: int | None,
        output_path: Path,
        append: bool = False,
        on_exit: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the bot.

        Args:
            player: a Python bot or a command.
            host: address of the dealer.
            port: of the seat.
            game: name or path of the game.
            seed: for the chance decisions of a Python bot.
            output_path: where its output goes; an earlier file is replaced.
            append: keep what is in that file.
            on_exit: called when the process has ended, in a thread of its own.

        Raises:
            LaunchError: it cannot be started.
        """
        self.output_path = output_path
        self._on_exit = on_exit
        self._label = f"{player.text} at port {port}"
        self._ended = threading.Event()
        self._is_stopped = False
        self._mark = uuid.uuid4().hex
        self._older_pids = frozenset(psutil.pids())
        environment = dict(os.environ, ARENA_GAME=game, PYTHONSAFEPATH="1", PYTHONUNBUFFERED="1")
        environment[_MARK] = self._mark
        try:
            with output_path.open("ab" if append else "wb") as output:
                self._process = subprocess.Popen(
                    command_of(player, host=host, port=port, game=game, seed=seed),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    cwd=player.directory,
                    start_new_session=os.name != "nt",
                )
        except OSError as error:
            raise LaunchError(f"start {player.text!r}", error.strerror or error) from None
        _log.info("%s: started as process %d", self._label, self._process.pid)
        try:
            threading.Thread(target=self._await_exit, daemon=True).start()
        except RuntimeError as error:
            self._process.kill()
            self._process.wait()
            raise LaunchError(f"start {player.text!r}", error) from None

    def _await_exit(self) -> None:
        self._process.wait()
        self._ended.set()
        _log.info("%s: process %d ended with exit code %d", self._label, self._process.pid, self._process.returncode)
        self._on_exit()

    @property
    def exit_code(self) -> int | None:
        """Its exit code, None while it runs; a negative number is the signal that ended it."""
        return self._process.returncode if self._ended.is_set() else None

    def last_lines(self) -> list[str]:
        """The last lines it wrote."""
        try:
            with self.output_path.open("rb") as output:
                output.seek(0, os.SEEK_END)
                output.seek(max(0, output.tell() - _LAST_BYTES))
                text = output.read().decode("utf-8", "replace")
        except OSError:
            return []
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
        return [_printable(line) for line in lines[-_LAST_LINES:]]

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
        for process in {*others, *self._others()}:
            with contextlib.suppress(psutil.Error):
                process.kill()
        self.wait(grace_s)
        self._is_stopped = True

    def _signal_group(self, name: str) -> None:
        """Signal the bot and its process group; where there are no groups, end the bot."""
        try:
            if os.name == "nt":
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
        for pid in set(psutil.pids()) - self._older_pids - {self._process.pid, *(process.pid for process in found)}:
            with contextlib.suppress(psutil.Error, OSError):
                process = psutil.Process(pid)
                if process.environ().get(_MARK) == self._mark:
                    found.append(process)
        return found


def command_of(player: Player, *, host: str, port: int, game: str, seed: int | None) -> Sequence[str]:
    """The command line that starts a player."""
    if player.kind is PlayerKind.PYTHON:
        # The script `arena bot` may not be on the path of this process; the interpreter is known.
        command = [sys.executable, "-P", "-c", _START_PYTHON, player.text, host, str(port), "--game", game]
        return command if seed is None else [*command, "--seed", str(seed)]
    return [*player.command, host, str(port)]


def stop_all(processes: Sequence[BotProcess], *, leave_s: float = 0.5) -> None:
    """End bots whose match is over: they have a moment to leave by themselves, then they are stopped."""
    until = time.monotonic() + leave_s
    for process in processes:
        process.wait(max(0.0, until - time.monotonic()))
    stoppers = [threading.Thread(target=process.stop) for process in processes]
    for stopper in stoppers:
        stopper.start()
    for stopper in stoppers:
        stopper.join()


def _printable(line: str) -> str:
    """A line without control characters, safe to show in a terminal."""
    return "".join([char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in line])
