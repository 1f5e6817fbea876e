"""Clients that join a server with a bot: contests equal local ones, also when connections break, and refusals."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as websockets_serve

from dealer.errors import JoinError
from dealer.joining import connection as joining_connection
from dealer.joining.connection import JoinSettings
from dealer.joining.server_client import ConnectionLost, JoinedServer, JoinEnding, Joining, News, PlayedSeat
from dealer.library import play
from dealer.run.results import FailureReport
from dealer.server.accounts import Scope, add_token
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.server_settings import ServerSettings, read_toml_settings
from dealer.table.players import parse_player
from dealer.web.server_site import server_site
from protocol import find_game, format_game_definition
from protocol.joining import (
    Challenge,
    ChallengeState,
    ContestTerms,
    Join,
    Joined,
    Refused,
    RunOver,
    SeatOffer,
    SeatOver,
    SeatText,
    ServerMessage,
    encode,
    read_request,
)
from tests.dealer.helpers import PATIENCE_S, free_ports
from tests.dealer.results_of import won_by
from tests.dealer.server.servers import House, running
from tests.outside import make_certificate
from tests.programs import loaded_by, wait_for_exit

GAMES = """
port = 0
rejoin_timeout_s = {rejoin}
t_response_s = {response}
[web]
port = 0
[[games]]
game = "kuhn"
deals = 60
max_deals = 100000
max_running = 8
bots = ["A=./bot2l.sh"]
"""


def settings_of(folder: Path, *, rejoin: float = 60, response: float = 60) -> ServerSettings:
    path = folder / "s.toml"
    path.write_text(GAMES.format(rejoin=rejoin, response=response))
    return read_toml_settings(path)


@dataclass
class JoiningClient:
    """Client in the loop of the test.

    Attributes:
        news: all its news.
        task: runs the client.
    """

    settings: JoinSettings
    news: list[News] = field(default_factory=list)
    task: asyncio.Task[JoinEnding] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self) -> None:
        def note(news: News) -> None:
            self.news.append(news)
            self._changed.set()

        self.task = asyncio.create_task(Joining(self.settings, note).run())

    async def until(self, kind: type[Any], count: int = 1) -> Any:
        """Wait until there are so many news of a kind; return the last of these."""
        assert self.task is not None
        async with asyncio.timeout(PATIENCE_S):
            while len(self._news_of(kind)) < count:
                self._changed.clear()
                waiting = asyncio.create_task(self._changed.wait())
                await asyncio.wait([waiting, self.task], return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if self.task.done() and not self._news_of(kind):
                    self.task.result()
                    raise AssertionError(f"the client has left after {self.news}")
        return self._news_of(kind)[count - 1]

    def _news_of(self, kind: type[Any]) -> list[Any]:
        return [news for news in self.news if isinstance(news, kind)]

    async def ending(self) -> JoinEnding:
        """Wait until the client leaves."""
        assert self.task is not None
        async with asyncio.timeout(PATIENCE_S):
            return await self.task

    async def leave(self) -> None:
        """Make the client leave as Ctrl-C does."""
        assert self.task is not None
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task


def joining_client(house: House, bot: str = "./bot2l.sh", *, name: str = "mine", **more: Any) -> JoiningClient:
    """Create a client of the first user with a bot from the server's folder."""
    assert house.started.page is not None
    folder = Path("joined") / name
    folder.mkdir(parents=True, exist_ok=True)
    token = house.started.token if house.started.token is not None else Path("token").read_text()
    Path("token").write_text(token)
    player = replace(parse_player(bot, str(Path.cwd())), name=name)
    settings = JoinSettings(
        house.started.page,
        token,
        player,
        folder,
        games=("kuhn",),
        retry_s=0.05,
        max_retry_s=0.2,
        answer_timeout_s=PATIENCE_S,
    )
    return JoiningClient(replace(settings, **more))


def hands_of(folder: Path) -> dict[str, list[str]]:
    """Hands and scores of a run, by file name of the match."""
    hands = {}
    for path in sorted(folder.glob("match*.log")):
        hands[path.name] = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return hands


async def until_logged(size: int) -> None:
    """Wait until a log of the first run has so many bytes."""
    async with asyncio.timeout(PATIENCE_S):
        while not any(log.stat().st_size >= size for log in Path("data/runs/00000001").glob("match*.log")):
            await asyncio.sleep(0.01)


