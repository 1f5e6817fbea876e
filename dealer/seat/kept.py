"""What a break must not lose of a sitting, beside the logs: a small file in the folder of the run.

seat.json      how far the person had come in the hand that goes on, and how long a decision may take
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bots.human import Played
from logs.whole_file import write_whole

__all__ = ["SEAT_FILE", "Kept", "read_kept", "write_kept"]

SEAT_FILE: Final = "seat.json"
_MOST_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a sitting.

    Attributes:
        decision_s: how long a decision may take; None without limit.
        played: how far the person had come in the hand that was going on; None in no hand.
    """

    decision_s: float | None = None
    played: Played | None = None


def read_kept(folder: Path) -> Kept:
    """What is kept in the folder of a run; nothing where there is no such file, or one that is not ours.

    Without it the person begins the hand that was going on anew, and without a limit: the cards are the same.
    """
    try:
        with (folder / SEAT_FILE).open("rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
        played, decision_s = found["played"], found["decision_s"]
        return Kept(
            None if decision_s is None else float(decision_s),
            None if played is None else Played(int(played["hand_number"]), str(played["betting"])),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return Kept()


def write_kept(folder: Path, kept: Kept) -> None:
    """Keep this, also if the process is killed; a power cut may cost the hand that goes on, which is begun anew then.

    It is written for every action, and nobody waits for the disk: that would take most of the time of an action.

    Raises:
        OSError: it cannot be written.
    """
    write_whole(folder / SEAT_FILE, json.dumps(asdict(kept)) + "\n", is_synced=False)
