"""Local best response: parts compared with slow twins, results with exact values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from bots import Bot, View, self_play
from bots.baseline import CallingBot, FoldingBot
from bots.errors import GameRefused, PolicyError, SpecError
from bots.evaluation.exploiting import DEALS_A_PART, ENDS, Exploitation, Parts, lower_bounds, play_part, play_parts
from bots.evaluation.local_best_response import ActionSets, RangeOfPolicy
from bots.sdk.holdings import view_with
from bots.sdk.registry import make_bot
from bots.workers import Workers
from engine import CALL, FOLD, RAISE, Action, BettingState, Card, Position, betting_start, raise_to
from engine.cards import parse_cards
from engine.equity import exact_equity, showdown_odds
from engine.ranges import holding_number
from protocol import find_game
from tests.bots.playing import ViewOf

LIMIT, NOLIMIT = find_game("limit")[1], find_game("nolimit")[1]


class Tight(Bot):
    """Bot that folds to a bet without a pair of its own, and raises half of the time with one."""

    def act(self, view: View) -> Action:
        return CALL

    def policy(self, view: View) -> Mapping[Action, float]:
        first, second = view.hole_cards
        if first >> 2 != second >> 2:
            return {FOLD if view.can_fold else CALL: 1.0}
        return {CALL: 0.5, RAISE: 0.5} if view.can_raise else {CALL: 1.0}


def after(*actions: Action, game: object = LIMIT) -> BettingState:
    betting = betting_start(game)  # type: ignore[arg-type]
    for action in actions:
        betting = betting.after(action)
    return betting


def test_action_sets() -> None:
    start = betting_start(NOLIMIT)
    assert ActionSets("fc", False).of(start) == [FOLD, CALL]
    assert ActionSets("c/fc/fc/fc", False).of(start) == [CALL]
    assert ActionSets("fcpa", False).of(start) == [FOLD, CALL, raise_to(300), raise_to(20000)]
    assert ActionSets("cmh", False).of(start) == [CALL, raise_to(200)], "half the pot and the least are one size here"
    sizes = ActionSets("fc56", False).of(start)
    assert len(sizes) == 58
    assert sizes[2] == raise_to(200)
    assert sizes[-1] == raise_to(20000)
    flop = after(CALL, CALL, game=NOLIMIT)
    assert ActionSets("fc/fcpa/fc/fc", False).of(flop) == [CALL, raise_to(300), raise_to(20000)]
    assert ActionSets("fcr", True).of(betting_start(LIMIT)) == [FOLD, CALL, RAISE]
    assert ActionSets("fcr", True).of(after(CALL)) == [CALL, RAISE], "nobody folds for nothing"
    assert ActionSets("fcr", True).of(after(RAISE, RAISE, RAISE)) == [FOLD, CALL], "the cap"
    for text, is_limit in (("", True), ("f", True), ("fcr/fcr", True), ("fcpa", True), ("fcr", False), ("fc56", True)):
        with pytest.raises(ValueError, match="actions are those"):
            ActionSets(text, is_limit)
    for text in ("fc999", "fcpp", "fc0", "FC"):
        with pytest.raises(ValueError, match="actions are those"):
            ActionSets(text, False)


def test_range_holding_by_holding(view_of: ViewOf) -> None:
    """The slow twin follows the definition: each factor of each weight, one holding at a time."""
    bot = make_bot("rembrant?reading=probabilistic")
    known = RangeOfPolicy(LIMIT, bot, "rembrant")
    view = view_of("limit", "MATCHSTATE:0:0:crc/rrc/:AhTd|/9h9c2d/7s")
    weights = known.weights(view.betting, view.position, view.hole_cards, view.board)
    taken = {*view.hole_cards, *view.board}
    for cards in list(combinations(range(52), 2))[::31]:
        expected = 0.0 if {*cards} & taken else 1.0
        state = betting_start(LIMIT)
        for actor, action in (one for actions in view.betting.rounds for one in actions):
            if actor != view.position and expected:
                public = View(state, actor, 0, ((), ()), view.board[: LIMIT.board_cards_by_round[state.round]])
                expected *= bot.policy(view_with(public, (Card(cards[0]), Card(cards[1])))).get(action, 0.0)
            state = state.after(action)
        assert weights[holding_number(*cards)] == pytest.approx(expected)


def test_action_that_the_policy_never_takes_changes_nothing(view_of: ViewOf) -> None:
    known = RangeOfPolicy(LIMIT, CallingBot(), "calling")
    view = view_of("limit", "MATCHSTATE:1:0:cr:|AhTd")
    assert known.weights(view.betting, view.position, view.hole_cards, ()).sum() == 1225


@pytest.mark.slow  # numba compiles
def test_values_by_the_definition() -> None:
    """On the turn against a small range: each action by holding and board."""
    hole, board = parse_cards("AhTd"), parse_cards("9h9c2d7s")
    known = RangeOfPolicy(LIMIT, Tight(), "tight")
    betting = after(CALL, CALL, CALL, CALL, RAISE)
    position = betting.acting_position
    weights = known.weights(betting, position, hole, board)
    pairs = [
        cards
        for cards in combinations(range(52), 2)
        if not {*cards} & {*hole, *board} and cards[0] >> 2 == cards[1] >> 2
    ]
    assert set(np.flatnonzero(weights).tolist()) == {holding_number(*cards) for cards in pairs}
    share = np.mean([showdown_odds([hole, [Card(c) for c in cards]], board).equities[0] for cards in pairs])
    pot, call = betting.pot, betting.to_call
    value = known._value(betting, CALL, weights, hole, board)
    assert value == pytest.approx(share * pot - (1 - share) * call)
    # No holding folds to a raise of one more bet.
    more = LIMIT.raise_sizes[2]
    raised = known._value(betting, RAISE, weights, hole, board)
    assert raised == pytest.approx(share * (pot + more) - (1 - share) * (call + more))
    best = known.choose(betting, hole, board, ActionSets("fcr", True))
    assert best == [FOLD, CALL, RAISE][int(np.argmax([0, value, raised]))]


def test_raise_that_makes_hands_fold() -> None:
    """Before the flop all but pairs fold to a raise; 78 of 1,326 do not."""
    known = RangeOfPolicy(LIMIT, Tight(), "tight")
    hole = parse_cards("7c2d")
    betting = betting_start(LIMIT)
    free = known.weights(betting, betting.acting_position, hole, ())
    pairs = 11 * 6 + 2 * 3
    staying = pairs / free.sum()
    pot, call, more = 15, 5, 10
    holdings = [cards for cards in combinations(range(52), 2) if cards[0] >> 2 == cards[1] >> 2]
    left = [[Card(card) for card in cards] for cards in holdings if not {*cards} & {*hole}]
    assert len(left) == pairs
    share = np.mean([showdown_odds([hole, cards]).equities[0] for cards in left])
    value = known._value(betting, RAISE, free, hole, ())
    wins_showdown = share * (pot + more) - (1 - share) * (call + more)
    assert value == pytest.approx((1 - staying) * pot + staying * wins_showdown)
    assert known.choose(betting, hole, (), ActionSets("fcr", True)) == RAISE


def test_blinds_are_won_from_a_folding_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a blind in one seat and a whole one in the other: exactly 750 mbb with any set that has raises."""
    monkeypatch.setattr("bots.evaluation.exploiting.DEALS_A_PART", 4)
    for game, sets in ((LIMIT, ("fcr", "c/fcr/fcr/fcr")), (NOLIMIT, ("fcpa", "c/c/fcpa/fcpa"))):
        exploitation = Exploitation(game, "folding", sets, seed=1)
        part = play_part(exploitation, 0)
        for bounds in lower_bounds(exploitation, [part]):
            assert bounds.raw.mean == 750
            assert bounds.deals == 4
            assert sum(part.mean for part in bounds.by_end) == pytest.approx(750)
        for bounds in lower_bounds(exploitation, [part] * 40):
            assert bounds.won.mean == pytest.approx(750), "fitted weights take no luck off where there is none"
            assert bounds.won.half_width == pytest.approx(bounds.raw.half_width)
            assert bounds.variance_ratio is None, "there is nothing to save"
    exploitation = Exploitation(NOLIMIT, "folding", ("fc",), seed=1)
    (checked,) = lower_bounds(exploitation, [play_part(exploitation, 0)])
    assert checked.by_end[0].mean == 250, "the small blind folds; else both check to the end"


