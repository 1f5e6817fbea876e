"""Runs on disk for watchers: contests, their matches, hands and scores, also while they are played.

A run is the folder of a play or of a tournament, or any log, file of hands or folder of such. Visitors select by names
that were found on disk before: their input is looked up and never becomes a path.

A running match passes each of its events to `LiveMatches` in its own thread; a watcher reads the newest moment when it
has time. Nothing waits or accumulates: a moment that is not read is dropped.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from dealer.errors import DealerError, ResultError
from dealer.match.events import ActionPlayed, HandClosed, HandFinished, HandStarted, MatchEnded, MatchStarted
from dealer.match.faults import Fault
from dealer.match.writers import read_faults
from dealer.run.choices import Interval
from dealer.run.contest import MatchEvent
from dealer.run.contest_plan import ContestPlan
from dealer.run.folder import CONFIG_NAME, RESULT_NAME
from dealer.run.plan import planned_contests, settle
from dealer.run.results import AnyResult, read_result
from dealer.run.run_settings import read_config, validated
from engine import Deal, Game, Seat, betting_start
from engine.betting import BettingState
from logs import HandRecord
from logs.contest_scores import ContestScores
from logs.errors import LogError, LogProblem, LogsError
from logs.files import stem
from logs.hand_identity import SeenHands
from logs.hand_index import HandIndex, MatchHands, open_hands
from logs.hand_source import HandFile, HandSource, find
from logs.hand_view import HandView, live_views, views_of
from protocol import GameDefinitionError

_LOOK_S = 0.5
"""Shortest time between two searches for new files."""
_MAX_FILES = 20_000
_MAX_FAULT_BYTES = 1 << 20
_COUNT_AT_A_TIME = 2000
_MAX_KEPT_HANDS = 256


@dataclass(frozen=True, slots=True)
class WatchedMatch:
    """A match; its key is unique in the run, its name is that of its files and its log.

    `file` has all hands of the file, `hands` those of the match.
    """

    key: str
    name: str
    path: str
    file: HandIndex = field(repr=False)
    hands: MatchHands = field(repr=False)


class WatchedContest:
    """A contest of a run: its matches play the same deals, or as many deals of their own.

    Attributes:
        key: its name in the run; empty for the only one.
        game_name: empty where no log names it.
        interval: kind of the intervals of its scores.
        seatings: names of the matches that play the same hands, slice by slice.
        matches: by name, those that have begun.
        hand: reads the hand of a number of a match, see `logs.hand_index.MatchHands.hand`; the last ones are kept.
    """

    def __init__(
        self,
        key: str,
        game: Game,
        game_name: str,
        players: Sequence[str],
        seatings: Sequence[Sequence[str]],
        plan: ContestPlan | None = None,
    ) -> None:
        """Show the files of a contest; with a plan, its scores have the intervals that the result has."""
        self.key = key
        self.game = game
        self.game_name = game_name
        self.players = tuple(players)
        self.seatings = tuple(tuple(names) for names in seatings)
        self.matches: dict[str, WatchedMatch] = {}
        self.interval: Interval = "fixed" if plan is None else plan.interval
        self._new_mean = None if plan is None else plan.new_mean
        self.scores = ContestScores(game, self.seatings, self._new_mean)
        self.hand = lru_cache(_MAX_KEPT_HANDS)(self._read_hand)

    def _read_hand(self, match: str, number: int) -> HandRecord:
        return self.matches[match].hands.hand(number)

    def seat(self, seatings: Sequence[Sequence[str]]) -> None:
        """Restart the scores with other groups of matches, for a run with more matches than planned."""
        self.seatings = tuple(tuple(names) for names in seatings)
        self.scores = ContestScores(self.game, self.seatings, self._new_mean)

    @property
    def hands(self) -> dict[str, MatchHands]:
        return {name: match.hands for name, match in self.matches.items()}

    @property
    def has_own_cards(self) -> bool:
        """Whether each seating was dealt cards of its own, so that equal hand numbers are different deals."""
        return len({match.hands.seed for match in self.matches.values()}) > 1

    def faults(self, max_faults: int = 50) -> list[tuple[WatchedMatch, str, Fault]]:
        """The latest faults, each with its match and its player."""
        faults = []
        for match in self.matches.values():
            names = match.hands.names
            for fault in read_faults(f"{stem(match.path)}.faults", len(names), _MAX_FAULT_BYTES):
                faults.append((match, names[fault.seat], fault))
        return faults[-max_faults:]


class WatchedRun:
    """A run, opened, for one thread at a time (`lock`); its key is its name among the runs that are shown.

    Attributes:
        is_over: whether no more hands come: there is a result, or it is not the folder of a run.
    """

    def __init__(self, path: Path, key: str = "", find: Callable[..., HandSource] = find) -> None:
        """Open a run; `find` makes a source of its path.

        Raises:
            LogsError: there are no hands that can be read, and it is not the folder of a run.
            OSError: a file cannot be read.
        """
        self.key = key or path.absolute().name
        self.path = path
        self._find = find
        self.lock = threading.RLock()
        self.problems: dict[str, str] = {}
        self._contests: dict[str, WatchedContest] = {}
        self._files: dict[str, HandIndex] = {}
        self._seen = SeenHands()
        self._source: HandSource | None = None
        self._copies: list[LogProblem] = []
        self._sizes: list[tuple[str, int]] = []
        self._next_look_s = 0.0
        self.result: AnyResult | None = None
        self.is_over = False
        root = path
        if not path.is_dir():
            root = path.parent
        self._root = os.path.abspath(root)
        self.look()

    # ---- contests and matches

    @property
    def contests(self) -> tuple[WatchedContest, ...]:
        return tuple(self._contests.values())

    @property
    def matches(self) -> dict[str, WatchedMatch]:
        return {match.key: match for contest in self.contests for match in contest.matches.values()}

    def contest(self, key: str) -> WatchedContest | None:
        return self._contests.get(key)

    def contest_of(self, match: WatchedMatch) -> WatchedContest:
        return next(one for one in self.contests if one.matches.get(match.name) is match)

    @cached_property
    def _plan(self) -> dict[str, tuple[ContestPlan, list[list[str]]]]:
        """By key of a contest: its plan, and the seatings to be played."""
        path = self.path / CONFIG_NAME
        if not path.is_file():
            return {}
        try:
            planned = planned_contests(settle(validated(read_config(path), str(path))), self.path)
        except (DealerError, LogsError, GameDefinitionError, OSError, ValueError):
            # A run of another version, or with bots that are not installed: its files are enough.
            return {}
        plan = {}
        for contest in planned:
            slices: dict[int, list[str]] = {}
            for match_plan in contest.match_plans:
                slices.setdefault(match_plan.first_hand, []).append(match_plan.name)
            key = self._key_of(os.path.abspath(contest.record.folder))
            plan[key] = (contest, list(slices.values()))
        return plan

    # ---- reading

    def look(self, *, again: bool = False) -> None:
        """Read what has been added, at most twice a second unless `again`."""
        now_s = time.monotonic()
        is_whole = self.result is not None and self.is_over and self._contests
        if not again and (now_s < self._next_look_s or is_whole):
            return
        self._next_look_s = now_s + _LOOK_S
        # Read before the files: with a result they are complete.
        is_over = self._read_result()
        try:
            source = self._find([self.path])
        except LogsError:
            if not (self.path / CONFIG_NAME).is_file():
                raise
            source = HandSource(())
        for file in self._distinct(source).files[:_MAX_FILES]:
            self._take(file, source.game)
        if not self._files and self.problems and not (self.path / CONFIG_NAME).is_file():
            path, problem = next(iter(self.problems.items()))
            raise LogError(path, problem)
        for key, matches in self._matches_by_contest().items():
            self._update(key, matches)
        self.is_over = is_over

    def _distinct(self, source: HandSource) -> HandSource:
        """The files without copies of hands. The logs of a run are all different, and other files in it are exports."""
        if (self.path / CONFIG_NAME).is_file():
            logs = tuple([file for file in source.files if file.format is None])
            return replace(source, files=logs or source.files)
        sizes = [(file.path, os.path.getsize(file.path)) for file in source.files]
        if self._source is None or sizes != self._sizes:
            self._sizes = sizes
            self._copies = []
            self._source = replace(source, on_problem=self._copies.append).without_copies()
        return self._source

    @property
    def sentences(self) -> list[str]:
        """Problems of the files, and hands and files left out because others hold the same hands."""
        sentences = [f"{path}: {problem}" for path, problem in sorted(self.problems.items())]
        sentences += map(str, self._copies)
        if self._source is not None and (repeats := self._source.repeats_problem(self._seen)) is not None:
            sentences.append(str(repeats))
        return sentences

    def _read_result(self) -> bool:
        if not self.path.is_dir() or not (self.path / CONFIG_NAME).is_file():
            return True
        if not (self.path / RESULT_NAME).is_file():
            return False
        try:
            self.result = read_result(self.path)
        except ResultError as error:
            self.problems[RESULT_NAME] = str(error)
            return True
        return self.result.outcome.is_complete

    def _take(self, file: HandFile, game: Game | None) -> None:
        access = self._files.get(file.path)
        try:
            if access is None:
                repeats = None
                if self._source is not None:
                    repeats = self._source.repeats
                self._files[file.path] = open_hands(file, game, seen=self._seen, repeats=repeats)
            else:
                access.refresh()
            self.problems.pop(file.path, None)
        except LogError as error:
            self.problems[file.path] = error.problem
        except (LogsError, GameDefinitionError) as error:
            self.problems[file.path] = str(error)

    def _key_of(self, folder: str) -> str:
        relative = os.path.relpath(folder, self._root)
        if relative == ".":
            return ""
        return relative.replace(os.sep, "/")

    def _matches_by_contest(self) -> dict[str, list[WatchedMatch]]:
        """By key of a contest, the matches of its files."""
        contests: dict[str, list[WatchedMatch]] = {}
        for path, file in self._files.items():
            key = self._key_of(os.path.dirname(os.path.abspath(path)))
            for number, hands in enumerate(file.matches):
                name = os.path.basename(stem(path))
                if number:
                    name += f".{number + 1}"
                match_key = name
                if key:
                    match_key = f"{key}/{name}"
                contests.setdefault(key, []).append(WatchedMatch(match_key, name, path, file, hands))
        return contests

    def _update(self, key: str, matches: list[WatchedMatch]) -> None:
        contest = self._contests.get(key)
        if contest is None:
            contest = self._contests[key] = self._new_contest(key, matches)
            self._contests = dict(sorted(self._contests.items()))
        else:
            seated = set(chain.from_iterable(contest.seatings))
            if any(match.name not in seated for match in matches):
                contest.seat(_seatings(matches))
        for match in matches:
            old = contest.matches.get(match.name)
            if old is None or old.hands is not match.hands:
                contest.matches[match.name] = match

    def _new_contest(self, key: str, matches: list[WatchedMatch]) -> WatchedContest:
        game = matches[0].hands.game
        if key in self._plan:
            plan, seatings = self._plan[key]
            return WatchedContest(key, game, plan.record.game_name, plan.names, seatings, plan)
        names = dict.fromkeys(chain.from_iterable(match.hands.names for match in matches))
        return WatchedContest(key, game, "", tuple(names), _seatings(matches))

    # ---- counting

    def count(self) -> bool:
        """Count some more hands of every contest; return whether any is left."""
        has_more = False
        for contest in self.contests:
            if contest.scores.count(contest.hands, _COUNT_AT_A_TIME):
                has_more = True
        return has_more

    def waiting(self) -> int:
        """Number of deals that are not counted yet."""
        return sum(contest.scores.waiting(contest.hands) for contest in self.contests)

    def close(self) -> None:
        for access in self._files.values():
            access.close()


def _seatings(matches: Sequence[WatchedMatch]) -> list[list[str]]:
    """Matches in groups that play the same hands between the same players, by their first hands."""
    groups: dict[object, list[str]] = {}
    for match in matches:
        hands = match.hands
        group: object = match.name
        with contextlib.suppress(LogsError, IndexError):
            first = hands.page(0, 1)[0]
            cards = hands.hand(first).deal.hole_cards
            # Seatings of the same deals have the same cards in the same positions.
            if all(cards):
                group = (hands.game, first, cards, frozenset(hands.names))
        groups.setdefault(group, []).append(match.name)
    return list(groups.values())


class LiveMoment(NamedTuple):
    """A hand in progress, or just ended.

    Attributes:
        names: the players by position.
        deal: all cards; watchers that may not see them get scenes without them.
        before: the betting; before the action, if there is one.
        played: the last action, or the end; None at the start of a hand.
        used_us: by seat, the time used in the match up to the last hand; empty in the first.
    """

    hand_number: int
    names: tuple[str, ...]
    seats: tuple[Seat, ...]
    deal: Deal
    before: BettingState
    played: ActionPlayed | HandFinished | None
    used_us: tuple[int, ...]

    @property
    def key(self) -> str:
        """A text that differs for each moment of a match."""
        actions = sum(map(len, self.before.rounds))
        if isinstance(self.played, ActionPlayed):
            actions += 1
        key = f"{self.hand_number}-{actions}"
        if isinstance(self.played, HandFinished):
            key += f"-end-{sum(self.used_us)}"
        return key

    def scenes(self, *, with_cards: bool) -> tuple[HandView, ...]:
        """The hand so far; without cards and without the bots' comments unless `with_cards`."""
        deal = self.deal
        if not with_cards:
            deal = Deal(((),) * len(self.names), ())
        if isinstance(self.played, HandFinished):
            record = self.played.record
            if not with_cards:
                record = replace(record, deal=deal, comments=())
            return views_of(record)
        betting = self.before
        if self.played is not None:
            after = betting.after_many((self.played.action,))
            if after is not None:
                betting = after
        board = deal.board[: betting.game.board_cards_by_round[betting.round]]
        return live_views(betting, self.names, deal.hole_cards, board)


