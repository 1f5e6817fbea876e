"""Settled settings: games and players found and checked, every default decided, nothing left open.

    settled = settle(validated({"games": ["kuhn"], "bots": ["calling", "random"]}))
    settled.hands, settled.seed, settled.seating

`repeatable` turns them into settings as written again: the file that repeats the run anywhere.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from bots.sdk.registry import is_builtin
from dealer.errors import ConfigError, SettingProblem
from dealer.match.faults import FaultPolicy
from dealer.run.schedule import Format, Seating, number_of_seatings
from dealer.run.scores import bounds_of
from dealer.run.settings import BotSettings, Command, Conditions, RunConfig, Score
from dealer.table.confinement import Confinement
from dealer.table.listener import MOST_SEATS
from dealer.table.players import Player, PlayerKind, game_refusal, learning_bot, parse_player, unique_names
from engine import Game, Seed
from engine.errors import quoted
from logs.errors import UnsupportedGameError
from logs.estimation import FixedHands, Monitor, StopRule, StopRuleError, parse_stop_rule
from logs.export import FORMATS, chip_value_of, parse_currency
from logs.formats import ExportFormat
from logs.pokerstars import POKERSTARS
from protocol import GameDefinitionError, find_game, format_game_definition, shipped_games

_HANDS = 3000
_MOST_HANDS = 1_000_000
"""Where a stop rule is to end the run."""
_PLAYERS = ("raising", "random")
_MOST_SEATINGS = 720
_MOST_PROCESSES = 256


class HistoryOptions(NamedTuple):
    """How the hand histories of a run are written.

    Attributes:
        hero: the player who is the hero in all of them; None for the first player of each contest.
        is_observed: there is no hero.
        currency: code of the money, None for play money.
        folder: where those of all runs go; None for folders in the run's own.
    """

    hero: str | None
    is_observed: bool
    currency: str | None
    folder: Path | None


@dataclass(frozen=True, slots=True)
class NamedGame:
    """A game to be played.

    Attributes:
        name: its full name; of a game that is not shipped, the name of its file.
        game: the game.
        exports: the formats in which its hand histories are written.
        chip_value: what a chip is worth in them.
    """

    name: str
    game: Game
    exports: tuple[ExportFormat, ...]
    chip_value: Decimal = Decimal(1)


@dataclass(frozen=True, slots=True)
class SettledConfig:
    """The settings of a run with nothing left open.

    Attributes:
        command: what is run.
        games: at least one; exactly one unless it is a tournament.
        players: who plays; in a match, by seat.
        names: of the players, all different.
        format: who meets whom in a tournament.
        hands: the most deals to play, each once in every seating.
        seed: of the cards, a number or a key.
        seating: in which seatings each deal is played.
        stop: when to stop.
        score: what that looks at.
        workers: how many matches are played at a time.
        conditions: how every match is played.
        histories: how hand histories are written.
    """

    command: Command
    games: tuple[NamedGame, ...]
    players: tuple[Player, ...]
    names: tuple[str, ...]
    format: Format
    hands: int
    seed: Seed
    seating: Seating
    stop: StopRule
    score: Score
    workers: int
    conditions: Conditions
    histories: HistoryOptions


def settle(config: RunConfig) -> SettledConfig:
    """Decide everything that the settings leave open.

    Raises:
        ConfigError: a game or a player cannot be found, or settings contradict each other.
    """
    if config.directory is not None and not os.path.isdir(config.directory):
        raise _problem("directory", f"commands cannot start in {config.directory}: there is no such folder")
    games = tuple(_find_game(name, config) for name in config.games)
    players = _find_players(config, games)
    hands, stop = _length(config)
    seating = config.seating
    if seating is None:
        has_remote = any(player.kind is PlayerKind.TCP for player in players)
        seating = Seating.SINGLE if has_remote or config.ports else Seating.ROTATIONS
    largest = max(named.game.num_players for named in games)
    seatings = number_of_seatings(seating, largest)
    workers = config.workers
    if workers is None:
        workers = 1 if config.in_process else min(os.cpu_count() or 1, seatings)
    _check(config, games, players, stop, largest, seatings, workers)
    _check_games(config, players, games)
    _check_training(config, players, stop)
    names = unique_names(players)
    _check_histories(config, games, names)
    return SettledConfig(
        config.command,
        games,
        players,
        names,
        config.format,
        hands,
        config.seed if config.seed is not None else secrets.randbits(32),
        seating,
        stop,
        config.score,
        workers,
        config.conditions,
        HistoryOptions(
            config.hero,
            config.observed,
            parse_currency(config.currency),
            Path(config.histories) if config.histories else None,
        ),
    )


def _find_game(name: str, config: RunConfig) -> NamedGame:
    is_relative = config.directory is not None and not os.path.exists(name) and (os.sep in name or ".game" in name)
    try:
        full, game = find_game(os.path.join(config.directory or "", name) if is_relative else name)
    except GameDefinitionError as error:
        raise _problem("games", str(error)) from None
    exports = (POKERSTARS,) if config.export is None else tuple(FORMATS[format_] for format_ in config.export)
    try:
        for format_ in exports:
            format_.check(game)
    except UnsupportedGameError as error:
        if config.export is not None:
            raise _problem("export", f"{full}: {error}") from None
        exports = ()
    try:
        chip_value = chip_value_of(config.stakes, game, exports) if config.stakes and exports else Decimal(1)
    except ValueError as error:
        raise _problem("stakes", f"{full}: {error}") from None
    return NamedGame(full if full in shipped_games() else os.path.basename(full), game, exports, chip_value)


def _find_players(config: RunConfig, games: Sequence[NamedGame]) -> tuple[Player, ...]:
    bots: Sequence[BotSettings] = config.bots
    texts: Sequence[str] = [bot.bot for bot in bots]
    is_tournament = config.command is Command.TOURNAMENT
    if is_tournament:
        for named in games:
            if len(texts) < named.game.num_players:
                needed = f"a tournament of {named.name} needs at least {named.game.num_players} bots"
                raise _problem("bots", f"{needed}, {len(texts)} given")
        files = [named.name for named in games if named.name not in shipped_games()]
        if len(set(files)) < len(files):
            raise _problem("games", "every game file needs a name of its own")
    else:
        if len(games) > 1:
            raise _problem("games", "a play has one game; a tournament can have several")
        seats = games[0].game.num_players
        texts = texts or [_PLAYERS[seat % 2] for seat in range(seats)]
        if len(texts) != seats:
            needed = f"{games[0].name} needs {seats} players"
            raise _problem("bots", f"{needed}, {len(texts)} given: {', '.join(texts)}")
    if not bots:
        bots = [BotSettings(bot=text) for text in texts]
    players = tuple(_find_player(bot, config) for bot in bots)
    if is_tournament and any(player.kind is PlayerKind.TCP for player in players):
        raise _problem("bots", "a tournament starts its bots many times, so 'tcp' cannot play in one; give a command")
    return players


def _find_player(bot: BotSettings, config: RunConfig) -> Player:
    """A player with what is set for it alone."""
    directory = config.directory if bot.directory is None else os.path.join(config.directory or "", bot.directory)
    if bot.directory is not None and not os.path.isdir(directory or ""):
        raise _problem("bots", f"{quoted(bot.bot)} cannot start in {directory}: there is no such folder")
    player = parse_player(bot.bot, directory)
    has_process = player.kind is PlayerKind.COMMAND or (player.kind is PlayerKind.PYTHON and not config.in_process)
    if bot.environment and not has_process:
        raise _problem("bots", f"{player.name} is not started as a process, so it has no environment of its own")
    confinement = _confinement(bot)
    if confinement is not None:
        if not has_process:
            raise _problem("bots", f"{player.name} is not started as a process, so it has no limits of its own")
        if (refusal := confinement.refusal()) is not None:
            raise _problem("bots", f"{player.name}: {refusal}")
    if bot.address is not None and player.kind is not PlayerKind.TCP:
        raise _problem("bots", f"{player.name} is started here, so it has no address of its own")
    if bot.key is not None and player.kind is not PlayerKind.TCP:
        raise _problem("bots", f"{player.name} is started here, so it needs no key")
    if bot.arguments and player.kind is not PlayerKind.COMMAND:
        raise _problem("bots", f"{player.name} is not started by a command, so it takes no arguments")
    if bot.directory is not None and player.kind is PlayerKind.TCP:
        raise _problem("bots", f"{player.name} is started by somebody else, so it has no directory here")
    limits = config.conditions.limits
    own = {
        f"{name}_us": round(seconds * 1e6)
        for name in ("response", "hand", "per_hand")
        if (seconds := getattr(bot, f"t_{name}_s")) is not None
    }
    return replace(
        player,
        arguments=tuple(bot.arguments),
        address=bot.address,
        key=bot.key,
        environment=tuple(bot.environment.items()),
        limits=replace(limits, **own) if own else None,
        learns=_runs_here(player, config) and learning_bot(player) is not None,
        confinement=confinement,
    )


def _confinement(bot: BotSettings) -> Confinement | None:
    if bot.user is None and bot.memory_mb is None and bot.cpu_s is None:
        return None
    return Confinement(bot.user or "", bot.memory_mb or 0, bot.cpu_s or 0)


def _length(config: RunConfig) -> tuple[int, StopRule]:
    """The most hands, and when to stop."""
    if config.stop is None:
        hands = _HANDS if config.hands is None else config.hands
        return hands, FixedHands(hands)
    rule = parse_stop_rule(config.stop)
    if not isinstance(rule, FixedHands):
        return _MOST_HANDS if config.hands is None else config.hands, rule
    if config.hands not in (None, rule.hands):
        raise _problem("hands", f"{config.hands} contradicts the stop rule '{rule}'; give one of them")
    return rule.hands, rule


def _check(
    config: RunConfig,
    games: Sequence[NamedGame],
    players: Sequence[Player],
    stop: StopRule,
    largest: int,
    seatings: int,
    workers: int,
) -> None:
    """Refuse settings that do not go together."""
    if config.in_process:
        for player in players:
            if player.kind is not PlayerKind.PYTHON:
                raise _problem(
                    "in_process", f"only Python bots play in process, {player.name} is a {player.kind.value} player"
                )
        if config.on_fault is FaultPolicy.RESTART:
            raise _problem("on_fault", "a bot that plays in process cannot be restarted: 'end' or 'forfeit'")
        if workers > 1:
            raise _problem("workers", "matches in process are played one after the other, by 1 worker")
    if seatings > _MOST_SEATINGS:
        raise _problem(
            "seating",
            f"{largest} players can sit in {seatings:,} orders, more than {_MOST_SEATINGS}; "
            f"their rotations are {largest}",
        )
    at_once = largest * (workers if isinstance(stop, FixedHands) else max(workers, seatings))
    if MOST_SEATS is not None and at_once > MOST_SEATS and not config.in_process:
        raise _problem("workers", f"{at_once} bots at a time are more than the {MOST_SEATS} that this system can serve")
    for named in games:
        if config.score is Score.CORRECTED:
            _check_correction(named)
        try:
            Monitor(stop, bounds_of(config.score, stop, named.game))
        except StopRuleError as error:
            raise _problem("stop", f"{named.name}: {error}") from None
    if not isinstance(stop, FixedHands) and seatings * largest > _MOST_PROCESSES:
        raise _problem(
            "stop",
            f"'{stop}' keeps all {seatings} seatings at the table at once, {seatings * largest} bots; "
            "play the rotations only, or a fixed number of hands",
        )
    if config.ports and (seatings > 1 or workers > 1 or config.command is Command.TOURNAMENT):
        raise _problem("ports", "ports can be given for one match only: play a single seating with one worker")
    if len(config.ports) > largest:
        raise _problem("ports", f"{len(config.ports)} ports are given, but there are {largest} seats")
    taken = [port for port in config.ports if port]
    if len(set(taken)) < len(taken):
        raise _problem("ports", f"every seat needs a port of its own, not {', '.join(map(str, taken))}")


def _check_correction(named: NamedGame) -> None:
    from logs.variance.terms import shares_refusal

    if (refusal := shares_refusal(named.game)) is not None:
        raise _problem("score", f"{named.name}: {refusal}")


def _check_histories(config: RunConfig, games: Sequence[NamedGame], names: Sequence[str]) -> None:
    """Refuse wishes for hand histories that cannot be met."""
    if config.observed and config.hero is not None:
        raise _problem("observed", "hand histories have a hero or none; leave one of the two settings out")
    if config.hero is not None and config.hero not in names:
        raise _problem("hero", f"no player is called {quoted(config.hero)}; there are {', '.join(names)}")
    for setting in ("histories", "hero", "observed", "stakes"):
        if getattr(config, setting) and not any(named.exports for named in games):
            reason = "none are to be written" if config.export is not None else f"{games[0].name} has none"
            raise _problem(setting, f"it is about hand histories, but {reason}")


def _check_training(config: RunConfig, players: Sequence[Player], stop: StopRule) -> None:
    """Refuse to compare players one of which is another in every hand."""
    learner = next((player for player in players if player.learns), None)
    if learner is None:
        return
    if learner.has_own_user:
        raise _problem("bots", f"{learner.name} learns, but another user cannot write its journal; add learn=false")
    frozen = f"{learner.name} learns while it plays, so it is another player in every hand"
    if config.score is Score.CORRECTED:
        raise _problem("score", f"{frozen} and has no win rate to be corrected; add learn=false")
    if config.command is Command.TOURNAMENT:
        raise _problem("bots", f"{frozen} and cannot be ranked; add learn=false, or train it in a play")
    if not isinstance(stop, FixedHands):
        raise _problem("stop", f"{frozen} and has no interval for '{stop}'; give a number of hands, or add learn=false")


def _runs_here(player: Player, config: RunConfig) -> bool:
    """Whether a player's code runs in this process: that of others only if it plays here."""
    return player.kind is PlayerKind.PYTHON and (config.in_process or is_builtin(player.text))


