from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass

from logs.document import NAME, Axis, Chart, Column, Document, Fact, Section, Series, Table
from logs.document.plain import csv_text, json_data, latex_table, markdown, markdown_table
from logs.estimation import Estimate

TABLE = Table(
    "Winnings",
    (Column("player", NAME), Column("won", "+,.1f", unit="mbb/g"), Column("hands", ",")),
    (("a|b", Estimate(100.0, 20.0, 10.0), 5000), ("rh", None, None)),
    "a note",
)
DOCUMENT = Document(
    "Title",
    ("It wins.",),
    (Fact("seed", 12), Fact("training", 20_000, unit="hands")),
    (Section("Part", ("A sentence.", TABLE, Chart("C", Axis("x"), Axis("y"), (Series("s", (0, 1), (0, 1)),)))),),
)


def test_json_has_null_where_there_is_no_number() -> None:
    infinite, none = float("inf"), float("nan")
    chart = Chart("C", Axis("x"), Axis("y"), (Series("s", (0, 1), (none, 1), (infinite, None)),))
    facts = (Fact("a", infinite), Fact("b", Estimate(1.0, infinite)))
    for document in (Document("T", data=_Result(none, ("a",))), Document("T", (), facts, (Section("S", (chart,)),))):
        text = json.dumps(json_data(document), allow_nan=False)
        assert "null" in text


def test_json_has_numbers_not_texts() -> None:
    data = json.loads(json.dumps(json_data(DOCUMENT)))
    assert data["facts"] == {"seed": 12, "training": 20_000}
    sentence, table, chart = data["sections"][0]["parts"]
    assert sentence == "A sentence."
    assert table["rows"][0] == {
        "player": "a|b",
        "won": {"mean": 100.0, "half_width_95": 20.0, "standard_error": 10.0},
        "hands": 5000,
    }
    assert table["rows"][1]["won"] is None
    assert chart["series"][0]["y"] == [0, 1]


@dataclass
class _Result:
    value: float
    names: tuple[str, ...]


def test_markdown_has_sentences_facts_and_tables() -> None:
    assert markdown_table(TABLE) == (
        "| player | won mbb/g | hands |\n| --- | ---: | ---: |\n| a\\|b | +100.0 ± 20.0 | 5,000 |\n| rh | - | - |\n"
    )
    text = markdown(DOCUMENT)
    assert text.startswith("# Title\n\nIt wins.\n\n- seed: 12\n- training: 20,000 hands\n\n## Part\n\nA sentence.\n\n")
    assert text.endswith("| rh | - | - |\n\na note\n")


def test_latex_escapes_names_and_sets_figures_in_mathematics() -> None:
    table = Table.of("", ("", Column("a_1", "+,.0f")), (("B|2 & C", Estimate(-1000.0, 18.0)), ("50 %", None)))
    assert latex_table(table) == (
        "\\begin{tabular}{lr}\n & a\\_1 \\\\\n\\hline\n"
        "B|2 \\& C & $-1{,}000 \\pm 18$ \\\\\n50 \\% & - \\\\\n\\end{tabular}\n"
    )


def test_csv_has_a_column_for_each_part_of_an_estimate() -> None:
    first, second = csv.DictReader(io.StringIO(csv_text(TABLE)))
    assert first == {
        "player": "a|b",
        "won mbb/g": "100.0",
        "won mbb/g half_width_95": "20.0",
        "won mbb/g standard_error": "10.0",
        "hands": "5000",
    }
    assert second["won mbb/g"] == ""


def test_several_values_are_a_list_in_json_and_a_text_in_csv() -> None:
    table = Table.of("T", ("bot", "runs"), [("a", (1, 2))])
    data = json_data(Document("D", sections=(Section("S", (table,)),)))
    assert data["sections"][0]["parts"][0]["rows"] == [{"bot": "a", "runs": [1, 2]}]
    assert csv_text(table) == 'bot,runs\na,"1, 2"\n'
