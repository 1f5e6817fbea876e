"""Names and output of bots that are not UTF-8: U+FFFD replaces them in all output."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from logs.tracker import HandCounts, statistics_of
from tests.dealer.cli.conftest import Arena
from tests.logs.hands import random_hands

LOG = (
    b"# name/game/hands/seed m holdem.nolimit.2p.reverse_blinds.game 1 0\n"
    b"STATE:0:r300c/r900f:AhKd|2c7d/Ts8c6h:300|-300:J\xf6rg|Bob\n"
)
BOT = r"""
import socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.sendall(b"VERSION:2.0.0\r\n")
for line in connection.makefile("rb"):
    if line.strip() and not line.startswith((b"#", b";")):
        connection.sendall(b"# caf\xe9\r\n" + line.strip() + b":\xe9\r\n" + line.strip() + b":c\r\n")
"""
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _texts(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes().decode("utf-8")


def test_name_of_a_log_is_replaced_in_json(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "m.log").write_bytes(LOG)
    for command in ("stats m.log", "hands m.log --hand 0", "hands m.log --player Bob"):
        result = arena_here(*command.split(), "--json")
        assert "J\ufffdrg" in json.dumps(json.loads(result.out), ensure_ascii=False)
        assert not _HALF.search(result.out)


def test_name_of_a_log_is_replaced_on_a_stream(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "m.log").write_bytes(LOG)
    for words in (("stats", "m.log"), ("stats", "m.log", "--csv"), ("leaks", "m.log")):
        result = arena(*words)
        assert "J\ufffdrg" in result.out + result.err


def test_name_of_a_log_is_replaced_in_files(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "m.log").write_bytes(LOG)
    assert arena_here("report", "m.log", "--out", "out/page.html").code == 0
    assert arena_here("export", "m.log", "--format", "pokerstars,phh,ohh", "--out", "out").code == 0
    texts = list(_texts(tmp_path / "out"))
    assert len(texts) > 3
    assert not any(map(_HALF.search, texts))


def test_comments_of_a_bot_are_replaced_in_files_of_its_run(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    play = ("play", "limit", f"Bot={sys.executable} bot.py", "calling", "-n", "3", "--seed", "1", "--json")
    result = arena_here(*play, "--out", "run")
    hand = arena_here("hands", "run", "--hand", "1", "--json")
    report = arena_here("report", "run", "--out", "run/page.html")
    assert (result.code, hand.code, report.code) == (0, 0, 0)
    comments = [json.loads(line)["text"] for line in (tmp_path / "run" / "match.a.comments").read_text().splitlines()]
    assert set(comments) == {"# caf\ufffd"}
    assert "# caf\\ufffd" in hand.out
    for text in (result.out, hand.out, *_texts(tmp_path / "run")):
        assert not _HALF.search(text)


def test_name_of_a_folder_is_replaced_in_a_result(arena_here: Arena, tmp_path: Path) -> None:
    folder = tmp_path / "r\udcf6n"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has no such names")
    result = arena_here("play", "kuhn", "calling", "random", "-n", "3", "--in-process", "--json", "--out", str(folder))
    assert result.code == 0
    for text in (
        result.out,
        (folder / "result.json").read_text("utf-8"),
        arena_here("show", str(folder), "--json").out,
    ):
        assert json.loads(text)["folder"].endswith("r\ufffdn")


def test_setting_that_is_not_utf_8_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    result = arena_here("play", "kuhn", "Bot=./b\udcf6t", "calling", "--out", "run")
    assert (result.code, result.sentence) == (
        2,
        "'Bot=./b\ufffdt' is not UTF-8 text, as the files of a run are: rename it",
    )
    assert not (tmp_path / "run").exists()


def test_name_of_a_bot_is_replaced_by_the_doctor(arena_here: Arena, tmp_path: Path) -> None:
    result = arena_here("doctor", "./b\udcf6t", "--json", "-g", "kuhn")
    assert "b\ufffdt" in result.out + result.err
    assert not _HALF.search(result.out + result.err)


def test_name_is_replaced_in_the_json_of_a_model() -> None:
    records = random_hands("limit", 3, names=("J\udcf6rg", "Bob"))
    text = statistics_of(HandCounts().add_all(records)).model_dump_json()
    assert {bot["name"] for bot in json.loads(text)["bots"]} == {"J\ufffdrg", "Bob"}
