"""Take pictures of the pages of a server in light and dark.

    python research/pictures/remake.py                  those of the README: standings and a table
    python research/pictures/remake.py --all FOLDER     all pages, at 360, 820 and 1,400 pixels

The second command prints the pages that are wider than their windows, and exits with code 1 if there are any. It needs
the extra `web`, playwright, and Chromium, Chrome or Edge (`ARENA_BROWSER` names another). The results shown are played
for the pictures: every pair of five bots at Kuhn poker, and a hand of no-limit hold'em.

"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"
BOTS = ("equilibrium", "raising", "calling", "folding", "random")
GAME = "kuhn.limit.2p"
TABLE = "holdem.nolimit.2p.reverse_blinds"
CONFIG = f"""
[[games]]
game = "kuhn"
max_running = 2
bots = {json.dumps(BOTS)}
[[games]]
game = "nolimit"
bots = ["calling", "raising"]
"""
DEALS = 1000
SEED = 11
ARENA = (sys.executable, "-P", "-c", "from dealer.cli import main; main()")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
ADDRESS = re.compile(r"The pages are at (http://\S+)")
LOGIN = re.compile(r"Log in with: (\S+) (\S+)")
PATIENCE_S = 1800.0
WIDTHS = (360, 820, 1400)
SCHEMES = ("light", "dark")
_RUN = "runs/1/matches/match.a"
PAGES = {
    "home": "",
    "standings": f"standings/{GAME}",
    "bot": f"bots/{GAME}/calling",
    "pair": f"pairs/{GAME}/1",
    "runs": "runs",
    "run": "runs/1",
    "match": _RUN,
    "hand": f"{_RUN}/hands/3?step=3",
    "events": "events",
    "event": "events/final",
    "play": f"play?game={TABLE}",
    "account": "account",
    "settings": "account/settings",
    "request": f"account/request?game={GAME}",
    "faults": "account/faults",
    "own-run": "account/runs/1",
    "organiser": "organiser",
    "changes": "organiser/changes",
    "login": "login",
    "error": "nothing",
}
"""Pages by name, except those of a table and of a running match."""


@contextlib.contextmanager
def server(folder: Path) -> Iterator[tuple[str, str]]:
    """Run a server; yield the address of its pages and its user's token."""
    (folder / "server.toml").write_text(CONFIG, "utf-8")
    words = ["serve", "server.toml", "--port", "0", "--web-port", "0"]
    output = folder / "output.txt"
    with output.open("w") as file:
        program = subprocess.Popen([*ARENA, *words], cwd=folder, stdout=file, stderr=file)
    try:
        while not (address := ADDRESS.search(said := output.read_text())) or not (login := LOGIN.search(said)):
            if program.poll() is not None:
                sys.exit(said)
            time.sleep(0.2)
        yield address[1], login[2]
    finally:
        program.terminate()
        program.wait()


def asked(address: str, token: str, path: str, body: object = None) -> Any:
    """Call the server's HTTP interface."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}api/v1/{path}", data, headers)) as answer:
        return json.load(answer)


def play_all_pairs(address: str, token: str, deals: int = DEALS) -> None:
    """Play every pair, until all results are in the standings."""
    pairs = list(itertools.combinations(BOTS, 2))
    for first, second in pairs:
        asked(address, token, "jobs", {"game": GAME, "players": [first, second], "deals": deals})
    until_s = time.monotonic() + PATIENCE_S
    while sum(one["duplicates"] for one in asked(address, token, f"games/{GAME}/pairs")["pairs"]) < len(pairs) * deals:
        if time.monotonic() > until_s:
            sys.exit("the matches take too long")
        time.sleep(1.0)
    time.sleep(3.0)


def log_in(page: Any, address: str, token: str, name: str = "player") -> None:
    """Log in with a token."""
    page.goto(f"{address}login?next=/play")
    page.locator("#name").fill(name)
    page.locator("#secret").fill(token)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r":\d+/play$"))


def sit_down(page: Any, address: str) -> None:
    """Sit down at a table and play to the turn."""
    page.goto(f"{address}play?game={TABLE}")
    page.locator("#bot1").select_option("calling")
    page.locator("#seed").fill(str(SEED))
    page.get_by_role("button", name="Play", exact=True).click()
    page.locator(".entries").first.wait_for()
    for _ in range(2):
        call(page)


def call(page: Any) -> None:
    """Check or call, and wait for the person's next turn."""
    before = page.locator(".table").get_attribute("data-moment")
    page.locator("[data-key=c]").first.click()
    is_new = "document.querySelector('.table').dataset.moment !== before"
    page.wait_for_function(f"before => {is_new} && document.querySelector('.entries')", arg=before)


