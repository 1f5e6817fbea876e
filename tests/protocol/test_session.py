"""Sessions of both sides of a conversation, without sockets."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import CALL, FOLD, RAISE, Action, Game, Hand, deal_hand, raise_to
from protocol import (
    NEED_DATA,
    BadAction,
    BadState,
    Closed,
    Comment,
    DealerEvent,
    DealerSession,
    Handshake,
    LocalProtocolError,
    PlayerEvent,
    PlayerSession,
    ReceivedState,
    RemoteProtocolError,
    Reply,
    SessionState,
    StaleReply,
    UnknownAction,
    find_game,
    format_action,
)
from protocol.session import VERSION_LINE
from tests.engine.strategies import SEEDS, playable_games, random_action
from tests.protocol.states import view

LIMIT = find_game("limit")[1]
NO_LIMIT = find_game("nolimit")[1]

STATE = b"MATCHSTATE:1:30::|9hQd\r\n"
ECHO = STATE[:-2]


def dealer_after_handshake(game: Game = NO_LIMIT, state: bytes | None = STATE) -> DealerSession:
    """Return a dealer's session after the handshake, with a state sent."""
    session = DealerSession(game)
    session.receive_data(VERSION_LINE)
    assert isinstance(session.next_event(), Handshake)
    if state is not None:
        assert session.send(state, is_question=True) == state
    return session


def player(game: Game = NO_LIMIT) -> PlayerSession:
    """Return a player's session after the handshake."""
    session = PlayerSession(game)
    session.send(Handshake())
    return session


def dealer_events(session: DealerSession) -> list[DealerEvent]:
    """Take all pending events of a session."""
    events: list[DealerEvent] = []
    while (event := session.next_event()) is not NEED_DATA:
        events.append(event)
        if isinstance(event, Closed):
            break
    return events


def judge(line: bytes, game: Game = NO_LIMIT, state: bytes = STATE) -> DealerEvent:
    """Return the event of a dealer that receives one line."""
    session = dealer_after_handshake(game, state)
    session.receive_data(line)
    (event,) = dealer_events(session)
    assert getattr(event, "raw", None) == line
    return event


def answer(event: DealerEvent) -> tuple[bytes, Action]:
    """Return the line and the action of a reply."""
    assert isinstance(event, Reply)
    return event.raw, event.action


# -- whole conversations ---------------------------------------------------------------------------------------------


@given(playable_games(), SEEDS)
def test_a_match_between_both_sides(game: Game, seed: int) -> None:
    chance = random.Random(seed)
    dealers = [DealerSession(game) for _ in range(game.num_players)]
    players = [PlayerSession(game) for _ in range(game.num_players)]
    for dealer, player in zip(dealers, players, strict=True):
        dealer.receive_data(player.send(Handshake()))
        assert dealer.next_event() == Handshake((2, 0, 0), VERSION_LINE)
    for number in range(2):
        hand = Hand(game, deal_hand(game, seed, number))
        while True:
            turn = hand.acting_position
            for position, (dealer, player) in enumerate(zip(dealers, players, strict=True)):
                state = view(hand.betting, hand.deal, position, number)
                line = state.format().encode() + b"\r\n"
                player.receive_data(dealer.send(line, is_question=position == turn))
                received = player.next_event()
                assert isinstance(received, ReceivedState)
                assert (received.raw, received.state, received.is_my_turn) == (line, state, position == turn)
                assert received.betting.rounds == hand.betting.rounds
                assert player.next_event() is NEED_DATA
                if position != turn:
                    with pytest.raises(LocalProtocolError):
                        player.send(Reply(CALL))
            if hand.finished:
                break
            action = random_action(hand.betting, chance)
            dealers[turn].receive_data(players[turn].send(Reply(action)))
            reply = dealers[turn].next_event()
            assert isinstance(reply, Reply)
            assert reply.action == action
            assert dealers[turn].next_event() is NEED_DATA
            hand.apply(action)
    for dealer, player in zip(dealers, players, strict=True):
        for session in (dealer, player):
            session.receive_eof()
            assert session.next_event() == Closed()


