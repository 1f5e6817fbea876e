"""Settings of a run, from TOML, command line and keyword arguments.

    # run.toml
    command = "play"
    game = "nolimit"
    bots = ["New=./new.py", {bot = "Old=./old.py", directory = "v1", environment = {MODE = "old"}, t_response_s = 2.0}]
    deals = 5000
    seed = 7
    seating = "rotations"
    stop = "better:0,30"

A setting that is None was not written, and `dealer.run.plan` chooses its value. All other defaults are defined here. A
game that is not shipped is a path, relative to the file. Commands of bots start in `directory`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TypeAlias

import tomli_w
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from bots.sdk.options import Interval, Wording, options_of
from dealer.errors import ConfigError, SettingProblem
from dealer.match.faults import FaultPolicy
from dealer.match.setup import DEFAULT_COALESCE_S, DEFAULT_LIMITS
from dealer.run.choices import Affinity, Command, Format, Score, Seating
from engine import DealKey, Seed
from engine.errors import quoted
from engine.text import clean
from logs.estimation import parse_stop_rule
from logs.export import parse_currency, parse_formats

_MAX_SETTING_S: Final = 1e9
"""Largest value of a setting in seconds."""
_SEEDS: Final = Interval(0, 2**32 - 1)
NO_ADDRESS: Final = "an address is needed: 127.0.0.1 for this machine, 0.0.0.0 to admit other machines"


class StrictSettings:
    """Reject unknown keys."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


_MATCH: Final = "Match"
_FILE: Final = Wording(is_flag=False)
_AS_ALL: Final = Wording(otherwise="as for all")
_Limit: TypeAlias = Annotated[int, Interval(1, 10**9)]
_Seconds: TypeAlias = Annotated[float, Interval(0.001, _MAX_SETTING_S)]


