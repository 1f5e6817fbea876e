"""Hand counts: worked examples, comparison with the slow twin, merged and whole counts."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace

import numpy as np
import pytest

from engine import BettingType, Deal, Seat
from engine.holdem import holdem_game, position_names
from logs import HandRecord, PlayerComment, Times
from logs.estimation import RunningMean, score_bounds
from logs.tracker import columns
from logs.tracker.hand_counts import MAX_POINTS, HandCounts, PlayerTotals, Sum
from logs.tracker.hand_facts import FREQUENCIES
from logs.tracker.statistics import BotStatistics, Frequency, PlayStatistics, Statistics, statistics_of
from protocol import find_game
from tests.logs.hands import HOLDEM, TOYS, random_hands
from tests.logs.tracker import naive
from tests.logs.tracker.little_hands import hand
from tests.tables import rows

LIMIT6 = find_game("limit6")[1]
CARDS = "AhKh|9c9d/Qh7h2c/2d/3h"
"""Ann has the nut flush, Bob two pair."""


def bot(records: list[HandRecord], name: str) -> BotStatistics:
    return next(bot for bot in statistics_of(HandCounts().add_all(records)).bots if bot.name == name)


def times(rate: Frequency | None) -> str:
    """Format uses and opportunities as the tables below do."""
    return "{}/{}".format(*pair(rate))


def pair(rate: Frequency | None) -> tuple[int, int]:
    assert rate is not None
    return rate.times, rate.chances


# ---- before the flop. Heads-up position 0 is the big blind and Ann, position 1 the small blind and Bob.


@pytest.mark.parametrize(
    ("betting", "name", "vpip", "pfr", "three_bet", "what"),
    rows("""
    f               Ann  0/0  0/0  0/0  a walk is no chance of anything
    cc/r200f        Ann  0/1  0/1  0/0  to check the big blind is not voluntary
    cc/r200f        Bob  1/1  0/1  0/0  to complete the small blind is
    r300c/cr600f    Ann  1/1  0/1  0/1  to call a raise
    r300c/cr600f    Bob  1/1  1/1  0/0  to raise
    cr300c/cr600f   Ann  1/1  1/1  0/0  to raise a limp is no three-bet
    r300r900f       Ann  1/1  1/1  1/1  a three-bet
    r300r900r2700f  Bob  1/1  1/1  0/0  a four-bet is no three-bet
    r20000c///      Ann  1/1  0/0  0/0  who can only call an all-in cannot raise
    """),
)
def test_before_the_flop(betting: str, name: str, vpip: str, pfr: str, three_bet: str, what: str) -> None:
    player = bot([hand("nolimit", betting, CARDS)], name)
    assert (times(player.vpip), times(player.pfr), times(player.three_bet)) == (vpip, pfr, three_bet), what


def test_raise_cap_removes_the_opportunity_to_raise() -> None:
    # Three raises are allowed before the flop. Bob opens, Ann makes it three bets, Bob four, and she can only call.
    records = [hand("limit", "rrrc/cc/cc/cc", CARDS)]
    assert pair(bot(records, "Ann").three_bet) == (1, 1)
    assert pair(bot(records, "Bob").three_bet) == (0, 0)
    # Three players: Cat opens, Ann and Bob raise, and Cat is left with a call.
    records = [hand("limit3", "rrrcc/ccc/ccc/ccc", "AhKh|9c9d|5c5d/Qh7h2c/2d/3h")]
    assert pair(bot(records, "Cat").pfr) == (1, 1)
    assert pair(bot(records, "Bob").pfr) == (1, 1)
    assert pair(bot(records, "Bob").three_bet) == (0, 0)


def test_vpip_from_the_small_blind() -> None:
    # Bob is the small blind of even hands, Ann of odd ones.
    records = [hand("nolimit", betting, CARDS, number=number) for number, betting in enumerate(["f", "f", "cr300f"])]
    assert pair(bot(records, "Bob").vpip_small_blind) == (1, 2)
    assert pair(bot(records, "Ann").vpip_small_blind) == (0, 1)
    assert pair(bot(records, "Ann").vpip) == (1, 2)


# ---- after the flop


# ---- what a tracker shows at the table. Four players: SB Ann, BB Bob, CO Cat, BTN Dan.

_HOLES = "AhKh|9c9d|5c5d|JsTs"
_BOARD = ("Qs7h2c", "2d", "3h")


@pytest.mark.parametrize(
    ("betting", "expected"),
    [
        pytest.param("fff", {"Bob": "steal 0/0, fold_to_steal 0/0"}, id="a walk"),
        pytest.param("r30fff", {"Cat": "steal 1/1", "Ann": "fold_to_steal 1/1", "Bob": "steal 0/0"}, id="steal"),
        pytest.param("cr30fff", {"Cat": "steal 0/1"}, id="a limp before takes the chance to steal"),
        pytest.param("fr30r90ff", {"Cat": "steal 0/1", "Dan": "steal 1/1", "Ann": "fold_to_steal 0/1"}, id="re-steal"),
        pytest.param("r30cff/cr60f", {"Dan": "cold_call 1/1", "Bob": "fold_to_steal 0/0"}, id="no steal"),
        pytest.param("r30cr120fff", {"Ann": "squeeze 1/1", "Dan": "cold_call 1/1"}, id="squeeze"),
        pytest.param("r30r90r270fff", {"Ann": "four_bet 1/1", "Cat": "four_bet 0/0"}, id="a cold four-bet"),
        pytest.param("r30r90ffr270f", {"Cat": "four_bet 1/1", "Dan": "cold_call 0/1"}, id="four-bet"),
        pytest.param(
            "r30ffc/cr60c/cr120f",
            {"Cat": "continuation_bet 1/1, turn_continuation_bet 1/1", "Bob": "donk_bet 0/1, check_raise 0/2"},
            id="two barrels",
        ),
        pytest.param("r30ffc/r60f", {"Bob": "donk_bet 1/1", "Cat": "continuation_bet 0/0"}, id="donk bet"),
        pytest.param("r30ffc/cr60r180f", {"Bob": "check_raise 1/1, fold_to_continuation_bet 0/1"}, id="check-raise"),
        pytest.param(
            "r30ffc/cr60c/cr120f",
            {"Bob": "fold_to_continuation_bet 0/1, fold_to_turn_continuation_bet 1/1"},
            id="a fold to the second barrel",
        ),
        pytest.param("r30ffc/cc/cr60f", {"Cat": "continuation_bet 0/1, turn_continuation_bet 0/0"}, id="delayed bet"),
        pytest.param(
            "r30ffc/cr60r180c/cr300f",
            {"Cat": "continuation_bet 1/1, turn_continuation_bet 0/0", "Bob": "fold_to_turn_continuation_bet 0/0"},
            id="a flop bet that was raised takes the second barrel",
        ),
        pytest.param("r30ffr90c/r120f", {"Bob": "continuation_bet 1/1", "Cat": "donk_bet 0/0"}, id="the last raiser"),
    ],
)
def test_frequencies_of_a_tracker(betting: str, expected: dict[str, str]) -> None:
    game = holdem_game(BettingType.NO_LIMIT, (2000,) * 4, (5, 10, 0, 0))
    streets = betting.count("/")
    records = [hand(game, betting, "/".join([_HOLES, *_BOARD[:streets]]))]
    for name, figures in expected.items():
        player = bot(records, name)
        for figure in figures.split(", "):
            key, _, rate = figure.partition(" ")
            assert "/".join(map(str, pair(getattr(player, key)))) == rate, (name, key)


# ---- results


def test_chips_that_nobody_called_are_no_pot() -> None:
    game = hand("nolimit", "f", CARDS).game._replace(stacks=(20000, 500))
    records = [hand(game, "cr20000c///", "9c9d|AhKh/Qh7h2c/2d/3h")]
    assert bot(records, "Ann").net_chips == -500
    assert pair(bot(records, "Ann").won_at_showdown) == (0, 1)
    assert pair(bot(records, "Bob").won_at_showdown) == (1, 1)


# ---- cards


# ---- all-in


def test_an_all_in_counts_at_its_expectation() -> None:
    records = [hand("nolimit", "r20000c///", "AcAd|KcKh/2c3d4h/9s/Ks")]
    player = bot(records, "Ann")
    assert player.adjusted is not None
    assert player.net_chips == -20000
    assert player.adjusted.hands == 1
    equity = (1399204 + 7923 / 2) / 1712304
    assert player.adjusted.luck_chips == pytest.approx(-20000 - (40000 * equity - 20000))
    assert player.adjusted.mbb_per_game.mean == pytest.approx(1000 * (40000 * equity - 20000) / 100)


@pytest.mark.parametrize("betting", ["r20000f", "cc/cc/cc/r20000c", "cc/cc/cc/cc"])
def test_without_cards_to_come_nothing_is_adjusted(betting: str) -> None:
    player = bot([hand("nolimit", betting, CARDS)], "Ann")
    assert player.adjusted is not None
    assert (player.adjusted.hands, player.adjusted.luck_chips) == (0, 0)
    assert player.adjusted.mbb_per_game == player.mbb_per_game


# ---- times and comments


def test_times_and_comments() -> None:
    record = hand("nolimit", "r300r900c/cc/cc/cc", CARDS)
    times = tuple(Times(1_000_000 * i, 1_000_000 * i + 1000 * (i + 1)) for i in range(9))
    comments = (PlayerComment(Seat(1), 0, "hello"), PlayerComment(Seat(1), 3, "well played"))
    ann, bob = (bot([replace(record, times=times, comments=comments)], name) for name in ("Ann", "Bob"))
    # Bob acts first and third, and second on each later street.
    assert bob.timing is not None
    assert (bob.timing.actions, bob.timing.longest_ms, bob.comments) == (5, 9.0, 2)
    assert bob.timing.mean_ms == pytest.approx((1 + 3 + 5 + 7 + 9) / 5)
    assert bob.timing.total_s == pytest.approx(0.025)
    assert ann.timing is not None
    assert (ann.timing.actions, ann.comments) == (4, 0)
    assert bot([record], "Ann").timing is None


# ---- other games


@pytest.mark.parametrize("game", TOYS)
def test_other_games_omit_holdem_figures(game: str) -> None:
    player = bot(random_hands(game, 110), "Ann")
    for field in (
        "vpip",
        "vpip_small_blind",
        "pfr",
        "three_bet",
        "aggression_factor",
        "aggression_frequency",
        "won_when_saw_flop",
        "went_to_showdown",
        "style",
    ):
        assert getattr(player, field) is None, field
    assert player.starting_hands == []
    assert player.final_hands == []
    assert player.hands == 110
    assert player.mbb_per_game.half_width is not None
    assert player.won_at_showdown.chances > 0
    assert [position.position for position in player.positions] == ["1st", "2nd", "3rd"][: len(player.positions)]
    assert player.streets[0].street == "round 1"


# ---- comparison with the slow twin


@pytest.mark.sampled
@pytest.mark.parametrize("game", HOLDEM + TOYS)
@pytest.mark.parametrize("fixed_seats", [False, True], ids=["moving", "fixed"])
def test_counts_equal_those_of_the_slow_twin(game: str, fixed_seats: bool) -> None:
    hands = 100 if game[-1].isalpha() else 30
    records = random_hands(game, hands, seed=5, fixed_seats=fixed_seats, fold=0.2, with_notes=True)
    statistics = statistics_of(HandCounts().add_all(records))
    assert statistics.hands == hands
    assert {player.name for player in statistics.bots} == set(records[0].names_by_seat)
    for player in statistics.bots:
        dealt = naive.dealt_to(records, player.name)
        check_figures(player, dealt, game in HOLDEM)
        for position in player.positions:
            position_hands = [one for one in dealt if position_names(one[0].game)[one[1]] == position.position]
            check_figures(position, position_hands, game in HOLDEM)
        if game in HOLDEM:
            check_cards(player, dealt)


def check_figures(figures: PlayStatistics, hands: list[naive.Dealt], is_holdem: bool) -> None:
    record = hands[0][0]
    blind = record.game.big_blind
    assert figures.hands == len(hands)
    assert figures.net_chips == pytest.approx(sum(map(naive.net, hands)), abs=1e-6)
    mbb = 1000 * sum(map(naive.net, hands)) / blind / len(hands)
    assert figures.mbb_per_game.mean == pytest.approx(mbb, abs=1e-6)
    showdowns = [dealt for dealt in hands if naive.in_showdown(dealt)]
    assert pair(figures.won_at_showdown) == (sum(map(naive.won, showdowns)), len(showdowns))
    with_showdown = 1000 * sum(map(naive.net, showdowns)) / blind / len(hands)
    assert figures.showdown == pytest.approx(with_showdown, abs=1e-6)
    assert figures.no_showdown == pytest.approx(mbb - with_showdown, abs=1e-6)
    streets = [naive.street(hands, round_) for round_ in range(record.game.num_rounds)]
    assert [tuple(street.model_dump().values())[1:] for street in figures.streets] == streets
    if is_holdem:
        flops = [dealt for dealt in hands if naive.saw(dealt, 1)]
        assert pair(figures.vpip) == naive.vpip(hands)
        assert pair(figures.pfr) == naive.pfr(hands)
        assert pair(figures.three_bet) == naive.three_bet(hands)
        turns = naive.turns(hands)
        for key in FREQUENCIES[3:]:
            assert pair(getattr(figures, key)) == naive.frequency(key, turns), key
        assert pair(figures.won_when_saw_flop) == (sum(map(naive.won, flops)), len(flops))
        assert pair(figures.went_to_showdown) == (sum(map(naive.in_showdown, flops)), len(flops))
        _, folds, _, calls, bets, raises = (sum(column) for column in zip(*streets[1:], strict=True))
        assert figures.aggression_factor is not None
        assert (figures.aggression_factor.raises, figures.aggression_factor.calls) == (bets + raises, calls)
        assert pair(figures.aggression_frequency) == (bets + raises, bets + raises + calls + folds)


def check_cards(player: BotStatistics, hands: list[naive.Dealt]) -> None:
    starting = {row.hand: (row.hands, row.won.times, row.net_chips) for row in player.starting_hands}
    assert starting == naive.by_starting_hand(hands)
    assert [row.net_chips for row in player.starting_hands] == sorted(
        [row.net_chips for row in player.starting_hands], reverse=True
    )
    shown = {row.category: (row.showdowns, row.showdowns_won, row.showdown_net_chips) for row in player.final_hands}
    assert {name: row for name, row in shown.items() if row[0]} == naive.by_category(hands, naive.in_showdown)
    rivers = {row.category: (row.rivers, row.rivers_won, row.river_net_chips) for row in player.final_hands}
    assert rivers == naive.by_category(hands, lambda dealt: naive.saw(dealt, 3))


def test_expectations_equal_those_of_the_slow_twin() -> None:
    """Compare all-in hands of Leduc without limit, and of hold'em on the flop and the turn."""
    records = random_hands("leduc-nolimit", 200, fold=0.05)
    records += [
        hand("nolimit", "cc/r20000c//", "AcAd|KcKh/2c3dKd/9s/Ks", number=0),
        hand("nolimit", "r300c/r900c/r20000c/", "AcQc|KcKh/2c3dKd/9c/5c", number=1),
        hand("nolimit3", "r300cf/r900c/r20000c/", "Jc5s|AcQc|KcKh/2c3dKd/9c/5c", number=0),
    ]
    for name in ("Ann", "Bob"):
        for game in ("leduc-nolimit", "nolimit", "nolimit3"):
            hands = [d for d in naive.dealt_to(records, name) if d[0].game == find_game(game)[1]]
            player = bot([record for record, _ in hands], name)
            assert player.adjusted is not None
            expected = sum(map(naive.expectation, hands))
            assert player.net_chips - player.adjusted.luck_chips == pytest.approx(expected, abs=1e-6)
            assert player.adjusted.hands > 0 or (name, game) == ("Bob", "nolimit3")


