"""What pages show of runs, tournaments and tables with people, as values for templates, and the addresses of runs.

Nothing is in them that the visitor may not see. The addresses stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from dealer.errors import WebError
from dealer.match.faults import Fault, decode_line
from dealer.match.writers import format_remedy
from dealer.person.entries import offers, size_offers, verb_of
from dealer.person.seat import Scene, in_words
from dealer.person.table_sentences import (
    game_sentence,
    reasons,
    result_sentence,
    score_remark,
    waiting_sentence,
)
from dealer.person.table_session import TableSession
from dealer.person.table_settings import HANDS, SEAT
from dealer.reports.result_documents import crosstable
from dealer.run.results import ContestResult, GameStandings, TournamentResult
from dealer.run.results.result_sentences import Standing, played_text
from dealer.watching import WatchedContest, WatchedMatch, WatchedRun
from dealer.web.pages.shown_runs import HandCounter, Library, ShownRun, run_path
from dealer.web.visitor import get_visitor
from engine import Deal, Move
from engine.holdem import is_holdem
from engine.text import count_of, escaped, listed, shown
from logs import HandRecord
from logs.contest_scores import ContestScores, Notable
from logs.document import (
    CARDS,
    CHIPS,
    CODE,
    NAME,
    Axis,
    Chart,
    Column,
    Document,
    Fact,
    Link,
    Section,
    Series,
    Table,
    Value,
)
from logs.errors import LogsError, NoSuchHandError
from logs.estimation import Estimate, Rate
from logs.estimation.mean import chips_text
from logs.hand_view import Acted, Dealt, HandView, live_views, views_of
from logs.poker_table.faces import with_symbols
from protocol.game_definition import short_name

_PRACTICE: Final = "played as practice, with the same cards in every seating, the contest shows where your bot loses"
_MOST_NOTABLE: Final = 10
_MOST_DEALS: Final = 5
_MOST_HOLES: Final = 3
"""Players each of whom has a column for their cards."""
_T = TypeVar("_T")
_MOST_ROWS: Final = 60
"""Of a table of hands: a deal of many players has many seatings."""


def _path(text: str) -> str:
    return quote(text, safe="/")


def match_path(run: str, match: str) -> str:
    """The address of a match."""
    return f"{run_path(run)}/matches/{_path(match)}"


def contest_path(run: str, contest: str) -> str:
    """The address of a contest."""
    return f"{run_path(run)}/contest/{_path(contest)}"


def hand_path(run: str, match: str, number: int) -> str:
    """The address of a hand."""
    return f"{match_path(run, match)}/hands/{number}"


async def read_run(
    library: Library, request: Request, read: Callable[[ShownRun], _T], counting: HandCounter | None = None
) -> _T:
    """What is read of the run that a request names, counted where `counting` is given.

    Raises:
        WebError: there is no such run, match or hand, or it cannot be read.
    """

    def work() -> _T:
        try:
            found = library.open(request.path_params["run"], get_visitor(request))
            if counting is not None:
                counting.ask(found.run)
            with found.run.lock:
                return read(found)
        except NoSuchHandError as error:
            raise WebError(404, f"{error}.") from None
        except LogsError as error:
            raise WebError(500, f"{shown(str(error))}.") from None
        except OSError as error:
            raise WebError(500, f"A file of the run cannot be read: {error.strerror}.") from None

    return await run_in_threadpool(work)


def find_contest(found: ShownRun, key: str) -> WatchedContest:
    """A contest by its key.

    Raises:
        WebError: there is none.
    """
    contest = found.run.contest(key)
    if contest is None:
        raise WebError(404, "The run has no such contest.")
    return contest


def find_match(found: ShownRun, key: str) -> tuple[WatchedContest, WatchedMatch]:
    """A match by its key, with its contest.

    Raises:
        WebError: there is none.
    """
    match = found.run.matches.get(key)
    if match is None:
        raise WebError(404, "The run has no such match, or it has not begun.")
    return found.run.contest_of(match), match


def current_scenes(
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


def read_visible_hand(
    found: ShownRun, contest: WatchedContest, match: WatchedMatch, number: int | None = None
) -> HandRecord:
    """A hand with its cards, by default the last that may be seen; of a match that goes on without comments.

    Raises:
        WebError: it may not be seen.
        LogsError: it cannot be read, or there is none.
    """
    count = found.public_hands(contest, match)
    last = match.hands.page(count - 1, 1)[0] if count else -1
    if not found.sees_cards and (number or 0) > last:
        raise WebError(403, "Its cards can be seen when they are not played any more.")
    record = match.hands.hand(last if number is None else number)
    return record if found.sees_cards else replace(record, comments=())


def hero_position(scene: HandView, match: WatchedMatch) -> int:
    """The position that is drawn at the bottom: that of the player that the match names first, in every hand."""
    first = shown(match.hands.names[0]) if match.hands.names else ""
    return next((seat.position for seat in scene.seats if seat.name == first), 0)


def leak_paths(found: ShownRun, contest: WatchedContest) -> dict[str, str]:
    """By player, the address of its leaks, for those of whom a visitor may see them."""
    if not found.sees_cards or not is_holdem(contest.game) or not _is_duplicate(contest):
        return {}
    of_contest = {"contest": contest.key} if contest.key else {}
    own = [name for name in contest.players if found.access.is_own(name)]
    return {name: f"{run_path(found.run.key)}/leaks?{urlencode({**of_contest, 'player': name})}" for name in own}


def practice_path(found: ShownRun, contest: WatchedContest) -> str:
    """The form that asks for the contest once more, so that it shows leaks of the visitor's bots; empty for none."""
    is_asked = any(found.access.is_own(name) for name in contest.players)
    return found.practice_path if is_asked and is_holdem(contest.game) and not _is_duplicate(contest) else ""


