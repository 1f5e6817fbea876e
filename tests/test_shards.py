"""``pytest --shard 2/4``: parts that are all tests together, each once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.conftest import part_of, pytest_testnodedown
from tests.dealer.helpers import PATIENCE_S, ROOT

TESTS = [f"tests/test_{one}.py::test_{other}[{value}]" for one in "abc" for other in range(40) for value in (1, 2)]


def test_every_test_is_in_one_part_and_its_parameters_are_together() -> None:
    assert {part_of(test, 1) for test in TESTS} == {1}
    counts = Counter(part_of(test, 4) for test in TESTS)
    assert set(counts) == {1, 2, 3, 4}
    assert min(counts.values()) > 30
    assert all(part_of(one, 4) == part_of(other, 4) for one, other in zip(TESTS[::2], TESTS[1::2], strict=True))


@pytest.mark.parametrize(
    ("part", "workers"), [("5/4", "0"), pytest.param("2", "1", marks=pytest.mark.slow, id="in a worker")]
)
def test_a_part_that_does_not_exist_is_refused(part: str, workers: str) -> None:
    command = [sys.executable, "-m", "pytest", "-n", workers, "--shard", part, __file__]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S)
    assert ran.returncode == 4
    assert "--shard: must be a part and the number of parts, such as 2/4" in ran.stderr


def test_what_a_worker_refuses_is_refused() -> None:
    pytest_testnodedown(SimpleNamespace(workeroutput={"exitstatus": 0}))
    pytest_testnodedown(SimpleNamespace())  # a worker that has crashed
    with pytest.raises(pytest.UsageError, match="not found: nowhere"):
        pytest_testnodedown(SimpleNamespace(workeroutput={"usage": ["file or directory not found: nowhere"]}))
