"""Starts a program in a box of bubblewrap's that has no network, and carries its connection to the dealer.

It is run as a script by an interpreter that imports nothing else:

    python -I -S box.py -- BWRAP OPTION... -- PYTHON ... box.py LIMIT=BYTES... -- PROGRAM ARGUMENT... HOST PORT

Outside, it starts bubblewrap and waits. In the box, where there is a loopback of its own, it opens a port there, passes
the listening socket out, and becomes the program with that port in place of the dealer's. Outside, each connection to
the socket is carried to HOST and PORT, one at a time: the program has no socket that could reach anything else.

A server that runs as root starts every program as a user of its own that nothing else has.
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
_FIRST_USER = 2_000_000_000
"""Numbers of users from here on are nobody's; the largest number of a process added, they are below 2**31."""
_READ_BYTES = 1 << 16
_LEAVE_S = 2.0
_LOOK_S = 0.02


def main(words: list[str]) -> int:
    """Start the box, or become the program in it; returns the exit code."""
    before = words[: words.index("--")]
    command = words[len(before) + 1 :]
    if before:
        return _inside(before, command)
    return _outside(command)


# ---- outside
def _outside(command: list[str]) -> int:
    ours, theirs = socket.socketpair()
    environment = {}
    passed = [theirs.fileno()]
    inner = command.index("--") + 1
    options = command[:inner]
    program = command[inner:]
    if game := os.environ.get("ARENA_GAME"):
        # Only we may read where it lies.
        passed.append(os.open(game, os.O_RDONLY))
        environment = {"ARENA_GAME": "/arena/match.game", "ARENA_GAME_NAME": os.environ["ARENA_GAME_NAME"]}
        options[-1:-1] = ["--perms", "0444", "--ro-bind-data", str(passed[-1]), environment["ARENA_GAME"]]
    facts, told = os.pipe()
    passed.append(told)
    options[-1:-1] = ["--remount-ro", "/", "--info-fd", str(told)]
    user = 0
    if os.geteuid() == 0:
        user = _FIRST_USER + os.getpid()
    place = program.index("--")
    program[place:place] = [f"socket={theirs.fileno()}", f"user={user}"]
    # Should memory run short, these go first.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        process = subprocess.Popen([*options, *program], pass_fds=passed, env=environment, stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
        return _NOT_STARTED
    theirs.close()
    os.close(told)
    with open(facts, encoding="ascii") as file:
        first = re.search(r'"child-pid": ([0-9]+)', file.read())
    with contextlib.suppress(OSError):
        # Everything in the box ends with its first process; bubblewrap, which ignores the signal, takes note of it.
        handle = os.pidfd_open(int(first[1]) if first is not None else 0)
        signal.signal(signal.SIGTERM, lambda number, frame: _kill(handle))
    _, received, _, _ = socket.recv_fds(ours, 1, 1)
    if not received:
        return process.wait()
    listener = socket.socket(fileno=received[0])
    dealer = program[-2], int(program[-1])
    has_ended = threading.Event()
    carrying = threading.Thread(target=_carry_all, args=(listener, dealer, has_ended), daemon=True)
    carrying.start()
    code = process.wait()
    # What the program has said last may still be on its way.
    has_ended.set()
    listener.shutdown(socket.SHUT_RDWR)
    carrying.join(_LEAVE_S)
    return code


def _kill(handle: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)


def _carry_all(listener: socket.socket, dealer: tuple[str, int], has_ended: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while True:
            _carry(listener.accept()[0], dealer, has_ended)


def _carry(inside: socket.socket, dealer: tuple[str, int], has_ended: threading.Event) -> None:
    with inside, contextlib.suppress(OSError), socket.create_connection(dealer) as outside:
        for one in (inside, outside):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=_copy, args=(outside, inside), daemon=True)
        back.start()
        _copy(inside, outside, acknowledges=True)
        # It may have closed one direction only.
        while back.is_alive() and not has_ended.is_set():
            back.join(_LOOK_S)


def _copy(source: socket.socket, target: socket.socket, *, acknowledges: bool = False) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_READ_BYTES):
            if acknowledges:
                # Or a program that sends a line in two calls waits 40 ms with the second; the option is not lasting.
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


# ---- in the box
def _inside(words: list[str], command: list[str]) -> int:
    import resource

    given = {name: int(number) for name, number in (word.split("=") for word in words)}
    listener = socket.create_server(("127.0.0.1", 0))
    with socket.socket(fileno=given.pop("socket")) as dealer:
        socket.send_fds(dealer, [b"."], [listener.fileno()])
    command[-2:] = ["127.0.0.1", str(listener.getsockname()[1])]
    user = given.pop("user")
    for name, most in {"CORE": 0, **given}.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    for number in (signal.SIGPIPE, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.closerange(3, 1 << 16)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
    return _NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
