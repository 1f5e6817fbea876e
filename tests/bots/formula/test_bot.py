"""`mfs` and `rh`: actions in given states, options, comments, draws, legality."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bots.baseline import CallingBot, ConstantBot, RandomBot
from bots.errors import SpecError
from bots.formula.bot import MfsBot, RhBot
from bots.sdk.bot import Bot
from bots.sdk.registry import make_bot
from bots.sdk.testing import MockDealer
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Hand, deal_hand, raise_to
from protocol import find_game, shipped_games
from tests.bots.playing import HOLDEM, BotMaker, ViewOf, assert_plays, comment_of, play_legally, play_random_casts
from tests.programs import PATIENCE_S
from tests.tables import rows


@pytest.mark.parametrize(
    ("bot", "game", "state", "k", "action"),
    rows("""
    # The small blind stands to win 10 with 10: the relation is chance / (100 - chance). AA 85.20 %: 5.76,
    # AKs 67.04 %: 2.03, JTs 57.53 %: 1.35, 72o 34.58 %: 0.53
    mfs  limit      1:0::|AhAs                                      2      raise
    mfs  limit      1:0::|JhTh                                      2      call
    mfs  limit      1:0::|7h2s                                      2      fold
    mfs  limit      1:0::|7h2s                                      4      call
    mfs  nolimit    1:0::|AhAs                                      2      r300  # 5, the pot
    mfs  nolimit    1:0::|AhKh                                      2      r200  # 4, half the pot, is as much
    # The same in the big blind, who need not fold
    mfs  limit      0:0:c:7h2s|                                     2      call
    mfs  nolimit    0:0:c:7h2s|                                     2      call
    # All-in against aces or 72o: 20000 with 20000
    mfs  nolimit    0:0:r20000:AhAs|                                2      call
    mfs  nolimit    0:0:r20000:7h2s|                                2      fold
    # No raise is left
    mfs  limit      0:0:rrr:AhAs|                                   2      call
    # The nuts on the river, and a hand that can only lose
    mfs  nolimit    0:0:cc/cc/cc/:AhKh|/QhJhTh/2c/3d                0.001  r300
    mfs  limit      0:0:cc/cc/cc/cr:2c3d|/QhJhTh/9h/Kh              2      fold
    # Who has put in nothing enters, with anything, at any price
    mfs  limit10    2:0::||7h2s|||||||                              2      call
    mfs  nolimit10  3:0:r20000:|||7h2s||||||                        0.25   call
    mfs  nolimit10  3:0:f:|||AhAs||||||                             8      call
    # 0.25 in the small blind, 1 in the big blind after a call, 0.0075 first of ten (test_relations)
    rh   limit      1:0::|AhAs                                      7.9    fold
    rh   limit      1:0::|7h2s                                      8      call
    rh   limit      1:0::|7h2s                                      12     raise
    rh   limit      0:0:c:7h2s|                                     1      call
    rh   limit      0:0:c:7h2s|                                     3      raise
    rh   nolimit    0:0:c:7h2s|                                     3      r200
    rh   nolimit    0:0:c:7h2s|                                     5      r300
    rh   limit10    2:0::||AhAs|||||||                              8      fold
    # three raises in the hand, nobody to follow: 7 / (4 * 1 * 2 * 2)
    rh   limit      0:0:rrr:AhAs|                                   4.5    fold
    rh   limit      0:0:rrr:AhAs|                                   4.6    call
    rh   limit      0:0:rrr:AhAs|                                   12     call
    # where no card is as in hold'em: 3 / (2 * 1 * 2 * 2) in Kuhn poker after a bet
    rh   kuhn       1:0:r:|Qs                                       4      fold
    rh   kuhn       1:0:r:|Qs                                       6      call
    """),
)
def test_actions_follow_from_relation_and_k(
    view_of: ViewOf, bot: str, game: str, state: str, k: str, action: str
) -> None:
    player = MfsBot(k=float(k), seed=1) if bot == "mfs" else RhBot(k=float(k))
    named = {"fold": FOLD, "call": CALL, "raise": RAISE}
    expected = named.get(action) or raise_to(int(action.removeprefix("r")))
    assert_plays(player, view_of(game, f"MATCHSTATE:{state}"), expected)


def test_explanations(view_of: ViewOf) -> None:
    def say(bot: Bot, game: str, state: str) -> str:
        return comment_of(bot, view_of(game, state))

    view = view_of("nolimit", "MATCHSTATE:1:0::|JhTh")
    MfsBot().act(view)
    assert view.comments == []
    mfs = MfsBot(k=2, explain=True)
    assert say(mfs, "nolimit", "MATCHSTATE:1:0::|JhTh") == (
        "# preflop JhTh: CHANCE 57.5, POT 1.5, ODDS 3, RAISE 0.5, QTYRAISE 0, NPLAYERS 2, FOLLOWERS 1, INGAME 2; "
        "MFS 1.35, k 2 -> 2 call, c\r\n"
    )
    assert say(mfs, "limit", "MATCHSTATE:0:0:cc/cc/cc/:AhKh|/QhJhTh/2c/3d") == (
        "# river AhKh on QhJhTh2c3d: CHANCE 100.0, POT 2, ODDS 2, RAISE 0, QTYRAISE 0, NPLAYERS 2, FOLLOWERS 1, "
        "INGAME 2; MFS inf, k 2 -> 5 large raise, r\r\n"
    )
    assert say(mfs, "limit10", "MATCHSTATE:2:0::||7h2s|||||||") == (
        "# preflop 7h2s: CHANCE 4.8, POT 1.5, ODDS 0, RAISE 1, QTYRAISE 0, NPLAYERS 10, FOLLOWERS 9, INGAME 10; "
        "nothing put in yet -> 2 call, c\r\n"
    )
    assert say(RhBot(k=0.5, explain=True), "nolimit", "MATCHSTATE:0:0:c:7h2s|") == (
        "# preflop 7h2s: POT 2, ODDS 2, RAISE 0, QTYRAISE 0, NPLAYERS 2, FOLLOWERS 0, INGAME 2; "
        "RH 1.00, k 0.5 -> 1 fold, c\r\n"
    )


BOTS: list[BotMaker] = [
    lambda seed: MfsBot(explain=True, trials=20, seed=seed),
    lambda seed: MfsBot(explain=True, trials=20, k=0.5, seed=seed),
    lambda seed: MfsBot(explain=True, trials=20, k=8, seed=seed),
    lambda seed: RhBot(explain=True),
    lambda seed: RhBot(explain=True, k=0.25),
    lambda seed: RhBot(explain=True, k=30),
    lambda seed: RandomBot(decisions="20/50/15/10/5", seed=seed),
    lambda seed: ConstantBot(decision=1 + seed % 5),
    lambda seed: CallingBot(),
]


def play_walk(name: str, hands: int, casts: int) -> int:
    bots = [bot for bot in BOTS if name in HOLDEM or not isinstance(bot(0), MfsBot)]
    return play_random_casts(name, bots, (MfsBot, RhBot), hands=hands, casts=casts)


@pytest.mark.sampled
@pytest.mark.parametrize("name", shipped_games())
def test_answers_are_legal(name: str) -> None:
    assert play_walk(name, hands=25, casts=10) > 12


@pytest.mark.slow
@pytest.mark.parametrize("name", HOLDEM)
def test_answers_are_legal_in_many_hands(name: str) -> None:
    play_walk(name, hands=600, casts=100)


@pytest.mark.parametrize("players", [4, 9])
def test_other_numbers_of_players(players: int) -> None:
    play_legally(players, lambda seat: MfsBot(seed=seat, trials=20) if seat % 2 else RhBot(k=30), hands=15)


def actions_of(bot: Bot, numbers: range) -> dict[int, list[Action]]:
    """Return the actions of a bot against two random opponents, by hand number."""
    game = find_game("nolimit3")[1]
    opponents = [RandomBot(seed=seat, fold=0, call=0.9, raise_=0.1) for seat in range(2)]
    played: dict[int, list[Action]] = {}
    for number in numbers:
        hand = Hand(game, deal_hand(game, 5, number))
        cast = [*opponents, bot]
        turned = cast[number % 3 :] + cast[: number % 3]
        for position, player in enumerate(turned):
            player.hand_started(View.from_hand(hand, position, number))  # type: ignore[arg-type]
        played[number] = []
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            player = turned[hand.acting_position]
            answer = player.act(view)
            played[number] += [answer] if player is bot else []
            hand.apply(answer)
    return played


@pytest.mark.parametrize("spec", ["mfs?trials=10", "random?decisions=20/50/15/10/5"])
def test_draws_follow_from_seed_hand_and_state(spec: str) -> None:
    """Hands are the same when play starts in the middle, goes backwards, or repeats them."""
    whole = actions_of(make_bot(spec, 3), range(40))
    late = actions_of(make_bot(spec, 3), range(20, 40))
    backwards = actions_of(make_bot(spec, 3), range(39, -1, -1))
    assert {number: whole[number] for number in late} == late
    assert backwards == whole
    assert actions_of(make_bot(spec, 4), range(40)) != whole
    assert actions_of(make_bot(spec), range(40)) != actions_of(make_bot(spec), range(40))


def test_options_by_name() -> None:
    bot = make_bot("mfs?k=0.5,trials=50,explain=yes", 5)
    assert isinstance(bot, MfsBot)
    assert (bot.k, bot._explains, bot.chance.trials, bot.chance.seed) == (0.5, True, 50, 5)
    rh = make_bot("rh?k=0.5", 5)
    assert isinstance(rh, RhBot)
    assert (rh.k, rh._explains) == (0.5, False)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("mfs?k=0", "'mfs[?]k=0': k must be above 0 and at most 1e\\+06, not 0"),
        ("rh?k=-1", "k must be above 0"),
        ("mfs?k=inf", "k must be above 0"),
        ("mfs?trials=0", "trials must be 1 or more, not 0"),
        ("rh?seed=1", "rh has no option 'seed'"),
    ],
)
def test_invalid_options_are_refused(spec: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        make_bot(spec)


PROGRAM = """
import sys
from bots.sdk.builtin import main
at_start = "numpy" in sys.modules
code = main(sys.argv[1:])
heavy = {"numpy", "numba", "scipy", "llvmlite"} & {name.split(".")[0] for name in sys.modules}
print(code, at_start, *sorted(heavy))
"""


def test_playing_mfs_compiles_nothing(
    thread_dealer: Callable[..., Any], program_env: dict[str, str], tmp_path: Path
) -> None:
    """The first chance to be counted loads numpy; nothing loads numba."""
    script = MockDealer("limit3").ask("MATCHSTATE:1:0:cc:|AhAs|", "r")
    script.ask("MATCHSTATE:1:0:ccrcc/c:|AhAs|/2c3c4c", "r").tell("MATCHSTATE:1:0:ccrcc/crff:|AhAs|/2c3c4c")
    dealer = thread_dealer(script)
    command = [sys.executable, "-c", PROGRAM, "mfs", "127.0.0.1", str(dealer.port), "--game", "limit3"]
    done = subprocess.run(command, capture_output=True, text=True, env=program_env, cwd=tmp_path, timeout=PATIENCE_S)
    assert (done.stdout, done.stderr) == ("0 False numpy\n", "")


def test_kernels_are_compiled_for_many_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr("bots.formula.bot.compile_kernels", lambda: calls.append(True))
    MfsBot().prepare_for_many_hands()
    assert calls == [True]
