"""Scripted dealer: a whole dialogue, and every complaint."""

from __future__ import annotations

import pytest

from protocol import FormatError, LocalProtocolError, find_game
from protocol.mock_dealer import MockDealer

HELLO = b"VERSION:2.0.0\r\n"
ASK = "MATCHSTATE:0:0::Ks|"
TELL = "MATCHSTATE:0:0:c:Ks|"


def test_a_whole_dialogue() -> None:
    dealer = (
        MockDealer("kuhn")
        .tell("MATCHSTATE:1:0::|Ks")
        .ask("MATCHSTATE:1:0:r:|Ks", "c", "f")
        .tell("MATCHSTATE:1:0:rc:Qs|Ks")
        .ask("MATCHSTATE:0:1::As|")
        .tell("MATCHSTATE:0:1:rf:As|")
    )
    assert dealer.receive(HELLO) == b"MATCHSTATE:1:0::|Ks\r\nMATCHSTATE:1:0:r:|Ks\r\n"
    assert dealer.receive(b"# thinking\r\nMATCHSTATE:1:0:r:|Ks:c\r\n") == (
        b"MATCHSTATE:1:0:rc:Qs|Ks\r\nMATCHSTATE:0:1::As|\r\n"
    )
    assert dealer.receive(b"MATCHSTATE:0:1::As|:r\r\n") == b"MATCHSTATE:0:1:rf:As|\r\n"
    dealer.assert_done()
    dealer.receive_eof()
    assert dealer.replies == ["c", "r"]
    assert dealer.comments == [b"# thinking\r\n"]


def test_bytes_may_come_one_at_a_time() -> None:
    dealer = MockDealer(find_game("nolimit")[1]).ask("MATCHSTATE:1:0::|9hQd", "r300")
    stream = HELLO + b"MATCHSTATE:1:0::|9hQd:r300\r\n"
    sent = b"".join(dealer.receive(stream[i : i + 1]) for i in range(len(stream)))
    assert sent == b"MATCHSTATE:1:0::|9hQd\r\n"
    assert dealer.replies == ["r300"]
    dealer.assert_done()


# -- mistakes in the script ------------------------------------------------------------------------------------------


def test_tell_and_ask_are_not_mixed_up() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        MockDealer("kuhn").tell(ASK)
    assert str(caught.value) == "'MATCHSTATE:0:0::Ks|' needs a reply, so it must be added with ask()"
    for state in (TELL, "MATCHSTATE:0:0:rf:Ks|"):
        with pytest.raises(LocalProtocolError) as caught:
            MockDealer("kuhn").ask(state)
        assert str(caught.value) == f"{state!r} needs no reply, so it must be added with tell()"


def test_a_script_holds_states_of_its_game() -> None:
    with pytest.raises(FormatError):
        MockDealer("kuhn").tell("MATCHSTATE:0:0::5d5c|")
    with pytest.raises(FormatError):
        MockDealer("kuhn").ask("MATCHSTATE:0:0:x:Ks|")


# -- mistakes of the bot ---------------------------------------------------------------------------------------------


def complaint(dealer: MockDealer, data: bytes) -> str:
    """Return the dealer's message about a bot's bytes."""
    with pytest.raises(AssertionError) as caught:
        dealer.receive(data)
    return str(caught.value).splitlines()[0]


def test_a_version_that_is_not_ours() -> None:
    assert complaint(MockDealer("kuhn"), b"VERSION:1.0.0\r\n") == "the bot speaks version (1, 0, 0), not 2.0.0"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"MATCHSTATE:0:0::Ks|:r\r\n", "the bot answered 'r' to 'MATCHSTATE:0:0::Ks|', expected c or f"),
        (
            b"MATCHSTATE:0:0::Ks|:f\r\n",
            "'f' is illegal at 'MATCHSTATE:0:0::Ks|': there is no bet to fold to; check instead",
        ),
        (
            b"MATCHSTATE:0:1::Ks|:c\r\n",
            "the bot sent b'MATCHSTATE:0:1::Ks|:c\\r\\n' (StaleReply) instead of a reply to 'MATCHSTATE:0:0::Ks|'",
        ),
        (b"hello\r\n", "the bot sent b'hello\\r\\n' (BadState) instead of a reply to 'MATCHSTATE:0:0::Ks|'"),
        (
            b"MATCHSTATE:0:0::Ks|\r\n",
            "the bot sent b'MATCHSTATE:0:0::Ks|\\r\\n' (BadAction) instead of a reply to 'MATCHSTATE:0:0::Ks|'",
        ),
        (
            b"MATCHSTATE:0:0::Ks|:x\r\n",
            "the bot sent b'MATCHSTATE:0:0::Ks|:x\\r\\n' (UnknownAction) instead of a reply to 'MATCHSTATE:0:0::Ks|'",
        ),
    ],
)
def test_a_wrong_answer_is_named(reply: bytes, words: str) -> None:
    dealer = MockDealer("kuhn").ask(ASK, "c", "f")
    dealer.receive(HELLO)
    assert complaint(dealer, reply) == words
    assert dealer.replies == []


def test_unasked_answer_is_noticed_at_the_next_question() -> None:
    dealer = MockDealer("kuhn").ask(ASK, "c").tell(TELL).ask("MATCHSTATE:0:0:cr:Ks|", "c")
    dealer.receive(HELLO)
    dealer.receive(b"MATCHSTATE:0:0::Ks|:c\r\n")
    complaint_text = complaint(dealer, b"MATCHSTATE:0:0:c:Ks|:c\r\n")
    assert complaint_text.startswith("the bot sent b'MATCHSTATE:0:0:c:Ks|:c\\r\\n' (StaleReply) ")


# -- the end ---------------------------------------------------------------------------------------------------------


def unfinished(dealer: MockDealer) -> str:
    """Return the dealer's message about an unfinished script, equal after the bot has closed."""
    with pytest.raises(AssertionError) as caught:
        dealer.assert_done()
    with pytest.raises(AssertionError) as caught_at_eof:
        dealer.receive_eof()
    assert str(caught.value) == str(caught_at_eof.value)
    return str(caught.value).splitlines()[0]


def test_a_bot_that_never_spoke() -> None:
    assert unfinished(MockDealer("kuhn").ask(ASK)) == "the bot has not sent its version line"


def test_a_bot_that_owes_a_reply() -> None:
    dealer = MockDealer("kuhn").ask(ASK)
    dealer.receive(HELLO + b"# let me think\n")
    assert unfinished(dealer) == "the bot still owes a reply to 'MATCHSTATE:0:0::Ks|'"
