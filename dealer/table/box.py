"""Script that runs a program in bubblewrap without a network, and forwards its connection to the dealer.

    python -I -S box.py -- BWRAP OPTION... -- PYTHON ... box.py LIMIT=BYTES... -- PROGRAM ARGUMENT... HOST PORT

Outside, the script starts bubblewrap with itself as the first program. Inside, it listens on a port of the box's own
loopback device, passes the listening socket out, and executes the program with that port instead of the dealer's.
Outside, it accepts connections at that socket, one at a time, and forwards each to HOST and PORT. The program never
holds a socket that could reach anything else. `dealer.table.bubblewrap` composes the command line.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading

_NOT_STARTED = 126
"""Exit code of a shell for a program that cannot be executed."""
_FIRST_USER = 2_000_000_000
"""First of the user ids for boxes of root, which no system assigns. The id of a process is added to it; Linux limits
process ids to 2**22, so the sum stays below 2**31.
"""
_READ_BYTES = 1 << 16
_FORWARD_S = 2.0
"""Time to forward the last bytes of a program that has ended."""
_CHECK_S = 0.02


def main(words: list[str]) -> int:
    """Run the box or, inside it, execute the program; return the exit code."""
    before = words[: words.index("--")]
    command = words[len(before) + 1 :]
    if before:
        return _inside(before, command)
    return _outside(command)


# ---- outside
def _outside(command: list[str]) -> int:
    ours, theirs = socket.socketpair()
    environment = {}
    passed_fds = [theirs.fileno()]
    program_start = command.index("--") + 1
    options = command[: program_start - 1]
    program = command[program_start:]
    game = os.environ.get("ARENA_GAME")
    if game:
        # The box cannot read the file itself, which lies in a folder of the server. Pass its content.
        game_fd = os.open(game, os.O_RDONLY)
        passed_fds.append(game_fd)
        environment = {"ARENA_GAME": "/arena/match.game", "ARENA_GAME_NAME": os.environ["ARENA_GAME_NAME"]}
        options += ["--perms", "0444", "--ro-bind-data", str(game_fd), environment["ARENA_GAME"]]
    info_read, info_write = os.pipe()
    passed_fds.append(info_write)
    # Read-only last, as the options before it create files.
    options += ["--remount-ro", "/", "--info-fd", str(info_write), "--"]
    user = 0
    if os.geteuid() == 0:
        # Boxes must not share a user, as RLIMIT_NPROC counts the processes of a user.
        user = _FIRST_USER + os.getpid()
    limits_end = program.index("--")
    program[limits_end:limits_end] = [f"socket={theirs.fileno()}", f"user={user}"]
    # If memory runs out, the system kills these processes first.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        process = subprocess.Popen([*options, *program], pass_fds=passed_fds, env=environment, stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
        return _NOT_STARTED
    theirs.close()
    os.close(info_write)
    with open(info_read, encoding="ascii") as file:
        child = re.search(r'"child-pid": ([0-9]+)', file.read())
    # 0 is no process, so `pidfd_open` raises OSError. Bubblewrap has failed then, and its exit code follows.
    child_pid = 0
    if child is not None:
        child_pid = int(child[1])
    with contextlib.suppress(OSError):
        # Kill the first process in the box, and its PID namespace ends with it. Bubblewrap, which inherits the ignored
        # SIGTERM, stays to reap it. A pidfd, because the number may be reused.
        handle = os.pidfd_open(child_pid)
        signal.signal(signal.SIGTERM, lambda number, frame: _kill(handle))
    _, received_fds, _, _ = socket.recv_fds(ours, 1, 1)
    # The program in the box ended before it passed its socket.
    if not received_fds:
        return process.wait()
    listener = socket.socket(fileno=received_fds[0])
    dealer = program[-2], int(program[-1])
    has_ended = threading.Event()
    forwarder = threading.Thread(target=_forward_all, args=(listener, dealer, has_ended), daemon=True)
    forwarder.start()
    code = process.wait()
    # The last bytes of the program may not have been forwarded yet.
    has_ended.set()
    listener.shutdown(socket.SHUT_RDWR)
    forwarder.join(_FORWARD_S)
    return code


def _kill(handle: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)


def _forward_all(listener: socket.socket, dealer: tuple[str, int], has_ended: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            _forward(connection, dealer, has_ended)


def _forward(inside: socket.socket, dealer: tuple[str, int], has_ended: threading.Event) -> None:
    with inside, contextlib.suppress(OSError), socket.create_connection(dealer) as outside:
        for sock in (inside, outside):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        replies = threading.Thread(target=_copy, args=(outside, inside), daemon=True)
        replies.start()
        _copy(inside, outside, acknowledges=True)
        # The program may have closed its sending side only, and still read.
        while replies.is_alive() and not has_ended.is_set():
            replies.join(_CHECK_S)


def _copy(source: socket.socket, target: socket.socket, *, acknowledges: bool = False) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_READ_BYTES):
            if acknowledges:
                # A program that writes a line in two calls would wait 40 ms before the second; see
                # `dealer.table.listener.acknowledge`. The system resets the option, so set it after every read.
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


# ---- in the box
def _inside(words: list[str], command: list[str]) -> int:
    import resource

    numbers = {}
    for word in words:
        name, number = word.split("=")
        numbers[name] = int(number)
    listener = socket.create_server(("127.0.0.1", 0))
    with socket.socket(fileno=numbers.pop("socket")) as outside:
        socket.send_fds(outside, [b"."], [listener.fileno()])
    command[-2:] = ["127.0.0.1", str(listener.getsockname()[1])]
    user = numbers.pop("user")
    # The remaining numbers are limits. No core dumps: they could fill the disk.
    for name, limit in {"CORE": 0, **numbers}.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))
    # The user last: after setresuid, the process may not change its groups.
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    # Ignored signals are inherited. Python ignores SIGPIPE, and this script SIGTERM.
    for signal_number in (signal.SIGPIPE, signal.SIGTERM):
        signal.signal(signal_number, signal.SIG_DFL)
    # The program gets no file of the server. The listening socket lives on outside.
    os.closerange(3, 1 << 16)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
    return _NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
