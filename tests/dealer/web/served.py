"""Server with pages in a thread, for tests that drive a browser in the main thread."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from dealer.server.server_settings import ServerSettings
from dealer.table.loop import new_event_loop
from dealer.web.server_site import server_site
from tests.dealer.helpers import PATIENCE_S, free_ports
from tests.dealer.server.servers import running


class ServerThread:
    """Server that can be stopped, and started again at the same address; a context manager.

    Attributes:
        address: URL of the pages.
        token: of the user `player`.
    """

    def __init__(self, settings: ServerSettings, folder: Path) -> None:
        self.address = ""
        self.token = ""
        # Not a port from the system, which could give it to another program while this server is down.
        port = settings.web.port or free_ports(1)[0]
        self._settings = replace(settings, web=replace(settings.web, port=port))
        self._folder = folder
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def start(self) -> None:
        """Start the server, and wait until it listens."""
        is_up = threading.Event()

        async def serve() -> None:
            self._end = asyncio.Event()
            async with running(self._settings, self._folder, None, server_site) as house:
                assert house.started.page is not None
                self.address = house.started.page
                self.token = self.token or house.started.token or ""
                is_up.set()
                await self._end.wait()

        def work() -> None:
            try:
                with asyncio.Runner(loop_factory=new_event_loop) as runner:
                    self._loop = runner.get_loop()
                    runner.run(serve())
            except BaseException as error:
                self._error = error
            finally:
                is_up.set()

        self._thread = threading.Thread(target=work)
        self._thread.start()
        assert is_up.wait(PATIENCE_S)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Stop the server, and raise the error that has ended it, if any."""
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error

    def __enter__(self) -> ServerThread:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