class _SeedSetting:
    """Schema of a seed, written as an integer of 32 bits, or as a key of 64 hexadecimal digits."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(
            self._read,
            handler.generate_schema(Annotated[int, _SEEDS] | None),
            serialization=core_schema.plain_serializer_function_ser_schema(self._write),
        )

    @staticmethod
    def _read(value: object, read_number: Callable[[object], int | None]) -> Seed | None:
        if isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value):
            return DealKey.from_text(value)
        return value if isinstance(value, DealKey) else read_number(value)

    @staticmethod
    def _write(seed: Seed | None) -> int | str | None:
        return seed.secret.hex() if isinstance(seed, DealKey) else seed


def check_address(text: str) -> str:
    """Reject an empty address to listen on."""
    if not text:
        raise ValueError(NO_ADDRESS)
    return text


def _path_text(path: Any) -> Any:
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def _formats(formats: Any) -> Any:
    words = formats if isinstance(formats, list | tuple) else [formats]
    if formats is None or not words or not all(isinstance(word, str) for word in words):
        return formats
    return [format_.name for format_ in parse_formats(",".join(words))]


def _ports(ports: Any) -> Any:
    words = ports.split(",") if isinstance(ports, str) and ports else ports or []
    for word in words if isinstance(words, list | tuple) else []:
        if not (str(word).isascii() and str(word).strip().isdigit() and int(word) <= 65535):
            raise ValueError(f"{quoted(word)} is not a valid port; give numbers from 0 (any free port) to 65535")
    return words


_PathText: TypeAlias = Annotated[str, BeforeValidator(_path_text)]
Host: TypeAlias = Annotated[str, "Address to listen on; 0.0.0.0 admits other machines.", AfterValidator(check_address)]
CardSeed: TypeAlias = Annotated[
    Seed | None, "Seed of the cards.", _SEEDS, _SeedSetting(), Wording(otherwise="a new one")
]
OnFault: TypeAlias = Annotated[
    FaultPolicy,
    "Policy for a bot that fails. 'end' ends the contest, 'forfeit' checks or folds for the bot from then on, and "
    "'restart' restarts it. A bot fails if it does not start, crashes, times out, disconnects or floods.",
]


def _currency(text: str) -> str:
    return parse_currency(text) or "none"


def _stop_rule(text: str) -> str:
    parse_stop_rule(text)
    return text


@dataclass(frozen=True, slots=True)
class BotSettings(StrictSettings):
    """Bot with settings of its own: ``{bot = "./new.py", t_response_s = 2.0}``. A text is a bot without settings."""

    bot: Annotated[str, "the bot, as on the command line"]
    directory: Annotated[str | None, "working directory, inside that of the run"] = None
    address: Annotated[str | None, "only address from which a `tcp` player may connect"] = None
    key: Annotated[str | None, "key that the client of a `tcp` player sends before the version line"] = None
    linked: Annotated[bool | None, "whether a `tcp` player has joined the server of the run, and needs no port"] = None
    arguments: Annotated[tuple[str, ...], "arguments after host and port of a command"] = ()
    environment: Annotated[dict[str, str], "environment variables of its process, in addition to those of the run"] = (
        field(default_factory=dict, hash=False)
    )
    t_response_s: Annotated[_Seconds | None, "seconds for one answer", _AS_ALL] = None
    t_hand_s: Annotated[_Seconds | None, "seconds for all answers in one hand", _AS_ALL] = None
    t_per_hand_s: Annotated[_Seconds | None, "seconds per hand on average over the match", _AS_ALL] = None
    user: Annotated[
        Annotated[str, Field(min_length=1, max_length=256)] | None,
        "user of its process, if the dealer is started by root (Linux and macOS)",
    ] = None
    memory_mb: Annotated[_Limit | None, "millions of bytes of address space per process (Linux and macOS)"] = None
    cpu_s: Annotated[_Limit | None, "seconds of the processor per process (Linux and macOS)"] = None

    @model_validator(mode="before")
    @classmethod
    def _text_alone(cls, data: Any) -> Any:
        if not isinstance(data, str | dict | BotSettings):
            raise ValueError(f"must be text or a table with a 'bot', not {quoted(data)}")
        return {"bot": data} if isinstance(data, str) else data

    @field_validator("arguments")
    @classmethod
    def _are_words(cls, arguments: tuple[str, ...]) -> tuple[str, ...]:
        for word in arguments:
            if "\0" in word:
                raise ValueError(f"{quoted(word)} cannot be an argument")
        return arguments

    @field_validator("key")
    @classmethod
    def _is_key(cls, key: str | None) -> str | None:
        if key is not None and not re.fullmatch("[A-Za-z0-9_-]{16,128}", key):
            raise ValueError("a key has 16 to 128 letters, digits, '_' and '-'")
        return key

    @field_validator("environment")
    @classmethod
    def _are_variables(cls, environment: dict[str, str]) -> dict[str, str]:
        for name, value in environment.items():
            if not name or "=" in name or "\0" in name + value:
                raise ValueError(f"{quoted(name)} cannot be a variable")
        return environment

    @model_serializer(mode="wrap")
    def _as_written(self, dump: SerializerFunctionWrapHandler) -> Any:
        data = {name: value for name, value in dump(self).items() if value not in (None, {}, [], ())}
        return self.bot if data.keys() == {"bot"} else data


@dataclass(frozen=True, slots=True)
class RunSettings(StrictSettings):
    """Settings of a run as written in a file, on the command line, or as keywords of `dealer.play`."""

    command: Annotated[Command, "Kind of run. A play is a contest, a table a contest with a person.", _FILE] = (
        Command.PLAY
    )
    games: Annotated[tuple[_PathText, ...], "The games, by their names or files; a single one is 'game'.", _FILE] = (
        "limit",
    )
    bots: Annotated[
        tuple[BotSettings, ...],
        "The players: texts, or tables with settings of their own.",
        Field(max_length=1000),
        Wording(is_flag=False, otherwise="raising and random in turns"),
    ] = ()
    format: Annotated[Format, "Pairing of the bots of a tournament.", _FILE] = Format.ROUND_ROBIN
    deals: Annotated[
        int | None,
        "Deals to play, each once in every seating; with a stop rule, the most to play.",
        Interval(1, 2**32 - 1),
        Wording(flags="-n", group=_MATCH, otherwise="3000; with a stop rule 1000000"),
    ] = None
    seed: CardSeed = None
    seating: Annotated[
        Seating | None,
        "Seatings of each deal.",
        Wording(is_flag=False, otherwise="rotations, unless a player is 'tcp'"),
    ] = None
    stop: Annotated[
        Annotated[str, AfterValidator(_stop_rule)] | None,
        "Stop rule, such as 'ci=20' or 'better:0,30'. A number stops after as many deals. 'ci=20' stops when half "
        "the guaranteed interval is 20 mbb/g. 'better:0,30' stops as soon as the first player is shown to win more "
        "than 0 or less than 30 mbb/g; 'better:0,30,0.01,0.01' also sets its two error rates.",
        Wording("RULE"),
    ] = None
    score: Annotated[
        Score,
        "Win rates to compute. 'raw' computes winnings only. 'both' adds rates without the luck of the cards if "
        "they take a few seconds at most. With 'corrected', the stop rule and the live line use those, which takes "
        "fewer hands, and the result has win rates by all estimators. 'aivat' does the same without the luck of the "
        "choices of cfr, in a process beside the dealer; one of two players must be cfr.",
    ] = Score.BOTH
    workers: Annotated[
        int | None,
        "Matches to play at a time; with more workers than seatings, the hands are cut into slices.",
        Interval(1, 1000),
        Wording(otherwise="one per seating, up to the number of cores"),
    ] = None
    affinity: Annotated[
        Affinity,
        "Let a dealer and its quick bots share a core: 'auto' where the system can and no bot is slow, or 'off'.",
        Wording(is_rare=True),
    ] = Affinity.AUTO
    in_process: Annotated[bool, "Play Python bots inside this process. It is faster and writes the same log."] = False
    fixed_seats: Annotated[bool, "Do not move the button.", Wording(is_rare=True)] = False
    host: Annotated[Host, Wording(is_rare=True)] = "127.0.0.1"
    ports: Annotated[
        tuple[int, ...],
        "Ports by seat, for a single match: separated by commas; 0 means any free port.",
        BeforeValidator(_ports),
        Wording("PORTS", otherwise="any free ports"),
    ] = ()
    on_fault: Annotated[OnFault, Wording(group="Clocks and faults")] = FaultPolicy.END
    t_response_s: Annotated[_Seconds, "Seconds for one answer."] = DEFAULT_LIMITS.response_us / 1e6
    t_hand_s: Annotated[_Seconds, "Seconds for all answers of a player in one hand.", Wording(is_rare=True)] = (
        DEFAULT_LIMITS.hand_us / 1e6
    )
    t_per_hand_s: Annotated[_Seconds, "Average seconds of a player per hand of the match.", Wording(is_rare=True)] = (
        DEFAULT_LIMITS.per_hand_us / 1e6
    )
    start_timeout_s: Annotated[
        float,
        "Seconds for all bots to connect and name a version; 0 waits without limit.",
        Interval(0, _MAX_SETTING_S),
        Wording(is_rare=True),
    ] = 30.0
    coalesce_ms: Annotated[
        float,
        "Batch lines for players who are not to act. They wait for the next question, at most this many "
        "milliseconds. Play is faster, and the bytes are the same; use 0 for bots that compute during opponents' "
        "turns.",
        Interval(0, 1000),
        Wording(is_rare=True),
    ] = 1000 * DEFAULT_COALESCE_S
    export: Annotated[
        tuple[str, ...] | None,
        "Write hand histories as the hands end: pokerstars, phh, ohh, several separated by commas, or none.",
        BeforeValidator(_formats),
        Wording("FORMATS", group="Hand histories", otherwise="pokerstars, in games it supports"),
    ] = None
    histories: Annotated[
        _PathText | None,
        "Folder for the hand histories of all runs: a file per match, so that a tracker watches one folder.",
        Wording("DIR", otherwise="a folder per format in the run's own", is_rare=True),
    ] = None
    hero: Annotated[
        str | None,
        "The player whose cards hand histories show from the start.",
        Wording("NAME", otherwise="the first player of each contest"),
    ] = None
    observed: Annotated[bool, "Write hand histories without a hero.", Wording(is_rare=True)] = False
    stakes: Annotated[
        str | None,
        "The stakes in hand histories, such as 0.50/1: the blinds, in limit games the bets.",
        Wording("SMALL/BIG", otherwise="a chip is 1", is_rare=True),
    ] = None
    currency: Annotated[
        str,
        "Currency of hand histories: USD, EUR, GBP, or none for play money.",
        AfterValidator(_currency),
        Wording(is_rare=True),
    ] = "USD"
    directory: Annotated[
        _PathText | None, "The folder in which commands start.", Wording(is_flag=False, otherwise="the current one")
    ] = None

    def to_toml(self) -> str:
        """Format all settings, including defaults, as a file that repeats the run."""
        data = adapter(RunSettings).dump_python(self, exclude_none=True, mode="json")
        if self.command is not Command.TOURNAMENT:
            data["game"] = data.pop("games")[0]
            data.pop("format")
        order = ["command", "game", "games", "bots", "format"]
        arranged = {key: data[key] for key in order if key in data} | data
        return tomli_w.dumps(arranged, multiline_strings=False)


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def validated(data: dict[str, Any], source: str = "") -> RunSettings:
    """Validate settings.

    Args:
        data: settings by name. None means a setting that was not written, and ``game`` for a single game.
        source: file of the settings, for errors.

    Raises:
        ConfigError: a setting is unknown or out of range.
    """
    written = {name: value for name, value in data.items() if value is not None}
    if "game" in written:
        if "games" in written:
            raise ConfigError("name the game with 'game', or several with 'games', not both", source=source)
        written["games"] = [written.pop("game")]
    try:
        settings: RunSettings = adapter(RunSettings).validate_python(written)
    except ValidationError as error:
        raise ConfigError(*map(_setting_problem, error.errors(include_url=False)), source=source) from None
    # Files of a run are UTF-8, which cannot represent every file name of the system.
    dumped = adapter(RunSettings).dump_python(settings, mode="json")
    problems = []
    for setting, text in _texts_in(dumped):
        if clean(text) != text:
            problem = f"{quoted(text)} is not UTF-8 text, as the files of a run are: rename it"
            problems.append(SettingProblem(setting, problem))
    if problems:
        raise ConfigError(*problems, source=source)
    return settings


def _texts_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts in nested lists and tables, each after its dotted path."""
    if isinstance(value, str):
        yield path, value
        return
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from _texts_in(inner, f"{path}.{key}".removeprefix("."))


