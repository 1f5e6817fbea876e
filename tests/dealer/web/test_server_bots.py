"""Processes of the server's own bots: their limits, and the files that a bot of another user can read."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dealer.errors import ServerError
from dealer.run.run_settings import read_config, validated
from dealer.server.db.store import DATABASE_NAME, Store, back_up
from dealer.server.resources import make_private
from dealer.server.server_settings import ServerSettings, WebSettings, read_toml_settings
from dealer.web.slumbot.luck import LuckCorrection
from tests.dealer.web.pages.test_play_pages import start_table
from tests.dealer.web.visits import PATIENCE_S, Visit, visiting

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the limits are those of POSIX systems")
as_root = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can start bots as another user")

PROBE = '''#!{python} -ISs
"""Calls at every turn, and in its first hand prints all it can read about its match."""
import json, os, resource, socket, sys

def paths_from(start):
    """Yield candidate files in a folder and all folders above it."""
    start = os.path.realpath(start)
    while start != "/":
        yield from candidates(start)
        start = os.path.dirname(start)

def candidates(folder):
    """Files that a run or a server may have in a folder, listed or not."""
    names = ["run.toml", "match.log", "match.tlog", "match.game", "server.sqlite3", "server.sqlite3-wal"]
    paths = [os.path.join(folder, name) for name in names]
    for place in (folder, *(os.path.join(folder, name) for name in ("data", "runs", "data/runs"))):
        try:
            paths += [os.path.join(place, name) for name in os.listdir(place)]
        except OSError:
            pass
    return paths

def read(path):
    if not os.path.isfile(path):
        return None  # opening a pipe would wait for its other end
    try:
        with open(path, "rb") as file:
            return file.read(100_000).decode("latin-1")
    except OSError:
        return None

def probe():
    out = os.readlink("/proc/self/fd/1")
    places = {{os.environ["ARENA_GAME"], os.getcwd(), out, os.environ["ARENA_SERVER"]}}
    if len(sys.argv) > 3:
        places.add(sys.argv[3])
    files = {{path: text for place in places for path in paths_from(place) if (text := read(path)) is not None}}
    processes = [read("/proc/%s/%s" % (pid, name)) for pid in os.listdir("/proc") for name in ("cmdline", "environ")]
    return dict(
        user=os.getuid(),
        memory=resource.getrlimit(resource.RLIMIT_AS)[0],
        cpu=resource.getrlimit(resource.RLIMIT_CPU)[0],
        game=os.environ["ARENA_GAME"],
        beside=sorted(os.listdir(os.path.dirname(os.environ["ARENA_GAME"]))),
        out=out,
        files=files,
        processes=[text for text in processes if text],
        environment=dict(os.environ),
    )

sock = socket.create_connection((sys.argv[1], int(sys.argv[2])))
sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
sock.sendall(b"VERSION:2.0.0\\r\\n")
is_first = True
for line in sock.makefile("rb"):
    if is_first:
        is_first = False
        print("PROBE " + json.dumps(probe() if "{probes}" else {{}}), flush=True)
    sock.sendall(line.strip() + b":c\\r\\n")
'''
CONFIG = """
bot_memory_mb = 1000
bot_cpu_s = 500
{more}
[[games]]
game = "{game}"
name = "game"
deals = 5
bots = ["A={bot}", {other}]
{ladder}
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Folder that all users may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="bots-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def settings_in(
    folder: Path, game: str = "kuhn", *, more: str = "", ladder: str = "", python: str = sys.executable, other: str = ""
) -> ServerSettings:
    bot = folder / "probe.py"
    bot.write_text(PROBE.format(python=python, probes="yes"))
    bot.chmod(0o755)
    path = folder / "s.toml"
    path.write_text(CONFIG.format(game=game, bot=bot, other=other or f'"B={bot}"', more=more, ladder=ladder))
    settings = read_toml_settings(path)
    return replace(settings, port=0, web=WebSettings(port=0, guests_may_play=True))


async def probe_reports(data: Path, count: int = 1) -> list[dict[str, Any]]:
    """Wait for so many reports of bots, and return them."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            lines = [line for path in data.glob("runs/*/*.out") for line in path.read_text().splitlines(keepends=True)]
            reports = [json.loads(line[6:]) for line in lines if line.startswith("PROBE ") and line.endswith("\n")]
            if len(reports) >= count:
                return reports
            await asyncio.sleep(0.02)


async def by_text_port(visit: Visit) -> None:
    peer = await visit.house.log_in("player", visit.token)
    peer.send("RUNMATCHES game 1 t 0 A B\n")
    await peer.expect_remark("player.t run 1 of 1: .*")


async def by_interface(visit: Visit) -> None:
    job = {"game": "game", "players": ["A", "B"], "deals": 5}
    headers = {"authorization": f"Bearer {visit.token}"}
    answer = await visit.browser.post("/api/v1/jobs", json=job, headers=headers)
    assert answer.status_code < 300, answer.text


async def by_pages(visit: Visit) -> None:
    await visit.log_in()
    data = {"form_key": await visit.form_key("/account"), "game": "game", "player1": "A", "player2": "B", "deals": "5"}
    answer = await visit.browser.post("/account/request", data=data)
    assert answer.status_code == 303, answer.text


async def by_ladder(visit: Visit) -> None:
    del visit


async def by_table(visit: Visit) -> None:
    await visit.log_in()
    await visit.browser.get(await start_table(visit.browser, "game", bot1="A", seed=""))


async def by_slumbot(visit: Visit) -> None:
    answer = await visit.browser.post("/slumbot/A/api/new_hand", json={})
    assert answer.status_code == 200, answer.text


WAYS_IN = (by_text_port, by_interface, by_pages, by_ladder, by_table, by_slumbot)
"""Ways to have the server start its bots."""


def disable_luck_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the compilation of code that corrects winnings."""

    async def no_values(*arguments: Any) -> None:
        del arguments

    monkeypatch.setattr(LuckCorrection, "values", no_values)


