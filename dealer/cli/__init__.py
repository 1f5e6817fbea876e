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
        "mcp": "Let agents play that speak the Model Context Protocol.",
        "benchmark": "Play the benchmark: fixed deals against cfr, with win rate, losses by street and position, and "
        "times.",
        "tournament": "Play a tournament and print its crosstable and both ACPC rankings.",
        "deal": "Deal a match to clients that connect to its ports, one per seat.",
        "resume": "Resume an interrupted run. Its logs and result equal those of an uninterrupted run.",
        "runs": "List the runs in a folder, newest first: start, players and result.",
        "show": "Print the result of a run again.",
        "games": "List the built-in games, or print the definition of one. Any .game file can be played, too.",
    },
    "Analyse": {
        "stats": "Show how each bot plays: win rate, bets, raises and showdowns, by position and street.",
        "luck": "Estimate win rates without the luck of the cards. Choices of players with known strategies are "
        "corrected, too.",
        "report": "Write one page about runs or logs: win rates over time, statistics and leaks of each bot, faults, "
        "big pots.",
        "leaks": "Find decisions in which others did better with the same cards.",
        "hands": "Show a bot's largest losses, or one hand by its number. Other seatings of the deal are shown "
        "next to it.",
        "replay": "Replay hands of runs and logs in the browser, step by step.",
        "watch": "Show standings, scores and notable hands of runs in the browser. The pages follow runs that are "
        "being played.",
        "export": "Export runs and logs as hand histories for trackers and notebooks.",
        "crosstable": "Print the crosstable of a tournament in mbb/g, and both rankings.",
        "gate": "Check whether a player wins at least --min-mbb: exit code 0 if so, 1 if not, 3 if more deals are "
        "needed.",
    },
    "Write bots": {
        "bots": "List the bots, built in or from installed packages, with their games; or the options of one bot.",
        "bot": "Connect a Python bot to any dealer that speaks the protocol.",
        "doctor": "Play scripted situations with a bot and report its faults. Each fault has its line, byte and "
        "remedy.",
        "join": "Connect a bot to a server to play its bots and those of other users.",
        "bench": "Measure the speed of the dealer or of a bot.",
        "warmup": "Compile the kernels of bots and commands in advance. Later starts load them from disk.",
    },
    "Serve": {
        "serve": "Run a persistent match server: clients queue matches between its bots and their own.",
    },
    "Research": {
        "equity": "Compute each player's chances and pot share at a hold'em showdown.",
        "exploit": "Measure the exploitability of a bot. It is exact in small games and a lower bound in hold'em.",
        "solve": "Solve a small game, or recompute the tables that bots use.",
        "train": "Train the bot learner against any field, or cfr against itself.",
        "evolve": "Evolve hold'em and Kuhn players, or the learner's constants.",
        "claims": "Show the claims of five publications with our verdicts: printed figures, ours, sources and reasons.",
    },
}
"""Commands in the groups of ``arena --help``, each with the first sentence of its help."""

COMMANDS: dict[str, str] = {}
"""First sentence of the help of each command."""
for _summaries in _GROUPS.values():
    COMMANDS.update(_summaries)

_OPTIONS = {
    "--version": "Print the version and exit.",
    "--install-completion": "Install completion of commands, games, bots and runs.",
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
