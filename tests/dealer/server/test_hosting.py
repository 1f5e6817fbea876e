"""Server's side of the protocol for clients of bots: joining, seats, challenges, refusals and attacks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from dealer.server.accounts import add_token
from dealer.server.db.run_changes import end_job, end_run
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.queue.presence import Presence
from dealer.server.server_settings import ServerSettings, read_toml_settings
from dealer.web.api import join_socket
from dealer.web.server_site import server_site
from engine import DealKey
from protocol.joining import (
    MAX_MESSAGE_BYTES,
    Cancel,
    Challenge,
    ChallengeState,
    ContestTerms,
    Join,
    Joined,
    JoiningRequest,
    Refused,
    RunOver,
    SeatOffer,
    SeatOver,
    SeatText,
    ServerMessage,
    encode,
    read_server_message,
)
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.server.servers import House, running

pytestmark = pytest.mark.usefixtures("house_folder")

CONFIG = """
port = 0
[web]
port = 0
[[games]]
game = "kuhn"
deals = 60
bots = ["A=./bot2l.sh", "B=./bot2l.sh"]
"""
_Message = TypeVar("_Message", bound=ServerMessage)


@contextlib.asynccontextmanager
async def serving(config: str = CONFIG, **changes: Any) -> AsyncIterator[House]:
    Path("s.toml").write_text(config)
    settings: ServerSettings = replace(read_toml_settings(Path("s.toml")), **changes)
    async with running(settings, web=server_site) as house:
        yield house


class JoiningPeer:
    """Scripted client of the joining protocol.

    Attributes:
        received: all messages from the server.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.received: list[ServerMessage] = []

    async def send(self, *messages: JoiningRequest | str | bytes) -> None:
        for message in messages:
            await self.connection.send(message if isinstance(message, str | bytes) else encode(message).decode())

    async def expect(self, kind: type[_Message], count: int = 1) -> _Message:
        """Receive until there are so many messages of a kind; return the last of these."""
        async with asyncio.timeout(PATIENCE_S):
            while len(messages := [message for message in self.received if isinstance(message, kind)]) < count:
                self.received.append(read_server_message(await self.connection.recv()))
        return messages[count - 1]

    async def expect_close(self) -> int | None:
        """Receive until the connection is closed; return the code."""
        with contextlib.suppress(ConnectionClosed):
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    self.received.append(read_server_message(await self.connection.recv()))
        return self.connection.close_code


async def connect_peer(house: House, token: str | None = None, **options: Any) -> JoiningPeer:
    address = (house.started.page or "").replace("http", "ws") + "api/v1/join"
    headers = {"Authorization": f"Bearer {token or house.started.token}"}
    return JoiningPeer(await connect(address, additional_headers=headers, **options))


async def join_peer(house: House, session: str = "s1", bot: str = "mine", **more: Any) -> JoiningPeer:
    """Connect a client and join with a bot."""
    peer = await connect_peer(house)
    await peer.send(Join(bot, session, games=("kuhn",), **more))
    await peer.expect(Joined)
    return peer


KEY = DealKey(bytes(range(32)))
CHALLENGE = Challenge("t", "kuhn", ("mine", "A"), terms=ContestTerms(deals=20))
VERSION = "VERSION:2.0.0\r\n"
NOBODY = "no match awaits the bot at this seat"


async def join_with_seat(house: House, challenge: Challenge = CHALLENGE) -> tuple[JoiningPeer, int]:
    """Connect a client whose bot is offered a seat; return both."""
    peer = await join_peer(house)
    await peer.send(challenge)
    return peer, (await peer.expect(SeatOffer)).seat


async def join_and_start(house: House, challenge: Challenge = CHALLENGE) -> tuple[JoiningPeer, int]:
    """Connect a client whose bot has received its first state; return it and the seat."""
    peer, seat = await join_with_seat(house, challenge)
    await peer.send(SeatText(seat, VERSION))
    await peer.expect(SeatText)
    return peer, seat


