"""Commands of the pages about a course and a competition, run as printed, with the printed output.

`research/serve/joining.py` replaces addresses, ports and tokens. It also writes the output on the pages.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.server_settings import read_toml_settings
from tests.dealer.helpers import ARENA, program_env
from tests.dealer.server.servers import rows
from tests.scripts import script

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a bot of the pages is a script of the shell")
RESULT = "all deals were played"
LIMIT = "holdem.limit.2p.reverse_blinds"


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    return script("research/serve/joining.py")


def room_of(pages: ModuleType, folder: Path) -> Any:
    return pages.Room(folder, ARENA, program_env())


def forms(printed: str) -> set[str]:
    """Kinds of printed lines, without numbers, names of runs and lines of progress."""
    progress = r" hands · | hands$| waits for its turn "
    lines = [line for line in printed.splitlines() if not re.search(progress, line)]
    varying = r"secret=\S+|(?<=player )[\w-]{32}|\w+\.[\w-]+:|(?<=::)\S+|(?<=offered in )\w+|[+-]?[\d,.]+"
    return {re.sub(varying, "N", line) for line in lines}


def games_of(folder: Path, bot: str) -> set[str]:
    """Games in which a bot has finished a contest."""
    query = (
        "SELECT runs.game FROM runs JOIN jobs ON jobs.id = job WHERE runs.state = 'finished' AND instr(jobs.players, ?)"
    )
    return {str(game) for (game,) in rows(folder / "arena-server", query, f'"{bot}"')}


@pytest.mark.slow
def test_bot_without_games_plays_challenges_and_the_ladder(pages: ModuleType, tmp_path: Path) -> None:
    # The configuration of the course with shorter runs, and without bots whose code has to be compiled.
    config = pages.configuration(pages.COURSE).replace("width = 20", "deals = 100").replace(', "mfs", "lp-mc"', "")
    with room_of(pages, tmp_path) as room:
        room.serve(config.removesuffix('[[games]]\ngame = "kuhn"\n'))
        room.run("arena serve user ann")
        for page, name, until in ((pages.JOINING, "challenge", ""), (pages.COURSE, "ladder", RESULT)):
            command = pages.command(page, name)
            assert forms(f"$ {command}\n{room.run(command, until)}") == forms(pages.block(page, name))
    assert games_of(tmp_path, "mine") == games_of(tmp_path, "anns-bot") == {LIMIT}


@pytest.mark.slow
def test_course_prints_the_output_of_the_page(pages: ModuleType, tmp_path: Path) -> None:
    with room_of(pages, tmp_path) as room:
        room.run("arena serve --init")
        printed = room.serve(pages.configuration(pages.COURSE))
        assert forms(printed) == forms(pages.block(pages.COURSE, "serve"))
        (tmp_path / "students.csv").write_text("name\nbob\n")
        room.run("arena serve user --csv students.csv")
        room.run("arena serve user ann")
        for page, name, until in (
            (pages.COURSE, "ladder", RESULT),
            (pages.JOINING, "challenge", ""),
            (pages.JOINING, "persistent", RESULT),
        ):
            command = pages.command(page, name)
            assert forms(f"$ {command}\n{room.run(command, until)}") == forms(pages.block(page, name))
        assert forms(room.conversation()) == forms(pages.block(pages.PROTOCOLS, "conversation"))
        assert "1 token of bob revoked." in room.run("arena serve revoke bob")
    assert games_of(tmp_path, "anns-bot") == {LIMIT}
    assert games_of(tmp_path, "mine") == {LIMIT, "kuhn.limit.2p"}


@pytest.mark.slow
def test_ladder_of_a_competition_is_reset_between_rounds(pages: ModuleType, tmp_path: Path) -> None:
    course = pages.configuration(pages.COURSE)
    config = course.replace("[ladder]\nwidth = 20\n", pages.configuration(pages.COMPETITION, "[ladder]"))
    assert config != course
    with room_of(pages, tmp_path) as room:
        room.serve(config)
        assert read_toml_settings(tmp_path / "arena-server.toml").ladder.games == ("kuhn.limit.2p",)  # type: ignore[union-attr]
        room.run("arena serve user ann")
        command = pages.command(pages.COURSE, "ladder").replace("--ladder", "--ladder --games kuhn")
        assert "plays kuhn." in room.run(command, RESULT, 2)
        assert games_of(tmp_path, "anns-bot") == {"kuhn.limit.2p"}
        room.stop()
        assert "are removed; users, teams, tokens and bots are kept." in room.run("arena serve reset --results --yes")
        assert games_of(tmp_path, "anns-bot") == set()
        room.serve(config)
        room.run(command, RESULT)
    assert games_of(tmp_path, "anns-bot") == {"kuhn.limit.2p"}


@pytest.mark.slow
def test_event_of_a_competition_is_announced_played_and_published(pages: ModuleType, tmp_path: Path) -> None:
    """The commands are those of the page; the event is shorter and has other times."""
    closes = datetime.now(UTC) + timedelta(days=1)
    event = pages.configuration(pages.COMPETITION, 'name = "final"').replace("deals = 2000", "deals = 100")
    event = re.sub(r"(?m)^opens = .*\n", "", re.sub(r"(?m)^(closes = ).*", rf"\g<1>{closes.isoformat()}", event))
    (tmp_path / "final.toml").write_text(event)
    commands = [f"arena serve event {words}" for words in ("new final.toml", "show final", "publish final site")]
    page = pages.COMPETITION.read_text("utf-8")
    assert all(f"    {command}\n" in page or f"`{command}`" in page for command in commands)
    announce, show, publish = commands
    with room_of(pages, tmp_path) as room:
        room.serve(pages.configuration(pages.COURSE).split("[ladder]")[0] + '[[games]]\ngame = "kuhn"\n')
        room.run("arena serve user ann")
        join = pages.command(pages.COURSE, "ladder").replace("--ladder", "--games kuhn")
        # A named entrant must have connected before.
        room.run(join, "plays kuhn")
        assert "The event is open, and " in room.run(announce)
        # The bot enters by connecting once. Then the event is closed, independent of how long that took.
        room.run(join, "plays kuhn")
        with contextlib.closing(Store(tmp_path / "arena-server" / DATABASE_NAME)) as store:
            store.write_now(lambda db: db.execute("UPDATE scheduled_events SET closes_s = ?", (time.time(),)))
        assert re.search(r"final\.anns-bot-calling: anns-bot .* all deals were played", room.run(join, RESULT))
        while "The event is finished: 1 contest." not in (printed := room.run(show)):
            assert "The event is" in printed
        room.run(publish)
    assert "anns-bot" in (tmp_path / "site" / "index.html").read_text("utf-8")
