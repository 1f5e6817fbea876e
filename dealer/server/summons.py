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
from dealer.server.lobby import BotHost, Lobby
from protocol.benchmark import OWN_SEAT

__all__ = ["addresses_of", "summons"]


def addresses_of(job: ActiveJob, lobby: Lobby, *, is_bound: bool) -> dict[str, str | None]:
    """From where the players of a job that are none of the house have to come; None for anywhere.

    Args:
        job: the job.
        lobby: the bots of users.
        is_bound: whether they have to come from the address of who brings them.
    """
    addresses = {OWN_SEAT: None if job.client is None else job.client.address} if job.has_own_seat else {}
    for name in job.guests:
        guest = lobby.find(job.row.game, name)
        addresses[name] = None if guest is None else guest.host.address
    return {player: address if is_bound else None for player, address in addresses.items()}


def summons(
    job: ActiveJob, run: Run[AnyResult], row: RunRow, versions: Sequence[int | None], lobby: Lobby
) -> Callable[[Progress], None]:
    """What is to be called with the progress of a run, to call agents to their seats.

    Args:
        job: whose run it is.
        run: what is played. row: the same as it is kept.
        versions: by seat, of the players that have one; a bot that is there in another version is not called.
        lobby: the bots of users.
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
        for player in sorted(awaited - told, key=lambda player: seats[player.name]):
            seat = seats[player.name]
            host = host_of(seat)
            if host is not None:
                host.tell(SeatOpen(job.row, player.port, job.row.players[seat], row.id))
        told = awaited

    return tell
