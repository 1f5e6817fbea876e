"""Replies of all kinds: the played action, the printed warning and the counted fault."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.match import Phase
from dealer.match.causes import NobodyLeft
from dealer.match.faults import FaultKind, Remedy
from dealer.match.writers import format_remedy
from dealer.reference.command import format_failure
from engine import Seat
from tests.dealer.helpers import Board, answer, game, make_setup, played_actions

BAD_STATE = "WARNING: bad state format in response"
STALE = "WARNING: ignoring un-requested response"
BAD_ACTION = "WARNING: bad action format in response, changed to call"
INVALID = "WARNING: invalid action, changed to call"


def _board(name: str, *actions: str, hands: int = 3) -> Board:
    board = Board(make_setup(game(name), hands)).connect_all()
    for action in actions:
        board.reply(action)
    board.recorder.warnings.clear()
    board.recorder.faults.clear()
    board.recorder.actions.clear()
    return board


@pytest.mark.parametrize(
    ("name", "actions", "text", "played", "warning", "kind"),
    [
        # Legal actions in all spellings.
        ("kuhn", (), "c", "c", None, None),
        ("kuhn", (), "k", "c", None, None),
        ("kuhn", (), "call me", "c", None, None),
        ("kuhn", (), "b", "r", None, None),
        ("kuhn", (), "R300", "r", None, None),
        ("kuhn", ("r",), "F", "f", None, None),
        ("nolimit", (), "r300", "r300", None, None),
        ("nolimit", (), "b300.9", "r300", None, None),
        ("nolimit", (), "r +300 x", "r300", None, None),
        ("nolimit", (), "r20000", "r20000", None, None),
        # Illegal actions.
        ("kuhn", (), "f", "c", INVALID, FaultKind.ILLEGAL_ACTION),
        ("kuhn", ("r",), "r", "c", INVALID, FaultKind.ILLEGAL_ACTION),
        ("nolimit", ("r20000",), "r20000", "c", INVALID, FaultKind.ILLEGAL_ACTION),
        ("nolimit", ("c",), "f", "c", INVALID, FaultKind.ILLEGAL_ACTION),
        # Sizes that are changed to legal ones.
        ("nolimit", (), "r150", "r200", "WARNING: raise of 150 increased to 200", FaultKind.ILLEGAL_ACTION),
        ("nolimit", (), "r-5", "r200", "WARNING: raise of -5 increased to 200", FaultKind.ILLEGAL_ACTION),
        ("nolimit", (), "r20001", "r20000", "WARNING: raise of 20001 decreased to 20000", FaultKind.ILLEGAL_ACTION),
        ("nolimit", (), "r4294967396", "r200", "WARNING: raise of 100 increased to 200", FaultKind.ILLEGAL_ACTION),
        ("nolimit", ("r300",), "r499", "r500", "WARNING: raise of 499 increased to 500", FaultKind.ILLEGAL_ACTION),
        # Unreadable sizes.
        ("nolimit", (), "r", "c", BAD_ACTION, FaultKind.MALFORMED_REPLY),
        ("nolimit", (), "rx", "c", BAD_ACTION, FaultKind.MALFORMED_REPLY),
        # Unknown letters, and no letter.
        ("kuhn", (), "x", "c", INVALID, FaultKind.MALFORMED_REPLY),
        ("kuhn", (), "", "c", INVALID, FaultKind.MALFORMED_REPLY),
        ("kuhn", (), "\0c", "c", INVALID, FaultKind.MALFORMED_REPLY),
        ("kuhn", (), "\xff", "c", INVALID, FaultKind.MALFORMED_REPLY),
    ],
)
def test_reply_to_the_current_state(
    name: str, actions: tuple[str, ...], text: str, played: str, warning: str | None, kind: FaultKind | None
) -> None:
    board = _board(name, *actions)
    seat = board.reply(text)
    assert played_actions(board) == [played]
    assert board.recorder.warnings == ([] if warning is None else [warning])
    assert [(fault.seat, fault.kind) for fault in board.recorder.faults] == ([] if kind is None else [(seat, kind)])
    for fault in board.recorder.faults:
        assert fault.line.endswith(b":" + text.encode("latin-1") + b"\r\n")
        assert format_remedy(fault) == f"played {played}"
        assert fault.hand_number == 0


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r\r\n", " \n"])
def test_line_ends_do_not_matter(end: str) -> None:
    board = _board("nolimit")
    board.reply("r300", end)
    assert played_actions(board) == ["r300"]
    assert board.recorder.warnings == []


def test_echoed_line_is_a_call() -> None:
    board = _board("kuhn")
    board.send(0, board.last_line(0))
    assert played_actions(board) == ["c"]
    assert board.recorder.warnings == [BAD_ACTION]
    assert board.recorder.faults[0].kind is FaultKind.MALFORMED_REPLY


def test_echo_with_cr_before_the_action_is_a_call() -> None:
    board = _board("kuhn")
    board.send(0, board.last_line(0).replace(b"\n", b"") + b":r\r\n")
    assert played_actions(board) == ["c"]
    assert board.recorder.warnings == [BAD_ACTION]


def test_lower_case_cards_and_leading_zeros_are_accepted() -> None:
    board = _board("kuhn")
    line = board.last_line(0)
    board.send(0, answer(line.replace(b":0:0:", b":00: +0:").swapcase().replace(b"matchstate", b"MATCHSTATE"), "r"))
    assert played_actions(board) == ["r"]
    assert board.recorder.warnings == []


@pytest.mark.parametrize(
    "junk",
    [
        b"\n",
        b"\r\n",
        b" # no comment\n",
        b"matchstate:0:0::Ks|:c\r\n",
        b"MATCHSTATE:\r\n",
        b"MATCHSTATE:9:0::Ks|:c\r\n",
        b"MATCHSTATE:0:0:x:Ks|:c\r\n",
        b"MATCHSTATE:0:0:frf:Ks|:c\r\n",
        b"VERSION:2.0.0\r\n",
        b"\xff\xfe\xfd\n",
        b"x" * 4000 + b"\n",
    ],
)
def test_line_without_a_state_is_ignored(junk: bytes) -> None:
    board = _board("kuhn")
    board.send(0, junk)
    assert board.recorder.warnings == [BAD_STATE]
    fault = board.recorder.faults[0]
    assert fault.seat == 0
    assert fault.kind is FaultKind.MALFORMED_REPLY
    assert fault.line == junk
    assert fault.remedy is Remedy.IGNORED
    assert played_actions(board) == []
    assert board.acting_seat == 0
    board.reply("r")
    assert played_actions(board) == ["r"]


def test_line_above_4095_bytes_is_split() -> None:
    board = _board("kuhn")
    board.send(0, b"#" + b"x" * 5999 + b"\r\n")
    assert board.recorder.warnings == [BAD_STATE]
    assert [len(line) for _, line in board.recorder.read[-2:]] == [4095, 6002 - 4095]


@pytest.mark.parametrize("change", [(b":0:0:", b":1:0:"), (b":0:0:", b":0:1:"), (b"::", b":c:")])
def test_reply_to_another_state_is_ignored(change: tuple[bytes, bytes]) -> None:
    board = _board("kuhn")
    line = board.last_line(0).replace(*change)
    if line.startswith(b"MATCHSTATE:1"):
        line = line.replace(b"|", b"").replace(b"::", b"::|")
    board.send(0, answer(line, "r"))
    assert board.recorder.warnings == [STALE]
    assert board.recorder.faults[0].kind is FaultKind.STALE_REPLY
    assert board.recorder.faults[0].remedy is Remedy.IGNORED
    assert played_actions(board) == []
    board.reply("r")
    assert played_actions(board) == ["r"]


def test_reply_with_other_cards_is_stale() -> None:
    board = _board("kuhn")
    own = board.last_line(0).rstrip().rpartition(b":")[2].strip(b"|")
    other = next(card for card in (b"Ks", b"Qs", b"As") if card != own)
    board.send(0, answer(board.last_line(0).replace(own, other), "c"))
    assert board.recorder.warnings == [STALE]


def test_repeated_reply_is_stale_at_the_next_turn() -> None:
    board = _board("kuhn", hands=2)
    reply = answer(board.last_line(0), "r")
    board.send(0, reply + reply)
    # The second copy stays unread until the next turn of seat 0.
    assert board.recorder.warnings == []
    assert board.match.buffered_bytes(Seat(0)) == len(reply)
    board.reply("c")
    board.reply("c")
    assert board.recorder.warnings == [STALE]
    assert board.match.buffered_bytes(Seat(0)) == 0


def test_lines_sent_out_of_turn_are_judged_at_the_turn() -> None:
    board = _board("kuhn")
    early = b"# thinking ahead\r\nnonsense\r\n" + answer(b"MATCHSTATE:1:0:r:" + board.last_line(1).split(b":")[4], "f")
    board.send(1, early)
    assert board.recorder.warnings == []
    assert board.match.buffered_bytes(Seat(1)) == len(early)
    board.reply("r")
    # Seat 1 had sent a reply to this state in advance.
    assert played_actions(board) == ["r", "f"]
    assert board.recorder.warnings == [BAD_STATE]
    assert [comment.text for comment in board.recorder.records[0].comments] == ["# thinking ahead"]


def test_all_replies_of_a_match_can_be_sent_in_advance() -> None:
    expected = Board(make_setup(game("kuhn"), 4)).connect_all()
    while expected.match.phase is Phase.PLAYING:
        expected.reply("c")
    board = Board(make_setup(game("kuhn"), 4))
    replies = {0: b"", 1: b""}
    for seat, line in expected.recorder.read:
        replies[seat] += line
    for seat in (0, 1):
        board.connect(seat, b"VERSION:2.0.0\r\n" + replies[seat])
    assert board.match.phase is Phase.FINISHED
    assert board.log == expected.log
    assert board.sent == expected.sent


def test_comments_are_part_of_the_hand_and_no_fault() -> None:
    board = _board("kuhn")
    board.send(0, b"# bluff\r\n")
    board.send(0, b"; really\n")
    board.reply("r")
    board.send(1, "#é\n".encode())
    board.send(1, b"#\xe9\n")
    board.reply("f")
    comments = board.recorder.records[0].comments
    assert [tuple(comment) for comment in comments] == [
        (0, 0, "# bluff"),
        (0, 0, "; really"),
        (1, 1, "#é"),
        (1, 1, "#\ufffd"),
    ]
    assert board.recorder.faults == []
    assert board.recorder.warnings == []


def test_comments_of_a_hand_are_bounded() -> None:
    board = _board("kuhn")
    for _ in range(10):
        board.send(0, b"#\n" * 1000)
    board.reply("r")
    board.reply("f")
    assert 0 < len(board.recorder.records[0].comments) <= 1000


def test_reply_may_come_in_pieces() -> None:
    for cut in range(1, 23):
        board = _board("kuhn")
        reply = answer(board.last_line(0), "r")
        board.send(0, reply[:cut])
        assert played_actions(board) == []
        board.send(0, reply[cut:])
        assert played_actions(board) == ["r"]


def test_packet_with_several_lines_is_read_line_by_line() -> None:
    board = _board("kuhn")
    board.send(0, b"# hm\r\njunk\r\n" + answer(board.last_line(0), "r"))
    assert played_actions(board) == ["r"]
    assert board.recorder.warnings == [BAD_STATE]


def test_last_reply_may_lack_its_line_end_once_the_player_has_closed_the_connection() -> None:
    board = _board("kuhn", "r", hands=1)
    board.send(1, answer(board.last_line(1), "c", end=""))
    assert played_actions(board) == []
    board.match.receive_eof(Seat(1))
    assert played_actions(board) == ["c"]
    assert board.match.phase is Phase.FINISHED


def test_disconnected_player_is_lost_at_its_next_turn() -> None:
    board = _board("kuhn", hands=1)
    board.match.receive_eof(Seat(1))
    assert board.match.phase is Phase.PLAYING
    board.send(0, b"junk\n")
    assert board.match.phase is Phase.PLAYING
    board.reply("c")
    assert board.match.phase is Phase.FAILED
    failure = board.recorder.failure
    assert failure is not None
    assert failure.seat == 1
    assert failure.kind is FaultKind.DISCONNECT
    assert format_failure(failure).startswith("ERROR: could not get action from seat 2\n0.")
    assert format_failure(failure).endswith(" seconds spent waiting; timeout 600.0\n")


def test_junk_before_a_disconnect_is_reported() -> None:
    board = _board("kuhn")
    board.send(0, b"bye")
    board.match.receive_eof(Seat(0))
    assert board.recorder.warnings == [BAD_STATE]
    assert board.match.phase is Phase.FAILED
    assert board.recorder.log == []


def test_64th_action_of_a_round_cannot_be_a_raise() -> None:
    rules = game("nolimit")
    board = Board(make_setup(rules, 1)).connect_all()
    size = 200
    while not board.recorder.warnings:
        board.reply(f"r{size}")
        size += 100
    assert board.recorder.warnings == [
        "WARNING: #actions in round is too close to MAX_NUM_ACTIONS, forcing call/fold\n" + INVALID
    ]
    assert played_actions(board)[-1] == "c"
    assert len(played_actions(board)) == 64


def test_same_raise_is_checked_in_each_state() -> None:
    """Caches of parsed replies must not carry over the legality of a size."""
    board = _board("nolimit", hands=4)
    board.reply("r300")
    board.reply("r300")
    assert played_actions(board) == ["r300", "r500"]
    assert board.recorder.warnings == ["WARNING: raise of 300 increased to 500"]


@pytest.mark.parametrize("wants_lines", [True, False])
@pytest.mark.parametrize("hands", [1, 2])
def test_reply_repeated_after_the_end_changes_nothing(hands: int, *, wants_lines: bool) -> None:
    # States of the second match are already in caches.
    for _ in range(2):
        board = Board(make_setup(game("kuhn"), hands), wants_lines=wants_lines).connect_all()
        while board.match.phase is Phase.PLAYING:
            seat = board.acting_seat
            line = answer(board.last_line(seat), "c")
            board.send(seat, line)
        assert board.match.phase is Phase.FINISHED
        log = list(board.log)
        totals = list(board.match.totals)
        for _ in range(3):
            board.send(seat, line)
        board.match.receive_eof(Seat(seat))
        assert board.log == log
        assert board.match.totals == totals
        assert board.match.hands_played == hands
        assert board.match.phase is Phase.FINISHED


@pytest.mark.parametrize("wants_lines", [True, False])
def test_reply_after_a_failure_changes_nothing(*, wants_lines: bool) -> None:
    for _ in range(2):
        board = Board(make_setup(game("kuhn"), 5), wants_lines=wants_lines).connect_all()
        board.reply("c")
        board.match.fail(NobodyLeft())
        calls = len(board.recorder.calls)
        for seat in (0, 1):
            board.send(seat, answer(board.last_line(seat), "c"))
        assert board.match.phase is Phase.FAILED
        assert len(board.recorder.calls) == calls


@pytest.mark.parametrize("wants_lines", [True, False])
def test_second_reply_of_a_packet_stays_unread(*, wants_lines: bool) -> None:
    for _ in range(2):
        board = Board(make_setup(game("kuhn"), 2), wants_lines=wants_lines).connect_all()
        reply = answer(board.last_line(0), "r")
        board.send(0, reply + reply)
        assert played_actions(board) == ["r"]
        assert board.match.buffered_bytes(Seat(0)) == len(reply)
        assert board.acting_seat == 1


REPLY_ENDS = st.sampled_from(
    ["c\r\n", "r\r\n", "f\r\n", "r300\r\n", "c\n", "k\r\n", "r9\r\n", "\r\n", "x\n", "c", "c\r\n#\n"]
)
OTHER_DATA = st.sampled_from([b"#\r\n", b"junk\n", b"M"])
MESSAGES = st.one_of(st.tuples(st.booleans(), REPLY_ENDS), st.tuples(st.booleans(), OTHER_DATA))
"""Pairs: a flag for messages of the player who is not to act, and the text after the state or the whole message."""


@settings(max_examples=40)
@given(st.sampled_from(["kuhn", "limit", "nolimit"]), st.lists(MESSAGES, max_size=30))
def test_fast_path_gives_the_same_match(name: str, messages: list[tuple[bool, str | bytes]]) -> None:
    fast, plain = (Board(make_setup(game(name), 3), wants_lines=False).connect_all() for _ in range(2))
    plain.match._can_use_fast_path = False
    for is_early, message in messages:
        if fast.match.phase is not Phase.PLAYING:
            break
        seat = fast.acting_seat ^ is_early
        for board in (fast, plain):
            board.send(seat, message if isinstance(message, bytes) else answer(board.last_line(seat), message, ""))
        assert fast.sent == plain.sent
        assert fast.recorder.calls == plain.recorder.calls
        assert fast.log == plain.log
        assert fast.recorder.warnings == plain.recorder.warnings
        assert fast.recorder.faults == plain.recorder.faults
        assert played_actions(fast) == played_actions(plain)
        for seat in (0, 1):
            assert fast.match.buffered_bytes(Seat(seat)) == plain.match.buffered_bytes(Seat(seat))
