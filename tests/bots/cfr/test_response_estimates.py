"""Estimates of best responses: resumed folders, workers and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.cfr.response_estimates import JOURNAL, estimate_responses, response_document, response_settings, won_on_board
from bots.errors import BotFileError, SolvingError
from bots.workers import local_workers
from logs.estimation import RunningMean

BOT = "cfr?rivers=0"


def test_resumed_estimate_is_that_of_one_computation(tmp_path: Path) -> None:
    settings = response_settings("limit", BOT, "river", 3)
    scores = [won_on_board(settings, number) for number in range(3)]
    whole = estimate_responses(settings, 3)
    assert whole.mean == pytest.approx(sum(scores) / 3)
    estimate_responses(settings, 2, folder=tmp_path)
    assert estimate_responses(settings, 3, folder=tmp_path).mean == whole.mean
    # Fewer boards than are stored: the first ones by number.
    assert estimate_responses(settings, 2, folder=tmp_path).mean == pytest.approx(sum(scores[:2]) / 2)
    with pytest.raises(BotFileError, match="seed 3, not seed 4"):
        estimate_responses(response_settings("limit", BOT, "river", 4), 2, folder=tmp_path)
    with (tmp_path / JOURNAL).open("a") as file:
        file.write("[1]\n")
    with pytest.raises(BotFileError, match="damaged"):
        estimate_responses(settings, 2, folder=tmp_path)


@pytest.mark.slow
def test_workers_compute_the_same_boards() -> None:
    settings = response_settings("limit", BOT, "turn", 3)
    with local_workers(2) as workers:
        shared = estimate_responses(settings, 4, workers=workers)
    assert shared.mean == estimate_responses(settings, 4).mean


def test_rivers_are_all_solved_after_a_turn_only() -> None:
    assert response_settings("limit", "cfr", "turn", 0).solves_all_rivers
    assert not response_settings("limit", "cfr", "river", 0).solves_all_rivers
    assert not response_settings("limit", BOT, "turn", 0).solves_all_rivers


def test_drawn_rivers_are_named_and_refused_where_none_are_solved() -> None:
    settings = response_settings("limit", "cfr", "turn", 0, 6)
    assert not settings.solves_all_rivers
    assert settings.data["rivers"] == 6
    document = response_document(settings, RunningMean([1.0, 2.0]))
    assert "is exact on 6 drawn rivers of each of 2 drawn boards" in document.sentences[0]
    for bot, street in (("cfr", "river"), (BOT, "turn")):
        with pytest.raises(SolvingError, match="solves no rivers from the"):
            response_settings("limit", bot, street, 0, 6)


def test_document_names_the_round_and_the_boards() -> None:
    settings = response_settings("limit", BOT, "river", 3)
    document = response_document(settings, estimate_responses(settings, 2))
    assert document.sentences[0].startswith("From the river on, a best response wins +")
    assert "on 2 drawn boards" in document.sentences[0]
    assert "lower bound" in document.sentences[1]


@pytest.mark.parametrize(
    ("game", "bot", "sentence"),
    [
        ("limit", "mfs", "mfs: in hold'em only strategies of cfr have an exact best response from a round on"),
        ("limit3", "cfr", "limit3: best responses from the turn on are for hold'em of two"),
        (
            "limit",
            "cfr?exploit=0.3",
            "cfr?exploit=0.3 answers its opponent, so no strategy of it is fixed: leave out exploit",
        ),
    ],
)
def test_other_bots_and_games_are_refused(game: str, bot: str, sentence: str) -> None:
    with pytest.raises(SolvingError) as refusal:
        response_settings(game, bot, "turn", 0)
    assert str(refusal.value) == sentence