def scripted_stream(game: Game, seed: int) -> tuple[bytes, bytes, list[bytes]]:
    """Generate a player's noisy bytes in one hand, the questions to it, and the dealer's stream."""
    chance = random.Random(seed)
    hand = Hand(game, deal_hand(game, seed, 0))
    sent, stream, questions = b"", b"", []
    while not hand.finished:
        turn = hand.acting_position
        line = view(hand.betting, hand.deal, turn, 0).format().encode()
        if turn == 0:
            action = random_action(hand.betting, chance)
            for _ in range(chance.randrange(3)):
                sent += chance.choice([
                    b"# a comment\r\n", b";\n", b"\r\n", b"\n", b"nonsense\n", line + b"\r\n", line + b":x\n",
                    b"MATCHSTATE:0:99::\n", line[:-1], b"\0", line.replace(b"STATE:0:0", b"STATE:0:1") + b":c\n",
                ])  # fmt: skip
            sent += line + b":" + format_action(action).encode() + chance.choice([b"\r\n", b"\n"])
            questions.append(line + b"\r\n")
        else:
            action = random_action(hand.betting, chance)
        seen = view(hand.betting, hand.deal, 0, 0).format().encode()
        stream += seen + b"\r\n" + chance.choice([b"", b"# from the dealer\r\n"])
        hand.apply(action)
    return sent, stream, questions


def feed(session: DealerSession | PlayerSession, pieces: list[bytes], take: Callable[[], None]) -> None:
    """Feed a stream in pieces, then its end; take all events after each piece."""
    for piece in pieces:
        session.receive_data(piece)
        take()
    session.receive_eof()
    take()


def drive(game: Game, questions: list[bytes], pieces: list[bytes]) -> list[DealerEvent]:
    """Return the events of a dealer who asks one state after the other and accepts any action."""
    session = DealerSession(game)
    waiting = list(questions)
    events: list[DealerEvent] = []
    is_due = True

    def take() -> None:
        nonlocal is_due
        while is_due:
            event = session.next_event()
            if event is NEED_DATA:
                return
            events.append(event)
            if isinstance(event, Closed):
                is_due = False
            elif isinstance(event, Handshake | Reply | BadAction | UnknownAction):
                is_due = bool(waiting)
                if waiting:
                    session.send(waiting.pop(0), is_question=True)

    feed(session, pieces, take)
    return events


def cut(data: bytes, at: list[int]) -> list[bytes]:
    ends = sorted({min(i, len(data)) for i in at} | {0, len(data)})
    return [data[a:b] for a, b in itertools.pairwise(ends)]


@given(st.sampled_from([LIMIT, NO_LIMIT, find_game("leduc")[1]]), SEEDS, st.lists(st.integers(0, 3000), max_size=40))
def test_cuts_of_the_stream_change_no_dealer_events(game: Game, seed: int, at: list[int]) -> None:
    sent, _, questions = scripted_stream(game, seed)
    stream = VERSION_LINE + sent
    whole = drive(game, questions, [stream])
    assert drive(game, questions, [stream[i : i + 1] for i in range(len(stream))]) == whole
    assert drive(game, questions, cut(stream, at)) == whole
    assert sum(isinstance(event, Handshake) for event in whole) == 1
    raw = b"".join(getattr(event, "raw", b"") for event in whole)
    assert stream.startswith(raw)


@given(st.sampled_from([LIMIT, NO_LIMIT, find_game("leduc")[1]]), SEEDS, st.lists(st.integers(0, 3000), max_size=40))
def test_cuts_of_the_stream_change_no_player_events(game: Game, seed: int, at: list[int]) -> None:
    _, stream, _ = scripted_stream(game, seed)

    def player_events(pieces: list[bytes]) -> list[tuple[object, ...]]:
        session = player(game)
        events: list[tuple[object, ...]] = []

        def take() -> None:
            while (event := session.next_event()) is not NEED_DATA:
                events.append((type(event), *event))
                if isinstance(event, Closed):
                    return

        feed(session, pieces, take)
        return events

    whole = player_events([stream])
    assert player_events([stream[i : i + 1] for i in range(len(stream))]) == whole
    assert player_events(cut(stream, at)) == whole
    assert whole[-1][0] is Closed


