"""A shipped bot as a program, and the modules that it must not load."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bots.sdk.bot import Bot
from bots.sdk.builtin import main
from bots.sdk.registry import describe_all, make_bot
from protocol import find_game
from protocol.mock_dealer import MockDealer
from tests.programs import PATIENCE_S

StartDealer = Callable[..., Any]

HEAVY = {
    "argparse",
    "asyncio",
    "logging",
    "numba",
    "numpy",
    "pydantic",
    "rich",
    "scipy",
    "subprocess",
    "typer",
    "unittest",
}

PROGRAM = """
import sys
from bots.sdk.builtin import main
code = main(sys.argv[1:])
print(code, *sorted({name.split(".")[0] for name in sys.modules}))
"""


def one_hand() -> MockDealer:
    script = MockDealer("leduc").ask("MATCHSTATE:0:0::Ks|").tell("MATCHSTATE:0:0:c:Ks|")
    return script.ask("MATCHSTATE:0:0:cr:Ks|").tell("MATCHSTATE:0:0:crf:Ks|")


def one_hand_of_holdem() -> MockDealer:
    script = MockDealer("limit").ask("MATCHSTATE:1:0::|AhKs").tell("MATCHSTATE:1:0:c:|AhKs")
    return script.ask("MATCHSTATE:1:0:cr:|AhKs").tell("MATCHSTATE:1:0:crf:|AhKs")


def one_hand_of_kuhn() -> MockDealer:
    return MockDealer("kuhn").ask("MATCHSTATE:1:0:c:|As").tell("MATCHSTATE:1:0:cc:Ks|As")


def prepares(name: str) -> bool:
    """Return whether a bot has set-up before it connects."""
    return type(make_bot(name)).prepare is not Bot.prepare


# One bot of each module, because the bots of a module have the same imports.
LIGHT = {type(make_bot(bot.name)).__module__: bot.name for bot in describe_all() if not prepares(bot.name)}


@pytest.mark.parametrize("name", LIGHT.values())
def test_playing_bot_loads_nothing_heavy(
    thread_dealer: StartDealer, program_env: dict[str, str], tmp_path: Path, name: str
) -> None:
    """The game is hold'em or Kuhn poker."""
    game = "kuhn" if make_bot(name).refusal(find_game("limit")[1]) else "limit"
    dealer = thread_dealer(one_hand_of_kuhn() if game == "kuhn" else one_hand_of_holdem())
    command = [sys.executable, "-c", PROGRAM, name, "127.0.0.1", str(dealer.port), "--game", game]
    done = subprocess.run(command, capture_output=True, text=True, env=program_env, cwd=tmp_path, timeout=PATIENCE_S)
    code, *modules = done.stdout.split()
    assert (code, done.stderr) == ("0", "")
    assert "engine" in modules
    assert not HEAVY & set(modules)


def test_main_plays(thread_dealer: StartDealer) -> None:
    dealer = thread_dealer(one_hand())
    assert main(["random?fold=0", "127.0.0.1", str(dealer.port), "--game", "leduc", "--seed", "3"]) == 0
    dealer.join()
    assert len(dealer.script.replies) == 2


@pytest.mark.parametrize(
    ("argv", "code", "sentence"),
    [
        (["calling", "localhost"], 2, "bot: PORT is missing; usage: arena bot BOT HOST PORT [--game GAME] [--seed N]"),
        (["calling", "localhost", "1", "--seed", "x"], 2, "--seed must be a whole number, not 'x'"),
        (["mfs", "h", "1", "--start", "x", "--journal", "y"], 2, "bot: mfs does not learn, so it takes no --start"),
        (["learner", "h", "1", "--start", "x"], 2, "bot: --start and --journal belong together"),
        (["learner", "h", "1", "--start", "gone", "--journal", "y"], 1, "bot: gone: it cannot be read: No such file"),
        (["shark", "localhost", "1"], 1, "bot: 'shark': there is no bot 'shark'; there are: "),
        (["calling", "localhost", "1", "--game", "chess"], 1, "chess: no such game"),
    ],
)
def test_invalid_arguments(argv: list[str], code: int, sentence: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_help(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["-h"]) == 0
    assert capfd.readouterr().out == "usage: arena bot BOT HOST PORT [--game GAME] [--seed N]\n"


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["calling"], 2), (["nobody", "127.0.0.1", "1"], 1)])
def test_exit_code_without_standard_streams(monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int) -> None:
    """Programs without a console on Windows have no streams."""
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setattr("sys.stderr", None)
    assert main(arguments) == code
