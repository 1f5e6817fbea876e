"""The harness of the conformance tests: scripts of logs, and dealers that deviate from them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conformance import scripted
from tests.conformance.scripted import DATA, Diverged, Game, Reply, Script, Stuck, play

# A dealer with one seat: it reads the handshake, sends what it was given, and reads one line or ends.
FAKE = """
import socket, sys, time
_, text, wait = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
seat, _ = listener.accept()
seat.recv(100)
seat.sendall(text.encode())
time.sleep(float(wait))
"""


def _play(tmp_path: Path, text: str, wait: str, script: Script) -> scripted.Outcome:
    return play(tmp_path, ["m", text, wait], script, command=[sys.executable, "-c", FAKE])


def test_a_dealer_that_follows_the_script(tmp_path: Path) -> None:
    outcome = _play(tmp_path, "HELLO\r\n", "0", Script([b"HELLO\r\n"]))
    assert (outcome.rc, outcome.rx, outcome.log) == (0, {0: b"HELLO\r\n"}, None)


def test_another_byte_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(Diverged, match=r"seat 1 received another byte 8:\n  expected b'cd\\n'\n  received b'cx\\n'"):
        _play(tmp_path, "line 1\ncx\n", "60", Script([b"line 1\ncd\n"], [Reply(0, 10, b"x")]))


def test_a_byte_too_many_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(Diverged):
        _play(tmp_path, "HELLO\r\n!", "0", Script([b"HELLO\r\n"]))


def test_a_dealer_that_ends_early(tmp_path: Path) -> None:
    with pytest.raises(Stuck, match=r"hung up on while it awaited b'LO'"):
        _play(tmp_path, "HEL", "0", Script([b"HELLO"], [Reply(0, 5, b"x")]))


def test_a_dealer_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted, "PATIENCE_S", 0.5)
    with pytest.raises(Stuck, match=r"seat 1 awaited b'LO'"):
        _play(tmp_path, "HEL", "60", Script([b"HELLO"], [Reply(0, 5, b"x")]))


def test_a_transcript_with_a_nul() -> None:
    """The NUL cut the reply and its end of line off, so the warning follows on the same line."""
    script = scripted.script_of_transcript(
        b"STARTED at T\nTO 1 at T A\r\nTO 2 at T B\r\nFROM 2 at T B:WARNING: invalid action, changed to call\n"
        b"TO 1 at T Ac\r\nTO 2 at T Bc\r\nFROM 1 at T Ac:c\r\nFINISHED at T\n",
        seats=2,
    )
    assert script.received == [b"A\r\nAc\r\n", b"B\r\nBc\r\n"]
    assert script.replies == [Reply(1, 3, b"B:\0\r\n"), Reply(0, 7, b"Ac:c\r\n")]


def test_a_script_from_a_log() -> None:
    """Turns go on after the last actor, skip who folded or is all-in, and restart with each round."""
    game = Game.read(DATA / "games" / "holdem.nolimit.3p.game")
    made, folded = scripted.decisions(game, "cr20000fc///")
    assert [(d.before, d.position, d.action) for d in made] == [
        ("", 2, "c"),
        ("c", 0, "r20000"),
        ("cr20000", 1, "f"),
        ("cr20000f", 2, "c"),
    ]
    assert folded == [False, True, False]
    log = "# header\nSTATE:7:cr20000fc///:2c2d|3c3d|4c4d/5c5d5h/6c/7c:1|2|3:Bob|Cat|Ann\nSCORE:1|2|3:Ann|Bob|Cat\n"
    script = scripted.script_of_log(log, game, ["Ann", "Bob", "Cat"])
    assert script.received[1].splitlines() == [
        b"MATCHSTATE:0:7::2c2d||",
        b"MATCHSTATE:0:7:c:2c2d||",
        b"MATCHSTATE:0:7:cr20000:2c2d||",
        b"MATCHSTATE:0:7:cr20000f:2c2d||",
        b"MATCHSTATE:0:7:cr20000fc///:2c2d||4c4d/5c5d5h/6c/7c",
    ]
    assert script.replies[1] == Reply(
        1, len(b"MATCHSTATE:0:7::2c2d||\r\n" * 2) + 1, b"MATCHSTATE:0:7:c:2c2d||:r20000\r\n"
    )
