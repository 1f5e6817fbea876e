"""Accessibility of the pages of local commands, by axe: runs, reports, replays, running matches and tables."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dealer.library
from tests.browsers import SIZES, launch_browser, needs_browser, open_page, page_problems
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env

pytestmark = [
    needs_browser,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="programs are interrupted by a signal"),
]

LOOKS = ((SIZES[0], "dark"), (SIZES[1], "light"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a tournament in ``three`` and a run in ``two``."""
    folder = tmp_path_factory.mktemp("here")
    three = ["random", "calling", "folding"]
    dealer.library.tournament(["kuhn"], three, out=folder / "three", deals=30, seed=3, in_process=True)
    dealer.library.play("nolimit", ["random", "calling"], out=folder / "two", deals=8, seed=3, in_process=True)
    return folder


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Any]:
    del folder  # Runs must be played before: the browser's driver has an event loop in this thread.
    with launch_browser() as browser:
        yield browser


@contextlib.contextmanager
def running_command(folder: Path, *words: str) -> Iterator[str]:
    """Run a command; yield the address that it prints."""
    output = folder / "output.txt"
    with output.open("w") as file:
        program = subprocess.Popen([*ARENA, *words], cwd=folder, env=program_env(), stdout=file, stderr=file)
    try:
        deadline_s = time.monotonic() + PATIENCE_S
        while not (addresses := re.findall(r"http://127\.0\.0\.1:\d+[\w./-]*", output.read_text())):
            assert program.poll() is None, output.read_text()
            assert time.monotonic() < deadline_s, output.read_text()
            time.sleep(0.1)
        yield addresses[0]
    finally:
        program.kill()
        program.wait()


def problems_on(browser: Any, addresses: list[str], ready: str) -> dict[tuple[str, int, str], list[str]]:
    """Problems that axe finds on pages, by address, width and colour scheme."""
    problems_by_page = {}
    for width, scheme in LOOKS:
        with open_page(browser, width=width, scheme=scheme) as page:
            for address in addresses:
                page.goto(address)
                page.locator(ready).first.wait_for()
                if problems := page_problems(page):
                    problems_by_page[address, width, scheme] = problems
    return problems_by_page


def test_pages_of_watched_runs_are_accessible(browser: Any, folder: Path) -> None:
    with running_command(folder, "watch", "three", "--no-browser") as address:
        with open_page(browser) as page:
            page.goto(address)
            paths = [link.get_attribute("href") for link in page.locator("main a").all()]
            contest = next(path for path in paths if "/contest/" in path)
            page.goto(address.partition("/runs")[0] + contest)
            paths = [link.get_attribute("href") for link in page.locator("main a").all()]
            match = next(path for path in paths if "/matches/" in path)
        site = address.partition("/runs")[0]
        pages = [f"{site}/runs", address, site + contest, site + match, f"{site}{match.partition('/hands')[0]}/hands/3"]
        assert problems_on(browser, pages, "h1") == {}


def test_report_is_accessible(browser: Any, folder: Path) -> None:
    page = folder / "report.html"
    subprocess.run([*ARENA, "report", "two", "--out", page], cwd=folder, env=program_env(), check=True)
    page.write_text(page.read_text("utf-8").replace("<details", "<details open"), "utf-8")
    assert problems_on(browser, [page.as_uri()], ".steps") == {}


def test_replay_is_accessible(browser: Any, folder: Path) -> None:
    with running_command(folder, "replay", "two", "--hand", "5", "--no-browser") as address:
        assert problems_on(browser, [address], ".steps") == {}


def test_running_match_is_accessible(browser: Any, tmp_path: Path) -> None:
    words = ("play", "leduc", "random", "calling", "-n", "1000000", "--watch", "--no-browser", "--out", "run")
    with running_command(tmp_path, *words) as address:
        assert problems_on(browser, [address], "h1") == {}
        assert problems_on(browser, [f"{address}/matches/match.a"], "#live h3") == {}


def test_local_table_is_accessible(browser: Any, tmp_path: Path) -> None:
    words = ("table", "nolimit", "calling", "--seed", "5", "-n", "9", "--browser", "--out", "run")
    with running_command(tmp_path, *words) as address:
        assert problems_on(browser, [address], ".entries") == {}
        with open_page(browser) as page:
            page.goto(address)
            while page.locator("button[value=next]").count() == 0:
                page.locator(".entries button").first.click()
                page.wait_for_timeout(300)
        assert problems_on(browser, [address], "button[value=next]") == {}
