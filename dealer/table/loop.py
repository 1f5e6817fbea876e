"""Event loop for matches: asyncio's selector loop, with a fast path for their sockets.

A dealer waits for one small line and sends two. In asyncio each event costs a handle, a context and a pass of the loop.
`MatchLoop.watch` registers a socket with the selector itself, which calls back from inside `select` and returns to
asyncio when asyncio has something to do. Without epoll (Windows, macOS), `watch` is the same as `add_reader`.

The selector records when it polls, so that players are not charged for a pause of the loop; see `TimedSelector`.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import selectors
import sys
import time
from collections.abc import Callable, Mapping
from contextvars import Context
from math import inf
from typing import TYPE_CHECKING, Any, Protocol, TypeVarTuple, Unpack

if TYPE_CHECKING:
    from _typeshed import HasFileno

_Ts = TypeVarTuple("_Ts")

HAS_EPOLL = sys.platform == "linux" and hasattr(select, "epoll")
_MIN_WAIT_S = 0.005
"""Shortest timeout of a poll, and the longest delay of a timer. Linux sets its own timer twice for a shorter one,
which takes as long as a reply.
"""
_MAX_EVENTS = 256
"""Events that one poll returns."""
PAUSE_NS = 10_000_000
"""Longest time between two polls that does not count as a pause of the loop."""


class Waiting(Protocol):
    """Holder of bytes that are to be sent later."""

    def flush(self) -> None:
        """Send the bytes, unless they have been sent since."""


def _flush(held: list[Waiting]) -> None:
    # Iterating a list that grows is intended: a failed flush may make further connections hold lines.
    for waiting in held:
        waiting.flush()
    held.clear()


class MatchLoop(asyncio.SelectorEventLoop):
    """An asyncio loop with a fast path for the sockets of matches."""

    def __init__(self, *, is_fast: bool = HAS_EPOLL) -> None:
        """Initialise the loop, without the fast path if `is_fast` is False."""
        self._held: dict[float, list[Waiting]] = {}
        self._fast: _FastSelector | None = None
        if is_fast:
            self._fast = _FastSelector()
        self.selector: TimedSelector = self._fast or TimedSelector()
        super().__init__(self.selector)

    def watch(self, sock: HasFileno, on_readable: Callable[[], None]) -> None:
        """Call back whenever the socket is readable. The callback must not raise."""
        if self._fast is not None:
            self._fast.watch(sock.fileno(), on_readable)
        else:
            self.add_reader(sock, on_readable)

    def unwatch(self, sock: HasFileno) -> None:
        """Stop calling back for the socket."""
        if self._fast is not None:
            self._fast.unwatch(sock.fileno())
        else:
            self.remove_reader(sock)

    def hold(self, delay_s: float) -> Callable[[Waiting], None]:
        """Return a function that registers a holder of bytes to be flushed within a delay."""
        # One timer for all holders with the same delay. Most of them have sent their bytes with a question by then.
        held = self._held.setdefault(delay_s, [])

        def add(waiting: Waiting) -> None:
            if not held:
                self.call_later(delay_s, _flush, held)
            held.append(waiting)

        return add

    def call_soon(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule a callback as asyncio does, and let the selector return to asyncio."""
        if self._fast is not None:
            self._fast.is_asyncio_due = True
        return super().call_soon(callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Schedule a timer as asyncio does, and let the selector return to asyncio."""
        if self._fast is not None:
            self._fast.is_asyncio_due = True
        return super().call_at(when, callback, *args, context=context)


class Changes:
    """Condition variable of one thread: tasks wait until something holds, and every change calls `notify`."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def notify(self) -> None:
        """Wake all waiting tasks, so that they check their conditions again."""
        waiting = self._waiting
        self._waiting = set()
        for future in waiting:
            # A task that is cancelled removes its future only when it runs next.
            if not future.done():
                future.set_result(None)

    async def wait_for(self, is_true: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Wait until a condition holds or the timeout has passed; return whether the condition holds."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout_s):
                while not is_true():
                    future = loop.create_future()
                    self._waiting.add(future)
                    try:
                        await future
                    finally:
                        self._waiting.discard(future)
        except TimeoutError:
            # The condition may have become true after the last check.
            return is_true()
        return True


_RECEIVED = memoryview(bytearray(1 << 16))


class SharedBufferProtocol(asyncio.BufferedProtocol):
    """Protocol that reads into a buffer shared by all connections.

    For an ordinary protocol, asyncio allocates 256 KiB for every read, which takes longer than the read itself.
    """

    def data_received(self, data: bytes) -> None:
        """Receive bytes, as an `asyncio.Protocol` does."""
        raise NotImplementedError

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the shared buffer."""
        # Safe to share: asyncio calls this, reads, and calls `buffer_updated`, without running anything in between.
        return _RECEIVED

    def buffer_updated(self, nbytes: int) -> None:
        """Pass the bytes of a read on."""
        self.data_received(bytes(_RECEIVED[:nbytes]))


def notify_from_thread(loop: asyncio.AbstractEventLoop, changes: Changes) -> None:
    """Call `changes.notify` in its loop, unless the loop is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(changes.notify)


def new_event_loop() -> MatchLoop:
    """Create a loop for matches, as the loop factory of `asyncio.Runner`."""
    return MatchLoop()


class TimedSelector(selectors.BaseSelector):
    """Asyncio's selector, with the times at which the loop polls its sockets.

    A loop that was busy, or had no processor, reads bytes late. They may have arrived at any time since the poll
    before, so a player whose reply is read late is charged as if it had arrived right after that poll.

    Attributes:
        arrived_ns: earliest possible arrival of the bytes being read, on the clock of `time.monotonic_ns`.
        pauses: number of pauses of the loop.
        paused_ns: total duration of the pauses.
    """

    def __init__(self) -> None:
        self._inner = selectors.DefaultSelector()
        self.arrived_ns = time.monotonic_ns()
        self._polled_ns = self.arrived_ns
        self.pauses = 0
        self.paused_ns = 0

    # ---- asyncio's selector does the work

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._inner.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._inner.get_map()

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        return self._inner.get_key(fileobj)

    def close(self) -> None:
        """Close asyncio's selector."""
        self._inner.close()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for events as asyncio's selector does, but not after a pause."""
        # After a pause, return what arrived meanwhile: a poll that waits would date it too late.
        is_late = self._is_late(time.monotonic_ns())
        if is_late:
            timeout = 0
        ready = self._inner.select(timeout)
        self._note_poll(time.monotonic_ns(), is_late=is_late)
        return ready

    def _is_late(self, now_ns: int) -> bool:
        """Return whether the loop has paused, and count the pause."""
        late_ns = now_ns - self._polled_ns
        if late_ns <= PAUSE_NS:
            return False
        self.pauses += 1
        self.paused_ns += late_ns
        return True

    def _note_poll(self, now_ns: int, *, is_late: bool, is_whole: bool = True) -> None:
        """Record the time of a poll.

        Args:
            now_ns: the time.
            is_late: the loop has paused before this poll.
            is_whole: all ready sockets were returned; otherwise others have been waiting since an earlier poll.
        """
        self.arrived_ns = now_ns
        if is_late:
            self.arrived_ns = self._polled_ns
        if is_whole:
            self._polled_ns = now_ns


class _FastSelector(TimedSelector):
    """Selector that serves watched sockets inside `select`, and asyncio's events as well."""

    def __init__(self) -> None:
        super().__init__()
        self._epoll = select.epoll()
        # An epoll is a file that is readable when it has events, so asyncio's own epoll can be watched like a socket.
        self._epoll.register(self._inner.fileno(), select.EPOLLIN)
        self._watched: dict[int, Callable[[], None]] = {}
        self.is_asyncio_due = False

    def close(self) -> None:
        """Close both epolls."""
        self._epoll.close()
        super().close()

    def watch(self, fd: int, on_readable: Callable[[], None]) -> None:
        self._watched[fd] = on_readable
        self._epoll.register(fd, select.EPOLLIN)

    def unwatch(self, fd: int) -> None:
        if self._watched.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Serve watched sockets until asyncio has something to do or the timeout has passed."""
        watched = self._watched
        if not watched:
            return super().select(timeout)
        # The timeout accounts for everything scheduled before this call.
        self.is_asyncio_due = False
        clock_ns = time.monotonic_ns
        poll = self._epoll.poll
        inner_fd = self._inner.fileno()
        now_ns = clock_ns()
        wake_ns = inf
        if timeout is not None:
            wake_ns = now_ns + timeout * 1e9
        while True:
            # Compared here as well, to save a call in nearly every pass.
            is_late = now_ns - self._polled_ns > PAUSE_NS and self._is_late(now_ns)
            if is_late or now_ns >= wake_ns:
                wait_s = 0.0
            elif wake_ns == inf:
                wait_s = -1
            else:
                wait_s = max(_MIN_WAIT_S, (wake_ns - now_ns) / 1e9)
            is_asyncio_ready = False
            ready = poll(wait_s, _MAX_EVENTS)
            self._note_poll(clock_ns(), is_late=is_late, is_whole=len(ready) < _MAX_EVENTS)
            for fd, _ in ready:
                # A callback may have unwatched a socket that is ready in the same poll.
                on_readable = watched.get(fd)
                if on_readable is not None:
                    on_readable()
                elif fd == inner_fd:
                    is_asyncio_ready = True
            now_ns = clock_ns()
            if is_asyncio_ready:
                return self._inner.select(0)
            if self.is_asyncio_due or now_ns >= wake_ns or not watched:
                return []
