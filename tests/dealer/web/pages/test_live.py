"""Streams of events of runs: states, reconnection, access to cards, and many readers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.types import Message

import dealer.library
from dealer.match.events import ActionPlayed, HandStarted
from dealer.run.contest import MatchEvent
from dealer.server.access import Access
from dealer.watching import LiveMatches, WatchedRun
from dealer.web.local_site import local_routes
from dealer.web.pages import live
from dealer.web.pages.shown_runs import HandCounter, LocalLibrary, ShownRun
from dealer.web.site import Site, make_app
from dealer.web.visitor import Visitor
from engine import CARD_TEXTS, Deal
from logs.poker_table.faces import card_face
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.web.browsing import browsing, copy_unfinished, play_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_run(tmp_path_factory.mktemp("runs") / "over")


def _events(text: str) -> list[tuple[str, str, str]]:
    """Return kind, number and data of the events in a stream."""
    events = []
    for block in text.split("\n\n"):
        fields = [line.partition(": ")[::2] for line in block.splitlines()]
        values = dict(fields)
        if "event" in values:
            data = "\n".join(value for name, value in fields if name == "data")
            events.append((values["event"], values["id"], data))
    return events


def test_stream_of_a_finished_run_has_its_state_and_its_end(run: Path) -> None:
    with browsing(run) as client:
        answer = client.get("/runs/over/matches/match.a/events")
        assert answer.headers["content-type"].startswith("text/event-stream")
        (kind, number, text), (end, _, _) = _events(answer.text)
        assert (kind, end) == ("state", "over")
        assert "Hand 59" in text
        again = _events(client.get("/runs/over/matches/match.a/events", headers={"last-event-id": number}).text)
        assert [kind for kind, _, _ in again] == ["over"]
        old = _events(client.get("/runs/over/matches/match.a/events", headers={"last-event-id": "7-3"}).text)
        assert [(kind, data) for kind, _, data in old] == [("state", text), ("over", "")]
        scores = _events(client.get("/runs/over/contest-events/").text)
        assert "60 deals" in scores[0][2]
        assert client.get("/runs/over/matches/match.x/events").status_code == 404


def _table_of(folder: Path, *, is_public: bool, live: LiveMatches | None = None) -> str:
    """Render the table that the first event of a running match contains."""
    from dealer.web.pages.views import current_scenes
    from dealer.web.site import templates

    counter = HandCounter()
    local_routes(Site(), LocalLibrary([folder]), counter)
    counter.close()
    run = WatchedRun(folder)
    shown = ShownRun(run, Access(sees_cards=not is_public), live)
    (contest,) = run.contests
    match = contest.matches["match.a"]
    _, number, scenes = current_scenes(shown, contest, match)
    template = templates().get_template("live_table.html.jinja")
    return template.render(
        scene=scenes[-1],
        hero=0,
        holes=2,
        history=[scene.words for scene in scenes],
        number=number,
        is_public=is_public,
        last=None,
        score="",
        clocks=[],
    )


def _cards_in(text: str, deal: Deal) -> list[str]:
    """Return the cards of a deal that a text names."""
    cards = [CARD_TEXTS[card] for cards in (*deal.hole_cards, deal.board) for card in cards]
    return [card for card in cards if card_face(card).words in text or re.search(rf"\b{card}\b", text)]


def test_stranger_receives_no_card_of_a_running_match(run: Path, tmp_path: Path) -> None:
    unfinished = copy_unfinished(run, tmp_path / "unfinished", "match.b", 20)
    deal = WatchedRun(unfinished).contests[0].matches["match.a"].hands.hand(59).deal
    text = _table_of(unfinished, is_public=True)
    assert "Hand 59" in text
    assert not _cards_in(text, deal)
    assert _cards_in(_table_of(unfinished, is_public=False), deal)


def test_table_shows_the_current_moment_of_a_running_match(tmp_path: Path) -> None:
    live = LiveMatches()
    deals: dict[str, Deal] = {}

    def watch(happened: MatchEvent) -> None:
        if isinstance(happened.event, HandStarted) and happened.event.hand_number >= 30:
            return
        if isinstance(happened.event, HandStarted):
            deals[happened.match] = happened.event.deal
        if isinstance(happened.event, HandStarted | ActionPlayed):
            live(happened)

    folder = tmp_path / "live"
    dealer.library.play("leduc", ["random", "calling"], out=folder, deals=40, seed=3, in_process=True, watch=watch)
    unfinished = copy_unfinished(folder, tmp_path / "unfinished", "match.b", 20)
    text = _table_of(unfinished, is_public=False, live=live)
    assert "Hand 29" in text
    assert _cards_in(text, deals["match.a"])
    hidden = _table_of(unfinished, is_public=True, live=live)
    assert "Hand 29" in hidden
    assert not _cards_in(hidden, deals["match.a"])


# ---- many readers


class _Reader:
    """Client at an address that follows the table of a match."""

    def __init__(self, follow: Callable[[_Reader], Awaitable[None]], address: str) -> None:
        self.address = address
        self.status = 0
        self._events: asyncio.Queue[str] = asyncio.Queue()
        self._left = asyncio.Event()
        self._task = asyncio.ensure_future(follow(self))

    async def receive(self) -> Message:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.status = message.get("status", self.status)
        for block in message.get("body", b"").decode().split("\n\n"):
            if block and not block.startswith("retry"):
                self._events.put_nowait(block)

    async def event(self) -> str:
        async with asyncio.timeout(PATIENCE_S):
            return await self._events.get()

    async def leave(self) -> None:
        self._left.set()
        await self._task


class _WatchedTable:
    """Pages of a running match, without a port.

    Attributes:
        table_count: number of tables that were rendered.
        access: access by address; all other addresses see no cards.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.table_count = 0
        self.access: dict[str, Access] = {}
        self._readers: list[_Reader] = []
        self._counting = HandCounter()
        current_scenes = live.current_scenes

        def next_scenes(*arguments: object) -> tuple[str, int, object]:
            # Every state has another name, as if the match had gone on.
            self.table_count += 1
            _, number, scenes = current_scenes(*arguments)  # type: ignore[arg-type]
            return f"state {self.table_count}", number, scenes

        class Pages(LocalLibrary):
            def open(_, key: str, visitor: Visitor) -> ShownRun:
                shown = super().open(key, visitor)
                access = self.access.get(visitor.address, Access(False, False, frozenset()))
                return replace(shown, access=access)

        monkeypatch.setattr(live, "current_scenes", next_scenes)
        site = Site()
        self._app = make_app(site, local_routes(site, Pages([folder]), self._counting))

    async def _follow(self, reader: _Reader) -> None:
        path = "/runs/unfinished/matches/match.a/events"
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "scheme": "http"}
        scope |= {"headers": [(b"host", b"localhost")], "client": (reader.address, 1), "server": ("localhost", 80)}
        await self._app(scope, reader.receive, reader.send)

    def reader(self, address: str) -> _Reader:
        self._readers.append(_Reader(self._follow, address))
        return self._readers[-1]

    async def close(self) -> None:
        for reader in self._readers:
            await reader.leave()
        self._counting.close()


