"""Run tasks in local processes or on a dask cluster.

    with local_workers(2) as workers:
        results = workers.map(evaluate, parts)

Functions, arguments and results must be picklable. When a worker dies, another one repeats its tasks, so a task must
not depend on the worker that runs it. A long task can send its progress (`send_progress`) and stop when it is no longer
wanted (`is_wanted`).
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

_MAX_LOSSES: Final = 3
"""Deaths of workers without a finished task in between, after which tasks fail."""

_CONNECT_S: Final = 10
_END_S: Final = 1.0
"""Time that local processes have to save the state of unwanted tasks before they are killed."""
_END_CHECK_S: Final = 0.05
"""Interval between scans for processes that start while the executor ends."""


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    promise: Future[Any]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Workers:
    """Executor that is replaced when it breaks. As a context manager, it ends with the block.

    Args:
        make: returns a new executor.
        lost: exceptions that mean that a worker died.
        gone: exceptions that mean that the executor is lost.
        survives: the executor still works after the death of a worker, otherwise it is replaced.
        name: name of the workers in a `WorkersError`.
        count: number of workers, and so the best number of parts of a computation.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        *,
        lost: tuple[type[BaseException], ...],
        gone: tuple[type[BaseException], ...] = (),
        survives: bool = False,
        name: str,
        count: int,
    ) -> None:
        self.count = count
        self.name = name
        self._make = make
        self._lost = lost
        self._gone = gone
        self._survives = survives
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
        """End the executor. Tasks submitted later fail.

        Args:
            at_once: do not wait for running tasks, which fail or are cancelled. Local processes are killed, after
                `_END_S` for saving their state unless they ignore SIGTERM.
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
        # Wait for killed processes, too. The thread of the executor may otherwise close its pipe just before this
        # interpreter exits and writes to it, which prints a traceback.
        self._executor.shutdown(cancel_futures=True)
        has_ended.set()

    def _end_processes(self, has_ended: threading.Event) -> None:
        """Terminate the processes of this machine, and kill them when their time is over."""
        kill_s = time.monotonic() + _END_S
        terminated = set[BaseProcess]()
        # Scan repeatedly: a task that another thread submits at this moment can still start a process.
        while not has_ended.is_set():
            processes = _processes(self._executor)
            is_late = time.monotonic() >= kill_s
            for process in processes:
                if is_late:
                    process.kill()
                elif process not in terminated:
                    process.terminate()
                    terminated.add(process)
            has_ended.wait(_END_CHECK_S)

    def map(self, function: Callable[..., _Result], *arguments: Iterable[Any]) -> list[_Result]:
        """Return the results of the function in the order of the arguments, as the built-in ``map`` does.

        Raises:
            WorkersError: workers die one after another, or have ended.
        """
        results = dict(self.each(function, *arguments))
        return [results[number] for number in range(len(results))]

    def each(self, function: Callable[..., _Result], *arguments: Iterable[Any]) -> Iterator[tuple[int, _Result]]:
        """Yield the results as they arrive, each with the index of its arguments.

        A caller that stores them loses no finished result when it is interrupted during a slower task.
        """
        numbers = {}
        for number, task in enumerate(zip(*arguments, strict=True)):
            numbers[self.submit(function, *task)] = number
        try:
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        finally:
            for future in numbers:
                future.cancel()

    def submit(
        self, function: Callable[..., _Result], *arguments: Any, on_progress: _OnProgress | None = None
    ) -> Future[_Result]:
        """Return a future of the result. To cancel the future makes the task unwanted.

        Args:
            on_progress: called with the numbers that the task sends, in any thread.
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
        task.promise.add_done_callback(partial(self._cancel, future))
        future.add_done_callback(partial(self._end, task, executor))

    def _cancel(self, future: Future[Any], promise: Future[Any]) -> None:
        # A lost cluster cannot cancel its tasks.
        if promise.cancelled() and not self._is_gone:
            future.cancel()

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
                # `cancel` alone does not wake a thread in `as_completed`.
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
            # A broken executor fails all its tasks. Count that as one loss, because one worker died.
            if executor is self._executor:
                self._losses += 1
                if not self._survives:
                    self._executor = self._make()
            if self._losses >= _MAX_LOSSES:
                if not self._survives:
                    # Start over, because the cause may be this task and later ones may succeed.
                    self._losses = 0
                self._give_up(task, f"{_MAX_LOSSES} workers died in turn, and no task was finished", error)
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
    """Yield results like `Workers.each`, or compute them in this process if there are no workers."""
    if workers is None:
        return enumerate(map(function, *arguments))
    return workers.each(function, *arguments)


