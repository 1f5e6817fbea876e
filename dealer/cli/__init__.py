"""Entry point of the command line ``arena``, with one module per command.

`main` reads the arguments before it imports anything heavy, and imports only the command that runs. ``arena bot`` does
without the application altogether, since its start counts on the bot's clock.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence

__all__ = ["COMMANDS", "commands_for", "main"]

_GROUPS = {
    "Play": {
        "play": "Play a match and report the winner with a confidence interval.",
        "table": "Play against bots yourself, in this terminal or in a browser.",
        "tournament": "Play a tournament: a crosstable with intervals, and the two rankings of the ACPC.",
        "deal": "Deal a match to clients that connect to its ports, one per seat.",
        "resume": "Resume an interrupted run: its cards, logs and result are those of an uninterrupted one.",
        "runs": "List the runs in a folder, newest first: start, players and result.",
        "show": "Print the result of a run again.",
        "games": "List the games that come with the arena; or print the .game file of one. Any .game file can be "
        "played, too.",
    },
    "Analyse": {
        "stats": "Show how each bot plays: win rate, bets, raises and showdowns, by position and street.",
        "luck": "Estimate win rates with less luck: corrected for the cards, and for choices of players with known "
        "strategies.",
        "report": "Write one page about runs or logs: win rates over time, statistics and leaks of each bot, faults, "
        "big pots.",
        "leaks": "Find where a player loses: decisions in which another player with the same cards did better.",
        "hands": "Show the hands a bot lost most on: each with the same deal in the other seatings; or one hand by "
        "its number.",
        "replay": "Show the hands of runs and logs in the browser, step by step: biggest pots, worst deals, any hand "
        "by its number.",
        "watch": "Show runs in the browser, also while they are played: standings, scores, notable hands.",
        "export": "Write hand histories from runs and logs: for tracking tools and notebooks.",
        "crosstable": "Print the crosstable of a tournament: in mbb/g with 95 % intervals, and both rankings.",
        "gate": "Check whether a player wins at least --min-mbb: exit code 0 if so, 1 if not, 3 if more deals are "
        "needed.",
    },
    "Write bots": {
        "bots": "List the bots, built in or from installed packages, with their games; or the options of one bot.",
        "bot": "Connect a Python bot to any dealer that speaks the protocol.",
        "doctor": "Play scripted situations with a bot and report its faults: each with its line and byte, and with "
        "advice.",
        "join": "Connect a bot to a server: it plays against the server's bots and those of other users.",
        "bench": "Measure the speed of the dealer or of a bot.",
        "warmup": "Compile the kernels of bots and commands once: later starts load them from disk.",
    },
    "Serve": {
        "serve": "Run a persistent match server: clients queue matches between its bots and their own.",
    },
    "Research": {
        "equity": "Compute each player's chances at a showdown of hold'em: to win, to tie, and the share of the pot.",
        "exploit": "Measure how much a bot can lose to an opponent who knows its strategy: exactly in small games, as "
        "a lower bound in hold'em.",
        "solve": "Solve a small game, by its name or its .game file; recompute the tables that bots use.",
        "train": "Train players: the learner against any field, cfr against itself.",
        "evolve": "Evolve players by genetic algorithms: for ten-handed limit hold'em and Kuhn poker, and the "
        "learner's constants.",
    },
}
"""Commands in the groups of ``arena --help``, each with the first sentence of its help."""

COMMANDS: dict[str, str] = {}
"""First sentence of the help of each command."""
for _summaries in _GROUPS.values():
    COMMANDS.update(_summaries)

_OPTIONS = {
    "--version": "Print the version and exit.",
    "--install-completion": "Let the shell complete commands, games, bots and runs.",
}


def main(on_imported: Callable[[], None] = lambda: None) -> None:
    """Run the command line and exit.

    Args:
        on_imported: called once the command is imported, so that from then on it handles Ctrl-C itself.
    """
    arguments = sys.argv[1:]
    if arguments[:1] == ["bot"] and not {"--help", "-h"} & set(arguments):
        from bots.sdk.builtin import main as play_bot

        on_imported()
        sys.exit(play_bot(arguments[1:]))
    from dealer.cli.shell.streams import EXIT_USAGE, standard_streams

    is_completing = "_ARENA_COMPLETE" in os.environ
    with standard_streams():
        if not is_completing and (not arguments or arguments[0] in ("--help", "-h")):
            sys.stdout.write(_help(is_full="--help" in arguments))
            sys.exit(0 if arguments else EXIT_USAGE)
        if not is_completing and arguments == ["--version"]:
            from dealer.cli.shell.help import version_line

            sys.stdout.write(f"{version_line()}\n")
            sys.exit(0)
        from engine.shadowing import own_packages

        with own_packages("engine", "protocol", "logs", "bots", "dealer"):
            from dealer.cli.shell.app import application

            words: Sequence[str] = arguments
            if is_completing:
                # Bash sets the first variable, other shells the second.
                command_line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
                words = command_line.split()[1:]
            app = application(commands_for(words))
        on_imported()
        app(prog_name="arena")


def commands_for(arguments: Sequence[str]) -> Collection[str]:
    """Return the command that the arguments name, or all commands if they name none."""
    for word in arguments:
        if not word.startswith("-"):
            return [word] if word in COMMANDS else COMMANDS
    return COMMANDS


def _help(*, is_full: bool) -> str:
    from dealer.cli.shell.help import HELP_ENTRY, Entry, Page, page_text

    options = [Entry(name, text) for name, text in _OPTIONS.items()]
    options.append(HELP_ENTRY)
    commands = []
    for group, summaries in _GROUPS.items():
        entries = [Entry(name, summary) for name, summary in summaries.items()]
        commands.append((group, entries))
    page = Page(
        "arena [OPTIONS] COMMAND ...",
        "Matches between poker programs over the ACPC protocol.",
        [("Options", options)],
        commands,
    )
    return page_text(page, is_full=is_full)
