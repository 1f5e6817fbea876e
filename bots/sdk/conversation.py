"""Bot's side of a match without I/O: bytes from the dealer in, bytes for the dealer out.

`Conversation` connects a `PlayerSession` (bytes and states) with a `Bot` (views and actions). It calls the bot on its
turn, checks its action, and sends the bot's comments before the reply. `bots.sdk.client` runs it over a socket,
`bots.sdk.testing` against a script. It raises `DealerFailure` for an invalid line of the dealer and `IllegalReply` for
an illegal action. Exceptions of the bot's own code pass through, with a note that names the state.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import CoroutineType
from typing import Any, Final

from bots.errors import DealerFailure, IllegalReply
from bots.sdk.bot import Bot
from bots.sdk.view import MAX_WAITING_COMMENTS, View
from engine import CALL, RAISE, Action, ActionKind, Game, IllegalAction, Rule
from engine.errors import quoted
from protocol import NEED_DATA, Comment, Handshake, PlayerSession, ReceivedState, RemoteProtocolError, Reply


def require_legal(answer: object, view: View) -> Action:
    """Check the return value of `Bot.act` and normalise it for the protocol session.

    Raises:
        IllegalReply: the value is not an action, or the rules do not allow it. The error names rule, hand and state.
    """
    # An illegal action of a user's bot is a bug in the bot, and turning it into a call would hide the bug. The shipped
    # bots call `engine.nearest_legal` themselves.
    if answer is CALL:
        return CALL
    if isinstance(answer, CoroutineType):
        raise _refused(answer, _unawaited(answer, "act"), view, None)
    if not isinstance(answer, Action):
        raise _refused(answer, "act() must return an Action such as view.call()", view, None)
    try:
        kind = ActionKind(answer.kind)
        hand_total = operator.index(answer.hand_total)
    except Exception:
        raise _refused(answer, "an action is a kind and a whole number of chips", view, None) from None
    if kind is not ActionKind.RAISE and hand_total:
        raise _refused(answer, "only a raise has a size", view, None)
    action = Action(kind, hand_total)
    betting = view.betting
    try:
        betting.check(action)
    except IllegalAction as error:
        raise _refused(action, str(error), view, error.rule) from None
    if kind is ActionKind.RAISE and betting.game.is_limit:
        fixed = betting.legal_actions().raise_min
        if hand_total not in (0, fixed):
            problem = f"in this limit game a raise here makes the total {fixed}; RAISE needs no size"
            rule = Rule.BELOW_MINIMUM if hand_total < fixed else Rule.ABOVE_MAXIMUM
            raise _refused(action, problem, view, rule)
        return RAISE
    return action


def _refused(answer: object, problem: str, view: View, rule: Rule | None) -> IllegalReply:
    if isinstance(answer, CoroutineType):
        shown = "with a coroutine"
    else:
        shown = _describe(answer)
    return IllegalReply(shown, problem, rule=rule, hand_number=view.hand_number, state=view.match_state.format())


def call_hook(hook: Callable[..., object], *arguments: object) -> None:
    """Call a hook of a bot.

    Raises:
        TypeError: the hook is an ``async def``, so the call would do nothing.
    """
    returned = hook(*arguments)
    if isinstance(returned, CoroutineType):
        raise TypeError(_unawaited(returned, hook.__name__))


def _unawaited(coroutine: CoroutineType[Any, Any, Any], name: str) -> str:
    # Python warns when a coroutine is collected that was neither awaited nor closed.
    coroutine.close()
    return f"{name}() is an 'async def', which is never awaited: write 'def {name}'"


def _describe(answer: object) -> str:
    """Describe the return value of `act` on one line; even if its `repr` raises."""
    try:
        if not isinstance(answer, Action):
            return " ".join(quoted(answer, _MAX_ANSWER).split())
        if answer.kind not in tuple(ActionKind):
            return quoted(tuple(answer), _MAX_ANSWER)
        name = ActionKind(answer.kind).name.lower()
        if answer.hand_total:
            return f"{name} to {quoted(answer.hand_total, _MAX_ANSWER)}"
        return name
    except Exception:
        return f"a {type(answer).__name__} that cannot be shown"


_MAX_ANSWER: Final = 100
"""Characters of an illegal answer in the error."""
NOTE: Final = "The bot was looking at the state "
"""Beginning of the note added to exceptions of a bot's own code."""


