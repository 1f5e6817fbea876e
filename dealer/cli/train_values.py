"""``arena train values``: compute what a strategy wins against itself, for AIVAT."""

from __future__ import annotations

from typing import Annotated

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.computations import RunFolder, computing
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import DocumentOptions
from protocol import find_game


def values(
    terminal: Terminal,
    folder: RunFolder,
    game: Annotated[str, "Game of the strategy.", Wording("GAME")],
    strategy: Annotated[str, "Strategy file, the shipped one by default.", Wording("FILE")] = "",
    boards: Annotated[int, "Boards to draw; a larger number continues a computation.", Interval(1)] = 4_000,
    seed: Annotated[int, "Seed of the boards.", Interval(0)] = 1,
    *,
    output: DocumentOptions,
) -> None:
    """Compute the winnings of a strategy against itself.

    The strategy is one of hold'em for two. Its values, by decision and bucket, make AIVAT's estimates narrow. The
    folder holds a checkpoint, from which the same command resumes, and at the end the values.
    """
    from bots.cfr.bot import CfrBot
    from bots.cfr.value_training import compute_values, value_settings, values_document
    from bots.errors import SolvingError

    full_name, definition = find_game(game)
    try:
        bot = CfrBot(strategy=strategy)
    except ValueError as error:
        abort(f"--strategy: {error}")
    refusal = bot.refusal(definition)
    if refusal is not None:
        abort(refusal)
    try:
        settings = value_settings(full_name, bot.strategy(definition), seed)
    except SolvingError as error:
        abort(str(error))
    with computing(terminal, "computation", folder, "every two minutes") as (_, show):
        sums = compute_values(settings, boards, folder, show=show)
    output.show(terminal, values_document(sums, folder))
