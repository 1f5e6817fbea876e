"""Resolve the settings of a run into a plan, and a plan into contests.

    plan = settle(validated({"games": ["kuhn"], "bots": ["calling", "random"]}))
    plan.deals, plan.seed, plan.seating
    contests = planned_contests(plan, folder)

`dealer.run.contest_plan` has the values themselves, which processes that only deal need as well.
"""

from __future__ import annotations

import itertools
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

from dealer.errors import ConfigError, SettingProblem
from dealer.match.faults import FaultPolicy
from dealer.match.setup import TimeLimits
from dealer.run.affinity import core_count
from dealer.run.choices import Command, Format, Score, Seating
from dealer.run.contest_plan import ContestPlan, NamedGame, Plan, bounds_of
from dealer.run.match_files import RecordPlan
from dealer.run.run_settings import BotSettings, RunSettings
from dealer.table.confinement import Confinement
from dealer.table.listener import MOST_SEATS
from dealer.table.players import (
    BotObject,
    Player,
    PlayerKind,
    object_player,
    parse_player,
    quoting_advice,
    transfer_problem,
    unique_names,
)
from engine import Game
from engine.equity import shares_refusal
from engine.errors import quoted
from logs.errors import UnsupportedGameError
from logs.estimation import (
    FixedDeals,
    Monitor,
    StopRule,
    StopRuleError,
    parse_stop_rule,
)
from logs.export import FORMATS, chip_value_of, parse_currency
from logs.formats.export_format import ExportOptions
from logs.pokerstars import POKERSTARS
from protocol import GameDefinitionError, find_game, shipped_games
from protocol.game_definition import short_name

_DEALS = 3000
_MOST_DEALS = 1_000_000
"""Where a stop rule is to end the run."""
_PLAYERS = ("raising", "random")
_MOST_SEATINGS = 720
_MOST_PROCESSES = 256


def repeatable(settings: RunSettings, plan: Plan) -> RunSettings:
    """The settings of a plan with every default that was decided: the same run can be made of them anywhere."""
    return replace(
        settings,
        games=tuple(named.name for named in plan.games),
        bots=settings.bots or tuple(BotSettings(player.text) for player in plan.players),
        deals=plan.deals,
        seed=plan.seed,
        seating=plan.seating,
        workers=plan.workers,
        directory=settings.directory or os.getcwd(),
        histories=settings.histories and os.path.abspath(settings.histories),
    )


def pairings(format_: Format, bots: int, players: int) -> list[tuple[int, ...]]:
    """The groups of bots that meet in a tournament, as indices in rising order."""
    groups = itertools.combinations(range(bots), players)
    return [group for group in groups if format_ is Format.ROUND_ROBIN or 0 in group]


def settle(settings: RunSettings, objects: Mapping[int, BotObject] = MappingProxyType({})) -> Plan:
    """Decide everything that the settings leave open.

    Args:
        objects: the players, by their place, that are classes or objects of this program.

    Raises:
        ConfigError: a game or a player cannot be found, or settings contradict each other.
    """
    directory = settings.directory
    is_missing = directory is not None and not os.path.isdir(directory)
    refuse(
        (not settings.games, "games", "name at least one game"),
        (is_missing, "directory", f"commands cannot start in {directory}: there is no such folder"),
    )
    games = tuple([_find_game(name, settings) for name in settings.games])
    limits = TimeLimits.from_seconds(
        response_s=settings.t_response_s,
        hand_s=settings.t_hand_s,
        per_hand_s=settings.t_per_hand_s,
        # 0 waits without limit.
        start_s=settings.start_timeout_s if settings.start_timeout_s > 0 else None,
    )
    players = _find_players(settings, games, limits, objects)
    names = unique_names(players)
    _check_histories(settings, games, names)
    deals, stop = _length(settings)
    seating = settings.seating
    if seating is None:
        has_remote = any(player.kind is PlayerKind.TCP for player in players)
        seating = Seating.SINGLE if has_remote or settings.ports else Seating.ROTATIONS
    seatings = seating.order_count(max(named.game.num_players for named in games))
    workers = settings.workers
    if workers is None:
        # The hands of a play are cut into slices for more workers than seatings; a tournament has enough matches.
        most = seatings if settings.command is not Command.TOURNAMENT else core_count()
        workers = 1 if settings.in_process else min(core_count(), most)
    has_own_hero = settings.observed or settings.hero is not None
    plan = Plan(
        settings.command,
        settings.format,
        games,
        players,
        names,
        deals=deals,
        seed=secrets.randbits(32) if settings.seed is None else settings.seed,
        seating=seating,
        stop=stop,
        score=settings.score,
        workers=workers,
        affinity=settings.affinity,
        in_process=settings.in_process,
        fixed_seats=settings.fixed_seats,
        limits=limits,
        on_fault=settings.on_fault,
        host=settings.host,
        ports=settings.ports,
        coalesce_s=settings.coalesce_ms / 1000,
        histories=Path(settings.histories) if settings.histories else None,
        export_options=ExportOptions(
            hero=settings.hero,
            default_hero=None if has_own_hero else names[0],
            currency=parse_currency(settings.currency),
        ),
    )
    _check(plan, seatings)
    _check_players(plan)
    return plan


