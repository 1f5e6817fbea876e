"""Run the commands of the pages about a course as they are printed, and write their output into the pages.

    python research/serve/joining.py

The server has the configuration of `docs/course.md`; only addresses, ports and tokens differ from the pages. The output
of a command follows a comment with its name in the page. `tests/dealer/joining/test_pages.py` runs the same commands
and compares the lines, apart from their numbers. Cards are drawn, so the results differ each time.

"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from websockets.sync.client import connect

from engine import CALL
from protocol import NEED_DATA, Closed, Handshake, PlayerSession, ReceivedState, Reply, find_game

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
COURSE: Final = DOCS / "course.md"
JOINING: Final = DOCS / "join-a-server.md"
COMPETITION: Final = DOCS / "competition.md"
PROTOCOLS: Final = DOCS.parent / "research" / "tables" / "messages.md"
_ADDRESS, _PORT, _WEB_PORT = "192.0.2.10", 9540, 8080
"""Address and ports, as the pages print them."""
_SERVERS: Final = (f"SERVER:{_WEB_PORT}", f"127.0.0.1:{_WEB_PORT}")
_BLOCK: Final = r"(?s)<!-- {name} -->\n```text\n(.*?)```\n<!-- end -->"
_RESULT: Final = "all deals were played"
_PATIENCE_S: Final = 600.0


def configuration(page: Path, beginning: str = "") -> str:
    """Return the first file, or part of one, that a page prints and that begins with a text."""
    match = re.search(rf"(?s)```toml\n({re.escape(beginning)}.*?)```", page.read_text("utf-8"))
    assert match is not None
    return match[1]


def block(page: Path, name: str) -> str:
    """Return the block of a page behind a comment: a command with its output."""
    match = re.search(_BLOCK.format(name=name), page.read_text("utf-8"))
    assert match is not None, name
    return match[1]


def command(page: Path, name: str) -> str:
    """Return the command of a block."""
    return block(page, name).split("\n")[0].removeprefix("$ ")


class Room:
    """A folder with a server and with the bots that the pages name; use it in a ``with`` block.

    Attributes:
        folder: of the server and the clients.
        port: of the pages of the running server.
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
        """Start the server with a configuration; return its output."""
        (self.folder / "arena-server.toml").write_text(config)
        output = self.folder / "server.txt"
        last = "The pages are at .*\n" if (self.folder / "arena-server").exists() else "cannot be shown again; .*\n"
        with output.open("wb") as file:
            words = shlex.split(f"serve arena-server.toml --port 0 --web-port {self.port}")
            self._server = subprocess.Popen(
                [*self._arena, *words], cwd=self.folder, env=self._environment, stdout=file, stderr=file
            )
        text = _until(output, last, 1, self._server)
        match = re.search(r"Listening on (\S+) port ([0-9]+)", text)
        page = re.search(r"The pages are at http://[^:]+:([0-9]+)/", text)
        assert match is not None
        assert page is not None
        self.port = int(page[1])
        text = output.read_text("utf-8").replace(f"{match[1]} port {match[2]}", f"{_ADDRESS} port {_PORT}")
        return re.sub(r"http://\S+/", f"http://{_ADDRESS}:{_WEB_PORT}/", text)

    def stop(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.send_signal(signal.SIGTERM)
            self._server.wait(_PATIENCE_S)
            self._server = None

    def run(self, text: str, until: str = "", count: int = 1) -> str:
        """Run a command of a page to its end, or interrupt it once it has printed a text a number of times."""
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

    # ---- messages of the client

    def conversation(self) -> str:
        """Messages of a client with a bot until its first challenge is over, one of each kind.

        The client is written from the page alone, except for the bot itself.

        """
        token = (self.folder / "arena-token").read_text().split()[1]
        address = f"ws://127.0.0.1:{self.port}/api/v1/join"
        session, lines, heard = PlayerSession(find_game("kuhn")[1]), [], set()
        with connect(address, additional_headers={"Authorization": f"Bearer {token}"}) as server:

            def say(message: dict[str, object]) -> None:
                text = json.dumps(message)
                server.send(text)
                if ("> ", message["type"]) not in heard:
                    heard.add(("> ", message["type"]))
                    lines.append(f"> {text}")

            say({"type": "join", "bot": "mine", "session": "u9-2kd", "games": ["kuhn"]})
            for text in server:
                message = json.loads(text)
                kind = message["type"]
                key = kind + message.get("state", "")
                if key not in heard:
                    heard.add(key)
                    lines.append(str(text))
                if kind == "joined":
                    players = ["mine", "calling"]
                    say({"type": "challenge", "tag": "first", "game": "kuhn", "players": players, "deals": 100})
                elif kind == "offer":
                    session = PlayerSession(find_game("kuhn")[1])
                    say({"type": "text", "seat": message["seat"], "text": session.send(Handshake()).decode()})
                elif kind == "text":
                    session.receive_data(message["text"].encode())
                    while (event := session.next_event()) is not NEED_DATA and not isinstance(event, Closed):
                        if isinstance(event, ReceivedState) and event.is_my_turn:
                            reply = session.send(Reply(CALL)).decode()
                            say({"type": "text", "seat": message["seat"], "text": reply})
                elif key == "challenge_statedone":
                    break
        return "\n".join(lines) + "\n"


def _until(output: Path, pattern: str, count: int, process: subprocess.Popen[bytes]) -> str:
    """Wait until a program has printed a text a number of times; return its output."""
    until_s = time.monotonic() + _PATIENCE_S
    while len(re.findall(pattern, text := output.read_text("utf-8"))) < count:
        assert process.poll() is None, text
        assert time.monotonic() < until_s, text
        time.sleep(0.05)
    return text


def write(page: Path, name: str, text: str) -> None:
    """Write a text into a block of a page."""
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
            words = command(page, name)
            write(page, name, f"$ {words}\n{room.run(words, until)}")
        write(PROTOCOLS, "conversation", room.conversation())


if __name__ == "__main__":
    main()
