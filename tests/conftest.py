"""Configuration of pytest: property tests, coroutine tests, shards, kernels on disk, garbage collection."""

from __future__ import annotations

import gc
import inspect
import os
import random
import signal
import sys
from itertools import groupby
from typing import Any
from zlib import crc32

# Without bytecode every program that a test starts would compile all modules again.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# isort: split
import pytest
from hypothesis import HealthCheck, settings

from dealer.run.run_settings import SETTINGS_VARIABLE
from engine.kernels import disk
from tests.dealer.helpers import run_async
from tests.programs import fork_bots

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background of a script SIGINT is ignored. Programs that tests start would inherit this.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The user's own defaults must not change results.
os.environ[SETTINGS_VARIABLE] = ""

WORKER = "PYTEST_XDIST_WORKER"
"""Environment variable of xdist with the name of the worker, inherited by the programs that it starts."""

# No deadline: a property test must not fail on a slow or busy machine.
for profile, examples in (("quick", 40), ("nightly", 400)):
    settings.register_profile(
        profile, deadline=None, max_examples=examples, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("quick")

gc.set_threshold(10_000, 10, 50)


_SAMPLED = 5
"""Every fifth case of a `sampled` test is quick."""


def pytest_xdist_auto_num_workers() -> int:
    """Return one more worker than cores, since many tests wait for programs that they start."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test in the dealer's event loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    run_async(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def pytest_configure(config: pytest.Config) -> None:
    if config.option.markexpr == "not slow":
        # Most kernels of quick tests run for less time than full optimisation takes.
        os.environ.setdefault("NUMBA_OPT", "1")
    elif config.option.markexpr == "slow":
        settings.load_profile("nightly")
    if not hasattr(config, "workerinput"):
        # Stop at SIGTERM as at Ctrl-C, so that tests end the programs that they have started.
        signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _kernel_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Share compiled kernels between the workers and their programs, but not with the user's own cache."""
    base = tmp_path_factory.getbasetemp()
    if WORKER in os.environ:
        base = base.parent
    for variable, name in ((disk.SHARED_VARIABLE, "kernels"), (disk.FOLDER_VARIABLE, "published")):
        os.environ.setdefault(variable, str(base / name))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Any:
    """Send a worker's usage error to the main process, since xdist does not print it."""
    try:
        return (yield)
    except pytest.UsageError as error:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["usage"] = list(error.args)
        raise


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Raise the usage error of a worker."""
    if usage := getattr(node, "workeroutput", {}).get("usage"):
        raise pytest.UsageError(*usage)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--shard 2/4``, which selects the second of four parts of the tests."""
    parser.addoption("--shard", default="1/1", metavar="PART/PARTS", help="run one of several parts of the tests")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    """Shuffle the files of each worker: the first worker that reads a file compiles it for all."""
    report = yield
    if isinstance(collector, pytest.Directory) and report.passed and WORKER in os.environ:
        random.Random(os.environ[WORKER]).shuffle(report.result)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark most cases of `sampled` tests as slow, and at night all property tests; deselect other shards."""
    if WORKER in os.environ:
        items.sort(key=lambda item: item.path.parts)
    if config.option.markexpr == "slow":
        for item in items:
            # Property tests run again at night with the profile of more examples.
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker(pytest.mark.slow)
    sampled_items = [item for item in items if item.get_closest_marker("sampled")]
    for _, cases in groupby(sampled_items, _test_name):
        for number, case in enumerate(cases):
            if number % _SAMPLED:
                case.add_marker(pytest.mark.slow)
    part, _, parts = config.getoption("--shard").partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise pytest.UsageError(f"--shard: must be a part and the number of parts, such as 2/4, not {part}/{parts}")
    selected = [item for item in items if shard_for(item.nodeid, int(parts)) == int(part)]
    deselected = [item for item in items if shard_for(item.nodeid, int(parts)) != int(part)]
    config.hook.pytest_deselected(items=deselected)
    items[:] = selected


def shard_for(test: str, parts: int) -> int:
    """Part of a test, from 1. All cases of a test are in one part, since they share compiled kernels."""
    return 1 + crc32(test.partition("[")[0].encode()) % parts


def _test_name(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def pytest_collection_finish() -> None:
    fork_bots()
    # Without the thousands of collected tests garbage collection takes a sixth of the time.
    gc.collect()
    gc.freeze()


_TESTS_BETWEEN_COLLECTIONS = 200
_run = 0


def pytest_runtest_teardown() -> None:
    """Collect garbage every 200 tests and freeze the rest: a collection with all caches takes seconds."""
    global _run
    _run += 1
    if _run % _TESTS_BETWEEN_COLLECTIONS == 0:
        gc.collect()
        gc.freeze()