def _find_game(name: str, settings: RunSettings) -> NamedGame:
    is_relative = settings.directory is not None and not os.path.exists(name) and (os.sep in name or ".game" in name)
    try:
        full, game = find_game(os.path.join(settings.directory or "", name) if is_relative else name)
    except GameDefinitionError as error:
        raise _problem("games", str(error)) from None
    exports = (POKERSTARS,) if settings.export is None else tuple(FORMATS[format_] for format_ in settings.export)
    try:
        for format_ in exports:
            format_.check(game)
    except UnsupportedGameError as error:
        if settings.export is not None:
            raise _problem("export", f"{short_name(full)}: {error}") from None
        exports = ()
    try:
        chip_value = chip_value_of(settings.stakes, game, exports) if settings.stakes and exports else Decimal(1)
    except ValueError as error:
        raise _problem("stakes", f"{short_name(full)}: {error}") from None
    return NamedGame(full, game, exports, chip_value)


def _find_players(
    settings: RunSettings, games: Sequence[NamedGame], limits: TimeLimits, objects: Mapping[int, BotObject]
) -> tuple[Player, ...]:
    bots, most = settings.bots, max(games, key=lambda named: named.game.num_players)
    seats = most.game.num_players
    is_tournament = settings.command is Command.TOURNAMENT
    files = [named.name for named in games if named.name not in shipped_games()]
    if not bots and not is_tournament:
        bots = tuple(BotSettings(bot=_PLAYERS[seat % 2]) for seat in range(seats))
    words = [bot.bot for bot in bots]
    given = f"{len(bots)} given: {', '.join(words)}"
    if len(bots) > seats:
        given += f"; {quoting_advice(words)}"
    refuse(
        (
            is_tournament and len(bots) < seats,
            "bots",
            f"a tournament of {most.shown} needs at least {seats} bots, {len(bots)} given",
        ),
        (is_tournament and len(set(files)) < len(files), "games", "every game file needs a name of its own"),
        (
            not is_tournament and len(games) > 1,
            "games",
            "a play has one game; a tournament can have several",
        ),
        (
            not is_tournament and settings.format is not Format.ROUND_ROBIN,
            "format",
            f"'{settings.format}' says which bots of a tournament meet; a play has one contest",
        ),
        (not is_tournament and len(bots) != seats, "bots", f"{most.shown} needs {seats} players, {given}"),
    )
    rules = [named.game for named in games]
    players = tuple(_find_player(bot, settings, rules, limits, objects.get(place)) for place, bot in enumerate(bots))
    is_remote = any(player.kind is PlayerKind.TCP for player in players)
    many = "a tournament starts its bots many times, so 'tcp' cannot play in one; give a command"
    refuse((is_tournament and is_remote, "bots", many))
    return players


