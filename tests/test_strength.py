"""The quoted figures on the strength of the bots are those of their tournaments."""

from __future__ import annotations

import csv
import re
import tomllib
from pathlib import Path
from random import Random

import pytest

from dealer import play
from dealer.run.run_settings import validated
from logs.estimation import Rate
from tests.dealer.helpers import ROOT
from tests.scripts import script

FOLDER = ROOT / "docs" / "strength"


REMAKE = script("strength/remake.py")


def _shown(row: dict[str, str]) -> str:
    rate = Rate(float(row["mbb_per_game"]), float(row["half_width_95"]), player=row["player"], opponent=row["opponent"])
    return rate.text().removesuffix(" mbb/g")


@pytest.mark.parametrize("path", REMAKE.QUOTED)
def test_figures_in_texts_are_those_of_the_tables(path: str) -> None:
    text = (ROOT / path).read_text("utf-8")
    assert REMAKE.with_figures(path, text) == text


@pytest.mark.parametrize("game", REMAKE.GAMES)
def test_the_page_shows_what_was_measured(game: str) -> None:
    page = (FOLDER.parent / "strength-tables.md").read_text("utf-8")
    tables = page.split(f"<!-- {game} -->\n")[1].split(f"<!-- end of {game} -->")[0].split("\n\n")[0]
    first, _, *lines = ([cell.strip() for cell in line.strip("| ").split("|")] for line in tables.splitlines())
    cells = {(line[0], column): cell for line in lines for column, cell in zip(first[1:], line[1:], strict=True)}
    with (FOLDER / f"{game}.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["player"], row["opponent"] or "mean"): row for row in csv.DictReader(file)}
    assert {key: cell for key, cell in cells.items() if cell} == {key: _shown(row) for key, row in rows.items()}
    config = validated(tomllib.loads((FOLDER / f"{game}.toml").read_text("utf-8")))
    assert config.deals is not None
    assert {row["hands"] for row in rows.values() if row["opponent"]} == {str(2 * config.deals)}
    assert f"{config.deals:,} deals" in page


def test_no_other_figure_of_strength_is_quoted() -> None:
    """A docstring that quotes a rate has its figures from the tables."""
    quoted = {ROOT / path for path in REMAKE.QUOTED}
    for path in Path(ROOT / "bots").rglob("*.py"):
        if path not in quoted:
            assert not re.search(r"[+-][\d,]+ ± [\d,]+", path.read_text("utf-8")), path


@pytest.mark.slow  # a match of 20,000 hands for each game
@pytest.mark.parametrize("game", REMAKE.GAMES)
def test_a_pair_of_the_tournament_can_be_played_again(game: str) -> None:
    """One of the pairs of quick bots, drawn with a fixed seed."""
    player, opponent = Random(game).sample(["calling", "raising", "folding", "mfs", "rh"], 2)
    config = validated(tomllib.loads((FOLDER / f"{game}.toml").read_text("utf-8")))
    result = play(game, [player, opponent], deals=config.deals, seed=config.seed, in_process=True)
    with (FOLDER / f"{game}.csv").open(encoding="utf-8", newline="") as file:
        (row,) = [row for row in csv.DictReader(file) if (row["player"], row["opponent"]) == (player, opponent)]
    found = result.players[0]
    assert (f"{found.mbb_per_game:.4f}", f"{found.half_width_95:.4f}") == (row["mbb_per_game"], row["half_width_95"])