def _check_games(config: RunConfig, players: Sequence[Player], games: Sequence[NamedGame]) -> None:
    """Refuse bots that do not play a game, before anything is played."""
    for player in players:
        if _runs_here(player, config):
            for named in games:
                if (refusal := game_refusal(player, named.game)) is not None:
                    raise _problem("bots", f"{player.name} does not play {named.name}: {refusal}")


def _problem(setting: str, problem: str) -> ConfigError:
    return ConfigError(SettingProblem(setting, problem))


def repeatable(config: RunConfig, settled: SettledConfig) -> RunConfig:
    """The settings as written, with every default that was decided: the same run can be made of them anywhere."""
    return config.model_copy(
        update={
            "games": [named.name for named in settled.games],
            "bots": list(config.bots) or [BotSettings(bot=player.text) for player in settled.players],
            "hands": settled.hands,
            "seed": settled.seed,
            "seating": settled.seating,
            "workers": settled.workers,
            "directory": config.directory or os.getcwd(),
            "histories": config.histories and os.path.abspath(config.histories),
        }
    )


def keep_games(settled: SettledConfig, folder: Path) -> None:
    """Write the definitions of games that are not shipped next to the file of the run.

    Raises:
        OSError: they cannot be written.
    """
    for named in settled.games:
        if named.name not in shipped_games():
            (folder / named.name).write_text(format_game_definition(named.game), "ascii")
