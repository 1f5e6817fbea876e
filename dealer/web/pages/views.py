"""Documents and template values that several pages share: runs, contests, hands and tables with people.

They show nothing that the visitor may not see. URLs are stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
from logs.estimation import Estimate, Rate, largest_loss_mbb
from logs.estimation.mean import chips_text
from logs.hand_view import Acted, Dealt, HandView, live_views, views_of
from logs.poker_table.faces import with_symbols
from protocol.game_definition import short_name

_PRACTICE: Final = "play it as practice, with the same cards in every seating, to see the leaks of your bot"
_MAX_NOTABLE: Final = 10
_MAX_DEALS: Final = 5
_MAX_CARD_COLUMNS: Final = 3
"""Number of players up to which each has a column of cards."""
_T = TypeVar("_T")
_MAX_ROWS: Final = 60
"""Rows of a table of hands; with many players, a deal has many seatings."""


def _quote_path(text: str) -> str:
    return quote(text, safe="/")


def match_path(run: str, match: str) -> str:
    return f"{run_path(run)}/matches/{_quote_path(match)}"


def contest_path(run: str, contest: str) -> str:
    return f"{run_path(run)}/contest/{_quote_path(contest)}"


def hand_path(run: str, match: str, number: int) -> str:
    return f"{match_path(run, match)}/hands/{number}"


async def read_run(
    library: Library, request: Request, read: Callable[[ShownRun], _T], counter: HandCounter | None = None
) -> _T:
    """Read the run that a request names, in a worker thread and under the lock of the run.

    Args:
        read: returns the data of the page.
        counter: counts the hands of the run first.

    Raises:
        WebError: the run, match or hand does not exist or cannot be read.
    """

    def work() -> _T:
        try:
            shown_run = library.open(request.path_params["run"], get_visitor(request))
            if counter is not None:
                counter.start(shown_run.run)
            with shown_run.run.lock:
                return read(shown_run)
        except NoSuchHandError as error:
            raise WebError(404, f"{error}.") from None
        except LogsError as error:
            raise WebError(500, f"{shown(str(error))}.") from None
        except OSError as error:
            raise WebError(500, f"A file of the run cannot be read ({error.strerror}).") from None

    return await run_in_threadpool(work)


def find_contest(shown_run: ShownRun, key: str) -> WatchedContest:
    """Return a contest by its key.

    Raises:
        WebError: the run has no such contest.
    """
    contest = shown_run.run.contest(key)
    if contest is None:
        raise WebError(404, "The run has no such contest.")
    return contest


def find_match(shown_run: ShownRun, key: str) -> tuple[WatchedContest, WatchedMatch]:
    """Return a match by its key, with its contest.

    Raises:
        WebError: the run has no such match.
    """
    match = shown_run.run.matches.get(key)
    if match is None:
        raise WebError(404, "The run has no such match, or it has not begun.")
    return shown_run.run.contest_of(match), match


def current_scenes(
    shown_run: ShownRun, contest: WatchedContest, match: WatchedMatch, *, with_cards: bool = True
) -> tuple[str, int, tuple[HandView, ...]]:
    """Return the current hand of a match, as far as the visitor may see it.

    Without live matches, it is the last finished hand.

    Args:
        with_cards: False leaves out the cards even if the visitor may see them.

    Returns:
        A key that changes with every action, the number of the hand, and its scenes so far.
    """
    with_cards = with_cards and shown_run.sees_cards
    moment = None
    if shown_run.live is not None:
        moment = shown_run.live.moment(contest.game_name, contest.players, match.name)
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
    shown_run: ShownRun, contest: WatchedContest, match: WatchedMatch, number: int | None = None
) -> HandRecord:
    """Read a hand with its cards; comments are left out until all cards of the run are visible.

    Args:
        number: number of the hand; None for the last one that the visitor may see.

    Raises:
        WebError: the visitor may not see it yet.
        LogsError: the hand does not exist or cannot be read.
    """
    count = shown_run.public_hands(contest, match)
    last = match.hands.page(count - 1, 1)[0] if count else -1
    if not shown_run.sees_cards and (number or 0) > last:
        raise WebError(403, "The cards of this hand are still in play. They become visible later.")
    record = match.hands.hand(last if number is None else number)
    if shown_run.sees_cards:
        return record
    return replace(record, comments=())


def hero_position(scene: HandView, match: WatchedMatch) -> int:
    """Return the position of the match's first player, who is drawn at the bottom of every hand."""
    first = shown(match.hands.names[0]) if match.hands.names else ""
    return next((seat.position for seat in scene.seats if seat.name == first), 0)


