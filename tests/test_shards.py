"""``pytest --shard 2/4``: parts that are all tests together, each once."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import cast

import pytest

from tests.conftest import part_of, pytest_collection_modifyitems, pytest_testnodedown

TESTS = [f"tests/test_{one}.py::test_{other}[{value}]" for one in "abc" for other in range(40) for value in (1, 2)]


def test_every_test_is_in_one_part_with_all_its_parameters() -> None:
    assert {part_of(test, 1) for test in TESTS} == {1}
    counts = Counter(part_of(test, 4) for test in TESTS)
    assert set(counts) == {1, 2, 3, 4}
    assert min(counts.values()) > 30
    assert all(part_of(one, 4) == part_of(other, 4) for one, other in zip(TESTS[::2], TESTS[1::2], strict=True))


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
