"""Fixtures that run ``arena``, as a program or in this process, each in its own folder."""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pytest
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

from dealer.cli import commands_for
from dealer.cli.shell.app import application
from dealer.cli.shell.console import Terminal
from tests.dealer.helpers import ARENA, CONTROL_CODES, PATIENCE_S, enter_program_env, program_env
from tests.programs import start
from tests.style import PACKAGES


class CommandResult(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """Sentence of an error, the only line of output."""
        (line,) = self.err.splitlines()
        assert self.out == ""
        assert line.startswith("arena: ")
        return line.removeprefix("arena: ")


Arena = Callable[..., CommandResult]


class _Window(Terminal):
    """Terminal that keeps its consoles when standard output is redirected."""

    def write_results_to(self, stream: TextIO) -> None:
        pass


def window(width: int, *, is_terminal: bool = True) -> tuple[Terminal, io.StringIO]:
    """Terminal of this width without colours, and the text of both its streams."""
    output = io.StringIO()
    terminal = _Window()
    # Without a height rich uses 80 columns for a dumb terminal, which the programs of the tests have.
    size = {"width": width, "height": 25}
    terminal.out, terminal.err = (
        Console(file=output, **size, force_terminal=is_terminal, color_system=None, highlight=False, soft_wrap=True)
        for _ in range(2)
    )
    return terminal, output


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Function that runs ``arena`` with arguments and checks that the output has no control codes."""

    def run(*arguments: str, **env: str) -> CommandResult:
        program = start([*ARENA, *arguments], cwd=tmp_path, env=program_env(**env))
        try:
            out, err = program.communicate(timeout=PATIENCE_S)
        finally:
            program.kill()
        for stream in (out, err):
            assert not CONTROL_CODES.search(stream.replace(b"\r\n", b"\n")), stream
        return CommandResult(program.wait(), out.decode(), err.decode())

    return run


@pytest.fixture(scope="session")
def finished_runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Function from arguments of `arena play` to the folder of the run, cached, which tests must not change."""

    @functools.cache
    def play(*arguments: str) -> Path:
        folder = tmp_path_factory.mktemp("finished")
        program = start([*ARENA, *arguments, "--out", "run"], cwd=folder, env=program_env())
        out, err = program.communicate(timeout=PATIENCE_S)
        assert err == b"", (out, err)
        assert program.wait() == 0, out
        return folder / "run"

    return play


@functools.cache
def _command(names: tuple[str, ...]) -> Any:
    return get_command(application(names))


@contextlib.contextmanager
def _kept_loggers() -> Iterator[None]:
    """Restore loggers afterwards, since a command configures them for the rest of its process."""
    states = [(logger, logger.level, logger.handlers[:]) for logger in map(logging.getLogger, ("", *PACKAGES))]
    try:
        yield
    finally:
        for logger, level, handlers in states:
            logger.setLevel(level)
            logger.handlers[:] = handlers


def run_here(arguments: Sequence[str], typed: str | bytes = "", charset: str = "utf-8") -> CommandResult:
    """Run ``arena`` in this process, with the text that a person types."""
    command = _command(tuple(commands_for(arguments)))
    with CliRunner(charset=charset).isolation(typed) as (out, err, _), _kept_loggers():
        with pytest.raises(SystemExit) as raised:
            command(args=list(arguments), prog_name="arena")
        sys.stdout.flush()
        sys.stderr.flush()
        texts = [stream.getvalue().decode(charset, "replace").replace("\r\n", "\n") for stream in (out, err)]
    return CommandResult(int(raised.value.code or 0), *texts)


@pytest.fixture
def arena_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Arena:
    """Like `arena`, but faster, in this process, for commands that start no programs."""
    enter_program_env(tmp_path, monkeypatch)
    return lambda *arguments: run_here(arguments)
