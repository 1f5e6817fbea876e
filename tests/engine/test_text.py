from __future__ import annotations

import pytest

from engine.text import ago, capitalized, clean, count_of, escaped_bytes, shown, times_of


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("", ""),
        ("Zoë \t\n", "Zoë \t\n"),
        ("a\udcffb\udc80", "a�b�"),
        ("\udcc3\udcab", "ë"),
        ("a\ud800\udfff", "a��"),
    ],
)
def test_bytes_that_are_no_text_are_replaced(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_characters_without_xml_form_are_replaced() -> None:
    text = "Zoë\t\x00\n\x1b\u202e\ufffe\uffff\udcff\ud800\U0001f0a1"
    assert shown(text) == "Zoë\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\U0001f0a1"
    assert shown(text, "\t\n") == "Zoë\t\ufffd\n\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\U0001f0a1"


def test_a_sentence_has_a_capital_and_names_keep_their_letters() -> None:
    assert capitalized("the disk is full") == "The disk is full"
    assert capitalized("") == ""
    for clause in ("pairs ended early", "pairs: no module", "pairs's process ended", "pairs, bob and eve are late"):
        assert capitalized(clause, ["bob", "pairs"]) == clause
    assert capitalized("pairs of cards", ["pair"]) == "Pairs of cards"


def test_counts_have_their_plural() -> None:
    assert [count_of(number, "hand") for number in (0, 1, 2, 1000)] == ["0 hands", "1 hand", "2 hands", "1,000 hands"]
    assert [count_of(number, "match", "matches") for number in (1, 32)] == ["1 match", "32 matches"]
    assert [count_of(number, "minute") for number in (0.5, 1.0, 10.0)] == ["0.5 minutes", "1 minute", "10 minutes"]
    assert [times_of(number) for number in (0, 1, 1250)] == ["0 times", "once", "1,250 times"]


def test_bytes_that_cannot_be_printed_are_written_out() -> None:
    assert escaped_bytes(b"a\0\t\r\n\x1b\xff\\") == r"a\x00\t\r\n\x1b\xff" + "\\\\"
    assert len({escaped_bytes(bytes([byte])) for byte in range(256)}) == 256


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "now"), (59, "now"), (60, "1 min ago"), (3599, "59 min ago"), (3600, "1 h ago"), (86_399, "23 h ago")],
)
def test_time_is_relative_to_now(seconds: float, words: str) -> None:
    assert ago(1e9 - seconds, 1e9) == words


def test_a_time_of_days_ago_is_a_date() -> None:
    assert ago(1e9, 1e9 + 86_400) == "2001-09-09"
