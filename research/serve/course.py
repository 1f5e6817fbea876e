"""A course from nothing: students who are invited, their bots, and one event on a server that is killed on its way.

    python research/serve/course.py FOLDER [STUDENTS] [KILLS]

writes a file of students, by default 30, and has `arena serve users` invite them. Each accepts the invitation on its
page. A third of them upload a bot, as long as there is a bubblewrap to confine it; the others connect one with
`arena join`. An event between all bots is announced, and the server is killed with SIGKILL, by default ten times, while
it is played. Joined bots come again by themselves. At the end it is published, and every contest must have been played
once. FOLDER, which must not exist, keeps everything.
"""

from __future__ import annotations

import csv
import http.cookiejar
import io
import json
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import zipfile
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from dealer.server.db.store import DATABASE_NAME

MINIMAL_BOT: Final = Path(__file__).resolve().parents[2] / "examples" / "minimal_bot.py"
ARENA: Final = (sys.executable, "-P", "-c", "import sys; from dealer.cli import main; sys.exit(main())")
JOINED: Final = ("calling", "raising", "random")
PASSWORD: Final = "a password of ours"
PATIENCE_S: Final = 3_600.0
_OPENS_FOR_S: Final = 15


class Course:
    """A server and its students, in a folder of their own."""

    def __init__(self, folder: Path, students: int) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.names = [f"student{number:02}" for number in range(students)]
        self.tokens: dict[str, str] = {}
        self.clients: list[subprocess.Popen[bytes]] = []
        uploads = "[uploads]\n" if shutil.which("bwrap") else ""
        (folder / "server.toml").write_text(
            f'port = 0\n[web]\nport = {self.port}\n{uploads}[[games]]\ngame = "kuhn"\ndeals = 20\nmax_running = 2\n'
        )
        (folder / "students.csv").write_text("\n".join(["name", *self.names, ""]))
        self.uploading = self.names[: students // 3] if uploads else []

    def arena(self, *words: str) -> str:
        """Run a command that must succeed; return its output."""
        return subprocess.run([*ARENA, *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def serve(self) -> None:
        """Start the server, and wait until it answers."""
        with (self.folder / "server.log").open("ab") as log:
            command = [*ARENA, "serve", "server.toml", "--data", "data"]
            self.server = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/healthz").close()
                return
            except OSError:
                if self.server.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def kill(self) -> None:
        """End the server without a word, and start it again."""
        self.server.kill()
        self.server.wait()
        self.serve()

    def accept_invitations(self) -> None:
        with (self.folder / "links.csv").open(newline="") as file:
            links = {row["login"]: row["link"] for row in csv.DictReader(file)}
        for name, link in links.items():
            cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
            browser = urllib.request.build_opener(cookies)
            form = browser.open(link).read().decode()
            sent = dict(re.findall(r'<input type="hidden" name="([^"]+)"[^>]* value="([^"]*)"', form))
            sent |= {"new": PASSWORD, "again": PASSWORD}
            welcome = browser.open(link, urllib.parse.urlencode(sent).encode()).read().decode()
            (token,) = re.findall(r"<pre[^>]*>([^<]+)</pre>", welcome)
            self.tokens[name] = token.strip()

    def upload(self) -> None:
        """Upload the bots, and wait until all are accepted."""
        numbers = {}
        for name in self.uploading:
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr(
                    "bot.toml",
                    f'name = "{name}-up"\ncommand = "python bot.py"\nlanguage = "Python"\ngames = ["kuhn"]\n',
                )
                archive.write(MINIMAL_BOT, "bot.py")
            numbers[name] = self._call(name, "uploads", packed.getvalue())["id"]
        for name, number in numbers.items():
            while (state := self._call(name, f"uploads/{number}")["upload"]["state"]) == "waiting":
                time.sleep(1)
            if state != "accepted":
                raise SystemExit(f"the bot of {name} is {state}")

    def _call(self, name: str, path: str, data: bytes | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/api/v1/{path}", data, headers)) as answer:
            return json.load(answer)

    def join(self) -> None:
        """Connect a bot of every student who has uploaded none."""
        for number, name in enumerate(self.names[len(self.uploading) :]):
            words = ["join", self.url, JOINED[number % len(JOINED)], "--name", f"{name}-joined", "--games", "kuhn"]
            command = [*ARENA, *words, "--token", self.tokens[name], "--out", f"joined/{name}"]
            with (self.folder / f"{name}.log").open("wb") as log:
                self.clients.append(subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log))

    def play_event(self, kills: int) -> None:
        """Announce an event and wait for its end; the server is killed some times until then."""
        closes = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + _OPENS_FOR_S))
        (self.folder / "event.toml").write_text(f'name = "final"\ngame = "kuhn"\ndeals = 20\ncloses = {closes}\n')
        self.arena("serve", "event", "new", "event.toml", "--data", "data")
        chance = random.Random(1)
        for _ in range(kills):
            time.sleep(chance.uniform(2, 8))
            self.kill()
        while self.event()["state"] != "finished":
            time.sleep(5)

    def event(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.arena("serve", "event", "show", "final", "--data", "data", "--json"))
        return found["event"]

    def end(self) -> None:
        """Have all leave."""
        for process in (*self.clients, self.server):
            process.send_signal(signal.SIGINT)
            process.wait()

    def check(self) -> str:
        """Every contest was played once, to its end."""
        entrants = self.event()["entrants"]
        pairs = len(list(combinations(entrants, 2)))
        database = sqlite3.connect(self.folder / "data" / DATABASE_NAME)
        played = database.execute("SELECT state, count(*), sum(duplicates) FROM runs GROUP BY state").fetchall()
        asked = database.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall()
        if (played, asked) != ([("finished", pairs, 20 * pairs)], [("done", pairs)]):
            raise SystemExit(f"{pairs} pairs were to be played, but of runs there are {played}, of jobs {asked}")
        return f"{len(entrants)} bots, {pairs} contests, each played once"


def main(folder: Path, students: int = 30, kills: int = 10) -> None:
    began = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", flush=True)

    course = Course(folder, students)
    course.arena("serve", "users", "students.csv", "--data", "data", "--address", course.url, "--out", "links.csv")
    course.serve()
    course.accept_invitations()
    tell(f"{len(course.tokens)} students have accepted their invitations")
    course.upload()
    course.join()
    tell(f"{len(course.uploading)} bots are uploaded and accepted, {len(course.clients)} connect")
    course.play_event(kills)
    tell(f"the event is finished; the server was killed {kills} times")
    course.arena("serve", "event", "publish", "final", "published", "--data", "data")
    course.end()
    tell(course.check())


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), *map(int, sys.argv[2:]))
