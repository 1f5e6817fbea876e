"""Seat of a person: scenes from received bytes, and bytes to send from actions."""

from __future__ import annotations

import pickle
import random
from itertools import chain, islice
from pathlib import Path

import pytest

from bots.errors import DealerFailure
from bots.sdk.view import View
from dealer.person.seat import HumanSeat, Scene, in_words
from engine import CALL, FOLD, RAISE, Hand, Position, Seat, deals
from logs.estimation import AnyTimeMean, score_bounds
from logs.hand_source import find
from logs.hand_view import Moved
from protocol import LocalProtocolError, find_game, format_action, shipped_games
from tests.dealer.person.scenes import NAMES, scene_of, seat_in
from tests.engine.strategies import random_action


def test_scene_agrees_with_its_state() -> None:
    scene = scene_of("nolimit3", "2:7:r300cf/r500:||AhKs/2c7d9h", seat=1)
    assert (scene.hand_number, scene.pot) == (7, 900)
    assert scene.is_your_turn
    assert not scene.finished
    assert scene.names == ("Cid", "Ann", "Bob")
    assert [(p.street_total, p.stack_left, p.has_folded, p.is_acting) for p in scene.moment.seats] == [
        (200, 19500, False, False),
        (0, 19900, True, False),
        (0, 19700, False, True),
    ]
    assert [(p.name, p.place, p.position == scene.position, p.is_button) for p in scene.moment.seats] == [
        ("Cid", "SB", False, False),
        ("Ann", "BB", False, False),
        ("Bob", "BTN", True, True),
    ]
    assert scene.values is None
    assert scene.strength == "high card Ace"


def test_deep_stacks_are_not_mentioned() -> None:
    for game in ("limit", "limit6", "kuhn", "leduc"):
        first = scene_of(game, f"0:0::{'Ks' if game in ('kuhn', 'leduc') else 'AhKs'}{'|' * (5 if '6' in game else 1)}")
        assert {player.stack_left for player in first.moment.seats} == {None}
    assert {player.stack_left for player in scene_of("nolimit", "1:0::|AhKs").moment.seats} == {19950, 19900}


@pytest.mark.sampled
@pytest.mark.parametrize("name", shipped_games())
def test_scenes_agree_with_whole_hands_of_every_game_from_every_position(name: str) -> None:
    game = find_game(name)[1]
    count = game.num_players
    chance = random.Random(name)
    seats = [seat_in(name, seat=seat) for seat in range(count)]
    means = [AnyTimeMean((), score_bounds(game)) for _ in range(count)]
    totals = [0.0] * count
    for number, deal in zip(range(8 if count < 4 else 1), deals(game, 5), strict=False):
        hand = Hand(game, deal)
        histories: list[tuple[object, ...]] = [()] * count
        while True:
            by_seat = {}
            for seat in range(count):
                position = Position((seat + number) % count)
                view = View.from_hand(hand, position, number)
                (scene,) = seats[seat].receive_data(f"{view.match_state.format()}\r\n".encode())
                by_seat[seat] = scene
                assert scene.names == tuple(NAMES[(p - number) % count] for p in range(count))
                assert scene.names[position] == NAMES[seat]
                assert scene.all_hole_cards == view.all_hole_cards
                assert scene.is_your_turn == view.is_my_turn
                if not (scene.is_your_turn or scene.finished):
                    continue
                earlier = histories[seat]
                assert scene.history[: len(earlier)] == earlier
                assert all(in_words(event, scene) for event in scene.history[len(earlier) :])
                histories[seat] = scene.history
                copied: Scene = pickle.loads(pickle.dumps(scene))
                assert copied == scene
                assert hash(copied) == hash(scene)
                assert copied.moment.seats == scene.moment.seats
            if hand.finished:
                break
            action = random_action(hand.betting, chance)
            actor = (hand.acting_position - number) % count
            reply = f"{View.from_hand(hand, hand.acting_position, number).match_state.format()}:{format_action(action)}"
            assert seats[actor].answer(action) == f"{reply}\r\n".encode()
            hand.apply(action)
        for seat, scene in by_seat.items():
            value = hand.values()[(seat + number) % count]
            totals[seat] += value
            means[seat].add(value * 1000 / game.big_blind)
            assert scene.values is not None
            assert scene.values[scene.position] == value
            assert scene.score.hands == number + 1
        for seat, scene in by_seat.items():
            assert scene.score.chips == pytest.approx(tuple(totals))
            assert scene.score.yours == pytest.approx(totals[seat])
            rate = scene.score.rate
            assert rate is not None
            assert rate.mean == means[seat].mean
            assert rate.half_width is None
            assert rate.opponent == (NAMES[1 - seat] if count == 2 else "the table")