def challenge(**more: Any) -> tuple[Challenge, ...]:
    players = ("mine", *more.pop("opponents", ("A",)))
    terms = ContestTerms(**{"deals": 40, "seed": 7, **more})
    return (Challenge(f"mine-{secrets.token_hex(4)}", "kuhn", players, terms=terms),)


async def test_challenge_equals_a_local_contest(house_folder: Path) -> None:
    def compare(over: RunOver) -> None:
        local = play("kuhn", ["mine=./bot2l.sh", "A=./bot2l.sh"], deals=20, seed=7, out=Path("local"))
        assert hands_of(Path("local")) == hands_of(Path("data/runs/00000001"))
        assert won_by(local.players[0]).raw.mean == over.mbb_per_game

    async with running(settings_of(house_folder), web=server_site) as house:
        client = joining_client(house, challenges=challenge(deals=20))
        client.start()
        ending = await client.ending()
        assert ending.is_good
        assert ending.runs == {"finished": 1}
        (over,) = [news for news in client.news if isinstance(news, RunOver)]
        assert (over.state, over.player, over.hands) == ("finished", "mine", 40)
        await asyncio.to_thread(compare, over)


# ---- broken connections


class Wire:
    """Proxy between clients and a server that can cut connections.

    Attributes:
        address: address for the clients.
        connections: number of connections so far.
        budget: bytes in either direction after which a connection is cut, or None.
    """

    def __init__(self, house: House, budget: int | None = None) -> None:
        self.address = ""
        self.connections = 0
        self.budget = budget
        self._server = urlsplit(house.started.page or "")
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None

    async def open(self) -> None:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            from_server, to_server = await asyncio.open_connection(self._server.hostname, self._server.port)
            pair = (writer, to_server)
            self._pairs.add(pair)
            self.connections += 1
            halves = [self._pump(reader, to_server, self.budget), self._pump(from_server, writer, self.budget)]
            tasks = [asyncio.create_task(half) for half in halves]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            self._pairs.discard(pair)
            is_cut = any(task.done() and not task.cancelled() and task.result() for task in tasks)
            for end in pair:
                if is_cut:
                    end.transport.abort()
                end.close()

    @staticmethod
    async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: int | None) -> bool:
        """Forward bytes until the end or the budget; return whether the budget was reached."""
        with contextlib.suppress(OSError):
            while data := await reader.read(4096):
                writer.write(data if budget is None else data[:budget])
                await writer.drain()
                if budget is not None:
                    budget -= len(data)
                    if budget <= 0:
                        return True
        return False

    def cut(self) -> None:
        for pair in self._pairs:
            for end in pair:
                end.transport.abort()

    async def close(self) -> None:
        assert self._listener is not None
        self._listener.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.mark.sampled
@pytest.mark.parametrize("budget", [851, 1003, 1201])
async def test_seat_resumes_at_the_same_line_after_a_broken_connection(house_folder: Path, budget: int) -> None:
    async with running(settings_of(house_folder), web=server_site) as house:
        wire = Wire(house, budget)
        await wire.open()
        client = joining_client(house, challenges=challenge(deals=10), address=wire.address)
        client.start()
        ending = await client.ending()
        await wire.close()
        assert ending.is_good
        assert wire.connections > 3
        await asyncio.to_thread(check_same_hands, 10)


def check_same_hands(hands: int) -> None:
    """Check that the first run has the same hands as a contest of this process."""
    play("kuhn", ["mine=./bot2l.sh", "A=./bot2l.sh"], deals=hands, seed=7, out=Path("local"))
    assert hands_of(Path("local")) == hands_of(Path("data/runs/00000001"))


async def test_cut_connections_do_not_affect_the_match(house_folder: Path) -> None:
    async with running(settings_of(house_folder), web=server_site) as house:
        wire = Wire(house)
        await wire.open()
        client = joining_client(house, challenges=challenge(deals=100), address=wire.address)
        client.start()
        await client.until(SeatOffer)
        for count in (1, 2):
            await until_logged(1000 * count)
            wire.cut()
            lost = await client.until(ConnectionLost, count)
            assert lost.retry_s == client.settings.retry_s
            await client.until(JoinedServer, count + 1)
        ending = await client.ending()
        await wire.close()
        assert ending.is_good
        await asyncio.to_thread(check_same_hands, 100)


