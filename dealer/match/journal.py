"""Log the start, the end and every fault of a match with the standard library's `logging`."""

from __future__ import annotations

import logging

from dealer.match.ending_sentences import cause_sentence, stray_sentence
from dealer.match.events import Event, FaultSeen, MatchEnded, MatchStarted, StrayConnection, VersionDiffers, Watcher
from dealer.match.setup import MatchSetup

_log = logging.getLogger("dealer.match")


class Journal(Watcher):
    """Logs events of a match to the logger ``dealer.match``."""

    wants = frozenset({MatchStarted, FaultSeen, StrayConnection, VersionDiffers, MatchEnded})

    def __init__(self, setup: MatchSetup) -> None:
        self._setup = setup

    def notice(self, event: Event) -> None:
        setup = self._setup
        if isinstance(event, MatchStarted):
            _log.info("match %s: started", setup.name)
        elif isinstance(event, FaultSeen):
            fault = event.fault
            hand = "before the first hand"
            if fault.hand_number >= 0:
                hand = f"hand {fault.hand_number}"
            seat = f"seat {fault.seat + 1} ({setup.names[fault.seat]})"
            text = f"{fault.kind.value}, {fault.remedy.value}"
            _log.warning("match %s, %s, %s: %s", setup.name, seat, hand, text)
        elif isinstance(event, VersionDiffers):
            _log.warning("match %s: %s names another version than 2.0.0", setup.name, setup.names[event.seat])
        elif isinstance(event, StrayConnection):
            _log.warning("match %s: %s", setup.name, stray_sentence(event, setup.names[event.seat]))
        elif isinstance(event, MatchEnded):
            if event.cause is None:
                _log.info("match %s: finished", setup.name)
            else:
                sentence = cause_sentence(event.cause, setup.names, setup.first_hand + event.hands, shows_output=True)
                _log.warning("match %s: %s", setup.name, sentence)
