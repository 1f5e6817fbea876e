"""Programs of people whom we do not trust: what they try from their box, and what becomes of it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from pathlib import Path

import psutil
import pytest

from dealer.table import bubblewrap
from dealer.table.bubblewrap import Box, has_scopes
from dealer.table.launcher import BotProcess
from dealer.table.players import Player, PlayerKind
from tests.dealer.helpers import PATIENCE_S
from tests.programs import KUHN

REFUSAL = Box("/", 500, 10, 20, 20).refusal()
TEMPORARY = bubblewrap._TEMPORARY_FOLDER
confined = pytest.mark.skipif(REFUSAL is not None, reason="" if REFUSAL is None else REFUSAL.problem)


def started(folder: Path, code: str, port: int = 1) -> BotProcess:
    """A bot of this code in a box; its folder is ``bot``, in a folder with what is not its own."""
    bot = folder / "bot"
    bot.mkdir()
    (bot / "bot.py").write_text(code)
    (folder / "server.sqlite3").write_text("secret")
    (bot / "link").symlink_to(folder / "server.sqlite3")
    box = Box(str(bot), memory_mb=500, cpu_s=2, processes=8, disk_mb=5)
    player = Player("bot", "bot", PlayerKind.COMMAND, ("python", "bot.py"), confinement=box)
    return BotProcess(player, host="127.0.0.1", port=port, game=KUHN, seed=None, output_path=folder / "output")


def said_by(folder: Path, code: str) -> str:
    process = started(folder, code)
    assert process.wait(PATIENCE_S) == 0, process.last_lines()
    return (folder / "output").read_text().strip()


def are_there(word: str) -> bool:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            found.append(word in process.cmdline())
    return any(found)


def gone(word: str) -> bool:
    until = time.monotonic() + PATIENCE_S
    while are_there(word) and time.monotonic() < until:
        time.sleep(0.02)
    return not are_there(word)


# ---- what it is refused for
def test_without_the_program_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = Box(str(tmp_path), 1, 1, 1, 1)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(bubblewrap.sys, "platform", "linux")  # type: ignore[attr-defined]
    refusal = box.refusal()
    assert refusal is not None
    assert refusal.problem == "uploaded bots run in bubblewrap, which is not installed"
    assert "apt install bubblewrap" in refusal.remedy
    monkeypatch.setattr(bubblewrap.sys, "platform", "win32")  # type: ignore[attr-defined]
    assert box.refusal() == ("uploaded bots run in bubblewrap, which needs Linux", "remove the section [uploads]")


@pytest.mark.skipif(sys.platform != "linux", reason="the box is Linux's")
def test_a_system_that_allows_no_box_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    refusal = Box(str(tmp_path), 1, 1, 1, 1).refusal()
    assert refusal is not None
    assert refusal.problem.endswith("fails on this system: bwrap: No permissions to create new namespace")


@pytest.mark.skipif(sys.platform != "linux", reason="the box is Linux's")
@pytest.mark.parametrize("code", [0, 1])
def test_systemd_bounds_the_whole_box(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "systemd-run"
    program.write_text(f"#!/bin/sh\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    has_scopes.cache_clear()
    command = Box("/", memory_mb=500, cpu_s=2, processes=8, disk_mb=5).command(["true", "127.0.0.1", "1"])
    has_scopes.cache_clear()
    words = command[: command.index(sys.executable)]
    assert (words[:1] == ["systemd-run"]) == (code == 0)
    assert {"MemoryMax=500M", "MemorySwapMax=0", "CPUQuota=100%"} <= set(words) or code


@pytest.mark.skipif(sys.platform != "linux", reason="the box is Linux's")
def test_a_box_that_hangs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexec sleep 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(bubblewrap, "_TRIAL_S", 0.2)
    refusal = Box(str(tmp_path), 1, 1, 1, 1).refusal()
    assert refusal is not None
    assert refusal.problem.endswith("fails on this system: it has not ended after 0.2 s")


# ---- the connection
@confined
def test_an_unchanged_bot_reaches_the_dealer_and_only_it(tmp_path: Path) -> None:
    code = """
import os, socket, sys
assert os.environ["ARENA_GAME_NAME"] == "kuhn" and "GAMEDEF" in open(os.environ["ARENA_GAME"]).read()
for _ in range(2):
    with socket.create_connection((sys.argv[-2], int(sys.argv[-1]))) as dealer:
        dealer.sendall(b"VERSION:2.0.0\\r\\n")
        while line := dealer.recv(100):
            dealer.sendall(line.upper())
sys.exit(7)
"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        process = started(tmp_path, code, listener.getsockname()[1])
        for _ in range(2):
            with listener.accept()[0] as bot:
                bot.settimeout(PATIENCE_S)
                assert bot.recv(100) == b"VERSION:2.0.0\r\n"
                bot.sendall(b"question")
                assert bot.recv(100) == b"QUESTION"
                bot.shutdown(socket.SHUT_WR)
                assert bot.recv(100) == b"", "it sees the end, and closes as well"
        assert process.wait(PATIENCE_S) == 7, process.last_lines()