async def test_client_resumes_when_its_server_restarts(house_folder: Path) -> None:
    settings = settings_of(house_folder)
    # Not a port from the system, which could give it to another program during the restart.
    settings = replace(settings, web=replace(settings.web, port=free_ports(1)[0]))
    async with running(settings, web=server_site) as house:
        client = joining_client(house, challenges=challenge(deals=80))
        client.start()
        await client.until(SeatOffer)
        await until_logged(1000)
    await client.until(ConnectionLost)
    async with running(settings, web=server_site):
        ending = await client.ending()
        assert ending.is_good
        assert ending.runs == {"finished": 1}
    await asyncio.to_thread(check_same_hands, 80)


# ---- bots and clients that fail


async def test_bot_that_crashes_loses_its_match(house_folder: Path) -> None:
    async with running(settings_of(house_folder), web=server_site) as house:
        client = joining_client(house, "./midcrash.sh", challenges=challenge())
        client.start()
        ending = await client.ending()
        assert ending.runs == {"failed": 1}
        assert ending.failures == 1
        assert not ending.is_good
        failed = await client.until(PlayedSeat)
        assert failed.problem == "it ended with exit code 3"
        over = await client.until(RunOver)
        assert "mine" in over.reason
        client = joining_client(house, "./crash.sh", challenges=challenge())
        client.start()
        failed = await client.until(PlayedSeat)
        assert failed.problem == "it ended with exit code 3 before it connected"
        await client.leave()


async def test_hanging_bot_is_ended_when_the_client_leaves(house_folder: Path) -> None:
    async with running(settings_of(house_folder), web=server_site) as house:
        client = joining_client(house, "./hang.sh", challenges=challenge())
        client.start()
        await client.until(SeatOffer)
        path = Path("hung.txt")
        async with asyncio.timeout(PATIENCE_S):
            while not path.exists() or len(path.read_text().split()) < 3:
                await asyncio.sleep(0.01)
        await client.leave()
        assert all(wait_for_exit(int(pid)) for pid in path.read_text().split())


async def test_run_of_a_user_with_a_dotted_name_ends_as_a_disconnection(house_folder: Path) -> None:
    # Without a start timeout, only the departure of the client ends the run.
    async with running(replace(settings_of(house_folder), start_timeout_s=0.0), web=server_site) as house:
        with contextlib.closing(Store(house.folder / DATABASE_NAME)) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "ann.lee"), frozenset(Scope)))
        client = joining_client(house, token=token, challenges=challenge(deals=100000))
        client.start()
        await client.until(SeatOffer)
        await until_logged(1000)
        await client.leave()
        async with asyncio.timeout(PATIENCE_S):
            while not (rows := house.rows("SELECT state, cause FROM runs WHERE state != 'running'")):
                await asyncio.sleep(0.02)
        ((state, cause),) = rows
        assert state == "failed"
        reason = FailureReport.model_validate_json(cause).sentence(shows_output=True)
        # All matches of the run end, and the cause is of the first one.
        assert re.fullmatch(r"mine closed the connection (in hand [0-9]+|before it named its version)\.", reason)


