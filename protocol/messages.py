"""Messages as lines of named fields: a dataclass says how each of its fields is written.

    @dataclass(frozen=True, slots=True)
    class Again:
        seat: int = about(COUNT, least=0)

    format_fields(Again(5))             # ["seat=5"]
    read_fields(Again, "AGAIN", "seat=5")

A value is a word; of a field of the kind `REST`, which is the last, the rest of the line. Fields come in any order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from protocol.errors import LocalProtocolError, RemoteProtocolError

__all__ = ["BLANKS", "COUNT", "FLAG", "REAL_NUMBER", "REST", "WORD", "about", "format_fields", "read_fields"]

BLANKS = re.compile(r"[ \t\n\v\f\r]+")
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_REAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")
_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a value is written."""

    read: Callable[[str], Any]
    write: Callable[[Any], str]


def _read_word(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it has a character that cannot be printed")
    return text


def _read_number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("it is not a whole number")
    return int(text)


def _read_real(text: str) -> float:
    if not _REAL.fullmatch(text):
        raise ValueError("it is not a number")
    return float(text)


def _read_flag(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError("it is neither yes nor no")
    return text == "yes"


def _write_word(value: str) -> str:
    if not value or not value.isprintable() or " " in value:
        raise LocalProtocolError(f"{value[:_MOST_SHOWN]!r} is not a word")
    return value


def _write_rest(value: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in value).strip()


WORD = _Kind(_read_word, _write_word)
COUNT = _Kind(_read_number, str)
REAL_NUMBER = _Kind(_read_real, lambda value: f"{value:.3f}")
FLAG = _Kind(_read_flag, lambda value: "yes" if value else "no")
REST = _Kind(_read_word, _write_rest)


def about(kind: _Kind, name: str = "", *, is_many: bool = False, least: int | None = None, **more: Any) -> Any:
    """A field of a message.

    Args:
        kind: how its value is written.
        name: how the field is called in a line, where that is not its name.
        is_many: whether it is a tuple, each of whose values is written by itself.
        least: the least number it can be.
        more: as in `dataclasses.field`.
    """
    return field(metadata={"kind": kind, "name": name, "is_many": is_many, "least": least}, **more)


def _name(one: Field[Any]) -> str:
    return one.metadata["name"] or one.name


def format_fields(message: Any) -> list[str]:
    """The fields of a message as words; the last may be several.

    Raises:
        LocalProtocolError: a value is not a word.
    """
    words = []
    for one in fields(message):
        value, kind = getattr(message, one.name), one.metadata["kind"]
        if kind is REST:
            rest = kind.write(value)
            words += [f"{_name(one)}={rest}"] if rest else []
        elif value is not None:
            values = value if one.metadata["is_many"] else (value,)
            words += [f"{_name(one)}={kind.write(each)}" for each in values]
    return words


def read_fields(kind: type, verb: str, text: str) -> Any:
    """A message from its fields.

    Args:
        kind: its class. verb: its word, for what is said of faults.
        text: what follows the word.

    Raises:
        RemoteProtocolError: something is wrong with a field; the sentence says what.
    """
    known = {_name(one): one for one in fields(kind)}
    found: dict[str, Any] = {}
    while text := text.strip(" \t\r\n\v\f"):
        name, is_there, value = text.partition("=")
        about = known.get(name)
        if not is_there or about is None:
            word = BLANKS.split(text)[0]
            raise _error(f"{verb} has no {_shown(word)}; it has {', '.join(f'{name}=' for name in known)}")
        if about.metadata["kind"] is REST:
            value, text = value, ""
        else:
            value, *others = BLANKS.split(value, maxsplit=1)
            text = "".join(others)
        _take(found, about, verb, value)
    for name, about in known.items():
        if about.name not in found and about.default is MISSING:
            raise _error(f"{verb} needs {name}=")
    return kind(**found)


def _take(found: dict[str, Any], about: Field[Any], verb: str, text: str) -> None:
    """Read one field."""
    name = f"{verb}: {_name(about)}={_shown(text)}"
    if not text:
        raise _error(f"{name}: it is empty")
    try:
        value = about.metadata["kind"].read(text)
    except ValueError as error:
        raise _error(f"{name}: {error}") from None
    least = about.metadata["least"]
    if least is not None and value < least:
        raise _error(f"{name}: it must be at least {least}")
    if about.metadata["is_many"]:
        found[about.name] = (*found.get(about.name, ()), value)
    elif about.name in found:
        raise _error(f"{name}: it is there twice")
    else:
        found[about.name] = value


def _error(problem: str) -> RemoteProtocolError:
    return RemoteProtocolError(problem, b"")


def _shown(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:_MOST_SHOWN])