def test_earlier_hands_count_unless_they_are_played_again() -> None:
    seat = seat_in("kuhn", seat=1, earlier=[(0, (0, 1), (1, -1)), (1, (1, 0), (2, -2)), (2, (0, 1), (1, -1))])
    (scene,) = seat.receive_data(b"MATCHSTATE:1:2::|Ks\r\n")
    assert scene.score.hands == 2
    assert scene.score.chips == (-1, 1)
    assert scene.score.yours == 1
    assert scene.names == ("Ann", "Bob")


def test_interval_needs_enough_hands() -> None:
    seat = seat_in("kuhn", earlier=[(number, (0, 1), (1 - 2 * (number % 2), 0)) for number in range(150)])
    (scene,) = seat.receive_data(b"MATCHSTATE:0:150::Ks|\r\n")
    assert scene.score.rate is not None
    assert scene.score.rate.half_width is not None


def test_answer_must_be_legal_and_is_accepted_once() -> None:
    seat = seat_in("kuhn")
    (scene,) = seat.receive_data(b"# a remark\r\nMATCHSTATE:0:0::Ks|\r\n")
    assert scene.is_your_turn
    with pytest.raises(LocalProtocolError):
        seat.answer(FOLD)
    assert seat.answer(RAISE) == b"MATCHSTATE:0:0::Ks|:r\r\n"
    with pytest.raises(LocalProtocolError):
        seat.answer(CALL)


def test_state_of_another_game_is_refused() -> None:
    with pytest.raises(DealerFailure, match="not a state of this game"):
        list(seat_in("kuhn").receive_data(b"MATCHSTATE:0:0::AhKs|\r\n"))


def test_states_may_arrive_in_pieces_or_together() -> None:
    data = b"MATCHSTATE:1:0::|Ks\r\nMATCHSTATE:1:0:c:|Ks\r\n"
    whole = list(seat_in("kuhn").receive_data(data))
    for cut in range(len(data)):
        seat = seat_in("kuhn")
        assert [*seat.receive_data(data[:cut]), *seat.receive_data(data[cut:])] == whole


@pytest.mark.parametrize("name", ["2p.limit", "3p.limit", "3p.nolimit"])
def test_scenes_agree_with_recorded_hands_from_every_seat(name: str) -> None:
    path = Path(__file__).parents[2] / "conformance" / "data" / "dealer2012" / f"{name}.h1000.r0.log.xz"
    game = find_game({"2p.limit": "limit", "3p.limit": "limit3", "3p.nolimit": "nolimit3"}[name])[1]
    records = list(islice(find([path], game=game).hands(), 60))
    names = records[0].names_by_seat
    for seat in range(len(names)):
        person = HumanSeat(game, names, Seat(seat))
        person.open()
        for record in records:
            position = Position(record.seats.index(Seat(seat)))
            hand = Hand(game, record.deal)
            for _, action in [*chain.from_iterable(record.betting.rounds), (None, None)]:
                state = View.from_hand(hand, position, record.hand_number).match_state
                (scene,) = person.receive_data(f"{state.format()}\r\n".encode())
                assert scene.names == record.names
                if action is not None:
                    hand.apply(action)
            assert scene.values == pytest.approx(record.values, abs=1e-5)
            moves = [event for event in scene.history if isinstance(event, Moved)]
            won = {move.position: move.chips for move in moves if move.verb == "win"}
            returned = {move.position: move.chips for move in moves if move.verb == "get"}
            for index, value in enumerate(record.values):
                received = won.get(Position(index), 0) + returned.get(Position(index), 0)
                assert received - hand.betting.spent[index] == pytest.approx(value, abs=1e-5)
        totals = [
            sum(record.values[record.seats.index(Seat(number))] for record in records) for number in range(len(names))
        ]
        assert person.score.chips == pytest.approx(totals, abs=1e-3)
