"""Recognise hand histories of card rooms that cannot be read, by the first lines of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_TRACKER: Final = "use a tracker that exports it in the format of PokerStars, which is read"
_POKERKIT: Final = "PokerKit converts it to PHH, which is read"


class Room(NamedTuple):
    """A card room or a network of card rooms.

    Attributes:
        pattern: regular expression for the beginning of a line, case-insensitive.
        advice: way to convert its hands into a format that is read.
    """

    name: str
    pattern: str
    advice: str = _TRACKER


ROOMS: Final = (
    Room("Winamax", r"winamax poker - "),
    Room("888poker", r"\*+ ?(888poker|888\.\w+|cassava|pacific poker)|888poker hand history"),
    Room("PartyPoker", r"\*+ ?hand history for game [0-9a-z]+ \*|game #[0-9]+ starts", _POKERKIT),
    Room("iPoker", r"(<\?xml[^>]*> *)?<session sessioncode=", _POKERKIT),
    Room("Merge", r"<description type=\"|<game id=\"[0-9-]+\" starttime="),
    Room(
        "Ignition or Bovada",
        r"(ignition|bovada|bodog) hand #",
        "ic2ps converts it to the format of PokerStars, which is read",
    ),
    Room(
        "PokerNow",
        r"\"?entry\"?,\"?at\"?,\"?order\"?|\"?-- starting hand #",
        "PokerNowLogConverter converts it to the format of PokerStars, which is read",
    ),
    Room("Full Tilt Poker", r"full ?tilt poker (game|hand) #", _POKERKIT),
    Room("Absolute Poker or UltimateBet", r"stage #", _POKERKIT),
    Room("Ongame", r"\*+ ?history for hand ", _POKERKIT),
    Room("the Winning network (Americas Cardroom)", r"game started at: |game id: [0-9]+ |(game )?hand #[0-9]+ - "),
    Room("Microgaming", r"<game (hhversion=\"[0-9]+\" )?id=\"[0-9]+\" date=|-+PRIMA\.DAT"),
    Room("Boss Media", r"<history id="),
    Room("Everest Poker", r"<session time=|everestpoker game #"),
    Room("BetOnline", r"betonline poker game #"),
    Room("PKR", r"starting hand #"),
    Room("Cake Poker", r"hand#[0-9]+ - "),
)
"""Card rooms, of which the first with a matching pattern is named."""

_OTHER: Final = re.compile(r"\*+ ?[\w ]*hand history for|\*+ ?#?game|(?!pokerstars)[\w ]*(hand|game) ?#", re.IGNORECASE)


def room_of(lines: Sequence[str]) -> str | None:
    """Describe the card room that wrote a text, with advice; None for other texts.

    Args:
        lines: first lines of a file.

    Returns:
        A sentence without a full stop.
    """
    stripped = [line.strip("\ufeff \t\r\n") for line in lines]
    # A file can match several rooms. In 888poker's files, a line of PartyPoker's pattern comes before the one that
    # names the room, so that the order of the rooms decides, not the order of the lines.
    for room in ROOMS:
        pattern = re.compile(room.pattern, re.IGNORECASE)
        if any(map(pattern.match, stripped)):
            return f"it looks like a hand history of {room.name}: {room.advice}"
    if any(map(_OTHER.match, stripped)):
        return f"it looks like a hand history of another card room: {_TRACKER}"
    return None