async def test_joined_client_receives_the_games_and_an_offered_seat() -> None:
    async with serving() as house:
        ann = await join_peer(house)
        (message,) = ann.received
        assert isinstance(message, Joined)
        assert (message.bot, message.user) == ("mine", "player")
        assert message.seats == {}
        assert message.games["kuhn.limit.2p"].startswith("GAMEDEF\n")
        await ann.send(CHALLENGE)
        assert await ann.expect(ChallengeState) == ChallengeState("t", "queued")
        offer = await ann.expect(SeatOffer)
        assert offer.game == "kuhn.limit.2p"
        assert offer.match == "player.t"
        assert offer.player == "mine"
        assert offer.hands == 20
        await ann.send(SeatText(offer.seat, VERSION))
        assert (await ann.expect(SeatText)).text.startswith("MATCHSTATE:0:0::")


async def test_guessing_tokens_is_slowed_down() -> None:
    async with serving() as house:
        address = (house.started.page or "").replace("http", "ws") + "api/v1/join"
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic cGxheWVyOng="}):
            with pytest.raises(InvalidStatus) as caught:
                await connect(address, additional_headers=header)
            assert caught.value.response.status_code == 401
            assert "token" in json.loads(caught.value.response.body)["detail"]
        # The three requests above do not count as guesses: 29 failures more, with tokens, reach the limit.
        for _ in range(29):
            with pytest.raises(InvalidStatus, match="401"):
                await connect_peer(house, "x" * 32)
        # The correct token is refused as well while the address has to wait.
        with pytest.raises(InvalidStatus, match="429"):
            await connect_peer(house)


async def test_seat_belongs_to_its_client() -> None:
    async with serving() as house:
        ann, seat = await join_with_seat(house)
        with contextlib.closing(Store(house.folder / DATABASE_NAME)) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "bob")))
        bob = await connect_peer(house, token)
        await bob.send(Join("other", "s1", seats={seat: 0}))
        assert (await bob.expect(Joined)).seats == {}
        await bob.send(SeatOver(seat), SeatText(seat, VERSION), Cancel("t"))
        assert await bob.expect(SeatOver) == SeatOver(seat, NOBODY)
        await ann.send(SeatText(seat, VERSION))
        assert (await ann.expect(SeatText)).seat == seat


async def test_bot_of_another_user_is_refused() -> None:
    async with serving() as house:
        await join_peer(house)
        with contextlib.closing(Store(house.folder / DATABASE_NAME)) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "bob")))
        bob = await connect_peer(house, token)
        await bob.send(Join("mine", "s1"))
        assert (await bob.expect(Refused)).reason == "the bot mine belongs to another user; give yours another name"
        assert await bob.expect_close() == 1008


async def test_returning_client_ends_its_half_open_connection() -> None:
    async with serving() as house:
        first, seat = await join_with_seat(house)
        second = await join_peer(house)
        await first.expect_close()
        assert not [message for message in first.received if isinstance(message, Refused | SeatOver)]
        assert (await second.expect(Joined)).seats == {seat: 0}
        assert await second.expect(SeatOffer) == await first.expect(SeatOffer)


async def test_missed_texts_are_sent_again() -> None:
    async with serving() as house:
        first, seat = await join_with_seat(house)
        await first.send(SeatText(seat, VERSION[:5]), SeatText(seat, VERSION[5:]))
        state = await first.expect(SeatText)
        for received, again in ((0, 1), (1, 0)):
            second = await join_peer(house, seats={seat: received})
            assert (await second.expect(Joined)).seats == {seat: 2}
            await second.send(Challenge("wrong", "chess", ("mine", "A")))
            await second.expect(ChallengeState)
            assert [message for message in second.received if isinstance(message, SeatText)] == again * [state]


async def test_seat_that_its_client_cannot_resume_is_released() -> None:
    async with serving() as house:
        _, seat = await join_with_seat(house)
        again = await join_peer(house, seats={seat: 5})
        reason = (await again.expect(SeatOver)).reason
        assert reason.startswith("the seat cannot be resumed: 5 texts were received, but 0 were sent")
        await again.connection.close()
        _, seat = await join_and_start(house)
        again = await join_peer(house)
        assert await again.expect(SeatOver) == SeatOver(seat, "its client no longer plays it")


