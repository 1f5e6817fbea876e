"""Matches inside this process, compared with matches of the same bots over bytes in memory and over TCP."""

from __future__ import annotations

import _thread
import asyncio
import itertools
import random
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bots.errors import BotInterrupt, in_one_line
from bots.sdk.bot import Bot
from bots.sdk.conversation import Conversation
from bots.sdk.registry import make_bot
from bots.sdk.view import View
from dealer.match import EarlierHands, Match
from dealer.match.causes import Limit, NobodyLeft, NotWritten, OutOfTime
from dealer.match.ending_sentences import cause_sentence
from dealer.match.events import (
    ActionPlayed,
    BotWrote,
    Event,
    HandFinished,
    HandStarted,
    MatchEnded,
    MatchStarted,
    Watcher,
)
from dealer.match.faults import Fault, FaultKind, FaultPolicy, Remedy
from dealer.match.in_process import InProcessMatch
from dealer.match.setup import MatchSetup, Phase
from dealer.match.writers import LogWriter
from dealer.reference.command import format_failure
from dealer.run.choices import Seating
from dealer.run.match_files import MatchFiles
from dealer.run.match_run import TcpRun
from engine import CALL, FOLD, RAISE, Action, Game, Seat, raise_to
from logs import HandRecord
from logs.whole_file import LineFile
from protocol import parse_game_definition
from tests.dealer.helpers import (
    ALL_IN_BLINDS,
    PATIENCE_S,
    ROOT,
    Clock,
    FullDisk,
    Recorder,
    contest_plan,
    game,
    limits,
    make_setup,
)

KUHN = game("kuhn")
HOOKS = ("act", "hand_started", "hand_finished")


# ---- comparison with matches over bytes


def play_over_bytes(setup: MatchSetup, bots: Sequence[Bot], watcher: Watcher) -> Match:
    """Play a match by the protocol, with the bytes passed in memory."""
    match = Match(setup, [watcher])
    conversations = [Conversation(bot, setup.game) for bot in bots]
    inboxes = [bytearray() for _ in bots]

    def write_to(inbox: bytearray) -> Callable[[bytes, bool], None]:
        return lambda data, _: inbox.extend(data)

    for seat, (conversation, inbox) in enumerate(zip(conversations, inboxes, strict=True)):
        match.connect(Seat(seat), write_to(inbox))
        match.receive(Seat(seat), conversation.open())
    while any(inboxes):
        for seat, (conversation, inbox) in enumerate(zip(conversations, inboxes, strict=True)):
            data = bytes(inbox)
            inbox.clear()
            if answer := conversation.receive_data(data):
                match.receive(Seat(seat), answer)
    assert match.phase is Phase.FINISHED
    for conversation in conversations:
        conversation.receive_eof()
    return match


def play(setup: MatchSetup, bots: Sequence[Bot], *watchers: Watcher) -> InProcessMatch:
    """Play a match inside this process."""
    match = InProcessMatch(setup, bots, watchers)
    match.play(setup.hands)
    assert match.phase is Phase.FINISHED
    return match


def make_bots(specs: Sequence[str]) -> list[Bot]:
    """Make built-in bots with different seeds."""
    return [make_bot(spec, 100 + seat) for seat, spec in enumerate(specs)]


CASTS = [
    ("kuhn", ("random", "random")),
    ("kuhn", ("calling", "raising")),
    ("kuhn.limit.3p", ("random", "raising", "random?fold=0.5")),
    ("leduc", ("random", "raising")),
    ("leduc", ("folding", "random")),
    ("leduc-nolimit", ("random", "constant?action=raise,size=pot")),
    ("limit", ("raising", "random")),
    ("limit", ("random", "calling")),
    ("holdem.limit.3p", ("random", "raising", "calling")),
    ("holdem.limit.10p", ("random",) * 5 + ("calling", "raising", "folding", "random", "constant?action=raise")),
    ("nolimit", ("random", "random")),
    ("nolimit", ("constant?action=raise,size=0.5", "random?raise=0.1")),
    ("holdem.nolimit.3p", ("random", "constant?action=raise,size=allin", "random")),
    ("holdem.nolimit.6p", ("random", "calling", "constant?action=raise,size=pot", "random", "folding", "raising")),
    ("sidepots.nolimit.3p.game", ("random", "random?call=0.1", "raising")),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "specs"), CASTS, ids=[f"{name} {'-'.join(specs[:3])}" for name, specs in CASTS])
