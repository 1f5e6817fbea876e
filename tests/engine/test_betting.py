"""Betting rules: random play against a textbook table, and each peculiarity of the reference."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine.betting
from engine import (
    CALL,
    FOLD,
    RAISE,
    Action,
    BettingState,
    Game,
    IllegalAction,
    Rule,
    betting_start,
    raise_to,
)
from protocol import find_game
from tests.engine.naive import Table
from tests.engine.strategies import SEEDS, action_texts, games, random_play, toy_game

ACTION_OF_LETTER = {"f": FOLD, "c": CALL, "r": RAISE}


def make_game(stacks: tuple[int, ...], blinds: tuple[int, ...], *, rounds: int = 4, **rules: Any) -> Game:
    """Return a game with a full deck; limit if it has raise sizes."""
    return toy_game(stacks, blinds, rounds=rounds, hole_cards=2, board_cards=(0, 3, 1, 1)[:rounds], **rules)


def state_after(game: Game, actions: str | list[Action]) -> BettingState:
    """Return the state after actions, given as a run of letters or as actions."""
    state = betting_start(game)
    for action in actions:
        state = state.after(ACTION_OF_LETTER[action] if isinstance(action, str) else action)
    return state


def refusal(state: BettingState, action: Action) -> Rule | None:
    """Return the rule that refuses an action; `check` and `after` must agree."""
    rules: list[Rule | None] = []
    for ask in (state.check, state.after):
        try:
            ask(action)
        except IllegalAction as error:
            rules.append(error.rule)
        else:
            rules.append(None)
    assert rules[0] is rules[1]
    return rules[0]


def snapshot(state: BettingState) -> tuple[object, ...]:
    """Return all public values of a state."""
    legal = None if state.finished else state.legal_actions()
    return (
        state.game,
        state.round,
        state.acting_position,
        state.spent,
        state.max_spent,
        state.folded,
        state.rounds,
        state.finished,
        state.pot,
        state.to_call,
        legal,
    )


def fresh_start(game: Game) -> BettingState:
    """Return a start that shares no memory with any other."""
    return betting_start.__wrapped__(game)


# -- random games ----------------------------------------------------------------------------------------------------


@given(games(), SEEDS)
def test_random_play_agrees_with_a_textbook_table(game: Game, seed: int) -> None:
    table = Table.start(game)
    for state, action in random_play(game, seed):
        assert action_texts(state) == table.text
        assert state.finished == table.is_over
        assert (state.round, state.spent, state.max_spent) == (table.round, table.spent, table.highest)
        assert state.folded == sum(1 << p for p in table.folded)
        if action is None:
            break
        assert state.acting_position == table.waiting[0]
        legal = state.legal_actions()
        sizes = table.raise_range()
        assert legal == (table.can_fold, sizes is not None, *(sizes or (0, 0)))
        table = table.play("fcr"[action.kind] + (str(action.hand_total) if action.hand_total else ""))


@given(games(), SEEDS)
def test_only_offered_actions_are_accepted(game: Game, seed: int) -> None:
    for state, action in random_play(game, seed):
        before = snapshot(state)
        if action is None:
            assert {refusal(state, any_action) for any_action in (FOLD, CALL, RAISE)} == {Rule.HAND_OVER}
            assert state.raise_refusal() is Rule.HAND_OVER
            with pytest.raises(IllegalAction):
                state.legal_actions()
            return
        legal = state.legal_actions()
        assert refusal(state, CALL) is None
        assert refusal(state, FOLD) is (None if legal.can_fold else Rule.NOTHING_TO_FOLD_TO)
        if not legal.can_raise:
            assert (legal.raise_min, legal.raise_max) == (0, 0)
            rule = state.raise_refusal()
            assert rule in {Rule.RAISE_CAP, Rule.ACTION_LIMIT, Rule.NOBODY_TO_RAISE, Rule.STACK_TOO_SMALL}
            assert refusal(state, raise_to(game.stacks[state.acting_position])) is rule
            assert refusal(state, RAISE) is rule
        elif game.is_limit:
            assert state.raise_refusal() is None
            assert legal.raise_min == legal.raise_max
            raised = state.after(RAISE)
            assert raised.max_spent == raised.spent[state.acting_position] == legal.raise_min
        else:
            assert state.raise_refusal() is None
            assert state.max_spent < legal.raise_min <= legal.raise_max == game.stacks[state.acting_position]
            assert refusal(state, raise_to(legal.raise_min)) is None
            assert refusal(state, raise_to(legal.raise_max)) is None
            assert refusal(state, raise_to(legal.raise_min - 1)) is Rule.BELOW_MINIMUM
            assert refusal(state, raise_to(legal.raise_max + 1)) is Rule.ABOVE_MAXIMUM
            assert refusal(state, raise_to(-1)) is Rule.BELOW_MINIMUM
        assert snapshot(state) == before


# -- memory ----------------------------------------------------------------------------------------------------------


@given(games(), SEEDS)
def test_cached_states_equal_recomputed_states(game: Game, seed: int) -> None:
    walks = [betting_start(game), betting_start(game), fresh_start(game)]
    for state, action in random_play(game, seed):
        assert snapshot(walks[0]) == snapshot(walks[1]) == snapshot(walks[2]) == snapshot(state)
        if action is not None:
            walks = [walk.after(action) for walk in walks]


def count_cached(root: BettingState) -> int:
    """Count the states that the root's cache holds."""
    count, stack = 0, list((root._children or {}).values())
    while stack:
        count += 1
        stack.extend((stack.pop()._children or {}).values())
    return count


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.betting, "MAX_REMEMBERED", 50)
    game = find_game("nolimit")[1]
    root = fresh_start(game)
    chance = random.Random(1)
    max_remembered = 0
    for _ in range(300):
        state = root
        while not state.finished:
            legal = state.legal_actions()
            if legal.can_raise and chance.random() < 0.4:
                state = state.after(raise_to(chance.randint(legal.raise_min, legal.raise_max)))
            else:
                state = state.after(CALL)
        max_remembered = max(max_remembered, count_cached(root))
        assert count_cached(root) <= 50
    assert max_remembered > 25


