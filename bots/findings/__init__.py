"""What the report of a re-made work says: figures beside the printed ones, with intervals and verdicts.

    report = Report("The agent", ("It wins.",), (("seed", "1"),), (Section("Winnings", (), (table, chart)),))
    page = format_findings(report)

- `report`: the values; `TableView` is the table of every page
- `charts`: lines and bars as SVG
- `page`: the HTML
"""

from bots.findings.page import format_findings
from bots.findings.report import Bar, BarChart, Comparison, Comparisons, Line, LineChart, Report, Section, Verdict
from logs.page.table import ABSENT, TableView

__all__ = [
    "ABSENT",
    "Bar",
    "BarChart",
    "Comparison",
    "Comparisons",
    "Line",
    "LineChart",
    "Report",
    "Section",
    "TableView",
    "Verdict",
    "format_findings",
]
