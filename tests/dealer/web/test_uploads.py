"""Uploaded bots on a server: upload, examination, matches, replacement, removal, and access to them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import threading
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from bots.sdk.program import split_command
from dealer.doctor.examination import ExaminedBot, examine
from dealer.doctor.findings import Examination
from dealer.doctor.situations import DoctorSettings
from dealer.errors import ConfigError
from dealer.server.server_settings import ServerSettings, UploadSettings, box_of
from dealer.table.loop import new_event_loop
from dealer.table.players import Player, PlayerKind
from dealer.uploads.archive import unpack
from protocol import find_game
from tests.browsers import SIZES, launch_browser, needs_browser, open_page, page_problems
from tests.dealer.web.archives import CALLING, archive, do_without_box
from tests.dealer.web.pages.test_play_pages import enter, seen, sit_down
from tests.dealer.web.served import Served
from tests.dealer.web.test_api import KUHN, PREFIX, Program
from tests.dealer.web.visits import PATIENCE_S, Visit, new_user, small_house, visiting
from tests.outside import require
from tests.programs import ROOT

unix_only = pytest.mark.skipif(os.name == "nt", reason="uploaded bots are programs for Linux")


@pytest.fixture(autouse=True)
def _box_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    do_without_box(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def _brief_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """An examination of a second; `tests/dealer/doctor` is about the others."""
    brief = partial(DoctorSettings, situations=["handshake", "raises", "empty-match"])
    monkeypatch.setattr("dealer.uploads.intake.DoctorSettings", brief)


def house(**settings: Any) -> ServerSettings:
    return replace(small_house(), uploads=UploadSettings(**settings))


async def uploaded(program: Program, data: bytes) -> Any:
    answer = await program.browser.post(f"{PREFIX}/uploads", content=data, headers=program.headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def refused(program: Program, data: bytes) -> str:
    answer = await program.browser.post(f"{PREFIX}/uploads", content=data, headers=program.headers)
    assert answer.status_code == 422, answer.text
    return str(answer.json()["detail"])


async def settled(program: Program, number: int, is_settled: Callable[[Any], bool]) -> Any:
    async with asyncio.timeout(4 * PATIENCE_S):
        while not is_settled(told := await program.told(f"/uploads/{number}")):
            await asyncio.sleep(0.1)
    return told


async def examined(program: Program, number: int) -> Any:
    return await settled(program, number, lambda told: told["upload"]["state"] != "waiting")


async def played(program: Program, **job: Any) -> str:
    """Wait until a job is accepted and has ended; the state of its run."""
    async with asyncio.timeout(PATIENCE_S):
        while (answer := await program.submit(KUHN | job)).status_code != 201:
            await asyncio.sleep(0.1)
    (run,) = (await program.finished(answer.json()["id"]))["runs"]
    return str(run["state"])


@unix_only
async def test_uploaded_bot_is_examined_played_replaced_and_removed(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path) as visit:
        token = visit.token
        program, stranger = Program(visit), Program(visit, new_user(tmp_path, "eve"))
        sent = await uploaded(program, archive())
        assert (sent["bot"], sent["number"], sent["state"], sent["games"]) == ("mine", 1, "waiting", ["kuhn.limit.2p"])
        told = await examined(program, sent["id"])
        assert told["upload"]["state"] == "accepted", told
        assert [report["result"] for report in told["reports"]] == ["sound"]
        assert "dealer  MATCHSTATE:" in told["log"]
        # Its owner alone sees that.
        assert (await stranger.get(f"/uploads/{sent['id']}")).status_code == 404
        assert (await stranger.told("/uploads"))["uploads"] == []
    async with visiting(house(), tmp_path) as visit:
        program, stranger = Program(visit, token), Program(visit, new_user(tmp_path, "eve"))
        assert await played(stranger, players=["mine", "calling"], deals=2) == "finished"
        (bot,) = (await program.told("/bots", mine=True))["bots"]
        assert (bot["name"], bot["label"], bot["owner"]) == ("mine", "upload 1", "player")
        # A person plays it, too.
        await visit.log_in(secret=token)
        table = await sit_down(visit.browser, KUHN["game"], bot1="mine", hands="1")
        async with asyncio.timeout(PATIENCE_S):
            while "The match is over." not in (words := seen(page := await visit.browser.get(table))):
                if "It is your turn." in words or 'value="next"' in page.text:
                    await enter(visit.browser, table, "next" if 'value="next"' in page.text else "c")
        # Another upload of the name is another version.
        again = await uploaded(program, archive(CALLING + "\n"))
        assert again["number"] == 2
        await settled(program, sent["id"], lambda told: told["upload"]["state"] == "replaced")
        assert await played(program, players=["calling", "mine"], deals=1, seating="single") == "finished"
        (bot,) = (await program.told("/bots", mine=True))["bots"]
        assert (bot["number"], bot["label"]) == (2, "upload 2")
        folders = [path for path in (tmp_path / "uploads").iterdir() if path.is_dir() and not path.suffix]
        assert len(folders) == 1, "the code of the earlier version is removed"
        # And without it, nobody can play against it.
        assert (
            await stranger.browser.delete(f"{PREFIX}/uploads/{again['id']}", headers=stranger.headers)
        ).status_code == 404
        removed = await program.browser.delete(f"{PREFIX}/uploads/{again['id']}", headers=program.headers)
        assert removed.json() == {"is_cancelled": True}
        async with asyncio.timeout(PATIENCE_S):
            while (await program.submit(KUHN | {"players": ["mine", "calling"]})).status_code == 201:
                await asyncio.sleep(0.1)
        audit = visit.house.rows("SELECT who, what FROM audit ORDER BY id")
        assert [(who, what.partition(",")[0]) for who, what in audit if "bot" in what] == [
            ("player", "uploaded the bot mine"),
            ("player", "uploaded the bot mine"),
            ("player", "removed the uploaded bot mine"),
        ]


@unix_only
async def test_nothing_is_examined_before_the_processes_of_an_earlier_start_are_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_uploaded, seen = threading.Event(), list[set[psutil.Process]]()
    # Programs of other tests may be kept for the next ones.
    others = set(psutil.Process().children(recursive=True))

    def end_server_programs(mark: str) -> int:
        is_uploaded.wait(PATIENCE_S)
        seen.append(set(psutil.Process().children(recursive=True)) - others)
        return 0

    monkeypatch.setattr("dealer.server.service.end_server_programs", end_server_programs)

    async with visiting(house(), tmp_path) as visit:
        program = Program(visit)
        sent = await uploaded(program, archive())
        await asyncio.sleep(0.5)
        is_uploaded.set()
        assert (await examined(program, sent["id"]))["upload"]["state"] == "accepted"
    assert seen == [set()]


@unix_only
@pytest.mark.parametrize("files", [("python/bot.toml", "../minimal_bot.py"), ("c/bot.toml", "c/run.sh", "../client.c")])
def test_the_examples_are_sound(files: tuple[str, ...], tmp_path: Path) -> None:
    if "c/run.sh" in files:
        require("cc")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archived:
        for name in files:
            archived.write(ROOT / "examples" / "uploads" / name, Path(name).name)
    described = unpack(packed, tmp_path / "bot", 10, 10**6)
    box = box_of(UploadSettings(), str(tmp_path / "bot"))
    words = split_command(described.command)
    player = Player(described.command, described.name, PlayerKind.COMMAND, words, confinement=box)
    name, game = find_game(described.games[0])
    examination = Examination(DoctorSettings(situations=["handshake", "raises", "empty-match"]), game)
    with (
        asyncio.Runner(loop_factory=new_event_loop) as runner,
        contextlib.closing(ExaminedBot(player, examination, name, print)) as examined_bot,
    ):
        runner.run(examine(examination, examined_bot.play))
    assert examination.report(bot=described.name, game=name).result == "sound", examination.findings


FAILING = CALLING.replace("hands = int(words[2])", "while 20 < int(words[2]) < 10_000: FAILURE")
"""Not in the hands of the doctor."""
CRASHING = FAILING.replace("FAILURE", "raise RuntimeError('hand 21 is too many')")
FLOODING = FAILING.replace("FAILURE", "dealer.sendall(b'junk' * 1000)")


@unix_only
async def test_bots_that_crash_or_flood_in_a_match_lose_it_and_the_server_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dealer.run.contest_plan._MAX_IDLE_LINES_PER_HAND", 100)

    async with visiting(house(), tmp_path) as visit:
        program = Program(visit)
        numbers = [(await uploaded(program, archive(CRASHING)))["id"]]
        numbers.append((await uploaded(program, archive(FLOODING, "flood")))["id"])
        for number, name in zip(numbers, ("mine", "flood"), strict=True):
            assert (await examined(program, number))["upload"]["state"] == "accepted"
            assert await played(program, players=[name, "calling"], deals=30, seating="single") == "failed"
        assert (await program.told("/faults"))["faults"][0]["kind"] == "flood"
        upload = await settled(program, numbers[0], lambda upload: upload["failure"] != "")
        assert "hand 21 is too many" in upload["failure"]
        await visit.log_in()
        assert "hand 21 is too many" in (await visit.browser.get(f"/account/uploads/{numbers[0]}")).text


@unix_only
async def test_rejected_bot_does_not_play_and_its_owner_reads_the_reason(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path) as visit:
        program = Program(visit)
        crashing = await uploaded(program, archive("raise SystemExit('it cannot be')"))
        told = await examined(program, crashing["id"])
        assert told["upload"]["state"] == "rejected"
        (report,) = told["reports"]
        assert report["findings"][0]["output"] == ["it cannot be"]
        missing = await uploaded(program, archive(command="pythom bot.py"))
        told = await examined(program, missing["id"])
        assert told["reports"][0]["findings"][0]["output"] == ["pythom cannot be started: No such file or directory"]
        assert (await program.submit(KUHN | {"players": ["mine", "calling"]})).status_code == 422
        # And on the pages.
        await visit.log_in()
        page = (await visit.browser.get(f"/account/uploads/{crashing['id']}")).text
        assert "it cannot be" in page
        assert "It does not play: the doctor has found errors." in page


async def test_impossible_uploads_are_refused(tmp_path: Path) -> None:
    async with visiting(house(max_bots=2, max_per_day=3, archive_mb=1), tmp_path) as visit:
        program, stranger = Program(visit), Program(visit, new_user(tmp_path, "eve"))
        assert await refused(program, b"PK") == "The archive is not a readable zip file: File is not a zip file."
        assert await refused(program, archive(name="calling")) == (
            "The bot calling is one of the server's own bots; give yours another name."
        )
        assert await refused(program, archive(games='["chess"]')) == (
            "There is no game 'chess' here; the games are kuhn, leduc, limit, nolimit."
        )
        await uploaded(program, archive())
        assert await refused(stranger, archive()) == "The bot mine belongs to another user; give yours another name."
        await uploaded(program, archive(name="other"))
        assert await refused(program, archive(name="third")) == ("The limit is 2 uploaded bots; remove one first.")
        await uploaded(program, archive())
        assert await refused(program, archive()) == ("The limit is 3 uploads in 24 hours; try again later.")
        big = await program.browser.post(f"{PREFIX}/uploads", content=bytes(1_020_000), headers=program.headers)
        assert big.status_code == 413
        reader = await program.browser.post(f"{PREFIX}/uploads", content=archive())
        assert reader.status_code == 401
        folders = [path for path in (tmp_path / "uploads").iterdir() if path.is_dir() and not path.suffix]
        assert len(folders) <= 3, "what was refused is not kept"


async def test_server_without_the_section_takes_no_uploads(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        assert await refused(Program(visit), archive()) == (
            "This server accepts no uploads; connect a bot from your machine with arena join."
        )
        await visit.log_in()
        assert (await visit.browser.get("/account/uploads")).status_code == 404
        assert "/account/uploads" not in (await visit.browser.get("/account")).text


async def test_upload_form_checks_its_key_and_its_file(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path) as visit:
        assert (await visit.browser.get("/account/uploads")).headers["location"] == "/login?next=/account/uploads"
        await visit.log_in()
        page = (await visit.browser.get("/account/uploads")).text
        assert "You have not uploaded a bot yet." in page
        key = {"form_key": await visit.form_key("/account/uploads")}

        async def send(data: bytes, fields: dict[str, str]) -> Any:
            files = {"archive": ("bot.zip", data, "application/zip")}
            return await visit.browser.post("/account/uploads", data=fields, files=files)

        assert (await send(archive(), {"form_key": "0" * 64})).status_code == 403
        assert (await send(archive(), {})).status_code == 403
        assert (await visit.browser.post("/account/uploads", data=key)).status_code == 415
        foreign = {"origin": "https://elsewhere.example"}
        files = {"archive": ("bot.zip", archive(), "application/zip")}
        answer = await visit.browser.post("/account/uploads", data=key, files=files, headers=foreign)
        assert answer.status_code == 403
        empty = await send(b"", key)
        assert empty.status_code == 422
        assert "Choose a file." in empty.text
        # Bytes that look like the end of a line or of a part are the file's own.
        odd = await send(b"PK\r\n--\r\n\r\n", key)
        assert odd.status_code == 422
        assert "The archive is not a readable zip file" in odd.text
        sent = await send(archive(), key)
        assert sent.status_code == 303, sent.text
        page = (await visit.browser.get(sent.headers["location"])).text
        assert "mine, upload 1" in page
        assert 'href="/account/uploads/1">mine</a>' in (await visit.browser.get("/account/uploads")).text
        other = visit.another()
        async with other:
            visitor = Visit(visit.house, other, new_user(tmp_path, "eve"))
            await visitor.log_in("eve")
            assert (await other.get("/account/uploads/1")).status_code == 404
            key_of_other = {"form_key": await visitor.form_key("/account/uploads")}
            assert (await other.post("/account/uploads/1/remove", data=key_of_other)).status_code == 404
        removed = await visit.browser.post("/account/uploads/1/remove", data=key)
        assert removed.status_code == 303
        assert "removed" in (await visit.browser.get("/account/uploads")).text


@unix_only
@needs_browser
@pytest.mark.slow
def test_everybody_can_use_the_pages_at_every_width(tmp_path: Path) -> None:
    (tmp_path / "bot.zip").write_bytes(archive("raise SystemExit('a line wider than a telephone ' * 20)"))
    with Served(house(), tmp_path / "data") as server, launch_browser() as browser:
        for width in SIZES:
            for scheme in ("light", "dark"):
                with open_page(browser, width=width, scheme=scheme) as page:
                    page.goto(f"{server.address}login?next=/account/uploads")
                    page.locator("[name=name]").fill("player")
                    page.locator("[name=secret]").fill(server.token)
                    page.locator("main button").click()
                    page.locator("[name=archive]").set_input_files(tmp_path / "bot.zip")
                    assert page_problems(page) == []
                    page.get_by_role("button", name="Upload").click()
                    # It is loaded again by itself.
                    page.get_by_text("It does not play: the doctor has found errors.").wait_for()
                    assert page_problems(page) == []


async def test_a_folder_that_bots_can_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.table.bubblewrap.readable_paths", lambda: (str(tmp_path),))

    with pytest.raises(ConfigError, match=r"^uploaded bots can read .*; name another folder with --data"):
        async with visiting(house(), tmp_path / "data"):
            raise AssertionError("it has started")
