"""The learner's constants, cells and memory: levels, formulas 4, 7 and 8, order of sums, files."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from bots.artifact import read_artifact, write_artifact
from bots.errors import BotFileError
from bots.formula.formulas import Decision, Observation
from bots.learner.memory import (
    _KIND,
    RANGES,
    UNTRIED,
    Constants,
    Memory,
    MemoryCell,
    MemoryFile,
    Results,
    best_decision,
    cell_of,
    level,
    level_counts,
    memory_bytes,
    read_memory,
    reward_mbb,
    write_memory,
)

CONSTANTS = Constants()
SEEN = Observation(
    chance_percent=63.0,
    pot_chips=600,
    odds=3.0,
    raise_chips=100,
    raise_count=3,
    player_count=6,
    follower_count=2,
    round=2,
    in_game_count=3,
    big_blind_chips=100,
)


def random_memory(seed: int, hands: int = 200) -> tuple[Memory, list[tuple[list[tuple[MemoryCell, Decision]], int]]]:
    """Return a memory of random hands, and the hands."""
    numbers = random.Random(seed)
    counts = level_counts(CONSTANTS)
    memory, learnt = Memory(CONSTANTS), []
    for _ in range(hands):
        decisions = [
            (MemoryCell(*[numbers.randrange(min(count, 2)) for count in counts]), Decision(numbers.randint(1, 5)))
            for _ in range(numbers.randrange(4))
        ]
        learnt.append((decisions, numbers.randint(-3000, 3000)))
        memory.learn(*learnt[-1])
    return memory, learnt


def learnt(hands: Iterable[tuple[list[tuple[MemoryCell, Decision]], int]]) -> Memory:
    memory = Memory(CONSTANTS)
    for hand in hands:
        memory.learn(*hand)
    return memory


# ---- levels


def test_levels_of_the_example_of_the_work() -> None:
    assert level(29, 13.3, 7) == 2
    assert level(1000, 13.3, 7) == 6
    assert level(0, 13.3, 7) == 0


def test_a_value_on_a_border_belongs_to_the_higher_level() -> None:
    assert [level(value, 2.0, 4) for value in (0, 1.999, 2, 4, 6, 8, 1e9)] == [0, 0, 1, 2, 3, 3, 3]


def test_the_cell_of_a_state() -> None:
    cell = cell_of(SEEN, CONSTANTS)
    assert cell == MemoryCell(5, 1, 0, 2, 1, 2, 2, 1, 1)
    assert cell.text == "510212211"
    assert MemoryCell.parse(cell.text) == cell
    assert cell_of(replace(SEEN, round=0), CONSTANTS).round == 0


def test_a_cell_never_lies_beyond_its_levels() -> None:
    for big, little in itertools.product((1, 2, 10), (1, 4)):
        constants = Constants(big_qty=big, little_qty=little, chance_interval=1, pot_interval=0.5)
        cell = cell_of(replace(SEEN, chance_percent=100.0, pot_chips=10**6, player_count=10), constants)
        assert all(index < count for index, count in zip(cell, level_counts(constants), strict=True))


def test_a_cell_needs_a_chance() -> None:
    with pytest.raises(ValueError, match="needs CHANCE"):
        cell_of(replace(SEEN, chance_percent=None), CONSTANTS)


@pytest.mark.parametrize("text", ["", "1234567890", "12345678x", "१२३४५६७८९"])
def test_invalid_cells_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="9 digits"):
        MemoryCell.parse(text)


# ---- constants


def test_the_number_of_cells_is_that_of_the_work_at_its_largest() -> None:
    largest = Constants(big_qty=int(RANGES["big_qty"][1]), little_qty=int(RANGES["little_qty"][1]))
    assert math.prod(level_counts(largest)) == 5_120_000


def test_the_defaults_lie_within_the_ranges_of_the_work() -> None:
    for name, (low, high) in RANGES.items():
        assert low <= getattr(CONSTANTS, name) <= high


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"pot_interval": 0}, "pot_interval must be 0.001 to 1,000,000, not 0"),
        ({"pot_interval": math.nan}, "pot_interval must be 0.001"),
        ({"little_qty": 0}, "little_qty must be 1 to 10, not 0"),
        ({"little_qty": 2.0}, "little_qty must be 1 to 10, not 2.0"),
    ],
)
def test_invalid_constants_are_refused(values: dict[str, float], problem: str) -> None:
    with pytest.raises(ValueError) as raised:
        Constants(**values)  # type: ignore[arg-type]
    assert problem in str(raised.value)


def test_constants_that_are_equal_are_written_alike() -> None:
    whole = Constants(pot_interval=4)
    assert repr(whole) == repr(CONSTANTS)
    assert CONSTANTS.differences(whole) == {}
    assert CONSTANTS.differences(Constants(pot_interval=5, big_qty=6)) == {"pot_interval": 5.0, "big_qty": 6}


# ---- decisions and rewards


def test_the_decision_with_the_best_mean() -> None:
    row = (Results(losses=10, loss_mbb=5000), Results(3, 900, 2, 400), Results(1, 500), *UNTRIED[3:])
    assert [results.mean_mbb for results in row[:3]] == [-500.0, 100.0, 500.0]
    assert best_decision(row) is Decision.SMALL_RAISE


def test_untried_decision_is_not_chosen() -> None:
    row = (Results(losses=1, loss_mbb=500), Results(losses=1, loss_mbb=400), *UNTRIED[2:])
    assert best_decision(row) is Decision.CALL


def test_smaller_decision_wins_ties() -> None:
    row = (UNTRIED[0], UNTRIED[1], Results(2, 600, 1, 300), Results(1, 100), Results(3, 300))
    assert best_decision(row) is Decision.SMALL_RAISE


def test_unmet_state_is_called() -> None:
    assert best_decision(UNTRIED) is Decision.CALL


def test_rewards_are_whole_thousandths_of_a_big_blind() -> None:
    assert [reward_mbb(value, 100) for value in (50, -75.5, 0)] == [500, -755, 0]
    assert reward_mbb(10 / 3, 10) == 333


def test_every_decision_of_a_hand_has_its_reward() -> None:
    first, second = MemoryCell(*[0] * 9), MemoryCell(*[1] * 9)
    memory = Memory(CONSTANTS)
    memory.learn([(first, Decision.CALL), (second, Decision.FOLD)], -500)
    memory.learn([(first, Decision.CALL), (first, Decision.CALL)], 0)
    memory.learn([(second, Decision.FOLD)], 250)
    memory.learn([], 750)
    assert memory.row(first) == (UNTRIED[0], Results(2, 0, 1, 500), *UNTRIED[2:])
    assert memory.row(second) == (Results(1, 250, 1, 500), *UNTRIED[1:])
    assert (memory.hands, len(memory.cells)) == (4, 2)
    assert [*memory.cells] == [first, second]


def test_memory_holds_the_sums_of_the_rewards() -> None:
    """The slow twin keeps all rewards in lists."""
    memory, hands = random_memory(1)
    rewards: dict[tuple[MemoryCell, Decision], list[int]] = {}
    for decisions, reward in hands:
        for key in decisions:
            rewards.setdefault(key, []).append(reward)
    for cell, row in memory.cells.items():
        for decision, results in zip(Decision, row, strict=True):
            expected = rewards.pop((cell, decision), [])
            assert results.taken == len(expected)
            assert results.profit_mbb - results.loss_mbb == sum(expected)
            assert results.losses == sum(reward < 0 for reward in expected)
    assert not rewards


# ---- memories as values


def test_inconsistent_memories_are_refused(tmp_path: Path) -> None:
    path, lowest = tmp_path / "x.memory", "0" * 9
    write_memory(path, Memory(CONSTANTS))
    header = read_artifact(path, _KIND).header
    for cells, hands, problem in [
        ([lowest, lowest], 1, "out of order"),
        (["1" + lowest[1:], lowest], 1, "out of order"),
        (["9" + lowest[1:]], 1, "beyond its levels"),
        ([lowest], -1, "the number of hands is missing or unknown"),
    ]:
        body = "".join(f"{cell} 1:1,5,0,0\n" for cell in cells).encode()
        write_artifact(path, _KIND, {**header, "cells": len(cells), "hands": hands}, body)
        with pytest.raises(BotFileError, match=problem):
            read_memory(path)


# ---- files


def test_memory_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.memory"
    memory = replace(random_memory(4)[0], training='{"hands": 7, "game": "limit"}')
    write_memory(path, memory)
    assert read_memory(path) == replace(memory, training='{"game": "limit", "hands": 7}')
    assert read_memory(path, CONSTANTS).cells == memory.cells
    assert os.listdir(tmp_path) == ["x.memory"]


def test_equal_memories_are_equal_bytes(tmp_path: Path) -> None:
    """The order of hands and a round trip through a file do not matter."""
    hands = [*random_memory(0)[1], *random_memory(1)[1]]
    data, other = [memory_bytes(learnt(order)) for order in (hands, hands[::-1])]
    assert data == other
    (tmp_path / "x").write_bytes(data)
    assert memory_bytes(read_memory(tmp_path / "x")) == data


def test_text_of_a_file() -> None:
    memory = Memory(CONSTANTS)
    memory.learn([(MemoryCell.parse("305101012"), Decision.CALL)], -500)
    memory.learn(
        [(MemoryCell.parse("305101012"), Decision.CALL), (MemoryCell.parse("305101012"), Decision.LARGE_RAISE)], 1500
    )
    header, body, _ = memory_bytes(memory).split(b"\n", 2)
    assert body == b"305101012 2:1,1500,1,500 5:1,1500,0,0"
    assert json.loads(header)["hands"] == 2


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"cells": 1}, "it has"),
        ({"constants": {"pot": 1}}, "a constant or the number of hands is missing or unknown"),
        ({"hands": "7"}, "a constant or the number of hands is missing or unknown"),
    ],
)
def test_damaged_memories_are_refused(tmp_path: Path, changes: dict[str, object], problem: str) -> None:
    path = tmp_path / "x.memory"
    write_memory(path, random_memory(6)[0])
    outcome = read_artifact(path, _KIND)
    write_artifact(path, _KIND, {**outcome.header, **changes}, bytes(outcome.contents))
    with pytest.raises(BotFileError) as raised:
        read_memory(path)
    assert str(raised.value).startswith(f"{path}: it is damaged: {problem}")
    assert "\n" not in str(raised.value)


def test_other_constants_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.memory"
    write_memory(path, Memory(Constants(pot_interval=5, big_qty=6)))
    with pytest.raises(BotFileError, match=r"add the options pot_interval=5,big_qty=6$"):
        read_memory(path, CONSTANTS)


def test_missing_and_unwritable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BotFileError, match="it cannot be read: No such file"):
        read_memory(tmp_path / "gone")
    with pytest.raises(BotFileError, match="it cannot be written"):
        write_memory(tmp_path / "gone" / "x", Memory(CONSTANTS))
    with pytest.raises(BotFileError, match="it cannot be written"):
        MemoryFile(tmp_path / "gone" / "x", CONSTANTS)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.memory"
    write_memory(path, random_memory(7)[0])
    before = path.read_bytes()

    def refuse(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("logs.whole_file.sync_to_disk", refuse)
    with pytest.raises(BotFileError, match="No space left"):
        write_memory(path, Memory(CONSTANTS))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.memory"]


def test_file_has_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "x.memory"
    file = MemoryFile(path, CONSTANTS)
    assert file.start == Memory(CONSTANTS)
    with pytest.raises(BotFileError, match="another learner is writing it"):
        MemoryFile(path, CONSTANTS)
    memory, _ = random_memory(8)
    file.write(memory)
    file.close()
    second = MemoryFile(path, CONSTANTS)
    assert second.start == memory
    second.close()
    second.close()
    assert os.listdir(tmp_path) == ["x.memory"]


def test_refused_file_is_not_locked(tmp_path: Path) -> None:
    path = tmp_path / "x.memory"
    path.write_text("something else")
    for _ in range(2):
        with pytest.raises(BotFileError, match="does not begin"):
            MemoryFile(path, CONSTANTS)
