"""Twelve-digit hand numbers, the same in every export of a hand.

Trackers identify a hand by its number, and drop any later hand of the same number, in a database that holds all
matches. So a hand gets the same number in every export, and no hand of another match gets it:

    a digest of the match * 1000 + the hand's own number, within 400000000000 to 999999999999
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from logs.acpc_log.writer import format_state_line
from logs.record import HandRecord

# Genuine numbers have twelve digits today, and some importers find fields of the first line by their columns. Genuine
# numbers begin with 1 or 2, so hands from 4 on can share a database with those of an account.
_MIN_NUMBER: Final = 400_000_000_000
_SPAN: Final = 600_000_000_000
# A digest of each hand would collide: of a million, with a probability of 4/7. A digest of the match leaves no equal
# numbers within a match. Only three digits are for the hand's number, because matches of one size overlap the less, the
# more digits distinguish them; a longer match continues into the thousands behind its own. With n matches of h hands,
# the probability of any overlap is about n * n * max(1, 2 * h / 1000 - 1) / 1.2e9, which is 1 in 1,200 for a thousand
# matches of a thousand hands, and 1 in 60 for a hundred matches of a million.
_PER_MATCH: Final = 1000


class HandNumbers:
    """Numbers of the hands of one match.

    Without a match id, the first hand whose number is asked for identifies the match. A caller that may start a match
    at a later hand (a resumed match, a damaged log, a selection of hands) gives the same id in every export, such as
    the seed in the header of the log.
    """

    def __init__(self, match_id: str | None) -> None:
        self._match_id = match_id
        self._base: int | None = None

    def number(self, record: HandRecord) -> int:
        if self._base is None:
            self._base = match_base(record, self._match_id)
        return exported_number(self._base, record.hand_number)


def is_next_of_match(record: HandRecord, before: HandRecord | None) -> bool:
    """Return whether a hand may be a later one of the match of the hand before it."""
    return (
        before is not None
        and record.hand_number > before.hand_number
        and record.names_by_seat == before.names_by_seat
        and record.match_name == before.match_name
        and record.currency == before.currency
        and record.game == before.game
    )


def match_base(record: HandRecord, match_id: str | None) -> int:
    """Return the base of a match's numbers for `exported_number`.

    Args:
        record: the first written hand of the match.
        match_id: distinguishes the match from others of its name, players and game; None takes the hand.
    """
    game = record.game
    rules = (
        game.betting.value,
        game.stacks,
        game.blinds,
        game.raise_sizes,
        game.max_raises,
    )
    # The identity consists of facts that both a dealer and a log know. Matches of the same name, players and game
    # differ in the line of their first hand, which ends in LF.
    if match_id is not None:
        identity = f"{match_id}\n"
    else:
        identity = format_state_line(record)
    text = f"{record.match_name}\0{'|'.join(record.names_by_seat)}\0{rules}\0{identity}"
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest) % (_SPAN // _PER_MATCH) * _PER_MATCH


def exported_number(base: int, number: int) -> int:
    """Return the twelve-digit number of a hand; `base` is that of `match_base`."""
    return _MIN_NUMBER + (base + number) % _SPAN


def is_exported_number(number: int) -> bool:
    """Return whether a hand number is in the range of exported numbers."""
    return _MIN_NUMBER <= number < _MIN_NUMBER + _SPAN
