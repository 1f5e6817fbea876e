"""What players remarked, kept beside a log: ``match.comments`` beside ``match.log``, a JSON object a line.

    {"hand_number": 17, "seat": 1, "action_index": 3, "text": "# I have queen high"}

The lines of a hand stand together, the hands in the order of the log. The text is the player's line, byte by byte as
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
        ValueError: it holds none.
    """
    try:
        data = json.loads(line)
        numbers = data["hand_number"], data["seat"], data["action_index"]
        text = data["text"]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"no comment stands in {line[:80]!r}") from error
    if not isinstance(text, str) or not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError(f"no comment stands in {line[:80]!r}")
    return numbers[0], PlayerComment(Seat(numbers[1]), numbers[2], text)
