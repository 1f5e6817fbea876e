"""``arena solve``: the long computations behind what the bots play by."""

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
    """A game in the place of a command is solved as by ``arena solve game``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        is_game = args[0] not in self.commands and (args[0].endswith(".game") or is_game_word(args[0]))
        return super().resolve_command(ctx, ["game", *args] if is_game else args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        commands = super().shell_complete(ctx, incomplete)
        return commands + [CompletionItem(game) for game in complete_game(incomplete) if game not in self.commands]


app = typer.Typer(
    cls=_SolveGroup,
    help="Solve a small game, by its name or its .game file; recompute the tables that bots use.",
    no_args_is_help=True,
)


@app.command()
def equities(
    terminal: Terminal,
    threads: Annotated[
        int | None, "Count in so many threads.", Interval(1, 1024), Wording(otherwise="one per processor")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count all matchups of starting hands: every class against every other over all boards, and compare the table.

    Exit code 1: they differ.
    """
    from engine.kernels.matchups import boards_from, compile_matchups, count_wins
    from engine.matchups import counts, counts_of_wins

    shipped = counts()
    began_s = time.perf_counter()
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
        f"{counted.sum():,} showdowns on {boards.times.sum():,} boards ({len(boards.times):,} but for the names of "
        f"suits) counted in {wall_s:.1f} s, {used_s:.1f} s of processor time; compiled in {compiled_s - began_s:.1f} s."
    )
    differing = (counted != shipped).any(axis=2)
    numbers = "other numbers" if differing.any() else "the same numbers"
    document = Document("Matchups of starting hands", (sentence, f"The table that comes with the arena has {numbers}."))
    show_document(terminal, document, as_json=as_json)
    if differing.any():
        one, other = (STARTING_HANDS[at] for at in divmod(int(differing.argmax()), len(STARTING_HANDS)))
        abort(
            f"{differing.sum():,} of {differing.size:,} matchups differ from the table that comes with the arena, the "
            f"first of them {one} against {other}",
            EXIT_FAILED,
        )


for command in (preflop, kuhn, kuhn3, leduc, game):
    app.command()(command)
