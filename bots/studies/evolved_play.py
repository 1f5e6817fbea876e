"""The printed figures of the player and its nine trainers (chapters 5.4 and 5.5), compared with those of our players.

The graphs of the thesis are lost; its tables are in ``evolved_printed.json``. Two have 21 rows, not the 20 of their
heading.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.evolution.breeding import Chromosomes
from bots.evolved.chromosome import GENES, THRESHOLD, Odds
from bots.evolved.hand_results import Estimate, HandResults, Preflop, play_hands, ratio, total
from bots.evolved.runs import Check, FinishedRun, FinishedRuns
from bots.evolved.training import GENOME, OPPONENTS, DealSet
from bots.studies.report import Claim, Claims, Line, LineChart, Verdict, printed_figures
from engine import Category
from engine.cards import STARTING_HANDS
from logs.document import ABSENT, NAME, TEXT, Column, Table
from logs.estimation.mean import signed
from logs.tracker.definitions import classify

_TOO_FEW: Final = "too few deals were played"
PLAYED: Final = {"player": 52_000, "trainer": 20_000}
"""Hands in a generation of the player and of a trainer: 520 and 200 deals, each played a hundred times."""
GENERATED_GENES_HANDS: Final = 5_179_648
"""Hands that would have to be played so that every gene is used, "in the best case" (chapter 4.6)."""


class _PrintedRow(NamedTuple):
    """A starting hand with which the player saw a flop, or a hand at the end."""

    name: str
    times: int
    won_percent: float
    dollars: float


class _PrintedPlayer(NamedTuple):
    """The starting hands of one player that won most, and its hands at the end, from the best to the worst."""

    hands: tuple[_PrintedRow, ...]
    finals: tuple[_PrintedRow, ...]

    @property
    def dollars(self) -> float:
        return sum(row.dollars for row in self.finals)

    @property
    def flops(self) -> int:
        return sum(row.times for row in self.finals)


def printed_player(name: str) -> _PrintedPlayer:
    """The tables of ``player`` or ``trainer-1`` to ``trainer-9``."""
    player = printed_figures("evolved")["players"][name]
    return _PrintedPlayer(*(tuple(_PrintedRow(*row) for row in player[table]) for table in ("hands", "finals")))


def printed_style() -> dict[str, float]:
    """The figures of the final player's style, in per cent; AF is a factor."""
    return dict(printed_figures("evolved")["style"])


BEST_HANDS: Final = 20
_TWO_SETS: Final = 2**0.5
"""The difference of two sets of as many deals varies more than each of them by this."""
_POINTS: Final = 300
CATEGORIES: Final = tuple(category.name.replace("_", " ").lower() for category in Category)


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredPlayer:
    """A player watched on two sets of deals.

    Attributes:
        trained: on the deals of its training.
        unseen: on deals that nothing was trained on.
    """

    name: str
    trained: HandResults
    unseen: HandResults


def per_thousand(watched: HandResults, hands: NDArray[np.bool_] | None = None) -> Estimate:
    """Dollars won per 1,000 hands, of some hands only if `hands` marks them."""
    found = total(watched, watched.dollars if hands is None else np.where(hands, watched.dollars, 0.0))
    return _scaled(found, 1000 / (100 * watched.deals))


def _interval_text(estimate: Estimate, digits: int) -> str:
    if estimate.half_width_95 is None:
        return "too few deals for ±"
    return f"± {estimate.half_width_95:,.{digits}f}"


