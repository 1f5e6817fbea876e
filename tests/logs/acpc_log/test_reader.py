"""Reading logs: hands equal those written, problems name their place and their cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Game
from logs import HandRecord, format_score_line, format_state_line
from logs.acpc_log.reader import read_log
from logs.errors import DamagedLogError, LogError, LogProblem, ProblemKind
from protocol import find_game, shipped_games
from tests.engine.strategies import SEEDS, playable_games
from tests.logs.hands import (
    NAMES,
    OF_2012,
    as_seen,
    each_byte_changed,
    log_lines,
    log_of_2012,
    random_hands,
    recorded_cases,
    recorded_file,
    recorded_game,
    totals_of,
)

KUHN = find_game("kuhn")[1]


def read(lines: list[str], game: Game | None = None) -> tuple[list[HandRecord], list[str]]:
    """Return the hands, and the problems as sentences."""
    problems: list[LogProblem] = []
    hands = list(read_log(lines, game=game, on_problem=problems.append))
    return hands, [str(problem) for problem in problems]


def assert_same(hands: list[HandRecord], written: list[HandRecord]) -> None:
    assert len(hands) == len(written)
    for hand, record in zip(hands, written, strict=True):
        assert hand == as_seen(record), f"hand {record.hand_number}"


# ---- written hands are read back


@pytest.mark.sampled
@pytest.mark.parametrize("name", shipped_games())
def test_every_shipped_game_comes_back(name: str) -> None:
    written = random_hands(name, 120)
    hands, problems = read(log_lines(written, f"{name}.game"))
    assert problems == []
    assert_same(hands, written)


@given(playable_games(), SEEDS, st.integers(0, 2**32 - 20), st.booleans())
def test_any_game_comes_back(game: Game, seed: int, first_hand: int, fixed_seats: bool) -> None:
    written = random_hands(game, 4, seed, first_hand=first_hand % 50, fixed_seats=fixed_seats)
    hands, problems = read(log_lines(written, seed=seed), game)
    assert problems == []
    assert_same(hands, written)


@pytest.mark.sampled
@pytest.mark.parametrize("name", recorded_cases())
def test_the_recorded_matches_come_back_byte_by_byte(name: str) -> None:
    text = recorded_file(name, "log")
    lines = text.splitlines(keepends=True)
    hands, problems = read(lines, recorded_game(name))
    assert problems == []
    assert "".join(map(format_state_line, hands)) == "".join(line for line in lines if line.startswith("STATE:"))
    assert format_score_line(totals_of(hands), hands[0].names_by_seat) == lines[-1]


@pytest.mark.sampled
@pytest.mark.parametrize("name", OF_2012)
def test_the_logs_of_2012_come_back_byte_by_byte(name: str) -> None:
    lines = log_of_2012(name).splitlines(keepends=True)
    hands, problems = read(lines)
    assert problems == []
    assert len(hands) == 1000
    assert hands[0].match_name == name
    assert hands[0].names_by_seat == ("p1", "p2", "p3")[: int(name[0])]
    assert "".join(map(format_state_line, hands)) == "".join(line for line in lines if line.startswith("STATE:"))


def test_names_with_invalid_utf_8_are_preserved(tmp_path: Path) -> None:
    written = random_hands("kuhn", 6, names=(b"\xff\xfe".decode("utf-8", "surrogateescape"), "Zoë # 7"))
    path = tmp_path / "x.log"
    path.write_bytes("".join(log_lines(written, "kuhn.limit.2p")).encode("utf-8", "surrogateescape"))
    assert_same(list(read_log(path, strict=True)), written)


def test_hands_come_as_soon_as_their_seats_are_known() -> None:
    lines = log_lines(random_hands("kuhn", 50), "kuhn.limit.2p", score=False)
    taken = 0

    def feed() -> Iterator[str]:
        nonlocal taken
        for line in lines:
            taken += 1
            yield line

    hands = read_log(feed())
    for number in range(50):
        assert next(hands).hand_number == number
        # Seats are known once a second hand shows how the button moves.
        assert taken == 4 + max(2, number + 1)


# ---- seats


def test_fixed_seats_are_seen_from_the_second_hand_on() -> None:
    written = random_hands("nolimit3", 7, fixed_seats=True, first_hand=4)
    hands, problems = read(log_lines(written, "holdem.nolimit.3p", score=False))
    assert problems == []
    assert_same(hands, written)


@pytest.mark.parametrize("fixed_seats", [False, True])
def test_the_score_seats_a_single_hand(fixed_seats: bool) -> None:
    written = random_hands("nolimit3", 1, first_hand=4, fixed_seats=fixed_seats)
    hands, problems = read(log_lines(written, "holdem.nolimit.3p"))
    assert problems == []
    assert_same(hands, written)


def test_a_single_hand_without_a_score_is_seated_as_the_button_moves() -> None:
    written = random_hands("nolimit3", 1, first_hand=4)
    assert_same(read(log_lines(written, "holdem.nolimit.3p", score=False))[0], written)


@pytest.mark.parametrize(
    ("names", "fixed_seats"),
    [
        # With equal names the hands do not show that the button stays.
        (("x", "x", "x"), False),
        (("x", "y", "x"), True),
        (("y", "x", "x"), True),
    ],
)
def test_players_with_one_name_are_distinguished_by_hand_number(names: tuple[str, ...], fixed_seats: bool) -> None:
    written = random_hands("limit3", 9, names=names, fixed_seats=fixed_seats, first_hand=1)
    hands, problems = read(log_lines(written, "holdem.limit.3p"))
    assert problems == []
    assert_same(hands, written)


def test_a_damaged_name_in_the_first_hand_is_outvoted() -> None:
    written = random_hands("kuhn", 8)
    lines = log_lines(written, "kuhn.limit.2p")
    lines[4] = lines[4].replace("Ann", "Anm")
    hands, problems = read(lines)
    column = lines[4].rindex(":") + 2
    assert problems == [
        f"<lines>, line 5, byte {column}: the players are Anm and Bob, those of the match Ann and Bob (skipped)"
    ]
    assert_same(hands, written[1:])


# ---- several matches in one log


def test_every_header_begins_a_match() -> None:
    first, second = random_hands("kuhn", 5), random_hands("leduc", 5, names=("Eve", "Fay"), first_hand=3)
    lines = log_lines(first, "kuhn.limit.2p") + log_lines(second, "leduc.limit.2p")
    hands, problems = read(lines)
    assert problems == []
    assert_same(hands, first + second)


def test_a_log_that_was_appended_to_after_a_stop() -> None:
    written = random_hands("kuhn", 20)
    first = log_lines(written[:7], "kuhn.limit.2p", score=False)
    second = [*log_lines(written[7:], "kuhn.limit.2p", score=False), format_score_line(totals_of(written), NAMES[:2])]
    hands, problems = read(first + second)
    assert problems == []
    assert_same(hands, written)


def test_a_log_to_which_the_same_match_was_appended_from_the_start() -> None:
    written = random_hands("kuhn", 20)
    hands, problems = read(log_lines(written[:7], "kuhn.limit.2p", score=False) + log_lines(written, "kuhn.limit.2p"))
    assert problems == []
    assert_same(hands, written[:7] + written)


# ---- missing hands, and the score


def read_damaged(change: Callable[[list[str]], None], hands: int = 12) -> tuple[list[HandRecord], list[str]]:
    """Read a log of Kuhn poker after a change."""
    lines = log_lines(random_hands("kuhn", hands), "kuhn.limit.2p")
    change(lines)
    return read(lines)


def test_missing_hands_are_noticed() -> None:
    hands, problems = read_damaged(lambda lines: lines.__delitem__(slice(7, 9)))
    assert len(hands) == 10
    assert problems == ["<lines>, line 8: hands 3 to 4 are missing before this one (read all the same)"]


def test_a_hand_that_comes_again_is_noticed() -> None:
    hands, problems = read_damaged(lambda lines: lines.insert(8, lines[5]))
    assert len(hands) == 13
    assert problems == [
        "<lines>, line 9: hand 1 comes after hand 3 (read all the same)",
        "<lines>, line 10: hands 2 to 3 are missing before this one (read all the same)",
    ]


def test_a_damaged_line_does_not_make_its_hand_missing_too() -> None:
    hands, problems = read_damaged(lambda lines: lines.__setitem__(8, "STATE:" + "x" * 40 + "\n"))
    assert len(hands) == 11
    assert problems == ["<lines>, line 9, byte 47: the line ends after 2 of its 6 fields (skipped)"]


def test_a_score_that_is_not_the_sum_is_noticed() -> None:
    def change(lines: list[str]) -> None:
        lines[-1] = "SCORE:77|-77:Ann|Bob\n"

    shown = "|".join(f"{total:g}" for total in totals_of(random_hands("kuhn", 12)))
    assert read_damaged(change)[1] == [
        f"<lines>, line 17: the score is not the sum of the hands, {shown}: hands are missing, or some were added "
        "(read all the same)"
    ]


def test_a_score_that_seats_the_players_otherwise_is_noticed() -> None:
    def change(lines: list[str]) -> None:
        lines[-1] = "SCORE:0|0:Bob|Ann\n"

    assert read_damaged(change)[1] == [
        "<lines>, line 17: the score names Bob and Ann, by the hands it is Ann and Bob (read all the same)"
    ]


@pytest.mark.parametrize("score", ["SCORE:1:Ann|Bob", "SCORE:a|b:Ann|Bob", "SCORE:", "SCORE:1|2|3:a|b|c", "SCORE:1|-1"])
def test_a_score_that_cannot_be_read(score: str) -> None:
    assert read_damaged(lambda lines: lines.__setitem__(-1, score + "\n"))[1] == [
        "<lines>, line 17: the score cannot be read (skipped)"
    ]


# ---- strict reading


def test_strict_reading_stops_at_the_first_problem() -> None:
    lines = log_lines(random_hands("kuhn", 12), "kuhn.limit.2p")
    lines[9] = lines[9].replace("STATE:5", "STATE:x")
    problems: list[LogProblem] = []
    hands = read_log(lines, strict=True, on_problem=problems.append)
    assert [next(hands).hand_number for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(DamagedLogError) as caught:
        next(hands)
    assert str(caught.value) == "<lines>, line 10, byte 7: 'x' is not a hand number"
    assert [caught.value.log_problem] == problems
    assert (caught.value.path, caught.value.problem) == ("<lines>", "'x' is not a hand number")


def test_strict_reading_accepts_a_truncated_last_line(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    written = random_hands("kuhn", 12)
    path.write_bytes("".join(log_lines(written, "kuhn.limit.2p", score=False)).encode()[:-10])
    problems: list[LogProblem] = []
    assert_same(list(read_log(path, strict=True, on_problem=problems.append)), written[:-1])
    assert [problem.kind for problem in problems] == [ProblemKind.HALF_WRITTEN]


# ---- the game of a log


def test_the_game_may_be_given() -> None:
    written = random_hands("kuhn", 5)
    assert_same(read(log_lines(written, "nobody knows this.game"), KUHN)[0], written)
    assert_same(read(log_lines(written)[4:], KUHN)[0], [_renamed(hand) for hand in written])


def _renamed(hand: HandRecord) -> HandRecord:
    """Change the name of a hand's match, so that no shipped game is named."""
    return HandRecord(
        hand.game, "", hand.hand_number, hand.names_by_seat, hand.seats, hand.deal, hand.betting, hand.values
    )


