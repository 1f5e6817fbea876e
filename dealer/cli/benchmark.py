"""``arena benchmark``: measure a player by fixed deals against cfr."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import IntervalOption, JsonOutput, Out, Quiet, TypedOptions
from dealer.cli.shell.completion import complete_player
from dealer.cli.shell.console import Terminal, abort, write_file
from dealer.cli.shell.contests import exit_after, play_run
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.progress import showing_progress
from dealer.reports.benchmark_data import (
    DEALS,
    BenchmarkData,
    BenchmarkGame,
    benchmark_settings,
    check_benchmark,
)
from dealer.reports.benchmark_report import benchmark_document
from dealer.run.choices import Score, ShownInterval
from dealer.run.folder import CONFIG_NAME
from dealer.run.plan import repeatable, settle
from dealer.run.results import ContestResult
from dealer.run.run import Run, new_run, reopen
from dealer.run.run_settings import RunSettings, read_config, validated

DATA_NAME: Final = "benchmark.json"
_SETTINGS: Final = frozenset(
    {
        "seed",
        "workers",
        "in_process",
        "on_fault",
        "t_response_s",
        "t_hand_s",
        "t_per_hand_s",
        "start_timeout_s",
    }
)
_HELP_DEFAULTS: Final = {"seed": "that of the benchmark"}


def benchmark(
    terminal: Terminal,
    player: Annotated[
        str,
        typer.Argument(
            metavar="MYBOT",
            help="A player as in 'arena play', or the folder of a benchmark.",
            autocompletion=complete_player,
        ),
    ],
    game: Annotated[BenchmarkGame, "The game."] = BenchmarkGame.NOLIMIT,
    deals: Annotated[
        int | None,
        "Number of deals, each played in both seatings.",
        Interval(1, 2**32 - 1),
        Wording(flags="-n", otherwise=str(DEALS)),
    ] = None,
    out: Out = None,
    interval: IntervalOption = ShownInterval.USUAL,
    quiet: Quiet = False,
    as_json: JsonOutput = False,
    verbose: Annotated[
        bool, "Log connections, faults and restarts.", Wording(flags="-v", group="Output", is_rare=True)
    ] = False,
    *,
    settings: Annotated[TypedOptions, RunSettings, _SETTINGS, _HELP_DEFAULTS],
) -> None:
    """Play the benchmark: fixed deals against cfr, with win rate, losses by street and position, and times.

    The cards are the same in every run of a version of the benchmark. The win rate is that by AIVAT, which removes the
    luck of the cards and of cfr's choices. Files are those of a play, and benchmark.json. A folder continues its
    benchmark if that was interrupted, and shows it again.
    """
    is_silent = quiet or as_json
    options = settings if deals is None else settings | {"deals": deals}
    run: Run[Any]
    if (Path(player) / CONFIG_NAME).is_file():
        if options or out is not None or game is not BenchmarkGame.NOLIMIT:
            abort(f"{player} holds a benchmark with its settings; leave out all options of a new one")
        run, run_settings = _reopen(Path(player))
    else:
        run_settings = benchmark_settings(player, game, options)
        _check_player(run_settings)
        run = new_run(run_settings, out)
        run_settings = repeatable(run_settings, run.plan)
    result = play_run(terminal, run, is_silent=is_silent, is_verbose=verbose)
    if result.resume is not None:
        command = run.resume_command.replace("arena resume", "arena benchmark", 1)
        result = result.model_copy(update={"resume": command})
    try:
        data = _measure(terminal, result, run_settings, is_silent=is_silent)
    except KeyboardInterrupt:
        terminal.note(f"The hands are in {run.folder}; 'arena benchmark {run.folder}' computes the win rate.")
        raise
    show_document(terminal, benchmark_document(data, interval), as_json=as_json, quiet=quiet)
    write_file(run.folder / DATA_NAME, data.model_dump_json(indent=2) + "\n")
    exit_after(run, result)


def _check_player(settings: RunSettings) -> None:
    """Abort the command if the player learns."""
    # With corrected scores, a learning player is refused by an option that this command does not have.
    player = settle(replace(settings, score=Score.RAW)).players[0]
    if player.learns:
        abort(f"{player.name} learns while it plays, so that it has no win rate; leave out its learning")


def _reopen(folder: Path) -> tuple[Run[Any], RunSettings]:
    """Open the benchmark in a folder."""
    path = folder / CONFIG_NAME
    settings = validated(read_config(path), str(path))
    check_benchmark(settings, str(folder))
    return reopen(folder), settings


def _measure(terminal: Terminal, result: ContestResult, settings: RunSettings, *, is_silent: bool) -> BenchmarkData:
    # Imports numba, which takes a while.
    from dealer.cli.shell.benchmark_estimates import measure_benchmark

    if is_silent:
        return measure_benchmark(result, settings)
    with showing_progress(terminal, "removing the luck of the cards") as show:
        return measure_benchmark(result, settings, show)
