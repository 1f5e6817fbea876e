"""Removal of all results before a competition."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from dealer.errors import ServerError
from dealer.run.folder import lock_run
from dealer.server.accounts import Accounts, add_token, set_password
from dealer.server.db import counted_scores, records
from dealer.server.db.records import JobRequest
from dealer.server.db.run_changes import RESULT_TABLES
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.server import reset_results
from protocol.joining import ContestTerms
from tests.dealer.server.servers import rows
from tests.dealer.server.test_contests import Host, is_over, offer, serving, settings_of, until

LOGINS = {"users", "tokens", "passwords", "sessions", "invitations"}
KEPT = {
    "series",
    "team_invitations",
    "teams",
    *LOGINS,
    "bots",
    "versions",
    "scheduled_events",
    "entries",
    "disqualifications",
    "audit",
    "uploads",
    "texts",
}


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_table_is_kept_or_removed(tmp_path: Path) -> None:
    with contextlib.closing(Store(tmp_path / DATABASE_NAME)) as store:
        tables = store.read("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    assert {row["name"] for row in tables} == {*RESULT_TABLES, *KEPT}


async def test_results_are_removed_and_users_tokens_and_bots_kept() -> None:
    settings = settings_of()
    data = Path("data")
    async with serving(settings) as (service, ann):
        token = service.store.write_now(lambda db: add_token(db, ann.id))
        service.store.write_now(lambda db: set_password(db, ann.id, "correct horse"))
        await service.presence.enter(ann, offer("eve", "v1", ("two",)), Host())
        for bot in ("random", "calling"):
            request = JobRequest("two", ("eve", bot), terms=ContestTerms(deals=3))
            row, _ = await service.submit(ann, request)
            await until(service, lambda number=row.id: is_over(service, number))  # type: ignore[misc]
        await until(service, lambda: len(counted_scores.standings(service.store, "two")) == 3)
    # The runs may be on another disk.
    (data / "runs").rename("disk")
    (data / "runs").symlink_to(Path("disk").absolute())
    kept = {table: rows(data, f"SELECT * FROM {table}") for table in KEPT}
    counts: list[int] = []

    def refuse(run_count: int) -> bool:
        counts.append(run_count)
        return False

    assert not reset_results(data, refuse)
    assert counts == [2]
    assert len(rows(data, "SELECT * FROM runs")) == 2
    assert len(list(Path("disk").iterdir())) == 2
    assert reset_results(data, lambda runs: True)
    (change,) = rows(data, "SELECT * FROM audit WHERE what = 'removed all results'")
    kept["audit"].append(change)
    assert {table: rows(data, f"SELECT * FROM {table}") for table in KEPT} == kept
    for table in RESULT_TABLES:
        assert rows(data, f"SELECT * FROM {table}") == [], table
    assert list(Path("disk").iterdir()) == []
    assert (data / "runs").is_symlink()
    async with serving(settings) as (service, ann):
        assert Accounts(service.store).find("ann", token) == ann
        assert counted_scores.pairs(service.store, service.settings.games[1]) == ()
        guest = await service.presence.enter(ann, offer("eve", "v1", ("two",)), Host())
        assert [version.version for version in records.versions(service.store, "two", "eve")] == [guest.versions["two"]]
        row, _ = await service.submit(ann, JobRequest("two", ("eve", "random"), terms=ContestTerms(deals=3)))
        await until(service, lambda: is_over(service, row.id))
        (run,) = records.runs(service.store)
        assert (run.id, run.job) == (3, 3), "no number is reused"
        assert run.is_rated


def test_nothing_is_removed_while_a_server_is_running() -> None:
    data = Path("data")
    data.mkdir()
    with contextlib.closing(lock_run(data)), pytest.raises(ServerError, match="is running in data; stop it first"):
        reset_results(data, lambda runs: True)
