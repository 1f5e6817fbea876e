"""What all tests share: property tests without deadlines, bytecode that is kept, and little garbage collection.

Property tests measure nothing: a slow or busy machine must not fail them. Bytecode is written even where the
environment asks for none, because every process that a test starts would compile all modules again.
"""

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
    # As in a script's background; the programs that tests start would inherit it, and could not be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The defaults of the user who runs the tests change nothing.
os.environ[SETTINGS_VARIABLE] = ""

WORKER = "PYTEST_XDIST_WORKER"
"""The environment variable of xdist that holds the name of a worker, in it and in what it starts."""

for profile, examples in (("quick", 40), ("nightly", 400)):
    settings.register_profile(
        profile, deadline=None, max_examples=examples, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("quick")

gc.set_threshold(10_000, 10, 50)


_SAMPLED = 5
"""Of a `sampled` test, one case in so many is quick."""


def pytest_xdist_auto_num_workers() -> int:
    """One more worker than there are cores, since many tests wait for programs that they start."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function in the dealer's kind of event loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    run_async(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def pytest_configure(config: pytest.Config) -> None:
    """Optimize kernels less in the quick tests: most run for a shorter time than their compilation takes.

    SIGTERM ends the tests as Ctrl-C does, so that they end what they have started.
    """
    if config.option.markexpr == "not slow":
        os.environ.setdefault("NUMBA_OPT", "1")
    elif config.option.markexpr == "slow":
        settings.load_profile("nightly")
    if not hasattr(config, "workerinput"):
        signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _folders_of_kernels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Folders in which the workers, and the programs that tests start, compile each kernel once between them.

    No results depend on what has been compiled for the user who runs the tests.
    """
    base = tmp_path_factory.getbasetemp()
    if WORKER in os.environ:
        base = base.parent
    for variable, name in ((disk.SHARED_VARIABLE, "kernels"), (disk.FOLDER_VARIABLE, "published")):
        os.environ.setdefault(variable, str(base / name))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Any:
    """In a worker, keep what is wrong with the command line, which xdist does not print."""
    try:
        return (yield)
    except pytest.UsageError as error:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["usage"] = list(error.args)
        raise


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Refuse what a worker has refused, as pytest does without workers."""
    if usage := getattr(node, "workeroutput", {}).get("usage"):
        raise pytest.UsageError(*usage)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--shard 2/4``: the second of four parts of the tests, which machines can run side by side."""
    parser.addoption("--shard", default="1/1", metavar="PART/PARTS", help="run one of several parts of the tests")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    """Have each worker read the files in an order of its own, as each file is compiled by who reads it first."""
    report = yield
    if isinstance(collector, pytest.Directory) and report.passed and WORKER in os.environ:
        random.Random(os.environ[WORKER]).shuffle(report.result)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Make most cases of `sampled` tests slow ones, property tests too at night; leave out the tests of other parts.

    The cases of a test stay in one part, as they share what is compiled.
    """
    if WORKER in os.environ:
        items.sort(key=lambda item: item.path.parts)
    if config.option.markexpr == "slow":
        for item in items:
            # Property tests run again at night, with more examples.
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker(pytest.mark.slow)
    for _, cases in groupby((item for item in items if item.get_closest_marker("sampled")), _test_of):
        for at, case in enumerate(cases):
            if at % _SAMPLED:
                case.add_marker(pytest.mark.slow)
    part, _, parts = config.getoption("--shard").partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise pytest.UsageError(f"--shard: must be a part and the number of parts, such as 2/4, not {part}/{parts}")
    kept, others = [], []
    for item in items:
        (kept if part_of(item.nodeid, int(parts)) == int(part) else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept


def part_of(test: str, parts: int) -> int:
    """The part, from 1, that a test belongs to."""
    return 1 + crc32(test.partition("[")[0].encode()) % parts


def _test_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def pytest_collection_finish() -> None:
    """Fork bots; leave the thousands of collected tests out of each garbage collection, a sixth of the time."""
    fork_bots()
    gc.collect()
    gc.freeze()


_TESTS_BETWEEN_COLLECTIONS = 200
_run = 0


def pytest_runtest_teardown() -> None:
    """Collect what some tests have left and leave the rest out from then on: caches only grow, and a collection with
    them takes seconds in the end."""
    global _run
    _run += 1
    if _run % _TESTS_BETWEEN_COLLECTIONS == 0:
        gc.collect()
        gc.freeze()