class LiveMatches:
    """The newest moment of each match of a run; the `Watch` of the run."""

    def __init__(self) -> None:
        self._matches: dict[tuple[str, tuple[str, ...], str], dict[type, Any]] = {}
        """By the game, the players by seat and the match, which has the same name in every contest: the newest event
        of each kind. Events are replaced one by one, while readers in other threads look."""

    def __call__(self, happened: MatchEvent) -> None:
        """Take an event. It comes for every action, so the moment is only made when it is asked for."""
        game, match, players, event = happened
        if isinstance(event, MatchEnded):
            self._matches.pop((game, players, match), None)
            return
        newest = self._matches.get((game, players, match))
        if newest is None:
            newest = self._matches[game, players, match] = {}
        newest[type(event)] = event

    def moment(self, game: str, players: Iterable[str], match: str) -> LiveMoment | None:
        """The newest moment of a match; None if it has not begun or is over, or is watched since this hand."""
        who = frozenset(players)
        for key, newest in list(self._matches.items()):
            event_game, names, event_match = key
            if event_game == game and event_match == match and frozenset(names) == who:
                return _moment(names, newest)
        return None


def _moment(players: tuple[str, ...], newest: Mapping[type, Any]) -> LiveMoment | None:
    # A hand starts before it is played, so that this order never finds an action of a later hand.
    closed = newest.get(HandClosed)
    end = newest.get(HandFinished)
    action = newest.get(ActionPlayed)
    hand = newest.get(HandStarted)
    started = newest.get(MatchStarted)
    if hand is None:
        return None
    played = None
    if end is not None and end.record.hand_number == hand.hand_number:
        played = end
        before = end.record.betting
    elif action is not None and action.hand_number == hand.hand_number:
        played = action
        before = action.betting
    elif action is not None:
        before = betting_start(action.betting.game)
    elif started is not None:
        before = betting_start(started.setup.game)
    else:
        return None
    names = tuple([players[seat] for seat in hand.seats])
    used_us: tuple[int, ...] = ()
    if closed is not None:
        used_us = closed.used_us
    return LiveMoment(hand.hand_number, names, hand.seats, hand.deal, before=before, played=played, used_us=used_us)
