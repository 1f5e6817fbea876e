"""The simulated year of a course: its incidents lose no data, and its check detects losses."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dealer.server.db.store import MIGRATIONS
from tests.dealer.server.servers import rows
from tests.scripts import script

YEAR = script("research/serve/year.py")
RUNS = 300
RUNS_A_DAY = 10
AS_RUN_8 = """
UPDATE seats SET (version, mbb_per_game) =
    (SELECT version, mbb_per_game FROM seats other WHERE other.run = 8 AND other.seat = seats.seat) WHERE run = 7;
UPDATE runs SET game = (SELECT game FROM runs WHERE id = 8) WHERE id = 7;
UPDATE jobs SET user = (SELECT user FROM jobs WHERE id = 8) WHERE id = 7"""
INCIDENTS = YEAR.Incidents(upgrade=5, full_disk=10, clock=15, restore=20)


@contextlib.contextmanager
def year(folder: Path) -> Iterator[Any]:
    with contextlib.closing(YEAR.Year(folder, runs=RUNS, runs_a_day=RUNS_A_DAY, incidents=INCIDENTS)) as course:
        yield course


def test_year_with_all_incidents_loses_nothing(tmp_path: Path) -> None:
    now_s = time.time()
    # Stop and continue before, between and after the incidents.
    for until in (5, 12, 21, 99):
        with year(tmp_path) as course:
            course.play(until)
            assert course.day == min(until, course.days)
            if until > INCIDENTS.upgrade:
                assert rows(tmp_path, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    with year(tmp_path) as course:
        assert course.problems() == []
    assert abs(time.time() - now_s) < 3600, "the clock of the machine must be unchanged"
    # While the clock was a day ahead, runs got later times than the runs entered after them.
    (jumps,) = rows(
        tmp_path, "SELECT count(*) FROM runs JOIN runs later ON later.id > runs.id AND later.started_s < runs.started_s"
    )
    assert jumps[0] > 0
    # The clock went back during one run, which lasts 0 seconds therefore.
    assert rows(tmp_path, "SELECT count(*) FROM runs WHERE ended_s = started_s") == [(1,)]


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        ("UPDATE seats SET mbb_per_game = 12345 WHERE run = 7", "runs that are lost: 1"),
        (AS_RUN_8, "runs that are there twice: 1"),
        ("DELETE FROM faults WHERE id = 2", "SELECT count(*) FROM faults"),
        ("UPDATE lineups SET runs = runs + 1 WHERE id = 3", "SELECT sum(runs) FROM lineups"),
        ("DELETE FROM scores WHERE run = 9 AND seat = 1", "SELECT count(*) FROM scores"),
    ],
)
def test_check_finds_lost_and_duplicate_rows(tmp_path: Path, harm: str, problem: str) -> None:
    with year(tmp_path) as course:
        course.play(8)
        course._runs = 80
        assert course.problems() == []
        for statement in harm.split(";"):
            course.store.write_now(lambda db, statement=statement: db.execute(statement))
        assert any(problem in sentence for sentence in course.problems())


def test_page_has_the_figures_of_the_file() -> None:
    measurements = json.loads(YEAR.MEASURED.read_text("utf-8"))
    page = YEAR.PAGE.read_text("utf-8")
    assert YEAR.with_table(page, measurements) == page
    assert measurements["runs"] >= 50_000
    assert max(row["cpu_ms"] for row in measurements["rows"]) <= 50
    for name in ("memory_mb", "entering_mb"):
        first, *_, last = measurements[name]
        assert last < 1.1 * first
