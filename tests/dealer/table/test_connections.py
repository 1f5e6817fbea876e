"""Matches over real sockets with players that split, delay, flood, reset and close their connections."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from dealer.match import MatchSetup, Phase
from dealer.match.faults import FaultKind
from dealer.reference.command import format_failure
from dealer.table.links import OpenSeat, PlayerLink
from dealer.table.listener import acknowledge
from engine import Seat
from protocol import ReceivedState, Reply
from tests.dealer.helpers import (
    PATIENCE_S,
    VERSION,
    Client,
    Playing,
    Policy,
    always,
    game,
    limits,
    make_setup,
    random_policy,
    reference_log,
    run_async,
)

KUHN = game("kuhn")


async def _until(is_true: Callable[[], bool]) -> None:
    while not is_true():
        await asyncio.sleep(0.005)


async def _play(setup: MatchSetup, policies: Sequence[Policy], **options: Any) -> tuple[Playing, list[bytes]]:
    playing = Playing(setup, **options).start()
    clients = await playing.clients()
    await asyncio.gather(*(client.play(policy) for client, policy in zip(clients, policies, strict=True)))
    await playing.finish()
    return playing, [client.received for client in clients]


# ---- a good match


@pytest.mark.parametrize("name", ["kuhn", "nolimit", "holdem.limit.3p"])
def test_match_over_sockets_equals_the_match_without(name: str) -> None:
    setup = make_setup(game(name), 20)
    players = [random_policy(seat) for seat in range(setup.game.num_players)]
    playing, _ = run_async(_play(setup, players))
    assert playing.match.phase is Phase.FINISHED
    assert playing.recorder.log == reference_log(setup, players)
    assert playing.recorder.faults == []


@pytest.mark.parametrize("name", ["kuhn", pytest.param("holdem.limit.3p", marks=pytest.mark.slow)])
def test_coalescing_changes_no_byte_of_any_seat(name: str) -> None:
    setup = make_setup(game(name), 20)
    players = [random_policy(seat) for seat in range(setup.game.num_players)]
    _, at_once = run_async(_play(setup, players, coalesce_s=0.0))
    for coalesce_s in (0.001, 1.0):
        playing, held = run_async(_play(setup, players, coalesce_s=coalesce_s))
        assert held == at_once
        assert playing.match.phase is Phase.FINISHED


@pytest.mark.parametrize("first", ["", "# thinking\r\n", "no reply\r\n"], ids=["state", "comment", "junk"])
async def test_line_that_answers_nothing_is_acknowledged_at_once(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The client's system delays the second part of a reply until the first is acknowledged.
    acknowledged: list[int] = []
    monkeypatch.setattr("dealer.table.connections.acknowledge", lambda sock: acknowledged.append(sock.getpeername()[1]))

    async def send(client: Client, event: ReceivedState, reply: bytes) -> None:
        cut = 0 if first else len(event.raw) - len(b"\r\n")
        del acknowledged[:]
        await client.send(first.encode() + reply[:cut])
        await _until(lambda: client.writer.get_extra_info("sockname")[1] in acknowledged)
        await client.send(reply[cut:])

    playing = Playing(make_setup(KUHN, 3)).start()
    clients = await playing.clients()
    await asyncio.gather(*(client.play(always("c"), send) for client in clients))
    await playing.finish()
    assert playing.match.phase is Phase.FINISHED


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="this system has no such option")
def test_quick_acknowledgement_is_set_each_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        sock = listener.accept()[0]
        with sock:
            for _ in range(2):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
                acknowledge(sock)
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK) == 1
            client.close()
        acknowledge(sock)


async def test_held_lines_arrive_without_a_question() -> None:
    """A player that is not to act receives the state soon after."""

    async def _answer(client: Client, line: bytes) -> None:
        client.session.receive_data(line)
        await client.play(always("c"))

    playing = Playing(make_setup(KUHN, 1), coalesce_s=0.01).start()
    clients = await playing.clients()
    line = await clients[1].reader.readline()
    assert line.startswith(b"MATCHSTATE:1:0::")
    await asyncio.gather(clients[0].play(always("c")), _answer(clients[1], line))
    await playing.finish()
    assert playing.match.phase is Phase.FINISHED


async def _by_bytes(client: Client, event: ReceivedState, reply: bytes) -> None:
    for i in range(len(reply)):
        await client.send(reply[i : i + 1])
        await asyncio.sleep(0)


async def _with_comments(client: Client, event: ReceivedState, reply: bytes) -> None:
    await client.send(b"# a comment\r\n; another\n" + reply + b"# behind\r\n")


@pytest.mark.parametrize("send", [_by_bytes, _with_comments])
async def test_packets_and_comments_of_a_player_do_not_matter(
    send: Callable[[Client, ReceivedState, bytes], Awaitable[None]],
) -> None:
    setup = make_setup(KUHN, 5)
    players = [random_policy(1), random_policy(2)]

    playing = Playing(setup).start()
    clients = await playing.clients()
    await asyncio.gather(*(client.play(p, send) for client, p in zip(clients, players, strict=True)))
    await playing.finish()
    assert playing.recorder.log == reference_log(setup, players)
    assert playing.recorder.faults == []


async def test_reply_may_be_split_at_any_byte() -> None:
    """Each reply is sent in two packets, and is cut one byte later than the one before."""
    setup = make_setup(KUHN, 40)
    cuts = iter(range(1, 1000))

    async def cut(client: Client, event: ReceivedState, reply: bytes) -> None:
        index = next(cuts) % (len(reply) - 1) + 1
        await client.send(reply[:index])
        await asyncio.sleep(0.001)
        await client.send(reply[index:])

    playing = Playing(setup).start()
    clients = await playing.clients()
    await asyncio.gather(clients[0].play(always("c"), cut), clients[1].play(always("c")))
    await playing.finish()
    assert playing.match.phase is Phase.FINISHED
    assert playing.recorder.faults == []


async def test_half_closed_player_acts_and_receives_the_end() -> None:
    """An action without a line end counts if the player shuts its write side, and the player gets the last state."""
    playing = Playing(make_setup(KUHN, 1)).start()
    clients = await playing.clients()
    first = asyncio.create_task(clients[0].play(always("c")))
    event = await clients[1].question()
    assert event is not None
    await clients[1].send(event.raw.rstrip() + b":c")
    clients[1].writer.write_eof()
    received = await clients[1].read_to_end()
    await clients[1].close()
    await first
    await playing.finish()
    assert playing.match.phase is Phase.FINISHED
    assert received.endswith(b"\r\n")
    assert b":0:cc:" in received


# ---- before the match


async def test_missing_client_ends_the_wait() -> None:
    playing = Playing(make_setup(KUHN, 1, limits=limits(start_s=0.2)))
    assert playing.connections.match.missing_seats() == [0, 1]
    client = await playing.client(0)
    await playing.start().finish()
    assert playing.fault == (1, FaultKind.TIMEOUT)
    assert format_failure(playing.match.failure) == "ERROR: timed out waiting for seat 2 to connect\n"
    assert await client.read_to_end() == b""
    await client.close()


async def test_silent_client_ends_the_wait() -> None:
    playing = Playing(make_setup(KUHN, 1, limits=limits(start_s=1.0)))
    clients = [await playing.client(0), await playing.client(1, hello=b"VERSION:2")]
    await playing.start().finish()
    assert playing.fault == (1, FaultKind.TIMEOUT)
    assert format_failure(playing.match.failure) == "ERROR: timed out waiting for seat 2 to name its version\n"
    for client in clients:
        await client.close()


@pytest.mark.slow
async def test_start_timeout_does_not_apply_after_the_start() -> None:
    playing = Playing(make_setup(KUHN, 2, limits=limits(start_s=5.0))).start()
    clients = await playing.clients()
    await _until(lambda: playing.match.phase is Phase.PLAYING)
    await asyncio.sleep(5.5)
    await asyncio.gather(*(client.play(always("c")) for client in clients))
    await playing.finish()
    assert playing.match.phase is Phase.FINISHED


@pytest.mark.parametrize("hello", [b"HELLO\r\n", b"\r\n", b"x" * 5000, b"\0\n", b"GET / HTTP/1.1\r\n\r\n"])
async def test_wrong_first_line_is_a_fault(hello: bytes) -> None:
    playing = Playing(make_setup(KUHN, 1)).start()
    clients = [await playing.client(0), await playing.client(1, hello=hello)]
    await playing.finish()
    assert playing.fault == (1, FaultKind.MALFORMED_REPLY)
    for client in clients:
        await client.read_to_end()
        await client.close()


async def test_player_that_leaves_before_the_start_is_lost_at_the_start() -> None:
    playing = Playing(make_setup(KUHN, 1)).start()
    await (await playing.client(0, hello=b"")).close()
    await _until(lambda: playing.connections.match.missing_seats() == [1])
    other = await playing.client(1)
    await playing.finish()
    assert playing.fault == (0, FaultKind.DISCONNECT)
    await other.close()


# ---- bad players


@pytest.mark.parametrize("lines", [3_000, pytest.param(100_000, marks=pytest.mark.slow)])
async def test_flood_out_of_turn_is_read_later(lines: int) -> None:
    """Unread junk from a seat that is not to act is bounded, and the match continues afterwards."""
    setup = make_setup(KUHN, 2, limits=limits(hand_s=1e9, per_hand_s=1e9))
    flood = b"this is no reply at all\r\n" * lines

    playing = Playing(setup, max_unread_bytes=10_000).start()
    clients = await playing.clients()
    event = await clients[0].question()
    assert event is not None
    max_bytes = 0

    async def push() -> None:
        with contextlib.suppress(ConnectionError):
            clients[1].writer.write(flood)
            await clients[1].writer.drain()

    pushing = asyncio.create_task(push())
    for _ in range(200):
        await asyncio.sleep(0.001)
        max_bytes = max(max_bytes, playing.match.buffered_bytes(Seat(1)))
    assert 10_000 < max_bytes < 10_000 + (1 << 17)
    assert playing.match.phase is Phase.PLAYING
    await clients[0].send(clients[0].session.send(Reply(always("c")(event))))
    # Now every line is a fault, and the correct answer follows the junk.
    await asyncio.gather(*(client.play(always("c")) for client in clients))
    await pushing
    await playing.finish()
    assert playing.match.phase is Phase.FINISHED
    assert len(playing.recorder.faults) == lines
    assert {(fault.seat, fault.kind) for fault in playing.recorder.faults} == {(1, FaultKind.MALFORMED_REPLY)}


async def test_link_that_floods_out_of_turn_is_disconnected() -> None:
    """A link has no socket that could hold the rest, so its player counts as disconnected when it is to act."""
    seat = OpenSeat()
    setup = make_setup(KUHN, 1, limits=limits(hand_s=1e9, per_hand_s=1e9))
    playing = Playing(setup, listeners={Seat(1): seat}, max_unsent_bytes=10_000).start()
    client = await playing.client(0)
    link = PlayerLink(lambda data: None, lambda: None)
    seat.take(link)
    link.receive(VERSION)
    event = await client.question()
    assert event is not None
    for _ in range(20):
        link.receive(b"junk\n" * 1000)
    assert 10_000 < playing.match.buffered_bytes(Seat(1)) < 80_000
    await client.send(client.session.send(Reply(always("c")(event))))
    await playing.finish()
    assert playing.fault == (1, FaultKind.DISCONNECT)
    await client.close()


@pytest.mark.parametrize(("line", "kind"), [(b"junk\n", FaultKind.TIMEOUT), (b"# hm\n", FaultKind.FLOOD)])
async def test_flood_in_turn_ends_the_match(line: bytes, kind: FaultKind) -> None:
    playing = Playing(make_setup(KUHN, 1, limits=limits(per_hand_s=0.5))).start()
    clients = await playing.clients()
    with contextlib.suppress(ConnectionError):
        while playing.match.phase in (Phase.CONNECTING, Phase.GREETING, Phase.PLAYING):
            clients[0].writer.write(line * 2000)
            await clients[0].writer.drain()
            await asyncio.sleep(0)
    await playing.finish()
    assert playing.fault == (0, kind)
    for client in clients:
        await client.close()


@pytest.mark.parametrize("send_buffer_bytes", [4096, pytest.param(None, marks=pytest.mark.slow)])
async def test_slow_reader_ends_its_own_match_only(send_buffer_bytes: int | None) -> None:
    """The slow player answers in advance and never reads, until its match fails for unsent bytes."""
    setup = make_setup(KUHN, 100_000, limits=limits(response_s=PATIENCE_S))
    other = make_setup(KUHN, 50)
    players = [random_policy(1), random_policy(2)]

    playing = Playing(setup, send_buffer_bytes=send_buffer_bytes, max_unsent_bytes=20_000, drain_timeout_s=0.05).start()
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect(("127.0.0.1", playing.ports[1]))
    deaf.sendall(VERSION)
    first = await playing.client(0)
    reading = asyncio.create_task(first.play(always("c")))
    loop = asyncio.get_running_loop()
    deaf.setblocking(False)

    async def babble() -> None:
        # Replies repeat the state, which this player never reads, so it computes the states itself.
        hands = 30_000 if send_buffer_bytes is None else 3_000
        with contextlib.suppress(OSError):
            for replies in _predicted_replies(setup, seat=1, hands=hands):
                await loop.sock_sendall(deaf, replies)

    babbling = asyncio.create_task(babble())
    other_playing, _ = await _play(other, players)
    await playing.finish()
    assert playing.match.failure is not None
    assert playing.match.failure.seat == 1
    assert playing.match.failure.kind in (FaultKind.DISCONNECT, FaultKind.FLOOD)
    assert other_playing.recorder.log == reference_log(other, players)
    babbling.cancel()
    await asyncio.gather(babbling, return_exceptions=True)
    deaf.close()
    await reading


def _predicted_replies(setup: MatchSetup, *, seat: int, hands: int) -> Sequence[bytes]:
    """Replies of a player that always calls in Kuhn poker against another, 500 in a packet."""
    from engine import CARD_TEXTS, deals

    dealt = deals(setup.game, setup.seed)
    packets = []
    lines: list[str] = []
    for hand in range(hands):
        position = (seat - hand) % 2
        card = CARD_TEXTS[next(dealt).hole_cards[position][0]]
        cards = f"{card}|" if position == 0 else f"|{card}"
        lines.append(f"MATCHSTATE:{position}:{hand}:{'c' * position}:{cards}:c\r\n")
        if len(lines) == 500:
            packets.append("".join(lines).encode())
            lines.clear()
    return packets


async def _reset(client: Client) -> None:
    await client.reset()


async def _close(client: Client) -> None:
    await client.close()


async def _half_close(client: Client) -> None:
    client.writer.write_eof()


async def _junk_and_close(client: Client) -> None:
    await client.send(b"MATCHSTATE:0:0")
    await client.close()


@pytest.mark.parametrize("leave", [_reset, _close, _half_close, _junk_and_close])
@pytest.mark.parametrize("seat", [0, 1])
async def test_player_that_leaves_ends_the_match_at_its_turn(
    leave: Callable[[Client], Awaitable[None]], seat: int
) -> None:
    playing = Playing(make_setup(KUHN, 1000)).start()
    clients = await playing.clients()
    staying = asyncio.create_task(clients[1 - seat].play(always("c")))
    for _ in range(3):
        event = await clients[seat].question()
        assert event is not None
        await clients[seat].send(clients[seat].session.send(Reply(always("c")(event))))
    await clients[seat].question()
    await leave(clients[seat])
    await playing.finish()
    assert playing.fault == (seat, FaultKind.DISCONNECT)
    await staying
    await clients[seat].close()


async def test_silent_player_times_out() -> None:
    playing = Playing(make_setup(KUHN, 2, limits=limits(response_s=0.2))).start()
    clients = await playing.clients()
    received = await asyncio.gather(*(client.read_to_end() for client in clients))
    await playing.finish()
    assert playing.fault == (0, FaultKind.TIMEOUT)
    assert format_failure(playing.match.failure).startswith("ERROR: could not get action from seat 1\n")
    assert all(data.count(b"\n") == 1 for data in received)
    for client in clients:
        await client.close()


async def _silent(client: Client) -> None:
    await client.read_to_end()


async def _comment_endlessly(client: Client) -> None:
    with contextlib.suppress(ConnectionError):
        while not client.reader.at_eof():
            client.writer.write(b"# no answer\n" * 100)
            await client.writer.drain()
            await client.reader.read(0)
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("bad", [_silent, _comment_endlessly, _reset, _half_close])
async def test_bad_player_does_not_affect_another_match(
    bad: Callable[[Client], Awaitable[None]],
) -> None:
    setup = make_setup(game("nolimit"), 10)
    players = [random_policy(1), random_policy(2)]

    short = limits(response_s=0.3, hand_s=0.3, per_hand_s=0.3)
    failing = Playing(make_setup(KUHN, 1, limits=short)).start()
    good = asyncio.create_task(_play(setup, players))
    clients = await failing.clients()
    bad_player = asyncio.ensure_future(bad(clients[0]))
    await failing.finish()
    assert failing.match.phase is Phase.FAILED
    assert failing.match.failure is not None
    assert failing.match.failure.seat == 0
    playing, _ = await good
    assert playing.match.phase is Phase.FINISHED
    assert playing.recorder.log == reference_log(setup, players)
    assert playing.recorder.faults == []
    bad_player.cancel()
    await asyncio.gather(bad_player, return_exceptions=True)
    for client in clients:
        await client.close()
