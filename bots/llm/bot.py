"""The player `llm`, which asks a language model for every decision."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args
from urllib.parse import urlsplit

from bots.errors import BotFileError, ModelError
from bots.llm.answers import answer_schema, raise_name, read_answer
from bots.llm.prompts import MAX_NOTES_CHARS, Prompts, ask_again, ask_notes
from bots.sdk.bot import Bot
from bots.sdk.options import FilePath
from bots.sdk.registry import RESPONSE_VARIABLE
from bots.sdk.view import View
from engine import CALL, FOLD, Action, ActionKind, Game, betting_start
from logs.acpc_log.exchanges import ACTION, NOTES, Exchange, ExchangeWriter, read_exchanges

if TYPE_CHECKING:
    from bots.llm.endpoint import Endpoint, Message, ModelAnswer

_Memory = Literal["none", "match"]
_KEY_VARIABLE: Final = "OPENAI_API_KEY"
_URL_VARIABLE: Final = "OPENAI_BASE_URL"
_VARIABLE: Final = re.compile("[A-Z][A-Z0-9_]*")
_MIN_TIMEOUT_S: Final = 1.0
_MAX_TIMEOUT_S: Final = 3600.0
_MAX_REPEATED_CHARS: Final = 2_000
"""Characters of an unusable answer that are sent back with the reason."""
_NO_ANSWER: Final = "(no answer)"
"""Sent back for an empty answer, which some endpoints refuse as a message."""
_MARGIN: Final = 0.05
"""Share of the dealer's limit that is left for everything but the model."""


