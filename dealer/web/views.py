"""What pages show of runs, as values."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dealer.errors import WebError
from dealer.run.results import ContestResult, TournamentResult
from dealer.watching import FaultSeen, WatchedContest, WatchedMatch
from dealer.web.library import Library, ShownRun
from dealer.web.visitor import Visitor
from engine.text import shown
from logs.contest_scores import NotableDeal, NotableHand, ScorePoint
from logs.page.drawing import plain_number, thinned
from logs.tracker.tables import chips_text


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
        "" if result is None else shown(found.access.words(result.sentence)),
        scores.deals,
        scores.waiting(contest.hands),
        scores.unread,
        max(map(len, contest.seatings), default=1),
        tuple(rows),
        tuple(
            (match.key, match.hands.count if found.sees_cards else 0, ", ".join(map(shown, match.hands.names)))
            for match in contest.matches.values()
        ),
        scores.biggest_pots if found.sees_cards else (),
        scores.worst_deals if found.sees_cards else (),
        tuple((shown(name), scores.worst_hands(name)) for name in scores.players) if found.sees_cards else (),
        tuple(one for one in faults if found.sees_cards and found.access.reads_faults_of(one.player)),
        found.run.is_over,
    )


def _result_of(found: ShownRun, contest: WatchedContest) -> ContestResult | None:
    result = found.run.result
    if isinstance(result, TournamentResult):
        names = set(contest.players)
        same = (one for one in result.contests if {player.name for player in one.players} == names)
        return next((one for one in same if one.game == contest.game_name), None)
    return result


_WIDTH: Final = 640
_HEIGHT: Final = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 12, 36


def score_curve(points: Sequence[ScorePoint], player: str) -> str:
    """What a player won over the hands, in big blinds, as an ``<svg>`` element; empty without hands."""
    if not points:
        return ""
    # The band of the first deals is wide and says nothing: it is cut off where the picture ends.
    along = [ScorePoint(0, 0.0, None), *thinned(points)]
    last = along[-1]
    reach = [one.blinds for one in along] + (
        [last.blinds - last.half_width, last.blinds + last.half_width] if last.half_width else []
    )
    low, high = min(reach), max(reach)
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin

    def x(hands: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * hands / last.hands

    def y(blinds: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - min(max(blinds, low), high)) / (high - low)

    def path(ends: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x(hands):.1f},{y(blinds):.1f}" for hands, blinds in ends)

    known = [(one.hands, one.blinds, one.half_width) for one in along if one.half_width is not None]
    band = [(at, net + half) for at, net, half in known] + [(at, net - half) for at, net, half in reversed(known)]
    parts = [f'<polygon class="band" points="{path(band)}"/>'] if len(known) > 1 else []
    parts.append(f'<line class="zero" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(0):.1f}" y2="{y(0):.1f}"/>')
    parts.append(f'<polyline class="net" points="{path([(one.hands, one.blinds) for one in along])}"/>')
    for blinds in {0.0, last.blinds}:
        words = plain_number(blinds)
        parts.append(f'<text x="{_LEFT - 8}" y="{y(blinds) + 4:.1f}" text-anchor="end">{words}</text>')
    for part in (0.5, 1.0):
        at = last.hands * part
        anchor = "end" if part == 1 else "middle"
        parts.append(f'<text x="{x(at):.1f}" y="{_HEIGHT - 14}" text-anchor="{anchor}">{at:,.0f} hands</text>')
    end = f"{last.blinds:+,.1f}" + ("" if last.half_width is None else f" ± {last.half_width:,.1f}")
    label = html.escape(f"{shown(player)}: {end} big blinds over {last.hands:,} hands", quote=True)
    return f'<svg class="curve" role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'
