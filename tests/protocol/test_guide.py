"""Examples of the guide and of the package's documentation."""

from __future__ import annotations

import doctest
import inspect
import re
import runpy
from pathlib import Path

import pytest

import engine
import protocol
import protocol.errors
import protocol.session
from protocol import find_game, format_game_definition, parse_game_definition
from protocol.match_state import betting_after

ROOT = Path(__file__).resolve().parents[2]


def test_embedded_dealer_of_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    totals = runpy.run_path(str(ROOT / "examples" / "embedded_dealer.py"))["main"]()
    assert sum(totals) == 0
    assert capsys.readouterr().out == f"the caller {totals[0]:+.0f}, the raiser {totals[1]:+.0f}\n"


DOCS = ROOT / "docs"


def test_the_game_files_that_the_page_shows_are_the_shipped_ones() -> None:
    shown = re.findall(r"(?s)```text\n(GAMEDEF.*?)```", (DOCS / "game-files.md").read_text("utf-8"))
    assert [find_game(name)[1] for name in ("nolimit", "limit")] == [parse_game_definition(text) for text in shown]
    folder = Path(engine.__file__).parent / "games"
    names = ("holdem.nolimit.2p.reverse_blinds", "holdem.limit.2p.reverse_blinds")
    assert [(folder / f"{name}.game").read_text().strip() for name in names] == [text.strip() for text in shown]


def test_the_page_about_game_files_has_every_key() -> None:
    page = (DOCS / "game-files.md").read_text("utf-8")
    written = format_game_definition(find_game("limit")[1]) + "nolimit"
    keys = {line.split()[0] for line in written.splitlines()} - {"GAMEDEF", "END"}
    assert {key for row in re.findall(r"(?m)^\| (`.*?) \|", page) for key in re.findall(r"`(\w+)`", row)} == keys


def test_the_defaults_of_game_files() -> None:
    text = "numPlayers = 3\nnumRounds = 2\nblind = 1 2 0\nraiseSize = 2 4\nnumSuits = 1\nnumRanks = 9\n"
    game = parse_game_definition(f"{text}numHoleCards = 1\nnumBoardCards = 0 1\n")
    assert game.is_limit
    assert (game.stacks, game.first_players, game.max_raises) == ((2**31 - 1,) * 3, (0, 0), (255, 255))


def test_the_sizes_of_no_limit_raises_that_the_page_shows() -> None:
    page = (DOCS / "protocol.md").read_text("utf-8")
    rows = re.findall(r"(?m)^\| (?:`(\S+)`)? ?\| ([01]) \| (.*) \|$", page)
    assert len(rows) == 9
    for betting, position, sizes in rows:
        state = betting_after(find_game("nolimit")[1], betting)
        legal = state.legal_actions()
        shown = f"{legal.raise_min} | {legal.raise_max}" if legal.can_raise else "no raise |"
        assert (state.acting_position, shown) == (int(position), sizes.strip()), betting


def test_the_example_of_the_package() -> None:
    examples = doctest.testmod(protocol)
    assert examples.attempted
    assert not examples.failed


def test_every_event_state_and_error_is_exported() -> None:
    classes = {
        name
        for module in (protocol.session, protocol.errors)
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    assert classes - {"NeedData"} <= set(protocol.__all__)
    assert sorted(protocol.__all__) == sorted(set(protocol.__all__))
    assert all(hasattr(protocol, name) for name in protocol.__all__)
