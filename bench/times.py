"""Times of a server's answers and events.

The time of an event is from a request until a listener has its job. The time of an action is from sending it until the
page's stream has sent a newer table: one agent plays in its own seat over the text port, and waits before each action
until the page is at rest; the streams check for a newer table four times a second.
"""

from __future__ import annotations

import contextlib
import json
import socket
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Final

from bench.served import ANSWER_S, API, Caller, until
from dealer.bench import Row
from engine.betting_rules import CALL
from engine.game import Game
from protocol import NEED_DATA, Handshake, PlayerSession, ReceivedState, Reply

_PAUSE_S: Final = 0.6
_MOST_BYTES: Final = 1 << 16


def percentile(times_s: Sequence[float], share: float) -> float:
    """Smallest of the times that a share of all times does not exceed."""
    ordered = sorted(times_s)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def row_of_times(group: str, who: str, times_s: Sequence[float], note: str) -> Row:
    """Row with the median in milliseconds, and the 99th percentile in its note."""
    worst_ms = 1000 * percentile(times_s, 0.99)
    millis = [1000 * seconds for seconds in times_s]
    note = f"99 of 100 within {worst_ms:.1f} ms; {note}"
    return Row(group, who, statistics.median(millis), min(millis), max(millis), "ms", None, note)


def answer_time_s(caller: Caller, path: str) -> float:
    """Time of a page, or of a call if the path begins with ``/api``."""
    begun_s = time.perf_counter()
    if path.startswith(API):
        caller.call("GET", path.removeprefix(API))
    else:
        caller.page(path)
    return time.perf_counter() - begun_s


def event_times(caller: Caller, count: int, contest: dict[str, object]) -> list[float]:
    """Seconds from a request until a listener receives its job.

    Args:
        caller: of the server.
        count: number of requests.
        contest: settings of each request.
    """
    heard: dict[int, float] = {}
    listening = threading.Event()
    is_over = threading.Event()

    def listen() -> None:
        with contextlib.closing(caller.connection()) as connection:
            connection.request("GET", f"{API}/events", headers=caller.headers)
            answer = connection.getresponse()
            event = ""
            while not is_over.is_set():
                line = answer.readline().decode()
                now_s = time.perf_counter()
                if not line:
                    return
                listening.set()
                event = line[7:].strip() if line.startswith("event: ") else event
                if line.startswith("data: ") and event == "job-changed":
                    heard.setdefault(json.loads(line[6:])["job"], now_s)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    if not listening.wait(ANSWER_S):
        raise RuntimeError("the server sends no events")
    times_s = []
    for _ in range(count):
        begun_s = time.perf_counter()
        job = caller.call("POST", "/jobs", contest)["id"]
        until(lambda job=job: job in heard)  # type: ignore[misc]
        times_s.append(heard[job] - begun_s)
    is_over.set()
    caller.call("POST", "/jobs", contest)
    listener.join(ANSWER_S)
    return times_s


def page_times(
    caller: Caller, text_port: int, user: str, token: str, *, game_name: str, game: Game, count: int
) -> list[float]:
    """Seconds from an action until a watching page has a newer table.

    Args:
        caller: of the server.
        text_port: of the server.
        user: who asks for the match. token: of that user.
        game_name: as the server calls the game. game: the same.
        count: number of actions.

    Raises:
        OSError: the server cannot be reached.
        RuntimeError: it does not play.
    """
    with contextlib.closing(socket.create_connection(("127.0.0.1", text_port), ANSWER_S)) as text:
        text.sendall(f"{user} {token}\nRUNMATCHES {game_name} 1 watched 0 LOCAL calling\n".encode())
        with text.makefile("r", encoding="utf-8") as lines:
            called = next((line.split() for line in lines if line.startswith("RUN ")), None)
        if called is None:
            raise RuntimeError("the server did not call the agent that is watched")
        with contextlib.closing(socket.create_connection((called[1], int(called[2])), ANSWER_S)) as seat:
            questions = _questions(seat, game)
            session = next(questions)
            run = caller.call("GET", "/runs?state=running&limit=1")["runs"][0]["id"]
            match = f"/runs/{run}/matches/match"
            while not _is_there(caller, match):
                # A match has a page when it has a finished hand.
                seat.sendall(session.send(Reply(CALL, b"")))
                session = next(questions)
            with _watching(caller, f"{match}/events") as arrived:
                times_s = []
                for _ in range(count):
                    time.sleep(_PAUSE_S)
                    before = len(arrived)
                    begun_s = time.perf_counter()
                    seat.sendall(session.send(Reply(CALL, b"")))
                    until(lambda before=before: len(arrived) > before)  # type: ignore[misc]
                    times_s.append(arrived[before] - begun_s)
                    session = next(questions)
                return times_s


def _questions(seat: socket.socket, game: Game) -> Iterator[PlayerSession]:
    """Yield the session each time it waits for an answer."""
    session = PlayerSession(game)
    seat.sendall(session.send(Handshake((2, 0, 0))))
    while data := seat.recv(_MOST_BYTES):
        session.receive_data(data)
        while (event := session.next_event()) is not NEED_DATA:
            if isinstance(event, ReceivedState) and event.is_my_turn:
                yield session
    raise RuntimeError("the match that is watched has ended")


def _is_there(caller: Caller, path: str) -> bool:
    try:
        caller.page(path)
    except RuntimeError:
        return False
    return True


@contextlib.contextmanager
def _watching(caller: Caller, path: str) -> Iterator[list[float]]:
    """Record the times of a stream's events until the end of the block."""
    arrived: list[float] = []
    with contextlib.closing(caller.connection()) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        if answer.status != 200:
            raise RuntimeError(f"GET {path}: {answer.status}")

        def listen() -> None:
            with contextlib.suppress(OSError, ValueError, AttributeError):
                while line := answer.readline():
                    if line.startswith(b"event: state"):
                        arrived.append(time.perf_counter())

        threading.Thread(target=listen, daemon=True).start()
        until(lambda: bool(arrived))
        yield arrived
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
