"""The ACPC log: a header, a STATE line per hand, a SCORE line.

It is written as the reference dealer writes it. `logs.acpc_log.reader` is not imported here, so that programs that only
write do not load it.
"""

from logs.acpc_log.writer import format_header, format_score_line, format_state_line, format_value

__all__ = ["format_header", "format_score_line", "format_state_line", "format_value"]
