"""Takes the pictures of the README: standings and a table of a server that is started for it, light and dark.

    python docs/pictures/remake.py

needs the extra `web`, playwright, and Chromium, Chrome or Edge (`ARENA_BROWSER` names another). What is shown was
played for the pictures: every pair of five bots at Kuhn poker, and a hand of no-limit hold'em.
"""

from __future__ import annotations

import contextlib
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

HERE = Path(__file__).parent
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
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
ADDRESS = re.compile(r"The pages are at (http://\S+)")
LOGIN = re.compile(r"Log in with: (\S+) (\S+)")
PATIENCE_S = 1800.0


@contextlib.contextmanager
def server(folder: Path) -> Iterator[tuple[str, str]]:
    """A server; gives the address of its pages and the token of its user."""
    (folder / "server.toml").write_text(CONFIG, "utf-8")
    words = [
        "-P",
        "-c",
        "from dealer.cli import main; main()",
        "serve",
        "server.toml",
        "--port",
        "0",
        "--web-port",
        "0",
    ]
    output = folder / "output.txt"
    with output.open("w") as file:
        program = subprocess.Popen([sys.executable, *words], cwd=folder, stdout=file, stderr=file)
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
    """An answer of the server's interface for programs."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}api/v1/{path}", data, headers)) as answer:
        return json.load(answer)


def play_all_pairs(address: str, token: str) -> None:
    """Have every pair played, until all results are in the standings."""
    pairs = list(itertools.combinations(BOTS, 2))
    for first, second in pairs:
        asked(address, token, "jobs", {"game": GAME, "players": [first, second], "deals": DEALS})
    until_s = time.monotonic() + PATIENCE_S
    while sum(one["duplicates"] for one in asked(address, token, f"games/{GAME}/pairs")["pairs"]) < len(pairs) * DEALS:
        if time.monotonic() > until_s:
            sys.exit("the matches take too long")
        time.sleep(1.0)
    time.sleep(3.0)


def sit_down(page: Any, address: str, token: str) -> None:
    """Sit down at a table and play to the turn."""
    page.goto(f"{address}login?next=/play")
    page.locator("#name").fill("player")
    page.locator("#secret").fill(token)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r":\d+/play$"))
    page.goto(f"{address}play?game={TABLE}")
    page.locator("#bot1").select_option("calling")
    page.locator("#seed").fill(str(SEED))
    page.get_by_role("button", name="Sit down").click()
    page.locator(".entries").first.wait_for()
    for _ in range(2):
        before = page.locator(".table").get_attribute("data-moment")
        page.keyboard.press("c")
        is_new = "document.querySelector('.table').dataset.moment !== before"
        page.wait_for_function(f"before => {is_new} && document.querySelector('.entries')", arg=before)


def take(page: Any, path: Path) -> None:
    """A picture of a page, with few colours and so small."""
    from PIL import Image

    with Image.open(io.BytesIO(page.screenshot())) as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Play, and take the pictures."""
    from playwright.sync_api import sync_playwright

    found = os.environ.get("ARENA_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        sys.exit("there is no Chromium, Chrome or Edge here; ARENA_BROWSER may name one")
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with (
        tempfile.TemporaryDirectory() as folder,
        server(Path(folder)) as (address, token),
        sync_playwright() as driver,
    ):
        play_all_pairs(address, token)
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"] if is_root else [])
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": 900, "height": 760}, color_scheme=scheme, reduced_motion="reduce"
            )
            page.set_default_timeout(120_000)
            page.goto(f"{address}standings/{GAME}")
            take(page, HERE / f"standings-{scheme}.png")
            sit_down(page, address, token)
            take(page, HERE / f"table-{scheme}.png")
            page.context.close()
        browser.close()


if __name__ == "__main__":
    main()
