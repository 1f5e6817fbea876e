"""The bot: sizes, the small blind, options, comments, draws, and legality in all hold'em games."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from bots.baseline import CallingBot, ConstantBot, RaisingBot, RandomBot
from bots.errors import SpecError
from bots.rembrant import RembrantBot
from bots.sdk.conversation import require_legal
from bots.sdk.registry import make_bot
from bots.sdk.testing import MockDealer, check
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Deal, Hand, deal_hand, parse_cards, raise_to
from protocol import find_game
from tests.bots.playing import HOLDEM, BotMaker, ViewOf, comment_of, play_legally, play_random_casts, rembrant


@pytest.mark.parametrize(
    ("options", "state", "action"),
    [
        ({}, "MATCHSTATE:1:0::|AhAs", raise_to(400)),
        ({"open_bb": 3.0}, "MATCHSTATE:1:0::|AhAs", raise_to(300)),
        ({"open_bb": 0.5}, "MATCHSTATE:1:0::|AhAs", raise_to(200)),
        ({"open_bb": 1e6}, "MATCHSTATE:1:0::|AhAs", raise_to(20000)),
        ({}, "MATCHSTATE:0:0:c:AhAs|", raise_to(400)),
        ({}, "MATCHSTATE:0:0:r300:AhAs|", raise_to(1050)),
        ({"reraise_times": 3.0}, "MATCHSTATE:0:0:r300:AhAs|", raise_to(900)),
        ({}, "MATCHSTATE:0:0:r15000:AhAs|", raise_to(20000)),
        ({}, "MATCHSTATE:0:0:r225:AhAs|", raise_to(787)),  # rounded down
        # top pair after the flop, against nothing on a board with draws, then against a bet of 500
        ({}, "MATCHSTATE:1:0:r300c/c:|AhKs/Kc8c3d", raise_to(900)),
        ({"bet_pot_danger": 0.5}, "MATCHSTATE:1:0:r300c/c:|AhKs/Kc8c3d", raise_to(600)),
        ({}, "MATCHSTATE:1:0:r300c/r800:|AhKs/Kc8c3d", raise_to(300 + 1750)),
        ({"raise_times": 3.0}, "MATCHSTATE:1:0:r300c/r800:|AhKs/Kc8c3d", raise_to(300 + 1500)),
        # two pairs bet on any board, here a dry one
        ({}, "MATCHSTATE:1:0:r300c/c:|Kh8s/Kc8h3d", raise_to(700)),
        ({"bet_pot": 0.5}, "MATCHSTATE:1:0:r300c/c:|Kh8s/Kc8h3d", raise_to(600)),
        # against an all-in, a call puts in the maximum
        ({}, "MATCHSTATE:0:0:r20000:AhAs|", CALL),
    ],
)
def test_sizes(view_of: ViewOf, options: dict[str, float], state: str, action: Action) -> None:
    view = view_of("nolimit", state)
    assert rembrant(**options).act(view) == action
    assert require_legal(action, view) == action


@pytest.mark.parametrize(
    ("game", "state", "actions"),
    [
        # groups 7, 8 and 9 in the small blind, by the option `complete`
        ("nolimit", "MATCHSTATE:1:0::|KhTs", (raise_to(400),) * 3),
        ("nolimit", "MATCHSTATE:1:0::|Ah5s", (FOLD, CALL, CALL)),
        ("nolimit", "MATCHSTATE:1:0::|Jh5s", (FOLD, FOLD, CALL)),
        ("limit", "MATCHSTATE:1:0::|Ah5s", (FOLD, CALL, CALL)),
        # a free check in the big blind
        ("nolimit", "MATCHSTATE:0:0:c:Jh5s|", (CALL,) * 3),
        # a player who has posted nothing folds
        ("nolimit3", "MATCHSTATE:2:0::||Ah5s", (FOLD,) * 3),
        ("nolimit3", "MATCHSTATE:0:0:f:Ah5s||", (FOLD, CALL, CALL)),
        ("limit6", "MATCHSTATE:0:0:ffff:Ah5s|||||", (FOLD, CALL, CALL)),
    ],
)
def test_option_complete(view_of: ViewOf, game: str, state: str, actions: tuple[Action, ...]) -> None:
    view = view_of(game, state)
    assert tuple(rembrant(complete=group).act(view) for group in (7, 8, 9)) == actions


@pytest.mark.parametrize(
    ("state", "action"),
    [
        ("MATCHSTATE:1:0::|AhAs", RAISE),
        ("MATCHSTATE:0:0:r:AhAs|", RAISE),
        ("MATCHSTATE:1:0:rr:|AhAs", RAISE),  # the table says all-in
        ("MATCHSTATE:0:0:rrr:AhAs|", CALL),  # no more raises
        ("MATCHSTATE:0:0:r:9h8h|", CALL),  # a raise to two big blinds is below the limit of 5 chips at blinds 1 and 2
        ("MATCHSTATE:1:0:rr:|Kh9h", FOLD),
        ("MATCHSTATE:1:0:rc/r:|AhKs/Kc8c3d", RAISE),
        ("MATCHSTATE:1:0:rc/r:|AhQs/Kc8c3d", FOLD),
    ],
)
def test_limit_games_have_one_size(view_of: ViewOf, state: str, action: Action) -> None:
    view = view_of("limit", state)
    assert rembrant().act(view) == action
    assert require_legal(action, view) == action


def test_four_to_a_straight_before_the_tables(view_of: ViewOf) -> None:
    def act(hole: str, betting: str, four_straight: str) -> Action:
        state = f"MATCHSTATE:1:0:cc/cc/{betting}:|{hole}/9c8d7h/5s"
        action = rembrant(four_straight=four_straight).act(view_of("nolimit", state))
        if four_straight == "fold":
            assert rembrant().act(view_of("nolimit", state)) == action, "the text of the paper is the default"
        return action

    assert act("9h9s", "r400", "slash") == raise_to(100 + 1050), "a set re-raises"
    assert act("9h9s", "r400", "fold") == FOLD
    assert act("AhAs", "r20000", "slash") == CALL
    assert act("AhAs", "r20000", "fold") == FOLD
    assert act("Jh6s", "r400", "fold") == CALL, "a straight goes on"
    assert act("9s8h", "c", "fold") == act("9s8h", "c", "slash") == raise_to(300), "there is no bet to pay"


def test_limits_of_groups_are_in_big_blinds(view_of: ViewOf) -> None:
    """The tables' 20 chips are ten big blinds in every game."""
    game = find_game("nolimit")[1]._replace(blinds=(2, 1), stacks=(400, 400))
    deal = Deal((parse_cards("5h5s"), parse_cards("AhKs")), deal_hand(game, 1, 0).board)
    for total, action in ((20, CALL), (21, FOLD)):
        hand = Hand(game, deal)
        hand.apply(raise_to(total))
        assert rembrant().act(View.from_hand(hand, hand.acting_position)) == action


