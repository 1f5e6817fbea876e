"""The player of a seat, as people describe it: a Python bot, a command, or ``tcp``.

random?fold=0.1,seed=7      a built-in bot, or one that an installed distribution declares, with options if any
my_bot.py:MyBot             a bot of one's own: a class in a file, or in a module (``package.module:Class``)
./my_bot.sh --fast          a command; host and port are added as its last two arguments
./my_bot.py                 the same; without ``#!`` it is started with this Python
tcp                         a client that is started outside the dealer and connects
Ann=./my_bot.sh             any of these, under a name of its own
"""

from __future__ import annotations

import enum
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from bots.errors import SpecError, in_one_line, is_interrupt, located
from bots.sdk.bot import Bot
from bots.sdk.learning import LearningBot
from bots.sdk.program import split_command
from bots.sdk.registry import (
    builtin_file_options,
    builtin_names,
    is_bot_name,
    is_builtin,
    make_bot,
    make_bot_from,
    nearest_name,
    source_problem,
)
from dealer.errors import PlayerError
from dealer.table.bubblewrap import Box
from dealer.table.confinement import Confinement
from engine import Game
from engine.errors import quoted
from protocol.game_definition import SHORT_NAMES

if TYPE_CHECKING:
    from dealer.match.setup import TimeLimits


BotObject: TypeAlias = type[Bot] | Bot
"""A class or an object that a Python program passes as a player."""


class PlayerKind(enum.Enum):
    """Where a player comes from."""

    PYTHON = "Python"
    COMMAND = "command"
    TCP = "tcp"


