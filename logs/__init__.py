"""Finished hands: one record, and the formats it is written in and read from."""

from logs.acpc_log import format_header, format_score_line, format_state_line
from logs.record import HandRecord, PlayerComment, Times
from logs.transaction_log import format_transaction, parse_transactions

__all__ = [
    "HandRecord",
    "PlayerComment",
    "Times",
    "format_header",
    "format_score_line",
    "format_state_line",
    "format_transaction",
    "parse_transactions",
]
