"""What a bot's process may have."""

from __future__ import annotations

import getpass
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dealer.errors import ConfigError
from dealer.run.plan import settle
from dealer.run.settings import validated
from dealer.table.confinement import Confinement
from dealer.table.launcher import BotProcess
from dealer.table.players import parse_player
from tests.dealer.helpers import PATIENCE_S

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the limits are those of POSIX systems")

HUNGRY = """
import resource, sys
try:
    data = bytearray(1_000_000_000)
    print("had it", len(data))
except MemoryError:
    print("refused")
"""
BUSY = """
while True:
    pass
"""


def started(tmp_path: Path, code: str, confinement: Confinement | None) -> BotProcess:
    script = tmp_path / "bot.py"
    script.write_text(code)
    tmp_path.chmod(0o755)
    player = replace(parse_player(f"{sys.executable} -I -S {script}"), confinement=confinement)
    return BotProcess(player, host="127.0.0.1", port=1, game="kuhn", seed=None, output_path=tmp_path / "output")


def test_memory_is_bounded(tmp_path: Path) -> None:
    for confinement, said in ((None, "had it 1000000000"), (Confinement(memory_mb=500), "refused")):
        process = started(tmp_path, HUNGRY, confinement)
        assert process.wait(PATIENCE_S) == 0
        assert process.last_lines() == [said]


def test_time_of_the_processor_is_bounded(tmp_path: Path) -> None:
    process = started(tmp_path, BUSY, Confinement(cpu_s=1))
    code = process.wait(PATIENCE_S)
    assert code is not None
    assert code < 0, "a signal has ended it"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_bot_runs_as_another_user(tmp_path: Path) -> None:
    import pwd

    nobody = pwd.getpwnam("nobody")
    # As nobody it could not read what only we may read.
    script = "import os; print(os.getuid(), os.getgid(), os.getgroups(), os.environ['HOME'])"
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("there is no interpreter that everybody may start")
    command = ("/usr/bin/python3", "-I", "-S", "-c", script)
    player = replace(parse_player("/usr/bin/python3"), command=command, confinement=Confinement(user="nobody"))
    process = BotProcess(player, host="127.0.0.1", port=1, game="kuhn", seed=None, output_path=tmp_path / "output")
    assert process.wait(PATIENCE_S) == 0
    (line,) = process.last_lines()
    assert line.startswith(f"{nobody.pw_uid} {nobody.pw_gid} [")
    assert "[0" not in line
    assert line.endswith(nobody.pw_dir)


def test_what_cannot_be_started_says_so(tmp_path: Path) -> None:
    player = replace(parse_player(sys.executable), command=("/nowhere/bot",), confinement=Confinement(cpu_s=9))
    process = BotProcess(player, host="127.0.0.1", port=1, game="kuhn", seed=None, output_path=tmp_path / "output")
    assert process.wait(PATIENCE_S) == 126
    assert "/nowhere/bot cannot be started within its limits: " in process.last_lines()[0]


def test_limits_are_settings_of_a_bot() -> None:
    bots = [{"bot": "calling", "memory_mb": 2000}, {"bot": "random"}]
    settled = settle(validated({"game": "kuhn", "bots": bots}))
    assert [player.confinement for player in settled.players] == [Confinement(memory_mb=2000), None]
    for bot, told in (
        ({"bot": "calling", "user": "no such user"}, "there is no user 'no such user'"),
        ({"bot": "tcp", "cpu_s": 1}, "is not started as a process"),
        ({"bot": "learner", "user": getpass.getuser()}, "another user cannot write its journal"),
    ):
        with pytest.raises(ConfigError, match=told):
            settle(validated({"game": "limit", "bots": [bot, "random"]}))


def test_another_user_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert Confinement(user="root").refusal() == "only root can start a bot as another user, 'root'"
    assert Confinement(memory_mb=1).refusal() is None


def test_elsewhere_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.table.confinement.os.name", "nt")
    assert Confinement(memory_mb=1).refusal() == "limits on a bot's process need Linux or macOS"
