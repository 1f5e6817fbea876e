"""A match without sockets from the handshake to the score: cards, lines, events and their order."""

from __future__ import annotations

import json
import lzma
import tarfile
from io import BytesIO
from typing import Any

import pytest

from dealer.match import Match, Phase
from dealer.match.causes import NobodyLeft, NotStarted, StartProblem
from dealer.match.events import (
    ActionPlayed,
    HandClosed,
    HandFinished,
    HandPlayed,
    LogLine,
    MatchEnded,
    MatchStarted,
    Settled,
)
from dealer.match.faults import FaultKind
from dealer.reference.command import format_failure
from engine import Seat, deal_hand
from logs import HandRecord
from protocol import parse_game_definition
from tests.dealer.helpers import (
    ALL_IN_BLINDS,
    CONFORMANCE,
    FIRST_ROUND_BOARD,
    VERSION,
    Board,
    Clock,
    FullDisk,
    always,
    game,
    make_setup,
    random_policy,
)

KUHN = game("kuhn")
GAMES = ["kuhn", "leduc", "limit", "nolimit", "holdem.limit.3p", "sidepots.nolimit.3p.game", "holdem.limit.10p"]


# ---- handshake


def test_match_starts_when_all_players_have_sent_their_version() -> None:
    board = Board(make_setup(KUHN, 1))
    board.connect(0)
    assert board.match.phase is Phase.CONNECTING
    assert board.recorder.calls == []
    board.connect(1, b"")
    assert board.match.phase is Phase.GREETING
    assert board.match.is_asked(Seat(1))
    board.send(1, VERSION)
    assert board.match.phase is Phase.PLAYING
    assert board.recorder.calls[1] == "MatchStarted"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_seats_can_connect_in_any_order(order: tuple[int, ...]) -> None:
    board = Board(make_setup(game("kuhn.limit.3p.game"), 1))
    for seat in order:
        board.connect(seat)
    assert board.match.phase is Phase.PLAYING


@pytest.mark.parametrize(
    ("hello", "has_warning"),
    [
        (b"VERSION:1.0.0\r\n", True),
        (b"VERSION:2.1.0\r\n", True),
        (b"VERSION:3.0.0\n", True),
        (b"VERSION:2.0.0\n", False),
        (b"VERSION: 2.0.0\r\n", False),
        (b"VERSION:2.0.0 and more\r\n", False),
    ],
)
def test_another_version_is_reported_and_play_continues(hello: bytes, has_warning: bool) -> None:
    board = Board(make_setup(KUHN, 1))
    board.connect(0, hello)
    board.connect(1)
    assert board.match.phase is Phase.PLAYING
    warnings = ["ERROR: this server is currently using version 2.0.0"] if has_warning else []
    assert board.recorder.warnings == warnings


@pytest.mark.parametrize("hello", [b"HELLO\r\n", b"version:2.0.0\r\n", b"\r\n", b"# first a comment\r\n", b"\0\n"])
def test_first_line_without_a_version_ends_the_match(hello: bytes) -> None:
    board = Board(make_setup(KUHN, 1))
    board.connect(1)
    board.connect(0, hello)
    failure = board.match.failure
    assert board.match.phase is Phase.FAILED
    assert failure is not None
    assert failure.seat == 0
    assert failure.kind is FaultKind.MALFORMED_REPLY
    assert format_failure(failure) == "ERROR: invalid version string " + hello.split(b"\0")[0].decode()
    assert board.recorder.calls[-1] == "MatchEnded early"
    assert "MatchStarted" not in board.recorder.calls


def test_versions_are_judged_in_seat_order() -> None:
    board = Board(make_setup(KUHN, 1))
    board.connect(1, b"HELLO\r\n")
    board.connect(0, b"")
    assert board.match.phase is Phase.GREETING
    board.send(0, VERSION)
    assert board.match.failure is not None
    assert board.match.failure.seat == 1


def test_player_that_leaves_before_its_version_ends_the_match() -> None:
    board = Board(make_setup(KUHN, 1))
    board.connect(0)
    board.connect(1, b"")
    board.match.receive_eof(Seat(1))
    failure = board.match.failure
    assert failure is not None
    assert format_failure(failure) == "ERROR: could not read version string from seat 2\n"
    assert failure.seat == 1
    assert failure.kind is FaultKind.DISCONNECT


