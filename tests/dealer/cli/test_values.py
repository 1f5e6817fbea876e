"""Wrong values of every numeric option of every command: each error is one sentence of ours."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from dealer.cli import COMMANDS
from dealer.cli.shell.app import application
from tests.dealer.cli.conftest import run_here

_ARGUMENTS = {"gate": ["run", "--min-mbb=0"], "export": ["log"], "stats": ["log"], "report": ["log"], "hands": ["log"]}
"""Arguments that each command needs to parse its options; files are opened after that."""
_THEIRS = ("Input", "Value error", "valid", "parse", "pydantic", "Invalid", "Traceback")


def _numbers(kind: Any) -> set[type]:
    """Types of numbers in an annotation."""
    if get_origin(kind) in (Union, types.UnionType):
        return {number for part in get_args(kind) for number in _numbers(part)}
    return {kind} & {int, float}


@cache
def _numeric_options() -> tuple[tuple[str, str, type, float | None, float | None], ...]:
    """Command, option, type, minimum and maximum of every numeric option."""
    return tuple(_find_numeric_options())


def _find_numeric_options() -> Iterator[tuple[str, str, type, float | None, float | None]]:
    app = application(COMMANDS)
    groups = [("", app), *((f"{group.name} ", group.typer_instance) for group in app.registered_groups)]
    for prefix, group in groups:
        for command in group.registered_commands:
            assert command.callback is not None
            hints = get_type_hints(command.callback, include_extras=True)
            # `arena bot` reads its own arguments; see bots.sdk.client.
            parameters = inspect.signature(command.callback).parameters if command.name != "bot" else {}
            for name, parameter in parameters.items():
                annotation = hints.get(name, parameter.annotation)
                metadata = getattr(annotation, "__metadata__", ())
                about = next((interval for interval in metadata if hasattr(interval, "min")), None)
                kinds = _numbers(getattr(annotation, "__origin__", annotation))
                if about is not None and kinds:
                    flags = [flag for flag in (about.default, *about.param_decls) if str(flag).startswith("--")]
                    option = flags[0] if flags else "--" + name.replace("_", "-")
                    command_name = prefix + (command.name or command.callback.__name__.replace("_", "-"))
                    yield command_name, option, kinds.pop(), about.min, about.max


def _wrong_values() -> Iterator[tuple[str, str, str]]:
    for command, option, kind, least, greatest in _numeric_options():
        wrong = ["", "x", "0x10", "1,5", "9" * 5000] if kind is int else ["", "x", "1,5", "--"]
        wrong += ["nan", "1.5", "inf"] if kind is int else ["nan"] if least is not None else []
        wrong += [] if least is None else [str(least - 1), "-inf"]
        wrong += [] if greatest is None else [str(kind(greatest) + 1), "9" * 300]
        for value in wrong:
            yield command, option, value


def test_options_with_numbers_are_found() -> None:
    commands = {command for command, *_ in _numeric_options()}
    assert {"play", "deal", "tournament", "resume", "gate", "doctor", "export", "bench dealer"} <= commands


@pytest.mark.parametrize("matches", ["", "0", "x", "1,", "-1", "9" * 5000])
def test_numbers_of_matches_are_checked(matches: str) -> None:
    result = run_here(["bench", "dealer", f"--matches={matches}"])
    assert result.code == 2
    assert result.sentence.startswith("--matches: must be whole numbers above 0, separated by commas, not ")


_COMMANDS = sorted({command for command, *_ in _numeric_options()})


@pytest.mark.parametrize("command", _COMMANDS)
def test_wrong_number_is_refused_with_its_option(command: str) -> None:
    """Options with wrong values, which take turns."""
    by_option: dict[str, list[str]] = {}
    for name, option, value in _wrong_values():
        if name == command:
            by_option.setdefault(option, []).append(value)
    wrong_values = [(option, values[index % len(values)]) for index, (option, values) in enumerate(by_option.items())]
    _are_refused(command, wrong_values)


@pytest.mark.slow  # some thousand commands
@pytest.mark.parametrize("command", _COMMANDS)
def test_every_wrong_number_is_refused_with_its_option(command: str) -> None:
    _are_refused(command, [(option, value) for name, option, value in _wrong_values() if name == command])


def _are_refused(command: str, wrong: list[tuple[str, str]]) -> None:
    for option, value in wrong:
        result = run_here([*command.split(), *_ARGUMENTS.get(command, ()), f"{option}={value}"])
        assert (result.code, result.out) == (2, ""), (option, value)
        assert result.err.startswith(f"arena: {option}: must be "), (option, value, result.err)
        assert not [word for word in _THEIRS if word in result.err], result.err
        assert len(result.err) < 200
