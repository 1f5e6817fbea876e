"""Run a program of any language as a process, and play with it as a bot.

    with RemoteBot(["./my_bot", "--fast"], "nolimit") as bot:
        for record in self_play("nolimit", [bot, MfsBot()], deals=1000): ...

`Program` starts a process, watches it, bounds its output, and ends it with all processes that it has started.
`RemoteBot` plays the dealer for a program. It starts it with host and port as its last two arguments, accepts its
connection, and sends every state of its hands, so to the program this is a match like any other.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import psutil

import protocol
from bots.errors import BotExited, BotTimeout, RemoteBotError
from bots.sdk.bot import Bot
from bots.sdk.view import View
from engine import Action, Game, betting_start
from engine.errors import quoted
from engine.text import escaped
from protocol.game_definition import shipped_name, short_name
from protocol.session import DealerEvent

_LAST_LINES = 5
_LAST_BYTES = 1 << 14
MAX_OUTPUT_BYTES: Final = 10_000_000
"""Bytes kept of a program's output, besides its last lines."""
_OUTPUT_NOTE = f"\n[more than {MAX_OUTPUT_BYTES:,} bytes: the rest is left out, except for its end]\n".encode()
_OUTPUT_SLACK_BYTES = 1 << 20
"""Excess of an output over its bound at which it is cut while the program runs."""
_OUTPUT_CHECK_S = 0.25
_MAX_LINE_LETTERS = 4096
_BOT_VARIABLE = "ARENA_BOT"
SERVER_VARIABLE = "ARENA_SERVER"
"""Environment variable of all processes of a server; its value names the server's folder, also after a restart."""
IS_WINDOWS = os.name == "nt"

# A bot may be a script that starts the real player, and the player may outlive the script. The processes of a program
# are therefore found in four ways: its process group (POSIX), its descendants, the environment variable ARENA_BOT, and
# on Linux a mark in a resource limit. A process that forks twice, calls `setsid` and clears its environment escapes the
# first three. It still inherits a hard limit, which only root can raise. The limit is RLIMIT_RTTIME, which concerns
# real-time scheduling only, and marks are too large to bound even that.
#
# A mark holds the server in its upper bits and the program in the lower 32.
_BOT_BITS = 32
_MIN_MARK = 1 << 61
"""Above any real limit: 73,000 years, in microseconds."""
_REALTIME_LIMITS = re.compile(rb"(?m)^Max realtime timeout +(\S+) +(\S+) ")
_starting = threading.Lock()
"""Held while the limits of our own process carry the mark of a program that is being started."""
# A process may fork while it is being killed, so survivors are scanned for repeatedly.
_MAX_SCANS = 10
_SCAN_S = 0.05


