"""A hand as a page tells it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import Seat
from logs.acpc_log.reader import read_log
from logs.record import HandRecord, PlayerComment, Times
from logs.view import replayed
from protocol import find_game
from tests.logs.hands import random_hands
from tests.logs.tracker.little_hands import hand


def _hand(line: str, game: str) -> HandRecord:
    (record,) = read_log([f"{line}\n"], game=find_game(game)[1])
    return record


def test_a_hand_street_by_street() -> None:
    record = _hand("STATE:0:cr300c/cr900f:2c3d|AhAs/4c5c6c:-300|300:Ann|Bob", "nolimit")
    hand = replayed(record, 6.0)
    assert [(seat.name, seat.position, seat.stack, seat.cards, seat.value) for seat in hand.seats] == [
        ("Ann", "BB", 20000, ("2c", "3d"), -300.0),
        ("Bob", "SB", 20000, ("Ah", "As"), 300.0),
    ]
    assert [(step.name, step.words, step.cards, step.pot) for step in hand.steps] == [
        ("Bob", "posts the small blind of 50", (), 50),
        ("Ann", "posts the big blind of 100", (), 150),
        ("Bob", "calls 50", (), 200),
        ("Ann", "raises to 300", (), 400),
        ("Bob", "calls 200", (), 600),
        ("", "flop", ("4c", "5c", "6c"), 600),
        ("Ann", "checks", (), 600),
        ("Bob", "bets 600", (), 1200),
        ("Ann", "folds", (), 1200),
        ("Bob", "gets 600 back, uncalled", (), 600),
        ("Bob", "wins 600", (), 600),
    ]


def test_all_in_and_the_cards_that_still_come() -> None:
    record = _hand("STATE:0:r20000c///:2d9s|AhAs/4c5c6c/Th/Kh:-20000|20000:Ann|Bob", "nolimit")
    words = [step.words for step in replayed(record, 400.0).steps]
    assert words[2:] == [
        "raises to 20,000, all-in",
        "calls 19,900, all-in",
        "flop",
        "turn",
        "river",
        "showdown",
        "shows a pair of Aces",
        "shows high card King",
        "wins 40,000",
    ]


def test_comments_and_times_stand_by_their_actions() -> None:
    record = _hand("STATE:0:cc:Ks|Qs:1|-1:Ann|Bob", "kuhn")
    record = replace(
        record,
        times=(Times(1000, 3500), Times(4000, 4100)),
        comments=(
            PlayerComment(Seat(0), 0, "# first"),
            PlayerComment(Seat(1), 1, "; ä <b>"),
            PlayerComment(Seat(1), 2, "# gg"),
        ),
    )
    hand = replayed(record, 2.0)
    acted = [step for step in hand.steps if step.time_ms is not None]
    assert [(step.comments, step.time_ms) for step in acted] == [
        ((("Ann", "first"),), 2.5),
        ((("Bob", "ä <b>"),), 0.1),
    ]
    assert hand.last_words == (("Bob", "gg"),)
    assert [step.words for step in hand.steps] == [
        "posts 1",
        "posts 1",
        "checks",
        "checks",
        "showdown",
        "shows",
        "shows",
        "wins 2",
    ]
    assert [step.cards for step in hand.steps[5:7]] == [("Ks",), ("Qs",)]


@pytest.mark.parametrize(
    "game", ["kuhn", "kuhn3", "leduc", "leduc-nolimit", "limit", "nolimit", "limit3", "nolimit6", "limit10"]
)
def test_the_last_pot_is_what_was_called(game: str) -> None:
    for record in random_hands(game, 60, with_notes=True):
        hand = replayed(record, 1.0)
        spent = sorted(record.betting.spent)
        assert hand.steps[-1].pot == sum(spent) - (spent[-1] - spent[-2])
        assert len([step for step in hand.steps if step.time_ms is not None]) == len(record.times)
        said = sum(len(step.comments) for step in hand.steps) + len(hand.last_words)
        assert said == len(record.comments)


def test_a_limit_raise_that_lowers_the_bet_has_its_chips_in_the_pot() -> None:
    """Bob's last chips are a raise to 12 by the rules of the ACPC, below the 20 that Cat has bet: 8 go back."""
    game = replace(find_game("limit3")[1], stacks=(100, 12, 100))
    record = hand(game, "rfrc///", "2c3d|AhAs|KhKs/4c5c6c/7d/8h")
    acted = [(step.name, step.words, step.pot) for step in replayed(record, 3.7).steps if step.name]
    assert acted[2:6] == [
        ("Cat", "raises to 20", 35),
        ("Ann", "folds", 35),
        ("Bob", "raises to 12, all-in", 37),
        ("Cat", "checks", 29),
    ]
    assert record.betting.pot == 29


def test_what_players_wrote_has_no_control_characters() -> None:
    record = _hand("STATE:0:cc:Ks|Qs:1|-1:Ann|Bob", "kuhn")
    comment = PlayerComment(Seat(0), 0, "# \x1b[31mred\x07 \u202eturned\x85")
    hand = replayed(replace(record, names_by_seat=("A\x00nn", "Bob"), comments=(comment,)), 2.0)
    said = [words for step in hand.steps for words in step.comments]
    assert said == [("A\ufffdnn", "\ufffd[31mred\ufffd \ufffdturned")]
    assert hand.seats[0].name == "A\ufffdnn"


def test_a_split_pot_is_won_in_parts() -> None:
    record = hand("nolimit", "cc/cc/cc/cc", "AhKh|AdKd/Qs7c2c/2d/3s")
    assert [step.words for step in replayed(record, 2.0).steps if step.words.startswith("wins")] == ["wins 100"] * 2
