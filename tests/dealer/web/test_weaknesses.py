"""Who could try what over HTTP, and what stops them: the rows of the table in docs/serve.md."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from dealer.server import passwords
from dealer.server.accounts import GuessLimit, add_user
from dealer.server.passwords import set_password
from dealer.server.store import DATABASE_NAME, Store
from tests.dealer.web.pages import PATIENCE_S, Visit, new_user, small_house, visit

HOSTILE = "<img/src=x/onerror=alert(1)>'\"{{7*7}}"


class Wire:
    """A connection that is closed at the end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


async def connected(one: Visit, *, receive_bytes: int = 0) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection that can say anything."""
    where = urlsplit(one.address)
    sock = socket.socket()
    if receive_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, (where.hostname, where.port))
    wire = Wire(*await asyncio.open_connection(sock=sock))
    one.house.talks.append(wire)  # type: ignore[arg-type]
    return wire.reader, wire.writer


async def closed(reader: asyncio.StreamReader) -> bytes:
    """What a connection says until the server closes it."""
    said = b""
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(65536):
                said += piece
    return said


async def is_well(one: Visit) -> None:
    async with one.another() as browser:
        assert (await browser.get("/")).status_code == 200


def test_heads_and_bodies_that_come_slowly_cost_their_connection_only(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        silent, _ = await connected(one)
        half, writer = await connected(one)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        body, body_writer = await connected(one)
        body_writer.write(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf")
        await is_well(one)
        assert await closed(silent) == b""
        assert await closed(half) == b""
        async with asyncio.timeout(PATIENCE_S):
            assert b"408" in await body.readline()
        await is_well(one)

    visit(small_house(header_timeout_s=0.5, keep_alive_s=1.0), talk, tmp_path / "data")


def test_who_does_not_read_is_let_go(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        reader, writer = await connected(one, receive_bytes=1024)
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        ask = b"GET /static/htmx/htmx.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

        async def ask_on() -> None:
            while True:
                writer.write(ask)
                await writer.drain()
                await asyncio.sleep(0.02)

        with pytest.raises(ConnectionError):
            await asyncio.wait_for(ask_on(), PATIENCE_S)
        await is_well(one)

    visit(small_house(write_timeout_s=0.5), talk, tmp_path / "data")


def test_connections_are_bounded_by_address(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        held = [await connected(one) for _ in range(4)]
        late, _ = await connected(one)
        assert await closed(late) == b""
        for _, writer in held:
            writer.close()
        async with asyncio.timeout(PATIENCE_S):
            while True:
                with contextlib.suppress(httpx2.TransportError):
                    await is_well(one)
                    return

    visit(small_house(max_connections_per_address=4), talk, tmp_path / "data")


def test_bodies_are_bounded_on_the_wire(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        assert (await one.browser.post("/login", content=b"x" * 5001)).status_code == 413
        reader, writer = await connected(one)
        writer.write(b"POST /api/act HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                writer.write(b"64\r\n" + b"x" * 100 + b"\r\n")
                await writer.drain()
        async with asyncio.timeout(PATIENCE_S):
            assert b" 413 " in await reader.readline()
        huge, writer = await connected(one)
        writer.write(b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n")
        assert b" 200 " not in await closed(huge)
        await is_well(one)

    visit(small_house(max_body_bytes=5000), talk, tmp_path / "data")


@pytest.mark.parametrize("seed", range(3))
def test_whatever_comes_is_answered_or_closed_and_nothing_ends(tmp_path: Path, seed: int) -> None:
    draws = random.Random(seed)
    words = [
        b"GET",
        b"POST",
        b" ",
        b"/",
        b"/api/v1/jobs",
        b"HTTP/1.1",
        b"\r\n",
        b"\n",
        b"\0",
        b"\xff",
        b"%00",
        b"..",
        b":",
    ]
    words += [b"Host: 127.0.0.1\r\n", b"Content-Length: 5\r\n", b"Content-Length: -1\r\n", b"Cookie: arena=;=\r\n"]
    words += [
        b"Transfer-Encoding: chunked\r\n",
        b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
        b"?a=%zz&",
        b"\r\n\r\n",
    ]
    words += [
        b"Authorization: Bearer \xff\r\n",
        b"Origin: x\r\n",
        b"X-Forwarded-For: ,,\r\n",
        b"Last-Event-ID: 1e9\r\n",
    ]

    async def talk(one: Visit) -> None:
        for _ in range(60):
            reader, writer = await connected(one)
            said = b"".join(draws.choices(words, k=draws.randrange(1, 30)))
            with contextlib.suppress(ConnectionError):
                writer.write(b"GET /" + said if draws.random() < 0.5 else said)
                writer.write_eof()
                answer = await closed(reader)
                assert b" 500 " not in answer.split(b"\r\n")[0], said
            writer.close()
        await is_well(one)

    visit(small_house(header_timeout_s=0.3, keep_alive_s=1.0), talk, tmp_path / "data")


def test_addresses_lead_to_no_file_but_those_of_the_pages(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        for path in (
            "/static/../app.py",
            "/static/%2e%2e/%2e%2e/server.sqlite3",
            "/../../etc/passwd",
            "/static//etc/passwd",
        ):
            reader, writer = await connected(one)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            assert b" 404 " in (await closed(reader)).split(b"\r\n")[0]
        headers = {"authorization": f"Bearer {one.token}"}
        for path in ("runs/../1", "runs/1/matches/..%2f..%2fserver.sqlite3/log", "runs/1/matches/0/export/..%2f..%2fx"):
            assert (await one.browser.get(f"/api/v1/{path}", headers=headers)).status_code == 404

    visit(small_house(), talk, tmp_path / "data")


def test_a_cookie_is_worth_nothing_after_the_logout_and_of_no_use_elsewhere(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        before = dict(one.browser.cookies)
        await one.log_in()
        entered = dict(one.browser.cookies)
        assert before != entered, "a cookie that somebody has planted is not the one that is logged in"
        await one.browser.post("/logout", data={"form_key": await one.form_key("/")})
        async with one.another() as thief:
            thief.cookies.update(entered)
            assert "Log out" not in (await thief.get("/")).text
        database = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("server.sqlite3*"))
        assert not any(value.encode() in database for value in entered.values())
        assert one.token.encode() not in database

    visit(small_house(), talk, tmp_path / "data")


def test_forms_from_elsewhere_change_nothing(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        await one.log_in()
        for headers, data in (
            ({}, {}),
            ({}, {"form_key": "0" * 64}),
            ({"origin": "https://evil.example"}, {"form_key": await one.form_key("/")}),
        ):
            assert (await one.browser.post("/logout", data=data, headers=headers)).status_code == 403
        assert "Log out" in (await one.browser.get("/")).text

    visit(small_house(), talk, tmp_path / "data")


def test_guessing_over_http_is_slowed_down_by_address_and_by_name(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        statuses = [(await one.log_in(secret=f"guess{number}")).status_code for number in range(5)]
        assert statuses == [403, 403, 403, 429, 429]
        assert (await one.log_in()).status_code == 429, "the right one has to wait as well"
        assert (await one.browser.post("/api/login", json={"username": "player", "password": "x"})).status_code == 429
        headers = {"authorization": f"Bearer {one.token}"}
        assert (await one.browser.get("/api/v1/me", headers=headers)).status_code == 429

    visit(small_house(), talk, tmp_path / "data", guesses=GuessLimit(most_failures=3))


def test_passwords_are_kept_as_hashes_and_a_new_one_ends_the_sessions(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        store = Store(tmp_path / "data" / DATABASE_NAME)
        store.write_now(lambda db: set_password(db, add_user(db, "ann"), "correct horse"))
        assert (await one.log_in("ann", "battery staple")).status_code == 403
        assert (await one.log_in("ann", "x" * 1000)).status_code == 403
        assert (await one.log_in("ann", "correct horse")).status_code == 303
        assert "Log out" in (await one.browser.get("/")).text
        database = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("server.sqlite3*"))
        assert b"correct horse" not in database
        store.write_now(lambda db: set_password(db, add_user(db, "ann"), "another horse"))
        store.close()
        assert "Log out" not in (await one.browser.get("/")).text

    visit(small_house(), talk, tmp_path / "data")


def test_a_crowd_that_logs_in_waits_and_the_pages_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_MOST_WAITING", 4)

    async def talk(one: Visit) -> None:
        key = await one.form_key()
        data = {"form_key": key, "name": "nobody", "secret": "a wrong password", "next": "/"}
        async with one.another() as crowd:
            crowd.cookies.update(one.browser.cookies)
            tries = [asyncio.create_task(crowd.post("/login", data=data)) for _ in range(10)]
            await asyncio.sleep(0)
            await is_well(one)
            statuses = {(await one_try).status_code for one_try in tries}
        assert statuses == {403, 503}

    visit(small_house(), talk, tmp_path / "data", guesses=GuessLimit(most_failures=1000))


def test_names_that_are_pages_are_shown_as_names(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        await one.log_in(HOSTILE, new_user(tmp_path / "data", HOSTILE))
        paths = {"/", "/login", "/nothing"} | set(re.findall(r'href="(/[^"]*)"', (await one.browser.get("/")).text))
        for path in sorted(paths):
            answer = await one.browser.get(path)
            if not answer.headers["content-type"].startswith("text/html"):
                continue
            assert "<img/" not in answer.text, path
            assert "49" not in re.sub(r"[0-9a-f]{64}", "", answer.text) or "{{7*7}}" in answer.text
            assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "&lt;img/src=x/onerror=alert(1)&gt;" in (await one.browser.get("/")).text

    visit(small_house(), talk, tmp_path / "data")
