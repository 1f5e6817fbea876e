"""``arena tournament``, ``arena gate`` and configuration files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dealer.cli.crosstable import crosstable
from dealer.run.results import ContestResult, TournamentResult
from logs.whole_file import write_whole
from tests.dealer.cli.conftest import Arena, window
from tests.dealer.helpers import write_program

BOTS = ("calling", "raising", "Rnd=random")


def test_every_pair_plays_every_game(arena_here: Arena, tmp_path: Path) -> None:
    completed = arena_here(
        "tournament", "kuhn", "leduc", *BOTS, "-n", "100", "--seed", "3", "--in-process", "--out", "t"
    )
    assert (completed.code, completed.err) == (0, "")
    for words in (
        "\nkuhn\n",
        "\nleduc\n",
        "total bankroll",
        "instant run-off",
        "Rnd",
        "own time",
        "files t",
    ):
        assert words in f"\n{completed.out}"
    result = TournamentResult.model_validate_json((tmp_path / "t" / "result.json").read_text())
    assert len(result.contests) == 6
    assert [standing.game for standing in result.standings] == ["kuhn.limit.2p", "leduc.limit.2p"]
    for standing in result.standings:
        assert abs(sum(won.raw.mean for won in standing.won.values())) < 1e-6
        cells = {(cell.player, cell.opponent): cell for cell in standing.crosstable}
        assert len(cells) == 6
        for (row, column), cell in cells.items():
            assert abs(cell.won.raw.mean + cells[column, row].won.raw.mean) < 1e-6
        for ranks in (standing.total_bankroll, standing.instant_runoff):
            places = [rank.place for rank in ranks]
            assert places == [1 + sum(other < place for other in places) for place in places]
            assert {rank.player for rank in ranks} == {"calling", "raising", "Rnd"}
            assert all(rank.confidence is not None and 0 <= rank.confidence <= 1 for rank in ranks)
        means = [standing.won[rank.player].raw.mean for rank in standing.total_bankroll]
        assert means == sorted(means, reverse=True)
    for contest in (tmp_path / "t").glob("*-vs-*"):
        of_contest = ContestResult.model_validate_json((contest / "result.json").read_text())
        assert of_contest.duplicates == 100


def test_default_game_is_limit_holdem(arena_here: Arena) -> None:
    completed = arena_here("tournament", "calling", "random", "-n", "2", "--in-process", "--json")
    assert [contest["game"] for contest in json.loads(completed.out)["contests"]] == ["holdem.limit.2p.reverse_blinds"]
    assert "a tournament of kuhn needs at least 2 bots, 0 given" in arena_here("tournament", "kuhn").sentence
    assert (
        "'leduc' is a game, not a bot: games are named before bots" in arena_here("tournament", "mfs", "leduc").sentence
    )
    assert "a play has one game" in arena_here("play", "kuhn", "leduc").sentence


def test_tournament_over_tcp_equals_one_in_process(arena_here: Arena, tmp_path: Path) -> None:
    common = ("tournament", "kuhn", "calling", "random", "-n", "30", "--seed", "3", "-q")
    arena_here(*common, "--out", "one", "--workers", "2")
    arena_here(*common, "--out", "two", "--in-process")
    logs = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.log"))
    assert len(logs) == 2
    for log in logs:
        assert (tmp_path / "one" / log).read_bytes() == (tmp_path / "two" / log).read_bytes()


def test_every_player_has_every_seat_of_three(arena_here: Arena) -> None:
    completed = arena_here("tournament", "kuhn3", *BOTS, "folding", "-n", "20", "--seed", "3", "--in-process", "--json")
    result = TournamentResult.model_validate_json(completed.out)
    assert [len(contest.players) for contest in result.contests] == [3] * 4
    for contest in result.contests:
        assert sorted(match.seats.index(contest.players[0].name) for match in contest.matches) == [0, 1, 2]


def test_bot_that_cannot_start_fails_its_own_contests_only(arena_here: Arena, tmp_path: Path) -> None:
    bad = "Bad=" + write_program(tmp_path, "bad.py", "raise SystemExit(3)\n")
    completed = arena_here("tournament", "kuhn", "calling", "random", bad, "-n", "2", "--json")
    assert completed.code == 1
    result = TournamentResult.model_validate_json(completed.out)
    assert [contest.outcome for contest in result.contests] == ["finished", "failed", "failed"]
    assert "Bad" in result.contests[1].reason
    assert "exit code 3" in result.contests[1].reason
    assert result.resume is not None
    assert result.standings[0].unfinished == ["Bad"]


def test_run_is_repeated_from_its_configuration(arena_here: Arena, tmp_path: Path) -> None:
    bots = ("calling", "random?fold=0.2,call=0.5,raise=0.3")
    first = arena_here("play", "kuhn", *bots, "-n", "50", "-q", "--in-process", "--out", "one")
    again = arena_here("play", "--config", "one/run.toml", "-q", "--out", "two")
    assert first == again
    assert first.code == 0
    for name in ("match.a.log", "match.b.log"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    shorter = arena_here("play", "--config", "one/run.toml", "-n", "20", "--json", "--out", "three")
    assert json.loads(shorter.out)["deals_asked"] == 20


def test_tournament_is_read_from_a_file(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(
        'games = ["kuhn"]\nbots = ["calling", "raising", "random"]\ndeals = 20\n'
        'format = "gauntlet"\nin_process = true\n'
    )
    result = TournamentResult.model_validate_json(arena_here("tournament", "cup.toml", "--json").out)
    assert (result.format, len(result.contests)) == ("gauntlet", 2)


def test_configuration_of_another_command_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text('command = "tournament"\nbots = ["calling", "random"]\n')
    assert (
        arena_here("play", "--config", "cup.toml").sentence
        == "cup.toml is for 'arena tournament', not for 'arena play'"
    )
    (tmp_path / "bad.toml").write_text("deals = 0\n")
    assert arena_here("play", "--config", "bad.toml").sentence.startswith("bad.toml: deals: must be at least")
    assert arena_here("resume", "nothing").sentence == "nothing holds no run: there is no run.toml in it"
    assert arena_here("play", "--config", "none.toml").sentence.startswith("cannot read none.toml")
    (tmp_path / "far.toml").write_text('directory = "/nowhere/at/all"\n')
    assert arena_here("play", "--config", "far.toml").sentence.startswith(
        "far.toml: directory: commands cannot start in /nowhere/at/all"
    )


def test_crosstable_is_printed_in_every_format(arena_here: Arena, tmp_path: Path) -> None:
    arena_here("tournament", "kuhn", "leduc", *BOTS, "-n", "10", "--seed", "1", "-q", "--in-process", "--out", "t")
    assert arena_here("crosstable", "t").out.count("| mean |") == 2
    assert arena_here("crosstable", "t/result.json", "-f", "latex").out.count("begin{tabular}") == 4
    for width in (40, 80, 120):
        terminal, output = window(width)
        crosstable(terminal, Path("t"))
        lines = output.getvalue().splitlines()
        assert "|" not in output.getvalue()
        assert lines[0] == "kuhn"
        assert "leduc" in lines
        assert max(map(len, lines)) <= width
    root = ElementTree.fromstring(arena_here("crosstable", "t", "-f", "svg").out)
    labels = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert labels[0] == "kuhn, mbb/g"
    assert "leduc, mbb/g" in labels
    # An arrow for each pair of the three bots in both games.
    assert len(list(root.iter("{http://www.w3.org/2000/svg}line"))) == 6
    lines = arena_here("crosstable", "t", "--format", "csv").out.splitlines()
    assert lines[0] == (
        "game,player,opponent,mbb_per_game,half_width_95,standard_error,guaranteed_half_width,"
        "corrected_mbb_per_game,corrected_half_width_95,corrected_standard_error,corrected_guaranteed_half_width,"
        "aivat_mbb_per_game,aivat_half_width_95,aivat_standard_error,aivat_guaranteed_half_width,hands"
    )
    assert len(lines) == 1 + 2 * 9
    arena_here("play", "kuhn", "-n", "2", "-q", "--in-process", "--out", "p")
    assert arena_here("crosstable", "p").code == 2


def test_gate_has_an_exit_code_for_each_verdict(arena_here: Arena, tmp_path: Path) -> None:
    arena_here("play", "kuhn", "raising", "folding", "-n", "200", "--seed", "1", "-q", "--in-process", "--out", "run")
    passed = arena_here("gate", "run", "--min-mbb", "-20", "--junit", "gate.xml")
    assert (passed.code, passed.out.startswith("passed: raising over folding:")) == (0, True)
    assert ElementTree.fromstring((tmp_path / "gate.xml").read_text()).get("failures") == "0"
    failed = arena_here("gate", "run/result.json", "--min-mbb", "-20", "--player", "folding", "--junit", "gate.xml")
    assert (failed.code, failed.out.startswith("failed: folding over raising:")) == (1, True)
    assert ElementTree.fromstring((tmp_path / "gate.xml").read_text()).get("failures") == "1"
    arena_here("play", "kuhn", "raising", "folding", "-n", "20", "--seed", "1", "-q", "--in-process", "--out", "few")
    undecided = arena_here("gate", "few", "--min-mbb", "-20", "--json")
    facts = json.loads(undecided.out)
    assert (undecided.code, facts["verdict"], facts["half_width_95"], facts["deals"]) == (3, "undecided", None, 20)
    facts = json.loads(arena_here("gate", "run", "--min-mbb", "-20", "--json").out)
    assert (facts["player"], facts["opponent"], facts["min_mbb"], facts["deals"]) == ("raising", "folding", -20, 200)
    assert facts["mbb_per_game"] - facts["half_width_95"] >= -20
    assert arena_here("gate", "run", "--min-mbb", "0", "--player", "Bob").sentence == (
        "there is no player 'Bob'; there are: raising, folding"
    )
    assert arena_here("gate", "run", "--min-mbb", "0", "--score", "aivat").sentence == (
        "the result of run has no win rate for --score aivat; play with --score aivat"
    )


def test_aivat_does_not_decide_on_a_cluster(arena_here: Arena) -> None:
    completed = arena_here(
        "tournament", "kuhn", "cfr", "random", "--score", "aivat", "--scheduler", "tcp://127.0.0.1:1"
    )
    assert (completed.code, completed.sentence) == (
        2,
        "with the score 'aivat', hands are valued on this machine; leave out --scheduler",
    )


@pytest.mark.parametrize("bound", ["nan", "inf", "-inf"])
def test_infinite_bound_is_refused(arena_here: Arena, tmp_path: Path, bound: str) -> None:
    completed = arena_here("gate", "run", "--min-mbb", bound)
    assert (completed.code, completed.sentence) == (2, f"--min-mbb must be a finite number of mbb/g, not {bound}")


def test_gate_without_a_verdict_exits_with_2(
    arena_here: Arena, finished_runs: Callable[..., Path], tmp_path: Path
) -> None:
    run = finished_runs("play", "kuhn", "raising", "folding", "-n", "20", "--seed", "1", "-q", "--in-process")
    completed = arena_here("gate", str(run), "--min-mbb", "0", "--junit", "no/such/folder.xml")
    assert (completed.code, completed.sentence) == (2, "cannot write no/such/folder.xml: No such file or directory")
    data = json.loads((run / "result.json").read_text())
    for version in (5, "two", None):
        (tmp_path / "later.json").write_text(json.dumps(data | {"schema_version": version}))
        completed = arena_here("gate", "later.json", "--min-mbb", "0")
        assert (completed.code, completed.sentence) == (
            2,
            f"later.json: it has schema version {version!r}, but this program reads versions 2 to 4",
        )
    (tmp_path / "part.json").write_text(json.dumps({key: data[key] for key in data if key != "seed"}))
    assert arena_here("gate", "part.json", "--min-mbb", "0").sentence == (
        "part.json: not a result (seed: it is missing)"
    )


def test_unwritable_junit_file_is_refused_before_the_match(arena_here: Arena, tmp_path: Path) -> None:
    for command in (("play", "kuhn"), ("tournament", "kuhn", "calling", "random")):
        completed = arena_here(*command, "--in-process", "-n", "4000000", "--junit", "no/such/folder.xml")
        assert (completed.code, completed.sentence) == (2, "cannot write no/such/folder.xml: No such file or directory")
    assert arena_here("play", "kuhn", "--junit", ".").sentence == "cannot write .: it is a folder"
    assert list(tmp_path.iterdir()) == []


def test_unwritable_result_is_an_error(arena_here: Arena, tmp_path: Path) -> None:
    def write(path: Path, text: str) -> None:
        if path.name == "result.json":
            raise OSError(28, "No space left on device")
        write_whole(path, text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dealer.run.run.write_whole", write)
        completed = arena_here("play", "kuhn", "--in-process", "-n", "5", "--out", "run", "-q")
    assert completed.code == 2
    assert completed.err == "cannot write run/result.json: No space left on device\n"


def test_gate_without_a_result_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    assert "this is not the folder of a run" in arena_here("gate", "run", "--min-mbb", "0").sentence
    (tmp_path / "run" / "run.toml").touch()
    assert "the run has not ended" in arena_here("gate", "run", "--min-mbb", "0").sentence
    (tmp_path / "x.json").write_text("{")
    assert "not valid JSON" in arena_here("gate", "x.json", "--min-mbb", "0").sentence
    (tmp_path / "y.json").write_text('{"schema_version": 1}')
    assert (
        "it has schema version 1, but this program reads versions 2 to 4"
        in arena_here("gate", "y.json", "--min-mbb", "0").sentence
    )


def test_byte_order_mark_of_a_tournament_file_is_ignored(arena_here: Arena, tmp_path: Path) -> None:
    text = 'command = "tournament"\nbots = ["calling", "random"]\ngames = ["kuhn"]\n'
    for name in ("cup.toml", "cup"):
        (tmp_path / name).write_text(text, "utf-8-sig")
    assert arena_here("tournament", "cup.toml", "-n", "2", "--in-process", "-q").code == 0
    completed = arena_here("tournament", "cup")
    assert completed.sentence == (
        "'cup' is one bot; a file that describes a tournament ends in .toml, or is given with --config"
    )
