"""Tasks spread over processes of this machine, or over a cluster: `Workers.map` is the built-in ``map``, elsewhere.

    with local_workers(2) as workers:
        results = workers.map(evaluate, parts)

Functions, arguments and results must be picklable, and a task must not depend on where it runs: when a worker dies its
tasks are done again by another. `map` keeps the order of the arguments; `each` has results as they come, so that what
keeps them loses no finished one behind a slower one when it is interrupted.

A task that takes long can send how far it is (`send_progress`), and ask whether it `is_wanted` any more: nothing else
ends one that runs on another machine.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import multiprocessing.context
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess
from types import ModuleType, TracebackType
from typing import Any, ClassVar, Final, TypeAlias, TypeVar
from uuid import uuid4

from bots.errors import WorkersError

_Result = TypeVar("_Result")
_OnProgress: TypeAlias = Callable[[tuple[int, ...]], None]

_MOST_LOSSES: Final = 3
"""Workers that may die one after another without a task being finished in between."""

_CONNECT_S: Final = 10
_END_S: Final = 1.0
"""Time for processes of this machine to save what unwanted tasks have computed."""
_END_CHECK_S: Final = 0.05
"""Interval between scans for processes that start while the executor ends."""


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    promise: Future[Any]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Workers:
    """An executor that is replaced when it breaks; a context manager, which ends it.

    Args:
        make: makes an executor.
        lost: the exceptions that mean that a worker died.
        gone: the exceptions that mean that no executor can be had any more.
        survives: whether the executor still works when a worker has died; otherwise it is replaced.
        ignores_term: whether its processes ignore SIGTERM.
        name: what `WorkersError` calls them.
        count: how many there are; into how many parts work is best divided.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        *,
        lost: tuple[type[BaseException], ...],
        gone: tuple[type[BaseException], ...] = (),
        survives: bool = False,
        ignores_term: bool = False,
        name: str,
        count: int,
    ) -> None:
        self.count = count
        self.name = name
        self._make = make
        self._lost = lost
        self._gone = gone
        self._survives = survives
        self._ignores_term = ignores_term
        self._executor = make()
        self._lock = threading.RLock()
        self._losses = 0
        self._is_gone = False
        self._is_ended = False

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(at_once=kind is not None)

    def end(self, *, at_once: bool = False) -> None:
        """End the executor; later tasks fail.

        Args:
            at_once: do not wait for running tasks, which fail or are cancelled. Processes of this machine are killed,
                after `_END_S` for saving their state unless they ignore SIGTERM.
        """
        with self._lock:
            self._is_ended = True
        if not at_once:
            self._executor.shutdown(cancel_futures=True)
            return
        if self._survives:
            self._executor.shutdown(wait=False, cancel_futures=True)
            return
        has_ended = threading.Event()
        threading.Thread(target=self._end_processes, args=(has_ended,), daemon=True).start()
        # Killed processes are waited for, too: an interpreter that ends meanwhile writes to a pipe that the thread of
        # the executor may just have closed, and prints a traceback.
        self._executor.shutdown(cancel_futures=True)
        has_ended.set()

    def _end_processes(self, has_ended: threading.Event) -> None:
        """Terminate the processes of this machine, and kill them when their time is over."""
        kill_s = time.monotonic()
        if not self._ignores_term:
            kill_s += _END_S
        terminated = set[BaseProcess]()
        # Scan repeatedly: a task that another thread submits at this moment can still start a process.
        while not has_ended.is_set():
            processes = _processes(self._executor)
            if time.monotonic() >= kill_s:
                _kill(processes)
            for process in processes:
                if process not in terminated:
                    process.terminate()
                    terminated.add(process)
            has_ended.wait(_END_CHECK_S)

    def map(self, function: Callable[..., _Result], *arguments: Iterable[Any]) -> list[_Result]:
        """The function's results for the arguments, in order; a `WorkersError` if workers die one after another."""
        found = dict(self.each(function, *arguments))
        return [found[number] for number in range(len(found))]

    def each(self, function: Callable[..., _Result], *arguments: Iterable[Any]) -> Iterator[tuple[int, _Result]]:
        """The function's results as soon as they are there, each with the number of its arguments."""
        tasks = enumerate(zip(*arguments, strict=True))
        numbers = {self.submit(function, *task): number for number, task in tasks}
        try:
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        finally:
            for future in numbers:
                future.cancel()

    def submit(
        self, function: Callable[..., _Result], *arguments: Any, on_progress: _OnProgress | None = None
    ) -> Future[_Result]:
        """A future of the function's result; cancelled, the task is no longer wanted.

        `on_progress` is called, in a thread of any kind, with what the task sends.
        """
        promise: Future[_Result] = Future()
        if on_progress is not None and isinstance(self._executor, _ClusterExecutor):
            function, arguments = self._executor.with_progress(function, arguments, on_progress, promise)
        self._start(_Task(promise, function, arguments))
        return promise

    def _start(self, task: _Task) -> None:
        executor = self._executor
        if self._is_ended:
            self._give_up(task, "they have ended")
            return
        try:
            future = executor.submit(task.function, *task.arguments)
        except self._lost as error:
            self._start_again(task, executor, error)
            return
        except self._gone as error:
            self._lose_all(task, error)
            return
        except RuntimeError as error:
            if not self._is_ended:
                raise
            self._give_up(task, "they have ended", error)
            return
        task.promise.add_done_callback(lambda promise: promise.cancelled() and not self._is_gone and future.cancel())
        future.add_done_callback(partial(self._end, task, executor))

    def _end(self, task: _Task, executor: Executor, future: Future[Any]) -> None:
        if task.promise.cancelled():
            return
        try:
            result = future.result()
        except self._lost as error:
            self._start_again(task, executor, error)
        except self._gone as error:
            self._lose_all(task, error)
        except CancelledError:
            if task.promise.cancel():
                # Wakes who waits for it.
                task.promise.set_running_or_notify_cancel()
        except BaseException as error:
            _settle(task.promise.set_exception, error)
        else:
            self._losses = 0
            _settle(task.promise.set_result, result)

    def _start_again(self, task: _Task, executor: Executor, error: BaseException) -> None:
        with self._lock:
            if self._is_ended:
                self._give_up(task, "they have ended", error)
                return
            # All tasks of an executor that breaks end with it, of which one worker's death is the cause.
            if executor is self._executor:
                self._losses += 1
                if not self._survives:
                    if self._ignores_term:
                        # A broken executor sends SIGTERM to its other processes and then waits for them.
                        _kill(_processes(executor))
                    self._executor = self._make()
            if self._losses >= _MOST_LOSSES:
                if not self._survives:
                    # Later tasks may fare better.
                    self._losses = 0
                self._give_up(task, f"{_MOST_LOSSES} workers died in turn, and no task was finished", error)
                return
        self._start(task)

    def _lose_all(self, task: _Task, error: BaseException) -> None:
        self._is_gone = True
        self._give_up(task, "the connection was lost", error)

    def _give_up(self, task: _Task, why: str, error: BaseException | None = None) -> None:
        failure = WorkersError(why, self.name)
        failure.__cause__ = error
        _settle(task.promise.set_exception, failure)


