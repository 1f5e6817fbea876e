"""The ACPC log: a header, one STATE line a hand, one SCORE line.

Written as the reference dealer writes it. Reading stands in `logs.acpc_log.reader`, so that who only writes need not
import it.
"""

from logs.acpc_log.writer import format_header, format_score_line, format_state_line, format_value

__all__ = ["format_header", "format_score_line", "format_state_line", "format_value"]
