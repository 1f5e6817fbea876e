"""From settings to contests: which games and bots are meant, in which seats and slices, in which folders."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dealer.contest.config import DEFAULT_HANDS, DEFAULT_MOST_HANDS, RunConfig
from dealer.contest.contest import ContestPlan
from dealer.contest.schedule import Format, Seating, number_of_seatings, pairings
from dealer.errors import ConfigError, PlayerError
from dealer.match.faults import FaultPolicy
from dealer.table.players import Player, PlayerKind, parse_player, unique_names
from engine import Game
from logs.errors import UnsupportedGameError
from logs.estimation import FixedHands, StopRule, parse_stop_rule
from logs.export import FORMATS, ExportFormat
from logs.pokerstars import POKERSTARS
from protocol import GameDefinitionError, find_game, format_game_definition, shipped_games

__all__ = ["Entrants", "RunPlan", "find_entrants", "keep_games", "plan_run", "settled"]

DEFAULT_PLAYERS = ("raising", "random")
_MOST_SEATINGS = 720
_MOST_PROCESSES = 256


@dataclass(frozen=True, slots=True)
class RunPlan:
    """All contests of a run.

    Attributes:
        config: what was asked for, with nothing left open.
        folder: of the run.
        names: of all bots.
        contests: what is played.
        entrants: by contest, its bots as indices into `names`.
        workers: matches at a time.
    """

    config: RunConfig
    folder: Path
    names: tuple[str, ...]
    contests: tuple[ContestPlan, ...]
    entrants: tuple[tuple[int, ...], ...]
    workers: int


@dataclass(frozen=True, slots=True)
class Entrants:
    """Games and players, found and checked."""

    games: tuple[tuple[str, Game], ...]
    players: tuple[Player, ...]
    names: tuple[str, ...]


def find_entrants(config: RunConfig) -> Entrants:
    """The games and players meant.

    Raises:
        ConfigError: one cannot be found, or their numbers do not fit.
    """
    try:
        games = tuple(find_game(name) for name in config.games)
    except GameDefinitionError as error:
        raise ConfigError(str(error)) from None
    texts: Sequence[str] = config.bots
    if config.command == "play":
        name, game = games[0]
        if not texts:
            texts = [DEFAULT_PLAYERS[seat % 2] for seat in range(game.num_players)]
        if len(texts) != game.num_players:
            raise ConfigError(f"{name} needs {game.num_players} players, {len(texts)} given: {', '.join(texts)}")
    else:
        for name, game in games:
            if len(texts) < game.num_players:
                raise ConfigError(f"a tournament of {name} needs at least {game.num_players} bots, {len(texts)} given")
    try:
        players = tuple(parse_player(text) for text in texts)
    except PlayerError as error:
        raise ConfigError(str(error)) from None
    remote = next((player for player in players if player.kind is PlayerKind.TCP), None)
    if remote is not None and config.command == "tournament":
        raise ConfigError("a tournament starts its bots itself, many times: 'tcp' cannot play one; give a command")
    if config.in_process:
        for player in players:
            if player.kind is not PlayerKind.BUILT_IN:
                raise ConfigError(f"only built-in bots play in process, {player.name} is a {player.kind.value} player")
        if config.on_fault == "restart":
            raise ConfigError("a bot that plays in process cannot be started again: --on-fault end or forfeit")
    return Entrants(games, players, unique_names(players))


def settled(config: RunConfig, entrants: Entrants, seed: int) -> RunConfig:
    """The settings with every default filled in, so that the same run can be made again anywhere.

    Args:
        config: as asked for.
        entrants: its games and players.
        seed: for a config that names none.

    Raises:
        ConfigError: settings that do not go together.
    """
    rule = parse_stop_rule(config.stop) if config.stop is not None else None
    hands = config.hands
    if isinstance(rule, FixedHands):
        if hands is not None and hands != rule.hands:
            raise ConfigError(f"--hands {hands} and --stop {rule.hands} contradict each other; give one")
        hands = rule.hands
    elif hands is None:
        hands = DEFAULT_HANDS if rule is None else DEFAULT_MOST_HANDS
    seating = config.seating
    if seating is None:
        has_remote = any(player.kind is PlayerKind.TCP for player in entrants.players)
        seating = "single" if has_remote or config.ports else "rotations"
    largest = max(game.num_players for _, game in entrants.games)
    count = number_of_seatings(Seating(seating), largest)
    if count > _MOST_SEATINGS:
        raise ConfigError(
            f"{largest} players can sit in {count:,} orders, more than {_MOST_SEATINGS}: --duplicate plays {largest}"
        )
    if rule is not None and not isinstance(rule, FixedHands) and count * largest > _MOST_PROCESSES:
        raise ConfigError(
            f"--stop {rule} keeps all {count} seatings at the table at once, {count * largest} bots; "
            "play the rotations only, or a number of hands"
        )
    workers = config.workers
    if workers is None:
        workers = 1 if config.in_process else min(os.cpu_count() or 1, count)
    if config.in_process and workers > 1:
        raise ConfigError("bots that play in process play one match after the other: --workers 1 only")
    if config.ports and (count > 1 or workers > 1):
        raise ConfigError("ports can be given for one match only: play a single seating with one worker")
    for name, game in entrants.games:
        for format_ in config.export or ():
            try:
                FORMATS[format_].check(game)
            except UnsupportedGameError as error:
                raise ConfigError(f"{name}: {error}") from None
    return config.model_copy(
        update={
            "games": [_portable(name) for name, _ in entrants.games],
            "bots": list(config.bots) or [player.text for player in entrants.players],
            "hands": hands,
            "seed": config.seed if config.seed is not None else seed,
            "seating": seating,
            "workers": workers,
            "directory": config.directory or os.getcwd(),
        }
    )


def _portable(name: str) -> str:
    """How a run's file names a game: one that is not shipped lies beside it."""
    return name if name in shipped_games() else os.path.basename(name)


