"""Port of the pages: encryption, busy ports and connections that clients reset."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from starlette.types import Message

from dealer.errors import ConfigError, ListenError
from dealer.server.server_settings import WebSettings, read_toml_settings
from dealer.table import listener
from dealer.table.loop import new_event_loop
from dealer.web import serving
from dealer.web.connection_limits import ConnectionLimits, LimitedConnection
from dealer.web.server_site import server_site
from tests.dealer.helpers import PATIENCE_S, free_ports
from tests.dealer.server.servers import running
from tests.dealer.web.visits import small_house, visiting, with_web
from tests.outside import make_certificate


async def test_pages_and_cookies_are_encrypted(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path, "pages", "IP:127.0.0.1")

    settings = with_web(small_house(), certificate=str(certificate), key=str(key))
    async with visiting(settings, tmp_path / "data") as visit:
        assert visit.address.startswith("https://")
        trusted = ssl.create_default_context(cafile=str(certificate))
        async with httpx2.AsyncClient(base_url=visit.address, verify=trusted) as browser:
            answer = await browser.get("/login")
            assert answer.status_code == 200
            assert answer.headers["set-cookie"].startswith("__Host-arena-")
            assert "Secure" in answer.headers["set-cookie"]


def test_small_answers_are_sent_at_once() -> None:
    with asyncio.run(serving._listen("127.0.0.1", 0)) as sock:
        assert sock.proto == socket.IPPROTO_TCP, "asyncio sets TCP_NODELAY on such sockets only"


@pytest.mark.parametrize("is_web", [True, False])
def test_busy_port_is_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture, is_web: bool) -> None:
    # After a restart, another program may hold the port for a moment.
    (port,) = free_ports(1)
    settings = with_web(small_house(), port=port) if is_web else replace(small_house(), port=port)
    message = f"port {port} is in use; trying again for 10 s"
    with socket.create_server(("127.0.0.1", port)) as holder:

        async def start() -> None:
            async with running(settings, tmp_path / "data", None, server_site):
                pass

        async def run() -> None:
            starting = asyncio.create_task(start())
            async with asyncio.timeout(PATIENCE_S):
                while message not in caplog.messages:
                    await asyncio.sleep(0.02)
                holder.close()
                await starting

        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(run())
    assert caplog.messages.count(message) == 1


async def test_port_that_stays_busy_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "BUSY_PORT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        for settings in (with_web(small_house(), port=port), replace(small_house(), port=port)):
            with pytest.raises(ListenError, match=f"cannot listen on 127.0.0.1 port {port}: "):
                async with visiting(settings, tmp_path / "data"):
                    raise AssertionError


async def test_bad_certificate_is_reported(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pem"
    bad.write_text("no certificate\n")

    with pytest.raises(ConfigError, match=r"web\.certificate"):
        async with visiting(with_web(small_house(), certificate=str(bad)), tmp_path / "data"):
            raise AssertionError


def test_key_needs_a_certificate(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[web]\nkey = "s.toml"\n')
    with pytest.raises(ConfigError, match=r"web\.key: a key needs a certificate"):
        read_toml_settings(path)


class ResetTransport(asyncio.Transport):
    """Connection that its client has reset, with the error that the system raises."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 5)})
        self.is_aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    def abort(self) -> None:
        self.is_aborted = True


async def test_reset_by_a_refused_client_is_no_error() -> None:
    limits = ConnectionLimits(WebSettings(max_connections_per_address=1))
    first, second = (LimitedConnection(limits, asyncio.Protocol()) for _ in range(2))
    first.client = ("192.0.2.1", 4)
    assert limits.admit(first) == ""
    transport = ResetTransport()
    second.connection_made(transport)
    assert transport.is_aborted


async def test_handshake_on_a_reset_connection_is_not_answered() -> None:
    # uvicorn passes no address for such a client.
    messages = iter(["websocket.connect", "websocket.disconnect"])

    async def receive() -> Message:
        return {"type": next(messages)}

    async def fail(*_: object) -> None:
        pytest.fail("the application is called, or answers")

    app = ConnectionLimits(WebSettings()).limit_app(fail)
    await app({"type": "websocket", "client": None}, receive, fail)
    assert list(messages) == []