@pytest.mark.parametrize("options", [{}, {"fixed_seats": True, "first_hand": 5}], ids=["", "fixed"])
def test_log_equals_the_log_of_a_match_over_bytes(
    name: str, specs: Sequence[str], options: dict[str, Any], tmp_path: Path
) -> None:
    setup = make_setup(game(name), 20, 3, **options)
    logs = []
    for kind in (play, play_over_bytes):
        path = tmp_path / kind.__name__
        with LineFile(path) as file:
            match = kind(setup, make_bots(specs), LogWriter(file, setup.names))
        logs.append((path.read_bytes(), match.totals, match.hands_played))
    assert logs[0] == logs[1]
    assert logs[0][0].count(b"\n") == 21


class Diarist(Bot):
    """Bot that records every call with its view, and draws its actions and comments from the view."""

    def __init__(self, salt: int, hooks: Sequence[str] = HOOKS) -> None:
        self.events: list[tuple[str, str]] = []
        self._salt = salt
        for hook in HOOKS[1:]:
            if hook in hooks:
                setattr(self, hook, lambda view, hook=hook: self._note(hook, view))

    def _note(self, hook: str, view: View) -> random.Random:
        state = view.match_state.format()
        self.events.append((hook, f"{state} {view.values if view.finished else view.legal}"))
        draw = random.Random(zlib.crc32(f"{self._salt}{hook}{state}".encode()))
        for i in range(draw.choice((0, 0, 0, 1, 20))):
            view.comment(f"{hook} {state} is no {i} \xe4\u20ac")
        return draw

    def act(self, view: View) -> Action:
        draw = self._note("act", view)
        answers = [CALL, *[FOLD] * view.can_fold]
        if view.can_raise:
            low, high = view.min_raise_hand_total, view.max_raise_hand_total
            answers += [RAISE] if view.game.is_limit else [raise_to(low), raise_to(draw.randint(low, high))]
        return draw.choice(answers)

    def match_finished(self) -> None:
        self.events.append(("match_finished", ""))


class Scribe(Recorder):
    """Recorder that also keeps the events' values without their times."""

    def __init__(self) -> None:
        super().__init__(wants_lines=False)
        self.values: list[tuple[Any, ...]] = []

    def notice(self, event: Event) -> None:
        super().notice(event)
        if isinstance(event, ActionPlayed):
            self.values.append((event.action, type(event.action.kind), event.hand_number, event.seat, event.betting))
        elif isinstance(event, HandStarted):
            self.values.append((event.hand_number, event.seats, event.deal))
        elif isinstance(event, HandFinished):
            self._note_hand(event.record)

    def _note_hand(self, record: HandRecord) -> None:
        assert [time[:2] for time in record.times] == [action[2:] for action in self.actions[-len(record.times) :]]
        self.values.append(
            (
                (record.game, record.match_name, record.hand_number, record.names_by_seat, record.seats, record.deal),
                (record.betting.rounds, record.values, len(record.times), record.comments),
            )
        )


@pytest.mark.sampled
@pytest.mark.parametrize("hooks", [HOOKS, HOOKS[:2], HOOKS[::2], HOOKS[:1]], ids="-".join)
@pytest.mark.parametrize(
    "name", ["kuhn", "kuhn.limit.3p", "leduc", "limit", "nolimit", "holdem.nolimit.6p", "sidepots.nolimit.3p.game"]
)
def test_bots_and_watchers_see_the_same_in_process_and_over_bytes(name: str, hooks: Sequence[str]) -> None:
    setup = make_setup(game(name), 15, 5)
    casts, scribes = [], []
    for kind in (play, play_over_bytes):
        casts.append([Diarist(seat, hooks) for seat in range(setup.game.num_players)])
        scribes.append(Scribe())
        kind(setup, casts[-1], scribes[-1])
    for bot, bot_over_bytes in zip(*casts, strict=True):
        assert bot.events == bot_over_bytes.events
    scribe, scribe_over_bytes = scribes
    assert scribe.calls == scribe_over_bytes.calls
    assert scribe.values == scribe_over_bytes.values
    assert scribe.totals == scribe_over_bytes.totals
    assert sum(len(record.comments) for record in scribe.records) > 0


