"""The bots of a match in this process: views, answers, and failures."""

from __future__ import annotations

import _thread
import re
from typing import Any

import pytest

from bots.sdk.bot import Bot
from bots.sdk.selfplay import BotFailure, BotGroup
from bots.sdk.view import MAX_WAITING_COMMENTS, View
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, Deal, Game, Seat, betting_start, deals, raise_to
from protocol import find_game, parse_game_definition

KUHN = find_game("kuhn")[1]
KUHN_3P = find_game("kuhn.limit.3p")[1]
LIMIT = find_game("limit")[1]
NO_LIMIT = find_game("nolimit")[1]
ALL_IN_BLINDS = parse_game_definition(
    "GAMEDEF\nnolimit\nnumPlayers = 2\nnumRounds = 2\nstack = 10 10\nblind = 10 10\nfirstPlayer = 1 1\n"
    "numSuits = 4\nnumRanks = 13\nnumHoleCards = 2\nnumBoardCards = 0 3\nEND GAMEDEF\n"
)


class Diary(Bot):
    """Bot that answers from a list, then calls, and records its views."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.events: list[str] = []
        self.views: list[View] = []

    def _note(self, what: str, view: View) -> None:
        self.events.append(f"{what} {view.match_state.format().removeprefix('MATCHSTATE:')}")
        self.views.append(view)

    def act(self, view: View) -> Action:
        self._note("act", view)
        answer = self.answers.pop(0) if self.answers else CALL
        return answer  # type: ignore[no-any-return]

    def hand_started(self, view: View) -> None:
        self._note("start", view)

    def hand_finished(self, view: View) -> None:
        self._note("end", view)

    def match_finished(self) -> None:
        self.events.append("over")


class Caller(Bot):
    """Bot with `act` only."""

    def act(self, view: View) -> Action:
        return CALL


class Starter(Caller):
    """Bot with `hand_started` only."""

    def __init__(self) -> None:
        self.started: list[int] = []

    def hand_started(self, view: View) -> None:
        self.started.append(view.hand_number)


def seats_of(game: Game, first: int = 0) -> tuple[Seat, ...]:
    """Return the seat of each position when position 0 has this seat."""
    return tuple(Seat((first + position) % game.num_players) for position in range(game.num_players))


def deal_of(game: Game) -> Deal:
    """Return a deal; in two-player Kuhn poker the queen and the ace."""
    return next(deals(game, 7))


def play_hand(group: BotGroup, game: Game, number: int = 0, first: int = 0) -> BettingState:
    """Play a hand in which no bot fails."""
    betting = betting_start(game)
    assert not group.begin_hand(number, deal_of(game), seats_of(game, first), betting)
    while not betting.finished:
        betting = betting.after(group.ask(betting))
    assert not group.end_hand(betting)
    return betting


# ---- views of bots


def test_a_hand_to_the_showdown() -> None:
    bots = Diary(), Diary()
    play_hand(BotGroup(bots, KUHN), KUHN, 7)
    assert bots[0].events == ["start 0:7::Qs|", "act 0:7::Qs|", "end 0:7:cc:Qs|As"]
    assert bots[1].events == ["start 1:7::|As", "act 1:7:c:|As", "end 1:7:cc:Qs|As"]


def test_the_seats_turn() -> None:
    bots = Diary(), Diary()
    play_hand(BotGroup(bots, KUHN), KUHN, 1, first=1)
    assert bots[0].events[0] == "start 1:1::|As"
    assert bots[1].events[1] == "act 0:1::Qs|"


def test_folded_hands_stay_hidden() -> None:
    bots = Diary(), Diary(RAISE), Diary()
    bots[2].answers = [FOLD]
    play_hand(BotGroup(bots, KUHN_3P), KUHN_3P)
    ends = [bot.events[-1].split(":")[-1] for bot in bots]
    holes = [bot.views[0].hole_text for bot in bots]
    assert ends == [f"{holes[0]}|{holes[1]}|", f"{holes[0]}|{holes[1]}|", "|".join(holes)]


def test_without_a_showdown_nothing_is_shown() -> None:
    bots = Diary(RAISE), Diary(FOLD)
    play_hand(BotGroup(bots, KUHN), KUHN)
    assert [bot.events[-1] for bot in bots] == ["end 0:0:rf:Qs|", "end 1:0:rf:|As"]


def test_board_shows_the_rounds_so_far() -> None:
    bots = Diary(), Diary()
    play_hand(BotGroup(bots, LIMIT), LIMIT)
    assert [len(view.board) for view in bots[0].views] == [0, 0, 3, 4, 5, 5]
    assert bots[0].views[-1].board == deal_of(LIMIT).board


def test_opener_gets_one_view_for_both_calls() -> None:
    bots = Diary(), Diary()
    group = BotGroup(bots, KUHN)
    for number in range(2):
        play_hand(group, KUHN, number)
    assert bots[0].views[0] is bots[0].views[1]
    assert bots[0].views[3] is bots[0].views[4]
    assert bots[1].views[0] is not bots[1].views[1]


def test_hand_without_decisions_is_shown_once() -> None:
    bots = Diary(), Diary()
    group = BotGroup(bots, ALL_IN_BLINDS)
    betting = play_hand(group, ALL_IN_BLINDS)
    assert betting.finished
    for bot in bots:
        assert [event.split(" ")[0] for event in bot.events] == ["start", "end"]
        assert bot.views[0] is bot.views[1]
        assert len(bot.views[0].board) == 3
    play_hand(BotGroup([Caller(), starter := Starter()], ALL_IN_BLINDS), ALL_IN_BLINDS)
    assert starter.started == [0]


def test_hooks_of_an_instance_are_called() -> None:
    bot: Any = Caller()
    seen: list[float] = []
    bot.hand_finished = lambda view: seen.append(view.value)
    play_hand(BotGroup([bot, Caller()], KUHN), KUHN)
    assert seen == [-1.0]


def test_match_finished_is_called_once() -> None:
    bots = Diary(), Diary()
    group = BotGroup(bots, KUHN)
    assert group.end_match() == group.end_match() == []
    assert [bot.events for bot in bots] == [["over"], ["over"]]


def test_a_group_needs_as_many_bots_as_players() -> None:
    with pytest.raises(ValueError, match="the game needs 2 bots, 3 given"):
        BotGroup([Caller()] * 3, KUHN)
    with pytest.raises(TypeError, match=r"not its class: write Caller\(\)"):
        BotGroup([Caller(), Caller], KUHN)  # type: ignore[list-item]


# ---- what bots say


class Talker(Caller):
    """Says the same wherever it may."""

    def __init__(self, times: int = 1) -> None:
        self.times = times

    def _say(self, where: str, view: View) -> None:
        for i in range(self.times):
            view.comment(f"{where} {view.hand_number} {i}")

    def act(self, view: View) -> Action:
        self._say("act", view)
        return CALL

    def hand_started(self, view: View) -> None:
        self._say("start", view)

    def hand_finished(self, view: View) -> None:
        self._say("end", view)


def test_comments_wait_for_the_next_answer() -> None:
    group = BotGroup([Caller(), Talker()], KUHN)
    root = betting_start(KUHN)
    group.begin_hand(0, deal_of(KUHN), seats_of(KUHN), root)
    assert (group.ask(root), group.comments) == (CALL, [])
    betting = root.after(CALL)
    assert (group.ask(betting), group.comments) == (CALL, [b"# start 0 0\r\n", b"# act 0 0\r\n"])
    group.end_hand(betting.after(CALL))
    group.begin_hand(1, deal_of(KUHN), seats_of(KUHN, 1), root)
    group.ask(root)
    assert group.comments == [b"# end 0 0\r\n", b"# start 1 0\r\n", b"# act 1 0\r\n"]
    group.ask(betting)
    assert group.comments == []


def test_waiting_comments_are_bounded() -> None:
    group = BotGroup([Caller(), Talker(10)], KUHN)
    root = betting_start(KUHN)
    for number in range(5):
        group.begin_hand(number, deal_of(KUHN), seats_of(KUHN), root)
    group.ask(root.after(CALL))
    assert len(group.comments) == MAX_WAITING_COMMENTS
    assert group.comments[-1] == b"# start 1 5\r\n"


# ---- answers of bots


@pytest.mark.parametrize(
    ("game", "answer", "action"),
    [
        (LIMIT, CALL, CALL),
        (LIMIT, RAISE, RAISE),
        (LIMIT, Action(ActionKind.RAISE), RAISE),
        (LIMIT, raise_to(20), RAISE),
        (LIMIT, Action(1), CALL),  # type: ignore[arg-type]
        (NO_LIMIT, raise_to(200), raise_to(200)),
    ],
)
def test_legal_answers(game: Game, answer: Action, action: Action) -> None:
    group = BotGroup([Diary(), Diary(answer)], game)
    root = betting_start(game)
    group.begin_hand(0, deal_of(game), seats_of(game), root)
    got = group.ask(root)
    assert got == action
    assert type(got.kind) is ActionKind


@pytest.mark.parametrize(
    ("game", "answer", "words"),
    [
        (KUHN, FOLD, "the bot answered fold in hand 3: .*check instead.*; the state was MATCHSTATE:0:3::Qs|"),
        (NO_LIMIT, RAISE, r"the bot answered raise in hand 3: .*\(rule BELOW_MINIMUM\)"),
        (NO_LIMIT, Action(ActionKind.RAISE, 200.0), "a whole number of chips"),  # type: ignore[arg-type]
        (KUHN, None, r"the bot answered None in hand 3: act\(\) must return an Action"),
    ],
)
def test_illegal_answers(game: Game, answer: Any, words: str) -> None:
    opener = game.first_players[0]
    bots = [Diary(answer), Diary(answer)]
    group = BotGroup(bots, game)
    root = betting_start(game)
    group.begin_hand(3, deal_of(game), seats_of(game), root)
    if game is NO_LIMIT:
        # A legal size is cached; one that only resembles it is still refused.
        root.after(raise_to(200))
    with pytest.raises(BotFailure, match=words) as caught:
        group.ask(root)
    assert (caught.value.seat, caught.value.traceback) == (opener, "")
    assert caught.value.state.startswith(f"MATCHSTATE:{opener}:3:")
    assert "\n" not in str(caught.value)


# ---- failures of bots


def broken_bot(where: str, error: BaseException) -> Bot:
    """Return a bot that raises in one of its calls."""

    def fail(*_: object) -> None:
        raise error

    bot: Any = Diary()
    setattr(bot, where, fail)
    return bot  # type: ignore[no-any-return]


def without_line(failure: BotFailure) -> str:
    """Return the sentence of a failure in a bot of this file, without file and line, which occur once."""
    sentence, count = re.subn(r" \(\S*test_group\.py, line \d+\)", "", str(failure))
    assert count == 1, failure
    return sentence


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (ValueError("one\n  two\r\nthree"), "ValueError: one two three"),
        (KeyError(), "KeyError"),
        (SystemExit(3), "SystemExit: 3"),
        (Unspeakable(), "Unspeakable: it has no readable text"),
        (ValueError("x" * 1000), "ValueError: " + "x" * 300 + "..."),
    ],
)
def test_failure_names_error_state_and_line(error: BaseException, words: str) -> None:
    group = BotGroup([broken_bot("act", error), Caller()], KUHN)
    root = betting_start(KUHN)
    group.begin_hand(4, deal_of(KUHN), seats_of(KUHN), root)
    with pytest.raises(BotFailure) as caught:
        group.ask(root)
    failure = caught.value
    state = "MATCHSTATE:0:4::Qs|"
    assert without_line(failure) == f"the bot's own code failed in hand 4: {words}; the state was {state}"
    assert (failure.seat, failure.hand_number, failure.state, failure.__cause__) == (0, 4, state, error)
    assert failure.traceback.startswith("Traceback (most recent call last):\n")
    assert "in fail" in failure.traceback
    assert failure.traceback.count("  File ") == 1, "frames that are not the bot's"


@pytest.mark.parametrize("where", ["hand_started", "hand_finished"])
def test_failure_in_a_hook_stops_the_bot(where: str) -> None:
    bots = [broken_bot(where, ValueError("no")), Diary(), Diary()]
    group = BotGroup(bots, KUHN_3P)
    root = betting_start(KUHN_3P)
    failures = list(group.begin_hand(0, deal_of(KUHN_3P), seats_of(KUHN_3P), root))
    end = root.after(CALL).after(CALL).after(CALL)
    failures += group.end_hand(end)
    (failure,) = failures
    assert failure.seat == 0
    sentence = "the bot's own code failed in hand 0: ValueError: no; the state was MATCHSTATE:0:0:"
    assert without_line(failure).startswith(sentence)
    # The other bots have been notified and have continued; this one has not.
    group.begin_hand(1, deal_of(KUHN_3P), seats_of(KUHN_3P), root)
    assert group.end_match() == []
    for bot in bots[1:]:
        assert isinstance(bot, Diary)
        assert [event.split(" ")[0] for event in bot.events] == ["start", "end", "start", "over"]
    first = bots[0]
    assert isinstance(first, Diary)
    assert "over" not in first.events
    assert len(first.events) == (0 if where == "hand_started" else 1)


def test_failure_is_reported_in_a_hand_without_decisions() -> None:
    group = BotGroup([Diary(), broken_bot("hand_started", ValueError("no"))], ALL_IN_BLINDS)
    root = betting_start(ALL_IN_BLINDS)
    assert not group.begin_hand(0, deal_of(ALL_IN_BLINDS), seats_of(ALL_IN_BLINDS), root)
    (failure,) = group.end_hand(root)
    assert failure.seat == 1


def test_failure_after_the_match() -> None:
    last = Diary()
    (failure,) = BotGroup([broken_bot("match_finished", OSError("full")), last], KUHN).end_match()
    assert without_line(failure) == "the bot's own code failed when the match was over: OSError: full"
    assert (failure.seat, failure.state) == (0, "")
    assert last.events == ["over"]


def test_interrupt_is_not_a_failure() -> None:
    class Slow(Caller):
        def act(self, view: View) -> Action:
            _thread.interrupt_main()
            while True:
                pass

    group = BotGroup([Slow(), Caller()], KUHN)
    root = betting_start(KUHN)
    group.begin_hand(0, deal_of(KUHN), seats_of(KUHN), root)
    with pytest.raises(KeyboardInterrupt):
        group.ask(root)


# ---- before the first hand


class Preparing(Caller):
    """Bot that records the games it prepares for, and can fail there."""

    def __init__(self, problem: BaseException | None = None) -> None:
        self.prepared: list[Game] = []
        self.problem = problem

    def prepare(self, game: Game) -> None:
        if self.problem is not None:
            raise self.problem
        self.prepared.append(game)

    def hand_started(self, view: View) -> None:
        assert self.prepared


def test_bots_prepare_once_before_the_first_hand() -> None:
    bots = Preparing(), Preparing()
    group = BotGroup(bots, KUHN)
    assert [bot.prepared for bot in bots] == [[], []]
    play_hand(group, KUHN)
    play_hand(group, KUHN, 1)
    assert [bot.prepared for bot in bots] == [[KUHN], [KUHN]]


@pytest.mark.parametrize("problem", [ZeroDivisionError("nothing there"), SystemExit(3)])
def test_bot_that_cannot_prepare_is_out(problem: BaseException) -> None:
    group = BotGroup([Preparing(problem), Preparing()], KUHN)
    (failure,) = group.begin_hand(0, deal_of(KUHN), seats_of(KUHN), betting_start(KUHN))
    assert (failure.seat, failure.hand_number, failure.state) == (0, None, "")
    assert without_line(failure).startswith("the bot's own code failed before the first hand: ")
    assert "raise self.problem" in failure.traceback
