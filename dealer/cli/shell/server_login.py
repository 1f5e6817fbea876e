"""Address of a server, and the token with which a bot joins it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from dealer.cli.shell.console import abort
from engine.errors import quoted

TOKEN_VARIABLE: Final = "ARENA_TOKEN"


def server_address(text: str) -> str:
    """Check the address of a server's pages, and return it without a slash at its end."""
    has_scheme = "://" in text
    address = text if has_scheme else f"http://{text}"
    if not _is_page_address(address, needs_port=not has_scheme):
        abort(f"{quoted(text, 100)} is not the address of a server, such as http://127.0.0.1:8080 or 127.0.0.1:8080")
    return address.rstrip("/")


def _is_page_address(address: str, *, needs_port: bool) -> bool:
    try:
        parts = urlsplit(address)
        has_port = parts.port is not None
    except ValueError:
        return False
    if not parts.hostname or parts.scheme not in ("http", "https"):
        return False
    if needs_port and not has_port:
        return False
    return not (parts.query or parts.fragment or parts.username)


def read_token(text: str | None, path: Path | None) -> str:
    """Return the token from an option, a file or the environment."""
    if text is not None and path is not None:
        abort("--token and --token-file contradict each other; leave one out")
    if path is not None:
        try:
            text = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            abort(f"--token-file: cannot read {path}: {getattr(error, 'strerror', None) or error}")
    elif text is None:
        text = os.environ.get(TOKEN_VARIABLE, "").strip()
    # The server prints it after the name of its user.
    words = (text or "").replace(":", " ", 1).split()
    if not words:
        options = f"--token, --token-file or the variable {TOKEN_VARIABLE}"
        abort(f"a token is needed, which the server's owner issues; set {options}")
    if len(words) > 2 or not words[-1].isascii() or not words[-1].isprintable():
        abort("the token is one word, or NAME:TOKEN")
    return words[-1]
