"""A table session in an event loop: entries that come twice or late, breaks, clocks, and the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bots.errors import StaleEntry
from dealer.match.faults import FaultPolicy
from dealer.person.seat import Scene
from dealer.person.table_session import SEAT_FILE, SavedSeat, TableSession, read_saved_seat
from dealer.person.table_settings import table_config
from dealer.run.ending import Outcome
from dealer.run.run import Run, new_run, reopen
from dealer.run.run_settings import BotSettings
from dealer.table.loop import new_event_loop
from logs.hand_source import find
from tests.dealer.helpers import CONNECT, PATIENCE_S, enter_program_env, write_program

Work = Callable[[TableSession], Awaitable[None]]


def table(folder: Path, game: str = "kuhn", bot: str = "calling", **asked: Any) -> Run[Any]:
    asked = {"name": "Ann", "deals": 3, "seed": 5} | asked
    return new_run(table_config(game, [BotSettings(bot=bot)], **asked), folder)


def sit(run: Run[Any], work: Work, **options: Any) -> TableSession:
    """Sit down, do something, stop."""
    table_session = TableSession(run, **options)

    async def played() -> None:
        async with asyncio.timeout(PATIENCE_S):
            playing = asyncio.create_task(table_session.play())
            try:
                await work(table_session)
            finally:
                table_session.run.interrupt()
                await playing

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(played())
    return table_session


async def asked(table_session: TableSession) -> Scene:
    assert await table_session.wait_until_asked(PATIENCE_S)
    scene = table_session.scene
    assert scene is not None
    return scene


async def check_through(table_session: TableSession) -> None:
    """Check or call, and go on, until nothing is left."""
    while await table_session.wait_until_asked(PATIENCE_S) and table_session.moments.is_asked:
        await table_session.enter(table_session.moments.name, "c")


def test_a_match_to_its_end_is_logged_like_any_other(tmp_path: Path) -> None:
    table_session = sit(table(tmp_path / "run"), check_through)
    assert table_session.is_ended
    assert table_session.result is not None
    assert table_session.result.outcome is Outcome.FINISHED
    assert [record.names_by_seat for record in find([tmp_path / "run"]).hands()] == [("Ann", "calling")] * 3
    assert [player.faults for player in table_session.result.players] == [{}, {}]
    assert reopen(tmp_path / "run").is_table


def test_a_hand_is_shown_with_all_cards_only_when_its_end_has_been_seen(tmp_path: Path) -> None:
    async def work(table_session: TableSession) -> None:
        await asked(table_session)
        assert table_session.record(0) is None
        await table_session.enter(table_session.moments.name, "c")
        scene = await asked(table_session)
        while not scene.finished:
            await table_session.enter(table_session.moments.name, "c")
            scene = await asked(table_session)
        assert table_session.record(0) is not None
        assert table_session.record(1) is None

    sit(table(tmp_path / "run", bot="folding", deals=9), work)


def test_after_a_break_the_person_is_at_the_same_decision(tmp_path: Path) -> None:
    seen: list[Scene] = []

    async def raise_once(table_session: TableSession) -> None:
        await asked(table_session)
        await table_session.enter(table_session.moments.name, "r")
        seen.append(await asked(table_session))

    async def look(table_session: TableSession) -> None:
        seen.append(await asked(table_session))

    folder = tmp_path / "run"
    first = sit(table(folder, "limit", "raising", seed=1), raise_once)
    assert first.result is not None
    assert first.result.outcome is Outcome.INTERRUPTED
    assert [player.faults for player in first.result.players] == [{}, {}]
    again: Any = reopen(folder)
    sit(again, look)
    assert seen[0] == seen[1]
    assert sum(map(len, seen[1].betting.rounds)) > 1


def test_session_file_is_read_again_and_damage_is_tolerated(tmp_path: Path) -> None:
    text = b'{"decision_s": 30.0, "played": [7, "r300c/"]}\n'
    (tmp_path / SEAT_FILE).write_bytes(text)
    assert read_saved_seat(tmp_path) == SavedSeat(30.0, (7, "r300c/"))
    for damaged in (b"", b"{", b"[]", b"null", text[:-9], b'{"played": 3, "decision_s": null}', b"\xff"):
        (tmp_path / SEAT_FILE).write_bytes(damaged)
        assert read_saved_seat(tmp_path) == SavedSeat()


def test_person_out_of_time_checks_or_folds(tmp_path: Path) -> None:
    async def work(table_session: TableSession) -> None:
        scene = await asked(table_session)
        while not scene.finished:
            assert table_session.time_left_s is not None
            version = table_session.version
            await table_session.wait(version, PATIENCE_S)
            scene = await asked(table_session)
        assert any(note.startswith("Your time was up, so you ") for note in table_session.notes)
        # Nobody is hurried on to the next hand.
        assert table_session.time_left_s is None

    table_session = sit(table(tmp_path / "run", "limit", "raising"), work, decision_s=0.05)
    assert table_session.result is not None
    assert [player.faults for player in table_session.result.players] == [{}, {}]
    assert TableSession(reopen(tmp_path / "run")).decision_s == 0.05  # type: ignore[arg-type]


def test_a_sitting_that_was_stopped_takes_no_more(tmp_path: Path) -> None:
    async def work(table_session: TableSession) -> None:
        await asked(table_session)

    table_session = sit(table(tmp_path / "run"), work)
    with pytest.raises(StaleEntry, match="Open the table again"):
        asyncio.run(table_session.enter(table_session.moments.name, "c"))


def test_faults_of_a_bot_are_shown_and_its_exit_ends_the_sitting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_program_env(tmp_path, monkeypatch)
    leaves = write_program(tmp_path, "leaves.py", CONNECT + "hello()\nf.readline()\nf.readline()\n")
    notes: list[str] = []

    async def work(table_session: TableSession) -> None:
        while not table_session.is_ended:
            version = table_session.version
            if table_session.moments.is_asked:
                await table_session.enter(table_session.moments.name, "c")
            elif await table_session.wait(version, PATIENCE_S):
                notes.extend(table_session.notes)

    table_session = sit(table(tmp_path / "run", bot=f"leaves={leaves}", deals=9, on_fault=FaultPolicy.END), work)
    assert any(note.startswith("leaves: disconnect") for note in notes)
    assert table_session.result is not None


def test_run_that_cannot_start_names_the_reason(tmp_path: Path) -> None:
    run = table(tmp_path / "run")
    (tmp_path / "run" / "match.log").mkdir()

    async def work(table_session: TableSession) -> None:
        assert await table_session.wait_until_asked(PATIENCE_S)

    table_session = sit(run, work)
    assert table_session.problem
    assert table_session.is_ended