class Conversation:
    """One bot's side of one match.

    Attributes:
        hands_finished: number of hands whose last state has been received.
        hand_number: number of the current hand; None between hands.
    """

    def __init__(self, bot: Bot, game: Game, *, game_name: str = "") -> None:
        require_bot(bot)
        self._bot = bot
        self._session = PlayerSession(game)
        self._game_name = game_name or "the given one"
        self._comments: list[bytes] = []
        # Most states ask the player nothing, so views are made for hooks only if the bot overrides them.
        self._wants_start = overrides(bot, "hand_started")
        self._wants_end = overrides(bot, "hand_finished")
        self.hands_finished = 0
        self.hand_number: int | None = None
        self._last_line = b""

    @property
    def last_state(self) -> str:
        """Last line received, without its line end; empty before the first."""
        return self._last_line.rstrip(b"\r\n").decode("latin-1")

    def open(self) -> bytes:
        """Return the bytes of the handshake."""
        return self._session.send(Handshake())

    def receive_data(self, data: bytes) -> bytes:
        """Process bytes from the dealer and return the bytes to send, often none.

        Raises:
            DealerFailure: the dealer sent a line that is not a state of the game.
            IllegalReply: the bot's action is not legal.
            TypeError: a hook of the bot is an ``async def``.
            Exception: the bot's own code raised it.
        """
        session = self._session
        session.receive_data(data)
        out = b""
        while True:
            try:
                event = session.next_event()
            except RemoteProtocolError as error:
                raise self._dealer_failure(error) from error
            if event is NEED_DATA:
                return out
            if isinstance(event, ReceivedState):
                out += self._on_state(event)
            # Only `Closed` is left.
            elif not isinstance(event, Comment):
                return out

    def receive_eof(self) -> None:
        """End the match once the dealer has closed the connection; ignore an incomplete last line."""
        call_hook(self._bot.match_finished)

    def _on_state(self, event: ReceivedState) -> bytes:
        self._last_line, hand, is_my_turn = event
        is_new = self.hand_number != hand.hand_number
        finished = hand.betting.finished
        self.hand_number = hand.hand_number
        if finished:
            self.hand_number = None
            self.hands_finished += 1
        if not (is_my_turn or (is_new and self._wants_start) or (finished and self._wants_end)):
            return b""
        view = View.from_state(hand, hand.betting)
        try:
            if is_new and self._wants_start:
                call_hook(self._bot.hand_started, view)
            if finished and self._wants_end:
                call_hook(self._bot.hand_finished, view)
            answer = self._bot.act(view) if is_my_turn else None
        except BaseException as error:
            error.add_note(NOTE + self.last_state)
            raise
        if view.comments:
            self._comments = (self._comments + view.comments)[:MAX_WAITING_COMMENTS]
        if not is_my_turn:
            return b""
        reply = self._session.send(Reply(require_legal(answer, view)))
        if self._comments:
            reply = b"".join(self._comments) + reply
            self._comments = []
        return reply

    def _dealer_failure(self, error: RemoteProtocolError) -> DealerFailure:
        """Describe an invalid line of the dealer; usually the bot assumes another game."""
        cause = error.__cause__
        line = str(getattr(cause, "text", ""))
        if not line.startswith("MATCHSTATE:"):
            return DealerFailure(f"the dealer sent a line that is not a match state: {quoted(line, 200)}")
        return DealerFailure(
            f"the dealer's state does not fit the game assumed, {self._game_name}: {cause}; "
            f"name another game with --game GAME or the environment variable ARENA_GAME"
        )


def require_bot(bot: object) -> None:
    """Raise an error unless the object is a bot; its class is not one.

    Raises:
        TypeError: it is not.
    """
    if isinstance(bot, type):
        raise TypeError(f"a bot is needed, not its class: write {bot.__name__}() for {bot.__name__}")
    if not isinstance(bot, Bot):
        raise TypeError(f"a bot is needed, an object of a class derived from bots.Bot, not {bot!r}")


def overrides(bot: Bot, name: str) -> bool:
    """Return whether a bot has its own method of this name, in its class or set on the object."""
    return getattr(getattr(bot, name), "__func__", None) is not getattr(Bot, name)
