"""A bot in conversation with a dealer: bytes in, bytes out. No socket, no clock, no thread.

`Conversation` sits between a `PlayerSession` (bytes and states) and a `Bot` (views and actions): it asks the bot when
the dealer asks, checks what the bot answers, and puts the bot's comments before the reply. `bots.client` gives it a
socket, `bots.testing` a script.

One rule: a fault of the dealer is a `DealerError`, an illegal answer of the bot an `IllegalReply`, and whatever the
bot's own code raises comes through untouched, with a note that names the state.
"""

from __future__ import annotations

from typing import Final

from bots.bot import Bot
from bots.errors import DealerError
from bots.legality import require_legal
from bots.view import MAX_WAITING_COMMENTS, View
from engine import Game
from engine.errors import quoted
from protocol import NEED_DATA, Comment, Handshake, PlayerSession, ReceivedState, RemoteProtocolError, Reply

__all__ = ["NOTE", "Conversation", "require_bot"]

NOTE: Final = "The bot was looking at the state "
"""How the note begins that is put on what a bot's own code raises."""


class Conversation:
    """One bot's side of one match.

    Attributes:
        hands_finished: hands whose last state has come.
        hand_number: the hand being played; None between hands.
        last_state: the last line received, without its end; empty before the first.
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
        self.last_state = ""

    def open(self) -> bytes:
        """The bytes that open the conversation."""
        return self._session.send(Handshake())

    def receive_data(self, data: bytes) -> bytes:
        """Take bytes from the dealer; returns the bytes for the dealer, often none.

        Raises:
            DealerError: the dealer sent something that is not a state of the game.
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
        """Note that the dealer has closed: the match is over. The rest of an unfinished line is ignored."""
        self._bot.match_finished()

    def _on_state(self, event: ReceivedState) -> bytes:
        raw, state, betting, is_my_turn = event
        is_new = self.hand_number != state.hand_number
        finished = betting.finished
        self.last_state = raw.rstrip(b"\r\n").decode("latin-1")
        self.hand_number = None if finished else state.hand_number
        self.hands_finished += finished
        if not (is_my_turn or (is_new and self._wants_start) or (finished and self._wants_end)):
            return b""
        view = View.from_state(state, betting)
        try:
            if is_new and self._wants_start:
                self._bot.hand_started(view)
            if finished and self._wants_end:
                self._bot.hand_finished(view)
            answer = self._bot.act(view) if is_my_turn else None
        except Exception as error:
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

    def _misfit(self, error: RemoteProtocolError) -> DealerError:
        """Say what is wrong with the dealer's line; mostly the game is another than the one assumed."""
        cause = error.__cause__
        line = str(getattr(cause, "text", ""))
        if not line.startswith("MATCHSTATE:"):
            return DealerError(f"what the dealer sent is not a match state: {quoted(line, 200)}")
        return DealerError(
            f"the dealer's state does not fit the game assumed, {self._game_name}: {cause}; "
            f"name another game with --game GAME or the environment variable ARENA_GAME"
        )


def require_bot(bot: object) -> None:
    """Check that this is a bot and not, an easy slip, its class.

    Raises:
        TypeError: it is not.
    """
    if isinstance(bot, type):
        raise TypeError(f"a bot is needed, not its class: write {bot.__name__}() for {bot.__name__}")
    if not isinstance(bot, Bot):
        raise TypeError(f"a bot is needed, an object of a class derived from bots.Bot, not {bot!r}")


def overrides(bot: Bot, name: str) -> bool:
    """Whether a bot has a hook of its own, in its class or on the object."""
    return getattr(getattr(bot, name), "__func__", None) is not getattr(Bot, name)
