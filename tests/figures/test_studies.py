"""The studies of `docs/studies`: the rule of their verdicts, and pages that show what was measured."""

from __future__ import annotations

import json
import re
from math import inf
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Any

import pytest

from bots.evolved.chromosome import CHAMPION, read_chromosome
from bots.sdk.registry import make_bot
from logs.document.page import format_page
from tests.logs.pages import checked_page
from tests.scripts import script

pytestmark = pytest.mark.slow

STUDY = script("studies/study.py")
with_blocks = script("blocks.py").with_blocks
Measured, Verdict, Interval = STUDY.Measured, STUDY.Verdict, STUDY.Interval
REPRODUCED, UNDECIDED, REFUTED = Verdict
Z = NormalDist().inv_cdf(0.975)


def study_of(name: str) -> Any:
    return STUDY.Study(name, STUDY.read_figures(STUDY.HERE / f"{name}.csv"))


STUDIES = {name: study_of(name) for name in STUDY.NAMES}


# ---- the rule


def judged(ours: float, half_width: float, printed: float = 10.0, uncertainty: float = 0.0) -> Any:
    around = Interval.around
    return STUDY.verdict(around(ours, half_width), around(printed, uncertainty), around(printed, 0.2 * printed))


@pytest.mark.parametrize(
    ("ours", "half_width", "uncertainty", "verdict"),
    [
        (10.0, 0.0, 0.0, REPRODUCED),
        (9.0, 0.9, 1.0, REPRODUCED),
        (9.0, 1.1, 1.0, UNDECIDED),
        (9.0, 0.9, 0.05, REFUTED),
        (14.0, 3.0, 0.5, REFUTED),
        (14.0, 3.0, 2.0, UNDECIDED),
        (10.0, inf, 0.0, UNDECIDED),
    ],
)
def test_verdicts(ours: float, half_width: float, uncertainty: float, verdict: Any) -> None:
    assert judged(ours, half_width, uncertainty=uncertainty) is verdict


def test_a_measurement_too_wide_to_disagree_reproduces_nothing() -> None:
    """Wins of 1.172 ± 0.344 are no reproduction of 0.827."""
    assert judged(1.172, 0.344, 0.827, 0.1) is UNDECIDED


@pytest.mark.parametrize(
    ("truth", "ours_error", "printed_error", "verdict", "least", "most"),
    [
        (10.0, 0.4, 0.4, REFUTED, 0.0, 0.05),
        (10.0, 0.4, 0.4, REPRODUCED, 0.9, 1.0),
        (10.0, 3.0, 3.0, REPRODUCED, 0.0, 0.0),
        (12.0, 0.4, 0.0, REPRODUCED, 0.0, 0.025),
        (12.0, 2.0, 2.0, REPRODUCED, 0.0, 0.025),
        (14.0, 0.4, 0.4, REFUTED, 0.95, 1.0),
        (20.0, 5.0, 5.0, REFUTED, 0.05, 0.2),
    ],
)
def test_how_often_a_verdict_is_given(
    truth: float, ours_error: float, printed_error: float, verdict: Any, least: float, most: float
) -> None:
    """The print measures 10 and we measure the truth, both with normal errors that their intervals know."""
    random, runs = Random(11), 4_000
    given = 0
    for _ in range(runs):
        printed, ours = random.gauss(10.0, printed_error), random.gauss(truth, ours_error)
        given += judged(ours, Z * ours_error, printed, Z * printed_error) is verdict
    assert least - 0.01 <= given / runs <= most + 0.01