def keep_games(entrants: Entrants, folder: Path) -> None:
    """Put the definitions of games that are not shipped beside the run's file.

    Raises:
        OSError: they cannot be written.
    """
    for name, game in entrants.games:
        if name not in shipped_games():
            (folder / os.path.basename(name)).write_text(format_game_definition(game), "ascii")


def plan_run(config: RunConfig, entrants: Entrants, folder: Path) -> RunPlan:
    """All contests of settled settings.

    Args:
        config: with nothing left open.
        entrants: its games and players.
        folder: of the run.
    """
    assert config.hands is not None
    assert config.seed is not None
    assert config.seating is not None
    assert config.workers is not None
    seating = Seating(config.seating)
    tables: list[tuple[tuple[str, Game], tuple[int, ...]]] = []
    for name, game in entrants.games:
        size = game.num_players
        if config.command == "play":
            tables.append(((name, game), tuple(range(size))))
        else:
            met = pairings(Format(config.format), len(entrants.players), size)
            tables += [((name, game), bots) for bots in met]
    contests = []
    for number, ((name, game), bots) in enumerate(tables, 1):
        names = tuple(entrants.names[bot] for bot in bots)
        seatings = number_of_seatings(seating, game.num_players)
        # A tournament has matches enough to keep its workers busy.
        slices = -(-config.workers // seatings) if config.command == "play" else 1
        contests.append(
            ContestPlan(
                name,
                game,
                tuple(entrants.players[bot] for bot in bots),
                names,
                config.hands,
                config.seed,
                folder if config.command == "play" else folder / _label(number, len(tables), name, names),
                seating,
                slices,
                _stop_rule(config),
                FaultPolicy(config.on_fault),
                config.limits,
                config.fixed_seats,
                config.in_process,
                config.host,
                tuple(config.ports),
                None if config.coalesce_ms is None else config.coalesce_ms / 1000,
                _exports(config, game),
            )
        )
    return RunPlan(config, folder, entrants.names, tuple(contests), tuple(bots for _, bots in tables), config.workers)


def _exports(config: RunConfig, game: Game) -> tuple[ExportFormat, ...]:
    """The formats of hand histories: those asked for, or the one that every tracker reads where it has the game."""
    if config.export is not None:
        return tuple(FORMATS[name] for name in config.export)
    try:
        POKERSTARS.check(game)
    except UnsupportedGameError:
        return ()
    return (POKERSTARS,)


def _stop_rule(config: RunConfig) -> StopRule | None:
    return None if config.stop is None else parse_stop_rule(config.stop)


def _label(number: int, of: int, game: str, names: Sequence[str]) -> str:
    """The folder of one contest of a tournament."""
    digits = len(str(of))
    short = os.path.basename(game).removesuffix(".game")
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", f"{number:0{digits}}-{short}-{'-vs-'.join(names)}")[:100]
