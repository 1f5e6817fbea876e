"""Examples and snippets of the documentation, run."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bots
from bots.sdk.program import RemoteBot
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.sdk.testing import MockDealer, serve_script
from tests.outside import needs, require_compiler
from tests.programs import PATIENCE_S


def code_blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def limit_script() -> MockDealer:
    """Script two hands of limit hold'em: an ace and king in the big blind, then seven-two on the button."""
    first = MockDealer("limit").tell("MATCHSTATE:0:0::AhKs|").ask("MATCHSTATE:0:0:c:AhKs|")
    first.tell("MATCHSTATE:0:0:cr:AhKs|").ask("MATCHSTATE:0:0:crc/:AhKs|/AcKd4h")
    first.tell("MATCHSTATE:0:0:crc/rf:AhKs|/AcKd4h")
    return first.ask("MATCHSTATE:1:1::|2c7d").tell("MATCHSTATE:1:1:c:|2c7d").tell("MATCHSTATE:1:1:cc/:|2c7d/AcQdJs")


def run_example(root: Path, name: str, env: dict[str, str]) -> list[str]:
    script = limit_script()
    result = serve_script(script, [sys.executable, root / "examples" / name], timeout_s=PATIENCE_S, env=env)
    assert result.exit_code == 0
    return script.replies


def test_minimal_bot(root: Path, program_env: dict[str, str]) -> None:
    assert run_example(root, "minimal_bot.py", program_env) == ["c", "r", "c"]
    lines = (root / "examples" / "minimal_bot.py").read_text().splitlines()
    assert sum(bool(line.strip()) for line in lines) < 15


def test_pot_odds_bot(root: Path, program_env: dict[str, str]) -> None:
    script = limit_script()
    command = [sys.executable, root / "examples" / "pot_odds_bot.py"]
    assert serve_script(script, command, timeout_s=PATIENCE_S, env=program_env).exit_code == 0
    assert script.replies == ["c", "r", "c"]
    assert script.comments == [
        b"# preflop: HIGH_CARD, chance 30%, odds 0%\r\n",
        b"# flop: TWO_PAIR, chance 75%, odds 0%\r\n",
        b"# +20 chips after 1 hands\r\n",
        b"# preflop: HIGH_CARD, chance 30%, odds 25%\r\n",
    ]


def test_snippet_of_the_package(tmp_path: Path, program_env: dict[str, str]) -> None:
    """Run the docstring's example with the line that makes it a program."""
    assert bots.__doc__ is not None
    examples = [example.source for example in doctest.DocTestParser().get_examples(bots.__doc__)]
    shown = [source for source in examples if source.startswith(("from bots import", "class"))]
    path = tmp_path / "my_bot.py"
    path.write_text("".join([*shown, "from bots import run\n", "run(PairRaiser())\n"]))
    assert len(path.read_text().splitlines()) < 15
    script = limit_script()
    assert serve_script(script, [sys.executable, path], timeout_s=PATIENCE_S, env=program_env) == (
        0,
        "bot: the dealer closed the connection in the middle of hand 1\n",
    )
    assert script.replies == ["c", "r", "c"]  # raises on the flop with a pair of aces


@pytest.mark.sampled
@needs("node")
@pytest.mark.parametrize(
    ("game", "others", "hands"),
    [
        ("nolimit", ["random"], 60),
        ("nolimit", ["raising"], 100),
        ("nolimit3", ["random", "raising"], 100),
        ("sidepots.nolimit.3p.game", ["random", "random"], 100),
        ("limit3", ["raising", "random"], 50),
        ("leduc-nolimit", ["random"], 30),
    ],
)
def test_client_in_javascript(
    root: Path, program_env: dict[str, str], game: str, others: list[str], hands: int
) -> None:
    """The client is written from the pages connect-a-bot and game-files alone; an illegal action is an error."""
    path = root / "tests" / "conformance" / "data" / "games" / game
    played = str(path) if path.exists() else game
    with RemoteBot(["node", str(root / "examples" / "client.js")], played, environment=program_env) as bot:
        players = [bot, *(make_bot(name, seed) for seed, name in enumerate(others))]
        assert sum(1 for _ in self_play(played, players, deals=hands, seating="single")) == hands


WINSOCK = """
#define _POSIX_C_SOURCE 200112L
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
typedef int SOCKET;
typedef struct { int version; } WSADATA;
#define INVALID_SOCKET (-1)
#define MAKEWORD(low, high) ((high) << 8 | (low))
#define closesocket close
static int WSAStartup(int version, WSADATA *about) { about->version = version; return 0; }
"""
"""Windows headers for the client, emulated with POSIX."""


