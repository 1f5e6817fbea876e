"""Calls agents to their seats: a client's own, and the bots of users.

Whenever a seat that somebody else fills is open (a match begins, or a player is awaited again after a fault), who
brings that player is told the port, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dealer.contest.progress import AwaitedPlayer, Progress
from dealer.runs import AnyResult, Run
from dealer.server.jobs import ActiveJob, Client, SeatOpen
from dealer.server.ledger import RunRow
from dealer.server.lobby import BotHost, Lobby, RunProgress
from dealer.server.settings import player_name
from logs.estimation import Rate
from protocol.benchmark import OWN_SEAT

__all__ = ["addresses_of", "hosts_of", "summons"]


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
