"""Screen names that importers accept."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logs.pokerstars.names import screen_names, table_name
from tests.logs.pokerstars.checker import FORBIDDEN

TRICKY = ["agent_iter", "Dealer", "seat", "posts", "a.fr", "x_ES", "Zoë", "", "small blind", "Bot one", "Bot_one"]
NAMES = st.lists(st.one_of(st.text(max_size=20), st.sampled_from(TRICKY)), min_size=2, max_size=10)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Ann", "Ann"),
        ("twelve_chars", "twelve_chars"),
        ("agent_iter", "agent-iter"),
        ("a.COM_pute", "a-COM_pute"),
        ("Zoë & co", "Zo_co"),
        ("Dealer", "Deal-er"),
        ("calls_1", "call-s_1"),
        ("AlwaysCalls", "AlwaysCalls"),
        ("Seat", "Seat-"),
        ("", "player"),
        ("\udcff", "_"),
    ],
)
def test_names_lose_what_importers_stumble_over(name: str, written: str) -> None:
    assert screen_names((name, "Other")) == (written, "Other")


def test_long_names_end_in_a_digest_of_the_whole() -> None:
    one, other = screen_names(("MyLongBotName-v1", "MyLongBotName-v2"))
    assert one != other
    assert re.fullmatch("MyLongBo-[a-z2-7]{3}", one)
    assert re.fullmatch("MyLongBo-[a-z2-7]{3}", other)
    assert screen_names(("MyLongBotName-v2", "MyLongBotName-v1", "Ann")) == (other, one, "Ann")


def test_changed_names_yield_to_unchanged_ones() -> None:
    assert screen_names(("a_b", "a b"))[0] == "a_b"
    assert screen_names(("a b", "a_b"))[1] == "a_b"
    assert screen_names(("a b", "a_b"))[0] == screen_names(("a_b", "a b"))[1]


def test_equal_names_are_distinguished_by_their_seats() -> None:
    assert screen_names(("bot", "bot")) == ("bot-1", "bot-2")
    assert screen_names(("bot", "BOT", "Ann")) == ("bot-1", "BOT-2", "Ann")
    assert screen_names(("bot", "bot", "bot-1")) == ("bot-4", "bot-2", "bot-1")
    assert screen_names(("twelve_chars",) * 2) == ("twelve_cha-1", "twelve_cha-2")


@given(NAMES)
def test_any_names_become_distinct_screen_names(names: list[str]) -> None:
    written = screen_names(names)
    assert len({name.casefold() for name in written}) == len(names)
    for name in written:
        assert re.fullmatch("[A-Za-z0-9_.-]{1,12}", name)
        assert not FORBIDDEN.search(name)
    assert screen_names(names) == written


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("match", "match"),
        ("Bob's #1", "Bob_s _1"),
        ("../x\\y:z", ".._x_y_z"),
        ("", "table"),
        ("x" * 40, "x" * 30),
    ],
)
def test_table_names_lose_other_characters(name: str, written: str) -> None:
    assert table_name(name) == written