class LlmBot(Bot):
    """Asks a language model for every decision.

    Algorithm: the prompt has the rules of the game, the hand so far, the cards, the pot, the price and the legal
        actions in words. The answer is a JSON object, or a text whose last line is ``ACTION: ...``. After an answer
        that is illegal or unreadable the model is asked again once, with the reason. Then the bot checks, or folds to
        a bet.

    Source: none; the endpoint is any that speaks OpenAI's chat completions.

    Other games: every game. A game of unusual rules is described by them.

    Strength: that of the model; not yet measured.

    The same prompt may get another answer, so a match cannot be repeated exactly. Its exchanges are kept beside the
    log.
    """

    def __init__(
        self,
        *,
        model: Annotated[str, "name of the model at the endpoint"] = "",
        url: Annotated[str, "address of the endpoint, such as http://localhost:11434/v1; OpenAI's by default"] = "",
        prompt: Annotated[FilePath, "prompt plain or with-odds, or a file with a template of Jinja"] = "plain",
        memory: Annotated[_Memory, "none, or match: notes that the model writes after each hand"] = "none",
        timeout: Annotated[float, "longest time for a decision, in seconds, with all repeated requests"] = 120.0,
        temperature: Annotated[float | None, "temperature of the answers; the endpoint's by default"] = None,
        key: Annotated[str, "environment variable that has the key"] = _KEY_VARIABLE,
    ) -> None:
        _check_url(url)
        if memory not in get_args(_Memory):
            raise ValueError("memory must be none or match")
        if not _MIN_TIMEOUT_S <= timeout <= _MAX_TIMEOUT_S:
            raise ValueError(f"timeout must be {_MIN_TIMEOUT_S:g} to {_MAX_TIMEOUT_S:g} seconds")
        if temperature is not None and not 0 <= temperature <= 2:
            raise ValueError("temperature must be 0 to 2")
        if not _VARIABLE.fullmatch(key):
            # Without the text, which may be a key.
            raise ValueError(f"key must be the name of an environment variable, such as {_KEY_VARIABLE}, not a key")
        self._model = model
        self._url = url
        self._template = prompt
        self._has_memory = memory == "match"
        self._temperature = temperature
        self._key_variable = key
        self._timeout_s = timeout
        self.answer_s = float(math.ceil(timeout / (1 - _MARGIN)))
        self._path: str | None = None
        self._dialogue: _Dialogue | None = None
        self._notes: str | None = None
        """Notes on earlier hands; None before they are read from the exchanges of an interrupted match."""
        self._busy_since_s: float | None = None
        """Begin of the request for notes after the last hand: the clock of the next decision may run since then."""

    def refusal(self, game: Game) -> str | None:
        if not self._model:
            return "it asks a language model, and none is named; add model=NAME"
        if find_spec("openai") is None:
            return "the package openai is missing; pip install openai"
        if not (os.environ.get(self._key_variable) or self._url or os.environ.get(_URL_VARIABLE)):
            return (
                f"the environment variable {self._key_variable} is not set; set it, or name another endpoint by url=URL"
            )
        return None

    def keep_exchanges(self, path: str) -> None:
        self._path = path

    def prepare(self, game: Game) -> None:
        dialogue = self._open_dialogue()
        # A faulty template fails here, before the match.
        betting = betting_start(game)
        cards = game.deck[: game.num_hole_cards]
        dialogue.prompts.ask_action(View.from_holding(betting, betting.acting_position, cards, ()), "notes")

    def _open_dialogue(self) -> _Dialogue:
        if self._dialogue is None:
            prompts = Prompts(self._template)
            # Imported here, because the package takes a second to load.
            from bots.llm.endpoint import Endpoint

            endpoint = Endpoint(self._url, self._model, self._key_variable, self._temperature)
            self._dialogue = _Dialogue(prompts, endpoint, self._path)
        return self._dialogue

    @property
    def _limit_s(self) -> float:
        """Time for a decision: the option, or less if the dealer allows less."""
        try:
            dealer_s = float(os.environ.get(RESPONSE_VARIABLE, ""))
        except ValueError:
            return self._timeout_s
        return min(self._timeout_s, dealer_s * (1 - _MARGIN))

    def act(self, view: View) -> Action:
        begin_s = time.monotonic()
        if self._busy_since_s is not None:
            begin_s = self._busy_since_s
            self._busy_since_s = None
        deadline_s = begin_s + self._limit_s
        dialogue = self._open_dialogue()
        messages = [_message("user", dialogue.prompts.ask_action(view, self._recall(view)))]
        action, exchange = dialogue.ask_action(view, messages, 1, deadline_s)
        if action is not None:
            return action
        messages.append(_message("assistant", exchange.answer[:_MAX_REPEATED_CHARS] or _NO_ANSWER))
        messages.append(_message("user", ask_again(exchange.problem, view)))
        try:
            action, _ = dialogue.ask_action(view, messages, 2, deadline_s)
        except ModelError:
            # The model has answered once, so the endpoint works and the time was too short.
            action = None
        if action is not None:
            return action
        return _fallback(view)

    def hand_finished(self, view: View) -> None:
        if self._has_memory:
            self._busy_since_s = time.monotonic()
            # Half of the time, so that enough is left for the next decision, whose clock may run already.
            deadline_s = self._busy_since_s + self._limit_s / 2
            self._notes = self._open_dialogue().ask_notes(view, self._recall(view), deadline_s)

    def match_finished(self) -> None:
        if self._dialogue is not None:
            self._dialogue.close()
            self._dialogue = None

    def _recall(self, view: View) -> str:
        """Return the notes on earlier hands, after an interruption those of the exchanges so far."""
        if self._notes is None:
            self._notes = ""
            if self._has_memory and self._path is not None:
                for exchange in read_exchanges(self._path):
                    is_earlier = exchange.hand_number < view.hand_number
                    if exchange.kind == NOTES and is_earlier and not exchange.problem:
                        self._notes = exchange.answer
        return self._notes


