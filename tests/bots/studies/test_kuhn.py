"""The report on the claims of the thesis, built from results as the experiments would leave them, and the runs."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.errors import CheckpointError
from bots.kuhn.evolution import Fitness, KuhnSettings, OppositionKind
from bots.kuhn.games import KuhnGame, Variant, model
from bots.kuhn.runs import KuhnResult, best_answer, exploitability_of, game_value
from bots.studies.kuhn import kuhn_report
from bots.studies.kuhn_runs import (
    FOUR_MODELS,
    Experiment,
    ExperimentResults,
    experiments,
    read_results,
    run_experiments,
)
from bots.studies.kuhn_sections import differing, expected_maximum, mixed_value, range_verdict, settled_from, symbols
from bots.studies.report import Claim, Claims, Report, Verdict, format_report, printed_figures

PRINTED = printed_figures("kuhn")
MIXED_GENES = tuple(PRINTED["mixed_genes"])
best = cache(best_answer)
luck = cache(expected_maximum)


def as_expected(experiment: Experiment, seed: int) -> KuhnResult:
    """What a run would come to if it came to what the law says: the best possible, and its luck."""
    settings = experiment.settings
    length = experiment.generations + 1
    genes = tuple([0.5] * (3 * len(settings.rules.rows)))
    if settings.opposition is OppositionKind.MODEL:
        answer = best(settings.rules, settings.seat - 1, settings.model)
        record = answer.value if settings.fitness is Fitness.EXACT else luck(experiment) + 0.01 * (seed % 5 - 2)
        mean = np.linspace(-0.3, answer.value, length).tolist()
        own: dict[str, Any] = {"record": record, "record_genes": answer.genes, "record_value": answer.value}
        own |= {"rivals_mean": (), "rival_genes": (), "fittest_rival": (), "average": (), "rival_average": ()}
        return KuhnResult(
            seed=seed, best=(record,) * length, mean=tuple(mean), genes=answer.genes, fittest=genes, **own
        )
    value = -1 / 72 if experiment.name.startswith("mixed") else game_value(settings.rules)
    return KuhnResult(
        seed=seed,
        best=(1.0,) * length,
        mean=(value,) * length,
        rivals_mean=(-value,) * length,
        record=1.0,
        record_genes=(),
        record_value=None,
        genes=genes,
        rival_genes=genes,
        fittest=genes,
        fittest_rival=genes,
        average=genes,
        rival_average=genes,
    )


@pytest.fixture(scope="module")
def found() -> ExperimentResults:
    return {one.name: [as_expected(one, seed) for seed in range(1, one.seeds(40) + 1)] for one in experiments()}


@pytest.fixture(scope="module")
def report(found: ExperimentResults) -> Report:
    return kuhn_report(found)


def comparison(report: Report, section: str, quantity: str) -> Claim:
    return next(
        row
        for part in next(one for one in report.sections if one.title == section).parts
        if isinstance(part, Claims)
        for row in part.rows
        if row.quantity.startswith(quantity)
    )


@pytest.mark.parametrize(
    ("section", "quantity", "verdict"),
    [
        ("Kuhn poker against the models", "Rational, seat 1", Verdict.LUCKY),
        ("Kuhn poker against the models", "Folder, seat 1", Verdict.REPRODUCED),
        ("Three sizes of bets against the models", "Rational, seat 1", Verdict.NOT_REPRODUCED),
        ("Sizes and a raise against the models", "Bluffer, seat 2", Verdict.NOT_REPRODUCED),
        ("Co-evolution", "the first player's average fitness", Verdict.REPRODUCED),
        ("Co-evolution", "populations reach a Nash equilibrium", Verdict.NOT_REPRODUCED),
        ("The mixed approach", "a considerable improvement", Verdict.NOT_REPRODUCED),
        ("Printed strategies", "the mixed first player wins from Safe", Verdict.UNDECIDED),
        ("Printed strategies", "the co-evolved second player wins from Safe", Verdict.REPRODUCED),
        ("Sums of the text", "second player, king, Bluffer has checked", Verdict.NOT_REPRODUCED),
        ("Sums of the text", "first player, king against Bluffer", Verdict.REPRODUCED),
    ],
)
def test_what_became_of_a_claim(report: Report, section: str, quantity: str, verdict: Verdict) -> None:
    assert comparison(report, section, quantity).verdict is verdict


def test_a_printed_figure_is_judged_once(report: Report) -> None:
    for section, variant in zip(report.sections, Variant, strict=False):
        highest = section.parts[0]
        assert isinstance(highest, Claims)
        assert len(highest.rows) == len({row.quantity for row in highest.rows}) == len(PRINTED["best"][variant.value])
        others = [row for view in section.tables if "other rules" in view.title for row in view.rows]
        assert len(others) == {"breadth": 3, "both": 2}.get(variant.value, 0)


def test_every_model_of_the_thesis_has_its_chart(report: Report) -> None:
    charts = [chart.title for chart in report.sections[0].charts]
    assert charts == [f"Fitness against {name.capitalize()}, seat 1" for name in FOUR_MODELS]


@pytest.mark.slow  # many charts are drawn
def test_the_page_has_every_section(report: Report) -> None:
    page = format_report(report)
    for section in report.sections:
        assert section.title in page
    assert page.count("<svg") == sum(len(section.charts) for section in report.sections)
    assert "2.8 times as much" in report.sentences[0] or "2.7 times as much" in report.sentences[0]


def test_the_luck_that_the_law_tells_is_what_was_printed() -> None:
    for experiment in experiments():
        settings = experiment.settings
        if settings.game is Variant.CLASSIC and experiment.name.count("-") == 2 and settings.model:
            printed = PRINTED["best"]["classic"][experiment.name.removeprefix("classic-")]
            assert expected_maximum(experiment) == pytest.approx(printed, abs=0.03)


def test_printed_genes_fit_their_games() -> None:
    for variant, tables in PRINTED["genes"].items():
        assert all(len(text.split()) == len(KuhnGame(Variant(variant)).rows) for text in tables.values())
    for key, text in PRINTED["coevolved_symbols"].items():
        assert len(text.split()) == len(KuhnGame(Variant(key[:-2])).rows)


def test_every_game_is_worth_the_same() -> None:
    """Larger bets and a raise change nothing for who plays well."""
    for variant in Variant:
        assert game_value(KuhnGame(variant)) == pytest.approx(-1 / 18)


def test_the_most_that_a_mixed_first_player_can_be_sure_of() -> None:
    game, rational = KuhnGame(), model("rational", Variant.CLASSIC)
    assert mixed_value(game, rational) == pytest.approx(-1 / 72)
    sure = -best_answer(game, 1, (0, 0, 0, 0, 1 / 3, 1)).value
    assert sure == pytest.approx(-1 / 18)
    assert exploitability_of(game, 0, (0, 0, 0, 0, 1 / 3, 1)) == pytest.approx(0, abs=1e-9)
    assert exploitability_of(game, 0, MIXED_GENES) == pytest.approx(-1 / 18 + best_answer(game, 1, MIXED_GENES).value)


def test_figures_in_signs_and_words() -> None:
    assert symbols((0.01, 0.2, 0.5, 0.8, 0.99, 0.0)) == "0v~ ^10"
    assert differing("01~ v1^", (0.1, 0.7, 0, 0, 0.9, 0), ("a", "b", "c", "d", "e", "f")) == ["b 0.70"]
    values = [0.32, 0.33, 0.34, 0.33, 0.33]
    assert range_verdict(0.34, values, 1 / 6) == (Verdict.LUCKY, "no strategy wins more than 0.1667")
    assert range_verdict(0.34, values, 0.5)[0] is Verdict.REPRODUCED
    assert range_verdict(1.24, values, 0.25) == (Verdict.NOT_REPRODUCED, "5 runs range from 0.32 to 0.34")
    assert range_verdict(0.34, values[:1], 0.5)[0] is Verdict.UNDECIDED, "one run has no spread"
    assert range_verdict(0.02, [-0.1, 0.0, 0.1], 0.5) == (Verdict.UNDECIDED, "3 runs range from -0.10 to 0.10")
    assert settled_from([0.1] * 150 + [-0.05] * 300, -0.05) == 147
    assert settled_from([0.1] * 150, -0.05) is None


SMALL = KuhnSettings(model=model("rational", Variant.CLASSIC), fitness=Fitness.EXACT, population=101)
"""Nothing is compiled."""


class TestGathering:
    def test_what_is_there_is_not_done_again(self, tmp_path: Path) -> None:
        two = [Experiment("one", SMALL, 2, 1), Experiment("other", replace(SMALL, seat=2), 2, 2)]
        seen: list[float] = []
        run_experiments(tmp_path, two, 4, show=seen.append)
        assert seen == sorted(seen)
        assert (len(seen), seen[-1]) == (6, 1)
        first = (tmp_path / "one.jsonl").read_text("utf-8")
        (tmp_path / "one.jsonl").write_text(first[:-30], "utf-8")
        assert [result.seed for result in read_results(tmp_path, two, 4)["one"]] == [1, 2, 3]
        run_experiments(tmp_path, two, 4, show=seen.append)
        assert (tmp_path / "one.jsonl").read_text("utf-8") == first
        assert len(seen) == 7
        results = read_results(tmp_path, two, 4)
        assert [result.seed for result in results["other"]] == [1, 2]
        assert read_results(tmp_path, two, 2)["one"] == results["one"][:2]

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("{}\n", "it was made with game None, .*: take another folder"),
            ("[\n", "is damaged"),
            ("{}\n{}\n", "take another"),
        ],
    )
    def test_files_of_others(self, tmp_path: Path, text: str, sentence: str) -> None:
        (tmp_path / "one.jsonl").write_text(text, "utf-8")
        with pytest.raises(CheckpointError, match=sentence):
            run_experiments(tmp_path, [Experiment("one", SMALL, 1, 1)], 2)

    def test_a_result_is_the_same_after_it_was_written(self) -> None:
        result = as_expected(experiments()[0], 1)
        again = KuhnResult.from_data(json.loads(json.dumps(result.as_data())))
        assert again.record == result.record
        assert again.mean == pytest.approx(result.mean, abs=1e-6)
