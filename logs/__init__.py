"""Finished hands: one record, and the formats it is written in and read from."""

from importlib.machinery import SourceFileLoader
from os.path import dirname, join
from types import ModuleType

_shadowing = ModuleType("engine.shadowing")
_shadowing.__file__ = join(dirname(__path__[0]), "engine", "shadowing.py")
SourceFileLoader(_shadowing.__name__, _shadowing.__file__).exec_module(_shadowing)

with _shadowing.ours("engine", "protocol"):
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
