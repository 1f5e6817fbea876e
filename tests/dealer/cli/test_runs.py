"""``arena runs``, ``arena show``, the name ``last``, completion and defaults of a user."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dealer.reports.run_lists import ListedRun, runs_document, runs_table
from logs.document import Table
from logs.document.terminal import table_lines
from logs.estimation import Rate
from tests.dealer.cli.conftest import Arena

_STATES = ("finished", "killed", "unreadable")
KUHN = ("play", "kuhn", "calling", "raising", "--in-process", "-q")


def play(arena: Arena, out: str, *more: str) -> None:
    assert arena(*KUHN, "--out", out, *more).code == 0
    stamp = 1_700_000_000 + 60 * len(list(Path("runs").iterdir()))
    os.utime(Path(out) / "run.toml", (stamp, stamp))


def test_runs_are_listed_newest_first(arena_here: Arena, tmp_path: Path) -> None:
    assert arena_here("runs").out == "Runs in runs\nThere is no run in runs.\n"
    play(arena_here, "runs/old", "-n", "5", "--seed", "1")
    play(arena_here, "runs/new", "-n", "6", "--seed", "1")
    (tmp_path / "runs" / "half").mkdir()
    (tmp_path / "runs" / "half" / "run.toml").write_text('command = "play"\ngame = "limit"\nbots = ["calling", "mfs"]')
    os.utime(tmp_path / "runs" / "half" / "run.toml", (1, 1))
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.toml").write_text("game = ")
    os.utime(tmp_path / "runs" / "broken" / "run.toml", (0, 0))
    (tmp_path / "runs" / "strange").mkdir()
    (tmp_path / "runs" / "strange" / "run.toml").write_text("game = 5\nbots = 3")
    os.utime(tmp_path / "runs" / "strange" / "run.toml", (0, 0))
    _, head, _, *lines = arena_here("runs").out.splitlines()
    assert head.split() == ["run", "players", "lead", "mbb/g", "deals", "game", "state", "began", "folder"]
    words = [line.split() for line in lines[:5]]
    assert [line[0] for line in words] == ["last", "last-1", "last-2", "last-3", "last-4"]
    states = [(next(word for word in line if word in _STATES), line[-1]) for line in words]
    assert states == [
        ("finished", "new"),
        ("finished", "old"),
        ("killed", "half"),
        ("unreadable", "strange"),
        ("unreadable", "broken"),
    ]
    assert words[2][1:6] == ["calling,", "mfs", "-", "-", "limit"]
    assert "strange/run.toml: " in lines[6]
    assert "broken/run.toml: " in lines[7]
    for most, note in ((4, "1 older run"), (3, "2 older runs")):
        (table,) = (part for part in runs_document(Path("runs"), most).sections[0].parts if isinstance(part, Table))
        assert table.note == f"Not listed: {note}. --all lists every run."
    (tmp_path / "runs").rename(tmp_path / "cups")
    assert [line.split()[0] for line in arena_here("runs", "cups").out.splitlines()[3:5]] == ["new", "old"]
    assert arena_here("runs", "nowhere").sentence == "nowhere: there is no such folder"


def test_runs_are_printed_as_json(arena_here: Arena) -> None:
    assert json.loads(arena_here("runs", "--json").out) == []
    play(arena_here, "runs/one", "-n", "6", "--seed", "1")
    cup = ("tournament", "kuhn", "leduc", "calling", "random", "-n", "9", "--seed", "1", "--in-process", "-q")
    assert arena_here(*cup, "--out", "runs/cup").code == 0
    tournament, match = json.loads(arena_here("runs", "--json").out)
    result = json.loads(Path("runs/one/result.json").read_text("utf-8"))
    first, second = sorted(result["players"], key=lambda player: -player["chips"])
    assert match == {
        "run": "last-1",
        "folder": "runs/one",
        "began": "2023-11-14T22:14:20+00:00",
        "games": ["kuhn"],
        "players": [first["name"], second["name"]],
        "deals": 6,
        "lead": {"player": first["name"], "mbb_per_game": first["won"]["raw"]["mean"], "half_width_95": None},
        "state": "finished",
        "words": result["sentence"],
    }
    best = json.loads(Path("runs/cup/result.json").read_text("utf-8"))["standings"][0]["total_bankroll"][0]["player"]
    assert (tournament["games"], tournament["deals"]) == (["kuhn", "leduc"], 18)
    assert tournament["players"][0] == tournament["lead"]["player"] == best


def test_each_run_is_one_line_of_a_window() -> None:
    """Long names are shortened, and the optional column of folders is dropped."""
    names = ("a-bot-with-a-long-name", "another-bot-with-a-name-as-long")
    lead = Rate(-1234.5, 1056.7, player=names[0], opponent=names[1])
    folder, began = Path("runs/20261124-140407-of-a-long-name"), datetime.fromtimestamp(1.7e9, UTC)
    runs = [
        ListedRun(
            f"last-{back}", folder, began, "finished", "", ("leduc-nolimit",), players=names, deals=10_000, lead=lead
        )
        for back in range(20)
    ]
    lines = [line.plain for line in table_lines(runs_table(runs), 80)]
    assert all(len(line) <= 80 for line in lines)
    assert len(lines) == 2 + 20 + 1
    assert lines[0].split() == ["run", "players", "lead", "mbb/g", "deals", "game", "state", "began"]
    assert lines[-1] == "  1 more column in a wider window"
    assert all("-1,234 ± 1,057" in line for line in lines[2:-1])
    narrow = [line.plain for line in table_lines(runs_table(runs), 40)]
    assert narrow[0].split() == ["run", "players", "lead", "mbb/g"]
    assert all(len(line) <= 40 for line in narrow)
    assert all("-1,234 ± 1,057" in line for line in narrow[2:-1])


def test_result_is_shown_again(arena_here: Arena) -> None:
    output = arena_here("play", "kuhn", "calling", "raising", "--in-process", "-n", "20", "--out", "runs/one")
    assert arena_here("show", "runs/one").out == output.out
    assert arena_here("show").out == output.out
    result = json.loads(arena_here("show", "last", "--json").out)
    assert result == json.loads(Path("runs/one/result.json").read_text("utf-8"))
    assert arena_here("show", "runs").sentence.startswith("runs/result.json: there is no result")
    Path("runs/one/result.json").unlink()
    assert arena_here("show").sentence == (
        "runs/one has no result; 'arena resume runs/one' continues a run that was interrupted"
    )


def test_result_of_a_changed_log_is_not_shown(arena_here: Arena) -> None:
    play(arena_here, "runs/one", "-n", "5", "--seed", "1")
    log = Path("runs/one/match.b.log")
    log.write_bytes(re.sub(rb"(STATE:2:.*:)(-?[0-9])(.*)", rb"\g<1>\g<2>0\g<3>", log.read_bytes()))
    problem = re.compile(r"runs/one/match\.b\.log, line 7: hand 2 is expected, but position 0 has won ")
    for completed in (arena_here("show"), arena_here("show", "--json"), arena_here("resume", "runs/one")):
        assert completed.code == 2
        assert problem.match(completed.sentence)
    Path("runs/one/result.json").unlink()
    assert problem.match(arena_here("resume", "runs/one").sentence)


def test_result_is_shown_without_logs_and_bots(arena_here: Arena) -> None:
    play(arena_here, "runs/one", "-n", "5", "--seed", "1")
    output = arena_here("show")
    Path("runs/one/match.a.log").unlink()
    assert arena_here("show") == output
    config = Path("runs/one/run.toml")
    config.write_text(config.read_text("utf-8").replace("calling", "gone"), "utf-8")
    completed = arena_here("show")
    assert completed.out == output.out
    because = "The logs were not checked, because the run cannot be resumed"
    assert completed.err.startswith(f"{because}: {Path('runs/one/run.toml')}: 'gone' is ")
    config.unlink()
    assert arena_here("show", "runs/one") == output


def test_last_names_a_run_in_every_command(arena_here: Arena) -> None:
    play(arena_here, "runs/old", "-n", "5")
    play(arena_here, "runs/new", "-n", "6")
    assert json.loads(arena_here("show", "last-1", "--json").out)["deals_asked"] == 5
    assert json.loads(arena_here("show", "last", "--json").out)["deals_asked"] == 6
    assert arena_here("show", "last-2").sentence == "last-2: runs holds 2 runs"
    for command in ("stats", "hands", "crosstable", "resume", "gate"):
        completed = arena_here(command, "last-7", *(["--min-mbb", "0"] if command == "gate" else []))
        assert (completed.code, completed.sentence) == (2, "last-7: runs holds 2 runs")
    assert arena_here("show", "lsat").sentence == "there is no run 'lsat'; did you mean 'last'?"
    assert arena_here("stats", "ruins/old").sentence == "there is no run 'ruins/old'; did you mean 'runs/old'?"
    Path("last").mkdir()
    assert arena_here("show", "last").sentence.startswith("last/result.json: there is no result")


def test_user_defaults_precede_those_of_a_command(
    arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    monkeypatch.setenv("ARENA_SETTINGS", str(path))
    path.write_text("deals = 12\nin_process = true\n")
    words = ("play", "kuhn", "calling", "raising", "--json")
    assert json.loads(arena_here(*words).out)["deals_asked"] == 12
    assert json.loads(arena_here(*words, "-n", "3").out)["deals_asked"] == 3
    assert "in_process = true" in next((tmp_path / "runs").glob("*/run.toml")).read_text("utf-8")
    path.write_text("seed = 1\n")
    assert arena_here(*words).sentence == (f"{path}: seed: a file of defaults cannot set it")
    path.unlink()
    assert arena_here(*words).code == 2


COMPLETIONS = {
    "arena tour": {"tournament"},
    "arena play nol": {"nolimit", "nolimit3", "nolimit6", "nolimit10"},
    "arena table limit remb": {"rembrant"},
    "arena show runs/o": {"runs/one"},
    "arena stats la": {"last"},
    "arena bots r": {"raising", "random", "rembrant", "rh"},
    "arena bot me": set(),
    "arena bot mf": {"mfs"},
    "arena exploit exact le": {"leduc", "leduc-nolimit"},
    "arena exploit bound kuhn ca": {"calling"},
    "arena exploit against kuhn calling rai": {"raising"},
    "arena bench bot mf": {"mfs"},
    "arena bench bot mfs --game no": {"nolimit", "nolimit3", "nolimit6", "nolimit10"},
    "arena doctor X -g no": {"nolimit", "nolimit3", "nolimit6", "nolimit10"},
    "arena doctor tc": {"tcp"},
    "arena play limit New=mf": {"New=mfs"},
    "arena deal my": {"my.game"},
    "arena deal limit Old=le": {"Old=learner"},
    "arena games kuhn-d": {"kuhn-depth"},
    "arena solve leduc-": {"leduc-nolimit"},
    "arena solve game leduc-": {"leduc-nolimit"},
    "arena train cfr x --game kuhn-d": {"kuhn-depth"},
    "arena train learner --opponents mf": {"mfs"},
    "arena evolve learner x --game kuhn-d": {"kuhn-depth"},
    "arena join host:1 mf": {"mfs"},
    "arena join host:1 mfs --games limit,kuhn-d": {"limit,kuhn-depth"},
    "arena leaks last --compare cf": {"cfr"},
    "arena stats last --game my": {"my.game"},
    "arena luck last --known A=cf": {"A=cfr"},
    "arena luck last --known A": set(),
    "arena gate runs/o": {"runs/one"},
}
"""Completions of each incomplete command line."""


def test_shell_completes_commands_games_bots_and_runs(
    arena: Arena, arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs" / "one").mkdir(parents=True)
    (tmp_path / "runs" / "one" / "run.toml").touch()
    (tmp_path / "my.game").touch()
    monkeypatch.setenv("_ARENA_COMPLETE", "complete_bash")
    for typed, offered in COMPLETIONS.items():
        words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
        for name, value in words.items():
            monkeypatch.setenv(name, value)
        assert set(arena_here().out.split()) == offered, typed
    assert set(arena(_ARENA_COMPLETE="complete_bash", **words).out.split()) == offered
