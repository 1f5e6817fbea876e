"""The page about servers holds the figures that its script measured last."""

from __future__ import annotations

import json

from tests.scripts import script


def test_the_tables_are_those_of_the_last_measurement() -> None:
    remake = script("serve/remake.py")
    found = json.loads(remake.MEASURED.read_text("utf-8"))
    page = remake.PAGE.read_text("utf-8")
    assert remake.with_tables(page, found) == page
