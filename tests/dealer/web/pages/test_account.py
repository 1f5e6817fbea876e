"""Account pages: requests, bots, faults, tokens, passwords, invitations, names and teams."""

from __future__ import annotations

import asyncio
import contextlib
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.server.accounts import (
    Accounts,
    Scope,
    add_invitation,
    disable_user,
    read_accounts,
    read_tokens,
    remove_user,
)
from dealer.server.db import records
from dealer.server.db.bot_registry import register_user_bot
from dealer.server.db.records import JobRequest, JobState, Match, RunSeat, RunState, new_job
from dealer.server.db.run_changes import RunReport, add_job, begin_run, end_job, end_run
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import User, add_user
from engine import Seat
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.web.pages.test_play_pages import field, page_words
from tests.dealer.web.visits import Visit, logged_in_visit, new_user, small_house, visiting, with_slow_bot

pytestmark = pytest.mark.usefixtures("cheap_hashes")
GAME = "kuhn.limit.2p"
EVIL = '<script>alert("1")</script>'


async def post(browser: httpx2.AsyncClient, path: str, page: str = "/account", **fields: str) -> httpx2.Response:
    key = field((await browser.get(page)).text, "form_key")
    return await browser.post(path, data={"form_key": key} | fields)


async def until(visit: Visit, words: str, path: str = "/account") -> httpx2.Response:
    async with asyncio.timeout(PATIENCE_S):
        while words not in page_words(answer := await visit.browser.get(path)):
            await asyncio.sleep(0.05)
    return answer


