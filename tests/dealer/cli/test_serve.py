"""``arena serve``: output, refusals, and commands for the data of a running server."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socket
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dealer.server.accounts import set_password
from dealer.server.db.bot_registry import register_user_bot, used_names
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.texts import TextName, write_text
from dealer.server.db.users import add_user
from dealer.table.listener import reachable_at
from tests.dealer.cli.conftest import Arena, run_here
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env
from tests.programs import Program, start


def start_server(*words: str) -> tuple[Program, int]:
    """Start a server in the working directory; return it and its port."""
    program = start([*ARENA, "serve", *words, "--port", "0", "--web-port", "0"], cwd=Path.cwd(), env=program_env())
    assert program.stdout is not None
    line = program.stdout.readline().decode()
    listening = re.fullmatch(r"Listening on 127\.0\.0\.1 port ([0-9]+)\. Files are in arena-server\n", line)
    assert listening, line
    assert re.fullmatch(r"The pages are at http://127\.0\.0\.1:[0-9]+/\n", program.stdout.readline().decode())
    return program, int(listening[1])


def replies(port: int, *lines: str) -> str:
    """Send lines to the text port; return all replies."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as sock:
        sock.sendall("".join(f"{line}\n" for line in lines).encode())
        sock.shutdown(socket.SHUT_WR)
        return sock.makefile("rb").read().decode()


def stop_server(program: Program, number: signal.Signals) -> str:
    """Send a signal to a server, wait for its end and return the rest of its output."""
    program.send_signal(number)
    out, err = program.communicate(timeout=PATIENCE_S)
    assert (program.wait(), err.decode()) == (0, "")
    return out.decode()


def test_commands_change_the_data_of_a_running_server(arena_here: Arena) -> None:
    first_login = arena_here("serve", "user", "eve").out.strip()
    program, port = start_server()
    try:
        assert replies(port, first_login, "QSTAT") == "LOGON OKAY - type help for commands\nQueue empty\n"
        assert "\n lp-mc\n" in replies(port, first_login, "games")
        assert replies(port, "player guess") == "BAD LOGON\n"
        for words in (("serve",), ("serve", "reset", "--results", "--yes")):
            busy = arena_here(*words)
            assert busy.code == 2
            assert "another server is running in arena-server" in busy.sentence
        joining = arena_here("join", f"127.0.0.1:{port}", "calling", "--token", "t")
        assert joining.code == 2
        assert f"http://127.0.0.1:{port} is not the address of a server's pages" in joining.sentence
        ann = arena_here("serve", "user", "ann")
        assert (ann.code, ann.err) == (0, "This is the login. The token is not stored and cannot be shown again.\n")
        assert replies(port, ann.out.strip()).startswith("LOGON OKAY")
        assert arena_here("serve", "revoke", "ann").out == "1 token of ann revoked.\n"
        assert replies(port, ann.out.strip()) == "BAD LOGON\n"
        for command in ("revoke", "password"):
            unknown = arena_here("serve", command, "nobody")
            assert unknown.code == 2
            assert "there is no user nobody" in unknown.sentence
        for password, output in (
            ("short\n", "arena: a password has 8 to 256 characters\n"),
            ("correct horse\n", "ann has a new password, and is logged out everywhere.\n"),
        ):
            result = run_here(["serve", "password", "ann"], password)
            assert result.out + result.err == output
        assert replies(port, "ann correct horse") == "BAD LOGON\n", "passwords are for the encrypted way in"
        assert arena_here("serve", "backup", "copy.sqlite3").code == 0
        with contextlib.closing(sqlite3.connect("copy.sqlite3")) as db:
            assert db.execute("SELECT name FROM users ORDER BY id").fetchall() == [("eve",), ("ann",)]
        repeated = arena_here("serve", "backup", "copy.sqlite3")
        assert (repeated.code, repeated.sentence) == (2, "copy.sqlite3: the file exists already; name another one")
        Path("arena-server/runs/00000001").mkdir()
        Path("arena-server/runs/00000001/log").write_text("STATE\n")
        assert arena_here("serve", "backup", "--runs", "copy").code == 0
        assert {path.name for path in Path("copy").iterdir()} == {"server.sqlite3", "runs"}
        assert Path("copy/runs/00000001/log").read_text() == "STATE\n"
        repeated = arena_here("serve", "backup", "--runs", "copy")
        assert (repeated.code, repeated.sentence) == (2, "copy exists already; name a new folder")
    finally:
        output = stop_server(program, signal.SIGTERM)
    assert "Log in with" not in output, "there is a user already"
    assert output.endswith("The server has ended. Unfinished matches continue at the next start.\n")


