"""The speed of the dealer and of a bot, as rows of ``arena bench``.

The dealer is measured next to the reference dealer, with the same clients. One round starts every contender in turn:
the reference as one process per match, ours as one process for all matches, watched as by
``arena play --watch``, and sending lines at once. The clients are the reference's example player where its path is
given, else our own ``random`` bot, which is slower than any dealer: then only our own figures are meaningful. The clock
runs from the start of the clients to the end of the last dealer process; processor time is that of the dealers alone.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

import psutil

from dealer.errors import PlayerError
from dealer.match import Match, MatchSetup, Phase
from dealer.match.events import Watcher
from dealer.match.setup import DEFAULT_COALESCE_S
from dealer.match.writers import LogWriter
from dealer.run.contest import MatchWatcher
from dealer.table.collector import spare_collector
from dealer.table.connections import Connections
from dealer.table.loop import new_event_loop
from dealer.table.players import PlayerKind, make_player, parse_player
from dealer.watching import LiveMatches
from engine import Game
from engine.text import count_of
from logs.document import TEXT, Column, Document, Section, Table
from logs.whole_file import LineFile
from protocol import find_game, format_game_definition

_SEED = 20_241
_PART_WITHIN = 0.99
_DEADLINE_S = 600.0
_START_TIMEOUT_S = 30.0
_OURS = "import sys; from dealer.bench import deal; sys.exit(deal(*sys.argv[1:]))"


@dataclass(frozen=True, slots=True)
class Row:
    """The speed of one program at one job; a program that is not installed has rates of 0 and a note.

    Attributes:
        group: the job.
        who: the program, with its version if any.
        rate_median: over the repeats, in `unit`; `rate_low` and `rate_high` are of the slowest and the fastest.
        ratio: our rate divided by this program's: the median over the repeats, each of which timed both; None for ours.
        user_us: processor time of one unit of the job in user mode, without start-up; the median.
        system_us: the same in the kernel.
        others_share: the share of other programs in all processor time of the machine; the median.
    """

    group: str
    who: str
    rate_median: float
    rate_low: float
    rate_high: float
    unit: str
    ratio: float | None
    note: str = ""
    user_us: float | None = None
    system_us: float | None = None
    others_share: float | None = None


def measure_bot(spec: str, game: Game, deals: int) -> list[Row]:
    """Milliseconds of a bot's decisions, by round and together; it plays each deal in every seat.

    Those of a Python bot are processor time; those of a command pass between a question and its reply.

    Raises:
        PlayerError: there is no such bot, or it cannot be measured.
        OSError: a command cannot be started.
    """
    from bots.errors import BotFailure, RemoteBotError
    from bots.sdk.program import RemoteBot
    from bots.sdk.selfplay import decision_times

    player = parse_player(spec, None, [game], in_process=True)
    if player.kind is PlayerKind.TCP:
        raise PlayerError("'tcp' cannot be measured: name a bot, or a command that starts one")
    group = f"decisions of {spec}"
    if player.kind is PlayerKind.COMMAND:
        group = f"replies of {spec}, from the question over a local connection"
        with RemoteBot(player.command, game, connect_timeout_s=_START_TIMEOUT_S) as program:
            try:
                spent_ms = decision_times(program, game, deals=deals, seed=_SEED, clock_ns=time.perf_counter_ns)
            except BotFailure as failure:
                # The code that failed is the program's.
                raise failure.__cause__ if isinstance(failure.__cause__, RemoteBotError) else failure from None
    else:
        spent_ms = decision_times(make_player(player, _SEED), game, deals=deals, seed=_SEED)
    together = [ms for of_round in spent_ms.values() for ms in of_round]
    rows = []
    for name, of in {**spent_ms, "all": together}.items():
        if of:
            ordered = sorted(of)
            within_ms = ordered[int(_PART_WITHIN * (len(ordered) - 1))]
            row = Row(
                group=group,
                who=name,
                rate_median=statistics.median(ordered),
                rate_low=ordered[0],
                rate_high=ordered[-1],
                unit="ms",
                ratio=None,
                note=f"{count_of(len(ordered), 'decision')}, {_PART_WITHIN:.0%} of them within {within_ms:.3g} ms",
            )
            rows.append(row)
    return rows


def speed_document(title: str, rows: Sequence[Row]) -> Document:
    jobs = groupby(rows, key=lambda row: row.group)
    return Document(title, sections=tuple(Section(job, (_table(list(of_job)),)) for job, of_job in jobs), data=rows)


def _table(rows: Sequence[Row]) -> Table:
    columns = (
        Column("who"),
        Column("median", "digits", rows[0].unit),
        Column("lowest", "digits", rank=2),
        Column("highest", "digits", rank=2),
        Column("ours/theirs", ".2f", rank=1),
        Column("user µs", ",.0f", rank=4),
        Column("system µs", ",.0f", rank=4),
        Column("others busy", ".0%", rank=4),
        Column("note", TEXT, rank=3),
    )
    rates = ((one.rate_median, one.rate_low, one.rate_high, one.ratio) for one in rows)
    loads = ((one.user_us, one.system_us, one.others_share) for one in rows)
    cells = ((one.who, *rate, *load, one.note) for one, rate, load in zip(rows, rates, loads, strict=True))
    return Table("", columns, tuple(cells)).without_empty()


# ---- the dealer

_Start: TypeAlias = Callable[[str, int, int], list[subprocess.Popen[str]]]
"""Starts the dealers of a game file, of so many matches of so many hands."""


def measure_dealer(
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
        reference_dealer: its path; None leaves it out.
        reference_player: path of its example player, or of another client started as PLAYER GAME HOST PORT.
        game: of two players, as `protocol.find_game` reads it.
        hands: of each match.

    Raises:
        OSError: a program cannot be started.
        RuntimeError: a dealer failed or did not end in time.
    """
    contenders: dict[str, _Start] = {
        "ours": _start_ours,
        "ours, watched": partial(_start_ours, option="watched"),
        "ours, sent at once": partial(_start_ours, option="0"),
    }
    if reference_dealer is not None:
        contenders["reference"] = partial(_start_reference, path=os.path.abspath(reference_dealer))
    player = None if reference_player is None else os.path.abspath(reference_player)
    sample: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in contenders}
    with tempfile.TemporaryDirectory() as folder:
        game_file = os.path.join(folder, "limit.game")
        Path(game_file).write_text(format_game_definition(find_game(game)[1]), "ascii")
        for _ in range(rounds):
            for name, start in contenders.items():
                sample[name].append(_sample(start, game_file, matches, hands, player))
    reference = sample.get("reference")
    rows = []
    for name, samples in sample.items():
        measured, user_us, system_us, others = zip(*samples, strict=True)
        ratios = [a / b for a, (b, *_) in zip(measured, reference, strict=True)] if reference else []
        is_compared = bool(ratios) and name != "reference"
        row = Row(
            group=f"dealer, {game}, {count_of(matches, 'match', 'matches')}",
            who=name,
            rate_median=statistics.median(measured),
            rate_low=min(measured),
            rate_high=max(measured),
            unit="hands/s",
            ratio=statistics.median(ratios) if is_compared else None,
            note=f"{min(ratios):.2f} to {max(ratios):.2f}" if is_compared else "",
            user_us=statistics.median(user_us),
            system_us=statistics.median(system_us),
            others_share=statistics.median(others),
        )
        rows.append(row)
    return rows


