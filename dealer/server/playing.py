"""Plays a run of a job by the runner of `arena play`, in its folder: as far as it has come, or new."""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dealer.contest.config import read_config, validated
from dealer.contest.ending import Outcome
from dealer.errors import DealerError
from dealer.record.folder import CONFIG_NAME, empty_folder
from dealer.runs import AnyResult, Run, new_play, reopen
from dealer.server import ledger
from dealer.server.jobs import ActiveJob
from dealer.server.ledger import JobRow, RunReport, RunRow, RunState
from dealer.server.lobby import Lobby
from dealer.server.reports import report_of
from dealer.server.server_bots import listener_host, run_config
from dealer.server.settings import ServerGame, ServerSettings
from dealer.server.store import Store
from dealer.server.summons import addresses_of, summons
from dealer.server.watches import Watches
from engine import Seed
from logs.whole_file import write_whole
from protocol.benchmark import OWN_SEAT

__all__ = ["Table", "play_run"]

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
        versions = ledger.versions_of(table.store, row.id)
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
