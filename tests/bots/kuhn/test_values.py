"""Exact values, compared with a twin of the rules and with published and computed numbers.

`exact.json` holds the models, their values against each other and the best responses to them, as enumerated by an
independent program, rounded to 5 (values) and 6 to 9 digits.

"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from bots.errors import EvolutionError, SolvingError
from bots.kuhn.games import (
    CARDS,
    CONJECTURED_BLUFFER,
    MODEL_NAMES,
    Genes,
    KuhnGame,
    Variant,
    model,
    models,
    sequence_form_of,
)
from bots.kuhn.runs import best_answer, expected_value
from bots.solving.equilibria import LinearProgram
from bots.solving.sequence_form import DecisionNode, Leaf, PublicGame, sequence_form
from bots.studies.measure_kuhn import payoffs, standard_deviation
from tests.bots.kuhn import naive

EXACT: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("exact.json").read_text("utf-8"))
GAMES: Final = [*map(KuhnGame, Variant), KuhnGame(Variant.BREADTH, tens_as_twos=True)]


def genes_of(game: KuhnGame, seed: int) -> Genes:
    return tuple(np.random.default_rng(seed).random(len(game.gene_names)).round(3).tolist())


@pytest.fixture(params=GAMES, ids=lambda game: game.variant.value + "-C2" * game.tens_as_twos)
def game(request: pytest.FixtureRequest) -> KuhnGame:
    outcome: KuhnGame = request.param
    return outcome


def test_the_genes_of_each_game() -> None:
    assert [len(KuhnGame(variant).gene_names) for variant in Variant] == [6, 18, 12, 36]
    assert KuhnGame().gene_names == ("B J", "B Q", "B K", "C J", "C Q", "C K")
    assert KuhnGame(Variant.BREADTH).rows == ("B", "B>1", "B10", "C1", "C2", "C10")
    assert KuhnGame(Variant.DEPTH).rows == ("B", "NF", "R", "C")
    assert KuhnGame(Variant.BOTH).rows == (
        "B",
        "B>1",
        "B10",
        "NF1",
        "NF2",
        "NF10",
        "R1",
        "R2",
        "R10",
        "C1",
        "C2",
        "C10",
    )


def test_the_payoffs_of_each_game() -> None:
    amounts = [sorted({abs(line.chips) for line in KuhnGame(variant).lines()}) for variant in Variant]
    assert amounts == [[1, 2], [1, 2, 3, 11], [1, 2, 3], [1, 2, 3, 5, 11, 21]]


@pytest.mark.parametrize("seed", [0])
def test_values_are_those_of_the_rules(game: KuhnGame, seed: int) -> None:
    first, second = genes_of(game, seed), genes_of(game, seed + 100)
    value = expected_value(game, first, second)
    assert value == pytest.approx(float(naive.expected_value(game, first, second)), abs=1e-12)
    chances = payoffs(game, first, second)
    assert sum(chances.values()) == pytest.approx(1, abs=1e-12)
    assert sum(won * chance for won, chance in chances.items()) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    "game", [pytest.param(one, marks=[pytest.mark.slow] * (one.variant is Variant.BOTH)) for one in GAMES]
)
def test_best_responses_are_the_best_of_all_pure_ones(game: KuhnGame, seat: int) -> None:
    if game.tens_as_twos or game.variant is Variant.BOTH:
        opponent = models(game.variant)["bluffer"]
    else:
        opponent = genes_of(game, 7)
    outcome = best_answer(game, seat, opponent)
    assert outcome.value == pytest.approx(float(naive.best_value(game, seat, opponent)), abs=1e-12)
    pair = (outcome.genes, opponent) if seat == 0 else (opponent, outcome.genes)
    assert outcome.value == pytest.approx((-1) ** seat * expected_value(game, *pair), abs=1e-12)


@pytest.mark.parametrize("variant", Variant)
def test_the_models_and_their_values(variant: Variant) -> None:
    game, players = KuhnGame(variant), models(variant)
    for name, rows in EXACT["models"][variant.value].items():
        assert players[name] == tuple(gene for row in game.rows for gene in rows[row])
    for pair, value in EXACT["values"][variant.value].items():
        first, second = pair.replace(" (P1)", "").replace(" (P2)", "").split(" vs ")
        outcome = expected_value(game, players[first], players[second])
        assert outcome == pytest.approx(value, abs=5.1e-6)
        assert outcome == pytest.approx(float(naive.expected_value(game, players[first], players[second])), abs=1e-12)


@pytest.mark.parametrize("variant", Variant)
def test_best_responses_to_the_models(variant: Variant) -> None:
    for name, seats in EXACT["best_answers"][variant.value].items():
        opponent, _, rule = name.partition(" (")
        game, genes = KuhnGame(variant, tens_as_twos=bool(rule)), models(variant)[opponent]
        for seat, known in enumerate(seats.values()):
            outcome = best_answer(game, seat, genes)
            pair = (outcome.genes, genes) if seat == 0 else (genes, outcome.genes)
            assert outcome.value == pytest.approx(known["value"], abs=6e-10)
            is_tied_with_chips = variant is Variant.BOTH and opponent in ("rational", "bluffer")
            if not is_tied_with_chips:
                # Where two best responses put in different amounts, the other program chose the other one.
                assert standard_deviation(game, *pair) == pytest.approx(known["sd"], abs=6e-7)
            if rule and seat == 1:
                # The other program has gaps for bets of 2 only, and other signs for irrelevant genes.
                assert outcome.symbols()[12:15] == known["symbols"][12:15]
                continue
            assert outcome.symbols() == known["symbols"]
            for gap, other in zip(outcome.gaps, known["gaps"], strict=True):
                assert gap == (None if other is None else pytest.approx(other, abs=6e-7))


@pytest.mark.parametrize("a", [0, 0.1, 0.25, 1 / 3])
def test_the_equilibria_of_the_classic_game(a: float) -> None:
    """Kuhn (1950): one for every a up to 1/3, all against the single strategy of the second player."""
    game = KuhnGame()
    first, second = (a, 0, 3 * a, 0, a + 1 / 3, 1), (1 / 3, 0, 1, 0, 1 / 3, 1)
    assert naive.exploitability(game, first, second) == pytest.approx(0, abs=1e-12)
    assert expected_value(game, first, second) == pytest.approx(-1 / 18, abs=1e-12)


@pytest.mark.parametrize("first", [(0.34, 0, 1, 0, 0.34 + 1 / 3, 1), (0.1, 0, 0.3, 0, 0.45, 1)])
def test_beyond_the_family_there_is_no_equilibrium(first: Genes) -> None:
    assert naive.exploitability(KuhnGame(), first, (1 / 3, 0, 1, 0, 1 / 3, 1)) > 1e-4


def test_values_of_the_printed_strategies() -> None:
    """Winnings of best responses against them, and their winnings against the first four models."""
    game, players = KuhnGame(), models(Variant.CLASSIC)
    printed = {
        "coevo_P1": (0, (0.1, 0, 0.43, 0.01, 0.56, 1)),
        "coevo_P2": (1, (0.44, 0, 1, 0.0027, 0.24, 1)),
        "mixed_P1": (0, (0.00046, 0, 0.063, 0, 0.49, 1)),
    }
    for name, (seat, genes) in printed.items():
        known = EXACT["printed_chromosomes"][name]
        assert best_answer(game, 1 - seat, genes).value == pytest.approx(known["opponent_best_response"], abs=6e-6)
        for opponent, value in zip(MODEL_NAMES, known["v"], strict=False):
            pair = (genes, players[opponent]) if seat == 0 else (players[opponent], genes)
            assert (-1) ** seat * expected_value(game, *pair) == pytest.approx(value, abs=6e-6)


def test_optimum_of_two_purposes_is_minus_1_72() -> None:
    """No strategy exceeds -1/72 on average over its worst opponent and Rational."""
    known, game = EXACT["mixed"], KuhnGame()
    worst = -best_answer(game, 1, known["genes"]).value
    against = expected_value(game, known["genes"], models(Variant.CLASSIC)["rational"])
    assert (worst, against) == (pytest.approx(-1 / 18, abs=1e-12), pytest.approx(1 / 36, abs=1e-12))
    assert (worst + against) / 2 == pytest.approx(-1 / 72, abs=1e-12)


def test_printed_answers_fit_the_conjectured_bluffer() -> None:
    game = KuhnGame(Variant.BOTH)
    values = [best_answer(game, seat, CONJECTURED_BLUFFER).value for seat in (0, 1)]
    assert values == pytest.approx([2.25, 3.25], abs=1e-12)


@pytest.mark.parametrize("variant", Variant)
def test_each_game_has_an_equilibrium(variant: Variant) -> None:
    game = KuhnGame(variant)
    form = sequence_form_of(game)
    value, plans = LinearProgram(form).solve()
    yes = [
        np.array([plan[choice.first + 1] / np.maximum(plan[choice.parent], 1e-300) for choice in form.choices[seat]])
        for seat, plan in enumerate(plans)
    ]
    rows = [[choice.name for choice in form.choices[seat]] for seat in (0, 1)]
    genes = [tuple(min(1.0, gene) for row in game.rows for gene in yes[seat][rows[seat].index(row)]) for seat in (0, 1)]
    assert naive.exploitability(game, *genes) == pytest.approx(0, abs=1e-9)
    assert expected_value(game, *genes) == pytest.approx(value, abs=1e-9)
    if variant is Variant.CLASSIC:
        assert value == pytest.approx(-1 / 18, abs=1e-12)


def test_spread_of_a_constant_and_of_a_coin() -> None:
    folder, caller = models(Variant.CLASSIC)["folder"], models(Variant.CLASSIC)["caller"]
    assert payoffs(KuhnGame(), caller, folder) == {1: pytest.approx(1)}
    assert standard_deviation(KuhnGame(), caller, folder) == pytest.approx(0, abs=1e-7)
    assert payoffs(KuhnGame(), caller, caller) == {-2: pytest.approx(0.5), 2: pytest.approx(0.5)}
    assert standard_deviation(KuhnGame(), caller, caller) == pytest.approx(2)
    assert math.isclose(sum(payoffs(KuhnGame(), (0.5,) * 6, (0.5,) * 6).values()), 1)


def test_invalid_genes_and_games_are_refused() -> None:
    with pytest.raises(EvolutionError, match="the game depth has 12 genes, 4 rows of 3, not 6"):
        expected_value(KuhnGame(Variant.DEPTH), [0.5] * 6, [0.5] * 12)
    with pytest.raises(EvolutionError, match=r"the gene C Q is 1\.5: a gene is a probability, 0 to 1"):
        best_answer(KuhnGame(), 0, [0, 0, 0, 0, 1.5, 0])
    with pytest.raises(EvolutionError, match="the gene B J is nan"):
        payoffs(KuhnGame(), [math.nan] * 6, [0] * 6)
    with pytest.raises(EvolutionError, match="in the game breadth only, not in classic"):
        KuhnGame(tens_as_twos=True)
    with pytest.raises(EvolutionError, match="there is no model 'sly'; there are: shy, safe, rational"):
        model("sly", Variant.CLASSIC)


def test_decisions_of_one_information_set_need_the_same_past() -> None:
    """A player that forgets its own action has no sequence form."""
    end = Leaf("", 0, 1)
    again = DecisionNode("B", 0, ("no", "yes"), (end, end))
    game = PublicGame(DecisionNode("A", 0, ("no", "yes"), (again, again)), (CARDS, CARDS), np.zeros((1, 3, 3)))
    with pytest.raises(SolvingError, match="player 0 cannot distinguish two decisions 'B', but has come to them by"):
        sequence_form(game)