def test_the_interval_of_a_printed_figure() -> None:
    """Its decimals, and with a number of units the spread of ours."""
    study = STUDY.Study("kuhn", {"x": Measured(0.5, 0.01, 100)})

    def printed(text: str, **about: Any) -> str:
        claim = STUDY.Claim(quantity="q", printed=text, source="p. 1", measured="x", format=".3f", **about)
        found = study.judged(claim)
        return f"{found.printed}: {found.verdict}"

    assert printed("0.5") == "0.5: reproduced"
    assert printed("0.49", within=0.1, within_why="so") == "0.49: reproduced"
    assert printed("0.45") == "0.45: refuted"
    assert printed("0.42") == "0.42: refuted"
    assert printed("0.42", units=1) == "0.42 ± 0.100: undecided"
    assert printed("0.45", uncertainty=0.05) == "0.45 ± 0.050: reproduced"
    assert printed("0.45", uncertainty="0.1 / 2") == "0.45 ± 0.050: reproduced"
    assert printed("> 0.4") == "> 0.4: reproduced"
    assert printed("> 0.495") == "> 0.495: undecided"
    assert printed("< 0.4") == "< 0.4: refuted"
    with pytest.raises(ValueError, match="a tolerance has a reason"):
        printed("0.45", within=0.1)


def test_a_sample_without_spread_is_not_exact() -> None:
    for units, verdict in ((0, REPRODUCED), (50, UNDECIDED)):
        study = STUDY.Study("kuhn", {"x": Measured(100.0, 0.0, units)})
        assert study.judged(STUDY.Claim(quantity="q", printed="100", source="", measured="x")).verdict is verdict


