"""A fake OpenAI-compatible endpoint on a local port, with replies chosen by the test."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-a-key-that-must-not-leak-0123456789"
USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "cost": 0.25}


@dataclass
class Reply:
    """A response of the endpoint.

    Attributes:
        text: content of the model's message, or the error message if `status` is not 200.
        status: HTTP status.
        refusal: text of a refusal by the model.
        is_streamed: send events, else one JSON object.
        body: raw body in place of the message.
        delay_s: seconds before the response.
        drip_s: seconds between the events of a stream.
        is_broken: close the connection within the body.
    """

    text: str = ""
    status: int = 200
    refusal: str | None = None
    is_streamed: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay_s: float = 0.0
    drip_s: float = 0.0
    is_broken: bool = False
    usage: dict[str, Any] | None = field(default_factory=lambda: dict(USAGE))

    def parts(self) -> list[bytes]:
        if self.body is not None:
            return [self.body]
        if self.status != 200:
            return [json.dumps({"error": {"message": self.text, "code": None}}).encode()]
        if not self.is_streamed:
            message = {"role": "assistant", "content": self.text, "refusal": self.refusal}
            return [json.dumps({"choices": [{"message": message}], "usage": self.usage}).encode()]
        size = max(1, len(self.text) // 5)
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": self.text[start : start + size]} for start in range(0, len(self.text), size)]
        deltas.append({"refusal": self.refusal})
        events: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        events.append({"usage": self.usage})
        return [
            b": a comment\n\n",
            *(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events),
            b"data: [DONE]\n\n",
        ]


Script = Callable[[dict[str, Any]], Reply]


@dataclass
class FakeEndpoint:
    """A running endpoint.

    Attributes:
        script: function from a request to its reply; it may be replaced while the endpoint runs.
        requests: bodies of the requests so far.
        keys: headers with the keys so far.
    """

    script: Script
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def set_replies(self, *replies: Reply | str) -> None:
        """Send these replies in turn, then repeat the last."""
        pending = [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]

        def script(request: dict[str, Any]) -> Reply:
            return pending.pop(0) if len(pending) > 1 else pending[0]

        self.script = script

    @property
    def prompts(self) -> list[str]:
        """Content of the last message of each request."""
        return [request["messages"][-1]["content"] for request in self.requests]


@contextlib.contextmanager
def fake_endpoint(*replies: Reply | str) -> Iterator[FakeEndpoint]:
    """Run an endpoint that sends these replies in turn, by default a call."""
    endpoint = FakeEndpoint(lambda request: Reply())
    endpoint.set_replies(*(replies or ('{"reason": "", "action": "call", "amount": null}',)))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = json.loads(body)
            endpoint.requests.append(request)
            endpoint.keys.append(self.headers.get("Authorization", ""))
            reply = endpoint.script(request)
            parts = reply.parts()
            time.sleep(reply.delay_s)
            self.send_response(reply.status)
            is_stream = reply.is_streamed and reply.status == 200 and reply.body is None
            self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
            self.send_header("Content-Length", str(sum(map(len, parts)) + reply.is_broken))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            # The client closes the connection when it has read enough.
            with contextlib.suppress(OSError):
                for part in parts:
                    self.wfile.write(part)
                    self.wfile.flush()
                    time.sleep(reply.drip_s)
            self.close_connection = reply.is_broken

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
