"""Memory of a match, which must not grow with the number of hands."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Iterator

import pytest

from dealer.match import Match, Phase
from dealer.match.events import HandFinished
from dealer.run.tally import Tally
from engine import Seat
from engine.betting import betting_start
from protocol import NEED_DATA, DealerSession
from tests.dealer.helpers import VERSION, Board, always, game, limits, make_setup

ENDLESS = limits(hand_s=1e9, per_hand_s=1e9)


def _memory_at(name: str, hands: int, marks: tuple[int, ...]) -> Iterator[int]:
    """Play a match with random replies; yield the bytes in use after each of these numbers of hands."""
    rules = game(name)
    match = Match(make_setup(rules, hands, limits=ENDLESS), [Tally(rules.num_players)])
    players = rules.num_players
    last_lines = [b""] * players
    draw = random.Random(1)
    replies = [b":c\r\n"] * 6 + [b":f\r\n"] + [b":r\r\n" if rules.is_limit else b":r%d\r\n"] * 3

    def connect(seat: int) -> None:
        def write(data: bytes, is_asked: bool) -> None:
            last_lines[seat] = data

        match.connect(Seat(seat), write)
        match.receive(Seat(seat), VERSION)

    for seat in range(players):
        connect(seat)
    remaining = list(marks)
    while match.phase is Phase.PLAYING:
        seat = next(seat for seat in range(players) if match.is_asked(Seat(seat)))
        reply = draw.choice(replies)
        if b"%" in reply:
            reply %= draw.randrange(100, 20_001)
        match.receive(Seat(seat), last_lines[seat].rstrip().rpartition(b"\n")[2] + reply)
        if remaining and match.hands_played >= remaining[0]:
            remaining.pop(0)
            gc.collect()
            yield tracemalloc.get_traced_memory()[0]
    assert match.phase is Phase.FINISHED
    assert match.hands_played == hands


@pytest.fixture
def tracing() -> Iterator[None]:
    betting_start.cache_clear()
    gc.collect()
    tracemalloc.start()
    yield
    tracemalloc.stop()
    betting_start.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("tracing")
def test_memory_of_limit_holdem_is_flat_after_1000_hands() -> None:
    early, late = _memory_at("limit", 2001, (1000, 2000))
    # New betting states take some memory. Records of 1000 hands would take twice the bound.
    assert late - early < 1 << 20


@pytest.mark.usefixtures("tracing")
@pytest.mark.slow
def test_memory_of_100000_hands_is_flat() -> None:
    used = tuple(_memory_at("nolimit", 100_001, (50_000, 60_000, 70_000, 80_000, 90_000, 100_000)))
    assert max(used) < 100 << 20
    # The bounded cache of betting states is cleared when it is full, so maxima are compared.
    assert max(used[3:]) < max(used[:3]) * 1.25 + (4 << 20)


@pytest.mark.slow
@pytest.mark.usefixtures("tracing")
def test_no_limit_betting_states_are_bounded() -> None:
    # Random sizes rarely repeat, so that a cache without a bound would keep every hand.
    (used,) = _memory_at("nolimit", 1001, (1000,))
    assert used < 6 << 20


@pytest.mark.usefixtures("tracing")
def test_session_keeps_no_lines() -> None:
    session = DealerSession(game("limit"))
    session.receive_data(VERSION)
    session.next_event()
    state = b"MATCHSTATE:0:0::2s2c|\r\n"

    def read(count: int) -> int:
        for number in range(count):
            session.send(state, is_question=True)
            session.receive_data(b"# %d\r\njunk\r\nMATCHSTATE:0:0::2s2c|:c%d\r\n" % (number, number))
            while session.next_event() is not NEED_DATA:
                pass
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    early = read(300)
    assert read(900) - early < 30_000
    assert session.buffered_bytes == 0


def test_tally_keeps_two_values_per_hand() -> None:
    tally = Tally(2)
    board = Board(make_setup(game("kuhn"), 1), wants_lines=False).connect_all().play([always("c")] * 2)
    record = board.recorder.records[0]
    tracemalloc.start()
    for _ in range(2_000):
        tally.notice(HandFinished(record))
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert tally.hands == 2_000
    assert used < 2_000 * 2 * 8 * 1.2 + 20_000
