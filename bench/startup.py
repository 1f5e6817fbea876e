"""Processor time from the start of a process to its first output, compared with a bare interpreter.

A bot connects to an open port; its first word is its version. `acpc-dealer` prints its ports, ``arena --help`` the list
of commands. A dealer has to import asyncio with its selector loop, so an interpreter that only does this is started as
well. All programs find their modules compiled. Processor time is the process's own, user and system, so it hardly
matters how busy the machine is.
"""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psutil

from dealer.bench import Row
from dealer.table.launcher import player_command
from dealer.table.players import parse_player
from protocol import find_game, format_game_definition

_TIMEOUT_S = 30.0
_BARE = "bare interpreter"


def measure(rounds: int = 21, bots: Sequence[str] = ()) -> list[Row]:
    """Milliseconds of processor time to the first output of each kind of start, once a round.

    Args:
        rounds: how often.
        bots: Python bots to start as well, for the game limit.

    Raises:
        RuntimeError: a program ended without a word.
    """
    python = (sys.executable, "-P", "-c")
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        game = os.path.join(folder, "limit.game")
        with open(game, "w", encoding="ascii") as file:
            file.write(format_game_definition(find_game("limit")[1]))
        listener.settimeout(_TIMEOUT_S)
        host, port = listener.getsockname()
        dealer = "import sys; from dealer.reference.command import main; sys.exit(main())"
        arena = [*python, "from dealer.cli import main; main()"]
        bot = player_command(parse_player("calling"), host=host, port=port, game=Path(game))
        commands: dict[str, Sequence[str]] = {
            _BARE: [*python, "print()"],
            "interpreter with asyncio": [*python, "import asyncio.selector_events; print()"],
            "acpc-dealer, to its ports": [*python, dealer, "m", game, "1", "1", "Ann", "Bob", "-lq"],
            "arena --help": [*arena, "--help"],
            "arena --version": [*arena, "--version"],
            "arena bots": [*arena, "bots"],
            "arena bot, to its version": [*arena, "bot", "calling", host, str(port), "--game", "limit"],
            "bot of a match, to its version": bot,
        }
        for other in bots:
            player = parse_player(other)
            commands[f"{other} of a match, to its version"] = player_command(
                player, host=host, port=port, game=Path(game)
            )
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds + 1):
            for name, command in commands.items():
                times[name].append(_first_word_ms(command, listener if "to its version" in name else None))
    # The first round warms the file cache.
    medians = {name: statistics.median(measured[1:]) for name, measured in times.items()}
    return [
        Row(
            group="start-up",
            who=name,
            rate_median=medians[name],
            rate_low=min(measured[1:]),
            rate_high=max(measured[1:]),
            unit="ms",
            ratio=None,
            note="" if name == _BARE else f"{medians[name] / medians[_BARE]:.1f} times the bare interpreter",
        )
        for name, measured in times.items()
    ]


def _first_word_ms(command: Sequence[str], listener: socket.socket | None) -> float:
    """Measure a program's processor time until it prints, or sends to its port."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # An empty value counts as none: modules that have been changed are compiled in the first round only.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
    ) as process:
        try:
            if listener is None:
                assert process.stdout is not None
                word = os.read(process.stdout.fileno(), 1)
            else:
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(_TIMEOUT_S)
                    word = connection.recv(1)
            if not word:
                raise RuntimeError(f"{command[-1]}: it ended without a word")
            if os.name == "nt":
                spent = psutil.Process(process.pid).cpu_times()
                return float(spent.user + spent.system) * 1000
            # `process.kill` would reap a program that has ended meanwhile, and its time with it.
            os.kill(process.pid, signal.SIGKILL)
            _, process.returncode, usage = os.wait4(process.pid, 0)
            return (usage.ru_utime + usage.ru_stime) * 1000
        finally:
            process.kill()
