"""Built-in bots that a server offers in a game, started as in a match."""

from __future__ import annotations

import json

import pytest

from dealer.server.server_settings import bots_for
from protocol import find_game, shipped_games
from tests.dealer.cli.conftest import Arena

QUICK = ("kuhn.limit.3p", "leduc.limit.2p")
"""Games whose bots compile no kernels."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in shipped_games()]
)
def test_offered_bots_play(arena_here: Arena, name: str) -> None:
    game = find_game(name)[1]
    offered = list(bots_for(game))
    assert "calling" in offered
    seats = game.num_players
    # Each bot has a seat at one of the tables; the last table is filled up from the first.
    for table, first in enumerate(range(0, len(offered), seats)):
        bots = (offered[first:] + offered)[:seats]
        result = arena_here("play", name, *bots, "--deals", "1", "--no-duplicate", "--out", f"table{table}", "--json")
        assert (result.code, result.err) == (0, ""), bots
        report = json.loads(result.out)
        assert (report["hands_played"], report["outcome"]) == (1, "finished")
        assert [player["faults"] for player in report["players"]] == [{}] * seats
