"""Plays a run of a job by the runner of `arena play`, in its folder: as far as it has come, or new.

While it is played, agents are called to their seats and watchers get its events; at its end, `report_of` gives what is
kept of it: its result, its faults, and the score of every duplicate.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dealer.errors import DealerError
from dealer.library import Run, new_play, reopen
from dealer.run.contest import MatchEvent, Watch
from dealer.run.ending import AwaitedPlayer, Outcome
from dealer.run.folder import CONFIG_NAME, empty_folder
from dealer.run.plan import ContestPlan
from dealer.run.results import AnyResult, ContestResult
from dealer.run.settings import read_config, validated
from dealer.run.tournament import Progress
from dealer.run.writers import read_faults
from dealer.server.db import records
from dealer.server.db.records import JobKind, Match, RunSeat, RunState
from dealer.server.db.runs import RunReport
from dealer.server.db.store import Store
from dealer.server.queue.connected_bots import BotHost, ConnectedBots
from dealer.server.queue.jobs import ActiveJob, Client, SeatOpen
from dealer.server.ratings import why_unrated
from dealer.server.server_bots import run_config
from dealer.server.settings import ServerGame, ServerSettings, most_deals, player_name
from engine import Seat
from logs.estimation import Rate
from logs.whole_file import write_whole
from protocol.benchmark import OWN_SEAT
from protocol.joining import RunStands

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlayContext:
    """Where runs are played.

    Attributes:
        environment: variables that the processes of the server's own bots get.
    """

    settings: ServerSettings
    store: Store
    folder: Path
    connected_bots: ConnectedBots
    watchers: Watchers
    environment: Mapping[str, str]


async def play_run(context: PlayContext, job: ActiveJob, row: records.Run) -> RunReport | None:
    """Play a run to its end; returns how it ended, and None for one that was interrupted, to be resumed."""
    try:
        for name, seat in zip(job.row.players, row.seats, strict=True):
            connected = context.connected_bots.find(job.row.game, name) if name in job.users_bots else None
            if connected is not None and connected.versions[job.row.game] != seat.version:
                return RunReport(RunState.CANCELLED, f"{name} has come back as another version.")
        client = job.client if context.settings.seats_by_address else None
        own_address = None if client is None else client.address
        run = await asyncio.to_thread(_opened, context, job, row, own_address)
        job.run = run
        if job.is_interrupted or job.is_cancelled:
            run.interrupt()
        notifier = seat_notifier(
            run,
            job.game,
            job.row.players,
            context.connected_bots,
            number=row.id,
            match=job.row.label,
            hands=most_deals(job.game, job.row.terms),
            versions=[seat.version for seat in row.seats],
            client=lambda: job.client,
        )
        result = await run.play(
            notifier if job.has_own_seat or job.users_bots else None, context.watchers.opened(row.id)
        )
        if result.outcome is Outcome.INTERRUPTED and not job.is_cancelled:
            return None
        bots = [None if seat.version is None else records.bot(context.store, seat.version) for seat in row.seats]
        is_practice = job.row.kind is JobKind.REQUEST and context.settings.has_only_ladder
        unrated = why_unrated(run.planned[0], bots, is_practice=is_practice)
        return await asyncio.to_thread(report_of, run, result, job.end if job.is_cancelled else "", unrated)
    except DealerError as error:
        return RunReport(RunState.FAILED, f"{error}.")
    except Exception as error:
        _log.exception("run %d of %s", row.number, job.row.label)
        return RunReport(RunState.FAILED, f"internal error: {type(error).__name__}.")


def _opened(context: PlayContext, job: ActiveJob, row: records.Run, own_address: str | None) -> Run[AnyResult]:
    folder = context.folder / row.folder
    path = folder / CONFIG_NAME
    assert row.seed is not None
    if path.is_file() and validated(read_config(path), str(path)).seed != row.seed:
        # A run that is not in the database: an older copy of it was put in its place.
        folder.rename(_free_beside(folder))
    if path.is_file():
        if job.has_own_seat:
            _readdress(context.settings, job.row.players, path, own_address)
        return reopen(folder)
    if folder.exists():
        # The server ended while it was made.
        empty_folder(folder, is_removed=True)
    config = run_config(
        context.settings,
        job.game,
        job.row.players,
        job.row.terms,
        user=job.row.user.name,
        seed=row.seed,
        own_address=own_address,
        environment=context.environment,
    )
    return new_play(config, folder)


def _free_beside(folder: Path) -> Path:
    return next(
        free for number in itertools.count(1) if not (free := folder.with_name(f"{folder.name}.{number}")).exists()
    )


def _readdress(settings: ServerSettings, players: Sequence[str], path: Path, own_address: str | None) -> None:
    """Have a client's own agents come from where the client is now, to where the server listens now."""
    config = validated(read_config(path), str(path))
    bots = [
        replace(bot, address=own_address) if player == OWN_SEAT else bot
        for bot, player in zip(config.bots, players, strict=True)
    ]
    write_whole(path, replace(config, bots=tuple(bots), host=settings.host).to_toml())