def test_explanations(view_of: ViewOf) -> None:
    def say(state: str, **options: Any) -> str:
        return comment_of(rembrant(explain=True, **options), view_of("nolimit", state))

    assert say("MATCHSTATE:1:0::|Ah5s") == (
        "# preflop Ah5s: A5o, group 8; opponent: other; table 9: check (which costs 50) -> call, c\r\n"
    )
    assert say("MATCHSTATE:0:0:r1001:5h5s|") == (
        "# preflop 5h5s: 55, group 6; opponent: raise; table 7: call <= 20 (here 1000) -> fold, f\r\n"
    )
    assert say("MATCHSTATE:1:0:r300c/r800:|AhKs/Kc8c3d") == (
        "# flop AhKs on Kc8c3d: pair, top; board: two of a suit; opponent: raise; "
        "table 12: re-raise -> re-raise, r2050\r\n"
    )
    assert say("MATCHSTATE:1:0:r300c/c:|AhKs/Kc8c3d", reading="probabilistic", chance_danger=0.99, seed=1) == (
        "# flop AhKs on Kc8c3d: pair, top; board: two of a suit; opponent: check; "
        "table 12: check/raise (raise 99%) -> raise, r900\r\n"
    )


def test_explanation_of_a_bet_not_paid(view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:1:0:cc/cc/r400:|9h9s/9c8d7h/5s")
    assert comment_of(rembrant(explain=True), view) == (
        "# turn 9h9s on 9c8d7h5s: trips, set; board: four to a straight, three in a row; opponent: raise; "
        "table 14: re-raise (four to a straight) -> fold, f\r\n"
    )


def test_comments_reach_the_dealer_before_the_reply() -> None:
    script = MockDealer("nolimit").ask("MATCHSTATE:1:0::|AhAs", "r400").tell("MATCHSTATE:1:0:r400f:|AhAs")
    check(rembrant(explain=True), script)
    assert script.comments == [b"# preflop AhAs: AA, group 1; opponent: other; table 2: raise -> raise, r400\r\n"]


BOTS: list[BotMaker] = [
    lambda seed: rembrant(explain=True),
    lambda seed: rembrant(explain=True, reading="probabilistic", seed=seed),
    lambda seed: rembrant(explain=True, river_danger=True, four_straight="fold", complete=9, raise_times=0.01),
    lambda seed: rembrant(explain=True, open_bb=1e6, bet_pot=1e6, bet_pot_danger=1e-6, reraise_times=1e6),
    lambda seed: RandomBot(seed=seed),
    lambda seed: RandomBot(fold=0.02, call=0.9, raise_=0.08, seed=seed),
    lambda seed: ConstantBot(action="raise", size="0.5"),
    lambda seed: CallingBot(),
    lambda seed: RaisingBot(),
]


@pytest.mark.sampled
@pytest.mark.parametrize("name", HOLDEM)
def test_answers_are_legal(name: str) -> None:
    assert play_random_casts(name, BOTS, RembrantBot, hands=80, casts=20) > 60


@pytest.mark.parametrize("players", [4, 9])
def test_other_numbers_of_players(players: int) -> None:
    play_legally(players, lambda seat: rembrant(reading="probabilistic", seed=seat), hands=20)


def actions_of(bot: RembrantBot, numbers: range) -> dict[int, list[Action]]:
    """Return the actions of a bot by hand number, against opponents that draw anew for each hand."""
    game = find_game("nolimit")[1]
    played: dict[int, list[Action]] = {}
    for number in numbers:
        opponent = RandomBot(seed=number, fold=0, call=0.9, raise_=0.1)
        hand = Hand(game, deal_hand(game, 5, number))
        played[number] = []
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            is_ours = (hand.acting_position + number) % 2 == 0
            answer = bot.act(view) if is_ours else opponent.act(view)
            played[number] += [answer] if is_ours else []
            hand.apply(answer)
    return played


def test_draws_follow_from_seed_hand_and_state() -> None:
    """Hands are the same when play starts in the middle or goes backwards."""
    whole = actions_of(rembrant(reading="probabilistic", seed=3), range(80))
    late = actions_of(rembrant(reading="probabilistic", seed=3), range(40, 80))
    backwards = actions_of(rembrant(reading="probabilistic", seed=3), range(79, -1, -1))
    assert {number: whole[number] for number in late} == late
    assert backwards == whole
    assert actions_of(rembrant(reading="probabilistic", seed=4), range(80)) != whole


def test_without_a_seed_draws_differ_between_bots() -> None:
    runs = [actions_of(rembrant(reading="probabilistic"), range(60)) for _ in range(2)]
    assert runs[0] != runs[1]


def test_deterministic_reading_draws_nothing() -> None:
    assert actions_of(rembrant(seed=1), range(40)) == actions_of(rembrant(seed=2), range(40))


def test_draws_have_the_chances_of_the_policy(view_of: ViewOf) -> None:
    bot = rembrant(reading="probabilistic", seed=1)
    counts: Counter[Action] = Counter()
    for number in range(400):
        view = view_of("nolimit", f"MATCHSTATE:1:{number}:r300c/c:|AhKs/Kc8c3d")
        assert bot.policy(view) == pytest.approx({CALL: 0.2, raise_to(900): 0.8})
        counts[bot.act(view)] += 1
    assert counts[raise_to(900)] / 400 == pytest.approx(0.8, abs=0.09)
    assert sum(counts.values()) == counts[CALL] + counts[raise_to(900)]


def test_policies_join_equal_actions(view_of: ViewOf) -> None:
    """A forbidden raise becomes a call, so both moves of call/all-in are one action."""
    bot = rembrant(reading="probabilistic", seed=1)
    assert bot.policy(view_of("limit", "MATCHSTATE:0:0:rc/rrrr:KhKs|/Kc8c3d")) == {CALL: 1.0}


def test_holdem_of_two_rounds_is_played() -> None:
    full = find_game("nolimit")[1]
    game = full._replace(num_rounds=2, num_board_cards=(0, 3), first_players=(1, 0), max_raises=full.max_raises[:2])
    bot = rembrant(explain=True)
    for number in range(10):
        hand = Hand(game, deal_hand(game, 1, number))
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            hand.apply(require_legal(bot.act(view), view))


def test_options_by_name() -> None:
    bot = make_bot("rembrant?reading=probabilistic,explain=yes,open_bb=3,complete=9", 5)
    assert isinstance(bot, RembrantBot)
    assert (bot._seed, bot._explains, bot._options.open_bb, bot._options.complete) == (5, True, 3, 9)
    with pytest.raises(SpecError, match=r"'rembrant[?]reading=bold': reading must be deterministic or probabilistic"):
        make_bot("rembrant?reading=bold")
