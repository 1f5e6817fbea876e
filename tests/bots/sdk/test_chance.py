"""CHANCE in states of hold'em: opponents, known cards, and seeds of its draws."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from bots.errors import BotsError
from bots.sdk import chance as chances
from bots.sdk.chance import EquityCounter, chance_seed
from bots.sdk.view import View
from engine import Game, Hand, deal_hand, parse_cards
from engine.equity import exact_equity, preflop_equity, sampled_equity
from protocol import find_game

ViewOf = Callable[[str, str], View]


def test_chance_before_the_flop_is_that_of_the_table(view_of: ViewOf) -> None:
    chance = EquityCounter(trials=1, seed=1)
    hole = parse_cards("AhKs")
    two = view_of("limit", "MATCHSTATE:1:0::|AhKs")
    assert chance.percent(two) == 100 * preflop_equity(hole).equity == pytest.approx(65.32, abs=0.01)
    ten = view_of("limit10", "MATCHSTATE:2:0::||AhKs|||||||")
    assert chance.percent(ten) == 100 * preflop_equity(hole, 9).equity
    six = view_of("limit10", "MATCHSTATE:8:0:ffrcff:||||||||AhKs|")
    assert chance.percent(six) == 100 * preflop_equity(hole, 5).equity, "who has folded does not count"
    all_in = view_of("nolimit3", "MATCHSTATE:0:0:r20000:AhKs||")
    assert chance.percent(all_in) == 100 * preflop_equity(hole, 2).equity, "who is all-in does"


@pytest.mark.parametrize("board", ["2c3c4c", "2c3c4c/5d", "2c3c4c/5d/Kh"])
def test_chance_against_one_opponent_is_exact(view_of: ViewOf, board: str) -> None:
    betting = "cc/" * (board.count("/") + 1)
    view = view_of("limit", f"MATCHSTATE:0:0:{betting}:AhKs|/{board}")
    exact = exact_equity(view.hole_cards, view.board).equity
    assert EquityCounter(trials=1, seed=1).percent(view) == EquityCounter(trials=1, seed=2).percent(view) == 100 * exact
    folded = view_of("limit3", f"MATCHSTATE:0:0:fcc{'/cc' * board.count('/')}/:AhKs||/{board}")
    assert EquityCounter(trials=1, seed=1).percent(folded) == 100 * exact


def test_against_more_it_is_sampled(view_of: ViewOf, monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of("limit3", "MATCHSTATE:0:0:ccc/:AhKs||/2c3c4c")
    exact_enough = 100 * sampled_equity(view.hole_cards, view.board, 2, trials=100_000, seed=1).equity
    assert EquityCounter(trials=20_000, seed=1).percent(view) == pytest.approx(exact_enough, abs=2)
    questions = []

    def equity(*arguments: object, **options: object) -> object:
        questions.append((arguments, options))
        return sampled_equity(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(chances, "equity", equity)
    chance = EquityCounter(trials=123, seed=1)
    first = chance.percent(view)
    ((arguments, options),) = questions
    assert arguments == (view.hole_cards, view.board, 2)
    assert options["trials"] == 123
    assert chance.percent(view) == first
    assert len(questions) == 1, "asked twice, counted once"


def test_draws_follow_from_seed_and_state(view_of: ViewOf) -> None:
    states = [
        f"MATCHSTATE:0:{number}:{betting}:{hole}||/{board}"
        for number in (0, 1, 2999)
        for hole in ("AhKs", "9d8d")
        for betting, board in (("ccc/", "2c3c4c"), ("ccc/ccc/", "2c3c4c/5d"), ("ccc/cc", "2c3c4c"))
        if betting != "ccc/cc"
    ]
    views = [view_of("limit3", state) for state in states]
    forwards, backwards = EquityCounter(trials=997, seed=5), EquityCounter(trials=997, seed=5)
    numbers = [forwards.percent(view) for view in views]
    assert [backwards.percent(view) for view in reversed(views)] == numbers[::-1]
    assert [EquityCounter(trials=997, seed=5).percent(view) for view in views] == numbers
    assert len(set(numbers)) > 9, "hands, cards and rounds draw differently"
    assert [EquityCounter(trials=997, seed=6).percent(view) for view in views] != numbers
    counters = EquityCounter(trials=997), EquityCounter(trials=997)
    unseeded = [[counter.percent(view) for view in views] for counter in counters]
    assert unseeded[0] != unseeded[1]


def test_every_state_of_every_hand_has_other_draws() -> None:
    """States that differ only in the last card, in the order of cards or in the number of opponents are included."""
    draw, seeds = random.Random(1), {}
    for hand_number in (0, 1, 2, 10**10):
        for _ in range(30):
            *board, one, other = draw.sample(range(52), 7)
            for cards in (board[:3], board[:4], board, [*board[:4], 0], board[::-1]):
                for opponents in range(1, 10):
                    state = (5, hand_number, (one, other), tuple(cards), opponents)
                    seeds[state] = chance_seed(*state)
    others = [chance_seed(6, *state[1:]) for state in seeds]
    assert len({*seeds.values(), *others}) == 2 * len(seeds)
    ones = [sum(seed >> bit & 1 for seed in seeds.values()) for bit in range(64)]
    assert len(seeds) * 0.45 < min(ones)
    assert max(ones) < len(seeds) * 0.55
    state = (3, (0, 1), (2, 3, 4), 2)
    assert chance_seed(-1, *state) == chance_seed(2**64 - 1, *state), "seeds count modulo 2**64"


@pytest.mark.parametrize(
    "game", [find_game("leduc")[1], find_game("nolimit")[1]._replace(num_ranks=9)], ids=["leduc", "short deck"]
)
def test_other_games_than_holdem_are_refused(game: Game) -> None:
    hand = Hand(game, deal_hand(game, 1, 0))
    with pytest.raises(BotsError, match=r"counted for hold'em only: .* this game is not one of them") as caught:
        EquityCounter().percent(View.from_hand(hand, hand.acting_position))
    assert "\n" not in str(caught.value)


def test_trials_are_positive() -> None:
    with pytest.raises(ValueError, match="trials must be 1 or more, not 0"):
        EquityCounter(trials=0)
