"""Watched matches: the latest moment, with and without cards, and the counts of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.sdk.registry import make_bot
from dealer import play
from dealer.match.events import ActionPlayed, Event, HandFinished, MatchEnded, Watcher
from dealer.match.in_process import InProcessMatch
from dealer.match.setup import MatchSetup
from dealer.run.contest import MatchEvent
from dealer.watching import LiveMatches, LiveMoment, WatchedRun
from engine import CARD_TEXTS
from protocol import find_game
from tests.dealer.results_of import won_by

NAMES = ("Ann", "Bob")


class _Recorder(Watcher):
    wants = Watcher.wants | {ActionPlayed}

    def __init__(self, tables: LiveMatches, game: str, skip: int = 0) -> None:
        self.tables = tables
        self.game = game
        self.skip = skip
        self.moments: list[LiveMoment] = []
        self.events: list[Event] = []

    def notice(self, event: Event) -> None:
        self.events.append(event)
        if len(self.events) > self.skip:
            self.tables(MatchEvent(self.game, "match", NAMES, event))
        moment = self.tables.moment(self.game, NAMES, "match")
        if moment is not None:
            self.moments.append(moment)


def _play(game: str, hands: int = 20, skip: int = 0) -> _Recorder:
    """Play a match whose first `skip` events do not reach the watcher."""
    rules = find_game(game)[1]
    recorder = _Recorder(LiveMatches(), game, skip)
    setup = MatchSetup(rules, "match", hands, 5, NAMES)
    match = InProcessMatch(setup, [make_bot("random", 1), make_bot("random", 2)], [recorder])
    match.play(hands)
    match.finish()
    return recorder


@pytest.mark.parametrize("game", ["leduc", "nolimit"])
def test_moments_follow_the_hand(game: str) -> None:
    recorder = _play(game)
    keys = set()
    moments = set()
    for moment in recorder.moments:
        used_us = moment.used_us if isinstance(moment.played, HandFinished) else ()
        keys.add(moment.key)
        moments.add((moment.hand_number, moment.played, used_us))
    assert len(keys) == len(moments)
    ends = 0
    for moment in recorder.moments:
        scenes = moment.scenes(with_cards=True)
        assert [seat.name for seat in scenes[-1].seats] == list(moment.names)
        assert [seat.cards for seat in scenes[-1].seats] == [
            tuple(CARD_TEXTS[card] for card in cards) for cards in moment.deal.hole_cards
        ]
        if isinstance(moment.played, ActionPlayed):
            after = moment.before.after(moment.played.action)
            assert sum(after.spent) == scenes[-1].pot
            acting = scenes[-1].acting
            assert after.finished or acting is None or acting.name == moment.names[after.acting_position]
        if isinstance(moment.played, HandFinished):
            ends += 1
            assert [seat.value for seat in scenes[-1].seats] == list(moment.played.record.values)
    assert ends
    assert isinstance(recorder.events[-1], MatchEnded)
    assert recorder.tables.moment(game, NAMES, "match") is None


@pytest.mark.parametrize("game", ["leduc", "nolimit"])
def test_moments_without_cards_contain_no_card(game: str) -> None:
    for moment in _play(game).moments:
        hole_cards = {CARD_TEXTS[card] for cards in moment.deal.hole_cards for card in cards}
        for scene in moment.scenes(with_cards=False):
            assert not scene.board
            assert not any(seat.cards for seat in scene.seats)
            assert not hole_cards & set(scene.words.split())


def test_late_watcher_begins_with_the_next_hand() -> None:
    recorder = _play("leduc", skip=7)
    assert recorder.moments
    assert recorder.moments[0].hand_number > 0
    assert recorder.moments[-1].hand_number == 19


@pytest.mark.parametrize(
    ("game", "players", "stop"),
    [
        ("leduc", ("calling", "random"), "130"),
        ("leduc", ("calling", "random"), "better:0,900"),
        ("kuhn3", ("raising", "random", "calling"), "120"),
        ("limit", ("learner", "calling"), "12"),
    ],
)
def test_counts_and_intervals_of_a_watched_run_equal_those_of_its_result(
    tmp_path: Path, game: str, players: tuple[str, ...], stop: str
) -> None:
    result = play(game, players, stop=stop, seed=3, in_process=True, out=tmp_path / "run")
    run = WatchedRun(tmp_path / "run")
    while run.count():
        pass
    (contest,) = run.contests
    assert contest.scores.deals == result.duplicates
    assert contest.interval == result.interval
    for player in result.players:
        won = won_by(player)
        rate = contest.scores.rate(player.name)
        assert rate is not None
        assert rate.mean == won.raw.mean
        assert rate.half_width == won.raw.half_width
        assert rate.opponent == result.opponent_of(player.name)
        assert contest.scores.rate_of_best(player.name).half_width == won.best.half_width
        assert contest.scores.chips(player.name) == player.chips
