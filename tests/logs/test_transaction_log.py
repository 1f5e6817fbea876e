from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import CALL, FOLD, RAISE, Action, raise_to
from logs import Times, format_transaction, parse_transaction
from logs.transaction_log import Transaction, format_time

MICROSECONDS = st.integers(0, 2**53)


def test_a_line() -> None:
    line = "r300 17 1795227485.694648 1795227485.694758\n"
    read = Transaction(raise_to(300), 17, Times(1795227485694648, 1795227485694758))
    assert format_transaction(raise_to(300), 17, *read.times) == line
    assert parse_transaction(line, is_limit=False) == read


@given(
    st.one_of(st.sampled_from([FOLD, CALL]), st.integers(1, 2**31 - 1).map(raise_to)),
    st.integers(0, 2**32 - 1),
    MICROSECONDS,
    MICROSECONDS,
)
def test_no_limit_lines_survive_being_written_and_read(action: Action, hand: int, sent: int, received: int) -> None:
    line = format_transaction(action, hand, sent, received)
    assert parse_transaction(line, is_limit=False) == Transaction(action, hand, Times(sent, received))
    assert parse_transaction(line.rstrip("\n"), is_limit=False) == Transaction(action, hand, Times(sent, received))


@given(st.sampled_from([FOLD, CALL, RAISE]), st.integers(0, 2**32 - 1), MICROSECONDS, MICROSECONDS)
def test_limit_lines_survive_being_written_and_read(action: Action, hand: int, sent: int, received: int) -> None:
    line = format_transaction(action, hand, sent, received)
    assert line.count("\n") == 1
    assert parse_transaction(line, is_limit=True) == Transaction(action, hand, Times(sent, received))


@pytest.mark.parametrize(
    ("time_us", "text"),
    [(0, "0.000000"), (7, "0.000007"), (1000000, "1.000000"), (1795227485000001, "1795227485.000001")],
)
def test_times_have_six_decimals(time_us: int, text: str) -> None:
    assert format_time(time_us) == text


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("K 1 2.000003 4.000005", Transaction(CALL, 1, Times(2000003, 4000005))),
        ("c\t1\t2.000003\t4.000005\r\n", Transaction(CALL, 1, Times(2000003, 4000005))),
        ("c1 2.000003 4.000005", Transaction(CALL, 1, Times(2000003, 4000005))),
        ("c +1 2.000003 4.000005 and more", Transaction(CALL, 1, Times(2000003, 4000005))),
        ("c 4294967297 2.000003 4.000005", Transaction(CALL, 1, Times(2000003, 4000005))),
        ("x 1 2.000003 4.000005", Transaction(None, 1, Times(2000003, 4000005))),
    ],
)
def test_lenient_reading(line: str, read: Transaction) -> None:
    assert parse_transaction(line, is_limit=True) == read


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\n",
        "c",
        "c\n",
        "call 1 2.000003 4.000005",
        "c one 2.000003 4.000005",
        "c 1",
        "c 1 2.000003",
        "c 1 2 4",
        "c 1 2. 4.",
        "c 1 2.000003 x.000005",
        "c 1 2,000003 4,000005",
        "# comment",
    ],
)
@pytest.mark.parametrize("is_limit", [True, False])
def test_what_is_no_transaction(line: str, is_limit: bool) -> None:
    assert parse_transaction(line, is_limit=is_limit) is None


def test_a_no_limit_raise_needs_its_size() -> None:
    assert parse_transaction("r", is_limit=False) is None
    assert parse_transaction("r x 1 2.000003 4.000005", is_limit=False) is None


@given(st.one_of(st.text(max_size=60), st.text("fcrkB 0123456789.+-\n", max_size=60)), st.booleans())
def test_any_text_is_a_transaction_or_none(text: str, is_limit: bool) -> None:
    read = parse_transaction(text, is_limit=is_limit)
    if read is not None:
        assert 0 <= read.hand_number < 2**32
        assert isinstance(read.times, Times)
