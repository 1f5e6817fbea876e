"""What is written about the package runs as it stands: the guide, and the example its documentation opens with."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

import protocol
import protocol.errors
import protocol.session

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "embed-the-protocol.md"


def test_the_guide_runs_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for snippet in re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL):
        exec(compile(snippet, GUIDE.name, "exec"), names)
    totals = names["totals"]
    assert isinstance(totals, list)
    assert sum(totals) == 0
    assert capsys.readouterr().out == f"the caller {totals[0]:+.0f}, the raiser {totals[1]:+.0f}\n"


def test_the_example_of_the_package() -> None:
    found = doctest.testmod(protocol)
    assert found.attempted
    assert not found.failed


def test_every_event_state_and_error_is_exported() -> None:
    classes = {
        name
        for module in (protocol.session, protocol.errors)
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    assert classes - {"NeedData"} <= set(protocol.__all__)
    assert sorted(protocol.__all__) == sorted(set(protocol.__all__))
    assert all(hasattr(protocol, name) for name in protocol.__all__)
