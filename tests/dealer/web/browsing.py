"""Pages of runs on this machine, served without a port, and runs to show on them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from starlette.testclient import TestClient

import dealer.library
from dealer.run.folder import RESULT_NAME
from dealer.server.access import Access
from dealer.watching import LiveMatches
from dealer.web.local_site import local_routes
from dealer.web.pages.shown_runs import HandCounter, LocalLibrary, ShownRun
from dealer.web.site import Site, make_app
from dealer.web.visitor import Visitor
from logs.document import Link


class PublicLibrary(LocalLibrary):
    """Runs for a stranger, who must not see cards that are still to be played."""

    def open(self, key: str, visitor: Visitor) -> ShownRun:
        return replace(super().open(key, visitor), access=Access(sees_cards=False))


@contextmanager
def browser(library: LocalLibrary) -> Iterator[TestClient]:
    """Create a client of the pages of a library."""
    site = Site(links=(Link("Runs", "/runs"),))
    counter = HandCounter()
    try:
        app = make_app(site, local_routes(site, library, counter))
        yield TestClient(app, base_url="http://localhost")
    finally:
        counter.close()


@contextmanager
def browsing(*paths: Path, live: LiveMatches | None = None, is_public: bool = False) -> Iterator[TestClient]:
    """Create a client of the pages of runs."""
    kind = PublicLibrary if is_public else LocalLibrary
    with browser(kind(paths, live=live)) as client:
        yield client


def play_run(folder: Path, game: str = "leduc", bots: Sequence[str] = ("random", "calling"), hands: int = 60) -> Path:
    """Play a run and return its folder."""
    # Corrected scores would need compiled code.
    dealer.library.play(game, list(bots), out=folder, deals=hands, seed=3, in_process=True, score="raw")
    return folder


def copy_unfinished(run: Path, folder: Path, match: str, hands: int) -> Path:
    """Copy a run as if it were still being played: without a result, and with one match cut to so many hands."""
    shutil.copytree(run, folder)
    (folder / RESULT_NAME).unlink()
    for path in folder.glob("*.log"):
        lines = [line for line in path.read_text().splitlines(keepends=True) if not line.startswith("SCORE")]
        if path.stem == match:
            lines = [line for line in lines if line.startswith("#") or int(line.split(":")[1]) < hands]
        path.write_text("".join(lines))
    return folder


def links(text: str, start: str = "/") -> list[str]:
    """Return the targets of the links of a page."""
    return [link.replace("&amp;", "&") for link in re.findall(r'href="([^"]*)"', text) if link.startswith(start)]
