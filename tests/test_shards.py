"""Shards of the tests: ``pytest --shard 2/4``."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import cast

import pytest

from tests.conftest import pytest_collection_modifyitems, pytest_testnodedown, shard_for

TESTS = [f"tests/test_{file}.py::test_{number}[{case}]" for file in "abc" for number in range(40) for case in (1, 2)]


def test_every_test_is_in_one_part_with_all_its_parameters() -> None:
    assert {shard_for(test, 1) for test in TESTS} == {1}
    counts = Counter(shard_for(test, 4) for test in TESTS)
    assert set(counts) == {1, 2, 3, 4}
    assert min(counts.values()) > 30
    for first_case, second_case in zip(TESTS[::2], TESTS[1::2], strict=True):
        assert shard_for(first_case, 4) == shard_for(second_case, 4)


@pytest.mark.parametrize("part", ["5/4", "0/4", "2", "a/b"])
def test_wrong_part_is_refused(part: str) -> None:
    config = cast(pytest.Config, SimpleNamespace(getoption=lambda _: part, option=SimpleNamespace(markexpr="")))
    with pytest.raises(pytest.UsageError, match="--shard: must be a part and the number of parts, such as 2/4"):
        pytest_collection_modifyitems(config, [])


def test_refusal_of_a_worker_ends_the_tests() -> None:
    pytest_testnodedown(SimpleNamespace(workeroutput={"exitstatus": 0}))
    pytest_testnodedown(SimpleNamespace())  # a worker that has crashed
    with pytest.raises(pytest.UsageError, match="not found: nowhere"):
        pytest_testnodedown(SimpleNamespace(workeroutput={"usage": ["file or directory not found: nowhere"]}))