@confined
def test_last_output_arrives(tmp_path: Path) -> None:
    code = """
import os, socket, sys
dealer = socket.create_connection((sys.argv[-2], int(sys.argv[-1])))
dealer.sendall(b"x" * 100_000)
os._exit(0)
"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        process = started(tmp_path, code, listener.getsockname()[1])
        with listener.accept()[0] as bot:
            bot.settimeout(PATIENCE_S)
            count = 0
            while data := bot.recv(1 << 16):
                count += len(data)
        assert count == 100_000
        assert process.wait(PATIENCE_S) == 0


@confined
def test_missing_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bot").mkdir()
    box = Box(str(tmp_path / "bot"), memory_mb=500, cpu_s=2, processes=8, disk_mb=5)
    player = Player("bot", "bot", PlayerKind.COMMAND, ("./missing",), confinement=box)
    process = BotProcess(player, host="127.0.0.1", port=1, game=KUHN, seed=None, output_path=tmp_path / "output")
    assert process.wait(PATIENCE_S) == 126
    assert process.last_lines() == ["./missing cannot be started: No such file or directory"]


# ---- attacks
@confined
def test_it_reaches_no_network(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        code = f"""
import socket
for address in (("127.0.0.1", {other.getsockname()[1]}), ("192.0.2.1", 80), ("8.8.8.8", 53)):
    try:
        print("reached", socket.create_connection(address, 1))
    except OSError as error:
        print(error.strerror)
print(socket.if_nameindex())
"""
        said = said_by(tmp_path, code)
    assert said.splitlines() == [
        "Connection refused",
        "Network is unreachable",
        "Network is unreachable",
        "[(1, 'lo')]",
    ]


@confined
def test_it_reads_no_file_but_its_own(tmp_path: Path) -> None:
    """Not the server's database, nor bots beside it, through a link, an open file or another process."""
    keys = str(Path.home() / ".ssh")
    code = f"""
import os
for path in ({str(tmp_path)!r}, {keys!r}, "link", "/etc/passwd", "/etc/shadow", "/home", "/var", "/run", "/sys"):
    print(path, os.path.exists(path)) if os.path.exists(path) else None
print(sorted(os.listdir("/bot")))
for process in filter(str.isdigit, os.listdir("/proc")):
    try:
        found = [os.readlink(f"/proc/{{process}}/fd/{{one}}") for one in os.listdir(f"/proc/{{process}}/fd")]
    except OSError:
        continue
    for one in found:
        if one not in ("/dev/null", {str(tmp_path / "output")!r}) and not one.startswith(("anon_inode", "/proc/")):
            print("open:", one)
"""
    assert said_by(tmp_path, code) == "['bot.py', 'link']"


@confined
def test_it_sees_no_variable_and_no_process_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_TOKEN", "7f3a9c")
    code = """
import os
for process in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
        try:
            print("found") if b"7f3a9c" in open(f"/proc/{process}/{name}", "rb").read() else None
        except PermissionError:
            pass
print(sorted(set(os.environ) - {"PWD", "LC_CTYPE"}))
print(len([name for name in os.listdir("/proc") if name.isdigit()]))
"""
    names = ["ARENA_GAME", "ARENA_GAME_NAME", "HOME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"]
    assert said_by(tmp_path, code) == f"{names}\n2"


@confined
def test_it_has_no_rights(tmp_path: Path) -> None:
    code = """
import os
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(os.getuid() > 0, os.getgroups() in ([], [os.getgid()]), status["CapEff"], status["CapPrm"])
print(status["NoNewPrivs"])
for change in (os.setuid, os.setgid):
    try:
        change(0)
        print("is root")
    except OSError as error:
        print(error.strerror)
"""
    said = said_by(tmp_path, code).splitlines()
    assert said[0] == (f"True True {'0' * 16} {'0' * 16}")
    assert said[1] == "1"
    assert set(said[2:]) <= {"Operation not permitted", "Invalid argument"}


@confined
def test_it_writes_to_its_code_and_to_the_system_in_vain(tmp_path: Path) -> None:
    # Nothing can be written below a mount that is read-only, however many files the system has.
    code = """
import os
mounts = {}
for line in open("/proc/self/mountinfo"):
    place, options = line.split()[4:6]
    mounts[place.encode().decode("unicode_escape")] = options.split(",")
for place, options in mounts.items():
    if place.startswith("/proc") or not os.path.isdir(place):
        continue
    for folder, folders, _ in os.walk(place):
        if folder != place and folder in mounts:
            folders.clear()
            continue
        try:
            open(os.path.join(folder, "new"), "x").close()
            os.unlink(os.path.join(folder, "new"))
            print(folder)
        except OSError:
            pass
        if "ro" in options:
            break
for change in (lambda: open("bot.py", "a"), lambda: os.unlink("bot.py"), lambda: os.chmod("bot.py", 0o777)):
    try:
        change()
        print("changed")
    except OSError as error:
        print(error.errno in (1, 13, 30))
"""
    said = said_by(tmp_path, code).splitlines()
    assert said[-3:] == ["True"] * 3
    # Where our packages are in the server's folder of this name, the folders above them are in the box's.
    assert {folder for folder in said[:-3] if not folder.startswith(f"{TEMPORARY}/")} == {TEMPORARY, "/dev/shm"}
    assert not (tmp_path / "bot" / "new").exists()


