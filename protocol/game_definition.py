"""Game definitions: the ``.game`` text format, and the games that come with the arena.

The reader follows the reference server, whose grammar is loose: one item a line, recognised by how the line begins
(in upper or lower case), then any mix of blanks and ``=``, then numbers up to the first thing that is not a number.
Unknown lines are skipped, later lines win, small fields wrap at 8 bits. What cannot be played is refused in the
reference's words.

`find_game` refuses what this reader would skip or change, because then another game is played than the file says.
`parse_game_definition` does not, because the reference plays such files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import engine
from engine import BettingType, Game, GameError
from engine.errors import quoted
from engine.game import DEFAULT_STACK, MAX_PLAYERS, MAX_ROUNDS
from protocol.errors import GameDefinitionError
from protocol.numbers import scan_integer, wrap_int32, wrap_uint8

SHORT_NAMES = {
    "limit": "holdem.limit.2p.reverse_blinds",
    "nolimit": "holdem.nolimit.2p.reverse_blinds",
    "limit3": "holdem.limit.3p",
    "limit6": "holdem.limit.6p",
    "limit10": "holdem.limit.10p",
    "nolimit3": "holdem.nolimit.3p",
    "nolimit6": "holdem.nolimit.6p",
    "nolimit10": "holdem.nolimit.10p",
    "kuhn": "kuhn.limit.2p",
    "kuhn3": "kuhn.limit.3p",
    "kuhn-depth": "kuhn-depth.limit.2p",
    "leduc": "leduc.limit.2p",
    "leduc-nolimit": "leduc.nolimit.2p",
}
"""Short names for people; any beginning of a full name that fits exactly one game will do."""

_BY_FULL_NAME = {full: short for short, full in SHORT_NAMES.items()}
_MOST_BYTES = 1 << 20
_MAX_LINES_NAMED = 3
_MAX_DIGITS = 40
_BYTE_ORDER_MARK = "\xef\xbb\xbf"
_FOLDER = os.path.join(os.path.dirname(engine.__file__), "games")


class _Fields:
    """The fields of a definition while it is read. Lists keep their old tail when a later line is shorter."""

    def __init__(self) -> None:
        self.betting = BettingType.LIMIT
        self.numbers = dict.fromkeys(_NUMBERS, 0)
        self.lists: dict[str, list[int]] = {
            "stack": [DEFAULT_STACK] * 4,
            "blind": [],
            "raisesize": [],
            "firstplayer": [1] * MAX_ROUNDS,
            "maxraises": [255] * MAX_ROUNDS,
            "numboardcards": [],
        }
        self.counts = {key: len(values) for key, values in self.lists.items()}

    def read_number(self, key: str, text: str) -> None:
        for value in _scan_values(text, len(key), 1):
            self.numbers[key] = wrap_uint8(value)

    def read_list(self, key: str, text: str, most: int) -> None:
        wrap = wrap_uint8 if key in ("firstplayer", "maxraises", "numboardcards") else wrap_int32
        values = [wrap(value) for value in _scan_values(text, len(key), most)]
        old = self.lists[key]
        self.lists[key] = values + old[len(values) :]
        self.counts[key] = len(values)

    def to_game(self) -> Game:
        players = self.numbers["numplayers"]
        rounds = self.numbers["numrounds"]

        def counted(key: str, need: int) -> tuple[int, ...]:
            return tuple(self.lists[key][: min(need, self.counts[key])])

        return Game(
            betting=self.betting,
            num_players=players,
            num_rounds=rounds,
            stacks=counted("stack", players),
            blinds=counted("blind", players),
            raise_sizes=counted("raisesize", rounds) if self.betting is BettingType.LIMIT else (),
            first_players=tuple(first - 1 for first in self.lists["firstplayer"][:rounds]),
            max_raises=tuple(self.lists["maxraises"][:rounds]),
            num_suits=self.numbers["numsuits"],
            num_ranks=self.numbers["numranks"],
            num_hole_cards=self.numbers["numholecards"],
            num_board_cards=counted("numboardcards", rounds),
        )


_NUMBERS = ("numplayers", "numrounds", "numsuits", "numranks", "numholecards")
_LIST_SIZES = {
    "stack": MAX_PLAYERS,
    "blind": MAX_PLAYERS,
    "raisesize": MAX_ROUNDS,
    "firstplayer": MAX_ROUNDS,
    "maxraises": MAX_ROUNDS,
    "numboardcards": MAX_ROUNDS,
}


def parse_game_definition(text: str) -> Game:
    """Read a game definition.

    Raises:
        GameError: the game it defines cannot be played.
    """
    return _read_fields(text).to_game()


def _field_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a definition that are neither comments nor its frame, with their numbers."""
    for number, line in enumerate(text.split("\n"), 1):
        lower = line.lower()
        if lower.startswith("end gamedef"):
            break
        if line.strip() and line[0] != "#" and not lower.startswith("gamedef"):
            yield number, line