def test_game_without_decisions_is_played() -> None:
    setup = make_setup(parse_game_definition(ALL_IN_BLINDS), 5)
    casts = []
    for kind in (play, play_over_bytes):
        casts.append([Diarist(0), Diarist(1)])
        kind(setup, casts[-1], Scribe())
    assert [bot.events for bot in casts[0]] == [bot.events for bot in casts[1]]
    assert len(casts[0][0].events) == 11


def test_comments_of_a_hand_have_the_same_bound_over_bytes() -> None:
    class Chatterbox(Bot):
        def act(self, view: View) -> Action:
            for i in range(16):
                view.comment(f"{i}")
            return view.raise_min()

    setup = make_setup(game("nolimit"), 2)
    scribes = [Scribe(), Scribe()]
    for kind, scribe in zip((play, play_over_bytes), scribes, strict=True):
        kind(setup, [Chatterbox(), Chatterbox()], scribe)
    assert scribes[0].values == scribes[1].values
    assert [len(record.comments) for record in scribes[0].records] == [256, 256]


@pytest.mark.parametrize(
    ("name", "specs"),
    [
        ("kuhn.limit.3p", ("random", "raising", "random?fold=0.5")),
        ("nolimit", ("random", "constant?action=raise,size=pot")),
    ],
)
async def test_log_equals_the_log_of_a_match_over_tcp(
    name: str, specs: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    plan = contest_plan(tmp_path / "tcp", *specs, game=name, deals=20, seating=Seating.SINGLE)
    (match_plan,) = plan.match_plans
    setup = plan.setup_of(match_plan)
    tcp_record = plan.record
    own_record = replace(tcp_record, folder=tmp_path / "in process")
    own_record.folder.mkdir()

    run = TcpRun(plan, match_plan)
    async with asyncio.timeout(PATIENCE_S):
        await run.play_until(setup.hands)
        await run.close()
    assert run.failure is None
    files = MatchFiles(setup, own_record)
    play(setup, [make_bot(spec, plan.bot_seed(match_plan, seat)) for seat, spec in enumerate(specs)], *files.watchers)
    files.close()
    log = own_record.path(setup, "log").read_bytes()
    assert log == tcp_record.path(setup, "log").read_bytes()
    assert log.count(b"STATE:") == 20
    # Drop the times of the transactions, in the last two columns.
    own_actions, tcp_actions = (
        [line.split()[:2] for line in record.path(setup, "tlog").read_text("ascii").splitlines()]
        for record in (own_record, tcp_record)
    )
    assert own_actions == tcp_actions


# ---- matches in pieces


PIECE_GAMES = ("kuhn", "leduc", "nolimit", "holdem.limit.3p")
PIECE_HANDS = 14


def random_bots(rules: Game) -> list[Bot]:
    return make_bots(["random"] * rules.num_players)


def uninterrupted_log(setup: MatchSetup) -> list[str]:
    recorder = Recorder(setup.names, wants_lines=False)
    play(setup, random_bots(setup.game), recorder)
    return recorder.log


@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(PIECE_GAMES),
    fixed=st.booleans(),
    cuts=st.lists(st.tuples(st.integers(0, PIECE_HANDS), st.sampled_from(("hold", "restart"))), max_size=6),
    slices=st.lists(st.integers(0, PIECE_HANDS), max_size=4),
)
def test_log_does_not_depend_on_holds_restarts_and_slices(
    name: str, fixed: bool, cuts: list[tuple[int, str]], slices: list[int]
) -> None:
    rules = game(name)
    setup = make_setup(rules, PIECE_HANDS, 21, fixed_seats=fixed)
    expected = uninterrupted_log(setup)

    recorder = Recorder(setup.names, wants_lines=False)
    match = InProcessMatch(setup, random_bots(rules), [recorder])
    for until, kind in sorted(cuts):
        match.play(until)
        assert match.hands_played == until
        if kind == "restart" and until < PIECE_HANDS:
            match.close()
            used_us = tuple(recorder.used_us[-1]) if recorder.used_us else ()
            earlier = EarlierHands(until, tuple(match.totals), used_us)
            match = InProcessMatch(setup, random_bots(rules), [recorder], earlier)
    match.play(PIECE_HANDS)
    assert match.phase is Phase.FINISHED
    assert recorder.log == expected
    for seat_times in zip(*recorder.used_us, strict=True):
        assert list(seat_times) == sorted(seat_times), "time used must not decrease at a restart"

    hands: list[str] = []
    edges = sorted({0, PIECE_HANDS, *slices})
    for first, end in itertools.pairwise(edges):
        part = make_setup(rules, end - first, 21, fixed_seats=fixed, first_hand=first)
        hands += uninterrupted_log(part)[:-1]
    assert hands == expected[:-1]


