"""One page about many hands: curves, tables, the biggest pots to be replayed."""

from logs.report.build import report_data
from logs.report.page import ReportData, format_report

__all__ = ["ReportData", "format_report", "report_data"]