def leak_paths(shown_run: ShownRun, contest: WatchedContest) -> dict[str, str]:
    """Return the path of the leaks of each player that the visitor may know them of."""
    if not shown_run.sees_cards or not is_holdem(contest.game) or not _is_duplicate(contest):
        return {}
    query = {"contest": contest.key} if contest.key else {}
    paths = {}
    for name in contest.players:
        if shown_run.access.is_own(name):
            paths[name] = f"{run_path(shown_run.run.key)}/leaks?{urlencode({**query, 'player': name})}"
    return paths


def practice_path(shown_run: ShownRun, contest: WatchedContest) -> str:
    """Return the form that requests a contest as practice, or an empty text if that would show no leaks."""
    has_own_player = any(shown_run.access.is_own(name) for name in contest.players)
    if not has_own_player or not is_holdem(contest.game) or _is_duplicate(contest):
        return ""
    return shown_run.practice_path


def practice_facts(path: str) -> tuple[Fact, ...]:
    return (Fact("leaks", Link(_PRACTICE, path), NAME),) if path else ()


def _is_duplicate(contest: WatchedContest) -> bool:
    return max(map(len, contest.seatings), default=1) > 1 and not contest.has_own_cards


def _title(contest: WatchedContest) -> str:
    return " - ".join(map(shown, contest.players)) or contest.key


def scores_document(shown_run: ShownRun, contest: WatchedContest) -> Document:
    """Show the winnings and faults of the players of a contest so far."""
    scores = contest.scores
    sentences = describe_score(shown_run, contest)
    if waiting := scores.waiting(contest.hands):
        sentences.append(f"{waiting:,} more are being counted.")
    if scores.unread:
        number = count_of(scores.unread, "hand")
        sentences.append(f"{number} are not counted because a log is damaged or another seating lacks the hand.")
    faults = contest.faults()
    sections = []
    if scores.players:
        players = _players_table(contest, faults, leak_paths(shown_run, contest))
        sections.append(Section("Players", (players,)))
    curves = {shown(name): scores.curve(name) for name in scores.players}
    series = tuple(_make_series(name, points) for name, points in curves.items() if points)
    if series:
        chart = Chart("Winnings, with the 95 % interval", Axis("hands"), Axis("winnings", "big blinds"), series)
        sections.append(Section("Winnings", (chart,)))
    visible_faults = []
    if shown_run.sees_cards:
        visible_faults = [row for row in faults if shown_run.access.can_read_faults(row[1])]
    if visible_faults:
        sections.append(Section("Faults", (_faults_table(shown_run.run.key, visible_faults),)))
    notes = []
    if shown_run.unrated:
        notes.append(f"This contest does not count in the standings: {shown(shown_run.unrated)}.")
    facts = practice_facts(practice_path(shown_run, contest))
    return Document(_title(contest), tuple(sentences), facts, tuple(sections), tuple(notes))