@pytest.mark.slow
@pytest.mark.parametrize("game", HOLDEM + TOYS)
def test_counts_of_many_hands_equal_those_of_the_slow_twin(game: str) -> None:
    for seed in range(3):
        records = random_hands(game, 1000, seed=seed, fold=random.Random(seed).choice([0.05, 0.2, 0.4]))
        statistics = statistics_of(HandCounts().add_all(records))
        for player in statistics.bots:
            hands = naive.dealt_to(records, player.name)
            check_figures(player, hands, game in HOLDEM)
            if game in HOLDEM:
                check_cards(player, hands)


# ---- the biggest pots


def pot_blinds(record: HandRecord) -> float:
    """Return the pot without uncalled chips, in big blinds."""
    spent = sorted(record.betting.spent)
    return (sum(spent) - (spent[-1] - spent[-2])) / record.game.big_blind


@pytest.mark.sampled
@pytest.mark.parametrize("game", ["limit", "nolimit3", "limit6"])
@pytest.mark.parametrize("max_pots", [0, 1, 10])
def test_biggest_pots_are_kept_earliest_first(game: str, max_pots: int) -> None:
    records = random_hands(game, 200)
    ordered = sorted(records, key=lambda record: (-pot_blinds(record), record.hand_number))[:max_pots]
    pots = HandCounts(big_pots=max_pots).add_all(records).big_pots
    assert [big.record for big in pots] == ordered
    assert [big.blinds for big in pots] == [pot_blinds(record) for record in ordered]