def test_several_matches_play_in_turn() -> None:
    setups = [make_setup(game(name), 10, 2) for name in ("kuhn", "nolimit")]
    recorders = [Recorder(setup.names, wants_lines=False) for setup in setups]
    matches = [
        InProcessMatch(setup, random_bots(setup.game), [recorder])
        for setup, recorder in zip(setups, recorders, strict=True)
    ]
    for until in (3, 3, 6, 10):
        for match in matches:
            match.play(until)
            assert match.hands_played == until
            assert match.phase is (Phase.FINISHED if until == 10 else Phase.HOLDING)
    assert [recorder.log for recorder in recorders] == [uninterrupted_log(setup) for setup in setups]
    for recorder in recorders:
        assert recorder.calls.count("MatchStarted") == 1


def test_holding_match_can_be_finished_early() -> None:
    setup = make_setup(KUHN, 10)
    bots = [Diarist(0), Diarist(1)]
    recorder = Recorder(setup.names, wants_lines=False)
    match = InProcessMatch(setup, bots, [recorder])
    match.play(4)
    assert match.phase is Phase.HOLDING
    assert bots[0].events[-1][0] == "hand_finished"
    for _ in range(2):
        match.finish()
        assert match.phase is Phase.FINISHED
        match.play(10)
        match.close()
    assert match.hands_played == 4
    assert [line.split(":")[0] for line in recorder.log] == ["STATE"] * 4 + ["SCORE"]
    assert [event for event, _ in bots[0].events].count("match_finished") == 1
    assert recorder.calls.count("MatchEnded") == 1


def test_match_can_end_before_its_next_hand() -> None:
    setup = make_setup(KUHN, 10)
    recorder = Recorder(setup.names, wants_lines=False)
    InProcessMatch(setup, random_bots(KUHN), [recorder], EarlierHands(5, (3.0, -3.0))).finish()
    assert recorder.calls == ["MatchStarted", "MatchEnded"]
    assert recorder.log == ["SCORE:3|-3:A|B\n"]
    recorder = Recorder(setup.names, wants_lines=False)
    complete = InProcessMatch(setup, random_bots(KUHN), [recorder], EarlierHands(10))
    complete.play(10)
    assert recorder.log == ["SCORE:0|0:A|B\n"]


def test_watcher_that_wants_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="no lines to show; play it over TCP"):
        InProcessMatch(make_setup(KUHN, 1), random_bots(KUHN), [Recorder()])


# ---- bots that fail


