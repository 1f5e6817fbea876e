"""A bot's side of the conversation: calls, replies, and attribution of faults."""

from __future__ import annotations

from typing import Any

import pytest

from bots import CALL, FOLD, RAISE, Action, Bot, DealerFailure, Game, IllegalReply, View
from bots.sdk.conversation import Conversation
from bots.sdk.view import MAX_WAITING_COMMENTS
from protocol import find_game

KUHN = find_game("kuhn")[1]
HAND = (
    b"MATCHSTATE:1:0::|Ks\r\nMATCHSTATE:1:0:r:|Ks\r\n",
    b"MATCHSTATE:1:0:rc:Qs|Ks\r\nMATCHSTATE:0:1::As|\r\n",
    b"MATCHSTATE:0:1:c:As|\r\nMATCHSTATE:0:1:cr:As|\r\n",
    b"MATCHSTATE:0:1:crc:As|Ks\r\n",
)
"""Two hands as one player receives them; each piece but the last ends with a question."""


class Diary(Bot):
    """Bot that records its calls."""

    def __init__(self, *answers: Action) -> None:
        self.events: list[str] = []
        self.answers = list(answers)

    def act(self, view: View) -> Action:
        self.events.append(f"act {view.hand_number}")
        return self.answers.pop(0) if self.answers else CALL

    def hand_started(self, view: View) -> None:
        self.events.append(f"start {view.hand_number}")

    def hand_finished(self, view: View) -> None:
        self.events.append(f"end {view.hand_number} {view.value:+g}")

    def match_finished(self) -> None:
        self.events.append("over")


class Caller(Bot):
    """Bot with `act` only."""

    def act(self, view: View) -> Action:
        return CALL


def open_conversation(bot: Bot, game: Game, *, game_name: str = "") -> Conversation:
    """Return a conversation whose version line has been sent."""
    talk = Conversation(bot, game, game_name=game_name)
    talk.open()
    return talk


def test_two_hands() -> None:
    bot = Diary()
    talk = Conversation(bot, KUHN)
    assert talk.open() == b"VERSION:2.0.0\r\n"
    assert talk.receive_data(HAND[0]) == b"MATCHSTATE:1:0:r:|Ks:c\r\n"
    assert talk.hand_number == 0
    assert talk.receive_data(HAND[1]) == b"MATCHSTATE:0:1::As|:c\r\n"
    assert talk.receive_data(HAND[2]) == b"MATCHSTATE:0:1:cr:As|:c\r\n"
    assert talk.receive_data(HAND[3]) == b""
    assert (talk.hands_finished, talk.hand_number) == (2, None)
    assert talk.last_state == "MATCHSTATE:0:1:crc:As|Ks"
    talk.receive_eof()
    assert bot.events == ["start 0", "act 0", "end 0 +2", "start 1", "act 1", "act 1", "end 1 +2", "over"]


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_bytes_in_pieces(size: int) -> None:
    whole, pieces = open_conversation(Caller(), KUHN), open_conversation(Caller(), KUHN)
    stream = b"".join(HAND)
    wanted = whole.receive_data(stream)
    assert wanted.count(b"\n") == 3
    assert b"".join(pieces.receive_data(stream[i : i + size]) for i in range(0, len(stream), size)) == wanted


def test_lines_of_the_dealer_for_people_are_passed_over() -> None:
    talk = open_conversation(Caller(), KUHN)
    assert talk.receive_data(b"# hello\r\n;x\r\nMATCHSTATE:0:0::As|\r\n") == b"MATCHSTATE:0:0::As|:c\r\n"


def test_repeated_number_after_the_end_is_a_new_hand() -> None:
    bot = Diary()
    talk = open_conversation(bot, KUHN)
    for _ in range(2):
        talk.receive_data(b"MATCHSTATE:0:0::As|\r\nMATCHSTATE:0:0:rf:As|\r\n")
    assert bot.events == ["start 0", "act 0", "end 0 +1"] * 2


