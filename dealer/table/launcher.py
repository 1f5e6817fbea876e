"""Start bots as processes, and stop them with everything they started.

A bot gets the dealer's host and port as its last two arguments, before any of its own, and the game in its environment
(`bots.sdk.program.GameFile`). Both output streams go to a file, so that the last lines of a failed bot can be shown.
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
from bots.sdk.registry import EXCHANGES_VARIABLE, RESPONSE_VARIABLE, SEED_VARIABLE
from dealer.errors import LaunchError
from dealer.table.players import LearnerFiles, Player, PlayerKind
from engine.errors import quoted

_log = logging.getLogger(__name__)

_START_PYTHON = "import sys; from bots.sdk.builtin import main; sys.exit(main())"
_NO_SDK = re.compile(r"ModuleNotFoundError: No module named '(acpc_arena|bots|engine|protocol)[.']")


class BotProcess(Program):
    """Running process of a bot."""

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
        exchanges: Path | None = None,
        response_s: float | None = None,
        on_exit: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the bot.

        Args:
            player: the bot.
            host: host of the dealer.
            port: port of the bot's seat.
            game: file of the game definition.
            seed: seed of a Python bot; not passed to a bot that runs as another user.
            output_path: file for its output.
            append: append to an existing output file instead of replacing it.
            learner_files: files of a bot that learns.
            exchanges: file for exchanges of a Python bot with a language model; not passed to a bot that runs as
                another user.
            response_s: limit for an answer of a Python bot, in seconds.
            on_exit: called in a separate thread when the process has ended.

        Raises:
            LaunchError: the bot cannot be started.
        """
        self._label = f"{player.text} at port {port}"
        self._on_bot_exit = on_exit
        try:
            super().__init__(
                player_command(player, host=host, port=port, game=game.path, learner_files=learner_files),
                environment=_environment(player, game, seed, exchanges, response_s),
                output_path=output_path,
                directory=player.directory,
                append=append,
                on_exit=self._note_exit,
            )
        except OSError as error:
            reason = error.strerror or error
            # The system's own text, "Exec format error", does not name the cure.
            if error.errno == errno.ENOEXEC:
                reason = f"{reason}: its first line has to name its interpreter, such as #!/usr/bin/env python3"
            raise LaunchError(f"start {quoted(player.text, 400)}", reason) from None
        except RuntimeError as error:
            raise LaunchError(f"start {quoted(player.text, 400)}", error) from None
        _log.info("%s: started as process %d", self._label, self.pid)

    def _note_exit(self) -> None:
        _log.info("%s: process %d ended with exit code %d", self._label, self.pid, self.exit_code)
        self._on_bot_exit()


def _environment(
    player: Player, game: GameFile, seed: int | None, exchanges: Path | None, response_s: float | None
) -> dict[str, str]:
    variables = {**os.environ, **game.variables, "PYTHONUNBUFFERED": "1"}
    # This process may have those of another match, whose bot has started it.
    for name in (SEED_VARIABLE, EXCHANGES_VARIABLE, RESPONSE_VARIABLE):
        variables.pop(name, None)
    if player.kind is PlayerKind.PYTHON:
        if exchanges is not None and not player.has_own_user:
            variables[EXCHANGES_VARIABLE] = str(exchanges.absolute())
        if response_s is not None:
            variables[RESPONSE_VARIABLE] = f"{response_s:g}"
    # In the environment, because any user of a machine can read command lines. A bot that runs as another user gets no
    # seed, because the seed of the match, and with it the cards, can be derived from it.
    if seed is not None and player.kind is PlayerKind.PYTHON and not player.has_own_user:
        variables[SEED_VARIABLE] = str(seed)
    return variables | dict(player.environment)


def sdk_cure(player: Player, last_lines: Sequence[str]) -> str:
    """Compose a remedy for a bot whose Python lacks this package, or an empty text for any other bot.

    Args:
        player: the bot.
        last_lines: last lines of its output.
    """
    # The interpreter is not replaced by this one on its own: it may have other packages that the bot needs.
    if player.kind is not PlayerKind.COMMAND or not any(map(_NO_SDK.match, last_lines)):
        return ""
    folder = player.directory or ""
    script = ""
    for word in player.command:
        if word.endswith(".py") and os.path.isfile(os.path.join(folder, word)):
            script = word
            break
    if not script:
        return "Its Python does not have acpc-arena: install it there."
    name = f"{script}:{_bot_class(os.path.join(folder, script))}"
    return (
        f"Its Python does not have acpc-arena: install it there, or write {name} to start it with the Python of arena."
    )


def _bot_class(path: str) -> str:
    """Guess the bot in a Python file: the last class with a base class, or ``CLASS`` without one."""
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
    """Return the command line that starts a player, within its confinement."""
    command = _own_command(player, host=host, port=port, game=game, learner_files=learner_files)
    if player.confinement is None:
        return command
    return player.confinement.command(command)


def _own_command(player: Player, *, host: str, port: int, game: Path, learner_files: LearnerFiles | None) -> list[str]:
    if player.kind is PlayerKind.PYTHON:
        # Not the script `arena`, which may not be on the path. With -P, a module in the present folder cannot shadow an
        # installed package; commands of users run without it, as they may import their neighbours.
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
    """Stop bots whose match is over.

    Args:
        processes: the bots.
        leave_s: time for all of them together to exit by themselves.
    """
    until = time.monotonic() + leave_s
    for process in processes:
        process.wait(max(0.0, until - time.monotonic()))
    # In parallel, because each may need its own time to be killed.
    stoppers = [threading.Thread(target=process.stop) for process in processes]
    for stopper in stoppers:
        stopper.start()
    for stopper in stoppers:
        stopper.join()
