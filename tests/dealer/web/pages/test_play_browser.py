"""The page Play in a real browser: by keyboard only, reloaded, clicked twice, in two tabs, with the server gone."""

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
from tests.dealer.web.served import Served
from tests.dealer.web.visits import small_house

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launch_browser() as found:
        yield found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with Served(small_house(), tmp_path / "server") as found:
        yield found


def log_in(page: Any, server: Served) -> None:
    page.goto(f"{server.address}login?next=/play")
    page.get_by_label("Name").fill("player")
    page.get_by_label("Password or token").fill(server.token)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r":\d+/play$"))


def sit_down(page: Any, server: Served, game: str, bot: str = "calling", **asked: str) -> None:
    log_in(page, server)
    page.goto(f"{server.address}play?game={game}")
    page.locator("#bot1").select_option(bot)
    for name, value in asked.items():
        page.locator(f"#{name}").fill(value)
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url(re.compile(r"/play/\d+$"))
    if page.locator("#auto").is_visible():
        page.locator("#auto").uncheck()


def moment(page: Any) -> str:
    return str(page.locator(".table").get_attribute("data-moment"))


def wait_for_question(page: Any, before: str = "") -> None:
    """Until the person is asked, at another moment than before."""
    page.wait_for_function(
        "before => document.querySelector('.entries') && document.querySelector('.table').dataset.moment !== before",
        arg=before,
    )


def press(page: Any, *keys: str) -> None:
    """Press keys, each when the person is asked for something new."""
    for key in keys:
        wait_for_question(page)
        before = moment(page)
        page.keyboard.press(key)
        page.wait_for_function("before => document.querySelector('.table').dataset.moment !== before", arg=before)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["limit10", "nolimit10"])
def test_on_a_telephone_the_own_cards_are_above_the_buttons(browser: Any, tmp_path: Path, name: str) -> None:
    full, game = find_game(name)
    bots = bots_for(game, ("random", "calling"))
    settings = replace(small_house(), games=(ServerGame(full, full, game, 20, 10, bots, 10_000),))
    with Served(settings, tmp_path / "server") as server, open_page(browser, width=SIZES[0]) as page:
        page.set_viewport_size({"width": SIZES[0], "height": 800})
        sit_down(page, server, full)
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


def test_a_match_by_keyboard_only(browser: Any, server: Served) -> None:
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
        # A size: the first digit leads into its field.
        before = moment(page)
        page.keyboard.type("250")
        assert page.locator("#size").input_value() == "250"
        page.keyboard.press("Enter")
        wait_for_question(page, before)
        assert "raise to 250" in page.locator(".history").inner_text()
        # Until the end of the hand; the last key ends the match.
        while page.locator("button[value=next]").count() == 0:
            before = moment(page)
            page.keyboard.press("c")
            wait_for_question(page, before)
        page.keyboard.press("Enter")
        page.get_by_text("The match is over.").wait_for()


@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_table_is_ended_for_good_once_that_is_confirmed(browser: Any, server: Served, has_scripts: bool) -> None:
    with open_page(browser, java_script_enabled=has_scripts) as page:
        sit_down(page, server, "holdem.limit.2p.reverse_blinds")
        table = page.url
        page.get_by_text("End this table for good").click()
        page.get_by_role("link", name="Continue playing").click()
        assert page.url == table
        page.get_by_text("End this table for good").click()
        page.get_by_role("button", name="End the table").click()
        page.wait_for_url(re.compile(r"/play$"))
        assert page.goto(table).status == 404


def test_leaving_leads_to_a_page_that_confirms_it(browser: Any, server: Served) -> None:
    with open_page(browser) as page:
        sit_down(page, server, "holdem.limit.2p.reverse_blinds")
        wait_for_question(page)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))

        def answer_late(route: Any) -> None:
            # What waits for something new is answered first: the table has been left.
            answer = route.fetch()
            time.sleep(1.0)
            route.fulfill(response=answer)

        page.route("**/leave", answer_late)
        page.get_by_role("button", name="Leave").click()
        page.get_by_role("heading", name="You have left the table").wait_for()
        left = next(number for number, one in enumerate(asked) if one.startswith("POST "))
        assert not [one for one in asked[left:] if "/part" in one], "a question would wake the table"


@pytest.mark.slow
@pytest.mark.parametrize("width", SIZES)
def test_a_late_click_never_does_something_else(browser: Any, server: Served, width: int) -> None:
    with open_page(browser, width=width) as page:
        sit_down(page, server, "leduc.limit.2p", "random", seed="7")
        corners: dict[str, set[tuple[float, float]]] = {}
        for _ in range(40):
            wait_for_question(page)
            # At once: the page may be shown anew in between.
            now = page.evaluate(
                """() => {
                    const places = document.querySelector(".places"), top = places.getBoundingClientRect().top;
                    return [...places.querySelectorAll("button")].map((button) => {
                        const box = button.getBoundingClientRect();
                        return [button.dataset.key, box.left, box.top - top];
                    });
                }"""
            )
            for key, left, top in now:
                corners.setdefault(key, set()).add((left, top))
            keys = [key for key, _, _ in now]
            if set(corners) == set("fcrn") and "n" in keys:
                break
            press(page, next(key for key in "nrc" if key in keys))
        assert set(corners) == set("fcrn")
        assert all(len(found) == 1 for found in corners.values()), corners
        assert len(set.union(*corners.values())) == 4


