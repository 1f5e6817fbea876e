"""A course from its start: invited students, their bots, and an event on a server that is killed repeatedly.

    python research/serve/course.py FOLDER [STUDENTS] [KILLS]

writes a file of students, by default 30, and has `arena serve users` invite them. Each accepts the invitation on its
page. A third of them upload a bot, if bubblewrap is available to confine it; the others connect one with `arena join`.
An event between all bots is announced, which closes when all have entered, and the server is killed with SIGKILL, by
default ten times, while it is played. Joined bots reconnect by themselves. At the end the event is published, and every
contest must have been played once. FOLDER, which must not exist, keeps everything. The times go to
`measured-course.json` next to this script, and to `research/tables/benchmarks.md`.

"""

from __future__ import annotations

import csv
import http.cookiejar
import io
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Self

from dealer.server.db.store import DATABASE_NAME

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

PAGE: Final = APPENDIX / "benchmarks.md"
MEASURED: Final = Path(__file__).resolve().parent / "measured-course.json"
MINIMAL_BOT: Final = Path(__file__).resolve().parents[2] / "examples" / "minimal_bot.py"
ARENA: Final = (sys.executable, "-P", "-c", "import sys; from dealer.cli import main; sys.exit(main())")
JOINED: Final = ("calling", "raising", "random")
PASSWORD: Final = "a password of ours"
PATIENCE_S: Final = 3_600.0
_GAME: Final = '[[games]]\ngame = "kuhn"\nbots = ["calling", "raising"]\nmax_running = 2\n'
_DEALS: Final = 20
_OPENS_FOR_S: Final = 3_600
_CLOSES_IN_S: Final = 20
"""Time from the edit of an event to its close; commands take seconds to start while all bots connect."""