def _players_table(
    contest: WatchedContest, faults: Sequence[tuple[WatchedMatch, str, Fault]], leaks: Mapping[str, str]
) -> Table:
    scores = contest.scores
    fault_counts = Counter(player for _, player, _ in faults)
    rows = []
    for name in scores.players:
        link = None
        if name in leaks:
            link = Link("leaks", leaks[name], f"leaks of {shown(name)}")
        rows.append((name, scores.rate(name), scores.chips(name), fault_counts[name], link))
    columns = (
        "player",
        Column("won", "+,.0f", "mbb/g", meaning="winnings per hand, with half the 95 % interval"),
        Column("chips", CHIPS),
        Column("faults", ","),
        Column("leaks"),
    )
    return Table.of("Players", columns, rows).without_empty()


def describe_score(shown_run: ShownRun, contest: WatchedContest) -> list[str]:
    """Describe the result of a finished contest, or the standing of a running one, in sentences."""
    result = _result_of(shown_run, contest)
    if result is not None:
        return [shown(shown_run.sentence_of(result))]
    sentences = [shown(shown_run.sentence)] if shown_run.sentence else []
    played = played_text(
        contest.scores.deals,
        seatings=max(map(len, contest.seatings), default=1),
        game=short_name(contest.game_name),
    )
    if contest.scores.deals:
        standing = _make_standing(contest, played, is_over=shown_run.run.is_over)
        sentences.append(shown(standing.sentence()))
    else:
        sentences.append(f"{shown(played)}.")
    if not shown_run.run.is_over and not shown_run.sentence:
        sentences.append("Not finished." if shown_run.live is None else "Running.")
    return sentences


def _make_standing(contest: WatchedContest, played: str, *, is_over: bool) -> Standing:
    scores = contest.scores
    ranked = sorted(scores.players, key=scores.chips, reverse=True)
    return Standing(
        chips={name: scores.chips(name) for name in ranked},
        lead=scores.rate_of_best(ranked[0]),
        deals=scores.deals,
        hands=scores.hands,
        largest_loss=largest_loss_mbb(scores.game),
        played=played,
        interval=contest.interval,
        is_over=is_over,
    )


def _make_series(name: str, points: Sequence[tuple[int, Estimate]]) -> Series:
    # Every curve begins at zero.
    hands, winnings = zip((0, Estimate(0.0)), *points, strict=True)
    means = tuple(estimate.mean for estimate in winnings)
    half_widths = tuple(estimate.half_width for estimate in winnings)
    return Series(name, hands, means, half_widths)


def _faults_table(run: str, faults: Sequence[tuple[WatchedMatch, str, Fault]]) -> Table:
    columns = ("player", Column("fault"), Column("hand", ","), Column("line", CODE), Column("remedy"))
    rows = []
    for match, player, fault in faults:
        number = fault.hand_number
        hand = Link(number, hand_path(run, match.key, number)) if number >= 0 else None
        rows.append((player, fault.kind.value, hand, escaped(decode_line(fault.line)), format_remedy(fault)))
    return Table.of("Faults, the latest last", columns, rows)


def _result_of(shown_run: ShownRun, contest: WatchedContest) -> ContestResult | None:
    result = shown_run.run.result
    if not isinstance(result, TournamentResult):
        return result
    names = set(contest.players)
    for other in result.contests:
        if other.game == contest.game_name and {player.name for player in other.players} == names:
            return other
    return None


def contest_document(shown_run: ShownRun, contest: WatchedContest) -> Document:
    """Show the matches of a contest, and its biggest pots and worst hands if their cards are visible."""
    sees_cards = shown_run.sees_cards
    scores = contest.scores
    run = shown_run.run.key
    rows = []
    for match in contest.matches.values():
        hands = match.hands.count if sees_cards else None
        rows.append((Link(match.key, match_path(run, match.key)), hands, ", ".join(match.hands.names)))
    title = "Matches, one for each seating"
    won = Column("won", CHIPS)
    matches = Table.of(title, ("match", Column("hands", ","), Column("seats")), rows).without_empty()
    sections = []
    if sees_cards:
        deals: list[tuple[Value, ...]] = []
        for deal in scores.worst_deals[:_MAX_DEALS]:
            group: Value = (f"deal {deal.number}", deal.player, deal.chips)
            deals += [(group, *row) for row in _hand_rows(run, contest, [deal])]
        pots = scores.biggest_pots[:_MAX_NOTABLE]
        sections += _hands_section("Biggest pots", scores, Column("pot", ",", "chips"), _hand_rows(run, contest, pots))
        sections += _hands_section("Worst deals over all seatings", scores, won, deals)
    sections.append(Section(title, (matches,)))
    if sees_cards:
        for name in scores.players:
            worst_hands = _hand_rows(run, contest, scores.worst_hands(name)[:_MAX_NOTABLE])
            sections += _hands_section(f"Worst hands of {shown(name)}", scores, won, worst_hands, is_open=False)
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
    table = Table.of(title, columns, rows[:_MAX_ROWS], is_grouped=is_grouped)
    return [Section(title, (table.without_empty(),), is_open)]


