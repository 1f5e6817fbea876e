"""Findings for all faults of `peers`, with kind and byte, and none for good bots."""

from __future__ import annotations

import pytest

from bots.sdk.conversation import Conversation
from bots.sdk.registry import make_bot
from dealer.doctor.findings import SituationState
from dealer.doctor.judge import Kind, Severity
from engine import Game
from protocol import parse_game_definition
from tests.dealer.doctor.local_host import examine
from tests.dealer.doctor.peers import FAULTS, Chatty, Peer, WithLf
from tests.dealer.helpers import FIRST_ROUND_BOARD, game

GAMES = (
    "limit",
    "nolimit",
    "nolimit3",
    "kuhn",
    "kuhn3",
    "leduc",
    "leduc-nolimit",
    "limit10",
    "sidepots.nolimit.3p.game",
)


class BuiltIn:
    """Built-in bot in this process."""

    exit_code = 0

    def __init__(self, spec: str, game: Game) -> None:
        self._conversation = Conversation(make_bot(spec, 1), game)

    def open(self) -> bytes:
        return self._conversation.open()

    def receive_data(self, data: bytes) -> bytes:
        return self._conversation.receive_data(data)

    def on_silence(self, seconds: float) -> None:
        pass


@pytest.mark.sampled
@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_reported_with_kind_and_byte(name: str) -> None:
    fault = FAULTS[name]
    findings = {group.kind: group for group in examine(fault.make, game(fault.game)).findings}
    assert fault.kind in findings
    assert set(findings) <= {fault.kind} | fault.others
    first = findings[fault.kind]
    if fault.marked is not None:
        assert first.line.encode("latin-1")[first.byte - 1 :].startswith(fault.marked)
        assert first.byte <= len(first.line) + 1
    if fault.marked == b"":
        assert first.byte == len(first.line) + 1
    if fault.situation:
        assert first.situation == fault.situation
    assert first.wrong
    assert first.expected
    assert first.advice.endswith(".")


def test_every_kind_is_among_the_faults() -> None:
    # Other tests cover these.
    other_kinds = {Kind.NO_CONNECTION, Kind.TWO_PIECES}
    assert {fault.kind for fault in FAULTS.values()} == set(Kind) - other_kinds


SPECS = (
    "calling",
    "folding",
    "raising",
    "random",
    "random?fold=0.4",
    "constant?action=raise,size=allin",
    "constant?action=raise,size=1.0",
)


def find_rules(name: str) -> Game:
    return parse_game_definition(FIRST_ROUND_BOARD) if name == "board at once" else game(name)


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*GAMES, "board at once"])
@pytest.mark.parametrize("spec", SPECS)
def test_built_in_bot_passes(spec: str, name: str) -> None:
    examination = examine(lambda rules: BuiltIn(spec, rules), find_rules(name))
    assert list(examination.findings) == []
    assert {outcome.result for outcome in examination.rows} <= {SituationState.OK, SituationState.NOT_IN_GAME}


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("make", [Peer, Chatty, WithLf])
def test_unusual_good_bot_passes(make: type[Peer], name: str) -> None:
    findings = list(examine(make, game(name)).findings)
    if make is WithLf:
        assert [(first.kind, first.severity) for first in findings] == [(Kind.LINE_END, Severity.WARNING)]
    else:
        assert findings == []


@pytest.mark.sampled
@pytest.mark.parametrize("name", GAMES)
def test_game_has_the_situations_that_its_rules_allow(name: str) -> None:
    rows = {outcome.name: outcome for outcome in examine(Peer, game(name)).rows}
    missing = {name for name, row in rows.items() if row.result is SituationState.NOT_IN_GAME}
    if name == "sidepots.nolimit.3p.game":
        assert missing == set()
    elif game(name).is_limit:
        assert missing == {"all-in", "side-pots"}
    else:
        assert missing == {"side-pots"}
    for name, row in rows.items():
        assert bool(row.hands) == (name not in missing | {"handshake", "end-of-match", "empty-match"})
