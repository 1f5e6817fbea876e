"""Contest played on another machine, as a task of its workers (`bots.workers`).

The machine plays the contest in a temporary folder and returns all its files at the end. If it fails, another machine
plays the contest again, with the same cards and the same result. Files of an earlier run are part of the task, and the
contest is resumed there.

Bots are started on the other machine, which needs their commands, files and folders under the same names.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import tempfile
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from bots.errors import WorkersError
from bots.sdk.registry import is_builtin
from bots.workers import Workers, is_wanted, send_progress
from dealer.errors import DealerError, PlayerError, RemoteError
from dealer.match.causes import CannotPlay
from dealer.run.contest import Contest
from dealer.run.contest_plan import ContestPlan
from dealer.run.ending import INTERRUPTED, Ending
from dealer.run.folder import launching
from dealer.run.tally import Tally
from dealer.table.loop import new_event_loop
from dealer.table.players import Player, PlayerKind, parse_player
from logs.estimation import Monitor
from logs.whole_file import write_whole
from protocol.game_definition import short_name

_PROGRESS_S: Final = 1.0
"""Interval at which a machine reports its progress, and asks whether to continue."""
_KEPT: Final = ("log", "tlog", "comments", "faults")
"""Files from which a match is resumed."""
_HISTORIES: Final = "histories"


class _Report(NamedTuple):
    """Result of a contest on another machine.

    Attributes:
        files: contents of the files, by path in the folder of the contest.
    """

    ending: Ending
    seconds: float = 0.0
    monitor: Monitor | None = None
    tallies: Sequence[Tally] = ()
    files: Sequence[tuple[str, bytes]] = ()


class RemoteContest(Contest):
    """Contest played by a cluster. Raises `RemoteError` if it cannot be played there."""

    def __init__(self, plan: ContestPlan, cluster: Workers) -> None:
        super().__init__(plan, asyncio.Semaphore(1))
        self._cluster = cluster
        self._remote_hands = 0
        self._begun_s: float | None = None

    @property
    def hands_played(self) -> int:
        """Number of finished hands by the latest report."""
        return max(self._remote_hands, self.scores.hands_played)

    @property
    def begun_s(self) -> float | None:
        """Time of the first report."""
        return self._begun_s

    async def _play(self) -> Ending:
        if self._is_over:
            # Writes missing scores, without a player.
            return await super()._play()
        name = self._cluster.name
        own_version = version("acpc-arena")
        task = pickle.dumps((self.plan, os.getcwd(), await asyncio.to_thread(self._read_kept)))
        packed_task = zlib.compress(task, 1)
        future = self._cluster.submit(play_remotely, own_version, packed_task, on_progress=self._note_progress)
        try:
            packed: bytes = await asyncio.wrap_future(future)
        except WorkersError as error:
            raise RemoteError(name, error.problem) from error
        except ImportError as error:
            problem = f"a machine there cannot import {error.name}: install acpc-arena {own_version} on each"
            raise RemoteError(name, problem) from error
        report: _Report = pickle.loads(zlib.decompress(packed))
        await asyncio.to_thread(self._write_files, dict(report.files))
        self.started_s = time.monotonic() - report.seconds
        if report.monitor is not None:
            self.monitor = report.monitor
            self._count(report.tallies)
        return report.ending

    def _note_progress(self, progress: tuple[int, ...]) -> None:
        (self._remote_hands,) = progress
        self._begun_s = self._begun_s or time.monotonic()

    def _read_kept(self) -> dict[str, bytes]:
        """Read the files of an earlier run."""
        folder = self.plan.record.folder
        names = [f"{match_plan.name}.{kind}" for match_plan in self.match_plans for kind in _KEPT]
        with launching(f"read {folder}"):
            return {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}

    def _write_files(self, files: Mapping[str, bytes]) -> None:
        """Write the files of the contest into its folder."""
        record = self.plan.record
        with launching(f"write to {record.folder}"):
            # The logs come last, so that a match with a log has all its files.
            for name in sorted(files, key=lambda name: (name.endswith(".log"), name)):
                relative = PurePath(name)
                path = record.folder / relative
                if record.histories is not None and relative.parts[0] == _HISTORIES:
                    path = record.histories.joinpath(*relative.parts[1:])
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, files[name])
            # Those of an earlier run, if the match has none any more.
            for match_plan in self.match_plans:
                for kind in ("faults", "comments"):
                    if f"{match_plan.name}.{kind}" not in files:
                        (record.folder / f"{match_plan.name}.{kind}").unlink(missing_ok=True)


# ---- on the other machine
def play_remotely(run_version: str, task: bytes) -> bytes:
    """Play a contest, as a task of a worker.

    Args:
        run_version: version of acpc-arena on the machine of the run.
        task: packed plan, default folder of bots, and files of an earlier run.

    Returns:
        The packed report.
    """
    own_version = version("acpc-arena")
    try:
        if own_version != run_version:
            # The sentence is read on the machine of the run.
            problem = f"acpc-arena {own_version} is installed there, and {run_version} here: install the same version"
            report = _refused(problem)
        else:
            report = _play_contest(*pickle.loads(zlib.decompress(task)))
    except DealerError as error:
        report = _refused(str(error))
    except OSError as error:
        report = _refused(f"{error.strerror}: {error.filename}")
    return zlib.compress(pickle.dumps(report), 1)


def _refused(problem: str) -> _Report:
    error = RemoteError(socket.gethostname(), problem)
    return _Report(Ending.failed(CannotPlay(str(error)), error))


def _play_contest(plan: ContestPlan, directory: str, files: Mapping[str, bytes]) -> _Report:
    record = plan.record
    players = [
        _local_player(player, plan, directory) if entrant in plan.entrants else player
        for entrant, player in enumerate(plan.run.players)
    ]
    with tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as temporary:
        # The same name, because hand histories in a folder of all runs are named after it.
        folder = Path(temporary, record.folder.absolute().name)
        folder.mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        histories = None if record.histories is None else folder / _HISTORIES
        local_plan = replace(
            plan,
            run=replace(plan.run, players=tuple(players)),
            record=replace(record, folder=folder, histories=histories),
        )
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            contest = runner.run(_play_out(local_plan))
        ending = contest.ending or INTERRUPTED
        if ending.error is not None:
            return _refused(str(ending.error))
        paths = [path for path in folder.rglob("*") if path.is_file()]
        written = [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths]
        return _Report(ending, contest.seconds, contest.monitor, contest.tallies, written)


def _local_player(player: Player, plan: ContestPlan, directory: str) -> Player:
    """Resolve a player's command and folder on this machine.

    Raises:
        PlayerError: the player is unavailable here.
    """
    start_folder = None
    if player.kind is PlayerKind.COMMAND or not is_builtin(player.text):
        start_folder = directory
        if player.directory:
            start_folder = os.path.join(directory, player.directory)
        if not os.path.isdir(start_folder):
            raise PlayerError(f"{player.name} cannot start in {start_folder}: there is no such folder")
    in_process = plan.run.in_process
    local = parse_player(f"x={player.text}", start_folder, (plan.game,), in_process=in_process)
    if in_process and (refusal := local.refusals[0]) is not None:
        raise PlayerError(f"{player.name} does not play {short_name(plan.record.game_name)}: {refusal}")
    return replace(player, command=local.command, directory=local.directory)


async def _play_out(plan: ContestPlan) -> Contest:
    """Play a contest to its end, or until the run no longer wants it."""
    contest = Contest(plan, asyncio.Semaphore(1))
    playing = asyncio.create_task(contest.play_out())
    while True:
        done, _ = await asyncio.wait([playing], timeout=_PROGRESS_S)
        if done:
            break
        send_progress(contest.hands_played)
        if not is_wanted():
            playing.cancel()
    await playing
    return contest
