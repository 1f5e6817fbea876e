"""What `docs/cfr.md` shows of the matches of `cfr` is what they gave."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from bots.registry import builtin_names, make_bot
from protocol import find_game

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def remake() -> ModuleType:
    spec = importlib.util.spec_from_file_location("remake_cfr", ROOT / "docs" / "cfr" / "remake.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_that_of_the_results(remake: ModuleType) -> None:
    page = remake.PAGE.read_text("utf-8")
    rows = remake.rows_of_csv()
    assert {row.opponent: row.deals for row in rows} == remake.DEALS
    assert remake.with_table(page, rows) == page


def test_the_training_is_that_of_the_shipped_strategy(remake: ModuleType) -> None:
    page = remake.PAGE.read_text("utf-8")
    assert remake.with_training(page) == page


def test_every_built_in_bot_that_can_is_met(remake: ModuleType) -> None:
    game = find_game("limit")[1]
    able = {name for name in builtin_names() if make_bot(name).refusal(game) is None}
    # One does what another does, one is made against a bot that is named, one is this bot.
    assert {*remake.DEALS} == able - {"constant", "lbr", "cfr"}


def test_a_match_can_be_played_again(remake: ModuleType, tmp_path: Path) -> None:
    row = remake.played(tmp_path, "calling", 100)
    assert (row.opponent, row.deals) == ("calling", 100)
    assert remake.played(tmp_path, "calling", 100) == row
