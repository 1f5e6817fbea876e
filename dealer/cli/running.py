"""What ``arena play`` and ``arena deal`` share: reading what was asked, running it, showing it."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import signal
import time
from pathlib import Path

import typer

from dealer.cli.console import abort, out, say
from dealer.cli.live import waiting_line, watch
from dealer.cli.outcome import exit_code, show_result
from dealer.clock import TimeLimits
from dealer.event_loop import new_event_loop
from dealer.launcher import LaunchError
from dealer.players import Player, PlayerError, PlayerKind, parse_player, unique_names
from dealer.results import MatchResult
from dealer.run import MatchPlan, MatchRun
from engine import Game
from protocol import GameDefinitionError, find_game

__all__ = ["plan_match", "read_game", "read_players", "run_plan"]


def read_game(name: str) -> tuple[str, Game]:
    """The game meant, or stop with a sentence."""
    try:
        return find_game(name)
    except GameDefinitionError as error:
        abort(str(error))


def read_players(texts: list[str], game_name: str, game: Game) -> tuple[Player, ...]:
    """The players meant, as many as the game needs, or stop with a sentence."""
    if len(texts) != game.num_players:
        abort(f"{game_name} needs {game.num_players} players, {len(texts)} given: {', '.join(texts) or 'none'}")
    try:
        return tuple(parse_player(text) for text in texts)
    except PlayerError as error:
        abort(str(error))


def plan_match(
    game_name: str,
    game: Game,
    players: tuple[Player, ...],
    *,
    hands: int,
    seed: int | None,
    out: Path | None,
    t_response: float,
    t_hand: float,
    t_per_hand: float,
    start_timeout: float,
    fixed_seats: bool,
    coalesce: float | None,
    host: str = "127.0.0.1",
    ports: tuple[int, ...] = (),
) -> MatchPlan:
    """A plan from options as people give them: times in seconds, coalescing in milliseconds, no seed for a new one.

    A start timeout of 0 or less waits for ever.
    """
    return MatchPlan(
        name="match",
        game_name=game_name,
        game=game,
        players=players,
        hands=hands,
        seed=secrets.randbits(32) if seed is None else seed,
        folder=new_folder(out, players),
        host=host,
        ports=ports,
        limits=TimeLimits(
            response_us=round(t_response * 1e6),
            hand_us=round(t_hand * 1e6),
            per_hand_us=round(t_per_hand * 1e6),
            start_us=round(start_timeout * 1e6) if start_timeout > 0 else None,
        ),
        fixed_seats=fixed_seats,
        coalesce_s=None if coalesce is None else coalesce / 1000,
    )


def new_folder(out_folder: Path | None, players: tuple[Player, ...]) -> Path:
    """The folder for the run's files: as asked, or a new one below ``runs``."""
    if out_folder is None:
        names = re.sub(r"[^A-Za-z0-9.+-]+", "_", "-vs-".join(unique_names(players)))[:60]
        stamp = time.strftime("%Y%m%d-%H%M%S")
        out_folder = Path("runs") / f"{stamp}-{names}"
        for attempt in range(2, 1000):
            if not out_folder.exists():
                break
            out_folder = Path("runs") / f"{stamp}-{names}-{attempt}"
    elif out_folder.is_dir() and any(out_folder.iterdir()):
        abort(f"{out_folder} is not empty; name another folder with --out, nothing is ever overwritten")
    try:
        out_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        abort(f"cannot make the folder {out_folder}: {error.strerror}")
    return out_folder


def run_plan(plan: MatchPlan, *, quiet: bool, as_json: bool) -> None:
    """Run a match, show it, and end the command with the right exit code."""
    run = MatchRun(plan)
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            result = runner.run(_run_and_watch(run, is_silent=quiet or as_json))
    except LaunchError as error:
        abort(str(error))
    text = result.model_dump_json(indent=2)
    with contextlib.suppress(OSError):
        (plan.folder / "result.json").write_text(text + "\n", "utf-8")
    if as_json:
        out.print(text, markup=False, soft_wrap=True)
    else:
        show_result(result, quiet=quiet)
    raise typer.Exit(exit_code(result))


async def _run_and_watch(run: MatchRun, *, is_silent: bool) -> MatchResult:
    playing = asyncio.create_task(run.play())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, playing.cancel)
    watching = None if is_silent else asyncio.create_task(watch(run))
    try:
        if any(player.kind is PlayerKind.TCP for player in run.plan.players):
            await asyncio.sleep(0)
            while not run.ports and not playing.done():
                await asyncio.sleep(0.01)
            if run.ports:
                say(waiting_line(run))
        return await playing
    finally:
        if watching is not None:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching
