"""Game definitions in the ACPC's ``.game`` format, and the games shipped with the arena.

The format is as loose as the reference dealer reads it. A line holds one field, recognised by its beginning in any
case, followed by blanks and ``=`` in any order and by numbers up to the first text that is none. Unknown lines are
skipped, a repeated field replaces the earlier one, and small fields wrap at 8 bits. `parse_game_definition` follows
all of this. `find_game` instead refuses a file from which something would be skipped or changed.
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
    "kuhn-breadth": "kuhn-breadth.nolimit.2p",
    "kuhn-both": "kuhn-both.nolimit.2p",
    "leduc": "leduc.limit.2p",
    "leduc-nolimit": "leduc.nolimit.2p",
}
"""Canonical names of shipped games by the short names that people type."""

_SHORT_BY_FULL_NAME = {full: short for short, full in SHORT_NAMES.items()}
_MAX_FILE_BYTES = 1 << 20
_MAX_LINES_NAMED = 3
_MAX_DIGITS = 40
# U+FEFF in UTF-8, read as latin-1.
_BYTE_ORDER_MARK = "\xef\xbb\xbf"
_FOLDER = os.path.join(os.path.dirname(engine.__file__), "games")

_NUMBERS = ("numplayers", "numrounds", "numsuits", "numranks", "numholecards")
_MAX_VALUES = {
    "stack": MAX_PLAYERS,
    "blind": MAX_PLAYERS,
    "raisesize": MAX_ROUNDS,
    "firstplayer": MAX_ROUNDS,
    "maxraises": MAX_ROUNDS,
    "numboardcards": MAX_ROUNDS,
}
# Chips are 32-bit integers in the reference, and all other fields unsigned bytes.
_CHIP_FIELDS = ("stack", "blind", "raisesize")


class _Fields:
    """Fields of a definition while it is read, by their names in lower case."""

    def __init__(self) -> None:
        self.betting = BettingType.LIMIT
        self.numbers = dict.fromkeys(_NUMBERS, 0)
        # Defaults of the reference. Its loop over the stacks runs to the number of rounds, so only four are set.
        self.lists: dict[str, list[int]] = {
            "stack": [DEFAULT_STACK] * 4,
            "blind": [],
            "raisesize": [],
            "firstplayer": [1] * MAX_ROUNDS,
            "maxraises": [255] * MAX_ROUNDS,
            "numboardcards": [],
        }
        self.counts = {key: len(values) for key, values in self.lists.items()}

    def read_number(self, key: str, line: str) -> None:
        for value in _scan_values(line, len(key), 1):
            self.numbers[key] = wrap_uint8(value)

    def read_list(self, key: str, line: str) -> None:
        wrap = _wrap_for(key)
        values = [wrap(value) for value in _scan_values(line, len(key), _MAX_VALUES[key])]
        # The reference overwrites its array from the front: a shorter line leaves the tail of an earlier one, which
        # counts for the fields that are read without their count.
        tail = self.lists[key][len(values) :]
        self.lists[key] = values + tail
        self.counts[key] = len(values)

    def to_game(self) -> Game:
        num_players = self.numbers["numplayers"]
        num_rounds = self.numbers["numrounds"]
        raise_sizes: tuple[int, ...] = ()
        if self.betting is BettingType.LIMIT:
            raise_sizes = self._values("raisesize", num_rounds)
        return Game(
            betting=self.betting,
            num_players=num_players,
            num_rounds=num_rounds,
            stacks=self._values("stack", num_players),
            blinds=self._values("blind", num_players),
            raise_sizes=raise_sizes,
            # Numbered from 1 in the file.
            first_players=tuple([first - 1 for first in self.lists["firstplayer"][:num_rounds]]),
            max_raises=tuple(self.lists["maxraises"][:num_rounds]),
            num_suits=self.numbers["numsuits"],
            num_ranks=self.numbers["numranks"],
            num_hole_cards=self.numbers["numholecards"],
            num_board_cards=self._values("numboardcards", num_rounds),
        )

    def _values(self, key: str, max_values: int) -> tuple[int, ...]:
        """Return the values that were given, without the tail of an earlier line."""
        return tuple(self.lists[key][: min(max_values, self.counts[key])])


def parse_game_definition(text: str) -> Game:
    """Read a game definition as the reference dealer does.

    Raises:
        GameError: the game cannot be played.
    """
    return _read_fields(text).to_game()


def _field_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines between GAMEDEF and END GAMEDEF that are not comments, with their numbers from 1."""
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
        for key in _MAX_VALUES:
            if lower.startswith(key):
                fields.read_list(key, line)
        for key in _NUMBERS:
            if lower.startswith(key):
                fields.read_number(key, line)
    return fields


