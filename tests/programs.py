"""Quick starts of commands and built-in bots: fork a process that has already imported them.

`start` runs `python -P -c CODE ARGUMENTS` like `subprocess.Popen`, in a process with its own folder, environment and
streams. Imports take most of the time of a short command. A server per test worker does them once and forks a child for
each start. `fork_bots`, `fork_dealers` and `forked_workers` fork the other processes of a run from the process that
starts them. All other programs, and all programs on systems without `fork`, are started by `subprocess`.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib
import io
import logging
import multiprocessing.context
import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NamedTuple, Protocol

import psutil
import pytest

import bots.sdk.program
from bots.sdk.program import GameFile
from bots.sdk.registry import is_builtin
from dealer.cli import COMMANDS
from dealer.run import dealers, run_settings
from dealer.table.launcher import player_command
from dealer.table.players import parse_player

ROOT = Path(__file__).resolve().parents[1]
KUHN = GameFile(ROOT / "engine" / "games" / "kuhn.limit.2p.game", "kuhn.limit.2p")
"""Game for commands of bots."""
IMPORTED = (
    "dealer.cli.shell.app",
    "dealer.reference.command",
    "dealer.run.tournament_run",
    "dealer.run.corrected",
    "dealer.doctor.examination",
    "dealer.bench",
    "numpy.ma",
    "platformdirs.unix",
    *(f"dealer.cli.{command}" for command in COMMANDS),
)
"""Modules that the server imports before it forks."""
PAGES = {"serve", "watch", "replay", "--watch", "--browser"}
"""Words of commands that serve pages."""
PATIENCE_S = 300.0
"""Time limit in seconds, long enough for a slow machine, so that only a test that hangs fails."""
START_PYTHON = player_command(parse_player("calling"), host="", port=0, game=KUHN.path)[3]
"""Code that starts a Python bot."""


def loaded_by(imports: str, modules: Sequence[str]) -> list[str]:
    """Those of the modules that a fresh interpreter has loaded after an import statement."""
    code = f"import sys\n{imports}\nprint(*sorted(set({list(modules)!r}) & set(sys.modules)))"
    interpreter = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert interpreter.stderr == ""
    assert interpreter.returncode == 0
    return interpreter.stdout.split()


class Program(Protocol):
    """Interface of a started program, the part of `subprocess.Popen` that tests use."""

    pid: int
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    @property
    def returncode(self) -> int | None:
        """Exit code, or minus the number of the signal that ended the program."""

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit and return the exit code."""

    def communicate(self, *, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Read standard output and standard error to their ends, and wait."""

    def send_signal(self, sig: int) -> None:
        """Send a signal, if the program still runs."""

    def kill(self) -> None: ...


def start(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], stderr: IO[bytes] | None = None) -> Program:
    """Start a program without input; its output streams are pipes, unless `stderr` is given."""
    is_code = list(command[:3]) == [sys.executable, "-P", "-c"]
    if is_code and hasattr(os, "fork") and _python_variables(env) == _python_variables(_server_env()):
        return _Forked(command, cwd, env, stderr)
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if stderr is None else stderr,
    )


def _server_env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _python_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Variables that Python reads at its start, and that a child of the server therefore inherits."""
    return {name: value for name, value in env.items() if name.startswith(("PYTHON", "LC_", "LANG"))}


class _Forked:
    """A child of the server, as a `Program`."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str], stderr: IO[bytes] | None) -> None:
        self.args = list(command)
        self.returncode: int | None = None
        out, child_out = os.pipe()
        err, child_err = (None, stderr.fileno()) if stderr is not None else os.pipe()
        self._status, child_status = os.pipe()
        request = pickle.dumps((list(command[3:]), str(cwd), dict(env)))
        try:
            self.pid = _server().start(request, (child_out, child_err, child_status))
        finally:
            os.close(child_out)
            os.close(child_status)
            if err is not None:
                os.close(child_err)
        self.stdout: IO[bytes] | None = os.fdopen(out, "rb")
        self.stderr: IO[bytes] | None = None if err is None else os.fdopen(err, "rb")

    def poll(self) -> int | None:
        return self._read_status(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._read_status(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def communicate(self, *, timeout: float | None = None) -> tuple[bytes, bytes]:
        until_s = None if timeout is None else time.monotonic() + timeout
        texts: dict[IO[bytes] | None, bytearray] = {
            stream: bytearray() for stream in (self.stdout, self.stderr) if stream and not stream.closed
        }
        with selectors.DefaultSelector() as selector:
            for stream in texts:
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                left_s = None if until_s is None else max(0.0, until_s - time.monotonic())
                ready = selector.select(left_s)
                if not ready:
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                for key, _ in ready:
                    stream: Any = key.fileobj
                    data = stream.read1(1 << 16)
                    texts[stream] += data
                    if not data:
                        selector.unregister(stream)
                        stream.close()
        self.wait(None if until_s is None else max(0.0, until_s - time.monotonic()))
        return bytes(texts.get(self.stdout, b"")), bytes(texts.get(self.stderr, b""))

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            # The process may have ended before the server has reported its exit code.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read_status(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._status, selectors.EVENT_READ)
                if not selector.select(timeout):
                    return None
            self.returncode = int(os.read(self._status, 16))
            os.close(self._status)
        return self.returncode


class _Server:
    """The tests' side of the server."""

    def __init__(self) -> None:
        self._socket, server_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(server_socket.fileno())],
            env=_server_env(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[server_socket.fileno()],
        )
        server_socket.close()
        atexit.register(self._close)

    def start(self, request: bytes, fds: tuple[int, ...]) -> int:
        """Start a child and return its process id."""
        self._socket.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
        return int(self._socket.recv(16))

    def _close(self) -> None:
        self._socket.close()
        self._process.wait()