def split_command(text: str, *, is_windows: bool = IS_WINDOWS) -> tuple[str, ...]:
    """Split a command line into words as a shell does, without expansions.

    On Windows a backslash is an ordinary character, and only double quotes quote.

    Raises:
        ValueError: a quote is not closed.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if is_windows:
        lexer.escape = ""
        lexer.quotes = '"'
    return tuple(lexer)


class Program:
    """Running program whose standard output and standard error go to one file."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        output_path: Path,
        directory: str | None = None,
        append: bool = False,
        on_exit: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the program.

        Args:
            environment: all its environment variables.
            output_path: file for its output.
            directory: folder in which it is started; None for the current one.
            append: keep the content of an earlier output file.
            on_exit: called in a separate thread when the process has ended.

        Raises:
            OSError: the program cannot be started.
            RuntimeError: no thread can be started to watch it.
        """
        self.output_path = output_path
        self._on_exit = on_exit
        self._ended = threading.Event()
        self._is_stopped = False
        self._name = uuid.uuid4().hex
        self._mark = _server_bits(environment.get(SERVER_VARIABLE, self._name)) | int(self._name[:8], 16)
        # Processes that are older than the program cannot be its own.
        self._older_pids = frozenset(psutil.pids())
        if not append:
            output_path.open("wb").close()
        # In append mode the program continues at the end of its output after `cut_output` has truncated it.
        with output_path.open("ab") as output:
            self._output_start = os.fstat(output.fileno()).st_size
            with _inherited(self._mark):
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**environment, _BOT_VARIABLE: self._name},
                    cwd=directory,
                    start_new_session=not IS_WINDOWS,
                    # Ctrl-C must reach us alone, since we end the bots. Only Windows has the flag.
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )
        self.pid = self._process.pid
        _set_mark(self.pid, self._mark)
        try:
            _outputs.add(self)
            threading.Thread(target=self._await_exit, daemon=True).start()
        except RuntimeError:
            _outputs.discard(self)
            # Without its thread, the end of the program would not be noticed.
            self._process.kill()
            self._process.wait()
            raise

    def _await_exit(self) -> None:
        self._process.wait()
        _outputs.discard(self)
        self.cut_output()
        self._ended.set()
        self._on_exit()

    @property
    def exit_code(self) -> int | None:
        """Exit code, negative for the signal that ended the program; None while it runs."""
        return self._process.returncode if self._ended.is_set() else None

    def cut_output(self, slack_bytes: int = 0) -> None:
        """Cut an output above its bound to its first `MAX_OUTPUT_BYTES`, a note and its end."""
        max_bytes = MAX_OUTPUT_BYTES + len(_OUTPUT_NOTE) + _LAST_BYTES + slack_bytes
        with contextlib.suppress(OSError):
            if self.output_path.stat().st_size <= max_bytes:
                return
            with self.output_path.open("rb") as output:
                output.seek(-_LAST_BYTES, os.SEEK_END)
                end = output.read(_LAST_BYTES)
            os.truncate(self.output_path, MAX_OUTPUT_BYTES)
            with self.output_path.open("ab") as output:
                output.write(_OUTPUT_NOTE + end)

    def has_written(self, text: str) -> bool:
        """Return whether the first 16 KiB of its output contain a text."""
        try:
            with self.output_path.open("rb") as output:
                output.seek(self._output_start)
                return text.encode() in output.read(_LAST_BYTES)
        except OSError:
            return False

    def last_lines(self) -> list[str]:
        """Return the last lines of its output, printable and at most 4,096 characters each.

        If they are the end of an indented block, the line above the block is included.
        """
        try:
            with self.output_path.open("rb") as output:
                output.seek(0, os.SEEK_END)
                output.seek(max(0, output.tell() - _LAST_BYTES))
                text = output.read().decode("utf-8", "replace")
        except OSError:
            return []
        lines = [line.rstrip()[-_MAX_LINE_LETTERS:] for line in text.splitlines() if line.strip()]
        last = [escaped(line, "\t") for line in lines[-_LAST_LINES:]]
        # Ruby, Java and JavaScript print the error first and the stack trace, indented, below it.
        heads = [line for line in lines[:-_LAST_LINES] if not line[0].isspace()]
        if heads and last[0][0].isspace() and not heads[-1].startswith("Traceback"):
            return [escaped(heads[-1], "\t"), "...", *last]
        return last

    def wait(self, timeout_s: float) -> int | None:
        """Wait for the end of the program and return its exit code, or None if it still runs."""
        self._ended.wait(timeout_s)
        return self.exit_code

    def stop(self, *, grace_s: float = 1.0) -> None:
        """Terminate the program and all its processes, and kill those left after the grace period.

        A second call does nothing.
        """
        if self._is_stopped:
            # By now the number of its process group may belong to another program.
            return
        processes = self._started_processes()
        self._signal_group("SIGTERM")
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.terminate()
        deadline_s = time.monotonic() + grace_s
        self.wait(grace_s)
        psutil.wait_procs(processes, max(0.0, deadline_s - time.monotonic()))
        # Even if the program has ended, since its children may survive it or have started more processes.
        self._signal_group("SIGKILL")
        for _ in range(_MAX_SCANS):
            for process in processes:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(processes, _SCAN_S)
            processes = self._started_processes()
            if not processes:
                break
        self.wait(grace_s)
        # Its children may have written after its own end.
        self.cut_output()
        self._is_stopped = True

    def _signal_group(self, name: str) -> None:
        """Send a signal to the process group; on Windows, which has none, kill the program."""
        try:
            if IS_WINDOWS:
                self._process.kill()
            elif self.exit_code is None or not psutil.pid_exists(self._process.pid):
                # The system reuses a process number only once its group is empty. So if the program has ended and its
                # number exists, the group with this number belongs to another program.
                os.killpg(self._process.pid, getattr(signal, name))
        except (ProcessLookupError, PermissionError):
            return

    def _started_processes(self) -> list[psutil.Process]:
        """Return the running processes that the program has started, directly or not."""
        children = []
        with contextlib.suppress(psutil.Error):
            if self.exit_code is None:
                children = psutil.Process(self._process.pid).children(recursive=True)
        known_pids = {self._process.pid, *(process.pid for process in children)}
        new_pids = set(psutil.pids()) - self._older_pids - known_pids
        return children + _marked(new_pids, _BOT_VARIABLE, self._name, lambda mark: mark == self._mark)


class _Outputs:
    """Bound the outputs of all running programs, by one thread that ends with the last of them."""

    def __init__(self) -> None:
        self._programs: set[Program] = set()
        self._lock = threading.Lock()
        self._is_watching = False

    def add(self, program: Program) -> None:
        with self._lock:
            if not self._is_watching:
                threading.Thread(target=self._watch, daemon=True).start()
                self._is_watching = True
            self._programs.add(program)

    def discard(self, program: Program) -> None:
        with self._lock:
            self._programs.discard(program)

    def _watch(self) -> None:
        while True:
            time.sleep(_OUTPUT_CHECK_S)
            with self._lock:
                programs = list(self._programs)
                self._is_watching = bool(programs)
            if not programs:
                return
            for program in programs:
                program.cut_output(_OUTPUT_SLACK_BYTES)


_outputs = _Outputs()


def end_server_programs(server: str) -> int:
    """Kill the processes that a server left behind when it was killed, and return their number.

    Args:
        server: value of `SERVER_VARIABLE` in their environment.
    """
    bits = _server_bits(server)
    processes = _marked(psutil.pids(), SERVER_VARIABLE, server, lambda mark: mark >> _BOT_BITS == bits >> _BOT_BITS)
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, 5.0)
    return len(processes)


def _server_bits(server: str) -> int:
    digest = hashlib.blake2b(server.encode("utf-8", "surrogateescape"), digest_size=4).digest()
    return _MIN_MARK | int.from_bytes(digest) >> 4 << _BOT_BITS


@contextlib.contextmanager
def _inherited(mark: int) -> Iterator[None]:
    """Set the soft limit of this process to a mark while it starts a program.

    The program inherits it from its first instruction. The hard limit can be set only on the running program, and its
    first children may be older than that.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    with _starting:
        soft, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_RTTIME, (mark, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_RTTIME, (soft, hard))


