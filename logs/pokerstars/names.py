"""Names as card rooms have them.

Trackers find players by text searches, each in its own way, so a name here is at most twelve of the characters
``A-Z a-z 0-9 _ . -`` and holds none of the words that some importer takes for something else:

- ``.fr``, ``_it`` and their like: FPDB reads a national site out of the hero's name;
- ``dealer``: FPDB takes the hand for one converted from another room, and corrects its money;
- ``posts``, and what actions are called (``folds``) at the beginning: PokerKit finds actions in the lines of the seats;
- no other word that lines begin with, as a whole name.

A name depends on the player's name alone wherever possible, so that a bot is one player in the tracker against every
opponent: a name that is too long ends in a digest of the whole, and only names that would still be equal at one table
get the numbers of their seats.
"""

from __future__ import annotations

import re
from base64 import b32encode
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

__all__ = ["screen_names", "table_name"]

_LONGEST_NAME: Final = 12
_LONGEST_TABLE: Final = 30
_DIGEST_CHARACTERS: Final = 3
_SITES: Final = re.compile(r"[._](?=fr|it|es|pt|eu|de|com)", re.IGNORECASE)
_INNER_WORDS: Final = re.compile(
    r"(?<=deal)(?=er)|(?<=post)(?=s)|(?:(?<=^bet)|(?<=^call|^fold|^muck|^show)|(?<=^check|^raise))(?=s)", re.IGNORECASE
)
_WHOLE_WORDS: Final = frozenset(
    {"board", "collected", "dealt", "hand", "pokerstars", "pot", "rake", "said", "seat", "table", "total", "uncalled"}
)
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_NO_TABLE: Final = re.compile(r"[^A-Za-z0-9_. -]+")


def screen_names(names: Sequence[str]) -> tuple[str, ...]:
    """Players' names as the format has them, different from each other without regard to case."""
    chosen = [_short(name, _allowed(name)) for name in names]
    seats_of = Counter(name.casefold() for name in chosen)
    for seat, name in enumerate(names):
        if seats_of[chosen[seat].casefold()] > 1 and chosen[seat] != name:
            chosen[seat] = _digested(name, _allowed(name))
    seats_of = Counter(name.casefold() for name in chosen)
    for seat, name in enumerate(chosen):
        if seats_of[name.casefold()] > 1:
            chosen[seat] = _numbered(name, seat, chosen)
    return tuple(chosen)


def table_name(name: str) -> str:
    """A table's name as the format and a file name have it; ``table`` where nothing is left of it."""
    return _NO_TABLE.sub("_", name)[:_LONGEST_TABLE].strip() or "table"


def _allowed(name: str) -> str:
    """The name without anything that confuses an importer, but perhaps too long."""
    allowed = _INNER_WORDS.sub("-", _SITES.sub("-", _NO_NAME.sub("_", name))) or "player"
    return f"{allowed}-" if allowed.casefold() in _WHOLE_WORDS else allowed


def _short(name: str, allowed: str) -> str:
    return allowed if len(allowed) <= _LONGEST_NAME else _digested(name, allowed)


def _digested(name: str, allowed: str) -> str:
    """The beginning of the name, and a digest of all of it."""
    digest = b32encode(blake2b(name.encode("utf-8", "surrogateescape"), digest_size=5).digest()).decode().lower()
    return f"{allowed[: _LONGEST_NAME - 1 - _DIGEST_CHARACTERS]}-{digest[:_DIGEST_CHARACTERS]}"


def _numbered(name: str, seat: int, others: Sequence[str]) -> str:
    """The name with its seat's number, or the next number that nobody has."""
    taken = {other.casefold() for other in others}
    number = seat + 1
    while True:
        ending = f"-{number}"
        numbered = name[: _LONGEST_NAME - len(ending)] + ending
        if numbered.casefold() not in taken:
            return numbered
        number += len(others)
