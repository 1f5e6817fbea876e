"""The player `equilibrium`: tables, policy, draws, refusals."""

from __future__ import annotations

from collections import Counter

import pytest

from bots.equilibrium.bot import CHECKSUMS, GAMES, EquilibriumBot, read, strategy_table, table_path
from bots.errors import GameRefused, SpecError
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from bots.solving.engine_games import rank_game, small_game
from bots.solving.equilibria import LinearProgram
from bots.solving.sequence_form import expected_value, exploitability, sequence_form
from engine import CALL, FOLD, RAISE, Hand, deal_hand
from engine.errors import TableError
from logs.estimation import RunningMean
from protocol import find_game, shipped_games
from tests.bots.equilibrium.generate import equilibrium_table, write
from tests.bots.playing import ViewOf, plan_of_bot

VALUES = {"kuhn": -1 / 18, "kuhn-depth": -1 / 18, "leduc": -0.08560642407800047}
PLAYED = [find_game(name)[0] for name in GAMES]


@pytest.mark.parametrize("name", GAMES)
def test_policy_is_an_equilibrium(name: str) -> None:
    game = find_game(name)[1]
    form = sequence_form(small_game(game))
    plans = tuple(plan_of_bot(form, game, player, EquilibriumBot()) for player in (0, 1))
    assert expected_value(form, plans) == pytest.approx(VALUES[name], abs=1e-12)
    assert exploitability(form, plans) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("bluff", [0, 0.2])
def test_each_of_the_family_of_kuhn(bluff: float, view_of: ViewOf) -> None:
    game = find_game("kuhn")[1]
    form = sequence_form(small_game(game))
    bot = EquilibriumBot(bluff=bluff)
    plans = tuple(plan_of_bot(form, game, player, bot) for player in (0, 1))
    assert exploitability(form, plans) == pytest.approx(0, abs=1e-12)
    assert bot.policy(view_of("kuhn", "MATCHSTATE:0:0::Qs|")).get(RAISE, 0) == pytest.approx(bluff)


@pytest.mark.parametrize("name", CHECKSUMS)
def test_a_table_is_read_as_it_was_written(name: str) -> None:
    table = strategy_table(name)
    assert read(write(table), CHECKSUMS[name]) == table
    for chances in table.values():
        assert sum(chances) == pytest.approx(1, abs=1e-12)
        assert min(chances) >= 0


def test_tables_are_reproducible() -> None:
    """Another version of the solver can return another equilibrium of the same value."""
    for name in CHECKSUMS:
        game = find_game(name)[1]
        assert equilibrium_table(game).keys() == strategy_table(name).keys()
        assert LinearProgram(sequence_form(rank_game(game))).solve().value == pytest.approx(VALUES[name], abs=1e-12)


def test_damaged_table_is_refused() -> None:
    with open(table_path("leduc"), "rb") as file:
        data = file.read()
    with pytest.raises(TableError, match="damaged or of another version; reinstall it"):
        read(data[:-2] + b"9\n", CHECKSUMS["leduc"])


def test_the_comment(view_of: ViewOf) -> None:
    bot = make_bot("equilibrium?explain=true", 1)
    view = view_of("kuhn", "MATCHSTATE:1:0:r:|As")
    assert bot.act(view) == CALL
    assert view.comments == [b"# K: call 1.0000 of the time -> c\r\n"]
    view = view_of("leduc", "MATCHSTATE:0:0:cc/r:Ks|/Qh")
    bot.act(view)
    assert b"# KsQh: " in view.comments[0]
    assert bot.policy(view_of("leduc", "MATCHSTATE:0:0:cc/r:Ks|/Qh")) == bot.policy(
        view_of("leduc", "MATCHSTATE:0:0:cc/r:Kh|/Qs")
    )


def test_actions_are_drawn_by_the_policy(view_of: ViewOf) -> None:
    bot, hands = EquilibriumBot(seed=9), 1000
    for state in ("0:{}::Ks|", "1:{}:c:|Qh", "0:{}:cc/:Qs|/As", "1:{}:rrc/r:|Ks/Ah"):
        policy = bot.policy(view_of("leduc", "MATCHSTATE:" + state.format(0)))
        drawn = Counter(bot.act(view_of("leduc", "MATCHSTATE:" + state.format(hand))) for hand in range(hands))
        assert set(drawn) <= set(policy)
        for action, chance in policy.items():
            assert abs(drawn[action] - hands * chance) <= 5 * (hands * chance * (1 - chance)) ** 0.5 + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_equilibrium_never_loses_over_both_seats(name: str) -> None:
    for opponent in ("random", "raising", "calling"):
        won = RunningMean()
        bots = [EquilibriumBot(seed=1), make_bot(opponent, 2)]
        for record in self_play(name, bots, deals=5_000, seed=3, names=("us", "them")):
            won.add(sum(value for at, value in enumerate(record.values) if record.name_at(at) == "us"))
        assert won.half_width() is not None
        assert won.mean > -2 * won.half_width()


@pytest.mark.parametrize("name", [name for name in shipped_games() if name not in PLAYED])
def test_other_games_are_refused(name: str) -> None:
    game = find_game(name)[1]
    hand = Hand(game, deal_hand(game, 1, 0))
    for ask in (EquilibriumBot().act, EquilibriumBot().policy):
        with pytest.raises(
            GameRefused, match="the small games kuhn, kuhn-depth and leduc; this game is not one of them"
        ):
            ask(View.from_hand(hand, hand.acting_position))


def test_no_equilibrium_bluffs_more() -> None:
    with pytest.raises(SpecError, match="bluff must be 0 to 1/3"):
        make_bot("equilibrium?bluff=0.5")


def test_hands_that_cannot_win_are_folded(view_of: ViewOf) -> None:
    assert EquilibriumBot().policy(view_of("kuhn", "MATCHSTATE:1:0:r:|Qs")) == {FOLD: 1}
    assert EquilibriumBot().policy(view_of("kuhn", "MATCHSTATE:1:0:c:|As")) == {RAISE: 1}
