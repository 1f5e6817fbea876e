"""The report, section by section."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError, SpecError
from bots.evolution.breeding import Bools, Chromosomes
from bots.evolved.bot import EvolvedBot
from bots.evolved.chromosome import BETTING_STATES, GENES, HAND_CATEGORIES, POSITION_CLASSES, Odds, gene
from bots.evolved.hand_results import play_hands, preflop_play, winnings_of
from bots.evolved.runs import FinishedRun, FinishedRuns
from bots.evolved.training import DealSet, make_deals
from bots.sdk.registry import builtin_names, make_bot
from bots.sdk.selfplay import self_play
from bots.studies.evolved_play import (
    CATEGORIES,
    GENERATED_GENES_HANDS,
    MeasuredPlayer,
    about_settings,
    against_chart,
    best_hands,
    checks_charts,
    cost_chart,
    earlier_trainers,
    finals,
    fitness_chart,
    per_thousand,
    progress_table,
    random_opponents,
    side_by_side,
    style,
    winnings,
    winnings_chart,
)
from bots.studies.report import Bar, BarChart, Claim, Claims, Line, LineChart, Report, Section, Verdict
from bots.workers import Workers
from logs.document import ABSENT, Column, Table
from logs.estimation import Rate, RunningMean
from logs.estimation.mean import signed
from protocol import find_game

_GENE_TRIALS: Final = 50
"""Which situations come up depends little on how exactly a hand is weighed."""
_FEWEST_DOUBLINGS: Final = 8
_PROGRESS_DEALS: Final = 200
"""Of the unseen deals, those on which the many individuals along the runs are measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolvedStudySettings:
    """How much is played for a report.

    Attributes:
        deals: unseen ones at the table of the training, each played a hundred times.
        matches: deals of each match against other bots, five times as many where the player has to win; 0 plays none.
        seed: of the unseen deals and of the matches.
        gene_deals: unseen ones on which the use of the genes is counted.
    """

    deals: int = 1000
    matches: int = 200
    seed: int = 20_121
    gene_deals: int = 2000

    def __post_init__(self) -> None:
        if min(self.deals, self.gene_deals) < 1:
            raise EvolutionError(f"a report needs at least 1 unseen deal, not {min(self.deals, self.gene_deals)}")
        if self.matches < 0:
            raise EvolutionError(f"a match cannot have {self.matches} deals; 0 plays none")


def evolved_report(
    runs: FinishedRuns,
    settings: EvolvedStudySettings,
    beside: Sequence[FinishedRuns] = (),
    *,
    workers: Workers | None = None,
    show: Callable[[float], None] = lambda _: None,
) -> Report:
    """Measure everything for the report.

    Args:
        beside: other runs, whose players are compared with this one's.
        show: called with the part that is done, 0 to 1.

    Raises:
        EvolutionError: the seed of the unseen deals is one of the training's.
        WorkersError: the workers are gone.
    """
    taken = frozenset().union(*(one.seeds for one in (runs, *beside)))
    if settings.seed in taken:
        raise EvolutionError(f"deals of seed {settings.seed} were trained on; take another seed for the unseen ones")
    matches = opponents(settings.matches) if settings.matches else []
    # At the tables of the training hands are played thousands of times as fast as in matches.
    parts = 4 + len(runs.trainers) + 4 * len(beside)
    own = settings.deals if matches else 1
    steps = parts * own + sum(map(_effort, matches))
    done = 0

    def did(more: int) -> None:
        nonlocal done
        done += more
        show(done / steps)

    unseen = make_deals(settings.deals, settings.seed, runs.player.settings.trials)
    players = []
    for run in (runs.player, *runs.trainers):
        players.append(_watched_player(run, runs, unseen))
        did(own)
    sections = [_winnings(players), _along(runs, _first(unseen, _PROGRESS_DEALS), settings.seed)]
    did(own)
    sections.append(_tables(players[0], unseen))
    did(own)
    sections.append(_genes_section(runs, settings))
    did(own)
    if matches:
        path, odds = str(runs.folder / "player.chromosome"), runs.player.settings.odds.value
        results = play_matches(path, odds, matches, settings.seed, workers, lambda match: did(_effort(match)))
        sections.append(_matches(results))
    if beside:
        sections.append(
            Section(
                "Other runs",
                ("The effect of other settings and of longer and larger runs on unseen deals.",),
                (side_by_side([runs, *beside], unseen, settings.seed),),
            )
        )
        did(4 * len(beside) * own)
    won = per_thousand(players[0].unseen)
    facts = [
        ("runs", runs.folder.name),
        ("settings", about_settings(runs)),
        ("seeds of the training", ", ".join(map(str, sorted(runs.seeds)))),
        ("finished", str(runs.player.record.get("date", "unknown"))),
        ("unseen deals", f"{settings.deals:,} of seed {settings.seed}"),
    ]
    half = "" if won.half_width_95 is None else f" ± {won.half_width_95:,.1f}"
    trained = signed(per_thousand(players[0].trained).value, 1)
    sentences = [
        f"From its nine trainers the player wins {trained} dollars per 1,000 hands on the deals of its training and "
        f"{signed(won.value, 1)}{half} on unseen deals."
    ]
    if matches:
        sentences.append(_fields_sentence(results))
    return Report("The evolved agent", tuple(sentences), tuple(facts), tuple(sections))


