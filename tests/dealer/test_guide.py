"""Examples of the page "Python API"."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.dealer.helpers import ROOT

GUIDE = (ROOT / "docs" / "python-api.md").read_text("utf-8")


@pytest.mark.slow
def test_examples_run_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shutil.copy(ROOT / "examples" / "minimal_bot.py", tmp_path / "my_bot.py")
    snippets = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, "python-api.md", "exec"), names)
    out = capsys.readouterr().out
    assert "New over Old +20 ± 8 mbb/g\n" in out
    assert "\ndeals must be at least 1, not 0\n" in out
    assert "kuhn-rational 125.0 mbb/g (" in out
    assert "worth 0.3333\n" in out
    assert (tmp_path / "runs" / "first" / "result.json").is_file()
