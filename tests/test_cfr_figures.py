"""What `docs/cfr.md` shows of the matches of `cfr` is what they gave."""

from __future__ import annotations

from pathlib import Path

from bots.registry import builtin_names, make_bot
from protocol import find_game
from tests.scripts import script

REMAKE = script("cfr/remake.py")


def test_the_table_is_that_of_the_results() -> None:
    page = REMAKE.PAGE.read_text("utf-8")
    rows = REMAKE.rows_of_csv()
    assert {row.opponent: row.deals for row in rows} == REMAKE.DEALS
    assert REMAKE.with_table(page, rows) == page


def test_the_training_is_that_of_the_shipped_strategy() -> None:
    page = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_training(page) == page


def test_every_built_in_bot_that_can_is_met() -> None:
    game = find_game("limit")[1]
    able = {name for name in builtin_names() if make_bot(name).refusal(game) is None}
    # One does what another does, one is made against a bot that is named, one is this bot.
    assert {*REMAKE.DEALS} == able - {"constant", "lbr", "cfr"}


def test_a_match_can_be_played_again(tmp_path: Path) -> None:
    row = REMAKE.played(tmp_path, "calling", 100)
    assert (row.opponent, row.deals) == ("calling", 100)
    assert REMAKE.played(tmp_path, "calling", 100) == row
