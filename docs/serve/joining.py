"""Run the commands of the pages about a course as they are printed, and write what they print into the pages.

    python docs/serve/joining.py

The server has the configuration of `docs/course.md`; only addresses, ports and tokens differ from the pages. What a
command prints stands in the page behind a comment with its name. `tests/dealer/server/joining/test_pages.py` runs the
same commands and compares the lines, apart from their numbers. Cards are drawn, so the results differ each time.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from engine import CALL
from protocol import NEED_DATA, Closed, Handshake, PlayerSession, ReceivedState, Reply, find_game

DOCS: Final = Path(__file__).resolve().parents[1]
COURSE: Final = DOCS / "course.md"
JOINING: Final = DOCS / "put-your-bot-on-a-server.md"
COMPETITION: Final = DOCS / "competition.md"
_ADDRESS, _PORT, _WEB_PORT = "192.0.2.10", 54000, 8080
"""As the pages print them."""
_SERVERS: Final = (f"SERVER:{_PORT}", f"127.0.0.1:{_PORT}")
_BLOCK: Final = r"(?s)<!-- {name} -->\n```text\n(.*?)```\n<!-- end -->"
_RESULT: Final = "all deals were played"
_PATIENCE_S: Final = 600.0


def configuration(page: Path) -> str:
    """The configuration, or the part of one, that a page prints."""
    found = re.search(r"(?s)```toml\n(.*?)```", page.read_text("utf-8"))
    assert found is not None
    return found[1]


def block(page: Path, name: str) -> str:
    """What a page prints behind a comment: a command with its output."""
    found = re.search(_BLOCK.format(name=name), page.read_text("utf-8"))
    assert found is not None, name
    return found[1]


def command(page: Path, name: str) -> str:
    """The command of a block."""
    return block(page, name).split("\n")[0].removeprefix("$ ")


class Room:
    """A folder with a server and with the bots that the pages name; use it in a ``with`` block.

    Attributes:
        folder: of the server, and of everybody who joins.
        port: of the running server.
    """

    def __init__(self, folder: Path, arena: Sequence[str] = ("arena",), environment: dict[str, str] | None = None):
        self.folder = folder
        self.port = 0
        self._arena = arena
        self._environment = dict(os.environ if environment is None else environment)
        programs = os.path.dirname(sys.executable), self._environment["PATH"]
        self._environment |= {"PATH": os.pathsep.join(programs), "COLUMNS": "120"}
        self._server: subprocess.Popen[bytes] | None = None
        bot = folder / "my_bot"
        shutil.copy(DOCS.parent / "examples" / "minimal_bot.py", folder / "my_bot.py")
        bot.write_text('#!/bin/sh\nexec python my_bot.py "$@"\n')
        bot.chmod(0o755)

    def __enter__(self) -> Room:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def serve(self, config: str) -> str:
        """Start the server with a configuration; returns what it prints."""
        (self.folder / "arena-server.toml").write_text(config)
        output = self.folder / "server.txt"
        last = "The pages are at .*\n" if (self.folder / "arena-server").exists() else "cannot be shown again; .*\n"
        with output.open("wb") as file:
            words = shlex.split(f"serve arena-server.toml --port {self.port} --web-port 0")
            self._server = subprocess.Popen(
                [*self._arena, *words], cwd=self.folder, env=self._environment, stdout=file, stderr=file
            )
        text = _until(output, last, 1, self._server)
        found = re.search(r"Listening on (\S+) port ([0-9]+)", text)
        assert found is not None
        self.port = int(found[2])
        text = output.read_text("utf-8").replace(f"{found[1]} port {found[2]}", f"{_ADDRESS} port {_PORT}")
        return re.sub(r"http://\S+/", f"http://{_ADDRESS}:{_WEB_PORT}/", text)

    def stop(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.send_signal(signal.SIGTERM)
            self._server.wait(_PATIENCE_S)
            self._server = None

    def run(self, text: str, until: str = "", count: int = 1) -> str:
        """Run a command of a page to its end, or until it has printed something so often, and then press Ctrl-C."""
        words = shlex.split(text)
        assert words[0] == "arena"
        for at, word in enumerate(words):
            if word in _SERVERS:
                words[at] = f"127.0.0.1:{self.port}"
            elif word.endswith(":TOKEN"):
                words[at] = (self.folder / "arena-token").read_text().strip().replace(" ", ":")
        output = self.folder / "output.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*self._arena, *words[1:]], cwd=self.folder, env=self._environment, stdout=file, stderr=file
            )
        try:
            if until:
                _until(output, until, count, process)
                process.send_signal(signal.SIGINT)
            code = process.wait(_PATIENCE_S)
        finally:
            process.kill()
            process.wait()
        printed = output.read_text("utf-8")
        assert code == (130 if until else 0), printed
        for login in re.findall(r"(?m)^\S+ \S{32}$", printed):
            # Of several users, the last one joins.
            (self.folder / "arena-token").write_text(f"{login}\n")
        address = next((word for word in _SERVERS if word in text), _SERVERS[1])
        return printed.replace(f"127.0.0.1:{self.port}", address)

    # ---- what the client sends and gets

    def conversation(self) -> tuple[str, str]:
        """What a client that brings a bot says and hears: on the connection of its login, and at a seat."""
        with self._connect() as (connection, lines):
            connection.sendall((self.folder / "arena-token").read_bytes())
            next(lines)
            said = [
                "JOIN bot=mine session=u9-2kd version=1 at-once=1 ladder=no game=kuhn",
                "CHALLENGE tag=first game=kuhn player=mine player=calling deals=100",
            ]
            heard: dict[str, str] = {}
            at_seat = ""
            connection.sendall("".join(f"{line}\n" for line in said).encode())
            for line in lines:
                verb = line.split()[1]
                heard.setdefault(verb, line)
                if verb == "SEAT":
                    at_seat = at_seat or self._play(line)
                    if heard["SEAT"] != line:
                        self._play(line)
                if verb == "CLOSED":
                    break
        joined, challenged, *rest = heard.values()
        return "\n".join([f"> {said[0]}", joined, f"> {said[1]}", challenged, *rest]) + "\n", at_seat

    def _play(self, offer: str) -> str:
        """Take a seat, and call until the match is over; returns how it begins."""
        secret = re.search(r"secret=(\S+)", offer)
        assert secret is not None
        session = PlayerSession(find_game("kuhn")[1])
        with self._connect() as (connection, lines):
            claim = f"SEAT secret={secret[1]} received=0"
            connection.sendall(f"{claim}\n".encode())
            begin = [f"> {claim}", next(lines), "> VERSION:2.0.0"]
            connection.sendall(session.send(Handshake()))
            for line in lines:
                begin += [line] if len(begin) == 3 else []
                session.receive_data(f"{line}\r\n".encode())
                while (event := session.next_event()) is not NEED_DATA and not isinstance(event, Closed):
                    if isinstance(event, ReceivedState) and event.is_my_turn:
                        connection.sendall(session.send(Reply(CALL)))
        return "\n".join(begin) + "\n"

    @contextlib.contextmanager
    def _connect(self) -> Iterator[tuple[socket.socket, Iterator[str]]]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=_PATIENCE_S) as connection:
            yield connection, (line.decode().rstrip("\r\n") for line in connection.makefile("rb"))


def _until(output: Path, pattern: str, count: int, process: subprocess.Popen[bytes]) -> str:
    """Wait until a program has printed something so often; returns all that it has printed."""
    until_s = time.monotonic() + _PATIENCE_S
    while len(re.findall(pattern, text := output.read_text("utf-8"))) < count:
        assert process.poll() is None, text
        assert time.monotonic() < until_s, text
        time.sleep(0.05)
    return text


def write(page: Path, name: str, text: str) -> None:
    """Put a text into a block of a page."""
    old = block(page, name)
    page.write_text(page.read_text("utf-8").replace(f"```text\n{old}```", f"```text\n{text}```"), "utf-8")


def main() -> None:
    """Run everything and write the pages."""
    with tempfile.TemporaryDirectory() as folder, Room(Path(folder)) as room:
        write(COURSE, "serve", room.serve(configuration(COURSE)))
        room.run("arena serve user ann")
        write(JOINING, "token", (room.folder / "arena-token").read_text())
        for page, name, until in (
            (COURSE, "ladder", _RESULT),
            (JOINING, "challenge", ""),
            (JOINING, "persistent", _RESULT),
        ):
            asked = command(page, name)
            write(page, name, f"$ {asked}\n{room.run(asked, until)}")
        requests, seat = room.conversation()
        write(JOINING, "requests", requests)
        write(JOINING, "seat", seat)


if __name__ == "__main__":
    main()
