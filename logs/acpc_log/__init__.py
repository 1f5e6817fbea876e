"""The ACPC log: a header, a STATE line per hand, a SCORE line.

Written as the reference dealer writes it. The reader is in `logs.acpc_log.reader`, so that programs that only write do
not import it.
"""

from logs.acpc_log.writer import format_header, format_score_line, format_state_line, format_value

__all__ = ["format_header", "format_score_line", "format_state_line", "format_value"]
