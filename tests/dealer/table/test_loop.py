"""The loop matches run in: with its short way for sockets and without it, as on Windows and macOS."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest

from dealer.match import Phase
from dealer.table.loop import HAS_EPOLL, Changes, MatchLoop, Outbox
from tests.dealer.helpers import Playing, drawn_by_state, game, reference_log, setup_of

WAYS = [pytest.param(True, marks=pytest.mark.skipif(not HAS_EPOLL, reason="no epoll here")), False]


@pytest.mark.parametrize("is_fast", WAYS)
@pytest.mark.parametrize("coalesce_s", [None, 0.0, 0.002, 1.0])
def test_a_match_is_the_same_in_either_loop(*, is_fast: bool, coalesce_s: float | None) -> None:
    setup = setup_of(game("leduc"), 30)
    players = [drawn_by_state(1), drawn_by_state(2)]

    async def main() -> None:
        playing = Playing(setup, coalesce_s=coalesce_s).start()
        clients = await playing.clients()
        await asyncio.gather(*(client.play(p) for client, p in zip(clients, players, strict=True)))
        await playing.over()
        assert playing.match.phase is Phase.FINISHED
        assert playing.seen.log == reference_log(setup, players)

    with asyncio.Runner(loop_factory=lambda: MatchLoop(is_fast=is_fast)) as runner:
        runner.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("is_fast", WAYS)
def test_timers_and_tasks_go_on_while_sockets_are_watched(*, is_fast: bool) -> None:
    async def main() -> list[bytes]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MatchLoop)
        near, far = socket.socketpair()
        read: list[bytes] = []
        came = asyncio.Event()

        def on_readable() -> None:
            read.append(near.recv(100))
            came.set()

        with near, far:
            near.setblocking(False)
            loop.watch(near, on_readable)
            loop.call_later(0.01, far.send, b"later")
            await came.wait()
            came.clear()
            far.send(b"more")
            await came.wait()
            loop.unwatch(near)
            far.send(b"unseen")
            await asyncio.sleep(0.01)
        return read

    with asyncio.Runner(loop_factory=lambda: MatchLoop(is_fast=is_fast)) as runner:
        assert runner.run(asyncio.wait_for(main(), 60)) == [b"later", b"more"]


class _Held:
    def __init__(self) -> None:
        self.flushed = 0

    def flush(self) -> None:
        self.flushed += 1


@pytest.mark.parametrize("is_fast", WAYS)
def test_who_waits_is_flushed(*, is_fast: bool) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MatchLoop)
        soon, later, last = _Held(), _Held(), _Held()
        loop.soon()(soon)
        loop.later(0.005)(later)
        loop.later(0.02)(last)
        while not (soon.flushed and later.flushed and last.flushed):
            await asyncio.sleep(0.005)
        assert (soon.flushed, later.flushed, last.flushed) == (1, 1, 1)

    with asyncio.Runner(loop_factory=lambda: MatchLoop(is_fast=is_fast)) as runner:
        runner.run(asyncio.wait_for(main(), 60))


def test_an_outbox_flushes_in_order_and_only_what_is_due() -> None:
    outbox = Outbox(most_s=100.0)
    first, second = _Held(), _Held()
    outbox.add(first)
    outbox.add(second)
    outbox.flush_due(time.monotonic())
    assert bool(outbox)
    assert first.flushed == 0
    outbox.flush_due(time.monotonic() + 101)
    assert not outbox
    assert (first.flushed, second.flushed) == (1, 1)


# ---- waiting for something to be true


def test_whoever_waits_is_woken_when_the_condition_holds() -> None:
    async def main() -> None:
        changes, values = Changes(), []
        waiting = [asyncio.create_task(changes.wait_for(lambda least=least: len(values) >= least)) for least in (1, 2)]
        for done in ([False, False], [True, False], [True, True]):
            await asyncio.sleep(0.001)
            assert [task.done() for task in waiting] == done
            values.append(0)
            changes.notify()
        assert await asyncio.gather(*waiting) == [True, True]

    asyncio.run(main())


def test_a_condition_that_holds_already_is_not_waited_for() -> None:
    assert asyncio.run(Changes().wait_for(lambda: True, 0.0))


def test_waiting_ends_with_the_timeout_and_without_anybody_waiting() -> None:
    async def main() -> None:
        changes = Changes()
        assert not await changes.wait_for(lambda: False, 0.01)
        changes.notify()

    asyncio.run(main())
