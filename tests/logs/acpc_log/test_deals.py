"""Logs compared with the cards that their seeds deal."""

from __future__ import annotations

from pathlib import Path

import pytest

from dealer import play
from engine import DealKey, derived_seed
from logs.acpc_log.header import read_log_header
from logs.acpc_log.reader import check_deals
from logs.errors import LogError

KEY = DealKey(bytes(range(32)))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log whose cards were dealt by a key."""
    play("limit", ["random", "calling"], deals=30, seed=KEY, in_process=True, out=tmp_path / "run")
    return tmp_path / "run" / "match.a.log"


def test_the_cards_of_a_log_are_those_of_its_key(log: Path) -> None:
    header = read_log_header(log)
    assert header is not None
    assert header.seed == str(KEY)
    assert check_deals(log, KEY) == 30


def test_cards_of_another_seed_are_refused(log: Path) -> None:
    for wrong in (derived_seed(KEY, 0), 7):
        with pytest.raises(LogError, match=f"its header names the seed {KEY}, not {wrong}"):
            check_deals(log, wrong)


def test_cards_that_were_not_dealt_are_refused(log: Path) -> None:
    lines = log.read_text().splitlines(keepends=True)
    hands = [at for at, line in enumerate(lines) if line.startswith("STATE:")]
    moved = lines[hands[9]].replace("STATE:9:", "STATE:7:", 1)
    log.write_text("".join([*lines[: hands[7]], moved]))
    with pytest.raises(LogError, match="hand 7 has other cards than key:"):
        check_deals(log, KEY)