def each_result(
    workers: Workers | None, function: Callable[..., _Result], *arguments: Iterable[Any]
) -> Iterator[tuple[int, _Result]]:
    """As `Workers.each`; without workers one after the other, in this process."""
    if workers is None:
        return enumerate(map(function, *arguments))
    return workers.each(function, *arguments)


def _settle(settle: Callable[[Any], None], value: object) -> None:
    """Give a promise its end, unless it was cancelled meanwhile."""
    with contextlib.suppress(InvalidStateError):
        settle(value)


def local_workers(count: int, *, ignores_term: bool = False) -> Workers:
    """Processes of this machine, at least one. They ignore Ctrl-C, which is the caller's to handle.

    However this process ends, they end.

    Args:
        ignores_term: they also ignore SIGTERM, which a service manager sends to all processes of a service.
    """
    if count < 1:
        raise ValueError(f"there must be at least 1 worker, not {count}")
    return Workers(
        lambda: ProcessPoolExecutor(count, mp_context=_Context(), initializer=_begin, initargs=(ignores_term,)),
        lost=(BrokenProcessPool,),
        ignores_term=ignores_term,
        name="the workers of this machine",
        count=count,
    )


class _Process(multiprocessing.context.SpawnProcess):
    """Worker process that does not import the main program again.

    Without this, a script that lacks ``if __name__ == "__main__"`` would play its match in each worker.
    """

    _lock: ClassVar = threading.Lock()

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:
        # Replaced only while the process starts. A lock held during a whole submission could deadlock: from Python
        # 3.12 on, a broken executor calls back while it holds the lock that its `submit` takes.
        with _Process._lock:
            main = sys.modules.get("__main__")
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                return multiprocessing.context.SpawnProcess._Popen(process_obj)
            finally:
                if main is not None:
                    sys.modules["__main__"] = main