# ---- winnings
def winnings(players: Sequence[MeasuredPlayer]) -> tuple[Claims, Table]:
    """Winnings on the deals of the training and on unseen ones: after the flop, as printed, and in all hands."""
    after, whole = [], []
    for player in players:
        deals = PLAYED["player" if player.name == "player" else "trainer"] // 100
        printed = printed_player(player.name).dollars / (100 * deals) * 1000
        trained = per_thousand(player.trained, player.trained.saw_flop)
        unseen = per_thousand(player.unseen, player.unseen.saw_flop)
        verdict, why = verdict_on_winnings(printed, deals, trained.value, unseen, player.unseen.deals)
        after += [
            Claim(
                f"{player.name}, deals of the training",
                signed(trained.value, 1),
                printed=signed(printed, 1),
                verdict=verdict,
                why=why,
            ),
            Claim(f"{player.name}, other deals", signed(unseen.value, 1), _interval_text(unseen, 1)),
        ]
        all_hands, others = per_thousand(player.trained), per_thousand(player.unseen)
        whole.append(
            (
                player.name,
                signed(all_hands.value, 1),
                signed(others.value, 1),
                _interval_text(others, 1),
                signed(others.value - unseen.value, 1),
                signed(printed + others.value - unseen.value, 1),
            )
        )
    return (
        Claims(
            "Winnings after the flop",
            tuple(after),
            "Dollars per 1,000 hands dealt, from those in which the player saw the flop, the only ones that the thesis "
            "prints, at the table of its training. On the deals of the training the figure is exact: the result of the "
            "evolution, not the strength of the player. On other deals, the 95 % interval is over all deals, for these "
            "ten players.",
        ),
        Table.of(
            "Winnings in all hands",
            (
                "",
                "deals of the training",
                "other deals",
                "interval",
                "of these, folded before the flop",
                "printed, with as much lost before the flop",
            ),
            whole,
            "Dollars per 1,000 hands dealt. The charts cause the losses before the flop, the same for all players; the "
            "printed figures do not include them, and the last column adds ours.",
        ),
    )


def verdict_on_winnings(
    printed: float, printed_deals: int, trained: float, unseen: Estimate, unseen_deals: int
) -> tuple[Verdict, str]:
    """The verdict on printed winnings, those of a training's deals, and its reason; ours are on other deals."""
    if unseen.half_width_95 is None:
        return Verdict.UNDECIDED, _TOO_FEW
    chance = unseen.half_width_95 * (unseen_deals / printed_deals) ** 0.5
    verdict = Verdict.within(printed, unseen.value, (chance**2 + unseen.half_width_95**2) ** 0.5)
    if verdict is Verdict.REPRODUCED:
        return verdict, "the same on other deals, within chance"
    if verdict is Verdict.UNDECIDED:
        return verdict, _TOO_FEW
    if printed < unseen.value:
        return Verdict.NOT_REPRODUCED, "ours wins more, also on other deals"
    if trained + _TWO_SETS * chance >= printed:
        return Verdict.LUCKY, "less on other deals"
    return Verdict.NOT_REPRODUCED, "ours wins less, even on its own deals"


def winnings_chart(watched: HandResults, title: str, note: str = "") -> LineChart:
    """The winnings along the hands in which it saw the flop: total, with and without showdown."""
    seen = watched.saw_flop
    dollars, showdown, deal = watched.dollars[seen], watched.showdown[seen], watched.deal[seen]
    at = np.unique(np.linspace(0, max(len(dollars) - 1, 0), min(_POINTS, len(dollars))).astype(int))
    xs = at + 1

    whole = total(watched, np.where(seen, watched.dollars, 0.0)).half_width_95
    half = None if whole is None else whole * np.sqrt((deal[at] + 1) / watched.deals)
    return LineChart(
        title,
        "hands with a flop",
        "dollars",
        (
            Line.of("total" if half is None else "total, with its 95 % interval", xs, np.cumsum(dollars)[at], half),
            Line.of("with showdown", xs, np.cumsum(np.where(showdown, dollars, 0.0))[at]),
            Line.of("without showdown", xs, np.cumsum(np.where(showdown, 0.0, dollars))[at]),
        ),
        note,
    )


# ---- tables
def best_hands(sides: MeasuredPlayer) -> tuple[Table, Claims]:
    """The starting hands that won most in hands with a flop: printed, on the training's deals, on others."""
    printed = printed_player(sides.name)
    ours = [_by_starting_hand(watched) for watched in (sides.trained, sides.unseen)]
    rows = []
    for place in range(BEST_HANDS):
        cells = [str(place + 1)]
        for table in (printed.hands, *(table for table, _ in ours)):
            row = table[place] if place < len(table) else None
            cells += (
                ["", "", "", ""]
                if row is None
                else [row.name, f"{row.times:,}", f"{row.won_percent:.1f}", signed(row.dollars, 0)]
            )
        interval = ours[1][1][place] if place < len(ours[1][1]) else None
        cells.append("" if interval is None else _interval_text(interval, 0))
        rows.append(cells)
    heads = ("times", "won %", "dollars")
    columns: list[str | Column] = ["place"]
    for whose in ("printed", "training", "other deals"):
        columns += [Column(whose, format=NAME), *(Column(head, ",", rank=1) for head in heads)]
    columns.append("interval")
    view = Table.of(
        "The 20 best starting hands",
        columns,
        rows,
        "Of the hands in which it saw the flop: times, share in which it won a part of the pot, and winnings. The last "
        "column is the 95 % interval of the dollars on other deals.",
    )
    return view, _verdicts_on_hands(printed, ours[0][0], ours[1][0], ours[1][1])