# ---- caching, merging, other processes


def without_curves(statistics: Statistics) -> dict[str, object]:
    return statistics.model_dump(exclude={"bots": {"__all__": {"curve"}}})


@pytest.mark.sampled
@pytest.mark.parametrize("game", ["limit", "nolimit", "nolimit3", "kuhn3", "leduc-nolimit"])
@pytest.mark.parametrize("hands", [120, pytest.param(400, marks=pytest.mark.slow)])
def test_merged_counts_equal_whole_counts(game: str, hands: int) -> None:
    records = random_hands(game, hands, with_notes=True)
    whole = HandCounts().add_all(records)
    for cut in (0, 1, hands * 3 // 8, hands):
        parts = HandCounts().add_all(records[:cut]), HandCounts().add_all(records[cut:])
        joined = HandCounts()
        for part in parts:
            joined.merge(pickle.loads(pickle.dumps(part)))
        assert joined.hands == hands
        joined_statistics, whole_statistics = statistics_of(joined), statistics_of(whole)
        assert close(joined_statistics, whole_statistics)
        assert [big[:2] for big in joined.big_pots] == [big[:2] for big in whole.big_pots]
        assert [big.record.hand_number for big in joined.big_pots] == [big.record.hand_number for big in whole.big_pots]
        for name, player in whole.players.items():
            assert joined.players[name].curve[-1] == pytest.approx(player.curve[-1])


def close(first: Statistics, second: Statistics) -> bool:
    """Compare up to the rounding of sums."""

    def flat(value: object) -> list[object]:
        if isinstance(value, dict):
            return [leaf for item in value.values() for leaf in flat(item)]
        if isinstance(value, list):
            return [leaf for item in value for leaf in flat(item)]
        return [pytest.approx(value, abs=1e-6) if isinstance(value, float) else value]

    return flat(without_curves(first)) == flat(without_curves(second))


def test_counting_continues_after_reading_and_merging() -> None:
    records = random_hands("limit3", 100)
    counts = HandCounts()
    for at in range(0, 100, 50):
        part = HandCounts().add_all(records[at : at + 20])
        counts.merge(part)
        counts.add_all(records[at + 20 : at + 50])
        statistics_of(counts)
    assert close(statistics_of(counts), statistics_of(HandCounts().add_all(records)))


@pytest.mark.parametrize("hands", [30, pytest.param(400, marks=pytest.mark.slow)])
def test_more_ways_to_bet_than_are_remembered(monkeypatch: pytest.MonkeyPatch, hands: int) -> None:
    records = random_hands("limit", hands) + random_hands("nolimit3", hands)
    expected = statistics_of(HandCounts().add_all(records))
    monkeypatch.setattr(columns, "_MAX_BETTINGS", 20)
    monkeypatch.setattr(columns, "_BATCH_HANDS", 15)
    assert close(statistics_of(HandCounts().add_all(records)), expected)


def test_several_games_and_matches_of_the_same_bots() -> None:
    rotated = ("Bob", "Ann")
    records = [
        *random_hands("limit", 200, names=("Ann", "Bob")),
        *random_hands("limit", 200, names=rotated),
        *random_hands("kuhn", 200, names=rotated),
    ]
    counts = HandCounts().add_all(records)
    player = next(bot for bot in statistics_of(counts).bots if bot.name == "Ann")
    assert player.hands == 600
    assert len(counts.games) == 2
    assert pair(player.vpip) == naive.vpip(naive.dealt_to(records[:400], "Ann"))
    assert [position.position for position in player.positions] == ["SB", "BB", "1st", "2nd"]
    chips = {"limit": sum(map(naive.net, naive.dealt_to(records[:400], "Ann")))}
    blinds = chips["limit"] / 10 + sum(map(naive.net, naive.dealt_to(records[400:], "Ann")))
    assert player.mbb_per_game.mean == pytest.approx(1000 * blinds / 600)


def test_a_bot_against_itself_is_counted_for_both_seats() -> None:
    records = random_hands("limit", 150, names=("Ann", "Ann"))
    player = bot(records, "Ann")
    assert (player.hands, player.net_chips) == (300, 0)
    assert [point.hands for point in player.curve] == list(range(2, 302, 2))


def test_curve_has_the_running_winnings() -> None:
    records = random_hands("limit", 1100)
    counts = HandCounts().add_all(records)
    net = 0.0
    sums = {}
    for hands, dealt in enumerate(naive.dealt_to(records, "Bob"), 1):
        net += naive.net(dealt) / 10
        sums[hands] = net
    points = counts.players["Bob"].curve
    assert 500 <= len(points) <= 1001
    assert points[-1, Sum.HANDS] == 1100
    assert points[:, Sum.NET] == pytest.approx([sums[hands] for hands in points[:, Sum.HANDS]])
    assert bot(records, "Bob").curve[5].half_width_95 is None
    assert bot(records, "Bob").curve[-1].half_width_95 is not None


def test_unknown_hole_cards_are_left_out() -> None:
    record = hand("nolimit", "cc/r200f", CARDS)
    unknown = replace(record, deal=Deal(((), record.deal.hole_cards[1]), record.deal.board))
    assert bot([unknown], "Ann").starting_hands == []
    assert bot([unknown], "Ann").hands == 1
    shown = hand("nolimit", "r20000c///", CARDS)
    shown = replace(shown, deal=Deal(((), shown.deal.hole_cards[1]), shown.deal.board))
    player = bot([shown], "Bob")
    assert player.adjusted is not None
    assert player.adjusted.hands == 0
    assert [final.category for final in player.final_hands] == ["two pair"]


# ---- curves, and deals in several seatings


def equal_player(hands: int, each: float = 1.0) -> PlayerTotals:
    """Return a player that wins the same with every hand."""
    player = PlayerTotals()
    for start in range(0, hands, 3000):
        order = np.arange(start, min(hands, start + 3000))
        player.extend(order, order, np.full((len(order), 6), each))
    return player


@pytest.mark.parametrize("hands", [0, 1, 999, 1000, 1001, 5000, 100_000])
def test_number_of_points_is_bounded(hands: int) -> None:
    player = equal_player(hands)
    assert len(player.points) <= MAX_POINTS
    assert len(player.points) >= min(hands, MAX_POINTS // 2)
    assert (player.points[:, Sum.NET] == player.points[:, Sum.HANDS]).all()
    assert set(np.diff(player.points[:, Sum.HANDS])) <= {player.step}


@pytest.mark.parametrize(("first", "second"), [(0, 10), (10, 0), (700, 700), (5000, 30), (30, 5000), (4097, 4097)])
def test_merged_curve_continues_the_first(first: int, second: int) -> None:
    player, step = equal_player(first), max(equal_player(first).step, equal_player(second).step)
    player.merge(equal_player(second, -2.0))
    assert player.step >= step
    assert len(player.points) <= MAX_POINTS
    hands = player.curve[:, Sum.HANDS].tolist()
    assert hands == sorted(set(hands))
    assert player.curve[:, Sum.NET].tolist() == [at if at <= first else first - 2 * (at - first) for at in hands]
    assert hands[-1] == first + second


def test_a_deal_in_several_seatings_is_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """With equally many hands in each deal, the interval is that of the means of deals."""
    seatings = 2
    monkeypatch.setattr(columns, "_BATCH_HANDS", 7)
    names = ("Ann", "Bob", "Cat", "Dan", "Eve", "Fay")
    orders = [names[turn:] + names[:turn] for turn in range(seatings)]
    matches = [random_hands("limit6", 120, names=order) for order in orders]
    counts = HandCounts().add_all(record for deal in zip(*matches, strict=True) for record in deal)
    for player in statistics_of(counts).bots:
        won = [[1000 * naive.net(one) / 10 for one in naive.dealt_to(match, player.name)] for match in matches]
        means = RunningMean([sum(deal) / seatings for deal in zip(*won, strict=True)], score_bounds(LIMIT6))
        assert (player.hands, player.deals) == (120 * seatings, 120)
        assert player.mbb_per_game.mean == pytest.approx(means.mean)
        assert player.mbb_per_game.half_width == pytest.approx(means.estimate.half_width)
        assert player.mbb_per_game.error == pytest.approx(means.standard_error, abs=1e-3)
