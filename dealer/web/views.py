"""What pages show of runs, tournaments and tables with people, as values for templates, and the addresses of runs.

Nothing is in them that the visitor may not see. The addresses stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from bots.human import Scene, in_words
from dealer.errors import WebError
from dealer.person.sentences import (
    game_sentence,
    offers,
    reasons,
    result_sentence,
    score_remark,
    signed_chips,
    size_offers,
)
from dealer.person.settings import HANDS, SEAT
from dealer.person.table_session import TableSession
from dealer.run.results import ContestResult, GameStandings, TournamentResult
from dealer.watching import FaultSeen, WatchedContest, WatchedMatch, WatchedRun
from dealer.web.figures import Cell, cell_of, score_chart
from dealer.web.library import Library, ShownRun
from dealer.web.visitor import Visitor
from engine import Deal, Move
from engine.text import count_of, listed, shown
from logs import HandRecord
from logs.contest_scores import NotableDeal, NotableHand
from logs.estimation.mean import chips_text
from logs.poker_table.faces import with_symbols
from logs.view import Acted, Dealt, HandView, views_of
from protocol.game_definition import short_name


def _path(text: str) -> str:
    return quote(text, safe="/")


def run_path(run: str) -> str:
    """The address of a run."""
    return f"/runs/{quote(run, safe='')}"


def match_path(run: str, match: str) -> str:
    """The address of a match."""
    return f"{run_path(run)}/matches/{_path(match)}"


def contest_path(run: str, contest: str) -> str:
    """The address of a contest."""
    return f"{run_path(run)}/contest/{_path(contest)}"


def hand_path(run: str, match: str, number: int) -> str:
    """The address of a hand."""
    return f"{match_path(run, match)}/hands/{number}"


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


def contest_of(found: ShownRun, key: str) -> WatchedContest:
    """A contest by its key.

    Raises:
        WebError: there is none.
    """
    contest = found.run.contest(key)
    if contest is None:
        raise WebError(404, "The run has no such contest.")
    return contest


def match_of(found: ShownRun, key: str) -> tuple[WatchedContest, WatchedMatch]:
    """A match by its key, with its contest.

    Raises:
        WebError: there is none.
    """
    match = found.run.matches.get(key)
    if match is None:
        raise WebError(404, "The run has no such match, or it has not begun.")
    return found.run.contest_of(match), match


def table_now(
    found: ShownRun, contest: WatchedContest, match: WatchedMatch, *, with_cards: bool = True
) -> tuple[str, int, tuple[HandView, ...]]:
    """The newest moment of a match, as far as it may be seen, or without cards: its name, the hand, its scenes so far.

    Where only the files of the match are there, it is the last finished hand.
    """
    with_cards = with_cards and found.sees_cards
    moment = None
    if found.live is not None:
        moment = found.live.moment(contest.game_name, contest.players, match.name)
    if moment is not None:
        scenes = moment.scenes(with_cards=with_cards)
        return moment.key, moment.hand_number, scenes
    count = match.hands.count
    if not count:
        return "0", 0, ()
    number = match.hands.page(count - 1, 1)[0]
    record = match.hands.hand(number)
    if not with_cards:
        record = replace(record, deal=Deal(((),) * len(record.names), ()), comments=())
    return f"{number}-{count}", number, views_of(record)


def hero_of(scene: HandView, match: WatchedMatch) -> int:
    """The position that is drawn at the bottom: that of the player that the match names first, in every hand."""
    first = shown(match.hands.names[0]) if match.hands.names else ""
    return next((seat.position for seat in scene.seats if seat.name == first), 0)


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player of a contest in its table: its name, rate, chips and faults."""

    name: str
    rate: str
    chips: str
    faults: int


@dataclass(frozen=True, slots=True)
class ContestView:
    """What a page shows of a contest."""

    key: str
    title: str
    game: str
    sentence: str
    deals: int
    waiting: int
    unread: int
    seatings: int
    players: tuple[PlayerRow, ...]
    chart: str
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
    return ContestRow(contest.key, _title(contest), shown(short_name(contest.game_name)), words, scores.deals)


def contest_view(found: ShownRun, contest: WatchedContest) -> ContestView:
    """What a page shows of a contest."""
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
            )
        )
    sees_cards = found.sees_cards
    return ContestView(
        key=contest.key,
        title=_title(contest),
        game=shown(short_name(contest.game_name)),
        sentence="" if result is None else shown(found.access.words(result.sentence)),
        deals=scores.deals,
        waiting=scores.waiting(contest.hands),
        unread=scores.unread,
        seatings=max(map(len, contest.seatings), default=1),
        players=tuple(rows),
        chart=score_chart({name: scores.curve(name) for name in scores.players}),
        matches=tuple(
            (match.key, match.hands.count if sees_cards else 0, ", ".join(map(shown, match.hands.names)))
            for match in contest.matches.values()
        ),
        pots=scores.biggest_pots if sees_cards else (),
        worst_deals=scores.worst_deals if sees_cards else (),
        worst_hands=tuple((shown(name), scores.worst_hands(name)) for name in scores.players) if sees_cards else (),
        faults=tuple(one for one in faults if sees_cards and found.access.reads_faults_of(one.player)),
        is_over=found.run.is_over,
    )


def _result_of(found: ShownRun, contest: WatchedContest) -> ContestResult | None:
    result = found.run.result
    if isinstance(result, TournamentResult):
        names = set(contest.players)
        same = (one for one in result.contests if {player.name for player in one.players} == names)
        return next((one for one in same if one.game == contest.game_name), None)
    return result


