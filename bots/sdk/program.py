"""A program of any language as a process, and as a `Bot` in Python.

`Program` starts one, watches it, and ends it together with everything it started. A bot may be a script that starts
the real player, and that player may outlive the script. So whatever belongs to a program is found in four ways: its
process group (POSIX), its descendants, a variable in the environment (``ARENA_BOT``), and, on Linux, a number in a
resource limit. A process that forks twice, calls ``setsid`` and clears its environment has left the first three; a hard
limit it inherits all the same, and only root can raise it again. The limit is ``RLIMIT_RTTIME``, which concerns
real-time scheduling only, and the numbers are too large to bound even that. A hard limit can be set only once the
program has started; what it starts before that inherits the soft limit, which was ours while it started.

`RemoteBot` plays with one as a dealer would:

    with RemoteBot(["./my_bot", "--fast"], "nolimit") as bot:
        for record in self_play("nolimit", [bot, MfsBot()], deals=1000): ...

The program is started as any dealer starts it, with host and port as its last two arguments; it connects, names its
version, and is sent every state of its hands: those between two of its turns when it is next asked, the last ones when
the hand is over. To the program this is a match like any other.

- Hand numbers only grow, as the program expects: a hand whose number has been played already gets the next free one.
- Lines that are not replies are skipped, and comments are passed on to `View.comment`, as by a dealer. A reply without
  a readable action is an error here, not a call: it is the program's bug.
- After an error nothing more is sent to the program: every further call raises the same error.
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
from protocol.game_definition import name_of, short_name
from protocol.session import DealerEvent

_LAST_LINES = 5
_LAST_BYTES = 1 << 14
MAX_OUTPUT_BYTES: Final = 10_000_000
"""Kept of the output of a program, besides its last lines."""
_OUTPUT_NOTE = f"\n[more than {MAX_OUTPUT_BYTES:,} bytes: the rest is left out, except for its end]\n".encode()
_OUTPUT_SLACK_BYTES = 1 << 20
"""By which an output may exceed its bound before it is cut while the program runs."""
_OUTPUT_CHECK_S = 0.25
_MOST_LINE_LETTERS = 4096
_BOT_VARIABLE = "ARENA_BOT"
SERVER_VARIABLE = "ARENA_SERVER"
"""Set in the environment of every process of a server; its value names the server's folder, the same at every start."""
_BOT_BITS = 32
_LEAST_MARK = 1 << 61
"""Above any real limit: 73,000 years, in microseconds."""
_REALTIME_LIMITS = re.compile(rb"(?m)^Max realtime timeout +(\S+) +(\S+) ")
_starting = threading.Lock()
_MOST_ROUNDS = 10
"""How often what is left is looked for: a process may start another while it is being ended."""
_ROUND_S = 0.05
IS_WINDOWS = os.name == "nt"


