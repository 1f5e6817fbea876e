"""Plays a run of a job by the runner of `arena play`, in its folder: as far as it has come, or new."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import math
import secrets
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from dealer.contest.config import read_config, validated
from dealer.contest.contest import MatchEvent, Watch
from dealer.contest.ending import Outcome
from dealer.contest.plan import ContestPlan
from dealer.contest.progress import AwaitedPlayer, Progress
from dealer.errors import DealerError
from dealer.match.faults import Fault
from dealer.record.folder import CONFIG_NAME, empty_folder
from dealer.record.writers import parse_fault
from dealer.results.schema import ContestResult
from dealer.runs import AnyResult, Run, new_play, reopen
from dealer.server.db.runs import JobRow, RunReport, RunRow, RunState, SeatReport, versions_of
from dealer.server.db.store import Store
from dealer.server.queue.connected_bots import BotHost, Lobby, RunProgress
from dealer.server.queue.jobs import ActiveJob, Client, SeatOpen
from dealer.server.server_bots import listener_host, run_config
from dealer.server.settings import ServerGame, ServerSettings, player_name
from engine import Seat, Seed
from logs.estimation import Rate
from logs.whole_file import write_whole
from protocol.benchmark import OWN_SEAT

__all__ = [
    "Table",
    "Watches",
    "addresses_of",
    "hosts_of",
    "play_run",
    "report_of",
    "summons",
]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Table:
    """Where runs are played.

    Attributes:
        settings: of the server.
        store: its database.
        folder: of everything it keeps.
        lobby: the bots of users.
        watches: who watches.
        environment: variables that the processes of the server's own bots get.
        key: what has to be said for the seats of users' bots.
    """

    settings: ServerSettings
    store: Store
    folder: Path
    lobby: Lobby
    watches: Watches
    environment: Mapping[str, str]
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32))


async def play_run(table: Table, job: ActiveJob, row: RunRow) -> RunReport | None:
    """Play a run to its end; returns how it ended, and None for one that was interrupted, to be gone on with."""
    try:
        versions = versions_of(table.store, row.id)
        for name, version in zip(job.row.players, versions, strict=True):
            guest = table.lobby.find(job.row.game, name) if name in job.guests else None
            if guest is not None and guest.versions[job.row.game] != version:
                return RunReport(RunState.CANCELLED, f"{name} has come back as another version.")
        addresses = addresses_of(job, is_bound=table.settings.seats_by_address)
        opened = partial(
            _opened,
            table.settings,
            job.row,
            job.game,
            table.folder / row.folder,
            seed=row.seed,
            key=table.key,
            addresses=addresses,
            environment=table.environment,
        )
        run = await asyncio.to_thread(opened)
        job.run = run
        if job.is_interrupted or job.is_cancelled:
            run.interrupt()
        announcer = summons(job, run, row, versions, table.lobby, table.key) if addresses else None
        result = await run.play(announcer, table.watches.opened(row.id))
        if result.outcome is Outcome.INTERRUPTED and not job.is_cancelled:
            return None
        return await asyncio.to_thread(report_of, run, result, job.end if job.is_cancelled else "")
    except DealerError as error:
        return RunReport(RunState.FAILED, f"{error}.")
    except Exception as error:
        _log.exception("run %d of %s.%s", row.number, job.row.user.name, job.row.tag)
        return RunReport(RunState.FAILED, f"internal error: {type(error).__name__}.")


def _opened(
    settings: ServerSettings,
    job: JobRow,
    game: ServerGame,
    folder: Path,
    *,
    seed: Seed,
    key: str,
    addresses: Mapping[str, str | None],
    environment: Mapping[str, str],
) -> Run[AnyResult]:
    """The run of a job.

    Args:
        settings: of the server.
        job: whose run it is.
        game: the game.
        folder: of the run.
        seed: of its cards, a number or a key.
        key: what has to be said for the seats of users' bots.
        addresses: by player that is not one of the server's own bots, from where it has to come.
        environment: variables that the processes of the server's own bots get.

    Raises:
        DealerError: the folder is not that of this run, or cannot be read or written.
    """
    path = folder / CONFIG_NAME
    if path.is_file() and validated(read_config(path), str(path)).seed != seed:
        # A run that the database does not know: an older copy of it was put in its place.
        folder.rename(_free_beside(folder))
    if path.is_file():
        if addresses:
            _readdress(settings, job, path, key, addresses)
        return reopen(folder)
    if folder.exists():
        # The server ended while it was made.
        empty_folder(folder, is_removed=True)
    config = run_config(
        settings,
        game,
        job.players,
        user=job.user.name,
        seed=seed,
        key=key,
        addresses=addresses,
        environment=environment,
        hands=job.hands,
        seating=job.seating,
        stop=job.stop,
        on_fault=job.on_fault,
    )
    return new_play(config, folder)


def _free_beside(folder: Path) -> Path:
    """A name that nothing has, for a folder that is in the way."""
    return next(
        beside for number in itertools.count(1) if not (beside := folder.with_name(f"{folder.name}.{number}")).exists()
    )


def _readdress(
    settings: ServerSettings, job: JobRow, path: Path, key: str, addresses: Mapping[str, str | None]
) -> None:
    """Have a run expect its agents from where they are now."""
    config = validated(read_config(path), str(path))
    bots = [
        bot.model_copy(update={"address": addresses[player], "key": None if player == OWN_SEAT else key})
        if player in addresses
        else bot
        for bot, player in zip(config.bots, job.players, strict=True)
    ]
    host = listener_host(settings, job.players)
    write_whole(path, config.model_copy(update={"bots": bots, "host": host}).to_toml())


def report_of(run: Run[AnyResult], result: AnyResult, cancelled: str) -> RunReport:
    """What is kept of a run.

    Args:
        run: as it was played.
        result: what came out of it.
        cancelled: why it was ended before its time; empty if nobody wanted that.
    """
    assert isinstance(result, ContestResult)
    (plan,) = run.plan.contests
    faults = tuple(
        # By player, who has another seat in every seating.
        (slot.name, fault._replace(seat=Seat(slot.players[fault.seat])))
        for slot in plan.slots
        for fault in _faults(plan.record.folder / f"{slot.name}.faults")
    )
    matches = tuple((match.name, f"{match.name}.log", match.first_hand, match.hands) for match in result.matches)
    seats = tuple(
        SeatReport(player.name, player.chips, player.mbb_per_game, player.half_width_95) for player in result.players
    )
    (contest,) = run.contests()
    is_comparable = plan.seatings > 1 and not plan.learners and not plan.is_sequential
    units, is_complete = list(contest.scores.in_order()), result.outcome.is_complete
    if is_comparable and plan.has_own_cards and not is_complete:
        # Nothing in the seatings to come could make up for the luck of a seating that was broken off.
        units = list(contest.scores.in_rounds())
        # Without a unit there are no columns, and the seats stay as they are.
        seats = tuple(map(partial(_seat, plan), plan.names, zip(*units, strict=True))) or seats
    is_kept = is_complete or (is_comparable and bool(units))
    if is_kept:
        # Also of what was broken off: whoever did that may have had a reason in the scores.
        scores = [array("d", column) for column in zip(*units, strict=True)]
        seats = tuple(replace(seat, mbb_by_duplicate=column) for seat, column in zip(seats, scores, strict=True))
    state, reason = RunState.FINISHED, result.reason
    if not is_complete:
        state = RunState.CANCELLED if cancelled else RunState.FAILED
        reason = f"{cancelled}." if cancelled else reason
    return RunReport(state, reason, len(units) if is_kept else None, seats, matches, faults, is_comparable)


def _seat(plan: ContestPlan, name: str, scores: Sequence[float]) -> SeatReport:
    mean = plan.new_mean()
    for score in scores:
        mean.add(score)
    chips = round(math.fsum(scores) * plan.seatings * plan.game.big_blind / 1000, 6)
    return SeatReport(name, chips, mean.mean, mean.half_width_95)


def _faults(path: Path) -> list[Fault]:
    """The faults in a file, as far as it can be read; a run that has none leaves none."""
    faults = []
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text("utf-8").splitlines():
            faults.append(parse_fault(line))
    return faults


def addresses_of(job: ActiveJob, *, is_bound: bool) -> dict[str, str | None]:
    """From where the players of a job that are not the server's own have to come; None for anywhere.

    Users' bots come from anywhere where their seats' key is known.

    Args:
        job: the job.
        is_bound: whether a client's own agents have to come from its address.
    """
    addresses: dict[str, str | None] = dict.fromkeys(job.guests)
    if job.has_own_seat:
        addresses[OWN_SEAT] = job.client.address if is_bound and job.client is not None else None
    return addresses


def hosts_of(job: ActiveJob, lobby: Lobby) -> list[BotHost]:
    """Who brings the users' bots of a job, as far as they are there."""
    guests = [lobby.find(job.row.game, name) for name in sorted(job.guests)]
    return [guest.host for guest in guests if guest is not None]


