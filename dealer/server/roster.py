"""Lists of people, as teachers have them: names of any script, from which logins are derived.

A roster is a text of comma-, semicolon- or tab-separated values. A row of headings (`name`, or `first name` and
`last name`, and also `login` and `team`) says where the names are; without one they are in the first column. Lines
before the headings, such as a title, are left out.

    >>> people = read_roster("Course 2026;\\nName;Login\\nZoë Müller;\\nBo;bo7\\n", "course.csv")
    >>> [(person.name, person.login) for person in people]
    [('Zoë Müller', ''), ('Bo', 'bo7')]
    >>> derive_login("Zoë Müller", taken=["zoe.muller"])
    'zoe.muller-2'
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dealer.errors import ConfigError, RefusedError
from dealer.server.server import check_team_name, is_reserved
from dealer.table.players import NAME_RULE, is_name
from engine.errors import quoted

_MAX_NAME_CHARACTERS: Final = 100
_MAX_LOGIN_CHARACTERS: Final = 40
_DELIMITERS: Final = ",;\t"
_NAME, _LOGIN, _TEAM, _FIRST_NAME, _LAST_NAME = "name", "login", "team", "first name", "last name"
# Unicode does not decompose these letters.
_LATIN: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i", "ħ": "h"}
)


@dataclass(frozen=True, slots=True)
class Person:
    """Row of a roster.

    Attributes:
        name: as the roster has it.
        login: name of the user; empty to derive one.
        team: name of the team; empty for none.
        line: 1-based line of the roster.
        column: 1-based column of the name in it.
    """

    name: str
    login: str = ""
    team: str = ""
    line: int = 0
    column: int = 0


def read_roster_file(path: Path) -> tuple[Person, ...]:
    """Read a file in UTF-8 or, with its mark, in UTF-16.

    Raises:
        ConfigError: it cannot be read, or is no roster; the sentence has line and column.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(error.strerror or str(error), source=str(path)) from None
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise ConfigError(
            f"line {line}, byte {column}: not UTF-8 text; save the file as CSV in UTF-8", source=str(path)
        ) from None
    return read_roster(text, str(path))


def read_roster(text: str, source: str) -> tuple[Person, ...]:
    """Read a roster.

    Args:
        source: name of the text in errors.

    Raises:
        ConfigError: the text is no roster; the sentence has line and column.
    """
    rows = _read_rows(text, source)
    head, columns = _find_headings(rows)
    people: list[Person] = []
    for line, cells in rows[head:]:
        person = _read_person(line, cells, columns, source)
        for other in people:
            is_same_login = person.login and person.login == other.login
            if is_same_login or (person.name == other.name and not (person.login and other.login)):
                place = f"line {line}, column {person.column}"
                word = quoted(person.login or person.name)
                remedy = "give them different logins in a column 'login', or leave one out"
                raise ConfigError(f"{place}: {word} is in line {other.line} already; {remedy}", source=source)
        people.append(person)
    if not people:
        raise ConfigError("there is no name in it", source=source)
    return tuple(people)


def _read_rows(text: str, source: str) -> list[tuple[int, list[str]]]:
    """Split a text into the lines that have text, each with its number and its cells."""
    first_lines = text.splitlines()[:20]
    delimiter = max(_DELIMITERS, key=lambda character: sum(line.count(character) for line in first_lines))
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            cells = [" ".join(cell.split()) for cell in row]
            if any(cells):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise ConfigError(f"line {reader.line_num}: {error}", source=source) from None
    return rows


