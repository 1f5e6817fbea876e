"""Tables of `research/tables/learner.md` on the shipped memories, compared with the measurements."""

from __future__ import annotations

import json
from dataclasses import asdict
from random import Random

import pytest

from bots.learner.memory import SHIPPED, Constants, shipped_memory
from bots.sdk.registry import make_bot
from protocol import find_game
from tests.scripts import script

pytestmark = pytest.mark.slow

REMAKE = script("research/learner/remake.py")
MEMORIES = script("research/learner/memories.py")


def test_page_has_the_measured_figures() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_tables(text) == text


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_memory_was_measured_and_wins_more_than_an_empty_one(name: str) -> None:
    rows = REMAKE.stored(name)
    assert [(row.opponent, row.deals) for row in rows] == [
        (opponent, REMAKE.deals(name, opponent)) for opponent in REMAKE.opponents(name)
    ]
    assert {row.memory for row in rows} == {REMAKE.checksum(name)}
    # However the rows hang together: half the interval of a mean is at most the mean of the halves.
    assert sum(row.gain_mbb for row in rows) > sum(row.gain_half_width for row in rows)


@pytest.mark.parametrize("name", SHIPPED)
def test_all_opponents_of_a_game_play_it(name: str) -> None:
    game = find_game(name)[1]
    for opponent in REMAKE.opponents(name):
        specs = opponent.split()
        assert len(specs) in (1, game.num_players - 1)
        assert [make_bot(spec, 1).refusal(game) for spec in specs] == [None] * len(specs)


def test_learners_were_trained_against_the_shipped_memories() -> None:
    rows = REMAKE.stored_counters()
    assert [(row.game, row.memory, row.seed) for row in rows] == [
        (name, REMAKE.checksum(name), seed) for name in REMAKE.COUNTER_GAMES for seed in REMAKE.COUNTER_SEEDS
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_memories_were_trained_by_the_script(name: str) -> None:
    memory = shipped_memory(find_game(name)[1], Constants())
    expected = json.loads(json.dumps(asdict(MEMORIES.settings(name))))
    constants = expected.pop("constants")
    assert json.loads(memory.training)["settings"] == expected
    assert asdict(memory.constants) == constants
    assert MEMORIES.hands(name) <= memory.hands < MEMORIES.hands(name) + expected["block"]


@pytest.mark.parametrize("name", ["limit", "nolimit", "limit3", "nolimit6"])
def test_row_is_reproducible(name: str) -> None:
    """The row is drawn with a fixed seed from those without slow bots."""
    row = Random(name).choice([row for row in REMAKE.stored(name) if row.deals > 800])
    assert REMAKE.play(name, row.opponent) == row