@given(games(), st.lists(SEEDS, min_size=5, max_size=5), st.integers(0, 20))
def test_forgetting_changes_no_state(game: Game, seeds: list[int], most: int) -> None:
    plays = [list(random_play(game, seed)) for seed in seeds]
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(engine.betting, "MAX_REMEMBERED", most)
        root = fresh_start(game)
        kept: list[tuple[BettingState, BettingState]] = []
        for hand in plays:
            walk = root
            for state, action in hand:
                kept.append((walk, state))
                walk = walk if action is None else walk.after(action)
        for walk, state in kept:
            assert snapshot(walk) == snapshot(state)


# -- no-limit sizes --------------------------------------------------------------------------------------------------


def bounds(state: BettingState) -> tuple[int, int]:
    legal = state.legal_actions()
    assert legal.can_raise
    return legal.raise_min, legal.raise_max


def test_the_smallest_raise_starts_at_two_big_blinds_and_grows_with_every_raise() -> None:
    game = find_game("nolimit")[1]
    assert bounds(betting_start(game)) == (200, 20000)
    assert bounds(state_after(game, "c")) == (200, 20000)
    assert bounds(state_after(game, [raise_to(200)])) == (300, 20000)
    assert bounds(state_after(game, [raise_to(300)])) == (500, 20000)
    assert bounds(state_after(game, [raise_to(300), raise_to(1000)])) == (1700, 20000)
    # After a large raise and a small one the larger step is still the minimum.
    assert bounds(state_after(game, [raise_to(10050)])) == (20000, 20000)


def test_a_new_round_starts_at_one_big_blind_more() -> None:
    game = find_game("nolimit")[1]
    assert bounds(state_after(game, "cc")) == (200, 20000)
    assert bounds(state_after(game, [raise_to(1000), CALL])) == (1100, 20000)
    assert bounds(state_after(game, [raise_to(1000), CALL, CALL, raise_to(1100)])) == (1200, 20000)


def test_a_short_all_in_does_not_lower_the_smallest_raise() -> None:
    game = make_game((1000, 1000, 250), (0, 100, 0))
    state = state_after(game, [raise_to(200)])
    assert bounds(state) == (300, 1000)
    state = state.after(CALL)
    assert state.acting_position == 2
    # The minimum of 300 is above the stack: only all-in remains, 50 above the bet.
    assert bounds(state) == (250, 250)
    assert refusal(state, raise_to(249)) is Rule.BELOW_MINIMUM
    assert refusal(state, raise_to(251)) is Rule.ABOVE_MAXIMUM
    state = state.after(raise_to(250))
    # The all-in raise of 50 left the minimum at 300, and reopened the betting.
    assert bounds(state) == (300, 1000)


def test_a_stack_that_does_not_reach_beyond_the_bet_can_only_call() -> None:
    game = make_game((1000, 200, 1000), (100, 0, 0), first_players=(2, 0, 0, 0))
    state = state_after(game, [raise_to(200), CALL])
    assert state.acting_position == 1
    assert refusal(state, raise_to(200)) is Rule.STACK_TOO_SMALL
    assert state.legal_actions() == (True, False, 0, 0)
    assert state.to_call == 200
    assert not state.after(CALL).is_able(1)


# -- folds and caps --------------------------------------------------------------------------------------------------


def test_no_fold_where_checking_is_free() -> None:
    game = find_game("limit")[1]
    assert refusal(state_after(game, "c"), FOLD) is Rule.NOTHING_TO_FOLD_TO
    assert refusal(state_after(game, "cc"), FOLD) is Rule.NOTHING_TO_FOLD_TO
    assert refusal(state_after(game, "ccr"), FOLD) is None
    assert refusal(state_after(game, ""), FOLD) is None
    with pytest.raises(IllegalAction, match=r"^there is no bet to fold to; check instead$"):
        state_after(game, "c").check(FOLD)


