"""Feed of events, which readers can follow from any number."""

from __future__ import annotations

import asyncio

from dealer.server.queue.feed import Feed, FeedEvent

LOST = FeedEvent("lost", {})


def publish(feed: Feed, game: str) -> None:
    feed.publish("standings-changed", game=game)


def event(game: str) -> FeedEvent:
    return FeedEvent("standings-changed", {"game": game})


def test_events_are_numbered_and_the_last_are_kept() -> None:
    feed = Feed(max_events=3, first=10)
    assert (feed.last, feed.after(9)) == (9, [])
    for number in range(10, 15):
        publish(feed, str(number))
    assert feed.after(13) == [(14, event("14"))]
    assert feed.after(11) == [(12, event("12")), (13, event("13")), (14, event("14"))]
    assert feed.after(10) == [(14, LOST)], "11 is forgotten"
    assert feed.after(99) == [(14, LOST)], "a number of another start"


def test_numbers_of_a_later_start_are_larger() -> None:
    earlier = Feed()
    publish(earlier, "1")
    later = Feed()
    assert later.last >= earlier.last
    assert later.after(earlier.last - 1) == [(later.last, LOST)]


async def test_followers_miss_nothing() -> None:
    async def follow(feed: Feed, last: int, count: int) -> list[int]:
        numbers: list[int] = []
        while len(numbers) < count:
            assert await feed.wait(last, 10.0)
            numbers += [number for number, _ in feed.after(last)]
            last = numbers[-1]
        return numbers

    feed = Feed(first=1)
    publish(feed, "1")
    tasks = [asyncio.create_task(follow(feed, last, count)) for last, count in ((feed.last, 3), (0, 4), (1, 3))]
    await asyncio.sleep(0)
    publish(feed, "2")
    await asyncio.sleep(0)
    publish(feed, "3")
    publish(feed, "4")
    assert await asyncio.gather(*tasks) == [[2, 3, 4], [1, 2, 3, 4], [2, 3, 4]]