def _verdicts_on_hands(
    printed: _PrintedPlayer,
    trained: Sequence[_PrintedRow],
    unseen: Sequence[_PrintedRow],
    intervals: Sequence[Estimate],
) -> Claims:
    names = [{row.name for row in table[:BEST_HANDS]} for table in (printed.hands, trained, unseen)]
    sure = sum(bool(interval.low is not None and interval.low > 0) for interval in intervals[:BEST_HANDS])
    strong, count = _strong_hands(), len(names[0])
    kept = [len(of & strong) for of in (names[0], names[2])]
    is_most = min(kept) > BEST_HANDS / 2
    return Claims(
        "The best starting hands in figures",
        (
            Claim(
                "of the best, among the 20 with the best chances against nine random hands",
                f"{kept[1]} of {len(names[2])}",
                printed=f"{kept[0]} of {count}",
                verdict=Verdict.REPRODUCED if is_most else Verdict.NOT_REPRODUCED,
                why=f"they should be the most powerful hands, and {'most' if is_most else 'not even most'} of them are",
            ),
            Claim("of the printed best, among our 20 best on other deals", f"{len(names[0] & names[2])} of {count}"),
            Claim(
                "of the printed best, among our 20 best on the training's deals",
                f"{len(names[0] & names[1])} of {count}",
            ),
            Claim("of our 20 best on other deals, with an interval above zero", f"{sure} of {len(names[2])}"),
        ),
    )


def _strong_hands() -> set[str]:
    from engine.cards import starting_hand
    from engine.equity import preflop_equity

    example = {starting_hand((one, other)): (one, other) for one in range(52) for other in range(one)}
    chances = {STARTING_HANDS[at]: preflop_equity(cards, 9).equity for at, cards in example.items()}
    return set(sorted(chances, key=lambda name: -chances[name])[:BEST_HANDS])


def _by_starting_hand(watched: HandResults) -> tuple[list[_PrintedRow], list[Estimate]]:
    return _table(watched, watched.hand, STARTING_HANDS)


def _table(
    watched: HandResults, kinds: NDArray[np.int64], names: Sequence[str]
) -> tuple[list[_PrintedRow], list[Estimate]]:
    found = []
    for kind in np.unique(kinds[watched.saw_flop]).tolist():
        of_kind = watched.saw_flop & (kinds == kind)
        times = int(of_kind.sum())
        dollars = total(watched, np.where(of_kind, watched.dollars, 0.0))
        won = 100 * float(watched.won[of_kind].sum()) / times
        found.append((_PrintedRow(names[kind], times, won, dollars.value), dollars))
    found.sort(key=lambda one: -one[0].dollars)
    return [row for row, _ in found], [dollars for _, dollars in found]


def finals(sides: MeasuredPlayer) -> tuple[Claims, ...]:
    """How often it won with each hand at the end, and the winnings of these hands."""
    printed = {row.name: row for row in printed_player(sides.name).finals}
    of = PLAYED["player" if sides.name == "player" else "trainer"]
    won, times, dollars = [], [], []
    for kind, name in reversed(list(enumerate(CATEGORIES))):
        watched = sides.unseen
        of_kind = (watched.saw_flop & (watched.category == kind)).astype(float)
        share = ratio(watched, watched.won * of_kind, of_kind)
        if share is None:
            continue
        row = printed.get(name)
        scale = 1000 / (100 * watched.deals)
        often = _scaled(total(watched, of_kind), scale)
        brought = _scaled(total(watched, watched.dollars * of_kind), scale)
        factor = (100 * watched.deals / of) ** 0.5
        figures = (None,) * 3 if row is None else (row.won_percent, row.times / of * 1000, row.dollars / of * 1000)
        won.append(_compared(f"{name}: won %", _scaled(share, 100), figures[0], 1, factor))
        times.append(_compared(f"{name}: times", often, figures[1], 1, factor))
        dollars.append(_compared(f"{name}: dollars", brought, figures[2], 1, factor))
    note = (
        "On other deals; the hand at the end is that of the last round the player saw. Times and dollars are per 1,000 "
        "hands dealt. A figure is reproduced if it differs by no more than chance between two sets of deals, ours and "
        "one of the printed size. The difference between the chromosomes comes on top of that."
    )
    return (
        Claims("Won, by the hand at the end", tuple(won), note),
        Claims("Times, by the hand at the end", tuple(times)),
        Claims("Dollars, by the hand at the end", tuple(dollars)),
    )


