"""Shipped memories: selected by game and constants, trained as their files state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bots.learner.bot import LearnerBot
from bots.learner.memory import SHIPPED, Constants, Memory, memory_bytes, shipped_memory
from protocol import find_game, shipped_games


@pytest.mark.sampled
@pytest.mark.parametrize("name", shipped_games())
def test_game_has_its_own_memory_or_none(name: str) -> None:
    game = find_game(name)[1]
    memory = shipped_memory(game, Constants())
    names = [short for short in SHIPPED if find_game(short)[1] == game]
    assert bool(memory.cells) == bool(names)
    if names:
        assert json.loads(memory.training)["settings"]["game"] == names[0]
        assert LearnerBot().start_memory(game) == memory_bytes(memory)


@pytest.mark.parametrize("name", SHIPPED)
def test_options_replace_the_shipped_memory(name: str) -> None:
    game = find_game(name)[1]
    other = Constants(pot_interval=5)
    assert shipped_memory(game, other) == Memory(other)
    assert LearnerBot(empty=True).start_memory(game) == memory_bytes(Memory(Constants()))
    assert LearnerBot(constants=other).start_memory(game) == memory_bytes(Memory(other))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_memory_won_its_last_test(name: str) -> None:
    """In the record of its training, the frozen memory beat its own field and did not lose to the other."""
    record = json.loads(shipped_memory(find_game(name)[1], Constants()).training)
    (field, half_width), (unseen, unseen_half_width) = record["blocks"][-1][3:]
    assert field - half_width > 0
    assert unseen + unseen_half_width > 0


@pytest.mark.parametrize("players", [3, 10])
def test_other_games_start_without_a_memory(players: int) -> None:
    """Different stacks or numbers of players are different games."""
    of_ten = find_game("nolimit10")[1]
    game = of_ten._replace(num_players=players, blinds=of_ten.blinds[:players], stacks=(30_000,) * players)
    assert shipped_memory(game, Constants()) == Memory(Constants())


def test_folder_holds_only_the_shipped_memories() -> None:
    from bots.learner import memory as shipped

    assert sorted(path.stem for path in (Path(shipped.__file__).parent / "memories").iterdir()) == sorted(SHIPPED)
    assert all(path.stat().st_size < 250_000 for path in (Path(shipped.__file__).parent / "memories").iterdir())
