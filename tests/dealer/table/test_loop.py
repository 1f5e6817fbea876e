"""Event loop of matches, with its fast path for sockets and without it, as on Windows and macOS."""

from __future__ import annotations

import asyncio
import socket

import pytest

from dealer.match import Phase
from dealer.table.loop import HAS_EPOLL, Changes, MatchLoop
from tests.dealer.helpers import Playing, game, make_setup, random_policy, reference_log

LOOP_KINDS = [pytest.param(True, marks=pytest.mark.skipif(not HAS_EPOLL, reason="no epoll here")), False]


@pytest.mark.parametrize("is_fast", LOOP_KINDS)
@pytest.mark.parametrize("coalesce_s", [0.0, 0.002, 1.0])
def test_match_is_the_same_in_either_loop(*, is_fast: bool, coalesce_s: float) -> None:
    setup = make_setup(game("leduc"), 30)
    players = [random_policy(1), random_policy(2)]

    async def main() -> None:
        playing = Playing(setup, coalesce_s=coalesce_s).start()
        clients = await playing.clients()
        await asyncio.gather(*(client.play(p) for client, p in zip(clients, players, strict=True)))
        await playing.finish()
        assert playing.match.phase is Phase.FINISHED
        assert playing.recorder.log == reference_log(setup, players)

    with asyncio.Runner(loop_factory=lambda: MatchLoop(is_fast=is_fast)) as runner:
        runner.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("is_fast", LOOP_KINDS)
def test_timers_and_tasks_run_while_sockets_are_watched(*, is_fast: bool) -> None:
    async def main() -> list[bytes]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MatchLoop)
        near, far = socket.socketpair()
        received: list[bytes] = []
        has_received = asyncio.Event()

        def on_readable() -> None:
            received.append(near.recv(100))
            has_received.set()

        with near, far:
            near.setblocking(False)
            loop.watch(near, on_readable)
            loop.call_later(0.01, far.send, b"later")
            await has_received.wait()
            has_received.clear()
            far.send(b"more")
            await has_received.wait()
            loop.unwatch(near)
            far.send(b"unseen")
            await asyncio.sleep(0.01)
        return received

    with asyncio.Runner(loop_factory=lambda: MatchLoop(is_fast=is_fast)) as runner:
        assert runner.run(asyncio.wait_for(main(), 60)) == [b"later", b"more"]


class _Held:
    def __init__(self, name: str, flushed: list[str]) -> None:
        self._name = name
        self._flushed = flushed

    def flush(self) -> None:
        self._flushed.append(self._name)


@pytest.mark.parametrize("is_fast", LOOP_KINDS)
def test_held_connections_are_flushed_once_and_in_time(*, is_fast: bool) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MatchLoop)
        flushed: list[str] = []
        near, far = socket.socketpair()
        with near, far:
            loop.watch(near, lambda: None)
            loop.hold(0.01)(_Held("first", flushed))
            loop.hold(0.02)(_Held("last", flushed))
            loop.hold(0.01)(_Held("second", flushed))
            assert flushed == []
            while len(flushed) < 3:
                await asyncio.sleep(0.005)
            assert flushed == ["first", "second", "last"]
            loop.hold(0.01)(_Held("again", flushed))
            while len(flushed) < 4:
                await asyncio.sleep(0.005)
            assert flushed[3:] == ["again"]
            loop.unwatch(near)

    with asyncio.Runner(loop_factory=lambda: MatchLoop(is_fast=is_fast)) as runner:
        runner.run(asyncio.wait_for(main(), 60))


# ---- conditions


async def test_wait_ends_when_the_condition_holds() -> None:
    changes, values = Changes(), []
    waiting = [asyncio.create_task(changes.wait_for(lambda least=least: len(values) >= least)) for least in (1, 2)]
    for done in ([False, False], [True, False], [True, True]):
        await asyncio.sleep(0.001)
        assert [task.done() for task in waiting] == done
        values.append(0)
        changes.notify()
    assert await asyncio.gather(*waiting) == [True, True]


def test_wait_for_a_true_condition_returns_at_once() -> None:
    assert asyncio.run(Changes().wait_for(lambda: True, 0.0))


async def test_wait_ends_with_the_timeout() -> None:
    changes = Changes()
    assert not await changes.wait_for(lambda: False, 0.01)
    changes.notify()
