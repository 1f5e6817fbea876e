"""``arena solve``: solve small games, and recompute the tables that bots use."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from typer.core import CompletionItem  # type: ignore[attr-defined]

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.arguments import is_game_word
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.commands import ArenaGroup
from dealer.cli.shell.completion import complete_game
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.streams import EXIT_FAILED
from dealer.cli.solve_preflop import preflop
from dealer.cli.solve_small import game, kuhn, kuhn3, leduc
from engine import STARTING_HANDS
from logs.document import Document


class _SolveGroup(ArenaGroup):
    """Group that reads ``arena solve GAME`` as ``arena solve game GAME``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if word not in self.commands and (word.endswith(".game") or is_game_word(word)):
            return super().resolve_command(ctx, ["game", *args])
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        commands = super().shell_complete(ctx, incomplete)
        return commands + [CompletionItem(game) for game in complete_game(incomplete) if game not in self.commands]


app = typer.Typer(
    cls=_SolveGroup,
    help="Solve a small game, or recompute the tables that bots use.",
    no_args_is_help=True,
)


@app.command()
def equities(
    terminal: Terminal,
    threads: Annotated[
        int | None, "Number of threads.", Interval(1, 1024), Wording(otherwise="one per processor")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count all matchups of starting hands over all boards. The counts are compared with the shipped table.

    The exit code is 1 if they differ.
    """
    from engine.kernels.matchups import boards_from, compile_matchups, count_wins
    from engine.matchups import counts, counts_of_wins

    shipped = counts()
    start_s = time.perf_counter()
    with showing_progress(terminal, "compiling"):
        compile_matchups()
    compiled_s = time.perf_counter()
    used_before_s = time.process_time()
    boards = boards_from()
    with showing_progress(terminal, "counting") as progress:
        counted = counts_of_wins(count_wins(boards, threads=threads, progress=progress))
    wall_s = time.perf_counter() - compiled_s
    used_s = time.process_time() - used_before_s
    sentence = (
        f"{counted.sum():,} showdowns on {boards.times.sum():,} boards ({len(boards.times):,} up to the names of "
        f"suits) counted in {wall_s:.1f} s, {used_s:.1f} s of processor time; compiled in {compiled_s - start_s:.1f} s."
    )
    differing = (counted != shipped).any(axis=2)
    comparison = "The shipped table has the same numbers."
    if differing.any():
        comparison = "The shipped table has other numbers."
    show_document(terminal, Document("Matchups of starting hands", (sentence, comparison)), as_json=as_json)
    if differing.any():
        row, column = divmod(int(differing.argmax()), len(STARTING_HANDS))
        first = f"{STARTING_HANDS[row]} against {STARTING_HANDS[column]}"
        differences = f"{differing.sum():,} of {differing.size:,} matchups"
        abort(f"{differences} differ from the shipped table, the first of them {first}", EXIT_FAILED)


for command in (preflop, kuhn, kuhn3, leduc, game):
    app.command()(command)
