"""Files of the server's container agree with the command, its settings and each other.

If Caddy is installed, it serves the pages with the shipped file, as in the container.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import subprocess
import time
import tomllib
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from dealer.cli import commands_for
from dealer.cli.shell.app import application
from dealer.server.server_settings import read_toml_settings
from tests.dealer.helpers import PATIENCE_S, free_ports
from tests.dealer.web.served import ServerThread
from tests.dealer.web.visits import small_house, with_web
from tests.outside import needs

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "container"
SETTINGS = read_toml_settings(FOLDER / "arena-server.toml")


def instructions() -> list[tuple[str, str]]:
    """Names and arguments of the Dockerfile's instructions."""
    text = re.sub(r"(?m)^#.*\n", "", (FOLDER / "Dockerfile").read_text()).replace("\\\n", "")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line]
    return [(name, " ".join(words.split())) for name, words in lines]


def argument(name: str) -> str:
    """Argument of the last instruction of this name."""
    return [argument for instruction, argument in instructions() if instruction == name][-1]


def compose() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    return services


def test_image_has_the_sources_of_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    copied = {word for name, words in instructions() if name == "COPY" for word in words.split()[:-1]}
    needed = {*project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"], "pyproject.toml"}
    needed |= {"README.md", "hatch_build.py", *project["project"]["license-files"]}
    assert needed == {word for word in copied if not word.startswith(("/", "--"))}
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().split()
    assert {word.removeprefix("!") for word in ignored if word.startswith("!")} == needed
    (extra,) = re.findall(r"'/source\[(\w+)\]'", next(words for name, words in instructions() if name == "RUN"))
    assert extra in project["project"]["optional-dependencies"]
    for base in {words.split()[0] for name, words in instructions() if name == "FROM"}:
        version = tuple(map(int, re.findall(r"\d+", base)))
        assert version >= tuple(map(int, re.findall(r"\d+", project["project"]["requires-python"])))


def test_image_starts_an_existing_command(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*json.loads(argument("ENTRYPOINT")), *json.loads(argument("CMD"))]
    assert words[:2] == ["arena", "serve"]
    started: list[tuple[Any, ...]] = []
    monkeypatch.setattr("dealer.cli.serve._serve", lambda *arguments, **options: started.append(arguments))
    mounted = dict(mount.split(":")[1::-1] for mount in compose()["services"]["arena"]["volumes"])
    (config,) = [word for word in words if word.endswith(".toml")]
    words[words.index(config)] = str(FOLDER / mounted[config])
    with pytest.raises(SystemExit) as raised:
        application(commands_for(words[1:]))(words[1:], standalone_mode=False)
    assert not raised.value.code
    ((_, settings, data),) = started
    assert settings == SETTINGS
    # The data are on the volume, where the user may write.
    assert data.is_relative_to(argument("VOLUME"))
    assert argument("VOLUME") == argument("WORKDIR")
    assert any(volume.split(":")[1] == argument("VOLUME") for volume in compose()["services"]["arena"]["volumes"])
    user = argument("USER")
    assert user != "0"
    assert any(f"--uid {user} --home-dir {argument('VOLUME')}" in words for name, words in instructions())


def test_files_agree_on_ports_names_and_networks() -> None:
    configuration = compose()
    services = configuration["services"]
    web = SETTINGS.web
    assert argument("EXPOSE") == str(web.port)
    (subnet,) = [network["subnet"] for network in configuration["networks"]["default"]["ipam"]["config"]]
    assert web.proxies == (subnet,)
    assert ip_network(subnet).is_private
    caddy = (FOLDER / "Caddyfile").read_text()
    (name,) = re.findall(r"(?m)^(\S+) \{$", caddy)
    (health,) = re.findall(r"http://\S+?(?=')", argument("HEALTHCHECK"))
    assert {name, urlsplit(health).hostname} == set(web.names)
    (upstream,) = re.findall(r"reverse_proxy (\S+)", caddy)
    (arena,) = [name for name, service in services.items() if "build" in service]
    assert upstream == f"{arena}:{web.port}"
    assert urlsplit(health).port == web.port
    assert not SETTINGS.is_loopback, "the proxy is in another container"
    for service in services.values():
        for mount in service["volumes"]:
            source = mount.split(":")[0]
            assert (FOLDER / source).is_file() if source.startswith(".") else source in configuration["volumes"]
        assert set(service.get("depends_on", {})) <= set(services)
    build = services[arena]["build"]
    assert (FOLDER / build["context"]).resolve() == ROOT
    assert ROOT / build["dockerfile"] == FOLDER / "Dockerfile"
    assert "ports" not in services[arena], "only the proxy is reached from outside"


@pytest.mark.slow  # a server and two interpreters start
def test_health_check_follows_the_server(tmp_path: Path) -> None:
    """Runs the image's command with the port of a local server."""
    words = json.loads(argument("HEALTHCHECK").partition("CMD ")[2])

    def check(port: int) -> int:
        command = [word.replace(f":{SETTINGS.web.port}/", f":{port}/") for word in words]
        return subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE_S).returncode

    with ServerThread(with_web(small_house(), names=SETTINGS.web.names), tmp_path) as server:
        port = int(urlsplit(server.address).port or 0)
        assert check(port) == 0
    assert check(port) == 1


@needs("caddy")
def test_caddy_serves_the_pages(tmp_path: Path) -> None:
    """With the shipped file Caddy ends TLS and passes on the client's address."""
    name = next(name for name in SETTINGS.web.names if "." in name)
    settings = with_web(small_house(), names=SETTINGS.web.names, proxies=("127.0.0.1/32",), metrics_from=("127.0.0.1",))
    (port,) = free_ports(1)
    with ServerThread(settings, tmp_path / "data") as server:
        text = (FOLDER / "Caddyfile").read_text()
        text = text.replace(f"arena:{SETTINGS.web.port}", server.address.split("//")[1].rstrip("/"))
        text = text.replace(f"{name} {{", f"https://{name}:{port} {{\n\ttls internal", 1)
        (tmp_path / "Caddyfile").write_text(
            "{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n" + text
        )
        with (tmp_path / "log").open("wb") as log:
            caddy = subprocess.Popen(
                ["caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"],
                cwd=tmp_path,
                stderr=log,
                stdout=log,
                env={"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            )
        try:
            assert ask(port, name, "/healthz") == (200, "ok\n")
            assert ask(port, name, "/metrics")[0] == 403
            page = ask(port, name, "/")[1]
            assert "acpc-arena" in page
            assert "/api/v1" in ask(port, name, "/api/v1/openapi.json")[1]
        finally:
            caddy.terminate()
            caddy.wait(PATIENCE_S)


def ask(port: int, name: str, path: str) -> tuple[int, str]:
    """Request a path by TLS under a server name, once Caddy listens; return status and body."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            with (
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plain,
                context.wrap_socket(plain, server_hostname=name) as secure,
            ):
                secure.sendall(f"GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
                answer = b"".join(iter(lambda: secure.recv(65_536), b"")).decode("utf-8", "replace")
                head, _, body = answer.partition("\r\n\r\n")
                return int(head.split()[1]), body
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.05)
