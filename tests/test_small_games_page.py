"""What `docs/small-games.md` shows is what comes out, and its examples run."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import ModuleType

import pytest

from tests.dealer.helpers import ROOT


def _remake() -> ModuleType:
    spec = importlib.util.spec_from_file_location("remake_small_games", ROOT / "docs" / "small-games" / "remake.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_what_comes_out() -> None:
    remake = _remake()
    text = remake.PAGE.read_text("utf-8")
    assert remake.with_blocks(text) == text


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    page = (ROOT / "docs" / "small-games.md").read_text("utf-8")
    for snippet in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(snippet, "small-games.md", "exec"), names)
    random, best, worth, bets, calls = capsys.readouterr().out.splitlines()
    assert (random, best) == ("2.0942 chips per hand", "2.3127 by the second player")
    assert worth == "worth 0.3333"
    assert [float(word) for word in re.findall(r"[\d.]+", bets + calls)] == pytest.approx([1, 1 / 3, 2 / 3])