@pytest.fixture(scope="module", params=["posix", "winsock"])
def c_client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = require_compiler()
    folder = tmp_path_factory.mktemp("c")
    program = folder / "client"
    source = Path(__file__).resolve().parents[2] / "examples" / "client.c"
    command = [compiler, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-o", str(program), str(source)]
    if request.param == "winsock":
        (folder / "winsock2.h").write_text(WINSOCK)
        (folder / "ws2tcpip.h").touch()
        command += ["-D_WIN32", f"-I{folder}"]
    compiled = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert compiled.returncode == 0, compiled.stderr
    return program


@pytest.mark.parametrize("chunk_bytes", [None, 1])
def test_c_client(c_client: Path, chunk_bytes: int | None) -> None:
    script = limit_script()
    assert serve_script(script, [c_client], timeout_s=PATIENCE_S, chunk_bytes=chunk_bytes) == (0, "")
    assert script.replies == ["r", "r", "c"]


def test_c_client_detects_its_turn(c_client: Path) -> None:
    """In a hand to the river with the lower seat, then a showdown, it is asked exactly when the rules say."""
    flop, turn, river = "/2c7d9h", "/2c7d9h/3c", "/2c7d9h/3c/4s"
    script = MockDealer("limit").ask("MATCHSTATE:1:8::|QdQs", "r").tell("MATCHSTATE:1:8:r:|QdQs")
    script.ask("MATCHSTATE:1:8:rr:|QdQs", "c").tell(f"MATCHSTATE:1:8:rrc/:|QdQs{flop}")
    script.ask(f"MATCHSTATE:1:8:rrc/c:|QdQs{flop}", "r").tell(f"MATCHSTATE:1:8:rrc/cr:|QdQs{flop}")
    script.tell(f"MATCHSTATE:1:8:rrc/crc/:|QdQs{turn}").ask(f"MATCHSTATE:1:8:rrc/crc/r:|QdQs{turn}", "r")
    script.tell(f"MATCHSTATE:1:8:rrc/crc/rrc/:|QdQs{river}").ask(f"MATCHSTATE:1:8:rrc/crc/rrc/c:|QdQs{river}", "r")
    script.tell(f"MATCHSTATE:1:8:rrc/crc/rrc/crc:JhTh|QdQs{river}")
    script.tell("MATCHSTATE:0:9::3c2d|").tell("MATCHSTATE:0:9:f:3c2d|").ask("MATCHSTATE:1:10::|3c2d", "c")
    assert serve_script(script, [c_client], timeout_s=PATIENCE_S) == (0, "")


def test_c_client_complains(c_client: Path) -> None:
    assert subprocess.run([c_client], capture_output=True, timeout=PATIENCE_S).returncode == 2
    with pytest.raises(AssertionError, match=r"not a state of a two-player game: MATCHSTATE:2:0"):
        serve_script(MockDealer("limit3").ask("MATCHSTATE:2:0::||AhAd"), [c_client], timeout_s=PATIENCE_S)


def test_python_bot_of_the_guide(root: Path, tmp_path: Path, program_env: dict[str, str]) -> None:
    guide = (root / "docs" / "python-sdk.md").read_text(encoding="utf-8")
    bot, test = code_blocks(guide, "python")
    assert len(bot.splitlines()) < 15
    (tmp_path / "my_bot.py").write_text(bot)
    (tmp_path / "test_my_bot.py").write_text(test)
    script = limit_script()
    serve_script(script, [sys.executable, tmp_path / "my_bot.py"], timeout_s=PATIENCE_S, env=program_env)
    assert script.replies == ["c", "r", "c"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_bot.py"]
    env = program_env | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout


def test_conversation_of_the_guide(root: Path) -> None:
    """Run the guide's printed dialogue with a bot that sends the printed messages."""
    guide = (root / "docs" / "protocol.md").read_text(encoding="utf-8")
    conversation = [line.split(maxsplit=1) for line in code_blocks(guide, "text")[0].splitlines() if line]
    assert conversation[0] == ["bot", "VERSION:2.0.0"]
    assert {speaker for speaker, _ in conversation} == {"bot", "dealer"}
    script = MockDealer("nolimit")
    from_bot = [text for speaker, text in conversation if speaker == "bot"]
    for index, (speaker, text) in enumerate(conversation):
        if speaker == "dealer":
            asks = index + 1 < len(conversation) and conversation[index + 1][0] == "bot"
            (script.ask if asks else script.tell)(text)
    for text in from_bot:
        script.receive(text.encode() + b"\r\n")
    script.assert_done()
    assert [text.rsplit(":", 1)[1] for text in from_bot if text.startswith("MATCHSTATE")] == script.replies
