"""The configuration of a server as a TOML file: read, written as an example, and described for the documentation.

A game that is not shipped is a path, looked for beside the file; commands start there, too. `example` and
`reference_page` are made from the settings themselves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from dealer.contest.config import BotSettings, problem_in_words, read_toml
from dealer.errors import ConfigError, PlayerError, SettingProblem
from dealer.server.settings import (
    GameSettings,
    LadderSettings,
    ServerBot,
    ServerGame,
    ServerSettings,
    Shown,
    WebSettings,
    bots_for,
    default_settings,
)
from dealer.table.confinement import Confinement
from dealer.table.players import PlayerKind, parse_player
from engine.errors import quoted
from protocol import GameDefinitionError, find_game, shipped_games
from protocol.benchmark import OWN_SEAT

__all__ = ["example", "read_toml_settings", "reference_page"]

_SECTIONS: Final = {"": ServerSettings, "web": WebSettings, "ladder": LadderSettings, "games": GameSettings}
_OPTIONAL: Final = {"ladder": "[ladder]", "games": "[[games]]"}
"""Sections without which a server does something else than with their defaults."""
_MEANING_COLUMN: Final = 32
_MOST_GAMES: Final = 1000
_Settings = TypeVar("_Settings", ServerSettings, WebSettings)


def read_toml_settings(path: Path) -> ServerSettings:
    """Read a configuration file.

    Raises:
        ConfigError: it cannot be read, is not TOML, or has settings that make no sense.
    """
    data = read_toml(path)
    try:
        return _settled(data, path.absolute().parent)
    except ConfigError as error:
        raise ConfigError(*error.problems, source=str(path)) from None


def _settled(data: dict[str, Any], folder: Path) -> ServerSettings:
    written = data.pop("games", [])
    known = {"web", "ladder", *(setting.name for setting in _in_file(ServerSettings))}
    unknown = [name for name in data if name not in known]
    problems = [SettingProblem(name, "there is no such setting") for name in unknown]
    found: dict[str, Any] = {}
    for name, kind, value in (
        ("games", list[GameSettings], written),
        ("", ServerSettings, {name: value for name, value in data.items() if name not in unknown} | {"games": ()}),
    ):
        try:
            found[name] = TypeAdapter(kind).validate_python(value)
        except ValidationError as error:
            problems += [_problem(name, problem) for problem in error.errors(include_url=False)]
    if problems:
        raise ConfigError(*problems)
    settings: ServerSettings = found[""]
    if len(found["games"]) > _MOST_GAMES:
        raise ConfigError(SettingProblem("games", f"must have at most {_MOST_GAMES}, not {len(found['games'])}"))
    games = tuple(_game(game, folder) for game in found["games"]) or default_settings().games
    names = [game.name for game in games]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(SettingProblem("games", f"two games are called {quoted(name)}; give one another 'name'"))
    confinement = Confinement(settings.bot_user, settings.bot_memory_mb, settings.bot_cpu_s)
    if confinement != Confinement() and (refusal := confinement.refusal()) is not None:
        raise ConfigError(SettingProblem("bot_user" if settings.bot_user else "bot_memory_mb", refusal))
    return replace(
        _with_certificate(settings, folder, ""),
        games=games,
        directory=str(folder),
        web=_with_certificate(settings.web, folder, "web."),
        ladder=None if settings.ladder is None else _ladder(settings.ladder, games),
    )


def _problem(section: str, problem: Any) -> SettingProblem:
    where, text = problem_in_words(problem)
    where = f"{section}.{where}".strip(".")
    is_unknown = problem["type"] in ("extra_forbidden", "unexpected_keyword_argument")
    return SettingProblem(where, "there is no such setting" if is_unknown else text)


def _ladder(ladder: LadderSettings, games: tuple[ServerGame, ...]) -> LadderSettings:
    known = [game.name for game in games]
    for name in ladder.games or ():
        if name not in known:
            raise ConfigError(SettingProblem("ladder.games", f"there is no game {quoted(name)} among the games"))
    two = tuple(game.name for game in games if game.game.num_players == 2)
    return replace(ladder, games=two if ladder.games is None else tuple(dict.fromkeys(ladder.games)))


def _with_certificate(settings: _Settings, folder: Path, where: str) -> _Settings:
    """The settings with the paths of the certificate and of its key from the folder of the file."""
    certificate, key = (path and str(folder / path) for path in (settings.certificate, settings.key))
    for name, path in (("certificate", certificate), ("key", key)):
        if path and not Path(path).is_file():
            raise ConfigError(SettingProblem(f"{where}{name}", f"there is no file {path}"))
    if key and not certificate:
        raise ConfigError(SettingProblem(f"{where}key", "a key needs a certificate"))
    return replace(settings, certificate=certificate, key=key)


def _game(written: GameSettings, folder: Path) -> ServerGame:
    beside = folder / written.game
    try:
        full, game = find_game(str(beside) if beside.is_file() else written.game)
    except GameDefinitionError as error:
        raise ConfigError(SettingProblem("games", str(error))) from None
    name = written.name or (full if full in shipped_games() else os.path.basename(full))
    if not name.isprintable() or " " in name:
        raise ConfigError(SettingProblem("games", f"{quoted(name)} cannot be a name: it has to be one word"))
    bots = bots_for(game) if written.bots is None else tuple(_bot(bot, folder) for bot in written.bots)
    names = [bot.name for bot in bots]
    for bot_name in names:
        if names.count(bot_name) > 1:
            raise ConfigError(SettingProblem("bots", f"{name} has two bots called {bot_name}; NAME=BOT gives a name"))
    most_hands = max(written.max_hands, written.hands)
    running = (os.cpu_count() or 1) if written.max_running is None else written.max_running
    return ServerGame(name, full, game, written.hands, written.max_runs, bots, most_hands, running)


def _bot(settings: BotSettings, folder: Path) -> ServerBot:
    try:
        player = parse_player(settings.bot, os.path.join(folder, settings.directory or ""))
    except PlayerError as error:
        raise ConfigError(SettingProblem("bots", str(error))) from None
    if player.kind is PlayerKind.TCP or player.name == OWN_SEAT:
        raise ConfigError(SettingProblem("bots", f"{quoted(settings.bot)} is not a bot that the server could start"))
    return ServerBot(player.name, settings.model_copy(update={"bot": player.text}))


# ---- the texts that are made from the settings


class _Setting(NamedTuple):
    """A setting as the texts show it."""

    name: str
    default: object
    meaning: str
    shown: Shown
    bounds: tuple[str, str]

    @property
    def value(self) -> str:
        """The default as TOML."""
        value = list(self.default) if isinstance(self.default, tuple) else self.default
        return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def _in_file(section: type) -> Iterator[_Setting]:
    """The settings of a section that a file can have: those with a meaning."""
    hints = get_type_hints(section, include_extras=True)
    for one in fields(section):
        about = FieldInfo.from_annotation(hints[one.name]).metadata
        meaning = next((more for more in about if isinstance(more, str)), None)
        if meaning is not None:
            shown = next((more for more in about if isinstance(more, Shown)), Shown())
            bounds = _bound(about, "ge") or _bound(about, "gt", "more than "), _bound(about, "le")
            yield _Setting(one.name, one.default, meaning, shown, bounds)


def _bound(about: Sequence[object], name: str, words: str = "") -> str:
    """A bound of a number in words; nothing where it has none."""
    found = (getattr(more, name, None) for more in about)
    return next((f"{words}{value:,.12g}" for value in found if value is not None), "")


def example() -> str:
    """A configuration file with all settings, their defaults and their meanings."""
    lines: list[str] = []
    for name, section in _SECTIONS.items():
        mark = "# " if name in _OPTIONAL else ""
        lines += [*([""] if lines else []), f"# {section.__doc__}", f"{mark}{_heading(name)}"]
        for setting in _in_file(section):
            group, shown, otherwise = setting.shown
            lines += ["", f"# {group}"] if group else []
            line = f"{mark}{setting.name} = {setting.value if shown is None else json.dumps(shown)} "
            meaning = f"{setting.meaning}; left out, {otherwise}" if otherwise else setting.meaning
            lines.append(f"{line:{_MEANING_COLUMN}}# {meaning}")
    return "\n".join(lines) + "\n"


def _heading(section: str) -> str:
    return _OPTIONAL.get(section, f"[{section}]" if section else "")


def reference_page() -> str:
    """The page of the documentation with all settings, in Markdown."""
    lines = [
        "# Settings of a server",
        "",
        "All settings of a configuration file of `arena serve`, as `arena serve --init` writes them;",
        "[Run a server](serve.md) explains them. This page is made by `python docs/serve/settings.py`.",
    ]
    for name, section in _SECTIONS.items():
        lines += ["", f"## {f'`{_heading(name)}`' if name else 'The server'}", "", str(section.__doc__), ""]
        lines += ["| setting | default | from | to | meaning |", "| --- | --- | --- | --- | --- |"]
        for one in _in_file(section):
            default = "" if one.default is MISSING else one.shown.otherwise or f"`{one.value}`"
            lines.append(f"| `{one.name}` | {default} | {' | '.join(one.bounds)} | {one.meaning} |")
    return "\n".join(lines) + "\n"
