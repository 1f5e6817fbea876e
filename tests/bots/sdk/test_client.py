"""A bot as a program with a real socket: messages and exits."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bots.sdk.client
from bots import Action, Bot, ConnectError, DealerFailure, IllegalReply, View, play, run
from bots.errors import BotUsageError
from bots.sdk.client import FinishedMatch, play_to_exit_code, read_arguments, read_port
from engine import Game
from protocol import find_game
from protocol.mock_dealer import MockDealer
from tests.programs import PATIENCE_S

StartDealer = Callable[..., Any]


class Caller(Bot):
    def act(self, view: View) -> Action:
        return view.call()


class Raiser(Bot):
    def act(self, view: View) -> Action:
        return view.raise_to(1)


class Broken(Bot):
    def act(self, view: View) -> Action:
        return self.helper(view)

    def helper(self, view: View) -> Action:
        raise ZeroDivisionError(f"nothing at {view.position}")


def one_hand() -> MockDealer:
    return MockDealer("kuhn").ask("MATCHSTATE:0:0::As|", "c").tell("MATCHSTATE:0:0:cc:As|Ks")


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Return a bound port that refuses connections; no other program can listen on it."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]


@pytest.fixture(autouse=True)
def _no_game_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_GAME", raising=False)


def test_play_to_the_end(thread_dealer: StartDealer) -> None:
    dealer = thread_dealer(one_hand())
    assert play(Caller(), "127.0.0.1", dealer.port, "kuhn") == FinishedMatch(hands=1, unfinished_hand=None)
    dealer.join()
    assert dealer.script.replies == ["c"]


def test_bot_prepares_before_it_connects(thread_dealer: StartDealer) -> None:
    dealer = thread_dealer(one_hand())

    class Preparing(Caller):
        def prepare(self, game: Game) -> None:
            received.append((game, dealer.received))

    received: list[tuple[Game, bytes]] = []
    play(Preparing(), "127.0.0.1", dealer.port, "kuhn")
    dealer.join()
    assert received == [(find_game("kuhn")[1], b"")]
    assert dealer.received.startswith(b"VERSION:2.0.0\r\n")


@pytest.mark.parametrize("way", ["object", "file", "environment name", "environment file"])
def test_ways_to_name_the_game(
    thread_dealer: StartDealer, monkeypatch: pytest.MonkeyPatch, root: Path, way: str
) -> None:
    path = str(root / "engine" / "games" / "kuhn.limit.2p.game")
    dealer = thread_dealer(one_hand())
    game: Any = {"object": find_game("kuhn")[1], "file": path}.get(way)
    if way.startswith("environment"):
        monkeypatch.setenv("ARENA_GAME", path if way.endswith("file") else "kuhn")
    assert play(Caller(), "127.0.0.1", dealer.port, game).hands == 1
    dealer.join()


def test_the_argument_goes_before_the_environment(thread_dealer: StartDealer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_GAME", "no such game")
    assert play(Caller(), "127.0.0.1", thread_dealer(one_hand()).port, "kuhn").hands == 1


def test_limit_holdem_is_assumed(thread_dealer: StartDealer) -> None:
    script = MockDealer("limit").ask("MATCHSTATE:1:0::|AhKs", "c").tell("MATCHSTATE:1:0:c:|AhKs")
    assert play(Caller(), "127.0.0.1", thread_dealer(script).port) == FinishedMatch(hands=0, unfinished_hand=0)


def test_bot_waits_for_the_dealer(thread_dealer: StartDealer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound port that does not listen refuses; it begins to listen while the bot waits."""
    dealers = []
    late = socket.socket()
    late.bind(("127.0.0.1", 0))

    def listen(_seconds: float) -> None:
        if not dealers:
            dealers.append(thread_dealer(one_hand(), late))

    monkeypatch.setattr(bots.sdk.client.time, "sleep", listen)
    assert play(Caller(), "127.0.0.1", late.getsockname()[1], "kuhn", connect_timeout_s=60).hands == 1
    dealers[0].join()


def test_closed_port_is_refused(closed_port: int) -> None:
    with pytest.raises(ConnectError, match=rf"no dealer at 127.0.0.1 port {closed_port}: .+ \(tried for 0 s\)"):
        play(Caller(), "127.0.0.1", closed_port, "kuhn", connect_timeout_s=0)


