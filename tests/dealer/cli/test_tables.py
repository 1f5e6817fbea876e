"""Tables in windows of any width: a head and rows, with the most important columns that fit."""

from __future__ import annotations

import pytest

from dealer.cli.shell.documents import show_document
from dealer.reports.result_documents import contest_document
from dealer.run.results import ContestResult
from logs.document import CODE, TEXT, Column, Table, Tone, Toned
from logs.document.terminal import table_lines, wrapped
from logs.estimation import Estimate
from tests.dealer.cli.conftest import window
from tests.dealer.results_of import contest, player, winnings

TABLE = Table.of(
    "",
    (
        "player",
        "mbb/g",
        Column("SE", ",", rank=3),
        Column("what it does", format=TEXT, rank=1),
        Column("faults", ",", rank=2),
    ),
    (
        ("raising", "+1,234,567.8", "88.1", "raises whenever it may and calls otherwise", "12"),
        ("a-bot-with-quite-a-long-name", "-1,234,567.8", "88.1", "plays", "0"),
    ),
)


def _lines(width: int | None, view: Table = TABLE) -> list[str]:
    return [line.plain for line in table_lines(view, width)]


def test_lines_fit_the_window_with_whole_numbers() -> None:
    for width in (*range(34, 130), None):
        lines = _lines(width)
        assert width is None or max(map(len, lines)) <= width
        words = " ".join(lines).split()
        for index, column in enumerate(TABLE.columns):
            if column.title in words and column.format == ",":
                assert {row[index] for row in TABLE.rows} <= set(words), width
            if column.title.split()[-1] in words and column.format == TEXT:
                assert {word for row in TABLE.rows for word in row[index].split()} <= set(words), width


@pytest.mark.parametrize(
    ("width", "head"),
    [
        (None, "player mbb/g SE what it does faults"),
        (84, "player mbb/g SE what it does faults"),
        (83, "player mbb/g what it does faults"),
        (78, "player mbb/g what it does faults"),
        (77, "player mbb/g what it does"),
        (70, "player mbb/g what it does"),
        (69, "player mbb/g"),
        (34, "player mbb/g"),
    ],
)
def test_least_important_columns_are_dropped_first(width: int | None, head: str) -> None:
    lines = _lines(width)
    assert lines[0].split() == head.split()
    left_out = sum(title not in lines[0] for title in ("SE", "what it does", "faults"))
    notes = [line.strip() for line in lines if "wider window" in line]
    assert notes == ([] if not left_out else [f"{left_out} more column{'s' * (left_out > 1)} in a wider window"])


def test_columns_of_one_rank_go_together() -> None:
    view = Table.of(
        "",
        ("a", Column("b", ",", rank=1), Column("c", ",", rank=2), "d", Column("e", ",", rank=2)),
        (("x", *["1234"] * 4),),
    )
    assert _lines(27, view)[0].split() == ["a", "b", "c", "d", "e"]
    assert _lines(26, view)[0].split() == ["a", "b", "d"]


def test_names_and_heads_end_in_an_ellipsis_in_a_tiny_window() -> None:
    lines = _lines(30)
    assert lines[2].split() == ["raising", "+1,234,567.8"]
    assert lines[3].split() == ["a-bot-with-qu…", "-1,234,567.8"]
    view = Table.of("", ("a", "a long head", "b"), (("x", "12", "34"),))
    assert _lines(14, view)[0] == "  a  a lo…   b"
    ascii_only = [line.plain for line in table_lines(view, 14, is_ascii=True)]
    assert ascii_only[:2] == ["  a  a lo~   b", "  ------------"]


def test_numbers_that_do_not_fit_leave_whole_columns_out() -> None:
    view = Table.of("", ("a", "b", "c"), (("x", "123456", "123456"),))
    assert _lines(14, view)[2] == "  x  123456"


