"""The evolved agent as a bot: chart, genes, decisions, files, matches at tables of every size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bots import self_play
from bots.errors import BotFileError, GameRefused
from bots.evolved.bot import EvolvedBot
from bots.evolved.chromosome import (
    CHAMPION,
    GENES,
    ODDS,
    POSITION_CLASSES,
    Chromosome,
    chart,
    chart_position,
    decision,
    gene,
    read_chromosome,
    recorded_odds,
    write_chromosome,
)
from bots.evolved.training import GENOME, EvolvedSettings
from bots.sdk.registry import make_bot
from engine import ActionKind
from engine.cards import STARTING_HANDS, starting_hand

Make = Callable[..., EvolvedBot]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evolved") / "x.chromosome"
    genes = GENOME.random(1, np.random.default_rng(4))[0].astype(np.int8)
    write_chromosome(str(path), genes.tobytes(), {"seed": 4})
    return path


@pytest.fixture
def make(file: Path) -> Make:
    return lambda **options: EvolvedBot(**{"chromosome": str(file), "trials": 20, "seed": 1, **options})


def test_every_situation_has_a_gene_of_its_own() -> None:
    numbers = [
        gene(category, position, round_, before, now)
        for category in range(9)
        for position in range(8)
        for round_ in (1, 2, 3)
        for before in range(4 if round_ == 1 else 5)
        for now in range(5)
    ]
    assert sorted(numbers) == list(range(GENES)) == list(range(5040))


def test_decisions() -> None:
    assert [decision(50, 20, weight, 0, 10, "reward") for weight in (0.1, 0.2, 0.21, 0.5, 0.51)] == [0, 0, 1, 1, 2]
    assert decision(50, 20, 0.9, 10, 10, "reward") == 1, "0.9 x 10/20 is 45"
    assert decision(50, 20, 0.9, 10, 10, "price") == 2, "0.9 x 10/10 is 90"
    assert decision(50, 20, 0.9, 0, 10, "price") == 0
    assert decision(-1, 100, 0.0, 0, 10, "price") == 2, "the first threshold comes first"


@pytest.mark.parametrize(
    ("players", "classes"),
    [
        (2, "big blind, dealer"),
        (3, "small blind, big blind, dealer"),
        (4, "small blind, big blind, 9th, dealer"),
        (6, "small blind, big blind, 7th, 8th, 9th, dealer"),
        (8, "small blind, big blind, early, 6th, 7th, 8th, 9th, dealer"),
        (10, "small blind, big blind, early, early, early, 6th, 7th, 8th, 9th, dealer"),
    ],
)
def test_positions(players: int, classes: str) -> None:
    assert ", ".join(POSITION_CLASSES[chart_position(position, players)] for position in range(players)) == classes


def test_charts() -> None:
    """The rows are the seven of the work's legend."""
    letters = {
        position: {
            name: "".join("FCR"[kind] for kind in chart()[position][number])
            for number, name in enumerate(STARTING_HANDS)
        }
        for position in range(8)
    }
    rows = {row for of_position in letters.values() for row in of_position.values()}
    assert rows == {"FFFF", "CFFF", "CCFF", "RFFF", "RCFF", "RRCC", "RRRC"}
    assert letters[0]["AA"] == "RRRC"
    assert letters[2]["AKo"] == "RRCC"
    assert letters[7]["A2s"] == "RCFF"
    assert letters[2]["72o"] == "FFFF"
    assert letters[1]["72o"] == "CFFF"


def test_share_of_flops_is_that_of_the_work() -> None:
    """The work's ten players saw 3,630 to 3,965 flops in 20,000 hands each."""
    random, seen, hands = np.random.default_rng(1), 0, 1500
    for _ in range(hands):
        cards = random.permutation(52)[:20].tolist()
        spent, alive, raises, called, position = [0.5, 1] + [0] * 8, set(range(10)), 0, 0, 2
        while called < len(alive) > 1:
            if position in alive:
                hand = starting_hand(cards[2 * position : 2 * position + 2])
                kind = chart()[chart_position(position, 10)][hand][raises]
                if kind == 0 and spent[position] < raises + 1:
                    alive.remove(position)
                else:
                    raising = kind == 2 and raises < 3
                    raises, called = raises + raising, 1 if raising else called + 1
                    spent[position] = raises + 1
            position = (position + 1) % 10
        seen += len(alive) if len(alive) > 1 else 0
    assert 0.175 < seen / hands / 10 < 0.205