def test_unknown_host_and_invalid_port_are_refused() -> None:
    with pytest.raises(ConnectError, match=r"cannot find the host 'a\.\.b'"):
        play(Caller(), "a..b", 1, "kuhn", connect_timeout_s=0)
    with pytest.raises(ConnectError, match="70000"):
        play(Caller(), "127.0.0.1", 70000, "kuhn")


def test_self_connection_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mirror:
        def getsockname(self) -> tuple[str, int]:
            return "127.0.0.1", 5

        getpeername = getsockname

        def close(self) -> None:
            pass

    monkeypatch.setattr(bots.sdk.client.socket, "create_connection", lambda *_, **__: Mirror())
    with pytest.raises(ConnectError, match="no program listens there"):
        play(Caller(), "127.0.0.1", 5, "kuhn", connect_timeout_s=0)


def test_silent_dealer_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(DealerFailure, match=r"nothing for 0\.01 s"):
        play(Caller(), "127.0.0.1", silent.getsockname()[1], "kuhn", silence_timeout_s=0.01)


def test_dealer_may_close_before_the_reply(thread_dealer: StartDealer) -> None:
    """The connection can be open or closed when the reply is sent."""
    dealer = thread_dealer(b"MATCHSTATE:0:0::As|\r\n")
    assert play(Caller(), "127.0.0.1", dealer.port, "kuhn") == FinishedMatch(hands=0, unfinished_hand=0)


def test_illegal_reply_is_not_sent(thread_dealer: StartDealer) -> None:
    dealer = thread_dealer(MockDealer("nolimit").ask("MATCHSTATE:1:0::|AsAd"))
    with pytest.raises(IllegalReply, match="raise to 1 in hand 0"):
        play(Raiser(), "127.0.0.1", dealer.port, "nolimit")
    dealer.join()
    assert dealer.received == b"VERSION:2.0.0\r\n"


def test_exit_0(thread_dealer: StartDealer, capfd: pytest.CaptureFixture[str]) -> None:
    assert play_to_exit_code(Caller(), "127.0.0.1", thread_dealer(one_hand()).port, "kuhn") == 0
    assert capfd.readouterr() == ("", "")


def test_exit_0_in_the_middle_of_a_hand(thread_dealer: StartDealer, capfd: pytest.CaptureFixture[str]) -> None:
    dealer = thread_dealer(b"MATCHSTATE:1:7::|As\r\n")
    assert play_to_exit_code(Caller(), "127.0.0.1", dealer.port, "kuhn") == 0
    assert capfd.readouterr() == ("", "bot: the dealer closed the connection in the middle of hand 7\n")


def test_exit_0_before_the_first_hand(thread_dealer: StartDealer, capfd: pytest.CaptureFixture[str]) -> None:
    assert play_to_exit_code(Caller(), "127.0.0.1", thread_dealer(b"").port, "kuhn") == 0
    assert capfd.readouterr().err == "bot: the dealer closed the connection before the first hand\n"


def test_exit_1_is_one_sentence(
    thread_dealer: StartDealer, closed_port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    def complaint(bot: Bot, port: int, game: str) -> str:
        assert play_to_exit_code(bot, "127.0.0.1", port, game, connect_timeout_s=0) == 1
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith("bot: ")
        assert err.count("\n") == 1
        return err

    assert "no dealer at 127.0.0.1" in complaint(Caller(), closed_port, "kuhn")
    assert "no such game or file" in complaint(Caller(), 1, "poker")
    assert "does not fit the game assumed, limit: " in complaint(
        Caller(), thread_dealer(b"MATCHSTATE:0:0::As|\r\n").port, "limit"
    )
    assert "not a match state" in complaint(Caller(), thread_dealer(b"hello\r\n").port, "limit")
    assert "rule BELOW_MINIMUM" in complaint(Raiser(), thread_dealer(b"MATCHSTATE:1:0::|AsAd\r\n").port, "nolimit")


def test_traceback_shows_the_code_of_the_bot(thread_dealer: StartDealer, capfd: pytest.CaptureFixture[str]) -> None:
    dealer = thread_dealer(b"MATCHSTATE:0:3::As|\r\n")
    assert play_to_exit_code(Broken(), "127.0.0.1", dealer.port, "kuhn") == 1
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-2:] == [
        "ZeroDivisionError: nothing at 0",
        "bot: the bot's own code failed. The bot was looking at the state MATCHSTATE:0:3::As|.",
    ]
    frames = [line for line in lines if line.startswith("  File")]
    assert len(frames) == 2, "the frames of act and helper, none of ours"
    assert all(__file__ in line for line in frames)