def practice_facts(path: str) -> tuple[Fact, ...]:
    """The link to the form of `practice_path`; none without it."""
    return (Fact("leaks", Link(_PRACTICE, path), NAME),) if path else ()


def _is_duplicate(contest: WatchedContest) -> bool:
    return max(map(len, contest.seatings), default=1) > 1 and not contest.has_own_cards


def _title(contest: WatchedContest) -> str:
    return " - ".join(map(shown, contest.players)) or contest.key


def scores_document(found: ShownRun, contest: WatchedContest) -> Document:
    """What the players of a contest have won so far, and their faults."""
    scores = contest.scores
    sentences = verdict(found, contest)
    if waiting := scores.waiting(contest.hands):
        sentences.append(f"{waiting:,} more are being counted.")
    if scores.unread:
        why = "their lines are damaged, or other seatings lack them"
        sentences.append(f"{count_of(scores.unread, 'hand')} could not be counted: {why}.")
    faults = contest.faults()
    leaks = leak_paths(found, contest)
    rows = [
        (
            name,
            scores.rate(name),
            scores.chips(name),
            sum(player == name for _, player, _ in faults),
            Link("where it loses", leaks[name], f"where {shown(name)} loses") if name in leaks else None,
        )
        for name in scores.players
    ]
    columns = (
        "player",
        Column("won", "+,.0f", "mbb/g", meaning="winnings per hand, with half the 95 % interval"),
        Column("chips", CHIPS),
        Column("faults", ","),
        Column("leaks"),
    )
    players = Table.of("Players", columns, rows).without_empty()
    curves = {shown(name): scores.curve(name) for name in scores.players}
    title = "Winnings, with the 95 % interval"
    series = tuple(_series(name, points) for name, points in curves.items() if points)
    chart = Chart(title, Axis("hands"), Axis("winnings", "big blinds"), series)
    sections = [Section("Players", (players,))] if rows else []
    sections += [Section("Winnings", (chart,))] if series else []
    told = [one for one in faults if found.sees_cards and found.access.can_read_faults(one[1])]
    sections += [Section("Faults", (_faults_table(found.run.key, told),))] if told else []
    facts = practice_facts(practice_path(found, contest))
    notes = (f"This contest does not count in the standings: {shown(found.unrated)}.",) if found.unrated else ()
    return Document(_title(contest), tuple(sentences), facts, tuple(sections), notes)


def verdict(found: ShownRun, contest: WatchedContest) -> list[str]:
    """The score in sentences: of a finished contest its result, otherwise the standing after the deals so far."""
    if (result := _result_of(found, contest)) is not None:
        return [shown(found.sentence_of(result))]
    sentences = [shown(found.sentence)] if found.sentence else []
    played = played_text(
        contest.scores.deals,
        seatings=max(map(len, contest.seatings), default=1),
        game=short_name(contest.game_name),
    )
    if contest.scores.deals:
        sentences.append(shown(_standing(contest, played, is_over=found.run.is_over).sentence()))
    else:
        sentences.append(f"{shown(played)}.")
    if not found.run.is_over and not found.sentence:
        sentences.append("Not finished." if found.live is None else "Running.")
    return sentences


def _standing(contest: WatchedContest, played: str, *, is_over: bool) -> Standing:
    scores = contest.scores
    ranked = sorted(scores.players, key=scores.chips, reverse=True)
    return Standing(
        chips={name: scores.chips(name) for name in ranked},
        lead=scores.rate_of_best(ranked[0]),
        deals=scores.deals,
        played=played,
        interval=contest.interval,
        is_over=is_over,
    )


