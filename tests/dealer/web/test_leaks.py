"""The page of a player's leaks: what it says, where its links lead, and who is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from markupsafe import escape

from dealer.run.leaks import divergence_in_words, sentences_of
from dealer.server.access import Access
from dealer.watching import WatchedRun
from dealer.web import leaks as pages
from dealer.web.library import ShownRun
from logs.hand_source import find
from logs.leaks import deals_in, leaks_of
from tests.dealer.web.browsing import browsing, interrupted, links, played

LEAKS = "/runs/limit/leaks?player="


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("runs") / "limit", "limit", hands=80)


def test_a_page_says_what_the_command_says_with_links_to_the_hands(run: Path) -> None:
    found = leaks_of(deals_in(find([run])), "calling")
    with browsing(run) as client:
        assert f"{LEAKS}calling" in links(client.get("/runs/limit").text)
        page = client.get(f"{LEAKS}calling")
        assert page.status_code == 200
        for sentence in sentences_of(found):
            assert str(escape(sentence)) in page.text
        for divergence, _ in found.worst:
            assert str(escape(divergence_in_words(divergence))) in page.text
            for match in "ab":
                assert f"/runs/limit/matches/match.{match}/hands/{divergence.hand_number}" in links(page.text)
        assert all(client.get(path).status_code == 200 for path in links(page.text))


def test_what_cannot_be_told_is_told_in_a_sentence(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with browsing(run) as client:
        assert client.get(f"{LEAKS}Zoe").status_code == 404
        assert client.get(f"{LEAKS}calling&contest=none").status_code == 404
        monkeypatch.setattr(pages, "MOST_HANDS", 100)
        page = client.get(f"{LEAKS}calling")
        assert page.status_code == 200
        assert "There are 160 hands, and a page compares at most 100" in page.text


def test_games_without_leaks_have_no_link(tmp_path: Path) -> None:
    with browsing(played(tmp_path / "leduc")) as client:
        assert "/leaks?" not in client.get("/runs/leduc").text
        assert "hold&#39;em only" in client.get("/runs/leduc/leaks?player=calling").text


def test_nobody_is_told_while_deals_are_still_to_be_played(run: Path, tmp_path: Path) -> None:
    going = interrupted(run, tmp_path / "limit", "match.b", 30)
    with browsing(going, is_public=True) as client:
        assert "/leaks?" not in client.get("/runs/limit").text
        assert client.get(f"{LEAKS}calling").status_code == 403


def test_on_a_server_owners_are_told_of_their_own_bots(run: Path) -> None:
    """Who owns none of the bots is told nothing."""
    watched = WatchedRun(run)

    def told(*own: str) -> list[str]:
        shown = ShownRun(watched, Access(own=frozenset(own)))
        return [name for name, _ in pages.told_of(shown, watched.contests[0])]

    assert told("calling") == ["calling"]
    assert told() == []
    watched.close()
