"""The baseline bots: actions in given states, and legality."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable

import pytest

from bots.baseline import CallingBot, ConstantBot, FoldingBot, HandRandom, RaisingBot, RandomBot
from bots.sdk.bot import Bot
from bots.sdk.conversation import require_legal
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, Hand, deals, raise_to
from protocol import find_game, shipped_games

ViewOf = Callable[[str, str], View]
OPEN = "MATCHSTATE:1:0::|AsAd"
FREE = "MATCHSTATE:0:0:c:AsAd|"
CAPPED = "MATCHSTATE:1:0:crrr:|AsAd"
ALL_IN = "MATCHSTATE:0:0:r20000:AsAd|"


@pytest.mark.parametrize(
    ("bot", "game", "state", "action"),
    [
        (CallingBot(), "limit", OPEN, CALL),
        (CallingBot(), "limit", FREE, CALL),
        (FoldingBot(), "limit", OPEN, FOLD),
        (FoldingBot(), "limit", FREE, CALL),
        (RaisingBot(), "limit", OPEN, RAISE),
        (RaisingBot(), "limit", CAPPED, CALL),
        (RaisingBot(), "nolimit", OPEN, raise_to(200)),
        (RaisingBot(), "nolimit", ALL_IN, CALL),
        (ConstantBot(), "limit", OPEN, CALL),
        (ConstantBot(action="fold"), "limit", OPEN, FOLD),
        (ConstantBot(action="fold"), "limit", FREE, CALL),
        (ConstantBot(action="raise"), "limit", OPEN, RAISE),
        (ConstantBot(action="raise"), "limit", CAPPED, CALL),
        (ConstantBot(action="raise"), "nolimit", OPEN, raise_to(200)),
        (ConstantBot(action="raise", size="min"), "nolimit", OPEN, raise_to(200)),
        (ConstantBot(action="raise", size="pot"), "nolimit", OPEN, raise_to(300)),
        (ConstantBot(action="raise", size="allin"), "nolimit", OPEN, raise_to(20000)),
        (ConstantBot(action="raise", size="2"), "nolimit", OPEN, raise_to(500)),
        (ConstantBot(action="raise", size="0.75"), "nolimit", OPEN, raise_to(250)),
        (ConstantBot(action="raise", size="pot"), "nolimit", ALL_IN, CALL),
        (ConstantBot(decision=1), "limit", OPEN, FOLD),
        (ConstantBot(decision=1), "limit", FREE, CALL),
        (ConstantBot(decision=2), "limit", OPEN, CALL),
        (ConstantBot(decision=3), "limit", OPEN, RAISE),
        (ConstantBot(decision=5), "limit", CAPPED, CALL),
        (ConstantBot(decision=3), "nolimit", OPEN, raise_to(200)),
        (ConstantBot(decision=4), "nolimit", OPEN, raise_to(200)),
        (ConstantBot(decision=5), "nolimit", OPEN, raise_to(300)),
        (ConstantBot(decision=5), "nolimit", ALL_IN, CALL),
    ],
)
def test_action_in_a_state(view_of: ViewOf, bot: Bot, game: str, state: str, action: Action) -> None:
    view = view_of(game, state)
    assert bot.act(view) == action
    assert bot.policy(view) == {action: 1.0}


def test_a_free_fold_gives_up_the_hand(view_of: ViewOf) -> None:
    bot = RandomBot(fold=1, call=0, raise_=0, free_folds=True)
    view = view_of("limit", FREE)
    bot.hand_started(view)
    assert bot.act(view) == CALL
    bot.weights = (0.0, 0.0, 1.0)
    assert bot.act(view_of("limit", OPEN)) == FOLD
    assert bot.policy(view) is None
    bot.hand_started(view)
    assert bot.act(view) == RAISE
    assert bot.act(view_of("limit", CAPPED)) == CALL


def test_free_folds_are_drawn_as_often_as_others(view_of: ViewOf) -> None:
    bot, view = RandomBot(fold=1, call=1, raise_=1, free_folds=True, seed=3), view_of("limit", FREE)
    counts: Counter[Action] = Counter()
    for _ in range(3000):
        bot.hand_started(view)
        bot.random.begin_hand(counts.total())
        counts[bot.act(view)] += 1
    # A third of the actions are raises; folds and calls look alike here.
    assert abs(counts[RAISE] - 1000) < 100
    assert set(counts) == {CALL, RAISE}


def test_free_folds_are_not_for_decisions() -> None:
    with pytest.raises(ValueError, match="free_folds is for fold, call and raise"):
        RandomBot(decisions="20/50/15/10/5", free_folds=True)


@pytest.mark.parametrize("action", ["raise ", "check", ""])
def test_constant_refuses_other_actions(action: str) -> None:
    with pytest.raises(ValueError, match="action must be fold, call or raise"):
        ConstantBot(action=action)


@pytest.mark.parametrize("size", ["big", "-1", "nan", "inf", ""])
def test_constant_refuses_other_sizes(size: str) -> None:
    with pytest.raises(ValueError, match="size must be min, pot, allin or a fraction"):
        ConstantBot(action="raise", size=size)


@pytest.mark.parametrize("decision", [0, 6, -1])
def test_constant_refuses_other_decisions(decision: int) -> None:
    with pytest.raises(ValueError, match=f"decision must be 1 to 5, .* not {decision}"):
        ConstantBot(decision=decision)


@pytest.mark.parametrize("options", [{"action": "fold"}, {"action": "raise", "size": "pot"}, {"size": "0.5"}])
def test_constant_has_an_action_or_a_decision(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="give either decision or action and size"):
        ConstantBot(**options, decision=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"fold": 0.1}, {"call": 0.0}, {"raise_": 1.0}])
def test_random_has_probabilities_or_decisions(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="give either decisions or fold, call and raise"):
        RandomBot(**options, decisions="1/1/1/1/1")  # type: ignore[arg-type]


@pytest.mark.parametrize("triple", [(-0.1, 1, 1), (0, 0, 0), (float("nan"), 1, 1), (float("inf"), 0, 0)])
def test_random_refuses_invalid_probabilities(triple: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="probabilities"):
        RandomBot(fold=triple[0], call=triple[1], raise_=triple[2])


def test_random_policy_renormalises(view_of: ViewOf) -> None:
    bot = RandomBot()
    assert bot.policy(view_of("limit", OPEN)) == pytest.approx({FOLD: 0.06, CALL: 0.47, RAISE: 0.47})
    assert bot.policy(view_of("limit", FREE)) == pytest.approx({CALL: 0.5, RAISE: 0.5})
    assert bot.policy(view_of("limit", CAPPED)) == pytest.approx({FOLD: 6 / 53, CALL: 47 / 53})
    assert RandomBot(fold=1, call=0, raise_=0).policy(view_of("limit", FREE)) == {CALL: 1.0}
    assert RandomBot(fold=0, call=0, raise_=1).policy(view_of("limit", CAPPED)) == {CALL: 1.0}


def test_random_policy_in_no_limit(view_of: ViewOf) -> None:
    policy = RandomBot().policy(view_of("nolimit", OPEN))
    assert len(policy) == 2 + 19801
    assert sum(policy.values()) == pytest.approx(1.0)
    assert policy[raise_to(200)] == policy[raise_to(20000)] == pytest.approx(0.47 / 19801)


DRAWS = 4_000
SIX_DEVIATIONS = 6 * 0.5 / DRAWS**0.5
"""Six standard deviations of the share of heads in `DRAWS` fair draws."""


@pytest.mark.parametrize("nth", [0, 7])
def test_random_draws_by_its_policy(view_of: ViewOf, nth: int) -> None:
    """The share is right over many hands, at every decision of the hand."""
    view = view_of("limit", OPEN)
    bot = RandomBot(fold=0.2, call=0.3, raise_=0.5, seed=1)
    counts: Counter[Action] = Counter()
    for number in range(DRAWS):
        view.hand_number = number
        bot.hand_started(view)
        counts[[bot.act(view) for _ in range(nth + 1)][nth]] += 1
    for action, chance in bot.policy(view).items():
        assert counts[action] / DRAWS == pytest.approx(chance, abs=SIX_DEVIATIONS)


def test_random_draws_decisions_by_its_policy(view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:1:0:r300c/r800:|AsAd/2c3c4c")
    bot = RandomBot(decisions="20/50/15/10/5", seed=1)
    policy = bot.policy(view)
    assert policy == pytest.approx(
        {FOLD: 0.2, CALL: 0.5, raise_to(1300): 0.15, raise_to(1600): 0.1, raise_to(2400): 0.05}
    )
    counts: Counter[Action] = Counter()
    for number in range(DRAWS):
        view.hand_number = number
        bot.hand_started(view)
        counts[bot.act(view)] += 1
    assert counts.keys() == policy.keys()
    for action, chance in policy.items():
        assert counts[action] / DRAWS == pytest.approx(chance, abs=SIX_DEVIATIONS)


def test_random_draws_by_its_policy_within_one_hand(view_of: ViewOf) -> None:
    view = view_of("limit", OPEN)
    bot = RandomBot(fold=0.2, call=0.3, raise_=0.5, seed=1)
    counts = Counter(bot.act(view) for _ in range(DRAWS))
    for action, chance in bot.policy(view).items():
        assert counts[action] / DRAWS == pytest.approx(chance, abs=SIX_DEVIATIONS)


def _first_words(seed: int, hands: int, draws: int = 1) -> list[list[int]]:
    """Return the first numbers of each hand, in 16 classes."""
    chance = HandRandom(seed)
    rows = []
    for number in range(hands):
        chance.begin_hand(number)
        rows.append([chance.integer(0, 15) for _ in range(draws)])
    return rows


@pytest.mark.parametrize(
    ("what", "pairs"),
    [
        ("two draws of a hand", lambda: [(a, b) for a, b in _first_words(1, DRAWS, 2)]),
        ("neighbouring hands", lambda: [(a, b) for (a,), (b,) in itertools.pairwise(_first_words(2, DRAWS + 1))]),
        (
            "the end of a hand and the beginning of the next",
            lambda: [(row[3], after[0]) for row, after in itertools.pairwise(_first_words(3, DRAWS + 1, 4))],
        ),
        (
            "neighbouring seeds",
            lambda: [(a, b) for (a,), (b,) in zip(_first_words(4, DRAWS), _first_words(5, DRAWS), strict=True)],
        ),
        ("the first hands of many seeds", lambda: [tuple(_first_words(seed, 1, 2)[0]) for seed in range(DRAWS)]),
        (
            "the first two hands of many seeds",
            lambda: [(a, b) for (a,), (b,) in (_first_words(seed, 2) for seed in range(DRAWS))],
        ),
    ],
)
def test_random_numbers_are_independent(what: str, pairs: Callable[[], list[tuple[int, int]]]) -> None:
    """All 256 pairs of classes are equally frequent: chi-square with 255 degrees of freedom, within 6 deviations."""
    counts = Counter(pairs())
    expected = DRAWS / 256
    statistic = sum((counts[a, b] - expected) ** 2 / expected for a in range(16) for b in range(16))
    assert statistic == pytest.approx(255, abs=6 * (2 * 255) ** 0.5), what


def test_random_numbers_are_splitmix64() -> None:
    """Compare with the first outputs of the published generator, started at 1234567."""
    chance = HandRandom(0)
    chance._counter = 1234567
    words = [chance.integer(0, 2**64 - 1) for _ in range(5)]
    assert words == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    chance._counter = 1234567
    assert chance.random() == (6457827717110365317 >> 11) / 2**53


def test_random_sizes_reach_both_ends(view_of: ViewOf) -> None:
    view = view_of("leduc-nolimit", "MATCHSTATE:0:0::Ks|")
    bot = RandomBot(fold=0, call=0, raise_=1, seed=1)
    totals = {bot.act(view).hand_total for _ in range(4_000)}
    assert {200, 1200} <= totals <= set(range(200, 1201))


def test_random_follows_from_its_seed(view_of: ViewOf) -> None:
    view = view_of("nolimit", OPEN)
    bots = [RandomBot(seed=seed) for seed in (3, 3, 4, -3, 2**63 + 3, None, None)]
    draws = [[bot.act(view) for _ in range(50)] for bot in bots]
    assert draws[0] == draws[1]
    assert len({tuple(of_bot) for of_bot in draws[1:]}) == 6


def test_random_does_not_depend_on_earlier_hands(view_of: ViewOf) -> None:
    view = view_of("nolimit", OPEN)

    def hand(bot: RandomBot, number: int, decisions: int = 6) -> list[Action]:
        view.hand_number = number
        bot.hand_started(view)
        return [bot.act(view) for _ in range(decisions)]

    through = RandomBot(seed=9)
    hands = [hand(through, number) for number in range(30)]
    assert len({tuple(decisions) for decisions in hands}) == 30
    assert hand(RandomBot(seed=9), 17) == hands[17]
    hopping = RandomBot(seed=9)
    for number, decisions in [(29, 6), (3, 1), (3, 6), (0, 4), (1, 6), (29, 2)]:
        assert hand(hopping, number, decisions) == hands[number][:decisions]


BOTS: list[Callable[[], Bot]] = [
    CallingBot,
    FoldingBot,
    RaisingBot,
    lambda: RandomBot(seed=1),
    lambda: RandomBot(fold=0.3, call=0.1, raise_=0.6, seed=2),
    lambda: RandomBot(fold=0.02, call=0.9, raise_=0.08, seed=3),
    lambda: ConstantBot(action="raise", size="pot"),
    lambda: ConstantBot(action="raise", size="allin"),
    lambda: ConstantBot(action="raise", size="0.4"),
    lambda: ConstantBot(action="fold"),
    lambda: ConstantBot(decision=4),
    lambda: RandomBot(decisions="20/50/15/10/5", seed=4),
]


@pytest.mark.sampled
@pytest.mark.parametrize("name", shipped_games())
def test_answers_are_legal(name: str) -> None:
    """Play hands between random casts: answers are legal, chips conserved, actions follow policies."""
    game = find_game(name)[1]
    rng = random.Random(7)
    casts = [[rng.choice(BOTS)() for _ in range(game.num_players)] for _ in range(20)]
    source = deals(game, 11)
    for number in range(60):
        cast = rng.choice(casts)
        hand = Hand(game, next(source))
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            answer = cast[hand.acting_position].act(view)
            assert require_legal(answer, view) == answer
            if game.is_limit:
                assert cast[hand.acting_position].policy(view)[answer] > 0  # type: ignore[index]
            hand.apply(answer)
        assert sum(hand.values()) == pytest.approx(0, abs=1e-6)


def test_raising_ends_at_the_limits_of_the_protocol() -> None:
    """With minimum raises back and forth, the limit of 64 actions ends a round, not an illegal answer."""
    game = find_game("nolimit")[1]
    hand = Hand(game, next(deals(game, 1)))
    bot = RaisingBot()
    while not hand.finished:
        hand.apply(bot.act(View.from_hand(hand, hand.acting_position)))
    assert max(len(actions) for actions in hand.betting.rounds) <= 64
    assert hand.betting.rounds[0][0][1].kind is ActionKind.RAISE