def test_sentences_are_wrapped_between_words() -> None:
    view = Table.of("", ("a", Column("b", format=TEXT)), (("x", "one two three four five six seven"), ("y", "z")))
    assert _lines(30, view) == [
        "  a  b",
        "  ────────────────────────────",
        "  x  one two three four five",
        "     six seven",
        "  y  z",
    ]


def test_code_is_whole_or_left_out() -> None:
    view = Table.of("", ("a", Column("b", format=CODE, rank=3)), (("x", "arena hands run --hand 3"),))
    assert _lines(29, view)[2] == "  x  arena hands run --hand 3"
    assert _lines(28, view)[2] == "  x"


def test_wide_characters_take_two_columns() -> None:
    view = Table.of("", ("a", "b"), (("表表", "1"), ("x", "1")))
    assert _lines(None, view)[2:] == ["  表表  1", "  x     1"]


def test_figure_stays_on_the_line_of_its_interval_and_unit() -> None:
    text = "mfs is ahead by 1,234 ± 567 mbb/g (95 %) after 12 ms: that may be luck"
    for width in range(17, 60):
        lines = wrapped(text, width)
        assert " ".join(lines) == text
        assert all(len(line) <= width for line in lines)
        assert all(any(figure in line for line in lines) for figure in ("1,234 ± 567 mbb/g", "(95 %)", "12 ms:")), width


def test_markup_is_text() -> None:
    assert _lines(40, Table.of("", ("[b]x",), (("[red]y",),)))[::2] == ["  [b]x", "  [red]y"]


def test_tones_colour_the_columns_that_show_them() -> None:
    view = Table.of("", ("a", "b"), ((Toned("1", Tone.BAD), "2"),))
    row = table_lines(view, 40)[2]
    assert [(row.plain[span.start : span.end], str(span.style)) for span in row.spans if span.style] == [("1", "red")]


def _contest(median_us: float, p99_us: float) -> ContestResult:
    won = Estimate(584.1, 736.2, 375.5)
    times = {"median_us": median_us, "p99_us": p99_us}
    return contest(
        player("rembrant-of-2011", won=winnings(won), chips=3504.0, **times),
        player("mfs", won=winnings(-won), chips=-3504.0, **times),
    )


@pytest.mark.parametrize("width", [40, 80, 120])
def test_shape_of_a_result_does_not_depend_on_times(width: int) -> None:
    heads = []
    for times_us in ((1.0, 2.0), (190.0, 1710.0), (123_000.0, 59_900_000.0)):
        terminal, out = window(width)
        show_document(terminal, contest_document(_contest(*times_us)))
        lines = out.getvalue().splitlines()
        assert all(len(line) <= width or " " not in line for line in lines)
        (head,) = [index for index, line in enumerate(lines) if line.startswith("  player")]
        assert [line.split()[0] for line in lines[head + 2 : head + 4]] == ["rembrant-of-2011", "mfs"] or width == 40
        heads.append(lines[head].split())
    assert heads[0][:3] == ["player", "mbb/g", "±"]
    if width == 40:
        assert heads[0] == heads[1] == heads[2] == ["player", "mbb/g", "±", "95", "%"]
    if width == 120:
        assert heads[0] == heads[1] == heads[2]
        assert heads[0][-2:] == ["99", "%"]


def test_pipe_gets_all_columns_and_rows_of_one_line() -> None:
    terminal, out = window(40, is_terminal=False)
    terminal.table(TABLE)
    assert out.getvalue().splitlines() == _lines(None)


def test_one_blank_line_between_paragraphs_and_none_at_the_ends() -> None:
    terminal, out = window(80)
    terminal.blank()
    terminal.table(Table.of("first", ("a",), (("x",),)))
    terminal.blank()
    terminal.table(Table.of("second", ("a",), (("x",),), "a note"))
    terminal.sentence("The end.")
    terminal.blank()
    assert out.getvalue().splitlines() == [
        *("first", "  a", "  ─", "  x", ""),
        *("second", "  a", "  ─", "  x", "a note", ""),
        "The end.",
    ]
