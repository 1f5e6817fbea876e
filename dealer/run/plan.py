"""Resolve the settings of a run into a plan, and a plan into contests.

    plan = settle(validated({"games": ["kuhn"], "bots": ["calling", "random"]}))
    plan.deals, plan.seed, plan.seating
    contests = planned_contests(plan, folder)

`dealer.run.contest_plan` defines the plans. It is separate, because processes that only deal do not load settings.
"""

from __future__ import annotations

import itertools
import math
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
from dealer.run.contest_plan import ContestPlan, NamedGame, Plan, bounds_of, known_players
from dealer.run.match_files import RecordPlan
from dealer.run.run_settings import BotSettings, RunSettings
from dealer.table.confinement import Confinement
from dealer.table.listener import MAX_SEATS
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
from engine.text import listed
from logs.errors import UnsupportedGameError
from logs.estimation import (
    FixedDeals,
    Monitor,
    StopRule,
    StopRuleError,
    parse_stop_rule,
)
from logs.export import FORMATS, chip_value_of, parse_currency
from logs.formats.export_format import ExportFormat, ExportOptions
from logs.pokerstars import POKERSTARS
from protocol import GameDefinitionError, find_game, shipped_games
from protocol.game_definition import short_name

_DEALS = 3000
_MAX_DEALS = 1_000_000
"""Deals of a run that a stop rule should end."""
_PLAYERS = ("raising", "random")
_DEFAULTS = RunSettings()
_MAX_ANSWERS_PER_HAND = 20
"""Answers of one player in a hand for which its own time is enough."""
_MAX_SEATINGS = 720
_MAX_PROCESSES = 256


def repeatable(settings: RunSettings, plan: Plan) -> RunSettings:
    """Return settings with all resolved defaults, which repeat the run on any machine."""
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
    """Return the groups of bots that meet in a tournament, as increasing indices."""
    groups = itertools.combinations(range(bots), players)
    return [group for group in groups if format_ is Format.ROUND_ROBIN or 0 in group]


def settle(settings: RunSettings, objects: Mapping[int, BotObject] = MappingProxyType({})) -> Plan:
    """Resolve settings into a plan.

    Args:
        settings: validated settings.
        objects: players, by index, that are classes or objects of this program.

    Raises:
        ConfigError: a game or player cannot be found, or settings contradict each other.
    """
    directory = settings.directory
    if not settings.games:
        raise _problem("games", "name at least one game")
    if directory is not None and not os.path.isdir(directory):
        raise _problem("directory", f"commands cannot start in {directory}: there is no such folder")
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
        workers = _default_workers(settings, seatings)
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


def _default_workers(settings: RunSettings, seatings: int) -> int:
    if settings.in_process:
        return 1
    if settings.command is Command.TOURNAMENT:
        return core_count()
    # More workers than seatings would cut the hands into slices, which only a user should ask for.
    return min(core_count(), seatings)


def _find_game(name: str, settings: RunSettings) -> NamedGame:
    path = name
    if settings.directory is not None and not os.path.exists(name) and (os.sep in name or ".game" in name):
        path = os.path.join(settings.directory, name)
    try:
        full, game = find_game(path)
    except GameDefinitionError as error:
        raise _problem("games", str(error)) from None
    exports: tuple[ExportFormat, ...] = (POKERSTARS,)
    if settings.export is not None:
        exports = tuple(FORMATS[format_] for format_ in settings.export)
    try:
        for format_ in exports:
            format_.check(game)
    except UnsupportedGameError as error:
        if settings.export is not None:
            raise _problem("export", f"{short_name(full)}: {error}") from None
        exports = ()
    chip_value = Decimal(1)
    if settings.stakes and exports:
        try:
            chip_value = chip_value_of(settings.stakes, game, exports)
        except ValueError as error:
            raise _problem("stakes", f"{short_name(full)}: {error}") from None
    return NamedGame(full, game, exports, chip_value)


