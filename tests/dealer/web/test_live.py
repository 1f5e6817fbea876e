"""What goes on, as events: whole states, told again to whoever comes back; no card for those who must not see it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dealer.library
from dealer.match.events import ActionPlayed, HandStarted
from dealer.run.contest import MatchEvent
from dealer.watching import LiveMatches, WatchedRun
from engine import Deal, format_cards
from logs.poker_table.faces import card_face
from tests.dealer.web.browsing import browsing, interrupted, played


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("runs") / "over")


def _events(text: str) -> list[tuple[str, str, str]]:
    found = []
    for block in text.split("\n\n"):
        fields = [line.partition(": ")[::2] for line in block.splitlines()]
        values = dict(fields)
        if "event" in values:
            data = "\n".join(value for name, value in fields if name == "data")
            found.append((values["event"], values["id"], data))
    return found


def test_a_run_that_is_over_tells_its_state_and_that_it_is_over(run: Path) -> None:
    with browsing(run) as client:
        answer = client.get("/runs/over/matches/match.a/events")
        assert answer.headers["content-type"].startswith("text/event-stream")
        (kind, number, text), (end, _, _) = _events(answer.text)
        assert (kind, end) == ("state", "over")
        assert "Hand 59" in text
        again = _events(client.get("/runs/over/matches/match.a/events", headers={"last-event-id": number}).text)
        assert [kind for kind, _, _ in again] == ["over"]
        old = _events(client.get("/runs/over/matches/match.a/events", headers={"last-event-id": "7-3"}).text)
        assert [(kind, found) for kind, _, found in old] == [("state", text), ("over", "")]
        scores = _events(client.get("/runs/over/contest-events/").text)
        assert "60 deals" in scores[0][2]
        assert client.get("/runs/over/matches/match.x/events").status_code == 404


def _table_of(folder: Path, *, is_public: bool, live: LiveMatches | None = None) -> str:
    """What a watcher of a match that goes on is sent first."""
    from dealer.server.access import Access, Visibility
    from dealer.web.library import Counting, LocalLibrary, ShownRun
    from dealer.web.local import local_routes
    from dealer.web.replay import table_now
    from dealer.web.site import Site, templates

    site, counting = Site(), Counting()
    local_routes(site, LocalLibrary([folder]), counting)
    counting.close()
    run = WatchedRun(folder)
    shown = ShownRun(run, Access(Visibility.NOTHING if is_public else Visibility.EVERYTHING), live)
    (contest,) = run.contests
    match = contest.matches["match.a"]
    _, number, scenes = table_now(shown, contest, match)
    template = templates().get_template("live_table.html.jinja")
    return template.render(
        scene=scenes[-1],
        hero=0,
        holes=2,
        history=[scene.words for scene in scenes],
        number=number,
        is_public=is_public,
        clocks=[],
    )


def _cards_in(text: str, deal: Deal) -> list[str]:
    """The cards of a deal that can be told from the bytes."""
    cards = [card for cards in (*deal.hole_cards, deal.board) for card in cards]
    found = []
    for card in cards:
        name, face = format_cards([card]), card_face(card)
        if face.words in text or re.search(rf"\b{name}\b", text):
            found.append(name)
    return found


def test_no_byte_that_a_stranger_is_sent_tells_a_card(run: Path, tmp_path: Path) -> None:
    going = interrupted(run, tmp_path / "going", "match.b", 20)
    deal = WatchedRun(going).contests[0].matches["match.a"].hands.hand(59).deal
    text = _table_of(going, is_public=True)
    assert "Hand 59" in text
    assert not _cards_in(text, deal)
    assert _cards_in(_table_of(going, is_public=False), deal)


def test_the_table_shows_the_moment_of_a_match_that_goes_on(tmp_path: Path) -> None:
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
    dealer.library.play("leduc", ["random", "calling"], out=folder, hands=40, seed=3, in_process=True, watch=watch)
    going = interrupted(folder, tmp_path / "going", "match.b", 20)
    text = _table_of(going, is_public=False, live=live)
    assert "Hand 29" in text
    assert _cards_in(text, deals["match.a"])
    hidden = _table_of(going, is_public=True, live=live)
    assert "Hand 29" in hidden
    assert not _cards_in(hidden, deals["match.a"])
