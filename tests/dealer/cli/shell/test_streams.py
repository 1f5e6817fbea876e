"""Standard streams that are closed, full or not read."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.dealer.helpers import ARENA, PATIENCE_S, program_env
from tests.outside import SHELL

pytestmark = pytest.mark.skipif(os.name == "nt", reason="descriptors and signals of Unix")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")

PLAY = ["play", "kuhn", "-n", "5", "--in-process", "--json"]
PRINTING = [["games"], pytest.param(["--help"], marks=pytest.mark.slow), pytest.param(PLAY, marks=pytest.mark.slow)]
ALL = "<&- >&- 2>&-"
"""Redirections that close all standard streams, so that the first opened files get their descriptors."""


def _in_shell(folder: Path, arguments: list[str], redirection: str) -> subprocess.CompletedProcess[bytes]:
    script = f'"$@" {redirection}'
    return subprocess.run(
        [SHELL, "-c", script, "sh", *ARENA, *arguments],
        cwd=folder,
        env=program_env(),
        capture_output=True,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize(
    ("arguments", "redirection"),
    [
        pytest.param(arguments, redirection, marks=() if (arguments, redirection) == (PLAY, ALL) else pytest.mark.slow)
        for arguments in (PLAY, ["games"], ["--help"], ["no-such-command"])
        for redirection in (">&-", "2>&-", ALL)
    ],
)
def test_closed_stream_loses_its_output_only(tmp_path: Path, arguments: list[str], redirection: str) -> None:
    result = _in_shell(tmp_path, arguments, redirection)
    assert result.returncode == (2 if arguments == ["no-such-command"] else 0)
    assert b"Traceback" not in result.stdout + result.stderr
    assert b"rror" not in result.stderr or result.returncode
    if arguments[0] == "play":
        # No file of the run has been taken for standard output.
        (log,) = tmp_path.glob("runs/*/match.a.log")
        assert log.read_text().count("STATE:") == 5


@needs_full
@pytest.mark.parametrize("arguments", PRINTING, ids=str)
def test_full_disk_is_an_error(tmp_path: Path, arguments: list[str]) -> None:
    result = _in_shell(tmp_path, arguments, ">/dev/full")
    assert result.returncode == 2
    assert result.stderr == b"arena: cannot write to standard output: No space left on device\n"


@needs_full
@pytest.mark.slow
def test_full_disk_of_both_streams_is_an_error(tmp_path: Path) -> None:
    assert _in_shell(tmp_path, ["games"], ">/dev/full 2>&1").returncode == 2


TALKER = """
import atexit
import os
import sys

from bots import Bot
from engine import CALL

print("imported")
atexit.register(print, "at the end")


class Talker(Bot):
    def __init__(self):
        print("made")

    def act(self, view):
        print("acts", view.hand_number)
        print("on stderr", file=sys.stderr)
        os.write(1, b"by its descriptor\\n")
        return CALL

    def policy(self, view):
        print("asked")
        return {CALL: 1.0}
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["play", "kuhn", "talker.py:Talker", "random", "-n", "2", "--in-process", "--out", "run"],
        pytest.param(["bots", "talker.py:Talker"], marks=pytest.mark.slow),
        pytest.param(["exploit", "exact", "kuhn", "talker.py:Talker"], marks=pytest.mark.slow),
        pytest.param(["doctor", "talker.py:Talker", "--game", "kuhn"], marks=pytest.mark.slow),
        pytest.param(["bench", "bot", "talker.py:Talker", "--game", "kuhn", "-n", "5"], marks=pytest.mark.slow),
    ],
    ids=lambda arguments: arguments[0],
)
def test_output_of_a_bot_stays_out_of_the_result(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "talker.py").write_text(TALKER)
    result = _in_shell(tmp_path, [*arguments, "--json"], "")
    json.loads(result.stdout)
    if arguments[0] == "play":
        err = result.stderr.decode().splitlines()
        assert err.count("imported") == err.count("at the end") == 1
        assert {"made", "acts 0", "acts 1", "on stderr", "by its descriptor"} < set(err)
        for name in ("match.a.seat1", "match.b.seat2"):
            lines = (tmp_path / "run" / f"{name}.Talker.out").read_text().splitlines()
            assert lines[:3] == ["made", "acts 0", "on stderr"]
            assert "acts 1" in lines
            assert not {"imported", "by its descriptor"} & set(lines)


@pytest.mark.parametrize("arguments", PRINTING, ids=str)
def test_closed_pipe_is_no_error(tmp_path: Path, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = subprocess.run(
            [*ARENA, *arguments],
            cwd=tmp_path,
            env=program_env(),
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
        )
    finally:
        os.close(writing)
    assert (result.returncode, result.stderr) == (0, b"")
