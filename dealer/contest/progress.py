"""How a run stands while it is played, as a value: what a progress line, a web page or a notebook shows."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dealer.contest.contest import Contest
from dealer.contest.ending import Wait
from dealer.contest.tournament import Tournament
from dealer.match.events import StrayConnection
from dealer.table.players import PlayerKind
from logs.estimation import Rate

__all__ = ["AwaitedPlayer", "Progress", "progress_of"]


@dataclass(frozen=True, slots=True)
class AwaitedPlayer:
    """A player that has not connected yet.

    Attributes:
        name: its name.
        host: the address on which it is awaited.
        port: the port there.
        is_remote: whether somebody else has to start it.
    """

    name: str
    host: str
    port: int
    is_remote: bool

    @property
    def address(self) -> str:
        """Where it is awaited, as HOST:PORT."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How a run stands.

    Attributes:
        contests: how many there are; 1 unless it is a tournament.
        contests_ended: how many have ended.
        hands: finished hands, in all matches.
        hands_planned: the most hands there can be.
        hands_per_second: in this session; 0 before the first hand.
        rate: the first player's winnings so far, as the stop rule looks at them; None in a tournament and before the
            first complete deal.
        players: the first player and its opponent; empty in a tournament.
        has_stop_rule: whether a rule may end it before all hands are played.
        hands_needed: how many more hands that rule is likely to need; None while it is too early to say.
        faults: how many there were, of all players.
        awaited: the players that one match is waiting for; empty when all are connected.
        start_time_left_s: how long it still waits for them; None without a limit.
        waits: the players that matches have been waiting for, for a while, the longest first.
        strays: how many connections to players' ports were turned away.
        latest_strays: the last of them, each with the name of the player.
        other_versions: the players that speak another version of the protocol than the dealer.
    """

    contests: int
    contests_ended: int
    hands: int
    hands_planned: int
    hands_per_second: float
    rate: Rate | None
    players: tuple[str, ...]
    has_stop_rule: bool
    hands_needed: int | None
    faults: int
    awaited: tuple[AwaitedPlayer, ...]
    start_time_left_s: float | None
    waits: tuple[Wait, ...] = ()
    strays: int = 0
    latest_strays: tuple[tuple[str, StrayConnection], ...] = ()
    other_versions: frozenset[str] = frozenset()


def progress_of(tournament: Tournament) -> Progress:
    """How a run stands now."""
    contests = tournament.contests
    only = contests[0] if len(contests) == 1 else None
    hands = sum(contest.hands_played for contest in contests)
    new = hands - sum(contest.hands_before for contest in contests)
    runs = [run for contest in contests for run in contest.runs]
    begun = [contest.begun_s for contest in contests if contest.begun_s is not None]
    awaited, left_s = _awaited(tournament)
    return Progress(
        len(contests),
        sum(contest.ending is not None for contest in contests),
        hands,
        sum(contest.hands_to_play for contest in contests),
        new / max(1e-9, time.monotonic() - min(begun)) if begun else 0.0,
        None if only is None else only.judged.live[0].rate(only.plan.names[0], only.plan.opponent),
        () if only is None else (only.plan.names[0], only.plan.opponent),
        only is not None and only.monitor is not None,
        None if only is None else _hands_needed(only),
        sum(run.tally.fault_count for run in runs),
        awaited,
        left_s,
        tuple(sorted((wait for contest in contests for wait in contest.waits), reverse=True)),
        sum(run.tally.strays for run in runs),
        tuple((run.plan.setup.names[stray.seat], stray) for run in runs for stray in run.tally.latest_strays),
        frozenset(run.plan.setup.names[seat] for run in runs for seat in run.tally.other_versions),
    )


def _hands_needed(contest: Contest) -> int | None:
    more = None if contest.monitor is None else contest.monitor.expected_more()
    return None if more is None else more * contest.plan.seatings


def _awaited(tournament: Tournament) -> tuple[tuple[AwaitedPlayer, ...], float | None]:
    """The players that the first match with empty seats waits for, and how long it still does."""
    for contest in tournament.contests:
        kinds = {name: player.kind for name, player in zip(contest.plan.names, contest.plan.players, strict=True)}
        for run in contest.runs:
            awaited = tuple(
                AwaitedPlayer(name, run.plan.host, port, kinds[name] is PlayerKind.TCP)
                for name, port in run.waiting_for()
            )
            if awaited:
                return awaited, run.start_time_left_s
    return (), None
