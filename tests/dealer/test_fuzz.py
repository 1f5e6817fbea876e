"""Whatever bytes come for an answer: the dealer goes on, and another match is none the wiser."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dealer.match import Phase
from engine import Seat
from protocol import ReceivedState
from tests.dealer.helpers import Board, Speaker, answer, game, limits, make_setup, random_policy, reference_log

ENDLESS = limits(hand_s=1e9, per_hand_s=1e9)
GAMES = ("kuhn", "limit", "nolimit", "holdem.nolimit.3p")
ALPHABET = b"MATCHSTE:|/0123456789fcrkbFCRKB \t\r\0\xff#;-+.xAKQJT98765432shdc"


def _mutated(draw: random.Random, right: bytes) -> bytes:
    """A line near the right one, or far from it; without its end."""
    line = bytearray(right.rstrip(b"\r\n"))
    for _ in range(draw.choice((0, 1, 1, 2, 5))):
        at = draw.randrange(len(line) + 1)
        change = draw.randrange(6)
        if change == 0:
            line[at:at] = bytes([draw.choice(ALPHABET)])
        elif change == 1:
            del line[at : at + draw.randint(1, 3)]
        elif change == 2 and at < len(line):
            line[at] = draw.randrange(256)
        elif change == 3:
            line[at:at] = line[draw.randrange(len(line) + 1) :]
        elif change == 4:
            line[at:] = b""
        else:
            line[at:at] = draw.choice((b"\0", b"\xff\xfe", b"9" * 40, b"x" * 5000, b":r99999999999", b"\r", b" " * 50))
    return bytes(line)


def _line(draw: random.Random, right: bytes) -> bytes:
    kind = draw.randrange(8)
    if kind == 0:
        return draw.randbytes(draw.choice((0, 1, 10, 100, 5000)))
    if kind == 1:
        return bytes(draw.choices(ALPHABET, k=draw.randrange(60)))
    if kind == 2:
        return draw.choice((b"#", b";", b"", b"\0", b"MATCHSTATE:", b"VERSION:2.0.0"))
    return _mutated(draw, right)


def _fuzz(lines: int, seed: int) -> None:
    """So many fuzzed lines to matches of all games, beside a match whose players are good."""
    draw = random.Random(seed)
    players = [random_policy(1), random_policy(2)]
    beside_setup = make_setup(game("nolimit"), 40, seed)
    expected = reference_log(beside_setup, players)
    beside = Board(beside_setup).connect_all()
    sent = hands = 0
    while sent < lines:
        rules = game(draw.choice(GAMES))
        board = Board(make_setup(rules, 30, draw.getrandbits(32), limits=ENDLESS), wants_lines=draw.random() < 0.5)
        board.connect_all()
        while board.match.phase is Phase.PLAYING:
            seat = board.acting_seat
            before = len(board.recorder.actions)
            last = board.last_line(seat)
            for _ in range(50):
                action = draw.choice(("c", "f", "r", f"r{draw.randrange(1 << 33)}", "x", ""))
                line = _line(draw, answer(last, action))
                board.send(seat, line + draw.choice((b"\n", b"\r\n")))
                sent += 1
                if len(board.recorder.actions) > before or board.match.phase is not Phase.PLAYING:
                    break
            else:
                board.send(seat, b"\n" + answer(last, "c"))
            _check(board)
        assert board.match.phase is Phase.FINISHED
        assert sum(board.match.totals) == pytest.approx(0.0, abs=1e-6)
        assert len(board.log) == 31
        hands += 30
        if beside.match.phase is Phase.PLAYING:
            beside.play(players, hands=beside.match.hands_played + 5)
    while beside.match.phase is Phase.PLAYING:
        beside.play(players)
    assert beside.log == expected
    assert beside.recorder.faults == []
    assert hands


def _check(board: Board) -> None:
    """What holds after every action: bounded buffers, legal actions, a question to somebody."""
    for seat in range(len(board.sent)):
        assert board.match.buffered_bytes(Seat(seat)) < 4096 * 64
    if board.match.phase is Phase.PLAYING:
        assert board.match.is_asked(Seat(board.acting_seat))
    # The match is long; nobody needs what was sent.
    for sent in board.sent:
        sent.clear()
    board.writes.clear()


def test_fuzzed_lines() -> None:
    _fuzz(2_000, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_many_fuzzed_lines(seed: int) -> None:
    _fuzz(100_000, seed=seed)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=6000), pieces=st.integers(1, 5), name=st.sampled_from(GAMES))
def test_any_bytes_in_any_pieces(data: bytes, pieces: int, name: str) -> None:
    """Neither the pieces in which bytes come nor who watches matters for what is made of them."""
    setup = make_setup(game(name), 50, limits=ENDLESS)
    whole, cut = (Board(setup, wants_lines=wants).connect_all() for wants in (True, False))
    data += b"\n"
    whole.send(whole.acting_seat, data)
    step = len(data) // pieces + 1
    seat = cut.acting_seat
    for start in range(0, len(data), step):
        cut.send(seat, data[start : start + step])
    assert cut.recorder.faults == whole.recorder.faults
    assert [action[0] for action in cut.recorder.actions] == [action[0] for action in whole.recorder.actions]
    assert cut.match.phase is whole.match.phase is Phase.PLAYING


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(hello=st.binary(max_size=300), closes=st.booleans())
def test_any_bytes_for_a_handshake(hello: bytes, closes: bool) -> None:
    board = Board(make_setup(game("kuhn"), 2))
    board.connect(1)
    board.connect(0, hello)
    if closes:
        board.match.receive_eof(Seat(0))
        assert board.match.phase is Phase.FAILED
        assert board.match.failure is not None
        assert board.match.failure.seat == 0
    else:
        assert board.match.phase in (Phase.GREETING, Phase.PLAYING, Phase.FAILED)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(tail=st.binary(max_size=40), name=st.sampled_from(GAMES))
@example(tail=b"", name="kuhn")
def test_any_bytes_behind_the_right_state_are_an_action(tail: bytes, name: str) -> None:
    """Behind the right state and a colon there is always an action, if only a call; the hand goes on."""
    board = Board(make_setup(game(name), 50, limits=ENDLESS), wants_lines=False).connect_all()
    board.send(
        board.acting_seat, board.last_line(board.acting_seat).rstrip() + b":" + tail.replace(b"\n", b" ") + b"\n"
    )
    assert len(board.recorder.actions) == 1
    assert len(board.recorder.faults) <= 1


def test_match_of_noise_ends_like_a_match() -> None:
    """A player who mixes noise with answers plays every hand to its end."""

    def noisy(salt: int) -> Speaker:
        draw = random.Random(salt)

        def say(event: ReceivedState) -> bytes:
            noise = b"".join(draw.randbytes(draw.randrange(50)).replace(b"\n", b"") + b"\n" for _ in range(3))
            noise = noise.replace(b"MATCHSTATE", b"matchstate")
            return noise + answer(event.raw, draw.choice(("c", "f", "r", "r500")))

        return say

    board = Board(make_setup(game("nolimit"), 100, limits=ENDLESS)).connect_all().play_raw([noisy(1), noisy(2)])
    assert board.match.phase is Phase.FINISHED
    assert len(board.log) == 101