@given(st.binary(max_size=200), st.sampled_from([b"", VERSION_LINE, VERSION_LINE + ECHO, VERSION_LINE + ECHO + b":r"]))
def test_any_bytes_are_events_or_a_remote_error(data: bytes, before: bytes) -> None:
    session = DealerSession(NO_LIMIT)
    session.receive_data(before + data)
    session.receive_eof()
    try:
        event = session.next_event()
        while not isinstance(event, Closed):
            if session.state is SessionState.IDLE:
                session.send(STATE, is_question=True)
            event = session.next_event()
    except RemoteProtocolError:
        pass
    with pytest.raises(LocalProtocolError):
        session.next_event()


@given(st.binary(max_size=100), st.sampled_from([b"", b"#", b"MATCHSTATE:", ECHO]))
def test_any_bytes_of_a_dealer_are_events_or_a_remote_error(data: bytes, before: bytes) -> None:
    session = player()
    session.receive_data(before + data)
    session.receive_eof()
    event: PlayerEvent | None = None
    try:
        while not isinstance(event, Closed):
            event = session.next_event()
    except RemoteProtocolError:
        pass
    with pytest.raises(LocalProtocolError):
        session.next_event()


# -- the handshake ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "version", "is_supported"),
    [
        (b"VERSION:2.0.0\r\n", (2, 0, 0), True),
        (b"VERSION:2.0.7\n", (2, 0, 7), True),
        (b"VERSION: 2. 0. 0\n", (2, 0, 0), True),
        (b"VERSION:2.0.0 and more\n", (2, 0, 0), True),
        (b"VERSION:4294967298.0.0\n", (2, 0, 0), True),
        (b"VERSION:1.0.0\n", (1, 0, 0), False),
        (b"VERSION:2.1.0\n", (2, 1, 0), False),
        (b"VERSION:-2.0.0\n", (4294967294, 0, 0), False),
    ],
)
def test_versions_are_parsed_as_by_the_reference(
    line: bytes, version: tuple[int, int, int], is_supported: bool
) -> None:
    session = DealerSession(NO_LIMIT)
    session.receive_data(line)
    event = session.next_event()
    assert event == Handshake(version, line)
    assert event.is_supported is is_supported
    session.send(STATE, is_question=True)
    session.receive_data(ECHO + b":c\r\n")
    assert answer(session.next_event()) == (ECHO + b":c\r\n", CALL)


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"version:2.0.0\r\n",
        b"VERSION:2.0\r\n",
        b"VERSION:2 .0.0\r\n",
        b"HELLO\r\n",
        b"\xff\xfe\0\n",
        ECHO + b":c\r\n",
    ],
)
def test_other_first_lines_end_the_session(line: bytes) -> None:
    session = DealerSession(NO_LIMIT)
    session.receive_data(line + VERSION_LINE)
    with pytest.raises(RemoteProtocolError) as caught:
        session.next_event()
    assert caught.value.line == line
    assert str(caught.value) == f"the first line must be the version, as in b'VERSION:2.0.0\\r\\n', not {line!r}"
    with pytest.raises(LocalProtocolError, match=r"^this session is over$"):
        session.next_event()


def test_a_version_without_line_end_counts_at_the_end() -> None:
    session = DealerSession(NO_LIMIT)
    session.receive_data(b"VERSION:2.0.0")
    assert session.next_event() is NEED_DATA
    session.receive_eof()
    assert session.next_event() == Handshake((2, 0, 0), b"VERSION:2.0.0")
    assert session.next_event() == Closed()


def test_no_state_before_the_handshake() -> None:
    session = DealerSession(NO_LIMIT)
    with pytest.raises(LocalProtocolError, match=r"^no state may be sent before the player's version line$"):
        session.send(STATE, is_question=True)


# -- replies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
@pytest.mark.parametrize(
    ("tail", "action"),
    [
        (b":c", CALL),
        (b":f", FOLD),
        (b":r300", raise_to(300)),
        (b":call", CALL),
        (b":B300", raise_to(300)),
        (b":r300:5", raise_to(300)),
        (b":r99999999999", raise_to(1215752191)),
        (b":c\0junk", CALL),
        (b":c\xff", CALL),
    ],
)
def test_replies_are_read_as_by_the_reference(tail: bytes, action: Action, end: bytes) -> None:
    line = ECHO + tail + end
    assert answer(judge(line)) == (line, action)
    # An earlier reply must not change the result.
    session = dealer_after_handshake()
    for _ in range(3):
        session.receive_data(line)
        assert answer(session.next_event()) == (line, action)
        session.send(STATE, is_question=True)


