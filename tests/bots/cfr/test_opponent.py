"""The opponent model of `cfr?exploit`: counts, responses, and split matches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bots.cfr.bot import CfrBot
from bots.cfr.opponent import Occasion, OpponentModel, read_model
from bots.errors import BotFileError, GameRefused
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from engine import CALL, FOLD, RAISE, betting_start
from logs import HandRecord
from protocol import find_game

LIMIT = find_game("limit")[1]
START = betting_start(LIMIT)
HALVES = {FOLD: np.array([1.0, 0.0]), CALL: np.array([0.0, 0.5]), RAISE: np.array([0.0, 0.5])}
"""Policy of a strategy with two holdings."""
CALLED = Occasion("010", 1, (500, 250, 250))
"""The first decision, in which the other half of the range would have folded."""


def bot(seed: int = 1, exploit: float = 0.5) -> CfrBot:
    return CfrBot(rivers=0, exploit=exploit, seed=seed)


def play(ours: CfrBot, other: str, hands: int, first: int = 0) -> list[HandRecord]:
    return list(
        self_play("limit", [ours, make_bot(other, seed=2)], deals=hands, first_hand=first, seed=3, seating="single")
    )


def test_model_begins_as_the_strategy_and_learns_observed_actions() -> None:
    model = OpponentModel()
    before = model.of(START, HALVES)
    assert sum(before.values()) == pytest.approx([1, 1])
    assert before[FOLD] == pytest.approx([1.05 / 1.15, 0.05 / 1.15])
    for _ in range(1000):
        model.learn([CALLED])
    after = model.of(START, HALVES)
    assert sum(after.values()) == pytest.approx([1, 1])
    assert (after[CALL] > 0.8).all()
    # Observations in one situation do not change the others.
    other = START.after(RAISE)
    assert model.of(other, HALVES)[FOLD] == pytest.approx(before[FOLD])


def test_actions_that_are_not_legal_have_no_chance() -> None:
    capped = START.after(RAISE).after(RAISE).after(RAISE)
    assert not capped.legal_actions().can_raise
    assert {*OpponentModel().of(capped, {FOLD: 0.5, CALL: 0.5})} == {FOLD, CALL}
    checked = START.after(CALL).after(CALL)
    assert {*OpponentModel().of(checked, {CALL: 0.5, RAISE: 0.5})} == {CALL, RAISE}


@pytest.mark.slow  # numba compiles
def test_a_caller_is_answered_without_bluffs() -> None:
    """The bot learns that the opponent never folds, and bets hands that win more often than not."""
    ours = bot(exploit=1)
    play(ours, "calling", 60)
    assert ours._answerer is not None
    rows = ours._answerer.model._counts.values()
    assert all(row[0] == row[2] == 0 < row[1] for row in rows)
    assert sum(row[3] + row[5] for row in rows) > 0.3 * sum(map(sum, (row[3:] for row in rows)))


@pytest.mark.slow  # numba compiles
def test_a_match_may_be_split_between_hands(tmp_path: Path) -> None:
    start, journal = tmp_path / "start", tmp_path / "journal"
    start.write_bytes(bot().start_memory(LIMIT))
    whole = play(bot(), "raising", 60)
    first = bot()
    first.train(str(start), str(journal))
    records = play(first, "raising", 25)
    second = bot()
    second.train(str(start), str(journal))
    records += play(second, "raising", 35, 25)
    assert [record.values for record in records] == [record.values for record in whole]
    assert [record.betting.rounds for record in records] == [record.betting.rounds for record in whole]
    alone = play(CfrBot(rivers=0, seed=1), "raising", 60)
    assert [record.betting.rounds for record in alone] != [record.betting.rounds for record in whole], (
        "it has answered in some hands"
    )
    lines = journal.read_text().splitlines()
    assert len(lines) == 60
    assert bot().merged(str(start), [str(journal)]) == second._require_answerer(LIMIT).model.content()


def test_journals_are_merged_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "start").write_bytes(OpponentModel({"010": [1000, 2000, 0, 900, 1800, 300]}).content())
    (tmp_path / "a").write_text("0 010:1:500,250,250 111:2:1,2,997\n1 \n")
    (tmp_path / "b").write_text("0 010:0:400,300,300\n")
    paths = [str(tmp_path / name) for name in ("a", "b")]
    start = str(tmp_path / "start")
    outcome = {bot().merged(start, order) for order in (paths, paths[::-1])}
    (tmp_path / "merged").write_bytes(*outcome)
    assert read_model(str(tmp_path / "merged"))._counts == {
        "010": [2000, 3000, 0, 1800, 2350, 850],
        "111": [0, 0, 1000, 1, 2, 997],
    }


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("0 010:3:500,250,250\n")
    with pytest.raises(BotFileError, match="hand 0: '010:3:500,250,250' is not a record of cfr"):
        OpponentModel().learn_journal(str(tmp_path / "journal"))
    for counts in ({"010": [1]}, {"010": [1, 2, 3, 4, 5, "x"]}):
        (tmp_path / "start").write_bytes(OpponentModel(counts).content())  # type: ignore[arg-type]
        with pytest.raises(BotFileError, match="damaged"):
            read_model(str(tmp_path / "start"))


def test_exploitation_of_other_games_is_refused() -> None:
    assert bot().is_learning
    assert not CfrBot().is_learning
    assert bot().memory_path is None
    for game in ("nolimit", "leduc"):
        with pytest.raises(GameRefused, match="leave out exploit"):
            bot().require_game(find_game(game)[1])
    with pytest.raises(ValueError, match="from 0 to 1, not 2"):
        CfrBot(exploit=2)


def test_learning_bot_has_no_policy() -> None:
    from bots.sdk.view import View
    from engine import Hand, deal_hand

    hand = Hand(LIMIT, deal_hand(LIMIT, 7, 0))
    view = View.from_hand(hand, hand.acting_position, 0)
    assert bot().policy(view) is None
    assert bot().policy_by_holding(view) is None
    assert CfrBot(rivers=0).policy(view)
