"""Matches inside this process, held against the same bots behind bytes, and against the real thing over TCP."""

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


# ---- the same bots behind bytes


def play_over_bytes(setup: MatchSetup, bots: Sequence[Bot], watcher: Watcher) -> Match:
    """The dealer and the bots' own side of the protocol, bytes passed to and fro in memory."""
    match = Match(setup, [watcher])
    talks = [Conversation(bot, setup.game) for bot in bots]
    inboxes = [bytearray() for _ in bots]

    def write_to(inbox: bytearray) -> Callable[[bytes, bool], None]:
        return lambda data, _: inbox.extend(data)

    for seat, (talk, inbox) in enumerate(zip(talks, inboxes, strict=True)):
        match.connect(Seat(seat), write_to(inbox))
        match.receive(Seat(seat), talk.open())
    while any(inboxes):
        for seat, (talk, inbox) in enumerate(zip(talks, inboxes, strict=True)):
            data = bytes(inbox)
            inbox.clear()
            if answer := talk.receive_data(data):
                match.receive(Seat(seat), answer)
    assert match.phase is Phase.FINISHED
    for talk in talks:
        talk.receive_eof()
    return match


def play(setup: MatchSetup, bots: Sequence[Bot], *watchers: Watcher) -> InProcessMatch:
    """The same inside this process."""
    match = InProcessMatch(setup, bots, watchers)
    match.play(setup.hands)
    assert match.phase is Phase.FINISHED
    return match


def made(specs: Sequence[str]) -> list[Bot]:
    """Built-in bots, each with a seed of its own."""
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
def test_the_log_is_that_of_a_match_over_bytes(
    name: str, specs: Sequence[str], options: dict[str, Any], tmp_path: Path
) -> None:
    setup = make_setup(game(name), 20, 3, **options)
    logs = []
    for kind in (play, play_over_bytes):
        path = tmp_path / kind.__name__
        with LineFile(path) as file:
            match = kind(setup, made(specs), LogWriter(file, setup.names))
        logs.append((path.read_bytes(), match.totals, match.hands_played))
    assert logs[0] == logs[1]
    assert logs[0][0].count(b"\n") == 21


