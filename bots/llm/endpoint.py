"""Requests to an OpenAI-compatible endpoint, repeated within a time limit.

Answers are streamed where the endpoint can, so that one that is too long or too slow ends at its bound. Requests are
repeated with growing pauses after a rate limit (429), a failure of the server (5xx), a timeout or a broken connection.
Other refusals, such as that of the key, raise `ModelError` at once.

The key comes from the environment, goes into the header of requests, and is replaced by ``[key]`` in every text that
leaves this module.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeAlias

from bots.errors import ModelError, in_one_line
from bots.sdk.client import print_line
from engine.text import clean

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

Message: TypeAlias = Mapping[str, str]
"""Message of a conversation, with ``role`` and ``content``."""

MAX_ANSWER_CHARS: Final = 20_000
"""Length at which an answer is cut and its connection closed."""
MAX_RESPONSE_BYTES: Final = 4_000_000
"""Bytes read of one response. A streamed answer needs some hundred bytes for a few characters."""
_FIRST_CONTACT_S: Final = 10.0
"""Time for an endpoint that has never answered to accept a connection."""
_FIRST_PAUSE_S: Final = 1.0
_MAX_PAUSE_S: Final = 30.0
_MAX_SHOWN_CHARS: Final = 200
_BASE_URL_VARIABLE: Final = "OPENAI_BASE_URL"
_NO_KEY: Final = "none"
"""Sent as the key to an endpoint that needs none, because the package requires a text."""
_TRANSPORTS: Final = ("httpx", "httpx2", "httpcore", "httpcore2")
"""Packages that versions of openai send requests with."""
_REFUSED: Final = (400, 422)
"""Statuses of a request with a parameter that the endpoint does not know."""


class ModelAnswer(NamedTuple):
    """Answer of a model.

    Attributes:
        text: at most `MAX_ANSWER_CHARS` characters.
        refusal: text with which the model refuses to answer; empty if it does not.
        is_cut: the answer is longer than its bound.
        tokens_in: tokens of the request; None if the endpoint does not state them.
        tokens_out: tokens of the answer; None if the endpoint does not state them.
        cost: price as the endpoint states it, or None.
        repeats: number of times that the request was repeated.
    """

    text: str
    refusal: str = ""
    is_cut: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    repeats: int = 0


class _RequestFailed(Exception):
    """A request has failed and may be repeated.

    Attributes:
        pause_s: pause that the endpoint asks for, in seconds; None if it does not.
        is_unreachable: no endpoint answered, because there was no connection or another program at its address.
    """

    def __init__(self, problem: str, *, pause_s: float | None = None, is_unreachable: bool = False) -> None:
        super().__init__(problem)
        self.pause_s = pause_s
        self.is_unreachable = is_unreachable


class Endpoint:
    """Endpoint that answers for a model."""

    def __init__(self, url: str, model: str, key_variable: str, temperature: float | None) -> None:
        """Prepare requests, without a connection.

        Args:
            url: address, which ends in ``/v1`` for most; empty for that of the package.
            key_variable: environment variable with the key.
            temperature: sent to the endpoint; None leaves the endpoint's.

        Raises:
            ModelError: there is no key.
        """
        self._key_variable = key_variable
        self._key = os.environ.get(key_variable, "").strip()
        if not self._key and not (url or os.environ.get(_BASE_URL_VARIABLE)):
            raise ModelError(f"the environment variable {key_variable} is not set, and the endpoint needs a key")
        self._model = model
        self._temperature = temperature
        self._optional = {"response_format", "stream_options"}
        """Parameters that some endpoints refuse; they are left out once refused."""
        self._has_answered = False
        self._client = _new_client(url, self._key or _NO_KEY)
        self._url = str(self._client.base_url).rstrip("/")

    def close(self) -> None:
        self._client.close()

    def ask(self, messages: Sequence[Message], schema: Mapping[str, Any] | None, deadline_s: float) -> ModelAnswer:
        """Request an answer, and repeat the request until the deadline.

        Args:
            schema: JSON schema of the answer; None for a text.
            deadline_s: on the monotonic clock.

        Raises:
            ModelError: the endpoint refuses the request, or gives no answer before the deadline.
        """
        start_s = time.monotonic()
        repeats = 0
        while True:
            try:
                answer = self._request(messages, schema, deadline_s)
            except _RequestFailed as failed:
                pause_s = failed.pause_s
                if pause_s is None:
                    # Drawn, so that matches that are played side by side do not repeat at the same moment.
                    pause_s = min(_MAX_PAUSE_S, _FIRST_PAUSE_S * 2**repeats) * random.uniform(0.5, 1.0)
                limit_s = deadline_s
                if failed.is_unreachable and not self._has_answered:
                    limit_s = min(deadline_s, start_s + _FIRST_CONTACT_S)
                if time.monotonic() + pause_s >= limit_s:
                    problem = f"no answer within {limit_s - start_s:.0f} s: {failed}"
                    raise self._error(problem) from None
                time.sleep(pause_s)
                repeats += 1
                continue
            self._has_answered = True
            return answer._replace(repeats=repeats)

    def _request(self, messages: Sequence[Message], schema: Mapping[str, Any] | None, deadline_s: float) -> ModelAnswer:
        import openai

        while True:
            remaining_s = deadline_s - time.monotonic()
            if remaining_s <= 0:
                raise _RequestFailed("the time is up")
            parameters = self._parameters(messages, schema)
            try:
                with self._client.chat.completions.with_streaming_response.create(
                    **parameters, timeout=remaining_s
                ) as response:
                    # The type of the body is the endpoint's choice, whether or not a stream was requested.
                    return self._read(response.iter_bytes(), deadline_s)
            except openai.APITimeoutError:
                raise _RequestFailed("the endpoint is too slow") from None
            except openai.APIConnectionError as error:
                cause = error.__cause__ or error
                raise _RequestFailed(f"no connection ({in_one_line(cause)})", is_unreachable=True) from None
            except openai.APIStatusError as error:
                if not self._drop_parameter(error.status_code, parameters):
                    self._raise_status(error)
            except Exception as error:
                # The package raises errors of its transport as they are, once a response has begun.
                if type(error).__module__.partition(".")[0] not in _TRANSPORTS:
                    raise
                raise _RequestFailed(f"the connection broke ({in_one_line(error)})") from None

    def _parameters(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> dict[str, Any]:
        parameters: dict[str, Any] = {"model": self._model, "messages": list(messages), "stream": True}
        if self._temperature is not None:
            parameters["temperature"] = self._temperature
        if schema is not None and "response_format" in self._optional:
            json_schema = {"name": "action", "strict": True, "schema": schema}
            parameters["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        if "stream_options" in self._optional:
            parameters["stream_options"] = {"include_usage": True}
        return parameters

    def _drop_parameter(self, status: int, parameters: Mapping[str, Any]) -> bool:
        """Stop sending one of the optional parameters after a refusal; return False if none is left."""
        if status not in _REFUSED:
            return False
        for name in ("response_format", "stream_options"):
            if name in parameters:
                self._optional.discard(name)
                print_line(sys.stderr, f"{self._label} refuses {name} ({status}), so it is left out.")
                return True
        return False

    def _raise_status(self, error: APIStatusError) -> NoReturn:
        status = error.status_code
        message = self._shown(_message(error))
        if status == 401:
            # Its message may quote parts of the key.
            raise self._error(f"the key is refused (401); check the environment variable {self._key_variable}")
        may_recover = status in (408, 409, 429) or status >= 500
        if may_recover and error.code != "insufficient_quota":
            raise _RequestFailed(f"{message} ({status})", pause_s=_requested_pause(error.response.headers)) from None
        raise self._error(f"{message} ({status})")

    # ---- reading a response

    def _read(self, chunks: Any, deadline_s: float) -> ModelAnswer:
        """Read the body of a response, a stream of events or one JSON object.

        Raises:
            _RequestFailed: the body is broken or not complete before the deadline.
        """
        reader = _BodyReader()
        try:
            for chunk in chunks:
                reader.receive(chunk)
                if reader.is_full:
                    break
                if time.monotonic() > deadline_s:
                    raise _RequestFailed("the endpoint is too slow")
            answer = reader.answer()
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            problem = f"the response is not a chat completion: {self._shown(reader.beginning)}"
            raise _RequestFailed(problem, is_unreachable=True) from None
        if reader.problem:
            raise _RequestFailed(self._shown(reader.problem))
        return answer._replace(text=self.redacted(answer.text), refusal=self.redacted(answer.refusal))

    # ---- texts

    @property
    def _label(self) -> str:
        return f"{self._model} at {self._url}"

    def redacted(self, text: str) -> str:
        """Replace the key in a text."""
        if self._key:
            return text.replace(self._key, "[key]")
        return text

    def _shown(self, text: str) -> str:
        """Return a text of the endpoint on one line, cut and without the key."""
        line = " ".join(self.redacted(text).split())
        if len(line) > _MAX_SHOWN_CHARS:
            return f"{line[:_MAX_SHOWN_CHARS]}..."
        return line

    def _error(self, problem: str) -> ModelError:
        return ModelError(self.redacted(f"{self._label}: {problem}"))


class _BodyReader:
    """Collect the answer of a response: server-sent events or one JSON object.

    Attributes:
        beginning: first characters of the body.
        problem: error that the endpoint sent within a stream; empty without one.
        is_full: the answer is longer than its bound.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[bytes] = []
        self._size = 0
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._length = 0
        self._usage: Mapping[str, Any] = {}
        self._is_stream: bool | None = None
        self.beginning = ""
        self.problem = ""
        self.is_full = False

    def receive(self, chunk: bytes) -> None:
        self._size += len(chunk)
        self._rest += chunk
        self.beginning = self.beginning or chunk[:_MAX_SHOWN_CHARS].decode("utf-8", "replace")
        if self._is_stream is None and (start := self._rest.lstrip()):
            self._is_stream = not start.startswith((b"{", b"[", b"<"))
        if self._is_stream:
            *lines, self._rest = self._rest.split(b"\n")
            self._lines += lines
            self._take_events()
        if self._length > MAX_ANSWER_CHARS or self._size > MAX_RESPONSE_BYTES:
            self.is_full = True

    def _take_events(self) -> None:
        lines, self._lines = self._lines, []
        for line in lines:
            name, _, data = line.strip().partition(b":")
            if name == b"data" and data.strip() not in (b"", b"[DONE]"):
                self._take(json.loads(data), "delta")

    def _take(self, data: Mapping[str, Any], part: str) -> None:
        """Add a chunk of a stream (``delta``) or a whole completion (``message``)."""
        if data.get("error"):
            self.problem = json.dumps(data["error"])
            return
        if data.get("usage"):
            self._usage = data["usage"]
        # Some streams end with a chunk of the usage alone.
        choices = data["choices"] if part == "message" else data.get("choices") or []
        for choice in choices[:1]:
            message = choice.get(part) or {}
            for texts, name in ((self._texts, "content"), (self._refusals, "refusal")):
                text = message.get(name)
                if isinstance(text, str):
                    texts.append(clean(text))
                    self._length += len(text)

    def answer(self) -> ModelAnswer:
        """Return the answer once the body is complete or full.

        Raises:
            ValueError: the body is not JSON.
            TypeError: it is not a completion; nor if a LookupError or AttributeError is raised.
        """
        if self._is_stream:
            self._lines.append(self._rest)
            if not self.is_full:
                self._take_events()
        else:
            self._take(json.loads(self._rest), "message")
        text = "".join(self._texts)
        return ModelAnswer(
            text[:MAX_ANSWER_CHARS],
            refusal="".join(self._refusals)[:MAX_ANSWER_CHARS],
            is_cut=self.is_full or len(text) > MAX_ANSWER_CHARS,
            tokens_in=_count(self._usage.get("prompt_tokens")),
            tokens_out=_count(self._usage.get("completion_tokens")),
            cost=_price(self._usage.get("cost")),
        )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _price(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    return None


def _new_client(url: str, key: str) -> OpenAI:
    import openai

    # Repeats of the package ignore the clock of the match.
    return openai.OpenAI(api_key=key, base_url=url or None, max_retries=0)


def _message(error: APIStatusError) -> str:
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    with contextlib.suppress(Exception):
        return str(error.response.text or error.response.reason_phrase)
    return "the request is refused"


def _requested_pause(headers: Mapping[str, str]) -> float | None:
    """Return the pause in seconds that the headers ``Retry-After-Ms`` or ``Retry-After`` ask for, or None."""
    for name, unit_s in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        with contextlib.suppress(ValueError):
            pause_s = float(headers.get(name, "")) * unit_s
            if pause_s >= 0:
                return pause_s
    return None