def _find_player(
    bot: BotSettings, settings: RunSettings, games: Sequence[Game], limits: TimeLimits, source: BotObject | None
) -> Player:
    directory = settings.directory if bot.directory is None else os.path.join(settings.directory or "", bot.directory)
    if bot.directory is not None and not os.path.isdir(directory or ""):
        raise _problem("bots", f"{quoted(bot.bot)} cannot start in {directory}: there is no such folder")
    python_path = bot.environment.get("PYTHONPATH", "")
    if source is not None:
        player = object_player(source, games)
    else:
        player = parse_player(bot.bot, directory, games, in_process=settings.in_process, python_path=python_path)
    is_command, is_tcp = player.kind is PlayerKind.COMMAND, player.kind is PlayerKind.TCP
    has_process = is_command or (player.kind is PlayerKind.PYTHON and not settings.in_process)
    confinement = _confinement(bot)
    refusal = confinement.refusal(player.program) if confinement is not None and has_process else None
    problems = (
        (bot.environment and not has_process, "is not started as a process, so it has no environment of its own"),
        (confinement and not has_process, "is not started as a process, so it has no limits of its own"),
        (bot.address is not None and not is_tcp, "is started here, so it has no address of its own"),
        (bot.key is not None and not is_tcp, "is started here, so it needs no key"),
        (bot.arguments and not is_command, "is not started by a command, so it takes no arguments"),
        (bot.directory is not None and is_tcp, "is started elsewhere, so it has no directory"),
    )
    refuse(
        *((is_wrong, "bots", f"{player.name} {problem}") for is_wrong, problem in problems),
        (refusal, "bots", f"{player.name}: {refusal}"),
    )
    own_limits = None
    if not (bot.t_response_s is None and bot.t_hand_s is None and bot.t_per_hand_s is None):
        own_limits = limits.with_seconds(response_s=bot.t_response_s, hand_s=bot.t_hand_s, per_hand_s=bot.t_per_hand_s)
    return replace(
        player,
        arguments=bot.arguments,
        address=bot.address,
        key=bot.key,
        is_linked=bool(bot.linked),
        environment=tuple(bot.environment.items()),
        limits=own_limits,
        confinement=confinement,
    )


def _confinement(bot: BotSettings) -> Confinement | None:
    if bot.user is None and bot.memory_mb is None and bot.cpu_s is None:
        return None
    return Confinement(bot.user or "", bot.memory_mb or 0, bot.cpu_s or 0)


def _length(settings: RunSettings) -> tuple[int, StopRule]:
    if settings.stop is None:
        deals = _DEALS if settings.deals is None else settings.deals
        return deals, FixedDeals(deals)
    rule = parse_stop_rule(settings.stop)
    if not isinstance(rule, FixedDeals):
        return _MOST_DEALS if settings.deals is None else settings.deals, rule
    if settings.deals not in (None, rule.deals):
        raise _problem("deals", f"{settings.deals} contradicts the stop rule '{rule}'; give one of them")
    return rule.deals, rule


def _check(plan: Plan, seatings: int) -> None:
    stop, workers, ports = plan.stop, plan.workers, plan.ports
    largest = max(named.game.num_players for named in plan.games)
    is_fixed = isinstance(stop, FixedDeals)
    at_once = largest * (workers if is_fixed else max(workers, seatings))
    taken = [port for port in ports if port]
    foreign = [player for player in plan.players if plan.in_process and player.kind is not PlayerKind.PYTHON]
    refuse(
        *(
            (True, "in_process", f"only Python bots play in process, {one.name} is a {one.kind.value} player")
            for one in foreign
        ),
        (
            plan.in_process and plan.on_fault is FaultPolicy.RESTART,
            "on_fault",
            "a bot that plays in process cannot be restarted: 'end' or 'forfeit'",
        ),
        *(
            (problem, "workers", f"{player.name} cannot be taken to worker processes: {problem}; play with 1 worker")
            for player in plan.players
            if workers > 1 and (problem := transfer_problem(player)) is not None
        ),
        (
            seatings > _MOST_SEATINGS,
            "seating",
            f"{largest} players can sit in {seatings:,} orders, more than {_MOST_SEATINGS}; "
            f"their rotations are {largest}",
        ),
        (
            MOST_SEATS is not None and at_once > MOST_SEATS and not plan.in_process,
            "workers",
            f"{at_once} bots at a time are more than the {MOST_SEATS} that this system can serve",
        ),
    )
    for named in plan.games:
        if plan.score is Score.CORRECTED:
            _check_correction(named)
        try:
            Monitor(stop, bounds_of(plan.score, stop, named.game))
        except StopRuleError as error:
            raise _problem("stop", f"{named.shown}: {error}") from None
    refuse(
        (
            not is_fixed and seatings * largest > _MOST_PROCESSES,
            "stop",
            f"'{stop}' keeps all {seatings} seatings at the table at once, {seatings * largest} bots; "
            "play the rotations only, or a fixed number of deals",
        ),
        (
            ports and (seatings > 1 or workers > 1 or plan.command is Command.TOURNAMENT),
            "ports",
            "ports can be given for one match only: play a single seating with one worker",
        ),
        (len(ports) > largest, "ports", f"{len(ports)} ports are given, but there are {largest} seats"),
        (
            len(set(taken)) < len(taken),
            "ports",
            f"every seat needs a port of its own, not {', '.join(map(str, taken))}",
        ),
    )