_WORDS: Final = {
    "missing": "it is missing",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number, not one of thousands of digits",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dataclass_type": "must be a table",
    "enum": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must have at least {min_length}",
    "too_long": "must have at most {max_length}, not {actual_length}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "timezone_aware": "must have an offset, such as 2026-12-08T12:00:00+01:00",
}
"""Templates of problems, by pydantic's type of the error."""
_UNSHOWN: Final = {"missing", "int_parsing_size", "too_short", "too_long", "string_too_short", "string_too_long"}
"""Errors whose value is absent or long."""
_BOUNDS: Final = {"greater_than", "greater_than_equal", "less_than_equal"}


def problem_in_words(problem: Any) -> tuple[str, str]:
    """Return the dotted path of a pydantic error and a description of the problem."""
    kind = problem["type"]
    value = problem.get("input")
    path = ".".join(map(str, problem["loc"]))
    if kind not in _WORDS:
        return path, problem["msg"].removeprefix("Value error, ").removeprefix("Input ").rstrip(".")
    if kind in _BOUNDS and str(value).strip().lstrip("+-").lower() == "nan":
        # Pydantic compares NaN with the bounds.
        kind = "float_type"
    facts = dict(problem.get("ctx", {}))
    for name, fact in facts.items():
        if isinstance(fact, int | float):
            facts[name] = f"{fact:,.12g}"
    text = _WORDS[kind].format(**facts)
    if kind in _UNSHOWN:
        return path, text
    shown = quoted(value)
    if kind in _BOUNDS:
        # A number from the command line is a text.
        shown = shown.strip("'")
    return path, f"{text}, not {shown}"


