"""Progress line of a run."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from dealer.cli.shell.console import Terminal
from dealer.cli.shell.contests import RunLine, status_line
from dealer.run.ending import AwaitedPlayer, Wait
from dealer.run.tournament_run import Progress
from logs.estimation import Rate

START = Progress(
    contests=1,
    contests_ended=0,
    hands=0,
    hands_planned=6000,
    deals=0,
    deals_planned=3000,
    hands_per_second=0.0,
    rate=None,
    players=("A", "B"),
    has_stop_rule=False,
    deals_needed=None,
    faults=0,
    awaited=(),
    start_time_left_s=None,
)
ANN = AwaitedPlayer("Ann", "127.0.0.1", 5000, is_remote=True)
IPV6 = AwaitedPlayer("Ann", "::1", 5000, is_remote=True)
BOT = AwaitedPlayer("bot", "127.0.0.1", 5001, is_remote=False)
UNDER_WAY = replace(
    START, hands=1000, deals=500, hands_per_second=500.0, rate=Rate(12.4, 5.2, player="A", opponent="B")
)


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (START, "0/3,000 deals · 0 hands/s"),
        (
            replace(START, awaited=(ANN, BOT), start_time_left_s=29.7),
            "waiting for Ann at 127.0.0.1:5000 and bot at 127.0.0.1:5001, 30 s left",
        ),
        (replace(START, awaited=(IPV6,)), "waiting for Ann at [::1]:5000, without limit"),
        (UNDER_WAY, "500/3,000 deals · 500 hands/s · A over B +12 ± 5 mbb/g · 10 s left"),
        (
            replace(UNDER_WAY, deals=3000, has_stop_rule=True, is_correcting=True),
            "3,000/3,000 deals · 500 hands/s · A over B +12 ± 5 mbb/g · "
            "computing win rates without the luck of the cards",
        ),
        (
            replace(UNDER_WAY, rate=None),
            "500/3,000 deals · 500 hands/s · A over B: no complete duplicate yet · 10 s left",
        ),
        (
            replace(UNDER_WAY, faults=1, awaited=(ANN,)),
            "500/3,000 deals · 500 hands/s · A over B +12 ± 5 mbb/g · 10 s left · 1 fault · "
            "waiting for Ann at 127.0.0.1:5000, without limit",
        ),
        (
            replace(UNDER_WAY, has_stop_rule=True),
            "500/3,000 deals · 500 hands/s · A over B +12 ± 5 mbb/g · deals needed: unknown yet · 10 s left",
        ),
        (
            replace(UNDER_WAY, has_stop_rule=True, deals_needed=617),
            "500/3,000 deals · 500 hands/s · A over B +12 ± 5 mbb/g · about 620 more deals needed · 2 s left",
        ),
        (
            replace(UNDER_WAY, has_stop_rule=True, deals_needed=0),
            "500/3,000 deals · 500 hands/s · A over B +12 ± 5 mbb/g · enough is known · 0 s left",
        ),
        (
            replace(
                UNDER_WAY,
                contests=3,
                contests_ended=1,
                hands_planned=4_000_000,
                deals_planned=2_000_000,
                rate=None,
                players=(),
            ),
            "1/3 contests · 500/2,000,000 deals · 500 hands/s · 2 h 13 min left",
        ),
    ],
)
def test_line_has_hands_time_and_rates_of_a_run(progress: Progress, line: str) -> None:
    assert status_line(progress) == line


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (
            120,
            "500/3,000 deals · 500 hands/s · A over B +12 ± 5 mbb/g · deals needed: unknown yet · 10 s left · 1 fault",
        ),
        (100, "500/3,000 deals · A over B +12 ± 5 mbb/g · deals needed: unknown yet · 10 s left · 1 fault"),
        (80, "500/3,000 deals · A over B +12 ± 5 mbb/g · 10 s left · 1 fault"),
        (60, "500/3,000 deals · A over B +12 ± 5 mbb/g · 10 s left"),
        (40, "500/3,000 deals · 10 s left"),
        (20, "500/3,000 deals"),
    ],
)
def test_narrow_window_drops_the_least_important_parts(width: int, line: str) -> None:
    assert status_line(replace(UNDER_WAY, has_stop_rule=True, faults=1), width) == line


def test_late_players_come_first() -> None:
    waits = (Wait(12.4, "Never", 0), Wait(3.0, "Late", None))
    assert status_line(replace(START, waits=waits)) == "waiting for Never for 12 s (hand 0) · 0/3,000 deals · 0 hands/s"
    absent = replace(UNDER_WAY, awaited=(ANN,), waits=(Wait(3.0, "Ann", None),))
    assert status_line(absent) == status_line(replace(absent, waits=()))
    tournament = replace(START, contests=3, waits=waits[1:])
    line = "waiting for Late for 3 s to connect · 0/3 contests · 0/3,000 deals · 0 hands/s"
    assert status_line(tournament) == line


def test_wait_is_printed_now_and_then_outside_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.cli.shell.progress._PLAIN_EVERY_S", -1.0)
    terminal = Terminal()
    terminal.err = Console(file=io.StringIO(), width=200)
    with RunLine(terminal, is_silent=False) as line:
        for waited_s in (12.0, 12.1, 22.0):
            line.show(replace(START, waits=(Wait(waited_s, "Never", 0),)))
    assert isinstance(terminal.err.file, io.StringIO)
    assert [text.partition(" · ")[0] for text in terminal.err.file.getvalue().splitlines()] == [
        "waiting for Never for 12 s (hand 0)",
        "waiting for Never for 22 s (hand 0)",
    ]


def test_note_is_printed_once() -> None:
    terminal = Terminal()
    terminal.err = Console(file=io.StringIO(), width=200)
    with RunLine(terminal, is_silent=False) as line:
        for notes in ((), ("Ann speaks 1.0.",), ("Ann speaks 1.0.",), ("Bob has left.", "Ann speaks 1.0.")):
            line.show(replace(START, notes=notes))
    assert isinstance(terminal.err.file, io.StringIO)
    assert terminal.err.file.getvalue() == "Ann speaks 1.0.\nBob has left.\n"


def test_remote_players_are_announced_once_for_each_change_even_when_silent() -> None:
    terminal = Terminal()
    terminal.err = Console(file=io.StringIO(), width=200)
    with RunLine(terminal, is_silent=True) as line:
        for awaited in ((BOT,), (ANN, BOT), (ANN,), (), (ANN,)):
            line.show(replace(START, awaited=awaited, start_time_left_s=9.0))
    assert isinstance(terminal.err.file, io.StringIO)
    assert terminal.err.file.getvalue() == 2 * "waiting for Ann at 127.0.0.1:5000, 9 s left\n"