def _scaled(estimate: Estimate, by: float) -> Estimate:
    half = estimate.half_width_95
    return Estimate(estimate.value * by, None if half is None else half * by)


def _compared(quantity: str, ours: Estimate, printed: float | None, digits: int, factor: float) -> Claim:
    text, interval = f"{ours.value:,.{digits}f}", _interval_text(ours, digits)
    if printed is None:
        return Claim(quantity, text, interval)
    # A sample without any spread is no exact figure.
    room = ours.half_width_95 * (1 + factor**2) ** 0.5 if ours.half_width_95 else None
    far = f"ours is {'higher' if ours.value > printed else 'lower'} than chance explains"
    reasons = {Verdict.UNDECIDED: _TOO_FEW, Verdict.NOT_REPRODUCED: far}
    return Claim.measured(quantity, (printed, f"{printed:,.{digits}f}"), (ours.value, text), room, interval, reasons)


# ---- style
def style(watched: HandResults, preflop: Preflop) -> Claims:
    printed = printed_style()
    factor = (100 * watched.deals / PLAYED["player"]) ** 0.5
    ones = watched.saw_flop.astype(float)
    seen = {
        "W$WSF": _percent(ratio(watched, watched.won * ones, ones)),
        "WTSD": _percent(ratio(watched, watched.showdown * 1.0, ones)),
        "W$SD": _percent(ratio(watched, watched.won * watched.showdown * 1.0, watched.showdown * 1.0)),
        "AF": ratio(watched, watched.raises * 1.0, watched.calls * 1.0),
    }
    rows = [
        _compared(
            "VPIP %, without the big blind's hands", _scaled(preflop.vpip_no_big_blind, 100), printed["VPIP"], 1, factor
        ),
        Claim("VPIP % of all hands", f"{100 * preflop.vpip.value:.1f}", _interval_text(_scaled(preflop.vpip, 100), 1)),
        _compared("VPIP % in the small blind", _scaled(preflop.vpip_small_blind, 100), printed["VPIP_SB"], 1, factor),
        _compared("PFR %", _scaled(preflop.pfr, 100), printed["PFR"], 1, factor),
    ]
    for name, figure in seen.items():
        unit = "" if name == "AF" else " %"
        rows.append(
            Claim(name + unit, ABSENT)
            if figure is None
            else _compared(name + unit, figure, printed[name], 2 if name == "AF" else 1, factor)
        )
    ours = classify(
        100 * watched.deals,
        100 * preflop.vpip_no_big_blind.value,
        100 * preflop.pfr.value,
        int(watched.raises.sum()),
        int(watched.calls.sum()),
    )
    theirs = classify(100 * watched.deals, printed["VPIP"], printed["PFR"], round(100 * printed["AF"]), 100)
    assert theirs.play_class is not None
    is_mouse = ours.play_class is not None and ours.play_class.name == "mouse"
    rows.append(
        Claim(
            "class of play",
            ABSENT if ours.play_class is None else ours.play_class.name,
            printed="mouse",
            verdict=Verdict.REPRODUCED if is_mouse else Verdict.NOT_REPRODUCED,
            why="a mouse is passive before the flop; by the table of the thesis, its figures are those of a "
            f"{theirs.play_class.name} player; ours: {ours.explanation}",
        )
    )
    return Claims(
        "Style of play",
        tuple(rows),
        "On other deals. VPIP and PFR depend on the charts, which were rebuilt to fit these figures; only the rest "
        "depends on the evolution. AF is bets and raises over calls after the flop.",
    )


