"""Parsing of players as users write them: bots, commands, files and names."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from bots.sdk.registry import builtin_names
from dealer.errors import ConfigError, PlayerError
from dealer.run.plan import settle
from dealer.run.run_settings import validated
from dealer.table.players import Player, PlayerKind, parse_player, unique_names
from tests.outside import SHELL

unix_only = pytest.mark.skipif(os.name == "nt", reason="file modes of Unix")


def _refusal(text: str) -> str:
    with pytest.raises(PlayerError) as raised:
        parse_player(text)
    sentence = str(raised.value)
    assert "\n" not in sentence
    return sentence


def test_built_in_bots_are_players() -> None:
    for name in builtin_names():
        answer_s = 127.0 if name == "llm" else None
        player = Player(name, name, PlayerKind.PYTHON, answer_s=answer_s, learns=name == "learner")
        assert parse_player(name) == player


def test_built_in_bot_is_named_after_its_options() -> None:
    player = parse_player("random?fold=0.1,call=0.5,raise=0.4")
    assert player.kind is PlayerKind.PYTHON
    assert player.text == "random?fold=0.1,call=0.5,raise=0.4"
    assert player.name == "random_fold_0.1_call_0.5_raise_0.4"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("learner?learn=true,memory=mine.memory", "learner_learn_true"),
        ("evolved?chromosome=", "evolved"),
        ("shark.py:Shark?depth=2,book=books/deep.txt", "Shark_depth_2"),
        ("Mine=evolved?chromosome=", "Mine"),
    ],
)
def test_files_are_not_in_the_name(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "shark.py").write_text("class Shark: pass\n")
    player = parse_player(text, str(tmp_path))
    assert (player.name, player.text) == (name, text.removeprefix("Mine="))


@pytest.mark.parametrize("text", ["tcp", "Tcp"])
def test_tcp_is_a_player_without_a_program(text: str) -> None:
    assert parse_player(text) == Player("tcp", "tcp", PlayerKind.TCP)


def test_command_is_named_after_its_script() -> None:
    command = f"{sys.executable} bot.py --fast 'two words'"
    player = parse_player(command)
    assert player.kind is PlayerKind.COMMAND
    assert player.text == command
    assert player.name == "bot"
    assert player.command == (sys.executable, "bot.py", "--fast", "two words")


PYTHON = os.path.basename(sys.executable)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("x.py", "x"),
        ("-u -W ignore deep/x.y.py --fast a.txt", "x.y"),
        ("-m package.bot", "package.bot"),
        ("-c pass", PYTHON),
        ("", PYTHON),
        ("plain", PYTHON),
    ],
)
def test_name_of_a_script_does_not_depend_on_its_start(words: str, name: str) -> None:
    assert parse_player(f"{sys.executable} {words}").name == name


@unix_only
@pytest.mark.parametrize("start", ["nice -n 5", "env A=1", "timeout 10 nice"])
def test_wrappers_are_ignored_in_names(start: str, tmp_path: Path) -> None:
    assert parse_player(f"{start} {sys.executable} x.py").name == "x"
    (tmp_path / "bot.sh").touch()
    assert parse_player(f"{start} ./bot.sh", str(tmp_path)).name == "bot.sh"
    assert parse_player(f"{start} {SHELL} ./bot.sh", str(tmp_path)).name == "bot"


def test_long_derived_name_is_cut() -> None:
    spec = "random?fold=0." + "1" * 100
    assert len(parse_player(spec).name) == 64


@pytest.mark.parametrize("name", ["..", "-._", "x" * 65])
def test_unusable_names_are_refused(name: str) -> None:
    sentence = _refusal(f"{name}=calling")
    assert "cannot be a name: a name has at most 64 of the letters A-Z and a-z, digits, '_', '-' and '.'" in sentence
    assert len(sentence) < 250


@pytest.mark.parametrize("text", ["Äpfel=calling", "a|b=calling", "Bob#2=calling", "=calling"])
def test_invalid_characters_of_a_name_are_refused(text: str) -> None:
    assert _refusal(text).startswith(
        f"{text.partition('=')[0]!r} cannot be a name: a name has at most 64 of the letters"
    )


@pytest.mark.parametrize(
    ("text", "name", "kind", "rest"),
    [
        ("Ann=calling", "Ann", PlayerKind.PYTHON, "calling"),
        ("Ann=random?fold=0.5", "Ann", PlayerKind.PYTHON, "random?fold=0.5"),
        ("a-b_c.1=tcp", "a-b_c.1", PlayerKind.TCP, "tcp"),
        (f"Ann={sys.executable} x.py --k=v", "Ann", PlayerKind.COMMAND, f"{sys.executable} x.py --k=v"),
    ],
)
def test_player_may_be_named_before_an_equals_sign(text: str, name: str, kind: PlayerKind, rest: str) -> None:
    player = parse_player(text)
    assert (player.name, player.kind, player.text) == (name, kind, rest)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("shark.py:Shark", "Shark"),
        ("shark.py:Shark?depth=2", "Shark_depth_2"),
        ("Ann=shark.py:Shark", "Ann"),
        ("pond.fish:Fish", "Fish"),
    ],
)
def test_python_bot_is_not_imported_when_it_is_parsed(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "pond").mkdir()
    for file in ("shark.py", "pond/fish.py", "pond/__init__.py"):
        (tmp_path / file).write_text("raise SystemExit('imported')\nclass Shark: pass\nFish = Shark\n")
    folder = str(tmp_path)
    assert parse_player(text, folder) == Player(text.removeprefix("Ann="), name, PlayerKind.PYTHON, (), folder)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("whale.py:Whale", "there is no file whale.py"),
        ("whale:Whale", "there is no module 'whale'"),
        ("shark.deeper:Shark", "there is no module 'shark.deeper'"),
        ("shark.py:Whale", "shark.py has no class 'Whale'; its classes: Shark, Minnow"),
        ("shark:Whale?depth=2", "shark has no class 'Whale'; its classes: Shark, Minnow"),
        ("open.py:Shark", "open.py cannot be imported: SyntaxError: '(' was never closed (open.py, line 1)"),
        ("nul.py:Shark", "nul.py cannot be imported: "),
        ("star.py:Whale", ""),
        ("named.py:Whale", ""),
        ("json:Whale", "json has no class 'Whale'; its classes: none"),
        ("math:Whale", ""),
    ],
)
def test_unusable_source_of_a_python_bot_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "shark.py").write_text("raise SystemExit('imported')\nclass Shark: '\\d'\nclass Minnow: pass\n")
    (tmp_path / "open.py").write_text("class Shark(\n")
    (tmp_path / "nul.py").write_text("\0")
    (tmp_path / "star.py").write_text("from shark import *\n")
    (tmp_path / "named.py").write_text("globals()['Whale'] = int\n")
    if problem:
        with pytest.raises(PlayerError) as caught:
            parse_player(text, str(tmp_path))
        assert str(caught.value).startswith(f"{text!r}: {problem}")
    else:
        assert parse_player(text, str(tmp_path)).text == text


def test_module_is_found_on_the_path_of_its_process(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "minnow.py").write_text("class Minnow: pass\n")
    bots = [{"bot": "minnow:Minnow", "environment": {"PYTHONPATH": "library"}}, {"bot": "calling"}]
    settings = {"games": ["kuhn"], "bots": bots, "directory": str(tmp_path)}
    assert settle(validated(settings)).names == ("Minnow", "calling")
    with pytest.raises(ConfigError, match="there is no module 'minnow'"):
        settle(validated(settings | {"bots": ["minnow:Minnow", "calling"]}))


@unix_only
def test_program_in_another_folder_has_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v1").mkdir()
    (tmp_path / "v1" / "bot.sh").write_text("#!/bin/sh\n")
    (tmp_path / "v1" / "bot.sh").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert parse_player("./bot.sh", "v1").command == (f"{tmp_path}/v1/./bot.sh",)


def test_option_with_an_equals_sign_is_no_name() -> None:
    player = parse_player(f"{sys.executable} --k=v")
    assert player.command == (sys.executable, "--k=v")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nobody", ["'nobody'", "neither a built-in bot (calling", "'tcp'", "program that can be found"]),
        ("Ann=nobody", ["'nobody' is neither"]),
        ("random?fold=much", ["fold must be a number, not 'much'"]),
        ("random?luck=1", ["no option 'luck'", "its options, separated by commas: fold"]),
        ("random?fold", ["the option 'fold' needs a value"]),
        ("calling?speed=1", ["no option 'speed'", "takes no options"]),
        ("'unclosed", ["is not a command", "No closing quotation"]),
        ("", ["an empty text names no player"]),
        ("  ", ["an empty text names no player"]),
        ("./nothing/here", ["'./nothing/here' is neither"]),
    ],
)
def test_unusable_player_is_refused_with_the_reason(text: str, words: list[str]) -> None:
    sentence = _refusal(text)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("text", ["random?fold=-1", "constant?action=dance", "constant?action=raise,size=huge"])
def test_option_out_of_range_is_refused_before_the_match(text: str) -> None:
    assert "must be" in _refusal(text)


def test_folder_is_no_program(tmp_path: Path) -> None:
    assert _refusal(str(tmp_path)) == f"{str(tmp_path)!r} is a folder, not a program"


@unix_only
def test_file_without_execute_permission_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "bot.sh"
    path.write_text("#!/bin/sh\n")
    assert _refusal(str(path)) == f"{str(path)!r} is a file, but it cannot be started: chmod +x {path}"


@unix_only
def test_program_in_this_folder_needs_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bot.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert _refusal("bot.sh") == "'bot.sh' is a file, but it cannot be started: write ./bot.sh"
    assert parse_player("./bot.sh").command == ("./bot.sh",)
    assert parse_player("./bot.sh").name == "bot.sh"


def test_python_file_without_an_interpreter_is_started_with_this_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.py"
    path.write_text("print('hello')\n")
    monkeypatch.chdir(tmp_path)
    for mode in (0o644, 0o755):
        path.chmod(mode)
        for text in ("./new.py --fast 'two words'", "new.py --fast 'two words'"):
            player = parse_player(f"New={text}")
            assert (player.name, player.kind, player.text) == ("New", PlayerKind.COMMAND, text)
            script, *words = player.command[1:]
            assert (player.command[0], words) == (sys.executable, ["--fast", "two words"])
            assert os.path.samefile(script, path)
    assert parse_player("./new.py").name == "new.py"
    assert parse_player("./new.py", str(tmp_path)).command == (sys.executable, f"{tmp_path}/./new.py")


@unix_only
def test_python_file_keeps_the_interpreter_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "new.py"
    path.write_text("#!/usr/bin/python3\n")
    assert _refusal(str(path)) == (
        f"{str(path)!r} is a file, but it cannot be started: "
        f"chmod +x {path}, or write 'python {path}', or {path}:CLASS for a class in it"
    )
    path.chmod(0o755)
    assert parse_player(str(path)).command == (str(path),)


@unix_only
@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("./my bot.sh", "\"'./my bot.sh'\""),
        ("New=./my bot.sh --fast", "\"New='./my bot.sh' --fast\""),
        ("./my bots/bot.sh", "\"'./my bots/bot.sh'\""),
        ("python3 -u my bot.py 3", "\"python3 -u 'my bot.py' 3\""),
        ("python3 -W ignore my bot.py", "\"python3 -W ignore 'my bot.py'\""),
        ("./my bot.py", "\"'./my bot.py'\""),
    ],
)
def test_refusal_of_a_path_with_blanks_shows_the_quotes(
    tmp_path: Path, text: str, quoted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my bots").mkdir()
    for name in ("my bot.sh", "my bot.py", "my bots/bot.sh"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    bare = text.removeprefix("New=")
    assert _refusal(text) == f"{bare!r}: blanks separate words, so quote the path: {quoted}"
    assert len(parse_player(shlex.split(quoted)[0]).command) == len(shlex.split(shlex.split(quoted)[0]))


def test_missing_python_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert _refusal("python -u careful.py") == (
        "there is no program 'python': write ./careful.py, or ./careful.py:CLASS, to start it with the Python of arena"
    )


def test_arguments_of_a_script_are_no_path_with_blanks(tmp_path: Path) -> None:
    for name in ("my", "my bot.py", "x.py", "deep net"):
        (tmp_path / name).touch()
    assert parse_player(f"{sys.executable} x.py deep net", str(tmp_path)).command[1:] == ("x.py", "deep", "net")


@unix_only
def test_names_have_only_characters_for_logs(tmp_path: Path) -> None:
    path = tmp_path / "my|bot: new.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    player = parse_player(f"'{path}'")
    assert player.name == "my_bot_new.sh"


def _players(*names: str) -> list[Player]:
    return [Player("tcp", name, PlayerKind.TCP) for name in names]


@pytest.mark.parametrize(
    ("names", "unique"),
    [
        (["a", "a"], ("a", "a#2")),
        (["a", "b", "a"], ("a", "b", "a#2")),
        (["a"] * 3, ("a", "a#2", "a#3")),
        ([], ()),
    ],
)
def test_names_of_players_are_made_unique(names: list[str], unique: tuple[str, ...]) -> None:
    assert unique_names(_players(*names)) == unique
