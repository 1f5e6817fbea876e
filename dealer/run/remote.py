"""A contest played on another machine: a task of the workers of trainings, whose result has all files.

The machine plays the contest in a folder of its own, as this one would, and sends everything at the end; so the folder
here holds whole contests, and a contest whose worker dies is played again by another, with the same cards and the same
result. What an earlier run has left of a contest goes with the task and is resumed there.

Bots are started on the other machine: a command, a file or a folder has to be there under the same name.
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

_WORD_S: Final = 1.0
"""A machine reports its progress this often, and asks whether it is to continue."""
_KEPT: Final = ("log", "tlog", "comments", "faults")
"""The files from which a match is resumed; everything else follows from them."""
_HISTORIES: Final = "histories"


class _Report(NamedTuple):
    """What became of a contest; see `Contest`. Files by their paths in its folder."""

    ending: Ending
    seconds: float = 0.0
    monitor: Monitor | None = None
    tallies: Sequence[Tally] = ()
    files: Sequence[tuple[str, bytes]] = ()


class RemoteContest(Contest):
    """A contest that a cluster plays; one that cannot be played there raises `RemoteError`."""

    def __init__(self, plan: ContestPlan, cluster: Workers) -> None:
        """Prepare a contest."""
        super().__init__(plan, asyncio.Semaphore(1))
        self._cluster = cluster
        self._hands_there = 0
        self._begun_s: float | None = None

    @property
    def hands_played(self) -> int:
        """The finished hands of all matches, as far as is known here."""
        return max(self._hands_there, self.scores.hands_played)

    @property
    def begun_s(self) -> float | None:
        """When it was heard of first."""
        return self._begun_s

    async def _play(self) -> Ending:
        if self._is_over:
            # Nothing is left to play.
            return await super()._play()
        name, here = self._cluster.name, version("acpc-arena")
        task = pickle.dumps((self.plan, os.getcwd(), await asyncio.to_thread(self._kept)))
        future = self._cluster.submit(play_remotely, here, zlib.compress(task, 1), on_progress=self._note_progress)
        try:
            packed: bytes = await asyncio.wrap_future(future)
        except WorkersError as error:
            raise RemoteError(name, error.problem) from error
        except ImportError as error:
            problem = f"a machine there cannot import {error.name}: install acpc-arena {here} on each"
            raise RemoteError(name, problem) from error
        report: _Report = pickle.loads(zlib.decompress(packed))
        await asyncio.to_thread(self._keep, dict(report.files))
        self.started_s = time.monotonic() - report.seconds
        if report.monitor is not None:
            self.monitor = report.monitor
            self._count(report.tallies)
        return report.ending

    def _note_progress(self, words: tuple[int, ...]) -> None:
        (self._hands_there,) = words
        self._begun_s = self._begun_s or time.monotonic()

    def _kept(self) -> dict[str, bytes]:
        folder = self.plan.record.folder
        names = [f"{match_plan.name}.{kind}" for match_plan in self.match_plans for kind in _KEPT]
        with launching(f"read {folder}"):
            return {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}

    def _keep(self, files: Mapping[str, bytes]) -> None:
        """Put the files into the folder, the logs last: where one stands, everything else of its match does."""
        record = self.plan.record
        with launching(f"write to {record.folder}"):
            for name in sorted(files, key=lambda name: (name.endswith(".log"), name)):
                inside = PurePath(name)
                path = record.folder / inside
                if record.histories is not None and inside.parts[0] == _HISTORIES:
                    path = record.histories.joinpath(*inside.parts[1:])
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, files[name])
            for match_plan in self.match_plans:
                for kind in ("faults", "comments"):
                    if f"{match_plan.name}.{kind}" not in files:
                        (record.folder / f"{match_plan.name}.{kind}").unlink(missing_ok=True)


# ---- on the other machine
def play_remotely(version_there: str, task: bytes) -> bytes:
    """Play a contest: the task of a worker.

    Args:
        task: the plan, the folder where bots start whose settings name none, and what an earlier run has left; packed.

    Returns:
        the report, packed.
    """
    here = version("acpc-arena")
    try:
        if here != version_there:
            problem = f"acpc-arena {here} is installed there, and {version_there} here: install the same version"
            report = _refused(problem)
        else:
            report = _played(*pickle.loads(zlib.decompress(task)))
    except DealerError as error:
        report = _refused(str(error))
    except OSError as error:
        report = _refused(f"{error.strerror}: {error.filename}")
    return zlib.compress(pickle.dumps(report), 1)


def _refused(problem: str) -> _Report:
    error = RemoteError(socket.gethostname(), problem)
    return _Report(Ending.failed(CannotPlay(str(error)), error))


def _played(plan: ContestPlan, directory: str, files: Mapping[str, bytes]) -> _Report:
    record = plan.record
    players = [
        _local_player(player, plan, directory) if entrant in plan.entrants else player
        for entrant, player in enumerate(plan.run.players)
    ]
    with tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as temporary:
        # The same name, as files are called by it.
        folder = Path(temporary, record.folder.absolute().name)
        folder.mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        histories = None if record.histories is None else folder / _HISTORIES
        here = replace(
            plan,
            run=replace(plan.run, players=tuple(players)),
            record=replace(record, folder=folder, histories=histories),
        )
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            contest = runner.run(_to_the_end(here))
        ending = contest.ending or INTERRUPTED
        if ending.error is not None:
            return _refused(str(ending.error))
        paths = [path for path in folder.rglob("*") if path.is_file()]
        written = [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths]
        return _Report(ending, contest.seconds, contest.monitor, contest.tallies, written)


def _local_player(player: Player, plan: ContestPlan, directory: str) -> Player:
    """A player as this machine starts it.

    Raises:
        PlayerError: it cannot be had here.
    """
    starts_in = None
    if player.kind is PlayerKind.COMMAND or not is_builtin(player.text):
        starts_in = os.path.join(directory, player.directory) if player.directory else directory
        if not os.path.isdir(starts_in):
            raise PlayerError(f"{player.name} cannot start in {starts_in}: there is no such folder")
    in_process = plan.run.in_process
    found = parse_player(f"x={player.text}", starts_in, (plan.game,), in_process=in_process)
    if in_process and (refusal := found.refusals[0]) is not None:
        raise PlayerError(f"{player.name} does not play {short_name(plan.record.game_name)}: {refusal}")
    return replace(player, command=found.command, directory=found.directory)


async def _to_the_end(plan: ContestPlan) -> Contest:
    contest = Contest(plan, asyncio.Semaphore(1))
    playing = asyncio.create_task(contest.play_out())
    while not (await asyncio.wait([playing], timeout=_WORD_S))[0]:
        send_progress(contest.hands_played)
        if not is_wanted():
            playing.cancel()
    await playing
    return contest
