"""Hands without sockets and clocks: the dealer's cards, duplicates, lazy play, failing bots."""

from __future__ import annotations

import inspect
import itertools
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from bots import Bot, BotsError, View
from bots.errors import BotFailure, IllegalReply
from bots.sdk import selfplay
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from dealer import play
from engine import FOLD, Action, deal_hand
from logs import HandRecord
from logs.hand_source import find
from protocol import GameDefinitionError, find_game


class Caller(Bot):
    """Bot with `act` only."""

    def act(self, view: View) -> Action:
        return view.call()


class Counter(Caller):
    """Bot that counts its calls, and fails at a hook after a number of them."""

    def __init__(self, fails: str = "", after: int = 0) -> None:
        self.asked = self.started = self.finished = self.over = 0
        self.fails, self.after = fails, after

    def _count(self, what: str) -> None:
        setattr(self, what, getattr(self, what) + 1)
        if what == self.fails and getattr(self, what) > self.after:
            raise ZeroDivisionError("no")

    def act(self, view: View) -> Action:
        self._count("asked")
        return super().act(view)

    def hand_started(self, view: View) -> None:
        self._count("started")

    def hand_finished(self, view: View) -> None:
        self._count("finished")

    def match_finished(self) -> None:
        self._count("over")


def randoms(count: int) -> list[Bot]:
    return [make_bot("random", seed) for seed in range(count)]


# ---- cards and duplicates

CASTS = [
    ("kuhn", ("random?seed=3", "random?seed=4")),
    ("kuhn.limit.3p", ("random?seed=3", "raising", "random?seed=4,fold=0.5")),
    ("leduc", ("random?seed=3", "raising")),
    ("limit", ("raising", "random?seed=3")),
    ("nolimit", ("random?seed=3", "random?seed=4")),
    ("holdem.nolimit.6p", ("random?seed=3", "calling", "constant?action=raise,size=pot", "rh", "folding", "raising")),
]


@pytest.mark.sampled
@pytest.mark.parametrize("seating", ["rotations", "single"])
@pytest.mark.parametrize(("game", "specs"), CASTS, ids=[game for game, _ in CASTS])
def test_hands_are_those_of_the_dealer(game: str, specs: tuple[str, ...], seating: Any, tmp_path: Path) -> None:
    named = {f"P{seat}": spec for seat, spec in enumerate(specs)}
    texts = [f"{name}={spec}" for name, spec in named.items()]
    play(game, texts, deals=5, seed=5, seating=seating, in_process=True, out=tmp_path / "run")
    ours = self_play(game, [make_bot(spec) for spec in specs], deals=5, seed=5, seating=seating, names=list(named))
    by_match = sorted(ours, key=attrgetter("match_name"))

    def content(record: HandRecord) -> tuple[object, ...]:
        names, seats, rounds = record.names_by_seat, record.seats, record.betting.rounds
        seen = record.deal.hole_cards, record.board_by_round
        return record.match_name, record.hand_number, names, seats, rounds, seen, record.values

    assert [content(record) for record in by_match] == [content(r) for r in find([tmp_path / "run"]).hands()]


@pytest.mark.parametrize("name", ["kuhn.limit.3p", "nolimit"])
def test_rotations_are_duplicates(name: str) -> None:
    game = find_game(name)[1]
    players = game.num_players
    records = list(self_play(game, randoms(players), deals=20, seed=8, first_hand=30))
    assert len(records) == 20 * players
    for number in range(30, 50):
        rotations = [records.pop(0) for _ in range(players)]
        assert {record.hand_number for record in rotations} == {number}
        assert {record.deal for record in rotations} == {deal_hand(game, 8, number)}
        assert len({record.match_name for record in rotations}) == players
        for position in range(players):
            # Each bot has held these cards once.
            assert len({record.names_by_seat[record.seats[position]] for record in rotations}) == players
        assert len({record.seats for record in rotations}) == 1


def test_bot_sees_only_its_own_cards() -> None:
    class Watcher(Caller):
        def act(self, view: View) -> Action:
            shown.append((view.hand_number, view.position, view.hole_cards))
            assert sum(map(bool, view.all_hole_cards)) == 1
            return super().act(view)

    shown: list[tuple[int, int, object]] = []
    for record in self_play("leduc", [Watcher(), Caller()], deals=10):
        number, position, cards = shown[-1]
        assert number == record.hand_number
        assert record.name_at(record.betting.rounds[0][position][0]) == "Watcher"
        assert cards == record.deal.hole_cards[position]


def test_play_is_reproducible_and_divisible() -> None:
    def hands(**options: Any) -> list[HandRecord]:
        return list(self_play("nolimit", randoms(2), seed=3, **options))

    whole = hands(deals=30)
    assert hands(deals=30) == whole
    assert hands(deals=10) + hands(deals=20, first_hand=10) == whole
    assert hands(deals=30, seating="rotations") != list(self_play("nolimit", randoms(2), seed=4, deals=30))
    assert pickle.loads(pickle.dumps(whole)) == whole


