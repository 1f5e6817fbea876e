from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import CALL, FOLD, RAISE, Action, raise_to
from protocol.actions import format_action, scan_action

NO_LIMIT_ACTIONS = st.one_of(st.sampled_from([FOLD, CALL]), st.integers(1, 2**31 - 1).map(raise_to))


def test_actions_are_written_in_lower_case() -> None:
    assert [format_action(action) for action in (FOLD, CALL, RAISE, raise_to(300))] == ["f", "c", "r", "r300"]


@given(NO_LIMIT_ACTIONS, st.text(max_size=5).filter(lambda text: not text[:1].isdigit()))
def test_no_limit_actions_survive_being_written_and_read(action: Action, behind: str) -> None:
    text = format_action(action)
    assert scan_action(f"{text}.{behind}", 0, False) == (action, len(text))
    assert scan_action("::" + text, 2, False) == (action, len(text) + 2)


@pytest.mark.parametrize(
    ("text", "action", "end"),
    [
        ("call", CALL, 1),
        ("K", CALL, 1),
        ("fold", FOLD, 1),
        ("B500", raise_to(500), 4),
        ("R500\r\n", raise_to(500), 4),
        ("r\t300", raise_to(300), 5),
        ("r+300", raise_to(300), 5),
        ("r-300", raise_to(-300), 5),
        ("r99999999999", raise_to(1215752191), 12),
        ("r" + "9" * 40, raise_to(-1), 41),
        ("r3e2", raise_to(3), 2),
    ],
)
def test_no_limit_actions_are_read_as_by_the_reference(text: str, action: Action, end: int) -> None:
    assert scan_action(text, 0, False) == (action, end)


@pytest.mark.parametrize("text", ["r", "r\r\n", "rc", "r:300", "b", "r+", "r-", "r.5"])
def test_a_no_limit_raise_without_size_is_no_action(text: str) -> None:
    assert scan_action(text, 0, False) is None
    assert scan_action(text, 0, True) == (RAISE, 1)


@pytest.mark.parametrize("text", ["", "x", "\r\n", ":c", " c", "/", "1"])
@pytest.mark.parametrize("is_limit", [True, False])
def test_other_characters_begin_no_action(text: str, is_limit: bool) -> None:
    assert scan_action(text, 0, is_limit) == (None, 1)


def test_a_size_in_a_limit_game_is_left_alone() -> None:
    assert scan_action("r300", 0, True) == (RAISE, 1)


@given(st.text(max_size=12), st.integers(0, 12), st.booleans())
def test_any_text_can_be_scanned(text: str, start: int, is_limit: bool) -> None:
    scanned = scan_action(text, start, is_limit)
    if scanned is None:
        assert not is_limit
        assert text[start] in "rRbB"
    elif scanned[0] is None:
        assert scanned[1] == start + 1
        assert text[start : start + 1] not in set("fFcCkKrRbB")
    else:
        assert text[start] in "fFcCkKrRbB"
        assert start < scanned[1] <= len(text)