def _find_players(
    settings: RunSettings, games: Sequence[NamedGame], limits: TimeLimits, objects: Mapping[int, BotObject]
) -> tuple[Player, ...]:
    bots = settings.bots
    largest = max(games, key=lambda named: named.game.num_players)
    seats = largest.game.num_players
    if settings.command is Command.TOURNAMENT:
        if len(bots) < seats:
            problem = f"a tournament of {largest.shown} needs at least {seats} bots, {len(bots)} given"
            raise _problem("bots", problem)
        files = [named.name for named in games if named.name not in shipped_games()]
        if len(set(files)) < len(files):
            raise _problem("games", "every game file needs a name of its own")
    else:
        if len(games) > 1:
            raise _problem("games", "a play has one game; a tournament can have several")
        if settings.format is not Format.ROUND_ROBIN:
            problem = f"'{settings.format}' applies to tournaments; a play has one contest"
            raise _problem("format", problem)
        if not bots:
            bots = tuple(BotSettings(bot=_PLAYERS[seat % 2]) for seat in range(seats))
        if len(bots) != seats:
            raise _problem("bots", f"{largest.shown} needs {seats} players, {_given_players(bots, seats)}")
    rules = [named.game for named in games]
    players = []
    for place, bot in enumerate(bots):
        player = _find_player(bot, settings, rules, limits, objects.get(place))
        players.append(player)
    if settings.command is Command.TOURNAMENT and any(player.kind is PlayerKind.TCP for player in players):
        raise _problem("bots", "a tournament starts its bots many times, so 'tcp' cannot play in one; give a command")
    return tuple(players)


def _given_players(bots: Sequence[BotSettings], seats: int) -> str:
    """List the given players, with a hint about quotes if there are too many."""
    # A command without quotes is split into several players.
    words = [bot.bot for bot in bots]
    text = f"{len(bots)} given: {', '.join(words)}"
    if len(bots) > seats:
        text += f"; {quoting_advice(words)}"
    return text


def _find_player(
    bot: BotSettings, settings: RunSettings, games: Sequence[Game], limits: TimeLimits, source: BotObject | None
) -> Player:
    directory = settings.directory
    if bot.directory is not None:
        directory = os.path.join(settings.directory or "", bot.directory)
        if not os.path.isdir(directory):
            raise _problem("bots", f"{quoted(bot.bot)} cannot start in {directory}: there is no such folder")
    python_path = bot.environment.get("PYTHONPATH", "")
    if source is not None:
        player = object_player(source, games)
    else:
        player = parse_player(bot.bot, directory, games, in_process=settings.in_process, python_path=python_path)
    is_command = player.kind is PlayerKind.COMMAND
    is_tcp = player.kind is PlayerKind.TCP
    has_process = is_command or (player.kind is PlayerKind.PYTHON and not settings.in_process)
    confinement = _confinement(bot)
    if bot.environment and not has_process:
        raise _problem("bots", f"{player.name} is not started as a process, so it has no environment of its own")
    if confinement is not None and not has_process:
        raise _problem("bots", f"{player.name} is not started as a process, so it has no limits of its own")
    if bot.address is not None and not is_tcp:
        raise _problem("bots", f"{player.name} is started here, so it has no address of its own")
    if bot.key is not None and not is_tcp:
        raise _problem("bots", f"{player.name} is started here, so it needs no key")
    if bot.arguments and not is_command:
        raise _problem("bots", f"{player.name} is not started by a command, so it takes no arguments")
    if bot.directory is not None and is_tcp:
        raise _problem("bots", f"{player.name} is started elsewhere, so it has no directory")
    if confinement is not None and (refusal := confinement.refusal(player.program)):
        raise _problem("bots", f"{player.name}: {refusal}")
    raised = _raised_limits(player, bot, settings)
    own_limits = None
    if raised or not (bot.t_response_s is None and bot.t_hand_s is None and bot.t_per_hand_s is None):
        own_limits = limits.with_seconds(response_s=bot.t_response_s, hand_s=bot.t_hand_s, per_hand_s=bot.t_per_hand_s)
        own_limits = own_limits.with_seconds(**raised)
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


def _raised_limits(player: Player, bot: BotSettings, settings: RunSettings) -> dict[str, float]:
    """Return higher limits for a player that names the longest time of its answers, in seconds.

    Limits that the user has set stay.
    """
    if player.answer_s is None:
        return {}
    raised = {}
    for name, seconds in _needed_limits(player.answer_s).items():
        default_s = getattr(_DEFAULTS, f"t_{name}")
        # Settings of the run have no mark for a value that was written, so one that equals the default is not set.
        is_set = getattr(bot, f"t_{name}") is not None or getattr(settings, f"t_{name}") != default_s
        if not is_set and seconds > default_s:
            raised[name] = seconds
    return raised


