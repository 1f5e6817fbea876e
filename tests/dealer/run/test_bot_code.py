"""Interruption of bots in the dealer's process that do not return; the run can be resumed."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

from tests.dealer.helpers import ARENA, PATIENCE_S, program_env
from tests.programs import start

BOT = """
import os
import time

from bots import Bot
from engine import CALL

STATE = os.environ.get("STATE")


class Stuck(Bot):
    count = 0

    def act(self, view):
        if view.hand_number == 5:
            self.stay("loop", "sleep", "catch")
        return CALL

    def match_finished(self):
        self.stay("loop at the end")

    def stay(self, *states):
        if STATE not in states:
            return
        open("stuck", "w").close()
        while STATE.startswith("loop"):
            self.count += 1
        while STATE == "sleep":
            time.sleep(1e6)
        while STATE == "catch":
            try:
                while True:
                    self.count += 1
            except BaseException:
                pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to another process")
@pytest.mark.parametrize(
    ("state", "signal_number", "text"),
    [
        ("loop", signal.SIGINT, "Resume with:\n    arena resume there\n"),
        ("sleep", signal.SIGTERM, "Resume with:\n    arena resume there\n"),
        ("loop at the end", signal.SIGINT, "Resume with:\n    arena resume there\n"),
        ("catch", signal.SIGTERM, "A bot does not stop when it is interrupted. Resume with: arena resume there\n"),
    ],
)
def test_bot_that_does_not_return_is_interrupted(tmp_path: Path, state: str, signal_number: int, text: str) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    play = ["play", "leduc", "bot.py:Stuck", "calling", "--in-process", "-n", "20", "--seed", "1", "--out"]
    program = start([*ARENA, *play, "there"], cwd=tmp_path, env=program_env(STATE=state))
    try:
        while not (tmp_path / "stuck").exists():
            assert program.poll() is None, "the program has ended before the interruption"
            time.sleep(0.01)
        program.send_signal(signal_number)
        out, err = program.communicate(timeout=PATIENCE_S)
    finally:
        program.kill()
    assert program.wait() == 130
    assert text in (out + err).decode()
    logs = []
    for words in (["resume", "there"], [*play, "here"]):
        program = start([*ARENA, *words], cwd=tmp_path, env=program_env())
        program.communicate(timeout=PATIENCE_S)
        assert program.wait() == 0
        logs.append([(tmp_path / words[-1] / f"match.{match}.log").read_bytes() for match in "ab"])
    assert logs[0] == logs[1]
