"""Matches, tournaments and resumed runs by functions of the package."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
import signal
import sys
import textwrap
import threading
import time
import types
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

import dealer
from bots.sdk.bot import Bot
from bots.sdk.view import View
from dealer.run.run import new_run
from dealer.run.run_settings import validated
from engine import Action, Game
from protocol import find_game, format_game_definition
from tests.dealer.helpers import CONNECT, PATIENCE_S, ROOT, program_env, write_program
from tests.programs import loaded_by, start

FAST: dict[str, Any] = {"deals": 40, "seed": 1, "in_process": True}
ENDLESS: dict[str, Any] = {"deals": 4_000_000, "seed": 1, "in_process": True, "seating": "single"}


@pytest.fixture(autouse=True)
def _enter_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def _without_times(result: dealer.ContestResult) -> dict[str, Any]:
    data = result.model_dump(exclude={"seconds", "hands_per_second", "folder", "resume", "dealer"})
    for player in data["players"]:
        for name in ("thinking_s", "median_us", "p99_us"):
            del player[name]
    return data


def test_play_without_a_folder_leaves_no_files(tmp_path: Path) -> None:
    result = dealer.play("kuhn", ["calling", "Bob=random"], **FAST)
    assert result.outcome is dealer.Outcome.FINISHED
    assert result.duplicates == 40
    assert result.hands_played == 80
    assert [player.name for player in result.players] == ["calling", "Bob"]
    assert result.folder is None
    assert result.resume is None
    assert list(tmp_path.iterdir()) == []
    assert pickle.loads(pickle.dumps(result)) == result


def test_play_with_a_folder_writes_the_files_of_the_command(tmp_path: Path) -> None:
    result = dealer.play("kuhn", ["calling", "random"], out="here", **FAST)
    assert json.loads((tmp_path / "here" / "result.json").read_text()) == json.loads(result.model_dump_json())
    assert {"run.toml", "match.a.log", "match.b.log"} <= {path.name for path in (tmp_path / "here").iterdir()}
    assert result.folder == "here"
    with pytest.raises(dealer.FolderTakenError):
        dealer.play("kuhn", ["calling", "random"], out="here", **FAST)


def test_bots_that_are_programs_play_over_tcp(tmp_path: Path) -> None:
    bot = write_program(tmp_path, "bob.py", CONNECT + "hello()\nfor line in f: call(line)\n")
    result = dealer.play("kuhn", [f"Bob={bot}", "calling"], deals=5, seed=1)
    assert result.outcome is dealer.Outcome.FINISHED
    assert result.hands_played == 10


def test_commands_start_in_the_configured_directory(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    write_program(tmp_path / "bots", "bob.py", CONNECT + "hello()\nfor line in f: call(line)\n")
    result = dealer.play("kuhn", [f"{sys.executable} bob.py", "calling"], deals=2, directory="bots")
    assert result.outcome is dealer.Outcome.FINISHED
    assert Path.cwd() == tmp_path


def test_progress_is_a_value_and_ends_with_all_hands() -> None:
    reports: list[dealer.Progress] = []
    dealer.play("kuhn", ["calling", "random"], on_progress=reports.append, **FAST)
    last = reports[-1]
    assert last.contests == last.contests_ended == 1
    assert last.hands == last.hands_planned == 80
    assert last.players == ("calling", "random")
    assert [progress.is_correcting for progress in reports[-2:]] == [False, True]
    assert replace(last) == last
    assert pickle.loads(pickle.dumps(last)) == last


def test_every_match_can_be_watched() -> None:
    events: list[dealer.MatchEvent] = []
    result = dealer.play("kuhn", ["A=calling", "B=random"], watch=events.append, **FAST)
    assert {(event.game, event.match, event.players) for event in events} == {
        ("kuhn.limit.2p", "match.a", ("A", "B")),
        ("kuhn.limit.2p", "match.b", ("B", "A")),
    }
    kinds = Counter(type(event.event) for event in events)
    assert kinds[dealer.HandStarted] == kinds[dealer.HandFinished] == result.hands_played == 80
    assert kinds[dealer.ActionPlayed] == sum(player.actions for player in result.players)
    assert kinds[dealer.MatchStarted] == kinds[dealer.MatchEnded] == 2
    records = [event.event.record for event in events if isinstance(event.event, dealer.HandFinished)]
    chips = sum(record.values[record.names.index("A")] for record in records)
    assert chips == result.players[0].chips
    assert pickle.loads(pickle.dumps(events)) == events


def test_matches_over_tcp_are_watched_from_the_thread_of_the_loop() -> None:
    expected: list[dealer.MatchEvent] = []
    settings: dict[str, Any] = {"deals": 3, "seed": 1, "workers": 1}
    dealer.play("kuhn", ["calling", "random"], watch=expected.append, **settings)
    events: list[dealer.MatchEvent] = []
    threads: set[threading.Thread] = set()

    def watch(event: dealer.MatchEvent) -> None:
        events.append(event)
        threads.add(threading.current_thread())

    asyncio.run(dealer.play_async("kuhn", ["calling", "random"], watch=watch, **settings))
    assert [type(event.event) for event in events] == [type(event.event) for event in expected]
    assert threads == {threading.current_thread()}


@pytest.mark.parametrize("callback", ["on_progress", "watch"])
@pytest.mark.parametrize("is_in_loop", [False, True])
def test_error_of_a_callback_is_raised_when_the_run_has_ended(tmp_path: Path, callback: str, is_in_loop: bool) -> None:
    calls: list[object] = []

    def fail(value: object) -> None:
        calls.append(value)
        raise ZeroDivisionError

    options: Any = {callback: fail, "out": "run", **FAST}

    bots = ["calling", "random"]

    def play() -> None:
        if is_in_loop:
            asyncio.run(dealer.play_async("kuhn", bots, **options))
        else:
            dealer.play("kuhn", bots, **options)

    with pytest.raises(ZeroDivisionError):
        play()
    assert len(calls) == 1
    assert (tmp_path / "run" / "match.b.log").read_text().splitlines()[-1].startswith("SCORE:")
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "finished"


def test_callback_that_is_no_function_is_refused_before_play(tmp_path: Path) -> None:
    bots = ["calling", "random"]
    no_function = cast("Any", 3)
    with pytest.raises(dealer.ConfigError, match="on_progress: must be a function, not 3"):
        dealer.play("kuhn", bots, out="run", on_progress=no_function, **FAST)
    with pytest.raises(dealer.ConfigError, match="watch: must be a function, not 3"):
        asyncio.run(dealer.play_async("kuhn", bots, out="run", watch=no_function, **FAST))
    assert list(tmp_path.iterdir()) == []


def test_games_and_folders_are_paths_or_texts(tmp_path: Path) -> None:
    game = tmp_path / "my.game"
    game.write_text(format_game_definition(find_game("limit")[1]))
    settings: Any = {"export": "phh", "histories": tmp_path / "histories", "directory": tmp_path, **FAST, "deals": 2}
    result = dealer.play(game, ["calling", "random"], out=tmp_path / "run", **settings)
    assert result.game == "my.game"
    assert [path.suffix for path in (tmp_path / "histories").iterdir()] == [".phhs", ".phhs"]
    assert isinstance(dealer.tournament([game], ["calling", "random"], **FAST | {"deals": 2}), dealer.TournamentResult)


def test_unplayable_settings_raise_specific_errors(tmp_path: Path) -> None:
    with pytest.raises(dealer.PlayerError, match="neither a built-in bot"):
        dealer.play("kuhn", ["calling", "nobody-at-all"])
    with pytest.raises(dealer.ConfigError, match="no such game") as error:
        dealer.play("chess", ["calling", "calling"])
    assert error.value.problems[0].setting == "games"
    with pytest.raises(dealer.ConfigError, match="deals: must be at least"):
        dealer.play("kuhn", ["calling", "calling"], deals=0)
    with pytest.raises(dealer.ConfigError, match=r"^games\.0: must be text, not 3$"):
        dealer.play(3, ["calling", "calling"])  # type: ignore[arg-type]
    with pytest.raises(dealer.ConfigError, match="command: it follows from the function, here play"):
        dealer.play("kuhn", ["calling", "calling"], command="tournament")
    with pytest.raises(dealer.ListenError) as raised:
        dealer.play("kuhn", ["calling", "calling"], host="192.0.2.1")
    assert raised.value.host == "192.0.2.1"
    assert list(tmp_path.iterdir()) == []


def test_tournament_has_contests_and_a_crosstable() -> None:
    result = dealer.tournament(["kuhn"], ["calling", "raising", "random"], format="gauntlet", **FAST)
    assert result.outcome is dealer.Outcome.FINISHED
    assert len(result.contests) == 2
    cell = result.standings[0].crosstable[0]
    assert cell.rate.player == cell.player
    assert cell.rate.opponent == cell.opponent
    assert cell.rate.mean == cell.won.raw.mean
    assert {contest.folder for contest in result.contests} == {None}


def test_async_functions_give_the_same_results() -> None:
    reports: list[dealer.Progress] = []
    threads: set[threading.Thread] = set()

    def on_progress(progress: dealer.Progress) -> None:
        reports.append(progress)
        threads.add(threading.current_thread())

    async def main() -> tuple[dealer.ContestResult, Any]:
        with pytest.raises(RuntimeError, match="play_async"):
            dealer.play("kuhn", ["calling", "random"], **FAST)
        with pytest.raises(RuntimeError, match="resume_async"):
            dealer.resume("nowhere")
        return await asyncio.gather(
            dealer.play_async("kuhn", ["calling", "random"], on_progress=on_progress, **FAST),
            dealer.tournament_async(["kuhn"], ["calling", "random"], **FAST),
        )

    contest, tournament = asyncio.run(main())
    assert _without_times(contest) == _without_times(dealer.play("kuhn", ["calling", "random"], **FAST))
    assert _without_times(tournament.contests[0]) == _without_times(contest)
    assert reports[-1].hands == 80
    assert threads == {threading.current_thread()}


async def test_cancelled_play_can_be_resumed(tmp_path: Path) -> None:
    has_started = asyncio.Event()

    def on_progress(progress: dealer.Progress) -> None:
        if progress.hands:
            has_started.set()

    playing = asyncio.create_task(
        dealer.play_async("kuhn", ["calling", "random"], out="run", on_progress=on_progress, **ENDLESS)
    )
    async with asyncio.timeout(PATIENCE_S):
        await has_started.wait()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "interrupted"
    resuming = asyncio.create_task(dealer.resume_async("run"))
    await asyncio.sleep(0)
    resuming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await resuming


async def test_run_interrupted_before_its_first_step_returns_a_result(tmp_path: Path) -> None:
    bots = [{"bot": "calling"}, {"bot": "random"}]
    config = validated({"games": ["kuhn"], "bots": bots, "deals": 40, "in_process": True})
    run = new_run(config, tmp_path / "run")
    playing = asyncio.create_task(run.play())
    # This callback runs after `play` has made its task, and before that task.
    asyncio.get_running_loop().call_soon(run.interrupt)
    assert (await playing).outcome is dealer.Outcome.INTERRUPTED


def test_finished_run_is_resumed_with_the_same_result() -> None:
    finished = dealer.play("kuhn", ["calling", "random"], out="run", **FAST)
    resumed = dealer.resume("run")
    assert isinstance(resumed, dealer.ContestResult)
    assert _without_times(resumed) == _without_times(finished)
    with pytest.raises(dealer.ConfigError, match="holds no run"):
        dealer.resume("nowhere")


def test_damaged_setting_of_a_run_names_its_file() -> None:
    dealer.play("kuhn", ["calling", "random"], out="run", host="127.0.0.1", **FAST)
    path = Path("run") / "run.toml"
    text = path.read_text("utf-8")
    for old, new, problem in (
        ('"calling"', '"callng"', "there is no bot 'callng'"),
        ('"kuhn.limit.2p"', '"kun"', "games: kun: no such game or file"),
        ("seed = 1", 'seed = "x"', "seed: "),
        ("deals = 40", "deals = -40", "deals: "),
        ('seating = "rotations"', 'seating = "rotation"', "seating: "),
        ("host =", "hosts =", "there is no setting 'hosts'"),
    ):
        assert old in text, text
        path.write_text(text.replace(old, new, 1), "utf-8")
        with pytest.raises(dealer.ConfigError) as raised:
            dealer.resume("run")
        assert str(raised.value).startswith(f"{path}: {problem}")


def test_folder_without_a_written_run_is_reused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.toml.new").write_text("command")
    (tmp_path / "run" / "run.lock").touch()
    dealer.play("kuhn", ["calling", "random"], out="run", **FAST)
    (tmp_path / "run" / "run.toml.new").write_text("command")
    dealer.resume("run")
    assert not [*(tmp_path / "run").glob("run.toml.new")]
    with pytest.raises(dealer.FolderTakenError):
        dealer.play("kuhn", ["calling", "random"], out="run", **FAST)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_raises_keyboard_interrupt_and_keeps_the_run(tmp_path: Path) -> None:
    code = (
        "from dealer import play\n"
        "try:\n"
        "    play('kuhn', ['calling', 'random'], deals=4_000_000, in_process=True, seating='single', out='run')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    process = start([sys.executable, "-P", "-c", code], cwd=tmp_path, env=program_env())
    try:
        until_s = time.monotonic() + PATIENCE_S
        log = tmp_path / "run" / "match.log"
        while not log.exists() or log.read_bytes().count(b"STATE:") < 100:
            assert process.poll() is None
            assert time.monotonic() < until_s
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert out == b"interrupted\n"
    assert process.wait() == 0
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "interrupted"


# ---- names of the package


@pytest.mark.parametrize("function", [dealer.play, dealer.play_async, dealer.tournament, dealer.tournament_async])
def test_settings_are_keywords_in_the_signature(function: Callable[..., Any]) -> None:
    keywords = inspect.signature(function).parameters
    assert keywords["t_response_s"].default == 600.0
    assert keywords["seating"].default is None
    assert not {"command", "settings"} & keywords.keys()


def test_all_exported_names_are_documented() -> None:
    for name in dealer.__all__:
        assert getattr(dealer, name).__doc__, name
    assert set(dealer.__all__) < set(dir(dealer))
    assert dealer.__version__[0].isdigit()
    with pytest.raises(AttributeError, match="no attribute 'chess'"):
        dealer.chess  # noqa: B018


def test_importing_the_package_loads_nothing_else() -> None:
    heavy = ["asyncio", "pydantic", "typer", "rich", "numpy", "numba", "logs", "protocol", "engine", "bots"]
    assert loaded_by("import dealer", heavy) == []


@pytest.mark.slow
def test_example_of_the_package_runs(capsys: pytest.CaptureFixture[str]) -> None:
    lines = (dealer.__doc__ or "").splitlines()
    example = textwrap.dedent("\n".join(line for line in lines if line.startswith("    ") or not line))
    exec(example, {})
    assert "\nraising over random +1,315 ± 883 mbb/g\n" in capsys.readouterr().out


# ---- bots as classes and objects


class Mine(Bot):
    """Bot that calls, or raises with `raises`, and counts its actions of one match."""

    def __init__(self, seed: int | None = None, *, raises: bool = False) -> None:
        self.seed = seed
        self.raises = raises
        self.calls = 0

    def hand_started(self, view: View) -> None:
        assert self.calls == 0 or view.hand_number > 0, "an object must be copied for every match"

    def act(self, view: View) -> Action:
        self.calls += 1
        return view.raise_min() if self.raises and view.can_raise else view.call()


class NoBot:
    pass


def test_classes_and_objects_play_in_this_process(tmp_path: Path) -> None:
    options: dict[str, Any] = {"deals": 40, "seed": 1}
    mine = Mine(raises=True)
    result = dealer.play("limit", [mine, Mine], out="objects", **options)
    assert [(player.name, player.player) for player in result.players] == [
        ("Mine", "<Mine>"),
        ("Mine#2", f"{__name__}:Mine"),
    ]
    assert mine.calls == 0
    dealer.play("limit", ["Mine=raising", "B=calling"], out="names", in_process=True, **options)
    for name in ("match.a.log", "match.b.log"):
        log = (tmp_path / "objects" / name).read_text()
        assert log.replace("Mine#2", "B") == (tmp_path / "names" / name).read_text()


def test_object_plays_from_a_table_and_in_a_tournament() -> None:
    bots: list[Any] = [{"bot": Mine(), "t_response_s": 2.0}, "calling", Mine]
    result = dealer.tournament(["kuhn"], bots, deals=5, seed=1)
    assert result.players == ["Mine", "calling", "Mine#2"]
    assert result.outcome is dealer.Outcome.FINISHED


def test_class_gets_the_seed_of_its_match() -> None:
    seeds: list[int | None] = []

    class Seeded(Mine):
        def prepare(self, game: Game) -> None:
            seeds.append(self.seed)

    dealer.play("kuhn", [Seeded, "random"], deals=2, seed=1)
    assert len(set(seeds)) == 2
    assert None not in seeds


def test_run_of_objects_is_resumed_with_them() -> None:
    bots: list[Any] = [Mine(), "random"]
    dealer.play("kuhn", bots, out="run", deals=10, seed=1)
    with pytest.raises(dealer.PlayerError, match=r"Mine is a class or an object .* dealer\.resume\(FOLDER, bots="):
        dealer.resume("run", deals=20)
    with pytest.raises(dealer.ConfigError, match="bots: the run in run has other players: <Mine>, random"):
        dealer.resume("run", deals=20, bots=["random", Mine()])
    longer = dealer.resume("run", deals=20, bots=bots)
    whole = dealer.play("kuhn", bots, deals=20, seed=1)
    assert isinstance(longer, dealer.ContestResult)
    assert longer.hands_played == 40
    assert longer.players[0].chips == whole.players[0].chips


class Holder(Mine):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


@pytest.mark.parametrize(
    ("bots", "options", "words"),
    [
        ([NoBot, "random"], {}, "bots: NoBot is a class, but not of a bot: derive it from bots.Bot"),
        ([3, "random"], {}, "bots.0: must be text, a table, a class or an object of a bot, not 3"),
        (Mine, {}, "bots: must be a list with a player per seat, not <class"),
        ([Bot, "random"], {}, "'Bot': Bot cannot be made: TypeError: Can't instantiate abstract class Bot"),
        (
            [Mine(), "random"],
            {"in_process": False},
            "in_process: <Mine> cannot play over TCP, because a class or an object plays in the process that has it",
        ),
        (
            [Holder(), "random"],
            {},
            "'Holder': the object cannot be copied, and each match has its own: TypeError: .*; pass the class",
        ),
    ],
)
def test_objects_that_are_no_bots_are_refused(bots: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(dealer.ConfigError, match=f"^{words}"):
        dealer.play("kuhn", bots, deals=2, **options)


# ---- notebooks


def test_result_is_a_table_in_a_notebook() -> None:
    result = dealer.play("kuhn", ["A=calling", "B=random"], deals=120, seed=1, in_process=True)
    html = result._repr_html_()
    assert html.startswith(f"<p>{result.sentence}</p><table>")
    assert "<th>player</th><th>mbb/g ± 95 %</th><th>chips</th><th>faults</th>" in html
    rate = result.rate()
    assert rate is not None
    assert f"<tr><th>A</th><td>{rate.mean:+,.1f} ± {rate.half_width:,.1f}</td>" in html
    tournament = dealer.tournament(["kuhn", "leduc"], ["A=calling", "B=random"], deals=5, seed=1, in_process=True)
    html = tournament._repr_html_()
    assert html.count("<table>") == 2
    assert "<caption>leduc.limit.2p: mbb/g of row against column, ± 95 %</caption>" in html
    hostile = result.model_copy(update={"sentence": "<script>"})
    assert hostile._repr_html_().startswith("<p>&lt;script&gt;</p>")


def test_result_as_a_frame_has_a_row_per_player_and_per_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = types.ModuleType("pandas")
    monkeypatch.setattr(pandas, "DataFrame", list, raising=False)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    result = dealer.play("kuhn", ["A=calling", "B=random"], **FAST)
    rows = result.to_frame()
    assert [(row["name"], row["chips"], row["faults"]) for row in rows] == [
        (player.name, player.chips, 0) for player in result.players
    ]
    tournament = dealer.tournament(["kuhn"], ["A=calling", "B=random"], **FAST)
    assert [(row["game"], row["player"], row["opponent"]) for row in tournament.to_frame()] == [
        ("kuhn.limit.2p", "A", "B"),
        ("kuhn.limit.2p", "B", "A"),
    ]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_frame\(\) needs pandas, which is not installed: pip install pandas$"):
        result.to_frame()


def test_output_of_bots_in_process_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Talker(Mine):
        def act(self, view: View) -> Action:
            print("act", view.hand_number)
            print("aside", file=sys.stderr)
            return super().act(view)

    def show(event: dealer.MatchEvent) -> None:
        print("ours")

    stdout = sys.stdout
    dealer.play("kuhn", [Talker, "calling"], deals=2, seed=1, seating="single", out="run", watch=show)
    assert sys.stdout is stdout
    out, err = capsys.readouterr()
    assert {"act 0", "act 1", "ours"} == set(out.splitlines())
    assert set(err.splitlines()) == {"aside"}
    output = (tmp_path / "run" / "match.seat1.Talker.out").read_text()
    assert output == "act 0\naside\nact 1\naside\n"