def report_of(run: Run[AnyResult], result: AnyResult, cancelled: str, unrated: str) -> RunReport:
    """What is kept of a run.

    Args:
        cancelled: why it was ended before its time; empty if it was not cancelled.
        unrated: why it does not count in the standings; empty if it does.
    """
    assert isinstance(result, ContestResult)
    (plan,) = run.planned
    faults = tuple(
        # By player, who has another seat in every seating.
        (slot.name, fault._replace(seat=Seat(slot.players[fault.seat])))
        for slot in plan.slots
        for fault in read_faults(plan.record.folder / f"{slot.name}.faults", len(slot.players))
    )
    matches = tuple(
        Match(name=match.name, log=f"{match.name}.log", first_hand=match.first_hand, hands=match.hands)
        for match in result.matches
    )
    seats = tuple(
        RunSeat.new(number, one.name, chips=one.chips, mbb_per_game=one.mbb_per_game, half_width_95=one.half_width_95)
        for number, one in enumerate(result.players)
    )
    (contest,) = run.contests()
    is_comparable = plan.seatings > 1 and not plan.learners and not plan.is_sequential
    units, is_complete = list(contest.scores.in_order()), result.outcome.is_complete
    if is_comparable and plan.has_own_cards and not is_complete:
        # Nothing in the seatings to come could make up for the luck of a seating that was broken off.
        units = list(contest.scores.in_rounds())
        # Without a unit there are no columns, and the seats stay as they are.
        seats = tuple(_seat(plan, number, column) for number, column in enumerate(zip(*units, strict=True))) or seats
    is_kept = is_complete or (is_comparable and bool(units))
    # Also of what was broken off: who did that may have had a reason in the scores.
    scores = tuple(array("d", column) for column in zip(*units, strict=True)) if is_kept else ()
    state, reason = RunState.FINISHED, result.reason
    if not is_complete:
        state = RunState.CANCELLED if cancelled else RunState.FAILED
        reason = f"{cancelled}." if cancelled else reason
    return RunReport(
        state,
        reason,
        len(units) if is_kept else None,
        seats=seats,
        scores=scores,
        matches=matches,
        faults=faults,
        unrated=unrated,
    )


def _seat(plan: ContestPlan, number: int, scores: Sequence[float]) -> RunSeat:
    mean = plan.new_mean()
    for score in scores:
        mean.add(score)
    chips = round(math.fsum(scores) * plan.seatings * plan.game.big_blind / 1000, 6)
    return RunSeat.new(
        number, plan.names[number], chips=chips, mbb_per_game=mean.mean, half_width_95=mean.half_width_95
    )


def hosts_of(job: ActiveJob, connected_bots: ConnectedBots) -> list[BotHost]:
    """Who brings the users' bots of a job, as far as they are there."""
    there = [connected_bots.find(job.row.game, name) for name in sorted(job.users_bots)]
    return [connected.host for connected in there if connected is not None]


def _rate_of(rate: Rate | None, name: str) -> str:
    if rate is None:
        return ""
    return str(rate.of(name) if name in (rate.player, rate.opponent) else rate)


def seat_notifier(
    run: Run[Any],
    game: ServerGame,
    players: Sequence[str],
    connected_bots: ConnectedBots,
    *,
    number: int,
    match: str,
    hands: int,
    versions: Sequence[int | None],
    client: Callable[[], Client | None] = lambda: None,
) -> Callable[[Progress], None]:
    """What is to be called with the progress of a run, to call agents to their seats.

    Whenever a seat for a joined bot is open (a match begins, or a player is awaited again after a fault), the
    client that brings that player gets the port, once.

    Args:
        versions: by seat, of the players that have one; a bot that is there in another version is not called.
        client: gives who brings the own agents.
    """
    seats = {name: seat for seat, name in enumerate(run.planned[0].names)}
    names = sorted(game.users_bots(players))
    reached_before: frozenset[AwaitedPlayer] = frozenset()

    def host_of(seat: int) -> Client | BotHost | None:
        if players[seat] == OWN_SEAT:
            return client()
        connected = connected_bots.find(game.name, players[seat])
        return connected.host if connected is not None and connected.versions[game.name] == versions[seat] else None

    def notify(progress: Progress) -> None:
        nonlocal reached_before
        awaited = frozenset(player for player in progress.awaited if player.is_remote)
        reached = set(reached_before & awaited)
        for player in sorted(awaited - reached_before, key=lambda player: seats[player.name]):
            name = players[seats[player.name]]
            host = host_of(seats[player.name])
            if host is not None:
                reached.add(player)
                host.notify(
                    SeatOpen(
                        run=number,
                        match=match,
                        game=game.name,
                        hands=hands,
                        player=name,
                        port=player.port,
                        open_seat=player.open_seat,
                    )
                )
        # Who is away is called when it is back.
        reached_before = frozenset(reached)
        for name in names:
            connected = connected_bots.find(game.name, name)
            if connected is not None:
                rate = _rate_of(progress.rate, player_name(name))
                connected.host.notify(RunStands(match, progress.hands, progress.hands_planned, rate))

    return notify


class Watchers:
    """Hands the events of matches to all who watch them."""

    def __init__(self) -> None:
        self._by_run: dict[int, list[Watch]] = {}
        self._open: set[int] = set()

    def opened(self, run: int) -> Watch:
        """What a run that begins is to be played with."""
        self._open.add(run)
        watchers = self._by_run.setdefault(run, [])

        def notify(event: MatchEvent) -> None:
            for watch in tuple(watchers):
                watch(event)

        return notify

    def is_open(self, run: int) -> bool:
        """Whether a run goes on."""
        return run in self._open

    def closed(self, run: int) -> None:
        """A run has ended."""
        self._open.discard(run)
        self._by_run.pop(run, None)

    def add(self, run: int, watch: Watch) -> Callable[[], None]:
        """Have a callback get the events of a run that goes on, until what this returns is called.

        The callback must not raise, and must not wait. It gets what comes; what was before is in the logs.
        """
        watchers = self._by_run.setdefault(run, [])
        watchers.append(watch)

        def end() -> None:
            if watch in watchers:
                watchers.remove(watch)
            if not watchers and self._by_run.get(run) is watchers and run not in self._open:
                del self._by_run[run]

        return end
