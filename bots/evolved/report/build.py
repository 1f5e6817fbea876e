"""The report, section by section."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bots.errors import EvolutionError
from bots.evolved.deals import DealSet, make_deals
from bots.evolved.finished import FinishedRun, FinishedRuns
from bots.evolved.report.genes import gene_use, unused_tables, use_chart, use_figures
from bots.evolved.report.matches import FIELDS, Result, effort, opponents, play_matches, results_chart, results_table
from bots.evolved.report.others import about_settings, side_by_side
from bots.evolved.report.play import Sides, best_hands, by_hand, finals, per_thousand, style, winnings
from bots.evolved.report.progress import (
    against_chart,
    along_the_run,
    checks_charts,
    cost_chart,
    earlier_trainers,
    progress_table,
    random_opponents,
)
from bots.evolved.watching import preflop_play, watch
from bots.findings import Report, Section
from bots.workers import Workers
from logs.estimation.rate import signed

__all__ = ["ReportSettings", "evolved_report", "genes_section"]

_GENE_TRIALS: Final = 50
"""Which situations come up depends little on how exactly a hand is weighed."""
_PROGRESS_DEALS: Final = 200
"""Of the unseen deals, those on which the many individuals along the runs are measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
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
        """Check."""
        if min(self.deals, self.gene_deals) < 1:
            raise EvolutionError(f"a report needs at least 1 unseen deal, not {min(self.deals, self.gene_deals)}")
        if self.matches < 0:
            raise EvolutionError(f"a match cannot have {self.matches} deals; 0 plays none")


def evolved_report(
    runs: FinishedRuns,
    settings: ReportSettings,
    beside: Sequence[FinishedRuns] = (),
    *,
    workers: Workers | None = None,
    show: Callable[[float], None] = lambda _: None,
) -> Report:
    """Measure everything, and say it.

    Args:
        runs: what the report is about.
        settings: how much is played.
        beside: other runs, whose players are compared with this one's.
        workers: who plays the matches; this process by default.
        show: told which part is done, 0 to 1.

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
    steps = parts * own + sum(map(effort, matches))
    done = 0

    def did(more: int) -> None:
        nonlocal done
        done += more
        show(done / steps)

    unseen = make_deals(settings.deals, settings.seed, runs.player.settings.trials)
    players = []
    for run in (runs.player, *runs.trainers):
        players.append(_sides(run, runs, unseen))
        did(own)
    sections = [_winnings(players), _along(runs, _first(unseen, _PROGRESS_DEALS), settings.seed)]
    did(own)
    sections.append(_tables(players[0], unseen))
    did(own)
    sections.append(genes_section(runs, settings))
    did(own)
    if matches:
        path, odds = str(runs.folder / "player.chromosome"), runs.player.settings.odds.value
        results = play_matches(path, odds, matches, settings.seed, workers, lambda match: did(effort(match)))
        sections.append(_matches(results))
    if beside:
        sections.append(
            Section(
                "Other runs",
                ("Do other settings, or longer and larger runs, help on deals that nobody has trained on?",),
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
        f"{signed(won.value, 1)}{half} on deals it has never seen.",
    ]
    if matches:
        sentences.append(_fields_sentence(results))
    return Report("The evolved agent", tuple(sentences), tuple(facts), tuple(sections))


def _first(deals: DealSet, count: int) -> DealSet:
    """The first of the deals."""
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


def _sides(run: FinishedRun, runs: FinishedRuns, unseen: DealSet) -> Sides:
    """A run's player watched at the table where its training ended."""
    odds = (run.settings.odds,) * 10
    nine = runs.opponents if run is runs.player else run.state.opponents
    assert nine is not None
    sides = [
        watch(deals, run.chromosome, nine, odds, run.settings.rake)
        for deals in (run.settings.evaluator.deal_set(), unseen)
    ]
    return Sides(run.name, *sides)


def _winnings(players: Sequence[Sides]) -> Section:
    player = players[0]
    return Section(
        "Winnings",
        (
            "An evolution keeps what won on its own deals, so its winnings there flatter it; deals that nothing was "
            "trained on say what the player is worth.",
        ),
        (
            by_hand(player.trained, "The player on the deals of its training"),
            by_hand(player.unseen, "The player on other deals"),
            *(by_hand(trainer.trained, f"{trainer.name} on the deals of its training") for trainer in players[1:]),
            *winnings(players),
        ),
    )


def _along(runs: FinishedRuns, deals: DealSet, seed: int) -> Section:
    settings, trainers = runs.player.settings, list(runs.trainers)
    tables = (("random chromosomes", random_opponents(seed)), ("earlier trainers", earlier_trainers(runs)))
    return Section(
        "Along the runs",
        (
            "Earlier trainers are those that the nine runs had found by their middle; none of these opponents has any "
            "influence on a run.",
        ),
        (
            along_the_run(runs.player),
            *(along_the_run(run) for run in trainers),
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


def _tables(player: Sides, unseen: DealSet) -> Section:
    hands, figures = best_hands(player)
    return Section(
        "How it plays",
        (),
        (style(player.unseen, preflop_play(unseen)), figures, hands, *finals(player)),
    )


def genes_section(runs: FinishedRuns, settings: ReportSettings) -> Section:
    """What is used of the chromosome."""
    unseen, seed = make_deals(settings.gene_deals, settings.seed, _GENE_TRIALS), settings.seed
    player = runs.player
    uses = [
        gene_use(name, unseen, chromosome, runs.opponents, player.settings.odds, player.settings.rake)
        for name, chromosome in (("the player", player.chromosome), ("a random chromosome", random_opponents(seed)[0]))
    ]
    return Section(
        "Genes",
        (
            "A gene is used when a decision asks for it. What is never used has not been bred but drawn once, or come "
            "along with its neighbours.",
        ),
        (use_chart(uses), use_figures(uses[0]), *unused_tables(uses[0])),
    )


def _matches(results: Sequence[Result]) -> Section:
    return Section(
        "Against other bots",
        (_fields_sentence(results),),
        (results_chart(results), results_table(results)),
    )


def _fields_sentence(results: Sequence[Result]) -> str:
    """Whether it beats the fields it has to beat."""
    of = {result.opponent.bot: result for result in results if result.opponent.game == "limit10"}
    told = []
    for name in FIELDS:
        low = of[name].rate.low
        told.append(f"{name} ({of[name].rate.text()}{'' if low is not None and low > 0 else ', not sure'})")
    is_sure = all((of[name].rate.low or 0.0) > 0 for name in FIELDS)
    verb = "beats" if is_sure else "does not surely beat"
    return f"At tables of ten it {verb} nine bots of each of these kinds: {', '.join(told)}."