_NAMED = re.compile(r"([A-Za-z0-9_.-]+)=(.+)", re.DOTALL)
_OBJECT = re.compile("<([^<>]+)>")
"""Text of a class or an object that only the Python program has that passed it."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.+-]+")
_MAX_NAME_LETTERS = 64
"""A name is a part of file names, which most systems bound at 255 bytes."""
_INTERPRETERS = re.compile(
    r"(?i)(python|pypy|py|node|deno|bun|ruby|perl|lua|java|php|rscript|julia|dotnet)[0-9.w-]*|(ba|da|z)?sh|powershell"
)
_WRAPPERS = re.compile(r"(?i)nice|ionice|nohup|env|time|timeout|stdbuf|taskset|setsid|wine|uv|run")
"""Programs that start another, as interpreters do: a player is named after what they start."""


@dataclass(frozen=True, slots=True)
class Player:
    """A player to be seated.

    Attributes:
        text: as the person wrote it, without the name.
        name: shown in tables and logs; free of characters that logs cannot hold.
        directory: the folder where a command is started, and a bot of one's own is looked for; None for the present
            one.
        address: the only one from which a client that is started outside the dealer may connect; None for any.
        key: a line that has to come before the version line of such a client; None for none.
        is_linked: whether the program that runs the match speaks for such a client, so that no port is opened.
        environment: variables that its process gets besides our own.
        limits: its clocks where they are not those of the match.
        source: the class or the object of a bot that this program was passed; None for a bot that `text` names.
        learns: whether it is another player after every hand.
        refusals: for each game that it was asked about, why it does not play it; None where it does.
        confinement: what its process may have; None for everything that we have.
    """

    text: str
    name: str
    kind: PlayerKind
    command: tuple[str, ...] = ()
    directory: str | None = None
    arguments: tuple[str, ...] = ()
    address: str | None = None
    key: str | None = None
    is_linked: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    limits: TimeLimits | None = None
    source: BotObject | None = field(default=None, compare=False)
    learns: bool = False
    refusals: tuple[str | None, ...] = ()
    confinement: Confinement | Box | None = None

    @property
    def program(self) -> str:
        """The path of what its process executes; empty for a client that is started outside the dealer."""
        if self.command:
            return self.command[0]
        if self.kind is PlayerKind.PYTHON:
            return sys.executable
        return ""

    @property
    def has_own_user(self) -> bool:
        """Whether its process runs as a user that is named for it, who may read nothing of the run."""
        return isinstance(self.confinement, Box) or (self.confinement is not None and self.confinement.user != "")


@dataclass(frozen=True, slots=True)
class LearnerFiles:
    """What a player that learns is given for a match; see `bots.sdk.learning.LearningBot.train`.

    Attributes:
        start: the file of the memory that it starts from.
    """

    start: str
    journal: str


def parse_player(
    text: str,
    directory: str | None = None,
    games: Sequence[Game] = (),
    *,
    in_process: bool = False,
    python_path: str = "",
) -> Player:
    """Read the description of a player and check that the player can be started.

    A built-in bot is made once, so that an option out of range is reported before anything is started, and asked
    whether it learns and plays the games. The code of others is asked only if it plays in this process, otherwise its
    source is looked at.

    Args:
        directory: the folder where commands are started and bots of one's own are looked for; None for the present
            one.
        python_path: the ``PYTHONPATH`` that its process gets.

    Raises:
        PlayerError: there is no such bot, option or program, or the bot fails when it is asked.
    """
    name = ""
    named = _NAMED.fullmatch(text)
    if named is not None:
        name, text = named.groups()
        if not is_name(name):
            raise PlayerError(f"{_shortened(name)!r} cannot be a name: {NAME_RULE}")
    if text.lower().startswith("tcp "):
        raise PlayerError(f"{quoted(text, 400)}: 'tcp' takes no options, because its client is started elsewhere")
    if text.lower() == "tcp":
        return Player("tcp", name or "tcp", PlayerKind.TCP)
    if in_process and (known := _OBJECT.fullmatch(text)) is not None:
        return Player(text, name or _clean(known[1]), PlayerKind.PYTHON)
    bot = text.partition("?")[0]
    if is_bot_name(bot):
        player = Player(text, name, PlayerKind.PYTHON, (), directory)
        if in_process or is_builtin(bot):
            player = _asked(player, games)
        elif (problem := source_problem(bot, directory, python_path)) is not None:
            raise PlayerError(f"{quoted(text, 400)}: {problem}")
        if not name:
            player = replace(player, name=_bot_name(text))
        return player
    try:
        command = split_command(text)
    except ValueError as error:
        raise PlayerError(f"{quoted(text, 400)} is not a command: {error}") from None
    if not command:
        raise PlayerError("an empty text names no player")
    # Its process starts in the directory, where a path relative to the present one leads elsewhere.
    path = command[0]
    if directory:
        path = os.path.join(os.path.abspath(directory), path)
    if os.path.dirname(command[0]):
        program = shutil.which(path)
    else:
        program = shutil.which(command[0])
    if (quoted_text := _missing_quotes(text, directory, is_program=program is None)) is not None:
        whole = quoted_text
        if name:
            whole = f"{name}={quoted_text}"
        raise PlayerError(f"{quoted(text, 400)}: blanks separate words, so quote the path: {_in_shell(whole)}")
    name = name or _clean(_program_name(command, directory))
    if _needs_python(program or path):
        start = [sys.executable, program or path]
    elif program is not None:
        start = [program]
    else:
        raise PlayerError(_missing_program(command[0], path, text))
    return Player(text, name, PlayerKind.COMMAND, (*start, *command[1:]), directory)


def _needs_python(path: str) -> bool:
    """A Python file that names no interpreter; Windows reads no such lines."""
    if not path.endswith(".py") or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return os.name == "nt" or file.read(2) != b"#!"
    except OSError:
        return False


def _missing_quotes(text: str, directory: str | None, *, is_program: bool) -> str | None:
    """A command with quotes around the path with blanks that it names; None if it names no such file.

    Args:
        is_program: the path is that of the program; otherwise that of a script, after the interpreter and its options.
    """
    words = [found.span() for found in re.finditer(r"\S+", text)]
    starts = [start for start, _ in words]
    if is_program:
        starts = starts[:1]
    elif _INTERPRETERS.fullmatch(os.path.basename(text[: words[0][1]]).removesuffix(".exe")):
        starts = [start for start in starts[1:] if text[start] != "-"]
    else:
        return None
    for start in starts:
        for _, end in reversed([word for word in words if word[0] >= start]):
            path = text[start:end]
            if os.path.isfile(os.path.join(directory or "", path)):
                if not re.search(r"\s", path):
                    return None
                return f"{text[:start]}{_quoted_word(path)}{text[end:]}"
    return None


def _quoted_word(word: str) -> str:
    if os.name == "nt":
        return f'"{word}"'
    return shlex.quote(word)


def _in_shell(command: str) -> str:
    """A command as one word of a shell's command line."""
    if '"' in command:
        return f"'{command}'"
    return f'"{command}"'


