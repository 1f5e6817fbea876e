"""Upgrade of results of schema version 2, which version 0.1.0 wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dealer.errors import ResultError
from dealer.reports.guaranteed import NOTE
from dealer.reports.result_documents import result_document
from dealer.run.results import SCHEMA_VERSION, TournamentResult, read_contest, read_result, read_standings
from logs.document import Table
from logs.estimation import Estimate
from tests.dealer.results_of import won_by

OLD = Path(__file__).with_name("version_2")


def _data(name: str) -> Any:
    return json.loads((OLD / name).read_text("utf-8"))


def _estimate(fields: dict[str, Any], prefix: str = "") -> Estimate:
    # The only interval of that version is the guaranteed one.
    names = ("mbb_per_game", "half_width_95", "standard_error", "half_width_95")
    return Estimate(*(fields[f"{prefix}{name}"] for name in names))


def test_winnings_of_an_old_contest_become_estimates() -> None:
    result = read_contest(OLD / "contest.json")
    data = _data("contest.json")
    assert data["schema_version"] == 2
    assert result.schema_version == SCHEMA_VERSION == 4
    assert len(result.players) == 2
    for player, fields in zip(result.players, data["players"], strict=True):
        won = won_by(player)
        assert won.raw == _estimate(fields)
        assert won.corrected == _estimate(fields, "corrected_")
        assert won.best.half_width == fields["half_width_of_best_95"]
        assert won.best.mean == won.raw.mean
        assert won.corrected_best is not None
        assert won.corrected_best.half_width == fields["corrected_half_width_of_best_95"]
        assert player.standard_deviation == fields["standard_deviation"]
    assert result.sentence == data["sentence"]
    assert result.stop == data["stop"]
    assert data["interval"] == "fixed"
    assert result.interval == "guaranteed"


def test_intervals_of_version_3_are_guaranteed(tmp_path: Path) -> None:
    result = read_contest(OLD / "contest.json")
    text = result.model_dump_json().replace('"schema_version":4', '"schema_version":3')
    data = json.loads(text.replace('"interval":"guaranteed"', '"interval":"fixed"'))
    for player in data["players"]:
        for estimate in filter(None, player["won"].values()):
            del estimate["guaranteed_half_width"]
    (tmp_path / "result.json").write_text(json.dumps(data))
    assert read_contest(tmp_path) == result
    document = result_document(read_contest(tmp_path))
    assert document.notes == (NOTE,)
    (players, *_) = document.sections[0].parts
    assert isinstance(players, Table)
    assert "mbb/g ± 95 %, guaranteed" in [column.heading for column in players.columns]


def test_winnings_of_an_old_tournament_become_estimates() -> None:
    result = read_result(OLD / "tournament.json")
    data = _data("tournament.json")
    assert isinstance(result, TournamentResult)
    assert [contest.schema_version for contest in result.contests] == [4, 4, 4]
    assert won_by(result.contests[1].players[0]).raw == _estimate(data["contests"][1]["players"][0])
    (standings,) = result.standings
    (old,) = data["standings"]
    assert len(standings.crosstable) == 6
    for cell, fields in zip(standings.crosstable, old["crosstable"], strict=True):
        assert cell.won.raw == _estimate(fields)
        assert cell.won.corrected == _estimate(fields, "corrected_")
        assert cell.player == fields["player"]
        assert cell.opponent == fields["opponent"]
        assert cell.hands == fields["hands"]
    assert standings.won.keys() == old["mbb_per_game"].keys() == {"calling", "random", "R"}
    for name, won in standings.won.items():
        fields = {field: by_name.get(name) for field, by_name in old.items() if isinstance(by_name, dict)}
        assert won.raw == _estimate(fields)
        assert won.corrected == _estimate(fields, "corrected_")
    assert standings.is_corrected


@pytest.mark.parametrize("name", ["contest.json", "tournament.json"])
def test_old_result_is_upgraded_to_this_version(tmp_path: Path, name: str) -> None:
    result = read_result(OLD / name)
    (tmp_path / name).write_text(result.model_dump_json(), "utf-8")
    assert read_result(tmp_path / name) == result
    assert '"mbb_per_game"' not in (tmp_path / name).read_text("utf-8")


def test_standings_of_both_versions_are_read() -> None:
    (old,) = _data("tournament.json")["standings"]
    standings = read_standings(json.dumps(old))
    assert standings == read_standings(standings.model_dump_json())
    assert standings.won["calling"].raw.mean == old["mbb_per_game"]["calling"]


def test_old_result_without_corrected_figures_and_standard_errors_is_read() -> None:
    # The first results of version 2 had neither.
    (old,) = _data("tournament.json")["standings"]
    kept = {name: value for name, value in old.items() if "corrected" not in name and name != "standard_error"}
    for cell in kept["crosstable"]:
        for name in [name for name in cell if "corrected" in name or name == "standard_error"]:
            del cell[name]
    standings = read_standings(json.dumps(kept))
    won = standings.won["R"]
    assert won.raw.mean == old["mbb_per_game"]["R"]
    assert won.raw.error is None
    assert won.corrected is None
    assert standings.crosstable[0].won.corrected is None
    assert not standings.is_corrected


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"players": 5}, "players: must be a list"),
        ({"players": [5]}, "players.0: "),
        ({"players": [{"name": "A"}]}, "players.0.player: it is missing"),
        ({"contests": [5]}, "contests: "),
        ({"standings": [{"mbb_per_game": 5}]}, "standings: "),
    ],
)
def test_damaged_old_result_is_refused_with_its_field(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(_data("contest.json") | change), "utf-8")
    with pytest.raises(ResultError) as raised:
        read_result(path)
    assert str(raised.value).startswith(f"{path}: not a result ({sentence}")


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("mbb_per_game", "much", "players.0.won.raw.mean: "),
        ("corrected_half_width_95", [], "players.0.won.corrected.half_width_95: "),
    ],
)
def test_old_estimate_of_a_wrong_type_is_refused_with_its_field(
    tmp_path: Path, field: str, value: Any, sentence: str
) -> None:
    data = _data("contest.json")
    data["players"][0][field] = value
    path = tmp_path / "result.json"
    path.write_text(json.dumps(data), "utf-8")
    with pytest.raises(ResultError) as raised:
        read_result(path)
    assert str(raised.value).startswith(f"{path}: not a result ({sentence}")