class _Dialogue:
    """Exchanges with a model in a match, and their file."""

    def __init__(self, prompts: Prompts, endpoint: Endpoint, path: str | None) -> None:
        self.prompts = prompts
        self._endpoint = endpoint
        self._writer = None
        if path is not None:
            try:
                self._writer = ExchangeWriter(path)
            except OSError as error:
                raise BotFileError(path, f"it cannot be written: {error.strerror or error}") from error

    def close(self) -> None:
        self._endpoint.close()
        if self._writer is not None:
            self._writer.close()

    def ask_action(
        self, view: View, messages: Sequence[Message], attempt: int, deadline_s: float
    ) -> tuple[Action | None, Exchange]:
        """Ask for an action; return it, or None if the answer is not usable, and the exchange.

        Raises:
            ModelError: there is no answer.
        """
        exchange = _new_exchange(view, ACTION, messages)._replace(attempt=attempt)
        if attempt == 2:
            # Until the answer is usable.
            exchange = exchange._replace(fell_back=True, outcome=_in_words(_fallback(view), view))
        answer, exchange = self._ask(messages, exchange, answer_schema(view), deadline_s)
        action, problem = _action_of(answer, view)
        exchange = exchange._replace(problem=problem)
        if action is not None:
            exchange = exchange._replace(fell_back=False, outcome=_in_words(action, view))
        self._write(exchange)
        return action, exchange

    def ask_notes(self, view: View, notes: str, deadline_s: float) -> str:
        """Ask for notes after a hand; return them, or the old ones without an answer."""
        messages = [_message("user", ask_notes(view, notes))]
        try:
            answer, exchange = self._ask(messages, _new_exchange(view, NOTES, messages), None, deadline_s)
        except ModelError:
            # If the endpoint is down, the next decision fails.
            return notes
        notes = answer.text.strip()[:MAX_NOTES_CHARS]
        self._write(exchange._replace(answer=notes))
        return notes

    def _ask(
        self,
        messages: Sequence[Message],
        exchange: Exchange,
        schema: Mapping[str, object] | None,
        deadline_s: float,
    ) -> tuple[ModelAnswer, Exchange]:
        """Ask the model; return its answer and the exchange with its counts. A failure is written and raised."""
        begin_s = time.monotonic()
        try:
            answer = self._endpoint.ask(messages, schema, deadline_s)
        except ModelError as error:
            self._write(exchange._replace(problem=str(error), seconds=_seconds_since(begin_s)))
            raise
        return answer, exchange._replace(
            answer=answer.text or answer.refusal,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            cost=answer.cost,
            seconds=_seconds_since(begin_s),
            repeats=answer.repeats,
        )

    def _write(self, exchange: Exchange) -> None:
        if self._writer is not None:
            try:
                self._writer.write(exchange)
            except OSError as error:
                raise BotFileError(self._writer.path, f"it cannot be written: {error.strerror or error}") from error


def _check_url(url: str) -> None:
    """Reject an address that is no endpoint, or that may have a key in it.

    Raises:
        ValueError: the address has another scheme, a user, a query or a fragment. The message does not repeat it.
    """
    if not url:
        return
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must begin with http:// or https:// and a host")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("url must be an address without user, query and fragment; a key belongs in the environment")


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _new_exchange(view: View, kind: str, messages: Sequence[Message]) -> Exchange:
    num_actions = sum(map(len, view.actions_by_round))
    return Exchange(view.hand_number, num_actions, kind, 1, messages[-1]["content"], "")


def _seconds_since(begin_s: float) -> float:
    return round(time.monotonic() - begin_s, 6)


def _action_of(answer: ModelAnswer, view: View) -> tuple[Action | None, str]:
    """Return the action of an answer, or None and the reason why it is not usable."""
    if answer.refusal and not answer.text:
        return None, "The answer was a refusal."
    if answer.is_cut:
        return None, "The answer was too long."
    return read_answer(answer.text, view)


def _fallback(view: View) -> Action:
    return FOLD if view.can_fold else CALL


def _in_words(action: Action, view: View) -> str:
    if action.kind is ActionKind.FOLD:
        return "fold"
    if action.kind is ActionKind.CALL:
        return "call" if view.to_call else "check"
    return f"{raise_name(view)} to {view.to_street_total(action.hand_total)}"
