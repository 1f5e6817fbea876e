"""Quoted figures on the strength of bots, compared with the tournaments."""

from __future__ import annotations

import csv
import re
import tomllib
from pathlib import Path
from random import Random

import pytest

from bots.sdk.registry import builtin_names, make_bot
from dealer import play
from dealer.run.run_settings import validated
from logs.estimation import Rate
from protocol import find_game
from tests.dealer.helpers import ROOT
from tests.dealer.results_of import won_by
from tests.scripts import script

pytestmark = pytest.mark.slow

FOLDER = ROOT / "research" / "strength"


REMAKE = script("research/strength/remake.py")
FIELDS = script("research/strength/fields.py")
FOOTPRINT = script("research/strength/footprint.py")


def _shown(row: dict[str, str]) -> str:
    rate = Rate(
        float(row["mbb_per_game"]), float(row["guaranteed_half_width"]), player=row["player"], opponent=row["opponent"]
    )
    return rate.text().removesuffix(" mbb/g")


@pytest.mark.parametrize("path", REMAKE.QUOTED)
def test_quoted_figures_are_in_the_tables(path: str) -> None:
    text = (ROOT / path).read_text("utf-8")
    assert REMAKE.with_figures(path, text) == text


@pytest.mark.parametrize("game", REMAKE.GAMES)
def test_page_has_the_measured_figures(game: str) -> None:
    page = (FOLDER.parent / "tables" / "strength.md").read_text("utf-8")
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
    """Docstrings quote only rates from the tables."""
    quoted = {ROOT / path for path in REMAKE.QUOTED}
    for path in Path(ROOT / "bots").rglob("*.py"):
        if path not in quoted:
            assert not re.search(r"[+-][\d,]+ ± [\d,]+", path.read_text("utf-8")), path


@pytest.mark.parametrize("game", REMAKE.GAMES)
def test_pair_of_the_tournament_is_reproducible(game: str) -> None:
    """The pair is drawn with a fixed seed from the quick bots."""
    player, opponent = Random(game).sample(["calling", "raising", "folding", "mfs", "rh"], 2)
    config = validated(tomllib.loads((FOLDER / f"{game}.toml").read_text("utf-8")))
    result = play(game, [player, opponent], deals=config.deals, seed=config.seed, in_process=True)
    with (FOLDER / f"{game}.csv").open(encoding="utf-8", newline="") as file:
        (row,) = [row for row in csv.DictReader(file) if (row["player"], row["opponent"]) == (player, opponent)]
    won = won_by(result.players[0]).raw
    figures = (f"{won.mean:.4f}", f"{won.guaranteed_half_width:.4f}")
    assert figures == (row["mbb_per_game"], row["guaranteed_half_width"])


def test_fields_have_the_figures_of_the_results() -> None:
    page = FIELDS.PAGE.read_text("utf-8")
    rows = FIELDS.read_rows(FIELDS.FIELDS, FIELDS.Met)
    assert FIELDS.with_fields(page, rows) == page
    assert FIELDS.with_overview(page, rows) == page
    for game, bots in FIELDS.BOTS.items():
        assert {row.player for row in rows if row.game == game} == {*FIELDS.ROWS.get(game, bots)}
    # "`cfr` wins from two of every other built-in bot"
    game = find_game("limit3")[1]
    able = {name for name in builtin_names() if make_bot(name).refusal(game) is None}
    wins = {row.opponent for row in rows if row.player == "cfr" and row.mean > row.half_width}
    assert wins == able - {"constant", "cfr"}


def test_field_is_reproducible(tmp_path: Path) -> None:
    rows = FIELDS.read_rows(FIELDS.FIELDS, FIELDS.Met)
    assert FIELDS.met(tmp_path, "limit3", "rh", "calling") in rows


def test_table_of_winnings_of_cfr_has_the_figures_of_the_results() -> None:
    page = FOOTPRINT.PAGE.read_text("utf-8")
    rows = FOOTPRINT.read_rows(FOOTPRINT.FOOTPRINT, FOOTPRINT.Footprint)
    assert tuple(row.game for row in rows) == FOOTPRINT.GAMES
    assert FOOTPRINT.with_table(page, rows) == page