class Diarist(Bot):
    """Decides by what it sees, remarks on it now and then, and keeps every call with the view it came with."""

    def __init__(self, salt: int, hooks: Sequence[str] = HOOKS) -> None:
        self.events: list[tuple[str, str]] = []
        self._salt = salt
        for hook in HOOKS[1:]:
            if hook in hooks:
                setattr(self, hook, lambda view, hook=hook: self._note(hook, view))

    def _note(self, what: str, view: View) -> random.Random:
        state = view.match_state.format()
        self.events.append((what, f"{state} {view.values if view.finished else view.legal}"))
        draw = random.Random(zlib.crc32(f"{self._salt}{what}{state}".encode()))
        for i in range(draw.choice((0, 0, 0, 1, 20))):
            view.comment(f"{what} {state} is no {i} \xe4\u20ac")
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
    """Keeps what a match tells, but for the times."""

    def __init__(self) -> None:
        super().__init__(wants_lines=False)
        self.told: list[tuple[Any, ...]] = []

    def notice(self, event: Event) -> None:
        super().notice(event)
        if isinstance(event, ActionPlayed):
            self.told.append((event.action, type(event.action.kind), event.hand_number, event.seat, event.betting))
        elif isinstance(event, HandStarted):
            self.told.append((event.hand_number, event.seats, event.deal))
        elif isinstance(event, HandFinished):
            self._note_hand(event.record)

    def _note_hand(self, record: HandRecord) -> None:
        assert [time[:2] for time in record.times] == [action[2:] for action in self.actions[-len(record.times) :]]
        self.told.append(
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
    for here, there in zip(*casts, strict=True):
        assert here.events == there.events
    here_scribe, there_scribe = scribes
    assert here_scribe.calls == there_scribe.calls
    assert here_scribe.told == there_scribe.told
    assert here_scribe.totals == there_scribe.totals
    assert sum(len(record.comments) for record in here_scribe.records) > 0


def test_game_without_decisions_is_played() -> None:
    setup = make_setup(parse_game_definition(ALL_IN_BLINDS), 5)
    casts = []
    for kind in (play, play_over_bytes):
        casts.append([Diarist(0), Diarist(1)])
        kind(setup, casts[-1], Scribe())
    assert [bot.events for bot in casts[0]] == [bot.events for bot in casts[1]]
    assert len(casts[0][0].events) == 11


def test_comments_of_a_hand_are_bounded_alike() -> None:
    class Chatterbox(Bot):
        def act(self, view: View) -> Action:
            for i in range(16):
                view.comment(f"{i}")
            return view.raise_min()

    setup = make_setup(game("nolimit"), 2)
    scribes = [Scribe(), Scribe()]
    for kind, scribe in zip((play, play_over_bytes), scribes, strict=True):
        kind(setup, [Chatterbox(), Chatterbox()], scribe)
    assert scribes[0].told == scribes[1].told
    assert [len(record.comments) for record in scribes[0].records] == [256, 256]


@pytest.mark.parametrize(
    ("name", "specs"),
    [
        ("kuhn.limit.3p", ("random", "raising", "random?fold=0.5")),
        ("nolimit", ("random", "constant?action=raise,size=pot")),
    ],
)
async def test_the_log_is_that_of_a_match_over_tcp(
    name: str, specs: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    plan = contest_plan(tmp_path / "tcp", *specs, game=name, deals=20, seating=Seating.SINGLE)
    (match_plan,) = plan.match_plans
    setup, here = plan.setup_of(match_plan), replace(plan.record, folder=tmp_path / "here")
    here.folder.mkdir()

    run = TcpRun(plan, match_plan)
    async with asyncio.timeout(PATIENCE_S):
        await run.play_until(setup.hands)
        await run.close()
    assert run.failure is None
    files = MatchFiles(setup, here)
    play(setup, [make_bot(spec, plan.bot_seed(match_plan, seat)) for seat, spec in enumerate(specs)], *files.watchers)
    files.close()
    records = plan.record, here
    tcp_log, log = (record.path(setup, "log").read_bytes() for record in records)
    assert log == tcp_log
    assert log.count(b"STATE:") == 20
    # The transactions, too, but for the times in the last two columns.
    tcp_actions, here_actions = (
        [line.split()[:2] for line in record.path(setup, "tlog").read_text("ascii").splitlines()] for record in records
    )
    assert here_actions == tcp_actions


# ---- in pieces


PIECE_GAMES = ("kuhn", "leduc", "nolimit", "holdem.limit.3p")
PIECE_HANDS = 14


def random_bots(rules: Game) -> list[Bot]:
    return made(["random"] * rules.num_players)


def whole_log(setup: MatchSetup) -> list[str]:
    seen = Recorder(setup.names, wants_lines=False)
    play(setup, random_bots(setup.game), seen)
    return seen.log


@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(PIECE_GAMES),
    fixed=st.booleans(),
    cuts=st.lists(st.tuples(st.integers(0, PIECE_HANDS), st.sampled_from(("hold", "break off"))), max_size=6),
    slices=st.lists(st.integers(0, PIECE_HANDS), max_size=4),
)
def test_any_two_ways_to_cut_a_match_into_pieces_give_the_same_log(
    name: str, fixed: bool, cuts: list[tuple[int, str]], slices: list[int]
) -> None:
    """Held and moved on, broken off and continued with new bots, or cut into slices: hands and score are the same."""
    rules = game(name)
    setup = make_setup(rules, PIECE_HANDS, 21, fixed_seats=fixed)
    wanted = whole_log(setup)

    seen = Recorder(setup.names, wants_lines=False)
    match = InProcessMatch(setup, random_bots(rules), [seen])
    for until, how in sorted(cuts):
        match.play(until)
        assert match.hands_played == until
        if how == "break off" and until < PIECE_HANDS:
            match.close()
            used_us = tuple(seen.used_us[-1]) if seen.used_us else ()
            so_far = EarlierHands(until, tuple(match.totals), used_us)
            match = InProcessMatch(setup, random_bots(rules), [seen], so_far)
    match.play(PIECE_HANDS)
    assert match.phase is Phase.FINISHED
    assert seen.log == wanted
    for of_seat in zip(*seen.used_us, strict=True):
        assert list(of_seat) == sorted(of_seat), "time used only grows, also beyond a break"

    hands: list[str] = []
    edges = sorted({0, PIECE_HANDS, *slices})
    for first, end in itertools.pairwise(edges):
        part = make_setup(rules, end - first, 21, fixed_seats=fixed, first_hand=first)
        hands += whole_log(part)[:-1]
    assert hands == wanted[:-1]


def test_several_matches_move_on_in_turn() -> None:
    setups = [make_setup(game(name), 10, 2) for name in ("kuhn", "nolimit")]
    seen = [Recorder(setup.names, wants_lines=False) for setup in setups]
    matches = [InProcessMatch(s, random_bots(s.game), [o]) for s, o in zip(setups, seen, strict=True)]
    for until in (3, 3, 6, 10):
        for match in matches:
            match.play(until)
            assert match.hands_played == until
            assert match.phase is (Phase.FINISHED if until == 10 else Phase.HOLDING)
    assert [observer.log for observer in seen] == [whole_log(setup) for setup in setups]
    for observer in seen:
        assert observer.calls.count("MatchStarted") == 1


def test_a_match_may_be_ended_where_it_holds() -> None:
    setup = make_setup(KUHN, 10)
    bots = [Diarist(0), Diarist(1)]
    seen = Recorder(setup.names, wants_lines=False)
    match = InProcessMatch(setup, bots, [seen])
    match.play(4)
    assert match.phase is Phase.HOLDING
    assert bots[0].events[-1][0] == "hand_finished"
    for _ in range(2):
        match.finish()
        assert match.phase is Phase.FINISHED
        match.play(10)
        match.close()
    assert match.hands_played == 4
    assert [line.split(":")[0] for line in seen.log] == ["STATE"] * 4 + ["SCORE"]
    assert [event for event, _ in bots[0].events].count("match_finished") == 1
    assert seen.calls.count("MatchEnded") == 1


def test_a_match_may_end_before_its_first_hand() -> None:
    setup = make_setup(KUHN, 10)
    seen = Recorder(setup.names, wants_lines=False)
    InProcessMatch(setup, random_bots(KUHN), [seen], EarlierHands(5, (3.0, -3.0))).finish()
    assert seen.calls == ["MatchStarted", "MatchEnded"]
    assert seen.log == ["SCORE:3|-3:A|B\n"]
    all_done = InProcessMatch(
        setup, random_bots(KUHN), [again := Recorder(setup.names, wants_lines=False)], EarlierHands(10)
    )
    all_done.play(10)
    assert again.log == ["SCORE:0|0:A|B\n"]


def test_a_watcher_that_wants_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="no lines to show; play it over TCP"):
        InProcessMatch(make_setup(KUHN, 1), random_bots(KUHN), [Recorder()])


