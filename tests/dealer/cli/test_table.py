"""``arena table``: sessions of a person by a pipe and in a terminal, ends and resumed sessions."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dealer import play
from logs.hand_source import find
from tests.dealer.cli.conftest import Arena, CommandResult, run_here
from tests.dealer.helpers import (
    ARENA,
    CONNECT,
    CONTROL_CODES,
    PATIENCE_S,
    ROOT,
    enter_program_env,
    program_env,
    write_program,
)
from tests.programs import start

unix_only = pytest.mark.skipif(os.name == "nt", reason="a pseudo-terminal and signals of Unix")

TableSession = Callable[..., CommandResult]


@pytest.fixture
def sit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TableSession:
    """Function that runs a command in this process with these lines as its input."""
    enter_program_env(tmp_path, monkeypatch)

    def run(*arguments: str, entries: str = "") -> CommandResult:
        typed = "".join(f"{entry}\n" for entry in entries.split(","))
        completed = run_here(arguments, typed)
        assert not CONTROL_CODES.search((completed.out + completed.err).encode())
        return completed

    return run


def read_result(run: Path) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
    return stored


def read_faults(run: Path) -> list[dict[str, int]]:
    return [player["faults"] for player in read_result(run)["players"]]


KUHN = ("table", "kuhn", "calling", "--seed", "5")


def test_bankroll_carries_over_until_somebody_is_broke(sit: TableSession, tmp_path: Path) -> None:
    entries = ",".join(["c", ""] * 100)
    completed = sit("table", "limit", "raising", "--bankroll", "100", "--seed", "3", "--out", "run", entries=entries)
    assert (completed.code, completed.err) == (0, "")
    assert re.search(
        r"(hero|raising) is broke after \d+ hands?\. Chips: hero (200|0), raising (200|0)\.", completed.out
    )
    assert completed.out.endswith("Seed 3. Hands are in run\n")
    records = list(find([tmp_path / "run"]).hands())
    assert records[0].game.stacks == (10_000, 10_000), "in cents"
    assert records


def test_bankroll_needs_built_in_bots_and_this_terminal(sit: TableSession) -> None:
    completed = sit("table", "limit", "tcp", "--bankroll", "100")
    assert (completed.code, completed.err) == (2, "arena: --bankroll plays with built-in bots, and 'tcp' is none\n")
    completed = sit("table", "--bankroll", "100", "--pause", "1")
    assert completed.code == 2
    assert "leave out --browser, --host, --on-fault, --pause, --resume and --show-all" in completed.err


def test_match_is_played_to_its_end(sit: TableSession, tmp_path: Path) -> None:
    completed = sit(*KUHN, "-n", "3", "--out", "run", "--name", "Ann", entries="c,,r,,r,")
    assert (completed.code, completed.err) == (0, "")
    assert completed.out.startswith("Limit with a deck of 3 cards, bets 1, 2 players, blinds 1/1. You are Ann;")
    assert completed.out.count("You have") == 3
    assert completed.out.count("Enter next hand") == 2
    assert completed.out.count("Enter end the match") == 1
    assert "Go on with" not in completed.out
    assert completed.out.endswith("Seed 5. Files are in run\n")
    records = list(find([tmp_path / "run"]).hands())
    assert [record.names_by_seat for record in records] == [("Ann", "calling")] * 3
    result = read_result(tmp_path / "run")
    assert (result["outcome"], result["hands_played"]) == ("finished", 3)
    assert read_faults(tmp_path / "run") == [{}, {}]
    again = sit("resume", "run")
    assert (again.code, again.err) == (0, "")
    assert again.out.endswith("run has finished; 'arena resume run -n DEALS' plays more deals.\n")
    log = tmp_path / "run" / "match.log"
    log.write_text(log.read_text("ascii").replace("STATE:0:", "STATE:7:"), "ascii")
    for command in (("resume", "run"), ("table", "--resume", "run")):
        refusal = sit(*command)
        assert (refusal.code, refusal.out) == (2, "")
        assert refusal.err.startswith("arena: run/match.log, line ")


@pytest.mark.parametrize("last", ["q", "zz"])
def test_leaving_after_the_last_hand_finishes_the_match(sit: TableSession, tmp_path: Path, last: str) -> None:
    completed = sit(*KUHN, "-n", "1", "--out", "run", entries=f"c,{last}")
    assert completed.code == 0
    assert ("'zz' is not clear after a hand. Enter ends the match, q leaves." in completed.out) == (last == "zz")
    assert read_result(tmp_path / "run")["outcome"] == "finished"


def test_resumed_match_equals_an_uninterrupted_one(sit: TableSession, tmp_path: Path) -> None:
    entries = ["c", "", "r", "", "r", "", "c", ""]
    whole = sit(*KUHN, "-n", "4", "--out", "whole", entries=",".join(entries))
    assert whole.code == 0
    first = sit(*KUHN, "-n", "4", "--out", "parts", entries="c,,r,,q")
    assert (first.code, first.err) == (0, "")
    assert first.out.endswith("Resume with: arena resume parts\n")
    assert read_result(tmp_path / "parts")["outcome"] == "interrupted"
    assert read_faults(tmp_path / "parts") == [{}, {}]
    again = sit("resume", "parts", entries="")
    assert again.code == 0
    assert "Hand 2" in again.out
    assert "after 2 hands" in again.out
    last = sit("table", "--resume", "parts", "--show-all", entries="s,s 0,s 2,w,r,,c,")
    assert last.code == 0
    assert "\nHand 1 again\n" in last.out
    assert "\nHand 0 again\n" in last.out
    assert "There is no finished hand 2." in last.out
    assert (tmp_path / "parts" / "match.log").read_bytes() == (tmp_path / "whole" / "match.log").read_bytes()
    assert (
        read_result(tmp_path / "parts")["players"][0]["chips"] == read_result(tmp_path / "whole")["players"][0]["chips"]
    )
    assert read_faults(tmp_path / "parts") == [{}, {}]


def test_run_of_a_table_is_read_by_other_commands(sit: TableSession, tmp_path: Path) -> None:
    assert (
        sit(
            "table",
            "limit",
            "rh",
            "--seed",
            "3",
            "-n",
            "3",
            "--out",
            "run",
            "--pause",
            "0",
            entries=",".join("c" * 14),
        ).code
        == 0
    )
    for command in ("stats", "hands"):
        completed = sit(command, "run", *(["--hand", "0"] if command == "hands" else []))
        assert completed.code == 0, command
    assert "rh: " in completed.out
    assert sit("export", "run", "--format", "phh", "--out", "out").code == 0
    assert list((tmp_path / "run" / "pokerstars").iterdir())
    assert "Dealt to hero [" in next((tmp_path / "run" / "pokerstars").iterdir()).read_text("utf-8")
    written = (tmp_path / "run" / "run.toml").read_text("utf-8")
    assert 'command = "table"' in written
    assert '"rh=rh?explain=true"' in written
    completed = sit("play", "--config", "run/run.toml")
    assert completed.code == 2
    assert "is for 'arena table', not for 'arena play'" in completed.err


def test_unclear_entries_play_no_action(sit: TableSession, tmp_path: Path) -> None:
    entries = ",".join(["zz", "f", "9", "", "r 2000000000000000000", "?", "t", "w", "s", "s x", "h", "q x"])
    completed = sit(*KUHN, "--out", "run", entries=entries)
    assert completed.code == 0
    assert "'zz' is not clear. Enter c to check or r to raise to 2." in completed.out
    assert "There is no bet to fold to. Enter c to check" in completed.out
    assert "9 is" in completed.out
    assert read_result(tmp_path / "run")["hands_played"] == 0
    assert read_faults(tmp_path / "run") == [{}, {}]


def test_finished_hand_is_shown_with_reasons_and_all_cards(sit: TableSession) -> None:
    completed = sit("table", "limit", "rh", "--seed", "4", "--show-all", entries="s,r,f,s,q")
    assert completed.code == 0
    hand, heading, _ = completed.out.partition("\nHand 0 again\n")
    assert heading
    assert re.search(r"\n      rh: preflop", completed.out)
    assert "rh: preflop" not in hand
    assert re.search(r"\n  rh: \S\S \S\S\n", hand)


def test_guide_has_the_output_of_a_hand(sit: TableSession) -> None:
    guide = (ROOT / "docs" / "play-yourself.md").read_text("utf-8")
    example = guide.partition("```text\n")[2].partition("```")[0]
    completed = sit("table", "limit", "mfs", "--seed", "6", entries="r,r,s,q")
    assert completed.out.startswith(example)


def test_one_bot_takes_all_other_seats(sit: TableSession, tmp_path: Path) -> None:
    completed = sit("table", "kuhn3", "calling", "--seed", "1", "--out", "run", entries="c,,q")
    assert completed.code == 0
    (record, *_) = find([tmp_path / "run"]).hands()
    assert record.names_by_seat == ("hero", "calling", "calling#2")
    assert re.search(r"\nChips: hero [+-]\d, calling [+-]\d, calling#2 [+-]\d\.\n", completed.out)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["kuhn", "nobody"], r"'nobody' is neither a built-in bot"),
        (["kuhn", "leduc"], r"a match at a table has one game"),
        (["kuhn", "calling", "random"], r"kuhn needs 1 bot besides you, or one for all seats; 2 given"),
        (["kuhn", "mfs"], r"mfs does not play kuhn"),
        (["--name", "a b"], r"--name: 'a b' cannot be a name: a name has at most 64"),
        (["kuhn", "--resume", "nothing"], r"--resume continues a match as it was"),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, arguments: list[str], sentence: str) -> None:
    completed = arena_here("table", *arguments)
    assert completed.code == 2
    assert re.match(f"arena: .*{sentence}", completed.err.replace("\n", " "))
    assert completed.out == ""


def test_run_of_play_is_not_resumed_at_a_table(arena_here: Arena, tmp_path: Path) -> None:
    play("kuhn", ["random", "calling"], deals=1, in_process=True, out=tmp_path / "run")
    completed = arena_here("table", "--resume", "run")
    assert completed.code == 2
    assert "is not a match at a table" in completed.err


def test_table_is_not_resumed_with_options_of_programs(sit: TableSession) -> None:
    sit(*KUHN, "--out", "run", entries="q")
    completed = sit("resume", "run", "--json")
    assert completed.code == 2
    assert "leave out --scheduler, --quiet, --json, --junit and --verbose" in completed.err


def test_crashed_bot_is_started_again(sit: TableSession, tmp_path: Path) -> None:
    dies_once = write_program(
        tmp_path,
        "dies.py",
        CONNECT
        + """
