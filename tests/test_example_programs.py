"""Programs in examples/, without the bots that `tests/bots/test_examples.py` tests."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.optimize import linprog

from bots import Action, Bot, View, self_play
from bots.sdk.program import RemoteBot
from bots.sdk.registry import make_bot
from dealer import play
from logs.hand_source import find
from protocol import find_game
from protocol.match_state import betting_after, parse_match_state
from tests.outside import require, require_compiler
from tests.programs import PATIENCE_S, ROOT
from tests.scripts import script

EXAMPLES = ROOT / "examples"


def load(name: str) -> ModuleType:
    return script(f"examples/{name}.py")


# ---- clients in other languages


class Twin(Bot):
    """Strategy of the clients in C, Go, Rust and Java."""

    def act(self, view: View) -> Action:
        ranks = view.hole_text[::2]
        is_strong = "A" in ranks or len(ranks) != len(set(ranks))
        if is_strong and view.can_raise and view.raises_this_round < 2:
            return view.raise_by_pot(1.0)
        if not is_strong and view.can_fold and 2 * view.to_call >= view.pot:
            return view.fold()
        return view.call()


def client_command(language: str, folder: Path) -> list[str]:
    """Compile a client and return the command that runs it; skip the test without the compiler."""
    program = str(folder / "client")
    if language == "c":
        source = str(EXAMPLES / "nolimit_bot.c")
        compiler = [require_compiler(), "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-o", program, source]
    elif language == "go":
        compiler = [require("go"), "build", "-o", program, str(EXAMPLES / "client.go")]
    elif language == "rust":
        compiler = [require("rustc"), "-D", "warnings", "-o", program, str(EXAMPLES / "client.rs")]
    else:
        compiler = [require("javac"), "-Xlint:all", "-Werror", "-d", str(folder), str(EXAMPLES / "Client.java")]
    compiled = subprocess.run(compiler, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert compiled.returncode == 0, compiled.stderr
    if language == "java":
        return [require("java"), "-cp", str(folder), "Client"]
    return [program]


@pytest.mark.parametrize(
    "language", ["c", *(pytest.param(name, marks=pytest.mark.slow) for name in ("go", "rust", "java"))]
)
def test_client_plays_as_its_twin_in_python(language: str, tmp_path: Path) -> None:
    """Self-play rejects illegal actions, so the client's actions are also legal."""
    command = client_command(language, tmp_path)
    for game, opponent in [
        ("nolimit", "random"),
        ("nolimit", "raising"),
        ("limit", "random"),
        ("leduc-nolimit", "random"),
        ("kuhn", "random"),
        (str(EXAMPLES / "custom.game"), "random"),
    ]:
        with RemoteBot(command, game) as client:
            played = list(self_play(game, [client, make_bot(opponent, 1)], deals=40, seed=3))
        expected = list(self_play(game, [Twin(), make_bot(opponent, 1)], deals=40, seed=3))
        assert [record.betting.rounds for record in played] == [record.betting.rounds for record in expected]
        assert len({str(record.betting.rounds) for record in played}) > 3, "the hands differ"


@pytest.mark.parametrize("language", ["c", *(pytest.param(name, marks=pytest.mark.slow) for name in ("go", "rust"))])
def test_client_refuses_games_of_three_players(language: str, tmp_path: Path) -> None:
    game = tmp_path / "three.game"
    game.write_text("GAMEDEF\nnumPlayers = 3\nblind = 1 2 0\nEND GAMEDEF\n")
    command = [*client_command(language, tmp_path), "127.0.0.1", "1"]
    client = subprocess.run(command, env={"ARENA_GAME": str(game)}, capture_output=True, text=True, check=False)
    assert client.returncode != 0
    assert "for two players" in client.stderr


# ---- bots in Python


def play_hands(folder: Path, *bots: str, deals: int, game: str = "limit") -> Path:
    """Play a match and return the folder of its run."""
    play(
        game, list(bots), deals=deals, seed=1, in_process=True, score="raw", export=("none",), out=str(folder / "data")
    )
    return folder / "data"


def test_model_recognises_winners_and_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = load("model_bot")
    data = play_hands(tmp_path, "calling", "calling", deals=100)
    program.main(str(data), str(tmp_path / "model.npz"))
    count, share = capsys.readouterr().out.split(" examples, ")
    # Two players, four streets, and both seatings of 100 deals, all of which end by showdown.
    assert count == "1,600"
    # Guessing recognises half of the winners, with a standard error of at most 2 % over the 400 decided hands.
    assert int(share.split("%")[0]) > 60
    bot = program.ModelBot(str(tmp_path / "model.npz"))
    aces = program.features((50, 51), ()) @ bot.weights
    low_cards = program.features((0, 21), ()) @ bot.weights
    assert aces > low_cards
    records = list(self_play("limit", [bot, make_bot("random", 1)], deals=5, seed=2))
    assert len(records) == 10
    assert bot.refusal(find_game("kuhn")[1]) == "the model knows games with two hole cards"


def test_gradient_descent_finds_the_weights_that_made_the_targets() -> None:
    draws = np.random.default_rng(1)
    inputs = np.column_stack([np.ones(4000), draws.normal(size=(4000, 2))])
    chances = 1 / (1 + np.exp(-inputs @ [0.5, 1.0, -2.0]))
    weights = load("model_bot").train(inputs, (draws.random(4000) < chances).astype(float), steps=300)
    assert weights == pytest.approx([0.5, 1.0, -2.0], abs=0.2)


