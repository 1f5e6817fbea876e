"""``arena claims``: claims with verdicts, and new computations of their figures."""

from __future__ import annotations

import pytest

from bots.studies import study as studies
from bots.studies.measured import Measured
from bots.studies.study import NAMES, read_study
from tests.dealer.cli.conftest import Arena
from tests.programs import loaded_by

SUMS = """\
Genetic algorithms for Kuhn poker: the claims of the thesis
Paula López Pozuelo, "Genetic Algorithms in the Search for Optimal Kuhn Poker Strategies", MSc dissertation, University
College London, 2015.

kuhn.sums
Sums of the text, chips per hand
                                                  printed    ours  verdict  because
  ─────────────────────────────────────────────────────────────────────────────────────────────
  second player, king, Bluffer has checked: bets     1.16  1.2625  refuted  an arithmetic error
Source: section 5.1.1 (p. 31).
"""


def test_works_have_numbers_of_claims(arena_here: Arena) -> None:
    result = arena_here("claims")
    assert result.code == 0
    lines = [line.split() for line in result.out.splitlines()]
    assert [words[0] for words in lines if words and words[0] in NAMES] == list(NAMES)


def test_claim_has_figures_verdict_and_source(arena_here: Arena) -> None:
    result = arena_here("claims", "kuhn.sums.7")
    assert (result.code, result.out, result.err) == (0, SUMS, "")
    assert "an arithmetic error" in arena_here("claims", "kuhn.sums").out


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("chess", "arena: there is no work 'chess'; the works are evolved, kuhn, learner, lp-mc, rembrant\n"),
        (
            "learner.hands",
            "arena: learner has no claims 'learner.hands'; its groups are learner.levels, each with claims .1, .2 "
            "and on\n",
        ),
    ],
)
def test_unknown_name_is_refused(arena_here: Arena, name: str, sentence: str) -> None:
    result = arena_here("claims", name)
    assert (result.code, result.err) == (2, sentence)


def test_checked_claims_are_computed_again(arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    result = arena_here("claims", "learner.levels", "--check")
    assert result.code == 0
    assert "2 figures computed again, none different." in result.out
    study = read_study("learner")
    wrong = study.figures | {text: Measured(6.0) for text in study.expressions()[1:]}
    monkeypatch.setattr(studies, "read_figures", lambda _: wrong)
    result = arena_here("claims", "learner.levels", "--check")
    assert result.code == 1
    assert "2 figures computed again, 1 different." in result.out


def test_sample_of_claims_follows_from_the_seed(arena_here: Arena) -> None:
    result = arena_here("claims", "learner", "--check", "--sample", "1", "--seed", "4")
    assert result.code == 0
    assert "1 figure computed again, none different." in result.out
    assert result.out == arena_here("claims", "learner", "--check", "--sample", "1", "--seed", "4").out


def test_claim_without_a_figure_is_not_checked(arena_here: Arena) -> None:
    result = arena_here("claims", "rembrant.places", "--check")
    assert result.code == 2
    assert "rembrant.places.1 was not measured." in result.err


def test_showing_claims_imports_nothing_heavy() -> None:
    assert loaded_by("import dealer.cli.claims", ["numpy", "numba", "scipy"]) == []