async def test_bot_that_floods_is_stopped_by_the_match(house_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.run.contest_plan._MAX_IDLE_LINES_PER_HAND", 20)
    flood = house_folder / "flood.sh"
    text = (house_folder / "bot2l.sh").read_text()
    flood.write_text(text.replace('sock.sendall(line + b":c\\r\\n")', 'sock.sendall(b"MATCHSTATE:0:0::x\\r\\n" * 500)'))
    assert "* 500)" in flood.read_text()
    flood.chmod(0o755)

    async with running(settings_of(house_folder), web=server_site) as house:
        client = joining_client(house, "./flood.sh", challenges=challenge())
        client.start()
        ending = await client.ending()
        assert ending.runs == {"failed": 1}
        over = await client.until(RunOver)
        assert over.reason == "mine sent more than 20 lines other than answers in hand 0."


async def test_run_of_a_vanished_client_fails_after_the_rejoin_timeout(house_folder: Path) -> None:
    async with running(settings_of(house_folder, rejoin=0.2), web=server_site) as house:
        wire = Wire(house)
        await wire.open()
        client = joining_client(house, challenges=challenge(deals=100000), address=wire.address)
        client.start()
        await client.until(SeatOffer)
        await until_logged(1000)
        await wire.close()
        async with asyncio.timeout(PATIENCE_S):
            while house.rows("SELECT state FROM runs") != [("failed",)]:
                await asyncio.sleep(0.02)
        ((cause,),) = house.rows("SELECT cause FROM runs")
        report = FailureReport.model_validate_json(cause)
        assert report.seat is not None
        assert report.names[report.seat] == "mine"
        await client.leave()


# ---- refusals and invalid servers


def start_client(house: House, **more: Any) -> JoiningClient:
    client = joining_client(house, **more)
    client.start()
    return client


async def test_wrong_token_name_or_game_is_refused(house_folder: Path) -> None:
    async with running(settings_of(house_folder), web=server_site) as house:
        with pytest.raises(JoinError, match="This token is unknown or has been revoked"):
            await start_client(house, token="wrong").ending()
        with contextlib.closing(Store(house.folder / DATABASE_NAME)) as store:
            reader = store.write_now(lambda db: add_token(db, add_user(db, "ann"), {Scope.READ}))
        with pytest.raises(JoinError, match="This token lacks the scope 'play'"):
            await start_client(house, token=reader).ending()
        for name in ("A", "LOCAL", "..", "x" * 65):
            with pytest.raises(JoinError, match=r"cannot be a bot.s name|one of the server.s own bots"):
                await start_client(house, name=name).ending()
        with pytest.raises(JoinError, match="there is no game 'chess' here; the games are kuhn"):
            await start_client(house, games=("chess",)).ending()


async def run_client(settings: JoinSettings, news: list[News] | None = None) -> JoinEnding:
    async with asyncio.timeout(PATIENCE_S):
        return await Joining(settings, ([] if news is None else news).append).run()


NOT_PAGES = "is not the address of a server's pages, which it reports when it starts"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nNo."
BUSY = b'HTTP/1.1 503 Busy\r\nContent-Length: 21\r\n\r\n{"detail": "So full"}'


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"", NOT_PAGES),
        (b"SSH-2.0-x\r\n", NOT_PAGES),
        (b"x" * 100_000, NOT_PAGES),
        (b"\xff\x00\n", NOT_PAGES),
        (b"BAD LOGON\n", NOT_PAGES),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", r"no bot can join here \(status 200\)"),
        (NOT_FOUND, r"no bot can join here \(status 404\)"),
        (BUSY, "So full"),
    ],
)
async def test_port_without_a_server_is_reported(house_folder: Path, answer: bytes, problem: str) -> None:
    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(answer)
        writer.write_eof()
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()

    # Not a port from the system, so that no other program listens at it afterwards.
    server = await asyncio.start_server(serve_one, "127.0.0.1", free_ports(1)[0])
    player = parse_player("./bot2l.sh", str(Path.cwd()))
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    settings = JoinSettings(address, "t", player, Path.cwd())
    with pytest.raises(JoinError, match=problem):
        await run_client(settings)
    server.close()
    await server.wait_closed()
    with pytest.raises(JoinError, match=r"cannot connect to http://127\.0\.0\.1:"):
        await run_client(settings)


async def join_scripted_server(
    handle: Callable[[ServerConnection], Awaitable[None]], news: list[News] | None = None, **changes: Any
) -> JoinEnding:
    """Run a client of a server whose connections a function handles; return its ending."""
    async with websockets_serve(handle, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        player = parse_player("./bot2l.sh", str(Path.cwd()))
        settings = JoinSettings(address, "t", player, Path.cwd(), games=("kuhn",))
        return await run_client(replace(settings, **changes), news)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"", "is a server of another version: Invalid JSON"),
        (b'{"type": "hello"}', "is a server of another version: Input tag 'hello' found"),
        (b'{"type": "joined", "who": "x"}', "is a server of another version: joined.bot: Field required"),
        (None, "the connection to the server is lost"),
    ],
)
async def test_server_with_other_messages_is_reported(house_folder: Path, answer: bytes | None, problem: str) -> None:
    async def handle(connection: ServerConnection) -> None:
        await connection.recv()
        if answer is not None:
            await connection.send(answer)
            await connection.wait_closed()

    with pytest.raises(JoinError, match=problem):
        await join_scripted_server(handle)