def _series(name: str, points: Sequence[tuple[int, Estimate]]) -> Series:
    hands, blinds = zip((0, Estimate(0.0)), *points, strict=True)
    return Series(name, hands, tuple(one.mean for one in blinds), tuple(one.half_width for one in blinds))


def _faults_table(run: str, faults: Sequence[tuple[WatchedMatch, str, Fault]]) -> Table:
    columns = ("player", Column("fault"), Column("hand", ","), Column("line", CODE), Column("remedy"))
    rows = []
    for match, player, fault in faults:
        number = fault.hand_number
        hand = Link(number, hand_path(run, match.key, number)) if number >= 0 else None
        rows.append((player, fault.kind.value, hand, escaped(decode_line(fault.line)), format_remedy(fault)))
    return Table.of("Faults, the latest last", columns, rows)


def _result_of(found: ShownRun, contest: WatchedContest) -> ContestResult | None:
    result = found.run.result
    if isinstance(result, TournamentResult):
        names = set(contest.players)
        same = (one for one in result.contests if {player.name for player in one.players} == names)
        return next((one for one in same if one.game == contest.game_name), None)
    return result


def contest_document(found: ShownRun, contest: WatchedContest) -> Document:
    """The matches of a contest, and its hands that are most worth a look, with their cards, if these may be seen."""
    sees_cards, scores, run = found.sees_cards, contest.scores, found.run.key
    rows = [
        (
            Link(match.key, match_path(run, match.key)),
            match.hands.count if sees_cards else None,
            ", ".join(match.hands.names),
        )
        for match in contest.matches.values()
    ]
    title, won = "Matches, one for each seating", Column("won", CHIPS)
    matches = Table.of(title, ("match", Column("hands", ","), Column("seats")), rows).without_empty()
    sections = []
    if sees_cards:
        deals = [
            ((f"deal {deal.number}", deal.player, deal.chips), *row)
            for deal in scores.worst_deals[:_MOST_DEALS]
            for row in _hand_rows(run, contest, [deal])
        ]
        pots = scores.biggest_pots[:_MOST_NOTABLE]
        sections += _hands_section("Biggest pots", scores, Column("pot", ",", "chips"), _hand_rows(run, contest, pots))
        sections += _hands_section("Worst deals over all seatings", scores, won, deals)
    sections.append(Section(title, (matches,)))
    if sees_cards:
        for name in scores.players:
            hands = _hand_rows(run, contest, scores.worst_hands(name)[:_MOST_NOTABLE])
            sections += _hands_section(f"Worst hands of {shown(name)}", scores, won, hands, is_open=False)
    return Document(_title(contest), sections=tuple(sections))


def _hands_section(
    title: str, scores: ContestScores, chips: Column, rows: Sequence[tuple[Value, ...]], *, is_open: bool = True
) -> list[Section]:
    if not rows:
        return []
    columns = [Column("hand"), chips, *hand_columns(scores.players)]
    is_grouped = len(rows[0]) > len(columns)
    if is_grouped:
        columns.insert(0, Column("deal", CHIPS))
    return [
        Section(title, (Table.of(title, columns, rows[:_MOST_ROWS], is_grouped=is_grouped).without_empty(),), is_open)
    ]


def _hand_rows(run: str, contest: WatchedContest, hands: Sequence[Notable]) -> list[tuple[Value, ...]]:
    """Each hand with chips, and what `hand_cells` has of it."""
    rows: list[tuple[Value, ...]] = []
    for one, (match, chips) in ((notable, hand) for notable in hands for hand in notable.hands):
        key = f"{contest.key}/{match}" if contest.key else match
        link = Link(f"{match}, hand\N{NO-BREAK SPACE}{one.number}", hand_path(run, key, one.number))
        record = None
        with suppress(LogsError):
            record = contest.hand(match, one.number)
        rows.append((link, chips, *hand_cells(record, contest.scores.players, one.player)))
    return rows


def hand_columns(names: Sequence[str]) -> list[Column]:
    """The columns of `hand_cells`."""
    each = [Column(shown(name), CARDS, meaning=f"cards of {shown(name)}") for name in names]
    holes = each if len(names) <= _MOST_HOLES else [Column("cards", CARDS)]
    return [*holes, Column("board", CARDS), Column("winner", rank=1)]


