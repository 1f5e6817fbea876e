"""Policies of all holdings at once, compared with those of each holding in played hands."""

from __future__ import annotations

import numpy as np
import pytest

from bots import Bot, View, self_play
from bots.sdk.holdings import pure_policy, view_with
from bots.sdk.registry import make_bot
from engine import CALL, FOLD, RAISE, Action
from engine.ranges import HOLDINGS, are_free
from tests.bots.playing import ViewOf
from tests.tables import rows

HANDS = 3
CASES = rows("""
    # game        player                                       opponent
    limit         calling                                      raising
    limit         folding                                      raising
    limit         raising                                      mfs
    limit         random                                       raising
    nolimit       random?decisions=20/50/15/10/5               mfs
    nolimit       constant?decision=4                          mfs
    limit         mfs                                          random
    nolimit       mfs?k=4                                      rembrant
    nolimit       rh                                           random?decisions=20/50/15/10/5
    limit         rembrant                                     random
    nolimit       rembrant                                     mfs
    nolimit       rembrant?reading=probabilistic               raising
    limit         lp                                           raising
    limit         evolved                                      random
    limit         learner?learn=false                          raising
    nolimit       learner?learn=false                          mfs
""")


class Watched(Bot):
    """Bot that plays as another one, and compares both forms of its policy."""

    def __init__(self, bot: Bot) -> None:
        self.bot, self.asked = bot, 0

    def hand_started(self, view: View) -> None:
        self.bot.hand_started(view)

    def act(self, view: View) -> Action:
        public = view_with(view, ())
        policies = self.bot.policy_by_holding(public)
        assert policies is not None
        total = np.zeros(len(HOLDINGS))
        for chances in policies.values():
            total += chances
        free = np.flatnonzero(are_free(view.board))
        assert total[free] == pytest.approx(1)
        for number in free[self.asked % 131 :: 131]:
            one = self.bot.policy(view_with(view, HOLDINGS[number]))
            assert one is not None
            by_holding = {
                action: float(np.broadcast_to(policies[action], len(HOLDINGS))[number]) for action in policies
            }
            assert {action: chance for action, chance in by_holding.items() if chance} == pytest.approx(dict(one))
        self.asked += 1
        return self.bot.act(view)


@pytest.mark.sampled
@pytest.mark.parametrize(("game", "player", "opponent"), CASES)
def test_policy_by_holding_agrees_with_policy(game: str, player: str, opponent: str) -> None:
    watched = Watched(make_bot(player, seed=1))
    for _ in self_play(game, [watched, make_bot(opponent, seed=2)], deals=HANDS, seed=3, names=["a", "b"]):
        pass
    assert watched.asked >= HANDS


@pytest.mark.slow
@pytest.mark.parametrize(("game", "player", "opponent"), CASES)
def test_policy_by_holding_agrees_with_policy_in_more_hands(game: str, player: str, opponent: str) -> None:
    watched = Watched(make_bot(player, seed=1))
    for _ in self_play(game, [watched, make_bot(opponent, seed=2)], deals=30, seed=4, names=["a", "b"]):
        pass
    assert watched.asked >= 30


def test_bots_that_sample_have_no_policy_by_holding(view_of: ViewOf) -> None:
    view = view_of("limit3", "MATCHSTATE:0:0:ccc/:AcAd||/2c7d9h")
    for name in ("mfs?seed=1", "evolved?seed=1", "learner?learn=false,seed=1"):
        assert make_bot(name).policy_by_holding(view) is None, "against two opponents chances are sampled"
    assert make_bot("learner").policy_by_holding(view) is None


def test_equal_actions_are_merged(view_of: ViewOf) -> None:
    view = view_of("limit", "MATCHSTATE:0:0:cc/:AcAd|/2c7d9h")
    free = int(are_free(view.board).sum())
    policies = pure_policy(view, [number % 3 for number in range(free)], [FOLD, CALL, CALL].__getitem__)
    assert set(policies) == {FOLD, CALL}
    assert RAISE not in policies
    assert np.sum(policies[FOLD]) + np.sum(policies[CALL]) == free