class Failing(Bot):
    """Bot that calls, except that one method runs `fail` in one hand."""

    def __init__(self, method: str, hand: int, fail: Callable[[], Any]) -> None:
        self._method = method
        self._hand = hand
        self._fail = fail
        self.ends = 0

    def _run(self, method: str, hand: int) -> Any:
        return self._fail() if method == self._method and hand == self._hand else CALL

    def act(self, view: View) -> Action:
        answer: Action = self._run("act", view.hand_number)
        return answer

    def hand_started(self, view: View) -> None:
        self._run("hand_started", view.hand_number)

    def hand_finished(self, view: View) -> None:
        self._run("hand_finished", view.hand_number)

    def match_finished(self) -> None:
        self.ends += 1
        self._run("match_finished", -1)


def crash() -> None:
    raise ZeroDivisionError("no\nluck")


def quit_program() -> None:
    raise SystemExit(3)


def play_to_failure(setup: MatchSetup, *bots: Bot) -> tuple[InProcessMatch, Recorder]:
    recorder = Recorder(setup.names, wants_lines=False)
    match = InProcessMatch(setup, bots, [recorder])
    match.play(setup.hands)
    return match, recorder


def tracebacks(recorder: Recorder) -> dict[Seat, str]:
    return {event.seat: event.text for event in recorder.events if isinstance(event, BotWrote)}


@pytest.mark.parametrize(
    ("method", "fail", "hands", "sentence"),
    [
        ("act", crash, 3, "B: the bot's own code failed in hand 3: ZeroDivisionError: no luck; the state was "),
        (
            "hand_started",
            quit_program,
            3,
            "B: the bot's own code failed in hand 3: SystemExit: 3; the state was ",
        ),
        (
            "hand_finished",
            crash,
            4,
            "B: the bot's own code failed in hand 3: ZeroDivisionError: no luck; the st",
        ),
        ("act", lambda: FOLD, 3, "B: the bot answered fold in hand 3: "),
        ("act", lambda: "call", 3, "B: the bot answered 'call' in hand 3: act() must return an Action"),
    ],
)
def test_failing_bot_ends_the_match(method: str, fail: Callable[[], Any], hands: int, sentence: str) -> None:
    bots = Failing("act", -2, crash), Failing(method, 3, fail)
    match, recorder = play_to_failure(make_setup(KUHN, 8), *bots)
    assert match.phase is Phase.FAILED
    failure = match.failure
    assert failure is not None
    assert failure is recorder.failure
    assert failure.seat == 1
    assert failure.kind is FaultKind.CRASH
    text = cause_sentence(failure, match.setup.names, hands, shows_output=True)
    assert re.sub(r" \(\S+, line \d+\)", "", text).startswith(sentence)
    assert "MATCHSTATE:" in text
    assert "\n" not in text
    assert format_failure(failure) == f"ERROR: seat 2{text[1:-1]}\n"
    assert match.hands_played == hands
    assert len(recorder.log) == hands
    assert [call for call in recorder.calls if call != "BotWrote"][-1] == "MatchEnded early"
    assert [bot.ends for bot in bots] == [1, 0], "only the remaining bot is notified of the end"
    if fail in (crash, quit_program):
        assert list(tracebacks(recorder)) == [1]
        assert f"in {fail.__name__}" in tracebacks(recorder)[Seat(1)]
    else:
        assert tracebacks(recorder) == {}
    match.play(8)
    match.finish()
    assert match.hands_played == hands
    assert match.phase is Phase.FAILED


@pytest.mark.parametrize(
    "raised",
    [GeneratorExit(), asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(3), RecursionError("deep")],
    ids=repr,
)
@pytest.mark.parametrize("policy", [FaultPolicy.END, FaultPolicy.FORFEIT])
def test_any_exception_of_a_bot_is_its_failure(raised: BaseException, policy: FaultPolicy) -> None:
    def fail() -> None:
        raise raised

    line = fail.__code__.co_firstlineno + 1
    setup = make_setup(KUHN, 8, on_fault=policy)
    match, recorder = play_to_failure(setup, Failing("act", 3, fail), Failing("act", -2, crash))
    if policy is FaultPolicy.FORFEIT:
        assert match.phase is Phase.FINISHED
        assert match.hands_played == 8
        assert recorder.faults == [Fault(Seat(0), FaultKind.CRASH, 3, b"", Remedy.FORFEITED)]
        return
    assert match.failure is not None
    sentence = cause_sentence(match.failure, setup.names, 3, shows_output=True)
    pattern = r"A: the bot's own code failed in hand 3 \((.*), line (\d+)\): (.*); the state was \S+\."
    parts = re.fullmatch(pattern, sentence)
    assert parts is not None, sentence
    assert Path(parts[1]).name == Path(__file__).name
    assert int(parts[2]) == line
    assert parts[3] == in_one_line(raised)