@pytest.mark.parametrize("game", ["limit", "holdem.nolimit.6p"])
def test_chips_are_conserved(game: str) -> None:
    players = find_game(game)[1].num_players
    for record in self_play(game, randoms(players), deals=15, seating="single"):
        assert sum(record.values) == 0
        assert record.times == ()


def test_one_bot_may_have_every_seat() -> None:
    bot = Counter()
    records = list(self_play("kuhn", [bot, bot], deals=3, match_name="lone"))
    assert [record.names_by_seat for record in records[:2]] == [("Counter#1", "Counter#2"), ("Counter#2", "Counter#1")]
    assert [record.match_name for record in records[:2]] == ["lone.a", "lone.b"]
    assert bot.asked == sum(len(actions) for record in records for actions in record.betting.rounds)


def test_comments_are_kept() -> None:
    class Talker(Caller):
        def act(self, view: View) -> Action:
            view.comment(f"at {view.position}")
            return super().act(view)

    (record,) = self_play("kuhn", [Talker(), Talker()], deals=1, first_hand=1, seating="single")
    assert record.match_name == "match"
    assert record.comments == ((1, 0, "# at 0"), (0, 1, "# at 1"))


# ---- laziness


def test_hands_are_played_lazily() -> None:
    bots = Counter(), Counter()
    hands = self_play("kuhn", bots, deals=10**12)
    assert bots[0].started == 0
    first = next(hands)
    assert (bots[0].started, bots[0].finished, first.hand_number) == (1, 1, 0)
    next(hands)
    third = next(hands)
    assert (bots[1].started, third.hand_number, bots[0].over) == (3, 1, 0)
    hands.close()  # type: ignore[attr-defined]
    assert [bot.over for bot in bots] == [1, 1]


def test_match_finished_is_called() -> None:
    bots = Counter(), Counter()
    assert len(list(self_play("kuhn", bots, deals=2))) == 4
    assert list(self_play("kuhn", bots, deals=0)) == []
    assert [(bot.started, bot.finished, bot.over) for bot in bots] == [(4, 4, 2)] * 2


def test_records_are_imported_lazily() -> None:
    code = (
        "import sys, bots; print('logs' in sys.modules); from bots import self_play; print('logs' in sys.modules)\n"
        "import bots.sdk.selfplay\n"
        "print(callable(self_play) and bots.self_play is self_play, hasattr(bots, 'no_such'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True", "False"]


def test_example_of_the_module(capsys: pytest.CaptureFixture[str]) -> None:
    example = (inspect.getdoc(selfplay) or "").split("\n\n", 1)[1].split("\n\n`self_play`")[0]
    exec(textwrap.dedent(example), {})
    assert capsys.readouterr().out == "{'RaisingBot': 3275.0, 'RandomBot': -3275.0}\n"


# ---- failures


@pytest.mark.parametrize(("fails", "records"), [("started", 4), ("asked", 4), ("finished", 5)])
def test_failure_of_a_bot_ends_the_match(fails: str, records: int) -> None:
    """A hand whose end the bot fails to process counts as played; a hand interrupted earlier does not."""
    bots = Counter(), Counter(fails, 4)
    hands = self_play("kuhn", bots, deals=10, first_hand=7)
    assert len(list(itertools.islice(hands, records))) == records
    with pytest.raises(BotFailure) as caught:
        next(hands)
    failure = caught.value
    assert isinstance(failure.__cause__, ZeroDivisionError)
    assert isinstance(failure, BotsError)
    assert (failure.seat, failure.hand_number) == (1, 9)
    assert failure.state.split(":")[2] == "9"
    assert "in _count" in failure.traceback
    assert bots[0].over == 1, "the others are told that it is over"
    assert bots[1].over == 0, "a bot that has failed is not called again"
    assert list(hands) == []


def test_failure_names_the_bot() -> None:
    class Sulker(Caller):
        def act(self, view: View) -> Action:
            return FOLD

    hands = self_play("kuhn", [Caller(), Sulker()], deals=1)
    with pytest.raises(BotFailure) as caught:
        list(hands)
    # In the first rotation it answers a check; in hand 0 of the second it would open.
    assert (caught.value.seat, caught.value.hand_number) == (1, 0)
    assert caught.value.traceback == ""
    assert isinstance(caught.value.__cause__, IllegalReply)
    same = pickle.loads(pickle.dumps(caught.value))
    assert (str(same), vars(same)) == (str(caught.value), vars(caught.value))


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: self_play("kuhn", [Caller(), Caller()], deals=-1), ValueError, "cannot be negative"),
    (lambda: self_play("kuhn", [Caller(), Caller()], deals=1, names=["A", "A"]), ValueError, "different names"),
    (lambda: self_play("kuhn", [Caller()] * 2, deals=1, seating="all"), ValueError, "'all'"),  # type: ignore[arg-type]
    (lambda: self_play("whist", [Caller(), Caller()], deals=1), GameDefinitionError, "whist"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_wrong_arguments_are_refused_at_once(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
