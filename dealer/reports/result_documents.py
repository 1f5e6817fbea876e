"""Contests and tournaments as documents, whose data is the result, and the tables that other pages take from them.

A cell with a win rate contains a `Rate`, which names its player and opponent: pages can link and colour it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dealer.run.ending import Outcome
from dealer.run.results import (
    AnyResult,
    ContestResult,
    GameStandings,
    PlayerResult,
    TournamentResult,
    winnings_columns,
)
from logs.document import CHIPS, CODE, DIGITS, NAME, TEXT, TIME, Column, Document, Fact, Section, Table, Value
from protocol.game_definition import short_name


def result_document(result: AnyResult, *, is_verbose: bool = False) -> Document:
    """A result; with `is_verbose` a contest also has the dealer's own overhead among its facts."""
    if isinstance(result, TournamentResult):
        return tournament_document(result)
    return contest_document(result, is_verbose=is_verbose)


def contest_document(result: ContestResult, *, is_verbose: bool = False) -> Document:
    """A contest: its sentence and facts, `players_table` if a deal is complete, `faults_table` if there were faults."""
    dealer = (
        Fact("dealer", _seconds(result.dealer.us_per_action), TIME, "per action"),
        Fact("timeouts", result.dealer.timeouts_per_million_actions, DIGITS, "per million actions"),
    )
    facts = Fact("speed", result.hands_per_second, ",.0f", "hands/s"), *(dealer if is_verbose else ())
    sections: dict[str, Sequence[str | Table]] = {
        "Players": [players_table([result]), *_descriptions([result])] if result.duplicates else [],
        "Faults and thinking times": [faults_table([result])],
    }
    return _document(result, contest_title(result), facts, sections)


def tournament_document(result: TournamentResult) -> Document:
    """A tournament: `crosstable`, `rankings` and `entrants` of each game, `faults_table`, contests that ended early."""
    is_interrupted = result.outcome is Outcome.INTERRUPTED
    early = [one for one in result.contests if not one.outcome.is_complete and not is_interrupted]
    rows = [(contest_title(one), one.reason) for one in early]
    sections: dict[str, Sequence[str | Table]] = {
        **{
            short_name(one.game): (crosstable(one), rankings(one), entrants(one, result.contests))
            for one in result.standings
            if one.total_bankroll
        },
        "Players": (*_descriptions(result.contests),),
        "Faults and thinking times": (faults_table(result.contests),),
        "Ended early": (Table.of("", ("contest", Column("reason", TEXT)), rows),),
    }
    games = ", ".join(short_name(standings.game) for standings in result.standings)
    return _document(result, f"{games}: {', '.join(result.players)}", (), sections)


def _document(
    result: AnyResult, title: str, facts: Iterable[Fact], sections: Mapping[str, Sequence[str | Table]]
) -> Document:
    resume = () if result.resume is None else (f"Resume with:\n    {result.resume}",)
    seeds = ", ".join(dict.fromkeys(str(contest.seed) for contest in result.contests))
    whole = Fact("seed", seeds, NAME), *facts, Fact("files", result.folder, CODE)
    filled = {name: [part for part in parts if isinstance(part, str) or part.rows] for name, parts in sections.items()}
    return Document(
        title,
        (result.sentence, *resume),
        tuple(fact for fact in whole if fact.value is not None),
        tuple(Section(name, tuple(parts)) for name, parts in filled.items() if parts),
        data=result,
    )


def contest_title(contest: ContestResult) -> str:
    """The game and the players of a contest."""
    return f"{short_name(contest.game)}: {' - '.join(player.name for player in contest.players)}"


