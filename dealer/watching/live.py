"""The tables of matches that go on, moment by moment.

A match tells `LiveTables` each of its events, in its own thread and at its own pace; whoever watches asks for the
newest moment when there is time for it. Nothing waits and nothing piles up: a moment that nobody asked for is gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from dealer.match.events import (
    ActionPlayed,
    Event,
    HandClosed,
    HandFinished,
    HandStarted,
    MatchEnded,
    MatchStarted,
)
from dealer.run.contest import MatchEvent
from engine import Deal, Seat, betting_start
from engine.betting import BettingState
from logs.view import HandView, live_views, views_of

__all__ = ["LiveMoment", "LiveTables"]

_Key: TypeAlias = tuple[str, frozenset[str], str]
"""The game, the players and the match: the matches of every contest of a run have the same names."""


class LiveMoment(NamedTuple):
    """A hand that goes on, or has just ended. A tuple, because one is made for every action.

    Attributes:
        version: another moment of the match has another.
        hand_number: of the hand.
        names: the players by position.
        seats: the seat of each position.
        deal: all cards: who may not see them is given scenes without them.
        before: the betting; before the action, if there is one.
        played: the last action; None at the start of a hand.
        used_us: by seat, the time used in the match up to the last hand; none before.
    """

    version: int
    hand_number: int
    names: tuple[str, ...]
    seats: tuple[Seat, ...]
    deal: Deal
    before: BettingState
    played: ActionPlayed | HandFinished | None = None
    used_us: tuple[int, ...] = ()

    def scenes(self, *, with_cards: bool) -> tuple[HandView, ...]:
        """The hand so far; without any card, and without what bots say of theirs, for those who must not see them."""
        nothing = Deal(((),) * len(self.names), ())
        if isinstance(self.played, HandFinished):
            record = self.played.record
            return views_of(record if with_cards else replace(record, deal=nothing, comments=()))
        betting = self.before
        if self.played is not None:
            after = betting.after_many((self.played.action,))
            betting = betting if after is None else after
        deal = self.deal if with_cards else nothing
        board = deal.board[: betting.game.board_cards_by_round[betting.round]]
        return live_views(betting, self.names, deal.hole_cards, board)


class LiveTables:
    """The newest moment of each match of a run; what a run is given as its `Watch`."""

    def __init__(self) -> None:
        self._moments: dict[_Key, LiveMoment] = {}
        self._starts: dict[_Key, BettingState] = {}
        self._hands: dict[_Key, HandStarted] = {}
        self._keys: dict[tuple[str, tuple[str, ...], str], _Key] = {}
        """By the players in any order; a key is looked up for every action, and made once."""

    def __call__(self, happened: MatchEvent) -> None:
        """A match tells something. A moment is replaced as a whole: readers in other threads never see half of one."""
        game, match, players, event = happened
        key = self._keys.get((game, players, match))
        if key is None:
            key = self._keys[game, players, match] = game, frozenset(players), match
        if type(event) is ActionPlayed:
            old = self._moments.get(key)
            if old is not None and old.hand_number == event.hand_number:
                version, number, names, seats, deal, _, _, used_us = old
                now = LiveMoment(version + 1, number, names, seats, deal, event.betting, event, used_us)
                self._moments[key] = now
            else:
                self._starts[key] = betting_start(event.betting.game)
                self._begin(key, players, event)
        else:
            self._note(key, players, event)

    def _note(self, key: _Key, players: tuple[str, ...], event: Event) -> None:
        """What happens once a hand, or less often."""
        match event:
            case HandFinished(record) as finished:
                old = self._moments.get(key)
                if old is not None and old.hand_number == record.hand_number:
                    self._moments[key] = old._replace(version=old.version + 1, played=finished)
            case HandClosed(_, used_us):
                old = self._moments.get(key)
                if old is not None:
                    self._moments[key] = old._replace(version=old.version + 1, used_us=used_us)
            case HandStarted() as started:
                self._hands[key] = started
                self._begin(key, players, None)
            case MatchStarted(setup, _):
                self._starts[key] = betting_start(setup.game)
            case MatchEnded():
                self._hands.pop(key, None)
                self._moments.pop(key, None)
            case _:
                pass

    def _begin(self, key: _Key, players: tuple[str, ...], played: ActionPlayed | None) -> None:
        """A hand begins; whoever comes to a match later learns by its first action what is played."""
        hand, start, old = self._hands.get(key), self._starts.get(key), self._moments.get(key)
        if hand is None or start is None or (played is not None and played.hand_number != hand.hand_number):
            return
        version, used_us = (0, ()) if old is None else (old.version + 1, old.used_us)
        names = tuple([players[seat] for seat in hand.seats])
        before = start if played is None else played.betting
        self._moments[key] = LiveMoment(
            version, hand.hand_number, names, hand.seats, hand.deal, before, played, used_us
        )

    def moment(self, game: str, players: Iterable[str], match: str) -> LiveMoment | None:
        """The newest moment of a match; None where it has not begun, or is over."""
        return self._moments.get((game, frozenset(players), match))
