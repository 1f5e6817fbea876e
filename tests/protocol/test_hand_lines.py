"""The lines a dealer builds up as a hand goes, against states written one by one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import CALL, FOLD, RAISE, Action, ActionKind, Game, betting_start, deal_hand
from protocol import find_game
from protocol.hand_lines import HandLines
from tests.engine.strategies import SEEDS, games, random_play
from tests.protocol.states import ANY_GAME, view


@settings(max_examples=150)
@given(st.one_of(ANY_GAME, games()), SEEDS, st.sampled_from([0, 7, 2**32 - 1]), st.integers(0, 5))
def test_every_line_of_a_hand_for_every_position(game: Game, seed: int, hand_number: int, begin: int) -> None:
    """Whether the lines begin with the hand or after some actions."""
    deal = deal_hand(game, seed, 0)
    states = [betting for betting, _ in random_play(game, seed)]
    states = states[min(begin, len(states) - 1) :]
    lines = HandLines(deal, hand_number, states[0])
    for before, betting in zip([None, *states], states, strict=False):
        if before is not None:
            actions = [action for round_ in betting.rounds for _, action in round_]
            lines.play(actions[-1], betting)
        if betting.finished and betting.folded.bit_count() < game.num_players - 1:
            lines.show(betting.folded)
        for position in range(game.num_players):
            assert lines.line(position) == view(betting, deal, position, hand_number).format().encode() + b"\r\n"


def test_an_action_need_not_be_in_its_plain_form() -> None:
    """A size that means nothing is not written, nor does it matter which object an action is."""
    game = find_game("limit")[1]
    betting = betting_start(game)
    lines = HandLines(deal_hand(game, 1, 0), 0, betting)
    for action in (Action(ActionKind.RAISE, 40), Action(ActionKind.RAISE, 0), RAISE, Action(ActionKind.CALL, 7), CALL):
        after = betting.after(action)
        lines.play(action, after)
        betting = after
    lines.play(Action(ActionKind.RAISE, 0), betting := betting.after(RAISE))
    lines.play(Action(ActionKind.FOLD, 0), betting.after(FOLD))
    assert lines.betting == b"rrrc/crf"
