"""Contests of a run during play, and their progress.

A contest that fails does not end the other ones. The result names the reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bots.sdk.registry import is_builtin
from dealer.match.ending_sentences import stray_sentence
from dealer.run.choices import Score
from dealer.run.contest import Contest
from dealer.run.contest_plan import MatchPlan
from dealer.run.ending import INTERRUPTED, AwaitedPlayer, Outcome, Wait
from dealer.run.tally import Tally
from logs.estimation import Rate


class Tournament:
    """Contests of a run during play. A play is a tournament of one contest.

    Attributes:
        started_s: start of play on the monotonic clock.
        seconds: duration of play.
    """

    def __init__(
        self,
        contests: Sequence[Contest],
        at_once: int,
        on_ended: Callable[[Contest], None] = lambda contest: None,
    ) -> None:
        """Prepare a tournament.

        Args:
            contests: contests in the order in which they start.
            at_once: number of contests played at a time.
            on_ended: called with each contest that has ended.
        """
        self.contests = contests
        self._turns = asyncio.Semaphore(at_once)
        self.started_s = time.monotonic()
        self.seconds = 0.0
        self._on_ended = on_ended

    @property
    def outcome(self) -> Outcome:
        """Worst outcome of the contests."""
        outcomes = {(contest.ending or INTERRUPTED).outcome for contest in self.contests}
        for outcome in (Outcome.INTERRUPTED, Outcome.FAILED):
            if outcome in outcomes:
                return outcome
        return Outcome.FINISHED

    async def play(self) -> None:
        """Play the contests. After cancellation, return once all of them have stopped."""
        self.started_s = time.monotonic()
        try:
            async with asyncio.TaskGroup() as tasks:
                for contest in self.contests:
                    tasks.create_task(self._play(contest))
        except asyncio.CancelledError:
            # Every contest has noted that it was interrupted; the result so far is still wanted.
            pass
        finally:
            self.seconds = time.monotonic() - self.started_s

    async def _play(self, contest: Contest) -> None:
        try:
            async with self._turns:
                await contest.play_out()
        except asyncio.CancelledError:
            contest.ending = contest.ending or INTERRUPTED
            raise
        self._on_ended(contest)


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run.

    Attributes:
        contests: number of contests; 1 unless the run is a tournament.
        contests_ended: number of contests that have ended.
        hands: number of finished hands of all matches.
        hands_planned: number of hands of all matches.
        deals: number of deals that these finished hands amount to, each played in every seating.
        deals_planned: number of planned deals.
        hands_per_second: speed of this session; 0 before the first hand.
        rate: rate of the first player by the scores of the stop rule; None in a tournament and before the first
            complete deal.
        players: the first player and its opponent; empty in a tournament.
        has_stop_rule: a rule may end the run before all hands are played.
        deals_needed: number of further deals that the rule is likely to need; None if it is too early to tell.
        faults: number of faults of all players.
        awaited: players that one match waits for, without built-in bots.
        start_time_left_s: seconds for which it still waits for them; None without a limit.
        waits: long waits for players, from the longest.
        notes: sentences about refused connections to players' ports, and about other versions of the protocol.
        is_correcting: all hands are played, and win rates without the luck of the cards are being computed.
    """

    contests: int
    contests_ended: int
    hands: int
    hands_planned: int
    deals: int
    deals_planned: int
    hands_per_second: float
    rate: Rate | None
    players: tuple[str, ...]
    has_stop_rule: bool
    deals_needed: int | None
    faults: int
    awaited: tuple[AwaitedPlayer, ...]
    start_time_left_s: float | None
    waits: tuple[Wait, ...] = ()
    notes: tuple[str, ...] = ()
    is_correcting: bool = False


def progress_of(tournament: Tournament) -> Progress:
    """Return the progress of a run."""
    contests = tournament.contests
    only = contests[0] if len(contests) == 1 else None
    hands = sum(contest.hands_played for contest in contests)
    new = hands - sum(contest.hands_before for contest in contests)
    counted = [
        (contest.plan.names, match_plan, tally)
        for contest in contests
        for match_plan, tally in zip(contest.match_plans, contest.tallies, strict=False)
    ]
    begun = [contest.begun_s for contest in contests if contest.begun_s is not None]
    awaited, left_s = _awaited(tournament)
    return Progress(
        contests=len(contests),
        contests_ended=sum(contest.ending is not None for contest in contests),
        hands=hands,
        hands_planned=sum(contest.hands_to_play for contest in contests),
        deals=sum(contest.hands_played // contest.plan.seatings for contest in contests),
        deals_planned=sum(contest.hands_to_play // contest.plan.seatings for contest in contests),
        hands_per_second=new / max(1e-9, time.monotonic() - min(begun)) if begun else 0.0,
        rate=None if only is None else only.live_rate,
        players=() if only is None else (only.plan.names[0], only.plan.opponent),
        has_stop_rule=only is not None and only.plan.looks,
        deals_needed=only.monitor.expected_more() if only is not None and only.plan.looks else None,
        faults=sum(tally.fault_count for _, _, tally in counted),
        awaited=awaited,
        start_time_left_s=left_s,
        waits=tuple(sorted((wait for contest in contests for wait in contest.waits), reverse=True)),
        notes=tuple(note for names, match_plan, tally in counted for note in _notes(names, match_plan, tally)),
        is_correcting=bool(hands)
        and all(contest.ending is not None for contest in contests)
        and any(contest.plan.is_corrected or contest.plan.run.score is Score.AIVAT for contest in contests),
    )


def _notes(names: Sequence[str], match_plan: MatchPlan, tally: Tally) -> Iterator[str]:
    for stray in tally.latest_strays:
        yield stray_sentence(stray, names[match_plan.players[stray.seat]])
    for seat in tally.other_versions:
        name = names[match_plan.players[seat]]
        yield f"{name} uses another version of the protocol than 2.0.0; play continues."


def _awaited(tournament: Tournament) -> tuple[tuple[AwaitedPlayer, ...], float | None]:
    """Return the players that the first match with empty seats waits for, and the seconds left for them."""
    for contest in tournament.contests:
        texts = {name: player.text for name, player in zip(contest.plan.names, contest.plan.players, strict=True)}
        for run in contest.runs:
            # Built-in bots connect within a moment.
            awaited = tuple(player for player in run.waiting_for() if not is_builtin(texts[player.name]))
            if awaited:
                return awaited, run.start_time_left_s
    return (), None