def _first(deals: DealSet, count: int) -> DealSet:
    chosen = deals.flops[:, 0] < count
    return replace(
        deals,
        cards=deals.cards[:count],
        flops=deals.flops[chosen],
        spent=deals.spent[chosen],
        categories=deals.categories[:count],
        ranks=deals.ranks[:count],
        weights=deals.weights[:count],
    )


def _watched_player(run: FinishedRun, runs: FinishedRuns, unseen: DealSet) -> MeasuredPlayer:
    odds = (run.settings.odds,) * 10
    nine = runs.opponents if run is runs.player else run.state.opponents
    assert nine is not None
    sides = [
        play_hands(deals, run.chromosome, nine, odds, run.settings.rake)
        for deals in (run.settings.evaluator.deal_set(), unseen)
    ]
    return MeasuredPlayer(run.name, *sides)


def _winnings(players: Sequence[MeasuredPlayer]) -> Section:
    player = players[0]
    return Section(
        "Winnings",
        (
            "An evolution keeps what won on its own deals, so its winnings there are too high. Unseen deals show the "
            "strength of the player.",
        ),
        (
            winnings_chart(player.trained, "The player on the deals of its training"),
            winnings_chart(player.unseen, "The player on other deals"),
            *(
                winnings_chart(trainer.trained, f"{trainer.name} on the deals of its training")
                for trainer in players[1:]
            ),
            *winnings(players),
        ),
    )


def _along(runs: FinishedRuns, deals: DealSet, seed: int) -> Section:
    settings, trainers = runs.player.settings, list(runs.trainers)
    tables = (("random chromosomes", random_opponents(seed)), ("earlier trainers", earlier_trainers(runs)))
    return Section(
        "Along the runs",
        (
            "Earlier trainers are those that the nine runs had found by their middle. None of these opponents affects "
            "a run.",
        ),
        (
            fitness_chart(runs.player),
            *(fitness_chart(run) for run in trainers),
            *(
                against_chart(f"{who} against {name}", of, nine, settings.odds, settings.rake, deals)
                for name, nine in tables
                for who, of in (("Trainers", trainers), ("The player", [runs.player]))
            ),
            against_chart(
                "The player against its trainers", [runs.player], runs.opponents, settings.odds, settings.rake, deals
            ),
            *checks_charts([*trainers, runs.player]),
            cost_chart(trainers),
            progress_table(runs, tables, deals),
        ),
    )


def _tables(player: MeasuredPlayer, unseen: DealSet) -> Section:
    hands, figures = best_hands(player)
    return Section("How it plays", (), (style(player.unseen, preflop_play(unseen)), figures, hands, *finals(player)))


def _genes_section(runs: FinishedRuns, settings: EvolvedStudySettings) -> Section:
    unseen, seed = make_deals(settings.gene_deals, settings.seed, _GENE_TRIALS), settings.seed
    player = runs.player
    uses = [
        _gene_use(name, unseen, chromosome, runs.opponents, player.settings.odds, player.settings.rake)
        for name, chromosome in (("the player", player.chromosome), ("a random chromosome", random_opponents(seed)[0]))
    ]
    return Section(
        "Genes",
        (
            "A gene is used when a decision reads it. A gene that is never used has its random initial value, or came "
            "along with its neighbours.",
        ),
        (_use_chart(uses), _use_figures(uses[0]), *_unused_tables(uses[0])),
    )


def _matches(results: Sequence[MatchResult]) -> Section:
    return Section(
        "Against other bots", (_fields_sentence(results),), (_results_chart(results), results_table(results))
    )


def _fields_sentence(results: Sequence[MatchResult]) -> str:
    of = {result.opponent.bot: result for result in results if result.opponent.game == "limit10"}
    parts = []
    for name in FIELDS:
        low = of[name].rate.low
        parts.append(f"{name} ({of[name].rate.text()}{'' if low is not None and low > 0 else ', not significant'})")
    is_sure = all((of[name].rate.low or 0.0) > 0 for name in FIELDS)
    verb = "significantly beats" if is_sure else "does not significantly beat"
    return f"At tables of ten it {verb} nine bots of each of these kinds: {', '.join(parts)}."