def _set_mark(pid: int, mark: int) -> None:
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_RTTIME, (mark, mark))


def _marked(pids: Iterable[int], variable: str, value: str, has_mark: Callable[[int], bool]) -> list[psutil.Process]:
    """Return those of the processes whose resource limit or environment variable marks them."""
    processes = []
    for pid in pids:
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            is_marked = has_mark(_mark_of(pid)) or process.environ().get(variable) == value
            if is_marked and process.status() != psutil.STATUS_ZOMBIE:
                processes.append(process)
    return processes


def _mark_of(pid: int) -> int:
    if sys.platform != "linux":
        return 0
    limits = _REALTIME_LIMITS.search(Path(f"/proc/{pid}/limits").read_bytes())
    if limits is None:
        return 0
    soft, hard = limits.groups()
    if hard.isdigit():
        return int(hard)
    # A soft limit alone marks children that the program started before it had its hard limit. This process, and
    # whatever its other threads start, has the soft limit too for as long as `_starting` is held.
    is_ours = os.getpid() in (pid, psutil.Process(pid).ppid())
    if not soft.isdigit() or is_ours:
        return 0
    return int(soft)


class GameFile(NamedTuple):
    """Definition file of the game that a program plays, and the game's canonical name."""

    path: Path
    name: str

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables by which the program finds the game."""
        return {"ARENA_GAME": str(self.path.absolute()), "ARENA_GAME_NAME": short_name(self.name)}


def write_game(path: Path, game: Game, name: str = "") -> GameFile:
    """Write the definition of a game to a file.

    Args:
        name: canonical name, by default that of an equal shipped game, else the name of the file.
    """
    path.write_text(protocol.format_game_definition(game), "ascii")
    return GameFile(path, name or shipped_name(game) or path.name)


def start_program(
    listener: socket.socket,
    command: Iterable[str],
    game: GameFile,
    *,
    environment: Mapping[str, str] | None = None,
    directory: str | None = None,
) -> Program:
    """Start a program with the host and port of a listener as its last arguments.

    Its output goes to the file ``output`` next to the game's file.

    Args:
        environment: environment variables besides those of the game, by default those of this process.

    Raises:
        OSError: the program cannot be started.
        RuntimeError: no thread can be started to watch it.
    """
    host, port = listener.getsockname()
    if environment is None:
        environment = os.environ
    return Program(
        [*command, host, str(port)],
        environment={**environment, **game.variables},
        output_path=game.path.with_name("output"),
        directory=directory,
    )


POLL_S: Final = 0.05
"""Interval of checks whether a program that has not connected has ended."""
_RECEIVE_BYTES: Final = 1 << 16
_QUICK_ACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)
"""Socket option of Linux; None elsewhere."""


def accept_program(listener: socket.socket, program: Program, deadline_s: float) -> socket.socket | None:
    """Accept the connection of a program; return None if it ends first, or at the deadline.

    Args:
        deadline_s: time of `time.monotonic`, in seconds.
    """
    listener.settimeout(POLL_S)
    while True:
        # Read before `accept`, so that a program that connects and ends at once is still accepted.
        has_ended = program.exit_code is not None
        try:
            connection = listener.accept()[0]
        except TimeoutError:
            if has_ended or time.monotonic() > deadline_s:
                return None
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection


def acknowledge(connection: socket.socket) -> None:
    """Acknowledge received bytes at once.

    Otherwise a peer that writes twice in a row may wait 40 ms for the delayed acknowledgement. Linux clears the option
    by itself, so call this after each read. Other systems do nothing.
    """
    if _QUICK_ACK is not None:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, _QUICK_ACK, 1)


class RemoteBot(Bot):
    """Bot whose actions come from a program that speaks the ACPC protocol.

    Use it as a context manager, which ends the program. The program receives the states between two of its turns with
    its next question, and the last states of a hand when the hand ends. Its lines that are not replies are ignored, and
    its comments are passed to `View.comment`. A reply without a readable action raises an error, since it is a bug of
    the program. After an error every further call raises the same error.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        game: str | Game,
        *,
        connect_timeout_s: float = 10.0,
        reply_timeout_s: float = 60.0,
        leave_timeout_s: float = 1.0,
        environment: Mapping[str, str] | None = None,
        directory: str | None = None,
    ) -> None:
        """Start the program and wait for its handshake.

        Args:
            command: the program and its arguments, as words or as one text that `split_command` splits.
            game: a game, its name, or the path of its definition. The program finds it in ``ARENA_GAME``.
            connect_timeout_s: longest time until the handshake, in seconds.
            reply_timeout_s: longest time for a reply, in seconds.
            leave_timeout_s: time for the program to exit once its connection is closed, in seconds, and again after
                it was asked to terminate. Then it is killed with all processes that it has started.
            environment: its environment variables, by default those of this process.
            directory: folder in which it is started; None for the current one.

        Raises:
            GameDefinitionError: there is no such game.
            OSError: the program cannot be started.
            BotExited: it ended before the handshake.
            BotTimeout: it did not connect, or send the handshake, in time.
            RemoteBotError: its first line is not a handshake.
        """
        if isinstance(command, str):
            self.command = split_command(command)
        else:
            self.command = tuple(command)
        name = ""
        if isinstance(game, str):
            name, game = protocol.find_game(game)
        self.game = game
        self._reply_timeout_s = reply_timeout_s
        self._leave_timeout_s = leave_timeout_s
        self._error: RemoteBotError | None = None
        self._session = protocol.DealerSession(self.game)
        self._connection: socket.socket | None = None
        # A program expects growing hand numbers. A hand of the views that repeats a number gets the next free one.
        self._number = -1
        """Number of the current hand as sent to the program."""
        self._hand: int | None = None
        """Number of the current hand in the views; None between hands."""
        self._sent = -1
        """Number of actions in the last state sent; -1 before the first state of a hand."""
        self._folder = tempfile.TemporaryDirectory()
        file = write_game(Path(self._folder.name) / "bot.game", self.game, name)
        try:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                self._program = start_program(
                    listener, self.command, file, environment=environment, directory=directory
                )
                deadline_s = time.monotonic() + connect_timeout_s
                try:
                    self._connection = accept_program(listener, self._program, deadline_s)
                    if self._connection is None:
                        if self._program.exit_code is not None:
                            raise self._exited()
                        raise self._timed_out("connect", connect_timeout_s)
                    self._greet(connect_timeout_s, deadline_s)
                except BaseException:
                    self.close()
                    raise
        except OSError:
            self._folder.cleanup()
            raise

    def __enter__(self) -> RemoteBot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and end all processes of the program; a second call does nothing."""
        if self._error is None:
            self._error = RemoteBotError("it has been closed", self.command, self._program.last_lines())
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._program.wait(self._leave_timeout_s)
        self._program.stop(grace_s=self._leave_timeout_s)
        self._folder.cleanup()

    # ---- as a bot

    def hand_started(self, view: View) -> None:
        self._send_states(view)

    def act(self, view: View) -> Action:
        """Send the states since the last turn, and wait for the reply.

        Raises:
            BotExited: the program ended, or closed its connection.
            BotTimeout: it did not reply in time.
            RemoteBotError: its reply holds no action, or an earlier call failed.
        """
        self._send_states(view)
        if self._session.state is not protocol.SessionState.AWAITING_REPLY:
            # The caller asks again about a state that was sent and answered before.
            self._send(view)
        deadline_s = time.monotonic() + self._reply_timeout_s
        while True:
            event = self._next_event("answer", self._reply_timeout_s, deadline_s)
            if isinstance(event, protocol.Reply):
                return event.action
            if isinstance(event, protocol.Comment):
                view.comment(event.raw.decode("utf-8", "replace").lstrip("#; "))
            elif isinstance(event, protocol.BadAction | protocol.UnknownAction):
                raise self._fail(RemoteBotError(f"its answer {quoted(event.raw)} holds no action", self.command, ()))

    def hand_finished(self, view: View) -> None:
        self._send_states(view)
        self._hand = None

    def match_finished(self) -> None:
        self.close()

    # ---- states

    def _send_states(self, view: View) -> None:
        """Send the states that lead from the last one sent to the state of the view, inclusive."""
        actions = [action for round_ in view.actions_by_round for _, action in round_]
        if view.hand_number != self._hand:
            self._hand = view.hand_number
            self._number = max(self._number + 1, view.hand_number)
            self._sent = -1
        betting = betting_start(self.game)
        for actions_before, action in enumerate(actions):
            if actions_before > self._sent:
                self._send(View.from_holding(betting, view.position, view.hole_cards, view.board))
            betting = betting.after(action)
        if self._sent < len(actions):
            self._send(view)
        self._sent = len(actions)

    def _send(self, view: View) -> None:
        if self._error is not None:
            raise self._error
        state = View(view.betting, view.position, self._number, view.all_hole_cards, view.board).match_state
        line = state.format().encode() + b"\r\n"
        assert self._connection is not None
        try:
            self._connection.sendall(self._session.send(line, is_question=view.is_my_turn))
        except OSError:
            raise self._exited() from None

    # ---- events

    def _greet(self, timeout_s: float, deadline_s: float) -> None:
        try:
            event = self._next_event("name its version", timeout_s, deadline_s)
        except protocol.RemoteProtocolError as error:
            raise self._fail(RemoteBotError(str(error), self.command, ())) from None
        assert isinstance(event, protocol.Handshake)

    def _next_event(self, what: str, timeout_s: float, deadline_s: float) -> DealerEvent:
        """Wait for the next event of the program's connection other than its end.

        Args:
            what: verb for the error if the program does not act in time, such as "answer".

        Raises:
            BotExited: the program ended, or closed its connection.
            BotTimeout: the deadline passed.
        """
        if self._error is not None:
            raise self._error
        assert self._connection is not None
        while True:
            event = self._session.next_event()
            if isinstance(event, protocol.Closed):
                raise self._exited()
            remaining_s = deadline_s - time.monotonic()
            # A reply that has arrived counts, even if it is read after the deadline.
            if remaining_s <= 0 and not isinstance(event, protocol.Reply | protocol.Handshake):
                raise self._timed_out(what, timeout_s)
            if event is not protocol.NEED_DATA:
                return event
            self._connection.settimeout(remaining_s)
            try:
                data = self._connection.recv(_RECEIVE_BYTES)
            except TimeoutError:
                continue
            except OSError:
                data = b""
            finally:
                self._connection.settimeout(None)
            if data:
                acknowledge(self._connection)
                self._session.receive_data(data)
            else:
                self._session.receive_eof()

    def _exited(self) -> RemoteBotError:
        exit_code = self._program.wait(self._leave_timeout_s)
        return self._fail(BotExited(exit_code, self.command, self._program.last_lines()))

    def _timed_out(self, what: str, timeout_s: float) -> RemoteBotError:
        return self._fail(BotTimeout(what, timeout_s, self.command, self._program.last_lines()))

    def _fail(self, error: RemoteBotError) -> RemoteBotError:
        self._error = error
        return error
