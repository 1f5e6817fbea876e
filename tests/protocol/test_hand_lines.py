"""The lines a dealer builds up as a hand goes, against states written one by one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import CALL, RAISE, Game, betting_start, deal_hand, raise_to
from protocol import find_game
from protocol.hand_lines import HandLines, note_after, note_of
from tests.engine.strategies import SEEDS, action_texts, games, random_play
from tests.protocol.states import ANY_GAME, view


@settings(max_examples=150)
@given(st.one_of(ANY_GAME, games()), SEEDS, st.sampled_from([0, 7, 2**32 - 1]))
def test_every_line_of_a_hand_for_every_position(game: Game, seed: int, hand_number: int) -> None:
    deal = deal_hand(game, seed, 0)
    lines = HandLines(game, deal, hand_number, betting_start(game).round)
    round_ = betting_start(game).round
    for betting, _ in random_play(game, seed):
        if betting.round > round_:
            lines.reach(round_, betting.round)
            round_ = betting.round
        if betting.finished and betting.folded.bit_count() < game.num_players - 1:
            lines.show(betting.folded)
        for position in range(game.num_players):
            line = lines.prefixes[position] + note_of(betting).text + lines.tails[position]
            assert line == view(betting, deal, position, hand_number).format().encode() + b"\r\n"


@given(games(), SEEDS)
def test_the_text_of_a_betting_state(game: Game, seed: int) -> None:
    for betting, _ in random_play(game, seed):
        assert note_of(betting).text == action_texts(betting).encode()
        assert note_of(betting) is note_of(betting)


def test_the_note_after_an_action_is_the_note_of_the_state() -> None:
    before = betting_start(find_game("nolimit")[1])
    for action in (raise_to(300), CALL, CALL, raise_to(600), CALL):
        after = before.after(action)
        after.note = None
        made = note_after(before, action, after).text
        after.note = None
        assert note_of(after).text == made
        before = after


def test_states_have_notes_of_their_own() -> None:
    root = betting_start(find_game("limit")[1])
    assert note_of(root).text == b""
    assert note_of(root.after(RAISE)).text == b"r"
    assert note_of(root.after(CALL)) is not note_of(root.after(RAISE))