_ROUNDS: Final = ("flop", "turn", "river")


class _GeneUse(NamedTuple):
    """The share of the 5,040 genes that a player was asked for by some numbers of hands, and the genes."""

    name: str
    hands: tuple[int, ...]
    share: tuple[float, ...]
    used: Bools


def _gene_use(
    name: str, deals: DealSet, player: Chromosomes, opponents: Chromosomes, odds: Odds, rake: bool
) -> _GeneUse:
    count = len(deals.cards)
    ends = sorted({min(count, round(2 ** (power / 2))) for power in range(2 * count.bit_length() + 1)})
    used = np.zeros(GENES, bool)
    share, begin = [], 0
    for end in ends:
        used |= winnings_of(_part(deals, begin, end), player, opponents, (odds,) * 10, rake)[1]
        share.append(float(used.mean()))
        begin = end
    return _GeneUse(name, tuple(100 * end for end in ends), tuple(share), used)


def _part(deals: DealSet, begin: int, end: int) -> DealSet:
    chosen = (deals.flops[:, 0] >= begin) & (deals.flops[:, 0] < end)
    return replace(deals, flops=deals.flops[chosen], spent=deals.spent[chosen])


def _use_chart(uses: Sequence[_GeneUse]) -> LineChart:
    return LineChart(
        "Use of the chromosome",
        "hands dealt (logarithmic)",
        "% of the genes",
        tuple(Line.of(use.name, use.hands, [100 * share for share in use.share], has_dots=True) for use in uses),
        "Against the nine trainers, on unseen deals.",
        is_log=True,
    )


def _use_figures(use: _GeneUse) -> Claims:
    doublings = [
        100 * (later - earlier)
        for (hands, earlier), (until, later) in zip(
            zip(use.hands, use.share, strict=True), zip(use.hands[2:], use.share[2:], strict=True), strict=False
        )
        if until == 2 * hands
    ]
    return Claims(
        "Use of the chromosome in figures",
        (
            Claim(
                "the use grows as the logarithm of the hands: % of the genes in the last doubling",
                f"{doublings[-1]:.1f}" if doublings else ABSENT,
                printed="logarithmic",
                verdict=_growth(doublings, 100 * use.share[-1]),
                why=f"a doubling of the hands never adds more than {max(doublings, default=0):.1f} % of the genes",
            ),
            _all_used(use),
        ),
    )


def _growth(doublings: Sequence[float], percent: float) -> Verdict:
    if len(doublings) < _FEWEST_DOUBLINGS:
        return Verdict.UNDECIDED
    return Verdict.REPRODUCED if max(doublings) < percent / 4 else Verdict.NOT_REPRODUCED


def _all_used(use: _GeneUse) -> Claim:
    hands, percent = use.hands[-1], 100 * use.share[-1]
    if hands < GENERATED_GENES_HANDS:
        about = f"% of the genes used in {hands:,} hands; the thesis expects all of them in {GENERATED_GENES_HANDS:,}"
        return Claim(about, f"{percent:.1f}")
    return Claim.plain(
        f"% of the genes used in {hands:,} hands, enough for all of them by the thesis",
        "100",
        f"{percent:.1f}",
        bool(use.used.all()),
        "situations depend on the players as well as on the cards, and rare ones hardly ever meet rare hands",
    )


def _unused_tables(use: _GeneUse) -> tuple[Table, ...]:
    unused = ~use.used.reshape(HAND_CATEGORIES, len(POSITION_CLASSES), BETTING_STATES)
    rounds, befores, nows = _states()
    by: list[tuple[str, list[tuple[str, NDArray[np.bool_]]]]] = [
        ("hand", [(name, unused[at]) for at, name in enumerate(CATEGORIES)]),
        ("position", [(name, unused[:, at]) for at, name in enumerate(POSITION_CLASSES)]),
        ("round", [(name, unused[:, :, rounds == at + 1]) for at, name in enumerate(_ROUNDS)]),
        ("raises in this round", [(str(at), unused[:, :, nows == at]) for at in range(5)]),
        ("raises in the round before", [(str(at), unused[:, :, befores == at]) for at in range(5)]),
    ]
    return tuple(
        Table.of(
            f"Genes never used, by {what}",
            (what, "genes", "never used", "%"),
            ((name, f"{one.size:,}", f"{int(one.sum()):,}", f"{100 * one.mean():.0f}") for name, one in rows),
        )
        for what, rows in by
    )


