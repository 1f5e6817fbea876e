"""Boxes for untrusted bots: refusals, the connection to the dealer, and attacks from inside a box."""

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


def start_bot(folder: Path, code: str, port: int = 1) -> BotProcess:
    """Start a bot with this code in a box. Its folder is ``bot``, next to a file that it must not read."""
    bot = folder / "bot"
    bot.mkdir()
    (bot / "bot.py").write_text(code)
    (folder / "server.sqlite3").write_text("secret")
    (bot / "link").symlink_to(folder / "server.sqlite3")
    box = Box(str(bot), memory_mb=500, cpu_s=2, processes=8, disk_mb=5)
    player = Player("bot", "bot", PlayerKind.COMMAND, ("python", "bot.py"), confinement=box)
    return BotProcess(player, host="127.0.0.1", port=port, game=KUHN, seed=None, output_path=folder / "output")


def output_of(folder: Path, code: str) -> str:
    process = start_bot(folder, code)
    assert process.wait(PATIENCE_S) == 0, process.last_lines()
    return (folder / "output").read_text().strip()


def is_running(word: str) -> bool:
    """Return whether a process has this word on its command line."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if word in process.cmdline():
                return True
    return False


def ends_in_time(word: str) -> bool:
    """Wait for the end of all processes with this word on their command line; return whether they ended."""
    deadline_s = time.monotonic() + PATIENCE_S
    while is_running(word) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return not is_running(word)


# ---- refusals
def test_missing_bubblewrap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_system_that_allows_no_box_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    refusal = Box(str(tmp_path), 1, 1, 1, 1).refusal()
    assert refusal is not None
    assert refusal.problem.endswith("fails on this system: bwrap: No permissions to create new namespace")


@pytest.mark.skipif(sys.platform != "linux", reason="the box is Linux's")
@pytest.mark.parametrize("code", [0, 1])
def test_box_has_limits_of_systemd_if_available(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_hanging_box_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_bot_in_a_box_reaches_the_dealer(tmp_path: Path) -> None:
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
        process = start_bot(tmp_path, code, listener.getsockname()[1])
        for _ in range(2):
            with listener.accept()[0] as bot:
                bot.settimeout(PATIENCE_S)
                assert bot.recv(100) == b"VERSION:2.0.0\r\n"
                bot.sendall(b"question")
                assert bot.recv(100) == b"QUESTION"
                bot.shutdown(socket.SHUT_WR)
                assert bot.recv(100) == b"", "the bot closes its side, too"
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
        process = start_bot(tmp_path, code, listener.getsockname()[1])
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
def test_boxed_bot_reaches_no_network(tmp_path: Path) -> None:
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
        output = output_of(tmp_path, code)
    assert output.splitlines() == [
        "Connection refused",
        "Network is unreachable",
        "Network is unreachable",
        "[(1, 'lo')]",
    ]


@confined
def test_boxed_bot_reads_only_its_own_files(tmp_path: Path) -> None:
    """Neither through paths and links nor through open files or other processes."""
    keys = str(Path.home() / ".ssh")
    code = f"""
import os
for path in ({str(tmp_path)!r}, {keys!r}, "link", "/etc/passwd", "/etc/shadow", "/home", "/var", "/run", "/sys"):
    print(path, os.path.exists(path)) if os.path.exists(path) else None
print(sorted(os.listdir("/bot")))
for process in filter(str.isdigit, os.listdir("/proc")):
    try:
        targets = [os.readlink(f"/proc/{{process}}/fd/{{fd}}") for fd in os.listdir(f"/proc/{{process}}/fd")]
    except OSError:
        continue
    for path in targets:
        if path not in ("/dev/null", {str(tmp_path / "output")!r}) and not path.startswith(("anon_inode", "/proc/")):
            print("open:", path)
