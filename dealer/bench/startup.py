"""How long a bot takes from the start of its process to its version line, beside a Python that does nothing.

A port is opened, the bot is started and told to connect to it, and the clock runs from before the start until the
first byte arrives. The bare interpreter is timed from its start to its end.
"""

from __future__ import annotations

import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from dealer.bench.rows import Row
from dealer.table.launcher import command_of
from dealer.table.players import parse_player

__all__ = ["measure"]

_TIMEOUT_S = 30.0


def measure(rounds: int = 21) -> list[Row]:
    """Milliseconds to the version line of each kind of start, everybody once a round.

    Raises:
        RuntimeError: a bot did not send its version line.
    """
    game = "limit"
    entries: dict[str, Callable[[int], Sequence[str]] | None] = {
        "bare interpreter": None,
        "built-in bot": lambda port: command_of(
            parse_player("calling"), host="127.0.0.1", port=port, game=game, seed=1
        ),
        "arena bot": lambda port: [
            sys.executable,
            "-P",
            "-c",
            "from dealer.cli import main; main()",
            *("bot", "calling", "127.0.0.1", str(port), "--game", game),
        ],
    }
    times: dict[str, list[float]] = {name: [] for name in entries}
    for _ in range(rounds + 1):
        for name, command in entries.items():
            times[name].append(_bare() if command is None else _first_byte(command))
    rows = []
    for name, measured in times.items():
        counted = measured[1:]  # the first round warms the file cache
        rows.append(
            Row(
                group="start-up",
                who=name,
                rate_median=statistics.median(counted),
                rate_low=min(counted),
                rate_high=max(counted),
                unit="ms",
                ratio=None,
            )
        )
    return rows


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-P", "-c", "pass"], check=True)
    return (time.perf_counter() - began) * 1000


def _first_byte(command: Callable[[int], Sequence[str]]) -> float:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(_TIMEOUT_S)
        began = time.perf_counter()
        process = subprocess.Popen(command(listener.getsockname()[1]), stderr=subprocess.DEVNULL)
        try:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(_TIMEOUT_S)
                if not connection.recv(1):
                    raise RuntimeError("the bot closed before it named its version")
                elapsed = time.perf_counter() - began
        finally:
            process.kill()
            process.wait()
    return elapsed * 1000