def _states() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Round, raises before and raises now of each state of the betting."""
    found = np.zeros((3, BETTING_STATES), np.int64)
    for round_ in (1, 2, 3):
        for before in range(4 if round_ == 1 else 5):
            for now in range(5):
                found[:, gene(0, 0, round_, before, now)] = round_, before, now
    return found[0], found[1], found[2]


FIELDS: Final = ("random", "calling", "raising")
"""The opponents that the player must beat at a table of ten."""
_FIELDS_TIMES: Final = 5
"""Factor for the deals against these, whose results must differ from zero significantly."""
_LEFT_OUT: Final = ("learner", "lbr")
"""`learner` depends on earlier deals, so deals are not independent; `lbr` needs the policy of an opponent."""
_PARTS: Final = 4
_US: Final = "evolved"


class StudyMatch(NamedTuple):
    """A match against one bot in ``limit`` or nine in ``limit10``; each deal is played in every rotation."""

    bot: str
    game: str
    deals: int


class MatchResult(NamedTuple):
    opponent: StudyMatch
    rate: Rate


def opponents(deals: int) -> list[StudyMatch]:
    """Every built-in bot that plays limit hold'em, but for two: nine of each at a table of ten, and one alone."""
    found = []
    for game in ("limit10", "limit"):
        definition = find_game(game)[1]
        for name in builtin_names():
            if name in _LEFT_OUT:
                continue
            try:
                bot = make_bot(name, 1)
            except SpecError:
                # A bot that needs options of its own cannot be compared with.
                continue
            if not isinstance(bot, EvolvedBot) and bot.refusal(definition) is None:
                is_field = name in FIELDS and game == "limit10"
                found.append(StudyMatch(name, game, _FIELDS_TIMES * deals if is_field else deals))
    return found


def _effort(opponent: StudyMatch) -> int:
    return (1 if opponent.game == "limit" else 8) * opponent.deals


def play_matches(
    chromosome: str,
    odds: str,
    matches: Sequence[StudyMatch],
    seed: int,
    workers: Workers | None,
    played: Callable[[StudyMatch], None] = lambda _: None,
) -> list[MatchResult]:
    """Play them all, with `seed` for the cards and for the samples of all bots; the workers do not change the result.

    Without `odds` the player decides by those of its training.
    """
    results = []
    for opponent in matches:
        count = min(_PARTS, opponent.deals)
        bounds = [opponent.deals * part // count for part in range(count + 1)]
        play = partial(_play, chromosome, odds, opponent, seed)
        scores = (map if workers is None else workers.map)(play, bounds[:-1], bounds[1:])
        # Without bounds: a limit hand moves so little that the normal interval covers what it says.
        won = RunningMean(score for part in scores for score in part)
        rate = won.rate(_US, opponent.bot)
        assert rate is not None
        results.append(MatchResult(opponent, rate))
        played(opponent)
    return results


def _play(chromosome: str, odds: str, opponent: StudyMatch, seed: int, first: int, end: int) -> list[float]:
    """The player's mean of each deal, in mbb per hand."""
    game = find_game(opponent.game)[1]
    others = game.num_players - 1
    bots = [
        EvolvedBot(chromosome=chromosome, odds=odds, seed=seed),
        *(make_bot(opponent.bot, seed + number) for number in range(1, others + 1)),
    ]
    for bot in bots:
        bot.prepare_for_many_hands()
    names = (_US, *(f"{opponent.bot} {number}" for number in range(1, others + 1)))
    found, of_deal = [], 0.0
    hands = self_play(game, bots, deals=end - first, seed=seed, first_hand=first, names=names)
    for number, record in enumerate(hands, 1):
        of_deal += next(value for name, value in zip(record.names, record.values, strict=True) if name == _US)
        if number % game.num_players == 0:
            found.append(1000 * of_deal / game.num_players / game.big_blind)
            of_deal = 0.0
    return found


def results_table(results: Sequence[MatchResult]) -> Table:
    return Table.of(
        "Against the built-in bots",
        ("others", "players", Column("deals", ",", rank=2), Column("hands", ",", rank=1), "mbb/g", "95 % interval"),
        (
            (
                result.opponent.bot,
                str(_players(result)),
                f"{result.opponent.deals:,}",
                f"{_players(result) * result.opponent.deals:,}",
                signed(result.rate.mbb),
                "too few deals" if result.rate.half_width is None else f"± {result.rate.half_width:,.0f}",
            )
            for result in results
        ),
        "Thousandths of a big blind per hand, each deal in every rotation over the seats; deals are the units of the "
        "normal intervals. All bots play their own strategy before the flop, and there is no rake.",
    )


def _results_chart(results: Sequence[MatchResult]) -> BarChart:
    return BarChart(
        "Against the built-in bots",
        "mbb/g",
        tuple(
            Bar(
                f"{result.opponent.bot}, {_players(result)} players", result.rate.mbb, result.rate.low, result.rate.high
            )
            for result in results
        ),
    )


def _players(result: MatchResult) -> int:
    return find_game(result.opponent.game)[1].num_players