"""
    assert output_of(tmp_path, code) == "['bot.py', 'link']"


@confined
def test_boxed_bot_sees_no_variable_and_no_process_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert output_of(tmp_path, code) == f"{names}\n2"


@confined
def test_boxed_bot_has_no_privileges(tmp_path: Path) -> None:
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
    output = output_of(tmp_path, code).splitlines()
    assert output[0] == (f"True True {'0' * 16} {'0' * 16}")
    assert output[1] == "1"
    assert set(output[2:]) <= {"Operation not permitted", "Invalid argument"}


@confined
def test_boxed_bot_cannot_write_to_its_code_or_the_system(tmp_path: Path) -> None:
    # For a read-only mount, its topmost folder is enough.
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
    output = output_of(tmp_path, code).splitlines()
    assert output[-3:] == ["True"] * 3
    # If our packages are below the temporary folder, the box has the folders above them there.
    assert {folder for folder in output[:-3] if not folder.startswith(f"{TEMPORARY}/")} == {TEMPORARY, "/dev/shm"}
    assert not (tmp_path / "bot" / "new").exists()


@confined
def test_boxed_bot_cannot_fill_the_disk(tmp_path: Path) -> None:
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
    process = start_bot(tmp_path, code)
    assert process.wait(PATIENCE_S) is not None
    output = (tmp_path / "output").read_bytes()
    assert output.startswith(b"True True\nTrue True\n")
    assert len(output) <= 5_000_000


@confined
def test_memory_of_a_boxed_bot_is_bounded(tmp_path: Path) -> None:
    code = """
try:
    print(len(bytearray(1_000_000_000)))
except MemoryError:
    print("refused")
"""
    assert output_of(tmp_path, code) == "refused"


@confined
def test_fork_bomb_is_bounded_and_ends_with_its_match(tmp_path: Path) -> None:
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
    process = start_bot(tmp_path, code)
    until = time.monotonic() + PATIENCE_S
    while not (output := (tmp_path / "output").read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    assert int(output) <= 8
    assert is_running("97531.2468")
    process.stop()
    assert ends_in_time("97531.2468")


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
    assert output_of(tmp_path, code) == ""
    assert ends_in_time("97531.1357")


@confined
@pytest.mark.parametrize("is_killed", [False, True])
def test_bot_that_sleeps_and_ignores_signals_ends_with_the_match(tmp_path: Path, is_killed: bool) -> None:
    """The bot also ends if the process that has started the box is killed."""
    code = """
import signal, subprocess
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
subprocess.Popen(["sleep", f"97531.{0}"], start_new_session=True)
print("ready", flush=True)
while True:
    signal.pause()
""".replace("{0}", "1" if is_killed else "2")
    process = start_bot(tmp_path, code)
    until = time.monotonic() + PATIENCE_S
    while not process.has_written("ready") and time.monotonic() < until:
        time.sleep(0.02)
    assert is_running(f"97531.{'1' if is_killed else '2'}")
    if is_killed:
        os.kill(process.pid, signal.SIGKILL)
    else:
        process.stop()
    assert process.wait(PATIENCE_S) is not None
    assert ends_in_time(f"97531.{'1' if is_killed else '2'}")


@confined
def test_processor_time_of_a_boxed_bot_is_bounded(tmp_path: Path) -> None:
    process = start_bot(tmp_path, "while True: pass")
    assert process.wait(PATIENCE_S) not in (None, 0)


@confined
def test_boxed_bot_has_one_connection_at_a_time(tmp_path: Path) -> None:
    """The dealer receives one connection at a time, independent of how many the bot opens."""
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
        process = start_bot(tmp_path, code, listener.getsockname()[1])
        with listener.accept()[0]:
            until = time.monotonic() + PATIENCE_S
            while not process.has_written("ready") and time.monotonic() < until:
                time.sleep(0.02)
            assert process.has_written("ready"), process.last_lines()
            listener.settimeout(0.1)
            with pytest.raises(TimeoutError):
                listener.accept()
            process.stop()