@dataclass(frozen=True, slots=True)
class Line:
    """A bot in the table.

    Attributes:
        place: in the ranking; None for a bot without a whole deal. name: the bot. mean: over all its contests.
        cells: against each bot.
        remark: why its mean says little; empty where it does not.
    """

    place: int | None
    name: str
    mean: Cell
    cells: tuple[Cell, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class LineUp:
    """A table of more than two bots.

    Attributes:
        name: who sits there. path: the address of what is behind it. deals: played in every seating.
        won: the bots that sit there, each with what it won from the others.
    """

    name: str
    path: str
    deals: int
    won: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class Crosstable:
    """The standings of one game.

    Attributes:
        game: its name. names: of the columns. lines: the bots.
        is_by_company: whether a cell is what the bot of its line won at the tables at which that of its column sat too.
    """

    game: str
    names: tuple[str, ...]
    lines: tuple[Line, ...]
    is_by_company: bool = False


def crosstables(run: WatchedRun) -> list[Crosstable]:
    """The standings of a tournament, a table for each game; of a run without a result or with one contest, none."""
    result = run.result
    if not isinstance(result, TournamentResult):
        return []
    return [_crosstable(run, standings) for standings in result.standings]


def _crosstable(run: WatchedRun, standings: GameStandings) -> Crosstable:
    order = standings.bots
    places = {rank.player: rank.place for rank in standings.total_bankroll}
    rates = {(cell.player, cell.opponent): cell.rate for cell in standings.crosstable}
    means = {cell.player: cell.rate for cell in standings.means}
    lines = []
    for name in order:
        mean = means.get(name)
        provisional = "provisional" if mean is not None and mean.half_width is None else ""
        contests = [_contest_of(run, standings.game, name, other) for other in order]
        lines.append(
            Line(
                places.get(name),
                shown(name),
                cell_of(mean),
                tuple(cell_of(rates.get((name, other)), at) for other, at in zip(order, contests, strict=True)),
                "unfinished" if name in standings.unfinished else provisional,
            )
        )
    is_by_company = any(len(one.players) > 2 for one in run.contests if one.game_name == standings.game)
    return Crosstable(shown(standings.game), tuple(map(shown, order)), tuple(lines), is_by_company)


def _contest_of(run: WatchedRun, game: str, *players: str) -> str:
    """The address of the contest in which all of them played, if it is one."""
    found = [one.key for one in run.contests if one.game_name == game and set(players) <= set(one.players)]
    return contest_path(run.key, found[0]) if len(found) == 1 and len(set(players)) > 1 else ""


def table_values(table_session: TableSession) -> dict[str, Any]:
    """What the template of a table shows of a table session now."""
    scene = table_session.scene
    values: dict[str, Any] = {
        "sentence": game_sentence(table_session.game),
        "you": shown(table_session.names[SEAT]),
        "others": listed([shown(name) for name in table_session.names[1:]]),
        "hands_asked": None if table_session.hands == HANDS else table_session.hands,
        "notes": list(table_session.notes),
        "waiting": _waiting(table_session),
        "problem": table_session.problem,
        "is_ended": table_session.is_ended,
        "moment": table_session.moments.name,
        "is_asked": table_session.moments.is_asked,
        "time_left_s": table_session.time_left_s,
        "decision_s": table_session.decision_s,
        "hand": None if scene is None else _hand_values(scene, table_session),
    }
    return values


def _waiting(table_session: TableSession) -> str:
    """Who is waited for, in words; empty where it is the person, or no one."""
    scene = table_session.scene
    if table_session.moments.is_asked or not table_session.is_dealing:
        return ""
    missing = [shown(player.name) for player in table_session.awaited if player.name != table_session.names[SEAT]]
    if missing:
        return f"Waiting for {listed(missing)} to sit down."
    if scene is not None and not scene.finished and scene.betting.acting_position != scene.position:
        return f"Waiting for {shown(scene.names[scene.betting.acting_position])}."
    return "The next hand is being dealt."


def _hand_values(scene: Scene, table_session: TableSession) -> dict[str, Any]:
    record = table_session.record(scene.hand_number) if scene.finished else None
    choices = scene.choices
    score = scene.score
    sizes = size_offers(scene) if table_session.moments.is_asked else ()
    return {
        "number": scene.hand_number,
        "scene": scene.moment,
        "hero": scene.position,
        "holes": scene.game.num_hole_cards,
        "strength": scene.strength,
        "history": [
            (
                isinstance(one, Dealt),
                isinstance(one, Acted) and one.move is Move.FOLD,
                with_symbols(in_words(one, scene)),
            )
            for one in scene.history
        ],
        "finished": scene.finished,
        "is_last": scene.hand_number + 1 >= table_session.hands,
        "result": result_sentence(scene) if scene.finished else "",
        "offers": offers(scene) if table_session.moments.is_asked else (),
        "sizes": sizes,
        "raises": choices.raises if choices is not None and sizes else None,
        "blind": scene.game.big_blind,
        "step": max(1, scene.game.big_blind // 2),
        "reasons": reasons(scene) if table_session.moments.is_asked else (),
        "score": signed_chips(score.yours),
        "score_hands": count_of(score.hands, "hand"),
        "score_remark": score_remark(score) if score.hands else "",
        "scores": [
            (shown(name), signed_chips(chips), seat == score.seat)
            for seat, (name, chips) in enumerate(zip(table_session.names, score.chips, strict=True))
        ],
        "again": None if record is None else _again(record),
    }


def _again(record: HandRecord) -> dict[str, Any]:
    """A hand that is over, with the cards of all players and the comments."""
    return {
        "seats": [
            (shown(name), record.game.shown_cards(hole))
            for name, hole in zip(record.names, record.deal.hole_cards, strict=True)
        ],
        "views": [(view.begins_round, with_symbols(view.words), view.comments) for view in views_of(record)],
        "has_reasons": bool(record.comments),
    }