def test_failure_in_match_finished(thread_dealer: StartDealer, capfd: pytest.CaptureFixture[str]) -> None:
    class Late(Caller):
        def match_finished(self) -> None:
            error = OSError("disk full")
            error.add_note("a note of the bot's own")
            raise error

    assert play_to_exit_code(Late(), "127.0.0.1", thread_dealer(one_hand()).port, "kuhn") == 1
    lines = capfd.readouterr().err.splitlines()
    assert lines[-3:] == [
        "OSError: disk full",
        "a note of the bot's own",
        "bot: the bot's own code failed. The match was over.",
    ]


def test_class_is_not_a_bot() -> None:
    with pytest.raises(TypeError, match=r"write Caller\(\) for Caller"):
        run(Caller, [])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"bots\.Bot, not 3"):
        play(3, "127.0.0.1", 1, "kuhn")  # type: ignore[arg-type]


def test_run_is_the_whole_program(thread_dealer: StartDealer) -> None:
    with pytest.raises(SystemExit) as end:
        run(Caller(), ["127.0.0.1", str(thread_dealer(one_hand()).port), "--game", "kuhn"])
    assert end.value.code == 0


@pytest.mark.parametrize(
    ("own", "behind"), [(["1"], ["0"]), (["5", "--depth", "3"], []), (["fast", "--gmae=x", "-v"], [])]
)
def test_arguments_of_the_bot_come_before_host_and_port(
    own: list[str], behind: list[str], thread_dealer: StartDealer
) -> None:
    with pytest.raises(SystemExit) as end:
        run(Caller(), [*own, "127.0.0.1", str(thread_dealer(one_hand()).port), *behind, "--game", "kuhn"])
    assert end.value.code == 0


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ([], "HOST is missing"),
        (["localhost"], "PORT is missing"),
        (["localhost", "high"], "PORT must be a number from 1 to 65535, not 'high'"),
        (["localhost", "1", "x"], "PORT must be a number from 1 to 65535, not 'x'"),
        (["localhost", "1", "--seed", "3"], "unknown option --seed"),
        (["localhost", "1", "--game"], "--game needs a value"),
    ],
)
def test_exit_2(argv: list[str], sentence: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run(Caller(), argv)
    assert end.value.code == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert sentence in err
    assert err.endswith("HOST PORT [--game GAME]\n")
    assert err.count("\n") == 1


def test_help(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run(Caller(), ["--help"])
    assert end.value.code == 0
    assert capfd.readouterr().out.endswith("HOST PORT [--game GAME]\n")


def test_read_arguments() -> None:
    read = read_arguments(["h", "--game=a=b", "1"], ("HOST", "PORT"), ("game",))
    assert read == {"HOST": "h", "PORT": "1", "game": "a=b"}
    assert read_arguments(["h", "1", "0"], ("HOST", "PORT"), ()) == {"HOST": "h", "PORT": "1"}
    assert read_arguments(["--seed", "-1"], (), ("seed",)) == {"seed": "-1"}
    assert read_arguments(["h", "-h"], ("HOST", "PORT"), ()) == {"help": ""}
    for argv, sentence in (
        (["h", "1", "x"], "'x' is one argument too many"),
        (["h", "1", "--seed", "3"], "unknown option"),
    ):
        with pytest.raises(BotUsageError, match=sentence):
            read_arguments(argv, ("HOST", "PORT"), ())
    with pytest.raises(BotUsageError):
        read_port("0")
    assert read_port("65535") == 65535


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to another process")
def test_interrupt(program_env: dict[str, str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-m", "bots.sdk.builtin", "calling", "127.0.0.1", str(listener.getsockname()[1])]
        with subprocess.Popen(command, stderr=subprocess.PIPE, env=program_env, cwd=tmp_path) as process:
            listener.settimeout(60)
            with listener.accept()[0] as connection:
                assert connection.recv(100) == b"VERSION:2.0.0\r\n"
                # The bot is now about to wait for a message, or waits: an interrupt is handled quietly in both cases.
                process.send_signal(signal.SIGINT)
                assert process.communicate(timeout=PATIENCE_S)[1] == b""
        assert process.returncode == 130