def _hand_rows(run: str, contest: WatchedContest, hands: Sequence[Notable]) -> list[tuple[Value, ...]]:
    """Make rows of a link, chips and `hand_cells`; a notable deal has a row for each seating."""
    rows: list[tuple[Value, ...]] = []
    for notable in hands:
        for match, chips in notable.hands:
            key = f"{contest.key}/{match}" if contest.key else match
            # A no-break space keeps the number next to its word.
            link = Link(f"{match}, hand\N{NO-BREAK SPACE}{notable.number}", hand_path(run, key, notable.number))
            record = None
            with suppress(LogsError):
                record = contest.hand(match, notable.number)
            rows.append((link, chips, *hand_cells(record, contest.scores.players, notable.player)))
    return rows


def hand_columns(names: Sequence[str]) -> list[Column]:
    """Return the columns of `hand_cells`."""
    card_columns = [Column("cards", CARDS)]
    if len(names) <= _MAX_CARD_COLUMNS:
        card_columns = [Column(shown(name), CARDS, meaning=f"cards of {shown(name)}") for name in names]
    return [*card_columns, Column("board", CARDS), Column("winner", rank=1)]


def hand_cells(record: HandRecord | None, names: Sequence[str], player: str = "") -> tuple[Value, ...]:
    """Make cells with the cards of a hand and the players who won most.

    Args:
        record: the hand; None if it cannot be read.
        names: players of the contest; above `_MAX_CARD_COLUMNS`, only one has a column.
        player: player of that column; by default the winner.
    """
    if record is None:
        return ("",) * len(hand_columns(names))
    max_value = max(record.values)
    winners = [name for name, value in zip(record.names, record.values, strict=True) if value == max_value]
    hole_cards = dict(zip(record.names, record.deal.hole_cards, strict=True))
    card_names = names if len(names) <= _MAX_CARD_COLUMNS else [player or winners[0]]
    cards = [*(hole_cards.get(name, ()) for name in card_names), record.deal.board]
    texts = [" ".join(record.game.shown_cards(group)) for group in cards]
    return *texts, ", ".join(winners)


def run_document(shown_run: ShownRun) -> Document:
    """Show the standings and contests of a run that has several."""
    run = shown_run.run
    sentence = shown(shown_run.sentence)
    if not sentence and not run.is_over:
        sentence = "No result yet. The run continues or was interrupted."
    sections = []
    if isinstance(run.result, TournamentResult):
        for standings in run.result.standings:
            title = f"Standings: {shown(short_name(standings.game))}"
            sections.append(Section(title, (_linked_crosstable(run, standings),)))
    rows = []
    for contest in run.contests:
        scores = contest.scores
        rate = scores.rate(scores.players[0]) if scores.players else None
        link = Link(_title(contest), contest_path(run.key, contest.key))
        rows.append((link, short_name(contest.game_name), scores.deals, rate))
    if rows:
        won = Column("won", "+,.0f", "mbb/g", meaning="winnings of the first player, with half the 95 % interval")
        table = Table.of("Contests", ("players", Column("game"), Column("deals", ","), won), rows)
        sections.append(Section("Contests", (table,)))
    if not sections and not shown_run.sentence:
        sentence = "No hand has been played yet."
    return Document(shown(run.key), (sentence,) if sentence else (), (), tuple(sections))


