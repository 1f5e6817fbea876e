"""Hands of a log whose cards differ from those of the seed in its header."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import CARD_TEXTS, DealKey, deal_hand
from logs import format_state_line
from logs.acpc_log import dealt_cards
from logs.acpc_log.dealt_cards import DealtCards
from logs.acpc_log.reader import read_log
from logs.errors import LogError, LogProblem
from logs.hand_index import open_hands
from logs.hand_source import HandFile, find
from logs.tracker import count_hands, many_files
from protocol import find_game
from tests.logs.hands import log_lines, random_hands

LIMIT = "holdem.limit.2p.reverse_blinds"


def with_other_cards(line: str) -> str:
    """Replace two hole cards of the first position by others, in a hand without a showdown."""
    fields = line.split(":")
    unused = [text for text in CARD_TEXTS if text not in fields[3]]
    fields[3] = "".join(unused[:2]) + fields[3][4:]
    return ":".join(fields)


def folded(lines: list[str]) -> int:
    """Return the index of the last line of a hand that ended by a fold."""
    return max(at for at, line in enumerate(lines) if line.startswith("STATE:") and line.split(":")[2].endswith("f"))


def read(lines: list[str]) -> tuple[int, list[str]]:
    problems: list[LogProblem] = []
    return sum(1 for _ in read_log(lines, on_problem=problems.append)), [*map(str, problems)]


def test_a_hand_with_other_cards_is_left_out() -> None:
    lines = log_lines(random_hands("limit", 60), f"{LIMIT}.game")
    assert read(lines) == (60, [])
    at = folded(lines)
    number = lines[at].split(":")[1]
    lines[at] = with_other_cards(lines[at])
    sentence = f"<lines>, line {at + 1}: hand {number} has other cards than seed 1 deals (skipped)"
    assert read(lines) == (59, [sentence])


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_the_first_hand_may_be_the_one_that_was_changed(game: str) -> None:
    lines = log_lines(random_hands(game, 40), f"{game}.limit.2p.game")
    at = next(at for at, line in enumerate(lines) if line.startswith("STATE:") and line.split(":")[2].endswith("f"))
    one, other = lines[at].split(":")[3].split("/")[0].split("|")
    lines[at] = lines[at].replace(f"{one}|{other}", f"{other}|{one}")
    count, problems = read(lines)
    assert (count, len(problems)) == (39, 1)
    assert problems[0].startswith(f"<lines>, line {at + 1}: hand ")


@pytest.mark.parametrize("processes", [1, 2])
def test_counts_exclude_hands_with_other_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int) -> None:
    monkeypatch.setattr(many_files, "_MIN_BYTES", 0)
    lines = log_lines(random_hands("limit", 60), f"{LIMIT}.game")
    at = folded(lines)
    lines[at] = with_other_cards(lines[at])
    (tmp_path / "m.log").write_text("".join(lines))
    problems: list[LogProblem] = []
    assert count_hands(find([tmp_path / "m.log"], on_problem=problems.append), processes=processes).hands == 59
    assert [problem.line_number for problem in problems] == [at + 1]
    number = int(lines[at].split(":")[1])
    with open_hands(HandFile(str(tmp_path / "m.log"))) as access, pytest.raises(LogError, match="has other cards than"):
        access.matches[0].hand(number)


def test_a_log_of_another_dealer_is_read_and_said_to_be_unchecked() -> None:
    lines = log_lines(random_hands("limit", 60, seed=5), f"{LIMIT}.game", seed=1)
    sentence = "<lines>, line 5: its first hands do not have the cards that seed 1 deals (read unchecked)"
    assert read(lines) == (60, [sentence])
    assert sum(1 for _ in read_log(lines, strict=True)) == 60


def test_a_log_of_a_key_has_no_cards_to_compare() -> None:
    records = random_hands("limit", 20)
    lines = log_lines(records, f"{LIMIT}.game")
    lines[0] = lines[0].replace(" 1\n", f" {DealKey(bytes(32))}\n")
    assert read(lines) == (20, [])


def test_a_log_that_begins_late_and_has_gaps() -> None:
    records = random_hands("limit", 50, first_hand=70_000)
    del records[10:20]
    lines = [log_lines(records, f"{LIMIT}.game", score=False)[0], *map(format_state_line, records)]
    count, problems = read(lines)
    assert (count, len(problems)) == (40, 1)
    assert "are missing before this one" in problems[0]


def test_numbers_that_jump_are_compared_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dealt_cards, "_MAX_SKIPPED", 1 << 20)
    game = find_game("limit")[1]
    cards = DealtCards(game, 1)
    other = deal_hand(game, 2, 0)
    assert [cards.fit(number, other) for _ in range(20) for number in (100_000, 0)] == [False] * 21 + [True] * 19