async def test_silent_server_is_reported(house_folder: Path) -> None:
    async def handle(connection: ServerConnection) -> None:
        await connection.wait_closed()

    with pytest.raises(JoinError, match="does not answer"):
        await join_scripted_server(handle, answer_timeout_s=0.3)


JOINED = Joined("mine", "player", {"kuhn": format_game_definition(find_game("kuhn")[1])}, {})


async def send(connection: ServerConnection, *messages: ServerMessage) -> None:
    for message in messages:
        # A proxy may split a message into frames.
        text = encode(message).decode()
        await connection.send([text[:9], text[9:]])


@pytest.fixture
def seats(monkeypatch: pytest.MonkeyPatch) -> list[PlayedSeat]:
    """Seats that clients have accepted. No bot is started for them."""
    seats: list[PlayedSeat] = []

    async def play_without_bot(seat: PlayedSeat) -> None:
        seats.append(seat)
        await seat._changes.wait_for(lambda: seat.is_over)

    monkeypatch.setattr(PlayedSeat, "play", play_without_bot)
    return seats


async def test_client_leaves_between_runs_not_between_their_seatings(
    house_folder: Path, seats: list[PlayedSeat]
) -> None:
    """The client requests no further run once the last one has begun, and leaves when that is over."""
    joins: list[Join] = []
    news: list[News] = []

    async def handle(connection: ServerConnection) -> None:
        def over(match: str) -> RunOver:
            return RunOver(match, 1, 1, "finished", "mine")

        async for text in connection:
            request = read_request(text)
            assert isinstance(request, Join)
            joins.append(request)
            if len(joins) == 1:
                offers = (SeatOffer(seat, "kuhn", f"ladder.{seat}", "mine") for seat in (1, 2))
                await send(connection, JOINED, *offers)
            else:
                # One run ends, and the other has ended the first of its two seatings.
                await send(connection, SeatOver(1), over("ladder.1"), SeatOver(2), over("ladder.0"))
                offer = SeatOffer(3, "kuhn", "ladder.2", "mine")
                await send(connection, offer, SeatOver(3), over("ladder.2"))
        assert connection.close_code == 1000

    ending = await join_scripted_server(handle, news, at_once=2, is_on_ladder=True, max_runs=2)
    assert [offer.seat for offer in news if isinstance(offer, SeatOffer)] == [1, 2, 3]
    assert ending.runs == {"finished": 3}
    assert [(join.ladder, join.at_once) for join in joins] == [(True, 2), (False, 1)]


