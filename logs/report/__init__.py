"""One page about many hands: curves, tables, replays of the biggest pots.

    counts = count_hands(find(["runs/x"]))
    page = format_report(report_data("A and B", statistics_of(counts), counts.big_pots()))

- `build`: everything a page shows; `plots` draws the curves, `replay` shows a hand step by step
- `page`: the HTML
"""

from logs.report.page import ReportData, format_report, report_data

__all__ = ["ReportData", "format_report", "report_data"]
