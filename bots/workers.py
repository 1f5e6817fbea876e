"""Tasks spread over processes of this machine, or over a cluster: `Workers.map` is the built-in ``map``, elsewhere.

    with local_workers(2) as workers:
        results = workers.map(evaluate, parts)

Functions, arguments and results must be picklable, and a task must not depend on where it runs: when a worker dies its
tasks are done again by another. Results come in the order of the arguments.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Any, Final, TypeVar

from bots.errors import WorkersError

__all__ = ["Workers", "cluster_workers", "local_workers"]

_Result = TypeVar("_Result")

_MOST_LOSSES: Final = 3
"""Workers that may die one after another without a task being finished in between."""

_CONNECT_S: Final = 10


class Workers:
    """An executor that is made anew when it breaks; a context manager, which ends it.

    Args:
        make: makes an executor.
        lost: the exceptions that mean that a worker died and the executor has to be made anew.
        gone: the exceptions that mean that no executor can be had any more.
        name: what `WorkersError` calls them.
        count: how many there are; into how many parts work is best divided.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        *,
        lost: tuple[type[BaseException], ...],
        gone: tuple[type[BaseException], ...] = (),
        name: str,
        count: int,
    ) -> None:
        self.count = count
        self._make, self._lost, self._gone, self._name = make, lost, gone, name
        self._executor = make()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown(wait=kind is None, cancel_futures=True)

    def map(self, function: Callable[..., _Result], *arguments: Iterable[Any]) -> list[_Result]:
        """The function's results for each of the arguments, in order.

        Raises:
            WorkersError: workers died one after another, or the cluster is gone. What a task raises comes through.
        """
        tasks = list(zip(*arguments, strict=True))
        results: dict[int, _Result] = {}
        losses = 0
        while len(results) < len(tasks):
            before = len(results)
            try:
                self._collect(function, tasks, results)
            except self._lost as error:
                losses = 1 if len(results) > before else losses + 1
                self._executor.shutdown(wait=False, cancel_futures=True)
                if losses >= _MOST_LOSSES:
                    raise WorkersError(
                        f"{self._name}: {losses} workers died in turn, and no task was finished"
                    ) from error
                self._executor = self._make()
            except self._gone as error:
                raise WorkersError(f"{self._name}: the connection was lost") from error
        return [results[number] for number in range(len(tasks))]

    def _collect(
        self, function: Callable[..., _Result], tasks: list[tuple[Any, ...]], results: dict[int, _Result]
    ) -> None:
        """Do the tasks that have no result yet; those that were finished when a worker died keep theirs."""
        futures: dict[int, Future[_Result]] = {}
        try:
            for number, task in enumerate(tasks):
                if number not in results:
                    futures[number] = self._executor.submit(function, *task)
            for number, future in futures.items():
                results[number] = future.result()
        except self._lost:
            for number, future in futures.items():
                if future.done() and not future.cancelled() and future.exception() is None:
                    results[number] = future.result()
            raise


def local_workers(count: int) -> Workers:
    """Processes of this machine. They ignore Ctrl-C, which is the caller's to handle.

    Raises:
        ValueError: there is not at least one.
    """
    if count < 1:
        raise ValueError(f"there must be at least 1 worker, not {count}")
    # Each is started afresh: threads and locks of this process are none of theirs.
    context = multiprocessing.get_context("spawn")
    return Workers(
        lambda: ProcessPoolExecutor(count, mp_context=context, initializer=_ignore_interrupts),
        lost=(BrokenProcessPool,),
        name="the workers of this machine",
        count=count,
    )


def cluster_workers(address: str) -> Workers:
    """The workers of a dask cluster.

    Args:
        address: of its scheduler, such as ``tcp://192.168.0.5:8786``.

    Raises:
        WorkersError: dask.distributed is not installed, the scheduler does not answer, or it has no workers.
    """
    try:
        import distributed
    except ImportError:
        raise WorkersError("a cluster needs dask.distributed: pip install 'acpc-arena[cluster]'") from None
    executor = _ClusterExecutor(_connected(distributed.Client, address))
    if not executor.count:
        executor.shutdown()
        raise WorkersError(f"the scheduler at {address} has no workers: start some with `dask worker {address}`")
    ready = [executor]
    return Workers(
        lambda: ready.pop() if ready else _ClusterExecutor(_connected(distributed.Client, address)),
        lost=(distributed.KilledWorker,),
        # CancelledError: the scheduler ended and took the tasks with it.
        gone=(OSError, CancelledError),
        name=f"the cluster at {address}",
        count=executor.count,
    )


def _connected(client: Any, address: str) -> Any:
    """A client of the cluster.

    Raises:
        WorkersError: its scheduler does not answer.
    """
    try:
        return client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise WorkersError(f"no scheduler answers at {address} within {_CONNECT_S} s") from error


class _ClusterExecutor(Executor):
    """The executor of a dask client; ending it ends the client.

    Attributes:
        count: how many tasks the cluster does at a time.
    """

    def __init__(self, client: Any) -> None:
        self.count: int = sum(client.nthreads().values())
        self._client = client
        self._executor = client.get_executor(pure=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait=wait)
        self._client.close()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
