"""Measurements for studies of publications, and pages with their figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bots.evolved.chromosome import CHAMPION, read_chromosome
from bots.evolved.training import make_deals
from bots.sdk.registry import make_bot
from bots.studies.measured import Measured, Task
from bots.studies.study import NAMES, read_study
from logs.document.page import format_page
from tests.logs.pages import checked_page
from tests.scripts import script

pytestmark = pytest.mark.slow

STUDY = script("research/studies/study.py")
with_blocks = script("research/blocks.py").with_blocks
STUDIES = {name: read_study(name) for name in NAMES}


# ---- claims and pages


@pytest.mark.parametrize("name", NAMES)
def test_pages_have_the_measured_figures(name: str) -> None:
    for page, blocks in STUDY.blocks_of(STUDIES[name]).items():
        text = page.read_text("utf-8")
        assert with_blocks(text, blocks) == text


@pytest.mark.parametrize("name", NAMES)
def test_every_named_figure_was_measured(name: str) -> None:
    needed = STUDIES[name].needed()
    figures = STUDIES[name].figures
    missing = [figure for figure in needed if figure not in figures]
    assert missing == (["default against rembrant"] if name == "rembrant" else [])
    expected = [*needed, *STUDIES[name].expressions()]
    assert list(figures) == [figure for figure in expected if figure in figures], "no other figures are stored"


@pytest.mark.parametrize("name", NAMES)
def test_values_of_expressions_follow_from_the_measured_figures(name: str) -> None:
    study = STUDIES[name]
    for text in study.expressions():
        stored = study.figures[text]
        value = study.evaluated(text)
        assert stored.mean == pytest.approx(value.mean, rel=1e-5, abs=1e-9), text
        assert stored.half_width == pytest.approx(value.half_width, rel=1e-3, abs=1e-9), text
        assert stored.units == value.units


def test_report_is_one_page() -> None:
    page = format_page(STUDIES["lp-mc"].document())
    assert checked_page(page).fetched == []
    assert f"{STUDIES['lp-mc'].counts().total()} claims: " in page
    assert "section 5.1 (p. 26)" in page


def test_existing_measurements_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = STUDIES["rembrant"]
    figures = list(study.figures)
    (tmp_path / "one.json").write_text(json.dumps({figures[0]: [7.0, 1.0, 3]}), "utf-8")
    tasks = [Task("one", pytest.fail), Task("Two!", dict, (((figures[1], Measured(8.0)),),))]
    monkeypatch.setattr(study.module, "tasks", lambda *_: tasks)
    assert STUDY.measure(study, tmp_path) == {figures[0]: Measured(7.0, 1.0, 3), figures[1]: Measured(8.0)}
    assert json.loads((tmp_path / "two-.json").read_text("utf-8")) == {figures[1]: [8.0, 0.0, 0]}


# ---- single works


def test_champion_is_that_of_the_study() -> None:
    measure = STUDIES["evolved"].module
    figures = STUDIES["evolved"].figures
    record = json.loads(read_chromosome(CHAMPION).record)
    best = max(measure.RUNS, key=lambda name: figures[f"{name} at all"].mean)
    assert record["commands"] == measure.commands(best)
    assert record["chosen"] == {"deals": 1000, "seed": measure.SELECTION_SEED, "among": list(measure.RUNS)}
    assert measure.SEED not in (record["chosen"]["seed"], record["settings"]["seed"])


def test_champion_beats_the_fields() -> None:
    """The deals are independent of its training and its choice."""
    for field in STUDIES["evolved"].module.FIELDS:
        won = STUDIES["evolved"].figures[f"limit10 {field}"]
        assert won.mean > won.half_width


def test_preflop_equilibrium_beats_every_simple_bot() -> None:
    figures = STUDIES["lp-mc"].figures
    prefixes = ("preflop equilibrium", "full equilibrium")
    winnings = [figure for name, figure in figures.items() if name.startswith(prefixes)]
    assert len(winnings) == 9
    assert all(figure.mean > figure.half_width for figure in winnings)


def test_options_of_rembrant_exist() -> None:
    for name in STUDIES["rembrant"].needed():
        if " against " not in name:
            continue
        options = name.partition(" against ")[0]
        make_bot("rembrant" if options == "default" else f"rembrant?{options}")


@pytest.mark.parametrize(
    ("name", "function", "arguments"),
    [
        ("kuhn", "measure", ("classic-rational-1-rank",)),
        ("lp-mc", "solutions", ()),
        ("rembrant", "play", ("complete=7 against rembrant",)),
        ("rembrant", "flop_chances", ()),
        ("evolved", "match", (CHAMPION, "limit10", "raising")),
        ("learner", "measure", ("limit mfs?k=0.5",)),
    ],
)
def test_measurement_is_reproducible(name: str, function: str, arguments: tuple[Any, ...]) -> None:
    measurements = getattr(STUDIES[name].module, function)(*arguments)
    stored = STUDIES[name].figures
    # Some figures were rounded before they were stored.
    tolerance = {"evolved": 0.51, "learner": 0.51, "rembrant": 0.051}.get(name, 1e-6)
    assert measurements.keys() & stored.keys()
    for figure in measurements.keys() & stored.keys():
        assert stored[figure].mean == pytest.approx(measurements[figure].mean, abs=tolerance, rel=1e-5)


@pytest.mark.parametrize("name", ["kuhn", "learner"])
def test_page_has_the_output_of_its_commands(name: str) -> None:
    study = STUDIES[name]
    page = (STUDY.APPENDIX / f"{name}.md").read_text("utf-8")
    for marker, command in study.data["outputs"].items():
        assert with_blocks(page, {marker: STUDY.output_of(command)}) == page


def test_evolution_has_all_measurements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven tiny runs yield every figure of the study, apart from rare final hands."""
    study = STUDIES["evolved"]
    module = study.module
    tiny = "--deals 4 --population 6 --generations 2 --trials 20"
    runs = {}
    for number, (name, bred) in enumerate(module.RUNS.items()):
        trainers = "" if bred.borrowed else f"{tiny} --seed {10 * number + 1}"
        runs[name] = module.Bred(f"{tiny} --seed {100 + number}", trainers, bred.borrowed)
    for name, value in (
        ("RUNS", runs),
        ("CHAMPION", str(tmp_path / "champion")),
        ("_DEALS", 20),
        ("_GENE_DEALS", 20),
        ("_CURVE_TABLES", 2),
        ("make_deals", lambda count, *about: make_deals(min(count, 20), *about)),
        ("_MATCH_DEALS", 1),
    ):
        monkeypatch.setattr(module, name, value)
    figures: dict[str, Any] = {}
    for task in module.tasks(study.needed(), tmp_path):
        figures |= task.function(*task.arguments)
    rare = ("won ", "times ", "dollars ", "spread ")
    assert [name for name in study.needed() if name not in figures and not name.startswith(rare)] == []
    assert json.loads(read_chromosome(str(tmp_path / "champion")).record)["chosen"]["among"] == list(runs)
    assert figures["trained player"].half_width == 0 < figures["unseen player"].half_width
    assert 0 < figures["genes used"].mean < 100


def test_blocks_are_replaced_between_their_markers() -> None:
    page = "a\n<!-- one -->\nold\n<!-- end of one -->\nb\n"
    assert with_blocks(page, {"one": "new\n"}) == "a\n<!-- one -->\nnew\n<!-- end of one -->\nb\n"
