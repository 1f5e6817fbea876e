"""The command line ``arena``: one file per command.

`main` looks at the words before anything heavy is imported: ``arena bot`` is started once per bot, and its start counts
on the bot's clock; the list of commands needs none of them; a command needs no other.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Collection, Sequence

__all__ = ["COMMANDS", "commands_for", "main"]

COMMANDS = {
    "play": "Play a match between bots and show which one won and how sure that is.",
    "table": "Play against bots yourself, in this terminal or in a browser.",
    "tournament": "Play a tournament and show a crosstable with intervals, and the two rankings of the ACPC.",
    "resume": "Go on with an interrupted run: the same cards, logs and result as if it had not been interrupted.",
    "gate": "Say whether a player wins at least --min-mbb: exit code 0 if so, 1 if not, 3 if the hands are too few "
    "to tell.",
    "crosstable": "Print the crosstable of a tournament, in mbb/g with 95 % intervals, and both rankings.",
    "export": "Write hand histories for tracking tools and notebooks from runs and logs.",
    "stats": "Show how each bot plays: its win rate, how often it bets, raises and goes to showdown, by position and "
    "street.",
    "report": "Write one page about runs or logs: win rates over time, how each bot plays and where it loses, faults, "
    "big pots.",
    "hands": "Show the hands a bot lost most on, each with the same deal in the other seatings, or one hand by its "
    "number.",
    "leaks": "Say where a player loses: the decisions in which it did worse with its cards than another player with "
    "the same.",
    "watch": "Show runs in the browser, also while they are played: standings, scores, the hands most worth a look.",
    "replay": "Show the hands of runs and logs in the browser, step by step: biggest pots, worst deals, any hand by "
    "its number.",
    "doctor": "Play scripted situations with a bot and report its faults: which byte of which line is wrong, and what "
    "to do.",
    "deal": "Deal a match to clients that connect to its ports, one per seat; says who is awaited, where and for how "
    "long.",
    "serve": "Run a server: programs connect and have matches played against its bots; everything is kept.",
    "join": "Bring a bot to a server: it plays there against the server's bots and those of others, from this machine.",
    "bot": "Connect a Python bot to any dealer that speaks the protocol.",
    "bots": "List the bots that have a name, built in or from installed packages; or what the options of one bot "
    "decide.",
    "games": "List the games that come with the arena; any .game file can be played, too.",
    "warmup": "Compile once what bots and commands compute with, and keep it on disk: they are ready at once "
    "afterwards.",
    "exploit": "Say how much a bot can lose to somebody who knows how it plays: exactly in small games, a lower "
    "bound in hold'em.",
    "equity": "Show each player's chance to win, to tie, and its share of the pot at a showdown of hold'em.",
    "solve": "Solve small games; compute anew what the bots play by: chances of hands, and the game before the flop.",
    "train": "Train players: the learner against any field, cfr against itself.",
    "evolve": "Evolve agents of ten-handed limit hold'em and of Kuhn poker, and the constants of the learner.",
    "study": "Report on the works that players come from: printed figures beside ours.",
    "bench": "Measure the speed of the dealer or of a bot.",
}
"""Every command and the first sentence of its help."""

_HELP = """
 Usage: arena [OPTIONS] COMMAND [ARGS]...

 Matches between poker programs over the ACPC protocol.

 Options
   --version      Print the version and exit.
   --help -h      Show this message and exit.

 Commands
"""
_INDENT = 15
_WIDTH_OF_FILES = 100


def main() -> None:
    """The command line; Ctrl-C ends it at once until the command is imported, and is the command's own from then on."""
    from acpc_arena import raise_interrupts

    arguments = sys.argv[1:]
    if arguments[:1] == ["bot"] and not {"--help", "-h"} & set(arguments):
        from bots.sdk.builtin import main as play_bot

        raise_interrupts()
        sys.exit(play_bot(arguments[1:]))
    from dealer.cli.streams import EXIT_USAGE, standard_streams

    with standard_streams():
        if {*arguments} <= {"--help", "-h"}:
            sys.stdout.write(_help())
            sys.exit(0 if arguments else EXIT_USAGE)
        from engine.shadowing import ours

        with ours("engine", "protocol", "logs", "bots", "dealer"):
            from dealer.cli.app import application

            app = application(commands_for(arguments))
        raise_interrupts()
        app(prog_name="arena")


def commands_for(arguments: Sequence[str]) -> Collection[str]:
    """The one command that is asked for; all, if there is no such command."""
    asked = next((word for word in arguments if not word.startswith("-")), "")
    return [asked] if asked in COMMANDS else COMMANDS


def _help() -> str:
    """The list of commands, as wide as the terminal."""
    try:
        width = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        width = _WIDTH_OF_FILES
    rows = [
        textwrap.fill(
            summary,
            max(width, 2 * _INDENT),
            initial_indent=f"   {name}".ljust(_INDENT),
            subsequent_indent=" " * _INDENT,
        )
        for name, summary in COMMANDS.items()
    ]
    return _HELP + "\n".join(rows) + "\n"
