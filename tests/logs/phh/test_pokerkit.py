"""PHH files played again by PokerKit, an independent program, with the same final stacks."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import islice

import pytest

from logs import HandRecord
from logs.acpc_log.reader import read_log
from logs.formats.card_room_games import shown_stacks
from logs.formats.export_format import ExportOptions
from logs.phh import format_phh, format_phhs, read_phh
from protocol import find_game
from tests.logs.hands import (
    HOLDEM,
    OF_2012,
    as_seen,
    log_of_2012,
    random_hands,
    recorded_cases,
    recorded_file,
    recorded_game,
    recorded_hands,
)
from tests.logs.pokerkit_oracle import pokerkit
from tests.logs.pokerstars.hand_cases import make_record


def replay(hand: HandRecord, options: ExportOptions = ExportOptions()) -> list[float]:  # noqa: B008
    """Return the final stacks that PokerKit computes, exact fractions included.

    Raises:
        ValueError: PokerKit does not accept the hand.

    """
    history = pokerkit.HandHistory.loads(format_phh(hand, options))
    *_, state = history
    assert not state.status, "the hand is not over"
    return [float(stack) for stack in state.stacks]


def assert_replayed(hands: list[HandRecord]) -> None:
    for hand in hands:
        wanted = [stack + value for stack, value in zip(shown_stacks(hand.game), hand.values, strict=True)]
        assert replay(hand) == pytest.approx(wanted, abs=1e-5, rel=0), format_phh(hand)


@pytest.mark.sampled
@pytest.mark.parametrize("fold", [0.15, 0.0, 0.4])
@pytest.mark.parametrize("name", HOLDEM)
def test_random_hands_of_every_shipped_game(name: str, fold: float) -> None:
    assert_replayed(random_hands(name, 30, seed=3, fold=fold))


def test_pots_split_into_parts_of_a_chip() -> None:
    half = make_record("nolimit3", "r251cc/r451fc/cc/cc", "2c2d 3c3d 4c4d", "AsKsQs Js Ts")
    thirds = [hand for hand in random_hands("limit10", 100, fold=0.02) if any(value % 1 for value in hand.values)]
    assert half.values == (125.5, -251.0, 125.5)
    assert thirds
    assert_replayed([half, *thirds])


@pytest.mark.sampled
@pytest.mark.parametrize("name", recorded_cases("holdem"))
def test_the_recorded_matches(name: str) -> None:
    hands = list(recorded_hands(name))
    assert_replayed(hands[:10] if "10p" in name else hands[:20])


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_2012)
def test_the_logs_of_2012(name: str) -> None:
    assert_replayed(list(read_log(log_of_2012(name).splitlines(keepends=True), strict=True))[::10])


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("name", recorded_cases("sidepots"))
def test_side_pots(name: str) -> None:
    """With stacks of 101, 350 and 777, PokerKit agrees on every hand it accepts; it refuses only raises."""
    lines = recorded_file(name, "log").splitlines(keepends=True)
    outcomes: Counter[str] = Counter()
    for hand in islice(read_log(lines, game=recorded_game(name), strict=True), 80):
        wanted = [stack + value for stack, value in zip(shown_stacks(hand.game), hand.values, strict=True)]
        try:
            stacks = replay(hand)
        except ValueError as error:
            outcomes[str(error)] += 1
            continue
        outcomes["same" if stacks == pytest.approx(wanted, abs=1e-5, rel=0) else "other"] += 1
    # Refused hands hold raises that the ACPC allows and card rooms do not: after a short all-in, or beyond all stacks
    # of the opponents.
    assert set(outcomes) <= {"same", "Unable to repair the hand history"}
    assert outcomes["same"] >= 54


@pytest.mark.parametrize("name", ["limit", "nolimit6"])
def test_text_of_pokerkit_is_read(name: str) -> None:
    """PokerKit reads our hands and writes them with other quotes and without optional fields."""
    hands = random_hands(name, 25, with_notes=True)
    histories = list(pokerkit.HandHistory.loads_all("".join(format_phhs(hands))))
    text = pokerkit.HandHistory.dumps_all(histories)
    back = list(read_phh(text.splitlines(keepends=True), strict=True))
    for hand, other in zip(hands, back, strict=True):
        assert other == dataclasses.replace(as_seen(hand), times=hand.times, comments=hand.comments)


def test_hands_that_pokerkit_plays_are_read() -> None:
    """These hands have PokerKit's own game and notation, and none of our fields."""
    game = pokerkit.NoLimitTexasHoldem(
        tuple(pokerkit.Automation), True, 0, (50, 100), 100, mode=pokerkit.Mode.CASH_GAME
    )
    state = game(20000, 6)
    for turn in range(100):
        if state.actor_indices and turn % 4 == 1 and turn < 12:
            state.complete_bet_or_raise_to()
        elif state.actor_indices:
            state.check_or_call()
    history = pokerkit.HandHistory.from_game_state(game, state)
    (hand,) = read_phh(history.dumps().splitlines(keepends=True), strict=True)
    assert hand.game == find_game("nolimit6")[1]._replace()
    assert hand.names_by_seat == ("p1", "p2", "p3", "p4", "p5", "p6")
    assert sum(hand.values) == pytest.approx(0)
    assert [stack - 20000 for stack in state.stacks] == pytest.approx(hand.values, abs=1)
