"""AIVAT with values: exact on average with any values, low variance with good ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from bots import self_play
from bots.cfr.bot import SHIPPED, CfrBot
from bots.cfr.expectation import load_tree
from bots.cfr.strategy_files import read_strategy
from bots.cfr.strategy_values import StrategyValues, write_values
from bots.cfr.value_terms import ExactValues, PairValues, ValueTerms, board_chances, value_terms
from bots.cfr.value_training import recorded_nodes
from bots.errors import BotFileError, PolicyError
from bots.sdk.registry import make_bot
from engine import CALL, Action, ActionKind, BettingState, Card, Game, Position
from engine.ranges import HOLDINGS, are_free
from logs.estimation.mean import largest_loss
from protocol import find_game
from tests.bots.evaluation.known import Known
from tests.logs.variance.small_games import Strategy, all_hands, random_strategy, small_game, uniform

Hole: TypeAlias = tuple[Card, ...]


def random_values(game: Game, seed: int) -> PairValues:
    """Values that are uninformative before the end of the betting."""
    exact = ExactValues(game, Known(uniform))

    def value(betting: BettingState, holes: tuple[Hole, Hole], board: tuple[Card, ...]) -> float:
        if betting.finished:
            return exact(betting, holes, board)
        text = repr((seed, betting.rounds, holes, board)).encode()
        return float(np.random.default_rng(list(text)).normal()) * game.big_blind

    return cache(value)


def estimates(
    name: str,
    strategies: tuple[Strategy, Strategy],
    known: str,
    values: PairValues,
    max_correction: float = math.inf,
) -> np.ndarray:
    """Return a row for each hand: probability, chips of the first known player, estimate, the other's term."""
    game = small_game(name)
    policies = {player: Known(strategies["AB".index(player)]) for player in known}
    terms = ValueTerms(game, policies, values, max_correction=max_correction)
    position = Position("AB".index(known[0]))
    rows = []
    for hand in all_hands(game, strategies):
        estimate = terms.estimate(hand.record, position)
        rows.append((hand.probability, hand.record.values[position], estimate.chips, estimate.other_term))
    return np.array(rows)


def variance(chances: np.ndarray, values: np.ndarray) -> float:
    return float(chances @ values**2 - (chances @ values) ** 2)


@pytest.mark.parametrize("kind", ["exact", "random"])
@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("kuhn", "A"),
        ("kuhn", "BA"),
        pytest.param("leduc", "AB", marks=pytest.mark.slow),
        pytest.param("leduc", "B", marks=pytest.mark.slow),
        pytest.param("leduc no-limit", "A", marks=pytest.mark.slow),
    ],
)
def test_expectation_is_that_of_the_chips(name: str, known: str, kind: str) -> None:
    game = small_game(name)
    strategies = (random_strategy(30), random_strategy(31))
    values = random_values(game, 7) if kind == "random" else ExactValues(game, Known(strategies[0]))
    chances, won, estimate, other_term = estimates(name, strategies, known, values).T
    assert chances @ estimate == pytest.approx(chances @ won, abs=1e-9 * game.big_blind)
    assert chances @ other_term == pytest.approx(0, abs=1e-9 * game.big_blind)
    assert variance(chances, estimate) > 0


@pytest.mark.parametrize("kind", ["exact", "random"])
@pytest.mark.parametrize(
    ("name", "known"),
    [("kuhn", "A"), ("kuhn", "BA"), pytest.param("leduc", "A", marks=pytest.mark.slow)],
)
def test_bounded_estimate_keeps_its_expectation_and_its_bounds(name: str, known: str, kind: str) -> None:
    game = small_game(name)
    strategies = (random_strategy(30), random_strategy(31))
    values = random_values(game, 7) if kind == "random" else ExactValues(game, Known(strategies[0]))
    free = estimates(name, strategies, known, values)
    for part in (0.1, 0.5):
        max_correction = part * largest_loss(game)
        rows = estimates(name, strategies, known, values, max_correction)
        chances, won, estimate, other_term = rows.T
        assert chances @ (estimate + other_term) == pytest.approx(chances @ won, abs=1e-9 * game.big_blind)
        assert np.abs(estimate + other_term).max() <= largest_loss(game) + max_correction + 1e-9
        if part == 0.1:
            assert np.abs(rows - free).max() > 0.01 * game.big_blind


@pytest.mark.parametrize("name", ["kuhn", pytest.param("leduc", marks=pytest.mark.slow)])
def test_no_luck_is_left_where_both_play_the_strategy_of_the_values(name: str) -> None:
    game = small_game(name)
    strategy = random_strategy(32)
    values = ExactValues(game, Known(strategy))
    chances, won, estimate, other_term = estimates(name, (strategy, strategy), "AB", values).T
    expectation = float(chances @ won)
    assert estimate + other_term == pytest.approx(np.full(len(won), expectation), abs=1e-9 * game.big_blind)
    assert variance(chances, won) > game.big_blind


