"""Program of ``arena bot``: play one match with a Python bot named on the command line.

    python -m bots.sdk.builtin BOT HOST PORT [--game GAME] [--seed N]

BOT is a text of `bots.sdk.registry`, such as ``random?fold=0.1`` or ``my_bot.py:MyBot``. Without ``--seed`` the seed is
that of the environment variable ``ARENA_SEED``, if it is set. Game and exit codes are those of `bots.sdk.client`. The
dealer starts a learning bot with two more options, ``--start MEMORY --journal FILE`` (`bots.sdk.learning`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from bots.errors import BotFileError, BotUsageError, SpecError
from bots.sdk.bot import Bot
from bots.sdk.client import play_to_exit_code, print_line, print_own_failure, read_arguments, read_port
from bots.sdk.registry import EXCHANGES_VARIABLE, SEED_VARIABLE, make_bot
from engine.errors import quoted

_USAGE: Final = "usage: arena bot BOT HOST PORT [--game GAME] [--seed N]"
_OPTIONS: Final = ("game", "seed", "start", "journal")


def main(argv: Sequence[str] | None = None) -> int:
    """Play a match and return the exit code; `argv` defaults to the arguments of the process."""
    try:
        arguments = read_arguments(sys.argv[1:] if argv is None else argv, ("BOT", "HOST", "PORT"), _OPTIONS)
        if "help" in arguments:
            print_line(sys.stdout, _USAGE)
            return 0
        port = read_port(arguments["PORT"])
        seed = _read_seed(arguments)
    except BotUsageError as error:
        print_line(sys.stderr, f"bot: {error}; {_USAGE}")
        return 2
    try:
        bot = make_bot(arguments["BOT"], seed)
        if exchanges := os.environ.get(EXCHANGES_VARIABLE):
            bot.keep_exchanges(exchanges)
        if "start" in arguments or "journal" in arguments:
            _train(bot, arguments)
    except (BotUsageError, BotFileError) as error:
        print_line(sys.stderr, f"bot: {error}")
        return 2 if isinstance(error, BotUsageError) else 1
    except SpecError as error:
        # A ValueError of a constructor refuses an option: its sentence is enough. Anything else is a bug of the bot.
        if error.__cause__ is not None and not isinstance(error.__cause__, ValueError):
            print_own_failure(error.__cause__)
        print_line(sys.stderr, f"bot: {error}")
        return 1
    return play_to_exit_code(bot, arguments["HOST"], port, arguments.get("game"))


def _train(bot: Bot, arguments: Mapping[str, str]) -> None:
    """Give a learning bot the memory and the journal of this match."""
    from bots.sdk.learning import LearningBot

    if not (isinstance(bot, LearningBot) and bot.is_learning):
        raise BotUsageError(f"{arguments['BOT']} does not learn, so it takes no --start and --journal")
    if not ("start" in arguments and "journal" in arguments):
        raise BotUsageError("--start and --journal belong together")
    bot.train(arguments["start"], arguments["journal"])


def _read_seed(arguments: Mapping[str, str]) -> int | None:
    text = arguments.get("seed", os.environ.get(SEED_VARIABLE))
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        source = "--seed" if "seed" in arguments else SEED_VARIABLE
        raise BotUsageError(f"{source} must be a whole number, not {quoted(text)}") from None


if __name__ == "__main__":
    sys.exit(main())