def _scan_values(line: str, start: int, max_values: int) -> list[int]:
    values: list[int] = []
    index = start
    while len(values) < max_values:
        while index < len(line) and (line[index] == "=" or line[index].isspace()):
            index += 1
        scanned = scan_integer(line, index)
        if scanned is None:
            break
        value, index = scanned
        values.append(value)
    return values


def _wrap_for(key: str) -> Callable[[int], int]:
    if key in _CHIP_FIELDS:
        return wrap_int32
    return wrap_uint8


_KEY = re.compile(r"([a-z]*)[\s=]*", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")


def _line_problems(text: str, game: Game | None) -> list[str]:
    """Describe the lines of which `parse_game_definition` skips or changes a part.

    Args:
        game: the game, or None if it cannot be played.
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
        # LIMIT and NOLIMIT set the same field.
        field = "limit" if name == "nolimit" else name
        if problem is None and field in first_lines:
            problem = f"repeats line {first_lines[field]}"
        first_lines.setdefault(field, number)
        if problem is not None:
            problems.append(f"line {number}: {quoted(line.strip())} {problem}")
    num_unnamed = len(problems) - _MAX_LINES_NAMED
    if num_unnamed <= 0:
        return problems
    return [*problems[:_MAX_LINES_NAMED], f"and {num_unnamed} more"]


def _line_problem(name: str, words: Sequence[str], game: Game | None) -> str | None:
    """Describe the first value of a line that is skipped or changed; None if all are read as written."""
    if name in ("limit", "nolimit"):
        if words:
            return "has values, which are not read"
        return None
    if name not in _NUMBERS and name not in _MAX_VALUES:
        return "is not played"
    if not words:
        return "has no value"
    for word in words:
        if not _WHOLE_NUMBER.fullmatch(word):
            return f"contains {quoted(word)}, which is not a whole number"
    wrap = _wrap_for(name)
    # int() refuses more than 4300 digits; 40 are too many for any field.
    values = [int(word[:_MAX_DIGITS]) for word in words]
    wrapped = [wrap(value) for value in values]
    if wrapped != values:
        num_bits = 32 if name in _CHIP_FIELDS else 8
        return f"is read as {', '.join(map(str, wrapped))} because values have {num_bits} bits"
    if game is None:
        return None
    if name == "raisesize" and not game.is_limit:
        return "is not played in a no-limit game"
    max_values = 1
    if name in ("stack", "blind"):
        max_values = game.num_players
    elif name in _MAX_VALUES:
        max_values = game.num_rounds
    if len(values) > max_values:
        return f"has {len(values)} values, of which the game takes {max_values}"
    return None


def format_game_definition(game: Game) -> str:
    """Return a definition that reads back to an equal game."""
    lines = [
        "GAMEDEF",
        game.betting.value,
        f"numPlayers = {game.num_players}",
        f"numRounds = {game.num_rounds}",
        f"stack = {_join_values(game.stacks)}",
        f"blind = {_join_values(game.blinds)}",
    ]
    if game.is_limit:
        lines.append(f"raiseSize = {_join_values(game.raise_sizes)}")
    first_players = [first + 1 for first in game.first_players]
    lines += [
        f"firstPlayer = {_join_values(first_players)}",
        f"maxRaises = {_join_values(game.max_raises)}",
        f"numSuits = {game.num_suits}",
        f"numRanks = {game.num_ranks}",
        f"numHoleCards = {game.num_hole_cards}",
        f"numBoardCards = {_join_values(game.num_board_cards)}",
        "END GAMEDEF",
    ]
    return "\n".join(lines) + "\n"


def _join_values(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


@cache
def _shipped_names() -> tuple[str, ...]:
    names = [file.removesuffix(".game") for file in os.listdir(_FOLDER) if file.endswith(".game")]
    return tuple(sorted(names))


def shipped_games() -> list[str]:
    """Return the canonical names of the games shipped with the arena, sorted."""
    return list(_shipped_names())


def find_game(name: str, *, as_reference: bool = False) -> tuple[str, Game]:
    """Find a game by its short name, the beginning of its full name, or the path of a definition file.

    Args:
        as_reference: read a file as the reference dealer does, instead of refusing lines and values that it skips or
            changes. For games that another program deals or has dealt.

    Returns:
        The canonical name, which is the full name of a shipped game and otherwise the name of the file, and the game.

    Raises:
        GameDefinitionError: there is no such game, the name fits several, or the file is not a playable definition.
    """
    games = shipped_games()
    if os.path.isfile(name) or (name.endswith(".game") and name.removesuffix(".game") not in games):
        return os.path.basename(name), _load_file(name, as_reference=as_reference)
    full_name = resolve_game_name(name, games)
    if full_name is None:
        # Imported only after a mistake, to keep the start of bots short.
        from engine.text import closest_word

        suggestion = closest_word(name, SHORT_NAMES)
        if suggestion is not None:
            raise GameDefinitionError(name, f"no such game or file; did you mean {suggestion!r}?")
        raise GameDefinitionError(
            name,
            f"no such game or file; name a .game file or one of {', '.join(SHORT_NAMES)}",
        )
    return full_name, _load_shipped(full_name)


def game_file(name: str) -> str:
    """Return the path of the definition file that `find_game` reads for a name."""
    if os.path.isfile(name):
        return name
    full_name, _ = find_game(name)
    return os.path.join(_FOLDER, f"{full_name}.game")


def shipped_name(game: Game) -> str:
    """Return the canonical name of a shipped game, or an empty text for any other game."""
    for name in shipped_games():
        if _load_shipped(name) == game:
            return name
    return ""


def resolve_game_name(name: str, known: Sequence[str]) -> str | None:
    """Return the canonical name among `known` for a short name or the beginning of a full name, or None.

    Raises:
        GameDefinitionError: the beginning fits several names.
    """
    if name in known:
        return name
    typed = name.lower().removesuffix(".game")
    full = SHORT_NAMES.get(typed, typed)
    short = short_name(typed)
    bases = {game: game.lower().removesuffix(".game") for game in known}
    # A whole first part counts before any beginning: "kuhn" is "kuhn.limit.2p" rather than "kuhn-depth.limit.2p".
    matches = [game for game, base in bases.items() if base in (full, short)]
    if not matches:
        matches = [game for game, base in bases.items() if base.startswith(full + ".")]
    if not matches and full:
        matches = [game for game, base in bases.items() if base.startswith(full)]
    if len(matches) > 1:
        raise GameDefinitionError(name, f"fits several games ({', '.join(matches)})")
    if matches:
        return matches[0]
    return None


def short_name(name: str) -> str:
    """Return the short name of a shipped game, or the same name for any other."""
    return _SHORT_BY_FULL_NAME.get(name, name)


@cache
def _load_shipped(full_name: str) -> Game:
    return _load_file(os.path.join(_FOLDER, f"{full_name}.game"), as_reference=True)


def _load_file(path: str, *, as_reference: bool) -> Game:
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        raise GameDefinitionError(path, f"cannot read the game definition: {error.strerror}") from None
    except ValueError as error:
        # A NUL in the path.
        raise GameDefinitionError(repr(path), f"cannot be the name of a file: {error}") from None
    if len(content) > _MAX_FILE_BYTES:
        raise GameDefinitionError(path, "too large for a game definition")
    text = content.decode("latin-1")
    if not as_reference:
        # Editors on Windows write it. To the reference it makes GAMEDEF an unknown line, which is skipped.
        text = text.removeprefix(_BYTE_ORDER_MARK)
    try:
        game = parse_game_definition(text)
    except GameError as error:
        raise GameDefinitionError(path, "; ".join([str(error), *_line_problems(text, None)])) from None
    if as_reference:
        return game
    problems = _line_problems(text, game)
    if problems:
        remedy = "Correct the file, or deal with acpc-dealer, which reads it as the reference does"
        raise GameDefinitionError(path, f"{', '.join(problems)}. {remedy}")
    return game
