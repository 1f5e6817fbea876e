"""What players said, kept with a log: ``match.comments`` goes with ``match.log``, a JSON object per line.

    {"hand_number": 17, "seat": 1, "action_index": 3, "text": "# I have queen high"}

The lines of a hand are consecutive, the hands in the order of the log. The file is UTF-8, and so is what most players
write; a byte of theirs that is not is kept as a surrogate escape (``\\udcff``), as everywhere in this package. Files of
earlier versions are all ASCII and hold a character of Latin-1 for each byte.
"""

from __future__ import annotations

import re
from typing import Final

from engine import Seat
from engine.errors import quoted
from logs.record import PlayerComment

_ESCAPED_BYTE: Final = re.compile(r"[\udc80-\udcff]")
_LATIN_1: Final = re.compile(r"[\x00-\xff]*")


def format_comment(hand_number: int, comment: PlayerComment) -> str:
    """The line of one comment, with its LF."""
    import json

    text = json.dumps({"hand_number": hand_number} | comment._asdict(), ensure_ascii=False)
    return _ESCAPED_BYTE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def parse_comment(line: str) -> tuple[int, PlayerComment]:
    """The hand and the comment of a line.

    Raises:
        ValueError: it is not a comment.
    """
    import json

    try:
        data = json.loads(line)
        numbers = data["hand_number"], data["seat"], data["action_index"]
        text = data["text"]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{quoted(line)} is not a comment") from error
    if not isinstance(text, str) or not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError(f"{quoted(line)} is not a comment")
    if line.isascii() and not text.isascii() and _LATIN_1.fullmatch(text):
        text = text.encode("latin-1").decode("utf-8", "surrogateescape")
    return numbers[0], PlayerComment(Seat(numbers[1]), numbers[2], text)