async def test_another_session_does_not_get_the_seats() -> None:
    async with serving() as house:
        ann, seat = await join_with_seat(house)
        await join_peer(house, "s2", seats={seat: 0})
        assert await ann.expect_close() == 1008
        last = [message for message in ann.received if isinstance(message, SeatOver | Refused)]
        sentence = "another client has connected the bot"
        assert last == [SeatOver(seat, sentence), Refused(sentence)]


async def test_another_client_replaces_an_absent_one_at_once() -> None:
    async with serving() as house:
        ann, _ = await join_and_start(house, replace(CHALLENGE, terms=ContestTerms(deals=20, on_fault="restart")))
        ann.connection.transport.abort()
        other = await join_peer(house, "s2")
        assert (await other.expect(SeatOffer)).match == "player.t"


async def test_seats_are_released_when_their_client_leaves() -> None:
    async with serving() as house:
        ann, _ = await join_and_start(house)
        await ann.connection.close()
        async with asyncio.timeout(PATIENCE_S):
            while house.rows("SELECT state FROM runs") != [("failed",)]:
                await asyncio.sleep(0.02)
        again = await join_peer(house, "s9")
        assert (await again.expect(Joined)).seats == {}


async def test_bot_that_leaves_before_its_opponent_connects_ends_the_run() -> None:
    # Without a limit for the start, no timeout ends the run.
    async with serving(config=CONFIG.replace("B=./bot2l.sh", "slow=./slow.sh"), start_timeout_s=0.0) as house:
        ann = await join_peer(house)
        for count, text in enumerate(("", VERSION[:5], VERSION), 1):
            terms = ContestTerms(deals=20, seating="single")
            await ann.send(Challenge(f"t{count}", "kuhn", ("mine", "slow"), terms=terms))
            seat = (await ann.expect(SeatOffer, count)).seat
            if text:
                await ann.send(SeatText(seat, text))
            await ann.send(SeatOver(seat, "it does not start"))
            over = await ann.expect(RunOver, count)
            assert (over.state, over.reason) == ("failed", "mine closed the connection before it named its version.")
            assert len([message for message in ann.received if isinstance(message, SeatOffer)]) == count


async def test_bot_that_never_starts_is_offered_its_seat_again_and_forfeits() -> None:
    async with serving(start_timeout_s=0.0) as house:
        ann, _ = await join_with_seat(
            house, replace(CHALLENGE, terms=ContestTerms(deals=20, on_fault="restart", seating="single"))
        )
        while not isinstance(ann.received[-1], RunOver):
            if isinstance(offer := ann.received[-1], SeatOffer):
                await ann.send(SeatOver(offer.seat, "it does not start"))
            ann.received.append(read_server_message(await ann.connection.recv()))
        assert ann.received[-1].state == "finished"
        assert [message.seat for message in ann.received if isinstance(message, SeatOffer)] == [1, 2, 3, 4]
        assert house.rows("SELECT kind, remedy, count(*) FROM faults GROUP BY 1, 2 ORDER BY 2") == [
            ("disconnect", "awaited again", 3),
            ("disconnect", "checks or folds from there on", 1),
        ]


async def test_only_a_final_close_releases_the_seats() -> None:
    async with serving() as house:
        for code, is_final in ((1001, False), (None, False), (1000, True)):
            ann = await join_peer(house, bot=f"bot{code}")
            await ann.send(replace(CHALLENGE, players=(f"bot{code}", "A")))
            await ann.expect(SeatOffer)
            if code is None:
                ann.connection.transport.abort()
            else:
                await ann.connection.close(code)
            again = await join_peer(house, bot=f"bot{code}")
            assert bool((await again.expect(Joined)).seats) is not is_final
            await again.send(Cancel("t"))


async def test_outcome_of_a_challenge_is_sent_on_request() -> None:
    async with serving() as house:
        first, _ = await join_with_seat(house, Challenge("t", "kuhn", ("A", "mine"), terms=ContestTerms(deals=20)))
        second = await join_peer(house, "s2", "other", challenges=("t", "nothing"))
        assert await second.expect(ChallengeState) == ChallengeState("nothing", "unknown")
        await first.send(Cancel("t"))
        assert await second.expect(ChallengeState, 2) == ChallengeState("t", "cancelled", "it was cancelled")
        await first.send(Challenge("wrong", "chess", ("A", "mine")))
        await first.expect(ChallengeState, 2)
        assert [message.state for message in first.received if isinstance(message, ChallengeState)] == [
            "queued",
            "refused",
        ]