def _percent(estimate: Estimate | None) -> Estimate | None:
    return None if estimate is None else _scaled(estimate, 100)


_MOST_CHAMPIONS: Final = 12
"""Of each run, spread over it, that are measured on unseen deals."""


def fitness_chart(run: FinishedRun) -> LineChart:
    history = run.state.history
    xs = [generation.number for generation in history]
    scale = 1000 / (100 * run.settings.deals)
    return LineChart(
        run.name,
        "generation",
        "dollars per 1,000 hands",
        (
            Line.of("best individual", xs, [scale * one.best for one in history]),
            Line.of("best trainer", xs, [scale * (one.best_opponent or 0.0) for one in history]),
            Line.of("mean", xs, [scale * one.mean for one in history]),
        ),
    )


def cost_chart(runs: Sequence[FinishedRun]) -> LineChart:
    lines = []
    for run in runs:
        found = run.state.champion_generations
        costs = [after - before for before, after in pairwise((0, *found))]
        lines.append(Line.of(run.name, range(1, len(costs) + 1), costs))
    return LineChart(
        "Generations each trainer cost",
        "trainers found in the run",
        "generations",
        tuple(lines),
        "The thesis reports cycles: a much better individual fills the table with its like, and progress stops.",
    )


def checks_charts(runs: Sequence[FinishedRun]) -> list[LineChart]:
    """What the checks along the runs have found, against each of the two tables; none where no run was checked."""
    tables: tuple[tuple[str, Callable[[Check], float | None]], ...] = (
        ("random trainers", lambda check: check.random),
        ("the champions before", lambda check: check.earlier),
    )
    charts = []
    for table, won in tables:
        lines = []
        for run in runs:
            if run.checks is None:
                continue
            points = [(check.generation, won(check)) for check in run.checks.checks]
            known = [(number, 1000 * value / (100 * run.checks.deals)) for number, value in points if value is not None]
            if known:
                xs, ys = zip(*known, strict=True)
                lines.append(Line.of(run.name, xs, ys, has_dots=True))
        if lines:
            charts.append(
                LineChart(
                    f"Checked along the way against {table}",
                    "generation",
                    "dollars per 1,000 hands",
                    tuple(lines),
                    "The best individual of a generation, on other deals; these opponents do not affect the run.",
                )
            )
    return charts


def random_opponents(seed: int) -> Chromosomes:
    return GENOME.random(OPPONENTS, np.random.default_rng([seed, 99]))


