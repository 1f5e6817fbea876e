"""Every recorded match through both ways of a reply: taken at once by the betting node, and judged from its bytes."""

from __future__ import annotations

from typing import Any

import pytest

from dealer.match import MatchSetup
from dealer.match.events import LogLine
from dealer.match.match_play import Play
from engine import Seat
from protocol import parse_game_definition
from tests.conformance.scripted import DATA, Script
from tests.conformance.test_recorded_matches import CASES, recording, script_of
from tests.dealer.helpers import Board


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The replies that were taken at once."""
    replies: list[bytes] = []
    receive_reply = Play.receive_reply

    def counted(play: Play, data: bytes, arrived_ns: int | None = None) -> bool:
        is_taken = receive_reply(play, data, arrived_ns)
        if is_taken:
            replies.append(data)
        return is_taken

    monkeypatch.setattr(Play, "receive_reply", counted)
    return replies


def _played(setup: MatchSetup, script: Script, *, is_cut: bool) -> Board:
    """The match when its replies come whole, or in two pieces."""
    board = Board(setup, wants_lines=False).connect_all()
    for reply in script.replies:
        half = len(reply.data) // 2
        for piece in (reply.data[:half], reply.data[half:]) if is_cut else (reply.data,):
            board.match.receive(Seat(reply.seat), piece)
    return board


@pytest.mark.parametrize("match", CASES)
def test_both_ways_of_a_reply_play_the_recorded_match(match: dict[str, Any], taken: list[bytes]) -> None:
    files = recording(match)
    script = script_of(match, files)
    game = parse_game_definition((DATA / "games" / match["game"]).read_text("latin-1"))
    is_fixed = "-f" in match["opts"].split()
    setup = MatchSetup(game, match["name"], match["hands"], match["seed"], tuple(match["names"]), fixed_seats=is_fixed)
    log = [line + "\n" for line in files["log"].decode().splitlines() if not line.startswith("#")]
    counts = []
    for is_cut in (False, True):
        taken.clear()
        board = _played(setup, script, is_cut=is_cut)
        assert [bytes(sent) for sent in board.sent] == script.received
        assert board.log == log
        assert [event.line.decode() for event in board.recorder.events if isinstance(event, LogLine)] == log[
            : len(log) - 1
        ]
        counts.append((len(taken), len(board.recorder.faults)))
    (at_once, faults), (never, faults_of_cut) = counts
    assert (never, faults) == (0, faults_of_cut)
    assert at_once > len(script.replies) / 2