def test_raises_are_capped_round_by_round_and_blinds_are_no_raises() -> None:
    game = find_game("limit")[1]
    assert refusal(state_after(game, "rr"), RAISE) is None
    assert refusal(state_after(game, "rrr"), RAISE) is Rule.RAISE_CAP
    assert refusal(state_after(game, "rrrcrrr"), RAISE) is None
    assert refusal(state_after(game, "rrrcrrrr"), RAISE) is Rule.RAISE_CAP
    assert state_after(game, "rrrcrrrr").max_spent == 80


def test_64_actions_a_round_leave_two_players_63_raises() -> None:
    game = make_game((10**6, 10**6), (2, 1), raise_sizes=(2,), rounds=1)
    state = state_after(game, "r" * 62)
    assert refusal(state, RAISE) is None
    state = state.after(RAISE)
    assert refusal(state, RAISE) is Rule.ACTION_LIMIT
    assert state.max_spent == 2 + 63 * 2
    assert len(state.after(CALL).rounds[0]) == 64
    assert state.after(CALL).finished


# -- limit raises and stacks -----------------------------------------------------------------------------------------


def test_a_limit_raise_ends_at_the_raisers_stack_even_below_the_bet() -> None:
    game = make_game((100, 100, 25), (10, 0, 0), raise_sizes=(10, 10), rounds=2, first_players=(0, 0))
    state = state_after(game, "rr")
    assert (state.max_spent, state.acting_position) == (30, 2)
    assert bounds(state) == (25, 25)
    state = state.after(RAISE)
    assert state.max_spent == 25
    assert state.spent == (20, 30, 25)
    # Position 1 has put in 30, more than the bet of 25: it may fold, and a call takes chips back.
    state = state.after(CALL)
    assert state.acting_position == 1
    assert state.legal_actions().can_fold
    assert state.to_call == 0
    assert state.after(CALL).spent == (25, 25, 25)
    assert state.after(FOLD).spent == (25, 30, 25)


# -- all-in ----------------------------------------------------------------------------------------------------------


def test_after_an_all_in_every_skipped_round_has_its_slash() -> None:
    game = find_game("nolimit")[1]
    assert action_texts(state_after(game, [raise_to(20000), CALL])) == "r20000c///"
    assert action_texts(state_after(game, [CALL, CALL, raise_to(20000), CALL])) == "cc/r20000c//"
    assert action_texts(state_after(game, [CALL] * 6 + [raise_to(20000), CALL])) == "cc/cc/cc/r20000c"
    assert action_texts(state_after(game, [raise_to(20000), FOLD])) == "r20000f"
    assert state_after(game, [raise_to(20000), CALL]).round == 3
    assert state_after(game, [raise_to(20000), FOLD]).round == 0


def test_hand_ends_at_once_if_the_blinds_put_all_players_all_in() -> None:
    state = betting_start(make_game((10, 5), (10, 5)))
    assert state.finished
    assert state.acting_position == -1
    assert action_texts(state) == "///"
    assert state.round == 3
    assert refusal(state, CALL) is Rule.HAND_OVER


@pytest.mark.parametrize("name", ["limit3", "limit6", "limit10", "nolimit3", "nolimit6", "nolimit10"])
def test_the_order_of_play(name: str) -> None:
    game = find_game(name)[1]
    players = game.num_players
    state = betting_start(game)
    order = []
    while state.round < 2:
        order.append(state.acting_position)
        state = state.after(CALL)
    first = [(2 + i) % players for i in range(players)]
    assert order == [*first, *range(players)]


# ---- several actions at once, other processes


@given(games(), SEEDS)
def test_several_actions_at_once_equal_single_actions(game: Game, seed: int) -> None:
    chance = random.Random(seed)
    states = [state for state, _ in random_play(game, seed)]
    end, many = states[-1], betting_start(game)
    for actions in end.rounds:
        cut = chance.randint(0, len(actions))
        for part in (actions[:cut], actions[cut:]):
            after = many.after_many([action for _, action in part])
            assert after is not None
            many = after
    assert many.rounds == end.rounds
    hidden = {
        "_children",
        "_hash",
        "_legal",
        "_parent",
        "_action",
        "_run",
        "_rounds",
        "note",
    }
    for name in set(engine.betting.BettingState.__slots__) - hidden:
        assert getattr(many, name) == getattr(end, name), name
    for round_ in range(end.round + 1):
        taken = [state for state in states[:-1] if state.round == round_]
        chances = [state.raise_refusal() is None for state in taken]
        assert many.raise_chances(round_) == end.raise_chances(round_) == chances


@given(games(), SEEDS)
def test_several_actions_at_once_are_refused_where_one_is(game: Game, seed: int) -> None:
    chance = random.Random(seed)
    for state, _ in random_play(game, seed):
        sizes = [0, *(chance.randint(0, most) for most in (10, 100, 1000)), *game.stacks]
        raises = [RAISE] if game.is_limit else [raise_to(size) for size in sizes]
        for action in (FOLD, CALL, *raises):
            single, several = state.after_if_legal(action), state.after_many([action])
            assert (single is None) == (several is None)
            if single is not None and several is not None:
                assert (several.rounds, several.spent) == (single.rounds, single.spent)
                if single.finished or single.round > state.round:
                    assert state.after_many([action, CALL]) is None