async def test_request_is_played_and_its_files_are_downloaded(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        sent = {"game": GAME, "player1": "calling", "player2": "random", "deals": "7", "tag": EVIL}
        answer = await post(visit.browser, "/account/request", **sent)
        assert (answer.status_code, answer.headers["location"]) == (303, "/account")
        page = await until(visit, "finished")
        assert EVIL not in page.text
        assert "&lt;script&gt;" in page.text
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            (run,) = records.runs(store)
        # The files contain cards, and are shown when the whole request has ended.
        details = await until(visit, "times", f"/account/runs/{run.id}")
        assert re.search(r"match\.b 7 ", page_words(details)), page_words(details)
        assert f'href="/runs/{run.id}"' in details.text
        assert (await visit.browser.get(f"/runs/{run.id}")).status_code == 200
        links = re.findall(f'href="(/account/runs/{run.id}/[^"]+)"', details.text)
        assert {link.rpartition("/")[2] for link in links} >= {"log", "times"}
        log = await visit.browser.get(next(link for link in links if link.endswith("/log")))
        assert log.status_code == 200
        assert "STATE:0:" in log.text
        assert log.headers["content-disposition"].startswith("attachment")


async def test_pages_show_the_short_names_of_games(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        form = {"game": "kuhn", "player1": "calling", "player2": "random", "deals": "1"}
        await post(visit.browser, "/account/request", **form)
        async with asyncio.timeout(PATIENCE_S):
            while "/pairs/" not in (await visit.browser.get("/standings/kuhn")).text:
                await asyncio.sleep(0.05)
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            (job,) = records.jobs(store)
            store.write_now(lambda db: register_user_bot(db, job.user.id, GAME, "mine", "1"))
        table = await post(visit.browser, "/play", "/play", game=GAME, bot1="random")
        waiting = {"/", "/account", "/account/request?game=kuhn", "/play?game=kuhn", table.headers["location"]}

        def kind_of(path: str) -> str:
            return re.sub(r"\d+", "N", path)

        visited: set[str] = set()
        kinds: set[str] = set()
        while waiting:
            path = waiting.pop()
            visited.add(path)
            kinds.add(kind_of(path))
            page = await visit.browser.get(path)
            words = re.sub(r"full name of the game \S+", "", page_words(page))
            assert not re.search(r"(kuhn|leduc|holdem)\.(no)?limit", words), path
            for link in re.findall(r'href="(/(?:account|bots|pairs|play|runs|standings|tables)[^"#]*)"', page.text):
                is_file_or_hand = re.search("log|times|hand|leaks", link)
                if not is_file_or_hand and link not in visited and kind_of(link) not in kinds:
                    waiting.add(link)
        assert {path.split("/")[1] for path in visited} >= {"", "account", "bots", "pairs", "runs", "standings"}
        assert "/standings/kuhn.limit.2p" in visited, "addresses have the full name"


async def test_impossible_requests_are_refused(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        for fields, words in (
            ({"game": "chess"}, "Choose a game."),
            ({"player2": ""}, "Choose a player for each seat."),
            ({"player2": "nobody"}, "has no bot nobody"),
            ({"deals": "x"}, "Deals must be a whole number"),
            ({"deals": "999999999"}, "deals here"),
            ({"runs": "99"}, "at most 10 times"),
            ({"stop": "when=ever"}, "The rule in stop is not valid"),
            ({"seating": "upside down"}, "There is no such seating."),
            ({"tag": "x" * 500}, "The tag is too long"),
        ):
            form = {"game": GAME, "player1": "calling", "player2": "random"} | fields
            answer = await post(visit.browser, "/account/request", **form)
            assert answer.status_code == 422
            assert words in page_words(answer)


async def test_request_is_cancelled_by_its_owner_only(tmp_path: Path) -> None:
    async with visiting(with_slow_bot(small_house(), tmp_path), tmp_path / "data") as visit:
        await visit.log_in()
        sent = {"game": GAME, "player1": "calling", "player2": "slow", "deals": "10000", "runs": "10"}
        answer = await post(visit.browser, "/account/request", **sent)
        assert answer.status_code == 303, page_words(answer)
        await until(visit, "run 1 of 10, ")
        page = await until(visit, "of 10,000 deals")
        (path,) = re.findall(r"/account/jobs/\d+/cancel", page.text)
        token = new_user(visit.house.folder, "eve")
        async with visit.another() as other:
            await log_in(other, "eve", token)
            assert (await post(other, path)).status_code == 404
        assert (await post(visit.browser, path)).status_code == 303
        await until(visit, "cancelled: it was cancelled")


async def log_in(browser: httpx2.AsyncClient, name: str, secret: str) -> int:
    data = {"name": name, "secret": secret, "next": "/"}
    return (await post(browser, "/login", "/login", **data)).status_code


async def test_token_is_shown_once_and_revoked_by_its_owner(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        answer = await post(visit.browser, "/account/tokens", label=EVIL, scope_read="1")
        assert answer.status_code == 201
        (token,) = re.findall(r"<pre[^>]*>([^<]+)</pre>", answer.text)
        page = await visit.browser.get("/account/settings")
        assert "&lt;script&gt;" in page.text
        assert token not in page.text
        assert EVIL not in page.text
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            new, first = read_tokens(store, 1)
            assert (new.scopes, new.label) == (frozenset((Scope.READ,)), EVIL)
            assert Accounts(store).find_token(token) is not None
            async with visit.another() as other:
                await log_in(other, "eve", new_user(visit.house.folder, "eve"))
                assert (await post(other, f"/account/tokens/{new.id}/revoke")).status_code == 404
            assert Accounts(store).find_token(token) is not None
            assert (await post(visit.browser, f"/account/tokens/{new.id}/revoke")).status_code == 303
            assert Accounts(store).find_token(token) is None
            assert [token.id for token in read_tokens(store, 1)] == [first.id]
            assert (await post(visit.browser, f"/account/tokens/{new.id}/revoke")).status_code == 404
        for fields in (
            {"label": "x"},
            {"label": "x" * 65, "scope_read": "1"},
            {"label": "\x07", "scope_read": "1"},
            {"label": "x", "scope_admin": "1"},
        ):
            assert (await post(visit.browser, "/account/tokens", **fields)).status_code == 422


async def test_password_change_needs_the_old_password(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit, visit.another() as other:
        await log_in(other, "player", visit.token)
        new = "correct horse"
        wrong = [
            ({"old": "nonsense", "new": new, "again": new}, "is wrong"),
            ({"old": visit.token, "new": "short", "again": "short"}, "The password must have 8 to"),
            ({"old": visit.token, "new": new, "again": new + "!"}, "new passwords differ"),
        ]
        for fields, words in wrong:
            answer = await post(visit.browser, "/account/password", **fields)
            assert answer.status_code == 422
            assert words in page_words(answer)
        answer = await post(visit.browser, "/account/password", old=visit.token, new=new, again=new)
        assert answer.status_code == 200
        assert "Your password is changed" in page_words(answer)
        assert (await visit.browser.get("/account")).status_code == 200
        assert (await other.get("/account")).headers["location"] == "/login?next=/account"
        assert await log_in(other, "player", new) == 303


def invite(visit: Visit, name: str = "eve", lasting_s: float = 100.0) -> str:
    """Create an invitation; return its path."""
    with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
        secret = store.write_now(lambda db: add_invitation(db, add_user(db, name), lasting_s))
    return f"/invitation/{secret}"


async def test_invitation_sets_a_password_once_and_gives_a_token(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        path = invite(visit)
        page = page_words(await visit.browser.get(path))
        assert "Welcome, eve" in page
        for new, again, problem in (
            ("short", "short", "The password must have 8 to 256 characters."),
            ("correct horse", "correct house", "The two new passwords differ."),
        ):
            answer = await post(visit.browser, path, path, new=new, again=again)
            assert answer.status_code == 422
            assert problem in page_words(answer)
        without_key = await visit.browser.post(path, data={"new": "correct horse", "again": "correct horse"})
        assert without_key.status_code == 403
        accepted = await post(visit.browser, path, path, new="correct horse", again="correct horse")
        (token,) = re.findall(r'aria-label="The token">([^<]+)<', accepted.text)
        page = page_words(accepted)
        assert "eve Log out" in page
        assert f"eve {token}" in page
        assert f"arena join {visit.address.rstrip('/')} --token-file arena-token" in page
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            user = Accounts(store).find("eve", token)
            assert user is not None
            (record,) = read_tokens(store, user.id)
            assert record.scopes == frozenset((Scope.READ, Scope.PLAY))
        assert "eve" in page_words(await visit.browser.get("/account"))
        async with visit.another() as other:
            assert await log_in(other, "eve", "correct horse") == 303
        used = await visit.browser.get(path)
        assert used.status_code == 404
        assert "This invitation is used" in page_words(used)


async def test_invitation_expires_is_replaced_and_ends_with_its_user(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:

        async def status(path: str) -> int:
            return (await visit.browser.get(path)).status_code

        assert await status(invite(visit, "late", -1.0)) == 404
        first, second = invite(visit), invite(visit)
        assert (await status(first), await status(second)) == (404, 200)
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            store.write_now(lambda db: disable_user(db, "eve", is_disabled=True))
            assert await status(second) == 404
            store.write_now(lambda db: disable_user(db, "eve", is_disabled=False))
            assert await status(second) == 200
            store.write_now(lambda db: remove_user(db, "eve"))
            assert await status(second) == 404
        # Guesses of invitations are limited like those of logins.
        statuses = [await status("/invitation/guessed") for _ in range(40)]
        assert statuses[-1] == 429


async def test_disabled_or_removed_user_is_refused_everywhere(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        path = invite(visit)
        page = (await post(visit.browser, path, path, new="x" * 8, again="x" * 8)).text
        (token,) = re.findall('token">([^<]+)<', page)
        headers = {"authorization": f"Bearer {token}"}

        async def login_statuses() -> list[int]:
            """Statuses of a session, a call with a token, and logins with a password and with a token."""
            statuses = [(await visit.browser.get("/account")).status_code]
            async with visit.another() as program:
                statuses.append((await program.get("/api/v1/me", headers=headers)).status_code)
            for secret in ("x" * 8, token):
                async with visit.another() as other:
                    statuses.append(await log_in(other, "eve", secret))
            return statuses

        assert await login_statuses() == [200, 200, 303, 303]
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            store.write_now(lambda db: disable_user(db, "eve", is_disabled=True))
            assert await login_statuses() == [303, 401, 403, 403]
            store.write_now(lambda db: disable_user(db, "eve", is_disabled=False))
            assert await login_statuses() == [200, 200, 303, 303]
            store.write_now(lambda db: remove_user(db, "eve"))
            assert await login_statuses() == [303, 401, 403, 403]
            assert [account["name"] for account in read_accounts(store)] == ["player"]
            names = [row["name"] for row in store.read("SELECT name FROM users ORDER BY id")]
            assert names == ["player", "(removed-2)"]


async def test_faults_of_a_bot_are_shown_to_its_owner_only(tmp_path: Path) -> None:
    line = b'MATCHSTATE:0:0::Ks|:x<img src="x">\x00\xff\r\n'

    def enter(db: Any, owner: User) -> int:
        version = register_user_bot(db, owner.id, GAME, "mybot", "v1")
        job = add_job(db, new_job(User(1, "player"), JobRequest(GAME, ("mybot", "calling"), "t"), 5))
        run = begin_run(db, job, [version, None], 1)
        fault = Fault(Seat(0), FaultKind.MALFORMED_REPLY, 3, line, Remedy.FORFEITED)
        other = Fault(Seat(1), FaultKind.STALE_REPLY, 4, b"secret of the other", Remedy.IGNORED)
        seats = (RunSeat(player=0, name="mybot", chips=-5.0), RunSeat(player=1, name="calling", chips=5.0))
        matches = (Match(name="match", log="match.log", first_hand=0, hands=9),)
        faults = (("match", fault), ("match", other))
        report = RunReport(RunState.FAILED, "it failed.", seats=seats, matches=matches, faults=faults)
        end_run(db, run.id, report)
        end_job(db, job.id, JobState.DONE)
        return run.id

    async with logged_in_visit(tmp_path) as visit:
        token = new_user(visit.house.folder, "eve")
        nosy = new_user(visit.house.folder, "nosy")
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            run = await store.write(lambda db: enter(db, User(add_user(db, "eve"), "eve")))
        async with visit.another() as eve, visit.another() as other:
            await log_in(eve, "eve", token)
            await log_in(other, "nosy", nosy)
            for path in ("/account", "/account/faults", f"/account/runs/{run}"):
                page = await eve.get(path)
                assert "0:0::Ks|:x&lt;img src=&quot;x&quot;&gt;\\x00" in page.text
                assert '<img src="x' not in page.text
                assert "secret of the other" not in page.text
            for path in (f"/account/runs/{run}", f"/account/runs/{run}/match/log", f"/account/runs/{run}/match/faults"):
                assert (await other.get(path)).status_code == 404
            assert "mybot" not in (await other.get("/account")).text
            assert "mybot" not in (await other.get("/account/faults")).text
        # The requester of a run sees its result without the faults of other users' bots.
        page = await visit.browser.get(f"/account/runs/{run}")
        assert page.status_code == 200
        assert "x00" not in page.text
        for path in ("match/nothing", "..%2f..%2fserver.sqlite3/log", "match%2f..%2f/log", "no/log"):
            assert (await visit.browser.get(f"/account/runs/{run}/{path}")).status_code == 404


async def test_visitors_without_a_login_are_sent_to_the_login_and_back(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        for path in ("", "/settings", "/request", "/faults", "/runs/1"):
            sent = await visit.browser.get(f"/account{path}")
            assert (sent.status_code, sent.headers["location"]) == (303, f"/login?next=/account{path}")
        redirect = await visit.browser.get("/account/request?game=kuhn&practice=1")
        assert redirect.headers["location"] == "/login?next=/account/request%3Fgame%3Dkuhn%26practice%3D1"
        refused = await visit.browser.post("/account/tokens")
        assert refused.status_code == 401
        assert 'href="/login?next=' in refused.text


async def test_owner_frees_a_name_on_the_page(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            ((player,),) = visit.house.rows("SELECT id FROM users WHERE name = 'player'")
            store.write_now(lambda db: register_user_bot(db, player, GAME, "mine", "v1"))
            assert "You use 1 of 20 names." in (await visit.browser.get("/account")).text
            refused = await post(visit.browser, "/account/names/free", name="mine")
            assert refused.status_code == 422
            assert "was a minute ago" in refused.text
            store.write_now(lambda db: db.execute("UPDATE bots SET seen_s = 1").rowcount)
            assert (await post(visit.browser, "/account/names/free", name="mine")).status_code == 303
            assert "You use" not in (await visit.browser.get("/account")).text


async def test_users_form_a_team_on_the_page_and_see_its_bots(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        bob = new_user(tmp_path, "bob")
        assert (await post(visit.browser, "/account/team", team="Sharks")).status_code == 303
        assert "You are in the team Sharks: player." in (await visit.browser.get("/account")).text
        refused = await post(visit.browser, "/account/team/invite", user="bobb")
        assert refused.status_code == 422
        assert "There is no user bobb." in refused.text
        assert (await post(visit.browser, "/account/team/invite", user="bob")).status_code == 303
        headers = {"authorization": f"Bearer {bob}"}
        caller = (await visit.browser.get("/api/v1/me", headers=headers)).json()
        assert (caller["team"], caller["team_invitations"]) == (None, ["Sharks"])
        assert (await visit.browser.post("/api/v1/teams/Sharks/join", headers=headers)).status_code == 204
        teams = (await visit.browser.get("/api/v1/teams", headers=headers)).json()["teams"]
        assert teams == [{"name": "Sharks", "members": ["bob", "player"]}]
        job = {"game": "kuhn", "players": ["calling", "random"], "deals": 3}
        assert (await visit.browser.post("/api/v1/jobs", headers=headers, json=job)).status_code == 201
        assert "calling" in page_words(await visit.browser.get("/account"))
        assert (await visit.browser.delete("/api/v1/team", headers=headers)).status_code == 204
        assert (await post(visit.browser, "/account/team/leave")).status_code == 303
        assert "Form a team" in (await visit.browser.get("/account")).text
