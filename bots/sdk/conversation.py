"""A bot in conversation with a dealer: bytes in, bytes out. No socket, no clock, no thread.

`Conversation` sits between a `PlayerSession` (bytes and states) and a `Bot` (views and actions): it asks the bot when
the dealer asks, checks what the bot answers, and puts the bot's comments before the reply. `bots.sdk.client` gives it a
socket, `bots.sdk.testing` a script.

One rule: a fault of the dealer is a `DealerFailure`, an illegal answer of the bot an `IllegalReply`, and whatever the
bot's own code raises comes through untouched, with a note that names the state.

`require_legal` refuses an illegal action of a user's bot, naming the rule, the hand and the state: it is a bug in the
bot, and a dealer that quietly turned it into a call would hide it. The bots that come with the arena adapt on purpose:
each documents an intention ("raise always"), and `engine.nearest_legal` gives the action nearest to it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from bots.errors import DealerFailure, IllegalReply
from bots.sdk.bot import Bot
from bots.sdk.view import MAX_WAITING_COMMENTS, View
from engine import CALL, RAISE, Action, ActionKind, Game, IllegalAction, Rule
from engine.errors import quoted
from protocol import NEED_DATA, Comment, Handshake, PlayerSession, ReceivedState, RemoteProtocolError, Reply

if TYPE_CHECKING:
    from bots.sdk.view import View


def require_legal(answer: object, view: View) -> Action:
    """What a bot answered, as the action it is, ready to be sent; an `IllegalReply` if it is not a legal one."""
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
    """Call a hook of a bot; a `TypeError` where it is an ``async def``, which would do nothing."""
    returned = hook(*arguments)
    if isinstance(returned, CoroutineType):
        raise TypeError(_unawaited(returned, hook.__name__))


def _unawaited(coroutine: CoroutineType[Any, Any, Any], name: str) -> str:
    # Otherwise Python warns when it is collected.
    coroutine.close()
    return f"{name}() is an 'async def', which is never awaited: write 'def {name}'"


def _describe(answer: object) -> str:
    """An answer in a few words on one line, whatever it is."""
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
NOTE: Final = "The bot was looking at the state "
"""The beginning of the note on exceptions of a bot's own code."""


class Conversation:
    """One bot's side of one match.

    Attributes:
        hands_finished: hands whose last state has come.
        hand_number: the hand being played; None between hands.
    """

    def __init__(self, bot: Bot, game: Game, *, game_name: str = "") -> None:
        require_bot(bot)
        self._bot = bot
        self._session = PlayerSession(game)
        self._game_name = game_name or "the given one"
        self._comments: list[bytes] = []
        # A hook that a bot does not override needs no view: most states ask the player nothing.
        self._wants_start = overrides(bot, "hand_started")
        self._wants_end = overrides(bot, "hand_finished")
        self.hands_finished = 0
        self.hand_number: int | None = None
        self._last_line = b""

    @property
    def last_state(self) -> str:
        """The last line received, without its end; empty before the first."""
        return self._last_line.rstrip(b"\r\n").decode("latin-1")

    def open(self) -> bytes:
        return self._session.send(Handshake())

    def receive_data(self, data: bytes) -> bytes:
        """Take bytes from the dealer; returns the bytes for the dealer, often none.

        Raises:
            DealerFailure: the dealer sent something that is not a state of the game.
            IllegalReply: the bot's answer is not a legal action.
            Exception: whatever the bot's own code raises.
        """
        session = self._session
        session.receive_data(data)
        out = b""
        while True:
            try:
                event = session.next_event()
            except RemoteProtocolError as error:
                raise self._misfit(error) from error
            if event is NEED_DATA:
                return out
            if isinstance(event, ReceivedState):
                out += self._on_state(event)
            elif not isinstance(event, Comment):
                return out

    def receive_eof(self) -> None:
        """The dealer has closed: the match is over. The rest of an unfinished line is ignored."""
        call_hook(self._bot.match_finished)

    def _on_state(self, event: ReceivedState) -> bytes:
        self._last_line, hand, is_my_turn = event
        is_new = self.hand_number != hand.hand_number
        finished = hand.betting.finished
        self.hand_number = None if finished else hand.hand_number
        self.hands_finished += finished
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

    def _misfit(self, error: RemoteProtocolError) -> DealerFailure:
        """The problem of the dealer's line; mostly the game is another than the one assumed."""
        cause = error.__cause__
        line = str(getattr(cause, "text", ""))
        if not line.startswith("MATCHSTATE:"):
            return DealerFailure(f"what the dealer sent is not a match state: {quoted(line, 200)}")
        return DealerFailure(
            f"the dealer's state does not fit the game assumed, {self._game_name}: {cause}; "
            f"name another game with --game GAME or the environment variable ARENA_GAME"
        )


def require_bot(bot: object) -> None:
    """Raise a `TypeError` unless this is a bot and not, an easy slip, its class."""
    if isinstance(bot, type):
        raise TypeError(f"a bot is needed, not its class: write {bot.__name__}() for {bot.__name__}")
    if not isinstance(bot, Bot):
        raise TypeError(f"a bot is needed, an object of a class derived from bots.Bot, not {bot!r}")


def overrides(bot: Bot, name: str) -> bool:
    """Whether a bot has a hook of its own, in its class or on the object."""
    return getattr(getattr(bot, name), "__func__", None) is not getattr(Bot, name)
