"""Situations of the doctor: their lines, and legal opponents in any game."""

from __future__ import annotations

import random

import pytest

from dealer.doctor import situations as opponents
from dealer.doctor.findings import SituationState
from dealer.doctor.situations import (
    SITUATIONS,
    DoctorSettings,
    find_situation,
    middle_of_a_hand,
    middle_of_a_long_hand,
)
from engine import CALL, BettingState, BettingType, Game, betting_start
from protocol import parse_game_definition
from protocol.match_state import betting_after, parse_match_state
from tests.dealer.doctor.local_host import LocalHost, examine, examine_host
from tests.dealer.doctor.peers import Peer
from tests.dealer.helpers import ALL_IN_BLINDS, game


class Caller(Peer):
    """Bot that calls and records the lines it receives."""

    def action(self, text: bytes, betting: object) -> bytes:
        return b"c"


def lines_sent(name: str, game_name: str) -> list[str]:
    """Lines of one situation for a bot that calls."""
    rules = game(game_name)
    host = LocalHost(Caller, rules)
    assert list(examine_host(host, rules, name).findings) == []
    return b"".join(host.visits[-1].sent).decode().splitlines()


def bettings(name: str, game_name: str) -> list[str]:
    return [line.split(":")[3] for line in lines_sent(name, game_name)]


def test_bot_acts_in_every_position_and_round() -> None:
    lines = [parse_match_state(line, game("limit10")) for line in lines_sent("check-down", "limit10")]
    assert {state.position for state in lines} == set(range(10))
    assert [state.position for state in lines if not any(state.rounds)] == [0, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert sum(sum(map(bool, state.hole_cards)) == 10 for state in lines) == 10
    assert {len(state.rounds) for state in lines} == {1, 2, 3, 4}


def test_hands_may_end_before_the_bot_acts() -> None:
    assert bettings("folds", "limit")[:2] == ["", "f"]


def test_opponents_raise_to_the_cap() -> None:
    assert max(len(betting) for betting in bettings("raises", "limit3")) >= len("rrrcc/rrrrcc/rrrrcc/rrrrcc")


def test_chain_of_raises_stops_at_the_limit_of_the_protocol() -> None:
    longest = max(bettings("raises", "nolimit10"), key=len)
    assert sum(longest.split("/")[0].count(letter) for letter in "fcr") <= 64
    assert longest.split("/")[0].count("r") >= 40


def test_opponents_are_all_in_early_and_late() -> None:
    all_ins = [betting for betting in bettings("all-in", "nolimit") if betting.count("/") == 3 and "r20000c" in betting]
    assert "cr20000c///" in all_ins
    assert any(betting.endswith("/cr20000c//") for betting in all_ins)
    assert any(betting.endswith("r20000c") for betting in all_ins)


def test_bot_gets_good_cards_when_put_all_in() -> None:
    rules = game("nolimit")
    lines = [parse_match_state(line, rules) for line in lines_sent("all-in", "nolimit")]
    for state in lines:
        ranks = sorted(card >> 2 for card in state.hole_cards[state.position])
        assert ranks[0] == ranks[1] or ranks[1] >= 11


def test_short_stack_does_not_act_after_its_all_in() -> None:
    # Position 0 has 101 chips, and the others bet more.
    sequences = bettings("side-pots", "sidepots.nolimit.3p.game")
    rules = game("sidepots.nolimit.3p.game")
    later = [betting_after(rules, betting) for betting in sequences if betting.count("/") >= 2]
    assert any(state.spent[0] == 101 and not state.finished and max(state.spent) > 101 for state in later)


def test_resumed_match_begins_with_a_later_hand() -> None:
    numbers = {int(line.split(":")[2]) for line in lines_sent("resumed-match", "limit")}
    assert numbers == {999_998, 999_999, 1_000_000}


@pytest.mark.parametrize("name", ["limit", "nolimit", "nolimit3", "kuhn", "leduc", "limit10"])
@pytest.mark.parametrize("situation", ["resumed-hand", "long-line"])
def test_resumed_hand_begins_with_a_question(situation: str, name: str) -> None:
    first_line = lines_sent(situation, name)[0]
    state = parse_match_state(first_line, game(name))
    betting = betting_after(game(name), first_line.split(":")[3])
    assert betting.acting_position == state.position
    assert any(state.rounds)


def test_long_hand_has_many_actions() -> None:
    betting = middle_of_a_long_hand(game("nolimit"))
    assert sum(len(actions) for actions in betting.rounds) > 150
    assert middle_of_a_long_hand(game("limit")).round == 3


def test_middle_of_a_hand_has_a_bet_to_call() -> None:
    for name in ("limit", "nolimit", "kuhn"):
        betting = middle_of_a_hand(game(name))
        assert betting.to_call > 0
        assert betting.round == min(1, game(name).num_rounds - 1)


def test_comments_are_half_of_the_lines() -> None:
    rules = game("kuhn")
    host = LocalHost(Caller, rules)
    examine_host(host, rules, "comments")
    lines = b"".join(host.visits[0].sent).splitlines()
    assert sum(line[:1] in (b"#", b";") for line in lines) == len(lines) / 2


def test_unknown_situation_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no situation 'x'; the situations are handshake, check-down"):
        DoctorSettings(situations=["bets", "x"])
    assert find_situation("bets").name == "bets"


def test_names_are_unique_and_fit_the_table() -> None:
    names = [situation.name for situation in SITUATIONS]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 14 for name in names)


