"""Costs of deviations from an equilibrium, exact and estimated from hands."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from itertools import groupby, permutations

import pytest

from bots import Bot, View
from bots.equilibrium.bot import EquilibriumBot, state_of
from bots.equilibrium.deviations import action_costs, deviations_of, is_solved
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from engine import ActionKind, BettingState, Deal, Game, betting_start, hand_values
from logs.errors import LeaksRefused
from logs.record import HandRecord
from protocol import find_game


def game_named(name: str) -> Game:
    return find_game(name)[1]


def losses(game: Game, position: int, bot: Bot) -> tuple[float, float]:
    """Return the winnings in a position against an equilibrium and the cost of the decisions, over all deals."""
    equilibrium, costs = EquilibriumBot(seed=1), action_costs(game)
    deals = [
        Deal((cards[:1], cards[1:2]), cards[2:]) for cards in permutations(game.deck, 2 + game.board_cards_by_round[-1])
    ]

    def walk(state: BettingState, deal: Deal) -> tuple[float, float]:
        if state.finished:
            return hand_values(state, deal)[position], 0.0
        at = state.acting_position
        holes = tuple([hole if seat == at else () for seat, hole in enumerate(deal.hole_cards)])
        view = View(state, at, 0, holes, deal.board[: game.board_cards_by_round[state.round]])
        won = cost = 0.0
        policy = (bot if at == position else equilibrium).policy(view)
        assert policy is not None
        for action, chance in policy.items():
            if chance:
                won_after, cost_after = walk(state.after(action), deal)
                here = costs[at, state_of(view)][action.kind] if at == position else 0.0
                won += chance * won_after
                cost += chance * (cost_after + here)
        return won, cost

    report = [walk(betting_start(game), deal) for deal in deals]
    won, cost = (sum(values) / len(deals) for values in zip(*report, strict=True))
    return won, cost


@pytest.mark.parametrize("bot", ["calling", "random?fold=0.2"])
@pytest.mark.parametrize("position", [0, 1])
def test_costs_are_the_loss_to_the_equilibrium(position: int, bot: str) -> None:
    for name in ("kuhn", "kuhn-depth"):
        game = game_named(name)
        value, nothing = losses(game, position, EquilibriumBot(seed=1))
        won, cost = losses(game, position, make_bot(bot))
        assert nothing == pytest.approx(0, abs=1e-9)
        assert value - won == pytest.approx(cost, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("position", [0, 1])
def test_costs_are_the_loss_to_the_equilibrium_in_leduc(position: int) -> None:
    game = game_named("leduc")
    value, _ = losses(game, position, EquilibriumBot(seed=1))
    won, cost = losses(game, position, make_bot("calling"))
    assert value - won == pytest.approx(cost, abs=1e-7)


def test_known_costs() -> None:
    """Calling a bet with the worst of three cards loses one chip more, folding the best one three."""
    costs = action_costs(game_named("kuhn"))
    assert costs[1, ("r", "J")] == {ActionKind.FOLD: 0, ActionKind.CALL: pytest.approx(1)}
    assert costs[1, ("r", "K")] == {ActionKind.FOLD: pytest.approx(3), ActionKind.CALL: 0}
    assert not any(costs[1, ("r", "Q")].values())


def play_deals(*bots: str, game: str = "kuhn", hands: int = 300) -> Iterator[list[tuple[str, HandRecord]]]:
    records = self_play(game, [make_bot(bot) for bot in bots], deals=hands, seed=1, names=("A", "B"))
    return by_deal(records)


def by_deal(records: Iterable[HandRecord]) -> Iterator[list[tuple[str, HandRecord]]]:
    for _, hands in groupby(records, key=lambda record: record.hand_number):
        yield [(record.match_name, record) for record in hands]


def test_deviations_in_hands_are_counted() -> None:
    deals = list(play_deals("calling", "random?seed=9"))
    report = deviations_of(deals, "A")
    assert report == pickle.loads(pickle.dumps(report)) == deviations_of(deals)
    assert (report.hands, report.deals) == (600, 300)
    worst = report.situations[0]
    assert worst.name == "2nd, J, after bet"
    (played_,) = worst.choices
    assert (played_.did, played_.chance, played_.cost) == ("call", 0, pytest.approx(1))
    assert worst.cost.mean == pytest.approx(100 * played_.times / 600)
    assert report.decisions == sum(row.times for situation in report.situations for row in situation.choices)
    assert report.cost.mean == pytest.approx(sum(row.cost.mean for row in report.situations))
    assert worst.cost.half_width is not None
    assert 0 < worst.cost.half_width < worst.cost.mean


def test_equilibrium_has_no_cost() -> None:
    report = deviations_of(play_deals("equilibrium?seed=4", "random?seed=9"), "A")
    assert (report.cost.mean, report.cost.half_width) == (0, 0)


def test_intervals_contain_the_expected_cost() -> None:
    """The expected cost is that of the policy against the same opponent."""
    outside = 0
    expected = sum(losses(game_named("kuhn"), position, make_bot("calling"))[1] for position in range(2)) / 2
    for seed in range(20):
        bots = [make_bot("calling"), EquilibriumBot(seed=seed)]
        records = self_play("kuhn", bots, deals=60, seed=seed, names=("A", "B"))
        report = deviations_of(by_deal(records), "A")
        assert report.cost.half_width is not None
        outside += abs(report.cost.mean - 100 * expected) > report.cost.half_width
    assert outside <= 2


def test_unsolved_games_and_few_deals_are_refused() -> None:
    assert not is_solved(game_named("limit"))
    with pytest.raises(LeaksRefused, match="in games with an equilibrium, kuhn, kuhn-depth, leduc"):
        deviations_of(play_deals("calling", "random", game="limit", hands=2))
    with pytest.raises(LeaksRefused, match="no player is called 'Zoe'; there are A, B"):
        deviations_of(play_deals("calling", "random", hands=40), "Zoe")
    with pytest.raises(LeaksRefused, match="A played 10 deals; leaks need at least 30"):
        deviations_of(play_deals("calling", "random", hands=10), "A")
    with pytest.raises(LeaksRefused, match="there is no finished hand"):
        deviations_of([])