def earlier_trainers(runs: FinishedRuns) -> Chromosomes:
    """The trainer that each of nine runs had found by its middle."""
    return np.array([run.bests[len(run.bests) // 2] for run in runs.trainers])


def against_chart(
    title: str, runs: Sequence[FinishedRun], opponents: Chromosomes, odds: Odds, rake: bool, deals: DealSet
) -> LineChart:
    """What some of the best individuals of each run, from the first to the last, win from nine others."""
    lines = []
    for run in runs:
        champions = run.bests
        chosen = np.unique(np.linspace(0, len(champions) - 1, min(_MOST_CHAMPIONS, len(champions))).astype(int))
        won = [per_thousand(play_hands(deals, champions[at], opponents, (odds,) * 10, rake)) for at in chosen.tolist()]
        has_band = len(runs) == 1 and won[0].half_width_95 is not None
        half = [one.half_width_95 or 0.0 for one in won] if has_band else None
        lines.append(Line.of(run.name, chosen + 1, [one.value for one in won], half, has_dots=True))
    return LineChart(
        title,
        "trainers found in the run" if len(runs) > 1 else "best individuals so far, in order",
        "dollars per 1,000 hands",
        tuple(lines),
        "On unseen deals, the same for all lines.",
    )


def progress_table(runs: FinishedRuns, others: Sequence[tuple[str, Chromosomes]], deals: DealSet) -> Table:
    """The first and the last best individual of each run against some tables, on unseen deals."""
    rows = []
    for run in (*runs.trainers, runs.player):
        row = [run.name, f"{run.state.history[-1].number:,}", f"{len(run.state.champions):,}"]
        for _, opponents in others:
            for chromosome in (run.bests[0], run.chromosome):
                played = play_hands(deals, chromosome, opponents, (run.settings.odds,) * 10, run.settings.rake)
                won = per_thousand(played)
                row.append(f"{signed(won.value)} {_interval_text(won, 0)}")
        rows.append(row)
    heads = [f"{when} against {name}" for name, _ in others for when in ("first", "last")]
    return Table.of(
        "The first and the last of each run",
        ("run", "generations", "bests", *heads),
        rows,
        "Dollars per 1,000 hands on unseen deals, with 95 % intervals over all deals.",
    )


@dataclass(frozen=True, slots=True, eq=False)
class NineOpponents:
    """Nine players after the flop; before it everybody plays the charts."""

    name: str
    chromosomes: Chromosomes
    odds: Odds


def _oppositions(all_runs: Sequence[FinishedRuns], seed: int) -> list[NineOpponents]:
    def alike(raise_above: int, call_above: int) -> Chromosomes:
        return np.tile(np.array([raise_above, call_above], np.int16), (9, GENES, 1))

    reward: Final = Odds.REWARD
    trainers: list[NineOpponents] = []
    for runs in all_runs:
        nine = NineOpponents(f"trainers of {runs.folder.name}", runs.opponents, runs.player.settings.odds)
        if not any(np.array_equal(nine.chromosomes, other.chromosomes) for other in trainers):
            trainers.append(nine)
    return [
        *trainers,
        NineOpponents("random chromosomes", random_opponents(seed), reward),
        NineOpponents("callers", alike(THRESHOLD, -THRESHOLD), reward),
        NineOpponents("raisers", alike(-THRESHOLD, -THRESHOLD), reward),
    ]


def _winnings_at(player: Chromosomes, odds: Odds, opposition: NineOpponents, rake: bool, deals: DealSet) -> HandResults:
    return play_hands(deals, player, opposition.chromosomes, (odds, *[opposition.odds] * 9), rake)


@dataclass(frozen=True, slots=True, eq=False)
class PlayerAtTables:
    """The player of a folder and its dollars per 1,000 hands at each table."""

    runs: FinishedRuns
    at_tables: tuple[Estimate, ...]

    @property
    def mean(self) -> float:
        return sum(one.value for one in self.at_tables) / len(self.at_tables)


def players_at_tables(all_runs: Sequence[FinishedRuns], deals: DealSet, seed: int) -> list[PlayerAtTables]:
    """What the player of each folder wins at every table, in the order given."""
    tables = _oppositions(all_runs, seed)
    return [
        PlayerAtTables(
            runs,
            tuple(
                per_thousand(
                    _winnings_at(runs.player.chromosome, runs.player.settings.odds, table, rake=True, deals=deals)
                )
                for table in tables
            ),
        )
        for runs in all_runs
    ]


def side_by_side(all_runs: Sequence[FinishedRuns], deals: DealSet, seed: int) -> Table:
    against = [f"against {table.name}" for table in _oppositions(all_runs, seed)]
    rows = [
        (
            one.runs.folder.name,
            about_settings(one.runs),
            *(f"{signed(won.value)} {_interval_text(won, 0)}" for won in one.at_tables),
            signed(one.mean),
        )
        for one in players_at_tables(all_runs, deals, seed)
    ]
    return Table.of(
        "Runs side by side",
        ("run", Column("settings", format=TEXT, rank=1), *against, Column("mean", ",", meaning="over the tables")),
        rows,
        "Dollars per 1,000 hands against nine others, with rake, on the same unseen deals for all; 95 % intervals over "
        "all deals. Callers and raisers play the charts before the flop and always call or raise after it.",
    )


def about_settings(runs: FinishedRuns) -> str:
    player, trainer = runs.player.settings, runs.trainers[0].settings
    generations = [run.state.history[-1].number for run in runs.trainers]
    span = f"{min(generations):,}" + (f" to {max(generations):,}" if len(set(generations)) > 1 else "")
    return (
        f"{player.odds.value}, {'rake' if player.rake else 'no rake'}; trainers {trainer.deals:,} deals x "
        f"{trainer.population} x {span} generations; player {player.deals:,} x {player.population} x "
        f"{runs.player.state.history[-1].number:,}"
    )
