"""The log of a match: its beginning, its end and every fault, with the match and the player. Silent by default."""

from __future__ import annotations

import logging

from dealer.match.ending_sentences import sentence_of, stray_sentence
from dealer.match.events import Event, FaultSeen, MatchEnded, MatchStarted, StrayConnection, VersionDiffers, Watcher
from dealer.match.setup import MatchSetup

_log = logging.getLogger("dealer.match")


class Journal(Watcher):
    """Logs what happens in a match, to the logger ``dealer.match``."""

    wants = frozenset({MatchStarted, FaultSeen, StrayConnection, VersionDiffers, MatchEnded})

    def __init__(self, setup: MatchSetup) -> None:
        self._setup = setup

    def notice(self, event: Event) -> None:
        """Log it."""
        setup = self._setup
        if isinstance(event, MatchStarted):
            _log.info("match %s: started", setup.name)
        elif isinstance(event, FaultSeen):
            fault = event.fault
            hand = f"hand {fault.hand_number}" if fault.hand_number >= 0 else "before the first hand"
            where = (setup.name, fault.seat + 1, setup.names[fault.seat], hand)
            _log.warning("match %s, seat %d (%s), %s: %s, %s", *where, fault.kind.value, fault.remedy.value)
        elif isinstance(event, VersionDiffers):
            _log.warning("match %s: %s names another version than 2.0.0", setup.name, setup.names[event.seat])
        elif isinstance(event, StrayConnection):
            _log.warning("match %s: %s", setup.name, stray_sentence(event, setup.names[event.seat]))
        elif isinstance(event, MatchEnded):
            if event.cause is None:
                _log.info("match %s: finished", setup.name)
            else:
                sentence = sentence_of(event.cause, setup.names, setup.first_hand + event.hands)
                _log.warning("match %s: %s", setup.name, sentence)