def _find_headings(rows: list[tuple[int, list[str]]]) -> tuple[int, dict[str, int]]:
    """Return the index of the first row of a person, and the columns by heading."""
    for index, (_, cells) in enumerate(rows[:10]):
        words = [cell.casefold() for cell in cells]
        if _NAME in words or (_FIRST_NAME in words and _LAST_NAME in words):
            headings = (_NAME, _LOGIN, _TEAM, _FIRST_NAME, _LAST_NAME)
            return index + 1, {word: words.index(word) for word in headings if word in words}
    # A title has its text in one cell of a table that has more.
    is_table = any(sum(map(bool, cells)) > 1 for _, cells in rows)
    if is_table and len(rows) > 1 and sum(map(bool, rows[0][1])) == 1:
        return 1, {_NAME: 0}
    return 0, {_NAME: 0}


def _read_person(line: int, cells: list[str], columns: Mapping[str, int], source: str) -> Person:
    def cell(heading: str) -> str:
        index = columns.get(heading, len(cells))
        return cells[index] if index < len(cells) else ""

    if _NAME in columns:
        name, column = cell(_NAME), columns[_NAME] + 1
    else:
        name, column = f"{cell(_FIRST_NAME)} {cell(_LAST_NAME)}".strip(), columns[_FIRST_NAME] + 1
    login = cell(_LOGIN)
    team = cell(_TEAM)
    problem = ""
    if not name:
        problem = "there is no name"
    elif len(name) > _MAX_NAME_CHARACTERS or not name.isprintable():
        problem = (
            f"{quoted(name, 60)} cannot be a name: it has more than {_MAX_NAME_CHARACTERS} characters, or controls"
        )
    elif login and (refusal := login_refusal(login)):
        column, problem = columns[_LOGIN] + 1, refusal
    elif team and (refusal := _team_refusal(team)):
        column, problem = columns[_TEAM] + 1, refusal
    if problem:
        raise ConfigError(f"line {line}, column {column}: {problem}", source=source)
    return Person(name, login, team, line, column)


def _team_refusal(name: str) -> str:
    try:
        check_team_name(name)
    except RefusedError as error:
        return str(error)
    return ""


def login_refusal(name: str) -> str:
    """Reason that no user can have a name, as a clause; empty if one can."""
    if not is_name(name):
        return f"no user can be called {quoted(name, 100)}: {NAME_RULE}"
    if is_reserved(name):
        return f"no user can be called {name}: the name is reserved for the server; choose another"
    return ""


def derive_login(name: str, taken: Collection[str]) -> str:
    """Derive a login from a person's name: its letters without accents, in lower case, else ``user-1`` and so on.

    A name that can be a login is kept.

    Args:
        taken: logins of others.
    """
    if is_name(name):
        login = name
    else:
        letters = unicodedata.normalize("NFKD", name.lower().translate(_LATIN))
        plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
        login = re.sub(r"[^a-z0-9-]+", ".", plain).strip(".-")[:_MAX_LOGIN_CHARACTERS].rstrip(".-")
    if not login:
        return next(user for number in itertools.count(1) if (user := f"user-{number}") not in taken)
    if login not in taken and not is_reserved(login):
        return login
    for number in itertools.count(2):
        if (numbered := f"{login}-{number}") not in taken:
            break
    return numbered


def assign_logins(people: Collection[Person], known: Mapping[str, str]) -> dict[Person, str]:
    """Assign a login to each person of a roster; known people keep theirs.

    Args:
        known: names of people by login; empty for a user who was created by a login alone.
    """
    by_name = {name: login for login, name in known.items() if name}
    taken = {*known, *(person.login for person in people if person.login)}
    logins = {}
    for person in people:
        if person.login:
            login = person.login
        elif person.name in by_name:
            login = by_name[person.name]
        elif not known.get(person.name, "other"):
            # A user who was created by this login.
            login = person.name
        else:
            login = derive_login(person.name, taken)
        taken.add(login)
        logins[person] = login
    return logins


def members_by_team(logins: Mapping[Person, str]) -> dict[str, list[str]]:
    """Return the logins of each team's members, from those of all people."""
    teams: dict[str, list[str]] = {}
    for person, login in logins.items():
        if person.team:
            teams.setdefault(person.team, []).append(login)
    return teams