class _Context(multiprocessing.context.SpawnContext):
    """Context that starts processes by "spawn", so that threads and locks of this process are not copied."""

    Process = _Process


def _processes(executor: Executor) -> list[BaseProcess]:
    """Return the processes of a local executor. Public methods that end them exist from Python 3.14 on."""
    return list((getattr(executor, "_processes", None) or {}).values())


def _kill(processes: Iterable[BaseProcess]) -> None:
    for process in processes:
        process.kill()


def _begin(ignores_term: bool) -> None:
    """Prepare a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if ignores_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process with the one that started it: a killed process leaves its pipes open in its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def cluster_workers(address: str) -> Workers:
    """The workers of a dask cluster, by the address of its scheduler, such as ``tcp://192.168.0.5:8786``.

    Raises:
        WorkersError: no address, no dask.distributed, a scheduler that does not answer, or has no workers.
    """
    if not address.strip():
        raise WorkersError("a cluster has an address, that of its scheduler, such as tcp://192.168.0.5:8786")
    try:
        import dask
        import distributed
    except ImportError:
        raise WorkersError("a cluster needs dask.distributed: pip install distributed") from None
    for logger in ("distributed", "distributed.client"):
        # Lost connections are reported by our own errors.
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    # Large tasks are what a cluster is for here.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
    executor = _ClusterExecutor(_connected(distributed.Client, address))
    if not executor.count:
        executor.shutdown()
        raise WorkersError(f"the scheduler at {address} has no workers: start some with `dask worker {address}`")
    return Workers(
        lambda: executor,
        lost=(distributed.KilledWorker,),
        # CancelledError: the scheduler ended and took the tasks with it.
        gone=(OSError, CancelledError),
        survives=True,
        name=f"the cluster at {address}",
        count=executor.count,
    )


def _connected(client: Any, address: str) -> Any:
    try:
        return client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise WorkersError(f"no scheduler answers at {address} within {_CONNECT_S} s") from error


class _ClusterExecutor(Executor):
    """The executor of a dask client, which does `count` tasks at a time; ending it ends the client."""

    def __init__(self, client: Any) -> None:
        self.count: int = sum(client.nthreads().values())
        self._client = client
        self._executor = client.get_executor(pure=False)
        self._topic = f"acpc-arena-{uuid4()}"
        self._listeners: dict[int, _OnProgress] = {}
        self._numbers = itertools.count()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        return future

    def with_progress(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], on_progress: _OnProgress, promise: Future[Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The same call, which reports its progress until the promise is settled."""
        number = next(self._numbers)
        if not number:
            self._client.subscribe_topic(self._topic, self._receive)
        self._listeners[number] = on_progress
        promise.add_done_callback(lambda _: self._listeners.pop(number, None))
        return _with_topic, (self._topic, number, function, *arguments)

    def _receive(self, event: tuple[float, Any]) -> None:
        number, *words = event[1]
        if (on_progress := self._listeners.get(number)) is not None:
            on_progress(tuple(words))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        # A client that has lost its scheduler cannot cancel its tasks.
        with contextlib.suppress(Exception):
            self._executor.shutdown(wait=wait)
        self._client.close()


# ---- in a task

_channel: ContextVar[tuple[str, int] | None] = ContextVar("_channel", default=None)
"""The topic and the number under which a task of a cluster reports; None elsewhere."""


def _with_topic(topic: str, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
    token = _channel.set((topic, number))
    try:
        return function(*arguments)
    finally:
        _channel.reset(token)


def send_progress(*words: int) -> None:
    """Send how far the running task is to the process that submitted it; only a cluster sends it on."""
    if (channel := _channel.get()) is not None:
        from distributed import get_worker

        topic, number = channel
        get_worker().log_event(topic, [number, *words])


def is_wanted() -> bool:
    """Whether the running task is still waited for; tasks of this machine end with the process that submitted them."""
    if _channel.get() is None:
        return True
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state not in ("cancelled", "released", "forgotten")
