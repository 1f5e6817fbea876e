"""Seats of users' bots over the text port: who gets one, who does not, and what strangers can do to them."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dealer.run.settings import Seating
from dealer.server.access import Person, Visibility, visibility_of
from dealer.server.accounts import User, add_user
from dealer.server.db import records
from dealer.server.db.records import JobRequest, JobState, RunState, new_job
from dealer.server.db.runs import RunReport, add_job, add_table, begin_run, end_run
from dealer.server.db.store import Store
from dealer.server.queue.jobs import SeatOpen
from dealer.server.settings import ServerSettings, read_toml_settings
from dealer.server.textport.hosting import HostedSeat, Seats
from dealer.table.links import OpenSeat
from dealer.table.loop import new_event_loop
from engine import DealKey
from protocol.joining import SeatClaim, SeatOffer, read_server_message
from tests.dealer.server.servers import House, Talk, running

pytestmark = pytest.mark.usefixtures("house_folder")

CONFIG = """
port = 0
[[games]]
game = "kuhn"
deals = 60
bots = ["A=./bot2l.sh", "B=./bot2l.sh"]
"""


def play(talk: Callable[[House], Awaitable[None]], **changes: Any) -> None:
    Path("s.toml").write_text(CONFIG)
    settings: ServerSettings = replace(read_toml_settings(Path("s.toml")), **changes)

    async def run() -> None:
        async with running(settings) as house:
            await talk(house)

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(run())


async def joined(house: House, session: str = "s1", bot: str = "mine") -> Talk:
    """A client that has brought a bot."""
    token = house.started.token
    assert token is not None
    talk = await house.log_in("player", token)
    talk.say(f"JOIN bot={bot} session={session} game=kuhn\n")
    await talk.hear_remark(f"JOINED bot={bot}.*")
    return talk


async def offered(talk: Talk, count: int = 1) -> SeatOffer:
    """The seat that a client is offered, for the so-many-th time."""
    pattern = re.compile(rb"(?m)^# SEAT seat=.*\n")
    await talk.until(lambda: len(pattern.findall(bytes(talk.heard))) >= count)
    offer = read_server_message(pattern.findall(bytes(talk.heard))[count - 1].decode())
    assert isinstance(offer, SeatOffer)
    return offer


async def claim(house: House, secret: str, received: int = 0) -> Talk:
    talk = await house.connect()
    talk.say(f"SEAT secret={secret} received={received}\n")
    return talk


KEY = DealKey(bytes(range(32)))
CHALLENGE = "CHALLENGE tag=t game=kuhn player=mine player=A deals=20\n"
NOT_GOOD = "REFUSED verb=SEAT reason=the secret is not good, or not any more"


def test_a_secret_is_good_once_and_for_one_seat() -> None:
    async def talk(house: House) -> None:
        ann = await joined(house)
        ann.say(CHALLENGE)
        offer = await offered(ann)
        for wrong in (offer.secret[:-1], offer.secret + "x", "x" * 43, "\N{LATIN SMALL LETTER SHARP S}"):
            stranger = await claim(house, wrong)
            await stranger.hear_remark(NOT_GOOD)
            await stranger.hear_end()
        seat = await claim(house, offer.secret)
        await seat.hear_remark("SEATED received=0")
        again = await claim(house, offer.secret)
        await again.hear_remark(NOT_GOOD)
        # Another offer makes the earlier connection end, and its own secret good once.
        ann.say(f"AGAIN seat={offer.seat}\n")
        second = await offered(ann, 2)
        assert second.seat == offer.seat
        assert second.secret != offer.secret
        newer = await claim(house, second.secret)
        await newer.hear_remark("SEATED received=0")
        await seat.until(lambda: seat.is_closed) if not seat.is_closed else None

    play(talk)


def test_an_earlier_offer_is_good_no_more() -> None:
    async def talk(house: House) -> None:
        ann = await joined(house)
        ann.say(CHALLENGE)
        first = await offered(ann)
        ann.say(f"AGAIN seat={first.seat}\n")
        await offered(ann, 2)
        await (await claim(house, first.secret)).hear_remark(NOT_GOOD)

    play(talk)


def test_secrets_expire() -> None:
    now_s = 0.0
    seats = Seats(clock_s=lambda: now_s, secret_s=10.0)
    facts = SeatOpen(run=1, match="a.b", game="kuhn", hands=10, player="mine", port=0, open_seat=OpenSeat())
    seat = HostedSeat(facts, lambda seat, reason: None, rejoin_s=1.0)
    secret = seats.secret_for(seat)
    now_s = 10.0
    assert seats.claimed(SeatClaim(secret)) is seat
    assert seats.claimed(SeatClaim(secret)) is None
    secret = seats.secret_for(seat)
    now_s = 20.1
    assert seats.claimed(SeatClaim(secret)) is None
    secret = seats.secret_for(seat)
    seat.give_up("left")
    assert seats.claimed(SeatClaim(secret)) is None


def test_guessing_secrets_is_slowed_down() -> None:
    async def talk(house: House) -> None:
        ann = await joined(house)
        ann.say(CHALLENGE)
        offer = await offered(ann)
        for _ in range(30):
            await (await claim(house, "x" * 43)).hear_end()
        # From this address not even the right one is taken now.
        await (await claim(house, offer.secret)).hear_remark(NOT_GOOD)

    play(talk)


def test_seats_are_their_clients() -> None:
    async def talk(house: House) -> None:
        ann = await joined(house)
        ann.say(CHALLENGE)
        offer = await offered(ann)
        other = await joined(house, "s2", "other")
        for line in (f"AGAIN seat={offer.seat}\n", f"GIVEUP seat={offer.seat}\n", f"AGAIN seat={offer.seat}\n"):
            other.say(line)
        await other.hear_remark(f"OVER seat={offer.seat} reason=no match awaits the bot at this seat")
        await other.settle()
        assert b"secret=" not in other.heard
        seat = await claim(house, offer.secret)
        await seat.hear_remark("SEATED received=0")

    play(talk)


def test_a_client_that_comes_again_ends_its_half_open_connection() -> None:
    async def talk(house: House) -> None:
        first = await joined(house)
        first.say(CHALLENGE)
        offer = await offered(first)
        second = await joined(house)
        await first.hear_end()
        assert (await offered(second)).seat == offer.seat
        assert re.search(rb"# JOINED bot=mine seat=%d\n" % offer.seat, bytes(second.heard))

    play(talk)


def test_a_seat_that_cannot_be_gone_on_with_is_given_up() -> None:
    async def talk(house: House) -> None:
        ann = await joined(house)
        ann.say(CHALLENGE)
        offer = await offered(ann)
        seat = await claim(house, offer.secret, received=5)
        await seat.hear_end()
        await ann.hear_remark(f"OVER seat={offer.seat} reason=.*5 bytes were not sent, only 0")

    play(talk)


def test_a_client_that_leaves_gives_its_seats_up() -> None:
    async def talk(house: House) -> None:
        ann = await joined(house)
        ann.say(CHALLENGE)
        seat = await claim(house, (await offered(ann)).secret)
        seat.say("VERSION:2.0.0\r\n")
        await seat.until(lambda: b"MATCHSTATE" in seat.heard)
        ann.say("QUIT\n")
        await seat.until(lambda: seat.is_closed) if not seat.is_closed else None
        bob = await house.log_in("player", str(house.started.token))
        async with asyncio.timeout(60):
            while house.rows("SELECT state FROM runs") != [("failed",)]:
                await asyncio.sleep(0.02)
        bob.say("JOIN bot=mine session=s9 game=kuhn\n")
        await bob.hear_remark("JOINED bot=mine")

    play(talk)


def test_who_asks_for_a_challenge_is_told_how_it_ends() -> None:
    async def talk(house: House) -> None:
        first, second = await joined(house), await joined(house, "s2", "other")
        first.say("CHALLENGE tag=t game=kuhn player=A player=mine deals=20\n")
        await offered(first)
        second.say("ASK tag=t\n")
        await second.settle()
        first.say("CANCEL t\n")
        await second.hear_remark("CLOSED tag=t state=cancelled reason=it was cancelled")
        await first.settle()
        assert b"CLOSED" not in first.heard

    play(talk)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("JOIN bot=A session=s", "REFUSED verb=JOIN reason=A is one of the server's own bots.*"),
        ("JOIN bot=../x session=s", "REFUSED verb=JOIN reason=that cannot be a bot's name.*"),
        ("JOIN bot=\x1b[2J session=s", r"REFUSED verb=JOIN reason=JOIN: bot=\?\[2J: it has a character.*"),
        ("JOIN bot=mine session=s game=chess", "REFUSED verb=JOIN reason=there is no game 'chess' here.*"),
        ("JOIN bot=mine session=s at-once=0", "REFUSED verb=JOIN reason=JOIN: at-once=0: it must be at least 1"),
        (
            "GAME game=../../etc/passwd",
            "REFUSED verb=GAME reason=there is no game '../../etc/passwd' here.*",
        ),
        ("ASK tag=nothing", "REFUSED verb=ASK tag=nothing reason=none of your requests has this tag"),
        ("CHALLENGE tag=a/b game=kuhn player=A player=A seating=none", "REFUSED verb=CHALLENGE tag=a/b reason=.*"),
        ("AGAIN seat=1", "OVER seat=1 reason=no match awaits the bot at this seat"),
    ],
)
def test_what_cannot_be_done_is_told(line: str, answer: str) -> None:
    async def talk(house: House) -> None:
        ann = await house.log_in("player", str(house.started.token))
        ann.say(f"{line}\n")
        await ann.hear_remark(answer)
        ann.say("QSTAT\n")
        await ann.hear("Queue empty\n")

    play(talk)


def test_nobody_is_told_the_seed_of_what_may_count_before_all_is_over() -> None:
    async def talk(house: House) -> None:
        ann = await joined(house)
        ann.say(CHALLENGE)
        await offered(ann)
        ann.say("ASK tag=t\nRESULT t\nLOG t\nLOG t 1\n")
        kept_back = "logs that reveal later cards are available when nothing of their request is left to play"
        await ann.until(lambda: ann.heard.count(kept_back.encode()) == 2)
        keys = house.rows("SELECT hex(jobs.deal_key), hex(runs.deal_key) FROM jobs JOIN runs")[0]
        assert [len(key) for key in keys] == [64, 64]
        assert not [key for key in keys if key.lower() in ann.heard.decode().lower()]
        assert b"STATE" not in ann.heard
        ann.say("CANCEL t\n")
        await ann.hear_remark("CLOSED tag=t .*")
        ann.say("LOG t\n")
        await ann.hear_remark("(END OF LOG|none of your runs has a log of this tag and number)")
        assert ann.heard.count(kept_back.encode()) == 2

    play(talk)


def test_a_request_whose_answer_names_its_seed_has_its_logs_sent_and_never_counts() -> None:
    async def talk(house: House) -> None:
        token = house.started.token
        assert token is not None
        ann = await house.log_in("player", token)
        ann.say("RUNMATCHES kuhn 2 t 0 A B\n")
        seed = (await ann.hear_remark("QUEUED player.t: 2 runs, seed ([0-9]+), .*"))[1]
        assert house.rows("SELECT seed, deal_key FROM jobs") == [(int(seed), None)]
        await ann.hear_remark("player.t run 2 of 2: finished, .*")
        assert house.rows("SELECT * FROM lineups") == []
        ann.say("LOG t 2\n")
        await ann.hear_remark("END OF LOG")

    play(talk)


@pytest.mark.parametrize(
    ("changes", "is_told"),
    [
        ({}, True),
        ({"seating": Seating.ROTATIONS}, True),
        ({"seed": KEY}, False),
        ({"seed": KEY, "seating": Seating.ROTATIONS}, False),
        ({"seed": KEY, "seating": Seating.ROTATIONS, "state": JobState.CANCELLED}, False),
    ],
)
def test_whose_logs_are_sent_while_they_are_played(tmp_path: Path, changes: dict[str, Any], *, is_told: bool) -> None:
    with contextlib.closing(Store(tmp_path / "server.sqlite3")) as store:
        user = User(store.write_now(lambda db: add_user(db, "ann")), "ann")
        request = JobRequest("kuhn", ("A", "B"), "t", seating=changes.pop("seating", "single"))
        made = new_job(user, request, changes.pop("seed", 7)).model_copy(update=changes)
        job = store.write_now(lambda db: add_job(db, made))
        run = store.write_now(lambda db: begin_run(db, job, [None, None], 1))
        assert (visibility_of(store, job, Person(user)) is Visibility.EVERYTHING) is is_told
        assert visibility_of(store, job, Person(is_admin=True)) is Visibility.NOTHING
        store.write_now(lambda db: end_run(db, run.id, RunReport(RunState.CANCELLED, "it was cancelled.")))
        assert visibility_of(store, job.model_copy(update={"state": JobState.DONE}), Person()) is Visibility.EVERYTHING


def test_who_sits_at_a_table_is_not_sent_its_log(tmp_path: Path) -> None:
    with contextlib.closing(Store(tmp_path / "server.sqlite3")) as store:
        user = store.write_now(lambda db: add_user(db, "ann"))
        store.write_now(lambda db: add_table(db, "u1", user, "kuhn", players=(), versions=[None], seed=7))
        (job,) = records.jobs(store, user=user, tag="table")
        assert visibility_of(store, job, Person(job.user)) is Visibility.NOTHING