async def test_client_that_returns_as_its_challenge_ends_receives_the_outcome(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The client joins while the last run is stored, and is answered before the end of the challenge is stored."""
    entering, answered = threading.Event(), threading.Event()
    enter = Presence.enter

    async def enter_early(*arguments: Any) -> Any:
        entered = asyncio.ensure_future(enter(*arguments))
        await asyncio.sleep(0)
        entering.set()
        return await entered

    def after(event: threading.Event, change: Callable[..., None]) -> Callable[..., None]:
        def change_later(*arguments: Any) -> None:
            assert event.wait(PATIENCE_S)
            change(*arguments)

        return change_later

    async with serving() as house:
        first = await join_peer(house)
        monkeypatch.setattr(Presence, "enter", enter_early)
        monkeypatch.setattr("dealer.server.queue.job_queue.end_run", after(entering, end_run))
        monkeypatch.setattr("dealer.server.queue.job_queue.end_job", after(answered, end_job))
        await first.send(Challenge("t", "kuhn", ("A", "B"), terms=ContestTerms(deals=2)))
        await first.expect(ChallengeState)
        async with asyncio.timeout(PATIENCE_S):
            while not Path("data/runs/00000001/result.json").exists():
                await asyncio.sleep(0.02)
        first.connection.transport.abort()
        second = await join_peer(house, challenges=("t",))
        answered.set()
        assert await second.expect(ChallengeState) == ChallengeState("t", "done")


REFUSED_JOINS: list[tuple[JoiningRequest | str | bytes, str]] = [
    (Join("A", "s"), "the bot A is one of the server's own bots"),
    (CHALLENGE, "the first message must join a bot"),
    ("nonsense", "Invalid JSON: expected ident"),
    (b"\xff", "Invalid JSON: expected value"),
    ('{"type": "hello"}', "Input tag 'hello' found"),
    ('{"type": "join", "bot": "mine"}', "join.session: Field required"),
]
REFUSED_LATER: list[tuple[JoiningRequest | str, str]] = [
    ('{"type": "text", "seat": 1}', "text.text: Field required"),
    (Join("other", "s1"), "this connection is of mine, and no other bot can join"),
    (Join("mine", "s2"), "this connection is of mine, and no other bot can join"),
]


async def test_refused_client_is_disconnected() -> None:
    async with serving() as house:
        for message, reason in REFUSED_JOINS:
            ann = await connect_peer(house)
            await ann.send(message)
            assert (await ann.expect(Refused)).reason.startswith(reason)
            assert await ann.expect_close() == 1008
            assert house.rows("SELECT * FROM bots WHERE name = 'mine'") == []
        for later_message, reason in REFUSED_LATER:
            ann = await join_peer(house)
            await ann.send(later_message)
            assert (await ann.expect(Refused)).reason.startswith(reason)
            assert await ann.expect_close() == 1008
            # A client with seats could resume them in this session.
            assert (await (await join_peer(house)).expect(Joined)).seats == {}
        ann, seat = await join_with_seat(house)
        await ann.send(SeatText(seat, "\u0100"))
        assert (await ann.expect(Refused)).reason == "a text has a character above 255, which is no byte"
        assert await ann.expect_close() == 1008


async def test_message_above_the_maximum_length_ends_the_connection() -> None:
    async with serving() as house:
        ann = await join_peer(house)
        await ann.send(SeatText(1, "x" * MAX_MESSAGE_BYTES))
        assert await ann.expect_close() == 1009


@pytest.mark.parametrize("max_unsent_bytes", [1 << 14, pytest.param(1 << 40, marks=pytest.mark.slow)])
async def test_slow_reader_is_disconnected(monkeypatch: pytest.MonkeyPatch, max_unsent_bytes: int) -> None:
    monkeypatch.setattr(join_socket, "MAX_UNSENT_BYTES", max_unsent_bytes)

    async with serving(CONFIG.replace("[web]", "[web]\nwrite_timeout_s = 0.2")) as house:
        bob = await join_peer(house, bot="other")
        address = urlsplit(house.started.page or "")
        with socket.socket() as sock:
            # A small buffer of the system makes the server's output wait.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect((address.hostname, address.port))
            ann = await connect_peer(house, sock=sock.dup())
        await ann.send(Join("mine", "s1", games=("kuhn",)))
        await ann.expect(Joined)
        ann.connection.transport.pause_reading()
        with contextlib.suppress(ConnectionClosed):
            while True:
                await asyncio.gather(*(ann.send(SeatText(7, "x")) for _ in range(1000)))
        await bob.send(SeatText(7, "x"))
        await bob.expect(SeatOver)


async def test_impossible_challenge_is_refused() -> None:
    async with serving() as house:
        ann = await join_peer(house)
        for count, players in enumerate((("mine", "Z"), ("mine", "LOCAL")), 1):
            await ann.send(Challenge("t", "kuhn", players))
            state = await ann.expect(ChallengeState, count)
            assert (state.tag, state.state) == ("t", "refused")
        assert state.reason.startswith("LOCAL is for clients of the text port")


async def test_bot_lowers_its_capacity_without_leaving() -> None:
    async with serving() as house:
        ann = await join_peer(house, at_once=3)
        await ann.send(
            Join("mine", "s1", at_once=1, games=("kuhn",)),
            replace(CHALLENGE, terms=ContestTerms(deals=20, seating="single")),
        )
        offer = await ann.expect(SeatOffer)
        await ann.send(Challenge("u", "kuhn", ("mine", "B"), terms=ContestTerms(deals=20)))
        await ann.expect(ChallengeState, 2)
        await ann.send(SeatText(offer.seat, VERSION))
        await ann.expect(SeatText)
        await ann.send(SeatOver(offer.seat, "enough"))
        assert await ann.expect(SeatOver) == SeatOver(offer.seat, "enough")
        assert (await ann.expect(SeatOffer, 2)).match == "player.u"
        assert len([message for message in ann.received if isinstance(message, Joined)]) == 1


async def test_seed_of_a_run_that_may_count_is_secret_until_its_end() -> None:
    async with serving() as house:
        ann, _ = await join_with_seat(house)
        text = await house.log_in("player", str(house.started.token))
        text.send("RESULT t\nLOG t\nLOG t 1\n")
        refusal = "logs that reveal later cards are available when all runs of their request have ended"
        await text.until(lambda: text.received.count(refusal.encode()) == 2)
        again = await join_peer(house, challenges=("t",))
        await again.expect(SeatOffer)
        keys = house.rows("SELECT hex(jobs.deal_key), hex(runs.deal_key) FROM jobs JOIN runs")[0]
        assert [len(key) for key in keys] == [64, 64]
        everything = f"{text.received.decode()} {ann.received} {again.received}".lower()
        assert not [key for key in keys if key.lower() in everything]
        assert b"STATE" not in text.received
        await again.send(Cancel("t"))
        assert (await again.expect(ChallengeState)).state == "cancelled"
        text.send("LOG t\n")
        await text.expect_remark("(END OF LOG|none of your runs has a log of this tag and number)")
        assert text.received.count(refusal.encode()) == 2


async def test_request_with_a_reported_seed_sends_its_logs_and_never_counts() -> None:
    async with serving() as house:
        token = house.started.token
        assert token is not None
        ann = await house.log_in("player", token)
        ann.send("RUNMATCHES kuhn 2 t 0 A B\n")
        seed = (await ann.expect_remark("QUEUED player.t: 2 runs, seed ([0-9]+), .*"))[1]
        assert house.rows("SELECT seed, deal_key FROM jobs") == [(int(seed), None)]
        await ann.expect_remark("player.t run 2 of 2: finished, .*")
        assert house.rows("SELECT * FROM lineups") == []
        ann.send("LOG t 2\n")
        await ann.expect_remark("END OF LOG")
