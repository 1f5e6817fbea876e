"""What `docs/learner.md` shows is what its commands printed."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from tests.dealer.helpers import ROOT


def _remake() -> ModuleType:
    spec = importlib.util.spec_from_file_location("learner_commands", ROOT / "docs" / "learner" / "commands.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


REMAKE = _remake()


def test_the_page_shows_what_was_printed() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_outputs(text) == text


def test_every_command_stands_on_the_page() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert all(f"    {command}\n" in text for command in REMAKE.COMMANDS.values())
    for name in REMAKE.COMMANDS:
        output = REMAKE.stored(name)
        assert output is not None
        assert output in text
