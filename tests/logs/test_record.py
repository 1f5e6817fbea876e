"""Equality of records: independent of caches and of the process that reads them."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import engine.betting
import logs.acpc_log.state_lines
from engine import Seat
from logs import HandRecord, PlayerComment, Times
from logs.acpc_log.reader import read_log
from tests.logs.hands import as_seen, log_lines, random_hands

GAMES = ("limit", "nolimit6", "leduc-nolimit")


def read_again(hands: list[HandRecord]) -> list[HandRecord]:
    return list(read_log(log_lines(hands), game=hands[0].game, strict=True))


@pytest.mark.parametrize("bound", [0, 20])
@pytest.mark.parametrize("name", GAMES)
def test_two_readings_are_equal_with_any_cache(name: str, bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    hands = random_hands(name, 40)
    first = read_again(hands)
    monkeypatch.setattr(engine.betting, "MAX_REMEMBERED", bound)
    monkeypatch.setattr(logs.acpc_log.state_lines, "_MAX_CACHED_CHARACTERS", bound)
    engine.betting.betting_start.cache_clear()
    second = read_again(hands)
    assert first == second == [as_seen(hand) for hand in hands]
    assert set(first) == set(second)
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("name", GAMES[:1])
def test_records_travel_between_processes(name: str, tmp_path: Path) -> None:
    """Another process with other hash values reads the log; its records must be in a set of ours."""
    hands = random_hands(name, 20, with_notes=True)
    (tmp_path / "hands").write_bytes(pickle.dumps(hands))
    (tmp_path / "match.log").write_text("".join(log_lines(hands)))
    program = (
        "import pickle, sys; from logs.acpc_log.reader import read_log\n"
        "hands = pickle.load(open('hands', 'rb'))\n"
        "read = list(read_log('match.log', game=hands[0].game, strict=True))\n"
        "found = all(hand in set(read) for hand in read) and len({*hands, *hands}) == len(hands)\n"
        "pickle.dump((hands, read, found), open('back', 'wb'))\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    back, read, is_whole = pickle.loads((tmp_path / "back").read_bytes())
    assert is_whole
    assert back == hands
    assert set(back) == set(hands)
    assert set(read) == {as_seen(hand) for hand in hands}


def test_every_part_counts() -> None:
    (hand,) = random_hands("limit", 1, with_notes=True)
    assert hand.times
    for changes in (
        {"hand_number": 1},
        {"match_name": "other"},
        {"names_by_seat": ("Ann", "Cat")},
        {"values": (0.0, 0.0)},
        {"times": (Times(1, 2),)},
        {"comments": (PlayerComment(Seat(0), 0, "hm"),)},
        {"dealt_us": 1},
    ):
        assert dataclasses.replace(hand, **changes) != hand  # type: ignore[arg-type]
