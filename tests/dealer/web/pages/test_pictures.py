"""Script that takes pictures of all pages, and fails if a page is wider than its window."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.browsers import needs_browser
from tests.dealer.helpers import ROOT, program_env
from tests.scripts import script

pytestmark = [needs_browser, pytest.mark.slow]


def test_no_page_is_wider_than_its_window(tmp_path: Path) -> None:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    words = [
        sys.executable,
        str(ROOT / "research" / "pictures" / "remake.py"),
        "--all",
        str(tmp_path),
        "--deals",
        "100",
    ]
    subprocess.run(words, env=program_env(), check=True, timeout=550)
    pages = {*script("research/pictures/remake.py").PAGES, "table", "end-of-hand", "live", "end"}
    sizes = [(width, scheme) for width in (360, 820, 1400) for scheme in ("light", "dark")]
    taken = {f"{page}-{width}-{scheme}.png" for page in pages for width, scheme in sizes}
    assert {path.name for path in tmp_path.iterdir()} == taken
