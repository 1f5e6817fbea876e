"""Files of the runs that measure the built-in bots, which omit only bots with other measurements."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.sdk.registry import builtin_names
from dealer.run.plan import planned_contests, settle
from dealer.run.run_settings import read_config, validated
from tests.dealer.helpers import ROOT

pytestmark = pytest.mark.slow

MEASURED_ELSEWHERE = {"cfr", "evolved", "lbr", "learner", "llm", "lp", "lp-mc", "mc"}
"""Bots with measurements in cfr.md, evolved.md, exploit.md, learner.md and lp-mc.md, and `llm`, whose strength is that
of its model."""
OF_SMALL_GAMES = {"equilibrium", "kuhn", *(name for name in builtin_names() if name.startswith("kuhn-"))}
"""Bots that do not play hold'em; `docs/small-games.md` has their exact values."""

FILES = sorted((ROOT / "research" / "strength").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_built_in_bot_plays_every_other(path: Path) -> None:
    plan = settle(validated(read_config(path), str(path)))
    bots = {player.text.partition("?")[0] for player in plan.players}
    assert bots == set(builtin_names()) - MEASURED_ELSEWHERE - OF_SMALL_GAMES
    count = len(plan.players)
    assert len(planned_contests(plan, path.parent)) == count * (count - 1) // 2
    assert plan.seating == "rotations"


def test_files_of_runs_exist() -> None:
    assert [path.stem for path in FILES] == ["limit", "nolimit"]
