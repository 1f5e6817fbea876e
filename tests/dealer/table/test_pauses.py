"""Pauses of the dealer, while it computes or has no processor, which do not count as time of players."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable

import pytest

from dealer.match import Phase
from dealer.match.faults import FaultKind
from dealer.table.loop import HAS_EPOLL, PAUSE_NS, MatchLoop
from protocol import ReceivedState
from tests.dealer.helpers import PATIENCE_S, VERSION, Client, Playing, always, game, limits, make_setup

KUHN = game("kuhn")
LOOPS = [pytest.param(True, marks=pytest.mark.skipif(not HAS_EPOLL, reason="no epoll here")), False]
LONG_S = 1000
"""Longer than any limit of the matches."""


class _Clock:
    """Clock that a test moves forward, as if the loop had been busy."""

    def __init__(self) -> None:
        self.moved_ns = 0

    def pass_s(self, seconds: float) -> None:
        self.moved_ns += round(seconds * 1e9)

    def monotonic_ns(self) -> int:
        return time.monotonic_ns() + self.moved_ns

    def time_ns(self) -> int:
        return time.time_ns()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    clock = _Clock()
    for module in ("match.match_play", "table.loop", "table.connections"):
        monkeypatch.setattr(f"dealer.{module}.time", clock)
    return clock


def _run(play: Callable[[], object], *, is_fast: bool) -> None:
    async def main() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await play()  # type: ignore[misc]

    with asyncio.Runner(loop_factory=lambda: MatchLoop(is_fast=is_fast)) as runner:
        runner.run(main())
        for client in Client.instances:
            client.writer.close()
    Client.instances.clear()


@pytest.mark.parametrize("is_fast", LOOPS)
def test_reply_that_waits_in_its_socket_is_in_time(clock: _Clock, *, is_fast: bool) -> None:
    async def pause(client: Client, event: ReceivedState, reply: bytes) -> None:
        client.writer.write(reply)
        clock.pass_s(LONG_S)

    async def play() -> None:
        playing = Playing(make_setup(KUHN, 20, limits=limits())).start()
        clients = await playing.clients()
        await asyncio.gather(*(client.play(always("c"), pause) for client in clients))
        await playing.finish()
        assert playing.match.phase is Phase.FINISHED
        assert playing.recorder.faults == []
        assert playing.connections.pauses >= playing.match.hands_played
        assert playing.connections.paused_ns >= playing.match.hands_played * LONG_S * 10**9

    _run(play, is_fast=is_fast)


@pytest.mark.parametrize("is_fast", LOOPS)
def test_reply_after_the_pause_is_late(clock: _Clock, *, is_fast: bool) -> None:
    async def play() -> None:
        playing = Playing(make_setup(KUHN, 20, limits=limits())).start()
        for client in await playing.clients():
            asyncio.get_running_loop().create_task(_late(client, clock))
        await playing.finish()
        assert playing.fault[1] is FaultKind.TIMEOUT

    _run(play, is_fast=is_fast)


async def _late(client: Client, clock: _Clock) -> None:
    async def send(client: Client, event: ReceivedState, reply: bytes) -> None:
        clock.pass_s(LONG_S)
        # The loop polls its sockets in time, and finds no reply.
        await asyncio.sleep(2 * PAUSE_NS / 1e9)
        await asyncio.sleep(0)
        await client.send(reply)

    await client.play(always("c"), send)


@pytest.mark.parametrize("is_fast", LOOPS)
def test_socket_is_read_before_a_timeout(clock: _Clock, *, is_fast: bool) -> None:
    async def play() -> None:
        playing = Playing(make_setup(KUHN, 20, limits=limits())).start()

        async def pause(client: Client, event: ReceivedState, reply: bytes) -> None:
            client.writer.write(reply)
            clock.pass_s(LONG_S)
            # The timer fires before the loop polls its sockets.
            playing.connections._on_timer()

        clients = await playing.clients()
        await asyncio.gather(*(client.play(always("c"), pause) for client in clients))
        await playing.finish()
        assert playing.match.phase is Phase.FINISHED
        assert playing.recorder.faults == []

    _run(play, is_fast=is_fast)


@pytest.mark.parametrize("is_fast", LOOPS)
def test_players_may_connect_during_a_pause(*, is_fast: bool) -> None:
    async def play() -> None:
        playing = Playing(make_setup(KUHN, 1, limits=limits(start_s=0.2)), reads_versions=True).start()
        await asyncio.sleep(0)
        socks = [socket.create_connection(("127.0.0.1", port)) for port in playing.ports]
        for sock in socks:
            sock.sendall(VERSION)
        time.sleep(0.5)
        try:
            while playing.match.phase in (Phase.CONNECTING, Phase.GREETING):
                await asyncio.sleep(0.01)
            assert playing.match.phase is Phase.PLAYING
        finally:
            for sock in socks:
                sock.close()
            await playing.finish()

    _run(play, is_fast=is_fast)
