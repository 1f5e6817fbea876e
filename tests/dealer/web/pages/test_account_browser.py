"""Account pages in a real browser: tokens, requests, hostile names and accessibility."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browsers import SIZES, launch_browser, needs_browser, open_page, page_problems
from tests.dealer.web.pages.test_play_browser import log_in
from tests.dealer.web.served import ServerThread
from tests.dealer.web.visits import small_house

pytestmark = [needs_browser, pytest.mark.slow]

EVIL = '<script>document.title="evil"</script>"\'&\u202e{{ 7*7 }}'


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launch_browser() as browser:
        yield browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_account_pages_are_accessible_and_hostile_names_stay_text(browser: Any, tmp_path: Path, scheme: str) -> None:
    with ServerThread(small_house(), tmp_path / "server") as server:
        for width in SIZES:
            with open_page(browser, width=width, scheme=scheme) as page:
                log_in(page, server)
                page.goto(f"{server.address}account/settings")
                page.get_by_label("Label of a new token").fill(EVIL.replace("\u202e", ""))
                page.get_by_role("button", name="Create a token").click()
                page.get_by_text("it cannot be shown again").wait_for()
                assert page_problems(page) == []
                page.goto(f"{server.address}account/request?game=kuhn.limit.2p")
                assert page_problems(page) == []
                page.get_by_label("Player 1").select_option("calling")
                page.get_by_label("Player 2").select_option("random")
                page.get_by_label("Name").fill(EVIL)
                page.get_by_role("button", name="Submit").click()
                page.wait_for_url("**/account")
                assert "evil" not in page.title()
                assert page.get_by_text("{{ 7*7 }}").count()
                assert page_problems(page) == []
