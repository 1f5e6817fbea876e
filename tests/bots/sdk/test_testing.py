"""Tools for testing bots."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from bots import CALL, RAISE, Action, Bot, IllegalReply, View
from bots.sdk import testing
from bots.sdk.testing import MockDealer, check, serve_script
from tests.programs import PATIENCE_S


class Caller(Bot):
    def act(self, view: View) -> Action:
        view.comment("hm")
        return CALL


class Raiser(Bot):
    def act(self, view: View) -> Action:
        return RAISE


def script() -> MockDealer:
    dealer = MockDealer("kuhn").tell("MATCHSTATE:1:0::|Ks").ask("MATCHSTATE:1:0:r:|Ks", "c")
    return dealer.tell("MATCHSTATE:1:0:rc:Qs|Ks").ask("MATCHSTATE:0:1::As|", "c").tell("MATCHSTATE:0:1:cc:As|Ks")


def test_check_passes() -> None:
    dealer = script()
    check(Caller(), dealer)
    assert dealer.replies == ["c", "c"]
    assert dealer.comments == [b"# hm\r\n"] * 2


def test_check_names_the_expected_answer() -> None:
    dealer = MockDealer("kuhn").ask("MATCHSTATE:0:0::As|", "r")
    with pytest.raises(AssertionError, match=r"the bot answered 'c' to 'MATCHSTATE:0:0::As\|', expected r"):
        check(Caller(), dealer)


def test_check_refuses_illegal_answers() -> None:
    with pytest.raises(IllegalReply, match="RAISE_CAP"):
        check(Raiser(), MockDealer("kuhn").ask("MATCHSTATE:1:0:r:|Ks"))


CLIENT = """
import socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
f = s.makefile("rwb", buffering=0)
f.write(b"VERSION:2.0.0\\r\\n")
"""
"""First lines of a program written without our packages."""

GOOD = """
print("playing")
for line in f:
    line = line.rstrip()
    if line.endswith((b":r:|Ks", b"::As|")):
        f.write(line + b":c\\r\\n")
sys.exit(3)
"""


@pytest.mark.parametrize("chunk_bytes", [None, 1])
def test_serve_script_passes(chunk_bytes: int | None) -> None:
    dealer = script()
    result = serve_script(dealer, [sys.executable, "-c", CLIENT + GOOD], timeout_s=PATIENCE_S, chunk_bytes=chunk_bytes)
    assert result == (3, "playing\n")
    assert dealer.replies == ["c", "c"]


def test_serve_script_tells_a_python_bot_the_game(program_env: dict[str, str]) -> None:
    result = serve_script(
        script(), [sys.executable, "-m", "bots.sdk.builtin", "calling"], timeout_s=PATIENCE_S, env=program_env
    )
    assert result == (0, "")


@pytest.mark.parametrize(
    ("program", "sentences"),
    [
        ("pass", ["the program ended without connecting", "exit code 0", "wrote nothing"]),
        (CLIENT + "f.readline(); raise OSError('gone')", ["still owes a reply", "exit code 1", "OSError: gone"]),
        (CLIENT + "f.write(f.readline().strip() + b':c\\r\\n'); f.read()", ["StaleReply", "instead of a reply to"]),
        (CLIENT + "f.readline(); f.write(b'call\\r\\n'); f.read()", ["the bot sent b'call\\r\\n' (BadState)"]),
        (
            CLIENT + "f.readline(); f.write(f.readline().strip() + b':f\\r\\n'); f.read()",
            ["the bot answered 'f' to 'MATCHSTATE:1:0:r:|Ks', expected c"],
        ),
        (
            CLIENT + GOOD.replace("sys.exit(3)", "f.write(b'# bye\\r\\nthanks\\r\\n')"),
            ["the program sent b'thanks\\r' after the last question"],
        ),
    ],
)
def test_serve_script_names_the_fault(program: str, sentences: list[str]) -> None:
    with pytest.raises(AssertionError) as caught:
        serve_script(script(), [sys.executable, "-c", program], timeout_s=PATIENCE_S)
    for sentence in sentences:
        assert sentence in str(caught.value)


class Clock:
    """Clock that stops until it is moved far ahead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(testing.time, "monotonic", lambda: self.now)

    def run_out(self) -> None:
        self.now = 1000.0


SLEEP = "import time; time.sleep(600)\n"


def test_time_is_up_before_the_program_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([0.0])
    monkeypatch.setattr(testing.time, "monotonic", lambda: next(readings, 1000.0))
    with pytest.raises(AssertionError, match=r"did not connect to its port in time.*still running"):
        serve_script(script(), [sys.executable, "-c", SLEEP], timeout_s=PATIENCE_S)


@pytest.mark.parametrize(
    ("program", "replies", "sentence"),
    [
        (CLIENT + SLEEP, 0, "time is up: the bot still owes a reply"),
        (CLIENT + GOOD.replace("sys.exit(3)", SLEEP), 2, "time is up: .* has not closed the connection"),
    ],
)
def test_time_is_up_in_the_script(monkeypatch: pytest.MonkeyPatch, program: str, replies: int, sentence: str) -> None:
    clock = Clock(monkeypatch)
    dealer = script()
    receive = dealer.receive

    def receive_and_run_out(data: bytes) -> bytes:
        out = receive(data)
        if len(dealer.replies) == replies:
            clock.run_out()
        return out

    monkeypatch.setattr(dealer, "receive", receive_and_run_out)
    with pytest.raises(AssertionError, match=sentence):
        serve_script(dealer, [sys.executable, "-c", program], timeout_s=PATIENCE_S)


def test_time_is_up_after_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    expect_silence = testing._expect_silence

    def expect_and_run_out(*arguments: Any) -> None:
        expect_silence(*arguments)
        clock.run_out()

    monkeypatch.setattr(testing, "_expect_silence", expect_and_run_out)
    program = CLIENT + GOOD.replace("sys.exit(3)", "f.close(); s.close()\n" + SLEEP)
    with pytest.raises(AssertionError, match="the program did not end"):
        serve_script(script(), [sys.executable, "-c", program], timeout_s=PATIENCE_S)
