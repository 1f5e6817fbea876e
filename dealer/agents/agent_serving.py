"""Serve the tools of an agent over standard streams or streamable HTTP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from dealer.agents.agent_seats import AgentSeats
from dealer.agents.agent_tools import make_mcp_server

HTTP_HOST = "127.0.0.1"
HTTP_PATH = "/mcp"


async def serve_streams(seats: AgentSeats, on_stop: Callable[[Callable[[], object]], None]) -> bool:
    """Serve one client over standard input and output until it closes them.

    Args:
        on_stop: registers a function that is called when the process is to stop.

    Returns:
        Whether the process is to stop. Until its end, a thread still reads standard input.
    """
    stopped = asyncio.Event()
    on_stop(stopped.set)
    async with seats:
        serving = asyncio.create_task(make_mcp_server(seats).run_stdio_async())
        stopping = asyncio.create_task(stopped.wait())
        await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if serving.done():
            serving.result()
    return stopped.is_set()


@contextlib.asynccontextmanager
async def serve_address(seats: AgentSeats, port: int) -> AsyncIterator[str]:
    """Serve clients of this machine over streamable HTTP until the end of the block; yield the address.

    Args:
        port: port to listen on; 0 for a free one.

    Raises:
        ListenError: the port is unavailable.
    """
    from dealer.server.server_settings import WebSettings
    from dealer.web.serving import serve_app

    server = make_mcp_server(seats)
    app = server.streamable_http_app(host=HTTP_HOST, streamable_http_path=HTTP_PATH)
    async with seats, server.session_manager.run(), serve_app(app, HTTP_HOST, WebSettings(port=port)) as address:
        yield f"{address.rstrip('/')}{HTTP_PATH}"
