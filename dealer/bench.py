"""Speed of the dealer and of bots, for ``arena bench``.

A round times each dealer in turn with the same clients: the reference with a process per match, ours with a process for
all matches, ours watched as by ``arena play --watch``, and ours sending lines at once. The clock runs from the start of
the clients to the end of the last dealer process. Processor time is that of the dealers alone.

The clients are the reference's example player, if its path is given, or our ``random`` bot. The latter is slower than
the dealers, so that the ratios mean little.
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
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple, TypeAlias

import psutil

from dealer.errors import PlayerError
from dealer.match import Match, MatchSetup, Phase
from dealer.match.events import Watcher
from dealer.match.setup import DEFAULT_COALESCE_S
from dealer.match.writers import LogWriter
from dealer.run.contest import MatchWatcher
from dealer.table.collector import relax_collector
from dealer.table.connections import Connections
from dealer.table.loop import new_event_loop
from dealer.table.players import PlayerKind, make_player, parse_player
from dealer.watching import LiveMatches
from engine import Game
from engine.text import count_of
from logs.document import DIGITS, TEXT, Column, Document, Section, Table
from logs.whole_file import LineFile
from protocol import find_game, format_game_definition

_SEED = 20_241
_PART_WITHIN = 0.99
_DEADLINE_S = 600.0
_START_TIMEOUT_S = 30.0
_OURS = "import sys; from dealer.bench import deal; sys.exit(deal(*sys.argv[1:]))"


@dataclass(frozen=True, slots=True)
class Row:
    """Speed of a program at a task. A program that is not installed has rates of 0 and a note.

    Attributes:
        group: name of the task.
        who: name of the program, with its version.
        rate_median: median rate of the repeats, in `unit`.
        rate_low: rate of the slowest repeat.
        rate_high: rate of the fastest repeat.
        ratio: our rate divided by that of the program, as the median over the repeats; None for ours.
        user_us: median processor time per unit in user mode, without start-up.
        system_us: the same in the kernel.
        others_share: median share of other programs in the processor time of the machine.
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
    """Measure the decisions of a bot in milliseconds, by betting round and together.

    The bot plays each deal in every seat. Decisions of a Python bot are measured in processor time, those of a command
    from the question to the reply.

    Raises:
        PlayerError: the bot does not exist or cannot be measured.
        OSError: the command cannot be started.
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
                # The failure of a remote bot is its program's, not that of Python code.
                if isinstance(failure.__cause__, RemoteBotError):
                    raise failure.__cause__ from None
                raise
    else:
        spent_ms = decision_times(make_player(player, _SEED), game, deals=deals, seed=_SEED)
    rows = []
    for name, round_ms in spent_ms.items():
        if round_ms:
            rows.append(_decision_row(group, name, round_ms))
    together = list(chain.from_iterable(spent_ms.values()))
    if together:
        rows.append(_decision_row(group, "all", together))
    return rows


def _decision_row(group: str, name: str, spent_ms: Sequence[float]) -> Row:
    ordered = sorted(spent_ms)
    within_ms = ordered[int(_PART_WITHIN * (len(ordered) - 1))]
    return Row(
        group=group,
        who=name,
        rate_median=statistics.median(ordered),
        rate_low=ordered[0],
        rate_high=ordered[-1],
        unit="ms",
        ratio=None,
        note=f"{count_of(len(ordered), 'decision')}, {_PART_WITHIN:.0%} of them within {within_ms:.3g} ms",
    )


def speed_document(title: str, rows: Sequence[Row]) -> Document:
    sections = []
    for group, group_rows in groupby(rows, key=lambda row: row.group):
        sections.append(Section(group, (_table(list(group_rows)),)))
    return Document(title, sections=tuple(sections), data=rows)


def _table(rows: Sequence[Row]) -> Table:
    columns = (
        Column("who"),
        Column("median", DIGITS, rows[0].unit),
        Column("lowest", DIGITS, rank=2),
        Column("highest", DIGITS, rank=2),
        Column("ours/theirs", ".2f", rank=1),
        Column("user µs", ",.0f", rank=4),
        Column("system µs", ",.0f", rank=4),
        Column("others busy", ".0%", rank=4),
        Column("note", TEXT, rank=3),
    )
    cells = []
    for row in rows:
        rates = (row.rate_median, row.rate_low, row.rate_high, row.ratio)
        loads = (row.user_us, row.system_us, row.others_share)
        cells.append((row.who, *rates, *loads, row.note))
    return Table("", columns, tuple(cells)).without_empty()


# ---- the dealer

_Start: TypeAlias = Callable[[str, int, int], list[subprocess.Popen[str]]]
"""Start the dealers of a game file, for a number of matches of a number of hands."""


class Sample(NamedTuple):
    """Speed of a dealer in a repeat.

    Attributes:
        hands_per_s: rate over all matches.
        user_us: processor time per hand in user mode.
        system_us: the same in the kernel.
        others_share: share of other programs in the processor time of the machine.
    """

    hands_per_s: float
    user_us: float
    system_us: float
    others_share: float


def measure_dealer(
    *,
    reference_dealer: str | None,
    reference_player: str | None,
    game: str,
    matches: int,
    hands: int,
    rounds: int,
) -> list[Row]:
    """Measure dealers in hands per second over all matches. Ratios are taken within a round.

    Args:
        reference_dealer: path of the reference dealer; None leaves it out.
        reference_player: path of its example player, or of another client started as PLAYER GAME HOST PORT.
        game: name or path of a game of two players, for `protocol.find_game`.
        matches: number of matches played at a time.
        hands: number of hands per match.
        rounds: number of repeats.

    Raises:
        OSError: a program cannot be started.
        RuntimeError: a dealer fails, or does not end in time.
    """
    contenders: dict[str, _Start] = {
        "ours": _start_ours,
        "ours, watched": partial(_start_ours, option="watched"),
        "ours, sent at once": partial(_start_ours, option="0"),
    }
    if reference_dealer is not None:
        contenders["reference"] = partial(_start_reference, path=os.path.abspath(reference_dealer))
    player = None
    if reference_player is not None:
        player = os.path.abspath(reference_player)
    samples: dict[str, list[Sample]] = {name: [] for name in contenders}
    with tempfile.TemporaryDirectory() as folder:
        game_file = os.path.join(folder, "limit.game")
        _, rules = find_game(game)
        Path(game_file).write_text(format_game_definition(rules), "ascii")
        for _ in range(rounds):
            for name, start in contenders.items():
                samples[name].append(_sample(start, game_file, matches, hands, player))
    group = f"dealer, {game}, {count_of(matches, 'match', 'matches')}"
    reference = samples.get("reference", [])
    rows = []
    for name, own in samples.items():
        row = sample_row(group, name, own)
        if reference and name != "reference":
            ratios = []
            for ours, theirs in zip(own, reference, strict=True):
                ratios.append(ours.hands_per_s / theirs.hands_per_s)
            note = f"{min(ratios):.2f} to {max(ratios):.2f}"
            row = replace(row, ratio=statistics.median(ratios), note=note)
        rows.append(row)
    return rows


def sample_row(group: str, name: str, samples: Sequence[Sample]) -> Row:
    """Summarise the repeats of a dealer in a row without ratio and note."""
    rates = [sample.hands_per_s for sample in samples]
    return Row(
        group=group,
        who=name,
        rate_median=statistics.median(rates),
        rate_low=min(rates),
        rate_high=max(rates),
        unit="hands/s",
        ratio=None,
        user_us=statistics.median(sample.user_us for sample in samples),
        system_us=statistics.median(sample.system_us for sample in samples),
        others_share=statistics.median(sample.others_share for sample in samples),
    )


def _start_ours(game_file: str, matches: int, hands: int, *, option: str = "") -> list[subprocess.Popen[str]]:
    words = [game_file, str(matches), str(hands), "1", option]
    return [subprocess.Popen([sys.executable, "-P", "-c", _OURS, *words], stdout=subprocess.PIPE, text=True)]


def _start_reference(game_file: str, matches: int, hands: int, *, path: str) -> list[subprocess.Popen[str]]:
    # Each match has its own seed, because the reference also derives its ports from it.
    dealers = []
    for i in range(matches):
        dealer = subprocess.Popen(
            [path, f"m{i}", game_file, str(hands), str(i + 1), "A", "B", "-q"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=os.path.dirname(game_file),
        )
        dealers.append(dealer)
    return dealers


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


def _sample(start: _Start, game_file: str, matches: int, hands: int, player: str | None) -> Sample:
    """Time one repeat of a dealer."""
    dealers = start(game_file, matches, hands)
    players: list[subprocess.Popen[bytes]] = []
    try:
        ports = []
        for dealer in dealers:
            for _ in range(matches // len(dealers)):
                ports += _read_ports(dealer)
        started = [psutil.Process(dealer.pid).cpu_times() for dealer in dealers]
        before = os.times()
        busy_before_s, whole_before_s = machine_s()
        for port in ports:
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
    # The dealers had started before the clock did.
    start_user_s = sum(times.user for times in started)
    start_system_s = sum(times.system for times in started)
    user_s = after.children_user - before.children_user - start_user_s
    system_s = after.children_system - before.children_system - start_system_s
    ended = os.times()
    busy_s, whole_s = machine_s()
    own_s = sum(ended[:4]) - sum(before[:4]) - start_user_s - start_system_s
    others_s = busy_s - busy_before_s - own_s
    return Sample(
        hands_per_s=played / (after.elapsed - before.elapsed),
        user_us=user_s / played * 1e6,
        system_us=system_s / played * 1e6,
        others_share=max(0.0, others_s / (whole_s - whole_before_s)),
    )


def machine_s() -> tuple[float, float]:
    """Return the busy processor seconds and all processor seconds of the machine since its start."""
    times = psutil.cpu_times()
    # Linux counts guests, in the fields after the eighth, as user time as well.
    whole = sum(times[:8])
    return whole - times.idle - getattr(times, "iowait", 0.0), whole


# ---- our dealer, in a process of its own


def deal(game_file: str, matches: str, hands: str, seed: str, option: str) -> int:
    """Print a line with the ports of each match, and deal the matches in this process.

    Args:
        option: empty, ``watched`` as by ``arena play --watch``, or the milliseconds for which lines are held back.

    Returns:
        Exit code: 0 if all matches were finished.
    """
    coalesce_s = DEFAULT_COALESCE_S
    if option.isdecimal():
        coalesce_s = float(option) / 1000
    with asyncio.Runner(loop_factory=new_event_loop) as runner, tempfile.TemporaryDirectory() as folder:
        running = []
        _, game = find_game(game_file)
        names = tuple(f"p{seat}" for seat in range(game.num_players))
        for i in range(int(matches)):
            setup = MatchSetup(game, f"m{i}", int(hands), int(seed) + i, names)
            watchers: list[Watcher] = [LogWriter(LineFile(os.path.join(folder, f"m{i}.log")), names)]
            if option == "watched":
                watchers.append(MatchWatcher(LiveMatches(), game_file, setup))
            running.append(Connections(Match(setup, watchers), coalesce_s=coalesce_s))
        runner.run(_deal(running))
    for connections in running:
        if connections.match.phase is not Phase.FINISHED:
            return 1
    return 0


async def _deal(running: Sequence[Connections]) -> None:
    for connections in running:
        sys.stdout.write(" ".join(map(str, connections.listen())) + "\n")
    sys.stdout.flush()
    relax_collector()
    await asyncio.gather(*(connections.run() for connections in running))
