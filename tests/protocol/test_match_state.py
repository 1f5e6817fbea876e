"""Match states: the strict reader inverts the writer; the lenient one equals the reference's."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Game
from protocol import FormatError, MatchState, find_game, parse_match_state
from protocol.match_state import StateReader, scan_match_state
from tests.engine.strategies import toy_game
from tests.protocol.states import ANY_GAME, hands, states

LIMIT = find_game("limit")[1]
NO_LIMIT = find_game("nolimit")[1]
NO_LIMIT_3 = find_game("nolimit3")[1]
KUHN = find_game("kuhn")[1]
FLOP_FIRST = toy_game(
    (100, 100),
    (2, 1),
    raise_sizes=(2, 4),
    rounds=2,
    first_players=(1, 0),
    max_raises=(3, 3),
    hole_cards=2,
    board_cards=(3, 1),
)


# -- writing and strict reading --------------------------------------------------------------------------------------


@given(hands())
def test_every_state_of_a_hand_survives_being_written_and_read(views: list[tuple[Game, MatchState]]) -> None:
    for game, state in views:
        assert parse_match_state(state.format(), game) == state


@pytest.mark.parametrize(
    ("game", "text"),
    [
        (NO_LIMIT, "MATCHSTATE:0:0:r20000c///:5d5c|9hQd/8dAs8s/4h/6d"),
        (NO_LIMIT_3, "MATCHSTATE:1:30:r300f:|9hQd|"),
        (KUHN, "MATCHSTATE:0:0:crc:Ks|As"),
        (FLOP_FIRST, "MATCHSTATE:1:0::|AhKs2c3c4c"),
        (FLOP_FIRST, "MATCHSTATE:1:0:cc/cc:AdKd|AhKs2c3c4c/5c"),
    ],
)
def test_lines_of_a_dealer_are_read_and_written_back(game: Game, text: str) -> None:
    assert parse_match_state(text, game).format() == text


WRONG = [
    (LIMIT, "MATCHsTATE:0:0::5d5c|", 5, "a state begins with 'MATCHSTATE:'"),
    (LIMIT, "MATCHSTATE:+0:0::5d5c|", 11, "the position must be a plain number"),
    (LIMIT, "MATCHSTATE:00:0::5d5c|", 11, "the position must be a plain number"),
    (LIMIT, "MATCHSTATE:0", 12, "the position must be followed by ':'"),
    (LIMIT, "MATCHSTATE:2:0::5d5c|", 11, "position 2 in a game of 2 players"),
    (LIMIT, "MATCHSTATE:0:1x::5d5c|", 14, "the hand number must be a plain number"),
    (LIMIT, "MATCHSTATE:0:12345678901::5d5c|", 13, "the hand number must be a plain number"),
    (LIMIT, "MATCHSTATE:0:1", 14, "the hand number must be followed by ':'"),
    (LIMIT, "MATCHSTATE:0:0:c", 16, "the betting must end with ':'"),
    (LIMIT, "MATCHSTATE:0:0:x:5d5c|", 15, "'x' is not an action (f, c or r)"),
    (LIMIT, "MATCHSTATE:0:0:r20:5d5c|", 16, "'2' is not an action (f, c or r)"),
    (LIMIT, "MATCHSTATE:0:0:cc:5d5c|", 17, "'/' must follow the last action of a round"),
    (LIMIT, "MATCHSTATE:0:0:cf:5d5c|", 16, "there is no bet to fold to; check instead"),
    (LIMIT, "MATCHSTATE:0:0:rrrr:5d5c|", 18, "the round has had all the raises the game allows"),
    (LIMIT, "MATCHSTATE:0:0:ff:5d5c|", 16, "no player may act because the hand is over"),
    (NO_LIMIT, "MATCHSTATE:0:0:r+300:5d5c|", 16, "a no-limit raise needs its size, a plain number"),
    (NO_LIMIT, "MATCHSTATE:0:0:r4294967596:5d5c|", 16, "a no-limit raise needs its size, a plain number"),
    (NO_LIMIT, "MATCHSTATE:0:0:r199:5d5c|", 15, "the raise is below the smallest legal size (199, at least 200)"),
    (NO_LIMIT, "MATCHSTATE:0:0:r20000c//:5d5c|", 22, "'/' must follow the last action of a round"),
    (LIMIT, "MATCHSTATE:0:0::5d5c", 20, "'|' must separate the hole cards of two positions"),
    (LIMIT, "MATCHSTATE:0:0::5d5x|", 18, "'5x' is not a card"),
    (LIMIT, "MATCHSTATE:0:0::5d5c||", 21, "nothing may follow the last board card of the round"),
    (LIMIT, "MATCHSTATE:0:0:cc/:5d5c|", 24, "'/' must precede the board cards of a round"),
    (LIMIT, "MATCHSTATE:0:0:cc/:5d5c|/8dAs", 29, "'' is not a card"),
    (LIMIT, "MATCHSTATE:1:0::|5d5c\r", 21, "nothing may follow the last board card of the round"),
]


@pytest.mark.parametrize(("game", "text", "column", "problem"), WRONG, ids=[text for _, text, *_ in WRONG])
def test_the_first_wrong_byte_is_named(game: Game, text: str, column: int, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_match_state(text, game)
    assert (caught.value.column, caught.value.problem, caught.value.text) == (column, problem, text)
    assert str(caught.value) == f"{problem} (byte {column + 1} of {text!r})"


BYTES = st.one_of(st.sampled_from(list("0123456789:/|fcrkbAKh2cds #+-MST\r\n\0")), st.characters(max_codepoint=255))


@st.composite
def damages(draw: st.DrawFn, text: str) -> str:
    """Damage a text: change, insert, double or drop one byte, or cut it short."""
    at = draw(st.integers(0, len(text) - 1))
    how = draw(st.sampled_from(["change", "add", "lose", "double", "cut"]))
    if how == "change":
        return text[:at] + draw(BYTES) + text[at + 1 :]
    if how == "add":
        return text[:at] + draw(BYTES) + text[at:]
    if how == "lose":
        return text[:at] + text[at + 1 :]
    if how == "double":
        return text[: at + 1] + text[at:]
    return text[:at]


@st.composite
def damaged_states(draw: st.DrawFn) -> tuple[Game, str]:
    """Draw a damaged state."""
    game, state = draw(states())
    return game, draw(damages(state.format()))


@st.composite
def lines_of_a_hand(draw: st.DrawFn) -> tuple[Game, list[str]]:
    """Draw lines to one player, some of them damaged or merged from two states."""
    views = draw(hands())
    whole = [state.format() for _, state in views if state.position == views[0][1].position]
    lines = []
    for line in whole:
        if draw(st.booleans()):
            lines.append(draw(damages(line)))
        if draw(st.booleans()):
            lines.append(line.rpartition(":")[0] + ":" + draw(st.sampled_from(whole)).rpartition(":")[2])
        lines.append(line)
    return views[0][0], lines


def attempt(text: str, game: Game, reader: StateReader | None = None) -> MatchState | FormatError:
    """Return the state, or the reason for its refusal."""
    try:
        return parse_match_state(text, game) if reader is None else reader.read(text).state
    except FormatError as error:
        return error


@given(damaged_states())
def test_a_damaged_state_is_refused_or_is_another_state(damage: tuple[Game, str]) -> None:
    game, text = damage
    result = attempt(text, game)
    if isinstance(result, FormatError):
        assert 0 <= result.column <= len(text)
        assert result.text == text
    else:
        assert result.format() == text


@given(lines_of_a_hand())
def test_readers_memory_changes_no_result(sent: tuple[Game, list[str]]) -> None:
    game, lines = sent
    reader = StateReader(game)
    for line in lines:
        result, expected = attempt(line, game, reader), attempt(line, game)
        if isinstance(result, FormatError) and isinstance(expected, FormatError):
            assert (result.text, result.column, result.problem) == (expected.text, expected.column, expected.problem)
        else:
            assert result == expected


@given(damaged_states())
def test_lenient_reader_accepts_everything_the_strict_one_does(damage: tuple[Game, str]) -> None:
    game, text = damage
    scanned = scan_match_state(text, game)
    state = attempt(text, game)
    if isinstance(state, MatchState) and not game.num_board_cards[0]:
        assert scanned is not None
        assert scanned[1] == len(text)
        lenient = scanned[0]
        assert (lenient.position, lenient.rounds, lenient.board) == (state.position, state.rounds, state.board)
        assert lenient.hand_number == state.hand_number % 2**32


PROTOCOL_TEXT = st.text(st.sampled_from(list("0123456789:/|fcrCKB2hAsKd +-\r\n\0é")), max_size=60)


@given(
    ANY_GAME, st.one_of(st.text(max_size=60), PROTOCOL_TEXT), st.sampled_from(["", "MATCHSTATE:", "MATCHSTATE:0:0:"])
)
def test_any_text_is_a_state_or_a_format_error(game: Game, text: str, header: str) -> None:
    scan_match_state(header + text, game)
    state = attempt(header + text, game)
    assert isinstance(state, FormatError) or state.format() == header + text


# -- lenient reading -------------------------------------------------------------------------------------------------


def scanned(text: str, game: Game) -> tuple[str, str] | None:
    """Read a text leniently; return the state as a dealer writes it, and the rest of the text."""
    result = scan_match_state(text, game)
    return result and (result[0].format(), text[result[1] :])


PRESENT = "MATCHSTATE:0:30:cc/r200c/:5d5c|/8dAs8s/4h"


@pytest.mark.parametrize(
    "text",
    [
        "MATCHSTATE: 0: 30:cc/r200c/:5d5c|/8dAs8s/4h",
        "MATCHSTATE:+0:+30:cc/r200c/:5d5c|/8dAs8s/4h",
        "MATCHSTATE:256:30:cc/r200c/:5d5c|/8dAs8s/4h",
        "MATCHSTATE:0:4294967326:cc/r200c/:5d5c|/8dAs8s/4h",
        "MATCHSTATE:0:30:ccr200c:5d5c|/8dAs8s/4h",
        "MATCHSTATE:0:30://c/c//r200/c:5d5c|/8dAs8s/4h",
        "MATCHSTATE:0:30:CK/B200k/:5d5c|/8dAs8s/4h",
        "MATCHSTATE:0:30:cc/r+200c/:5d5c|/8dAs8s/4h",
        "MATCHSTATE:0:30:cc/r200c/:5D5C|/8das8S/4H",
        "MATCHSTATE:0:30:cc/r200c/:5d5c|/8dAs8s4h",
        "MATCHSTATE:0:30:cc/r200c/:5d5c/8dAs8s/4h",
    ],
)
def test_lenient_spellings_of_one_state(text: str) -> None:
    assert scanned(text + ":c\r\n", NO_LIMIT) == (PRESENT, ":c\r\n")


def test_without_a_slash_the_board_runs_into_an_empty_slot() -> None:
    assert scan_match_state("MATCHSTATE:0:30:cc/r200c/:5d5c|8dAs8s4h", NO_LIMIT) is None
    assert scanned("MATCHSTATE:1:30:cc/r200c/:|5d5c8dAs8s4h", NO_LIMIT) == (
        "MATCHSTATE:1:30:cc/r200c/:|5d5c/8dAs8s/4h",
        "",
    )


def test_other_players_cards_may_be_left_out_or_invented() -> None:
    present = "MATCHSTATE:1:0::|9hQd"
    assert scanned(present, NO_LIMIT) == (present, "")
    assert scanned("MATCHSTATE:1:0::AhKs|9hQd:c", NO_LIMIT) == ("MATCHSTATE:1:0::AhKs|9hQd", ":c")
    assert scanned("MATCHSTATE:1:0::AhKs9hQd:c", NO_LIMIT) == ("MATCHSTATE:1:0::AhKs|9hQd", ":c")
    # Without the bar, the cards belong to the first slot.
    assert scanned("MATCHSTATE:1:0::9hQd:c", NO_LIMIT) == ("MATCHSTATE:1:0::9hQd|", ":c")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "matchstate:0:30:cc/:5d5c|/8dAs8s",
        "MATCHSTATE:x:30:cc/:5d5c|/8dAs8s",
        "MATCHSTATE:2:30:cc/:5d5c|/8dAs8s",
        "MATCHSTATE:0::cc/:5d5c|/8dAs8s",
        "MATCHSTATE:0:30",
        "MATCHSTATE:0:30:cc/",
        "MATCHSTATE:0:30:c c/:5d5c|/8dAs8s",
        "MATCHSTATE:0:30:cf/:5d5c|/8dAs8s",
        "MATCHSTATE:0:30:r199:5d5c|",
        "MATCHSTATE:0:30::5d5x|",
        "MATCHSTATE:0:30:cc/:5d5c|/8dAs",
        "MATCHSTATE:0:30:cc/:5d5c||/8dAs8s",
    ],
)
def test_lenient_reader_refuses_other_texts(text: str) -> None:
    assert scan_match_state(text, NO_LIMIT) is None


def test_a_very_long_text_is_shortened_in_the_sentence() -> None:
    with pytest.raises(FormatError, match=re.escape("..." + "')")) as caught:
        parse_match_state("MATCHSTATE:0:0::" + "c" * 5000, LIMIT)
    assert len(str(caught.value)) < 300
    assert len(caught.value.text) == 5016
