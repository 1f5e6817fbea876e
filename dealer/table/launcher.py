"""Starting bots as processes, finding out what became of them, and ending them with everything they started.

A bot is started with host and port as its last two arguments (what it is set to have more comes after them), the game
in its environment (`bots.sdk.program.GameFile`), and both output streams in a file, so that the last lines of a bot
that died can be shown. The seed of a Python bot is in its environment too, because every process of a machine can read
a command line; a bot that runs as another user gets none, since the match's seed follows from it. Our own interpreter
is set not to put the present folder before the installed packages (``-P``); a command may import its neighbours.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bots.sdk.program import GameFile, Program
from bots.sdk.registry import SEED_VARIABLE
from dealer.errors import LaunchError
from dealer.table.players import LearnerFiles, Player, PlayerKind
from engine.errors import quoted

_log = logging.getLogger(__name__)

_START_PYTHON = "import sys; from bots.sdk.builtin import main; sys.exit(main())"
_NO_SDK = re.compile(r"ModuleNotFoundError: No module named '(acpc_arena|bots|engine|protocol)[.']")


class BotProcess(Program):
    """One running bot."""

    def __init__(
        self,
        player: Player,
        *,
        host: str,
        port: int,
        game: GameFile,
        seed: int | None,
        output_path: Path,
        append: bool = False,
        learner_files: LearnerFiles | None = None,
        on_exit: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the bot.

        Args:
            seed: for the chance decisions of a Python bot, unless it runs as another user.
            output_path: where its output goes; an earlier file is replaced.
            on_exit: called when the process has ended, in a thread of its own.

        Raises:
            LaunchError: it cannot be started.
        """
        self._label = f"{player.text} at port {port}"
        self._on_bot_exit = on_exit
        try:
            super().__init__(
                player_command(player, host=host, port=port, game=game.path, learner_files=learner_files),
                environment=_environment(player, game, seed),
                output_path=output_path,
                directory=player.directory,
                append=append,
                on_exit=self._note_exit,
            )
        except OSError as error:
            reason = error.strerror or error
            if error.errno == errno.ENOEXEC:
                reason = f"{reason}: its first line has to name its interpreter, such as #!/usr/bin/env python3"
            raise LaunchError(f"start {quoted(player.text, 400)}", reason) from None
        except RuntimeError as error:
            raise LaunchError(f"start {quoted(player.text, 400)}", error) from None
        _log.info("%s: started as process %d", self._label, self.pid)

    def _note_exit(self) -> None:
        _log.info("%s: process %d ended with exit code %d", self._label, self.pid, self.exit_code)
        self._on_bot_exit()


def _environment(player: Player, game: GameFile, seed: int | None) -> dict[str, str]:
    variables = {**os.environ, **game.variables, "PYTHONUNBUFFERED": "1"}
    variables.pop(SEED_VARIABLE, None)
    if seed is not None and player.kind is PlayerKind.PYTHON and not player.has_own_user:
        variables[SEED_VARIABLE] = str(seed)
    return variables | dict(player.environment)


def sdk_cure(player: Player, last_lines: Sequence[str]) -> str:
    """A sentence for a Python bot whose interpreter lacks this package, by the last it wrote; empty for any other.

    The interpreter that a command names is never replaced: it may have other packages that the bot needs.
    """
    if player.kind is not PlayerKind.COMMAND or not any(map(_NO_SDK.match, last_lines)):
        return ""
    folder = player.directory or ""
    script = next(
        (word for word in player.command if word.endswith(".py") and os.path.isfile(os.path.join(folder, word))), ""
    )
    if not script:
        return "Its Python does not have acpc-arena: install it there."
    name = f"{script}:{_bot_class(os.path.join(folder, script))}"
    return (
        f"Its Python does not have acpc-arena: install it there, or write {name} to start it with the Python of arena."
    )


def _bot_class(path: str) -> str:
    """The class of a Python file that looks like its bot: the last that is derived from another."""
    import ast

    try:
        with open(path, "rb") as file:
            classes = [node for node in ast.parse(file.read()).body if isinstance(node, ast.ClassDef)]
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return "CLASS"
    for node in reversed(classes):
        if node.bases:
            return node.name
    return "CLASS"


def player_command(
    player: Player, *, host: str, port: int, game: Path, learner_files: LearnerFiles | None = None
) -> Sequence[str]:
    """The command line that starts a player."""
    command = _own_command(player, host=host, port=port, game=game, learner_files=learner_files)
    if player.confinement is None:
        return command
    return player.confinement.command(command)


def _own_command(player: Player, *, host: str, port: int, game: Path, learner_files: LearnerFiles | None) -> list[str]:
    if player.kind is PlayerKind.PYTHON:
        # The script `arena bot` may not be on the path of this process; the interpreter is known.
        command = [
            sys.executable,
            "-P",
            "-c",
            _START_PYTHON,
            player.text,
            host,
            str(port),
            "--game",
            str(game.absolute()),
        ]
        if learner_files is not None:
            command += ["--start", learner_files.start, "--journal", learner_files.journal]
        return command
    return [*player.command, host, str(port), *player.arguments]


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
