"""Chromium, Chrome or Edge for tests of pages; `ARENA_BROWSER` names another browser.

Tests that need a browser are skipped, with a reason, if none is installed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.outside import find_program
from tests.programs import PATIENCE_S

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
BROWSER = os.environ.get("ARENA_BROWSER") or find_program(*NAMES)

needs_browser = pytest.mark.skipif(BROWSER is None, reason="needs Chromium, Chrome or Edge; ARENA_BROWSER may name one")

SIZES = (360, 1400)
"""Widths of a telephone and of a screen."""


@contextlib.contextmanager
def launch_browser() -> Iterator[Any]:
    """Start the browser with playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    is_root = sys.platform != "win32" and os.geteuid() == 0
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"] if is_root else [])
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def open_page(browser: Any, *, width: int = 1400, scheme: str = "light", **options: Any) -> Iterator[Any]:
    """Open a page in a new window; fail if one of its scripts raises an error."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
    errors: list[str] = []
    try:
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE_S)
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        assert not errors
    finally:
        context.close()


def page_problems(page: Any) -> list[str]:
    """Violations that axe finds in a page in its current state; a page wider than its window is one, too."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    problems = [
        f"{problem['id']}: {node['html'][:200]} ({node['failureSummary'][:300]})"
        for problem in axe.Axe().run(page).response["violations"]
        for node in problem["nodes"]
    ]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        problems.append("it is wider than its window")
    return problems
