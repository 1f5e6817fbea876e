"""The values of a report."""

from __future__ import annotations

import pickle

import pytest

from bots.studies.report import Bar, BarChart, Claim, Claims, Line, LineChart, Report, Section, Verdict
from logs.document import Table

LINE = Line(name="won", xs=(0.0, 1.0), ys=(2.0, -3.0), low=(1.0, -4.0), high=(3.0, -2.0))
CLAIMS = Claims(
    "Style",
    (
        Claim("VPIP", "21.5 %", "± 0.3", "21.91 %", Verdict.REPRODUCED),
        Claim("genes", "32 %"),
    ),
    "Of one run.",
)
REPORT = Report(
    "A title",
    ("It wins.",),
    (("seed", "7"),),
    (
        Section(
            "Play",
            ("How it plays.",),
            (
                LineChart("Winnings", "hands", "dollars", (LINE,), "A note."),
                CLAIMS,
                BarChart("Against", "mbb/g", (Bar("random", 5.0, 4.0, 6.0),)),
                Table.of("More", ("", "a"), (("x", "1"),)),
            ),
        ),
    ),
)


def test_a_report_is_a_value() -> None:
    again = pickle.loads(pickle.dumps(REPORT))
    assert again == REPORT
    assert hash(again) == hash(REPORT)


def test_a_section_tells_its_tables_from_its_charts() -> None:
    (section,) = REPORT.sections
    assert [table.title for table in section.tables] == ["Style", "More"]
    assert [chart.title for chart in section.charts] == ["Winnings", "Against"]


def test_comparisons_leave_out_columns_that_would_be_empty() -> None:
    view = CLAIMS.view
    assert [column.title for column in view.columns] == ["", "printed", "ours", "interval", "verdict"]
    assert view.rows[0] == ("VPIP", "21.91 %", "21.5 %", "± 0.3", "reproduced")
    assert view.rows[1] == ("genes", "-", "32 %", "", "not printed")
    assert view.note == "Of one run."


@pytest.mark.parametrize(
    "words",
    [
        {"printed": "1"},
        {"verdict": Verdict.REPRODUCED},
        {"printed": "1", "verdict": Verdict.NOT_REPRODUCED},
        {"printed": "1", "verdict": Verdict.REFUTED},
    ],
)
def test_a_verdict_stands_on_something(words: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="wins: "):
        Claim(quantity="wins", ours="2", **words)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [{"ys": (1.0,)}, {"low": (1.0, 2.0)}, {"low": (1.0,), "high": (2.0,)}])
def test_a_line_has_as_many_heights_as_places(words: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match="line 'won'"):
        Line(**{"name": "won", "xs": (1.0, 2.0), "ys": (1.0, 2.0), **words})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ours", "room", "verdict"),
    [
        (10.5, 1.0, Verdict.REPRODUCED),
        (10.0, 0.0, Verdict.REPRODUCED),
        (11.5, 1.0, Verdict.NOT_REPRODUCED),
        (10.5, None, Verdict.UNDECIDED),
        (10.5, 12.0, Verdict.UNDECIDED),
        (30.0, 12.0, Verdict.NOT_REPRODUCED),
        (2.0, 9.0, Verdict.UNDECIDED),
        (14.0, 7.0, Verdict.UNDECIDED),
    ],
)
def test_a_figure_that_chance_could_have_made_is_undecided(ours: float, room: float | None, verdict: Verdict) -> None:
    """A measurement that fits 0 or twice the printed figure as well has not reproduced it."""
    assert Verdict.within(10.0, ours, room) is verdict


def test_a_line_of_plain_values() -> None:
    assert Line.of("won", range(2), [2, -3], [1, 1]) == LINE
    assert Line.of("won", (0, 1), (2, -3)) == Line(name="won", xs=(0.0, 1.0), ys=(2.0, -3.0))