def test_version_without_line_end_counts_once_the_player_has_closed_the_connection() -> None:
    board = Board(make_setup(KUHN, 1))
    board.connect(0, b"VERSION:2.0.0")
    board.connect(1)
    assert board.match.phase is Phase.GREETING
    board.match.receive_eof(Seat(0))
    assert "MatchStarted" in board.recorder.calls
    assert board.recorder.failure is not None
    assert format_failure(board.recorder.failure).startswith("ERROR: could not get action from seat 1")


# ---- whole hands


def _cards(line: bytes) -> str:
    """Cards of a state line."""
    return line.decode().rstrip().rpartition(":")[2]


def test_lines_of_a_hand_of_kuhn() -> None:
    board = Board(make_setup(KUHN, 2, seed=42)).connect_all()
    assert board.sent[0].startswith(b"MATCHSTATE:0:0::")
    own = _cards(board.sent[0]).strip("|")
    other = _cards(board.sent[1]).strip("|")
    assert board.sent == [f"MATCHSTATE:0:0::{own}|\r\n".encode(), f"MATCHSTATE:1:0::|{other}\r\n".encode()]
    assert board.acting_seat == 0
    board.reply("r")
    assert board.acting_seat == 1
    board.reply("c")
    # The last state of a hand and the first of the next one are sent together. The button has moved.
    hand, following = board.read(0).decode().splitlines()[-2:]
    assert hand == f"MATCHSTATE:0:0:rc:{own}|{other}"
    assert following.startswith("MATCHSTATE:1:1::|")
    assert board.acting_seat == 1
    assert board.log[0].startswith(f"STATE:0:rc:{own}|{other}:")
    assert len({own, other} & {"Qs", "Ks", "As"}) == 2


def test_folded_cards_are_in_the_log_only() -> None:
    board = Board(make_setup(KUHN, 1)).connect_all()
    board.reply("r")
    board.reply("f")
    assert board.last_line(0).decode().rstrip().endswith("|")
    assert _cards(board.last_line(1)).startswith("|")
    cards = board.log[0].split(":")[3]
    assert len(cards) == 5


def test_folded_player_sees_the_showdown_but_its_cards_stay_hidden() -> None:
    board = Board(make_setup(game("kuhn.limit.3p.game"), 1)).connect_all()
    for action in ("r", "f", "c"):
        board.reply(action)
    cards = [_cards(board.last_line(seat)).split("|") for seat in range(3)]
    a, b, c = board.log[0].split(":")[3].split("|")
    assert cards == [[a, "", c], [a, b, c], [a, "", c]]


def test_whole_board_is_dealt_after_an_all_in() -> None:
    board = Board(make_setup(game("nolimit"), 1, seed=7)).connect_all()
    board.reply("r20000")
    board.reply("c")
    betting, cards = board.log[0].split(":")[2:4]
    assert betting == "r20000c///"
    assert [len(part) for part in cards.split("/")[1:]] == [6, 2, 2]
    assert board.match.phase is Phase.FINISHED


def test_order_of_events() -> None:
    board = Board(make_setup(KUHN, 1)).connect_all()

    def take_calls() -> list[str]:
        calls = board.recorder.calls
        board.recorder.calls = []
        assert calls[-1] == "Settled"
        return [call for call in calls if call != "Settled"]

    assert take_calls() == ["MatchStarted", "HandStarted", "LineSent 0", "LineSent 1"]
    board.reply("c")
    assert take_calls() == ["LineReceived 0", "ActionPlayed", "LineSent 0", "LineSent 1"]
    board.reply("c")
    assert take_calls() == [
        "LineReceived 1",
        "ActionPlayed",
        "HandPlayed",
        "LogLine",
        "HandFinished",
        "LineSent 0",
        "LineSent 1",
        "HandClosed",
        "MatchEnded",
    ]


def test_line_events_reach_only_watchers_that_want_them() -> None:
    board = Board(make_setup(KUHN, 1), wants_lines=False).connect_all()
    board.play([always("c")] * 2)
    assert not [call for call in board.recorder.calls if call.startswith("Line")]


def test_only_writes_to_the_player_to_act_are_marked_as_questions() -> None:
    board = Board(make_setup(KUHN, 2), wants_lines=False).connect_all()
    assert {(seat, is_question) for seat, _, is_question in board.writes} == {(0, True), (1, False)}
    board.writes.clear()
    board.reply("c")
    assert {(seat, is_question) for seat, _, is_question in board.writes} == {(0, False), (1, True)}
    board.writes.clear()
    board.reply("c")
    # Seat 1 acts first in hand 1. Each seat gets the last state and the next one in one write.
    writes = sorted((seat, data.count(b"\n"), is_question) for seat, data, is_question in board.writes)
    assert writes == [(0, 2, False), (1, 2, True)]