def _read_fields(text: str) -> _Fields:
    fields = _Fields()
    for _, line in _field_lines(text):
        lower = line.lower()
        for key in ("limit", "nolimit"):
            if lower.startswith(key):
                fields.betting = BettingType(key)
        for key, most in _LIST_SIZES.items():
            if lower.startswith(key):
                fields.read_list(key, line, most)
        for key in fields.numbers:
            if lower.startswith(key):
                fields.read_number(key, line)
    return fields


def _scan_values(line: str, start: int, most: int) -> list[int]:
    values: list[int] = []
    while len(values) < most:
        while start < len(line) and (line[start] == "=" or line[start].isspace()):
            start += 1
        scanned = scan_integer(line, start)
        if scanned is None:
            break
        values.append(scanned[0])
        start = scanned[1]
    return values


_KEY = re.compile(r"([a-z]*)[\s=]*", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")


def _line_problems(text: str, game: Game | None) -> list[str]:
    """The lines of a definition of which anything is skipped or changed when it is read, each with the reason.

    Args:
        game: what the definition is read as; None if it cannot be played.
    """
    problems = []
    first_lines: dict[str, int] = {}
    for number, line in _field_lines(text):
        content = line.partition("#")[0]
        key = _KEY.match(content)
        assert key is not None
        name = key[1].lower()
        words = [word for word in re.split(r"[\s=]+", content[key.end() :]) if word]
        problem = _line_problem(name, words, game)
        kind = "limit" if name == "nolimit" else name
        if problem is None and kind in first_lines:
            problem = f"repeats line {first_lines[kind]}"
        first_lines.setdefault(kind, number)
        if problem is not None:
            problems.append(f"line {number}: {quoted(line.strip())} {problem}")
    more = len(problems) - _MAX_LINES_NAMED
    if more <= 0:
        return problems
    return [*problems[:_MAX_LINES_NAMED], f"and {more} more"]


def _line_problem(name: str, words: Sequence[str], game: Game | None) -> str | None:
    """What of a line is skipped or changed when it is read."""
    if name in ("limit", "nolimit"):
        if words:
            return "has values, which are not read"
        return None
    if name not in (*_NUMBERS, *_LIST_SIZES):
        return "is not played"
    if not words:
        return "has no value"
    wrong = next((word for word in words if not _WHOLE_NUMBER.fullmatch(word)), None)
    if wrong is not None:
        return f"has a value that is not a whole number: {quoted(wrong)}"
    is_wide = name in ("stack", "blind", "raisesize")
    values = [int(word[:_MAX_DIGITS]) for word in words]
    read = [wrap_int32(value) if is_wide else wrap_uint8(value) for value in values]
    if read != values:
        return f"is read in {32 if is_wide else 8} bits: {', '.join(map(str, read))}"
    if game is None:
        return None
    if name == "raisesize" and not game.is_limit:
        return "is not played in a no-limit game"
    max_values = 1
    if name in ("stack", "blind"):
        max_values = game.num_players
    elif name in _LIST_SIZES:
        max_values = game.num_rounds
    if len(values) > max_values:
        return f"has {len(values)} values, of which the game takes {max_values}"
    return None


def format_game_definition(game: Game) -> str:
    """Write a game as a definition that reads back to an equal game."""

    def joined(values: tuple[int, ...]) -> str:
        return " ".join(map(str, values))

    lines = ["GAMEDEF", game.betting.value, f"numPlayers = {game.num_players}", f"numRounds = {game.num_rounds}"]
    lines += [f"stack = {joined(game.stacks)}", f"blind = {joined(game.blinds)}"]
    if game.is_limit:
        lines.append(f"raiseSize = {joined(game.raise_sizes)}")
    lines += [
        f"firstPlayer = {joined(tuple(first + 1 for first in game.first_players))}",
        f"maxRaises = {joined(game.max_raises)}",
        f"numSuits = {game.num_suits}",
        f"numRanks = {game.num_ranks}",
        f"numHoleCards = {game.num_hole_cards}",
        f"numBoardCards = {joined(game.num_board_cards)}",
        "END GAMEDEF",
    ]
    return "\n".join(lines) + "\n"


@cache
def _shipped() -> tuple[str, ...]:
    return tuple(sorted(name.removesuffix(".game") for name in os.listdir(_FOLDER) if name.endswith(".game")))


def shipped_games() -> list[str]:
    """Full names of the games that come with the arena, sorted."""
    return list(_shipped())


def find_game(name: str, *, as_reference: bool = False) -> tuple[str, Game]:
    """The game meant by a short name, the beginning of a full name, or the path of a definition file.

    Args:
        as_reference: skip unknown lines and values of a file as the reference does, instead of refusing them; for
            games that another program deals or has dealt.

    Returns:
        its canonical name and the game: a shipped game's full name; of another, the name of its file.

    Raises:
        GameDefinitionError: there is no such game, the name fits several, or the file is no playable definition.
    """
    games = shipped_games()
    if os.path.isfile(name) or (name.endswith(".game") and name.removesuffix(".game") not in games):
        return os.path.basename(name), _load_file(name, as_reference=as_reference)
    full = resolve_game_name(name, games)
    if full is None:
        from engine.text import meant

        if (near := meant(name, SHORT_NAMES)) is not None:
            raise GameDefinitionError(name, f"no such game or file; did you mean {near!r}?")
        raise GameDefinitionError(
            name,
            f"no such game or file; games by short name: {', '.join(SHORT_NAMES)}; or give the path of a .game file",
        )
    return full, _load_shipped(full)


def game_file(name: str) -> str:
    """The path of the definition that `find_game` reads."""
    if os.path.isfile(name):
        return name
    return os.path.join(_FOLDER, f"{find_game(name)[0]}.game")


def name_of(game: Game) -> str:
    """The canonical name of a shipped game; empty for any other."""
    return next((name for name in shipped_games() if _load_shipped(name) == game), "")


def resolve_game_name(name: str, known: Sequence[str]) -> str | None:
    """The canonical name that a person means by it, by its short name or by its beginning; None if there is none.

    Raises:
        GameDefinitionError: the beginning fits several.
    """
    if name in known:
        return name
    asked = name.lower().removesuffix(".game")
    full = SHORT_NAMES.get(asked, asked)
    short = short_name(asked)

    def fitting(fits: Callable[[str], bool]) -> list[str]:
        return [one for one in known if fits(one.lower().removesuffix(".game"))]

    found = (
        fitting(lambda base: base in (full, short))
        or fitting(lambda base: base.startswith(full + "."))
        or fitting(lambda base: full != "" and base.startswith(full))
    )
    if len(found) > 1:
        raise GameDefinitionError(name, f"fits several games: {', '.join(found)}")
    if found:
        return found[0]
    return None


def short_name(name: str) -> str:
    """The name to show for a canonical one: of a shipped game what people type, else the name itself."""
    return _BY_FULL_NAME.get(name, name)


@cache
def _load_shipped(full_name: str) -> Game:
    return _load_file(os.path.join(_FOLDER, f"{full_name}.game"), as_reference=True)


def _load_file(path: str, *, as_reference: bool) -> Game:
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise GameDefinitionError(path, f"cannot read the game definition: {error.strerror}") from None
    except ValueError as error:
        raise GameDefinitionError(repr(path), f"cannot be the name of a file: {error}") from None
    if len(content) > _MOST_BYTES:
        raise GameDefinitionError(path, "too large for a game definition")
    text = content.decode("latin-1")
    if not as_reference:
        text = text.removeprefix(_BYTE_ORDER_MARK)
    try:
        game = parse_game_definition(text)
    except GameError as error:
        raise GameDefinitionError(path, "; ".join([str(error), *_line_problems(text, None)])) from None
    if not as_reference and (problems := _line_problems(text, game)):
        advice = "Correct the file, or deal with acpc-dealer, which reads it as the reference does"
        raise GameDefinitionError(path, f"{', '.join(problems)}. {advice}")
    return game
