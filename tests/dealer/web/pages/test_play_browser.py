"""Play page in a real browser: keyboard, layout, several tabs, restarts of the server and accessibility."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dealer.server.server_settings import ServerGame, bots_for
from protocol import find_game
from tests.browsers import SIZES, launch_browser, needs_browser, open_page, page_problems
from tests.dealer.web.served import ServerThread
from tests.dealer.web.visits import small_house

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launch_browser() as browser:
        yield browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerThread]:
    with ServerThread(small_house(), tmp_path / "server") as server:
        yield server


def log_in(page: Any, server: ServerThread) -> None:
    page.goto(f"{server.address}login?next=/play")
    page.get_by_label("Name").fill("player")
    page.get_by_label("Password or token").fill(server.token)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r":\d+/play$"))


def start_table(page: Any, server: ServerThread, game: str, bot: str = "calling", **fields: str) -> None:
    log_in(page, server)
    page.goto(f"{server.address}play?game={game}")
    page.locator("#bot1").select_option(bot)
    for name, value in fields.items():
        page.locator(f"#{name}").fill(value)
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url(re.compile(r"/play/\d+$"))
    if page.locator("#auto").is_visible():
        page.locator("#auto").uncheck()


def moment(page: Any) -> str:
    return str(page.locator(".table").get_attribute("data-moment"))


def wait_for_question(page: Any, before: str = "") -> None:
    """Wait until the person is to act at another moment than `before`."""
    page.wait_for_function(
        "before => document.querySelector('.entries') && document.querySelector('.table').dataset.moment !== before",
        arg=before,
    )


def press(page: Any, *keys: str) -> None:
    """Press keys, each at the next moment at which the person is to act."""
    for key in keys:
        wait_for_question(page)
        before = moment(page)
        page.keyboard.press(key)
        page.wait_for_function("before => document.querySelector('.table').dataset.moment !== before", arg=before)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["limit10", "nolimit10"])
def test_own_cards_are_above_the_buttons_on_a_narrow_screen(browser: Any, tmp_path: Path, name: str) -> None:
    full, game = find_game(name)
    bots = bots_for(game, ("random", "calling"))
    settings = replace(small_house(), games=(ServerGame(full, full, game, 20, 10, bots, 10_000),))
    with ServerThread(settings, tmp_path / "server") as server, open_page(browser, width=SIZES[0]) as page:
        page.set_viewport_size({"width": SIZES[0], "height": 800})
        start_table(page, server, full)
        wait_for_question(page)
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=str(tmp_path / "telephone.png"))
        top = page.locator(".ask").bounding_box()["y"]
        for part in (".hole", ".plate"):
            box = page.locator(f".seat.s0 {part}").bounding_box()
            assert box["y"] > 0
            assert box["y"] + box["height"] <= top, part
        # The navigation has two rows at most, without scrolling.
        assert page.evaluate("(nav => nav.scrollWidth <= nav.clientWidth)(document.querySelector('header nav'))")
        middles = {
            round(box["y"] + box["height"] / 2) // 12
            for link in page.locator("header nav > *").all()
            if (box := link.bounding_box()) is not None
        }
        assert len(middles) <= 2
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_match_is_played_by_keyboard(browser: Any, server: ServerThread) -> None:
    with open_page(browser) as page:
        page.goto(f"{server.address}login?next=/play")
        page.locator("#name").focus()
        page.keyboard.type("player")
        page.keyboard.press("Tab")
        page.keyboard.type(server.token)
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r":\d+/play$"))
        page.goto(f"{server.address}play?game=holdem.nolimit.2p.reverse_blinds")
        page.locator("#bot1").focus()
        page.keyboard.type("calling")
        page.keyboard.press("Tab")
        page.keyboard.type("1")
        for _ in range(3):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/play/\d+$"))
        wait_for_question(page)
        # A digit moves the focus to the field of the size.
        before = moment(page)
        page.keyboard.type("250")
        assert page.locator("#size").input_value() == "250"
        page.keyboard.press("Enter")
        wait_for_question(page, before)
        assert "raise to 250" in page.locator(".history").inner_text()
        # Call to the end of the hand. Enter then ends the match.
        while page.locator("button[value=next]").count() == 0:
            before = moment(page)
            page.keyboard.press("c")
            wait_for_question(page, before)
        page.keyboard.press("Enter")
        page.get_by_text("The match is over.").wait_for()


@pytest.mark.parametrize("has_scripts", [True, False])
def test_table_is_ended_after_a_confirmation(browser: Any, server: ServerThread, has_scripts: bool) -> None:
    with open_page(browser, java_script_enabled=has_scripts) as page:
        start_table(page, server, "holdem.limit.2p.reverse_blinds")
        table = page.url
        page.get_by_text("End this table for good").click()
        page.get_by_role("link", name="Continue playing").click()
        assert page.url == table
        page.get_by_text("End this table for good").click()
        page.get_by_role("button", name="End the table").click()
        page.wait_for_url(re.compile(r"/play$"))
        assert page.goto(table).status == 404


def test_leaving_a_table_is_confirmed(browser: Any, server: ServerThread) -> None:
    with open_page(browser) as page:
        start_table(page, server, "holdem.limit.2p.reverse_blinds")
        wait_for_question(page)
        requests: list[str] = []
        page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))

        def answer_late(route: Any) -> None:
            # The waiting poll is answered before the form.
            answer = route.fetch()
            time.sleep(1.0)
            route.fulfill(response=answer)

        page.route("**/leave", answer_late)
        page.get_by_role("button", name="Leave").click()
        page.get_by_role("heading", name="You have left the table").wait_for()
        left = next(number for number, request in enumerate(requests) if request.startswith("POST "))
        assert not [request for request in requests[left:] if "/part" in request], "a poll would resume the table"


@pytest.mark.slow
@pytest.mark.parametrize("width", SIZES)
def test_buttons_keep_their_places(browser: Any, server: ServerThread, width: int) -> None:
    with open_page(browser, width=width) as page:
        start_table(page, server, "leduc.limit.2p", "random", seed="7")
        corners: dict[str, set[tuple[float, float]]] = {}
        for _ in range(40):
            wait_for_question(page)
            # In a single call, because the page may be replaced between two.
            buttons = page.evaluate(
                """() => {
                    const places = document.querySelector(".places"), top = places.getBoundingClientRect().top;
                    return [...places.querySelectorAll("button")].map((button) => {
                        const box = button.getBoundingClientRect();
                        return [button.dataset.key, box.left, box.top - top];
                    });
                }"""
            )
            for key, left, top in buttons:
                corners.setdefault(key, set()).add((left, top))
            keys = [key for key, _, _ in buttons]
            if set(corners) == set("fcrn") and "n" in keys:
                break
            press(page, next(key for key in "nrc" if key in keys))
        assert set(corners) == set("fcrn")
        assert all(len(places) == 1 for places in corners.values()), corners
        assert len(set.union(*corners.values())) == 4


@pytest.mark.slow
def test_next_hand_is_dealt_automatically_if_chosen(browser: Any, server: ServerThread) -> None:
    with open_page(browser) as page:
        start_table(page, server, "kuhn.limit.2p", hands="5")
        while page.locator("button[value=next]").count() == 0:
            press(page, "c")
            wait_for_question(page)
        before = moment(page)
        page.wait_for_timeout(4500)
        assert moment(page) == before
        page.locator("#auto").check()
        wait_for_question(page, before)
        page.get_by_role("heading", name="Hand 1").wait_for()
        # The browser stores the choice.
        page.reload()
        assert page.locator("#auto").is_checked()


@pytest.mark.slow
def test_size_is_chosen_first_and_sent_by_its_button(browser: Any, server: ServerThread) -> None:
    with open_page(browser) as page:
        start_table(page, server, "holdem.nolimit.2p.reverse_blinds")
        wait_for_question(page)
        before = moment(page)
        page.get_by_role("button", name="all-in (20,000)").click()
        assert page.locator("#size").input_value() == "20000"
        assert moment(page) == before
        page.get_by_role("button", name="Raise to 20,000 (200 bb)").click()
        wait_for_question(page, before)
        assert "You raise to 20,000, all-in" in page.locator(".history").inner_text()


@pytest.mark.slow
def test_colours_of_cards_and_pages_are_remembered(browser: Any, server: ServerThread) -> None:
    with open_page(browser) as page:
        start_table(page, server, "kuhn.limit.2p")
        page.get_by_label("Suits").select_option("two")
        page.get_by_label("Theme").select_option("dark")
        page.reload()
        settings = page.evaluate("({...document.documentElement.dataset})")
        assert settings == {"deck": "two", "theme": "dark"}
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"


@pytest.mark.slow
def test_two_tabs_show_the_same_seat(browser: Any, server: ServerThread) -> None:
    with open_page(browser) as page:
        start_table(page, server, "kuhn.limit.2p")
        wait_for_question(page)
        other = page.context.new_page()
        other.goto(page.url)
        wait_for_question(other)
        before = moment(other)
        press(page, "c")
        # The other tab updates itself.
        other.wait_for_function("before => document.querySelector('.table').dataset.moment !== before", arg=before)
        assert moment(other) == moment(page)


@pytest.mark.slow
def test_entry_from_an_outdated_tab_is_answered_by_the_current_table(browser: Any, server: ServerThread) -> None:
    with open_page(browser) as page:
        start_table(page, server, "holdem.limit.2p.reverse_blinds")
        wait_for_question(page)
        other = page.context.new_page()
        # This tab receives no updates.
        other.route("**/part?*", lambda route: None)
        other.goto(page.url)
        press(page, "c")
        wait_for_question(page)
        other.keyboard.press("r")
        other.locator(".message", has_text="counts once").wait_for()
        assert moment(other) == moment(page)


@pytest.mark.slow
def test_decision_stays_the_same_after_a_restart_of_the_server(browser: Any, server: ServerThread) -> None:
    with open_page(browser) as page:
        # A bot that may fold could end the hand before the first key.
        start_table(page, server, "holdem.limit.2p.reverse_blinds", "calling")
        press(page, "c")
        wait_for_question(page)
        before = moment(page)
        server.stop()
        try:
            page.get_by_text("The server does not answer.").wait_for()
            # A key pressed meanwhile is sent once after the restart.
            page.keyboard.press("c")
        finally:
            server.start()
        page.wait_for_function("before => document.querySelector('.table').dataset.moment !== before", arg=before)
        page.locator("#lost").wait_for(state="hidden")
        assert page.get_by_role("alert").filter(has_text="another moment").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_play_pages_are_accessible(browser: Any, server: ServerThread, scheme: str) -> None:
    for width in SIZES:
        with open_page(browser, width=width, scheme=scheme) as page:
            log_in(page, server)
            assert page_problems(page) == []
            start_table(page, server, "holdem.nolimit.2p.reverse_blinds", "random")
            wait_for_question(page)
            assert page_problems(page) == []
            while page.locator("button[value=next]").count() == 0:
                press(page, "c")
                wait_for_question(page)
            assert page_problems(page) == []
