"""Programs as bots: same questions and answers as with a dealer, and a typed error for each fault."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from bots import Bot, BotsError, Game, View
from bots.errors import BotExited, BotFailure, BotTimeout, RemoteBotError
from bots.sdk.program import RemoteBot
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from engine import CALL, Hand, Position, betting_start, deal_hand, deals
from protocol import find_game
from tests.programs import PATIENCE_S, wait_for_exit

PEER = """
import os, socket, sys
connection = socket.create_connection((sys.argv[-2], int(sys.argv[-1])))
lines = connection.makefile("rb")
def say(data):
    connection.sendall(data)
def ask():
    return lines.readline().rstrip()
"""
"""First lines of the programs."""

HELLO = 'say(b"VERSION:2.0.0\\r\\n")\n'

Start = Callable[..., RemoteBot]


@pytest.fixture
def start(tmp_path: Path, program_env: dict[str, str]) -> Iterator[Start]:
    """Return a function that starts a program from code or a bot's name; the test ends all of them."""
    started: list[RemoteBot] = []

    def start(code: str = "", *, name: str = "", game: str = "kuhn", **options: float) -> RemoteBot:
        path = tmp_path / "peer.py"
        path.write_text(PEER + code)
        command = ["-P", "-m", "bots.sdk.builtin", name] if name else [str(path)]
        options = {"connect_timeout_s": PATIENCE_S, "reply_timeout_s": PATIENCE_S} | options
        started.append(RemoteBot([sys.executable, *command], game, environment=program_env, **options))
        return started[-1]

    yield start
    for bot in started:
        bot.close()


def view_at(game: str, position: int, number: int = 0) -> View:
    """Return the first state of a hand, seen by a position."""
    rules = find_game(game)[1]
    return View.from_hand(Hand(rules, deal_hand(rules, 1, number)), Position(position), number)


def play(game: Game, players: Sequence[Bot], numbers: Sequence[int]) -> list[tuple[object, ...]]:
    """Play hands and return their actions."""
    done: list[tuple[object, ...]] = []
    for turn, number in enumerate(numbers):
        hand = Hand(game, deal_hand(game, 5, number))
        seats = [(position + turn) % len(players) for position in range(len(players))]
        for position, seat in enumerate(seats):
            players[seat].hand_started(View.from_hand(hand, Position(position), number))
        while not hand.finished:
            position = hand.acting_position
            hand.apply(players[seats[position]].act(View.from_hand(hand, position, number)))
        for position, seat in enumerate(seats):
            players[seat].hand_finished(View.from_hand(hand, Position(position), number))
        done.append((number, hand.betting.rounds, tuple(hand.values())))
    return done


@pytest.mark.parametrize("game", ["leduc", "nolimit3"])
def test_program_plays_as_the_bot_in_this_process(start: Start, game: str) -> None:
    rules = find_game(game)[1]
    others = [make_bot("random", seed) for seed in range(1, rules.num_players)]
    remote = start(name="random?seed=7", game=game)
    assert play(rules, [remote, *others], range(10)) == play(rules, [make_bot("random", 7), *others], range(10))


def test_self_play_ends_the_program(start: Start) -> None:
    """The match has every rotation and repeated hand numbers; its end ends the program."""
    remote = start(name="raising", game="leduc")
    seen, expected = (
        [(record.betting.rounds, record.values) for record in self_play("leduc", players, deals=5, seed=3)]
        for players in ([remote, make_bot("calling")], [make_bot("raising"), make_bot("calling")])
    )
    assert seen == expected
    with pytest.raises(RemoteBotError, match="it has been closed"):
        remote.act(view_at("leduc", 0))


def test_exit_of_a_program_fails_self_play(start: Start) -> None:
    bot = start(HELLO + "ask()\nsys.exit(3)\n", game="leduc", leave_timeout_s=PATIENCE_S)
    with pytest.raises(BotFailure, match=r"BotExited: .* ended with exit code 3") as caught:
        list(self_play("leduc", [bot, make_bot("calling")], deals=5))
    assert isinstance(caught.value.__cause__, BotExited)


def test_every_state_is_sent_once_in_order(start: Start, tmp_path: Path) -> None:
    """States after the program's fold and repeated hand numbers are included."""
    heard = tmp_path / "heard"
    code = f"""
from bots import Bot

class Folder(Bot):
    def act(self, view):
        return view.nearest_legal(view.fold())

from bots.sdk.conversation import Conversation
from protocol import find_game
talk = Conversation(Folder(), find_game("kuhn3")[1])
say(talk.open())
with open({str(heard)!r}, "wb") as file:
    for line in lines:
        file.write(line)
        file.flush()
        say(talk.receive_data(line))
"""
    game = find_game("kuhn3")[1]
    bot = start(code, game="kuhn3")
    records = play(game, [bot, make_bot("raising"), make_bot("calling")], [0, 0, 5])
    bot.close()
    lines = heard.read_text().splitlines()
    by_hand = [[line.split(":")[3] for line in lines if line.split(":")[2] == number] for number in ("0", "1", "5")]
    for told, (_, rounds, _) in zip(by_hand, records, strict=True):
        assert isinstance(rounds, tuple)
        whole = "".join("fcr"[action.kind] for actions in rounds for _, action in actions)
        assert told == [whole[:end] for end in range(len(whole) + 1)]


