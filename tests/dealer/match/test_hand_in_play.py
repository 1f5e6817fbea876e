"""Hands of a match in play: cards, seats, comments, times and score."""

from __future__ import annotations

import pytest

from dealer.match.hand_in_play import HandDealer, HandInPlay
from dealer.match.setup import MAX_COMMENTS_PER_HAND
from engine import CALL, FOLD, RAISE, Action, Seat, deals
from tests.dealer.helpers import game, make_setup

OFFSET_NS = 1_700_000_000 * 10**9


def _play(hand: HandInPlay, *actions: Action) -> HandInPlay:
    for number, action in enumerate(actions):
        hand.play(hand.betting.after(action), number * 10**6, number * 10**6 + 5000)
    return hand


@pytest.mark.parametrize("fixed", [False, True])
def test_hands_are_dealt_in_order_from_the_first_hand_of_the_match(fixed: bool) -> None:
    rules = game("kuhn.limit.3p")
    setup = make_setup(rules, 10, 7, first_hand=4, fixed_seats=fixed)
    dealer = HandDealer(setup, 2, ())
    for number, deal in zip(range(6, 10), deals(rules, 7, 6), strict=False):
        assert dealer.hand_number == number
        hand = dealer.deal(OFFSET_NS)
        assert hand.number == number
        assert hand.deal == deal
        button = 0 if fixed else number
        assert hand.seats == tuple((position + button) % 3 for position in range(3))
        assert hand.actor == hand.seats[hand.betting.acting_position]
        dealer.settle(_play(hand, CALL, CALL, CALL))
    assert dealer.hands_played == 6
    assert sum(dealer.totals) == 0


def test_score_continues_from_an_earlier_run() -> None:
    dealer = HandDealer(make_setup(game("kuhn"), 9), 3, (5.0, -5.0))
    hand = _play(dealer.deal(OFFSET_NS), RAISE, FOLD)
    first, second = hand.seats
    record = dealer.settle(hand)
    assert record.values == (1.0, -1.0)
    assert dealer.totals[first] - (5.0, -5.0)[first] == 1.0
    assert dealer.totals[second] - (5.0, -5.0)[second] == -1.0


def test_record_has_times_in_unix_time_and_all_comments() -> None:
    setup = make_setup(game("kuhn"), 2)
    hand = HandDealer(setup, 0, ()).deal(OFFSET_NS)
    hand.comment(Seat(1), b"# early\xff\r\n")
    hand.play(hand.betting.after(CALL), 1000, 2999)
    hand.comment(Seat(0), b"; late\n")
    hand.play(hand.betting.after(CALL), 5000, 6000)
    record = hand.record(setup)
    start_us = OFFSET_NS // 1000
    assert [tuple(time) for time in record.times] == [(start_us + 1, start_us + 2), (start_us + 5, start_us + 6)]
    assert [tuple(comment) for comment in record.comments] == [(1, 0, "# early\ufffd"), (0, 1, "; late")]
    assert record.names_by_seat == setup.names
    assert record.match_name == setup.name
    assert record.deal == hand.deal
    assert hand.unix_us(2999) == start_us + 2
    assert hand.monotonic_ns(start_us + 2) == 2000


def test_comments_are_bounded() -> None:
    dealer = HandDealer(make_setup(game("kuhn"), 2), 0, ())
    hand = dealer.deal(OFFSET_NS)
    for _ in range(MAX_COMMENTS_PER_HAND + 5):
        hand.comment(Seat(0), b"# again\n")
    assert len(hand.comments) == MAX_COMMENTS_PER_HAND
    assert dealer.comment_space.dropped == 5
    dealer.comment_space.bytes_left = 20
    hand = dealer.deal(OFFSET_NS)
    for line in (b"# fifteen byte\n", b"# too long\n", b"# ok\n"):
        hand.comment(Seat(0), line)
    assert [comment.text for comment in hand.comments] == ["# fifteen byte", "# ok"]
    assert dealer.comment_space.dropped == 6
    assert dealer.comment_space.bytes_left == 0


def test_actions_are_counted_by_seat() -> None:
    hand = HandDealer(make_setup(game("leduc"), 2), 1, ()).deal(OFFSET_NS)
    assert [hand.count_actions(Seat(seat)) for seat in (0, 1)] == [0, 0]
    _play(hand, CALL, RAISE, CALL, CALL)
    assert hand.seats == (1, 0)
    assert [hand.count_actions(Seat(seat)) for seat in (0, 1)] == [1, 3]
    _play(hand, RAISE)
    assert [hand.count_actions(Seat(seat)) for seat in (0, 1)] == [2, 3]