def _class_of(source: BotObject) -> type:
    if isinstance(source, type):
        return source
    return type(source)


def object_player(source: BotObject, games: Sequence[Game] = ()) -> Player:
    """The player of a class or an object that a Python program passes, asked as by `parse_player`.

    Raises:
        PlayerError: it cannot be made, or fails when it is asked.
    """
    name = _clean(_class_of(source).__name__)
    return _asked(Player(object_text(source), name, PlayerKind.PYTHON, source=source), games)


def object_text(source: BotObject) -> str:
    """Text of a class or an object in files: ``module:Mine`` for a class that can be imported, otherwise ``<Mine>``."""
    kind = _class_of(source)
    module = kind.__module__
    can_import = module != "__main__" and getattr(sys.modules.get(module), kind.__name__, None) is kind
    if source is kind and can_import:
        return f"{module}:{kind.__name__}"
    return f"<{kind.__name__}>"


def transfer_problem(player: Player) -> str | None:
    """Why the class or the object of a player cannot be taken to another process; None where it can."""
    if player.source is None:
        return None
    if _class_of(player.source).__module__ == "__main__":
        return "its class is of the main program or a notebook; define it in a module of its own"
    import pickle

    try:
        pickle.loads(pickle.dumps(player.source))
    except Exception as error:
        return in_one_line(error)
    return None


def require_source(player: Player) -> None:
    """Refuse a player of a run that was a class or an object, unless it was passed again.

    Raises:
        PlayerError: it is missing.
    """
    if player.source is None and (known := _OBJECT.fullmatch(player.text)) is not None:
        raise PlayerError(
            f"{known[1]} is a class or an object of the Python program that played it, and no file holds it: resume "
            "the run there, with dealer.resume(FOLDER, bots=...) and the players as they were given to play"
        )


def make_player(player: Player, seed: int | None) -> Bot:
    """The bot of a Python player, in this process.

    Raises:
        PlayerError: it cannot be made; the message has the reason.
    """
    require_source(player)
    try:
        if player.source is not None:
            return make_bot_from(player.source, seed)
        return make_bot(player.text, seed, directory=player.directory)
    except SpecError as error:
        raise PlayerError(str(error)) from error


def _asked(player: Player, games: Sequence[Game]) -> Player:
    """A Python player with what its bot answers."""
    bot = make_player(player, 0)
    try:
        refusals = tuple([bot.refusal(game) for game in games])
    except BaseException as error:
        if is_interrupt(error):
            raise
        raise PlayerError(f"{quoted(player.text, 400)}: its refusal() failed: {located(error)}") from error
    return replace(player, learns=isinstance(bot, LearningBot) and bot.is_learning, refusals=refusals)


def _bot_name(text: str) -> str:
    """The name of a Python bot: its own, and its options but for files, of which only some readers know the paths."""
    bot, _, options = text.partition("?")
    files = builtin_file_options(bot)
    kept = []
    for option in options.split(","):
        option_name = option.partition("=")[0].strip()
        if option_name not in files and "/" not in option and os.sep not in option:
            kept.append(option)
    return _clean(f"{bot.rpartition(':')[2]}?{','.join(kept)}")