@pytest.mark.sampled
@pytest.mark.parametrize("name", GAMES)
def test_watching_lines_does_not_change_the_match(name: str) -> None:
    setup = make_setup(game(name), 12, 5)
    players = [random_policy(seat) for seat in range(setup.game.num_players)]
    watched, unwatched = (Board(setup, wants_lines=wants).connect_all().play(players) for wants in (True, False))
    assert watched.sent == unwatched.sent
    assert watched.log == unwatched.log
    assert [action[:2] for action in watched.recorder.actions] == [action[:2] for action in unwatched.recorder.actions]


@pytest.mark.sampled
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_chips_are_conserved_and_cards_follow_from_the_seed(name: str, seed: int) -> None:
    setup = make_setup(game(name), 12, seed)
    players = setup.game.num_players
    board = Board(setup).connect_all().play([random_policy(seat) for seat in range(players)])
    assert board.match.phase is Phase.FINISHED
    assert board.recorder.totals == board.match.totals
    assert sum(board.match.totals) == pytest.approx(0.0, abs=1e-6)
    assert board.match.hands_played == len(board.recorder.records) == 12
    for number, record in enumerate(board.recorder.records):
        assert record.hand_number == number
        assert record.deal == deal_hand(setup.game, seed, number)
        assert record.seats[0] == number % players
        assert len(record.times) == sum(map(len, record.betting.rounds))
        assert sum(record.values) == pytest.approx(0.0, abs=1e-6)
    assert board.recorder.faults == []


def test_fixed_seats_keep_the_button() -> None:
    setup = make_setup(game("holdem.limit.3p"), 6, fixed_seats=True)
    board = Board(setup).connect_all().play([random_policy()] * 3)
    assert {record.seats for record in board.recorder.records} == {(0, 1, 2)}
    assert all(line.endswith(":A|B|C\n") for line in board.log)


@pytest.mark.parametrize("name", ["kuhn", "nolimit", "sidepots.nolimit.3p.game"])
def test_slices_of_a_match_deal_the_same_hands(name: str) -> None:
    players = [random_policy(5)] * game(name).num_players
    whole = Board(make_setup(game(name), 12, 9)).connect_all().play(players)
    parts = [
        Board(make_setup(game(name), hands, 9, first_hand=first)).connect_all().play(players)
        for first, hands in ((0, 5), (5, 4), (9, 3))
    ]
    assert [line for part in parts for line in part.log[:-1]] == whole.log[:-1]
    assert parts[1].recorder.records[0].hand_number == 5


def test_hands_without_decisions_are_dealt_to_the_end() -> None:
    rules = parse_game_definition(ALL_IN_BLINDS)
    board = Board(make_setup(rules, 3)).connect_all()
    assert board.match.phase is Phase.FINISHED
    assert len(board.log) == 4
    assert board.sent[0].count(b"\n") == 3
    for line, record in zip(board.sent[0].decode().split(), board.recorder.records, strict=True):
        cards = line.split(":")[4]
        assert "" not in cards.partition("/")[0].split("|")
        assert len(cards.partition("/")[2]) == 6
        assert sorted(record.values) in ([-10, 10], [0, 0])
        assert record.times == ()


def test_game_with_board_cards_in_the_first_round_is_played() -> None:
    board = Board(make_setup(parse_game_definition(FIRST_ROUND_BOARD), 10)).connect_all()
    first_line = board.sent[0].decode().rstrip()
    assert "/" not in first_line
    assert len(first_line.rpartition("|")[2]) == 4
    board.play([random_policy(1), random_policy(2)])
    assert board.match.phase is Phase.FINISHED
    assert board.recorder.warnings == []


