"""``pytest --shard 2/4``: parts that are all tests together, each once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from tests.conftest import part_of
from tests.dealer.helpers import PATIENCE_S, ROOT

TESTS = [f"tests/test_{one}.py::test_{other}[{value}]" for one in "abc" for other in range(40) for value in (1, 2)]


def test_every_test_is_in_one_part_and_its_parameters_are_together() -> None:
    assert {part_of(test, 1) for test in TESTS} == {1}
    counts = Counter(part_of(test, 4) for test in TESTS)
    assert set(counts) == {1, 2, 3, 4}
    assert min(counts.values()) > 30
    assert all(part_of(one, 4) == part_of(other, 4) for one, other in zip(TESTS[::2], TESTS[1::2], strict=True))


@pytest.mark.parametrize(("part", "workers"), [("5/4", "0"), ("2", "1")])
def test_a_part_that_does_not_exist_is_refused_in_a_worker_too(part: str, workers: str) -> None:
    command = [sys.executable, "-m", "pytest", "-n", workers, "--shard", part, __file__]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S)
    assert ran.returncode == 4
    assert "--shard: must be a part and the number of parts, such as 2/4" in ran.stderr