@pytest.mark.slow  # numba compiles
def test_sets_are_independent() -> None:
    """All sets get the same cards and draws: a set's result does not depend on the other sets."""
    both = Exploitation(LIMIT, "random", ("fcr", "c/c/fcr/fcr"), seed=4)
    alone = replace(both, actions=("c/c/fcr/fcr",))
    assert play_part(both, 3)[:, 1].tolist() == play_part(alone, 3)[:, 0].tolist()
    assert play_part(both, 3).tolist() == play_part(both, 3).tolist()
    assert play_part(both, 4).tolist() != play_part(both, 3).tolist()


class _Backwards:
    """Workers whose first task is the slowest: all others end, then the interrupt comes."""

    def each(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        tasks = list(zip(*arguments, strict=True))
        yield from ((number, function(*tasks[number])) for number in reversed(range(1, len(tasks))))
        raise KeyboardInterrupt


def test_interruption_loses_no_finished_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.evaluation.exploiting.DEALS_A_PART", 4)
    exploitation = Exploitation(LIMIT, "random", ("fcr",), seed=4)
    done: Parts = {}
    with pytest.raises(KeyboardInterrupt):
        play_parts(exploitation, 2, done, folder=tmp_path, workers=cast("Workers", _Backwards()))
    assert list(done) == [1]
    kept = (tmp_path / "exploit.jsonl").read_bytes()
    assert kept.count(b"\n") == 2
    again: Parts = {}
    play_parts(exploitation, 2, again, folder=tmp_path)
    assert again[1].tolist() == done[1].tolist() != again[0].tolist()
    assert (tmp_path / "exploit.jsonl").read_bytes().startswith(kept)


@pytest.mark.slow  # numba compiles
def test_ends() -> None:
    exploitation = Exploitation(LIMIT, "mfs", ("fcr",), seed=4)
    played = [play_part(exploitation, part) for part in range(4)]
    (bounds,) = lower_bounds(exploitation, played)
    assert len(bounds.by_end) == len(ENDS)
    assert sum(part.mean for part in bounds.by_end) == pytest.approx(bounds.raw.mean)
    assert bounds.won.half_width is not None
    assert bounds.won.half_width == bounds.joint_half_width, "of one set"
    (few,) = lower_bounds(exploitation, played[:1])
    assert few.won.half_width is None


def test_bots_without_a_policy_are_refused() -> None:
    class Silent(Bot):
        def act(self, view: View) -> Action:
            return CALL

    class Half(FoldingBot):
        def policy_by_holding(self, view: View) -> Mapping[Action, float]:
            return {CALL: 0.5}

    start = betting_start(LIMIT)
    with pytest.raises(PolicyError, match=r"silent has no policy in MATCHSTATE:1:0::\|2c2d: its range"):
        RangeOfPolicy(LIMIT, Silent(), "silent").at(start, ())
    with pytest.raises(
        PolicyError, match=r"half: in MATCHSTATE:1:0::. the probabilities of the policy by holding do not sum"
    ):
        RangeOfPolicy(LIMIT, Half(), "half").at(start, ())
    with pytest.raises(GameRefused, match="hold'em of two players"):
        RangeOfPolicy(find_game("limit3")[1], CallingBot(), "calling")


# ---- the player


def test_player_plays_as_the_measurement_does() -> None:
    """Hands of `lbr` against the bot, with the real dealer, win as much as the measurement's deals, showdowns aside."""
    deals = DEALS_A_PART
    exploitation = Exploitation(LIMIT, "rembrant", ("fcr",), seed=6)
    measured = play_part(exploitation, 0)[:, 0]
    bots = [make_bot("lbr?against=rembrant,explain=true"), make_bot("rembrant")]
    won = np.zeros((deals, 2))
    ends = np.zeros((deals, 2), int)
    for record in self_play("limit", bots, deals=deals, seed=6, names=["lbr", "rembrant"]):
        position = next(at for at in range(2) if record.name_at(Position(at)) == "lbr")
        won[record.hand_number, position] = record.values[position]
        last = max(at for at, actions in enumerate(record.betting.rounds) if actions)
        ends[record.hand_number, position] = 4 if record.betting.is_showdown else last
        assert (
            any("against the range of rembrant" in comment.text for comment in record.comments) or not record.comments
        )
    assert ends.tolist() == measured[:, :, 1].astype(int).tolist()
    folded = ends < 4
    assert won[folded].tolist() == measured[:, :, 0][folded].tolist()
    assert folded.any()
    assert not folded.all()


def test_options_of_the_player() -> None:
    assert make_bot("lbr?against=mfs?k=4;trials=5,actions=c/c/fcr/fcr")
    with pytest.raises(SpecError, match="actions are those"):
        make_bot("lbr?actions=x")
    with pytest.raises(GameRefused, match="are not for this game"):
        make_bot("lbr?actions=fcpa").prepare(LIMIT)
    with pytest.raises(PolicyError, match="mc has no policy"):
        make_bot("lbr?against=mc").prepare(LIMIT)
    assert make_bot("lbr").refusal(find_game("kuhn")[1]) is not None


# ---- exact values


def test_value_of_shoves_against_a_caller() -> None:
    """200 big blinds times the mean advantage of hands better than even: 16,039 mbb, from the table of matchups."""
    edge = [max(0.0, 2 * exact_equity(cards).equity - 1) for cards in combinations(range(52), 2)]
    assert np.mean(edge) == pytest.approx(0.0801971, abs=5e-8)
    assert 200_000 * np.mean(edge) == pytest.approx(16_039, abs=1)


@pytest.mark.slow
def test_exploitation_of_a_caller_in_limit() -> None:
    """Another program measured 1160 ± 25 mbb over 12,000 deals."""
    exploitation = Exploitation(LIMIT, "calling", ("fcr", "c/fcr/fcr/fcr"), seed=8)
    played = [play_part(exploitation, part) for part in range(80)]
    bounds, waiting = lower_bounds(exploitation, played)
    assert bounds.won.half_width is not None
    assert abs(bounds.won.mean - 1160) < 25 + 1.3 * bounds.won.half_width
    assert waiting.won.mean < bounds.won.mean
    assert bounds.variance_ratio is not None
    assert bounds.variance_ratio > 1.5, "taking luck off saves hands"
    terms = np.concatenate(played)[..., 2:].mean(axis=2)
    errors = terms.std(axis=0) / len(terms) ** 0.5
    assert (np.abs(terms.mean(axis=0)) <= 5 * errors + 1e-9).all(), "every term is 0 on average"


@pytest.mark.slow
def test_exploitation_of_a_caller_in_nolimit() -> None:
    """Before the flop it shoves exactly the better half of hands and waits with the rest: at least 16,039 mbb."""
    exploitation = Exploitation(NOLIMIT, "calling", ("ca/fc/fc/fc", "fcpa"), seed=8)
    played = np.concatenate([play_part(exploitation, part) for part in range(80)])
    chips = played[:, 0, :, 0].mean(axis=1) * 10
    error = chips.std() / len(chips) ** 0.5
    assert abs(chips.mean() - 16_039) < 4 * error
    more = played[:, 1, :, 0].mean(axis=1) * 10
    assert abs(more.mean() - 32_863) < 3424 + 4 * more.std() / len(more) ** 0.5