@pytest.mark.slow
def test_the_next_hand_is_dealt_without_a_click_where_that_is_wanted(browser: Any, server: Served) -> None:
    with open_page(browser) as page:
        sit_down(page, server, "kuhn.limit.2p", hands="5")
        while page.locator("button[value=next]").count() == 0:
            press(page, "c")
            wait_for_question(page)
        before = moment(page)
        page.wait_for_timeout(4500)
        assert moment(page) == before
        page.locator("#auto").check()
        wait_for_question(page, before)
        page.get_by_role("heading", name="Hand 1").wait_for()
        # It is kept.
        page.reload()
        assert page.locator("#auto").is_checked()


@pytest.mark.slow
def test_a_size_is_chosen_first_and_sent_by_the_button_that_shows_it(browser: Any, server: Served) -> None:
    with open_page(browser) as page:
        sit_down(page, server, "holdem.nolimit.2p.reverse_blinds")
        wait_for_question(page)
        before = moment(page)
        page.get_by_role("button", name="all-in (20,000)").click()
        assert page.locator("#size").input_value() == "20000"
        assert moment(page) == before
        page.get_by_role("button", name="Raise to 20,000 (200 bb)").click()
        wait_for_question(page, before)
        assert "You raise to 20,000, all-in" in page.locator(".history").inner_text()


@pytest.mark.slow
def test_colours_of_cards_and_pages_are_kept(browser: Any, server: Served) -> None:
    with open_page(browser) as page:
        sit_down(page, server, "kuhn.limit.2p")
        page.get_by_label("Suits").select_option("two")
        page.get_by_label("Theme").select_option("dark")
        page.reload()
        kept = page.evaluate("({...document.documentElement.dataset})")
        assert kept == {"deck": "two", "theme": "dark"}
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"


@pytest.mark.slow
def test_two_tabs_are_one_seat(browser: Any, server: Served) -> None:
    with open_page(browser) as page:
        sit_down(page, server, "kuhn.limit.2p")
        wait_for_question(page)
        other = page.context.new_page()
        other.goto(page.url)
        wait_for_question(other)
        before = moment(other)
        press(page, "c")
        # The other follows by itself.
        other.wait_for_function("before => document.querySelector('.table').dataset.moment !== before", arg=before)
        assert moment(other) == moment(page)


@pytest.mark.slow
def test_an_entry_from_a_tab_that_is_out_of_date_is_answered_by_the_table_as_it_is(
    browser: Any, server: Served
) -> None:
    with open_page(browser) as page:
        sit_down(page, server, "holdem.limit.2p.reverse_blinds")
        wait_for_question(page)
        other = page.context.new_page()
        # This one hears nothing.
        other.route("**/part?*", lambda route: None)
        other.goto(page.url)
        press(page, "c")
        wait_for_question(page)
        other.keyboard.press("r")
        other.locator(".message", has_text="counts once").wait_for()
        assert moment(other) == moment(page)


@pytest.mark.slow
def test_when_the_server_comes_back_the_person_is_at_the_same_decision(browser: Any, server: Served) -> None:
    with open_page(browser) as page:
        sit_down(page, server, "holdem.limit.2p.reverse_blinds", "random")
        press(page, "c")
        wait_for_question(page)
        if page.locator("button[value=next]").count():
            press(page, "n")
            wait_for_question(page)
        before = moment(page)
        server.stop()
        try:
            page.get_by_text("The server does not answer.").wait_for()
            # What is pressed meanwhile arrives when it is back, once.
            page.keyboard.press("c")
        finally:
            server.start()
        page.wait_for_function("before => document.querySelector('.table').dataset.moment !== before", arg=before)
        page.locator("#lost").wait_for(state="hidden")
        assert page.get_by_role("alert").filter(has_text="another moment").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(browser: Any, server: Served, scheme: str) -> None:
    for width in SIZES:
        with open_page(browser, width=width, scheme=scheme) as page:
            log_in(page, server)
            assert page_problems(page) == []
            sit_down(page, server, "holdem.nolimit.2p.reverse_blinds", "random")
            wait_for_question(page)
            assert page_problems(page) == []
            while page.locator("button[value=next]").count() == 0:
                press(page, "c")
                wait_for_question(page)
            assert page_problems(page) == []
