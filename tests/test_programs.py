"""Forked bots behave like started ones."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from pathlib import Path

import psutil
import pytest

from bots.sdk.program import Program
from dealer.table.launcher import player_command
from dealer.table.players import parse_player
from tests.dealer.helpers import PATIENCE_S, VERSION, enter_program_env
from tests.programs import KUHN

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")


def command(bot: str, port: int = 1) -> list[str]:
    words = player_command(parse_player("calling"), host="127.0.0.1", port=port, game=KUHN.path)
    return [bot if word == "calling" else word for word in words]


def test_forked_bot_is_a_separate_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_program_env(tmp_path, monkeypatch)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    (tmp_path / "home").mkdir()
    with tempfile.TemporaryDirectory() as parent_folder, socket.create_server(("127.0.0.1", 0)) as listener:
        words = command("calling", listener.getsockname()[1])
        bot = Program(words, environment=os.environ, output_path=tmp_path / "out", directory=str(tmp_path / "home"))
        listener.settimeout(PATIENCE_S)
        with listener.accept()[0] as connection:
            assert connection.recv(100) == VERSION
            process = psutil.Process(bot.pid)
            assert process.cmdline() != words, "it was started, not forked"
            assert process.ppid() == os.getpid()
            assert os.getsid(bot.pid) == bot.pid
            assert process.cwd() == str(tmp_path / "home")
            assert {file.path for file in process.open_files()} == {str(tmp_path / "out")}
            assert [bot_socket.laddr for bot_socket in process.net_connections()] == [connection.getpeername()]
        assert bot.wait(PATIENCE_S) == 0
        assert Path(parent_folder).is_dir(), "the bot has removed a temporary folder of its parent"
        assert listener.getsockname()[1] > 0


@pytest.mark.parametrize(("more", "code"), [([], 1), (["--what"], 2)], ids=["option of the bot", "usage"])
def test_forked_bot_fails_like_a_started_one(
    more: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_program_env(tmp_path, monkeypatch)
    words = [*command("calling?x=1"), *more]
    program = Program(words, environment=os.environ, output_path=tmp_path / "out")
    started = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert program.wait(PATIENCE_S) == started.returncode == code
    assert (tmp_path / "out").read_bytes() == started.stdout != b""