def test_comments_are_passed_on(start: Start) -> None:
    bot = start(HELLO + 'line = ask()\nsay(b"# a thought\\r\\n" + line + b":c\\r\\n")\nask()\n')
    view = view_at("kuhn", 0)
    assert bot.act(view) == CALL
    assert view.comments == [b"# a thought\r\n"]


def test_other_lines_than_replies_are_ignored(start: Start) -> None:
    bot = start(HELLO + 'line = ask()\nsay(b"junk\\r\\nMATCHSTATE:0:9::Ks|:c\\r\\n" + line + b":c\\r\\n")\nask()\n')
    assert bot.act(view_at("kuhn", 0)) == CALL


# ---- faults


def test_reply_without_an_action_is_an_error(start: Start) -> None:
    bot = start(HELLO + 'say(ask() + b":x\\r\\n")\nask()\n')
    with pytest.raises(RemoteBotError, match=r"its answer b'MATCHSTATE:0:0::\w+\|:x\\r\\n' holds no action$") as first:
        bot.act(view_at("kuhn", 0))
    with pytest.raises(RemoteBotError) as second:
        bot.act(view_at("kuhn", 0))
    assert second.value is first.value


def test_exit_of_a_program_fails_the_question(start: Start) -> None:
    bot = start(HELLO + 'print("no more", flush=True)\nask()\nsys.exit(3)\n', leave_timeout_s=PATIENCE_S)
    with pytest.raises(BotExited) as caught:
        bot.act(view_at("kuhn", 0))
    assert (caught.value.exit_code, caught.value.last_lines) == (3, ("no more",))
    assert str(caught.value).endswith(": it ended with exit code 3; its last output was: no more")
    assert isinstance(caught.value, BotsError)


def test_closed_connection_is_an_error(start: Start) -> None:
    bot = start(HELLO + "lines.close()\nconnection.close()\nimport time\ntime.sleep(600)\n", leave_timeout_s=0.1)
    with pytest.raises(BotExited, match=r"it closed the connection$") as caught:
        bot.act(view_at("kuhn", 0))
    assert caught.value.exit_code is None


def test_silent_program_times_out(start: Start) -> None:
    bot = start(HELLO + "ask()\nask()\n", reply_timeout_s=0.05)
    with pytest.raises(BotTimeout, match=r"it did not answer within 0\.05 s") as caught:
        bot.act(view_at("kuhn", 0))
    assert caught.value.timeout_s == 0.05


def test_endless_comments_time_out(start: Start) -> None:
    bot = start(HELLO + 'ask()\nwhile True:\n    say(b"# blah\\r\\n" * 1000)\n', reply_timeout_s=0.05)
    with pytest.raises(BotTimeout):
        bot.act(view_at("kuhn", 0))


@pytest.mark.parametrize(
    ("code", "error", "sentence"),
    [
        ("import sys; sys.exit('no idea')", BotExited, "it ended with exit code 1; its last output was: no idea"),
        ("import time; time.sleep(600)", BotTimeout, "it did not connect within 0.2 s"),
    ],
)
def test_program_that_does_not_connect_is_an_error(code: str, error: type[RemoteBotError], sentence: str) -> None:
    timeout_s = 0.2 if error is BotTimeout else PATIENCE_S
    with pytest.raises(error) as caught:
        RemoteBot([sys.executable, "-c", code], "kuhn", connect_timeout_s=timeout_s)
    assert str(caught.value).endswith(sentence)


@pytest.mark.parametrize(
    ("code", "timeout_s", "sentence"),
    [
        (
            'say(b"HELLO\\n")\nask()\n',
            PATIENCE_S,
            "the first line must be the version, as in b'VERSION:2.0.0\\r\\n', not b'HELLO\\n'",
        ),
        # It has to connect within that time, even if Python starts slowly.
        ("ask()\n", 3.0, "it did not name its version within 3 s"),
    ],
)
def test_first_line_must_be_the_version(start: Start, code: str, timeout_s: float, sentence: str) -> None:
    with pytest.raises(RemoteBotError) as caught:
        start(code, connect_timeout_s=timeout_s)
    assert sentence in str(caught.value)


def test_missing_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        RemoteBot([str(tmp_path / "nothing")], "kuhn")


def test_closed_bot_leaves_no_process_and_no_file(start: Start) -> None:
    code = (
        f"{HELLO}import subprocess\nprint(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).pid)"
    )
    with start(code + "\nsys.stdout.flush()\nask()\n", leave_timeout_s=0.2) as bot:
        until = time.monotonic() + PATIENCE_S
        while not (lines := bot._program.last_lines()):
            assert time.monotonic() < until
            time.sleep(0.01)
    bot.close()
    with pytest.raises(RemoteBotError, match="it has been closed"):
        bot.act(view_at("kuhn", 0))
    assert wait_for_exit(int(lines[-1]))
    assert not bot._program.output_path.parent.exists()


def test_importing_the_sdk_starts_nothing_heavy() -> None:
    code = "import sys, bots; print({'psutil', 'subprocess', 'bots.sdk.program', 'numpy', 'logs'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.stdout == "set()\n"


def test_program_receives_the_game(start: Start, tmp_path: Path) -> None:
    rules = find_game("leduc")[1]
    bot = start(name="calling", game="leduc")
    assert bot.game == rules
    view = View.from_hand(Hand(rules, next(deals(rules, 1))), betting_start(rules).acting_position)
    # The same state can be asked again.
    assert [bot.act(view), bot.act(view)] == [CALL, CALL]
