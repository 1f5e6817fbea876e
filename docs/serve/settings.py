"""Make the page of the server's settings from the program.

python docs/serve/settings.py
"""

from __future__ import annotations

from pathlib import Path

from dealer.server.settings import reference_page

PAGE = Path(__file__).resolve().parents[1] / "server-settings.md"

if __name__ == "__main__":
    PAGE.write_text(reference_page(), "utf-8")