hello()
once = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "died")
for line in f:
    asked = line.split(b":")[3:5] and line.decode().split(":")
    position, betting = int(asked[1]), asked[3]
    if (position == 0 and betting in ("", "cr")) or (position == 1 and betting in ("c", "r")):
        if not os.path.exists(once):
            open(once, "w").close()
            sys.exit(3)
        call(line)
""",
    )
    completed = sit("table", "kuhn", f"dies={dies_once}", "--seed", "5", "--out", "run", "-n", "2", entries="c,,c,")
    assert completed.code == 0
    assert re.search(r"dies: crash in hand 0, started again\.", completed.out)
    assert read_result(tmp_path / "run")["outcome"] == "finished"
    assert read_faults(tmp_path / "run") == [{}, {"crash": 1}]


def test_bot_that_cannot_start_ends_the_match(sit: TableSession, tmp_path: Path) -> None:
    broken = write_program(tmp_path, "broken.py", "import sys\nsys.exit('no')\n")
    completed = sit("table", "kuhn", f"broken={broken}", "--on-fault", "end", "--out", "run")
    assert completed.code == 1
    assert "broken ended before it connected" in completed.out
    assert "arena resume run" in completed.out


def test_ascii_terminal_has_no_suits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_program_env(tmp_path, monkeypatch)
    completed = run_here([*KUHN, "--out", "run"], b"c\n\xff\n", "ascii")
    assert completed.code == 0
    assert "\n  K  round 1, pot 2\n" in completed.out
    assert "'?' is not clear" in completed.out


# ---- terminals, and signals


OPEN_TERMINAL = """
import os
os.setsid()
terminal = os.open(os.environ.pop("TEST_TERMINAL"), os.O_RDWR)
for descriptor in range(3):
    os.dup2(terminal, descriptor)
