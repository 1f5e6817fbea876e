"""HTTP interface: requests, answers, refusals and its description."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from dealer.errors import StoreError
from dealer.server.accounts import GuessLimit, RateLimit, Scope, add_token
from dealer.server.db import records
from dealer.server.db.event_records import Disqualification, EventState, ScheduledEvent, add_event
from dealer.server.db.records import JobState, RunState
from dealer.server.db.series_records import add_series
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.event_results import EventContest, EventDetail, event_data
from dealer.server.event_settings import EventSettings
from dealer.server.series_settings import SeriesSettings
from dealer.server.server_settings import UploadSettings
from dealer.web.api import models
from engine import DealKey, derived_seed
from logs.acpc_log.reader import check_deals
from logs.conversion import convert
from logs.document import Document
from logs.document.plain import json_data
from logs.estimation import Estimate
from logs.export import FORMATS
from logs.hand_source import find
from tests.dealer.web.archives import archive, do_without_box
from tests.dealer.web.browsing import links
from tests.dealer.web.visits import PATIENCE_S, Visit, fill_server, small_house, visiting, with_slow_bot

PREFIX = "/api/v1"
KUHN = {"game": "kuhn.limit.2p", "players": ["random", "calling"], "deals": 10}
ONE_HAND = KUHN | {"deals": 1, "seating": "single"}
MANY_HANDS = KUHN | {"players": ["slow", "calling"], "deals": 1_000_000, "seating": "single"}


def token_of(folder: Path, name: str, scopes: Sequence[Scope]) -> str:
    store = Store(folder / DATABASE_NAME)
    try:
        return store.write_now(lambda db: add_token(db, add_user(db, name), scopes))
    finally:
        store.close()


class Program:
    """Client of the interface with a token."""

    def __init__(self, visit: Visit, token: str | None = None) -> None:
        self.browser = visit.browser
        self.headers = {"authorization": f"Bearer {visit.token if token is None else token}"}

    async def get(self, path: str, **query: Any) -> httpx2.Response:
        return await self.browser.get(PREFIX + path, params=query, headers=self.headers)

    async def get_json(self, path: str, **query: Any) -> Any:
        answer = await self.get(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def submit(self, job: dict[str, Any], key: str = "") -> httpx2.Response:
        headers = self.headers | ({"idempotency-key": key} if key else {})
        return await self.browser.post(f"{PREFIX}/jobs", json=job, headers=headers)

    async def cancel(self, job: int) -> httpx2.Response:
        return await self.browser.delete(f"{PREFIX}/jobs/{job}", headers=self.headers)

    async def wait_for_job(self, job: int) -> Any:
        async with asyncio.timeout(PATIENCE_S):
            while (details := await self.get_json(f"/jobs/{job}"))["job"]["state"] in ("queued", "running"):
                await asyncio.sleep(0.05)
            return details

    async def wait_for_rating(self) -> None:
        """Wait until a result of Kuhn poker counts in the standings."""
        async with asyncio.timeout(PATIENCE_S):
            while not (await self.get_json("/games/kuhn/standings"))["ratings"]:
                await asyncio.sleep(0.05)


async def test_job_is_played_and_its_runs_matches_and_hands_are_read(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        program = Program(visit)
        caller = {"user": "player", "scopes": ["play", "read"], "team": None, "team_invitations": []}
        assert await program.get_json("/me") == caller
        games = (await program.get_json("/games"))["games"]
        assert games[0]["name"] == "kuhn.limit.2p"
        assert "numplayers = 2" in games[0]["definition"].lower()
        bots = (await program.get_json("/bots", game="Leduc"))["bots"]
        assert {bot["name"] for bot in bots} == {"random", "calling"}
        assert (await program.get_json("/bots", mine=True))["bots"] == []
        created = await program.submit(KUHN | {"game": "kuhn", "tag": "first", "runs": 2})
        assert created.status_code == 201, created.text
        job = created.json()
        assert created.headers["location"] == f"{PREFIX}/jobs/{job['id']}"
        assert (job["state"], job["user"], job["game"]) == ("queued", "player", "kuhn.limit.2p")
        assert job["players"] == ["random", "calling"]
        done = await program.wait_for_job(job["id"])
        assert [(run["state"], run["number"]) for run in done["runs"]] == [("finished", 1), ("finished", 2)]
        run = done["runs"][0]
        assert sum(seat["chips"] for seat in run["seats"]) == 0
        assert run["duplicates"] == 10
        page = await program.get_json("/runs", limit=1)
        assert [run["id"] for run in page["runs"]] == [done["runs"][1]["id"]]
        rest = await program.get_json("/runs", before=page["before"])
        assert [run["id"] for run in rest["runs"]] == [run["id"]]
        assert rest["before"] is None
        assert len((await program.get_json("/runs", game="kuhn"))["runs"]) == 2
        assert (await program.get_json("/runs", game="none"))["runs"] == []
        detail = await program.get_json(f"/runs/{run['id']}")
        assert sum(match["hands"] for match in detail["matches"]) == 20
        scores = (await program.get_json(f"/runs/{run['id']}/scores/0"))["mbb_by_duplicate"]
        assert len(scores) == 10
        assert sum(scores) / 10 == pytest.approx(run["seats"][0]["mbb_per_game"])
        first = detail["matches"][0]
        text = (await visit.browser.get(first["log"], headers=program.headers)).text
        lines = [line for line in text.splitlines() if line.startswith("STATE:")]
        hands = await in_pages(program, f"/runs/{run['id']}/matches/0/hands", "hands", limit=7)
        assert len(hands) == first["hands"]
        assert [f"STATE:{hand['state']}" for hand in hands] == [line.rsplit(":", 2)[0] for line in lines]
        for path in (f"/runs/{run['id']}/matches/9/hands", f"/runs/{run['id']}/scores/2", "/runs/999"):
            assert (await program.get(path)).status_code == 404
        await program.wait_for_rating()
        assert (await program.get_json("/games/kuhn.limit.2p/pairs"))["pairs"][0]["runs"] == 2
        assert (await program.get("/games/nothing/standings")).status_code == 404
        for path, name, count in (
            ("/bots", "bots", 8),
            ("/games/kuhn/standings", "ratings", 2),
            ("/games/kuhn/pairs", "pairs", 1),
        ):
            whole = await program.get_json(path)
            assert (len(whole[name]), whole["after"]) == (count, None)
            assert await in_pages(program, path, name, limit=1) == whole[name]
        match = f"/runs/{run['id']}/matches/0"
        for path in ("/jobs", f"{match}/log", f"{match}/hands"):
            await check_conditional_requests(program, path)
        tag = (await program.get("/jobs")).headers["etag"]
        await program.submit(ONE_HAND)
        assert (await program.get("/jobs")).headers["etag"] != tag


async def in_pages(program: Program, path: str, name: str, limit: int) -> list[Any]:
    """Read a list page by page."""
    items: list[Any] = []
    after: int | None = 0
    while after is not None:
        page = await program.get_json(path, after=after, limit=limit)
        items += page[name]
        after = page["after"]
    return items


async def check_conditional_requests(program: Program, path: str) -> None:
    first = await program.get(path)
    tag = first.headers["etag"]
    for known in (tag, f'"other", W/{tag}', "*"):
        headers = program.headers | {"if-none-match": known}
        again = await program.browser.get(PREFIX + path, headers=headers)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    head = await program.browser.head(PREFIX + path, headers=program.headers)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", tag)
    headers = program.headers | {"if-none-match": '"other"'}
    assert (await program.browser.get(PREFIX + path, headers=headers)).content == first.content


async def test_exports_of_a_match_equal_conversions_of_its_log(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        program = Program(visit)
        job = {"game": "holdem.limit.2p.reverse_blinds", "players": ["random", "calling"], "deals": 2}
        done = await program.wait_for_job((await program.submit(job | {"seating": "single"})).json()["id"])
        run = done["runs"][0]["id"]
        for name in FORMATS:
            answer = await program.get(f"/runs/{run}/matches/0/export/{name}")
            assert answer.status_code == 200, answer.text
            file = tmp_path / answer.headers["content-disposition"].split('"')[1]
            file.write_bytes(answer.content)
            convert(find(list((tmp_path / "data").rglob("*.log"))), (FORMATS[name],), folder=tmp_path / name)
            (converted,) = (tmp_path / name).iterdir()
            assert (file.suffix, answer.content) == (converted.suffix, converted.read_bytes())
            if name != "ohh":
                assert len(list(find([file]).hands())) == 2
        assert (await program.get(f"/runs/{run}/matches/0/export/nothing")).status_code == 404


async def test_repeated_request_counts_once(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        program = Program(visit)
        answers = await asyncio.gather(*(program.submit(ONE_HAND, "mine") for _ in range(5)))
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.json()["id"] for answer in answers}) == 1
        other = await program.submit(ONE_HAND | {"deals": 9}, "mine")
        assert other.status_code == 422
        assert len({answer.headers["location"] for answer in answers}) == 1
        ann = Program(visit, token_of(tmp_path / "data", "ann", [Scope.PLAY, Scope.READ]))
        assert (await ann.submit(ONE_HAND, "mine")).json()["id"] != answers[0].json()["id"]
        assert (await program.submit(ONE_HAND, "x" * 201)).status_code == 422


async def test_running_job_is_cancelled_by_its_user_or_an_admin(tmp_path: Path) -> None:
    async with visiting(with_slow_bot(small_house(max_deals=2000000), tmp_path), tmp_path / "data") as visit:
        program = Program(visit)
        ann = Program(visit, token_of(tmp_path / "data", "ann", [Scope.PLAY, Scope.READ]))
        admin = Program(visit, token_of(tmp_path / "data", "root", [Scope.ADMIN]))
        for canceller in (program, admin):
            number = (await program.submit(MANY_HANDS)).json()["id"]
            async with asyncio.timeout(PATIENCE_S):
                while (job := (await program.get_json(f"/jobs/{number}"))["job"])["state"] != "running":
                    assert job["state"] == "queued"
                    await asyncio.sleep(0.02)
            running = (await program.get_json("/jobs", state="running"))["jobs"]
            assert [job["id"] for job in running] == [number]
            assert (await program.get_json("/jobs", state="queued"))["jobs"] == []
            submitted = datetime.fromisoformat(job["submitted_at"])
            assert submitted.utcoffset() == timedelta()
            assert submitted.timestamp() == pytest.approx(job["submitted_s"], abs=1e-3)
            assert job["ended_at"] is job["ended_s"] is None
            assert (await ann.cancel(number)).status_code == 403
            assert (await canceller.cancel(number)).json() == {"is_cancelled": True}
            assert (await program.wait_for_job(number))["job"]["state"] == "cancelled"
            assert (await canceller.cancel(number)).json() == {"is_cancelled": False}
        assert (await program.cancel(999)).status_code == 404


async def test_cards_and_seeds_are_secret_while_deals_are_left_to_play(tmp_path: Path) -> None:
    async with visiting(with_slow_bot(small_house(max_deals=2000000), tmp_path), tmp_path / "data") as visit:
        program = Program(visit)
        ann = Program(visit, token_of(tmp_path / "data", "ann", [Scope.READ]))
        job = (await program.submit(ONE_HAND | {"runs": 2})).json()["id"]
        long = (await program.submit(MANY_HANDS)).json()
        assert long["seed"] is None, "the cards follow from the seed"
        assert (await program.get_json(f"/jobs/{long['id']}"))["job"]["seed"] is None
        last = (await program.wait_for_job(job))["runs"][0]
        run = last["id"]
        # After the job, every user can compute the cards from the key.
        key = DealKey.from_text((await ann.get_json(f"/jobs/{job}"))["job"]["seed"])
        answer = await ann.get(f"/runs/{run}/matches/0/log")
        assert answer.status_code == 200
        (tmp_path / "match.log").write_bytes(answer.content)
        assert check_deals(tmp_path / "match.log", derived_seed(key, last["number"] - 1)) > 0
        async with asyncio.timeout(PATIENCE_S):
            while not (runs := (await ann.get_json(f"/jobs/{long['id']}"))["runs"]):
                await asyncio.sleep(0.02)
        assert (await program.get(f"/runs/{runs[0]['id']}/matches/0/log")).status_code == 409
        # Change the job as if another of its runs had still to be played.
        store = Store(tmp_path / "data" / DATABASE_NAME)
        store.write_now(lambda db: db.execute("UPDATE jobs SET state = 'queued' WHERE id = ?", (job,)))
        for file in ("log", "hands", "export/phh"):
            for reader in (ann, program):
                assert (await reader.get(f"/runs/{run}/matches/0/{file}")).status_code == 403
        # A user who has chosen the seed can compute the cards anyway.
        store.write_now(lambda db: db.execute("UPDATE jobs SET deal_key = NULL WHERE id = ?", (job,)))
        assert (await program.get(f"/runs/{run}/matches/0/log")).status_code == 200
        assert (await ann.get(f"/runs/{run}/matches/0/log")).status_code == 403
        # The job of a table with a person is done from the start, while its cards are still to be played.
        store.write_now(lambda db: db.execute("UPDATE jobs SET state = 'done' WHERE id = ?", (long["id"],)))
        store.close()
        for reader in (ann, program):
            assert (await reader.get_json(f"/jobs/{long['id']}"))["job"]["seed"] is None
        assert (await program.cancel(long["id"])).status_code == 200


async def test_tokens_are_good_for_their_scopes_until_they_are_revoked(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        reader = Program(visit, token_of(tmp_path / "data", "ann", [Scope.READ]))
        player = Program(visit, token_of(tmp_path / "data", "bob", [Scope.PLAY]))
        assert (await reader.get("/bots")).status_code == 200
        assert (await reader.submit(KUHN)).status_code == 403
        assert (await player.get("/bots")).status_code == 403
        assert (await player.submit(ONE_HAND)).status_code == 201
        for token in ("wrong", "\N{SNOWMAN}".encode().hex(), "a" * 5000):
            for path in ("/bots", "/games"):
                answer = await Program(visit, token).get(path)
                assert answer.status_code == 401
                assert answer.headers["content-type"] == "application/problem+json"
        assert (await visit.browser.get(f"{PREFIX}/bots")).status_code == 401
        await visit.log_in()
        assert (await visit.browser.get(f"{PREFIX}/bots")).status_code == 401, "a cookie is no token"
        store = Store(tmp_path / "data" / DATABASE_NAME)
        store.write_now(lambda db: db.execute("UPDATE tokens SET revoked_s = 1"))
        store.close()
        assert (await reader.get("/bots")).status_code == 401


async def test_standings_need_no_token(tmp_path: Path) -> None:
    settings = small_house(requests_per_minute=60)
    fill_server(tmp_path, settings, runs=1, bots=2)
    async with visiting(settings, tmp_path) as visit:
        reader = Program(visit, token_of(tmp_path, "reader", [Scope.READ]))
        page = (await visit.browser.get("/standings/kuhn")).text
        for path, key in (("standings", "ratings"), ("pairs", "pairs")):
            (address,) = links(page, f"{PREFIX}/games/kuhn.limit.2p/{path}")
            public = await visit.browser.get(address)
            assert (public.status_code, len(public.json()[key])) == (200, 2 if path == "standings" else 1)
            private = await reader.get_json(f"/games/kuhn/{path}")
            if public.json() != private:
                # The ratings, which the server computes once after its start, were written between both requests.
                public = await visit.browser.get(address)
            assert public.json() == private
        assert len((await visit.browser.get(f"{PREFIX}/games")).json()["games"]) == 4
        assert (await visit.browser.get(f"{PREFIX}/games?colour=red")).status_code == 422
        refused = [(await visit.browser.get(f"{PREFIX}/games")).status_code for _ in range(20)]
        assert 429 in refused


async def test_wrong_tokens_and_too_many_requests_have_to_wait(tmp_path: Path) -> None:
    async with visiting(
        small_house(requests_per_minute=1), tmp_path / "data", guesses=GuessLimit(max_failures=3, within_s=1000)
    ) as visit:
        program = Program(visit)
        answers = [await program.get("/games") for _ in range(30)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert len(refused) >= 25
        limit = refused[0].json()["ratelimit"]
        assert limit["key"] == "requests"
        assert 1 <= limit["seconds"] <= 61
        assert limit["seconds"] == int(refused[0].headers["retry-after"])
        for _ in range(3):
            await Program(visit, "wrong").get("/games")
        late = await program.get("/games")
        assert (late.status_code, late.json()["ratelimit"]["key"]) == (429, "login")


def test_bucket_fills_at_its_rate() -> None:
    now_s = 0.0
    limit = RateLimit(60, max_keys=2, clock_s=lambda: now_s)
    assert [limit.take("a") for _ in range(11)] == [0] * 10 + [1]
    now_s = 2.5
    assert [limit.take("a") for _ in range(3)] == [0, 0, 1]
    assert limit.take("b") == limit.take("c") == 0
    assert limit.wait_s("a") == 0, "the key that was unused for longest is forgotten"


async def test_impossible_requests_are_refused(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        for job, words in (
            ({}, "game: field required"),
            (KUHN | {"players": ["random"]}, "2 players"),
            (KUHN | {"players": ["random", "nobody"]}, "nobody"),
            (KUHN | {"game": "poker"}, "there is no game 'poker' here"),
            (KUHN | {"game": "a b"}, "game: "),
            (KUHN | {"runs": 11}, "10 times"),
            (KUHN | {"seed": -1}, "seed: "),
            (KUHN | {"seed": 2**32}, "seed: "),
            (KUHN | {"colour": "red"}, "colour: "),
            (KUHN | {"stop": "sometime"}, "The rule in stop is not valid: "),
            (KUHN | {"deals": 10**9}, "deals"),
            (KUHN | {"tag": "a b"}, "tag: "),
            (KUHN | {"tag": "\x1b"}, "tag"),
            (KUHN | {"players": ["LOCAL", "random"]}, "own"),
            ([], ""),
            ("x", ""),
        ):
            answer = await Program(visit).submit(job)  # type: ignore[arg-type]
            detail = answer.json()["detail"]
            assert answer.status_code == 422
            assert words.lower() in detail.lower()
            assert detail.endswith(".")
        program = Program(visit)
        jobs = f"{PREFIX}/jobs"
        assert (await visit.browser.post(jobs, content=b"\xff{", headers=program.headers)).status_code == 422
        assert visit.house.rows("SELECT count(*) FROM jobs") == [(0,)]
        for query in ({"limit": 0}, {"limit": 201}, {"before": "x"}, {"colour": "red"}, {"state": "odd"}):
            answer = await program.get("/jobs", **query)
            assert (answer.status_code, answer.json()["status"]) == (422, 422)
        for path in ("/jobs/1.5", f"/jobs/{2**80}"):
            assert (await program.get(path)).status_code == 404
        for path, allowed in (
            (f"{PREFIX}/jobs", "GET, HEAD, POST"),
            (f"{PREFIX}/jobs/1", "DELETE, GET, HEAD"),
            (f"{PREFIX}/games", "GET, HEAD"),
            ("/login", "GET, HEAD, POST"),
            ("/play/1", "GET, HEAD, POST"),
        ):
            answer = await visit.browser.put(path)
            assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


async def test_events_are_streamed_and_resumed(tmp_path: Path) -> None:
    async def listen(visit: Visit, program: Program, last: str | None, until: str) -> list[tuple[str, str, Any]]:
        events = []
        headers = program.headers | ({} if last is None else {"last-event-id": last})
        async with (
            asyncio.timeout(PATIENCE_S),
            visit.another() as listener,
            listener.stream("GET", f"{PREFIX}/events", headers=headers) as stream,
        ):
            assert stream.headers["content-type"].startswith("text/event-stream")
            fields: dict[str, str] = {}
            async for line in stream.aiter_lines():
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                    continue
                if "data" in fields:
                    events.append((fields["id"], fields["event"], json.loads(fields["data"])))
                    if until in fields["data"]:
                        break
                elif last is None and not events:
                    await program.submit(ONE_HAND)
                fields = {}
        return events

    async with visiting(small_house(), tmp_path / "data") as visit:
        program = Program(visit)
        events = await listen(visit, program, None, '"state": "done"')
        kinds = [kind for _, kind, _ in events]
        assert kinds[0] == "job-changed"
        assert "run-changed" in kinds
        resumed = await listen(visit, program, events[0][0], '"state": "done"')
        assert resumed[: len(events) - 1] == events[1:]
        lost = await listen(visit, program, "5", "{}")
        assert [kind for _, kind, _ in lost] == ["lost"]
        headers = program.headers | {"last-event-id": "x"}
        assert (await program.browser.get(f"{PREFIX}/events", headers=headers)).status_code == 422


@pytest.mark.slow
async def test_description_is_valid_openapi(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        document = (await visit.browser.get(f"{PREFIX}/openapi.json")).json()
    assert document["openapi"].startswith("3.1.")
    validate(document)


async def test_description_matches_the_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    do_without_box(tmp_path, monkeypatch)

    async with visiting(replace(small_house(), uploads=UploadSettings()), tmp_path / "data") as visit:
        document = (await visit.browser.get(f"{PREFIX}/openapi.json")).json()
        schemas = document["components"]["schemas"]
        program = Program(visit)
        game = "holdem.limit.2p.reverse_blinds"
        job = KUHN | {"game": game, "deals": 1, "seating": "single"}
        await program.wait_for_job((await program.submit(job)).json()["id"])
        event = EventSettings.model_validate({"name": "final", "game": game, "closes": "2030-01-01T00:00:00Z"})
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            store.write_now(lambda db: add_event(db, "ann", event, game))
            series = SeriesSettings.model_validate({**event.model_dump(exclude={"entrants"}), "groups": 2})
            store.write_now(lambda db: add_series(db, "ann", series, game))
        assert (await program.browser.post(f"{PREFIX}/uploads", content=archive(), headers=program.headers)).is_success
        values = {"job": 1, "run": 1, "match": 0, "player": 0, "game": game, "format": "phh", "name": "final"}
        values["upload"] = 1
        for path, methods in document["paths"].items():
            if "get" not in methods or path.endswith("/events"):
                continue
            parameters = {part["name"] for part in methods["get"].get("parameters", []) if part["in"] == "path"}
            assert parameters == {part.split("}")[0] for part in path.split("{")[1:]}
            answer = await program.get(path.removeprefix(PREFIX).format(**values))
            content = methods["get"]["responses"]["200"]["content"]
            assert answer.status_code == 200, (path, answer.text)
            (kind,) = content
            statuses = {200, 304, 400, 401, 403, 421, 422, 429, 500, 503}
            assert {int(status) for status in methods["get"]["responses"]} >= statuses, path
            assert answer.headers["content-type"].startswith(kind)
            if kind == "application/json":
                schema = content[kind]["schema"] | {"components": {"schemas": schemas}}
                Draft202012Validator(schema).validate(answer.json())


async def test_event_is_announced_by_an_admin_and_shown_to_all(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        closes = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        event = {"name": "final", "game": "kuhn", "deals": 5, "closes": closes}
        path = f"{PREFIX}/scheduled-events"
        refused = await visit.browser.post(path, json=event, headers=Program(visit).headers)
        assert refused.status_code == 403
        assert "lacks the scope 'admin'" in refused.text
        admin = Program(visit, token_of(visit.house.folder, "organiser", [Scope.ADMIN]))

        async def announce(**changes: Any) -> httpx2.Response:
            return await visit.browser.post(path, json=event | changes, headers=admin.headers)

        created = await announce()
        assert created.status_code == 201
        assert (created.json()["game"], created.json()["state"]) == ("kuhn.limit.2p", "open")
        assert (await announce()).json()["detail"] == "There is an event final already; give this one another name."
        assert (await announce(name="x", game="chess")).status_code == 404
        assert "an event opens before it closes" in (await announce(name="x", opens="2100-01-01T00:00:00Z")).text
        assert (await announce(name="typo")).status_code == 201
        for method, address, body in (
            ("PUT", f"{path}/typo", event | {"name": "cup", "deals": 7}),
            ("POST", f"{path}/cup/disqualified", {"bot": "random", "reason": "a test"}),
            ("DELETE", f"{path}/cup", None),
        ):
            denied = await visit.browser.request(method, address, json=body, headers=Program(visit).headers)
            assert denied.status_code == 403
            answer = await visit.browser.request(method, address, json=body, headers=admin.headers)
            assert answer.is_success, answer.text
            if method == "POST":
                assert answer.json()["deals"] == 7
                assert answer.json()["disqualified"] == [body]
            unknown = address.replace("typo", "none").replace("cup", "none")
            missing = await visit.browser.request(method, unknown, json=body, headers=admin.headers)
            assert missing.status_code == 404
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            store.write_now(lambda db: db.execute("UPDATE scheduled_events SET opens_s = 1, closes_s = 2").rowcount)
        async with asyncio.timeout(PATIENCE_S):
            while (details := (await visit.browser.get(f"{path}/final")).json())["event"]["state"] != "finished":
                await asyncio.sleep(0.05)
        assert details["event"]["entrants"] == ["calling", "random"]
        assert [contest["run"]["duplicates"] for contest in details["contests"]] == [5]
        assert (await visit.browser.get(f"{path}/none")).status_code == 404
        assert [event["name"] for event in (await visit.browser.get(path)).json()["events"]] == ["final"]
        page = (await visit.browser.get("/events/final")).text
        assert "The event is finished: 1 contest." in page
        assert 'href="/runs/1"' in page
        assert 'href="/events/final"' in (await visit.browser.get("/events")).text
        assert 'href="/events/final"' in (await visit.browser.get("/")).text
        assert (await visit.browser.get("/events/none")).status_code == 404


async def test_statuses_of_answers_are_in_the_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with visiting(small_house(max_body_bytes=1000), tmp_path / "data") as visit:
        program = Program(visit)
        reader = Program(visit, token_of(tmp_path / "data", "ann", [Scope.READ]))
        document = (await visit.browser.get(f"{PREFIX}/openapi.json")).json()
        statuses = set()

        async def check_status(
            status: int, path: str, method: str = "GET", headers: dict[str, str] | None = None, **values: Any
        ) -> None:
            """Check that a request has this status, and that the description lists it."""
            sent = program.headers | (headers or {})
            answer = await visit.browser.request(
                method, PREFIX + path.format(**{"run": 1, "match": 0} | values), headers=sent, **more
            )
            assert answer.status_code == status, (path, answer.text)
            described = document["paths"][PREFIX + path.split("?", maxsplit=1)[0]][method.lower()]["responses"]
            assert str(status) in described, f"{method} {path} answers {status}"
            if status >= 400:
                assert answer.headers["content-type"] == "application/problem+json"
                schema = {"$ref": "#/components/schemas/Problem", "components": document["components"]}
                Draft202012Validator(schema).validate(answer.json())
            statuses.add(status)

        more: dict[str, Any] = {}
        await check_status(200, "/me")
        await check_status(401, "/me", headers={"authorization": "Bearer wrong"})
        await check_status(304, "/me", headers={"if-none-match": "*"})
        await check_status(421, "/me", headers={"host": "elsewhere.example"})
        await check_status(422, "/jobs?limit=0")
        await check_status(404, "/jobs/{job}", job=99)
        await check_status(404, "/jobs/{job}", "DELETE", job=99)
        more = {"json": ONE_HAND}
        await check_status(403, "/jobs", "POST", headers=reader.headers)
        await check_status(201, "/jobs", "POST")
        await program.wait_for_job(1)
        more = {"content": b"x" * 2_000}
        await check_status(413, "/jobs", "POST")
        more = {}
        await check_status(200, "/runs/{run}/matches/{match}/log")
        await check_status(409, "/runs/{run}/matches/{match}/export/{format}", format="pokerstars")
        await check_status(404, "/games/{game}/pairs", game="none")
        for log in tmp_path.glob("data/runs/*/match*.log"):
            log.unlink()
        await check_status(410, "/runs/{run}/matches/{match}/hands")
        for broken, status in ((StoreError(tmp_path, "the disk"), 503), (RuntimeError("ours"), 500)):

            def fail(*arguments: Any, broken: Exception = broken, **options: Any) -> None:
                raise broken

            with monkeypatch.context() as patched:
                patched.setattr("dealer.web.api.operations.records.runs", fail)
                await check_status(status, "/runs")
        assert statuses >= {200, 201, 304, 401, 403, 404, 409, 410, 413, 421, 422, 500, 503}
        # 400 and 408 need requests without a client, and 429 many of them. Other tests cause them.
        for operations in document["paths"].values():
            for operation in operations.values():
                assert {"400", "408", "429"} <= set(operation["responses"])


def test_published_events_have_the_fields_of_the_interface() -> None:
    event = ScheduledEvent(
        name="final",
        game="g",
        state=EventState.RUNNING,
        deals=None,
        named=("a", "b"),
        entrants=("a", "b"),
        entries_per_user=1,
        disqualified=(Disqualification("c", "a copy"),),
        contests=2,
        contests_ended=1,
        note="",
        opens_s=1.5,
        closes_s=2.0,
        id=1,
        definition="secret",
        standings="secret",
    )
    run = records.Run(
        id=1,
        job=2,
        number=1,
        user="ann",
        tag="t",
        game="g",
        state=RunState.FAILED,
        reason="a has failed.",
        duplicates=3,
        is_rated=True,
        unrated="",
        started_s=12345.678,
        ended_s=None,
        seats=(
            records.RunSeat(player=0, name="a", chips=1.0, won=Estimate(2.5, 1.25, 0.5), adjusted=Estimate(3.5)),
            records.RunSeat(player=1, name="b"),
        ),
        seed=99,
        folder="secret",
        kept_reason="secret",
    )
    done = EventContest(job=2, players=("a", "b"), state=JobState.DONE, reason="", run=run)
    queued = EventContest(job=3, players=("b", "a"), state=JobState.QUEUED, reason="", run=None)
    detail = EventDetail(event=event, seconds_left=1.25, standings=None, contests=(done, queued))
    published = json.dumps(json_data(Document("", data=event_data(detail))))
    assert published == json.dumps(json.loads(models.EventDetail.of(detail).model_dump_json()))
    assert "secret" not in published
    numbers = [list(seat.values())[3:] for seat in json.loads(published)["contests"][0]["run"]["seats"]]
    assert numbers == [[1.0, 2.5, 1.25, 3.5, None], [None] * 5]