@asynccontextmanager
async def _watched(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[_WatchedTable]:
    table = _WatchedTable(copy_unfinished(run, tmp_path / "unfinished", "match.b", 20), monkeypatch)
    try:
        yield table
    finally:
        await table.close()


async def test_readers_with_equal_access_share_one_table(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_TABLE_S", 1e9)

    async with _watched(run, tmp_path, monkeypatch) as table:
        table.access["10.0.0.9"] = Access()
        first = table.reader("10.0.0.1")
        event = await first.event()
        others = [table.reader(f"10.0.0.{number}") for number in range(2, 8)]
        assert [await reader.event() for reader in others] == [event] * len(others)
        assert table.table_count == 1
        event_with_cards = await table.reader("10.0.0.9").event()
        assert table.table_count == 2
        deal = WatchedRun(tmp_path / "unfinished").contests[0].matches["match.a"].hands.hand(59).deal
        assert _cards_in(event_with_cards, deal)
        assert not _cards_in(event, deal)


async def test_reader_whose_access_has_changed_receives_another_table(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_TABLE_S", 0.0)

    async with _watched(run, tmp_path, monkeypatch) as table:
        deal = WatchedRun(tmp_path / "unfinished").contests[0].matches["match.a"].hands.hand(59).deal
        table.access["10.0.0.9"] = Access()
        reader, other = table.reader("10.0.0.9"), table.reader("10.0.0.1")
        assert _cards_in(await reader.event(), deal)
        table.access.clear()
        while _cards_in(await reader.event(), deal):
            pass
        for _ in range(3):
            assert not _cards_in(await reader.event(), deal)
            assert not _cards_in(await other.event(), deal)


async def test_streams_are_limited_by_address_and_counted_down(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _watched(run, tmp_path, monkeypatch) as table:
        readers = [table.reader("10.0.0.1") for _ in range(20)]
        for reader in readers:
            assert await reader.event()
        refused = table.reader("10.0.0.1")
        assert "Your address already follows 20 streams of events." in await refused.event()
        assert refused.status == 429
        assert await table.reader("10.0.0.2").event()
        await readers[0].leave()
        again = table.reader("10.0.0.1")
        await again.event()
        assert again.status == 200


def test_many_readers_are_updated_less_often() -> None:
    assert live.pause_s(0.25, streams=1, parts=1) == 0.25
    assert live.pause_s(0.25, streams=200, parts=1) == pytest.approx(3.04)
    assert live.pause_s(1.0, streams=200, parts=50) == pytest.approx(5.0)