# ---- any game


def drawn_game(seed: int) -> Game:
    """Random playable game of unusual structure."""
    draw = random.Random(seed)
    players = draw.randint(2, 5)
    rounds = draw.randint(1, 4)
    is_limit = draw.random() < 0.5
    while True:
        blinds = tuple(draw.choice((0, 1, 2, 5)) for _ in range(players))
        stacks = tuple(draw.choice((5, 9, 20, 100)) for _ in range(players))
        if any(blind < stack for blind, stack in zip(blinds, stacks, strict=True)) and any(blinds):
            break
    return Game(
        betting=BettingType.LIMIT if is_limit else BettingType.NO_LIMIT,
        num_players=players,
        num_rounds=rounds,
        stacks=stacks,
        blinds=blinds,
        raise_sizes=tuple(draw.choice((1, 3, 8)) for _ in range(rounds)) if is_limit else (),
        first_players=tuple(draw.randrange(players) for _ in range(rounds)),
        max_raises=tuple(draw.choice((0, 1, 4, 255)) for _ in range(rounds)),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=draw.randint(1, 3),
        num_board_cards=tuple(draw.choice((0, 1)) for _ in range(rounds)),
    )


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(20))
def test_any_game_can_be_examined(seed: int) -> None:
    examination = examine(Peer, drawn_game(seed))
    assert list(examination.findings) == []
    assert {outcome.result for outcome in examination.rows} <= {SituationState.OK, SituationState.NOT_IN_GAME}


def test_game_without_decisions_can_be_examined() -> None:
    examination = examine(Peer, parse_game_definition(ALL_IN_BLINDS))
    assert list(examination.findings) == []
    assert {outcome.name for outcome in examination.rows if outcome.result is SituationState.NOT_IN_GAME} == {
        "side-pots",
        "resumed-hand",
        "long-line",
    }


def test_reason_for_a_missing_situation() -> None:
    def reason(name: str, game_name: str) -> str:
        return find_situation(name).missing_in(game(game_name))

    assert reason("all-in", "limit") == "bets never reach the stacks"
    assert reason("all-in", "nolimit") == ""
    assert reason("side-pots", "nolimit") == "two players have no side pots"
    assert reason("side-pots", "nolimit3") == "all stacks are equal; give a .game file in which they are not"
    assert reason("side-pots", "sidepots.nolimit.3p.game") == ""


# ---- opponents


def turn(name: str, betting: str, *, seed: int = 0) -> tuple[BettingState, int, random.Random]:
    return betting_after(game(name), betting), 0, random.Random(seed)


def test_policies_of_opponents_choose_their_actions() -> None:
    assert opponents.call(*turn("limit", "cr")) == CALL
    assert opponents.fold(*turn("nolimit", "cr300")).kind.name == "FOLD"
    assert opponents.fold(*turn("nolimit", "cc/")) == CALL
    assert opponents.bet_once(*turn("nolimit", "cc/")).hand_total == 200
    assert opponents.bet_once(*turn("nolimit", "cc/r200")) == CALL
    assert opponents.raise_always(*turn("nolimit", "cc/r200")).hand_total == 300
    assert opponents.raise_always(*turn("limit", "crrr")) == CALL
    assert opponents.shove_in_round(1)(*turn("nolimit", "c")) == CALL
    assert opponents.shove_in_round(1)(*turn("nolimit", "cc/")).hand_total == 20000
    assert opponents.largest_raise(betting_start(game("limit"))).hand_total == 0


def test_drawn_actions_are_of_all_kinds() -> None:
    drawn = {opponents.draw(*turn("nolimit", "cr300", seed=seed)) for seed in range(300)}
    assert {action.kind.name for action in drawn} == {"FOLD", "CALL", "RAISE"}
    sizes = {action.hand_total for action in drawn if action.hand_total}
    assert min(sizes) == 500
    assert max(sizes) == 20000
    assert len(sizes) > 20
    assert {opponents.draw(*turn("limit", "c", seed=seed)).kind.name for seed in range(50)} == {"CALL", "RAISE"}
