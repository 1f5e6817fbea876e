"""Order, limits and forecasts of waiting jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.server.capacity import CapacityShare, Limits
from dealer.server.queue.fair_queue import MAX_SKIPS, Forecast, WaitingJob, forecast, never_fits, next_job, skipped_jobs

ONE_AT_A_TIME = Limits(runs_per_game={"g": 1})


def job(number: int, user: int, runs: int = 1, *, bots: Sequence[str] = ("a", "b"), game: str = "g") -> WaitingJob:
    return WaitingJob(number, CapacityShare(user, game, tuple(bots)), runs, number, 0)


def order_of_runs(jobs: Sequence[WaitingJob], limits: Limits) -> list[int]:
    """Return the jobs in the order in which their runs start, if each run ends before the next choice."""
    waiting = {waiting_job.id: waiting_job for waiting_job in jobs}
    order: list[int] = []
    stamp = len(jobs)
    while True:
        chosen = next_job(waiting.values(), {}, limits)
        if chosen is None:
            return order
        stamp += 1
        order.append(chosen.id)
        for number in skipped_jobs(waiting.values(), {}, chosen):
            waiting[number] = replace(waiting[number], skips=waiting[number].skips + 1)
        waiting[chosen.id] = replace(chosen, runs_left=chosen.runs_left - 1, stamp=stamp, skips=0)
        for other in list(waiting.values()):
            if other.share.user == chosen.share.user:
                waiting[other.id] = replace(other, user_served=stamp)


def test_user_served_longest_ago_is_first_and_jobs_of_a_user_take_turns() -> None:
    waiting = [job(1, 1, 3), job(2, 1, 3), job(3, 1, 2), job(4, 2, 3)]
    # In the recording of the reference, the first job starts before the others are submitted.
    first = [replace(waiting[0], runs_left=2, stamp=2, user_served=2)]
    rest = [replace(other, stamp=other.id + 1, user_served=2 if other.share.user == 1 else 0) for other in waiting[1:]]
    assert [1, *order_of_runs(first + rest, ONE_AT_A_TIME)] == [1, 4, 1, 4, 2, 4, 3, 1, 2, 3, 2]


def test_one_run_of_a_job_at_a_time() -> None:
    started = job(1, 1, 3)
    assert next_job([started], {1: started.share}, Limits()) is None


def test_job_waits_until_its_players_are_connected() -> None:
    waiting = [replace(job(1, 1), is_ready=False)]
    assert next_job(waiting, {}, Limits()) is None
    assert forecast(waiting, {}, Limits(), lambda game: 1.0) == {}


@pytest.mark.parametrize(
    ("limits", "share", "fits"),
    [
        (Limits(), CapacityShare(1, "g", ("a", "b")), True),
        (Limits(bots=3), CapacityShare(2, "h", ("c",)), True),
        (Limits(bots=3), CapacityShare(2, "h", ("c", "c")), False),
        (Limits(bots=2), CapacityShare(2, "h", ()), True),
        (Limits(runs_per_user=1), CapacityShare(1, "h", ()), False),
        (Limits(runs_per_user=1), CapacityShare(2, "h", ()), True),
        (Limits(runs_per_game={"g": 1}), CapacityShare(2, "g", ()), False),
        (Limits(runs_per_game={"g": 1}), CapacityShare(2, "h", ()), True),
        (Limits(runs_per_bot=1), CapacityShare(2, "h", ("b",)), False),
        (Limits(runs_per_bot=1), CapacityShare(2, "h", ("c",)), True),
        (Limits(runs_per_bot=2), CapacityShare(2, "h", ("b", "b")), False),
    ],
)
def test_job_starts_only_within_the_limits(limits: Limits, share: CapacityShare, *, fits: bool) -> None:
    # User 1 has the bots a and b play g.
    running = {1: CapacityShare(1, "g", ("a", "b"))}
    chosen = next_job([WaitingJob(2, share, 1, 2, 0)], running, limits)
    assert (chosen is not None) is fits


def test_job_that_does_not_fit_is_skipped() -> None:
    running = {1: CapacityShare(3, "g", ("a", "b"))}
    large = job(2, 1)
    small = replace(job(3, 2, bots=["a"]), user_served=1)
    chosen = next_job([large, small], running, Limits(bots=3))
    assert chosen == small
    assert skipped_jobs([large, small], running, chosen) == [2]


def test_job_that_was_skipped_often_makes_others_wait() -> None:
    running = {1: CapacityShare(3, "g", ("a", "b"))}
    large = replace(job(2, 1), skips=MAX_SKIPS)
    small = replace(job(3, 2, bots=["a"]), user_served=1)
    assert next_job([large, small], running, Limits(bots=3)) is None
    without_bots = replace(job(4, 2, bots=[], game="h"), user_served=1)
    assert next_job([large, without_bots], running, Limits(bots=3)) == without_bots
    # Others do not wait for a job that exceeds the limit of its own user.
    busy = {1: CapacityShare(1, "g", ("a", "b"))}
    assert next_job([large, small], busy, Limits(runs_per_user=1)) == small


def test_job_that_can_never_run_is_explained() -> None:
    two_bots = CapacityShare(1, "g", ("a", "b"))
    same_bot = CapacityShare(1, "g", ("a", "a"))
    assert never_fits(two_bots, Limits(bots=1)) == "it needs 2 bots, and at most 1 may run at a time"
    assert never_fits(same_bot, Limits(runs_per_bot=1)) == "the bot a would have 2 seats, and the limit is 1"
    assert never_fits(two_bots, Limits(bots=2, runs_per_bot=1, runs_per_user=1)) == ""


def test_forecast_has_positions_and_times() -> None:
    waiting = [job(1, 1), job(2, 1), job(3, 2), job(4, 2)]
    running = {9: CapacityShare(3, "g", ())}
    forecasts = forecast(waiting, running, ONE_AT_A_TIME, lambda game: 10.0, left_s=lambda number: 4.0)
    assert forecasts == {1: Forecast(1, 4.0), 3: Forecast(2, 14.0), 2: Forecast(3, 24.0), 4: Forecast(4, 34.0)}
    unknown = forecast(waiting, {}, ONE_AT_A_TIME, lambda game: None)
    assert unknown[1] == Forecast(1, 0.0)
    assert unknown[2].starts_in_s is None


SLOTS = st.builds(
    CapacityShare, st.integers(1, 3), st.sampled_from("gh"), st.lists(st.sampled_from("abc"), max_size=3).map(tuple)
)
LIMITS = st.builds(
    Limits,
    st.none() | st.integers(1, 4),
    st.none() | st.integers(1, 2),
    st.none() | st.integers(1, 2),
    st.sampled_from([{}, {"g": 1}, {"g": 2, "h": 1}]),
)


@given(st.lists(st.tuples(SLOTS, st.integers(1, 3)), max_size=8), LIMITS)
def test_every_possible_run_starts_within_the_limits(drawn: list[tuple[CapacityShare, int]], limits: Limits) -> None:
    jobs = {
        number: WaitingJob(number, share, runs, number, 0)
        for number, (share, runs) in enumerate(drawn, 1)
        if not never_fits(share, limits)
    }
    run_count = sum(other.runs_left for other in jobs.values())
    running: dict[int, CapacityShare] = {}
    started_count = 0
    stamp = 100
    while any(other.runs_left for other in jobs.values()) or running:
        chosen = next_job(jobs.values(), running, limits)
        if chosen is None:
            assert running, "a job waits, although no run occupies the server"
            del running[min(running)]
            continue
        stamp += 1
        started_count += 1
        jobs[chosen.id] = replace(chosen, runs_left=chosen.runs_left - 1, stamp=stamp)
        running[chosen.id] = chosen.share
        check_limits(running, limits)
    assert started_count == run_count


def check_limits(running: Mapping[int, CapacityShare], limits: Limits) -> None:
    bots = [bot for share in running.values() for bot in share.bots]
    runs_by_user = Counter(share.user for share in running.values())
    runs_by_game = Counter(share.game for share in running.values())
    if limits.bots is not None:
        assert len(bots) <= limits.bots
    if limits.runs_per_user is not None:
        assert max(runs_by_user.values(), default=0) <= limits.runs_per_user
    if limits.runs_per_bot is not None:
        assert max(Counter(bots).values(), default=0) <= limits.runs_per_bot
    for game, limit in (limits.runs_per_game or {}).items():
        assert runs_by_game[game] <= limit
