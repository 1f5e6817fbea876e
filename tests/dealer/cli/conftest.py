"""What the tests of the command line share: running ``arena`` as a program, in a folder of its own."""

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


class Ran(NamedTuple):
    """What a command left: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one line on standard error that says what is wrong."""
        (line,) = self.err.splitlines()
        assert self.out == ""
        assert line.startswith("arena: ")
        return line.removeprefix("arena: ")


Arena = Callable[..., Ran]


class _Window(Terminal):
    """A terminal whose output is looked at, whatever standard output is."""

    def write_results_to(self, stream: TextIO) -> None:
        pass


def window(width: int, *, is_terminal: bool = True) -> tuple[Terminal, io.StringIO]:
    """A terminal whose window is so wide, without colours, and what it shows on both streams."""
    shown = io.StringIO()
    terminal = _Window()
    # Without a height rich takes a dumb terminal, as the programs of the tests have it, for one of 80 columns.
    size = {"width": width, "height": 25}
    terminal.out, terminal.err = (
        Console(file=shown, **size, force_terminal=is_terminal, color_system=None, highlight=False, soft_wrap=True)
        for _ in range(2)
    )
    return terminal, shown


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """A function that runs ``arena`` with arguments. No output that is not a terminal's holds control codes."""

    def run(*arguments: str, **env: str) -> Ran:
        program = start([*ARENA, *arguments], cwd=tmp_path, env=program_env(**env))
        try:
            out, err = program.communicate(timeout=PATIENCE_S)
        finally:
            program.kill()
        for stream in (out, err):
            assert not CONTROL_CODES.search(stream.replace(b"\r\n", b"\n")), stream
        return Ran(program.wait(), out.decode(), err.decode())

    return run


@pytest.fixture(scope="session")
def finished_runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function from the arguments of `arena play` to the folder it left, played once; for reading only."""

    @functools.cache
    def play(*arguments: str) -> Path:
        folder = tmp_path_factory.mktemp("finished")
        program = start([*ARENA, *arguments, "--out", "run"], cwd=folder, env=program_env())
        out, err = program.communicate(timeout=PATIENCE_S)
        assert (program.wait(), err) == (0, b""), (out, err)
        return folder / "run"

    return play


@functools.cache
def _command(names: tuple[str, ...]) -> Any:
    return get_command(application(names))


@contextlib.contextmanager
def _kept_loggers() -> Iterator[None]:
    """Leave our loggers and the root as they were: a command shows its log for the rest of its process."""
    before = [(logger, logger.level, logger.handlers[:]) for logger in map(logging.getLogger, ("", *PACKAGES))]
    try:
        yield
    finally:
        for logger, level, handlers in before:
            logger.setLevel(level)
            logger.handlers[:] = handlers


def run_here(arguments: Sequence[str], typed: str | bytes = "", charset: str = "utf-8") -> Ran:
    """Run ``arena`` within this process, which reads what its commands are only once."""
    command = _command(tuple(commands_for(arguments)))
    with CliRunner(charset=charset).isolation(typed) as (out, err, _), _kept_loggers():
        with pytest.raises(SystemExit) as ended:
            command(args=list(arguments), prog_name="arena")
        sys.stdout.flush()
        sys.stderr.flush()
        printed = [stream.getvalue().decode(charset, "replace").replace("\r\n", "\n") for stream in (out, err)]
    return Ran(int(ended.value.code or 0), *printed)


@pytest.fixture
def arena_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Arena:
    """Like `arena`, within this process: faster, for commands that start nothing."""
    enter_program_env(tmp_path, monkeypatch)
    return lambda *arguments: run_here(arguments)