@pytest.mark.parametrize(
    "name", [pytest.param("holdem.nolimit.3p.s42", marks=pytest.mark.slow), "leduc.limit.2p.wild", "kuhn.limit.3p.s0"]
)
def test_recorded_match_is_reproduced(name: str) -> None:
    """The actions of the transaction log reproduce the log."""
    manifest: list[dict[str, Any]] = json.loads((CONFORMANCE / "manifest.json").read_text())
    entry = next(match for match in manifest if match["name"] == name)
    raw = lzma.decompress((CONFORMANCE / "matches" / f"{name}.tar.xz").read_bytes())
    with tarfile.open(fileobj=BytesIO(raw)) as tar:
        files = {member.name.rpartition(".")[2]: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    setup = make_setup(game(entry["game"]), entry["hands"], entry["seed"], fixed_seats="-f" in entry["opts"].split())
    board = Board(setup).connect_all()
    for line in files["tlog"].decode().splitlines():
        board.reply(line.split()[0])

    letters = dict(zip(entry["names"], setup.names, strict=True))
    expected = []
    for line in files["log"].decode().splitlines():
        if line.startswith("STATE"):
            state, _, recorded_names = line.rpartition(":")
            names = "|".join(letters[recorded_name] for recorded_name in recorded_names.split("|"))
            expected.append(f"{state}:{names}\n")
    assert board.log[:-1] == expected
    assert board.log[-1].split(":")[1] == entry["score"].split(":")[1]


# ---- failures


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        (MatchStarted, 0),
        (ActionPlayed, 0),
        (ActionPlayed, 3),
        (HandPlayed, 1),
        (LogLine, 1),
        (HandFinished, 1),
        (HandClosed, 0),
        (Settled, 2),
    ],
)
def test_full_disk_ends_the_match(kind: type, after: int) -> None:
    board = Board(make_setup(KUHN, 5), watchers=[FullDisk(kind, after)]).connect_all().play([always("c")] * 2)
    assert board.match.phase is Phase.FAILED
    assert format_failure(board.match.failure) == "ERROR: could not write m.log: No space left on device\n"
    failure = board.match.failure
    assert failure is not None
    assert failure is board.recorder.failure
    assert failure.seat is None
    assert failure.kind is None
    assert board.match.deadline_ns is None


def test_full_disk_at_the_score_ends_the_match() -> None:
    board = Board(make_setup(KUHN, 2), watchers=[FullDisk(MatchEnded)]).connect_all().play([always("c")] * 2)
    assert board.match.phase is Phase.FAILED
    assert format_failure(board.match.failure) == "ERROR: could not write m.log: No space left on device\n"


def test_broken_connection_is_a_fault_of_its_seat() -> None:
    board = Board(make_setup(KUHN, 5))
    board.connect(0)

    def write(data: bytes, is_asked: bool) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    board.match.connect(Seat(1), write)
    board.send(1, VERSION)
    failure = board.match.failure
    assert failure is not None
    assert format_failure(failure) == "ERROR: could not send state to seat 2\n"
    assert failure.seat == 1
    assert failure.kind is FaultKind.DISCONNECT


def test_match_fails_only_once() -> None:
    clock = Clock()
    board = Board(make_setup(KUHN, 5)).connect_all()
    first_cause = NotStarted(Seat(1), StartProblem.ENDED)
    board.match.fail(first_cause)
    board.match.fail(NobodyLeft())
    assert board.match.failure is first_cause
    assert board.recorder.calls.count("MatchEnded early") == 1
    board.send(0, b"anything\n")
    board.match.receive_eof(Seat(1))
    board.match.check_time(clock.now_ns * 10**6)
    assert board.match.failure is first_cause


def test_finished_match_cannot_fail() -> None:
    board = Board(make_setup(KUHN, 1)).connect_all().play([always("c")] * 2)
    board.match.fail(NobodyLeft())
    board.match.receive_eof(Seat(0))
    assert board.match.phase is Phase.FINISHED
    assert board.match.failure is None
    assert "MatchEnded early" not in board.recorder.calls


def test_watchers_receive_records_that_do_not_change() -> None:
    board = Board(make_setup(KUHN, 3)).connect_all().play([always("c")] * 2)
    record = board.recorder.records[0]
    assert isinstance(record, HandRecord)
    assert record.match_name == "test"
    assert record.names_by_seat == ("A", "B")
    assert record.game == KUHN
    assert record.name_at(record.betting.rounds[0][0][0]) == "A"


def test_interleaved_matches_do_not_affect_each_other() -> None:
    players = [random_policy(3), random_policy(4)]
    expected = Board(make_setup(game("nolimit"), 10, 3)).connect_all().play(players).log
    board = Board(make_setup(game("nolimit"), 10, 3)).connect_all()
    other_board = Board(make_setup(game("nolimit"), 10, 4)).connect_all()
    for hands in range(1, 11):
        board.play(players, hands=hands)
        if other_board.match.phase is Phase.PLAYING:
            other_board.reply(("c", "r300", "f", "junk")[hands % 4])
    assert board.log == expected


def test_match_needs_no_watchers() -> None:
    match = Match(make_setup(KUHN, 1))
    assert match.phase is Phase.CONNECTING
