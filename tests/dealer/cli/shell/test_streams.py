"""Standard streams that are closed, full or no longer read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.dealer.helpers import ARENA, PATIENCE_S, program_env

pytestmark = pytest.mark.skipif(os.name == "nt", reason="descriptors and signals of Unix")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")

COMMANDS = [
    ["play", "kuhn", "-n", "5", "--in-process", "--json"],
    pytest.param(["games"], marks=pytest.mark.slow),
    pytest.param(["--help"], marks=pytest.mark.slow),
    pytest.param(["no-such-command"], marks=pytest.mark.slow),
]


def _in_shell(folder: Path, arguments: list[str], redirection: str) -> subprocess.CompletedProcess[bytes]:
    script = f'"$@" {redirection}'
    return subprocess.run(
        ["sh", "-c", script, "sh", *ARENA, *arguments],
        cwd=folder,
        env=program_env(),
        capture_output=True,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=str)
@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_takes_nothing_and_changes_nothing(
    tmp_path: Path, arguments: list[str], redirection: str
) -> None:
    ran = _in_shell(tmp_path, arguments, redirection)
    assert ran.returncode == (2 if arguments == ["no-such-command"] else 0)
    assert b"Traceback" not in ran.stdout + ran.stderr
    assert b"rror" not in ran.stderr or ran.returncode
    if arguments[0] == "play":
        # No file of the run has been taken for standard output.
        (log,) = tmp_path.glob("runs/*/match.a.log")
        assert log.read_text().count("STATE:") == 5


@needs_full
@pytest.mark.parametrize("arguments", COMMANDS[:3], ids=str)
def test_output_to_a_full_disk_is_told_and_is_a_failure(tmp_path: Path, arguments: list[str]) -> None:
    ran = _in_shell(tmp_path, arguments, ">/dev/full")
    assert ran.returncode == 2
    assert ran.stderr == b"arena: cannot write to standard output: No space left on device\n"
    assert _in_shell(tmp_path, arguments, ">/dev/full 2>&1").returncode == 2


@pytest.mark.parametrize("arguments", COMMANDS[:3], ids=str)
def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = subprocess.run(
            [*ARENA, *arguments],
            cwd=tmp_path,
            env=program_env(),
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
        )
    finally:
        os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, b"")
