"""Moments at which a person acts: their order, repeated and late answers, and replay after a break."""

from __future__ import annotations

import pytest

from bots.errors import StaleEntry, UnclearEntry
from dealer.person.seat import HumanSeat
from dealer.person.table_session import SeatMoments
from engine import CALL, FOLD, RAISE, Action, raise_to
from tests.dealer.person.scenes import seat_in

KUHN_ASKED = "MATCHSTATE:0:0::Ks|\r\n"
KUHN_BET = "MATCHSTATE:0:0:cr:Ks|\r\n"
KUHN_OVER = "MATCHSTATE:0:0:crc:Ks|Qs\r\n"
KUHN_NEXT = "MATCHSTATE:1:1:c:|Qs\r\n"


def show(moments: SeatMoments, seat: HumanSeat, *lines: str) -> list[Action | None]:
    """Send states to a seat and its scenes to the moments; return the actions that are replayed."""
    return [moments.see(scene) for line in lines for scene in seat.receive_data(line.encode())]


def test_hand_has_a_named_moment_for_each_action() -> None:
    seat, moments = seat_in("kuhn"), SeatMoments()
    assert (moments.name, moments.is_asked) == ("", False)
    assert moments.scene is None
    show(moments, seat, KUHN_ASKED)
    assert (moments.name, moments.is_asked) == ("0.0", True)
    assert moments.answer("0.0", "k") == CALL
    assert (moments.name, moments.is_asked) == ("0.0", False)
    show(moments, seat, "MATCHSTATE:0:0:c:Ks|\r\n")
    assert (moments.name, moments.is_asked) == ("0.1", False)
    show(moments, seat, KUHN_BET)
    assert moments.answer("0.2", "f") == FOLD


def test_end_of_a_hand_stays_until_the_person_continues() -> None:
    seat, moments = seat_in("kuhn"), SeatMoments()
    show(moments, seat, KUHN_BET, KUHN_OVER, KUHN_NEXT)
    # The scenes after the bet wait until it is answered.
    assert (moments.name, moments.is_asked) == ("0.2", True)
    assert moments.answer("0.2", "c") == CALL
    assert (moments.name, moments.is_asked) == ("0.3", True)
    assert moments.scene is not None
    assert moments.scene.finished
    assert moments.answer("0.3", "") is None
    assert (moments.name, moments.is_asked) == ("1.1", True)


def test_repeated_answer_counts_once() -> None:
    seat, moments = seat_in("nolimit"), SeatMoments()
    show(moments, seat, "MATCHSTATE:1:7::|AhKs\r\n")
    assert moments.answer("7.0", "r 300") == raise_to(300)
    with pytest.raises(StaleEntry, match=r"^This entry was already accepted and counts once: you raise to 300\.$"):
        moments.answer("7.0", "r 300")
    show(moments, seat, "MATCHSTATE:1:7:r300r900:|AhKs\r\n")
    with pytest.raises(StaleEntry, match="counts once: you raise to 300"):
        moments.answer("7.0", "f")
    assert moments.answer("7.2", "c") == CALL
    assert moments.played == (7, "r300r900c/")


@pytest.mark.parametrize("name", ["", "7.1", "6.0", "x", "7.0 ", "7.0\n7.0"])
def test_answer_to_another_moment_changes_nothing(name: str) -> None:
    seat, moments = seat_in("nolimit"), SeatMoments()
    show(moments, seat, "MATCHSTATE:1:7::|AhKs\r\n")
    with pytest.raises(StaleEntry, match="for an earlier state of the match"):
        moments.answer(name, "f")
    assert (moments.name, moments.is_asked) == ("7.0", True)
    assert moments.played is None


def test_nothing_can_be_answered_before_the_first_hand_or_while_others_act() -> None:
    seat, moments = seat_in("kuhn", seat=1), SeatMoments()
    with pytest.raises(StaleEntry):
        moments.answer("", "c")
    show(moments, seat, "MATCHSTATE:1:0::|Qs\r\n")
    assert (moments.name, moments.is_asked) == ("0.0", False)
    with pytest.raises(StaleEntry):
        moments.answer("0.0", "c")


def test_refused_entry_leaves_the_moment_open() -> None:
    seat, moments = seat_in("nolimit"), SeatMoments()
    show(moments, seat, "MATCHSTATE:1:7::|AhKs\r\n")
    with pytest.raises(UnclearEntry):
        moments.answer("7.0", "r 1")
    assert (moments.name, moments.is_asked) == ("7.0", True)
    assert moments.answer("7.0", "f") == FOLD


@pytest.mark.parametrize(
    ("game", "played", "states", "answers"),
    [
        ("nolimit", "r300r900c/cr2000", ["1:7::|AhKs", "1:7:r300r900:|AhKs"], [raise_to(300), CALL]),
        ("nolimit", "r300r900c/", ["1:7:r300r900c/c:|AhKs/2c7d9h"], [None]),
        ("limit", "rrc/r", ["1:7::|AhKs", "1:7:rr:|AhKs"], [RAISE, CALL]),
        # The bot acts differently after the break, or the hand is another one.
        ("nolimit", "r300r900c/", ["1:7::|AhKs", "1:7:r300r1200:|AhKs"], [raise_to(300), None]),
        ("nolimit", "r300", ["1:8::|AhKs"], [None]),
        ("nolimit", "r300", ["1:6::|AhKs"], [None]),
    ],
)
def test_hands_before_a_break_are_replayed(
    game: str, played: str, states: list[str], answers: list[Action | None]
) -> None:
    seat, moments = seat_in(game), SeatMoments((7, played))
    replayed = show(moments, seat, *(f"MATCHSTATE:{state}\r\n" for state in states))
    assert replayed == answers
    assert moments.is_asked == (answers[-1] is None)


def test_number_of_remembered_answers_is_bounded() -> None:
    moments = SeatMoments()
    seat = seat_in("kuhn", seat=0)
    for hand in range(0, 200, 2):
        show(moments, seat, f"MATCHSTATE:0:{hand}::Ks|\r\n")
        moments.answer(f"{hand}.0", "c")
    with pytest.raises(StaleEntry, match="an earlier state"):
        moments.answer("0.0", "c")
    with pytest.raises(StaleEntry, match="counts once"):
        moments.answer("190.0", "c")
