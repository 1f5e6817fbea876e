"""A hand at the table, step by step."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from engine import CALL, FOLD, Deal, Seat, betting_start, raise_to
from engine.cards import parse_cards
from logs.acpc_log.reader import read_log
from logs.hand_view import HandView, live_views, views_of
from logs.record import HandRecord, PlayerComment, Times
from protocol import find_game
from tests.logs.hands import random_hands
from tests.logs.tracker.little_hands import hand


def _hand(line: str, game: str) -> HandRecord:
    (record,) = read_log([f"{line}\n"], game=find_game(game)[1])
    return record


def _bets(scene: HandView) -> list[int]:
    return [seat.street_total for seat in scene.seats]


def test_hand_is_shown_step_by_step() -> None:
    scenes = views_of(_hand("STATE:0:cr300c/cr900f:2c3d|AhAs/4c5c6c:-300|300:Ann|Bob", "nolimit"))
    acting = [None if scene.acting is None else scene.acting.name for scene in scenes]
    assert [(scene.words, scene.pot, scene.to_call, _bets(scene)) for scene in scenes] == [
        ("Bob posts the small blind of 50, Ann posts the big blind of 100", 150, 50, [100, 50]),
        ("Bob calls 50", 200, 0, [100, 100]),
        ("Ann raises to 300", 400, 200, [300, 100]),
        ("Bob calls 200", 600, 0, [300, 300]),
        ("flop: 4c 5c 6c", 600, 0, [0, 0]),
        ("Ann checks", 600, 0, [0, 0]),
        ("Bob bets 600", 1200, 600, [0, 600]),
        ("Ann folds", 1200, 0, [0, 600]),
        ("Bob gets 600 back, uncalled", 600, 0, [0, 0]),
        ("Bob wins 600", 600, 0, [0, 0]),
    ]
    assert acting == ["Bob", "Ann", "Bob", None, "Ann", "Bob", "Ann", None, None, None]
    assert [scene.round for scene in scenes] == ["preflop"] * 4 + ["flop"] * 6
    assert [len(scene.board) for scene in scenes] == [0] * 4 + [3] * 6
    assert [seat.has_folded for seat in scenes[-1].seats] == [True, False]
    assert [seat.stack_left for seat in scenes[6].seats] == [19700, 19100]
    assert [seat.stack_left for seat in scenes[-1].seats] == [19700, 19700]
    assert [seat.value for seat in scenes[-1].seats] == [-300, 300]
    assert scenes[2].pot_odds == 200 / 600
    assert scenes[0].pot_odds == 50 / 200
    assert scenes[1].pot_odds is None
    assert [seat.is_button for seat in scenes[0].seats] == [False, True]


def test_side_pots_are_shown_once_all_bets_are_called() -> None:
    game = find_game("nolimit3")[1]._replace(stacks=(300, 1000, 2000))
    betting = betting_start(game)
    scenes = []
    for action in (raise_to(2000), CALL, CALL):
        betting = betting.after(action)
        scenes.append(live_views(betting, ("Ann", "Bob", "Cy"), ((), (), ()), ())[-1])
    assert [scene.pots for scene in scenes] == [(), (), (900, 1400)]
    # Uncallable chips are not in a pot.
    assert scenes[-1].pot - sum(scenes[-1].pots) == 1000


def test_an_all_in_deals_the_rest_and_shows_in_order() -> None:
    scenes = views_of(_hand("STATE:0:r20000c///:2d9s|AhAs/4c5c6c/Th/Kh:-20000|20000:Ann|Bob", "nolimit"))
    assert [scene.words for scene in scenes[1:]] == [
        "Bob raises to 20,000, all-in",
        "Ann calls 19,900, all-in",
        "flop: 4c 5c 6c",
        "turn: Th",
        "river: Kh",
        "Bob shows Ah As, a pair of Aces",
        "Ann shows 2d 9s, high card King",
        "Bob wins 40,000",
    ]
    assert [seat.is_all_in for seat in scenes[3].seats] == [True, True]
    assert all(scene.acting is None for scene in scenes[2:])


def test_comments_and_times_stand_by_their_actions_as_plain_text() -> None:
    record = replace(
        _hand("STATE:0:cc:Ks|Qs:1|-1:Ann|Bob", "kuhn"),
        times=(Times(1000, 3500), Times(4000, 4100)),
        comments=(
            PlayerComment(Seat(0), 0, "# first"),
            PlayerComment(Seat(1), 1, "; \x1b[1m\udcff"),
            PlayerComment(Seat(1), 2, "# gg"),
        ),
    )
    scenes = views_of(record)
    assert [(scene.comments, scene.time_ms) for scene in scenes[1:3]] == [
        ((("Ann", "first"),), 2.5),
        ((("Bob", "\ufffd[1m\ufffd"),), 0.1),
    ]
    assert scenes[-1].comments == (("Bob", "gg"),)


def test_unknown_cards_are_not_shown() -> None:
    record = _hand("STATE:0:cc/cc/cc/cc:2d9s|AhAs/4c5c6c/Th/Kh:-100|100:Ann|Bob", "nolimit")
    record = replace(record, deal=Deal(((), record.deal.hole_cards[1]), record.deal.board))
    words = [scene.words for scene in views_of(record)]
    assert "Ann does not show" in words
    assert "Bob shows Ah As, a pair of Aces" in words


def test_unfinished_hand_contains_only_the_given_cards() -> None:
    game = find_game("nolimit")[1]
    deal = Deal((tuple(parse_cards("2c3d")), tuple(parse_cards("AhAs"))), tuple(parse_cards("4c5c6cThKh")))
    betting = betting_start(game).after(raise_to(300))
    scene = live_views(betting, ("Ann", "Bob"), ((), deal.hole_cards[1]), ())[-1]
    assert (scene.words, scene.board, scene.pot, scene.to_call) == ("Bob raises to 300", (), 400, 200)
    assert [seat.cards for seat in scene.seats] == [(), game.shown_cards(deal.hole_cards[1])]
    assert [seat.value for seat in scene.seats] == [None, None]
    assert live_views(betting_start(game), ("Ann", "Bob"), ((), ()), ())[-1].acting is not None


def test_a_limit_raise_that_lowers_the_bet_has_its_chips_in_the_pot() -> None:
    """Bob's last chips are a raise to 12 in the ACPC's rules, below Cat's bet of 20: 8 go back."""
    game = find_game("limit3")[1]._replace(stacks=(100, 12, 100))
    record = hand(game, "rfrc///", "2c3d|AhAs|KhKs/4c5c6c/7d/8h")
    acted = [(view.words, view.pot) for view in views_of(record)]
    assert acted[1:5] == [
        ("Cat raises to 20", 35),
        ("Ann folds", 35),
        ("Bob raises to 12, all-in", 37),
        ("Cat checks", 29),
    ]
    assert record.betting.pot == 29