def test_first_start_creates_a_user_that_a_reset_keeps(arena: Arena, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text('host = "0.0.0.0"\n[web]\nnames = ["poker.example.org"]\n')
    program = start([*ARENA, "serve", "s.toml", "--port", "0", "--web-port", "0"], cwd=tmp_path, env=program_env())
    try:
        assert program.stdout is not None
        line = program.stdout.readline().decode()
        assert line.startswith(f"Listening on {', '.join(reachable_at('0.0.0.0'))} port ")
        page = program.stdout.readline().decode()
        assert re.fullmatch(r"The pages are at http://poker\.example\.org:[0-9]+/\n", page)
        login = program.stdout.readline().decode().removeprefix("Log in with: ").strip()
    finally:
        stop_server(program, signal.SIGTERM)
    cancelled = arena("serve", "reset", "--results")
    assert (cancelled.code, cancelled.err.splitlines()[-1]) == (2, "arena: nothing was removed")
    assert arena("serve", "reset", "--results", "--yes").code == 0
    program, port = start_server()
    assert replies(port, login, "QUIT") == "LOGON OKAY - type help for commands\n"
    assert "Log in with" not in stop_server(program, signal.SIGINT)


def test_configuration_is_written_once(arena_here: Arena) -> None:
    assert arena_here("serve", "--init").out == (
        "Written: arena-server.toml. Start the server with: arena serve arena-server.toml\n"
    )
    again = arena_here("serve", "--init")
    assert (again.code, again.sentence) == (2, "arena-server.toml exists already; move it, or edit it")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nothing.toml"], "cannot read nothing.toml: No such file or directory"),
        (["resume"], "'arena serve' has no command 'resume', and there is no configuration of this name"),
        (["revok"], "did you mean 'revoke'?"),
        (["reset"], "--results is missing"),
        (["reset", "--results"], "arena-server holds no server"),
        (["start", "./user"], "cannot read user: No such file or directory"),
        (["bad.toml"], "bad.toml: colour: there is no such setting"),
        (["bad.cfg"], "bad.cfg: line 2: unknown configuration option colour red"),
        (["--host", "192.0.2.1", "--port", "0"], "cannot listen on 192.0.2.1 port any"),
        (["--data", "bad.toml"], "bad.toml"),
        (["names.cfg"], "no user can be called ladder"),
        (["x.toml", "--init"], "--init writes a configuration of its own"),
        (["password", "ann"], "arena-server holds no server"),
        (["user", "ann", "--scopes", "read,fly"], "--scopes: 'read,fly' is not a list of read, play, admin"),
        (["user", "a b"], "no user can be called 'a b'"),
        (["user", "guest"], "no user can be called guest"),
        (["user", "ann", "--data", "bad.toml/x"], "cannot create the folder bad.toml/x"),
        (["backup", "x"], "there is no database of a server"),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, words: list[str], problem: str) -> None:
    Path("bad.toml").write_text("colour = 1\n")
    Path("bad.cfg").write_text("port 1\ncolour red\n")
    Path("names.cfg").write_text("port 54000\nuser ladder secret\n")
    result = arena_here("serve", *words)
    assert result.code == 2
    assert problem in result.sentence


@pytest.mark.parametrize(
    "text", ["mail,name\na@b,ann\n\nc@d, bob \n", "ann,1\nbob,2\n", "\ufeffName\r\nann\r\nbob\r\n"]
)
def test_users_are_created_from_a_file(arena_here: Arena, tmp_path: Path, text: str) -> None:
    (tmp_path / "users.csv").write_text(text, "utf-8", newline="")
    result = arena_here("serve", "user", "--csv", "users.csv")
    assert result.code == 0, result.err
    lines = [line.split(" ") for line in result.out.splitlines()]
    assert [line[0] for line in lines] == ["ann", "bob"]
    assert len({line[1] for line in lines}) == 2