os.close(terminal)
"""
"""Program that starts a session with its first terminal as controlling terminal, so that Ctrl-C sends a signal."""


class Screen:
    """Table session in a pseudo-terminal."""

    def __init__(self, folder: Path, *arguments: str, columns: int = 80, **env: str) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._fd, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        environment = program_env(TERM="xterm", TEST_TERMINAL=os.ttyname(child), **env)
        for name in ("COLUMNS", "TERMINAL_WIDTH"):
            environment.pop(name)
        command = [*ARENA[:-1], OPEN_TERMINAL + ARENA[-1], *arguments]
        self.process = start(command, cwd=folder, env=environment)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.read()  # ends when the terminal has taken the place of the pipes
            stream.close()
        os.close(child)

    def prompt(self) -> bytes:
        """Read to the next prompt."""
        return self.until(lambda data: re.search(rb"\n(\x1b\[1m)?> (\x1b\[0m)?$", data) is not None)

    def rest(self) -> bytes:
        """Read to the end of the output."""
        return self.until(lambda data: False)

    def type(self, data: bytes) -> None:
        os.write(self._fd, data)

    def resize(self, columns: int) -> None:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    def until(self, is_enough: Callable[[bytes], bool]) -> bytes:
        """Read until the condition is true for the text so far."""
        data, until_s = b"", time.monotonic() + PATIENCE_S
        while not is_enough(data) and time.monotonic() < until_s:
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    more = os.read(self._fd, 1 << 16)
                except OSError:
                    break
                if not more:
                    break
                data += more
        return data.replace(b"\r\n", b"\n")

    def end(self) -> int:
        """Wait for the exit and return the exit code."""
        code = self.process.wait(PATIENCE_S)
        os.close(self._fd)
        return code


@contextlib.contextmanager
def screen(folder: Path, *arguments: str, **options: Any) -> Iterator[Screen]:
    session = Screen(folder, *arguments, **options)
    try:
        yield session
    finally:
        session.process.kill()
        session.process.wait()


@unix_only
def test_ctrl_c_leaves_the_hand_for_later(tmp_path: Path) -> None:
    with screen(tmp_path, *KUHN, "--out", "run", columns=60) as first:
        assert b"\x1b[1m" in first.prompt()
        first.type(b"c\n")
        first.prompt()
        first.type(b"\n")
        screen_text = first.prompt()
        assert b"Hand 1" in screen_text
        assert max(map(len, screen_text.decode().splitlines())) <= 60 + len("\x1b[1m\x1b[0m")
        first.resize(40)
        first.type(b"t\n")
        assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in first.prompt().decode().splitlines()) <= 40
        first.type(b"\x03")
        assert b"Resume with: arena resume run" in first.rest()
        assert first.end() == 130
    assert read_faults(tmp_path / "run") == [{}, {}]
    with screen(tmp_path, "resume", "run", NO_COLOR="1") as second:
        again = second.prompt()
        assert b"Hand 1" in again
        assert b"\x1b[" not in again.replace(b"\x1b[1m", b"").replace(b"\x1b[0m", b"").replace(b"\x1b[2m", b"")
        second.type(b"r\n")
        second.prompt()
        second.type(b"\x04")
        assert b"Resume with" in second.rest()
        assert second.end() == 0
    assert [record.hand_number for record in find([tmp_path / "run"]).hands()] == [0, 1]
    assert read_faults(tmp_path / "run") == [{}, {}]


@pytest.mark.slow
@unix_only
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signal_interrupts_the_hand(tmp_path: Path, number: str) -> None:
    # A test runner under nohup hands on that SIGHUP is ignored, and then the table ignores it, as it should.
    before = signal.signal(getattr(signal, number), signal.SIG_DFL)
    try:
        with screen(tmp_path, *KUHN, "--out", "run") as table_session:
            table_session.prompt()
            signal.signal(getattr(signal, number), before)
            table_session.process.send_signal(getattr(signal, number))
            table_session.rest()
            assert table_session.end() == 130
    finally:
        signal.signal(getattr(signal, number), before)
    assert read_result(tmp_path / "run")["outcome"] == "interrupted"
    assert read_faults(tmp_path / "run") == [{}, {}]


def test_table_is_played_and_left_in_a_browser(tmp_path: Path) -> None:
    words = ("table", "kuhn", "calling", "--seed", "5", "-n", "9", "--browser", "--out", "run")
    process = start([*ARENA, *words], cwd=tmp_path, env=program_env())
    try:
        assert process.stdout is not None
        output = ""
        while not (match := re.search(r"http://127\.0\.0\.1:\d+/play/\S+", output)):
            line = process.stdout.readline().decode()
            assert line, output
            output += line
        address = match[0]
        with httpx2.Client(timeout=PATIENCE_S) as browser:
            page = browser.get(address).text
            fields = dict(re.findall('name="(form_key|moment)" value="([^"]*)"', page))
            assert browser.post(address, data=fields | {"entry": "c"}).status_code == 303
            # The address is the key of the table.
            other = address.rpartition("/")[0]
            assert [browser.get(path).status_code for path in (other, f"{other}/1")] == [404, 404]
            response = browser.post(f"{address}/leave", data={"form_key": fields["form_key"]})
            assert "You have left the table" in response.text
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert (process.wait(), err) == (0, b"")
    rest = out.decode()
    assert "after 1 hand of kuhn" in " ".join(rest.split())
    assert "Resume with: arena resume run" in rest
    assert read_result(tmp_path / "run")["outcome"] == "interrupted"
    assert read_faults(tmp_path / "run") == [{}, {}]


@unix_only
def test_slow_browser_delays_no_page(tmp_path: Path) -> None:
    fetching = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=20).read().decode())"
    browser = write_program(tmp_path, "browser.py", fetching)
    with screen(tmp_path, *KUHN, "--browser", "--out", "run", BROWSER=f"{browser} %s") as table_session:
        assert b"</html>" in table_session.until(lambda data: b"</html>" in data or b"Error" in data)
        table_session.type(b"\x03")
        assert b"Resume with: arena resume run" in table_session.rest()


def test_busy_port_of_the_page_is_refused(arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        completed = arena_here("table", "kuhn", "--browser", "--port", str(server.getsockname()[1]))
    assert (completed.code, completed.err.count("\n")) == (2, 1)
    assert "in use" in completed.err
