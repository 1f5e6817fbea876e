"""Headers of logs, and the game each one names."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import DealKey
from logs import format_header
from logs.acpc_log.header import LogHeader, find_log_game, parse_header
from logs.errors import LogError
from protocol import find_game, format_game_definition

KEY = DealKey(bytes(32))
KUHN, LEDUC = find_game("kuhn")[1], find_game("leduc")[1]


def test_a_header_reads_back() -> None:
    text = format_header("match", "limit.game", 1000, 42, t_response_ms=1, t_hand_ms=2, t_per_hand_ms=3)
    assert [parse_header(line) for line in text.splitlines()] == [
        LogHeader("match", "limit.game", 1000, 42), None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("# name/game/hands/seed m /a b/c d.game 10 7\r\n", LogHeader("m", "/a b/c d.game", 10, 7)),
        ("# name/game/hands/seed m g 10 4294967295", LogHeader("m", "g", 10, 4294967295)),
        (f"# name/game/hands/seed m g 10 {KEY}", LogHeader("m", "g", 10, str(KEY))),
        (f"# name/game/hands/seed m g 10 {str(KEY)[:-1]}", None),
        ("# name/game/hands/seed m  10 7", LogHeader("m", "", 10, 7)),
        ("# name/game/hands/seed m g ten 7", None),
        ("# name/game/hands/seed m g 10 99999999999999999999", None),
        ("", None),
    ],
)
def test_headers_are_parsed_and_other_lines_are_none(line: str, header: LogHeader | None) -> None:
    assert parse_header(line) == header


@pytest.mark.parametrize(
    "name",
    ["leduc.limit.2p", "leduc.limit.2p.game", "/home/me/leduc.limit.2p.game", "C:\\games\\leduc.limit.2p.game"],
)
def test_a_shipped_game_is_known_by_the_name_of_its_file(name: str) -> None:
    assert find_log_game(LogHeader("m", name, 1, 1), None) == LEDUC
    assert find_log_game(LogHeader("m", name, 1, 1), "/nowhere/x.log") == LEDUC


@pytest.mark.parametrize("name", ["leduc", "leduc.limit", "", "limit.game", "mine.game", "/"])
def test_other_names_are_no_shipped_games(name: str) -> None:
    with pytest.raises(LogError, match="does not come with the arena, and there is no definition of it in the folder"):
        find_log_game(LogHeader("m", name, 1, 1), None)


@pytest.mark.parametrize("beside", ["x.game", "mine.game", "m.game"])
@pytest.mark.parametrize("name", ["mine.game", "mine", "/far/away/mine.game", "leduc.limit.2p"])
def test_a_definition_beside_the_log_is_its_own(tmp_path: Path, beside: str, name: str) -> None:
    if beside == "mine.game" and "mine" not in name:
        beside = "leduc.limit.2p.game"
    (tmp_path / beside).write_text(format_game_definition(KUHN))
    (tmp_path / "other.game").write_text("nothing")
    assert find_log_game(LogHeader("m", name, 1, 1), str(tmp_path / "x.log")) == KUHN


def test_a_log_without_a_header_may_have_its_definition_beside_it(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="with the game"):
        find_log_game(None, str(tmp_path / "x.log"))
    (tmp_path / "x.game").write_text(format_game_definition(KUHN))
    assert find_log_game(None, str(tmp_path / "x.log")) == KUHN


def test_unplayable_definition_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.game").write_text("numPlayers = 77\n")
    with pytest.raises(LogError, match=r"x\.log: its game cannot be read: .*x\.game: invalid number of rounds: 0"):
        find_log_game(LogHeader("m", "leduc.limit.2p", 1, 1), str(tmp_path / "x.log"))


def test_a_game_may_be_given_only_where_the_log_does_not_say_it() -> None:
    header = LogHeader("m", "leduc.limit.2p", 1, 1)
    assert find_log_game(header, None, LEDUC) == LEDUC
    with pytest.raises(LogError, match="<lines>: the header of the log names another game than the one given"):
        find_log_game(header, None, KUHN)
    assert find_log_game(LogHeader("m", "mine", 1, 1), None, KUHN) == KUHN
    assert find_log_game(None, None, KUHN) == KUHN


@pytest.mark.parametrize("name", ["../x", "a\0b"])
def test_a_match_name_does_not_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "x.game").write_text(format_game_definition(KUHN))
    (tmp_path / "sub").mkdir()
    path = str(tmp_path / "sub" / "y.log")
    assert find_log_game(LogHeader(name, "leduc.limit.2p", 1, 1), path) == LEDUC
