"""The event loop that matches run in: asyncio's, with a fast path for the sockets of matches.

A dealer spends its time waiting for one small line and sending two. Through asyncio each of these costs a handle, a
context and a pass over the loop; here the selector itself serves the sockets of matches (`watch`) inside its `select`,
and returns to asyncio as soon as that has anything to do: a timer, a listener, a signal, a task.

Lines for players that are not to act are held back (`hold`): mostly they leave with the next question, which spares the
player a line and the machine two switches. One timer for all of them flushes the rest. The selector never polls in
vain: where no reply is ready the process sleeps, and the processor is the bots'.

A loop that was busy, or had no processor, reads late what came in time. So it keeps the time at which it last looked at
all its sockets: what it then reads has come since (`arrived_ns`), and no player is charged for the wait.

Where there is no epoll (Windows, macOS), `watch` is asyncio's `add_reader`: the behaviour is the same.
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
"""A shorter timeout makes Linux set its timer twice, which costs as much as a reply: timers go off late by as much."""
_MAX_EVENTS = 256
"""Served before the system is asked again."""
PAUSE_NS = 10_000_000
"""A loop that did not look at its sockets for longer has paused; below, what it reads came when it looked."""


class Waiting(Protocol):
    """Something that holds bytes back."""

    def flush(self) -> None:
        """Write them, unless they have gone out since."""


def _flush(held: list[Waiting]) -> None:
    """Flush everything; what is added meanwhile, too."""
    for waiting in held:
        waiting.flush()
    held.clear()


class MatchLoop(asyncio.SelectorEventLoop):
    """An asyncio loop with a fast path for the sockets of matches."""

    def __init__(self, *, is_fast: bool = HAS_EPOLL) -> None:
        """Make a loop; with `is_fast=False` it has no fast path, as on systems without epoll."""
        self._held: dict[float, list[Waiting]] = {}
        self._fast: _FastSelector | None = None
        if is_fast:
            self._fast = _FastSelector()
        self.selector: TimedSelector = self._fast or TimedSelector()
        super().__init__(self.selector)

    def watch(self, sock: HasFileno, on_readable: Callable[[], None]) -> None:
        """Call back whenever the socket is readable; the callback must not raise."""
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
        """The function that has its argument flushed within a delay, with all others of that delay."""
        held = self._held.setdefault(delay_s, [])

        def add(waiting: Waiting) -> None:
            if not held:
                self.call_later(delay_s, _flush, held)
            held.append(waiting)

        return add

    def call_soon(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As in asyncio; also makes the selector return to asyncio, which has something to do now."""
        if self._fast is not None:
            self._fast.is_asyncio_due = True
        return super().call_soon(callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """As in asyncio; see `call_soon`."""
        if self._fast is not None:
            self._fast.is_asyncio_due = True
        return super().call_at(when, callback, *args, context=context)


class Changes:
    """Lets tasks wait until something is true, without polling: each change is followed by a call of `notify`."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def notify(self) -> None:
        """Wake all waiting tasks, so that they check their conditions again."""
        waiting = self._waiting
        self._waiting = set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def wait_for(self, is_true: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Wait until a condition holds; returns whether it does, which is False only after the timeout."""
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
            return is_true()
        return True


_RECEIVED = memoryview(bytearray(1 << 16))


class SharedBufferProtocol(asyncio.BufferedProtocol):
    """Has a protocol read into one buffer: for each read, asyncio would allocate 256 KiB, which costs ten reads."""

    def data_received(self, data: bytes) -> None:
        """As of `asyncio.Protocol`."""
        raise NotImplementedError

    def get_buffer(self, sizehint: int) -> memoryview:
        """Give the buffer, which is free again when `buffer_updated` returns."""
        return _RECEIVED

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was read."""
        self.data_received(bytes(_RECEIVED[:nbytes]))


def notify_from_thread(loop: asyncio.AbstractEventLoop, changes: Changes) -> None:
    """Call `changes.notify` in its loop, unless that is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(changes.notify)


def new_event_loop() -> MatchLoop:
    """Make a loop to run matches in."""
    return MatchLoop()


class TimedSelector(selectors.BaseSelector):
    """Asyncio's selector, which keeps when the loop looks at its sockets.

    Attributes:
        arrived_ns: the earliest time at which what is read now can have come; on the clock of `time.monotonic_ns`, as
            all times.
        pauses: number of pauses; paused_ns: their duration together.
    """

    def __init__(self) -> None:
        self._inner = selectors.DefaultSelector()
        self._polled_ns = self.arrived_ns = time.monotonic_ns()
        self.pauses = 0
        self.paused_ns = 0

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As in asyncio's own selector."""
        return self._inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """As in asyncio's own selector."""
        return self._inner.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As in asyncio's own selector."""
        return self._inner.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """As in asyncio's own selector."""
        return self._inner.get_map()

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        """As in asyncio's own selector."""
        return self._inner.get_key(fileobj)

    def close(self) -> None:
        """Close asyncio's selector."""
        self._inner.close()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As in asyncio's own selector; after a pause it only gives what came meanwhile."""
        is_late = self._is_late(time.monotonic_ns())
        if is_late:
            timeout = 0
        ready = self._inner.select(timeout)
        self._note_poll(time.monotonic_ns(), is_late=is_late)
        return ready

    def _is_late(self, now_ns: int) -> bool:
        """Return whether the loop has paused, which is counted."""
        late_ns = now_ns - self._polled_ns
        if late_ns <= PAUSE_NS:
            return False
        self.pauses += 1
        self.paused_ns += late_ns
        return True

    def _note_poll(self, now_ns: int, *, is_late: bool, is_whole: bool = True) -> None:
        """Keep when the sockets were looked at; not `is_whole` where more of them may be ready."""
        self.arrived_ns = now_ns
        if is_late:
            self.arrived_ns = self._polled_ns
        if is_whole:
            self._polled_ns = now_ns


class _FastSelector(TimedSelector):
    """Asyncio's selector together with the watched sockets, which are served inside `select`.

    One epoll watches the sockets and, as one more file, the epoll of asyncio's own selector.
    """

    def __init__(self) -> None:
        super().__init__()
        self._epoll = select.epoll()
        self._epoll.register(self._inner.fileno(), select.EPOLLIN)
        self._watched: dict[int, Callable[[], None]] = {}
        self.is_asyncio_due = False

    def close(self) -> None:
        """Close both."""
        self._epoll.close()
        super().close()

    def watch(self, fd: int, on_readable: Callable[[], None]) -> None:
        self._watched[fd] = on_readable
        self._epoll.register(fd, select.EPOLLIN)

    def unwatch(self, fd: int) -> None:
        if self._watched.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Serve watched sockets until asyncio has something to do or its timeout has passed."""
        watched = self._watched
        if not watched:
            return super().select(timeout)
        # Callbacks scheduled before this call are in the timeout.
        self.is_asyncio_due = False
        clock_ns = time.monotonic_ns
        poll = self._epoll.poll
        inner_fd = self._inner.fileno()
        now_ns = clock_ns()
        wake_ns = inf
        if timeout is not None:
            wake_ns = now_ns + timeout * 1e9
        while True:
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
