"""Compose the command line of bubblewrap for an untrusted program.

The box contains, read-only, the system's programs and libraries, this interpreter with its packages, and the program's
own folder; and an empty ``/tmp``. It contains no other file, no other process, no environment variable of the server,
no network and no privilege. `dealer.table.box` runs it and forwards the connection of the program.

The limits are set inside with ``setrlimit``, so memory and processor time are bounded for each process. If systemd can
create scopes, it bounds memory and processor share of the whole box as well.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from dealer.table import box

_PROGRAM_FOLDER: Final = "/bot"
"""The program's own folder in the box, where it starts."""
_TEMPORARY_FOLDER: Final = "/tmp"
"""The box's own folder for temporary files, whatever the server's is."""
_PACKAGES: Final = ("engine", "protocol", "logs", "bots", "dealer", "acpc_arena")
_SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_FILES: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")
_MAX_FILES: Final = 256
"""Open files of a process in the box."""
_SCRIPT: Final = "/arena/box.py"
_TRIAL_S: Final = 30.0
"""Time limit of a trial whether the system can confine programs."""
_USER_MANAGER: Final = [] if os.name == "nt" or os.geteuid() == 0 else ["--user"]
_SCOPE: Final = [
    *("systemd-run", "--scope", "--quiet", "--collect", *_USER_MANAGER),
    *("-p", "MemorySwapMax=0", "-p", "CPUQuota=100%"),
]
_OWN_TASKS: Final = 6
"""Processes and threads of a scope that belong to `dealer.table.box` and bubblewrap."""
_NO_UPLOADS: Final = "remove the section [uploads]"


class Refusal(NamedTuple):
    """Reason that this system cannot confine programs, and a remedy."""

    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Box:
    """Limits of a box for an untrusted program.

    Attributes:
        folder: folder of the program.
        memory_mb: memory of the whole box if systemd can bound it, otherwise address space of each process.
        cpu_s: processor time of each process, in seconds.
        processes: number of processes.
        disk_mb: size of the temporary files, of shared memory, and of each file.
    """

    folder: str
    memory_mb: int
    cpu_s: int
    processes: int
    disk_mb: int

    def command(self, command: list[str]) -> list[str]:
        """Return the command line that runs a command in the box; its last words are host and port of the dealer."""
        words = []
        limits = []
        if has_scopes():
            tasks = self.processes + _OWN_TASKS
            words += [*_SCOPE, "-p", f"MemoryMax={self.memory_mb}M", "-p", f"TasksMax={tasks}", "--"]
        else:
            # Only here: Java and Go reserve far more address space than they use.
            limits.append(f"AS={self.memory_mb * 1_000_000}")
        disk = self.disk_mb * 1_000_000
        limits += [f"CPU={self.cpu_s}", f"NPROC={self.processes}", f"FSIZE={disk}", f"NOFILE={_MAX_FILES}"]
        python = [sys.executable, "-I", "-S"]
        words += [*python, str(Path(box.__file__).absolute()), "--", shutil.which("bwrap") or "bwrap"]
        words += [*_options(self.folder, disk), "--", *python, _SCRIPT]
        return [*words, *limits, "--", *command]

    def refusal(self) -> Refusal | None:
        """Run a trivial program in the box; return None if that works."""
        if sys.platform != "linux":
            return Refusal("uploaded bots run in bubblewrap, which needs Linux", _NO_UPLOADS)
        if shutil.which("bwrap") is None:
            remedy = (
                f"install the package bubblewrap (apt install bubblewrap, dnf install bubblewrap), or {_NO_UPLOADS}"
            )
            return Refusal("uploaded bots run in bubblewrap, which is not installed", remedy)
        problem = _run_problem(self.command(["true", "127.0.0.1", "1"]))
        if problem is None:
            return None
        remedy = f"allow the server to make namespaces (docs/security.md, Uploads), or {_NO_UPLOADS}"
        return Refusal(f"uploaded bots run in bubblewrap, which fails on this system: {problem}", remedy)


@cache
def has_scopes() -> bool:
    """Return whether systemd can bound a whole box, as it can for root and for users with a running manager."""
    if shutil.which("systemd-run") is None:
        return False
    return _run_problem([*_SCOPE, "-p", "MemoryMax=100M", "-p", "TasksMax=10", "--", "true"]) is None


def _run_problem(command: list[str]) -> str | None:
    """Run a command; return None if it succeeds, otherwise the last line that it printed, or its exit code."""
    try:
        trial = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_TRIAL_S)
    except subprocess.TimeoutExpired:
        return f"it has not ended after {_TRIAL_S:g} s"
    if not trial.returncode:
        return None
    last_line = trial.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return last_line or f"exit code {trial.returncode}"


def readable_paths() -> tuple[str, ...]:
    """Return the files and folders of this machine that every box shows, without paths inside another one."""
    paths = ["/usr"]
    for path in _SYSTEM:
        # With a merged /usr, these are links, which `_options` recreates.
        if not os.path.islink(path):
            paths.append(path)
    paths += [*_FILES, sys.base_prefix, sys.prefix]
    for name in _PACKAGES:
        # An editable installation has them outside the interpreter's folders.
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            paths.append(spec.origin.removesuffix("/__init__.py"))
    existing = {Path(path) for path in paths if os.path.exists(path)}
    outermost = []
    for path in dict.fromkeys(paths):
        if Path(path) in existing and existing.isdisjoint(Path(path).parents):
            outermost.append(path)
    return tuple(outermost)


def readable_above(folder: Path) -> str:
    """Return the path shown in every box that contains a folder, or an empty text."""
    for path in readable_paths():
        if folder.resolve().is_relative_to(Path(path).resolve()):
            return path
    return ""


def _options(folder: str, disk: int) -> list[str]:
    size = ["--perms", "1777", "--size", str(disk), "--tmpfs"]
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    # A session of its own has no controlling terminal, into which the program could insert commands.
    options += ["--hostname", "box", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if os.geteuid():
        options += ["--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]
    else:
        # `dealer.table.box` changes the user inside, and drops these capabilities with it.
        options += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    # Read-only, because bubblewrap's /dev is a file system in memory without a limit of its own.
    options += ["--proc", "/proc", "--dev", "/dev", *size, "/dev/shm", "--remount-ro", "/dev", *size, _TEMPORARY_FOLDER]
    for path in _SYSTEM:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
    mounts = [(path, path) for path in readable_paths()]
    mounts += [(str(Path(box.__file__).absolute()), _SCRIPT), (folder, _PROGRAM_FOLDER)]
    for path, inside in mounts:
        # Bubblewrap would create missing folders with mode 0700.
        for parent in reversed(Path(inside).parents[:-1]):
            options += ["--perms", "0755", "--dir", str(parent)]
        options += ["--ro-bind", path, inside]
    if not os.path.exists(f"{sys.prefix}/bin/python"):
        # Commands of uploaded bots say `python`.
        options += ["--symlink", sys.executable, "/arena/python"]
    variables = {
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin:/arena",
        "HOME": _TEMPORARY_FOLDER,
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name, value in variables.items():
        options += ["--setenv", name, value]
    return [*options, "--chdir", _PROGRAM_FOLDER]
