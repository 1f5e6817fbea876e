"""Runs for watchers: contests, matches, hands and scores, during and after play.

`WatchedRun` reads the folder of a run, a log, or a folder of logs and hand histories. Visitors select by names found on
disk. Their input never becomes a path.

`LiveMatches` receives the events of a match in the thread of the run. Watchers read the newest moment in theirs. A
moment without readers is dropped.
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
    """Match of a watched run.

    Attributes:
        key: unique key in the run.
        name: name of the match and its files.
        path: path of its file.
        file: hands of the file.
        hands: hands of the match.
    """

    key: str
    name: str
    path: str
    file: HandIndex = field(repr=False)
    hands: MatchHands = field(repr=False)


class WatchedContest:
    """Contest of a watched run.

    Attributes:
        key: name of the contest in the run; empty for the only one.
        game: its game.
        game_name: name of the game; empty if no log states it.
        players: names of its players.
        seatings: names of the matches that play the same hands, slice by slice.
        matches: matches that have begun, by name.
        interval: kind of the intervals of its scores.
        scores: scores of its deals.
        hand: reads a hand by match and number, with a cache.
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
        """Prepare a contest. With a plan, scores have the same intervals as the result."""
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
        """Each seating was dealt cards of its own, so that equal hand numbers are different deals."""
        return len({match.hands.seed for match in self.matches.values()}) > 1

    def faults(self, max_faults: int = 50) -> list[tuple[WatchedMatch, str, Fault]]:
        """Return the latest faults, each with its match and the name of its player."""
        faults = []
        for match in self.matches.values():
            names = match.hands.names
            for fault in read_faults(f"{stem(match.path)}.faults", len(names), _MAX_FAULT_BYTES):
                faults.append((match, names[fault.seat], fault))
        return faults[-max_faults:]


class WatchedRun:
    """Open run, for one thread at a time.

    Attributes:
        key: key among the runs that are shown.
        path: folder or file of the run.
        lock: lock for the threads of a server.
        problems: problems of files, by path.
        result: result of the run, if it has one.
        is_over: no further hands will come, because there is a result, or the path is not the folder of a run.
    """

    def __init__(self, path: Path, key: str = "", find: Callable[..., HandSource] = find) -> None:
        """Open a run.

        Args:
            path: folder or file of the run.
            key: key of the run; the name of the path by default.
            find: finds the hands at paths.

        Raises:
            LogsError: no hand can be read, and the path is not the folder of a run.
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
        return next(contest for contest in self.contests if contest.matches.get(match.name) is match)

    @cached_property
    def _plan(self) -> dict[str, tuple[ContestPlan, list[list[str]]]]:
        """Plans of the contests and the seatings of their matches, by key."""
        path = self.path / CONFIG_NAME
        if not path.is_file():
            return {}
        try:
            planned = planned_contests(settle(validated(read_config(path), str(path))), self.path)
        except (DealerError, LogsError, GameDefinitionError, OSError, ValueError):
            # A run of another version, or with bots that are not installed. Its files can be read without a plan.
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
        """Read new hands, at most twice a second unless `again`."""
        now_s = time.monotonic()
        is_whole = self.result is not None and self.is_over and self._contests
        if not again and (now_s < self._next_look_s or is_whole):
            return
        self._next_look_s = now_s + _LOOK_S
        # Read before the files, because they are complete only if the result existed before they were read.
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
        """Return the files without copies of hands."""
        # The logs of a run have different hands, and its other files are exports of them.
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
        """Sentences about problems of files, and about hands left out as copies."""
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
        """Return the matches of the files by key of their contest."""
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
    """Group matches that play the same hands between the same players, by their first hands."""
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
    """Moment of a hand that is in progress or has just ended.

    Attributes:
        hand_number: number of the hand.
        names: names of the players by position.
        seats: seats by position.
        deal: all cards, including those that watchers may not see.
        before: betting before the last action.
        played: last action, or the end of the hand; None at its start.
        used_us: time used in the match before this hand, by seat; empty in the first hand.
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
        """Text that is unique for each moment of a match."""
        actions = sum(map(len, self.before.rounds))
        if isinstance(self.played, ActionPlayed):
            actions += 1
        key = f"{self.hand_number}-{actions}"
        if isinstance(self.played, HandFinished):
            key += f"-end-{sum(self.used_us)}"
        return key

    def scenes(self, *, with_cards: bool) -> tuple[HandView, ...]:
        """Return the hand so far, without cards and comments of bots unless `with_cards`."""
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
    """Newest moments of the matches of a run. An object is passed to the run as `watch`."""

    def __init__(self) -> None:
        # Newest event of each type, by game, players and match, since matches of all contests have the same names.
        # Readers in other threads see events being replaced one by one.
        self._matches: dict[tuple[str, tuple[str, ...], str], dict[type, Any]] = {}

    def __call__(self, match_event: MatchEvent) -> None:
        """Store an event. Moments are created by readers, because this is called for every action."""
        game, match, players, event = match_event
        if isinstance(event, MatchEnded):
            self._matches.pop((game, players, match), None)
            return
        newest = self._matches.get((game, players, match))
        if newest is None:
            newest = self._matches[game, players, match] = {}
        newest[type(event)] = event

    def moment(self, game: str, players: Iterable[str], match: str) -> LiveMoment | None:
        """Return the newest moment of a match; None before its first hand, after its end, or if it is unknown."""
        player_set = frozenset(players)
        # A copy, because the thread of the run changes the dictionary.
        for key, newest in list(self._matches.items()):
            event_game, names, event_match = key
            if event_game == game and event_match == match and frozenset(names) == player_set:
                return _moment(names, newest)
        return None


def _moment(players: tuple[str, ...], newest: Mapping[type, Any]) -> LiveMoment | None:
    # The hand's start is read last of its events, so that no event read before it belongs to a later hand.
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
