"""``arena play``: output, files, exit codes and refusals."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from engine.kernels import disk
from protocol import find_game, format_game_definition
from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ARENA, CONNECT, CONTROL_CODES, PATIENCE_S, program_env, write_program
from tests.programs import start

unix_only = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")


# ---- matches that end well


def test_result_has_a_sentence_and_a_table(arena_here: Arena, tmp_path: Path) -> None:
    completed = arena_here(
        "play", "kuhn", "calling", "Bob=raising", "-n", "100", "--seed", "1", "--in-process", "--out", "run"
    )
    assert completed.code == 0
    assert completed.err == ""
    title, sentence, facts, _, _, head, _, *rows = completed.out.splitlines()
    assert title == "kuhn: calling - Bob"
    assert "100 deals of kuhn in 2 seatings each" in sentence
    assert re.fullmatch(r"seed 1, speed [\d,]+ hands/s, files run", facts)
    assert re.split(r"\s{2,}", head.strip()) == [
        *("player", "mbb/g ± 95 %", "SE", "chips", "hands", "faults", "median", "99 %")
    ]
    assert [row.split()[0] for row in rows] == ["calling", "Bob"]
    assert (tmp_path / "run" / "match.a.log").is_file()


def test_quiet_match_is_one_line(arena_here: Arena) -> None:
    completed = arena_here("play", "kuhn", "calling", "calling", "-n", "10", "--seed", "1", "--in-process", "--quiet")
    assert completed.code == 0
    assert completed.err == ""
    (line,) = completed.out.splitlines()
    assert "calling#2" in line
    assert line.endswith(".")


def test_level_result_has_no_minus(arena_here: Arena) -> None:
    # After these hands both players are level, and rounding makes one mean slightly negative.
    level = ("play", "nolimit", "calling", "calling", "-n", "20", "--no-duplicate", "--seed", "1097356067")
    rows = [
        line.split() for line in arena_here(*level, "--in-process").out.splitlines() if line.startswith("  calling")
    ]
    assert [row[1] for row in rows] == ["+0.0", "+0.0"]


def test_json_is_the_only_output(arena_here: Arena, tmp_path: Path) -> None:
    completed = arena_here(
        "play", "kuhn", "calling", "raising", "-n", "10", "--seed", "7", "--in-process", "--json", "--out", "x/y"
    )
    assert completed.code == 0
    assert completed.err == ""
    result = json.loads(completed.out)
    assert result["schema_version"] == 4
    assert (result["outcome"], result["hands_played"], result["seed"]) == ("finished", 20, 7)
    assert [player["name"] for player in result["players"]] == ["calling", "raising"]
    assert json.loads((tmp_path / "x" / "y" / "result.json").read_text()) == result


def test_own_bot_plays_the_same_over_tcp_and_in_process(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "luck.py").write_text("LUCK = 'random'\n")
    (tmp_path / "mine.py").write_text(
        "from bots.baseline import RandomBot\nfrom luck import LUCK\n\n\nclass Mine(RandomBot):\n    pass\n"
    )
    words = ("play", "kuhn", "mine.py:Mine?fold=0.3", "calling", "-n", "10", "--seed", "3", "--json")
    results = []
    for more in ((), ("--in-process",)):
        completed = arena_here(*words, *more)
        assert (completed.code, completed.err) == (0, "")
        players = json.loads(completed.out)["players"]
        results.append([(player["name"], player["chips"]) for player in players])
    assert results[0] == results[1]
    assert results[0][0][0] == "Mine_fold_0.3"


def test_own_bot_is_named_after_its_class(arena_here: Arena, tmp_path: Path) -> None:
    code = "from bots.baseline import CallingBot\nclass Mine(CallingBot):\n    def __init__(self, book='x'): pass\n"
    (tmp_path / "mine.py").write_text(code)
    completed = arena_here(
        "play", "kuhn", "mine.py:Mine?book=a/b.txt", "raising", "-n", "9", "--in-process", "--out", "run"
    )
    assert "\nMine is mine.py:Mine?book=a/b.txt\n" in completed.out
    assert completed.out.count("b.txt") == 1
    players = json.loads((tmp_path / "run" / "result.json").read_text("utf-8"))["players"]
    assert [player["player"] for player in players] == ["mine.py:Mine?book=a/b.txt", "raising"]


@pytest.mark.parametrize(
    ("bot", "problem"),
    [
        ("mine.py:Whale", "mine.py has no class 'Whale'; its classes: Mine"),
        ("no.py:Mine", "there is no file no.py"),
        ("nothing:Mine", "there is no module 'nothing'"),
        ("open.py:Mine", "open.py cannot be imported: SyntaxError: '(' was never closed (open.py, line 1)"),
    ],
)
def test_own_bot_that_cannot_be_created_leaves_no_run(
    arena_here: Arena, tmp_path: Path, bot: str, problem: str
) -> None:
    (tmp_path / "mine.py").write_text("class Mine:\n    pass\n")
    (tmp_path / "open.py").write_text("class Mine(\n")
    for words in (["play", "limit"], ["play"], ["tournament", "kuhn", "calling"]):
        completed = arena_here(*words, bot, "random")
        assert completed.code == 2
        assert completed.sentence.startswith(f"{bot!r}: {problem}")
        assert not (tmp_path / "runs").exists()


def test_class_that_is_no_bot_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Mine:\n    pass\n")
    completed = arena_here("play", "kuhn", "mine.py:Mine", "calling", "-n", "5", "--in-process")
    assert completed.code == 2
    assert "Mine in mine.py is not a bot: derive it from bots.Bot" in completed.sentence


def test_default_game_is_limit_holdem(arena_here: Arena) -> None:
    result = json.loads(arena_here("play", "calling", "random", "-n", "10", "--in-process", "--json").out)
    assert result["game"] == "holdem.limit.2p.reverse_blinds"


def test_every_run_has_its_own_folder(arena_here: Arena, tmp_path: Path) -> None:
    for _ in range(2):
        assert arena_here("play", "kuhn", "calling", "calling", "-n", "2", "-q", "--in-process").code == 0
    folders = list((tmp_path / "runs").iterdir())
    assert len(folders) == 2
    assert all("calling" in folder.name for folder in folders)


def test_faults_are_listed_with_the_first_one_quoted(arena_here: Arena, tmp_path: Path) -> None:
    code = CONNECT + "hello()\nfor line in f:\n    f.write(b'wh\\x1bat?\\r\\n')\n    call(line)\n"
    bad = write_program(tmp_path, "bad.py", code)
    completed = arena_here("play", "kuhn", f"Bad={bad}", "calling", "-n", "3", "--seed", "1")
    assert completed.code == 0
    assert re.search(
        r"\n  Bad  \d+ malformed reply, .*  malformed reply in hand 0: 'wh\\x1bat\?', ignored  ", completed.out
    )


def test_win_rates_without_luck_do_not_depend_on_compiled_kernels(arena_here: Arena, tmp_path: Path) -> None:
    words = ("play", "limit", "calling", "random", "--seed", "1", "--in-process", "--json")
    rates = []
    for folder in (tmp_path / "none", disk.root_folder()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(disk.FOLDER_VARIABLE, str(folder))
            rates.append(json.loads(arena_here(*words, "-n", "80").out)["players"][0]["won"]["corrected"]["mean"])
    assert rates[0] is not None
    assert rates[0] == rates[1]
    few = json.loads(arena_here(*words, "-n", "79").out)
    assert few["players"][0]["won"]["corrected"] is None


# ---- what cannot be played


def test_wrong_value_of_a_configuration_names_its_file(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text('game = "kuhn"\nbots = ["callng", "random"]\n')
    completed = arena_here("play", "--config", "my.toml")
    assert (completed.code, completed.sentence) == (2, "my.toml: there is no bot 'callng'; did you mean 'calling'?")
    completed = arena_here("play", "kuhn", "callng", "random", "--config", "my.toml")
    assert (completed.code, completed.sentence) == (2, "there is no bot 'callng'; did you mean 'calling'?")
    (tmp_path / "my.toml").write_text('game = "kun"\n')
    completed = arena_here("play", "--config", "my.toml")
    assert (completed.code, completed.sentence[:35]) == (2, "my.toml: games: kun: no such game o")
    (tmp_path / "my.toml").write_text('game = "kuhn"\nbots = ["calling"]\n')
    completed = arena_here("play", "--config", "my.toml")
    assert (completed.code, completed.sentence) == (2, "my.toml: bots: kuhn needs 2 players, 1 given: calling")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody",), ["'nobody' is neither a built-in bot"]),
        (("kuhn", "calling"), ["kuhn needs 2 players, 1 given: calling"]),
        (
            ("kuhn", "python", "bot.py", "calling"),
            ['kuhn needs 2 players, 3 given: python, bot.py, calling; quote a command with blanks: "python bot.py"'],
        ),
        (
            ("kuhn", "calling", "New=python3.12", "bot.py"),
            ['; quote a command with blanks: "New=python3.12 bot.py"'],
        ),
        (("kuhn", "calling", "calling", "random"), ['; quote a command with blanks, such as "python my_bot.py"']),
        (("kuhn", "random?fold=much", "calling"), ["fold must be a number, not 'much'"]),
        (("kuhn", "calling", "calling", "--out", "full"), ["full is not empty", "--out"]),
        (("kuhn", "calling", "calling", "--out", "file"), ["cannot make the folder file: File exists"]),
        (("kuhn", "calling", "./not-executable"), ["chmod +x ./not-executable"]),
        (
            ("bot.py", "calling"),
            ["write 'python bot.py', or bot.py:CLASS", "begins with GAMEDEF"],
        ),
        (("kuhn", "tcp --x", "calling"), ["'tcp' takes no options"]),
        (("kuhn", "--permutations", "--no-duplicate"), ["--permutations plays every order"]),
    ],
)
def test_refusal_is_one_sentence(
    arena_here: Arena, tmp_path: Path, arguments: tuple[str, ...], words: list[str]
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").write_text("data")
    (tmp_path / "file").write_text("")
    (tmp_path / "not-executable").write_text("#!/bin/sh\n")
    (tmp_path / "bot.py").write_text("#!/usr/bin/python3\nimport x\n")
    completed = arena_here("play", *arguments, "-n", "2")
    assert completed.code == 2
    for word in words:
        assert word in completed.sentence
    assert (tmp_path / "full" / "precious").read_text() == "data"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("limt", "calling", "calling"), "there is no game 'limt'; did you mean 'limit'?"),
        (("no.game",), "cannot read the game definition: No such file or directory"),
        (("bad.game",), "invalid number of rounds: 0"),
    ],
)
def test_unreadable_game_file_is_refused(
    arena_here: Arena, tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    (tmp_path / "bad.game").write_bytes(b"GAMEDEF\nlimit\n\xff\xfe\n")
    completed = arena_here("play", *arguments)
    assert (completed.code, completed.out) == (2, "")
    assert word in completed.err
    assert "Traceback" not in completed.err


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("doctor python bot.py", "unexpected argument 'bot.py'; quote a command with blanks: \"python bot.py\""),
        ("bench bot node bot.js", "unexpected argument 'bot.js'; quote a command with blanks: \"node bot.js\""),
        ("deal kuhn tcp python bot.py", 'quote a command with blanks: "python bot.py"'),
        ("runs one two", "unexpected argument 'two'; see 'arena runs -h'"),
    ],
)
def test_unquoted_command_with_blanks_is_refused(arena_here: Arena, command: str, sentence: str) -> None:
    completed = arena_here(*command.split())
    assert (completed.code, completed.out) == (2, "")
    assert sentence in completed.sentence


@pytest.mark.parametrize(
    "command",
    [
        "play my.game random calling",
        "deal my.game",
        "doctor random -g my.game",
        "solve game my.game",
        "exploit exact my.game random",
        "train cfr out --game my.game",
        "bench dealer --game my.game",
    ],
)
def test_game_file_with_unknown_settings_is_refused(arena_here: Arena, tmp_path: Path, command: str) -> None:
    _, kuhn = find_game("kuhn")
    (tmp_path / "my.game").write_text(format_game_definition(kuhn).replace("limit\n", "limit\nante = 10\n"), "ascii")
    completed = arena_here(*command.split())
    assert (completed.code, completed.out) == (2, "")
    assert "my.game: line 3: 'ante = 10' is not played. Correct the file" in completed.err
    assert os.listdir(tmp_path) == ["my.game"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--deals", "4294967296"),
        ("--t-response", "0"),
        ("--t-per-hand", "inf"),
        ("--host", ""),
        ("--stop", "better:-5000,-4999"),
        ("--export", ","),
    ],
)
def test_wrong_option_is_named(arena_here: Arena, tmp_path: Path, option: str, value: str) -> None:
    completed = arena_here("play", "kuhn", option, value)
    assert (completed.code, completed.out) == (2, "")
    assert option in completed.err
    assert "Traceback" not in completed.err
    assert not (tmp_path / "runs").exists()


# ---- matches that end early


def test_crash_is_shown_with_exit_code_and_last_lines(arena_here: Arena, tmp_path: Path) -> None:
    code = (
        CONNECT + "hello()\nfor line in f:\n    if b':3:' in line: raise RuntimeError('out of luck')\n    call(line)\n"
    )
    bot = write_program(tmp_path, "bob.py", code)
    completed = arena_here("play", "kuhn", "calling", f"Bob={bot}", "-n", "10", "--no-duplicate", "--out", "x")
    assert completed.code == 1
    assert "after 3 hands of kuhn" in completed.out
    assert "It ended early: Bob closed the connection in hand 3." in completed.out
    assert "Its process ended with exit code 1. The last it wrote:\n" in completed.out
    assert "    RuntimeError: out of luck\n" in completed.out
    assert "1 crash" in completed.out
    assert "\nResume with:\n    arena resume x\n" in completed.out
    assert json.loads((tmp_path / "x" / "result.json").read_text())["outcome"] == "failed"


def test_bot_that_exits_at_once_ends_the_match(arena_here: Arena, tmp_path: Path) -> None:
    bot = write_program(tmp_path, "bob.py", r"print('\x1b[31mred\x1b[2J \x07'); raise SystemExit(9)")
    completed = arena_here("play", "kuhn", f"Bob={bot}", "calling", "-n", "10")
    assert completed.code == 1
    assert "No hand was finished: Bob ended before it connected. Its process ended with exit code 9." in completed.out
    assert "red" in completed.out
    # The match of the other seating may have begun, and Bob has crashed there too.
    assert "crash, the match ended" in completed.out
    assert not CONTROL_CODES.search(completed.out.encode())
    silent = write_program(tmp_path, "bob.py", "")
    completed = arena_here("play", "kuhn", f"Bob={silent}", "calling", "--json", "--workers", "1")
    result = json.loads(completed.out)
    assert (completed.code, result["outcome"], result["hands_played"]) == (1, "failed", 0)
    assert (result["players"][0]["exit_code"], result["players"][0]["faults"]) == (0, {"disconnect": 1})


@pytest.mark.slow  # an interpreter starts
def test_result_fits_an_ascii_stream(arena: Arena) -> None:
    completed = arena("play", "kuhn", "calling", "raising", "-n", "5", "--in-process", PYTHONIOENCODING="ascii")
    assert (completed.code, completed.err) == (0, "")


@unix_only
def test_interrupted_match_shows_its_result(tmp_path: Path) -> None:
    endless = ["play", "kuhn", "calling", "raising", "-n", "4000000000", "--no-duplicate", "--out", "x"]
    process = start([*ARENA, *endless], cwd=tmp_path, env=program_env())
    try:
        log = tmp_path / "x" / "match.log"
        until = time.monotonic() + PATIENCE_S
        while not log.exists() or log.read_bytes().count(b"STATE:") < 150:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in out + err
    assert b"It ended early: it was interrupted." in out
    assert b"Resume with:\n    arena resume x\n" in out
    assert b"hands of kuhn" in out
    result = json.loads((tmp_path / "x" / "result.json").read_text())
    assert result["outcome"] == "interrupted"
    assert result["hands_played"] == log.read_bytes().count(b"STATE:")


@unix_only
def test_script_without_an_interpreter_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "bot.sh").write_text("exit\n")
    (tmp_path / "bot.sh").chmod(0o755)
    assert (
        "its first line has to name its interpreter, such as #!"
        in arena_here("play", "kuhn", "./bot.sh", "calling").err
    )
