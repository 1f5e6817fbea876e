"""Fuzzing of players' bytes: the match continues, and other matches are not affected."""

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


def _mutate(draw: random.Random, reply: bytes) -> bytes:
    """Change a reply in up to five places; drop its line ending."""
    line = bytearray(reply.rstrip(b"\r\n"))
    for _ in range(draw.choice((0, 1, 1, 2, 5))):
        index = draw.randrange(len(line) + 1)
        change = draw.randrange(6)
        if change == 0:
            line[index:index] = bytes([draw.choice(ALPHABET)])
        elif change == 1:
            del line[index : index + draw.randint(1, 3)]
        elif change == 2 and index < len(line):
            line[index] = draw.randrange(256)
        elif change == 3:
            line[index:index] = line[draw.randrange(len(line) + 1) :]
        elif change == 4:
            line[index:] = b""
        else:
            insertions = (b"\0", b"\xff\xfe", b"9" * 40, b"x" * 5000, b":r99999999999", b"\r", b" " * 50)
            line[index:index] = draw.choice(insertions)
    return bytes(line)


def _fuzzed_line(draw: random.Random, reply: bytes) -> bytes:
    kind = draw.randrange(8)
    if kind == 0:
        return draw.randbytes(draw.choice((0, 1, 10, 100, 5000)))
    if kind == 1:
        return bytes(draw.choices(ALPHABET, k=draw.randrange(60)))
    if kind == 2:
        return draw.choice((b"#", b";", b"", b"\0", b"MATCHSTATE:", b"VERSION:2.0.0"))
    return _mutate(draw, reply)


def _fuzz(lines: int, seed: int) -> None:
    """Send fuzzed lines to matches of all games, next to a match without faults."""
    draw = random.Random(seed)
    players = [random_policy(1), random_policy(2)]
    faultless_setup = make_setup(game("nolimit"), 40, seed)
    expected = reference_log(faultless_setup, players)
    faultless = Board(faultless_setup).connect_all()
    sent = hands = 0
    while sent < lines:
        rules = game(draw.choice(GAMES))
        board = Board(make_setup(rules, 30, draw.getrandbits(32), limits=ENDLESS), wants_lines=draw.random() < 0.5)
        board.connect_all()
        while board.match.phase is Phase.PLAYING:
            seat = board.acting_seat
            num_actions = len(board.recorder.actions)
            question = board.last_line(seat)
            for _ in range(50):
                action = draw.choice(("c", "f", "r", f"r{draw.randrange(1 << 33)}", "x", ""))
                line = _fuzzed_line(draw, answer(question, action))
                board.send(seat, line + draw.choice((b"\n", b"\r\n")))
                sent += 1
                if len(board.recorder.actions) > num_actions or board.match.phase is not Phase.PLAYING:
                    break
            else:
                board.send(seat, b"\n" + answer(question, "c"))
            _check(board)
        assert board.match.phase is Phase.FINISHED
        assert sum(board.match.totals) == pytest.approx(0.0, abs=1e-6)
        assert len(board.log) == 31
        hands += 30
        if faultless.match.phase is Phase.PLAYING:
            faultless.play(players, hands=faultless.match.hands_played + 5)
    while faultless.match.phase is Phase.PLAYING:
        faultless.play(players)
    assert faultless.log == expected
    assert faultless.recorder.faults == []
    assert hands


def _check(board: Board) -> None:
    """Check the bounds of buffers and that a player is to act; drop the sent bytes."""
    for seat in range(len(board.sent)):
        assert board.match.buffered_bytes(Seat(seat)) < 4096 * 64
    if board.match.phase is Phase.PLAYING:
        assert board.match.is_asked(Seat(board.acting_seat))
    # The bytes of a long match would use much memory.
    for sent in board.sent:
        sent.clear()
    board.writes.clear()


def test_fuzzed_lines_do_not_end_a_match() -> None:
    _fuzz(2_000, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_many_fuzzed_lines_do_not_end_a_match(seed: int) -> None:
    _fuzz(100_000, seed=seed)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=6000), pieces=st.integers(1, 5), name=st.sampled_from(GAMES))
def test_bytes_have_the_same_effect_in_any_pieces(data: bytes, pieces: int, name: str) -> None:
    setup = make_setup(game(name), 50, limits=ENDLESS)
    # Watching lines must not make a difference either.
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
def test_any_bytes_are_accepted_or_refused_as_a_version(hello: bytes, closes: bool) -> None:
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
def test_any_bytes_after_the_current_state_are_an_action(tail: bytes, name: str) -> None:
    """Unreadable bytes count as a call."""
    board = Board(make_setup(game(name), 50, limits=ENDLESS), wants_lines=False).connect_all()
    seat = board.acting_seat
    board.send(seat, board.last_line(seat).rstrip() + b":" + tail.replace(b"\n", b" ") + b"\n")
    assert len(board.recorder.actions) == 1
    assert len(board.recorder.faults) <= 1


def test_players_that_mix_noise_with_replies_finish_the_match() -> None:
    def noisy(salt: int) -> Speaker:
        draw = random.Random(salt)

        def speak(event: ReceivedState) -> bytes:
            noise = b"".join(draw.randbytes(draw.randrange(50)).replace(b"\n", b"") + b"\n" for _ in range(3))
            noise = noise.replace(b"MATCHSTATE", b"matchstate")
            return noise + answer(event.raw, draw.choice(("c", "f", "r", "r500")))

        return speak

    board = Board(make_setup(game("nolimit"), 100, limits=ENDLESS)).connect_all()
    board.play_raw([noisy(1), noisy(2)])
    assert board.match.phase is Phase.FINISHED
    assert len(board.log) == 101
