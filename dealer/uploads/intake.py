"""Takes uploads, has the doctor examine them one at a time, and has those that passed play for their owners.

uploads/            in the folder of the server
  HEX/              the files of a version, read-only
  HEX.out/          the conversation with the doctor; what the bot printed when it last failed
  0.game            the games of the server, for the bots

Whatever is not needed any more is removed.
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
_EXAMINATION_S: Final = 600.0
_LOOK_S: Final = 1.0
_MOST_LOG_LETTERS: Final = 200_000


class Intake:
    """All uploads of a server."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._folder = parts.folder.absolute() / "uploads"
        self._has_news = asyncio.Event()
        self._arriving = asyncio.Lock()
        """Held while an archive is unpacked and entered, and while what is not entered is removed."""
        self._bots: dict[str, tuple[Upload, BoxedBot]] = {}
        self._kept: list[str] = []
        """The folders whose code was needed when the others were removed last."""
        self._games: dict[str, Path] = {}

    @property
    def settings(self) -> UploadSettings | None:
        """What may be uploaded; None for nothing."""
        return self._parts.settings.uploads

    # ---- what users ask for
    async def take(self, user: User, archive: bytes) -> Upload:
        """Check and keep an archive; it is examined afterwards.

        Raises:
            RefusedError: it is not taken; the message has the reason.
            StoreError: it cannot be written.
        """
        settings = self.settings
        if settings is None:
            raise RefusedError("this server takes no uploads; arena join connects a bot from your machine")
        if len(archive) > settings.archive_mb * 10**6:
            raise RefusedError(f"an archive has at most {settings.archive_mb} million bytes")
        if not self._parts.service.disk.has_space:
            raise RefusedError("the server's disk is full; try again later")
        async with self._arriving:
            number = await self._entered(settings, user, archive)
        self._has_news.set()
        return uploads(self._parts.store, number=number)[0]

    async def _entered(self, settings: UploadSettings, user: User, archive: bytes) -> int:
        name = secrets.token_hex(8)
        folder = self._folder / name
        max_bytes = settings.unpacked_mb * 10**6
        try:
            described = await asyncio.to_thread(unpack, io.BytesIO(archive), folder, settings.max_files, max_bytes)
        except OSError as error:
            _log.error("an archive cannot be unpacked: %s", error)
            raise RefusedError("the server cannot write it down now; try again later") from None
        try:
            games = described.games or (self._parts.settings.games[0].name,)
            games = self._parts.service.presence.checked(Join(described.name, "", games=games))
            enter = partial(add_upload, user=user, described=described, games=games, settings=settings)
            return await self._parts.store.write(partial(enter, folder=name, archive=archive))
        except BaseException:
            await asyncio.to_thread(remove, folder)
            raise

    async def withdraw(self, user: User, bot: str) -> bool:
        """Have a user's uploaded bot play no more; False if there is none."""
        is_removed = await self._parts.store.write(lambda db: remove_bot(db, user, bot))
        self._has_news.set()
        return is_removed

    def printed(self, upload: Upload, name: str) -> str:
        """One of the files of an upload: `LOG_NAME` or `dealer.uploads.boxed_bot.FAILURE_NAME`; empty if missing."""
        try:
            with self._output_folder(upload).joinpath(name).open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_LOG_LETTERS))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    # ---- examining and playing
    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Examine and play until the end of the block."""
        if self.settings is None:
            yield
            return
        self._folder.mkdir(exist_ok=True)
        for number, game in enumerate(self._parts.settings.games):
            self._games[game.name] = self._folder / f"{number}.game"
            self._games[game.name].write_text(format_game_definition(game.game), "ascii")
        working = asyncio.create_task(self._work())
        try:
            yield
        finally:
            working.cancel()
            await asyncio.wait([working])
            for _, bot in self._bots.values():
                await bot.close()

    async def _work(self) -> None:
        await self._parts.service.has_started.wait()
        while True:
            try:
                await self._settle()
                waiting = uploads(self._parts.store, state=UploadState.WAITING)
                if waiting:
                    number = waiting[-1].id
                    reports, reason = await self._examined(waiting[-1])
                    await self._parts.store.write(
                        partial(end_examination, number=number, reports=reports, reason=reason)
                    )
                else:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._has_news.wait(), _LOOK_S)
                    self._has_news.clear()
            except (StoreError, OSError) as error:
                _log.error("uploads cannot be examined: %s", error)
                await asyncio.sleep(RETRY_S)

    async def _settle(self) -> None:
        """Have exactly those play that are accepted, in their newest versions, and keep the code of no others."""
        store = self._parts.store
        accepted = {upload.bot: upload for upload in reversed(uploads(store, state=UploadState.ACCEPTED))}
        for name in self._bots.keys() - accepted.keys():
            self._parts.service.presence.leave(self._bots.pop(name)[1])
        there = {connected.name for connected in self._parts.service.presence.bots}
        for name, upload in accepted.items():
            # Its owner may have connected a bot of this name meanwhile, and it has gone.
            if name not in there or name not in self._bots or self._bots[name][0].id != upload.id:
                await self._begin(upload)
        async with self._arriving:
            playing = [upload for upload, _ in self._bots.values()]
            needed = (*uploads(store, state=UploadState.WAITING), *accepted.values(), *playing)
            code = sorted(one.folder for one in needed)
            if code == self._kept:
                return
            printed = {*code, *(one.folder for one in uploads(store, state=UploadState.REJECTED))}
            for path in self._folder.iterdir():
                if path.is_dir() and path.stem not in (printed if path.suffix else code):
                    await asyncio.to_thread(remove, path)
            self._kept = code

    async def _examined(self, upload: Upload) -> tuple[list[DoctorReport], str]:
        """What the doctor finds, and why it found no more; the latter is empty where it has seen everything."""
        reports: list[DoctorReport] = []
        log: list[str] = []
        games = [game for game in self._parts.settings.games if game.name in upload.games]
        # In a loop of its own: that of the server would wait for every bot that is ended.
        runner = asyncio.Runner(loop_factory=new_event_loop)
        loop = runner.get_loop()

        def work() -> None:
            with runner:
                runner.run(self._examine(upload, games, reports, log))

        examining = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            await asyncio.wait([examining], timeout=_EXAMINATION_S)
            is_done = examining.done()
        finally:
            while not examining.done():
                with contextlib.suppress(RuntimeError):
                    # The loop may have been closed a moment ago.
                    loop.call_soon_threadsafe(_cancel_all)
                await asyncio.wait([examining], timeout=_LOOK_S)
        self._output_folder(upload).mkdir(exist_ok=True)
        self._output_folder(upload).joinpath(LOG_NAME).write_text("\n".join([*log, ""]), "utf-8")
        if not is_done:
            return reports, f"the examination took more than {_EXAMINATION_S / 60:g} minutes"
        error = examining.exception()
        if error is None:
            return reports, ""
        if isinstance(error, DealerError):
            return reports, str(error)
        _log.error("upload %d cannot be examined", upload.id, exc_info=error)
        return reports, "an internal error of the server; try again later"

    async def _examine(
        self, upload: Upload, games: list[ServerGame], reports: list[DoctorReport], log: list[str]
    ) -> None:
        left = _MOST_LOG_LETTERS

        def note(event: Situation | LineSent | LineReceived | str) -> None:
            nonlocal left
            match event:
                case Situation(name, what):
                    line = f"# {name}: {what}"
                case LineSent(line=data) | LineReceived(line=data):
                    text = escaped_bytes(data).removesuffix(r"\r\n")
                    line = f"{'dealer' if isinstance(event, LineSent) else 'bot   '}  {text}"
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

    async def _begin(self, upload: Upload) -> None:
        """Have a version play, unless the one before it is needed still."""
        service = self._parts.service
        settings = self.settings
        name = upload.bot
        assert settings is not None
        games = tuple(game for game in upload.games if game in self._games)
        offer = Join(name, "", f"upload {upload.number}", settings.at_once, True, games)
        before = self._bots.get(name)
        try:
            if not games:
                raise RefusedError("its games are not played here any more")
            if not (self._folder / upload.folder).is_dir():
                raise RefusedError("its files are not on the server any more; upload it again")
            is_running = any(job.is_running and name in job.user_bots for job in service.queue.active())
            if before is not None and before[0].id == upload.id:
                await service.presence.enter(upload.owner, offer, before[1])
                return
            if before is not None and (is_running or before[1].is_playing):
                connected = service.presence.find(games[0], name)
                if connected is not None and connected.host is before[1] and connected.offer.ladder:
                    await service.presence.enter(upload.owner, replace(connected.offer, ladder=False), before[1])
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


def _cancel_all() -> None:
    for task in asyncio.all_tasks():
        task.cancel()