def _setting_problem(problem: Any) -> SettingProblem:
    setting, text = problem_in_words(problem)
    if problem["type"] == "unexpected_keyword_argument":
        owner = BotSettings if len(problem["loc"]) > 1 else RunSettings
        names = ", ".join(option.name for option in options_of(owner))
        return SettingProblem("", f"there is no setting {quoted(setting)} (there are: {names})")
    return SettingProblem(setting, text)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: the file cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"byte {error.start + 1} is not UTF-8 text", source=str(path)) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(str(error), source=str(path)) from None


SETTINGS_VARIABLE: Final = "ARENA_SETTINGS"
"""Environment variable for the path of a user's defaults. Empty, it disables them."""
_NOT_DEFAULTS: Final = {"command", "game", "games", "bots", "format", "directory", "seed"}


def user_defaults() -> dict[str, Any]:
    """Read a user's defaults from ``settings.toml`` in the configuration folder of the platform.

    Raises:
        ConfigError: the file cannot be read, or contains settings that cannot have defaults.
    """
    path_text = os.environ.get(SETTINGS_VARIABLE)
    if path_text == "":
        return {}
    if path_text is not None:
        path = Path(path_text)
    else:
        # Imported here, because few commands need it.
        from platformdirs import user_config_path

        path = user_config_path("acpc-arena", appauthor=False) / "settings.toml"
        if not path.exists():
            return {}
    data = read_toml(path)
    refused = sorted(data.keys() & _NOT_DEFAULTS)
    if refused:
        raise ConfigError(SettingProblem(refused[0], "a file of defaults cannot set it"), source=str(path))
    written = validated(data, str(path))
    return {name: getattr(written, name) for name in data}


def read_config(path: Path) -> dict[str, Any]:
    """Read a TOML file without validating its settings. Paths of games are relative to the file.

    Raises:
        ConfigError: the file cannot be read, or is not TOML.
    """
    data = read_toml(path)
    data.update({name: _resolve_games(data[name], path) for name in ("game", "games") if name in data})
    return data


def _resolve_games(games: Any, path: Path) -> Any:
    """Replace games by their paths if they lie next to the file; leave invalid values to the validation."""
    if isinstance(games, list):
        return [_resolve_games(game, path) for game in games]
    if not isinstance(games, str):
        return games
    neighbour = path.parent / games
    is_path = os.path.dirname(games) or games.endswith(".game")
    return str(neighbour) if is_path and neighbour.is_file() else games