def _settle(settle: Callable[[Any], None], value: object) -> None:
    """Set the result or the exception of a promise, unless it was cancelled meanwhile."""
    with contextlib.suppress(InvalidStateError):
        settle(value)


def local_workers(count: int, *, ignores_term: bool = False) -> Workers:
    """Create workers that are processes of this machine.

    They ignore Ctrl-C, which the caller handles, and exit whenever this process exits.

    Args:
        count: number of processes, at least 1.
        ignores_term: also ignore SIGTERM, which a service manager sends to all processes of a service.
    """
    if count < 1:
        raise ValueError(f"there must be at least 1 worker, not {count}")
    context = _TermIgnoringContext() if ignores_term else _Context()
    return Workers(
        lambda: ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(ignores_term,)),
        lost=(BrokenProcessPool,),
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


class _TermIgnoringProcess(_Process):
    """Worker process that ignores SIGTERM."""

    def terminate(self) -> None:
        # A broken executor terminates its other processes and then waits for them, even while it has no tasks.
        self.kill()


class _TermIgnoringContext(_Context):
    Process = _TermIgnoringProcess


def _processes(executor: Executor) -> list[BaseProcess]:
    """Return the processes of a local executor. Public methods that end them exist from Python 3.14 on."""
    return list((getattr(executor, "_processes", None) or {}).values())


def _begin(ignores_term: bool) -> None:
    """Set up a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if ignores_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit when the parent process has exited."""
    # A worker does not see the end of its pipe when the parent is killed, because other workers have it open, too.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def cluster_workers(address: str) -> Workers:
    """Connect to the workers of a dask cluster.

    Args:
        address: address of the scheduler, such as ``tcp://192.168.0.5:8786``.

    Raises:
        WorkersError: the address is empty, dask.distributed is not installed, or the scheduler does not reply or has no
            workers.
    """
    if not address.strip():
        raise WorkersError("a cluster has an address, that of its scheduler, such as tcp://192.168.0.5:8786")
    try:
        import dask
        import distributed
    except ImportError:
        raise WorkersError("a cluster needs dask.distributed: pip install distributed") from None
    for logger in ("distributed", "distributed.client"):
        # dask logs lost connections, which our own errors report.
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    # Silence the warning about large tasks, which are intended.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
    executor = _ClusterExecutor(_connected(distributed.Client, address))
    if not executor.count:
        executor.shutdown()
        raise WorkersError(f"the scheduler at {address} has no workers: start some with `dask worker {address}`")
    return Workers(
        lambda: executor,
        lost=(distributed.KilledWorker,),
        # A scheduler that shuts down cancels its tasks.
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
    """Executor of a dask client, which it closes at its shutdown.

    Attributes:
        count: number of tasks that the cluster runs at a time.
    """

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
        """Return function and arguments of a task that reports its progress until the promise is settled."""
        number = next(self._numbers)
        if number == 0:
            self._client.subscribe_topic(self._topic, self._receive)
        self._listeners[number] = on_progress
        promise.add_done_callback(lambda _: self._listeners.pop(number, None))
        return _with_topic, (self._topic, number, function, *arguments)

    def _receive(self, event: tuple[float, Any]) -> None:
        number, *words = event[1]
        on_progress = self._listeners.get(number)
        if on_progress is not None:
            on_progress(tuple(words))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        # Cancelling the tasks fails in a client that has lost its scheduler.
        with contextlib.suppress(Exception):
            self._executor.shutdown(wait=wait)
        self._client.close()


# The rest runs in the worker, within a task.

_channel: ContextVar[tuple[str, int] | None] = ContextVar("_channel", default=None)
"""Topic and number under which a task of a cluster reports; None outside a cluster."""


def _with_topic(topic: str, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
    token = _channel.set((topic, number))
    try:
        return function(*arguments)
    finally:
        _channel.reset(token)


def send_progress(*words: int) -> None:
    """Send progress of the running task to the process that submitted it. Local workers send nothing."""
    channel = _channel.get()
    if channel is None:
        return
    from distributed import get_worker

    topic, number = channel
    get_worker().log_event(topic, [number, *words])


def is_wanted() -> bool:
    """Return whether the submitter of the running task still waits for it."""
    # Local tasks need no check: their processes are killed.
    if _channel.get() is None:
        return True
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state not in ("cancelled", "released", "forgotten")
