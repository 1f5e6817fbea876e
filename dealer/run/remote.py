"""A contest played on another machine: an order goes there, a report with all files comes back.

The machine plays the contest in a folder of its own, as this one would, and sends everything at the end; so the folder
here holds whole contests, and a contest whose worker dies is played again by another, with the same cards and the same
result. What an earlier run has left of a contest goes with the order and is resumed there.

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
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Final

from bots.errors import WorkersError
from bots.sdk.registry import is_builtin
from bots.workers import Workers, is_wanted, send_progress
from dealer.errors import DealerError, LaunchError, PlayerError, RemoteError
from dealer.run.contest import Contest
from dealer.run.ending import INTERRUPTED, Ending, Outcome
from dealer.run.match_run import MatchAccount, MatchPlan
from dealer.run.plan import ContestPlan
from dealer.run.scores import Scores
from dealer.run.tally import Tally
from dealer.table.loop import new_event_loop
from dealer.table.players import Player, PlayerKind, parse_player
from engine import Seat
from logs.estimation import Monitor
from logs.whole_file import write_whole
from protocol.game_definition import short_name

_WORD_S: Final = 1.0
"""A machine reports its progress this often, and asks whether it is to continue."""
_KEPT: Final = ("log", "tlog", "comments", "faults")
"""The files from which a match is resumed; everything else follows from them."""
_HISTORIES: Final = "histories"


@dataclass(frozen=True)
class _Order:
    """What is to be played.

    Attributes:
        directory: where bots start whose settings name no folder.
        files: what an earlier run has left, by name.
    """

    plan: ContestPlan
    directory: str
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class _MatchReport:
    """What became of a match besides its files; see `MatchAccount`."""

    tally: Tally
    values: array[float]
    exit_codes: dict[Seat, int]
    questions: int
    overhead_ns: int
    not_exported: list[str]


@dataclass(frozen=True)
class _Report:
    """What became of a contest; see `Contest`."""

    ending: Ending
    seconds: float = 0.0
    hands_before: int = 0
    lost_hands: list[str] = field(default_factory=list)
    monitor: Monitor | None = None
    matches: tuple[_MatchReport, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


class _PlayedMatch(MatchAccount):
    """A match that another machine has played."""

    def __init__(self, plan: MatchPlan, report: _MatchReport) -> None:
        self.plan, self.tally, self.exit_codes, self._report = plan, report.tally, report.exit_codes, report

    @property
    def questions(self) -> int:
        """As the other machine counted them."""
        return self._report.questions

    @property
    def overhead_ns(self) -> int:
        """As the other machine measured it."""
        return self._report.overhead_ns

    def not_exported(self) -> list[str]:
        """As the other machine reports it."""
        return self._report.not_exported


class RemoteContest(Contest):
    """A contest that a cluster plays; one that cannot be played there raises `RemoteError`."""

    def __init__(self, plan: ContestPlan, cluster: Workers) -> None:
        """Prepare a contest."""
        super().__init__(plan, asyncio.Semaphore(1))
        self._cluster = cluster
        self._progress = (0, 0)
        self._begun_s: float | None = None

    @property
    def hands_played(self) -> int:
        """The finished hands of all matches, as far as is known here."""
        return max(self._progress[0], self.scores.hands_played)

    @property
    def begun_s(self) -> float | None:
        """When it was heard of first."""
        return self._begun_s

    async def _play(self) -> Ending:
        if all(self._is_closed):
            # Nothing is left to play.
            return await super()._play()
        report = await self._report()
        await asyncio.to_thread(self._keep, report.files)
        self._adopt(report)
        return report.ending

    async def _report(self) -> _Report:
        folder = self.plan.record.folder
        try:
            files = {
                path.name: path.read_bytes()
                for path in folder.iterdir()
                if path.name.rpartition(".")[2] in _KEPT and path.is_file()
            }
        except OSError as error:
            raise LaunchError(f"read {folder}", error.strerror) from None
        order = zlib.compress(pickle.dumps(_Order(self.plan, os.getcwd(), files)), 1)
        future = self._cluster.submit(play_remotely, version("acpc-arena"), order, on_progress=self._note_progress)
        try:
            packed: bytes = await asyncio.wrap_future(future)
        except WorkersError as error:
            raise RemoteError(self._cluster.name, str(error).removeprefix(f"{self._cluster.name}: ")) from error
        except ImportError as error:
            raise RemoteError(
                self._cluster.name,
                f"a machine there cannot import {error.name}: install acpc-arena {version('acpc-arena')} on each",
            ) from error
        report: _Report = pickle.loads(zlib.decompress(packed))
        return report

    def _note_progress(self, words: tuple[int, ...]) -> None:
        hands, before = words
        self._progress, self.hands_before = (hands, before), before
        self._begun_s = self._begun_s or time.monotonic()

    def _keep(self, files: Mapping[str, bytes]) -> None:
        """Put the files into the folder, the logs last: where one stands, everything else of its match does."""
        record = self.plan.record
        try:
            for name in sorted(files, key=lambda name: (name.endswith(".log"), name)):
                inside = PurePath(name)
                path = record.folder / inside
                if record.histories is not None and inside.parts[0] == _HISTORIES:
                    path = record.histories.joinpath(*inside.parts[1:])
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, files[name])
            for slot in self.slots:
                for kind in ("faults", "comments"):
                    if f"{slot.name}.{kind}" not in files:
                        (record.folder / f"{slot.name}.{kind}").unlink(missing_ok=True)
        except OSError as error:
            raise LaunchError(f"write to {record.folder}", error.strerror) from None

    def _adopt(self, report: _Report) -> None:
        self.scores = Scores(self.plan.game, self.slots, self.plan.new_mean)
        self._corrected = self._no_corrected_scores()
        self.runs = []
        for index, (slot, match) in enumerate(zip(self.slots, report.matches, strict=False)):
            self.scores.restore(index, match.values)
            self._restore_corrected(index, self.scores.hands(index))
            self.runs.append(_PlayedMatch(self.match_plan(slot), match))
        self.started_s, self.monitor = time.monotonic() - report.seconds, report.monitor
        self.hands_before, self.lost_hands = report.hands_before, report.lost_hands
        self._begun_s = self._begun_s or self.started_s


# ---- on the other machine
def play_remotely(version_there: str, order: bytes) -> bytes:
    """Play a contest: the task of a worker.

    Returns:
        the report, packed.
    """
    here = version("acpc-arena")
    if here != version_there:
        report = _refused(f"acpc-arena {here} is installed there, and {version_there} here: install the same version")
    else:
        report = _play_order(pickle.loads(zlib.decompress(order)))
    return zlib.compress(pickle.dumps(report), 1)


def _refused(problem: str) -> _Report:
    error = RemoteError(socket.gethostname(), problem)
    return _Report(Ending(Outcome.FAILED, f"{error}.", error))


def _play_order(order: _Order) -> _Report:
    record = order.plan.record
    try:
        players = list(order.plan.run.players)
        for entrant in order.plan.entrants:
            players[entrant] = _local_player(players[entrant], order)
        with tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as temporary:
            # The same name, as files are called by it.
            folder = Path(temporary, record.folder.absolute().name)
            folder.mkdir()
            for name, data in order.files.items():
                (folder / name).write_bytes(data)
            histories = None if record.histories is None else folder / _HISTORIES
            plan = replace(
                order.plan,
                run=replace(order.plan.run, players=tuple(players)),
                record=replace(record, folder=folder, histories=histories),
            )
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                contest = runner.run(_played(plan))
            return _report_of(contest, folder)
    except DealerError as error:
        return _refused(str(error))
    except OSError as error:
        return _refused(f"{error.strerror}: {error.filename}")


def _local_player(player: Player, order: _Order) -> Player:
    """A player as this machine starts it.

    Raises:
        PlayerError: it cannot be had here.
    """
    directory = None
    if player.kind is PlayerKind.COMMAND or not is_builtin(player.text):
        directory = os.path.join(order.directory, player.directory) if player.directory else order.directory
        if not os.path.isdir(directory):
            raise PlayerError(f"{player.name} cannot start in {directory}: there is no such folder")
    in_process = order.plan.run.settings.in_process
    found = parse_player(f"x={player.text}", directory, (order.plan.game,), in_process=in_process)
    if in_process and (refusal := found.refusals[0]) is not None:
        raise PlayerError(f"{player.name} does not play {short_name(order.plan.record.game_name)}: {refusal}")
    return replace(player, command=found.command, directory=found.directory)


async def _played(plan: ContestPlan) -> Contest:
    contest = Contest(plan, asyncio.Semaphore(1))
    playing = asyncio.create_task(contest.play_out())
    while not (await asyncio.wait([playing], timeout=_WORD_S))[0]:
        send_progress(contest.hands_played, contest.hands_before)
        if not is_wanted():
            playing.cancel()
    await playing
    return contest


def _report_of(contest: Contest, folder: Path) -> _Report:
    ending = contest.ending or INTERRUPTED
    if ending.error is not None:
        return _refused(str(ending.error))
    matches = []
    for run, values in zip(contest.runs, contest.scores.values, strict=True):
        run.tally.detach()
        matches.append(
            _MatchReport(run.tally, values, run.exit_codes, run.questions, run.overhead_ns, run.not_exported())
        )
    return _Report(
        ending,
        seconds=contest.seconds,
        hands_before=contest.hands_before,
        lost_hands=contest.lost_hands,
        monitor=contest.monitor,
        matches=tuple(matches),
        files={path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()},
    )
