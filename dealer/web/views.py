"""What pages show of runs, as values; and who is shown what."""

from __future__ import annotations

from dataclasses import dataclass

from dealer.errors import WebError
from dealer.results.schema import ContestResult, TournamentResult
from dealer.watching.runs import FaultSeen, Sight, WatchedContest, WatchedMatch
from dealer.web.curve import score_curve
from dealer.web.library import Library, ShownRun
from dealer.web.visitor import Visitor
from logs.contest_scores import NotableDeal, NotableHand
from logs.text import shown
from logs.tracker.tables import chips_text

__all__ = [
    "ContestRow",
    "ContestView",
    "PlayerRow",
    "contest_row",
    "contest_view",
    "is_seen",
    "match_of",
    "open_run",
    "seen_hands",
    "sees_all",
]


def open_run(library: Library, key: str, visitor: Visitor) -> ShownRun:
    """A run by its key.

    Raises:
        WebError: there is none.
        LogsError: it cannot be read.
        OSError: it cannot be read.
    """
    found = library.open(key, visitor)
    if found is None:
        raise WebError(404, "There is no such run.")
    return found


def match_of(found: ShownRun, key: str) -> tuple[WatchedContest, WatchedMatch]:
    """A match by its key, with its contest.

    Raises:
        WebError: there is none.
    """
    match = found.run.matches.get(key)
    if match is None:
        raise WebError(404, "The run has no such match, or it has not begun.")
    return found.run.contest_of(match), match


def sees_all(found: ShownRun) -> bool:
    """Whether nothing of a run is kept back."""
    if found.sight is Sight.AFTERWARDS:
        return False
    return found.run.is_over or found.sight is Sight.EVERYTHING


def seen_hands(found: ShownRun, contest: WatchedContest, match: WatchedMatch) -> int:
    """How many hands of a match may be seen, from the first on."""
    return match.hands.count if sees_all(found) else contest.played_until(match)


def is_seen(found: ShownRun, contest: WatchedContest, match: WatchedMatch, number: int) -> bool:
    """Whether the cards of a hand may be seen."""
    if sees_all(found):
        return True
    if found.sight is Sight.AFTERWARDS:
        return False
    count = contest.played_until(match)
    last = match.hands.page(count - 1, 1) if count else []
    return bool(last) and number <= last[0]


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player of a contest in its table: its name, rate, chips, faults and curve."""

    name: str
    rate: str
    chips: str
    faults: int
    curve: str


@dataclass(frozen=True, slots=True)
class ContestView:
    """What a page tells of a contest."""

    key: str
    title: str
    game: str
    sentence: str
    deals: int
    waiting: int
    unread: int
    seatings: int
    players: tuple[PlayerRow, ...]
    matches: tuple[tuple[str, int, str], ...]
    pots: tuple[NotableHand, ...]
    worst_deals: tuple[NotableDeal, ...]
    worst_hands: tuple[tuple[str, tuple[NotableHand, ...]], ...]
    faults: tuple[FaultSeen, ...]
    is_over: bool


@dataclass(frozen=True, slots=True)
class ContestRow:
    """A contest in a list."""

    key: str
    title: str
    game: str
    rate: str
    deals: int


def _title(contest: WatchedContest) -> str:
    return " - ".join(map(shown, contest.players)) or contest.key


def contest_row(contest: WatchedContest) -> ContestRow:
    """A contest in a list."""
    scores = contest.scores
    rate = scores.rate(scores.players[0]) if scores.players else None
    words = "" if rate is None else shown(str(rate))
    return ContestRow(contest.key, _title(contest), shown(contest.game_name), words, scores.deals)


def contest_view(found: ShownRun, contest: WatchedContest) -> ContestView:
    """What a page tells of a contest."""
    scores = contest.scores
    result = _result_of(found, contest)
    faults = contest.faults()
    is_closed = found.sight is Sight.AFTERWARDS
    rows = []
    for name in scores.players:
        rate = scores.rate(name)
        rows.append(
            PlayerRow(
                shown(name),
                "" if rate is None else rate.text(),
                chips_text(scores.chips(name)),
                sum(fault.player == name for fault in faults),
                score_curve(scores.curve(name), name),
            )
        )
    return ContestView(
        contest.key,
        _title(contest),
        shown(contest.game_name),
        "" if result is None else shown(found.words(result.sentence)),
        scores.deals,
        scores.waiting(contest.hands),
        scores.unread,
        max(map(len, contest.seatings), default=1),
        tuple(rows),
        tuple(
            (match.key, seen_hands(found, contest, match), ", ".join(map(shown, match.hands.names)))
            for match in contest.matches.values()
        ),
        () if is_closed else scores.biggest_pots,
        () if is_closed else scores.worst_deals,
        () if is_closed else tuple((shown(name), scores.worst_hands(name)) for name in scores.players),
        tuple(faults if sees_all(found) else ()),
        found.run.is_over,
    )


def _result_of(found: ShownRun, contest: WatchedContest) -> ContestResult | None:
    result = found.run.result
    if isinstance(result, TournamentResult):
        names = set(contest.players)
        same = (one for one in result.contests if {player.name for player in one.players} == names)
        return next((one for one in same if one.game == contest.game_name), None)
    return result