def _rate_of(rate: Rate | None, name: str) -> str:
    """What has been won so far in words, as a player sees it if it is one of the two."""
    if rate is None:
        return ""
    return str(rate.of(name) if name in (rate.player, rate.opponent) else rate)


def summons(
    job: ActiveJob, run: Run[AnyResult], row: RunRow, versions: Sequence[int | None], lobby: Lobby, key: str
) -> Callable[[Progress], None]:
    """What is to be called with the progress of a run, to call agents to their seats.

    Args:
        job: whose run it is.
        run: what is played. row: the same as it is kept.
        versions: by seat, of the players that have one; a bot that is there in another version is not called.
        lobby: the bots of users.
        key: of their seats.
    """
    seats = {name: seat for seat, name in enumerate(run.plan.contests[0].names)}
    told: frozenset[AwaitedPlayer] = frozenset()

    def host_of(seat: int) -> Client | BotHost | None:
        name = job.row.players[seat]
        if name == OWN_SEAT:
            return job.client
        guest = lobby.find(job.row.game, name)
        return guest.host if guest is not None and guest.versions[job.row.game] == versions[seat] else None

    def tell(progress: Progress) -> None:
        nonlocal told
        awaited = frozenset(player for player in progress.awaited if player.is_remote)
        reached = set(told & awaited)
        for player in sorted(awaited - told, key=lambda player: seats[player.name]):
            name = job.row.players[seats[player.name]]
            host = host_of(seats[player.name])
            if host is not None:
                reached.add(player)
                host.tell(SeatOpen(job.row, player.port, name, row.id, None if name == OWN_SEAT else key, player.host))
        # Who is away is called when it is back.
        told = frozenset(reached)
        for name in sorted(job.guests):
            guest = lobby.find(job.row.game, name)
            if guest is not None:
                rate = _rate_of(progress.rate, player_name(name))
                guest.host.tell(RunProgress(job.row, progress.hands, progress.hands_planned, rate))

    return tell


class Watches:
    """Hands the events of matches to all who watch them."""

    def __init__(self) -> None:
        self._by_run: dict[int, list[Watch]] = {}
        self._open: set[int] = set()

    def opened(self, run: int) -> Watch:
        """What a run that begins is to be played with."""
        self._open.add(run)
        watches = self._by_run.setdefault(run, [])

        def tell(event: MatchEvent) -> None:
            for watch in tuple(watches):
                watch(event)

        return tell

    def is_open(self, run: int) -> bool:
        """Whether a run goes on."""
        return run in self._open

    def closed(self, run: int) -> None:
        """A run has ended."""
        self._open.discard(run)
        self._by_run.pop(run, None)

    def add(self, run: int, watch: Watch) -> Callable[[], None]:
        """Have a callback hear what happens in a run that goes on, until what this returns is called.

        The callback must not raise, and must not wait. It hears what comes; what was before stands in the logs.
        """
        watches = self._by_run.setdefault(run, [])
        watches.append(watch)

        def end() -> None:
            if watch in watches:
                watches.remove(watch)
            if not watches and self._by_run.get(run) is watches and run not in self._open:
                del self._by_run[run]

        return end