async def test_seat_offered_while_the_client_leaves_is_not_played(
    house_folder: Path, seats: list[PlayedSeat], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def handle(connection: ServerConnection) -> None:
        await connection.recv()
        offer = SeatOffer(1, "kuhn", "ladder.x", "mine")
        await send(connection, JOINED, offer, SeatOver(1), RunOver("ladder.x", 1, 1, "finished", "mine"))
        await connection.wait_closed()

    close = joining_connection.ServerConnection.close

    async def close_late(connection: joining_connection.ServerConnection) -> None:
        connection.on_message(SeatOffer(2, "kuhn", "ladder.y", "mine"))
        await asyncio.sleep(0)
        await close(connection)

    monkeypatch.setattr(joining_connection.ServerConnection, "close", close_late)
    ending = await join_scripted_server(handle, is_on_ladder=True, max_runs=1)
    assert {seat.offer.seat for seat in seats} <= {1}
    assert ending.runs == {"finished": 1}


async def test_client_whose_last_run_is_lost_plays_another(house_folder: Path, seats: list[PlayedSeat]) -> None:
    joins: list[bool] = []

    async def handle(connection: ServerConnection) -> None:
        async for text in connection:
            request = read_request(text)
            assert isinstance(request, Join)
            joins.append(request.ladder)
            if len(joins) in (1, 3):
                await send(connection, JOINED)
            if len(joins) in (1, 4):
                await send(connection, SeatOffer(len(joins), "kuhn", "ladder.x", "mine"))
            elif len(joins) == 2:
                connection.transport.abort()
            elif len(joins) == 5:
                await send(connection, SeatOver(4), RunOver("ladder.x", 1, 1, "finished", "mine"))

    ending = await join_scripted_server(handle, is_on_ladder=True, max_runs=1, retry_s=0.01)
    assert joins == [True, False, False, True, False]
    assert ending.runs == {"finished": 1}


async def test_text_sent_before_the_server_has_answered_arrives_once(
    house_folder: Path, seats: list[PlayedSeat]
) -> None:
    connections = 0
    texts: list[str] = []

    class Bot:
        def stop_reading(self) -> None: ...

    async def handle(connection: ServerConnection) -> None:
        nonlocal connections
        connections += 1
        async for text in connection:
            match read_request(text):
                case Join() if connections == 1:
                    await send(connection, JOINED, SeatOffer(1, "kuhn", "ladder.x", "mine"))
                    while not seats:
                        await asyncio.sleep(0)
                    connection.transport.abort()
                case Join() if not texts:
                    seats[0]._forward(Bot(), b"VERSION:2.0.0\r\n")  # type: ignore[arg-type]
                    await send(connection, replace(JOINED, seats={1: 0}))
                    await send(connection, RunOver("ladder.x", 1, 1, "finished", "mine"))
                    await send(connection, SeatOver(1))
                case SeatText(text=bot_text):
                    texts.append(bot_text)

    ending = await join_scripted_server(handle, max_runs=1, retry_s=0.01)
    assert connections == 2
    assert texts == ["VERSION:2.0.0\r\n"]
    assert ending.runs == {"finished": 1}


async def test_client_joins_with_the_games_of_its_challenges(house_folder: Path) -> None:
    joins: list[Join] = []

    async def handle(connection: ServerConnection) -> None:
        request = read_request(await connection.recv())
        assert isinstance(request, Join)
        joins.append(request)
        await send(connection, Refused("enough"))

    challenges = tuple(Challenge(f"t{number}", game, ("mine", "A")) for number, game in enumerate(("leduc", "kuhn")))
    for games, joined_games in ((("kuhn",), ("kuhn", "leduc")), (("all",), ())):
        with pytest.raises(JoinError, match="enough"):
            await join_scripted_server(handle, games=games, challenges=challenges)
        assert joins.pop().games == joined_games


async def test_impossible_challenges_are_refused_individually(house_folder: Path) -> None:
    async with running(settings_of(house_folder), web=server_site) as house:
        wrong = [
            *challenge(opponents=("Z",)),
            *challenge(stop="nonsense"),
            *challenge(deals=100_001),
            *challenge(seating="upside-down"),
            *challenge(deals=2),
        ]
        client = joining_client(house, challenges=tuple(wrong))
        client.start()
        ending = await client.ending()
        assert (ending.refused, ending.runs) == (4, {"finished": 1})
        reasons = [news.reason for news in client.news if isinstance(news, ChallengeState)]
        assert any("no bot Z" in reason for reason in reasons)


async def test_another_client_replaces_the_first(house_folder: Path) -> None:
    async with running(settings_of(house_folder), web=server_site) as house:
        first = joining_client(house)
        second = joining_client(house)
        first.start()
        await first.until(JoinedServer)
        second.start()
        with pytest.raises(JoinError, match="another client has connected the bot"):
            await first.ending()
        await second.until(JoinedServer)
        await second.leave()


# ---- encryption


async def test_connection_is_encrypted_and_certificates_are_checked(house_folder: Path) -> None:
    for name in ("server", "other"):
        make_certificate(house_folder, name, "IP:127.0.0.1")
    settings = settings_of(house_folder)
    settings = replace(settings, web=replace(settings.web, certificate="server.pem", key="server.key"))

    async with running(settings, web=server_site) as house:
        client = joining_client(house, challenges=challenge(deals=5), ca=Path("server.pem"))
        client.start()
        assert (await client.ending()).is_good
        with pytest.raises(JoinError, match="its certificate is not trusted"):
            await start_client(house, ca=Path("other.pem")).ending()
        with pytest.raises(JoinError, match="its certificate is not trusted"):
            await start_client(house).ending()
        with pytest.raises(JoinError, match=r"nowhere\.pem: No such file"):
            await start_client(house, ca=Path("nowhere.pem")).ending()
        plain = (house.started.page or "").replace("https", "http")
        with pytest.raises(JoinError, match=NOT_PAGES):
            await start_client(house, address=plain).ending()


def test_client_imports_no_code_of_the_server() -> None:
    assert loaded_by("import dealer.joining.server_client", ["sqlite3", "dealer.server", "dealer.web"]) == []
