"""The command line ``arena``: one file per command.

`main` looks at the first word before anything heavy is imported, because ``arena bot`` is started once per bot and
its start counts on the bot's clock.
"""

from __future__ import annotations

import io
import sys

__all__ = ["main"]


def main() -> None:
    """The console script."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["bot"] and not {"--help", "-h"} & set(arguments):
        from bots.builtin import main as play_bot

        sys.exit(play_bot(arguments[1:]))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal or file that knows few characters gets '?' for the others, not an error.
            stream.reconfigure(errors="replace")
    from engine.shadowing import ours

    with ours("engine", "protocol", "logs", "bots", "dealer"):
        from dealer.cli.app import app

    app(prog_name="arena")
