"""The player `learner`: learning, freezing, files, comments, journals."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from bots.baseline import CallingBot, ConstantBot, FoldingBot, RandomBot
from bots.errors import BotFileError, SpecError
from bots.formula.formulas import Decision, action_of, observe
from bots.learner.bot import LearnerBot
from bots.learner.memory import (
    Constants,
    Memory,
    MemoryCell,
    cell_of,
    memory_bytes,
    read_memory,
    reward_mbb,
    write_memory,
)
from bots.sdk.bot import Bot
from bots.sdk.conversation import require_legal
from bots.sdk.learning import LearningJournal, cut_journal, read_journal
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import BotFailure, self_play
from bots.sdk.view import View
from engine import Hand, Position, deal_hand
from protocol import find_game
from tests.bots.playing import ViewOf, comment_of

CONSTANTS = Constants()
GUIDE = Path(__file__).resolve().parents[3] / "research" / "tables" / "learner.md"


def winnings(game: str, bots: Sequence[Bot], hands: int, seed: int) -> float:
    """Return the winnings of the first bot in mbb/g, each deal played in every seat."""
    names = [f"p{number}" for number in range(len(bots))]
    won = [
        record.values[[record.name_at(position) for position in range(len(bots))].index("p0")] / record.game.big_blind
        for record in self_play(game, bots, deals=hands, seed=seed, names=names)
    ]
    return 1000 * sum(won) / len(won)


def train_learner(game: str, opponent: Bot, hands: int, seed: int = 1) -> LearnerBot:
    """Return a learner after hands against one opponent."""
    bot = LearnerBot(empty=True, seed=seed)
    winnings(game, [bot, opponent], hands, seed=seed)
    return bot


def memory_with(view: View, **rewards: int) -> Memory:
    """Return a memory with one hand for each named decision in the cell of a state."""
    bot = LearnerBot(empty=True, seed=1)
    memory = Memory(CONSTANTS)
    cell = cell_of(observe(view, bot.chance.percent(view)), CONSTANTS)
    for name, reward in rewards.items():
        memory.learn([(cell, Decision[name.upper()])], reward)
    return memory


def frozen_learner(tmp_path: Path, memory: Memory, **options: bool) -> LearnerBot:
    """Return a learner with this memory that does not learn."""
    path = tmp_path / "frozen.memory"
    write_memory(path, memory)
    return LearnerBot(memory=str(path), learn=False, seed=1, **options)


# ---- learning


@pytest.mark.parametrize("game", ["nolimit", pytest.param("limit", marks=pytest.mark.slow)])
def test_blinds_are_won_from_a_folding_bot(game: str, tmp_path: Path) -> None:
    """The blinds are the maximum: (1 + 0.5) / 2 big blinds."""
    bot = frozen_learner(tmp_path, train_learner(game, FoldingBot(), 150).memory)
    assert winnings(game, [bot, FoldingBot()], 50, seed=2) == pytest.approx(750, abs=10)


def test_only_met_cells_are_kept() -> None:
    """Few of all cells are kept, and more after more hands."""
    few = train_learner("limit", FoldingBot(), 15).memory
    many = train_learner("limit", RandomBot(seed=3), 15).memory
    assert 2 <= len(few.cells) < len(many.cells) < 200
    assert few.hands == many.hands == 30


def test_memory_follows_from_the_seed() -> None:
    first, second, other = (train_learner("nolimit", CallingBot(), 6, seed).memory for seed in (1, 1, 2))
    assert memory_bytes(first) == memory_bytes(second)
    assert first != other


def test_every_decision_earns_the_value_of_the_hand() -> None:
    game = find_game("limit")[1]
    bot, learnt = LearnerBot(empty=True, explore=1, seed=5), Memory(CONSTANTS)
    for number in range(10):
        hand = Hand(game, deal_hand(game, 3, number))
        taken: list[tuple[MemoryCell, Decision]] = []
        bot.hand_started(View.from_hand(hand, hand.acting_position, number))
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            if hand.acting_position == 0:
                cell = cell_of(observe(view, bot.chance.percent(view)), CONSTANTS)
                action = bot.act(view)
                decision = bot._taken[-1][1]
                assert action == action_of(decision, view)
                taken.append((cell, decision))
                hand.apply(action)
            else:
                hand.apply(view.call())
        end = View.from_hand(hand, Position(0), number)
        bot.hand_finished(end)
        learnt.learn(taken, reward_mbb(end.value, game.big_blind))
    assert bot.memory == learnt


def test_hand_without_an_end_teaches_nothing(view_of: ViewOf) -> None:
    bot = LearnerBot(empty=True, seed=1)
    view = view_of("limit", "MATCHSTATE:1:0::|AhAs")
    bot.hand_started(view)
    bot.act(view)
    bot.hand_started(view_of("limit", "MATCHSTATE:0:1::AhAs|"))
    bot.hand_finished(view_of("limit", "MATCHSTATE:0:1:f:AhAs|"))
    assert (bot.memory.hands, bot.memory.cells) == (1, {})


# ---- decisions


def test_frozen_learner_plays_the_best_decision(tmp_path: Path, view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:1:0::|JhTh")
    bot = frozen_learner(tmp_path, memory_with(view, fold=-500, call=300, medium_raise=700, large_raise=-10_000))
    action = action_of(Decision.MEDIUM_RAISE, view)
    assert bot.policy(view) == {action: 1.0}
    assert {bot.act(view) for _ in range(20)} == {action}
    assert not bot.is_learning
    other = view_of("nolimit", "MATCHSTATE:0:0:r300:JhTh|")
    assert bot.policy(other) == {other.call(): 1.0}


def test_learner_explores(view_of: ViewOf) -> None:
    view = view_of("limit", "MATCHSTATE:1:0::|JhTh")
    bot = LearnerBot(empty=True, explore=0.5, seed=1)
    assert bot.policy(view) is None
    played = [bot.act(view) for _ in range(500)]
    for action, chance in ((view.fold(), 0.1), (view.call(), 0.6), (view.raise_min(), 0.3)):
        assert played.count(action) / 500 == pytest.approx(chance, abs=0.08)


def test_sampled_policy_needs_a_seed(tmp_path: Path, view_of: ViewOf) -> None:
    path = tmp_path / "x.memory"
    write_memory(path, Memory(CONSTANTS))
    view = view_of("nolimit3", "MATCHSTATE:0:0:ccc/:AhAs||/2c7d9h")
    assert LearnerBot(memory=str(path), learn=False).policy(view) is None
    assert LearnerBot(memory=str(path), learn=False, seed=1).policy(view) == {view.call(): 1.0}


@pytest.mark.parametrize("game", ["nolimit", "limit10"])
def test_answers_of_two_to_ten_players_are_legal(game: str) -> None:
    rules = find_game(game)[1]
    bots = [LearnerBot(empty=True, explore=1, trials=20, explain=True, seed=seed) for seed in range(rules.num_players)]
    for number in range(4):
        hand = Hand(rules, deal_hand(rules, 3, number))
        for position, bot in enumerate(bots):
            bot.hand_started(View.from_hand(hand, Position(position), number))
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            bot = bots[hand.acting_position]
            answer = require_legal(bot.act(view), view)
            (comment,) = view.comments
            assert comment.endswith(b"\r\n")
            assert len(comment) < 500
            hand.apply(answer)
        for position, bot in enumerate(bots):
            bot.hand_finished(View.from_hand(hand, Position(position), number))
    assert all(bot.memory.hands == 4 for bot in bots)


def test_comments_name_cell_and_results(tmp_path: Path, view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:1:0::|JhTh")
    bot = frozen_learner(tmp_path, memory_with(view, fold=-500, medium_raise=700), explain=True)
    seen = "preflop JhTh: CHANCE 57.5, POT 1.5, ODDS 3, RAISE 0.5, QTYRAISE 0, NPLAYERS 2, FOLLOWERS 1, INGAME 2"
    assert comment_of(bot, view) == (
        f"# {seen}; cell 400200101 earned 1 -500 (1), 4 +700 (1) mbb (times) -> 4 medium raise, r200\r\n"
    )
    assert comment_of(bot, view_of("nolimit", "MATCHSTATE:1:0::|JhTh"))[2:-2] in GUIDE.read_text("utf-8")
    new = LearnerBot(empty=True, explore=1, explain=True, seed=3)
    assert f"{seen}; cell 400200101 never met -> " in (
        said := comment_of(new, view_of("nolimit", "MATCHSTATE:1:0::|JhTh"))
    )
    assert ", drawn at random, " in said


# ---- options


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("explore=2", "explore must be from 0 to 1, not 2"),
        ("big_qty=0", "big_qty must be 1 to 10, not 0"),
        ("trials=0", "trials must be 1 or more"),
        ("learn=maybe", "learn must be a true or false"),
        ("learn=false,memory=gone.memory", "gone.memory: it cannot be read: No such file"),
    ],
)
def test_invalid_options_are_refused(options: str, problem: str) -> None:
    with pytest.raises(SpecError) as raised:
        make_bot(f"learner?{options}")
    assert problem in str(raised.value)


def test_memory_of_other_constants_names_the_options(tmp_path: Path) -> None:
    path = tmp_path / "x.memory"
    write_memory(path, Memory(Constants(pot_interval=5)))
    with pytest.raises(SpecError, match=r"other constants: add the options pot_interval=5$"):
        make_bot(f"learner?memory={path}")
    assert isinstance(make_bot(f"learner?memory={path},pot_interval=5"), LearnerBot)


def test_other_games_are_refused() -> None:
    game = find_game("nolimit")[1]
    bot = LearnerBot(empty=True)
    assert "hold'em only" in str(bot.refusal(find_game("leduc")[1]))
    assert bot.refusal(game._replace(blinds=(0, 0))) is None
    assert bot.refusal(game) is None


# ---- its file


def test_memory_file_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "x.memory"
    for match in range(2):
        winnings("limit", [LearnerBot(memory=str(path), seed=1), CallingBot()], 6, seed=match)
    assert read_memory(path).hands == 24
    first = LearnerBot(empty=True, seed=1)
    winnings("limit", [first, CallingBot()], 6, seed=0)
    winnings("limit", [first, CallingBot()], 6, seed=1)
    assert read_memory(path) == first.memory
    assert os.listdir(tmp_path) == ["x.memory"]


def test_frozen_learner_writes_nothing(tmp_path: Path) -> None:
    memory = train_learner("limit", CallingBot(), 4).memory
    bot = frozen_learner(tmp_path, memory)
    winnings("limit", [bot, CallingBot()], 4, seed=2)
    assert bot.memory == memory
    assert bot.memory_path is None
    assert (tmp_path / "frozen.memory").read_bytes() == memory_bytes(memory)


def test_long_match_is_saved_periodically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.learner.bot._HANDS_BETWEEN_WRITES", 10)
    path = tmp_path / "x.memory"
    bots = [LearnerBot(memory=str(path), seed=1), FoldingBot()]
    hands = self_play("limit", bots, deals=100, seed=1, seating="single")
    for _ in range(26):
        next(hands)
    # A player that is killed here has lost the hands since the 20th.
    assert read_memory(path).hands == 20
    hands.close()
    assert read_memory(path).hands == 26


def test_two_learners_do_not_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.memory"
    bots = [LearnerBot(memory=str(path), seed=seed) for seed in range(2)]
    with pytest.raises(BotFailure, match="another learner is writing it"):
        list(self_play("limit", bots, deals=1))
    assert os.listdir(tmp_path) == []


# ---- journals


def test_journal_holds_the_learnt_hands(tmp_path: Path) -> None:
    start, journal = str(tmp_path / "start"), str(tmp_path / "journal")
    write_memory(start, train_learner("limit", ConstantBot(decision=3), 10).memory)
    bot = LearnerBot(memory="/nowhere/x.memory", seed=1)
    bot.train(start, journal)
    list(self_play("limit", [bot, CallingBot()], deals=15, seating="single"))
    assert bot.merged(start, [journal]) == memory_bytes(bot.memory)
    assert read_memory(start).hands == 20
    assert sorted(os.listdir(tmp_path)) == ["journal", "start"]


def test_split_match_learns_the_same(tmp_path: Path) -> None:
    start = str(tmp_path / "start")
    write_memory(start, Memory(CONSTANTS))
    for name, slices in (("whole", ((0, 12),)), ("halves", ((0, 8), (8, 4)))):
        for first, hands in slices:
            bot = LearnerBot(empty=True, seed=1)
            bot.train(start, str(tmp_path / name))
            list(self_play("limit", [bot, CallingBot()], deals=hands, first_hand=first, seating="single"))
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "halves").read_bytes()


def test_journals_are_merged_in_any_order(tmp_path: Path) -> None:
    start = str(tmp_path / "start")
    write_memory(start, train_learner("limit", CallingBot(), 3).memory)
    journals = []
    for seed in range(3):
        bot = LearnerBot(empty=True, seed=seed)
        journals.append(str(tmp_path / f"{seed}.journal"))
        bot.train(start, journals[-1])
        list(self_play("limit", [bot, CallingBot()], deals=3, seed=seed, seating="single"))
    merged = {LearnerBot(empty=True).merged(start, order) for order in (journals, journals[::-1])}
    assert len(merged) == 1
    (tmp_path / "merged").write_bytes(merged.pop())
    assert read_memory(tmp_path / "merged").hands == 6 + 3 * 3


@pytest.mark.parametrize("tail", [b"", b"3 250 1", b"3 250\0\0"])
def test_incomplete_last_line_of_a_journal_is_removed(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "x.journal"
    whole = b"0 -500 510212211:2\n2 750\n"
    path.write_bytes(whole + tail)
    assert list(read_journal(str(path))) == [(0, "-500 510212211:2"), (2, "750")]
    journal = LearningJournal(str(path))
    journal.write(3, "250")
    journal.close()
    assert path.read_bytes() == whole + b"3 250\n"
    assert cut_journal(str(path), 2) == 1
    assert path.read_bytes() == b"0 -500 510212211:2\n"
    assert cut_journal(str(tmp_path / "gone")) == 0
    assert os.listdir(tmp_path) == ["x.journal"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"x 5\n", "line 1 does not begin with a hand number above -1"),
        (b"1 5\n1 5\n", "line 2 does not begin with a hand number above 1"),
        (b"1 5\n2 \xff\n", "line 2 does not begin with a hand number"),
        (b"1 5\n2 five\n", "hand 2: 'five' is not a record of a learner"),
        (b"1 5 510212211:6\n", "hand 1: '5 510212211:6' is not a record"),
    ],
)
def test_damaged_journal_is_refused(tmp_path: Path, text: bytes, problem: str) -> None:
    path, start = tmp_path / "x.journal", str(tmp_path / "start")
    write_memory(start, Memory(CONSTANTS))
    path.write_bytes(text)
    with pytest.raises(BotFileError) as raised:
        LearnerBot(empty=True).train(start, str(path))
    assert str(raised.value).startswith(f"{path}: {problem}")
    assert path.read_bytes() == text


def test_journal_has_one_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.sdk.learning.LOCK_TIMEOUT_S", 0.05)
    path = str(tmp_path / "x.journal")
    journal = LearningJournal(path)
    for take in (LearningJournal, cut_journal):
        with pytest.raises(BotFileError, match="the learner that writes it is still playing"):
            take(path)
    journal.close()
    LearningJournal(path).close()
