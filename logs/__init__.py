"""Records of finished hands, their readers and writers, and their statistics.

Readers yield `HandRecord` values (`logs.hand_source` reads any file or folder), writers format them (`logs.export`
writes files in any format), and `logs.tracker` counts them:

>>> from logs.acpc_log.reader import read_log
>>> from logs.phh import format_phh
>>> log = ["# name/game/hands/seed m1 holdem.limit.2p.reverse_blinds 1 7\\n"]
>>> log += ["STATE:0:crc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20:Ann|Bob\\n"]
>>> for hand in read_log(log):
...     print(hand.match_name, hand.names, hand.values)
...     print(format_phh(hand).splitlines()[6:9])
m1 ('Ann', 'Bob') (20.0, -20.0)
['actions = [', '  "d dh p1 5d5c",', '  "d dh p2 9hQd",']

This module exports the record and the lines that a dealer writes. `logs.errors` has the tree of the errors.
"""

from importlib.machinery import PathFinder as _PathFinder
from importlib.util import find_spec as _find_spec
from importlib.util import module_from_spec as _module_from_spec
from os.path import dirname as _dirname
from os.path import join as _join

# Load engine.shadowing from its folder, because a user's own engine.py may hide our package of that name. A frozen
# program has no folders, so there the module is loaded by name.
_spec = _PathFinder.find_spec("engine.shadowing", [_join(_dirname(__path__[0]), "engine")])
_spec = _spec or _find_spec("engine.shadowing")
_shadowing = _module_from_spec(_spec)  # type: ignore[arg-type]
_spec.loader.exec_module(_shadowing)  # type: ignore[union-attr]

with _shadowing.own_packages("engine", "protocol"):
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
