"""The files that measure the built-in bots are runs, and leave none of the bots out."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.registry import builtin_names
from dealer.contest.config import read_config, validated
from dealer.contest.plan import find_entrants, plan_run, settled
from tests.dealer.helpers import ROOT

FILES = sorted((ROOT / "docs" / "strength").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_built_in_bot_meets_every_other(path: Path) -> None:
    config = validated(read_config(path), str(path))
    entrants = find_entrants(config)
    plan = plan_run(settled(config, entrants, 1), entrants, path.parent)
    bots = {player.text.partition("?")[0] for player in entrants.players}
    assert bots == set(builtin_names())
    count = len(entrants.players)
    assert len(plan.contests) == count * (count - 1) // 2
    assert all(contest.seating.value == "rotations" for contest in plan.contests)


def test_there_are_such_files() -> None:
    assert [path.stem for path in FILES] == ["limit", "nolimit"]
