"""A Python bot of any kind as a program: what ``arena bot BOT HOST PORT`` runs.

    python -m bots.builtin BOT HOST PORT [--game GAME] [--seed N]

BOT is a name that `bots.registry` knows, a class in a module or a file, and options if there are any:
``random?fold=0.1``, ``my_bot.py:MyBot``. Game and exit codes are those of `bots.client`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from bots.client import play_to_exit_code, read_arguments, read_port, say, show_own_failure
from bots.errors import SpecError, UsageError
from bots.registry import make_bot
from engine.errors import quoted

__all__ = ["main"]

_USAGE: Final = "usage: arena bot BOT HOST PORT [--game GAME] [--seed N]"


def main(argv: Sequence[str] | None = None) -> int:
    """Play a match as the bot named; returns the exit code.

    Args:
        argv: BOT HOST PORT and options; those of the process by default.
    """
    try:
        arguments = read_arguments(sys.argv[1:] if argv is None else argv, ("BOT", "HOST", "PORT"), ("game", "seed"))
        if "help" in arguments:
            say(sys.stdout, _USAGE)
            return 0
        port, seed = read_port(arguments["PORT"]), _read_seed(arguments.get("seed"))
    except UsageError as error:
        say(sys.stderr, f"bot: {error}; {_USAGE}")
        return 2
    try:
        bot = make_bot(arguments["BOT"], seed)
    except SpecError as error:
        if error.__cause__ is not None and not isinstance(error.__cause__, ValueError):
            show_own_failure(error.__cause__)
        say(sys.stderr, f"bot: {error}")
        return 1
    return play_to_exit_code(bot, arguments["HOST"], port, arguments.get("game"))


def _read_seed(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--seed must be a whole number, not {quoted(text)}") from None


if __name__ == "__main__":
    sys.exit(main())