def test_a_fold_where_a_check_was_possible_is_shown() -> None:
    """Card rooms allow it, so hands read from their histories can have it."""
    betting = betting_start(find_game("nolimit")[1])
    for action in (CALL, CALL, FOLD):
        betting = betting.after_played(action)
    assert live_views(betting, ("Ann", "Bob"), ((), ()), ())[-1].words == "Ann folds"


def test_names_have_no_control_characters() -> None:
    record = replace(_hand("STATE:0:cc:Ks|Qs:1|-1:Ann|Bob", "kuhn"), names_by_seat=("A\x00nn", "Bob"))
    assert views_of(record)[0].seats[0].name == "A\ufffdnn"


@pytest.mark.sampled
@pytest.mark.parametrize(
    "game", ["kuhn", "kuhn3", "leduc", "leduc-nolimit", "limit", "nolimit", "limit3", "nolimit6", "limit10"]
)
def test_chips_are_conserved_at_every_step(game: str) -> None:
    rules = find_game(game)[1]
    for record in random_hands(game, 60, with_notes=True):
        scenes = views_of(record)
        for scene in scenes:
            stacks = [seat.stack_left for seat in scene.seats]
            if None not in stacks:
                assert sum(filter(None, stacks)) + scene.pot == sum(rules.stacks)
            assert sum(_bets(scene)) <= scene.pot
            assert scene.pot_odds is None or 0 < scene.pot_odds < 1
        spent = sorted(record.betting.spent)
        assert scenes[-1].pot == sum(spent) - (spent[-1] - spent[-2])
        assert [seat.value for seat in scenes[-1].seats] == list(record.values)
        assert sum(scene.time_ms is not None for scene in scenes) == len(record.times)
        assert sum(len(scene.comments) for scene in scenes) == len(record.comments)
        assert pickle.loads(pickle.dumps(scenes)) == scenes
