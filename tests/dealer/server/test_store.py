"""Database of a server: transactions, concurrent queries, versions, copies and logins."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from array import array
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dealer.errors import StoreError
from dealer.server.accounts import Accounts, GuessLimit, add_token, revoke_tokens
from dealer.server.db import event_records, records
from dealer.server.db.records import JobRequest, RunSeat, RunState
from dealer.server.db.run_changes import RunReport, add_job, begin_run, end_run
from dealer.server.db.store import MIGRATIONS, Store, back_up
from dealer.server.db.users import User, add_user
from dealer.web.api import models
from engine import DealKey
from tests.dealer.server.servers import add_user_of_any_version


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with contextlib.closing(Store(tmp_path / "server.sqlite3")) as opened:
        yield opened


def version(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as db:
        (number,) = db.execute("PRAGMA user_version").fetchone()
    return int(number)


def files_content(store: Store) -> bytes:
    """Content of the database with its auxiliary files."""
    return b"".join(path.read_bytes() for path in store.path.parent.iterdir())


def test_change_is_stored_when_it_returns(store: Store) -> None:
    number = asyncio.run(store.write(lambda db: add_user(db, "ann")))
    assert [tuple(row) for row in store.read("SELECT id, name FROM users WHERE name = ?", "ann")] == [(number, "ann")]


def test_failed_change_is_rolled_back(store: Store) -> None:
    def change(db: sqlite3.Connection) -> None:
        add_user(db, "ann")
        raise KeyError("halfway")

    with pytest.raises(KeyError, match="halfway"):
        store.write_now(change)
    with pytest.raises(StoreError, match="no such table"):
        store.write_now(lambda db: (add_user(db, "ann"), db.execute("SELECT * FROM nowhere")))
    assert store.read("SELECT * FROM users") == []
    store.write_now(lambda db: add_user(db, "bob"))
    assert len(store.read("SELECT * FROM users")) == 1


def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError, match="readonly"):
        store.read("DELETE FROM users")


def test_database_is_closed_while_threads_read(tmp_path: Path) -> None:
    # Closing a connection during its query would crash the process.
    query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT max(i) FROM n"
    for _ in range(2):
        store = Store(tmp_path / "server.sqlite3")
        with ThreadPoolExecutor(2) as threads:
            # Each query takes about ten milliseconds, so some begin before the store is closed and some after.
            answers = [threads.submit(store.read, query) for _ in range(5)]
            answers[0].result()
            store.close()
        for answer in answers:
            error = answer.exception()
            assert error is None or (isinstance(error, StoreError) and "it is closed" in str(error))


def test_long_query_delays_no_short_one(store: Store) -> None:
    long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    can_end = threading.Event()
    store.read("SELECT 1")
    (reader,) = store._idle_readers
    reader.set_progress_handler(can_end.is_set, 1000)
    with ThreadPoolExecutor(1) as threads:
        is_reading = threading.Event()
        answer = threads.submit(lambda: (is_reading.set(), store.read(long)))
        is_reading.wait()
        while store._idle_readers:
            time.sleep(0)
        assert store.read("SELECT 1")[0][0] == 1
        assert not answer.done()
        can_end.set()
        assert isinstance(answer.exception(), StoreError)


def test_no_more_connections_than_queries_at_a_time_are_opened(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kwargs: opened.append(args) or connect(*args, **kwargs))
    for _ in range(20):
        store.read("SELECT 1")
    assert len(opened) == 1


def test_older_database_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.sqlite3"
    with contextlib.closing(Store(path)) as older:
        older.write_now(lambda db: add_user(db, "ann"))
    assert version(path) == len(MIGRATIONS)
    more = (*MIGRATIONS, "CREATE TABLE news (text TEXT); INSERT INTO news VALUES ('new')")
    monkeypatch.setattr("dealer.server.db.store.MIGRATIONS", more)
    with contextlib.closing(Store(path)) as newer:
        assert [row["text"] for row in newer.read("SELECT text FROM news")] == ["new"]
        assert len(newer.read("SELECT * FROM users")) == 1
    assert version(path) == len(more)
    monkeypatch.setattr("dealer.server.db.store.MIGRATIONS", MIGRATIONS)
    with pytest.raises(StoreError, match=f"version {len(more)}, .* up to {len(MIGRATIONS)}; use the newer program"):
        Store(path)


def test_failed_migration_keeps_the_previous_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.sqlite3"
    Store(path).close()
    broken = "CREATE TABLE news (text TEXT); CREATE TABLE users (name TEXT)"
    monkeypatch.setattr("dealer.server.db.store.MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(StoreError, match="users already exists"):
        Store(path)
    monkeypatch.undo()
    with contextlib.closing(Store(path)) as store, pytest.raises(StoreError, match="no such table: news"):
        store.read("SELECT * FROM news")


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "server.sqlite3"
    path.write_text("something else " * 100)
    with pytest.raises(StoreError, match="file is not a database"):
        Store(path)
    with pytest.raises(StoreError, match="unable to open"):
        Store(tmp_path / "nowhere" / "server.sqlite3")


def test_database_in_use_is_backed_up(store: Store, tmp_path: Path) -> None:
    store.write_now(lambda db: add_user(db, "ann"))
    copy = tmp_path / "copy.sqlite3"
    back_up(store.path, copy)
    store.write_now(lambda db: add_user(db, "bob"))
    with contextlib.closing(sqlite3.connect(copy)) as db:
        assert db.execute("SELECT name FROM users").fetchall() == [("ann",)]
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with pytest.raises(StoreError, match="exists already"):
        back_up(store.path, copy)
    with pytest.raises(StoreError, match="no database of a server"):
        back_up(tmp_path / "nothing", tmp_path / "other")
    with pytest.raises(StoreError, match="cannot be written"):
        back_up(store.path, tmp_path / "nowhere" / "other")
    assert sorted(path.name for path in tmp_path.glob("*.new*")) == []


def test_tokens_are_kept_as_hashes_and_can_be_revoked(store: Store) -> None:
    token = store.write_now(lambda db: add_token(db, add_user(db, "ann")))
    other = store.write_now(lambda db: add_token(db, add_user(db, "bob")))
    accounts = Accounts(store)
    ann = accounts.find("ann", token)
    assert ann == User(1, "ann")
    assert accounts.find("ann", other) is None
    assert accounts.find("ann", token + "x") is None
    assert accounts.find("nobody", token) is None
    assert accounts.find("\udcff", "\udcff") is None
    assert token.encode() not in files_content(store)
    assert store.write_now(lambda db: revoke_tokens(db, "ann")) == 1
    assert accounts.find("ann", token) is None
    assert accounts.find("bob", other) is not None


def test_users_with_passwords_have_no_tokens(store: Store) -> None:
    token = store.write_now(lambda db: add_token(db, add_user(db, "ann")))
    accounts = Accounts(store, {"ann": "secret", "ghost": "secret"})
    assert accounts.find("ann", "secret") == User(1, "ann")
    assert accounts.find("ann", token) is None
    assert accounts.find("ann", "secre") is None
    assert accounts.find("ghost", "secret") is None
    assert b"secret" not in files_content(store)


def test_failed_logins_cause_a_wait() -> None:
    now_s = 100.0
    guesses = GuessLimit(max_failures=2, within_s=20.0, max_keys=2, clock_s=lambda: now_s)
    for _ in range(2):
        assert guesses.wait_s("here") == 0
        guesses.record_failure("here")
    assert guesses.wait_s("here") == 10
    assert guesses.wait_s("there") == 0
    now_s = 110.5
    assert guesses.wait_s("here") == 0
    guesses.record_failure("here")
    assert guesses.wait_s("here") > 0
    guesses.record_failure("there")
    guesses.record_failure("elsewhere")
    assert guesses.wait_s("here") == 0, "the limit remembers the last two addresses only"


def test_failures_from_one_address_lock_no_name_and_from_many_no_owner() -> None:
    now_s = 100.0
    guesses = GuessLimit(max_failures=3, max_by_name=4, within_s=60.0, clock_s=lambda: now_s)
    guesses.record_login("home", "ann")
    for _ in range(50):
        guesses.record_failure("there", "ann")
    assert guesses.wait_s("there") > 0
    assert guesses.name_wait_s("elsewhere", "ann") == 0, "failures of a waiting address do not count for the name"
    guesses.record_failure("elsewhere", "ann")
    assert guesses.wait_s("elsewhere") == 0
    assert guesses.name_wait_s("elsewhere", "ann") == 15
    assert guesses.name_wait_s("home", "ann") == 0
    assert guesses.name_wait_s("elsewhere", "bob") == 0
    guesses.record_failure("elsewhere", "x" * 10**6)
    assert max(map(len, guesses._names._buckets)) <= 64, "the length of remembered names is bounded"


def test_run_counts_unless_it_has_a_reason_not_to(store: Store) -> None:
    def enter(db: sqlite3.Connection) -> None:
        ann = User(add_user(db, "ann"), "ann")
        for number in (1, 2):
            db.execute("INSERT INTO bots (id, game, name) VALUES (?1, 'kuhn', ?1)", (number,))
            db.execute("INSERT INTO versions VALUES (?1, ?1, 1, '', '', 0.0, '')", (number,))
        for seed in (7, DealKey(bytes(32))):
            job = add_job(db, records.new_job(ann, JobRequest("kuhn", ("1", "2")), seed))
            begin_run(db, job, (1, 2), 1)

    store.write_now(enter)
    assert [(job.seed, job.is_seed_drawn) for job in records.jobs(store)] == [(DealKey(bytes(32)), True), (7, False)]
    seats = tuple(RunSeat(player=seat, name=name, chips=0.0) for seat, name in enumerate("AB"))
    scores = (array("d", [1.0]), array("d", [-1.0]))
    for run, unrated in ((1, "it was not played in every seating"), (2, "")):
        report = RunReport(RunState.FINISHED, "", 1, seats=seats, scores=scores, unrated=unrated)
        store.write_now(lambda db, run=run, report=report: end_run(db, run, report))  # type: ignore[misc]
        assert len(store.read("SELECT * FROM lineups")) == run - 1
        record = records.run(store, run)
        assert record is not None
        assert (record.is_rated, record.unrated) == (not unrated, unrated)
    assert list(records.duplicate_scores(store, 2, 1)) == [-1.0]


def test_users_of_a_database_of_the_first_version_can_log_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.sqlite3"
    with monkeypatch.context() as patched:
        patched.setattr("dealer.server.db.store.MIGRATIONS", MIGRATIONS[:1])
        with contextlib.closing(Store(path)) as store:
            token = store.write_now(lambda db: add_token(db, add_user_of_any_version(db, "ann")))
            assert version(path) == 1
    with contextlib.closing(Store(path)) as store:
        assert version(path) == len(MIGRATIONS)
        assert Accounts(store).find("ann", token) is not None
        assert event_records.events(store) == ()


def test_output_in_the_reason_of_an_older_failed_run_stays_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "server.sqlite3"
    reason = "my bot closed the connection in hand 0. It ended. The last my bot wrote:\n    AhKs"
    with monkeypatch.context() as patched:
        patched.setattr("dealer.server.db.store.MIGRATIONS", MIGRATIONS[:6])
        with contextlib.closing(Store(path)) as store:
            user = User(store.write_now(lambda db: add_user_of_any_version(db, "ann")), "ann")
            request = JobRequest("kuhn", ("a", "b"), "t")
            job = store.write_now(lambda db: add_job(db, records.new_job(user, request, 1)))
            run = store.write_now(lambda db: begin_run(db, job, [None, None], 1))
            change = "UPDATE runs SET state = ?, reason = ? WHERE id = ?"
            store.write_now(lambda db: db.execute(change, ("failed", reason, run.id)).rowcount)
    with contextlib.closing(Store(path)) as store:
        older = records.run(store, run.id)
        assert older is not None
        assert (older.cause, older.reason) == (None, "a player or an error ended it.")
        assert older.reason_for(shows_output=False) == older.reason
        assert older.reason_for(shows_output=True) == reason
        assert "AhKs" not in models.Run.of(older).model_dump_json()
