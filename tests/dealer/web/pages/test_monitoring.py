"""Health, metrics and the feed of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dealer.server import resources
from dealer.server.server_settings import WebSettings
from tests.dealer.web.pages.test_standings import finished, submit
from tests.dealer.web.visits import Visit, small_house, visit

_ATOM = "{http://www.w3.org/2005/Atom}"


def test_what_a_server_counts_and_announces(tmp_path: Path) -> None:
    async def talk(one: Visit) -> None:
        empty = ElementTree.fromstring((await one.browser.get("/results.atom")).content)
        assert empty.findall(f"{_ATOM}entry") == []
        assert 'arena_runs{state="finished"} 0\n' in (await one.browser.get("/metrics")).text
        await finished(one, await submit(one))
        health = await one.browser.get("/healthz")
        assert (health.status_code, health.text) == (200, "ok\n")
        answer = await one.browser.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        lines = answer.text.splitlines()
        values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        assert values['arena_runs{state="finished"}'] == "1"
        assert values["arena_requests_open"] == values["arena_faults"] == "0"
        assert int(values["arena_disk_free_bytes"]) > 0
        named = {line.split()[2] for line in lines if line.startswith("# TYPE")}
        assert named == {name.partition("{")[0] for name in values}
        feed = ElementTree.fromstring((await one.browser.get("/results.atom")).content)
        (entry,) = feed.findall(f"{_ATOM}entry")
        assert str(entry.findtext(f"{_ATOM}title")).startswith("kuhn: random ")
        link = entry.find(f"{_ATOM}link")
        assert link is not None
        assert (await one.browser.get(link.attrib["href"])).status_code == 200

    visit(small_house(), talk, tmp_path)


def test_a_full_disk_is_not_healthy_and_strangers_have_no_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "free_bytes", lambda folder: 10**6)
    settings = replace(small_house(), web=WebSettings(port=0, metrics_from=("10.0.0.0/8",)), least_free_mb=100)

    async def talk(one: Visit) -> None:
        health = await one.browser.get("/healthz")
        assert (health.status_code, health.text) == (503, "The disk is full: less than least_free_mb is free.\n")
        assert (await one.browser.get("/metrics")).status_code == 403

    visit(settings, talk, tmp_path)
