"""Queries of pages in a database with many runs: each uses an index, and none scans all runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from dealer.server.db import counted_scores, records
from dealer.server.db.counted_scores import worst_runs
from dealer.server.db.records import JobState, RunState
from dealer.server.db.run_changes import seconds_per_hand
from dealer.server.db.store import Store
from dealer.server.db.users import add_user
from dealer.server.server_settings import ServerGame, default_settings
from tests.filled import enter_ratings, fill


def page_queries(store: Store, game: ServerGame, runs: int) -> dict[str, Callable[[], object]]:
    """Queries of pages by their subject."""
    pair = counted_scores.pair(store, game, 7)
    assert pair is not None
    versions = [score.version for score in pair.scores]
    middle = worst_runs(store, 7, versions[0], limit=pair.runs)[pair.runs // 2].id
    return {
        "standings": lambda: counted_scores.standings(store, game.name),
        "the rating of a bot": lambda: counted_scores.standings(store, game.name, "bot3"),
        "its ratings so far": lambda: counted_scores.rating_history(store, 3),
        "its opponents": lambda: counted_scores.pairs(store, game, 3),
        "its faults": lambda: records.faults_by_kind(store, 3, 100),
        "its runs": lambda: records.runs(store, game=game.name, bot="bot3"),
        "the best": lambda: counted_scores.standings(store, game.name, limit=5),
        "crosstable": lambda: counted_scores.pairs(store, game),
        "crosstable of a page": lambda: counted_scores.pairs(store, game, among=tuple(range(3, 9))),
        "a pair": lambda: counted_scores.pair(store, game, 7),
        "runs of a pair": lambda: records.runs(store, pair=7),
        "the worst runs of a pair": lambda: worst_runs(store, 7, versions[0]),
        "the worst runs of a pair, a page in the middle": lambda: worst_runs(store, 7, versions[0], after=middle),
        "the newest runs": lambda: records.runs(store),
        "the newest runs of a game": lambda: records.runs(store, game=game.name),
        "a page in the middle": lambda: records.runs(store, game=game.name, before=runs // 2),
        "runs of a version": lambda: records.runs(store, version=3),
        "running runs": lambda: records.runs(store, state=RunState.RUNNING),
        "a run": lambda: records.run(store, runs // 2),
        "matches of a run": lambda: records.matches(store, runs // 2),
        "faults of a run": lambda: records.faults(store, run=runs // 2),
        "the last faults of a user's bots": lambda: records.faults(store, owner=3),
        "scores of a run": lambda: records.duplicate_scores(store, runs // 2, 0),
        "jobs of a user": lambda: records.jobs(store, user=3),
        "the newest jobs": lambda: records.jobs(store),
        "queued jobs": lambda: records.jobs(store, state=JobState.QUEUED),
        "a job": lambda: records.job(store, runs // 2),
        "all bots": lambda: records.bots(store),
        "the time of a hand": lambda: seconds_per_hand(store, game.name),
    }


@contextlib.contextmanager
def filled(folder: Path, runs: int) -> Iterator[tuple[Store, ServerGame]]:
    game = next(game for game in default_settings().games if game.game.num_players == 2)
    with contextlib.closing(Store(folder / "server.sqlite3")) as store:
        for number in range(10):
            store.write_now(lambda db, number=number: add_user(db, f"user{number}"))  # type: ignore[misc]
        store.write_now(lambda db: fill(db, game, runs))
        enter_ratings(store, game)
        yield store, game


def test_no_query_scans_all_runs(tmp_path: Path) -> None:
    """With five times the runs, no query takes much more than twice the steps of SQLite's virtual machine."""
    steps: dict[int, dict[str, int]] = {}
    for runs in (200, 1000):
        folder = tmp_path / str(runs)
        folder.mkdir()
        with filled(folder, runs) as (store, game):
            steps[runs] = {}
            for name, query in page_queries(store, game, runs).items():
                count = 0

                def count_steps() -> int:
                    nonlocal count
                    count += 1
                    return 0

                # Queries one after another use the same connection.
                store.read("SELECT 1")
                (reader,) = store._idle_readers
                reader.set_progress_handler(count_steps, 100)
                query()
                reader.set_progress_handler(None, 100)
                steps[runs][name] = count
    slower = {
        name: (before, steps[1000][name]) for name, before in steps[200].items() if steps[1000][name] > 2 * before + 50
    }
    assert slower == {}


def test_runs_of_a_pair_are_paged_worst_first(tmp_path: Path) -> None:
    with filled(tmp_path, 190 * 5) as (store, game):
        pair = counted_scores.pair(store, game, 7)
        assert pair is not None
        for score in pair.scores:
            all_runs = records.runs(store, pair=7, limit=100)
            assert len(all_runs) == 5

            def won(run: records.Run, version: int = score.version) -> float:
                return next(0.0 if seat.won is None else seat.won.mean for seat in run.seats if seat.version == version)

            ordered = sorted(all_runs, key=lambda run: (won(run), run.id))
            pages: list[records.Run] = []
            while page := worst_runs(store, 7, score.version, after=pages[-1].id if pages else None, limit=2):
                pages += page
            assert pages == ordered
        assert worst_runs(store, 7, pair.scores[0].version, after=1) == ()
        assert worst_runs(store, 7, 999) == ()


def test_rating_enters_the_history_after_a_twentieth_more_deals(tmp_path: Path) -> None:
    with filled(tmp_path, 190) as (store, game):
        history = [tuple(row) for row in store.read("SELECT version, units FROM rating_history ORDER BY version")]
        assert history == [(version, 1900) for version in range(1, 21)]
        enter_ratings(store, game)
        assert len(counted_scores.rating_history(store, 3)) == 1
        store.write_now(lambda db: db.execute("UPDATE lineups SET units = 105 WHERE id = 1"))
        enter_ratings(store, game)
        assert len(counted_scores.rating_history(store, 3)) == 1, "a hundredth more is not enough"
        store.write_now(lambda db: db.execute("UPDATE lineups SET units = 105"))
        enter_ratings(store, game)
        (_, first), (units, second) = counted_scores.rating_history(store, 3)
        (rating,) = counted_scores.standings(store, game.name, "bot3")
        assert units == 1995
        assert (second.mean, second.half_width) == (rating.mbb_per_game, rating.half_width_95)
        assert first != second
