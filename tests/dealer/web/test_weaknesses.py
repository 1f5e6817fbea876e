"""Attacks over HTTP, as listed in `tests/dealer/server/attacks.md`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import re
import socket
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from dealer.run.run_settings import BotSettings
from dealer.server import accounts
from dealer.server.accounts import GuessLimit, set_password
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from tests.dealer.web.visits import PATIENCE_S, Visit, new_user, small_house, visiting

HOSTILE = "<img/src=x/onerror=alert(1)>'\"{{7*7}}"


class Wire:
    """Raw connection, in a form that the server's context manager closes at the end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


async def open_connection(visit: Visit, *, receive_bytes: int = 0) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a raw connection."""
    url = urlsplit(visit.address)
    sock = socket.socket()
    if receive_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, (url.hostname, url.port))
    wire = Wire(*await asyncio.open_connection(sock=sock))
    visit.house.peers.append(wire)  # type: ignore[arg-type]
    return wire.reader, wire.writer


async def read_until_closed(reader: asyncio.StreamReader) -> bytes:
    """Read until the server closes the connection, and return the bytes."""
    received = b""
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(65536):
                received += piece
    return received


async def check_service(visit: Visit) -> None:
    async with visit.another() as browser:
        assert (await browser.get("/")).status_code == 200


async def test_slow_heads_and_bodies_are_disconnected(tmp_path: Path) -> None:
    async with visiting(small_house(header_timeout_s=0.5, keep_alive_s=1.0), tmp_path / "data") as visit:
        silent, _ = await open_connection(visit)
        half, writer = await open_connection(visit)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        body, body_writer = await open_connection(visit)
        body_writer.write(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf")
        await check_service(visit)
        assert await read_until_closed(silent) == b""
        assert await read_until_closed(half) == b""
        async with asyncio.timeout(PATIENCE_S):
            assert b"408" in await body.readline()
        await check_service(visit)


async def test_client_that_does_not_read_is_disconnected(tmp_path: Path) -> None:
    async with visiting(small_house(write_timeout_s=0.5), tmp_path / "data") as visit:
        reader, writer = await open_connection(visit, receive_bytes=1024)
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        ask = b"GET /static/play.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 10

        async def ask_on() -> None:
            while True:
                writer.write(ask)
                await writer.drain()
                await asyncio.sleep(0.02)

        with pytest.raises(ConnectionError):
            await asyncio.wait_for(ask_on(), PATIENCE_S)
        await check_service(visit)


async def test_websocket_closed_immediately_is_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    head = (
        "GET /api/v1/join HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nAuthorization: Bearer {}\r\n\r\n"
    )
    close_frame = b"\x88\x82\0\0\0\0\x03\xe8"
    broken = b"\xff\xff"
    request = b"\x81\x82\0\0\0\0{}"

    async with visiting(small_house(header_timeout_s=1.0, keep_alive_s=0.5), tmp_path / "data") as visit:
        for token in (visit.token, "none"):
            for message in (b"", close_frame, broken, request, request + close_frame):
                reader, writer = await open_connection(visit)
                writer.write(head.format(token).encode() + message)
                writer.close()
                reader, writer = await open_connection(visit)
                writer.write(head.format(token).encode())
                async with asyncio.timeout(PATIENCE_S):
                    status = b"HTTP/1.1 101 " if token == visit.token else b"HTTP/1.1 401 "
                    assert (await reader.readuntil(b"\r\n\r\n")).startswith(status)
                writer.write(message)
                # After a request the server waits seconds for the client's close frame.
                if message not in (b"", request):
                    await read_until_closed(reader)
                writer.close()
        await check_service(visit)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_body_with_two_lengths_closes_the_connection(tmp_path: Path) -> None:
    # A proxy that reads Content-Length would take a part of such a body for the next request.
    async with visiting(small_house(), tmp_path / "data") as visit:
        for path in ("/login", "/api/v1/jobs"):
            reader, writer = await open_connection(visit)
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
            writer.write(f"{head}0\r\n\r\nGET /standings HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            received = await read_until_closed(reader)
            assert received.startswith(b"HTTP/1.1 400 ")
            assert received.count(b"HTTP/1.1 ") == 1
        await check_service(visit)


async def test_connections_are_bounded_by_address(tmp_path: Path) -> None:
    async with visiting(small_house(max_connections_per_address=4), tmp_path / "data") as visit:
        held = [await open_connection(visit) for _ in range(4)]
        late, writer = await open_connection(visit)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        received = await read_until_closed(late)
        assert received.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nRetry-After: 5\r\n" in received
        assert received.endswith(b"Your address has too many connections to this server. Close some and try again.\n")
        for _, writer in held:
            writer.close()
        async with asyncio.timeout(PATIENCE_S):
            while True:
                with contextlib.suppress(httpx2.TransportError):
                    await check_service(visit)
                    break


async def test_connections_of_a_proxy_are_not_limited_by_address(tmp_path: Path) -> None:
    async with visiting(
        small_house(max_connections_per_address=4, proxies=("127.0.0.0/8",)), tmp_path / "data"
    ) as visit:
        held = [await open_connection(visit) for _ in range(8)]
        await check_service(visit)
        assert not any(reader.at_eof() for reader, _ in held)


async def test_slow_clients_do_not_block_others(tmp_path: Path) -> None:
    settings = small_house(
        max_connections=50, max_connections_per_address=2000, header_timeout_s=PATIENCE_S, keep_alive_s=PATIENCE_S
    )
    async with visiting(settings, tmp_path / "data") as visit:
        headers = {"Authorization": f"Bearer {visit.token}"}
        assert (await visit.browser.get("/api/v1/me", headers=headers)).status_code == 200
        for number in range(80):
            _, writer = await open_connection(visit)
            writer.write((b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")[number % 2])
            if number % 20 == 19:
                await check_service(visit)
        assert (await visit.browser.get("/api/v1/me", headers=headers)).status_code == 200


async def test_users_and_new_clients_are_served_while_strangers_hold_connections(tmp_path: Path) -> None:
    async with visiting(small_house(max_connections=3), tmp_path / "data") as visit:
        stranger, _ = await open_connection(visit)
        program, calls = await open_connection(visit)
        me = f"GET /api/v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {visit.token}\r\n\r\n".encode()
        calls.write(me)
        assert b" 200 " in await program.readline()
        visitor, writer = await open_connection(visit)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b" 200 " in await visitor.readline()
        # Each of these replaces the oldest connection without a login or token.
        for _ in range(3):
            await check_service(visit)
            await open_connection(visit)
        received = await read_until_closed(stranger)
        assert received.startswith(b"HTTP/1.1 503 ")
        assert received.endswith(b"The server has too many connections. Try again in a few seconds.\n")
        assert b"HTTP/1.1 503 " in await read_until_closed(visitor)
        calls.write(me)
        async with asyncio.timeout(PATIENCE_S):
            # The previous answer ends without a line feed, so that the status line may follow on its last line.
            while b"HTTP/1.1 200 " not in (line := await program.readline()):
                assert line


async def test_dripping_body_times_out(tmp_path: Path) -> None:
    async with visiting(small_house(header_timeout_s=0.3), tmp_path / "data") as visit:
        for path in ("/login", "/nothing"):
            reader, writer = await open_connection(visit)
            writer.write(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n".encode())
            ended = asyncio.create_task(read_until_closed(reader))
            async with asyncio.timeout(PATIENCE_S):
                while not ended.done():
                    writer.write(b"a")
                    await asyncio.sleep(0.02)
            assert (await ended).startswith(b"HTTP/1.1 4")


@pytest.mark.skipif(os.name == "nt", reason="the bot is a script")
async def test_output_of_a_failed_bot_is_shown_to_its_requester_only(tmp_path: Path) -> None:
    script = tmp_path / "crash.sh"
    script.write_text("#!/bin/sh\necho a path of the server >&2\nexit 3\n")
    script.chmod(0o755)
    settings = small_house()
    crash = BotSettings(bot=str(script))
    games = tuple(replace(game, bots={**game.bots, "crash": crash}) for game in settings.games)

    async with visiting(replace(settings, games=games), tmp_path / "data") as visit:
        headers = {"authorization": f"Bearer {visit.token}"}
        job = {"game": "kuhn.limit.2p", "players": ["crash", "random"]}
        assert (await visit.browser.post("/api/v1/jobs", headers=headers, json=job)).status_code == 201
        async with asyncio.timeout(PATIENCE_S):
            while '"failed"' not in (await visit.browser.get("/api/v1/runs", headers=headers)).text:
                await asyncio.sleep(0.05)
        reason = "Its process ended with exit code 3."
        output = "a path of the server"
        page = await visit.browser.get("/runs/1")
        assert page.status_code == 200
        assert reason in page.text
        assert output not in page.text
        await visit.log_in()
        assert output in (await visit.browser.get("/runs/1")).text
        (tmp_path / "data/runs/00000001").rename(tmp_path / "elsewhere")
        async with visit.another() as stranger:
            missing = await stranger.get("/runs/1")
        assert missing.status_code == 404
        assert f"The run has failed: crash ended before it connected. {reason}" in missing.text
        assert output not in missing.text


async def test_bodies_are_bounded_on_the_wire(tmp_path: Path) -> None:
    async with visiting(small_house(max_body_bytes=5000), tmp_path / "data") as visit:
        assert (await visit.browser.post("/login", content=b"x" * 5001)).status_code == 413
        reader, writer = await open_connection(visit)
        writer.write(b"POST /api/act HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                writer.write(b"64\r\n" + b"x" * 100 + b"\r\n")
                await writer.drain()
        async with asyncio.timeout(PATIENCE_S):
            assert b" 413 " in await reader.readline()
        huge, writer = await open_connection(visit)
        writer.write(b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n")
        assert b" 200 " not in await read_until_closed(huge)
        await check_service(visit)


async def test_other_protocols_are_refused_without_a_log_entry(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        for sent in (b"ann token\n", b"\x16\x03\x01\n", b"GET / HTTP/1.1\r\nbroken\r\n\r\n"):
            reader, writer = await open_connection(visit)
            writer.write(sent)
            assert (await read_until_closed(reader)).startswith(b"HTTP/1.1 400 ")
        upgrade = {"connection": "upgrade", "upgrade": "websocket"}
        assert (await visit.browser.get("/", headers=upgrade)).status_code == 400
        whole = upgrade | {"sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}
        assert (await visit.browser.get("/", headers=whole)).status_code == 403
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_random_bytes_are_answered_or_end_their_connection(tmp_path: Path) -> None:
    draws = random.Random(0)
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
    words += [b"Transfer-Encoding: chunked\r\n", b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"?a=%zz&"]
    words += [b"\r\n\r\n", b"Authorization: Bearer \xff\r\n", b"Origin: x\r\n", b"X-Forwarded-For: ,,\r\n"]
    words += [b"Last-Event-ID: 1e9\r\n"]

    async with visiting(small_house(header_timeout_s=0.3, keep_alive_s=1.0), tmp_path / "data") as visit:
        for _ in range(60):
            reader, writer = await open_connection(visit)
            request = b"".join(draws.choices(words, k=draws.randrange(1, 30)))
            with contextlib.suppress(ConnectionError):
                writer.write(b"GET /" + request if draws.random() < 0.5 else request)
                writer.write_eof()
                answer = await read_until_closed(reader)
                assert b" 500 " not in answer.split(b"\r\n")[0], request
            writer.close()
        await check_service(visit)


async def test_addresses_reach_static_files_only(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        for path in (
            "/static/../app.py",
            "/static/%2e%2e/%2e%2e/server.sqlite3",
            "/../../etc/passwd",
            "/static//etc/passwd",
        ):
            reader, writer = await open_connection(visit)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            assert b" 404 " in (await read_until_closed(reader)).split(b"\r\n")[0]
        headers = {"authorization": f"Bearer {visit.token}"}
        for path in ("runs/../1", "runs/1/matches/..%2f..%2fserver.sqlite3/log", "runs/1/matches/0/export/..%2f..%2fx"):
            assert (await visit.browser.get(f"/api/v1/{path}", headers=headers)).status_code == 404


async def test_cookie_ends_with_the_logout_and_is_not_stored(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        await visit.browser.get("/login")
        before = dict(visit.browser.cookies)
        await visit.log_in()
        entered = dict(visit.browser.cookies)
        assert before.keys() == entered.keys() != set()
        assert before != entered, "the login sets a new cookie, so that a planted one is not logged in"
        await visit.browser.post("/logout", data={"form_key": await visit.form_key("/")})
        async with visit.another() as thief:
            thief.cookies.update(entered)
            assert "Log out" not in (await thief.get("/")).text
        database = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("server.sqlite3*"))
        assert not any(value.encode() in database for value in entered.values())
        assert visit.token.encode() not in database


@pytest.mark.usefixtures("cheap_hashes")
async def test_guessing_over_http_is_slowed_down_by_address_and_by_name(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data", guesses=GuessLimit(max_failures=3, within_s=1000)) as visit:
        statuses = [(await visit.log_in(secret=f"guess{number}")).status_code for number in range(5)]
        assert statuses == [403, 403, 403, 429, 429]
        assert (await visit.log_in()).status_code == 429, "the correct token has to wait as well"
        assert (await visit.browser.post("/api/login", json={"username": "player", "password": "x"})).status_code == 429
        headers = {"authorization": f"Bearer {visit.token}"}
        assert (await visit.browser.get("/api/v1/me", headers=headers)).status_code == 429


@pytest.mark.usefixtures("cheap_hashes")
async def test_guesses_of_one_address_lock_out_no_other(tmp_path: Path) -> None:
    guesses = GuessLimit(max_failures=3, max_by_name=5, within_s=100_000)
    async with visiting(small_house(proxies=("127.0.0.1",)), tmp_path / "data", guesses=guesses) as visit:
        store = Store(tmp_path / "data" / DATABASE_NAME)
        store.write_now(lambda db: set_password(db, add_user(db, "player"), "correct horse"))
        store.close()

        async def try_from(address: int, secret: str) -> int:
            visit.browser.headers["x-forwarded-for"] = f"192.0.2.{address}"
            return (await visit.log_in(secret=secret)).status_code

        assert [await try_from(1, f"guess{number}") for number in range(4)] == [403, 403, 403, 429]
        assert await try_from(2, "correct horse") == 303, "another address does not wait"
        assert [await try_from(address, "guess") for address in (3, 4, 5)] == [403, 403, 429]
        assert await try_from(5, "correct horse") == 429, "many addresses have tried the name"
        assert await try_from(2, "correct horse") == 303, "the user has logged in from this address before"
        assert await try_from(6, visit.token) == 303
        visit.browser.headers["x-forwarded-for"] = "192.0.2.7"
        login = {"username": "player", "password": visit.token}
        assert (await visit.browser.post("/api/login", json=login)).status_code == 200
        assert await try_from(1, visit.token) == 429, "the address that guessed waits"


@pytest.mark.usefixtures("cheap_hashes")
async def test_passwords_are_stored_as_hashes_and_a_new_one_ends_the_sessions(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        store = Store(tmp_path / "data" / DATABASE_NAME)
        store.write_now(lambda db: set_password(db, add_user(db, "ann"), "correct horse"))
        for secret, status in (("battery staple", 403), ("x" * 1000, 403), ("correct horse", 303)):
            assert (await visit.log_in("ann", secret)).status_code == status
        assert "Log out" in (await visit.browser.get("/")).text
        database = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("server.sqlite3*"))
        assert b"correct horse" not in database
        store.write_now(lambda db: set_password(db, add_user(db, "ann"), "another horse"))
        store.close()
        assert "Log out" not in (await visit.browser.get("/")).text


async def test_pages_are_answered_during_many_logins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_hash = threading.Event()

    def hash_slowly(password: str, salt: bytes, cost: Mapping[str, int]) -> bytes:
        del password, salt, cost
        assert may_hash.wait(PATIENCE_S)
        return b"none"

    monkeypatch.setattr(accounts, "_MAX_WAITING_LOGINS", 4)
    monkeypatch.setattr(accounts, "_scrypt", hash_slowly)
    async with visiting(small_house(), tmp_path / "data", guesses=GuessLimit(max_failures=1000)) as visit:
        form = {"form_key": await visit.form_key(), "name": "nobody", "secret": "a wrong password", "next": "/"}
        async with visit.another() as crowd:
            crowd.cookies.update(visit.browser.cookies)
            tries = [asyncio.create_task(crowd.post("/login", data=form)) for _ in range(6)]
            done, waiting = await asyncio.wait(tries, return_when=asyncio.FIRST_COMPLETED)
            await check_service(visit)
            may_hash.set()
            statuses = [(await login).status_code for login in tries]
        assert {login.result().status_code for login in done} == {503}
        assert waiting
        assert set(statuses) == {403, 503}


async def test_hostile_names_stay_text(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        await visit.log_in(HOSTILE, new_user(tmp_path / "data", HOSTILE))
        paths = {"/", "/login", "/nothing"} | set(re.findall(r'href="(/[^"]*)"', (await visit.browser.get("/")).text))
        for path in sorted(paths):
            answer = await visit.browser.get(path)
            if not answer.headers.get("content-type", "").startswith("text/html"):
                continue
            assert "<img/" not in answer.text, path
            assert "49" not in re.sub(r"[0-9a-f]{64}", "", answer.text) or "{{7*7}}" in answer.text
            assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "&lt;img/src=x/onerror=alert(1)&gt;" in (await visit.browser.get("/")).text
