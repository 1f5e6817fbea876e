"""The time of a reply at `acpc-dealer` and `arena play`, sent in one system call or in two.

A client that sends a reply in two calls, the state and then the action, has the second part held back by its system
until the first is acknowledged (Nagle's algorithm), and most systems delay that by 40 ms. The same holds for a comment
and the reply after it. Both players of a match are `sender.py`.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.match import OWN, START_ARENA, end_programs, other_checkout, reference_programs, start_dealer, start_program
from bench.times import row_of_times
from dealer.bench import Row
from protocol import find_game, format_game_definition

_SENDER: Final = Path(__file__).with_name("sender.py")
_SENT: Final = {
    "one": "reply in one call",
    "two": "reply in two calls, state and action",
    "comment": "comment, then reply",
}


def measure(hands: int = 50, game: str = "limit", reference: str = "", checkout: str = "") -> list[Row]:
    """Milliseconds from a reply to the next line, with the reply in one system call and in two.

    Args:
        hands: of a match.
        game: of two players.
        reference: the folder with the reference's programs.
        checkout: another checkout of the arena, to compare this one with.

    Raises:
        OSError: a program cannot be started.
        RuntimeError: a program failed.
        ValueError: there is nothing to measure.
    """
    rules = find_game(game)[1]
    if rules.num_players != 2 or hands < 1:
        raise ValueError(f"at least one hand of a game of two players is needed, not {hands} of {game}")
    arenas = {"this checkout": OWN} | other_checkout(checkout)
    dealers = arenas | reference_programs(reference)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bench.game")
        path.write_text(format_game_definition(rules), "ascii")
        for calls, sent in _SENT.items():
            sender = [sys.executable, str(_SENDER), calls, str(path)]
            rows += [
                row_of_times(f"acpc-dealer, {sent}", who, _times_at_dealer(dealer, sender, path, hands), game)
                for who, dealer in dealers.items()
            ]
            rows += [
                row_of_times(f"arena play, {sent}", who, _times_at_play(arena, sender, path, hands), game)
                for who, arena in arenas.items()
            ]
    return rows


def _times_at_dealer(dealer: Path, sender: Sequence[str], game: Path, hands: int) -> list[float]:
    process, ports = start_dealer(dealer, game, [str(hands), "1", "p0", "p1"])
    players = [start_program([*sender, "127.0.0.1", port], OWN, game.parent) for port in ports]
    try:
        return [time_s for player in players for time_s in json.loads(_output(player))]
    finally:
        end_programs([process, *players])


def _times_at_play(arena: Path, sender: Sequence[str], game: Path, hands: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        players = [f"{name}={shlex.join(sender)}" for name in ("A", "B")]
        words = ["play", str(game), *players, "-n", str(hands), "--no-duplicate", "--out", "run"]
        play = start_program([*START_ARENA, *words], arena, Path(folder))
        try:
            _output(play)
        finally:
            end_programs([play])
        return [time_s for path in Path(folder, "run").glob("*.out") for time_s in json.loads(path.read_text("utf-8"))]


def _output(process: subprocess.Popen[bytes]) -> bytes:
    """Read the output of a program until it ends."""
    output = process.communicate()[0]
    if process.returncode:
        raise RuntimeError(f"{process.args!r} ended with exit code {process.returncode}")
    return output
