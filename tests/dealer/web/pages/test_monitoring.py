"""Health, metrics, the feed of results and the log of errors."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dealer.cli.shell.console import Terminal
from dealer.server import resources
from dealer.server.db.store import Store
from dealer.server.error_log import ErrorLog
from dealer.server.queue.event_closing import Events
from dealer.server.server import ServerParts
from dealer.server.server_settings import WebSettings
from dealer.web.pages import monitoring
from dealer.web.server_site import server_site
from tests.dealer.web.pages.test_standings import submit, wait_for_job
from tests.dealer.web.visits import PATIENCE_S, Visit, small_house, visiting

_ATOM = "{http://www.w3.org/2005/Atom}"


async def metrics_of(visit: Visit) -> dict[str, float]:
    """Metrics of the server by name and labels, read by the parser of Prometheus."""
    answer = await visit.browser.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = list(text_string_to_metric_families(answer.text))
    assert all(family.documentation and family.type != "unknown" for family in families)
    return {
        f"{sample.name}{sorted(sample.labels.items()) or ''}": sample.value
        for family in families
        for sample in family.samples
    }


async def test_metrics_and_feed_follow_the_runs(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        empty = ElementTree.fromstring((await visit.browser.get("/results.atom")).content)
        assert empty.findall(f"{_ATOM}entry") == []
        before = await metrics_of(visit)
        assert before["arena_runs[('state', 'finished')]"] == 0
        await wait_for_job(visit, await submit(visit))
        health = await visit.browser.get("/healthz")
        assert (health.status_code, health.text) == (200, "ok\n")
        logging.getLogger("dealer.server").error("something has failed")
        values = await metrics_of(visit)
        assert values["arena_runs[('state', 'finished')]"] == 1
        for name in ("arena_requests_open", "arena_faults", "arena_matches_playing"):
            assert values[name] == 0
        assert values["arena_errors_total"] == before["arena_errors_total"] + 1
        assert values["arena_disk_free_bytes"] > 0
        assert values["arena_database_bytes"] >= before["arena_database_bytes"] > 4096
        assert values["arena_workers"] >= 1
        page = "[('kind', 'page'), ('status', '2xx')]"
        assert values[f"arena_request_seconds_count{page}"] == before[f"arena_request_seconds_count{page}"] + 2
        assert (await visit.browser.get("/api/v1/nothing")).status_code == 404
        assert (await metrics_of(visit))["arena_request_seconds_count[('kind', 'api'), ('status', '4xx')]"] == 1
        feed = ElementTree.fromstring((await visit.browser.get("/results.atom")).content)
        (entry,) = feed.findall(f"{_ATOM}entry")
        assert str(entry.findtext(f"{_ATOM}title")).startswith("kuhn: random ")
        link = entry.find(f"{_ATOM}link")
        assert link is not None
        assert (await visit.browser.get(link.attrib["href"])).status_code == 200


async def test_full_disk_is_unhealthy_and_strangers_have_no_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "free_bytes", lambda folder: 10**6)
    settings = replace(small_house(), web=WebSettings(port=0, metrics_from=("10.0.0.0/8",)), least_free_mb=100)

    async with visiting(settings, tmp_path) as visit:
        health = await visit.browser.get("/healthz")
        assert (health.status_code, health.text) == (503, "The disk has less free space than least_free_mb.\n")
        assert (await visit.browser.get("/metrics")).status_code == 403


async def test_database_that_does_not_answer_is_unhealthy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitoring, "_PATIENCE_S", 0.05)
    stores: list[Store] = []

    def face(parts: ServerParts) -> AbstractAsyncContextManager[str]:
        stores.append(parts.store)
        return server_site(parts)

    async with visiting(small_house(), tmp_path, web=face) as visit:
        is_free = asyncio.Event()
        loop = asyncio.get_running_loop()
        # Keep the only writing thread busy.
        busy = asyncio.create_task(
            stores[0].write(lambda db: asyncio.run_coroutine_threadsafe(is_free.wait(), loop).result())
        )
        health = await visit.browser.get("/healthz")
        assert (health.status_code, health.text) == (503, "The database has not answered within 0.05 seconds.\n")
        is_free.set()
        await busy
        monkeypatch.setattr(monitoring, "_PATIENCE_S", 30.0)
        assert (await visit.browser.get("/healthz")).status_code == 200


async def test_background_work_ended_by_an_error_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(self: Events) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Events, "run", fail)

    async with visiting(small_house(), tmp_path) as visit:
        async with asyncio.timeout(PATIENCE_S):
            while (health := await visit.browser.get("/healthz")).status_code == 200:
                await asyncio.sleep(0.02)
        sentence = "The scheduler has stopped the work on events after an error. See the log and restart it.\n"
        assert (health.status_code, health.text) == (503, sentence)
        assert (await metrics_of(visit))["arena_errors_total"] == 1
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == [
        "the work on events has ended"
    ]


def test_errors_are_recorded_and_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every package logs its errors, and each error is printed once."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    before = {name: logging.getLogger(name).level for name in ("dealer", "bots", "logs", "protocol", "engine")}
    try:
        Terminal().show_log(logging.ERROR)
    finally:
        levels = {name: logging.getLogger(name).level for name in before}
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
    assert set(levels.values()) == {logging.ERROR}
    log = logging.getLogger("uvicorn.test_of_errors")
    with (errors := ErrorLog()).listening():
        logging.getLogger("dealer.match").warning("a fault of a bot")
        log.warning("first")
        logging.getLogger("dealer.test_of_errors").error("second")
    log.error("third")
    last_words = [line.rpartition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    # Without the warning of the package dealer, which may be printed or not.
    assert [word for word in last_words if word != "bot"] == ["first", "second", "third"]
    assert [record.getMessage() for record in errors.last] == ["first", "second"]
    assert errors.errors == 1