@pytest.mark.parametrize(
    "line",
    [
        ECHO + b"\r\n",
        ECHO + b"\r:c\r\n",
        ECHO + b" :c\r\n",
        ECHO + b":r\r\n",
        ECHO + b"\0:c\r\n",
    ],
)
def test_the_present_state_without_readable_action(line: bytes) -> None:
    assert judge(line) == BadAction(line)


@pytest.mark.parametrize("tail", [b":\r\n", b":\n", b":x\r\n", b": c\r\n", b"::c\r\n", b":\0c\r\n", b":1\r\n"])
def test_an_unknown_letter(tail: bytes) -> None:
    assert judge(ECHO + tail) == UnknownAction(ECHO + tail)


def test_a_last_reply_without_line_end_counts() -> None:
    session = dealer_after_handshake()
    session.receive_data(ECHO + b":r30")
    assert session.next_event() is NEED_DATA
    session.receive_data(b"0")
    session.receive_eof()
    reply, end = dealer_events(session)
    assert answer(reply) == (ECHO + b":r300", raise_to(300))
    assert end == Closed()


@pytest.mark.parametrize("line", [b"#\n", b";\n", b"# text\r\n", b";MATCHSTATE\n", b"#\xff\0\n"])
def test_comments_are_events(line: bytes) -> None:
    assert judge(line) == Comment(line)


@pytest.mark.parametrize(
    "event",
    [
        BadState(b"\n"),
        BadState(b"nonsense\n"),
        BadState(b"\0" + ECHO + b":c\r\n"),
        BadState(b"MATCHSTATE:1:30\0::|9hQd:c\r\n"),
        BadState(b"MATCHSTATE:1:30:r199:|9hQd:c\r\n"),
        StaleReply(b"MATCHSTATE:1:29::|9hQd:c\r\n"),
        StaleReply(b"MATCHSTATE:0:30::9hQd|:c\r\n"),
        StaleReply(b"MATCHSTATE:1:30:c:|9hQd:c\r\n"),
        StaleReply(b"MATCHSTATE:1:30::|9hQs:c\r\n"),
        StaleReply(b"MATCHSTATE:1:30:cc/:|9hQd/2c3c4c:c\r\n"),
        StaleReply(b"MATCHSTATE:1:29::|9hQd\r\n"),
    ],
)
def test_lines_that_do_not_answer(event: BadState | StaleReply) -> None:
    judged = judge(event.raw)
    assert (type(judged), judged) == (type(event), event)


def test_a_size_or_a_board_that_differs_is_stale() -> None:
    state = b"MATCHSTATE:0:30:r300c/:AhKs|/2c3c4c\r\n"
    for line in (b"MATCHSTATE:0:30:r301c/:AhKs|/2c3c4c:c\r\n", b"MATCHSTATE:0:30:r300c/:AhKs|/2c3c4d:c\r\n"):
        assert judge(line, state=state) == StaleReply(line)


@pytest.mark.parametrize(
    "line",
    [
        b"MATCHSTATE:257:4294967326::|9hQd:c\r\n",
        b"MATCHSTATE:1:30:/:|9HqD:c\r\n",
        b"MATCHSTATE:1:30::2c3c9hQd:c\r\n",
    ],
)
def test_lenient_echoes_of_the_present_state(line: bytes) -> None:
    assert answer(judge(line)) == (line, CALL)


def test_illegal_actions_are_replies() -> None:
    session = dealer_after_handshake(LIMIT, b"MATCHSTATE:0:0:c:AhKs|\r\n")
    session.receive_data(b"MATCHSTATE:0:0:c:AhKs|:f\r\n")
    event = session.next_event()
    assert isinstance(event, Reply)
    assert event.action == FOLD


def test_early_lines_are_judged_by_the_state_that_is_current_when_they_are_read() -> None:
    session = dealer_after_handshake(state=None)
    early = b"MATCHSTATE:1:30:cr300:|9hQd:c\r\n"
    session.receive_data(early + b"MATCHSTATE:1:30::|9hQd:c\r\n" + early)
    session.send(STATE, is_question=True)
    assert session.next_event() == StaleReply(early)
    assert answer(session.next_event()) == (ECHO + b":c\r\n", CALL)
    session.send(b"MATCHSTATE:1:30:cr300:|9hQd\r\n", is_question=True)
    assert session.buffered_bytes == len(early)
    assert answer(session.next_event()) == (early, CALL)
    assert session.next_event() is NEED_DATA


