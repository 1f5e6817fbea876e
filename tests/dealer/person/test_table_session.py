"""Table session in an event loop: logs, breaks, clocks, faults of bots and the end."""

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


def table(folder: Path, game: str = "kuhn", bot: str = "calling", **options: Any) -> Run[Any]:
    options = {"name": "Ann", "deals": 3, "seed": 5} | options
    return new_run(table_config(game, [BotSettings(bot=bot)], **options), folder)


def run_session(run: Run[Any], work: Work, **options: Any) -> TableSession:
    """Run a session until some work is done, and interrupt it."""
    table_session = TableSession(run, **options)

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_S):
            playing = asyncio.create_task(table_session.play())
            try:
                await work(table_session)
            finally:
                table_session.run.interrupt()
                await playing

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
    return table_session


async def wait_for_turn(table_session: TableSession) -> Scene:
    assert await table_session.wait_until_asked(PATIENCE_S)
    scene = table_session.scene
    assert scene is not None
    return scene


async def check_through(table_session: TableSession) -> None:
    """Check or call until the match is over."""
    while await table_session.wait_until_asked(PATIENCE_S) and table_session.moments.is_asked:
        await table_session.enter(table_session.moments.name, "c")


def test_finished_match_is_logged_like_any_other(tmp_path: Path) -> None:
    table_session = run_session(table(tmp_path / "run"), check_through)
    assert table_session.is_ended
    assert table_session.result is not None
    assert table_session.result.outcome is Outcome.FINISHED
    assert [record.names_by_seat for record in find([tmp_path / "run"]).hands()] == [("Ann", "calling")] * 3
    assert [player.faults for player in table_session.result.players] == [{}, {}]
    assert reopen(tmp_path / "run").is_table


def test_record_of_a_hand_needs_its_end_to_be_seen(tmp_path: Path) -> None:
    async def work(table_session: TableSession) -> None:
        await wait_for_turn(table_session)
        assert table_session.record(0) is None
        await table_session.enter(table_session.moments.name, "c")
        scene = await wait_for_turn(table_session)
        while not scene.finished:
            await table_session.enter(table_session.moments.name, "c")
            scene = await wait_for_turn(table_session)
        assert table_session.record(0) is not None
        assert table_session.record(1) is None

    run_session(table(tmp_path / "run", bot="folding", deals=9), work)


def test_session_resumes_at_the_same_decision(tmp_path: Path) -> None:
    scenes: list[Scene] = []

    async def raise_once(table_session: TableSession) -> None:
        await wait_for_turn(table_session)
        await table_session.enter(table_session.moments.name, "r")
        scenes.append(await wait_for_turn(table_session))

    async def record_scene(table_session: TableSession) -> None:
        scenes.append(await wait_for_turn(table_session))

    folder = tmp_path / "run"
    first = run_session(table(folder, "limit", "raising", seed=1), raise_once)
    assert first.result is not None
    assert first.result.outcome is Outcome.INTERRUPTED
    assert [player.faults for player in first.result.players] == [{}, {}]
    reopened: Any = reopen(folder)
    run_session(reopened, record_scene)
    assert scenes[0] == scenes[1]
    assert sum(map(len, scenes[1].betting.rounds)) > 1


def test_session_file_is_read_again_and_damage_is_tolerated(tmp_path: Path) -> None:
    text = b'{"decision_s": 30.0, "played": [7, "r300c/"]}\n'
    (tmp_path / SEAT_FILE).write_bytes(text)
    assert read_saved_seat(tmp_path) == SavedSeat(30.0, (7, "r300c/"))
    for damaged in (b"", b"{", b"[]", b"null", text[:-9], b'{"played": 3, "decision_s": null}', b"\xff"):
        (tmp_path / SEAT_FILE).write_bytes(damaged)
        assert read_saved_seat(tmp_path) == SavedSeat()


def test_person_out_of_time_checks_or_folds(tmp_path: Path) -> None:
    async def work(table_session: TableSession) -> None:
        scene = await wait_for_turn(table_session)
        while not scene.finished:
            assert table_session.time_left_s is not None
            version = table_session.version
            await table_session.wait(version, PATIENCE_S)
            scene = await wait_for_turn(table_session)
        assert any(note.startswith("Your time was up, so you ") for note in table_session.notes)
        # There is no time limit between hands.
        assert table_session.time_left_s is None

    table_session = run_session(table(tmp_path / "run", "limit", "raising"), work, decision_s=0.05)
    assert table_session.result is not None
    assert [player.faults for player in table_session.result.players] == [{}, {}]
    assert TableSession(reopen(tmp_path / "run")).decision_s == 0.05  # type: ignore[arg-type]


def test_stopped_session_refuses_entries(tmp_path: Path) -> None:
    async def work(table_session: TableSession) -> None:
        await wait_for_turn(table_session)

    table_session = run_session(table(tmp_path / "run"), work)
    with pytest.raises(StaleEntry, match="Open the table again"):
        asyncio.run(table_session.enter(table_session.moments.name, "c"))


def test_faults_of_a_bot_are_shown_and_its_exit_ends_the_session(
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

    table_session = run_session(
        table(tmp_path / "run", bot=f"leaves={leaves}", deals=9, on_fault=FaultPolicy.END), work
    )
    assert any(note.startswith("leaves: disconnect") for note in notes)
    assert table_session.result is not None


def test_run_that_cannot_start_names_the_reason(tmp_path: Path) -> None:
    run = table(tmp_path / "run")
    (tmp_path / "run" / "match.log").mkdir()

    async def work(table_session: TableSession) -> None:
        assert await table_session.wait_until_asked(PATIENCE_S)

    table_session = run_session(run, work)
    assert table_session.problem
    assert table_session.is_ended