def test_means_over_runs_have_the_interval_of_student() -> None:
    found = Measured.over([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found.mean, round(found.half_width, 2), found.units) == (3.0, 1.96, 5)
    assert found.minus(Measured(1.0, 0.0, 9)).half_width == found.half_width


# ---- claims and pages


@pytest.mark.parametrize("name", STUDY.NAMES)
def test_pages_show_what_was_measured(name: str) -> None:
    for page, blocks in STUDIES[name].blocks().items():
        text = page.read_text("utf-8")
        assert with_blocks(text, blocks) == text


@pytest.mark.parametrize("name", STUDY.NAMES)
def test_everything_that_is_named_was_measured(name: str) -> None:
    needed, figures = STUDIES[name].needed(), STUDIES[name].figures
    missing = [figure for figure in needed if figure not in figures]
    assert missing == (["default against rembrant"] if name == "rembrant" else [])
    assert list(figures) == [figure for figure in needed if figure in figures], "and nothing else is kept"


@pytest.mark.parametrize("name", STUDY.NAMES)
def test_every_claim_has_a_source(name: str) -> None:
    claims = [claim for group in STUDIES[name].data["claims"] for claim in STUDIES[name].claims_of(group)]
    assert claims
    assert all(claim.source and claim.quantity for claim in claims)


@pytest.mark.parametrize("name", STUDY.NAMES)
def test_every_field_of_a_row_is_used(name: str) -> None:
    known = set(STUDY.Claim.__dataclass_fields__)
    data = STUDIES[name].data
    for part in (*data["claims"], *data.get("tables", ())):
        columns = part.get("columns", ())
        used = {*re.findall(r"{(\w+)}", str(part)), *(one.get("field", "") for one in columns)}
        for row in part.get("rows", ()):
            assert set(row) <= used | (set() if columns else known)


def test_the_report_is_one_page() -> None:
    page = format_page(STUDIES["lp-mc"].document())
    assert checked_page(page).fetched == []
    assert "18 claims: " in page
    assert "section 5.1 (p. 26)" in page


def test_what_a_folder_holds_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = STUDIES["rembrant"]
    figures = list(study.figures)
    (tmp_path / "one.json").write_text(json.dumps({figures[0]: [7.0, 1.0, 3]}), "utf-8")
    tasks = [("one", pytest.fail, ()), ("Two!", dict, ([(figures[1], Measured(8.0))],))]
    monkeypatch.setattr(study.module, "tasks", lambda *_: tasks)
    assert STUDY.measure(study, tmp_path) == {figures[0]: Measured(7.0, 1.0, 3), figures[1]: Measured(8.0)}
    assert json.loads((tmp_path / "two-.json").read_text("utf-8")) == {figures[1]: [8.0, 0.0, 0]}
    STUDY.write_figures(tmp_path / "x.csv", {"a, b": Measured(1 / 3, 0.25, 9)})
    assert STUDY.read_figures(tmp_path / "x.csv") == {"a, b": Measured(0.333333, 0.25, 9)}


# ---- single works


def test_the_champion_is_that_of_the_study() -> None:
    measure, figures = STUDIES["evolved"].module, STUDIES["evolved"].figures
    record = json.loads(read_chromosome(CHAMPION).record)
    best = max(measure.RUNS, key=lambda name: figures[f"{name} at all"].mean)
    assert record["commands"] == measure.commands(best)
    assert record["chosen"] == {"deals": 1000, "seed": measure.SELECTION_SEED, "among": list(measure.RUNS)}
    assert measure.SEED not in (record["chosen"]["seed"], record["settings"]["seed"])


def test_the_champion_beats_the_fields() -> None:
    """On deals that decided neither its training nor its choice."""
    for field in STUDIES["evolved"].module.FIELDS:
        won = STUDIES["evolved"].figures[f"limit10 {field}"]
        assert won.mean > won.half_width


def test_an_equilibrium_before_the_flop_beats_every_simple_bot() -> None:
    figures = STUDIES["lp-mc"].figures
    won = [one for name, one in figures.items() if name.startswith(("preflop equilibrium", "full equilibrium"))]
    assert len(won) == 9
    assert all(one.mean > one.half_width for one in won)


def test_the_options_of_rembrant_are_options() -> None:
    for name in STUDIES["rembrant"].figures:
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
def test_a_measurement_can_be_repeated(name: str, function: str, arguments: tuple[Any, ...]) -> None:
    found = getattr(STUDIES[name].module, function)(*arguments)
    kept = {figure: one for figure, one in found.items() if figure in STUDIES[name].figures}
    assert kept
    for figure, one in kept.items():
        # Some were rounded before they were stored.
        room = {"evolved": 0.51, "learner": 0.51, "rembrant": 0.051}.get(name, 1e-6)
        assert STUDIES[name].figures[figure].mean == pytest.approx(one.mean, abs=room, rel=1e-5)


@pytest.mark.parametrize("name", ["kuhn", "learner"])
def test_the_page_shows_what_its_commands_print(name: str) -> None:
    study = STUDIES[name]
    page = (STUDY.HERE.parent / f"{name}-tables.md").read_text("utf-8")
    for marker, command in study.data["outputs"].items():
        assert with_blocks(page, {marker: STUDY.output_of(command)}) == page


def test_everything_is_measured_of_an_evolution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven tiny runs: every figure that the study needs, but for hands at the end that hardly ever come up."""
    study = STUDIES["evolved"]
    module, tiny = study.module, "--deals 4 --population 6 --generations 2 --trials 20"
    runs = {
        name: module.Bred(
            f"{tiny} --seed {100 + at}", "" if bred.borrowed else f"{tiny} --seed {10 * at + 1}", bred.borrowed
        )
        for at, (name, bred) in enumerate(module.RUNS.items())
    }
    for name, value in (
        ("RUNS", runs),
        ("CHAMPION", str(tmp_path / "champion")),
        ("_DEALS", 20),
        ("_GENE_DEALS", 20),
        ("_MATCH_DEALS", 1),
    ):
        monkeypatch.setattr(module, name, value)
    figures: dict[str, Any] = {}
    for _, function, arguments in module.tasks(study.needed(), tmp_path):
        figures |= function(*arguments)
    rare = ("won ", "times ", "dollars ")
    assert [name for name in study.needed() if name not in figures and not name.startswith(rare)] == []
    assert json.loads(read_chromosome(str(tmp_path / "champion")).record)["chosen"]["among"] == list(runs)
    assert figures["trained player"].half_width == 0 < figures["unseen player"].half_width
    assert 0 < figures["genes used"].mean < 100


def test_blocks_are_replaced_between_their_markers() -> None:
    page = "a\n<!-- one -->\nold\n<!-- end of one -->\nb\n"
    assert with_blocks(page, {"one": "new\n"}) == "a\n<!-- one -->\nnew\n<!-- end of one -->\nb\n"
