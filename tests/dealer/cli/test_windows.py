"""Output of every command in windows of 40 and 80 columns: lines fit, and tables stay tables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Final

import pytest
from rich.cells import cell_len

from dealer.cli import COMMANDS
from tests.dealer.cli.conftest import run_here, window
from tests.dealer.helpers import enter_program_env

WIDTHS: Final = (40, 80)
RUNS: Final = {
    "kuhn": "play kuhn A=calling B=random -n 100 --seed 3 --in-process --quiet",
    "limit": "play limit calling random -n 30 --seed 3 --in-process --quiet",
    "six": "play nolimit6 A=calling B=random C=raising D=folding E=random F=calling -n 1 --seed 1 --in-process --quiet",
    "four": "tournament kuhn calling raising folding random -n 20 --seed 3 --in-process --quiet",
}
"""Arguments of the runs that commands read, by folder."""
QUICK: Final = (
    "runs .",
    "show kuhn",
    "show four",
    "show six",
    "games",
    "stats six --full",
    "luck kuhn",
    "leaks kuhn --player B",
    "leaks limit --player random",
    "hands kuhn --worst 2",
    "hands limit --hand 7",
    "export limit --format phh --out phh --force",
    "crosstable four --format csv",
    "gate limit --player calling --min-mbb 0",
    "bots",
    "bots cfr",
    "doctor --list",
    "doctor calling --game kuhn --situation folds --situation all-in",
    "bench bot calling --game kuhn --deals 5",
    "equity AhKd QQ --board 2h7dTc",
    "exploit exact kuhn random",
    "solve kuhn --algorithm cfr+ --iterations 20",
    "evolve kuhn genes --fitness exact --population 101 --generations 2 --repeat 2",
)
SLOW: Final = (
    "play kuhn calling random -n 20 --seed 3 --in-process",
    "tournament kuhn calling raising random -n 20 --seed 3 --in-process",
    "benchmark folding -n 20 --in-process",
    "resume kuhn -n MORE",
    "stats limit",
    "exploit exact kuhn3 calling",
    "solve game kuhn-depth",
    "claims kuhn",
    "solve kuhn3 --iterations 10",
    "play limit mfs rembrant -n 200 --seed 3",
    "play nolimit A=mfs B=rembrant -n 200 --seed 3 --stop ci=500",
    "tournament limit mfs rembrant raising random lp -n 100 --seed 3 --in-process",
    "equity AhKd --players 3 --trials 2000",
    "exploit bound limit calling --hands 400",
    "leaks limit --player random --compare calling",
    "solve preflop --as-published",
    "solve leduc",
    "evolve kuhn coevolved --opponent coevolution --population 101 --generations 3 --repeat 2",
    "doctor random",
    "report kuhn --out report.html --force",
    "train cfr trained --game kuhn --losses 0 --iterations 70",
)
WITHOUT_TABLES: Final = ("table", "deal", "replay", "watch", "bot", "join", "mcp", "serve", "warmup")
"""Commands without tables in these tests: they wait for other programs or print computed values, and `warmup` prints
its table only once on a machine."""
_WHOLE: Final = ("    arena resume ", "It plays as ")
"""Beginnings of lines with commands to copy, which may be longer."""
_MORE: Final = count(121)
"""Increasing numbers of deals."""
_CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|.*\r(?!\n)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("windows")
    with pytest.MonkeyPatch.context() as patch:
        enter_program_env(path, patch)
        for name, command in RUNS.items():
            _printed(f"{command} --out {name}", 80)
        yield path


def _printed(command: str, width: int | None) -> list[str]:
    """Lines that a command prints in a window, or into a pipe."""
    words = [str(next(_MORE)) if word == "MORE" else word for word in shlex.split(command)]
    terminal, screen_text = window(width or 400, is_terminal=width is not None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dealer.cli.shell.commands.Terminal", lambda command: terminal)
        result = run_here(words)
    assert result.code in (0, 1, 3), screen_text.getvalue()
    assert "arena: " not in screen_text.getvalue()
    return _CONTROL.sub("", screen_text.getvalue()).splitlines()


def _heads(lines: list[str]) -> list[list[str]]:
    """Titles of the columns of each table."""
    rules = [index for index, line in enumerate(lines) if re.fullmatch("  ─+", line)]
    return [re.split(r"\s{2,}", lines[index - 1].strip()) for index in rules]


def _is_part(titles: list[str], of: list[str]) -> bool:
    """Return whether titles are a subsequence of others; a title with an ellipsis matches any with its beginning."""
    left = iter(of)
    return all(any(other == title or other.startswith(title.rstrip("…")) for other in left) for title in titles)


def _check(command: str) -> None:
    whole = _heads(_printed(command, None))
    for width in WIDTHS:
        lines = _printed(command, width)
        wide = [line for line in lines if cell_len(line) > width]
        assert not [line for line in wide if " " in line.strip() and not line.startswith(_WHOLE)], width
        blank = [not line.strip() for line in lines]
        assert not any(first and second for first, second in pairwise(blank)), (width, lines)
        assert not blank[0]
        assert not blank[-1]
        heads = _heads(lines)
        assert len(heads) == len(whole), width
        for titles, of in zip(heads, whole, strict=True):
            assert _is_part(titles, of), (width, titles, of)


@pytest.mark.parametrize("command", QUICK)
def test_output_fits_the_window(folder: Path, command: str) -> None:
    _check(command)


@pytest.mark.slow
@pytest.mark.parametrize("command", SLOW)
def test_output_of_a_further_command_fits_the_window(folder: Path, command: str) -> None:
    _check(command)


def test_every_command_is_listed() -> None:
    assert {command.split()[0] for command in (*QUICK, *SLOW)} | {*WITHOUT_TABLES} == set(COMMANDS)


@pytest.mark.parametrize(
    "command",
    ["hands kuhn --worst 3", "leaks kuhn --player B", "exploit exact kuhn random", "exploit exact kuhn3 random"],
)
def test_cards_of_kuhn_have_no_suit(folder: Path, command: str) -> None:
    text = "\n".join(_printed(command, None))
    assert not re.search(r"\b[2-9TJQKA][cdhs]\b|[♣♦♥♠]", text)
    assert re.search(r"\b[JQK]\b", text)