def interrupt() -> None:
    raise BotInterrupt


def be_interrupted() -> None:
    _thread.interrupt_main()
    while True:
        pass


@pytest.mark.parametrize(
    ("interruption", "kind"), [(interrupt, BotInterrupt), (be_interrupted, KeyboardInterrupt)], ids=["ours", "Ctrl-C"]
)
def test_interruption_is_no_failure_of_a_bot(interruption: Callable[[], None], kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        play_to_failure(make_setup(KUHN, 8), Failing("act", 3, interruption), Failing("act", -2, crash))


class Asynchronous(Bot):
    async def act(self, view: View) -> Action:  # type: ignore[override]
        return CALL


class AsynchronousHook(Bot):
    def act(self, view: View) -> Action:
        return CALL

    async def hand_finished(self, view: View) -> None:  # type: ignore[override]
        pass


class Unshowable:
    def __repr__(self) -> str:
        raise ValueError


class Long:
    def __repr__(self) -> str:
        return "long\n" * 1000


@pytest.mark.parametrize(
    ("bot", "sentence"),
    [
        (
            Asynchronous(),
            r"A: the bot answered with a coroutine in hand 0: act\(\) is an 'async def', which is never awaited: "
            r"write 'def act'; the state was \S+\.",
        ),
        (
            AsynchronousHook(),
            r"A: the bot's own code failed in hand 0: TypeError: hand_finished\(\) is an 'async def', which is never "
            r"awaited: write 'def hand_finished'; the state was \S+\.",
        ),
        (Failing("act", 0, lambda: None), r"A: the bot answered None in hand 0: act\(\) must return an Action .*"),
        (Failing("act", 0, Unshowable), r"A: the bot answered a Unshowable that cannot be shown in hand 0: act\(\) .*"),
        (
            Failing("act", 0, Long),
            r"A: the bot answered (long )+\.\.\. in hand 0: act\(\) must return an Action .*",
        ),
        (
            Failing("act", 0, lambda: Action(RAISE.kind, "all")),  # type: ignore[arg-type]
            r"A: the bot answered raise to 'all' in hand 0: an action is a kind and a whole number of chips; .*",
        ),
    ],
    ids=["async act", "async hook", "None", "unshowable", "long", "no number"],
)
def test_invalid_return_value_of_act_is_named_in_the_failure(bot: Bot, sentence: str) -> None:
    match, _ = play_to_failure(make_setup(KUHN, 8), bot, Failing("act", -2, crash))
    assert match.failure is not None
    text = cause_sentence(match.failure, match.setup.names, 0, shows_output=True)
    assert re.fullmatch(sentence, text), text
    assert len(text) < 400


@pytest.mark.parametrize(("method", "hand"), [("hand_finished", 7), ("match_finished", -1)])
def test_failure_after_the_last_hand_does_not_fail_the_match(method: str, hand: int) -> None:
    match, recorder = play_to_failure(make_setup(KUHN, 8), Failing(method, hand, crash), Failing("act", -2, crash))
    assert match.phase is Phase.FINISHED
    assert match.failure is None
    assert recorder.log[-1].startswith("SCORE:")
    assert "ZeroDivisionError" in tracebacks(recorder)[Seat(0)]


@pytest.mark.parametrize("policy", [FaultPolicy.FORFEIT, FaultPolicy.RESTART])
@pytest.mark.parametrize(("method", "hand"), [("act", 3), ("hand_started", 3), ("hand_finished", 4)])
def test_match_continues_without_a_failed_bot(policy: FaultPolicy, method: str, hand: int) -> None:
    rules = game("kuhn.limit.3p")
    random_bot, raising_bot = make_bots(["random", "raising"])
    failing_bot = Failing(method, 3, crash)
    setup = make_setup(rules, 20, on_fault=policy)
    match, recorder = play_to_failure(setup, random_bot, failing_bot, raising_bot)
    assert match.phase is Phase.FINISHED
    assert match.hands_played == 20
    assert recorder.faults == [Fault(Seat(1), FaultKind.CRASH, hand, b"", Remedy.FORFEITED)]
    assert failing_bot.ends == 0
    assert "ZeroDivisionError" in tracebacks(recorder)[Seat(1)]
    for record in recorder.records:
        if record.hand_number > hand:
            failed_position = record.seats.index(Seat(1))
            actions = [
                action
                for round_actions in record.betting.rounds
                for position, action in round_actions
                if position == failed_position
            ]
            has_folded = record.betting.folded >> failed_position & 1
            assert RAISE not in actions
            assert actions.count(FOLD) == has_folded


def test_forfeited_seat_plays_like_the_folding_bot() -> None:
    rules = game("limit")
    setup = make_setup(rules, 30, 4, on_fault=FaultPolicy.FORFEIT)
    recorder, twin = (Recorder(setup.names, wants_lines=False) for _ in range(2))
    forfeited_bot = Failing("act", -2, crash)
    earlier = EarlierHands(forfeited=frozenset({Seat(0)}))
    match = InProcessMatch(setup, [forfeited_bot, *make_bots(["raising"])], [recorder], earlier)
    match.play(30)
    play(setup, make_bots(["folding", "raising"]), twin)
    assert recorder.log == twin.log
    assert forfeited_bot.ends == 0
    assert match.totals == twin.totals


def test_match_without_players_ends() -> None:
    bots = Failing("act", 2, crash), Failing("act", 4, lambda: FOLD)
    match, recorder = play_to_failure(make_setup(KUHN, 8, on_fault=FaultPolicy.FORFEIT), *bots)
    assert match.failure == NobodyLeft()
    assert [(fault.seat, fault.hand_number) for fault in recorder.faults] == [(0, 2), (1, 4)]
    assert recorder.calls[-2:] == ["FaultSeen", "MatchEnded early"]


def test_keyboard_interrupt_propagates_and_its_hand_is_played_again() -> None:
    setup = make_setup(KUHN, 8)
    recorder = Recorder(setup.names, wants_lines=False)
    match = InProcessMatch(setup, [Failing("act", 3, be_interrupted), Failing("act", -2, crash)], [recorder])
    with pytest.raises(KeyboardInterrupt):
        match.play(8)
    with pytest.raises(RuntimeError, match="interrupted in hand 3; continue it in a new match"):
        match.play(8)
    rest = InProcessMatch(
        setup,
        [Failing("act", -2, crash), Failing("act", -2, crash)],
        [recorder],
        EarlierHands(match.hands_played, tuple(match.totals)),
    )
    rest.play(8)
    uninterrupted = Recorder(setup.names, wants_lines=False)
    play(setup, make_bots(["calling", "calling"]), uninterrupted)
    assert recorder.log == uninterrupted.log


def test_full_disk_ends_the_match() -> None:
    setup = make_setup(KUHN, 8)
    recorder = Recorder(wants_lines=False)
    match = InProcessMatch(setup, random_bots(KUHN), [FullDisk(HandFinished, 2), recorder])
    match.play(8)
    assert match.failure == NotWritten("m.log", "No space left on device")
    assert recorder.failure is match.failure


# ---- time


class Slow(Bot):
    """Bot that calls after these times in seconds."""

    def __init__(self, clock: Clock, *seconds: float) -> None:
        self._clock = clock
        self._seconds = list(seconds)

    def act(self, view: View) -> Action:
        self._clock.pass_s(self._seconds.pop(0) if self._seconds else 0.0)
        return CALL


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("dealer.match.in_process.time", clock)
    return clock


def test_time_is_measured_and_counted(clock: Clock) -> None:
    match, recorder = play_to_failure(make_setup(KUHN, 2), Slow(clock, 0.5, 2.0), Slow(clock, 0.25))
    assert match.phase is Phase.FINISHED
    assert [received - sent for *_, sent, received in recorder.actions] == [500_000, 250_000, 0, 2_000_000]
    assert recorder.actions[0][2] == 1_700_000_000_000_000 + 1_000_000_000
    assert recorder.used_us == [[500_000, 250_000], [2_500_000, 250_000]]
    assert [[tuple(times) for times in record.times] for record in recorder.records] == [
        [action[2:] for action in recorder.actions[:2]],
        [action[2:] for action in recorder.actions[2:]],
    ]


class TimeRecorder(Watcher):
    """Times of the start and of the last question, or the last wait of a failed match."""

    def __init__(self) -> None:
        self.times_us: list[int] = []

    def notice(self, event: Event) -> None:
        if isinstance(event, MatchStarted):
            self.times_us.append(event.at_us)
        elif isinstance(event, MatchEnded):
            self.times_us.append(event.asked_us if event.cause is None else event.waited_us)


def test_end_event_has_the_time_of_the_last_question(clock: Clock) -> None:
    start_us = clock.time_ns() // 1000
    times = TimeRecorder()
    match = InProcessMatch(make_setup(KUHN, 1), [Slow(clock, 0.5), Slow(clock, 2.0)], [times])
    clock.pass_s(1.0)
    match.play(1)
    assert times.times_us == [start_us + 1_000_000, start_us + 1_500_000]
    times = TimeRecorder()
    InProcessMatch(make_setup(KUHN, 1), [Slow(clock), Slow(clock, 2e3)], [times]).play(1)
    assert times.times_us[1] == 2_000_000_000


@pytest.mark.parametrize(
    ("bounds", "seconds", "limit"),
    [
        ({"response_s": 1.0}, [0.9, 1.1], Limit.RESPONSE),
        ({"response_s": 9.0, "hand_s": 1.0}, [0.9, 1.1], Limit.HAND),
        ({"per_hand_s": 0.5}, [0.9, 1.2], Limit.MATCH),
    ],
    ids=["one answer", "a hand", "the match"],
)
def test_late_answer_ends_the_match(clock: Clock, bounds: dict[str, float], seconds: list[float], limit: Limit) -> None:
    setup = make_setup(KUHN, 4, limits=limits(**bounds))
    match, recorder = play_to_failure(setup, Slow(clock, *seconds), Slow(clock))
    assert match.failure == OutOfTime(Seat(0), limit)
    assert match.hands_played == 1
    assert len(recorder.actions) == 3, "the late answer is not played"


def test_answer_at_the_limit_is_in_time(clock: Clock) -> None:
    setup = make_setup(KUHN, 2, limits=limits(response_s=1.0, hand_s=1.0, per_hand_s=1.0))
    match, _ = play_to_failure(setup, Slow(clock, 1.0, 1.0), Slow(clock, 0.5))
    assert match.phase is Phase.FINISHED


def test_time_used_before_a_restart_counts(clock: Clock) -> None:
    setup = make_setup(KUHN, 4, limits=limits(per_hand_s=0.5))
    bots = Slow(clock, 0.6), Slow(clock)
    match = InProcessMatch(setup, bots, [], EarlierHands(2, used_us=(1_500_000, 0)))
    match.play(4)
    assert match.failure is not None
    assert match.failure.kind is FaultKind.TIMEOUT
    assert match.hands_played == 2


def test_late_player_forfeits(clock: Clock) -> None:
    setup = make_setup(KUHN, 4, limits=limits(response_s=1.0), on_fault=FaultPolicy.FORFEIT)
    match, recorder = play_to_failure(setup, Slow(clock, 0.9, 1.1), Slow(clock))
    assert match.phase is Phase.FINISHED
    assert recorder.faults == [Fault(Seat(0), FaultKind.TIMEOUT, 1, b"", Remedy.FORFEITED)]
    assert len(recorder.actions) == 8
