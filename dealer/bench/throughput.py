"""The dealer's throughput beside the reference dealer's, with the same clients.

One round starts every contender in turn: the reference as one process per match, ours as one process for all matches,
once sending at once, once so and watched as by ``arena play --watch``, and once coalescing. The clients are the
reference's example player where its path is given, else our own ``random`` bot, which is slower than any dealer: then
only our own figures mean something. The clock runs from the moment the clients are started until the last dealer
process has ended; processor time is that of the dealers alone.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from dealer.bench.rows import Row
from dealer.bench.usage import machine_s
from protocol import format_game_definition
from protocol.game_definition import find_game

_DEADLINE_S = 600.0
_COALESCE_MS = 5

Start = Callable[[str, int, int, str], tuple[list[subprocess.Popen[str]], list[list[str]]]]


def measure(
    *,
    reference_dealer: str | None,
    reference_player: str | None,
    game: str,
    matches: int,
    hands: int,
    rounds: int,
) -> list[Row]:
    """Rates in hands per second over all matches, ratios taken within a round, processor time per hand.

    Args:
        reference_dealer: path of the reference's dealer; None leaves it out.
        reference_player: path of its example player, or another client started as PLAYER GAME HOST PORT.
        game: one of two players, as `protocol.find_game` takes it.
        matches: played side by side.
        hands: of each match.
        rounds: how often everybody plays.

    Raises:
        OSError: a program cannot be started.
        RuntimeError: a dealer failed or did not end in time.
    """
    contenders: dict[str, Start] = {
        "ours, sent at once": lambda game, n, m, folder: _start_ours(game, n, m),
        "ours, watched": lambda game, n, m, folder: _start_ours(game, n, m, "watched"),
        f"ours, coalesced {_COALESCE_MS} ms": lambda game, n, m, folder: _start_ours(game, n, m, str(_COALESCE_MS)),
    }
    if reference_dealer is not None:
        dealer = os.path.abspath(reference_dealer)
        contenders["reference"] = lambda game, n, m, folder: _start_reference(dealer, game, n, m, folder)
    player = None if reference_player is None else os.path.abspath(reference_player)
    sample: dict[str, list[_Sample]] = {name: [] for name in contenders}
    with tempfile.TemporaryDirectory() as folder:
        game_file = os.path.join(folder, "limit.game")
        Path(game_file).write_text(format_game_definition(find_game(game)[1]), "ascii")
        for _ in range(rounds):
            for name, start in contenders.items():
                sample[name].append(_sample(start, game_file, matches, hands, folder, player))
    group = f"dealer, {game}, {matches} {'match' if matches == 1 else 'matches'}"
    reference = sample.get("reference")
    rows = []
    for name, samples in sample.items():
        measured = [one.rate for one in samples]
        ratios = [a / b.rate for a, b in zip(measured, reference, strict=True)] if reference else []
        rows.append(
            Row(
                group=group,
                who=name,
                rate_median=statistics.median(measured),
                rate_low=min(measured),
                rate_high=max(measured),
                unit="hands/s",
                ratio=statistics.median(ratios) if ratios and name != "reference" else None,
                note=f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios and name != "reference" else "",
                user_us=statistics.median(one.user_us for one in samples),
                system_us=statistics.median(one.system_us for one in samples),
                others_share=statistics.median(one.others_share for one in samples),
            )
        )
    return rows


def _start_ours(
    game_file: str, hands: int, matches: int, *more: str
) -> tuple[list[subprocess.Popen[str]], list[list[str]]]:
    words = [game_file, str(matches), str(hands), "1", *more]
    command = [sys.executable, "-P", "-m", "dealer.bench.many", *words]
    dealer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return [dealer], [_read_ports(dealer) for _ in range(matches)]


def _start_reference(
    path: str, game_file: str, hands: int, matches: int, folder: str
) -> tuple[list[subprocess.Popen[str]], list[list[str]]]:
    # Each match has a seed of its own, because the reference also chooses its ports by it.
    dealers = [
        subprocess.Popen(
            [path, f"m{i}", game_file, str(hands), str(i + 1), "A", "B", "-q"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
        )
        for i in range(matches)
    ]
    return dealers, [_read_ports(dealer) for dealer in dealers]


def _read_ports(dealer: subprocess.Popen[str]) -> list[str]:
    assert dealer.stdout is not None
    ports = dealer.stdout.readline().split()
    if not ports:
        raise RuntimeError("a dealer ended before it told its ports")
    return ports


def _player_command(player: str | None, game_file: str, port: str) -> Sequence[str]:
    if player is not None:
        return [player, game_file, "127.0.0.1", port]
    start = "import sys; from bots.sdk.builtin import main; sys.exit(main())"
    return [sys.executable, "-P", "-c", start, "random", "127.0.0.1", port, "--game", game_file]


class _Sample(NamedTuple):
    """One measurement of one contender."""

    rate: float
    user_us: float
    system_us: float
    others_share: float


def _sample(start: Start, game_file: str, matches: int, hands: int, folder: str, player: str | None) -> _Sample:
    dealers, ports = start(game_file, hands, matches, folder)
    players: list[subprocess.Popen[bytes]] = []
    started = [psutil.Process(dealer.pid).cpu_times() for dealer in dealers]
    before, machine_before = os.times(), machine_s()
    try:
        for port in (port for of_match in ports for port in of_match):
            players.append(
                subprocess.Popen(
                    _player_command(player, game_file, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
            )
        for dealer in dealers:
            if dealer.wait(_DEADLINE_S) != 0:
                raise RuntimeError(f"a dealer ended with exit code {dealer.returncode}")
        # Only the dealers have been waited for so far, so all that has come in is theirs.
        after = os.times()
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"a dealer has not finished within {_DEADLINE_S:g} s") from None
    finally:
        _end(*dealers, *players)
        for dealer in dealers:
            if dealer.stdout is not None:
                dealer.stdout.close()
    played = matches * hands
    user_s = after.children_user - before.children_user - sum(times.user for times in started)
    system_s = after.children_system - before.children_system - sum(times.system for times in started)
    ended, (busy_s, whole_s) = os.times(), machine_s()
    own_s = sum(ended[:4]) - sum(before[:4]) - sum(times.user + times.system for times in started)
    others_s = busy_s - machine_before[0] - own_s
    return _Sample(
        played / (after.elapsed - before.elapsed),
        user_s / played * 1e6,
        system_s / played * 1e6,
        max(0.0, others_s / (whole_s - machine_before[1])),
    )


def _end(*processes: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