@pytest.mark.sampled
@pytest.mark.parametrize("way_in", WAYS_IN, ids=lambda way_in: way_in.__name__[3:])
async def test_bots_have_the_configured_limits_in_every_kind_of_match(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way_in: Callable[[Visit], Awaitable[None]]
) -> None:
    disable_luck_correction(monkeypatch)
    ladder = "[ladder]\ndeals = 100" if way_in is by_ladder else ""
    async with visiting(settings_in(folder, "nolimit", ladder=ladder), folder / "data") as visit:
        await way_in(visit)
        for report in await probe_reports(folder / "data"):
            assert (report["memory"], report["cpu"]) == (10**9, 500)
            assert report["environment"]["ARENA_SERVER"] == str(folder / "data")


async def test_new_limits_apply_to_runs_of_an_earlier_start(folder: Path) -> None:
    """A suspended table has settings from an earlier start."""
    path = folder / "data" / "runs" / "00000001" / "run.toml"
    async with visiting(replace(settings_in(folder), bot_memory_mb=0, bot_cpu_s=0), folder / "data") as visit:
        token = visit.token
        await by_table(visit)
        await probe_reports(folder / "data")
    assert [bot.memory_mb for bot in validated(read_config(path)).bots] == [None, None]

    async with visiting(settings_in(folder), folder / "data") as visit:
        await visit.log_in(secret=token)
        assert (await visit.browser.get("/play/1")).status_code == 200
    assert [(bot.memory_mb, bot.cpu_s) for bot in validated(read_config(path)).bots] == [(None, None), (1000, 500)]


@as_root
@pytest.mark.parametrize(
    "way_in",
    [by_text_port, by_table, pytest.param(by_slumbot, marks=pytest.mark.slow)],
    ids=lambda way_in: way_in.__name__[3:],
)
async def test_bot_of_another_user_reads_no_file_of_the_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way_in: Callable[[Visit], Awaitable[None]]
) -> None:
    import pwd

    python = "/usr/bin/python3"
    if not os.access(python, os.X_OK):
        pytest.skip("there is no interpreter that all users may start")
    disable_luck_correction(monkeypatch)
    other = '{bot = "B=random", user = "root"}'
    settings = settings_in(folder, "nolimit", more='bot_user = "nobody"', python=python, other=other)
    data = folder / "data"
    data.mkdir(mode=0o755)
    temporary = folder / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    async with visiting(settings, data) as visit:
        await way_in(visit)
        (report,) = await probe_reports(folder / "data")
        assert report["user"] == pwd.getpwnam("nobody").pw_uid
        assert report["out"].startswith(str(folder / "data")), "the bot knows the folder of the server"
        assert report["beside"] == [Path(report["game"]).name]
        assert [path for path in report["files"] if path.startswith(str(folder / "data"))] == []
        assert report["game"] in report["files"]
        texts = [*report["files"].values(), *report["processes"], *report["environment"].values(), report["game"]]
        rows = visit.house.rows("SELECT seed FROM jobs UNION SELECT seed FROM runs")
        for seed in {seed for (seed,) in rows if seed}:
            # The seeds of built-in bots are computed from the seed of a run, which can be computed back from them.
            of_bots = [(seed * 1000003 + seating * 1009 + player) % 2**32 for seating in (0, 1) for player in (0, 1)]
            for number in (seed, *of_bots):
                assert not any(str(number) in text for text in texts)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (data, data / "runs")} == {0o700}
    assert list(temporary.glob("arena-game-*")) == []


def test_folder_open_to_others_is_closed(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    make_private(tmp_path / "open")
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o700


@pytest.mark.parametrize("more", ["", 'bot_user = "root"'])
async def test_folder_that_cannot_be_closed_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, more: str
) -> None:
    if more and os.geteuid():
        pytest.skip("only root can start bots as another user")
    (folder / "data" / "runs").mkdir(parents=True)
    settings = settings_in(folder, more=more)
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)

    if more:
        with pytest.raises(ServerError, match="cannot be closed to other users: its file system keeps no permissions"):
            async with visiting(settings, folder / "data"):
                pass
    else:
        async with visiting(settings, folder / "data"):
            pass
        assert "who can read seeds and cards" in caplog.text


async def test_folder_that_cannot_be_created_is_reported(folder: Path) -> None:
    (folder / "file").touch()

    with pytest.raises(ServerError, match=r"the folder .*/file/data cannot be created: Not a directory"):
        async with visiting(settings_in(folder), folder / "file" / "data"):
            pass


def test_backup_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    Store(tmp_path / DATABASE_NAME).close()
    back_up(tmp_path / DATABASE_NAME, tmp_path / "copy")
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o600
