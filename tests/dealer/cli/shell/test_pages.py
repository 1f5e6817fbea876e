"""``arena watch``, ``arena replay`` and ``arena play --watch``."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

import dealer.library
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env
from tests.programs import start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a program is interrupted by a signal")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    dealer.library.play("leduc", ["random", "calling"], out=folder, deals=20, seed=3, in_process=True)
    return folder


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (("watch",), "/runs/run"),
        (("replay",), "/runs/run"),
        (("replay", "--hand", "7"), "/runs/run/matches/match.a/hands/7"),
    ],
)
def test_pages_are_served_until_an_interrupt(run: Path, words: tuple[str, ...], path: str) -> None:
    program = start([*ARENA, *words, str(run), "--no-browser"], cwd=run.parent, env=program_env())
    try:
        assert program.stdout is not None
        address = program.stdout.readline().decode().split()[0]
        assert re.fullmatch(rf"http://127\.0\.0\.1:\d+{path}", address)
        with urlopen(address, timeout=PATIENCE_S) as page:
            assert b"<h1>" in page.read()
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=PATIENCE_S)
        assert program.wait() == 0, err.decode()
        assert not err
    finally:
        program.kill()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("watch", "nothing"), "nothing: there is no such file or folder"),
        (("replay", "RUN", "--hand", "20"), ": there is no hand 20; there are "),
        (("replay", "FILE"), "not recognised"),
    ],
)
def test_missing_run_and_hand_are_refused(run: Path, tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("once upon a time\n" * 30)
    given = [{"RUN": str(run), "FILE": str(file)}.get(word, word) for word in words]
    program = start([*ARENA, *given, "--no-browser"], cwd=run.parent, env=program_env())
    out, err = program.communicate(timeout=PATIENCE_S)
    assert program.wait() == 2
    assert not out
    assert sentence in err.decode()
    assert "Traceback" not in err.decode()


def test_match_is_watched_during_play(tmp_path: Path) -> None:
    words = ["play", "leduc", "random", "calling", "-n", "60", "--watch", "--no-browser", "--out", "run"]
    program = start([*ARENA, *words], cwd=tmp_path, env=program_env())
    out, err = program.communicate(timeout=PATIENCE_S)
    assert program.wait() == 0, err.decode()
    assert re.search(r"Watch it at http://127\.0\.0\.1:\d+/runs/run", err.decode())
    assert b"60" in out