# ---- bots that fail


class Failing(Bot):
    """Calls until one call of one hand, where it does something else."""

    def __init__(self, where: str, hand: int, deed: Callable[[], Any]) -> None:
        self._where, self._hand, self._deed = where, hand, deed
        self.ends = 0

    def _at(self, where: str, hand: int) -> Any:
        return self._deed() if (where, hand) == (self._where, self._hand) else CALL

    def act(self, view: View) -> Action:
        answer: Action = self._at("act", view.hand_number)
        return answer

    def hand_started(self, view: View) -> None:
        self._at("hand_started", view.hand_number)

    def hand_finished(self, view: View) -> None:
        self._at("hand_finished", view.hand_number)

    def match_finished(self) -> None:
        self.ends += 1
        self._at("match_finished", -1)


def crash() -> None:
    raise ZeroDivisionError("no\nluck")


def quit_program() -> None:
    raise SystemExit(3)


def play_to_failure(setup: MatchSetup, *bots: Bot) -> tuple[InProcessMatch, Recorder]:
    seen = Recorder(setup.names, wants_lines=False)
    match = InProcessMatch(setup, bots, [seen])
    match.play(setup.hands)
    return match, seen


def tracebacks(seen: Recorder) -> dict[Seat, str]:
    return {event.seat: event.text for event in seen.events if isinstance(event, BotWrote)}


