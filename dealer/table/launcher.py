"""Starting bots as processes, and finding out what became of them.

A bot is started with host and port as its last two arguments, the game in the environment variable ``ARENA_GAME``,
and both output streams in a file, so that a silent bot and a chatty one cost the same and the last words of a dead
one can be shown. Python is told not to put the bot's folder before the installed packages (``PYTHONSAFEPATH``).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from dealer.table.players import Player, PlayerKind

__all__ = ["BotProcess", "LaunchError"]

_LAST_LINES = 5
_START_BUILT_IN = "import sys; from bots.builtin import main; sys.exit(main())"
_LAST_BYTES = 4096


class LaunchError(RuntimeError):
    """A bot could not be started."""


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
    ) -> None:
        """Start the bot.

        Args:
            player: a built-in bot or a command.
            host: address of the dealer.
            port: of the seat.
            game: name or path of the game.
            seed: for the chance decisions of a built-in bot.
            output_path: where its output goes; a former file is replaced.
            append: keep what is in that file.

        Raises:
            LaunchError: it cannot be started.
        """
        self.output_path = output_path
        self._is_stopped = False
        environment = dict(os.environ, ARENA_GAME=game, PYTHONSAFEPATH="1", PYTHONUNBUFFERED="1")
        try:
            with output_path.open("ab" if append else "wb") as output:
                self._process = subprocess.Popen(
                    command_of(player, host=host, port=port, game=game, seed=seed),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    start_new_session=os.name != "nt",
                )
        except OSError as error:
            raise LaunchError(f"cannot start {player.text!r}: {error.strerror or error}") from None

    @property
    def exit_code(self) -> int | None:
        """Its exit code, None while it runs; a negative number is the signal that ended it."""
        return self._process.poll()

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
        """Wait for it to end; its exit code, or None when it still runs."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, *, grace_s: float = 1.0) -> None:
        """End it and what it started: first asked, then forced; a second call does nothing."""
        if self._is_stopped:
            # By now its number may be that of somebody else's process.
            return
        self._signal(getattr(signal, "SIGTERM", None))
        self.wait(grace_s)
        # Also when it has ended: what it started in the background may still be there.
        self._signal(getattr(signal, "SIGKILL", None))
        self.wait(grace_s)
        self._is_stopped = True

    def _signal(self, number: int | None) -> None:
        try:
            if os.name != "nt" and number is not None:
                os.killpg(self._process.pid, number)
            elif self._process.poll() is None:
                self._process.kill()
        except (ProcessLookupError, PermissionError):
            return


def command_of(player: Player, *, host: str, port: int, game: str, seed: int | None) -> Sequence[str]:
    """The command line that starts a player."""
    if player.kind is PlayerKind.BUILT_IN:
        # The script `arena bot` may not be on the path of this process; the interpreter is known.
        command = [sys.executable, "-P", "-c", _START_BUILT_IN, player.text, host, str(port), "--game", game]
        return command if seed is None else [*command, "--seed", str(seed)]
    return [*player.command, host, str(port)]


def stop_all(processes: Sequence[BotProcess], *, leave_s: float = 0.5) -> None:
    """End bots whose match is over: they may leave by themselves for a moment, then they are stopped."""
    until = time.monotonic() + leave_s
    for process in processes:
        process.wait(max(0.0, until - time.monotonic()))
    stoppers = [threading.Thread(target=process.stop) for process in processes]
    for stopper in stoppers:
        stopper.start()
    for stopper in stoppers:
        stopper.join()


def _printable(line: str) -> str:
    """A line that cannot paint the terminal of who reads it."""
    return "".join([char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in line])