def _program_name(command: Sequence[str], directory: str | None) -> str:
    """The name of the program that a command comes down to: of `nice python -u x.py` it is ``x``."""
    first = name = os.path.basename(command[0])
    words = iter(command[1:])
    while (is_script := _INTERPRETERS.fullmatch(name.removesuffix(".exe"))) or _WRAPPERS.fullmatch(name):
        word = next(words, "-c")
        if word == "-c":
            return first
        if word == "-m" and is_script:
            return next(words, first)
        if word.startswith("-"):
            continue
        is_program = os.path.isfile(os.path.join(directory or "", word))
        if not is_program and is_script:
            is_program = os.path.splitext(word)[1] != ""
        elif not is_program:
            is_program = shutil.which(word) is not None
        if is_program:
            name = os.path.basename(word)
            if is_script:
                return os.path.splitext(name)[0]
    return name


def _missing_program(word: str, path: str, text: str) -> str:
    """Why a word does not start a program; `path` is where a file of that name would be."""
    if "=" in word:
        return f"{_shortened(text.partition('=')[0])!r} cannot be a name: {NAME_RULE}"
    if os.path.isdir(path):
        return f"{quoted(word, 400)} is a folder, not a program"
    if os.path.exists(path):
        shown = _quoted_word(word)
        if os.name == "nt":
            hint = "name its interpreter, as in 'python bot.py'"
        elif not os.path.dirname(word) and os.access(path, os.X_OK):
            hint = f"write ./{shown}"
        else:
            hint = f"chmod +x {shown}"
        if word.endswith(".py"):
            hint += f", or write 'python {word}', or {word}:CLASS for a class in it"
        return f"{quoted(word, 400)} is a file, but it cannot be started: {hint}"
    if word in SHORT_NAMES:
        return f"{word!r} is a game, not a bot: games are named before bots; a command for one bot has --game {word}"
    if re.fullmatch(r"python[0-9.]*|py", word):
        script = next((other for other in text.split() if other.endswith(".py")), "my_bot.py")
        if not os.path.dirname(script):
            script = f"./{script}"
        return f"there is no program {word!r}: write {script}, or {script}:CLASS, to start it with the Python of arena"
    if (near := nearest_name(word.partition("?")[0])) is not None:
        return f"there is no bot {quoted(word, 400)}; did you mean {near!r}?"
    known = ", ".join(builtin_names())
    bots = f"a built-in bot ({known}) nor a class such as my_bot.py:MyBot"
    return f"{quoted(word, 400)} is neither {bots}, 'tcp' or a program that can be found"


def quoting_advice(words: Sequence[str]) -> str:
    """How to name a command with blanks, for words of which too many name players."""
    for program, argument in pairwise(words):
        name = os.path.basename(program.rpartition("=")[2])
        if _INTERPRETERS.fullmatch(name) or _WRAPPERS.fullmatch(name):
            return f'quote a command with blanks: "{program} {argument}"'
    return 'quote a command with blanks, such as "python my_bot.py"'


NAME_RULE = (
    f"a name has at most {_MAX_NAME_LETTERS} of the letters A-Z and a-z, digits, '_', '-' and '.', "
    "and not only of the last three"
)


_NAME = re.compile(f"(?=.*[A-Za-z0-9])[A-Za-z0-9_.-]{{1,{_MAX_NAME_LETTERS}}}")


def is_name(text: str) -> bool:
    """Return whether a text can name a player or a user; see `NAME_RULE`."""
    return _NAME.fullmatch(text) is not None


def _shortened(text: str) -> str:
    if len(text) <= _MAX_NAME_LETTERS:
        return text
    return f"{text[: _MAX_NAME_LETTERS // 2]}..."


def _clean(text: str, otherwise: str = "bot") -> str:
    """A text as a name; `otherwise` where nothing is left of it."""
    name = _NOT_IN_NAMES.sub("_", text).strip("_")[:_MAX_NAME_LETTERS]
    if not re.search("[A-Za-z0-9]", name):
        return otherwise
    return name


def unique_names(players: Sequence[Player]) -> tuple[str, ...]:
    """A different name for each player: the second of a name is numbered ``#2``, and so on in seat order."""
    counts: Counter[str] = Counter()
    names = []
    for player in players:
        counts[player.name] += 1
        name = player.name
        if counts[name] > 1:
            name += f"#{counts[name]}"
        names.append(name)
    return tuple(names)
