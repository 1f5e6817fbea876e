"""The database of a server: changes as a whole or not at all, versions, copies."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from dealer.contest.schedule import Seating
from dealer.errors import StoreError
from dealer.match.faults import FaultPolicy
from dealer.server.accounts import Accounts, GuessLimit, User, add_token, add_user, revoke_tokens
from dealer.server.db import records
from dealer.server.db.runs import JobKind, JobState, RunReport, RunState, SeatReport, end_run, open_jobs
from dealer.server.db.store import MIGRATIONS, Store, back_up


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with contextlib.closing(Store(tmp_path / "server.sqlite3")) as opened:
        yield opened


def version(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as db:
        (number,) = db.execute("PRAGMA user_version").fetchone()
    return int(number)


def test_a_change_is_there_when_it_returns(store: Store) -> None:
    number = asyncio.run(store.write(lambda db: add_user(db, "ann")))
    assert [tuple(row) for row in store.read("SELECT id, name FROM users WHERE name = ?", "ann")] == [(number, "ann")]


def test_a_change_that_fails_leaves_nothing(store: Store) -> None:
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


def test_what_is_read_cannot_be_changed(store: Store) -> None:
    with pytest.raises(StoreError, match="readonly"):
        store.read("DELETE FROM users")


def test_an_older_database_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.sqlite3"
    Store(path).close()
    broken = "CREATE TABLE news (text TEXT); CREATE TABLE users (name TEXT)"
    monkeypatch.setattr("dealer.server.db.store.MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(StoreError, match="users already exists"):
        Store(path)
    monkeypatch.undo()
    with contextlib.closing(Store(path)) as store, pytest.raises(StoreError, match="no such table: news"):
        store.read("SELECT * FROM news")


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "server.sqlite3"
    path.write_text("something else " * 100)
    with pytest.raises(StoreError, match="file is not a database"):
        Store(path)
    with pytest.raises(StoreError, match="unable to open"):
        Store(tmp_path / "nowhere" / "server.sqlite3")


def test_a_copy_while_it_is_used(store: Store, tmp_path: Path) -> None:
    store.write_now(lambda db: add_user(db, "ann"))
    copy = tmp_path / "copy.sqlite3"
    back_up(store.path, copy)
    store.write_now(lambda db: add_user(db, "bob"))
    with contextlib.closing(sqlite3.connect(copy)) as db:
        assert db.execute("SELECT name FROM users").fetchall() == [("ann",)]
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with pytest.raises(StoreError, match="is there already"):
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
    content = b"".join(path.read_bytes() for path in store.path.parent.iterdir())
    assert token.encode() not in content
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
    content = b"".join(path.read_bytes() for path in store.path.parent.iterdir())
    assert b"secret" not in content


def test_who_fails_too_often_has_to_wait() -> None:
    now_s = 100.0
    guesses = GuessLimit(most_failures=2, within_s=20.0, most_keys=2, clock_s=lambda: now_s)
    for _ in range(2):
        assert guesses.wait_s("here") == 0
        guesses.note_failure("here")
    assert guesses.wait_s("here") == 10
    assert guesses.wait_s("there") == 0
    now_s = 110.5
    assert guesses.wait_s("here") == 0
    guesses.note_failure("here")
    assert guesses.wait_s("here") > 0
    guesses.note_failure("there")
    guesses.note_failure("elsewhere")
    assert guesses.wait_s("here") == 0, "forgotten: too many addresses failed since"


def test_one_address_cannot_lock_a_name_and_many_lock_out_no_owner() -> None:
    now_s = 100.0
    guesses = GuessLimit(most_failures=3, most_by_name=4, within_s=60.0, clock_s=lambda: now_s)
    guesses.note_login("home", "ann")
    for _ in range(50):
        guesses.note_failure("there", "ann")
    assert guesses.wait_s("there") > 0
    assert guesses.name_wait_s("elsewhere", "ann") == 0, "what an address tries while it waits counts for nobody"
    guesses.note_failure("elsewhere", "ann")
    assert guesses.wait_s("elsewhere") == 0
    assert guesses.name_wait_s("elsewhere", "ann") == 15
    assert guesses.name_wait_s("home", "ann") == 0
    assert guesses.name_wait_s("elsewhere", "bob") == 0
    guesses.note_failure("elsewhere", "x" * 10**6)
    assert max(map(len, guesses._names._buckets)) <= 64, "what is remembered is bounded in every direction"


def test_what_version_1_held_is_there_in_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.sqlite3"
    with monkeypatch.context() as old:
        old.setattr("dealer.server.db.store.MIGRATIONS", MIGRATIONS[:1])
        with contextlib.closing(Store(path)) as first:
            first.write_now(_as_of_version_1)
    assert version(path) == 1
    with contextlib.closing(Store(path)) as store:
        job = records.job(store, 1)
        assert job is not None
        assert (job.players, job.seating, job.stop, job.hands, job.on_fault) == (
            ("A", "LOCAL"),
            Seating.SINGLE,
            None,
            None,
            FaultPolicy.END,
        )
        assert (job.kind, job.is_seed_drawn, job.state) == (JobKind.REQUEST, False, JobState.QUEUED)
        (run,) = records.runs(store)
        assert (run.duplicates, run.is_rated, [seat.name for seat in run.seats]) == (2, False, ["A", "ann"])
        (bot,) = records.bots(store)
        assert (bot.name, bot.owner, bot.label) == ("A", None, "")
        assert [fault.line for fault in records.faults(store, run=1)] == [b"foo"]
        assert list(records.duplicate_scores(store, 1, 0)) == [1.0, -2.0]
        assert [row.going for row in open_jobs(store)] == [None]


def test_a_seed_that_was_drawn_before_there_were_keys_counts_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "server.sqlite3"
    with monkeypatch.context() as old:
        old.setattr("dealer.server.db.store.MIGRATIONS", MIGRATIONS[:6])
        with contextlib.closing(Store(path)) as store:
            store.write_now(_as_of_version_6)
    with contextlib.closing(Store(path)) as store:
        (job,) = open_jobs(store)
        assert job.going is not None
        assert (job.seed, job.going.seed, job.is_seed_drawn) == (7, 98, False)
        # The next run as if it had a key, to see what else it takes.
        store.write_now(lambda db: db.execute("UPDATE runs SET deal_key = ? WHERE id = 2", (bytes(32),)))
        seats = [SeatReport(name, 0.0, 0.0, None, array("d", [value])) for name, value in (("A", 1.0), ("B", -1.0))]
        report = RunReport(RunState.FINISHED, "", 1, tuple(seats), is_comparable=True)
        for run, counted in ((1, 0), (2, 1)):
            store.write_now(lambda db, run=run: end_run(db, run, report))  # type: ignore[misc]
            assert len(store.read("SELECT * FROM lineups")) == counted


def _as_of_version_6(db: sqlite3.Connection) -> None:
    """What a server wrote before it had keys: a job whose seed it drew, with runs that go on."""
    db.execute(
        "INSERT INTO jobs (id, user, tag, game, players, runs, seed, state, stamp, submitted_s, is_seed_drawn) "
        "VALUES (1, ?, 't', 'kuhn', '[]', 2, 7, 'queued', 1, 0.0, 1)",
        (add_user(db, "ann"),),
    )
    for number in (1, 2):
        db.execute("INSERT INTO bots (id, game, name) VALUES (?1, 'kuhn', ?1)", (number,))
        db.execute("INSERT INTO versions VALUES (?1, ?1, 1, '', '', 0.0, '')", (number,))
    for run in (1, 2):
        db.execute(
            "INSERT INTO runs (id, job, number, game, seed, state, folder, started_s) "
            "VALUES (?1, 1, ?1, 'kuhn', 97 + ?1, 'running', '', 0.0)",
            (run,),
        )
        for seat in (0, 1):
            db.execute("INSERT INTO seats (run, seat, version) VALUES (?1, ?2, ?2 + 1)", (run, seat))


def _as_of_version_1(db: sqlite3.Connection) -> None:
    """What a server of the first version has written."""
    db.executescript("""
        INSERT INTO users VALUES (1, 'ann', 1.0, 2);
        INSERT INTO bots VALUES (1, 'kuhn', 'A');
        INSERT INTO versions VALUES (1, 1, 1, '"./a"', 'abc', 1.0);
        INSERT INTO jobs VALUES (1, 1, 't', 'kuhn', '["A","LOCAL"]', 2, 42, NULL, 'queued', '', 2, 1.0, NULL);
        INSERT INTO runs VALUES (1, 1, 1, 'kuhn', 7, 'finished', 'runs/00000001', 'all', 2, 1.0, 2.0);
        INSERT INTO seats VALUES (1, 0, 1, 'A', 3.0, -0.5, NULL), (1, 1, NULL, 'ann', -3.0, 0.5, NULL);
        INSERT INTO matches VALUES (1, 'match', 'match.log', 0, 2);
        INSERT INTO faults VALUES (1, 1, 'match', 1, 'malformed reply', 0, x'666f6f', 'ignored');
    """)
    db.execute("BEGIN IMMEDIATE")
    for seat, scores in enumerate(([1.0, -2.0], [-1.0, 2.0])):
        db.execute("INSERT INTO scores VALUES (1, ?, ?)", (seat, array("d", scores).tobytes()))