def hand_cells(record: HandRecord | None, names: Sequence[str], player: str = "") -> tuple[Value, ...]:
    """The cards of a hand and who won most.

    Args:
        record: None for one that cannot be read.
        names: the players; many have no room for the cards of all.
        player: whose cards are shown where they are many; by default the winner's.
    """
    if record is None:
        return ("",) * len(hand_columns(names))
    most = max(record.values)
    winners = [name for name, value in zip(record.names, record.values, strict=True) if value == most]
    holes = dict(zip(record.names, record.deal.hole_cards, strict=True))
    whose = names if len(names) <= _MOST_HOLES else [player or winners[0]]
    cards = [
        " ".join(record.game.shown_cards(one)) for one in (*(holes.get(name, ()) for name in whose), record.deal.board)
    ]
    return *cards, ", ".join(winners)


def run_document(found: ShownRun) -> Document:
    """A run of several contests."""
    run, sentence = found.run, shown(found.sentence)
    if not sentence and not run.is_over:
        sentence = "No result yet: the run continues or was interrupted."
    played = run.result.standings if isinstance(run.result, TournamentResult) else ()
    sections = [Section(f"Standings: {shown(short_name(one.game))}", (_crosstable(run, one),)) for one in played]
    rows = [
        (
            Link(_title(one), contest_path(run.key, one.key)),
            short_name(one.game_name),
            one.scores.deals,
            one.scores.rate(one.scores.players[0]) if one.scores.players else None,
        )
        for one in run.contests
    ]
    won = Column("won", "+,.0f", "mbb/g", meaning="what the first player won, with half the 95 % interval")
    contests = Table.of("Contests", ("players", Column("game"), Column("deals", ","), won), rows)
    sections += [Section("Contests", (contests,))] if rows else []
    if not sections and not found.sentence:
        sentence = "No hand has been played yet."
    return Document(shown(run.key), (sentence,) if sentence else (), (), tuple(sections))


def _crosstable(run: WatchedRun, standings: GameStandings) -> Table:
    """What the bots of a game won; a cell leads to the contest behind it, if it is one."""
    contests = [one for one in run.contests if one.game_name == standings.game]

    def linked(value: Value) -> Value:
        if not isinstance(value, Rate):
            return value
        found = [one.key for one in contests if {value.player, value.opponent} <= set(one.players)]
        return Link(value, contest_path(run.key, found[0]), shown(str(value))) if len(found) == 1 else value

    table = crosstable(standings)
    is_for_two = all(len(one.players) == 2 for one in contests)
    rows = tuple(tuple(map(linked, row)) for row in table.rows)
    return replace(table, rows=rows, note=crosstable_note(is_for_two))


def crosstable_note(is_for_two: bool) -> str:
    whose = "from the column's" if is_for_two else "at the tables that included the column's"
    return (
        f"Winnings of the row's bot {whose}, in mbb/g with the 95 % interval. Green: won, red: lost, more than chance "
        "explains; strong colours: more than three times the interval."
    )


def table_values(table_session: TableSession) -> dict[str, Any]:
    """What the template of a table shows of a table session now."""
    scene = table_session.scene
    return {
        "sentence": game_sentence(table_session.game),
        "you": shown(table_session.names[SEAT]),
        "others": listed([shown(name) for name in table_session.names[1:]]),
        "hands_asked": None if table_session.hands == HANDS else table_session.hands,
        "notes": list(table_session.notes),
        "waiting": waiting_sentence(table_session),
        "problem": f"{table_session.problem}." if table_session.problem else "",
        "is_ended": table_session.is_ended,
        "moment": table_session.moments.name,
        "is_asked": table_session.moments.is_asked,
        "time_left_s": table_session.time_left_s,
        "decision_s": table_session.decision_s,
        "hand": None if scene is None else _hand_values(scene, table_session),
    }


def _hand_values(scene: Scene, table_session: TableSession) -> dict[str, Any]:
    record = table_session.record(scene.hand_number) if scene.finished else None
    score = scene.score
    sizes = size_offers(scene) if table_session.moments.is_asked else ()
    return {
        "number": scene.hand_number,
        # Once the hand is over, who has shown and won what.
        "scene": live_views(scene.betting, scene.names, scene.all_hole_cards, scene.board, scene.values)[-1],
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
        "raises": scene.view if sizes else None,
        "verb": verb_of(scene),
        "blind": scene.game.big_blind,
        "step": max(1, scene.game.big_blind // 2),
        "reasons": reasons(scene) if table_session.moments.is_asked else (),
        "score": chips_text(score.yours),
        "score_hands": count_of(score.hands, "hand"),
        "score_remark": score_remark(score) if score.hands else "",
        "scores": [
            (shown(name), chips_text(chips), seat == score.seat)
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
