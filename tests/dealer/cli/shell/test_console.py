"""Printed sentences, and errors of every package and of the system."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dealer.cli.conftest import Arena, window

SENTENCE = "Files of this run are in runs/20260101-120000-a-bot-with-a-very-long-name-vs-another, as ever."


def test_sentences_end_their_lines_between_words_in_a_window() -> None:
    terminal, out = window(40)
    terminal.sentence(SENTENCE)
    terminal.note(SENTENCE)
    lines = out.getvalue().splitlines()
    assert lines[0] == "Files of this run are in"
    assert " ".join(lines) == f"{SENTENCE} {SENTENCE}"
    assert all(len(line) <= 40 or " " not in line for line in lines)


def test_error_is_wrapped_but_its_quotations_are_not() -> None:
    terminal, out = window(40)
    terminal.error(f"{'word ' * 8}end\n    a line that somebody else wrote and that stays as it is")
    first, *_, last = out.getvalue().splitlines()
    assert first.endswith("arena: word word word word word word")
    assert last == "    a line that somebody else wrote and that stays as it is"


def test_sentence_is_one_line_outside_a_terminal() -> None:
    terminal, out = window(40, is_terminal=False)
    terminal.sentence(SENTENCE)
    terminal.note(SENTENCE)
    assert out.getvalue() == f"{SENTENCE}\n" * 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("stats", "x.log", "--game", "nogame"), "nogame: no such game or file"),
        (("report", "x.log", "--game", "holdem"), "holdem: fits several games"),
        (("crosstable", "x" * 300), "cannot be read: File name too long"),
        (("gate", "deep.json", "--min-mbb", "0"), "deep.json: not valid JSON"),
        (("play", "--config", "deep.toml"), "deep.toml: "),
    ],
)
def test_error_is_one_sentence(arena_here: Arena, tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "deep.toml").write_text("a = " + "[" * 3000)
    result = arena_here(*arguments)
    assert result.code == 2
    assert sentence in result.sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("play", "--sed", "1"), "no such option: --sed; did you mean '--seed'?"),
        (("play", "--nothing"), "no such option: --nothing; see 'arena play -h'"),
        (("play", "--seed"), "option '--seed' requires an argument"),
        (("play", "--watch=1"), "option '--watch' does not take a value"),
        (("play", "--seed", "x"), "--seed: must be a whole number, not 'x'"),
        (("stats",), "RUN|LOG... is missing; see 'arena stats -h'"),
        (("stats", "log", "--chip-value", "x"), "--chip-value: x is not an amount above 0 with at most 6 decimals"),
        (("show", "run", "more"), "unexpected argument 'more'; see 'arena show -h'"),
        (("nothing",), "no such command 'nothing'; see 'arena -h'"),
        (("tournamnt",), "no such command 'tournamnt'; did you mean 'tournament'?"),
        (("--nothing",), "no such option: --nothing; see 'arena -h'"),
        (("solve", "nothing"), "no such command 'nothing'; see 'arena solve -h'"),
        (("solve", "kuhn", "--nothing"), "no such option: --nothing; see 'arena solve kuhn -h'"),
    ],
)
def test_wrong_command_line_is_refused(arena_here: Arena, arguments: tuple[str, ...], sentence: str) -> None:
    result = arena_here(*arguments)
    assert (result.code, result.sentence) == (2, sentence)


def test_group_without_a_command_prints_its_help(arena_here: Arena) -> None:
    result = arena_here("solve")
    assert (result.code, result.out, result.err) == (2, arena_here("solve", "-h").out, "")