@pytest.mark.parametrize(("opponent", "min_rate", "max_rate"), [("folding", 0.8, 1.0), ("calling", 0.0, 0.1)])
def test_learning_bot_counts_the_folds(opponent: str, min_rate: float, max_rate: float) -> None:
    bot = load("learning_bot").LearningBot(seed=1)
    list(self_play("limit", [bot, make_bot(opponent, 1)], deals=60, seed=5, seating="single"))
    assert min_rate <= bot.fold_rate <= max_rate


class Model(BaseHTTPRequestHandler):
    """Endpoint that replies to each prompt with the next answer; an empty answer is an error 500."""

    answers: ClassVar[list[str]] = []
    prompts: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.prompts.append(body["messages"][-1]["content"])
        answer = self.answers.pop(0)
        self.send_response(200 if answer else 500)
        self.end_headers()
        self.wfile.write(json.dumps({"choices": [{"message": {"content": answer}}]}).encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def model_endpoint(answers: list[str]) -> Iterator[str]:
    Model.answers = answers
    Model.prompts = []
    with HTTPServer(("127.0.0.1", 0), Model) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join()


def test_language_model_bot_plays_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    game = find_game("nolimit")[1]
    text = "MATCHSTATE:0:0:r300:9hQd|"
    answers = ["I think.\nACTION: raise 900", "ACTION: Raise to 1", "ACTION: call", "ACTION: fold", "well", ""]
    with model_endpoint(answers) as url:
        monkeypatch.setenv("LLM_URL", url)
        monkeypatch.setenv("LLM_MODEL", "m")
        bot = load("language_model_bot").LanguageModelBot()
        view = View.from_state(parse_match_state(text, game), betting_after(game, "r300"))
        actions = [bot.act(view) for _ in range(6)]
    # A size below the minimum becomes the minimum. An answer without an action and an error are folds.
    assert actions == [view.raise_to(900), view.raise_to(500), view.call(), view.fold(), view.fold(), view.fold()]
    assert "Your cards: 9hQd. Board: none. Pot: 400. To call: 200." in Model.prompts[0]
    assert "You may raise to 500 up to 20000." in Model.prompts[0]


# ---- matches and logs


def test_hands_become_a_data_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    hands = load("match_with_pandas").main(deals=20)
    assert len(hands) == 80
    assert hands["big_blinds"].sum() == 0
    assert pandas.read_csv("hands.csv")["big_blinds"].sum() == 0


@pytest.mark.parametrize(
    ("bots", "code"), [(["calling", "folding"], 0), (["folding", "calling"], 1), (["calling", "Same=calling"], 3)]
)
def test_tournament_in_a_build_exits_with_the_verdict(
    bots: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = load("tournament_in_ci")
    deals = 4 if code == 3 else 100  # an interval needs 100
    assert program.main(bots, deals=deals, in_process=True, score="raw", on_fault="end") == code
    (case,) = ElementTree.parse("junit.xml").getroot()
    assert (case.find("failure") is not None) == (code == 1)


def test_logs_are_converted(tmp_path: Path) -> None:
    data = play_hands(tmp_path, "calling", "random", deals=5)
    assert load("convert_acpc_logs").main(str(data), str(tmp_path / "out")) == 10
    lines = (tmp_path / "out" / "hands.csv").read_text().splitlines()
    assert len(lines) == 11
    assert "STATE:0:" in lines[1]
    exported = find([tmp_path / "out" / "pokerstars"]).hands()
    played = find([data]).hands()
    assert [record.betting.rounds for record in exported] == [record.betting.rounds for record in played]


def kuhn_value(num_cards: int) -> float:
    """Value of Kuhn poker for the first player, by linear programming over all pure strategies."""

    def payoff(card: int, plan: str, other: int, answers: tuple[str, str]) -> int:
        sign = 1 if card > other else -1
        if plan == "bet":
            return 1 if answers[0] == "fold" else 2 * sign
        if answers[1] == "check":
            return sign
        return -1 if plan == "check-fold" else 2 * sign

    cards = range(num_cards)
    second = list(product(product(("fold", "call"), ("check", "bet")), repeat=num_cards))
    rows = []
    for plans in product(("bet", "check-fold", "check-call"), repeat=num_cards):
        by_card = {
            (other, answers): sum(payoff(card, plans[card], other, answers) for card in cards if card != other)
            for other in cards
            for answers in product(("fold", "call"), ("check", "bet"))
        }
        rows.append([sum(by_card[other, strategy[other]] for other in cards) for strategy in second])
    matrix = np.array(rows) / (num_cards * (num_cards - 1))
    # Maximise v with p @ matrix >= v in every column, where p is a distribution.
    solved = linprog(
        [*[0.0] * len(matrix), -1.0],
        A_ub=np.column_stack([-matrix.T, np.ones(matrix.shape[1])]),
        b_ub=np.zeros(matrix.shape[1]),
        A_eq=[[*[1.0] * len(matrix), 0.0]],
        b_eq=[1.0],
        bounds=[*[(0, None)] * len(matrix), (None, None)],
    )
    return float(-solved.fun)


def test_custom_game_is_solved(capsys: pytest.CaptureFixture[str]) -> None:
    assert kuhn_value(3) == pytest.approx(-1 / 18)
    value = load("custom_game").main(deals=2)
    assert f"{value:+.6f} chips per hand" in capsys.readouterr().out
    assert value == pytest.approx(kuhn_value(4))


def test_program_without_arguments_prints_its_usage() -> None:
    program = subprocess.run(
        [sys.executable, str(EXAMPLES / "convert_acpc_logs.py")], capture_output=True, text=True, check=False
    )
    assert program.returncode == 1
    assert program.stderr.startswith("usage: ")


def test_list_has_every_example() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    missing = [
        path.name
        for path in EXAMPLES.iterdir()
        if path.is_file() and path.suffix != ".md" and f"`{path.name}`" not in text
    ]
    assert missing == []