def test_one_wrong_name_creates_no_user(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "users.csv").write_text("mail,name\na@b,ann\nc@d\n", "utf-8")
    (tmp_path / "bytes.csv").write_bytes(b"ann\n\xa1\n")
    for words, sentence in (
        (("--csv", "users.csv"), "users.csv: line 3, column 2: there is no name"),
        (("ann", "ann"), "ann is named more than once; no user was created"),
        (("ann", "guest"), "no user can be called guest"),
        (("--csv", "none.csv"), "none.csv: No such file or directory"),
        (("--csv", "bytes.csv"), "bytes.csv: line 2, byte 1: not UTF-8 text"),
        ((), "NAME is missing; name users, or a file of names with --csv"),
    ):
        result = arena_here("serve", "user", *words)
        assert (result.code, result.out) == (2, "")
        assert sentence in result.sentence
    assert not (tmp_path / "arena-server").exists()


EVENT = """
name = "final"
game = "kuhn"
deals = 5
entrants = ["calling", "random"]
opens = 2026-01-01T00:00:00Z
closes = {closes}
"""


def test_event_is_announced_played_and_published(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('[[games]]\ngame = "kuhn"\nbots = ["calling", "random"]\n')
    file = tmp_path / "final.toml"
    file.write_text(EVENT.format(closes="2100-01-01T00:00:00+01:00"))
    assert "holds no server" in arena_here("serve", "event", "new", "final.toml").err
    program, _ = start_server("s.toml")
    try:
        listing = arena_here("serve", "event", "new", "final.toml").out
        assert "The event is open, and " in listing
        (tmp_path / "new.toml").write_text(file.read_text().replace("final", "cup").replace("deals = 5", "deals = 7"))
        assert "Event cup" in arena_here("serve", "event", "edit", "final", "new.toml").out
        excluded = arena_here("serve", "event", "disqualify", "cup", "random", "--reason", "a test")
        assert "a test" in excluded.out
        assert "random is disqualified already" in arena_here("serve", "event", "disqualify", "cup", "random").err
        withdrawn = arena_here("serve", "event", "withdraw", "cup")
        assert withdrawn.out == "The event cup is withdrawn, and another one can have its name.\n"
        arena_here("serve", "event", "new", "final.toml")
        assert "there is an event final already" in arena_here("serve", "event", "new", "final.toml").err
        assert "there is no event 'cup'" in arena_here("serve", "event", "show", "cup").err
        early = arena_here("serve", "event", "publish", "final", "site").err
        assert "the event final is open and can be published only when it is finished" in early
        with contextlib.closing(sqlite3.connect("arena-server/server.sqlite3")) as db, db:
            db.execute("UPDATE scheduled_events SET closes_s = 2000000000 - 1000000000")
            db.execute("UPDATE scheduled_events SET opens_s = 1")
        deadline = time.monotonic() + PATIENCE_S
        while "The event is finished" not in (listing := arena_here("serve", "event", "show", "final").out):
            assert time.monotonic() < deadline, listing
            time.sleep(0.5)
    finally:
        stop_server(program, signal.SIGINT)
    assert json.loads(arena_here("serve", "event", "show", "final", "--json").out)["event"]["contests"] == 1
    assert (
        "1 contest of final written; the first page is site/index.html\n"
        in arena_here("serve", "event", "publish", "final", "site").out
    )
    assert (tmp_path / "site" / "event.json").is_file()
    assert len(list((tmp_path / "site" / "contests").glob("*/match.*.log"))) == 2


def test_doctor_of_a_configuration_names_faults_and_remedies(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text("port = 0\nleast_free_mb = 0\n[web]\nport = 0\n")
    result = arena_here("serve", "doctor", "good.toml")
    assert (result.code, result.out.splitlines()[:2]) == (0, ["Server", "0 faults, 0 warnings."])
    (tmp_path / "bad.toml").write_text("ports = 1\n")
    result = arena_here("serve", "doctor", "bad.toml", "--json")
    assert result.code == 1
    assert "there is no such setting" in result.out
    (tmp_path / "proxy.toml").write_text('port = 0\n[web]\nport = 0\nproxies = ["127.0.0.1"]\n')
    result = arena_here("serve", "doctor", "proxy.toml")
    assert result.code == 1
    assert "list the public host names under [web] names" in result.out


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is a program of Linux")
def test_uploads_without_bubblewrap_name_its_package(
    arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.toml").write_text("[uploads]\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    result = arena_here("serve", "s.toml", "--port", "0", "--web-port", "0")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "arena: uploaded bots run in bubblewrap, which is not installed; install the package bubblewrap "
        "(apt install bubblewrap, dnf install bubblewrap), or remove the section [uploads]\n"
    )
    result = arena_here("serve", "doctor", "s.toml")
    assert result.code == 1
    assert "install the package bubblewrap" in " ".join(result.out.split())
    assert "correct the file" not in result.out


def test_wrong_file_of_an_event_is_refused_with_its_setting(arena_here: Arena, tmp_path: Path) -> None:
    arena_here("serve", "user", "ann")
    with contextlib.closing(sqlite3.connect("arena-server/server.sqlite3")) as db, db:
        for name in ("calling", "random"):
            db.execute("INSERT INTO bots (game, name) VALUES ('kuhn.limit.2p', ?)", (name,))
    event = EVENT.format(closes="2100-01-01T00:00:00Z")
    for text, problem in (
        ("name = ", "Invalid value"),
        (EVENT.format(closes="2026-01-01T00:00:01Z"), "the closing time of the event has passed"),
        (event + "x = 1", "x: there is no such setting"),
        (event.replace('"kuhn"', '"chess"'), "there is no game 'chess'"),
        (event.replace("random", "randm"), "the game kuhn has no bot randm (did you mean random?)"),
    ):
        (tmp_path / "final.toml").write_text(text)
        result = arena_here("serve", "event", "new", "final.toml")
        assert result.code == 2
        assert result.sentence.startswith(f"final.toml: {problem}")


def test_roster_assigns_people_to_teams(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "students.csv").write_text("Name,Team\nAnn Lee,Sharks\nBo,Sharks\nCy,\n")
    assert "In the team Sharks: ann.lee and Bo." in arena_here("serve", "users", "students.csv").err
    assert "Sharks" in arena_here("serve", "team", "list").out
    (tmp_path / "students.csv").write_text("Name,Team\nAnn Lee,Rays\nDi,Rays\n")
    refusal = arena_here("serve", "users", "students.csv", "--address", "https://poker.example.org")
    problem = "the user ann.lee is in a team already, and has to leave it first"
    assert (refusal.code, refusal.sentence) == (2, problem)
    assert "Di" not in arena_here("serve", "users").out


def test_roster_lists_people_and_appends_latecomers(arena_here: Arena, tmp_path: Path) -> None:
    roster = tmp_path / "students.csv"
    roster.write_text("Poker;;\nMail;Name;Group\na@b;Zoë Müller;1\nb@c;bob;2\n", "utf-8")
    words = ("serve", "users", "students.csv", "--out", "links.csv", "--address", "https://poker.example.org")
    assert "Written: links.csv, with 2 new links" in arena_here(*words).out
    first = (tmp_path / "links.csv").read_text("utf-8").splitlines()
    assert [line.rpartition(",")[0] for line in first] == ["name,login", "Zoë Müller,zoe.muller", "bob,bob"]
    with roster.open("a", encoding="utf-8") as file:
        file.write("c@d;李明;3\n")
    again = arena_here(*words)
    assert "Written: links.csv, with 1 new link" in again.out
    assert "2 users of the file had a link in links.csv already." in again.err
    later = (tmp_path / "links.csv").read_text("utf-8").splitlines()
    assert (later[:3], later[3].rpartition(",")[0]) == (first, "李明,user-1")
    arena_here("serve", "user", "teacher", "--scopes", "read,play,admin")
    rows = json.loads(arena_here("serve", "users", "--json").out)["sections"][0]["parts"][0]["rows"]
    people = [(row["name"], row["person"], row["role"]) for row in rows]
    assert people == [
        ("bob", "", ""),
        ("teacher", "", "organiser"),
        ("user-1", "李明", ""),
        ("zoe.muller", "Zoë Müller", ""),
    ]


def test_links_have_the_address_of_the_last_start(arena_here: Arena, tmp_path: Path) -> None:
    arena_here("serve", "user", "ann")
    with contextlib.closing(Store(tmp_path / "arena-server" / "server.sqlite3")) as store:
        store.write_now(lambda db: write_text(db, TextName.ADDRESS, "http://192.0.2.7:8080"))
        listing = arena_here("serve", "invite", "ann")
        assert listing.out.startswith("ann http://192.0.2.7:8080/invitation/")
        store.write_now(lambda db: write_text(db, TextName.ADDRESS, "http://127.0.0.1:8080"))
        assert "which only this machine can open" in arena_here("serve", "invite", "ann").err


def test_users_are_invited_listed_disabled_and_removed(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "students.csv").write_text("mail,name\na@b,ann\nb@c,bob\n", "utf-8")
    links = arena_here("serve", "users", "students.csv", "--address", "https://poker.example.org/")
    assert re.fullmatch(
        r"ann https://poker\.example\.org/invitation/[\w-]{32}\nbob https://poker\.example\.org/invitation/[\w-]{32}\n",
        links.out,
    )
    assert links.err == "Each link works once, within 14 days, and cannot be shown again.\n"
    with contextlib.closing(Store(tmp_path / "arena-server" / "server.sqlite3")) as store:
        store.write_now(lambda db: set_password(db, add_user(db, "ann"), "correct horse"))
    again = arena_here("serve", "users", "students.csv", "--out", "links.csv", "--days", "2.5")
    assert "1 user of the file had a password already." in again.err
    assert [line.partition(",")[0] for line in (tmp_path / "links.csv").read_text().splitlines()] == ["name", "bob"]
    reset = arena_here("serve", "invite", "ann")
    assert re.match(r"ann http://[\d.]+:8080/invitation/", reset.out)
    assert "The server has not been started with this folder" in reset.err
    assert arena_here("serve", "disable", "bob").out == "bob can no longer log in.\n"
    listed = json.loads(arena_here("serve", "users", "--json").out)["sections"][0]["parts"][0]["rows"]
    assert [(row["name"], row["logs in with"]) for row in listed] == [
        ("ann", "password, a link, not used yet"),
        ("bob", "nothing: disabled"),
    ]
    assert arena_here("serve", "disable", "bob", "--undo").out == "bob can log in again.\n"
    assert arena_here("serve", "remove", "bob").out == "bob is removed.\n"
    listed = json.loads(arena_here("serve", "users", "--json").out)["sections"][0]["parts"][0]["rows"]
    assert [row["name"] for row in listed] == ["ann"]
    for words, problem in (
        (("remove", "bob"), "there is no user bob in arena-server"),
        (("disable", "bob"), "there is no user bob in arena-server"),
        (("users", "students.csv", "--out", "students.csv"), "students.csv exists already and is no file of links"),
        (("users", "none.csv"), "none.csv: No such file or directory"),
        (("invite", "ladder"), "no user can be called ladder"),
        (("invite", "ann", "--address", "example.org"), "'example.org' is not the address of pages, such as https://"),
    ):
        result = arena_here("serve", *words)
        assert (result.code, problem in result.err) == (2, True), result.err


def test_names_of_a_user_are_freed_all_or_none(arena: Arena, tmp_path: Path) -> None:
    arena("serve", "user", "ann")
    with contextlib.closing(Store(tmp_path / "arena-server" / DATABASE_NAME)) as store:
        ((ann,),) = store.read("SELECT id FROM users WHERE name = 'ann'")
        for name in ("one", "two"):
            store.write_now(lambda db, name=name: register_user_bot(db, ann, "kuhn", name, ""))  # type: ignore[misc]
        store.write_now(lambda db: db.execute("UPDATE bots SET seen_s = 1 WHERE name = 'one'").rowcount)
        refusal = arena("serve", "free", "--user", "ann")
        assert (refusal.code, used_names(store, ann)) == (2, ("one", "two"))
        store.write_now(lambda db: db.execute("UPDATE bots SET seen_s = 1").rowcount)
        assert arena("serve", "free", "--user", "ann").out == "2 names of bots freed.\n"
        assert used_names(store, ann) == ()


def test_series_and_teams_are_managed_by_commands(arena: Arena, tmp_path: Path) -> None:
    arena("serve", "user", "ann", "bob")
    with contextlib.closing(Store(tmp_path / "arena-server" / DATABASE_NAME)) as store:
        store.write_now(lambda db: register_user_bot(db, 1, "kuhn.limit.2p", "one", ""))
    assert "ann, bob" in arena("serve", "team", "new", "Sharks", "ann", "bob").out
    assert arena("serve", "team", "new", "LOCAL", "ann").code == 2
    arena("serve", "team", "leave", "ann")
    assert re.search(r"Sharks +bob\s", arena("serve", "team", "list").out + "\n")
    (tmp_path / "weekly.toml").write_text(
        'name = "weekly"\ngame = "kuhn"\ncloses = 2100-01-01T12:00:00Z\nevery = "week"\ntimes = 3\n'
    )
    assert "weekly-3" in arena("serve", "series", "new", "weekly.toml").out
    assert arena("serve", "series", "new", "weekly.toml").code == 2
    data = json.loads(arena("serve", "series", "show", "weekly", "--json").out)
    assert [event["state"] for event in data["events"]] == ["open", "announced", "announced"]
    assert arena("serve", "series", "withdraw", "weekly").code == 0
    assert arena("serve", "series", "show", "weekly").code == 2
