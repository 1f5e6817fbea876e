"""The port of the pages: encrypted with a certificate, and what is told where it cannot be had."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import httpx2
import pytest

from dealer.errors import ConfigError, ListenError
from dealer.server.server_settings import read_toml_settings
from dealer.web import serving
from tests.dealer.web.visits import Visit, small_house, visit, with_web
from tests.outside import make_certificate


def test_the_pages_are_encrypted_and_so_is_the_cookie(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path, "pages", "IP:127.0.0.1")

    async def talk(one: Visit) -> None:
        assert one.address.startswith("https://")
        trusted = ssl.create_default_context(cafile=str(certificate))
        async with httpx2.AsyncClient(base_url=one.address, verify=trusted) as browser:
            answer = await browser.get("/login")
            assert answer.status_code == 200
            assert answer.headers["set-cookie"].startswith("__Host-arena-")
            assert "Secure" in answer.headers["set-cookie"]

    settings = with_web(small_house(), certificate=str(certificate), key=str(key))
    visit(settings, talk, tmp_path / "data")


def test_small_answers_are_sent_at_once() -> None:
    with serving._listener("127.0.0.1", 0) as sock:
        assert sock.proto == socket.IPPROTO_TCP, "asyncio sets TCP_NODELAY on such sockets only"


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        raise AssertionError

    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(ListenError, match=f"cannot listen on 127.0.0.1 port {port}: "):
            visit(with_web(small_house(), port=port), talk, tmp_path / "data")


def test_a_bad_certificate_is_told(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pem"
    bad.write_text("no certificate\n")

    async def talk(one: Visit) -> None:
        raise AssertionError

    with pytest.raises(ConfigError, match=r"web\.certificate"):
        visit(with_web(small_house(), certificate=str(bad)), talk, tmp_path / "data")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('certificate = "none.pem"', "web.certificate: there is no file"),
        ('key = "s.toml"', "web.key: a key needs a certificate"),
        ('proxies = ["here"]', "web.proxies"),
        ("port = 70000", "web.port"),
        ('colour = "red"', "web.colour: there is no such setting"),
    ],
)
def test_settings_that_make_no_sense_are_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f"[web]\n{text}\n")
    with pytest.raises(ConfigError, match=told):
        read_toml_settings(path)