def test_lines_wait_while_no_reply_is_due() -> None:
    session = dealer_after_handshake(state=None)
    line = ECHO + b":c\r\n"
    session.receive_data(line)
    assert session.state is SessionState.IDLE
    assert session.next_event() is NEED_DATA
    session.send(b"MATCHSTATE:1:29:c:|9hQd\r\n", is_question=False)
    assert session.next_event() is NEED_DATA
    assert session.buffered_bytes == len(line)
    session.send(STATE, is_question=True)
    assert session.state is SessionState.AWAITING_REPLY
    assert session.next_event() == Reply(CALL, line)
    assert session.state is SessionState.IDLE


@pytest.mark.parametrize("tail", [b":c", b":r300", b":call", b":x", b"", b":r"])
def test_an_answer_of_any_kind_settles_the_question(tail: bytes) -> None:
    session = dealer_after_handshake()
    session.receive_data(b"junk\r\n# a comment\r\n" + ECHO + tail + b"\r\n" + STATE)
    for expected in (BadState, Comment):
        assert isinstance(session.next_event(), expected)
        assert session.state is SessionState.AWAITING_REPLY
    assert isinstance(session.next_event(), Reply | UnknownAction | BadAction)
    assert session.state is SessionState.IDLE
    assert session.next_event() is NEED_DATA


def test_a_player_who_closes_while_its_lines_wait() -> None:
    session = dealer_after_handshake(state=None)
    session.receive_data(ECHO + b":c\r\n")
    session.receive_eof()
    assert session.next_event() is NEED_DATA
    session.send(STATE, is_question=True)
    assert isinstance(session.next_event(), Reply)
    assert session.next_event() == Closed()
    assert session.state is SessionState.CLOSED


@pytest.mark.parametrize("is_error", [True, False])
def test_the_end_of_a_dealers_session_is_final(*, is_error: bool) -> None:
    session = DealerSession(NO_LIMIT)
    end(session, is_error=is_error)
    assert_over(session, lambda: session.send(STATE, is_question=True))


@pytest.mark.parametrize("is_error", [True, False])
def test_the_end_of_a_players_session_is_final(*, is_error: bool) -> None:
    session = player_after(STATE)
    end(session, is_error=is_error)
    assert_over(session, lambda: session.send(Reply(CALL)))


def end(session: DealerSession | PlayerSession, *, is_error: bool) -> None:
    """End a session, with a line that is an error or with a clean close."""
    session.receive_data(b"HELLO\r\n") if is_error else session.receive_eof()
    if is_error:
        with pytest.raises(RemoteProtocolError):
            session.next_event()
    else:
        assert session.next_event() == Closed()
    assert session.state is (SessionState.ERROR if is_error else SessionState.CLOSED)


def assert_over(session: DealerSession | PlayerSession, send: Callable[[], object]) -> None:
    state = session.state
    for call in (session.next_event, session.receive_eof, lambda: session.receive_data(VERSION_LINE), send):
        with pytest.raises(LocalProtocolError, match=r"^this session is over$"):
            call()
    assert session.state is state


def test_a_line_too_long_is_cut_and_its_rest_is_judged_alone() -> None:
    session = dealer_after_handshake()
    comment = b"#" + b"x" * 5998 + b"\n"
    session.receive_data(comment)
    assert dealer_events(session) == [Comment(comment[:4095]), BadState(comment[4095:])]
    assert session.buffered_bytes == 0


def test_lines_before_the_end_are_read_before_closed() -> None:
    session = dealer_after_handshake()
    session.receive_data(b"#one\n#two")
    session.receive_eof()
    assert dealer_events(session) == [Comment(b"#one\n"), Comment(b"#two"), Closed()]
    with pytest.raises(LocalProtocolError, match=r"^this session is over$"):
        session.next_event()


# -- the player's side -----------------------------------------------------------------------------------------------


