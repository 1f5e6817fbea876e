"""Policies of the built-in bots, compared with their actions hand after hand."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pytest

from bots import self_play
from bots.evolved.bot import EvolvedBot
from bots.evolved.chromosome import write_chromosome
from bots.evolved.training import GENOME
from bots.formula.bot import MfsBot
from bots.sdk.bot import Bot
from bots.sdk.registry import make_bot
from bots.sdk.view import View
from engine import Action, ActionKind, Game
from protocol import find_game
from tests.bots.playing import ViewOf
from tests.tables import rows

FALSE_ALARM = 1e-6
"""Probability that a test of one bot fails although the bot plays its policy."""


class Cell(NamedTuple):
    """Distance of the actions from their expectation, over some decisions.

    The decisions of a match depend on each other, but given the past, the difference of an event and its probability is
    0 on average. So the sum of the differences is a martingale: its variance is the sum of the variances, and with many
    decisions it is normal, whatever the match.

    """

    difference: float = 0.0
    variance: float = 0.0

    def plus(self, difference: float, variance: float) -> Cell:
        return Cell(self.difference + difference, self.variance + variance)


class Watched(Bot):
    """Bot that plays as another one, and compares every action with the policy."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.decisions = self.told = 0
        self.cells: dict[object, Cell] = defaultdict(Cell)

    def hand_started(self, view: View) -> None:
        self.bot.hand_started(view)

    def hand_finished(self, view: View) -> None:
        self.bot.hand_finished(view)

    def act(self, view: View) -> Action:
        policy = self.bot.policy(view)
        action = self.bot.act(view)
        self.decisions += 1
        if policy is None:
            return action
        self.told += 1
        assert all(view.nearest_legal(one) == one for one in list(policy)[:4])
        assert math.isclose(math.fsum(policy.values()), 1.0, abs_tol=1e-9)
        assert policy.get(action, 0.0) > 0, f"{action} has no probability"
        kinds = [0.0] * len(ActionKind)
        for one, chance in policy.items():
            kinds[one.kind] += chance
        for kind in ActionKind:
            chance = kinds[kind]
            if 0 < chance < 1 - 1e-12:
                self._count((view.round, kind, round(chance, 3)), action.kind == kind, chance, chance * (1 - chance))
        if action.kind == ActionKind.RAISE:
            self._count_size(action, [(one.hand_total, p) for one, p in policy.items() if one.kind == action.kind])
        return action

    def _count(self, cell: object, outcome: float, expected: float, variance: float) -> None:
        self.cells[cell] = self.cells[cell].plus(outcome - expected, variance)

    def _count_size(self, action: Action, sizes: list[tuple[int, float]]) -> None:
        """Return the share of sizes below the played one plus half of its own: 1/2 on average, with any policy."""
        if len(sizes) == 1:
            return
        total = math.fsum(chance for _, chance in sizes)
        below = math.fsum(chance for size, chance in sizes if size < action.hand_total) / total
        own = math.fsum(chance for size, chance in sizes if size == action.hand_total) / total
        variance = (1 - math.fsum((chance / total) ** 3 for _, chance in sizes)) / 12
        self._count("size", below + own / 2, 0.5, variance)

    def worst(self) -> float:
        """Largest deviation in standard errors, over cells with enough decisions to be normal."""
        return max((abs(cell.difference) / math.sqrt(cell.variance) for cell in self._large_cells()), default=0.0)

    def allowed(self) -> float:
        """Largest deviation that chance explains."""
        return NormalDist().inv_cdf(1 - FALSE_ALARM / 2 / max(1, len(self._large_cells())))

    def _large_cells(self) -> list[Cell]:
        return [cell for cell in self.cells.values() if cell.variance >= 25]


def game_of(name: str) -> Game:
    """Return a game by name; ``short nolimit`` has stacks of ten big blinds, since a policy names every size."""
    if name.startswith("short "):
        game = find_game(name.removeprefix("short "))[1]
        return game._replace(stacks=(10 * game.big_blind,) * game.num_players)
    return find_game(name)[1]