def split_command(text: str, *, is_windows: bool = IS_WINDOWS) -> tuple[str, ...]:
    """The words of a command line; quotes hold a word together, and on Windows a backslash is an ordinary character.

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
    """One running program; both its output streams go to a file, so that output costs no time up to a large bound."""

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
            output_path: where its output goes; an earlier file is replaced, unless it is to be appended to.
            directory: the folder it is started in; None for the present one.
            on_exit: called when the process has ended, in a thread of its own.

        Raises:
            OSError: it cannot be started.
            RuntimeError: no thread can be started to watch it.
        """
        self.output_path = output_path
        self._on_exit = on_exit
        self._ended = threading.Event()
        self._is_stopped = False
        self._name = uuid.uuid4().hex
        self._mark = _server_bits(environment.get(SERVER_VARIABLE, self._name)) | int(self._name[:8], 16)
        self._older_pids = frozenset(psutil.pids())
        if not append:
            output_path.open("wb").close()
        # Appended to, so that a program continues at the end of an output that was cut.
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
                    # Ctrl-C reaches us, not the bots: we end them. Windows alone knows the flag.
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )
        self.pid = self._process.pid
        _set_mark(self.pid, self._mark)
        try:
            _outputs.add(self)
            threading.Thread(target=self._await_exit, daemon=True).start()
        except RuntimeError:
            _outputs.discard(self)
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
        """Its exit code, None while it runs; a negative number is the signal that ended it."""
        return self._process.returncode if self._ended.is_set() else None

    def cut_output(self, slack_bytes: int = 0) -> None:
        """Cut an output that is too large to its first `MAX_OUTPUT_BYTES` and its end."""
        with contextlib.suppress(OSError):
            if self.output_path.stat().st_size <= MAX_OUTPUT_BYTES + len(_OUTPUT_NOTE) + _LAST_BYTES + slack_bytes:
                return
            with self.output_path.open("rb") as output:
                output.seek(-_LAST_BYTES, os.SEEK_END)
                end = output.read(_LAST_BYTES)
            os.truncate(self.output_path, MAX_OUTPUT_BYTES)
            with self.output_path.open("ab") as output:
                output.write(_OUTPUT_NOTE + end)

    def has_written(self, text: str) -> bool:
        """Whether the first of what it wrote holds a text."""
        try:
            with self.output_path.open("rb") as output:
                output.seek(self._output_start)
                return text.encode() in output.read(_LAST_BYTES)
        except OSError:
            return False

    def last_lines(self) -> list[str]:
        """The last lines it wrote, and where they are the end of an indented block, the line that heads it.

        Many languages (Ruby, Java, JavaScript) print what went wrong first and the calls that led there below it.
        """
        try:
            with self.output_path.open("rb") as output:
                output.seek(0, os.SEEK_END)
                output.seek(max(0, output.tell() - _LAST_BYTES))
                text = output.read().decode("utf-8", "replace")
        except OSError:
            return []
        lines = [line.rstrip()[-_MOST_LINE_LETTERS:] for line in text.splitlines() if line.strip()]
        last = [escaped(line, "\t") for line in lines[-_LAST_LINES:]]
        heads = [line for line in lines[:-_LAST_LINES] if not line[0].isspace()]
        if heads and last[0][0].isspace() and not heads[-1].startswith("Traceback"):
            return [escaped(heads[-1], "\t"), "...", *last]
        return last

    def wait(self, timeout_s: float) -> int | None:
        """Wait for it to end; its exit code, or None if it still runs."""
        self._ended.wait(timeout_s)
        return self.exit_code

    def stop(self, *, grace_s: float = 1.0) -> None:
        """End it and what it started: asked first, forced after the grace period; a second call does nothing."""
        if self._is_stopped:
            # By now the number of its group may belong to another program.
            return
        others = self._others()
        self._signal_group("SIGTERM")
        for process in others:
            with contextlib.suppress(psutil.Error):
                process.terminate()
        until = time.monotonic() + grace_s
        self.wait(grace_s)
        psutil.wait_procs(others, max(0.0, until - time.monotonic()))
        # Also when the bot itself has ended: what it started may still be there, or may have started more meanwhile.
        self._signal_group("SIGKILL")
        for _ in range(_MOST_ROUNDS):
            for process in others:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(others, _ROUND_S)
            if not (others := self._others()):
                break
        self.wait(grace_s)
        # What the program had started may have written after its end.
        self.cut_output()
        self._is_stopped = True

    def _signal_group(self, name: str) -> None:
        """Signal the bot and its process group; where there are no groups, end the bot."""
        try:
            if IS_WINDOWS:
                self._process.kill()
            elif self.exit_code is None or not psutil.pid_exists(self._process.pid):
                # Once the bot has ended, another process with its number means that its group was empty before.
                os.killpg(self._process.pid, getattr(signal, name))
        except (ProcessLookupError, PermissionError):
            return

    def _others(self) -> list[psutil.Process]:
        """The processes that the bot has started and that still run, wherever they have gone."""
        found = []
        with contextlib.suppress(psutil.Error):
            if self.exit_code is None:
                found = psutil.Process(self._process.pid).children(recursive=True)
        pids = set(psutil.pids()) - self._older_pids - {self._process.pid, *(process.pid for process in found)}
        return found + _marked(pids, _BOT_VARIABLE, self._name, lambda mark: mark == self._mark)


class _Outputs:
    """Keeps the outputs of running programs within their bound: one thread, while there are any."""

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
    """End and count the processes that an earlier start of the server, a value of `SERVER_VARIABLE`, has left."""
    bits = _server_bits(server)
    found = _marked(psutil.pids(), SERVER_VARIABLE, server, lambda mark: mark >> _BOT_BITS == bits >> _BOT_BITS)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(found, 5.0)
    return len(found)


def _server_bits(server: str) -> int:
    digest = hashlib.blake2b(server.encode("utf-8", "surrogateescape"), digest_size=4).digest()
    return _LEAST_MARK | int.from_bytes(digest) >> 4 << _BOT_BITS


@contextlib.contextmanager
def _inherited(mark: int) -> Iterator[None]:
    """Have what is started meanwhile inherit a mark, as a soft limit."""
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
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            is_marked = has_mark(_mark_of(pid)) or process.environ().get(variable) == value
            if is_marked and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _mark_of(pid: int) -> int:
    if sys.platform != "linux":
        return 0
    limits = _REALTIME_LIMITS.search(Path(f"/proc/{pid}/limits").read_bytes())
    soft, hard = limits.groups() if limits is not None else (b"", b"")
    if hard.isdigit():
        return int(hard)
    # Only what a program starts before it has a hard limit. While one is started, we have the soft limit ourselves, and
    # so has what other threads start.
    is_ours = os.getpid() in (pid, psutil.Process(pid).ppid())
    return int(soft) if soft.isdigit() and not is_ours else 0


