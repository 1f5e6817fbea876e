"""Limits and users of bots' processes."""

from __future__ import annotations

import getpass
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from dealer.errors import ConfigError
from dealer.run.plan import settle
from dealer.run.run_settings import validated
from dealer.server.server_settings import read_toml_settings
from dealer.table.confinement import Confinement
from dealer.table.launcher import BotProcess
from dealer.table.players import parse_player
from tests.dealer.helpers import PATIENCE_S
from tests.programs import KUHN

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the limits are those of POSIX systems")

HUNGRY = """
import mmap
try:
    mmap.mmap(-1, 300_000_000)
    print("granted")
except OSError:
    print("refused")
"""
LIMITS = "import resource; print(*resource.getrlimit(resource.RLIMIT_CPU), *resource.getrlimit(resource.RLIMIT_CORE))"


def start_bot(tmp_path: Path, code: str, confinement: Confinement | None) -> BotProcess:
    script = tmp_path / "bot.py"
    script.write_text(code)
    tmp_path.chmod(0o755)
    player = replace(parse_player(f"{sys.executable} -I -S {script}"), confinement=confinement)
    return BotProcess(player, host="127.0.0.1", port=1, game=KUHN, seed=None, output_path=tmp_path / "output")


def test_memory_is_bounded(tmp_path: Path) -> None:
    for confinement, output in ((None, "granted"), (Confinement(memory_mb=200), "refused")):
        process = start_bot(tmp_path, HUNGRY, confinement)
        assert process.wait(PATIENCE_S) == 0
        assert process.last_lines() == [output]


def test_processor_time_is_bounded(tmp_path: Path) -> None:
    process = start_bot(tmp_path, LIMITS, Confinement(cpu_s=7))
    assert process.wait(PATIENCE_S) == 0
    assert process.last_lines() == ["7 8 0 0"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can become another user")
def test_bot_runs_as_another_user(tmp_path: Path) -> None:
    import pwd

    nobody = pwd.getpwnam("nobody")
    # The code is an argument, because the user nobody cannot read a file of this test.
    script = "import os; print(os.getuid(), os.getgid(), os.getgroups(), os.environ['HOME'])"
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("there is no interpreter that all users may start")
    command = ("/usr/bin/python3", "-I", "-S", "-c", script)
    player = replace(parse_player("/usr/bin/python3"), command=command, confinement=Confinement(user="nobody"))
    process = BotProcess(player, host="127.0.0.1", port=1, game=KUHN, seed=None, output_path=tmp_path / "output")
    assert process.wait(PATIENCE_S) == 0
    (line,) = process.last_lines()
    assert line.startswith(f"{nobody.pw_uid} {nobody.pw_gid} [")
    assert "[0" not in line
    assert line.endswith(nobody.pw_dir)


def test_bot_that_cannot_start_is_refused(tmp_path: Path) -> None:
    player = replace(parse_player(sys.executable), command=("/nowhere/bot",), confinement=Confinement(cpu_s=9))
    process = BotProcess(player, host="127.0.0.1", port=1, game=KUHN, seed=None, output_path=tmp_path / "output")
    assert process.wait(PATIENCE_S) == 126
    assert "/nowhere/bot cannot be started within its limits: " in process.last_lines()[0]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("is_open", [True, False])
def test_program_that_its_user_cannot_execute_is_refused(*, is_open: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        closed = folder / "closed"
        closed.mkdir(0o755 if is_open else 0o700)
        folder.chmod(0o755)
        shell = closed / "sh"
        shutil.copy("/bin/sh", shell)
        (folder / "bot.sh").write_text(f"#!{shell} -e\n")
        (folder / "bot.sh").chmod(0o755)
        sentence = f"{shell} cannot be executed by nobody: it and all folders above it have to be open to that user"
        for program in (shell, folder / "bot.sh"):
            refusal = Confinement(user="nobody").refusal(str(program))
            assert refusal == (None if is_open else sentence)
            assert Confinement(user="root").refusal(str(program)) is None
            settings = validated({"game": "kuhn", "bots": [{"bot": f"A={program}", "user": "nobody"}, "random"]})
            config = folder / "s.toml"
            config.write_text(f'bot_user = "nobody"\n[[games]]\ngame = "kuhn"\nbots = ["A={program}"]\n')
            if is_open:
                assert settle(settings).players[0].program == str(program)
                assert read_toml_settings(config).bot_user == "nobody"
                continue
            with pytest.raises(ConfigError, match=f"A: {shell} cannot be executed by nobody"):
                settle(settings)
            with pytest.raises(ConfigError, match=f"bots: A: {shell} cannot be executed by nobody"):
                read_toml_settings(config)
        if not is_open:
            player = replace(parse_player(str(shell)), confinement=Confinement(user="nobody"))
            process = BotProcess(player, host="127.0.0.1", port=1, game=KUHN, seed=None, output_path=folder / "output")
            assert process.wait(PATIENCE_S) == 126
            assert process.last_lines() == [f"{shell} cannot be executed by nobody"]


def test_python_bots_run_in_our_interpreter() -> None:
    programs = [parse_player(text).program for text in ("calling", "bots.baseline:CallingBot", "tcp")]
    assert programs == [sys.executable, sys.executable, ""]


def test_limits_are_settings_of_a_bot() -> None:
    bots = [{"bot": "calling", "memory_mb": 2000}, {"bot": "random"}]
    settled = settle(validated({"game": "kuhn", "bots": bots}))
    assert [player.confinement for player in settled.players] == [Confinement(memory_mb=2000), None]
    for bot, sentence in (
        ({"bot": "calling", "user": "no such user"}, "there is no user 'no such user'"),
        ({"bot": "tcp", "cpu_s": 1}, "is not started as a process"),
        ({"bot": "learner", "user": getpass.getuser()}, "another user cannot write its journal"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            settle(validated({"game": "limit", "bots": [bot, "random"]}))


def test_another_user_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert Confinement(user="root").refusal() == "only root can start a bot as another user, 'root'"
    assert Confinement(memory_mb=1).refusal() is None


def test_limits_are_refused_on_other_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.table.confinement.os.name", "nt")
    assert Confinement(memory_mb=1).refusal() == "limits on a bot's process need Linux or macOS"
