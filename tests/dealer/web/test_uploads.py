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

import pytest

from bots.sdk.program import split_command
from dealer.doctor.examination import ExaminedBot, examine
from dealer.doctor.findings import Examination
from dealer.doctor.situations import DoctorSettings
from dealer.errors import ConfigError
from dealer.server.server_settings import ServerSettings, UploadSettings, box_of
from dealer.table.bubblewrap import readable_paths
from dealer.table.loop import new_event_loop
from dealer.table.players import Player, PlayerKind
from dealer.uploads.archive import unpack
from dealer.uploads.intake import Intake
from dealer.uploads.upload_records import Upload
from protocol import find_game
from tests.browsers import SIZES, launch_browser, needs_browser, open_page, page_problems
from tests.dealer.web.archives import CALLING, archive, do_without_box
from tests.dealer.web.pages.test_play_pages import enter, page_words, start_table
from tests.dealer.web.served import ServerThread
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
    """Limit examinations to the situations that take about a second."""
    brief = partial(DoctorSettings, situations=["handshake", "raises", "empty-match"])
    monkeypatch.setattr("dealer.uploads.intake.DoctorSettings", brief)


def house(**settings: Any) -> ServerSettings:
    return replace(small_house(), uploads=UploadSettings(**settings))


async def upload(program: Program, data: bytes) -> Any:
    answer = await program.browser.post(f"{PREFIX}/uploads", content=data, headers=program.headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def refusal(program: Program, data: bytes) -> str:
    answer = await program.browser.post(f"{PREFIX}/uploads", content=data, headers=program.headers)
    assert answer.status_code == 422, answer.text
    return str(answer.json()["detail"])


async def wait_for_upload(program: Program, number: int, is_settled: Callable[[Any], bool]) -> Any:
    async with asyncio.timeout(4 * PATIENCE_S):
        while not is_settled(details := await program.get_json(f"/uploads/{number}")):
            await asyncio.sleep(0.1)
    return details


async def wait_for_examination(program: Program, number: int) -> Any:
    return await wait_for_upload(program, number, lambda details: details["upload"]["state"] != "waiting")


async def play_job(program: Program, **job: Any) -> str:
    """Submit a job until it is accepted, wait for its end, and return the state of its run."""
    async with asyncio.timeout(PATIENCE_S):
        while (answer := await program.submit(KUHN | job)).status_code != 201:
            await asyncio.sleep(0.1)
    (run,) = (await program.wait_for_job(answer.json()["id"]))["runs"]
    return str(run["state"])


@unix_only
async def test_uploaded_bot_is_examined_played_replaced_and_removed(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path) as visit:
        token = visit.token
        program, stranger = Program(visit), Program(visit, new_user(tmp_path, "eve"))
        sent = await upload(program, archive())
        assert (sent["bot"], sent["number"]) == ("mine", 1)
        assert sent["state"] == "waiting"
        assert sent["games"] == ["kuhn.limit.2p"]
        details = await wait_for_examination(program, sent["id"])
        assert details["upload"]["state"] == "accepted", details
        assert [report["result"] for report in details["reports"]] == ["sound"]
        assert "dealer  MATCHSTATE:" in details["log"]
        # Only its owner sees the examination.
        assert (await stranger.get(f"/uploads/{sent['id']}")).status_code == 404
        assert (await stranger.get_json("/uploads"))["uploads"] == []
    async with visiting(house(), tmp_path) as visit:
        program, stranger = Program(visit, token), Program(visit, new_user(tmp_path, "eve"))
        assert await play_job(stranger, players=["mine", "calling"], deals=2) == "finished"
        (bot,) = (await program.get_json("/bots", mine=True))["bots"]
        assert (bot["name"], bot["label"], bot["owner"]) == ("mine", "upload 1", "player")
        # A person may play it at a table.
        await visit.log_in(secret=token)
        table = await start_table(visit.browser, KUHN["game"], bot1="mine", hands="1")
        async with asyncio.timeout(PATIENCE_S):
            while "The match is over." not in (words := page_words(page := await visit.browser.get(table))):
                if "It is your turn." in words or 'value="next"' in page.text:
                    await enter(visit.browser, table, "next" if 'value="next"' in page.text else "c")
        # Another upload with the same name is another version.
        again = await upload(program, archive(CALLING + "\n"))
        assert again["number"] == 2
        await wait_for_upload(program, sent["id"], lambda details: details["upload"]["state"] == "replaced")
        assert await play_job(program, players=["calling", "mine"], deals=1, seating="single") == "finished"
        (bot,) = (await program.get_json("/bots", mine=True))["bots"]
        assert (bot["number"], bot["label"]) == (2, "upload 2")
        folders = [path for path in (tmp_path / "uploads").iterdir() if path.is_dir() and not path.suffix]
        assert len(folders) == 1, "the code of the earlier version is removed"
        path = f"{PREFIX}/uploads/{again['id']}"
        assert (await stranger.browser.delete(path, headers=stranger.headers)).status_code == 404
        # A removed bot cannot be played.
        removed = await program.browser.delete(path, headers=program.headers)
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
async def test_examinations_wait_until_processes_of_an_earlier_start_are_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_uploaded = threading.Event()
    steps: list[str] = []
    examine_upload = Intake._examine_in_thread

    def end_server_programs(mark: str) -> int:
        is_uploaded.wait(PATIENCE_S)
        steps.append("end processes")
        return 0

    def start_examination(intake: Intake, record: Upload) -> Any:
        steps.append("examine")
        return examine_upload(intake, record)

    monkeypatch.setattr("dealer.server.service.end_server_programs", end_server_programs)
    monkeypatch.setattr(Intake, "_examine_in_thread", start_examination)

    async with visiting(house(), tmp_path) as visit:
        program = Program(visit)
        sent = await upload(program, archive())
        # An examination that did not wait would begin meanwhile.
        await asyncio.sleep(0.5)
        is_uploaded.set()
        assert (await wait_for_examination(program, sent["id"]))["upload"]["state"] == "accepted"
    assert steps == ["end processes", "examine"]


@unix_only
@pytest.mark.parametrize("files", [("python/bot.toml", "../minimal_bot.py"), ("c/bot.toml", "c/run.sh", "../client.c")])
def test_examples_of_uploads_are_sound(files: tuple[str, ...], tmp_path: Path) -> None:
    if "c/run.sh" in files:
        require("cc")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name in files:
            file.write(ROOT / "examples" / "uploads" / name, Path(name).name)
    bot_file = unpack(data, tmp_path / "bot", 10, 10**6)
    box = box_of(UploadSettings(), str(tmp_path / "bot"))
    words = split_command(bot_file.command)
    player = Player(bot_file.command, bot_file.name, PlayerKind.COMMAND, words, confinement=box)
    name, game = find_game(bot_file.games[0])
    examination = Examination(DoctorSettings(situations=["handshake", "raises", "empty-match"]), game)
    with (
        asyncio.Runner(loop_factory=new_event_loop) as runner,
        contextlib.closing(ExaminedBot(player, examination, name, print)) as examined_bot,
    ):
        runner.run(examine(examination, examined_bot.play))
    assert examination.report(bot=bot_file.name, game=name).result == "sound", examination.findings


FAILING = CALLING.replace("hands = int(words[2])", "while 20 < int(words[2]) < 10_000: FAILURE")
"""Bot that fails in hand 21, but not in the hands of the doctor, which are numbered otherwise."""
CRASHING = FAILING.replace("FAILURE", "raise RuntimeError('hand 21 is too many')")
FLOODING = FAILING.replace("FAILURE", "dealer.sendall(b'junk' * 1000)")


@unix_only
async def test_bots_that_crash_or_flood_lose_and_the_server_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dealer.run.contest_plan._MAX_IDLE_LINES_PER_HAND", 100)

    async with visiting(house(), tmp_path) as visit:
        program = Program(visit)
        numbers = [(await upload(program, archive(CRASHING)))["id"]]
        numbers.append((await upload(program, archive(FLOODING, "flood")))["id"])
        for number, name in zip(numbers, ("mine", "flood"), strict=True):
            assert (await wait_for_examination(program, number))["upload"]["state"] == "accepted"
            assert await play_job(program, players=[name, "calling"], deals=30, seating="single") == "failed"
        assert (await program.get_json("/faults"))["faults"][0]["kind"] == "flood"
        details = await wait_for_upload(program, numbers[0], lambda details: details["failure"] != "")
        assert "hand 21 is too many" in details["failure"]
        await visit.log_in()
        assert "hand 21 is too many" in (await visit.browser.get(f"/account/uploads/{numbers[0]}")).text


@unix_only
async def test_rejected_bot_does_not_play_and_its_owner_reads_the_reason(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path) as visit:
        program = Program(visit)
        crashing = await upload(program, archive("raise SystemExit('it cannot be')"))
        details = await wait_for_examination(program, crashing["id"])
        assert details["upload"]["state"] == "rejected"
        (report,) = details["reports"]
        assert report["findings"][0]["output"] == ["it cannot be"]
        missing = await upload(program, archive(command="pythom bot.py"))
        details = await wait_for_examination(program, missing["id"])
        (report,) = details["reports"]
        assert report["findings"][0]["output"] == ["pythom cannot be started: No such file or directory"]
        assert (await program.submit(KUHN | {"players": ["mine", "calling"]})).status_code == 422
        await visit.log_in()
        page = (await visit.browser.get(f"/account/uploads/{crashing['id']}")).text
        assert "it cannot be" in page
        assert "It does not play: the doctor has found errors." in page


async def test_impossible_uploads_are_refused(tmp_path: Path) -> None:
    async with visiting(house(max_bots=2, max_per_day=3, archive_mb=1), tmp_path) as visit:
        program, stranger = Program(visit), Program(visit, new_user(tmp_path, "eve"))
        assert await refusal(program, b"PK") == "The archive is not a readable zip file: File is not a zip file."
        assert await refusal(program, archive(name="calling")) == (
            "The bot calling is one of the server's own bots; give yours another name."
        )
        assert await refusal(program, archive(games='["chess"]')) == (
            "There is no game 'chess' here; the games are kuhn, leduc, limit, nolimit."
        )
        await upload(program, archive())
        assert await refusal(stranger, archive()) == "The bot mine belongs to another user; give yours another name."
        await upload(program, archive(name="other"))
        assert await refusal(program, archive(name="third")) == ("The limit is 2 uploaded bots; remove one first.")
        await upload(program, archive())
        assert await refusal(program, archive()) == ("The limit is 3 uploads in 24 hours; try again later.")
        big = await program.browser.post(f"{PREFIX}/uploads", content=bytes(1_020_000), headers=program.headers)
        assert big.status_code == 413
        reader = await program.browser.post(f"{PREFIX}/uploads", content=archive())
        assert reader.status_code == 401
        folders = [path for path in (tmp_path / "uploads").iterdir() if path.is_dir() and not path.suffix]
        assert len(folders) <= 3, "refused archives are not stored"


async def test_server_without_the_section_refuses_uploads(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        assert await refusal(Program(visit), archive()) == (
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
        # A file may contain bytes that look like the end of a part of the form.
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
def test_upload_pages_are_accessible_at_every_width(tmp_path: Path) -> None:
    (tmp_path / "bot.zip").write_bytes(archive("raise SystemExit('a line wider than a telephone ' * 20)"))
    with ServerThread(house(), tmp_path / "data") as server, launch_browser() as browser:
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
                    # The page reloads itself.
                    page.get_by_text("It does not play: the doctor has found errors.").wait_for()
                    assert page_problems(page) == []


async def test_data_folder_readable_by_bots_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Python has to start in the box.
    paths = (*readable_paths(), str(tmp_path))
    monkeypatch.setattr("dealer.table.bubblewrap.readable_paths", lambda: paths)

    with pytest.raises(ConfigError, match=r"^uploaded bots can read .*; name another folder with --data"):
        async with visiting(house(), tmp_path / "data"):
            raise AssertionError("the server has started")