@confined
def test_it_fills_no_disk(tmp_path: Path) -> None:
    code = f"""
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for folder in ({TEMPORARY!r}, "/dev/shm"):
    written = 0
    try:
        for number in range(1000):
            with open(os.path.join(folder, str(number)), "wb", buffering=0) as file:
                written += file.write(bytes(1_000_000))
    except OSError as error:
        print(error.errno in (27, 28), written <= 5_000_000)
try:
    while True:
        os.write(2, bytes(1_000_000))
except OSError as error:
    print(error.errno)
"""
    process = started(tmp_path, code)
    assert process.wait(PATIENCE_S) is not None
    said = (tmp_path / "output").read_bytes()
    assert said.startswith(b"True True\nTrue True\n")
    assert len(said) <= 5_000_000


@confined
def test_it_takes_no_more_memory_than_it_may(tmp_path: Path) -> None:
    code = """
try:
    print(len(bytearray(1_000_000_000)))
except MemoryError:
    print("refused")
"""
    assert said_by(tmp_path, code) == "refused"


@confined
def test_a_fork_bomb_is_bounded_and_ends_with_its_match(tmp_path: Path) -> None:
    code = """
import os, subprocess, time
count = 1
try:
    while True:
        subprocess.Popen(["sleep", "97531.2468"], start_new_session=True, close_fds=True)
        count += 1
except OSError:
    print(count, flush=True)
time.sleep(1000)
"""
    process = started(tmp_path, code)
    until = time.monotonic() + PATIENCE_S
    while not (said := (tmp_path / "output").read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    assert int(said) <= 8
    assert are_there("97531.2468")
    process.stop()
    assert gone("97531.2468")


@confined
def test_processes_left_behind_end_with_the_box(tmp_path: Path) -> None:
    code = """
import os, subprocess
if os.fork() == 0:
    os.setsid()
    subprocess.Popen(["sleep", "97531.1357"], env={}, start_new_session=True)
    os._exit(0)
os.wait()
"""
    assert said_by(tmp_path, code) == ""
    assert gone("97531.1357")


@confined
@pytest.mark.parametrize("is_killed", [False, True])
def test_sleeping_for_ever_and_ignoring_signals_ends_with_the_match(tmp_path: Path, is_killed: bool) -> None:
    """Also where nobody asks it to end, because the process that has started the box is killed."""
    code = """
import signal, subprocess
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
subprocess.Popen(["sleep", f"97531.{0}"], start_new_session=True)
print("ready", flush=True)
while True:
    signal.pause()
""".replace("{0}", "1" if is_killed else "2")
    process = started(tmp_path, code)
    until = time.monotonic() + PATIENCE_S
    while not process.has_written("ready") and time.monotonic() < until:
        time.sleep(0.02)
    assert are_there(f"97531.{'1' if is_killed else '2'}")
    if is_killed:
        os.kill(process.pid, signal.SIGKILL)
    else:
        process.stop()
    assert process.wait(PATIENCE_S) is not None
    assert gone(f"97531.{'1' if is_killed else '2'}")


@confined
def test_time_of_the_processor_is_bounded(tmp_path: Path) -> None:
    process = started(tmp_path, "while True: pass")
    assert process.wait(PATIENCE_S) not in (None, 0)


@confined
def test_it_cannot_hold_the_dealer_up_with_connections(tmp_path: Path) -> None:
    """However many it opens, the dealer has one at a time."""
    code = """
import socket, sys
held = [socket.create_connection((sys.argv[-2], int(sys.argv[-1])), 1)]
held[0].sendall(b"first")
try:
    for _ in range(200):
        held.append(socket.create_connection((sys.argv[-2], int(sys.argv[-1])), 0.2))
except OSError:
    pass
print("ready", flush=True)
held[0].recv(1)
"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        process = started(tmp_path, code, listener.getsockname()[1])
        with listener.accept()[0]:
            until = time.monotonic() + PATIENCE_S
            while not process.has_written("ready") and time.monotonic() < until:
                time.sleep(0.02)
            assert process.has_written("ready"), process.last_lines()
            listener.settimeout(0.1)
            with pytest.raises(TimeoutError):
                listener.accept()
            process.stop()