def take(page: Any, path: Path) -> None:
    """Take a picture of a page with few colours, to keep it small."""
    from PIL import Image

    page.evaluate("scrollTo(0, 0)")
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Launch the browser."""
    from playwright.sync_api import sync_playwright

    executable = os.environ.get("ARENA_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        sys.exit("there is no Chromium, Chrome or Edge here; ARENA_BROWSER may name one")
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"] if is_root else [])
        yield browser
        browser.close()


def opened(browser: Any, width: int, height: int, scheme: str) -> Any:
    """Open a window."""
    size = {"width": width, "height": height}
    page = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce").new_page()
    page.set_default_timeout(120_000)
    return page


def take_those_of_readme(address: str, token: str) -> None:
    play_all_pairs(address, token)
    with chromium() as browser:
        for scheme in SCHEMES:
            page = opened(browser, 900, 800, scheme)
            page.goto(f"{address}standings/{GAME}")
            take(page, PICTURES / f"standings-{scheme}.png")
            log_in(page, address, token)
            sit_down(page, address)
            take(page, PICTURES / f"table-{scheme}.png")
            page.context.close()


def take_all(address: str, token: str, folder: Path, deals: int = DEALS) -> list[str]:
    """Take pictures of all pages for an organiser; return the names of pages wider than their windows.

    Args:
        token: of a user `olga`, for admins.

    """
    play_all_pairs(address, token, deals)
    closes = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=7)
    asked(address, token, "scheduled-events", {"name": "final", "game": GAME, "closes": closes.isoformat()})
    wide = []

    def picture(page: Any, name: str) -> None:
        page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(f"{name}-{width}-{scheme}")

    with chromium() as browser:
        for width, scheme in itertools.product(WIDTHS, SCHEMES):
            page = opened(browser, width, 800, scheme)
            log_in(page, address, token, "olga")
            for name, path in PAGES.items():
                page.goto(address + path)
                picture(page, name)
            sit_down(page, address)
            picture(page, "table")
            while page.locator("[data-key=c]").count():
                call(page)
            picture(page, "end-of-hand")
            watcher = page.context.new_page()
            watcher.goto(f"{address}runs/{page.url.rpartition('/')[2]}/matches/match")
            watcher.locator("#live h3").first.wait_for()
            picture(watcher, "live")
            page.goto(f"{page.url}/end")
            picture(page, "end")
            page.get_by_role("button", name="End the table").click()
            page.wait_for_url(re.compile(r"/play$"))
            page.context.close()
    return wide


def main() -> None:
    """Play, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="for the pictures of all pages")
    parser.add_argument("--deals", type=int, default=DEALS, help="of each pair")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as (address, token):
        if options.all is None:
            take_those_of_readme(address, token)
            return
        options.all.mkdir(parents=True, exist_ok=True)
        words = ("serve", "user", "olga", "--scopes", "read,play,admin")
        output = subprocess.run([*ARENA, *words], cwd=name, check=True, capture_output=True, text=True).stdout
        if wide := take_all(address, output.split()[-1], options.all, options.deals):
            sys.exit(f"wider than their windows: {', '.join(wide)}")


if __name__ == "__main__":
    main()