@pytest.mark.parametrize(
    ("where", "deed", "hands", "sentence"),
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
def test_a_bot_that_fails_ends_the_match(where: str, deed: Callable[[], Any], hands: int, sentence: str) -> None:
    bots = Failing("act", -2, crash), Failing(where, 3, deed)
    match, seen = play_to_failure(make_setup(KUHN, 8), *bots)
    failure = match.failure
    assert failure is not None
    assert failure is seen.failure
    assert (match.phase, failure.seat, failure.kind) == (Phase.FAILED, 1, FaultKind.CRASH)
    text = cause_sentence(failure, match.setup.names, hands, shows_output=True)
    assert re.sub(r" \(\S+, line \d+\)", "", text).startswith(sentence)
    assert "MATCHSTATE:" in text
    assert "\n" not in text
    assert format_failure(failure) == f"ERROR: seat 2{text[1:-1]}\n"
    assert (match.hands_played, len(seen.log)) == (hands, hands)
    assert [call for call in seen.calls if call != "BotWrote"][-1] == "MatchEnded early"
    assert [bot.ends for bot in bots] == [1, 0], "who is left is told that it is over"
    is_crash = deed in (crash, quit_program)
    assert list(tracebacks(seen)) == [1] * is_crash
    if is_crash:
        assert f"in {deed.__name__}" in tracebacks(seen)[Seat(1)]
    match.play(8)
    match.finish()
    assert (match.hands_played, match.phase) == (hands, Phase.FAILED)


@pytest.mark.parametrize(
    "raised",
    [GeneratorExit(), asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(3), RecursionError("deep")],
    ids=repr,
)
@pytest.mark.parametrize("policy", [FaultPolicy.END, FaultPolicy.FORFEIT])
def test_any_exception_of_a_bot_is_its_failure(raised: BaseException, policy: FaultPolicy) -> None:
    def deed() -> None:
        raise raised

    line = deed.__code__.co_firstlineno + 1
    setup = make_setup(KUHN, 8, on_fault=policy)
    match, seen = play_to_failure(setup, Failing("act", 3, deed), Failing("act", -2, crash))
    if policy is FaultPolicy.FORFEIT:
        assert (match.phase, match.hands_played) == (Phase.FINISHED, 8)
        assert seen.faults == [Fault(Seat(0), FaultKind.CRASH, 3, b"", Remedy.FORFEITED)]
        return
    assert match.failure is not None
    text = cause_sentence(match.failure, setup.names, 3, shows_output=True)
    found = re.fullmatch(
        r"A: the bot's own code failed in hand 3 \((.*), line (\d+)\): (.*); the state was \S+\.", text
    )
    assert found is not None, text
    assert (Path(found[1]).name, int(found[2])) == (Path(__file__).name, line)
    assert found[3] == in_one_line(raised)


def interrupt() -> None:
    raise BotInterrupt


def be_interrupted() -> None:
    _thread.interrupt_main()
    while True:
        pass


@pytest.mark.parametrize(
    ("deed", "kind"), [(interrupt, BotInterrupt), (be_interrupted, KeyboardInterrupt)], ids=["ours", "Ctrl-C"]
)
def test_an_interruption_is_no_failure_of_a_bot(deed: Callable[[], None], kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        play_to_failure(make_setup(KUHN, 8), Failing("act", 3, deed), Failing("act", -2, crash))


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
def test_an_answer_that_is_no_action_gets_a_sentence(bot: Bot, sentence: str) -> None:
    match, _ = play_to_failure(make_setup(KUHN, 8), bot, Failing("act", -2, crash))
    assert match.failure is not None
    text = cause_sentence(match.failure, match.setup.names, 0, shows_output=True)
    assert re.fullmatch(sentence, text), text
    assert len(text) < 400


@pytest.mark.parametrize(("where", "hand"), [("hand_finished", 7), ("match_finished", -1)])
def test_a_bot_that_fails_when_all_is_played_ends_nothing(where: str, hand: int) -> None:
    match, seen = play_to_failure(make_setup(KUHN, 8), Failing(where, hand, crash), Failing("act", -2, crash))
    assert (match.phase, match.failure) == (Phase.FINISHED, None)
    assert seen.log[-1].startswith("SCORE:")
    assert "ZeroDivisionError" in tracebacks(seen)[Seat(0)]


@pytest.mark.parametrize("policy", [FaultPolicy.FORFEIT, FaultPolicy.RESTART])
@pytest.mark.parametrize(
    ("where", "deed", "hand"), [("act", crash, 3), ("hand_started", crash, 3), ("hand_finished", crash, 4)]
)
def test_a_match_may_go_on_without_a_bot(policy: FaultPolicy, where: str, deed: Callable[[], Any], hand: int) -> None:
    rules = game("kuhn.limit.3p")
    others = made(["random", "raising"])
    bad = Failing(where, 3, deed)
    match, seen = play_to_failure(make_setup(rules, 20, on_fault=policy), others[0], bad, others[1])
    assert (match.phase, match.hands_played) == (Phase.FINISHED, 20)
    assert seen.faults == [Fault(Seat(1), FaultKind.CRASH, hand, b"", Remedy.FORFEITED)]
    assert bad.ends == 0
    assert "ZeroDivisionError" in tracebacks(seen)[Seat(1)]
    for record in seen.records:
        if record.hand_number > hand:
            position = record.seats.index(Seat(1))
            kinds = [action for actions in record.betting.rounds for at, action in actions if at == position]
            assert RAISE not in kinds
            assert kinds.count(FOLD) == record.betting.folded >> position & 1


def test_forfeited_seat_checks_or_folds_as_over_tcp() -> None:
    """The twin plays the same seat with the bot that folds to every bet."""
    rules = game("limit")
    setup = make_setup(rules, 30, 4, on_fault=FaultPolicy.FORFEIT)
    seen, twin = (Recorder(setup.names, wants_lines=False) for _ in range(2))
    bad = Failing("act", -2, crash)
    match = InProcessMatch(setup, [bad, *made(["raising"])], [seen], EarlierHands(forfeited=frozenset({Seat(0)})))
    match.play(30)
    play(setup, made(["folding", "raising"]), twin)
    assert seen.log == twin.log
    assert bad.ends == 0
    assert match.totals == twin.totals


def test_match_without_players_ends() -> None:
    bots = Failing("act", 2, crash), Failing("act", 4, lambda: FOLD)
    match, seen = play_to_failure(make_setup(KUHN, 8, on_fault=FaultPolicy.FORFEIT), *bots)
    assert match.failure == NobodyLeft()
    assert [(fault.seat, fault.hand_number) for fault in seen.faults] == [(0, 2), (1, 4)]
    assert seen.calls[-2:] == ["FaultSeen", "MatchEnded early"]


def test_keyboard_interrupt_propagates_and_its_hand_is_played_again() -> None:
    setup = make_setup(KUHN, 8)
    seen = Recorder(setup.names, wants_lines=False)
    match = InProcessMatch(setup, [Failing("act", 3, be_interrupted), Failing("act", -2, crash)], [seen])
    with pytest.raises(KeyboardInterrupt):
        match.play(8)
    with pytest.raises(RuntimeError, match="interrupted in hand 3; continue it in a new match"):
        match.play(8)
    rest = InProcessMatch(
        setup,
        [Failing("act", -2, crash), Failing("act", -2, crash)],
        [seen],
        EarlierHands(match.hands_played, tuple(match.totals)),
    )
    rest.play(8)
    whole = Recorder(setup.names, wants_lines=False)
    play(setup, made(["calling", "calling"]), whole)
    assert seen.log == whole.log


def test_a_log_that_cannot_be_written_ends_the_match() -> None:
    setup = make_setup(KUHN, 8)
    seen = Recorder(wants_lines=False)
    match = InProcessMatch(setup, random_bots(KUHN), [FullDisk(HandFinished, 2), seen])
    match.play(8)
    assert match.failure == NotWritten("m.log", "No space left on device")
    assert seen.failure is match.failure


# ---- time


class Slow(Bot):
    """Calls, taking its time."""

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
    match, seen = play_to_failure(make_setup(KUHN, 2), Slow(clock, 0.5, 2.0), Slow(clock, 0.25))
    assert match.phase is Phase.FINISHED
    assert [received - sent for *_, sent, received in seen.actions] == [500_000, 250_000, 0, 2_000_000]
    assert seen.actions[0][2] == 1_700_000_000_000_000 + 1_000_000_000
    assert seen.used_us == [[500_000, 250_000], [2_500_000, 250_000]]
    assert [[tuple(times) for times in record.times] for record in seen.records] == [
        [action[2:] for action in seen.actions[:2]],
        [action[2:] for action in seen.actions[2:]],
    ]


class LastWords(Watcher):
    """Keeps the times told at the end."""

    def __init__(self) -> None:
        self.times_us: list[int] = []

    def notice(self, event: Event) -> None:
        if isinstance(event, MatchStarted):
            self.times_us.append(event.at_us)
        elif isinstance(event, MatchEnded):
            self.times_us.append(event.asked_us if event.cause is None else event.waited_us)


def test_the_end_tells_when_the_last_question_was(clock: Clock) -> None:
    start_us = clock.time_ns() // 1000
    match = InProcessMatch(make_setup(KUHN, 1), [Slow(clock, 0.5), Slow(clock, 2.0)], [finished := LastWords()])
    clock.pass_s(1.0)
    match.play(1)
    assert finished.times_us == [start_us + 1_000_000, start_us + 1_500_000]
    InProcessMatch(make_setup(KUHN, 1), [Slow(clock), Slow(clock, 2e3)], [failed := LastWords()]).play(1)
    assert failed.times_us[1] == 2_000_000_000


@pytest.mark.parametrize(
    ("bounds", "seconds", "limit"),
    [
        ({"response_s": 1.0}, [0.9, 1.1], Limit.RESPONSE),
        ({"response_s": 9.0, "hand_s": 1.0}, [0.9, 1.1], Limit.HAND),
        ({"per_hand_s": 0.5}, [0.9, 1.2], Limit.MATCH),
    ],
    ids=["one answer", "a hand", "the match"],
)
def test_too_late_is_too_late_once_it_has_come(
    clock: Clock, bounds: dict[str, float], seconds: list[float], limit: Limit
) -> None:
    setup = make_setup(KUHN, 4, limits=limits(**bounds))
    match, seen = play_to_failure(setup, Slow(clock, *seconds), Slow(clock))
    assert match.failure == OutOfTime(Seat(0), limit)
    assert match.hands_played == 1
    assert len(seen.actions) == 3, "the late answer is not played"


def test_just_in_time_is_in_time(clock: Clock) -> None:
    setup = make_setup(KUHN, 2, limits=limits(response_s=1.0, hand_s=1.0, per_hand_s=1.0))
    match, _ = play_to_failure(setup, Slow(clock, 1.0, 1.0), Slow(clock, 0.5))
    assert match.phase is Phase.FINISHED


def test_time_used_before_counts(clock: Clock) -> None:
    setup = make_setup(KUHN, 4, limits=limits(per_hand_s=0.5))
    bots = Slow(clock, 0.6), Slow(clock)
    match = InProcessMatch(setup, bots, [], EarlierHands(2, used_us=(1_500_000, 0)))
    match.play(4)
    assert match.failure is not None
    assert match.failure.kind is FaultKind.TIMEOUT
    assert match.hands_played == 2


def test_late_player_may_forfeit(clock: Clock) -> None:
    setup = make_setup(KUHN, 4, limits=limits(response_s=1.0), on_fault=FaultPolicy.FORFEIT)
    match, seen = play_to_failure(setup, Slow(clock, 0.9, 1.1), Slow(clock))
    assert match.phase is Phase.FINISHED
    assert seen.faults == [Fault(Seat(0), FaultKind.TIMEOUT, 1, b"", Remedy.FORFEITED)]
    assert len(seen.actions) == 8