# ---- files that are no logs


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 40,
        b"c 0 1795227485.694648 1795227485.694758\n" * 100,
        b"\n" * 50 + b"[1]\nvariant = 'NT'\n",
        b"SCORE" + b"x" * 100_000 + b"\n",
    ],
)
def test_other_files_are_no_logs(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(content)
    with pytest.raises(LogError, match="not an ACPC log: "):
        list(read_log(path))


def test_empty_log_is_a_match_without_hands(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"")
    problems: list[LogProblem] = []
    assert list(read_log(path, strict=True, on_problem=problems.append)) == []
    assert [str(problem) for problem in problems] == [
        f"{path}, line 1: the file is empty (left out, as is normal when a match was stopped while writing)"
    ]


def test_endless_line_is_skipped_in_pieces(tmp_path: Path) -> None:
    written = random_hands("kuhn", 8)
    lines = log_lines(written, "kuhn.limit.2p")
    lines.insert(8, "STATE:" + "x" * 100_000 + "\n")
    path = tmp_path / "x.log"
    path.write_text("".join(lines))
    problems: list[LogProblem] = []
    assert_same(list(read_log(path, on_problem=problems.append)), written)
    assert [str(problem) for problem in problems] == [
        f"{path}, line 9, byte 1: the line has more than 16384 characters (skipped)"
    ]


# ---- damaged logs


def numbers(hands: list[HandRecord]) -> list[int]:
    return [hand.hand_number for hand in hands]


def test_a_log_cut_off_anywhere(tmp_path: Path) -> None:
    """After a kill, whole lines count and the last one is reported as truncated; no other problem."""
    path = tmp_path / "x.log"
    text = "".join(log_lines(random_hands("leduc", 9), "leduc.limit.2p")).encode()
    for size in range(0, len(text) + 1, 3):
        path.write_bytes(text[:size])
        problems: list[LogProblem] = []
        hands = list(read_log(path, strict=True, on_problem=problems.append))
        whole = text[:size].count(b"\n")
        ends_at_line_end = size == 0 or text[size - 1 : size] == b"\n"
        # A line that lacks only its line end is a whole hand.
        is_known = not ends_at_line_end and text[size : size + 1] == b"\n" and whole > 4
        lines = whole + is_known
        assert numbers(hands) == list(range(max(0, min(lines - 4, 9))))
        if size and (ends_at_line_end or is_known):
            assert problems == []
        else:
            assert [(problem.kind, problem.line_number) for problem in problems] == [
                (ProblemKind.HALF_WRITTEN, whole + 1)
            ]


def test_any_byte_changed_is_never_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    written = random_hands("leduc", 6)
    text = "".join(log_lines(written, "leduc.limit.2p")).encode()
    lines = {format_state_line(record) for record in written}
    for at, changed in list(enumerate(each_byte_changed(text, b"\n\r -:|")))[::3]:
        path.write_bytes(changed)
        problems: list[LogProblem] = []
        try:
            hands = list(read_log(path, on_problem=problems.append))
        except LogError:
            assert text.index(b"\n") >= at, "only the header makes a log unreadable"
            continue
        for problem in problems:
            assert 1 <= problem.line_number <= changed.count(b"\n") + 1
            assert problem.column is None or 1 <= problem.column <= 200
        # A changed digit can turn the line into another hand; all other lines are unchanged.
        assert sum(format_state_line(hand) not in lines for hand in hands) <= 2
        assert len(hands) >= 4


@given(st.lists(st.sampled_from(["STATE:", ":", "|", "/", "c", "f", "r", "0", "As", "Ks", "1", "-", "\0", "é", "\n"])))
def test_anything_that_looks_a_little_like_a_hand(parts: list[str]) -> None:
    line = "STATE:" + "".join(parts)
    lines = [*log_lines(random_hands("kuhn", 4), "kuhn.limit.2p", score=False), *line.splitlines(keepends=True)]
    hands, problems = read(lines)
    assert numbers(hands[:4]) == [0, 1, 2, 3]
    assert len(hands) + len(problems) >= 4