_server = cache(_Server)


# ---- the server's side


class _Child(NamedTuple):
    """Program of a child, with descriptors of its standard output and standard error."""

    command: list[str]
    folder: str
    env: dict[str, str]
    out: int
    err: int


def _serve(requests: socket.socket) -> _Child | None:
    """Fork for each request and report exit codes; return a `_Child` in each child, None when the tests hang up."""
    for name in IMPORTED:
        importlib.import_module(name)
    # Building this adapter would take a fifth of the time of a short match.
    run_settings.adapter(run_settings.RunSettings)
    gc.collect()
    gc.freeze()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    statuses: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(requests, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if wake in ready:
                os.read(wake, 1 << 10)
                _report(statuses)
            if requests.fileno() in ready:
                request, fds, _, _ = socket.recv_fds(requests, 1 << 18, 3)
                if not request:
                    return None
                child = _Child(*pickle.loads(request), *fds[:2])
                if PAGES & {*child.command}:
                    _import_pages()
                # Python warns of forks in processes with threads. Those of numpy are idle and hold no locks.
                with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
                    pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    for fd in (wake, woken, fds[2], *statuses.values()):
                        os.close(fd)
                    return child
                statuses[pid] = fds[2]
                for fd in fds[:2]:
                    os.close(fd)
                requests.send(b"%d" % pid)


@cache
def _import_pages() -> None:
    """Import the modules of the pages and compile their templates, which takes most of a server's start."""
    for name in ("dealer.web.server_site", "dealer.web.local_site", "bots.cfr.bot", "bots.evaluation.bot"):
        importlib.import_module(name)
    importlib.import_module("dealer.web.site").compile_templates()
    gc.collect()
    gc.freeze()


def _report(statuses: dict[int, int]) -> None:
    """Send the exit codes of children that have ended."""
    for pid in list(statuses):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            os.write(statuses[pid], b"%d" % os.waitstatus_to_exitcode(status))
            os.close(statuses.pop(pid))


def _become(child: _Child) -> None:
    """Run the child's command as `python -P -c` would."""
    for fd, standard in ((child.out, 1), (child.err, 2)):
        os.dup2(fd, standard)
        os.close(fd)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    _run_code(child.command, child.folder, child.env)


def _run_code(command: Sequence[str], folder: str | None, env: Mapping[str, str]) -> None:
    """Run CODE ARGUMENTS in a forked process with the program's descriptors 0 to 2, and exit."""
    # The inherited stream objects have cached whether the parent's files are seekable.
    buffering, through = (0, True) if env.get("PYTHONUNBUFFERED") else (-1, False)
    for name, fd in (("stdout", 1), ("stderr", 2)):
        own = getattr(sys, f"__{name}__")
        raw = os.fdopen(fd, "wb", buffering, closefd=False)
        stream = io.TextIOWrapper(raw, own.encoding, own.errors, line_buffering=fd == 2, write_through=through)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    if folder is not None:
        os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    fork_bots()
    code, *arguments = command
    sys.argv = ["-c", *arguments]
    main = sys.modules["__main__"] = ModuleType("__main__")
    exit_code = 0
    try:
        exec(compile(code, "<string>", "exec"), main.__dict__)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        exit_code = end.code or 0
    _forget_executors()
    # The steps of Python's finalisation, without the slow deletion of all modules.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        sys.exit(exit_code)
    os._exit(exit_code)


def _forget_executors() -> None:
    """Drop the parent's executors from the exit handlers: their pipes are closed in this process."""
    for name, threads in (("process", "_threads_wakeups"), ("thread", "_threads_queues")):
        module = sys.modules.get(f"concurrent.futures.{name}")
        if module is not None:
            getattr(module, threads).clear()


# ---- bots and dealer processes


def fork_bots() -> None:
    """Fork built-in bots from this process from now on, instead of starting an interpreter for each."""
    importlib.import_module("encodings.idna")  # every bot imports it to resolve the address of its dealer
    if hasattr(os, "fork"):
        bots.sdk.program.subprocess = _Subprocess()  # type: ignore[assignment]


def fork_dealers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork dealer processes from this process during a test, instead of starting an interpreter for each run."""
    if hasattr(os, "fork"):
        monkeypatch.setattr(dealers, "subprocess", _Subprocess())


@contextlib.contextmanager
def forked_workers(*modules: str) -> Iterator[None]:
    """Have local workers forked from a process that has imported these modules."""
    if not hasattr(os, "fork"):
        yield
        return
    from multiprocessing import forkserver

    server = forkserver._forkserver  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bots.workers._Context", _ForkContext)
        patch.setenv("PYTHONPATH", str(ROOT))
        server._preload_modules = list(modules)
        yield
    server._stop()


class _ForkedWorker(multiprocessing.context.ForkServerProcess):
    """Worker process that does not import the main program again, as `bots.workers._Process`."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return multiprocessing.context.ForkServerProcess._Popen(process_obj)  # type: ignore[attr-defined]
        finally:
            sys.modules["__main__"] = main


class _ForkContext(multiprocessing.context.ForkServerContext):
    Process = _ForkedWorker


class _Subprocess:
    """The module `subprocess` with a `Popen` that forks, unless a test has replaced `Popen`."""

    _popen = subprocess.Popen

    def __getattr__(self, name: str) -> Any:
        value = getattr(subprocess, name)
        return _fork_or_start if value is self._popen else value


def _fork_or_start(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes] | _ForkedChild:
    """Fork a built-in bot or a dealer process, given the arguments of `Popen`; start any other program."""
    if tuple(command[:4]) == (sys.executable, "-P", "-c", dealers._START):
        return _ForkedChild(command[3:], None, os.environ.copy(), kept_fds=options["pass_fds"])
    is_python_bot = tuple(command[:4]) == (sys.executable, "-P", "-c", START_PYTHON)
    if is_python_bot and is_builtin(command[4]):
        folder, env = options["cwd"], options["env"]
        if (folder is None or os.path.isdir(folder)) and _python_path(env) <= {str(ROOT)}:
            return _ForkedChild(command[3:], folder, env, options["stdout"].fileno())
    return subprocess.Popen(command, **options)


def _python_path(env: Mapping[str, str]) -> set[str]:
    """Values of the variables for Python, without those that make no difference to a forked bot."""
    known = ("PYTHONUNBUFFERED", "PYTHONSAFEPATH", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE")
    return {value for name, value in env.items() if name.startswith("PYTHON") and name not in known}


class _ForkedChild:
    """A child of this process, with the part of `subprocess.Popen` that bots and dealer processes use."""

    def __init__(
        self,
        command: Sequence[str],
        folder: str | None,
        env: Mapping[str, str],
        out: int | None = None,
        *,
        kept_fds: Sequence[int] = (),
    ) -> None:
        self.returncode: int | None = None
        # Python warns of forks in processes with threads. Those that wait for earlier bots hold no locks.
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            self.pid = os.fork()
        if not self.pid:
            try:
                _become_child(command, folder, env, out, kept_fds)
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(1)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit, in one thread; return the exit code, or minus the number of a signal."""
        if timeout is not None:
            _await_zombie(self.pid, timeout)
        _, status = os.waitpid(self.pid, 0)
        self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)


def _await_zombie(pid: int, timeout: float) -> None:
    """Wait until a child has ended, without reaping it."""
    deadline_s = time.monotonic() + timeout
    while is_alive(pid):
        if time.monotonic() > deadline_s:
            raise subprocess.TimeoutExpired([], timeout)
        time.sleep(0.005)


def _become_child(
    command: Sequence[str], folder: str | None, env: Mapping[str, str], out: int | None, kept_fds: Sequence[int]
) -> None:
    """Drop the parent's state and run the command."""
    gc.disable()
    gc.freeze()  # the parent's files, collected later, would close descriptors that the bot has reused
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]
    atexit._clear()  # the parent's handlers would remove its temporary folders
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)) and number != signal.SIGINT:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not kept_fds:
        os.setsid()
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    logging.root.handlers.clear()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    if out is not None:
        os.dup2(out, 1)
        os.dup2(out, 2)
    first = 3
    for fd in sorted(kept_fds):
        os.closerange(first, fd)
        first = fd + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))
    gc.enable()
    _run_code(command, folder, env)


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for_exit(pid: int) -> bool:
    """Wait until a process has exited; kill it and return False if it does not within `PATIENCE_S`."""
    deadline_s = time.monotonic() + PATIENCE_S
    while is_alive(pid):
        if time.monotonic() > deadline_s:
            psutil.Process(pid).kill()
            return False
        time.sleep(0.01)
    return True


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as _requests:
        _child = _serve(_requests)
    if _child is not None:
        _become(_child)
