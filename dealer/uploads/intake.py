"""Accept uploaded bots, examine each with the doctor, and let accepted ones play.

uploads/            in the folder of the server
  HEX/              files of a version, read-only
  HEX.out/          conversation with the doctor, and output of the bot's last failure
  0.game            definitions of the server's games, for the bots

One upload is examined at a time. Folders that are no longer needed are removed.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bots.sdk.program import split_command
from dealer.doctor.examination import ExaminedBot, examine
from dealer.doctor.findings import DoctorReport, Examination
from dealer.doctor.situations import DoctorSettings, Situation
from dealer.errors import DealerError, RefusedError, StoreError
from dealer.match.events import LineReceived, LineSent
from dealer.server.db.store import RETRY_S
from dealer.server.db.users import User
from dealer.server.server import ServerParts
from dealer.server.server_bots import process_environment
from dealer.server.server_settings import ServerGame, UploadSettings, box_of
from dealer.table.loop import new_event_loop
from dealer.table.players import Player, PlayerKind
from dealer.uploads.archive import remove, unpack
from dealer.uploads.boxed_bot import BoxedBot
from dealer.uploads.upload_records import (
    Upload,
    UploadState,
    add_upload,
    end_examination,
    reject,
    remove_bot,
    replace_earlier,
    uploads,
)
from engine.text import escaped_bytes
from protocol import format_game_definition
from protocol.joining import Join

_log = logging.getLogger(__name__)

LOG_NAME: Final = "doctor.txt"
_EXAMINATION_TIMEOUT_S: Final = 600.0
_POLL_S: Final = 1.0
_MAX_LOG_LENGTH: Final = 200_000


class Intake:
    """All uploads of a server."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._folder = parts.folder.absolute() / "uploads"
        self._has_news = asyncio.Event()
        # An archive is unpacked before its record is added: no clean-up may run in between.
        self._folders_lock = asyncio.Lock()
        self._bots: dict[str, tuple[Upload, BoxedBot]] = {}
        self._kept: list[str] = []
        """Folders with code that the last clean-up kept."""
        self._games: dict[str, Path] = {}

    @property
    def settings(self) -> UploadSettings | None:
        """Limits on uploads; None if the server takes none."""
        return self._parts.settings.uploads

    # ---- requests of users
    async def take(self, user: User, archive: bytes) -> Upload:
        """Check and store an archive, and queue it for examination.

        Raises:
            RefusedError: it is not accepted; the message has the reason.
            StoreError: it cannot be written.
        """
        settings = self.settings
        if settings is None:
            raise RefusedError("this server accepts no uploads; connect a bot from your machine with arena join")
        if len(archive) > settings.archive_mb * 10**6:
            raise RefusedError(f"an archive has at most {settings.archive_mb} million bytes")
        if not self._parts.service.disk.has_space:
            raise RefusedError("the server's disk is full; try again later")
        async with self._folders_lock:
            number = await self._add(settings, user, archive)
        self._has_news.set()
        return uploads(self._parts.store, number=number)[0]

    async def _add(self, settings: UploadSettings, user: User, archive: bytes) -> int:
        name = secrets.token_hex(8)
        folder = self._folder / name
        max_bytes = settings.unpacked_mb * 10**6
        try:
            described = await asyncio.to_thread(unpack, io.BytesIO(archive), folder, settings.max_files, max_bytes)
        except OSError as error:
            _log.error("an archive cannot be unpacked: %s", error)
            raise RefusedError("the server cannot store the archive now; try again later") from None
        try:
            games = described.games or (self._parts.settings.games[0].name,)
            games = self._parts.service.presence.check(Join(described.name, "", games=games))
            add = partial(add_upload, user=user, described=described, games=games, settings=settings)
            max_names = self._parts.settings.max_names_per_user
            return await self._parts.store.write(partial(add, max_names=max_names, folder=name, archive=archive))
        except BaseException:
            await asyncio.to_thread(remove, folder)
            raise

    async def withdraw(self, user: User, bot: str) -> bool:
        """Remove a user's uploaded bot; return False if it does not exist."""
        is_removed = await self._parts.store.write(lambda db: remove_bot(db, user, bot))
        self._has_news.set()
        return is_removed

    def printed(self, upload: Upload, name: str) -> str:
        """Read the end of `LOG_NAME` or `dealer.uploads.boxed_bot.FAILURE_NAME` of an upload; empty if missing."""
        try:
            with self._output_folder(upload).joinpath(name).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _MAX_LOG_LENGTH))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    # ---- examining and playing
    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Examine uploads and let them play until the end of the block."""
        if self.settings is None:
            yield
            return
        self._folder.mkdir(exist_ok=True)
        for number, game in enumerate(self._parts.settings.games):
            self._games[game.name] = self._folder / f"{number}.game"
            self._games[game.name].write_text(format_game_definition(game.game), "ascii")
        work = asyncio.create_task(self._work())
        try:
            yield
        finally:
            work.cancel()
            await asyncio.wait([work])
            for _, bot in self._bots.values():
                await bot.close()

    async def _work(self) -> None:
        await self._parts.service.has_started.wait()
        while True:
            try:
                await self._update_bots()
                await self._clean_up()
                waiting = uploads(self._parts.store, state=UploadState.WAITING)
                if waiting:
                    # The list begins with the newest.
                    upload = waiting[-1]
                    reports, reason = await self._examine_in_thread(upload)
                    await self._parts.store.write(
                        partial(end_examination, number=upload.id, reports=reports, reason=reason)
                    )
                else:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._has_news.wait(), _POLL_S)
                    # Before the records are read again, so that no news is lost.
                    self._has_news.clear()
            except (StoreError, OSError) as error:
                _log.error("uploads cannot be examined: %s", error)
                await asyncio.sleep(RETRY_S)

    async def _update_bots(self) -> None:
        """Connect the newest accepted version of every bot, and disconnect the others."""
        presence = self._parts.service.presence
        accepted = self._accepted()
        for name in self._bots.keys() - accepted.keys():
            presence.leave(self._bots.pop(name)[1])
        connected = {bot.name for bot in presence.bots}
        for name, upload in accepted.items():
            # The owner may have connected a bot of this name from elsewhere, which has left since.
            if name not in connected or name not in self._bots or self._bots[name][0].id != upload.id:
                await self._connect(upload)

    def _accepted(self) -> dict[str, Upload]:
        # From the oldest to the newest, so that a later version replaces an earlier one.
        return {upload.bot: upload for upload in reversed(uploads(self._parts.store, state=UploadState.ACCEPTED))}

    async def _clean_up(self) -> None:
        """Remove the folders of versions that no longer play; the output of rejected ones is kept."""
        store = self._parts.store
        async with self._folders_lock:
            playing = [upload for upload, _ in self._bots.values()]
            needed = (*uploads(store, state=UploadState.WAITING), *self._accepted().values(), *playing)
            code = sorted(upload.folder for upload in needed)
            if code == self._kept:
                return
            rejected = [upload.folder for upload in uploads(store, state=UploadState.REJECTED)]
            output = {*code, *rejected}
            for path in self._folder.iterdir():
                kept = output if path.suffix else code
                if path.is_dir() and path.stem not in kept:
                    await asyncio.to_thread(remove, path)
            self._kept = code

    async def _examine_in_thread(self, upload: Upload) -> tuple[list[DoctorReport], str]:
        """Examine an upload in all of its games.

        Returns:
            the reports, and the reason that some are missing; empty if the examination is complete.
        """
        reports: list[DoctorReport] = []
        log: list[str] = []
        games = [game for game in self._parts.settings.games if game.name in upload.games]
        # In a loop of its own, because the doctor blocks while it ends a bot's processes.
        runner = asyncio.Runner(loop_factory=new_event_loop)
        loop = runner.get_loop()

        def work() -> None:
            with runner:
                runner.run(self._examine(upload, games, reports, log))

        examination = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            await asyncio.wait([examination], timeout=_EXAMINATION_TIMEOUT_S)
            is_done = examination.done()
        finally:
            while not examination.done():
                with contextlib.suppress(RuntimeError):
                    # RuntimeError if the loop has just been closed.
                    loop.call_soon_threadsafe(_cancel_all)
                await asyncio.wait([examination], timeout=_POLL_S)
        self._output_folder(upload).mkdir(exist_ok=True)
        self._output_folder(upload).joinpath(LOG_NAME).write_text("\n".join([*log, ""]), "utf-8")
        if not is_done:
            return reports, f"the examination took more than {_EXAMINATION_TIMEOUT_S / 60:g} minutes"
        error = examination.exception()
        if error is None:
            return reports, ""
        if isinstance(error, DealerError):
            return reports, str(error)
        _log.error("upload %d cannot be examined", upload.id, exc_info=error)
        return reports, "internal error of the server; try again later"

    async def _examine(
        self, upload: Upload, games: list[ServerGame], reports: list[DoctorReport], log: list[str]
    ) -> None:
        left = _MAX_LOG_LENGTH

        def note(event: Situation | LineSent | LineReceived | str) -> None:
            nonlocal left
            match event:
                case Situation(name, what):
                    line = f"# {name}: {what}"
                case LineSent(line=data):
                    line = f"dealer  {_line_text(data)}"
                case LineReceived(line=data):
                    line = f"bot     {_line_text(data)}"
                case str():
                    line = f"# {event}"
            if left > 0:
                log.append(line)
                left -= len(line)

        for game in games:
            examination = Examination(DoctorSettings(game=game.name), game.game)
            with contextlib.closing(ExaminedBot(self._player(upload), examination, game.name, note)) as examined:
                await examine(examination, examined.play, note)
            if examination.is_interrupted:
                return
            reports.append(examination.report(bot=upload.bot, game=game.name))

    async def _connect(self, upload: Upload) -> None:
        """Connect a version of a bot, as soon as the version before it is idle."""
        service = self._parts.service
        settings = self.settings
        name = upload.bot
        assert settings is not None
        games = tuple(game for game in upload.games if game in self._games)
        offer = Join(name, "", f"upload {upload.number}", settings.at_once, True, games)
        previous = self._bots.get(name)
        try:
            if not games:
                raise RefusedError("the server no longer plays its games")
            if not (self._folder / upload.folder).is_dir():
                raise RefusedError("its files are no longer on the server; upload it again")
            if previous is not None and previous[0].id == upload.id:
                await service.presence.enter(upload.owner, offer, previous[1])
                return
            is_running = any(job.is_running and name in job.user_bots for job in service.queue.active())
            if previous is not None and (is_running or previous[1].is_playing):
                # Without the ladder's matches, the previous version is idle sooner.
                connected = service.presence.find(games[0], name)
                if connected is not None and connected.host is previous[1] and connected.offer.ladder:
                    await service.presence.enter(upload.owner, replace(connected.offer, ladder=False), previous[1])
                return
            bot = BoxedBot(self._player(upload), self._output_folder(upload), self._games)
            await service.presence.enter(upload.owner, offer, bot)
            self._bots[name] = upload, bot
            await self._parts.store.write(partial(replace_earlier, upload=upload))
        except RefusedError as error:
            await self._parts.store.write(partial(reject, number=upload.id, reason=str(error)))

    def _player(self, upload: Upload) -> Player:
        assert self.settings is not None
        box = box_of(self.settings, str(self._folder / upload.folder))
        environment = tuple(process_environment(self._parts.folder).items())
        words = split_command(upload.command, is_windows=False)
        return Player(upload.command, upload.bot, PlayerKind.COMMAND, words, environment=environment, confinement=box)

    def _output_folder(self, upload: Upload) -> Path:
        return self._folder / f"{upload.folder}.out"


def _line_text(line: bytes) -> str:
    return escaped_bytes(line).removesuffix(r"\r\n")


def _cancel_all() -> None:
    for task in asyncio.all_tasks():
        task.cancel()