def _linked_crosstable(run: WatchedRun, standings: GameStandings) -> Table:
    """Make the crosstable of a game whose cells link to the contest behind them, if it is a single one."""
    contests = [contest for contest in run.contests if contest.game_name == standings.game]

    def add_link(value: Value) -> Value:
        if not isinstance(value, Rate):
            return value
        pair = {value.player, value.opponent}
        keys = [contest.key for contest in contests if pair <= set(contest.players)]
        if len(keys) != 1:
            return value
        return Link(value, contest_path(run.key, keys[0]), shown(str(value)))

    table = crosstable(standings)
    is_for_two = all(len(contest.players) == 2 for contest in contests)
    rows = tuple(tuple(map(add_link, row)) for row in table.rows)
    return replace(table, rows=rows, note=crosstable_note(is_for_two))


def crosstable_note(is_for_two: bool) -> str:
    opponents = "from the column's" if is_for_two else "at the tables that included the column's"
    return (
        f"Winnings of the row's bot {opponents}, in mbb/g with the 95 % interval. Green (won) and red (lost) are more "
        "than chance explains, strong colours more than three times the interval."
    )


def table_values(table_session: TableSession) -> dict[str, Any]:
    """Return the variables of ``table_part.html.jinja`` for the current state of a table."""
    scene = table_session.scene
    return {
        "sentence": game_sentence(table_session.game),
        "you": shown(table_session.names[SEAT]),
        "opponents": listed([shown(name) for name in table_session.names[1:]]),
        # Without a number from the person, a table has `HANDS` hands.
        "max_hands": None if table_session.hands == HANDS else table_session.hands,
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
    is_asked = table_session.moments.is_asked
    record = table_session.record(scene.hand_number) if scene.finished else None
    score = scene.score
    sizes = size_offers(scene) if is_asked else ()
    history = []
    for event in scene.history:
        is_fold = isinstance(event, Acted) and event.move is Move.FOLD
        history.append((isinstance(event, Dealt), is_fold, with_symbols(in_words(event, scene))))
    players = zip(table_session.names, score.chips, strict=True)
    return {
        "number": scene.hand_number,
        # With values, the last view shows the cards and winnings of the showdown.
        "scene": live_views(scene.betting, scene.names, scene.all_hole_cards, scene.board, scene.values)[-1],
        "hero": scene.position,
        "holes": scene.game.num_hole_cards,
        "strength": scene.strength,
        "history": history,
        "finished": scene.finished,
        "is_last": scene.hand_number + 1 >= table_session.hands,
        "result": result_sentence(scene) if scene.finished else "",
        "offers": offers(scene) if is_asked else (),
        "sizes": sizes,
        "raises": scene.view if sizes else None,
        "verb": verb_of(scene),
        "blind": scene.game.big_blind,
        "step": max(1, scene.game.big_blind // 2),
        "reasons": reasons(scene) if is_asked else (),
        "score": chips_text(score.yours),
        "score_hands": count_of(score.hands, "hand"),
        "score_remark": score_remark(score) if score.hands else "",
        "scores": [(shown(name), chips_text(chips), seat == score.seat) for seat, (name, chips) in enumerate(players)],
        "review": None if record is None else _review_values(record),
    }


def _review_values(record: HandRecord) -> dict[str, Any]:
    """Return a finished hand with the cards of all players and the comments of the bots."""
    hole_cards = zip(record.names, record.deal.hole_cards, strict=True)
    return {
        "seats": [(shown(name), record.game.shown_cards(cards)) for name, cards in hole_cards],
        "views": [(view.begins_round, with_symbols(view.words), view.comments) for view in views_of(record)],
        "has_reasons": bool(record.comments),
    }
