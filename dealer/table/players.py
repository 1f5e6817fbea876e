"""Parse the description of a player: a Python bot, a command, or ``tcp``.

random?fold=0.1,seed=7      a built-in bot, or a bot of an installed distribution, with options
my_bot.py:MyBot             a class in a file, or in a module (``package.module:Class``)
./my_bot.sh --fast          a command; host and port are added as its last two arguments
./my_bot.py                 a script; without ``#!`` it is started with this Python
tcp                         a client that is started outside the dealer
Ann=./my_bot.sh             any of these, with a name
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
"""Class or object that a Python program passes as a player."""


class PlayerKind(enum.Enum):
    """Kind of a player's description."""

    PYTHON = "Python"
    COMMAND = "command"
    TCP = "tcp"


_NAMED = re.compile(r"([A-Za-z0-9_.-]+)=(.+)", re.DOTALL)
_OBJECT = re.compile("<([^<>]+)>")
"""Text of a class or an object that cannot be imported."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.+-]+")
_MAX_NAME_LETTERS = 64
"""Length of a name. File names contain several names, and most systems limit them to 255 bytes."""
_INTERPRETERS = re.compile(
    r"(?i)(python|pypy|py|node|deno|bun|ruby|perl|lua|java|php|rscript|julia|dotnet)[0-9.w-]*|(ba|da|z)?sh|powershell"
)
_WRAPPERS = re.compile(r"(?i)nice|ionice|nohup|env|time|timeout|stdbuf|taskset|setsid|wine|uv|run")
"""Programs that start another program. A player is named after that program."""


@dataclass(frozen=True, slots=True)
class Player:
    """Player of a seat.

    Attributes:
        text: the description, without the name.
        name: name in tables and logs, see `NAME_RULE`.
        kind: kind of the description.
        command: program and arguments of a command.
        directory: folder in which a command is started and a user's bot is searched; None for the present folder.
        arguments: arguments of a command after host and port.
        address: the only address from which a ``tcp`` client may connect; None for any address.
        key: line that a ``tcp`` client sends before its version line; None for no key.
        is_linked: this process passes the bytes of a ``tcp`` client, so no port is opened.
        environment: environment variables of the process, in addition to the dealer's.
        limits: time limits that replace those of the match; None keeps them.
        source: class or object of the bot, if a program passed one; None for a bot that `text` names.
        answer_s: longest time for an answer that the bot names, in seconds; None for none.
        learns: the bot learns while it plays, so it changes from hand to hand.
        refusals: for each game in question, the reason that the bot does not play it; None if it does.
        confinement: limits on the process; None for none.
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
    answer_s: float | None = None
    learns: bool = False
    refusals: tuple[str | None, ...] = ()
    confinement: Confinement | Box | None = None

    @property
    def program(self) -> str:
        """Path of the program that its process executes; empty for a ``tcp`` client."""
        if self.command:
            return self.command[0]
        if self.kind is PlayerKind.PYTHON:
            return sys.executable
        return ""

    @property
    def has_own_user(self) -> bool:
        """Its process runs as another user, who can read no file of the run."""
        return isinstance(self.confinement, Box) or (self.confinement is not None and self.confinement.user != "")


@dataclass(frozen=True, slots=True)
class LearnerFiles:
    """Files of a player that learns; see `bots.sdk.learning.LearningBot.train`.

    Attributes:
        start: memory to start from.
        journal: file of its lessons in a match.
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
    """Parse the description of a player, and check that the player can be started.

    Args:
        text: the description.
        directory: folder in which commands are started and users' bots are searched; None for the present folder.
        games: games for `Player.refusals`.
        in_process: the bot plays in this process.
        python_path: ``PYTHONPATH`` of its process.

    Raises:
        PlayerError: there is no such bot, option or program, or the code of the bot fails.
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
    object_match = _OBJECT.fullmatch(text)
    if in_process and object_match is not None:
        return Player(text, name or _clean(object_match[1]), PlayerKind.PYTHON)
    bot = text.partition("?")[0]
    if is_bot_name(bot):
        player = Player(text, name, PlayerKind.PYTHON, (), directory)
        if in_process or is_builtin(bot):
            # Creating the bot now reports an option out of range before anything is started.
            player = _query_bot(player, games)
        else:
            # A user's code runs in the process of the bot only, so no more than its source is read here.
            problem = source_problem(bot, directory, python_path)
            if problem is not None:
                raise PlayerError(f"{quoted(text, 400)}: {problem}")
        if not name:
            player = replace(player, name=_bot_name(text))
        return player
    return _command_player(text, name, directory)


