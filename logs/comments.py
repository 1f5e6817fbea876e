"""What players said, kept with a log: ``match.comments`` goes with ``match.log``, a JSON object per line.

    {"hand_number": 17, "seat": 1, "action_index": 3, "text": "# I have queen high"}

The lines of a hand are consecutive, the hands in the order of the log. The text is the player's line, byte by byte as
characters of Latin-1, as everywhere in this package.
"""

from __future__ import annotations

import json

from engine import Seat
from logs.record import PlayerComment

__all__ = ["format_comment", "parse_comment"]


def format_comment(hand_number: int, comment: PlayerComment) -> str:
    """The line of one comment, with its LF."""
    return json.dumps({"hand_number": hand_number} | comment._asdict()) + "\n"


def parse_comment(line: str) -> tuple[int, PlayerComment]:
    """The hand and the comment of a line.

    Raises:
        ValueError: it is not a comment.
    """
    try:
        data = json.loads(line)
        numbers = data["hand_number"], data["seat"], data["action_index"]
        text = data["text"]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{line[:80]!r} is not a comment") from error
    if not isinstance(text, str) or not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError(f"{line[:80]!r} is not a comment")
    return numbers[0], PlayerComment(Seat(numbers[1]), numbers[2], text)
