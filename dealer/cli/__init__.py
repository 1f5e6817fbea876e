"""The command line ``arena``: one file per command.

`main` looks at the first word before anything heavy is imported, because ``arena bot`` is started once per bot and
its start counts on the bot's clock.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """The console script."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["bot"] and not {"--help", "-h"} & set(arguments):
        from bots.builtin import main as play_bot

        sys.exit(play_bot(arguments[1:]))
    from dealer.cli.streams import interruptible, standard_streams

    with standard_streams():
        with interruptible():
            from engine.shadowing import ours

            with ours("engine", "protocol", "logs", "bots", "dealer"):
                from dealer.cli.app import app
        app(prog_name="arena")