class Course:
    """A server and its students, in a folder of their own; use it in a ``with`` block.

    Attributes:
        names: of the students.
        tokens: by name.
        uploading: students whose bots the server runs.
    """

    def __init__(self, folder: Path, students: int, uploads: int) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.names = [f"student{number:02}" for number in range(students)]
        self.tokens: dict[str, str] = {}
        self.clients: list[subprocess.Popen[bytes]] = []
        section = "[uploads]\n" if uploads else ""
        (folder / "server.toml").write_text(f"port = 0\n[web]\nport = {self.port}\n{section}{_GAME}")
        (folder / "students.csv").write_text("\n".join(["name", *self.names, ""]))
        self.uploading = self.names[:uploads]
        self._began_s = time.monotonic()
        self.steps: list[tuple[float, str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the students' bots and the server."""
        for process in (*self.clients, self.server):
            process.terminate()
        for process in (*self.clients, self.server):
            process.wait()

    def write_steps(self, path: Path) -> dict[str, Any]:
        """Write the steps with their seconds to a JSON file, and return its value."""
        steps = [{"second": round(second), "step": text} for second, text in self.steps]
        measured = {"cores": os.cpu_count(), "steps": steps}
        path.write_text(json.dumps(measured, indent=1) + "\n", "utf-8")
        return measured

    def tell(self, text: str) -> None:
        """Print a completed step, and record its time."""
        passed_s = time.monotonic() - self._began_s
        self.steps.append((passed_s, text))
        print(f"{passed_s:6.0f} s  {text}", flush=True)

    def arena(self, *words: str) -> str:
        """Run a command that must succeed; return its output."""
        ended = subprocess.run([*ARENA, *words], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        if ended.returncode:
            raise SystemExit(f"arena {' '.join(words)} has ended with {ended.returncode}")
        return ended.stdout

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
        """End the server with SIGKILL, and start it again."""
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

    def schedule(self, command: tuple[str, ...], settings: str, closes_in_s: float) -> None:
        """Announce the event, or edit it, with settings in TOML and a closing time."""
        closes = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + closes_in_s))
        (self.folder / "event.toml").write_text(f'name = "final"\ngame = "kuhn"\n{settings}\ncloses = {closes}\n')
        self.arena("serve", "event", *command, "event.toml", "--data", "data")

    def await_event(self, is_so_far: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for the event to get so far; return it."""
        until = time.monotonic() + PATIENCE_S
        while not is_so_far(event := self.event()):
            if time.monotonic() > until:
                raise SystemExit(f"the event does not go on: {event}")
            time.sleep(0.2)
        return event

    def kill_after(self, contests: int) -> int:
        """Kill and restart the server after a number of contests; return the number completed."""
        ended: int = self.await_event(lambda event: event["contests_ended"] >= contests)["contests_ended"]
        self.kill()
        return ended

    def event(self) -> dict[str, Any]:
        """Fetch the event from the server."""
        with urllib.request.urlopen(f"{self.url}/api/v1/scheduled-events/final?limit=1") as answer:
            event: dict[str, Any] = json.load(answer)["event"]
        return event

    def check(self, deals: int, cancelled: int = 0) -> dict[str, Any]:
        """Check that every contest between entrants was played once, to its end, and is published.

        Args:
            cancelled: contests of bots that were disqualified.

        Returns:
            The published event, with standings and contests.
        """
        published: dict[str, Any] = json.loads((self.folder / "published" / "event.json").read_text("utf-8"))
        names = published["event"]["entrants"]
        pairs = sorted(map(sorted, combinations(names, 2)))
        counted = [contest for contest in published["contests"] if contest["state"] == "done"]
        if pairs != sorted(sorted(contest["players"]) for contest in counted):
            raise SystemExit(f"the published contests are not those of {names}, once each")
        unfinished = [contest for contest in counted if contest["run"]["state"] != "finished"]
        database = sqlite3.connect(self.folder / "data" / DATABASE_NAME)
        query = "SELECT count(*), sum(duplicates) FROM runs WHERE state = 'finished'"
        if unfinished or database.execute(query).fetchone() != (len(pairs), deals * len(pairs)):
            raise SystemExit(f"not all of {len(pairs)} contests were played once, with {deals} deals: {unfinished}")
        jobs = dict(database.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
        if jobs != {"done": len(pairs)} | ({"cancelled": cancelled} if cancelled else {}):
            raise SystemExit(f"of the contests there are {jobs}")
        return published


def table_of_steps(measured: dict[str, Any]) -> str:
    """Make the table of steps, in Markdown."""
    rows = [f"| {step['second']} | {step['step']} |\n" for step in measured["steps"]]
    return "".join(("| second | step |\n| ---: | --- |\n", *rows))


def with_tables(page: str, measured: dict[str, Any]) -> str:
    """Return the page with the steps of the course."""
    return with_blocks(page, {"course": table_of_steps(measured)})


def main(folder: Path, students: int = 30, kills: int = 10) -> None:
    """Run the course, print its times and write them."""
    uploads = students // 3 if shutil.which("bwrap") else 0
    course = Course(folder, students, uploads)
    course.arena("serve", "users", "students.csv", "--data", "data", "--address", course.url, "--out", "links.csv")
    course.serve()
    with course:
        course.tell(f"{students} students are invited, and the server has started")
        course.accept_invitations()
        course.tell("all have accepted their invitations")
        course.upload()
        course.tell(f"{uploads} bots are uploaded and accepted")
        course.join()
        course.schedule(("new",), f"deals = {_DEALS}", _OPENS_FOR_S)
        bots = len(course.await_event(lambda event: len(event["entrants"]) >= students)["entrants"])
        course.tell(f"{students - uploads} bots have joined, and {bots} have entered the event")
        course.schedule(("edit", "final"), f"deals = {_DEALS}", _CLOSES_IN_S)
        contests = course.await_event(lambda event: event["contests"] > 0)["contests"]
        course.tell(f"the event has closed, with {contests} contests")
        for kill in range(1, kills + 1):
            course.kill_after(contests * kill // (kills + 1))
        course.tell(f"the server was killed {kills} times and has started again")
        course.await_event(lambda event: event["state"] == "finished")
        course.tell("all contests have ended")
        course.arena("serve", "event", "publish", "final", "published", "--data", "data")
        course.check(_DEALS)
        course.tell("the event is published, with every contest once")
    measured = course.write_steps(MEASURED)
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), measured), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), *map(int, sys.argv[2:]))