class GameFile(NamedTuple):
    """A game for a program: the file of its definition, and its canonical name."""

    path: Path
    name: str

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of the program."""
        return {"ARENA_GAME": str(self.path.absolute()), "ARENA_GAME_NAME": short_name(self.name)}


def write_game(path: Path, game: Game, name: str = "") -> GameFile:
    """Write the definition of a game; without a name it is called as the shipped game, or else as the file."""
    path.write_text(protocol.format_game_definition(game), "ascii")
    return GameFile(path, name or name_of(game) or path.name)


def start_program(
    listener: socket.socket,
    command: Iterable[str],
    game: GameFile,
    *,
    environment: Mapping[str, str] | None = None,
    directory: str | None = None,
) -> Program:
    """Start a program as a dealer does, with host and port as its last arguments; it writes beside the game's file.

    Args:
        environment: besides the game; the variables of this process by default.
    """
    host, port = listener.getsockname()
    return Program(
        [*command, host, str(port)],
        environment={**(os.environ if environment is None else environment), **game.variables},
        output_path=game.path.with_name("output"),
        directory=directory,
    )


POLL_S: Final = 0.05
"""How often a program that has not connected yet is looked after."""
_RECEIVE_BYTES: Final = 1 << 16
_QUICK_ACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)
"""Not lasting: it is set again after each read."""


def accept_program(listener: socket.socket, program: Program, deadline_s: float) -> socket.socket | None:
    """The connection of a program that was given a port; None where it has ended, or does not connect in time."""
    listener.settimeout(POLL_S)
    while True:
        # Asked before looking: a program that ends right after it has connected is still found here.
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
    """Acknowledge received bytes at once, where the system can: what is sent in two calls is not delayed by 40 ms."""
    if _QUICK_ACK is not None:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, _QUICK_ACK, 1)


class RemoteBot(Bot):
    """A program that plays; a context manager that ends it."""

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
        """Start the program and wait until it has named its version.

        Args:
            command: the program and its arguments; as one text, split as a shell does.
            game: the game, its name, or the path of its definition; see `GameFile` for what the program gets.
            connect_timeout_s: how long it may take to connect and to name its version.
            reply_timeout_s: how long it may take for an answer.
            leave_timeout_s: how long it may take to end by itself once its connection is closed, and once more when it
                is asked to end; then it is killed, with all it started.
            environment: its environment variables; those of this process by default.
            directory: the folder it is started in; None for the present one.

        Raises:
            OSError: it cannot be started.
            BotExited: it ended before it had named its version.
            BotTimeout: it did not connect, or name its version, in time.
            RemoteBotError: its first line names no version.
        """
        if isinstance(command, str):
            self.command = split_command(command)
        else:
            self.command = tuple(command)
        name, self.game = protocol.find_game(game) if isinstance(game, str) else ("", game)
        self._reply_timeout_s = reply_timeout_s
        self._leave_timeout_s = leave_timeout_s
        self._error: RemoteBotError | None = None
        self._session = protocol.DealerSession(self.game)
        self._connection: socket.socket | None = None
        self._number = -1
        """The hand the program is in, as it counts."""
        self._hand: int | None = None
        """The number of that hand in the views; None between hands."""
        self._sent = -1
        """How many actions of it were sent; -1 before its first state."""
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
                        has_ended = self._program.exit_code is not None
                        raise self._exited() if has_ended else self._timed_out("connect", connect_timeout_s)
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
        """Close the connection and end the program with all it started; a second call does nothing."""
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
        """Send what has happened, and wait for the answer.

        Raises:
            BotExited: the program ended, or closed its connection.
            BotTimeout: it did not answer in time.
            RemoteBotError: its answer holds no action, or an earlier call failed.
        """
        self._send_states(view)
        if self._session.state is not protocol.SessionState.AWAITING_REPLY:
            # The same state is asked about once more.
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
        """Send every state that has not been sent yet; the last is the view's own."""
        actions = [action for round_ in view.actions_by_round for _, action in round_]
        if view.hand_number != self._hand:
            self._hand = view.hand_number
            self._number = max(self._number + 1, view.hand_number)
            self._sent = -1
        betting = betting_start(self.game)
        for known, action in enumerate(actions):
            if known > self._sent:
                self._send(View.from_holding(betting, view.position, view.hole_cards, view.board))
            betting = betting.after(action)
        if self._sent < len(actions):
            self._send(view)
        self._sent = len(actions)

    def _send(self, view: View) -> None:
        if self._error is not None:
            raise self._error
        state = View(view.betting, view.position, self._number, view.all_hole_cards, view.board).match_state
        assert self._connection is not None
        try:
            self._connection.sendall(self._session.send(state.format().encode() + b"\r\n", is_question=view.is_my_turn))
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
        """What the program does next, except for its end, which raises."""
        if self._error is not None:
            raise self._error
        assert self._connection is not None
        while True:
            event = self._session.next_event()
            if isinstance(event, protocol.Closed):
                raise self._exited()
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 and not isinstance(event, protocol.Reply | protocol.Handshake):
                raise self._timed_out(what, timeout_s)
            if event is not protocol.NEED_DATA:
                return event
            self._connection.settimeout(left_s)
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
