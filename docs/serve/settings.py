"""Make the page of the server's settings from the program.

python docs/serve/settings.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from dealer.server.server_settings import SECTIONS, heading

sys.path.append(str(Path(__file__).resolve().parents[1]))
from reference import reference_table

PAGE = Path(__file__).resolve().parents[1] / "server-settings.md"


def reference_page() -> str:
    """The page of the documentation with all settings, in Markdown."""
    lines = [
        "# Server settings",
        "",
        "All settings of a configuration file of `arena serve`, as `arena serve --init` writes them;",
        "[Operation](operate.md) explains them. `python docs/serve/settings.py` writes this page.",
    ]
    for name, section in SECTIONS.items():
        lines += ["", f"## {f'`{heading(name)}`' if name else 'The server'}", "", str(section.__doc__), ""]
        lines += reference_table(section)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(reference_page(), "utf-8")
