"""The command line of bubblewrap for the program of somebody whom we do not trust.

In the box there are: the system's programs and libraries, our interpreter with its packages, the program's own folder
(`PROGRAM_FOLDER`, where it starts) and an empty ``/tmp``; all but the last are read-only. There is no other file of the
machine, no process but the program's own, no variable of ours, no network and no right of root. `dealer.table.box`
starts it and carries its connection.

The limits are the system's (``setrlimit``), set inside: those of memory and processor hold for each process, that of
processes for the box. Where systemd can make scopes for us, it bounds memory and processor of the whole box.
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

PROGRAM_FOLDER: Final = "/bot"
_PACKAGES: Final = ("engine", "protocol", "logs", "bots", "dealer", "acpc_arena")
_SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_FILES: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")
_MAX_FILES: Final = 256
_SCRIPT: Final = "/arena/box.py"
_TRIAL_S: Final = 30.0
_USER_MANAGER: Final = [] if os.name == "nt" or os.geteuid() == 0 else ["--user"]
_SCOPE: Final = [
    *("systemd-run", "--scope", "--quiet", "--collect", *_USER_MANAGER),
    *("-p", "MemorySwapMax=0", "-p", "CPUQuota=100%"),
]
_OURS: Final = 6
"""Processes and threads of a scope that are not the program's."""
_WITHOUT: Final = "remove the section [uploads]"


class Refusal(NamedTuple):
    """Reason that programs cannot be confined, and what to do about it."""

    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Box:
    """What the program of somebody whom we do not trust may have.

    Attributes:
        folder: with the program.
        memory_mb: of the whole box where systemd bounds it, else of address space for each process.
        cpu_s: time of the processor for each process, in seconds.
        disk_mb: for temporary files, for shared memory, and for each file that it writes.
    """

    folder: str
    memory_mb: int
    cpu_s: int
    processes: int
    disk_mb: int

    def command(self, command: list[str]) -> list[str]:
        """The command line that starts another one, whose last words are a host and a port, in the box."""
        words = []
        limits = []
        if has_scopes():
            words += _SCOPE
            words += ["-p", f"MemoryMax={self.memory_mb}M", "-p", f"TasksMax={self.processes + _OURS}", "--"]
        else:
            limits.append(f"AS={self.memory_mb * 1_000_000}")
        disk = self.disk_mb * 1_000_000
        limits += [f"CPU={self.cpu_s}", f"NPROC={self.processes}", f"FSIZE={disk}", f"NOFILE={_MAX_FILES}"]
        python = [sys.executable, "-I", "-S"]
        words += [*python, str(Path(box.__file__).absolute()), "--", shutil.which("bwrap") or "bwrap"]
        words += [*_options(self.folder, disk), "--", *python, _SCRIPT]
        return [*words, *limits, "--", *command]

    def refusal(self) -> Refusal | None:
        """Try to start a program in the box; None if this system can do it."""
        if sys.platform != "linux":
            return Refusal("uploaded bots run in bubblewrap, which needs Linux", _WITHOUT)
        if shutil.which("bwrap") is None:
            remedy = f"install the package bubblewrap (apt install bubblewrap, dnf install bubblewrap), or {_WITHOUT}"
            return Refusal("uploaded bots run in bubblewrap, which is not installed", remedy)
        said = _problem_of(self.command(["true", "127.0.0.1", "1"]))
        if said is None:
            return None
        remedy = f"allow the server to make namespaces (docs/security.md, Uploads), or {_WITHOUT}"
        return Refusal(f"uploaded bots run in bubblewrap, which fails on this system: {said}", remedy)


@cache
def has_scopes() -> bool:
    """Whether systemd can bound all processes of a box together: for root, or for a user whose manager runs."""
    if shutil.which("systemd-run") is None:
        return False
    return _problem_of([*_SCOPE, "-p", "MemoryMax=100M", "-p", "TasksMax=10", "--", "true"]) is None


def _problem_of(command: list[str]) -> str | None:
    """The last that a command says, or its exit code, if it fails."""
    try:
        tried = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_TRIAL_S)
    except subprocess.TimeoutExpired:
        return f"it has not ended after {_TRIAL_S:g} s"
    said = tried.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if not tried.returncode:
        return None
    return said or f"exit code {tried.returncode}"


def readable_paths() -> tuple[str, ...]:
    """The files and folders of this machine that are seen in every box, links to them apart."""
    found = (importlib.util.find_spec(name) for name in _PACKAGES)
    packages = [spec.origin.removesuffix("/__init__.py") for spec in found if spec is not None and spec.origin]
    paths = ["/usr", *(path for path in _SYSTEM if not os.path.islink(path)), *_FILES]
    paths += [sys.base_prefix, sys.prefix, *packages]
    there = [path for path in dict.fromkeys(paths) if os.path.exists(path)]
    return tuple(path for path in there if not any(Path(path).is_relative_to(o) for o in there if o != path))


def readable_above(folder: Path) -> str:
    """What is seen in every box and has a folder in it; empty if nothing has."""
    for path in readable_paths():
        if folder.resolve().is_relative_to(Path(path).resolve()):
            return path
    return ""


def _options(folder: str, disk: int) -> list[str]:
    size = ["--perms", "1777", "--size", str(disk), "--tmpfs"]
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--hostname", "box", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if os.geteuid():
        options += ["--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]
    else:
        # The program gets another user as the last step; see `dealer.table.box`.
        options += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    options += ["--proc", "/proc", "--dev", "/dev", *size, "/dev/shm", "--remount-ro", "/dev", *size, "/tmp"]
    for path in _SYSTEM:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
    seen = {path: path for path in readable_paths()} | {str(Path(box.__file__).absolute()): _SCRIPT}
    for path, inside in (*seen.items(), (folder, PROGRAM_FOLDER)):
        # It would make folders for their owner alone.
        for parent in reversed(Path(inside).parents[:-1]):
            options += ["--perms", "0755", "--dir", str(parent)]
        options += ["--ro-bind", path, inside]
    if not os.path.exists(f"{sys.prefix}/bin/python"):
        options += ["--symlink", sys.executable, "/arena/python"]
    variables = {
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin:/arena",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name, value in variables.items():
        options += ["--setenv", name, value]
    return [*options, "--chdir", PROGRAM_FOLDER]