def _start_ours(game_file: str, matches: int, hands: int, *, option: str = "") -> list[subprocess.Popen[str]]:
    words = [game_file, str(matches), str(hands), "1", option]
    return [subprocess.Popen([sys.executable, "-P", "-c", _OURS, *words], stdout=subprocess.PIPE, text=True)]


def _start_reference(game_file: str, matches: int, hands: int, *, path: str) -> list[subprocess.Popen[str]]:
    # Each match has its own seed, because the reference also derives its ports from it.
    return [
        subprocess.Popen(
            [path, f"m{i}", game_file, str(hands), str(i + 1), "A", "B", "-q"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=os.path.dirname(game_file),
        )
        for i in range(matches)
    ]


def _read_ports(dealer: subprocess.Popen[str]) -> list[str]:
    assert dealer.stdout is not None
    ports = dealer.stdout.readline().split()
    if not ports:
        raise RuntimeError("a dealer ended before it printed its ports")
    return ports


def _player_command(player: str | None, game_file: str, port: str) -> Sequence[str]:
    if player is not None:
        return [player, game_file, "127.0.0.1", port]
    start = "import sys; from bots.sdk.builtin import main; sys.exit(main())"
    return [sys.executable, "-P", "-c", start, "random", "127.0.0.1", port, "--game", game_file]


def _sample(
    start: _Start, game_file: str, matches: int, hands: int, player: str | None
) -> tuple[float, float, float, float]:
    """Hands per second; processor time per hand in µs, in user mode and in the kernel; the share of other programs."""
    dealers = start(game_file, matches, hands)
    players: list[subprocess.Popen[bytes]] = []
    try:
        ports = [_read_ports(dealer) for dealer in dealers for _ in range(matches // len(dealers))]
        started = [psutil.Process(dealer.pid).cpu_times() for dealer in dealers]
        before, machine_before = os.times(), machine_s()
        for port in (port for of_match in ports for port in of_match):
            command = _player_command(player, game_file, port)
            players.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for dealer in dealers:
            if dealer.wait(_DEADLINE_S) != 0:
                raise RuntimeError(f"a dealer ended with exit code {dealer.returncode}")
        # Only dealers have been waited for so far, so the processor time of all children is theirs.
        after = os.times()
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"a dealer has not finished within {_DEADLINE_S:g} s") from None
    finally:
        processes: list[subprocess.Popen[str] | subprocess.Popen[bytes]] = [*dealers, *players]
        for process in processes:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
    played = matches * hands
    user_s = after.children_user - before.children_user - sum(times.user for times in started)
    system_s = after.children_system - before.children_system - sum(times.system for times in started)
    ended, (busy_s, whole_s) = os.times(), machine_s()
    own_s = sum(ended[:4]) - sum(before[:4]) - sum(times.user + times.system for times in started)
    others_s = busy_s - machine_before[0] - own_s
    return (
        played / (after.elapsed - before.elapsed),
        user_s / played * 1e6,
        system_s / played * 1e6,
        max(0.0, others_s / (whole_s - machine_before[1])),
    )


def machine_s() -> tuple[float, float]:
    """Processor seconds of the whole machine since it was started: used, and used or idle."""
    times = psutil.cpu_times()
    whole = sum(times[:8])
    return whole - times.idle - getattr(times, "iowait", 0.0), whole


# ---- our dealer, in a process of its own


def deal(game_file: str, matches: str, hands: str, seed: str, option: str) -> int:
    """Deal several matches in this process; returns 0 when every match was finished.

    Prints the ports of each match as a line, then deals. The option is empty, ``watched`` as by `arena play --watch`,
    or for how many milliseconds lines are held back.
    """
    coalesce_s = float(option) / 1000 if option.isdecimal() else DEFAULT_COALESCE_S
    with asyncio.Runner(loop_factory=new_event_loop) as runner, tempfile.TemporaryDirectory() as folder:
        running = []
        game = find_game(game_file)[1]
        names = tuple(f"p{seat}" for seat in range(game.num_players))
        for i in range(int(matches)):
            setup = MatchSetup(game, f"m{i}", int(hands), int(seed) + i, names)
            watchers: list[Watcher] = [LogWriter(LineFile(os.path.join(folder, f"m{i}.log")), names)]
            if option == "watched":
                watchers.append(MatchWatcher(LiveMatches(), game_file, setup))
            running.append(Connections(Match(setup, watchers), coalesce_s=coalesce_s))
        runner.run(_deal(running))
    return 0 if all(connections.match.phase is Phase.FINISHED for connections in running) else 1


async def _deal(running: Sequence[Connections]) -> None:
    for connections in running:
        sys.stdout.write(" ".join(map(str, connections.listen())) + "\n")
    sys.stdout.flush()
    spare_collector()
    await asyncio.gather(*(connections.run() for connections in running))