def _needed_limits(answer_s: float) -> dict[str, float]:
    """Return limits in seconds, by name, within which every answer may take this time."""
    hand_s = answer_s * _MAX_ANSWERS_PER_HAND
    return {"response_s": answer_s, "hand_s": hand_s, "per_hand_s": hand_s}


def raised_limits_sentence(plan: Plan, player: Player) -> str:
    """Compose a sentence about the limits that are higher for a player; empty without any."""
    if player.answer_s is None or player.limits is None:
        return ""
    needed = TimeLimits.from_seconds(**_needed_limits(player.answer_s))
    raised = []
    for flag, name in (("--t-response", "response_us"), ("--t-hand", "hand_us"), ("--t-per-hand", "per_hand_us")):
        limit_us = getattr(player.limits, name)
        if limit_us == getattr(needed, name) > getattr(plan.limits, name):
            raised.append(f"{flag} to {limit_us / 1e6:,.0f} s")
    if not raised:
        return ""
    return f"{player.name} may take {player.answer_s:,.0f} s for an answer, which raises its {listed(raised)}."


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
        return _MAX_DEALS if settings.deals is None else settings.deals, rule
    if settings.deals not in (None, rule.deals):
        raise _problem("deals", f"{settings.deals} contradicts the stop rule '{rule}'; give one of them")
    return rule.deals, rule


def _check(plan: Plan, seatings: int) -> None:
    stop = plan.stop
    workers = plan.workers
    largest = max(named.game.num_players for named in plan.games)
    is_fixed = isinstance(stop, FixedDeals)
    # A stop rule that looks at scores keeps all seatings open until it looks.
    at_once = largest * (workers if is_fixed else max(workers, seatings))
    if plan.in_process:
        _check_in_process(plan)
    if workers > 1:
        for player in plan.players:
            problem = transfer_problem(player)
            if problem is not None:
                text = f"{player.name} cannot be taken to worker processes: {problem}; play with 1 worker"
                raise _problem("workers", text)
    if seatings > _MAX_SEATINGS:
        text = f"{largest} players can sit in {seatings:,} orders, more than {_MAX_SEATINGS}; "
        raise _problem("seating", f"{text}their rotations are {largest}")
    if MAX_SEATS is not None and at_once > MAX_SEATS and not plan.in_process:
        text = f"{at_once} bots at a time are more than the {MAX_SEATS} that this system can serve"
        raise _problem("workers", text)
    for named in plan.games:
        if plan.score is Score.CORRECTED:
            _check_correction(named)
        if plan.score is Score.AIVAT:
            _check_valuation(plan, named)
        try:
            Monitor(stop, bounds_of(plan.score, stop, named.game))
        except StopRuleError as error:
            raise _problem("stop", f"{named.shown}: {error}") from None
    if not is_fixed and seatings * largest > _MAX_PROCESSES:
        raise _problem(
            "stop",
            f"'{stop}' keeps all {seatings} seatings at the table at once, {seatings * largest} bots; "
            "play the rotations only, or a fixed number of deals",
        )
    _check_ports(plan, seatings, largest)


def _check_in_process(plan: Plan) -> None:
    for player in plan.players:
        if player.kind is not PlayerKind.PYTHON:
            text = f"only Python bots play in process, {player.name} is a {player.kind.value} player"
            raise _problem("in_process", text)
    if plan.on_fault is FaultPolicy.RESTART:
        raise _problem("on_fault", "a bot that plays in process cannot be restarted: 'end' or 'forfeit'")


def _check_ports(plan: Plan, seatings: int, seats: int) -> None:
    ports = plan.ports
    taken = [port for port in ports if port]
    if ports and (seatings > 1 or plan.workers > 1 or plan.command is Command.TOURNAMENT):
        raise _problem("ports", "ports can be given for one match only: play a single seating with one worker")
    if len(ports) > seats:
        raise _problem("ports", f"{len(ports)} ports are given, but there are {seats} seats")
    if len(set(taken)) < len(taken):
        raise _problem("ports", f"every seat needs a port of its own, not {', '.join(map(str, taken))}")


def _check_correction(named: NamedGame) -> None:
    if (refusal := shares_refusal(named.game)) is not None:
        raise _problem("score", f"{named.shown}: {refusal}")


