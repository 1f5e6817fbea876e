"""Tables of `research/tables/cfr.md`, compared with the measurements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bots.cfr.bot import SHIPPED
from bots.cfr.expectation import compare_strategies
from bots.cfr.strategy_files import read_strategy
from bots.cfr.training import plan_training, train
from bots.cfr.training_settings import CfrSettings
from bots.sdk.registry import builtin_names, make_bot
from protocol import find_game
from tests.scripts import script

pytestmark = pytest.mark.slow

REMAKE = script("research/cfr/remake.py")
RIVERS = script("research/cfr/rivers.py")
RESPONSES = script("research/cfr/responses.py")
ADAPTING = script("research/cfr/adapting.py")
MERGED = script("research/cfr/merged.py")
EXPLOITERS = script("research/strength/exploiters.py")
_FIGURES = re.compile(r"^\| `([\w-]+)` \|.*\| ([^|]*?) ?\| ([^|]*?) ?\|$", re.MULTILINE)
RECORDED = -18.8
"""Winnings of the strategy of a small training from the shipped one, in mbb/g."""


def test_table_has_the_figures_of_the_results() -> None:
    page = REMAKE.PAGE.read_text("utf-8")
    rows = RIVERS.read_rows(REMAKE.CSV, REMAKE.Row)
    assert {row.opponent: row.deals for row in rows} == REMAKE.DEALS
    assert REMAKE.with_table(page, rows) == page


def test_table_of_no_limit_has_the_figures_of_the_results() -> None:
    page = REMAKE.PAGE.read_text("utf-8")
    rows = RIVERS.read_rows(REMAKE.NO_LIMIT_CSV, REMAKE.Row)
    assert {row.opponent: row.deals for row in rows} == REMAKE.NO_LIMIT_DEALS
    assert REMAKE.with_no_limit_table(page, rows) == page


def test_table_of_merged_trees_has_their_sizes() -> None:
    page = MERGED.PAGE.read_text("utf-8")
    parts = RIVERS.read_rows(MERGED.CSV, MERGED.Part)
    assert parts == [part for game in MERGED.GAMES for part in MERGED.count_parts(game)]
    assert MERGED.with_table(page, parts) == page


def test_winnings_from_exploiters_are_the_measured_ones() -> None:
    page = EXPLOITERS.PAGE.read_text("utf-8")
    assert EXPLOITERS.with_table(page, RIVERS.read_rows(EXPLOITERS.CSV, EXPLOITERS.Met)) == page


def test_best_responses_are_the_measured_ones() -> None:
    page = RESPONSES.PAGE.read_text("utf-8")
    rows = RESPONSES.read_rows(RESPONSES.CSV, RESPONSES.Response)
    assert [tuple(row[:4]) for row in rows] == [tuple(question[:4]) for question in RESPONSES.QUESTIONS]
    assert RESPONSES.with_table(page, rows) == page


def test_page_of_all_bots_has_their_results() -> None:
    text = REMAKE.BOTS.read_text("utf-8")
    limit, no_limit = RIVERS.read_rows(REMAKE.CSV, REMAKE.Row), RIVERS.read_rows(REMAKE.NO_LIMIT_CSV, REMAKE.Row)
    assert REMAKE.with_bots(text, limit, no_limit) == text
    figures = {bot: (limit, no_limit) for bot, limit, no_limit in _FIGURES.findall(text)}
    assert {bot for bot, (figure, _) in figures.items() if figure} == {"cfr", *REMAKE.DEALS}
    assert {bot for bot, (_, figure) in figures.items() if figure} == {"cfr", *REMAKE.NO_LIMIT_DEALS}
    assert all(row.mean > row.half_width for row in (*limit, *no_limit))  # "cfr beats all of them"


def test_page_of_all_bots_lists_every_bot() -> None:
    listed = {
        name
        for line in REMAKE.BOTS.read_text("utf-8").splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([\w-]+)`", line.split(" | ")[0])
    }
    assert listed == {*builtin_names()} - {"lbr"}


def test_training_has_the_figures_of_the_results() -> None:
    page = REMAKE.PAGE.read_text("utf-8")
    rows = RIVERS.read_rows(REMAKE.TRAINING_CSV, REMAKE.Mark)
    assert tuple(row.iterations for row in rows) == REMAKE.MARKS
    assert REMAKE.with_training(page, rows) == page


def test_every_suitable_built_in_bot_is_an_opponent() -> None:
    for name, deals in (("limit", REMAKE.DEALS), ("nolimit", REMAKE.NO_LIMIT_DEALS)):
        game = find_game(name)[1]
        able = {other for other in builtin_names() if make_bot(other).refusal(game) is None}
        # One does what another does, one is made against a bot that is named, one is this bot.
        assert {*deals} == able - {"constant", "lbr", "cfr"}


def test_match_is_reproducible(tmp_path: Path) -> None:
    row = REMAKE.played(tmp_path, "calling", 20)
    assert (row.opponent, row.deals) == ("calling", 20)
    assert REMAKE.played(tmp_path, "calling", 20) == row


def test_row_is_reproducible(tmp_path: Path) -> None:
    row = REMAKE.played(tmp_path, "folding", REMAKE.DEALS["folding"])
    assert row in RIVERS.read_rows(REMAKE.CSV, REMAKE.Row)


def test_answers_to_opponents_are_the_measured_ones() -> None:
    page = RIVERS.PAGE.read_text("utf-8")
    won, lost = (RIVERS.read_rows(path, ADAPTING.Row) for path in (ADAPTING.CSV, ADAPTING.GIVEN_CSV))
    assert {row.opponent: row.deals for row in won} == {
        opponent: matches * ADAPTING.DEALS for opponent, matches in ADAPTING.MATCHES.items()
    }
    assert {row.opponent: row.deals for row in lost} == ADAPTING.GIVEN
    assert ADAPTING.with_tables(page, won, lost) == page


def test_rivers_are_the_measured_ones() -> None:
    page = RIVERS.PAGE.read_text("utf-8")
    costs = {"river": RIVERS.read_rows(RIVERS.COSTS, RIVERS.Cost), "turn": RIVERS.read_rows(RIVERS.TURNS, RIVERS.Cost)}
    for street, rows in costs.items():
        assert [(row.game, row.iterations, row.solved) for row in rows] == [
            (game, count, RIVERS.COUNTS[street]) for game in RIVERS.GAMES[street] for count in RIVERS.ITERATIONS[street]
        ]
    worth = RIVERS.read_rows(RIVERS.WORTH, RIVERS.Worth)
    turns = RIVERS.read_rows(RIVERS.TURNS_WORTH, RIVERS.TurnsWorth)
    assert {row.actions: row.hands for row in turns} == RIVERS.TURNS_HANDS
    assert RIVERS.with_tables(page, costs, worth, turns) == page


@pytest.mark.parametrize(("street", "round_"), [("turn", 2), ("river", 3)])
def test_endgame_is_reproducible(street: str, round_: int) -> None:
    (came,) = RIVERS.endgames_of("limit", street, 1)
    assert (came.betting.round, len(came.board)) == (round_, 2 + round_)


def test_training_reaches_the_recorded_strength(tmp_path: Path) -> None:
    plan = plan_training(CfrSettings(buckets="40", deals=1024))
    trained = train(plan, tmp_path, iterations=1000, threads=2)
    strategy = read_strategy(str(trained.path))
    won = compare_strategies(strategy, read_strategy(SHIPPED["limit"]), 24, seed=1)
    assert won.mean == pytest.approx(RECORDED, abs=0.1)