def _command_player(text: str, name: str, directory: str | None) -> Player:
    """Parse a command, and find its program.

    Args:
        text: the command.
        name: name of the player; empty for that of the program.
        directory: folder in which the command is started; None for the present folder.

    Raises:
        PlayerError: there is no such program.
    """
    try:
        command = split_command(text)
    except ValueError as error:
        raise PlayerError(f"{quoted(text, 400)} is not a command: {error}") from None
    if not command:
        raise PlayerError("an empty text names no player")
    # The process starts in the directory, where a path relative to the present folder would name another file.
    path = command[0]
    if directory:
        path = os.path.join(os.path.abspath(directory), path)
    if os.path.dirname(command[0]):
        program = shutil.which(path)
    else:
        program = shutil.which(command[0])
    quoted_text = _missing_quotes(text, directory, is_program=program is None)
    if quoted_text is not None:
        if name:
            quoted_text = f"{name}={quoted_text}"
        raise PlayerError(f"{quoted(text, 400)}: blanks separate words, so quote the path: {_in_shell(quoted_text)}")
    name = name or _clean(_program_name(command, directory))
    if _needs_python(program or path):
        start = [sys.executable, program or path]
    elif program is not None:
        start = [program]
    else:
        raise PlayerError(_missing_program(command[0], path, text))
    return Player(text, name, PlayerKind.COMMAND, (*start, *command[1:]), directory)


def _needs_python(path: str) -> bool:
    """Return whether a program is a Python file without ``#!``, a line that Windows never reads."""
    if not path.endswith(".py") or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return os.name == "nt" or file.read(2) != b"#!"
    except OSError:
        return False


def _missing_quotes(text: str, directory: str | None, *, is_program: bool) -> str | None:
    """Quote the path with blanks in a command; return None if no such file exists.

    Args:
        text: the command.
        directory: folder in which it is started.
        is_program: search the path of the program; otherwise the path of a script, after an interpreter.
    """
    words = [match.span() for match in re.finditer(r"\S+", text)]
    starts = [start for start, _ in words]
    if is_program:
        starts = starts[:1]
    elif _INTERPRETERS.fullmatch(os.path.basename(text[: words[0][1]]).removesuffix(".exe")):
        starts = [start for start in starts[1:] if text[start] != "-"]
    else:
        return None
    for start in starts:
        # The longest path first.
        ends = [end for _, end in words if end > start]
        for end in reversed(ends):
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
    """Quote a command as one word of a shell's command line."""
    if '"' in command:
        return f"'{command}'"
    return f'"{command}"'


def _class_of(source: BotObject) -> type:
    if isinstance(source, type):
        return source
    return type(source)


def object_player(source: BotObject, games: Sequence[Game] = ()) -> Player:
    """Return the player for a class or an object that a Python program passes.

    Raises:
        PlayerError: the bot cannot be created, or its code fails.
    """
    name = _clean(_class_of(source).__name__)
    return _query_bot(Player(object_text(source), name, PlayerKind.PYTHON, source=source), games)


def object_text(source: BotObject) -> str:
    """Format a class or an object for files: ``module:Mine`` for a class that can be imported, otherwise ``<Mine>``."""
    kind = _class_of(source)
    module = kind.__module__
    # A class inside a function is no attribute of its module, and another process has another main program.
    can_import = module != "__main__" and getattr(sys.modules.get(module), kind.__name__, None) is kind
    if source is kind and can_import:
        return f"{module}:{kind.__name__}"
    return f"<{kind.__name__}>"


def transfer_problem(player: Player) -> str | None:
    """Explain why the class or the object of a player cannot be sent to another process, or return None."""
    if player.source is None:
        return None
    if _class_of(player.source).__module__ == "__main__":
        return "its class is of the main program or a notebook; define it in a module of its own"
    import pickle

    # Both ways, because an object may pickle and still fail to load.
    try:
        pickle.loads(pickle.dumps(player.source))
    except Exception as error:
        return in_one_line(error)
    return None