def player_after(line: bytes, game: Game = NO_LIMIT) -> PlayerSession:
    """Return a player's session that has read a state."""
    session = player(game)
    session.receive_data(line)
    assert isinstance(session.next_event(), ReceivedState)
    return session


def test_a_player_speaks_in_order() -> None:
    session = PlayerSession(NO_LIMIT)
    assert session.state is SessionState.AWAITING_VERSION
    with pytest.raises(LocalProtocolError, match=r"^no event can be read before the version line is sent$"):
        session.next_event()
    with pytest.raises(LocalProtocolError, match=r"^the version line must be sent first$"):
        session.send(Comment(b"# hello\r\n"))
    session.send(Handshake())
    assert session.state is SessionState.IDLE
    with pytest.raises(LocalProtocolError, match=r"^the version line was sent already$"):
        session.send(Handshake())
    session.receive_data(STATE)
    assert isinstance(session.next_event(), ReceivedState)
    assert session.state is SessionState.AWAITING_REPLY
    assert session.send(Comment(b"# thinking\r\n")) == b"# thinking\r\n"
    assert session.state is SessionState.AWAITING_REPLY
    session.send(Reply(CALL))
    assert session.state is SessionState.IDLE


@pytest.mark.parametrize("line", [b"", b"\n", b"# a", b"x\n", b"# a\n# b\n", b"# a\nMATCHSTATE\n"])
def test_a_comment_is_one_line(line: bytes) -> None:
    with pytest.raises(LocalProtocolError, match=r"^a comment is one line that begins with"):
        player().send(Comment(line))


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_a_reply_is_the_state_and_the_action(end: bytes) -> None:
    assert player_after(ECHO + end).send(Reply(raise_to(300))) == ECHO + b":r300\r\n"
    assert player_after(ECHO + end).send(Reply(CALL)) == ECHO + b":c\r\n"
    assert player_after(ECHO + end).send(Reply(FOLD)) == ECHO + b":f\r\n"
    assert player_after(ECHO + end, LIMIT).send(Reply(RAISE)) == ECHO + b":r\r\n"


@pytest.mark.parametrize(
    "line",
    [
        b"MATCHSTATE:0:30::9hQd|\r\n",
        b"MATCHSTATE:1:30:f:|9hQd\r\n",
        b"MATCHSTATE:1:30:r20000c///:2c2d|9hQd/3c4c5c/6c/7c\n",
    ],
)
def test_no_reply_to_a_state_that_asks_nothing(line: bytes) -> None:
    with pytest.raises(LocalProtocolError, match=r"^no reply is due"):
        player_after(line).send(Reply(CALL))


def test_newer_state_withdraws_the_question() -> None:
    session = player_after(STATE)
    session.receive_data(b"MATCHSTATE:1:30:c:|9hQd\r\n")
    event = session.next_event()
    assert isinstance(event, ReceivedState)
    assert not event.is_my_turn
    with pytest.raises(LocalProtocolError):
        session.send(Reply(CALL))


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (raise_to(199), "cannot reply 'r199': the raise is below the smallest legal size (199, at least 200)"),
        (raise_to(20001), "cannot reply 'r20001': the raise is above the player's stack (20001, at most 20000)"),
        (RAISE, "cannot reply 'r': the raise is below the smallest legal size (0, at least 200)"),
    ],
)
def test_an_illegal_reply_is_refused(action: Action, sentence: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        player_after(STATE).send(Reply(action))
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "line",
    [b"\r\n", b"garbage\r\n", b"MATCHSTATE:2:0::|9hQd\r\n", b"MATCHSTATE:1:0:x:|9hQd\n", ECHO + b" \r\n", b"\xff\n"],
)
def test_a_line_of_the_dealer_that_is_no_state_ends_the_session(line: bytes) -> None:
    session = player()
    session.receive_data(line + STATE)
    with pytest.raises(RemoteProtocolError, match=r"^the dealer's line is not a state of this game: ") as caught:
        session.next_event()
    assert caught.value.line == line
    with pytest.raises(LocalProtocolError, match=r"^this session is over$"):
        session.next_event()


def test_half_a_line_at_the_end_is_the_end() -> None:
    session = player()
    session.receive_data(b"MATCHSTATE:1:3")
    session.receive_eof()
    assert session.next_event() == Closed()