def players_table(contests: Sequence[ContestResult]) -> Table:
    """A row per player and contest: what it won, as `Rate`s, and the times of its answers."""
    any_time = ", any time" if any(contest.interval == "any time" for contest in contests) else ""
    columns = (
        "player",
        Column("against"),
        Column(f"mbb/g ± 95 %{any_time}", "+,.1f", meaning="winnings per hand, with half their 95 % interval"),
        Column("without luck", "+,.1f", meaning="the same without the luck of the cards"),
        Column("SE", ",.1f", meaning="standard error of mbb/g", rank=6),
        Column("chips", CHIPS, rank=2),
        Column("hands", ",", rank=3),
        Column("faults", ",", rank=1),
        Column("median", TIME, meaning="median time of an answer", rank=5),
        Column("99 %", TIME, meaning="the time that 99 % of the answers did not exceed", rank=4),
    )
    rows = [
        (
            player.name,
            _others(contest, player) if len(contests) > 1 else "",
            contest.rate(player.name),
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
    """A row per player with faults and contest, or per player; the contests of a player together."""
    columns = (
        "bot",
        Column("against", rank=2),
        Column("faults", TEXT, meaning="what it did wrong, all kinds"),
        Column("first fault", TEXT),
        Column("restarts", ",", meaning="how often its process was started again, or a tcp client awaited", rank=1),
        Column("actions", ",", meaning="answers given", rank=3),
        Column("median", TIME, meaning="median time of an answer", rank=4),
        Column("99 %", TIME, meaning="the time that 99 % of the answers did not exceed", rank=5),
        Column("in all", TIME, meaning="time its answers took", rank=6),
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
    order = [row[0] for row in rows]
    rows.sort(key=lambda row: order.index(row[0]))
    return Table.of("Faults and thinking times", columns, rows).without_empty()


def _others(contest: ContestResult, player: PlayerResult) -> str:
    return " - ".join(other.name for other in contest.players if other is not player)


def _seconds(time_us: float | None) -> float | None:
    return None if time_us is None else time_us / 1e6


def _descriptions(contests: Iterable[ContestResult]) -> Iterator[str]:
    """The descriptions of players whose names lack the file that they play by."""
    for name, text in dict.fromkeys((player.name, player.player) for one in contests for player in one.players):
        bot, _, options = text.partition("?")
        if options and name.partition("#")[0] == bot.rpartition(":")[2]:
            yield f"{name} is {text}"


def crosstable(standings: GameStandings) -> Table:
    """What the bot of a row won from that of a column, and in the mean, as `Rate`s; empty texts where they never met.

    Figures are without the luck of the cards where all contests have that, and then the title says so. A bot without a
    finished contest is marked. Rows and columns are in the order of `GameStandings.bots`.
    """
    rates = {(cell.player, cell.opponent): cell.rate for cell in standings.crosstable}
    means = standings.mean_rates
    rows = [
        (
            f"{name} (unfinished)" if name in standings.unfinished else name,
            *(rates.get((name, other), "") for other in standings.bots),
            means.get(name, ""),
        )
        for name in standings.bots
    ]
    without_luck = ", without the luck of the cards" if standings.is_corrected else ""
    columns = [Column(name, "+,.0f", rank=place) for place, name in enumerate(standings.bots, 1)]
    title = f"mbb/g of row against column{without_luck}, ± 95 %"
    return Table.of(title, ("", *columns, Column("mean", "+,.0f")), rows)


def rankings(standings: GameStandings) -> Table:
    """Both rankings side by side: place, bot and the share of bootstrap samples in which it has this place."""
    share = Column("share", ".0%", meaning="of bootstrap samples in which it has this place", rank=2)
    second = Column("place", ",", rank=1), Column("instant run-off", rank=1), share
    rows = [
        (first.place, first.player, first.confidence, other.place, other.player, other.confidence)
        for first, other in zip(standings.total_bankroll, standings.instant_runoff, strict=True)
    ]
    return Table.of("", (Column("place", ","), Column("total bankroll"), share, *second), rows).without_empty()


def entrants(standings: GameStandings, contests: Sequence[ContestResult]) -> Table:
    """All contests of each bot together, and its speed: hands per second of its own time."""
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
    """A row for every ordered pair of bots, then one without an opponent and hands for the mean of each bot."""
    rows: list[tuple[Value, ...]] = []
    for one in standings:
        for cell in one.crosstable:
            rows.append((one.game, cell.player, cell.opponent, *winnings_columns(cell.won).values(), cell.hands))
        for name, won in one.won.items():
            rows.append((one.game, name, "", *winnings_columns(won).values(), None))
    return Table.of("", ("game", "player", "opponent", *winnings_columns(None), "hands"), rows)
