"""Documents and tables of contests and tournaments.

The data of a document is the result. Win rates in tables are `Rate` values, which name player and opponent, so that
pages can link and colour them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dealer.reports.guaranteed import NOTE, with_guaranteed_intervals
from dealer.run.choices import ShownInterval
from dealer.run.ending import Outcome
from dealer.run.results import (
    AnyResult,
    ContestResult,
    GameStandings,
    PlayerResult,
    TournamentResult,
    winnings_columns,
)
from engine.text import duration, listed
from logs.document import CHIPS, CODE, DIGITS, NAME, TEXT, TIME, Column, Document, Fact, Section, Table, Value
from logs.estimation import MIN_UNITS
from protocol.game_definition import short_name


def result_document(
    result: AnyResult, *, is_verbose: bool = False, interval: ShownInterval = ShownInterval.USUAL
) -> Document:
    """Create the document of a result.

    Args:
        is_verbose: whether the facts of a contest include the dealer's own overhead.
        interval: interval that the document shows.
    """
    if interval is ShownInterval.GUARANTEED:
        document = result_document(with_guaranteed_intervals(result), is_verbose=is_verbose)
        return replace(document, data=result)
    if isinstance(result, TournamentResult):
        return _tournament_document(result)
    return contest_document(result, is_verbose=is_verbose)


def contest_document(result: ContestResult, *, is_verbose: bool = False) -> Document:
    """Create the document of a contest; for the argument see `result_document`."""
    facts = [Fact("speed", result.hands_per_second, ",.0f", "hands/s")]
    if is_verbose:
        facts.append(Fact("dealer", _seconds(result.dealer.us_per_action), TIME, "per action"))
        facts.append(Fact("timeouts", result.dealer.timeouts_per_million_actions, DIGITS, "per million actions"))
    players: list[str | Table] = []
    if result.duplicates:
        players = [players_table([result]), *_descriptions([result])]
    sections: dict[str, Sequence[str | Table]] = {
        "Players": players,
        "Language models": [models_table([result])],
        "Faults and thinking times": [faults_table([result])],
    }
    return _document(result, contest_title(result), facts, sections, _aivat_advice([result]))


def _aivat_advice(contests: Sequence[ContestResult]) -> tuple[str, ...]:
    """Return a note with the command that computes AIVAT for contests that could have it and do not."""
    # With fewer deals there is no interval.
    missing = [
        contest
        for contest in contests
        if contest.known and contest.duplicates >= MIN_UNITS and contest.aivat_rate() is None
    ]
    # A contest without a folder has no hands to count again.
    if not missing or missing[0].folder is None:
        return ()
    contest = missing[0]
    options = " ".join([f"--known {name}" for name in contest.known])
    note = f"AIVAT takes out the luck of {listed(contest.known)}, too: arena luck {contest.folder} {options}"
    if contest.valuation_s is not None:
        note += f" (about {duration(contest.valuation_s)} of processor time)"
    return (f"{note}.",)


def _tournament_document(result: TournamentResult) -> Document:
    sections: dict[str, Sequence[str | Table]] = {}
    for standings in result.standings:
        if standings.total_bankroll:
            tables = (
                crosstable(standings),
                _aivat_table(standings, result.contests),
                rankings(standings),
                _entrants_table(standings, result.contests),
            )
            sections[short_name(standings.game)] = tables
    sections["Players"] = list(_descriptions(result.contests))
    sections["Language models"] = [models_table(result.contests)]
    sections["Faults and thinking times"] = [faults_table(result.contests)]
    # After an interruption, all that are left would be named.
    if result.outcome is not Outcome.INTERRUPTED:
        early = [contest for contest in result.contests if not contest.outcome.is_complete]
        rows = [(contest_title(contest), contest.reason) for contest in early]
        sections["Ended early"] = [Table.of("", ("contest", Column("reason", TEXT)), rows)]
    games = ", ".join([short_name(standings.game) for standings in result.standings])
    title = f"{games}: {', '.join(result.players)}"
    return _document(result, title, (), sections, _aivat_advice(result.contests))


def _document(
    result: AnyResult,
    title: str,
    facts: Iterable[Fact],
    sections: Mapping[str, Sequence[str | Table]],
    advice: tuple[str, ...],
) -> Document:
    """Create a document without empty facts, tables and sections."""
    sentences = [result.sentence]
    if result.resume is not None:
        sentences.append(f"Resume with:\n    {result.resume}")
    notes = (NOTE,) if any(contest.interval == "guaranteed" for contest in result.contests) else ()
    seeds = ", ".join(dict.fromkeys(str(contest.seed) for contest in result.contests))
    all_facts = [Fact("seed", seeds, NAME), *facts, Fact("files", result.folder, CODE)]
    filled_sections = []
    for name, parts in sections.items():
        filled = [part for part in parts if isinstance(part, str) or part.rows]
        if filled:
            filled_sections.append(Section(name, tuple(filled)))
    return Document(
        title,
        tuple(sentences),
        tuple(fact for fact in all_facts if fact.value is not None),
        tuple(filled_sections),
        (*notes, *advice),
        data=result,
    )


def contest_title(contest: ContestResult) -> str:
    """Return the game and the players of a contest."""
    players = " - ".join([player.name for player in contest.players])
    return f"{short_name(contest.game)}: {players}"


def players_table(contests: Sequence[ContestResult]) -> Table:
    """Create a table of win rates and response times, with a row per player and contest."""
    kinds = [contest.interval for contest in contests]
    has_aivat = any(contest.aivat_rate() is not None for contest in contests)
    kind = next((f", {kind}" for kind in ("any time", "guaranteed") if kind in kinds), "")
    columns = (
        "player",
        Column("against"),
        Column(f"mbb/g ± 95 %{kind}", "+,.1f", meaning="winnings per hand, with half their 95 % interval"),
        Column(
            "AIVAT",
            "+,.1f",
            meaning="the same rate without the luck of the cards and of the choices of players with known strategies",
        ),
        # Where there is AIVAT, it is the better estimate.
        Column(
            "without luck",
            "+,.1f",
            meaning="the same rate without the luck of the cards",
            rank=7 if has_aivat else 0,
        ),
        Column("SE", ",.1f", meaning="standard error of mbb/g", rank=6),
        Column("chips", CHIPS, rank=2),
        Column("hands", ",", rank=3),
        Column("faults", ",", rank=1),
        Column("median", TIME, meaning="median time of an answer", rank=5),
        Column("99 %", TIME, meaning="99th percentile of the answer times", rank=4),
    )
    rows = [
        (
            player.name,
            _others(contest, player) if len(contests) > 1 else "",
            contest.rate(player.name),
            contest.aivat_rate(player.name),
            contest.corrected_rate(player.name),
            None if player.won is None else player.won.raw.error,
            player.chips,
            contest.hands_counted,
            sum(player.faults.values()),
            _seconds(player.median_us),
            _seconds(player.p99_us),
        )
        for contest in contests
        for player in contest.players
    ]
    return Table.of("Players", columns, rows).without_empty()


def faults_table(contests: Sequence[ContestResult], *, everyone: bool = False) -> Table:
    """Create a table of faults and response times, with a row per player and contest.

    Args:
        everyone: whether to include players without faults.
    """
    columns = (
        "bot",
        Column("against", rank=2),
        Column("faults", TEXT, meaning="number of faults by kind"),
        Column("first fault", TEXT),
        Column("restarts", ",", meaning="restarts of its process, or waits for its tcp client to reconnect", rank=1),
        Column("actions", ",", meaning="answers given", rank=3),
        Column("median", TIME, meaning="median time of an answer", rank=4),
        Column("99 %", TIME, meaning="99th percentile of the answer times", rank=5),
        Column("in all", TIME, meaning="total time of its answers", rank=6),
    )
    rows = [
        (
            player.name,
            _others(contest, player) if len(contests) > 1 else "",
            ", ".join(f"{count:,} {kind}" for kind, count in player.faults.items()),
            player.first_fault,
            player.restarts,
            player.actions,
            _seconds(player.median_us),
            _seconds(player.p99_us),
            player.thinking_s,
        )
        for contest in contests
        for player in contest.players
        if player.faults or everyone
    ]
    # Rows of the same player stand together, in the order of the first ones.
    order = [row[0] for row in rows]
    rows.sort(key=lambda row: order.index(row[0]))
    return Table.of("Faults and thinking times", columns, rows).without_empty()


def _others(contest: ContestResult, player: PlayerResult) -> str:
    return " - ".join(other.name for other in contest.players if other is not player)


def _seconds(time_us: float | None) -> float | None:
    return None if time_us is None else time_us / 1e6


def models_table(contests: Sequence[ContestResult]) -> Table:
    """Create a table of exchanges with language models, with a row per contest and player that had any."""
    columns = (
        "bot",
        Column("against", rank=6),
        Column("decisions", ","),
        Column("asked again", ",", meaning="decisions whose first answer was illegal or unreadable"),
        Column("fell back", ",", meaning="decisions in which the bot checked or folded instead of an answer"),
        Column("repeats", ",", meaning="requests repeated after a rate limit or a failure", rank=5),
        Column("tokens in", ",", meaning="tokens of the requests", rank=2),
        Column("tokens out", ",", meaning="tokens of the answers", rank=3),
        Column("cost", ",.4g", meaning="in the currency of the endpoint", rank=1),
        Column("median", TIME, meaning="median time of an exchange", rank=4),
        Column("99 %", TIME, meaning="99th percentile of the times of exchanges", rank=4),
    )
    rows = []
    for contest in contests:
        for player in contest.players:
            model = player.model
            if model is None:
                continue
            against = _others(contest, player) if len(contests) > 1 else ""
            counts = (model.decisions, model.asked_again, model.fell_back, model.repeats)
            rows.append(
                (
                    player.name,
                    against,
                    *counts,
                    model.tokens_in,
                    model.tokens_out,
                    model.cost,
                    model.median_s,
                    model.p99_s,
                )
            )
    return Table.of("Language models", columns, rows).without_empty()


def _descriptions(contests: Iterable[ContestResult]) -> Iterator[str]:
    """Yield the texts of players with options, unless the user named them."""
    players = [(player.name, player.player) for contest in contests for player in contest.players]
    for name, text in dict.fromkeys(players):
        bot, _, options = text.partition("?")
        default_name = bot.rpartition(":")[2]
        # Equal names are numbered: cfr, cfr#2.
        if options and name.partition("#")[0] == default_name:
            yield f"{name} is {text}"


def crosstable(standings: GameStandings) -> Table:
    """Create the crosstable of a game: the winnings of each row's bot from each column's bot, and their mean.

    Figures are without the luck of the cards if all contests have those; the title says so. A bot without a finished
    contest is marked. Rows and columns are in the order of `GameStandings.bots`.
    """
    rates = {(cell.player, cell.opponent): cell.rate for cell in standings.crosstable}
    means = standings.mean_rates
    rows = []
    for name in standings.bots:
        label = f"{name} (unfinished)" if name in standings.unfinished else name
        # Bots that never met have an empty cell.
        cells = [rates.get((name, opponent), "") for opponent in standings.bots]
        rows.append((label, *cells, means.get(name, "")))
    without_luck = ", without the luck of the cards" if standings.is_corrected else ""
    columns = [Column(name, "+,.0f", rank=place) for place, name in enumerate(standings.bots, 1)]
    title = f"mbb/g of row against column{without_luck}, ± 95 %"
    return Table.of(title, ("", *columns, Column("mean", "+,.0f")), rows)


def _aivat_table(standings: GameStandings, contests: Sequence[ContestResult]) -> Table:
    """Create a table of the contests of a game that have AIVAT scores, with the rate of the first known player."""
    rows = []
    for contest in contests:
        if contest.game != standings.game or contest.aivat_rate() is None:
            continue
        known = contest.known[0]
        rate = contest.aivat_rate(known)
        rows.append((known, contest.opponent_of(known), rate, contest.rate(known), contest.hands_counted))
    columns = (
        "known",
        "against",
        Column("AIVAT", "+,.0f"),
        Column("chips", "+,.0f", rank=2),
        Column("hands", ",", rank=1),
    )
    return Table.of("mbb/g by AIVAT, with the strategy of a player known, ± 95 %", columns, rows)


def rankings(standings: GameStandings) -> Table:
    """Create a table of both rankings side by side, with the confidence in each place."""
    share = Column("share", ".0%", meaning="share of bootstrap samples in which the bot has this place")
    columns = (
        Column("place", ","),
        Column("total bankroll"),
        share,
        Column("place", ",", rank=1),
        Column("instant run-off", rank=1),
        replace(share, rank=2),
    )
    rows = []
    for bankroll, runoff in zip(standings.total_bankroll, standings.instant_runoff, strict=True):
        bankroll_cells = (bankroll.place, bankroll.player, bankroll.confidence)
        rows.append((*bankroll_cells, runoff.place, runoff.player, runoff.confidence))
    return Table.of("", columns, rows).without_empty()


def _entrants_table(standings: GameStandings, contests: Sequence[ContestResult]) -> Table:
    """Create a table with a row per bot, over all its contests of the game."""
    rows = []
    for name in standings.bots:
        played = [
            (contest, player)
            for contest in contests
            for player in contest.players
            if (contest.game, player.name) == (standings.game, name)
        ]
        hands = sum(contest.hands_played for contest, _ in played)
        thinking_s = sum(player.thinking_s for _, player in played)
        faults = sum(sum(player.faults.values()) for _, player in played)
        rows.append((name, len(played), hands, faults, hands / thinking_s if thinking_s else None))
    columns = (
        "bot",
        Column("contests", ",", rank=6),
        Column("hands", ",", rank=5),
        Column("faults", ",", rank=3),
        Column("hands/s of its own time", DIGITS, rank=4),
    )
    return Table.of("", columns, rows)


def pairs_table(standings: Sequence[GameStandings]) -> Table:
    """Create a flat table with a row per ordered pair of bots, and a row per bot, without an opponent, for its mean."""
    rows: list[tuple[Value, ...]] = []
    for game in standings:
        for cell in game.crosstable:
            rows.append((game.game, cell.player, cell.opponent, *winnings_columns(cell.won).values(), cell.hands))
        for name, won in game.won.items():
            rows.append((game.game, name, "", *winnings_columns(won).values(), None))
    return Table.of("", ("game", "player", "opponent", *winnings_columns(None), "hands"), rows)
