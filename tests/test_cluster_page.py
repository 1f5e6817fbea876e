"""The page about clusters holds the figures that its script measured last."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def _remake() -> ModuleType:
    spec = importlib.util.spec_from_file_location("remake_cluster", ROOT / "docs" / "cluster" / "remake.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_last_measurement() -> None:
    remake = _remake()
    found = json.loads(remake.MEASURED.read_text("utf-8"))
    page = remake.PAGE.read_text("utf-8")
    assert remake.with_tables(page, found) == page
