"""Pages that scripts write, compared with the latest measurements and with the program's settings."""

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
def test_tables_are_those_of_the_latest_measurement(name: str) -> None:
    remake = script(f"research/{name}")
    measurements = json.loads(remake.MEASURED.read_text("utf-8"))
    page = remake.PAGE.read_text("utf-8")
    assert remake.with_tables(page, measurements) == page
