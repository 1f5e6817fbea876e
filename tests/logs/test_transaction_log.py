from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import CALL, FOLD, RAISE, Action, raise_to
from logs import Times, format_transaction, parse_transactions
from logs.transaction_log import Transaction, parse_own_line, parse_own_lines
from protocol.actions import format_action

MICROSECONDS = st.integers(0, 2**53)


def read(line: str, *, is_limit: bool = True) -> Transaction:
    """Parse a single line."""
    (transaction,) = parse_transactions([line], is_limit=is_limit)
    assert transaction.line == line
    return transaction


def test_a_transaction_is_written_and_read() -> None:
    line = "r300 17 1795227485.694648 1795227485.694758\n"
    times = Times(1795227485694648, 1795227485694758)
    assert format_transaction(raise_to(300), 17, *times) == line
    assert read(line, is_limit=False) == Transaction(line, raise_to(300), 17, times)
    assert read(line, is_limit=False).is_readable


@given(
    st.one_of(st.sampled_from([FOLD, CALL]), st.integers(1, 2**31 - 1).map(raise_to)),
    st.integers(0, 2**32 - 1),
    MICROSECONDS,
    MICROSECONDS,
    st.sampled_from(["\n", "\r\n", ""]),
)
def test_no_limit_lines_survive_being_written_and_read(
    action: Action, hand: int, sent: int, received: int, end: str
) -> None:
    line = format_transaction(action, hand, sent, received).rstrip("\n") + end
    assert read(line, is_limit=False) == Transaction(line, action, hand, Times(sent, received))


@pytest.mark.parametrize(
    ("line", "action", "hand", "times"),
    [
        ("K 1 2.000003 4.000005", CALL, 1, (2000003, 4000005)),
        ("c +1 2.000003 4.000005 and more", CALL, 1, (2000003, 4000005)),
        ("c 4294967297 2.000003 4.000005", CALL, 1, (2000003, 4000005)),
        ("c 1 2.000003 4.000005\0junk", CALL, 1, (2000003, 4000005)),
        ("x 1 2.000003 4.000005", None, 1, (2000003, 4000005)),
    ],
)
def test_other_spellings_of_a_transaction_are_read(
    line: str, action: Action | None, hand: int, times: tuple[int, int]
) -> None:
    assert read(line) == Transaction(line, action, hand, Times(*times))
    assert read(line).is_readable


@pytest.mark.parametrize(
    "line",
    [
        "",
        "c",
        "call 1 2.000003 4.000005",
        "c 1",
        "c 1 2 4",
        "c 1 2,000003 4,000005",
        "c\0 1 2.000003 4.000005",
        "# comment",
    ],
)
@pytest.mark.parametrize("is_limit", [True, False])
def test_other_lines_are_not_readable(line: str, is_limit: bool) -> None:
    assert not read(line, is_limit=is_limit).is_readable
    assert read(line, is_limit=is_limit).action is None


def test_a_no_limit_raise_needs_its_size() -> None:
    assert not read("r", is_limit=False).is_readable
    assert not read("r x 1 2.000003 4.000005", is_limit=False).is_readable
    assert read("r 300 1 2.000003 4.000005", is_limit=False).action == raise_to(300)
    assert read("r 1 2.000003 4.000005", is_limit=True).action == RAISE


def test_reading_ends_with_the_first_line_that_is_none() -> None:
    lines = ["c 0 1.000001 1.000002\n", "f 0 1.000003 1.000004\n", "half a li", "c 1 1.000005 1.000006\n"]
    transactions = parse_transactions(lines, is_limit=True)
    assert [transaction.line for transaction in transactions] == lines[:3]
    assert [transaction.is_readable for transaction in transactions] == [True, True, False]
    assert parse_transactions([], is_limit=True) == []


def test_missing_microseconds_of_a_reply_are_those_of_the_line_before() -> None:
    lines = ["c 0 1.000001 2.000002\n", "c 0 3.000003 4\n", "c 0 5.000005 6.\n", "c 0 7.000007 8.000008\n"]
    times = [transaction.times for transaction in parse_transactions(lines, is_limit=True)]
    assert times == [(1000001, 2000002), (3000003, 4000002), (5000005, 6000002), (7000007, 8000008)]


TEXTS = st.one_of(st.text(max_size=60), st.text("fcrkB 0123456789.+-\n\0", max_size=60))


@given(st.lists(st.one_of(TEXTS, st.just("c 1 2.000003 4.000005\n")), max_size=5), st.booleans())
def test_any_texts_are_transactions_up_to_one_that_is_none(lines: list[str], is_limit: bool) -> None:
    transactions = parse_transactions(lines, is_limit=is_limit)
    assert [transaction.line for transaction in transactions] == lines[: len(transactions)]
    assert all(transaction.is_readable for transaction in transactions[:-1])
    assert len(transactions) == len(lines) or not transactions[-1].is_readable
    for transaction in itertools.takewhile(lambda each: each.is_readable, transactions):
        assert 0 <= transaction.hand_number < 2**32


OWN = st.builds(
    lambda action, number, sent, received, end: f"{action} {number} {sent} {received}{end}",
    st.sampled_from(["c", "f", "r", "r300", "r0300", "c300", "x", ""]),
    st.one_of(st.integers(0, 2**32 - 1), st.just("-1"), st.just("٣")),
    *[st.sampled_from(["1795227485.694648", "0.000001", "1.5", "12", "-1.000001"])] * 2,
    st.sampled_from(["\n", "", " \n", "\r\n"]),
)


@given(st.one_of(TEXTS, OWN), st.booleans())
def test_fast_path_reads_own_lines_alike(line: str, is_limit: bool) -> None:
    own = parse_own_line(line, is_limit=is_limit)
    assert own is None or own == parse_transactions([line], is_limit=is_limit)[0]
    written = format_transaction(CALL, 17, 1_000_001, 2_000_002)
    assert parse_own_line(written, is_limit=is_limit) == parse_transactions([written], is_limit=is_limit)[0]


@given(st.lists(OWN, max_size=6), st.booleans())
def test_fast_path_reads_many_own_lines_alike(lines: list[str], is_limit: bool) -> None:
    text = "".join(lines)
    hands = parse_own_lines(text, is_limit=is_limit)
    if hands is None:
        return
    one_by_one = [parse_transactions([line], is_limit=is_limit)[0] for line in text.splitlines(keepends=True)]
    read_again = [
        (hand.line + i, hand.hand_number, action, times)
        for hand in hands
        for i, (action, times) in enumerate(zip(hand.actions or (), hand.times, strict=True))
    ]
    assert read_again == [
        (i, one.hand_number, one.action and format_action(one.action), one.times) for i, one in enumerate(one_by_one)
    ]


def test_written_lines_take_the_fast_path() -> None:
    for is_limit, actions in ((True, [RAISE, CALL, CALL, FOLD]), (False, [raise_to(300), CALL, CALL, FOLD])):
        lines = [format_transaction(action, i // 3, 10**15 + i, 10**15 + 2 * i) for i, action in enumerate(actions)]
        first, second = parse_own_lines("".join(lines), is_limit=is_limit) or ()
        assert (first.hand_number, first.line, len(first.actions or ())) == (0, 0, 3)
        assert second == (3, 1, ("f",), [Times(10**15 + 3, 10**15 + 6)], [])
        assert parse_own_lines("".join(lines)[:-1], is_limit=is_limit) is None
        assert parse_own_lines("".join(lines), is_limit=not is_limit) is None