@pytest.mark.parametrize("name", ["kuhn", pytest.param("leduc", marks=pytest.mark.slow)])
def test_gains_by_round_are_0_for_the_strategy_of_the_values_and_losses_for_others(name: str) -> None:
    game = small_game(name)
    known = random_strategy(33)
    values = ExactValues(game, Known(known))
    terms = ValueTerms(game, {"A": Known(known)}, values)
    for holder, is_level in ((known, True), (random_strategy(34), False)):
        mean_gains = np.zeros(game.num_rounds)
        for hand in all_hands(game, (known, holder)):
            estimate = terms.estimate(hand.record, Position(0))
            assert estimate.start + sum(estimate.gains) == pytest.approx(-estimate.chips)
            mean_gains += hand.probability * np.array([*estimate.gains, 0.0][: game.num_rounds])
        assert bool(np.all(np.abs(mean_gains) < 1e-9 * game.big_blind)) is is_level


def test_hand_of_another_policy_is_refused() -> None:
    game = small_game("kuhn")

    def never_raises(betting: BettingState, own: Card, board: tuple[Card, ...]) -> Mapping[Action, float]:
        return {CALL: 1.0}

    records = [hand.record for hand in all_hands(game, (uniform, uniform))]
    record = next(record for record in records if record.betting.rounds[0][0][1].kind is ActionKind.RAISE)
    position = record.betting.rounds[0][0][0]
    terms = ValueTerms(game, {record.names[position]: Known(never_raises)}, random_values(game, 1))
    with pytest.raises(PolicyError, match="to which its policy gives no chance"):
        terms.estimate(record, position)


@pytest.mark.parametrize("shown", [0, 3, 4])
def test_chances_of_boards_are_those_counted_one_by_one(shown: int) -> None:
    chance = np.random.default_rng(shown)
    deck = chance.permutation(52).tolist()
    used = deck[: 2 + shown]
    weights = are_free(used) * chance.random(1326)
    free = [card for card in range(52) if card not in used]
    boards = [*combinations(free, 3 if shown == 0 else 1)]
    if shown == 0:
        boards = [boards[index] for index in chance.choice(len(boards), 30)]
    cards = np.array(boards, np.uint8)
    counted = []
    for board in boards:
        counted.append(sum(weight for weight, hole in zip(weights, HOLDINGS, strict=True) if not {*hole} & {*board}))
    assert board_chances(weights, cards) == pytest.approx(np.array(counted) / sum(counted))


def test_buckets_on_next_boards_are_those_of_the_boards() -> None:
    from bots.cfr.next_boards import HoldingBuckets
    from engine.ranges import holding_number

    strategy = read_strategy(SHIPPED["nolimit"])
    assert strategy.cards is not None
    buckets = HoldingBuckets(strategy.cards)
    for seed in range(3):
        chance = np.random.default_rng(seed)
        cards = chance.permutation(52).tolist()
        hole = cards[:2]
        for shown in (0, 3, 4):
            board = tuple(cards[2 : 2 + shown])
            boards = buckets.after(hole, board)
            for index in chance.choice(len(boards.cards), 8).tolist():
                full = board + tuple(boards.cards[index].tolist())
                assert boards.buckets[index] == strategy.buckets_on(full)[holding_number(*hole)]


@pytest.mark.slow
@pytest.mark.parametrize(("known", "other"), [("calling", "random"), ("random", "raising")])
def test_mean_in_holdem_is_that_of_the_chips(known: str, other: str) -> None:
    game = find_game("limit")[1]
    strategy = read_strategy(SHIPPED["limit"])
    nodes = recorded_nodes(load_tree(strategy))
    entries = int(np.array(strategy.buckets)[strategy.rounds[nodes]].sum())
    # With uninformative values, a term with a mean other than 0 would show.
    returns = np.random.default_rng(3).random((2, entries), np.float32)
    bot = make_bot(f"{known}?seed=5" if known == "random" else known)
    terms = ValueTerms(game, {"A": bot}, StrategyValues(strategy, nodes, returns), CfrBot(rivers=1))
    differences = []
    for record in self_play(game, [bot, make_bot(other)], deals=150, seed=9, names=["A", "B"]):
        position = Position(record.names.index("A"))
        estimate = terms.estimate(record, position)
        assert estimate.other_term == 0
        differences.append(estimate.chips - record.values[position])
    error = float(np.std(differences)) / len(differences) ** 0.5
    assert abs(float(np.mean(differences))) < 4 * error
    assert error > 0


def test_values_are_those_of_a_known_strategy_that_has_some(tmp_path: Path) -> None:
    game = find_game("limit")[1]
    own = tmp_path / "own.strategy"
    own.write_bytes(Path(SHIPPED["limit"]).read_bytes())
    bot = CfrBot(strategy=str(own), rivers=0)
    shipped = value_terms(game, {"A": bot})
    assert shipped is not None
    assert shipped.solver is not None
    assert shipped.solver.strategy(game).path == SHIPPED["limit"], "no file of values beside the strategy"
    values = StrategyValues(read_strategy(str(own)), np.array([0], np.int32), np.ones((2, 169), np.float32))
    write_values(own.with_suffix(".values"), values, {})
    terms = value_terms(game, {"A": bot})
    assert terms is not None
    assert terms.solver is not None
    assert terms.solver.strategy(game).path == str(own)
    assert terms.solver.solves_rivers
    own.with_suffix(".values").write_text("junk")
    with pytest.raises(BotFileError):
        value_terms(game, {"A": bot})
    assert value_terms(find_game("limit3")[1], {"A": bot}) is None
