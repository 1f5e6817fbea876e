"""Progress line of a long computation."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from dealer.cli.shell import progress as module
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.progress import duration, showing_progress


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def terminal_of(stream: io.StringIO, *, is_terminal: bool) -> Terminal:
    terminal = Terminal()
    terminal.err = Console(file=stream, force_terminal=is_terminal, width=80, highlight=False, color_system=None)
    return terminal


def test_line_has_the_latest_note(clock: Clock) -> None:
    stream = io.StringIO()
    with showing_progress(terminal_of(stream, is_terminal=False), "counting") as show:
        show(0.0, lambda: "never made")
        clock.now_s += 15
        show(0.5, lambda: "3 found")
        clock.now_s += 15
        show(None, "4 found")
    assert stream.getvalue() == "counting: 50%, 15 s left, 3 found\ncounting: 30 s so far, 4 found\n"


def test_line_is_redrawn_on_a_terminal_and_removed(clock: Clock) -> None:
    stream = io.StringIO()
    with showing_progress(terminal_of(stream, is_terminal=True), "counting") as show:
        show(0)
        assert stream.getvalue() == ""
        clock.now_s += 3
        show(0.25)
        assert "counting: 25%, 9 s left" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")


def test_line_is_printed_now_and_then_outside_a_terminal(clock: Clock) -> None:
    stream = io.StringIO()
    with showing_progress(terminal_of(stream, is_terminal=False), "counting") as show:
        for second in range(25):
            clock.now_s = 100.0 + second
            show(second / 40)
    assert stream.getvalue() == "counting: 25%, 30 s left\ncounting: 50%, 20 s left\n"


def test_work_of_an_earlier_command_does_not_count(clock: Clock) -> None:
    stream = io.StringIO()
    with showing_progress(terminal_of(stream, is_terminal=False), "counting") as show:
        clock.now_s += 5
        show(0.5)
        clock.now_s += 10
        show(0.75)
    assert stream.getvalue() == "counting: 75%, 10 s left\n"


def test_time_so_far_replaces_an_unknown_rest(clock: Clock) -> None:
    stream = io.StringIO()
    with showing_progress(terminal_of(stream, is_terminal=False), "solving") as show:
        for second in range(15):
            clock.now_s = 100.0 + second
            show(None)
    assert stream.getvalue() == "solving: 10 s so far\n"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min 01 s"), (3599.9, "1 h 00 min"), (7322, "2 h 02 min")]
)
def test_times_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words
