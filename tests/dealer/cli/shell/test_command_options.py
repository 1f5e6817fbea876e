"""Names of settings as options, and options of all commands."""

from __future__ import annotations

import re

import pytest

from bots.sdk.options import options_of
from dealer.cli.shell.command_options import option_of
from dealer.run.run_settings import RunSettings
from tests.dealer.cli.conftest import Arena
from tests.dealer.cli.test_help import SNAPSHOTS


def test_every_option_named_in_an_error_is_in_the_help() -> None:
    text = "".join((SNAPSHOTS / f"{command}.txt").read_text("utf-8") for command in ("deal", "tournament"))
    words = {option_of(setting.name) for setting in options_of(RunSettings)} - {"", "directory"}
    assert {word for word in words if not re.search(rf"^  (-\w, )?{word}\b", text, re.MULTILINE)} == set()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--stop", "soon"), "--stop: 'soon' is not a stop rule"),
        (("--workers", "0"), "--workers: must be at least 1, not 0"),
        (("--in-process", "--on-fault", "restart"), "--on-fault: a bot that plays in process cannot be restarted"),
        (("--stop", "20", "-n", "10"), "--deals: 10 contradicts the stop rule '20'; give one of them"),
        (("--permutations",), "--permutations: 10 players can sit in 3,628,800 orders"),
    ],
)
def test_refusal_names_the_option(arena_here: Arena, arguments: tuple[str, ...], sentence: str) -> None:
    game = ("holdem.limit.10p", *["calling"] * 10) if arguments == ("--permutations",) else ("kuhn",)
    result = arena_here("play", *game, *arguments)
    assert result.code == 2
    assert result.sentence.startswith(sentence)


def test_verbose_shows_the_log(arena_here: Arena) -> None:
    quiet = arena_here("play", "kuhn", "calling", "random", "-n", "2", "-q")
    verbose = arena_here("play", "kuhn", "calling", "random", "-n", "2", "-q", "-v")
    assert (quiet.code, quiet.err, verbose.code) == (0, "", 0)
    assert "connected" in verbose.err
    assert len(verbose.out.splitlines()) == 1
