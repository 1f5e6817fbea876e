"""The numbers of hands: twelve digits that identify a hand of a match in every export.

Trackers know a hand by its number and drop every other hand of the same number, in a database that holds all matches.
So a hand must get the same number whenever it is exported, and no other hand of any match may get it. It is

    a digest of the match * 1000 + the hand's own number, within 400000000000 to 999999999999

Why twelve digits: genuine numbers have as many today, and there are importers that find things in the first line by
their places. Why from 4 on: genuine numbers begin with 1 or 2, so our hands and those of an account can share a
database.

Why a digest of the match rather than of each hand: within a match no two numbers are then ever the same, while a
million digests of that size would collide somewhere with a chance of four in seven. Why only three digits are kept free
for the hand's number: matches of one size overlap the less, the more digits tell them apart. A longer match
just runs on into the thousands behind its own, which is no worse than having reserved them. With n matches of h hands
some two of them overlap with a chance of about n * n * max(1, 2 * h / 1000 - 1) / 1.2e9: 1 in 1,200 for a thousand
matches of a thousand hands, 1 in 60 for a hundred matches of a million. Five digits for the match and seven for the
hand would make that all but certain, and 1 in 12.

What identifies a match: its name, its players by seat, its game, and its first hand that is written (number, cards,
betting, results): all that a dealer and a log both know. Two matches of the same name differ in their first hand.
Callers that may write a match from a later hand on (it was resumed, its log is damaged, only some hands are wanted)
pass a `match_id` with every export: the seed, say, which the header of a log has, too.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from logs.acpc_log.writer import format_state_line
from logs.record import HandRecord

_SMALLEST: Final = 400_000_000_000
_SPAN: Final = 600_000_000_000
_PER_MATCH: Final = 1000


class HandNumbers:
    """The numbers of the hands of one match, in every format."""

    def __init__(self, match_id: str | None) -> None:
        self._match_id = match_id
        self._base: int | None = None

    def number(self, record: HandRecord) -> int:
        """The number of a hand; the first one asked for identifies the match where nothing else does."""
        if self._base is None:
            self._base = match_base(record, self._match_id)
        return hand_number(self._base, record.hand_number)


def follows(record: HandRecord, before: HandRecord | None) -> bool:
    """Whether a hand is of the same match as the one before it."""
    return (
        before is not None
        and record.hand_number > before.hand_number
        and record.names_by_seat == before.names_by_seat
        and record.match_name == before.match_name
        and record.game == before.game
    )


def match_base(record: HandRecord, match_id: str | None) -> int:
    """What the numbers of a match are counted from; see `hand_number`.

    Args:
        record: the first hand of the match that is written.
        match_id: what tells the match from others of its name, players and game; None takes the hand.
    """
    game = record.game
    rules = (
        game.betting.value,
        game.stacks,
        game.blinds,
        game.raise_sizes,
        game.max_raises,
    )
    identity = f"{match_id}\n" if match_id is not None else format_state_line(record)
    text = f"{record.match_name}\0{'|'.join(record.names_by_seat)}\0{rules}\0{identity}"
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest) % (_SPAN // _PER_MATCH) * _PER_MATCH


def hand_number(base: int, number: int) -> int:
    """The number of a hand, twelve digits.

    Args:
        base: see `match_base`.
        number: which hand of its match it is.
    """
    return _SMALLEST + (base + number) % _SPAN
