"""Soak test: many matches at once over TCP, with players who break the protocol in all ways.

Actions and faults follow from the seed and the states, so that each match is first played alone without sockets to
find its expected course.
"""

from __future__ import annotations

import asyncio
import random
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from dealer.match import Match, MatchSetup, Phase
from dealer.match.faults import FaultKind
from dealer.match.writers import LogWriter
from dealer.table.connections import Connections
from engine import Hand, deal_hand
from logs import format_score_line
from logs.acpc_log import format_value
from logs.whole_file import LineFile
from protocol import ReceivedState, format_action
from protocol.match_state import betting_after
from tests.dealer.helpers import (
    VERSION,
    Board,
    Client,
    Recorder,
    Speaker,
    answer,
    game,
    limits,
    make_setup,
    random_policy,
    run_async,
)

GAMES = ("kuhn", "leduc", "limit", "nolimit", "kuhn.limit.3p.game", "holdem.nolimit.3p", "sidepots.nolimit.3p.game")
SILENCE_S = 4.0

HARMLESS = ("good", "illegal", "junk", "stale", "comments", "everything")
FATAL = {
    "close": FaultKind.DISCONNECT,
    "reset": FaultKind.DISCONNECT,
    "half-close": FaultKind.DISCONNECT,
    "torn": FaultKind.DISCONNECT,
    "silent": FaultKind.TIMEOUT,
    "no version": FaultKind.MALFORMED_REPLY,
    "gone early": FaultKind.DISCONNECT,
}
BEFORE_START = ("no version", "gone early")

ILLEGAL = ("f", "r", "r1", "r999999999", "x", "", "c c", "\0", "r-3", "\xff")
JUNK = (b"\n", b"MATCHSTATE:0:0\r\n", b"\0\0\n", b"VERSION:2.0.0\r\n", b"\xff" * 300 + b"\n", b"x" * 5000 + b"\r\n")


@dataclass(frozen=True)
class Plan:
    """A match of the soak test.

    Attributes:
        kind: kind of faults of one player, in `HARMLESS` or `FATAL`.
        bad_seat: seat of this player.
        turn: number of its turns before a fatal fault.
        salt: seed of the players.
        splits: send each reply in two pieces.
    """

    setup: MatchSetup
    kind: str
    bad_seat: int
    turn: int
    salt: int
    splits: bool

    def speakers(self) -> list[Speaker]:
        """Players by seat; the one with a fatal fault stops at its turn."""
        players = [self._good(seat) for seat in range(self.setup.game.num_players)]
        players[self.bad_seat] = self._bad()
        return players

    def _good(self, seat: int) -> Speaker:
        policy = random_policy(self.salt + seat)
        return lambda event: answer(event.raw, format_action(policy(event)))

    def _bad(self) -> Speaker:
        good = self._good(self.bad_seat)
        turns = 0

        def speak(event: ReceivedState) -> bytes | None:
            nonlocal turns
            turns += 1
            if self.kind in FATAL and turns > self.turn:
                return None
            reply = good(event)
            draw = random.Random(zlib.crc32(event.raw.rstrip()) ^ self.salt)
            if self.kind not in HARMLESS or self.kind == "good" or draw.random() < 0.5:
                return reply
            kind = draw.choice(HARMLESS[1:-1]) if self.kind == "everything" else self.kind
            if kind == "illegal":
                return answer(event.raw, draw.choice(ILLEGAL))
            if kind == "junk":
                return b"".join(draw.choices(JUNK, k=draw.randint(1, 4))) + (reply or b"")
            if kind == "stale":
                return answer(_other_hand(event.raw), "c") * draw.randint(1, 3) + (reply or b"")
            return b"# a remark\r\n; and another\n" * draw.randint(1, 20) + (reply or b"")

        return speak


def _other_hand(line: bytes) -> bytes:
    head, position, hand, rest = line.split(b":", 3)
    return b":".join((head, position, b"%d" % (int(hand) + 7), rest))


def _plans(count: int, hands: int, seed: int) -> list[Plan]:
    draw = random.Random(seed)
    plans = []
    for number in range(count):
        rules = game(draw.choice(GAMES))
        kind = draw.choice((*HARMLESS, *FATAL))
        clocks = limits(response_s=SILENCE_S if kind == "silent" else 600.0)
        plans.append(
            Plan(
                setup=make_setup(rules, hands, draw.getrandbits(32), limits=clocks, fixed_seats=draw.random() < 0.2),
                kind=kind,
                bad_seat=draw.randrange(rules.num_players),
                turn=draw.randrange(2 * hands),
                salt=number,
                splits=draw.random() < 0.2,
            )
        )
    return plans