@pytest.mark.parametrize("game", ["limit", "limit10"])
def test_tables_of_every_size_are_played(make: Make, game: str) -> None:
    players = int(game.removeprefix("limit") or 2)
    bots = [make(seed=seat) for seat in range(players)]
    records = list(self_play(game, bots, deals=8, seed=3, seating="single"))
    kinds = {action.kind for record in records for actions in record.betting.rounds for _, action in actions}
    assert kinds == set(ActionKind)
    assert any(len(record.betting.rounds) == 4 for record in records)
    again = self_play(game, [make(seed=seat) for seat in range(players)], deals=8, seed=3, seating="single")
    assert list(again) == records


def test_comments_name_chart_and_gene(make: Make) -> None:
    records = self_play("limit", [make(explain=True), make()], deals=40, seed=1, seating="single")
    comments = [comment.text for record in records for comment in record.comments]
    assert any("chart of the big blind with 1 raises" in text or "chart of the dealer" in text for text in comments)
    assert any("; gene " in text and " raises above " in text and " -> " in text for text in comments)


@pytest.mark.parametrize("game", ["nolimit", "kuhn", "leduc"])
def test_other_games_are_refused(make: Make, game: str) -> None:
    with pytest.raises(GameRefused, match="a chromosome plays limit hold'em of two to ten players"):
        next(iter(self_play(game, [make(), make()], deals=1)))


def test_invalid_options_are_refused(make: Make, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="odds are reward or price, not 'good'"):
        make(odds="good")
    with pytest.raises(ValueError, match="trials must be 1 or more, not 0"):
        make(trials=0)
    with pytest.raises(ValueError, match=r"none: it cannot be read: No such file"):
        make(chromosome=str(tmp_path / "none"))


class TestChampion:
    def test_champion_plays_without_options(self) -> None:
        bots = [make_bot("evolved", 1), make_bot("evolved?trials=20", 2), make_bot("calling")]
        names = ("ours", "other", "calling")
        records = list(self_play("limit3", bots, deals=4, seed=1, names=names))
        assert len(records) == 12

    def test_champion_records_its_training(self) -> None:
        record = json.loads(read_chromosome(CHAMPION).record)
        settings = record["settings"]
        assert EvolvedSettings(**settings).deals == 780
        assert {"what", "commands", "date", "generations", "trainers", "acpc-arena"} <= record.keys()
        assert all(command.startswith("arena evolve ") for command in record["commands"])


class TestFiles:
    def test_the_odds_of_the_training_are_those_of_the_table(self, tmp_path: Path) -> None:
        for odds in ODDS:
            path = str(tmp_path / odds)
            write_chromosome(path, bytes(2 * GENES), {"settings": {"odds": odds}})
            assert recorded_odds(read_chromosome(path)) == odds
        write_chromosome(str(tmp_path / "none"), bytes(2 * GENES), {"settings": 3})
        assert recorded_odds(read_chromosome(str(tmp_path / "none"))) == "reward"
        write_chromosome(str(tmp_path / "good"), bytes(2 * GENES), {"settings": {"odds": "good"}})
        with pytest.raises(ValueError, match="odds are reward or price, not 'good'"):
            EvolvedBot(chromosome=str(tmp_path / "good"))

    def test_round_trip(self, file: Path) -> None:
        genes = GENOME.random(1, np.random.default_rng(4))[0]
        assert read_chromosome(str(file)) == Chromosome(tuple(genes.ravel().tolist()), '{"seed": 4}')

    def test_truncated_files_are_refused(self, file: Path, tmp_path: Path) -> None:
        data = file.read_bytes()
        other = tmp_path / "y"
        end_of_line = data.index(b"\n")
        for size in [*range(0, end_of_line + 2, 5), len(data) - 1]:
            other.write_bytes(data[:size])
            with pytest.raises(BotFileError, match="y: it "):
                read_chromosome(str(other))
        write_chromosome(str(other), bytes(2 * GENES - 1), {})
        with pytest.raises(BotFileError, match="it has 10079 thresholds, not 10080"):
            read_chromosome(str(other))

    def test_thresholds_outside_of_their_range(self, tmp_path: Path) -> None:
        write_chromosome(str(tmp_path / "z"), bytes([101]) * 2 * GENES, {})
        with pytest.raises(BotFileError, match="z: it has thresholds outside of -100 to 100"):
            read_chromosome(str(tmp_path / "z"))

    def test_missing_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BotFileError, match="it cannot be written: No such file or directory"):
            write_chromosome(str(tmp_path / "none" / "x"), bytes(2 * GENES), {})
