"""The output in `docs/small-games.md` is that of its commands, and its examples run."""

from __future__ import annotations

import re

import pytest

from tests.dealer.helpers import ROOT
from tests.scripts import script

pytestmark = pytest.mark.slow


def test_the_page_shows_the_output() -> None:
    remake = script("research/small-games/remake.py")
    text = remake.PAGE.read_text("utf-8")
    assert remake.remade(text) == text


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    page = (ROOT / "docs" / "small-games.md").read_text("utf-8")
    for snippet in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(snippet, "small-games.md", "exec"), names)
    random, best, worth, bets, calls = capsys.readouterr().out.splitlines()
    assert (random, best) == ("2.0942 chips per hand", "2.3127 by the second player")
    assert worth == "worth 0.3333"
    assert [float(word) for word in re.findall(r"[\d.]+", bets + calls)] == pytest.approx([1, 1 / 3, 2 / 3])