def _check_correction(named: NamedGame) -> None:
    if (refusal := shares_refusal(named.game)) is not None:
        raise _problem("score", f"{named.shown}: {refusal}")


def _check_histories(settings: RunSettings, games: Sequence[NamedGame], names: Sequence[str]) -> None:
    reason = "none are to be written" if settings.export is not None else f"{games[0].shown} has none"
    has_none = not any(named.exports for named in games)
    refuse(
        (
            settings.observed and settings.hero is not None,
            "observed",
            "hand histories have a hero or none; leave one of the two settings out",
        ),
        (
            settings.hero is not None and settings.hero not in names,
            "hero",
            f"no player is called {quoted(settings.hero)}; there are {', '.join(names)}",
        ),
        *(
            (has_none and getattr(settings, setting), setting, f"it is about hand histories, but {reason}")
            for setting in ("histories", "hero", "observed", "stakes")
        ),
    )


def _check_players(plan: Plan) -> None:
    for player in plan.players:
        frozen = f"{player.name} learns while it plays, so it is another player in every hand"
        refuse(
            *(
                (refusal, "bots", f"{player.name} does not play {named.shown}: {refusal}")
                for named, refusal in zip(plan.games, player.refusals, strict=False)
            ),
            (
                player.learns and player.has_own_user,
                "bots",
                f"{player.name} learns, but another user cannot write its journal; add learn=false",
            ),
            (
                player.learns and plan.in_process and plan.workers > 1,
                "workers",
                f"{player.name} learns, in process with 1 worker only; add learn=false, or leave in_process out",
            ),
            (
                player.learns and plan.score is Score.CORRECTED,
                "score",
                f"{frozen} and has no win rate to be corrected; add learn=false",
            ),
            (
                player.learns and plan.command is Command.TOURNAMENT,
                "bots",
                f"{frozen} and cannot be ranked; add learn=false, or train it in a play",
            ),
            (
                player.learns and not isinstance(plan.stop, FixedDeals),
                "stop",
                f"{frozen} and has no interval for '{plan.stop}'; give a number of deals, or add learn=false",
            ),
        )


def refuse(*problems: tuple[object, str, str]) -> None:
    """Refuse settings for the first problem that is there: whether it is, its setting, and what is wrong.

    Raises:
        ConfigError: there is one.
    """
    for is_there, setting, problem in problems:
        if is_there:
            raise _problem(setting, problem)


def _problem(setting: str, problem: str) -> ConfigError:
    return ConfigError(SettingProblem(setting, problem))


def planned_contests(plan: Plan, folder: Path) -> tuple[ContestPlan, ...]:
    """All contests of a run, in its folder; those of a tournament in folders of their own."""
    tables = [
        (named, entrants)
        for named in plan.games
        for entrants in pairings(plan.format, len(plan.players), named.game.num_players)
    ]
    contests = []
    for number, (named, entrants) in enumerate(tables, 1):
        names = [plan.names[entrant] for entrant in entrants]
        own = folder
        if plan.command is Command.TOURNAMENT:
            own = folder / _label(number, len(tables), named.name, names)
        hero = plan.export_options.hero
        options = replace(
            plan.export_options,
            hero=hero if hero in names else None,
            default_hero=plan.export_options.default_hero and names[0],
            chip_value=named.chip_value,
        )
        record = RecordPlan(own, named.name, named.exports, options, plan.histories)
        contest = ContestPlan(plan, named.game, entrants, record)
        # A tournament has enough matches to keep its workers busy. In process, slices of a match share its files.
        is_whole = plan.command is Command.TOURNAMENT or contest.learners or plan.in_process
        contests.append(contest if is_whole else replace(contest, slices=-(-plan.workers // contest.seatings)))
    return tuple(contests)


def _label(number: int, of: int, game: str, names: Sequence[str]) -> str:
    digits = len(str(of))
    short = os.path.basename(game).removesuffix(".game")
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", f"{number:0{digits}}-{short}-{'-vs-'.join(names)}")[:100]
