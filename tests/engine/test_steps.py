"""Steps of a betting: each action with the chips it adds and street totals."""

from __future__ import annotations

from hypothesis import given

from engine import ActionKind, Game, betting_start, betting_steps
from protocol import find_game
from protocol.match_state import betting_after
from tests.engine.strategies import SEEDS, games, random_play
from tests.tables import rows


def step_rows(game: str, betting: str) -> list[list[str]]:
    """Rows of round, position, move, chips added, street total, chips to call, all-in."""
    steps = betting_steps(betting_after(find_game(game)[1], betting))
    return [
        [str(s.round), str(s.position), s.move.name, f"+{s.added}", str(s.street_total), str(s.to_call)]
        + ["all-in"] * s.is_all_in
        for s in steps
    ]


def test_steps_have_moves_and_chips() -> None:
    assert step_rows("nolimit", "cr300c/r900c/cc/cr20000c") == rows("""
    0  1  CALL   +50     100    50
    0  0  RAISE  +200    300    0
    0  1  CALL   +200    300    200
    1  0  BET    +600    600    0
    1  1  CALL   +600    600    600
    2  0  CHECK  +0      0      0
    2  1  CHECK  +0      0      0
    3  0  CHECK  +0      0      0
    3  1  BET    +19100  19100  0      all-in
    3  0  CALL   +19100  19100  19100  all-in
    """)


@given(games(), SEEDS)
def test_steps_agree_with_the_states_after_each_action(game: Game, seed: int) -> None:
    states = [state for state, _ in random_play(game, seed)]
    end = states[-1]
    steps = betting_steps(end)
    assert len(steps) == len(states) - 1
    for number, (step, before, after) in enumerate(zip(steps, states, states[1:], strict=False)):
        position = before.acting_position
        assert (step.number, step.round, step.position) == (number, before.round, position)
        assert step.before == before
        assert step.added == after.spent[position] - before.spent[position]
        assert step.street_total == after.spent[position] - before.spent_before_round[position]
        assert step.to_call == before.to_call
        assert step.is_all_in == (step.added > 0 and after.spent[position] == game.stacks[position])
        if step.action.kind == ActionKind.RAISE:
            assert step.raised_by == after.max_spent - before.max_spent
    assert [(step.position, step.action) for step in steps] == [pair for actions in end.rounds for pair in actions]


@given(games(), SEEDS)
def test_chips_before_a_round_are_those_of_its_first_state(game: Game, seed: int) -> None:
    first = betting_start(game)
    for state, _ in random_play(game, seed):
        if state.round != first.round:
            first = state
        assert state.spent_before_round == (first.spent if state.round else (0,) * game.num_players)


@given(games(), SEEDS)
def test_the_start_of_a_round_is_its_first_state(game: Game, seed: int) -> None:
    states = [state for state, _ in random_play(game, seed)]
    for end in states:
        so_far = states[: states.index(end) + 1]
        starts = end.round_starts
        assert len(starts) == end.round + 1
        for round_, start in enumerate(starts):
            # A round skipped because no player could bet starts with the next one.
            first = next(state for state in so_far if state.round >= round_)
            assert (start.spent, start.folded) == (first.spent, first.folded)