def test_comments_go_before_the_reply_in_one_piece() -> None:
    class Talker(Bot):
        def act(self, view: View) -> Action:
            view.comment("thinking")
            return CALL

        def hand_finished(self, view: View) -> None:
            view.comment(f"won {view.value:g}")

    talk = open_conversation(Talker(), KUHN)
    assert talk.receive_data(HAND[0]) == b"# thinking\r\nMATCHSTATE:1:0:r:|Ks:c\r\n"
    assert talk.receive_data(HAND[1]) == b"# won 2\r\n# thinking\r\nMATCHSTATE:0:1::As|:c\r\n"


def test_waiting_comments_are_bounded() -> None:
    class Talker(Caller):
        def hand_started(self, view: View) -> None:
            for _ in range(10):
                view.comment("hello")

    talk = open_conversation(Talker(), KUHN)
    for hand in range(10):
        assert talk.receive_data(b"MATCHSTATE:1:%d::|Ks\r\n" % hand) == b""
    assert talk.receive_data(b"MATCHSTATE:1:9:r:|Ks\r\n").count(b"#") == MAX_WAITING_COMMENTS


def test_hooks_put_on_an_object_count() -> None:
    bot: Any = Caller()
    seen = []
    bot.hand_finished = lambda view: seen.append(view.value)
    open_conversation(bot, KUHN).receive_data(b"".join(HAND))
    assert seen == [2.0, 2.0]


def test_illegal_answer() -> None:
    talk = open_conversation(Diary(RAISE), KUHN)
    with pytest.raises(IllegalReply, match=r"raise in hand 0: .* \(rule RAISE_CAP\); the state was MATCHSTATE:1:0:r:"):
        talk.receive_data(HAND[0])
    with pytest.raises(IllegalReply, match="check instead"):
        open_conversation(Diary(FOLD), KUHN).receive_data(b"MATCHSTATE:0:0::As|\r\n")


def test_another_game() -> None:
    talk = open_conversation(Caller(), find_game("limit")[1], game_name="limit (holdem)")
    with pytest.raises(DealerFailure) as caught:
        talk.receive_data(b"MATCHSTATE:0:0::As|\r\n")
    sentence = str(caught.value)
    assert sentence.startswith("the dealer's state does not fit the game assumed, limit (holdem): ")
    assert "byte" in sentence
    assert sentence.endswith("name another game with --game GAME or the environment variable ARENA_GAME")


def test_other_protocols_are_refused() -> None:
    with pytest.raises(
        DealerFailure, match=r"the dealer sent a line that is not a match state: 'HTTP/1.1 400 Bad Request'"
    ):
        open_conversation(Caller(), KUHN).receive_data(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def test_errors_of_the_bot_are_raised_with_a_note() -> None:
    class Broken(Bot):
        def act(self, view: View) -> Action:
            raise ZeroDivisionError("oops")

    with pytest.raises(ZeroDivisionError) as caught:
        open_conversation(Broken(), KUHN).receive_data(HAND[0])
    assert caught.value.__notes__ == ["The bot was looking at the state MATCHSTATE:1:0:r:|Ks"]


def test_truncated_last_line_is_ignored() -> None:
    bot = Diary()
    talk = open_conversation(bot, KUHN)
    assert talk.receive_data(b"MATCHSTATE:0:0:") == b""
    talk.receive_eof()
    assert bot.events == ["over"]


def test_bot_without_act_is_refused() -> None:
    class Lazy(Bot):
        pass

    with pytest.raises(TypeError, match="act"):
        Lazy()  # type: ignore[abstract]


def test_policy_is_optional() -> None:
    view = View.from_state(*_kuhn_state())
    assert Caller().policy(view) is None


def _kuhn_state() -> tuple[Any, Any]:
    from protocol import parse_match_state
    from protocol.match_state import betting_after

    return parse_match_state("MATCHSTATE:0:0::As|", KUHN), betting_after(KUHN, "")