def _check_valuation(plan: Plan, named: NamedGame) -> None:
    # Imported here, because few plans need it.
    from bots.hand_values import values_refusal

    if named.game.num_players != 2:
        raise _problem("score", f"{named.shown}: AIVAT during play is for games of two players; use 'corrected'")
    for entrants in pairings(plan.format, len(plan.players), 2):
        names = [plan.names[entrant] for entrant in entrants]
        known = known_players(named.game, names, [plan.players[entrant] for entrant in entrants])
        if not known:
            text = f"AIVAT needs a player with a known strategy, the bot cfr, but {' meets '.join(names)}"
            raise _problem("score", f"{text}; use 'corrected'")
        refusal = values_refusal(named.game, known)
        if refusal is not None:
            raise _problem("score", f"{named.shown}: {refusal}")


def _check_histories(settings: RunSettings, games: Sequence[NamedGame], names: Sequence[str]) -> None:
    if settings.observed and settings.hero is not None:
        raise _problem("observed", "hand histories have a hero or none; leave one of the two settings out")
    if settings.hero is not None and settings.hero not in names:
        raise _problem("hero", f"no player is called {quoted(settings.hero)}; there are {', '.join(names)}")
    if any(named.exports for named in games):
        return
    reason = "none are written" if settings.export is not None else f"{games[0].shown} has none"
    for setting in ("histories", "hero", "observed", "stakes"):
        if getattr(settings, setting):
            raise _problem(setting, f"it applies to hand histories, but {reason}")


def _check_players(plan: Plan) -> None:
    for player in plan.players:
        for named, refusal in zip(plan.games, player.refusals, strict=False):
            if refusal:
                raise _problem("bots", f"{player.name} does not play {named.shown}: {refusal}")
        if player.learns:
            _check_learner(plan, player)


def _check_learner(plan: Plan, player: Player) -> None:
    if player.has_own_user:
        text = f"{player.name} learns, but another user cannot write its journal; add learn=false"
        raise _problem("bots", text)
    if plan.in_process and plan.workers > 1:
        text = f"{player.name} learns, in process with 1 worker only; add learn=false, or leave in_process out"
        raise _problem("workers", text)
    changing = f"{player.name} learns while it plays, so it is another player in every hand"
    if plan.score in (Score.CORRECTED, Score.AIVAT):
        raise _problem("score", f"{changing} and has no win rate to be corrected; add learn=false")
    if plan.command is Command.TOURNAMENT:
        raise _problem("bots", f"{changing} and cannot be ranked; add learn=false, or train it in a play")
    if not isinstance(plan.stop, FixedDeals):
        text = f"{changing} and has no interval for '{plan.stop}'; give a number of deals, or add learn=false"
        raise _problem("stop", text)


def _problem(setting: str, problem: str) -> ConfigError:
    return ConfigError(SettingProblem(setting, problem))


def planned_contests(plan: Plan, folder: Path) -> tuple[ContestPlan, ...]:
    """Return the contests of a run. Those of a tournament have subfolders of their own."""
    tables = [
        (named, entrants)
        for named in plan.games
        for entrants in pairings(plan.format, len(plan.players), named.game.num_players)
    ]
    contests = []
    for number, (named, entrants) in enumerate(tables, 1):
        names = [plan.names[entrant] for entrant in entrants]
        contest_folder = folder
        if plan.command is Command.TOURNAMENT:
            contest_folder = folder / _label(number, len(tables), named.name, names)
        hero = plan.export_options.hero
        options = replace(
            plan.export_options,
            hero=hero if hero in names else None,
            default_hero=plan.export_options.default_hero and names[0],
            chip_value=named.chip_value,
        )
        record = RecordPlan(contest_folder, named.name, named.exports, options, plan.histories)
        contest = ContestPlan(plan, named.game, entrants, record)
        # A tournament has enough matches to keep its workers busy, and in-process matches are cut by `SlicedRun`.
        is_whole = plan.command is Command.TOURNAMENT or contest.learners or plan.in_process
        if not is_whole:
            contest = replace(contest, slices=math.ceil(plan.workers / contest.seatings))
        contests.append(contest)
    return tuple(contests)


def _label(number: int, count: int, game: str, names: Sequence[str]) -> str:
    """Return the name of a contest's folder."""
    # Leading zeros keep the folders in the order of the contests.
    digits = len(str(count))
    short = os.path.basename(game).removesuffix(".game")
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", f"{number:0{digits}}-{short}-{'-vs-'.join(names)}")[:100]