CASES = rows("""
    # game          player                              part told
    limit           calling                             1
    limit           folding                             1
    limit3          raising                             1
    kuhn            constant?action=raise               1
    nolimit         constant?decision=4                 1
    limit           random?seed=1                       1
    limit3          random?fold=0.3,raise=0.1,seed=2    1
    leduc           random?seed=3                       1
    short nolimit   random?seed=4                       1
    nolimit         random?decisions=20/50/15/10/5,seed=5   1
    limit           mfs?seed=6                          1
    nolimit         mfs                                 1
    limit6          rh?k=30                             1
    nolimit         rembrant?seed=8                     1
    nolimit         rembrant?reading=probabilistic,seed=9   1
    limit           rembrant?reading=probabilistic,seed=10  1
    limit           lp?seed=11                          1
    limit           lp?preflop=published,seed=12        1
    kuhn            equilibrium?seed=14                 1
    leduc           equilibrium?seed=15                 1
    kuhn-depth      equilibrium?seed=16                 1
    limit           learner?learn=false                 1
    nolimit         learner?learn=false                 1
    limit           lbr?against=random                  1
    limit           cfr?seed=18,rivers=0                1
    nolimit         cfr?seed=19,rivers=0                1
    nolimit         cfr?seed=20,rivers=2                1
    limit           lp-mc?seed=13,trials=200            part
""")


def watch(game: Game, bot: Bot, hands: int) -> Watched:
    """Return the bot after hands against random ones."""
    player = Watched(bot)
    others = [make_bot(f"random?seed={number}") for number in range(100, 99 + game.num_players)]
    for _ in self_play(game, [player, *others], deals=hands, seed=17):
        pass
    return player


def assert_plays_its_policy(player: Watched, told: str) -> None:
    assert player.decisions
    assert player.told == player.decisions if told == "1" else 0 < player.told < player.decisions
    assert player.worst() <= player.allowed()


@pytest.mark.sampled
@pytest.mark.parametrize(("game", "player", "told"), [case for case in CASES if "lp-mc" not in case[1]])
def test_bots_play_their_policies(game: str, player: str, told: str) -> None:
    outcome = watch(game_of(game), make_bot(player), hands=20)
    assert_plays_its_policy(outcome, told)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "player", "told"), CASES)
def test_bots_play_their_policies_in_thousands_of_hands(game: str, player: str, told: str) -> None:
    rules = game_of(game)
    hands = 8_000 // rules.num_players
    if player.startswith(("lp-mc", "lbr")):
        hands = 500
    elif player.startswith("cfr"):
        hands = 2_000
    assert_plays_its_policy(watch(rules, make_bot(player), hands), told)


@pytest.mark.slow
def test_an_evolved_bot_plays_its_policy(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("evolved") / "x.chromosome"
    write_chromosome(str(path), GENOME.random(1, np.random.default_rng(4))[0].astype(np.int8).tobytes(), {"seed": 4})
    assert_plays_its_policy(watch(game_of("limit"), EvolvedBot(chromosome=str(path)), 3_000), "1")


def test_other_policy_is_detected() -> None:
    class Liar(Bot):
        def __init__(self) -> None:
            self.plays, self.tells = make_bot("random?seed=1"), make_bot("random?fold=0.15,call=0.45,raise=0.4")

        def hand_started(self, view: View) -> None:
            self.plays.hand_started(view)

        def act(self, view: View) -> Action:
            return self.plays.act(view)

        policy = property(lambda self: self.tells.policy)

    outcome = watch(game_of("kuhn"), Liar(), hands=1_500)
    assert outcome.worst() > outcome.allowed()


def test_samples_without_a_seed_have_no_policy(view_of: ViewOf) -> None:
    three_on_the_flop = view_of("limit3", "MATCHSTATE:2:0:ccc/cc:||AhKd/2c7d9h")
    two_on_the_flop = view_of("limit3", "MATCHSTATE:2:0:cfc/c:||AhKd/2c7d9h")
    before_the_flop = view_of("limit3", "MATCHSTATE:2:0::||AhKd")
    for view in (two_on_the_flop, before_the_flop):
        assert MfsBot().policy(view) == MfsBot(seed=3).policy(view) is not None
    assert MfsBot().policy(three_on_the_flop) is None
    assert MfsBot(seed=3).policy(three_on_the_flop) is not None


def test_simulating_bot_has_no_policy(view_of: ViewOf) -> None:
    assert make_bot("mc?trials=100").policy(view_of("limit", "MATCHSTATE:0:0:cc/:AhKd|/2c7d9h")) is None