def require_source(player: Player) -> None:
    """Reject a player whose class or object cannot be imported and was not passed again for a resumed run.

    Raises:
        PlayerError: the class or object is missing.
    """
    known = _OBJECT.fullmatch(player.text)
    if player.source is None and known is not None:
        raise PlayerError(
            f"{known[1]} is a class or an object of the Python program that played it, and no file holds it: resume "
            "the run there, with dealer.resume(FOLDER, bots=...) and the players as they were given to play"
        )


def make_player(player: Player, seed: int | None) -> Bot:
    """Create the bot of a Python player in this process.

    Raises:
        PlayerError: the bot cannot be created.
    """
    require_source(player)
    try:
        if player.source is not None:
            return make_bot_from(player.source, seed)
        return make_bot(player.text, seed, directory=player.directory)
    except SpecError as error:
        raise PlayerError(str(error)) from error


def _query_bot(player: Player, games: Sequence[Game]) -> Player:
    """Create the bot of a Python player, and add its own time, whether it learns and plays the games."""
    bot = make_player(player, 0)
    try:
        refusals = tuple([bot.refusal(game) for game in games])
    except BaseException as error:
        if is_interrupt(error):
            raise
        raise PlayerError(f"{quoted(player.text, 400)}: its refusal() failed: {located(error)}") from error
    learns = isinstance(bot, LearningBot) and bot.is_learning
    return replace(player, answer_s=bot.answer_s, learns=learns, refusals=refusals)


def _bot_name(text: str) -> str:
    """Name a Python bot after itself and its options, without paths of files: results are published."""
    bot, _, options = text.partition("?")
    files = builtin_file_options(bot)
    kept = []
    for option in options.split(","):
        option_name = option.partition("=")[0].strip()
        if option_name not in files and "/" not in option and os.sep not in option:
            kept.append(option)
    return _clean(f"{bot.rpartition(':')[2]}?{','.join(kept)}")


def _program_name(command: Sequence[str], directory: str | None) -> str:
    """Name a command after the program or script that it runs in the end: ``x`` for ``nice python -u x.py``."""
    first = os.path.basename(command[0])
    name = first
    words = iter(command[1:])
    while True:
        is_script = _INTERPRETERS.fullmatch(name.removesuffix(".exe")) is not None
        if not is_script and not _WRAPPERS.fullmatch(name):
            return name
        # Code on the command line has no name.
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


def _missing_program(word: str, path: str, text: str) -> str:
    """Compose the error for a command whose program was not found.

    Args:
        word: the program.
        path: path of a file of that name.
        text: the whole command.
    """
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
        script = "my_bot.py"
        for argument in text.split():
            if argument.endswith(".py"):
                script = argument
                break
        if not os.path.dirname(script):
            script = f"./{script}"
        return f"there is no program {word!r}: write {script}, or {script}:CLASS, to start it with the Python of arena"
    near = nearest_name(word.partition("?")[0])
    if near is not None:
        return f"there is no bot {quoted(word, 400)}; did you mean {near!r}?"
    known = ", ".join(builtin_names())
    bots = f"a built-in bot ({known}) nor a class such as my_bot.py:MyBot"
    return f"{quoted(word, 400)} is neither {bots}, 'tcp' or a program that can be found"


def quoting_advice(words: Sequence[str]) -> str:
    """Compose advice on quoting for a command line that names too many players."""
    for program, argument in pairwise(words):
        name = os.path.basename(program.rpartition("=")[2])
        if _INTERPRETERS.fullmatch(name) or _WRAPPERS.fullmatch(name):
            return f'quote a command with blanks: "{program} {argument}"'
    return 'quote a command with blanks, such as "python my_bot.py"'


NAME_RULE = (
    f"a name has at most {_MAX_NAME_LETTERS} of the letters A-Z and a-z, digits, '_', '-' and '.', "
    "with at least one letter or digit"
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
    """Convert a text to a name, or to `otherwise` if no letter or digit is left of it."""
    name = _NOT_IN_NAMES.sub("_", text).strip("_")[:_MAX_NAME_LETTERS]
    if not re.search("[A-Za-z0-9]", name):
        return otherwise
    return name


def unique_names(players: Sequence[Player]) -> tuple[str, ...]:
    """Return a different name for each player: the second of a name is called ``name#2``, and so on in seat order."""
    counts: Counter[str] = Counter()
    names = []
    for player in players:
        counts[player.name] += 1
        name = player.name
        if counts[name] > 1:
            name += f"#{counts[name]}"
        names.append(name)
    return tuple(names)