class Case:
    """A planned match with its expected course, `alone`, and its course over TCP, `match`."""

    def __init__(self, plan: Plan, folder: Path, number: int) -> None:
        self.plan = plan
        self.alone = Board(plan.setup)
        if plan.kind not in BEFORE_START:
            self.alone.connect_all().play_raw(plan.speakers())
        self.log_path = folder / f"{number}.log"
        self.recorder = Recorder(plan.setup.names, wants_lines=number % 2 == 0)
        self.match = Match(plan.setup, [LogWriter(LineFile(self.log_path), plan.setup.names), self.recorder])

    async def play(self) -> None:
        connections = Connections(self.match, coalesce_s=0.001 if self.plan.salt % 3 == 0 else 0.0)
        ports = connections.listen()
        running = asyncio.create_task(connections.run())
        speakers = self.plan.speakers()
        order = list(range(len(ports)))
        random.Random(self.plan.salt).shuffle(order)
        await asyncio.gather(*(self._client(ports[seat], seat, speakers[seat]) for seat in order))
        await running

    async def _client(self, port: int, seat: int, speaker: Speaker) -> None:
        kind = self.plan.kind if seat == self.plan.bad_seat else "good"
        hello = {"no version": b"HELLO\r\n", "gone early": b""}.get(kind, VERSION)
        client = await Client.connect(port, self.plan.setup.game, hello=hello)
        if kind == "gone early":
            await client.close()
            return
        while (event := await client.question()) is not None:
            data = speaker(event)
            if data is None:
                await self._leave(client, event, kind)
                break
            if self.plan.splits:
                middle = len(data) // 2
                await client.send(data[:middle])
                await asyncio.sleep(0)
                data = data[middle:]
            await client.send(data)
        await client.close()

    async def _leave(self, client: Client, event: ReceivedState, kind: str) -> None:
        if kind == "reset":
            await client.reset()
        elif kind == "half-close":
            client.writer.write_eof()
            await client.read_to_end()
        elif kind == "torn":
            await client.send(event.raw[:9])
        elif kind == "silent":
            await client.read_to_end()

    def check(self) -> None:
        plan = str(self.plan)
        assert self.recorder.log == self.alone.log, plan
        assert self.log_path.read_text("latin-1") == "".join(self.alone.log), plan
        assert _count_faults(self.recorder) - _count_faults(self.alone.recorder) == self._additional_faults(), plan
        if self.plan.kind in BEFORE_START or self.alone.match.phase is Phase.PLAYING:
            assert self.match.phase is Phase.FAILED, plan
            assert self.match.failure is not None
            assert self.match.failure.seat == self.plan.bad_seat, plan
            assert self.match.failure.kind is FATAL[self.plan.kind], plan
        else:
            assert self.match.phase is Phase.FINISHED, plan
            assert self.match.failure is None
        self._check_log()

    def _additional_faults(self) -> Counter[tuple[int, FaultKind]]:
        # A torn line counts as a fault when the connection ends.
        is_torn = self.plan.kind == "torn" and self.alone.match.phase is Phase.PLAYING
        return Counter({(self.plan.bad_seat, FaultKind.MALFORMED_REPLY): 1} if is_torn else {})

    def _check_log(self) -> None:
        """Check that lines are complete and the values of hands follow from the rules."""
        text = self.log_path.read_text("latin-1")
        assert not text or text.endswith("\n")
        setup = self.plan.setup
        totals = [0.0] * setup.game.num_players
        for number, line in enumerate(text.splitlines()):
            if line.startswith("SCORE"):
                assert number == setup.hands
                assert line + "\n" == format_score_line(totals, setup.names)
                continue
            _, hand_number, betting, _, values, names = line.split(":")
            assert int(hand_number) == number
            hand = Hand(setup.game, deal_hand(setup.game, setup.seed, number))
            hand.betting = betting_after(setup.game, betting)
            expected = hand.values()
            assert values == "|".join(map(format_value, expected))
            for name, value in zip(names.split("|"), expected, strict=True):
                totals[setup.names.index(name)] += value


def _count_faults(recorder: Recorder) -> Counter[tuple[int, FaultKind]]:
    return Counter((fault.seat, fault.kind) for fault in recorder.faults)


def _soak(folder: Path, *, matches: int, hands: int, seed: int) -> None:
    cases = [Case(plan, folder, number) for number, plan in enumerate(_plans(matches, hands, seed))]

    async def main() -> None:
        await asyncio.gather(*(case.play() for case in cases))

    run_async(main())
    for case in cases:
        case.check()
    assert {case.match.phase for case in cases} == {Phase.FINISHED, Phase.FAILED}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_200_simultaneous_matches_end_as_expected(tmp_path: Path, seed: int) -> None:
    _soak(tmp_path, matches=200, hands=10, seed=seed)
