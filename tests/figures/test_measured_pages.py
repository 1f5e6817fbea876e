"""Pages that scripts write: figures are those measured last, settings those of the program."""

from __future__ import annotations

import json

import pytest

from tests.scripts import script

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "name",
    [
        "cluster/remake.py",
        "serve/remake.py",
        "speed/remake.py",
        "speed/runs.py",
        "serve/competition.py",
        "serve/course.py",
    ],
)
def test_the_tables_are_those_of_the_last_measurement(name: str) -> None:
    remake = script(f"research/{name}")
    found = json.loads(remake.MEASURED.read_text("utf-8"))
    page = remake.PAGE.read_text("utf-8")
    assert remake.with_tables(page, found) == page
