"""Pages of runs, matches and hands: content, links, exports, access and hostile texts."""

from __future__ import annotations

import html
import json
import re
import shutil
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

import dealer.library
from dealer.watching import WatchedRun
from dealer.web.pages import shown_runs
from dealer.web.pages.shown_runs import ShownRun
from dealer.web.visitor import Visitor
from engine import DealKey
from logs import HandRecord
from logs.acpc_log.exchanges import ACTION, Exchange, ExchangeWriter
from logs.acpc_log.reader import read_log
from logs.hand_view import views_of
from logs.poker_table.faces import card_face
from tests.dealer.helpers import ROOT
from tests.dealer.web.browsing import PublicLibrary, browser, browsing, copy_unfinished, links, play_run

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_run(tmp_path_factory.mktemp("runs") / "a run")


@pytest.fixture(scope="module")
def tournament(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "cup"
    dealer.library.tournament(
        ["kuhn", "leduc"], ["random", "calling", "raising"], out=folder, deals=4, seed=3, in_process=True
    )
    return folder


def test_every_link_has_a_target(run: Path, tournament: Path) -> None:
    with browsing(run, tournament) as client:
        visited: set[str] = set()
        # Two hands of each match are enough.
        visits_by_kind: Counter[str] = Counter()
        waiting = ["/"]
        while waiting:
            path = waiting.pop()
            kind = re.sub(r"hands/\d+", "hands/N", path)
            if path in visited or visits_by_kind[kind] == 2:
                continue
            visited.add(path)
            visits_by_kind[kind] += 1
            answer = client.get(path)
            assert answer.status_code == 200, path
            if answer.headers["content-type"].startswith("text/html"):
                waiting += links(answer.text)
        assert any("/export/log" in path for path in visited)
        assert any("/contest/" in path for path in visited)
        assert any(path.endswith("/acpc") for path in visited)


def test_run_opened_by_two_visitors_is_read_once(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[WatchedRun] = []

    class SlowRun(WatchedRun):
        def __init__(self, path: Path, key: str) -> None:
            runs.append(self)
            time.sleep(0.1)
            super().__init__(path, key)

    monkeypatch.setattr(shown_runs, "WatchedRun", SlowRun)
    open_run = shown_runs._cache_runs()
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(lambda _: open_run(run, "a run"), range(2))
    assert first is second
    assert runs == [first]


def test_contest_shows_its_result_its_curve_and_notable_hands(run: Path) -> None:
    with browsing(run) as client:
        page = client.get("/runs/a%20run").text
        assert "random" in page
        assert "60 deals of leduc in 2 seatings each" in page
        assert page.count("<polyline") == 2
        for title in ("Biggest pots", "Worst deals over all seatings", "Worst hands of random"):
            assert title in page
        assert "/runs/a%20run/matches/match.a/hands/" in page
        assert "data-events" not in page


def test_hand_has_a_stable_address_for_every_step(run: Path) -> None:
    record = list(read_log(run / "match.b.log"))[17]
    scenes = views_of(record)
    with browsing(run) as client:
        for step in (0, len(scenes) - 1):
            page = client.get(f"/runs/a%20run/matches/match.b/hands/17?step={step}").text
            steps = [
                number for number in range(len(scenes)) if f'id="scene-{number}" aria-label="Step {number}">' in page
            ]
            assert steps == [step]
            assert page.count('aria-current="step"') == 1
            for scene in scenes:
                assert html.escape(scene.words) in page
        assert client.get("/runs/a%20run/matches/match.b/hands/17/acpc").text.startswith("STATE:17:")
        assert 'href="/runs/a%20run/matches/match.b/hands/16"' in page
        assert 'href="/runs/a%20run/matches/match.b/hands/18"' in page
        assert 'href="/runs/a%20run/matches/match.a/hands/17"' in page
        assert 'role="img" aria-label="' in page
        jump = client.get("/runs/a%20run/matches/match.b?hand=17", follow_redirects=False)
        assert jump.headers["location"] == "/runs/a%20run/matches/match.b/hands/17"


def exchange(hand: int, index: int, **changes: Any) -> Exchange:
    return Exchange(hand, index, ACTION, 1, "Your turn", "", **changes)


def test_exchanges_with_a_model_are_shown_with_their_hand(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    shutil.copytree(run, folder)
    record = list(read_log(folder / "match.b.log"))[17]
    seat = record.names_by_seat.index("random")
    writer = ExchangeWriter(folder / f"match.b.seat{seat + 1}.llm.jsonl")
    reason = f'{{"reason": "because {HOSTILE}", "action": "call"}}'
    writer.write(exchange(16, 0)._replace(answer="of another hand"))
    writer.write(exchange(17, 0, problem="The answer was empty.", repeats=2))
    second = exchange(17, 0, outcome="call", tokens_in=1200, tokens_out=7, cost=0.5, seconds=1.25)
    writer.write(second._replace(attempt=2, prompt=f"The answer was empty. {HOSTILE}", answer=reason))
    writer.close()
    path = "/runs/a%20run/matches/match.b/hands/17"
    with browsing(folder) as client:
        page = client.get(path).text
    assert "<summary>random, action 1</summary>" in page
    assert "<summary>random, action 1, asked again: call</summary>" in page
    assert "1.25 s, 1,200 tokens in, 7 tokens out, cost 0.5" in page
    assert "0.00 s, 2 repeated requests" in page
    assert page.count("The answer was empty.") >= 3
    assert f"call. because {escape(HOSTILE)}" in page
    assert HOSTILE not in page
    assert "of another hand" not in page


def test_unknown_addresses_are_not_found(run: Path) -> None:
    match = "/runs/a%20run/matches/match.a"
    with browsing(run) as client:
        for path, status in (
            ("/runs/nothing", 404),
            ("/runs/..%2F..", 404),
            ("/runs/a%20run/matches/match.c", 404),
            ("/runs/a%20run/matches/../../etc/passwd", 404),
            ("/runs/a%20run/matches/%2e%2e%2fmatch.a", 404),
            (f"{match}/hands/60", 404),
            (f"{match}/hands/x", 404),
            (f"{match}/hands/" + "9" * 4000, 404),
            (f"{match}/hands/1/docx", 404),
            (f"{match}/export/pokerstars", 404),
            ("/runs/a%20run/contest/none", 404),
            (f"{match}/hands/1?step=99999999999999999999", 200),
            (f"{match}?page=99999", 200),
            (f"{match}?page=-1", 200),
        ):
            answer = client.get(path)
            assert answer.status_code == status, path
            assert "Traceback" not in answer.text


def test_verdict_is_first_also_in_an_unfinished_run(run: Path, tmp_path: Path) -> None:
    unfinished = copy_unfinished(run, tmp_path / "unfinished", "match.b", 20)
    with browsing(run, unfinished) as client:

        def verdict(name: str) -> str:
            return str(re.findall(r'class="lead">([^<]+)', client.get(f"/runs/{name}").text)[0])

        final = r"(random|calling) (beats|is ahead of) \w+ by .* 60 deals of leduc.*"
        assert re.fullmatch(final, verdict("a run"))
        so_far = r"(random|calling) is ahead of \w+ by [\d,]+ mbb/g after 20 deals of leduc in 2 seatings each, too .*"
        assert re.fullmatch(so_far, verdict("unfinished"))
        assert "Not finished." in client.get("/runs/unfinished").text


def test_hands_can_be_filtered_by_winner_and_pot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = play_run(tmp_path / "run", "limit", ("random", "calling"), 120)
    records = list(read_log(folder / "match.a.log"))
    monkeypatch.setattr("dealer.web.pages.replay_pages._MAX_SEARCHED", 100)

    def listed(query: str) -> tuple[list[int], str]:
        text = client.get(f"{match}{query}").text
        return [int(link.rpartition("/")[2]) for link in links(text, f"{match}/hands/")], text

    def is_winner(record: HandRecord, name: str) -> bool:
        return record.values[record.names.index(name)] >= 0

    with browsing(folder) as client:
        match = "/runs/run/matches/match.a"
        numbers, text = listed("")
        assert numbers == list(range(50))
        cards = sum(sum(map(len, record.deal.hole_cards)) + len(record.deal.board) for record in records[:50])
        assert text.count('<b class="mini ') == cards
        assert listed("?page=3")[0] == list(range(100, 120))
        won = [record.hand_number for record in records if is_winner(record, "random")]
        first, text = listed("?winner=random")
        assert first == [number for number in won if number < 100][:50]
        (following,) = links(text, "?winner=random")
        assert first + listed(following)[0] == won
        large_pots = [record for record in records[:100] if record.betting.pot >= 100]
        assert listed("?pot=100&winner=calling")[0] == [
            record.hand_number for record in large_pots if is_winner(record, "calling")
        ]
        numbers, text = listed("?pot=100000")
        assert numbers == []
        assert "None of the 100 hands that were searched" in text
        assert links(text, "?pot=100000") == ["?pot=100000&after=100"]
        assert client.get(f"{match}?winner=nobody&pot=x&after=-1").status_code == 200


def test_exports_are_files(run: Path, tmp_path: Path) -> None:
    holdem = play_run(tmp_path / "holdem", "nolimit", ("calling", "random"), 12)
    with browsing(holdem) as client:
        log = client.get("/runs/holdem/matches/match.a/export/log")
        assert log.content == (holdem / "match.a.log").read_bytes()
        assert "attachment" in log.headers["content-disposition"]
        for name in ("pokerstars", "phh", "ohh"):
            whole = client.get(f"/runs/holdem/matches/match.a/export/{name}").text
            hand = client.get(f"/runs/holdem/matches/match.a/hands/7/{name}").text
            assert len(whole) > 10 * len(hand) > 1000
        file = next((holdem / "pokerstars").glob("*match.a*")).read_text()
        ids = re.findall(r"Hand #(\d+)", client.get("/runs/holdem/matches/match.a/export/pokerstars").text)
        assert ids == re.findall(r"Hand #(\d+)", file)


def test_names_comments_and_faults_stay_text(tmp_path: Path) -> None:
    name = 'x<i onload="1">&amp;{{7*7}}'
    folder = tmp_path / "hostile"
    play_run(folder, hands=12)
    for path in folder.glob("*.log"):
        path.write_text(path.read_text().replace("random", name))
    comment = {"hand_number": 3, "seat": 0, "action_index": 0, "text": f"# {HOSTILE}\x1b[31m"}
    (folder / "match.a.comments").write_text(json.dumps(comment) + "\n")
    fault = {"seat": 0, "kind": "flood", "hand_number": 3, "line": HOSTILE, "remedy": "played c", "is_final": False}
    (folder / "match.a.faults").write_text(json.dumps(fault) + "\n")
    with browsing(folder) as client:
        pages = [client.get(f"/runs/hostile{rest}") for rest in ("", "/matches/match.a", "/matches/match.a/hands/3")]
        for page in pages:
            assert page.status_code == 200
            assert "<i onload" not in page.text
            assert HOSTILE not in page.text
            assert "\x1b" not in page.text
            assert str(escape(name)) in page.text
            assert "script-src 'self'" in page.headers["content-security-policy"]
        assert html.escape(HOSTILE) in pages[0].text
        assert html.escape(HOSTILE) in pages[2].text


def test_other_seatings_are_linked_if_they_have_the_same_cards(tmp_path: Path) -> None:
    honest = f"{ROOT / 'research' / 'serve' / 'peeking.py'}:Honest"
    for name, seed in (("same", 7), ("other", DealKey(bytes(32)))):
        dealer.library.play("kuhn", [honest, "random"], out=tmp_path / name, deals=5, seed=seed, in_process=True)
    with browsing(tmp_path / "same", tmp_path / "other") as client:
        for name in ("same", "other"):
            page = client.get(f"/runs/{name}/matches/match.a/hands/3").text
            assert ("The same deal in other seatings" in page) is (name == "same")


def test_strangers_see_no_cards_still_to_be_played(run: Path, tmp_path: Path) -> None:
    unfinished = copy_unfinished(run, tmp_path / "unfinished", "match.b", 20)
    with browsing(unfinished, is_public=True) as client:
        for number in (19, 20):
            for rest in ("", "/acpc", "?step=1"):
                answer = client.get(f"/runs/unfinished/matches/match.a/hands/{number}{rest}")
                assert answer.status_code == 403
                assert "STATE" not in answer.text
        assert client.get("/runs/unfinished/matches/match.a/export/log").status_code == 403
        listed = client.get("/runs/unfinished/matches/match.a").text
        assert "hands/" not in listed
        assert "hands/" not in client.get("/runs/unfinished").text
    with browsing(unfinished) as client:
        assert client.get("/runs/unfinished/matches/match.a/hands/20").status_code == 200


class KeyedLibrary(PublicLibrary):
    """Runs for a stranger, with cards that come from a key."""

    def open(self, key: str, visitor: Visitor) -> ShownRun:
        return replace(super().open(key, visitor), seed=DealKey(bytes(32)))


def test_running_match_shows_hands_whose_deals_are_over(run: Path, tmp_path: Path) -> None:
    unfinished = copy_unfinished(run, tmp_path / "unfinished", "match.b", 20)
    comment = {"hand_number": 3, "seat": 0, "action_index": 0, "text": "# I bluffed"}
    (unfinished / "match.a.comments").write_text(json.dumps(comment) + "\n")
    writer = ExchangeWriter(unfinished / "match.a.seat1.llm.jsonl")
    writer.write(exchange(3, 0)._replace(answer="I bluffed"))
    writer.close()
    with browser(KeyedLibrary([unfinished])) as client:
        for match in ("match.a", "match.b"):
            path = f"/runs/unfinished/matches/{match}"
            for suffix in ("", "/acpc"):
                statuses = [client.get(f"{path}/hands/{number}{suffix}").status_code for number in (0, 9, 10, 19, 59)]
                assert statuses == [200, 200, 403, 403, 403]
            assert len(links(client.get(path).text, f"{path}/hands/")) == 10
            assert client.get(f"{path}/export/log").status_code == 403
            assert "bluffed" not in client.get(f"{path}/hands/3").text
        assert "hands/" not in client.get("/runs/unfinished").text
    with browser(PublicLibrary([unfinished])) as client:
        assert client.get("/runs/unfinished/matches/match.a/hands/0").status_code == 403


def test_spectator_sees_the_last_hand_whose_deal_is_over(run: Path, tmp_path: Path) -> None:
    unfinished = copy_unfinished(run, tmp_path / "unfinished", "match.b", 20)
    (unfinished / "result.json").write_bytes((run / "result.json").read_bytes())
    record = list(read_log(run / "match.b.log"))[9]
    with browser(KeyedLibrary([unfinished])) as client:
        text = client.get("/runs/unfinished/matches/match.b/events").text
        assert "Hand 9, with its cards" in text
        assert re.search("The contest so far: .* 60 deals of leduc in 2 seatings each", text)
        assert links(text, "/runs/unfinished/matches/match.b/hands/") == ["/runs/unfinished/matches/match.b/hands/9"]
        groups = (*record.deal.hole_cards, record.deal.board)
        cards = {card for group in groups for card in record.game.shown_cards(group)}
        assert {card_face(card).words for card in cards} == {*re.findall(r'role="img" aria-label="(\w+ of \w+)"', text)}
    with browser(PublicLibrary([unfinished])) as client:
        assert "with its cards" not in client.get("/runs/unfinished/matches/match.b/events").text


def test_cells_of_a_crosstable_link_their_contests(tournament: Path) -> None:
    with browsing(tournament) as client:
        page = client.get("/runs/cup").text
        assert page.count("mbb/g of row against column, ± 95 %</caption>") == 2
        pairs = set(links(page, "/runs/cup/contest/"))
        assert len(pairs) == 6
        for pair in pairs:
            contest = client.get(pair)
            assert re.search("4 deals of (kuhn|leduc) in 2 seatings each", contest.text)
            hands = links(contest.text, "/runs/cup/matches/")
            assert {client.get(link).status_code for link in hands[:1]} == {200}


def test_bot_without_a_finished_contest_is_in_the_crosstable(tournament: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    shutil.copytree(tournament, folder)
    result = json.loads((folder / "result.json").read_text("utf-8"))
    result["standings"][0]["unfinished"] = ["Bad"]
    (folder / "result.json").write_text(json.dumps(result), "utf-8")
    with browsing(folder) as client:
        page = client.get("/runs/cup").text
    assert '<th scope="row" class="words">Bad (unfinished)</th>' in page


def test_unreadable_files_are_named_and_others_shown(run: Path, tmp_path: Path) -> None:
    folder = copy_unfinished(run, tmp_path / "damaged", "match.b", 10)
    (folder / "match.c.log").write_bytes(b"STATE:0:zz\n" * 3 + b"\xff\xfe\n")
    (folder / "match.a.tlog").write_bytes(b"\x00" * 100)
    with browsing(folder) as client:
        page = client.get("/runs/damaged")
        assert page.status_code == 200
        assert "match.c.log" in page.text
        assert client.get("/runs/damaged/matches/match.a/hands/3").status_code == 200
