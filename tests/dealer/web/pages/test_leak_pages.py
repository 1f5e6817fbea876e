"""Page of a player's leaks: sentences, links and access."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from dealer.joining.server_client import JoinedServer
from dealer.reports.leak_report import divergence_in_words, sentences_of
from dealer.server.access import Access
from dealer.watching import WatchedRun
from dealer.web.pages import leak_pages
from dealer.web.pages.shown_runs import ShownRun
from dealer.web.pages.views import leak_paths
from logs.hand_source import find
from logs.leaks import deals_in, leaks_of
from tests.dealer.joining.test_joining import joining_client
from tests.dealer.web.browsing import browsing, copy_unfinished, links, play_run
from tests.dealer.web.pages.test_account import post
from tests.dealer.web.test_api import Program
from tests.dealer.web.visits import small_house, visiting

LEAKS = "/runs/limit/leaks?player="


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_run(tmp_path_factory.mktemp("runs") / "limit", "limit", hands=60)


def test_page_has_the_sentences_of_the_command_with_links_to_the_hands(run: Path) -> None:
    leaks = leaks_of(deals_in(find([run])), "calling")
    with browsing(run) as client:
        assert f"{LEAKS}calling" in links(client.get("/runs/limit").text)
        page = client.get(f"{LEAKS}calling")
        assert page.status_code == 200
        for sentence in sentences_of(leaks):
            assert str(escape(sentence)) in page.text
        for divergence, _ in leaks.worst:
            assert str(escape(divergence_in_words(divergence))) in page.text
            for match in "ab":
                assert f"/runs/limit/matches/match.{match}/hands/{divergence.hand_number}" in links(page.text)


def test_unknown_players_and_long_runs_are_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with browsing(run) as client:
        assert client.get(f"{LEAKS}Zoe").status_code == 404
        assert client.get(f"{LEAKS}calling&contest=none").status_code == 404
        monkeypatch.setattr(leak_pages, "MAX_HANDS", 100)
        page = client.get(f"{LEAKS}calling")
        assert page.status_code == 200
        assert "There are 120 hands, and a page compares at most 100" in page.text


def test_games_without_leaks_have_no_link(tmp_path: Path) -> None:
    with browsing(play_run(tmp_path / "leduc")) as client:
        assert "/leaks?" not in client.get("/runs/leduc").text
        assert "hold&#39;em only" in client.get("/runs/leduc/leaks?player=calling").text


def test_leaks_are_secret_while_deals_are_left_to_play(run: Path, tmp_path: Path) -> None:
    unfinished = copy_unfinished(run, tmp_path / "limit", "match.b", 30)
    with browsing(unfinished, is_public=True) as client:
        assert "/leaks?" not in client.get("/runs/limit").text
        assert client.get(f"{LEAKS}calling").status_code == 403


def test_owners_have_links_to_leaks_of_their_own_bots_only(run: Path) -> None:
    watched = WatchedRun(run)

    def players_with_links(*own: str) -> list[str]:
        shown = ShownRun(watched, Access(own=frozenset(own)))
        return list(leak_paths(shown, watched.contests[0]))

    assert players_with_links("calling") == ["calling"]
    assert players_with_links() == []
    watched.close()


LIMIT = "holdem.limit.2p.reverse_blinds"


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_leaks_of_a_bot_of_a_user_need_practice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_allowed: bool
) -> None:
    """The page of a rated contest refuses and offers a practice contest, if the server allows practice."""
    monkeypatch.chdir(tmp_path)

    async with visiting(replace(small_house(), practice_duplicates=is_allowed), tmp_path / "data") as visit:
        await visit.log_in()
        client = joining_client(visit.house, "calling", games=(LIMIT,), at_once=4)
        client.start()
        await client.until(JoinedServer)
        program = Program(visit)
        request = {"game": LIMIT, "players": ["mine", "random"], "deals": 2}
        job = (await program.submit(request)).json()["id"]
        assert (await program.wait_for_job(job))["runs"][0]["unrated"] == ""
        refused = (await visit.browser.get("/runs/1/leaks?player=mine")).text
        assert "No deal of mine was played in every seating" in refused
        forms = links(refused, "/account/request?")
        assert forms == links((await visit.browser.get("/runs/1")).text, "/account/request?")
        page = (await visit.browser.get(f"/account/request?game={LIMIT}&practice=1")).text
        bot = f"/bots/{LIMIT}/mine"
        if is_allowed:
            (practice,) = links((await visit.browser.get(bot)).text, "/account/request")
            assert "practice=1" in practice
            form = (await visit.browser.get(forms[0])).text
            chosen = re.findall('value="([^"]+)" (?:selected|checked)', form)
            assert chosen == [LIMIT, "mine", "random", "rotations", "1"]
            sent = {"game": LIMIT, "player1": "mine", "player2": "random", "deals": "2", "practice": "1"}
            assert (await post(visit.browser, "/account/request", forms[0], **sent)).status_code == 303
            (practice_run,) = (await program.wait_for_job(2))["runs"]
            assert not practice_run["is_rated"]
            page = (await visit.browser.get("/runs/2")).text
            assert "does not count in the standings: its cards follow from a seed, as in practice" in page
            (path,) = links(page, "/runs/2/leaks")
            leaks = (await visit.browser.get(path)).text
            assert "mine played 2 deals in every seating" in leaks
            assert links(leaks, "/account/request?") == []
            own = (await visit.browser.get(bot)).text
            assert re.findall(r"/runs/./leaks[^\"]*", own) == ["/runs/2/leaks?player=mine"]
            async with visit.another() as stranger:
                assert "leaks" not in (await stranger.get(bot)).text
        else:
            assert forms == []
            answer = await program.submit(request | {"practice": True})
            assert answer.status_code == 422
            assert "not dealt the same cards twice on this server" in answer.json()["detail"]
            assert 'name="practice"' not in page
            # Duplicates of built-in bots are allowed: they remember no cards.
            assert (await program.submit(request | {"players": ["calling", "random"], "seed": 1})).status_code == 201
        await client.leave()
